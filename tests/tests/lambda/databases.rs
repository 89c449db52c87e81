//! SQLite on Lambda: files that are packed, and files that are written.

use std::fs;

use millrace_tests::lambda::{self, Front, Function};

use super::{app, call};

#[test]
fn a_packed_database_is_read_where_it_lies_and_written_in_a_copy() {
    let folder = app(&[
        ("millrace.yaml", "name: notes\n"),
        ("app/adapters/kept.yaml", "connector: sqlite\nconnection_string: data/kept.db\noptions: { seed: ./kept.sql, read_only: true }\n"),
        ("app/adapters/kept.sql", "CREATE TABLE n (t TEXT); INSERT INTO n VALUES ('packed');"),
        ("app/adapters/notes.yaml", "connector: sqlite\nconnection_string: notes.db\noptions: { seed: ./notes.sql }\n"),
        ("app/adapters/notes.sql", "CREATE TABLE n (t TEXT);"),
        ("app/tools/kept/config.yaml", "description: Reads\nuse: kept\nstatement: SELECT t FROM n\n"),
        ("app/tools/count/config.yaml", "description: Reads\nuse: notes\nstatement: SELECT count(*) AS c FROM n\n"),
        ("app/tools/add/config.yaml", "description: Writes\nuse: notes\nstatement: INSERT INTO n VALUES ('new')\n"),
    ]);
    let package = lambda::build(folder.path());
    let files = ["data/data/kept.db", "data/notes.db"].map(|file| package.join(file));
    let before = files.each_ref().map(|file| fs::read(file).unwrap());
    let function = Function::start(&package, &[]);
    let ask = |tool: &str| function.send(Front::Url, &call(tool, "{}"));
    assert!(ask("kept").contains("packed"));
    assert!(ask("add").contains("affected_rows"));
    assert!(ask("add").contains("affected_rows"));
    assert!(ask("count").contains("{\\\"c\\\":2}"), "{}", ask("count"));
    assert_eq!(files.each_ref().map(|file| fs::read(file).unwrap()), before);
    // Another environment has a copy of its own.
    let other = Function::start(&package, &[]);
    assert!(other.send(Front::Url, &call("count", "{}")).contains("{\\\"c\\\":0}"));
}
