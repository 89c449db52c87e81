//! A group whose database is reached through the HTTP API of somebody who sells such databases,
//! instead of the server's own protocol.

use std::{fs, path::Path};

use crate::{
    case::{Case, Group},
    mysql, neon, planetscale, postgres, rds_data, redis,
    scripted::Scripted,
    upstash,
};

/// The variable with the address of an API.
pub const API: &str = "FAR_API";
/// The variable with the database's address, in the apps of the groups.
const DATABASE: &str = "DATABASE_URL";
/// The token of Upstash's API.
const TOKEN: (&str, &str) = ("FAR_TOKEN", "t.o.k-hunter2");
/// The credentials for AWS.
const AWS: [(&str, &str); 2] = [("RDS_KEY_ID", "AKIDEXAMPLE"), ("RDS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")];

/// A connector that takes the place of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    /// `neon` for `postgres`.
    Neon,
    /// `planetscale` for `mysql`.
    Planetscale,
    /// `rds-data` for `postgres`.
    RdsData,
    /// `upstash` for `redis`.
    Upstash,
}

/// The group, and what it needs as long as it runs.
pub struct FarGroup {
    /// The group; its answers are those of the group that it was made of.
    pub group: Group,
    far: Far,
    _app: tempfile::TempDir,
    _api: Scripted,
}

impl Far {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Neon, Self::Planetscale, Self::RdsData, Self::Upstash];

    /// The connector's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Neon => "neon",
            Self::Planetscale => "planetscale",
            Self::RdsData => "rds-data",
            Self::Upstash => "upstash",
        }
    }

    /// How many cases of the corpus it has at least.
    #[must_use]
    pub fn least(self) -> usize {
        match self {
            Self::Neon => 12,
            Self::Planetscale => 14,
            Self::RdsData => 12,
            Self::Upstash => 11,
        }
    }

    /// Moves a group's database, where it has one on a server whose connector this one takes the
    /// place of, and every adapter of it is of that connector. Tools whose steps take results of
    /// earlier ones are left out where the build refuses them, and so are the cases that say so.
    ///
    /// # Panics
    /// Where the app cannot be written.
    #[must_use]
    pub fn group(self, group: Group) -> Option<FarGroup> {
        let is_postgres = group.postgres.is_some() && group.postgrest.is_none();
        let is_there = match self {
            Self::Neon | Self::RdsData => is_postgres,
            Self::Planetscale => group.mysql.is_some(),
            Self::Upstash => group.redis.is_some(),
        };
        if !is_there {
            return None;
        }
        let app = group.install();
        self.rewrite(app.path());
        if self == Self::Neon {
            remove_stepwise(app.path());
        }
        let api = match self {
            Self::Neon => neon::start(postgres::shared_port()),
            Self::RdsData => rds_data::start(postgres::shared_port()),
            Self::Planetscale => planetscale::start(mysql::shared_port(), group.mysql.as_ref()?.name()),
            Self::Upstash => upstash::start_on(redis::shared_port(), group.redis.as_ref()?.number(), TOKEN.1),
        };
        let mut env = group.env;
        let url = group.postgres.as_ref().map(postgres::LazyDatabase::url).unwrap_or_default();
        if self == Self::Planetscale {
            env.retain(|(variable, _)| variable != DATABASE);
            env.push((DATABASE.to_owned(), planetscale::url(&api)));
        }
        env.extend(self.variables(&format!("http://{}", api.address), &url));
        let cases = group.cases.into_iter().filter(|case| case.runs_on(self.name())).collect();
        Some(FarGroup { group: Group { app: app.path().to_path_buf(), env, cases, ..group }, far: self, _app: app, _api: api })
    }

    /// What differs from the expected answers in all groups that it can have.
    ///
    /// # Panics
    /// As [`group`](Self::group).
    pub fn all_differences(self, groups: Vec<Group>, run: impl Fn(&Group) -> Vec<Vec<String>>) -> Vec<String> {
        let moved = groups.into_iter().filter_map(|group| self.group(group));
        moved.flat_map(|moved| moved.differences(run(&moved.group))).collect()
    }

    /// The variables of an app that was moved, for the API at an address, and the URL of the
    /// database where it is PostgreSQL's.
    #[must_use]
    pub fn variables(self, api: &str, url: &str) -> Vec<(String, String)> {
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let more = match self {
            Self::Neon | Self::Planetscale => Vec::new(),
            Self::RdsData => {
                let [secret, database] = rds_data::secret_and_database(url);
                let [id, key] = AWS;
                vec![own("RDS_SECRET", &secret), own("SHOWN_RDS_DATABASE", &database), own(id.0, id.1), own(key.0, key.1)]
            }
            Self::Upstash => vec![own(TOKEN.0, TOKEN.1)],
        };
        [vec![own(API, api)], more].concat()
    }

    /// Rewrites every adapter of an app, whose connector must be the one that this one takes the
    /// place of.
    ///
    /// # Panics
    /// Where it is another, or a file cannot be written.
    pub fn rewrite(self, app: &Path) {
        let api = format!("\"{{{{ env.{API} }}}}\"");
        let (connector, address, options) = match self {
            Self::Neon => ("postgres", None, format!("base_url: {api}")),
            Self::Planetscale => ("mysql", None, String::new()),
            Self::RdsData => {
                let [id, key] = AWS.map(|(name, _)| format!("\"{{{{ env.{name} }}}}\""));
                let options = format!(
                    "secret_arn: \"{{{{ env.RDS_SECRET }}}}\", database: \"{{{{ env.SHOWN_RDS_DATABASE }}}}\", endpoint: {api}, \
                     access_key_id: {id}, secret_access_key: {key}"
                );
                ("postgres", Some(rds_data::CLUSTER), options)
            }
            Self::Upstash => ("redis", Some(api.as_str()), format!("token: \"{{{{ env.{} }}}}\"", TOKEN.0)),
        };
        let connector = format!("connector: {connector}\n");
        let old_address = format!("connection_string: \"{{{{ env.{DATABASE} }}}}\"\n");
        for file in fs::read_dir(app.join("app/adapters")).unwrap_or_else(|error| panic!("{error}")).flatten().map(|entry| entry.path()) {
            let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}"));
            assert!(text.contains(&connector), "{} has no `{connector}`", file.display());
            let mut text = text.replace(&connector, &format!("connector: {}\n", self.name()));
            if let Some(address) = address {
                assert!(text.contains(&old_address), "{} has no `{old_address}`", file.display());
                text = text.replace(&old_address, &format!("connection_string: {address}\n"));
            }
            let text = match (options.as_str(), text.contains("options: { ")) {
                ("", _) => text,
                (options, true) => text.replace("options: { ", &format!("options: {{ {options}, ")),
                (options, false) => format!("{}\noptions: {{ {options} }}\n", text.trim_end()),
            };
            fs::write(&file, text).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

impl FarGroup {
    /// What differs from the expected answers.
    #[must_use]
    pub fn differences(&self, answers: Vec<Vec<String>>) -> Vec<String> {
        let own = format!("connector `{}`", self.far.name());
        // A refusal names its connector.
        let named = |answer: String| match self.far {
            Far::Planetscale => answer.replace(&own, "connector `mysql`"),
            _ => answer,
        };
        let check =
            |(case, answers): (&Case, Vec<String>)| case.check(self.far.name(), &answers.into_iter().map(named).collect::<Vec<_>>()).err();
        self.group.answered(answers).filter_map(check).collect()
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
