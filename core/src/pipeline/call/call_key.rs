//! What makes a call the same as another one.

use alloc::string::String;

use crate::ports::{CallRecord, Clock};

/// What makes a call the same as another one.
pub(in crate::pipeline) struct CallKey {
    /// 64 hexadecimal digits.
    pub(in crate::pipeline) text: String,
    /// How long the call is remembered, in seconds.
    pub(in crate::pipeline) ttl_s: u32,
}

impl CallKey {
    /// The record of a call that happens now.
    pub(in crate::pipeline) fn record(&self, clock: &dyn Clock) -> CallRecord<'_> {
        let now_s = i64::try_from(clock.now_ms() / 1000).unwrap_or(i64::MAX);
        CallRecord { key: &self.text, now_s, expires_s: now_s.saturating_add(self.ttl_s.into()) }
    }
}
