//! What of a call's changes is still to be noted, and to be told to others: see
//! [`sync`](crate::pipeline::stages::sync).

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

/// What of a call's changes is still to be noted.
#[derive(Default)]
pub(in crate::pipeline) struct PendingSync {
    /// The adapters that scripts have sent writes to.
    pub(in crate::pipeline) adapters: RefCell<Vec<u32>>,
    /// Whether what the tool is for has been noted.
    pub(in crate::pipeline) is_noted: Cell<bool>,
    /// How many writes without an answer have been noted.
    pub(in crate::pipeline) unanswered: Cell<u32>,
    /// Requests that scripts have sent, that may change something, and that have no answer.
    pub(in crate::pipeline) open_requests: Cell<u32>,
}

impl PendingSync {
    /// A script sends a statement that may change something.
    pub(in crate::pipeline) fn script_writes(&self, adapter: usize) {
        if let Ok(adapter) = u32::try_from(adapter) {
            self.adapters.borrow_mut().push(adapter);
        }
    }

    /// The last such statement has changed nothing.
    pub(in crate::pipeline) fn script_wrote_nothing(&self, adapter: usize) {
        let mut adapters = self.adapters.borrow_mut();
        if let Some(place) = adapters.iter().rposition(|sent| *sent as usize == adapter) {
            adapters.remove(place);
        }
    }
}
