//! The options of connector `http`, as far as the file says them. What a variable decides is not
//! known here; the runtime refuses that.

use millrace_catalogue::{Connector, Language};
use millrace_core::{
    app::{EnvTemplate, SESSION_TOKEN, SessionTemplate},
    url::UrlParts,
};
use millrace_languages::http::{GRANTS, MOST_REQUESTS, TOKEN_EXCHANGE, is_header_value};

use super::aws_iam::without_placeholders;
use crate::{
    compiler::Compiler,
    header_field::{self, Owner},
    names::one_of,
    yaml::{Data, Document, Entry, Node},
};

/// The options that are lists of texts.
const LISTS: [&str; 2] = ["headers", "redirects"];
/// The options that each begin another kind of credentials.
const CREDENTIALS: [&str; 4] = ["api_key", "basic", "bearer", "oauth_token_url"];
/// Where an API key is sent.
const KEY_PLACES: [&str; 2] = ["api_key_header", "api_key_query"];
/// What OAuth 2 needs, and what it may have.
const OF_OAUTH: [(&str, bool); 6] = [
    ("oauth_client_id", true),
    ("oauth_client_secret", true),
    (GRANT, false),
    ("oauth_scope", false),
    ("oauth_audience", false),
    ("oauth_resource", false),
];
/// How a token is asked for.
const GRANT: &str = "oauth_grant";
/// The fewest words of a reason.
const WORDS_OF_A_REASON: usize = 3;

/// The values of an option that is a list of texts: each is an option of that name. `None` for any
/// other option.
pub(super) fn listed(compiler: &mut Compiler<'_>, document: &Document, connector: &Connector, entry: &Entry) -> Option<Vec<EnvTemplate>> {
    if connector.language != Language::Http || !LISTS.contains(&entry.key.as_str()) {
        return None;
    }
    Some(elements(&entry.value).iter().map(|node| compiler.connection_template(document, node)).collect())
}

fn elements(node: &Node) -> &[Node] {
    match &node.data {
        Data::List(elements) => elements,
        _ => std::slice::from_ref(node),
    }
}

/// What an adapter has of each caller: the token that it exchanges, if it does so.
pub(super) fn exchanged(settings: &Node) -> Option<SessionTemplate> {
    let grant = settings.at("options")?.at(GRANT)?.text()?;
    (grant == TOKEN_EXCHANGE).then(|| SessionTemplate { name: SESSION_TOKEN.to_owned(), value: Vec::new() })
}

/// Refuses what contradicts itself, and what would send credentials where they do not belong.
pub(super) fn check(compiler: &mut Compiler<'_>, document: &Document, settings: &Node, connector: &Connector) {
    if connector.language != Language::Http {
        return;
    }
    let nothing = Node::nothing();
    let mut check = Check { compiler, document, options: settings.at("options").unwrap_or(&nothing) };
    let is_private = check.reason();
    if let Some(node) = settings.at("connection_string") {
        check.address(node, is_private);
    }
    check.credentials(is_private);
    check.fields();
    check.redirects(is_private);
    if let Some(entry) = check.options.entry("max_requests").filter(|entry| !check.is_filled_in(entry))
        && !matches!(entry.value.data, Data::Int(number) if usize::try_from(number).is_ok_and(|number| (1..=MOST_REQUESTS).contains(&number)))
    {
        check.error(
            entry,
            "`options.max_requests` is not a number of requests",
            &format!("Write a whole number from 1 to {MOST_REQUESTS}."),
        );
    }
}

struct Check<'a, 'c> {
    compiler: &'a mut Compiler<'c>,
    document: &'a Document,
    options: &'a Node,
}

impl Check<'_, '_> {
    fn error(&mut self, entry: &Entry, message: impl Into<String>, help: &str) {
        self.compiler.error(self.document, entry.value.range.clone(), message.into(), help.to_owned());
    }

    fn text(&self, entry: &Entry) -> String {
        entry.value.written(&self.document.source).unwrap_or_default()
    }

    fn is_filled_in(&self, entry: &Entry) -> bool {
        self.text(entry).contains("{{")
    }

    /// Whether the API may have a private address, for a reason.
    fn reason(&mut self) -> bool {
        let Some(entry) = self.options.entry("allow_private") else { return false };
        let words = self.text(entry).split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
        if words < WORDS_OF_A_REASON {
            let help = "Say in a few words why: `allow_private: the orders service runs on this machine`.";
            self.error(entry, "`options.allow_private` has no reason", help);
        }
        true
    }

    fn address(&mut self, node: &Node, is_private: bool) {
        let text = node.text().unwrap_or_default().trim();
        let mut wrong = |message: &str, help: &str| self.compiler.error(self.document, node.range.clone(), message, help);
        let bare = without_placeholders(text);
        let Some(url) = UrlParts::of(&bare) else {
            // A variable may have all of it.
            if !text.starts_with("{{") {
                wrong("the connection string is not a URL", "Write the URL of the API with its base path: `https://api.example.com/v1`.");
            }
            return;
        };
        match url.scheme.to_ascii_lowercase().as_str() {
            "https" => {}
            "http" if is_private => {}
            "http" => wrong(
                "`http://` sends requests and credentials in the clear",
                "Write `https://`. For a service of your own, say why in `options.allow_private`.",
            ),
            // A placeholder may stand there.
            _ if text.starts_with("{{") => {}
            other => {
                wrong(&format!("connector `http` does not speak `{other}`"), "Write `https://` and the host of the API.");
                return;
            }
        }
        if url.authority.contains('@') {
            wrong("the connection string has a user", "Write the credentials as an option: `basic`, `bearer` or `api_key`.");
        }
        if url.authority.is_empty() {
            wrong("the connection string has no host", "Write the URL of the API with its base path: `https://api.example.com/v1`.");
        }
        if url.rest.contains('?') {
            wrong(
                "the connection string has a query",
                "Write fields of the query in `request`, and an API key as `options.api_key_query`.",
            );
        }
        if url.rest.contains('#') {
            wrong("the connection string has a fragment", "Remove what follows `#`: it is never sent.");
        }
        if url.rest.split('/').any(|segment| matches!(segment, "." | "..")) {
            wrong("the base path has the segment `.` or `..`", "Write the path that is meant.");
        }
    }

    fn credentials(&mut self, is_private: bool) {
        let entry = |key: &str| self.options.entry(key);
        let kinds: Vec<&Entry> = CREDENTIALS.into_iter().filter_map(entry).collect();
        let kind = kinds.first().map(|entry| entry.key.as_str());
        let places: Vec<&Entry> = KEY_PLACES.into_iter().filter_map(entry).collect();
        let of_oauth: Vec<(&str, bool, Option<&Entry>)> = OF_OAUTH.into_iter().map(|(key, needed)| (key, needed, entry(key))).collect();
        if let [first, second, ..] = kinds.as_slice() {
            let message = format!("the adapter has both `{}` and `{}`", first.key, second.key);
            self.error(second, message, "A request has one kind of credentials: remove one of them.");
            return;
        }
        match (kind, places.as_slice()) {
            (Some("api_key"), []) => {
                let help = format!("Name the header field or the field of the query that the API expects it in: {}.", one_of(&KEY_PLACES));
                self.error(kinds[0], "`options.api_key` does not say where the key is sent", &help);
            }
            (Some("api_key"), [_, second, ..]) => {
                self.error(
                    second,
                    "the key is sent in a header field and in the query",
                    "Remove one of `api_key_header` and `api_key_query`.",
                );
            }
            (Some("api_key"), _) => {}
            (_, places) => {
                for place in places {
                    let message = format!("`options.{}` has no `api_key`", place.key);
                    self.error(place, message, "Write the key: `api_key: \"{{ secret.KEY }}\"`.");
                }
            }
        }
        for (key, is_needed, found) in of_oauth {
            match (kind, found) {
                (Some("oauth_token_url"), None) if is_needed => {
                    self.error(
                        kinds[0],
                        format!("`options.oauth_token_url` has no `{key}`"),
                        "A client of OAuth 2 has an id and a secret.",
                    );
                }
                (Some("oauth_token_url"), _) | (_, None) => {}
                (_, Some(entry)) => {
                    let help = "Write where tokens are given out: `oauth_token_url: https://id.example.com/token`.";
                    self.error(entry, format!("`options.{key}` has no `oauth_token_url`"), help);
                }
            }
        }
        for entry in kinds {
            let text = self.text(entry);
            let is_filled_in = text.contains("{{");
            match entry.key.as_str() {
                "basic" if !without_placeholders(&text).contains(':') && !text.starts_with("{{") => {
                    self.error(entry, "`options.basic` has no password", "Write `user:password`: `basic: \"user:{{ secret.PASSWORD }}\"`.");
                }
                "oauth_token_url" if !is_filled_in && !is_address(&text, is_private) => {
                    self.error(entry, "`options.oauth_token_url` is not an `https://` URL", "Write `https://id.example.com/token`.");
                }
                _ => {}
            }
        }
        if let Some(entry) = self.options.entry(GRANT)
            && !GRANTS.contains(&self.text(entry).as_str())
        {
            let help = format!("Write {}; a variable cannot decide it.", one_of(&GRANTS));
            self.error(entry, "`options.oauth_grant` is not known", &help);
        }
    }

    /// Header fields, and the options that name one.
    fn fields(&mut self) {
        for key in ["api_key_header", "idempotency_header"] {
            let Some(entry) = self.options.entry(key).filter(|entry| !self.is_filled_in(entry)) else { continue };
            if let Some((message, help)) = header_field::wrong_name(&self.text(entry), Owner::Adapter) {
                self.error(entry, message, &sentence(help));
            }
        }
        let Some(entry) = self.options.entry("headers") else { return };
        let mut known: Vec<String> = Vec::new();
        for node in elements(&entry.value) {
            let line = node.written(&self.document.source).unwrap_or_default();
            let mut wrong = |message: String, help: &str| self.compiler.error(self.document, node.range.clone(), message, sentence(help));
            let Some((name, value)) = line.split_once(':').filter(|(name, _)| !name.contains("{{")) else {
                wrong(
                    "a header field has a name and a value".to_owned(),
                    "write `\"Accept-Language: de\"`; only the value can be a placeholder",
                );
                continue;
            };
            let name = name.trim();
            if let Some((message, help)) = header_field::wrong_name(name, Owner::Adapter) {
                wrong(message, help);
            } else if known.iter().any(|other| other.eq_ignore_ascii_case(name)) {
                wrong(format!("the header field `{name}` is written twice"), "remove one");
            }
            if !is_header_value(value) {
                wrong(format!("`{name}` has a character that a header field cannot have"), header_field::VALUE_HELP);
            }
            known.push(name.to_owned());
        }
    }

    fn redirects(&mut self, is_private: bool) {
        let Some(entry) = self.options.entry("redirects") else { return };
        for node in elements(&entry.value) {
            let text = node.written(&self.document.source).unwrap_or_default();
            let is_origin = UrlParts::of(&text).is_some_and(|url| matches!(url.rest, "" | "/"));
            if !(text.contains("{{") || is_origin && is_address(&text, is_private)) {
                let help = "Write the scheme and the host alone: `https://cdn.example.com`.";
                self.compiler.error(self.document, node.range.clone(), format!("`{text}` is not an origin"), help);
            }
        }
    }
}

/// Whether a text is a URL that requests may go to.
fn is_address(text: &str, is_private: bool) -> bool {
    UrlParts::of(text).is_some_and(|url| {
        let is_scheme = url.scheme.eq_ignore_ascii_case("https") || is_private && url.scheme.eq_ignore_ascii_case("http");
        is_scheme && !url.authority.is_empty() && !url.authority.contains('@')
    })
}

/// A clause of help as a sentence.
fn sentence(clause: &str) -> String {
    let mut characters = clause.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}
