//! A group whose embedded database is on a libSQL server instead.

use std::{fs, path::Path};

use serde_json::json;

use crate::{
    case::{Case, Exchange, Group},
    local::send,
    sqld::Sqld,
};

/// The variable with the server's address.
const VARIABLE: &str = "LIBSQL";

/// The group, and what it needs as long as it runs.
pub struct LibsqlGroup {
    /// The group; its answers are those of the group that it was made of.
    pub group: Group,
    _app: tempfile::TempDir,
    _server: Sqld,
}

impl LibsqlGroup {
    /// Moves a group's database, where an adapter's last setting is a fallback to `d1:DB`: that
    /// says how it is used without files.
    ///
    /// # Panics
    /// Where the server does not come up, or does not take what the database begins with.
    #[must_use]
    pub fn of(group: Group) -> Option<Self> {
        let (file, far) = ["main.yaml", "shop.yaml"].into_iter().find_map(|file| {
            let text = fs::read_to_string(group.app.join("app/adapters").join(file)).ok()?;
            let (_, fallback) = text.split_once("\nfallback:")?;
            let address = format!("\"{{{{ env.{VARIABLE} }}}}\"");
            Some((file, fallback.replace("connector: d1", "connector: libsql").replace("\"d1:DB\"", &address)))
        })?;
        let app = group.install();
        let folder = app.path().join("app/adapters");
        let seed = ["seed.sql", "shop.sql"].map(|file| folder.join(file)).into_iter().find(|file| file.is_file())?;
        let sql = fs::read_to_string(&seed).unwrap_or_else(|error| panic!("{}: {error}", seed.display()));
        fs::remove_file(&seed).and_then(|()| fs::write(folder.join(file), far)).unwrap_or_else(|error| panic!("{error}"));
        // What it says of a Worker is about other bindings and variables.
        drop(fs::remove_file(app.path().join("wrangler.toml")));
        // A test makes databases of SQLite alone, and what it gives another one is a mistake.
        without_tests(&app.path().join("app"));
        let server = Sqld::start(None);
        fill(server.port, &sql);
        let mut env = group.env;
        env.push((VARIABLE.to_owned(), format!("http://127.0.0.1:{}", server.port)));
        Some(Self { group: Group { app: app.path().to_path_buf(), env, ..group }, _app: app, _server: server })
    }

    /// What differs from the expected answers. `host` is where the group ran; only what has nothing
    /// to do with the database may be different there.
    #[must_use]
    pub fn differences(&self, host: &str, answers: Vec<Vec<String>>) -> Vec<String> {
        let check = |(case, answers): (&Case, Vec<String>)| {
            let about_files = case.name == "database-missing-file";
            case.check(if about_files { host } else { "libsql" }, &answers).err()
        };
        self.group.answered(answers).filter_map(check).collect()
    }
}

/// Removes the tests of an app.
fn without_tests(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}")).map_while(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            without_tests(&path);
        } else if path.to_string_lossy().ends_with(".test.yaml") {
            fs::remove_file(&path).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

/// Runs SQL, any number of statements, on a server.
fn fill(port: u16, sql: &str) {
    let body = json!({ "baton": null, "requests": [{ "type": "sequence", "sql": sql }] }).to_string();
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let answer = send(port, &Exchange { method: "POST".to_owned(), path: "/v3/pipeline".to_owned(), headers, body });
    assert!(answer.contains("\"type\":\"ok\""), "{answer}");
}
