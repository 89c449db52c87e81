//! `session` of an adapter: what is set in its database for each call, from the caller's principal.

use millrace_core::app::{Piece, SESSION_ROLE, SessionTemplate};

use crate::{
    compiler::Compiler,
    field::{Field, Record, Shape},
    names::{is_variable, one_of},
    scope::IN_SESSION,
    yaml::{Document, Entry, Node},
};

/// `session` of an adapter.
pub(super) static SESSION: Record = Record {
    name: "session",
    noun: "`session`",
    doc: "What is set in the database for the time of one call. `{{ auth.claims.X }}`, other parts of the principal and `{{ env.X }}` work in every value.",
    fields: &[
        Field::new(
            "settings",
            Shape::Map(&Shape::Scalar),
            "Settings by name, for the policies of row-level security: `app.tenant: \"{{ auth.claims.tenant }}\"`. A call without a value is refused.",
        ).sees(IN_SESSION),
        Field::new("role", Shape::Text, "The role that statements run as. The adapter's user must be a member of it.").sees(IN_SESSION),
    ],
};

/// Settings of the server that a session may set; any other name needs a dot. None of them decides
/// what a caller may see.
const SERVER_SETTINGS: [&str; 3] = ["application_name", "lock_timeout", "timezone"];
/// The most settings of a session.
const MOST_SETTINGS: usize = 20;
/// The longest name that PostgreSQL does not cut off, in bytes.
const LONGEST_NAME: usize = 63;

/// Reads it. `sets_session`: the connector can do so; `None` for one that nobody knows, which has
/// been said.
pub(super) fn read(compiler: &mut Compiler<'_>, document: &Document, connector: &str, sets_session: Option<bool>) -> Vec<SessionTemplate> {
    let Some(entry) = document.root.entry("session") else { return Vec::new() };
    if sets_session == Some(false) {
        let message = format!("connector `{connector}` cannot set anything for a call, which `session` demands");
        let help = "Remove `session`, and compare with `{{ auth.claims.… }}` in every statement; or use `postgres` or `neon`.";
        compiler.error(document, entry.key_range.clone(), message, help);
        return Vec::new();
    }
    let mut session: Vec<SessionTemplate> = Vec::new();
    let settings = entry.value.at("settings").map(Node::entries).unwrap_or_default();
    if let Some(beyond) = settings.get(MOST_SETTINGS) {
        let help = "Set one to `{{ auth.claims }}`: the claims are a JSON document then, `current_setting('app.claims')::jsonb ->> 'org'`.";
        compiler.error(document, beyond.key_range.clone(), format!("`session` has more than {MOST_SETTINGS} settings"), help);
    }
    for setting in settings {
        if let Some((message, help)) = wrong_name(&setting.key) {
            compiler.error(document, setting.key_range.clone(), message, &help);
            continue;
        }
        if session.iter().any(|other| other.name.eq_ignore_ascii_case(&setting.key)) {
            let message = format!("there are two settings `{}`", setting.key);
            compiler.error(
                document,
                setting.key_range.clone(),
                message,
                "Remove one: for PostgreSQL, upper and lower case are the same here.",
            );
            continue;
        }
        session.extend(template(compiler, document, setting, &setting.key));
    }
    if let Some(role) = entry.value.entry("role") {
        session.extend(template(compiler, document, role, SESSION_ROLE));
    } else if settings.is_empty() {
        let help = "Write `settings: { \"app.tenant\": \"{{ auth.claims.tenant }}\" }`, or remove `session`.";
        compiler.error(document, entry.key_range.clone(), "`session` sets nothing", help);
    }
    session
}

fn template(compiler: &mut Compiler<'_>, document: &Document, entry: &Entry, name: &str) -> Option<SessionTemplate> {
    // What is of a wrong type has been said.
    let written = entry.value.written(&document.source)?;
    let value = compiler.session_value(document, &entry.value, &written);
    let only_text = value.iter().all(|piece| matches!(piece, Piece::Text(_)));
    if written.trim().is_empty() {
        let help = "A policy may take an empty setting for everyone's. Write a value, or remove it.";
        compiler.error(document, entry.value.range.clone(), format!("`{name}` of the session is empty"), help);
    } else if name == SESSION_ROLE && only_text && written.trim().eq_ignore_ascii_case("none") {
        let help = "Name a role, or remove `role`: statements run as the adapter's user then.";
        compiler.error(document, entry.value.range.clone(), "`none` is the role of the user that logs in, whatever it may do", help);
    }
    Some(SessionTemplate { name: name.to_owned(), value })
}

fn wrong_name(name: &str) -> Option<(String, String)> {
    if SERVER_SETTINGS.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return None;
    }
    if name.eq_ignore_ascii_case(SESSION_ROLE) {
        return Some(("the role is not one of `settings`".to_owned(), "Write `role` beside `settings`.".to_owned()));
    }
    if !name.contains('.') {
        let message = format!("`{name}` is not a setting that `session` may set");
        let help = format!(
            "Use a name of your own with a dot, such as `app.tenant`. Of the server's settings, it may set {}.",
            one_of(&SERVER_SETTINGS)
        );
        return Some((message, help));
    }
    if name.split('.').all(is_variable) && name.len() <= LONGEST_NAME {
        return None;
    }
    let help = format!("Write names of letters, digits and `_` with dots between, at most {LONGEST_NAME} characters: `app.tenant`.");
    Some((format!("`{name}` is not a valid name for a setting"), help))
}
