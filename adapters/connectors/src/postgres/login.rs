//! A connection: TCP, TLS where it is asked for, and who we are.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator as _;
use millrace_core::{
    Error, ErrorKind,
    ports::{ByteStream, Dialer, LoginTokens, Tls},
    secret::Secret,
};
use postgres_protocol::{
    authentication::{
        md5_hash,
        sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256},
    },
    message::{
        backend::{Message, ParameterStatusBody},
        frontend,
    },
};

use super::{
    address::PostgresAddress,
    login_token,
    message_stream::{ReceiveError, Wire, unknown},
    server_error,
    session::Session,
};
use crate::shared::{Encryption, StatementFailure};

/// The longest message of a login, in bytes.
const LONGEST: usize = 1 << 16;

/// Connects and logs in; `tokens` are for an address that takes one.
///
/// # Errors
/// Whatever fails: nothing was executed, and what another attempt may mend says so.
pub(super) async fn connect(
    address: &PostgresAddress,
    dialer: &dyn Dialer,
    tokens: Option<&dyn LoginTokens>,
    until_ms: u64,
) -> Result<Session, StatementFailure> {
    let Some(tokens) = tokens.filter(|_| address.aws_iam) else { return log_in(address, dialer, None, until_ms).await };
    let token = tokens.token(&address.host, address.port, &address.user).map_err(StatementFailure::last)?;
    log_in(address, dialer, Some(&token), until_ms).await.map_err(|failure| login_token::without(failure, &token))
}

async fn log_in(
    address: &PostgresAddress,
    dialer: &dyn Dialer,
    token: Option<&Secret<String>>,
    until_ms: u64,
) -> Result<Session, StatementFailure> {
    let stream = dialer.dial(&address.host, address.port, until_ms).await.map_err(not_yet)?;
    let (stream, is_encrypted) = encrypt(address, stream, until_ms).await?;
    let mut wire = Wire::new(stream);
    let mut startup = BytesMut::new();
    let settings = address.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let own = [("user", address.user.as_str()), ("database", address.database.as_str()), ("client_encoding", "UTF8"), ("DateStyle", "ISO")];
    frontend::startup_message(own.into_iter().chain(settings), &mut startup).map_err(unwritable)?;
    wire.send(&startup).await.map_err(not_yet)?;
    match token {
        Some(token) => authenticate_by_token(address, token, &mut wire, is_encrypted).await?,
        None => authenticate(address, &mut wire, is_encrypted).await?,
    }
    // The number of the process, its key, and what is set, come first.
    loop {
        match next(&mut wire, address).await? {
            Message::ReadyForQuery(_) => return Ok(Session::new(wire)),
            Message::ParameterStatus(status) => check_setting(&status)?,
            _ => {}
        }
    }
}

/// Refuses a session in which a literal would end elsewhere than the build has seen it end.
fn check_setting(status: &ParameterStatusBody) -> Result<(), StatementFailure> {
    if !matches!((status.name(), status.value()), (Ok("standard_conforming_strings"), Ok("off"))) {
        return Ok(());
    }
    let message = "the database has `standard_conforming_strings = off`, by which literals end elsewhere than the build has checked; set it to `on` \
                   for the user of the adapter";
    Err(StatementFailure::last(Error::new(ErrorKind::Configuration, message)))
}

async fn encrypt(
    address: &PostgresAddress,
    mut stream: Box<dyn ByteStream>,
    until_ms: u64,
) -> Result<(Box<dyn ByteStream>, bool), StatementFailure> {
    let (verify, or_plain) = match address.encryption {
        Encryption::None => return Ok((stream, false)),
        Encryption::Preferred(verify) => (verify, true),
        Encryption::Required(verify) => (verify, false),
    };
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    stream.write_all(&request).await.map_err(not_yet)?;
    // One byte and no more: what an attacker put behind it would be taken for the server's words.
    let mut answer = [0];
    match stream.read(&mut answer).await.map_err(not_yet)? {
        1 if answer == *b"S" => {
            let tls = Tls { server_name: address.host.clone(), roots: address.roots.clone(), verify };
            let stream = stream.start_tls(tls, until_ms).await.map_err(|error| match error.kind {
                ErrorKind::Unavailable => not_yet(error),
                ErrorKind::Denied => {
                    let help = match address.aws_iam {
                        true => "set `ca_certificate` or `sslrootcert`: `aws_iam` demands this check",
                        false => "set `ca_certificate` or `sslrootcert`, or `sslmode=require` to skip this check",
                    };
                    let message = format!("{}; {help}", error.message);
                    StatementFailure::last(error.with_message(message))
                }
                _ => StatementFailure::last(error),
            })?;
            Ok((stream, true))
        }
        1 if answer == *b"N" && or_plain => Ok((stream, false)),
        1 if answer == *b"N" => {
            let help = if address.aws_iam { "`aws_iam` demands it" } else { "where the network between is trusted, set `sslmode=disable`" };
            let error = Error::new(ErrorKind::Configuration, format!("PostgreSQL offers no TLS; {help}"));
            Err(StatementFailure::last(error.at(&address.place())))
        }
        0 => Err(not_yet(Error::new(ErrorKind::Unavailable, "PostgreSQL closed the connection"))),
        _ => Err(StatementFailure::last(unknown("no answer to a request for TLS"))),
    }
}

async fn authenticate(address: &PostgresAddress, wire: &mut Wire, is_encrypted: bool) -> Result<(), StatementFailure> {
    let mut proven = !address.demands_proof;
    let is_trusted = address.is_private || (is_encrypted && address.encryption.is_verified(&address.roots));
    loop {
        let mut answer = BytesMut::new();
        match next(wire, address).await? {
            Message::AuthenticationOk if proven => return Ok(()),
            Message::AuthenticationOk => return Err(unproven()),
            Message::AuthenticationCleartextPassword if !proven => return Err(unproven()),
            Message::AuthenticationCleartextPassword if is_trusted => {
                frontend::password_message(password(address)?.as_bytes(), &mut answer).map_err(unwritable)?;
            }
            Message::AuthenticationCleartextPassword => return Err(unprotected(is_encrypted)),
            Message::AuthenticationMd5Password(body) if proven => {
                let hash = md5_hash(address.user.as_bytes(), password(address)?.as_bytes(), body.salt());
                frontend::password_message(hash.as_bytes(), &mut answer).map_err(unwritable)?;
            }
            Message::AuthenticationMd5Password(_) => return Err(unproven()),
            Message::AuthenticationSasl(body) => {
                let mechanisms: Vec<&str> =
                    body.mechanisms().collect().map_err(|error| StatementFailure::last(unknown(&error.to_string())))?;
                if !mechanisms.contains(&SCRAM_SHA_256) {
                    return Err(unsupported(&mechanisms.join(", ")));
                }
                scram(address, wire).await?;
                proven = true;
                continue;
            }
            Message::AuthenticationGss | Message::AuthenticationSspi | Message::AuthenticationKerberosV5 => {
                return Err(unsupported("Kerberos"));
            }
            _ => return Err(StatementFailure::last(unknown("no authentication"))),
        }
        wire.send(&answer).await.map_err(not_yet)?;
    }
}

/// The server takes a token as it is, and asks AWS about it.
async fn authenticate_by_token(
    address: &PostgresAddress,
    token: &Secret<String>,
    wire: &mut Wire,
    is_encrypted: bool,
) -> Result<(), StatementFailure> {
    match next(wire, address).await.map_err(login_token::explained)? {
        Message::AuthenticationOk => return Ok(()),
        Message::AuthenticationCleartextPassword if is_encrypted => {}
        Message::AuthenticationCleartextPassword => return Err(unprotected(is_encrypted)),
        _ => return Err(login_token::not_taken(address)),
    }
    let mut answer = BytesMut::new();
    frontend::password_message(token.expose().as_bytes(), &mut answer).map_err(unwritable)?;
    wire.send(&answer).await.map_err(not_yet)?;
    match next(wire, address).await.map_err(login_token::explained)? {
        Message::AuthenticationOk => Ok(()),
        _ => Err(StatementFailure::last(unknown("no authentication"))),
    }
}

/// [SCRAM](https://www.rfc-editor.org/rfc/rfc7677): each side proves that it knows the password.
async fn scram(address: &PostgresAddress, wire: &mut Wire) -> Result<(), StatementFailure> {
    let wrong = |error: std::io::Error| {
        let message = "PostgreSQL does not prove that it knows the password: it may be another server";
        StatementFailure::last(Error::new(ErrorKind::Denied, message).with_source(error.to_string()))
    };
    let mut scram = ScramSha256::new(password(address)?.as_bytes(), ChannelBinding::unsupported());
    let mut bytes = BytesMut::new();
    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut bytes).map_err(unwritable)?;
    wire.send(&bytes).await.map_err(not_yet)?;
    let Message::AuthenticationSaslContinue(body) = next(wire, address).await? else {
        return Err(StatementFailure::last(unknown("no SCRAM")));
    };
    scram.update(body.data()).map_err(wrong)?;
    bytes.clear();
    frontend::sasl_response(scram.message(), &mut bytes).map_err(unwritable)?;
    wire.send(&bytes).await.map_err(not_yet)?;
    let Message::AuthenticationSaslFinal(body) = next(wire, address).await? else {
        return Err(StatementFailure::last(unknown("no SCRAM")));
    };
    scram.finish(body.data()).map_err(wrong)
}

/// The next message that is neither an error nor a notice.
async fn next(wire: &mut Wire, address: &PostgresAddress) -> Result<Message, StatementFailure> {
    loop {
        return match wire.next(LONGEST).await {
            Ok(Message::ErrorResponse(body)) => Err(server_error::of_login(&body, &address.place())),
            Ok(Message::NoticeResponse(_)) => continue,
            Ok(message) => Ok(message),
            Err(ReceiveError::Broken(error)) if error.kind == ErrorKind::Protocol => Err(StatementFailure::last(error)),
            Err(ReceiveError::Broken(error)) => Err(not_yet(error)),
            Err(ReceiveError::LongRow) => Err(StatementFailure::last(unknown("a row during a login"))),
        };
    }
}

fn password(address: &PostgresAddress) -> Result<&str, StatementFailure> {
    address.password.as_ref().map(|password| password.expose().as_str()).ok_or_else(|| {
        let message = "PostgreSQL requires a password, and the connection string and the options have none";
        StatementFailure::last(Error::new(ErrorKind::Configuration, message))
    })
}

/// Nothing has been sent that could be executed.
fn not_yet(error: Error) -> StatementFailure {
    StatementFailure::not_executed(error)
}

fn unwritable(error: std::io::Error) -> StatementFailure {
    let message = "the user, the password or a setting of the connection string contains a NUL character";
    StatementFailure::last(Error::new(ErrorKind::Configuration, message).with_source(error.to_string()))
}

/// The way to the server is none that a password may go by as it is.
fn unprotected(is_encrypted: bool) -> StatementFailure {
    let message = if is_encrypted {
        "PostgreSQL requires the password itself, which is sent only to a server whose certificate was verified; set `sslmode=verify-full`, and \
         `ca_certificate` where a public authority did not sign the certificate"
    } else {
        "PostgreSQL requires the password itself, and the connection has no TLS; set `sslmode=verify-full`"
    };
    StatementFailure::last(Error::new(ErrorKind::Denied, message))
}

fn unproven() -> StatementFailure {
    let message = "the connection string requires `channel_binding`, and PostgreSQL does not ask for SCRAM";
    StatementFailure::last(Error::new(ErrorKind::Denied, message))
}

fn unsupported(what: &str) -> StatementFailure {
    let message = "PostgreSQL requires a method of authentication that connector `postgres` does not have; it has passwords (SCRAM-SHA-256, MD5, \
         plain)";
    StatementFailure::last(Error::new(ErrorKind::Configuration, message).with_source(what))
}
