//! Where placeholders and expressions find their values.

use alloc::{string::String, vec::Vec};

use super::{json_text::push_text, run::Run};
use crate::{
    Json,
    app::{Root, Source, Template, TemplatePart},
};

/// The values of one call.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) inputs: &'a Json,
}

impl Run<'_> {
    /// Where placeholders and expressions find their values.
    pub(super) fn scope<'s>(&'s self, inputs: &'s Json) -> Scope<'s> {
        Scope { run: self, inputs }
    }
}

impl<'a> Scope<'a> {
    /// The value of a placeholder; `None` where nothing is there.
    pub(super) fn find(&self, source: &Source) -> Option<&'a Json> {
        let start = match source.root {
            Root::Inputs => self.inputs,
            Root::Ctx => self.run.context.data(),
            Root::Auth => self.run.auth.as_ref()?,
            Root::Results | Root::Arguments => return None,
        };
        walk(start, &source.path)
    }

    /// A template with its placeholders filled in as text; what is absent or null is nothing.
    pub(super) fn render(&self, template: &Template, results: &Json) -> String {
        let mut text = String::new();
        for part in &template.0 {
            match part {
                TemplatePart::Text(literal) => text.push_str(literal),
                TemplatePart::Source(source) => {
                    let value = if source.root == Root::Results { walk(results, &source.path) } else { self.find(source) };
                    push_text(&mut text, value.unwrap_or(&Json::Null));
                }
            }
        }
        text
    }

    /// The roots of an `errors.on` expression.
    pub(super) fn roots<'r>(&self, results: &'r Json) -> Vec<(&'r str, &'r Json)>
    where
        'a: 'r,
    {
        let mut roots = Vec::with_capacity(3);
        roots.push(("results", results));
        roots.push(("inputs", self.inputs));
        if let Some(auth) = &self.run.auth {
            roots.push(("auth", auth));
        }
        roots
    }
}

fn walk<'a>(start: &'a Json, path: &[String]) -> Option<&'a Json> {
    path.iter().try_fold(start, |value, name| match value {
        Json::Object(members) => members.get(name),
        Json::Array(elements) => elements.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}
