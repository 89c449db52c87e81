//! Which parts of an app ran in some test: error codes that a tool declares, rules that let a
//! caller in or turn one away, and entries of the middleware.

use std::{cell::RefCell, collections::BTreeSet, mem, rc::Rc};

use millrace_core::{
    Json,
    app::{App, Auth, Middleware, MiddlewareAction},
    fault::{Fault, Refusal},
    ports::{CallEvent, CallObserver, CallStart, Observer},
};
use serde_json::json;

/// What ran of an app in one test or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Codes with the tools whose calls failed with them.
    failures: BTreeSet<(String, String)>,
    /// Entries of the middleware that let a call go on, by their places.
    passed: BTreeSet<String>,
    /// Those that ended one.
    refused: BTreeSet<String>,
    /// Tools whose `auth` let a caller in, and turned one away.
    admitted: BTreeSet<String>,
    rejected: BTreeSet<String>,
}

impl Parts {
    /// Adds what ran elsewhere.
    pub(crate) fn add(&mut self, other: Self) {
        self.failures.extend(other.failures);
        self.passed.extend(other.passed);
        self.refused.extend(other.refused);
        self.admitted.extend(other.admitted);
        self.rejected.extend(other.rejected);
    }
}

/// Notes what runs in the calls of a test. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Ran(Rc<RefCell<Parts>>);

impl Ran {
    /// What ran so far.
    pub(super) fn take(&self) -> Parts {
        mem::take(&mut *self.0.borrow_mut())
    }
}

impl Observer for Ran {
    fn began(&self, call: &CallStart<'_>) -> Option<Box<dyn CallObserver>> {
        let call = Passing { tool: call.tool.to_owned(), ..Passing::default() };
        Some(Box::new(WatchedCall { ran: self.clone(), call: RefCell::new(call) }))
    }
}

/// A call on its way.
#[derive(Default)]
struct Passing {
    tool: String,
    was_rejected: bool,
    /// The entries of the middleware that began, and of which nothing shows yet that they let the
    /// call pass.
    entries: Vec<String>,
    passed: Vec<String>,
}

struct WatchedCall {
    ran: Ran,
    call: RefCell<Passing>,
}

impl CallObserver for WatchedCall {
    fn observe(&self, event: CallEvent<'_>) {
        let mut call = self.call.borrow_mut();
        match event {
            CallEvent::Forwarded(tool) => tool.clone_into(&mut call.tool),
            // The call went on.
            CallEvent::StageBegan(_) => {
                let mut passed = mem::take(&mut call.entries);
                call.passed.append(&mut passed);
            }
            CallEvent::MiddlewareBegan(entry) => call.entries.push(entry.place.clone()),
            CallEvent::Failed(fault) => {
                let mut parts = self.ran.0.borrow_mut();
                parts.failures.insert((call.tool.clone(), fault.code.clone()));
                match call.entries.pop() {
                    Some(entry) => drop(parts.refused.insert(entry)),
                    None => call.was_rejected = call.passed.is_empty() && is_rejection(fault),
                }
            }
            CallEvent::Ended(_) => {
                let mut parts = self.ran.0.borrow_mut();
                let Passing { tool, was_rejected, entries, passed } = mem::take(&mut *call);
                parts.passed.extend(entries.into_iter().chain(passed));
                if was_rejected {
                    parts.rejected.insert(tool)
                } else {
                    parts.admitted.insert(tool)
                };
            }
            _ => {}
        }
    }
}

/// Whether a caller was turned away before any entry of the middleware.
const fn is_rejection(fault: &Fault) -> bool {
    matches!(fault.refusal, Some(Refusal::Unauthorized | Refusal::Forbidden(_)))
}

/// What of an app's parts ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coverage {
    pub(crate) errors: Vec<DeclaredError>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) middleware: Vec<Entry>,
}

/// An error code that a tool declares in `errors.on`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredError {
    pub(crate) tool: String,
    pub(crate) code: String,
    pub(crate) ran: bool,
}

/// What lets callers in or turns them away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// The place of an entry of the middleware, or a tool with `auth`.
    pub(crate) place: String,
    /// `auth`, or the key of the entry.
    pub(crate) kind: &'static str,
    /// Whether some call passed it.
    pub(crate) passed: bool,
    /// Whether it ended some call.
    pub(crate) refused: bool,
}

/// An entry of the middleware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) place: String,
    pub(crate) kind: &'static str,
    pub(crate) ran: bool,
}

impl Coverage {
    /// What of an app ran.
    pub(crate) fn of(app: &App, parts: &Parts) -> Self {
        let mut errors = Vec::new();
        let (mut rules, mut middleware, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
        for tool in app.tools.iter().filter(|tool| !tool.path.is_empty()) {
            let codes: BTreeSet<&String> = tool.errors.on.iter().map(|rule| &rule.code).collect();
            errors.extend(codes.into_iter().map(|code| DeclaredError {
                tool: tool.name.clone(),
                code: code.clone(),
                ran: parts.failures.contains(&(tool.name.clone(), code.clone())),
            }));
            if tool.auth.as_ref().is_some_and(turns_away) {
                rules.push(Rule {
                    place: tool.name.clone(),
                    kind: "auth",
                    passed: parts.admitted.contains(&tool.name),
                    refused: parts.rejected.contains(&tool.name),
                });
            }
            for entry in &tool.middleware {
                // An entry of a folder is one entry, whichever of its tools is called.
                if known.insert(&entry.place) {
                    add(entry, parts, &mut rules, &mut middleware);
                }
            }
        }
        Self { errors, rules, middleware }
    }

    /// As `--reporter json` has it.
    pub(crate) fn json(&self) -> Json {
        let errors = self.errors.iter().map(|error| json!({ "tool": error.tool, "code": error.code, "ran": error.ran }));
        let rules =
            self.rules.iter().map(|rule| json!({ "place": rule.place, "kind": rule.kind, "passed": rule.passed, "refused": rule.refused }));
        let middleware = self.middleware.iter().map(|entry| json!({ "place": entry.place, "kind": entry.kind, "ran": entry.ran }));
        json!({ "errors": errors.collect::<Vec<_>>(), "rules": rules.collect::<Vec<_>>(), "middleware": middleware.collect::<Vec<_>>() })
    }

    /// For people: how much ran, and what did not.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let ran = |all: usize, ran: usize| format!("{ran} of {all}");
        let errors: Vec<_> = self.errors.iter().filter(|error| !error.ran).collect();
        if !self.errors.is_empty() {
            lines.push(format!("error codes seen: {}", ran(self.errors.len(), self.errors.len() - errors.len())));
            lines.extend(errors.iter().map(|error| format!("  `{}` of `{}` in no test", error.code, error.tool)));
        }
        if !self.rules.is_empty() {
            let whole = self.rules.iter().filter(|rule| rule.passed && rule.refused).count();
            lines.push(format!("rules seen both ways: {}", ran(self.rules.len(), whole)));
            for rule in &self.rules {
                let missing = match (rule.passed, rule.refused) {
                    (true, true) => continue,
                    (true, false) => "refuses nobody in any test",
                    (false, true) => "lets nobody pass in any test",
                    (false, false) => "ran in no test",
                };
                lines.push(format!("  `{}` of {} {missing}", rule.kind, rule.place));
            }
        }
        if !self.middleware.is_empty() {
            let idle: Vec<_> = self.middleware.iter().filter(|entry| !entry.ran).collect();
            lines.push(format!("middleware seen: {}", ran(self.middleware.len(), self.middleware.len() - idle.len())));
            lines.extend(idle.iter().map(|entry| format!("  `{}` of {} ran in no test", entry.kind, entry.place)));
        }
        lines
    }
}

fn add(entry: &Middleware, parts: &Parts, rules: &mut Vec<Rule>, middleware: &mut Vec<Entry>) {
    let (kind, is_rule) = match &entry.action {
        MiddlewareAction::Script { .. } => ("script", false),
        MiddlewareAction::Derive(_) => ("derive", false),
        MiddlewareAction::Audit(_) => ("audit", false),
        MiddlewareAction::Require { .. } => ("require", true),
        MiddlewareAction::RequireScope(_) => ("require_scope", true),
        MiddlewareAction::RateLimit(_) => ("rate_limit", true),
    };
    let (passed, refused) = (parts.passed.contains(&entry.place), parts.refused.contains(&entry.place));
    middleware.push(Entry { place: entry.place.clone(), kind, ran: passed || refused });
    if is_rule {
        rules.push(Rule { place: entry.place.clone(), kind, passed, refused });
    }
}

/// Whether some caller is turned away.
fn turns_away(auth: &Auth) -> bool {
    auth.entries().iter().all(|entry| !matches!(entry, Auth::AllowAll))
}
