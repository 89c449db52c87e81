//! Calls that ask their caller: what goes out, what must come back, and what is refused.

use millrace_core::{
    Endpoint, Json,
    app::{ApiKey, ApiKeys, Auth, EnvPart, EnvTemplate, ExpectedKey, RateLimit, Template, TemplatePart},
    ports::Ports,
};
use millrace_test_kit::World;
use serde_json::json;

use super::fakes::{Ask, META_CAPABILITIES, Seen, empty_app, endpoint, ports, tool};

pub(crate) fn asking() -> Endpoint {
    let mut app = empty_app();
    app.tools = ["ask", "echo", "everything", "sample", "twice"].into_iter().map(|name| tool(name, name)).collect();
    let mut confirmed = tool("confirmed", "echo");
    confirmed.confirm = Some(Template(vec![TemplatePart::Text("Sure?".into())]));
    let mut locked = tool("locked", "ask");
    let key = |name: &str| {
        let expected = ExpectedKey::Value(EnvTemplate(vec![EnvPart::Text(name.into())]));
        ApiKey { name: name.into(), expected, scopes: vec![], roles: vec![] }
    };
    locked.auth = Some(Auth::ApiKey(ApiKeys { keys: vec![key("ada"), key("bob")], scopes: vec![] }));
    app.tools.extend([confirmed, locked]);
    app.tools.sort_by(|a, b| a.name.cmp(&b.name));
    endpoint(app)
}

fn all() -> Json {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

fn call(tool: &str, capabilities: Json, more: Json) -> Ask {
    let mut params = json!({"name": tool, "arguments": {}, "_meta": {META_CAPABILITIES: capabilities}});
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    Ask::modern("tools/call", params)
}

fn send(ask: &Ask) -> Seen {
    ask.send(&asking())
}

fn state_of(seen: &Seen) -> String {
    assert_eq!(seen.body["result"]["resultType"], "input_required", "{}", seen.text);
    seen.body["result"]["requestState"].as_str().unwrap().into()
}

fn accept(name: &str) -> Json {
    json!({"action": "accept", "content": {"name": name}})
}

/// Calls that ask, before and after an answer, and by a caller who cannot be asked.
pub(crate) fn starts() -> Vec<Ask> {
    let state = state_of(&send(&call("twice", all(), json!({}))));
    let answered = json!({"requestState": state, "inputResponses": {"first": accept("Ada")}});
    let tools = ["ask", "confirmed", "everything", "locked", "sample"];
    let first = tools.iter().map(|tool| call(tool, all(), json!({})));
    let unable = tools.iter().map(|tool| call(tool, json!({}), json!({})));
    first.chain(unable).chain([call("twice", all(), answered.clone()), call("ask", all(), answered)]).collect()
}

#[test]
fn a_question_goes_out_and_its_answer_comes_back() {
    let seen = send(&call("ask", all(), json!({})));
    let result = &seen.body["result"];
    assert_eq!(seen.status, 200);
    assert_eq!(result["inputRequests"]["name"]["method"], "elicitation/create");
    assert_eq!(result["inputRequests"]["name"]["params"]["message"], "Who?");
    assert!(result.get("content").is_none() && result.get("isError").is_none() && result.get("ttlMs").is_none(), "{}", seen.text);
    let state = state_of(&seen);
    let seen = send(&call("ask", all(), json!({"requestState": state, "inputResponses": {"name": accept("Ada"), "extra": 7}})));
    assert_eq!(seen.body["result"]["resultType"], "complete", "{}", seen.text);
    assert!(seen.text.contains("Ada"), "{}", seen.text);
}

#[test]
fn missing_and_unfit_answers_are_asked_for_again() {
    let state = state_of(&send(&call("ask", all(), json!({}))));
    let unfit = [
        json!({}),
        json!({"other": accept("x")}),
        json!({"name": "Ada"}),
        json!({"name": {"action": "maybe"}}),
        json!({"name": {"action": "accept", "content": {"name": 7}}}),
        json!({"name": {"action": "accept"}}),
    ];
    for responses in unfit {
        state_of(&send(&call("ask", all(), json!({"requestState": state, "inputResponses": responses}))));
    }
    // What comes without a state was not asked for by this server.
    state_of(&send(&call("ask", all(), json!({"inputResponses": {"name": accept("Ada")}}))));
    let declined = send(&call("ask", all(), json!({"requestState": state, "inputResponses": {"name": {"action": "decline"}}})));
    assert!(declined.text.contains("decline"), "{}", declined.text);
}

#[test]
fn answers_of_earlier_rounds_travel_in_the_state() {
    let first = state_of(&send(&call("twice", all(), json!({}))));
    let seen = send(&call("twice", all(), json!({"requestState": first, "inputResponses": {"first": accept("Ada")}})));
    let second = state_of(&seen);
    assert_ne!(first, second);
    assert!(seen.body["result"]["inputRequests"].get("first").is_none());
    let done = send(&call("twice", all(), json!({"requestState": second, "inputResponses": {"second": accept("Bob")}})));
    assert!(done.text.contains("Ada") && done.text.contains("Bob"), "{}", done.text);
    // The second question was not asked yet: its answer does not count.
    let early = json!({"first": accept("Ada"), "second": accept("Bob")});
    state_of(&send(&call("twice", all(), json!({"requestState": first, "inputResponses": early}))));
}

#[test]
fn only_what_the_client_declared_is_asked_for() {
    for (name, capabilities, required) in [
        ("sample", json!({}), json!({"sampling": {}})),
        ("sample", json!({"elicitation": {}}), json!({"sampling": {}})),
        ("everything", json!({"sampling": {}}), json!({"elicitation": {}, "roots": {}})),
        ("confirmed", json!({"sampling": {}}), json!({"elicitation": {}})),
    ] {
        let seen = send(&call(name, capabilities, json!({})));
        assert_eq!((seen.status, seen.code()), (400, Some(-32021)), "{}", seen.text);
        assert_eq!(seen.body["error"]["data"]["requiredCapabilities"], required);
    }
    let seen = send(&call("everything", all(), json!({})));
    let kinds = ["a", "b", "c"].map(|key| seen.body["result"]["inputRequests"][key]["method"].as_str().unwrap().len());
    assert_eq!(kinds, ["elicitation/create", "sampling/createMessage", "roots/list"].map(str::len));
    let legacy = send(&Ask::legacy("tools/call", json!({"name": "ask"})));
    assert_eq!(legacy.body["result"]["isError"], true);
    assert_eq!(legacy.body["result"]["_meta"]["millrace/error"]["code"], "INPUT_NOT_SUPPORTED");
}

#[test]
fn a_state_is_good_for_its_call_and_its_caller_only() {
    let state = state_of(&send(&call("ask", all(), json!({}))));
    let answers = json!({"name": accept("Ada")});
    let with = |tool: &str, state: &Json, arguments: Json| {
        send(&call(tool, all(), json!({"requestState": state, "inputResponses": answers, "arguments": arguments})))
    };
    let refused = |seen: &Seen| assert_eq!((seen.status, seen.code()), (200, Some(-32602)), "{}", seen.text);
    refused(&with("twice", &json!(state), json!({})));
    refused(&with("echo", &json!(state), json!({})));
    refused(&with("ask", &json!(state), json!({"a": 1})));
    refused(&with("ask", &json!(std::format!("{state}-TAMPERED")), json!({})));
    refused(&with("ask", &json!(""), json!({})));
    refused(&with("ask", &json!("x".repeat(3000)), json!({})));
    refused(&with("ask", &json!(7), json!({})));
    refused(&send(&call("ask", all(), json!({"requestState": state, "inputResponses": [1]}))));
    // Every single character matters.
    for place in 0..state.len() {
        let mut bytes = state.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        refused(&with("ask", &json!(String::from_utf8(bytes).unwrap()), json!({})));
    }
    let ada = call("locked", all(), json!({})).with("x-api-key", "ada");
    let state = state_of(&send(&ada));
    let again = call("locked", all(), json!({"requestState": state, "inputResponses": answers}));
    refused(&send(&again.clone().with("x-api-key", "bob")));
    assert_eq!(send(&again.clone()).status, 401);
    assert_eq!(send(&again.with("x-api-key", "ada")).body["result"]["resultType"], "complete");
}

#[test]
fn a_confirmed_tool_runs_after_the_user_said_yes() {
    let seen = send(&call("confirmed", all(), json!({})));
    let state = state_of(&seen);
    assert_eq!(seen.body["result"]["inputRequests"]["millrace/confirm"]["params"]["message"], "Sure?");
    let say = |action: &str| {
        send(&call("confirmed", all(), json!({"requestState": state, "inputResponses": {"millrace/confirm": {"action": action}}})))
    };
    assert_eq!(say("accept").body["result"]["isError"], false);
    for action in ["decline", "cancel"] {
        let seen = say(action);
        assert_eq!(seen.body["result"]["_meta"]["millrace/error"]["code"], "DECLINED", "{}", seen.text);
    }
}

/// A tool that may be called once: its rounds are one call, and a state is good for one round only.
#[test]
fn a_further_round_is_not_counted_again() {
    let mut app = empty_app();
    let limit = |max| Some(RateLimit { max, window_s: 60, key: None });
    let mut confirmed = tool("confirmed", "echo");
    confirmed.confirm = Some(Template(vec![TemplatePart::Text("Sure?".into())]));
    confirmed.limits.rate = limit(1);
    let mut twice = tool("twice", "twice");
    twice.limits.rate = limit(1);
    app.tools = vec![confirmed, twice];
    let endpoint = Endpoint::new(app, Ports { state: World::new().ports().state, ..ports() });
    let ask = |tool: &str, more: Json| call(tool, all(), more).send(&endpoint);
    let limited = |seen: &Seen| {
        let error = &seen.body["result"]["_meta"]["millrace/error"];
        assert_eq!(
            (&error["code"], &error["stage"], &error["retryable"]),
            (&json!("RATE_LIMITED"), &json!("guard"), &json!(true)),
            "{}",
            seen.text
        );
        assert!(error["retry_after"].as_u64().is_some_and(|seconds| (1..=120).contains(&seconds)), "{}", seen.text);
        assert!(seen.body["result"].get("inputRequests").is_none(), "nobody is asked: {}", seen.text);
    };
    let state = state_of(&ask("confirmed", json!({})));
    limited(&ask("confirmed", json!({})));
    let unanswered = json!({"requestState": state, "inputResponses": {}});
    limited(&ask("confirmed", unanswered));
    let answered = json!({"requestState": state, "inputResponses": {"millrace/confirm": {"action": "accept"}}});
    assert_eq!(ask("confirmed", answered.clone()).body["result"]["resultType"], "complete");
    limited(&ask("confirmed", answered));
    let first = state_of(&ask("twice", json!({})));
    let second = state_of(&ask("twice", json!({"requestState": first, "inputResponses": {"first": accept("Ada")}})));
    let unfit = json!({"requestState": second, "inputResponses": {"second": {"action": "accept"}}});
    let again = state_of(&ask("twice", unfit));
    limited(&ask("twice", json!({"requestState": again, "inputResponses": {"second": accept("Bob")}})));
}
