//! `options.aws_iam` of an adapter: a token of AWS IAM as the password.

use std::borrow::Cow;

use millrace_catalogue::Connector;
use millrace_core::url::UrlParts;

use crate::{
    compiler::Compiler,
    yaml::{Document, Node},
};

const OPTION: &str = "aws_iam";

/// Refuses a value that is none, a password beside it, and a target that makes no tokens. What a
/// variable decides is not known here; the runtime refuses that.
pub(super) fn check(compiler: &mut Compiler<'_>, document: &Document, settings: &Node, connector: &Connector) {
    let Some(options) = settings.at("options").filter(|_| connector.options.contains(&OPTION)) else { return };
    let Some(entry) = options.entry(OPTION) else { return };
    let Some(text) = entry.value.written(&document.source) else { return };
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => {}
        "" | "false" => return,
        text if text.contains("{{") => return,
        _ => {
            let message = format!("`options.{OPTION}` cannot be `{text}`");
            return compiler.error(document, entry.value.range.clone(), message, "It takes `true` or `false`.");
        }
    }
    if compiler.options.is_worker {
        let message = "a Worker makes no tokens of AWS IAM, which `aws_iam` needs";
        let help = "It has no AWS credentials of its own. Remove it, and log in with a password, or through a Hyperdrive: \
                    `connection_string: \"hyperdrive:DB\"`. To keep it elsewhere, write `\"{{ env.NAME }}\"`, and leave the variable empty here.";
        compiler.error(document, entry.key_range.clone(), message, help);
    }
    let option =
        options.entry("password").filter(|entry| entry.value.written(&document.source).is_some_and(|text| !text.trim().is_empty()));
    let string = settings.at("connection_string").filter(|node| node.text().is_some_and(has_password));
    for range in option.map(|entry| entry.key_range.clone()).into_iter().chain(string.map(|node| node.range.clone())) {
        let help = "With `aws_iam`, a token of AWS IAM is the password. Remove the password here, or `aws_iam`.";
        compiler.error(document, range, "a password contradicts `aws_iam`", help);
    }
}

/// Whether a connection string has a password, whatever stands for it.
fn has_password(text: &str) -> bool {
    // What a placeholder may bring is not a part of the string's form.
    let text = without_placeholders(text.trim());
    let named = |text: &str| text.split(['?', '&', ' ', '\t', '\n']).any(|part| part.trim_start().starts_with("password="));
    let Some(url) = UrlParts::of(&text) else { return named(&text) };
    let (authority, query) = url.after_scheme.split_once('?').unwrap_or((url.after_scheme, ""));
    let user_info = authority.rsplit_once('@').map_or("", |(user_info, _)| user_info);
    user_info.split_once(':').is_some_and(|(_, password)| !password.is_empty()) || named(query)
}

/// A text with `x` in the place of each placeholder.
pub(super) fn without_placeholders(text: &str) -> Cow<'_, str> {
    let Some((before, rest)) = text.split_once("{{") else { return Cow::Borrowed(text) };
    let Some((_, after)) = rest.split_once("}}") else { return Cow::Borrowed(text) };
    Cow::Owned(format!("{before}x{}", without_placeholders(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_found_in_connection_strings() {
        for text in [
            "postgres://me:pw@db/x",
            "postgres://me:p@w@db/x",
            "postgres://me:{{ env.PW }}@db/x",
            "postgres://{{ env.A }}:{{ env.B }}@{{ env.C }}/x",
            "postgres://me@db/x?sslmode=verify-full&password={{ env.PW }}",
            "host=db password='p w' user=me",
        ] {
            assert!(has_password(text), "{text}");
        }
        for text in [
            "",
            "{{ env.DATABASE_URL }}",
            "postgres://me@db:5432/x",
            "postgres://me:@db:5432/x",
            "postgres://db:5432/x?user=me",
            "postgres://{{ env.USER }}@{{ env.HOST }}:5432/x?sslrootcert=a",
            "host=db user=me application_name=password",
            "postgres://me@db/{{",
        ] {
            assert!(!has_password(text), "{text}");
        }
    }
}
