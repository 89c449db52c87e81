//! Calls that are sent again to the real server: its clients disconnect after the commit and before
//! the answer, and its processes are killed.
#![cfg(target_os = "linux")]

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{Shutdown, TcpStream},
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use millrace_core::{Json, value::Value};
use millrace_tests::{database::Database, local::Host, postgres::Postgres, process::children, tries};

const SQLITE: &str = "connector: sqlite\nconnection_string: orders.db\noptions: { seed: ./orders.sql, busy_timeout: 20s }\n";
const TABLE: &str = "CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\n";
const TOOL: &str = "description: Books an order.\nuse: main\nstatement: INSERT INTO orders (name) VALUES ({{ inputs.name }}) RETURNING id, name\n\
                    inputs: { name: { type: string } }\nidempotency: { key: \"{{ inputs.name }}\" }\n";

fn app(adapter: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("millrace.yaml", "name: orders\n"),
        ("app/adapters/main.yaml", adapter),
        ("app/adapters/orders.sql", TABLE),
        ("app/tools/book/config.yaml", TOOL),
    ];
    for (path, text) in files {
        millrace_tests::files::write(folder.path(), path, text);
    }
    folder
}

/// How a client disconnects.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    /// It does not.
    Never,
    /// Once the first byte of the answer has arrived, which is after the commit.
    AfterTheCommit,
    /// At once, wherever the call is by then.
    AtOnce,
}

/// Books an order; the text of the result, and whether it is an earlier call's. `None` where there
/// is no answer. Of a client that disconnects it is what has arrived and is lost.
fn book(port: u16, name: &str, cut: Cut) -> Option<(String, bool)> {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"book","arguments":{{"name":"{name}"}}}}}}"#);
    let head =
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\naccept: application/json\r\n";
    let mut socket = TcpStream::connect(("127.0.0.1", port)).ok()?;
    socket.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes()).ok()?;
    match cut {
        Cut::Never => {}
        Cut::AfterTheCommit => {
            // What it does not read is what the server has sent.
            let mut lost = [0; 4096];
            let arrived = socket.peek(&mut lost).unwrap();
            assert!(arrived > 0);
            return read(&String::from_utf8_lossy(&lost[..arrived]));
        }
        Cut::AtOnce => {
            socket.shutdown(Shutdown::Both).unwrap();
            return None;
        }
    }
    let mut answer = String::new();
    match socket.read_to_string(&mut answer) {
        Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof) => return None,
        outcome => outcome.unwrap(),
    };
    read(&answer)
}

/// What an answer says; `None` where a part of it is missing, and where the call met one that has
/// not ended.
fn read(answer: &str) -> Option<(String, bool)> {
    let json: Json = serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()?;
    let result = &json["result"];
    if result["isError"] == true {
        assert_eq!(result["_meta"]["millrace/error"]["retryable"], true, "{json}");
        return None;
    }
    Some((result["content"][0]["text"].as_str().unwrap().to_owned(), result["_meta"]["millrace/replayed"] == true))
}

/// Sends the call until there is an answer, as a client does.
fn book_at_last(port: u16, name: &str) -> (String, bool) {
    loop {
        if let Some(answer) = book(port, name, Cut::Never) {
            return answer;
        }
        thread::yield_now();
    }
}

/// How many lost answers were compared with the second ones.
static COMPARED: AtomicUsize = AtomicUsize::new(0);
const CALLERS: usize = 10;

/// How often each of them calls.
fn calls() -> usize {
    tries(100, 20)
}

/// Calls whose clients disconnect, and each of them again.
fn calls_are_cut(adapter: &str) -> i64 {
    let folder = app(adapter);
    let host = Host::dev(folder.path(), &[]);
    let port = host.port;
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            thread::spawn(move || {
                for number in 0..calls() {
                    let name = format!("{caller}-{number}");
                    let cut = if number % 2 == 0 { Cut::AfterTheCommit } else { Cut::AtOnce };
                    let lost = book(port, &name, cut);
                    let (second, is_replayed) = book_at_last(port, &name);
                    if let Some((first, _)) = lost {
                        assert_eq!(second, first);
                        COMPARED.fetch_add(1, SeqCst);
                    }
                    assert!(is_replayed || cut == Cut::AtOnce, "{name}");
                    assert!(second.contains(&format!(r#""name":"{name}""#)), "{second}");
                    assert_eq!(book_at_last(port, &name), (second, true));
                }
            })
        })
        .collect();
    callers.into_iter().for_each(|caller| caller.join().unwrap());
    let all = CALLERS * calls();
    assert!(COMPARED.load(SeqCst) > all / 10, "{}", COMPARED.load(SeqCst));
    i64::try_from(all).unwrap()
}

/// How many orders there are, and how many names.
fn counted(folder: &Path) -> (i64, i64) {
    let database = rusqlite::Connection::open(folder.join("orders.db")).unwrap();
    database.query_row("SELECT count(*), count(DISTINCT name) FROM orders", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

#[test]
fn clients_disconnect_after_the_commit_and_no_order_is_booked_twice_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let adapter = SQLITE.replace("orders.db", &format!("{}/orders.db", folder.path().display()));
    let all = calls_are_cut(&adapter);
    assert_eq!(counted(folder.path()), (all, all));
}

#[test]
fn clients_disconnect_after_the_commit_and_no_order_is_booked_twice_in_postgresql() {
    let server = Postgres::start(&[]);
    let database: Database = server.open();
    database.run("CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY, name text NOT NULL)", &[]).unwrap();
    let all = calls_are_cut(&format!("connector: postgres\nconnection_string: \"{}\"\n", server.url("postgres")));
    let counted = database.rows("SELECT count(*), count(DISTINCT name) FROM orders");
    assert_eq!(counted, [[Value::I64(all), Value::I64(all)]]);
}

#[test]
fn an_isolate_that_is_killed_again_and_again_books_no_order_twice() {
    let folder = app(SQLITE);
    let host = Host::dev(folder.path(), &[]);
    let (port, over) = (host.port, Arc::new(AtomicBool::new(false)));
    let callers: Vec<_> = (0..4)
        .map(|caller| {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                let mut booked = 0;
                while !over.load(SeqCst) {
                    let name = format!("{caller}-{booked}");
                    let (answer, _) = book_at_last(port, &name);
                    assert!(answer.contains(&format!(r#""name":"{name}""#)), "{answer}");
                    booked += 1;
                }
                booked
            })
        })
        .collect();
    for round in 1..=10 {
        while !folder.path().join("orders.db").exists() || counted(folder.path()).0 < 20 * round {
            thread::yield_now();
        }
        // One that is gone by then is being replaced.
        let kill =
            |isolate: &u32| Command::new("kill").args(["-9", &isolate.to_string()]).stderr(Stdio::null()).status().unwrap().success();
        while !children(host.pid()).iter().any(kill) {
            thread::yield_now();
        }
    }
    over.store(true, SeqCst);
    let booked: i64 = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
    assert_eq!(counted(folder.path()), (booked, booked));
}
