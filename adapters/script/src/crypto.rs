//! What `crypto.subtle` of scripts has computed: natively by crates, in a Worker by the platform. A
//! key crosses as bytes: those of a secret, or the structure SPKI or PKCS #8. The prelude
//! (prelude/parts/crypto.js) has looked at algorithms, usages and formats before.

#[cfg(not(target_arch = "wasm32"))]
mod native;
mod operation;
#[cfg(target_arch = "wasm32")]
mod worker;

use millrace_core::ports::ScriptHost;
use serde_json::json;

use operation::Computed;
pub(crate) use operation::Operation;

/// Computes it.
pub(crate) async fn compute(operation: Operation, host: &dyn ScriptHost) -> Computed {
    let computed = match operation.check() {
        Ok(()) => {
            #[cfg(target_arch = "wasm32")]
            let computed = worker::compute(&operation, host).await;
            #[cfg(not(target_arch = "wasm32"))]
            let computed = native::compute(&operation, host);
            computed
        }
        Err(failed) => Err(failed),
    };
    computed.unwrap_or_else(|failed| (json!({"error": failed.name, "reason": failed.reason}), None))
}
