//! TCP by the platform's sockets, and its TLS.
//!
//! A socket belongs to the request that opened it, and is closed when it is dropped: at a deadline,
//! or when the client went away. The platform verifies certificates by its own list and by the
//! host's name, always: who asks for other roots is refused, and who asks for less gets no less.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_util::future::{Either, select};
use js_sys::{
    Object, Promise, Reflect,
    futures::{JsFuture, spawn_local},
};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{ByteStream, Clock as _, Dialer, LocalFuture, Roots, Tls},
};
use tokio_traits::io::{AsyncRead, AsyncWrite, ReadBuf};
use wasm_bindgen::JsValue;
use worker::{Socket, worker_sys};

use crate::{clock::WorkerClock, glue};

/// Opens sockets of the current request, to any host.
pub(crate) struct SocketDialer;

impl Dialer for SocketDialer {
    fn dial<'a>(&'a self, host: &'a str, port: u16, deadline_ms: u64) -> LocalFuture<'a, Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            // The platform writes host and port into one text.
            let name = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
            let place = object(&[("hostname", name.into()), ("port", port.into())]);
            // One that is not opened so cannot go on with TLS.
            let options = object(&[("secureTransport", "starttls".into())]);
            opened(worker_sys::connect(place, options), &format!("`{host}:{port}`"), deadline_ms).await
        })
    }
}

/// Opens sockets of the current request to the database behind a Hyperdrive, whatever the host's
/// name is.
pub(crate) struct HyperdriveDialer {
    pub(crate) binding: worker_sys::Hyperdrive,
    pub(crate) name: String,
}

impl Dialer for HyperdriveDialer {
    fn dial<'a>(&'a self, _: &'a str, _: u16, deadline_ms: u64) -> LocalFuture<'a, Result<Box<dyn ByteStream>>> {
        Box::pin(async move { opened(self.binding.connect(), &format!("the Hyperdrive `{}`", self.name), deadline_ms).await })
    }
}

/// Waits until a socket is connected, up to the deadline.
async fn opened(socket: Result<worker_sys::Socket, JsValue>, to: &str, deadline_ms: u64) -> Result<Box<dyn ByteStream>> {
    let none =
        |thrown: JsValue| Error::new(ErrorKind::Unavailable, "could not connect to the server").with_source(glue::message(&thrown)).at(to);
    let stream = Stream::of(socket.map_err(none)?, to);
    let late = || Error::new(ErrorKind::TimedOut, "the server did not accept the connection in time").at(to);
    within(deadline_ms, stream.handle.opened(), late).await?.map_err(none)?;
    Ok(Box::new(stream))
}

/// Waits for a promise, up to the deadline.
async fn within(deadline_ms: u64, promise: Result<Promise, JsValue>, late: impl Fn() -> Error) -> Result<Result<(), JsValue>> {
    let promise = match promise {
        Ok(promise) => promise,
        Err(thrown) => return Ok(Err(thrown)),
    };
    let sleep = WorkerClock.sleep(deadline_ms.saturating_sub(WorkerClock.now_ms()));
    match select(JsFuture::from(promise), sleep).await {
        Either::Left((outcome, _)) => Ok(outcome.map(drop)),
        Either::Right(_) => Err(late()),
    }
}

/// A socket, with or without TLS.
struct Stream {
    bytes: Socket,
    /// The same socket, for what [`Socket`] does not do without a panic or a reference for as long
    /// as it takes.
    handle: worker_sys::Socket,
    to: String,
    is_open: bool,
}

impl Stream {
    fn of(handle: worker_sys::Socket, to: &str) -> Self {
        Self { bytes: handle.clone().into(), handle, to: to.to_owned(), is_open: true }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.is_open
            && let Ok(closed) = self.handle.close()
        {
            // Somebody must look at how it ends, or the platform logs it as an error that nobody
            // caught.
            spawn_local(async { drop(JsFuture::from(closed).await) });
        }
    }
}

impl ByteStream for Stream {
    fn poll_read(&mut self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        let outcome = ready!(Pin::new(&mut self.bytes).poll_read(context, &mut buffer));
        Poll::Ready(outcome.map(|()| buffer.filled().len()).map_err(|error| broken(&error)))
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut self.bytes).poll_write(context, bytes).map_err(|error| broken(&error))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.bytes).poll_flush(context).map_err(|error| broken(&error))
    }

    fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.bytes).poll_shutdown(context).map_err(|error| broken(&error))
    }

    fn start_tls(mut self: Box<Self>, tls: Tls, deadline_ms: u64) -> LocalFuture<'static, Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            if tls.roots != Roots::Host {
                return Err(Error::new(ErrorKind::Configuration, "a Worker trusts only what the platform trusts"));
            }
            let to = self.to.clone();
            let refused = |thrown: JsValue| refused(&to, &glue::message(&thrown));
            let stream = Self::of(self.handle.start_tls().map_err(refused)?, &to);
            // From here on the connection is the new socket's.
            self.is_open = false;
            let late = || Error::new(ErrorKind::TimedOut, "the server did not finish the TLS handshake in time").at(&to);
            within(deadline_ms, stream.handle.opened(), late).await?.map_err(refused)?;
            Ok(Box::new(stream) as Box<dyn ByteStream>)
        })
    }
}

/// Why there is no TLS. The platform does not tell a certificate that it does not trust from a
/// server that has gone.
fn refused(to: &str, why: &str) -> Error {
    let message = "the server aborted the TLS handshake, or its certificate is not trusted: whatever `sslmode` says, a Worker verifies all of it; give \
         the server a certificate that browsers trust, for its name; to PostgreSQL, you may also connect through a Hyperdrive";
    Error::new(ErrorKind::Unavailable, message).with_source(why).at(to)
}

fn broken(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, "the connection was lost").with_source(error.to_string())
}

fn object(entries: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in entries {
        // A plain object takes every property.
        let _ = Reflect::set(&object, &JsValue::from_str(name), value);
    }
    object.into()
}
