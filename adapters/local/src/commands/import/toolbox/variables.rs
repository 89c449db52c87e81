//! `${NAME}`, `${NAME:default}`, `${NAME:-default}` and `${NAME:?message}`: variables of the
//! environment, which an app reads as `{{ env.NAME }}`.

use std::collections::BTreeMap;

/// The variables that were found, each with what `.env` sets it to: its default.
#[derive(Default)]
pub(super) struct Variables(BTreeMap<String, Option<String>>);

/// A part of a text with variables.
enum Part<'a> {
    Text(&'a str),
    Variable { name: &'a str, default: Option<&'a str> },
}

impl Variables {
    /// A text as a file of an app has it: its variables as placeholders, its own braces escaped,
    /// and what stands between coded by `code`.
    pub(super) fn filled(&mut self, text: &str, code: impl Fn(&str) -> String) -> String {
        let mut filled = String::new();
        for part in parts(text) {
            match part {
                Part::Text(text) => filled.push_str(&code(text).replace("{{", "{{ '{{' }}")),
                Part::Variable { name, default } => {
                    self.note(name, default);
                    filled.push_str(&format!("{{{{ env.{name} }}}}"));
                }
            }
        }
        filled
    }

    /// A text that is a secret: one that is written out becomes a variable of the name.
    pub(super) fn secret(&mut self, text: &str, name: &str) -> String {
        if parts(text).iter().all(|part| matches!(part, Part::Text(_))) {
            self.note(name, Some(text));
            return format!("{{{{ env.{name} }}}}");
        }
        self.filled(text, str::to_owned)
    }

    /// A variable that the configuration does not have.
    pub(super) fn needed(&mut self, name: &str) -> String {
        self.note(name, None);
        format!("{{{{ env.{name} }}}}")
    }

    fn note(&mut self, name: &str, default: Option<&str>) {
        // Within single quotes every character of `.env` is itself; it has no way to write one.
        let value = default.filter(|value| !value.contains(['\'', '\n', '\r'])).map(str::to_owned);
        let known = self.0.entry(name.to_owned()).or_default();
        *known = known.take().or(value);
    }

    /// The variables by name.
    pub(super) fn into_values(self) -> BTreeMap<String, Option<String>> {
        self.0
    }
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, opened) = rest.split_at(start);
        let Some((inside, after)) = opened.get(2..).and_then(|inside| inside.split_once('}')) else { break };
        let (name, default) = inside.split_once(':').map_or((inside, None), |(name, default)| (name, Some(default)));
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            break;
        }
        parts.push(Part::Text(before));
        let default = default.filter(|default| !default.starts_with('?')).map(|default| default.strip_prefix('-').unwrap_or(default));
        parts.push(Part::Variable { name, default });
        rest = after;
    }
    parts.push(Part::Text(rest));
    parts
}
