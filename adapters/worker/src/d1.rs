//! `connector: d1` by the Worker's binding.
//!
//! How values travel, and why, is in `millrace_connectors::d1_binding`. What was not executed is sent again, and a statement that only
//! reads once more where its outcome is not known; a write of unknown outcome never. The binding cannot stop a statement: at the deadline
//! only the waiting ends.

use std::rc::Rc;

use futures_util::future::{Either, select};
use js_sys::{Array, Reflect, Uint8Array, futures::JsFuture};
use millrace_connectors::{
    d1_binding::{
        self,
        answer::Answer,
        failure::explain,
        statement::{Param, Prepared},
    },
    remote::{Failure, Retry},
};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Connection, Connector, LocalFuture, Query, Random},
    value::Rows,
};
use wasm_bindgen::JsValue;
use worker::Env;

use crate::{clock::WorkerClock, glue};

/// A database of D1 that is bound to the Worker.
pub(crate) struct D1 {
    database: JsValue,
    read_only: bool,
    retry: Retry,
}

impl D1 {
    /// Finds the binding.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) where the Worker has no such binding, or it is no D1 database.
    pub(crate) fn open(connection: &Connection, env: &Env, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Result<Self> {
        let adapter = &connection.adapter;
        let binding = d1_binding::binding(connection.connection_string.expose())?;
        if let Some((name, _)) = connection.options.first() {
            return Err(Error::new(ErrorKind::Configuration, format!("connector `d1` by a binding has no option `{name}`")));
        }
        let database = Reflect::get(env, &JsValue::from_str(binding)).unwrap_or(JsValue::UNDEFINED);
        if !Reflect::get(&database, &JsValue::from_str("prepare")).is_ok_and(|method| method.is_function()) {
            let message =
                format!("the D1 binding `{binding}`, which the adapter `{adapter}` needs, is not there; add it to `wrangler.toml`");
            return Err(Error::new(ErrorKind::Configuration, message));
        }
        Ok(Self { database, read_only: connection.read_only, retry: Retry::new(clock, random) })
    }

    async fn run(&self, query: &Query<'_>) -> Result<Rows> {
        let prepared = Prepared::of(query.text, query.params)?;
        if self.read_only && prepared.writes {
            return Err(Error::new(ErrorKind::Denied, "the statement writes, and the adapter is read-only"));
        }
        self.retry.run(query, prepared.effect(), async || self.attempt(query, &prepared).await).await
    }

    async fn attempt(&self, query: &Query<'_>, prepared: &Prepared) -> Result<Rows, Failure> {
        let left_ms = query.deadline_ms.saturating_sub(WorkerClock.now_ms());
        let params: Array = prepared.params.iter().map(param).collect();
        let answer = JsFuture::from(glue::query(&self.database, &prepared.text, &params, prepared.has_rows));
        let text = match select(answer, WorkerClock.sleep(left_ms)).await {
            Either::Left((Ok(text), _)) => text.as_string().unwrap_or_default(),
            Either::Left((Err(thrown), _)) => return Err(explain(&glue::message(&thrown), prepared)),
            Either::Right(_) => return Err(Failure::last(timed_out())),
        };
        if prepared.has_rows {
            let answer = Answer::parse(&text).map_err(Failure::unknown)?;
            return answer.into_rows(prepared, query.max_rows, query.max_bytes).map_err(Failure::last);
        }
        let unclear = |_| Failure::unknown(Error::new(ErrorKind::Protocol, "D1 does not say how many rows it changed"));
        let affected = text.parse().map_err(unclear)?;
        Ok(Rows { affected, ..Rows::default() })
    }
}

impl Connector for D1 {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query).await })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move {
            let access = millrace_core::app::Access::Read;
            self.run(&Query { text: "SELECT 1", params: &[], access, deadline_ms, max_rows: 1, max_bytes: 64 }).await.map(|_| ())
        })
    }
}

fn param(param: &Param) -> JsValue {
    match param {
        Param::Null => JsValue::NULL,
        Param::Number(number) => JsValue::from_f64(*number),
        Param::Text(text) => JsValue::from_str(text),
        Param::Blob(bytes) => Uint8Array::from(bytes.as_slice()).into(),
    }
}

fn timed_out() -> Error {
    Error::new(ErrorKind::TimedOut, "the statement ran past its deadline")
}
