//! What the connections of an isolate hold in memory: requests' bodies on their way in, and answers
//! that are not read yet.
//!
//! Each connection has an [`Account`] in the isolate's [`Ledger`]; each body and each answer is a
//! [`Hold`] on it, given back when its memory is. From half of the limit on, connections whose
//! client takes or sends less than [`RATE`] are closed, the oldest wait first. Where the ledger is
//! full all the same, what is larger than [`SMALL`] is refused. So whoever keeps others waiting for
//! memory loses their own connection, and small answers always pass. Likewise for places: where the
//! isolate has as many connections as it may, those without a request make room for others.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::{Rc, Weak},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

/// A client that moves as many bytes a second is never closed for want of memory.
const RATE: u64 = 64 << 10;

/// Nor is one that has been waited for less long than this, whatever is wanting.
const GRACE: Duration = Duration::from_millis(250);

/// What passes even where the ledger is full, in bytes.
const SMALL: usize = 16 << 10;

/// What the connections of an isolate hold, and how much they may.
pub(crate) struct Ledger {
    limit: usize,
    held: Cell<usize>,
    accounts: RefCell<BTreeMap<u64, Weak<Account>>>,
    opened: Cell<u64>,
}

/// What one connection holds.
pub(crate) struct Account {
    ledger: Rc<Ledger>,
    number: u64,
    held: Cell<usize>,
    wait: Cell<Option<Wait>>,
    /// Since when the client has not said anything; `None` after its first request.
    silent: Cell<Option<Instant>>,
    closing: Cell<bool>,
    close: Notify,
}

/// The client is waited for: to send the rest of a body, or to take the rest of an answer.
#[derive(Clone, Copy)]
struct Wait {
    since: Instant,
    moved: u64,
}

/// Memory of a connection, given back when it is dropped.
pub(crate) struct Hold {
    account: Rc<Account>,
    bytes: usize,
}

impl Ledger {
    /// An isolate's ledger; `limit` is in bytes.
    pub(crate) fn new(limit: usize) -> Rc<Self> {
        Rc::new(Self { limit, held: Cell::new(0), accounts: RefCell::default(), opened: Cell::new(0) })
    }

    /// The account of a new connection.
    pub(crate) fn open(self: &Rc<Self>) -> Rc<Account> {
        let number = self.opened.get();
        self.opened.set(number + 1);
        let (held, wait, silent, closing) = (Cell::new(0), Cell::new(None), Cell::new(Some(Instant::now())), Cell::new(false));
        let account = Rc::new(Account { ledger: self.clone(), number, held, wait, silent, closing, close: Notify::new() });
        self.accounts.borrow_mut().insert(number, Rc::downgrade(&account));
        account
    }

    /// Closes connections whose client has not sent a whole request yet, as many as are asked for:
    /// those that are silent for the longest.
    #[cfg(unix)]
    pub(crate) fn make_room(&self, count: usize) {
        let accounts = self.accounts.borrow();
        // They are in the order in which they came.
        let silent = accounts.values().filter_map(Weak::upgrade).filter(|account| !account.closing.get());
        let silent = silent.filter(|account| account.silent.get().is_some_and(|since| since.elapsed() >= GRACE));
        for account in silent.take(count) {
            tracing::debug!("a connection is closed: its client has sent no request, and others wait for its place");
            account.close();
        }
    }

    /// Closes the slowest connections until the others hold no more than half of the limit. What
    /// they hold is given back with their next turn, and counts until then.
    fn relieve(&self) {
        let accounts: Vec<Rc<Account>> = self.accounts.borrow().values().filter_map(Weak::upgrade).collect();
        let mut staying =
            self.held.get() - accounts.iter().filter(|account| account.closing.get()).map(|account| account.held.get()).sum::<usize>();
        let now = Instant::now();
        let slow = accounts.iter().filter(|account| !account.closing.get() && account.held.get() > 0);
        let mut slow: Vec<(Instant, &Rc<Account>)> = slow.filter_map(|account| Some((account.slow_since(now)?, account))).collect();
        slow.sort_by_key(|(since, _)| *since);
        for (_, account) in slow {
            if staying <= self.limit / 2 {
                break;
            }
            tracing::debug!(
                bytes = account.held.get(),
                "a connection is closed: it is slow, and the memory for connections is running out"
            );
            staying -= account.held.get();
            account.close();
        }
    }
}

impl Account {
    /// Takes memory. `None` where the connections of the isolate hold too much already.
    pub(crate) fn take(self: &Rc<Self>, bytes: usize) -> Option<Hold> {
        let mut hold = Hold { account: self.clone(), bytes: 0 };
        hold.grow(bytes).then_some(hold)
    }

    /// The client has sent the head of a request.
    pub(crate) fn speaks(&self) {
        self.silent.set(None);
    }

    /// The client is waited for from now on.
    pub(crate) fn wait(&self) {
        if self.wait.get().is_none() {
            self.wait.set(Some(Wait { since: Instant::now(), moved: 0 }));
        }
    }

    /// The client, which is waited for, has sent or taken some bytes.
    pub(crate) fn moved(&self, bytes: usize) {
        if let Some(wait) = self.wait.get() {
            self.wait.set(Some(Wait { moved: wait.moved + bytes as u64, ..wait }));
        }
    }

    /// The client is not waited for any more.
    pub(crate) fn waited(&self) {
        self.wait.set(None);
    }

    /// Has the connection closed.
    pub(crate) fn close(&self) {
        self.closing.set(true);
        self.close.notify_one();
    }

    /// Whether the connection must be closed, without a word to its client.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.get()
    }

    /// Resolves when the connection must be closed.
    pub(crate) async fn closed(&self) {
        while !self.closing.get() {
            self.close.notified().await;
        }
    }

    /// Since when the client is too slow; `None` where it is not.
    fn slow_since(&self, now: Instant) -> Option<Instant> {
        let wait = self.wait.get()?;
        let waited = now.saturating_duration_since(wait.since);
        let expected = u128::from(RATE) * waited.as_millis() / 1000;
        (waited >= GRACE && u128::from(wait.moved) < expected).then_some(wait.since)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.ledger.accounts.borrow_mut().remove(&self.number);
    }
}

impl Hold {
    /// Takes more. Says whether it was there.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let ledger = &self.account.ledger;
        if ledger.held.get() + bytes > ledger.limit / 2 {
            ledger.relieve();
        }
        if ledger.held.get() >= ledger.limit && self.bytes + bytes > SMALL {
            return false;
        }
        self.bytes += bytes;
        self.account.held.set(self.account.held.get() + bytes);
        ledger.held.set(ledger.held.get() + bytes);
        true
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let ledger = &self.account.ledger;
        self.account.held.set(self.account.held.get() - self.bytes);
        ledger.held.set(ledger.held.get() - self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: usize = 1 << 20;

    /// As if the client had been waited for that long.
    fn wait_since(account: &Account, ago: Duration, moved: u64) {
        account.wait.set(Some(Wait { since: Instant::now() - ago, moved }));
    }

    #[test]
    fn memory_is_counted_until_it_is_given_back() {
        let ledger = Ledger::new(8 * MB);
        let (a, b) = (ledger.open(), ledger.open());
        let holds = (a.take(3 * MB).unwrap(), b.take(2 * MB).unwrap());
        assert_eq!((ledger.held.get(), a.held.get(), b.held.get()), (5 * MB, 3 * MB, 2 * MB));
        drop(holds);
        assert_eq!((ledger.held.get(), a.held.get(), ledger.accounts.borrow().len()), (0, 0, 2));
        drop((a, b));
        assert!(ledger.accounts.borrow().is_empty());
    }

    #[test]
    fn a_full_ledger_refuses_what_is_large_and_lets_small_answers_pass() {
        let ledger = Ledger::new(4 * MB);
        let quick = ledger.open();
        let full = quick.take(5 * MB).unwrap();
        let other = ledger.open();
        assert!(other.take(SMALL + 1).is_none());
        let mut body = other.take(SMALL).unwrap();
        assert!(!body.grow(1), "a body cannot grow past it in small steps");
        assert!(!quick.is_closing(), "nobody waits for it");
        drop(full);
        assert!(body.grow(MB) && other.take(MB).is_some());
    }

    #[test]
    fn the_slowest_are_closed_from_half_of_the_limit_on_and_the_oldest_first() {
        let ledger = Ledger::new(8 * MB);
        let second = Duration::from_secs(1);
        let accounts: Vec<Rc<Account>> = (0..5).map(|_| ledger.open()).collect();
        let holds: Vec<Hold> = accounts.iter().map(|account| account.take(800 << 10).unwrap()).collect();
        wait_since(&accounts[0], second, 0);
        wait_since(&accounts[1], 3 * second, 100);
        // This one is quick enough, this one has just begun, and nobody waits for the last.
        wait_since(&accounts[2], 3 * second, 4 * RATE);
        wait_since(&accounts[3], GRACE / 2, 0);
        let closing = || accounts.iter().map(|account| account.is_closing()).collect::<Vec<_>>();
        let new = ledger.open();
        let first = new.take(100 << 10).unwrap();
        assert_eq!(closing(), [false; 5], "there is room");
        let more = new.take(800 << 10).unwrap();
        assert_eq!(closing(), [false, true, false, false, false]);
        let rest = new.take(6 * MB).unwrap();
        assert_eq!(closing(), [true, true, false, false, false]);
        assert!(new.take(MB).is_none(), "what they hold counts until it is given back");
        drop((holds, first, more, rest));
        assert!(new.take(MB).is_some());
    }

    #[tokio::test]
    async fn a_closed_account_wakes_its_connection() {
        let account = Ledger::new(MB).open();
        let other = account.clone();
        tokio::join!(account.closed(), async move { other.close() });
        account.closed().await;
    }
}
