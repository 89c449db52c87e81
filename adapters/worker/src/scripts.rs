//! The script engine, in a runtime that has one.
//!
//! The engine is a module of its own beside the runtime. The feature `scripts` leaves out what runs
//! it, and `millrace build` takes the runtime that its app needs. A runtime without the engine
//! refuses an app with scripts when the isolate starts, so that no call finds it out.

use std::rc::Rc;

use millrace_core::{app::App, ports::ScriptEngine};
use wasm_bindgen::JsValue;

#[cfg(not(feature = "scripts"))]
mod absent;

/// An engine that has not started yet.
#[cfg(feature = "scripts")]
pub(crate) fn engine() -> Rc<dyn ScriptEngine> {
    Rc::new(millrace_script::Engine::new())
}

/// The engine of apps without scripts: nothing calls it.
#[cfg(not(feature = "scripts"))]
pub(crate) fn engine() -> Rc<dyn ScriptEngine> {
    Rc::new(absent::NoScriptEngine)
}

/// Takes the engine's module over: a `WebAssembly.Module`.
pub(crate) fn set_module(module: &JsValue) {
    #[cfg(feature = "scripts")]
    millrace_script::set_module(module);
    #[cfg(not(feature = "scripts"))]
    let _ = module;
}

/// Why this runtime cannot serve an app; `None` where it can.
pub(crate) fn refusal(app: &App) -> Option<String> {
    let script = app.scripts.first().filter(|_| !cfg!(feature = "scripts"))?;
    Some(format!(
        "the app has scripts (`{}`), and this runtime was made without the script engine; build the app again with `millrace build --target worker`",
        script.path
    ))
}
