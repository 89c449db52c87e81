//! Connectors that speak HTTP: answers that are broken, late or too long, and servers that nobody
//! vouches for.

use std::{
    io::Read as _,
    iter,
    net::TcpListener,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use millrace_core::{
    ErrorKind::{TimedOut, TooLarge, Unavailable},
    app::Access,
    ports::{Connection, Query},
};
use millrace_tests::{
    database::{Database, PATIENCE_MS, connection, outcomes_of, query},
    failures::{self, Case, READ, WRITE, json},
    scripted::{Reply, Scripted},
    wait,
};

use crate::certificates::serving;

/// A connector that speaks HTTP.
struct Far {
    /// What a server may answer, and what becomes of it.
    cases: fn() -> Vec<Case>,
    /// An answer that is whole.
    good: &'static str,
    /// A statement that reads, and one that writes.
    statements: [&'static str; 2],
    /// The adapter's settings for a server at a URL.
    settings: fn(&str) -> Connection,
}

impl Far {
    const fn of_sql(cases: fn() -> Vec<Case>, good: &'static str, settings: fn(&str) -> Connection) -> Self {
        Self { cases, good, statements: [READ, WRITE], settings }
    }

    fn on(&self, server: &Scripted) -> Connection {
        (self.settings)(&format!("http://{}", server.address))
    }
}

static CLICKHOUSE: Far = Far::of_sql(failures::clickhouse, failures::CLICKHOUSE, |url| {
    connection("clickhouse", &format!("{url}/shop"), &[("user", "me"), ("password", "hunter2")])
});
static D1: Far = Far::of_sql(failures::d1, failures::D1, |url| {
    connection("d1", "d1://0a1b/1111-2222", &[("api_token", "t.o.k"), ("base_url", &format!("{url}/client/v4"))])
});
static HTTP: Far = Far {
    statements: [r#"{"method": "GET", "path": ["/t"]}"#, r#"{"method": "POST", "path": ["/t"], "body": {"v": 1}}"#],
    ..Far::of_sql(failures::http, failures::POSTGREST, |url| connection("http", url, &[("allow_private", "a test"), ("bearer", "hunter2")]))
};
static LIBSQL: Far = Far::of_sql(failures::libsql, failures::LIBSQL, |url| connection("libsql", url, &[("auth_token", "t.o.k")]));
static NEON: Far =
    Far::of_sql(failures::neon, failures::NEON, |url| connection("neon", "postgres://me:hunter2@db/x", &[("base_url", url)]));
static PLANETSCALE: Far = Far::of_sql(failures::planetscale, failures::PLANETSCALE, |url| {
    connection("planetscale", &format!("{}/x", url.replace("://", "://me:hunter2@")), &[])
});
static POSTGREST: Far = Far {
    statements: [crate::postgrest::life::READ, crate::postgrest::life::WRITE],
    ..Far::of_sql(failures::postgrest, failures::POSTGREST, |url| connection("postgrest", url, &[("token", "hunter2")]))
};

/// Makes the tests of connectors.
macro_rules! far {
    ($($name:ident $far:ident { $($test:ident)+ })+) => { $(
        mod $name { $(
            #[test]
            fn $test() {
                super::$test(&super::$far);
            }
        )+ }
    )+ };
}

far! {
    clickhouse CLICKHOUSE { broken_answers silence_and_long_bodies }
    d1 D1 { broken_answers silence_and_long_bodies }
    http HTTP { broken_answers silence_and_long_bodies a_server_that_nobody_knows }
    libsql LIBSQL { broken_answers silence_and_long_bodies }
    neon NEON { broken_answers silence_and_long_bodies a_server_that_nobody_knows }
    planetscale PLANETSCALE { broken_answers silence_and_long_bodies a_server_that_nobody_knows }
    postgrest POSTGREST { broken_answers silence_and_long_bodies }
}

/// They are asked for once more where nothing can be done twice.
fn broken_answers(far: &Far) {
    for case in (far.cases)() {
        assert_eq!(outcomes_of(far.statements, &case.replies, |server| far.on(server)), [case.read, case.written], "{}", case.what);
    }
}

/// How long after a deadline a busy machine may notice it.
const LATE: Duration = Duration::from_secs(20);

/// Silence ends at the deadline, and a body over the limit is not read.
fn silence_and_long_bodies(far: &Far) {
    let [read, write] = far.statements;
    for reply in [Reply::Silence, Reply::Stalled(far.good.to_owned(), 20)] {
        for (access, text) in [(Access::Read, read), (Access::Write, write)] {
            // What a busy machine does not get sent by the deadline it sends by one of twice the
            // length.
            let by = |deadline_ms| {
                let server = Scripted::with(vec![reply.clone()]);
                let since = Instant::now();
                let error = Database::open(far.on(&server)).run_with(&Query { deadline_ms, access, ..query(text) }).unwrap_err();
                assert!(since.elapsed() < Duration::from_millis(deadline_ms) + LATE, "{access:?}: {:?}", since.elapsed());
                (error.kind, server.received().len())
            };
            let deadlines_ms = iter::successors(Some(300), |ms| Some(2 * ms)).take_while(|ms| *ms < PATIENCE_MS);
            let found = deadlines_ms.map(by).find(|(_, sent)| *sent > 0);
            assert_eq!(found, Some((TimedOut, 1)), "{access:?}");
        }
    }
    let server = Scripted::with(vec![json(200, &format!("{}{}", far.good, " ".repeat(2 << 20)))]);
    let limited = Query { max_bytes: 64, access: Access::Read, ..query(read) };
    let error = Database::open(far.on(&server)).run_with(&limited).unwrap_err();
    assert_eq!((error.kind, server.received().len()), (TooLarge, 1));
}

/// It gets no password.
fn a_server_that_nobody_knows(far: &Far) {
    let (tls, _) = serving("localhost");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, heard) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = rustls::StreamOwned::new(rustls::ServerConnection::new(Arc::clone(&tls)).unwrap(), stream);
            told.send(stream.read(&mut [0; 16]).is_ok_and(|count| count > 0)).unwrap();
        }
    });
    for host in ["localhost", "127.0.0.1"] {
        let write = Query { deadline_ms: 2_000, ..query(far.statements[1]) };
        let error = Database::open((far.settings)(&format!("https://{host}:{port}"))).run_with(&write).unwrap_err();
        assert!(error.kind == Unavailable && !format!("{error:?}").contains("hunter2"), "{error:?}");
        let is_told = heard.recv_timeout(wait::PATIENCE).unwrap();
        assert!(!is_told, "{host}: something was said to a server that nobody verified");
    }
    assert!(heard.try_iter().all(|said| !said));
}
