//! The rights of an app as SQL or as commands of Redis, and as JSON.

use std::collections::{BTreeMap, BTreeSet};

use millrace_languages::Rights;
use serde_json::{Value, json};

use super::{
    acl::{Acl, Selector},
    redis,
    section::{Grant, Note, Object, Section, SessionRole},
};
use millrace_bundler::statement::{Dialect, Named, Privilege, rights::clickhouse::DICTIONARY};

/// What stands for the role that a caller decides.
const SOMEBODY: &str = "ROLE";

/// The longest line of a comment that names users.
const LONGEST: usize = 120;

/// How a server with SQL is told about rights.
#[derive(Clone, Copy)]
struct Granting {
    dialect: Dialect,
    rights: &'static Rights,
}

impl Granting {
    fn of(section: &Section) -> Option<Self> {
        let dialect = section.dialect?;
        Some(Self { dialect, rights: dialect.facts().rights? })
    }
}

/// SQL that grants the rights, section by section; it can be given to the database's own client as
/// it is. Where Redis is all there is, it is commands for `redis-cli`; beside SQL they are
/// comments.
#[must_use]
pub fn text(app: &str, sections: &[Section]) -> String {
    let is_redis = sections.iter().any(|section| section.acl.is_some()) && sections.iter().all(|section| section.dialect.is_none());
    let mut lines = vec![format!("-- The rights that the statements of {app} need, written by `millrace grants`.")];
    for section in sections {
        lines.push(String::new());
        lines.extend(match &section.acl {
            Some(acl) => of_acl(section, acl, is_redis),
            None => of_section(section),
        });
    }
    let line = |line: String| if is_redis { redis::for_cli(&one_line(&line)) } else { one_line(&line) };
    lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn adapters_of(section: &Section) -> String {
    let names: Vec<String> = section.adapters.iter().map(|name| format!("`{name}`")).collect();
    format!("{} {} ({})", if names.len() == 1 { "adapter" } else { "adapters" }, names.join(", "), section.connector)
}

fn variables_of(section: &Section) -> Option<String> {
    let names: Vec<&str> = section.variables.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("-- With the values that these variables have here: {}", names.join(", ")))
}

fn notes_of(section: &Section) -> impl Iterator<Item = String> {
    section.notes.iter().map(|Note { place, user, text, is_missing }| {
        format!("-- {}: {place} ({user}): {text}", if *is_missing { "NOT KNOWN" } else { "more than needed" })
    })
}

/// The commands that give a user of Redis its rights, in one transaction: the app never lacks one
/// meanwhile. As comments, where they are not alone.
fn of_acl(section: &Section, acl: &Acl, is_alone: bool) -> Vec<String> {
    let command = |command: String| if is_alone { command } else { format!("-- {command}") };
    let (adapters, set) = (adapters_of(section), redis::set_user(&section.role));
    let mut lines = match is_alone {
        true => vec![format!("-- {adapters}: for the user {}. Create it first: {set} on >PASSWORD", section.role)],
        false => vec![format!(
            "-- {adapters}: only comments beside SQL; print them for redis-cli with `--adapter {}`. They are for the user {}. Create it first: {set} on >PASSWORD",
            section.adapters.first().map_or("", String::as_str),
            section.role
        )],
    };
    if !section.databases.is_empty() {
        lines.push(format!(
            "-- The caller decides which database it is, so run this on the server of each: {}",
            section.databases.join(", ")
        ));
    }
    lines.extend(variables_of(section));
    lines.push(command("MULTI".to_owned()));
    if acl.is_first {
        lines.push(command(format!("{set} clearselectors")));
    }
    for selector in &acl.selectors {
        lines.push(format!("-- {}", list(&selector.users)));
        lines.push(command(format!("{set} {}", selector.rules())));
    }
    lines.push(command("EXEC".to_owned()));
    lines.extend(notes_of(section));
    lines
}

fn of_section(section: &Section) -> Vec<String> {
    let adapters = adapters_of(section);
    if let Some((host, scope)) = &section.api {
        let mut lines = vec![format!("-- {adapters}: its credentials need these requests at {host}")];
        lines.extend(scope.iter().map(|scope| format!("-- The scope that it asks for: {scope}")));
        lines.extend(section.requests.iter().map(|(request, users)| format!("-- {request}: {}", list(users))));
        lines.extend(notes_of(section));
        return lines;
    }
    let Some(granting) = Granting::of(section) else {
        return vec![format!("-- {adapters}: {}", instead(&section.connector))];
    };
    let mut lines = vec![format!("-- {adapters}: to be run in its database, for {} {}", granting.rights.account_noun, section.role)];
    if !section.databases.is_empty() {
        lines.push(format!("-- The caller decides which database it is, so run this in each of them: {}", section.databases.join(", ")));
    }
    lines.extend(variables_of(section));
    match &section.session {
        Some(SessionRole::Callers(template)) => lines.push(format!(
            "-- Statements run as the role that the caller decides, {template}: for each such role, run what follows with it in place of {SOMEBODY}"
        )),
        Some(SessionRole::Unset(template)) => {
            lines.push(format!("-- Statements run as the role {template}, which is not set here: run what follows with it in place of {SOMEBODY}"));
        }
        _ => {}
    }
    if let Some((makes, users)) = &section.makes {
        lines.push(format!("-- The table of the records that `idempotency` needs: {}", list(users)));
        lines.extend(makes.iter().map(|make| format!("{make};")));
    }
    for grant in &section.grants {
        lines.push(format!("-- {}", list(&grant.users)));
        lines.push(statement(section, granting, grant));
    }
    if let Some(SessionRole::Callers(_) | SessionRole::Unset(_)) = &section.session {
        lines.push(format!("-- GRANT {SOMEBODY} TO {};", (granting.rights.account)(&section.role)));
    }
    if section.grants.is_empty() && section.notes.is_empty() {
        lines.push("-- Nothing is needed but to log in".to_owned());
    }
    lines.extend(notes_of(section));
    lines
}

/// The statement of a right; in a comment where its role is not known.
fn statement(section: &Section, granting: Granting, grant: &Grant) -> String {
    let (to, is_known) = match (&section.session, grant.of_session) {
        (Some(SessionRole::Named(role)), true) => ((granting.rights.account)(role), true),
        (Some(_), true) => (SOMEBODY.to_owned(), false),
        _ => ((granting.rights.account)(&section.role), true),
    };
    let text = grant_statement(granting, grant, &to);
    if is_known { text } else { format!("-- {text}") }
}

fn grant_statement(Granting { dialect, rights }: Granting, Grant { object, privilege, columns, .. }: &Grant, to: &str) -> String {
    let word = privilege.word(dialect);
    let columns = columns.as_ref().map_or_else(String::new, |columns| {
        let start = rights.before_columns;
        format!("{start}({})", columns.keys().map(|column| (rights.quoted)(column)).collect::<Vec<_>>().join(", "))
    });
    let name = |named: &Named| {
        let schema = named.schema.iter().map(|schema| format!("{}.", (rights.quoted)(schema))).collect::<String>();
        format!("{schema}{}", (rights.quoted)(&named.name))
    };
    let with = |named: &Named, arguments: &Option<String>| {
        format!("{}{}", name(named), arguments.as_ref().map_or_else(String::new, |arguments| format!("({arguments})")))
    };
    let on = match object {
        Object::Role(role) => return format!("GRANT {} TO {to};", (rights.account)(role)),
        Object::Schema(schema) => format!("SCHEMA {}", (rights.quoted)(schema)),
        Object::Table(table) => name(table),
        Object::Sequence(sequence) => format!("SEQUENCE {}", name(sequence)),
        Object::Function(function, arguments) => format!("FUNCTION {}", with(function, arguments)),
        Object::Procedure(procedure, arguments) => format!("PROCEDURE {}", with(procedure, arguments)),
        Object::Server(on) => (*on).to_owned(),
    };
    format!("GRANT {word}{columns} ON {on} TO {to};")
}

/// What to do where there is no `GRANT`.
fn instead(connector: &str) -> &'static str {
    match connector {
        "sqlite" | "libsql" | "d1" => {
            "it has no `GRANT`. Use `options: { read_only: true }` for tools that only read, and a token that only reads where there are tokens"
        }
        "upstash" => {
            "it has no `GRANT`, and rules of its own. Make a user with the commands that the tools send, and their keys, and use its token: ACL GENTOKEN app, ACL SETUSER app on >TOKEN resetkeys ~KEYS -@all +COMMAND"
        }
        "mongodb" => "it has no `GRANT`. Make a role with the actions that the tools' commands need: db.createRole(…)",
        "dynamodb" => {
            "it has no `GRANT`. Allow its identity `dynamodb:PartiQLSelect`, `PartiQLInsert`, `PartiQLUpdate` and `PartiQLDelete` as far as the tools need them, on their tables"
        }
        "postgrest" => "its requests run as the roles of the tokens: grant these roles what the requests need, in the database behind it",
        _ => {
            "what its statements need is not judged. Give its user no more than `SELECT` on the tables that are read, and `INSERT` on those that are written"
        }
    }
}

fn list(users: &BTreeSet<String>) -> String {
    let mut text = String::new();
    for (number, user) in users.iter().enumerate() {
        if text.len() + user.len() > LONGEST && number > 0 {
            return format!("{text} and {} more", users.len() - number);
        }
        text.push_str(if number == 0 { "" } else { ", " });
        text.push_str(user);
    }
    text
}

/// A line of its own, whatever names it has in it: nothing ends a comment early.
fn one_line(line: &str) -> String {
    line.chars()
        .map(|character| if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') { ' ' } else { character })
        .collect()
}

/// The same for programs.
#[must_use]
pub fn json(sections: &[Section]) -> Value {
    sections.iter().map(section_json).collect()
}

fn section_json(section: &Section) -> Value {
    let grant = |granting: Granting, grant: &Grant| {
        let (kind, name) = match &grant.object {
            Object::Role(role) => ("role", role.clone()),
            Object::Schema(schema) => ("schema", schema.clone()),
            Object::Table(named) if grant.privilege == Privilege::Other(DICTIONARY) => ("dictionary", named.to_string()),
            Object::Table(named) => ("table", named.to_string()),
            Object::Sequence(named) => ("sequence", named.to_string()),
            Object::Function(named, arguments) => ("function", format!("{named}({})", arguments.as_deref().unwrap_or_default())),
            Object::Server(on) => ("server", (*on).to_owned()),
            Object::Procedure(named, arguments) => ("procedure", format!("{named}({})", arguments.as_deref().unwrap_or_default())),
        };
        json!({
            "sql": statement(section, granting, grant),
            "privilege": if kind == "role" { "MEMBER" } else { grant.privilege.word(granting.dialect) },
            "kind": kind,
            "name": name,
            "columns": grant.columns,
            "used_by": grant.users,
        })
    };
    let selector = |selector: &Selector| {
        let keys: BTreeMap<&String, &str> = selector.keys.iter().map(|(pattern, access)| (pattern, access.name())).collect();
        json!({
            "acl": format!("{} {}", redis::set_user(&section.role), selector.rules()),
            "kind": "command",
            "name": selector.command,
            "keys": keys,
            "channels": selector.channels,
            "used_by": selector.users,
        })
    };
    let grants: Vec<Value> = match (Granting::of(section), &section.acl) {
        (Some(granting), _) => section.grants.iter().map(|one| grant(granting, one)).collect(),
        (None, Some(acl)) => acl.selectors.iter().map(selector).collect(),
        (None, None) => {
            let request = |(name, users)| json!({ "kind": "request", "name": name, "used_by": users });
            section.requests.iter().map(request).collect()
        }
    };
    let has_rights = section.dialect.is_some() || section.acl.is_some();
    let instead = (!has_rights && section.api.is_none()).then(|| instead(&section.connector));
    let note = |note: &Note| json!({ "place": note.place, "used_by": note.user, "text": note.text, "missing": note.is_missing });
    let mut written = json!({
        "adapters": section.adapters,
        "connector": section.connector,
        "role": has_rights.then_some(&section.role),
        "databases": section.databases,
        "variables": section.variables,
        "make": section.makes.as_ref().map(|(makes, _)| makes.to_vec()).unwrap_or_default(),
        "grants": grants,
        "notes": section.notes.iter().map(note).collect::<Vec<_>>(),
        "instead": instead,
    });
    if let Some((url, scope)) = &section.api {
        written["api"] = json!({ "url": url, "scope": scope });
    }
    written
}
