//! One socket, several isolates: connections come in, and each goes to the isolate that has the
//! fewest.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
};

use crate::{
    connection_slot::ConnectionSlot,
    http::{Handler, Job, Limits, MakeHandler, serve},
    isolate::Isolate,
    server_tls::ServerTls,
};

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 4096;

/// The pause after the operating system refused a connection, for want of file descriptors for
/// example.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A listening socket and the isolates behind it.
pub struct Server<H> {
    listener: TcpListener,
    address: SocketAddr,
    seats: Arc<Semaphore>,
    isolates: Vec<IsolateThread<H>>,
}

/// Exchanges the handlers of a running server.
pub struct Replacer<H> {
    jobs: Vec<mpsc::UnboundedSender<Job<H>>>,
}

struct IsolateThread<H> {
    isolate: Isolate<Job<H>>,
    jobs: mpsc::UnboundedSender<Job<H>>,
    connections: Arc<AtomicUsize>,
}

/// A listening socket; port 0 is any free port. Has to be called within a tokio runtime.
///
/// # Errors
/// The address cannot be bound.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv6() { TcpSocket::new_v6()? } else { TcpSocket::new_v4()? };
    // A restarted server need not wait for the connections of the one before. Elsewhere the flag
    // means something else.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl<H: Handler> Server<H> {
    /// Starts one isolate for each of `makes` behind a socket, such as one of [`bind`].
    /// Connections wait until [`run`](Self::run). With `tls`, they begin with a handshake. Has to
    /// be called within a tokio runtime.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(listener: TcpListener, makes: Vec<MakeHandler<H>>, limits: &Limits, tls: Option<&ServerTls>) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let seats = Arc::new(Semaphore::new(limits.connections.saturating_mul(makes.len()).clamp(1, Semaphore::MAX_PERMITS)));
        raise_descriptor_limit();
        let isolates = makes
            .into_iter()
            .enumerate()
            .map(|(index, make)| {
                let (limits, tls) = (limits.clone(), tls.cloned());
                let isolate = Isolate::spawn(&format!("isolate-{index}"), move |jobs| serve(jobs, make, limits, tls))?;
                Ok(IsolateThread { jobs: isolate.jobs(), isolate, connections: Arc::default() })
            })
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self { listener, address, seats, isolates })
    }

    /// The address that is bound.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What exchanges the handlers while the server runs.
    #[must_use]
    pub fn replacer(&self) -> Replacer<H> {
        Replacer { jobs: self.isolates.iter().map(|member| member.jobs.clone()).collect() }
    }

    /// Accepts connections until `stop` resolves; then calls in flight finish, within the grace of
    /// the limits.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { listener, seats, isolates, .. } = self;
        tokio::select! {
            biased;
            () = stop => {}
            () = accept(&listener, &seats, &isolates) => {}
        }
        // From now on nobody is let in, and waiting connections are told so.
        drop(listener);
        for member in &isolates {
            drop(member.jobs.send(Job::Stop));
        }
        for member in isolates {
            drop(member.jobs);
            member.isolate.ended().await;
        }
    }
}

impl<H: Handler> Replacer<H> {
    /// Has requests from now on answered by new handlers, one for each isolate: `make` is asked for
    /// as many. Requests in flight finish with theirs.
    pub fn replace(&self, mut make: impl FnMut() -> MakeHandler<H>) {
        for jobs in &self.jobs {
            // An isolate that has ended serves nobody.
            drop(jobs.send(Job::Replace(make())));
        }
    }
}

async fn accept<H: Handler>(listener: &TcpListener, seats: &Arc<Semaphore>, isolates: &[IsolateThread<H>]) {
    let mut turn = 0;
    // The semaphore is never closed.
    while let Ok(permit) = seats.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((socket, _)) => {
                turn += 1;
                hand_over(socket, permit, isolates, turn);
            }
            Err(error) if is_clients(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "the operating system refuses connections");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Gives a connection to the isolate with the fewest; those with as many take turns.
fn hand_over<H: Handler>(socket: TcpStream, permit: OwnedSemaphorePermit, isolates: &[IsolateThread<H>], turn: usize) {
    let rotated = isolates.iter().cycle().skip(turn % isolates.len().max(1)).take(isolates.len());
    let Some(member) = rotated.min_by_key(|member| member.connections.load(Ordering::Relaxed)) else { return };
    let seat = ConnectionSlot::take(&member.connections, permit);
    // Answers are small and whole: waiting for more to send would only delay them.
    match socket.set_nodelay(true).and_then(|()| socket.into_std()) {
        Ok(socket) => {
            if member.jobs.send(Job::Connection(socket, seat)).is_err() {
                tracing::error!("an isolate has ended; a connection is closed");
            }
        }
        Err(error) => tracing::debug!(%error, "a client disconnected before it was served"),
    }
}

pub(crate) fn is_clients(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted)
}

/// A connection is a file descriptor, and many systems allow a process 1024 of them until it asks
/// for more.
pub(crate) fn raise_descriptor_limit() {
    if let Err(error) = rlimit::increase_nofile_limit(65_536) {
        tracing::debug!(%error, "the limit of open files cannot be raised");
    }
}
