//! A connection that several commands use at the same time.
//!
//! What is sent within one turn of the host's loop goes out together, and replies that come
//! together are read together, so that many callers cost few system calls. Replies have the order
//! of the commands. Whoever waits does the work of all: the call that was polled last moves the
//! bytes, and leaves that to another one when it ends.
//!
//! A call that is given up keeps its place in the order, and its reply is thrown away. No command
//! is taken after that, because the server may be stuck: those that were sent before go on, and
//! with the last of them the connection is closed. A reply that breaks the protocol or a limit ends
//! all of them. So this is for commands that may be sent again.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use millrace_core::{Error, ErrorKind, Result, ports::ByteStream};

use crate::{
    Limits, Link, Reply, ReplyReader,
    exchange::{CHUNK_BYTES, put_command},
};

/// How many commands may be on their way.
const MOST_COMMANDS: usize = 128;
/// What is left of the buffer for commands after a large one, in bytes.
const KEPT_BYTES: usize = 64 << 10;

/// Why a command has no reply.
#[derive(Debug)]
pub enum SharedFailure {
    /// It was not sent. The connection takes no other.
    NotSent(Error),
    /// Nobody knows whether it was carried out. The connection takes no other.
    Unknown(Error),
    /// Its reply is more than it may be, or none at all. The connection takes no other.
    Reply(Error),
}

/// A connection that several commands use at the same time.
pub struct SharedLink(RefCell<State>);

struct State {
    /// `None`: it is closed.
    stream: Option<Box<dyn ByteStream>>,
    reader: ReplyReader,
    /// The reply to the first of `waiting`, where it has come and what follows it is not known yet.
    reply: Option<Reply>,
    chunk: Box<[u8]>,
    /// Commands that are to be sent, and how much of them was.
    outgoing: Vec<u8>,
    sent_bytes: usize,
    /// The commands without a reply, in the order in which they are sent.
    waiting: VecDeque<Rc<Place>>,
    /// How many of them were sent, or begun.
    sent: usize,
    /// How many of them somebody waits for.
    wanted: usize,
    takes_commands: bool,
    /// A call will send what is to be sent in the next turn.
    is_due: bool,
    /// Who moves the bytes: it was polled last and is woken when something comes, or it was woken
    /// to take over.
    driver: Option<u64>,
    next_number: u64,
}

/// A command's place among those that wait for a reply.
struct Place {
    number: u64,
    limits: Limits,
    outcome: RefCell<Option<Result<Reply, SharedFailure>>>,
    waker: RefCell<Waker>,
    is_wanted: Cell<bool>,
}

/// A command that is waited for. Dropped, it is not.
struct Waiting<'a> {
    link: &'a SharedLink,
    place: Rc<Place>,
}

impl SharedLink {
    /// Shares a connection on which no reply is outstanding.
    #[must_use]
    pub fn new(link: Link) -> Self {
        Self(RefCell::new(State {
            reader: ReplyReader::new(link.protocol, Limits { bytes: 0, lists: false }),
            stream: Some(link.stream),
            reply: None,
            chunk: vec![0; CHUNK_BYTES].into_boxed_slice(),
            outgoing: Vec::new(),
            sent_bytes: 0,
            waiting: VecDeque::new(),
            sent: 0,
            wanted: 0,
            takes_commands: true,
            is_due: false,
            driver: None,
            next_number: 0,
        }))
    }

    /// Whether it takes another command now.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let state = self.0.borrow();
        state.takes_commands && state.waiting.len() < MOST_COMMANDS
    }

    /// Whether it will never take another command.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !self.0.borrow().takes_commands
    }

    /// Whether no command is on its way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.0.borrow().waiting.is_empty()
    }

    /// Closes it. Whoever waits for a reply does not get one.
    pub fn close(&self) {
        self.0.borrow_mut().fail(SharedFailure::Unknown(over()));
    }

    /// Sends a command and waits for the reply to it.
    ///
    /// # Errors
    /// See [`SharedFailure`].
    pub async fn exchange(&self, words: &[&[u8]], limits: Limits) -> Result<Reply, SharedFailure> {
        let waiting = Waiting { link: self, place: self.0.borrow_mut().queue(words, limits)? };
        let mut has_turned = false;
        poll_fn(|context| self.0.borrow_mut().poll(&waiting.place, &mut has_turned, context)).await
    }
}

impl State {
    fn queue(&mut self, words: &[&[u8]], limits: Limits) -> Result<Rc<Place>, SharedFailure> {
        if !self.takes_commands {
            return Err(SharedFailure::NotSent(over()));
        }
        let place = Rc::new(Place {
            number: self.next_number,
            limits,
            outcome: RefCell::new(None),
            waker: RefCell::new(Waker::noop().clone()),
            is_wanted: Cell::new(true),
        });
        self.next_number += 1;
        self.wanted += 1;
        put_command(&mut self.outgoing, words);
        self.waiting.push_back(place.clone());
        Ok(place)
    }

    fn poll(&mut self, place: &Place, has_turned: &mut bool, context: &mut Context<'_>) -> Poll<Result<Reply, SharedFailure>> {
        let is_due = if std::mem::replace(has_turned, true) {
            self.driver = Some(place.number);
            self.is_due = false;
            // This call need not be woken: it sees what comes of it.
            place.waker.replace(Waker::noop().clone());
            if let Err(failure) = self.advance(context) {
                self.fail(failure);
            }
            false
        } else {
            // One turn of the host's loop: other calls add their commands, and what has arrived is
            // seen.
            !std::mem::replace(&mut self.is_due, true)
        };
        if let Some(outcome) = place.outcome.take() {
            return Poll::Ready(outcome);
        }
        place.waker.borrow_mut().clone_from(context.waker());
        if is_due {
            self.driver = Some(place.number);
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Moves what can be moved.
    fn advance(&mut self, context: &mut Context<'_>) -> Result<(), SharedFailure> {
        self.send(context)?;
        while self.sent > 0
            && let Some(stream) = &mut self.stream
        {
            match stream.poll_read(context, &mut self.chunk) {
                Poll::Ready(Ok(0)) => return Err(SharedFailure::Unknown(ended())),
                Poll::Ready(Ok(count)) => self.reader.feed(&self.chunk[..count]),
                Poll::Ready(Err(error)) => return Err(SharedFailure::Unknown(error)),
                Poll::Pending => break,
            }
            self.hand_out().map_err(SharedFailure::Reply)?;
        }
        Ok(())
    }

    fn send(&mut self, context: &mut Context<'_>) -> Result<(), SharedFailure> {
        let Some(stream) = self.stream.as_mut().filter(|_| !self.outgoing.is_empty()) else { return Ok(()) };
        // Where nothing is outstanding, nothing can come but the end of the connection, or a reply
        // that nobody asked for.
        if self.sent == 0 && stream.poll_read(&mut Context::from_waker(Waker::noop()), &mut self.chunk).is_ready() {
            return Err(SharedFailure::NotSent(over()));
        }
        self.sent = self.waiting.len();
        while self.sent_bytes < self.outgoing.len() {
            match stream.poll_write(context, &self.outgoing[self.sent_bytes..]) {
                Poll::Ready(Ok(0)) => return Err(SharedFailure::Unknown(ended())),
                Poll::Ready(Ok(count)) => self.sent_bytes += count,
                Poll::Ready(Err(error)) => return Err(SharedFailure::Unknown(error)),
                Poll::Pending => return Ok(()),
            }
        }
        match stream.poll_flush(context) {
            Poll::Ready(Ok(())) => {
                self.outgoing.clear();
                self.outgoing.shrink_to(KEPT_BYTES);
                self.sent_bytes = 0;
                Ok(())
            }
            Poll::Ready(Err(error)) => Err(SharedFailure::Unknown(error)),
            Poll::Pending => Ok(()),
        }
    }

    /// Hands out the replies that have come.
    fn hand_out(&mut self) -> Result<()> {
        while self.sent > 0
            && let Some(place) = self.waiting.front()
        {
            if self.reply.is_none() {
                self.reader.expect(place.limits);
                self.reply = self.reader.reply()?;
            }
            // Nothing but whole pushes may follow the reply to the last command: else nobody knows
            // which reply is whose.
            if self.reply.is_none() || (self.sent == 1 && !self.reader.ended()?) {
                break;
            }
            self.sent -= 1;
            if let (Some(place), Some(reply)) = (self.waiting.pop_front(), self.reply.take()) {
                place.finish(Ok(reply), &mut self.wanted);
            }
        }
        self.close_unwanted();
        Ok(())
    }

    /// Closes the connection where it takes no command and nobody waits for a reply.
    fn close_unwanted(&mut self) {
        if !self.takes_commands && self.wanted == 0 {
            self.stream = None;
        }
    }

    /// The connection is of no use any more.
    fn fail(&mut self, failure: SharedFailure) {
        self.takes_commands = false;
        self.stream = None;
        let sent = std::mem::take(&mut self.sent);
        let error = match &failure {
            SharedFailure::NotSent(error) | SharedFailure::Unknown(error) => error.clone(),
            SharedFailure::Reply(_) => over(),
        };
        let is_sent = !matches!(failure, SharedFailure::NotSent(_));
        let mut first = Some(failure);
        for (number, place) in self.waiting.drain(..).enumerate() {
            let of_others = || match is_sent && number < sent {
                true => SharedFailure::Unknown(error.clone()),
                false => SharedFailure::NotSent(error.clone()),
            };
            place.finish(Err(first.take().unwrap_or_else(of_others)), &mut self.wanted);
        }
    }

    /// A call ends, or is given up: another one moves the bytes.
    fn leave(&mut self, place: &Place) {
        if place.is_wanted.replace(false) {
            self.wanted -= 1;
            self.takes_commands = false;
            self.close_unwanted();
        }
        if self.driver != Some(place.number) {
            return;
        }
        // The one that is woken is responsible from now on: it may be given up before it is polled.
        let next = self.waiting.iter().find(|place| place.is_wanted.get());
        self.driver = next.map(|next| next.number);
        if let Some(next) = next {
            next.waker.borrow().wake_by_ref();
        }
    }
}

impl Place {
    fn finish(&self, outcome: Result<Reply, SharedFailure>, wanted: &mut usize) {
        if self.is_wanted.replace(false) {
            *wanted -= 1;
            self.outcome.replace(Some(outcome));
            self.waker.borrow().wake_by_ref();
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.link.0.borrow_mut().leave(&self.place);
    }
}

fn over() -> Error {
    Error::new(ErrorKind::Unavailable, "the connection to the Redis server was closed")
}

fn ended() -> Error {
    Error::new(ErrorKind::Unavailable, "the Redis server closed the connection")
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::Pin,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering::Relaxed},
        },
        task::Wake,
    };

    use millrace_core::ports::{LocalFuture, Tls};
    use proptest::prelude::*;

    use super::*;
    use crate::Protocol;

    const LIMITS: Limits = Limits { bytes: 1000, lists: true };

    /// The two directions of a connection, in memory.
    #[derive(Default)]
    struct Wire {
        to_server: Vec<u8>,
        /// How many bytes the client may write for now.
        room: usize,
        to_client: VecDeque<u8>,
        is_closed: bool,
        writes: usize,
        waker: Option<Waker>,
    }

    struct End(Rc<RefCell<Wire>>);

    impl ByteStream for End {
        fn poll_read(&mut self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<Result<usize>> {
            let mut wire = self.0.borrow_mut();
            let count = buffer.len().min(wire.to_client.len());
            if count == 0 && !wire.is_closed {
                wire.waker = Some(context.waker().clone());
                return Poll::Pending;
            }
            buffer.iter_mut().zip(wire.to_client.drain(..count)).for_each(|(to, from)| *to = from);
            Poll::Ready(Ok(count))
        }

        fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
            let mut wire = self.0.borrow_mut();
            let count = bytes.len().min(wire.room);
            if count == 0 {
                wire.waker = Some(context.waker().clone());
                return Poll::Pending;
            }
            wire.room -= count;
            wire.writes += 1;
            wire.to_server.extend_from_slice(&bytes[..count]);
            Poll::Ready(Ok(count))
        }

        fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(&mut self, _: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn start_tls(self: Box<Self>, _: Tls, _: u64) -> LocalFuture<'static, Result<Box<dyn ByteStream>>> {
            Box::pin(async { Err(over()) })
        }
    }

    impl Drop for End {
        fn drop(&mut self) {
            self.0.borrow_mut().is_closed = true;
        }
    }

    struct Flag(AtomicBool);

    impl Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Relaxed);
        }
    }

    type Outcome = Result<Reply, SharedFailure>;

    /// A call, polled when it was woken only.
    struct Call<'a> {
        key: String,
        future: Option<Pin<Box<dyn Future<Output = Outcome> + 'a>>>,
        flag: Arc<Flag>,
        outcome: Option<Outcome>,
    }

    struct Bench<'a> {
        wire: Rc<RefCell<Wire>>,
        link: &'a SharedLink,
        calls: Vec<Call<'a>>,
        answered: usize,
    }

    fn link(wire: &Rc<RefCell<Wire>>) -> SharedLink {
        SharedLink::new(Link { stream: Box::new(End(wire.clone())), protocol: Protocol::Resp3, is_in_step: true })
    }

    impl<'a> Bench<'a> {
        fn new(wire: &Rc<RefCell<Wire>>, link: &'a SharedLink) -> Self {
            Self { wire: wire.clone(), link, calls: Vec::new(), answered: 0 }
        }

        /// A call for a key of its own.
        fn call(&mut self, limits: Limits) {
            let (key, link) = (format!("key-{}", self.calls.len()), self.link);
            let asked = key.clone();
            let future = Box::pin(async move { link.exchange(&[b"GET", asked.as_bytes()], limits).await });
            self.calls.push(Call { key, future: Some(future), flag: Arc::new(Flag(AtomicBool::new(true))), outcome: None });
        }

        /// Polls those that were woken, once.
        fn turn(&mut self) -> bool {
            let mut some = false;
            for call in &mut self.calls {
                if let Some(future) = &mut call.future
                    && call.flag.0.swap(false, Relaxed)
                {
                    some = true;
                    let waker = Waker::from(call.flag.clone());
                    if let Poll::Ready(outcome) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                        (call.outcome, call.future) = (Some(outcome), None);
                    }
                }
            }
            some
        }

        fn settle(&mut self) {
            while self.turn() {}
        }

        /// The keys of the commands that came whole, and the reply to each: the key itself.
        fn answer(&mut self) {
            let mut wire = self.wire.borrow_mut();
            let text = String::from_utf8(wire.to_server.clone()).unwrap();
            let keys: Vec<&str> = text.split("*2\r\n$3\r\nGET\r\n").skip(1).collect();
            for key in keys.iter().skip(self.answered).filter(|key| key.ends_with("\r\n") && key.matches("\r\n").count() == 2) {
                // With a push between some of them.
                if self.answered % 3 == 1 {
                    wire.to_client.extend(b">2\r\n+invalidate\r\n*0\r\n");
                }
                wire.to_client.extend(key.as_bytes());
                self.answered += 1;
            }
        }

        fn wake(&self) {
            let waker = self.wire.borrow_mut().waker.take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }

        fn room(&self, bytes: usize) {
            self.wire.borrow_mut().room = bytes;
            self.wake();
        }
    }

    /// A test on a connection of its own, where the client may write so many bytes for now.
    fn with_bench(room: usize, test: impl FnOnce(&mut Bench<'_>)) {
        let wire = Rc::new(RefCell::new(Wire { room, ..Wire::default() }));
        test(&mut Bench::new(&wire, &link(&wire)));
    }

    fn is_own(call: &Call<'_>) -> bool {
        matches!(&call.outcome, Some(Ok(Reply::Bulk(value))) if value == call.key.as_bytes())
    }

    #[test]
    fn what_is_asked_in_one_turn_goes_out_together() {
        with_bench(10_000, |bench| {
            for _ in 0..32 {
                bench.call(LIMITS);
            }
            bench.settle();
            assert_eq!(bench.wire.borrow().writes, 1);
            bench.answer();
            bench.wake();
            bench.settle();
            assert!(bench.calls.iter().all(is_own));
            assert!(bench.link.is_idle() && bench.link.has_room());
        });
    }

    #[test]
    fn there_is_room_for_so_many() {
        with_bench(0, |bench| {
            for _ in 0..MOST_COMMANDS {
                assert!(bench.link.has_room());
                bench.call(LIMITS);
                bench.settle();
            }
            assert!(!bench.link.has_room() && !bench.link.is_over());
        });
    }

    #[test]
    fn a_reply_that_is_too_large_ends_the_connection_and_is_the_error_of_its_call() {
        with_bench(10_000, |bench| {
            bench.call(LIMITS);
            bench.call(Limits { bytes: 3, lists: true });
            bench.call(LIMITS);
            bench.settle();
            // Queued, and not sent.
            bench.room(0);
            bench.call(LIMITS);
            bench.calls[3].flag.0.store(true, Relaxed);
            bench.turn();
            bench.answer();
            bench.wake();
            bench.settle();
            assert!(is_own(&bench.calls[0]));
            let failure = |number: usize| bench.calls[number].outcome.as_ref().and_then(|outcome| outcome.as_ref().err());
            assert!(matches!(failure(1), Some(SharedFailure::Reply(error)) if error.kind == ErrorKind::TooLarge), "{:?}", failure(1));
            assert!(matches!(failure(2), Some(SharedFailure::Unknown(error)) if error.kind == ErrorKind::Unavailable), "{:?}", failure(2));
            assert!(failure(3).is_some() && bench.link.is_over() && bench.wire.borrow().is_closed);
        });
    }

    #[test]
    fn a_connection_that_ended_meanwhile_sends_nothing() {
        for stray in [&b""[..], b"+OK\r\n"] {
            let wire = Rc::new(RefCell::new(Wire { room: 1000, is_closed: stray.is_empty(), ..Wire::default() }));
            wire.borrow_mut().to_client.extend(stray);
            let link = link(&wire);
            let mut bench = Bench::new(&wire, &link);
            bench.call(LIMITS);
            bench.settle();
            assert!(matches!(bench.calls[0].outcome, Some(Err(SharedFailure::NotSent(_)))));
            assert_eq!(wire.borrow().writes, 0);
        }
    }

    #[test]
    fn two_replies_to_one_command_are_none() {
        with_bench(1000, |bench| {
            bench.call(LIMITS);
            bench.settle();
            bench.wire.borrow_mut().to_client.extend(b":1\r\n:2\r\n");
            bench.wake();
            bench.settle();
            assert!(matches!(&bench.calls[0].outcome, Some(Err(SharedFailure::Reply(error))) if error.kind == ErrorKind::Protocol));
        });
    }

    #[test]
    fn the_connection_is_closed_with_the_last_call_after_one_was_given_up() {
        with_bench(1000, |bench| {
            bench.call(LIMITS);
            bench.call(LIMITS);
            bench.settle();
            bench.calls[1].future = None;
            assert!(bench.link.is_over() && !bench.wire.borrow().is_closed);
            bench.call(LIMITS);
            bench.settle();
            assert!(matches!(bench.calls[2].outcome, Some(Err(SharedFailure::NotSent(_)))));
            bench.answer();
            bench.wake();
            bench.settle();
            assert!(is_own(&bench.calls[0]) && bench.wire.borrow().is_closed);
        });
    }

    #[test]
    fn another_call_goes_on_where_the_one_that_was_to_take_over_is_given_up_too() {
        with_bench(0, |bench| {
            bench.call(LIMITS);
            bench.turn();
            bench.call(LIMITS);
            bench.call(LIMITS);
            bench.turn();
            // The second one was to send; the first one is woken for it and not polled any more.
            bench.calls[1].future = None;
            bench.calls[0].future = None;
            bench.room(1000);
            bench.settle();
            bench.answer();
            bench.wake();
            bench.settle();
            assert!(is_own(&bench.calls[2]) && bench.wire.borrow().is_closed);
        });
    }

    proptest! {
        /// Whatever comes in whatever pieces, and whoever leaves: a call gets its own reply, and
        /// none waits for ever.
        #[test]
        fn every_call_gets_its_own_reply(steps in prop::collection::vec((0_u8..6, 0_usize..40), 1..60)) {
            let wire = Rc::default();
            let link = link(&wire);
            let mut bench = Bench::new(&wire, &link);
            let mut given_up = false;
            for (step, number) in steps {
                match step {
                    0 | 1 if !given_up && bench.calls.len() < 12 => bench.call(LIMITS),
                    2 => { bench.turn(); }
                    3 => bench.room(number),
                    4 => {
                        bench.answer();
                        // Only a part of it has come.
                        let mut late: Vec<u8> = wire.borrow_mut().to_client.drain(..).collect();
                        let rest = late.split_off(number.min(late.len()));
                        wire.borrow_mut().to_client.extend(late);
                        bench.wake();
                        bench.turn();
                        wire.borrow_mut().to_client.extend(rest);
                        bench.wake();
                    }
                    5 if number < 4 && number < bench.calls.len() => {
                        bench.calls[number].future = None;
                        given_up = link.is_over();
                    }
                    _ => {}
                }
            }
            for _ in 0..bench.calls.len() + 2 {
                bench.room(10_000);
                bench.settle();
                bench.answer();
                bench.wake();
                bench.settle();
            }
            for call in &bench.calls {
                prop_assert!(call.future.is_none(), "{} waits", call.key);
                let is_not_sent = matches!(call.outcome, Some(Err(SharedFailure::NotSent(_))));
                prop_assert!(call.outcome.is_none() || is_own(call) || (given_up && is_not_sent), "{}: {:?}", call.key, call.outcome);
            }
            if given_up {
                prop_assert!(link.is_over() && wire.borrow().is_closed);
            }
        }
    }
}
