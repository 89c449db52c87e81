//! What the bundler tells an editor: of broken files, of places, of texts that are not written yet.

#![allow(clippy::unwrap_used, reason = "a test that cannot write its files fails")]

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use millrace_bundler::{
    Texts,
    editor::{AppIndex, OpenFile, analyse},
};

use crate::support::{options, split, write};

const APP: &str = "== millrace.yaml
name: shop
== app/adapters/main.yaml
connector: sqlite
connection_string: sqlite:shop.db
== app/adapters/other.yaml
connector: libsql
connection_string: libsql://x.example.com
== app/tools/list/config.yaml
description: Orders.
use: main
statement: SELECT id FROM orders WHERE id = {{ inputs.id }}
inputs:
  id: { type: int }
== app/tools/list/list.test.yaml
tests:
  - name: one
    inputs: { id: 1 }
    expect: { error: { code: X } }
";

const TOOL: &str = "app/tools/list/config.yaml";

fn index(folder: &Path, texts: &[(&str, &str)], previous: Option<&AppIndex>) -> (usize, AppIndex) {
    let texts: BTreeMap<String, _> = texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).into())).collect();
    let (report, index) = analyse(folder, &options(), None, &Texts::new(texts), previous, &Arc::default());
    (report.diagnostics.len(), index)
}

fn app() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &split(APP).0);
    folder
}

fn labels(index: &AppIndex, path: &str, text: &str) -> Vec<String> {
    let offset = text.find('§').unwrap();
    let text = text.replace('§', "");
    index.completions(OpenFile { path, text: &text }, offset).items.into_iter().map(|item| item.label).collect()
}

#[test]
fn texts_stand_in_place_of_files() {
    let folder = app();
    let (good, _) = index(folder.path(), &[], None);
    let (bad, _) = index(folder.path(), &[(TOOL, "description: Orders.\nuse: mian\n")], None);
    assert!(bad > good, "{bad} {good}");
    let (_, with_new) = index(folder.path(), &[("app/adapters/new.yaml", "connector: sqlite\nconnection_string: sqlite:x\n")], None);
    assert_eq!(labels(&with_new, TOOL, "use: §\n"), ["main", "new", "other"], "a file that is not written yet");
}

#[test]
fn what_cannot_be_read_is_what_it_was() {
    let folder = app();
    let (_, before) = index(folder.path(), &[], None);
    let broken = [("app/adapters/main.yaml", "connector: [\n"), ("millrace.yaml", "name: [\n")];
    let (_, after) = index(folder.path(), &broken, Some(&before));
    assert_eq!(labels(&after, TOOL, "use: §\n"), ["main", "other"]);
    let (_, without) = index(folder.path(), &broken, None);
    assert_eq!(labels(&without, TOOL, "use: §\n"), ["other"], "or else nothing is kept");
    std::fs::remove_file(folder.path().join("app/adapters/main.yaml")).unwrap();
    let (_, gone) = index(folder.path(), &[], Some(&before));
    assert_eq!(labels(&gone, TOOL, "use: §\n"), ["other"], "what is not there any more is forgotten");
}

/// Wherever a cursor is, and whatever was cut off, there is an answer, and it fits the text.
#[test]
fn every_cursor_has_an_answer() {
    let folder = app();
    let (_, index) = index(folder.path(), &[], None);
    let whole = "description: \"Örders 😀\"\r\nuse: main\nstatement: |\n  SELECT 'é' FROM t WHERE id = {{ inputs.id }}\ninputs:\n  id: { type: int, enum: [1, 2] }\nerrors:\n  on:\n    - when: inputs.id > 1 and len(results) == 0\n      code: X\n      message: 'No {{ inputs.id }}.'\nreturns:\n  schema: { id: { type: int } }\n";
    let texts = Texts::default();
    let boundaries = || (0..=whole.len()).filter(|at| whole.is_char_boundary(*at));
    for at in boundaries() {
        for text in [whole, &whole[..at]] {
            let file = OpenFile { path: TOOL, text };
            for item in index.completions(file, at).items {
                assert!(text.get(item.replace.clone()).is_some() && item.replace.start <= at && at <= item.replace.end, "{at} {item:?}");
            }
            if let Some(hover) = index.hover(file, at) {
                assert!(text.get(hover.range.clone()).is_some(), "{at} {hover:?}");
            }
            let _ = index.definition(&texts, file, at);
            for edit in index.rename(&texts, file, at, Some("key")).unwrap_or_default() {
                assert!(edit.place.start <= edit.place.end, "{at} {edit:?}");
            }
            let _ = index.references(&texts, file, at);
        }
        let _ = index.symbols(OpenFile { path: TOOL, text: &whole[..at] });
    }
}

/// The keys that are completed are those that the bundler takes.
#[test]
fn what_is_completed_is_a_key() {
    let folder = app();
    let (_, index) = index(folder.path(), &[], None);
    let files = [
        ("millrace.yaml", "§"),
        (TOOL, "§"),
        ("app/tools/_folder.yaml", "§"),
        ("app/adapters/x.yaml", "§"),
        ("app/presenters/x.yaml", "§"),
        ("app/prompts/x.yaml", "§"),
        ("app/resources/x/config.yaml", "§"),
        ("app/skills/x/config.yaml", "§"),
        ("app/tools/list/x.test.yaml", "§"),
        (TOOL, "inputs:\n  a: { § }\n"),
        (TOOL, "auth:\n  plugin: jwt\n  policy:\n    §\n"),
        ("app/tools/list/x.test.yaml", "tests:\n  - name: a\n    expect:\n      §\n"),
    ];
    for (path, text) in files {
        let keys = labels(&index, path, text);
        assert!(!keys.is_empty(), "{path} {text}");
        for key in keys {
            let text = text.replace('§', &format!("{key}: 1"));
            let (report, _) = analyse(
                folder.path(),
                &options(),
                None,
                &Texts::new([(path.to_owned(), text.as_str().into())].into()),
                None,
                &Arc::default(),
            );
            let unknown = report.diagnostics.iter().find(|found| found.message.contains("is not a key of"));
            assert!(unknown.is_none(), "{path}: {key}: {unknown:?}");
        }
    }
}

#[test]
fn nobody_waits_for_what_was_stopped() {
    let folder = app();
    let stop = Arc::new(AtomicBool::new(true));
    let (_, stopped) = analyse(folder.path(), &options(), None, &Texts::default(), None, &stop);
    let (_, whole) = index(folder.path(), &[], None);
    assert!(stopped.file_count() < whole.file_count(), "no tool was read: {} of {}", stopped.file_count(), whole.file_count());
}
