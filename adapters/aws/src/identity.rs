//! Who asks AWS, and in which region.

use std::time::{Duration, UNIX_EPOCH};

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableRequest, SigningInstructions, SigningSettings, sign},
    sign::v4::SigningParams,
};
use millrace_core::{Error, ErrorKind, Result, ports::Env, secret::Secret};
use tracing::dispatcher::{Dispatch, with_default};

/// Who asks. Prints no secret.
#[derive(Clone, Debug)]
pub struct AwsCredentials {
    access_key_id: Secret<String>,
    secret_access_key: Secret<String>,
    session_token: Option<Secret<String>>,
}

/// Credentials, and a region. Prints no secret.
#[derive(Clone, Debug)]
pub(crate) struct AwsIdentity {
    pub(crate) region: String,
    pub(crate) credentials: AwsCredentials,
}

impl AwsCredentials {
    /// An access key; the token is that of a session, as a role has it.
    #[must_use]
    pub const fn new(access_key_id: Secret<String>, secret_access_key: Secret<String>, session_token: Option<Secret<String>>) -> Self {
        Self { access_key_id, secret_access_key, session_token }
    }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. `user` is what
    /// needs them, for messages.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a variable is missing.
    pub fn of(user: &str, env: &dyn Env) -> Result<Self> {
        let needed = |name: &str| set(env, name).ok_or_else(|| missing(user, name));
        Ok(Self::new(needed("AWS_ACCESS_KEY_ID")?, needed("AWS_SECRET_ACCESS_KEY")?, set(env, "AWS_SESSION_TOKEN")))
    }
}

/// The region of `AWS_REGION` (or `AWS_DEFAULT_REGION`), where one is set to something. `user` is
/// what needs it, for messages.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration): neither is set.
pub fn region_of(user: &str, env: &dyn Env) -> Result<String> {
    let region = set(env, "AWS_REGION").or_else(|| set(env, "AWS_DEFAULT_REGION")).ok_or_else(|| missing(user, "AWS_REGION"))?;
    Ok(region.expose().trim().to_owned())
}

fn missing(user: &str, name: &str) -> Error {
    Error::new(ErrorKind::Configuration, format!("{user} needs the variable `{name}`, which is not set"))
}

/// Whether a text may be the name of a region. It becomes part of the name of a host.
#[must_use]
pub fn is_region(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=40).contains(&text.len()) && text.bytes().all(is_part)
}

impl AwsIdentity {
    /// Reads the region, and [`AwsCredentials::of`]. `user` is what needs them, for messages:
    /// `a cache in DynamoDB`.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a variable is missing or wrong.
    pub(crate) fn of(user: &str, env: &dyn Env) -> Result<Self> {
        let region = region_of(user, env)?;
        if !is_region(&region) {
            return Err(Error::new(
                ErrorKind::Configuration,
                "the variable `AWS_REGION` is not a region; write one such as `eu-central-1`",
            ));
        }
        Ok(Self { region, credentials: AwsCredentials::of(user, env)? })
    }

    /// What makes a request to a service one of this identity; `None` where the credentials cannot
    /// stand in a request.
    pub(crate) fn sign(
        &self,
        service: &str,
        request: SignableRequest<'_>,
        settings: SigningSettings,
        now_ms: u64,
    ) -> Option<SigningInstructions> {
        let AwsCredentials { access_key_id, secret_access_key, session_token } = &self.credentials;
        let token = session_token.as_ref().map(|token| token.expose().clone());
        let identity = Credentials::new(access_key_id.expose(), secret_access_key.expose(), token, None, "millrace").into();
        let parameters = SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(service)
            .time(UNIX_EPOCH + Duration::from_millis(now_ms))
            .settings(settings)
            .build()
            .ok()?
            .into();
        // The crate logs what it signs: of a URL, the session token too. Its errors could quote a
        // credential: they are left out.
        let signed = with_default(&Dispatch::none(), || sign(request, &parameters));
        Some(signed.ok()?.into_parts().0)
    }
}

/// A variable that is set to something.
pub(crate) fn set(env: &dyn Env, name: &str) -> Option<Secret<String>> {
    env.var(name).filter(|value| !value.expose().trim().is_empty())
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use aws_sigv4::http_request::{SignableBody, SignatureLocation};
    use tracing::{Event, Metadata, Subscriber, span};

    use super::*;

    /// Counts what is logged at any level.
    struct Counter(Arc<AtomicUsize>);

    impl Subscriber for Counter {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }
        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    #[test]
    fn nothing_that_is_signed_is_logged() {
        let secret = |text: &str| Secret::new(text.to_owned());
        let identity = AwsIdentity {
            region: "eu-central-1".into(),
            credentials: AwsCredentials::new(secret("AKID"), secret("hunter2"), Some(secret("a session"))),
        };
        let request = || SignableRequest::new("GET", "https://a/?b=c", std::iter::empty(), SignableBody::empty()).unwrap();
        let mut settings = SigningSettings::default();
        settings.signature_location = SignatureLocation::QueryParams;
        settings.expires_in = Some(Duration::from_secs(1));
        let count = Arc::new(AtomicUsize::new(0));
        with_default(&Dispatch::new(Counter(count.clone())), || {
            assert!(identity.sign("rds-db", request(), settings, 0).is_some());
            assert_eq!(count.load(Ordering::SeqCst), 0);
            tracing::trace!("this is counted");
        });
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}
