//! `tool` and `args` of a prompt's message or a resource, and `complete` of an argument: which
//! tool, and what its inputs get.

use std::collections::BTreeSet;

use millrace_core::app::{Argument, Completer, InputSource, Literal, Root, TemplatePart, Tool, ToolUse};

use crate::{
    compiler::Compiler,
    field::{Field, Named, Record, Shape},
    names::meant,
    script::{AppPart, ScriptReference},
    sync::epochs::AllSettings,
    yaml::{Data, Document, Node},
};

/// `complete`
pub(crate) static COMPLETE: Record = Record {
    name: "complete",
    noun: "`complete`",
    doc: "A tool that finds values to suggest. It runs as if the client had called it, with the values that are known so far: those of the \
          arguments, the one being typed included, that have the name of one of its inputs.",
    fields: &[
        Field::new("tool", Shape::Text, "The tool. It returns a list.").names(Named::Tool).required(),
        Field::new("field", Shape::Text, "The column or member that is the suggestion.")
            .default("the rows themselves, if they are texts or numbers"),
    ],
};

/// The tools that others may name.
pub(crate) struct Tools {
    /// The tools, sorted by name.
    pub(crate) list: Vec<Tool>,
    /// The names of those that could not be read, which has been said.
    pub(crate) broken: BTreeSet<String>,
    /// What they say of cached results.
    pub(crate) sync: AllSettings,
}

/// Who uses a tool: the names that have values, and which of them always have one.
pub(crate) struct ToolCaller<'a> {
    /// The arguments, or the variables of the URI.
    pub(crate) names: &'a [String],
    /// Those that the caller may leave out.
    pub(crate) optional: &'a [String],
    /// Each of them must be an input of the tool: the variables of a URI.
    pub(crate) all_used: bool,
}

impl Tools {
    fn find(&self, compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> Option<(u32, &Tool)> {
        let name = node.text()?;
        let found = self.list.iter().position(|tool| tool.name == name);
        if let Some(found) = found {
            return Some((u32::try_from(found).ok()?, &self.list[found]));
        }
        if !self.broken.contains(name) {
            let names: Vec<&str> = self.list.iter().map(|tool| tool.name.as_str()).collect();
            compiler.error(document, node.range.clone(), format!("the tool `{name}` does not exist"), meant(name, &names, "The tools are"));
        }
        None
    }

    /// Looks whether the tools that scripts name are there.
    pub(crate) fn check_named(&self, compiler: &mut Compiler<'_>, named: &[ScriptReference]) {
        let is_known = |name: &str| self.broken.contains(name) || self.list.iter().any(|tool| tool.name == name);
        let names: Vec<&str> = self.list.iter().map(|tool| tool.name.as_str()).collect();
        for place in named.iter().filter(|place| place.part == AppPart::Tool && !is_known(&place.name)) {
            let help = meant(&place.name, &names, "The tools are");
            compiler.findings.push(place.error(format!("the tool `{}` does not exist", place.name), help));
        }
    }
}

/// Reads a use of a tool. `args` is what stands at `args`.
pub(crate) fn read(
    compiler: &mut Compiler<'_>,
    document: &Document,
    node: &Node,
    args: Option<&Node>,
    known: &ToolCaller<'_>,
    tools: &Tools,
) -> Option<ToolUse> {
    let (index, tool) = tools.find(compiler, document, node)?;
    // A mapper makes inputs of whatever it gets, and a schema may have others than it names.
    let takes_any = tool.map_input.is_some() || tool.input_schema.is_some();
    let takes = |name: &str| takes_any || tool.inputs.iter().any(|input| input.name == name);
    let inputs: Vec<&str> = tool.inputs.iter().map(|input| input.name.as_str()).collect();
    let mut given = Vec::new();
    if let Some(args) = args {
        for entry in args.entries() {
            if !takes(&entry.key) {
                let help = meant(&entry.key, &inputs, "Its inputs are");
                compiler.error(document, entry.key_range.clone(), format!("the tool `{}` has no input `{}`", tool.name, entry.key), help);
            }
            given.push((entry.key.clone(), value(compiler, document, &entry.value, known.names)));
        }
    } else {
        for name in known.names {
            if takes(name) {
                given.push((name.clone(), InputSource::Argument(name.clone())));
            } else if known.all_used {
                let help = format!("Name under `args` the input that gets it: `args: {{ input: \"{{{{ {name} }}}}\" }}`.");
                compiler.error(document, node.range.clone(), format!("the tool `{}` has no input `{name}`", tool.name), help);
            }
        }
    }
    if !takes_any {
        covered(compiler, document, node, tool, &given, known);
    }
    Some(ToolUse { tool: index, inputs: given })
}

/// Notes inputs that the tool needs and that get nothing.
fn covered(
    compiler: &mut Compiler<'_>,
    document: &Document,
    node: &Node,
    tool: &Tool,
    given: &[(String, InputSource)],
    known: &ToolCaller<'_>,
) {
    for input in tool.inputs.iter().filter(|input| !input.optional && input.default.is_none()) {
        match given.iter().find(|(name, _)| *name == input.name) {
            None => {
                let message = format!("the tool `{}` needs the input `{}`, which gets no value", tool.name, input.name);
                compiler.error(document, node.range.clone(), message, format!("Give it a value: `args: {{ {}: … }}`.", input.name));
            }
            Some((_, InputSource::Argument(argument))) if known.optional.contains(argument) => {
                let message =
                    format!("the tool `{}` needs the input `{}`, but the argument `{argument}` may be omitted", tool.name, input.name);
                compiler.warning(document, node.range.clone(), message, format!("Set `required: true` for `{argument}`."));
            }
            Some(_) => {}
        }
    }
}

fn value(compiler: &mut Compiler<'_>, document: &Document, node: &Node, names: &[String]) -> InputSource {
    if node.text().is_none() {
        if let Some(text) = nested_placeholder(node) {
            let help = "A placeholder is allowed in a value of `args` itself, not deeper.";
            compiler.error(document, text.range.clone(), "the placeholder has no value here", help);
        }
        return InputSource::Literal(Literal(node.json()));
    }
    let template = compiler.arguments_template(document, node, names);
    match template.0.as_slice() {
        [TemplatePart::Source(source)] if source.root == Root::Arguments => {
            InputSource::Argument(source.path.first().cloned().unwrap_or_default())
        }
        _ => InputSource::Text(template),
    }
}

fn nested_placeholder(node: &Node) -> Option<&Node> {
    match &node.data {
        Data::Text(text) => text.contains("{{").then_some(node),
        Data::List(items) => items.iter().find_map(nested_placeholder),
        Data::Map(entries) => entries.iter().find_map(|entry| nested_placeholder(&entry.value)),
        _ => None,
    }
}

/// Reads the `complete` of each argument into `arguments`; `node` is what stands at `arguments`.
pub(crate) fn completers(
    compiler: &mut Compiler<'_>,
    document: &Document,
    found: Vec<(usize, Node)>,
    arguments: &mut [Argument],
    tools: &Tools,
) {
    let names: Vec<String> = arguments.iter().map(|argument| argument.name.clone()).collect();
    for (place, node) in found {
        let Some(tool_node) = node.at("tool") else { continue };
        let Some((tool, declared)) = tools.find(compiler, document, tool_node) else { continue };
        let takes = |name: &&String| declared.inputs.iter().any(|input| input.name == **name);
        let inputs: Vec<String> = names.iter().filter(takes).cloned().collect();
        let missing = declared.inputs.iter().find(|input| !input.optional && input.default.is_none() && !inputs.contains(&input.name));
        if let Some(missing) = missing.filter(|_| declared.map_input.is_none()) {
            let message = format!("the tool `{}` needs the input `{}`, and no argument has its name", declared.name, missing.name);
            compiler.error(document, tool_node.range.clone(), message, "Use a tool whose inputs are arguments, or are optional.");
        }
        if let Some(argument) = arguments.get_mut(place) {
            argument.complete = Some(Completer { tool, field: node.text_at("field").map(String::from), inputs });
        }
    }
}
