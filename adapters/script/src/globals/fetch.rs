//! The native of `fetch`.

use boa_engine::{
    Context, JsArgs, JsResult, JsString, JsValue, js_error,
    object::builtins::{JsArray, JsPromise},
};
use millrace_core::{
    headers::Headers,
    ports::{Fetched, HttpRequest, Redirect},
};

use crate::native::{bytes, new_bytes, new_strings, strings, text};
use crate::{
    state::{RequestKind, state},
    watch,
};

/// The longest body of a response; the core may set less.
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// `(method, url, [name, value, …], bytes, redirect) => Promise<[status, [name, value, …], bytes, url, redirected]>`
pub(super) fn fetch(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let state = state(context)?;
    if state.is_full() {
        return Err(js_error!(RangeError: "too many requests at a time"));
    }
    let mut headers = Headers::new();
    for pair in strings(arguments.get_or_undefined(2), context)?.chunks_exact(2) {
        headers.append(&pair[0], pair[1].as_str());
    }
    let request = HttpRequest {
        method: text(arguments, 0, context)?,
        url: text(arguments, 1, context)?,
        headers,
        body: bytes(arguments, 3, context)?,
        deadline_ms: state.deadline_ms.get(),
        max_response_bytes: MAX_RESPONSE_BYTES,
    };
    let redirect = match text(arguments, 4, context)?.as_str() {
        "follow" => Redirect::Follow,
        "manual" => Redirect::Manual,
        _ => Redirect::Error,
    };
    let (promise, resolvers) = JsPromise::new_pending(context);
    state.request(RequestKind::Fetch(request, redirect), resolvers, watch::stack(context));
    Ok(promise.into())
}

/// `(promise) => promise`: that of `fetch`, which something has to wait for.
pub(super) fn watch(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let promise = arguments.get_or_undefined(0);
    if let Some(object) = promise.as_object() {
        watch::watch(&object, String::from("`fetch(…)`"), watch::stack(context), context)?;
    }
    Ok(promise.clone())
}

/// What the promise of [`fetch`] is fulfilled with.
pub(crate) fn response_to_script(fetched: Fetched, context: &mut Context) -> JsResult<JsValue> {
    let Fetched { response, url, redirected } = fetched;
    let headers = new_strings(response.headers.iter().flat_map(|(name, value)| [name, value]), context);
    let body = new_bytes(&response.body, context)?;
    let url = JsString::from(url.as_str()).into();
    Ok(JsArray::from_iter([response.status.into(), headers, body, url, redirected.into()], context).into())
}
