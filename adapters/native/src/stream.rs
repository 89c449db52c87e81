//! A client's connection as hyper sees it.

use std::{
    cell::Cell,
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};

/// How long, and how much, is read after a response to a request that was not read to its end.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 8 << 20;

/// A socket that can close without losing what it said last.
///
/// A socket that is closed with unread bytes sends a reset, and a reset may destroy the response before the client reads it.
/// So where a request was refused before its end (413, 408), the closing socket says that it will write no more, and goes on
/// reading for a while ([RFC 9112, 9.6](https://www.rfc-editor.org/rfc/rfc9112#section-9.6)).
pub(crate) struct Stream {
    socket: TcpStream,
    unread: Rc<Cell<bool>>,
    finished: bool,
    linger: Option<Pin<Box<Sleep>>>,
    discarded: usize,
}

impl Stream {
    /// Wraps a socket. `unread` is set by whoever leaves a request unread.
    pub(crate) fn new(socket: TcpStream, unread: Rc<Cell<bool>>) -> Self {
        Self { socket, unread, finished: false, linger: None, discarded: 0 }
    }

    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let linger = self.linger.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        let mut scratch = [0; 4096];
        while linger.as_mut().poll(context).is_pending() && self.discarded < LINGER_BYTES {
            let mut buffer = ReadBuf::new(&mut scratch);
            if ready!(Pin::new(&mut self.socket).poll_read(context, &mut buffer)).is_err() || buffer.filled().is_empty() {
                break;
            }
            self.discarded += buffer.filled().len();
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.finished {
            ready!(Pin::new(&mut self.socket).poll_shutdown(context))?;
            self.finished = true;
        }
        if self.unread.get() {
            ready!(self.poll_linger(context));
        }
        Poll::Ready(Ok(()))
    }
}
