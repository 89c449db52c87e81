//! A connection: TCP, TLS where it is asked for, who we are, and what holds for every statement on
//! it.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html>

use bytes::Bytes;
use millrace_core::{
    Error, ErrorKind,
    ports::{ByteStream, Dialer, Tls},
};

use super::{
    address::MysqlAddress,
    auth::{self, CACHING_SHA2, CLEAR, NATIVE, SHA256},
    packet::{Packets, Reader, ReceiveError, put_counted, unknown},
    results::Server,
    server_error,
    session::Session,
};
use crate::shared::{Encryption, ReadOnly, StatementFailure, is_loopback};

/// The longest packet of a login, in bytes.
const LONGEST: usize = 1 << 16;
/// The most packets of a login; every method ends with fewer.
const MOST_PACKETS: usize = 8;
/// `utf8mb4_general_ci`, which every server knows. What is set after the login says it again.
const COLLATION: u8 = 45;
/// The longest packet that we say we send, in bytes: the server's own limit is what counts.
const MAX_PACKET: u32 = 1 << 30;

/// What a client and a server may know.
/// <https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html>
mod capability {
    /// MySQL, not MariaDB.
    pub(super) const MYSQL: u32 = 1;
    /// Rows that an `UPDATE` found count, whether it changed them or not.
    pub(super) const FOUND_ROWS: u32 = 1 << 1;
    pub(super) const LONG_FLAG: u32 = 1 << 2;
    pub(super) const CONNECT_WITH_DB: u32 = 1 << 3;
    pub(super) const PROTOCOL_41: u32 = 1 << 9;
    pub(super) const TLS: u32 = 1 << 11;
    pub(super) const TRANSACTIONS: u32 = 1 << 13;
    pub(super) const SECURE_CONNECTION: u32 = 1 << 15;
    /// What a procedure selects.
    pub(super) const MULTI_RESULTS: u32 = 1 << 17;
    pub(super) const PREPARED_MULTI_RESULTS: u32 = 1 << 18;
    pub(super) const PLUGIN_AUTH: u32 = 1 << 19;
    pub(super) const CONNECT_ATTRIBUTES: u32 = 1 << 20;
    pub(super) const COUNTED_AUTH: u32 = 1 << 21;
    pub(super) const NO_EOF: u32 = 1 << 24;
    /// Of MariaDB: columns say more of their types, such as that a text is JSON.
    pub(super) const EXTENDED_TYPES: u32 = 1 << 3;
    /// Of MariaDB: the columns of a prepared statement's result are described again only where they
    /// changed.
    pub(super) const CACHED_METADATA: u32 = 1 << 4;
}

/// What every client since MySQL 4.1 knows, and this one needs.
const DEMANDED: u32 = capability::PROTOCOL_41 | capability::SECURE_CONNECTION | capability::PLUGIN_AUTH;
/// What this client knows, neither `LOCAL INFILE` nor several statements among it.
const OFFERED: u32 = DEMANDED
    | capability::FOUND_ROWS
    | capability::LONG_FLAG
    | capability::TRANSACTIONS
    | capability::MULTI_RESULTS
    | capability::PREPARED_MULTI_RESULTS
    | capability::CONNECT_ATTRIBUTES
    | capability::COUNTED_AUTH
    | capability::NO_EOF;

/// The way to the server, as far as a password is concerned.
#[derive(Clone, Copy)]
enum Channel {
    /// No TLS.
    Plain,
    /// TLS with somebody.
    Unverified,
    /// TLS with the server, or within this machine.
    Trusted,
}

/// What a server says first.
#[derive(Debug)]
struct Greeting {
    is_mariadb: bool,
    thread: u32,
    capabilities: u32,
    /// Those of MariaDB.
    more_capabilities: u32,
    nonce: Vec<u8>,
    method: String,
}

/// Connects and logs in.
///
/// # Errors
/// Whatever fails: nothing was executed, and what another attempt may mend says so.
pub(super) async fn connect(
    address: &MysqlAddress,
    dialer: &dyn Dialer,
    read_only: ReadOnly,
    until_ms: u64,
) -> Result<Session, StatementFailure> {
    let stream = dialer.dial(&address.host, address.port, until_ms).await.map_err(not_yet)?;
    let mut packets = Packets::new(stream);
    let greeting = greeting(&next(&mut packets, address).await?)?;
    if greeting.capabilities & DEMANDED != DEMANDED {
        return Err(StatementFailure::last(Error::new(ErrorKind::Configuration, "the server is older than MySQL 5.5 and MariaDB 5.5")));
    }
    let database = address.database.as_ref().map_or(0, |_| capability::CONNECT_WITH_DB);
    let mut capabilities = OFFERED & greeting.capabilities | DEMANDED | database;
    if !greeting.is_mariadb {
        capabilities |= capability::MYSQL;
    }
    // Where columns are not described, nothing says where their description ends.
    let cached = if capabilities & capability::NO_EOF == 0 { 0 } else { capability::CACHED_METADATA };
    let more = greeting.more_capabilities & (capability::EXTENDED_TYPES | cached);
    let request = head(capabilities | capability::TLS, more);
    let (mut packets, is_encrypted) = encrypt(address, packets, &greeting, &request, until_ms).await?;
    let channel = match is_encrypted {
        false => Channel::Plain,
        true if address.encryption.is_verified(&address.roots) || is_loopback(&address.host) => Channel::Trusted,
        true => Channel::Unverified,
    };
    if is_encrypted {
        capabilities |= capability::TLS;
    }
    packets.send(&response(address, &greeting, capabilities, more)).await.map_err(not_yet)?;
    authenticate(address, &mut packets, greeting_method(&greeting), channel).await?;
    let server = Server {
        is_mariadb: greeting.is_mariadb,
        thread: greeting.thread,
        has_eof: capabilities & capability::NO_EOF == 0,
        has_extended_types: more & capability::EXTENDED_TYPES != 0,
        caches_metadata: more & capability::CACHED_METADATA != 0,
        read_only,
    };
    Ok(Session::new(packets, server, address.sql_mode.clone()))
}

fn greeting(packet: &Bytes) -> Result<Greeting, StatementFailure> {
    let read = || {
        let mut reader = Reader(packet);
        // The version of the protocol; no server has had another one this century.
        if reader.byte()? != 10 {
            return None;
        }
        let version = String::from_utf8_lossy(reader.terminated()).into_owned();
        let thread = reader.u32()?;
        let mut nonce = reader.bytes(8)?.to_vec();
        reader.bytes(1)?;
        let low = reader.u16()?;
        reader.bytes(3)?;
        let high = reader.u16()?;
        let length = usize::from(reader.byte()?);
        reader.bytes(6)?;
        let more_capabilities = reader.u32()?;
        let second = reader.bytes(length.saturating_sub(8).max(13))?;
        nonce.extend_from_slice(second.strip_suffix(&[0]).unwrap_or(second));
        let capabilities = u32::from(low) | u32::from(high) << 16;
        let is_mariadb = capabilities & capability::MYSQL == 0 || version.contains("MariaDB");
        Some(Greeting {
            is_mariadb,
            thread,
            capabilities,
            // MySQL has zeros there, and may have something else some day.
            more_capabilities: if capabilities & capability::MYSQL == 0 { more_capabilities } else { 0 },
            nonce,
            method: String::from_utf8_lossy(reader.terminated()).into_owned(),
        })
    };
    read().ok_or_else(|| StatementFailure::last(unknown("no greeting")))
}

/// What the answer to the greeting begins with, and the request for TLS is.
fn head(capabilities: u32, more: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128);
    bytes.extend_from_slice(&capabilities.to_le_bytes());
    bytes.extend_from_slice(&MAX_PACKET.to_le_bytes());
    bytes.push(COLLATION);
    bytes.extend_from_slice(&[0; 19]);
    bytes.extend_from_slice(&more.to_le_bytes());
    bytes
}

/// The method that the answer to the greeting is by. Another one is asked for by its name.
fn greeting_method(greeting: &Greeting) -> &'static str {
    if greeting.method == CACHING_SHA2 { CACHING_SHA2 } else { NATIVE }
}

fn response(address: &MysqlAddress, greeting: &Greeting, capabilities: u32, more: u32) -> Vec<u8> {
    let mut bytes = head(capabilities, more);
    bytes.extend_from_slice(address.user.as_bytes());
    bytes.push(0);
    let method = greeting_method(greeting);
    let proof = auth::proof(method == CACHING_SHA2, password(address), &greeting.nonce);
    put_counted(&mut bytes, &proof);
    if let Some(database) = &address.database {
        bytes.extend_from_slice(database.as_bytes());
        bytes.push(0);
    }
    bytes.extend_from_slice(method.as_bytes());
    bytes.push(0);
    if capabilities & capability::CONNECT_ATTRIBUTES != 0 {
        let mut attributes = Vec::new();
        for text in ["program_name", "millrace"] {
            put_counted(&mut attributes, text.as_bytes());
        }
        put_counted(&mut bytes, &attributes);
    }
    bytes
}

async fn encrypt(
    address: &MysqlAddress,
    mut packets: Packets,
    greeting: &Greeting,
    request: &[u8],
    until_ms: u64,
) -> Result<(Packets, bool), StatementFailure> {
    let (verify, or_plain) = match address.encryption {
        Encryption::None => return Ok((packets, false)),
        Encryption::Preferred(verify) => (verify, true),
        Encryption::Required(verify) => (verify, false),
    };
    if greeting.capabilities & capability::TLS == 0 {
        if or_plain {
            return Ok((packets, false));
        }
        let message = "MySQL offers no TLS; where the network between is trusted, set `sslmode=disable`";
        return Err(StatementFailure::last(Error::new(ErrorKind::Configuration, message).at(&address.place())));
    }
    packets.send(request).await.map_err(not_yet)?;
    let stream = packets.into_stream().map_err(StatementFailure::last)?;
    let tls = Tls { server_name: address.host.clone(), roots: address.roots.clone(), verify };
    let stream: Box<dyn ByteStream> = stream.start_tls(tls, until_ms).await.map_err(|error| match error.kind {
        ErrorKind::Unavailable => not_yet(error),
        ErrorKind::Denied => {
            let help = "set `ca_certificate` or `sslrootcert`, or `sslmode=require` to skip this check";
            let message = format!("{}; {help}", error.message);
            StatementFailure::last(error.with_message(message))
        }
        _ => StatementFailure::last(error),
    })?;
    // The greeting was packet 0, the request packet 1.
    Ok((Packets::over(stream, 2), true))
}

async fn authenticate(
    address: &MysqlAddress,
    packets: &mut Packets,
    first: &'static str,
    channel: Channel,
) -> Result<(), StatementFailure> {
    let mut is_caching_sha2 = first == CACHING_SHA2;
    for _ in 0..MOST_PACKETS {
        let packet = next(packets, address).await?;
        let mut reader = Reader(&packet);
        match reader.byte() {
            Some(0x00) => return Ok(()),
            // Another method, with a nonce of its own.
            Some(0xfe) if !reader.0.is_empty() => {
                let method = String::from_utf8_lossy(reader.terminated()).into_owned();
                let nonce = reader.0.strip_suffix(&[0]).unwrap_or(reader.0);
                is_caching_sha2 = method == CACHING_SHA2;
                let answer = match method.as_str() {
                    NATIVE | CACHING_SHA2 => auth::proof(is_caching_sha2, password(address), nonce),
                    SHA256 | CLEAR => clear(address, channel, &method)?,
                    _ => return Err(unsupported(&method)),
                };
                packets.send(&answer).await.map_err(not_yet)?;
            }
            // `caching_sha2_password`: the server knows this password already.
            Some(0x01) if is_caching_sha2 && reader.0 == [3] => {}
            // It does not, and wants it as it is.
            Some(0x01) if is_caching_sha2 && reader.0 == [4] => {
                packets.send(&clear(address, channel, CACHING_SHA2)?).await.map_err(not_yet)?;
            }
            // A method older than MySQL 4.1.
            Some(0xfe) => return Err(unsupported("mysql_old_password")),
            _ => return Err(StatementFailure::last(unknown("no authentication"))),
        }
    }
    Err(StatementFailure::last(unknown("an authentication without an end")))
}

/// The next packet that is not an error.
async fn next(packets: &mut Packets, address: &MysqlAddress) -> Result<Bytes, StatementFailure> {
    match packets.next(LONGEST).await {
        Ok(packet) if packet.first() == Some(&0xff) => Err(server_error::of_login(&packet, &address.place())),
        Ok(packet) => Ok(packet),
        Err(ReceiveError::Broken(error)) if error.kind == ErrorKind::Protocol => Err(StatementFailure::last(error)),
        Err(ReceiveError::Broken(error)) => Err(not_yet(error)),
        Err(ReceiveError::TooLong) => Err(StatementFailure::last(unknown("a long packet during a login"))),
    }
}

fn password(address: &MysqlAddress) -> &[u8] {
    address.password.as_ref().map_or(&[], |password| password.expose().as_bytes())
}

/// The password as it is, for a server that may have it.
fn clear(address: &MysqlAddress, channel: Channel, method: &str) -> Result<Vec<u8>, StatementFailure> {
    let why = match channel {
        Channel::Trusted => return Ok([password(address), &[0]].concat()),
        Channel::Plain => "which is sent with TLS only; set `sslmode=verify-full`, or on this machine `sslmode=require`",
        Channel::Unverified => {
            "which is sent only to a server whose certificate was verified; set `sslmode=verify-full`, and `ca_certificate` where a public \
             authority did not sign the certificate"
        }
    };
    let message = format!("MySQL requires the password itself (`{method}`), {why}");
    Err(StatementFailure::last(Error::new(ErrorKind::Denied, message).at(&address.place())))
}

/// Nothing has been sent that could be executed.
fn not_yet(error: Error) -> StatementFailure {
    StatementFailure::not_executed(error)
}

fn unsupported(method: &str) -> StatementFailure {
    let message = "MySQL requires a method of authentication that connector `mysql` does not have; it has `mysql_native_password`, \
                   `caching_sha2_password`, and with verified TLS `sha256_password` and `mysql_clear_password`";
    StatementFailure::last(Error::new(ErrorKind::Configuration, message).with_source(method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_read() {
        // Of MariaDB 10.11: its version, thread 7, and capabilities of its own.
        let mut packet = vec![10];
        packet.extend_from_slice(
            b"5.5.5-10.11.6-MariaDB\0\x07\0\0\0abcdefgh\0\xfe\xf7\x2d\x02\0\xff\x81\x15\0\0\0\0\0\0\x1d\0\0\0ijklmnopqrst\0",
        );
        packet.extend_from_slice(b"mysql_native_password\0");
        let found = greeting(&Bytes::from(packet.clone())).unwrap();
        assert!(found.is_mariadb);
        assert_eq!((found.thread, found.capabilities, found.more_capabilities), (7, 0x81ff_f7fe, 0x1d));
        assert_eq!((found.nonce.as_slice(), found.method.as_str()), (&b"abcdefghijklmnopqrst"[..], NATIVE));
        for end in 0..packet.len() - 22 {
            assert!(greeting(&Bytes::copy_from_slice(&packet[..end])).is_err(), "{end}");
        }
        packet[0] = 9;
        assert!(greeting(&Bytes::from(packet)).is_err());
    }
}
