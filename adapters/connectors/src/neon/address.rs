//! Where the SQL API is and what lets us in, from a connection string and the options.

use millrace_core::{
    Error, ErrorKind, Result,
    secret::Secret,
    url::{Url, percent_coded as coded, percent_decoded},
};

use crate::shared::{KnownOptions, ServerOptions, is_loopback};

const KNOWN: KnownOptions = KnownOptions {
    connector: "neon",
    names: "`application_name`, `base_url`, `password`, `search_path`, `timezone`, `user`",
    // TLS is always there, and always verified in full.
    harmless: &[
        ("channel_binding", &["disable", "prefer", "require"]),
        ("sslmode", &["prefer", "require", "verify-ca", "verify-full"]),
        ("sslrootcert", &["system"]),
    ],
};
/// How long other clients wait for a connection, to whatever value.
const WITHOUT_EFFECT: &str = "connect_timeout";
/// The hosts of Neon, whose API is beside the database.
const OF_NEON: &str = ".neon.tech";

/// A database, its API, and what is set for every batch.
#[derive(Debug, PartialEq)]
pub(super) struct NeonAddress {
    /// `https://api.eu-central-1.aws.neon.tech/sql`
    pub(super) url: String,
    /// The database's, for messages.
    pub(super) host: String,
    /// As the API takes it, with the password.
    pub(super) connection_string: Secret<String>,
    pub(super) settings: Vec<(String, String)>,
    /// Some of the settings are the author's.
    pub(super) has_own_settings: bool,
}

impl NeonAddress {
    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both
    /// may hold a secret.
    pub(super) fn parse(text: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        let wrong = |what: &str| {
            configuration(format!("the connection string of connector `neon` {what}; use `postgres://user:password@host/database`"))
        };
        // What is wrong with the options is said even where the string is wrong.
        ServerOptions::gather(&KNOWN, Vec::new(), options)?;
        let url = Url::parse_with_user(text).map_err(wrong)?;
        if !matches!(url.scheme.as_str(), "postgres" | "postgresql") {
            return Err(wrong("is not a PostgreSQL URI"));
        }
        let mut pairs = url.settings;
        pairs.retain(|(name, _)| name != WITHOUT_EFFECT);
        let parts = [("user", url.server.user), ("password", url.server.password), ("dbname", url.path.strip_prefix('/'))];
        for (name, coded) in parts {
            let value = percent_decoded(coded.unwrap_or_default()).ok_or_else(|| wrong("has percent-encoding that is not UTF-8"))?;
            if !value.is_empty() {
                pairs.push((name.to_owned(), value));
            }
        }
        let mut settings = ServerOptions::gather(&KNOWN, pairs, options)?;
        let user = settings.demand("user")?;
        let password = settings.demand("password")?;
        let database = settings.take("dbname").unwrap_or_else(|| user.clone());
        if settings.take("host").is_some() || settings.take("port").is_some() {
            return Err(wrong("names a host or a port in its query"));
        }
        let api = api_url(&url.server.host.to_ascii_lowercase(), settings.take("base_url").as_deref())?;
        let connection_string = format!("postgresql://{}:{}@{}/{}", coded(&user), coded(&password), url.authority, coded(&database));
        let zone = settings.take("timezone");
        let name = settings.take("application_name");
        let search_path = settings.take("search_path");
        let has_own_settings = zone.is_some() || name.is_some() || search_path.is_some();
        let mut settings = vec![
            ("TimeZone".to_owned(), zone.unwrap_or_else(|| "UTC".into())),
            ("DateStyle".to_owned(), "ISO".to_owned()),
            // As the build reads literals.
            ("standard_conforming_strings".to_owned(), "on".to_owned()),
            ("application_name".to_owned(), name.unwrap_or_else(|| "millrace".into())),
        ];
        settings.extend(search_path.map(|path| ("search_path".to_owned(), path)));
        Ok(Self {
            url: api,
            host: url.server.host.to_owned(),
            connection_string: Secret::new(connection_string),
            settings,
            has_own_settings,
        })
    }
}

/// The API is at the option's URL; for a host of Neon's it needs none: the first label of the
/// host's name is replaced.
fn api_url(host: &str, base_url: Option<&str>) -> Result<String> {
    let Some(text) = base_url else {
        return match host.split_once('.') {
            Some((_, region)) if host.ends_with(OF_NEON) && region.len() >= OF_NEON.len() => Ok(format!("https://api.{region}/sql")),
            // The API gets the password: nobody guesses where it is.
            _ => Err(configuration(
                "connector `neon` needs the option `base_url`, the URL of the SQL API without `/sql`, for a host that is not below \
                 `neon.tech`"
                    .to_owned(),
            )),
        };
    };
    let wrong = |what: &str| configuration(format!("the `base_url` of connector `neon` {what}"));
    let url = Url::parse(text).map_err(wrong)?;
    match url.scheme.as_str() {
        "https" => {}
        "http" if is_loopback(url.server.host) => {}
        _ => return Err(wrong("must begin with `https://`: it gets the password")),
    }
    if !url.settings.is_empty() {
        return Err(wrong("has a query string"));
    }
    Ok(format!("{}://{}{}/sql", url.scheme, url.authority, url.path))
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, options: &[(&str, &str)]) -> Result<NeonAddress> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        NeonAddress::parse(text, &options)
    }

    #[test]
    fn addresses_are_read() {
        let neon = "ep-cool-1-pooler.eu-central-1.aws.neon.tech";
        let local: &[(&str, &str)] = &[("base_url", "http://127.0.0.1:4444/")];
        for (text, options, url, connection_string) in [
            (
                format!("postgresql://me:pw@{neon}/shop?sslmode=require&channel_binding=require&pgbouncer=true&connect_timeout=15"),
                &[][..],
                "https://api.eu-central-1.aws.neon.tech/sql",
                format!("postgresql://me:pw@{neon}/shop"),
            ),
            (
                format!("POSTGRES://me@{neon}:5432"),
                &[("password", "p/w ü@")],
                "https://api.eu-central-1.aws.neon.tech/sql",
                format!("postgresql://me:p%2Fw%20%C3%BC%40@{neon}:5432/me"),
            ),
            ("postgres://m%65:p@w@db/a%2Fb".into(), local, "http://127.0.0.1:4444/sql", "postgresql://me:p%40w@db/a%2Fb".into()),
            (
                "postgres://me:pw@db/x".into(),
                &[("base_url", "https://neon.example.com/proxy")],
                "https://neon.example.com/proxy/sql",
                "postgresql://me:pw@db/x".into(),
            ),
        ] {
            let address = parse(&text, options).unwrap();
            assert_eq!((address.url.as_str(), address.connection_string.expose()), (url, &connection_string), "{text}");
            assert!(!address.has_own_settings);
        }
        let address = parse(&format!("postgres://me:pw@{neon}/x?timezone=Asia/Kolkata"), &[("search_path", "a, b")]).unwrap();
        let settings: Vec<_> = address.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [
            ("TimeZone", "Asia/Kolkata"),
            ("DateStyle", "ISO"),
            ("standard_conforming_strings", "on"),
            ("application_name", "millrace"),
            ("search_path", "a, b"),
        ];
        assert!(settings == expected && address.has_own_settings, "{settings:?}");
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_shown() {
        let good = "postgres://me:hunter2@ep-1.eu.aws.neon.tech/x";
        let needs = "needs the option `base_url`";
        for (text, options, expected) in [
            ("hunter2", &[][..], "is not a URL; use `postgres://user:password@host/database`"),
            ("mysql://me:hunter2@a/b", &[], "is not a PostgreSQL URI"),
            ("postgres://me@ep-1.eu.aws.neon.tech/x", &[], "names no password"),
            ("postgres://ep-1.eu.aws.neon.tech/x", &[("password", "hunter2")], "names no user"),
            ("postgres://me:hunter2@/x", &[], "names no host"),
            ("postgres://me:hunter2@db.example.com/x", &[], needs),
            ("postgres://me:hunter2@neon.tech/x", &[], needs),
            ("postgres://me:hunter2@evil-neon.tech/x", &[], needs),
            ("postgres://me:hunter2@127.0.0.1/x", &[], needs),
            ("postgres://me:hunter2@ep-1.eu.aws.neon.tech/x?sslmode=disable", &[], "does not support `sslmode`"),
            ("postgres://me:hunter2@ep-1.eu.aws.neon.tech/x?options=hunter2", &[], "sets `options`, which connector `neon` does not know"),
            ("postgres://me:hunter2@ep-1.eu.aws.neon.tech/x?host=hunter2", &[], "names a host or a port in its query"),
            (good, &[("password", "hunter22")], "`password` of connector `neon` is set to different values"),
            (good, &[("base_url", "http://api.example.com")], "must begin with `https://`"),
            (good, &[("base_url", "http://127.0.0.1.example.com")], "must begin with `https://`"),
            (good, &[("base_url", "https://a/?hunter2")], "has a query string"),
            (good, &[("base_url", "hunter2")], "is not a URL"),
            (good, &[("fetch", "hunter2")], "has no option `fetch`"),
            (good, &[("connect_timeout", "5")], "has no option `connect_timeout`"),
        ] {
            let error = parse(text, options).unwrap_err();
            assert!(error.message.contains(expected) && !error.message.contains("hunter2"), "{text}: {}", error.message);
        }
    }
}
