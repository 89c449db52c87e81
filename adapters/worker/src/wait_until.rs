//! Work after the response.
//!
//! The platform lets work outlive a response only by the context of its own request, and the endpoint is shared by all requests of the
//! isolate. So a request's future carries its context along and shows it while it is polled: what the core hands over in
//! that poll belongs to that request.

use std::{
    cell::RefCell,
    future::{Future, poll_fn},
    pin::pin,
};

use js_sys::futures::{future_to_promise, spawn_local};
use millrace_core::ports::{LocalFuture, WaitUntil};
use wasm_bindgen::JsValue;
use worker::worker_sys::Context;

thread_local! {
    static CURRENT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// Runs a request's future with its context at hand.
pub(crate) async fn within<T>(context: Context, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Some(context);
    poll_fn(move |task| {
        CURRENT.set(context.take());
        let outcome = future.as_mut().poll(task);
        context = CURRENT.take();
        outcome
    })
    .await
}

/// Hands work to the context of the request that is being polled.
pub(crate) struct OfRequest;

impl WaitUntil for OfRequest {
    fn wait_until(&self, task: LocalFuture<'static, ()>) {
        CURRENT.with_borrow(|context| {
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
