//! `session` of an adapter, through the whole of a server: callers of two tenants at the same time,
//! by every way in which an app reaches its database, on a few connections of a pooler that are
//! ended now and then.

use std::{
    process,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    thread,
    time::Duration,
};

use millrace_core::value::Value as Cell;
use millrace_tests::{
    case::Exchange,
    database::{Database, text},
    local::Host,
    postgres::{Pgbouncer, Postgres, psql},
};
use serde_json::{Value, json};

const SCHEMA: &str = "
CREATE ROLE clerk NOLOGIN;
CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY, tenant text NOT NULL, item text NOT NULL);
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON orders USING (tenant = current_setting('app.tenant'));
GRANT SELECT, INSERT ON orders TO clerk;
INSERT INTO orders (tenant, item) SELECT tenant, 'first' FROM (VALUES ('north'), ('south')) t (tenant), generate_series(1, 3);
";

const FILES: [(&str, &str); 13] = [
    ("millrace.yaml", "name: callers\nauth: { plugin: ./app/auth.ts }\n"),
    ("app/auth.ts", "export default ({ headers }: any) => JSON.parse(headers['x-principal']);\n"),
    (
        "app/adapters/db.yaml",
        "connector: postgres\nconnection_string: \"{{ env.DB }}\"\noptions: { max_connections: 3 }\n\
         session:\n  settings: { app.tenant: \"{{ auth.claims.tenant }}\" }\n  role: \"{{ auth.claims.role }}\"\n",
    ),
    ("app/tools/rows/config.yaml", "description: x\nuse: db\nstatement: SELECT tenant FROM orders\n"),
    ("app/tools/kept/config.yaml", "description: x\nuse: db\nstatement: SELECT tenant FROM orders\ncache: { ttl: 600, scope: public }\n"),
    ("app/tools/broken/config.yaml", "description: x\nuse: db\nstatement: SELECT tenant, 1 / (id - id) AS no FROM orders\n"),
    (
        "app/tools/add/config.yaml",
        "description: x\nuse: db\nstatement: INSERT INTO orders (tenant, item) VALUES ({{ inputs.tenant }}, 'added') RETURNING tenant\n\
         inputs: { tenant: { type: string } }\n",
    ),
    (
        "app/tools/add-once/config.yaml",
        "description: x\nuse: db\nstatement: INSERT INTO orders (tenant, item) VALUES ({{ inputs.tenant }}, 'once') RETURNING tenant\n\
         inputs: { tenant: { type: string }, key: { type: string } }\nidempotency: { key: \"{{ inputs.key }}\" }\n",
    ),
    ("app/tools/scripted/config.yaml", "description: x\nhandler: ./handler.ts\n"),
    (
        "app/tools/scripted/handler.ts",
        "export default async (_: any, ctx: any) => {\n  const one = await ctx.db('db').query('SELECT tenant FROM orders');\n  \
         await new Promise(done => setTimeout(done, 1));\n  return [...one, ...await ctx.db('db').query('SELECT DISTINCT tenant FROM orders')];\n};\n",
    ),
    ("app/tools/escapes/config.yaml", "description: x\nhandler: ./handler.ts\n"),
    (
        "app/tools/escapes/handler.ts",
        "export default async (_: any, ctx: any) => {\n  const said = [];\n  for (const sql of [\"SELECT set_config('role', 'postgres', false)\", 'RESET ROLE', 'DO $$ BEGIN RESET ROLE; END $$'])\n    \
         try { said.push(await ctx.db('db').query(sql)); } catch (error) { said.push('refused'); }\n  return said;\n};\n",
    ),
    ("app/resources/orders/config.yaml", "uri: shop://orders\ndescription: x\ntool: rows\n"),
];

fn exchange(method: &str, params: &Value, principal: &Value) -> Exchange {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let headers =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream"), ("mcp-protocol-version", "2025-11-25")];
    let mut headers: Vec<_> = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    headers.push(("x-principal".to_owned(), principal.to_string()));
    Exchange { method: "POST".into(), path: "/mcp".into(), headers, body: body.to_string() }
}

fn body(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\n\n").unwrap().1).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

fn call(host: &Host, tool: &str, arguments: &Value, principal: &Value) -> Value {
    body(&host.send(&exchange("tools/call", &json!({"name": tool, "arguments": arguments}), principal)))["result"].clone()
}

fn caller(tenant: &str) -> Value {
    json!({"subject": "u", "claims": {"tenant": tenant, "role": "clerk"}})
}

struct Kit {
    server: Postgres,
    _pooler: Pgbouncer,
    _folder: tempfile::TempDir,
    host: Host,
}

fn start() -> Kit {
    let server = Postgres::start(&[]);
    psql(&server.url("postgres"), SCHEMA);
    let pooler = Pgbouncer::start(&server, 2);
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        millrace_tests::files::write(folder.path(), path, text);
    }
    let env = vec![("DB".to_owned(), pooler.connection().connection_string.expose().clone())];
    let host = Host::dev(folder.path(), &env);
    Kit { server, _pooler: pooler, _folder: folder, host }
}

const OTHER: [&str; 2] = ["south", "north"];

#[test]
fn a_thousand_calls_of_two_tenants_see_their_own_rows() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 22;
    let Kit { server, host, .. } = &start();
    let (good, bad, done) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let callers: Vec<_> = (0..THREADS)
            .map(|number| {
                let (good, bad) = (&good, &bad);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let tenant = ["north", "south"][(number + round) % 2];
                        let other = OTHER[(number + round) % 2];
                        let me = caller(tenant);
                        let key = format!("{}-{number}-{round}", process::id());
                        let calls = [
                            ("rows", json!({})),
                            ("kept", json!({})),
                            ("broken", json!({})),
                            ("scripted", json!({})),
                            ("add", json!({"tenant": tenant})),
                            // Which the policy refuses.
                            ("add", json!({"tenant": other})),
                            ("add-once", json!({"tenant": tenant, "key": key})),
                        ];
                        for (tool, arguments) in calls {
                            let result = call(host, tool, &arguments, &me);
                            let said = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
                            let is_foreign = arguments["tenant"] == other;
                            if result["isError"] == true {
                                // What an error repeats is never a row.
                                assert!(!said.contains(other) || is_foreign, "{tool}: {said}");
                                bad.fetch_add(1, SeqCst);
                            } else {
                                assert!(said.contains(tenant) && !said.contains(other), "{tool} of {tenant}: {said}");
                                good.fetch_add(1, SeqCst);
                            }
                        }
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            let admin = server.open();
            while !done.load(SeqCst) {
                thread::sleep(Duration::from_millis(150));
                let one = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres' AND pid <> pg_backend_pid() \
                           AND backend_type = 'client backend' ORDER BY random() LIMIT 1";
                drop(admin.run(one, &[]));
            }
        });
        let outcomes: Vec<_> = callers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, SeqCst);
        outcomes.into_iter().for_each(|outcome| outcome.unwrap());
    });
    let (good, bad) = (good.into_inner(), bad.into_inner());
    assert!(good + bad == THREADS * ROUNDS * 7 && good + bad > 1_000, "{good} {bad}");
    assert!(good > THREADS * ROUNDS * 3 && bad >= THREADS * ROUNDS * 2, "{good} {bad}");
    let admin: Database = server.open();
    let once = admin.rows("SELECT count(*) FROM orders WHERE item = 'once'");
    assert!(matches!(once[0][0], Cell::I64(count) if count <= (THREADS * ROUNDS) as i64), "{once:?}");
    assert_eq!(admin.rows("SELECT current_user::text"), [[text("postgres")]]);
}

#[test]
fn a_caller_without_the_claim_gets_nothing_by_any_way() {
    let Kit { host, .. } = &start();
    // There is something in the cache.
    assert_eq!(call(host, "kept", &json!({}), &caller("north"))["isError"], false);
    let lacking = [
        ("tenant", json!({"role": "clerk"}), "the caller has no such value"),
        ("tenant", json!({"role": "clerk", "tenant": null}), "the caller has no such value"),
        ("tenant", json!({"role": "clerk", "tenant": ""}), "the caller's value is empty"),
        ("role", json!({"tenant": "north"}), "the caller has no such value"),
        ("role", json!({"tenant": "north", "role": ["clerk"]}), "the caller's value is not a name"),
    ];
    for (claim, claims, why) in lacking {
        let me = json!({"subject": "u", "claims": claims});
        let name = if claim == "role" { "role" } else { "app.tenant" };
        let message = format!("The adapter `db` sets `{name}` to `auth.claims.{claim}` for each call, and {why}.");
        for (tool, arguments) in [
            ("rows", json!({})),
            ("kept", json!({})),
            ("add", json!({"tenant": "north"})),
            ("add-once", json!({"tenant": "north", "key": "k"})),
        ] {
            let result = call(host, tool, &arguments, &me);
            let error = &result["_meta"]["millrace/error"];
            assert_eq!(
                (error["code"].as_str(), error["message"].as_str()),
                (Some("QUERY_REFUSED"), Some(message.as_str())),
                "{tool}: {result}"
            );
        }
        let scripted = call(host, "scripted", &json!({}), &me);
        assert!(scripted["isError"] == true && !scripted.to_string().contains("north"), "{scripted}");
        let read = host.send(&exchange("resources/read", &json!({"uri": "shop://orders"}), &me));
        assert!(read.contains("error") && !read.contains("north"), "{read}");
    }
    // `none` is the user that logs in, who sees all rows.
    let me = json!({"subject": "u", "claims": {"tenant": "north", "role": "none"}});
    assert_eq!(call(host, "rows", &json!({}), &me)["_meta"]["millrace/error"]["code"], "QUERY_REFUSED");
    let stranger = json!({"subject": "u", "claims": {"tenant": "north", "role": "nobody-of-this-name"}});
    let refused = call(host, "rows", &json!({}), &stranger);
    let said = &refused["_meta"]["millrace/error"]["message"];
    assert_eq!(said, "PostgreSQL refused a setting or the role of the adapter's `session`.");
    let read = host.send(&exchange("resources/read", &json!({"uri": "shop://orders"}), &caller("south")));
    assert!(read.contains("south") && !read.contains("north"), "{read}");
    let escapes = call(host, "escapes", &json!({}), &caller("south"));
    assert_eq!(escapes["content"][0]["text"], r#"["refused","refused","refused"]"#);
    let rows = call(host, "rows", &json!({}), &caller("south"));
    assert!(!rows.to_string().contains("north"), "{rows}");
}

#[test]
fn rows_in_the_cache_are_kept_apart_by_the_session() {
    let Kit { server, host, .. } = &start();
    let kept = |tenant: &str, subject: &str| {
        let me = json!({"subject": subject, "claims": {"tenant": tenant, "role": "clerk"}});
        call(host, "kept", &json!({}), &me)["content"][0]["text"].as_str().unwrap().matches(tenant).count()
    };
    assert_eq!((kept("north", "a"), kept("south", "b")), (3, 3));
    // Callers of one tenant share what is kept; it is `public`.
    psql(&server.url("postgres"), "INSERT INTO orders (tenant, item) VALUES ('north', 'unseen'), ('south', 'unseen')");
    assert_eq!((kept("north", "c"), kept("south", "d")), (3, 3));
}
