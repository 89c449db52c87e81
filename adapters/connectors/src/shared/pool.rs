//! The connections of an isolate: a few, looked at before they are used again.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    rc::Rc,
    task::{Poll, Waker},
};

use millrace_core::ports::Clock;

use super::within;
use crate::pools::PoolLevels;

/// A connection that was idle for longer is asked whether the server still answers, in
/// milliseconds. What is between the two may forget a connection without telling.
pub(crate) const ASKED_AFTER_MS: u64 = 30_000;
/// How long it may take to answer.
pub(crate) const ANSWER_MS: u64 = 2_000;

/// A connection that may be kept for another call.
pub(crate) trait Pooled {
    /// Whether the server has left the connection alone since the last statement.
    async fn is_quiet(&mut self) -> bool;

    /// Whether the server answers.
    async fn answers(&mut self) -> bool;

    /// Whether another call can use the connection.
    fn is_usable(&self) -> bool;

    /// Says goodbye, where the protocol has a word for it. Dropped, the connection is closed, too.
    async fn close(self)
    where
        Self: Sized,
    {
    }
}

/// Connections that wait for a call, and calls that wait for a connection.
pub(crate) struct Pool<S> {
    most: usize,
    used: Cell<usize>,
    idle: RefCell<Vec<(S, u64)>>,
    /// The one that waits for longest is the first.
    waiting: RefCell<VecDeque<Rc<Turn>>>,
    /// Where it says how full it is.
    levels: Option<PoolLevels>,
}

/// A call's place among those that wait.
struct Turn {
    has_come: Cell<bool>,
    waker: RefCell<Waker>,
}

/// A call that waits; when it does so no longer, its place is another's.
struct Waiting<'a, S> {
    pool: &'a Pool<S>,
    turn: Rc<Turn>,
}

impl<S> Pool<S> {
    /// A pool of at most so many connections.
    pub(crate) const fn of(most: usize) -> Self {
        Self { most, used: Cell::new(0), idle: RefCell::new(Vec::new()), waiting: RefCell::new(VecDeque::new()), levels: None }
    }

    /// The same, which says under this name how full it is.
    pub(crate) fn named(most: usize, name: &str) -> Self {
        let mut pool = Self::of(most);
        pool.levels = Some(PoolLevels::of(name, most));
        pool
    }

    /// Where it says how full it is.
    pub(crate) fn levels(&self) -> Option<&PoolLevels> {
        self.levels.as_ref()
    }

    fn tell(&self, what: impl FnOnce(&PoolLevels)) {
        if let Some(levels) = &self.levels {
            what(levels);
        }
    }

    /// The right to use a connection, where nobody has to wait for it.
    pub(crate) fn free_slot(&self) -> Option<Slot<'_, S>> {
        let is_free = self.used.get() < self.most;
        is_free.then(|| {
            self.used.set(self.used.get() + 1);
            self.tell(PoolLevels::taken);
            Slot(self)
        })
    }

    /// Waits for the right to use a connection: who came first has it first.
    pub(crate) async fn slot(&self) -> Slot<'_, S> {
        if let Some(slot) = self.free_slot() {
            return slot;
        }
        let turn = Rc::new(Turn { has_come: Cell::new(false), waker: RefCell::new(Waker::noop().clone()) });
        self.waiting.borrow_mut().push_back(turn.clone());
        self.tell(PoolLevels::queued);
        let waiting = Waiting { pool: self, turn };
        poll_fn(|context| {
            if waiting.turn.has_come.replace(false) {
                return Poll::Ready(Slot(self));
            }
            waiting.turn.waker.borrow_mut().clone_from(context.waker());
            Poll::Pending
        })
        .await
    }

    /// Gives a right to the call that waits for longest, if any does.
    fn release(&self) {
        let next = self.waiting.borrow_mut().pop_front();
        match next {
            Some(turn) => {
                turn.has_come.set(true);
                turn.waker.borrow().wake_by_ref();
            }
            None => {
                self.used.set(self.used.get() - 1);
                self.tell(PoolLevels::released);
            }
        }
    }
}

impl<S> Drop for Pool<S> {
    fn drop(&mut self) {
        self.tell(|levels| levels.picked(self.idle.borrow().len()));
    }
}

impl<S> Drop for Waiting<'_, S> {
    fn drop(&mut self) {
        self.pool.tell(PoolLevels::left);
        if self.turn.has_come.get() {
            // It was given up between its turn and its next step.
            self.pool.release();
        } else {
            self.pool.waiting.borrow_mut().retain(|turn| !Rc::ptr_eq(turn, &self.turn));
        }
    }
}

/// The right to use a connection.
pub(crate) struct Slot<'a, S>(&'a Pool<S>);

impl<S: Pooled> Slot<'_, S> {
    /// A connection that still works; those that do not are closed.
    pub(crate) async fn idle(&self, clock: &dyn Clock, deadline_ms: u64) -> Option<S> {
        loop {
            let (mut session, since_ms) = self.0.idle.borrow_mut().pop()?;
            self.0.tell(|levels| levels.picked(1));
            if !session.is_quiet().await {
                continue;
            }
            let now_ms = clock.now_ms();
            if now_ms.saturating_sub(since_ms) < ASKED_AFTER_MS {
                return Some(session);
            }
            if within(clock, deadline_ms.min(now_ms + ANSWER_MS), session.answers()).await == Some(true) {
                return Some(session);
            }
        }
    }

    /// Gives a connection back.
    pub(crate) fn keep(&self, session: S, now_ms: u64) {
        self.0.idle.borrow_mut().push((session, now_ms));
        self.0.tell(PoolLevels::kept);
    }
}

impl<S> Drop for Slot<'_, S> {
    fn drop(&mut self) {
        self.0.release();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future as _,
        pin::pin,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        task::{Context, Wake},
    };

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn who_waits_for_longest_is_next_and_nobody_else_is_woken() {
        let pool = Pool::<()>::named(1, "a pool of a test");
        let wakes: [Arc<Wakes>; 4] = std::array::from_fn(|_| Arc::default());
        let wakers = wakes.each_ref().map(|wakes| Waker::from(wakes.clone()));
        let woken = || wakes.each_ref().map(|wakes| wakes.0.load(Ordering::Relaxed));
        let context = |number: usize| Context::from_waker(&wakers[number]);
        let levels = || {
            let found = crate::pools::read().into_iter().find(|pool| pool.name == "a pool of a test").unwrap();
            [found.max, found.used, found.waiting, found.idle]
        };
        assert_eq!(levels(), [1, 0, 0, 0]);

        let mut first = pin!(pool.slot());
        let Poll::Ready(slot) = first.as_mut().poll(&mut context(0)) else { panic!("the pool is not in use") };
        let mut second = pin!(pool.slot());
        let mut third = Box::pin(pool.slot());
        let mut fourth = Box::pin(pool.slot());
        assert!(second.as_mut().poll(&mut context(1)).is_pending());
        assert!(third.as_mut().poll(&mut context(2)).is_pending());
        assert!(fourth.as_mut().poll(&mut context(3)).is_pending());
        assert_eq!(levels(), [1, 1, 3, 0]);
        drop(slot);
        assert_eq!(woken(), [0, 1, 0, 0]);
        let Poll::Ready(slot) = second.as_mut().poll(&mut context(1)) else { panic!("its turn has come") };
        assert!(third.as_mut().poll(&mut context(2)).is_pending());
        drop(slot);
        assert_eq!(woken(), [0, 1, 1, 0]);
        // One whose turn has come is given up, and then one that waits for its own.
        drop(third);
        assert_eq!(woken(), [0, 1, 1, 1]);
        let mut fifth = pin!(pool.slot());
        assert!(fifth.as_mut().poll(&mut context(0)).is_pending());
        let Poll::Ready(slot) = fourth.as_mut().poll(&mut context(3)) else { panic!("its turn has come") };
        let mut sixth = Box::pin(pool.slot());
        assert!(sixth.as_mut().poll(&mut context(1)).is_pending());
        drop(sixth);
        drop(slot);
        let Poll::Ready(slot) = fifth.as_mut().poll(&mut context(0)) else { panic!("its turn has come") };
        pool.idle.borrow_mut().push(((), 0));
        pool.tell(PoolLevels::kept);
        assert_eq!(levels(), [1, 1, 0, 1]);
        drop(slot);
        assert_eq!((pool.used.get(), pool.waiting.borrow().len()), (0, 0));
    }
}
