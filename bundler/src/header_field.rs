//! Header fields that an app's author writes into requests.

use millrace_languages::http::header_flaw;

/// Who writes a header field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// An adapter, for every request.
    Adapter,
    /// A tool, for its own.
    Tool,
}

/// What helps where a value has a character that it cannot have.
pub(crate) const VALUE_HELP: &str = "write visible characters of ASCII, spaces and tabs, on one line";

/// Why a header field cannot have a name, and what helps.
pub(crate) fn wrong_name(name: &str, owner: Owner) -> Option<(String, &'static str)> {
    let flaw = header_flaw(name)?;
    let help = match owner {
        _ if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') => "write letters, digits and `-`: `X-Request-Reason`",
        Owner::Adapter if name.eq_ignore_ascii_case("authorization") => "write the credentials as `options.bearer` or `options.basic`",
        Owner::Tool if name.eq_ignore_ascii_case("authorization") => {
            "credentials are options of the adapter: `bearer`, `basic`, `api_key`, or OAuth 2"
        }
        _ => "remove it; it is set where the request is sent",
    };
    Some((format!("`{name}` {flaw}"), help))
}
