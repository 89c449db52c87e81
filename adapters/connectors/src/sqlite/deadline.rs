//! The deadline of the statement that runs on this thread, and whoever waits for its answer.
//!
//! SQLite asks the progress handler every so many steps of its virtual machine whether to go on.
//! The handler must be `Send`, and the clock of an isolate is not; but a statement runs on the
//! thread that started it, so the handler finds the clock there. Nothing else of the isolate runs
//! meanwhile, so whether the caller is still there is asked here, too.

use std::{cell::RefCell, rc::Rc};

use millrace_core::{
    cancel::Cancel,
    ports::{Clock, Query},
};

/// How many steps of the virtual machine pass between two looks at the clock: some 20 µs.
pub(super) const STEPS: i32 = 1000;
/// How long a statement runs between two looks at its caller, in milliseconds: each is a system
/// call.
const LOOK_MS: u64 = 10;

struct Watch {
    clock: Rc<dyn Clock>,
    deadline_ms: u64,
    caller: Option<Cancel>,
    next_look_ms: u64,
    is_abandoned: bool,
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// Until when a statement may run, and for whom.
pub(super) struct Until<'a> {
    /// In milliseconds since the Unix epoch.
    pub(super) deadline_ms: u64,
    /// Whoever waits for its answer.
    pub(super) caller: Option<&'a Cancel>,
}

impl<'a> Until<'a> {
    pub(super) const fn of(query: &Query<'a>) -> Self {
        Self { deadline_ms: query.deadline_ms, caller: query.caller }
    }
}

/// Does `work` while [`is_over`] looks at this deadline and for this caller. Whether it ended
/// because the caller went away.
pub(super) fn watched<T>(clock: &Rc<dyn Clock>, now_ms: u64, until: &Until<'_>, work: impl FnOnce() -> T) -> (T, bool) {
    let watch = Watch {
        clock: Rc::clone(clock),
        deadline_ms: until.deadline_ms,
        caller: until.caller.cloned(),
        next_look_ms: now_ms.saturating_add(LOOK_MS),
        is_abandoned: false,
    };
    let _reset = Reset(WATCH.replace(Some(watch)));
    let outcome = work();
    (outcome, WATCH.with_borrow(|watch| watch.as_ref().is_some_and(|watch| watch.is_abandoned)))
}

/// Whether the deadline of the running statement has passed, or nobody waits for it any more.
/// Without one, it never does.
pub(super) fn is_over() -> bool {
    WATCH.with_borrow_mut(|watch| {
        let Some(watch) = watch else { return false };
        let now_ms = watch.clock.now_ms();
        if now_ms >= watch.deadline_ms {
            return true;
        }
        if now_ms >= watch.next_look_ms {
            watch.next_look_ms = now_ms.saturating_add(LOOK_MS);
            watch.is_abandoned = watch.caller.as_ref().is_some_and(Cancel::look);
        }
        watch.is_abandoned
    })
}

/// Puts the outer watch back, also when `work` panics.
struct Reset(Option<Watch>);

impl Drop for Reset {
    fn drop(&mut self) {
        WATCH.set(self.0.take());
    }
}
