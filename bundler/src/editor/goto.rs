//! Where what stands at a place is defined, and where else it is named.

use std::ops::Range;

use super::{
    AppIndex, Kind, OpenFile, Place,
    cursor::{self, At},
    members::placeholder_at,
    scripts,
};
use crate::{
    Texts,
    expression::written_paths,
    field::Named,
    outline::{Outline, inner_range},
    source::Source,
    tree::parent,
    walk::Spot,
    yaml::{Document, Node},
};

/// What a part of a text names.
pub(super) enum Reached {
    /// A path in a placeholder or an expression, up to the name at the place.
    Path { names: Vec<String>, range: Range<usize> },
    /// Something that the app defines.
    Name { named: Named, text: String, range: Range<usize> },
}

/// What the text of a value names at a byte of the file.
pub(super) fn reached(document: &Document, spot: &Spot<'_>, at: usize) -> Option<Reached> {
    let text = spot.node.text()?;
    let field = spot.field?;
    let byte = byte_of(document, spot.node, at)?;
    if field.condition {
        let path = written_paths(text).into_iter().find(|path| path.iter().any(|(_, range)| range.start <= byte && byte <= range.end))?;
        let index = path.iter().position(|(_, range)| byte <= range.end)?;
        let range = spot.node.locate(&document.source, path[index].1.clone());
        return Some(Reached::Path { names: path.iter().take(index + 1).map(|(name, _)| name.clone()).collect(), range });
    }
    if field.filled
        && let Some(placeholder) = placeholder_at(text, byte)
    {
        let starts = placeholder.path.iter().map(|name| name.as_ptr().addr() - text.as_ptr().addr());
        let ranges: Vec<Range<usize>> = starts.zip(&placeholder.path).map(|(start, name)| start..start + name.len()).collect();
        let index = ranges.iter().position(|range| byte <= range.end).unwrap_or(ranges.len() - 1);
        let range = spot.node.locate(&document.source, ranges[index].clone());
        let names = placeholder.path.iter().take(index + 1).map(|name| (*name).to_owned()).collect();
        return Some(Reached::Path { names, range });
    }
    Some(Reached::Name { named: spot.names()?, text: text.to_owned(), range: inner_range(document, spot.node) })
}

/// The byte of a text that stands at a byte of the file.
fn byte_of(document: &Document, node: &Node, at: usize) -> Option<usize> {
    let text = node.text()?;
    // The places of a text come in its order.
    let place = |byte: usize| node.locate(&document.source, byte..byte).start;
    let (mut low, mut high) = (0, text.len());
    if at < place(0) || at > place(high) {
        return None;
    }
    while low < high {
        let mut middle = low.midpoint(high + 1);
        while !text.is_char_boundary(middle) {
            middle += 1;
        }
        if place(middle) <= at {
            low = middle;
        } else {
            let mut before = middle - 1;
            while !text.is_char_boundary(before) {
                before -= 1;
            }
            high = before;
        }
    }
    Some(low)
}

impl AppIndex {
    /// Where what stands at an offset of a file is defined.
    #[must_use]
    pub fn definition(&self, texts: &Texts, file: OpenFile<'_>, offset: usize) -> Option<Place> {
        let Some(record) = self.record_of(file.path) else {
            if let Some(name) = scripts::name_at(file, offset) {
                return self.place_of(name.kind, &name.text);
            }
            let input = scripts::input_at(self, file, offset)?;
            return self.input_of(&input.tool, &input.name);
        };
        let (document, at) = cursor::read(file.text, offset)?;
        let is_whole = document.source.text.len() == file.text.len();
        match cursor::at(&document, record, at)? {
            At::Key(child, _) => {
                let entry = child.entry?;
                match child.key_names? {
                    Named::Input => {
                        let beside = child.spot.beside.and_then(|beside| beside.text_at("tool")).map(str::to_owned);
                        let tool = beside.or_else(|| self.tested_tool(file.path, document.root.text_at("tool")))?;
                        self.input_of(&tool, &entry.key)
                    }
                    named => self.place_of(Kind::of(named)?, &entry.key),
                }
            }
            At::Value(spot) => match reached(&document, &spot, at)? {
                // What a broken file defines is where it was before.
                Reached::Path { names, .. } if is_whole => self.of_path(file.path, &document, &names),
                Reached::Path { names, .. } => {
                    let name = (names.first()? == "inputs").then(|| names.get(1))??;
                    let known = self.outline(file.path)?.inputs.iter().find(|input| input.name == *name)?;
                    Some(Place::new(file.path, &known.range))
                }
                Reached::Name { named: Named::Script | Named::Plugin, text, .. } => self.script_of(texts, file.path, &text),
                Reached::Name { named: Named::Input, text, .. } => {
                    let known = Outline::of(&document, record).inputs.into_iter().find(|input| input.name == text)?;
                    Some(Place::new(file.path, &known.range))
                }
                Reached::Name { named, text, .. } => self.place_of(Kind::of(named)?, &text),
            },
        }
    }

    /// Where a path leads in its file.
    fn of_path(&self, file: &str, document: &Document, names: &[String]) -> Option<Place> {
        let root = &document.root;
        let (first, rest) = names.split_first()?;
        let place = |range: &Range<usize>| Some(Place::new(file, range));
        let in_map = |map: &Node, path: &[String]| {
            let (name, mut inner) = path.split_first()?;
            let mut entry = map.entry(name)?;
            while let Some((name, rest)) = inner.split_first() {
                let value = entry.value.at("items").unwrap_or(&entry.value);
                entry = value.at("fields")?.entry(name)?;
                inner = rest;
            }
            Some(entry.key_range.clone())
        };
        match (first.as_str(), rest) {
            ("inputs", [_, ..]) => place(&in_map(root.at("inputs")?, rest)?),
            ("item" | "items", [_, ..]) => place(&in_map(root.at("schema").or_else(|| root.at("returns")?.at("schema"))?, rest)?),
            ("steps", [name, ..]) => {
                let steps = root.at("transaction").map(Node::items).unwrap_or_default();
                let step = steps.iter().filter_map(|step| step.at("name")).find(|node| node.text() == Some(name))?;
                place(&step.range)
            }
            (argument, []) => place(&root.at("arguments")?.entry(argument)?.key_range),
            _ => None,
        }
    }

    /// Where something is defined: its `name`, else the start of its file.
    pub(super) fn place_of(&self, kind: Kind, name: &str) -> Option<Place> {
        let file = self.file_of(kind, name)?;
        let range = self.outline(file).and_then(|outline| outline.name.as_ref()).map_or(0..0, |mention| mention.range.clone());
        Some(Place::new(file, &range))
    }

    /// Where an input of a tool is declared.
    pub(super) fn input_of(&self, tool: &str, name: &str) -> Option<Place> {
        let file = self.file_of(Kind::Tool, tool)?;
        let input = self.outline(file)?.inputs.iter().find(|input| input.name == name)?;
        Some(Place::new(file, &input.range))
    }

    /// The file of a script that a file names, and its export where that is plain.
    fn script_of(&self, texts: &Texts, file: &str, reference: &str) -> Option<Place> {
        let (path, export) = reference.rsplit_once('#').unwrap_or((reference, "default"));
        let tree = crate::tree::Tree::open(&self.folder, texts)?;
        let found = [parent(file), ""].into_iter().filter_map(|base| tree.resolve(base, path)).find(|path| tree.has_file(path))?;
        let text = self.text(texts, &found)?;
        let range = scripts::export_range(&found, &text, export).unwrap_or(0..0);
        Some(Place::new(&found, &range))
    }

    /// Every place that names what stands at an offset: an adapter, a tool, a presenter or a
    /// prompt; of an input, what a rename would change.
    #[must_use]
    pub fn references(&self, texts: &Texts, file: OpenFile<'_>, offset: usize) -> Vec<Place> {
        if let Some((kind, name)) = self.named_at(file, offset) {
            return self.mentions(kind, &name);
        }
        let edits = self.rename(texts, file, offset, None).unwrap_or_default();
        edits.into_iter().map(|edit| edit.place).collect()
    }

    /// The definition that a place names, or that its file is.
    fn named_at(&self, file: OpenFile<'_>, offset: usize) -> Option<(Kind, String)> {
        let Some(record) = self.record_of(file.path) else {
            return scripts::name_at(file, offset).map(|name| (name.kind, name.text));
        };
        let (document, at) = cursor::read(file.text, offset)?;
        match cursor::at(&document, record, at)? {
            At::Key(child, _) => {
                if let Some(kind) = child.key_names.and_then(Kind::of) {
                    return Some((kind, child.entry?.key.clone()));
                }
                // The key `name`, and the first one of a file, stand for the whole of it.
                let is_first = document
                    .root
                    .entries()
                    .first()
                    .is_some_and(|first| first.key_range == child.entry.map_or(0..0, |entry| entry.key_range.clone()));
                is_first.then(|| self.name_of(file.path))?
            }
            At::Value(spot) => match reached(&document, &spot, at) {
                Some(Reached::Name { named, text, .. }) => Some((Kind::of(named)?, text)),
                Some(Reached::Path { .. }) => None,
                None => (spot.field?.key == "name").then(|| self.name_of(file.path))?,
            },
        }
    }

    fn mentions(&self, kind: Kind, name: &str) -> Vec<Place> {
        let mut places: Vec<Place> = self.place_of(kind, name).into_iter().collect();
        for (file, outline) in &self.outlines.files {
            let named = outline.mentions.iter().filter(|mention| Kind::of(mention.named) == Some(kind) && mention.text == name);
            places.extend(named.map(|mention| Place::new(file, &mention.range)));
        }
        let in_scripts = self.outlines.script_names.iter().filter(|found| found.name == name && scripts::kind_of(found.part) == Some(kind));
        for found in in_scripts {
            let file = found.file.to_string_lossy().replace('\\', "/");
            let Some(text) = self.text(&Texts::default(), &file) else { continue };
            let source = Source::new("", text);
            let Some(line) = source.line(found.line.saturating_sub(1)) else { continue };
            let column = |count: usize| source.slice(line.clone()).chars().take(count).map(char::len_utf8).sum::<usize>();
            let start = line.start + column(found.column.saturating_sub(1));
            let end = line.start + column(found.column.saturating_sub(1) + found.length);
            places.push(Place { file, start, end });
        }
        places.sort();
        places.dedup();
        places
    }
}
