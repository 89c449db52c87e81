//! Real PostgreSQL servers of Debian's packages, private to a test: a folder, a port and a password
//! of their own.

use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    os::unix::{
        fs::{PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use millrace_core::ports::Connection;

use crate::{
    database::{Database, connection},
    process::{SHARED_FOLDER, WatchedProcess, free_port},
};

/// The password of the administrator, `postgres`.
pub const PASSWORD: &str = "correct horse / battery @ staple";
/// The same, as a URI has it.
const CODED_PASSWORD: &str = "correct%20horse%20%2F%20battery%20%40%20staple";

/// A running server with a cluster of its own; ends with the value.
pub struct Postgres {
    folder: tempfile::TempDir,
    watched: Option<WatchedProcess>,
    /// It lasts as long as this process.
    is_shared: bool,
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
}

impl Postgres {
    /// Starts a server with these lines in its `postgresql.conf`.
    ///
    /// # Panics
    /// Where PostgreSQL is not installed, or does not come up.
    #[must_use]
    pub fn start(settings: &[&str]) -> Self {
        Self::start_on(free_port(), settings, &[])
    }

    /// Starts a server with TLS, for `localhost` and 127.0.0.1; the certificate and its key are
    /// PEM.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_with_tls(certificate: &str, key: &str) -> Self {
        let settings = ["ssl = on", "ssl_cert_file = 'server.crt'", "ssl_key_file = 'server.key'"];
        Self::start_on(free_port(), &settings, &[("server.crt", certificate), ("server.key", key)])
    }

    /// The server that tests share which have databases of their own. It ends with the process.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(|| {
            let mut server = Self::made(shared_port(), &["max_connections = 100"], &[]);
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
        let folder = private_folder();
        let data = folder.path().join("data");
        let copied = as_postgres(Path::new("cp")).arg("-a").arg(installed()).arg(&data).status();
        assert!(copied.unwrap_or_else(|error| panic!("cp: {error}")).success(), "cp");
        let mut configuration = format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = ''\nfsync = off\nmax_connections = 30\nshared_buffers = 8MB\ndynamic_shared_memory_type = mmap\n"
        );
        for line in settings {
            configuration += line;
            configuration.push('\n');
        }
        append(&data.join("postgresql.conf"), &configuration);
        for (name, text) in files {
            let file = data.join(name);
            fs::write(&file, text).unwrap_or_else(|error| panic!("{error}"));
            give_away(&file);
        }
        Self { folder, watched: None, is_shared: false, port }
    }

    /// Where a database of the server is, for its administrator.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        url(self.port, database)
    }

    /// The adapter's settings for the database `postgres`.
    #[must_use]
    pub fn connection(&self, options: &[(&str, &str)]) -> Connection {
        connection("postgres", &self.url("postgres"), options)
    }

    /// An open connection to the database `postgres`.
    #[must_use]
    pub fn open(&self) -> Database {
        Database::open(self.connection(&[]))
    }

    /// Replaces who is let in, and how, and starts anew.
    ///
    /// # Panics
    /// Where that fails.
    pub fn let_in(&mut self, lines: &[&str]) {
        self.kill();
        fs::write(self.folder.path().join("data/pg_hba.conf"), lines.join("\n") + "\n").unwrap_or_else(|error| panic!("{error}"));
        self.restart();
    }

    /// Ends the server at once, its connections too; its data stay.
    ///
    /// # Panics
    /// Where it does not end.
    pub fn kill(&mut self) {
        self.watched = None;
    }

    /// Starts the server again after [`kill`](Self::kill), on the same port and data.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn restart(&mut self) {
        let log = self.folder.path().join("log");
        let (program, data) = (program("postgres"), self.folder.path().join("data"));
        let mut shell = as_postgres(Path::new("/bin/sh"));
        shell.envs(self.is_shared.then_some((SHARED_FOLDER, self.folder.path())));
        let command = [program.as_os_str(), OsStr::new("-D"), data.as_os_str()];
        self.watched = Some(WatchedProcess::start(shell, "QUIT", &command, &log));
        self.open().wait_until_it_is_up("PostgreSQL", &log);
    }

    /// Makes an empty database and runs SQL in it, statement by statement: `;` at a line's end
    /// parts them.
    ///
    /// # Panics
    /// Where a statement fails.
    pub fn create(&self, name: &str, sql: &str) {
        // Not by the driver: it runs everything inside a transaction, which a database is not made
        // in.
        psql(&self.url("postgres"), &format!("CREATE DATABASE {name}"));
        psql(&self.url(name), sql);
    }
}

/// Runs SQL, statements of any kind and number, with PostgreSQL's own client.
///
/// # Panics
/// Where it fails.
pub fn psql(url: &str, sql: &str) {
    let mut child = Command::new(program("psql"))
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", url])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("psql: {error}"));
    let mut stdin = child.stdin.take().unwrap_or_else(|| panic!("psql has no input"));
    stdin.write_all(sql.as_bytes()).unwrap_or_else(|error| panic!("psql: {error}"));
    drop(stdin);
    let output = child.wait_with_output().unwrap_or_else(|error| panic!("psql: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A pgbouncer in front of a server, which gives a connection away for one transaction; ends with
/// the value.
pub struct Pgbouncer {
    _folder: tempfile::TempDir,
    _watched: WatchedProcess,
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
}

impl Pgbouncer {
    /// Starts a pooler with so many connections to the server, for the server's administrator.
    ///
    /// # Panics
    /// Where it is not installed, or does not come up.
    #[must_use]
    pub fn start(server: &Postgres, connections: usize) -> Self {
        let folder = private_folder();
        let port = free_port();
        let users = folder.path().join("users");
        fs::write(&users, format!("\"postgres\" \"{PASSWORD}\"\n")).unwrap_or_else(|error| panic!("{error}"));
        give_away(&users);
        let settings = folder.path().join("settings.ini");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = scram-sha-256\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = {connections}\n",
            server.port,
            users.display()
        );
        fs::write(&settings, text).unwrap_or_else(|error| panic!("{error}"));
        let log = folder.path().join("log");
        let shell = as_postgres(Path::new("/bin/sh"));
        let watched =
            WatchedProcess::start(shell, "TERM", &[OsStr::new("/usr/sbin/pgbouncer"), OsStr::new("-q"), settings.as_os_str()], &log);
        let pooler = Self { _folder: folder, _watched: watched, port };
        Database::open(pooler.connection()).wait_until_it_is_up("pgbouncer", &log);
        pooler
    }

    /// The adapter's settings for the database `postgres`.
    #[must_use]
    pub fn connection(&self) -> Connection {
        connection("postgres", &url(self.port, "postgres"), &[])
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
        let server = Postgres::shared();
        psql(&server.url("postgres"), &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        server.create(&self.name, &self.sql);
    }
}

/// The port of the server that the groups of this process share.
pub(crate) fn shared_port() -> u16 {
    static PORT: OnceLock<u16> = OnceLock::new();
    *PORT.get_or_init(free_port)
}

fn url(port: u16, database: &str) -> String {
    format!("postgres://postgres:{CODED_PASSWORD}@127.0.0.1:{port}/{database}")
}

/// A program of the newest PostgreSQL.
fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path().join("bin").join(name));
    let newest = versions.filter(|path| path.exists()).max();
    newest.unwrap_or_else(|| panic!("PostgreSQL is not installed: run scripts/setup, or install Debian's `postgresql` and `pgbouncer`"))
}

/// A command; as user `postgres` where this is the administrator, because neither program runs as
/// one.
fn as_postgres(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/").env("LC_ALL", "C");
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group);
    }
    command
}

/// The data of a server that never ran: a copy takes a tenth of the time of another `initdb`.
fn installed() -> PathBuf {
    static INSTALLED: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = INSTALLED.get_or_init(|| {
        let folder = private_folder();
        let password = folder.path().join("password");
        fs::write(&password, PASSWORD).unwrap_or_else(|error| panic!("{error}"));
        let mut initdb = as_postgres(&program("initdb"));
        initdb.args(["-A", "scram-sha-256", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--wal-segsize=1", "-N", "-D"]);
        initdb.arg(folder.path().join("data")).arg("--pwfile").arg(&password);
        let made = initdb.output().unwrap_or_else(|error| panic!("initdb: {error}"));
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        folder
    });
    folder.path().join("data")
}

fn give_away(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(if path.is_dir() { 0o700 } else { 0o600 }))
        .unwrap_or_else(|error| panic!("{error}"));
    if let Some((user, group)) = other_user() {
        chown(path, Some(user), Some(group)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

fn private_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    give_away(folder.path());
    folder
}

/// The numbers of user `postgres` and its group, for the administrator.
fn other_user() -> Option<(u32, u32)> {
    let id = Command::new("id").arg("-u").output().unwrap_or_else(|error| panic!("id: {error}"));
    if id.stdout != b"0\n" {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = users.lines().find(|line| line.starts_with("postgres:"));
    let mut fields = line.unwrap_or_else(|| panic!("the user `postgres` does not exist: run scripts/setup")).split(':').skip(2);
    let mut number = || fields.next().and_then(|field| field.parse().ok()).unwrap_or_default();
    Some((number(), number()))
}

fn append(file: &Path, text: &str) {
    let opened = fs::OpenOptions::new().append(true).open(file);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}
