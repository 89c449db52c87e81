//! `app/tools/**/config.yaml`: the tools.

use std::{collections::BTreeMap, ops::Range, rc::Rc};

use millrace_core::app::{Access, Auth, Errors, Execute, Input, Middleware, Part, Root, ScriptRef, Tool};

use crate::{
    adapter::Adapters,
    app_settings::RootSettings,
    auth::AUTH,
    clients,
    compiler::{Compiler, Located},
    context::{self, CONTEXT, ContextBlock},
    descriptor::{self, ToolEntry},
    field::{Field, Record, Shape},
    identity,
    input::{DeclaredInput, INPUT},
    lock,
    middleware::{self, MIDDLEWARE},
    names::{from_path, is_name, meant},
    portable::{as_sent, of_result},
    presenter::{Presenters, RETURNS, Returned},
    root::{EXPOSE, STYLE, SUBSTITUTION, error_style, expose},
    scope::{ContextShape, PathScope, ToolScope},
    setting::{FolderSettings, Folders, LIMITS, LimitSettings, default_output},
    source::Source,
    statement::effect,
    sync::{self, SyncSettings, SyncedTool, TOOL_SYNC, epochs::AllSettings},
    tool_use::Tools,
    tree::{Item, is_config, parent},
    yaml::{Document, Node},
};

mod beside;
mod cache;
mod execute;
mod hidden;
pub(crate) mod hints;
mod idempotency;
mod locked;
mod prepare;
mod reader;
mod rules;
mod schemas;
mod tenant;
mod too_many;
mod transaction;

use hints::{Facts, Hints, title_of};
use reader::ToolReader;

/// `app/tools/**/config.yaml`
pub(crate) static TOOL: Record = Record {
    name: "tool",
    noun: "a tool",
    doc: "One tool: a statement for an adapter, or a script.",
    fields: &[
        Field::new("name", Shape::Text, "The name that clients call; without it, the folders' names joined by `-`."),
        Field::new("description", Shape::Text, "What it does and when to use it, for the model."),
        Field::new(
            "kind",
            Shape::Word(&["query", "mutation", "action"], &[]),
            "`query` only reads, `mutation` changes data, `action` does anything. Clients see it as annotations. Of a statement that the build does \
             not understand, `query` decides that it reads: PostgreSQL and MySQL then refuse it if it writes.",
        )
        .default("query if the statement only reads, else action"),
        Field::new("annotations", Shape::Record(&ANNOTATIONS), "Hints for MCP clients, beside what is known of the tool; one that contradicts that is an error."),
        Field::new("icons", Shape::List(&Shape::Record(&identity::ICON)), "Icons of the tool."),
        Field::new("tags", Shape::List(&Shape::Text), "Words that group the tools."),
        Field::new("use", Shape::Text, "The adapter that runs `statement` or `transaction`."),
        Field::new(
            "statement",
            Shape::OneOf(&[Shape::Text, Shape::Map(&Shape::Any)]),
            "The statement, with placeholders: `{{ inputs.id }}`. For `mongodb` a map, the command as a document: `find: users`; for `postgrest` a map, the request: `from: users`.",
        ).filled(),
        Field::new(
            "transaction",
            Shape::List(&Shape::Record(&transaction::STEP)),
            "Several statements instead of one, in order: all of them take effect, or none.",
        ),
        Field::new("result", Shape::Text, "The step of `transaction` whose result is the tool's.")
            .default("the last one that returns rows"),
        Field::new(
            "on_too_many",
            Shape::Word(&["error", "cut"], &[]),
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
        ).filled(),
        Field::new("mappers", Shape::Record(&MAPPERS), "Scripts that change what goes in and comes out."),
        Field::new("auth", Shape::Record(&AUTH), "Who may call."),
        Field::new("tenant", Shape::Record(&tenant::TOOL_TENANT), "Opts the tool out of what the `tenant` of its adapter demands."),
        Field::new("cache", Shape::Record(&CACHE), "The cache of a tool that only reads: one with such a statement, or a handler with `kind: query`."),
        Field::new(
            "idempotency",
            Shape::Record(&idempotency::IDEMPOTENCY),
            "What makes a call the same as an earlier one, whose answer it then gets, so that a call that is sent again happens once.",
        ),
        Field::new("errors", Shape::Record(&TOOL_ERRORS), "How failures are reported, and which results are failures."),
        Field::new("limits", Shape::Record(&LIMITS), "The limits of a call."),
        Field::new("context", Shape::Record(&CONTEXT), "What a call knows, beside what the root and the folders say."),
        Field::new("middleware", MIDDLEWARE, "What runs before the tool, after what the root and the folders say."),
        Field::new(
            "returns",
            Shape::OneOf(&[Shape::Text, Shape::Record(&RETURNS)]),
            "The presenter of the result: its file's name, or a map. Clients see its schema as `outputSchema`.",
        ),
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
            .default("input.ts or *input*validator*.ts in the folder"),
        Field::new("output", Shape::Text, "Gets the result, returns a new one.").default("output.ts or *data*mapper*.ts in the folder"),
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
            Shape::Word(&["public", "principal"], &[]),
            "Who shares a result: everyone, or callers with the same principal.",
        )
        .default("principal if the tool has auth, else public"),
        Field::new(
            "key",
            Shape::Text,
            "Of a tool with a handler: what calls with the same result have in common, with placeholders: `{{ inputs.city }}`. What a caller's \
             `ctx` and connections have is always a part of it.",
        )
        .filled()
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

/// A name of a tool that must be there once all are known.
struct ToolReference {
    source: Rc<Source>,
    range: Range<usize>,
    name: String,
}

/// Reads every tool.
pub(crate) fn read_all(compiler: &mut Compiler<'_>, root: &RootSettings, adapters: &mut Adapters, presenters: &mut Presenters) -> Tools {
    compiler.lock = locked::read(compiler);
    let files = compiler.tree.walk(&root.tools_folder);
    let folders = Folders::read(compiler, &files);
    let mut tools: Vec<Tool> = Vec::new();
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    let mut wanted = Vec::new();
    let mut sync = AllSettings::new();
    let mut configured: Option<&str> = None;
    let mut neighbours: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in &files {
        neighbours.entry(parent(&file.path)).or_default().push(file.name.clone());
    }
    for file in files.iter().filter(|file| is_config(&file.name)) {
        let folder = parent(&file.path);
        if configured == Some(folder) {
            let source = Source::new(file.path.as_str(), "");
            compiler.findings.error(&source, 0..0, "the folder has two files of a tool", "Keep one `config.yaml`.");
            continue;
        }
        configured = Some(folder);
        let outer = folders.of(folder).cloned().unwrap_or_default();
        let names: Vec<String> = files.iter().filter(|other| parent(&other.path) == folder).map(|other| other.name.clone()).collect();
        if let Some((tool, settings)) =
            read(compiler, file, &names, (root, &outer), (&mut *adapters, &mut *presenters), &mut places, &mut wanted)
        {
            sync.insert(tool.name.clone(), settings);
            tools.push(tool);
        }
    }
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

fn read(
    compiler: &mut Compiler<'_>,
    file: &Item,
    files: &[String],
    (root, outer): (&RootSettings, &FolderSettings),
    (adapters, presenters): (&mut Adapters, &mut Presenters),
    places: &mut BTreeMap<String, String>,
    wanted: &mut Vec<ToolReference>,
) -> Option<(Tool, SyncSettings)> {
    let folder = parent(&file.path);
    let path = folder.strip_prefix(&root.tools_folder).unwrap_or(folder).trim_start_matches('/').to_owned();
    let Some(document) = compiler.document(&file.path, &TOOL) else {
        // Others that name it are right to do so.
        places.entry(from_path(&path)).or_insert_with(|| format!("{}:1:1", file.path));
        return None;
    };
    let name = named(compiler, &document, &path, places);
    let reading = ToolReader { document: &document, name: &name, folder, files, root, outer };
    let node = &document.root;
    let mut declared = compiler.inputs(&document, node.at("inputs"));
    let mut inputs: Vec<Input> = declared.iter().map(|declared| declared.input.clone()).collect();
    let crosses_tenants = tenant::read(compiler, &reading);
    let (execute, tables) = execute::read(compiler, &reading, &inputs, adapters, crosses_tenants).unzip();
    if let Some(execute) = &execute {
        need_names(execute, &mut declared, &mut inputs);
    }
    let mut input_schema = schemas::inputs(compiler, &reading, execute.as_ref());
    let (output, as_is) = schemas::output(compiler, &reading);
    let icons = identity::icons(compiler, &document, node.at("icons"), false);
    let mappers = node.at("mappers");
    let map_input = mapper(compiler, &reading, mappers, "input", |stem| stem.contains("input") && stem.contains("validator"));
    let map_output = mapper(compiler, &reading, mappers, "output", |stem| stem.contains("data") && stem.contains("mapper"));
    let auth = auth(compiler, &reading);
    if let Some(execute) = &execute {
        execute::check_session(compiler, &reading, execute, auth.as_ref(), adapters);
        tenant::check(compiler, &reading, execute, adapters);
    }
    // What an output mapper gives is its own affair.
    let results = if map_output.is_some() || compiler.imported { None } else { execute.as_ref() };
    // A schema that is wrong says nothing of the inputs.
    let schema = input_schema.as_ref().or_else(|| node.entry("json_schema").map(|_| &serde_json::Value::Null));
    let mut shape = ContextShape::default();
    let nothing = ContextShape::default();
    let scope = ToolScope { inputs: &inputs, schema, auth: auth.as_ref(), env: &root.env, context: &nothing, execute: results };
    let blocks: Vec<ContextBlock> = root.context.iter().chain(&outer.context).cloned().chain(ContextBlock::of(&document)).collect();
    let context = context::read(compiler, &blocks, &scope, &mut shape);
    let blocks: Vec<ContextBlock> = root.middleware.iter().chain(&outer.middleware).cloned().chain(middleware::block(&document)).collect();
    let middleware = middleware::read(compiler, &blocks, &scope, &mut shape, adapters);
    let scope = ToolScope { context: &shape, ..scope };
    execute::check_paths(compiler, &reading, &scope.of_statement(), &["ctx", "auth"]);
    let confirm = node.at("confirm").map(|node| compiler.message(&document, node, &scope.of_confirm()));
    let scope_of_key = scope.of_confirm();
    let errors = errors(compiler, &reading, &scope.of_rules(), wanted);
    let rows = execute.as_ref().is_some_and(|execute| execute.gives_rows(map_output.is_some()));
    let returned = presenters.returns(compiler, &document, &name, &declared, input_schema.as_ref(), rows);
    let locked = execute.as_ref().and_then(|execute| locked::of_tool(compiler, &reading, execute));
    let mut output = output;
    let mut advertised = output.clone().map(as_sent);
    if document.root.at("output").is_none() && map_output.is_none() && !compiler.imported {
        output = locked.as_deref().map(lock::schema);
        advertised = output.as_ref().map(of_result);
        // A presenter has names of its own.
        if returned.is_none() {
            locked::check_names(compiler, &reading, locked.as_deref().unwrap_or_default());
        }
    }
    if let Some(returned) = &returned {
        // A presenter holds the result to its schema itself.
        (output, advertised) = (None, returned.schema.clone().map(as_sent));
        compiler.presented.extend(returned.schema.clone().map(|schema| (name.clone(), schema)));
    }
    let limits = LimitSettings::read(compiler, &document, node.at("limits")).or(&outer.limits).or(&root.limits);
    let limits = limits.resolve(compiler, &name, &scope, advertised.is_some());
    let execute = execute?;
    let reads = execute.access().is_some_and(Access::reads);
    let kind = kind(compiler, &reading, &execute, reads);
    let on_too_many = too_many::read(compiler, &reading, &execute);
    let cache = cache::read(compiler, &reading, (&execute, kind), auth.as_ref(), &scope_of_key);
    let idempotency = idempotency::read(compiler, &reading, &scope_of_key, &inputs, &execute, kind, adapters);
    let tables = tables.flatten();
    let used = execute.adapter().and_then(|adapter| adapters.list.get(adapter as usize));
    let language = used.and_then(|adapter| millrace_catalogue::find(&adapter.connector)).map(|connector| connector.language);
    let effect = effect(&execute, tables.as_ref(), language);
    let synced = SyncedTool {
        document: &document,
        name: &name,
        path: &path,
        kind,
        execute: &execute,
        tables,
        is_cached: cache.is_some(),
        repeats: idempotency.is_some(),
    };
    let sync = sync::read(compiler, &root.sync, synced, adapters);
    let beside = || {
        let mappers = map_input.iter().chain(&map_output);
        mappers.chain(context.factories()).chain(middleware.iter().flat_map(Middleware::scripts))
    };
    let runs_scripts = matches!(execute, Execute::Script(_)) || beside().next().is_some();
    let scripts_write = beside::may_write(compiler, &adapters.list, !root.fetch_allow.is_empty(), beside());
    let mut inputs = inputs;
    let mut returns = None;
    if let Some(Returned { place, schema: _, inputs: added }) = returned {
        if map_output.is_none() {
            hidden::check(compiler, &reading, &execute, (presenters, place), adapters);
        }
        let presented = node.at("returns").map(|returns| document.source.place(returns.range.start)).unwrap_or_default();
        compiler.origin(&name, "returns", presenters.list.get(place as usize).map_or("", |presenter| &presenter.name), presented);
        schemas::add_properties(input_schema.as_mut(), &added);
        inputs.extend(added.iter().map(|added| added.input.clone()));
        declared.extend(added);
        returns = Some(place);
    }
    let stays_inside = !runs_scripts || root.fetch_allow.is_empty();
    let facts = Facts {
        kind,
        says_kind: node.at("kind").is_some(),
        effect,
        repeats: idempotency.is_some(),
        stays_inside,
        scripts_write,
        changes_nothing: effect.is_none() && stays_inside && adapters.list.iter().all(|adapter| adapter.read_only),
    };
    let looks = ListedParts {
        declared: &declared,
        facts,
        tag: sync.tag().unwrap_or_default(),
        input_schema: input_schema.as_ref(),
        output: advertised.as_ref(),
        // What a client shows is raised with the limit.
        shows: (limits.output_bytes > default_output(advertised.is_some())).then_some(limits.output_bytes),
        icons,
    };
    let descriptor = describe(compiler, &reading, looks);
    let (input_schema, output) = (input_schema.map(|schema| schema.to_string()), output.map(|schema| schema.to_string()));
    let tool = Tool {
        descriptor,
        listed: true,
        auth,
        context,
        middleware,
        inputs,
        map_input,
        execute,
        map_output,
        cache,
        errors,
        limits,
        crosses_tenants,
        on_too_many,
        results_as_rows: compiler.imported,
        input_schema,
        confirm,
        output,
        as_is,
        returns,
        idempotency,
        sync: None,
        name,
        path,
    };
    clients::check_tool(compiler, &document, root, &tool);
    compiler.tool_files.insert(tool.name.clone(), file.path.clone());
    Some((tool, sync))
}

/// Gives the lists of which a statement takes its names an element at least: it would say nothing where its names stand.
fn need_names(execute: &Execute, declared: &mut [DeclaredInput], inputs: &mut [Input]) {
    let is_named = |part: &Part, input: &str| match part {
        Part::ChoiceEach { source, .. } => source.root == Root::Inputs && matches!(source.path.as_slice(), [name] if name == input),
        _ => false,
    };
    for (declared, input) in declared.iter_mut().zip(inputs) {
        let names = execute.statements().flat_map(|statement| &statement.parts).any(|part| is_named(part, &input.name));
        if names && input.min.is_none_or(|min| min < 1.0) {
            (declared.input.min, input.min) = (Some(1.0), Some(1.0));
            declared.schema["minItems"] = 1.into();
        }
    }
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

fn mapper(
    compiler: &mut Compiler<'_>,
    reading: &ToolReader<'_>,
    mappers: Option<&Node>,
    key: &str,
    fits: impl Fn(&str) -> bool,
) -> Option<ScriptRef> {
    if let Some(node) = mappers.and_then(|mappers| mappers.at(key)) {
        let place = reading.document.source.place(node.range.start);
        compiler.origin(reading.name, &format!("mappers.{key}"), node.text().unwrap_or_default(), place);
        return compiler.script(reading.document, node, reading.folder);
    }
    let path = format!("{}/{}", reading.folder, crate::link::by_convention(reading.files, key, fits)?);
    compiler.origin(reading.name, &format!("mappers.{key}"), path.as_str(), format!("{path}:1:1"));
    compiler.conventional_script(&path)
}

fn auth(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>) -> Option<Auth> {
    let document = reading.document;
    let own = document.root.at("auth").map(|node| Located::at(compiler.auth(document, node), document, node));
    let placed = match own {
        Some(own) => own,
        None => match reading.outer.auth.clone().or_else(|| reading.root.auth.clone()) {
            Some(inherited) => inherited,
            None => {
                compiler.origin(reading.name, "auth.plugin", "none", "default");
                return None;
            }
        },
    };
    let word = match &placed.value {
        Auth::AllowAll => "allow_all".to_owned(),
        Auth::ApiKey(_) => "api_key".to_owned(),
        Auth::Script { script, .. } => format!("script #{}", script.export),
        Auth::Jwt(policy) => policy.plugin.clone(),
        Auth::Any(_) => "any".to_owned(),
    };
    compiler.origin(reading.name, "auth.plugin", word, placed.place);
    Some(placed.value)
}

fn errors(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, scope: &PathScope, wanted: &mut Vec<ToolReference>) -> Errors {
    let nothing = Node::nothing();
    let node = reading.document.root.at("errors").unwrap_or(&nothing);
    let style = error_style(reading.document, node, reading.root.error_style.clone());
    let exposed = expose(reading.document, node, reading.root.expose.clone());
    let word = match style.value {
        millrace_core::app::ErrorStyle::Result => "result",
        millrace_core::app::ErrorStyle::Protocol => "protocol",
    };
    compiler.origin(reading.name, "errors.style", word, style.place);
    compiler.origin(reading.name, "errors.expose", if exposed.value { "full" } else { "safe" }, exposed.place);
    let mut on = Vec::new();
    for rule in node.at("on").map(Node::items).unwrap_or_default() {
        on.extend(rules::read(compiler, reading.document, rule, scope));
        for action in rule.at("actions").map(Node::items).unwrap_or_default() {
            let Some(name) = action.text() else { continue };
            wanted.push(ToolReference { source: Rc::clone(&reading.document.source), range: action.range.clone(), name: name.to_owned() });
        }
    }
    Errors { style: style.value, expose: exposed.value, on }
}

/// `kind`, which decides the annotations and whether there is a cache.
fn kind(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, execute: &Execute, reads: bool) -> &'static str {
    let Some(node) = reading.document.root.at("kind") else {
        let kind = if reads { "query" } else { "action" };
        compiler.origin(reading.name, "kind", kind, "default");
        return kind;
    };
    let kind = match node.text() {
        Some("query") => "query",
        Some("mutation") => "mutation",
        _ => "action",
    };
    if kind == "query" && execute.access() == Some(Access::Write) {
        let message = "`kind: query` says that the tool only reads, but what it runs writes, or may write";
        compiler.warning(reading.document, node.range.clone(), message, "Use `mutation` or `action`.");
    }
    compiler.origin(reading.name, "kind", kind, reading.document.source.place(node.range.start));
    kind
}

/// What clients see of a tool, beside what its file says of itself.
struct ListedParts<'a> {
    declared: &'a [DeclaredInput],
    facts: Facts<'a>,
    /// What the description ends with.
    tag: &'a str,
    input_schema: Option<&'a serde_json::Value>,
    output: Option<&'a serde_json::Value>,
    /// The longest result, in bytes, where the author allows more than clients show by default.
    shows: Option<u32>,
    icons: Vec<serde_json::Value>,
}

fn describe(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, looks: ListedParts<'_>) -> String {
    let node = &reading.document.root;
    let description = node.text_at("description").map(str::trim).filter(|text| !text.is_empty());
    let fallback = format!("Tool generated from app tool: {}", reading.name);
    if description.is_none() && !compiler.imported {
        let help = "Describe what the tool does and when to use it; models choose by that.";
        compiler.warning(reading.document, 0..0, format!("the tool `{}` has no `description`", reading.name), help);
    }
    let tags =
        node.at("tags").map(|tags| Located::at(node.texts_at("tags"), reading.document, tags)).or_else(|| reading.outer.tags.clone());
    if let Some(tags) = &tags {
        compiler.origin(reading.name, "tags", tags.value.join(", "), tags.place.as_str());
    }
    let nothing = Node::nothing();
    let annotations = node.at("annotations").unwrap_or(&nothing);
    for (hint, severity, message, help) in hints::contradictions(annotations, &looks.facts) {
        let range = annotations.at(hint).map_or(0..0, |node| node.range.clone());
        compiler.findings.report(severity, &reading.document.source, range, message.to_owned(), help.to_owned());
    }
    let title = annotations.text_at("title").map(str::trim).filter(|title| !title.is_empty());
    let own_title = title.map(|title| ("title".to_owned(), title.into()));
    let title = title.map_or_else(|| title_of(reading.name), str::to_owned);
    descriptor::tool(&ToolEntry {
        name: reading.name,
        title: &title,
        description: &format!("{}{}", description.unwrap_or(&fallback), looks.tag),
        inputs: looks.declared,
        input_schema: looks.input_schema,
        output_schema: looks.output,
        icons: looks.icons,
        annotations: own_title.into_iter().chain(Hints::of(&looks.facts, annotations).members()).collect(),
        tags: &tags.map(|tags| tags.value).unwrap_or_default(),
        shows: looks.shows,
    })
}
