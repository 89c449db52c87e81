//! One call of a tool, which must be safe: the server says that the tool reads only, or the user
//! named it.

use std::time::Duration;

use millrace_bundler::tokens;
use millrace_core::{Json, schema};
use serde_json::{Map, json};

use super::{
    finding::{Finding, Side},
    handshake::modern_result,
    wire::{Auth, Era, Message, Reply, Wire, field_value},
};

/// More than that, Claude Code does not show a model.
const MOST_TOKENS: u64 = 25_000;

/// What is called, if anything.
pub(super) enum Wanted {
    /// The first tool that says that it reads only, and needs no input.
    Safe,
    /// This one.
    Named(String, Map<String, Json>),
    Nothing,
}

/// What a call came to.
pub(super) struct CallFacts {
    pub(super) tool: String,
    pub(super) took: Duration,
    pub(super) bytes: usize,
    pub(super) is_error: bool,
}

fn is_safe(tool: &Map<String, Json>) -> bool {
    let hint = |name: &str| tool.get("annotations").and_then(|hints| hints.get(name)).and_then(Json::as_bool);
    let needs = tool.get("inputSchema").and_then(|schema| schema.get("required")).is_some_and(|required| *required != json!([]));
    // A choice at the top may require something, too.
    let chooses =
        ["anyOf", "oneOf", "allOf", "if"].iter().any(|key| tool.get("inputSchema").is_some_and(|schema| schema.get(key).is_some()));
    hint("readOnlyHint") == Some(true) && hint("destructiveHint") != Some(true) && !needs && !chooses
}

/// Makes the call. What was sent and came is given back for a 401.
pub(super) async fn look(wire: &mut Wire, era: &Era, tools: &[Map<String, Json>], wanted: Wanted) -> (Option<CallFacts>, Option<Reply>) {
    let find = |name: &str| tools.iter().find(|tool| tool.get("name").is_some_and(|known| known == name));
    let (tool, arguments) = match wanted {
        Wanted::Nothing => return (None, None),
        Wanted::Safe => match tools.iter().find(|tool| is_safe(tool)) {
            Some(tool) => (tool, Map::new()),
            None => {
                if !tools.is_empty() {
                    let what = "no tool was called: none says that it reads only and needs no input";
                    wire.add(Finding::note(Side::Client, "no-safe-tool", what, "Name one that may be called: `--call NAME '{…}'`."));
                }
                return (None, None);
            }
        },
        Wanted::Named(name, arguments) => match find(&name) {
            Some(tool) => (tool, arguments),
            None => {
                let what = format!("the server has no tool `{name}`, so nothing was called");
                let known: Vec<&str> = tools.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
                let got = wire.shown(&known.join(", "));
                wire.add(Finding::fault(Side::Client, "call-unknown-tool", what, "Name one of the list.").got(got));
                return (None, None);
            }
        },
    };
    let name = tool.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
    let fields = if *era == Era::Modern { parameter_fields(tool, &arguments) } else { Vec::new() };
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let params = json!({ "name": name, "arguments": arguments });
    let reply = wire.send(Message { era, method: "tools/call", params, auth: Auth::Given, fields: &fields }).await;
    let shown = wire.shown(&name);
    if reply.status == Some(401) {
        if wire.sends_credentials() {
            let what = "the credentials were accepted by the handshake, and not by the call of a tool";
            let remedy = "Get a token with this URL as its audience, or sign in with the scopes that the answer names.";
            wire.add(reply.tell(Finding::fault(Side::Client, "credentials-rejected", what, remedy)).at(shown));
            return (None, None);
        }
        return (None, Some(reply));
    }
    if reply.status == Some(403) {
        let remedy = "Sign in with the scopes that the answer names.";
        let finding = Finding::fault(Side::Client, "scopes-missing", "the credentials do not suffice for the call of a tool", remedy);
        wire.add(reply.tell(finding).at(shown));
        return (None, None);
    }
    let facts = judge(wire, era, tool, &name, &reply);
    (facts, None)
}

/// The fields that mirror arguments, where the schema asks for them.
fn parameter_fields(tool: &Map<String, Json>, arguments: &Map<String, Json>) -> Vec<(String, String)> {
    let properties = tool.get("inputSchema").and_then(|schema| schema.get("properties")?.as_object());
    let mirrored = properties.into_iter().flatten().filter_map(|(key, property)| {
        let field = property.get("x-mcp-header")?.as_str()?;
        let is_token = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        let value = match arguments.get(key)? {
            Json::String(text) => field_value(text),
            Json::Number(number) => number.to_string(),
            Json::Bool(value) => value.to_string(),
            _ => return None,
        };
        is_token.then(|| (format!("mcp-param-{}", field.to_ascii_lowercase()), value))
    });
    mirrored.collect()
}

fn judge(wire: &mut Wire, era: &Era, tool: &Map<String, Json>, name: &str, reply: &Reply) -> Option<CallFacts> {
    let shown = wire.shown(name);
    let Some(result) = &reply.result else {
        if reply.is_message() || !reply.is_success() {
            if reply.failure.is_some() || reply.status == Some(429) {
                return None;
            }
            let what = "the call of a listed tool is refused";
            let remedy =
                "Look for the reason in the answer and the server's log; what a model can correct belongs into a result with `isError`.";
            wire.add(reply.tell(Finding::fault(Side::Server, "call-refused", what, remedy)).at(shown));
        }
        return None;
    };
    if *era == Era::Modern {
        modern_result(wire, reply, false);
    }
    let size = tokens(reply.bytes as u64);
    if size > MOST_TOKENS {
        let what = format!("the answer of a tool is about {size} tokens long: Claude Code puts it into a file instead of showing it");
        wire.add(Finding::warning(Side::Server, "answer-large", what, "Page or shorten what the tool returns.").at(shown.clone()));
    }
    let is_error = result.get("isError") == Some(&Json::Bool(true));
    let asks = result.get("resultType").is_some_and(|kind| kind == "input_required");
    if asks {
        return Some(CallFacts { tool: shown, took: reply.took, bytes: reply.bytes, is_error });
    }
    if !result.get("content").is_some_and(Json::is_array) {
        let what = "the result of a tool has no `content`: clients refuse it";
        wire.add(
            reply.tell(Finding::fault(Side::Server, "content-missing", what, "Send a list of blocks, if only `[]`.")).at(shown.clone()),
        );
    }
    if is_error {
        let what = "the tool was called and failed";
        let remedy = "Read what it says; where its inputs are wrong, name others with `--call`.";
        wire.add(reply.tell(Finding::warning(Side::Server, "call-failed", what, remedy)).at(shown.clone()));
    } else if let Some(schema) = tool.get("outputSchema").filter(|schema| !schema.is_null()) {
        output(wire, schema, result.get("structuredContent"), reply, &shown);
    }
    Some(CallFacts { tool: shown, took: reply.took, bytes: reply.bytes, is_error })
}

fn output(wire: &mut Wire, schema: &Json, structured: Option<&Json>, reply: &Reply, shown: &str) {
    let Some(structured) = structured else {
        let what = "a tool with `outputSchema` sent no `structuredContent`: the SDKs for TypeScript and Python throw";
        let remedy = "Send it, or leave `outputSchema` out.";
        wire.add(reply.tell(Finding::fault(Side::Server, "output-missing", what, remedy)).at(shown));
        return;
    };
    if schema::unchecked(schema).iter().any(|keyword| keyword.is_broken) {
        let what = "the `outputSchema` of a tool has a `$ref` that leads nowhere in it: clients cannot check the result";
        wire.add(Finding::fault(Side::Server, "output-schema", what, "Write the schema out.").at(shown));
        return;
    }
    if let Err(mismatch) = schema::check(schema, structured) {
        let place = if mismatch.path.is_empty() { "structuredContent".to_owned() } else { mismatch.path };
        let got = wire.shown(&format!("{place} {}", mismatch.problem));
        let what = "the structured content of a tool is not valid by its own `outputSchema`: clients throw it away";
        let finding = Finding::fault(Side::Server, "output-schema", what, "Correct the schema, or what the tool returns.");
        wire.add(finding.sent(reply.sent.clone()).got(got).at(shown));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(text: &str) -> Map<String, Json> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn only_tools_that_say_that_they_read_are_called() {
        for (safe, text) in [
            (true, r#"{"annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}"#),
            (true, r#"{"annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","required":[]}}"#),
            (false, r#"{"annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","required":["id"]}}"#),
            (false, r#"{"annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","anyOf":[{"required":["id"]}]}}"#),
            (false, r#"{"annotations":{"readOnlyHint":true,"destructiveHint":true},"inputSchema":{}}"#),
            (false, r#"{"annotations":{"readOnlyHint":"true"},"inputSchema":{}}"#),
            (false, r#"{"annotations":{"destructiveHint":false},"inputSchema":{}}"#),
            (false, r#"{"inputSchema":{}}"#),
        ] {
            assert_eq!(is_safe(&tool(text)), safe, "{text}");
        }
    }

    #[test]
    fn arguments_are_mirrored_where_the_schema_asks() {
        let tool = tool(r#"{"inputSchema":{"properties":{"a":{"x-mcp-header":"Region"},"b":{"x-mcp-header":"no token"},"c":{}}}}"#);
        let arguments = json!({ "a": "Süd", "b": "x", "c": "y" });
        let fields = parameter_fields(&tool, arguments.as_object().unwrap());
        assert_eq!(fields, [("mcp-param-region".to_owned(), "=?base64?U8O8ZA==?=".to_owned())]);
    }
}
