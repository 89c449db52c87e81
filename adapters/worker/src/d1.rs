//! The way to D1 by the Worker's binding. All else of `connector: d1` is in
//! `millrace_connectors::d1`.
//!
//! The binding cannot stop a statement: at the deadline only the waiting ends.

use futures_util::future::{Either, select};
use js_sys::{Array, Reflect, Uint8Array, futures::JsFuture};
use millrace_connectors::{
    d1::{Parameter, Prepared, Reply, Transport, failure_of_message},
    shared::{StatementFailure, timed_out},
};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Connection, LocalFuture, Query},
};
use wasm_bindgen::JsValue;
use worker::Env;

use crate::{clock::WorkerClock, glue};

/// A database of D1 that is bound to the Worker.
pub(crate) struct Binding(JsValue);

impl Binding {
    /// Finds the binding.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) where the Worker has no such binding, or it is
    /// not a D1 database.
    pub(crate) fn find(connection: &Connection, binding: &str, env: &Env) -> Result<Self> {
        let adapter = &connection.adapter;
        if let Some((name, _)) = connection.options.first() {
            return Err(Error::new(ErrorKind::Configuration, format!("connector `d1` by a binding has no option `{name}`")));
        }
        let database = Reflect::get(env, &JsValue::from_str(binding)).unwrap_or(JsValue::UNDEFINED);
        if !Reflect::get(&database, &JsValue::from_str("prepare")).is_ok_and(|method| method.is_function()) {
            let message =
                format!("the D1 binding `{binding}`, which the adapter `{adapter}` needs, does not exist; add it to `wrangler.toml`");
            return Err(Error::new(ErrorKind::Configuration, message));
        }
        Ok(Self(database))
    }
}

impl Transport for Binding {
    fn takes_bytes(&self) -> bool {
        true
    }

    fn send<'a>(&'a self, prepared: &'a Prepared<'_>, query: &'a Query<'_>) -> LocalFuture<'a, Result<Reply, StatementFailure>> {
        Box::pin(async move {
            let left_ms = query.deadline_ms.saturating_sub(WorkerClock.now_ms());
            let parameters: Array = prepared.parameters.iter().map(parameter).collect();
            let answer = JsFuture::from(glue::query(&self.0, &prepared.text, &parameters, prepared.effect.returns));
            match select(answer, WorkerClock.sleep(left_ms)).await {
                Either::Left((Ok(text), _)) => Reply::parse(text.as_string().unwrap_or_default().as_bytes()),
                Either::Left((Err(thrown), _)) => Err(failure_of_message(&glue::message(&thrown), prepared)),
                Either::Right(_) => Err(StatementFailure::last(timed_out())),
            }
        })
    }

    fn send_batch<'a>(
        &'a self,
        batch: &'a [Prepared<'_>],
        author: usize,
        query: &'a Query<'_>,
    ) -> LocalFuture<'a, Result<Vec<Reply>, StatementFailure>> {
        Box::pin(async move {
            let left_ms = query.deadline_ms.saturating_sub(WorkerClock.now_ms());
            let texts: Array = batch.iter().map(|prepared| JsValue::from_str(&prepared.text)).collect();
            let parameters: Array = batch.iter().map(|prepared| prepared.parameters.iter().map(parameter).collect::<Array>()).collect();
            let answers = JsFuture::from(glue::batch(&self.0, &texts, &parameters));
            match select(answers, WorkerClock.sleep(left_ms)).await {
                Either::Left((Ok(text), _)) => Reply::parse_batch(text.as_string().unwrap_or_default().as_bytes(), batch.len()),
                Either::Left((Err(thrown), _)) => Err(match subject(batch, author) {
                    Some(prepared) => failure_of_message(&glue::message(&thrown), prepared),
                    None => StatementFailure::last(Error::new(ErrorKind::Protocol, "the batch for D1 is empty")),
                }),
                Either::Right(_) => Err(StatementFailure::last(timed_out())),
            }
        })
    }
}

/// The index in a batch is that of the author's statement, or the first.
fn subject<'a, 'b>(batch: &'a [Prepared<'b>], author: usize) -> Option<&'a Prepared<'b>> {
    batch.get(author).or(batch.first())
}

fn parameter(parameter: &Parameter<'_>) -> JsValue {
    match parameter {
        Parameter::Text(text) => JsValue::from_str(text),
        Parameter::Bytes(bytes) => Uint8Array::from(*bytes).into(),
    }
}
