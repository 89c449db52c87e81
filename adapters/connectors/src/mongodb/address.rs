//! Where the servers are and how to talk to them, from a connection string and the options.
//!
//! The string is a URI, `mongodb://user:password@host:port,host/database?replicaSet=rs`; its
//! settings are those of
//! [MongoDB's](https://www.mongodb.com/docs/manual/reference/connection-string-options/), whose
//! names have no case.

use millrace_core::{
    Error, ErrorKind, Result,
    ports::Roots,
    secret::Secret,
    url::{Authority, percent_decoded, scheme_and_rest},
};

use super::scram::Mechanism;
use crate::shared::{Encryption, KnownOptions, ServerOptions, is_loopback};

const KNOWN: KnownOptions = KnownOptions {
    connector: "mongodb",
    names: "`allow`, `auth_source`, `ca_certificate`, `connect_timeout`, `dns`, `max_connections`, `password`, `sslmode`, `sslrootcert`, `user`, and \
            in the connection string `authMechanism`, `directConnection`, `replicaSet` and `w`",
    harmless: &[
        ("readPreference", &["primary"]),
        ("loadBalanced", &["false"]),
        ("retryWrites", &["true", "false"]),
        ("retryReads", &["true", "false"]),
    ],
};
const FORM: &str = "write `mongodb://user:password@host:port/database`";
/// Settings that say nothing of what is sent or of who may read it.
const IGNORED: [&str; 3] = ["appname", "compressors", "zlibcompressionlevel"];
/// What others call our settings, in lower case.
const NAMES: [(&str, &str); 13] = [
    ("authsource", "auth_source"),
    ("authmechanism", "authMechanism"),
    ("directconnection", "directConnection"),
    ("loadbalanced", "loadBalanced"),
    ("maxpoolsize", "max_connections"),
    ("readpreference", "readPreference"),
    ("replicaset", "replicaSet"),
    ("retryreads", "retryReads"),
    ("retrywrites", "retryWrites"),
    ("sslmode", "sslmode"),
    ("sslrootcert", "sslrootcert"),
    ("tlscafile", "sslrootcert"),
    ("w", "w"),
];
/// The most hosts of a connection string or a name.
pub(super) const MAX_HOSTS: usize = 16;
/// Who is asked for the hosts of `mongodb+srv://`, over HTTPS.
const DNS: &str = "https://cloudflare-dns.com/dns-query";

/// A server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) port: u16,
}

/// Where the servers are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seeds {
    /// They are named.
    Hosts(Vec<Host>),
    /// DNS names them.
    Name(String),
}

/// How many servers confirm a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WriteConcern {
    /// So many.
    Count(i32),
    /// `majority`, or those that the server knows by this name.
    Named(String),
}

impl WriteConcern {
    /// The most servers that confirm: a replica set has no more.
    const MOST: i32 = 50;

    fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().trim_start_matches(['+', '-']);
        match digits.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse().ok().filter(|count| (1..=Self::MOST).contains(count)).map(Self::Count),
            false => Some(Self::Named(text.to_owned())),
        }
    }
}

/// Servers, and how to talk to them.
#[derive(Debug, PartialEq)]
pub(super) struct MongoAddress {
    pub(super) seeds: Seeds,
    pub(super) user: Option<(String, Secret<String>)>,
    /// The database of commands that name no other.
    pub(super) database: Option<String>,
    /// Where the user is known; `None` where nobody said.
    pub(super) auth_source: Option<String>,
    pub(super) mechanism: Option<Mechanism>,
    pub(super) replica_set: Option<String>,
    pub(super) is_direct: bool,
    pub(super) encryption: Encryption,
    /// There is no TLS because the author said so, and not because the server is this machine.
    pub(super) is_plain_everywhere: bool,
    pub(super) roots: Roots,
    pub(super) write_concern: Option<WriteConcern>,
    pub(super) dns: String,
    pub(super) allow: String,
    pub(super) connect_timeout_ms: u64,
    pub(super) max_connections: usize,
}

impl MongoAddress {
    /// The database of a command that names none.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) where the connection string names none, either.
    pub(super) fn database(&self) -> Result<&str> {
        let missing = || {
            configuration(&format!("the connection string of connector `mongodb` names no database, and the command has no `$db`; {FORM}"))
        };
        self.database.as_deref().ok_or_else(missing)
    }

    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both
    /// may hold a secret.
    pub(super) fn parse(written: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        let wrong = |why: &str| configuration(&format!("the connection string of connector `mongodb` {why}"));
        let (seeds, pairs) = taken_apart(written).map_err(|why| wrong(&why))?;
        let mut settings = ServerOptions::gather(&KNOWN, pairs, options)?;
        let database = settings.take("dbname");
        let is_name = |name: &String| !name.contains(['/', '\\', '.', '"', '$', '\0', ' ']) && name.len() <= 63;
        if !database.as_ref().is_none_or(is_name) {
            return Err(wrong("has a database with a character that its name cannot have"));
        }
        let first = match &seeds {
            Seeds::Name(name) => name.clone(),
            Seeds::Hosts(hosts) => {
                for host in hosts {
                    settings.check_host(&host.name)?;
                }
                // One on another machine decides for all.
                let decides = hosts.iter().find(|host| !is_loopback(&host.name)).or_else(|| hosts.first());
                decides.map(|host| host.name.clone()).unwrap_or_default()
            }
        };
        let (encryption, roots) = settings.encryption(&first, false)?;
        if matches!(encryption, Encryption::Preferred(_)) {
            return Err(configuration(
                "`sslmode=prefer` of connector `mongodb` is not possible: MongoDB has TLS from the first byte, or none",
            ));
        }
        let is_plain_everywhere = encryption == Encryption::None && !is_loopback(&first);
        let user = user_of(&mut settings)?;
        let mechanism = match settings.take("authMechanism").as_deref() {
            None => None,
            Some("SCRAM-SHA-256") => Some(Mechanism::ScramSha256),
            Some("SCRAM-SHA-1") => Some(Mechanism::ScramSha1),
            Some(_) => return Err(settings.wrong("authMechanism", "`SCRAM-SHA-256` or `SCRAM-SHA-1`")),
        };
        let is_direct = match settings.take("directConnection").as_deref() {
            None | Some("false") => false,
            Some("true") if matches!(&seeds, Seeds::Hosts(hosts) if hosts.len() == 1) => true,
            Some("true") => return Err(wrong("sets `directConnection`, which goes with one host")),
            Some(_) => return Err(settings.wrong("directConnection", "`true` or `false`")),
        };
        let write_concern = match settings.take("w").as_deref().map(WriteConcern::parse) {
            None => None,
            Some(Some(concern)) => Some(concern),
            Some(None) => return Err(settings.wrong("w", "`majority`, a number from 1 to 50, or a name of the server's")),
        };
        let dns = settings.take("dns").unwrap_or_else(|| DNS.to_owned());
        let is_safe = dns.starts_with("https://") || dns.strip_prefix("http://").is_some_and(is_local);
        if !is_safe || dns.contains(['?', '#', ' ']) {
            return Err(settings.wrong("dns", "an `https://` URL without `?`, of a server that answers questions of DNS with JSON"));
        }
        Ok(Self {
            auth_source: settings.take("auth_source"),
            replica_set: settings.take("replicaSet"),
            allow: settings.take("allow").unwrap_or_default(),
            connect_timeout_ms: settings.connect_timeout_ms()?,
            max_connections: settings.max_connections()?,
            seeds,
            user,
            database,
            mechanism,
            is_direct,
            encryption,
            is_plain_everywhere,
            roots,
            write_concern,
            dns,
        })
    }
}

/// The user and the password, where there are any.
fn user_of(settings: &mut ServerOptions) -> Result<Option<(String, Secret<String>)>> {
    match (settings.take("user"), settings.take("password")) {
        (None, None) => Ok(None),
        (Some(user), Some(password)) => Ok(Some((user, Secret::new(password)))),
        (Some(_), None) => Err(configuration("connector `mongodb` has a user without a password; set `password`")),
        (None, Some(_)) => Err(configuration("connector `mongodb` has a password without a user; set `user`")),
    }
}

/// Whether what follows `http://` is this machine.
fn is_local(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    Authority::parse(authority).is_ok_and(|authority| authority.user.is_none() && is_loopback(authority.host))
}

fn decoded(text: &str) -> Result<String, String> {
    percent_decoded(text).ok_or_else(|| "has percent-encoding that is not UTF-8".to_owned())
}

type TakenApart = (Seeds, Vec<(String, String)>);

fn taken_apart(text: &str) -> Result<TakenApart, String> {
    let (scheme, rest) = scheme_and_rest(text).ok_or_else(|| format!("is not a URI; {FORM}"))?;
    let is_name = match scheme.to_ascii_lowercase().as_str() {
        "mongodb" => false,
        "mongodb+srv" => true,
        _ => return Err(format!("is a URI of something else; {FORM}")),
    };
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (login, place) = address.rsplit_once('@').map_or((None, address), |(login, place)| (Some(login), place));
    let (hosts, database) = place.split_once('/').unwrap_or((place, ""));
    if login.is_some_and(|login| login.contains('/')) || hosts.is_empty() {
        return Err(
            "has no host where it is looked for; in a password, write `%2F` for `/`, `%3F` for `?` and `%40` for `@`, or use option \
                    `password`"
                .to_owned(),
        );
    }
    let (user, password) = login.map_or(("", ""), |login| login.split_once(':').unwrap_or((login, "")));
    let mut pairs =
        vec![("user".to_owned(), decoded(user)?), ("password".to_owned(), decoded(password)?), ("dbname".to_owned(), decoded(database)?)];
    let mut found = Vec::new();
    for host in hosts.split(',') {
        let server = Authority::parse(host).map_err(|why| why.as_str().to_owned())?;
        if is_name && server.port.is_some() {
            return Err("has a port, which DNS names for `mongodb+srv://`".to_owned());
        }
        found.push(Host { name: decoded(server.host)?, port: server.port.unwrap_or(27017) });
    }
    if found.len() > MAX_HOSTS {
        return Err(format!("names more than {MAX_HOSTS} hosts"));
    }
    let seeds = match (is_name, found.as_slice()) {
        (false, _) => Seeds::Hosts(found),
        (true, [host]) if host.name.split('.').filter(|label| !label.is_empty()).count() >= 3 => {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
            if !host.name.bytes().all(is_plain) {
                return Err("has a host with a character that a host name cannot have".to_owned());
            }
            Seeds::Name(host.name.to_ascii_lowercase())
        }
        (true, _) => return Err("must name one host with at least three parts, `mongodb+srv://cluster.example.net`".to_owned()),
    };
    settings_of(query, &mut pairs)?;
    pairs.retain(|(_, value)| !value.is_empty());
    Ok((seeds, pairs))
}

/// Adds the settings of a URI.
fn settings_of(query: &str, pairs: &mut Vec<(String, String)>) -> Result<(), String> {
    let mut tls = Tls::default();
    for setting in query.split('&').filter(|setting| !setting.is_empty()) {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let (name, value) = (decoded(name)?, decoded(value)?);
        let lower = name.to_ascii_lowercase();
        let truth = || match value.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(format!("sets `{lower}` to something else than `true` or `false`")),
        };
        match lower.as_str() {
            "tls" | "ssl" => {
                let wanted = truth()?;
                if tls.wanted.replace(wanted).is_some_and(|before| before != wanted) {
                    return Err("sets `tls` and `ssl` to different values".to_owned());
                }
            }
            "tlsinsecure" | "tlsallowinvalidcertificates" => tls.any_certificate |= truth()?,
            "tlsallowinvalidhostnames" => tls.any_name |= truth()?,
            "connecttimeoutms" => pairs.push(("connect_timeout".to_owned(), format!("{value}ms"))),
            name if IGNORED.contains(&name) => {}
            _ => {
                let own = NAMES.iter().find(|(theirs, _)| *theirs == lower).map(|(_, own)| (*own).to_owned());
                pairs.push((own.unwrap_or(name), value));
            }
        }
    }
    pairs.extend(tls.mode()?.map(|mode| ("sslmode".to_owned(), mode.to_owned())));
    Ok(())
}

/// What the settings of a URI say of TLS.
#[derive(Default)]
struct Tls {
    wanted: Option<bool>,
    any_certificate: bool,
    any_name: bool,
}

impl Tls {
    fn mode(&self) -> Result<Option<&'static str>, String> {
        match (self.wanted, self.any_certificate, self.any_name) {
            (Some(false), false, false) => Ok(Some("disable")),
            (Some(false), ..) => Err("has settings of TLS and `tls=false`".to_owned()),
            (_, true, _) => Ok(Some("require")),
            (_, false, true) => Ok(Some("verify-ca")),
            (Some(true), false, false) => Ok(Some("verify-full")),
            (None, false, false) => Ok(None),
        }
    }
}

fn configuration(message: &str) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use millrace_core::ports::Verify;

    use super::*;

    type Written<'a> = &'a [(&'a str, &'a str)];

    fn parse(text: &str, options: Written<'_>) -> Result<MongoAddress> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        MongoAddress::parse(text, &options)
    }

    #[test]
    fn every_form_is_read() {
        let address =
            parse("mongodb://me:p%40%2F@a,b:1/shop?replicaSet=rs&authSource=admin&w=majority&retryWrites=true&appName=x", &[]).unwrap();
        let host = |name: &str, port| Host { name: name.to_owned(), port };
        assert_eq!(address.seeds, Seeds::Hosts(vec![host("a", 27017), host("b", 1)]));
        assert_eq!(address.user, Some(("me".to_owned(), Secret::new("p@/".to_owned()))));
        assert_eq!((address.replica_set.as_deref(), address.auth_source.as_deref()), (Some("rs"), Some("admin")));
        assert_eq!((address.database.as_deref(), address.write_concern), (Some("shop"), Some(WriteConcern::Named("majority".to_owned()))));
        let address = parse("mongodb+srv://c0.abc.example.net/shop", &[("user", "me"), ("password", " p ")]).unwrap();
        assert_eq!(address.seeds, Seeds::Name("c0.abc.example.net".to_owned()));
        assert_eq!((address.encryption, address.dns.as_str()), (Encryption::Required(Verify::Full), DNS));
        let address = parse("mongodb://a", &[]).unwrap();
        assert!(address.database.is_none() && address.database().unwrap_err().message.contains("names no database"));
        let address = parse("MongoDB://[::1]:7/x?MAXPOOLSIZE=9&connectTimeoutMS=500&directConnection=true", &[]).unwrap();
        assert_eq!((address.max_connections, address.connect_timeout_ms, address.is_direct), (9, 500, true));
    }

    #[test]
    fn encryption_is_closed_by_default() {
        use Encryption::{None, Required};
        for (text, encryption, everywhere) in [
            ("mongodb://db/x", Required(Verify::Full), false),
            ("mongodb://localhost/x", None, false),
            ("mongodb://localhost,db/x", Required(Verify::Full), false),
            ("mongodb://db/x?tls=false", None, true),
            ("mongodb://db/x?ssl=true", Required(Verify::Full), false),
            ("mongodb://localhost/x?tls=true", Required(Verify::Full), false),
            ("mongodb://db/x?tls=true&tlsAllowInvalidHostnames=true", Required(Verify::Chain), false),
            ("mongodb://db/x?tlsInsecure=true", Required(Verify::Nothing), false),
            ("mongodb://db/x?tlsCAFile=ca.pem", Required(Verify::Full), false),
        ] {
            let address = parse(text, &[]).unwrap();
            assert_eq!((address.encryption, address.is_plain_everywhere), (encryption, everywhere), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_shown() {
        let cases: [(&str, Written<'_>, &str); 29] = [
            ("hunter2", &[], "is not a URI"),
            ("mysql://hunter2", &[], "is a URI of something else"),
            ("mongodb:///hunter2", &[], "has no host where it is looked for"),
            ("mongodb://me:hunter2/x@a/b", &[], "write `%2F` for `/`"),
            ("mongodb://a/hunter2.x", &[], "has a database with a character"),
            ("mongodb://hunter2@a/x", &[], "has a user without a password"),
            ("mongodb://a/x", &[("password", "hunter2")], "has a password without a user"),
            ("mongodb://a:hunter2/x", &[], "has a wrong port"),
            ("mongodb://%2Ftmp%2Fhunter2.sock/x", &[], "names a socket of the file system"),
            ("mongodb+srv://a.b.c:1/x", &[], "has a port, which DNS names"),
            ("mongodb+srv://localhost/x", &[], "must name one host with at least three parts"),
            ("mongodb+srv://a.b.c,d.e.f/x", &[], "must name one host"),
            ("mongodb://a/x?tls=hunter2", &[], "sets `tls` to something else"),
            ("mongodb://a/x?tls=false&tlsInsecure=true", &[], "has settings of TLS and `tls=false`"),
            ("mongodb://a/x?tls=true&ssl=false", &[], "to different values"),
            ("mongodb://a/x?readPreference=secondary", &[], "does not support `readPreference`"),
            ("mongodb://a/x?authMechanism=MONGODB-X509", &[], "must be `SCRAM-SHA-256` or `SCRAM-SHA-1`"),
            ("mongodb://a/x?socketTimeoutMS=5", &[], "sets `socketTimeoutMS`, which connector `mongodb` does not know"),
            ("mongodb://a/x?loadBalanced=true", &[], "does not support `loadBalanced`"),
            ("mongodb://a,b/x?directConnection=true", &[], "goes with one host"),
            ("mongodb://a/x?w=0", &[], "`w` of connector `mongodb` must be"),
            ("mongodb://a/x?w=00", &[], "`w` of connector `mongodb` must be"),
            ("mongodb://a/x?w=%2B0", &[], "`w` of connector `mongodb` must be"),
            ("mongodb://a/x?w=-1", &[], "`w` of connector `mongodb` must be"),
            ("mongodb://a/x?w=%200", &[], "`w` of connector `mongodb` must be"),
            ("mongodb://a/x?w=51", &[], "`w` of connector `mongodb` must be"),
            ("mongodb://a/x?w=99999999999", &[], "`w` of connector `mongodb` must be"),
            ("mongodb://a/x", &[("sslmode", "prefer")], "is not possible"),
            ("mongodb://a/x", &[("dns", "http://dns.example/q")], "`dns` of connector `mongodb` must be an `https://` URL"),
        ];
        for (text, options, part) in cases {
            let error = parse(text, options).unwrap_err();
            assert!(error.kind == ErrorKind::Configuration && error.message.contains(part), "{text}: {}", error.message);
            assert!(!error.message.contains("hunter2"), "{text}: {}", error.message);
        }
    }
}
