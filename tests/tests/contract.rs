//! What connectors promise, tested on each real server by the same tests. A server is described
//! once, in a file of its own here: how it is started, what its language calls things, and where
//! its connector answers otherwise than the others. The tests of a connector share one server of a
//! kind and have a database each; those that kill it have a server of their own.

use std::sync::atomic::{AtomicUsize, Ordering};

use millrace_core::ports::Connection;
use millrace_tests::{database::Database, mysql::Mysql, postgres::Postgres, sqld::Sqld};

mod answers;
mod hostile;
mod libsql;
pub(crate) mod life;
mod limits;
mod login;
pub(crate) mod mysql;
pub(crate) mod neon;
mod once;
mod planetscale;
pub(crate) mod postgres;
pub(crate) mod rds_data;
mod results;
mod sqlite;
pub(crate) mod values;

/// Makes the tests of a server: of each part of the contract those that it keeps.
macro_rules! keeps {
    ($server:ident: $($part:ident { $($test:ident)+ })+) => { $(
        mod $part { $(
            #[test]
            fn $test() {
                crate::contract::$part::$test(&super::$server);
            }
        )+ }
    )+ };
}
use keeps;

/// A server under test, and what the contract has to know of it.
pub(crate) struct ServerUnderTest {
    /// The connector's name.
    connector: &'static str,
    /// The product's name in messages.
    product: &'static str,
    /// Starts a server.
    start: fn() -> Box<dyn Machine>,
    /// The one that all tests share, where it has several databases.
    shared: Option<fn() -> &'static dyn Machine>,
    /// The adapter's settings for a URL of the server.
    settings: fn(&Site, &str, &[(&str, &str)]) -> Connection,
    /// How a statement writes its only value.
    sign: &'static str,
    once: once::Once,
    results: results::Results,
    limits: limits::Limits,
    /// Where its tests end connections.
    life: Option<life::Life>,
}

/// A running server of some kind.
pub(crate) trait Machine: Send + Sync {
    fn port(&self) -> u16;
    /// Where a database is, for its administrator.
    fn url(&self, database: &str) -> String;
    /// The same for a user whose password is its name.
    fn url_of(&self, user: &str, database: &str) -> String;
    /// Makes a database.
    fn create(&self, database: &str);
    /// Removes it.
    fn remove(&self, database: &str);
    /// Runs SQL of any kind as its administrator.
    fn run(&self, database: &str, sql: &str);
    fn kill(&mut self);
    fn restart(&mut self);
}

impl Machine for Postgres {
    fn port(&self) -> u16 {
        self.port
    }

    fn url(&self, database: &str) -> String {
        self.url(database)
    }

    fn url_of(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}:{user}@127.0.0.1:{}/{database}", self.port)
    }

    fn create(&self, database: &str) {
        self.run("postgres", &format!("CREATE DATABASE {database}"));
    }

    fn remove(&self, database: &str) {
        self.run("postgres", &format!("DROP DATABASE {database} WITH (FORCE)"));
    }

    fn run(&self, database: &str, sql: &str) {
        millrace_tests::postgres::psql(&self.url(database), sql);
    }

    fn kill(&mut self) {
        self.kill();
    }

    fn restart(&mut self) {
        self.restart();
    }
}

impl Machine for Mysql {
    fn port(&self) -> u16 {
        self.port
    }

    fn url(&self, database: &str) -> String {
        self.url(database)
    }

    fn url_of(&self, user: &str, database: &str) -> String {
        format!("mysql://{user}:{user}@127.0.0.1:{}/{database}", self.port)
    }

    fn create(&self, database: &str) {
        self.run("shop", &format!("CREATE DATABASE {database} CHARACTER SET utf8mb4"));
    }

    fn remove(&self, database: &str) {
        self.run("shop", &format!("DROP DATABASE {database}"));
    }

    fn run(&self, database: &str, sql: &str) {
        self.run(database, sql);
    }

    fn kill(&mut self) {
        self.kill();
    }

    fn restart(&mut self) {
        self.restart();
    }
}

/// A server with one database.
impl Machine for Sqld {
    fn port(&self) -> u16 {
        self.port
    }

    fn url(&self, _: &str) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn url_of(&self, _: &str, _: &str) -> String {
        self.url("")
    }

    fn create(&self, _: &str) {}

    fn remove(&self, _: &str) {}

    fn run(&self, _: &str, sql: &str) {
        Database::open(millrace_tests::database::connection("libsql", &self.url(""), &[])).run(sql, &[]).unwrap();
    }

    fn kill(&mut self) {
        self.kill();
    }

    fn restart(&mut self) {
        self.restart();
    }
}

enum Held {
    Shared(&'static dyn Machine),
    Own(Box<dyn Machine>),
}

/// A database of a test; it is removed with the value.
pub(crate) struct Site {
    server: &'static ServerUnderTest,
    held: Held,
    database: String,
}

impl Site {
    /// A database on the server that all share.
    pub(crate) fn of(server: &'static ServerUnderTest) -> Self {
        server.shared.map_or_else(|| Self::alone(server), |shared| Self::on(server, Held::Shared(shared())))
    }

    /// A server of its own, which can be killed.
    fn alone(server: &'static ServerUnderTest) -> Self {
        Self::on(server, Held::Own((server.start)()))
    }

    fn on(server: &'static ServerUnderTest, held: Held) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let site = Self { server, held, database: format!("contract_{}", COUNT.fetch_add(1, Ordering::Relaxed)) };
        site.machine().create(&site.database);
        site
    }

    fn machine(&self) -> &dyn Machine {
        match &self.held {
            Held::Shared(machine) => *machine,
            Held::Own(machine) => machine.as_ref(),
        }
    }

    fn port(&self) -> u16 {
        self.machine().port()
    }

    fn url(&self) -> String {
        self.machine().url(&self.database)
    }

    /// The adapter's settings.
    pub(crate) fn settings(&self, options: &[(&str, &str)]) -> Connection {
        (self.server.settings)(self, &self.url(), options)
    }

    pub(crate) fn open(&self) -> Database {
        Database::open(self.settings(&[]))
    }

    /// The administrator's connection, by PostgreSQL's own protocol.
    pub(crate) fn owner(&self) -> Database {
        Database::open(millrace_tests::database::connection("postgres", &self.url(), &[]))
    }

    /// An adapter that only reads.
    pub(crate) fn reader(&self) -> Database {
        Database::open(Connection { read_only: true, ..self.settings(&[]) })
    }

    /// A user of this database alone, whose password is the name.
    fn user(&self) -> String {
        format!("clerk_of_{}", self.database)
    }

    /// The connection of that user.
    fn open_as_user(&self) -> Database {
        Database::open((self.server.settings)(self, &self.machine().url_of(&self.user(), &self.database), &[]))
    }

    /// Runs SQL of any kind as the administrator; `{user}` and `{database}` are filled in.
    pub(crate) fn run(&self, sql: &str) {
        self.machine().run(&self.database, &sql.replace("{user}", &self.user()).replace("{database}", &self.database));
    }

    fn own(&mut self) -> &mut dyn Machine {
        match &mut self.held {
            Held::Own(machine) => machine.as_mut(),
            Held::Shared(_) => panic!("a server that others share is not killed"),
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // A server of the test's own ends with it. What failed is looked at in its database,
        // perhaps.
        if let (Held::Shared(machine), false) = (&self.held, std::thread::panicking()) {
            machine.remove(&self.database);
        }
    }
}
