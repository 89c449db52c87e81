//! The table of commands against what a real server says of its own.

use millrace_core::value::Value;
use millrace_languages::redis::{Admission, Argument, Begin, Find, KeySpec, find, key_specs, keys, words};
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

/// A value of a list of names and values.
fn member<'v>(list: &'v Value, name: &str) -> &'v Value {
    let Value::Array(parts) = list else { panic!("{list:?}") };
    let place = parts.iter().position(|part| *part == Value::Text(name.to_owned()));
    place.and_then(|place| parts.get(place + 1)).unwrap_or_else(|| panic!("no `{name}` in {list:?}"))
}

/// The numbers and words of a list of names and values.
fn members(list: &Value) -> Vec<String> {
    let Value::Array(parts) = list else { panic!("{list:?}") };
    let shown = |part: &Value| match part {
        Value::Text(text) => text.clone(),
        Value::I64(number) => number.to_string(),
        _ => panic!("{list:?}"),
    };
    parts.iter().skip(1).step_by(2).map(shown).collect()
}

/// A specification as the server describes it, as the table has it. None for what is no key, and
/// for what the server cannot say.
fn described(spec: &Value) -> Option<String> {
    let Value::Array(flags) = member(spec, "flags") else { panic!("{spec:?}") };
    let has = |flag: &str| flags.contains(&Value::Text(flag.to_owned()));
    let (begin, keys) = (member(spec, "begin_search"), member(spec, "find_keys"));
    let kind = |of: &Value| if let Value::Text(kind) = member(of, "type") { kind.clone() } else { panic!("{of:?}") };
    if has("not_key") || kind(begin) == "unknown" {
        return None;
    }
    let (begin, find) = (members(member(begin, "spec")), members(member(keys, "spec")));
    let (reads, writes) = (has("access"), ["insert", "update", "delete"].iter().any(|flag| has(flag)));
    Some(format!("{} {} {reads} {writes}", begin.join(","), find.join(",")))
}

/// The same for the table.
fn of_table(KeySpec { begin, find, reads, writes }: &KeySpec) -> String {
    let begin = match begin {
        Begin::Index(index) => index.to_string(),
        Begin::Behind(word, start) => format!("{word},{start}"),
        Begin::BehindLast(word) => format!("{word},-2"),
    };
    let find = match find {
        Find::Some(count) => format!("{},1,0", count - 1),
        Find::Every(step) => format!("-1,{step},0"),
        Find::Half => "-1,1,2".to_owned(),
        Find::Counted => "0,1,1".to_owned(),
    };
    format!("{begin} {find} {reads} {writes}")
}

fn check_keys(described_command: &Value, checked: &mut usize) {
    let Value::Array(parts) = described_command else { panic!("{described_command:?}") };
    let (Value::Text(name), Value::Array(specs), Value::Array(subcommands)) = (&parts[0], &parts[8], &parts[9]) else {
        panic!("{parts:?}")
    };
    let (first, second) = name.split_once('|').map_or((name.as_str(), None), |(first, second)| (first, Some(second)));
    let row = find(first, second).unwrap();
    if !matches!(row.admission, Admission::Never(_)) {
        let said: Vec<String> = specs.iter().filter_map(described).collect();
        assert_eq!(key_specs(row).iter().map(of_table).collect::<Vec<_>>(), said, "{name}");
        *checked += said.len();
    }
    subcommands.iter().for_each(|subcommand| check_keys(subcommand, checked));
}

#[test]
fn the_keys_of_every_command_are_where_the_server_says() {
    let server = redis::start(&[]);
    let database = Database::open(connection("redis", &format!("redis://127.0.0.1:{}", server.port), &[("allow", "COMMAND")]));
    let mut checked = 0;
    run(&database, "COMMAND").unwrap().rows.iter().for_each(|row| check_keys(&row[0], &mut checked));
    assert!(checked > 180, "only {checked} specifications");
    // What is decided by options, and what the server itself finds in a command.
    for text in [
        "SET k v",
        "SET k v EX 5 GET",
        "BITFIELD k",
        "BITFIELD k GET u8 0",
        "BITFIELD k GET u8 0 SET u8 0 1",
        "BITFIELD k OVERFLOW SAT INCRBY u8 0 1",
        "SORT k LIMIT 0 1 STORE d",
        "SORT k BY nosort STORE GET",
        "SORT_RO k",
        "GEORADIUS k 1 2 3 km STORE d",
        "GEORADIUSBYMEMBER k m 3 km STOREDIST d",
        "MIGRATE host 1 k 0 5",
        "MIGRATE host 1 \"\" 0 5 KEYS a b",
        "XREADGROUP GROUP STREAMS c COUNT 1 STREAMS a b > >",
        "ZUNIONSTORE d 2 a b WEIGHTS 1 2",
        "EVAL code 2 a b v",
        "MSET a 1 b 2",
        "BITOP AND d a b",
        "LCS a b",
        "XINFO STREAM k",
        "SINTERSTORE d a b",
    ] {
        let cut = words(text).unwrap();
        let arguments: Vec<Argument<'_>> = cut.iter().map(|word| Argument::Text(word.text().unwrap())).collect();
        let command = find(cut[0].text().unwrap(), cut[1].text()).unwrap();
        let of_key = |key: &millrace_languages::redis::Key| (cut[key.place.unwrap()].text().unwrap().to_owned(), key.reads, key.writes);
        let found: Vec<_> = keys(command, &arguments).iter().map(of_key).collect();
        let values: Vec<Value> = ["COMMAND", "GETKEYSANDFLAGS"]
            .into_iter()
            .chain(cut.iter().map(|word| word.text().unwrap()))
            .map(millrace_tests::database::text)
            .collect();
        let rows = super::support::arguments(&database, &values, millrace_core::app::Access::Write).unwrap().rows;
        let said = |row: &Vec<Value>| {
            let Value::Array(parts) = &row[0] else { panic!("{row:?}") };
            let (Value::Text(key), Value::Array(flags)) = (&parts[0], &parts[1]) else { panic!("{parts:?}") };
            let has = |flag: &&str| flags.contains(&Value::Text((*flag).to_owned()));
            (key.clone(), has(&"access"), ["insert", "update", "delete"].iter().any(has))
        };
        assert_eq!(found, rows.iter().map(said).collect::<Vec<_>>(), "{text}");
    }
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
