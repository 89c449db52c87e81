//! A tool on Redis, from the app's files to the answer.

use millrace_core::Json;
use millrace_tests::{database::runtime, redis};
use serde_json::json;

use crate::in_process::{call, endpoint, text};

fn error(result: &millrace_core::pipeline::ToolResult) -> String {
    assert!(result.is_error, "{result:?}");
    text(result).to_owned()
}

#[test]
fn inputs_become_arguments() {
    let server = redis::start(&[]);
    let adapter = format!("connector: redis\nconnection_string: redis://127.0.0.1:{}\n", server.port);
    let typed = "inputs:\n  i: { type: int, optional: true }\n  f: { type: float, optional: true }\n  b: { type: boolean, optional: true }\n  o: { type: object, optional: true }\n  s: { type: string, optional: true, nullable: true }\n  list: { type: array, optional: true, items: { type: string, nullable: true } }\n";
    let (endpoint, _folder) = endpoint(
        &adapter,
        &[
            ("all", "RPUSH all {{ inputs.i }} {{ inputs.f }} {{ inputs.b }} {{ inputs.o }} \"{{ inputs.list }}\"", typed),
            ("read", "LRANGE all 0 -1", ""),
            ("one", "SET user:{{ inputs.s }} v EX {{ inputs.i }}", typed),
            ("spread", "MGET {{ inputs.list }}", typed),
            ("kept", "GET user:1", "cache: { ttl: 60 }\n"),
        ],
    );
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        let all = json!({"i": 9_007_199_254_740_991_u64, "f": 1.5, "b": true, "o": {"a": "b c"}, "list": ["x y", "z"]});
        assert_eq!(text(&call(&endpoint, "all", all).await), r#"[{"value":5}]"#);
        let found: Json = serde_json::from_str(text(&call(&endpoint, "read", json!({})).await)).unwrap();
        let values: Vec<&str> = found.as_array().unwrap().iter().map(|row| row["value"].as_str().unwrap()).collect();
        assert_eq!(values, ["9007199254740991", "1.5", "true", r#"{"a":"b c"}"#, r#"["x y","z"]"#]);

        assert_eq!(text(&call(&endpoint, "one", json!({"s": "1", "i": 60})).await), r#"[{"value":"OK"}]"#);
        assert_eq!(text(&call(&endpoint, "spread", json!({"list": ["user:1", "none"]})).await), r#"[{"value":"v"},{"value":null}]"#);
        for (tool, arguments, expected) in [
            ("one", json!({"s": null, "i": 1}), "<field name=\"s\">Missing value. The command needs one here.</field>"),
            ("one", json!({"i": 1}), "<field name=\"s\">Missing value."),
            ("one", json!({"s": "1"}), "<field name=\"i\">Missing value."),
            ("spread", json!({"list": []}), "<field name=\"list\">Too few elements. You sent: array(0). Minimum number of elements: 1"),
            ("spread", json!({}), "<field name=\"list\">Too few elements."),
            ("spread", json!({"list": ["a", null]}), "null"),
        ] {
            let message = error(&call(&endpoint, tool, arguments).await);
            assert!(message.contains(expected), "{tool}: {message}");
        }
        assert_eq!(text(&call(&endpoint, "kept", json!({})).await), r#"[{"value":"v"}]"#);
        // A read that is kept is answered without the server. It is kept after the answer.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        drop(server);
        assert_eq!(text(&call(&endpoint, "kept", json!({})).await), r#"[{"value":"v"}]"#);
    });
}
