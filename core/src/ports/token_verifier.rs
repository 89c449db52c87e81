use alloc::{rc::Rc, string::String};

use serde_json::Map;

use super::LocalFuture;
use crate::{Json, app::TokenAlgorithm, secret::Secret};

/// What a token says of its caller.
pub type Claims = Map<String, Json>;

/// What a token has to fulfil, variables filled in.
#[derive(Clone, Copy, Debug)]
pub struct TokenPolicy<'a> {
    /// What `iss` must be, to the letter.
    pub issuer: &'a str,
    /// The path of the claim that names the audience; see [`claim_at`].
    pub audience_claim: &'a str,
    /// What it may be, or have among others.
    pub audiences: &'a [String],
    /// Where the keys are.
    pub keys: TokenKeys<'a>,
    /// The signatures that are accepted.
    pub algorithms: &'a [TokenAlgorithm],
    /// How far clocks may be apart, in seconds.
    pub leeway_s: u32,
}

/// Where the keys of an issuer are.
#[derive(Clone, Copy, Debug)]
pub enum TokenKeys<'a> {
    /// Where the issuer's metadata says.
    Discovery,
    /// A key set at this URL.
    Url(&'a str),
    /// A key set as JSON text.
    Set(&'a str),
    /// The key of HMAC.
    Secret(&'a Secret<String>),
    /// None: this server is asked about each token.
    Introspection(Introspection<'a>),
}

/// A server that says what a token is ([RFC 7662](https://www.rfc-editor.org/rfc/rfc7662)).
#[derive(Clone, Copy, Debug)]
pub struct Introspection<'a> {
    /// Its URL.
    pub endpoint: &'a str,
    /// Who asks.
    pub client_id: &'a str,
    /// The client's secret.
    pub client_secret: &'a Secret<String>,
    /// How long an answer is used, in seconds.
    pub keep_s: u32,
}

/// Why a token is not accepted. The texts are for the log; they carry nothing of the token but its
/// issuer, its audience and names in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenRefusal {
    /// It is no token of this issuer: another policy may know it.
    Foreign(String),
    /// It is a token of this issuer, and wrong.
    Caller(String),
    /// It cannot be verified before the operator has acted.
    Operator(String),
    /// It cannot be verified now: the issuer does not answer.
    Unavailable(String),
}

/// Verifies the signed tokens of issuers.
///
/// An implementation gets the issuer's keys itself, keeps them for their lifetime and while the
/// issuer does not answer, and asks the issuer so rarely that no caller can make it a burden. Where
/// the issuer's server is asked about each token, that is at most a few at a time. It answers
/// before the deadline.
pub trait TokenVerifier {
    /// The claims of a token that is good: signature, issuer, audience and times.
    ///
    /// # Errors
    /// Why it is not; whatever is not understood is refused.
    fn verify<'a>(&'a self, token: &'a str, policy: TokenPolicy<'a>, deadline_ms: u64)
    -> LocalFuture<'a, Result<Rc<Claims>, TokenRefusal>>;
}

/// The claim at a path: the one with the whole path as its name (`https://example.com/roles`), else
/// dots lead into objects (`realm_access.roles`).
#[must_use]
pub fn claim_at<'c>(claims: &'c Claims, path: &str) -> Option<&'c Json> {
    if let Some(claim) = claims.get(path) {
        return Some(claim);
    }
    let mut names = path.split('.');
    let mut claim = claims.get(names.next()?)?;
    for name in names {
        claim = claim.get(name)?;
    }
    Some(claim)
}
