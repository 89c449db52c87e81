//! What a script's record says, as JSON.
//!
//! JSON, because whoever has access to the store can read it, and a version of Millrace that knows more members reads what an older one
//! wrote.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::{
    Json,
    fault::{Change, Fault, Issue, Remedy, Severity, Stage},
    pipeline::{call_end::CallFailure, content::AuthoredContent, output::ToolOutput, result::ContentBlock},
};

/// What a record says of its call.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said {
    /// It runs, or ran when its isolate ended. The text tells its writer from others.
    Running(String),
    /// The handler returned this.
    Value { value: Json, changed: bool },
    /// The handler built this.
    Content { content: Content, changed: bool },
    /// The handler failed after it had changed something.
    Failed(Box<Failure>),
    /// The handler ended, and what it returned is too large to be kept.
    Ended,
}

/// [`AuthoredContent`]
#[derive(Serialize, Deserialize)]
pub(super) struct Content {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    data: Option<Json>,
    blocks: Vec<Block>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    structured: Option<Json>,
    meta: Map<String, Json>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Block {
    Text(String),
    Other(Map<String, Json>),
}

/// What the caller is told of a [`Fault`] of stage *execute*.
#[derive(Serialize, Deserialize)]
pub(super) struct Failure {
    is_reply: bool,
    code: String,
    message: String,
    suggestion: Option<String>,
    available_actions: Vec<String>,
    details: Vec<(String, String)>,
    severity: String,
    retry_after_s: Option<u64>,
    remedy: String,
    issues: Vec<(String, String)>,
}

/// A member that is there, `null` included.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

impl Said {
    /// What a handler returned. `changed`: statements of it changed something.
    pub(super) fn of(output: &ToolOutput, changed: bool) -> Self {
        match output {
            ToolOutput::Content(content) => {
                let AuthoredContent { data, blocks, structured, meta } = (**content).clone();
                let blocks = blocks.into_iter().map(|block| match block {
                    ContentBlock::Text(text) => Block::Text(text),
                    ContentBlock::Other(members) => Block::Other(members),
                });
                Self::Content { content: Content { data, blocks: blocks.collect(), structured, meta }, changed }
            }
            other => Self::Value { value: other.shown(), changed },
        }
    }

    /// How a handler failed, without what only the log may see.
    pub(super) fn failed(why: &CallFailure) -> Self {
        let (CallFailure::Fault(fault) | CallFailure::Reply(fault)) = why;
        let (code, message) = match fault.code.as_str() {
            // True of the caller who is gone, and of no other.
            "CANCELLED" => ("INTERRUPTED", "An earlier call with the same idempotency key was cancelled while it ran."),
            code => (code, fault.message.as_str()),
        };
        Self::Failed(Box::new(Failure {
            is_reply: matches!(why, CallFailure::Reply(_)),
            code: code.into(),
            message: message.into(),
            suggestion: fault.suggestion.clone(),
            available_actions: fault.available_actions.clone(),
            details: fault.details.clone(),
            severity: fault.severity.as_str().into(),
            retry_after_s: fault.retry_after_s,
            remedy: match fault.remedy {
                Remedy::Caller => "caller",
                Remedy::Operator => "operator",
                Remedy::Later => "later",
            }
            .into(),
            issues: fault.issues.iter().map(|issue| (issue.field.clone(), issue.message.clone())).collect(),
        }))
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// What a record says; of one that is not understood, that its call ended: nothing may run again because of it.
    pub(super) fn decode(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or(Self::Ended)
    }
}

impl Content {
    pub(super) fn output(self) -> ToolOutput {
        let Self { data, blocks, structured, meta } = self;
        let blocks = blocks.into_iter().map(|block| match block {
            Block::Text(text) => ContentBlock::Text(text),
            Block::Other(members) => ContentBlock::Other(members),
        });
        ToolOutput::Content(Box::new(AuthoredContent { data, blocks: blocks.collect(), structured, meta }))
    }
}

impl Failure {
    pub(super) fn again(self) -> CallFailure {
        let fault = Fault {
            suggestion: self.suggestion,
            available_actions: self.available_actions,
            details: self.details,
            severity: match self.severity.as_str() {
                "warning" => Severity::Warning,
                "critical" => Severity::Critical,
                _ => Severity::Error,
            },
            retry_after_s: self.retry_after_s,
            remedy: match self.remedy.as_str() {
                "later" => Remedy::Later,
                "operator" => Remedy::Operator,
                _ => Remedy::Caller,
            },
            issues: self.issues.into_iter().map(|(field, message)| Issue { field, message }).collect(),
            change: Change::None,
            ..Fault::new(Stage::Execute, &self.code, self.message)
        };
        if self.is_reply { CallFailure::Reply(Box::new(fault)) } else { CallFailure::Fault(Box::new(fault)) }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use serde_json::json;

    use super::*;

    fn again(said: &Said) -> Said {
        Said::decode(&said.encode())
    }

    #[test]
    fn an_answer_comes_back_whole() {
        for value in [json!(null), json!(1.0), json!({"b": 1, "a": [0.1, "x", {}]}), json!("text")] {
            let Said::Value { value: found, changed: true } = again(&Said::of(&ToolOutput::Value(value.clone()), true)) else {
                panic!("a value")
            };
            assert_eq!(serde_json::to_string(&found).unwrap(), serde_json::to_string(&value).unwrap());
        }
        let Json::Object(block) = json!({"type": "image", "data": "eA==", "mimeType": "image/png"}) else { panic!("an object") };
        for (data, structured) in [(None, None), (Some(json!(null)), Some(json!(null))), (Some(json!([1])), Some(json!({"z": 1, "a": 2})))]
        {
            let Json::Object(meta) = json!({"x/y": 1}) else { panic!("an object") };
            let blocks = vec![ContentBlock::Text("t".into()), ContentBlock::Other(block.clone())];
            let built = AuthoredContent { data, blocks, structured, meta };
            let Said::Content { content, changed: false } = again(&Said::of(&ToolOutput::Content(Box::new(built.clone())), false)) else {
                panic!("content")
            };
            let ToolOutput::Content(found) = content.output() else { panic!("content") };
            assert_eq!(*found, built);
        }
    }

    #[test]
    fn a_failure_comes_back_without_what_only_the_log_may_see() {
        let mut fault = Fault::new(Stage::Execute, "X", "it failed").suggesting("do").later();
        fault.severity = Severity::Critical;
        fault.available_actions = vec!["a".into()];
        fault.details = vec![("k".into(), "v".into())];
        fault.retry_after_s = Some(3);
        fault.issues = vec![Issue { field: "f".into(), message: "m".into() }];
        for remedy in [Remedy::Caller, Remedy::Operator, Remedy::Later] {
            let fault = Fault { remedy, ..fault.clone() };
            let logged = fault.clone().logging("hunter2");
            let Said::Failed(failure) = again(&Said::failed(&CallFailure::Reply(Box::new(logged)))) else { panic!("a failure") };
            let CallFailure::Reply(found) = failure.again() else { panic!("a reply") };
            assert_eq!(*found, fault);
        }
    }

    #[test]
    fn what_is_not_understood_has_ended() {
        for bytes in [&b""[..], b"{}", b"{\"later_version\":1}", b"\xff"] {
            assert!(matches!(Said::decode(bytes), Said::Ended));
        }
    }
}
