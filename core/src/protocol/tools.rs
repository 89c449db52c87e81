//! `tools/call`: from the request's parameters to the pipeline, and from its result or fault to the reply.

use alloc::{format, string::String, vec::Vec};

use serde_json::{Map, json};

use super::{
    encode::{self, Failure, INTERNAL_ERROR, ResultWriter},
    era::Era,
    lists::wrap_output_schema,
    methods::{Exchange, text},
};
use crate::{
    Json,
    app::{App, Tool},
    fault::{Fault, Refusal},
    headers::Headers,
    pipeline::{Call, ContentBlock, ToolResult},
};

/// The tool of that name. An app's tools are sorted by name.
pub(super) fn find<'a>(app: &'a App, name: &str) -> Option<&'a Tool> {
    let index = app.tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).ok()?;
    app.tools.get(index)
}

impl Exchange<'_> {
    pub(super) async fn call_tool(&self, params: &mut Map<String, Json>, request_id: &str) -> Result<Vec<u8>, Failure> {
        let name = text(params, "name")?;
        let arguments = match params.get_mut("arguments").map(Json::take) {
            None | Some(Json::Null) => Map::new(),
            Some(Json::Object(arguments)) => arguments,
            Some(_) => return Err(Failure::invalid_params("Invalid params: `arguments` has to be an object")),
        };
        let call = Call {
            tool: &name,
            arguments,
            request_id,
            headers: &self.request.headers,
            protocol: self.selected.version,
            deadline_ms: self.request.deadline_ms,
            cancel: &self.request.cancel,
        };
        match self.pipeline.call(call).await {
            Ok(result) => {
                let wraps = || find(self.app(), &name).is_some_and(|tool| wrap_output_schema(&tool.descriptor).is_some());
                Ok(write(self.result(), &result, wraps))
            }
            Err(fault) => Err(failure(&fault, &self.request.headers, &self.app().name, request_id)),
        }
    }
}

/// Writes a tool's result. `wraps` says whether the legacy era sees the tool's output as the member `result` of an object.
fn write(mut writer: ResultWriter<'_>, result: &ToolResult, wraps: impl FnOnce() -> bool) -> Vec<u8> {
    writer.with("content", |out| {
        out.push(b'[');
        for (index, block) in result.content.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match block {
                ContentBlock::Text(text) => {
                    out.extend_from_slice(br#"{"type":"text","text":"#);
                    encode::string(out, text);
                    out.push(b'}');
                }
            }
        }
        out.push(b']');
    });
    if let Some(structured) = &result.structured {
        if writer.era() == Era::Legacy && (!structured.is_object() || wraps()) {
            writer.with("structuredContent", |out| {
                out.extend_from_slice(br#"{"result":"#);
                encode::json(out, structured);
                out.push(b'}');
            });
        } else {
            writer.member("structuredContent", structured);
        }
    }
    writer.raw("isError", if result.is_error { "true" } else { "false" });
    writer.finish_with(&result.meta)
}

/// The JSON-RPC error of a fault, and the HTTP status of a refused caller.
fn failure(fault: &Fault, headers: &Headers, realm: &str, request_id: &str) -> Failure {
    let code = fault.json_rpc_code();
    let mut data = fault.data();
    if code == INTERNAL_ERROR
        && let Some(data) = data.as_object_mut()
    {
        data.insert("request_id".into(), json!(request_id));
    }
    let failure = Failure::new(code, fault.message.as_str()).with_data(data);
    let Some(refusal) = &fault.refusal else { return failure };
    let challenge = challenge(refusal, headers, realm);
    let status = match refusal {
        Refusal::Unauthorized => 401,
        Refusal::Forbidden(_) => 403,
    };
    Failure { status, ..failure }.with_field("www-authenticate", challenge)
}

/// The value of `WWW-Authenticate` (RFC 6750, section 3). A caller that sent no token is told of no error.
fn challenge(refusal: &Refusal, headers: &Headers, realm: &str) -> String {
    let realm = realm.replace(['"', '\\'], "");
    match refusal {
        Refusal::Unauthorized if headers.first("authorization").is_some() => format!(r#"Bearer realm="{realm}", error="invalid_token""#),
        Refusal::Unauthorized => format!(r#"Bearer realm="{realm}""#),
        Refusal::Forbidden(scopes) => {
            let scopes: Vec<&str> = scopes.iter().map(String::as_str).filter(|scope| is_scope(scope)).collect();
            let mut challenge = format!(r#"Bearer realm="{realm}", error="insufficient_scope""#);
            if !scopes.is_empty() {
                challenge.push_str(&format!(r#", scope="{}""#, scopes.join(" ")));
            }
            challenge
        }
    }
}

/// Whether it is a scope token of RFC 6749, section 3.3, and so can stand in a quoted string.
fn is_scope(scope: &str) -> bool {
    !scope.is_empty() && scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}
