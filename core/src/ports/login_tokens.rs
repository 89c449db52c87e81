use alloc::string::String;

use crate::{Result, secret::Secret};

/// Passwords that a platform makes for each login at a database, such as those of
/// [AWS IAM](https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.html).
pub trait LoginTokens {
    /// The password of `user` for a login at `host` and `port` now. It is valid for minutes only:
    /// every login asks again.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration): what the platform needs for it is
    /// missing or wrong.
    fn token(&self, host: &str, port: u16, user: &str) -> Result<Secret<String>>;
}
