//! The signal that a caller went away.

use alloc::{rc::Rc, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

/// A flag that the host trips when the client goes away. Clones share it.
///
/// ```
/// let cancel = millrace_core::cancel::Cancel::new();
/// let seen = cancel.clone();
/// cancel.trip();
/// assert!(seen.is_tripped());
/// ```
#[derive(Clone, Default)]
pub struct Cancel(Rc<State>);

#[derive(Default)]
struct State {
    tripped: Cell<bool>,
    wakers: RefCell<Vec<Waker>>,
}

impl Cancel {
    /// A flag that is not tripped.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the caller went away.
    #[must_use]
    pub fn is_tripped(&self) -> bool {
        self.0.tripped.get()
    }

    /// Says that the caller went away, and wakes everyone who waits for it.
    pub fn trip(&self) {
        self.0.tripped.set(true);
        for waker in self.0.wakers.take() {
            waker.wake();
        }
    }

    /// Resolves when the flag is tripped.
    #[must_use]
    pub fn tripped(&self) -> Tripped {
        Tripped(self.clone())
    }
}

/// The future of [`Cancel::tripped`].
pub struct Tripped(Cancel);

impl Future for Tripped {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0.is_tripped() {
            return Poll::Ready(());
        }
        let mut wakers = self.0.0.wakers.borrow_mut();
        if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}
