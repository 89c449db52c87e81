//! `aws_iam`: tokens as botocore makes them, and logins with them.

use std::{
    io::Write as _,
    process::{Command as Process, Stdio},
    rc::Rc,
    time::Instant,
};

use millrace_aws::RdsTokens;
use millrace_core::{
    Error, ErrorKind, Json,
    ports::{Clock, Connectors as _, LocalFuture, LoginTokens as _, Query},
    value::Value,
};
use millrace_native::{clock::SystemClock, connectors::NativeConnectors, env::Variables, wait_until::Tasks};
use millrace_tests::{
    case::root,
    database::{connection, query, runtime},
    postgres::{Postgres, psql},
    process::tool,
};
use serde_json::json;

use crate::certificates::certified;

/// When the tokens of these tests are made, in seconds since the Unix epoch.
const TIME: u64 = 1_790_000_000;
const SECURED: &str = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

/// A clock that is within one second of [`TIME`] for as long as a test may run.
struct SlowClock(Instant);

impl Clock for SlowClock {
    fn now_ms(&self) -> u64 {
        TIME * 1000 + u64::try_from(self.0.elapsed().as_millis()).unwrap() / 1000
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        SystemClock.sleep(duration_ms)
    }
}

fn clock() -> Rc<SlowClock> {
    Rc::new(SlowClock(Instant::now()))
}

/// What botocore makes for each case.
fn of_botocore(cases: &[Json]) -> Vec<String> {
    let mut python = Process::new(tool("servers-venv/bin/python"))
        .arg(root().join("tests/servers/rds_tokens.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(json!(cases).to_string().as_bytes()).unwrap();
    let made = python.wait_with_output().unwrap();
    assert!(made.status.success());
    serde_json::from_slice(&made.stdout).unwrap()
}

fn case(host: &str, port: u16, user: &str, region: &str, session: Option<&str>) -> Json {
    let (id, secret) = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
    json!({"host": host, "port": port, "user": user, "region": region, "id": id, "secret": secret, "session": session, "time": TIME})
}

/// The variables of a deployment with the credentials of a case.
fn variables(case: &Json) -> Variables {
    let names =
        [("AWS_REGION", "region"), ("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_SESSION_TOKEN", "session")];
    names.iter().filter_map(|(name, part)| Some(((*name).to_owned(), case[part].as_str()?.to_owned()))).collect()
}

#[test]
fn tokens_are_those_of_botocore() {
    let session = "IQoJb3JpZ2luX2VjEHMaDGV1LWNlbnRyYWwtMSJ/+abc==".repeat(12);
    let hosts = [
        ("shop.c9akciq32rgz.eu-central-1.rds.amazonaws.com", 5432, "eu-central-1"),
        ("shop.cluster-c9akciq32rgz.us-east-1.rds.amazonaws.com", 3306, "us-east-1"),
        ("shop.proxy-c9akciq32rgz.cn-north-1.rds.amazonaws.com.cn", 6432, "cn-north-1"),
        // The port that is left out of what is signed.
        ("shop.c9akciq32rgz.us-gov-west-1.rds.amazonaws.com", 443, "us-gov-west-1"),
    ];
    let users = ["shop_app", "o'neil & co?", "a+b=c%20/d~e.f-g", "Bücher:木@x", "\"quoted\" {{x}}*()!", " "];
    let mut cases = Vec::new();
    for (host, port, region) in hosts {
        for user in users {
            cases.extend([None, Some(session.as_str())].map(|session| case(host, port, user, region, session)));
        }
    }
    let expected = of_botocore(&cases);
    assert_eq!((cases.len(), expected.len()), (48, 48));
    for (case, expected) in cases.iter().zip(&expected) {
        let tokens = RdsTokens::new(Rc::new(variables(case)), clock());
        let (host, user) = (case["host"].as_str().unwrap(), case["user"].as_str().unwrap());
        let port = u16::try_from(case["port"].as_u64().unwrap()).unwrap();
        assert_eq!(tokens.token(host, port, user).unwrap().expose(), expected, "{case}");
        // DNS does not tell cases apart, and the signature does.
        assert_eq!(tokens.token(&host.to_uppercase(), port, user).unwrap().expose(), expected, "{case}");
    }
}

#[test]
fn what_a_token_needs_is_named() {
    let whole = case("db.example", 5432, "me", "eu-central-1", None);
    for (name, part) in [("AWS_REGION", "region"), ("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "secret")] {
        let mut case = whole.clone();
        case[part] = Json::Null;
        let error = RdsTokens::new(Rc::new(variables(&case)), clock()).token("db.example", 5432, "me").unwrap_err();
        let expected = format!("`aws_iam` of an adapter needs the variable `{name}`, which is not set");
        assert_eq!((error.kind, error.message.clone()), (ErrorKind::Configuration, expected));
    }
}

#[test]
fn a_login_with_a_token() {
    let [certificate, key, authority] = certified("localhost");
    let mut server = Postgres::start_with_tls(&certificate, &key);
    let session = "IQoJb3JpZ2luX2VjEHM/+abc==".repeat(40);
    let users = ["shop app", "stranger", "other"];
    let cases = users.map(|user| case("localhost", server.port, user, "eu-central-1", Some(&session)));
    // PostgreSQL itself compares what it gets with botocore's token, in the place of what RDS does.
    let tokens = of_botocore(&cases);
    assert!(tokens[0].starts_with(&format!("localhost:{}/?Action=connect&DBUser=shop%20app&", server.port)));
    let roles = users
        .iter()
        .zip([&tokens[0], &tokens[0], &tokens[2]])
        .map(|(user, token)| format!("CREATE ROLE \"{user}\" LOGIN PASSWORD '{token}';\n"));
    psql(&server.url("postgres"), &roles.collect::<String>());
    server.let_in(&[
        "hostssl all \"shop app\",stranger all password",
        "hostssl all other all scram-sha-256",
        "host all postgres 127.0.0.1/32 scram-sha-256",
    ]);
    let run = |user: &str, variables: Variables| -> Result<Vec<Vec<Value>>, Error> {
        let clock = clock();
        let user = user.replace(' ', "%20");
        let address = format!("postgres://{user}@localhost:{}/postgres?aws_iam=true&sslmode=verify-full", server.port);
        let connectors = NativeConnectors::new("/".into(), clock.clone(), &Tasks::new()).with_variables(Rc::new(variables));
        let connector = connectors.open(connection("postgres", &address, &[("ca_certificate", &authority)]))?;
        let query = Query { deadline_ms: clock.now_ms() + 20_000, ..query(SECURED) };
        runtime().block_on(connector.query(query)).map(|rows| rows.rows)
    };
    assert_eq!(run("shop app", variables(&cases[0])), Ok(vec![vec![Value::Bool(true)]]));
    let place = "PostgreSQL";
    let help = "with `aws_iam`, this user needs the role `rds_iam`, and the `AWS_…` variables the right `rds-db:connect` for it";
    let refused = run("stranger", variables(&cases[1])).unwrap_err();
    assert_eq!((refused.kind, refused.message.clone()), (ErrorKind::Credentials, format!("{place} does not accept the password; {help}")));
    assert!(!format!("{refused:?}").contains("X-Amz"), "{refused:?}");
    // The password of the user is the token, and still it is not proven by: this is no server of
    // RDS.
    let asked = run("other", variables(&cases[2])).unwrap_err();
    let expected = format!(
        "{place} takes no token of AWS IAM from the user of the adapter; switch IAM authentication on, and run `GRANT rds_iam TO` the user"
    );
    assert_eq!((asked.kind, asked.message.clone()), (ErrorKind::Denied, expected));
    let without = run("shop app", Variables::default()).unwrap_err();
    let expected = "`aws_iam` of an adapter needs the variable `AWS_REGION`, which is not set";
    assert_eq!((without.kind, without.message.as_str()), (ErrorKind::Configuration, expected));
}

#[test]
fn a_token_is_not_told_to_a_server_that_is_not_verified() {
    let [certificate, key, _] = certified("localhost");
    let [_, _, stranger] = certified("localhost");
    let case = case("localhost", 5432, "me", "eu-central-1", None);
    let attempt = |port: u16, options: &[(&str, &str)]| {
        let connectors = NativeConnectors::new("/".into(), Rc::new(SystemClock), &Tasks::new()).with_variables(Rc::new(variables(&case)));
        let options: Vec<_> = options.iter().copied().chain([("aws_iam", "true")]).collect();
        let connector = connectors.open(connection("postgres", &format!("postgres://me@localhost:{port}/postgres"), &options))?;
        let query = Query { deadline_ms: SystemClock.now_ms() + 20_000, ..query(SECURED) };
        runtime().block_on(connector.query(query)).map(drop)
    };
    let secured = Postgres::start_with_tls(&certificate, &key);
    let error = attempt(secured.port, &[("ca_certificate", &stranger)]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied, "{error:?}");
    assert!(error.message.ends_with("set `ca_certificate` or `sslrootcert`: `aws_iam` demands this check"), "{error:?}");
    let open = Postgres::start(&[]);
    let error = attempt(open.port, &[("sslmode", "verify-full")]).unwrap_err();
    let expected = "PostgreSQL offers no TLS; `aws_iam` demands it";
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Configuration, expected));
    for mode in ["", "disable", "prefer", "require", "verify-ca"] {
        let error = attempt(open.port, &[("sslmode", mode)]).unwrap_err();
        assert!(error.kind == ErrorKind::Configuration && error.message.contains("set `sslmode=verify-full`"), "{mode}: {error:?}");
    }
    // A host that makes no tokens says so, as a Worker does.
    let settings = connection("postgres", "postgres://me@localhost/x", &[("aws_iam", "true"), ("sslmode", "verify-full")]);
    let error = NativeConnectors::new("/".into(), Rc::new(SystemClock), &Tasks::new()).open(settings).err().unwrap();
    assert!(error.message.starts_with("the adapter `shop` has `aws_iam: true`: this host makes no tokens of AWS IAM"), "{error:?}");
}
