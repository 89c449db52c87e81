//! A client's connection as hyper sees it: it ends where its client stops reading, and closes
//! without losing what it said last.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    io,
    pin::Pin,
    rc::{Rc, Weak},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep, sleep, sleep_until},
};

use crate::ledger::{Account, Hold};

/// How long, and how much, is read after a response to a request that was not read to its end.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 8 << 20;

/// How much the operating system may hold of what it has not sent yet, in bytes. Otherwise it takes
/// megabytes of an answer that nobody reads.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NOT_SENT: u32 = 128 << 10;

/// A client's socket.
///
/// A write that makes no progress for `Limits::write_timeout` fails, and with it the connection.
/// Where that happened, or where the connection is closed for want of memory, the socket is reset:
/// what was not sent is not kept by the operating system either.
///
/// A socket that is closed with unread bytes sends a reset, and a reset may destroy the response
/// before the client reads it. So where a request was refused before its end (413, 408), the
/// closing socket says that it will write no more, and goes on reading for a while ([RFC 9112,
/// 9.6](https://www.rfc-editor.org/rfc/rfc9112#section-9.6)).
pub(crate) struct Stream {
    /// Shared with whoever asks for its client, for moments.
    socket: Rc<RefCell<TcpStream>>,
    input: Option<InputLimit>,
    account: Rc<Account>,
    write_timeout: Duration,
    /// Runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
    is_stalled: bool,
    /// A write has waited, and something is not written yet.
    is_behind: bool,
    unread: Rc<Cell<bool>>,
    finished: bool,
    linger: Option<Pin<Box<Sleep>>>,
    discarded: usize,
}

/// The client of a connection: whether it is still there can be asked while nothing else of the
/// isolate runs. It does not keep the connection open.
#[derive(Clone)]
pub(crate) struct Peer(Weak<RefCell<TcpStream>>);

impl Peer {
    /// Whether the client closed its side, as far as the operating system knows, which is what ends
    /// the connection otherwise. `is_tls`: what is unread may be the farewell of TLS; without it,
    /// it is a further request, and its client is waited for.
    pub(crate) fn is_gone(&self, is_tls: bool) -> bool {
        let Some(socket) = self.0.upgrade() else { return true };
        let Ok(socket) = socket.try_borrow() else { return false };
        has_closed(&socket) && (is_tls || !has_unread(&socket))
    }
}

/// Whether the end of what the client sends has come, even if something before it is unread.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn has_closed(socket: &TcpStream) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut asked = [PollFd::new(socket, PollFlags::RDHUP)];
    poll(&mut asked, Some(&Timespec::default())).is_ok_and(|count| count > 0)
}

/// Elsewhere that is known only where nothing is unread.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn has_closed(socket: &TcpStream) -> bool {
    match peeked(socket) {
        Ok(count) => count == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

fn has_unread(socket: &TcpStream) -> bool {
    peeked(socket).is_ok_and(|count| count > 0)
}

fn peeked(socket: &TcpStream) -> io::Result<usize> {
    socket2::SockRef::from(socket).peek(&mut [std::mem::MaybeUninit::uninit()])
}

/// How much the client may send for now, in bytes; what it has sent counts as memory.
struct InputLimit {
    hold: Hold,
    left: usize,
}

impl Stream {
    /// Wraps a socket. `unread` is set when a request is left unread.
    pub(crate) fn new(socket: TcpStream, account: Rc<Account>, write_timeout: Duration, unread: Rc<Cell<bool>>) -> Self {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Err(error) = socket2::SockRef::from(&socket).set_tcp_notsent_lowat(NOT_SENT) {
            tracing::debug!(%error, "the operating system's buffer of unsent answers is not limited");
        }
        Self {
            socket: Rc::new(RefCell::new(socket)),
            input: None,
            account,
            write_timeout,
            stalled: None,
            is_stalled: false,
            is_behind: false,
            unread,
            finished: false,
            linger: None,
            discarded: 0,
        }
    }

    /// The client at the other end.
    pub(crate) fn peer(&self) -> Peer {
        Peer(Rc::downgrade(&self.socket))
    }

    /// Lets the client send that many bytes, and no more until [`lift_limit`](Self::lift_limit).
    /// Until then, `hold` grows with them.
    pub(crate) fn limit_input(&mut self, hold: Hold, bytes: usize) {
        self.input = Some(InputLimit { hold, left: bytes });
    }

    /// Lets the client send what it likes.
    pub(crate) fn lift_limit(&mut self) {
        self.input = None;
    }

    /// Whether the client begins with a letter, as HTTP without TLS does. Takes nothing.
    pub(crate) async fn begins_with_letter(&self) -> io::Result<bool> {
        let mut first = [0];
        let mut buffer = ReadBuf::new(&mut first);
        let count = poll_fn(|context| self.socket.borrow().poll_peek(context, &mut buffer)).await?;
        Ok(count == 1 && first[0].is_ascii_alphabetic())
    }

    /// Looks at the outcome of a write: fails where nothing was written for too long.
    fn watch(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let until = || Instant::now() + self.write_timeout;
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.is_stalled = false;
                if self.is_behind {
                    self.account.moved(bytes);
                }
                return Poll::Ready(Ok(bytes));
            }
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending if self.is_stalled => {}
            Poll::Pending => {
                (self.is_stalled, self.is_behind) = (true, true);
                self.account.wait();
                match &mut self.stalled {
                    Some(stalled) => stalled.as_mut().reset(until()),
                    None => self.stalled = Some(Box::pin(sleep_until(until()))),
                }
            }
        }
        if let Some(stalled) = &mut self.stalled {
            ready!(stalled.as_mut().poll(context));
        }
        self.account.close();
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answer")))
    }

    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let linger = self.linger.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        let mut scratch = [0; 4096];
        while linger.as_mut().poll(context).is_pending() && self.discarded < LINGER_BYTES {
            let mut buffer = ReadBuf::new(&mut scratch);
            if ready!(Pin::new(&mut *self.socket.borrow_mut()).poll_read(context, &mut buffer)).is_err() || buffer.filled().is_empty() {
                break;
            }
            self.discarded += buffer.filled().len();
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut *self.socket.borrow_mut()).poll_read(context, buffer))?;
        if let Some(InputLimit { hold, left }) = &mut self.input {
            let bytes = buffer.filled().len() - before;
            *left = left.checked_sub(bytes).filter(|_| hold.grow(bytes)).ok_or_else(|| io::Error::other("the client sends too much"))?;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut *self.socket.borrow_mut()).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut *self.socket.borrow_mut()).poll_write_vectored(context, slices);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.borrow().is_write_vectored()
    }

    /// Asked for when everything was written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_behind {
            self.is_behind = false;
            self.account.waited();
        }
        Pin::new(&mut *self.socket.borrow_mut()).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.finished {
            ready!(Pin::new(&mut *self.socket.borrow_mut()).poll_shutdown(context))?;
            self.finished = true;
        }
        if self.unread.get() {
            ready!(self.poll_linger(context));
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.account.is_closing()
            && let Err(error) = self.socket.borrow().set_zero_linger()
        {
            tracing::debug!(%error, "a connection could not be reset");
        }
    }
}
