//! A connection: TCP, TLS where it is asked for, what the server is, and who we are.

use std::net::IpAddr;

use millrace_core::{
    Error, ErrorKind,
    ports::{ByteStream, Dialer, Random, Tls},
    url::Authority,
};

use super::{
    address::{Host, MongoAddress},
    bson::{Bson, Members, find},
    scram::{Mechanism, SaltedPassword, Scram},
    server_error,
    wire::{MAX_VALUES, Wire},
};
use crate::shared::{Encryption, StatementFailure, is_loopback};

/// The longest message of a login, in bytes.
const LONGEST: usize = 1 << 16;
/// The longest name of a host, in bytes.
const LONGEST_NAME: usize = 253;
/// Names under which clouds answer with what lets in: whoever sends us there wants that.
const METADATA: [&str; 4] = ["metadata", "metadata.google.internal", "metadata.goog", "instance-data"];
/// MongoDB 4.0, and what speaks like it.
const LEAST_WIRE_VERSION: i64 = 7;

/// What a server says of itself.
pub(super) struct Greeting {
    /// It takes writes.
    pub(super) is_primary: bool,
    /// Who does, as far as it knows; why we do not ask whom it names.
    pub(super) primary: Option<Result<Host, &'static str>>,
    mechanisms: Option<Vec<String>>,
}

/// What belongs to a login beside the address.
pub(super) struct Login<'a> {
    pub(super) address: &'a MongoAddress,
    pub(super) auth_source: &'a str,
    pub(super) replica_set: Option<&'a str>,
    /// The hosts that the connection string or DNS names.
    pub(super) seeds: &'a [Host],
    pub(super) dialer: &'a dyn Dialer,
    pub(super) random: &'a dyn Random,
}

impl Login<'_> {
    /// Connects to a server and asks what it is.
    ///
    /// # Errors
    /// Whatever fails: nothing was executed, and what another attempt may mend says so.
    pub(super) async fn greet(&self, host: &Host, until_ms: u64) -> Result<(Wire, Greeting), StatementFailure> {
        if self.address.encryption == Encryption::None && !self.address.is_plain_everywhere && !is_loopback(&host.name) {
            let message = "the primary of the replica set is on another machine, and the connection has no TLS; name it in the connection string, or \
                           set `tls`";
            return Err(last(ErrorKind::Configuration, message));
        }
        let stream = self.dialer.dial(&host.name, host.port, until_ms).await.map_err(StatementFailure::not_executed)?;
        let mut wire = Wire::new(self.encrypted(host, stream, until_ms).await?);
        let mut hello = command("hello", Bson::Int32(1));
        if let Some((user, _)) = &self.address.user {
            hello.push(("saslSupportedMechs".to_owned(), Bson::Text(format!("{}.{user}", self.auth_source))));
        }
        let reply = self.exchange(&mut wire, hello, "admin").await?;
        let text = |key: &str| find(&reply, key).and_then(Bson::text);
        let is = |key: &str| find(&reply, key).is_some_and(Bson::is_true);
        if find(&reply, "maxWireVersion").and_then(Bson::integer).unwrap_or_default() < LEAST_WIRE_VERSION {
            return Err(last(ErrorKind::Configuration, server_error::TOO_OLD));
        }
        if let Some(expected) = self.replica_set
            && text("setName") != Some(expected)
        {
            return Err(last(ErrorKind::Configuration, "the server is not a member of the replica set that the connection string names"));
        }
        let mechanisms = find(&reply, "saslSupportedMechs");
        Ok((
            wire,
            Greeting {
                is_primary: is("isWritablePrimary") || is("ismaster"),
                primary: text("primary").map(|place| {
                    let listed = ["hosts", "passives"].into_iter().filter_map(|key| find(&reply, key));
                    let mut members = listed.flat_map(Bson::elements).filter_map(Bson::text);
                    match members.any(|member| member.eq_ignore_ascii_case(place)) {
                        true => trusted(place, self.seeds),
                        false => Err("it is not one of the members that the server names"),
                    }
                }),
                mechanisms: mechanisms.map(|known| known.elements().iter().filter_map(|name| name.text().map(str::to_owned)).collect()),
            },
        ))
    }

    async fn encrypted(&self, host: &Host, stream: Box<dyn ByteStream>, until_ms: u64) -> Result<Box<dyn ByteStream>, StatementFailure> {
        let verify = match self.address.encryption {
            Encryption::Required(verify) | Encryption::Preferred(verify) => verify,
            Encryption::None => return Ok(stream),
        };
        let tls = Tls { server_name: host.name.clone(), roots: self.address.roots.clone(), verify };
        stream.start_tls(tls, until_ms).await.map_err(|error| match error.kind {
            ErrorKind::Unavailable => StatementFailure::not_executed(error),
            ErrorKind::Denied => {
                let help = "set `ca_certificate` or `sslrootcert`, or `sslmode=require` to skip this check";
                let message = format!("{}; {help}", error.message);
                StatementFailure::last(error.with_message(message))
            }
            _ => StatementFailure::last(error),
        })
    }

    /// Proves who we are, and lets the server prove who it is. `kept` is what an earlier login
    /// left.
    ///
    /// # Errors
    /// As [`greet`](Self::greet).
    pub(super) async fn log_in(
        &self,
        wire: &mut Wire,
        greeting: &Greeting,
        kept: &mut Option<SaltedPassword>,
    ) -> Result<(), StatementFailure> {
        let Some((user, password)) = &self.address.user else { return Ok(()) };
        let mechanism = match (self.address.mechanism, &greeting.mechanisms) {
            (Some(named), _) => named,
            (None, None) => Mechanism::ScramSha256,
            (None, Some(known)) => {
                let has = |mechanism: &Mechanism| known.iter().any(|name| name == mechanism.name());
                [Mechanism::ScramSha256, Mechanism::ScramSha1].into_iter().find(has).ok_or_else(|| {
                    let message = "MongoDB requires a method of authentication that connector `mongodb` does not have; it has SCRAM-SHA-256 and \
                                   SCRAM-SHA-1";
                    StatementFailure::last(Error::new(ErrorKind::Configuration, message).with_source(known.join(", ")))
                })?
            }
        };
        let mut random = [0; 24];
        self.random.fill(&mut random);
        let scram = Scram::new(mechanism, user, &random);
        let mut start = command("saslStart", Bson::Int32(1));
        start.push(("mechanism".to_owned(), Bson::Text(mechanism.name().to_owned())));
        start.push(("payload".to_owned(), Bson::Binary(0, scram.first())));
        start.push(("options".to_owned(), Bson::Document(vec![("skipEmptyExchange".to_owned(), Bson::Bool(true))])));
        let reply = self.exchange(wire, start, self.auth_source).await?;
        let unproven = |why: &str| {
            let message = "MongoDB does not prove that it knows the password: it may be another server";
            StatementFailure::last(Error::new(ErrorKind::Denied, message).with_source(why))
        };
        let (proof, proven) = scram.last(user, password.expose(), payload(&reply), kept).map_err(unproven)?;
        let mut reply = self.exchange(wire, next(&reply, proof), self.auth_source).await?;
        if !proven.is_by(payload(&reply)) {
            *kept = None;
            return Err(unproven("its signature is wrong"));
        }
        if !find(&reply, "done").is_some_and(Bson::is_true) {
            reply = self.exchange(wire, next(&reply, Vec::new()), self.auth_source).await?;
        }
        match find(&reply, "done").is_some_and(Bson::is_true) {
            true => Ok(()),
            false => Err(last(ErrorKind::Protocol, "the login to MongoDB does not end")),
        }
    }

    async fn exchange(&self, wire: &mut Wire, mut command: Members, database: &str) -> Result<Members, StatementFailure> {
        command.push(("$db".to_owned(), Bson::Text(database.to_owned())));
        let mut room = MAX_VALUES;
        let reply = wire.command(&command, LONGEST, &mut room).await.map_err(|error| match error.kind {
            ErrorKind::Unavailable => StatementFailure::not_executed(error),
            _ => StatementFailure::last(error),
        })?;
        match server_error::of_login(&reply) {
            Some(failure) => Err(failure),
            None => Ok(reply),
        }
    }
}

/// The host that a server names, where a connection to it does no harm. `seeds` are those that the
/// author or the author's DNS names.
fn trusted(place: &str, seeds: &[Host]) -> Result<Host, &'static str> {
    let place = Authority::parse(place).ok().filter(|place| place.user.is_none() && place.is_plain() && place.host.len() <= LONGEST_NAME);
    let Some((host, port)) = place.and_then(|place| Some((place.host, place.port?))) else { return Err("it is not a host and a port") };
    let host = Host { name: host.to_ascii_lowercase(), port };
    let is_named = |seed: &Host| seed.name.eq_ignore_ascii_case(&host.name);
    if seeds.iter().any(is_named) {
        return Ok(host);
    }
    let name = host.name.trim_end_matches('.');
    let address = name.parse::<IpAddr>().ok().map(|address| address.to_canonical());
    // Operating systems take `127.1` and `0x7f000001` for addresses.
    let last = name.rsplit('.').next().unwrap_or_default();
    if address.is_none() && (last.is_empty() || last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err("it is not a host and a port");
    }
    let is_local = name == "localhost" || name.ends_with(".localhost") || address.is_some_and(|address| address.is_loopback());
    if is_local && !seeds.iter().any(|seed| is_loopback(&seed.name)) {
        return Err("it is on this machine, and the connection string names no server here");
    }
    if METADATA.contains(&name) || address.is_some_and(is_link_local) {
        return Err("it is an address of the machine's surroundings, where no database is");
    }
    Ok(host)
}

/// Whether an address is one of the link alone, of a cloud's metadata, or of no machine in
/// particular.
fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let is_metadata = matches!(address.octets(), [100, 100, 100, 200] | [192, 0, 0, 192] | [168, 63, 129, 16]);
            is_metadata || address.is_link_local() || address.is_unspecified() || address.is_broadcast() || address.is_multicast()
        }
        IpAddr::V6(address) => {
            let is_metadata = address.segments() == [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254];
            is_metadata || address.is_unicast_link_local() || address.is_unspecified() || address.is_multicast()
        }
    }
}

fn command(name: &str, value: Bson) -> Members {
    vec![(name.to_owned(), value)]
}

fn payload(reply: &[(String, Bson)]) -> &[u8] {
    match find(reply, "payload") {
        Some(Bson::Binary(_, bytes)) => bytes,
        _ => &[],
    }
}

fn next(reply: &[(String, Bson)], payload: Vec<u8>) -> Members {
    let mut next = command("saslContinue", Bson::Int32(1));
    next.push(("conversationId".to_owned(), find(reply, "conversationId").cloned().unwrap_or(Bson::Int32(1))));
    next.push(("payload".to_owned(), Bson::Binary(0, payload)));
    next
}

fn last(kind: ErrorKind, message: &str) -> StatementFailure {
    StatementFailure::last(Error::new(kind, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_does_not_choose_where_we_connect() {
        let seeds = [Host { name: "db.example.net".to_owned(), port: 27017 }];
        let host = |name: &str, port| Ok(Host { name: name.to_owned(), port });
        for (place, expected) in [
            ("db-1.example.net:27018", host("db-1.example.net", 27018)),
            ("DB.example.net:1", host("db.example.net", 1)),
            ("10.0.0.7:65535", host("10.0.0.7", 65535)),
            ("[2001:db8::1]:27017", host("2001:db8::1", 27017)),
        ] {
            assert_eq!(trusted(place, &seeds), expected, "{place}");
        }
        let long = format!("{}:27017", "a".repeat(254));
        for place in [
            "",
            "a",
            "a:0",
            "a:65536",
            "a:",
            ":1",
            "me@a:1",
            "a b:1",
            "a\r\n:1",
            "/tmp/a:1",
            "[fe80::1]:1",
            "169.254.169.254:80",
            "169.254.169.254.:80",
            "[::ffff:169.254.169.254]:80",
            "[fd00:ec2::254]:80",
            "0.0.0.0:1",
            "0:1",
            "127.1:1",
            "0xa9fea9fe:80",
            "0x7f.1:1",
            "2852039166:80",
            "localhost:1",
            "a.localhost:1",
            "127.0.0.1:1",
            "[::1]:1",
            "metadata.google.internal:80",
            "Metadata:80",
            "100.100.100.200:80",
            long.as_str(),
        ] {
            assert!(trusted(place, &seeds).is_err(), "{place}");
        }
        // Unless the author names such.
        let here = [Host { name: "127.0.0.1".to_owned(), port: 1 }, Host { name: "169.254.1.1".to_owned(), port: 1 }];
        assert_eq!(trusted("localhost:7", &here), host("localhost", 7));
        assert_eq!(trusted("169.254.1.1:7", &here), host("169.254.1.1", 7));
        assert!(trusted("169.254.1.2:7", &here).is_err());
    }
}
