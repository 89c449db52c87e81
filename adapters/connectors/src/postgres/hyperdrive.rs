//! `hyperdrive:BINDING`: a connection string that names a Hyperdrive, the pooler in front of a database that is bound to a Worker.
//!
//! The binding says who logs in and where; where the database is, and how it is reached and trusted, is set with the Hyperdrive. What of
//! this needs no Worker is here. A host that is not a Worker refuses such a string.

use millrace_catalogue::POSTGRES;
use millrace_core::{Error, ErrorKind, Result, ports::Connection, secret::Secret};

/// What the Hyperdrive settles.
const SETTLED: [&str; 6] = ["ca_certificate", "channel_binding", "password", "sslmode", "sslrootcert", "user"];

/// Who logs in at a Hyperdrive, as its binding says.
pub struct HyperdriveLogin {
    /// The user's name.
    pub user: String,
    /// The password.
    pub password: Secret<String>,
    /// The database's name.
    pub database: String,
}

/// The name of the binding in a connection string, `hyperdrive:DB`; `None` where it names a server.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration) for a name that no binding has.
pub fn binding(connection_string: &str) -> Option<Result<&str>> {
    Some(POSTGRES.binding_in(connection_string)?.map_err(|_| {
        let message =
            "`hyperdrive:` in the connection string of connector `postgres` must be followed by the name of the binding: `hyperdrive:DB`";
        Error::new(ErrorKind::Configuration, message)
    }))
}

/// An adapter's settings with what a binding says in the place of its name. Its host is a name for messages, `DB.hyperdrive`: whoever dials
/// knows the binding.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration) for an option that the Hyperdrive settles.
pub fn connection(connection: Connection, binding: &str, login: &HyperdriveLogin) -> Result<Connection> {
    let is_set = |(name, value): &&(String, Secret<String>)| SETTLED.contains(&name.as_str()) && !value.expose().trim().is_empty();
    if let Some((name, _)) = connection.options.iter().find(is_set) {
        let message = format!(
            "the adapter `{}` sets `{name}`, which is configured in the Hyperdrive `{binding}`; remove the option, and set it with the \
             Hyperdrive",
            connection.adapter
        );
        return Err(Error::new(ErrorKind::Configuration, message));
    }
    // Not the binding's own string: it holds the password as it is, whatever characters it has. Nor is there TLS on the way to it.
    let HyperdriveLogin { user, password, database } = login;
    let text = format!(
        "host={binding}.hyperdrive sslmode=disable user={} password={} dbname={}",
        quoted(user),
        quoted(password.expose()),
        quoted(database)
    );
    Ok(Connection { connection_string: Secret::new(text), ..connection })
}

/// A value of a `name=value` pair.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Why a host that is not a Worker has no use for a binding.
pub(super) fn refused(binding: &str) -> Error {
    let message = format!(
        "the connection string of connector `postgres` names the Hyperdrive `{binding}`, and only a Worker has one; on this host, name the database \
         itself: `postgres://user:password@host/database`"
    );
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::{super::address::PostgresAddress, *};

    fn adapter(options: &[(&str, &str)]) -> Connection {
        Connection {
            adapter: "main".into(),
            connector: "postgres".into(),
            connection_string: Secret::new("hyperdrive:DB".into()),
            shown: "hyperdrive:DB".into(),
            options: options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect(),
            read_only: false,
            seed: None,
        }
    }

    fn login() -> HyperdriveLogin {
        HyperdriveLogin { user: "o'neil".into(), password: Secret::new("p\\ w'@/?%20".into()), database: "a b".into() }
    }

    #[test]
    fn a_binding_is_told_from_a_server() {
        assert_eq!(binding(" hyperdrive:DB_2 "), Some(Ok("DB_2")));
        for server in ["", "postgres://me@hyperdrive:5432/x", "host=hyperdrive user=me"] {
            assert_eq!(binding(server), None, "{server}");
        }
        for wrong in ["hyperdrive:", "hyperdrive:a b", "hyperdrive://DB", "hyperdrive:DB?sslmode=require"] {
            assert_eq!(binding(wrong).unwrap().map_err(|error| error.kind), Err(ErrorKind::Configuration), "{wrong}");
        }
    }

    #[test]
    fn what_the_binding_says_arrives_whatever_characters_it_has() {
        let connection = connection(adapter(&[("password", " "), ("timezone", "UTC")]), "DB", &login()).unwrap();
        let address = PostgresAddress::parse(connection.connection_string.expose(), &connection.options).unwrap();
        assert_eq!((address.host.as_str(), address.port, address.user.as_str()), ("DB.hyperdrive", 5432, "o'neil"));
        assert_eq!((address.password.unwrap().expose().as_str(), address.database.as_str()), ("p\\ w'@/?%20", "a b"));
    }

    #[test]
    fn what_the_hyperdrive_settles_is_not_set_twice() {
        for name in SETTLED {
            let error = connection(adapter(&[(name, "s3cret")]), "DB", &login()).err().unwrap();
            assert!(error.message.contains(&format!("the adapter `main` sets `{name}`")), "{error:?}");
            assert!(!format!("{error:?}").contains("s3cret"));
        }
    }

    #[test]
    fn a_host_that_is_no_worker_refuses_it() {
        let error = PostgresAddress::parse("hyperdrive:DB", &[]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Configuration);
        assert!(error.message.contains("names the Hyperdrive `DB`, and only a Worker has one"), "{error:?}");
        assert!(PostgresAddress::parse("hyperdrive:", &[]).unwrap_err().message.starts_with("`hyperdrive:` in the connection string"));
    }
}
