//! Requests that look at a server somebody else runs, as a client sees it.
//!
//! Beside the answer there is what a diagnosis needs: how long it took, how its body ended, how the
//! certificate was judged and when it expires. A request has a limit of time and its answer one of
//! bytes, whatever the server sends. Redirects, proxies, cookies and content encodings are off, as
//! for every outgoing request.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use millrace_core::Result;
use reqwest::{Client, Method};
use rustls::{CertificateError, ClientConfig, client::danger::ServerCertVerifier, pki_types::UnixTime};

use crate::{
    http_client::{builder, unusable, words},
    tls,
};

pub use reqwest::Url;

/// A certificate that expires sooner than this is worth a warning.
const SOON: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// One request.
pub struct ProbeRequest<'a> {
    /// GET, POST or OPTIONS.
    pub method: &'a str,
    /// Where to.
    pub url: &'a Url,
    /// Fields, in order.
    pub headers: &'a [(String, String)],
    /// What is sent.
    pub body: Option<String>,
    /// How long the whole exchange may take.
    pub limit: Duration,
    /// The most of the answer's body that is read, in bytes.
    pub max_bytes: usize,
}

/// How the body of an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// It is whole.
    Whole,
    /// The reader has what it wants.
    Enough,
    /// It is longer than the limit.
    TooLong,
    /// It did not end in time.
    Late,
    /// The connection ended within it.
    Broken,
}

/// An answer.
#[derive(Debug)]
pub struct ProbeResponse {
    /// The status.
    pub status: u16,
    /// The fields, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// As much of the body as was read.
    pub body: Vec<u8>,
    /// How the body ended.
    pub end: BodyEnd,
    /// From the beginning of the request to the head of the answer.
    pub first: Duration,
    /// From the beginning of the request to the end of the answer.
    pub whole: Duration,
    /// How long the certificate is still valid, where that is less than two weeks and the
    /// connection is new.
    pub expires_in: Option<Duration>,
}

impl ProbeResponse {
    /// The first field of a name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// Why a certificate is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateFault {
    /// Its time is over.
    Expired,
    /// Its time has not begun.
    NotYetValid,
    /// It is for another host.
    WrongName,
    /// Nobody whom this machine trusts signed it.
    Untrusted,
    /// Something else.
    Other(String),
}

/// Why there is no answer. The texts are those of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeFailure {
    /// The host's name has no address.
    UnknownHost(String),
    /// No connection.
    Unreachable(String),
    /// The server's certificate is not accepted.
    Certificate(CertificateFault),
    /// The TLS handshake failed otherwise.
    Tls(String),
    /// No answer in time.
    Late,
    /// The connection ended before the head of the answer, or what came is not HTTP.
    NotHttp(String),
}

/// Sends requests that look at servers. Belongs to one isolate.
pub struct Probe {
    client: Client,
    judged: Arc<Mutex<Judged>>,
}

/// What was seen of the last certificate.
#[derive(Debug, Default)]
struct Judged {
    fault: Option<CertificateFault>,
    expires_in: Option<Duration>,
}

impl Probe {
    /// Makes one. Trusts whom the operating system trusts.
    ///
    /// # Errors
    /// TLS cannot be used on this machine.
    pub fn new() -> Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let judged = Arc::new(Mutex::new(Judged::default()));
        let verifier = keeping(tls::system_verifier(&provider)?, judged.clone());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| tls::unusable(&error))?;
        let mut config = config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let client = builder().tls_backend_preconfigured(config).build().map_err(|error| unusable(&error))?;
        Ok(Self { client, judged })
    }

    /// Sends one request. `enough` is asked when the head of the answer is there, with no bytes,
    /// and for each piece of the body: whether the reader has what it wants.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn send(
        &self,
        request: &ProbeRequest<'_>,
        enough: &mut dyn FnMut(&ProbeResponse, &[u8]) -> bool,
    ) -> Result<ProbeResponse, ProbeFailure> {
        let started = Instant::now();
        *self.judged.lock().unwrap_or_else(PoisonError::into_inner) = Judged::default();
        let method = Method::from_bytes(request.method.as_bytes()).map_err(|error| ProbeFailure::NotHttp(error.to_string()))?;
        let mut builder = self.client.request(method, request.url.clone());
        for (name, value) in request.headers {
            builder = builder.header(name, value);
        }
        if let Some(body) = &request.body {
            builder = builder.body(body.clone());
        }
        let sent = tokio::time::timeout(request.limit, builder.send()).await;
        let judged = std::mem::take(&mut *self.judged.lock().unwrap_or_else(PoisonError::into_inner));
        let mut response = match sent {
            Err(_) => return Err(ProbeFailure::Late),
            Ok(Err(error)) => return Err(failure(error, judged.fault)),
            Ok(Ok(response)) => response,
        };
        let field = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let mut seen = ProbeResponse {
            status: response.status().as_u16(),
            headers: response.headers().iter().map(field).collect(),
            body: Vec::new(),
            end: BodyEnd::Whole,
            first: started.elapsed(),
            whole: started.elapsed(),
            expires_in: judged.expires_in,
        };
        if enough(&seen, &[]) {
            seen.end = BodyEnd::Enough;
            return Ok(seen);
        }
        let reading = async {
            loop {
                let chunk = match response.chunk().await {
                    Ok(Some(chunk)) => chunk,
                    Ok(None) => return BodyEnd::Whole,
                    Err(_) => return BodyEnd::Broken,
                };
                let room = request.max_bytes - seen.body.len();
                let piece = &chunk[..chunk.len().min(room)];
                seen.body.extend_from_slice(piece);
                if enough(&seen, piece) {
                    return BodyEnd::Enough;
                }
                if chunk.len() > room {
                    return BodyEnd::TooLong;
                }
            }
        };
        let left = request.limit.saturating_sub(started.elapsed());
        let end = tokio::time::timeout(left, reading).await.unwrap_or(BodyEnd::Late);
        seen.end = end;
        seen.whole = started.elapsed();
        Ok(seen)
    }
}

fn failure(error: reqwest::Error, certificate: Option<CertificateFault>) -> ProbeFailure {
    if let Some(fault) = certificate {
        return ProbeFailure::Certificate(fault);
    }
    let error = error.without_url();
    let said = words(&error);
    if error.is_timeout() {
        ProbeFailure::Late
    } else if !error.is_connect() {
        ProbeFailure::NotHttp(said)
    } else if said.contains("dns error") {
        // The words of `hyper-util`; a test has them.
        ProbeFailure::UnknownHost(said)
    } else if concerns_tls(&error) {
        ProbeFailure::Tls(said)
    } else {
        ProbeFailure::Unreachable(said)
    }
}

/// Whether the handshake of TLS is what failed.
fn concerns_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    // The source of an error of the system is that of the error within, which is passed over.
    let within = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    error.is::<rustls::Error>() || within.is_some_and(|within| concerns_tls(within)) || error.source().is_some_and(concerns_tls)
}

/// Judges as another verifier does, and keeps what it finds.
fn keeping(verifier: Arc<dyn ServerCertVerifier>, judged: Arc<Mutex<Judged>>) -> Arc<dyn ServerCertVerifier> {
    let judge = move |verify: tls::VerifyAt<'_>, now: UnixTime| {
        let outcome = verify(now);
        let mut found = Judged::default();
        match &outcome {
            Ok(_) => {
                let soon = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + SOON);
                found.expires_in = match verify(soon) {
                    Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
                        Some(Duration::from_secs(not_after.as_secs().saturating_sub(now.as_secs())))
                    }
                    Err(rustls::Error::InvalidCertificate(CertificateError::Expired)) => Some(SOON),
                    _ => None,
                };
            }
            Err(error) => found.fault = Some(fault(error)),
        }
        *judged.lock().unwrap_or_else(PoisonError::into_inner) = found;
        outcome
    };
    Arc::new(tls::Judge { verifier, judge })
}

fn fault(error: &rustls::Error) -> CertificateFault {
    let rustls::Error::InvalidCertificate(certificate) = error else { return CertificateFault::Other(error.to_string()) };
    match certificate {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => CertificateFault::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => CertificateFault::NotYetValid,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => CertificateFault::WrongName,
        CertificateError::UnknownIssuer => CertificateFault::Untrusted,
        other => CertificateFault::Other(other.to_string()),
    }
}
