//! What a call of one tool goes through, in words.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::Write as _;

use super::Stage;
use crate::app::{
    Access, App, Audience, Auth, Bind, CacheScope, ClaimRule, ClaimValue, ErrorRule, ErrorStyle, Execute, Form, Idempotency, Input,
    InputKind, JwtPolicy, KeySource, MiddlewareAction, OnExceed, OnTooMany, Part, Piece, Presenter, SELECT_INPUT, SESSION_ROLE,
    SESSION_TOKEN, ScriptRef, SessionTemplate, Source, Statement, Template, TextFormat, TokenCarrier, Tool, Transaction, UnknownFields,
};

/// One stage of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The stage.
    pub stage: Stage,
    /// Whether it has anything to do: [`Stage::applies`].
    pub applies: bool,
    /// What it does, or why it has nothing to do.
    pub does: String,
    /// Further facts, a line each: what is asked, which rules there are, which value is bound to
    /// which placeholder.
    pub details: Vec<String>,
    /// The statement of a database tool. What is known only with the call stands as a placeholder.
    pub statement: Option<String>,
}

/// Every stage, in order, and what it does for this tool.
#[must_use]
pub fn plan(app: &App, tool: &Tool) -> Vec<Step> {
    Stage::ALL.into_iter().map(|stage| step(app, tool, stage)).collect()
}

fn step(app: &App, tool: &Tool, stage: Stage) -> Step {
    let applies = stage.applies(tool);
    let (mut details, mut statement) = (Vec::new(), None);
    let does = if applies {
        match stage {
            Stage::Resolve => format!("finds `{}`", tool.name),
            Stage::Authenticate => authenticate(app, tool.auth.as_ref(), &mut details),
            Stage::Context => context(app, tool, &mut details),
            Stage::Signal => format!("ends the call after {} ms, or when the client disconnects", tool.limits.timeout_ms),
            Stage::MapInput => format!("runs {}", mapper(app, tool.map_input.as_ref())),
            Stage::Validate => validate(tool, &mut details),
            Stage::Middleware => middleware(app, tool, &mut details),
            Stage::Guard => guard(tool, &mut details),
            Stage::Execute => execute(app, tool, &mut details, &mut statement),
            Stage::MapOutput => map_output(app, tool, &mut details),
            Stage::Present => present(app, tool, &mut details),
            Stage::Serialize => serialize(tool),
            Stage::Sync => sync(app, tool, &mut details),
        }
    } else {
        String::from(match stage {
            Stage::Authenticate => "nothing: no `auth`",
            Stage::Context => "nothing: no script and no placeholder uses `ctx`",
            Stage::MapInput => "nothing: no input mapper",
            Stage::Middleware => "nothing: no `middleware`",
            Stage::Guard => "nothing: no `limits.rate`, `idempotency`, `confirm` or `limits.concurrency`",
            Stage::MapOutput => "nothing: no output mapper and no `errors.on`",
            Stage::Present => "nothing: no `returns` and no `output`",
            _ => "nothing: no cached result depends on what it changes",
        })
    };
    Step { stage, applies, does, details, statement }
}

fn authenticate(app: &App, auth: Option<&Auth>, details: &mut Vec<String>) -> String {
    match auth {
        None | Some(Auth::AllowAll) => "admits everyone".into(),
        Some(Auth::ApiKey(policy)) => {
            details.extend(policy.keys.iter().map(|key| format!("a key makes the caller `{}`", key.name)));
            details.extend((!policy.scopes.is_empty()).then(|| format!("the key must have the scopes {}", policy.scopes.join(", "))));
            match policy.keys.len() {
                1 => "requires the API key".into(),
                number => format!("requires one of {}", count(number, "API key")),
            }
        }
        Some(Auth::Script { script: plugin, .. }) => format!("runs {}", script(app, plugin)),
        Some(Auth::Jwt(policy)) => {
            details.extend(jwt(policy));
            match policy.carrier {
                TokenCarrier::Platform(authorizer) => format!("requires a caller whom AWS has admitted by `{}`", authorizer.as_str()),
                TokenCarrier::Bearer | TokenCarrier::Field(_) => format!("requires a token of {}", policy.issuer),
            }
        }
        Some(Auth::Any(entries)) => {
            for (place, entry) in entries.iter().enumerate() {
                let mut more = Vec::new();
                details.push(format!("{}. {}", place + 1, authenticate(app, Some(entry), &mut more)));
                details.extend(more);
            }
            format!("asks {}, until one knows the caller or refuses it", count(entries.len(), "plugin"))
        }
    }
}

/// What a token must be, beside its issuer's.
fn jwt(policy: &JwtPolicy) -> Vec<String> {
    let Audience { claim, values } = &policy.audience;
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    let keys = match &policy.keys {
        KeySource::Discovery => Some("the keys are where the issuer's metadata says".to_owned()),
        KeySource::Url(url) => Some(format!("the keys are at {url}")),
        KeySource::Set(_) => Some("the keys are in the app".to_owned()),
        KeySource::Secret(secret) => Some(format!("the key is {secret}")),
        KeySource::Introspection(server) => Some(format!("{} is asked about each token", server.endpoint)),
        KeySource::Platform => None,
    };
    let algorithms: Vec<&str> = policy.algorithms.iter().map(|algorithm| algorithm.as_str()).collect();
    let mut details = Vec::new();
    if !values.is_empty() {
        details.push(format!("its `{claim}` must be {}", values.join(" or ")));
    }
    details.extend(keys);
    details.extend((!algorithms.is_empty()).then(|| format!("it is signed by {}", algorithms.join(", "))));
    details.extend((!policy.scopes.is_empty()).then(|| format!("it must have the scopes {}", policy.scopes.join(", "))));
    details.extend(policy.claims.iter().map(claim_rule));
    details
}

fn claim_rule(ClaimRule { claim, values }: &ClaimRule) -> String {
    let values: Vec<String> = values
        .iter()
        .map(|value| match value {
            ClaimValue::Text(text) => text.to_string(),
            ClaimValue::Literal(literal) => literal.0.to_string(),
        })
        .collect();
    if values.is_empty() { format!("it must have `{claim}`") } else { format!("its `{claim}` must be {}", values.join(" or ")) }
}

fn context(app: &App, tool: &Tool, details: &mut Vec<String>) -> String {
    let settings = &tool.context;
    for layer in &settings.layers {
        details.extend(layer.values.iter().map(|(name, value)| format!("`{name}` is {value}")));
        details.extend(layer.factory.iter().map(|factory| format!("merges what {} returns", script(app, factory))));
    }
    if !settings.headers.is_empty() {
        details.push(format!("shows the header fields {}", settings.headers.join(", ")));
    }
    if !settings.require.is_empty() {
        details.push(format!("requires {}", settings.require.join(", ")));
    }
    let variables = match app.env.len() {
        0 => String::new(),
        number => format!(" and {} of `env`", count(number, "variable")),
    };
    format!("makes `ctx` from the principal, the request{variables}")
}

fn middleware(app: &App, tool: &Tool, details: &mut Vec<String>) -> String {
    details.extend(tool.middleware.iter().map(|entry| format!("{} ({})", action(app, &entry.action), entry.place)));
    match tool.middleware.len() {
        1 => "runs 1 entry".into(),
        number => format!("runs {number} entries, in this order"),
    }
}

fn action(app: &App, action: &MiddlewareAction) -> String {
    match action {
        MiddlewareAction::Script { before, after } => {
            let before = before.iter().map(|before| format!("runs {}", script(app, before)));
            let after = after.iter().map(|after| format!("tells {} how the call ended", script(app, after)));
            before.chain(after).collect::<Vec<_>>().join(", and ")
        }
        MiddlewareAction::Derive(values) => {
            let values: Vec<String> = values.iter().map(|(name, value)| format!("`{name}` is {value}")).collect();
            format!("derives {}", values.join(", "))
        }
        MiddlewareAction::Require { when, code, .. } => format!("refuses with `{code}` unless `{when}`"),
        MiddlewareAction::RateLimit(limit) => format!("refuses with `RATE_LIMITED` above the limit: {limit}"),
        MiddlewareAction::RequireScope(scopes) => format!("requires {scopes}"),
        MiddlewareAction::Audit(audit) => {
            let table = audit.table.as_ref().and_then(|table| app.adapters.get(table.adapter as usize));
            let table = table.map_or_else(String::new, |adapter| format!(" and with adapter `{}`", adapter.name));
            let first = match (&audit.table, audit.required) {
                (Some(table), true) if table.in_transaction => ", and before that a row in the transaction of the tool's statement",
                (_, true) => ", and before a change another one; without them the call is refused",
                (_, false) => "",
            };
            format!("writes a line to the log{table} once the call is over{first}")
        }
    }
}

fn guard(tool: &Tool, details: &mut Vec<String>) -> String {
    let mut does = Vec::new();
    if let Some(limit) = &tool.limits.rate {
        details.push(format!("rate: {limit}"));
        does.push("counts the call, or refuses it with `RATE_LIMITED`");
    }
    if let Some(Idempotency { key, ttl_s }) = &tool.idempotency {
        let kept = match &tool.execute {
            Execute::Statement { .. } => "in the database, in the transaction of the statement",
            Execute::Transaction { .. } => "in the database, in the tool's transaction",
            _ => "in the store of counters and records, before and after the handler",
        };
        details.push(format!("a call is the same for {ttl_s} s where its caller and its key are: {key}"));
        details.push(format!("the record of a call is kept {kept}"));
        does.push("answers a call that was made before as it was answered then");
    }
    if let Some(message) = &tool.confirm {
        details.push(format!("asks: {message}"));
        does.push("asks the user for confirmation before anything is done");
    }
    if let Some(limit) = &tool.limits.concurrency {
        details.push(format!("concurrency: {limit}"));
        does.push("takes a place, or refuses with `SERVER_BUSY`");
    }
    does.join(", then ")
}

fn validate(tool: &Tool, details: &mut Vec<String>) -> String {
    if tool.input_schema.is_some() {
        return "checks the inputs against `json_schema`, without conversions and defaults".into();
    }
    details.extend(tool.inputs.iter().map(input));
    format!("checks {}, and refuses any other", count(tool.inputs.len(), "input"))
}

fn input(input: &Input) -> String {
    let mut line = format!("`{}`: {}", input.name, input.kind.as_str());
    // Writing to a string cannot fail.
    let _ = match &input.default {
        Some(default) => write!(line, ", {} where it is absent", default.0),
        None if input.optional => write!(line, ", may be absent"),
        None => Ok(()),
    };
    line
}

fn execute(app: &App, tool: &Tool, details: &mut Vec<String>, shown: &mut Option<String>) -> String {
    match &tool.execute {
        Execute::Script(handler) => {
            if let Some(reads) = tool.sync.as_ref().and_then(|sync| sync.reads.as_ref()) {
                details.push(format!("what is kept is not used after a change of {}", names(&app.epochs, &reads.epochs)));
            }
            format!("runs {}{}", script(app, handler), kept(tool))
        }
        Execute::Search(index) => format!("searches tools by {}", count(index.words.len(), "word")),
        Execute::Forward => "calls the tool that `tool` names, from the first stage on".into(),
        execute @ (Execute::Statement { adapter, .. } | Execute::Transaction { adapter, .. }) => {
            let adapter = app.adapters.get(*adapter as usize);
            let (name, connector) = adapter.map_or(("?", "?"), |adapter| (&adapter.name, &adapter.connector));
            let session: Vec<String> = adapter.map(|adapter| adapter.session.iter().map(setting).collect()).unwrap_or_default();
            let access = if execute.access().is_some_and(Access::reads) { "reads" } else { "writes" };
            let cache = kept(tool);
            *shown = Some(match execute {
                Execute::Transaction { transaction, .. } => steps(transaction, details),
                execute => execute.statements().map(|statement| text(statement, details)).collect(),
            });
            let access =
                if matches!(execute, Execute::Transaction { .. }) { format!("{access} in one transaction") } else { access.into() };
            if let Some(reads) = tool.sync.as_ref().and_then(|sync| sync.reads.as_ref()) {
                details.push(format!("what is kept is not used after a change of {}", names(&app.epochs, &reads.epochs)));
            }
            // Long statements have long lists of what is bound to them.
            drop(details.splice(..0, session));
            format!("{access} with adapter `{name}` ({connector}){cache}")
        }
    }
}

/// What an adapter's `session` sets for the call.
fn setting(SessionTemplate { name, value }: &SessionTemplate) -> String {
    let value = composed(value);
    match name.as_str() {
        SESSION_ROLE => format!("runs as the role {value}"),
        SESSION_TOKEN => "exchanges the caller's token for one of the API".into(),
        _ => format!("sets `{name}` to {value} for the call"),
    }
}

/// How long a result is kept, and for whom.
fn kept(tool: &Tool) -> String {
    tool.cache.as_ref().map_or_else(String::new, |cache| {
        let scope = if cache.scope == CacheScope::Public { "all callers" } else { "each principal" };
        format!(", kept {} s for {scope}", cache.ttl_s)
    })
}

/// The texts of the statements of a transaction, each below its name.
fn steps(Transaction { steps, result }: &Transaction, details: &mut Vec<String>) -> String {
    let mut texts = String::new();
    for (place, step) in steps.iter().enumerate() {
        if place > 0 {
            texts.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = write!(texts, "-- {}", step.name);
        let _ = match step.expect {
            Some(1) => write!(texts, ", 1 row, or all is undone"),
            Some(rows) => write!(texts, ", {rows} rows, or all is undone"),
            None => Ok(()),
        };
        if result.is_some_and(|result| result as usize == place) {
            texts.push_str(", the result");
        }
        texts.push('\n');
        texts.push_str(&text(&step.statement, details));
    }
    texts
}

/// The text of a statement; what is bound to its placeholders goes to `details`.
fn text(statement: &Statement, details: &mut Vec<String>) -> String {
    let mut text = String::new();
    let mut number = 0;
    let mut placeholder = || {
        number += 1;
        let mut written = String::new();
        statement.style.push_placeholder(&mut written, number);
        written
    };
    let is_command = statement.style.form() == Form::Arguments;
    for part in &statement.parts {
        if is_command && !text.is_empty() {
            text.push(' ');
        }
        match part {
            Part::Text(word) if is_command => push_word(&mut text, word),
            Part::Text(part) => text.push_str(part),
            Part::Env(name) => {
                text.push_str(&format!("{{{{ env.{name} }}}}"));
                details.push(format!("{{{{ env.{name} }}}} is text of the statement: `| raw`"));
            }
            Part::EnvIdent(name) => {
                text.push_str(&format!("{{{{ env.{name} }}}}"));
                details.push(format!("{{{{ env.{name} }}}} is a quoted name"));
            }
            Part::Bind(bind) => {
                let placeholder = placeholder();
                text.push_str(&placeholder);
                details.push(format!("{placeholder} is {}", bound(bind)));
            }
            Part::BindEach { source, kind, .. } => {
                let placeholder = placeholder();
                text.push_str(&format!("{placeholder}, …"));
                details.push(format!("{placeholder} and what follows are the elements of {}", typed(source, *kind)));
            }
            Part::Choice { source, options } => {
                let allowed: Vec<&str> = options.iter().map(|(_, text)| text.as_str()).collect();
                text.push_str(&format!("{{{{ {source} }}}}"));
                details.push(format!("{{{{ {source} }}}} is one of {}", allowed.join(", ")));
            }
            Part::ChoiceEach { source, options } => {
                let allowed: Vec<&str> = options.iter().map(|(_, text)| text.as_str()).collect();
                text.push_str(&format!("{{{{ {source} }}}}"));
                details.push(format!("{{{{ {source} }}}} is one or more of {}", allowed.join(", ")));
            }
            Part::Textual(source) => {
                text.push_str(&format!("{{{{ {source} }}}}"));
                details.push(format!("{{{{ {source} }}}} is spliced into the text: `substitution: textual`"));
            }
        }
    }
    match (&statement.text, statement.style.form()) {
        // Its places have the same numbers.
        (Some(shown), Form::Document) => shown.clone(),
        _ => text,
    }
}

/// An argument of a command, in quotes where it needs them.
fn push_word(text: &mut String, word: &str) {
    let is_plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'\\<>".contains(&byte));
    if is_plain { text.push_str(word) } else { text.push_str(&format!("{word:?}")) }
}

fn bound(bind: &Bind) -> String {
    match bind {
        Bind::Value { source, kind } => typed(source, *kind),
        Bind::Composed(pieces) => {
            if let [Piece::Env(name)] = pieces.as_slice() {
                return format!("env.{name} (text)");
            }
            format!("the text {}", composed(pieces))
        }
    }
}

/// A composed text in quotes, as its author wrote it.
fn composed(pieces: &[Piece]) -> String {
    let mut text = String::from("'");
    for piece in pieces {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Source(source) => text.push_str(&format!("{{{{ {source} }}}}")),
            Piece::Env(name) => text.push_str(&format!("{{{{ env.{name} }}}}")),
        }
    }
    text.push('\'');
    text
}

fn typed(source: &Source, kind: Option<InputKind>) -> String {
    match kind {
        Some(kind) => format!("{source} ({})", kind.as_str()),
        None => format!("{source}"),
    }
}

fn map_output(app: &App, tool: &Tool, details: &mut Vec<String>) -> String {
    let mut does = Vec::new();
    if let Some(mapper) = &tool.map_output {
        does.push(format!("runs {}", script(app, mapper)));
    }
    if tool.results_as_rows {
        does.push("makes the result a list of objects".into());
    }
    if !tool.errors.on.is_empty() {
        details.extend(tool.errors.on.iter().map(rule));
        does.push(format!("checks {} of `errors.on`", count(tool.errors.on.len(), "rule")));
    }
    does.join(", then ")
}

fn rule(rule: &ErrorRule) -> String {
    let message: &Template = &rule.message;
    format!("fails with `{}` when `{}`: {message}", rule.code, rule.when)
}

fn sync(app: &App, tool: &Tool, details: &mut Vec<String>) -> String {
    let Some(sync) = &tool.sync else { return String::new() };
    for (adapter, writes) in &sync.script_writes {
        let adapter = app.adapters.get(*adapter as usize).map_or("?", |adapter| adapter.name.as_str());
        details.push(format!("where a script of the call writes with adapter `{adapter}`: {}", names(&app.epochs, &writes.epochs)));
    }
    let mut does = Vec::new();
    if !sync.writes.is_empty() || !sync.script_writes.is_empty() {
        details.extend((!sync.writes.is_empty()).then(|| format!("stale after the call: {}", names(&app.epochs, &sync.writes.epochs))));
        does.push("makes stale what is cached of what the call changed".into());
    }
    if let Some(announced) = &sync.announces {
        does.push(format!("announces that `{}` changed {}", announced.cause, announced.domains.join(", ")));
    }
    does.join(", then ")
}

/// The names of epochs.
fn names(epochs: &[String], indices: &[u32]) -> String {
    let names: Vec<String> = indices.iter().filter_map(|index| epochs.get(*index as usize)).map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn present(app: &App, tool: &Tool, details: &mut Vec<String>) -> String {
    let Some(presenter) = tool.returns.and_then(|place| app.presenters.get(place as usize)) else {
        return "checks the result against `output`, and sends it as structured content".into();
    };
    let Presenter { items, fields, unknown, limit, redact, rules, collection_rules, ui, actions, .. } = presenter;
    details.extend(items.iter().map(|key| format!("a list in the member `{key}` is the result")));
    if let Some(limit) = limit {
        details.push(format!("shows at most {}", count(limit.max as usize, "item")));
        details.extend(limit.cursor.iter().map(|cursor| {
            let value = cursor.field.as_ref().map_or_else(|| "how many came before".to_owned(), |field| format!("the last `{field}`"));
            format!("tells the next value of `{}`: {value}", cursor.input)
        }));
    }
    let unknown = match unknown {
        UnknownFields::Strip => "removes any other",
        UnknownFields::Reject => "refuses any other",
        UnknownFields::Keep => "keeps any other",
    };
    details.push(format!("checks {}, and {unknown}", count(fields.len(), "field")));
    for redaction in redact {
        let unless = redaction.unless.as_ref().map_or_else(String::new, |unless| format!(", unless `{unless}`"));
        details.extend(redaction.paths.iter().map(|path| format!("`{path}` {}{unless}", redaction.censor)));
    }
    if presenter.select {
        details.push(format!("keeps only the fields that `{SELECT_INPUT}` names, where it is given"));
    }
    for (number, noun) in [(rules.len() + collection_rules.len(), "rule"), (ui.len(), "UI block"), (actions.len(), "suggestion")] {
        details.extend((number > 0).then(|| format!("adds {}, as far as their conditions hold", count(number, noun))));
    }
    let format = match presenter.format {
        TextFormat::Json => "JSON",
        TextFormat::Toon => "TOON",
        TextFormat::Input => "JSON or TOON, as `format` says",
    };
    let structured = if presenter.structured { " and as structured content" } else { "" };
    format!("presents the result with `{}`, and writes it as {format}{structured}", presenter.name)
}

fn serialize(tool: &Tool) -> String {
    let style = match tool.errors.style {
        ErrorStyle::Result => "tool results",
        ErrorStyle::Protocol => "JSON-RPC errors",
    };
    let expose = if tool.errors.expose { " with the database's own words" } else { "" };
    let cut = match tool.on_too_many {
        OnTooMany::Error => "",
        OnTooMany::Cut => "; a result with more rows than `max_rows` is cut, and says so",
    };
    let exceed = match tool.limits.on_exceed {
        OnExceed::Error => "",
        OnExceed::Shrink | OnExceed::Fit => ", and what is longer shrinks",
    };
    format!("faults are {style}{expose}; at most {} bytes{exceed}{cut}", tool.limits.output_bytes)
}

fn mapper(app: &App, reference: Option<&ScriptRef>) -> String {
    reference.map_or_else(String::new, |reference| script(app, reference))
}

fn script(app: &App, reference: &ScriptRef) -> String {
    let path = app.scripts.get(reference.script as usize).map_or("?", |script| script.path.as_str());
    if reference.export == "default" { format!("`{path}`") } else { format!("`{}` of `{path}`", reference.export) }
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
