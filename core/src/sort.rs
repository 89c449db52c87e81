//! Sorting in little code. The standard library's sort is faster for long lists, and adds some 4 KB
//! to a Worker for each type that it sorts.

use core::cmp::Ordering;

/// Up to so many elements, the shortest loop is the fastest.
const SHORT: usize = 20;

/// Sorts a list. Elements that are equal may change places.
pub(crate) fn sort<T: Ord>(list: &mut [T]) {
    sort_by(list, T::cmp);
}

/// Sorts a list by an order. Elements that are equal may change places.
pub(crate) fn sort_by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let is_less = |list: &[T], a: usize, b: usize| list.get(a).zip(list.get(b)).is_some_and(|(a, b)| compare(a, b) == Ordering::Less);
    let length = list.len();
    if length <= SHORT {
        for end in 1..length {
            let mut place = end;
            while place > 0 && is_less(list, place, place - 1) {
                list.swap(place, place - 1);
                place -= 1;
            }
        }
        return;
    }
    // Heapsort: first the heap is made, from the last parent to the first; then the greatest
    // element goes to the end, again and again.
    for step in (0..length + length / 2).rev() {
        let (mut parent, end) = match step.checked_sub(length) {
            Some(parent) => (parent, length),
            None => {
                list.swap(0, step);
                (0, step)
            }
        };
        loop {
            let mut child = 2 * parent + 1;
            if child + 1 < end && is_less(list, child, child + 1) {
                child += 1;
            }
            if child >= end || !is_less(list, parent, child) {
                break;
            }
            list.swap(parent, child);
            parent = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn sorts_as_the_standard_library_does() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for length in 0..200 {
            for values in [2, 10, 1_000_000] {
                let mut list: Vec<u64> = (0..length)
                    .map(|_| {
                        state ^= state << 13;
                        state ^= state >> 7;
                        state ^= state << 17;
                        state % values
                    })
                    .collect();
                let mut expected = list.clone();
                expected.sort_unstable();
                sort(&mut list);
                assert_eq!(list, expected);
                sort_by(&mut list, |a, b| b.cmp(a));
                expected.reverse();
                assert_eq!(list, expected);
            }
        }
    }
}
