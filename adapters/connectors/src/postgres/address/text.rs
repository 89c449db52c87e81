//! A connection string → names and values, in order.

use millrace_core::url::{Authority, percent_decoded, scheme_and_rest};

const FORMS: &str = "use `postgres://user:password@host:port/database`";

/// Takes a connection string apart.
///
/// # Errors
/// Why it is none, without any of it.
pub(super) fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let (scheme, rest) = scheme_and_rest(text).unwrap_or(("", text));
    match scheme.to_ascii_lowercase().as_str() {
        "postgres" | "postgresql" => uri(rest),
        "" if text.contains('=') => words(text),
        "" => Err(format!("is neither a URI nor `name=value` pairs; {FORMS}")),
        _ => Err(format!("is a URI of something else; {FORMS}")),
    }
}

fn uri(rest: &str) -> Result<Vec<(String, String)>, String> {
    let decoded = |text: &str| percent_decoded(text).ok_or_else(|| "has percent-encoding that is not UTF-8".to_owned());
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    // A password may hold an `@` that nobody has coded; a host cannot.
    let (login, place) = address.rsplit_once('@').map_or((None, address), |(login, place)| (Some(login), place));
    let (authority, database) = place.split_once('/').unwrap_or((place, ""));
    if login.is_some_and(|login| login.contains('/') || authority.is_empty()) {
        return Err("has no host where it is looked for; in a password, write `%2F` for `/`, `%3F` for `?` and `%23` for `#`, or use option `password`".into());
    }
    let mut pairs = Vec::new();
    let mut add = |name: &str, value: &str| -> Result<(), String> {
        if !value.is_empty() {
            pairs.push((name.to_owned(), decoded(value)?));
        }
        Ok(())
    };
    if authority.contains(',') {
        return Err("names several hosts; name one".into());
    }
    // Without an authority, the query may name a host.
    if !authority.is_empty() {
        let whole = &address[..login.map_or(0, |login| login.len() + 1) + authority.len()];
        let server = Authority::parse(whole).map_err(|why| why.as_str().to_owned())?;
        add("user", server.user.unwrap_or_default())?;
        add("password", server.password.unwrap_or_default())?;
        add("host", server.host)?;
        add("port", &server.port.map(|port| port.to_string()).unwrap_or_default())?;
    }
    add("dbname", database)?;
    for setting in query.split('&').filter(|setting| !setting.is_empty()) {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        add(&decoded(name)?, value)?;
    }
    Ok(pairs)
}

/// `host=db user='me'`; in quotes or not, `\` stands before a character that is meant as it is.
fn words(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or("has a name without a value")?;
        let after = after.trim_start();
        let (quoted, after) = after.strip_prefix('\'').map_or((false, after), |after| (true, after));
        let mut value = String::new();
        let mut characters = after.char_indices();
        let end = loop {
            match characters.next() {
                Some((_, '\\')) => value.extend(characters.next().map(|(_, character)| character)),
                Some((at, '\'')) if quoted => break at + 1,
                Some((at, character)) if !quoted && character.is_ascii_whitespace() => break at,
                Some((_, character)) => value.push(character),
                None if quoted => return Err("has a quote that is not closed".into()),
                None => break after.len(),
            }
        };
        rest = after.get(end..).unwrap_or_default().trim_start();
        let name = name.trim();
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            return Err("has an invalid name".into());
        }
        if !value.is_empty() {
            pairs.push((name.to_owned(), value));
        }
    }
    Ok(pairs)
}
