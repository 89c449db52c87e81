//! The functions of `glue.js`.

use js_sys::{Array, Function, Promise, Uint8Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/glue.js")]
extern "C" {
    /// Sends a request; resolves to `[status, header lines, body]`, rejects with
    /// `[phase, message]`.
    pub(crate) fn send(method: &str, url: &str, header_lines: &str, body: Uint8Array, limit: f64, controller: &JsValue) -> Promise;

    /// A `Response`.
    pub(crate) fn respond(status: u16, headers: &JsValue, body: &JsValue) -> JsValue;

    /// `Headers` of lines.
    pub(crate) fn fields(lines: &str) -> JsValue;

    /// Calls a function with a number after a pause; gives the timer.
    pub(crate) fn pause(ms: f64, ring: &Closure<dyn FnMut(u32)>, number: u32) -> JsValue;

    /// Takes a timer back.
    #[wasm_bindgen(js_name = endPause)]
    pub(crate) fn end_pause(timer: &JsValue);

    /// Calls a function with a number, in the request that is at work now, when what it gives is
    /// called.
    pub(crate) fn door(enter: &Closure<dyn FnMut(u32)>, number: u32) -> Function;

    /// An `AbortController`.
    fn controller() -> JsValue;

    fn abort(controller: &JsValue);

    /// Runs a statement of D1; resolves to JSON.
    pub(crate) fn query(database: &JsValue, text: &str, params: &Array, returns: bool) -> Promise;

    /// Takes a step in the Durable Object that has the key; `rest` is what its function gets.
    /// Resolves to what that gives.
    #[wasm_bindgen(variadic)]
    pub(crate) fn step(namespace: &JsValue, name: &str, key: &str, rest: Array) -> Promise;

    /// Asks a limiter of the platform; resolves to a truth value.
    #[wasm_bindgen(js_name = isWithin)]
    pub(crate) fn is_within(limiter: &JsValue, key: &str) -> Promise;

    /// Verifies a signature; resolves to a truth value.
    #[wasm_bindgen(js_name = isSigned)]
    pub(crate) fn is_signed(algorithm: &str, key: &str, message: &str, signature: Uint8Array) -> Promise;

    /// Runs statements of D1 as one transaction; resolves to JSON.
    pub(crate) fn batch(database: &JsValue, texts: &Array, parameters: &Array) -> Promise;
}

/// The platform's reader of URLs.
#[cfg(feature = "databases")]
#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = URL)]
    pub(crate) type PlatformUrl;

    #[wasm_bindgen(constructor, catch, js_class = "URL")]
    pub(crate) fn new(url: &str) -> Result<PlatformUrl, JsValue>;

    /// The URL as the standard writes it.
    #[wasm_bindgen(method, getter, js_class = "URL")]
    pub(crate) fn href(this: &PlatformUrl) -> String;
}

/// Ends the request that it was given to, when dropped: whoever waited for it may have gone.
pub(crate) struct Sending(JsValue);

impl Sending {
    pub(crate) fn begin() -> Self {
        Self(controller())
    }

    pub(crate) fn controller(&self) -> &JsValue {
        &self.0
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        abort(&self.0);
    }
}

/// Header fields as lines, name and value in turn.
pub(crate) fn lines<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, value) in fields {
        // A line break in a value would make a field of what follows.
        if !name.contains('\n') && !value.contains(['\r', '\n']) {
            text.push_str(name);
            text.push('\n');
            text.push_str(value);
            text.push('\n');
        }
    }
    text
}

/// The message of whatever JavaScript threw.
pub(crate) fn message(thrown: &JsValue) -> String {
    let text = |value: JsValue| value.as_string().filter(|text| !text.is_empty());
    let named = js_sys::Reflect::get(thrown, &JsValue::from_str("message")).ok().and_then(text);
    named.or_else(|| thrown.as_string()).unwrap_or_else(|| format!("{thrown:?}"))
}
