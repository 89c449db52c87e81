//! `arguments` of prompts and resource templates.

use std::ops::Range;

use millrace_core::app::Argument;

use crate::{
    compiler::Compiler,
    descriptor::ArgumentEntry,
    field::{Field, Record, Shape},
    names::is_input_name,
    tool_use::{COMPLETE, Tools, completers},
    yaml::{Data, Document, Node},
};

/// One of `arguments`
pub(crate) static ARGUMENT: Record = Record {
    name: "argument",
    noun: "an argument",
    doc: "One argument of a prompt, or one variable of a resource template.",
    fields: &[TITLE, DESCRIPTION, REQUIRED, COMPLETION, COMPLETE_FIELD],
};

/// One of `arguments` of a prompt or a template in the root file.
pub(crate) static INLINE_ARGUMENT: Record = Record {
    name: "inline_argument",
    noun: "an argument",
    doc: "One argument, with its name.",
    fields: &[Field::new("name", Shape::Text, "The name.").required(), TITLE, DESCRIPTION, REQUIRED, COMPLETION, COMPLETE_FIELD],
};

const TITLE: Field = Field::new("title", Shape::Text, "A display name.");
const DESCRIPTION: Field = Field::new("description", Shape::Text, "What it means.");
const REQUIRED: Field = Field::new("required", Shape::Bool, "Whether it is required.").default("false");
const COMPLETION: Field = Field::new("completion", Shape::List(&Shape::Text), "Values that clients suggest.").default("[]");
const COMPLETE_FIELD: Field = Field::new("complete", Shape::Record(&COMPLETE), "A tool that finds values to suggest.");

/// An argument, and what its entry says.
pub(crate) struct DeclaredArgument {
    /// The argument.
    pub(crate) argument: Argument,
    /// Where its name stands.
    pub(crate) range: Range<usize>,
    title: Option<String>,
    description: Option<String>,
}

impl DeclaredArgument {
    /// What the entry of its prompt says of it.
    pub(crate) fn entry(&self) -> ArgumentEntry<'_> {
        ArgumentEntry {
            name: &self.argument.name,
            title: self.title.as_deref(),
            description: self.description.as_deref(),
            required: self.argument.required,
        }
    }
}

/// Reads `arguments`: a map by name, or in the root file a list. In declared order.
pub(crate) fn read(compiler: &mut Compiler<'_>, document: &Document, node: Option<&Node>, tools: &Tools) -> Vec<DeclaredArgument> {
    let mut declared: Vec<DeclaredArgument> = Vec::new();
    let mut completed = Vec::new();
    let Some(node) = node else { return declared };
    let parts: Vec<(String, Range<usize>, &Node)> = match &node.data {
        Data::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), entry.key_range.clone(), &entry.value)).collect(),
        _ => node
            .items()
            .iter()
            .filter_map(|item| {
                let name = item.at("name")?;
                Some((name.text()?.to_owned(), name.range.clone(), item))
            })
            .collect(),
    };
    for (name, range, value) in parts {
        if !is_input_name(&name) {
            let help = "A name begins with a letter or `_`; letters, digits, `_` and `-` follow.";
            compiler.error(document, range.clone(), format!("`{name}` is not a valid name for an argument"), help);
        }
        if declared.iter().any(|other| other.argument.name == name) {
            compiler.error(document, range, format!("there are two arguments `{name}`"), "Rename one of them.");
            continue;
        }
        completed.extend(value.at("complete").map(|complete| (declared.len(), complete.clone())));
        let required = value.bool_at("required").unwrap_or(false);
        declared.push(DeclaredArgument {
            argument: Argument { name, required, completion: value.texts_at("completion"), complete: None },
            range,
            title: value.text_at("title").map(String::from),
            description: value.text_at("description").map(String::from),
        });
    }
    let mut arguments: Vec<Argument> = declared.iter().map(|declared| declared.argument.clone()).collect();
    completers(compiler, document, completed, &mut arguments, tools);
    for (declared, argument) in declared.iter_mut().zip(arguments) {
        declared.argument = argument;
    }
    declared
}
