//! What `plugin: jwt` demands of a token.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{EnvTemplate, Literal};
use crate::platform_caller::Authorizer;

/// The policy of `jwt`, and of the other plugins that read what somebody trustworthy says of a
/// caller. See [RFC 7519](https://www.rfc-editor.org/rfc/rfc7519) for the words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JwtPolicy {
    /// `auth.plugin` of callers, as the app names it: `jwt`.
    pub plugin: String,
    /// Where callers send the token.
    pub carrier: TokenCarrier,
    /// `issuer`: what `iss` must be, to the letter.
    pub issuer: EnvTemplate,
    /// `audience`
    pub audience: Audience,
    /// Where the keys are.
    pub keys: KeySource,
    /// The signatures that are accepted. HMAC only with [`KeySource::Secret`], and no other one
    /// with it.
    pub algorithms: Vec<TokenAlgorithm>,
    /// `leeway`: how far clocks may be apart, in seconds.
    pub leeway_s: u32,
    /// `scopes`: what a caller must have.
    pub scopes: Vec<String>,
    /// `subject`: the path of the claim that is `auth.subject`.
    pub subject: String,
    /// `roles`: the paths of the claims that are `auth.roles`.
    pub roles: Vec<String>,
    /// `claims`: what the token must say beside this.
    pub claims: Vec<ClaimRule>,
}

impl JwtPolicy {
    /// Every text in which variables may stand.
    pub fn templates(&self) -> impl Iterator<Item = &EnvTemplate> {
        let keys: [Option<&EnvTemplate>; 3] = match &self.keys {
            KeySource::Discovery | KeySource::Platform => [None; 3],
            KeySource::Url(text) | KeySource::Set(text) | KeySource::Secret(text) => [Some(text), None, None],
            KeySource::Introspection(server) => [Some(&server.endpoint), Some(&server.client_id), Some(&server.client_secret)],
        };
        let values = self.claims.iter().flat_map(|rule| &rule.values).filter_map(|value| match value {
            ClaimValue::Text(text) => Some(text),
            ClaimValue::Literal(_) => None,
        });
        [&self.issuer].into_iter().chain(&self.audience.values).chain(keys.into_iter().flatten()).chain(values)
    }
}

/// Where callers send a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenCarrier {
    /// `Authorization: Bearer`
    Bearer,
    /// The header field of this name, which has the token and nothing else.
    Field(String),
    /// They send none: the platform has let them in.
    Platform(Authorizer),
}

/// `audience`: whom a token has to be for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audience {
    /// The path of the claim that says so: `aud`.
    pub claim: String,
    /// What it may be, or have among others; at least one.
    pub values: Vec<EnvTemplate>,
}

/// Where the keys of an issuer are, or who else says whether a token is good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeySource {
    /// Neither of `jwks`, `keys` and `secret`: where the issuer's own metadata says.
    Discovery,
    /// `jwks`: the URL of a key set.
    Url(EnvTemplate),
    /// `keys`: a key set (RFC 7517) as JSON text.
    Set(EnvTemplate),
    /// `secret`: the key of HMAC.
    Secret(EnvTemplate),
    /// There are none: the issuer's server is asked about each token.
    Introspection(IntrospectionServer),
    /// There are none: the platform says whom it has let in.
    Platform,
}

/// The server that says what a token is ([RFC 7662](https://www.rfc-editor.org/rfc/rfc7662)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntrospectionServer {
    /// `endpoint`: its URL.
    pub endpoint: EnvTemplate,
    /// `client_id`: who asks.
    pub client_id: EnvTemplate,
    /// `client_secret`
    pub client_secret: EnvTemplate,
    /// `keep`: how long an answer is used, in seconds.
    pub keep_s: u32,
}

/// A claim that a token must have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimRule {
    /// Its path.
    pub claim: String,
    /// What it may be, or have among others; empty: anything but null, empty text and an empty
    /// list.
    pub values: Vec<ClaimValue>,
}

/// A value of a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ClaimValue {
    /// Text.
    Text(EnvTemplate),
    /// A number or a truth value.
    Literal(Literal),
}

/// An algorithm of signatures; see [RFC 7518, section
/// 3.1](https://www.rfc-editor.org/rfc/rfc7518#section-3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// The same with SHA-384.
    Rs384,
    /// The same with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// The same with SHA-384.
    Ps384,
    /// The same with SHA-512.
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// Ed25519; see [RFC 8037](https://www.rfc-editor.org/rfc/rfc8037).
    EdDsa,
    /// HMAC with SHA-256.
    Hs256,
    /// The same with SHA-384.
    Hs384,
    /// The same with SHA-512.
    Hs512,
}

impl TokenAlgorithm {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
        Self::Hs256,
        Self::Hs384,
        Self::Hs512,
    ];

    /// The name in tokens and keys: `RS256`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
            Self::Hs256 => "HS256",
            Self::Hs384 => "HS384",
            Self::Hs512 => "HS512",
        }
    }

    /// The algorithm of this name, to the letter. `Ed25519` is the name of `EdDSA` in
    /// [RFC 9864](https://www.rfc-editor.org/rfc/rfc9864).
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        if name == "Ed25519" {
            return Some(Self::EdDsa);
        }
        Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == name)
    }

    /// Whether who verifies could sign, too.
    #[must_use]
    pub const fn is_symmetric(self) -> bool {
        matches!(self, Self::Hs256 | Self::Hs384 | Self::Hs512)
    }
}
