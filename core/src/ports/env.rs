use alloc::string::String;

use crate::secret::Secret;

/// Environment variables and secrets of the deployment.
pub trait Env {
    /// The variable's value; `None` where it is not set. An implementation logs neither names nor
    /// values.
    fn var(&self, name: &str) -> Option<Secret<String>>;
}
