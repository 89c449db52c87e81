//! How often, and how many at a time: `limits.rate`, `limits.concurrency`, and `rate_limit` of the
//! middleware.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::ValueTemplate;

/// `limits.rate`, or `rate_limit` of the middleware.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateLimit {
    /// `max`: how many calls within the window.
    pub max: u32,
    /// `window`, in seconds.
    pub window_s: u32,
    /// `key`: calls with the same value are counted together. `None`: those of the same caller.
    pub key: Option<ValueTemplate>,
}

/// `limits.concurrency`: how many calls of a tool one isolate runs at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concurrency {
    /// `max`: how many run.
    pub max: u32,
    /// `queue`: how many wait.
    pub queue: u32,
    /// `wait`: how long one waits at the most, in milliseconds.
    pub wait_ms: u32,
}

impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {} in {} s for each ", self.max, self.window_s)?;
        match &self.key {
            Some(key) => write!(f, "value of {key}"),
            None => f.write_str("caller"),
        }
    }
}

impl fmt::Display for Concurrency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {} at a time on one isolate", self.max)?;
        match self.queue {
            0 => f.write_str(", no queue"),
            queue => write!(f, ", {queue} in a queue for at most {} ms", self.wait_ms),
        }
    }
}
