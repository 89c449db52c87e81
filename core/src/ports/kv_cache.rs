use alloc::vec::Vec;

use super::LocalFuture;
use crate::Result;

/// A cache of byte strings with a time to live.
pub trait KvCache {
    /// The value, unless it is absent or its time is over. A value may be gone at any time, and may
    /// be stale by as much as the store's own consistency allows.
    ///
    /// # Errors
    /// Whatever the store reports. The core treats it as a miss and logs it.
    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>>;

    /// Keeps a value for `ttl_s` seconds at the most.
    ///
    /// # Errors
    /// Whatever the store reports. The core logs it and goes on.
    fn put<'a>(&'a self, key: &'a str, value: Vec<u8>, ttl_s: u32) -> LocalFuture<'a, Result<()>>;
}
