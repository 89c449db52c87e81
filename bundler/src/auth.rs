//! `auth`: who may call a tool.

use millrace_core::app::{ApiKey, ApiKeys, Auth, EnvPart, EnvTemplate, ExpectedKey, Literal, Policy};

use crate::{
    compiler::Compiler,
    field::{CheckMode, Field, Named, Record, Shape, check_part},
    link::is_reference,
    names::nearest,
    template::pointer_token,
    tree::parent,
    yaml::{Data, Document, Node},
};

mod introspection;
mod jwt;
mod lambda;
mod one_or_more;

pub(crate) use introspection::INTROSPECTION_POLICY;
pub(crate) use jwt::{ACCESS_POLICY, JWT_POLICY};
pub(crate) use lambda::LAMBDA_POLICY;

use one_or_more::{ONE_OR_MORE, one_or_more};

/// `auth`
pub(crate) static AUTH: Record = Record {
    name: "auth",
    noun: "`auth`",
    doc: "Who may call: one `plugin`, or `any` of several. Without the block, everyone may.",
    fields: &[
        Field::new("plugin", Shape::Text, PLUGINS).names(Named::Plugin),
        Field::new(
            "policy",
            Shape::Map(&Shape::Any),
            "What the plugin needs. For `api_key`, `jwt`, `introspection`, `cloudflare_access` and `lambda` see their keys; a script gets it as `policy`.",
        ).filled().table(policy_of),
        Field::new(
            "any",
            Shape::List(&Shape::Record(&AUTH_ENTRY)),
            "Several plugins, in place of `plugin`. They are asked in order, until one knows the caller, or refuses what it sent.",
        ),
    ],
};

/// One of `auth.any`
pub(crate) static AUTH_ENTRY: Record = Record {
    name: "auth_entry",
    noun: "a plugin of `any`",
    doc: "A plugin, and what it needs.",
    fields: &[
        Field::new("plugin", Shape::Text, PLUGINS).names(Named::Plugin).required(),
        Field::new("policy", Shape::Map(&Shape::Any), "What the plugin needs.").filled().table(policy_of),
    ],
};

const PLUGINS: &str = "`allow_all`, `api_key`, `jwt`, `introspection`, `cloudflare_access`, `lambda`, or a script: `./auth/x.ts`, with `#name` for a named export.";

/// `auth.policy` of `api_key`
pub(crate) static API_KEY_POLICY: Record = Record {
    name: "api_key_policy",
    noun: "the policy of `api_key`",
    doc: "The accepted keys, which callers send in the header `X-API-Key` or `Authorization: Bearer`. Without any, the variable \
          `MILLRACE_API_KEY` is the key.",
    fields: &[
        Field::new("value", ONE_OR_MORE, "The key, or several. Take it from the environment: `\"{{ env.API_KEY }}\"`.").filled(),
        Field::new("sha256", ONE_OR_MORE, "The SHA-256 of the key in hexadecimal, or several, so that the key itself is not stored.").filled(),
        Field::new("keys", Shape::List(&Shape::Record(&API_KEY)), "Keys that distinguish callers."),
        Field::new("name", Shape::Text, "`auth.subject` of callers with `value` or `sha256`.").default("api_key"),
        Field::new("scopes", Shape::List(&Shape::Text), "The scopes that a caller must have. Keys under `value` and `sha256` have them all; one of `keys` that lacks one gets HTTP 403.").names(Named::Scope).default("[]"),
        Field::new("roles", Shape::List(&Shape::Text), "`auth.roles` of callers with `value` or `sha256`.").default("[]"),
    ],
};

/// One of `auth.policy.keys`
pub(crate) static API_KEY: Record = Record {
    name: "api_key",
    noun: "a key",
    doc: "One key, and the caller that it identifies.",
    fields: &[
        Field::new("name", Shape::Text, "`auth.subject` of callers with this key.").required(),
        Field::new("value", Shape::Text, "The key; or `sha256`.").filled(),
        Field::new("sha256", Shape::Text, "The SHA-256 of the key in hexadecimal; or `value`.").filled(),
        Field::new("scopes", Shape::List(&Shape::Text), "`auth.scopes` of callers with this key.").names(Named::Scope).default("[]"),
        Field::new("roles", Shape::List(&Shape::Text), "`auth.roles` of callers with this key.").default("[]"),
    ],
};

/// The plugins that are no scripts.
pub(crate) const PLUGIN_NAMES: [&str; 6] = ["allow_all", "api_key", "jwt", "introspection", "cloudflare_access", "lambda"];

/// The table of the policy of a plugin.
fn policy_of(plugin: &str) -> Option<&'static Record> {
    match plugin {
        "api_key" => Some(&API_KEY_POLICY),
        "jwt" => Some(&JWT_POLICY),
        "introspection" => Some(&INTROSPECTION_POLICY),
        "cloudflare_access" => Some(&ACCESS_POLICY),
        "lambda" => Some(&LAMBDA_POLICY),
        _ => None,
    }
}

impl Compiler<'_> {
    /// Reads an `auth` block. One that is wrong, which has been said, stands for any: what else the
    /// app says of callers may be right.
    pub(crate) fn auth(&mut self, document: &Document, node: &Node) -> Auth {
        self.auth_of(document, node).unwrap_or_else(|| Auth::Any(Vec::new()))
    }

    fn auth_of(&mut self, document: &Document, node: &Node) -> Option<Auth> {
        let Some(any) = node.entry("any") else {
            if node.entry("plugin").is_none() {
                let message = "`auth.plugin` is missing";
                self.error(document, node.range.clone(), message, format!("{PLUGINS} Or give several, under `any`."));
            }
            return self.plugin(document, node, "auth");
        };
        if let Some(plugin) = node.entry("plugin").or_else(|| node.entry("policy")) {
            let message = format!("`auth` takes `plugin` or `any`; here are `any` and `{}`", plugin.key);
            self.error(document, plugin.key_range.clone(), message, "Make it one of the elements of `any`.");
            return None;
        }
        let items = node.at("any").map(Node::items).unwrap_or_default();
        if items.is_empty() {
            self.error(document, any.key_range.clone(), "`auth.any` must have at least 1 element", PLUGINS);
            return None;
        }
        let mut entries = Vec::new();
        let mut are_good = true;
        for (place, item) in items.iter().enumerate() {
            match self.plugin(document, item, &format!("auth.any[{place}]")) {
                Some(entry) => {
                    are_good &= self.fits_after(document, item, &entry, &entries, place + 1 == items.len());
                    entries.push(entry);
                }
                None => are_good = false,
            }
        }
        are_good.then_some(Auth::Any(entries))
    }

    /// Whether a plugin of `any` can ever be asked, after those before it.
    fn fits_after(&mut self, document: &Document, item: &Node, entry: &Auth, before: &[Auth], is_last: bool) -> bool {
        let (message, help) = match entry {
            Auth::AllowAll if !is_last => {
                ("`allow_all` is not the last element of `any`".to_owned(), "It admits everyone who sends no credentials. Put it last.")
            }
            Auth::Jwt(policy) => {
                let is_same =
                    |other: &Auth| matches!(other, Auth::Jwt(other) if other.issuer == policy.issuer && other.carrier == policy.carrier);
                if !before.iter().any(is_same) {
                    return true;
                }
                (
                    format!("the issuer `{}` is in `any` twice", policy.issuer),
                    "The first policy refuses all tokens of the issuer that do not fit it. Make one policy of both, with several audiences.",
                )
            }
            _ => return true,
        };
        self.error(document, item.at("plugin").unwrap_or(item).range.clone(), message, help);
        false
    }

    /// Reads one plugin. `path` is the place of its block.
    fn plugin(&mut self, document: &Document, node: &Node, path: &str) -> Option<Auth> {
        let plugin_node = node.at("plugin")?;
        let plugin = plugin_node.text()?.trim();
        let word = if self.imported { plugin.to_ascii_lowercase() } else { plugin.to_owned() };
        match word.as_str() {
            "allow_all" => Some(Auth::AllowAll),
            "api_key" => {
                let scopes = node.at("policy").map(|policy| policy.texts_at("scopes")).unwrap_or_default();
                Some(Auth::ApiKey(ApiKeys { keys: self.api_keys(document, node, path), scopes }))
            }
            "jwt" => self.jwt(document, node, path),
            "introspection" => self.introspection(document, node, path),
            "cloudflare_access" => self.cloudflare_access(document, node, path),
            "lambda" => self.lambda(document, node, path),
            _ if is_reference(plugin) => {
                let script = self.script(document, plugin_node, parent(&document.source.path))?;
                Some(Auth::Script { script, policy: self.policy(document, node.at("policy")) })
            }
            _ => {
                let help = match nearest(&word, PLUGIN_NAMES) {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => {
                        "Use `allow_all`, `api_key`, `jwt`, `introspection`, `cloudflare_access`, `lambda`, or a script: `./auth/x.ts`."
                            .into()
                    }
                };
                self.error(document, plugin_node.range.clone(), format!("the auth plugin `{plugin}` does not exist"), help);
                None
            }
        }
    }

    fn policy(&mut self, document: &Document, node: Option<&Node>) -> Policy {
        let mut templates = Vec::new();
        let mut value = serde_json::Map::new();
        for entry in node.map(Node::entries).unwrap_or_default() {
            let pointer = format!("/{}", pointer_token(&entry.key));
            value.insert(entry.key.clone(), self.policy_value(document, &entry.value, pointer, &mut templates));
        }
        Policy { value: Literal(value.into()), templates }
    }

    /// A value of a policy, without the strings that must be filled in. `pointer` is the JSON
    /// pointer to it.
    fn policy_value(
        &mut self,
        document: &Document,
        node: &Node,
        pointer: String,
        templates: &mut Vec<(String, EnvTemplate)>,
    ) -> serde_json::Value {
        match &node.data {
            Data::Text(text) => {
                let template = self.env_template(document, node);
                match template.0.as_slice() {
                    [] => text.as_str().into(),
                    [EnvPart::Text(text)] => text.as_str().into(),
                    _ => {
                        templates.push((pointer, template));
                        serde_json::Value::Null
                    }
                }
            }
            Data::List(items) => {
                let places = items.iter().enumerate();
                places.map(|(index, item)| self.policy_value(document, item, format!("{pointer}/{index}"), templates)).collect()
            }
            Data::Map(entries) => {
                let mut members = serde_json::Map::new();
                for entry in entries {
                    let pointer = format!("{pointer}/{}", pointer_token(&entry.key));
                    members.insert(entry.key.clone(), self.policy_value(document, &entry.value, pointer, templates));
                }
                members.into()
            }
            _ => node.json(),
        }
    }

    fn api_keys(&mut self, document: &Document, node: &Node, path: &str) -> Vec<ApiKey> {
        let mut keys = Vec::new();
        if let Some(entry) = node.entry("policy") {
            let mut policy = entry.value.clone();
            let checked = CheckMode::strict(self.imported);
            check_part(
                document,
                &mut policy,
                &API_KEY_POLICY,
                &format!("{path}.policy"),
                entry.key_range.clone(),
                checked,
                &mut self.findings,
            );
            let name = policy.text_at("name").unwrap_or("api_key").to_owned();
            let found = self.expected(document, &policy);
            keys.extend(found.into_iter().map(|expected| key(&name, expected, &policy)));
            for item in policy.at("keys").map(Node::items).unwrap_or_default() {
                let mut found = self.expected(document, item);
                if found.len() != 1 {
                    let help = "Give the key by one of them.";
                    self.error(document, item.range.clone(), "a key takes exactly one of `value` and `sha256`", help);
                }
                if let Some(expected) = found.pop() {
                    keys.push(key(item.text_at("name").unwrap_or_default(), expected, item));
                }
            }
        }
        if keys.is_empty() {
            let variables: &[&str] = if self.imported { &["MILLRACE_API_KEY", "HYPERTERSE_API_KEY"] } else { &["MILLRACE_API_KEY"] };
            keys.extend(variables.iter().map(|variable| {
                let expected = ExpectedKey::Value(EnvTemplate(vec![EnvPart::Env((*variable).to_owned())]));
                key("api_key", expected, node.at("policy").unwrap_or(node))
            }));
        }
        keys
    }

    /// The expected keys under `value` and `sha256`. An empty `value` means none.
    fn expected(&mut self, document: &Document, node: &Node) -> Vec<ExpectedKey> {
        let mut found = Vec::new();
        for value in one_or_more(node.at("value")).filter(|value| value.text().is_some_and(|text| !text.trim().is_empty())) {
            found.push(ExpectedKey::Value(self.env_template(document, value)));
        }
        for digest in one_or_more(node.at("sha256")) {
            let text = digest.text().unwrap_or_default().trim();
            let literal = !text.contains("{{");
            if literal && (text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit())) {
                let help = "It has 64 hexadecimal digits: `printf %s KEY | sha256sum`.";
                self.error(document, digest.range.clone(), "`sha256` is not a SHA-256 digest", help);
                continue;
            }
            found.push(ExpectedKey::Sha256(self.env_template(document, digest)));
        }
        found
    }
}

fn key(name: &str, expected: ExpectedKey, node: &Node) -> ApiKey {
    ApiKey { name: name.to_owned(), expected, scopes: node.texts_at("scopes"), roles: node.texts_at("roles") }
}
