//! What must not leave a call in words: the secrets of the app, and those that came with the call.
//!
//! Everything that is said about a call goes through here: the faults that a caller gets, whoever
//! wrote them; what scripts log and tell; the errors of databases, plugins and caches in the log.
//! Results of tools that went well do not: they are the author's data.
//!
//! The secrets of the app are the values of all variables that it names, wherever it does, its
//! keys, and the passwords and tokens of its adapters. Those of a call are the header fields that
//! came with it, apart from those that are known to hold none; and, for the log, the strings of its
//! tool's `auth.policy`.

use alloc::{borrow::Cow, collections::BTreeSet, rc::Rc, string::String, vec::Vec};
use core::cell::{OnceCell, RefCell};

use crate::pipeline::{call::call_end::CallFailure, isolate::deployment::Deployment};
use crate::{
    Error, Json,
    app::{App, Auth, EnvPart, EnvTemplate, ExpectedKey, IntrospectionServer, KeySource, TemplateReference, Tool},
    fault::Fault,
    headers::Headers,
    ports::Env as _,
    redaction::{Reader, Secrets, Words, strike, strike_within},
    secret::Secret,
};

/// The most bytes of what a script writes to the log in one line.
pub(in crate::pipeline) const LINE_BYTES: usize = 16 << 10;
/// How many sentences that a script was told are known again.
const MOST_SAID: usize = 16;
/// Header fields whose values are not secrets, whatever they are. Sorted.
const PLAIN_FIELDS: [&str; 38] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "cdn-loop",
    "cf-connecting-ip",
    "cf-connecting-ipv6",
    "cf-ipcountry",
    "cf-ray",
    "cf-visitor",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "dnt",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "origin",
    "pragma",
    "priority",
    "te",
    "traceparent",
    "tracestate",
    "transfer-encoding",
    "true-client-ip",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
    "via",
    "x-real-ip",
    "x-request-id",
];
/// How the names of more such fields begin.
const PLAIN_BEGINNINGS: [&str; 4] = ["cloudfront-", "mcp-param-", "sec-", "x-forwarded-"];
/// Header fields whose short values are secrets, too.
const CREDENTIAL_FIELDS: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "x-api-key"];
/// The shortest value of another header field that is taken for a secret.
const SHORTEST_FIELD: usize = 8;
/// An option of an adapter with one of these words in its name is a secret, even where the app
/// writes it out.
const SECRET_OPTIONS: [&str; 4] = ["key", "password", "secret", "token"];

/// The secrets of an app. Looked for when something is said for the first time; a call that says
/// nothing pays nothing.
pub(in crate::pipeline) struct AppSecrets {
    app: Rc<App>,
    deployment: Rc<Deployment>,
    names: OnceCell<Names>,
    known: RefCell<Option<AppSecretValues>>,
}

struct AppSecretValues {
    values: Vec<Option<Secret<String>>>,
    secrets: Rc<Secrets>,
}

impl AppSecrets {
    pub(in crate::pipeline) fn new(app: Rc<App>, deployment: Rc<Deployment>) -> Self {
        Self { app, deployment, names: OnceCell::new(), known: RefCell::default() }
    }

    /// The secrets as the variables are now.
    fn secrets(&self) -> Rc<Secrets> {
        let names = self.names.get_or_init(|| Names::of(&self.app));
        let variables = names.variables.iter().map(|name| self.deployment.var(name));
        let secrets = names.secrets.iter().flat_map(|name| [self.deployment.whole(name).ok().flatten(), self.deployment.previous(name)]);
        let values: Vec<_> = variables.chain(secrets).collect();
        if let Some(known) = self.known.borrow().as_ref().filter(|known| known.values == values) {
            return Rc::clone(&known.secrets);
        }
        let mut texts: Vec<String> = written_out(&self.app, &self.deployment);
        texts.extend(values.iter().flatten().map(|value| value.expose().clone()));
        let secrets = Rc::new(Secrets::of(texts.iter().map(String::as_str)));
        self.known.replace(Some(AppSecretValues { values, secrets: Rc::clone(&secrets) }));
        secrets
    }

    /// An error of a port, for any reader: its message is Millrace's, its source is not.
    pub(in crate::pipeline) fn strike_error(&self, mut error: Error) -> Error {
        let strike = |text: &str, words| strike(text, words, &[&self.secrets()], Reader::Operator).into_owned();
        error.source = error.source.take().map(|source| strike(&source, Words::Foreign(&[])));
        error.message = strike(&error.message, Words::Own);
        error
    }

    /// A value of a call that a text of Millrace's repeats.
    pub(in crate::pipeline) fn strike_value<'t>(&self, text: &'t str) -> Cow<'t, str> {
        strike(text, Words::Foreign(&[]), &[&self.secrets()], Reader::Caller)
    }
}

/// The secrets of a call.
pub(in crate::pipeline) struct CallSecrets {
    app: Rc<Secrets>,
    headers: Secrets,
    policy: Secrets,
    /// What Millrace said to the call's scripts, which may say it again.
    said: RefCell<Vec<String>>,
}

impl CallSecrets {
    pub(in crate::pipeline) fn of(app: &AppSecrets, headers: &Headers, tool: Option<&Tool>) -> Self {
        let mut policy = Vec::new();
        for entry in tool.and_then(|tool| tool.auth.as_ref()).into_iter().flat_map(Auth::entries) {
            let Auth::Script { policy: members, .. } = entry else { continue };
            strings_of(&members.value.0, &mut policy);
            let filled = members.templates.iter().filter_map(|(_, template)| app.deployment.fill(template).ok());
            policy.extend(filled.map(|text| text.expose().clone()));
        }
        Self {
            app: app.secrets(),
            headers: Secrets::plain(headers.iter().filter(|(name, value)| is_secret(name, value)).map(|(_, value)| value)),
            policy: Secrets::plain(policy.iter().map(String::as_str)),
            said: RefCell::default(),
        }
    }

    /// Notes a sentence of Millrace's that a script is told.
    pub(in crate::pipeline) fn say(&self, sentence: &str) {
        let mut said = self.said.borrow_mut();
        if said.len() < MOST_SAID && !said.iter().any(|known| known == sentence) {
            said.push(sentence.into());
        }
    }

    /// A text of somebody else's for the caller.
    pub(in crate::pipeline) fn for_caller<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.for_caller_within(text, usize::MAX)
    }

    /// The same, cut after so many bytes.
    pub(in crate::pipeline) fn for_caller_within<'t>(&self, text: &'t str, most: usize) -> Cow<'t, str> {
        strike_within(text, Words::Foreign(&self.said.borrow()), &[&self.app, &self.headers], Reader::Caller, most)
    }

    /// A text of somebody else's for the log, cut where it is longer than a line may be.
    pub(in crate::pipeline) fn for_log<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.logged(text, Words::Foreign(&self.said.borrow()))
    }

    fn logged<'t>(&self, text: &'t str, words: Words<'_>) -> Cow<'t, str> {
        strike_within(text, words, &[&self.app, &self.headers, &self.policy], Reader::Operator, LINE_BYTES)
    }

    /// The end of a call, every text of it. What a script returned is its own, and so is the code
    /// only then. A fault is in Millrace's words, and what it has of others in them was struck
    /// where it came in.
    pub(in crate::pipeline) fn strike_failed(&self, mut failed: CallFailure) -> CallFailure {
        match &mut failed {
            CallFailure::Fault(fault) => self.strike_fault(fault, Words::Own),
            CallFailure::Reply(fault) => {
                if let Cow::Owned(struck) = self.for_caller(&fault.code) {
                    fault.code = struck;
                }
                self.strike_foreign(fault);
            }
        }
        failed
    }

    /// What a script says of a failure.
    pub(in crate::pipeline) fn strike_foreign(&self, fault: &mut Fault) {
        self.strike_fault(fault, Words::Foreign(&self.said.borrow()));
    }

    fn strike_fault(&self, fault: &mut Fault, words: Words<'_>) {
        let Fault { message, suggestion, available_actions, details, issues, log, .. } = fault;
        if let Some(log) = log {
            // Where the log has nothing of its own, it has the message.
            let struck = if log == message { self.logged(log, words) } else { self.for_log(log) };
            if let Cow::Owned(struck) = struck {
                *log = struck;
            }
        }
        let texts = [message].into_iter().chain(suggestion).chain(available_actions);
        let details = details.iter_mut().flat_map(|(key, value)| [key, value]);
        let issues = issues.iter_mut().flat_map(|issue| [&mut issue.field, &mut issue.message]);
        for text in texts.chain(details).chain(issues) {
            if let Cow::Owned(struck) = strike(text, words, &[&self.app, &self.headers], Reader::Caller) {
                *text = struck;
            }
        }
    }
}

fn is_secret(name: &str, value: &str) -> bool {
    let plain = PLAIN_FIELDS.contains(&name) || PLAIN_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    !plain && (value.len() >= SHORTEST_FIELD || CREDENTIAL_FIELDS.contains(&name))
}

/// The variables and the secrets that an app names.
#[derive(Default)]
struct Names {
    variables: BTreeSet<String>,
    secrets: BTreeSet<String>,
}

impl Names {
    fn of(app: &App) -> Self {
        let mut names = Self::default();
        app.visit(&mut |_, named| {
            let (known, name) = match named {
                TemplateReference::Variable(name) => (&mut names.variables, name),
                TemplateReference::Secret(name) => (&mut names.secrets, name),
                TemplateReference::Value(_) | TemplateReference::Path(_) => return,
            };
            known.insert(name.into());
        });
        names
    }
}

/// Secrets that are more than the value of a variable: keys, URLs and tokens with text of the app
/// in them.
fn written_out(app: &App, deployment: &Deployment) -> Vec<String> {
    let mut texts = Vec::new();
    let mut add = |template: &EnvTemplate, wanted: &dyn Fn(&str) -> bool| {
        // What stands around the name of a caller's database is the same for all of them.
        for parts in template.0.split(|part| matches!(part, EnvPart::Caller(_))) {
            if let Ok(text) = deployment.fill(&EnvTemplate(parts.to_vec()))
                && wanted(text.expose())
            {
                texts.push(text.expose().clone());
            }
        }
    };
    for adapter in &app.adapters {
        // A file's path is no secret, and neither is a host.
        let names_secret = |template: &EnvTemplate| template.0.iter().any(|part| matches!(part, EnvPart::Secret(_)));
        let is_secret = names_secret(&adapter.connection_string);
        add(&adapter.connection_string, &|text| is_secret || text.contains("://") && text.contains(['@', '?']));
        for (name, option) in &adapter.options {
            add(option, &|_| SECRET_OPTIONS.iter().any(|word| name.contains(word)));
        }
    }
    let auths = app.tools.iter().filter_map(|tool| tool.auth.as_ref()).chain(&app.feature_auth);
    for auth in auths.flat_map(Auth::entries) {
        match auth {
            Auth::ApiKey(policy) => {
                for key in &policy.keys {
                    let (ExpectedKey::Value(template) | ExpectedKey::Sha256(template)) = &key.expected;
                    add(template, &|_| true);
                }
            }
            Auth::Jwt(policy) => {
                if let KeySource::Secret(template) | KeySource::Introspection(IntrospectionServer { client_secret: template, .. }) =
                    &policy.keys
                {
                    add(template, &|_| true);
                }
            }
            Auth::AllowAll | Auth::Script { .. } | Auth::Any(_) => {}
        }
    }
    texts
}

/// Every string of a value.
fn strings_of(json: &Json, texts: &mut Vec<String>) {
    match json {
        Json::String(text) => texts.push(text.clone()),
        Json::Array(elements) => elements.iter().for_each(|element| strings_of(element, texts)),
        Json::Object(members) => members.values().for_each(|member| strings_of(member, texts)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
