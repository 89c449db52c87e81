//! `millrace test --watch`: a change is seen, and only what it concerns runs again.

use std::{
    io::{BufRead as _, BufReader, Lines},
    process::{Child, ChildStdout, Command, Stdio},
};

use super::*;

/// The command that watches an app; ends with the value.
struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(app: &Path) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" test \"$1\" --watch 2>&1"]).arg(binary()).arg(app).env_remove("CI").stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// What is said until it waits.
    fn round(&mut self) -> String {
        let said: Vec<String> = self.lines.by_ref().map(Result::unwrap).take_while(|line| !line.contains("waiting for a change")).collect();
        assert!(!said.is_empty());
        said.join("\n")
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_change_runs_the_tests_that_it_concerns() {
    let get = "tests:\n  - { name: first, inputs: { id: 1 }, expect: { content: { contains: first } } }\n  \
               - { name: second, inputs: { id: 2 }, expect: { content: { contains: second } } }\n";
    let put = "tests: [{ name: put, inputs: { id: 3, text: x }, expect: { result: { isError: false } } }]\n";
    let folder = notes(&[("app/tools/get/get.test.yaml", get), ("app/tools/put/put.test.yaml", put)]);
    let mut watching = Watching::start(folder.path());
    let first = watching.round();
    assert!(first.contains("3 tests: 3 passed"), "{first}");
    // A tool: its own tests.
    write(folder.path(), "app/tools/get/config.yaml", &NOTES[3].1.replace("WHERE id =", "WHERE 1 + id ="));
    let red = watching.round();
    assert!(red.contains("2 tests of `notes` ran again") && red.contains("3 tests: 1 passed, 2 failed"), "{red}");
    // What failed runs again, whatever changed.
    write(folder.path(), "app/tools/put/put.test.yaml", &put.replace("id: 3", "id: 4"));
    let still = watching.round();
    assert!(still.contains("3 tests: 1 passed, 2 failed"), "{still}");
    write(folder.path(), "app/tools/get/config.yaml", NOTES[3].1);
    let green = watching.round();
    assert!(green.contains("2 tests of `notes` ran again") && green.contains("3 tests: 3 passed"), "{green}");
    // A file of tests: those that changed.
    write(
        folder.path(),
        "app/tools/get/get.test.yaml",
        &get.replace("id: 2 }, expect: { content: { contains: second", "id: 1 }, expect: { content: { contains: first"),
    );
    let one = watching.round();
    assert!(one.contains("1 test of `notes` ran again") && one.contains("3 tests: 3 passed"), "{one}");
    // The database that all of them have: all.
    write(folder.path(), "app/adapters/notes.sql", &NOTES[2].1.replace("'first'", "'1st'"));
    let all = watching.round();
    assert!(!all.contains("ran again") && all.contains("3 tests: 1 passed, 2 failed"), "{all}");
}
