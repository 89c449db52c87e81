//! Whom the platform has let in, before the request came here.

use alloc::string::String;

use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::Json;

/// The caller, as a front end of the platform, or the developer, names it: out of what the host is
/// told, and never out of what a client sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformCaller {
    /// What let it in.
    pub authorizer: Authorizer,
    /// What that says of it.
    pub claims: Map<String, Json>,
}

/// What lets callers in before a request comes here: a front end of AWS, or whoever develops an
/// app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Authorizer {
    /// `AWS_IAM`: a request that is signed by a user or a role of AWS.
    Iam,
    /// The JWT authorizer of an HTTP API.
    Jwt,
    /// The authorizer of a REST API for Cognito user pools.
    Cognito,
    /// A function of one's own.
    Lambda,
    /// Nobody checked anything: `millrace dev --as` takes who sends no credentials for this caller.
    Development,
}

impl Authorizer {
    /// Those of AWS.
    pub const OF_AWS: [Self; 4] = [Self::Iam, Self::Jwt, Self::Cognito, Self::Lambda];

    /// `iam`, `jwt`, `cognito`, `lambda`, `dev`
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Iam => "iam",
            Self::Jwt => "jwt",
            Self::Cognito => "cognito",
            Self::Lambda => "lambda",
            Self::Development => "dev",
        }
    }
}
