//! How far the middleware of a call has come, and what is kept for those that observe its end.

use alloc::{string::String, vec::Vec};
use core::cell::{Cell, RefCell};

use crate::{Json, value::Value};

/// How far the middleware of a call has come.
#[derive(Default)]
pub(in crate::pipeline) struct Chain {
    /// How many entries let the call through.
    pub(in crate::pipeline) passed: Cell<usize>,
    /// Whether one of them ended it: the entry after those.
    pub(in crate::pipeline) refused: Cell<bool>,
    /// What those that observe are shown; nothing where none does.
    pub(in crate::pipeline) seen: RefCell<Option<Seen>>,
    /// The rows of audits that the transaction of the tool's statement takes along.
    pub(in crate::pipeline) attached: RefCell<Vec<AttachedRow>>,
}

/// A row of an audit that the transaction of the tool's statement takes along.
pub(in crate::pipeline) struct AttachedRow {
    pub(in crate::pipeline) statement: String,
    pub(in crate::pipeline) values: Vec<Value>,
}

/// What is kept of a call for those that observe it.
pub(in crate::pipeline) struct Seen {
    pub(in crate::pipeline) inputs: Json,
    pub(in crate::pipeline) ctx: Json,
    pub(in crate::pipeline) result: Json,
    /// Whether one of them looks at the result.
    pub(in crate::pipeline) wants_result: bool,
}

impl Chain {
    /// Keeps the result for those that look at it; asks for it only where there are any.
    pub(in crate::pipeline) fn keep_result(&self, result: impl FnOnce() -> Json) {
        if let Some(seen) = &mut *self.seen.borrow_mut()
            && seen.wants_result
        {
            seen.result = result();
        }
    }
}
