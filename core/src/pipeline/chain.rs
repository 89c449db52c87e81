//! How far the middleware of a call has come, and what is kept for those that observe its end.

use core::cell::{Cell, RefCell};

use crate::Json;

/// How far the middleware of a call has come.
#[derive(Default)]
pub(super) struct Chain {
    /// How many entries let the call through.
    pub(super) passed: Cell<usize>,
    /// Whether one of them ended it: the entry after those.
    pub(super) refused: Cell<bool>,
    /// What those that observe are shown; nothing where none does.
    pub(super) seen: RefCell<Option<Seen>>,
}

/// What is kept of a call for those that observe it.
pub(super) struct Seen {
    pub(super) inputs: Json,
    pub(super) ctx: Json,
    pub(super) result: Json,
    /// Whether one of them looks at the result.
    pub(super) wants_result: bool,
}

impl Chain {
    /// Keeps the result for those that look at it; asks for it only where there are any.
    pub(super) fn keep_result(&self, result: impl FnOnce() -> Json) {
        if let Some(seen) = &mut *self.seen.borrow_mut()
            && seen.wants_result
        {
            seen.result = result();
        }
    }
}
