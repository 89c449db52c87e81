//! `plugin: jwt`.

use millrace_core::app::{
    Audience, Auth, ClaimRule, ClaimValue, EnvPart, EnvTemplate, JwtPolicy, KeySource, Literal, TokenAlgorithm, TokenCarrier,
};
use millrace_tokens::{
    check_url,
    jwk::{Key, KeySet, secret_bytes},
};
use serde_json::json;

use super::one_or_more::{ONE_OR_MORE, one_or_more};
use crate::{
    compiler::Compiler,
    field::{CheckMode, Field, Named, Record, Shape, check_part, duration_ms},
    names::{all_of, nearest},
    yaml::{Data, Document, Entry, Node},
};

/// `auth.policy` of `jwt`
pub(crate) static JWT_POLICY: Record = Record {
    name: "jwt_policy",
    noun: "the policy of `jwt`",
    doc: "The tokens that are accepted, which callers send as `Authorization: Bearer`. Without `jwks`, `keys` and `secret`, the keys are \
          where the issuer's metadata says: at `/.well-known/openid-configuration`, or as RFC 8414 has it.",
    fields: &[
        Field::new("issuer", Shape::Text, "What `iss` of a token must be, to the letter: a slash at the end counts.").filled().required(),
        Field::new(
            "audience",
            Shape::OneOf(&[Shape::Text, Shape::List(&Shape::Text), Shape::Record(&AUDIENCE)]),
            "What `aud` of a token must be, or have among others; one of several. Where the issuer says it elsewhere: `{ claim, values }`.",
        ).filled()
        .default("server.resource, if it is a URL"),
        Field::new("jwks", Shape::Text, "The URL of the issuer's key set.").filled(),
        Field::new(
            "keys",
            Shape::OneOf(&[Shape::Text, Shape::List(&Shape::Map(&Shape::Any))]),
            "The issuer's public keys: a list of JWKs, or a whole key set as JSON text, which a variable may hold.",
        ).filled(),
        Field::new("secret", Shape::Text, "The key that the issuer and this app share, for HMAC: `\"{{ env.JWT_SECRET }}\"`.").filled(),
        Field::new(
            "algorithms",
            Shape::List(&Shape::Text),
            "The signatures that are accepted. Not given, all that the issuer's keys allow; with `secret`, `HS256`.",
        ),
        Field::new("leeway", Shape::Duration, "How far the issuer's clock may be from this one; at most `5m`.").default("30s"),
        Field::new(
            "scopes",
            Shape::List(&Shape::Text),
            "The scopes that a caller must have: of `scope` and `scp`. One that lacks one gets HTTP 403.",
        ).names(Named::Scope)
        .default("[]"),
        Field::new("subject", Shape::Text, "The claim that is `auth.subject`. Dots lead into objects.").default("sub"),
        Field::new("roles", ONE_OR_MORE, "The claim that is `auth.roles`, or several: `realm_access.roles`.").default("[]"),
        Field::new(
            "claims",
            CLAIMS,
            "What else a token must say: for each claim `required`, the value that it must have, or a list of values of which it must have one.",
        ).filled(),
    ],
};

/// `auth.policy.audience`
pub(crate) static AUDIENCE: Record = Record {
    name: "audience",
    noun: "`audience`",
    doc: "The audience, where it is not in `aud`.",
    fields: &[
        Field::new("claim", Shape::Text, "The claim that says whom the token is for: `client_id`.").required(),
        Field::new("values", ONE_OR_MORE, "What it must be, or have among others; one of several.").filled().required(),
    ],
};

/// `claims` of a policy of tokens.
pub(super) const CLAIMS: Shape = Shape::Map(&Shape::OneOf(&[Shape::Scalar, Shape::List(&Shape::Scalar)]));

/// What every policy of tokens says of callers.
pub(super) struct OfCaller {
    pub(super) leeway_s: u32,
    pub(super) subject: String,
    pub(super) roles: Vec<String>,
    pub(super) claims: Vec<ClaimRule>,
}

/// The default of `leeway`, in seconds.
const LEEWAY_S: u32 = 30;
const MOST_LEEWAY_S: u64 = 300;

/// `auth.policy` of `cloudflare_access`
pub(crate) static ACCESS_POLICY: Record = Record {
    name: "cloudflare_access_policy",
    noun: "the policy of `cloudflare_access`",
    doc: "Callers whom Cloudflare Access, before the server, has authenticated: it sends the token as `Cf-Access-Jwt-Assertion`.",
    fields: &[
        Field::new("team", Shape::Text, "The team's domain: `acme.cloudflareaccess.com`.").filled().required(),
        Field::new("audience", ONE_OR_MORE, "The *Application Audience (AUD) Tag* of the application, or of several.").filled().required(),
        Field::new("leeway", Shape::Duration, "How far Cloudflare's clock may be from this one; at most `5m`.").default("30s"),
        Field::new(
            "subject",
            Shape::Text,
            "The claim that is `auth.subject`. Service tokens have `common_name`, and an empty `sub`, which is refused.",
        )
        .default("sub"),
        Field::new("roles", ONE_OR_MORE, "The claim that is `auth.roles`, or several: `custom.groups`.").default("[]"),
        Field::new("claims", CLAIMS, "What else a token must say, as for `jwt`.").filled(),
    ],
};

/// The header field in which Cloudflare Access sends its token.
const ACCESS_FIELD: &str = "cf-access-jwt-assertion";

impl Compiler<'_> {
    /// The policy of `cloudflare_access`. `None` where it is wrong, which has been said.
    pub(super) fn cloudflare_access(&mut self, document: &Document, node: &Node, path: &str) -> Option<Auth> {
        let policy = self.token_policy(document, node, path, &ACCESS_POLICY, "Give it `team` and `audience`.")?;
        let team_node = policy.at("team")?;
        let mut issuer = self.env_template(document, team_node);
        let is_host = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        if issuer.0.is_empty() || issuer.0.iter().any(|part| matches!(part, EnvPart::Text(text) if !is_host(text))) {
            let help = "Write the domain alone: `acme.cloudflareaccess.com`.";
            self.error(document, team_node.range.clone(), "`team` is not a domain", help);
            return None;
        }
        issuer.0.insert(0, EnvPart::Text("https://".to_owned()));
        let mut keys = issuer.clone();
        keys.0.push(EnvPart::Text("/cdn-cgi/access/certs".to_owned()));
        // One that is missing has been reported; `server.resource` is no tag of Cloudflare's.
        policy.at("audience")?;
        let written = node.entry("policy")?;
        let audience = self.audience(document, &policy, written, path);
        let rest = self.of_caller(document, &policy);
        Some(Auth::Jwt(Box::new(JwtPolicy {
            plugin: "cloudflare_access".to_owned(),
            carrier: TokenCarrier::Field(ACCESS_FIELD.to_owned()),
            issuer,
            audience: audience?,
            keys: KeySource::Url(keys),
            algorithms: vec![TokenAlgorithm::Rs256],
            leeway_s: rest.leeway_s,
            scopes: Vec::new(),
            subject: rest.subject,
            roles: rest.roles,
            claims: rest.claims,
        })))
    }

    /// The `policy` of a plugin, checked against its table.
    pub(super) fn token_policy(
        &mut self,
        document: &Document,
        node: &Node,
        path: &str,
        record: &'static Record,
        help: &str,
    ) -> Option<Node> {
        let Some(entry) = node.entry("policy") else {
            self.error(document, node.at("plugin").unwrap_or(node).range.clone(), format!("`{path}.policy` is missing"), help);
            return None;
        };
        let mut policy = entry.value.clone();
        let checked = CheckMode::strict(self.imported);
        check_part(document, &mut policy, record, &format!("{path}.policy"), entry.key_range.clone(), checked, &mut self.findings);
        Some(policy)
    }

    /// Who a caller is, and what else its token must say.
    pub(super) fn of_caller(&mut self, document: &Document, policy: &Node) -> OfCaller {
        OfCaller {
            leeway_s: self.leeway(document, policy),
            subject: self.claim_path(document, policy.at("subject")).unwrap_or_else(|| "sub".to_owned()),
            roles: one_or_more(policy.at("roles")).filter_map(|path| self.claim_path(document, Some(path))).collect(),
            claims: self.claims(document, policy),
        }
    }

    /// The policy of `jwt`. `None` where it is wrong, which has been said.
    pub(super) fn jwt(&mut self, document: &Document, node: &Node, path: &str) -> Option<Auth> {
        let policy = self.token_policy(document, node, path, &JWT_POLICY, "Give it `issuer` and `audience`.")?;
        let written = node.entry("policy")?;
        let keys = self.key_source(document, &policy);
        let (algorithms, audience) = (self.algorithms(document, &policy, keys.as_ref()), self.audience(document, &policy, written, path));
        let issuer = self.issuer(document, &policy, keys.as_ref());
        let rest = self.of_caller(document, &policy);
        Some(Auth::Jwt(Box::new(JwtPolicy {
            plugin: "jwt".to_owned(),
            carrier: TokenCarrier::Bearer,
            issuer: issuer?,
            audience: audience?,
            keys: keys?,
            algorithms: algorithms?,
            leeway_s: rest.leeway_s,
            scopes: policy.texts_at("scopes"),
            subject: rest.subject,
            roles: rest.roles,
            claims: rest.claims,
        })))
    }

    fn issuer(&mut self, document: &Document, policy: &Node, keys: Option<&KeySource>) -> Option<EnvTemplate> {
        let node = policy.at("issuer")?;
        let template = self.env_template(document, node);
        match &template.0[..] {
            [] => {
                self.error(
                    document,
                    node.range.clone(),
                    "`issuer` is empty",
                    "Copy it from a token's `iss`, or from the issuer's metadata.",
                );
                None
            }
            [EnvPart::Text(url)] if keys == Some(&KeySource::Discovery) => {
                self.url(document, node, "issuer", url, "Or say where the keys are, with `jwks`, `keys` or `secret`.")?;
                Some(template)
            }
            _ => Some(template),
        }
    }

    /// Checks a URL that has no variable in it.
    pub(super) fn url(&mut self, document: &Document, node: &Node, key: &str, url: &str, help: &str) -> Option<()> {
        match check_url(url) {
            Ok(()) => Some(()),
            Err(why) => {
                self.error(document, node.range.clone(), format!("`{key}` {why}"), help);
                None
            }
        }
    }

    pub(super) fn audience(&mut self, document: &Document, policy: &Node, written: &Entry, path: &str) -> Option<Audience> {
        let Some(node) = policy.at("audience") else {
            // One that is wrong has been reported.
            if written.value.at("audience").is_some() {
                return None;
            }
            if let Some(resource) = &self.resource {
                return Some(Audience { claim: "aud".to_owned(), values: vec![resource.clone()] });
            }
            let help = "Name this app as its issuer does: in a token for it, the value of `aud`. Or write `server.resource`, which is the audience then.";
            self.error(document, written.key_range.clone(), format!("`{path}.policy.audience` is missing"), help);
            return None;
        };
        let (claim, values) = match &node.data {
            Data::Map(_) => (self.claim_path(document, Some(node.at("claim")?))?, node.at("values")?),
            _ => ("aud".to_owned(), node),
        };
        let help = "Name this app as its issuer does: in a token for it, the value of `aud`.";
        let mut templates = Vec::new();
        for value in one_or_more(Some(values)) {
            let template = self.env_template(document, value);
            if template.0.is_empty() {
                self.error(document, value.range.clone(), "an audience is empty", help);
                return None;
            }
            templates.push(template);
        }
        if templates.is_empty() {
            self.error(
                document,
                values.range.clone(),
                "`audience` must have at least 1 element: without it, a token for any other app would do",
                help,
            );
            return None;
        }
        Some(Audience { claim, values: templates })
    }

    fn key_source(&mut self, document: &Document, policy: &Node) -> Option<KeySource> {
        let given: Vec<_> = ["jwks", "keys", "secret"].into_iter().filter_map(|key| policy.entry(key)).collect();
        let [first, more @ ..] = given.as_slice() else { return Some(KeySource::Discovery) };
        if let Some(second) = more.first() {
            let message = format!("a policy takes one of `jwks`, `keys` and `secret`; here are `{}` and `{}`", first.key, second.key);
            let help =
                "Who accepts both a public key and a secret can be told that the one is the other. For two kinds of tokens, use `any`.";
            self.error(document, second.key_range.clone(), message, help);
            return None;
        }
        let node = policy.at(&first.key)?;
        if first.key == "keys" && matches!(node.data, Data::List(_)) {
            return self.inline_keys(document, node);
        }
        let template = self.env_template(document, node);
        let text = match &template.0[..] {
            [] => {
                self.error(document, node.range.clone(), format!("`{}` is empty", first.key), "");
                return None;
            }
            [EnvPart::Text(text)] => Some(text.clone()),
            _ => None,
        };
        match (first.key.as_str(), text) {
            ("jwks", text) => {
                if let Some(text) = text {
                    self.url(document, node, "jwks", &text, "It is `jwks_uri` in the issuer's metadata.")?;
                }
                Some(KeySource::Url(template))
            }
            ("keys", text) => {
                if let Some(Err(why)) = text.map(|text| KeySet::parse(text.as_bytes()).and_then(usable)) {
                    self.error(
                        document,
                        node.range.clone(),
                        format!("`keys` {why}"),
                        "It takes a list of JWKs, or a key set as JSON text.",
                    );
                    return None;
                }
                Some(KeySource::Set(template))
            }
            (_, text) => {
                let least = secret_bytes(TokenAlgorithm::Hs256);
                if let Some(text) = text.filter(|text| text.trim().len() < least) {
                    let message = format!("`secret` has {} bytes; the least is {least}", text.trim().len());
                    self.error(
                        document,
                        node.range.clone(),
                        message,
                        "Make one with `openssl rand -base64 32`, and take it from the environment.",
                    );
                    return None;
                }
                Some(KeySource::Secret(template))
            }
        }
    }

    /// Public keys in the app's own file.
    fn inline_keys(&mut self, document: &Document, node: &Node) -> Option<KeySource> {
        let mut are_good = true;
        for item in node.items() {
            if let Err(why) = Key::parse(&item.json()) {
                let help = if why.contains("private") {
                    "Take the private key out of the file, make a new one, and give only its public members: `kty`, `crv`, `x`, `y`, `n`, `e`."
                } else {
                    "It takes public keys for signatures: RSA, P-256, P-384 and Ed25519."
                };
                self.error(document, item.range.clone(), format!("the key {why}"), help);
                are_good = false;
            }
        }
        if node.items().is_empty() {
            self.error(
                document,
                node.range.clone(),
                "`keys` must have at least 1 element",
                "Leave it out to take the keys that the issuer publishes.",
            );
            return None;
        }
        let set = json!({ "keys": node.items().iter().map(Node::json).collect::<Vec<_>>() }).to_string();
        are_good.then(|| KeySource::Set(EnvTemplate(vec![EnvPart::Text(set)])))
    }

    fn algorithms(&mut self, document: &Document, policy: &Node, keys: Option<&KeySource>) -> Option<Vec<TokenAlgorithm>> {
        let is_shared = matches!(keys, Some(KeySource::Secret(_)));
        let all = || TokenAlgorithm::ALL.into_iter().filter(move |algorithm| algorithm.is_symmetric() == is_shared);
        let Some(node) = policy.at("algorithms") else {
            return Some(if is_shared { vec![TokenAlgorithm::Hs256] } else { all().collect() });
        };
        let names: Vec<&str> = all().map(TokenAlgorithm::as_str).collect();
        let mut algorithms = Vec::new();
        let mut are_good = true;
        for item in node.items() {
            let name = item.text().unwrap_or_default();
            let mut wrong = |message: String, help: String| {
                self.error(document, item.range.clone(), message, help);
                are_good = false;
            };
            match TokenAlgorithm::of_name(name) {
                // Where the keys are wrong, that is said, and nobody knows what fits.
                Some(algorithm) if keys.is_none() || algorithm.is_symmetric() == is_shared => {
                    if !algorithms.contains(&algorithm) {
                        algorithms.push(algorithm);
                    }
                }
                Some(_) if is_shared => wrong(
                    format!("`{name}` is verified with a public key, and the policy has a `secret`"),
                    format!("With `secret` there are {}.", all_of(&names)),
                ),
                Some(_) => wrong(
                    format!("`{name}` is verified with a secret, and the policy has public keys"),
                    "Who knows the public key could sign tokens. Use `secret`, or remove it here.".to_owned(),
                ),
                None if name.eq_ignore_ascii_case("none") => {
                    wrong("`none` is not a signature: anybody could make such a token".to_owned(), "Remove it.".to_owned());
                }
                None if ["ES512", "ES256K", "Ed448"].contains(&name) => {
                    wrong(format!("`{name}` is not supported"), format!("The algorithms are {}.", all_of(&names)));
                }
                None => {
                    let help = match nearest(name, names.iter().copied()) {
                        Some(near) => format!("Did you mean `{near}`?"),
                        None => format!("The algorithms are {}.", all_of(&names)),
                    };
                    wrong(format!("the algorithm `{name}` does not exist"), help);
                }
            }
        }
        if node.items().is_empty() {
            self.error(
                document,
                node.range.clone(),
                "`algorithms` must have at least 1 element",
                "Leave it out to accept what the keys allow.",
            );
            return None;
        }
        are_good.then_some(algorithms)
    }

    fn leeway(&mut self, document: &Document, policy: &Node) -> u32 {
        let Some(node) = policy.at("leeway") else { return LEEWAY_S };
        let seconds = node.text().and_then(duration_ms).map_or(u64::MAX, |ms| u64::from(ms).div_ceil(1_000));
        if seconds > MOST_LEEWAY_S {
            self.error(
                document,
                node.range.clone(),
                "`leeway` is at most `5m`",
                "Set the clocks: a token that has ended would be good for so long.",
            );
        }
        u32::try_from(seconds.min(MOST_LEEWAY_S)).unwrap_or(LEEWAY_S)
    }

    /// The path of a claim; `None` where it is empty, which has been said, and where there is no
    /// node.
    fn claim_path(&mut self, document: &Document, node: Option<&Node>) -> Option<String> {
        let node = node?;
        let path = node.text().unwrap_or_default();
        if path.is_empty() || path.contains("{{") {
            self.error(
                document,
                node.range.clone(),
                "this is not the name of a claim",
                "Write the name as it is in the token; dots lead into objects.",
            );
            return None;
        }
        Some(path.to_owned())
    }

    fn claims(&mut self, document: &Document, policy: &Node) -> Vec<ClaimRule> {
        let mut rules = Vec::new();
        for entry in policy.at("claims").map(Node::entries).unwrap_or_default() {
            if entry.key.is_empty() {
                self.error(document, entry.key_range.clone(), "this is not the name of a claim", "Write the name as it is in the token.");
            }
            let mut values = Vec::new();
            if entry.value.text() != Some("required") {
                for value in one_or_more(Some(&entry.value)) {
                    match &value.data {
                        Data::Text(_) => {
                            let template = self.env_template(document, value);
                            if template.0.is_empty() {
                                let help = "For a claim that may have any value, write `required`.";
                                self.error(document, value.range.clone(), format!("a value of `{}` is empty", entry.key), help);
                            }
                            values.push(ClaimValue::Text(template));
                        }
                        Data::Wrong | Data::Null => {}
                        _ => values.push(ClaimValue::Literal(Literal(value.json()))),
                    }
                }
                if values.is_empty() && !matches!(entry.value.data, Data::Wrong) {
                    let help = "Write `required`, a value, or a list of values.";
                    self.error(document, entry.key_range.clone(), format!("`{}` must have at least 1 value", entry.key), help);
                }
            }
            rules.push(ClaimRule { claim: entry.key.clone(), values });
        }
        rules
    }
}

/// Whether a key set that stands in the app has a key.
fn usable(set: KeySet) -> Result<(), String> {
    if set.keys().is_empty() { Err("has no key that can verify a token".to_owned()) } else { Ok(()) }
}
