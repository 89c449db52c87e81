//! Where placeholders and expressions find their values.

use alloc::{string::String, vec::Vec};

use crate::pipeline::{
    call::run::{Run, missing_variable},
    content::json_text::push_text,
};
use crate::{
    Json,
    app::{Piece, Root, Source, Template, TemplatePart, ValueTemplate, ValueText},
    fault::{Fault, FaultResult, Stage},
};

/// The values of one call.
#[derive(Clone, Copy)]
pub(in crate::pipeline) struct Scope<'a> {
    pub(in crate::pipeline) run: &'a Run<'a>,
    pub(in crate::pipeline) inputs: &'a Json,
    pub(in crate::pipeline) ctx: &'a Json,
}

impl Run<'_> {
    /// Where placeholders and expressions find their values.
    pub(in crate::pipeline) fn scope<'s>(&'s self, inputs: &'s Json) -> Scope<'s> {
        Scope { run: self, inputs, ctx: self.context.data() }
    }
}

impl<'a> Scope<'a> {
    /// The value of a placeholder; `None` where nothing is there.
    pub(in crate::pipeline) fn find(&self, source: &Source) -> Option<&'a Json> {
        let start = match source.root {
            Root::Inputs => self.inputs,
            Root::Ctx => self.ctx,
            Root::Auth => self.run.auth.as_ref()?,
            Root::Results | Root::Arguments | Root::Item | Root::Items | Root::Counts | Root::Steps => return None,
        };
        walk(start, &source.path)
    }

    /// A template with its placeholders filled in as text; what is absent or null is nothing, but
    /// for a variable.
    ///
    /// # Errors
    /// `CONFIGURATION` for a variable that is not set.
    pub(in crate::pipeline) fn render(&self, template: &Template, results: &Json, stage: Stage) -> FaultResult<String> {
        let mut text = String::new();
        for part in &template.0 {
            match part {
                TemplatePart::Text(literal) => text.push_str(literal),
                TemplatePart::Source(source) => {
                    let value = if source.root == Root::Results { walk(results, &source.path) } else { self.find(source) };
                    match (value, unset(source)) {
                        (Some(value), _) => push_text(&mut text, value),
                        (None, Some(name)) => return Err(missing_variable(name, stage).into()),
                        (None, None) => {}
                    }
                }
            }
        }
        Ok(text)
    }

    /// A value with its placeholders filled in.
    ///
    /// # Errors
    /// `CONFIGURATION` for a variable that is not set.
    pub(in crate::pipeline) fn fill(&self, template: &ValueTemplate, stage: Stage) -> FaultResult<Json> {
        let mut filled = template.value.0.clone();
        for (pointer, text) in &template.placeholders {
            let value = match text {
                ValueText::Whole(source) => self.find(source).cloned().unwrap_or_default(),
                ValueText::Composed(pieces) => self.compose(pieces, stage)?.into(),
            };
            match filled.pointer_mut(pointer) {
                Some(place) => *place = value,
                None => return Err(Fault::new(stage, "INTERNAL", "The app's bundle is damaged.").by_operator().into()),
            }
        }
        Ok(filled)
    }

    fn compose(&self, pieces: &[Piece], stage: Stage) -> FaultResult<String> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Source(source) => push_text(&mut text, self.find(source).unwrap_or(&Json::Null)),
                Piece::Env(name) => {
                    let value = self.run.pipeline.ports.env.var(name).ok_or_else(|| missing_variable(name, stage))?;
                    text.push_str(value.expose());
                }
            }
        }
        Ok(text)
    }

    /// The roots of an expression; `results` where there are any yet.
    pub(in crate::pipeline) fn roots<'r>(&self, results: Option<&'r Json>) -> Vec<(&'r str, &'r Json)>
    where
        'a: 'r,
    {
        let mut roots = Vec::with_capacity(4);
        roots.extend(results.map(|results| ("results", results)));
        roots.push(("inputs", self.inputs));
        roots.push(("ctx", self.ctx));
        if let Some(auth) = &self.run.auth {
            roots.push(("auth", auth));
        }
        roots
    }
}

/// The variable that a source without a value names.
pub(in crate::pipeline) fn unset(source: &Source) -> Option<&str> {
    match (source.root, source.path.as_slice()) {
        (Root::Ctx, [env, name]) if env == "env" => Some(name),
        _ => None,
    }
}

pub(in crate::pipeline) fn walk<'a>(start: &'a Json, path: &[String]) -> Option<&'a Json> {
    path.iter().try_fold(start, |value, name| match value {
        Json::Object(members) => members.get(name),
        Json::Array(elements) => elements.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}
