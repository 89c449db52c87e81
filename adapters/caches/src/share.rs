//! How much of a bounded store a caller may have: half as much as is still free. However many
//! callers fill their shares, the next one gets some of the rest; a single one gets a third of all.

/// What an entry costs beside its key and value, in bytes, roughly.
pub(crate) const OVERHEAD: usize = 128;

/// What a caller wants to keep.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A counter, or the record of a call that begins.
    New,
    /// The answer of a call, in place of the record that it runs. It leaves room for calls that
    /// begin: what does not fit can be left out, while without a record nothing may run.
    Answer,
}

/// Whether it fits where the caller would have `owned` bytes then, and all callers together
/// `bytes`.
pub(crate) const fn fits(kind: Kind, owned: u64, bytes: u64, capacity: u64) -> bool {
    let free = capacity.saturating_sub(bytes);
    owned
        <= match kind {
            Kind::New => free / 2,
            Kind::Answer => free / 4,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How much a caller gets of a store, in steps of 1,000 bytes.
    fn filled(kind: Kind, others: u64, capacity: u64) -> u64 {
        (0..).take_while(|steps| fits(kind, (steps + 1) * 1000, others + (steps + 1) * 1000, capacity)).count() as u64 * 1000
    }

    #[test]
    fn whoever_comes_later_gets_less_and_never_nothing() {
        const CAPACITY: u64 = 512 << 20;
        let first = filled(Kind::New, 0, CAPACITY);
        assert!(first.abs_diff(CAPACITY / 3) < 2000 && filled(Kind::Answer, 0, CAPACITY).abs_diff(CAPACITY / 5) < 2000);
        let (mut all, mut shares) = (first, vec![first]);
        for _ in 0..15 {
            let share = filled(Kind::New, all, CAPACITY);
            all += share;
            shares.push(share);
        }
        assert!(shares.is_sorted_by(|before, after| before > after), "{shares:?}");
        assert!(filled(Kind::New, all, CAPACITY) > 100_000, "after sixteen callers that took all they could");
    }
}
