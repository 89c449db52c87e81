//! Where a script's exception comes from: the author reads it in the terminal, the caller does not.

use serde_json::json;

use crate::support::{ServerProcess, app, run};

const HANDLER: &str = r#"import { deep } from "../../lib.ts";

interface Payload { inputs: { how: string } }

export default async function ({ inputs }: Payload, ctx: any) {
  const text: string = inputs.how;
  if (text === "deep") return deep({} as { f?: () => number });
  await Promise.resolve();
  if (text === "later") throw new Error("boom 92");
  if (text === "query") return await ctx.db("main").query("SELECT nothing_like_this FROM item");
  return [1, 2].map((x) => x);
}
"#;

const LIB: &str = r#"/* a
   comment */
type Has = { f?: () => number };

export function deep(x: Has): number {
  const ß = 1; for (let i = 0; i < 1; i++) { void i; }
  return ß + x.f!();
}
"#;

#[test]
fn an_exception_names_the_authors_file_line_and_column() {
    let app = app();
    app.write("app/tools/boom/config.yaml", "description: Fails.\ninputs: { how: { type: string } }\n");
    app.write("app/tools/boom/handler.ts", HANDLER);
    app.write("app/lib.ts", LIB);
    for (how, thrown, places) in [
        ("deep", "not a function", &["deep (app/lib.ts:7:", "handler_default (app/tools/boom/handler.ts:7:"][..]),
        ("later", "boom 92", &["app/tools/boom/handler.ts:9:"]),
        ("query", "no such column: nothing_like_this", &["app/tools/boom/handler.ts"]),
    ] {
        let said = run(app.path(), &["call", "boom", &format!("how={how}")]);
        assert!(said.err.contains(thrown), "{how}: {}", said.err);
        for place in places {
            assert!(said.err.contains(place), "{how}: {}", said.err);
        }
        assert!(!said.out.contains("app/") && !said.out.contains("nothing_like_this"), "the caller learns of it: {}", said.out);
    }
    let served = ServerProcess::start(app.path(), &["dev"]);
    let answer = served.call("boom", &json!({ "how": "deep" }));
    assert!(!answer.contains("lib.ts"), "{answer}");
    served.wait_for("deep (app/lib.ts:7:");
}

#[test]
fn an_exception_behind_an_import_of_a_package_is_placed_too() {
    let app = app();
    app.write("package.json", "{}");
    app.write("node_modules/shouts/package.json", r#"{ "name": "shouts", "main": "index.js" }"#);
    app.write("node_modules/shouts/index.js", "// one\n// two\nmodule.exports = function shout(x) {\n  return x.upper();\n};\n");
    app.write("app/tools/boom/config.yaml", "description: Fails.\ninputs: { how: { type: string } }\n");
    let handler = "import shout from \"shouts\";\ntype T = { inputs: { how: string } };\nexport default ({ inputs }: T) => {\n  \
                   if (inputs.how === \"own\") throw new Error(\"mine\");\n  return shout(inputs.how);\n};\n";
    app.write("app/tools/boom/handler.ts", handler);
    let own = run(app.path(), &["call", "boom", "how=own"]).err;
    assert!(own.contains("mine") && own.contains("app/tools/boom/handler.ts:4:"), "{own}");
    let theirs = run(app.path(), &["call", "boom", "how=x"]).err;
    assert!(theirs.contains("node_modules/shouts/index.js:4:") && theirs.contains("app/tools/boom/handler.ts:5:"), "{theirs}");
}
