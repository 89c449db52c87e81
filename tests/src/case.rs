//! Groups and cases: reading them, and comparing what came back.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value as Json, json};

use crate::{api, clickhouse, dynoxide::LazyTables, mysql, postgres::LazyDatabase, postgrest::LazyPostgrest, redis, tokens};

/// The workspace's folder.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A folder of cases.
#[derive(Default)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Where its app is.
    pub app: PathBuf,
    /// Environment variables.
    pub env: Vec<(String, String)>,
    /// What no log may hold, beside the variables: the lines of `private`.
    pub private: Vec<String>,
    /// SQL of the database `shop.db`, to be made beside the app.
    pub database: Option<String>,
    /// A database on a PostgreSQL server, to be made with the group's installation.
    pub postgres: Option<LazyDatabase>,
    /// PostgREST over that database.
    pub postgrest: Option<LazyPostgrest>,
    /// The same on a MariaDB server.
    pub mysql: Option<mysql::LazyDatabase>,
    /// The same on a stand-in for ClickHouse.
    pub clickhouse: Option<clickhouse::LazyDatabase>,
    /// A database of a Redis server.
    pub redis: Option<redis::LazyDatabase>,
    /// Tables of DynamoDB.
    pub dynamodb: Option<LazyTables>,
    /// Whether its app lets in who has a token of [`tokens`].
    pub has_issuers: bool,
    /// What a Worker is deployed with, where the app does not say it: `wrangler.toml`, put beside
    /// the app.
    pub wrangler: Option<String>,
    /// The cases, by name.
    pub cases: Vec<Case>,
}

/// A file of requests.
pub struct Case {
    /// Its name.
    pub name: String,
    /// The file of the expected answers.
    pub expected: PathBuf,
    /// The requests.
    pub requests: Vec<Exchange>,
}

/// One request, as a client sends it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// `POST`
    pub method: String,
    /// `/mcp`
    pub path: String,
    /// Header fields.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

/// Reads every group of `tests/cases/`.
///
/// # Panics
/// Where a file cannot be read.
#[must_use]
pub fn groups() -> Vec<Group> {
    let folder = root().join("tests/cases");
    let mut groups: Vec<Group> = entries(&folder).iter().filter(|path| path.is_dir()).map(|path| group(path)).collect();
    groups.sort_by(|a, b| a.name.cmp(&b.name));
    groups
}

/// The groups and cases that the variable `CASES` names: `CASES=cache`, `CASES=cache/a-hit,auth`;
/// all of them without it.
///
/// # Panics
/// Where it names what there is not.
#[must_use]
pub fn selected_groups() -> Vec<Group> {
    let Ok(wanted) = std::env::var("CASES") else { return groups() };
    let mut selected: Vec<Group> = Vec::new();
    for name in wanted.split(',') {
        let (group, case) = name.split_once('/').map_or((name, None), |(group, case)| (group, Some(case)));
        let mut found =
            groups().into_iter().find(|known| known.name == group).unwrap_or_else(|| panic!("CASES: the group `{group}` does not exist"));
        if let Some(case) = case {
            found.cases.retain(|known| known.name == case);
            assert!(!found.cases.is_empty(), "CASES: `{group}` has no case `{case}`");
        }
        match selected.iter_mut().find(|known| known.name == group) {
            Some(known) => known.cases.extend(found.cases),
            None => selected.push(found),
        }
    }
    selected
}

/// Whether `CASES` leaves nothing out, so that counts mean something.
#[must_use]
pub fn is_everything_selected() -> bool {
    std::env::var_os("CASES").is_none()
}

impl Group {
    /// Each case with its answers.
    ///
    /// # Panics
    /// Where a host gave more or fewer of them than there are cases.
    pub fn answered(&self, answers: Vec<Vec<String>>) -> impl Iterator<Item = (&Case, Vec<String>)> {
        assert_eq!(answers.len(), self.cases.len(), "`{}` has other cases than answers", self.name);
        self.cases.iter().zip(answers)
    }

    /// Copies the app into a folder of its own and makes its database, so that a run leaves nothing
    /// behind.
    ///
    /// # Panics
    /// Where the copy fails.
    #[must_use]
    pub fn install(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        copy(&self.app, folder.path());
        if let Some(sql) = &self.database {
            let database = rusqlite::Connection::open(folder.path().join("shop.db")).and_then(|database| database.execute_batch(sql));
            database.unwrap_or_else(|error| panic!("{}/database.sql: {error}", self.name));
        }
        if let Some(wanted) = &self.postgres {
            wanted.make();
        }
        if let Some(wanted) = &self.postgrest {
            wanted.make();
        }
        if let Some(wanted) = &self.mysql {
            wanted.make();
        }
        if let Some(wanted) = &self.clickhouse {
            wanted.make();
        }
        if let Some(wanted) = &self.redis {
            wanted.make();
        }
        if let Some(wanted) = &self.dynamodb {
            wanted.make();
        }
        folder
    }
}

/// How a line begins that a case tries to forge.
const FORGED: &str = "2026-11-22T00:00:00Z ERROR forged";

impl Group {
    /// What must not be read anywhere: the values of variables, those that scripts may show apart,
    /// and the group's own list.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let variables = self.env.iter().filter(|(name, value)| !name.starts_with("SHOWN") && value.len() > 8);
        variables.map(|(_, value)| value.as_str()).chain(self.private.iter().map(String::as_str))
    }

    /// Looks for secrets in a log, and for lines that a caller wrote; gives how many lines there
    /// are.
    ///
    /// # Panics
    /// Where there is one.
    #[must_use]
    pub fn check_log(&self, host: &str, log: &str) -> usize {
        for secret in self.secrets() {
            let line = log.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{host}: the log of `{}` carries `{secret}`: {}", self.name, line.unwrap_or_default());
        }
        // A terminal ends a line at more than a line feed.
        for line in log.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']) {
            assert!(!line.trim_start().starts_with(FORGED), "{host}: a caller wrote a line of the log of `{}`: {line}", self.name);
            assert!(!line.contains(['\u{202e}', '\u{2066}']), "{host}: the log of `{}` turns its text around: {line}", self.name);
        }
        log.lines().count()
    }
}

impl Exchange {
    /// Reads a request as it stands in a case.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        exchange(text.trim_end_matches('\n'))
    }

    /// A call of a tool by a client of 2025-06-18.
    #[must_use]
    pub fn call(tool: &str, arguments: &Json) -> Self {
        call(&format!("{tool} {arguments}"), Vec::new(), false)
    }

    /// The same request with another header field.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

impl Case {
    /// Compares answers with the expected ones; `UPDATE_EXPECT=1` rewrites them instead.
    ///
    /// # Errors
    /// Says what differs.
    pub fn check(&self, host: &str, answers: &[String]) -> Result<(), String> {
        let found = answers.join("\n###\n") + "\n";
        if std::env::var_os("UPDATE_EXPECT").is_some() && host == "core" {
            return fs::write(&self.expected, found).map_err(|error| error.to_string());
        }
        let everywhere = fs::read_to_string(&self.expected).unwrap_or_default();
        let expected = match self.exception(host)? {
            Some(exception) if exception == everywhere => {
                return Err(format!("the exception of {} for {host} says what every host answers; remove it", self.expected.display()));
            }
            Some(_) if std::env::var_os("UPDATE_EXPECT").is_some() => return self.update_exception(host, &found),
            Some(exception) => exception,
            None => everywhere,
        };
        if expected == found {
            return Ok(());
        }
        let difference = similar_asserts::SimpleDiff::from_str(&expected, &found, "expected", host).to_string();
        Err(format!("{} differs on {host}; UPDATE_EXPECT=1 rewrites it\n{difference}", self.expected.display()))
    }
}

/// What stands for the answers of a case that a host cannot run at all.
const NOT_RUN: &str = "not run\n";

impl Case {
    /// Whether a host can run the case: its exception may say that it cannot.
    #[must_use]
    pub fn runs_on(&self, host: &str) -> bool {
        !matches!(self.exception(host), Ok(Some(exception)) if exception == NOT_RUN)
    }

    /// Whether a host gives the same answers as all others.
    #[must_use]
    pub fn is_alike_on(&self, host: &str) -> bool {
        matches!(self.exception(host), Ok(None))
    }

    /// The answers of a host that cannot give the same: `NAME.HOST.out`, whose first line says why,
    /// after `# `.
    fn exception(&self, host: &str) -> Result<Option<String>, String> {
        let file = self.expected.with_extension(format!("{host}.out"));
        let Ok(text) = fs::read_to_string(&file) else { return Ok(None) };
        match text.split_once('\n') {
            Some((reason, rest)) if reason.len() > 10 && reason.starts_with("# ") => Ok(Some(rest.to_owned())),
            _ => Err(format!("{} does not say why it differs", file.display())),
        }
    }

    fn update_exception(&self, host: &str, found: &str) -> Result<(), String> {
        let file = self.expected.with_extension(format!("{host}.out"));
        let reason = fs::read_to_string(&file).unwrap_or_default().lines().next().unwrap_or_default().to_owned();
        fs::write(&file, format!("{reason}\n{found}")).map_err(|error| error.to_string())
    }
}

/// An answer as it stands in an expected file. Header fields of the transport are left out.
#[must_use]
pub fn answer(request: &Exchange, status: u16, mut headers: Vec<(String, String)>, body: &[u8]) -> String {
    headers.retain(|(name, _)| !["content-length", "date", "connection", "transfer-encoding", "keep-alive"].contains(&name.as_str()));
    headers.sort();
    let mut text = format!("HTTP {status}\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\n");
    }
    if !body.is_empty() && request.method != "HEAD" {
        text += &format!("\n{}", comparable(&String::from_utf8_lossy(body)));
    }
    text.trim_end().to_owned()
}

/// An answer as it is compared with another: without what depends on the time of day, or on every
/// description of an app.
pub(crate) fn comparable(body: &str) -> String {
    without_surface(&without_times(body))
}

/// The build part of the server's version is a digest of the lists, which have cases of their own.
/// With it, a word in a description would change every answer.
fn without_surface(body: &str) -> String {
    const BEFORE: &str = "\"version\":\"";
    let mut parts = body.split(BEFORE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += BEFORE;
        let version = part.split('"').next().unwrap_or_default();
        let kept = version.rsplit_once('+').filter(|(_, build)| build.len() == 8 && build.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let kept = kept.map_or(version, |(kept, _)| kept);
        text += kept;
        text += &part[version.len()..];
    }
    text
}

/// After how many seconds a call that came too often may come again depends on the time of day: `N`
/// stands for it.
fn without_times(body: &str) -> String {
    let mut text = body.to_owned();
    if body.contains("RATE_LIMITED") {
        for before in ["<retry_after>", "\"retry_after\":"] {
            let parts: Vec<&str> = text.split(before).collect();
            let after = parts[1..].iter().map(|part| format!("N{}", part.trim_start_matches(|c: char| c.is_ascii_digit())));
            text = std::iter::once(parts[0].to_owned()).chain(after).collect::<Vec<_>>().join(before);
        }
    }
    text
}

fn group(folder: &Path) -> Group {
    let link = folder.join("app.link");
    let app = if link.exists() { folder.join(read(&link).trim()) } else { folder.join("app") };
    let variable = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut cases: Vec<Case> = entries(folder)
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "http"))
        .map(|path| case(path))
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    let mut env: Vec<_> = fs::read_to_string(folder.join("env")).unwrap_or_default().lines().filter_map(variable).collect();
    let mysql = fs::read_to_string(folder.join("mysql.sql")).ok().map(mysql::LazyDatabase::new);
    let clickhouse = fs::read_to_string(folder.join("clickhouse.sql")).ok().map(clickhouse::LazyDatabase::new);
    let redis = fs::read_to_string(folder.join("redis.commands")).ok().map(redis::LazyDatabase::new);
    let postgres = fs::read_to_string(folder.join("postgres.sql")).ok().map(LazyDatabase::new);
    let dynamodb = fs::read_to_string(folder.join("dynamodb.jsonl")).ok().map(LazyTables::new);
    let over = postgres.as_ref().filter(|_| folder.join("postgrest").exists());
    let postgrest = over.map(|database| LazyPostgrest::new(database.url()));
    let has_issuers = folder.join("issuers").exists();
    if has_issuers {
        env.extend(tokens::variables());
    }
    env.extend(postgres.as_ref().map(|wanted| ("DATABASE_URL".to_owned(), wanted.url())));
    env.extend(postgrest.as_ref().map(|wanted| ("POSTGREST_URL".to_owned(), wanted.url())));
    env.extend(mysql.as_ref().map(|wanted| ("DATABASE_URL".to_owned(), wanted.url())));
    env.extend(clickhouse.as_ref().map(|wanted| ("DATABASE_URL".to_owned(), wanted.url())));
    env.extend(redis.as_ref().map(|wanted| ("DATABASE_URL".to_owned(), wanted.url())));
    if folder.join("api").exists() {
        env.push(("API".to_owned(), api::shared()));
    }
    env.extend(dynamodb.iter().flat_map(LazyTables::variables));
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let private = text("private").unwrap_or_default().lines().map(str::to_owned).collect();
    Group {
        name: name(folder),
        app,
        env,
        private,
        postgres,
        postgrest,
        mysql,
        clickhouse,
        redis,
        dynamodb,
        has_issuers,
        database: text("database.sql"),
        wrangler: text("wrangler.toml"),
        cases,
    }
}

fn case(file: &Path) -> Case {
    let text = read(file);
    // Lines before the first request that begin with `# ` are for the reader.
    let comments: usize = text.split_inclusive('\n').take_while(|line| line.starts_with("# ")).map(str::len).sum();
    let requests = text[comments..].split("\n###\n").map(Exchange::parse).collect();
    Case { name: name(file), expected: file.with_extension("out"), requests }
}

fn exchange(block: &str) -> Exchange {
    let (head, body) = block.split_once("\n\n").unwrap_or((block, ""));
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let headers: Vec<(String, String)> =
        lines.filter_map(|line| line.split_once(':')).map(|(name, value)| (name.to_owned(), tokens::minted(value.trim()))).collect();
    let (word, rest) = first.split_once(' ').unwrap_or((first, ""));
    match word {
        "CALL" => call(rest, headers, false),
        "MODERN" => call(rest, headers, true),
        _ => Exchange { method: word.to_owned(), path: rest.to_owned(), headers, body: body.to_owned() },
    }
}

fn call(rest: &str, more: Vec<(String, String)>, modern: bool) -> Exchange {
    let (tool, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let version = if modern { "2026-07-28" } else { "2025-06-18" };
    headers.push(("mcp-protocol-version".to_owned(), version.to_owned()));
    let mut meta = String::new();
    if modern {
        headers.push(("mcp-method".to_owned(), "tools/call".to_owned()));
        headers.push(("mcp-name".to_owned(), tool.to_owned()));
        let keys = json!({ "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {} });
        meta = format!(",\"_meta\":{keys}");
    }
    headers.extend(more);
    // The arguments travel as they are written: what they are is part of the case.
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}{meta}}}}}"
    );
    Exchange { method: "POST".to_owned(), path: "/mcp".to_owned(), headers, body }
}

/// The body of an answer, as a host's `send` shows it.
///
/// # Panics
/// Where it is not JSON.
#[must_use]
pub fn body(answer: &str) -> Json {
    let (_, body) = answer.split_once("\n\n").unwrap_or_else(|| panic!("an answer without a body: {answer}"));
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// Copies the files of an app: no databases, and nothing that was built.
///
/// # Panics
/// Where a file cannot be copied.
pub fn copy(from: &Path, to: &Path) {
    for path in entries(from) {
        let target = to.join(path.file_name().unwrap_or_default());
        let kept = !["target", ".git", "node_modules", "tests"].contains(&name(&path).as_str());
        if path.is_dir() && kept && !path.join("Cargo.toml").exists() {
            fs::create_dir_all(&target).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
            copy(&path, &target);
        } else if path.is_file() && path.extension().is_none_or(|extension| extension != "db") {
            fs::copy(&path, &target).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    paths
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
