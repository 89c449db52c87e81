//! Promises that nothing waits for.
//!
//! A query or a request that is not awaited may be dropped with the call, and nobody hears of its failure: both would be lost while the call
//! says that it went well. So the promises of the host are watched until something looks at them, and rejected ones until something handles
//! them; what is left when the script has returned fails the call.
//!
//! Whatever waits for a promise (`await`, `then`, `Promise.all`) first reads its `constructor`. A watched promise has one of its own, which
//! tells.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap},
};

use boa_engine::{JsObject, builtins::promise::OperationType};

/// The most that are kept of each kind.
pub(crate) const MAX_KEPT: usize = 10_000;

/// A promise of the host that nothing has looked at.
struct Watched {
    promise: JsObject,
    /// What was asked for.
    what: String,
    /// Where.
    stack: String,
}

/// What is known of the promises of a call.
#[derive(Default)]
pub(crate) struct Promises {
    watched: RefCell<BTreeMap<u32, Watched>>,
    /// Never the same one twice in a world: a promise may be kept while the world changes hands within a call.
    last: Cell<u32>,
    /// Rejected, and not handled; with the order in which they were.
    rejected: RefCell<HashMap<JsObject, u32>>,
    /// How many more there are than are kept.
    more: Cell<u32>,
}

impl Promises {
    pub(crate) fn end(&self) {
        self.watched.take();
        self.rejected.take();
        self.more.set(0);
    }

    /// Keeps a promise until something looks at it; gives its number. `None`: too many are kept.
    pub(crate) fn watch(&self, promise: JsObject, what: String, stack: String) -> Option<u32> {
        let mut watched = self.watched.borrow_mut();
        if watched.len() >= MAX_KEPT {
            return None;
        }
        let id = self.next();
        watched.insert(id, Watched { promise, what, stack });
        Some(id)
    }

    /// Something looks at the promise of a number.
    pub(crate) fn looked_at(&self, id: u32) {
        self.watched.borrow_mut().remove(&id);
    }

    /// The call itself waits for a promise.
    pub(crate) fn awaited(&self, promise: &JsObject) {
        self.watched.borrow_mut().retain(|_, watched| !JsObject::equals(&watched.promise, promise));
    }

    /// The call itself has the reason of a rejected promise.
    pub(crate) fn heard_of(&self, promise: &JsObject) {
        self.handled(promise);
    }

    /// The first promise of the host that nothing has looked at.
    pub(crate) fn unawaited(&self) -> Option<(JsObject, String, String)> {
        let watched = self.watched.borrow();
        watched.first_key_value().map(|(_, watched)| (watched.promise.clone(), watched.what.clone(), watched.stack.clone()))
    }

    /// The first promise that was rejected, and whose reason nothing handles.
    pub(crate) fn unhandled(&self) -> Option<JsObject> {
        self.rejected.borrow().iter().min_by_key(|(_, order)| **order).map(|(promise, _)| promise.clone())
    }

    /// Whether a promise that is not kept was rejected, and nothing handled it.
    pub(crate) fn has_overflowed(&self) -> bool {
        self.more.get() > 0
    }

    /// The interpreter tells of a promise that is rejected without a handler, or gets its first one after it was.
    pub(crate) fn rejected(&self, promise: &JsObject, operation: OperationType) {
        match operation {
            OperationType::Handle => self.handled(promise),
            OperationType::Reject if self.rejected.borrow().len() < MAX_KEPT => {
                self.rejected.borrow_mut().insert(promise.clone(), self.next());
            }
            OperationType::Reject => self.more.set(self.more.get().saturating_add(1)),
        }
    }

    /// What is not kept is one of the others: each is handled once.
    fn handled(&self, promise: &JsObject) {
        if self.rejected.borrow_mut().remove(promise).is_none() {
            self.more.set(self.more.get().saturating_sub(1));
        }
    }

    fn next(&self) -> u32 {
        self.last.set(self.last.get().wrapping_add(1));
        self.last.get()
    }
}
