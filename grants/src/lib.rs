//! The rights that an app's statements need in its databases, for `millrace grants`.
//!
//! Adapters that log in alike are one section. What their tools, scripts, audits and records of
//! calls need is merged; each right knows who needs it. What is not known, such as the text of a
//! variable that is not set, is noted with its place, and never left out silently.

use std::collections::{BTreeMap, BTreeSet};

use millrace_catalogue::{Language, find};
use millrace_core::{
    app::{
        Access, Adapter, App, Audit, AuditTable, EnvPart, EnvTemplate, MiddlewareAction, Piece, SESSION_ROLE, SessionTemplate, Statement,
        Tool,
    },
    url::{UrlParts, percent_decoded_strictly},
};
use millrace_languages::call_records;

use millrace_bundler::{
    Report,
    script::{AppPart, ScriptReference},
    statement::{
        Dialect, Privilege, Rights,
        rights::{Unwritten, rights, written},
    },
};

mod acl;
mod found;
mod print;
mod redis;
mod section;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test whose app cannot be built fails")]
mod tests;

pub use acl::{Acl, KeyAccess, Selector};
pub use found::{Answer, Found, Question};
pub use print::{json, text};
pub use redis::selector_of;
pub use section::{Grant, Note, Object, Section, SessionRole};

use section::Need;

/// The role where neither the author nor a connection string names one.
pub const DEFAULT_ROLE: &str = "app";

/// What the rights are found out from.
pub struct Asked<'a> {
    /// The app.
    pub app: &'a App,
    /// What else the bundler says of it.
    pub report: &'a Report,
    /// The values of variables, which can be names and text of statements.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The role, whatever the connections say.
    pub role: Option<&'a str>,
}

/// The sections of an app, by the first of their adapters. `found` has what the databases said, by
/// [`Section::index`].
#[must_use]
pub fn sections(asked: &Asked<'_>, found: &BTreeMap<usize, Found>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut of_adapter: Vec<usize> = Vec::new();
    for (index, adapter) in asked.app.adapters.iter().enumerate() {
        let session = session_role(adapter, asked.variable);
        let names = adapter.databases.iter().flat_map(|databases| databases.names.clone()).collect();
        let same = sections.iter().position(|section| {
            let first = &asked.app.adapters[section.index];
            section.session == session
                && first.connector == adapter.connector
                && first.connection_string == adapter.connection_string
                && login_of(first) == login_of(adapter)
        });
        of_adapter.push(same.unwrap_or(sections.len()));
        match same {
            Some(same) => sections[same].adapters.push(adapter.name.clone()),
            None => sections.push(Section {
                adapters: vec![adapter.name.clone()],
                index,
                connector: adapter.connector.clone(),
                dialect: dialect_of(adapter),
                databases: names,
                database: database_of(adapter, asked.variable),
                role: asked.role.map(str::to_owned).or_else(|| user_of(adapter)).unwrap_or_else(|| DEFAULT_ROLE.to_owned()),
                session,
                makes: None,
                needs: Vec::new(),
                grants: Vec::new(),
                acl: redis::has_acl(adapter).then(Acl::default),
                requests: BTreeMap::new(),
                api: api_of(adapter),
                variables: BTreeSet::new(),
                notes: BTreeSet::new(),
            }),
        }
    }
    for tool in &asked.app.tools {
        let Some(at) = tool.execute.adapter().and_then(|adapter| of_adapter.get(adapter as usize)) else { continue };
        for statement in tool.execute.statements() {
            if let (Some(method), Some(path)) = (statement.http_method(), statement.http_path()) {
                sections[*at].requests.entry(format!("{method} {path}")).or_default().insert(tool.name.clone());
            }
        }
    }
    scripted_requests(asked, &mut sections, &of_adapter);
    let nothing = Found::default();
    let mut users: BTreeSet<String> = BTreeSet::new();
    for (at, section) in sections.iter_mut().enumerate() {
        let dialect = section.dialect;
        if dialect.is_none() && section.acl.is_none() {
            continue;
        }
        let found = found.get(&section.index).unwrap_or(&nothing);
        let mut reading = Reading { asked, section, dialect, found, of_adapter: &of_adapter, at };
        reading.tools();
        reading.scripts();
        if let Some(asked) = dialect.and_then(|dialect| dialect.facts().rights) {
            found.grant(section, asked);
        } else {
            redis::connection(section, asked.variable, asked.app);
            section.finish_acl(&mut users);
        }
    }
    sections
}

impl Section {
    /// What is to be asked of the database, to know more.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        let Some(asked) = self.dialect.and_then(|dialect| dialect.facts().rights) else { return Vec::new() };
        let mut all = Rights::default();
        self.needs.iter().for_each(|need| all.extend(need.rights.clone()));
        found::questions(&all, asked)
    }

    fn note(&mut self, user: &str, place: &str, text: impl Into<String>, is_missing: bool) {
        self.notes.insert(Note { place: place.to_owned(), user: user.to_owned(), text: text.into(), is_missing });
    }
}

/// The dialect of an adapter whose server has rights that statements grant, and whose statements
/// are understood well enough.
fn dialect_of(adapter: &Adapter) -> Option<Dialect> {
    find(&adapter.connector)?.language.dialect().filter(|dialect| dialect.facts().rights.is_some())
}

/// What of an adapter's options decides who logs in, and where.
fn login_of(adapter: &Adapter) -> Vec<&(String, EnvTemplate)> {
    let is_api = is_api(adapter);
    adapter.options.iter().filter(|(name, _)| is_api || matches!(name.as_str(), "database" | "secret_arn" | "user")).collect()
}

fn is_api(adapter: &Adapter) -> bool {
    find(&adapter.connector).is_some_and(|connector| connector.language == Language::Http)
}

/// Where the requests of an adapter on an API go, and the scope of its tokens, as its file has
/// them.
fn api_of(adapter: &Adapter) -> Option<(String, Option<String>)> {
    let scope = || adapter.options.iter().find(|(name, _)| name == "oauth_scope").map(|(_, scope)| scope.to_string());
    is_api(adapter).then(|| (adapter.connection_string.to_string(), scope()))
}

/// The database of ClickHouse that a table is of where a statement names none: the one of the
/// adapter. `None` where the user's is meant, where a variable is not set, and where the caller
/// decides.
fn database_of(adapter: &Adapter, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let is_of_adapter = dialect_of(adapter).and_then(|dialect| dialect.facts().rights).is_some_and(|rights| rights.is_of_adapters_database);
    if !is_of_adapter || adapter.databases.is_some() {
        return None;
    }
    let text = |template: &EnvTemplate| {
        // What may stand for a secret has no database in it: a connection string that ends with one
        // is not known.
        let part = |part: &EnvPart| match part {
            EnvPart::Text(text) => Some(text.clone()),
            EnvPart::Env(name) => variable(name),
            EnvPart::Secret(_) => Some("x".to_owned()),
            EnvPart::Caller(_) => None,
        };
        template.0.iter().map(part).collect::<Option<String>>()
    };
    let has_end = !matches!(adapter.connection_string.0.last(), Some(EnvPart::Secret(_)));
    let url = text(&adapter.connection_string).filter(|_| has_end);
    let rest = url.as_deref().and_then(UrlParts::of).map_or("", |url| url.after_scheme);
    let (place, settings) = rest.split_once('?').unwrap_or((rest, ""));
    let path = place.split_once('/').map(|(_, path)| path);
    let of_query = settings.split('&').find_map(|pair| pair.strip_prefix("database="));
    let of_options = || adapter.options.iter().find(|(name, _)| name == "database").and_then(|(_, template)| text(template));
    [path, of_query].into_iter().flatten().find(|name| !name.is_empty()).and_then(percent_decoded_strictly).or_else(of_options)
}

/// The user that a connection string, or an option, has written out.
fn user_of(adapter: &Adapter) -> Option<String> {
    let of_options = adapter.options.iter().find(|(name, _)| name == "user").and_then(|(_, template)| match template.0.as_slice() {
        [EnvPart::Text(user)] => Some(user.clone()),
        _ => None,
    });
    user_of_url(adapter).or(of_options)
}

fn user_of_url(adapter: &Adapter) -> Option<String> {
    let Some(EnvPart::Text(start)) = adapter.connection_string.0.first() else { return None };
    let rest = UrlParts::of(start)?.after_scheme;
    let end = rest.find([':', '@', '/', '?'])?;
    // Without an `@` behind it, it is the host: a password may come in between from elsewhere.
    let is_user = rest[end..].starts_with('@') || (rest[end..].starts_with(':') && adapter.connection_string.to_string().contains('@'));
    let user = percent_decoded_strictly(&rest[..end])?;
    (is_user && !user.is_empty()).then_some(user)
}

fn session_role(adapter: &Adapter, variable: &dyn Fn(&str) -> Option<String>) -> Option<SessionRole> {
    let SessionTemplate { value, .. } = adapter.session.iter().find(|setting| setting.name == SESSION_ROLE)?;
    let mut text = String::new();
    for piece in value {
        match piece {
            Piece::Text(own) => text.push_str(own),
            Piece::Env(name) => match variable(name) {
                Some(value) => text.push_str(&value),
                None => return Some(SessionRole::Unset(format!("{{{{ env.{name} }}}}"))),
            },
            Piece::Source(source) => return Some(SessionRole::Callers(format!("{{{{ {source} }}}}"))),
        }
    }
    Some(SessionRole::Named(text.trim().to_owned()))
}

/// Reads what the adapters of a section are used for.
struct Reading<'a, 's> {
    asked: &'a Asked<'a>,
    section: &'s mut Section,
    /// `None` for commands of Redis.
    dialect: Option<Dialect>,
    found: &'a Found,
    of_adapter: &'a [usize],
    at: usize,
}

impl<'a> Reading<'a, '_> {
    fn is_here(&self, adapter: u32) -> Option<&'a Adapter> {
        let index = adapter as usize;
        (self.of_adapter.get(index) == Some(&self.at)).then(|| self.asked.app.adapters.get(index)).flatten()
    }

    fn add(&mut self, user: &str, place: &str, text: &str, is_own: bool) {
        let Some(dialect) = self.dialect else { return };
        let rights = rights(text, dialect, &self.found.known);
        for why in &rights.unclear {
            self.section.note(user, place, format!("the statement is not understood: {why}"), true);
        }
        for why in &rights.widened {
            self.section.note(user, place, format!("the whole tables are granted: {why}"), false);
        }
        self.section.needs.push(Need { user: user.to_owned(), place: place.to_owned(), rights, is_own });
    }

    fn tools(&mut self) {
        let app = self.asked.app;
        for tool in &app.tools {
            if let Some(adapter) = tool.execute.adapter().and_then(|adapter| self.is_here(adapter)) {
                let (read_only, connector) = (adapter.read_only, adapter.connector.clone());
                let places = self.asked.report.places.get(&tool.name);
                for (number, statement) in tool.execute.statements().enumerate() {
                    let place = places.and_then(|places| places.get(number)).cloned().unwrap_or_else(|| tool.path.clone());
                    // An adapter that only reads refuses it.
                    if !(read_only && statement.access == Access::Write) {
                        match self.dialect {
                            Some(dialect) => self.statement(&tool.name, &place, statement, dialect),
                            None => redis::command(self.section, self.asked.variable, tool, &place, statement),
                        }
                    }
                }
                if tool.idempotency.is_some()
                    && let Some(records) = call_records::of(&connector)
                {
                    for text in records.uses {
                        self.add(&tool.name, &tool.path, text, true);
                    }
                    let makes = self.section.makes.get_or_insert((records.makes, BTreeSet::new()));
                    makes.1.insert(tool.name.clone());
                }
            }
            for table in audit_tables(tool) {
                if self.is_here(table.adapter).is_some() {
                    self.add(&tool.name, &tool.path, &table.statement, true);
                }
            }
        }
    }

    fn statement(&mut self, user: &str, place: &str, statement: &Statement, dialect: Dialect) {
        let mut used = Vec::new();
        let texts = written(statement, dialect, self.asked.variable, &mut used);
        let unknown = match texts {
            Ok(texts) => {
                self.section.variables.extend(used);
                texts.iter().for_each(|text| self.add(user, place, text, false));
                return;
            }
            Err(Unwritten::Variable(name)) => {
                format!("the variable `{name}` is not set here, or is not a name, and its value is text of the statement")
            }
            Err(Unwritten::Textual) => "callers' values are text of the statement: `substitution: textual`".to_owned(),
            Err(Unwritten::Choices) => "callers can make too many statements of it by `| ident` and `| keyword`".to_owned(),
        };
        self.section.note(user, place, unknown, true);
    }

    fn scripts(&mut self) {
        let app = self.asked.app;
        for scripted in &self.asked.report.scripted {
            let reference = &scripted.place;
            let adapters: Vec<u32> = (0..app.adapters.len()).filter_map(|index| u32::try_from(index).ok()).collect();
            let asked = |index: &&u32| {
                app.adapters.get(**index as usize).is_some_and(|adapter| match &reference.adapter {
                    Some(name) => adapter.name == *name,
                    None => {
                        find(&adapter.connector).is_some_and(|known| known.language.dialect().is_some()) || {
                            let text = (reference.part == AppPart::Statement).then_some(reference.name.as_str());
                            redis::may_be_for(adapter, text, self.asked.variable)
                        }
                    }
                })
            };
            let candidates: Vec<u32> = adapters.iter().filter(asked).copied().collect();
            let here: Vec<&Adapter> = candidates.iter().filter_map(|adapter| self.is_here(*adapter)).collect();
            let Some(first) = here.first() else { continue };
            let is_refused = here.iter().all(|adapter| adapter.read_only);
            let first = first.name.clone();
            let place = place_of(reference);
            for user in users_of(app, scripted.script) {
                match reference.part {
                    AppPart::Statement if candidates.len() == 1 || here.len() == candidates.len() => match self.dialect {
                        Some(dialect) => {
                            let rights = rights(&reference.name, dialect, &self.found.known);
                            let writes = rights.tables.keys().any(|(_, privilege)| *privilege != Privilege::Select);
                            if !(is_refused && writes) {
                                self.add(&user, &place, &reference.name, false);
                            }
                        }
                        None => redis::script_command(self.section, self.asked.variable, &user, &place, &reference.name, &here),
                    },
                    AppPart::Statement => {
                        let text =
                            format!("the script does not say for which adapter the statement is: write `ctx.db(\"{first}\").query(…)`");
                        self.section.note(&user, &place, text, true);
                    }
                    _ => {
                        let text = "the text of the script's statement is not known before it runs: grant what it needs by hand";
                        self.section.note(&user, &place, text, true);
                    }
                }
            }
        }
    }
}

/// Who runs a script: its tools, or without one the script itself, by its path.
fn users_of(app: &App, script: u32) -> Vec<String> {
    let tools = app.tools.iter().filter(|tool| tool.scripts().any(|used| used.script == script));
    let users: Vec<String> = tools.map(|tool| tool.name.clone()).collect();
    if users.is_empty() { app.scripts.get(script as usize).map(|script| script.path.clone()).into_iter().collect() } else { users }
}

fn place_of(reference: &ScriptReference) -> String {
    format!("{}:{}:{}", reference.file.display(), reference.line, reference.column)
}

/// The path of a script's request as that of a tool's is written: `/orders/{}`.
fn without_names(request: &str) -> String {
    let mut parts = request.split('{');
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        written.push('{');
        written.push_str(part.find('}').and_then(|end| part.get(end..)).unwrap_or(part));
    }
    written
}

/// What scripts ask of APIs.
fn scripted_requests(asked: &Asked<'_>, sections: &mut [Section], of_adapter: &[usize]) {
    for scripted in &asked.report.scripted {
        let reference = &scripted.place;
        if !matches!(reference.part, AppPart::Request | AppPart::UnwrittenRequest) {
            continue;
        }
        let adapter = asked.app.adapters.iter().position(|adapter| Some(&adapter.name) == reference.adapter.as_ref());
        let Some(section) = adapter.and_then(|adapter| sections.get_mut(*of_adapter.get(adapter)?)) else { continue };
        for user in users_of(asked.app, scripted.script) {
            if reference.part == AppPart::Request {
                section.requests.entry(without_names(&reference.name)).or_default().insert(user);
            } else {
                let text = "the path of the script's request is not known before it runs";
                section.note(&user, &place_of(reference), text, true);
            }
        }
    }
}

fn audit_tables(tool: &Tool) -> impl Iterator<Item = &AuditTable> {
    tool.middleware.iter().filter_map(|entry| match &entry.action {
        MiddlewareAction::Audit(Audit { table, .. }) => table.as_ref(),
        _ => None,
    })
}
