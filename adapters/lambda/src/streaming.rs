//! Streamed answers → the Runtime API.
//!
//! `lambda_runtime` writes a streamed answer in three parts on a connection with Nagle's algorithm:
//! the second waits until the first is acknowledged, which the other side delays by some 40 ms, for
//! every answer. It takes no client of ours. So where answers are streamed, this layer stands in
//! the place of what it would post them with: a connection without that delay, and everything that
//! is there at first in one part. Buffered answers are one part in any case, and stay with
//! `lambda_runtime`.
//!
//! Protocol: [response
//! streaming](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-custom.html#runtimes-custom-response-streaming).

use std::{
    future::Future,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use http::{HeaderMap, HeaderValue, Request, header::CONTENT_TYPE};
use hyper_util::client::legacy::connect::HttpConnector;
use lambda_runtime::{Diagnostic, Error, FunctionResponse, LambdaEvent, LambdaInvocation, MetadataPrelude, StreamResponse};
use lambda_runtime_api_client::{
    PooledClient,
    body::{Body, sender::Sender},
    build_request,
};
use serde_json::value::RawValue;
use tower::{Layer, Service};

use crate::invocation::{Chunks, InvocationHandler};

/// What stands between the head of an answer and its body.
const DELIMITER: [u8; 8] = [0; 8];
/// What is collected for the first part, in bytes; a body that is whole is never cut.
const FIRST_PART: usize = 64 << 10;
/// The header field by which the Runtime API knows an attempt to answer an invocation from a later
/// one.
const INVOCATION_ID: &str = "lambda-runtime-invocation-id";
/// The fields behind a body that broke off.
const ERROR_TYPE: &str = "lambda-runtime-function-error-type";
const ERROR_BODY: &str = "lambda-runtime-function-error-body";

/// Answers invocations with streams, where the deployment streams.
#[derive(Clone)]
pub(crate) struct Streaming(Option<Answering>);

#[derive(Clone)]
struct Answering {
    handler: InvocationHandler,
    client: Arc<PooledClient>,
}

impl Streaming {
    /// The layer for a handler; it does nothing where answers are not streamed.
    pub(crate) fn new(handler: &InvocationHandler, concurrency: usize) -> Self {
        Self(handler.settings.streams.then(|| {
            let mut connector = HttpConnector::new();
            connector.set_nodelay(true);
            let client = PooledClient::builder().with_connector(connector).with_pool_size(concurrency).build();
            Answering { handler: handler.clone(), client: client.into() }
        }))
    }
}

impl<S> Layer<S> for Streaming {
    type Service = Streamed<S>;

    fn layer(&self, inner: S) -> Streamed<S> {
        Streamed { inner, answering: self.0.clone() }
    }
}

/// Posts an answer as a stream, or has it posted.
#[derive(Clone)]
pub(crate) struct Streamed<S> {
    inner: S,
    answering: Option<Answering>,
}

impl<S> Service<LambdaInvocation> for Streamed<S>
where
    S: Service<LambdaInvocation, Response = (), Error = Error>,
    S::Future: Send + 'static,
{
    type Response = ();
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, invocation: LambdaInvocation) -> Self::Future {
        match self.answering.clone() {
            Some(answering) => Box::pin(answering.answer(invocation)),
            None => Box::pin(self.inner.call(invocation)),
        }
    }
}

impl Answering {
    /// Answers an invocation, and posts what it comes to.
    ///
    /// # Errors
    /// The Runtime API cannot be reached.
    async fn answer(self, LambdaInvocation { parts, body, context }: LambdaInvocation) -> Result<(), Error> {
        let place = format!("/2018-06-01/runtime/invocation/{}", context.request_id);
        let attempt = parts.headers.get(INVOCATION_ID).cloned();
        let outcome = match serde_json::from_slice::<Box<RawValue>>(&body) {
            Ok(event) => {
                let answered = AssertUnwindSafe(self.handler.answer(LambdaEvent::new(event, context))).catch_unwind().await;
                let panicked = || Diagnostic { error_type: "Millrace.Panic".into(), error_message: "internal error".into() };
                answered.unwrap_or_else(|_| Err(panicked()))
            }
            Err(error) => Err(Diagnostic { error_type: "Millrace.Event".into(), error_message: format!("the event is not JSON: {error}") }),
        };
        let request = match outcome {
            Ok(FunctionResponse::StreamingResponse(response)) => streamed(&place, response)?,
            Ok(FunctionResponse::BufferedResponse(payload)) => {
                build_request().method("POST").uri(format!("{place}/response")).body(Body::from(payload.get().to_owned()))?
            }
            Err(problem) => failed(&place, &problem)?,
        };
        let (mut parts, body) = request.into_parts();
        parts.headers.extend(attempt.map(|attempt| (http::HeaderName::from_static(INVOCATION_ID), attempt)));
        let response = self.client.call(Request::from_parts(parts, body)).await.inspect_err(|error| {
            tracing::error!(%error, "an answer cannot be posted to the Runtime API");
        })?;
        if !response.status().is_success() {
            // Such as one that comes too late: the next invocation can be answered.
            tracing::error!(status = response.status().as_u16(), "the Runtime API did not accept an answer");
        }
        Ok(())
    }
}

/// The request that posts a stream. What is there already goes out with its head, which is all of
/// most answers.
fn streamed(place: &str, StreamResponse { metadata_prelude, mut stream }: StreamResponse<Chunks>) -> Result<Request<Body>, Error> {
    let mut first = head(metadata_prelude)?;
    // As far as nothing has to be waited for.
    let rest = loop {
        match stream.next().now_or_never() {
            Some(Some(Ok(chunk))) => first.put(chunk),
            Some(Some(Err(error))) => break Some(stream::iter([Err(error)]).boxed()),
            Some(None) => break None,
            None => break Some(stream),
        }
        if first.len() > FIRST_PART {
            break Some(stream);
        }
    };
    let first = first.freeze();
    let body = match rest {
        None => Body::from(first),
        Some(rest) => {
            let (sender, body) = Body::channel();
            tokio::spawn(send(sender, first, rest));
            body
        }
    };
    let request = build_request()
        .method("POST")
        .uri(format!("{place}/response"))
        .header("transfer-encoding", "chunked")
        .header("lambda-runtime-function-response-mode", "streaming")
        .header("trailer", ERROR_TYPE)
        .header("trailer", ERROR_BODY)
        .header(CONTENT_TYPE, "application/vnd.awslambda.http-integration-response");
    Ok(request.body(body)?)
}

/// Status and header fields of an answer, and what separates them from its body.
fn head(mut prelude: MetadataPrelude) -> Result<BytesMut, Error> {
    prelude.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/octet-stream"));
    let mut bytes = BytesMut::from(&*serde_json::to_vec(&prelude)?);
    bytes.put_slice(&DELIMITER);
    Ok(bytes)
}

/// Sends the first part and the rest of a stream as it comes. Where nobody takes it any more, the
/// stream is dropped, which ends its call.
async fn send(mut sender: Sender, first: Bytes, mut rest: Chunks) {
    if sender.send_data(first).await.is_err() {
        return;
    }
    while let Some(next) = rest.next().await {
        match next {
            Ok(chunk) => {
                if sender.send_data(chunk).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                let mut trailers = HeaderMap::new();
                trailers.insert(ERROR_TYPE, HeaderValue::from_static("Millrace.Stream"));
                if let Ok(text) = HeaderValue::from_str(&BASE64_STANDARD.encode(error.to_string())) {
                    trailers.insert(ERROR_BODY, text);
                }
                // Where nobody takes them, nobody took the rest.
                return drop(sender.send_trailers(trailers).await);
            }
        }
    }
}

/// The request that posts why an invocation is not answered.
fn failed(place: &str, Diagnostic { error_type, error_message }: &Diagnostic) -> Result<Request<Body>, Error> {
    let body = serde_json::json!({ "errorType": error_type, "errorMessage": error_message }).to_string();
    let request = build_request().method("POST").uri(format!("{place}/error")).header(ERROR_TYPE, "unhandled");
    Ok(request.body(Body::from(body))?)
}
