//! One app behind one address: what `dev` and `serve` share.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, thread::available_parallelism};

use millrace_core::app::App;
use millrace_native::{
    cache::CacheChoice,
    env::Variables,
    http::{Limits, Make},
    listener::{Replacer, Server},
    telemetry,
};

use crate::{
    app,
    cli::Host,
    dev_handler::DevHandler,
    output::{Failure, Outcome, note},
};

/// Where to listen, and with how many isolates.
pub(crate) struct Place {
    address: SocketAddr,
    isolates: usize,
}

/// What to serve.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) app: Arc<App>,
    /// The folder that relative paths of databases are below.
    pub(crate) base: PathBuf,
    pub(crate) variables: Variables,
    pub(crate) cache: CacheChoice,
    pub(crate) traces: Option<telemetry::Settings>,
    /// Whether a browser gets a page at `/`.
    pub(crate) page: bool,
}

impl Served {
    /// What makes an isolate's handler.
    pub(crate) fn make(&self) -> Make<DevHandler> {
        let Self { app, base, variables, cache, traces, page } = self.clone();
        // The last isolate takes the app itself, so that one isolate means one app in memory.
        Box::new(move |tasks| {
            let has_scripts = !app.scripts.is_empty();
            let endpoint = app::endpoint(Arc::unwrap_or_clone(app), base, variables, &cache, tasks);
            if has_scripts {
                // Before the first call comes, in most cases: that one need not wait for it.
                let scripts = endpoint.pipeline().ports().scripts.clone();
                tasks.spawn(async move { scripts.prepare() });
            }
            telemetry::collect(traces, endpoint.pipeline().ports());
            DevHandler::new(endpoint, page)
        })
    }
}

impl Place {
    /// What the command line says, completed by the app's port and the machine's processors.
    pub(crate) fn of(host: &Host, port: u16) -> Self {
        let isolates = host.isolates.map_or_else(|| available_parallelism().map_or(1, Into::into), usize::from);
        Self { address: SocketAddr::new(host.host, host.port.unwrap_or(port)), isolates }
    }

    /// Serves until the process is told to end; `ready` is called when connections are taken.
    ///
    /// # Errors
    /// The address cannot be had; what `ready` fails with.
    pub(crate) fn serve(self, served: Served, ready: impl FnOnce(SocketAddr, Replacer<DevHandler>) -> Outcome) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(Failure::wrong)?;
        runtime.block_on(async {
            let limits = Limits { loopback_only: self.address.ip().is_loopback(), ..Limits::default() };
            let makes = (0..self.isolates).map(|_| served.make()).collect();
            drop(served);
            let server = Server::start(self.address, makes, &limits).map_err(|error| self.explain(&error))?;
            let stop = stop_signal().map_err(Failure::wrong)?;
            ready(server.address(), server.replacer())?;
            server.run(stop).await;
            Ok(())
        })
    }

    fn explain(&self, error: &io::Error) -> Failure {
        let address = self.address;
        Failure::Wrong(match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("port {} is in use; stop what uses it, or choose another with `--port` (0 is any free one)", address.port())
            }
            io::ErrorKind::PermissionDenied => {
                format!("port {} needs more rights than this process has; choose one above 1023 with `--port`", address.port())
            }
            io::ErrorKind::AddrNotAvailable => format!("this machine has no address `{}`; see `--host`", address.ip()),
            _ => format!("`{address}` cannot be listened on: {error}"),
        })
    }
}

/// Resolves at the first signal to end. A second one ends the process at once.
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::new()?;
    Ok(async move {
        signals.next().await;
        note("ending: calls in flight may finish; once more ends at once");
        tokio::spawn(async move {
            signals.next().await;
            std::process::exit(130);
        });
    })
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn new() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}
