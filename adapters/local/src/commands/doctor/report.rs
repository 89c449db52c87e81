//! What was found, for people and for programs.

use millrace_bundler::tokens;
use millrace_core::Json;
use serde_json::json;

use super::{
    call::CallFacts,
    finding::{Finding, Severity},
    lists::ListFacts,
    wire::Exchange,
};
use crate::output::{CommandResult, print, print_json};

/// Everything that is known at the end.
pub(super) struct Report {
    pub(super) url: String,
    /// Where the URL led, if elsewhere.
    pub(super) endpoint: String,
    /// Whether anything answered.
    pub(super) is_reached: bool,
    pub(super) server: Option<(String, String)>,
    pub(super) revisions: Vec<String>,
    /// `required`, `offered`, `none`, or `unknown` where nothing answered a handshake.
    pub(super) sign_in: &'static str,
    pub(super) authorization_servers: Vec<String>,
    pub(super) lists: Vec<ListFacts>,
    pub(super) call: Option<CallFacts>,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) milliseconds: u128,
    pub(super) findings: Vec<Finding>,
}

impl Report {
    pub(super) fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    pub(super) fn is_healthy(&self) -> bool {
        self.is_reached && self.count(Severity::Fault) == 0
    }

    pub(super) fn print_json(&self) -> CommandResult {
        let lists = self.lists.iter().map(|list| {
            let (name, entries, pages, bytes) = (list.name, list.entries, list.pages, list.bytes);
            json!({ "list": name, "entries": entries, "pages": pages, "bytes": bytes, "tokens": tokens(bytes as u64) })
        });
        let call = self.call.as_ref().map(|call| {
            let (ms, size) = (millis(call.took), tokens(call.bytes as u64));
            json!({ "tool": call.tool, "ms": ms, "bytes": call.bytes, "tokens": size, "is_error": call.is_error })
        });
        let requests = self.exchanges.iter().map(
            |exchange| json!({ "sent": exchange.sent, "status": exchange.status, "ms": millis(exchange.took), "bytes": exchange.bytes }),
        );
        print_json(&json!({
            "url": self.url,
            "endpoint": self.endpoint,
            "reached": self.is_reached,
            "healthy": self.is_healthy(),
            "server": self.server.as_ref().map(|(name, version)| json!({ "name": name, "version": version })),
            "revisions": self.revisions,
            "sign_in": self.sign_in,
            "authorization_servers": self.authorization_servers,
            "lists": lists.collect::<Vec<Json>>(),
            "call": call,
            "requests": requests.collect::<Vec<Json>>(),
            "findings": self.findings.iter().map(Finding::json).collect::<Vec<Json>>(),
        }))
    }

    pub(super) fn print(&self) -> CommandResult {
        print(self.text())
    }

    fn text(&self) -> String {
        let mut lines = vec![self.url.clone()];
        let mut fact = |name: &str, text: String| lines.push(format!("  {name:<9} {text}"));
        if self.endpoint != self.url {
            fact("endpoint", self.endpoint.clone());
        }
        if let Some((name, version)) = &self.server {
            fact("server", format!("{name} {version}"));
        }
        if !self.revisions.is_empty() {
            fact("revisions", self.revisions.join(", "));
        }
        if self.sign_in != "unknown" {
            let servers = if self.authorization_servers.is_empty() {
                String::new()
            } else {
                format!(", at {}", self.authorization_servers.join(", "))
            };
            fact("sign-in", format!("{}{servers}", self.sign_in));
        }
        for list in &self.lists {
            let pages = if list.pages == 1 { String::new() } else { format!(" on {} pages", list.pages) };
            let name = if list.name == "resourceTemplates" { "templates" } else { list.name };
            fact(name, format!("{}{pages}, {} bytes, about {} tokens", list.entries, list.bytes, tokens(list.bytes as u64)));
        }
        if let Some(call) = &self.call {
            let outcome = if call.is_error { "failed" } else { "answered" };
            fact("call", format!("{} {outcome} in {} ms, {} bytes", call.tool, millis(call.took), call.bytes));
        }
        for finding in &self.findings {
            lines.push(String::new());
            lines.push(format!("{} [{}] of the {}: {}", finding.severity.name(), finding.id, finding.side.name(), finding.what));
            if !finding.places.is_empty() {
                lines.push(format!("  at   {}", finding.places.join("; ")));
            }
            lines.extend(finding.sent.iter().map(|sent| format!("  sent {sent}")));
            lines.extend(finding.got.iter().map(|got| format!("  got  {got}")));
            lines.push(format!("  → {}", finding.remedy));
        }
        lines.push(String::new());
        let counts = [(Severity::Fault, "fault"), (Severity::Warning, "warning"), (Severity::Note, "note")];
        let counts = counts.map(|(severity, name)| counted(self.count(severity), name));
        let verdict = match (self.is_reached, self.is_healthy()) {
            (false, _) => "could not look",
            (true, true) => "healthy",
            (true, false) => "not healthy",
        };
        let requests = counted(self.exchanges.len(), "request");
        lines.push(format!("{verdict}: {}; {requests} in {} ms", counts.join(", "), self.milliseconds));
        lines.join("\n")
    }
}

fn counted(count: usize, name: &str) -> String {
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::commands::doctor::finding::Side;

    #[test]
    fn the_report_of_people_says_side_and_remedy() {
        let finding =
            Finding::fault(Side::Network, "dns", "the name `h` has no address", "Check it.").sent("POST /mcp").got("nothing").at("here");
        let report = Report {
            url: "https://h/mcp".to_owned(),
            endpoint: "https://h/mcp/".to_owned(),
            is_reached: true,
            server: Some(("notes".to_owned(), "1.0.0".to_owned())),
            revisions: vec!["2026-07-28".to_owned()],
            sign_in: "none",
            authorization_servers: Vec::new(),
            lists: vec![ListFacts { name: "tools", entries: 2, pages: 1, bytes: 400 }],
            call: Some(CallFacts { tool: "list".to_owned(), took: Duration::from_millis(3), bytes: 10, is_error: false }),
            exchanges: Vec::new(),
            milliseconds: 12,
            findings: vec![finding],
        };
        let expected = "https://h/mcp\n  endpoint  https://h/mcp/\n  server    notes 1.0.0\n  revisions 2026-07-28\n  sign-in   none\n  \
                        tools     2, 400 bytes, about 100 tokens\n  call      list answered in 3 ms, 10 bytes\n\n\
                        fault [dns] of the network: the name `h` has no address\n  at   here\n  sent POST /mcp\n  got  nothing\n  → Check it.\n\n\
                        not healthy: 1 fault, 0 warnings, 0 notes; 0 requests in 12 ms";
        assert_eq!(report.text(), expected);
    }
}
