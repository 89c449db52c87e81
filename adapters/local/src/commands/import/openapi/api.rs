//! The adapter: which server, and what its credentials are called.

use std::collections::BTreeSet;

use millrace_native::probe::Url;

use super::document::{Document, Node, is_url};
use crate::{
    commands::new::from::{names, yaml},
    output::{CommandError, CommandResult},
};

/// The longest name that is made of the title.
const MAX_NAME: usize = 20;

/// What whoever runs the command says of the server.
pub(super) struct Wish<'w> {
    /// The number of one of `servers`, or a URL.
    pub(super) server: Option<&'w str>,
    /// `name=value` of its variables.
    pub(super) variables: &'w [String],
    pub(super) adapter: Option<&'w str>,
}

/// An adapter of connector `http` that is not written yet.
pub(super) struct Api {
    pub(super) name: String,
    connection_string: String,
    /// The URLs that are this server, whichever is used.
    own: Vec<String>,
    options: Vec<(&'static str, String)>,
    /// The secrets and variables that it reads, and what each is.
    pub(super) variables: Vec<(String, String)>,
    /// The fields of requests that hold credentials, in small letters.
    pub(super) credentials: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Api {
    /// Reads `servers` and the schemes of security.
    ///
    /// # Errors
    /// The command line names no server of the specification.
    pub(super) fn of(document: &Document, wish: &Wish<'_>) -> CommandResult<Self> {
        let root = document.root();
        let title = root.get("info").and_then(|info| info.text("title")).unwrap_or_default();
        let name = match wish.adapter {
            Some(name) if names::of_folder(name, "api", MAX_NAME * 2, &[]) == name => name.to_owned(),
            Some(name) => {
                let rule = "write small letters, digits and `-`, and begin with a letter";
                return Err(CommandError::Usage(format!("`{name}` of `--adapter` cannot be an adapter's name: {rule}")));
            }
            None => name_of(title),
        };
        let mut api = Self {
            name,
            connection_string: String::new(),
            own: Vec::new(),
            options: Vec::new(),
            variables: Vec::new(),
            credentials: Vec::new(),
            notes: Vec::new(),
        };
        api.set_server(document, wish)?;
        api.set_security(root);
        Ok(api)
    }

    /// The text of its file.
    pub(super) fn file(&self) -> String {
        let mut text = format!("connector: http\nconnection_string: {}\n", yaml::quoted(&self.connection_string));
        let mut options = self.options.iter().peekable();
        if options.peek().is_some() {
            text.push_str("options:\n");
        }
        let (headers, others): (Vec<_>, Vec<_>) = options.partition(|(name, _)| *name == "headers");
        for (name, value) in others {
            text.push_str(&format!("  {name}: {}\n", yaml::quoted(value)));
        }
        if !headers.is_empty() {
            let fields: Vec<String> = headers.iter().map(|(_, value)| yaml::quoted(value)).collect();
            text.push_str(&format!("  headers: [ {} ]\n", fields.join(", ")));
        }
        text
    }

    /// Whether a URL leads to another server than this one.
    pub(super) fn is_elsewhere(&self, url: &str) -> bool {
        is_url(url) && !self.own.iter().any(|own| own == url.trim_end_matches('/'))
    }

    fn variable(&mut self, end: &str, what: &str) -> String {
        let name = format!("{}_{end}", self.name.to_ascii_uppercase().replace('-', "_"));
        if !self.variables.iter().any(|(known, _)| *known == name) {
            self.variables.push((name.clone(), what.to_owned()));
        }
        name
    }

    fn set_server(&mut self, document: &Document, wish: &Wish<'_>) -> CommandResult {
        let mut servers = servers_of(document.root());
        if servers.is_empty() {
            // Some specifications repeat it at each path.
            let first = document.root().get("paths").and_then(|paths| paths.entries().find_map(|(_, item)| item.resolved()));
            servers = first.map(servers_of).unwrap_or_default();
        }
        let url = match wish.server {
            Some(url) if is_url(url) => url.to_owned(),
            Some(number) => {
                let server = number.parse::<usize>().ok().and_then(|number| servers.get(number.checked_sub(1)?));
                let listed: Vec<String> = servers
                    .iter()
                    .zip(1..)
                    .map(|(server, number)| format!("\n  {number}  {}", server.text("url").unwrap_or_default()))
                    .collect();
                let none =
                    || CommandError::Usage(format!("`--server` takes a URL, or the number of one of these servers:{}", listed.concat()));
                filled(*server.ok_or_else(none)?, wish.variables)?
            }
            None => servers.first().map_or_else(|| Ok("/".to_owned()), |server| filled(*server, wish.variables))?,
        };
        let base = is_url(&document.shown).then(|| Url::parse(&document.shown).ok()).flatten();
        let whole = match base {
            Some(base) => base.join(&url).map_or(url, |joined| joined.to_string()),
            None => with_scheme(url),
        };
        let plain = whole.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/').to_owned();
        let is_plain = Url::parse(&plain).is_ok_and(|url| url.username().is_empty() && url.password().is_none()) && !plain.contains('{');
        let named =
            servers.iter().filter_map(|server| filled(*server, &[]).ok()).map(|url| with_scheme(url).trim_end_matches('/').to_owned());
        self.own = named.chain([plain.clone()]).filter(|url| is_url(url)).collect();
        // The build asks for a reason before it sends credentials in the clear.
        if is_plain && plain.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:")) {
            self.connection_string = plain;
            return Ok(());
        }
        let name = self.variable(
            "URL",
            &format!("the URL of the API, such as https://api.example.com{}", if plain.starts_with('/') { &plain } else { "" }),
        );
        self.connection_string = format!("{{{{ env.{name} }}}}");
        let is_clear = is_plain && is_url(&plain);
        self.notes.push(match is_clear {
            true => format!(
                "the specification names `{plain}`, where requests are not encrypted: set `{name}` to another URL, or write this one into \
                 `app/adapters/{}.yaml` with `allow_private` and the reason",
                self.name
            ),
            false => format!(
                "the specification does not say in full where the API is: set the variable `{name}`, or name it with `--server URL`"
            ),
        });
        Ok(())
    }

    /// The first requirement that an adapter can meet, else what most operations ask.
    fn set_security(&mut self, root: Node<'_>) {
        let Some(schemes) = root.get("components").and_then(|components| components.get("securitySchemes")) else {
            let how = format!("if it asks for some, add `bearer`, `basic` or `api_key` to `app/adapters/{}.yaml`", self.name);
            self.notes.push(format!("the specification does not say which credentials the API takes: {how}"));
            return;
        };
        let asks = |node: Node<'_>| -> Option<Vec<Vec<String>>> {
            let list = node.raw("security")?.raw_items();
            Some(list.map(|one| one.entries().map(|(name, _)| name.to_owned()).collect()).collect())
        };
        let of_operations = || {
            let items = root.get("paths").into_iter().flat_map(Node::entries).filter_map(|(_, item)| item.resolved());
            let mut found: Vec<Vec<String>> = items.flat_map(Node::entries).filter_map(|(_, node)| asks(node)).flatten().collect();
            let counts: Vec<usize> = found.iter().map(|one| found.iter().filter(|other| *other == one).count()).collect();
            let mut numbered: Vec<(usize, Vec<String>)> = counts.into_iter().zip(std::mem::take(&mut found)).collect();
            numbered.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            numbered.dedup();
            numbered.into_iter().map(|(_, one)| one).collect::<Vec<_>>()
        };
        let all = || schemes.entries().map(|(name, _)| vec![name.to_owned()]).collect::<Vec<_>>();
        let alternatives = asks(root).filter(|list| list.iter().any(|one| !one.is_empty())).unwrap_or_else(of_operations);
        let alternatives = if alternatives.is_empty() { all() } else { alternatives };
        for names in alternatives.iter().filter(|names| !names.is_empty()) {
            if names.iter().all(|name| schemes.get(name).is_some_and(can_be_met)) {
                for name in names {
                    if let Some(scheme) = schemes.get(name) {
                        self.meet(name, scheme);
                    }
                }
                return;
            }
        }
        let kinds: BTreeSet<&str> = schemes.entries().filter_map(|(_, scheme)| scheme.resolved()?.text("type")).collect();
        if !kinds.is_empty() {
            let kinds = kinds.into_iter().collect::<Vec<_>>().join("`, `");
            self.notes.push(format!("the API asks for credentials that an adapter cannot send (`{kinds}`): add its `options` by hand"));
        }
    }

    fn meet(&mut self, name: &str, scheme: Node<'_>) {
        let has = |options: &[(&str, String)], names: &[&str]| options.iter().any(|(known, _)| names.contains(known));
        let is_taken = has(&self.options, &["bearer", "basic", "api_key", "oauth_token_url"]);
        match (scheme.text("type"), scheme.text("scheme").map(str::to_ascii_lowercase).as_deref()) {
            (Some("apiKey"), _) => {
                let field = scheme.text("name").unwrap_or_default();
                self.credentials.push(field.to_ascii_lowercase());
                let is_header = scheme.text("in") == Some("header");
                // The whole value is written out there, with the word before it.
                if is_header && field.eq_ignore_ascii_case("authorization") {
                    let key = self.variable("TOKEN", "the token of the API");
                    self.options.push(("bearer", format!("{{{{ secret.{key} }}}}")));
                    self.notes
                        .push(format!("the API takes `{name}` in the field `Authorization`; the adapter sends it after the word `Bearer`"));
                } else if is_taken {
                    let end = names::of_folder(field, "key", MAX_NAME * 2, &[]).replace('-', "_").to_ascii_uppercase();
                    let key = self.variable(&end, &format!("the value of `{field}`"));
                    self.options.push(("headers", format!("{field}: {{{{ secret.{key} }}}}")));
                } else {
                    let key = self.variable("KEY", "the key of the API");
                    self.options.push(("api_key", format!("{{{{ secret.{key} }}}}")));
                    self.options.push((if is_header { "api_key_header" } else { "api_key_query" }, field.to_owned()));
                }
            }
            _ if is_taken => {}
            (Some("http"), Some("basic")) => {
                let (user, password) = (self.variable("USER", "the user of the API"), self.variable("PASSWORD", "the user's password"));
                self.options.push(("basic", format!("{{{{ secret.{user} }}}}:{{{{ secret.{password} }}}}")));
            }
            (Some("oauth2"), _) if client_credentials(scheme).is_some() => self.meet_oauth(scheme),
            (kind, _) => {
                let what = if kind == Some("http") { "the token of the API" } else { "an access token of OAuth 2" };
                let token = self.variable("TOKEN", what);
                self.options.push(("bearer", format!("{{{{ secret.{token} }}}}")));
            }
        }
    }

    fn meet_oauth(&mut self, scheme: Node<'_>) {
        let Some(flow) = client_credentials(scheme) else { return };
        let (id, secret) = (self.variable("CLIENT_ID", "the client of OAuth 2"), self.variable("CLIENT_SECRET", "the client's secret"));
        self.options.push(("oauth_token_url", flow.text("tokenUrl").unwrap_or_default().to_owned()));
        self.options.push(("oauth_client_id", format!("{{{{ secret.{id} }}}}")));
        self.options.push(("oauth_client_secret", format!("{{{{ secret.{secret} }}}}")));
        let scopes: Vec<&str> = flow.get("scopes").into_iter().flat_map(Node::entries).map(|(name, _)| name).collect();
        if !scopes.is_empty() {
            self.notes.push(format!("scopes of the API: {}; add those that the tools need as `oauth_scope`", scopes.join(" ")));
        }
    }
}

/// `//host/path` is reached as the specification would be.
fn with_scheme(url: String) -> String {
    if url.starts_with("//") { format!("https:{url}") } else { url }
}

fn servers_of(node: Node<'_>) -> Vec<Node<'_>> {
    node.get("servers").into_iter().flat_map(Node::items).collect()
}

/// The flow of client credentials, where a scheme has it with an address that a request can go to.
fn client_credentials(scheme: Node<'_>) -> Option<Node<'_>> {
    scheme.get("flows")?.get("clientCredentials").filter(|flow| flow.text("tokenUrl").is_some_and(|url| is_url(url) && !url.contains("{{")))
}

/// Whether an adapter can send what a scheme asks for.
fn can_be_met(scheme: Node<'_>) -> bool {
    match scheme.text("type") {
        Some("http") => scheme.text("scheme").is_some_and(|name| ["basic", "bearer"].iter().any(|known| name.eq_ignore_ascii_case(known))),
        Some("apiKey") => {
            matches!(scheme.text("in"), Some("header" | "query")) && scheme.text("name").is_some_and(|name| !name.contains("{{"))
        }
        Some("oauth2" | "openIdConnect") => true,
        _ => false,
    }
}

/// The URL of a server with the values of its variables.
fn filled(server: Node<'_>, given: &[String]) -> CommandResult<String> {
    let mut url = server.text("url").unwrap_or("/").to_owned();
    let variables: Vec<(&str, Node<'_>)> = server.get("variables").into_iter().flat_map(Node::entries).collect();
    let pairs: Vec<(&str, &str)> = given.iter().filter_map(|pair| pair.split_once('=')).collect();
    if let Some((name, _)) = pairs.iter().find(|(name, _)| !variables.iter().any(|(known, _)| known == name)) {
        let known: Vec<String> = variables.iter().map(|(name, _)| format!("`{name}`")).collect();
        return Err(CommandError::Usage(format!("the server has no variable `{name}` of `--var`; it has: {}", known.join(", "))));
    }
    for (name, variable) in variables {
        let value = pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).or_else(|| variable.text("default"));
        let allowed: Vec<&str> =
            variable.get("enum").into_iter().flat_map(Node::raw_items).filter_map(|value| value.value.as_str()).collect();
        let value = value.unwrap_or_default();
        if !allowed.is_empty() && !allowed.contains(&value) {
            return Err(CommandError::Usage(format!(
                "the variable `{name}` of the server takes `{}`; set it with `--var`",
                allowed.join("`, `")
            )));
        }
        url = url.replace(&format!("{{{name}}}"), value);
    }
    Ok(url)
}

/// A name of the title: `GitHub v3 REST API` is `github`.
fn name_of(title: &str) -> String {
    const NOISE: [&str; 15] = [
        "a",
        "an",
        "api",
        "apis",
        "com",
        "docs",
        "documentation",
        "for",
        "io",
        "openapi",
        "public",
        "reference",
        "rest",
        "specification",
        "the",
    ];
    let whole = names::of_folder(title, "api", 200, &[]);
    let is_version = |word: &str| word.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let mut name = String::new();
    for word in whole
        .split('-')
        .filter(|word| !NOISE.contains(word) && !is_version(word) && !word.starts_with(|c: char| c.is_ascii_digit()))
        .take(2)
    {
        if name.len() + word.len() < MAX_NAME {
            name = if name.is_empty() { word.to_owned() } else { format!("{name}-{word}") };
        }
    }
    // The letters of a name that is written with a capital inside are one word: `GitHub`.
    let first = title.split(|c: char| !c.is_alphanumeric()).find(|word| !NOISE.contains(&word.to_lowercase().as_str())).unwrap_or_default();
    let joined = first.to_lowercase();
    let parted = names::of_folder(first, "api", 200, &[]);
    if parted.contains('-') && name.starts_with(&parted) && joined.is_ascii() && joined.len() < MAX_NAME {
        name = joined;
    }
    if name.is_empty() { "api".to_owned() } else { name }
}
