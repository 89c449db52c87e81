//! The same folder gives the same bytes and the same words, whatever order its files were made in.

use crate::support::{build, options, split, told, write};
use millrace_bundler::bundle;

#[test]
fn the_order_of_files_changes_nothing() {
    let (files, _) = split(include_str!("good.txt"));
    let mut reversed = files.clone();
    reversed.reverse();
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    write(folders[0].path(), &files);
    write(folders[1].path(), &reversed);
    let reports = folders.each_ref().map(|folder| bundle(folder.path(), &options()));
    assert_eq!(told(&reports[0]), "");
    let bytes = reports.each_ref().map(|report| report.app.as_ref().unwrap().to_bundle().unwrap());
    assert_eq!(bytes[0], bytes[1]);
    assert_eq!(reports[0].origins, reports[1].origins);
    let again = bundle(folders[0].path(), &options());
    assert_eq!(again.app.unwrap().to_bundle().unwrap(), bytes[0]);
    assert_eq!(again.files, reports[0].files);
}

#[test]
fn the_bundle_reads_back() {
    let (files, _) = split(include_str!("good.txt"));
    let app = build(&files).app.unwrap();
    assert_eq!(millrace_core::app::App::from_bundle(&app.to_bundle().unwrap()).unwrap(), app);
}

#[test]
fn diagnostics_are_ordered_and_told_once() {
    let (files, _) = split(include_str!("cases/tool-input-mistakes.txt"));
    let report = build(&files);
    let places: Vec<_> = report.diagnostics.iter().map(|found| (found.file.clone(), found.line, found.column)).collect();
    assert!(places.is_sorted(), "{places:?}");
    let mut once = report.diagnostics.clone();
    once.dedup();
    assert_eq!(once, report.diagnostics);
}

#[test]
fn of_many_tools_each_is_read_once_and_every_mistake_is_told_in_order() {
    let path = |number: usize| format!("app/tools/get-{number:03}/config.yaml");
    let text = |number: usize, is_broken: bool| {
        let key = if is_broken { "statment" } else { "statement" };
        format!("description: Gets row {number}.\nuse: main\n{key}: SELECT {number} AS n\n")
    };
    let adapter = ("app/adapters/main.yaml".to_owned(), "connector: sqlite\nconnection_string: a.db\n".to_owned());
    let root = ("millrace.yaml".to_owned(), "name: many\n".to_owned());
    for broken in [0, 7] {
        let is_broken = |number: usize| broken > 0 && number.is_multiple_of(broken);
        let tools = (0..300).map(|number| (path(number), text(number, is_broken(number))));
        let files: Vec<(String, String)> = [root.clone(), adapter.clone()].into_iter().chain(tools).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let report = build(&files);
        let misspelt = report.diagnostics.iter().filter(|found| found.message.contains("statment"));
        let named: Vec<String> = misspelt.map(|found| found.file.to_string_lossy().into_owned()).collect();
        assert_eq!(named, (0..300).filter(|&number| is_broken(number)).map(path).collect::<Vec<_>>());
        if let Some(app) = &report.app {
            let names: Vec<String> = (0..300).map(|number| format!("get-{number:03}")).collect();
            assert_eq!(app.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>(), names);
        }
        assert_eq!(report.app.is_some(), broken == 0, "{}", told(&report));
        assert_eq!(report.files.iter().filter(|file| file.ends_with("config.yaml")).count(), 300);
    }
}

#[test]
fn every_file_that_was_read_is_watched() {
    let (files, _) = split(include_str!("good.txt"));
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &files);
    let report = bundle(folder.path(), &options());
    for (path, _) in &files {
        assert!(report.files.contains(&folder.path().join(path)), "{path} is not watched");
    }
    for path in ["app/tools", "app/tools/find", "app/adapters", "app/prompts", "app/resources"] {
        assert!(report.files.contains(&folder.path().join(path)), "the folder {path} is not watched");
    }
}
