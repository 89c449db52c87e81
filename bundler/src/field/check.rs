//! Checks a file against its table.

use std::{ops::Range, sync::Arc};

use super::{Field, KeyStatus, Record, Shape, duration_ms, size_bytes};
use crate::{
    Severity,
    findings::Findings,
    names::{all_of, nearest, nearest_word, one_of},
    placeholder::{self, Piece, Placeholder},
    source::Source,
    yaml::{Data, Document, Entry, Node, slip},
};

/// How a file is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckMode {
    /// The app is one of Hyperterse: its keys are known, too.
    pub(crate) imported: bool,
    /// How bad unknown keys and wrong types are: an error, but a warning in `.hyperterse`, which
    /// always ignored them.
    pub(crate) severity: Severity,
}

/// Notes every unknown key, missing key and wrong type. What is wrong becomes [`Data::Wrong`].
pub(crate) fn check(document: &mut Document, record: &'static Record, checked: CheckMode, findings: &mut Findings) {
    let mut walk = Walk { source: Arc::clone(&document.source), checked, findings, filled: false };
    if !walk.value(&mut document.root, &Shape::Record(record), "", 0..0) {
        document.root.data = Data::Map(Vec::new());
    }
}

/// Checks a part of a file against a table of its own, as [`check`] does a whole file.
pub(crate) fn check_part(
    document: &Document,
    node: &mut Node,
    record: &'static Record,
    path: &str,
    key: Range<usize>,
    checked: CheckMode,
    findings: &mut Findings,
) {
    let mut walk = Walk { source: Arc::clone(&document.source), checked, findings, filled: false };
    if !walk.value(node, &Shape::Record(record), path, key) {
        node.data = Data::Map(Vec::new());
    }
}

impl CheckMode {
    /// Everything that is wrong is an error.
    pub(crate) fn strict(imported: bool) -> Self {
        Self { imported, severity: Severity::Error }
    }
}

struct Walk<'a> {
    source: Arc<Source>,
    checked: CheckMode,
    findings: &'a mut Findings,
    /// Whether texts are templates here.
    filled: bool,
}

impl Walk<'_> {
    /// Checks one value and everything in it, and takes out what is wrong in it; false where the
    /// value itself is wrong.
    fn value(&mut self, node: &mut Node, shape: &Shape, path: &str, key: Range<usize>) -> bool {
        let fits = match shape {
            Shape::Any => {
                self.plain_below(node, path);
                true
            }
            Shape::OneOf(shapes) => {
                let Some(shape) = shapes.iter().find(|shape| kind_fits(node, shape)) else {
                    return self.wrong(node, shape, path, key);
                };
                return self.value(node, shape, path, key);
            }
            Shape::List(element) => {
                if matches!(node.data, Data::Null) {
                    return true;
                }
                let Data::List(items) = &mut node.data else { return self.wrong(node, shape, path, key) };
                let mut index = 0;
                items.retain_mut(|item| {
                    let path = format!("{path}[{index}]");
                    index += 1;
                    let range = item.range.clone();
                    self.value(item, element, &path, range)
                });
                true
            }
            Shape::Map(element) => {
                if matches!(node.data, Data::Null) {
                    return true;
                }
                let Data::Map(entries) = &mut node.data else { return self.wrong(node, shape, path, key) };
                for entry in entries {
                    self.plain_key(entry, path);
                    let key_range = entry.key_range.clone();
                    self.within(&mut entry.value, element, &join(path, &entry.key), key_range);
                }
                true
            }
            Shape::Record(record) => {
                if matches!(node.data, Data::Null) {
                    node.data = Data::Map(Vec::new());
                }
                if !matches!(node.data, Data::Map(_)) {
                    return self.wrong(node, shape, path, key);
                }
                self.record(node, record, path, key);
                return true;
            }
            Shape::Word(words) => node.text().is_some_and(|word| words.contains(&word)),
            Shape::Text => {
                self.plain(node, path);
                matches!(node.data, Data::Text(_))
            }
            Shape::Bool => node.bool().is_some(),
            Shape::Int(min, max) => matches!(node.data, Data::Int(value) if value >= *min && value <= *max),
            Shape::Number => node.number().is_some_and(f64::is_finite),
            Shape::Size => node.written(&self.source).is_some_and(|text| size_bytes(&text).is_some()),
            Shape::Duration => node.text().is_some_and(|text| duration_ms(text).is_some()),
            Shape::Scalar => {
                self.plain(node, path);
                !matches!(node.data, Data::Null | Data::Wrong | Data::List(_) | Data::Map(_))
            }
        };
        fits || self.wrong(node, shape, path, key)
    }

    /// Checks a value of a map, which becomes [`Data::Wrong`] where it is.
    fn within(&mut self, node: &mut Node, shape: &Shape, path: &str, key: Range<usize>) {
        if !self.value(node, shape, path, key) {
            node.data = Data::Wrong;
        }
    }

    fn record(&mut self, node: &mut Node, record: &'static Record, path: &str, key: Range<usize>) {
        let Data::Map(entries) = &mut node.data else { return };
        let imported = self.checked.imported;
        let known = |field: &&Field| field.status == KeyStatus::Now || (field.status == KeyStatus::Imported && imported);
        for index in 0..entries.len() {
            let name = entries[index].key.clone();
            let key_range = entries[index].key_range.clone();
            let at = join(path, &name);
            match record.fields.iter().filter(known).find(|field| field.key == name) {
                Some(field) => {
                    let (severity, filled) = (self.checked.severity, self.filled);
                    if field.required {
                        self.checked.severity = Severity::Error;
                    }
                    // What only Hyperterse has is not used.
                    self.filled |= field.filled || field.status == KeyStatus::Imported;
                    self.within(&mut entries[index].value, &field.shape, &at, key_range);
                    (self.checked.severity, self.filled) = (severity, filled);
                }
                None => {
                    let keys: Vec<&str> = record.fields.iter().filter(known).map(|field| field.key).collect();
                    let near = nearest(&name, keys.iter().copied());
                    let help = match (slip::separation(&name), near) {
                        (Some(help), _) => help,
                        (None, Some(near)) => format!("Did you mean `{near}`?"),
                        (None, None) => format!("The keys here are {}.", all_of(&keys)),
                    };
                    let message = format!("`{at}` is not a key of {}", record.noun);
                    self.findings.report(self.checked.severity, &self.source, key_range, message, help);
                    entries[index].value.data = Data::Wrong;
                    // What was meant is not missed then.
                    if let Some(near) =
                        near.filter(|near| self.checked.severity == Severity::Error && entries.iter().all(|entry| entry.key != *near))
                    {
                        near.clone_into(&mut entries[index].key);
                    }
                }
            }
        }
        for field in record.fields.iter().filter(|field| field.required && known(field)) {
            if entries.iter().any(|entry| entry.key == field.key) {
                continue;
            }
            let range = if path.is_empty() { node.range.start..node.range.start } else { key.clone() };
            let message = format!("`{}` is missing", join(path, field.key));
            self.findings.error(&self.source, range, message, format!("{} {}", field.doc, wants(&field.shape)));
        }
    }

    /// Refuses the placeholders of a text that is not a template: they would stay as they are
    /// written.
    fn plain(&mut self, node: &Node, path: &str) {
        let Some(text) = node.text().filter(|text| !self.filled && text.contains("{{")) else { return };
        let (pieces, _) = placeholder::scan(text);
        let found = pieces.iter().find_map(|piece| match piece {
            Piece::Placeholder(placeholder) => Some((literal_of(placeholder)?, placeholder)),
            Piece::Text(_) => None,
        });
        // What an `enum` lists are values of a database, perhaps, which may look like anything.
        let is_value = |severity: Severity| severity == Severity::Warning && path.contains(".enum[");
        if let Some((severity, placeholder)) = found.filter(|(severity, _)| !is_value(*severity)) {
            let range = node.locate(&self.source, placeholder.range.clone());
            self.not_filled(severity, range, placeholder, &format!("`{path}`"));
        }
    }

    /// The same for a key of the author's, which never is a template.
    fn plain_key(&mut self, entry: &Entry, path: &str) {
        let (pieces, _) = placeholder::scan(&entry.key);
        for piece in &pieces {
            if let Piece::Placeholder(placeholder) = piece
                && let Some(severity) = literal_of(placeholder)
            {
                return self.not_filled(severity, entry.key_range.clone(), placeholder, &format!("a key of `{path}`"));
            }
        }
    }

    /// The same for everything in a value that may be anything.
    fn plain_below(&mut self, node: &Node, path: &str) {
        match &node.data {
            Data::List(items) => {
                items.iter().enumerate().for_each(|(index, item)| self.plain_below(item, &format!("{path}[{index}]")));
            }
            Data::Map(entries) => {
                for entry in entries {
                    self.plain_key(entry, path);
                    self.plain_below(&entry.value, &join(path, &entry.key));
                }
            }
            _ => self.plain(node, path),
        }
    }

    fn not_filled(&mut self, severity: Severity, range: Range<usize>, placeholder: &Placeholder<'_>, place: &str) {
        let message = format!("`{{{{ {} }}}}` is not filled in here: {place} takes no placeholders", placeholder.path.join("."));
        let help = match severity {
            Severity::Error => "Write the value itself.",
            Severity::Warning => "Write it without braces, or the value itself.",
        };
        self.findings.report(severity, &self.source, range, message, help.to_owned());
    }

    fn wrong(&mut self, node: &Node, shape: &Shape, path: &str, key: Range<usize>) -> bool {
        let range = if matches!(node.data, Data::Null) || node.range.is_empty() { key } else { node.range.clone() };
        let found = match (&node.data, shape) {
            (Data::Text(word), Shape::Word(..)) => format!("`{word}`"),
            (Data::Text(text), Shape::Size | Shape::Duration) => format!("`{text}`"),
            (Data::Int(value), Shape::Int(..)) => value.to_string(),
            _ => node.kind().to_owned(),
        };
        let subject = if path.is_empty() { "the file".to_owned() } else { format!("`{path}`") };
        let mut help = wants(shape);
        match (shape, &node.data) {
            (Shape::Word(words), Data::Text(word)) => {
                if let Some(near) = nearest_word(word, words) {
                    help = format!("Did you mean `{near}`?");
                }
            }
            (Shape::Text, Data::Int(_) | Data::Float(_) | Data::Bool(_)) => "Put it between quotes.".clone_into(&mut help),
            (Shape::Record(_) | Shape::Map(_), Data::Text(text)) => help = slip::separation(text).unwrap_or(help),
            _ => {}
        }
        let message = format!("{subject} cannot be {found}");
        self.findings.report(self.checked.severity, &self.source, range, message, help);
        false
    }
}

/// How bad it is that a placeholder stays as it is written: `None` where it may be meant so.
fn literal_of(placeholder: &Placeholder<'_>) -> Option<Severity> {
    match placeholder.path.as_slice() {
        ["env" | "secret", _, ..] | ["ctx", "env", _, ..] => Some(Severity::Error),
        ["inputs" | "auth" | "ctx" | "results" | "item" | "items" | "steps" | "request", _, ..] => Some(Severity::Warning),
        _ => None,
    }
}

/// Whether a value is of the kind that a shape asks for; what is inside it is not looked at.
pub(crate) fn kind_fits(node: &Node, shape: &Shape) -> bool {
    match shape {
        Shape::List(_) => matches!(node.data, Data::List(_)),
        Shape::Map(_) | Shape::Record(_) => matches!(node.data, Data::Map(_)),
        Shape::Text | Shape::Word(..) => matches!(node.data, Data::Text(_)),
        Shape::Bool => matches!(node.data, Data::Bool(_)),
        Shape::Int(..) => matches!(node.data, Data::Int(_)),
        Shape::Number => matches!(node.data, Data::Int(_) | Data::Float(_)),
        Shape::Size | Shape::Duration | Shape::Scalar => !matches!(node.data, Data::Null | Data::Wrong | Data::List(_) | Data::Map(_)),
        Shape::Any => true,
        Shape::OneOf(shapes) => shapes.iter().any(|shape| kind_fits(node, shape)),
    }
}

/// What a shape takes, as a sentence.
fn wants(shape: &Shape) -> String {
    format!("It takes {}.", what_it_takes(shape))
}

/// What a shape takes, as a noun.
pub(crate) fn what_it_takes(shape: &Shape) -> String {
    match shape {
        Shape::Text => "text".into(),
        Shape::Bool => "`true` or `false`".into(),
        Shape::Int(i64::MIN, i64::MAX) => "a whole number".into(),
        Shape::Int(min, i64::MAX) => format!("a whole number from {min}"),
        Shape::Int(min, max) => format!("a whole number from {min} to {max}"),
        Shape::Number => "a number".into(),
        Shape::Size => "a size such as `256kb` or `1mb`".into(),
        Shape::Duration => "a time such as `500ms` or `5s`".into(),
        Shape::Scalar => "text, a number, `true` or `false`".into(),
        Shape::Any => "anything".into(),
        Shape::Word(words) => one_of(words),
        Shape::List(element) => format!("a list; each element is {}", what_it_takes(element)),
        Shape::Map(element) => format!("a map; each value is {}", what_it_takes(element)),
        Shape::Record(record) => {
            format!("a map with the keys {}", all_of(&now(record)))
        }
        Shape::OneOf(shapes) => shapes.iter().map(what_it_takes).collect::<Vec<_>>().join(", or "),
    }
}

fn now(record: &Record) -> Vec<&'static str> {
    record.fields.iter().filter(|field| field.status == KeyStatus::Now).map(|field| field.key).collect()
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
