//! A group whose database on a PostgreSQL server is reached through the RDS Data API instead.

use std::{fs, path::Path};

use crate::{
    case::{Case, Group},
    postgres::shared_port,
    rds_data,
    scripted::Scripted,
};

/// The group, and what it needs as long as it runs.
pub struct RdsGroup {
    /// The group; its answers are those of the group that it was made of.
    pub group: Group,
    _app: tempfile::TempDir,
    _api: Scripted,
}

impl RdsGroup {
    /// Moves a group's database, where it has one on a PostgreSQL server and every adapter of it is of connector `postgres`.
    ///
    /// # Panics
    /// Where the app cannot be written.
    #[must_use]
    pub fn of(group: Group) -> Option<Self> {
        let url = group.postgres.as_ref()?.url();
        if group.postgrest.is_some() {
            return None;
        }
        let app = group.install();
        move_to_rds_data(app.path());
        let api = rds_data::start(shared_port());
        let mut env = group.env;
        env.extend(variables(&format!("http://{}", api.address), &url));
        Some(Self { group: Group { app: app.path().to_path_buf(), env, ..group }, _app: app, _api: api })
    }

    /// What differs from the expected answers.
    #[must_use]
    pub fn differences(&self, answers: Vec<Vec<String>>) -> Vec<String> {
        let check = |(case, answers): (&Case, Vec<String>)| case.check("rds-data", &answers).err();
        self.group.answered(answers).filter_map(check).collect()
    }
}

/// The variables of an app that was moved, for the API at an address and the database of a URL.
#[must_use]
pub fn variables(address: &str, url: &str) -> Vec<(String, String)> {
    let [secret, database] = rds_data::secret_and_database(url);
    let variables = [
        ("RDS_API", address),
        ("RDS_SECRET", &secret),
        ("SHOWN_RDS_DATABASE", &database),
        ("RDS_KEY_ID", "AKIDEXAMPLE"),
        ("RDS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
    ];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// Rewrites every adapter of an app, whose connector must be `postgres`.
///
/// # Panics
/// Where it is another, or a file cannot be written.
pub fn move_to_rds_data(app: &Path) {
    let folder = app.join("app/adapters");
    let own = "secret_arn: \"{{ env.RDS_SECRET }}\", database: \"{{ env.SHOWN_RDS_DATABASE }}\", endpoint: \"{{ env.RDS_API }}\", \
               access_key_id: \"{{ env.RDS_KEY_ID }}\", secret_access_key: \"{{ env.RDS_KEY }}\"";
    for file in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{error}")).flatten().map(|entry| entry.path()) {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}"));
        let address = "connection_string: \"{{ env.DATABASE_URL }}\"\n";
        assert!(text.contains("connector: postgres\n") && text.contains(address), "{}", file.display());
        let text = text.replace("connector: postgres\n", "connector: rds-data\n");
        let text = text.replace(address, &format!("connection_string: {}\n", rds_data::CLUSTER));
        let text = match text.contains("options: { ") {
            true => text.replace("options: { ", &format!("options: {{ {own}, ")),
            false => format!("{}\noptions: {{ {own} }}\n", text.trim_end()),
        };
        fs::write(&file, text).unwrap_or_else(|error| panic!("{error}"));
    }
}
