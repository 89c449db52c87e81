//! By the platform of a Worker, which has all of it: no arithmetic is in the upload.

use js_sys::{Array, Promise, Uint8Array, futures::JsFuture};
use millrace_core::{Json, ports::ScriptHost};
use wasm_bindgen::{JsCast as _, prelude::wasm_bindgen};

use super::operation::{Computed, DATA, Failed, OPERATION, Operation, check_modulus, not_supported};
use crate::wire;

#[wasm_bindgen(module = "/src/crypto/worker.js")]
extern "C" {
    #[wasm_bindgen(js_name = compute)]
    fn compute_there(text: &str, tail: &[u8]) -> Promise;
}

/// Computes an operation. Randomness is the platform's.
pub(super) async fn compute(asked: &Operation, _: &dyn ScriptHost) -> Result<Computed, Failed> {
    if asked.name == "generate" && asked.number("modulusLength") > 0 {
        check_modulus(usize::try_from(asked.number("modulusLength")).unwrap_or(usize::MAX))?;
    }
    let answer = JsFuture::from(compute_there(&asked.members.to_string(), &asked.parts.concat())).await.map_err(|_| OPERATION)?;
    let answer = match answer.dyn_into::<Array>() {
        Ok(answer) => answer,
        Err(name) => {
            return Err(match name.as_string().as_deref() {
                // The structure of a key may be sound, and the key none.
                _ if asked.name == "import" => DATA,
                Some("DataError") => DATA,
                Some("NotSupportedError") => {
                    not_supported(format!("`{}` of `{}` is not supported by the platform", asked.name, asked.text("name")))
                }
                _ => OPERATION,
            });
        }
    };
    let value = answer.get(0).as_string().and_then(|text| wire::parse(&text)).unwrap_or(Json::Null);
    if let Some(bits) = value["modulusLength"].as_u64() {
        check_modulus(usize::try_from(bits).unwrap_or(usize::MAX))?;
    }
    let bytes = answer.get(1).dyn_into::<Uint8Array>().ok().map(|bytes| bytes.to_vec());
    Ok((value, bytes))
}
