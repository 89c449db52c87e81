//! `/metrics` for Prometheus, on a port of its own.

use std::{convert::Infallible, future::Future, net::TcpListener};

use http::uri::Authority;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HOST, HeaderValue},
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
    // A page that was led here by another name is not let read them.
    let is_loopback = listener.local_addr()?.ip().is_loopback();
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(answer(stream, is_loopback, collect.clone()));
            }
            // As with the server's own socket: the next one may succeed.
            Err(error) => {
                tracing::debug!(%error, "a connection for metrics is not taken");
                tokio::task::yield_now().await;
            }
        }
    }
}

async fn answer<F>(stream: TcpStream, is_loopback: bool, collect: impl Fn() -> F + Send + Sync + 'static)
where
    F: Future<Output = Snapshot> + Send + 'static,
{
    let service = service_fn(|request: Request<Incoming>| {
        let refusal = match (request.method(), request.uri().path()) {
            _ if is_loopback && !names_loopback(&request) => Some((StatusCode::FORBIDDEN, "the `Host` is not this machine's own\n")),
            (&Method::GET | &Method::HEAD, "/metrics") => None,
            _ => Some((StatusCode::NOT_FOUND, "metrics are at `/metrics`\n")),
        };
        let snapshot = refusal.is_none().then(&collect);
        async move {
            let Some(snapshot) = snapshot else {
                let (status, text) = refusal.unwrap_or_default();
                let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
                *response.status_mut() = status;
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

/// Whether a request was sent to this machine by one of its own names.
fn names_loopback(request: &Request<Incoming>) -> bool {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    host.is_some_and(|host| ["localhost", "127.0.0.1", "[::1]"].contains(&host.host()))
}
