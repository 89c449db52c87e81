//! `app/prompts/*.yaml`, and prompts in the root file.

use std::{collections::BTreeMap, ops::Range};

use millrace_core::app::Prompt;

use crate::{
    app_settings::RootSettings,
    argument::{self, ARGUMENT, DeclaredArgument, INLINE_ARGUMENT},
    authorization::{self, FEATURE_SCOPES},
    compiler::Compiler,
    descriptor,
    field::{Field, Named, Record, Shape},
    names::is_name,
    scope::ARGUMENTS,
    tool_use::{ToolCaller, Tools},
    tree::{is_yaml, stem},
    yaml::{Data, Document, Node},
};

mod message;

/// `app/prompts/*.yaml`
pub(crate) static PROMPT: Record = Record {
    name: "prompt",
    noun: "a prompt",
    doc: "One prompt that clients offer to people.",
    fields: &[
        Field::new("name", Shape::Text, "The name that clients ask for; without it, the file's name."),
        TITLE,
        DESCRIPTION,
        Field::new("arguments", Shape::Map(&Shape::Record(&ARGUMENT)), "What it takes, by name."),
        MESSAGES,
        FEATURE_SCOPES,
    ],
};

/// A prompt in the root file.
pub(crate) static INLINE_PROMPT: Record = Record {
    name: "inline_prompt",
    noun: "a prompt",
    doc: "One prompt, with its name.",
    fields: &[
        Field::new("name", Shape::Text, "The name that clients ask for.").required(),
        TITLE,
        DESCRIPTION,
        Field::new("arguments", Shape::List(&Shape::Record(&INLINE_ARGUMENT)), "What it takes."),
        MESSAGES,
        FEATURE_SCOPES,
    ],
};

static MESSAGE: Record = Record {
    name: "message",
    noun: "a message",
    doc: "One message of a prompt: exactly one of `text`, `image`, `audio`, `resource` and `tool`.",
    fields: &[
        Field::new("role", Shape::Text, "The speaker: `user` or `assistant`.").required(),
        Field::new("text", Shape::Text, "The text, with arguments as placeholders: `{{ order_id }}`.").sees(ARGUMENTS),
        Field::new("image", Shape::Text, "An image file, relative to this one, which is stored in the bundle."),
        Field::new("audio", Shape::Text, "An audio file, likewise."),
        Field::new("mime_type", Shape::Text, "The MIME type of `image` or `audio`.").default("by the file's extension"),
        Field::new("resource", Shape::Record(&EMBEDDED), "A resource that is embedded in the message."),
        Field::new("tool", Shape::Text, "A tool whose result is the content: one message for each of its blocks.").names(Named::Tool),
        Field::new("args", Shape::Map(&Shape::Any), "The inputs of `tool`; text may have arguments: `{{ order_id }}`.")
            .sees(ARGUMENTS)
            .keys(Named::Input)
            .default("each argument that is an input, under its own name"),
    ],
};

static EMBEDDED: Record = Record {
    name: "embedded_resource",
    noun: "`resource`",
    doc: "A resource inside of a message: exactly one of `text`, `file` and `blob`.",
    fields: &[
        Field::new("uri", Shape::Text, "Its URI, with arguments as placeholders.").sees(ARGUMENTS).required(),
        Field::new("mime_type", Shape::Text, "Its MIME type.").default("by the file's extension and content"),
        Field::new("text", Shape::Text, "Its text, with arguments as placeholders.").sees(ARGUMENTS),
        Field::new("file", Shape::Text, "A file, relative to this one, which is stored in the bundle."),
        Field::new("blob", Shape::Text, "Bytes, as base64."),
    ],
};

const TITLE: Field = Field::new("title", Shape::Text, "A display name.");
const DESCRIPTION: Field = Field::new("description", Shape::Text, "What it is for.");
const MESSAGE_LIST: Shape = Shape::List(&Shape::Record(&MESSAGE));
const MESSAGES: Field = Field::new("messages", MESSAGE_LIST, "Its messages, at least one.").required();

/// The prompts that were read so far, and what they are read with.
struct Prompts<'a> {
    root: &'a RootSettings,
    tools: &'a Tools,
    list: Vec<Prompt>,
    /// Where each is, by its name.
    places: BTreeMap<String, String>,
}

/// Reads every prompt, sorted by name.
pub(crate) fn read_all(compiler: &mut Compiler<'_>, root: &RootSettings, tools: &Tools) -> Vec<Prompt> {
    let mut prompts = Prompts { root, tools, list: Vec::new(), places: BTreeMap::new() };
    if let Some(Node { data: Data::List(items), .. }) = root.document.root.at("prompts") {
        for item in items {
            let Some(name) = item.at("name") else { continue };
            let range = name.range.clone();
            prompts.read(compiler, &root.document, item, name.text().unwrap_or_default(), range);
        }
    } else {
        for file in compiler.tree.walk(&root.prompts_folder).into_iter().filter(|file| is_yaml(&file.name)) {
            let Some(document) = compiler.document(&file.path, &PROMPT) else { continue };
            let node = document.root.at("name");
            let name = node.and_then(Node::text).unwrap_or_else(|| stem(&file.name)).to_owned();
            let range = node.map_or(0..0, |node| node.range.clone());
            prompts.read(compiler, &document, &document.root, &name, range);
        }
    }
    prompts.list.sort_by(|a, b| a.name.cmp(&b.name));
    prompts.list
}

impl Prompts<'_> {
    fn read(&mut self, compiler: &mut Compiler<'_>, document: &Document, node: &Node, name: &str, range: Range<usize>) {
        if !is_name(name) {
            let help = "A name begins with a letter; letters, digits, `_` and `-` follow.";
            compiler.error(document, range.clone(), format!("`{name}` is not a valid name for a prompt"), help);
        }
        if let Some(other) = self.places.get(name) {
            let help = format!("The other one is {other}. Give one of them another `name`.");
            compiler.error(document, range, format!("there are two prompts `{name}`"), help);
            return;
        }
        self.places.insert(name.to_owned(), document.source.place(range.start));
        compiler.feature_files.insert(name.to_owned(), document.source.path.clone());
        let arguments = argument::read(compiler, document, node.at("arguments"), self.tools);
        let names: Vec<String> = arguments.iter().map(|declared| declared.argument.name.clone()).collect();
        let optional = arguments.iter().filter(|declared| !declared.argument.required).map(|declared| declared.argument.name.clone());
        let optional: Vec<String> = optional.collect();
        let known = ToolCaller { names: &names, optional: &optional, all_used: false };
        let messages = node.at("messages").map(Node::items).unwrap_or_default();
        if let (Some(list), []) = (node.at("messages"), messages) {
            compiler.error(document, list.range.clone(), "`messages` is empty", "A prompt needs a message: `{ role: user, text: … }`.");
        }
        let messages = messages.iter().filter_map(|message| message::read(compiler, document, message, &known, self.tools)).collect();
        let entries: Vec<_> = arguments.iter().map(DeclaredArgument::entry).collect();
        self.list.push(Prompt {
            name: name.to_owned(),
            descriptor: descriptor::prompt(name, node.text_at("title"), node.text_at("description"), &entries),
            description: node.text_at("description").map(String::from),
            arguments: arguments.into_iter().map(|declared| declared.argument).collect(),
            messages,
            scopes: authorization::of_feature(compiler, self.root, document, node),
        });
    }
}
