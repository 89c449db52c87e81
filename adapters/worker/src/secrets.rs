//! Secrets of the Worker: bindings of Cloudflare's Secrets Store, and what `wrangler secret put`
//! keeps.

use std::pin::pin;

use futures_util::future::{Either, select};
use js_sys::Reflect;
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Env as _, LocalFuture, SecretStore},
    secret::Secret,
};
use wasm_bindgen::{JsCast as _, JsValue};

use crate::{clock::WorkerClock, env::Variables};

/// The binding of a secret's name: a secret of the Secrets Store, or a variable.
pub(crate) struct Bindings(pub(crate) worker::Env);

impl SecretStore for Bindings {
    fn read<'a>(&'a self, name: &'a str, deadline_ms: u64) -> LocalFuture<'a, Result<Option<Secret<String>>>> {
        Box::pin(async move {
            let binding = Reflect::get(&self.0, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED);
            if !binding.is_object() {
                return Ok(Variables::new(self.0.clone()).var(name));
            }
            let store = worker::SecretStore::unchecked_from_js(binding);
            let pause = WorkerClock.sleep(deadline_ms.saturating_sub(WorkerClock.now_ms()));
            match select(pin!(store.get()), pause).await {
                Either::Left((answer, _)) => answer.map(|text| text.map(Secret::new)).map_err(|error| {
                    let message = format!("the binding `{name}` does not give a secret");
                    Error::new(ErrorKind::Unavailable, message).with_source(error.to_string())
                }),
                Either::Right(_) => {
                    let message = format!("the Secrets Store did not give the secret of the binding `{name}` in time");
                    Err(Error::new(ErrorKind::TimedOut, message))
                }
            }
        })
    }
}
