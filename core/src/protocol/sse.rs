//! Event streams: which client takes one, and the frames of one.

use alloc::vec::Vec;

use crate::headers::Headers;

/// One event. JSON text has no line breaks, so one line holds it.
pub(super) fn frame(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 24);
    out.extend_from_slice(b"event: message\ndata: ");
    out.extend_from_slice(message);
    out.extend_from_slice(b"\n\n");
    out
}

/// Whether `Accept` names event streams outright. A range such as `*/*` does not say that the
/// client can read one.
pub(super) fn accepts_events(headers: &Headers) -> bool {
    let mut ranges = headers.all("accept").flat_map(|value| value.split(','));
    ranges.any(|range| {
        let mut parts = range.split(';').map(str::trim);
        parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("text/event-stream")) && !parts.any(is_refusal)
    })
}

/// Whether a parameter of a range of `Accept` is a weight of nothing.
pub(super) fn is_refusal(parameter: &str) -> bool {
    let weight = parameter.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    weight.is_some_and(|(_, weight)| weight.trim().parse::<f32>().is_ok_and(|weight| weight <= 0.0))
}
