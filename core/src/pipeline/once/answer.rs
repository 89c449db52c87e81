//! What a script's record says, as JSON.
//!
//! JSON, because whoever has access to the store can read it, and a version of Millrace that knows
//! more members reads what an older one wrote.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::mem;

use serde_json::Map;

use crate::{
    Json,
    fault::{Change, Fault, Issue, Remedy, Severity, Stage},
    pipeline::{
        call::call_end::CallFailure, content::AuthoredContent, content::blocks::Action, content::json_text::text_of,
        content::output::ToolOutput, content::result::ContentBlock,
    },
};

/// What a record says of its call.
pub(super) enum Said {
    /// It runs, or ran when its isolate ended.
    Running(Running),
    /// The handler returned this.
    Value { value: Json, changed: bool },
    /// The handler built this.
    Content { content: Box<AuthoredContent>, changed: bool },
    /// The handler failed after it had changed something.
    Failed(Failure),
    /// The handler ended, and what it returned is too large to be kept.
    Ended,
}

/// A call that has begun.
pub(super) struct Running {
    /// Tells its writer from others.
    pub(super) writer: String,
    /// The process that it runs in, where the store can tell whether that has ended.
    pub(super) holder: Option<String>,
    /// When it has ended, whatever became of it, in milliseconds since the Unix epoch.
    pub(super) until_ms: u64,
}

/// What the caller is told of a [`Fault`] of stage *execute*, by member.
pub(super) struct Failure(Map<String, Json>);

impl Said {
    /// What a handler returned. `changed`: statements of it changed something.
    pub(super) fn of(output: &ToolOutput, changed: bool) -> Self {
        match output {
            ToolOutput::Content(content) => Self::Content { content: content.clone(), changed },
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
        let remedy = match fault.remedy {
            Remedy::Caller => "caller",
            Remedy::Operator => "operator",
            Remedy::Later => "later",
        };
        Self::Failed(Failure(object([
            ("computed_code", fault.computed_code.into()),
            ("is_reply", matches!(why, CallFailure::Reply(_)).into()),
            ("code", code.into()),
            ("message", message.into()),
            ("suggestion", fault.suggestion.as_deref().map_or(Json::Null, Json::from)),
            ("available_actions", fault.available_actions.iter().map(|action| Json::from(action.as_str())).collect()),
            ("details", fault.details.iter().map(|(name, value)| pair(name, value)).collect()),
            ("severity", fault.severity.as_str().into()),
            ("retry_after_s", fault.retry_after_s.map_or(Json::Null, Json::from)),
            ("remedy", remedy.into()),
            ("issues", fault.issues.iter().map(|issue| pair(&issue.field, &issue.message)).collect()),
        ])))
    }

    /// By hand: derived code would be four times as long in every Worker.
    pub(super) fn encode(self) -> Vec<u8> {
        let said = match self {
            Self::Running(Running { writer, holder, until_ms }) => {
                let mut members = object([("writer", writer.into()), ("until_ms", until_ms.into())]);
                members.extend(holder.map(|holder| ("holder".into(), holder.into())));
                object([("running", members.into())])
            }
            Self::Value { value, changed } => object([("value", object([("value", value), ("changed", changed.into())]).into())]),
            Self::Content { content, changed } => {
                let AuthoredContent { data, ui, blocks, hints, rules, actions, structured, meta, .. } = *content;
                let actions = actions.into_iter().map(|action| {
                    let mut members = object([("tool", action.tool.into()), ("reason", action.reason.into())]);
                    members.extend(action.args.map(|args| ("args".into(), args)));
                    members
                });
                let mut members = object([
                    ("ui", kept(ui)),
                    ("blocks", kept(blocks)),
                    ("hints", hints.into()),
                    ("rules", rules.into()),
                    ("actions", actions.collect()),
                    ("meta", meta.into()),
                ]);
                for (name, value) in [("data", data), ("structured", structured)] {
                    members.extend(value.map(|value| (name.into(), value)));
                }
                object([("content", object([("content", members.into()), ("changed", changed.into())]).into())])
            }
            Self::Failed(Failure(members)) => object([("failed", members.into())]),
            Self::Ended => return br#""ended""#.to_vec(),
        };
        serde_json::to_vec(&Json::Object(said)).unwrap_or_default()
    }

    /// What a record says; of one that is not understood, that its call ended: nothing may run
    /// again because of it.
    pub(super) fn decode(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).ok().and_then(Self::read).unwrap_or(Self::Ended)
    }

    fn read(mut said: Json) -> Option<Self> {
        let (kind, said) = said.as_object_mut()?.iter_mut().next()?;
        let changed = said.get("changed").and_then(Json::as_bool);
        Some(match kind.as_str() {
            "running" => Self::Running(match said {
                // An earlier version wrote it, with a time to live that ends soon after the call.
                Json::String(writer) => Running { writer: mem::take(writer), holder: None, until_ms: u64::MAX },
                said => Running {
                    writer: said.get("writer").map(text_of)?,
                    holder: said.get("holder").map(text_of),
                    until_ms: said.get("until_ms").and_then(Json::as_u64)?,
                },
            }),
            "value" => Self::Value { value: said.get_mut("value")?.take(), changed: changed? },
            "content" => {
                let content = said.get_mut("content")?;
                let mut take = |name: &str| content.get_mut(name).map(Json::take);
                let mut list = |name: &str| match take(name) {
                    Some(Json::Array(elements)) => elements,
                    _ => Vec::new(),
                };
                let [mut ui, mut blocks, hints, rules, mut actions] = ["ui", "blocks", "hints", "rules", "actions"].map(&mut list);
                let Some(Json::Object(meta)) = take("meta") else { return None };
                let content = AuthoredContent {
                    limited: None,
                    data: take("data"),
                    format: None,
                    ui: ui.iter_mut().map(block).collect::<Option<_>>()?,
                    blocks: blocks.iter_mut().map(block).collect::<Option<_>>()?,
                    hints: hints.iter().map(text_of).collect(),
                    rules: rules.iter().map(text_of).collect(),
                    actions: actions.iter_mut().map(action).collect::<Option<_>>()?,
                    structured: take("structured"),
                    meta,
                };
                Self::Content { content: Box::new(content), changed: changed? }
            }
            "failed" => {
                said.get("code").and(said.get("message"))?;
                Self::Failed(Failure(mem::take(said.as_object_mut()?)))
            }
            _ => return None,
        })
    }
}

fn kept(blocks: Vec<ContentBlock>) -> Json {
    let keep = |block| match block {
        ContentBlock::Text(text) => object([("text", text.into())]),
        ContentBlock::Other(members) => object([("other", members.into())]),
    };
    blocks.into_iter().map(keep).collect()
}

fn action(action: &mut Json) -> Option<Action> {
    Some(Action {
        tool: action.get("tool").map(text_of)?,
        reason: action.get("reason").map(text_of)?,
        args: action.get_mut("args").map(Json::take),
    })
}

impl Failure {
    pub(super) fn again(self) -> CallFailure {
        let Self(members) = self;
        let text = |name: &str| members.get(name).and_then(Json::as_str).unwrap_or_default();
        let list = |name: &str| members.get(name).and_then(Json::as_array).into_iter().flatten();
        let fault = Fault {
            suggestion: members.get("suggestion").and_then(Json::as_str).map(String::from),
            available_actions: list("available_actions").map(text_of).collect(),
            details: list("details").map(|pair| (text_of(&pair[0]), text_of(&pair[1]))).collect(),
            severity: match text("severity") {
                "warning" => Severity::Warning,
                "critical" => Severity::Critical,
                _ => Severity::Error,
            },
            retry_after_s: members.get("retry_after_s").and_then(Json::as_u64),
            remedy: match text("remedy") {
                "later" => Remedy::Later,
                "operator" => Remedy::Operator,
                _ => Remedy::Caller,
            },
            issues: list("issues").map(|pair| Issue { field: text_of(&pair[0]), message: text_of(&pair[1]) }).collect(),
            change: Change::None,
            // What an earlier version wrote does not say.
            computed_code: members.get("computed_code") != Some(&Json::Bool(false)),
            ..Fault::new(Stage::Execute, text("code"), text("message"))
        };
        let is_reply = members.get("is_reply") == Some(&Json::Bool(true));
        if is_reply { CallFailure::Reply(Box::new(fault)) } else { CallFailure::Fault(Box::new(fault)) }
    }
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Map<String, Json> {
    members.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

fn pair(name: &str, value: &str) -> Json {
    [name, value].map(Json::from).to_vec().into()
}

/// A block of a record.
fn block(block: &mut Json) -> Option<ContentBlock> {
    match block.as_object_mut()?.iter_mut().next()? {
        (kind, Json::String(text)) if kind == "text" => Some(ContentBlock::Text(mem::take(text))),
        (kind, Json::Object(members)) if kind == "other" => Some(ContentBlock::Other(mem::take(members))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use serde_json::json;

    use super::*;

    fn again(said: Said) -> Said {
        Said::decode(&said.encode())
    }

    #[test]
    fn an_answer_comes_back_whole() {
        for value in [json!(null), json!(1.0), json!({"b": 1, "a": [0.1, "x", {}]}), json!("text")] {
            let Said::Value { value: found, changed: true } = again(Said::of(&ToolOutput::Value(value.clone()), true)) else {
                panic!("a value")
            };
            assert_eq!(serde_json::to_string(&found).unwrap(), serde_json::to_string(&value).unwrap());
        }
        let Json::Object(block) = json!({"type": "image", "data": "eA==", "mimeType": "image/png"}) else { panic!("an object") };
        for (data, structured) in [(None, None), (Some(json!(null)), Some(json!(null))), (Some(json!([1])), Some(json!({"z": 1, "a": 2})))]
        {
            let Json::Object(meta) = json!({"x/y": 1}) else { panic!("an object") };
            let blocks = vec![ContentBlock::Text("t".into()), ContentBlock::Other(block.clone())];
            let actions = [None, Some(json!({"id": 1}))].map(|args| Action { tool: "t".into(), reason: "r".into(), args });
            let built = AuthoredContent {
                limited: None,
                data,
                format: None,
                ui: vec![ContentBlock::Other(block.clone())],
                blocks,
                hints: vec!["h".into()],
                rules: vec!["r".into()],
                actions: actions.into(),
                structured,
                meta,
            };
            let Said::Content { content, changed: false } = again(Said::of(&ToolOutput::Content(Box::new(built.clone())), false)) else {
                panic!("content")
            };
            assert_eq!(*content, built);
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
        for (remedy, computed_code) in [(Remedy::Caller, true), (Remedy::Operator, false), (Remedy::Later, false)] {
            let fault = Fault { remedy, computed_code, ..fault.clone() };
            let logged = fault.clone().logging("hunter2");
            let Said::Failed(failure) = again(Said::failed(&CallFailure::Reply(Box::new(logged)))) else { panic!("a failure") };
            let CallFailure::Reply(found) = failure.again() else { panic!("a reply") };
            assert_eq!(*found, fault);
        }
    }

    #[test]
    fn a_code_of_an_earlier_version_may_be_computed() {
        let Said::Failed(failure) = Said::decode(br#"{"failed":{"code":"X","message":"m"}}"#) else { panic!("a failure") };
        let CallFailure::Fault(found) = failure.again() else { panic!("a fault") };
        assert!(found.computed_code);
    }

    #[test]
    fn a_call_that_runs_says_where_and_until_when() {
        for holder in [None, Some("p1".into())] {
            let said = again(Said::Running(Running { writer: "w".into(), holder: holder.clone(), until_ms: 1 << 50 }));
            let Said::Running(found) = said else { panic!("it runs") };
            assert_eq!((found.writer.as_str(), found.holder, found.until_ms), ("w", holder, 1 << 50));
        }
        let Said::Running(old) = Said::decode(b"{\"running\":\"w\"}") else { panic!("it runs") };
        assert_eq!((old.writer.as_str(), old.holder, old.until_ms), ("w", None, u64::MAX));
    }

    #[test]
    fn an_end_without_an_answer_is_shorter_than_any_call_that_runs() {
        let running = Said::Running(Running { writer: String::new(), holder: None, until_ms: 0 }).encode();
        assert!(Said::Ended.encode().len() <= running.len());
    }

    #[test]
    fn what_is_not_understood_has_ended() {
        let half = [
            &b"{\"value\":{\"value\":1}}"[..],
            b"{\"failed\":{\"code\":\"X\"}}",
            b"{\"running\":{\"writer\":\"w\"}}",
            b"{\"content\":{\"content\":{\"blocks\":[{}],\"meta\":{}},\"changed\":true}}",
        ];
        for bytes in [&b""[..], b"{}", b"{\"later_version\":1}", b"\xff", b"\"ended\"", b"[]"].into_iter().chain(half) {
            assert!(matches!(Said::decode(bytes), Said::Ended));
        }
    }
}
