//! One client on standard input and output, as the isolate sees it that works on its messages.
//!
//! In come lines, which whoever has standard input numbered; out go messages, each with the number
//! of the line that it belongs to. Neither side waits for the other: lines are worked on together,
//! and answered in any order. How many there are at a time is limited by the side that reads them,
//! which counts a line until its [`FromIsolate::Over`] is written. In the order of the data:
//!
//! - [`ToIsolate`], [`FromIsolate`]: what passes, by a channel within a process;
//! - [`encode_line`], [`FrameReader`]: the same as bytes, through a socket between processes;
//! - [`serve`], [`serve_socket`]: the life of an isolate.

use std::{
    cell::RefCell,
    collections::VecDeque,
    future::{Future, poll_fn},
    panic::AssertUnwindSafe,
    rc::Rc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures_util::FutureExt as _;
use millrace_core::{
    Endpoint,
    cancel::Cancel,
    headers::Headers,
    protocol::{Body, Connection, EventStream, ResponseBody},
};
use tokio::{sync::mpsc, time::timeout};

use crate::{http::MakeHandler, isolate::Order, wait_until::Tasks};

mod frames;
#[cfg(unix)]
mod socket;

pub use frames::{FrameReader, encode_agreed, encode_line};
#[cfg(unix)]
pub use socket::serve as serve_socket;

/// What an isolate gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToIsolate {
    /// What the client agreed on with the isolate before: [`Connection::restore`]. Comes first, if
    /// at all.
    Agreed(Vec<u8>),
    /// A line, without its end.
    Line(u32, Body),
}

/// What an isolate gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromIsolate {
    /// The client agreed on something: for the isolate after this one.
    Agreed(Vec<u8>),
    /// A message that belongs to a line, or to none.
    Message(Vec<u8>),
    /// Nothing more will be said for this line, apart from this answer, where it is not empty.
    Over(u32, Vec<u8>),
    /// The work on the line ended in a panic: whoever has the line answers it.
    Failed(u32),
}

/// What an isolate answers messages with.
pub trait MessageHandler: 'static {
    /// Answers one message; see [`Endpoint::handle_message`].
    fn handle_message(&self, connection: &Connection, message: Body, cancel: Cancel) -> impl Future<Output = ResponseBody>;
}

impl MessageHandler for Endpoint {
    async fn handle_message(&self, connection: &Connection, message: Body, cancel: Cancel) -> ResponseBody {
        Endpoint::handle_message(self, connection, message, cancel).await
    }
}

/// What is known of the client.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// What calls see as header fields.
    pub headers: Headers,
    /// Whether the app may be replaced, so that the client is told of changed lists.
    pub lists_change: bool,
}

/// The life of an isolate that is a thread of the process that has standard input. Has to be called
/// on its thread.
pub async fn serve<H: MessageHandler>(
    lines: mpsc::UnboundedReceiver<ToIsolate>,
    send: impl Fn(FromIsolate) + 'static,
    make: MakeHandler<H>,
    client: Client,
    grace: Duration,
    orders: mpsc::UnboundedReceiver<Order<H>>,
) {
    run(lines, Box::new(send), make, client, grace, orders).await;
}

/// Where lines come from.
trait LineSource: 'static {
    /// The next one; `None` at the end.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<ToIsolate>>;

    /// The next one, where it is there already, without the runtime, which works on something else.
    fn next_now(&mut self) -> Option<ToIsolate>;
}

impl LineSource for mpsc::UnboundedReceiver<ToIsolate> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<ToIsolate>> {
        self.poll_recv(context)
    }

    fn next_now(&mut self) -> Option<ToIsolate> {
        self.try_recv().ok()
    }
}

/// The lines that come, some of which were looked at before their turn: a client may cancel the
/// call that holds the isolate's thread. There are no more of them than the side that reads them
/// lets be worked on.
struct Lines {
    source: RefCell<Box<dyn LineSource>>,
    early: RefCell<VecDeque<ToIsolate>>,
    /// Those that may cancel a call and whose work has not begun, by their numbers: it waits for
    /// the thread, too.
    unstarted: RefCell<Vec<(u32, Vec<u8>)>>,
    /// Whoever waits for the next one: the operating system does not tell of what was read already.
    waiting: RefCell<Option<Waker>>,
}

impl Lines {
    /// The next one; `None` at the end. Nothing is lost where the future is dropped.
    async fn next(&self) -> Option<ToIsolate> {
        poll_fn(|context| {
            if let Some(line) = self.early.borrow_mut().pop_front() {
                return Poll::Ready(Some(line));
            }
            let next = self.source.borrow_mut().poll_next(context);
            let mut waiting = self.waiting.borrow_mut();
            if next.is_pending() && !waiting.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                *waiting = Some(context.waker().clone());
            }
            next
        })
        .await
    }

    /// Has what cancels a call do so before its turn.
    fn look(&self, connection: &Connection) {
        self.unstarted.borrow().iter().for_each(|(_, message)| connection.cancelled_by(message));
        let Ok(mut source) = self.source.try_borrow_mut() else { return };
        while let Some(line) = source.next_now() {
            if let ToIsolate::Line(_, Body::Whole(message)) = &line {
                connection.cancelled_by(message);
            }
            self.early.borrow_mut().push_back(line);
            if let Some(waker) = self.waiting.take() {
                waker.wake();
            }
        }
    }
}

async fn run<H: MessageHandler>(
    lines: impl LineSource,
    send: Box<dyn Fn(FromIsolate)>,
    make: MakeHandler<H>,
    client: Client,
    grace: Duration,
    mut orders: mpsc::UnboundedReceiver<Order<H>>,
) {
    let background = Tasks::new();
    let session = Rc::new(Session {
        handler: RefCell::new(Rc::new(make(&background))),
        connection: Connection::new(client.headers, client.lists_change),
        send,
        calls: Tasks::new(),
        lines: Rc::new(Lines {
            source: RefCell::new(Box::new(lines)),
            early: RefCell::default(),
            unstarted: RefCell::default(),
            waiting: RefCell::default(),
        }),
    });
    loop {
        tokio::select! {
            line = session.lines.next() => match line {
                Some(line) => session.take(line),
                None => break,
            },
            order = orders.recv() => match order {
                Some(Order::Replace(make)) => session.replace(make, &background),
                Some(Order::Stop) | None => break,
            },
        }
    }
    let ended = async {
        session.calls.drained().await;
        background.drained().await;
    };
    if timeout(grace, ended).await.is_err() {
        tracing::warn!(calls = session.calls.running(), tasks = background.running(), "calls did not end in time and were aborted");
    }
}

struct Session<H> {
    handler: RefCell<Rc<H>>,
    connection: Connection,
    send: Box<dyn Fn(FromIsolate)>,
    calls: Tasks,
    lines: Rc<Lines>,
}

impl<H: MessageHandler> Session<H> {
    fn take(self: &Rc<Self>, line: ToIsolate) {
        match line {
            ToIsolate::Agreed(agreed) => self.connection.restore(&agreed),
            ToIsolate::Line(number, line) => {
                if let Body::Whole(message) = &line
                    && Connection::may_cancel(message)
                {
                    self.lines.unstarted.borrow_mut().push((number, message.clone()));
                }
                self.calls.spawn(self.clone().work(number, line));
            }
        }
    }

    fn replace(&self, make: MakeHandler<H>, background: &Tasks) {
        match std::panic::catch_unwind(AssertUnwindSafe(|| make(background))) {
            Ok(handler) => {
                drop(self.handler.replace(Rc::new(handler)));
                self.connection.list_changes().into_iter().for_each(|message| (self.send)(FromIsolate::Message(message)));
            }
            Err(_) => tracing::error!("the new app could not be loaded; still serving the old one"),
        }
    }

    async fn work(self: Rc<Self>, number: u32, line: Body) {
        let handler = self.handler.borrow().clone();
        self.lines.unstarted.borrow_mut().retain(|(unstarted, _)| *unstarted != number);
        // A line that cancels this call trips the flag itself.
        let cancel = Cancel::with_probe({
            let (lines, connection) = (Rc::clone(&self.lines), self.connection.clone());
            move || {
                lines.look(&connection);
                false
            }
        });
        let answer = async {
            let answer = handler.handle_message(&self.connection, line, cancel.clone()).await;
            self.tell_news();
            match answer {
                ResponseBody::Whole(answer) => answer,
                ResponseBody::Events(events) => {
                    self.pass_on(events, &cancel).await;
                    Vec::new()
                }
            }
        };
        // What panicked is in the log: the panic hook has the place.
        match AssertUnwindSafe(answer).catch_unwind().await {
            _ if cancel.is_tripped() => (self.send)(FromIsolate::Over(number, Vec::new())),
            Ok(answer) => (self.send)(FromIsolate::Over(number, answer)),
            Err(_) => (self.send)(FromIsolate::Failed(number)),
        }
    }

    /// Has the isolate after this one know what the client agreed on.
    fn tell_news(&self) {
        if let Some(agreed) = self.connection.news() {
            (self.send)(FromIsolate::Agreed(agreed));
        }
    }

    /// Sends what a call says as it comes, its answer among it. Whoever cancels a request is told
    /// nothing more of it.
    async fn pass_on(&self, mut events: EventStream, cancel: &Cancel) {
        while let Some(event) = events.next().await {
            self.tell_news();
            if !cancel.is_tripped() {
                (self.send)(FromIsolate::Message(event));
            }
        }
    }
}
