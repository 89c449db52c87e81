//! Signed tokens of issuers: JSON Web Tokens ([RFC 7519](https://www.rfc-editor.org/rfc/rfc7519)),
//! by the advice of [RFC 8725](https://www.rfc-editor.org/rfc/rfc8725).
//!
//! Everything about a token is here but the arithmetic of its signature, which a host does:
//! [`Signatures`]. In the order of a call:
//!
//! - `compact`: a token taken apart; `strict_json`: its JSON, in which no member appears twice.
//! - [`jwk`]: keys, and which of them a token may be signed with.
//! - `issuer_keys`: the keys of an issuer, kept and fetched again; `provider`: where they are.
//! - `claims`: issuer, audience and times.
//! - `remembered`: signatures that were verified a moment ago.
//! - `introspection`: tokens that only their issuer can read.
//! - [`JwtVerifier`]: all of it, as the port of the core.

mod claims;
mod compact;
mod introspection;
mod issuer_keys;
pub mod jwk;
mod provider;
mod remembered;
mod signatures;
mod strict_json;
mod verifier;

pub use provider::check_url;
pub use signatures::Signatures;
pub use verifier::JwtVerifier;
