//! What can be written at a cursor.

use std::ops::Range;

use millrace_catalogue::{COMMON_OPTIONS, find};

use super::{
    AppIndex, Kind, OpenFile,
    completion::{Completion, CompletionKind, Completions},
    cursor::{self, Cursor, Found, MARK},
    describe::{key_doc, summary},
    members::{Member, View},
    scripts,
};
use crate::{
    auth::PLUGIN_NAMES,
    expression::WORDS_OF_CONDITIONS,
    field::{Field, KeyStatus, Named, Record, Shape, what_it_takes},
    link::is_script,
    outline::Outline,
    scope::OF_DEPLOYMENT,
    tree::parent,
    walk::Spot,
};

/// The most completions that are given at once.
pub(super) const MOST_COMPLETIONS: usize = 1000;

/// The longest placeholder that is looked for around a cursor, in bytes.
const LONGEST_PLACEHOLDER: usize = 500;

/// What is completed: the bytes of the word at the cursor, and the text around it.
struct Asked<'a> {
    view: View<'a>,
    text: &'a str,
    replace: Range<usize>,
}

impl AppIndex {
    /// What can be written at an offset of a file, in the order of use: required keys first.
    #[must_use]
    pub fn completions(&self, file: OpenFile<'_>, offset: usize) -> Completions {
        let items = match self.record_of(file.path) {
            Some(record) => self.in_placeholder(file, offset, record).unwrap_or_else(|| self.at_word(file, offset, record)),
            None => scripts::completions(self, file, offset),
        };
        let is_whole = items.len() <= MOST_COMPLETIONS;
        let typed = |item: &Completion| file.text.get(item.replace.start..offset).unwrap_or_default().to_lowercase();
        let fits = |item: &Completion| is_whole || item.label.to_lowercase().contains(&typed(item));
        Completions { items: items.into_iter().filter(fits).take(MOST_COMPLETIONS).collect(), is_whole }
    }

    /// What can be written in the placeholder that an offset is in. `None` where it is in none.
    fn in_placeholder(&self, file: OpenFile<'_>, offset: usize, record: &'static Record) -> Option<Vec<Completion>> {
        let text = file.text;
        let open = open_placeholder(text, offset)?;
        let nothing = Some(Vec::new());
        let Some(marked) = cursor::mark(text, &open.range, record) else { return nothing };
        let Some(Found { spot, .. }) = marked.found() else { return nothing };
        let Some(field) = spot.field.filter(|field| field.filled) else { return nothing };
        let outline = Outline::of(marked.document(), record);
        let view = View { index: self, file: file.path, document: marked.document(), outline: &outline };
        let inner = text.get(open.range.start + 2..offset).unwrap_or_default().trim_start();
        let replace = cursor::word(text, offset, &[]);
        if inner.contains('|') {
            let filters = if field.key == "statement" { ["ident", "keyword"].as_slice() } else { &[] };
            return Some(filters.iter().map(|filter| word(filter, "filter", &replace)).collect());
        }
        let roots = if field.sees.is_empty() { OF_DEPLOYMENT } else { field.sees };
        let mut path: Vec<&str> = inner.split('.').map(str::trim).collect();
        path.pop();
        let close = if open.is_closed { "" } else { " }}" };
        Some(view.members(roots, &path).into_iter().map(|member| of_member(member, &replace, close)).collect())
    }

    fn at_word(&self, file: OpenFile<'_>, offset: usize, record: &'static Record) -> Vec<Completion> {
        let text = file.text;
        // Names of files and scopes have other characters, too.
        let replace = cursor::word(text, offset, &['.', '/', ':', '#']);
        let narrow = cursor::word(text, offset, &[]);
        let marked = cursor::mark(text, &replace, record).or_else(|| cursor::mark(text, &narrow, record));
        let Some(marked) = marked else { return Vec::new() };
        let Some(found) = marked.found() else { return Vec::new() };
        let outline = Outline::of(marked.document(), record);
        let view = View { index: self, file: file.path, document: marked.document(), outline: &outline };
        match found.cursor {
            Cursor::Key => Asked { view, text, replace: narrow }.keys(&found.spot),
            Cursor::Value(before) => {
                let before = before + text.get(replace.start..offset).unwrap_or_default();
                if let Some(field) = found.spot.field.filter(|field| field.condition) {
                    return Asked { view, text, replace: narrow }.condition(field, &before);
                }
                if found.spot.node.text().is_none_or(|text| text.trim() != MARK) {
                    return Vec::new();
                }
                let mut all = Asked { view, text, replace }.values(&found.spot);
                // What is a word yet may become a map.
                if let Some(table) = found.spot.table().filter(|_| found.is_element) {
                    all.extend(Asked { view, text, replace: narrow }.keys_of(table, &[]));
                }
                all
            }
        }
    }
}

struct OpenPlaceholder {
    range: Range<usize>,
    is_closed: bool,
}

/// The placeholder that is open at an offset, up to its end or the offset.
fn open_placeholder(text: &str, offset: usize) -> Option<OpenPlaceholder> {
    let before = text.get(..offset)?;
    let start = before.rfind("{{")?;
    let inner = &before[start + 2..];
    if inner.len() > LONGEST_PLACEHOLDER || inner.contains("}}") || inner.contains(['\'', '"', '\n']) {
        return None;
    }
    let rest = text[offset..].split('\n').next().unwrap_or_default();
    let close = rest.find("}}").filter(|close| !rest[..*close].contains("{{"));
    let end = offset + close.map_or(0, |close| close + 2);
    Some(OpenPlaceholder { range: start..end, is_closed: close.is_some() })
}

impl Asked<'_> {
    /// The keys of a map that are not there yet.
    fn keys(&self, spot: &Spot<'_>) -> Vec<Completion> {
        let present: Vec<&str> = spot.node.entries().iter().map(|entry| entry.key.as_str()).collect();
        let named = spot.field.filter(|_| matches!(spot.meant(), Shape::Map(_))).and_then(|field| field.keys);
        match (named, spot.table()) {
            (Some(named), _) => {
                let all = self.named(named, spot);
                let keys = all.into_iter().filter(|found| !present.contains(&found.label.as_str()));
                keys.map(|found| Completion { insert: self.key(&found.label, true), replace: self.replace.clone(), ..found }).collect()
            }
            (None, Some(record)) => self.keys_of(record, &present),
            (None, None) => Vec::new(),
        }
    }

    fn keys_of(&self, record: &'static Record, present: &[&str]) -> Vec<Completion> {
        let is_left = |field: &&Field| field.status == KeyStatus::Now && !present.contains(&field.key);
        let mut fields: Vec<&'static Field> = record.fields.iter().filter(is_left).collect();
        fields.sort_by_key(|field| !field.required);
        let of = |field: &'static Field| {
            let is_inline = !matches!(field.shape, Shape::Record(_) | Shape::Map(_) | Shape::List(_));
            let takes = if is_inline || matches!(field.shape, Shape::List(_)) { what_it_takes(&field.shape) } else { "a map".to_owned() };
            Completion {
                label: field.key.to_owned(),
                kind: CompletionKind::Key,
                detail: if field.required { format!("required: {takes}") } else { takes },
                doc: key_doc(field),
                insert: self.key(field.key, is_inline),
                replace: self.replace.clone(),
            }
        };
        fields.into_iter().map(of).collect()
    }

    /// A key as it is written: with its colon, where there is none yet.
    fn key(&self, key: &str, is_inline: bool) -> String {
        let has_colon = self.text.get(self.replace.end..).is_some_and(|rest| rest.trim_start_matches(' ').starts_with(':'));
        match (has_colon, is_inline) {
            (true, _) => key.to_owned(),
            (false, true) => format!("{key}: "),
            (false, false) => format!("{key}:"),
        }
    }

    /// The values that a key takes.
    fn values(&self, spot: &Spot<'_>) -> Vec<Completion> {
        let mut all = Vec::new();
        self.of_shape(&spot.shape, &mut all);
        if let Some(named) = spot.names() {
            all.extend(self.named(named, spot));
        }
        all
    }

    fn of_shape(&self, shape: &Shape, all: &mut Vec<Completion>) {
        match shape {
            Shape::Bool => all.extend(["true", "false"].map(|word| self.value(word, "", CompletionKind::Value))),
            Shape::Word(words) => all.extend(words.iter().map(|word| self.value(word, "", CompletionKind::Value))),
            Shape::OneOf(shapes) => shapes.iter().for_each(|shape| self.of_shape(shape, all)),
            _ => {}
        }
    }

    fn value(&self, label: &str, detail: &str, kind: CompletionKind) -> Completion {
        Completion {
            label: label.to_owned(),
            kind,
            detail: detail.to_owned(),
            doc: String::new(),
            insert: label.to_owned(),
            replace: self.replace.clone(),
        }
    }

    /// What of the app a text can name.
    fn named(&self, named: Named, spot: &Spot<'_>) -> Vec<Completion> {
        let index = self.view.index;
        if let Some(kind) = Kind::of(named) {
            let of = |(name, file): (&str, &str)| {
                let (detail, doc) =
                    index.outline(file).map(|outline| (outline.detail.clone(), summary(index, outline, name))).unwrap_or_default();
                Completion { doc, ..self.value(name, if detail.is_empty() { kind.noun() } else { &detail }, CompletionKind::Name) }
            };
            return index.all(kind).map(of).collect();
        }
        match named {
            Named::Scope => index.scopes().iter().map(|scope| self.value(scope, "scope", CompletionKind::Name)).collect(),
            Named::Connector => {
                let detail = |name: &str| find(name).map(|connector| format!("{:?}", connector.language)).unwrap_or_default();
                index.connectors.iter().map(|name| self.value(name, &detail(name), CompletionKind::Value)).collect()
            }
            Named::ConnectorOption => {
                let connector = spot.beside.and_then(|beside| beside.text_at("connector")).and_then(find);
                let own = connector.map(|connector| connector.options).unwrap_or_default();
                let all = COMMON_OPTIONS.iter().chain(own);
                all.map(|option| self.value(option, connector.map_or("", |connector| connector.name), CompletionKind::Key)).collect()
            }
            Named::Input => self.inputs_beside(spot),
            Named::Script => self.scripts(),
            Named::Plugin => {
                let words = PLUGIN_NAMES.iter().map(|word| self.value(word, "plugin", CompletionKind::Value));
                words.chain(self.scripts()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The inputs of the tool that is named beside a map.
    fn inputs_beside(&self, spot: &Spot<'_>) -> Vec<Completion> {
        let index = self.view.index;
        let beside = spot.beside.and_then(|beside| beside.text_at("tool"));
        let of_file = || index.tested_tool(self.view.file, self.view.document.root.text_at("tool"));
        let tool = beside.map(str::to_owned).or_else(of_file);
        let file = tool.as_deref().and_then(|tool| index.file_of(Kind::Tool, tool));
        let inputs = file.and_then(|file| index.outline(file)).map(|outline| outline.inputs.as_slice()).unwrap_or_default();
        let of = |input: &crate::outline::Declared| Completion {
            doc: input.description.clone(),
            ..self.value(&input.name, &input.kind, CompletionKind::Variable)
        };
        inputs.iter().map(of).collect()
    }

    /// The scripts beside the file, as a reference names them.
    fn scripts(&self) -> Vec<Completion> {
        let folder = self.view.index.folder.join(parent(self.view.file));
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.retain(|name| is_script(name));
        names.sort();
        names.iter().map(|name| self.value(&format!("./{name}"), "script", CompletionKind::File)).collect()
    }

    /// What an expression can go on with.
    fn condition(&self, field: &Field, before: &str) -> Vec<Completion> {
        let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']');
        let start = before.char_indices().rev().take_while(|(_, c)| belongs(*c)).last().map_or(before.len(), |(at, _)| at);
        let path: String = before[start..].split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect();
        let mut names: Vec<&str> = path.split('.').collect();
        names.pop();
        let members = self.view.members(field.sees, &names);
        let mut all: Vec<Completion> = members.into_iter().map(|member| of_member(member, &self.replace, "")).collect();
        if names.is_empty() {
            all.extend(WORDS_OF_CONDITIONS.iter().map(|known| word(known, "expression", &self.replace)));
        }
        all
    }
}

impl AppIndex {
    /// The scopes that the app names anywhere.
    fn scopes(&self) -> Vec<String> {
        let mentions = self.outlines.files.values().flat_map(|outline| &outline.mentions);
        let mut scopes: Vec<String> =
            mentions.filter(|mention| mention.named == Named::Scope && mention.text != MARK).map(|mention| mention.text.clone()).collect();
        scopes.sort();
        scopes.dedup();
        scopes
    }
}

fn of_member(member: Member, replace: &Range<usize>, close: &str) -> Completion {
    let insert = if member.goes_on { format!("{}.", member.name) } else { format!("{}{close}", member.name) };
    Completion {
        insert,
        label: member.name,
        kind: CompletionKind::Variable,
        detail: member.what,
        doc: member.doc,
        replace: replace.clone(),
    }
}

fn word(text: &str, detail: &str, replace: &Range<usize>) -> Completion {
    Completion {
        label: text.to_owned(),
        kind: CompletionKind::Word,
        detail: detail.to_owned(),
        doc: String::new(),
        insert: text.to_owned(),
        replace: replace.clone(),
    }
}
