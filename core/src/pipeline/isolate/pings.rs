//! Whether databases and tools answer: however many ask that, each of them is asked once a second
//! at most.

use alloc::vec::Vec;
use core::cell::RefCell;

use super::turns::Turns;
use crate::ports::Clock;

/// How long an answer counts.
const FRESH_MS: u64 = 1000;

/// The last answers, by number.
pub(in crate::pipeline) struct Pings<E>(Vec<LastPing<E>>);

struct LastPing<E> {
    turns: Turns,
    /// When the answer came, and what it was.
    answer: RefCell<Option<(u64, Result<(), E>)>>,
}

impl<E: Clone> Pings<E> {
    pub(in crate::pipeline) fn new(count: usize) -> Self {
        Self((0..count).map(|_| LastPing { turns: Turns::default(), answer: RefCell::default() }).collect())
    }

    /// What one of them answers, or has just answered. `ask` asks it.
    ///
    /// # Errors
    /// The error that `ask` gave.
    pub(in crate::pipeline) async fn answer(
        &self,
        index: usize,
        clock: &dyn Clock,
        ask: impl Future<Output = Result<(), E>>,
    ) -> Result<(), E> {
        let Some(last) = self.0.get(index) else { return ask.await };
        let _turn = last.turns.next().await;
        let is_fresh = |told_ms: u64| clock.now_ms().checked_sub(told_ms).is_some_and(|age_ms| age_ms < FRESH_MS);
        if let Some((_, answer)) = last.answer.borrow().as_ref().filter(|(told_ms, _)| is_fresh(*told_ms)) {
            return answer.clone();
        }
        let answer = ask.await;
        last.answer.replace(Some((clock.now_ms(), answer.clone())));
        answer
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use core::{
        cell::Cell,
        future::poll_fn,
        pin::{Pin, pin},
        task::{Context, Poll, Waker},
    };

    use super::*;
    use crate::{ErrorKind, ports::LocalFuture};

    struct At(Cell<u64>);

    impl Clock for At {
        fn now_ms(&self) -> u64 {
            self.0.get()
        }

        fn sleep(&self, _: u64) -> LocalFuture<'static, ()> {
            Box::pin(async {})
        }
    }

    fn polled<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    const DOWN: Result<(), ErrorKind> = Err(ErrorKind::Unavailable);

    #[test]
    fn a_database_is_asked_once_a_second() {
        let (pings, clock, asked) = (Pings::new(2), At(Cell::new(5000)), Cell::new(0));
        let ask = async || {
            asked.set(asked.get() + 1);
            if asked.get() == 1 { DOWN } else { Ok(()) }
        };
        // A clock that is set back is believed.
        for (now_ms, times, expected) in [(5000, 1, DOWN), (5999, 1, DOWN), (6000, 2, Ok(())), (6999, 2, Ok(())), (100, 3, Ok(()))] {
            clock.0.set(now_ms);
            assert_eq!(polled(pin!(pings.answer(0, &clock, ask()))), Poll::Ready(expected), "{now_ms}");
            assert_eq!(asked.get(), times, "{now_ms}");
        }
        assert_eq!(polled(pin!(pings.answer(1, &clock, ask()))), Poll::Ready(Ok(())));
        assert_eq!(asked.get(), 4, "another database");
    }

    #[test]
    fn who_comes_meanwhile_waits_for_the_same_answer() {
        let (pings, clock, asked, is_there) = (Pings::<ErrorKind>::new(1), At(Cell::new(0)), Cell::new(0), Cell::new(false));
        let ask = async || {
            asked.set(asked.get() + 1);
            poll_fn(|_| if is_there.get() { Poll::Ready(Ok(())) } else { Poll::Pending }).await
        };
        let given_up = {
            let mut first = pin!(pings.answer(0, &clock, ask()));
            polled(first.as_mut())
        };
        assert_eq!((given_up, asked.get()), (Poll::Pending, 1));
        let (mut second, mut third) = (pin!(pings.answer(0, &clock, ask())), pin!(pings.answer(0, &clock, ask())));
        assert_eq!((polled(second.as_mut()), polled(third.as_mut())), (Poll::Pending, Poll::Pending));
        // It takes longer than answers are fresh.
        clock.0.set(9000);
        is_there.set(true);
        assert_eq!((polled(second.as_mut()), polled(third.as_mut())), (Poll::Ready(Ok(())), Poll::Ready(Ok(()))));
        assert_eq!(asked.get(), 2, "the first one gave up");
    }
}
