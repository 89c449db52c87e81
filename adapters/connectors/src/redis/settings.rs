//! Where the server is and how to talk to it, from a connection string and the options.

use millrace_core::{Error, ErrorKind, Result, ports::Roots, secret::Secret};
use millrace_languages::redis::{allowed, is_known};
use millrace_redis::{RedisAddress, Version};

use crate::shared::{KnownOptions, ServerOptions};

const KNOWN: KnownOptions = KnownOptions {
    connector: "redis",
    names: "`allow`, `ca_certificate`, `ca_file`, `connect_timeout`, `max_connections`, `password`, `protocol`, `user`",
    harmless: &[],
};
/// What messages call the connection string.
const STRING: &str = "the connection string of connector `redis`";

/// How to talk to a server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RedisSettings {
    /// The commands that are allowed by name, with commas between them.
    pub(super) allow: String,
    pub(super) connect_timeout_ms: u64,
    pub(super) max_connections: usize,
}

/// Reads a connection string and the options of an adapter.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both may
/// hold a secret.
pub(super) fn read(text: &str, options: &[(String, Secret<String>)]) -> Result<(RedisAddress, RedisSettings)> {
    let mut address = RedisAddress::read(STRING, text)?;
    let password = address.password.take().map(|password| password.expose().clone());
    let version = match address.version {
        Version::Newest => None,
        Version::Resp2 => Some("2".to_owned()),
        Version::Resp3 => Some("3".to_owned()),
    };
    let of_the_string = [("user", address.user.take()), ("password", password), ("protocol", version)];
    let pairs = of_the_string.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let mut options = ServerOptions::gather(&KNOWN, pairs, options)?;
    address.user = options.take("user");
    address.password = options.take("password").map(Secret::new);
    address.check_user(STRING)?;
    let (pem, file) = (options.take("ca_certificate"), options.take("ca_file"));
    if !address.tls && (pem.is_some() || file.is_some()) {
        return Err(configuration("`ca_certificate` and `ca_file` of connector `redis` need TLS; write `rediss://`"));
    }
    match (&address.roots, pem, file) {
        (_, None, None) => {}
        (Roots::Host, Some(pem), None) => address.roots = Roots::Pem(pem),
        (Roots::Host, None, Some(file)) => address.roots = Roots::File(file),
        _ => return Err(configuration("connector `redis` takes `ca_certificate` or `ca_file`, and one of them once")),
    }
    let allow = options.take("allow").unwrap_or_default();
    let version = options
        .take("protocol")
        .map(|text| Version::parse(&text).ok_or_else(|| configuration("`protocol` of connector `redis` must be 2 or 3")));
    address.version = version.transpose()?.unwrap_or_default();
    // A module may reply with something else in RESP3.
    if allowed(&allow).any(|name| !is_known(name)) {
        address.version = match address.version {
            Version::Newest | Version::Resp2 => Version::Resp2,
            Version::Resp3 => {
                return Err(configuration(
                    "`allow` of connector `redis` names a command that is not known, which is run in RESP2; remove `protocol`, or set it to 2",
                ));
            }
        };
    }
    let settings = RedisSettings { allow, connect_timeout_ms: options.connect_timeout_ms()?, max_connections: options.max_connections()? };
    Ok((address, settings))
}

fn configuration(message: &str) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, options: &[(&str, &str)]) -> Result<(RedisAddress, RedisSettings)> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        read(text, &options)
    }

    #[test]
    fn options_add_to_the_connection_string() {
        let all = [("user", "me"), ("password", "p w"), ("ca_certificate", "pem"), ("connect_timeout", "500ms"), ("max_connections", "9")];
        let (address, settings) = parse("rediss://a/2", &all).unwrap();
        assert_eq!((address.host.as_str(), address.tls, address.database), ("a", true, 2));
        assert_eq!(
            (address.user.as_deref(), address.password.as_ref().map(|password| password.expose().as_str())),
            (Some("me"), Some("p w"))
        );
        assert_eq!((address.roots, settings.connect_timeout_ms, settings.max_connections), (Roots::Pem("pem".into()), 500, 9));
        let (address, settings) = parse("redis://:x@a", &[("password", ""), ("ca_file", ""), ("allow", "KEYS")]).unwrap();
        assert_eq!((address.password.is_some(), settings.allow.as_str()), (true, "KEYS"));
    }

    #[test]
    fn commands_that_are_not_known_are_run_in_resp2() {
        for (text, options, expected) in [
            ("redis://a", &[][..], Version::Newest),
            ("redis://a?protocol=3", &[], Version::Resp3),
            ("redis://a", &[("protocol", "2")], Version::Resp2),
            ("redis://a", &[("protocol", "")], Version::Newest),
            ("redis://a", &[("allow", "keys, config get,EVAL,ACL")], Version::Newest),
            ("redis://a", &[("allow", "KEYS,FT.SEARCH")], Version::Resp2),
            ("redis://a", &[("allow", "FT.SEARCH"), ("protocol", "2")], Version::Resp2),
        ] {
            assert_eq!(parse(text, options).unwrap().0.version, expected, "{text} {options:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_shown() {
        for (text, options, expected) in [
            ("http://hunter2", &[][..], "begins with neither `redis://` nor `rediss://`; write `redis://USER"),
            ("redis://hunter2@a", &[], "has a user without a password"),
            ("redis://a", &[("user", "hunter2")], "has a user without a password"),
            ("redis://:hunter2@a", &[("password", "hunter22")], "`password` of connector `redis` is set to different values"),
            ("redis://hunter2:x@a", &[("user", "hunter22")], "`user` of connector `redis` is set to different values"),
            ("redis://a", &[("ca_file", "hunter2")], "`ca_certificate` and `ca_file` of connector `redis` need TLS"),
            ("rediss://a?ca_file=hunter2", &[("ca_certificate", "hunter2")], "one of them once"),
            ("redis://a", &[("connect_timeout", "hunter2")], "`connect_timeout` of connector `redis` must be seconds"),
            ("redis://a", &[("protocol", "hunter2")], "`protocol` of connector `redis` must be 2 or 3"),
            ("redis://a?protocol=3", &[("protocol", "2")], "`protocol` of connector `redis` is set to different values"),
            ("redis://a", &[("protocol", "3"), ("allow", "KEYS,FT.SEARCH")], "names a command that is not known"),
            ("redis://a", &[("max_connections", "0")], "must be a whole number from 1 to 1000"),
            ("redis://a", &[("tls", "hunter2")], "has no option `tls`; it has `allow`"),
        ] {
            let error = parse(text, options).unwrap_err();
            assert!(error.message.contains(expected) && !error.message.contains("hunter2"), "{text}: {}", error.message);
        }
    }
}
