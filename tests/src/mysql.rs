//! Real MariaDB servers of Debian's packages, private to a test: a folder, a port and a password of
//! their own.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use millrace_core::ports::Connection;

use crate::{
    database::{Database, connection},
    process::{SHARED_FOLDER, WatchedProcess, free_port, signal},
};

/// The password of the administrator, `admin`.
pub const PASSWORD: &str = "correct horse / battery @ staple";
/// The same, as a URI has it.
const CODED_PASSWORD: &str = "correct%20horse%20%2F%20battery%20%40%20staple";
/// What a small server needs: little memory, and no care for what a crash of the machine leaves.
const SMALL: [&str; 9] = [
    "--innodb-buffer-pool-size=8M",
    "--innodb-log-file-size=4M",
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-doublewrite=OFF",
    "--innodb-use-native-aio=OFF",
    "--innodb-temp-data-file-path=ibtmp1:4M:autoextend",
    "--performance-schema=OFF",
    "--skip-name-resolve",
    "--max-connections=40",
];

/// A running server; ends with the value.
pub struct Mysql {
    folder: tempfile::TempDir,
    watched: Option<WatchedProcess>,
    settings: Vec<String>,
    /// It lasts as long as this process.
    is_shared: bool,
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
}

impl Mysql {
    /// Starts a server with these options.
    ///
    /// # Panics
    /// Where MariaDB is not installed, or does not come up.
    #[must_use]
    pub fn start(settings: &[&str]) -> Self {
        Self::start_on(free_port(), settings, &[])
    }

    /// Starts a server with TLS; the certificate and its key are PEM.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_with_tls(certificate: &str, key: &str) -> Self {
        let settings = ["--ssl-cert=server.crt", "--ssl-key=server.key"];
        Self::start_on(free_port(), &settings, &[("server.crt", certificate), ("server.key", key)])
    }

    /// The server that tests share which have databases of their own. It ends with the process.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Mysql> = OnceLock::new();
        SHARED.get_or_init(|| {
            let mut server = Self::made(shared_port(), &["--max-connections=120"], &[]);
            server.is_shared = true;
            server.restart();
            server
        })
    }

    fn start_on(port: u16, settings: &[&str], files: &[(&str, &str)]) -> Self {
        let mut server = Self::made(port, settings, files);
        server.restart();
        server
    }

    /// A server that does not run yet.
    fn made(port: u16, settings: &[&str], files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap_or_else(|error| panic!("{error}"));
        let copied = Command::new("cp").arg("-a").arg(installed().join("data/.")).arg(&data).status();
        assert!(copied.unwrap_or_else(|error| panic!("cp: {error}")).success(), "cp");
        let users = format!(
            "CREATE OR REPLACE USER admin@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n\
             GRANT ALL ON *.* TO admin@'127.0.0.1' WITH GRANT OPTION;\nCREATE DATABASE IF NOT EXISTS shop CHARACTER SET utf8mb4;\n"
        );
        fs::write(folder.path().join("users.sql"), users).unwrap_or_else(|error| panic!("{error}"));
        for (name, text) in files {
            fs::write(folder.path().join("data").join(name), text).unwrap_or_else(|error| panic!("{error}"));
        }
        Self { folder, watched: None, settings: settings.iter().map(|line| (*line).to_owned()).collect(), is_shared: false, port }
    }

    /// Where a database of the server is, for its administrator.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        url(self.port, database)
    }

    /// The adapter's settings for the database `shop`, which is there from the start.
    #[must_use]
    pub fn connection(&self, options: &[(&str, &str)]) -> Connection {
        connection("mysql", &self.url("shop"), options)
    }

    /// An open connection to the database `shop`.
    #[must_use]
    pub fn open(&self) -> Database {
        Database::open(self.connection(&[]))
    }

    /// Ends the server at once, its connections too; its data stay.
    pub fn kill(&mut self) {
        self.watched = None;
    }

    /// Lets the server do nothing until [`go_on`](Self::go_on): its connections stay.
    ///
    /// # Panics
    /// Where that fails.
    pub fn pause(&self) {
        self.signal("STOP");
    }

    /// Lets a server that [paused](Self::pause) go on.
    ///
    /// # Panics
    /// Where that fails.
    pub fn go_on(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let number = fs::read_to_string(self.folder.path().join("pid")).unwrap_or_else(|error| panic!("{error}"));
        signal(number.trim().parse().unwrap_or_else(|error| panic!("{number}: {error}")), name);
    }

    /// Starts the server again after [`kill`](Self::kill), on the same port and data.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn restart(&mut self) {
        let folder = self.folder.path();
        let log = folder.join("log");
        let mut command: Vec<OsString> = ["/usr/sbin/mariadbd", "--no-defaults", "--bind-address=127.0.0.1"].map(OsString::from).to_vec();
        command.extend(user());
        command.extend(SMALL.map(OsString::from));
        for (option, name) in [("--datadir=", "data"), ("--socket=", "socket"), ("--pid-file=", "pid"), ("--init-file=", "users.sql")] {
            command.push(in_folder(option, folder, name));
        }
        command.push(format!("--port={}", self.port).into());
        command.extend(self.settings.iter().map(OsString::from));
        let command: Vec<&OsStr> = command.iter().map(OsString::as_os_str).collect();
        let mut shell = Command::new("/bin/sh");
        shell.envs(self.is_shared.then_some((SHARED_FOLDER, folder)));
        self.watched = Some(WatchedProcess::start(shell, "KILL", &command, &log));
        self.open().wait_until_it_is_up("MariaDB", &log);
    }

    /// Runs SQL, statements of any kind and number, with MariaDB's own client in a database.
    ///
    /// # Panics
    /// Where it fails.
    pub fn run(&self, database: &str, sql: &str) {
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "--host=127.0.0.1", "--user=admin", "--default-character-set=utf8mb4", database]);
        client.arg(format!("--port={}", self.port)).env("MYSQL_PWD", PASSWORD);
        let child = client.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("mariadb: {error}"));
        let mut stdin = child.stdin.take().unwrap_or_else(|| panic!("mariadb has no input"));
        stdin.write_all(sql.as_bytes()).unwrap_or_else(|error| panic!("mariadb: {error}"));
        drop(stdin);
        let output = child.wait_with_output().unwrap_or_else(|error| panic!("mariadb: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A database that a group of cases wants: its name is known at once, the server starts when the
/// first is made.
pub struct LazyDatabase {
    name: String,
    sql: String,
}

impl LazyDatabase {
    /// A database filled by SQL.
    #[must_use]
    pub fn new(sql: String) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        Self { name: format!("group_{}", COUNT.fetch_add(1, Ordering::Relaxed)), sql }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it will be.
    #[must_use]
    pub fn url(&self) -> String {
        url(shared_port(), &self.name)
    }

    /// Makes it, anew where it was made before.
    ///
    /// # Panics
    /// Where that fails.
    pub fn make(&self) {
        let server = Mysql::shared();
        let name = &self.name;
        server.run("shop", &format!("DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name} CHARACTER SET utf8mb4;"));
        server.run(name, &self.sql);
    }
}

/// The port of the server that the groups of this process share.
#[must_use]
pub fn shared_port() -> u16 {
    static PORT: OnceLock<u16> = OnceLock::new();
    *PORT.get_or_init(free_port)
}

fn url(port: u16, database: &str) -> String {
    format!("mysql://admin:{CODED_PASSWORD}@127.0.0.1:{port}/{database}")
}

/// The tables of a server that nobody has used, made once for this process.
fn installed() -> &'static Path {
    static INSTALLED: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = INSTALLED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let mut made = Command::new("mariadb-install-db");
        made.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]);
        made.args(["--innodb-log-file-size=4M", "--innodb-use-native-aio=OFF"]).args(user());
        made.arg(in_folder("--datadir=", folder.path(), "data"));
        let made = made
            .output()
            .unwrap_or_else(|error| panic!("MariaDB is not installed ({error}): run scripts/setup, or install Debian's `mariadb-server`"));
        assert!(made.status.success(), "mariadb-install-db: {}", String::from_utf8_lossy(&made.stdout));
        folder
    });
    folder.path()
}

fn in_folder(option: &str, folder: &Path, name: &str) -> OsString {
    let mut text = OsString::from(option);
    text.push(folder.join(name));
    text
}

/// The administrator of the machine has to say that it is meant.
fn user() -> Option<OsString> {
    let id = Command::new("id").arg("-u").output().unwrap_or_else(|error| panic!("id: {error}"));
    (id.stdout == b"0\n").then(|| "--user=root".into())
}
