//! The deadline of the statement that runs on this thread.
//!
//! SQLite asks the progress handler every so many steps of its virtual machine whether to go on. The handler must be `Send`, and the
//! clock of an isolate is not; but a statement runs on the thread that started it, so the handler finds the clock there.

use std::{cell::RefCell, rc::Rc};

use millrace_core::ports::Clock;

/// How many steps of the virtual machine pass between two looks at the clock: some 20 µs.
pub(super) const STEPS: i32 = 1000;

struct Watch {
    clock: Rc<dyn Clock>,
    deadline_ms: u64,
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// Does `work` while [`is_over`] looks at this deadline.
pub(super) fn watched<T>(clock: &Rc<dyn Clock>, deadline_ms: u64, work: impl FnOnce() -> T) -> T {
    let _reset = Reset(WATCH.replace(Some(Watch { clock: Rc::clone(clock), deadline_ms })));
    work()
}

/// Whether the deadline of the running statement has passed. Without one, it never does.
pub(super) fn is_over() -> bool {
    WATCH.with_borrow(|watch| watch.as_ref().is_some_and(|watch| watch.clock.now_ms() >= watch.deadline_ms))
}

/// Puts the outer watch back, also when `work` panics.
struct Reset(Option<Watch>);

impl Drop for Reset {
    fn drop(&mut self) {
        WATCH.set(self.0.take());
    }
}
