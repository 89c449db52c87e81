//! `hyperdrive:BINDING`: a connection string that names a Hyperdrive, the pooler in front of a
//! database that is bound to a Worker.
//!
//! The binding says who logs in and where; where the database is, and how it is reached and
//! trusted, is set with the Hyperdrive. What of this needs no Worker is here. A host that is not a
//! Worker refuses such a string.

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

/// Refuses a connection string that names a Hyperdrive, where there is none; `Ok` where it names a
/// server.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration).
pub(crate) fn refuse_binding(connection_string: &str) -> Result<()> {
    let name = POSTGRES.name;
    let message = match POSTGRES.binding_in(connection_string) {
        None => return Ok(()),
        Some(Err(_)) => {
            format!(
                "`hyperdrive:` in the connection string of connector `{name}` must be followed by the name of the binding: `hyperdrive:DB`"
            )
        }
        Some(Ok(binding)) => format!(
            "the connection string of connector `{name}` names the Hyperdrive `{binding}`, and only a Worker has one; on this host, name the database \
             itself: `{name}://user:password@host/database`"
        ),
    };
    Err(Error::new(ErrorKind::Configuration, message))
}

/// An adapter's settings with what a binding says in the place of its name. Its host is a name for
/// messages, `DB.hyperdrive`: whoever dials knows the binding.
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
    // Not the binding's own string: it holds the password as it is, whatever characters it has. Nor
    // is there TLS on the way to it.
    let HyperdriveLogin { user, password, database } = login;
    let password = password.expose();
    let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let (user, password, database) = (quoted(user), quoted(password), quoted(database));
    let text = format!("host={binding}.hyperdrive sslmode=disable user={user} password={password} dbname={database}");
    Ok(Connection { connection_string: Secret::new(text), ..connection })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::PostgresAddress;

    fn adapter(options: &[(&str, &str)]) -> Connection {
        Connection {
            adapter: "main".into(),
            connector: POSTGRES.name.into(),
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
    fn what_the_binding_says_arrives_whatever_characters_it_has() {
        let found = connection(adapter(&[("password", " "), ("timezone", "UTC")]), "DB", &login()).unwrap();
        let address = PostgresAddress::parse(found.connection_string.expose(), &found.options).unwrap();
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
        for server in ["", "postgres://me@hyperdrive:5432/x", "host=hyperdrive user=me"] {
            assert_eq!(refuse_binding(server), Ok(()), "{server}");
        }
        let error = refuse_binding(" hyperdrive:DB_2 ").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Configuration);
        assert!(error.message.contains("names the Hyperdrive `DB_2`, and only a Worker has one"), "{error:?}");
        assert!(error.message.contains("`postgres://user"), "{error:?}");
        for wrong in ["hyperdrive:", "hyperdrive:a b", "hyperdrive://DB", "hyperdrive:DB?sslmode=require"] {
            let error = refuse_binding(wrong).unwrap_err();
            assert!(error.message.starts_with("`hyperdrive:` in the connection string"), "{wrong}");
        }
    }
}
