//! Secrets in what is said about a call.

use std::rc::Rc;

use millrace_core::{
    Error, ErrorKind,
    app::{ApiKey, ApiKeys, App, Auth, EnvPart, EnvTemplate, ErrorStyle, ExpectedKey, Literal, Policy, Tool},
    fault::Fault,
    pipeline::Pipeline,
    ports::{Reply, Returned, ScriptFault, Thrown, ToolErrorReply},
};
use serde_json::{Value as Json, json};

use crate::fakes::*;

const LISTED: &str = "listed+value/1111";
const PASSWORD: &str = "pass-of-database";
const OPTION: &str = "token-of-adapter";
const KEY: &str = "literal-api-key-2222";
const SENT: &str = "token-of-caller-3333";

/// An app with a secret wherever one can be.
fn app_with_secrets(world: &World, mut tool: Tool) -> App {
    world.set_env("LISTED", LISTED);
    world.set_env("OPTION", OPTION);
    tool.errors.expose = true;
    let template = |text: &str| EnvTemplate(vec![EnvPart::Text(text.into())]);
    let expected = ExpectedKey::Value(template(KEY));
    let guarded = Tool {
        name: "guarded".into(),
        auth: Some(Auth::ApiKey(ApiKeys {
            keys: vec![ApiKey { name: "k".into(), expected, scopes: vec![], roles: vec![] }],
            scopes: vec![],
        })),
        ..script_tool()
    };
    let mut app = app(vec![guarded, tool]);
    app.env = vec!["LISTED".into(), "UNSET".into()];
    app.adapters[0].connection_string = template(&format!("fake://app:{PASSWORD}@db.example/shop"));
    app.adapters[0].options =
        vec![("auth_token".into(), EnvTemplate(vec![EnvPart::Env("OPTION".into())])), ("region".into(), template("somewhere-far"))];
    app
}

fn headers() -> With {
    let fields = [("Authorization", format!("Bearer {SENT}")), ("User-Agent", "curl 8.5".into()), ("X-Tenant", "tenant-of-caller".into())];
    With { headers: fields.into_iter().collect(), ..With::default() }
}

/// A text with every secret in it, and what is left of it.
fn text_and_left(region: &str) -> (String, String) {
    let text = |secrets: [&str; 6]| format!("{} db.example {region} curl 8.5", secrets.join(", "));
    (text([LISTED, PASSWORD, OPTION, KEY, SENT, "tenant-of-caller"]), text(["[secret]"; 6]))
}

fn failed(world: &Rc<World>, mut tool: Tool) -> Fault {
    tool.errors.style = ErrorStyle::Protocol;
    let pipeline = Pipeline::new(Rc::new(app_with_secrets(world, tool)), world.ports());
    *call(&pipeline, json!({}), &headers()).unwrap_err()
}

#[test]
fn no_text_of_a_fault_holds_a_secret() {
    let (text, left) = text_and_left("somewhere-far");
    let world = World::new();
    world.answer_error(Error::new(ErrorKind::Configuration, format!("m {text}")).with_source(format!("s {text}")));
    let fault = failed(&world, select_tool());
    assert_eq!((fault.message, fault.log), (format!("M {left}: s {left}"), Some(format!("s {left}"))));

    world.answer_script(Err(ScriptFault::Broken(text.clone())));
    assert_eq!(failed(&world, script_tool()).log, Some(format!("handler.ts#default: {left}")));
    for thrown in [ScriptFault::Limit(text.clone()), ScriptFault::NotJson(text.clone())] {
        world.answer_script(Err(thrown));
        assert_eq!(failed(&world, script_tool()).message, left);
    }
    world.answer_script(Err(ScriptFault::Thrown(Thrown { message: text.clone(), stack: None, cause: None, reply: None })));
    assert_eq!(failed(&world, script_tool()).message, left);

    let all = ToolErrorReply {
        code: text.clone(),
        message: Some(text.clone()),
        suggestion: Some(text.clone()),
        available_actions: vec![text.clone()],
        details: vec![(text.clone(), text.clone())],
        severity: None,
        retry_after_s: None,
    };
    for reply in [Reply::ToolError(all), Reply::Error(text.clone()), Reply::Required(text.clone())] {
        for answer in [
            Ok(Returned::Reply(reply.clone())),
            Err(ScriptFault::Thrown(Thrown { message: "m".into(), stack: None, cause: None, reply: Some(reply.clone()) })),
        ] {
            world.answer_script(answer);
            let pipeline = Pipeline::new(Rc::new(app_with_secrets(&world, script_tool())), world.ports());
            let result = call(&pipeline, json!({}), &headers()).unwrap();
            let whole = format!("{:?} {}", result.content, meta(&result));
            assert!(whole.contains(&left), "{whole}");
            for secret in [LISTED, PASSWORD, OPTION, KEY, SENT, "tenant-of-caller"] {
                assert!(!whole.contains(secret), "{secret} in {whole}");
            }
        }
    }
}

#[test]
fn a_result_is_the_authors_own() {
    let (text, _) = text_and_left("");
    let world = World::new();
    world.answer_script(Ok(Returned::Value(json!(text))));
    let pipeline = Pipeline::new(Rc::new(app_with_secrets(&world, script_tool())), world.ports());
    assert_eq!(crate::fakes::text(&call(&pipeline, json!({}), &headers()).unwrap()), text);
}

#[test]
fn a_variable_that_changes_is_a_secret_as_it_is_now() {
    let world = World::new();
    let pipeline = Pipeline::new(Rc::new(app_with_secrets(&world, script_tool())), world.ports());
    let said = |text: &str| {
        world.answer_script(Ok(Returned::Reply(Reply::Error(text.into()))));
        meta(&call(&pipeline, json!({}), &With::default()).unwrap())["message"].clone()
    };
    assert_eq!(said(&format!("{LISTED} other-value")), json!("[secret] other-value"));
    world.set_env("LISTED", "other-value");
    assert_eq!(said(&format!("{LISTED} other-value")), json!(format!("{LISTED} [secret]")));
}

#[test]
fn a_database_that_is_asked_without_a_call_keeps_its_secrets() {
    let world = World::new();
    let mut app = app_with_secrets(&world, script_tool());
    app.adapters[0].connection_string = EnvTemplate(vec![EnvPart::Env("URL".into())]);
    world.set_env("URL", "unset-connector://app:pass-of-url@db.example/");
    let pipeline = Pipeline::new(Rc::new(app), world.ports());
    world.answer_error(Error::new(ErrorKind::Unavailable, "no pass-of-url").with_source("pass-of-url of db.example"));
    if let Err(error) = block_on(pipeline.ping(0)) {
        assert!(!format!("{error} {:?}", error.source).contains("pass-of-url"), "{error:?}");
    }
}

#[test]
fn what_a_plugin_says_is_logged_without_what_it_compared() {
    let policy = Policy {
        value: Literal(json!({"secret": null, "nested": [{"a": ["lit-nested-secret"]}, "lit-listed-secret"], "zone": "eu"})),
        templates: vec![("/secret".into(), EnvTemplate(vec![EnvPart::Env("LISTED".into())]))],
    };
    let tool = Tool { auth: Some(Auth::Script { script: script(PLUGIN), policy }), ..script_tool() };
    let text = format!("bad {SENT}, {LISTED}, lit-nested-secret, lit-listed-secret, tenant-of-caller, eu, curl 8.5, half {}", &LISTED[..9]);
    let left = "bad [secret], [secret], [secret], [secret], [secret], eu, curl 8.5, half [secret]";
    let world = World::new();
    for answer in [
        Err(ScriptFault::Thrown(Thrown { message: text.clone(), stack: Some(text.clone()), cause: None, reply: None })),
        Err(ScriptFault::Broken(text.clone())),
        Ok(Returned::Reply(Reply::Error(text.clone()))),
    ] {
        world.answer_script(answer);
        let fault = failed(&world, tool.clone());
        let prefixes = ["auth.ts#default threw: ", "the plugin `auth.ts` is wrong: "];
        let log = fault.log.as_deref().map(|log| prefixes.iter().find_map(|prefix| log.strip_prefix(prefix)).unwrap_or(log));
        assert_eq!((fault.code.as_str(), log), ("UNAUTHORIZED", Some(left)));
    }
}

#[test]
fn what_is_no_principal_lets_nobody_in_and_is_not_repeated() {
    let tool = Tool { auth: Some(Auth::Script { script: script(PLUGIN), policy: Policy::default() }), ..script_tool() };
    let table: [(Json, &str); 6] = [
        (json!({"subject": {"id": "alice"}}), "`subject` is an object; it must be a string or an integer"),
        (json!({"subject": ["alice"]}), "`subject` is an array; it must be a string or an integer"),
        (json!({"subject": true}), "`subject` is a boolean; it must be a string or an integer"),
        (json!({"subject": ""}), "`subject` is an empty string"),
        (json!({"subject": "u", "claims": ["alice"]}), "`claims` is an array; it must be an object"),
        (json!({"subject": "u", "roles": ["alice", 1]}), "`roles` has a number in it; it must be a list of strings"),
    ];
    for (principal, problem) in table {
        let world = World::new();
        world.answer_script(Ok(Returned::Value(principal.clone())));
        let fault = failed(&world, tool.clone());
        assert_eq!(fault.code, "UNAUTHORIZED", "{principal}");
        assert_eq!(fault.log.unwrap(), format!("the plugin `auth.ts` is wrong: it returned a principal whose {problem}"));
        assert_eq!(world.seen.borrow().len(), 1, "the handler ran");
    }
}
