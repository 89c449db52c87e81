//! Passes lines to an isolate and its messages back, and knows which lines wait for an answer.
//!
//! A thread reads standard input, another writes standard output; both block, since neither stream
//! can be waited for in every case: it may be a file. Each line has a number, and is kept until the
//! isolate says that it is over and its last message is written. So there are at most
//! [`MOST_LINES`] lines at a time, and [`MOST_BYTES`] of them: a client that does not read its
//! answers is not read from either.
//!
//! Where an isolate ends, what it was given and has not answered is answered here, with an error.
//! It is not given to the next isolate: it may have been carried out.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{Read, Write},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc as std_mpsc,
    },
    thread,
    time::Duration,
};

#[cfg(unix)]
use std::{io, os::unix::net::UnixStream};

use millrace_core::protocol::{Body, Connection};
#[cfg(unix)]
use millrace_native::lines::{FrameReader, encode_agreed, encode_line};
use millrace_native::lines::{FromIsolate, ToIsolate};
use tokio::{
    sync::{Notify, mpsc},
    time::timeout,
};

use super::{
    input::{Line, LineReader},
    streams::Streams,
};
use crate::output::{CommandError, CommandResult};

/// How many lines are worked on at a time.
const MOST_LINES: usize = 256;
/// How many bytes of lines are kept before no further one is taken.
const MOST_BYTES: usize = 16 << 20;
/// How many bytes are written at a time, about.
const WRITE: usize = 64 << 10;

/// What the caller of a line is told whose isolate has ended, or that panicked.
const ENDED: &str = "Internal error: the process that worked on this request ended before it answered. Whether the request had an effect is not \
                     known: check before sending it again.";
const PANICKED: &str =
    "Internal error: the work on this request failed. Whether it had an effect is not known: check before sending it again.";
const STOPPED: &str =
    "The server ended before this request did. Whether the request had an effect is not known: check before sending it again.";

/// The client's lines and the isolate's messages.
pub(crate) struct Pump {
    state: Mutex<State>,
    /// There is room for a line, an isolate, or an end.
    changed: Condvar,
    /// Tells [`run`](Self::run) that there may be an end.
    may_end: Notify,
    body_limit: AtomicUsize,
    grace: Duration,
    input: Mutex<Option<Box<dyn Read + Send>>>,
    output: Mutex<Box<dyn Write + Send>>,
}

#[derive(Default)]
struct State {
    pending: BTreeMap<u32, PendingLine>,
    /// The bytes of the pending lines.
    held: usize,
    next: u32,
    /// The isolate that gets lines, and its number.
    isolate: Option<(u64, LineSink)>,
    isolates: u64,
    /// Isolates that wait for their turn: until all of the one before is read.
    arrived: VecDeque<(LineSink, MessageSource)>,
    /// What the client agreed on.
    agreed: Vec<u8>,
    /// No line is taken any more.
    is_closed: bool,
    /// Nothing is written any more.
    is_over: bool,
}

struct PendingLine {
    isolate: u64,
    line: Vec<u8>,
}

/// Where an isolate takes lines.
#[derive(Clone)]
enum LineSink {
    Channel(mpsc::UnboundedSender<ToIsolate>),
    #[cfg(unix)]
    Socket(Arc<UnixStream>),
}

/// Where an isolate's messages come from.
enum MessageSource {
    Channel(std_mpsc::Receiver<FromIsolate>),
    #[cfg(unix)]
    Socket(SocketMessages),
}

impl Pump {
    /// `body_limit` is the longest line in bytes; `grace` how long lines that are worked on may
    /// take when the client ends its input.
    pub(super) fn new(streams: Streams, body_limit: u32, grace: Duration) -> Self {
        let Streams { input, output } = streams;
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            may_end: Notify::new(),
            body_limit: AtomicUsize::new(body_limit as usize),
            grace,
            input: Mutex::new(Some(input)),
            output: Mutex::new(output),
        }
    }

    /// Sets the longest line, in bytes.
    pub(crate) fn set_body_limit(&self, body_limit: u32) {
        self.body_limit.store(body_limit as usize, Ordering::Relaxed);
    }

    /// Has lines from now on go to an isolate of this process.
    pub(super) fn attach_channel(&self, lines: mpsc::UnboundedSender<ToIsolate>, messages: std_mpsc::Receiver<FromIsolate>) {
        self.attach(LineSink::Channel(lines), MessageSource::Channel(messages));
    }

    /// Has lines from now on go to an isolate that is behind a socket.
    ///
    /// # Errors
    /// The socket cannot be used.
    #[cfg(unix)]
    pub(crate) fn attach_socket(&self, socket: UnixStream) -> io::Result<()> {
        let lines = LineSink::Socket(Arc::new(socket.try_clone()?));
        let piece = vec![0; WRITE].into_boxed_slice();
        self.attach(lines, MessageSource::Socket(SocketMessages { socket, piece, frames: FrameReader::default() }));
        Ok(())
    }

    fn attach(&self, lines: LineSink, messages: MessageSource) {
        self.state().arrived.push_back((lines, messages));
        self.changed.notify_all();
    }

    /// Passes on what comes until the input ends or `stop` resolves, and until what is worked on
    /// then is answered.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub(crate) async fn run(self: Arc<Self>, stop: impl Future<Output = ()>) -> CommandResult {
        let input = self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (reader, writer) = (self.clone(), self.clone());
        let read = move || {
            if let Some(input) = input {
                reader.read(input);
            }
        };
        thread::Builder::new().name("stdin".to_owned()).spawn(read).map_err(CommandError::wrong)?;
        thread::Builder::new().name("stdout".to_owned()).spawn(move || writer.write()).map_err(CommandError::wrong)?;
        tokio::select! {
            biased;
            () = self.until(|state| state.is_closed) => {}
            () = stop => self.close(),
        }
        // Where nobody reads, nothing is pending.
        if timeout(self.grace, self.until(|state| state.pending.is_empty())).await.is_err() {
            self.answer_rest();
        }
        let mut state = self.state();
        state.is_over = true;
        self.changed.notify_all();
        Ok(())
    }

    async fn until(&self, is_true: impl Fn(&State) -> bool) {
        while !is_true(&self.state()) {
            self.may_end.notified().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes no further line.
    fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
        self.may_end.notify_one();
    }

    /// Nobody reads what is written: there is nothing left to do.
    fn abandon(&self) {
        let mut state = self.state();
        (state.is_closed, state.is_over) = (true, true);
        state.pending.clear();
        drop(state);
        self.changed.notify_all();
        self.may_end.notify_one();
    }

    /// The thread of standard input.
    fn read(&self, input: Box<dyn Read + Send>) {
        let (mut lines, mut batch) = (LineReader::new(input), LineBatch::default());
        let limit = || self.body_limit.load(Ordering::Relaxed);
        loop {
            while let Some(line) = lines.next(limit()) {
                if !self.take(line, &mut batch) {
                    return;
                }
            }
            batch.flush();
            match lines.fill() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(%error, "standard input cannot be read");
                    break;
                }
            }
        }
        if let Some(line) = lines.rest(limit()) {
            self.take(line, &mut batch);
            batch.flush();
        }
        self.close();
    }

    /// Gives a line to the isolate, or to the batch of what it gets next, once there is room.
    /// `false` where no line is taken any more.
    fn take(&self, line: Line, batch: &mut LineBatch) -> bool {
        let mut state = self.state();
        let (isolate, sink) = loop {
            if state.is_closed {
                return false;
            }
            let has_room = state.pending.len() < MOST_LINES && state.held < MOST_BYTES;
            if let Some(isolate) = state.isolate.clone().filter(|_| has_room) {
                break isolate;
            }
            if batch.is_empty() {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                // What is waited for may be its answers.
                drop(state);
                batch.flush();
                state = self.state();
            }
        };
        let number = state.next;
        state.next = number.wrapping_add(1);
        let line = match line {
            Line::Whole(line) => Some(line),
            Line::TooLong => None,
        };
        batch.push(isolate, &sink, number, line.as_deref());
        let line = line.unwrap_or_default();
        state.held += line.len();
        state.pending.insert(number, PendingLine { isolate, line });
        true
    }

    /// The thread of standard output.
    fn write(&self) {
        loop {
            let mut state = self.state();
            let (sink, mut source) = loop {
                if state.is_over {
                    return;
                }
                match state.arrived.pop_front() {
                    Some(arrived) => break arrived,
                    None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            state.isolates += 1;
            let isolate = state.isolates;
            sink.agreed(&state.agreed);
            state.isolate = Some((isolate, sink));
            drop(state);
            self.changed.notify_all();
            let mut out = Outgoing::default();
            while source.next(|message| self.put(message, &mut out)) {
                if !self.flush(&mut out) {
                    return;
                }
            }
            self.ended(isolate, &mut out);
            if !self.flush(&mut out) {
                return;
            }
        }
    }

    fn put(&self, message: FromIsolate, out: &mut Outgoing) {
        match message {
            FromIsolate::Agreed(agreed) => self.state().agreed = agreed,
            FromIsolate::Message(message) => out.push(&message),
            FromIsolate::Over(number, answer) => {
                out.push(&answer);
                out.over.push(number);
            }
            FromIsolate::Failed(number) => {
                let answer = self.state().pending.get(&number).and_then(|pending| Connection::unanswered(&pending.line, PANICKED));
                out.push(&answer.unwrap_or_default());
                out.over.push(number);
            }
        }
    }

    /// Answers what an isolate that ended has left.
    fn ended(&self, isolate: u64, out: &mut Outgoing) {
        let mut state = self.state();
        state.isolate = None;
        for (number, pending) in state.pending.iter().filter(|(_, pending)| pending.isolate == isolate) {
            out.push(&Connection::unanswered(&pending.line, ENDED).unwrap_or_default());
            out.over.push(*number);
        }
    }

    /// Writes, and gives the room of what is over to further lines. `false` where nobody reads any
    /// more.
    fn flush(&self, out: &mut Outgoing) -> bool {
        if !out.bytes.is_empty() {
            let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = output.write_all(&out.bytes).and_then(|()| output.flush()) {
                tracing::debug!(%error, "standard output is closed");
                self.abandon();
                return false;
            }
            out.bytes.clear();
            out.bytes.shrink_to(4 * WRITE);
        }
        if out.over.is_empty() {
            return true;
        }
        let mut state = self.state();
        let was_full = state.pending.len() >= MOST_LINES || state.held >= MOST_BYTES;
        for number in out.over.drain(..) {
            if let Some(pending) = state.pending.remove(&number) {
                state.held -= pending.line.len();
            }
        }
        let may_end = state.is_closed && state.pending.is_empty();
        drop(state);
        if was_full {
            self.changed.notify_all();
        }
        if may_end {
            self.may_end.notify_one();
        }
        true
    }

    /// Answers everything that did not end in time, where the client reads.
    fn answer_rest(&self) {
        let pending = std::mem::take(&mut self.state().pending);
        tracing::warn!(calls = pending.len(), "calls did not end in time and were aborted");
        let mut out = Outgoing::default();
        for pending in pending.values() {
            out.push(&Connection::unanswered(&pending.line, STOPPED).unwrap_or_default());
        }
        if let Ok(mut output) = self.output.try_lock()
            && let Err(error) = output.write_all(&out.bytes).and_then(|()| output.flush())
        {
            tracing::debug!(%error, "standard output is closed");
        }
    }
}

/// What waits to be written.
#[derive(Default)]
struct Outgoing {
    bytes: Vec<u8>,
    /// The lines that are over once it is.
    over: Vec<u32>,
}

impl Outgoing {
    /// One message; an empty one is none.
    fn push(&mut self, message: &[u8]) {
        if !message.is_empty() {
            self.bytes.extend_from_slice(message);
            self.bytes.push(b'\n');
        }
    }
}

impl LineSink {
    fn agreed(&self, agreed: &[u8]) {
        if agreed.is_empty() {
            return;
        }
        match self {
            Self::Channel(lines) => drop(lines.send(ToIsolate::Agreed(agreed.to_vec()))),
            #[cfg(unix)]
            Self::Socket(socket) => {
                let mut frame = Vec::new();
                encode_agreed(&mut frame, agreed);
                // An isolate that is gone again is noticed where its messages are read.
                drop((&**socket).write_all(&frame));
            }
        }
    }
}

/// Lines that go to an isolate together.
#[derive(Default)]
struct LineBatch {
    isolate: u64,
    #[cfg(unix)]
    bytes: Vec<u8>,
    #[cfg(unix)]
    socket: Option<Arc<UnixStream>>,
}

impl LineBatch {
    fn is_empty(&self) -> bool {
        #[cfg(unix)]
        return self.bytes.is_empty();
        #[cfg(not(unix))]
        true
    }

    fn push(&mut self, isolate: u64, sink: &LineSink, number: u32, line: Option<&[u8]>) {
        if isolate != self.isolate {
            // What waits for an isolate that has ended is answered already.
            *self = Self { isolate, ..Self::default() };
        }
        match sink {
            LineSink::Channel(lines) => {
                let line = line.map_or(Body::TooLarge, |line| Body::Whole(line.to_vec()));
                drop(lines.send(ToIsolate::Line(number, line)));
            }
            #[cfg(unix)]
            LineSink::Socket(socket) => {
                if self.socket.is_none() {
                    self.socket = Some(socket.clone());
                }
                encode_line(&mut self.bytes, number, line);
            }
        }
    }

    /// Blocks while the isolate takes nothing.
    fn flush(&mut self) {
        #[cfg(unix)]
        if let Some(socket) = self.socket.as_ref().filter(|_| !self.bytes.is_empty()) {
            // An isolate that is gone is noticed where its messages are read.
            drop((&**socket).write_all(&self.bytes));
            self.bytes.clear();
            self.bytes.shrink_to(4 * WRITE);
        }
    }
}

impl MessageSource {
    /// Gives the messages that are there, and waits for the first of them. `false` where the
    /// isolate has ended.
    fn next(&mut self, mut put: impl FnMut(FromIsolate)) -> bool {
        match self {
            Self::Channel(messages) => {
                let Ok(first) = messages.recv() else { return false };
                put(first);
                messages.try_iter().take(MOST_LINES).for_each(put);
                true
            }
            #[cfg(unix)]
            Self::Socket(messages) => messages.next(put),
        }
    }
}

#[cfg(unix)]
struct SocketMessages {
    socket: UnixStream,
    piece: Box<[u8]>,
    frames: FrameReader,
}

#[cfg(unix)]
impl SocketMessages {
    fn next(&mut self, mut put: impl FnMut(FromIsolate)) -> bool {
        let count = loop {
            match self.socket.read(&mut self.piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.unwrap_or(0),
            }
        };
        self.frames.room().extend_from_slice(&self.piece[..count]);
        while let Ok(Some(message)) = self.frames.message() {
            put(message);
        }
        count > 0
    }
}
