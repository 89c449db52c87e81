//! Hostile values through the whole pipeline into a real PostgreSQL: each comes back to the byte, in one row, or is refused by its type;
//! nothing else changed.

use millrace_core::{
    Endpoint, Json,
    cancel::Cancel,
    headers::Headers,
    hidden::visible,
    pipeline::{Call, ContentBlock},
};
use millrace_native::{cache::CacheChoice, env::Variables, ports, wait_until::Tasks};
use millrace_tests::{
    Group,
    case::root,
    database::{Database, connection},
    direct::compile,
    far_group::Far,
    neon,
    postgres::Postgres,
    rds_data,
};
use serde_json::json;

use super::Way;

const SETUP: &str = "CREATE TABLE canary (id int PRIMARY KEY, s text);
INSERT INTO canary VALUES (1, 'alive'), (2, 'and well');
CREATE TABLE kept (id serial PRIMARY KEY, s text);
";

/// What a form of the app makes of a value.
fn expected(tool: &str, value: &str) -> String {
    match tool {
        "composed-end" => format!("a{value}"),
        "composed-start" => format!("{value}z"),
        "composed-middle" => format!("it's %{value}% \""),
        "composed-twice" => format!("{value}|{value}"),
        "composed-escapes" => format!("\\{value}\n"),
        _ => value.to_owned(),
    }
}

/// The answer of a tool: rows, or the text of an error.
async fn answer(endpoint: &Endpoint, tool: &str, arguments: Json) -> Result<Vec<Json>, String> {
    let Json::Object(arguments) = arguments else { panic!("arguments are an object") };
    let call = Call {
        method: "tools/call",
        tool,
        arguments,
        request_id: "test",
        trace: Default::default(),
        headers: &Headers::new(),
        platform_caller: None,
        protocol: "2026-07-28",
        deadline_ms: None,
        cancel: &Cancel::new(),
        listener: None,
        rounds: Default::default(),
        operation: Default::default(),
    };
    let result = endpoint.pipeline().call(call).await.map_err(|fault| format!("{fault:?}"))?;
    let [ContentBlock::Text(text)] = result.content.as_slice() else { panic!("{tool}: {result:?}") };
    if result.is_error {
        return Err(text.to_string());
    }
    Ok(serde_json::from_str(text).unwrap_or_else(|error| panic!("{tool}: {error}: {text}")))
}

/// The call was refused before the database was asked, for the NUL in its value.
fn refuses_nul(value: &str, said: &str) -> bool {
    value.contains('\0') && said.contains("cannot take a text with a NUL character here")
}

for_each_way! { every_value_comes_back_through_every_form }

fn every_value_comes_back_through_every_form(way: Way) {
    let server = Postgres::start(&[]);
    server.create("hostile", SETUP);
    let group = Group { name: "hostile".into(), app: root().join("tests/hostile/postgres"), ..Group::default() };
    let folder = group.install();
    let mut variables = vec![("DATABASE_URL".to_owned(), server.url("hostile"))];
    let far = match way {
        Way::Neon => Some((Far::Neon, neon::start(server.port))),
        Way::RdsData => Some((Far::RdsData, rds_data::start(server.port))),
        _ => None,
    };
    if let Some((far, api)) = far {
        far.rewrite(folder.path());
        variables.extend(far.variables(&format!("http://{}", api.address), &server.url("hostile")));
    }
    let app = compile(folder.path());
    let tools: Vec<String> = app.tools.iter().map(|tool| tool.name.clone()).collect();
    let values: Vec<String> =
        serde_json::from_str(&std::fs::read_to_string(root().join("tests/data/hostile-values.json")).unwrap()).unwrap();
    assert!(values.len() >= 60 && tools.len() >= 35, "{} values, {} forms", values.len(), tools.len());

    let (mut refused, mut wrong) = (0, 0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let variables = Variables::from_iter(variables);
        let endpoint = Endpoint::new(app, ports::native(folder.path().to_path_buf(), variables, &CacheChoice::Memory, &Tasks::new()));
        for tool in &tools {
            for value in &values {
                let mut arguments = json!({ "s": value });
                match tool.as_str() {
                    "in-list" | "any" | "unnest" | "array-cast" => arguments["list"] = json!(["other", value, "'", "{}", "NULL"]),
                    "jsonb" => arguments["doc"] = json!({ "s": value }),
                    "jsonb-inferred" => arguments["docs"] = json!([{ "s": value }]),
                    _ => {}
                }
                match answer(&endpoint, tool, arguments).await {
                    // The value is one of that type after all: an interval, a date, a number.
                    Ok(rows) if tool.starts_with("wrong-") => assert_eq!(rows.len(), 1, "{tool} with {value:?}"),
                    Err(said) if tool.starts_with("wrong-") => {
                        // A list of lists has no form in the answers of the RDS Data API.
                        let has_no_form = way == Way::RdsData && said.contains("a type that the Data API does not return");
                        assert!(
                            said.contains("refused a value") || has_no_form || refuses_nul(value, &said),
                            "{tool} with {value:?}: {said}"
                        );
                        wrong += 1;
                    }
                    // PostgreSQL has no texts with NUL, and a text that is put together takes none anywhere.
                    Err(said) if value.contains('\0') => {
                        assert!(said.contains("refused a value") || refuses_nul(value, &said), "{tool} with {value:?}: {said}");
                        refused += 1;
                    }
                    found => {
                        assert_eq!(found.as_deref(), Ok(&[json!({ "v": visible(&expected(tool, value)) })][..]), "{tool} with {value:?}")
                    }
                }
            }
        }
    });
    assert!(refused >= 60 && wrong >= 500, "{refused} {wrong}");

    let database = Database::open(connection("postgres", &server.url("hostile"), &[]));
    let one = |sql: &str| format!("{:?}", database.rows(sql)[0][0]);
    assert_eq!(one("SELECT count(*) FROM canary WHERE (id, s) IN (VALUES (1, 'alive'), (2, 'and well'))"), "I64(2)");
    assert_eq!(one("SELECT count(*) FROM canary"), "I64(2)");
    assert_eq!(one("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "I64(2)", "no table came or went");
    let kept = database.rows("SELECT s FROM kept ORDER BY id");
    let written: Vec<_> =
        values.iter().filter(|value| !value.contains('\0')).map(|value| vec![millrace_tests::database::text(value)]).collect();
    assert_eq!(kept, [written.clone(), written].concat(), "each insert kept its value");
}
