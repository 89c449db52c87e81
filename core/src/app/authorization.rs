//! How clients find out where to sign in, and which scopes are enough.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{Auth, EnvTemplate, TokenCarrier};

/// What the root file says of sign-in as a whole; the `auth` of a tool says who may call it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authorization {
    /// `server.resource`. `None`: clients are not told where to sign in.
    pub resource: Option<ProtectedResource>,
    /// `server.scopes`, sorted: each broader scope with all that it implies, those that its
    /// narrower ones imply included.
    pub implied: Vec<ImpliedScopes>,
    /// `tools.visible: callable`: lists leave out what their caller cannot call.
    pub lists_callable: bool,
    /// Where callers are asked to sign in.
    pub sign_in: SignIn,
    /// Whom the app as a whole asks who calls: the places of tools in
    /// [`App::tools`](super::App::tools), one for each distinct `auth` that can tell.
    /// [`App::feature_auth`](super::App::feature_auth) is asked, too.
    pub entrances: Vec<u32>,
    /// What a client that signs in before it calls anything is told to ask for: all that something
    /// in the app requires, of alternatives one.
    pub scopes: Vec<String>,
}

/// `server.sign_in`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignIn {
    /// `per_tool`: what is open to everybody needs no credentials, the handshake and the lists
    /// included.
    #[default]
    PerTool,
    /// `required`: no request is answered without good credentials, the handshake and the lists
    /// included.
    Required,
}

/// The endpoint as a protected resource of OAuth ([RFC
/// 9728](https://www.rfc-editor.org/rfc/rfc9728)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtectedResource {
    /// `server.resource`
    pub url: ResourceUrl,
    /// `server.authorization_servers`: at least one issuer.
    pub authorization_servers: Vec<EnvTemplate>,
    /// Every scope that something in the app requires, sorted.
    pub scopes: Vec<String>,
}

/// `server.resource`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResourceUrl {
    /// The URL that clients reach the endpoint at, and that tokens are issued for.
    Url(EnvTemplate),
    /// The word `host`: the name in the request's `Host`, which is one of
    /// [`Server::hosts`](super::Server::hosts).
    Host,
}

/// A scope that includes others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpliedScopes {
    /// The broader scope.
    pub scope: String,
    /// All that it implies, sorted, itself apart.
    pub implies: Vec<String>,
}

/// `require_scope`: what a caller must have been granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequiredScopes {
    /// Each of these.
    pub all: Vec<String>,
    /// One of these at least; empty: none of them is needed.
    pub any: Vec<String>,
}

impl Authorization {
    /// Whether a caller without credentials can get what this `auth` demands by signing in: it
    /// takes tokens that clients fetch by themselves, or is a script of an app that tells clients
    /// where to sign in.
    #[must_use]
    pub fn signs_in(&self, auth: &Auth) -> bool {
        auth.entries().iter().any(|entry| match entry {
            Auth::Jwt(policy) => policy.carrier == TokenCarrier::Bearer,
            Auth::Script { .. } => self.resource.is_some(),
            Auth::AllowAll | Auth::ApiKey(_) | Auth::Any(_) => false,
        })
    }

    /// Whether who was granted `granted` has `scope`: by its name, or because a broader one implies
    /// it.
    #[must_use]
    pub fn grants(&self, granted: &[&str], scope: &str) -> bool {
        granted.iter().any(|granted| *granted == scope || self.implies(granted, scope))
    }

    fn implies(&self, broader: &str, narrower: &str) -> bool {
        let place = self.implied.binary_search_by(|known| known.scope.as_str().cmp(broader));
        place.is_ok_and(|place| self.implied.get(place).is_some_and(|known| known.implies.iter().any(|implied| implied == narrower)))
    }
}

impl RequiredScopes {
    /// Each of these scopes.
    #[must_use]
    pub const fn all(all: Vec<String>) -> Self {
        Self { all, any: Vec::new() }
    }

    /// Every scope that is named.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        self.all.iter().chain(&self.any).map(String::as_str)
    }

    /// What of it is not granted; `None` where it is enough.
    #[must_use]
    pub fn missing(&self, authorization: &Authorization, granted: &[&str]) -> Option<Self> {
        let has = |scope: &String| authorization.grants(granted, scope);
        let all: Vec<String> = self.all.iter().filter(|scope| !has(scope)).map(ToString::to_string).collect();
        let any = if self.any.iter().any(has) { Vec::new() } else { self.any.clone() };
        (!all.is_empty() || !any.is_empty()).then_some(Self { all, any })
    }
}

impl fmt::Display for RequiredScopes {
    /// `` the scopes `a` and `b` and one of the scopes `c` and `d` ``
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.all.is_empty() {
            f.write_str(if self.all.len() == 1 { "the scope " } else { "the scopes " })?;
            list(f, &self.all)?;
        }
        if self.any.is_empty() {
            return Ok(());
        }
        if !self.all.is_empty() {
            f.write_str(", and ")?;
        }
        f.write_str(if self.any.len() == 1 { "the scope " } else { "one of the scopes " })?;
        list(f, &self.any)
    }
}

fn list(f: &mut fmt::Formatter<'_>, scopes: &[String]) -> fmt::Result {
    scopes.iter().enumerate().try_for_each(|(place, scope)| {
        let before = if place == 0 { "" } else { ", " };
        write!(f, "{before}`{scope}`")
    })
}

/// Whether a text is a scope of [RFC 6749, section
/// 3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3), and so can be part of a challenge:
/// visible ASCII characters without `"` and `\`.
#[must_use]
pub fn is_scope(scope: &str) -> bool {
    !scope.is_empty() && scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn broader_scopes_imply_narrower_ones() {
        let implied = |scope: &str, implies: &[&str]| ImpliedScopes {
            scope: scope.into(),
            implies: implies.iter().map(ToString::to_string).collect(),
        };
        let authorization =
            Authorization { implied: vec![implied("admin", &["read", "write"]), implied("write", &["read"])], ..Authorization::default() };
        let required = |all: &[&str], any: &[&str]| RequiredScopes {
            all: all.iter().map(ToString::to_string).collect(),
            any: any.iter().map(ToString::to_string).collect(),
        };
        let cases: [(RequiredScopes, &[&str], Option<RequiredScopes>); 12] = [
            (required(&[], &[]), &[], None),
            (required(&["read"], &[]), &[], Some(required(&["read"], &[]))),
            (required(&["read"], &[]), &["read"], None),
            (required(&["read"], &[]), &["write"], None),
            (required(&["read", "write"], &[]), &["admin"], None),
            (required(&["write"], &[]), &["read"], Some(required(&["write"], &[]))),
            (required(&["admin"], &[]), &["read", "write"], Some(required(&["admin"], &[]))),
            (required(&[], &["a", "read"]), &["b"], Some(required(&[], &["a", "read"]))),
            (required(&[], &["a", "read"]), &["write"], None),
            (required(&["b", "c"], &["a", "read"]), &["b"], Some(required(&["c"], &["a", "read"]))),
            (required(&["b", "c"], &["a", "read"]), &["a", "b"], Some(required(&["c"], &[]))),
            (required(&["Read"], &[]), &["read", "rea", ""], Some(required(&["Read"], &[]))),
        ];
        for (required, granted, expected) in cases {
            assert_eq!(required.missing(&authorization, granted), expected, "{required} {granted:?}");
        }
        assert_eq!(required(&["a", "b"], &["c", "d"]).to_string(), "the scopes `a`, `b`, and one of the scopes `c`, `d`");
        assert_eq!(required(&[], &["c"]).to_string(), "the scope `c`");
    }

    #[test]
    fn scopes_can_be_quoted() {
        for good in ["a", "orders:read", "https://x.example/a.b?c=%20", "!#[]~"] {
            assert!(is_scope(good), "{good}");
        }
        for bad in ["", " ", "a b", "a\"b", "a\\b", "a\u{7f}", "ä", "a\n", "a\u{0}"] {
            assert!(!is_scope(bad), "{bad:?}");
        }
    }
}
