//! A group whose database on a PostgreSQL server is reached through Neon's API instead.

use std::{fs, path::Path};

use crate::{
    case::{Case, Group},
    neon,
    postgres::shared_port,
    scripted::Scripted,
};

/// The variable with the API's address.
pub const VARIABLE: &str = "NEON_API";

/// The group, and what it needs as long as it runs.
pub struct NeonGroup {
    /// The group; its answers are those of the group that it was made of.
    pub group: Group,
    _app: tempfile::TempDir,
    _api: Scripted,
}

impl NeonGroup {
    /// Moves a group's database, where it has one on a PostgreSQL server and every adapter of it is of connector `postgres`. The tools whose steps take
    /// results of earlier ones, which the build refuses, are left out, and so are the cases that say so.
    ///
    /// # Panics
    /// Where the app cannot be written.
    #[must_use]
    pub fn of(group: Group) -> Option<Self> {
        group.postgres.as_ref()?;
        if group.postgrest.is_some() {
            return None;
        }
        let app = group.install();
        move_to_neon(app.path());
        remove_stepwise(app.path());
        let api = neon::start(shared_port());
        let mut env = group.env;
        env.push((VARIABLE.to_owned(), format!("http://{}", api.address)));
        let cases = group.cases.into_iter().filter(|case| case.runs_on("neon")).collect();
        Some(Self { group: Group { app: app.path().to_path_buf(), env, cases, ..group }, _app: app, _api: api })
    }

    /// What differs from the expected answers.
    #[must_use]
    pub fn differences(&self, answers: Vec<Vec<String>>) -> Vec<String> {
        let check = |(case, answers): (&Case, Vec<String>)| case.check("neon", &answers).err();
        self.group.answered(answers).filter_map(check).collect()
    }
}

/// Rewrites every adapter of an app, whose connector must be `postgres`.
///
/// # Panics
/// Where it is another, or a file cannot be written.
pub fn move_to_neon(app: &Path) {
    let folder = app.join("app/adapters");
    for file in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{error}")).flatten().map(|entry| entry.path()) {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}"));
        assert!(text.contains("connector: postgres\n"), "{}", file.display());
        let base_url = format!("base_url: \"{{{{ env.{VARIABLE} }}}}\"");
        let text = text.replace("connector: postgres\n", "connector: neon\n");
        let text = match text.contains("options: { ") {
            true => text.replace("options: { ", &format!("options: {{ {base_url}, ")),
            false => format!("{}\noptions: {{ {base_url} }}\n", text.trim_end()),
        };
        fs::write(&file, text).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Removes the tools of an app whose steps take results of earlier ones.
fn remove_stepwise(app: &Path) {
    for tool in fs::read_dir(app.join("app/tools")).unwrap_or_else(|error| panic!("{error}")).flatten().map(|entry| entry.path()) {
        if fs::read_to_string(tool.join("config.yaml")).is_ok_and(|text| text.contains("{{ steps.")) {
            fs::remove_dir_all(tool).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
