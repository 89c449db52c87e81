//! A group whose database on a MariaDB server is reached through PlanetScale's API instead.

use std::{fs, path::Path};

use crate::{
    case::{Case, Group},
    mysql, planetscale,
    scripted::Scripted,
};

/// The group, and what it needs as long as it runs.
pub struct PlanetscaleGroup {
    /// The group; its answers are those of the group that it was made of.
    pub group: Group,
    _app: tempfile::TempDir,
    _api: Scripted,
}

/// The variable with the database's address, in the apps of the groups.
const VARIABLE: &str = "DATABASE_URL";

impl PlanetscaleGroup {
    /// Moves a group's database, where it has one on a MariaDB server and every adapter of it is of connector `mysql`.
    ///
    /// # Panics
    /// Where the app cannot be written.
    #[must_use]
    pub fn of(group: Group) -> Option<Self> {
        let name = group.mysql.as_ref()?.name().to_owned();
        let app = group.install();
        move_to_planetscale(app.path());
        let api = planetscale::start(mysql::shared_port(), &name);
        let mut env = group.env;
        env.retain(|(variable, _)| variable != VARIABLE);
        env.push((VARIABLE.to_owned(), planetscale::url(&api)));
        Some(Self { group: Group { app: app.path().to_path_buf(), env, ..group }, _app: app, _api: api })
    }

    /// What differs from the expected answers.
    #[must_use]
    pub fn differences(&self, answers: Vec<Vec<String>>) -> Vec<String> {
        // A refusal names its connector.
        let named = |answer: String| answer.replace("connector `planetscale`", "connector `mysql`");
        let check =
            |(case, answers): (&Case, Vec<String>)| case.check("planetscale", &answers.into_iter().map(named).collect::<Vec<_>>()).err();
        self.group.answered(answers).filter_map(check).collect()
    }
}

/// Rewrites every adapter of an app, whose connector must be `mysql`.
///
/// # Panics
/// Where it is another, or a file cannot be written.
pub fn move_to_planetscale(app: &Path) {
    let folder = app.join("app/adapters");
    for file in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{error}")).flatten().map(|entry| entry.path()) {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}"));
        assert!(text.contains("connector: mysql\n"), "{}", file.display());
        fs::write(&file, text.replace("connector: mysql\n", "connector: planetscale\n")).unwrap_or_else(|error| panic!("{error}"));
    }
}
