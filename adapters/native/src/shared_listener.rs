//! One socket, several processes: each has one isolate, which accepts by itself.
//!
//! An isolate that is stuck accepts nothing, so every new connection goes to another one; nothing
//! of it waits in a queue of its own, as it would with `SO_REUSEPORT`. Connections go to the
//! isolate that has the fewest: one that has more than another gives the others a moment first.

use std::{
    io,
    net::{TcpListener, TcpStream},
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::{
    io::Interest,
    net::TcpStream as AsyncTcpStream,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::spawn_local,
    time::{MissedTickBehavior, interval, sleep, timeout},
};

use crate::{
    board::BoardSlot,
    connection_slot::ConnectionSlot,
    http::{self, Handler, Job, Limits, MakeHandler},
    isolate::Order,
    listener::{ACCEPT_PAUSE, is_clients, raise_descriptor_limit},
    server_tls::ServerTls,
};

/// How often an isolate says that its runtime gets its turn.
pub const BEAT: Duration = Duration::from_millis(200);

/// How long an isolate leaves a new connection to the others for each connection that it has more
/// than another one, and for how many.
const MOMENT: Duration = Duration::from_millis(1);
const MOMENTS: u64 = 4;

/// How often an isolate that has as many connections as it may looks whether another one waits.
const ROOM_PAUSE: Duration = Duration::from_millis(50);

/// The life of an isolate that shares a listening socket. Has to be called on its thread, and
/// resolves when it has ended.
///
/// # Errors
/// The operating system does not let the socket be waited for.
pub async fn serve<H: Handler>(
    listener: TcpListener,
    place: BoardSlot,
    make: MakeHandler<H>,
    limits: Limits,
    tls: Option<ServerTls>,
    mut orders: mpsc::UnboundedReceiver<Order<H>>,
) -> io::Result<()> {
    raise_descriptor_limit();
    let listener = Listener::new(listener)?;
    let (jobs, receiver) = mpsc::unbounded_channel();
    let connections = Arc::new(AtomicUsize::new(0));
    spawn_local(beat(place.clone(), connections.clone()));
    let accepting = spawn_local(accept(listener, place, connections, jobs.clone(), limits.connections));
    spawn_local(async move {
        while let Some(order) = orders.recv().await {
            // An isolate that has ended serves nobody.
            match order {
                Order::Replace(make) => drop(jobs.send(Job::Replace(make))),
                Order::Stop => {
                    accepting.abort();
                    drop(jobs.send(Job::Stop));
                }
            }
        }
    });
    http::serve(receiver, make, limits, tls).await;
    Ok(())
}

/// A listening socket, and when something is in its queue. tokio's own listener tells the latter
/// only together with what it accepted, so the same socket is registered once more as a stream,
/// which only waits.
struct Listener {
    socket: TcpListener,
    readiness: AsyncTcpStream,
}

impl Listener {
    fn new(socket: TcpListener) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let readiness = AsyncTcpStream::from_std(TcpStream::from(OwnedFd::from(socket.try_clone()?)))?;
        Ok(Self { socket, readiness })
    }

    /// Whether a client waits to be accepted. What `readiness` says may be of one that was accepted
    /// since.
    fn has_waiting(&self) -> bool {
        let mut asked = [PollFd::new(&self.socket, PollFlags::IN)];
        poll(&mut asked, Some(&Timespec::default())).is_ok_and(|count| count > 0)
    }
}

pub(crate) async fn beat(place: BoardSlot, connections: Arc<AtomicUsize>) {
    let mut interval = interval(BEAT);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        place.beat();
        place.connections(connections.load(Ordering::Relaxed));
    }
}

/// A place for another connection. While every one is taken and clients wait, those that have not
/// sent a request yet make room. `None` where the runtime ends.
async fn free_seat<H>(listener: &Listener, seats: &Arc<Semaphore>, jobs: &mpsc::UnboundedSender<Job<H>>) -> Option<OwnedSemaphorePermit> {
    loop {
        if let Ok(permit) = seats.clone().try_acquire_owned() {
            return Some(permit);
        }
        if listener.has_waiting() {
            drop(jobs.send(Job::Crowded));
        }
        if let Ok(permit) = timeout(ROOM_PAUSE, seats.clone().acquire_owned()).await {
            return permit.ok();
        }
    }
}

async fn accept<H>(listener: Listener, place: BoardSlot, connections: Arc<AtomicUsize>, jobs: mpsc::UnboundedSender<Job<H>>, most: usize) {
    let seats = Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
    while let Some(permit) = free_seat(&listener, &seats, &jobs).await {
        let Ok(()) = listener.readiness.readable().await else { return };
        let own = connections.load(Ordering::Relaxed) as u64;
        let more = place.fewest_elsewhere().map_or(0, |fewest| own.saturating_sub(fewest).min(MOMENTS));
        if more > 0 {
            sleep(MOMENT * more as u32).await;
        }
        match listener.readiness.try_io(Interest::READABLE, || listener.socket.accept()) {
            Ok((socket, _)) => {
                let seat = ConnectionSlot::take(&connections, permit);
                place.connections(connections.load(Ordering::Relaxed));
                hand_over(socket, seat, &jobs);
            }
            // Another one was faster.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if is_clients(&error) => {}
            // The supervisor has shut the socket: the server ends.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return,
            Err(error) => {
                tracing::warn!(%error, "the operating system refuses connections");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn hand_over<H>(socket: TcpStream, seat: ConnectionSlot, jobs: &mpsc::UnboundedSender<Job<H>>) {
    // Answers are small and whole: waiting for more to send would only delay them.
    match socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true)) {
        // An isolate that ends closes the connection.
        Ok(()) => drop(jobs.send(Job::Connection(socket, seat))),
        Err(error) => tracing::debug!(%error, "a client disconnected before it was served"),
    }
}
