//! Secrets in AWS Secrets Manager, and in the Parameter Store of AWS Systems Manager. One secret is
//! one signed request.
//!
//! Protocols: <https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html>,
//! <https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html>.

use std::rc::Rc;

use millrace_core::{
    Error, ErrorKind, Json, Result,
    ports::{Clock, Env, HttpClient, HttpResponse, LocalFuture, SecretStore},
    secret::Secret,
};
use serde_json::json;

use crate::service::{AwsService, Operation, kind_of_error};

/// The longest answer: a secret has at most 64 KB, which JSON can write six times as long.
const LONGEST_ANSWER_BYTES: usize = 6 * (64 << 10) + (16 << 10);

/// Which service has the secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretService {
    /// AWS Secrets Manager.
    SecretsManager,
    /// The Parameter Store of AWS Systems Manager.
    ParameterStore,
}

/// Secrets whose names begin with a prefix in one of the services.
#[derive(Clone, Debug)]
pub struct AwsSecrets {
    kind: SecretService,
    service: AwsService,
    prefix: String,
}

/// The same, ready to ask.
struct Store {
    secrets: AwsSecrets,
    http: Rc<dyn HttpClient>,
    clock: Rc<dyn Clock>,
}

impl AwsSecrets {
    /// Reads the variables that [`AwsService::of`] names. The secret `NAME` is the one whose name
    /// there is the prefix and `NAME`.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a variable is missing or wrong, or the prefix
    /// cannot begin a name.
    pub fn of(kind: SecretService, prefix: &str, env: &dyn Env) -> Result<Self> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+=.@-".contains(&byte);
        if prefix.len() > 400 || !prefix.bytes().all(is_name) {
            let message = "the prefix of the secrets' names has characters that no name has; write one such as `shop/prod/`";
            return Err(Error::new(ErrorKind::Configuration, message));
        }
        let service = match kind {
            SecretService::SecretsManager => {
                AwsService::of("secretsmanager", "AWS_ENDPOINT_URL_SECRETS_MANAGER", "AWS Secrets Manager", env)
            }
            SecretService::ParameterStore => AwsService::of("ssm", "AWS_ENDPOINT_URL_SSM", "the Parameter Store of AWS", env),
        };
        Ok(Self { kind, service: service?, prefix: prefix.to_owned() })
    }

    /// The secrets of one isolate; asks nothing yet.
    #[must_use]
    pub fn open(&self, http: Rc<dyn HttpClient>, clock: Rc<dyn Clock>) -> Rc<dyn SecretStore> {
        Rc::new(Store { secrets: self.clone(), http, clock })
    }

    fn text(&self, name: &str, response: &HttpResponse) -> Result<Option<Secret<String>>> {
        let shown = format!("{}{name}", self.prefix);
        if response.status != 200 {
            return self.refused(&shown, response);
        }
        let answer: Json = serde_json::from_slice(&response.body).unwrap_or_default();
        let text = match self.kind {
            SecretService::SecretsManager => answer.get("SecretString"),
            SecretService::ParameterStore => answer.pointer("/Parameter/Value"),
        };
        match text.and_then(Json::as_str) {
            Some(text) => Ok(Some(Secret::new(text.to_owned()))),
            None => Err(Error::new(ErrorKind::Configuration, format!("the secret `{shown}` is not text"))),
        }
    }

    fn refused(&self, shown: &str, response: &HttpResponse) -> Result<Option<Secret<String>>> {
        let action = match self.kind {
            SecretService::SecretsManager => "secretsmanager:GetSecretValue",
            SecretService::ParameterStore => "ssm:GetParameter",
        };
        let (kind, why) = match kind_of_error(&response.body).as_str() {
            "ResourceNotFoundException" | "ParameterNotFound" => return Ok(None),
            "AccessDeniedException" => (
                ErrorKind::Denied,
                format!("these credentials may not read it; they need `{action}`, and `kms:Decrypt` where it has a key of your own"),
            ),
            "DecryptionFailure" | "InvalidKeyId" => (ErrorKind::Denied, "it cannot be decrypted with its KMS key".to_owned()),
            "InvalidRequestException" => (ErrorKind::Configuration, "it is marked for deletion, or has no current version".to_owned()),
            "ExpiredTokenException" => (ErrorKind::Denied, "the credentials of the `AWS_…` variables have expired".to_owned()),
            "UnrecognizedClientException" | "InvalidSignatureException" | "IncompleteSignatureException" => {
                (ErrorKind::Denied, "the credentials of the `AWS_…` variables are wrong".to_owned())
            }
            _ if response.status == 403 => (ErrorKind::Denied, "the service denies access with these credentials".to_owned()),
            "ThrottlingException" => (ErrorKind::Busy, "the service is throttled".to_owned()),
            _ if response.status >= 500 => (ErrorKind::Unavailable, format!("the service cannot answer (status {})", response.status)),
            _ => (ErrorKind::Protocol, format!("the service sent a response that is not known (status {})", response.status)),
        };
        // The service's own words about a signature quote the request, the session token among it.
        Err(Error::new(kind, format!("the secret `{shown}` in the region `{}`: {why}", self.service.region())))
    }
}

impl SecretStore for Store {
    fn read<'a>(&'a self, name: &'a str, deadline_ms: u64) -> LocalFuture<'a, Result<Option<Secret<String>>>> {
        Box::pin(async move {
            let full = format!("{}{name}", self.secrets.prefix);
            let (target, body) = match self.secrets.kind {
                SecretService::SecretsManager => ("secretsmanager.GetSecretValue", json!({ "SecretId": full })),
                SecretService::ParameterStore => ("AmazonSSM.GetParameter", json!({ "Name": full, "WithDecryption": true })),
            };
            let operation = Operation {
                path: "",
                target: Some(target),
                content_type: "application/x-amz-json-1.1",
                body: &body,
                deadline_ms,
                max_response_bytes: LONGEST_ANSWER_BYTES,
            };
            let request = self.secrets.service.request(operation, self.clock.now_ms())?;
            self.secrets.text(name, &self.http.send(request).await?)
        })
    }
}
