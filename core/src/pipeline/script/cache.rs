//! `ctx.cache`: what scripts keep for a while, each caller apart.
//!
//! The key of an entry is the SHA-256 of the app, the caller's whole
//! [`Identity`](crate::pipeline::call::identity::Identity) and the script's own key, each with its
//! length before it. What is put there before anybody is known, by an authentication plugin, is
//! apart from what is put there for callers that nobody named. A cache that fails has nothing, and
//! a line in the log says so.

use alloc::{format, string::String};

use sha2::{Digest as _, Sha256};

use crate::{
    Error, ErrorKind, Json, Result, hex,
    pipeline::{
        call::report::Subject,
        call::run::{Run, TARGET},
    },
};

/// Begins the text of each key.
const VERSION: &str = "millrace-script-1";
/// The longest key of a script, in bytes.
const MAX_KEY_BYTES: usize = 1_000;
/// The longest value, as JSON in bytes.
const MAX_VALUE_BYTES: usize = 256 << 10;
/// How many times the scripts of one call may use it, and how many bytes they may put there.
const MAX_USES: u32 = 100;
const MAX_PUT_BYTES: usize = 4 << 20;
/// The longest time, in seconds.
const MAX_TTL_S: f64 = 31_536_000.0;

/// What is kept; `None` where nothing is.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied) past a limit.
pub(super) async fn get(run: &Run<'_>, key: &str) -> Result<Option<Json>> {
    let key = used(run, key, 0)?;
    let Subject { tool, request_id, .. } = run.subject();
    match run.pipeline.ports.cache.get(&key).await {
        Ok(found) => Ok(found.and_then(|bytes| serde_json::from_slice(&bytes).ok())),
        Err(error) => {
            let error = run.pipeline.secrets.strike_error(error);
            tracing::warn!(target: TARGET, tool, request_id, %error, detail = error.source, "the cache cannot be read");
            Ok(None)
        }
    }
}

/// Keeps a value. Where the cache fails, nothing is kept.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied) past a limit.
pub(super) async fn put(run: &Run<'_>, key: &str, value: &Json, ttl_s: f64) -> Result<()> {
    if !(1.0..=MAX_TTL_S).contains(&ttl_s) || ttl_s % 1.0 != 0.0 {
        return Err(denied(format!("`ttl` of `ctx.cache.put` is a whole number of seconds from 1 to {MAX_TTL_S}")));
    }
    let bytes = serde_json::to_vec(value).map_err(|_| denied("the value of `ctx.cache.put` is not JSON".into()))?;
    if bytes.len() > MAX_VALUE_BYTES {
        return Err(denied(format!("a value of `ctx.cache` has at most {MAX_VALUE_BYTES} bytes as JSON; this one has {}", bytes.len())));
    }
    let key = used(run, key, bytes.len())?;
    let Subject { tool, request_id, .. } = run.subject();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a whole number within the bounds above")]
    if let Err(error) = run.pipeline.ports.cache.put(&key, bytes, ttl_s as u32).await {
        let error = run.pipeline.secrets.strike_error(error);
        tracing::warn!(target: TARGET, tool, request_id, %error, detail = error.source, "the cache cannot be written");
    }
    Ok(())
}

/// Counts a use, and gives the key in the store.
fn used(run: &Run<'_>, key: &str, bytes: usize) -> Result<String> {
    if key.is_empty() || key.len() > MAX_KEY_BYTES {
        return Err(denied(format!("a key of `ctx.cache` has 1 to {MAX_KEY_BYTES} bytes")));
    }
    let (uses, put) = run.cache_uses.get();
    if uses >= MAX_USES {
        return Err(denied(format!("a call may use `ctx.cache` {MAX_USES} times")));
    }
    if put.saturating_add(bytes) > MAX_PUT_BYTES {
        return Err(denied(format!("a call may put {MAX_PUT_BYTES} bytes into `ctx.cache`")));
    }
    run.cache_uses.set((uses + 1, put + bytes));
    let is_known = !run.asks_who_calls.get();
    let mut digest = Sha256::new();
    let identity = run.identity();
    for part in [VERSION.as_bytes(), run.pipeline.app.name.as_bytes(), &[u8::from(is_known)], identity.as_bytes(), key.as_bytes()] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    Ok(hex::encode(&digest.finalize()))
}

fn denied(message: String) -> Error {
    Error::new(ErrorKind::Denied, message)
}
