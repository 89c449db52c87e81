//! Where the code of a script comes from: what a source map says, without names.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// Leads from a place in a script's program to the author's file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptMap {
    /// The files, relative to the app's folder.
    pub files: Vec<String>,
    /// Places of the program, in order.
    pub places: Vec<MappedPlace>,
}

/// A place in a program, and where its code stands in a file. Lines and columns are from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedPlace {
    /// Its line.
    pub line: u32,
    /// Its column, in UTF-16 units.
    pub column: u32,
    /// Index into [`ScriptMap::files`].
    pub file: u32,
    /// The line in the file.
    pub source_line: u32,
    /// The column in the file, in UTF-16 units.
    pub source_column: u32,
}

impl ScriptMap {
    /// The file, the line and the column of a place in the program, lines and columns from 1. It is
    /// the nearest known place at or before it on its line, else the first one of the line: of some
    /// code the engine knows only the line. `None` where the line has none.
    #[must_use]
    pub fn find(&self, line: u32, column: u32) -> Option<(&str, u32, u32)> {
        let wanted = (line.checked_sub(1)?, column.saturating_sub(1));
        let after = self.places.partition_point(|place| (place.line, place.column) <= wanted);
        let on_line = |at: usize| self.places.get(at).filter(|place| place.line == wanted.0);
        let place = after.checked_sub(1).and_then(on_line).or_else(|| on_line(after))?;
        let file = self.files.get(place.file as usize)?;
        Some((file, place.source_line.saturating_add(1), place.source_column.saturating_add(1)))
    }
}

impl ScriptMap {
    /// The map with one place for each line, without those of packages: what a deployed bundle has
    /// room for. It leads to the file and the line.
    #[must_use]
    pub fn of_lines(mut self) -> Self {
        let files = &self.files;
        let is_own = |place: &MappedPlace| files.get(place.file as usize).is_some_and(|file| !file.contains("node_modules/"));
        self.places.retain(is_own);
        self.places.dedup_by_key(|place| place.line);
        self
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn a_deployment_has_the_lines_of_the_authors_own_files() {
        let place = |line, column, file| MappedPlace { line, column, file, source_line: line, source_column: column };
        let files = vec!["node_modules/p/i.js".into(), "a.ts".into()];
        let places = vec![place(0, 0, 0), place(0, 3, 1), place(0, 9, 1), place(1, 0, 0), place(2, 4, 1)];
        let map = ScriptMap { files, places }.of_lines();
        assert_eq!(map.places, [place(0, 3, 1), place(2, 4, 1)]);
    }

    #[test]
    fn the_nearest_place_before_is_found() {
        let place = |line, column, file, source_line, source_column| MappedPlace { line, column, file, source_line, source_column };
        let map = ScriptMap {
            files: vec!["a.ts".into(), "b.ts".into()],
            places: vec![place(0, 10, 0, 4, 2), place(0, 20, 1, 0, 0), place(2, 5, 1, 7, 3), place(3, 0, 9, 0, 0)],
        };
        for (line, column, found) in [
            (1, 11, Some(("a.ts", 5, 3))),
            (1, 20, Some(("a.ts", 5, 3))),
            (1, 21, Some(("b.ts", 1, 1))),
            (1, 9, Some(("a.ts", 5, 3))),
            (2, 40, None),
            (3, 7, Some(("b.ts", 8, 4))),
            (4, 1, None),
            (0, 0, None),
            (u32::MAX, u32::MAX, None),
        ] {
            assert_eq!(map.find(line, column), found, "{line}:{column}");
        }
    }
}
