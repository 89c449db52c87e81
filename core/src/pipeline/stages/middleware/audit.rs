//! `audit`: an entry about each call, as a line of the log and as a row of a table.
//!
//! | entry | when | its row |
//! |---|---|---|
//! | `begun`, only where it is `required` and the tool may change something | before stage *execute* | awaited, or in the transaction of the tool's statement; where it cannot be written, the call ends before it does anything |
//! | how the call ended | before the answer leaves | after the answer, where the host can; awaited where it is `required`, and where it cannot be written, the answer is withheld |

use alloc::{
    boxed::Box,
    format,
    rc::Rc,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::ended::Ended;
use crate::pipeline::{
    call::chain::{AttachedRow, Seen},
    call::identity::canonical,
    call::report::Subject,
    call::run::{CHECK_FIRST, Run, TARGET, missing_variable},
    call::scope::Scope,
    content::json_text::text_of,
    isolate::audit_log::Sealed,
    stages::present,
    stages::signal::{Interruption, Signal},
    stages::sync::LaterSync,
    tenant,
};
use crate::{
    Error, ErrorKind, Json, Result,
    app::{Access, Audit, AuditInputs, AuditTable, EpochWrites, HASH_KEY, Middleware, MiddlewareAction, ValueTemplate},
    audit_chain::{AuditEntry, BEGUN, timestamp},
    fault::{Change, Fault, FaultResult, Stage},
    hex,
    ports::{AUDIT_TARGET, Command, Connector, Query},
    value::Value,
};

/// The most characters of a subject, a tenant, and the names of inputs, in an audit line.
const LONGEST_AUDITED: usize = 1_000;
/// The code of a call that did nothing because its entry cannot be written.
const UNAVAILABLE: &str = "AUDIT_UNAVAILABLE";
/// How much of a digest is shown, in bytes, as of a presenter's `hash`.
const DIGEST_BYTES: usize = 16;

/// What an entry says.
struct AuditLine {
    at: String,
    subject: String,
    decision: &'static str,
    decided_by: String,
    outcome: &'static str,
    code: String,
    ms: u64,
    inputs: String,
    change_made: Option<&'static str>,
    tenant: Option<String>,
    rows: Option<u64>,
}

/// A call gets as far as the entry.
///
/// # Errors
/// `CONFIGURATION` where the entry is required and could not say all that it has to.
pub(super) fn admit(run: &Run<'_>, audit: &Audit) -> FaultResult<()> {
    match audit.required && audit.hashes() && key(run).is_none() {
        true => Err(missing_variable(HASH_KEY, Stage::Middleware).into()),
        false => Ok(()),
    }
}

/// Whether entries have to be written before a call does anything: it may change something.
pub(in crate::pipeline) fn has_first_entries(run: &Run<'_>) -> bool {
    passed(run).iter().any(is_required) && run.may_write()
}

/// The entries of the middleware that the call has passed.
fn passed<'r>(run: &Run<'r>) -> &'r [Middleware] {
    run.tool.middleware.get(..run.chain.passed.get()).unwrap_or_default()
}

/// Writes these.
///
/// # Errors
/// `AUDIT_UNAVAILABLE` where one cannot be written.
pub(in crate::pipeline) async fn begin(run: &Run<'_>) -> FaultResult<()> {
    for entry in passed(run) {
        let MiddlewareAction::Audit(audit @ Audit { required: true, table: Some(table), .. }) = &entry.action else { continue };
        let Some(line) = run.chain.seen.borrow().as_ref().map(|seen| AuditLine::begun(run, audit, seen)) else { continue };
        let (ports, log, entry) = (&run.pipeline.ports, &run.pipeline.audit_log, line.entry(run.subject()));
        if table.in_transaction {
            // It may be undone with the transaction: neither the log nor the chain has it.
            let values = line.values(run.subject(), table, log.beside(ports, entry));
            run.chain.attached.borrow_mut().push(AttachedRow { statement: table.statement.clone(), values });
        } else {
            let sealed = log.link(ports, entry);
            line.log(run.subject(), sealed.as_ref());
            let values = line.values(run.subject(), table, sealed);
            insert(run, &run.signal, table, &values).await.map_err(|error| unavailable(run, error))?;
        }
    }
    Ok(())
}

fn is_required(entry: &Middleware) -> bool {
    matches!(&entry.action, MiddlewareAction::Audit(audit) if audit.required)
}

/// Writes the last entry of a call. What comes back takes the place of the call's answer.
pub(super) async fn finish(run: &Run<'_>, signal: &Signal<'_>, audit: &Audit, seen: &Seen, ended: &Ended<'_>) -> Option<Fault> {
    let line = AuditLine::ended(run, audit, seen, ended);
    let sealed = run.pipeline.audit_log.link(&run.pipeline.ports, line.entry(run.subject()));
    line.log(run.subject(), sealed.as_ref());
    let table = audit.table.as_ref()?;
    let values = line.values(run.subject(), table, sealed);
    if !audit.required {
        insert_later(run, table, values);
        return None;
    }
    let error = insert(run, signal, table, &values).await.err()?;
    // The reason is the same one, and the first to say it knows that nothing was done.
    let is_said = ended.fault.is_some_and(|fault| fault.code == UNAVAILABLE);
    (!is_said).then(|| withheld(run, ended, error))
}

/// A call that did nothing.
fn unavailable(run: &Run<'_>, error: Error) -> Fault {
    Fault::new(Stage::Execute, UNAVAILABLE, "The audit entry of this call cannot be written. Nothing was done.")
        .later()
        .logging(detail(run, error))
}

/// A call whose answer is not given.
fn withheld(run: &Run<'_>, ended: &Ended<'_>, error: Error) -> Fault {
    let did_nothing = run.change.get() == Change::None && run.unanswered_writes.get() + run.unsafe_requests.get() == 0;
    let log = detail(run, error);
    if did_nothing {
        let said = "The audit entry of this call cannot be written, so its answer is withheld. It changed nothing.";
        return Fault::new(Stage::Serialize, UNAVAILABLE, said).later().logging(log);
    }
    let mut fault = Fault::new(
        Stage::Serialize,
        "ANSWER_WITHHELD",
        "The call was carried out, and the audit entry of how it ended cannot be written, so its answer is withheld.",
    )
    .logging(log);
    fault.details = vec![("outcome".into(), ended.outcome.as_str().into())];
    fault.details.extend(ended.fault.map(|fault| ("code".into(), fault.code.clone())));
    match run.change.get() {
        Change::Recorded => fault.later(),
        Change::None => fault.suggesting(CHECK_FIRST).by_operator(),
        Change::Some | Change::Made | Change::Kept => fault.suggesting("Look at the result with another tool.").by_operator(),
    }
}

fn detail(run: &Run<'_>, error: Error) -> String {
    let error = run.pipeline.secrets.strike_error(error);
    match &error.source {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

impl AuditLine {
    /// The entry of a call that does nothing yet.
    fn begun(run: &Run<'_>, audit: &Audit, seen: &Seen) -> Self {
        let clock = &run.pipeline.ports.clock;
        let now_ms = clock.now_ms();
        Self {
            at: timestamp(now_ms),
            subject: text(run, &audit.subject, seen),
            decision: "allowed",
            decided_by: String::new(),
            outcome: BEGUN,
            code: String::new(),
            ms: now_ms.saturating_sub(run.report.began_ms),
            inputs: inputs(run, audit.inputs, &seen.inputs),
            change_made: None,
            tenant: tenant(run, audit, seen),
            rows: None,
        }
    }

    fn ended(run: &Run<'_>, audit: &Audit, seen: &Seen, ended: &Ended<'_>) -> Self {
        let entry = run.tool.middleware.get(run.chain.passed.get()).filter(|_| run.chain.refused.get());
        let (decision, decided_by) = match (entry, ended.fault) {
            (Some(entry), _) => ("refused", entry.place.clone()),
            (None, Some(fault)) if fault.stage == Stage::Guard => ("refused", String::from(Stage::Guard.as_str())),
            _ => ("allowed", String::new()),
        };
        Self {
            decision,
            decided_by,
            outcome: ended.outcome.as_str(),
            code: ended.fault.map(|fault| fault.code.clone()).unwrap_or_default(),
            change_made: ended.change_made,
            rows: run.rows.get(),
            ..Self::begun(run, audit, seen)
        }
    }

    fn entry<'a>(&'a self, Subject { tool, request_id, .. }: Subject<'a>) -> AuditEntry<'a> {
        AuditEntry {
            at: &self.at,
            request_id,
            tool,
            subject: &self.subject,
            decision: self.decision,
            decided_by: &self.decided_by,
            outcome: self.outcome,
            code: &self.code,
            ms: self.ms,
            inputs: &self.inputs,
            change_made: self.change_made.unwrap_or_default(),
            tenant: self.tenant.as_deref().unwrap_or_default(),
            rows: self.rows,
        }
    }

    fn log(&self, Subject { tool, request_id, .. }: Subject<'_>, sealed: Option<&Sealed>) {
        if !tracing::enabled!(target: AUDIT_TARGET, tracing::Level::INFO) {
            return;
        }
        fn some(text: &str) -> Option<&str> {
            Some(text).filter(|text| !text.is_empty())
        }
        let Self { decision, outcome, ms, rows, change_made, .. } = *self;
        let subject = self.subject.as_str();
        let (decided_by, code, inputs) = (some(&self.decided_by), some(&self.code), some(&self.inputs));
        let tenant = self.tenant.as_deref().and_then(some);
        let (at, chain) = (sealed.map(|_| self.at.as_str()), sealed.map(|sealed| sealed.chain.as_str()));
        let (seq, mac) = (sealed.and_then(|sealed| sealed.seq), sealed.map(|sealed| sealed.mac.as_str()));
        tracing::info!(
            target: AUDIT_TARGET, subject, tool, decision, decided_by, outcome, code, change_made, ms, inputs, request_id, tenant, rows, at,
            chain, seq, mac, "audit"
        );
    }

    /// The values of a row, in the order of [`AUDIT_COLUMNS`](crate::app::AUDIT_COLUMNS) and
    /// [`MORE_AUDIT_COLUMNS`](crate::app::MORE_AUDIT_COLUMNS).
    fn values(&self, Subject { tool, request_id, .. }: Subject<'_>, table: &AuditTable, sealed: Option<Sealed>) -> Vec<Value> {
        let text = |text: &str| Value::Text(text.into());
        let optional = |text: &str| if text.is_empty() { Value::Null } else { Value::Text(text.into()) };
        let number = |number: u64| Value::I64(i64::try_from(number).unwrap_or(i64::MAX));
        let mut values = vec![
            Value::Timestamp(self.at.clone()),
            text(request_id),
            text(tool),
            optional(&self.subject),
            text(self.decision),
            optional(&self.decided_by),
            text(self.outcome),
            optional(&self.code),
            number(self.ms),
            optional(&self.inputs),
            optional(self.change_made.unwrap_or_default()),
        ];
        if table.has_all_columns {
            let (chain, seq, mac) = sealed.map_or((None, None, None), |sealed| (Some(sealed.chain), sealed.seq, Some(sealed.mac)));
            values.extend([
                optional(self.tenant.as_deref().unwrap_or_default()),
                self.rows.map_or(Value::Null, number),
                chain.map_or(Value::Null, Value::Text),
                seq.map_or(Value::Null, number),
                mac.map_or(Value::Null, Value::Text),
            ]);
        }
        values
    }
}

fn text(run: &Run<'_>, template: &ValueTemplate, seen: &Seen) -> String {
    let scope = Scope { run, inputs: &seen.inputs, ctx: &seen.ctx };
    let text = scope.fill(template, Stage::Middleware).map(|value| text_of(&value)).unwrap_or_default();
    // What is cut off may be half of a secret.
    shortened(run.secrets().for_log(&text).into_owned())
}

/// Whose the call is.
fn tenant(run: &Run<'_>, audit: &Audit, seen: &Seen) -> Option<String> {
    match &audit.tenant {
        Some(template) => Some(text(run, template, seen)),
        None => Some(shortened(run.secrets().for_log(&text_of(tenant::of(run)?)).into_owned())),
    }
}

/// The names of inputs, with digests of their values where they are wanted.
fn inputs(run: &Run<'_>, audited: AuditInputs, inputs: &Json) -> String {
    let members = inputs.as_object().into_iter().flatten();
    let key = if audited == AuditInputs::Hashes { key(run) } else { None };
    let removed = |name: &str| {
        let presenter = run.tool.returns.and_then(|place| run.pipeline.app.presenters.get(place as usize));
        presenter.is_some_and(|presenter| present::removes(&run.pipeline.app, presenter, name))
    };
    let word = |(name, value): (&String, &Json)| match key.as_ref().filter(|_| !removed(name)) {
        Some(key) => format!("{}={}", shown_name(name), digest(key, value)),
        None => shown_name(name),
    };
    match audited {
        AuditInputs::None => String::new(),
        AuditInputs::Names | AuditInputs::Hashes => shortened(members.map(word).collect::<Vec<_>>().join(",")),
    }
}

/// A name as it is, or in quotes where it could look like several: a tool with `json_schema` may
/// take names that its caller makes up.
fn shown_name(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '-' | '.'));
    if is_plain { name.into() } else { format!("{}", Json::from(name)) }
}

/// A text of limited length that every database takes.
fn shortened(text: String) -> String {
    let mut text = if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text };
    if let Some((end, _)) = text.char_indices().nth(LONGEST_AUDITED) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The key of digests.
fn key(run: &Run<'_>) -> Option<Hmac<Sha256>> {
    let key = run.pipeline.ports.env.var(HASH_KEY).filter(|key| !key.expose().trim().is_empty())?;
    Hmac::new_from_slice(key.expose().trim().as_bytes()).ok()
}

/// A digest of a value that nobody without the key can try values on.
fn digest(key: &Hmac<Sha256>, value: &Json) -> String {
    let mut text = Vec::new();
    canonical(value, &mut text);
    let mut mac = key.clone();
    mac.update(&text);
    hex::encode(mac.finalize().into_bytes().get(..DIGEST_BYTES).unwrap_or_default())
}

/// A row on its way, with nothing of the call in it.
struct Row {
    statement: String,
    values: Vec<Value>,
    deadline_ms: u64,
    later: LaterSync,
    writes: EpochWrites,
}

impl Row {
    async fn insert(self, connector: &dyn Connector) -> Result<()> {
        let Self { statement, values, deadline_ms, later, writes } = self;
        let command = Command::Statement { text: &statement, values: &values };
        // The bundler refuses an adapter with a session or several databases here. The row is
        // written whoever is still there.
        let query = Query { access: Access::Write, ..Query::reading(command, deadline_ms, 1, 1 << 10) };
        let written = connector.query(query).await;
        if !writes.is_empty() {
            later.wrote(&writes, written.is_err().then_some(deadline_ms)).await;
        }
        written.map(drop)
    }
}

/// Opens the adapter of a table for a row.
fn opened(run: &Run<'_>, table: &AuditTable, values: Vec<Value>) -> Result<(Rc<dyn Connector>, Row)> {
    let (adapter, connector) = run.pipeline.connections.open(table.adapter as usize, None)?;
    let deadline_ms = run.pipeline.ports.clock.now_ms().saturating_add(adapter.timeout_ms.into());
    let later = LaterSync::of(run.pipeline, run.subject());
    Ok((connector, Row { statement: table.statement.clone(), values, deadline_ms, later, writes: table.writes.clone() }))
}

/// Writes a row now.
async fn insert(run: &Run<'_>, signal: &Signal<'_>, table: &AuditTable, values: &[Value]) -> Result<()> {
    let (connector, mut row) = opened(run, table, values.into())?;
    row.deadline_ms = row.deadline_ms.min(signal.deadline_ms());
    let interrupted = |why: Interruption| {
        let fault = why.fault(Stage::Middleware);
        Err(Error::new(ErrorKind::TimedOut, fault.message))
    };
    signal.race(row.insert(&*connector)).await.unwrap_or_else(interrupted)
}

/// Writes a row, after the answer where the host can. A failure is a line in the log.
fn insert_later(run: &Run<'_>, table: &AuditTable, values: Vec<Value>) {
    let Subject { tool, request_id, .. } = run.subject();
    let pipeline = run.pipeline;
    let secrets = Rc::clone(&pipeline.secrets);
    let (connector, row) = match opened(run, table, values) {
        Ok(opened) => opened,
        Err(error) => {
            let error = secrets.strike_error(error);
            tracing::warn!(target: TARGET, tool, request_id, %error, "the audit row cannot be written");
            return;
        }
    };
    let (tool, request_id) = (String::from(tool), String::from(request_id));
    pipeline.ports.wait_until.wait_until(Box::pin(async move {
        if let Err(error) = row.insert(&*connector).await.map_err(|error| secrets.strike_error(error)) {
            tracing::warn!(target: TARGET, tool, request_id, %error, detail = error.source, "the audit row cannot be written");
        }
    }));
}
