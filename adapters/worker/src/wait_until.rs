//! Work after the response.
//!
//! The platform lets work outlive a response only by the context of its own request: what the core
//! hands over in a poll belongs to the request that is polled.

use js_sys::futures::{future_to_promise, spawn_local};
use millrace_core::ports::{LocalFuture, WaitUntil};
use wasm_bindgen::JsValue;

use crate::current;

/// Hands work to the context of the request that is being polled.
pub(crate) struct RequestWaitUntil;

impl WaitUntil for RequestWaitUntil {
    fn wait_until(&self, task: LocalFuture<'static, ()>) {
        current::with_context(|context| {
            let Some(context) = context else { return spawn_local(task) };
            let promise = future_to_promise(async {
                task.await;
                Ok(JsValue::UNDEFINED)
            });
            if context.wait_until(&promise).is_err() {
                tracing::warn!("the platform does not wait for work after the response");
            }
        });
    }
}
