//! YAML with places: a file's text in, a tree of [`Node`]s out that knows where each of them
//! stands.
//!
//! It takes [YAML 1.2](https://yaml.org/spec/1.2.2/) with anchors, aliases and the merge key `<<`.
//! It refuses what no file of an app needs and what hides mistakes: a key twice, several documents,
//! tags of one's own, more than [`MAX_DEPTH`] levels, more than [`MAX_NODES`] nodes once aliases
//! are followed.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use saphyr::Scalar;
use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

use crate::{Problem, findings::Findings, source::Source};

mod locate;
pub(crate) mod slip;
mod tabs;

/// The most levels of a file.
pub(crate) const MAX_DEPTH: usize = 64;

/// The most nodes of a file, each alias counted as what it stands for.
pub(crate) const MAX_NODES: usize = 100_000;

/// The same of a file that describes something else than an app, which is read once.
pub(crate) const MAX_FOREIGN_NODES: usize = 2_000_000;

/// A file that was read.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Its text.
    pub(crate) source: Arc<Source>,
    /// What it says.
    pub(crate) root: Node,
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The value.
    pub(crate) data: Data,
    /// Its bytes in the file.
    pub(crate) range: Range<usize>,
    style: ScalarStyle,
}

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// `null`, or nothing
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Keys and values, in order, no key twice.
    Map(Vec<Entry>),
    /// A value that was wrong, which has been said: as if it were not there, but not missed either.
    Wrong,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key.
    pub(crate) key: String,
    /// Where the key stands.
    pub(crate) key_range: Range<usize>,
    /// The value.
    pub(crate) value: Node,
}

impl Findings {
    /// Notes a problem inside the text of a scalar, at its place in the file.
    pub(crate) fn problem(&mut self, document: &Document, node: &Node, problem: Problem) {
        if self.is_full(problem.severity) {
            return;
        }
        let range = node.locate(&document.source, problem.range);
        self.push(document.source.diagnostic(problem.severity, range, problem.message, problem.help));
    }
}

impl Document {
    /// Reads a file. What is wrong goes to `findings`; `None` where nothing can be read.
    pub(crate) fn parse(source: Source, findings: &mut Findings) -> Option<Self> {
        let source = Arc::new(source);
        let root = Builder::new(&source, findings).run(false)?.pop().unwrap_or_else(Node::nothing);
        Some(Self { source, root })
    }

    /// Reads a file that is no part of an app, and may be larger. What is wrong goes to `findings`;
    /// `None` where nothing can be read.
    pub(crate) fn parse_foreign(source: &Source, findings: &mut Findings) -> Option<Node> {
        let builder = Builder { most: MAX_FOREIGN_NODES, ..Builder::new(source, findings) };
        Some(builder.run(false)?.pop().unwrap_or_else(Node::nothing))
    }

    /// Reads the documents of a file that may have several.
    pub(crate) fn parse_several(source: &Source, findings: &mut Findings) -> Option<Vec<Node>> {
        Builder::new(source, findings).run(true)
    }
}

impl Node {
    /// A value that is not there.
    pub(crate) fn nothing() -> Self {
        Self { data: Data::Null, range: 0..0, style: ScalarStyle::Plain }
    }

    /// A map.
    pub(crate) fn map(entries: Vec<Entry>, range: Range<usize>) -> Self {
        Self { data: Data::Map(entries), range, style: ScalarStyle::Plain }
    }

    /// Whether it is a scalar in double quotes.
    pub(crate) fn is_double_quoted(&self) -> bool {
        self.style == ScalarStyle::DoubleQuoted
    }

    /// The same, and its range has no single quotes that were not in the file.
    pub(crate) fn without_single_quotes(mut self) -> Self {
        if self.style == ScalarStyle::SingleQuoted {
            self.style = ScalarStyle::Plain;
        }
        self
    }

    /// The text, where it is text.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, where it is one.
    pub(crate) fn bool(&self) -> Option<bool> {
        match self.data {
            Data::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, where it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.data {
            #[allow(clippy::cast_precision_loss, reason = "whole numbers of an app file that matter are far below 2^53")]
            Data::Int(value) => Some(value as f64),
            Data::Float(value) => Some(value),
            _ => None,
        }
    }

    /// The elements, where it is a list; else none.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.data {
            Data::List(items) => items,
            _ => &[],
        }
    }

    /// The entries, where it is a map; else none.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.data {
            Data::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The value of a key; `None` also where it is null or wrong, or this is not a map.
    pub(crate) fn at(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value).filter(|value| !matches!(value.data, Data::Null | Data::Wrong))
    }

    /// The entry of a key.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The text of a key.
    pub(crate) fn text_at(&self, key: &str) -> Option<&str> {
        self.at(key).and_then(Self::text)
    }

    /// The truth value of a key.
    pub(crate) fn bool_at(&self, key: &str) -> Option<bool> {
        self.at(key).and_then(Self::bool)
    }

    /// The texts of a list of texts at a key.
    pub(crate) fn texts_at(&self, key: &str) -> Vec<String> {
        self.at(key).map(|list| list.items().iter().filter_map(Self::text).map(String::from).collect()).unwrap_or_default()
    }

    /// A scalar as its author wrote it: `1.10` stays `1.10`.
    pub(crate) fn written(&self, source: &Source) -> Option<String> {
        match &self.data {
            Data::Text(text) => Some(text.clone()),
            Data::Null | Data::Wrong | Data::List(_) | Data::Map(_) => None,
            Data::Bool(_) | Data::Int(_) | Data::Float(_) => Some(source.slice(self.range.clone()).trim().to_owned()),
        }
    }

    /// The value as JSON; a number that JSON does not have is null.
    pub(crate) fn json(&self) -> serde_json::Value {
        match &self.data {
            Data::Null | Data::Wrong => serde_json::Value::Null,
            Data::Bool(value) => (*value).into(),
            Data::Int(value) => (*value).into(),
            Data::Float(value) => (*value).into(),
            Data::Text(text) => text.as_str().into(),
            Data::List(items) => items.iter().map(Self::json).collect(),
            Data::Map(entries) => serde_json::Value::Object(entries.iter().map(|entry| (entry.key.clone(), entry.value.json())).collect()),
        }
    }

    /// What it is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self.data {
            Data::Null | Data::Wrong => "nothing",
            Data::Bool(_) => "a truth value",
            Data::Int(_) | Data::Float(_) => "a number",
            Data::Text(_) => "text",
            Data::List(_) => "a list",
            Data::Map(_) => "a map",
        }
    }

    fn size(&self) -> usize {
        1 + self.items().iter().map(Self::size).sum::<usize>() + self.entries().iter().map(|entry| 1 + entry.value.size()).sum::<usize>()
    }

    fn depth(&self) -> usize {
        let items = self.items().iter().map(Self::depth);
        1 + items.chain(self.entries().iter().map(|entry| entry.value.depth())).max().unwrap_or(0)
    }
}

/// A list or a map that is not closed yet.
struct Open {
    start: usize,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    /// `places`: the keys so far, and the byte that each stands at.
    Map {
        entries: Vec<Entry>,
        places: BTreeMap<String, usize>,
        key: Option<(Option<String>, Range<usize>)>,
    },
}

struct Builder<'a> {
    source: &'a Source,
    findings: &'a mut Findings,
    /// The byte of each character; empty where every character is one byte.
    bytes: Vec<usize>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
    /// The most nodes.
    most: usize,
    root: Option<Node>,
}

impl<'a> Builder<'a> {
    fn new(source: &'a Source, findings: &'a mut Findings) -> Self {
        let bytes = if source.text.is_ascii() {
            Vec::new()
        } else {
            source.text.char_indices().map(|(at, _)| at).chain(std::iter::once(source.text.len())).collect()
        };
        Self { source, findings, bytes, open: Vec::new(), anchors: BTreeMap::new(), nodes: 0, most: MAX_NODES, root: None }
    }

    fn run(mut self, several: bool) -> Option<Vec<Node>> {
        let text = tabs::spaced(&self.source.text);
        let mut parser = Parser::new_from_str(&text);
        let mut documents = Vec::new();
        while let Some(next) = parser.next_event() {
            let (event, span) = match next {
                Ok(next) => next,
                Err(error) => {
                    let at = self.byte(error.marker().index());
                    let help = slip::remedy(&self.source.text, at);
                    let help = if help.is_empty() && error.info().contains("tab") { "Indent with spaces.".to_owned() } else { help };
                    self.findings.error(self.source, at..at, format!("this is not YAML: {}", error.info()), help);
                    return None;
                }
            };
            if matches!(event, Event::DocumentStart(_)) && !documents.is_empty() && !several {
                let range = self.range(span);
                self.findings.error(self.source, range, "the file has more than one YAML document", "Remove the second `---` line.");
                return None;
            }
            let is_end = matches!(event, Event::DocumentEnd);
            self.event(event, span)?;
            if is_end {
                documents.push(self.root.take().unwrap_or_else(Node::nothing));
            }
        }
        Some(documents)
    }

    /// Takes one event; `None` where reading on makes no sense.
    fn event(&mut self, event: Event<'_>, span: Span) -> Option<()> {
        let range = self.range(span);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => Some(()),
            Event::Scalar(text, style, anchor, tag) => {
                let data = self.scalar(text, style, tag, &range);
                self.add(Node { data, range, style }, anchor)
            }
            Event::SequenceStart(anchor, tag) => self.start(range, anchor, tag, Content::List(Vec::new())),
            Event::MappingStart(anchor, tag) => {
                self.start(range, anchor, tag, Content::Map { entries: Vec::new(), places: BTreeMap::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(&range),
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    self.findings.error(self.source, range, "the alias is inside what it names", "Write the value out.");
                    return None;
                };
                if self.open.len() + node.depth() > MAX_DEPTH {
                    return self.too_deep(range);
                }
                self.nodes += node.size();
                self.add(node, 0)
            }
        }
    }

    fn start(&mut self, range: Range<usize>, anchor: usize, tag: Option<Cow<'_, Tag>>, content: Content) -> Option<()> {
        self.own_tag(tag.as_deref(), &range);
        if self.open.len() >= MAX_DEPTH {
            return self.too_deep(range);
        }
        self.open.push(Open { start: range.start, anchor, content });
        Some(())
    }

    fn end(&mut self, range: &Range<usize>) -> Option<()> {
        let open = self.open.pop()?;
        let data = match open.content {
            Content::List(items) => Data::List(items),
            Content::Map { entries, .. } => Data::Map(self.merged(entries)),
        };
        let node = Node { data, range: open.start..range.end.max(open.start), style: ScalarStyle::Plain };
        self.add(node, open.anchor)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Option<()> {
        self.nodes += 1;
        let most = self.most;
        if self.nodes > most {
            let help = "Split the file, or write out what its aliases repeat.";
            self.findings.error(self.source, node.range, format!("the file has more than {most} values"), help);
            return None;
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::List(items)) => items.push(node),
            Some(Content::Map { entries, places, key }) => match key.take() {
                None => *key = Some(key_of(self.source, self.findings, &node)),
                Some((None, _)) => {}
                Some((Some(name), key_range)) => match places.get(&name) {
                    Some(first) => {
                        let (line, _) = self.source.position(*first);
                        let help = format!("It is already defined in line {line}. Keep one of them.");
                        self.findings.error(self.source, key_range, format!("`{name}` appears twice"), help);
                    }
                    None => {
                        places.insert(name.clone(), key_range.start);
                        entries.push(Entry { key: name, key_range, value: node });
                    }
                },
            },
        }
        Some(())
    }

    /// Resolves the merge key `<<`: what it names comes in where the map does not say otherwise.
    fn merged(&mut self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let Some(at) = entries.iter().position(|entry| entry.key == "<<") else { return entries };
        let merge = entries.remove(at);
        let parts: &[Node] = match &merge.value.data {
            Data::List(items) => items,
            _ => std::slice::from_ref(&merge.value),
        };
        for part in parts {
            if !matches!(part.data, Data::Map(_)) {
                self.findings.error(self.source, merge.key_range.clone(), "`<<` takes a map or a list of maps", "Name an anchor of a map.");
            }
            let own: BTreeSet<String> = entries.iter().map(|entry| entry.key.clone()).collect();
            entries.extend(part.entries().iter().filter(|entry| !own.contains(&entry.key)).cloned());
        }
        entries
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, tag: Option<Cow<'_, Tag>>, range: &Range<usize>) -> Data {
        if self.own_tag(tag.as_deref(), range) {
            return Data::Text(text.into_owned());
        }
        match Scalar::parse_from_cow_and_metadata(text, style, tag.as_ref()) {
            Some(Scalar::Null) => Data::Null,
            Some(Scalar::Boolean(value)) => Data::Bool(value),
            Some(Scalar::Integer(value)) => Data::Int(value),
            Some(Scalar::FloatingPoint(value)) => Data::Float(value.into_inner()),
            Some(Scalar::String(text)) => Data::Text(text.into_owned()),
            None => {
                self.findings.error(self.source, range.clone(), "the value does not fit its tag", "Remove the tag.");
                Data::Null
            }
        }
    }

    /// Whether there is a tag that YAML does not define; says so.
    fn own_tag(&mut self, tag: Option<&Tag>, range: &Range<usize>) -> bool {
        let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) else { return false };
        self.findings.error(
            self.source,
            range.clone(),
            format!("the tag `{tag}` means nothing here"),
            "Remove the tag, or put the text in quotes.",
        );
        true
    }

    fn too_deep(&mut self, range: Range<usize>) -> Option<()> {
        self.findings.error(self.source, range, format!("the file has more than {MAX_DEPTH} levels"), "Make it flatter.");
        None
    }

    fn byte(&self, character: usize) -> usize {
        if self.bytes.is_empty() {
            return character.min(self.source.text.len());
        }
        self.bytes.get(character).copied().unwrap_or(self.source.text.len())
    }

    fn range(&self, span: Span) -> Range<usize> {
        self.byte(span.start.index())..self.byte(span.end.index())
    }
}

/// The name of a key, where it is one.
fn key_of(source: &Source, findings: &mut Findings, node: &Node) -> (Option<String>, Range<usize>) {
    let name = node.written(source);
    if name.is_none() {
        // `a: {{ inputs.a }}` is a map whose key is a map.
        let help = match node.data {
            Data::Map(_) => "Put a placeholder in quotes: `\"{{ inputs.name }}\"`.",
            _ => "Write `name: value`; put odd names between quotes.",
        };
        findings.error(source, node.range.clone(), "a key must be text", help);
    }
    (name, node.range.clone())
}
