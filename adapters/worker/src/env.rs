//! Variables and secrets of the Worker.

use js_sys::Reflect;
use millrace_core::{ports::Env, secret::Secret};
use wasm_bindgen::JsValue;

/// `[vars]` of `wrangler.toml` and what `wrangler secret put` keeps. A variable that is a number or
/// a boolean is its text; bindings are no variables.
pub(crate) struct Variables(worker::Env);

impl Variables {
    pub(crate) fn new(env: worker::Env) -> Self {
        Self(env)
    }
}

impl Env for Variables {
    fn var(&self, name: &str) -> Option<Secret<String>> {
        let value = Reflect::get(&self.0, &JsValue::from_str(name)).ok()?;
        let text = value
            .as_string()
            .or_else(|| value.as_bool().map(|truth| truth.to_string()))
            .or_else(|| value.as_f64().map(|number| number.to_string()))?;
        Some(Secret::new(text))
    }
}
