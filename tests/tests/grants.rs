//! `millrace grants`: a role that has only what is printed passes the cases, and does not without
//! any single one of the rights.

use std::{fs, path::Path, process::Command};

use millrace_tests::files::write;
use millrace_tests::{
    Group,
    case::{Case, Exchange, root},
    clickhouse,
    database::{Database, connection},
    direct,
    docs::{blocks, check_part, shell, shell_with, text as said},
    groups,
    local::binary,
    mysql::Mysql,
    postgres::{Postgres, psql},
    process::Process,
};
use serde_json::Value as Json;

/// Where the cases run.
const DATABASE: &str = "trial";
/// Who has the rights, and its password.
const ROLE: &str = "app";

/// A server that knows the rights of a role.
enum Server {
    Postgres(Postgres),
    Mysql(Mysql),
    ClickHouse(Process),
}

impl Server {
    fn start(group: &Group) -> Self {
        if group.mysql.is_some() {
            return Self::Mysql(Mysql::start(&[]));
        }
        if group.clickhouse.is_some() {
            return Self::ClickHouse(clickhouse::start(&["--rights"]));
        }
        let server = Postgres::start(&[]);
        psql(&server.url("postgres"), &format!("CREATE ROLE {ROLE} LOGIN PASSWORD '{ROLE}'"));
        Self::Postgres(server)
    }

    /// For the administrator.
    fn url(&self) -> String {
        match self {
            Self::Postgres(server) => server.url(DATABASE),
            Self::Mysql(server) => server.url(DATABASE),
            Self::ClickHouse(server) => format!("{}/{DATABASE}", clickhouse::url(server)),
        }
    }

    /// For the role.
    fn url_of_role(&self) -> String {
        match self {
            Self::Postgres(server) => format!("postgres://{ROLE}:{ROLE}@127.0.0.1:{}/{DATABASE}", server.port),
            Self::Mysql(server) => format!("mysql://{ROLE}:{ROLE}@127.0.0.1:{}/{DATABASE}", server.port),
            Self::ClickHouse(server) => format!("clickhouse://{ROLE}:{ROLE}@127.0.0.1:{}/{DATABASE}", server.port),
        }
    }

    /// Makes the database anew, and a role that may do nothing in it.
    fn make(&self, group: &Group) {
        match self {
            Self::Postgres(server) => {
                psql(&server.url("postgres"), &format!("DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)"));
                server.create(DATABASE, &sql_of(group, "postgres.sql"));
            }
            Self::Mysql(server) => {
                let role = format!("DROP USER IF EXISTS {ROLE}@'%'; CREATE USER {ROLE}@'%' IDENTIFIED BY '{ROLE}';");
                let database = format!("DROP DATABASE IF EXISTS {DATABASE}; CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4;");
                server.run("shop", &(role + &database));
                server.run(DATABASE, &sql_of(group, "mysql.sql"));
            }
            Self::ClickHouse(server) => {
                let whole = clickhouse::open(server);
                for sql in
                    [format!("DROP USER {ROLE}"), format!("DROP DATABASE IF EXISTS {DATABASE}"), format!("CREATE DATABASE {DATABASE}")]
                {
                    whole.run(&sql, &[]).unwrap();
                }
                self.run(&sql_of(group, "clickhouse.sql"));
            }
        }
    }

    /// Runs SQL with the database's own client.
    fn run(&self, sql: &str) {
        match self {
            Self::Postgres(_) => psql(&self.url(), sql),
            Self::Mysql(server) => server.run(DATABASE, sql),
            Self::ClickHouse(_) => {
                let database = Database::open(connection("clickhouse", &self.url(), &[]));
                for statement in sql.split_inclusive(";\n").map(|statement| statement.trim_end().trim_end_matches(';')) {
                    let is_empty = statement.lines().all(|line| line.is_empty() || line.starts_with("--"));
                    if !is_empty {
                        database.run(statement, &[]).unwrap_or_else(|error| panic!("{statement}: {error:?}"));
                    }
                }
            }
        }
    }
}

fn sql_of(group: &Group, file: &str) -> String {
    fs::read_to_string(group.app.parent().unwrap().join(file)).unwrap()
}

/// What the command prints.
pub(crate) fn grants(app: &Path, env: &[(String, String)], arguments: &[&str]) -> String {
    let output = Command::new(binary()).arg("grants").arg(app).args(arguments).envs(env.iter().cloned()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn with_url(group: &Group, url: String) -> Vec<(String, String)> {
    let others = group.env.iter().filter(|(name, _)| name != "DATABASE_URL").cloned();
    others.chain([("DATABASE_URL".to_owned(), url)]).collect()
}

/// The statements that take the rights away, one by one: each column of a right is one.
fn revokes(json: &str) -> Vec<String> {
    let all: Json = serde_json::from_str(json).unwrap();
    let sections = all["sections"].as_array().unwrap();
    let grants = sections.iter().flat_map(|section| section["grants"].as_array().unwrap());
    grants
        .flat_map(|grant| {
            let (what, role) = grant["sql"].as_str().unwrap().strip_prefix("GRANT ").unwrap().rsplit_once(" TO ").unwrap();
            // ClickHouse has no space before the columns.
            match what.split_once('(').filter(|_| !grant["columns"].is_null()) {
                None => vec![format!("REVOKE {what} FROM {role}")],
                Some((privilege, rest)) => {
                    let (columns, object) = rest.split_once(')').unwrap();
                    // In ClickHouse, a column goes with its parts: which of them is looked at, the
                    // plan of the query decides.
                    let whole = |column: &str| column.trim_matches('`').split('.').next().unwrap().to_owned();
                    let mut names: Vec<&str> = columns.split(", ").collect();
                    names.dedup_by_key(|column| whole(column));
                    let with_parts =
                        |name: &str| columns.split(", ").filter(|column| whole(column) == whole(name)).collect::<Vec<_>>().join(", ");
                    names.iter().map(|name| format!("REVOKE {privilege}({}){object} FROM {role}", with_parts(name))).collect()
                }
            }
        })
        .collect()
}

/// The expected answers of each case.
pub(crate) fn expected(group: &Group) -> Vec<Vec<String>> {
    let of = |case: &Case| fs::read_to_string(&case.expected).unwrap().trim_end().split("\n###\n").map(str::to_owned).collect();
    group.cases.iter().map(of).collect()
}

/// The requests whose answers are not the expected ones, which `is_left_out` does not leave out.
pub(crate) fn differences(group: &Group, expected: &[Vec<String>], is_left_out: impl Fn(&str) -> bool) -> Vec<String> {
    let answers = group.answered(direct::run(group)).zip(expected);
    answers.flat_map(|((case, answers), expected)| differences_of(case, &answers, expected, &is_left_out)).collect()
}

/// Whether any answer is not the expected one: what comes after the first is not asked for.
pub(crate) fn differs(group: &Group, expected: &[Vec<String>], is_left_out: impl Fn(&str) -> bool + Sync) -> bool {
    let (mut expected, mut differs) = (expected.iter(), false);
    direct::run_while(group, |case, answers| {
        let expected = expected.next().unwrap_or_else(|| panic!("{} is not expected", case.name));
        differs = !differences_of(case, answers, expected, &is_left_out).is_empty();
        !differs
    });
    differs
}

fn differences_of(case: &Case, answers: &[String], expected: &[String], is_left_out: impl Fn(&str) -> bool) -> Vec<String> {
    assert_eq!(expected.len(), answers.len(), "{}", case.name);
    let pairs = case.requests.iter().zip(expected.iter().zip(answers));
    let different = pairs.filter(|(request, (expected, answer))| expected != answer && !is_left_out(&request.body));
    different.map(|(request, (expected, answer))| format!("{}: {}\n{expected}\n---\n{answer}", case.name, request.body)).collect()
}

/// Leaves out what takes as long without a right: a statement that takes too long.
fn leave_out_slow(group: &mut Group, expected: &mut [Vec<String>]) {
    for (case, expected) in group.cases.iter_mut().zip(expected) {
        let is_kept = |request: &Exchange| !request.body.contains("\"slow\"");
        let mut kept = case.requests.iter().map(is_kept).collect::<Vec<_>>().into_iter();
        expected.retain(|_| kept.next().unwrap());
        case.requests.retain(is_kept);
    }
}

/// Whether a request is for a table that is not there. MariaDB tells nobody that it is not who has
/// no right to it.
fn is_for_no_table(body: &str) -> bool {
    body.contains("\"absent\"")
}

/// What was found out of a group.
struct Checked {
    /// The lines of what is not known.
    notes: Vec<String>,
    /// The statements that took a right away and changed no answer.
    needless: Vec<String>,
}

/// Runs a group as a role with what is printed, and then without each right of it, of which there
/// are at least so many.
fn check(name: &str, least: usize) -> Checked {
    let mut group = groups().into_iter().find(|group| group.name == name).unwrap();
    let server = Server::start(&group);
    server.make(&group);
    let env = with_url(&group, server.url());
    let printed = grants(&group.app, &env, &["--connect", "--role", ROLE]);
    let json = grants(&group.app, &env, &["--connect", "--role", ROLE, "--json"]);
    let revokes = revokes(&json);
    assert!(revokes.len() >= least, "{} rights\n{printed}", revokes.len());
    group.env = with_url(&group, server.url_of_role());
    let mut expected = expected(&group);
    let is_mysql = group.mysql.is_some();
    let is_left_out = |body: &str| is_mysql && is_for_no_table(body);
    // The database is there already.
    (group.postgres, group.mysql, group.clickhouse) = (None, None, None);
    server.run(&printed);
    let found = differences(&group, &expected, is_left_out);
    assert!(found.is_empty(), "{name}: {} requests differ with these rights:\n{printed}\n{}", found.len(), found.join("\n"));
    leave_out_slow(&mut group, &mut expected);
    let mut needless = Vec::new();
    for revoke in revokes {
        server.make(&group);
        server.run(&printed);
        server.run(&revoke);
        if !differs(&group, &expected, is_left_out) {
            needless.push(revoke);
        }
    }
    let notes = printed.lines().filter_map(|line| line.strip_prefix("-- NOT KNOWN: ")).map(str::to_owned).collect();
    Checked { notes, needless }
}

/// Whether the notes begin like this, and no others are there.
pub(crate) fn check_notes(notes: &[String], expected: &[&str]) {
    let is_same = notes.len() == expected.len() && notes.iter().zip(expected).all(|(note, expected)| note.starts_with(expected));
    assert!(is_same, "{notes:#?}");
}

#[test]
fn a_role_with_these_rights_passes_the_cases_of_postgresql_and_with_one_less_does_not() {
    let checked = check("postgres", 8);
    assert_eq!(checked.needless, [""; 0]);
    let (absent, sneaky) =
        ("app/tools/absent/config.yaml:4:3 (absent): the database has no table", "app/tools/sneaky/config.yaml:4:3 (sneaky): the function");
    check_notes(&checked.notes, &[absent, sneaky]);
}

#[test]
fn so_does_one_for_transactions_of_postgresql() {
    let checked = check("postgres-transactions", 4);
    assert_eq!(checked.needless, [""; 0]);
    check_notes(&checked.notes, &[]);
}

#[test]
fn so_does_one_for_records_of_calls() {
    let checked = check("postgres-idempotency", 12);
    assert_eq!(checked.needless, [""; 0]);
    check_notes(&checked.notes, &[]);
}

#[test]
fn so_does_one_for_mariadb() {
    let checked = check("mysql", 20);
    assert_eq!(checked.needless, [""; 0]);
    let (absent, scripted, types) = (
        "app/tools/absent/config.yaml:4:3 (absent): the database has no table",
        "app/tools/scripted/handler.ts:10:34 (scripted): the text",
        "app/tools/types/config.yaml:4:3 (types): the function `ST_AsText` is the server's own",
    );
    check_notes(&checked.notes, &[absent, scripted, types]);
}

#[test]
fn so_does_one_for_clickhouse() {
    let checked = check("clickhouse", 20);
    assert_eq!(checked.needless, [""; 0]);
    let (broken, scripted) = (
        "app/tools/broken/config.yaml:3:12 (broken): the database has no table",
        "app/tools/scripted/handler.ts:7:24 (scripted): the text",
    );
    check_notes(&checked.notes, &[broken, scripted]);
}

#[test]
fn the_page_does_what_it_says() {
    let page = root().join("docs/grants.md");
    let text = fs::read_to_string(&page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let app = folder.path();
    fs::write(app.join("millrace.yaml"), "name: shop\n").unwrap();
    for (_, body) in blocks(&text).into_iter().filter(|(kind, _)| kind == "yaml") {
        let (first, rest) = body.split_once('\n').unwrap();
        write(app, first.trim_start_matches(['#', ' ']), rest);
    }
    let commands: Vec<_> = blocks(&text).into_iter().filter(|(kind, _)| kind == "sh").map(|(_, command)| command).collect();
    let [first, second] = commands.as_slice() else { panic!("{commands:?}") };
    let printed = shell(app, first);
    assert!(printed.status.success(), "{}", said(&printed));
    check_part(&page, "printed", &format!("```sql\n{}```", String::from_utf8_lossy(&printed.stdout)));
    let server = Postgres::start(&[]);
    server.create(DATABASE, "CREATE TABLE orders (id serial PRIMARY KEY, customer text NOT NULL, item text NOT NULL);");
    psql(&server.url(DATABASE), &format!("CREATE ROLE {ROLE} LOGIN PASSWORD '{ROLE}'"));
    let server = Server::Postgres(server);
    let (url, url_of_role) = (server.url(), server.url_of_role());
    let calls = "millrace call order customer=ada item=lamp; millrace call find customer=ada";
    let before = shell_with(app, calls, &[("SHOP_DATABASE", &url_of_role)], &[]);
    assert!(!before.status.success(), "{}", said(&before));
    let granted = shell_with(app, second, &[("SHOP_DATABASE", &url), ("ADMIN_DATABASE", &url)], &[]);
    assert!(granted.status.success(), "{}", said(&granted));
    let after = shell_with(app, calls, &[("SHOP_DATABASE", &url_of_role)], &[]);
    assert!(after.status.success() && said(&after).contains("lamp"), "{}", said(&after));
}
