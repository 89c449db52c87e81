//! `tools/call`: from the request's parameters to the pipeline, and from its result or fault to the
//! reply.

use alloc::{borrow::Cow, string::String, vec::Vec};

use serde_json::{Map, json};

use super::{
    discovery,
    encode::{self, ResultWriter},
    era::Era,
    exchange::Exchange,
    meta::META_CAPABILITIES,
    methods::text,
    rpc_error::RpcError,
};
use crate::{
    Json,
    app::{Execute, Tool},
    fault::{Fault, Refusal},
    pipeline::{Call, ContentBlock, InputRequired, Operation, Rounds, ToolResult},
};

impl Exchange<'_> {
    pub(super) async fn call_tool(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, RpcError> {
        let name = text(params, "name")?;
        let arguments = match params.get_mut("arguments").map(Json::take) {
            None | Some(Json::Null) => Map::new(),
            Some(Json::Object(arguments)) => arguments,
            Some(_) => return Err(RpcError::invalid_params("Invalid params: `arguments` must be an object")),
        };
        let call = Call {
            method: self.method,
            tool: &name,
            arguments,
            request_id: self.request_id(),
            trace: self.trace.borrowed(),
            route: self.route(),
            headers: &self.request.headers,
            platform_caller: self.request.platform_caller.as_ref(),
            protocol: self.selected.version,
            deadline_ms: self.request.deadline_ms,
            cancel: &self.request.cancel,
            listener: self.beside.listener,
            rounds: rounds(params, self.may_ask())?,
            operation: Operation { needs_caller: self.is_locked(), was_asked: Some(&self.was_asked), ..Operation::default() },
        };
        match self.protocol.pipeline.call(call).await {
            Ok(result) => {
                if let Some(input) = &result.input {
                    return Ok(self.asking(input));
                }
                let structured = self.structured(&name, &result);
                Ok(write(self.result(), &result, structured, self.selected.version))
            }
            Err(fault) => Err(self.failure(&fault)),
        }
    }
}

/// What a request says of rounds.
fn rounds(params: &Map<String, Json>, may_ask: bool) -> Result<Rounds<'_>, RpcError> {
    if !may_ask {
        return Ok(Rounds::default());
    }
    let responses = match params.get("inputResponses") {
        None | Some(Json::Null) => None,
        Some(Json::Object(responses)) => Some(responses),
        Some(_) => return Err(RpcError::invalid_params("Invalid params: `inputResponses` must be an object")),
    };
    let state = match params.get("requestState") {
        None | Some(Json::Null) => None,
        Some(Json::String(state)) => Some(state.as_str()),
        Some(_) => return Err(RpcError::invalid_params("Invalid params: `requestState` must be a string")),
    };
    let capabilities = params.get("_meta").and_then(|meta| meta.get(META_CAPABILITIES)?.as_object());
    Ok(Rounds { capabilities, responses, state })
}

impl Exchange<'_> {
    /// The structured content as this request gets it, and whether it is the member `result` of an
    /// object. Revisions before 2025-06-18 have none. `execute` advertises no output of its own, so
    /// nobody needs a second copy of what it says in text.
    fn structured<'r>(&self, name: &str, result: &'r ToolResult) -> Option<(&'r Json, bool)> {
        let structured = result.structured.as_ref().filter(|_| self.selected.version >= "2025-06-18")?;
        let pipeline = &self.protocol.pipeline;
        let tool = pipeline.tool(name).map(|(_, tool)| tool);
        if tool.is_some_and(|tool| matches!(tool.execute, Execute::Forward)) && result.is_doubled() {
            return None;
        }
        let wraps = tool.is_some_and(Tool::wraps_result)
            || (self.selected.era == Era::Legacy && (!structured.is_object() || self.protocol.lists.wraps(pipeline, name)));
        Some((structured, wraps))
    }

    /// What a request that runs `tools` tools says of rounds. Only a single one can ask: a state
    /// belongs to one call.
    pub(super) fn rounds<'p>(&self, params: &'p Map<String, Json>, tools: usize) -> Result<Rounds<'p>, RpcError> {
        let rounds = rounds(params, self.may_ask())?;
        match (tools, rounds.state) {
            (1, _) => Ok(rounds),
            (_, None) => Ok(Rounds::default()),
            (_, Some(_)) => Err(RpcError::invalid_params("Invalid params: this server issued no `requestState`")),
        }
    }

    /// Whether this client can be asked: the result says what a modern one is asked, and a
    /// connection asks a legacy one.
    fn may_ask(&self) -> bool {
        self.selected.era == Era::Modern || self.beside.questions.is_some()
    }

    /// Writes what a call asks for, or leaves it to the connection.
    pub(super) fn asking(&self, input: &InputRequired) -> Vec<u8> {
        if let Some(questions) = self.beside.questions {
            questions.replace(Some(input.clone()));
            return Vec::new();
        }
        let mut writer = self.question();
        writer.member("inputRequests", &input.requests);
        writer.text("requestState", &input.state);
        writer.finish()
    }
}

/// Writes a tool's result. `structured` has the structured content, and whether it is the member
/// `result` of an object.
fn write(mut writer: ResultWriter<'_>, result: &ToolResult, structured: Option<(&Json, bool)>, version: &str) -> Vec<u8> {
    writer.with("content", |out| {
        out.push(b'[');
        for (index, block) in result.content.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            self::block(out, block, version);
        }
        out.push(b']');
    });
    match structured {
        Some((structured, true)) => writer.with("structuredContent", |out| {
            out.extend_from_slice(br#"{"result":"#);
            encode::json(out, structured);
            out.push(b'}');
        }),
        Some((structured, false)) => writer.member("structuredContent", structured),
        None => {}
    }
    writer.raw("isError", if result.is_error { "true" } else { "false" });
    writer.finish_with(&result.meta)
}

/// Appends one content block, as a revision knows it.
pub(super) fn block(out: &mut Vec<u8>, block: &ContentBlock, version: &str) {
    let block = match block {
        ContentBlock::Text(text) => Err(Cow::Borrowed(text.as_str())),
        ContentBlock::Other(block) => ContentBlock::for_version(block, version).map_err(Cow::Owned),
    };
    match block {
        Ok(block) => encode::json(out, block),
        Err(text) => {
            out.extend_from_slice(br#"{"type":"text","text":"#);
            encode::string(out, &text);
            out.push(b'}');
        }
    }
}

impl Exchange<'_> {
    /// The JSON-RPC error of a fault, and the HTTP status of a refused caller.
    pub(super) fn failure(&self, fault: &Fault) -> RpcError {
        let failure = failure(fault, |refusal| discovery::challenge(&self.protocol.pipeline, self.request, refusal, &fault.scopes));
        match (&fault.refusal, &failure.field) {
            (Some(refusal @ (Refusal::Unauthorized | Refusal::Forbidden(_))), Some(field)) if self.challenges_in_result() => {
                let mut result = ToolResult::failed("", fault);
                let challenge = discovery::challenge_in_result(&field.1, refusal);
                result.meta.push((discovery::META_CHALLENGES.into(), json!([challenge])));
                let body = write(self.result(), &result, None, self.selected.version);
                let status = if self.reads_results_only(refusal) { 200 } else { failure.status };
                RpcError { status, message_body: Some(body), ..failure }
            }
            _ => failure,
        }
    }
}

fn failure(fault: &Fault, challenge: impl FnOnce(&Refusal) -> String) -> RpcError {
    let failure = RpcError::new(fault.json_rpc_code(), fault.message.as_str()).with_data(fault.data());
    let Some(refusal) = &fault.refusal else { return failure };
    let status = match refusal {
        Refusal::Unauthorized => 401,
        Refusal::Forbidden(_) => 403,
        Refusal::Capability(_) => return RpcError { status: 400, ..failure },
        Refusal::State => return failure,
    };
    RpcError { status, ..failure }.with_field("www-authenticate", challenge(refusal))
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec};

    use serde_json::json;

    use super::*;
    use crate::protocol::json_rpc::Id;

    #[test]
    fn structured_content_is_wrapped_where_its_schema_is() {
        let cases = [
            (Era::Modern, json!([1]), false, json!([1])),
            (Era::Modern, json!([1]), true, json!({"result": [1]})),
            (Era::Modern, json!({"a": 1}), false, json!({"a": 1})),
            (Era::Legacy, json!(null), true, json!({"result": null})),
            (Era::Legacy, json!({"a": 1}), false, json!({"a": 1})),
            (Era::Legacy, json!({"a": 1}), true, json!({"result": {"a": 1}})),
        ];
        for (era, structured, wraps, expected) in cases {
            let meta = vec![("millrace/note".to_string(), json!(1))];
            let result = ToolResult {
                content: vec![ContentBlock::Text("a\nb".into())],
                structured: Some(structured),
                meta,
                ..ToolResult::default()
            };
            let structured = result.structured.as_ref().map(|structured| (structured, wraps));
            let written = write(ResultWriter::new(&Id::number(7), era, "{}"), &result, structured, "2025-11-25");
            let written: Json = serde_json::from_slice(&written).unwrap();
            let written = &written["result"];
            assert_eq!(written["structuredContent"], expected);
            assert_eq!(written["content"], json!([{"type": "text", "text": "a\nb"}]));
            assert_eq!(written["_meta"]["millrace/note"], 1);
            assert_eq!(written["_meta"].as_object().unwrap().len(), if era == Era::Modern { 2 } else { 1 });
        }
    }
}
