//! Prompts, resources, and how a tool stands behind them.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{Literal, RequiredScopes, Template};

/// `app/prompts/*.yaml`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// The name in `prompts/get`.
    pub name: String,
    /// The whole entry of `prompts/list`, as JSON text.
    pub descriptor: String,
    /// `description`
    pub description: Option<String>,
    /// The arguments, in declared order.
    pub arguments: Vec<Argument>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
    /// `require_scope`; `None`: who may call its tools may have it.
    pub scopes: Option<RequiredScopes>,
}

/// An argument of a prompt, or a variable of a resource template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// The name.
    pub name: String,
    /// Has to be given.
    pub required: bool,
    /// Suggestions for `completion/complete`.
    pub completion: Vec<String>,
    /// `complete`: a tool that finds further suggestions.
    pub complete: Option<Completer>,
}

/// `complete` of an argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completer {
    /// Index into [`App::tools`](super::App::tools).
    pub tool: u32,
    /// `field`: the member of each row that is the suggestion; `None` where the rows themselves
    /// are.
    pub field: Option<String>,
    /// The arguments that the tool has inputs for, the completed one included: each is passed under
    /// its own name.
    pub inputs: Vec<String>,
}

/// One message of a prompt, or as many as its tool has content blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptMessage {
    /// `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub content: PromptContent,
}

/// What a message says. The placeholders of its templates are arguments
/// ([`Root::Arguments`](super::Root::Arguments)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PromptContent {
    /// `text`
    Text(Template),
    /// `image`
    Image(Media),
    /// `audio`
    Audio(Media),
    /// `resource`
    Resource {
        /// The URI that it says it has.
        uri: Template,
        /// The MIME type.
        mime_type: String,
        /// What it says.
        content: Embedded,
    },
    /// `tool`: its result.
    Tool(ToolUse),
}

/// A picture or a sound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// The MIME type.
    pub mime_type: String,
    /// The bytes, sent as base64.
    pub data: Vec<u8>,
}

/// A call of a tool by a prompt or a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// Index into [`App::tools`](super::App::tools).
    pub tool: u32,
    /// The tool's inputs and what they get, in the order of `args`.
    pub inputs: Vec<(String, InputSource)>,
}

/// What an input gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum InputSource {
    /// The value of an argument; nothing where the caller did not give it.
    Argument(String),
    /// Text with arguments in it.
    Text(Template),
    /// Any other value.
    Literal(Literal),
}

/// `app/resources/**/config.yaml`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// The URI, or a template of URIs.
    pub uri: UriPattern,
    /// The whole entry of `resources/list` or `resources/templates/list`, as JSON text.
    pub descriptor: String,
    /// The MIME type.
    pub mime_type: String,
    /// The arguments of a template.
    pub arguments: Vec<Argument>,
    /// What it says.
    pub content: Content,
    /// `require_scope`; `None`: who may call its tool may read it.
    pub scopes: Option<RequiredScopes>,
}

/// `app/skills/NAME/`: an [Agent Skill](https://agentskills.io/specification), served by the
/// extension
/// [`io.modelcontextprotocol/skills`](https://modelcontextprotocol.io/seps/2640-skills-extension).
/// Its files are resources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// The URI of its `SKILL.md`: `skill://NAME/SKILL.md`.
    pub uri: String,
    /// The whole entry of `skills/list`, as JSON text: front matter, and the files with their
    /// digests.
    pub descriptor: String,
    /// Index into [`App::resources`](super::App::resources): its `SKILL.md`, which has the scopes
    /// of the skill.
    pub resource: u32,
    /// Index into [`App::resources`](super::App::resources): its other files, one template for all
    /// of them.
    pub files: Option<u32>,
    /// Its folder and the folders in it that have files, sorted by URI.
    pub folders: Vec<SkillFolder>,
}

/// A folder of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillFolder {
    /// The URI, without a slash at its end.
    pub uri: String,
    /// The files and folders in it, as JSON text: the `resources` of `resources/directory/read`.
    pub children: String,
}

/// A URI or a template of URIs ([RFC 6570](https://www.rfc-editor.org/rfc/rfc6570): `{id}`, and
/// once `{+path}`), cut at its variables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UriPattern {
    /// The text before, between and after the variables: one more than `variables`.
    pub literals: Vec<String>,
    /// The variables' names.
    pub variables: Vec<String>,
    /// Index into `variables` of the one that is written `{+path}`: its value may have `/`, `?` and
    /// `#`.
    pub reserved: Option<u32>,
}

/// The content of a resource within a prompt. (A tool in a prompt is a message of its own.)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Embedded {
    /// Text with arguments.
    Text(Template),
    /// Bytes that are not text, sent as base64.
    Blob(Vec<u8>),
}

/// The content of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Content {
    /// Text with the URI's variables (root [`Root::Arguments`](super::Root::Arguments)).
    Text(Template),
    /// Bytes that are not text, sent as base64.
    Blob(Vec<u8>),
    /// What a tool says.
    Tool {
        /// The tool.
        used: ToolUse,
        /// Its text is base64 of bytes, as the MIME type is not one of text.
        binary: bool,
    },
    /// One of some files of the app's folder, by its name.
    Files {
        /// The name, with the URI's variables.
        name: Template,
        /// The files, sorted by name. A name that is not among them is not a resource.
        files: Vec<File>,
    },
}

/// A file that was embedded at build time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct File {
    /// The name, as the template of names spells it.
    pub name: String,
    /// The MIME type.
    pub mime_type: String,
    /// What it says. Its text has no placeholders.
    pub content: Embedded,
}

impl From<Embedded> for Content {
    fn from(content: Embedded) -> Self {
        match content {
            Embedded::Text(template) => Self::Text(template),
            Embedded::Blob(bytes) => Self::Blob(bytes),
        }
    }
}
