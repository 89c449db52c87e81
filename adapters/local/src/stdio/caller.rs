//! What calls see as header fields: over HTTP they come with each request, here from the
//! environment, for all calls.
//!
//! `MILLRACE_HEADER_AUTHORIZATION` is `Authorization`, `MILLRACE_HEADER_X_API_KEY` is `X-API-Key`.
//! Only variables of the process count, which whoever starts it has set, and not those of the app's
//! `.env` file: an app does not say who calls it.

use std::ffi::OsString;

use millrace_core::headers::Headers;

use crate::output::{CommandError, CommandResult};

const PREFIX: &str = "MILLRACE_HEADER_";

/// Fields that belong to HTTP or to a single message, which says the same itself.
const NOT_HERE: [&str; 9] =
    ["accept", "connection", "content-encoding", "content-length", "content-type", "host", "origin", "traceparent", "tracestate"];

/// The header fields of the environment. A variable that is empty is none.
///
/// # Errors
/// A variable names a field that means nothing here, or its value cannot be one.
pub(super) fn headers(variables: impl Iterator<Item = (OsString, OsString)>) -> CommandResult<Headers> {
    let mut fields = Vec::new();
    for (variable, value) in variables {
        let Some(variable) = variable.to_str().filter(|variable| variable.starts_with(PREFIX)) else { continue };
        let name = variable[PREFIX.len()..].to_ascii_lowercase().replace('_', "-");
        let wrong = |problem: &str| Err(CommandError::Usage(format!("the variable `{variable}` {problem}")));
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return wrong("does not name a header field; write its name in capitals, with `_` for `-`");
        }
        if NOT_HERE.contains(&name.as_str()) || name.starts_with("mcp-") {
            return wrong("has no meaning on standard input: the field belongs to HTTP or to a single message");
        }
        // The value may be a secret: it is not shown.
        match value.to_str() {
            Some("") => {}
            Some(value) if !value.contains(|c: char| c.is_control() && c != '\t') => fields.push((name, value.to_owned())),
            _ => return wrong("has a value that cannot be a header field: a control character, or no UTF-8"),
        }
    }
    fields.sort();
    Ok(fields.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        let headers = headers(variables.iter().map(|(name, value)| (name.into(), value.into())));
        let fields = |headers: Headers| headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        headers.map(fields).map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn variables_become_fields() {
        let variables = [
            ("PATH", "/bin"),
            ("MILLRACE_HEADER_X_API_KEY", "k"),
            ("MILLRACE_HEADER_ACCEPT_LANGUAGE", "de, en"),
            ("MILLRACE_HEADER_X_EMPTY", ""),
            ("MILLRACE_LOG", "info"),
        ];
        assert_eq!(of(&variables).unwrap(), [("accept-language".into(), "de, en".into()), ("x-api-key".into(), "k".into())]);
        assert_eq!(of(&[]).unwrap(), []);
    }

    #[test]
    fn a_wrong_variable_ends_the_start_and_does_not_show_its_value() {
        for (name, value) in [
            ("MILLRACE_HEADER_", "hunter2"),
            ("MILLRACE_HEADER_MCP_NAME", "hunter2"),
            ("MILLRACE_HEADER_HOST", "hunter2"),
            ("MILLRACE_HEADER_ORIGIN", "hunter2"),
            ("MILLRACE_HEADER_A:B", "hunter2"),
            ("MILLRACE_HEADER_AUTHORIZATION", "hunter2\nX-API-Key: y"),
        ] {
            let problem = of(&[(name, value)]).unwrap_err();
            assert!(problem.contains("Usage") && problem.contains(name) && !problem.contains("hunter2"), "{problem}");
        }
    }
}
