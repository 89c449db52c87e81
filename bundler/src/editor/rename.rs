//! Renaming an input of a tool, everywhere it is named, or not at all.
//!
//! What a name is certain of is changed: the declaration, placeholders and expressions of the tool,
//! the tests and the arguments that others pass, and what the handler reads by its name. Where
//! something else could name it, the rename is refused with the place.

use std::{collections::BTreeMap, ops::Range};

use super::{
    AppIndex, Kind, OpenFile, Place,
    cursor::{self, At},
    goto::{Reached, reached},
    hover::whole,
    scripts,
};
use crate::{
    Texts,
    expression::written_paths,
    field::Named,
    names::is_input_name,
    outline::Outline,
    placeholder::{self, Piece},
    script::{UseForm, handler_inputs},
    source::Source,
    tree::parent,
    walk::{Child, Spot},
    yaml::{Document, Node},
};

/// What is written in place of some bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// The bytes.
    pub place: Place,
    /// What is written there.
    pub text: String,
}

/// An input that is named at a place.
struct Target {
    tool: String,
    name: String,
    range: Range<usize>,
}

impl AppIndex {
    /// The name of the input at an offset, and its bytes.
    ///
    /// # Errors
    /// Why nothing can be renamed there, as a sentence.
    pub fn renamed(&self, file: OpenFile<'_>, offset: usize) -> Result<(Range<usize>, String), String> {
        let target = self.target(file, offset).ok_or("Only an input of a tool can be renamed: put the cursor on its name.")?;
        Ok((target.range, target.name))
    }

    /// The edits that give the input at an offset another name; without one, the places that name
    /// it.
    ///
    /// # Errors
    /// Why it cannot be renamed, with the place, as a sentence.
    pub fn rename(&self, texts: &Texts, file: OpenFile<'_>, offset: usize, new: Option<&str>) -> Result<Vec<Edit>, String> {
        let target = self.target(file, offset).ok_or("Only an input of a tool can be renamed: put the cursor on its name.")?;
        let Target { tool, name, .. } = target;
        let tool_file = self.file_of(Kind::Tool, &tool).ok_or_else(|| format!("The tool `{tool}` is not known."))?.to_owned();
        if let Some(new) = new {
            check_name(new)?;
            if new == name {
                return Ok(Vec::new());
            }
        }
        let mut renaming = Renaming { index: self, texts, tool, file: tool_file, name, new, edits: Vec::new(), read: BTreeMap::new() };
        renaming.of_unreadable_files()?;
        renaming.of_tool()?;
        renaming.of_outer_files()?;
        renaming.of_presenters()?;
        renaming.of_callers()?;
        renaming.of_scripts()?;
        let mut edits = renaming.edits;
        edits.sort();
        edits.dedup();
        Ok(edits)
    }

    fn target(&self, file: OpenFile<'_>, offset: usize) -> Option<Target> {
        let Some(record) = self.record_of(file.path) else {
            let scripts::InputAt { tool, name, range } = scripts::input_at(self, file, offset)?;
            return Some(Target { tool, name, range });
        };
        let document = whole(file)?;
        let own = |name: &str, range: Range<usize>| {
            let (kind, tool) = self.name_of(file.path)?;
            let is_declared = document.root.at("inputs").is_some_and(|inputs| inputs.entry(name).is_some());
            (kind == Kind::Tool && is_declared).then(|| Target { tool, name: name.to_owned(), range })
        };
        match cursor::at(&document, record, offset)? {
            At::Key(child, parent) => {
                let entry = child.entry?;
                let range = unquoted(&document.source, entry.key_range.clone());
                if child.key_names == Some(Named::Input) {
                    let beside = child.spot.beside.and_then(|beside| beside.text_at("tool")).map(str::to_owned);
                    let tool = beside.or_else(|| self.tested_tool(file.path, document.root.text_at("tool")))?;
                    self.input_of(&tool, &entry.key)?;
                    return Some(Target { tool, name: entry.key.clone(), range });
                }
                let is_inputs = document.root.at("inputs").is_some_and(|inputs| inputs.range == parent.node.range);
                if is_inputs { own(&entry.key, range) } else { None }
            }
            At::Value(spot) => match reached(&document, &spot, offset)? {
                Reached::Path { names, range } if names.len() == 2 && names[0] == "inputs" => own(&names[1], range),
                Reached::Name { named: Named::Input, text, range } => own(&text, range),
                _ => None,
            },
        }
    }
}

fn check_name(new: &str) -> Result<(), String> {
    if !is_input_name(new) {
        return Err(format!(
            "`{new}` is not a valid name for an input. A name begins with a letter or `_`; letters, digits, `_` and `-` follow."
        ));
    }
    if new.eq_ignore_ascii_case("null") {
        return Err(format!("`{new}` is nothing in YAML. Choose another name."));
    }
    Ok(())
}

struct Renaming<'a> {
    index: &'a AppIndex,
    texts: &'a Texts,
    tool: String,
    /// The tool's file.
    file: String,
    name: String,
    /// `None`: the places are asked for, and nothing is refused.
    new: Option<&'a str>,
    edits: Vec<Edit>,
    /// The files that were read.
    read: BTreeMap<String, Document>,
}

impl Renaming<'_> {
    /// Refuses, where something is to be changed.
    fn refuse(&self, reason: String) -> Result<(), String> {
        if self.new.is_some() { Err(format!("`{}` is not renamed: {reason}", self.name)) } else { Ok(()) }
    }

    fn edit(&mut self, file: &str, range: Range<usize>) {
        let text = self.new.unwrap_or(&self.name).to_owned();
        self.edits.push(Edit { place: Place::new(file, &range), text });
    }

    /// A file as it is now. `None` where it is not there, or is not YAML and that does not matter.
    fn document(&mut self, file: &str) -> Result<Option<Document>, String> {
        if let Some(known) = self.read.get(file) {
            return Ok(Some(known.clone()));
        }
        let Some(text) = self.index.text(self.texts, file) else { return Ok(None) };
        match whole(OpenFile { path: file, text: &text }) {
            Some(document) => {
                self.read.insert(file.to_owned(), document.clone());
                Ok(Some(document))
            }
            None => {
                self.refuse(format!("`{file}` is not YAML at the moment, and may name it. Correct it first."))?;
                Ok(None)
            }
        }
    }

    /// Files that could not be read may name anything but what adapters and skills do.
    fn of_unreadable_files(&self) -> Result<(), String> {
        let names_inputs = |file: &&String| self.index.record_of(file).is_some_and(|record| !["adapter", "skill"].contains(&record.name));
        match self.index.unreadable.iter().find(names_inputs) {
            Some(file) => self.refuse(format!("`{file}` is not YAML at the moment, and may name it. Correct it first.")),
            None => Ok(()),
        }
    }

    /// The tool's own file.
    fn of_tool(&mut self) -> Result<(), String> {
        let file = self.file.clone();
        let Some(document) = self.document(&file)? else { return Ok(()) };
        let Some(entry) = document.root.at("inputs").and_then(|inputs| inputs.entry(&self.name)) else {
            return self.refuse(format!("`{file}` does not declare it under `inputs`."));
        };
        if let Some(new) = self.new.filter(|new| document.root.at("inputs").is_some_and(|inputs| inputs.entry(new).is_some())) {
            return self.refuse(format!("the tool `{}` has an input `{new}` already.", self.tool));
        }
        let range = unquoted(&document.source, entry.key_range.clone());
        if document.source.slice(range.clone()) != self.name {
            return self.refuse(format!("its declaration in `{file}` is not written out there."));
        }
        self.edit(&file, range);
        for range in self.named_in(&document)? {
            self.edit(&file, range);
        }
        Ok(())
    }

    /// Where the placeholders, the expressions and the keys of a file name the input.
    fn named_in(&self, document: &Document) -> Result<Vec<Range<usize>>, String> {
        let Some(record) = self.index.record_of(&document.source.path) else { return Ok(Vec::new()) };
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut lost: Option<usize> = None;
        let mut note = |node: &Node, range: Range<usize>| {
            let range = node.locate(&document.source, range);
            if document.source.slice(range.clone()) == self.name {
                found.push(range);
            } else {
                lost = Some(range.start);
            }
        };
        Spot::file(&document.root, record).visit(&mut |child: &Child<'_>| {
            let node = child.spot.node;
            let (Some(text), Some(field)) = (node.text(), child.spot.field) else { return };
            if field.condition {
                for path in written_paths(text) {
                    if let [(root, _), (name, range), ..] = path.as_slice()
                        && root == "inputs"
                        && *name == self.name
                    {
                        note(node, range.clone());
                    }
                }
            } else if field.filled {
                for range in in_placeholders(text, &self.name) {
                    note(node, range);
                }
            }
            if field.names == Some(Named::Input) && text == self.name {
                note(node, 0..text.len());
            }
        });
        if let Some(at) = lost {
            self.refuse(format!("the place that names it at {} is not written out there.", document.source.place(at)))?;
        }
        Ok(found)
    }

    /// The root file and the folders around the tool hold for other tools, too.
    fn of_outer_files(&mut self) -> Result<(), String> {
        let outer: Vec<String> = self
            .index
            .outlines
            .files
            .iter()
            .filter(|(file, outline)| self.holds_for_tool(file, outline))
            .map(|(file, _)| file.clone())
            .collect();
        for file in outer {
            let Some(document) = self.document(&file)? else { continue };
            if let Some(range) = self.named_in(&document)?.first() {
                let place = document.source.place(range.start);
                if self.new.is_none() {
                    self.edit(&file, range.clone());
                }
                self.refuse(format!("{place} names it, too, and holds for other tools as well."))?;
            }
        }
        Ok(())
    }

    fn holds_for_tool(&self, file: &str, outline: &Outline) -> bool {
        match outline.record.name {
            "root" => true,
            "folder" => self.file.starts_with(&format!("{}/", parent(file))),
            _ => false,
        }
    }

    /// The presenters of the tool, which may be those of others.
    fn of_presenters(&mut self) -> Result<(), String> {
        let named: Vec<String> = self
            .index
            .outline(&self.file)
            .into_iter()
            .flat_map(|outline| &outline.mentions)
            .filter(|mention| mention.named == Named::Presenter)
            .map(|mention| mention.text.clone())
            .collect();
        for presenter in named {
            let Some(file) = self.index.file_of(Kind::Presenter, &presenter).map(str::to_owned) else { continue };
            let Some(document) = self.document(&file)? else { continue };
            if let Some(range) = self.named_in(&document)?.first() {
                self.refuse(format!("{} names it, too, and is a presenter of its own.", document.source.place(range.start)))?;
            }
        }
        Ok(())
    }

    /// Who calls the tool: tests, prompts, resources, presenters.
    fn of_callers(&mut self) -> Result<(), String> {
        let index = self.index;
        for (file, outline) in &index.outlines.files {
            let names_it = outline.mentions.iter().any(|mention| mention.named == Named::Tool && mention.text == self.tool);
            let tests_it = outline.record.name == "test_file" && {
                let named = outline.mentions.iter().find(|mention| mention.named == Named::Tool).map(|mention| mention.text.as_str());
                index.tested_tool(file, named).as_deref() == Some(self.tool.as_str())
            };
            if !names_it && !tests_it {
                continue;
            }
            let Some(document) = self.document(file)? else { continue };
            self.arguments(file, &document, tests_it)?;
        }
        Ok(())
    }

    /// The arguments that a file passes to the tool.
    fn arguments(&mut self, file: &str, document: &Document, is_test: bool) -> Result<(), String> {
        let Some(record) = self.index.record_of(file) else { return Ok(()) };
        let mut ranges = Vec::new();
        let mut implied = None;
        let declared = document.root.at("arguments").is_some_and(|arguments| arguments.entry(&self.name).is_some());
        let in_uri = document
            .root
            .text_at("uri_template")
            .is_some_and(|uri| uri.contains(&format!("{{{}", self.name)) || uri.contains(&format!("{{+{}", self.name)));
        let mut look = |child: &Child<'_>| {
            if let (Some(Named::Input), Some(entry)) = (child.key_names, child.entry) {
                let beside = child.spot.beside.and_then(|beside| beside.text_at("tool"));
                if entry.key == self.name && beside.map_or(is_test, |tool| tool == self.tool) {
                    ranges.push(unquoted(&document.source, entry.key_range.clone()));
                }
            }
            // Without `args`, what has the name of an input is passed.
            let calls = |node: &Node| node.text_at("tool") == Some(self.tool.as_str()) && node.entry("args").is_none();
            if (declared || in_uri) && !is_test && (calls(child.spot.node) || calls(&document.root)) {
                implied.get_or_insert(child.spot.node.range.start);
            }
        };
        Spot::file(&document.root, record).visit(&mut look);
        if let Some(at) = implied {
            let place = document.source.place(at);
            self.refuse(format!("{place} passes an argument of that name to the tool without saying so. Write it under `args` first."))?;
        }
        for range in ranges {
            if document.source.slice(range.clone()) == self.name {
                self.edit(file, range);
            } else {
                self.refuse(format!("the place that names it at {} is not written out there.", document.source.place(range.start)))?;
            }
        }
        Ok(())
    }

    /// The scripts of the tool, and those that suggest it.
    fn of_scripts(&mut self) -> Result<(), String> {
        let index = self.index;
        let scripts = index.outlines.scripts.get(&self.tool).cloned().unwrap_or_default();
        let is_handled =
            index.outline(&self.file).is_some_and(|outline| outline.mentions.iter().any(|mention| mention.named == Named::Script));
        if let Some((path, export)) = &scripts.handler {
            self.of_handler(path, export)?;
        } else if is_handled && scripts.others.is_empty() {
            self.refuse("the scripts of the tool could not be read. Correct them first.".to_owned())?;
        }
        let suggest = index.outlines.script_names.iter().filter(|found| found.name == self.tool);
        let suggest = suggest
            .filter(|found| scripts::kind_of(found.part) == Some(Kind::Tool))
            .map(|found| found.file.to_string_lossy().replace('\\', "/"));
        for path in scripts.others.iter().cloned().chain(suggest) {
            let Some(text) = index.text(self.texts, &path) else { continue };
            if let Some(at) = word_in(&text, &self.name) {
                let place = Source::new(path.as_str(), text.as_str()).place(at);
                self.refuse(format!("{place} may name it, and it is not certain what that is."))?;
            }
        }
        Ok(())
    }

    fn of_handler(&mut self, path: &str, export: &str) -> Result<(), String> {
        let Some(text) = self.index.text(self.texts, path) else { return Ok(()) };
        let source = Source::new(path, text.as_str());
        let Some(found) = handler_inputs(path, &text, export) else {
            return self.refuse(format!("`{path}` is not a script at the moment. Correct it first."));
        };
        if let Some(unclear) = found.unclear {
            self.refuse(format!("{}: {}, so it is not certain what names it.", source.place(unclear.at), unclear.why))?;
        }
        for found in found.uses.into_iter().filter(|found| found.name == self.name) {
            let new = self.new.unwrap_or(&self.name);
            let is_plain = !new.contains('-');
            let text = match found.form {
                UseForm::Quoted => new.to_owned(),
                UseForm::Shorthand if self.new.is_none() => new.to_owned(),
                UseForm::Shorthand if is_plain => format!("{new}: {}", self.name),
                UseForm::Shorthand => format!("\"{new}\": {}", self.name),
                UseForm::Name if is_plain => new.to_owned(),
                UseForm::Name => {
                    let place = source.place(found.range.start);
                    return self
                        .refuse(format!("{place} reads it as a member, and `{new}` cannot be written so. Choose a name without `-`."));
                }
            };
            self.edits.push(Edit { place: Place::new(path, &found.range), text });
        }
        Ok(())
    }
}

/// The bytes of an input's name in the placeholders of a text.
fn in_placeholders(text: &str, name: &str) -> Vec<Range<usize>> {
    if !text.contains("{{") {
        return Vec::new();
    }
    let found = placeholder::scan(text).0.into_iter().filter_map(|piece| match piece {
        Piece::Placeholder(placeholder) => match placeholder.path.as_slice() {
            ["inputs", second, ..] if *second == name => {
                let start = second.as_ptr().addr() - text.as_ptr().addr();
                Some(start..start + second.len())
            }
            _ => None,
        },
        Piece::Text(_) => None,
    });
    found.collect()
}

/// The bytes of a key without its quotes.
fn unquoted(source: &Source, range: Range<usize>) -> Range<usize> {
    if source.slice(range.clone()).starts_with(['"', '\'']) { range.start + 1..range.end.saturating_sub(1) } else { range }
}

/// Where a text has a word.
fn word_in(text: &str, word: &str) -> Option<usize> {
    let belongs = |character: Option<char>| character.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$');
    text.match_indices(word)
        .map(|(at, _)| at)
        .find(|at| !belongs(text[..*at].chars().next_back()) && !belongs(text[at + word.len()..].chars().next()))
}
