//! hyper's requests and responses ↔ the core's, and the limits of a connection.
//!
//! In comes a socket, out go responses. With TLS, a handshake precedes them. A connection is
//! refused a request head that is too long (431) or too slow (the connection is closed), a body
//! that is too long (413) or too slow (408); the rest is the [`Handler`]'s. One whose client stops
//! reading is closed. Requests of one connection are answered one after another: the next one is
//! not looked at before the operating system has taken all of the answer before. What all
//! connections of an isolate hold is counted, see `ledger.rs`; what would be too much is refused
//! (503).

use std::{
    cell::{Cell, RefCell},
    convert::Infallible,
    future::Future,
    io,
    net::TcpStream as StdTcpStream,
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    rc::Rc,
    task::{Context, Poll, ready},
    thread,
    time::Duration,
};

use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use hyper::{
    body::{Body as _, Incoming},
    header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use millrace_core::{
    Endpoint,
    cancel::Cancel,
    headers::Headers,
    protocol::{Body, Request, Response, ResponseBody},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::{Notify, mpsc},
    time::{sleep, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::{
    client_stream::{Peer, Stream},
    connection_slot::ConnectionSlot,
    disconnected::DisconnectedCalls,
    ledger::{Account, Hold, Ledger},
    outgoing::Outgoing,
    server_tls::ServerTls,
    wait_until::Tasks,
};

/// What an isolate answers requests with.
pub trait Handler: 'static {
    /// The longest request body, in bytes.
    fn body_limit(&self) -> usize;

    /// Answers one request. Where the client disconnects before the answer, the request's `cancel`
    /// is tripped, and the answer, which is for nobody, is still waited for: for
    /// `Limits::disconnected_time` at the most. So is the end of a stream that the answer is.
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

/// A [`Handler`] of any kind: what serves connections is compiled once, in this crate, and as fast
/// as what is in it, whatever the profile has for the crate with the handler.
trait AnyHandler {
    /// As [`Handler::body_limit`].
    fn body_limit(&self) -> usize;

    /// The handler at work. A call is large in memory, and hyper moves its own future several
    /// times: so it is no part of an `async fn`. `hold` is what the request's body takes in memory,
    /// which counts until the call is over.
    fn handled(self: Rc<Self>, request: Request, hold: Option<Hold>) -> HandledCall;
}

impl<H: Handler> AnyHandler for H {
    fn body_limit(&self) -> usize {
        Handler::body_limit(self)
    }

    fn handled(self: Rc<Self>, request: Request, hold: Option<Hold>) -> HandledCall {
        let call = async move {
            let _hold = hold;
            self.handle(request).await
        };
        Box::pin(AssertUnwindSafe(call).catch_unwind())
    }
}

/// Makes an isolate's handler, on the isolate's thread. What it gives to `Tasks` is waited for when
/// the isolate ends.
pub type MakeHandler<H> = Box<dyn FnOnce(&Tasks) -> H + Send>;

/// The limits of an isolate and of its connections.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long a connection may take for the handshake of TLS.
    pub handshake_timeout: Duration,
    /// How long a connection may take for a request's head, and how long it may be idle between two
    /// requests.
    pub head_timeout: Duration,
    /// How long a request's body may take.
    pub body_timeout: Duration,
    /// How long a client may read nothing of an answer that waits for it.
    pub write_timeout: Duration,
    /// How much the connections of one isolate may hold, in bytes: bodies that are still coming,
    /// and answers that are not read yet. From half of it on, connections of clients that read or
    /// send slowly are closed.
    pub held_bytes: usize,
    /// The longest head of a request, in bytes.
    pub head_bytes: usize,
    /// How many connections one isolate has at the most; further ones wait in the operating
    /// system's queue.
    pub connections: usize,
    /// How many calls of clients that disconnected may come to their end without a connection;
    /// further ones count as connections until then.
    pub disconnected_calls: usize,
    /// How long such a call may take.
    pub disconnected_time: Duration,
    /// How long calls in flight may take when the isolate is told to end.
    pub grace: Duration,
    /// Whether requests for other hosts are rejected; see [`Request::checks_host`].
    pub checks_host: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handshake_timeout: Duration::from_secs(10),
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            held_bytes: 24 << 20,
            head_bytes: 32 << 10,
            connections: 4096,
            disconnected_calls: 256,
            // Whatever observes the end of a call has five seconds.
            disconnected_time: Duration::from_secs(6),
            grace: Duration::from_secs(10),
            checks_host: false,
        }
    }
}

/// What an isolate that serves HTTP is told.
pub(crate) enum Job<H> {
    /// A client came.
    Connection(StdTcpStream, ConnectionSlot),
    /// Clients wait for a place, and every one is taken.
    #[cfg(unix)]
    Crowded,
    /// Requests from now on are answered by another handler; those in flight end with theirs.
    Replace(MakeHandler<H>),
    /// End: calls in flight finish, idle connections close.
    Stop,
}

/// Which part of all connections may be closed at once where others wait.
#[cfg(unix)]
const CLOSED_AT_ONCE: usize = 16;

struct State {
    handler: RefCell<Rc<dyn AnyHandler>>,
    limits: Limits,
    ledger: Rc<Ledger>,
    disconnected: Rc<DisconnectedCalls>,
    http: http1::Builder,
    tls: Option<TlsAcceptor>,
    stopping: Cell<bool>,
    stop: Notify,
}

/// The life of an isolate that serves HTTP.
pub(crate) async fn serve<H: Handler>(
    mut jobs: mpsc::UnboundedReceiver<Job<H>>,
    make: MakeHandler<H>,
    limits: Limits,
    tls: Option<ServerTls>,
) {
    let (connections, background) = (Tasks::new(), Tasks::new());
    let state = State::new(Rc::new(make(&background)), limits, tls, &background);
    while let Some(job) = jobs.recv().await {
        match job {
            Job::Connection(socket, seat) => state.connect(&connections, socket, seat),
            #[cfg(unix)]
            Job::Crowded => state.ledger.make_room((state.limits.connections / CLOSED_AT_ONCE).max(1)),
            Job::Replace(make) => state.replace(make, &background),
            Job::Stop => break,
        }
    }
    state.end(&connections, &background).await;
}

impl State {
    fn new(handler: Rc<dyn AnyHandler>, limits: Limits, tls: Option<ServerTls>, background: &Tasks) -> Rc<Self> {
        Rc::new(Self {
            handler: RefCell::new(handler),
            http: builder(&limits),
            tls: tls.map(|tls| tls.acceptor()),
            ledger: Ledger::new(limits.held_bytes),
            disconnected: DisconnectedCalls::new(limits.disconnected_calls, limits.disconnected_time, background.clone()),
            limits,
            stopping: Cell::new(false),
            stop: Notify::new(),
        })
    }

    fn connect(self: &Rc<Self>, connections: &Tasks, socket: StdTcpStream, seat: ConnectionSlot) {
        connections.spawn(connection(self.clone(), socket, seat));
    }

    /// Waits for what runs, within the grace of the limits.
    async fn end(&self, connections: &Tasks, background: &Tasks) {
        self.stopping.set(true);
        self.stop.notify_waiters();
        let ended = async {
            connections.drained().await;
            background.drained().await;
        };
        if timeout(self.limits.grace, ended).await.is_err() {
            tracing::warn!(connections = connections.running(), tasks = background.running(), "calls did not end in time and were aborted");
        }
    }

    fn replace<H: Handler>(&self, make: MakeHandler<H>, background: &Tasks) {
        match std::panic::catch_unwind(AssertUnwindSafe(|| make(background))) {
            Ok(handler) => drop(self.handler.replace(Rc::new(handler))),
            Err(_) => tracing::error!("the new app could not be loaded; still serving the old one"),
        }
    }
}

fn builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_header_size(limits.head_bytes)
        // A connection whose body stops coming keeps a buffer of this size.
        .max_buf_size(limits.head_bytes.max(8 << 10));
    builder
}

async fn connection(state: Rc<State>, socket: StdTcpStream, seat: ConnectionSlot) {
    let socket = match TcpStream::from_std(socket) {
        Ok(socket) => socket,
        Err(error) => return tracing::warn!(%error, "a connection could not be accepted"),
    };
    let address = socket.peer_addr().map(|address| address.ip().to_canonical()).ok();
    let (account, unread) = (state.ledger.open(), Rc::new(Cell::new(false)));
    let (is_local, address) = (address.is_some_and(|address| address.is_loopback()), address.map(|address| address.to_string()));
    let stream = Stream::new(socket, account.clone(), state.limits.write_timeout, unread.clone());
    let (peer, slot, is_tls) = (stream.peer(), Rc::new(seat), state.tls.is_some());
    let mut client = Client { address, peer, account, unread, slot, is_tls, is_local, speaks_plain: false };
    match &state.tls {
        None => requests(&state, &client, stream).await,
        Some(tls) => match secured(&state, &client.account, tls, stream).await {
            Some(Secured::Tls(stream)) => requests(&state, &client, stream).await,
            Some(Secured::Plain(stream)) => {
                client.speaks_plain = true;
                requests(&state, &client, stream).await;
            }
            None => {}
        },
    }
}

/// How much a client may send before the end of its handshake, in bytes. Longer ones do not occur
/// without certificates of clients.
const HANDSHAKE_BYTES: usize = 32 << 10;

/// How much of an answer may be encrypted ahead of the operating system's taking it, in bytes.
const ENCRYPTED_BYTES: usize = 16 << 10;

/// What came of a handshake.
enum Secured {
    Tls(Box<TlsStream<Stream>>),
    /// The client speaks HTTP without TLS; it gets to know that.
    Plain(Stream),
}

/// Does the handshake. `None` where it fails, takes too long, or the isolate is told to end.
async fn secured(state: &State, account: &Rc<Account>, tls: &TlsAcceptor, mut stream: Stream) -> Option<Secured> {
    // Nobody waits for an answer yet.
    if state.stopping.get() {
        return None;
    }
    account.wait();
    stream.limit_input(account.take(0)?, HANDSHAKE_BYTES);
    let handshake = async {
        if stream.begins_with_letter().await? {
            return Ok(Secured::Plain(stream));
        }
        let stream = tls.accept_with(stream, |session| session.set_buffer_limit(Some(ENCRYPTED_BYTES))).await?;
        Ok::<_, io::Error>(Secured::Tls(Box::new(stream)))
    };
    let outcome = tokio::select! {
        biased;
        outcome = timeout(state.limits.handshake_timeout, handshake) => outcome,
        () = account.closed() => return None,
        () = state.stop.notified() => return None,
    };
    account.waited();
    match outcome {
        Ok(Ok(Secured::Tls(mut stream))) => {
            stream.get_mut().0.lift_limit();
            Some(Secured::Tls(stream))
        }
        Ok(Ok(Secured::Plain(mut stream))) => {
            stream.lift_limit();
            Some(Secured::Plain(stream))
        }
        Ok(Err(error)) => {
            tracing::debug!(%error, "a TLS handshake failed");
            None
        }
        Err(_) => {
            tracing::debug!("a TLS handshake took too long");
            None
        }
    }
}

/// How long a connection without a request stays open when the isolate is told to end: a client
/// that sends one after another sends the next one before it can learn of the end.
const LINGER: Duration = Duration::from_millis(250);

/// Answers the requests of a connection, one after another.
async fn requests(state: &Rc<State>, client: &Client, stream: impl AsyncRead + AsyncWrite + Unpin + 'static) {
    let service = service_fn(|request| answer(state, client, request).map(Ok::<_, Infallible>));
    let mut connection = pin!(state.http.serve_connection(TokioIo::new(stream), service));
    if !state.stopping.get() {
        tokio::select! {
            biased;
            end = connection.as_mut() => return log_end(end),
            () = client.account.closed() => return,
            () = state.stop.notified() => {}
        }
    }
    // A request that is on its way here is answered, and its client learns that it was the last.
    tokio::select! {
        biased;
        end = connection.as_mut() => return log_end(end),
        () = client.account.closed() => return,
        () = sleep(LINGER) => {}
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        biased;
        end = connection => log_end(end),
        () = client.account.closed() => {}
    }
}

/// A connection that ends early is the client's doing; it is logged at debug level only.
fn log_end(end: hyper::Result<()>) {
    if let Err(error) = end {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// What is known of a connection's client.
struct Client {
    address: Option<String>,
    peer: Peer,
    account: Rc<Account>,
    /// Set where a request is left unread.
    unread: Rc<Cell<bool>>,
    slot: Rc<ConnectionSlot>,
    /// The server speaks TLS.
    is_tls: bool,
    /// The client's address is the loopback's.
    is_local: bool,
    /// The client does not speak the server's TLS.
    speaks_plain: bool,
}

/// Why a request's body could not be read.
enum Unreadable {
    Malformed(hyper::Error),
    Full,
}

async fn answer(state: &State, client: &Client, request: hyper::Request<Incoming>) -> hyper::Response<Outgoing> {
    let handler = state.handler.borrow().clone();
    let unread = &*client.unread;
    client.account.speaks();
    if client.speaks_plain {
        return refuse(unread, 400, "this port speaks TLS only; the URL begins with https://");
    }
    let (head, incoming) = request.into_parts();
    client.account.wait();
    // A record that is not whole yet waits, too.
    let buffer = state.limits.head_bytes + if client.is_tls { RECORD_BYTES } else { 0 };
    let outcome = timeout(state.limits.body_timeout, read(incoming, handler.body_limit(), buffer, &client.account)).await;
    client.account.waited();
    let (body, hold) = match outcome {
        Ok(Ok(body)) => body,
        Ok(Err(Unreadable::Malformed(error))) => {
            tracing::debug!(%error, "a request's body could not be read");
            return refuse(unread, 400, "the request's body is malformed");
        }
        Ok(Err(Unreadable::Full)) => {
            tracing::warn!("a request is refused: the connections hold too much data");
            return later(refuse(unread, 503, "the server is busy with too many large requests; send this one again later"));
        }
        Err(_) => return refuse(unread, 408, "the request's body took too long"),
    };
    let too_large = body == Body::TooLarge;
    let cancel = Cancel::with_probe({
        let (peer, is_tls) = (client.peer.clone(), client.is_tls);
        move || peer.is_gone(is_tls)
    });
    let request = Request {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        peer: client.address.clone(),
        headers: head.headers.iter().map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes()))).collect(),
        body,
        deadline_ms: None,
        cancel: cancel.clone(),
        platform_caller: None,
        checks_host: state.limits.checks_host,
        is_tls: client.is_tls,
        is_local: client.is_local,
    };
    let outcome = PendingCall { call: Some(handler.handled(request, hold)), cancel, state, client }.await;
    let mut response = match outcome {
        Ok(response) => into_hyper(response, client, &state.disconnected).unwrap_or_else(|| {
            tracing::warn!("an answer is omitted: the connections hold too much unread data");
            later(json(503, UNREAD))
        }),
        // What panicked is in the log: the panic hook has the place.
        Err(_) => json(500, r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"internal error"}}"#),
    };
    if too_large {
        close(&mut response, unread);
    }
    if state.stopping.get() {
        is_last(&mut response);
    }
    response
}

type HandledCall = Pin<Box<dyn Future<Output = thread::Result<Response>>>>;

/// The longest record of TLS, encrypted and decrypted, in bytes.
const RECORD_BYTES: usize = 34 << 10;

/// A body that is longer and does not come at once takes the connection's buffer, too, in bytes.
const LONG: usize = 8 << 10;

/// Reads a body to its end, or to its limit.
async fn read(mut incoming: Incoming, limit: usize, buffer: usize, account: &Rc<Account>) -> Result<(Body, Option<Hold>), Unreadable> {
    if incoming.is_end_stream() {
        return Ok((Body::Whole(Vec::new()), None));
    }
    // A body that says its length is refused unread, before a client that waits for `100 Continue`
    // sends it.
    if incoming.size_hint().lower() > limit as u64 {
        return Ok((Body::TooLarge, None));
    }
    let mut hold = account.take(0).ok_or(Unreadable::Full)?;
    let mut whole = Vec::new();
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame.map_err(Unreadable::Malformed)?.into_data() else { continue };
        if whole.len() + data.len() > limit {
            return Ok((Body::TooLarge, None));
        }
        account.moved(data.len());
        if whole.is_empty() && incoming.is_end_stream() {
            return if hold.grow(data.len()) { Ok((Body::Whole(data.into()), Some(hold))) } else { Err(Unreadable::Full) };
        }
        // What counts is the memory, which grows in larger steps than the body.
        let capacity = whole.capacity();
        whole.reserve(data.len());
        let crosses = whole.len() < LONG && whole.len() + data.len() >= LONG;
        let buffer = if crosses { buffer } else { 0 };
        if !hold.grow(whole.capacity() - capacity + buffer) {
            return Err(Unreadable::Full);
        }
        whole.extend_from_slice(&data);
    }
    Ok((Body::Whole(whole), Some(hold)))
}

/// `None` where the connections hold too much for another body of that size.
fn into_hyper(response: Response, client: &Client, disconnected: &Rc<DisconnectedCalls>) -> Option<hyper::Response<Outgoing>> {
    let mut converted = hyper::Response::new(Outgoing::new(response.body, &client.account, &client.slot, disconnected)?);
    *converted.status_mut() = status(response.status);
    append(&response.headers, converted.headers_mut());
    Some(converted)
}

fn status(number: u16) -> hyper::StatusCode {
    hyper::StatusCode::from_u16(number).unwrap_or_else(|_| {
        tracing::error!(status = number, "a response has no HTTP status");
        hyper::StatusCode::INTERNAL_SERVER_ERROR
    })
}

fn append(headers: &Headers, map: &mut hyper::HeaderMap) {
    map.reserve(headers.len() + 1);
    for (name, value) in headers.iter() {
        match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
            (Ok(name), Ok(value)) => {
                map.append(name, value);
            }
            _ => tracing::error!(name, "a response's header field is not allowed in HTTP and is omitted"),
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
    is_last(response);
}

/// Has the connection end after this answer, and tells its client so.
fn is_last(response: &mut hyper::Response<Outgoing>) {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}

/// A response after which the same request may succeed.
fn later(mut response: hyper::Response<Outgoing>) -> hyper::Response<Outgoing> {
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// An answer that is not kept: the request was carried out.
const UNREAD: &str = concat!(
    r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"The server holds too many answers that are not read yet. "#,
    r#"This request was carried out, but its answer is omitted. Send it again later, or ask for less.","#,
    r#""data":{"code":"UNREAD_ANSWERS","retryable":false,"carried_out":true}}}"#
);

fn json(number: u16, body: &str) -> hyper::Response<Outgoing> {
    let mut response = hyper::Response::new(Outgoing::short(body.as_bytes().to_vec()));
    *response.status_mut() = status(number);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A call on its way. Dropped before its end, because its client disconnected, it is cancelled and
/// ends without a connection.
struct PendingCall<'a> {
    call: Option<HandledCall>,
    cancel: Cancel,
    state: &'a State,
    client: &'a Client,
}

impl Future for PendingCall<'_> {
    type Output = thread::Result<Response>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(call) = &mut self.call else { return Poll::Pending };
        let outcome = ready!(call.as_mut().poll(context));
        self.call = None;
        Poll::Ready(outcome)
    }
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.cancel.trip();
            self.state.disconnected.finish(&self.client.slot, async {
                // What panicked is in the log. Where the answer is a stream, that ends the call at
                // once.
                if let Ok(Response { body: ResponseBody::Events(events), .. }) = call.await {
                    events.finish().await;
                }
            });
        }
    }
}
