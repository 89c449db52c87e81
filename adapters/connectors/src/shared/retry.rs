//! Sending again: what was not executed always, what only reads once more, a write of unknown
//! outcome never.

use std::rc::Rc;

use millrace_core::{
    Error, ErrorKind, Result,
    app::Access,
    ports::{Clock, Query, Random},
};

use super::timed_out;

/// What is said of a server whose certificate is not known.
pub(crate) const UNTRUSTED: &str = "the certificate of the database is not trusted";
/// The pauses between attempts, in milliseconds. A pause takes at least half of its length; the
/// rest is chance, so that isolates that failed together do not come back together.
const PAUSES_MS: [u64; 5] = [100, 200, 400, 800, 1600];
/// The time that another attempt must have, in milliseconds. One that is cut off at once would say
/// that time ran out, in place of what is wrong.
const LEAST_MS: u64 = 100;

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// It changes nothing. What cannot be told counts as a write.
    pub reads: bool,
    /// It has result columns.
    pub returns: bool,
}

/// An attempt that failed.
#[derive(Debug)]
pub struct StatementFailure {
    /// What went wrong.
    pub error: Error,
    /// What it did to the database.
    pub outcome: Execution,
}

/// What a failed attempt did to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// Nothing: the statement was not executed, and may be later.
    NotExecuted,
    /// Nobody knows: the answer got lost or is broken.
    Unknown,
    /// The answer is final: the same attempt gives the same answer.
    Final,
}

/// Sends again what may be sent again, until the deadline.
pub struct Retry {
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
    /// What is sent, for messages.
    what: &'static str,
}

impl StatementFailure {
    /// A failure before anything was executed.
    #[must_use]
    pub fn not_executed(error: Error) -> Self {
        Self { error, outcome: Execution::NotExecuted }
    }

    /// A failure of which nobody knows what was executed.
    #[must_use]
    pub fn unknown(error: Error) -> Self {
        Self { error, outcome: Execution::Unknown }
    }

    /// A failure that another attempt does not mend.
    #[must_use]
    pub fn last(error: Error) -> Self {
        Self { error, outcome: Execution::Final }
    }

    /// The same failure of a command before the one that makes changes last: whatever became of it,
    /// nothing of them is there.
    #[must_use]
    pub(crate) fn before_the_end(self) -> Self {
        match self.outcome {
            Execution::Unknown => Self::not_executed(self.error),
            Execution::NotExecuted | Execution::Final => self,
        }
    }

    /// The failure of an HTTP client.
    /// The client's own words, which name the host, are for the log.
    pub(crate) fn of_client(error: Error) -> Self {
        let kind = error.kind;
        let told = |kind, message: &str| Error::new(kind, message).with_source(error.in_full());
        match kind {
            ErrorKind::Unavailable => Self::not_executed(told(kind, "could not connect to the database")),
            // The connection broke, or never came about: not every host can tell the two apart.
            ErrorKind::Protocol => Self::unknown(told(
                ErrorKind::Unavailable,
                "could not connect to the database, or it closed the connection before it answered",
            )),
            ErrorKind::TimedOut => Self::last(told(kind, &timed_out().message)),
            ErrorKind::TooLarge => Self::last(told(kind, "the response of the database is longer than the result may be")),
            ErrorKind::Denied => Self::last(told(kind, UNTRUSTED)),
            _ => Self::last(told(kind, "the request to the database is not possible with the settings of the adapter")),
        }
    }
}

impl Retry {
    /// Retries with a host's clock and randomness.
    #[must_use]
    pub fn new(clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Self {
        Self { clock, random, what: "statement" }
    }

    /// The same for what is called a request in messages.
    #[cfg(feature = "databases")]
    pub(crate) fn of_requests(self) -> Self {
        Self { what: "request", ..self }
    }

    /// Attempts, and attempts again where that is safe.
    ///
    /// # Errors
    /// That of the last attempt. For a write of unknown outcome it says so, and is one that no
    /// retry is advised for.
    pub async fn run<T>(&self, query: &Query<'_>, effect: Effect, attempt: impl AsyncFn() -> Result<T, StatementFailure>) -> Result<T> {
        self.repeat(query, effect, effect.reads && query.access.reads(), attempt).await
    }

    /// Attempts, and once more where the outcome is unknown, if it `may_repeat`: what reads, and
    /// what the server does only once however often it is sent. Where that remains unknown, the
    /// error of a write says so.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) async fn repeat<T>(
        &self,
        query: &Query<'_>,
        effect: Effect,
        mut may_repeat: bool,
        attempt: impl AsyncFn() -> Result<T, StatementFailure>,
    ) -> Result<T> {
        let mut pauses = PAUSES_MS.into_iter();
        // Whatever a later attempt says: an earlier one may have been carried out.
        let mut is_unknown = false;
        if self.clock.now_ms() >= query.deadline_ms {
            return Err(self.timed_out());
        }
        loop {
            let StatementFailure { error, outcome } = match attempt().await {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            is_unknown |= outcome == Execution::Unknown;
            let again = match outcome {
                Execution::NotExecuted => true,
                Execution::Unknown => std::mem::replace(&mut may_repeat, false),
                Execution::Final => false,
            };
            let pause_ms = pauses.next().filter(|_| again).map(|pause_ms| self.spread(pause_ms));
            match pause_ms {
                Some(pause_ms) if self.has_time(query, pause_ms) => self.clock.sleep(pause_ms).await,
                _ if is_unknown && !effect.reads => return Err(self.of_unknown_outcome(error)),
                _ => return Err(error),
            }
        }
    }

    /// Attempts what may be sent again whatever became of it: a write with a record of its call.
    ///
    /// # Errors
    /// That of the last attempt.
    pub(crate) async fn run_safe<T>(&self, query: &Query<'_>, attempt: impl AsyncFn() -> Result<T, StatementFailure>) -> Result<T> {
        let query = Query { access: Access::Read, ..query.clone() };
        self.run(&query, Effect { reads: true, returns: true }, attempt).await
    }

    /// Waits so many milliseconds, where the query has them.
    pub(crate) async fn pause(&self, query: &Query<'_>, pause_ms: u64) -> bool {
        let has_time = self.has_time(query, pause_ms);
        if has_time {
            self.clock.sleep(pause_ms).await;
        }
        has_time
    }

    /// Whether there is time for an attempt after a pause.
    fn has_time(&self, query: &Query<'_>, pause_ms: u64) -> bool {
        self.clock.now_ms().saturating_add(pause_ms).saturating_add(LEAST_MS) < query.deadline_ms
    }

    fn of_unknown_outcome(&self, error: Error) -> Error {
        let message = format!("{}; it is not known whether the {} took effect", error.message, self.what);
        error.with_kind(ErrorKind::Protocol).with_message(message)
    }

    fn timed_out(&self) -> Error {
        Error::new(ErrorKind::TimedOut, format!("the {} ran past its deadline", self.what))
    }

    fn spread(&self, pause_ms: u64) -> u64 {
        let mut bytes = [0; 2];
        self.random.fill(&mut bytes);
        let half = pause_ms / 2;
        half + u64::from(u16::from_le_bytes(bytes)) % (half + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::Future, pin::pin, task};

    use millrace_core::ports::LocalFuture;

    use super::*;

    #[derive(Default)]
    struct Fake {
        now_ms: Cell<u64>,
        byte: u8,
    }

    impl Clock for Fake {
        fn now_ms(&self) -> u64 {
            self.now_ms.get()
        }

        fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
            self.now_ms.set(self.now_ms.get() + duration_ms);
            Box::pin(async {})
        }
    }

    impl Random for Fake {
        fn fill(&self, buffer: &mut [u8]) {
            buffer.fill(self.byte);
        }
    }

    /// Lets every attempt fail with an outcome: how many there were, when the last ended, and its
    /// error.
    fn attempts(outcome: Execution, kind: ErrorKind, deadline_ms: u64, reads: bool, access: Access, byte: u8) -> (u32, u64, Error) {
        let fake = Rc::new(Fake { byte, ..Fake::default() });
        let retry = Retry::new(fake.clone(), fake.clone());
        let count = Cell::new(0);
        let error = Error::new(kind, "it failed");
        let attempt = async || {
            count.set(count.get() + 1);
            Err::<(), _>(StatementFailure { error: error.clone(), outcome })
        };
        let query = Query { access, ..super::super::own_query("", deadline_ms) };
        let future = pin!(retry.run(&query, Effect { reads, returns: reads }, attempt));
        let task::Poll::Ready(result) = future.poll(&mut task::Context::from_waker(task::Waker::noop())) else { panic!("it waits") };
        (count.get(), fake.now_ms.get(), result.unwrap_err())
    }

    #[test]
    fn what_was_not_executed_is_sent_again_until_the_deadline() {
        let of = |deadline_ms, byte| {
            let (count, ended_ms, error) =
                attempts(Execution::NotExecuted, ErrorKind::Unavailable, deadline_ms, false, Access::Write, byte);
            assert_eq!(error, Error::new(ErrorKind::Unavailable, if count == 0 { "" } else { "it failed" }));
            (count, ended_ms)
        };
        assert_eq!(of(60_000, 0), (6, 1550));
        let (count, ended_ms) = of(60_000, 0x7f);
        assert!(count == 6 && (1551..=3100).contains(&ended_ms), "{count} {ended_ms}");
        assert_eq!(of(460, 0), (4, 350));
        assert_eq!(of(440, 0), (3, 150));
        assert_eq!(of(50, 0), (1, 0));
    }

    #[test]
    fn a_read_is_sent_once_more_after_a_broken_answer_and_a_write_never() {
        let of = |reads, access| attempts(Execution::Unknown, ErrorKind::Unavailable, 60_000, reads, access, 0);
        assert_eq!(of(true, Access::Read), (2, 50, Error::new(ErrorKind::Unavailable, "it failed")));
        assert_eq!(of(true, Access::Write), (1, 0, Error::new(ErrorKind::Unavailable, "it failed")));
        let lost = Error::new(ErrorKind::Protocol, "it failed; it is not known whether the statement took effect");
        assert_eq!(of(false, Access::Read), (1, 0, lost));
    }

    #[cfg(feature = "databases")]
    #[test]
    fn what_may_have_been_carried_out_stays_unknown_whatever_comes_then() {
        let busy = (Execution::NotExecuted, ErrorKind::Busy);
        for then in [vec![busy; 5], vec![(Execution::Final, ErrorKind::Denied)], vec![busy, (Execution::Unknown, ErrorKind::Unavailable)]] {
            let fake = Rc::new(Fake::default());
            let retry = Retry::new(fake.clone(), fake.clone());
            let left = std::cell::RefCell::new([vec![(Execution::Unknown, ErrorKind::Unavailable)], then].concat().into_iter());
            let attempt = async || {
                let (outcome, kind) = left.borrow_mut().next().unwrap();
                Err::<(), _>(StatementFailure { error: Error::new(kind, "it failed"), outcome })
            };
            let query = Query { access: Access::Write, ..super::super::own_query("", 60_000) };
            let future = pin!(retry.repeat(&query, Effect { reads: false, returns: false }, true, attempt));
            let task::Poll::Ready(result) = future.poll(&mut task::Context::from_waker(task::Waker::noop())) else { panic!("it waits") };
            assert_eq!(result, Err(Error::new(ErrorKind::Protocol, "it failed; it is not known whether the statement took effect")));
            assert!(left.borrow_mut().next().is_none(), "each was tried");
        }
    }

    #[test]
    fn what_is_final_or_too_late_is_not_sent_again() {
        let (count, _, error) = attempts(Execution::Final, ErrorKind::Constraint, 60_000, true, Access::Read, 0);
        assert_eq!((count, error.kind), (1, ErrorKind::Constraint));
        let (count, _, error) = attempts(Execution::Final, ErrorKind::Constraint, 0, true, Access::Read, 0);
        assert_eq!((count, error), (0, timed_out()));
    }
}
