//! An HTTP server that does what a test says: good answers, broken ones, and none.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// `POST /v3/pipeline HTTP/1.1`
    pub line: String,
    /// The header fields as they came, one a line.
    pub head: String,
    /// The body.
    pub body: String,
}

/// What to do with a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A whole answer: status, content type, body.
    Whole(u16, &'static str, String),
    /// A whole answer with header fields, one a line: status, fields, body.
    Fields(u16, String, String),
    /// The answer with a body that breaks off after so many bytes.
    Broken(String, usize),
    /// These bytes, then the end of the connection.
    Raw(&'static [u8]),
    /// The answer with a body of which so many bytes come, and then nothing until the client goes
    /// away.
    Stalled(String, usize),
    /// Nothing until the client goes away.
    Silence,
}

/// Answers that a test changes while the server runs: one after the other, the last one again and
/// again.
#[derive(Clone, Default)]
pub struct Script(Arc<Mutex<Vec<Reply>>>);

impl Script {
    /// Sets the answers.
    pub fn set(&self, replies: &[Reply]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = replies.iter().rev().cloned().collect();
    }

    /// The next answer.
    #[must_use]
    pub fn next(&self) -> Reply {
        let mut replies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if replies.len() > 1 { replies.pop() } else { replies.last().cloned() }.unwrap_or(Reply::Silence)
    }
}

/// A server on a port that the operating system chose. It listens until the process ends.
pub struct Scripted {
    /// `127.0.0.1:PORT`
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    left: Arc<AtomicUsize>,
}

impl Scripted {
    /// Starts a server that asks `reply` about each request, whose number counts from 0.
    ///
    /// # Panics
    /// Where no port can be bound.
    #[must_use]
    pub fn start(reply: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("{error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("{error}"));
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        let left = Arc::new(AtomicUsize::new(0));
        let gone = Arc::clone(&left);
        let reply = Arc::new(reply);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, reply, gone) = (Arc::clone(&log), Arc::clone(&reply), Arc::clone(&gone));
                // A client that goes away is no failure of the server.
                thread::spawn(move || {
                    if let Ok(true) = serve(stream, &log, &*reply) {
                        gone.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        Self { address, received, left }
    }

    /// Starts a server that gives these answers, and then the last one again and again.
    #[must_use]
    pub fn with(replies: Vec<Reply>) -> Self {
        let script = Script::default();
        script.set(&replies);
        Self::by(&script)
    }

    /// Starts a server that answers by a script.
    #[must_use]
    pub fn by(script: &Script) -> Self {
        let script = script.clone();
        Self::start(move |_, _| script.next())
    }

    /// How many clients went away while they waited.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.load(Ordering::SeqCst)
    }

    /// What was asked so far.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.received_after(0)
    }

    /// The same without the first `count`.
    #[must_use]
    pub fn received_after(&self, count: usize) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).iter().skip(count).cloned().collect()
    }

    /// How many requests came so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Whether the client went away while it waited.
fn serve(
    stream: TcpStream,
    log: &Mutex<Vec<Received>>,
    reply: &(dyn Fn(usize, &Received) -> Reply + Send + Sync),
) -> std::io::Result<bool> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut field = String::new();
        if reader.read_line(&mut field)? <= 2 {
            break;
        }
        if let Some(value) = field.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&field);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request = Received { line: line.trim().to_owned(), head, body: String::from_utf8_lossy(&body).into_owned() };
    let number = {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(request.clone());
        log.len() - 1
    };
    let mut stream = stream;
    match reply(number, &request) {
        Reply::Whole(status, content_type, body) => write!(
            stream,
            "HTTP/1.1 {status} Status\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )?,
        Reply::Fields(status, fields, body) => {
            let fields: String = fields.lines().map(|line| format!("{line}\r\n")).collect();
            let length = body.len();
            write!(stream, "HTTP/1.1 {status} Status\r\n{fields}content-length: {length}\r\nconnection: close\r\n\r\n{body}")?;
        }
        Reply::Broken(body, kept) => begin(&mut stream, &body, kept)?,
        Reply::Raw(bytes) => stream.write_all(bytes)?,
        Reply::Stalled(body, kept) => {
            begin(&mut stream, &body, kept)?;
            return Ok(is_left(&mut reader));
        }
        Reply::Silence => return Ok(is_left(&mut reader)),
    }
    Ok(false)
}

fn begin(stream: &mut TcpStream, body: &str, kept: usize) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len())?;
    stream.write_all(&body.as_bytes()[..kept])
}

/// Waits until the client closes or resets the connection.
fn is_left(reader: &mut impl Read) -> bool {
    drop(reader.read_to_end(&mut Vec::new()));
    true
}
