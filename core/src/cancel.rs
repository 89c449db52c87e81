//! The signal that a caller went away.

use alloc::{boxed::Box, rc::Rc, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    fmt,
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
    /// Asks the host, without waiting, whether the client went away.
    probe: RefCell<Option<Box<dyn Fn() -> bool>>>,
}

impl Cancel {
    /// A flag that is not tripped.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that is not tripped, of a host that can be asked: `is_gone` says, at once and without
    /// the isolate's other tasks, whether the client went away. It is given up when the flag is
    /// tripped.
    #[must_use]
    pub fn with_probe(is_gone: impl Fn() -> bool + 'static) -> Self {
        let cancel = Self::default();
        *cancel.0.probe.borrow_mut() = Some(Box::new(is_gone));
        cancel
    }

    /// Whether the caller went away, asking the host where it can be asked: for work that holds the
    /// isolate's thread, so that nobody could trip the flag meanwhile. It costs a system call.
    #[must_use]
    pub fn look(&self) -> bool {
        if !self.is_tripped() && self.0.probe.try_borrow().is_ok_and(|probe| probe.as_ref().is_some_and(|is_gone| is_gone())) {
            self.trip();
        }
        self.is_tripped()
    }

    /// Whether the caller went away.
    #[must_use]
    pub fn is_tripped(&self) -> bool {
        self.0.tripped.get()
    }

    /// Says that the caller went away, and wakes everyone who waits for it.
    pub fn trip(&self) {
        self.0.tripped.set(true);
        // Nothing of a connection is kept for a call that ends without it. A probe that trips the
        // flag itself is still in use.
        drop(self.0.probe.try_borrow_mut().ok().and_then(|mut probe| probe.take()));
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

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_tripped()).finish()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_asked_until_the_flag_is_tripped() {
        let (gone, asked) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(0)));
        let cancel = Cancel::with_probe({
            let (gone, asked) = (Rc::clone(&gone), Rc::clone(&asked));
            move || {
                asked.set(asked.get() + 1);
                gone.get()
            }
        });
        let seen = cancel.clone();
        assert!(!seen.look() && !cancel.is_tripped());
        gone.set(true);
        assert!(!cancel.is_tripped(), "nobody asked");
        assert!(seen.look() && cancel.is_tripped() && cancel.look());
        assert_eq!((asked.get(), Rc::strong_count(&gone)), (2, 1), "the probe is given up");
        assert!(!Cancel::new().look());
    }
}
