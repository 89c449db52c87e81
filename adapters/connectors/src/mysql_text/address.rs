//! A connection string of MySQL, taken apart.

use millrace_core::url::{Authority, percent_decoded, scheme_and_rest};

/// What others call `sslmode`, and what they write for its values.
const MODES: [(&str, &str, &str); 13] = [
    ("ssl-mode", "DISABLED", "disable"),
    ("ssl-mode", "PREFERRED", "prefer"),
    ("ssl-mode", "REQUIRED", "require"),
    ("ssl-mode", "VERIFY_CA", "verify-ca"),
    ("ssl-mode", "VERIFY_IDENTITY", "verify-full"),
    ("sslaccept", "strict", "verify-full"),
    ("sslaccept", "accept_invalid_certs", "require"),
    ("ssl", "true", "verify-full"),
    ("ssl", r#"{"rejectUnauthorized":true}"#, "verify-full"),
    ("tls", "true", "verify-full"),
    ("tls", "skip-verify", "require"),
    ("tls", "preferred", "prefer"),
    ("tls", "false", "disable"),
];
/// What Go's driver asks how its results are to be read by a program, and how long it waits: a call
/// has a deadline, and its own types.
const OF_GO: [&str; 5] = ["collation", "loc", "parseTime", "readTimeout", "writeTimeout"];

/// Takes a connection string apart: `user`, `password`, `host`, `port`, `dbname` and its settings,
/// as far as they are there. `form` says in messages how it is written. A string may also have the
/// form of Go's driver, `user:password@tcp(host:port)/database?tls=true`, in which nothing but the
/// settings is percent-encoded.
///
/// # Errors
/// A clause that names what is wrong and shows nothing of the text, which may hold a secret.
pub(crate) fn connection_pairs(text: &str, schemes: &[&str], form: &str) -> Result<Vec<(String, String)>, String> {
    if let Some(string) = GoString::parse(text) {
        let mut pairs = string.pairs()?;
        settings(string.query, &mut pairs)?;
        return Ok(pairs);
    }
    let Some((scheme, rest)) = scheme_and_rest(text) else { return Err(format!("is not a URI; {form}")) };
    if !schemes.iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
        return Err(format!("is a URI of something else; {form}"));
    }
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    // A password may hold an `@` that nobody has coded; a host cannot.
    let (login, place) = address.rsplit_once('@').map_or((None, address), |(login, place)| (Some(login), place));
    let (authority, database) = place.split_once('/').unwrap_or((place, ""));
    if login.is_some_and(|login| login.contains('/')) || authority.is_empty() {
        return Err("has no host where it is looked for; in a password, write `%2F` for `/`, `%3F` for `?` and `%23` for `#`, or use option `password`".into());
    }
    if authority.contains(',') {
        return Err("names several hosts; name one".into());
    }
    let whole = &address[..login.map_or(0, |login| login.len() + 1) + authority.len()];
    let server = Authority::parse(whole).map_err(|why| why.as_str().to_owned())?;
    let mut pairs = vec![
        ("user".to_owned(), decoded(server.user.unwrap_or_default())?),
        ("password".to_owned(), decoded(server.password.unwrap_or_default())?),
        ("host".to_owned(), decoded(server.host)?),
        ("port".to_owned(), server.port.map(|port| port.to_string()).unwrap_or_default()),
        ("dbname".to_owned(), decoded(database.trim_end_matches('/'))?),
    ];
    settings(query, &mut pairs)?;
    Ok(pairs)
}

fn decoded(text: &str) -> Result<String, String> {
    percent_decoded(text).ok_or_else(|| "has percent-encoding that is not UTF-8".to_owned())
}

/// Adds the settings of a query, and takes out what is empty.
fn settings(query: &str, pairs: &mut Vec<(String, String)>) -> Result<(), String> {
    for setting in query.split('&').filter(|setting| !setting.is_empty()) {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let (name, value) = (decoded(name)?, decoded(value)?);
        let own_name = |own: &str| own.eq_ignore_ascii_case(&name.replace('_', "-"));
        if let Some((own, ..)) = MODES.iter().find(|(own, ..)| own_name(own)) {
            let mode = MODES.iter().find(|(known, theirs, _)| known == own && theirs.eq_ignore_ascii_case(&value));
            let (.., mode) = mode.ok_or_else(|| format!("sets `{own}` to a value that is not known; set `sslmode`"))?;
            pairs.push(("sslmode".to_owned(), (*mode).to_owned()));
        } else if name == "timeout" {
            pairs.push(("connect_timeout".to_owned(), value));
        } else if !OF_GO.contains(&name.as_str()) {
            pairs.push((name, value));
        }
    }
    pairs.retain(|(_, value)| !value.is_empty());
    Ok(())
}

/// A connection string as Go's driver takes it.
struct GoString<'a> {
    login: &'a str,
    /// `tcp`.
    network: &'a str,
    address: &'a str,
    database: &'a str,
    query: &'a str,
}

impl<'a> GoString<'a> {
    /// `None` for any other form.
    fn parse(text: &'a str) -> Option<Self> {
        // A password may have any of these characters, and nothing behind the address has.
        let (before, rest) = text.rsplit_once(")/").or_else(|| Some((text.strip_suffix(')')?, "")))?;
        let (start, address) = before.rsplit_once('(')?;
        let (login, network) = start.rsplit_once('@').unwrap_or(("", start));
        let is_network = !network.is_empty() && network.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let (database, query) = rest.split_once('?').unwrap_or((rest, ""));
        is_network.then_some(Self { login, network, address, database, query })
    }

    fn pairs(&self) -> Result<Vec<(String, String)>, String> {
        if self.network == "unix" {
            return Err("names a socket of the file system; name a host".to_owned());
        }
        if !["tcp", "tcp4", "tcp6"].contains(&self.network) {
            return Err("names a network that is not known; write `tcp(host:port)`".to_owned());
        }
        let server = Authority::parse(self.address).map_err(|why| why.as_str().to_owned())?;
        let (user, password) = self.login.split_once(':').unwrap_or((self.login, ""));
        let host = if server.host.is_empty() { "127.0.0.1" } else { server.host };
        Ok(vec![
            ("user".to_owned(), user.to_owned()),
            ("password".to_owned(), password.to_owned()),
            ("host".to_owned(), host.to_owned()),
            ("port".to_owned(), server.port.map(|port| port.to_string()).unwrap_or_default()),
            ("dbname".to_owned(), decoded(self.database)?),
        ])
    }
}
