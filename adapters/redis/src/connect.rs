//! A connection: TCP, TLS where it is asked for, who we are, and the database.

use std::{
    future::poll_fn,
    task::{Context, Poll, Waker},
};

use millrace_core::{
    Error, ErrorKind,
    ports::{ByteStream, Dialer, Tls, Verify},
};

use crate::{Limits, RedisAddress, Reply, exchange};

/// Why there is no connection.
#[derive(Debug)]
pub enum LoginError {
    /// It was not made, or it broke.
    Failed(Error),
    /// The server's words: it does not let us in.
    Refused(String),
}

impl From<Error> for LoginError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Connects and logs in. The caller bounds how long it takes: `deadline_ms` is for what is below.
///
/// # Errors
/// Whatever fails: no command was carried out.
pub async fn connect(address: &RedisAddress, dialer: &dyn Dialer, deadline_ms: u64) -> Result<Box<dyn ByteStream>, LoginError> {
    let RedisAddress { host, port, tls, roots, user, password, database, .. } = address;
    let mut stream = dialer.dial(host, *port, deadline_ms).await?;
    if *tls {
        let tls = Tls { server_name: host.clone(), roots: roots.clone(), verify: Verify::Full };
        stream = stream.start_tls(tls, deadline_ms).await?;
    }
    if let Some(password) = password {
        let words = [Some("AUTH"), user.as_deref(), Some(password.expose())];
        let words: Vec<&[u8]> = words.into_iter().flatten().map(str::as_bytes).collect();
        done(exchange(&mut *stream, &words, Limits { bytes: 0, lists: false }).await?, address)?;
    }
    if *database > 0 {
        let database = database.to_string();
        done(exchange(&mut *stream, &[b"SELECT", database.as_bytes()], Limits { bytes: 0, lists: false }).await?, address)?;
    }
    Ok(stream)
}

/// Takes a reply that must be `OK`.
fn done(reply: Reply, address: &RedisAddress) -> Result<(), LoginError> {
    match reply {
        Reply::Status(word) if word == "OK" => Ok(()),
        Reply::Error(words) => Err(LoginError::Refused(words)),
        _ => {
            let message = format!("{} sent the reply to another command", address.name());
            Err(LoginError::Failed(Error::new(ErrorKind::Protocol, message)))
        }
    }
}

/// Whether nothing came on a connection that is not in use, as it must be: the end of it, or a reply that nobody asked for, is none.
pub async fn is_silent(stream: &mut dyn ByteStream) -> bool {
    // One turn of the host's loop, so that it sees what has arrived.
    let mut turned = false;
    poll_fn(|context| {
        if std::mem::replace(&mut turned, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    stream.poll_read(&mut Context::from_waker(Waker::noop()), &mut [0]).is_pending()
}
