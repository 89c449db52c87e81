//! The table of clients: who does what to which construct, and where that is known from.
//!
//! It is the only place that knows clients. `check` warns by it, and `docs/client-checks.md` shows it; a
//! test holds a case against each row.

use crate::names::all_of;

/// A client.
#[derive(Debug)]
pub(super) struct Client {
    /// What `check --client` and `clients` call it.
    pub(super) id: &'static str,
    /// What people call it.
    pub(super) name: &'static str,
}

/// Something in an app that a client may not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// The name of a tool, with what the client puts before it.
    NameLength,
    /// How many tools are listed.
    ToolCount,
    /// The description of a tool.
    DescriptionLength,
    /// The app's `instructions`.
    InstructionsLength,
    /// How long a call may take, in milliseconds.
    CallTime,
    /// How long an answer may be, in bytes.
    AnswerLength,
    /// A block beside structured content.
    BesideData,
    /// A resource, or a link to one, in a result.
    EmbeddedResource,
    /// A sound in a result.
    Audio,
    /// `anyOf`, `oneOf` or `allOf` at the top of a schema.
    TopLevelChoice,
    /// An object at the top without `properties`.
    NoProperties,
    /// A property's name.
    PropertyName,
    /// An argument whose name begins with `_`.
    HiddenArgument,
    /// A member of an argument whose name begins with `_`.
    HiddenMember,
    /// A list without `items`.
    NoItems,
    /// A list of types.
    TypeList,
    /// `$ref`
    Reference,
    /// `exclusiveMinimum` or `exclusiveMaximum`
    ExclusiveBound,
    /// The same as a truth value, as draft 4 had it.
    ExclusiveFlag,
    /// A schema in `additionalProperties`.
    AdditionalSchema,
    /// A property that says nothing of its type.
    Untyped,
    /// Numbers in `enum`.
    NumberEnum,
    /// `format: email`
    EmailFormat,
    /// Any other `format` than `date-time`.
    Format,
    /// `$schema`
    Dialect,
}

/// What a client does to a construct.
#[derive(Debug)]
pub(super) struct Row {
    /// The client's `id`.
    pub(super) client: &'static str,
    pub(super) construct: Construct,
    /// The most that it takes: characters, tools, milliseconds or bytes. 0 where the construct
    /// itself is the matter.
    pub(super) most: u64,
    /// What it puts before a tool's name; `{}` stands for the server's.
    pub(super) prefix: &'static str,
    /// What happens, as a clause before "in" and the client's name.
    pub(super) happens: &'static str,
    /// Output schemas are affected, too; else it is only known of input schemas.
    pub(super) outputs: bool,
    /// Only authors who name the client are told: it concerns a use that few have.
    pub(super) when_named: bool,
    /// A thread of the client or of a server that met it, a page, or the version that was run.
    pub(super) source: &'static str,
    /// The month in which the source was read, or the client was run.
    pub(super) seen: &'static str,
}

impl Row {
    const fn new(client: &'static str, construct: Construct, happens: &'static str, source: &'static str, seen: &'static str) -> Self {
        Self { client, construct, most: 0, prefix: "", happens, outputs: false, when_named: false, source, seen }
    }

    const fn most(mut self, most: u64) -> Self {
        self.most = most;
        self
    }

    const fn prefix(mut self, prefix: &'static str) -> Self {
        self.prefix = prefix;
        self
    }

    const fn outputs(mut self) -> Self {
        self.outputs = true;
        self
    }

    const fn when_named(mut self) -> Self {
        self.when_named = true;
        self
    }
}

const fn client(id: &'static str, name: &'static str) -> Client {
    Client { id, name }
}

/// The clients, by `id`.
pub(super) static CLIENTS: &[Client] = &[
    client("ai-sdk", "AI SDK"),
    client("autogen", "AutoGen"),
    client("bedrock", "Amazon Bedrock"),
    client("chatgpt", "ChatGPT"),
    client("claude-ai", "claude.ai"),
    client("claude-code", "Claude Code"),
    client("claude-desktop", "Claude Desktop"),
    client("codex", "Codex"),
    client("copilot-cli", "Copilot CLI"),
    client("copilot-studio", "Copilot Studio"),
    client("crewai", "CrewAI"),
    client("cursor", "Cursor"),
    client("dspy", "DSPy"),
    client("gemini-cli", "Gemini CLI"),
    client("langchain", "LangChain (Python)"),
    client("llama-index", "LlamaIndex"),
    client("opencode", "OpenCode"),
    client("semantic-kernel", "Semantic Kernel"),
    client("smolagents", "smolagents"),
    client("vscode", "VS Code"),
];

/// What `check --client` and `clients` take: each client, and the names that several begin with.
pub(super) const NAMES: &[&str] = &[
    "ai-sdk",
    "autogen",
    "bedrock",
    "chatgpt",
    "claude",
    "claude-ai",
    "claude-code",
    "claude-desktop",
    "codex",
    "copilot",
    "copilot-cli",
    "copilot-studio",
    "crewai",
    "cursor",
    "dspy",
    "gemini-cli",
    "langchain",
    "llama-index",
    "opencode",
    "semantic-kernel",
    "smolagents",
    "vscode",
];

const DROPPED: &str = "the tool is dropped";
const REJECTED: &str = "the whole request is rejected";
const NO_TOOLS: &str = "all tools of the server are lost";
const HIDDEN: &str = "it is not shown";

use Construct::{
    AdditionalSchema, AnswerLength, Audio, BesideData, CallTime, DescriptionLength, Dialect, EmailFormat, EmbeddedResource, ExclusiveBound,
    ExclusiveFlag, Format, HiddenArgument, HiddenMember, InstructionsLength, NameLength, NoItems, NoProperties, NumberEnum, PropertyName,
    Reference, ToolCount, TopLevelChoice, TypeList, Untyped,
};

/// The table.
pub(super) static ROWS: &[Row] = &[
    Row::new("claude-ai", NameLength, DROPPED, "anthropics/claude-code#34960", "2026-09").most(64).prefix("mcp__{}__"),
    Row::new("claude-code", NameLength, DROPPED, "anthropics/claude-code#34960", "2026-09").most(64).prefix("mcp__{}__"),
    Row::new("claude-desktop", NameLength, DROPPED, "anthropics/claude-code#34960", "2026-09").most(64).prefix("mcp__{}__"),
    Row::new("cursor", NameLength, DROPPED, "ComposioHQ/composio#2788", "2026-09").most(60).prefix("{}:"),
    Row::new("gemini-cli", NameLength, "its middle is cut out", "google-gemini/gemini-cli#20987", "2026-09").most(63).prefix("mcp_{}_"),
    Row::new("bedrock", NameLength, REJECTED, "microsoft/mcp#842", "2026-09").most(64),
    Row::new("copilot-cli", NameLength, REJECTED, "microsoft/mcp#842", "2026-09").most(64).prefix("{}-"),
    Row::new("vscode", ToolCount, REJECTED, "microsoft/vscode-copilot-release#13065", "2026-09").most(128),
    Row::new("claude-code", DescriptionLength, "the rest is cut off", "dev.to: Kwon, tool descriptions of Claude Code", "2026-09")
        .most(4096),
    Row::new("chatgpt", DescriptionLength, "the portal for publishing rejects the tool", "whisper-money#751", "2026-09")
        .most(200)
        .when_named(),
    Row::new("claude-code", InstructionsLength, "the rest is cut off", "dev.to: Rulestack, instructions of MCP servers", "2026-11")
        .most(2048),
    Row::new("claude-ai", CallTime, "the call is given up", "anthropics/claude-ai-mcp#115", "2026-09").most(60_000),
    Row::new("claude-desktop", CallTime, "the call is given up", "anthropics/claude-code#58687", "2026-09").most(60_000),
    Row::new("claude-code", AnswerLength, "the model gets 2 KB and the name of a file", "anthropics/claude-code#45766", "2026-09")
        .most(100_000),
    Row::new("claude-desktop", AnswerLength, "the answer is rejected", "mcp-beeminder#2", "2026-09").most(1 << 20),
    Row::new("claude-code", BesideData, HIDDEN, "anthropics/claude-code#54450", "2026-09"),
    Row::new("codex", BesideData, HIDDEN, "pullmd#1", "2026-09"),
    Row::new("opencode", BesideData, HIDDEN, "pullmd#1", "2026-09"),
    Row::new("claude-desktop", EmbeddedResource, HIDDEN, "anthropics/claude-ai-mcp#287", "2026-09"),
    Row::new("ai-sdk", Audio, "the call fails", "run: @ai-sdk/mcp 1.0", "2026-11"),
    Row::new("langchain", Audio, "the call fails", "run: langchain-mcp-adapters 0.3.2", "2026-11"),
    Row::new("claude-ai", TopLevelChoice, REJECTED, "nexus#6, mcpx#28", "2026-09"),
    Row::new("claude-code", TopLevelChoice, DROPPED, "ripwire#48", "2026-09"),
    Row::new("claude-desktop", TopLevelChoice, REJECTED, "nexus#6, mcpx#28", "2026-09"),
    Row::new("smolagents", NoProperties, NO_TOOLS, "run: smolagents 1.26", "2026-11"),
    Row::new("claude-ai", PropertyName, REJECTED, "anthropics/claude-code#79418", "2026-09"),
    Row::new("claude-code", PropertyName, REJECTED, "anthropics/claude-code#79418", "2026-09"),
    Row::new("claude-desktop", PropertyName, REJECTED, "anthropics/claude-code#79418", "2026-09"),
    Row::new("bedrock", PropertyName, REJECTED, "aws-idp#709", "2026-09"),
    Row::new("autogen", HiddenArgument, NO_TOOLS, "run: AutoGen 0.7.5", "2026-11"),
    Row::new("crewai", HiddenArgument, NO_TOOLS, "run: CrewAI 1.15.30", "2026-11"),
    Row::new("llama-index", HiddenArgument, NO_TOOLS, "run: LlamaIndex 0.14.25", "2026-11"),
    Row::new("autogen", HiddenMember, NO_TOOLS, "run: AutoGen 0.7.5", "2026-11"),
    Row::new("crewai", HiddenMember, NO_TOOLS, "run: CrewAI 1.15.30", "2026-11"),
    Row::new("vscode", NoItems, DROPPED, "microsoft/vscode#246119", "2026-09"),
    Row::new("autogen", TypeList, NO_TOOLS, "run: AutoGen 0.7.5", "2026-11"),
    Row::new("semantic-kernel", TypeList, NO_TOOLS, "run: Semantic Kernel 1.45", "2026-11"),
    Row::new("dspy", TypeList, DROPPED, "run: DSPy 3.4.1", "2026-11"),
    Row::new("cursor", TypeList, "calls are rejected", "cursor/cursor#3778", "2026-09"),
    Row::new("copilot-studio", TypeList, "the schema is cut short", "learn.microsoft.com: troubleshoot MCP", "2026-09").outputs(),
    Row::new("copilot-studio", Reference, DROPPED, "learn.microsoft.com: troubleshoot MCP", "2026-09").outputs(),
    Row::new("copilot-cli", Reference, "calls have wrong arguments", "github/copilot-cli#1876", "2026-09"),
    Row::new("gemini-cli", Reference, NO_TOOLS, "google-gemini/gemini-cli#13326", "2026-09"),
    Row::new("copilot-studio", ExclusiveBound, NO_TOOLS, "mondaycom/mcp#334", "2026-09").outputs(),
    Row::new("claude-ai", ExclusiveFlag, REJECTED, "Dokploy#74", "2026-09"),
    Row::new("claude-code", ExclusiveFlag, REJECTED, "Dokploy#74", "2026-09"),
    Row::new("claude-desktop", ExclusiveFlag, REJECTED, "Dokploy#74", "2026-09"),
    Row::new("codex", AdditionalSchema, DROPPED, "XcodeBuildMCP#500", "2026-09"),
    Row::new("autogen", Untyped, NO_TOOLS, "run: AutoGen 0.7.5", "2026-11"),
    Row::new("claude-code", Untyped, "values are sent as text", "webstudio#6009", "2026-09"),
    Row::new("gemini-cli", NumberEnum, REJECTED, "langchain-mcp-tools#36", "2026-09"),
    Row::new("autogen", EmailFormat, "all tools of the server are lost without `email-validator`", "run: AutoGen 0.7.5", "2026-11"),
    Row::new("crewai", EmailFormat, "all tools of the server are lost without `email-validator`", "run: CrewAI 1.15.30", "2026-11"),
    Row::new("gemini-cli", Format, REJECTED, "promptfoo#6902", "2026-09"),
    Row::new("gemini-cli", Dialect, REJECTED, "weave router#65", "2026-09"),
];

impl Construct {
    /// Every construct, in the order of the page.
    pub(super) const ALL: &'static [Self] = &[
        NameLength,
        ToolCount,
        DescriptionLength,
        InstructionsLength,
        CallTime,
        AnswerLength,
        BesideData,
        EmbeddedResource,
        Audio,
        TopLevelChoice,
        NoProperties,
        PropertyName,
        HiddenArgument,
        HiddenMember,
        NoItems,
        TypeList,
        Reference,
        ExclusiveBound,
        ExclusiveFlag,
        AdditionalSchema,
        Untyped,
        NumberEnum,
        EmailFormat,
        Format,
        Dialect,
    ];

    /// What it is, as the beginning of a message and in the page.
    pub(super) const fn what(self) -> &'static str {
        match self {
            NameLength => "the tool's name is too long",
            ToolCount => "the app lists too many tools",
            DescriptionLength => "the tool's `description` is too long",
            InstructionsLength => "`instructions` are too long",
            CallTime => "`limits.timeout` is longer than clients wait",
            AnswerLength => "`limits.output` allows more than clients take",
            BesideData => "the result has a block beside structured content",
            EmbeddedResource => "the result contains a resource or a link to one",
            Audio => "the result contains audio",
            TopLevelChoice => "`anyOf`, `oneOf` or `allOf` at the top of the schema",
            NoProperties => "`properties` is missing at the top of the schema",
            PropertyName => "the property's name has other characters than letters, digits, `_`, `.` and `-`, or more than 64",
            HiddenArgument => "the argument's name begins with `_`",
            HiddenMember => "the member's name begins with `_`",
            NoItems => "`items` is missing in the schema of a list",
            TypeList => "`type` is a list",
            Reference => "`$ref` refers to another schema",
            ExclusiveBound => "an exclusive bound",
            ExclusiveFlag => "an exclusive bound as a truth value",
            AdditionalSchema => "`additionalProperties` has a schema",
            Untyped => "`type` is missing in the schema of a property",
            NumberEnum => "`enum` lists numbers",
            EmailFormat => "`format` is `email`",
            Format => "`format` is not `date-time`",
            Dialect => "`$schema` names the dialect",
        }
    }

    /// What to write instead.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            NameLength => "Set a shorter `name`, or shorten the app's.",
            ToolCount => "Have clients find tools with `tools: { expose: search }`, or split the app.",
            DescriptionLength => "Say first what the tool does and when to use it. Move details to `instructions` or to a prompt.",
            InstructionsLength => "Keep what every call needs. Move the rest to descriptions and prompts.",
            CallTime => "Set 55 seconds at most, or let one tool start the work and another ask how far it is.",
            AnswerLength => "Lower it, and let callers page or filter what they ask for.",
            BesideData => "Put what models need into the data, or remove `output` and `returns`.",
            EmbeddedResource => "Give the content as text or data, too.",
            Audio => "Give a text as well, and offer the sound by a tool of its own.",
            TopLevelChoice => "Write one object with all properties, and say in descriptions which belong together.",
            NoProperties => "Write `properties: {}` for an object without any.",
            PropertyName => "Rename the property: letters, digits, `_`, `.` and `-`, 64 at most.",
            HiddenArgument | HiddenMember => "Begin the name with a letter.",
            NoItems => "Write `items` with the schema of an element, such as `items: { type: string }`.",
            TypeList => {
                "Write `anyOf: [{ type: string }, { type: \"null\" }]`; for an input that may be missing, one type, and leave it out of `required`."
            }
            Reference => "Write the schema out where it is used.",
            ExclusiveBound => "Write `minimum` or `maximum`: for whole numbers, the next one.",
            ExclusiveFlag => "Write `minimum` or `maximum` alone.",
            AdditionalSchema => "Declare the properties, or take a list of objects with a name and a value.",
            Untyped => "Write its type, or `anyOf` with the types that it may have.",
            NumberEnum => "List texts, or write `type: integer` with `minimum` and `maximum`.",
            EmailFormat | Format => "Leave `format` out, and describe the form in `description`.",
            Dialect => "Leave `$schema` out: it is 2020-12 without it, too.",
        }
    }
}

/// What happens in which clients: "the tool is dropped in A and B; calls are rejected in C".
pub(super) fn costs(rows: &[&Row], detail: impl Fn(&Row) -> String) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for row in rows {
        let name = CLIENTS.iter().find(|client| client.id == row.client).map_or(row.client, |client| client.name);
        let key = format!("{} in {{}}{}", row.happens, detail(row));
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, names)) => names.push(name),
            None => groups.push((key, vec![name])),
        }
    }
    // The names are no code.
    let said = groups.iter().map(|(key, names)| key.replacen("{}", &all_of(names).replace('`', ""), 1));
    said.collect::<Vec<_>>().join("; ")
}
