//! `middleware`: what runs before a tool, of the root, the folders and the tool itself. Each tool
//! gets one list.

use std::ops::Range;

use millrace_catalogue::find;
use millrace_core::app::{
    AUDIT_COLUMNS, Access, Audit, AuditInputs, AuditTable, EpochWrites, Execute, MORE_AUDIT_COLUMNS, Middleware, MiddlewareAction, Part,
    RequiredScopes, Root, Source, Statement, Template, TemplatePart, ValueTemplate,
};

use crate::{
    adapter::Adapters,
    compiler::Compiler,
    context::ContextBlock,
    expression,
    field::{Field, Named, Record, Shape},
    guard::{self, RATE_LIMIT},
    names::{all_of, one_of},
    required_scopes::{REQUIRE_SCOPE, required_scopes},
    scope::{ContextShape, IN_CALL, IN_MIDDLEWARE, ToolScope},
    tree::parent,
    yaml::{Document, Entry, Node},
};

/// `middleware`
pub(crate) const MIDDLEWARE: Shape = Shape::OneOf(&[LIST, Shape::Record(&SETTINGS)]);

const LIST: Shape = Shape::List(&Shape::OneOf(&[Shape::Text, Shape::Record(&ENTRY)]));

static SETTINGS: Record = Record {
    name: "middleware",
    noun: "`middleware`",
    doc: "What runs before a tool, without what the root and the outer folders say.",
    fields: &[
        Field::new("inherit", Shape::Bool, "Whether what the root and the outer folders say comes first.").default("true"),
        Field::new("list", LIST, "The entries.").names(Named::Script).required(),
    ],
};

/// One entry of `middleware`
static ENTRY: Record = Record {
    name: "middleware_entry",
    noun: "an entry of `middleware`",
    doc: "One entry: a script as text, `./middleware/with-user.ts`, or one of these keys.",
    fields: &[
        Field::new("audit", Shape::Record(&AUDIT), "Writes one line about each call that gets this far, once it is over."),
        Field::new("rate_limit", Shape::Record(&RATE_LIMIT), "How often calls may come this far."),
        Field::new("derive", Shape::Map(&Shape::Any), "Values for `ctx`, with placeholders: `region: \"{{ inputs.region }}\"`.")
            .sees(IN_MIDDLEWARE),
        Field::new("require", Shape::Record(&REQUIRE), "A condition; a call for which it does not hold is refused."),
        Field::new("require_scope", REQUIRE_SCOPE, "The scopes that the caller must have; a call without them is refused with HTTP 403.")
            .names(Named::Scope),
    ],
};

static AUDIT: Record = Record {
    name: "audit",
    noun: "`audit`",
    doc: "A line about each call: who, which tool, whether it was allowed and which entry refused it, how it ended, how long it took. It is \
          written to the log at level `info`, with the target `millrace::audit`.",
    fields: &[
        Field::new("subject", Shape::Text, "Who calls, with placeholders.").sees(IN_MIDDLEWARE).default("{{ auth.subject }}, if the tool has `auth`"),
        Field::new(
            "inputs",
            Shape::Word(&["none", "names", "hashes"]),
            "What the line says of the inputs: nothing, their names, or their names with 32 digits of an HMAC-SHA256 of each value, with the key in the variable MILLRACE_HASH_KEY. Never the values.",
        )
        .default("names"),
        Field::new("tenant", Shape::Text, "Whose the call is, with placeholders.").sees(IN_MIDDLEWARE).default("what `tenant` of the tool's adapter names, if it has one"),
        Field::new("to", Shape::Text, "An adapter: each line is also inserted into `table`, after the answer. A failure is logged and does not fail the call, unless the entry is `required`.").names(Named::Adapter),
        Field::new("table", Shape::Text, "The table of `to`: `audit_log`, with the columns at, request_id, tool, subject, decision, decided_by, outcome, code, duration_ms, inputs and change_made."),
        Field::new("columns", Shape::Word(&["base", "all"]), "`all`: the table has the columns tenant, row_count, chain, seq and mac, too.").default("base"),
        Field::new("required", Shape::Bool, "Whether a call is refused whose row cannot be written. Needs `to` and `table`.").default("false"),
    ],
};

static REQUIRE: Record = Record {
    name: "require",
    noun: "`require`",
    doc: "A condition on a call.",
    fields: &[
        Field::new("when", Shape::Text, "The condition: an expression over `inputs`, `ctx` and `auth`.").condition(IN_CALL).required(),
        Field::new("code", Shape::Text, "The code of the refusal.").default("FORBIDDEN"),
        Field::new("message", Shape::Text, "The message to the caller, with placeholders.")
            .sees(IN_MIDDLEWARE)
            .default("This call is not allowed."),
    ],
};

/// A `middleware` block, and the file in which it stands.
pub(crate) type MiddlewareBlock = ContextBlock;

/// The `middleware` block of a file, where it has one.
pub(crate) fn block(document: &Document) -> Option<MiddlewareBlock> {
    document.root.at("middleware").map(|node| MiddlewareBlock { document: document.clone(), node: node.clone() })
}

/// Reads the middleware of a tool from its blocks, the root's first. `scope` knows the tool's
/// inputs and `auth`; the shape grows by what the entries add to `ctx`.
pub(crate) fn read(
    compiler: &mut Compiler<'_>,
    blocks: &[MiddlewareBlock],
    scope: &ToolScope<'_>,
    shape: &mut ContextShape,
    adapters: &mut Adapters,
) -> Vec<Middleware> {
    // The last block that does not inherit; it drops what the blocks from the one before it that
    // does not inherit would have said.
    let alone = |blocks: &[MiddlewareBlock]| blocks.iter().rposition(|block| block.node.bool_at("inherit") == Some(false)).unwrap_or(0);
    let (outer, kept) = blocks.split_at(alone(blocks));
    if let Some(block) = kept.first() {
        warn_of_dropped(compiler, outer.get(alone(outer)..).unwrap_or_default(), block);
    }
    let mut list = Vec::new();
    for block in kept {
        for node in entries(&block.node) {
            let scope = ToolScope { context: shape, ..*scope };
            let place = block.document.source.place(node.range.start);
            let Some((action, added)) = entry(compiler, &block.document, node, &scope, adapters) else { continue };
            match added {
                Added::Nothing => {}
                Added::Unknown => shape.is_open = true,
                Added::Values(values) => *shape = values,
            }
            list.push(Middleware { place, action });
        }
    }
    list
}

fn entries(block: &Node) -> &[Node] {
    block.at("list").unwrap_or(block).items()
}

/// Entries that refuse calls are not dropped without a word.
fn warn_of_dropped(compiler: &mut Compiler<'_>, dropped: &[MiddlewareBlock], by: &MiddlewareBlock) {
    let guards = dropped.iter().flat_map(|block| {
        let guard =
            |node: &&Node| node.text().is_some() || ["require", "require_scope", "rate_limit"].iter().any(|key| node.entry(key).is_some());
        entries(&block.node).iter().filter(guard).map(|node| block.document.source.place(node.range.start))
    });
    let places: Vec<String> = guards.collect();
    if places.is_empty() {
        return;
    }
    let range = by.node.entry("inherit").map_or(0..0, |entry| entry.key_range.clone());
    let message = format!("`inherit: false` drops what can refuse a call: {}", all_of(&places));
    compiler.warning(&by.document, range, message, "Repeat in `list` what must hold here, too.");
}

/// What an entry adds to `ctx`.
enum Added {
    Nothing,
    Unknown,
    Values(ContextShape),
}

fn entry(
    compiler: &mut Compiler<'_>,
    document: &Document,
    node: &Node,
    scope: &ToolScope<'_>,
    adapters: &mut Adapters,
) -> Option<(MiddlewareAction, Added)> {
    if node.text().is_some() {
        let (before, after) = compiler.middleware_script(document, node, parent(&document.source.path))?;
        let added = if before.is_some() { Added::Unknown } else { Added::Nothing };
        return Some((MiddlewareAction::Script { before, after }, added));
    }
    let keys = ["audit", "rate_limit", "derive", "require", "require_scope"];
    let [Entry { key, key_range, value }] = node.entries() else {
        let help = format!("An entry has exactly one key: {}.", one_of(&keys));
        let message = format!("this entry has {} keys", node.entries().len());
        compiler.error(document, node.range.clone(), message, help);
        return None;
    };
    match key.as_str() {
        "audit" => Some((MiddlewareAction::Audit(audit(compiler, document, value, scope, adapters)?), Added::Nothing)),
        "derive" => {
            let mut shape = scope.context.clone();
            let values = compiler.context_values(document, value, &scope.of_middleware(), &mut shape);
            Some((MiddlewareAction::Derive(values), Added::Values(shape)))
        }
        "rate_limit" => {
            let limit = guard::rate(compiler, document, value, &scope.of_middleware())?;
            Some((MiddlewareAction::RateLimit(limit), Added::Nothing))
        }
        "require" => require(compiler, document, value, scope).map(|action| (action, Added::Nothing)),
        "require_scope" => {
            let scopes = require_scope(compiler, document, value, key_range.clone(), scope)?;
            Some((MiddlewareAction::RequireScope(scopes), Added::Nothing))
        }
        // It was wrong, which has been said.
        _ => None,
    }
}

fn require(compiler: &mut Compiler<'_>, document: &Document, node: &Node, scope: &ToolScope<'_>) -> Option<MiddlewareAction> {
    let paths = scope.of_middleware();
    let message = match node.at("message") {
        Some(message) => compiler.message(document, message, &paths),
        None => Template(vec![TemplatePart::Text("This call is not allowed.".to_owned())]),
    };
    let condition = node.at("when")?;
    let parsed = expression::parse(condition.text()?, &scope.of_confirm());
    for problem in parsed.problems {
        compiler.findings.problem(document, condition, problem);
    }
    let code = node.text_at("code").unwrap_or("FORBIDDEN").to_owned();
    Some(MiddlewareAction::Require { when: parsed.expression?, code, message })
}

fn require_scope(
    compiler: &mut Compiler<'_>,
    document: &Document,
    node: &Node,
    key: Range<usize>,
    scope: &ToolScope<'_>,
) -> Option<RequiredScopes> {
    if let Some(Err(problem)) = scope.of_confirm().named("auth.scopes") {
        compiler.error(document, key, format!("`require_scope` refuses every call: {}", problem.message), problem.help);
        return None;
    }
    required_scopes(compiler, document, node)
}

fn audit(compiler: &mut Compiler<'_>, document: &Document, node: &Node, scope: &ToolScope<'_>, adapters: &mut Adapters) -> Option<Audit> {
    let paths = scope.of_middleware();
    let subject = match node.at("subject") {
        Some(subject) => compiler.value_template(document, subject, &paths),
        None => match paths.named("auth.subject") {
            Some(Ok(_)) => ValueTemplate::of(Source { root: Root::Auth, path: vec!["subject".to_owned()] }),
            _ => ValueTemplate::literal(serde_json::Value::Null),
        },
    };
    let inputs = match node.text_at("inputs") {
        Some("none") => AuditInputs::None,
        Some("hashes") => AuditInputs::Hashes,
        _ => AuditInputs::Names,
    };
    let required = node.bool_at("required") == Some(true);
    let table = match (node.at("to"), node.at("table")) {
        (None, None) => {
            let needs_table = [("required", required), ("columns", node.at("columns").is_some())];
            for (key, _) in needs_table.into_iter().filter(|(_, is_there)| *is_there) {
                let range = node.entry(key).map_or(0..0, |entry| entry.key_range.clone());
                let help = "Write `to: ADAPTER` and `table: NAME`: nobody can tell whether a line of the log was kept.";
                compiler.error(document, range, format!("`audit` has `{key}`, but no `to` and no `table`"), help);
            }
            None
        }
        (Some(to), Some(table)) => {
            let has_all_columns = node.text_at("columns") == Some("all");
            Some(audit_table(compiler, document, to, table, has_all_columns, adapters)?)
        }
        (to, table) => {
            let (present, missing) = if to.is_some() { ("to", "table") } else { ("table", "to") };
            let range = to.or(table).map_or(0..0, |node| node.range.clone());
            let help = "Write `to: ADAPTER` and `table: NAME`, or neither.";
            compiler.error(document, range, format!("`audit` has `{present}`, but no `{missing}`"), help);
            return None;
        }
    };
    let tenant = node.at("tenant").map(|tenant| compiler.value_template(document, tenant, &paths));
    Some(Audit { subject, inputs, table, tenant, required })
}

/// Has the first rows of a tool's audits written in the transaction of its statement, where they
/// are required, in the same database, and that has transactions.
pub(crate) fn attach(middleware: &mut [Middleware], execute: &Execute, adapters: &Adapters) {
    let (Execute::Statement { adapter, .. } | Execute::Transaction { adapter, .. }) = execute else { return };
    let connector = adapters.list.get(*adapter as usize).and_then(|adapter| find(&adapter.connector));
    let has_transactions = connector.is_some_and(|connector| connector.transactions.is_some());
    let is_bound = |statement: &Statement| !statement.parts.iter().any(|part| matches!(part, Part::Textual(_)));
    if !has_transactions || execute.access() != Some(Access::Write) || !execute.statements().all(is_bound) {
        return;
    }
    for entry in middleware {
        if let MiddlewareAction::Audit(Audit { required: true, table: Some(table), .. }) = &mut entry.action {
            table.in_transaction = table.adapter == *adapter;
        }
    }
}

fn audit_table(
    compiler: &mut Compiler<'_>,
    document: &Document,
    to: &Node,
    table: &Node,
    has_all_columns: bool,
    adapters: &mut Adapters,
) -> Option<AuditTable> {
    let used = adapters.find(compiler, document, to)?;
    let name = to.text().unwrap_or_default();
    let Some(dialect) = used.language?.dialect().filter(|dialect| dialect.facts().takes_audit_rows) else {
        let help = "Name an adapter on a database of SQL.";
        compiler.error(document, to.range.clone(), format!("`{name}` has no tables"), help);
        return None;
    };
    if used.read_only {
        let help = "Name another adapter, or drop `options.read_only` from its file.";
        compiler.error(document, to.range.clone(), format!("the adapter `{name}` is read only, and audit lines are inserted"), help);
        return None;
    }
    if !adapters.session(used).is_empty() {
        let help = "Give the audit an adapter of its own: lines about callers that were refused are inserted, too.";
        compiler.error(
            document,
            to.range.clone(),
            format!("the adapter `{name}` has a `session`, and an audit line is not the caller's"),
            help,
        );
        return None;
    }
    if adapters.has_databases(used) {
        let help = "Give the audit an adapter of its own: lines about callers that were refused are inserted, too.";
        let message = format!("the adapter `{name}` has `databases`, and an audit line is not the caller's");
        compiler.error(document, to.range.clone(), message, help);
        return None;
    }
    if let Some(rule) = adapters.tenant(used)
        && rule.has(table.text().unwrap_or_default(), dialect)
    {
        let help = "Give the audit an adapter of its own, or list the table as one that does not have the tenant's column.";
        compiler.error(
            document,
            table.range.clone(),
            format!("the table belongs to the tenants of the adapter `{name}`, and an audit line to none"),
            help,
        );
        return None;
    }
    let columns: Vec<&str> = AUDIT_COLUMNS.into_iter().chain(MORE_AUDIT_COLUMNS.into_iter().filter(|_| has_all_columns)).collect();
    let Some(statement) = dialect.facts().insert(table.text().unwrap_or_default(), &columns) else {
        let help = "Write `audit_log`, or `schema.audit_log`.";
        compiler.error(document, table.range.clone(), "`table` is not the name of a table", help);
        return None;
    };
    Some(AuditTable { adapter: used.index, statement, writes: EpochWrites::default(), has_all_columns, in_transaction: false })
}
