//! One client on standard input and output, as the isolate sees it that works on its messages.
//!
//! In come lines, which whoever has standard input numbered; out go messages, each with the number of the line that it belongs to. Neither
//! side waits for the other: lines are worked on together, and answered in any order. How many there are at a time is limited by the side
//! that reads them, which counts a line until its [`FromIsolate::Over`] is written. In the order of the data:
//!
//! - [`ToIsolate`], [`FromIsolate`]: what passes, by a channel within a process;
//! - [`encode_line`], [`FrameReader`]: the same as bytes, through a socket between processes;
//! - [`serve`], [`serve_socket`]: the life of an isolate.

use std::{cell::RefCell, future::Future, panic::AssertUnwindSafe, rc::Rc, time::Duration};

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
    /// What the client agreed on with the isolate before: [`Connection::restore`]. Comes first, if at all.
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

/// The life of an isolate that is a thread of the process that has standard input. Has to be called on its thread.
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
trait LineSource {
    /// The next one; `None` at the end. Nothing is lost where the future is dropped.
    async fn next(&mut self) -> Option<ToIsolate>;
}

impl LineSource for mpsc::UnboundedReceiver<ToIsolate> {
    async fn next(&mut self) -> Option<ToIsolate> {
        self.recv().await
    }
}

async fn run<H: MessageHandler>(
    mut lines: impl LineSource,
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
    });
    loop {
        tokio::select! {
            line = lines.next() => match line {
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
}

impl<H: MessageHandler> Session<H> {
    fn take(self: &Rc<Self>, line: ToIsolate) {
        match line {
            ToIsolate::Agreed(agreed) => self.connection.restore(&agreed),
            ToIsolate::Line(number, line) => self.calls.spawn(self.clone().work(number, line)),
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
        let cancel = Cancel::new();
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

    /// Sends what a call says as it comes, its answer among it. Whoever cancels a request is told nothing more of it.
    async fn pass_on(&self, mut events: EventStream, cancel: &Cancel) {
        while let Some(event) = events.next().await {
            self.tell_news();
            if !cancel.is_tripped() {
                (self.send)(FromIsolate::Message(event));
            }
        }
    }
}
