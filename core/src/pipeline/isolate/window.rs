//! Windows of time in which calls are counted, and the counts of an isolate whose store fails.

use alloc::{format, vec::Vec};
use core::cell::{Cell, RefCell};

use sha2::{Digest as _, Sha256};

use crate::app::RateLimit;

/// The most keys that an isolate counts by itself. Of each caller, those beyond it are counted
/// together; of all callers, those beyond twice as many.
const MOST_KEYS: usize = 10_000;

/// What tells counts apart.
pub(in crate::pipeline) type Digest = [u8; 32];

/// A window of time of one key.
pub(in crate::pipeline) struct Window {
    pub(in crate::pipeline) key: Digest,
    pub(in crate::pipeline) max: u32,
    pub(in crate::pipeline) length_ms: u64,
    /// The number of the window since the Unix epoch.
    pub(in crate::pipeline) number: u64,
    /// How much of it is left.
    left_ms: u64,
}

/// Whether a call is let through; else, after how many milliseconds it would be.
pub(in crate::pipeline) type Verdict = core::result::Result<(), u64>;

impl Window {
    /// The window of a moment.
    pub(in crate::pipeline) fn at(now_ms: u64, key: Digest, limit: &RateLimit) -> Self {
        let length_ms = u64::from(limit.window_s.max(1)) * 1000;
        Self { key, max: limit.max, length_ms, number: now_ms / length_ms, left_ms: length_ms - now_ms % length_ms }
    }

    /// The window of one count for all keys of a caller that have none of their own.
    pub(in crate::pipeline) fn of_others(&self, owner: &[u8]) -> Self {
        let mut text = format!("others {} {} ", self.max, self.length_ms).into_bytes();
        text.extend(owner);
        Self { key: Sha256::digest(&text).into(), ..*self }
    }

    /// How many calls this window may have, where the window before had so many.
    pub(in crate::pipeline) fn most(&self, before: u32) -> Option<u32> {
        let still = (u64::from(before) * self.left_ms).div_ceil(self.length_ms);
        self.max.checked_sub(u32::try_from(still).unwrap_or(u32::MAX)).filter(|most| *most > 0)
    }

    /// After how many milliseconds one more call is within the limit, if no other comes.
    pub(in crate::pipeline) fn wait_ms(&self, before: u32, now: u32) -> u64 {
        let fits = |room: u32, earlier: u32| u64::from(room) * self.length_ms / u64::from(earlier.max(1));
        match self.max.checked_sub(now.saturating_add(1)) {
            // In this window: as soon as so little of it is left that those of the window before
            // make room.
            Some(room) if before > 0 => self.left_ms.saturating_sub(fits(room, before)),
            Some(_) => 0,
            // In the next one, where those of this window are those before.
            None => self.left_ms + self.length_ms.saturating_sub(fits(self.max.saturating_sub(1), now)),
        }
    }
}

/// What an isolate counts by itself while its store fails.
#[derive(Default)]
pub(in crate::pipeline) struct Counts {
    /// Sorted by key.
    by_key: RefCell<Vec<(Digest, Count)>>,
    pub(in crate::pipeline) quiet: Quiet,
}

/// Until when what the store fails at is not mentioned again, in milliseconds since the Unix epoch.
#[derive(Default)]
pub(in crate::pipeline) struct Quiet {
    pub(in crate::pipeline) counts_until_ms: Cell<u64>,
    pub(in crate::pipeline) places_until_ms: Cell<u64>,
}

struct Count {
    number: u64,
    before: u32,
    now: u32,
    /// When it says nothing any more.
    over_ms: u64,
}

impl Counts {
    /// Counts a call of a caller by the isolate alone.
    pub(in crate::pipeline) fn pass(&self, window: &Window, owner: &[u8], now_ms: u64) -> Verdict {
        let mut by_key = self.by_key.borrow_mut();
        let mut key = window.key;
        if by_key.len() >= MOST_KEYS && find(&by_key, &key).is_err() {
            by_key.retain(|(_, count)| count.over_ms > now_ms);
            // One count for what has none: too strict, and never too generous.
            if by_key.len() >= MOST_KEYS {
                key = window.of_others(owner).key;
            }
            if by_key.len() >= 2 * MOST_KEYS && find(&by_key, &key).is_err() {
                key = window.of_others(&[]).key;
            }
        }
        let at = find(&by_key, &key).unwrap_or_else(|at| {
            by_key.insert(at, (key, Count { number: window.number, before: 0, now: 0, over_ms: 0 }));
            at
        });
        let Some((_, count)) = by_key.get_mut(at) else { return Err(window.left_ms) };
        if count.number != window.number {
            let follows = count.number + 1 == window.number;
            *count = Count { number: window.number, before: if follows { count.now } else { 0 }, now: 0, over_ms: 0 };
        }
        count.over_ms = now_ms + window.left_ms + window.length_ms;
        match window.most(count.before) {
            Some(most) if count.now < most => {
                count.now += 1;
                Ok(())
            }
            Some(_) => Err(window.wait_ms(count.before, count.now)),
            // So many were too many earlier in this window, too: none of it has passed.
            None => Err(window.wait_ms(count.before, 0)),
        }
    }
}

/// Where a key is, or belongs.
fn find(counts: &[(Digest, Count)], key: &Digest) -> Result<usize, usize> {
    counts.binary_search_by(|(other, _)| other.cmp(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(now_ms: u64, max: u32) -> Window {
        Window::at(now_ms, [1; 32], &RateLimit { max, window_s: 10, key: None })
    }

    #[test]
    fn the_window_before_counts_as_far_as_it_reaches() {
        let table = [
            (0, 10, None),
            (1, 10, None),
            (1_000, 10, Some(1)),
            (5_000, 10, Some(5)),
            (9_999, 10, Some(9)),
            (5_000, 0, Some(10)),
            (0, 3, Some(7)),
        ];
        for (into_ms, before, most) in table {
            assert_eq!(window(20_000 + into_ms, 10).most(before), most, "{before} calls before, {into_ms} ms into the window");
        }
    }

    /// Whoever waits as long as it was told passes, and a millisecond earlier it does not.
    #[test]
    fn the_time_to_wait_is_the_time_after_which_a_call_passes() {
        for max in [1_u32, 2, 3, 7, 100] {
            for before in 0..=max {
                for now in 0..=max {
                    for into_ms in [0, 1, 3_333, 5_000, 9_999] {
                        let at = 20_000 + into_ms;
                        let here = window(at, max);
                        if here.most(before).is_some_and(|most| now < most) {
                            continue;
                        }
                        let wait_ms = here.wait_ms(before, now);
                        let passes = |ms: u64| {
                            let later = window(at + ms, max);
                            let (before, now) = match later.number - here.number {
                                0 => (before, now),
                                1 => (now, 0),
                                _ => (0, 0),
                            };
                            later.most(before).is_some_and(|most| now < most)
                        };
                        assert!(passes(wait_ms), "max {max}, {before} before, {now} now, {into_ms} ms in: not after {wait_ms} ms");
                        assert!(!passes(wait_ms - 1), "max {max}, {before} before, {now} now, {into_ms} ms in: before {wait_ms} ms");
                    }
                }
            }
        }
    }

    #[test]
    fn an_isolate_counts_by_itself_within_bounds() {
        let counts = Counts::default();
        let pass = |key: u32, now_ms: u64| {
            let mut window = window(now_ms, 2);
            window.key[..4].copy_from_slice(&key.to_le_bytes());
            counts.pass(&window, b"me", now_ms).is_ok()
        };
        assert_eq!([pass(0, 20_000), pass(0, 20_000), pass(0, 20_000)], [true, true, false]);
        assert_eq!([pass(0, 30_000), pass(0, 35_000), pass(0, 35_000)], [false, true, false]);
        assert_eq!([pass(0, 60_000), pass(0, 60_000), pass(0, 60_000)], [true, true, false], "what is long ago does not count");
        for key in 1..2 * MOST_KEYS as u32 {
            pass(key, 60_000);
        }
        assert!(counts.by_key.borrow().len() <= MOST_KEYS + 1);
        assert!(!pass(3 * MOST_KEYS as u32, 60_000), "all others share a count");
        assert!(counts.pass(&window(60_000, 2), b"somebody else", 60_000).is_ok(), "of one caller");
        assert!(pass(3 * MOST_KEYS as u32, 90_000), "until there is room again");
    }
}
