//! A service of AWS as a database: where it is, who asks, and what its errors mean, as far as its
//! databases have that in common.
//!
//! Requests are signed by the crate `millrace-aws`, with an access key of the adapter's options, or
//! with what the host has: the role of a Lambda function, or the variables that the tools of AWS
//! read. A Worker has nothing of its own.

use std::rc::Rc;

use millrace_aws::{AwsCredentials, AwsService, Operation, is_region, kind_of_error, region_of};
use millrace_core::{
    Error, ErrorKind, Json, Result,
    ports::{Clock, Env, HttpClient, HttpResponse, Query, Random},
    secret::Secret,
    url::Url,
};

use crate::shared::{ServerOptions, StatementFailure, excerpt, is_loopback, timed_out};

/// What a driver of such a service needs.
pub struct AwsPorts {
    /// Outgoing HTTP.
    pub http: Rc<dyn HttpClient>,
    /// Wall time and sleep.
    pub clock: Rc<dyn Clock>,
    /// Randomness.
    pub random: Rc<dyn Random>,
    /// The variables with the host's own credentials; `None` where it has none.
    pub variables: Option<Rc<dyn Env>>,
}

/// What a request asks for.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// As [`Operation::path`].
    pub(crate) path: &'a str,
    /// As [`Operation::target`].
    pub(crate) target: Option<&'a str>,
    /// `application/json`
    pub(crate) content_type: &'static str,
    pub(crate) body: &'a Json,
    /// The longest answer, in bytes.
    pub(crate) max_response_bytes: usize,
}

/// An answer that is an error.
pub(crate) struct AwsError {
    /// `ThrottlingException`; empty where the answer is none of AWS's.
    pub(crate) kind: String,
    /// The service's words.
    pub(crate) words: String,
    /// The whole answer; `Null` where it is not JSON.
    pub(crate) body: Json,
    pub(crate) status: u16,
}

/// A service in a region, and who asks it.
pub(crate) struct AwsServer {
    /// Its name for people, `DynamoDB`.
    name: &'static str,
    service: AwsService,
    http: Rc<dyn HttpClient>,
    pub(crate) clock: Rc<dyn Clock>,
    pub(crate) random: Rc<dyn Random>,
}

/// What a service is called.
pub(crate) struct ServiceNames {
    /// By AWS, where requests are signed for it.
    pub(crate) for_aws: &'static str,
    /// In messages.
    pub(crate) for_people: &'static str,
}

impl AwsServer {
    /// Reads the options `region`, `endpoint`, `access_key_id`, `secret_access_key` and
    /// `session_token`. `region` is that of the connection string.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for what is missing or wrong. No message shows a
    /// value.
    pub(crate) fn open(names: ServiceNames, region: Option<String>, options: &mut ServerOptions, ports: AwsPorts) -> Result<Self> {
        let connector = options.connector();
        let AwsPorts { http, clock, random, variables } = ports;
        let user = format!("connector `{connector}`");
        let region = match (region, options.take("region"), &variables) {
            (Some(one), Some(other), _) if one != other => {
                return Err(configuration(format!("`region` of {user} is set to different values; keep one of them")));
            }
            (Some(region), _, _) | (None, Some(region), _) => region,
            (None, None, Some(variables)) => region_of(&user, &**variables)?,
            (None, None, None) => return Err(configuration(format!("{user} needs the option `region`"))),
        };
        if !is_region(&region) {
            return Err(configuration(format!("the region of {user} is not one; write one such as `eu-central-1`")));
        }
        let key = [options.take("access_key_id"), options.take("secret_access_key")].map(|part| part.map(Secret::new));
        let credentials = match (key, options.take("session_token").map(Secret::new), &variables) {
            ([Some(id), Some(secret)], token, _) => AwsCredentials::new(id, secret, token),
            ([None, None], None, Some(variables)) => AwsCredentials::of(&user, &**variables)?,
            ([None, None], None, None) => {
                let message =
                    format!("{user} needs the options `access_key_id` and `secret_access_key`: this host has no credentials of its own");
                return Err(configuration(message));
            }
            _ => return Err(configuration(format!("{user} needs both `access_key_id` and `secret_access_key`, or neither"))),
        };
        let endpoint = options.take("endpoint");
        if let Some(endpoint) = &endpoint {
            check_endpoint(connector, endpoint)?;
        }
        let service = AwsService::at(names.for_aws, region, endpoint.as_deref(), credentials);
        let service = service.ok_or_else(|| configuration(format!("the `endpoint` of {user} is not the address of a server")))?;
        Ok(Self { name: names.for_people, service, http, clock, random })
    }

    pub(crate) fn region(&self) -> &str {
        self.service.region()
    }

    /// Sends a request; the answer, whatever it is.
    ///
    /// # Errors
    /// There is no answer.
    pub(crate) async fn send(&self, asked: Asked<'_>, query: &Query<'_>) -> Result<HttpResponse, StatementFailure> {
        let now_ms = self.clock.now_ms();
        if now_ms >= query.deadline_ms {
            return Err(StatementFailure::last(timed_out()));
        }
        let Asked { path, target, content_type, body, max_response_bytes } = asked;
        let operation = Operation { path, target, content_type, body, deadline_ms: query.deadline_ms, max_response_bytes };
        let request = self.service.request(operation, now_ms).map_err(StatementFailure::last)?;
        self.http.send(request).await.map_err(StatementFailure::of_client)
    }

    /// What an error of AWS means that is not of one service: about the signature, permissions, the
    /// rate of requests, and the service's own state.
    pub(crate) fn failure(&self, error: &AwsError) -> StatementFailure {
        let AwsError { kind, words, status, .. } = error;
        let (name, region) = (self.name, self.region());
        let refused = |kind, why: &str| StatementFailure::last(Error::new(kind, format!("{name} in the region `{region}` {why}")));
        let denied = |why: &str| refused(ErrorKind::Credentials, why);
        let said = |kind, what: &str| Error::new(kind, format!("{name} {what}")).with_source(error.source());
        match kind.as_str() {
            // The words about a signature quote the request, the session token among it.
            "InvalidSignatureException" | "SignatureDoesNotMatch" | "RequestExpired" | "RequestTimeTooSkewed"
                if is_of_clock(kind, words) =>
            {
                refused(
                    ErrorKind::Denied,
                    "does not accept the time of the request: the clock of this machine differs by more than five minutes from that of AWS",
                )
            }
            "InvalidSignatureException" | "SignatureDoesNotMatch" | "IncompleteSignatureException" | "IncompleteSignature" => {
                denied("does not accept the signature: the secret access key is wrong")
            }
            "UnrecognizedClientException"
            | "InvalidClientTokenId"
            | "MissingAuthenticationTokenException"
            | "MissingAuthenticationToken" => denied("does not know the access key, or its session token is missing or wrong"),
            "ExpiredTokenException" | "ExpiredToken" => denied("does not accept the session token any more: it has expired"),
            "AccessDeniedException" | "ForbiddenException" => {
                StatementFailure::last(said(ErrorKind::Denied, "does not permit these credentials to do that"))
            }
            "ProvisionedThroughputExceededException"
            | "ThrottlingException"
            | "Throttling"
            | "RequestLimitExceeded"
            | "TooManyRequestsException" => StatementFailure::not_executed(said(ErrorKind::Busy, "takes no more requests for now")),
            "RequestEntityTooLargeException" => StatementFailure::last(said(ErrorKind::TooLarge, "does not take a request of this size")),
            _ if *status == 413 => StatementFailure::last(said(ErrorKind::TooLarge, "does not take a request of this size")),
            _ if (300..400).contains(status) => {
                StatementFailure::last(said(ErrorKind::Configuration, "redirects elsewhere; look at the `endpoint` of the adapter"))
            }
            "" if *status == 429 => StatementFailure::last(said(ErrorKind::Busy, "takes no more requests for now")),
            "" if matches!(status, 401 | 403) => StatementFailure::last(said(ErrorKind::Credentials, "does not admit these credentials")),
            "" if matches!(status, 404 | 405) => StatementFailure::last(said(
                ErrorKind::Configuration,
                "was not found at this address; look at the `endpoint` of the adapter",
            )),
            _ if *status >= 500 => StatementFailure::unknown(said(ErrorKind::Unavailable, "failed")),
            _ => StatementFailure::unknown(said(ErrorKind::Protocol, "answered in an unexpected way")),
        }
    }

    /// An answer that is none: the request may have been carried out.
    pub(crate) fn broken(&self, what: &str) -> StatementFailure {
        let message = format!("{} sent a response that is not understood", self.name);
        StatementFailure::unknown(Error::new(ErrorKind::Protocol, message).with_source(what))
    }
}

impl AwsError {
    /// Reads an answer that is not a success.
    pub(crate) fn of(response: &HttpResponse) -> Self {
        let body: Json = serde_json::from_slice(&response.body).unwrap_or_default();
        let in_head = response.headers.first("x-amzn-errortype").map(|kind| kind.split([':', '#']).next().unwrap_or_default().to_owned());
        let kind = Some(kind_of_error(&response.body)).filter(|kind| !kind.is_empty()).or(in_head);
        let words = body.get("message").or_else(|| body.get("Message")).and_then(Json::as_str);
        let words = words.map_or_else(|| String::from_utf8_lossy(&response.body).into_owned(), str::to_owned);
        Self { kind: kind.unwrap_or_default(), words, body, status: response.status }
    }

    /// For the log.
    pub(crate) fn source(&self) -> String {
        excerpt(&format!("status {}: {} {}", self.status, self.kind, self.words))
    }
}

/// Whether an error about a signature is about its time: `Signature expired: 20260102T…`,
/// `Signature not yet current: …`.
fn is_of_clock(kind: &str, words: &str) -> bool {
    kind.starts_with("RequestTime")
        || kind == "RequestExpired"
        || words.starts_with("Signature expired")
        || words.starts_with("Signature not yet current")
}

/// Requests have statements and values in them, so that they are sent in the clear on this machine
/// only.
fn check_endpoint(connector: &str, endpoint: &str) -> Result<()> {
    let wrong = |what: &str| configuration(format!("the `endpoint` of connector `{connector}` {what}"));
    let url = Url::parse(endpoint).map_err(wrong)?;
    match url.scheme.as_str() {
        "https" => {}
        "http" if is_loopback(url.server.host) => {}
        _ => return Err(wrong("must begin with `https://`; `http://` is for this machine")),
    }
    if url.path.is_empty() && url.settings.is_empty() { Ok(()) } else { Err(wrong("has a path or a query string")) }
}

pub(crate) fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}
