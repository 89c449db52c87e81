//! The rights of commands of Redis, and the requests of APIs, as `millrace grants` prints them.

use std::collections::BTreeMap;

use millrace_bundler::{Options, bundle};
use millrace_test_kit::files;
use serde_json::Value as Json;

use crate::{Asked, Section, json, sections, selector_of, text};

/// What the files of an app make: the text that is printed, and the same for programs.
struct Printed {
    text: String,
    json: Json,
}

fn printed(files: &[(&str, &str)], variables: &[(&str, &str)], role: Option<&str>) -> Printed {
    let folder = tempfile::tempdir().unwrap();
    for (path, contents) in files {
        files::write(folder.path(), path, contents);
    }
    let connectors = ["postgres", "redis", "upstash", "mongodb", "http"].map(String::from).to_vec();
    let mut report = bundle(folder.path(), &Options { connectors, ..Options::default() });
    let app = report.app.take().unwrap_or_else(|| panic!("{:?}", report.diagnostics));
    let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let asked = Asked { app: &app, report: &report, variable: &variable, role };
    let sections: Vec<Section> = sections(&asked, &BTreeMap::new());
    Printed { text: text("shop", &sections), json: json(&sections) }
}

/// The lines that give a right, and those that say what is not known or wider.
fn lines(printed: &Printed) -> Vec<String> {
    let comment = |line: &str| line.strip_prefix("ECHO \"# ").map(|comment| comment.trim_end_matches('"').to_owned());
    let is_note = |line: &String| line.starts_with("NOT KNOWN") || line.starts_with("more than needed");
    let line = |line: &str| {
        let rules = line.strip_prefix("ACL SETUSER ").and_then(|rest| rest.split_once(' ')).map(|(_, rules)| rules.to_owned());
        rules.filter(|rules| !["clearselectors", "(+ping)"].contains(&rules.as_str())).or_else(|| comment(line).filter(is_note))
    };
    printed.text.lines().filter_map(line).collect()
}

const MAIN: (&str, &str) = ("app/adapters/main.yaml", "connector: redis\nconnection_string: redis://localhost");
const ROOT: (&str, &str) = ("millrace.yaml", "name: shop");

/// The lines of an app with one command, of inputs `a`, `b` and others.
fn of_command(command: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let inputs = "inputs:\n  a: { type: string }\n  n: { type: int }\n  kind: { type: string, enum: [one, \"t*o\"] }\n  \
        number: { type: int, enum: [1, 2] }\n  mode: { type: string, enum: [NX, GET] }\n  plain: { type: string, enum: [NX, XX] }\n  odd: { type: string, enum: [\"a b\"] }\n  \
        list: { type: array, items: { type: string } }\n  listed: { type: array, items: { type: string, enum: [x, y] } }\n";
    let tool = format!("description: x\nuse: main\nstatement: |\n  {command}\n{inputs}");
    let main =
        "connector: redis\nconnection_string: redis://localhost\noptions: { allow: [EVAL, FCALL, FT.SEARCH, CONFIG GET, ACL WHOAMI] }";
    lines(&printed(&[ROOT, ("app/adapters/main.yaml", main), ("app/tools/x/config.yaml", &tool)], variables, None))
}

#[test]
fn adapters_that_log_in_as_others_are_sections_of_their_own() {
    let adapter = |user: &str| {
        format!("connector: redis\nconnection_string: redis://localhost\noptions: {{ user: {user}, password: \"{{{{ env.P }}}}\" }}")
    };
    let (one, two) = (adapter("ann"), adapter("bob"));
    let tool = |adapter: &str, command: &str| format!("description: x\nuse: {adapter}\nstatement: {command}\n");
    let (get, set) = (tool("one", "GET a"), tool("two", "SET b 1"));
    let files = [
        ROOT,
        ("app/adapters/one.yaml", one.as_str()),
        ("app/adapters/two.yaml", &two),
        ("app/tools/get/config.yaml", &get),
        ("app/tools/set/config.yaml", &set),
    ];
    let printed = printed(&files, &[("P", "x")], None).text;
    for expected in ["ACL SETUSER ann (+get %R~a)", "ACL SETUSER bob (+set %W~b)"] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
    assert!(!printed.contains("ann (+set") && !printed.contains("bob (+get"), "{printed}");
}

#[test]
fn values_are_patterns() {
    for (command, expected) in [
        ("GET {{ inputs.a }}", "(+get %R~*)"),
        ("GET user:{{ inputs.a }}:{{ inputs.n }}", "(+get %R~user:*:*)"),
        ("GET 'a*[b]?\\c({{ inputs.a }})'", "(+get %R~a\\*\\[b\\]\\?\\\\c(*[)])"),
        ("GET {{ inputs.kind }}", "(+get %R~one %R~t\\*o)"),
        ("GET {{ inputs.kind }}:{{ inputs.number }}", "(+get %R~one:1 %R~one:2 %R~t\\*o:1 %R~t\\*o:2)"),
        ("GET {{ inputs.odd }}", "(+get %R~*)"),
        ("MGET {{ inputs.list }} a", "(+mget %R~*)"),
        ("MGET {{ inputs.listed }} a", "(+mget %R~a %R~x %R~y)"),
        ("SMOVE {{ inputs.list }} a m", "(+smove ~*)"),
        ("SET k {{ inputs.a }}", "(+set %W~k)"),
        ("SET k {{ inputs.a }} {{ inputs.mode }}", "(+set ~k)"),
        ("SET k {{ inputs.a }} {{ inputs.plain }}", "(+set %W~k)"),
        ("COPY a:{{ inputs.a }} a:*", "(+copy %R~a:* %W~a:\\*)"),
        ("COPY a a", "(+copy ~a)"),
        ("RENAME a:{{ inputs.a }} a:x", "(+rename ~a:*)"),
        ("PUBLISH news:{{ inputs.a }} x", "(resetchannels +publish &news:*)"),
        ("xinfo stream k", "(+xinfo|stream %R~k)"),
        ("CONFIG GET databases", "(+config|get)"),
        ("ACL WHOAMI", "(+acl|whoami)"),
        ("EVAL 'return KEYS[1]' 1 k", "(+eval ~k)"),
    ] {
        assert_eq!(of_command(command, &[]), [expected], "{command}");
    }
}

#[test]
fn what_is_not_known_is_said() {
    let place = "app/tools/x/config.yaml:4:3 (x):";
    for (command, variables, expected) in [
        ("SET k {{ env.K }}", &[][..], vec!["(+set %W~k)".to_owned()]),
        ("GET k:{{ env.K }}", &[("K", "a*")], vec!["(+get %R~k:a\\*)".to_owned()]),
        (
            "GET k:{{ env.K }}",
            &[],
            vec![format!("NOT KNOWN: {place} the variable `K` is not set here, and its value is part of a key or a channel")],
        ),
        (
            "GET 'it is'",
            &[],
            vec![
                "(+get %R~it?is)".to_owned(),
                format!(
                    "more than needed: {place} no pattern can have spaces, quotes or control characters: where the key has one, any character matches"
                ),
            ],
        ),
        (
            "EVAL \"return redis.call('GET', KEYS[1])\" 1 k",
            &[],
            vec![
                "(+eval ~k)".to_owned(),
                format!("NOT KNOWN: {place} the commands that the code of `EVAL` runs, and their keys, are not known: grant them by hand"),
            ],
        ),
        (
            "FCALL f 0",
            &[],
            vec![
                "(+fcall)".to_owned(),
                format!("NOT KNOWN: {place} the commands that the code of `FCALL` runs, and their keys, are not known: grant them by hand"),
            ],
        ),
        (
            "FT.SEARCH index {{ inputs.a }}",
            &[],
            vec![
                "(+ft.search)".to_owned(),
                format!("NOT KNOWN: {place} the keys that the command `FT.SEARCH` uses are not known: grant them by hand"),
            ],
        ),
    ] {
        assert_eq!(of_command(command, variables), expected, "{command}");
    }
}

#[test]
fn what_another_selector_allows_is_not_printed() {
    let tool = |statement: &str| format!("description: x\nuse: main\nstatement: {statement}\ninputs:\n  a: {{ type: string }}\n");
    let tools = [
        ("app/tools/a/config.yaml", tool("GET 'user:1 x'")),
        ("app/tools/b/config.yaml", tool("GET user:{{ inputs.a }}")),
        ("app/tools/c/config.yaml", tool("GET user:{{ inputs.a }}:name")),
        ("app/tools/d/config.yaml", tool("COPY user:{{ inputs.a }} other")),
        ("app/tools/e/config.yaml", tool("COPY user:1 other")),
        ("app/tools/f/config.yaml", tool("COPY other user:1")),
        ("app/tools/g/config.yaml", tool("MGET a b")),
        ("app/tools/h/config.yaml", tool("MGET b")),
    ];
    let files: Vec<(&str, &str)> = tools.iter().map(|(path, text)| (*path, text.as_str())).chain([ROOT, MAIN]).collect();
    // Some have an input that they do not use.
    let printed = printed(&files, &[], None);
    assert_eq!(
        lines(&printed),
        ["(+copy %R~other %W~user:1)", "(+copy %W~other %R~user:*)", "(+get %R~user:*)", "(+mget %R~a %R~b)"],
        "{}",
        printed.text
    );
    assert!(printed.text.contains("ECHO \"# a, b, c\"\nACL SETUSER app (+get %R~user:*)\n"), "{}", printed.text);
}

#[test]
fn scripts_and_adapters_that_only_read_are_judged() {
    let script = "export default async (_, ctx) => {\n  const db = ctx.db(\"main\");\n  await db.query(\"GET $1\", [\"k\"]);\n  await db.query(\"FLUSHALL\", []);\n  \
        await ctx.db(\"reader\").query(\"SET k $1\", [1]);\n  await ctx.db(\"reader\").query(\"HGET h '$1'\", []);\n  await db.query(`GET ${db}`, []);\n  \
        const other = () => ctx.db(\"main\");\n  await other().query(\"TTL k\", []);\n  await other().query(\"SELECT 1\", []);\n};\n";
    let files = [
        ROOT,
        MAIN,
        ("app/adapters/reader.yaml", "connector: redis\nconnection_string: redis://localhost\noptions: { read_only: true }"),
        ("app/tools/x/config.yaml", "description: x\nhandler: ./handler.ts"),
        ("app/tools/x/handler.ts", script),
    ];
    assert_eq!(
        lines(&printed(&files, &[], None)),
        [
            "(+get %R~*)",
            "(+hget %R~h)",
            "(+ttl %R~k)",
            "NOT KNOWN: app/tools/x/handler.ts:7:18 (x): the text of the script's statement is not known before it runs: grant what it needs by hand"
        ]
    );
}

#[test]
fn requests_of_scripts_are_those_of_the_adapter() {
    let script = "export default async (_, ctx) => {\n  const shop = ctx.api(\"shop\");\n  const path = \"/orders\";\n  await shop.post(path, { body: 1 });\n  \
        await shop.get(\"/orders/{id}/items/{no}.json\", {});\n  await ctx.api(\"shop\").delete(`/o/${path}`);\n  new Map().get(\"/x\");\n};\n";
    let files = [
        ROOT,
        ("app/adapters/shop.yaml", "connector: http\nconnection_string: https://api.example.com/v1"),
        ("app/tools/x/config.yaml", "description: x\nhandler: ./handler.ts"),
        ("app/tools/x/handler.ts", script),
        (
            "app/tools/y/config.yaml",
            "description: y\nuse: shop\nrequest: GET /orders/{{ inputs.id }}/items/{{ inputs.no }}.json\ninputs: { id: { type: string }, no: { type: string } }",
        ),
    ];
    let printed = printed(&files, &[], None);
    for expected in [
        "-- GET /orders/{}/items/{}.json: x, y\n",
        "-- POST /orders: x\n",
        "NOT KNOWN: app/tools/x/handler.ts:6:32 (x): the path of the script's request is not known before it runs",
    ] {
        assert!(printed.text.contains(expected), "wanted {expected} in {}", printed.text);
    }
    assert!(!printed.text.contains("/x:"), "{}", printed.text);
}

#[test]
fn the_connection_selects_its_database() {
    let unknown = |what: &str| {
        format!(
            "NOT KNOWN: app/adapters/main.yaml (adapter `main`): the connection string is not known, because {what}: if it has the number of a database, run `ACL SETUSER app +select`, too"
        )
    };
    for (string, options, expected) in [
        ("redis://localhost", "", vec![]),
        ("redis://localhost/0?protocol=2", "", vec![]),
        ("rediss://x:{{ env.PASSWORD }}@localhost:1/2", "", vec!["(+select)".to_owned()]),
        ("redis://{{ env.HOST }}/2/", "", vec!["(+select)".to_owned()]),
        ("redis://localhost/{{ env.NUMBER }}", "", vec!["(+select)".to_owned()]),
        ("redis://localhost/{{ env.NONE }}", "", vec![unknown("the variable `NONE` is not set here")]),
        ("{{ env.NONE }}", "", vec![unknown("the variable `NONE` is not set here")]),
        ("{{ env.URL }}", "", vec![unknown("it is not a URL of Redis")]),
    ] {
        let adapter = format!("connector: redis\nconnection_string: \"{string}\"\n{options}");
        let files = [ROOT, ("app/adapters/main.yaml", adapter.as_str())];
        let found = printed(&files, &[("NUMBER", "3"), ("URL", "localhost")], Some("app"));
        assert_eq!(lines(&found), expected, "{string}");
    }
}

#[test]
fn an_output_with_sql_has_comments_and_a_user_is_cleared_once() {
    let redis = |name: &str| format!("connector: redis\nconnection_string: redis://{name}@localhost\noptions: {{ password: x }}");
    let (one, two, same) = (redis("one"), redis("two"), redis("two") + "\n");
    let files = [
        ROOT,
        ("app/adapters/a.yaml", one.as_str()),
        ("app/adapters/b.yaml", two.as_str()),
        ("app/adapters/c.yaml", &same.replace("localhost", "other")),
        ("app/adapters/d.yaml", "connector: upstash\nconnection_string: https://localhost\noptions: { token: x }"),
    ];
    let alone = printed(&files, &[], None);
    let cleared: Vec<&str> = alone.text.lines().filter(|line| line.ends_with("clearselectors")).collect();
    assert_eq!(cleared, ["ACL SETUSER one clearselectors", "ACL SETUSER two clearselectors"]);
    let is_for_cli =
        |line: &str| line.is_empty() || ["ECHO \"# ", "ACL SETUSER ", "MULTI", "EXEC"].iter().any(|start| line.starts_with(start));
    assert!(alone.text.lines().all(is_for_cli), "{}", alone.text);
    let with_sql =
        [files.as_slice(), &[("app/adapters/e.yaml", "connector: postgres\nconnection_string: postgres://e@localhost/e")]].concat();
    let beside = printed(&with_sql, &[], Some("a \"user\""));
    assert!(beside.text.lines().all(|line| line.is_empty() || line.starts_with("-- ")), "{}", beside.text);
    assert!(beside.text.contains("\n-- ACL SETUSER \"a \\\"user\\\"\" (+ping)\n"), "{}", beside.text);
    let grant = &beside.json[0]["grants"][0];
    let expected = serde_json::json!({
        "acl": "ACL SETUSER \"a \\\"user\\\"\" (+ping)", "kind": "command", "name": "ping", "keys": {}, "channels": [], "used_by": ["adapter `a`"],
    });
    assert_eq!((grant, &beside.json[0]["instead"], &beside.json[0]["role"]), (&expected, &Json::Null, &Json::from("a \"user\"")));
}

#[test]
fn what_is_refused_needs_no_right() {
    // It would be a rule of its own.
    assert_eq!(selector_of("CONFIG 'get) +@all ('", "CONFIG"), None);
    assert_eq!(selector_of("CONFIG get x", "CONFIG").map(|selector| selector.rules()).as_deref(), Some("(+config|get)"));
    for text in ["", "FLUSHALL", "SELECT 1", "GET \"x", "BLPOP k 0", "$1 k", "NOSUCH k"] {
        assert_eq!(selector_of(text, ""), None, "{text}");
    }
}
