//! TCP connections on tokio, and TLS on them.
//!
//! A host name and a port in, a stream of bytes out. Each address of the name is tried, in the
//! order of the system's resolver.

use std::{
    future::Future,
    io,
    path::PathBuf,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
    time::Duration,
};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{ByteStream, Clock, Dialer, LocalFuture, Tls},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::client::TlsStream;

use crate::tls::Connector;

/// Opens the connections of one isolate.
pub struct NativeDialer {
    shared: Rc<Shared>,
}

/// What a connection needs of its dialer.
struct Shared {
    tls: Connector,
    clock: Rc<dyn Clock>,
}

impl NativeDialer {
    /// `base` is the folder that a relative path of a file with certificates is below. Opens
    /// nothing.
    #[must_use]
    pub fn new(base: PathBuf, clock: Rc<dyn Clock>) -> Self {
        Self { shared: Rc::new(Shared { tls: Connector::new(base), clock }) }
    }
}

impl Dialer for NativeDialer {
    fn dial<'a>(&'a self, host: &'a str, port: u16, deadline_ms: u64) -> LocalFuture<'a, Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            let connected = async { TcpStream::connect((host, port)).await };
            let place = || format!("`{host}:{port}`");
            let late = || "the server did not accept the connection in time".to_owned();
            let connected = self.shared.within(deadline_ms, late, connected).await.map_err(|error| error.at(&place()))?;
            let stream = connected.map_err(|error| {
                Error::new(ErrorKind::Unavailable, "could not connect to the server").with_source(error.to_string()).at(&place())
            })?;
            // Questions are small, and each is waited for.
            stream.set_nodelay(true).map_err(|error| broken(&error))?;
            Ok(Box::new(Stream { inner: Socket::Plain(stream), shared: self.shared.clone() }) as Box<dyn ByteStream>)
        })
    }
}

impl Shared {
    /// Waits until the deadline.
    async fn within<T>(&self, deadline_ms: u64, late: impl Fn() -> String, future: impl Future<Output = T>) -> Result<T> {
        let left = Duration::from_millis(deadline_ms.saturating_sub(self.clock.now_ms()));
        tokio::time::timeout(left, future).await.map_err(|_| Error::new(ErrorKind::TimedOut, late()))
    }
}

/// A connection.
struct Stream {
    inner: Socket,
    shared: Rc<Shared>,
}

/// A socket, with or without TLS.
enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// What both kinds of sockets are.
trait Bytes: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Bytes for S {}

impl Socket {
    fn pinned(&mut self) -> Pin<&mut dyn Bytes> {
        match self {
            Self::Plain(stream) => Pin::new(stream),
            Self::Tls(stream) => Pin::new(stream),
        }
    }
}

impl ByteStream for Stream {
    fn poll_read(&mut self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        let outcome = ready!(self.inner.pinned().poll_read(context, &mut buffer));
        Poll::Ready(match outcome {
            Ok(()) => Ok(buffer.filled().len()),
            // A server that ends without TLS's farewell: the protocols here say themselves where an
            // answer ends.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            Err(error) => Err(broken(&error)),
        })
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        self.inner.pinned().poll_write(context, bytes).map_err(|error| broken(&error))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.inner.pinned().poll_flush(context).map_err(|error| broken(&error))
    }

    fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.inner.pinned().poll_shutdown(context).map_err(|error| broken(&error))
    }

    fn start_tls(self: Box<Self>, tls: Tls, deadline_ms: u64) -> LocalFuture<'static, Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            let Self { inner, shared } = *self;
            let Socket::Plain(inner) = inner else {
                return Err(Error::new(ErrorKind::Configuration, "the connection has TLS already"));
            };
            let late = || "the server did not finish the TLS handshake in time".to_owned();
            let inner = shared.within(deadline_ms, late, shared.tls.connect(inner, &tls)).await;
            let inner = inner.map_err(|error| error.at(&format!("`{}`", tls.server_name)))??;
            Ok(Box::new(Stream { inner: Socket::Tls(Box::new(inner)), shared }) as Box<dyn ByteStream>)
        })
    }
}

fn broken(error: &io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, "the connection was lost").with_source(error.to_string())
}
