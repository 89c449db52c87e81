//! Ids, handles and the current span, for a host without the registry of `tracing-subscriber`: what its [`Subscriber`](tracing::Subscriber)
//! does in the methods of the same names.
//!
//! Everything belongs to one thread. Requests that take turns on it do not disturb each other: a future enters its spans when it is polled,
//! and leaves them before somebody else is.

use std::cell::{Cell, RefCell};

use tracing::{
    Event, Metadata,
    span::{Attributes, Id},
};

use crate::{exporter::Kept, open};

/// The id of every span that is not traced.
const UNTRACED: u64 = 1;

thread_local! {
    static LAST: Cell<u64> = const { Cell::new(UNTRACED) };
    /// The spans that were entered and not left, the inmost last.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Whether spans and events of a place in the code are wanted. An answer that is `false` because nobody collects yet may be remembered by
/// `tracing`: so [`collect`](crate::collect) comes first.
#[must_use]
pub fn enabled(metadata: &Metadata<'_>) -> bool {
    open::is_of_pipeline(metadata) && Kept::with(|_| ()).is_some()
}

/// Takes note of a new span.
#[must_use]
pub fn new_span(attributes: &Attributes<'_>) -> Id {
    let parent = if attributes.is_contextual() { current() } else { attributes.parent().map(Id::into_u64) };
    let id = LAST.get() + 1;
    LAST.set(id);
    Id::from_u64(if open::open(id, parent, attributes) { id } else { UNTRACED })
}

/// Takes note of what happens within a span.
pub fn event(event: &Event<'_>) {
    let span = if event.is_contextual() { current() } else { event.parent().map(Id::into_u64) };
    if let Some(span) = span {
        open::note(span, event);
    }
}

/// Makes a span the current one.
pub fn enter(id: &Id) {
    ENTERED.with_borrow_mut(|entered| entered.push(id.into_u64()));
}

/// Makes the span the current one that was it before.
pub fn exit(id: &Id) {
    ENTERED.with_borrow_mut(|entered| {
        if let Some(place) = entered.iter().rposition(|other| *other == id.into_u64()) {
            entered.remove(place);
        }
    });
}

/// Counts one more handle of a span.
#[must_use]
pub fn clone_span(id: &Id) -> Id {
    open::hold(id.into_u64());
    id.clone()
}

/// Takes back a handle of a span; whether it was the last, with which the span ends.
#[must_use]
pub fn try_close(id: &Id) -> bool {
    open::release(id.into_u64())
}

fn current() -> Option<u64> {
    ENTERED.with_borrow(|entered| entered.last().copied())
}
