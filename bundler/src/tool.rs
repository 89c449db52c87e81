//! `app/tools/**/config.yaml`: the tools.

use std::collections::BTreeMap;

use millrace_core::app::Tool;

use crate::{
    adapter::Adapters,
    app_settings::RootSettings,
    auth::AUTH,
    compiler::Compiler,
    context::CONTEXT,
    field::{Field, Named, Record, Shape},
    identity,
    input::INPUT,
    middleware::MIDDLEWARE,
    names::{from_path, is_name, meant},
    presenter::{Presenters, RETURNS},
    root::{EXPOSE, STYLE, SUBSTITUTION},
    scope::{IN_CALL, IN_STATEMENT},
    setting::{FolderSettings, Folders, LIMITS},
    source::Source,
    statement::PAGE,
    sync::{SyncSettings, TOOL_SYNC, epochs::AllSettings},
    tool_use::Tools,
    tree::{Item, is_config, parent},
    yaml::{Document, Node},
};

mod beside;
mod cache;
mod convention;
pub(crate) mod described;
mod draft;
mod execute;
mod hidden;
pub(crate) mod hints;
mod idempotency;
mod lock_entry;
mod prepare;
mod reader;
mod rules;
mod scan;
mod schemas;
mod tenant;
mod too_many;
mod transaction;

use reader::{AppParts, ToolReader};

/// `app/tools/**/config.yaml`
pub(crate) static TOOL: Record = Record {
    name: "tool",
    noun: "a tool",
    doc: "One tool: a statement for an adapter, or a script.",
    fields: &[
        Field::new("name", Shape::Text, "The name that clients call; without it, the folders' names in lower case, joined by `-`, with `-` for other characters than letters, digits, `_` and `-`."),
        Field::new("description", Shape::Text, "What it does and when to use it, for the model."),
        Field::new(
            "kind",
            Shape::Word(&["query", "mutation", "action"]),
            "`query` only reads, `mutation` changes data, `action` does anything. Clients see it as annotations. Of a statement that the build does \
             not understand, `query` decides that it reads: PostgreSQL and MySQL then refuse it if it writes.",
        )
        .default("query if the statement only reads, else action"),
        Field::new("annotations", Shape::Record(&ANNOTATIONS), "Hints for MCP clients, beside what is known of the tool; one that contradicts that is an error."),
        Field::new("icons", Shape::List(&Shape::Record(&identity::ICON)), "Icons of the tool."),
        Field::new("tags", Shape::List(&Shape::Text), "Words that group the tools."),
        Field::new("use", Shape::Text, "The adapter that runs `statement`, `transaction` or `request`.").names(Named::Adapter),
        Field::new(
            "statement",
            Shape::OneOf(&[Shape::Text, Shape::Map(&Shape::Any)]),
            "The statement, with placeholders: `{{ inputs.id }}`. For `mongodb` a map, the command as a document: `find: users`; for `postgrest` a map, the request: `from: users`.",
        ).sees(IN_STATEMENT),
        Field::new(
            "transaction",
            Shape::List(&Shape::Record(&transaction::STEP)),
            "Several statements instead of one, in order: all of them take effect, or none.",
        ),
        Field::new(
            "request",
            Shape::Text,
            "The request that the adapter of connector `http` sends, with placeholders: `GET /orders/{{ inputs.id }}?status={{ inputs.status }}`. \
             A value is one segment of the path or a part of one, or the value of a field; a field without a value is left out. `| csv` joins \
             the elements of a list by commas.",
        )
        .sees(IN_STATEMENT),
        Field::new("headers", Shape::Map(&Shape::Scalar), "Header fields of `request`, by name. One without a value is left out.").sees(IN_STATEMENT),
        Field::new("body", Shape::Any, "The body of `request`, sent as JSON. A member without a value is left out.").sees(IN_STATEMENT),
        Field::new(
            "form",
            Shape::Map(&Shape::OneOf(&[Shape::Scalar, Shape::List(&Shape::Scalar)])),
            "The body of `request` as fields of a form, instead of `body`. A field without a value is left out.",
        )
        .sees(IN_STATEMENT),
        Field::new(
            "result",
            Shape::Text,
            "With `transaction`, the step whose result is the tool's. With `request`, the part of the answer that is: a JSON Pointer, \
             `/data/items`, or an expression of JMESPath.",
        )
        .default("the last step that returns rows; the whole answer"),
        Field::new("page", Shape::Record(&PAGE), "How the pages after the first answer to `request` are found; their lists are joined."),
        Field::new("reads", Shape::Bool, "Whether a `request` with the method `POST` only reads, as a search does.").default("false"),
        Field::new(
            "on_too_many",
            Shape::Word(&["error", "cut"]),
            "What becomes of a result with more rows than `max_rows` of the adapter. `error`: the call fails. `cut`: the first rows are the result, \
             and it says that there are more; only for a statement that only reads.",
        )
        .default("error"),
        Field::new("substitution", SUBSTITUTION, "As in the root file, for this tool."),
        Field::new(
            "handler",
            Shape::Text,
            "The script that does the work, instead of `use`: `./handler.ts`, with `#name` for a named export.",
        )
        .names(Named::Script)
        .default("handler.ts in the folder"),
        Field::new("inputs", Shape::Map(&Shape::Record(&INPUT)), "What the tool takes, by name. Anything else is refused."),
        Field::new(
            "json_schema",
            Shape::Any,
            "The JSON Schema of the arguments, instead of `inputs`, for a tool with a handler. Clients see it as it is, with `properties` where it has none.",
        ),
        Field::new(
            "confirm",
            Shape::Text,
            "What the user is asked before the tool does anything, with placeholders: `Cancel order {{ inputs.id }}?`.",
        ).sees(IN_CALL),
        Field::new("mappers", Shape::Record(&MAPPERS), "Scripts that change what goes in and comes out."),
        Field::new("auth", Shape::Record(&AUTH), "Who may call."),
        Field::new("tenant", Shape::Record(&tenant::TOOL_TENANT), "Opts the tool out of what the `tenant` of its adapter demands."),
        Field::new("scan", Shape::Record(&scan::SCAN), "Allows the tool's statements to read all rows of a large table."),
        Field::new("checks", Shape::Record(&described::CHECKS), "The rules for descriptions that `millrace check` does not apply to the tool, each with the reason."),
        Field::new("cache", Shape::Record(&CACHE), "The cache of a tool that only reads: one with such a statement, or a handler with `kind: query`."),
        Field::new(
            "idempotency",
            Shape::Record(&idempotency::IDEMPOTENCY),
            "What makes a call the same as an earlier one, whose answer it then gets, so that a call that is sent again happens once.",
        ),
        Field::new("errors", Shape::Record(&TOOL_ERRORS), "How failures are reported, and which results are failures."),
        Field::new("limits", Shape::Record(&LIMITS), "The limits of a call."),
        Field::new("context", Shape::Record(&CONTEXT), "What a call knows, beside what the root and the folders say."),
        Field::new("middleware", MIDDLEWARE, "What runs before the tool, after what the root and the folders say.").names(Named::Script),
        Field::new(
            "returns",
            Shape::OneOf(&[Shape::Text, Shape::Record(&RETURNS)]),
            "The presenter of the result: its file's name, or a map. Clients see its schema as `outputSchema`.",
        )
        .names(Named::Presenter),
        Field::new(
            "output",
            Shape::Any,
            "The JSON Schema of the result: clients see it as `outputSchema`, and every result must match it.",
        ),
        Field::new("sync", Shape::Record(&TOOL_SYNC), "Which cached results a call makes stale, and what clients may keep."),
    ],
};

static ANNOTATIONS: Record = Record {
    name: "annotations",
    noun: "`annotations`",
    doc: "Hints for MCP clients.",
    fields: &[
        Field::new("title", Shape::Text, "A display name.").default("made of the name: `get-user` is `Get user`"),
        Field::new("readOnlyHint", Shape::Bool, "It changes nothing.").default("what is known"),
        Field::new("destructiveHint", Shape::Bool, "It may change or remove what is there.").default("what is known"),
        Field::new("idempotentHint", Shape::Bool, "A second call with the same inputs has no further effect.").default("what is known"),
        Field::new("openWorldHint", Shape::Bool, "It interacts with systems outside the app's own data.").default("what is known"),
    ],
};

static MAPPERS: Record = Record {
    name: "mappers",
    noun: "`mappers`",
    doc: "Scripts that change what goes in and comes out.",
    fields: &[
        Field::new("input", Shape::Text, "Gets the inputs, returns new ones, before they are checked.")
            .names(Named::Script)
            .default("input.ts or *input*validator*.ts in the folder"),
        Field::new("output", Shape::Text, "Gets the result, returns a new one.")
            .names(Named::Script)
            .default("output.ts or *data*mapper*.ts in the folder"),
    ],
};

static CACHE: Record = Record {
    name: "cache",
    noun: "`cache`",
    doc: "The cache of a tool that only reads: one with such a statement, or a handler with `kind: query`.",
    fields: &[
        Field::new("enabled", Shape::Bool, "Whether results are cached.").default("true if the tool has a `cache` block, else the root's"),
        Field::new("ttl", Shape::Int(1, 31_536_000), "How long a result is cached, in seconds.").default("the root's"),
        Field::new(
            "scope",
            Shape::Word(&["public", "principal"]),
            "Who shares a result: everyone, or callers with the same principal.",
        )
        .default("principal if the tool has auth, else public"),
        Field::new(
            "key",
            Shape::Text,
            "Of a tool with a handler: what calls with the same result have in common, with placeholders: `{{ inputs.city }}`. What a caller's \
             `ctx` and connections have is always a part of it.",
        )
        .sees(IN_CALL)
        .default("all inputs"),
    ],
};

static TOOL_ERRORS: Record = Record {
    name: "tool_errors",
    noun: "`errors`",
    doc: "How failures are reported, and which results are failures.",
    fields: &[
        Field::new("style", STYLE, "As in the root file, for this tool."),
        Field::new("expose", EXPOSE, "As in the root file, for this tool."),
        Field::new("on", Shape::List(&Shape::Record(&rules::RULE)), "Results that count as failures; the first rule that applies decides."),
    ],
};

/// Reads every tool.
pub(crate) fn read_all(compiler: &mut Compiler<'_>, root: &RootSettings, adapters: &mut Adapters, presenters: &mut Presenters) -> Tools {
    compiler.lock = lock_entry::read(compiler);
    let files = compiler.tree.walk(&root.tools_folder);
    let folders = Folders::read(compiler, &files);
    let mut names: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in &files {
        names.entry(parent(&file.path)).or_default().push(file.name.clone());
    }
    let mut app = AppParts { root, adapters, presenters, places: BTreeMap::new(), wanted: Vec::new(), described: Vec::new() };
    let mut tools: Vec<Tool> = Vec::new();
    let mut sync = AllSettings::new();
    let configs = configs(compiler, &files);
    compiler.documents(
        &configs,
        |file| &file.path,
        &TOOL,
        |compiler, file, document| {
            let folder = parent(&file.path);
            let outer = folders.of(folder).cloned().unwrap_or_default();
            let names = names.get(folder).map(Vec::as_slice).unwrap_or_default();
            if let Some((tool, settings)) = read(compiler, &mut app, document, file, names, &outer) {
                sync.insert(tool.name.clone(), settings);
                tools.push(tool);
            }
        },
    );
    let AppParts { mut places, wanted, described, .. } = app;
    described::same(compiler, &described);
    for action in wanted {
        if !places.contains_key(&action.name) {
            let names: Vec<&str> = places.keys().map(String::as_str).collect();
            let help = meant(&action.name, &names, "The tools are");
            compiler.findings.error(&action.source, action.range, format!("the tool `{}` does not exist", action.name), help);
        }
    }
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    for tool in &tools {
        places.remove(&tool.name);
    }
    Tools { list: tools, broken: places.into_keys().collect(), sync }
}

/// The file of each tool.
fn configs<'a>(compiler: &mut Compiler<'_>, files: &'a [Item]) -> Vec<&'a Item> {
    let mut configs: Vec<&Item> = Vec::new();
    for file in files.iter().filter(|file| is_config(&file.name)) {
        if configs.last().is_some_and(|other| parent(&other.path) == parent(&file.path)) {
            let source = Source::new(file.path.as_str(), "");
            compiler.findings.error(&source, 0..0, "the folder has two files of a tool", "Keep one `config.yaml`.");
        } else {
            configs.push(file);
        }
    }
    configs
}

fn read(
    compiler: &mut Compiler<'_>,
    app: &mut AppParts<'_>,
    document: Option<Document>,
    file: &Item,
    files: &[String],
    outer: &FolderSettings,
) -> Option<(Tool, SyncSettings)> {
    let root = app.root;
    let folder = parent(&file.path);
    let path = folder.strip_prefix(&root.tools_folder).unwrap_or(folder).trim_start_matches('/').to_owned();
    let Some(document) = document else {
        // Others that name it are right to do so.
        app.places.entry(from_path(&path)).or_insert_with(|| format!("{}:1:1", file.path));
        return None;
    };
    let name = named(compiler, &document, &path, &mut app.places);
    let reading = ToolReader { document: &document, name: &name, path: &path, folder, files, root, outer };
    let read = draft::read(compiler, &reading, app)?;
    if !compiler.imported {
        app.described.extend(described::described(&reading));
    }
    compiler.tool_files.insert(name.clone(), file.path.clone());
    Some(read)
}

/// The tool's name, which no other has.
fn named(compiler: &mut Compiler<'_>, document: &Document, path: &str, places: &mut BTreeMap<String, String>) -> String {
    let node = document.root.at("name");
    let name = node.and_then(Node::text).map_or_else(|| from_path(path), String::from);
    let range = node.map_or(0..0, |node| node.range.clone());
    if !is_name(&name) {
        let help = match node {
            Some(_) => "A name begins with a letter; letters, digits, `_` and `-` follow, 128 at most.",
            None => "It comes from the folders' names. Rename them, or set `name`.",
        };
        compiler.error(document, range.clone(), format!("`{name}` is not a valid name for a tool"), help);
    }
    let place = document.source.place(range.start);
    match places.get(&name) {
        Some(other) => {
            let help = format!("The other one is {other}. Give one of them another `name`.");
            compiler.error(document, range, format!("there are two tools `{name}`"), help);
        }
        None => {
            places.insert(name.clone(), place);
        }
    }
    name
}
