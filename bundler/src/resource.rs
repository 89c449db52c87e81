//! `app/resources/**/config.yaml`, and resources in the root file.

use std::{collections::BTreeMap, ops::Range};

use millrace_core::app::{Argument, Content, Resource, Template, ToolUse, UriPattern};

use crate::{
    app_settings::RootSettings,
    argument::{self, ARGUMENT, DeclaredArgument, INLINE_ARGUMENT},
    authorization::{self, FEATURE_SCOPES},
    compiler::Compiler,
    descriptor,
    field::{Field, Named, Record, Shape},
    names::{SKILL_SCHEME, is_name, meant},
    scope::ARGUMENTS,
    tool_use::{self, ToolCaller, Tools},
    tree::{is_config, parent},
    yaml::{Data, Document, Node},
};

mod embedded;
mod files;
pub(crate) mod mime;

pub(crate) use embedded::{embedded, file};

use embedded::verbatim;
mod uri;

/// `app/resources/**/config.yaml`
pub(crate) static RESOURCE: Record = Record {
    name: "resource",
    noun: "a resource",
    doc: "One resource, or one template of resources.",
    fields: &[
        Field::new("name", Shape::Text, "The name; without it, the folder's name."),
        URI,
        URI_TEMPLATE,
        TITLE,
        DESCRIPTION,
        MIME_TYPE,
        FILE,
        TEXT,
        TEXT_TEMPLATE,
        FILE_TEMPLATE,
        TOOL,
        ARGS,
        Field::new(
            "arguments",
            Shape::Map(&Shape::Record(&ARGUMENT)),
            "Descriptions and completions of the variables of `uri_template`, \
                                                                        by name.",
        ),
        FEATURE_SCOPES,
    ],
};

/// A resource in the root file.
pub(crate) static INLINE_RESOURCE: Record = Record {
    name: "inline_resource",
    noun: "a resource",
    doc: "One resource, with its name.",
    fields: &[
        Field::new("name", Shape::Text, "The name.").required(),
        URI,
        URI_TEMPLATE,
        TITLE,
        DESCRIPTION,
        MIME_TYPE,
        FILE,
        TEXT,
        TEXT_TEMPLATE,
        FILE_TEMPLATE,
        TOOL,
        ARGS,
        Field::new(
            "arguments",
            Shape::List(&Shape::Record(&INLINE_ARGUMENT)),
            "Descriptions and completions of the variables of \
                                                                                `uri_template`.",
        ),
        FEATURE_SCOPES,
    ],
};

const URI: Field = Field::new("uri", Shape::Text, "The URI: `docs://manual`. Either this or `uri_template`.");
const URI_TEMPLATE: Field = Field::new(
    "uri_template",
    Shape::Text,
    "A template of URIs (RFC 6570): `docs://orders/{id}`, or `files://{+path}` for a value with `/`.",
);
const TITLE: Field = Field::new("title", Shape::Text, "A display name.");
const DESCRIPTION: Field = Field::new("description", Shape::Text, "What it is.");
const MIME_TYPE: Field =
    Field::new("mime_type", Shape::Text, "The MIME type.").default("by the file's extension and content; `application/json` for a tool");
const FILE: Field = Field::new("file", Shape::Text, "A file, relative to this one, which is stored in the bundle.");
const TEXT: Field = Field::new("text", Shape::Text, "The text itself.");
const TEXT_TEMPLATE: Field =
    Field::new("text_template", Shape::Text, "For a template: text with its variables as placeholders, `{{ id }}`.").sees(ARGUMENTS);
const FILE_TEMPLATE: Field = Field::new(
    "file_template",
    Shape::Text,
    "For a template: the name of a file, relative to this one, with its variables as placeholders: `./{{ id }}.json`. The files that it can name are stored in the bundle, at most 1000 and no hidden ones; a value can name no other file.",
)
.sees(ARGUMENTS);
const TOOL: Field = Field::new(
    "tool",
    Shape::Text,
    "A tool that supplies the content at each read. The variables of `uri_template` are its inputs. Its failure with the code `NOT_FOUND` \
     means that the resource does not exist.",
)
.names(Named::Tool);
const ARGS: Field = Field::new("args", Shape::Map(&Shape::Any), "The inputs of `tool`; text may have variables: `{{ id }}`.")
    .default("each variable, under its own name")
    .sees(ARGUMENTS)
    .keys(Named::Input);

/// Reads every resource, with its URI.
pub(crate) fn read_all(compiler: &mut Compiler<'_>, root: &RootSettings, tools: &Tools) -> Vec<(String, Resource)> {
    let mut reading = ResourceReader { root, tools, resources: Vec::new(), names: BTreeMap::new(), uris: BTreeMap::new() };
    let inline = ["resources", "resource_templates"].map(|key| root.document.root.at(key));
    for item in inline.iter().flatten().filter(|node| matches!(node.data, Data::List(_))).flat_map(|node| node.items()) {
        let Some(name) = item.at("name") else { continue };
        reading.read(compiler, &root.document, item, name.text().unwrap_or_default(), name.range.clone());
    }
    if !inline[0].is_some_and(|node| matches!(node.data, Data::List(_))) {
        for file in compiler.tree.walk(&root.resources_folder).into_iter().filter(|file| is_config(&file.name)) {
            let Some(document) = compiler.document(&file.path, &RESOURCE) else { continue };
            let node = document.root.at("name");
            let folder = parent(&file.path);
            let folder = folder.rsplit_once('/').map_or(folder, |(_, name)| name);
            let name = node.and_then(Node::text).unwrap_or(folder).to_owned();
            let range = node.map_or(0..0, |node| node.range.clone());
            reading.read(compiler, &document, &document.root, &name, range);
        }
    }
    reading.resources
}

/// The resources so far, with their URIs, and the places of names and URIs.
struct ResourceReader<'a> {
    root: &'a RootSettings,
    tools: &'a Tools,
    resources: Vec<(String, Resource)>,
    names: BTreeMap<String, String>,
    uris: BTreeMap<String, String>,
}

impl ResourceReader<'_> {
    fn read(&mut self, compiler: &mut Compiler<'_>, document: &Document, node: &Node, name: &str, range: Range<usize>) {
        if !is_name(name) {
            let help = "A name begins with a letter; letters, digits, `_` and `-` follow.";
            compiler.error(document, range.clone(), format!("`{name}` is not a valid name for a resource"), help);
        }
        if let Some(other) = self.names.insert(name.to_owned(), document.source.place(range.start)) {
            let help = format!("The other one is {other}. Give one of them another `name`.");
            compiler.error(document, range.clone(), format!("there are two resources `{name}`"), help);
        }
        let (key, uri_node) = match (node.entry("uri"), node.entry("uri_template")) {
            (Some(_), Some(other)) => {
                let help = "Keep one of them.";
                compiler.error(document, other.key_range.clone(), "define either `uri` or `uri_template`, not both", help);
                return;
            }
            (Some(uri), None) => ("uri", &uri.value),
            (None, Some(template)) => ("uri_template", &template.value),
            (None, None) => {
                compiler.error(document, range, "`uri` or `uri_template` is missing", "Name the resource: `uri: docs://manual`.");
                return;
            }
        };
        let Some(uri) = uri_node.text() else { return };
        if let Some(other) = self.uris.insert(uri.to_owned(), document.source.place(uri_node.range.start)) {
            let help = format!("The other one is {other}.");
            compiler.error(document, uri_node.range.clone(), format!("there are two resources at `{uri}`"), help);
        }
        compiler.feature_files.insert(uri.to_owned(), document.source.path.clone());
        if let Some(skill) = skill_of(compiler, self.root, uri) {
            let help = format!("Put the file into `{}/{skill}`, or use another URI.", self.root.skills_folder);
            compiler.error(document, uri_node.range.clone(), format!("`{uri}` is in the skill `{skill}`"), help);
        }
        let is_template = key == "uri_template";
        let pattern = match uri::parse(uri, is_template) {
            Ok(pattern) => pattern,
            Err(problem) => {
                compiler.findings.problem(document, uri_node, problem);
                return;
            }
        };
        let declared = arguments(compiler, document, node, &pattern, self.tools);
        let mut arguments: Vec<Argument> = declared.into_iter().map(|declared| declared.argument).collect();
        let Some((content, guessed)) = content(compiler, document, node, &pattern, range, self.tools) else { return };
        let mime_type = node.text_at("mime_type").map_or(guessed, String::from);
        let mut has_one_type = true;
        let content = match content {
            ContentSource::Files(found) => {
                found.suggest(&mut arguments);
                has_one_type = node.at("mime_type").is_some() || found.files.iter().all(|file| file.mime_type == mime_type);
                Content::Files { name: found.name, files: found.files }
            }
            ContentSource::Template(template) => Content::Text(template),
            ContentSource::Bytes(bytes) => embedded(bytes, &mime_type).into(),
            ContentSource::Tool(used) => Content::Tool { used, binary: !mime::is_text(&mime_type) },
        };
        let descriptor = descriptor::resource(
            if is_template { "uriTemplate" } else { "uri" },
            uri,
            name,
            node.text_at("title"),
            node.text_at("description"),
            has_one_type.then_some(&mime_type),
        );
        let scopes = authorization::of_feature(compiler, self.root, document, node);
        self.resources.push((uri.to_owned(), Resource { uri: pattern, descriptor, mime_type, arguments, content, scopes }));
    }
}

/// The skill that a URI is in, by its name. Nothing else can be there: what a client is told of a
/// skill is all that it may read of it.
fn skill_of<'u>(compiler: &Compiler<'_>, root: &RootSettings, uri: &'u str) -> Option<&'u str> {
    let name = uri.strip_prefix(SKILL_SCHEME)?.split('/').next()?;
    let is_word = !name.is_empty() && !name.starts_with('.');
    (is_word && compiler.tree.has_folder(&format!("{}/{name}", root.skills_folder))).then_some(name)
}

enum ContentSource {
    Template(Template),
    Bytes(Vec<u8>),
    Tool(ToolUse),
    Files(files::MatchedFiles),
}

fn arguments(compiler: &mut Compiler<'_>, document: &Document, node: &Node, pattern: &UriPattern, tools: &Tools) -> Vec<DeclaredArgument> {
    let declared = argument::read(compiler, document, node.at("arguments"), tools);
    let names: Vec<&str> = pattern.variables.iter().map(String::as_str).collect();
    for argument in &declared {
        let name = &argument.argument.name;
        if !pattern.variables.contains(name) {
            let help =
                if names.is_empty() { "Only `uri_template` has variables.".into() } else { meant(name, &names, "The variables are") };
            compiler.error(document, argument.range.clone(), format!("the URI has no variable `{name}`"), help);
        }
    }
    declared
}

/// The content, and the MIME type that it has where nothing else is said.
fn content(
    compiler: &mut Compiler<'_>,
    document: &Document,
    node: &Node,
    pattern: &UriPattern,
    range: Range<usize>,
    tools: &Tools,
) -> Option<(ContentSource, String)> {
    let ways = ["file", "text", "text_template", "file_template", "tool"].map(|key| node.entry(key));
    let mut ways = ways.into_iter().flatten();
    let Some(way) = ways.next() else {
        let help = "Give the resource its content: `file`, `text`, `text_template`, `file_template` or `tool`.";
        compiler.error(document, range, "the resource has no content", help);
        return None;
    };
    if let Some(other) = ways.next() {
        let message = format!("the resource has both `{}` and `{}`", way.key, other.key);
        compiler.error(document, other.key_range.clone(), message, "Keep one of them.");
        return None;
    }
    if let Some(args) = node.entry("args").filter(|_| way.key != "tool") {
        compiler.error(document, args.key_range.clone(), "`args` is for a tool, and the resource has none", "Remove it.");
    }
    let value = &way.value;
    let text = value.text()?;
    let plain = || "text/plain; charset=utf-8".to_owned();
    match way.key.as_str() {
        "text" => Some((ContentSource::Template(verbatim(text)), plain())),
        "text_template" => Some((ContentSource::Template(compiler.arguments_template(document, value, &pattern.variables)), plain())),
        "file_template" => {
            let name = compiler.arguments_template(document, value, &pattern.variables);
            let found = files::find(compiler, document, value, name, pattern, node.text_at("mime_type"))?;
            let guessed = found.files.first().map_or_else(plain, |file| file.mime_type.clone());
            Some((ContentSource::Files(found), guessed))
        }
        "tool" => {
            let known = ToolCaller { names: &pattern.variables, optional: &[], all_used: true };
            let used = tool_use::read(compiler, document, value, node.at("args"), &known, tools)?;
            Some((ContentSource::Tool(used), "application/json".to_owned()))
        }
        _ => {
            let bytes = file(compiler, document, value)?;
            let guessed = mime::guess(text, &bytes).to_owned();
            Some((ContentSource::Bytes(bytes), guessed))
        }
    }
}
