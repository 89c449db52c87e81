//! The text that the script engine makes of a stack: a line for each call, the innermost first.
//!
//! | line | what it tells |
//! |---|---|
//! | `    at name (path:line:column)` | a call in a program |
//! | `    at path:line:column` | where a program is not one: a syntax error |
//! | `    at name (native)` | a function of the engine |
//!
//! Lines and columns are from 1; the engine counts columns in bytes. A script can write such a text
//! itself, so a line may say anything.

use super::Script;

/// A call of a stack that stands in a file of the author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptCall<'s> {
    /// The function, where it has a name.
    pub function: Option<&'s str>,
    /// The file, relative to the app's folder.
    pub file: &'s str,
    /// The line in it, from 1.
    pub line: u32,
    /// The column in it, from 1, in UTF-16 units.
    pub column: u32,
}

impl Script {
    /// The calls of a stack that stand in this script, the innermost first. Those of the engine and
    /// of other scripts are left out, and those that the map does not know.
    pub fn calls<'s>(&'s self, stack: &'s str) -> impl Iterator<Item = ScriptCall<'s>> + 's {
        stack.lines().filter_map(|line| self.call(line))
    }

    fn call<'s>(&'s self, text: &'s str) -> Option<ScriptCall<'s>> {
        let text = text.trim().strip_prefix("at ")?;
        let (text, is_named) = text.strip_suffix(')').map_or((text, false), |text| (text, true));
        let (text, column) = text.rsplit_once(':')?;
        let (text, line) = text.rsplit_once(':')?;
        let before = text.strip_suffix(self.path.as_str())?;
        let function = if is_named { before.strip_suffix('(')?.trim() } else { before };
        // Without a bracket there is no name either.
        if !is_named && !function.is_empty() {
            return None;
        }
        let (line, column) = (line.parse().ok()?, column.parse().ok()?);
        let column = self.utf16_column(line, column);
        let (file, line, column) = match &self.map {
            Some(map) => map.find(line, column)?,
            None => (self.path.as_str(), line, column),
        };
        // `<anonymous>`, `<eval>`
        let function = Some(function).filter(|name| !name.is_empty() && !name.starts_with('<'));
        Some(ScriptCall { function, file, line, column })
    }

    /// A column of the program in UTF-16 units, of one in bytes. Both from 1.
    fn utf16_column(&self, line: u32, column: u32) -> u32 {
        let text = (line as usize).checked_sub(1).and_then(|line| self.program.split('\n').nth(line)).unwrap_or_default();
        let before = (column as usize).saturating_sub(1);
        let shorter: usize =
            text.char_indices().take_while(|(at, _)| *at < before).map(|(_, character)| character.len_utf8() - character.len_utf16()).sum();
        column.saturating_sub(u32::try_from(shorter).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString as _, vec, vec::Vec};

    use super::*;
    use crate::app::{MappedPlace, ScriptMap};

    #[test]
    fn the_lines_of_the_engine_are_read() {
        let script = Script {
            path: "app/a (1).ts".into(),
            program: "(function (h) {\n  const é = \"é😀\"; f();\n})".into(),
            map: None,
            loads_without_clock: false,
        };
        let table = [
            ("    at f (app/a (1).ts:1:16)", Some((Some("f"), 1, 16))),
            ("    at <anonymous> (app/a (1).ts:3:1)", Some((None, 3, 1))),
            ("    at <eval> (app/a (1).ts:3:1)", Some((None, 3, 1))),
            ("    at get q (x:1:2) (app/a (1).ts:2:3)", Some((Some("get q (x:1:2)"), 2, 3))),
            ("    at app/a (1).ts:2:9", Some((None, 2, 9))),
            // `f` stands behind 19 units that are 23 bytes.
            ("    at f (app/a (1).ts:2:24)", Some((Some("f"), 2, 20))),
            ("    at f (app/a (1).ts:9:25)", Some((Some("f"), 9, 25))),
            ("    at map (native)", None),
            ("    at enter (<prelude>:1:109)", None),
            ("    at <anonymous> (<input>:3:8)", None),
            ("    at f (app/b.ts:1:1)", None),
            ("    at f app/a (1).ts:1:1", None),
            ("    at f (app/a (1).ts:-1:1)", None),
            ("    at f (app/a (1).ts:1:99999999999)", None),
            ("TypeError: x", None),
            ("at ", None),
            ("", None),
        ];
        for (line, expected) in table {
            let found: Vec<_> = script.calls(line).map(|call| (call.function, call.line, call.column)).collect();
            assert_eq!(found.first().copied(), expected, "{line}");
        }
    }

    #[test]
    fn calls_stand_in_the_authors_files() {
        let place = |line, column, file, source_line, source_column| MappedPlace { line, column, file, source_line, source_column };
        let map = ScriptMap {
            files: vec!["lib.ts".to_string(), "a.ts".to_string()],
            places: vec![place(0, 30, 0, 4, 2), place(1, 2, 1, 8, 0), place(1, 15, 1, 8, 20)],
        };
        let script =
            Script { path: "a.ts".into(), program: "(function (h) {\n \"é\"; f(); })".into(), map: Some(map), loads_without_clock: false };
        let stack = "    at f (a.ts:1:40)\n    at map (native)\n    at <anonymous> (a.ts:2:1)\n    at <anonymous> (a.ts:0:1)\n    at g (a.ts:7:1)\n";
        let found: Vec<_> = script.calls(stack).collect();
        let call = |function, file, line, column| ScriptCall { function, file, line, column };
        assert_eq!(found, [call(Some("f"), "lib.ts", 5, 3), call(None, "a.ts", 9, 1)]);
    }
}
