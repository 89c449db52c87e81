//! The places of tools with `limits.concurrency`, and the queues for them. A place is given back
//! when it is dropped, and handed on to whoever came first, so a call that is given up, wherever it
//! stands, holds nobody up.
//!
//! Where the host has places that all isolates of the machine share, those of the isolate are not
//! used: its gate only has the bells of the calls that wait, so that one need not look at the store
//! to learn that a place has become free here.

use alloc::{collections::BTreeMap, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use crate::ports::{LocalFuture, Places};

/// The gates of the tools, by the tool's place in [`App::tools`](crate::app::App::tools).
pub(in crate::pipeline) struct Gates(Vec<Gate>);

impl Gates {
    /// A gate for each tool. Takes memory only where calls wait.
    pub(in crate::pipeline) fn of(tools: usize) -> Self {
        Self((0..tools).map(|_| Gate::default()).collect())
    }

    /// The gate of the tool at this place.
    pub(in crate::pipeline) fn get(&self, tool: usize) -> Option<&Gate> {
        self.0.get(tool)
    }
}

/// The places of one tool, and who waits for one.
#[derive(Default)]
pub(in crate::pipeline) struct Gate {
    taken: Cell<u32>,
    /// By the number of the turn.
    queue: RefCell<Vec<(u64, Waiting)>>,
    /// How many waited so far.
    waited: Cell<u64>,
    /// Those that wait for a place of the whole machine, by their turns.
    bells: RefCell<BTreeMap<i64, Waker>>,
    /// Whether the first of them has been told to look at the store, and has not done so yet.
    has_rung: Cell<bool>,
}

/// One in the queue.
enum Waiting {
    /// Where to say that it is its turn.
    Here(Waker),
    /// It was given a place, and has not come for it yet.
    Called,
}

/// A place of a call that runs; handed on when dropped.
pub(in crate::pipeline) struct Place<'a>(&'a Gate);

impl Gate {
    /// A place, if one is free and nobody waits for it.
    pub(in crate::pipeline) fn try_enter(&self, max: u32) -> Option<Place<'_>> {
        // Where somebody waits, no place is free: it would have been handed on.
        (self.taken.get() < max).then(|| {
            self.taken.set(self.taken.get() + 1);
            Place(self)
        })
    }

    /// Whether so many wait already.
    pub(in crate::pipeline) fn is_full(&self, queue: u32) -> bool {
        self.queue.borrow().len() >= queue as usize
    }

    /// Tells the first that waits for a place of the whole machine to look at the store.
    fn ring(&self) {
        self.has_rung.set(true);
        let first = self.bells.borrow().first_key_value().map(|(_, waker)| waker.clone());
        if let Some(waker) = first {
            waker.wake();
        }
    }

    /// Hands a place on to the first in the queue, who may look at the queue at once; without one,
    /// the place is free.
    fn hand_on(&self) {
        let next = self.queue.borrow_mut().iter_mut().find_map(|(_, waiting)| match core::mem::replace(waiting, Waiting::Called) {
            Waiting::Here(waker) => Some(waker),
            Waiting::Called => None,
        });
        match next {
            Some(waker) => waker.wake(),
            None => self.taken.set(self.taken.get().saturating_sub(1)),
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.hand_on();
    }
}

/// A place, or a turn in the queue, of the whole machine; given back when dropped.
pub(in crate::pipeline) struct SharedPlace<'a> {
    places: &'a dyn Places,
    gate: &'a Gate,
    turn: i64,
}

impl<'a> SharedPlace<'a> {
    /// Holds what the store has given.
    pub(in crate::pipeline) fn of(places: &'a dyn Places, gate: &'a Gate, turn: i64) -> Self {
        Self { places, gate, turn }
    }

    /// The number that the store gave.
    pub(in crate::pipeline) const fn turn(&self) -> i64 {
        self.turn
    }

    /// Waits in this isolate, too.
    pub(in crate::pipeline) fn bell(&self) -> Bell<'a> {
        self.gate.bells.borrow_mut().insert(self.turn, Waker::noop().clone());
        Bell { gate: self.gate, turn: self.turn }
    }
}

impl Drop for SharedPlace<'_> {
    fn drop(&mut self) {
        self.places.leave(self.turn);
        self.gate.ring();
    }
}

/// One that waits for a place of the whole machine. Of those of an isolate only the first looks at
/// the store: when it leaves, the next one is told.
pub(in crate::pipeline) struct Bell<'a> {
    gate: &'a Gate,
    turn: i64,
}

impl Bell<'_> {
    /// Ready when it is time to look at the store: it is the first, and a place has become free in
    /// this isolate, or `time` is over.
    pub(in crate::pipeline) fn poll(&self, context: &mut Context<'_>, time: &mut LocalFuture<'static, ()>) -> Poll<()> {
        let mut bells = self.gate.bells.borrow_mut();
        bells.insert(self.turn, context.waker().clone());
        match bells.first_key_value() {
            Some((first, _)) if *first == self.turn => {}
            _ => return Poll::Pending,
        }
        drop(bells);
        if self.gate.has_rung.replace(false) { Poll::Ready(()) } else { Pin::new(time).poll(context) }
    }
}

impl Drop for Bell<'_> {
    fn drop(&mut self) {
        self.gate.bells.borrow_mut().remove(&self.turn);
        self.gate.ring();
    }
}

/// Waits in the queue of a gate; leaves it when dropped.
pub(in crate::pipeline) struct Turn<'a> {
    gate: &'a Gate,
    number: u64,
    is_over: bool,
}

impl<'a> Turn<'a> {
    /// The next turn; takes its place in the queue when it is polled.
    pub(in crate::pipeline) fn of(gate: &'a Gate) -> Self {
        let number = gate.waited.get();
        gate.waited.set(number + 1);
        Self { gate, number, is_over: false }
    }

    /// The place, once it was handed on.
    pub(in crate::pipeline) fn poll(&mut self, context: &Context<'_>) -> Poll<Place<'a>> {
        let mut queue = self.gate.queue.borrow_mut();
        let here = Waiting::Here(context.waker().clone());
        match find(&queue, self.number) {
            Ok(at) => {
                if matches!(queue.get(at), Some((_, Waiting::Called))) {
                    queue.remove(at);
                    self.is_over = true;
                    return Poll::Ready(Place(self.gate));
                }
                if let Some((_, waiting)) = queue.get_mut(at) {
                    *waiting = here;
                }
            }
            Err(at) => queue.insert(at, (self.number, here)),
        }
        Poll::Pending
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut queue = self.gate.queue.borrow_mut();
        let left = find(&queue, self.number).ok().map(|at| queue.remove(at));
        drop(queue);
        if matches!(left, Some((_, Waiting::Called))) {
            self.gate.hand_on();
        }
    }
}

/// Where a turn is in the queue, or belongs.
fn find(queue: &[(u64, Waiting)], number: u64) -> Result<usize, usize> {
    queue.binary_search_by(|(other, _)| other.cmp(&number))
}

#[cfg(test)]
mod tests {
    use alloc::{sync::Arc, task::Wake};
    use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    #[derive(Default)]
    struct Calls(AtomicUsize);

    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn poll<'a>(turn: &mut Turn<'a>, waker: &Waker) -> Option<Place<'a>> {
        match turn.poll(&Context::from_waker(waker)) {
            Poll::Ready(place) => Some(place),
            Poll::Pending => None,
        }
    }

    #[test]
    fn places_go_to_the_first_in_the_queue_and_past_those_that_left() {
        let gate = Gate::default();
        let mut places: Vec<_> = (0..2).map(|_| gate.try_enter(2).unwrap()).collect();
        assert!(gate.try_enter(2).is_none());
        let calls: [Arc<Calls>; 4] = Default::default();
        let called = || calls.each_ref().map(|calls| calls.0.load(Relaxed));
        let wakers = calls.each_ref().map(|calls| Waker::from(calls.clone()));
        let (mut first, mut second, mut third, mut fourth) = (Turn::of(&gate), Turn::of(&gate), Turn::of(&gate), Turn::of(&gate));
        assert!(poll(&mut first, &wakers[0]).is_none() && poll(&mut second, &wakers[1]).is_none());
        assert!(poll(&mut third, &wakers[2]).is_none() && poll(&mut fourth, &wakers[3]).is_none());
        assert!(gate.is_full(4) && !gate.is_full(5));
        places.pop();
        assert_eq!(called(), [1, 0, 0, 0]);
        assert!(gate.try_enter(2).is_none(), "the place belongs to whoever was called");
        drop(first);
        assert_eq!(called(), [1, 1, 0, 0], "one that was called and left hands its place on");
        let place = poll(&mut second, &wakers[1]).unwrap();
        drop(third);
        drop(place);
        assert_eq!(called(), [1, 1, 0, 1], "one that left before its turn is passed over");
        let place = poll(&mut fourth, &wakers[3]).unwrap();
        assert!(gate.try_enter(2).is_none() && gate.queue.borrow().is_empty());
        drop((second, fourth, place));
        assert_eq!(gate.taken.get(), 1, "with nobody in the queue a place becomes free");
        drop(places);
        assert_eq!(gate.taken.get(), 0);
    }
}
