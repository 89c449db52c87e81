//! The caller's span, and the id of a request in logs, in `ctx.request.id` and in the messages of
//! internal failures.

use alloc::string::String;

use super::json_rpc::Params;
use crate::{Json, headers::Headers, hex, pipeline::Trace, ports::Random};

/// The longest `tracestate` that is passed on, in bytes.
const LONGEST_STATE: usize = 512;

/// The caller's `traceparent` and `tracestate`, from `params._meta`, else from the header fields.
#[derive(Default)]
pub(super) struct TraceContext {
    /// A valid `traceparent`.
    parent: Option<String>,
    state: Option<String>,
}

impl TraceContext {
    pub(super) fn of(params: &Params, headers: &Headers) -> Self {
        let in_meta = |name: &str| params.meta().and_then(|meta| meta.get(name)).and_then(Json::as_str);
        let in_header = |name: &str| headers.only(name).ok().flatten();
        let is_valid = |parent: &&str| trace_id(parent).is_some();
        let (parent, state) = match in_meta("traceparent").filter(is_valid) {
            Some(parent) => (parent, in_meta("tracestate")),
            None => match in_header("traceparent").filter(is_valid) {
                Some(parent) => (parent, in_header("tracestate")),
                None => return Self::default(),
            },
        };
        let is_state = |state: &&str| state.len() <= LONGEST_STATE && state.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        Self { parent: Some(parent.into()), state: state.filter(is_state).map(Into::into) }
    }

    pub(super) fn borrowed(&self) -> Trace<'_> {
        Trace { parent: self.parent.as_deref(), state: self.state.as_deref() }
    }
}

/// The trace id of the caller; else 16 random bytes. In hexadecimal.
pub(super) fn of(trace: &TraceContext, random: &dyn Random) -> String {
    if let Some(id) = trace.parent.as_deref().and_then(trace_id) {
        return id.into();
    }
    let mut bytes = [0; 16];
    random.fill(&mut bytes);
    hex::encode(&bytes)
}

/// The trace id of a valid `traceparent`
/// (<https://www.w3.org/TR/trace-context/#traceparent-header>). A later version may have further
/// parts.
fn trace_id(traceparent: &str) -> Option<&str> {
    let mut parts = traceparent.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |part: &str, length| part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_set = |part: &str| part.bytes().any(|byte| byte != b'0');
    let is_valid = is_hex(version, 2)
        && version != "ff"
        && (version != "00" || parts.next().is_none())
        && is_hex(trace, 32)
        && is_set(trace)
        && is_hex(parent, 16)
        && is_set(parent)
        && is_hex(flags, 2);
    is_valid.then_some(trace)
}

#[cfg(test)]
mod tests {
    use super::trace_id;

    #[test]
    fn only_a_valid_traceparent_names_the_request() {
        let id = "0af7651916cd43dd8448eb211c80319c";
        let cases = [
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true),
            ("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", true),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", false),
            ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
            ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false),
            ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
            ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", false),
            ("0af7651916cd43dd8448eb211c80319c", false),
            ("", false),
        ];
        for (traceparent, valid) in cases {
            assert_eq!(trace_id(traceparent), valid.then_some(id), "{traceparent}");
        }
    }
}
