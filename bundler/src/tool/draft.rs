//! A tool while it is read: each step looks at what the steps before it found.

use std::sync::Arc;

use millrace_core::app::{
    Access, Auth, ContextSettings, Errors, Execute, Input, Middleware, Part, RedactedPath, Root, ScriptRef, Template, Tool,
};
use serde_json::Value;

use super::{
    beside, cache,
    convention::{Convention, INPUT, OUTPUT},
    described, execute, hidden,
    hints::{self, Facts, Hints, title_of},
    idempotency, lock_entry,
    reader::{AppParts, ToolReader, ToolReference},
    rules, scan, schemas, tenant, too_many,
};
use crate::{
    adapter::Adapters,
    clients,
    compiler::{Compiler, Located},
    context::{self, ContextBlock},
    descriptor::{self, ToolEntry},
    identity,
    input::DeclaredInput,
    lock, middleware,
    portable::{as_sent, of_result},
    presenter::{Presenters, Returned},
    root::{error_style, expose},
    scope::{ContextShape, PathScope, ToolScope},
    setting::{LimitSettings, default_output},
    statement::{Tables, effect},
    sync::{self, SyncSettings, SyncedTool},
    yaml::Node,
};

/// What a tool takes and does.
struct Draft {
    declared: Vec<DeclaredInput>,
    inputs: Vec<Input>,
    /// `json_schema`, or what is made of the inputs.
    input_schema: Option<Value>,
    crosses_tenants: bool,
    /// `None` where that is wrong, which has been said.
    execute: Option<Execute>,
    tables: Option<Tables>,
    icons: Vec<Value>,
    map_input: Option<ScriptRef>,
    map_output: Option<ScriptRef>,
    auth: Option<Auth>,
}

/// What runs around the work.
struct Around {
    context: ContextSettings,
    middleware: Vec<Middleware>,
    /// What `ctx` has.
    shape: ContextShape,
    confirm: Option<Template>,
    errors: Errors,
}

/// What callers get.
struct Shown {
    /// What every result must match.
    output: Option<Value>,
    as_is: Vec<RedactedPath>,
    /// `outputSchema`
    advertised: Option<Value>,
    returned: Option<Returned>,
}

/// Reads what the file of a tool says. `None` where the tool cannot be built, which has been said.
pub(super) fn read(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, app: &mut AppParts<'_>) -> Option<(Tool, SyncSettings)> {
    let mut draft = Draft::read(compiler, reading, app.adapters);
    let (output, as_is) = schemas::output(compiler, reading);
    draft.read_parts(compiler, reading, app.adapters);
    let mut around = draft.around(compiler, reading, app);
    let shown = draft.shown(compiler, reading, app.presenters, output, as_is);
    let node = &reading.document.root;
    let limits = LimitSettings::read(compiler, reading.document, node.at("limits")).or(&reading.outer.limits).or(&reading.root.limits);
    let scope = draft.scope(compiler, reading, &around.shape);
    let limits = limits.resolve(compiler, reading.name, &scope, shown.advertised.is_some());
    let of_key = scope.of_confirm();
    let execute = draft.execute.take()?;
    middleware::attach(&mut around.middleware, &execute, app.adapters);
    let kind = kind(compiler, reading, &execute);
    described::read(compiler, reading, execute.access());
    let on_too_many = too_many::read(compiler, reading, &execute);
    let cache = cache::read(compiler, reading, &execute, kind, draft.auth.as_ref(), &of_key);
    let idempotency = idempotency::read(compiler, reading, &of_key, &draft.inputs, &execute, kind, app.adapters);
    let synced = SyncedTool {
        document: reading.document,
        name: reading.name,
        path: reading.path,
        kind,
        execute: &execute,
        tables: draft.tables.clone(),
        is_cached: cache.is_some(),
        repeats: idempotency.is_some(),
    };
    let sync = sync::read(compiler, &reading.root.sync, synced, app.adapters);
    let facts = Facts { repeats: idempotency.is_some(), ..draft.facts(compiler, reading, app.adapters, &around, &execute, kind) };
    let returns = shown.returned.and_then(|returned| draft.present(compiler, reading, app, &execute, returned));
    let looks = ListedParts {
        declared: &draft.declared,
        facts,
        tag: sync.tag().unwrap_or_default(),
        input_schema: draft.input_schema.as_ref(),
        output: shown.advertised.as_ref(),
        // What a client shows is raised with the limit.
        shows: (limits.output_bytes > default_output(shown.advertised.is_some())).then_some(limits.output_bytes),
        icons: std::mem::take(&mut draft.icons),
    };
    let tool = Tool {
        descriptor: describe(compiler, reading, looks),
        listed: true,
        auth: draft.auth,
        context: around.context,
        middleware: around.middleware,
        inputs: draft.inputs,
        map_input: draft.map_input,
        execute,
        map_output: draft.map_output,
        cache,
        errors: around.errors,
        limits,
        crosses_tenants: draft.crosses_tenants,
        on_too_many,
        results_as_rows: compiler.imported,
        input_schema: draft.input_schema.map(|schema| schema.to_string()),
        confirm: around.confirm,
        output: shown.output.map(|schema| schema.to_string()),
        as_is: shown.as_is,
        returns,
        idempotency,
        sync: None,
        name: reading.name.to_owned(),
        path: reading.path.to_owned(),
    };
    clients::check_tool(compiler, reading.document, reading.root, &tool);
    Some((tool, sync))
}

impl Draft {
    /// The inputs, the work, and the schema of the arguments.
    fn read(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, adapters: &mut Adapters) -> Self {
        let mut declared = compiler.inputs(reading.document, reading.document.root.at("inputs"));
        let mut inputs: Vec<Input> = declared.iter().map(|declared| declared.input.clone()).collect();
        let crosses_tenants = tenant::read(compiler, reading);
        let (execute, tables) = execute::read(compiler, reading, &inputs, adapters, crosses_tenants).unzip();
        if let Some(execute) = &execute {
            need_names(execute, &mut declared, &mut inputs);
        }
        let input_schema = schemas::inputs(compiler, reading, execute.as_ref());
        Self {
            declared,
            inputs,
            input_schema,
            crosses_tenants,
            execute,
            tables: tables.flatten(),
            icons: Vec::new(),
            map_input: None,
            map_output: None,
            auth: None,
        }
    }

    /// Icons, mappers and who may call.
    fn read_parts(&mut self, compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, adapters: &Adapters) {
        let node = &reading.document.root;
        self.icons = identity::icons(compiler, reading.document, node.at("icons"), false);
        let mappers = node.at("mappers");
        self.map_input = mapper(compiler, reading, mappers, &INPUT);
        self.map_output = mapper(compiler, reading, mappers, &OUTPUT);
        self.auth = auth(compiler, reading);
        if let Some(execute) = &self.execute {
            execute::check_session(compiler, reading, execute, self.auth.as_ref(), adapters);
            tenant::check(compiler, reading, execute, adapters);
            scan::read(compiler, reading, execute, adapters);
        }
    }

    /// What paths lead to.
    fn scope<'a>(&'a self, compiler: &Compiler<'_>, reading: &ToolReader<'a>, context: &'a ContextShape) -> ToolScope<'a> {
        // What an output mapper gives is its own affair.
        let results = if self.map_output.is_some() || compiler.imported { None } else { self.execute.as_ref() };
        // A schema that is wrong says nothing of the inputs.
        let schema = self.input_schema.as_ref().or_else(|| reading.document.root.entry("json_schema").map(|_| &Value::Null));
        ToolScope { inputs: &self.inputs, schema, auth: self.auth.as_ref(), env: &reading.root.env, context, execute: results }
    }

    fn around(&self, compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, app: &mut AppParts<'_>) -> Around {
        let (document, root, outer) = (reading.document, reading.root, reading.outer);
        let (mut shape, nothing) = (ContextShape::default(), ContextShape::default());
        let scope = self.scope(compiler, reading, &nothing);
        let blocks: Vec<ContextBlock> = root.context.iter().chain(&outer.context).cloned().chain(ContextBlock::of(document)).collect();
        let context = context::read(compiler, &blocks, &scope, &mut shape);
        let blocks: Vec<ContextBlock> =
            root.middleware.iter().chain(&outer.middleware).cloned().chain(middleware::block(document)).collect();
        let middleware = middleware::read(compiler, &blocks, &scope, &mut shape, app.adapters);
        let scope = ToolScope { context: &shape, ..scope };
        if let Some(outlines) = &mut compiler.outlines {
            outlines.add_scope(reading.name, scope.of_statement());
        }
        execute::check_paths(compiler, reading, &scope.of_statement(), &["ctx", "auth"]);
        let confirm = document.root.at("confirm").map(|node| compiler.message(document, node, &scope.of_confirm()));
        let errors = errors(compiler, reading, &scope.of_rules(self.execute.as_ref().is_some_and(Execute::asks_api)), &mut app.wanted);
        Around { context, middleware, shape, confirm, errors }
    }

    fn shown(
        &self,
        compiler: &mut Compiler<'_>,
        reading: &ToolReader<'_>,
        presenters: &mut Presenters,
        mut output: Option<Value>,
        as_is: Vec<RedactedPath>,
    ) -> Shown {
        let (document, execute) = (reading.document, self.execute.as_ref());
        let rows = execute.is_some_and(|execute| execute.gives_rows(self.map_output.is_some()));
        let returned = presenters.returns(compiler, document, reading.name, &self.declared, self.input_schema.as_ref(), rows);
        let locked = execute.and_then(|execute| lock_entry::of_tool(compiler, reading, execute));
        let mut advertised = output.clone().map(as_sent);
        if document.root.at("output").is_none() && self.map_output.is_none() && !compiler.imported {
            output = locked.as_deref().map(lock::schema);
            advertised = output.as_ref().map(of_result);
            // A presenter has names of its own.
            if returned.is_none() {
                lock_entry::check_names(compiler, reading, locked.as_deref().unwrap_or_default());
            }
        }
        if let Some(returned) = &returned {
            // A presenter holds the result to its schema itself.
            (output, advertised) = (None, returned.schema.clone().map(as_sent));
            compiler.presented.extend(returned.schema.clone().map(|schema| (reading.name.to_owned(), schema)));
        }
        Shown { output, as_is, advertised, returned }
    }

    /// What is known of the effects of the tool, but for what `idempotency` says.
    fn facts<'a>(
        &self,
        compiler: &Compiler<'_>,
        reading: &ToolReader<'_>,
        adapters: &Adapters,
        around: &Around,
        execute: &Execute,
        kind: &'a str,
    ) -> Facts<'a> {
        let beside = || {
            let mappers = self.map_input.iter().chain(&self.map_output);
            mappers.chain(around.context.factories()).chain(around.middleware.iter().flat_map(Middleware::scripts))
        };
        let fetches = !reading.root.fetch_allow.is_empty();
        let handler = match execute {
            Execute::Script(script) => Some(script),
            _ => None,
        };
        let scripts = || handler.into_iter().chain(beside());
        let sends_nothing = !fetches || scripts().next().is_none();
        let stays_inside = sends_nothing && !execute.asks_api() && !beside::may_ask_apis(compiler, &adapters.list, scripts());
        let used = execute.adapter().and_then(|adapter| adapters.list.get(adapter as usize));
        let language = used.and_then(|adapter| millrace_catalogue::find(&adapter.connector)).map(|connector| connector.language);
        let effect = effect(execute, self.tables.as_ref(), language);
        Facts {
            kind,
            says_kind: reading.document.root.at("kind").is_some(),
            effect,
            repeats: false,
            stays_inside,
            scripts_write: beside::may_write(compiler, &adapters.list, fetches, beside()),
            changes_nothing: effect.is_none() && sends_nothing && adapters.list.iter().all(|adapter| adapter.read_only),
        }
    }

    /// Adds what the presenter of the result asks of callers; gives its place.
    fn present(
        &mut self,
        compiler: &mut Compiler<'_>,
        reading: &ToolReader<'_>,
        app: &AppParts<'_>,
        execute: &Execute,
        returned: Returned,
    ) -> Option<u32> {
        let (document, place) = (reading.document, returned.place);
        let presenter = app.presenters.list.get(place as usize);
        if let Some(presenter) = presenter.filter(|_| self.map_output.is_none()) {
            hidden::check(compiler, reading, execute, app, presenter);
        }
        let presented = document.root.at("returns").map(|returns| document.source.place(returns.range.start)).unwrap_or_default();
        compiler.origin(reading.name, "returns", presenter.map_or("", |presenter| &presenter.name), presented);
        schemas::add_properties(self.input_schema.as_mut(), &returned.inputs);
        self.inputs.extend(returned.inputs.iter().map(|added| added.input.clone()));
        self.declared.extend(returned.inputs);
        Some(place)
    }
}

/// Gives the lists of which a statement takes its names an element at least: it would say nothing
/// where its names stand.
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

fn mapper(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, mappers: Option<&Node>, convention: &Convention) -> Option<ScriptRef> {
    let key = convention.key;
    if let Some(node) = mappers.and_then(|mappers| mappers.at(key)) {
        let place = reading.document.source.place(node.range.start);
        compiler.origin(reading.name, &format!("mappers.{key}"), node.text().unwrap_or_default(), place);
        return compiler.script(reading.document, node, reading.folder);
    }
    let (path, script) = convention.script(compiler, reading)?;
    compiler.origin(reading.name, &format!("mappers.{key}"), path.as_str(), format!("{path}:1:1"));
    script
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
            wanted.push(ToolReference { source: Arc::clone(&reading.document.source), range: action.range.clone(), name: name.to_owned() });
        }
    }
    Errors { style: style.value, expose: exposed.value, on }
}

/// `kind`, which decides the annotations and whether there is a cache.
fn kind(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, execute: &Execute) -> &'static str {
    let Some(node) = reading.document.root.at("kind") else {
        let kind = if execute.access().is_some_and(Access::reads) { "query" } else { "action" };
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
