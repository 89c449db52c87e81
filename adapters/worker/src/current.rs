//! The request that is being polled.
//!
//! The endpoint is shared by all requests of the isolate, while work after the response, timers and
//! the time belong to one request each. So a request's future carries what is its own along, and
//! shows it while it is polled.
//!
//! Requests also wait for each other, for a place in the script engine: one that ends wakes another
//! while it is polled itself. The platform would take what the other does then for its own, and end
//! it with itself. So a request goes on in its own name only: whoever wakes another one resolves a
//! promise that the other made, and the platform carries on with a promise in the request that made
//! it.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
    sync::Arc,
    task::{self, Wake, Waker},
};

use js_sys::Function;
use wasm_bindgen::prelude::*;
use worker::worker_sys::Context;

use crate::{glue, timer::Timers};

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
    /// The ways back into requests that wait, by their numbers.
    static DOORS: RefCell<BTreeMap<u32, Door>> = const { RefCell::new(BTreeMap::new()) };
    static ENTER: Closure<dyn FnMut(u32)> = Closure::new(enter);
}

/// What belongs to a request.
struct Current {
    number: u32,
    context: Context,
}

/// Runs the future of the request of that number with what belongs to the request at hand.
pub(crate) async fn within<T>(number: u32, context: Context, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut current = Some(Current { number, context });
    let timers = Rc::<Timers>::default();
    let _closed = DoorGuard(number);
    let mut own: Option<Arc<RequestWaker>> = None;
    poll_fn(move |task| {
        let own = match own.take().filter(|own| own.task.will_wake(task.waker())) {
            Some(same) => own.insert(same),
            None => own.insert(Arc::new(RequestWaker { number, task: task.waker().clone() })),
        };
        CURRENT.set(current.take());
        let outcome = timers.poll(|| future.as_mut().poll(&mut task::Context::from_waker(&Waker::from(own.clone()))));
        current = CURRENT.take();
        if outcome.is_pending() {
            Door::keep(number, task.waker());
        }
        outcome
    })
    .await
}

/// Wakes a request's task: at once in the request's own context, and through its door while another
/// request is polled.
struct RequestWaker {
    number: u32,
    task: Waker,
}

impl Wake for RequestWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let is_foreign = CURRENT.with_borrow(|current| current.as_ref().is_some_and(|current| current.number != self.number));
        match is_foreign {
            true => knock(self.number),
            false => self.task.wake_by_ref(),
        }
    }
}

/// The way back into a request that waits.
struct Door {
    /// Resolves the request's promise; taken by the first who knocks.
    open: Option<Function>,
    task: Waker,
}

impl Door {
    /// Sees to it that a request that waits has a door; called while the platform is in that
    /// request.
    fn keep(number: u32, task: &Waker) {
        DOORS.with_borrow_mut(|doors| {
            let door = doors.entry(number).or_insert_with(|| Self { open: None, task: task.clone() });
            door.task.clone_from(task);
            door.open.get_or_insert_with(|| ENTER.with(|enter| glue::door(enter, number)));
        });
    }
}

/// Removes a request's door when dropped.
struct DoorGuard(u32);

impl Drop for DoorGuard {
    fn drop(&mut self) {
        DOORS.with_borrow_mut(|doors| doors.remove(&self.0));
    }
}

/// Asks the platform to go on with a request in its own context.
fn knock(number: u32) {
    let open = DOORS.with_borrow_mut(|doors| doors.get_mut(&number).and_then(|door| door.open.take()));
    if let Some(open) = open {
        // What resolves a promise does not throw.
        drop(open.call0(&JsValue::UNDEFINED));
    }
}

/// Somebody knocked, and the platform is in the request now.
fn enter(number: u32) {
    let task = DOORS.with_borrow(|doors| doors.get(&number).map(|door| door.task.clone()));
    if let Some(task) = task {
        task.wake();
    }
}

/// Gives the platform's context of the current request, if there is one.
pub(crate) fn with_context<T>(look: impl FnOnce(Option<&Context>) -> T) -> T {
    CURRENT.with_borrow(|current| look(current.as_ref().map(|current| &current.context)))
}
