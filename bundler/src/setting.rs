//! Settings that a folder hands down to its tools: `_folder.yaml`, and the `limits` of folder and
//! tool.

use std::collections::BTreeMap;

use millrace_core::app::{Auth, BatchLimits, Limits, OnExceed, SHOWN_BYTES, ScriptLimits};

use crate::{
    auth::AUTH,
    compiler::{Compiler, Located},
    context::{CONTEXT, ContextBlock},
    field::{Field, Named, Record, Shape, duration_ms, size_bytes},
    guard::{CONCURRENCY, LimitBlock, RATE},
    middleware::{self, MIDDLEWARE, MiddlewareBlock},
    scope::ToolScope,
    source::Source,
    tree::{is_yaml, parent, stem},
    yaml::{Data, Document, Node},
};

/// `_folder.yaml`
pub(crate) static FOLDER: Record = Record {
    name: "folder",
    noun: "`_folder.yaml`",
    doc: "Settings of every tool in this folder and below it, where neither the tool nor a nearer folder says otherwise.",
    fields: &[
        Field::new("auth", Shape::Record(&AUTH), "Who may call."),
        Field::new("use", Shape::Text, "The adapter of tools that have a `statement` and no `use`.").names(Named::Adapter),
        Field::new("tags", Shape::List(&Shape::Text), "Words that group the tools."),
        Field::new("limits", Shape::Record(&LIMITS), "The limits of a call."),
        Field::new("context", Shape::Record(&CONTEXT), "What every call of these tools knows, beside what the root says."),
        Field::new("middleware", MIDDLEWARE, "What runs before each of these tools, after what the root says.").names(Named::Script),
    ],
};

/// `limits`
pub(crate) static LIMITS: Record = Record {
    name: "limits",
    noun: "`limits`",
    doc: "The limits of a call.",
    fields: &[
        Field::new("timeout", Shape::Duration, "How long one call may take.").default("30s"),
        Field::new("output", Shape::OneOf(&[Shape::Size, Shape::Record(&OUTPUT_LIMIT)]), "The maximum length of a result.").default(SHOWN),
        Field::new("rate", Shape::Record(&RATE), "How often it may be called."),
        Field::new("concurrency", Shape::Record(&CONCURRENCY), "How many of its calls run at a time."),
        Field::new("script", Shape::Record(&SCRIPT_LIMITS), "The limits of scripts."),
    ],
};

static OUTPUT_LIMIT: Record = Record {
    name: "output_limit",
    noun: "`limits.output`",
    doc: "The maximum length of a result, and what becomes of a longer one.",
    fields: &[
        Field::new("max", Shape::Size, "The maximum length.").default(SHOWN),
        Field::new(
            "on_exceed",
            Shape::Word(&["error", "shrink"]),
            "`error`: the call fails. `shrink`: blocks for people are left out, then rows from the end, and the result says so.",
        )
        .default("error if the tool or a folder sets `limits.output`, else shrink"),
    ],
};

/// What every large client shows a model.
const SHOWN: &str = "50000 bytes, or 100000 if the result is sent as structured content, too";

/// `limits` of the root file
pub(crate) static ROOT_LIMITS: Record = Record {
    name: "root_limits",
    noun: "`limits`",
    doc: "The limits of a request, and those of every tool for which neither it nor a folder says otherwise.",
    fields: &[
        Field::new("batch", Shape::Record(&BATCH), "The limits of a batch of messages. Only MCP 2025-03-26 has batches."),
        Field::new("rate", Shape::Record(&RATE), "How often each tool may be called."),
        Field::new("concurrency", Shape::Record(&CONCURRENCY), "How many calls of each tool run at a time."),
    ],
};

static BATCH: Record = Record {
    name: "batch_limits",
    noun: "`limits.batch`",
    doc: "The limits of a batch of messages.",
    fields: &[
        Field::new("messages", Shape::Int(1, 1000), "The maximum number of messages.").default("100"),
        Field::new("timeout", Shape::Duration, "How long the whole batch may take.").default("30s"),
        Field::new("output", Shape::Size, "The maximum length of the answer to the whole batch.").default("8mb"),
    ],
};

static SCRIPT_LIMITS: Record = Record {
    name: "script_limits",
    noun: "`limits.script`",
    doc: "The limits of scripts.",
    fields: &[
        Field::new("loops", Shape::Int(1, i64::MAX), "The work of each script, as rounds of a loop: what is nothing but a loop may go round so often, and built-in functions count, too.").default("1000000"),
        Field::new("recursion", Shape::Int(1, 10_000), "No effect any more: how deep calls may nest is the same for every script."),
        Field::new("memory", Shape::Size, "The maximum memory of the scripts of one call at any time.").default("64mb"),
        Field::new("output", Shape::Size, "The maximum length of a script's result as JSON.").default("1mb"),
    ],
};

/// Reads `limits.batch`.
pub(crate) fn batch(compiler: &mut Compiler<'_>, document: &Document, node: Option<&Node>) -> BatchLimits {
    let default = BatchLimits::default();
    let Some(node) = node else { return default };
    let output = node.at("output").and_then(|node| size_bytes(&node.written(&document.source)?));
    if let (Some(0..1024), Some(node)) = (output, node.at("output")) {
        let help = "It takes at least `1kb`.";
        compiler.error(document, node.range.clone(), "`limits.batch.output` is too small for any answer", help);
    }
    BatchLimits {
        messages: node.at("messages").and_then(whole).and_then(|count| u32::try_from(count).ok()).unwrap_or(default.messages),
        timeout_ms: node.at("timeout").and_then(|node| duration_ms(node.text()?)).unwrap_or(default.timeout_ms),
        output_bytes: output.unwrap_or(default.output_bytes),
    }
}

/// What one file says about limits.
#[derive(Clone, Debug, Default)]
pub(crate) struct LimitSettings {
    timeout_ms: Option<Located<u32>>,
    output_bytes: Option<Located<u32>>,
    on_exceed: Option<Located<OnExceed>>,
    rate: Option<LimitBlock>,
    concurrency: Option<LimitBlock>,
    loops: Option<Located<u64>>,
    memory_bytes: Option<Located<u32>>,
    script_output_bytes: Option<Located<u32>>,
}

impl LimitSettings {
    /// Reads `limits` of the root file, which has few of them.
    pub(crate) fn of_root(document: &Document, node: Option<&Node>) -> Self {
        let block = |name| node.and_then(|node| LimitBlock::of(document, node, name));
        Self { rate: block("rate"), concurrency: block("concurrency"), ..Self::default() }
    }

    /// Reads a `limits` block.
    pub(crate) fn read(compiler: &mut Compiler<'_>, document: &Document, node: Option<&Node>) -> Self {
        let Some(node) = node else { return Self::default() };
        let time = |node: &Node| duration_ms(node.text()?);
        let size = |node: &Node| size_bytes(&node.written(&document.source)?);
        let script = node.at("script");
        let of = |key: &str| script.and_then(|script| script.at(key));
        if let Some(recursion) = script.and_then(|script| script.entry("recursion")) {
            let help = "Remove it: how deep calls may nest is the same for every script.";
            compiler.warning(document, recursion.key_range.clone(), "`limits.script.recursion` has no effect any more", help);
        }
        Self {
            timeout_ms: read(document, node.at("timeout"), time),
            output_bytes: read(document, node.at("output").and_then(|output| output.at("max").or(Some(output))), size),
            on_exceed: read(document, node.at("output").and_then(|output| output.at("on_exceed")), |node| match node.text()? {
                "shrink" => Some(OnExceed::Shrink),
                _ => Some(OnExceed::Error),
            }),
            rate: LimitBlock::of(document, node, "rate"),
            concurrency: LimitBlock::of(document, node, "concurrency"),
            loops: read(document, of("loops"), whole),
            memory_bytes: read(document, of("memory"), size),
            script_output_bytes: read(document, of("output"), size),
        }
    }

    /// These settings, and those of `outer` where these say nothing.
    pub(crate) fn or(self, outer: &Self) -> Self {
        Self {
            timeout_ms: self.timeout_ms.or_else(|| outer.timeout_ms.clone()),
            output_bytes: self.output_bytes.or_else(|| outer.output_bytes.clone()),
            on_exceed: self.on_exceed.or_else(|| outer.on_exceed.clone()),
            rate: self.rate.or_else(|| outer.rate.clone()),
            concurrency: self.concurrency.or_else(|| outer.concurrency.clone()),
            loops: self.loops.or_else(|| outer.loops.clone()),
            memory_bytes: self.memory_bytes.or_else(|| outer.memory_bytes.clone()),
            script_output_bytes: self.script_output_bytes.or_else(|| outer.script_output_bytes.clone()),
        }
    }

    /// The limits of a tool, defaults filled in; notes where each came from. `doubled`: it sends
    /// its data as structured content, too.
    pub(crate) fn resolve(self, compiler: &mut Compiler<'_>, tool: &str, scope: &ToolScope<'_>, doubled: bool) -> Limits {
        let timeout = self.timeout_ms.unwrap_or_else(|| Located::default(30_000));
        let mut on_exceed =
            self.on_exceed.unwrap_or_else(|| Located::default(if self.output_bytes.is_some() { OnExceed::Error } else { OnExceed::Fit }));
        // Without a limit of the author's, what shrinks is treated as it is by default.
        if self.output_bytes.is_none() && on_exceed.value == OnExceed::Shrink {
            on_exceed.value = OnExceed::Fit;
        }
        let output = self.output_bytes.unwrap_or_else(|| Located::default(default_output(doubled)));
        let loops = self.loops.unwrap_or_else(|| Located::default(1_000_000));
        let memory = self.memory_bytes.unwrap_or_else(|| Located::default(64 << 20));
        let script_output = self.script_output_bytes.unwrap_or_else(|| Located::default(1 << 20));
        compiler.origin(tool, "limits.timeout", format!("{} ms", timeout.value), timeout.place);
        compiler.origin(tool, "limits.output", format!("{} bytes", output.value), output.place);
        if on_exceed.value != OnExceed::Error {
            compiler.origin(tool, "limits.output.on_exceed", String::from("shrink"), on_exceed.place);
        }
        let placed = |block: &LimitBlock| block.place();
        let (rate_place, concurrency_place) = (self.rate.as_ref().map(placed), self.concurrency.as_ref().map(placed));
        let rate = self.rate.and_then(|block| block.rate(compiler, scope));
        let concurrency = self.concurrency.and_then(|block| block.concurrency(compiler));
        if let (Some(rate), Some(place)) = (&rate, rate_place) {
            compiler.origin(tool, "limits.rate", rate.to_string(), place);
        }
        if let (Some(concurrency), Some(place)) = (&concurrency, concurrency_place) {
            compiler.origin(tool, "limits.concurrency", concurrency.to_string(), place);
        }
        compiler.origin(tool, "limits.script.loops", loops.value.to_string(), loops.place);
        compiler.origin(tool, "limits.script.memory", format!("{} bytes", memory.value), memory.place);
        compiler.origin(tool, "limits.script.output", format!("{} bytes", script_output.value), script_output.place);
        Limits {
            timeout_ms: timeout.value,
            output_bytes: output.value,
            on_exceed: on_exceed.value,
            rate,
            concurrency,
            script: ScriptLimits { loops: loops.value, memory_bytes: memory.value, output_bytes: script_output.value },
        }
    }
}

/// `limits.output.max` of a tool for which nobody sets it.
pub(crate) const fn default_output(doubled: bool) -> u32 {
    if doubled { 2 * SHOWN_BYTES } else { SHOWN_BYTES }
}

fn read<T>(document: &Document, node: Option<&Node>, value: impl Fn(&Node) -> Option<T>) -> Option<Located<T>> {
    let node = node?;
    Some(Located::at(value(node)?, document, node))
}

fn whole(node: &Node) -> Option<u64> {
    match node.data {
        Data::Int(value) => u64::try_from(value).ok(),
        _ => None,
    }
}

/// What the folders say, by their path.
#[derive(Debug, Default)]
pub(crate) struct Folders(BTreeMap<String, FolderSettings>);

/// What a folder says, with what it inherits.
#[derive(Clone, Debug, Default)]
pub(crate) struct FolderSettings {
    /// `auth`
    pub(crate) auth: Option<Located<Auth>>,
    /// `use`, and the file that says it
    pub(crate) adapter: Option<(Document, Node)>,
    /// `tags`
    pub(crate) tags: Option<Located<Vec<String>>>,
    /// `limits`
    pub(crate) limits: LimitSettings,
    /// `context`, the outermost folder's first
    pub(crate) context: Vec<ContextBlock>,
    /// `middleware`, the outermost folder's first
    pub(crate) middleware: Vec<MiddlewareBlock>,
}

impl Folders {
    /// Reads every `_folder.yaml` among `files`, which come folder before subfolder.
    pub(crate) fn read(compiler: &mut Compiler<'_>, files: &[crate::tree::Item]) -> Self {
        let mut folders = Self::default();
        for file in files.iter().filter(|file| is_yaml(&file.name) && stem(&file.name).eq_ignore_ascii_case("_folder")) {
            let folder = parent(&file.path);
            if folders.0.contains_key(folder) {
                let source = Source::new(file.path.as_str(), "");
                compiler.findings.error(&source, 0..0, "the folder has two files of its settings", "Keep one `_folder.yaml`.");
                continue;
            }
            let Some(document) = compiler.document(&file.path, &FOLDER) else { continue };
            let outer = folders.of(folder).cloned().unwrap_or_default();
            let root = document.root.clone();
            let auth = root.at("auth").map(|node| Located::at(compiler.auth(&document, node), &document, node));
            let tags = root.at("tags").map(|node| Located::at(root.texts_at("tags"), &document, node));
            let limits = LimitSettings::read(compiler, &document, root.at("limits")).or(&outer.limits);
            let adapter = root.at("use").map(|node| (document.clone(), node.clone()));
            let (mut contexts, mut middlewares) = (outer.context, outer.middleware);
            contexts.extend(ContextBlock::of(&document));
            middlewares.extend(middleware::block(&document));
            let settings = FolderSettings {
                auth: auth.or(outer.auth),
                adapter: adapter.or(outer.adapter),
                tags: tags.or(outer.tags),
                limits,
                context: contexts,
                middleware: middlewares,
            };
            folders.0.insert(folder.to_owned(), settings);
        }
        folders
    }

    /// What holds in a folder: what the nearest folder with a `_folder.yaml` says.
    pub(crate) fn of(&self, folder: &str) -> Option<&FolderSettings> {
        let mut folder = folder;
        loop {
            if let Some(settings) = self.0.get(folder) {
                return Some(settings);
            }
            if folder.is_empty() {
                return None;
            }
            folder = parent(folder);
        }
    }
}
