//! The life of a connection to a server: waited for, made, used, and kept or closed; and what is
//! said where a deadline ends one of these.

use std::{cell::Cell, rc::Rc};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Query, Random},
};

use super::{Effect, Pool, Pooled, Retry, StatementFailure, soon, timed_out, within};
use crate::{pools::PoolLevels, sockets::Lifetime};

/// How long a goodbye may take, in milliseconds.
const GOODBYE_MS: u64 = 100;

/// A server, and how it is connected to.
pub(crate) struct Server {
    /// The adapter that names it.
    pub(crate) adapter: String,
    /// What it is called in messages.
    pub(crate) name: &'static str,
    /// Where it is, and as whom the connector logs in, where that is known.
    pub(crate) place: Option<String>,
    /// The most connections of an isolate.
    pub(crate) max_connections: usize,
    /// How many of them are not for one call alone.
    pub(crate) shared_connections: usize,
    /// How long making one may take, in milliseconds.
    pub(crate) connect_timeout_ms: u64,
}

/// The connections to a server.
pub(crate) struct Connections<S> {
    server: Server,
    lifetime: Lifetime,
    pool: Pool<S>,
    clock: Rc<dyn Clock>,
    retry: Retry,
}

/// What a call is doing, for the message of a deadline.
pub(crate) struct Progress(Cell<Phase>);

#[derive(Clone, Copy)]
enum Phase {
    Waiting,
    Connecting,
    Running,
}

impl<S: Pooled> Connections<S> {
    /// Connects to nothing.
    pub(crate) fn new(server: Server, lifetime: Lifetime, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Self {
        let most = server.max_connections - server.shared_connections;
        let pool = match lifetime {
            Lifetime::Isolate => Pool::named(most, &server.adapter),
            Lifetime::Call => Pool::of(most),
        };
        Self { server, lifetime, pool, retry: Retry::new(clock.clone(), random), clock }
    }

    /// Attempts until the deadline, and attempts again where that is safe.
    ///
    /// # Errors
    /// That of the last attempt, and what the deadline ended.
    pub(crate) async fn run<T>(
        &self,
        query: &Query<'_>,
        effect: Effect,
        attempt: impl AsyncFn(&Progress) -> Result<T, StatementFailure>,
    ) -> Result<T> {
        let progress = Progress(Cell::new(Phase::Waiting));
        let attempts = self.retry.run(query, effect, async || attempt(&progress).await);
        within(&*self.clock, query.deadline_ms, attempts).await.unwrap_or_else(|| Err(self.too_late(progress.0.get())))
    }

    /// Does work on a connection that no other call uses meanwhile; the work gets the milliseconds
    /// that are left. Afterwards the connection is kept for another call where it may be, else
    /// closed.
    ///
    /// # Errors
    /// Those of the work; and where there is no connection, that nothing was executed.
    pub(crate) async fn with_one<T>(
        &self,
        query: &Query<'_>,
        progress: &Progress,
        connect: impl AsyncFnOnce(u64) -> Result<S, StatementFailure>,
        work: impl AsyncFnOnce(&mut S, u64) -> Result<T, StatementFailure>,
    ) -> Result<T, StatementFailure> {
        progress.0.set(Phase::Waiting);
        let came = self.pool.levels().and_then(PoolLevels::start);
        let slot = match self.lifetime {
            Lifetime::Isolate => Some(self.pool.slot().await),
            Lifetime::Call => None,
        };
        progress.0.set(Phase::Connecting);
        let idle = match &slot {
            Some(slot) => slot.idle(&*self.clock, query.deadline_ms).await,
            None => None,
        };
        let mut session = match idle {
            Some(session) => session,
            None => self.connect(query.deadline_ms, progress, connect).await?,
        };
        if let Some(levels) = self.pool.levels() {
            levels.got(came);
        }
        let left_ms = self.begin(query, progress)?;
        let outcome = work(&mut session, left_ms).await;
        match slot {
            Some(slot) if session.is_usable() => slot.keep(session, self.clock.now_ms()),
            _ => {
                // The answer is there: it does not wait for a server that does not take a goodbye.
                let until_ms = soon(&*self.clock, query.deadline_ms, GOODBYE_MS);
                within(&*self.clock, until_ms, session.close()).await;
            }
        }
        outcome
    }

    /// Makes a connection, which is given the time until which it may take.
    ///
    /// # Errors
    /// Nothing was executed.
    pub(crate) async fn connect(
        &self,
        deadline_ms: u64,
        progress: &Progress,
        connect: impl AsyncFnOnce(u64) -> Result<S, StatementFailure>,
    ) -> Result<S, StatementFailure> {
        progress.0.set(Phase::Connecting);
        let until_ms = deadline_ms.min(self.clock.now_ms().saturating_add(self.server.connect_timeout_ms));
        let made = within(&*self.clock, until_ms, connect(until_ms)).await;
        made.unwrap_or_else(|| Err(StatementFailure::not_executed(self.not_connected())))
    }

    /// The statement is on its way from here on; the milliseconds that are left.
    ///
    /// # Errors
    /// No time is left.
    pub(crate) fn begin(&self, query: &Query<'_>, progress: &Progress) -> Result<u64, StatementFailure> {
        progress.0.set(Phase::Running);
        match query.deadline_ms.saturating_sub(self.clock.now_ms()) {
            0 => Err(StatementFailure::last(timed_out())),
            left_ms => Ok(left_ms),
        }
    }

    /// Says that a connection did not come about in time.
    pub(crate) fn not_connected(&self) -> Error {
        let error = Error::new(ErrorKind::Unavailable, format!("{} did not accept the connection in time", self.server.name));
        match &self.server.place {
            Some(place) => error.at(place),
            None => error,
        }
    }

    fn too_late(&self, phase: Phase) -> Error {
        match phase {
            Phase::Waiting => {
                if let Some(levels) = self.pool.levels() {
                    levels.timed_out();
                }
                let Server { name, max_connections, .. } = &self.server;
                Error::new(ErrorKind::Busy, format!("all {max_connections} connections to {name} were in use until the deadline"))
            }
            Phase::Connecting => self.not_connected(),
            Phase::Running => timed_out(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{Future as _, pending},
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use millrace_core::ports::LocalFuture;

    use super::*;
    use crate::shared::own_query;

    /// Time that passes where somebody sleeps.
    #[derive(Default)]
    struct Fake(Cell<u64>);

    impl Clock for Fake {
        fn now_ms(&self) -> u64 {
            self.0.get()
        }

        fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
            self.0.set(self.0.get() + duration_ms);
            Box::pin(async {})
        }
    }

    impl Random for Fake {
        fn fill(&self, buffer: &mut [u8]) {
            buffer.fill(0);
        }
    }

    /// A connection to a server that takes no goodbye.
    struct Stuck;

    impl Pooled for Stuck {
        async fn is_quiet(&mut self) -> bool {
            true
        }

        async fn answers(&mut self) -> bool {
            true
        }

        fn is_usable(&self) -> bool {
            false
        }

        async fn close(self) {
            pending().await
        }
    }

    #[test]
    fn an_answer_does_not_wait_for_a_goodbye() {
        let fake = Rc::new(Fake::default());
        let server = Server {
            adapter: "main".to_owned(),
            name: "it",
            place: None,
            max_connections: 1,
            shared_connections: 0,
            connect_timeout_ms: 10,
        };
        let connections = Connections::new(server, Lifetime::Isolate, fake.clone(), fake.clone());
        let query = own_query("", 60_000);
        let progress = Progress(Cell::new(Phase::Waiting));
        let answered = connections.with_one(&query, &progress, async |_| Ok(Stuck), async |_, _| Ok(7));
        let Poll::Ready(answer) = pin!(answered).poll(&mut Context::from_waker(Waker::noop())) else { panic!("it waits") };
        assert_eq!(answer.ok(), Some(7));
    }
}
