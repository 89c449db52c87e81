//! What stands at a place, in Markdown.

use std::ops::Range;

use super::{
    AppIndex, Kind, OpenFile,
    cursor::{self, At},
    describe,
    goto::{Reached, reached},
    members::View,
    scripts,
};
use crate::{
    field::{Named, Shape, what_it_takes},
    outline::Outline,
    yaml::Document,
};

/// What stands at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// What it is, as Markdown.
    pub text: String,
    /// Its bytes in the file.
    pub range: Range<usize>,
}

impl AppIndex {
    /// What stands at an offset of a file.
    #[must_use]
    pub fn hover(&self, file: OpenFile<'_>, offset: usize) -> Option<Hover> {
        let Some(record) = self.record_of(file.path) else { return self.hover_script(file, offset) };
        let (document, at) = cursor::read(file.text, offset)?;
        let moved = |range: Range<usize>| (range.start + offset).saturating_sub(at)..(range.end + offset).saturating_sub(at);
        let outline = Outline::of(&document, record);
        let view = View { index: self, file: file.path, document: &document, outline: &outline };
        let found = match cursor::at(&document, record, at)? {
            At::Key(child, parent) => self.of_key(view, &child, &parent),
            At::Value(spot) if at <= spot.node.range.end => match reached(&document, &spot, at)? {
                Reached::Path { names, range, .. } => {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    let member = view.describe(&names)?;
                    let what = if member.what.is_empty() { String::new() } else { format!(": {}", member.what) };
                    let doc = if member.doc.is_empty() { String::new() } else { format!("\n\n{}", member.doc) };
                    Some(Hover { text: format!("**`{}`**{what}{doc}", names.join(".")), range })
                }
                Reached::Name { named, text, range } => {
                    let kind = Kind::of(named)?;
                    Some(Hover { text: describe::definition(self, kind, &text)?, range })
                }
            },
            At::Value(_) => None,
        }?;
        Some(Hover { range: moved(found.range), ..found })
    }

    fn hover_script(&self, file: OpenFile<'_>, offset: usize) -> Option<Hover> {
        if let Some(name) = scripts::name_at(file, offset) {
            return Some(Hover { text: describe::definition(self, name.kind, &name.text)?, range: name.range });
        }
        let input = scripts::input_at(self, file, offset)?;
        Some(Hover { text: self.describe_input(&input.tool, &input.name)?, range: input.range })
    }

    fn describe_input(&self, tool: &str, name: &str) -> Option<String> {
        let outline = self.outline(self.file_of(Kind::Tool, tool)?)?;
        let input = outline.inputs.iter().find(|input| input.name == name)?;
        Some(format!("**`{name}`**: {} of the tool `{tool}`\n\n{}", input.kind, input.description))
    }

    fn of_key(&self, view: View<'_>, child: &crate::walk::Child<'_>, parent: &crate::walk::Spot<'_>) -> Option<Hover> {
        let entry = child.entry?;
        let range = entry.key_range.clone();
        if let Some(named) = child.key_names {
            return match Kind::of(named) {
                Some(kind) => Some(Hover { text: describe::definition(self, kind, &entry.key)?, range }),
                None if named == Named::Input => Some(Hover { text: self.of_input(view, &entry.key, child)?, range }),
                None => None,
            };
        }
        match parent.meant() {
            Shape::Record(_) => {
                let field = child.spot.field.filter(|field| field.key == entry.key)?;
                let mut text = describe::key(field);
                if matches!(field.key, "statement" | "request" | "transaction")
                    && let Some((Kind::Tool, tool)) = self.name_of(view.file)
                {
                    describe::returned(self, &tool, &mut text);
                }
                Some(Hover { text, range })
            }
            Shape::Map(element) => {
                let declared = view.outline.inputs.iter().find(|input| input.range == range);
                let text = match declared {
                    Some(input) => format!("**`{}`**: {}\n\n{}", input.name, input.kind, input.description),
                    None => format!("**`{}`**: {}", entry.key, what_it_takes(element)),
                };
                Some(Hover { text, range })
            }
            _ => None,
        }
    }

    /// An input of the tool that a map of arguments is for.
    fn of_input(&self, view: View<'_>, name: &str, child: &crate::walk::Child<'_>) -> Option<String> {
        let beside = child.spot.beside.and_then(|beside| beside.text_at("tool"));
        let tool = match beside {
            Some(tool) => tool.to_owned(),
            None => self.tested_tool(view.file, view.document.root.text_at("tool"))?,
        };
        self.describe_input(&tool, name)
    }
}

/// Reads a file that is asked about.
pub(super) fn whole(file: OpenFile<'_>) -> Option<Document> {
    Document::parse(crate::source::Source::new(file.path, file.text), &mut crate::findings::Findings::default())
}
