//! Requests to services of AWS that speak JSON: where they go, who asks, and the signature
//! (Signature Version 4, by the crate `aws-sigv4`); and signed URLs that databases take for a
//! password.
//!
//! Credentials come from the variables that the tools of AWS read, and that Lambda sets, or from
//! who asks; no profile files, no container or instance metadata.

mod identity;
mod rds;
mod secrets;
mod service;

pub use identity::{AwsCredentials, is_region, region_of};
pub use rds::RdsTokens;
pub use secrets::{AwsSecrets, SecretService};
pub use service::{AwsService, Operation, kind_of_error};
