use alloc::string::String;

use super::LocalFuture;
use crate::{Result, secret::Secret};

/// Where the deployment keeps its secrets: files, a service of the platform. A host without one has
/// them among its variables.
pub trait SecretStore {
    /// The value of a secret as it is now; `None` where there is none of this name. Nothing is
    /// kept: the core asks again when a value is no longer young.
    ///
    /// # Errors
    /// [`TimedOut`](crate::ErrorKind::TimedOut) at the deadline, in milliseconds since the Unix
    /// epoch; [`Unavailable`](crate::ErrorKind::Unavailable) where the store does not answer,
    /// [`Denied`](crate::ErrorKind::Denied) where it refuses,
    /// [`Configuration`](crate::ErrorKind::Configuration) where what it has is not text. None of
    /// them has the value in it.
    fn read<'a>(&'a self, name: &'a str, deadline_ms: u64) -> LocalFuture<'a, Result<Option<Secret<String>>>>;
}
