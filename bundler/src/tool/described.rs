//! Rules for descriptions: what models choose tools by, and fill in inputs by, must say something,
//! and must not contradict the rest of the file. Each rule has a name, by which `checks` turns it
//! off, with a reason.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use millrace_core::app::Access;

use super::reader::{ToolDescription, ToolReader};
use crate::{
    compiler::Compiler,
    field::{Field, Record, Shape},
    names::nearest,
    yaml::{Data, Document, Entry, Node},
};

/// The longest description of a tool, in characters, that every API of models takes:
/// <https://platform.openai.com/docs/api-reference/responses/create>.
const MOST_CHARACTERS: usize = 1_024;

/// The most tools with one description that a warning names.
const MOST_NAMED: usize = 5;

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    Missing,
    Same,
    Name,
    Length,
    Input,
    Required,
    Default,
    Range,
    Effect,
}

impl Rule {
    const fn name(self) -> &'static str {
        match self {
            Self::Missing => "description-missing",
            Self::Same => "description-same",
            Self::Name => "description-name",
            Self::Length => "description-length",
            Self::Input => "description-input",
            Self::Required => "description-required",
            Self::Default => "description-default",
            Self::Range => "description-range",
            Self::Effect => "description-effect",
        }
    }
}

/// `checks`, of a tool or of the root file.
pub(crate) static CHECKS: Record = Record {
    name: "checks",
    noun: "`checks`",
    doc: "The rules for descriptions that do not apply, each with the reason.",
    fields: &[
        Field::new("description-missing", Shape::Text, "Why a tool has no description."),
        Field::new("description-same", Shape::Text, "Why another tool has the same description."),
        Field::new("description-name", Shape::Text, "Why the description says no more than the name."),
        Field::new("description-length", Shape::Text, "Why the description has more than 1,024 characters."),
        Field::new("description-input", Shape::Text, "Why the description names an input that the tool does not have."),
        Field::new("description-required", Shape::Text, "Why an input is described as optional and is not, or as required and is not."),
        Field::new("description-default", Shape::Text, "Why an input is described with another default than it has."),
        Field::new("description-range", Shape::Text, "Why an input is described with another range than it has."),
        Field::new("description-effect", Shape::Text, "Why the description says that the tool changes nothing, and it may."),
    ],
};

/// Looks at what a tool's file describes.
pub(super) fn read(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, access: Option<Access>) {
    if compiler.imported {
        return;
    }
    reasons(compiler, reading.document);
    let root = &reading.document.root;
    let inputs = root.at("inputs").map(Node::entries).unwrap_or_default();
    let told = root.at("description").and_then(|node| Some((node, node.text()?.trim()))).filter(|(_, text)| !text.is_empty());
    let Some((node, text)) = told else {
        let help = "Describe what the tool does and when to use it; models choose by that.";
        return warn(compiler, reading, Rule::Missing, 0..0, format!("the tool `{}` has no `description`", reading.name), help);
    };
    let mut say = |rule, message: String, help: &str| warn(compiler, reading, rule, node.range.clone(), message, help);
    if says_no_more(text, reading.name) {
        say(
            Rule::Name,
            "the description says no more than the name".to_owned(),
            "Say what the tool does, when to use it, and what it returns.",
        );
    }
    let length = text.chars().count();
    if length > MOST_CHARACTERS {
        let help = "Move what is about an input to its own `description`, and what is about all tools to `instructions` in millrace.yaml.";
        say(
            Rule::Length,
            format!("the description has {length} characters, and some models' APIs take no more than {MOST_CHARACTERS}"),
            help,
        );
    }
    if let Some(named) = foreign_input(text, inputs, reading.name) {
        let near = nearest(&named, inputs.iter().map(|entry| entry.key.as_str()));
        let help = near.map_or_else(|| "Name the inputs as `inputs` does.".to_owned(), |near| format!("Did you mean `{near}`?"));
        say(Rule::Input, format!("the description names the input `{named}`, which the tool does not have"), &help);
    }
    if access == Some(Access::Write) && claims_to_read(text) {
        let help = "Say what it changes, or let its statement only read.";
        say(Rule::Effect, "the description says that the tool only reads, and it may write".to_owned(), help);
    }
    for input in inputs {
        of_input(compiler, reading, input);
    }
}

/// Rejects a rule that is turned off without a reason.
pub(crate) fn reasons(compiler: &mut Compiler<'_>, document: &Document) {
    for entry in document.root.at("checks").map(Node::entries).unwrap_or_default() {
        if entry.value.text().is_some_and(|reason| reason.trim().is_empty()) {
            let help = format!("Write it for whoever reviews the app: `checks: {{ {}: \"The examples are needed\" }}`.", entry.key);
            compiler.error(document, entry.value.range.clone(), format!("`checks.{}` has no reason", entry.key), help);
        }
    }
}

/// Warns, unless the rule is turned off for the tool or for all.
fn warn(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, rule: Rule, range: Range<usize>, message: impl Into<String>, help: &str) {
    if is_off(&reading.document.root, rule) || is_off(&reading.root.document.root, rule) {
        return;
    }
    compiler.warning(reading.document, range, message, advised(rule, help));
}

fn advised(rule: Rule, help: &str) -> String {
    format!("{help} Or say why not: `checks: {{ {}: REASON }}`.", rule.name())
}

fn is_off(root: &Node, rule: Rule) -> bool {
    root.at("checks").and_then(|checks| checks.text_at(rule.name())).is_some()
}

/// What is to be compared with the descriptions of other tools.
pub(super) fn described(reading: &ToolReader<'_>) -> Option<ToolDescription> {
    let node = reading.document.root.at("description")?;
    let text = node.text()?.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let is_compared = text.contains(' ') && !is_off(&reading.document.root, Rule::Same) && !is_off(&reading.root.document.root, Rule::Same);
    is_compared.then(|| ToolDescription {
        source: Arc::clone(&reading.document.source),
        range: node.range.clone(),
        tool: reading.name.to_owned(),
        text,
    })
}

/// Warns of tools with one description: once for all that share it, at the second.
pub(super) fn same(compiler: &mut Compiler<'_>, all: &[ToolDescription]) {
    let mut shared: BTreeMap<&str, Vec<&ToolDescription>> = BTreeMap::new();
    for description in all {
        shared.entry(&description.text).or_default().push(description);
    }
    for tools in shared.into_values() {
        let [_, second, others @ ..] = tools.as_slice() else { continue };
        let mut named: Vec<String> = tools.iter().take(MOST_NAMED).map(|described| format!("`{}`", described.tool)).collect();
        match tools.len() - named.len() {
            0 => {}
            more => named.push(format!("{more} more")),
        }
        let last = named.pop().unwrap_or_default();
        let which = if others.is_empty() { "the two" } else { "them" };
        let help = advised(Rule::Same, &format!("A model cannot tell {which} apart: say what is different."));
        let message = format!("the tools {} and {last} have the same description", named.join(", "));
        compiler.findings.warning(&second.source, second.range.clone(), message, help);
    }
}

/// Whether all words of a description are in the tool's name. One word is what an app has that is
/// being made: it stands for a description that is to come.
fn says_no_more(text: &str, name: &str) -> bool {
    if !text.contains(' ') {
        return false;
    }
    let words = |text: &str| {
        let parts = text.split(|character: char| !character.is_alphanumeric());
        parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect::<Vec<_>>()
    };
    let of_name = words(name);
    let small = ["a", "an", "the", "of", "all", "by"];
    words(text).iter().all(|word| of_name.contains(word) || small.contains(&word.as_str()))
}

/// An input that a description names and the tool does not have: behind the word, or nearly the
/// name of one.
fn foreign_input(text: &str, inputs: &[Entry], tool: &str) -> Option<String> {
    let is_known = |name: &str| inputs.iter().any(|entry| entry.key == name) || name == tool;
    let parts: Vec<&str> = text.split('`').collect();
    parts.iter().enumerate().skip(1).step_by(2).filter(|(place, _)| place + 1 < parts.len()).find_map(|(place, name)| {
        let before = parts[place - 1].trim_end().to_lowercase();
        let is_called_input = ["input", "inputs", "argument", "parameter"].iter().any(|word| before.ends_with(word));
        let is_name = !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || character == '_' || character == '-');
        let is_misspelt = || inputs.iter().any(|entry| entry.key.to_lowercase() != name.to_lowercase() && one_apart(name, &entry.key));
        (is_name && !is_known(name) && (is_called_input || is_misspelt())).then(|| (*name).to_owned())
    })
}

/// Whether two longer names differ in a plural's `s`, or in `-` for `_`.
fn one_apart(name: &str, other: &str) -> bool {
    let plain = |name: &str| name.replace('-', "_").to_lowercase();
    let (name, other) = (plain(name), plain(other));
    name.len() > 3 && (name == other || name.strip_suffix('s') == Some(&other) || other.strip_suffix('s') == Some(&name))
}

/// Whether a description says that nothing is changed.
fn claims_to_read(text: &str) -> bool {
    let text = text.to_lowercase();
    ["read-only", "read only", "only reads", "changes nothing", "does not change anything", "never changes"]
        .iter()
        .any(|claim| text.contains(claim))
}

fn of_input(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, Entry { key, value: input, .. }: &Entry) {
    let Some((node, text)) = input.at("description").and_then(|node| Some((node, node.text()?.trim().to_lowercase()))) else { return };
    let mut say = |rule, message: String, help: &str| warn(compiler, reading, rule, node.range.clone(), message, help);
    let default = input.at("default");
    let may_be_absent = input.bool_at("optional") == Some(true) || default.is_some() || input.bool_at("nullable") == Some(true);
    let is_called = |word: &str| text.starts_with(word) || text.contains(&format!("({word}")) || text.ends_with(&format!(", {word}"));
    if is_called("optional") && !may_be_absent {
        say(
            Rule::Required,
            format!("the input `{key}` is described as optional, and callers must give it"),
            "Add `optional: true` or a `default`, or describe it otherwise.",
        );
    }
    if is_called("required") && may_be_absent {
        say(
            Rule::Required,
            format!("the input `{key}` is described as required, and callers may leave it out"),
            "Remove `optional` or `default`, or describe it otherwise.",
        );
    }
    if let Some(told) = told_default(&text) {
        let own = default.map(|node| shown(node).to_lowercase());
        if own.as_deref() != Some(&told) {
            let own = own.map_or_else(|| "has none".to_owned(), |own| format!("is `{own}`"));
            say(
                Rule::Default,
                format!("the input `{key}` is described with the default `{told}`, and its default {own}"),
                "Let `default` and the description say the same.",
            );
        }
    }
    if matches!(input.text_at("type"), Some("int" | "float")) {
        for (bound, told) in told_bounds(&text) {
            if let Some(own) = input.at(bound).and_then(Node::number).filter(|own| (own - told).abs() > f64::EPSILON) {
                say(
                    Rule::Range,
                    format!("the input `{key}` is described with {told} as its `{bound}`, which is {own}"),
                    "Let the two say the same.",
                );
            }
        }
    }
}

fn shown(node: &Node) -> String {
    match &node.data {
        Data::Text(text) => text.clone(),
        _ => node.json().to_string(),
    }
}

/// The default that a description tells.
fn told_default(text: &str) -> Option<String> {
    let heads = ["defaults to ", "default is ", "default: ", "by default "];
    let rest = heads.iter().find_map(|head| text.split_once(head).map(|(_, rest)| rest))?;
    let word = rest.split_whitespace().next()?.trim_matches(['`', '"', '\'', '(', ')', ',', ';', ':']).trim_end_matches('.');
    // A word such as `the` begins a sentence; a value is a number, a truth value or quoted.
    let is_value = word.parse::<f64>().is_ok() || ["true", "false"].contains(&word) || rest.starts_with(['`', '"', '\'']);
    (is_value && !word.is_empty()).then(|| word.to_owned())
}

/// The bounds that a description tells.
fn told_bounds(text: &str) -> Vec<(&'static str, f64)> {
    let number = |text: &str| {
        let word = text.split_whitespace().next()?.trim_matches(['`', '(', ')', ',', ';']).trim_end_matches('.').replace(',', "");
        word.parse::<f64>().ok().filter(|number| number.is_finite())
    };
    let after = |head: &str| text.split_once(head).and_then(|(_, rest)| number(rest));
    let mut bounds = Vec::new();
    if let Some((_, rest)) = text.split_once("between ")
        && let Some((low, high)) = rest.split_once(" and ")
    {
        bounds.extend(number(low).map(|low| ("min", low)));
        bounds.extend(number(high).map(|high| ("max", high)));
    }
    bounds.extend(["at most ", "maximum ", "maximum: ", "max ", "max: "].iter().find_map(|head| after(head)).map(|most| ("max", most)));
    bounds.extend(["at least ", "minimum ", "minimum: ", "min ", "min: "].iter().find_map(|head| after(head)).map(|least| ("min", least)));
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_bounds_are_read_off_a_text() {
        for (text, expected) in [
            ("how many, defaults to 20.", Some("20")),
            ("the order (default: `desc`)", Some("desc")),
            ("default is true", Some("true")),
            ("by default the newest first", None),
            ("no default", None),
        ] {
            assert_eq!(told_default(text).as_deref(), expected, "{text}");
        }
        assert_eq!(told_bounds("a number between 1 and 1,000."), [("min", 1.0), ("max", 1000.0)]);
        assert_eq!(told_bounds("at most 50 rows, at least 1"), [("max", 50.0), ("min", 1.0)]);
        assert!(told_bounds("at most one, between friends and others").is_empty());
    }

    #[test]
    fn a_name_is_not_a_description() {
        assert!(says_no_more("Get user.", "get-user") && says_no_more("List all of the orders", "orders-list"));
        assert!(!says_no_more("Get one user by e-mail.", "get-user"));
    }
}
