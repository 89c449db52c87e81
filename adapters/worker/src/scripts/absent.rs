//! No script engine.

use millrace_core::ports::{Invocation, LocalFuture, Returned, ScriptEngine, ScriptFault};

/// Refuses every call.
pub(super) struct NoScriptEngine;

impl ScriptEngine for NoScriptEngine {
    fn call<'a>(&'a self, _: Invocation<'a>) -> LocalFuture<'a, Result<Returned, ScriptFault>> {
        Box::pin(async { Err(ScriptFault::Broken("this runtime was made without the script engine".into())) })
    }
}
