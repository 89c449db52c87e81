//! What is found: a stable id, how bad it is, which side is wrong, and what to change.

use millrace_core::Json;
use serde_json::json;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// A client that is listed, or the specification, does not get along with it.
    Fault,
    /// It works, and some clients or users suffer.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fault => "fault",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Which side is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The MCP server.
    Server,
    /// What is between: DNS, the connection, TLS.
    Network,
    /// The server that issues tokens.
    AuthorizationServer,
    /// What the client was told: the URL, the credentials, the arguments.
    Client,
}

impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Network => "network",
            Self::AuthorizationServer => "authorization server",
            Self::Client => "client",
        }
    }

    fn id(self) -> &'static str {
        if self == Self::AuthorizationServer { "authorization_server" } else { self.name() }
    }
}

/// One thing that is found.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// The same for all versions of this command; `docs/doctor.md` lists them.
    pub(super) id: &'static str,
    pub(super) severity: Severity,
    pub(super) side: Side,
    /// What is wrong, as a sentence without its full stop.
    pub(super) what: String,
    pub(super) sent: Option<String>,
    pub(super) got: Option<String>,
    /// What to change.
    pub(super) remedy: String,
    /// Where else: tools, requests.
    pub(super) places: Vec<String>,
}

impl Finding {
    fn new(severity: Severity, side: Side, id: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { id, severity, side, what: what.into(), sent: None, got: None, remedy: remedy.into(), places: Vec::new() }
    }

    pub(super) fn fault(side: Side, id: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Severity::Fault, side, id, what, remedy)
    }

    pub(super) fn warning(side: Side, id: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Severity::Warning, side, id, what, remedy)
    }

    pub(super) fn note(side: Side, id: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Severity::Note, side, id, what, remedy)
    }

    pub(super) fn sent(mut self, sent: impl Into<String>) -> Self {
        self.sent = Some(sent.into());
        self
    }

    pub(super) fn got(mut self, got: impl Into<String>) -> Self {
        self.got = Some(got.into());
        self
    }

    pub(super) fn at(mut self, place: impl Into<String>) -> Self {
        self.places.push(place.into());
        self
    }

    pub(super) fn json(&self) -> Json {
        json!({
            "id": self.id,
            "severity": self.severity.name(),
            "side": self.side.id(),
            "what": self.what,
            "sent": self.sent,
            "got": self.got,
            "remedy": self.remedy,
            "places": self.places,
        })
    }
}

/// The most places that a finding keeps.
const MOST_PLACES: usize = 20;

/// All findings, one for each id: what is found twice gets another place.
#[derive(Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        let Some(known) = self.0.iter_mut().find(|known| known.id == finding.id) else { return self.0.push(finding) };
        known.severity = known.severity.min(finding.severity);
        for place in finding.places {
            if known.places.len() < MOST_PLACES && !known.places.contains(&place) {
                known.places.push(place);
            }
        }
    }

    /// The worst first; otherwise as they were found.
    pub(super) fn sorted(mut self) -> Vec<Finding> {
        self.0.sort_by_key(|finding| finding.severity);
        self.0
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|finding| finding.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_told_once_with_its_places() {
        let mut findings = Findings::default();
        findings.add(Finding::note(Side::Server, "title", "has no title", "Add one.").at("one"));
        findings.add(Finding::warning(Side::Server, "title", "has no title", "Add one.").at("two"));
        findings.add(Finding::fault(Side::Client, "url", "is wrong", "Change it."));
        for at in 0..100 {
            findings.add(Finding::note(Side::Server, "title", "has no title", "Add one.").at(at.to_string()));
        }
        let sorted = findings.sorted();
        assert_eq!((sorted[0].id, sorted[1].severity, sorted[1].places.len()), ("url", Severity::Warning, MOST_PLACES));
    }
}
