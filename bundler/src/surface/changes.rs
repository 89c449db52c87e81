//! What is different between two surfaces, and what it means for callers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::Value;

use super::{
    access,
    class::{ChangeClass, shown},
    details::{everybody, way_in_words},
    model::{
        ArgumentSurface, PromptSurface, RateSurface, ResourceSurface, ScopesSurface, ServerSurface, Surface, ToolDetails, ToolSurface,
    },
    schema::{self, Flow},
};

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// What holds for the whole server.
    Server,
    /// A tool, by its name.
    Tool(String),
    /// A prompt, by its name.
    Prompt(String),
    /// A resource or a template of resources, by its URI.
    Resource(String),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server => f.write_str("the server"),
            Self::Tool(name) => write!(f, "the tool `{name}`"),
            Self::Prompt(name) => write!(f, "the prompt `{name}`"),
            Self::Resource(uri) => write!(f, "the resource `{uri}`"),
        }
    }
}

/// One difference between two surfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it means for callers.
    pub class: ChangeClass,
    /// What has changed.
    pub item: Item,
    /// The keys that lead to it in its file, from the outside in: `inputs`, `q`, `max`. Empty for
    /// all of it.
    pub path: Vec<String>,
    /// What is different, as a clause.
    pub what: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.item, self.what)
    }
}

/// The most changes that are told.
const MAX: usize = 10_000;

/// What is different about `after`, in the order of the items.
#[must_use]
pub fn changes(before: &Surface, after: &Surface) -> Vec<Change> {
    let mut found = Found::default();
    if let (Some(before), Some(after)) = (&before.server, &after.server) {
        found.of(Item::Server).server(before, after);
    }
    found.each(&before.tools, &after.tools, Item::Tool, |found, before, after| found.tool(before, after));
    found.each(&before.prompts, &after.prompts, Item::Prompt, |found, before, after| found.prompt(before, after));
    found.each(&before.resources, &after.resources, Item::Resource, |found, before, after| found.resource(before, after));
    found.changes
}

#[derive(Default)]
struct Found {
    item: Option<Item>,
    changes: Vec<Change>,
}

impl Found {
    fn of(&mut self, item: Item) -> &mut Self {
        self.item = Some(item);
        self
    }

    fn add(&mut self, class: ChangeClass, path: &[&str], what: impl Into<String>) {
        if let Some(item) = self.item.as_ref().filter(|_| self.changes.len() < MAX) {
            let path = path.iter().map(|key| (*key).to_owned()).collect();
            self.changes.push(Change { class, item: item.clone(), path, what: what.into() });
        }
    }

    /// Compares what both have, and tells what only one of them has.
    fn each<T>(
        &mut self,
        before: &BTreeMap<String, T>,
        after: &BTreeMap<String, T>,
        item: fn(String) -> Item,
        compare: fn(&mut Self, &T, &T),
    ) {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            self.of(item(name.clone()));
            match (before.get(name), after.get(name)) {
                (Some(before), Some(after)) => compare(self, before, after),
                (Some(_), None) => self.add(ChangeClass::Breaks, &[], "it is gone, or has another name"),
                (None, _) => self.add(ChangeClass::Compatible, &[], "it is new"),
            }
        }
    }

    /// A text that models or people see.
    fn text(&mut self, key: &str, before: Option<&String>, after: Option<&String>) {
        if before != after {
            let what = match (before, after) {
                (None, _) => format!("`{key}` is new"),
                (_, None) => format!("`{key}` is gone"),
                (Some(before), Some(after)) => format!("`{key}` was {}, and is {}", shown(before), shown(after)),
            };
            self.add(ChangeClass::Seen, &[key], what);
        }
    }

    /// What has to stay to the letter.
    fn exact(&mut self, path: &[&str], name: &str, before: Option<&String>, after: Option<&String>) {
        if before != after {
            let word = |value: Option<&String>| value.map_or_else(|| "not set".to_owned(), |value| shown(value));
            self.add(ChangeClass::Breaks, path, format!("`{name}` was {}, and is {}", word(before), word(after)));
        }
    }

    /// What each member gives callers: one that is gone breaks.
    fn gives(&mut self, path: &[&str], noun: &str, before: &BTreeSet<String>, after: &BTreeSet<String>) {
        for gone in before.difference(after) {
            self.add(ChangeClass::Breaks, path, format!("the {noun} `{gone}` is gone"));
        }
        for new in after.difference(before) {
            self.add(ChangeClass::Compatible, path, format!("the {noun} `{new}` is new"));
        }
    }

    fn server(&mut self, before: &ServerSurface, after: &ServerSurface) {
        self.text("name", Some(&before.name), Some(&after.name));
        self.text("title", before.title.as_ref(), after.title.as_ref());
        self.text("instructions", before.instructions.as_ref(), after.instructions.as_ref());
        self.exact(&["server", "path"], "server.path", Some(&before.path), Some(&after.path));
        self.gives(&["server", "hosts"], "host", &before.hosts, &after.hosts);
        self.gives(&["server", "cors"], "origin", &before.origins, &after.origins);
        let keys: BTreeSet<&String> = before.sign_in.keys().chain(after.sign_in.keys()).collect();
        for key in keys {
            let (was, is) = (before.sign_in.get(key), after.sign_in.get(key));
            match (key.as_str(), is) {
                // Who signed in goes on; who did not, too.
                ("sign_in", None) => self.add(ChangeClass::Compatible, &["server", key], "sign-in is not required for everything any more"),
                _ => self.exact(&["server", key], &format!("server.{key}"), was, is),
            }
        }
        let nothing = BTreeSet::new();
        let scopes: BTreeSet<&String> = before.implied_scopes.keys().chain(after.implied_scopes.keys()).collect();
        for scope in scopes {
            let of = |known: &BTreeMap<String, BTreeSet<String>>| known.get(scope).unwrap_or(&nothing).clone();
            let noun = format!("implication of the scope `{scope}`,");
            self.gives(&["server", "scopes"], &noun, &of(&before.implied_scopes), &of(&after.implied_scopes));
        }
        self.limits(&before.limits, &after.limits);
    }

    fn tool(&mut self, before: &ToolSurface, after: &ToolSurface) {
        self.text("title", before.title.as_ref(), after.title.as_ref());
        self.text("description", before.description.as_ref(), after.description.as_ref());
        if before.tags != after.tags {
            self.add(ChangeClass::Seen, &["tags"], "`tags` are others");
        }
        self.hints(&before.hints, &after.hints);
        let inputs = schema::changes(&before.inputs, &after.inputs, Flow::In);
        self.schema(inputs, &["inputs"]);
        let mut output = match (&before.output, &after.output) {
            (Some(before), Some(after)) => schema::changes(before, after, Flow::Out),
            (None, None) => Vec::new(),
            (Some(_), None) => vec![schema::SchemaChange::whole(ChangeClass::Breaks, "`outputSchema` is gone")],
            (None, Some(_)) => vec![schema::SchemaChange::whole(ChangeClass::Compatible, "`outputSchema` is new")],
        };
        let results = before.details.as_ref().zip(after.details.as_ref()).map(|(before, after)| (&before.result, &after.result));
        if let Some((Some(before), Some(after))) = results {
            let exact = schema::changes(before, after, Flow::Out);
            // Both say the same, and this one more exactly.
            let worst = exact.iter().map(|change| change.class).max();
            output.retain(|change| Some(change.class) > worst);
            output.extend(exact);
        }
        self.schema(output, &["output"]);
        match (&before.details, &after.details) {
            (Some(before), Some(after)) => self.details(before, after),
            _ => self.security(before.security.as_ref(), after.security.as_ref()),
        }
    }

    fn schema(&mut self, changes: Vec<schema::SchemaChange>, path: &[&str]) {
        for schema::SchemaChange { class, path: within, what } in changes {
            let path: Vec<&str> = path.iter().copied().chain(within.iter().map(String::as_str)).collect();
            self.add(class, &path, what);
        }
    }

    /// A hint that promised something must go on to do so. An absent one is taken for the worst.
    fn hints(&mut self, before: &BTreeMap<String, bool>, after: &BTreeMap<String, bool>) {
        for (hint, absent, promise) in [
            ("readOnlyHint", false, Some(true)),
            ("destructiveHint", true, Some(false)),
            ("idempotentHint", false, Some(true)),
            ("openWorldHint", true, None),
        ] {
            let of = |hints: &BTreeMap<String, bool>| hints.get(hint).copied().unwrap_or(absent);
            let (was, is) = (of(before), of(after));
            if was != is {
                let class = if promise == Some(was) { ChangeClass::Breaks } else { ChangeClass::Seen };
                self.add(class, &["annotations", hint], format!("`{hint}` was {was}, and is {is}"));
            }
        }
        let known = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        let others: BTreeSet<&String> = before.keys().chain(after.keys()).filter(|hint| !known.contains(&hint.as_str())).collect();
        for hint in others.into_iter().filter(|hint| before.get(*hint) != after.get(*hint)) {
            self.add(ChangeClass::Breaks, &["annotations", hint], format!("the hint `{hint}` has changed"));
        }
    }

    fn details(&mut self, before: &ToolDetails, after: &ToolDetails) {
        match (before.listed, after.listed) {
            (true, false) => self.add(ChangeClass::Breaks, &[], "`tools/list` does not have it any more"),
            (false, true) => self.add(ChangeClass::Seen, &[], "`tools/list` has it now"),
            _ => {}
        }
        self.callers(&before.callers, &after.callers);
        self.required(&before.scopes, &after.scopes);
        for new in after.conditions.difference(&before.conditions) {
            self.add(ChangeClass::Breaks, &["middleware"], format!("a call needs something more: {new}"));
        }
        for gone in before.conditions.difference(&after.conditions) {
            self.add(ChangeClass::Compatible, &["middleware"], format!("a call does not need any more: {gone}"));
        }
        match (&before.confirm, &after.confirm) {
            (None, Some(_)) => self.add(ChangeClass::Breaks, &["confirm"], "it asks for a confirmation, which some clients cannot give"),
            (Some(_), None) => self.add(ChangeClass::Compatible, &["confirm"], "it does not ask for a confirmation any more"),
            (before, after) => self.text("confirm", before.as_ref(), after.as_ref()),
        }
        self.gives(&["errors"], "code", &before.codes, &after.codes);
        if before.result.is_some() != after.result.is_some() {
            let class = if before.result.is_some() { ChangeClass::Breaks } else { ChangeClass::Compatible };
            let what =
                if before.result.is_some() { "the fields of its result are not known any more" } else { "its result has known fields" };
            self.add(class, &["returns"], what);
        }
        for new in after.redacted.difference(&before.redacted) {
            self.add(ChangeClass::Breaks, &["returns", "redact"], format!("{new}, which it did not"));
        }
        for gone in before.redacted.difference(&after.redacted) {
            self.add(ChangeClass::Seen, &["returns", "redact"], format!("not any more: {gone}"));
        }
        let forms: BTreeSet<&String> = before.forms.keys().chain(after.forms.keys()).collect();
        for form in forms {
            let (was, is) = (before.forms.get(form), after.forms.get(form));
            match (was, is) {
                // It is what only one of them has anyway, or it is told by its limit.
                (None, _) if form.starts_with("returns.") || form == "idempotency.key" => {}
                (_, None) if form.starts_with("returns.") || form == "idempotency.key" => {}
                _ => self.exact(&keys(form), form, was, is),
            }
        }
        self.limits(&before.limits, &after.limits);
        self.rates(&before.rates, &after.rates);
    }

    /// A greater number is more for callers. What is absent is unlimited, but for a record of
    /// calls.
    fn limits(&mut self, before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let absent = if name == "idempotency.ttl" { 0 } else { u64::MAX };
            let of = |limits: &BTreeMap<String, u64>| limits.get(name).copied().unwrap_or(absent);
            let (was, is) = (of(before), of(after));
            // A tool without scripts has no use for the limits of one.
            let is_moot = name.starts_with("limits.script") && before.contains_key(name) != after.contains_key(name);
            if was == is || is_moot {
                continue;
            }
            let class = if is < was { ChangeClass::Breaks } else { ChangeClass::Compatible };
            let word = |limits: &BTreeMap<String, u64>| limits.get(name).map_or_else(|| "not set".to_owned(), u64::to_string);
            self.add(class, &keys(name), format!("`{name}` was {}, and is {}", word(before), word(after)));
        }
    }

    fn rates(&mut self, before: &[RateSurface], after: &[RateSurface]) {
        let words = |rate: &RateSurface| format!("{} calls in {} s for each {}", rate.max, rate.window_s, rate.key);
        let allows =
            |wide: &RateSurface, narrow: &RateSurface| wide.key == narrow.key && wide.max >= narrow.max && wide.window_s <= narrow.window_s;
        for new in after.iter().filter(|new| !before.iter().any(|old| allows(new, old))) {
            self.add(ChangeClass::Breaks, &["limits", "rate"], format!("it can be called less often: {}", words(new)));
        }
        for old in before.iter().filter(|old| !after.contains(old) && !after.iter().any(|new| allows(old, new) && new != *old)) {
            self.add(ChangeClass::Compatible, &["limits", "rate"], format!("this limit holds no more: {}", words(old)));
        }
    }

    /// Whoever was let in by one of the ways before is let in by one of those after.
    fn callers(&mut self, before: &[Value], after: &[Value]) {
        if before == after {
            return;
        }
        let admits = |way: &Value| after.contains(&everybody()) || after.iter().any(|other| is_as_wide(other, way));
        let mut is_told = false;
        for way in before.iter().filter(|way| !admits(way)) {
            is_told = true;
            let what = format!("it accepts fewer callers than by {}", way_in_words(way));
            self.add(ChangeClass::Breaks, &["auth"], what);
        }
        if !is_told {
            self.add(ChangeClass::Compatible, &["auth"], "it accepts as many callers or more");
        }
    }

    fn required(&mut self, before: &[ScopesSurface], after: &[ScopesSurface]) {
        let all = |list: &[ScopesSurface]| -> BTreeSet<String> {
            let single = |scopes: &ScopesSurface| scopes.any.iter().filter(|_| scopes.any.len() == 1).cloned().collect::<Vec<_>>();
            list.iter().flat_map(|scopes| scopes.all.iter().cloned().chain(single(scopes))).collect()
        };
        let (was, is) = (all(before), all(after));
        for new in is.difference(&was) {
            self.add(ChangeClass::Breaks, &["middleware"], format!("a caller needs the scope `{new}`"));
        }
        for gone in was.difference(&is) {
            self.add(ChangeClass::Compatible, &["middleware"], format!("a caller does not need the scope `{gone}` any more"));
        }
        let choices = |list: &[ScopesSurface]| -> Vec<BTreeSet<String>> {
            list.iter().map(|scopes| scopes.any.clone()).filter(|any| any.len() > 1).collect()
        };
        let (was_one, is_one) = (choices(before), choices(after));
        // Who had what was needed has one of these.
        let holds =
            |choice: &BTreeSet<String>| was_one.iter().any(|old| old.is_subset(choice)) || choice.iter().any(|scope| was.contains(scope));
        for new in is_one.iter().filter(|choice| !holds(choice)) {
            let names: Vec<&str> = new.iter().map(String::as_str).collect();
            self.add(ChangeClass::Breaks, &["middleware"], format!("a caller needs one of the scopes `{}`", names.join("`, `")));
        }
        if was_one != is_one && is_one.iter().all(holds) {
            self.add(ChangeClass::Compatible, &["middleware"], "more scopes are enough");
        }
    }

    fn security(&mut self, before: Option<&Value>, after: Option<&Value>) {
        if before == after {
            return;
        }
        let list = |schemes: Option<&Value>| schemes.and_then(Value::as_array).cloned().unwrap_or_default();
        let is_open = |schemes: &[Value]| schemes.is_empty() || schemes.iter().any(|scheme| scheme["type"] == "noauth");
        let (was, is) = (list(before), list(after));
        let holds = |scheme: &Value| {
            is.iter().any(|other| other["type"] == scheme["type"] && texts(&other["scopes"]).is_subset(&texts(&scheme["scopes"])))
        };
        if is_open(&is) || (!is_open(&was) && was.iter().all(holds)) {
            self.add(ChangeClass::Compatible, &["auth"], "it accepts as many callers or more");
        } else {
            self.add(ChangeClass::Breaks, &["auth"], "it demands more of a caller, as `securitySchemes` says");
        }
    }

    fn prompt(&mut self, before: &PromptSurface, after: &PromptSurface) {
        self.text("title", before.title.as_ref(), after.title.as_ref());
        self.text("description", before.description.as_ref(), after.description.as_ref());
        let names: BTreeSet<&String> = before.arguments.keys().chain(after.arguments.keys()).collect();
        for name in names {
            self.argument(name, before.arguments.get(name), after.arguments.get(name));
        }
        self.scopes_of_feature(before.scopes.as_ref(), after.scopes.as_ref());
    }

    fn argument(&mut self, name: &str, before: Option<&ArgumentSurface>, after: Option<&ArgumentSurface>) {
        let path = ["arguments", name];
        let (class, what) = match (before, after) {
            (Some(_), None) => (ChangeClass::Breaks, "is gone"),
            (None, Some(ArgumentSurface { required: true, .. })) => (ChangeClass::Breaks, "is new and required"),
            (None, _) => (ChangeClass::Compatible, "is new"),
            (Some(before), Some(after)) => {
                for (key, was, is) in [("title", &before.title, &after.title), ("description", &before.description, &after.description)] {
                    if was != is {
                        self.add(ChangeClass::Seen, &["arguments", name, key], format!("`{key}` of the argument `{name}` is another"));
                    }
                }
                match (before.required, after.required) {
                    (false, true) => (ChangeClass::Breaks, "is required"),
                    (true, false) => (ChangeClass::Compatible, "can be left out"),
                    _ => return,
                }
            }
        };
        self.add(class, &path, format!("the argument `{name}` {what}"));
    }

    fn scopes_of_feature(&mut self, before: Option<&ScopesSurface>, after: Option<&ScopesSurface>) {
        let list = |scopes: Option<&ScopesSurface>| scopes.cloned().into_iter().collect::<Vec<_>>();
        self.required(&list(before), &list(after));
    }

    fn resource(&mut self, before: &ResourceSurface, after: &ResourceSurface) {
        self.text("name", Some(&before.name), Some(&after.name));
        self.text("title", before.title.as_ref(), after.title.as_ref());
        self.text("description", before.description.as_ref(), after.description.as_ref());
        self.exact(&["mime_type"], "mime_type", before.mime_type.as_ref(), after.mime_type.as_ref());
        self.scopes_of_feature(before.scopes.as_ref(), after.scopes.as_ref());
    }
}

/// Whether whoever one way lets in is let in by another, too.
fn is_as_wide(wide: &Value, narrow: &Value) -> bool {
    if wide["by"] == access::OPEN {
        return true;
    }
    let (Some(wide), Some(narrow)) = (wide.as_object(), narrow.as_object()) else { return false };
    wide.keys().chain(narrow.keys()).collect::<BTreeSet<_>>().into_iter().all(|key| {
        let (is, was) = (wide.get(key).unwrap_or(&Value::Null), narrow.get(key).unwrap_or(&Value::Null));
        match key.as_str() {
            // What a caller must have.
            "scopes" => texts(is).is_subset(&texts(was)),
            // One of which is enough, and what a caller gets.
            "audience" | "algorithms" | "granted" | "roles" => texts(is).is_superset(&texts(was)),
            "leeway" => is.as_u64() >= was.as_u64(),
            "claims" => claims_are_as_wide(is, was),
            _ => is == was,
        }
    })
}

/// Each claim that is demanded was demanded before, with the same values or fewer.
fn claims_are_as_wide(wide: &Value, narrow: &Value) -> bool {
    wide.as_object().into_iter().flatten().all(|(claim, values)| {
        narrow.get(claim).is_some_and(|before| {
            let (is, was) = (texts(values), texts(before));
            is.is_empty() || (!was.is_empty() && is.is_superset(&was))
        })
    })
}

fn texts(list: &Value) -> BTreeSet<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The keys that lead to a setting.
fn keys(name: &str) -> Vec<&str> {
    name.split('.').collect()
}
