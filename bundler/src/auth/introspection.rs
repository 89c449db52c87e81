//! `plugin: introspection`.

use millrace_core::app::{Auth, EnvPart, IntrospectionServer, JwtPolicy, KeySource, TokenCarrier};

use super::{
    jwt::{AUDIENCE, CLAIMS},
    one_or_more::ONE_OR_MORE,
};
use crate::{
    compiler::Compiler,
    field::{Field, Named, Record, Shape, duration_ms},
    yaml::{Document, Node},
};

/// `auth.policy` of `introspection`
pub(crate) static INTROSPECTION_POLICY: Record = Record {
    name: "introspection_policy",
    noun: "the policy of `introspection`",
    doc: "Tokens that only their issuer can read: its server is asked about each one ([RFC 7662](https://www.rfc-editor.org/rfc/rfc7662)). \
          Callers send them as `Authorization: Bearer`.",
    fields: &[
        Field::new("issuer", Shape::Text, "The issuer. Where the server says `iss`, it must be this, to the letter.").filled().required(),
        Field::new("endpoint", Shape::Text, "The URL that is asked: `introspection_endpoint` in the issuer's metadata.")
            .filled()
            .required(),
        Field::new("client_id", Shape::Text, "The client that this app is for the issuer.").filled().required(),
        Field::new("client_secret", Shape::Text, "Its secret: `\"{{ secret.CLIENT_SECRET }}\"`.").filled().required(),
        Field::new(
            "audience",
            Shape::OneOf(&[Shape::Text, Shape::List(&Shape::Text), Shape::Record(&AUDIENCE)]),
            "What `aud` of a token must be, or have among others, as for `jwt`.",
        )
        .filled()
        .default("server.resource, if it is a URL"),
        Field::new(
            "keep",
            Shape::Duration,
            "How long an answer is used. Until then, a token that was revoked is still accepted. At most `1h`; `0s` asks for each call.",
        )
        .default("60s"),
        Field::new("leeway", Shape::Duration, "How far the issuer's clock may be from this one; at most `5m`.").default("30s"),
        Field::new("scopes", Shape::List(&Shape::Text), "The scopes that a caller must have. One that lacks one gets HTTP 403.")
            .names(Named::Scope)
            .default("[]"),
        Field::new("subject", Shape::Text, "The member of the answer that is `auth.subject`: `username`, `client_id`.").default("sub"),
        Field::new("roles", ONE_OR_MORE, "The member that is `auth.roles`, or several.").default("[]"),
        Field::new("claims", CLAIMS, "What else the answer must say, as for `jwt`.").filled(),
    ],
};

const KEEP_S: u32 = 60;
const MOST_KEEP_S: u64 = 3_600;

impl Compiler<'_> {
    /// The policy of `introspection`. `None` where it is wrong, which has been said.
    pub(super) fn introspection(&mut self, document: &Document, node: &Node, path: &str) -> Option<Auth> {
        let help = "Give it `issuer`, `endpoint`, `client_id` and `client_secret`.";
        let policy = self.token_policy(document, node, path, &INTROSPECTION_POLICY, help)?;
        let written = node.entry("policy")?;
        let mut texts = Vec::new();
        for key in ["issuer", "endpoint", "client_id", "client_secret"] {
            let Some(node) = policy.at(key) else { continue };
            let template = self.env_template(document, node);
            match template.0.as_slice() {
                [] => self.error(document, node.range.clone(), format!("`{key}` is empty"), ""),
                [EnvPart::Text(url)] if key == "endpoint" => {
                    let help = "It is `introspection_endpoint` in the issuer's metadata.";
                    if self.url(document, node, key, url, help).is_some() {
                        texts.push(template);
                    }
                }
                _ => texts.push(template),
            }
        }
        let (audience, keep_s, rest) =
            (self.audience(document, &policy, written, path), self.keep(document, &policy), self.of_caller(document, &policy));
        let Ok([issuer, endpoint, client_id, client_secret]) = <[_; 4]>::try_from(texts) else { return None };
        Some(Auth::Jwt(Box::new(JwtPolicy {
            plugin: "introspection".to_owned(),
            carrier: TokenCarrier::Bearer,
            issuer,
            audience: audience?,
            keys: KeySource::Introspection(IntrospectionServer { endpoint, client_id, client_secret, keep_s }),
            algorithms: Vec::new(),
            leeway_s: rest.leeway_s,
            scopes: policy.texts_at("scopes"),
            subject: rest.subject,
            roles: rest.roles,
            claims: rest.claims,
        })))
    }

    fn keep(&mut self, document: &Document, policy: &Node) -> u32 {
        let Some(node) = policy.at("keep") else { return KEEP_S };
        let seconds = node.text().and_then(duration_ms).map_or(u64::MAX, |ms| u64::from(ms).div_ceil(1_000));
        if seconds > MOST_KEEP_S {
            let help = "A token that was revoked would be good for so long.";
            self.error(document, node.range.clone(), "`keep` is at most `1h`", help);
        }
        u32::try_from(seconds.min(MOST_KEEP_S)).unwrap_or(KEEP_S)
    }
}
