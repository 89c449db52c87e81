//! One isolate with a connector: a clock that the test moves, and calls that are awaited on the
//! spot.

use std::{
    cell::{Cell, RefCell},
    future::Future,
    path::Path,
    pin::pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use millrace_connectors::sqlite::Sqlite;
use millrace_core::{
    Error, Result,
    app::Access,
    ports::{Clock, Command, Connection, Connector, LocalFuture, Query},
    secret::Secret,
    value::{Rows, Value},
};

/// Something to happen at a time.
type Event = (u64, Box<dyn FnOnce()>);

/// A clock that moves by `tick_ms` each time somebody looks, and by the length of a sleep.
#[derive(Default)]
pub(crate) struct TestClock {
    pub(crate) now_ms: Cell<u64>,
    pub(crate) tick_ms: Cell<u64>,
    pub(crate) slept_ms: Cell<u64>,
    event: RefCell<Option<Event>>,
}

impl TestClock {
    /// Lets something happen during the sleep that reaches this many milliseconds of sleep.
    pub(crate) fn at(&self, slept_ms: u64, event: impl FnOnce() + 'static) {
        self.event.replace(Some((slept_ms, Box::new(event))));
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> u64 {
        self.now_ms.set(self.now_ms.get() + self.tick_ms.get());
        self.now_ms.get()
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        self.now_ms.set(self.now_ms.get() + duration_ms);
        self.slept_ms.set(self.slept_ms.get() + duration_ms);
        if self.event.borrow().as_ref().is_some_and(|(at_ms, _)| self.slept_ms.get() >= *at_ms) {
            let (_, event) = self.event.take().unwrap();
            event();
        }
        Box::pin(async {})
    }
}

/// A connector and its clock.
pub(crate) struct Isolate {
    pub(crate) sqlite: Sqlite,
    pub(crate) clock: Rc<TestClock>,
}

pub(crate) const DEADLINE_MS: u64 = 1000;

impl Isolate {
    pub(crate) fn new(base: &Path, connection: Connection) -> Self {
        Self::try_new(base, connection).unwrap()
    }

    pub(crate) fn try_new(base: &Path, connection: Connection) -> Result<Self> {
        let clock = Rc::new(TestClock::default());
        let sqlite = Sqlite::open(connection, base, Rc::clone(&clock) as Rc<dyn Clock>)?;
        Ok(Self { sqlite, clock })
    }

    /// A database in memory, filled by `seed`.
    pub(crate) fn memory(seed: &str) -> Self {
        Self::new(Path::new("/"), Connection { seed: Some(seed.into()), ..connection(":memory:") })
    }

    pub(crate) fn run(&self, text: &str, params: &[Value]) -> Result<Rows> {
        self.run_with(&Query { command: Command::Statement { text, values: params }, ..query(text) })
    }

    pub(crate) fn run_with(&self, query: &Query<'_>) -> Result<Rows> {
        let deadline_ms = self.clock.now_ms.get() + query.deadline_ms;
        block_on(self.sqlite.query(Query { deadline_ms, ..query.clone() }))
    }

    pub(crate) fn ping(&self) -> Result<()> {
        block_on(self.sqlite.ping(self.clock.now_ms.get() + DEADLINE_MS))
    }

    pub(crate) fn rows(&self, text: &str) -> Vec<Vec<Value>> {
        self.run(text, &[]).unwrap().rows
    }

    pub(crate) fn error(&self, text: &str) -> Error {
        self.run(text, &[]).expect_err(text)
    }
}

/// A query without values; the deadline counts from the call.
pub(crate) fn query(text: &str) -> Query<'_> {
    let command = Command::Statement { text, values: &[] };
    Query { access: Access::Write, ..Query::reading(command, DEADLINE_MS, 10_000, 1 << 20) }
}

pub(crate) fn connection(connection_string: &str) -> Connection {
    Connection {
        adapter: "shop".into(),
        connector: "sqlite".into(),
        connection_string: Secret::new(connection_string.into()),
        shown: connection_string.into(),
        options: Vec::new(),
        read_only: false,
        seed: None,
    }
}

pub(crate) fn with_options(connection_string: &str, options: &[(&str, &str)]) -> Connection {
    let options = options.iter().map(|(name, value)| ((*name).into(), Secret::new((*value).into()))).collect();
    Connection { options, ..connection(connection_string) }
}

pub(crate) fn text(value: &str) -> Value {
    Value::Text(value.into())
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}
