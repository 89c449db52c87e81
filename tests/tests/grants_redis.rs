//! `millrace grants` for Redis: a user that has only what is printed passes the cases, and does not
//! without any single one of the rights.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use millrace_grants::{KeyAccess, Selector, selector_of};
use millrace_tests::{
    case::root,
    database::{Database, connection},
    docs::{blocks, check_part, shell, shell_with, text as said},
    groups, redis,
};
use serde_json::Value as Json;

use super::grants::{check_notes, differences, differs, expected, grants};
use millrace_tests::files::write;

/// Who has the rights, and its password.
const USER: &str = "app";
const PASSWORD: &str = "secret of app";

/// What `redis-cli` prints when lines are piped into it.
fn piped(port: u16, arguments: &[&str], lines: &str) -> String {
    let mut client = Command::new("redis-cli");
    client.args(["-h", "127.0.0.1", "--no-auth-warning", "-p", &port.to_string()]).args(arguments);
    let mut child = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs lines as the administrator. Whatever the server says, `redis-cli` ends with success.
fn run(port: u16, lines: &str) -> String {
    let output = piped(port, &[], lines);
    let is_good = |line: &str| line.is_empty() || line.starts_with("# ") || matches!(line, "OK" | "QUEUED" | "0" | "1");
    assert!(output.lines().all(is_good), "{lines}\n{output}");
    output
}

/// Lines that make a user that may do nothing, whatever it could before.
fn user() -> String {
    format!("ACL DELUSER {USER}\nACL SETUSER {USER} on \">{PASSWORD}\"\n")
}

/// Whether a request is for the key that is empty, which `*` of a rule does not match.
fn is_for_the_empty_key(body: &str) -> bool {
    body.contains(r#""key": """#)
}

/// The rules of a selector without one of its rights each: its command, a key, reading or writing
/// of one, a channel.
fn lesser(rules: &str) -> Vec<String> {
    let words: Vec<&str> = rules.trim_matches(['(', ')']).split(' ').collect();
    let with = |place: usize, other: Option<String>| {
        let words = words.iter().enumerate().filter_map(|(at, word)| if at == place { other.clone() } else { Some((*word).to_owned()) });
        format!("({})", words.collect::<Vec<_>>().join(" "))
    };
    let mut all = Vec::new();
    for (place, word) in words.iter().enumerate().filter(|(_, word)| **word != "resetchannels") {
        all.push(with(place, None));
        if let Some(pattern) = word.strip_prefix('~') {
            all.extend(["%R~", "%W~"].map(|prefix| with(place, Some(format!("{prefix}{pattern}")))));
        }
    }
    all
}

#[test]
fn a_user_with_these_rights_passes_the_cases_of_redis_and_with_one_less_does_not() {
    let mut group = groups().into_iter().find(|group| group.name == "redis").unwrap();
    let database = group.redis.take().unwrap();
    database.make();
    let port = redis::shared_port();
    let printed = grants(&group.app, &group.env, &["--role", USER]);
    let json: Json = serde_json::from_str(&grants(&group.app, &group.env, &["--role", USER, "--json"])).unwrap();
    let lines: Vec<&str> = json["sections"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|section| section["grants"].as_array().unwrap())
        .map(|grant| grant["acl"].as_str().unwrap())
        .collect();
    assert!(lines.len() >= 30, "{} rights\n{printed}", lines.len());
    let url = format!("redis://{USER}:{}@127.0.0.1:{port}/{}", PASSWORD.replace(' ', "%20"), database.number());
    let others = group.env.iter().filter(|(name, _)| name != "DATABASE_URL").cloned();
    group.env = others.chain([("DATABASE_URL".to_owned(), url.clone())]).collect();
    let expected = expected(&group);
    let give = |printed: &str| {
        database.make();
        run(port, &format!("{}{printed}", user()));
    };
    // Whether a connection still works is only asked after a while.
    let ping = || Database::open(connection("redis", &url, &[])).ping();
    give(&printed);
    let mut found = differences(&group, &expected, is_for_the_empty_key);
    found.extend(ping().err().map(|error| format!("{error:?}")));
    assert!(found.is_empty(), "{} requests differ with these rights:\n{printed}\n{}", found.len(), found.join("\n"));
    let mut needless = Vec::new();
    for line in lines {
        let start = line.find('(').unwrap();
        for less in lesser(&line[start..]) {
            let reduced = printed.replace(&format!("{line}\n"), &format!("{}{less}\n", &line[..start]));
            assert_ne!(reduced, printed, "{line}");
            give(&reduced);
            if !differs(&group, &expected, is_for_the_empty_key) && ping().is_ok() {
                needless.push(format!("{line} → {less}"));
            }
        }
    }
    assert_eq!(needless, [""; 0]);
    let notes: Vec<String> = printed.lines().filter_map(|line| line.strip_prefix("ECHO \"# NOT KNOWN: ")).map(str::to_owned).collect();
    check_notes(
        &notes,
        &[
            "app/tools/script-fails/config.yaml:4:3 (script-fails): the commands",
            "app/tools/scripted/handler.ts:36:35 (scripted): the text",
        ],
    );
    // A second time, nothing is there twice.
    let users = run_and_list(port, &printed);
    assert_eq!(users, run_and_list(port, &printed));
}

fn run_and_list(port: u16, printed: &str) -> String {
    run(port, printed);
    piped(port, &[], "ACL LIST\n").lines().filter(|line| line.starts_with(&format!("user {USER} "))).collect()
}

/// Commands as scripts write them, and the same with values.
const FORMS: &[(&str, &str)] = &[
    ("GET user:1", "GET user:1"),
    ("GET $1", "GET anything"),
    ("GET ''", "GET ''"),
    ("GET 'it[s] a \\ \"(key)\"*?^-!'", "GET 'it[s] a \\ \"(key)\"*?^-!'"),
    ("GET 'tab\tand space'", "GET 'tab\tand space'"),
    ("GET zażółć🙂)", "GET zażółć🙂)"),
    ("SET k $1 EX $2", "SET k v EX 5"),
    ("SET k $1 GET", "SET k v GET"),
    ("GETEX k EX 5", "GETEX k EX 5"),
    ("GETDEL k", "GETDEL k"),
    ("APPEND k $1", "APPEND k v"),
    ("INCR n", "INCR n"),
    ("MGET a b", "MGET a b"),
    ("MSET a $1 b $2", "MSET a 1 b 2"),
    ("MSETNX a $1", "MSETNX a 1"),
    ("EXISTS a b", "EXISTS a b"),
    ("DEL a b", "DEL a b"),
    ("UNLINK a", "UNLINK a"),
    ("TYPE a", "TYPE a"),
    ("STRLEN a", "STRLEN a"),
    ("EXPIRE a 5", "EXPIRE a 5"),
    ("TTL a", "TTL a"),
    ("PERSIST a", "PERSIST a"),
    ("COPY a b", "COPY a b"),
    ("RENAME a b", "RENAME a b"),
    ("RENAMENX a b", "RENAMENX a b"),
    ("TOUCH a", "TOUCH a"),
    ("OBJECT ENCODING a", "OBJECT ENCODING a"),
    ("MEMORY USAGE a", "MEMORY USAGE a"),
    ("BITFIELD bits GET u8 0", "BITFIELD bits GET u8 0"),
    ("BITFIELD bits SET u8 0 $1", "BITFIELD bits SET u8 0 1"),
    ("BITOP AND d x y", "BITOP AND d x y"),
    ("HSET h f $1", "HSET h f v"),
    ("HGETALL h", "HGETALL h"),
    ("HDEL h f", "HDEL h f"),
    ("HINCRBY h n 1", "HINCRBY h n 1"),
    ("HLEN h", "HLEN h"),
    ("LPUSH l $1", "LPUSH l v"),
    ("LPOP l", "LPOP l"),
    ("LMOVE l m LEFT RIGHT", "LMOVE l m LEFT RIGHT"),
    ("LMPOP 2 l m LEFT", "LMPOP 2 l m LEFT"),
    ("SADD s a", "SADD s a"),
    ("SMOVE s t a", "SMOVE s t a"),
    ("SINTERSTORE d s t", "SINTERSTORE d s t"),
    ("SINTERCARD 2 s t", "SINTERCARD 2 s t"),
    ("SPOP s", "SPOP s"),
    ("ZADD z 1 a", "ZADD z 1 a"),
    ("ZUNIONSTORE d 2 z y WEIGHTS 1 2", "ZUNIONSTORE d 2 z y WEIGHTS 1 2"),
    ("ZUNION $1 z y", "ZUNION 2 z y"),
    ("ZRANGESTORE d z 0 -1", "ZRANGESTORE d z 0 -1"),
    ("ZPOPMIN z", "ZPOPMIN z"),
    ("GEOADD g 13 38 a", "GEOADD g 13 38 a"),
    ("GEORADIUS g 13 38 9 km STORE d", "GEORADIUS g 13 38 9 km STORE d"),
    ("PFADD p a", "PFADD p a"),
    ("PFCOUNT p", "PFCOUNT p"),
    ("PFMERGE d p", "PFMERGE d p"),
    ("XADD x * f $1", "XADD x * f v"),
    ("XREAD STREAMS x y 0 $1", "XREAD STREAMS x y 0 0"),
    ("XGROUP CREATE x g $ MKSTREAM", "XGROUP CREATE x g $ MKSTREAM"),
    ("XREADGROUP GROUP g c STREAMS x >", "XREADGROUP GROUP g c STREAMS x >"),
    ("XINFO STREAM x", "XINFO STREAM x"),
    ("XAUTOCLAIM x g c 0 0", "XAUTOCLAIM x g c 0 0"),
    ("SORT l ALPHA STORE d", "SORT l ALPHA STORE d"),
    ("SORT l BY w_*", "SORT l BY w_*"),
    ("SORT l BY nosort", "SORT l BY nosort"),
    ("SORT_RO l GET # GET w_*", "SORT_RO l GET # GET w_*"),
    ("SCAN $1 MATCH user:*", "SCAN 0 MATCH user:*"),
    ("DBSIZE", "DBSIZE"),
    ("PUBLISH news:1 $1", "PUBLISH news:1 v"),
    ("PUBLISH $1 x", "PUBLISH a x"),
    ("SPUBLISH news:1 $1", "SPUBLISH news:1 v"),
    ("PUBSUB CHANNELS news:*", "PUBSUB CHANNELS news:*"),
    ("KEYS user:*", "KEYS user:*"),
    ("CONFIG GET databases", "CONFIG GET databases"),
    ("EVAL \"return KEYS[1]\" 1 k", "EVAL \"return KEYS[1]\" 1 k"),
    ("EVAL_RO \"return 1\" $1 k", "EVAL_RO \"return 1\" 1 k"),
    ("MOVE k 1", "MOVE k 1"),
    ("DUMP k", "DUMP k"),
];

#[test]
fn redis_wants_exactly_these_rights() {
    // Also where a selector has every channel unless it says otherwise.
    for default in ["resetchannels", "allchannels"] {
        let server = redis::start(&["--acl-pubsub-default", default]);
        let refuses = |rules: &str, command: &str| {
            let rights = format!("FLUSHALL\nACL SETUSER {USER} resetchannels {rules}\nAUTH {USER} \"{PASSWORD}\"\n");
            let said = piped(server.port, &[], &format!("{}{rights}{command}\n", user()));
            // The user was there, or was not; then come the lines of success before the reply.
            let reply = said.split_once('\n').and_then(|(_, rest)| rest.strip_prefix("OK\nOK\nOK\nOK\n"));
            let reply = reply.unwrap_or_else(|| panic!("{rules}: {said}"));
            reply.contains("NOPERM") || reply.contains("insufficient ACL permissions")
        };
        for (text, command) in FORMS {
            let rules = selector_of(text, "KEYS,CONFIG GET,EVAL,EVAL_RO,MOVE").map(|selector| selector.rules());
            let rules = rules.unwrap_or_else(|| panic!("{text}"));
            assert!(!refuses(&rules, command), "{text}: {rules} is too little");
            for less in lesser(&rules) {
                assert!(refuses(&less, command), "{text}: {less} is enough, and {rules} is printed");
            }
        }
    }
}

#[test]
fn the_keys_of_one_command_are_not_those_of_another() {
    let server = redis::start(&[]);
    run(server.port, &user());
    for text in ["GET a:$1", "SET b:1 $1"] {
        // `a:$1` is no whole argument, which is refused before.
        let rules = selector_of(text, "").map(|selector| selector.rules());
        assert_eq!(rules.as_deref(), if text.starts_with("GET") { Some("(+get %R~a:$1)") } else { Some("(+set %W~b:1)") });
        run(server.port, &format!("ACL SETUSER {USER} {}\n", rules.unwrap()));
    }
    let replies = piped(server.port, &["--user", USER, "--pass", PASSWORD], "SET a:$1 x\nGET b:1\nSET b:1 x\nGET a:$1\n");
    assert_eq!(replies.matches("NOPERM").count(), 2, "{replies}");
    assert_eq!(KeyAccess::Read.prefix(), "%R~");
    assert_eq!(selector_of("FLUSHALL", ""), None::<Selector>);
}

#[test]
fn the_page_does_what_it_says() {
    let page = root().join("docs/grants-others.md");
    let text = fs::read_to_string(&page).unwrap();
    let (_, part) = text.split_once("\n## Redis\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let app = folder.path();
    fs::write(app.join("millrace.yaml"), "name: shop\n").unwrap();
    for (_, body) in blocks(part).into_iter().filter(|(kind, _)| kind == "yaml") {
        let (first, rest) = body.split_once('\n').unwrap();
        write(app, first.trim_start_matches(['#', ' ']), rest);
    }
    let commands: Vec<_> = blocks(part).into_iter().filter(|(kind, _)| kind == "sh").map(|(_, command)| command).collect();
    let [first, second] = commands.as_slice() else { panic!("{commands:?}") };
    let printed = shell(app, first);
    assert!(printed.status.success(), "{}", said(&printed));
    let wrong = shell(app, "millrace grants --adapter nothing");
    assert!(!wrong.status.success() && said(&wrong).contains("has no adapter of this name"), "{}", said(&wrong));
    check_part(&page, "printed for redis", &format!("```text\n{}```", String::from_utf8_lossy(&printed.stdout)));
    let server = redis::start(&[]);
    run(server.port, "ACL SETUSER shop on >secret\n");
    let env = [("CACHE_PASSWORD", "secret")];
    // The page names another server.
    let adapter = app.join("app/adapters/cache.yaml");
    let there = fs::read_to_string(&adapter).unwrap();
    let here = there.replace("rediss://shop@redis.example.com:6379", &format!("redis://shop@127.0.0.1:{}", server.port));
    assert_ne!(here, there);
    fs::write(&adapter, here).unwrap();
    let calls = "millrace call choose user=ada choice=lamp; millrace call chosen user=ada";
    let before = shell_with(app, calls, &env, &[]);
    assert!(!before.status.success(), "{}", said(&before));
    let admin = format!("redis://127.0.0.1:{}", server.port);
    let granted = shell_with(app, second, &[env[0], ("ADMIN_CACHE", &admin)], &[]);
    assert!(granted.status.success(), "{}", said(&granted));
    let after = shell_with(app, calls, &env, &[]);
    assert!(after.status.success() && said(&after).contains("lamp"), "{}", said(&after));
}
