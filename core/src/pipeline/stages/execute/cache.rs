//! The cache of results of statements and handlers that only read.
//!
//! The key is the SHA-256 of everything that the result depends on: app, tool, adapter, final
//! statement, bound values with their types, the [`Identity`] of who may share it, what the
//! adapter's `session` sets in the call, and the [`epochs`](crate::pipeline::isolate::epochs) of
//! what it was read from. Each part is written with its length before it, so that no two calls
//! write the same bytes. A failing cache never fails a call: it is a miss and a logged warning.

use alloc::{boxed::Box, rc::Rc, string::String, vec::Vec};

use sha2::{Digest as _, Sha256};

use super::rendered::Rendered;
use crate::{
    Json,
    app::{Adapter, Cache, CacheScope, CachedReads, ScriptRef, TemplatePart},
    hex,
    pipeline::{
        call::identity::{Identity, canonical},
        call::report::Subject,
        call::run::{Run, TARGET},
        call::scope::walk,
        isolate::database,
        isolate::epochs,
        session,
    },
    ports::{BoundStep, Parameter, SessionSetting, StepValue, TextPiece},
    value::{Rows, Value},
};

/// Begins every key's text: another form of keys or values is another version.
const VERSION: &str = "millrace-3";

/// Begins the text of each key of a handler's result.
const HANDLER_VERSION: &str = "millrace-handler-1";

/// The epochs of what the tool's results depend on, for their keys; `None` where nothing of it
/// changes.
///
/// # Errors
/// Nothing may be taken from the cache now, and nothing be put there.
pub(super) async fn epochs(run: &Run<'_>) -> Result<Option<Vec<u8>>, ()> {
    let Some(reads) = run.tool.sync.as_ref().and_then(|sync| sync.reads.as_ref()) else { return Ok(None) };
    current_epochs(run, reads).await.map(Some).ok_or(())
}

async fn current_epochs(run: &Run<'_>, reads: &CachedReads) -> Option<Vec<u8>> {
    let pipeline = run.pipeline;
    match epochs::current(&pipeline.app, &pipeline.ports, &pipeline.epochs, reads).await {
        Ok(current) => current,
        Err(error) => {
            if pipeline.epochs.is_loud(pipeline.ports.clock.now_ms()) {
                let Subject { tool, request_id, .. } = run.subject();
                let error = pipeline.secrets.strike_error(error);
                tracing::warn!(
                    target: TARGET, tool, request_id, %error, detail = error.source,
                    "the epochs of cached results cannot be read; until they can, results that depend on writes are not taken from the cache"
                );
            }
            None
        }
    }
}

/// A statement, what is set in its database while it runs, and the name of the database where the
/// caller decides it.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) statement: &'a Rendered<'a>,
    pub(super) session: &'a [SessionSetting],
    pub(super) database: Option<&'a str>,
}

/// The place of one result in the cache.
pub(super) struct Entry {
    key: String,
    ttl_s: u32,
}

impl Entry {
    /// `epochs` are those of what the result depends on.
    pub(super) fn of(run: &Run<'_>, settings: &Cache, adapter: &str, asked: Asked<'_>, epochs: Option<&[u8]>) -> Self {
        let scope = match settings.scope {
            CacheScope::Public => None,
            CacheScope::Principal => Some(run.identity()),
        };
        let key = key(&run.pipeline.app.name, &run.tool.name, adapter, asked, scope, epochs);
        Self { key, ttl_s: settings.ttl_s }
    }

    /// The place of a handler's result, which depends on its inputs, or on the tool's own key, and
    /// on what `ctx` and the connections have of the caller. `None` where that is not to be had:
    /// such a result is not kept.
    pub(super) fn of_handler(run: &Run<'_>, handler: &ScriptRef, settings: &Cache, inputs: &Json, epochs: Option<&[u8]>) -> Option<Self> {
        let mut digest = Sha256::new();
        // Another deployment may have another handler.
        update(&mut digest, b'h', &run.pipeline.program_digest(handler)?);
        update(&mut digest, b'p', handler.export.as_bytes());
        for part in [HANDLER_VERSION, &run.pipeline.app.name, &run.tool.name] {
            update(&mut digest, b'p', part.as_bytes());
        }
        match &settings.key {
            None => update_canonical(&mut digest, b'i', inputs),
            Some(key) => {
                let scope = run.scope(inputs);
                update_count(&mut digest, b'k', key.0.len());
                for part in &key.0 {
                    match part {
                        TemplatePart::Text(text) => update(&mut digest, b'p', text.as_bytes()),
                        TemplatePart::Source(source) => match scope.find(source) {
                            None => update(&mut digest, b'n', &[]),
                            Some(value) => update_canonical(&mut digest, b'v', value),
                        },
                    }
                }
            }
        }
        match settings.scope {
            CacheScope::Public => update(&mut digest, b'o', b"public"),
            CacheScope::Principal => update(&mut digest, b'w', run.identity().as_bytes()),
        }
        update_context(&mut digest, run.context.data());
        update_connections(&mut digest, run)?;
        if let Some(epochs) = epochs {
            update(&mut digest, b'e', epochs);
        }
        Some(Self { key: hex::encode(&digest.finalize()), ttl_s: settings.ttl_s })
    }

    /// The kept rows. What cannot be read, or is damaged, is a miss.
    pub(super) async fn look_up(&self, run: &Run<'_>, adapter: &Adapter) -> Option<Rows> {
        let rows = self.kept(run, Rows::from_kept).await;
        run.report.looked_up(adapter, rows.is_some());
        rows
    }

    /// What is kept, read from its bytes. What cannot be read, or is damaged, is a miss.
    pub(super) async fn kept<T>(&self, run: &Run<'_>, read: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        let Subject { tool, request_id, .. } = run.subject();
        match run.pipeline.ports.cache.get(&self.key).await {
            Ok(None) => None,
            Ok(Some(bytes)) => {
                let kept = read(&bytes);
                if kept.is_none() {
                    tracing::warn!(target: TARGET, tool, request_id, "a damaged cache value is ignored");
                }
                kept
            }
            Err(error) => {
                let error = run.pipeline.secrets.strike_error(error);
                tracing::warn!(target: TARGET, tool, request_id, %error, detail = error.source, "the cache cannot be read");
                None
            }
        }
    }

    /// Keeps rows, after the response where the host can, and no longer than whoever gave them
    /// allows.
    pub(super) fn store(self, run: &Run<'_>, rows: &Rows) {
        let ttl_s = rows.keep_s.map_or(self.ttl_s, |most_s| most_s.min(self.ttl_s));
        if ttl_s > 0
            && let Some(bytes) = rows.to_kept()
        {
            Self { ttl_s, ..self }.store_bytes(run, bytes);
        }
    }

    /// Keeps bytes, likewise.
    pub(super) fn store_bytes(self, run: &Run<'_>, bytes: Vec<u8>) {
        let (cache, secrets) = (Rc::clone(&run.pipeline.ports.cache), Rc::clone(&run.pipeline.secrets));
        let (tool, request_id) = (run.tool.name.clone(), String::from(run.request_id));
        run.pipeline.ports.wait_until.wait_until(Box::pin(async move {
            if let Err(error) = cache.put(&self.key, bytes, self.ttl_s).await.map_err(|error| secrets.strike_error(error)) {
                tracing::warn!(target: TARGET, tool, request_id, %error, detail = error.source, "the cache cannot be written");
            }
        }));
    }
}

/// What a script sees of the call, without what is different in each: the number of the request,
/// and the caller, who is a part of the key where the scope says so.
fn update_context(digest: &mut Sha256, ctx: &Json) {
    let Json::Object(members) = ctx else { return update_canonical(digest, b'c', ctx) };
    update_count(digest, b'm', members.len());
    for (name, value) in members.iter().filter(|(name, _)| *name != "auth") {
        update(digest, b'p', name.as_bytes());
        match value {
            Json::Object(request) if name == "request" => {
                update_count(digest, b'm', request.len());
                for (name, value) in request.iter().filter(|(name, _)| *name != "id") {
                    update(digest, b'p', name.as_bytes());
                    update_canonical(digest, b'c', value);
                }
            }
            value => update_canonical(digest, b'c', value),
        }
    }
}

/// What each connection of the app has of the caller, whoever may share the result: the tenant,
/// what is set in its database, and which database it is. `None` where the caller lacks a value.
fn update_connections(digest: &mut Sha256, run: &Run<'_>) -> Option<()> {
    for adapter in &run.pipeline.app.adapters {
        update(digest, b'a', adapter.name.as_bytes());
        if let Some(tenant) = adapter.tenant.as_ref().filter(|_| !run.tool.crosses_tenants) {
            let claim = run.auth.as_ref().and_then(|auth| walk(auth, &tenant.claim.path)).unwrap_or(&Json::Null);
            update_canonical(digest, b't', claim);
        }
        for SessionSetting { name, value } in session::of(run, adapter).ok()? {
            update(digest, b'p', name.as_bytes());
            update(digest, b't', value.as_bytes());
        }
        if let Some(database) = database::of(run, adapter).ok()? {
            update(digest, b'n', database.as_bytes());
        }
    }
    Some(())
}

fn update_canonical(digest: &mut Sha256, tag: u8, value: &Json) {
    let mut text = Vec::new();
    canonical(value, &mut text);
    update(digest, tag, &text);
}

/// `scope` is who may share the entry, or `None` for what every caller shares.
fn key(
    app: &str,
    tool: &str,
    adapter: &str,
    Asked { statement, session, database }: Asked<'_>,
    scope: Option<Identity>,
    epochs: Option<&[u8]>,
) -> String {
    let mut digest = Sha256::new();
    for part in [VERSION, app, tool, adapter] {
        update(&mut digest, b'p', part.as_bytes());
    }
    match statement {
        Rendered::Statement { text, values } | Rendered::Document { text, values, .. } => update_statement(&mut digest, text, values),
        Rendered::Arguments(values) => update_statement(&mut digest, "", values),
        Rendered::Transaction { steps, result } => {
            update_count(&mut digest, b's', steps.len());
            // The first one is at 1.
            update_count(&mut digest, b's', result.map_or(0, |place| place + 1));
            steps.iter().for_each(|step| update_step(&mut digest, step));
        }
    }
    match scope {
        None => update(&mut digest, b'o', b"public"),
        Some(identity) => update(&mut digest, b'w', identity.as_bytes()),
    }
    if !session.is_empty() {
        update_count(&mut digest, b'r', session.len());
        for SessionSetting { name, value } in session {
            update(&mut digest, b'p', name.as_bytes());
            update(&mut digest, b't', value.as_bytes());
        }
    }
    if let Some(database) = database {
        update(&mut digest, b'n', database.as_bytes());
    }
    if let Some(epochs) = epochs {
        update(&mut digest, b'e', epochs);
    }
    hex::encode(&digest.finalize())
}

fn update_statement(digest: &mut Sha256, text: &str, values: &[Value]) {
    update(digest, b'p', text.as_bytes());
    update_count(digest, b'v', values.len());
    for value in values {
        update_value(digest, value);
    }
}

fn update_step(digest: &mut Sha256, step: &BoundStep<'_>) {
    update(digest, b'p', step.text.as_bytes());
    let earlier = |digest: &mut Sha256, StepValue { step, column }: &StepValue| {
        update_count(digest, b'E', *step);
        update(digest, b'p', column.as_bytes());
    };
    update_count(digest, b'v', step.parameters.len());
    for parameter in &step.parameters {
        match parameter {
            Parameter::Value(value) => update_value(digest, value),
            Parameter::Earlier(value) => earlier(digest, value),
            Parameter::Composed(pieces) => {
                update_count(digest, b'C', pieces.len());
                for piece in pieces {
                    match piece {
                        TextPiece::Text(text) => update(digest, b'p', text.as_bytes()),
                        TextPiece::Earlier(value) => earlier(digest, value),
                    }
                }
            }
        }
    }
    match step.expect {
        Some(rows) => update(digest, b'x', &rows.to_le_bytes()),
        None => update_count(digest, b'X', 0),
    }
}

fn update(digest: &mut Sha256, tag: u8, bytes: &[u8]) {
    update_count(digest, tag, bytes.len());
    digest.update(bytes);
}

fn update_count(digest: &mut Sha256, tag: u8, count: usize) {
    digest.update([tag]);
    digest.update((count as u64).to_le_bytes());
}

fn update_value(digest: &mut Sha256, value: &Value) {
    match value {
        Value::Null => update(digest, b'n', &[]),
        Value::Bool(truth) => update(digest, b'b', &[u8::from(*truth)]),
        Value::I64(integer) => update(digest, b'i', &integer.to_le_bytes()),
        Value::U64(integer) => update(digest, b'u', &integer.to_le_bytes()),
        Value::F64(float) => update(digest, b'f', &float.to_bits().to_le_bytes()),
        Value::Decimal(text) => update(digest, b'd', text.as_bytes()),
        Value::Text(text) => update(digest, b't', text.as_bytes()),
        Value::Bytes(bytes) => update(digest, b'x', bytes),
        Value::Timestamp(text) => update(digest, b's', text.as_bytes()),
        Value::Json(document) => update_json(digest, document),
        Value::Array(elements) => {
            update_count(digest, b'a', elements.len());
            elements.iter().for_each(|element| update_value(digest, element));
        }
    }
}

/// JSON text is unambiguous by itself.
fn update_json(digest: &mut Sha256, document: &Json) {
    update(digest, b'j', alloc::format!("{document}").as_bytes());
}

#[cfg(test)]
mod tests {
    use alloc::{borrow::Cow, collections::BTreeSet, vec};

    use serde_json::json;

    use super::*;

    type Call = (&'static str, &'static str, &'static str, &'static str, Vec<Value>, Option<Json>);

    fn keys(calls: &[Call]) -> Vec<String> {
        let key = |(app, tool, adapter, text, params, scope): &Call| {
            let statement = Rendered::Statement { text: Cow::Borrowed(text), values: params.clone() };
            key(
                app,
                tool,
                adapter,
                Asked { statement: &statement, session: &[], database: None },
                scope.as_ref().map(|principal| Identity::of(Some(principal))),
                None,
            )
        };
        calls.iter().map(key).collect()
    }

    #[test]
    fn different_calls_have_different_keys() {
        let text = |text: &str| Value::Text(text.into());
        let calls = [
            ("a", "t", "d", "S", vec![], None),
            ("at", "", "d", "S", vec![], None),
            ("a", "t2", "d", "S", vec![], None),
            ("a", "t", "d2", "S", vec![], None),
            ("a", "t", "d", "S2", vec![], None),
            ("a", "t", "d", "S", vec![Value::Null], None),
            ("a", "t", "d", "S", vec![text("")], None),
            ("a", "t", "d", "S", vec![text("1")], None),
            ("a", "t", "d", "S", vec![Value::Decimal("1".into())], None),
            ("a", "t", "d", "S", vec![Value::Timestamp("1".into())], None),
            ("a", "t", "d", "S", vec![Value::Json(json!(1))], None),
            ("a", "t", "d", "S", vec![Value::Json(json!("1"))], None),
            ("a", "t", "d", "S", vec![Value::Bytes(vec![b'1'])], None),
            ("a", "t", "d", "S", vec![Value::I64(1)], None),
            ("a", "t", "d", "S", vec![Value::U64(1)], None),
            ("a", "t", "d", "S", vec![Value::F64(1.0)], None),
            ("a", "t", "d", "S", vec![Value::F64(-0.0)], None),
            ("a", "t", "d", "S", vec![Value::F64(0.0)], None),
            ("a", "t", "d", "S", vec![Value::Bool(true)], None),
            ("a", "t", "d", "S", vec![text("ab"), text("c")], None),
            ("a", "t", "d", "S", vec![text("a"), text("bc")], None),
            ("a", "t", "d", "S", vec![text("abc")], None),
            ("a", "t", "d", "S", vec![Value::Array(vec![text("a"), text("bc")])], None),
            ("a", "t", "d", "S", vec![Value::Array(vec![text("a")]), text("bc")], None),
            ("a", "t", "d", "S", vec![], Some(json!(null))),
            ("a", "t", "d", "S", vec![], Some(json!("public"))),
            ("a", "t", "d", "S", vec![], Some(json!({"subject": "1", "claims": {}}))),
            ("a", "t", "d", "S", vec![], Some(json!({"subject": "1", "claims": {"tenant": 2}}))),
            ("a", "t", "d", "S", vec![], Some(json!({"subject": 1, "claims": {}}))),
        ];
        let keys = keys(&calls);
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), calls.len());
        assert!(keys.iter().all(|key| key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit())));
    }

    #[test]
    fn different_transactions_have_different_keys() {
        let step = |text: &'static str, parameters: &[Parameter], expect| BoundStep {
            name: "s",
            text: Cow::Borrowed(text),
            parameters: parameters.to_vec(),
            access: crate::app::Access::Read,
            expect,
        };
        let value = |text: &str| Parameter::Value(Value::Text(text.into()));
        let of = |step, column: &str| StepValue { step, column: column.into() };
        let piece = |text: &str| TextPiece::Text(text.into());
        let transactions = [
            (vec![step("S", &[], None)], None),
            (vec![step("S", &[], None)], Some(0)),
            (vec![step("S", &[], Some(0))], None),
            (vec![step("S", &[], Some(1))], None),
            (vec![step("S", &[], None), step("S", &[], None)], None),
            (vec![step("S", &[], None), step("S", &[], None)], Some(1)),
            (vec![step("S", &[value("a")], None)], None),
            (vec![step("S", &[value("a"), value("b")], None)], None),
            (vec![step("S", &[value("a")], None), step("S", &[value("b")], None)], None),
            (vec![step("S", &[Parameter::Earlier(of(0, "a"))], None)], None),
            (vec![step("S", &[Parameter::Earlier(of(1, "a"))], None)], None),
            (vec![step("S", &[Parameter::Earlier(of(0, "b"))], None)], None),
            (vec![step("S", &[Parameter::Composed(vec![piece("a"), piece("b")])], None)], None),
            (vec![step("S", &[Parameter::Composed(vec![piece("ab")])], None)], None),
            (vec![step("S", &[Parameter::Composed(vec![TextPiece::Earlier(of(0, "a"))])], None)], None),
        ];
        let mut keys = BTreeSet::new();
        for (steps, result) in transactions.clone() {
            let rendered = Rendered::Transaction { steps, result };
            keys.insert(key("a", "t", "d", Asked { statement: &rendered, session: &[], database: None }, None, None));
        }
        let statement = Rendered::Statement { text: Cow::Borrowed("S"), values: vec![] };
        keys.insert(key("a", "t", "d", Asked { statement: &statement, session: &[], database: None }, None, None));
        assert_eq!(keys.len(), transactions.len() + 1);
    }

    #[test]
    fn different_sessions_have_different_keys() {
        let statement = Rendered::Statement { text: Cow::Borrowed("S"), values: vec![] };
        let sessions: [&[(&str, &str)]; 8] = [
            &[],
            &[("a.b", "1")],
            &[("a.b", "2")],
            &[("a.c", "1")],
            &[("a.b1", "")],
            &[("a.b", "1"), ("role", "x")],
            &[("role", "x")],
            &[("a.b", "1role"), ("", "x")],
        ];
        let mut keys = BTreeSet::new();
        for session in sessions {
            let session: Vec<_> =
                session.iter().map(|(name, value)| SessionSetting { name: (*name).into(), value: (*value).into() }).collect();
            for (epochs, database) in [(None, None), (Some(&b"r"[..]), None), (None, Some("r")), (None, Some("x")), (Some(b"r"), Some("x"))]
            {
                keys.insert(key("a", "t", "d", Asked { statement: &statement, session: &session, database }, None, epochs));
                keys.insert(key(
                    "a",
                    "t",
                    "d",
                    Asked { statement: &statement, session: &session, database },
                    Some(Identity::of(None)),
                    epochs,
                ));
            }
        }
        assert_eq!(keys.len(), sessions.len() * 10);
    }
}
