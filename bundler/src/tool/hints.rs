//! `annotations`: what clients are told of a tool's effects, and its title.
//!
//! All four hints are always there: a client takes an absent one for the worst. They come from what
//! the tool's statements are known to do, from `kind`, `idempotency` and `fetch.allow`. An author
//! can be more careful than that, and can say what the build cannot know, such as what a script
//! does; an annotation that contradicts what is known is a mistake of the app.

use serde_json::{Map, Value};

use crate::{Severity, statement::Effect, yaml::Node};

/// What is known of a tool.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    /// `kind`
    pub(super) kind: &'a str,
    /// Whether the author wrote `kind`.
    pub(super) says_kind: bool,
    /// What its statements do; `None` for a script.
    pub(super) effect: Option<Effect>,
    /// It has `idempotency`: it may be called again with the same inputs.
    pub(super) repeats: bool,
    /// A script that runs beside its statements may change something.
    pub(super) scripts_write: bool,
    /// It sends no request, and no script of it may send one.
    pub(super) stays_inside: bool,
    /// There is nothing that its script could change: no `fetch`, and no adapter that is not read
    /// only.
    pub(super) changes_nothing: bool,
}

/// The hints, in the order of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hints {
    pub(crate) read_only: bool,
    pub(crate) destructive: bool,
    pub(crate) idempotent: bool,
    pub(crate) open_world: bool,
}

impl Hints {
    /// As the author says, else as is known.
    pub(super) fn of(facts: &Facts<'_>, annotations: &Node) -> Self {
        let says = |hint: &str| annotations.bool_at(hint);
        let reads = match facts.effect {
            // One that reads as far as its words tell can be said to do more: a function has
            // effects. What the scripts beside it do is for their author to say.
            Some(effect) => effect == Effect::Reads && facts.kind == "query" && (facts.says_kind || !facts.scripts_write),
            None => facts.kind == "query" || (facts.changes_nothing && !facts.says_kind),
        };
        let read_only = says("readOnlyHint").unwrap_or(reads && !facts.repeats);
        // What reads by its words, and is said to do something, does what the words do not say.
        let destroys = (facts.effect != Some(Effect::Adds) || facts.scripts_write) && !facts.changes_nothing;
        Self {
            read_only,
            destructive: says("destructiveHint").unwrap_or(!read_only && destroys),
            idempotent: says("idempotentHint").unwrap_or(read_only || facts.repeats),
            open_world: says("openWorldHint").unwrap_or(!facts.stays_inside),
        }
    }

    /// As members of `annotations`.
    pub(crate) fn members(self) -> [(String, Value); 4] {
        let hints = [
            ("readOnlyHint", self.read_only),
            ("destructiveHint", self.destructive),
            ("idempotentHint", self.idempotent),
            ("openWorldHint", self.open_world),
        ];
        hints.map(|(name, value)| (name.to_owned(), value.into()))
    }

    /// What is true of a call that may be one of either.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self {
            read_only: self.read_only && other.read_only,
            destructive: self.destructive || other.destructive,
            idempotent: self.idempotent && other.idempotent,
            open_world: self.open_world || other.open_world,
        }
    }

    /// What the entry of a tool says; of an absent hint what a client takes it for.
    pub(crate) fn read(annotations: &Map<String, Value>) -> Self {
        let says = |hint: &str, absent| annotations.get(hint).and_then(Value::as_bool).unwrap_or(absent);
        Self {
            read_only: says("readOnlyHint", false),
            destructive: says("destructiveHint", true),
            idempotent: says("idempotentHint", false),
            open_world: says("openWorldHint", true),
        }
    }
}

/// An annotation that contradicts what is known: the hint, how bad it is, what is wrong, and what
/// helps.
pub(super) type Contradiction = (&'static str, Severity, &'static str, &'static str);

/// The hints of `annotations` that contradict what the tool is known to do, or each other.
pub(super) fn contradictions(annotations: &Node, facts: &Facts<'_>) -> Vec<Contradiction> {
    let says = |hint: &str, value: bool| annotations.bool_at(hint) == Some(value);
    let mut found = Vec::new();
    if says("readOnlyHint", true) {
        let help = "Remove the hint, or write `false`: clients may call a tool that only reads without asking their user.";
        match facts.effect {
            Some(Effect::Adds | Effect::Destroys) => {
                let message = "`readOnlyHint: true` tells clients that the tool only reads, but its statement writes";
                found.push(("readOnlyHint", Severity::Error, message, help));
            }
            Some(Effect::Unknown) => {
                let message = "`readOnlyHint: true` tells clients that the tool only reads, but its statement may write";
                found.push(("readOnlyHint", Severity::Warning, message, help));
            }
            _ if facts.kind == "mutation" => {
                found.push(("readOnlyHint", Severity::Error, "`readOnlyHint: true` contradicts `kind: mutation`", help));
            }
            _ if facts.repeats => {
                let message = "`readOnlyHint: true` contradicts `idempotency`, which is for tools that change something";
                found.push(("readOnlyHint", Severity::Error, message, help));
            }
            _ => {}
        }
    }
    let hints = Hints::of(facts, annotations);
    if hints.read_only && says("destructiveHint", true) {
        let message = "`destructiveHint: true` contradicts that the tool only reads";
        found.push(("destructiveHint", Severity::Error, message, "Remove the hint, or write `readOnlyHint: false`."));
    }
    if facts.effect == Some(Effect::Destroys) && says("destructiveHint", false) {
        let message = "`destructiveHint: false` tells clients that the tool only adds, but its statement changes or deletes what is there";
        found.push(("destructiveHint", Severity::Error, message, "Remove the hint, or write `true`."));
    }
    if facts.repeats && says("idempotentHint", false) {
        let message = "`idempotentHint: false` tells clients not to send a call again, which is what `idempotency` is for";
        found.push(("idempotentHint", Severity::Error, message, "Remove the hint."));
    }
    found
}

/// The title of a tool without one: `get-user` and `getUser` are `Get user`. Words in capitals stay
/// as they are.
pub(crate) fn title_of(name: &str) -> String {
    let mut words: Vec<String> = vec![String::new()];
    let mut before_lower = false;
    for character in name.chars() {
        let starts = before_lower && character.is_ascii_uppercase();
        before_lower = character.is_ascii_lowercase() || character.is_ascii_digit();
        if matches!(character, '-' | '_') || starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| !matches!(character, '-' | '_')) {
            word.push(character);
        }
    }
    let mut title = String::with_capacity(name.len() + 4);
    for word in words.iter().filter(|word| !word.is_empty()) {
        let is_short = word.len() > 1 && word.chars().all(|c| !c.is_ascii_lowercase());
        let word = if is_short { word.clone() } else { word.to_ascii_lowercase() };
        if title.is_empty() {
            title.extend(word.chars().next().map(|first| first.to_ascii_uppercase()));
            title.push_str(word.get(1..).unwrap_or_default());
        } else {
            title.push(' ');
            title.push_str(&word);
        }
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        for (name, title) in [
            ("get-user", "Get user"),
            ("get_user_2", "Get user 2"),
            ("getUser", "Get user"),
            ("getUserByURL", "Get user by URL"),
            ("a", "A"),
            ("B-", "B"),
            ("staff-cancel-order", "Staff cancel order"),
            ("x--y", "X y"),
            ("list2Rows", "List2 rows"),
        ] {
            assert_eq!(title_of(name), title);
        }
    }
}
