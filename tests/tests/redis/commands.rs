//! The table of commands against what a real server says of its own.

use millrace_catalogue::redis::{Admission, find};
use millrace_core::value::Value;
use millrace_tests::{
    database::{Database, connection},
    redis,
};

use super::support::run;

struct Known {
    name: String,
    arity: i64,
    flags: Vec<String>,
}

fn known(described: &Value) -> Vec<Known> {
    let Value::Array(parts) = described else { panic!("{described:?}") };
    let (Value::Text(name), Value::I64(arity), Value::Array(flags)) = (&parts[0], &parts[1], &parts[2]) else { panic!("{parts:?}") };
    let flags = flags.iter().map(|flag| if let Value::Text(flag) = flag { flag.clone() } else { panic!("{flag:?}") }).collect();
    let Value::Array(subcommands) = &parts[9] else { panic!("{parts:?}") };
    let mut all = vec![Known { name: name.replace('|', " "), arity: *arity, flags }];
    all.extend(subcommands.iter().flat_map(known));
    all
}

#[test]
fn every_command_of_the_server_is_known_as_it_is() {
    let server = redis::start(&[]);
    let database = Database::open(connection("redis", &format!("redis://127.0.0.1:{}", server.port), &[("allow", "COMMAND")]));
    let rows = run(&database, "COMMAND").unwrap().rows;
    let commands: Vec<Known> = rows.iter().flat_map(|row| known(&row[0])).collect();
    assert!(commands.len() > 300, "only {} commands", commands.len());
    let mut free = 0;
    for Known { name, arity, flags } in &commands {
        let (first, second) = name.split_once(' ').map_or((name.as_str(), None), |(first, second)| (first, Some(second)));
        let row = find(first, second).unwrap_or_else(|| panic!("`{name}` is not in the table"));
        let has = |flag: &str| flags.iter().any(|known| known == flag);
        if row.name.eq_ignore_ascii_case(name) && row.admission != Admission::Container {
            // Redis 7.2 gave them an option.
            let arity = if matches!(name.as_str(), "zrank" | "zrevrank") { -3 } else { *arity };
            assert_eq!(i64::from(row.arity), arity, "{name}");
        }
        if has("write") {
            assert!(!row.reads, "`{name}` writes");
        }
        if has("readonly") {
            assert!(row.reads, "`{name}` reads");
        }
        let waits_by_option = matches!(first, "xread" | "xreadgroup");
        if row.admission == Admission::Free {
            free += 1;
            for flag in ["admin", "noscript", "no_auth"] {
                assert!(!has(flag), "`{name}` is {flag}, and admitted");
            }
            assert!(!has("blocking") || waits_by_option, "`{name}` waits, and is admitted");
        }
        if has("blocking") && !waits_by_option {
            assert!(matches!(row.admission, Admission::Never(_)), "{name}");
        }
    }
    println!("{} commands, {free} of them admitted", commands.len());
    assert!(free > 150, "only {free} are admitted");
}

#[test]
fn refused_commands_are_not_sent() {
    let server = redis::start(&[]);
    let database = super::support::open(server.port);
    run(&database, "SET kept 1").unwrap();
    for (command, expected) in [
        ("KEYS *", "goes through every key"),
        ("FLUSHALL", "administer"),
        ("flushdb", "administer"),
        ("CONFIG SET maxmemory 1", "administer"),
        ("EVAL return(1) 0", "runs code"),
        ("SELECT 1", "changes the connection"),
        ("MULTI", "changes the connection"),
        ("SUBSCRIBE c", "changes the connection"),
        ("BLPOP k 0", "waits on the server"),
        ("XREAD BLOCK 0 STREAMS k $", "waits on the server"),
        ("CLIENT REPLY OFF", "changes the connection"),
        ("NOSUCH", "is not known"),
    ] {
        let error = run(&database, command).unwrap_err();
        assert!(error.kind == millrace_core::ErrorKind::Denied && error.message.contains(expected), "{command}: {error:?}");
    }
    assert_eq!(super::support::raw(server.port, &[b"DBSIZE"]), ":1");
    let sent = super::support::raw(server.port, &[b"INFO", b"commandstats"]);
    assert!(sent.starts_with('$'), "{sent}");

    // What the adapter allows by name does run.
    let options = [("allow", "KEYS,EVAL,CONFIG GET")];
    let allowing = Database::open(connection("redis", &format!("redis://127.0.0.1:{}", server.port), &options));
    assert_eq!(super::support::json(&allowing, "KEYS *"), r#"[{"value":"kept"}]"#);
    assert_eq!(super::support::json(&allowing, "CONFIG GET databases"), r#"[{"databases":"16"}]"#);
    assert!(run(&allowing, "CONFIG SET maxmemory 1").is_err() && run(&allowing, "BLPOP k 0").is_err());
}
