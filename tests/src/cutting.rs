//! Ways to a real server that are cut when it has committed a transaction and its client has not
//! heard of it.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use crate::{
    Exchange,
    local::send,
    scripted::{Reply, Scripted},
};

/// What tells that a transaction was committed.
#[derive(Clone, Copy)]
pub enum Committed {
    /// The server says so in these bytes.
    Said(&'static [u8]),
    /// The server answers after the client has sent nothing but these bytes.
    Asked(&'static [u8]),
}

/// PostgreSQL's `CommandComplete` of `COMMIT`.
pub const POSTGRES: Committed = Committed::Said(b"C\0\0\0\x0bCOMMIT\0");
/// MySQL's command.
pub const MYSQL: Committed = Committed::Asked(b"\x07\0\0\0\x03COMMIT");

/// A way to a server over TCP.
pub struct Cutting {
    /// Where it begins.
    pub port: u16,
    /// How many more commits are cut.
    pub cuts: Arc<AtomicUsize>,
    /// Whether connections are refused after a cut.
    pub closes: Arc<AtomicBool>,
}

/// Makes a way to the server at this port.
///
/// # Panics
/// Where no port can be bound.
#[must_use]
pub fn cutting(server: u16, committed: Committed) -> Cutting {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("{error}"));
    let port = listener.local_addr().unwrap_or_else(|error| panic!("{error}")).port();
    let (cuts, closes, closed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let way = Cutting { port, cuts: Arc::clone(&cuts), closes: Arc::clone(&closes) };
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            if !closes.load(SeqCst) {
                closed.store(false, SeqCst);
            }
            if closed.load(SeqCst) {
                continue;
            }
            let Ok(upstream) = TcpStream::connect(("127.0.0.1", server)) else { continue };
            let (Ok(mut from), Ok(mut to)) = (client.try_clone(), upstream.try_clone()) else { continue };
            let is_asked = Arc::new(AtomicBool::new(false));
            let asked = Arc::clone(&is_asked);
            thread::spawn(move || {
                let mut chunk = [0; 16 << 10];
                while let Ok(count @ 1..) = from.read(&mut chunk) {
                    let sent = &chunk[..count];
                    if matches!(committed, Committed::Asked(command) if sent == command) {
                        asked.store(true, SeqCst);
                    }
                    if to.write_all(sent).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(Shutdown::Write);
            });
            let (cuts, closes, closed) = (Arc::clone(&cuts), Arc::clone(&closes), Arc::clone(&closed));
            thread::spawn(move || {
                let (mut upstream, mut client) = (upstream, client);
                let mut chunk = [0; 16 << 10];
                while let Ok(count @ 1..) = upstream.read(&mut chunk) {
                    let sent = &chunk[..count];
                    let is_commit = match committed {
                        Committed::Said(words) => sent.windows(words.len()).any(|window| window == words),
                        // What comes after the command was sent is its answer.
                        Committed::Asked(_) => is_asked.swap(false, SeqCst),
                    };
                    if is_commit && cuts.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
                        closed.store(closes.load(SeqCst), SeqCst);
                        break;
                    }
                    if client.write_all(sent).is_err() {
                        break;
                    }
                }
                let _ = client.shutdown(Shutdown::Both);
                let _ = upstream.shutdown(Shutdown::Both);
            });
        }
    });
    way
}

/// A way to a libSQL server that breaks after a commit and before its answer, where it is told to,
/// and stays broken until it is told so again. Every other time it breaks as a gateway does, which
/// says that the server is not there.
#[must_use]
pub fn cutting_libsql(port: u16) -> (Scripted, Arc<AtomicBool>) {
    let cuts = Arc::new(AtomicBool::new(false));
    let (is_cutting, is_broken, says_503) = (Arc::clone(&cuts), AtomicBool::new(false), AtomicBool::new(false));
    let proxy = Scripted::start(move |_, request| {
        if !is_cutting.load(SeqCst) {
            is_broken.store(false, SeqCst);
        } else if is_broken.load(SeqCst) {
            return Reply::Raw(b"");
        }
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let path = request.line.split(' ').nth(1).unwrap_or_default().to_owned();
        let answer = send(port, &Exchange { method: "POST".to_owned(), path, headers, body: request.body.clone() });
        if is_cutting.load(SeqCst) && request.body.contains("\"COMMIT\"") {
            is_broken.store(true, SeqCst);
            return if says_503.fetch_not(SeqCst) { Reply::Whole(503, "text/html", String::new()) } else { Reply::Raw(b"") };
        }
        let (_, body) = answer.split_once("\n\n").unwrap_or_default();
        Reply::Whole(200, "application/json", body.to_owned())
    });
    (proxy, cuts)
}
