//! The corpus: cases as data, run through every host, the same bytes everywhere.
//!
//! A *group* is a folder under `tests/cases/`: an app (`app/`, or `app.link` with the path of one),
//! variables (`env`), a database (`database.sql`, made as `shop.db` beside the app; `postgres.sql`,
//! made on a PostgreSQL server whose address is the variable `DATABASE_URL`, with a file
//! `postgrest` also behind PostgREST at `POSTGREST_URL`, and `mysql.sql`, the same on a MariaDB
//! server; `api`, whose file is empty: that of [`api`] at `API`; `issuers`, whose file is empty: those of [`tokens`]), what no log may hold beside the
//! variables (`private`), and cases. A *case* is a file `NAME.http` with requests and a file
//! `NAME.out` with the answers; its requests run in order, and so do the cases of a group, on one
//! instance of the app.
//!
//! A request is raw HTTP (method and path, header fields, a blank line, the body) or a shorthand,
//! `CALL TOOL ARGUMENTS` for a client of 2025-06-18 and `MODERN TOOL ARGUMENTS` for one of
//! 2026-07-28, with header fields below it. `###` parts requests.

pub mod api;
pub mod aws_secrets;
pub mod bare;
pub mod case;
pub mod clickhouse;
pub mod collector;
pub mod cutting;
pub mod d1_api;
pub mod database;
pub mod direct;
pub mod docs;
pub mod dynalite;
pub mod dynoxide;
pub mod failures;
pub mod far_group;
pub mod lambda;
pub mod libsql_group;
pub mod local;
pub mod mongodb;
pub mod mysql;
pub mod neon;
pub mod new_app;
pub mod planetscale;
pub mod postgres;
pub mod postgrest;
pub mod process;
pub mod rds_data;
pub mod redis;
pub mod scripted;
pub mod shown;
pub mod sqld;
pub mod sqlite_text;
pub mod stdio;
pub mod tokens;
pub mod typescript;
pub mod upstash;
pub mod wait;
pub mod worker;
pub mod workerd;
pub mod workers;

/// Whether the suites that try many made-up inputs run all of them: `scripts/test --all`. Else they
/// run a sample, the same in each run.
#[must_use]
pub fn is_everything_run() -> bool {
    std::env::var_os("MILLRACE_TESTS").is_some_and(|value| value == "all")
}

/// Of a list every so many, from the first on; all of them with `scripts/test --all`.
#[must_use]
pub fn sample<T>(all: Vec<T>, each: usize) -> Vec<T> {
    all.into_iter().step_by(if is_everything_run() { 1 } else { each }).collect()
}

/// How often a suite tries something: `all` with `scripts/test --all`, else `few`.
#[must_use]
pub fn tries(all: usize, few: usize) -> usize {
    if is_everything_run() { all } else { few }
}

pub use millrace_test_kit::files;

pub use case::{Case, Exchange, Group, groups, is_everything_selected, selected_groups};
