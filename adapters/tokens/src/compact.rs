//! A token taken apart: the compact serialization of [RFC
//! 7515](https://www.rfc-editor.org/rfc/rfc7515#section-7.1).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use millrace_core::{Json, app::TokenAlgorithm};
use serde_json::Map;

use crate::strict_json;

/// The longest token that is looked at, in bytes.
pub(crate) const LONGEST: usize = 16 << 10;

/// A token, not verified.
#[derive(Debug)]
pub(crate) struct Compact<'t> {
    /// The header.
    pub(crate) header: Map<String, Json>,
    /// What it says of itself.
    pub(crate) claims: Map<String, Json>,
    /// What is signed.
    pub(crate) signed: &'t str,
    /// The signature.
    pub(crate) signature: Vec<u8>,
}

impl<'t> Compact<'t> {
    /// Takes a token apart.
    ///
    /// # Errors
    /// Why the text is no token, as a clause about it that shows nothing of it.
    pub(crate) fn parse(token: &'t str) -> Result<Self, String> {
        if token.len() > LONGEST {
            return Err(format!("the token is longer than {LONGEST} bytes"));
        }
        let parts: Vec<&str> = token.split('.').take(6).collect();
        let [header, claims, signature] = parts[..] else {
            return Err(match parts.len() {
                5 => "the token is encrypted (JWE), which is not supported".to_owned(),
                _ => "what was sent is not a JWT: it does not have three parts".to_owned(),
            });
        };
        let decoded =
            |part: &str, name: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| format!("the {name} of the token is not base64url"));
        let object =
            |part: &str, name: &str| strict_json::object(&decoded(part, name)?).map_err(|why| format!("the {name} of the token {why}"));
        let signed = &token[..token.len() - signature.len() - 1];
        Ok(Self {
            header: object(header, "header")?,
            claims: object(claims, "payload")?,
            signed,
            signature: decoded(signature, "signature")?,
        })
    }

    /// The algorithm and the key's identifier, from a header that holds no surprise.
    ///
    /// Keys and addresses of keys in the header (`jwk`, `jku`, `x5c`, `x5u`) are whoever made the
    /// token's: they are not looked at.
    ///
    /// # Errors
    /// What of the header is not accepted.
    pub(crate) fn signed_by(&self, accepted: &[TokenAlgorithm]) -> Result<(TokenAlgorithm, Option<&str>), String> {
        if self.header.contains_key("crit") {
            return Err("the header of the token has `crit`: extensions are not supported".to_owned());
        }
        if self.header.get("b64").is_some_and(|value| *value != Json::Bool(true)) {
            return Err("the header of the token has `b64`: extensions are not supported".to_owned());
        }
        if let Some(typ) = self.header.get("typ") {
            let typ = typ.as_str().unwrap_or_default().to_ascii_lowercase();
            // RFC 7519, section 5.1; RFC 9068, section 2.1. Every other type is a token for
            // something else: RFC 8725, section 3.11.
            if !["jwt", "at+jwt"].contains(&typ.strip_prefix("application/").unwrap_or(&typ)) {
                return Err(format!("the type of the token is `{}`, not `JWT` or `at+jwt`", shown(&typ)));
            }
        }
        let Some(name) = self.header.get("alg").and_then(Json::as_str) else {
            return Err("the header of the token has no `alg`".to_owned());
        };
        let algorithm = TokenAlgorithm::of_name(name).filter(|algorithm| accepted.contains(algorithm)).ok_or_else(|| {
            let accepted: Vec<&str> = accepted.iter().map(|algorithm| algorithm.as_str()).collect();
            format!("the token is signed by `{}`, and accepted is {}", shown(name), accepted.join(", "))
        })?;
        let key = match self.header.get("kid") {
            None => None,
            Some(Json::String(key)) => Some(key.as_str()),
            Some(_) => return Err("`kid` in the header of the token is not a string".to_owned()),
        };
        Ok((algorithm, key))
    }
}

/// A text out of a token, for the log.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
