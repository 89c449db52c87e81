//! The templates and conditions of presenters: `item`, `items` and `auth`, after redaction.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::inline::{push_inline, push_mermaid};
use crate::{
    Json,
    app::{Piece, Root, Source, Template, TemplatePart, ValueTemplate, ValueText},
    expression::Expression,
    hidden::reveal_json,
    pipeline::{
        call::run::Run,
        content::json_text::{push_text, text_of},
    },
};

/// What templates and conditions see.
#[derive(Clone, Copy)]
pub(super) struct Sight<'a> {
    run: &'a Run<'a>,
    /// The shown items, a list.
    items: &'a Json,
    /// The item that is looked at.
    item: Option<&'a Json>,
    /// `shown`, `total`, `omitted`
    counts: Option<&'a Json>,
}

impl<'a> Sight<'a> {
    pub(super) const fn of(run: &'a Run<'a>, items: &'a Json) -> Self {
        Self { run, items, item: None, counts: None }
    }

    pub(super) const fn at(self, item: Option<&'a Json>) -> Self {
        Self { item, ..self }
    }

    pub(super) const fn counting(self, counts: &'a Json) -> Self {
        Self { counts: Some(counts), ..self }
    }

    pub(super) fn holds(&self, when: Option<&Expression>) -> bool {
        let Some(when) = when else { return true };
        let mut roots: Vec<(&str, &Json)> = Vec::with_capacity(3);
        roots.push(("items", self.items));
        roots.extend(self.item.map(|item| ("item", item)));
        roots.extend(self.run.auth.as_ref().map(|auth| ("auth", auth)));
        self.run.holds(when, &roots, &self.run.steps_left, "returns", None)
    }

    /// The value of a placeholder; `None` where nothing is there.
    fn find(&self, source: &Source) -> Option<Cow<'a, Json>> {
        let (start, path) = match source.root {
            Root::Item => (self.item?, source.path.as_slice()),
            Root::Auth => {
                // What a directory of users says of one may be written by anybody; items are
                // visible already.
                let mut claim = walk(self.run.auth.as_ref()?, &source.path)?.clone();
                reveal_json(&mut claim, &[]);
                return Some(Cow::Owned(claim));
            }
            Root::Counts => (self.counts?, source.path.as_slice()),
            Root::Items => {
                if source.path.is_empty() {
                    return Some(Cow::Borrowed(self.items));
                }
                // The list of what each item has there.
                let each = self.items.as_array()?.iter().map(|item| walk(item, &source.path).cloned().unwrap_or_default());
                return Some(Cow::Owned(each.collect()));
            }
            Root::Inputs | Root::Ctx | Root::Results | Root::Arguments | Root::Steps => return None,
        };
        walk(start, path).map(Cow::Borrowed)
    }

    pub(super) fn render(&self, template: &Template) -> String {
        let mut text = String::new();
        for part in &template.0 {
            match part {
                TemplatePart::Text(literal) => text.push_str(literal),
                TemplatePart::Source(source) => push_text(&mut text, &self.find(source).unwrap_or_default()),
            }
        }
        text
    }

    /// A value with its placeholders filled in.
    pub(super) fn fill(&self, template: &ValueTemplate) -> Json {
        self.filled(template, None)
    }

    /// The same for Markdown, in which values are text and nothing else.
    pub(super) fn fill_markdown(&self, template: &ValueTemplate) -> Json {
        self.filled(template, Some(|text, value| push_inline(text, &text_of(value))))
    }

    /// The same for Mermaid.
    pub(super) fn fill_mermaid(&self, template: &ValueTemplate) -> Json {
        self.filled(template, Some(|text, value| push_mermaid(text, &text_of(value))))
    }

    /// `escape` appends a value to text, where that is not as it is.
    fn filled(&self, template: &ValueTemplate, escape: Option<fn(&mut String, &Json)>) -> Json {
        let push = escape.unwrap_or(push_text);
        let mut filled = template.value.0.clone();
        for (pointer, text) in &template.placeholders {
            let value = match text {
                ValueText::Whole(source) => match (self.find(source).unwrap_or_default(), escape) {
                    (value, None) => value.into_owned(),
                    (value, Some(_)) if value.is_null() || value.is_boolean() || value.is_number() => value.into_owned(),
                    (value, Some(escape)) => {
                        let mut text = String::new();
                        escape(&mut text, &value);
                        text.into()
                    }
                },
                ValueText::Composed(pieces) => {
                    let mut text = String::new();
                    for piece in pieces {
                        match piece {
                            Piece::Text(literal) => text.push_str(literal),
                            Piece::Source(source) => push(&mut text, &self.find(source).unwrap_or_default()),
                            // The bundler refuses variables here: what is shown is no place for
                            // them.
                            Piece::Env(_) => {}
                        }
                    }
                    text.into()
                }
            };
            if let Some(place) = filled.pointer_mut(pointer) {
                *place = value;
            }
        }
        filled
    }
}

fn walk<'a>(start: &'a Json, path: &[String]) -> Option<&'a Json> {
    path.iter().try_fold(start, |value, name| value.as_object()?.get(name))
}
