//! Who asks AWS, and in which region.

use std::time::{Duration, UNIX_EPOCH};

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableRequest, SigningInstructions, SigningSettings, sign},
    sign::v4::SigningParams,
};
use millrace_core::{Error, ErrorKind, Result, ports::Env, secret::Secret};
use tracing::dispatcher::{Dispatch, with_default};

/// Credentials, and a region. Prints no secret.
#[derive(Clone, Debug)]
pub(crate) struct AwsIdentity {
    pub(crate) region: String,
    access_key_id: Secret<String>,
    secret_access_key: Secret<String>,
    session_token: Option<Secret<String>>,
}

impl AwsIdentity {
    /// Reads `AWS_REGION` (or `AWS_DEFAULT_REGION`), `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. `user` is what
    /// needs them, for messages: `a cache in DynamoDB`.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a variable is missing or wrong.
    pub(crate) fn of(user: &str, env: &dyn Env) -> Result<Self> {
        let missing = |name: &str| Error::new(ErrorKind::Configuration, format!("{user} needs the variable `{name}`, which is not set"));
        let needed = |name: &str| set(env, name).ok_or_else(|| missing(name));
        let region = set(env, "AWS_REGION").or_else(|| set(env, "AWS_DEFAULT_REGION")).ok_or_else(|| missing("AWS_REGION"))?;
        let region = region.expose().trim().to_owned();
        if !region.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
            return Err(Error::new(
                ErrorKind::Configuration,
                "the variable `AWS_REGION` is not a region; write one such as `eu-central-1`",
            ));
        }
        Ok(Self {
            region,
            access_key_id: needed("AWS_ACCESS_KEY_ID")?,
            secret_access_key: needed("AWS_SECRET_ACCESS_KEY")?,
            session_token: set(env, "AWS_SESSION_TOKEN"),
        })
    }

    /// What makes a request to a service one of this identity; `None` where the credentials cannot stand in a request.
    pub(crate) fn sign(
        &self,
        service: &str,
        request: SignableRequest<'_>,
        settings: SigningSettings,
        now_ms: u64,
    ) -> Option<SigningInstructions> {
        let token = self.session_token.as_ref().map(|token| token.expose().clone());
        let key = (self.access_key_id.expose().clone(), self.secret_access_key.expose().clone());
        let identity = Credentials::new(key.0, key.1, token, None, "variables").into();
        let parameters = SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(service)
            .time(UNIX_EPOCH + Duration::from_millis(now_ms))
            .settings(settings)
            .build()
            .ok()?
            .into();
        // The crate logs what it signs: of a URL, the session token too. Its errors could quote a credential: they are left out.
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
            access_key_id: secret("AKID"),
            secret_access_key: secret("hunter2"),
            session_token: Some(secret("a session")),
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
