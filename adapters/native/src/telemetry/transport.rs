//! How exporters reach a collector: by the outgoing HTTP of this host, on a thread of their own, or
//! by gRPC.
//!
//! A collector that is slow, down or refuses what it is sent costs no call anything. What could not
//! be sent is a line in the log.

use std::{
    collections::HashMap,
    fmt, fs,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use http::{HeaderMap, HeaderName, HeaderValue};
use millrace_core::{Error, ErrorKind, Result};
use millrace_telemetry::settings::{Destination, OtlpProtocol};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{
    Compression, LogExporter, MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig, WithTonicConfig,
    tonic_types::{
        metadata::MetadataMap,
        transport::{Certificate, ClientTlsConfig, Identity},
    },
};
use opentelemetry_sdk::{
    Resource,
    error::{OTelSdkError, OTelSdkResult},
    logs::{LogBatch, LogExporter as SdkLogExporter},
    metrics::{Temporality, data::ResourceMetrics, exporter::PushMetricExporter},
    trace::{SpanData, SpanExporter as SdkSpanExporter},
};
use tokio::{runtime::Handle, sync::oneshot};

use crate::http_client;

/// The thread that requests of exporters are sent on.
pub(super) struct Transport {
    runtime: Handle,
    /// Ends the thread when it is dropped.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Transport {
    pub(super) fn start() -> Result<Self> {
        let unable = |error: std::io::Error| {
            Error::new(ErrorKind::Configuration, "the thread that sends telemetry could not be started").with_source(error.to_string())
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unable)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("telemetry".to_owned());
        let thread = thread.spawn(move || drop(runtime.block_on(stopped))).map_err(unable)?;
        Ok(Self { runtime: handle, stop: Some(stop), thread: Some(thread) })
    }

    fn client(&self, to: &Destination, cause: &Cause) -> Result<Arc<dyn HttpClient>> {
        let timeout = Duration::from_millis(to.timeout_ms);
        Ok(Arc::new(Client { client: client(to)?, runtime: self.runtime.clone(), timeout, cause: cause.clone() }))
    }
}

/// Looks at the files that are named, before anything is collected.
pub(super) fn check(to: &Destination) -> Result<()> {
    client(to).map(drop)
}

fn client(to: &Destination) -> Result<reqwest::Client> {
    let mut builder = http_client::builder();
    if let Some(path) = &to.certificate {
        let certificates = reqwest::Certificate::from_pem_bundle(&read(path)?).map_err(|error| unusable(path, &error))?;
        builder = builder.tls_certs_only(certificates);
    }
    if let Some(client) = &to.client {
        let mut pem = read(&client.certificate)?;
        pem.extend(read(&client.key)?);
        builder = builder.identity(reqwest::Identity::from_pem(&pem).map_err(|error| unusable(&client.key, &error))?);
    }
    builder.build().map_err(|error| unusable("OTEL_EXPORTER_OTLP_CERTIFICATE", &error))
}

impl Drop for Transport {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn read(path: &str) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| unusable(path, &error))
}

fn unusable(path: &str, error: &dyn fmt::Display) -> Error {
    let message = format!("the file `{path}`, which a variable `OTEL_EXPORTER_OTLP_…` names, cannot be used");
    Error::new(ErrorKind::Configuration, message).with_source(error.to_string())
}

/// What is set of an exporter that speaks HTTP.
fn over_http<B: WithHttpConfig + WithExportConfig>(builder: B, to: &Destination, client: Arc<dyn HttpClient>) -> B {
    let headers: HashMap<String, String> = to.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let protocol = if to.protocol == OtlpProtocol::HttpJson { Protocol::HttpJson } else { Protocol::HttpBinary };
    let builder = builder
        .with_shared_http_client(client)
        .with_headers(headers)
        .with_endpoint(to.url.clone())
        .with_protocol(protocol)
        .with_timeout(Duration::from_millis(to.timeout_ms));
    if to.gzip { builder.with_compression(Compression::Gzip) } else { builder }
}

/// What is set of an exporter that speaks gRPC.
fn over_grpc<B: WithTonicConfig + WithExportConfig>(builder: B, to: &Destination) -> Result<B> {
    let mut fields = HeaderMap::new();
    for (name, value) in to.headers.iter() {
        let pair = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
        let (name, value) = pair
            .ok_or_else(|| Error::new(ErrorKind::Configuration, "a header field of `OTEL_EXPORTER_OTLP_HEADERS` cannot be sent by gRPC"))?;
        fields.insert(name, value);
    }
    let metadata = MetadataMap::from_headers(fields);
    let builder = builder.with_endpoint(to.url.clone()).with_metadata(metadata).with_timeout(Duration::from_millis(to.timeout_ms));
    let builder = if to.gzip { builder.with_compression(Compression::Gzip) } else { builder };
    if !to.url.starts_with("https:") {
        return Ok(builder);
    }
    let mut tls = ClientTlsConfig::new();
    tls = match &to.certificate {
        Some(path) => tls.ca_certificate(Certificate::from_pem(read(path)?)),
        None => tls.with_enabled_roots(),
    };
    if let Some(client) = &to.client {
        tls = tls.identity(Identity::from_pem(read(&client.certificate)?, read(&client.key)?));
    }
    Ok(builder.with_tls_config(tls))
}

/// Makes exporters.
pub(super) trait Exporters {
    fn spans(&self, to: &Destination) -> Result<Told<SpanExporter>>;
    fn metrics(&self, to: &Destination, temporality: Temporality) -> Result<Told<MetricExporter>>;
    fn logs(&self, to: &Destination) -> Result<Told<LogExporter>>;
}

impl Exporters for Transport {
    fn spans(&self, to: &Destination) -> Result<Told<SpanExporter>> {
        let (_entered, cause) = (self.runtime.enter(), Cause::default());
        let exporter = match to.protocol {
            OtlpProtocol::Grpc => over_grpc(SpanExporter::builder().with_tonic(), to)?.build(),
            _ => over_http(SpanExporter::builder().with_http(), to, self.client(to, &cause)?).build(),
        };
        Told::of(exporter, "traces", cause)
    }

    fn metrics(&self, to: &Destination, temporality: Temporality) -> Result<Told<MetricExporter>> {
        let (_entered, cause) = (self.runtime.enter(), Cause::default());
        let exporter = match to.protocol {
            OtlpProtocol::Grpc => over_grpc(MetricExporter::builder().with_temporality(temporality).with_tonic(), to)?.build(),
            _ => over_http(MetricExporter::builder().with_temporality(temporality).with_http(), to, self.client(to, &cause)?).build(),
        };
        Told::of(exporter, "metrics", cause)
    }

    fn logs(&self, to: &Destination) -> Result<Told<LogExporter>> {
        let (_entered, cause) = (self.runtime.enter(), Cause::default());
        let exporter = match to.protocol {
            OtlpProtocol::Grpc => over_grpc(LogExporter::builder().with_tonic(), to)?.build(),
            _ => over_http(LogExporter::builder().with_http(), to, self.client(to, &cause)?).build(),
        };
        Told::of(exporter, "logs", cause)
    }
}

/// Why the last request of an exporter failed: the exporter itself only says that it did.
type Cause = Arc<Mutex<Option<String>>>;

/// Sends the requests of exporters, which wait for it on other threads.
struct Client {
    client: reqwest::Client,
    runtime: Handle,
    timeout: Duration,
    cause: Cause,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

impl HttpClient for Client {
    fn send_bytes<'this, 'sent>(
        &'this self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = std::result::Result<Response<Bytes>, HttpError>> + Send + 'sent>>
    where
        'this: 'sent,
        Self: 'sent,
    {
        let (client, timeout, cause) = (self.client.clone(), self.timeout, self.cause.clone());
        let sent = self.runtime.spawn(async move {
            let (parts, body) = request.into_parts();
            let host = parts.uri.host().unwrap_or_default().to_owned();
            let request = client.request(parts.method, parts.uri.to_string()).headers(parts.headers).body(body);
            let exchange = async {
                let answer = request.send().await?;
                Ok((answer.status(), answer.headers().clone(), answer.bytes().await?))
            };
            let failed = |why: String| {
                *cause.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
                HttpError::from(why)
            };
            let answer = tokio::time::timeout(timeout, exchange).await;
            let answer = answer.map_err(|_| failed("an HTTP request was not answered before its deadline".to_owned()))?;
            let (status, headers, body) = answer.map_err(|error| failed(http_client::classify(error, &host).in_full()))?;
            if !status.is_success() {
                let _ = failed(format!("the collector answered with status {}", status.as_u16()));
            }
            let mut response = Response::new(body);
            (*response.status_mut(), *response.headers_mut()) = (status, headers);
            Ok(response)
        });
        Box::pin(async move { sent.await? })
    }
}

/// An exporter whose failures are in the log.
#[derive(Debug)]
pub(super) struct Told<E> {
    exporter: E,
    what: &'static str,
    cause: Cause,
}

impl<E> Told<E> {
    fn of(exporter: std::result::Result<E, impl fmt::Display>, what: &'static str, cause: Cause) -> Result<Self> {
        exporter.map(|exporter| Self { exporter, what, cause }).map_err(|error| {
            Error::new(ErrorKind::Configuration, format!("{what} cannot be exported as the variables `OTEL_…` ask for"))
                .with_source(error.to_string())
        })
    }

    /// `dropped`: how many were lost; `None` where they are still there for the next batch.
    fn told(&self, outcome: OTelSdkResult, dropped: Option<usize>) -> OTelSdkResult {
        if let Err(error) = &outcome
            && !matches!(error, OTelSdkError::AlreadyShutdown)
        {
            let cause = self.cause.lock().unwrap_or_else(PoisonError::into_inner).take();
            let (what, detail) = (self.what, cause.unwrap_or_else(|| error.to_string()));
            match dropped {
                None => tracing::warn!(detail, "{what} cannot be exported now; they go with the next batch"),
                Some(dropped) => tracing::warn!(detail, dropped, "{what} cannot be exported"),
            }
        }
        outcome
    }
}

impl SdkSpanExporter for Told<SpanExporter> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        self.told(self.exporter.export(batch).await, Some(count))
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl PushMetricExporter for Told<MetricExporter> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        // Only what counts since the start is in the next batch, too.
        let points = || metrics.scope_metrics().map(|scope| scope.metrics().count()).sum();
        let dropped = (self.exporter.temporality() != Temporality::Cumulative).then(points);
        self.told(self.exporter.export(metrics).await, dropped)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}

impl SdkLogExporter for Told<LogExporter> {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        let count = batch.iter().count();
        self.told(self.exporter.export(batch).await, Some(count))
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
