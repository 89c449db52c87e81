//! What one does at a time, for all who want it done.

use alloc::vec::Vec;
use core::{
    cell::{Cell, RefCell},
    future::poll_fn,
    task::{Poll, Waker},
};

/// Whose turn it is, and who waits.
#[derive(Default)]
pub(super) struct Turns {
    is_taken: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
}

/// A turn; the next one's begins when it is over, or given up.
pub(super) struct Turn<'a>(&'a Turns);

impl Turns {
    /// Waits until it is nobody else's turn.
    pub(super) async fn next(&self) -> Turn<'_> {
        poll_fn(|context| {
            if self.is_taken.replace(true) {
                self.waiting.borrow_mut().push(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(())
        })
        .await;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.is_taken.set(false);
        self.0.waiting.take().into_iter().for_each(Waker::wake);
    }
}
