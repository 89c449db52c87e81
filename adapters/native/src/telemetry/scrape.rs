//! `/metrics` for Prometheus, on a port of its own.

use std::{convert::Infallible, future::Future, net::TcpListener};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::snapshot::Snapshot;

/// What the text is.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers whoever asks, until the future is dropped. `collect` tells what there is to say.
///
/// # Errors
/// The socket cannot be used.
pub async fn serve<F>(listener: TcpListener, collect: impl Fn() -> F + Clone + Send + Sync + 'static) -> std::io::Result<()>
where
    F: Future<Output = Snapshot> + Send + 'static,
{
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(answer(stream, collect.clone()));
            }
            // As with the server's own socket: the next one may succeed.
            Err(error) => {
                tracing::debug!(%error, "a connection for metrics is not taken");
                tokio::task::yield_now().await;
            }
        }
    }
}

async fn answer<F>(stream: TcpStream, collect: impl Fn() -> F + Send + Sync + 'static)
where
    F: Future<Output = Snapshot> + Send + 'static,
{
    let service = service_fn(|request: Request<Incoming>| {
        let snapshot = (matches!(*request.method(), Method::GET | Method::HEAD) && request.uri().path() == "/metrics").then(&collect);
        async move {
            let Some(snapshot) = snapshot else {
                let mut response = Response::new(Full::new(Bytes::from_static(b"metrics are at /metrics\n")));
                *response.status_mut() = StatusCode::NOT_FOUND;
                return Ok::<_, Infallible>(response);
            };
            let mut response = Response::new(Full::new(Bytes::from(snapshot.await.open_metrics())));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(OPEN_METRICS));
            Ok(response)
        }
    });
    if let Err(error) = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "whoever asked for metrics went away");
    }
}
