//! A connection: TCP, TLS where it is asked for, what the server is, and who we are.

use millrace_core::{
    Error, ErrorKind,
    ports::{ByteStream, Dialer, Random, Tls},
};

use super::{
    address::{Host, MongoAddress},
    bson::{Bson, Members, find},
    scram::{Mechanism, SaltedPassword, Scram},
    server_error,
    wire::Wire,
};
use crate::shared::{Encryption, StatementFailure, is_loopback};

/// The longest message of a login, in bytes.
const LONGEST: usize = 1 << 16;
/// MongoDB 4.0, and what speaks like it.
const LEAST_WIRE_VERSION: i64 = 7;

/// What a server says of itself.
pub(super) struct Greeting {
    /// It takes writes.
    pub(super) is_primary: bool,
    /// Who does, as far as it knows.
    pub(super) primary: Option<Host>,
    mechanisms: Option<Vec<String>>,
}

/// What belongs to a login beside the address.
pub(super) struct Login<'a> {
    pub(super) address: &'a MongoAddress,
    pub(super) auth_source: &'a str,
    pub(super) replica_set: Option<&'a str>,
    pub(super) dialer: &'a dyn Dialer,
    pub(super) random: &'a dyn Random,
}

impl Login<'_> {
    /// Connects to a server and asks what it is.
    ///
    /// # Errors
    /// Whatever fails: nothing was executed, and what another attempt may mend says so.
    pub(super) async fn greet(&self, host: &Host, until_ms: u64) -> Result<(Wire, Greeting), StatementFailure> {
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
            return Err(last(ErrorKind::Configuration, "the server is older than MongoDB 4.0, which is not supported"));
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
                primary: text("primary").and_then(|place| {
                    let (name, port) = place.rsplit_once(':')?;
                    let name = name.trim_start_matches('[').trim_end_matches(']');
                    Some(Host { name: name.to_owned(), port: port.parse().ok()? })
                }),
                mechanisms: mechanisms.map(|known| known.elements().iter().filter_map(|name| name.text().map(str::to_owned)).collect()),
            },
        ))
    }

    async fn encrypted(&self, host: &Host, stream: Box<dyn ByteStream>, until_ms: u64) -> Result<Box<dyn ByteStream>, StatementFailure> {
        let verify = match self.address.encryption {
            Encryption::Required(verify) | Encryption::Preferred(verify) => verify,
            Encryption::None if self.address.is_plain_everywhere || is_loopback(&host.name) => return Ok(stream),
            Encryption::None => {
                let message = "the primary of the replica set is on another machine, and the connection has no TLS; name it in the connection \
                               string, or set `tls`";
                return Err(last(ErrorKind::Configuration, message));
            }
        };
        let tls = Tls { server_name: host.name.clone(), roots: self.address.roots.clone(), verify };
        stream.start_tls(tls, until_ms).await.map_err(|error| match error.kind {
            ErrorKind::Unavailable => StatementFailure::not_executed(error),
            ErrorKind::Denied => {
                let help = "set `ca_certificate` or `sslrootcert`, or `sslmode=require` to skip this check";
                StatementFailure::last(Error { message: format!("{}; {help}", error.message), ..error })
            }
            _ => StatementFailure::last(error),
        })
    }

    /// Proves who we are, and lets the server prove who it is. `kept` is what an earlier login left.
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
        let reply = wire.command(&command, LONGEST).await.map_err(|error| match error.kind {
            ErrorKind::Unavailable => StatementFailure::not_executed(error),
            _ => StatementFailure::last(error),
        })?;
        match server_error::of_login(&reply) {
            Some(failure) => Err(failure),
            None => Ok(reply),
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
