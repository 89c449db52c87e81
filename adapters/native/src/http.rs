//! hyper's requests and responses ↔ the core's, and the limits of a connection.
//!
//! In comes a socket, out go responses. A connection is refused a request head that is too long (431) or too slow (the
//! connection is closed), a body that is too long (413) or too slow (408); the rest is the [`Handler`]'s.

use std::{
    cell::{Cell, RefCell},
    convert::Infallible,
    future::Future,
    net::TcpStream as StdTcpStream,
    panic::AssertUnwindSafe,
    pin::pin,
    rc::Rc,
    time::Duration,
};

use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use hyper::{
    body::{Body as _, Incoming},
    header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use millrace_core::{
    Endpoint,
    cancel::Cancel,
    headers::Headers,
    protocol::{Body, Request, Response},
};
use tokio::{
    net::TcpStream,
    sync::{Notify, mpsc},
    time::timeout,
};

use crate::{listener::Seat, outgoing::Outgoing, stream::Stream, wait_until::Tasks};

/// What an isolate answers requests with.
pub trait Handler: 'static {
    /// The longest request body, in bytes.
    fn body_limit(&self) -> usize;

    /// Answers one request. Dropped where the client goes away before the answer; so is a stream that the answer is.
    fn handle(&self, request: Request) -> impl Future<Output = Response>;
}

impl Handler for Endpoint {
    fn body_limit(&self) -> usize {
        Endpoint::body_limit(self)
    }

    async fn handle(&self, request: Request) -> Response {
        Endpoint::handle(self, request).await
    }
}

/// Makes an isolate's handler, on the isolate's thread. What it gives to `Tasks` is waited for when the isolate ends.
pub type Make<H> = Box<dyn FnOnce(&Tasks) -> H + Send>;

/// The limits of an isolate and of its connections.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long a connection may take for a request's head, and how long it may be idle between two requests.
    pub head_timeout: Duration,
    /// How long a request's body may take.
    pub body_timeout: Duration,
    /// The longest head of a request, in bytes.
    pub head_bytes: usize,
    /// How many connections one isolate has at the most; further ones wait in the operating system's queue.
    pub connections: usize,
    /// How long calls in flight may take when the isolate is told to end.
    pub grace: Duration,
    /// The server is reached by its own machine only; see [`Request::loopback_only`].
    pub loopback_only: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            head_bytes: 32 << 10,
            connections: 4096,
            grace: Duration::from_secs(10),
            loopback_only: false,
        }
    }
}

/// What an isolate that serves HTTP is told.
pub(crate) enum Job<H> {
    /// A client came.
    Connection(StdTcpStream, Seat),
    /// Requests from now on are answered by another handler; those in flight end with theirs.
    Replace(Make<H>),
    /// End: calls in flight finish, idle connections close.
    Stop,
}

struct State<H> {
    handler: RefCell<Rc<H>>,
    limits: Limits,
    http: http1::Builder,
    stopping: Cell<bool>,
    stop: Notify,
}

/// The life of an isolate that serves HTTP.
pub(crate) async fn serve<H: Handler>(mut jobs: mpsc::UnboundedReceiver<Job<H>>, make: Make<H>, limits: Limits) {
    let (connections, background) = (Tasks::new(), Tasks::new());
    let state = Rc::new(State {
        handler: RefCell::new(Rc::new(make(&background))),
        http: builder(&limits),
        limits,
        stopping: Cell::new(false),
        stop: Notify::new(),
    });
    while let Some(job) = jobs.recv().await {
        match job {
            Job::Connection(socket, seat) => connections.spawn(connection(state.clone(), socket, seat)),
            Job::Replace(make) => state.replace(make, &background),
            Job::Stop => break,
        }
    }
    state.stopping.set(true);
    state.stop.notify_waiters();
    let ended = async {
        connections.drained().await;
        background.drained().await;
    };
    if timeout(state.limits.grace, ended).await.is_err() {
        tracing::warn!(connections = connections.running(), tasks = background.running(), "calls did not end in time and are cut off");
    }
}

impl<H: Handler> State<H> {
    fn replace(&self, make: Make<H>, background: &Tasks) {
        match std::panic::catch_unwind(AssertUnwindSafe(|| make(background))) {
            Ok(handler) => drop(self.handler.replace(Rc::new(handler))),
            Err(_) => tracing::error!("the new app could not be taken over; the old one goes on"),
        }
    }
}

fn builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_header_size(limits.head_bytes)
        .max_buf_size(limits.head_bytes.max(64 << 10));
    builder
}

async fn connection<H: Handler>(state: Rc<State<H>>, socket: StdTcpStream, seat: Seat) {
    let _seat = seat;
    let socket = match TcpStream::from_std(socket) {
        Ok(socket) => socket,
        Err(error) => return tracing::warn!(%error, "a connection could not be taken over"),
    };
    let unread = Rc::new(Cell::new(false));
    let stream = TokioIo::new(Stream::new(socket, unread.clone()));
    let service = service_fn(|request| answer(&state, &unread, request).map(Ok::<_, Infallible>));
    let mut connection = pin!(state.http.serve_connection(stream, service));
    if !state.stopping.get() {
        tokio::select! {
            biased;
            end = connection.as_mut() => return log_end(end),
            () = state.stop.notified() => {}
        }
    }
    connection.as_mut().graceful_shutdown();
    log_end(connection.await);
}

/// A connection that ends early is the client's doing; it is worth a line only to whoever looks for it.
fn log_end(end: hyper::Result<()>) {
    if let Err(error) = end {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn answer<H: Handler>(state: &State<H>, unread: &Cell<bool>, request: hyper::Request<Incoming>) -> hyper::Response<Outgoing> {
    let handler = state.handler.borrow().clone();
    let (head, incoming) = request.into_parts();
    let body = match timeout(state.limits.body_timeout, read(incoming, handler.body_limit())).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) => {
            tracing::debug!(%error, "a request's body could not be read");
            return refuse(unread, 400, "the request's body is malformed");
        }
        Err(_) => return refuse(unread, 408, "the request's body took too long"),
    };
    let too_large = body == Body::TooLarge;
    let hangup = Hangup(Some(Cancel::new()));
    let request = Request {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        headers: head.headers.iter().map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes()))).collect(),
        body,
        deadline_ms: None,
        cancel: hangup.cancel(),
        loopback_only: state.limits.loopback_only,
    };
    let outcome = AssertUnwindSafe(handler.handle(request)).catch_unwind().await;
    hangup.disarm();
    let mut response = match outcome {
        Ok(response) => into_hyper(response),
        // What panicked is in the log: the panic hook has the place.
        Err(_) => json(500, r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"internal error"}}"#),
    };
    if too_large {
        close(&mut response, unread);
    }
    response
}

/// Reads a body to its end, or to its limit.
async fn read(mut incoming: Incoming, limit: usize) -> hyper::Result<Body> {
    if incoming.is_end_stream() {
        return Ok(Body::Whole(Vec::new()));
    }
    // A body that says its length is refused unread, before a client that waits for `100 Continue` sends it.
    if incoming.size_hint().lower() > limit as u64 {
        return Ok(Body::TooLarge);
    }
    let mut whole = Vec::new();
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if whole.len() + data.len() > limit {
            return Ok(Body::TooLarge);
        }
        if whole.is_empty() && incoming.is_end_stream() {
            return Ok(Body::Whole(data.into()));
        }
        whole.extend_from_slice(&data);
    }
    Ok(Body::Whole(whole))
}

fn into_hyper(response: Response) -> hyper::Response<Outgoing> {
    let mut converted = hyper::Response::new(Outgoing::new(response.body));
    match hyper::StatusCode::from_u16(response.status) {
        Ok(status) => *converted.status_mut() = status,
        Err(_) => {
            tracing::error!(status = response.status, "a response has no HTTP status");
            *converted.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
        }
    }
    append(&response.headers, converted.headers_mut());
    converted
}

fn append(headers: &Headers, map: &mut hyper::HeaderMap) {
    map.reserve(headers.len() + 1);
    for (name, value) in headers.iter() {
        match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
            (Ok(name), Ok(value)) => {
                map.append(name, value);
            }
            _ => tracing::error!(name, "a response's header field is not allowed in HTTP and is left out"),
        }
    }
}

/// An answer to a request that was not read to its end.
fn refuse(unread: &Cell<bool>, status: u16, message: &str) -> hyper::Response<Outgoing> {
    let mut response = json(status, &format!(r#"{{"jsonrpc":"2.0","error":{{"code":-32600,"message":"{message}"}}}}"#));
    close(&mut response, unread);
    response
}

fn close(response: &mut hyper::Response<Outgoing>, unread: &Cell<bool>) {
    unread.set(true);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}

fn json(status: u16, body: &str) -> hyper::Response<Outgoing> {
    let mut response = into_hyper(Response { status, headers: Headers::new(), body: body.as_bytes().to_vec().into() });
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Trips its flag where a request is dropped before its answer: the client went away.
struct Hangup(Option<Cancel>);

impl Hangup {
    fn cancel(&self) -> Cancel {
        self.0.clone().unwrap_or_default()
    }

    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for Hangup {
    fn drop(&mut self) {
        if let Some(cancel) = self.0.take() {
            cancel.trip();
        }
    }
}
