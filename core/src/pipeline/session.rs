//! What an adapter's `session` sets in its database for one call, from the caller's principal.
//!
//! A call whose principal lacks a value is refused: a policy may read a setting that is missing or
//! empty as every tenant's.

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use crate::pipeline::{call::run::Run, call::scope::walk, content::json_text::push_text};
use crate::{
    Error, ErrorKind, Json, Result,
    app::{Adapter, Piece, SESSION_ROLE, SESSION_TOKEN, SessionTemplate, Source},
    ports::{Env, SessionSetting},
};

/// The role that is none: PostgreSQL takes the word as the user that logged in.
const NO_ROLE: &str = "none";
/// What stands for a value of a caller where there is none, while a statement is explained.
const PLACEHOLDER: &str = "0";

/// The settings of an adapter in a call.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied) where the caller's principal lacks a value, or has one that is not
/// allowed; [`Configuration`](ErrorKind::Configuration) for a variable that is not set. Neither has
/// the value in it.
pub(super) fn of(run: &Run<'_>, adapter: &Adapter) -> Result<Vec<SessionSetting>> {
    let find = |source: &Source| run.auth.as_ref().and_then(|auth| walk(auth, &source.path));
    let setting = |template: &SessionTemplate| {
        if template.name == SESSION_TOKEN {
            let token = run.token.get().ok_or_else(|| without_token(adapter))?;
            return Ok(SessionSetting { name: template.name.clone(), value: token.expose().clone() });
        }
        let value = value(&*run.pipeline.ports.env, adapter, template, &find)?;
        Ok(SessionSetting { name: template.name.clone(), value })
    };
    adapter.session.iter().map(setting).collect()
}

fn without_token(adapter: &Adapter) -> Error {
    let message = format!(
        "the adapter `{}` exchanges the access token of the caller; sign in with a token that `jwt` or `introspection` verifies",
        adapter.name
    );
    Error::new(ErrorKind::Denied, message)
}

/// The settings of an adapter where nobody calls, and whether the role is among them if there is
/// one: a role that the caller decides is left out, and other values of the caller are replaced.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration) for a variable that is not set.
pub(super) fn without_caller(env: &dyn Env, adapter: &Adapter) -> Result<(Vec<SessionSetting>, bool)> {
    let (mut settings, mut has_role) = (Vec::new(), true);
    for template in adapter.session.iter().filter(|template| template.name != SESSION_TOKEN) {
        let of_caller = template.value.iter().any(|piece| matches!(piece, Piece::Source(_)));
        if of_caller && template.name == SESSION_ROLE {
            has_role = false;
            continue;
        }
        let value = if of_caller { PLACEHOLDER.into() } else { value(env, adapter, template, &|_| None)? };
        settings.push(SessionSetting { name: template.name.clone(), value });
    }
    Ok((settings, has_role))
}

fn value<'j>(env: &dyn Env, adapter: &Adapter, template: &SessionTemplate, find: &dyn Fn(&Source) -> Option<&'j Json>) -> Result<String> {
    let refused = |kind, named: &dyn fmt::Display, why: &str| {
        let SessionTemplate { name, .. } = template;
        let message = format!("the adapter `{}` sets `{name}` to `{named}` for each call, and {why}", adapter.name);
        Error::new(kind, message)
    };
    let is_role = template.name == SESSION_ROLE;
    let mut text = String::new();
    for piece in &template.value {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Env(name) => match env.var(name) {
                Some(value) if !value.expose().trim().is_empty() => text.push_str(value.expose()),
                _ => return Err(refused(ErrorKind::Configuration, &format_args!("env.{name}"), "the variable is not set")),
            },
            Piece::Source(source) => {
                let start = text.len();
                let found = find(source).unwrap_or(&Json::Null);
                push_text(&mut text, found);
                let written = &text[start..];
                let why = match found {
                    Json::Null => "the caller has no such value",
                    _ if written.trim().is_empty() => "the caller's value is empty",
                    _ if written.contains('\0') => "the caller's value has a NUL character",
                    Json::Bool(_) | Json::Array(_) | Json::Object(_) if is_role => "the caller's value is not a name",
                    _ => continue,
                };
                return Err(refused(ErrorKind::Denied, source, why));
            }
        }
    }
    if is_role && text.trim().eq_ignore_ascii_case(NO_ROLE) {
        let why = "a call must not have the role of the user that logged in";
        return Err(refused(ErrorKind::Denied, &NO_ROLE, why));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
