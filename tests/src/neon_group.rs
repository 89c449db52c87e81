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

/// The group whose tools take results of earlier statements: the API carries out a batch, and connector `neon` has no `transaction`.
const TRANSACTIONS: &str = "postgres-transactions";

impl NeonGroup {
    /// Moves a group's database, where it has one on a PostgreSQL server and every adapter of it is of connector `postgres`. `None` also for the group of transactions, which connector `neon` does not have.
    ///
    /// # Panics
    /// Where the app cannot be written.
    #[must_use]
    pub fn of(group: Group) -> Option<Self> {
        group.postgres.as_ref()?;
        if group.name == TRANSACTIONS || group.postgrest.is_some() {
            return None;
        }
        let app = group.install();
        move_to_neon(app.path());
        let api = neon::start(shared_port());
        let mut env = group.env;
        env.push((VARIABLE.to_owned(), format!("http://{}", api.address)));
        Some(Self { group: Group { app: app.path().to_path_buf(), env, ..group }, _app: app, _api: api })
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
