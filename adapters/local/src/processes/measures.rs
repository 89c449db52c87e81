//! What the isolates measure, for Prometheus: each is asked when somebody looks, and what they came
//! to is added up here, with what is known of them only from outside.

use std::{
    io,
    net::TcpListener,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use millrace_native::telemetry::{levels::resident_bytes, scrape, snapshot::Snapshot};
use millrace_telemetry::metrics::Metric;
use tokio::{
    io::AsyncReadExt as _,
    net::unix::pipe,
    sync::{broadcast, mpsc},
    time::timeout,
};

use super::control::{self, ControlMessage};

/// How long an isolate may take to say what it came to: it has a thread for that.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many looks may be under way.
const LOOKS: usize = 16;

/// What is known of one isolate.
#[derive(Clone, Default)]
struct OfIsolate {
    pid: Option<u32>,
    starts: u64,
    /// What it came to when it was asked last.
    last: Snapshot,
}

/// What is known of all isolates.
pub(super) struct Measures {
    isolates: Mutex<Vec<OfIsolate>>,
    /// What those came to that have ended.
    ended: Mutex<Snapshot>,
    /// Each look; over when all have dropped what they got.
    looks: broadcast::Sender<mpsc::Sender<()>>,
}

impl Measures {
    pub(super) fn new(isolates: usize) -> Self {
        Self { isolates: Mutex::new(vec![OfIsolate::default(); isolates]), ended: Mutex::default(), looks: broadcast::channel(LOOKS).0 }
    }

    /// Hears of each look.
    pub(super) fn looks(&self) -> broadcast::Receiver<mpsc::Sender<()>> {
        self.looks.subscribe()
    }

    fn with(&self, index: usize, change: impl FnOnce(&mut OfIsolate)) {
        if let Some(isolate) = self.isolates.lock().unwrap_or_else(PoisonError::into_inner).get_mut(index) {
            change(isolate);
        }
    }

    /// An isolate was started.
    pub(super) fn started(&self, index: usize, pid: u32) {
        self.with(index, |isolate| {
            isolate.pid = Some(pid);
            isolate.starts += 1;
        });
    }

    /// An isolate has ended.
    pub(super) fn ended(&self, index: usize) {
        self.with(index, |isolate| {
            isolate.pid = None;
            let last = std::mem::take(&mut isolate.last).of_ended();
            self.ended.lock().unwrap_or_else(PoisonError::into_inner).add(&last);
        });
    }

    /// Has an isolate asked, over its control socket. `look` is dropped when it has answered, or
    /// does not.
    pub(super) fn ask(self: &Arc<Self>, index: usize, control: BorrowedFd<'_>, look: mpsc::Sender<()>) {
        let Ok((reader, writer)) = io::pipe() else { return };
        if control::send(control, ControlMessage::Measure, &[writer.as_fd()]).is_err() {
            return;
        }
        let Ok(mut reader) = pipe::Receiver::from_owned_fd(OwnedFd::from(reader)) else { return };
        let own = self.clone();
        tokio::spawn(async move {
            let mut bytes = Vec::new();
            let read = timeout(PATIENCE, reader.read_to_end(&mut bytes)).await;
            if let (Ok(Ok(_)), Ok(snapshot)) = (read, Snapshot::from_bytes(&bytes)) {
                own.with(index, |isolate| isolate.last = snapshot);
            }
            drop(look);
        });
    }

    /// Asks all isolates, and adds up.
    async fn collect(self: Arc<Self>) -> Snapshot {
        let (look, mut over) = mpsc::channel(1);
        drop(self.looks.send(look));
        // Nobody sends anything: it ends when the last one has dropped its part.
        drop(timeout(PATIENCE, over.recv()).await);
        let isolates = self.isolates.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut all = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        isolates.iter().for_each(|isolate| all.add(&isolate.last));
        // The isolates say these of themselves, too; what is known here outlives them.
        let label = |index: usize| vec![("isolate".to_owned(), index.to_string())];
        let memory = |(index, isolate): (usize, &OfIsolate)| Some((label(index), resident_bytes(&isolate.pid?.to_string())? as f64));
        let restarts = |(index, isolate): (usize, &OfIsolate)| (label(index), isolate.starts.saturating_sub(1) as f64);
        all.put(Metric::IsolateMemory, isolates.iter().enumerate().filter_map(memory));
        all.put(Metric::IsolateRestarts, isolates.iter().enumerate().map(restarts));
        all
    }
}

/// Answers Prometheus until this process ends.
pub(super) fn serve(listener: TcpListener, measures: Arc<Measures>) {
    tokio::spawn(scrape::serve(listener, move || measures.clone().collect()));
}
