//! The [Runtime API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html) of one
//! function, on a port of this machine.

use std::{
    collections::{HashMap, VecDeque},
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// One invocation, to be asked for.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Its payload.
    pub event: Vec<u8>,
    /// How long it may take.
    pub time: Duration,
}

/// What the function made of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// `/response` with its whole length known.
    Response(Vec<u8>),
    /// `/response` in chunks with `Lambda-Runtime-Function-Response-Mode: streaming`: what came
    /// with each, and the content type.
    Stream(Vec<Vec<u8>>, String),
    /// `/error`
    Error(String),
}

/// A Runtime API; its threads end with the process that asks it.
pub struct RuntimeApi {
    state: Arc<State>,
    port: u16,
}

#[derive(Default)]
struct State {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    queued: VecDeque<(String, Invocation)>,
    waiting: HashMap<String, mpsc::Sender<Outcome>>,
    count: usize,
    asked: usize,
    init_error: Option<String>,
    watchers: Vec<mpsc::Sender<Vec<u8>>>,
    breaks_at: Option<String>,
}

impl RuntimeApi {
    /// Listens on a free port.
    ///
    /// # Panics
    /// Where there is none.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("{error}"));
        let port = listener.local_addr().unwrap_or_else(|error| panic!("{error}")).port();
        let state = Arc::new(State::default());
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                // A connection ends when the function does.
                thread::spawn(move || serve(&state, stream));
            }
        });
        Self { state, port }
    }

    /// `127.0.0.1:PORT`, as Lambda puts it into `AWS_LAMBDA_RUNTIME_API`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Queues an invocation.
    pub fn queue(&self, invocation: Invocation) -> mpsc::Receiver<Outcome> {
        let (sender, receiver) = mpsc::channel();
        let mut inner = self.state.lock();
        inner.count += 1;
        let id = format!("00000000-0000-4000-8000-{:012}", inner.count);
        inner.waiting.insert(id.clone(), sender);
        inner.queued.push_back((id, invocation));
        drop(inner);
        self.state.changed.notify_all();
        receiver
    }

    /// Waits until the function has asked for its `count`-th invocation.
    ///
    /// # Panics
    /// Where that takes longer than a minute.
    pub fn wait_for_next(&self, count: usize) {
        let inner = self.state.lock();
        let waited = self.state.changed.wait_timeout_while(inner, Duration::from_secs(60), |inner| inner.asked < count);
        let (inner, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "the function asked for {} invocations, not for {count}; {:?}", inner.asked, inner.init_error);
    }

    /// How often the function asked for an invocation.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.state.lock().asked
    }

    /// The chunks of streamed answers from now on, each when it comes.
    #[must_use]
    pub fn chunks(&self) -> mpsc::Receiver<Vec<u8>> {
        let (sender, receiver) = mpsc::channel();
        self.state.lock().watchers.push(sender);
        receiver
    }

    /// Has the connection break that brings a chunk with this text.
    pub fn break_at(&self, text: &str) {
        self.state.lock().breaks_at = Some(text.to_owned());
    }

    /// Waits for the error with which the function could not start.
    ///
    /// # Panics
    /// Where there is none within a minute.
    #[must_use]
    pub fn init_error(&self) -> String {
        let inner = self.state.lock();
        let waited = self.state.changed.wait_timeout_while(inner, Duration::from_secs(60), |inner| inner.init_error.is_none());
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.init_error.take().unwrap_or_else(|| panic!("the function tells no error"))
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> (String, Invocation) {
        let mut inner = self.lock();
        inner.asked += 1;
        self.changed.notify_all();
        loop {
            if let Some(next) = inner.queued.pop_front() {
                return next;
            }
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says whether the connection goes on.
    fn tell(&self, chunk: &[u8]) -> bool {
        let mut inner = self.lock();
        inner.watchers.retain(|watcher| watcher.send(chunk.to_vec()).is_ok());
        let text = String::from_utf8_lossy(chunk);
        inner.breaks_at.take_if(|part| text.contains(part.as_str())).is_none()
    }

    fn settle(&self, id: &str, outcome: Outcome) -> bool {
        let waiting = self.lock().waiting.remove(id);
        waiting.is_some_and(|waiting| waiting.send(outcome).is_ok())
    }
}

struct Message {
    first: String,
    headers: HashMap<String, String>,
    chunks: Vec<Vec<u8>>,
}

impl Message {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.chunks.concat()).into_owned()
    }
}

fn serve(state: &State, mut stream: TcpStream) {
    let Ok(reader) = stream.try_clone() else { return };
    let mut reader = BufReader::new(reader);
    while let Some(message) = read(&mut reader, &|chunk| state.tell(chunk)) {
        let path = message.first.split(' ').nth(1).unwrap_or_default().to_owned();
        let Some(path) = path.strip_prefix("/2018-06-01/runtime/") else { return };
        let answer = match path.split('/').collect::<Vec<_>>()[..] {
            ["invocation", "next"] => {
                let (id, Invocation { event, time }) = state.next();
                let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + time;
                let head = format!(
                    "HTTP/1.1 200 OK\r\nlambda-runtime-aws-request-id: {id}\r\nlambda-runtime-deadline-ms: {}\r\nlambda-runtime-invoked-function-arn: \
                     arn:aws:lambda:eu-central-1:123456789012:function:millrace\r\nlambda-runtime-trace-id: \
                     Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                    end.as_millis(),
                    event.len()
                );
                [head.into_bytes(), event].concat()
            }
            ["invocation", id, "response"] => {
                let is_stream = message.headers.get("lambda-runtime-function-response-mode").is_some_and(|mode| mode == "streaming");
                let kind = message.headers.get("content-type").cloned().unwrap_or_default();
                let outcome = if is_stream { Outcome::Stream(message.chunks, kind) } else { Outcome::Response(message.chunks.concat()) };
                accepted(state.settle(id, outcome))
            }
            ["invocation", id, "error"] => accepted(state.settle(id, Outcome::Error(message.text()))),
            ["init", "error"] => {
                state.lock().init_error = Some(message.text());
                state.changed.notify_all();
                accepted(true)
            }
            _ => accepted(false),
        };
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

fn accepted(good: bool) -> Vec<u8> {
    let (status, body) = if good { ("202 Accepted", "{\"status\":\"OK\"}") } else { ("400 Bad Request", "{}") };
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Reads one request; `None` at the end of the connection. `told` gets each chunk of a body that
/// comes in chunks, and may end it.
fn read(reader: &mut BufReader<TcpStream>, told: &dyn Fn(&[u8]) -> bool) -> Option<Message> {
    let first = line(reader).filter(|line| !line.is_empty())?;
    let mut headers = HashMap::new();
    while let Some(line) = line(reader).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let mut chunks = Vec::new();
    if headers.get("transfer-encoding").is_some_and(|encoding| encoding == "chunked") {
        loop {
            let length = usize::from_str_radix(line(reader)?.split(';').next()?, 16).ok()?;
            if length == 0 {
                break;
            }
            let chunk = exactly(reader, length)?;
            if !told(&chunk) {
                return None;
            }
            chunks.push(chunk);
            line(reader)?;
        }
        // Trailers.
        while !line(reader)?.is_empty() {}
    } else if let Some(length) = headers.get("content-length").and_then(|length| length.parse().ok()) {
        chunks.push(exactly(reader, length)?);
    }
    Some(Message { first, headers, chunks })
}

fn line(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    Some(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn exactly(reader: &mut BufReader<TcpStream>, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).ok()?;
    Some(bytes)
}
