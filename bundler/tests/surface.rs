//! The surface of the sample app, and what each small change of it means for callers.

#![allow(clippy::unwrap_used, reason = "a test that cannot copy its app fails")]

use std::{collections::BTreeSet, fs, path::Path};

use millrace_bundler::{ChangeClass, LOCK_FILE, Lock, Report, Surface, SurfacePlaces, bundle, changes, render};
use millrace_test_kit::files::write;

use crate::support::options;

/// The changes, each with its class.
const TABLE: &str = include_str!("surface.txt");
/// At least so many are classed.
const FEWEST: usize = 250;
/// One in so many is made, unless `MILLRACE_TESTS` is `all`: each is a build of the app.
const STEP: usize = 9;

/// Without tests: one of a prompt that is renamed would have to be renamed with it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let is_test = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().ends_with(".test.yaml");
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| !is_test(entry)) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() { copy(&entry.path(), &target) } else { assert!(fs::copy(entry.path(), target).is_ok()) }
    }
}

/// The sample app, in a folder of its own. Its database is not needed.
fn sample() -> tempfile::TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = tempfile::tempdir().unwrap();
    copy(&root.join("app"), &folder.path().join("app"));
    fs::copy(root.join("millrace.yaml"), folder.path().join("millrace.yaml")).unwrap();
    folder
}

fn compiled(folder: &Path) -> Result<(Surface, Report), String> {
    let report = bundle(folder, &options());
    match &report.app {
        Some(app) => Ok((Surface::of(app), report)),
        None => Err(render(folder, &report.diagnostics, false)),
    }
}

fn unescaped(text: &str) -> String {
    let mut characters = text.chars();
    let mut plain = String::new();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                other => other.unwrap(),
            },
            other => other,
        });
    }
    plain
}

/// What is wrong with one row, if anything.
fn judge(folder: &Path, before: &Surface, file: &str, row: &str) -> Option<String> {
    let [class, old, new] = row.splitn(3, '\t').collect::<Vec<_>>().try_into().unwrap();
    let (old, new) = (unescaped(old), unescaped(new));
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text.is_empty(), old.is_empty(), "{file}: {row}");
    assert!(old.is_empty() || text.matches(&old).count() == 1, "{file}: {row}");
    write(folder, file, &if old.is_empty() { new } else { text.replacen(&old, &new, 1) });
    let outcome = compiled(folder);
    if text.is_empty() {
        fs::remove_file(&path).unwrap()
    } else {
        write(folder, file, &text)
    }
    let (after, report) = match outcome {
        Ok(compiled) => compiled,
        Err(why) => return Some(format!("{file}: {row}\n  does not compile: {why}")),
    };
    let found = changes(before, &after);
    let worst = found.iter().map(|change| change.class).max().map_or("none", ChangeClass::as_str);
    let mut places = SurfacePlaces::new(folder, &report);
    let said: Vec<String> = found.iter().map(|change| format!("{}: {}: {change}", places.of(change), change.class.as_str())).collect();
    let has_place = found.iter().all(|change| places.of(change).split(':').nth(1).is_some_and(|line| line.parse::<usize>().is_ok()));
    (worst != class || !has_place).then(|| format!("{file}: {row}\n  is {worst}\n  {}", said.join("\n  ")))
}

#[test]
fn each_change_of_the_sample_has_its_class() {
    let folder = sample();
    let (before, _) = compiled(folder.path()).unwrap();
    assert_eq!(changes(&before, &before), []);
    let step = if std::env::var("MILLRACE_TESTS").is_ok_and(|tests| tests == "all") { 1 } else { STEP };
    let (mut rows, mut classes, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for section in TABLE.split("\n== ").skip(1) {
        let (file, changes) = section.split_once('\n').unwrap();
        for row in changes.lines().filter(|line| !line.is_empty()) {
            rows += 1;
            classes.extend(row.split('\t').next());
            if rows % step == 0 {
                wrong.extend(judge(folder.path(), &before, file, row));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {rows}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(rows >= FEWEST && classes.len() == 4, "{rows} {classes:?}");
}

#[test]
fn a_surface_is_the_same_after_the_lock_file() {
    let folder = sample();
    let (surface, _) = compiled(folder.path()).unwrap();
    let lock = Lock::accepting(None, surface.clone());
    let read = Lock::parse(&lock.text()).unwrap();
    assert_eq!(read.text(), lock.text());
    assert_eq!(changes(&surface, read.surface.as_ref().unwrap()), []);
    // The file of the version before has no surface, and is read.
    let earlier = Lock::parse(r#"{"version": 1, "tools": {}}"#).unwrap();
    assert_eq!((earlier.surface.as_ref(), earlier.text().contains("surface")), (None, false));
    // The build is the same with the file and without.
    let bytes = |folder: &Path| compiled(folder).unwrap().1.app.unwrap().to_bundle().unwrap();
    let without = bytes(folder.path());
    write(folder.path(), LOCK_FILE, &lock.text());
    assert_eq!(bytes(folder.path()), without);
}

#[test]
fn no_key_is_in_a_surface() {
    let folder = sample();
    let path = "app/tools/staff/_folder.yaml";
    let text = fs::read_to_string(folder.path().join(path)).unwrap();
    write(folder.path(), path, &text.replace("{{ env.SHOP_CLERK_KEY }}", "written-out-7319"));
    let (surface, _) = compiled(folder.path()).unwrap();
    assert!(!Lock::accepting(None, surface).text().contains("written-out-7319"));
}
