//! Who may call: what `auth` compiles to.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{EnvTemplate, JwtPolicy, Literal, ScriptRef, TokenCarrier};
use crate::Json;

/// `auth`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Auth {
    /// `allow_all`
    AllowAll,
    /// `api_key`
    ApiKey(ApiKeys),
    /// `./auth/x.ts`
    Script {
        /// The plugin.
        script: ScriptRef,
        /// `policy`, handed to the plugin.
        policy: Policy,
    },
    /// `jwt`, and what is read as one.
    Jwt(Box<JwtPolicy>),
    /// `any`: the first entry that knows the caller. None of them has entries of its own.
    Any(Vec<Auth>),
}

impl Auth {
    /// The plugins that may be asked, in order; the only one where there is no `any`.
    #[must_use]
    pub fn entries(&self) -> &[Self] {
        match self {
            Self::Any(entries) => entries,
            one => core::slice::from_ref(one),
        }
    }

    /// Whether it lets in callers without credentials, as far as that is known before it is asked:
    /// what a script does is not.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.entries().contains(&Self::AllowAll)
    }

    /// Whether a caller may be let in by a token that it sent, and that the app verified.
    #[must_use]
    pub fn verifies_tokens(&self) -> bool {
        let verifies = |entry: &Self| matches!(entry, Self::Jwt(policy) if !matches!(policy.carrier, TokenCarrier::Platform(_)));
        self.entries().iter().any(verifies)
    }

    /// Whether it can tell who calls.
    #[must_use]
    pub fn tells_callers(&self) -> bool {
        self.entries().iter().any(|entry| *entry != Self::AllowAll)
    }

    /// The scopes that its policy requires, as far as it lists them. Of several plugins, those of
    /// tokens: keys get none by a challenge.
    pub fn required_scopes(&self) -> impl Iterator<Item = &String> {
        let is_one = !matches!(self, Self::Any(_));
        self.entries().iter().flat_map(move |entry| match entry {
            Self::Jwt(policy) => policy.scopes.as_slice(),
            Self::ApiKey(policy) if is_one => policy.scopes.as_slice(),
            Self::ApiKey(_) | Self::AllowAll | Self::Script { .. } | Self::Any(_) => &[],
        })
    }
}

/// The policy of `api_key`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiKeys {
    /// The expected keys. No key: the call is refused.
    pub keys: Vec<ApiKey>,
    /// `policy.scopes`: what a caller must have.
    pub scopes: Vec<String>,
}

/// The policy of a script plugin. Its strings are templates, at every depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The policy, an object; `null` where [`Self::templates`] has a string.
    pub value: Literal,
    /// The strings with `{{ env.X }}`, each by its JSON pointer. They are filled in per call.
    pub templates: Vec<(String, EnvTemplate)>,
}

impl Default for Policy {
    fn default() -> Self {
        Self { value: Literal(Json::Object(serde_json::Map::new())), templates: Vec::new() }
    }
}

/// One key of `api_key`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiKey {
    /// Who comes with this key: `auth.subject`; `api_key` where the policy does not say.
    pub name: String,
    /// The expected key. A variable that is not set, or is empty, expects no key: it matches
    /// nothing.
    pub expected: ExpectedKey,
    /// `auth.scopes`
    pub scopes: Vec<String>,
    /// `auth.roles`
    pub roles: Vec<String>,
}

/// How an expected key is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ExpectedKey {
    /// `value`
    Value(EnvTemplate),
    /// `sha256`: the key's SHA-256 in hexadecimal.
    Sha256(EnvTemplate),
}
