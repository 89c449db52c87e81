//! The server with a handler of the tests' own: limits, hang-ups, panics, replacement, shutdown.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end where it fails, and one panics on purpose")]

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use millrace_core::{
    headers::Headers,
    protocol::{Body, Request, Response},
};
#[cfg(unix)]
use millrace_native::{
    board::{Board, BoardSlot},
    isolate::{self, Order},
    shared_listener,
};
use millrace_native::{
    http::{Handler, Limits, MakeHandler},
    listener::{Replacer, Server, bind},
    server_tls::ServerTls,
};
use tokio::sync::{Semaphore, oneshot};

/// Answers by path: `/echo` the body, `/panic` with a panic, `/gate` when the gate is opened, also
/// to a client that disconnected, `/large` with [`LARGE`] bytes, anything else its name.
struct Plain {
    name: &'static str,
    gate: Arc<Gate>,
}

/// More than the operating system takes of an answer that nobody reads.
const LARGE: usize = 16 << 20;

struct Gate {
    arrived: Semaphore,
    open: Semaphore,
    hangups: Semaphore,
    /// How many calls of `/gate` came to their end, and how many were dropped.
    ended: Semaphore,
    dropped: Semaphore,
}

/// Tells what becomes of a call.
struct CallGuard(Arc<Gate>, bool);

impl Drop for CallGuard {
    fn drop(&mut self) {
        let Self(gate, has_ended) = self;
        if *has_ended { &gate.ended } else { &gate.dropped }.add_permits(1);
    }
}

impl Handler for Plain {
    fn body_limit(&self) -> usize {
        1000
    }

    async fn handle(&self, request: Request) -> Response {
        let Body::Whole(body) = request.body else { return response(413, b"too large") };
        match request.path.as_str() {
            "/echo" => response(200, &body),
            "/peer" => response(200, request.peer.unwrap_or_default().as_bytes()),
            "/panic" => panic!("on purpose"),
            "/large" => {
                self.gate.arrived.add_permits(1);
                response(200, &vec![b'x'; LARGE])
            }
            "/gate" => {
                let gate = self.gate.clone();
                let watch = (gate.clone(), request.cancel.clone());
                tokio::task::spawn_local(async move {
                    watch.1.tripped().await;
                    watch.0.hangups.add_permits(1);
                });
                let mut guard = CallGuard(gate.clone(), false);
                gate.arrived.add_permits(1);
                gate.open.acquire().await.unwrap().forget();
                guard.1 = true;
                response(200, self.name.as_bytes())
            }
            _ => response(200, self.name.as_bytes()),
        }
    }
}

fn response(status: u16, body: &[u8]) -> Response {
    Response { status, headers: [("Content-Type", "text/plain")].into_iter().collect::<Headers>(), body: body.to_vec().into() }
}

pub(crate) struct Running {
    address: SocketAddr,
    gate: Arc<Gate>,
    replacer: Replacer<Plain>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

fn start(isolates: usize, limits: Limits) -> Running {
    start_with(isolates, limits, None)
}

pub(crate) fn start_with(isolates: usize, limits: Limits, tls: Option<ServerTls>) -> Running {
    let none = || Semaphore::new(0);
    let gate = Arc::new(Gate { arrived: none(), open: none(), hangups: none(), ended: none(), dropped: none() });
    let (sender, receiver) = mpsc::channel();
    let (stop, stopped) = oneshot::channel();
    let of_thread = gate.clone();
    let thread = thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async move {
            let makes = (0..isolates).map(|_| make("first", &of_thread)).collect();
            let server = Server::start(bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap(), makes, &limits, tls.as_ref()).unwrap();
            sender.send((server.address(), server.replacer())).unwrap();
            server.run(async { drop(stopped.await) }).await;
        });
    });
    let (address, replacer) = receiver.recv().unwrap();
    Running { address, gate, replacer, stop: Some(stop), thread: Some(thread) }
}

fn make(name: &'static str, gate: &Arc<Gate>) -> MakeHandler<Plain> {
    let gate = gate.clone();
    Box::new(move |_| Plain { name, gate })
}

impl Running {
    pub(crate) fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address).unwrap();
        // Nothing here waits for time; this only ends a test that would hang.
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        socket
    }

    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        self.gate.open.add_permits(10_000);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn wait(semaphore: &Semaphore, count: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(semaphore.acquire_many(count)).unwrap().forget();
}

fn get(socket: &mut TcpStream, path: &str) -> (u16, String) {
    write!(socket, "GET {path} HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    answer(socket)
}

/// Reads one response with a `content-length`.
fn answer(socket: &mut TcpStream) -> (u16, String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    socket.read_exact(&mut body).unwrap();
    (status, String::from_utf8(body).unwrap())
}

fn rest(socket: &mut TcpStream) -> String {
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn one_connection_carries_many_requests() {
    let server = start(2, Limits::default());
    let mut socket = server.connect();
    for number in 0..20 {
        let body = format!("body {number}");
        write!(socket, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        assert_eq!(answer(&mut socket), (200, body));
    }
    socket.write_all(b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n").unwrap();
    assert_eq!(answer(&mut socket), (200, "abcde".into()));
    assert_eq!(get(&mut socket, "/"), (200, "first".into()));
    assert_eq!(get(&mut socket, "/peer"), (200, "127.0.0.1".into()));
}

#[test]
fn a_body_of_the_limit_passes_and_a_longer_one_is_refused_however_it_comes() {
    let server = start(1, Limits::default());
    let mut socket = server.connect();
    write!(socket, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 1000\r\n\r\n{}", "x".repeat(1000)).unwrap();
    assert_eq!(answer(&mut socket), (200, "x".repeat(1000)));

    // Sent whole, so that bytes lie unread where the response is written.
    let mut socket = server.connect();
    write!(socket, "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 300000\r\n\r\n{}", "x".repeat(300_000)).unwrap();
    let text = rest(&mut socket);
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
    assert!(text.contains("connection: close"), "{text}");
    assert!(text.ends_with("too large"), "{text}");

    // Without a length.
    let mut socket = server.connect();
    socket.write_all(b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
    for _ in 0..3 {
        write!(socket, "190\r\n{}\r\n", "x".repeat(400)).unwrap();
    }
    assert!(rest(&mut socket).starts_with("HTTP/1.1 413 "));

    // A client that asks first is refused before it sends, and one within the limit is told to go
    // on.
    let mut socket = server.connect();
    socket.write_all(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n").unwrap();
    assert_eq!(answer(&mut socket).0, 413);
    let mut socket = server.connect();
    socket.write_all(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n").unwrap();
    assert_eq!(answer(&mut socket).0, 100);
    socket.write_all(b"ok").unwrap();
    assert_eq!(answer(&mut socket), (200, "ok".into()));
}

#[test]
fn heads_are_bounded_and_malformed_requests_end_nothing_else() {
    let server = start(1, Limits::default());
    let mut socket = server.connect();
    write!(socket, "GET / HTTP/1.1\r\nHost: test\r\nX-Long: {}\r\n\r\n", "x".repeat(60_000)).unwrap();
    assert_eq!(answer(&mut socket).0, 431);
    for garbage in ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "POST /echo HTTP/1.1\r\nContent-Length: x\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
        let mut socket = server.connect();
        socket.write_all(garbage.as_bytes()).unwrap();
        assert!(rest(&mut socket).starts_with("HTTP/1.1 400 "), "{garbage:?}");
    }
    let mut socket = server.connect();
    socket.write_all(b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").unwrap();
    assert!(rest(&mut socket).starts_with("HTTP/1.1 400 "));
    assert_eq!(get(&mut server.connect(), "/").0, 200);
}

#[test]
fn slow_clients_are_let_go() {
    let server = start(1, Limits { head_timeout: Duration::from_millis(50), ..Limits::default() });
    let mut slow_head = server.connect();
    slow_head.write_all(b"GET / HTTP/1.1\r\nHos").unwrap();
    assert_eq!(rest(&mut slow_head), "");
    let server = start(1, Limits { body_timeout: Duration::from_millis(50), ..Limits::default() });
    let mut slow_body = server.connect();
    slow_body.write_all(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nabc").unwrap();
    assert_eq!(answer(&mut slow_body).0, 408);
}

/// Waits until the server has reset a connection.
pub(crate) fn wait_for_reset(socket: &TcpStream) {
    let begun = Instant::now();
    while socket.take_error().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the connection stays open");
        thread::sleep(Duration::from_millis(5));
    }
}

const ASK_LARGE: &[u8] = b"GET /large HTTP/1.1\r\nHost: test\r\n\r\n";

#[test]
fn a_client_that_does_not_read_is_let_go_and_one_that_reads_slowly_is_not() {
    let server = start(1, Limits { write_timeout: Duration::from_secs(2), ..Limits::default() });
    let mut deaf = server.connect();
    deaf.write_all(ASK_LARGE).unwrap();
    let mut slow = server.connect();
    slow.write_all(ASK_LARGE).unwrap();
    let (mut taken, mut part, mut outlasted) = (0, vec![0; LARGE / 1024], None);
    while taken < LARGE {
        let count = slow.read(&mut part).unwrap();
        assert!(count > 0, "closed after {taken} bytes");
        taken += count;
        // It reads a little at a time for as long as the other one is waited for, which is longer
        // than the time for a write.
        if outlasted.is_none() && deaf.take_error().unwrap().is_some() {
            (part, outlasted) = (vec![0; LARGE], Some(taken));
        } else if outlasted.is_none() {
            thread::sleep(Duration::from_millis(5));
        }
    }
    assert!(outlasted.is_some_and(|taken| taken < LARGE), "the one that reads was done before the other one was let go: {outlasted:?}");
    assert_eq!(get(&mut server.connect(), "/"), (200, "first".into()));
}

#[test]
fn requests_of_one_connection_are_not_answered_ahead() {
    let server = start(1, Limits { write_timeout: Duration::from_millis(300), ..Limits::default() });
    let mut deaf = server.connect();
    deaf.write_all(&ASK_LARGE.repeat(50)).unwrap();
    wait_for_reset(&deaf);
    assert_eq!(server.gate.arrived.available_permits(), 1);
    // One that reads gets them all.
    let mut socket = server.connect();
    socket.write_all(&ASK_LARGE.repeat(3)).unwrap();
    for _ in 0..3 {
        assert_eq!(answer(&mut socket).1.len(), LARGE);
    }
}

#[test]
fn whoever_keeps_answers_unread_makes_room_for_others() {
    let server = start(1, Limits { held_bytes: 4 * LARGE, ..Limits::default() });
    let mut deaf: Vec<TcpStream> = (0..10).map(|_| server.connect()).collect();
    for socket in &mut deaf {
        socket.write_all(ASK_LARGE).unwrap();
    }
    wait(&server.gate.arrived, 10);
    // Small answers pass at any time; a large one may be refused until the deaf have had their
    // grace.
    let begun = Instant::now();
    let mut socket = server.connect();
    loop {
        assert_eq!(get(&mut socket, "/").0, 200);
        match get(&mut socket, "/large") {
            (200, body) => break assert_eq!(body.len(), LARGE),
            (status, body) => assert!(status == 503 && body.contains("UNREAD_ANSWERS"), "{status} {body}"),
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "there is never room");
    }
    // The ten hold, or would hold, more than half of what is allowed: some of them are closed, long
    // before the time for a write.
    let is_closed = |socket: &TcpStream| socket.take_error().unwrap().is_some();
    let mut closed = 0;
    while closed < 1 {
        closed += deaf.iter().filter(|socket| is_closed(socket)).count();
        assert!(begun.elapsed() < Duration::from_secs(25), "nobody is closed");
    }
}

#[test]
fn a_thousand_connections_are_served_at_once() {
    let server = start(1, Limits::default());
    let mut sockets: Vec<_> = (0..1000).map(|_| server.connect()).collect();
    for socket in &mut sockets {
        socket.write_all(b"GET /gate HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    }
    wait(&server.gate.arrived, 1000);
    server.gate.open.add_permits(1000);
    for socket in &mut sockets {
        assert_eq!(answer(socket), (200, "first".into()));
    }
}

#[test]
fn connections_beyond_the_limit_wait_for_a_seat() {
    let server = start(1, Limits { connections: 1, ..Limits::default() });
    let mut first = server.connect();
    assert_eq!(get(&mut first, "/").0, 200);
    let mut second = server.connect();
    second.write_all(b"GET /gate HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    assert_eq!(get(&mut first, "/").0, 200);
    assert_eq!(server.gate.arrived.available_permits(), 0);
    drop(first);
    server.gate.open.add_permits(1);
    assert_eq!(answer(&mut second).0, 200);
}

#[cfg(unix)]
#[test]
fn whoever_sends_no_request_makes_room_for_others() {
    let none = || Semaphore::new(0);
    let gate = Arc::new(Gate { arrived: none(), open: none(), hangups: none(), ended: none(), dropped: none() });
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let limits = Limits { connections: 2, head_timeout: Duration::from_secs(300), ..Limits::default() };
    let (orders, of_isolate) = tokio::sync::mpsc::unbounded_channel();
    let isolate = thread::spawn(move || {
        let place = BoardSlot::new(Board::new(tempfile::tempfile().unwrap(), 1), 0);
        isolate::run(move || shared_listener::serve(listener, place, make("first", &gate), limits, None, of_isolate)).unwrap().unwrap();
    });
    let connect = || {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        socket
    };
    let mut served = connect();
    assert_eq!(get(&mut served, "/").0, 200);
    let mut slow = connect();
    slow.write_all(b"GET / HTTP/1.1\r\nHos").unwrap();
    assert_eq!(get(&mut connect(), "/").0, 200);
    wait_for_reset(&slow);
    assert_eq!(get(&mut served, "/").0, 200, "one that was answered stays");
    drop(orders.send(Order::Stop));
    isolate.join().unwrap();
}

#[test]
fn isolates_share_the_connections() {
    let server = start(2, Limits { connections: 8, ..Limits::default() });
    // Sixteen seats, eight an isolate: all of them can only be taken where both isolates take their
    // share.
    let mut sockets: Vec<_> = (0..16).map(|_| server.connect()).collect();
    for socket in &mut sockets {
        assert_eq!(get(socket, "/").0, 200);
    }
}

#[test]
fn a_client_that_goes_away_cancels_its_request() {
    let server = start(1, Limits::default());
    let mut socket = server.connect();
    socket.write_all(b"GET /gate HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    wait(&server.gate.arrived, 1);
    drop(socket);
    wait(&server.gate.hangups, 1);
    // The one that stays is answered, and is no hang-up.
    let mut socket = server.connect();
    server.gate.open.add_permits(2);
    assert_eq!(get(&mut socket, "/gate").0, 200);
    assert_eq!(server.gate.hangups.available_permits(), 0);
}

/// Sends a request for the gate, and disconnects once it is at work.
fn disconnect_at_the_gate(server: &Running) {
    let mut socket = server.connect();
    socket.write_all(b"GET /gate HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    wait(&server.gate.arrived, 1);
    drop(socket);
    wait(&server.gate.hangups, 1);
}

#[test]
fn a_call_whose_client_disconnects_comes_to_its_end_and_gives_its_slot_back_at_once() {
    let mut server = start(1, Limits { connections: 1, disconnected_calls: 2, ..Limits::default() });
    // Each could not connect if the one before still had its slot.
    disconnect_at_the_gate(&server);
    disconnect_at_the_gate(&server);
    assert_eq!(get(&mut server.connect(), "/"), (200, "first".into()));
    // There is one more than may be at work without a slot.
    disconnect_at_the_gate(&server);
    let mut waits = server.connect();
    waits.write_all(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    waits.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(waits.peek(&mut [0]).is_err(), "a disconnected call beyond the limit keeps its slot");
    waits.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    server.gate.open.add_permits(2);
    wait(&server.gate.ended, 2);
    server.gate.open.add_permits(1);
    assert_eq!(answer(&mut waits), (200, "first".into()));
    wait(&server.gate.ended, 1);
    assert_eq!(server.gate.dropped.available_permits(), 0);
    // The end of the isolate waits for them, too.
    drop(waits);
    disconnect_at_the_gate(&server);
    server.stop();
    server.gate.open.add_permits(1);
    server.thread.take().unwrap().join().unwrap();
    wait(&server.gate.ended, 1);
}

#[test]
fn a_disconnected_call_that_does_not_end_is_dropped() {
    let server = start(1, Limits { disconnected_time: Duration::from_millis(50), ..Limits::default() });
    disconnect_at_the_gate(&server);
    wait(&server.gate.dropped, 1);
    assert_eq!(server.gate.ended.available_permits(), 0);
    assert_eq!(get(&mut server.connect(), "/"), (200, "first".into()));
}

#[test]
fn a_panic_is_one_internal_error_and_the_connection_goes_on() {
    let server = start(1, Limits::default());
    let mut socket = server.connect();
    for _ in 0..3 {
        let (status, body) = get(&mut socket, "/panic");
        assert_eq!((status, body.contains(r#""code":-32603"#)), (500, true), "{body}");
        assert!(!body.contains("on purpose"));
        assert_eq!(get(&mut socket, "/"), (200, "first".into()));
    }
}

#[test]
fn a_new_handler_answers_new_requests_and_the_old_one_ends_its_own() {
    let server = start(2, Limits::default());
    let mut before = server.connect();
    before.write_all(b"GET /gate HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    wait(&server.gate.arrived, 1);
    server.replacer.replace(|| make("second", &server.gate));
    // Jobs of an isolate are taken in order: a connection that comes after the replacement meets
    // the new handler.
    for _ in 0..4 {
        assert_eq!(get(&mut server.connect(), "/"), (200, "second".into()));
    }
    server.replacer.replace(|| Box::new(|_| panic!("on purpose")));
    assert_eq!(get(&mut server.connect(), "/"), (200, "second".into()));
    server.gate.open.add_permits(1);
    assert_eq!(answer(&mut before), (200, "first".into()));
    assert_eq!(get(&mut before, "/"), (200, "second".into()));
}

#[test]
fn calls_in_flight_finish_when_the_server_stops() {
    let mut server = start(2, Limits::default());
    let mut idle = server.connect();
    assert_eq!(get(&mut idle, "/").0, 200);
    let mut busy = server.connect();
    busy.write_all(b"GET /gate HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    wait(&server.gate.arrived, 1);
    server.stop();
    assert_eq!(rest(&mut idle), "");
    server.gate.open.add_permits(1);
    assert_eq!(answer(&mut busy), (200, "first".into()));
    assert_eq!(rest(&mut busy), "");
    server.thread.take().unwrap().join().unwrap();
    assert!(TcpStream::connect(server.address).is_err());
}

#[test]
fn a_call_that_does_not_end_is_cut_off_after_the_grace() {
    let mut server = start(1, Limits { grace: Duration::from_millis(50), ..Limits::default() });
    let mut busy = server.connect();
    busy.write_all(b"GET /gate HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    wait(&server.gate.arrived, 1);
    server.stop();
    server.thread.take().unwrap().join().unwrap();
    let mut text = String::new();
    drop(busy.read_to_string(&mut text));
    assert_eq!(text, "");
}

#[test]
fn an_address_in_use_is_an_error() {
    let server = start(1, Limits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime.block_on(async { bind(server.address).err() });
    assert_eq!(error.unwrap().kind(), std::io::ErrorKind::AddrInUse);
}
