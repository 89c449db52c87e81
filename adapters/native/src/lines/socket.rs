//! An isolate that is a process of its own: lines and messages pass through a socket.

use std::{
    cell::RefCell,
    future::Future as _,
    io::{self, Read as _},
    os::unix::net::UnixStream as StdUnixStream,
    pin::pin,
    rc::Rc,
    sync::{Arc, atomic::AtomicUsize},
    task::{Context, Poll, ready},
    time::Duration,
};

use socket2::SockRef;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{Notify, mpsc},
    task::spawn_local,
    time::timeout,
};

use super::{
    Client, FromIsolate, LineSource, MessageHandler, ToIsolate,
    frames::{FrameReader, encode_message},
    run,
};
use crate::{board::BoardSlot, http::MakeHandler, isolate::Order, listener::raise_descriptor_limit, shared_listener::beat};

/// How long the last messages may take to be written when the isolate ends.
const LAST: Duration = Duration::from_secs(1);

/// The life of an isolate behind a socket, which ends with it. Has to be called on its thread, and
/// resolves when it has ended.
///
/// # Errors
/// The operating system does not let the socket be waited for.
pub async fn serve<H: MessageHandler>(
    socket: StdUnixStream,
    place: BoardSlot,
    make: MakeHandler<H>,
    client: Client,
    grace: Duration,
    orders: mpsc::UnboundedReceiver<Order<H>>,
) -> io::Result<()> {
    raise_descriptor_limit();
    socket.set_nonblocking(true)?;
    let (reading, writing) = UnixStream::from_std(socket)?.into_split();
    spawn_local(beat(place, Arc::new(AtomicUsize::new(1))));
    let outgoing = Rc::new(Outgoing::default());
    let writer = spawn_local(write(writing, outgoing.clone()));
    let send = {
        let outgoing = outgoing.clone();
        move |message: FromIsolate| outgoing.push(&message)
    };
    run(SocketLines { reading, frames: FrameReader::default() }, Box::new(send), make, client, grace, orders).await;
    outgoing.end();
    // A client that does not read does not keep the isolate.
    drop(timeout(LAST, writer).await);
    Ok(())
}

struct SocketLines {
    reading: OwnedReadHalf,
    frames: FrameReader,
}

impl LineSource for SocketLines {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<ToIsolate>> {
        loop {
            match self.frames.line() {
                Ok(Some(line)) => return Poll::Ready(Some(line)),
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(%error, "what the isolate was told cannot be read");
                    return Poll::Ready(None);
                }
            }
            let read = pin!(self.reading.read_buf(self.frames.room()));
            if ready!(read.poll(context)).unwrap_or(0) == 0 {
                return Poll::Ready(None);
            }
        }
    }

    fn next_now(&mut self) -> Option<ToIsolate> {
        // Where what comes cannot be read, or has ended, that is said in its turn.
        while let Ok(line) = self.frames.line() {
            if line.is_some() {
                return line;
            }
            // The runtime would ask the operating system only when it is its turn.
            let mut bytes = [0; 8 << 10];
            let count = (&*SockRef::from(self.reading.as_ref())).read(&mut bytes).ok().filter(|count| *count > 0)?;
            self.frames.room().extend_from_slice(bytes.get(..count)?);
        }
        None
    }
}

/// What waits to be written: no more than the lines that are worked on give.
#[derive(Default)]
struct Outgoing {
    bytes: RefCell<Vec<u8>>,
    ending: std::cell::Cell<bool>,
    more: Notify,
}

impl Outgoing {
    fn push(&self, message: &FromIsolate) {
        encode_message(&mut self.bytes.borrow_mut(), message);
        self.more.notify_one();
    }

    fn end(&self) {
        self.ending.set(true);
        self.more.notify_one();
    }
}

async fn write(mut writing: OwnedWriteHalf, outgoing: Rc<Outgoing>) {
    // From this length on, in bytes, memory is not kept for the next time.
    const KEPT: usize = 256 << 10;
    let mut bytes = Vec::new();
    loop {
        std::mem::swap(&mut bytes, &mut *outgoing.bytes.borrow_mut());
        if bytes.is_empty() {
            if outgoing.ending.get() {
                return;
            }
            outgoing.more.notified().await;
            continue;
        }
        // Whoever reads is gone, and the process is about to end.
        if writing.write_all(&bytes).await.is_err() {
            return;
        }
        bytes.clear();
        bytes.shrink_to(KEPT);
    }
}
