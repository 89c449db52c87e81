//! The names of tools: which tool has one, and how an unknown one is repeated.

use alloc::borrow::Cow;
use core::hash::BuildHasher as _;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::{app::Tool, hidden::repeated};

/// The most characters of an unknown name that are repeated.
const SHOWN_CHARACTERS: usize = 64;

/// The tools by name. Built once from a trusted bundle: no caller can add a name, so a fast hash
/// does.
pub(in crate::pipeline) struct Names(HashTable<u32>);

impl Names {
    pub(in crate::pipeline) fn of(tools: &[Tool]) -> Self {
        let hash = |index: &u32| tools.get(*index as usize).map_or(0, |tool| hash(&tool.name));
        let mut table = HashTable::with_capacity(tools.len());
        for index in (0..tools.len()).filter_map(|index| u32::try_from(index).ok()) {
            table.insert_unique(hash(&index), index, hash);
        }
        Self(table)
    }

    /// The tool of a name, and its place.
    pub(in crate::pipeline) fn find<'a>(&self, tools: &'a [Tool], name: &str) -> Option<(usize, &'a Tool)> {
        let named = |index: &u32| tools.get(*index as usize).is_some_and(|tool| tool.name == name);
        let place = *self.0.find(hash(name), named)? as usize;
        Some((place, tools.get(place)?))
    }
}

/// A name as it may be repeated to its sender and to a log: cut, and without control characters,
/// hidden ones and mark-up.
pub(in crate::pipeline) fn shown(name: &str) -> Cow<'_, str> {
    repeated(name, SHOWN_CHARACTERS)
}

fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_names() {
        for (name, expected) in [("get-user", "get-user"), ("a\n\u{7}b", "a\u{fffd}\u{fffd}b"), ("<b>", "\\u003cb\\u003e"), ("", "")] {
            assert_eq!(shown(name), expected);
        }
        let long = "ä".repeat(10_000);
        assert_eq!(shown(&long).chars().count(), SHOWN_CHARACTERS + 1);
        assert_eq!(shown(&"ä".repeat(SHOWN_CHARACTERS)), "ä".repeat(SHOWN_CHARACTERS));
    }
}
