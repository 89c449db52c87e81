//! The one error of the pipeline, and its renderings. A stage makes it, stage *serialize* renders
//! it; nothing parses text back.

use alloc::{string::String, vec::Vec};
use core::fmt::Write as _;

use serde_json::{Map, json};

use crate::Json;
pub use crate::stage::Stage;

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The result stands; `isError` is false.
    Warning,
    /// The call failed.
    #[default]
    Error,
    /// The call failed, and so will others.
    Critical,
}

impl Severity {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }
}

/// Who can mend a failure. The status of its span, the level of its line in the log, `retryable`
/// and the usual recovery line follow from this, but for [`DATA_INVALID`] and [`RATE_LIMITED`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remedy {
    /// Its caller: by other inputs, by credentials, by asking its user.
    #[default]
    Caller,
    /// The operator or the author of the app: a setting, a script, a database that is damaged.
    Operator,
    /// Nobody has to: the same call can succeed later.
    Later,
}

/// What a failed call has changed before it failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// Nothing, as far as is known.
    #[default]
    None,
    /// Statements of its script changed something.
    Some,
    /// The tool's own statement did what it is for.
    Made,
    /// What the tool is for is done, and a record keeps it from being done again by the same call.
    Recorded,
    /// A script changed something, or may have; a record answers the same call with this failure.
    Kept,
}

/// The code of a value that a database does not accept, or the result of a computation with one.
/// Its caller may have sent such a value; or the author of the app put one into a place of another
/// type, which the operator is told.
pub const DATA_INVALID: &str = "DATA_INVALID";

/// The code of more calls than a limit allows. It passes, and is its caller's doing all the same.
pub const RATE_LIMITED: &str = "RATE_LIMITED";

/// The recovery line of what only the operator can mend.
const OPERATOR: &str = "Only the operator of this server can fix this: calling the tool again does not help.";
/// The recovery line of a defect of the app.
const DEFECT: &str = "This is a defect of the tool: calling it again with the same inputs does not help.";
/// The recovery line of what passes.
const LATER: &str = "Calling the tool again later may help.";
/// What a failure after a change says first.
const MADE: &str = "The change was made: calling the tool again would make it a second time.";
/// The same where a script made it.
const SOME: &str = "Before this failed, a change was made: calling the tool again may make it a second time.";

/// The same where a record keeps the change from being made again.
const RECORDED: &str = "The change was made. Calling the tool again with the same inputs does not make it a second time.";
/// The same where a record keeps the failure.
const KEPT: &str = "Before this failed, a change was made, or may have been. Calling the tool again with the same inputs gives this \
                    failure again and does nothing: check what was done.";

/// One problem of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The input, with the path into it: `user.address[2].zip`; `(root)` for undeclared ones.
    pub field: String,
    /// What is wrong, what was sent, what is expected.
    pub message: String,
}

/// Why a call is refused in words of the protocol, whatever the tool's style: the HTTP status, the
/// code, `WWW-Authenticate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 401: no credentials, or wrong ones.
    Unauthorized,
    /// 403: good credentials that are not enough; the scopes that are needed, as far as they are
    /// known.
    Forbidden(Vec<String>),
    /// 400, −32021: the client did not declare these capabilities.
    Capability(Map<String, Json>),
    /// −32602: `requestState` was not issued for this call.
    State,
}

/// Why a call failed.
///
/// `code`, `message` and the other public parts reach the caller; `log` never does, unless the
/// tool's `errors.expose` is `full` (then it is appended to the message of a connector's fault).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it happened.
    pub stage: Stage,
    /// The machine-readable code: `NOT_FOUND`, `TIMEOUT`.
    pub code: String,
    /// Whether a script put the code together, so that a caller's value can be in it.
    pub computed_code: bool,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub suggestion: Option<String>,
    /// Tools that help.
    pub available_actions: Vec<String>,
    /// Further facts, in order.
    pub details: Vec<(String, String)>,
    /// How bad it is.
    pub severity: Severity,
    /// When to try again, in seconds.
    pub retry_after_s: Option<u64>,
    /// Who can mend it.
    pub remedy: Remedy,
    /// What was changed before it.
    pub change: Change,
    /// The problems of the inputs (stage *validate*); rendered as `<validation_error>`.
    pub issues: Vec<Issue>,
    /// Set where the protocol has its own words for it.
    pub refusal: Option<Refusal>,
    /// The scopes that the refused request can need, for `WWW-Authenticate`.
    pub scopes: Vec<String>,
    /// What only the log may see: upstream text, stacks.
    pub log: Option<String>,
}

impl Fault {
    /// A fault that its caller can mend, and no retry.
    pub fn new(stage: Stage, code: &str, message: impl Into<String>) -> Self {
        Self {
            stage,
            code: code.into(),
            computed_code: false,
            message: message.into(),
            suggestion: None,
            available_actions: Vec::new(),
            details: Vec::new(),
            severity: Severity::Error,
            retry_after_s: None,
            remedy: Remedy::Caller,
            change: Change::None,
            issues: Vec::new(),
            refusal: None,
            scopes: Vec::new(),
            log: None,
        }
    }

    /// The same fault with a line on what to do about it.
    #[must_use]
    pub fn suggesting(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// The same fault, for the operator to mend, with the usual recovery line where it has none.
    #[must_use]
    pub fn by_operator(self) -> Self {
        self.mended(Remedy::Operator, OPERATOR)
    }

    /// The same fault, a defect of the app, with the usual recovery line where it has none.
    #[must_use]
    pub fn by_author(self) -> Self {
        self.mended(Remedy::Operator, DEFECT)
    }

    /// The same fault, known to pass: the same call can succeed later.
    #[must_use]
    pub fn later(self) -> Self {
        self.mended(Remedy::Later, LATER)
    }

    fn mended(mut self, remedy: Remedy, recovery: &str) -> Self {
        self.remedy = remedy;
        self.suggestion.get_or_insert_with(|| recovery.into());
        self
    }

    /// The same fault, which came after a change: the recovery line says so, and nothing that
    /// invites to the same call again is left of it.
    pub(crate) fn after(&mut self, change: Change) {
        let said = match change {
            Change::None => return,
            Change::Some => SOME,
            Change::Made => MADE,
            Change::Recorded => RECORDED,
            Change::Kept => KEPT,
        };
        self.change = change;
        let mut suggestion = String::from(said);
        if let Some(own) = self.suggestion.as_ref().filter(|_| self.remedy != Remedy::Later) {
            suggestion.push(' ');
            suggestion.push_str(own);
        }
        self.suggestion = Some(suggestion);
    }

    /// Whether the operator is told, too, and not only whoever looks for it: it is theirs to mend,
    /// or may be.
    #[must_use]
    pub fn is_for_operator(&self) -> bool {
        !self.is_of_caller() || self.code == DATA_INVALID
    }

    /// Whether its caller made it: anybody can, as often as they like.
    #[must_use]
    pub fn is_of_caller(&self) -> bool {
        self.remedy == Remedy::Caller || self.code == RATE_LIMITED
    }

    /// Whether the same call can succeed later, and does not make a change a second time.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.remedy == Remedy::Later && matches!(self.change, Change::None | Change::Recorded)
    }

    /// The same fault with what only the log may see.
    #[must_use]
    pub fn logging(mut self, detail: impl Into<String>) -> Self {
        self.log = Some(detail.into());
        self
    }

    /// The code, for what must have no value of a caller: traces. OpenTelemetry's `_OTHER` in place
    /// of one that a script put together.
    #[must_use]
    pub fn known_code(&self) -> &str {
        if self.computed_code { "_OTHER" } else { &self.code }
    }

    /// The JSON-RPC error code: -32601 for an unknown tool, -32000 for every other fault.
    #[must_use]
    pub const fn json_rpc_code(&self) -> i32 {
        match (&self.refusal, self.stage) {
            (Some(Refusal::Capability(_)), _) => -32021,
            (Some(Refusal::State), _) => -32602,
            (_, Stage::Resolve) => -32601,
            _ => -32000,
        }
    }

    /// `data` of the JSON-RPC error: `{stage, code, severity, retryable}`, and `change_made`,
    /// `suggestion`, `available_actions`, `details`, `retry_after` (seconds) and `issues` where
    /// there are any.
    #[must_use]
    pub fn data(&self) -> Json {
        let mut fields = self.fields();
        if let Some(Refusal::Capability(required)) = &self.refusal {
            fields.insert("requiredCapabilities".into(), Json::Object(required.clone()));
        }
        Json::Object(fields)
    }

    /// `_meta."millrace/error"` of a tool result: [`data`](Self::data) with the message and the
    /// JSON-RPC code.
    #[must_use]
    pub fn meta(&self) -> Json {
        let mut fields = self.fields();
        fields.insert("message".into(), self.message.as_str().into());
        fields.insert("json_rpc_code".into(), self.json_rpc_code().into());
        Json::Object(fields)
    }

    /// The text of a tool result: a `<validation_error>` where there are issues, else a
    /// `<tool_error>`. `tool` is the tool's name.
    #[must_use]
    pub fn envelope(&self, tool: &str) -> String {
        if self.issues.is_empty() { self.tool_error() } else { self.validation_error(tool) }
    }

    fn fields(&self) -> Map<String, Json> {
        let mut fields = Map::new();
        fields.insert("stage".into(), self.stage.as_str().into());
        fields.insert("code".into(), self.code.as_str().into());
        fields.insert("severity".into(), self.severity.as_str().into());
        fields.insert("retryable".into(), self.is_retryable().into());
        if self.change != Change::None {
            fields.insert("change_made".into(), true.into());
        }
        if let Some(suggestion) = &self.suggestion {
            fields.insert("suggestion".into(), suggestion.as_str().into());
        }
        if !self.available_actions.is_empty() {
            fields.insert("available_actions".into(), json!(self.available_actions));
        }
        if !self.details.is_empty() {
            let details = self.details.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
            fields.insert("details".into(), Json::Object(details));
        }
        if let Some(seconds) = self.retry_after_s {
            fields.insert("retry_after".into(), seconds.into());
        }
        if !self.issues.is_empty() {
            let issues = self.issues.iter().map(|issue| json!({ "field": issue.field, "message": issue.message })).collect();
            fields.insert("issues".into(), Json::Array(issues));
        }
        fields
    }

    fn tool_error(&self) -> String {
        let mut text = String::from("<tool_error code=\"");
        push_attribute(&mut text, &self.code);
        text.push_str("\" severity=\"");
        text.push_str(self.severity.as_str());
        text.push_str("\">\n");
        push_element(&mut text, "message", &self.message);
        if let Some(suggestion) = &self.suggestion {
            push_element(&mut text, "recovery", suggestion);
        }
        if !self.available_actions.is_empty() {
            text.push_str("<available_actions>\n");
            for action in &self.available_actions {
                text.push_str("  ");
                push_element(&mut text, "action", action);
            }
            text.push_str("</available_actions>\n");
        }
        if !self.details.is_empty() {
            text.push_str("<details>\n");
            for (key, value) in &self.details {
                text.push_str("  <detail key=\"");
                push_attribute(&mut text, key);
                text.push_str("\">");
                push_text(&mut text, value);
                text.push_str("</detail>\n");
            }
            text.push_str("</details>\n");
        }
        if let Some(seconds) = self.retry_after_s {
            let unit = if seconds == 1 { "second" } else { "seconds" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "<retry_after>{seconds} {unit}</retry_after>");
        }
        text.push_str("</tool_error>");
        text
    }

    fn validation_error(&self, tool: &str) -> String {
        let mut text = String::from("<validation_error action=\"");
        push_attribute(&mut text, tool);
        text.push_str("\">\n");
        for issue in &self.issues {
            text.push_str("<field name=\"");
            push_attribute(&mut text, &issue.field);
            text.push_str("\">");
            push_text(&mut text, &issue.message);
            text.push_str("</field>\n");
        }
        if let Some(suggestion) = &self.suggestion {
            push_element(&mut text, "recovery", suggestion);
        }
        text.push_str("</validation_error>");
        text
    }
}

fn push_element(out: &mut String, name: &str, text: &str) {
    out.push('<');
    out.push_str(name);
    out.push('>');
    push_text(out, text);
    out.push_str("</");
    out.push_str(name);
    out.push_str(">\n");
}

fn push_text(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            other => out.push(other),
        }
    }
}

/// Writes a text as the value of an attribute.
pub(crate) fn push_attribute(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            other => out.push(other),
        }
    }
}

/// A result with a [`Fault`]. The fault is boxed: it is big, and the good case is the usual one.
pub type FaultResult<T> = Result<T, alloc::boxed::Box<Fault>>;

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn a_bare_fault_has_no_empty_parts() {
        let fault = Fault::new(Stage::Execute, "CONSTRAINT", "The database refused it.");
        let expected = "<tool_error code=\"CONSTRAINT\" severity=\"error\">\n<message>The database refused it.</message>\n</tool_error>";
        assert_eq!(fault.envelope("t"), expected);
        assert_eq!(fault.data(), json!({"stage": "execute", "code": "CONSTRAINT", "severity": "error", "retryable": false}));
        assert_eq!(fault.json_rpc_code(), -32000);
        assert_eq!(Fault::new(Stage::Resolve, "X", "x").json_rpc_code(), -32601);
    }

    #[test]
    fn a_full_fault_is_rendered_and_escaped() {
        let mut fault = Fault::new(Stage::MapOutput, "A\"<>&'", "1 < 2 & 3 > 2 </message>").suggesting("do & so").later().logging("stack");
        fault.severity = Severity::Critical;
        fault.available_actions = vec!["list-invoices".into(), "a<b".into()];
        fault.details = vec![("i\"d".into(), "<9>".into())];
        fault.retry_after_s = Some(30);
        assert_eq!(
            fault.envelope("t"),
            "<tool_error code=\"A&quot;&lt;&gt;&amp;&apos;\" severity=\"critical\">\n\
             <message>1 &lt; 2 &amp; 3 > 2 &lt;/message></message>\n\
             <recovery>do &amp; so</recovery>\n\
             <available_actions>\n  <action>list-invoices</action>\n  <action>a&lt;b</action>\n</available_actions>\n\
             <details>\n  <detail key=\"i&quot;d\">&lt;9></detail>\n</details>\n\
             <retry_after>30 seconds</retry_after>\n\
             </tool_error>"
        );
        assert_eq!(
            fault.meta(),
            json!({
                "stage": "map_output", "code": "A\"<>&'", "severity": "critical", "retryable": true, "suggestion": "do & so",
                "available_actions": ["list-invoices", "a<b"], "details": {"i\"d": "<9>"}, "retry_after": 30,
                "message": "1 < 2 & 3 > 2 </message>", "json_rpc_code": -32000
            })
        );
    }

    #[test]
    fn issues_make_a_validation_error() {
        let mut fault = Fault::new(Stage::Validate, "VALIDATION_ERROR", "wrong").suggesting("Fix it.");
        fault.issues = vec![Issue { field: "a'b".into(), message: "You sent: '<x>'.".into() }];
        assert_eq!(
            fault.envelope("get-\"user"),
            "<validation_error action=\"get-&quot;user\">\n<field name=\"a&apos;b\">You sent: '&lt;x>'.</field>\n\
             <recovery>Fix it.</recovery>\n</validation_error>"
        );
        assert_eq!(fault.data()["issues"], json!([{"field": "a'b", "message": "You sent: '<x>'."}]));
    }
}
