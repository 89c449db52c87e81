//! A connection: TCP, TLS where it is asked for, who we are, the version of the protocol, and the
//! database.

use std::{
    cell::Cell,
    future::poll_fn,
    task::{Context, Poll, Waker},
};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{ByteStream, Dialer, Tls, Verify},
};

use crate::{Limits, Protocol, RedisAddress, Reply, Version, exchange::Replies};

/// How much a reply of the login may be. That to `HELLO` lists the modules of the server.
const OF_LOGIN: Limits = Limits { bytes: 64 << 10, lists: true };
const HELLO: [&[u8]; 2] = [b"HELLO", b"3"];

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

/// What an isolate knows of a server: whether it takes `HELLO`, which Redis before 6 and some
/// proxies do not.
#[derive(Debug, Default)]
pub struct KnownServer {
    without_hello: Cell<bool>,
}

/// For how long a connection is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// For many commands.
    Many,
    /// For one command.
    One,
}

/// A connection that is logged in.
pub struct Link {
    pub(crate) stream: Box<dyn ByteStream>,
    pub(crate) protocol: Protocol,
    /// All that was sent was answered.
    pub(crate) is_in_step: bool,
}

impl Link {
    /// Sends a command and reads the reply to it.
    ///
    /// # Errors
    /// [`Unavailable`](ErrorKind::Unavailable) where the connection broke or ended,
    /// [`Protocol`](ErrorKind::Protocol) for what is not one reply,
    /// [`TooLarge`](ErrorKind::TooLarge). The connection is of no use afterwards, and nobody knows
    /// whether the command was carried out.
    pub async fn exchange(&mut self, words: &[&[u8]], limits: Limits) -> Result<Reply> {
        self.is_in_step = false;
        let mut replies = Replies::to(&mut *self.stream, &[words], self.protocol, limits).await?;
        let reply = replies.next().await?;
        replies.end().await?;
        self.is_in_step = true;
        Ok(reply)
    }

    /// Whether it can be used for another command.
    #[must_use]
    pub const fn is_in_step(&self) -> bool {
        self.is_in_step
    }

    /// Whether nothing came since the last reply, as it must be.
    pub async fn is_silent(&mut self) -> bool {
        is_silent(&mut *self.stream).await
    }

    /// What the connection speaks.
    #[must_use]
    pub const fn protocol(&self) -> Protocol {
        self.protocol
    }
}

/// What messages for callers call a server.
pub const REDIS_SERVER: &str = "the Redis server";

/// A command of the login.
enum Step {
    Hello,
    Other,
}

/// Connects and logs in, with all commands of the login in one round trip. The caller bounds how
/// long it takes: `deadline_ms` is for what is below.
///
/// `AUTH` is a command of its own, and not a part of `HELLO`: a server that does not know `HELLO`
/// then needs no second round trip and quotes no password, and one without a password says so.
///
/// # Errors
/// Whatever fails: no command was carried out.
pub async fn connect(
    address: &RedisAddress,
    known: &KnownServer,
    purpose: Use,
    dialer: &dyn Dialer,
    deadline_ms: u64,
) -> Result<Link, LoginError> {
    let RedisAddress { host, port, tls, roots, user, password, database, version, .. } = address;
    let mut stream = dialer.dial(host, *port, deadline_ms).await?;
    if *tls {
        let tls = Tls { server_name: host.clone(), roots: roots.clone(), verify: Verify::Full };
        stream = stream.start_tls(tls, deadline_ms).await?;
    }
    let auth = password.as_ref().map(|password| [Some("AUTH"), user.as_deref(), Some(password.expose())]);
    let auth: Option<Vec<&[u8]>> = auth.map(|words| words.into_iter().flatten().map(str::as_bytes).collect());
    let number = database.to_string();
    let select: Option<[&[u8]; 2]> = (*database > 0).then_some([b"SELECT", number.as_bytes()]);
    let greets = match version {
        Version::Resp2 => false,
        Version::Resp3 => true,
        // For one command it is not worth a round trip.
        Version::Newest => !known.without_hello.get() && (purpose == Use::Many || auth.is_some() || select.is_some()),
    };
    let steps: Vec<(Step, &[&[u8]])> = [
        auth.as_deref().map(|words| (Step::Other, words)),
        greets.then_some((Step::Hello, HELLO.as_slice())),
        select.as_ref().map(|words| (Step::Other, words.as_slice())),
    ]
    .into_iter()
    .flatten()
    .collect();
    // If the connection breaks, or nothing comes, it may be because of `HELLO`.
    let doubt = (greets && *version == Version::Newest).then(|| Doubt(known));
    let outcome = log_in(&mut *stream, &steps, address).await;
    if let Some(doubt) = doubt
        && !matches!(outcome, Err(LoginError::Failed(_)))
    {
        doubt.end(outcome.as_ref().is_ok_and(|protocol| *protocol == Protocol::Resp2));
    }
    Ok(Link { stream, protocol: outcome?, is_in_step: true })
}

/// Marks a server as one without `HELLO`, unless it is known to have it.
struct Doubt<'a>(&'a KnownServer);

impl Doubt<'_> {
    fn end(self, without_hello: bool) {
        let known = self.0;
        drop(self);
        known.without_hello.set(without_hello);
    }
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        self.0.without_hello.set(true);
    }
}

async fn log_in(stream: &mut dyn ByteStream, steps: &[(Step, &[&[u8]])], address: &RedisAddress) -> Result<Protocol, LoginError> {
    let mut protocol = Protocol::Resp2;
    if steps.is_empty() {
        return Ok(protocol);
    }
    let commands: Vec<&[&[u8]]> = steps.iter().map(|(_, words)| *words).collect();
    // Only what follows `HELLO` can be of RESP3.
    let mut replies = Replies::to(stream, &commands, Protocol::Resp3, OF_LOGIN).await?;
    for (step, _) in steps {
        let reply = replies.next().await?;
        match step {
            Step::Hello => protocol = greeted(reply, address)?,
            Step::Other => done(reply, address)?,
        }
    }
    replies.end().await?;
    Ok(protocol)
}

/// Takes the reply to `HELLO`: names and values, one of them the version that the connection speaks
/// from now on.
fn greeted(reply: Reply, address: &RedisAddress) -> Result<Protocol, LoginError> {
    let failed = |kind, what: &str| LoginError::Failed(Error::new(kind, format!("{REDIS_SERVER} {what}")).at(&address.place()));
    let is = |reply: &Reply, name: &str| match reply {
        Reply::Bulk(bytes) => bytes == name.as_bytes(),
        Reply::Status(word) => word == name,
        _ => false,
    };
    let says = match &reply {
        // It lets nobody in, whatever is asked.
        Reply::Error(words) if is_about_login(words) => return Err(LoginError::Refused(words.clone())),
        Reply::Error(_) => Protocol::Resp2,
        Reply::List(pairs) => match pairs.chunks(2).find(|pair| is(&pair[0], "proto")) {
            Some([_, Reply::Integer(3)]) => Protocol::Resp3,
            Some([_, Reply::Integer(2)]) => Protocol::Resp2,
            _ => return Err(failed(ErrorKind::Protocol, "does not say which version of the protocol it speaks")),
        },
        _ => return Err(failed(ErrorKind::Protocol, "sent the reply to another command")),
    };
    if address.version == Version::Resp3 && says != Protocol::Resp3 {
        return Err(failed(ErrorKind::Configuration, "does not speak RESP3; remove `protocol`, which asks for it"));
    }
    Ok(says)
}

/// Whether an error is about who asks or how many do, so that every command would have it.
fn is_about_login(words: &str) -> bool {
    let code = words.split(' ').next().unwrap_or_default();
    matches!(code, "NOAUTH" | "WRONGPASS" | "DENIED") || words.to_ascii_lowercase().contains("max number of clients")
}

/// Takes a reply that must be `OK`.
fn done(reply: Reply, address: &RedisAddress) -> Result<(), LoginError> {
    match reply {
        Reply::Status(word) if word == "OK" => Ok(()),
        Reply::Error(words) => Err(LoginError::Refused(words)),
        _ => {
            let message = format!("{REDIS_SERVER} sent the reply to another command");
            Err(LoginError::Failed(Error::new(ErrorKind::Protocol, message).at(&address.place())))
        }
    }
}

/// Whether nothing came on a connection that is not in use, as it must be: the end of it, or a
/// reply that nobody asked for, is none.
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
