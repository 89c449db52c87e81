//! Callers of two tenants at the same time, on one isolate: nothing of one reaches another, neither
//! in answers nor in the log.

use std::{collections::BTreeMap, fs, path::Path, thread};

use millrace_tests::{case::Exchange, local::Host};
use serde_json::{Value, json};

const CALLERS: usize = 200;
const TENANTS: [(&str, &str); 2] = [("north", "the-key-of-the-north"), ("south", "the-key-of-the-south")];

/// Everything that a call knows about its caller, by every way there is, and an `await` between all
/// of them.
const FILES: [(&str, &str); 8] = [
    (
        "millrace.yaml",
        r#"
name: tenants
auth:
  plugin: api_key
  policy:
    keys:
      - { name: north, value: "{{ env.KEY_NORTH }}" }
      - { name: south, value: "{{ env.KEY_SOUTH }}" }
context:
  headers: [x-caller]
  values: { tenant: "{{ auth.subject }}", caller: "{{ request.headers.x-caller }}" }
  factory: ./app/context.ts
  require: [tenant, caller, made_for]
middleware:
  - audit: { subject: "{{ auth.subject }}:{{ ctx.caller }}" }
  - derive: { pair: "{{ ctx.tenant }}:{{ ctx.caller }}" }
  - ./app/trail.ts
"#,
    ),
    (
        "app/context.ts",
        r"
const pause = () => new Promise(done => setTimeout(done, 5));
export default async ({ auth, request }) => {
  await pause();
  return { made_for: `${auth.subject}:${request.headers['x-caller']}` };
};
",
    ),
    (
        "app/trail.ts",
        r"
const pause = () => new Promise(done => setTimeout(done, 5));
let shared = [];
export default async ({ inputs }, ctx) => {
  shared.push(ctx.pair);
  await pause();
  console.log(`before ${ctx.pair} ${ctx.made_for} ${inputs.note}`);
  return { trail: shared.join() };
};
export const after = async ({ inputs, result }, ctx) => {
  await pause();
  console.log(`after ${ctx.pair} ${ctx.made_for} ${inputs.note} ${JSON.stringify(result)}`);
};
",
    ),
    ("app/adapters/db.yaml", "connector: sqlite\nconnection_string: \":memory:\"\n"),
    ("app/tools/seen/config.yaml", "description: All that a script sees.\nhandler: ./handler.ts\ninputs: { note: { type: string } }\n"),
    (
        "app/tools/seen/handler.ts",
        r"
export default async ({ inputs }, ctx) => {
  await new Promise(done => setTimeout(done, 5));
  const [row] = await ctx.db('db').query('SELECT ? AS pair', [ctx.pair]);
  return { pair: ctx.pair, made_for: ctx.made_for, trail: ctx.trail, subject: ctx.auth.subject, row: row.pair, note: inputs.note };
};
",
    ),
    (
        "app/tools/kept/config.yaml",
        "description: Kept in the cache, for each caller.\nuse: db\ncache: { enabled: true, ttl: 60, scope: principal }\n\
         inputs: { note: { type: string } }\nstatement: SELECT {{ auth.subject }} AS subject, {{ inputs.note }} AS note\n",
    ),
    (
        "app/tools/refused/config.yaml",
        "description: Ends before it begins.\nhandler: ../seen/handler.ts\ninputs: { note: { type: string } }\n\
         middleware:\n  - require: { when: \"false\", message: \"Not for {{ ctx.pair }}, {{ ctx.trail }}.\" }\n",
    ),
];

fn write(folder: &Path) {
    for (path, text) in FILES {
        millrace_tests::files::write(folder, path, text.trim_start());
    }
}

fn call(tool: &str, caller: usize, key: &str, note: &str) -> Exchange {
    Exchange::call(tool, &json!({ "note": note })).with("x-api-key", key).with("x-caller", &format!("c{caller}"))
}

/// The text of the first content block.
fn text(answer: &str) -> String {
    let body: Value = serde_json::from_str(answer.split_once("\n\n").unwrap().1).unwrap_or_else(|error| panic!("{error}: {answer}"));
    body["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// What must be in a line or an answer of a caller, and is in none of another.
fn pair(caller: usize) -> String {
    format!("{}:c{caller}", TENANTS[caller % 2].0)
}

/// Every `TENANT:cNUMBER` of a text.
fn pairs(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == ':';
    let words = text.split(|c| !is_part(c));
    words.filter(|word| TENANTS.iter().any(|(tenant, _)| word.strip_prefix(tenant).is_some_and(|rest| rest.starts_with(":c")))).collect()
}

#[test]
fn two_hundred_callers_of_two_tenants_share_nothing_but_the_isolate() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let log = folder.path().join("log");
    let env = [("KEY_NORTH", TENANTS[0].1), ("KEY_SOUTH", TENANTS[1].1), ("MILLRACE_LOG_FORMAT", "json")];
    let env: Vec<(String, String)> = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let host = Host::dev_logging(folder.path(), &env, "info", &log);

    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (host, (tenant, key)) = (&host, TENANTS[caller % 2]);
            scope.spawn(move || {
                let note = format!("note-of-{caller}");
                let seen: Value = serde_json::from_str(&text(&host.send(&call("seen", caller, key, &note)))).unwrap();
                let own = pair(caller);
                let expected = json!({"pair": own, "made_for": own, "trail": own, "subject": tenant, "row": own, "note": note});
                assert_eq!(seen, expected);
                // The same inputs from everybody: the first of each tenant fills the cache.
                let kept = text(&host.send(&call("kept", caller, key, "everybody's")));
                assert_eq!(kept, format!("[{{\"subject\":\"{tenant}\",\"note\":\"everybody's\"}}]"));
                let refused = text(&host.send(&call("refused", caller, key, &note)));
                assert!(refused.contains(&format!("Not for {own}, {own}.")), "{refused}");
            });
        }
    });
    drop(host);

    let log = fs::read_to_string(log).unwrap();
    let mut by_request: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    for line in log.lines() {
        let parsed: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let Some(id) = parsed["request_id"].as_str() else { continue };
        let (lines, seen) = by_request.entry(id.to_owned()).or_default();
        *lines += 1;
        seen.extend(pairs(line).into_iter().map(str::to_owned));
    }
    assert_eq!(by_request.len(), 3 * CALLERS);
    for (id, (lines, mut seen)) in by_request {
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 1, "{id}: {lines} lines of {seen:?}");
        // One of the audit, one of the end, and those of the scripts.
        assert!(lines >= 4, "{id}: {lines} lines");
    }
}
