//! Files that were written by an earlier import, and what becomes of each now.
//!
//! The first line of a file says what it was made of, and has a digest of the rest. While the
//! digest holds, nobody has changed the file, and an import may write it anew. It stands in the
//! file itself: a list beside the files would have to be kept in step with those that are moved,
//! removed and merged.

use std::{collections::BTreeMap, fs, path::Path};

use sha2::{Digest as _, Sha256};

use super::tool::one_line;

/// What the first line begins with.
const MARK: &str = "# millrace import openapi: ";
/// The digits of the digest that are kept.
const DIGITS: usize = 16;
/// The most lines of a text that are compared.
const MAX_LINES: usize = 1_000;

/// What becomes of a file.
pub(super) enum Fate {
    /// It is not there.
    New,
    /// It says the same already.
    Same,
    /// It is as an import wrote it, and the API has changed since.
    Outdated(String),
    /// Its author changed it, and the API has not changed since.
    Own,
    /// Its author changed it, and the API has changed since, or it was never imported.
    Kept(String),
}

/// A text with its first line.
pub(super) fn marked(what: &str, text: &str) -> String {
    format!("{MARK}{} ({})\n{text}", one_line(what), digest(text))
}

/// What becomes of a file that should have this text.
pub(super) fn fate(path: &Path, new: &str) -> Fate {
    let Ok(old) = fs::read_to_string(path) else { return if path.exists() { Fate::Kept(String::new()) } else { Fate::New } };
    if old == new {
        return Fate::Same;
    }
    let (own_mark, own) = parts(&old);
    let (new_mark, text) = parts(new);
    let (known, recent) = (own_mark.and_then(digest_of), new_mark.and_then(digest_of));
    match known {
        Some(known) if known == digest(own) => Fate::Outdated(difference(own, text)),
        Some(known) if recent == Some(known) => Fate::Own,
        _ => Fate::Kept(difference(own, text)),
    }
}

/// The files below a folder that an import wrote, by what they were made of: the path below the
/// folder.
pub(super) fn imported(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(folder, "", &mut found, 0);
    found
}

fn collect(folder: &Path, below: &str, found: &mut BTreeMap<String, String>, level: usize) {
    if level > 8 {
        return;
    }
    for entry in fs::read_dir(folder.join(below)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let kind = entry.file_type();
        if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
            collect(folder, &path, found, level + 1);
        } else if name == "config.yaml"
            && let Ok(text) = fs::read_to_string(entry.path())
            && let Some(mark) = parts(&text).0
        {
            let what = mark.rsplit_once(" (").map_or(mark, |(what, _)| what);
            found.insert(what.to_owned(), path);
        }
    }
}

/// What the first line says, and the rest.
fn parts(text: &str) -> (Option<&str>, &str) {
    match text.strip_prefix(MARK).and_then(|rest| rest.split_once('\n')) {
        Some((mark, rest)) => (Some(mark.trim_end()), rest),
        None => (None, text),
    }
}

fn digest_of(mark: &str) -> Option<&str> {
    mark.rsplit_once(" (")?.1.strip_suffix(')')
}

fn digest(text: &str) -> String {
    // An editor may have changed the ends of the lines.
    let bytes = Sha256::digest(text.replace("\r\n", "\n").as_bytes());
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.chars().take(DIGITS).collect()
}

/// The lines that differ: `-` for those of the file, `+` for those that an import would write.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().take(MAX_LINES).collect(), new.lines().take(MAX_LINES).collect());
    // The longest lists of lines that both have, from each place on.
    let width = new.len() + 1;
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    let at = |longest: &[u32], row: usize, column: usize| longest.get(row * width + column).copied().unwrap_or(0);
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            let value = match old.get(row) == new.get(column) {
                true => at(&longest, row + 1, column + 1) + 1,
                false => at(&longest, row + 1, column).max(at(&longest, row, column + 1)),
            };
            if let Some(cell) = longest.get_mut(row * width + column) {
                *cell = value;
            }
        }
    }
    let (mut row, mut column, mut lines) = (0, 0, Vec::new());
    while let (true, first, second) = (row < old.len() || column < new.len(), old.get(row), new.get(column)) {
        match (first, second) {
            (Some(first), Some(second)) if first == second => (row, column) = (row + 1, column + 1),
            (Some(first), second) if second.is_none() || at(&longest, row + 1, column) >= at(&longest, row, column + 1) => {
                lines.push(format!("    - {first}"));
                row += 1;
            }
            (_, Some(second)) => {
                lines.push(format!("    + {second}"));
                column += 1;
            }
            _ => break,
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_only_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.yaml");
        let (first, second) = (marked("shop GET /a", "a: 1\nb: 2\n"), marked("shop GET /a", "a: 1\nb: 3\nc: 4\n"));
        assert!(matches!(fate(&path, &first), Fate::New));
        fs::write(&path, &first).unwrap();
        assert!(matches!(fate(&path, &first), Fate::Same));
        assert!(matches!(fate(&path, &second), Fate::Outdated(shown) if shown == "    - b: 2\n    + b: 3\n    + c: 4"));
        fs::write(&path, first.replace('\n', "\r\n")).unwrap();
        assert!(matches!(fate(&path, &second), Fate::Outdated(_)));
        fs::write(&path, first.clone() + "d: 5\n").unwrap();
        assert!(matches!(fate(&path, &first), Fate::Own));
        assert!(matches!(fate(&path, &second), Fate::Kept(shown) if shown.contains("- d: 5") && shown.contains("+ c: 4")));
        fs::write(&path, "a: 1\n").unwrap();
        assert!(matches!(fate(&path, &first), Fate::Kept(shown) if shown == "    + b: 2"));
        assert_eq!(imported(folder.path()).len(), 0);
        fs::write(&path, &first).unwrap();
        assert_eq!(imported(folder.path()).get("shop GET /a").map(String::as_str), Some("config.yaml"));
    }
}
