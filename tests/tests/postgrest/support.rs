//! What the tests of PostgREST share.

use millrace_core::{Json, Result, value::Rows};
use millrace_tests::{
    database::Database,
    postgres::{Postgres, psql},
    postgrest::{Postgrest, ROLES, start},
};

/// A server and its database.
pub(super) struct Shop {
    pub(super) postgres: Postgres,
    pub(super) postgrest: Postgrest,
}

/// Starts both; the SQL makes what is in the database. Everybody may do everything with it.
pub(super) fn shop(sql: &str, settings: &[(&str, &str)]) -> Shop {
    let postgres = Postgres::start(&[]);
    let grants = "GRANT USAGE ON SCHEMA public TO anon, web;\nGRANT ALL ON ALL TABLES IN SCHEMA public TO anon, web;\n\
                  GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO anon, web;\n";
    psql(&postgres.url("postgres"), &format!("{ROLES}{sql}\n{grants}"));
    let postgrest = start(&postgres.url("postgres"), settings);
    Shop { postgres, postgrest }
}

/// Runs a request, as a script would.
pub(super) fn run(database: &Database, request: &Json) -> Result<Rows> {
    database.run(&request.to_string(), &[])
}

/// The rows of a request, as JSON.
pub(super) fn json(database: &Database, request: &Json) -> String {
    let rows = run(database, request).unwrap_or_else(|error| panic!("{request}: {error:?}"));
    serde_json::to_string(&rows.json()).unwrap()
}
