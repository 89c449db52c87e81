//! What the corpus has exported: nothing that callers send or get.

use std::collections::BTreeMap;

use millrace_core::Json;
use millrace_tests::{Exchange, Group, collector::Collector, direct::compile, local::Host, wait};

/// Of the last call of each group; no case has it.
const LAST: &str = "1f2e3d4c5b6a79880f1e2d3c4b5a6978";

/// A collector of what hosts export of the corpus.
pub(crate) struct Exported {
    collector: Collector,
}

impl Exported {
    /// Starts a collector.
    pub(crate) fn start() -> Self {
        Self { collector: Collector::start() }
    }

    /// The variables that have traces sent here.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        self.collector.env()
    }

    /// Waits until a host that has answered a group's cases has exported all of its calls.
    pub(crate) fn wait(&self, group: &Group, host: &Host, answers: &[Vec<String>]) {
        let before = self.collector.written();
        let traced = ("traceparent".to_owned(), format!("00-{LAST}-b7ad6b7169203331-01"));
        let mut last = Exchange::parse("CALL last");
        last.headers.push(traced.clone());
        if host.send(&last).starts_with("HTTP 401") {
            // All of the app is for callers who signed in; what answers none of them makes no call.
            let mut requests = group.cases.iter().zip(answers).flat_map(|(case, answers)| case.requests.iter().zip(answers));
            let is_answered =
                |(request, answer): &(&Exchange, &String)| answer.starts_with("HTTP 200") && request.body.contains("tools/call");
            let Some((answered, _)) = requests.rfind(is_answered) else { return };
            last = answered.clone();
            last.headers.retain(|(name, _)| name != "traceparent");
            last.headers.push(traced);
            let _ = host.send(&last);
        }
        // Whatever was called before is exported with this or earlier.
        wait::until(&format!("`{}` exports nothing", group.name), || self.collector.written_since(before).contains(LAST));
    }

    /// Looks for what callers sent in all that was exported; gives how many spans there are.
    pub(crate) fn check(&self, groups: &[Group]) -> usize {
        let spans = self.collector.spans();
        // What a group's host exported, by the name of its app.
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        for span in &spans {
            let text = texts.entry(span["resource"]["service.name"].as_str().unwrap()).or_default();
            text.push_str(&format!("{} {}\n", span["name"], span["attributes"]));
        }
        let lines: String = self.collector.logs().iter().map(|line| format!("{} {}\n", line["body"], line["attributes"])).collect();
        assert!(!lines.is_empty(), "no line of the log was exported: the test has nothing to read");
        for group in groups {
            // Tools that call tools take names as values; a name that is none has to be absent all
            // the same.
            let app = compile(&group.app);
            let text = texts.get(app.name.as_str()).cloned().unwrap_or_default();
            let mut tools: Vec<String> = app.tools.into_iter().map(|tool| tool.name).collect();
            tools.sort_by_key(|name| std::cmp::Reverse(name.len()));
            let text = tools.iter().fold(text, |text, name| text.replace(name.as_str(), ""));
            for (name, value) in group.env.iter().filter(|(name, value)| value.len() > 8 && !name.starts_with("SHOWN")) {
                let is_exported = text.contains(value.as_str()) || lines.contains(value.as_str());
                assert!(!is_exported, "the value of {name} of `{}` is exported", group.name);
            }
            for request in group.cases.iter().flat_map(|case| &case.requests) {
                let body: Json = serde_json::from_str(&request.body).unwrap_or_default();
                for value in strings(&body["params"]["arguments"]).iter().filter(|value| value.len() > 8 && !tools.contains(value)) {
                    assert!(!text.contains(value.as_str()), "{value} of `{}` is exported", group.name);
                }
            }
        }
        spans.len()
    }
}

fn strings(value: &Json) -> Vec<String> {
    match value {
        Json::String(text) => vec![text.clone()],
        Json::Array(elements) => elements.iter().flat_map(strings).collect(),
        Json::Object(members) => members.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}
