//! A group whose database on a Redis server is reached through Upstash's REST API instead.

use std::{fs, path::Path};

use crate::{
    case::{Case, Group},
    redis::shared_port,
    scripted::Scripted,
    upstash,
};

/// The variable with the API's address.
const VARIABLE: &str = "REST_URL";
/// The variable with the token.
const TOKEN: (&str, &str) = ("REST_TOKEN", "t.o.k-hunter2");

/// The group, and what it needs as long as it runs.
pub struct UpstashGroup {
    /// The group; its answers are those of the group that it was made of.
    pub group: Group,
    _app: tempfile::TempDir,
    _api: Scripted,
}

impl UpstashGroup {
    /// Moves a group's database, where it has one on a Redis server.
    ///
    /// # Panics
    /// Where the app cannot be written.
    #[must_use]
    pub fn of(group: Group) -> Option<Self> {
        let number = group.redis.as_ref()?.number();
        let app = group.install();
        move_to_upstash(app.path());
        let api = upstash::start_on(shared_port(), number, TOKEN.1);
        let mut env = group.env;
        env.extend(
            [(VARIABLE, format!("http://{}", api.address)), (TOKEN.0, TOKEN.1.to_owned())].map(|(name, value)| (name.to_owned(), value)),
        );
        Some(Self { group: Group { app: app.path().to_path_buf(), env, ..group }, _app: app, _api: api })
    }

    /// What differs from the expected answers.
    #[must_use]
    pub fn differences(&self, answers: Vec<Vec<String>>) -> Vec<String> {
        let check = |(case, answers): (&Case, Vec<String>)| case.check("upstash", &answers).err();
        self.group.answered(answers).filter_map(check).collect()
    }
}

/// Rewrites every adapter of an app, whose connector must be `redis`.
fn move_to_upstash(app: &Path) {
    let folder = app.join("app/adapters");
    for file in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{error}")).flatten().map(|entry| entry.path()) {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}"));
        for part in ["connector: redis\n", "{{ env.DATABASE_URL }}", "options: { "] {
            assert!(text.contains(part), "{} has no `{part}`", file.display());
        }
        let text = text
            .replace("connector: redis\n", "connector: upstash\n")
            .replace("{{ env.DATABASE_URL }}", &format!("{{{{ env.{VARIABLE} }}}}"))
            .replace("options: { ", &format!("options: {{ token: \"{{{{ env.{} }}}}\", ", TOKEN.0));
        fs::write(&file, text).unwrap_or_else(|error| panic!("{error}"));
    }
}
