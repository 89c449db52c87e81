//! Tokens that databases of RDS and Aurora take for a password.

use std::{rc::Rc, time::Duration};

use aws_sigv4::http_request::{SignableBody, SignableRequest, SignatureLocation, SigningSettings};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Env, LoginTokens},
    secret::Secret,
    url::percent_coded,
};

use crate::identity::AwsIdentity;

/// The service that a token is signed for.
const SERVICE: &str = "rds-db";
/// How long a token is valid.
const LIFETIME: Duration = Duration::from_mins(15);

/// Makes tokens of [AWS
/// IAM](https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.Connecting.html)
/// for logins: a signed URL that nobody requests, without its scheme. Nothing is asked of AWS for
/// it.
pub struct RdsTokens {
    variables: Rc<dyn Env>,
    clock: Rc<dyn Clock>,
}

impl RdsTokens {
    /// Signs with the `AWS_…` variables, which are read for each token.
    #[must_use]
    pub fn new(variables: Rc<dyn Env>, clock: Rc<dyn Clock>) -> Self {
        Self { variables, clock }
    }
}

impl LoginTokens for RdsTokens {
    fn token(&self, host: &str, port: u16, user: &str) -> Result<Secret<String>> {
        let identity = AwsIdentity::of("`aws_iam` of an adapter", &*self.variables)?;
        // What is signed is the name in lower case.
        let host = host.to_ascii_lowercase();
        let unsigned = format!("{host}:{port}/?Action=connect&DBUser={}", percent_coded(user));
        let mut settings = SigningSettings::default();
        settings.signature_location = SignatureLocation::QueryParams;
        settings.expires_in = Some(LIFETIME);
        let url = format!("https://{unsigned}");
        let request = SignableRequest::new("GET", &url, std::iter::empty(), SignableBody::empty());
        let signed = request.ok().and_then(|request| identity.sign(SERVICE, request, settings, self.clock.now_ms()));
        let Some(signed) = signed else {
            let message = format!("a token of AWS IAM for `{host}:{port}` cannot be signed with these `AWS_…` variables");
            return Err(Error::new(ErrorKind::Configuration, message));
        };
        let (signature, others): (Vec<_>, Vec<_>) = signed.params().iter().partition(|(name, _)| *name == "X-Amz-Signature");
        // The signature is the end.
        let parameters = others.into_iter().chain(signature).map(|(name, value)| format!("&{name}={}", percent_coded(value)));
        Ok(Secret::new(parameters.fold(unsigned, |token, parameter| token + &parameter)))
    }
}
