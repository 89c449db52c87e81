//! The frames of an event stream.

use alloc::vec::Vec;

/// One event. JSON text has no line breaks, so one line holds it.
pub(super) fn frame(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 24);
    out.extend_from_slice(b"event: message\ndata: ");
    out.extend_from_slice(message);
    out.extend_from_slice(b"\n\n");
    out
}
