//! `SIGHUP` to `serve`: the bundle and what belongs to it are read again, and take the place of
//! what is served.
//!
//! In comes a signal; out goes another app, in isolates that keep their connections: calls in
//! flight end with the app before. What cannot be served changes nothing. It is found before
//! anything is exchanged: the bundle is read, the certificate judged, and an isolate that takes no
//! connection evaluates the scripts.

use std::{
    io::{self, IsTerminal as _},
    net::SocketAddr,
    sync::mpsc,
    thread,
};

use millrace_native::isolate::STACK_BYTES;
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{Signal, SignalKind, signal},
};

use super::source::{Summary, load};
use crate::{
    certificate::CertificateFiles,
    cli::Serve,
    output::{CommandError, CommandResult},
    service_manager,
    serving::{ListenOptions, Reloader, checks_host},
};

/// What renews, as soon as there is something to renew.
pub(super) struct Renewals {
    sources: Sources,
    had_terminal: bool,
}

/// The server that runs.
struct Server {
    reloader: Reloader,
    address: SocketAddr,
    scheme: &'static str,
}

/// What each renewal begins with.
struct Sources {
    arguments: Serve,
    certificate: Option<CertificateFiles>,
    checks_host: bool,
}

impl Renewals {
    /// From here on `SIGHUP` ends the process no more. Before the server runs, it does nothing.
    ///
    /// # Errors
    /// The system gives no signal.
    pub(super) fn prepare(arguments: Serve, place: &ListenOptions) -> CommandResult<Self> {
        // A handler once registered stays.
        drop(hangups().map_err(CommandError::wrong)?);
        let sources = Sources { arguments, certificate: place.certificate.clone(), checks_host: place.limits().checks_host };
        Ok(Self { sources, had_terminal: io::stdin().is_terminal() })
    }

    /// The server runs: each signal from now on is obeyed.
    ///
    /// # Errors
    /// The system gives no thread, or no signal.
    pub(super) fn begin(self, reloader: Reloader, address: SocketAddr, scheme: &'static str) -> CommandResult {
        let Self { sources, had_terminal } = self;
        let server = Server { reloader, address, scheme };
        let (ready, is_ready) = mpsc::sync_channel(1);
        let body = move || match hangups() {
            Ok((runtime, hangups)) => {
                drop(ready.send(Ok(())));
                sources.follow(&runtime, hangups, &server, had_terminal);
            }
            Err(error) => drop(ready.send(Err(error))),
        };
        let thread = thread::Builder::new().name("renewal".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(body).map_err(CommandError::wrong)?;
        is_ready.recv().map_err(CommandError::wrong)?.map_err(CommandError::wrong)
    }
}

/// The signal, and what it is waited for with.
fn hangups() -> io::Result<(Runtime, Signal)> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let hangups = runtime.block_on(async { signal(SignalKind::hangup()) })?;
    Ok((runtime, hangups))
}

impl Sources {
    fn follow(&self, runtime: &Runtime, mut hangups: Signal, server: &Server, had_terminal: bool) {
        while runtime.block_on(hangups.recv()).is_some() {
            // A terminal that is closed sends the same signal, and is none any more when it does.
            if had_terminal && !io::stdin().is_terminal() {
                end();
                return;
            }
            service_manager::reloads();
            match self.renew(runtime, server) {
                Ok(line) => {
                    tracing::info!("renewed: {line}");
                    service_manager::is_ready(&line);
                }
                Err(failure) => {
                    let why = failure.message().unwrap_or_default();
                    tracing::error!("the app is not renewed, and the one before stays: {why}");
                    service_manager::is_ready(&format!("not renewed: {}", why.replace('\n', " ")));
                }
            }
        }
    }

    /// Gives a line that says what is served.
    fn renew(&self, runtime: &Runtime, server: &Server) -> CommandResult<String> {
        let mut served = load(&self.arguments)?;
        let app = std::sync::Arc::make_mut(&mut served.app);
        self.arguments.host.add_names(app);
        if checks_host(server.address.ip(), app) != self.checks_host {
            return Err(CommandError::wrong(
                "with its `server.hosts`, the header field `Host` is checked where it was not before, or the other way round; start the server again",
            ));
        }
        if let Some(files) = &self.certificate {
            files.open()?;
        }
        runtime.block_on(server.reloader.try_out(&served))?;
        server.reloader.replace(&served)?;
        Ok(Summary::of(&served.app).at(server.scheme, server.address))
    }
}

/// Ends this process as `SIGTERM` does.
fn end() {
    let own = rustix::process::getpid();
    if let Err(error) = rustix::process::kill_process(own, rustix::process::Signal::TERM) {
        tracing::error!(%error, "the server cannot be told to end");
    }
}
