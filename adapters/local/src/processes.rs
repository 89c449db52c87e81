//! Isolates as processes, and who watches them.
//!
//! What cannot be stopped inside a process (a regular expression that backtracks, one built-in at
//! work, a stack or a memory that is exhausted) ends no more than one isolate of several. The
//! supervisor binds the socket and starts one process of this same executable for each isolate,
//! which accepts connections by itself; no call passes through the supervisor. Where the client is
//! on standard input and output there is one isolate, and the supervisor passes lines on
//! ([`crate::stdio`]). In the order of the data:
//!
//! - [`deployment`]: what is served, as bytes in a file of memory;
//! - [`control`]: the socket between the supervisor and an isolate, over which files are passed;
//! - [`isolate`]: the process of one isolate;
//! - [`measures`]: what the isolates measure, for Prometheus;
//! - [`stuck`]: when an isolate counts as stuck;
//! - [`memory`]: how much memory an isolate may have.

use std::{
    fs::File,
    io,
    net::{SocketAddr, TcpListener},
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::{net::UnixStream as StdUnixStream, process::CommandExt as _, process::ExitStatusExt as _},
    },
    path::{Path, PathBuf},
    pin::pin,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Weak,
        atomic::{AtomicU32, Ordering},
        mpsc as std_mpsc,
    },
    time::{Duration, Instant},
};

use millrace_native::{
    board::{Board, LastCall},
    lines::Client,
};
use tokio::{
    io::AsyncReadExt as _,
    net::UnixStream,
    sync::{oneshot, watch as tokio_watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval, sleep, timeout},
};

use crate::{
    call_log::CallLog,
    output::{CommandError, CommandResult},
    serving::{LOADING, ListenOptions, Reloader, ServedApp, metrics_listener, stop_signal},
    stdio::Pump,
};

mod control;
mod deployment;
pub(crate) mod isolate;
mod measures;
mod memory;
mod stuck;

use control::ControlMessage;
use deployment::Channel;
use measures::Measures;
use stuck::{TICK, Watch};

/// How long an isolate may take from its start until it serves.
const START: Duration = Duration::from_secs(60);

/// How long an isolate may take beyond the grace of calls in flight when it is told to end.
const LAST: Duration = Duration::from_secs(2);

/// How long a reload waits for isolates that do not say that they have the new app.
const RELOAD: Duration = Duration::from_secs(5);

/// An isolate that ends sooner after its start than this, and worked on no call, is started again
/// after a pause that doubles.
const SOON: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How often in a row each isolate has to fail to start, while none serves, until the server ends:
/// it takes about three seconds.
const MOST_FAILED_STARTS: u32 = 6;

/// What the isolates serve.
struct Deployment {
    file: File,
    /// Is told of each isolate that serves it.
    taken: Option<std_mpsc::Sender<()>>,
}

impl Deployment {
    /// Tells whoever deployed it that isolates have taken it.
    fn was_taken(&self, isolates: usize) {
        for _ in 0..isolates {
            if let Some(taken) = &self.taken {
                let _ = taken.send(());
            }
        }
    }
}

/// Exchanges what the isolates serve.
pub(crate) struct IsolateReloader {
    deployments: tokio_watch::Sender<Arc<Deployment>>,
    isolates: usize,
    channel: Channel,
    /// Not kept alive: its socket is closed at the end of the server.
    common: Weak<Common>,
    /// What the page of each isolate learns from here.
    pub(crate) calls: CallLog,
}

impl IsolateReloader {
    /// Starts an isolate with another app that takes no connection, and ends it again. Has to be
    /// called within a tokio runtime.
    ///
    /// # Errors
    /// It cannot be started, or does not end by itself once its scripts were evaluated.
    pub(crate) async fn try_out(&self, served: &ServedApp) -> CommandResult {
        let Some(trial) = self.common.upgrade().map(|common| common.trial()) else { return Err(CommandError::wrong("the server ends")) };
        let trial = trial.map_err(deployment::unable)?;
        let deployment = Deployment { file: deployment::write(served, &self.channel)?, taken: None };
        let mut process = Process::start(&trial, 0, &deployment, false).map_err(deployment::unable)?;
        let life = async {
            process.control.read_exact(&mut [0]).await?;
            control::send(process.control.as_fd(), ControlMessage::Stop, &[])?;
            process.control.read_to_end(&mut Vec::new()).await
        };
        let in_time = timeout(START, life).await.is_ok();
        let why = match process.end().await {
            Ok(status) if status.success() => return Ok(()),
            status if in_time => said(&status, trial.memory_mb),
            _ => format!("was not ready within {} s and was ended", START.as_secs()),
        };
        Err(CommandError::Wrong(format!("an isolate with the new app, which was to be tried out, {why}")))
    }

    /// Has requests from now on answered by another app. Waits until the isolates have it; one that
    /// is stuck is not waited for.
    ///
    /// # Errors
    /// The app cannot be passed on.
    pub(crate) fn replace(&self, served: &ServedApp) -> CommandResult {
        let (taken, answers) = std_mpsc::channel();
        let file = deployment::write(served, &self.channel)?;
        drop(self.deployments.send(Arc::new(Deployment { file, taken: Some(taken) })));
        let until = Instant::now() + RELOAD;
        for _ in 0..self.isolates {
            if answers.recv_timeout(until.saturating_duration_since(Instant::now())).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Where the requests of an isolate come from.
enum RequestSource {
    /// They share a listening socket, which is this process's own or stays with a service manager.
    Listener { socket: TcpListener, is_own: bool },
    /// This process reads them from its standard input, for a single isolate.
    Lines(Arc<Pump>),
}

impl RequestSource {
    /// What becomes of the requests of an isolate that ends.
    fn fate(&self) -> &'static str {
        match self {
            Self::Listener { .. } => "its connections are closed",
            Self::Lines(_) => "its calls are answered with an error",
        }
    }
}

/// What all isolates have in common.
struct Common {
    program: PathBuf,
    source: RequestSource,
    board: Board,
    /// The last calls, for the page of `dev`.
    calls: File,
    isolates: usize,
    starts: Starts,
    measures: Arc<Measures>,
    memory_mb: u64,
    log: String,
    grace: Duration,
    /// What handshakes are done with, where the server speaks TLS.
    certificate: tokio_watch::Receiver<Option<Arc<File>>>,
}

impl Common {
    /// The same for one isolate of its own that takes no connection.
    fn trial(&self) -> io::Result<Self> {
        // Nobody listens on it.
        let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None)?;
        Ok(Self {
            program: self.program.clone(),
            source: RequestSource::Listener { socket: socket.into(), is_own: true },
            board: Board::new(deployment::memory_file("millrace-board")?, 1),
            calls: deployment::memory_file("millrace-calls")?,
            isolates: 1,
            starts: Starts::new(1),
            measures: Measures::new(1).into(),
            memory_mb: self.memory_mb,
            log: "error".to_owned(),
            grace: self.grace,
            certificate: tokio_watch::channel(None).1,
        })
    }
}

/// Serves until the process is told to end; `ready` is called when connections are taken.
///
/// # Errors
/// The address cannot be bound, an isolate cannot be started; what `ready` fails with.
pub(crate) async fn serve(
    place: &ListenOptions,
    served: ServedApp,
    ready: impl FnOnce(SocketAddr, Reloader) -> CommandResult,
) -> CommandResult {
    let listener = place.listener()?;
    let address = listener.local_addr().map_err(CommandError::wrong)?;
    // From here on a signal ends the server in order, also one that comes before it serves.
    let mut signal = pin!(stop_signal().map_err(CommandError::wrong)?);
    let (certificates, certificate) = tokio_watch::channel(None);
    if let Some(files) = place.certificate.clone() {
        let (pem, _) = files.open()?;
        drop(certificates.send(Some(deployment::write_certificate(&pem).map_err(deployment::unable)?.into())));
        files.watch(pem, move |pem| {
            let file = deployment::write_certificate(pem).map_err(|error| error.to_string())?;
            // Where nobody listens, the server ends.
            drop(certificates.send(Some(file.into())));
            Ok(())
        })?;
    }
    let source = RequestSource::Listener { socket: listener.into_std().map_err(deployment::unable)?, is_own: place.given.is_none() };
    let channel = Channel::Http { checks_host: place.limits().checks_host };
    let metrics = metrics_listener(served.telemetry.as_ref())?;
    let (mut isolates, reloader) = Isolates::start(place, place.isolates, source, certificate, served, channel)?;
    if let Some(listener) = metrics {
        measures::serve(listener, isolates.common.measures.clone());
    }
    let outcome = tokio::select! {
        biased;
        () = signal.as_mut() => Ok(()),
        outcome = isolates.serving() => {
            outcome?;
            ready(address, Reloader::Processes(reloader))?;
            tokio::select! {
                () = signal => Ok(()),
                none = isolates.common.starts.none() => Err(none),
            }
        }
    };
    isolates.end().await;
    outcome
}

/// Serves one client on standard input and output until that ends, or the process is told to;
/// `ready` is called when lines are taken.
///
/// # Errors
/// The isolate cannot be started; what `ready` fails with.
pub(crate) async fn serve_lines(
    place: &ListenOptions,
    served: ServedApp,
    client: &Client,
    pump: Arc<Pump>,
    ready: impl FnOnce(Reloader) -> CommandResult,
) -> CommandResult {
    let mut signal = pin!(stop_signal().map_err(CommandError::wrong)?);
    let (source, channel) = (RequestSource::Lines(pump.clone()), Channel::lines(client));
    let (mut isolates, reloader) = Isolates::start(place, 1, source, tokio_watch::channel(None).1, served, channel)?;
    let outcome = tokio::select! {
        biased;
        () = signal.as_mut() => Ok(()),
        outcome = isolates.serving() => {
            outcome?;
            ready(Reloader::Processes(reloader))?;
            tokio::select! {
                outcome = pump.run(signal) => outcome,
                none = isolates.common.starts.none() => Err(none),
            }
        }
    };
    isolates.end().await;
    outcome
}

/// Isolates that run, each with its supervisor.
struct Isolates {
    common: Arc<Common>,
    stop: tokio_watch::Sender<bool>,
    supervisors: JoinSet<()>,
    /// How the first start of each goes.
    firsts: Vec<oneshot::Receiver<Result<(), String>>>,
}

impl Isolates {
    /// Starts as many.
    ///
    /// # Errors
    /// The app cannot be passed on.
    fn start(
        place: &ListenOptions,
        isolates: usize,
        source: RequestSource,
        certificate: tokio_watch::Receiver<Option<Arc<File>>>,
        served: ServedApp,
        channel: Channel,
    ) -> CommandResult<(Self, IsolateReloader)> {
        let file = deployment::write(&served, &channel)?;
        drop(served);
        let board = Board::new(deployment::memory_file("millrace-board").map_err(deployment::unable)?, isolates);
        let common = Arc::new(Common {
            program: program().map_err(deployment::unable)?,
            source,
            board,
            calls: deployment::memory_file("millrace-calls").map_err(deployment::unable)?,
            isolates,
            starts: Starts::new(isolates),
            measures: Measures::new(isolates).into(),
            memory_mb: place.memory_mb.unwrap_or_else(|| memory::default_mb(isolates)),
            log: place.log.clone(),
            grace: place.limits().grace,
            certificate,
        });
        let (deployments, deployed) = tokio_watch::channel(Arc::new(Deployment { file, taken: None }));
        let calls = CallLog::in_file(common.calls.try_clone().map_err(deployment::unable)?, 0, isolates);
        let (stop, stopped) = tokio_watch::channel(false);
        let mut supervisors = JoinSet::new();
        let mut firsts = Vec::with_capacity(isolates);
        for index in 0..isolates {
            let (first, started) = oneshot::channel();
            firsts.push(started);
            let (common, deployed, stopped) = (common.clone(), deployed.clone(), stopped.clone());
            supervisors.spawn(IsolateSupervisor { common, index, deployed, stopped, first: Some(first) }.keep());
        }
        let reloader = IsolateReloader { deployments, isolates, channel, common: Arc::downgrade(&common), calls };
        Ok((Self { common, stop, supervisors, firsts }, reloader))
    }

    /// Waits until all of them serve.
    ///
    /// # Errors
    /// One cannot be started.
    async fn serving(&mut self) -> CommandResult {
        for (index, first) in self.firsts.drain(..).enumerate() {
            // Its task ends only after it has said how the start went.
            if let Ok(Err(why)) = first.await {
                return Err(CommandError::Wrong(format!("isolate {index} could not start: {why}")));
            }
        }
        Ok(())
    }

    /// Tells them to end, and waits until they have.
    async fn end(mut self) {
        let _ = self.stop.send(true);
        if let RequestSource::Listener { socket, is_own: true } = &self.common.source {
            // Also where an isolate is stuck and does not close its own: nobody is let in any more.
            // Elsewhere than on Linux it is closed by the last one.
            let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
        }
        drop(self.common);
        while self.supervisors.join_next().await.is_some() {}
    }
}

/// The program of an isolate: the very one that runs. Under Linux also where its file was replaced
/// or removed since, by an update for example; elsewhere, a file that was replaced is what the next
/// isolate runs.
fn program() -> io::Result<PathBuf> {
    const RUNNING: &str = "/proc/self/exe";
    if cfg!(target_os = "linux") && Path::new(RUNNING).exists() {
        return Ok(RUNNING.into());
    }
    // Without /proc, Linux does not say; whoever started this process usually has.
    let given = || std::env::args_os().next().map(PathBuf::from).filter(|path| path.is_absolute() && path.exists());
    std::env::current_exe().or_else(|error| given().ok_or(error))
}

/// Whether isolates can be started.
struct Starts {
    /// How often each could not, since it last served.
    failed: Vec<AtomicU32>,
    /// Why, once none can.
    given_up: tokio_watch::Sender<Option<String>>,
}

impl Starts {
    fn new(isolates: usize) -> Self {
        Self { failed: (0..isolates).map(|_| AtomicU32::new(0)).collect(), given_up: tokio_watch::channel(None).0 }
    }

    fn served(&self, index: usize) {
        if let Some(failed) = self.failed.get(index) {
            failed.store(0, Ordering::Relaxed);
        }
    }

    fn failed(&self, index: usize, why: &str) {
        if let Some(failed) = self.failed.get(index) {
            failed.fetch_add(1, Ordering::Relaxed);
        }
        // One that serves has none, however often others fail.
        if self.failed.iter().all(|failed| failed.load(Ordering::Relaxed) >= MOST_FAILED_STARTS) {
            self.given_up.send_replace(Some(why.to_owned()));
        }
    }

    /// Waits until no isolate can be started.
    async fn none(&self) -> CommandError {
        let mut given_up = self.given_up.subscribe();
        let why = given_up.wait_for(Option::is_some).await.ok().and_then(|why| why.clone()).unwrap_or_default();
        CommandError::Wrong(format!("no isolate serves, and none can be started ({why}); the server ends"))
    }
}

/// Keeps one isolate running.
struct IsolateSupervisor {
    common: Arc<Common>,
    index: usize,
    deployed: tokio_watch::Receiver<Arc<Deployment>>,
    stopped: tokio_watch::Receiver<bool>,
    /// Is told how the first start went.
    first: Option<oneshot::Sender<Result<(), String>>>,
}

/// How an isolate ended.
struct IsolateEnd {
    why: String,
    call: Option<LastCall>,
    served: bool,
    /// It had not served yet, or not for long.
    soon: bool,
}

impl IsolateSupervisor {
    async fn keep(mut self) {
        let (mut pause, mut again) = (Duration::ZERO, false);
        while !*self.stopped.borrow() {
            let deployment = self.deployed.borrow_and_update().clone();
            let end = match Process::start(&self.common, self.index, &deployment, std::mem::replace(&mut again, true)) {
                Ok(process) => {
                    self.common.measures.started(self.index, process.pid);
                    let end = self.watch(process, deployment).await;
                    self.common.measures.ended(self.index);
                    end
                }
                Err(error) => Some(IsolateEnd { why: format!("could not be started: {error}"), call: None, served: false, soon: true }),
            };
            // It was told to end.
            let Some(end) = end else { return };
            if let Some(first) = self.first.take() {
                return drop(first.send(Err(end.why)));
            }
            if !end.served {
                self.common.starts.failed(self.index, &end.why);
            }
            let is_of_call = end.call.as_ref().is_some_and(|call| call.tool != LOADING);
            pause = match (end.soon && !is_of_call, pause) {
                (false, _) => Duration::ZERO,
                (true, Duration::ZERO) => FIRST_PAUSE,
                (true, before) => LONGEST_PAUSE.min(before * 2),
            };
            let (tool, request_id) = (end.call.as_ref().map(|call| &*call.tool), end.call.as_ref().map(|call| &*call.request_id));
            let next = if pause.is_zero() { "a new one is started" } else { "a new one is started after a pause" };
            tracing::error!(
                isolate = self.index,
                tool,
                request_id,
                pause_ms = (!pause.is_zero()).then_some(pause.as_millis() as u64),
                "an isolate {}; {}, and {next}",
                end.why,
                self.common.source.fate()
            );
            tokio::select! {
                () = sleep(pause) => {}
                _ = self.stopped.changed() => {}
            }
        }
    }

    /// Watches a process until it has ended. `None` where it was told to.
    async fn watch(&mut self, mut process: Process, mut deployment: Arc<Deployment>) -> Option<IsolateEnd> {
        let started = Instant::now();
        let mut serving: Option<Instant> = None;
        let (mut watch, mut last_look) = (Watch::default(), Instant::now());
        let mut looks = interval(TICK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut ending, mut exchangeable): (Option<Instant>, bool) = (None, true);
        let (mut certificate, mut certifiable) = (self.common.certificate.clone(), true);
        let (mut measured, mut words) = (self.common.measures.looks(), [0; 16]);
        let killed = loop {
            tokio::select! {
                read = process.control.read(&mut words) => {
                    let Ok(count @ 1..) = read else { break None };
                    deployment.was_taken(count);
                    if serving.is_none() {
                        serving = Some(Instant::now());
                        self.serves(started, process.pid);
                    }
                }
                changed = self.deployed.changed(), if exchangeable && ending.is_none() => {
                    // Nobody can exchange anything: it is `serve`.
                    if changed.is_err() {
                        exchangeable = false;
                        continue;
                    }
                    deployment = self.deployed.borrow_and_update().clone();
                    if control::send(process.control.as_fd(), ControlMessage::Deploy, &[deployment.file.as_fd()]).is_err() {
                        break Some("no longer accepted commands and was ended".to_owned());
                    }
                }
                changed = certificate.changed(), if certifiable && ending.is_none() => {
                    // Without TLS there is none to exchange.
                    certifiable = changed.is_ok();
                    let Some(file) = certificate.borrow_and_update().clone().filter(|_| certifiable) else { continue };
                    if control::send(process.control.as_fd(), ControlMessage::Certificate, &[file.as_fd()]).is_err() {
                        break Some("no longer accepted commands and was ended".to_owned());
                    }
                }
                // One that missed a look is asked at the next.
                Ok(look) = measured.recv() => self.common.measures.ask(self.index, process.control.as_fd(), look),
                _ = self.stopped.changed(), if ending.is_none() => {
                    ending = Some(Instant::now() + self.common.grace + LAST);
                    drop(control::send(process.control.as_fd(), ControlMessage::Stop, &[]));
                }
                _ = looks.tick() => {
                    let passed = last_look.elapsed();
                    last_look = Instant::now();
                    if ending.is_some_and(|until| Instant::now() > until) {
                        break Some("did not end in time and was ended".to_owned());
                    }
                    if serving.is_none() {
                        if started.elapsed() <= START { continue }
                        break Some(format!("did not serve within {} s of its start and was ended", START.as_secs()));
                    }
                    let Ok(reading) = self.common.board.read(self.index) else { continue };
                    if let Some(stuck) = watch.look(&reading, passed, || stuck::cpu_time(process.pid)) {
                        break Some(stuck);
                    }
                }
            }
        };
        let status = process.end().await;
        if ending.is_some() {
            return None;
        }
        let call = self.common.board.read(self.index).ok().and_then(|reading| reading.call);
        let why = killed.unwrap_or_else(|| said(&status, self.common.memory_mb));
        Some(IsolateEnd { why, call, served: serving.is_some(), soon: serving.is_none_or(|since| since.elapsed() < SOON) })
    }

    fn serves(&mut self, started: Instant, pid: u32) {
        self.common.starts.served(self.index);
        match self.first.take() {
            Some(first) => drop(first.send(Ok(()))),
            None => tracing::info!(isolate = self.index, pid, after_ms = started.elapsed().as_millis() as u64, "a new isolate serves"),
        }
    }
}

/// What the end of a process that nobody here ended says.
fn said(status: &io::Result<ExitStatus>, memory_mb: u64) -> String {
    const ABORTED: i32 = 6;
    const KILLED: i32 = 9;
    match status {
        Ok(status) => match (status.signal(), status.code()) {
            (Some(ABORTED), _) => {
                format!(
                    "was aborted (signal {ABORTED}): its stack or its memory of {memory_mb} MB was exhausted; the lines before this \
                         one say which"
                )
            }
            (Some(KILLED), _) => format!("was killed (signal {KILLED}), by the system for lack of memory, or by someone"),
            (Some(signal), _) => format!("crashed (signal {signal})"),
            (None, code) => format!("ended with exit code {}", code.unwrap_or_default()),
        },
        Err(error) => format!("ended, and the system does not say how: {error}"),
    }
}

/// The process of an isolate; it ends with the value.
struct Process {
    /// `None` once it has ended.
    child: Option<Child>,
    pid: u32,
    control: UnixStream,
}

impl Process {
    /// `again`: it takes the place of one that has ended.
    fn start(common: &Common, index: usize, deployment: &Deployment, again: bool) -> io::Result<Self> {
        common.board.clear(index)?;
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(&common.program);
        command.arg0("millrace").arg("isolate").args(["--index", &index.to_string(), "--isolates", &common.isolates.to_string()]);
        command.args(["--memory", &common.memory_mb.to_string(), "--grace", &common.grace.as_secs().to_string()]);
        command.args(again.then_some("--again"));
        command.env("MILLRACE_LOG", &common.log);
        // mimalloc, which the static command has, else reserves 1 GiB that can be written: all of
        // the isolate's memory limit.
        command.env("MIMALLOC_ARENA_EAGER_COMMIT", "0");
        // Its standard error is this process's.
        let child = command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).spawn()?;
        // The command holds the other end: without it, the end of the child is the end of the
        // stream.
        drop(command);
        let pid = child.id();
        let process = Self { child: Some(child), pid, control: UnixStream::from_std(ours)? };
        let lines;
        let requests = match &common.source {
            RequestSource::Listener { socket, .. } => socket.as_fd(),
            RequestSource::Lines(pump) => {
                let (ours, theirs) = StdUnixStream::pair()?;
                pump.attach_socket(ours)?;
                lines = theirs;
                lines.as_fd()
            }
        };
        let mut files = vec![requests, common.board.file().as_fd(), common.calls.as_fd(), deployment.file.as_fd()];
        let certificate = common.certificate.borrow().clone();
        files.extend(certificate.iter().map(|file| file.as_fd()));
        control::send(process.control.as_fd(), ControlMessage::Start, &files)?;
        Ok(process)
    }

    /// Ends the process, unless it has ended.
    async fn end(mut self) -> io::Result<ExitStatus> {
        let Some(mut child) = self.child.take() else { return Err(io::Error::other("it has ended before")) };
        // One that ends by itself has its exit code already. One that waits for a disk may take its
        // time: nobody else waits with it.
        let waited = tokio::task::spawn_blocking(move || child.kill().and_then(|()| child.wait()));
        waited.await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill().and_then(|()| child.wait()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_docs_have_what_the_log_says() {
        let docs = include_str!("../../../docs/serving.md");
        for raw in [6, 9, 11, 5, 1 << 8] {
            let said = said(&Ok(ExitStatus::from_raw(raw)), 512);
            let start = said.split_once(')').map_or("ended with exit code", |(start, _)| start);
            let general = start.replace("11", "…").replace('5', "…");
            assert!(docs.contains(start) || docs.contains(&general), "{said}");
        }
        assert!(docs.contains("was ended; its connections are closed, and a new one is started"));
    }
}
