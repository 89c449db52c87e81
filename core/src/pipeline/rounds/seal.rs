//! The state of a call between two rounds: sealed with XChaCha20-Poly1305, so that nobody but this
//! server reads or changes it.
//!
//! A state is base64url of `1`, the length of the key's id, the id, a nonce of 24 random bytes, and
//! the sealed [`Claims`]. It opens only for the same app, tool, arguments and principal, and within
//! an hour. The key comes from the variable `MILLRACE_STATE_KEY`: one or more of `ID:BASE64` (or
//! `BASE64` alone) with commas between, 32 bytes each. The first seals, all open: put a new key
//! first, and drop the old one an hour later.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use chacha20poly1305::{
    XChaCha20Poly1305, XNonce,
    aead::{Aead as _, KeyInit as _, Payload},
};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use sha2::{Digest as _, Sha256};

use crate::{
    Json,
    fault::{Fault, FaultResult, Stage},
    pipeline::{
        call::dialogue::Binding,
        call::identity::canonical,
        call::run::{Run, missing_variable},
    },
};

/// The variable with the keys.
const VARIABLE: &str = crate::app::STATE_KEY;
/// The first byte of every state.
const VERSION: u8 = 1;
const NONCE_BYTES: usize = 24;
const KEY_BYTES: usize = 32;
/// How long a state opens, in milliseconds: people take their time to answer.
const LIFETIME_MS: u64 = 3_600_000;
/// The longest state that is looked at, in characters, and the longest that is given out.
const MAX_STATE: usize = 64 << 10;

/// What is sealed.
#[derive(Serialize, Deserialize)]
struct Claims {
    binding: [u8; 32],
    expires_ms: u64,
    asked: Vec<String>,
    /// JSON text.
    answers: String,
}

/// What a state said.
pub(super) struct OpenedState {
    pub(super) asked: Vec<String>,
    pub(super) answers: Map<String, Json>,
}

struct Key {
    id: String,
    cipher: XChaCha20Poly1305,
}

impl Binding {
    pub(super) fn of(run: &Run<'_>, arguments: &Json) -> Self {
        let mut text = Vec::new();
        for part in [run.pipeline.app.name.as_str(), run.tool.name.as_str()] {
            text.extend((part.len() as u64).to_le_bytes());
            text.extend(part.as_bytes());
        }
        text.extend(run.identity().as_bytes());
        canonical(arguments, &mut text);
        Self(Sha256::digest(&text).into())
    }
}

/// Opens a state; `None` for whatever was not sealed here for this call.
pub(super) fn open(run: &Run<'_>, binding: &Binding, state: &str) -> Option<OpenedState> {
    if state.len() > MAX_STATE {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(state).ok()?;
    let (version, rest) = bytes.split_first()?;
    let (id_length, rest) = rest.split_first()?;
    let (id, rest) = rest.split_at_checked(usize::from(*id_length))?;
    let (nonce, sealed) = rest.split_at_checked(NONCE_BYTES)?;
    if *version != VERSION {
        return None;
    }
    let keys = keys(run).ok()?;
    let key = keys.iter().find(|key| key.id.as_bytes() == id)?;
    let nonce: [u8; NONCE_BYTES] = nonce.try_into().ok()?;
    let head = bytes.get(..2 + id.len())?;
    let opened = key.cipher.decrypt(&XNonce::from(nonce), Payload { msg: sealed, aad: head }).ok()?;
    let claims: Claims = postcard::from_bytes(&opened).ok()?;
    if claims.binding != binding.0 || claims.expires_ms <= run.pipeline.ports.clock.now_ms() {
        return None;
    }
    Some(OpenedState { asked: claims.asked, answers: serde_json::from_str(&claims.answers).ok()? })
}

/// Seals a state.
///
/// # Errors
/// `CONFIGURATION` where there is no key, or none that is one; `INPUT_TOO_LARGE` where the answers
/// are too much to carry.
pub(super) fn close(run: &Run<'_>, binding: &Binding, asked: &[String], answers: &Map<String, Json>) -> FaultResult<String> {
    let keys = keys(run)?;
    let Some(key) = keys.first() else { return Err(missing_variable(VARIABLE, Stage::Guard).into()) };
    let ports = &run.pipeline.ports;
    let claims = Claims {
        binding: binding.0,
        expires_ms: ports.clock.now_ms().saturating_add(LIFETIME_MS),
        asked: asked.to_vec(),
        answers: serde_json::to_string(answers).unwrap_or_default(),
    };
    let mut nonce = [0; NONCE_BYTES];
    ports.random.fill(&mut nonce);
    let mut bytes = Vec::from([VERSION, u8::try_from(key.id.len()).unwrap_or(0)]);
    bytes.extend(key.id.as_bytes());
    let internal = || Fault::new(Stage::Guard, "INTERNAL", "The state of the call cannot be sealed.").by_operator();
    let claims = postcard::to_allocvec(&claims).map_err(|_| internal())?;
    let sealed = key.cipher.encrypt(&XNonce::from(nonce), Payload { msg: &claims, aad: &bytes }).map_err(|_| internal())?;
    bytes.extend(nonce);
    bytes.extend(sealed);
    let state = URL_SAFE_NO_PAD.encode(bytes);
    if state.len() > MAX_STATE {
        return Err(Fault::new(Stage::Guard, "INPUT_TOO_LARGE", "The answers of the earlier rounds are too long to be carried along.")
            .suggesting("Answer more briefly.")
            .into());
    }
    Ok(state)
}

/// The keys of the variable, in order.
fn keys(run: &Run<'_>) -> FaultResult<Vec<Key>> {
    let value = run.pipeline.ports.env.var(VARIABLE).filter(|value| !value.expose().trim().is_empty());
    let Some(value) = value else { return Err(missing_variable(VARIABLE, Stage::Guard).into()) };
    let mut keys = Vec::new();
    for part in value.expose().split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (id, key) = part.split_once(':').unwrap_or(("", part));
        let key: Option<[u8; KEY_BYTES]> = STANDARD.decode(key).ok().and_then(|key| key.try_into().ok());
        let Some(key) = key.filter(|_| id.len() <= 32) else {
            let message = format!("The environment variable `{VARIABLE}` must be `ID:KEY`, where the key is base64 of {KEY_BYTES} bytes.");
            return Err(Fault::new(Stage::Guard, "CONFIGURATION", message).by_operator().into());
        };
        keys.push(Key { id: id.to_string(), cipher: XChaCha20Poly1305::new(&key.into()) });
    }
    Ok(keys)
}
