//! One app behind one address: what `dev` and `serve` share.

use std::{
    io::{self, IsTerminal as _},
    net::{IpAddr, SocketAddr, ToSocketAddrs as _},
    path::PathBuf,
    rc::Rc,
    sync::Arc,
    thread::available_parallelism,
    time::Duration,
};

use millrace_core::{
    app::App,
    platform_caller::PlatformCaller,
    ports::{Clock as _, Env as _, Observer, RunningCall, observers},
};
use millrace_native::{
    cache::CacheChoice,
    clock::SystemClock,
    env::Variables,
    http::{Limits, MakeHandler},
    isolate::Order,
    listener::{Replacer, Server, bind},
    telemetry::{self, TelemetrySettings, scrape},
};
use tokio::{net::TcpListener, sync::mpsc};

use crate::{
    app,
    call_details::CallDetails,
    call_log::CallLog,
    certificate::CertificateFiles,
    cli::{Host, IsolateOptions},
    endpoint_and_page::{EndpointAndPage, Page},
    output::{CommandError, CommandResult, note},
    page::Setting,
};

/// Where to listen, and with what isolates.
pub(crate) struct ListenOptions {
    pub(crate) address: SocketAddr,
    /// The socket, where a service manager listens already.
    #[cfg(unix)]
    pub(crate) given: Option<std::net::TcpListener>,
    pub(crate) isolates: usize,
    /// Whether `Host` must be the loopback or a name that the app or the command line lists.
    checks_host: bool,
    /// What the server does TLS with, where it does.
    pub(crate) certificate: Option<CertificateFiles>,
    /// How long calls in flight may take when the server is told to end.
    grace: Duration,
    /// Whether isolates are threads of this process instead of processes.
    #[cfg_attr(not(unix), allow(dead_code, reason = "they always are"))]
    pub(crate) threads: bool,
    /// How much memory an isolate may have, where somebody says.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only processes have a limit"))]
    pub(crate) memory_mb: Option<u64>,
    /// What isolates log.
    #[cfg_attr(not(unix), allow(dead_code, reason = "processes need it"))]
    pub(crate) log: String,
}

/// Makes an isolate's observer, on the isolate's thread.
pub(crate) type MakeObserver = Box<dyn FnOnce() -> Rc<dyn Observer> + Send>;

/// Exchanges what is served.
pub(crate) enum Reloader {
    /// In the threads of this process.
    Threads(Replacer<EndpointAndPage>, CallLog),
    /// In the one thread that has the client on standard input.
    Line(mpsc::UnboundedSender<Order<EndpointAndPage>>, CallLog),
    /// In processes.
    #[cfg(unix)]
    Processes(crate::processes::IsolateReloader),
}

impl Reloader {
    /// Has the page show what is wrong with the last change; nothing is an empty text.
    pub(crate) fn show_problems(&self, text: &str) {
        match self {
            Self::Threads(_, calls) | Self::Line(_, calls) => calls.set_problems(text),
            #[cfg(unix)]
            Self::Processes(exchange) => exchange.calls.set_problems(text),
        }
    }

    /// Starts another app where nobody calls it, and ends it again; threads have no such place. Has
    /// to be called within a tokio runtime.
    ///
    /// # Errors
    /// The app does not start.
    #[cfg(unix)]
    pub(crate) async fn try_out(&self, served: &ServedApp) -> CommandResult {
        match self {
            Self::Threads(..) | Self::Line(..) => Ok(()),
            Self::Processes(exchange) => exchange.try_out(served).await,
        }
    }

    /// Has requests from now on answered by another app.
    ///
    /// # Errors
    /// The app cannot be passed on.
    pub(crate) fn replace(&self, served: &ServedApp) -> CommandResult {
        match self {
            Self::Threads(replacer, calls) => replacer.replace(|| served.make(None, calls)),
            // An isolate that has ended serves nobody.
            Self::Line(isolate, calls) => drop(isolate.send(Order::Replace(served.make(None, calls)))),
            #[cfg(unix)]
            Self::Processes(exchange) => return exchange.replace(served),
        }
        Ok(())
    }
}

/// Whether `Host` has to be the loopback, or a name that the app or the command line lists.
pub(crate) fn checks_host(address: IpAddr, app: &App) -> bool {
    address.is_loopback() || !app.server.hosts.is_empty()
}

/// What an isolate works on, for whoever watches it, while it evaluates the scripts of the app.
pub(crate) const LOADING: &str = "(the scripts of the app)";
/// How long that may take, in milliseconds: some seconds for many packages on a busy machine. An
/// isolate that was ended for it would begin again, for ever.
const MOST_LOADING_MS: u64 = 60_000;

/// What to serve.
#[derive(Clone)]
pub(crate) struct ServedApp {
    pub(crate) app: Arc<App>,
    /// The folder that relative paths of databases are below.
    pub(crate) base: PathBuf,
    pub(crate) variables: Variables,
    pub(crate) cache: CacheChoice,
    pub(crate) telemetry: Option<TelemetrySettings>,
    /// What a browser gets at `/`.
    pub(crate) page: Page,
    /// Where the settings of the tools came from, where the page shows that.
    pub(crate) settings: Arc<[Setting]>,
    /// Who sends no credentials; only in `dev`.
    pub(crate) caller: Option<PlatformCaller>,
}

impl ServedApp {
    /// What makes an isolate's handler. `calls` is where the page finds the calls of others.
    pub(crate) fn make(&self, observer: Option<MakeObserver>, calls: &CallLog) -> MakeHandler<EndpointAndPage> {
        let Self { app, base, variables, cache, telemetry, page, settings, caller } = self.clone();
        let calls = calls.clone();
        // The last isolate takes the app itself, so that one isolate means one app in memory.
        Box::new(move |tasks| {
            let has_scripts = !app.scripts.is_empty();
            let details = (page == Page::WithDetails).then(|| Rc::new(CallDetails::new(calls)));
            let watched = observer.map(|make| make());
            let observer = observers([watched.clone(), details.clone().map(|details| details as Rc<dyn Observer>)]);
            let folder = base.clone();
            let endpoint = app::observed_endpoint(Arc::unwrap_or_clone(app), base, variables, &cache, tasks, observer, telemetry);
            if has_scripts {
                // Before the first call comes, in most cases: that one need not wait for it.
                let endpoint = endpoint.clone();
                tasks.spawn(async move {
                    let loading = RunningCall { tool: LOADING, request_id: "", deadline_ms: SystemClock.now_ms() + MOST_LOADING_MS };
                    watched.iter().for_each(|watched| watched.entered(&loading));
                    endpoint.prepare_scripts();
                    watched.iter().for_each(|watched| watched.left(&loading));
                });
            }
            EndpointAndPage::new(endpoint, page, details, settings, folder, caller)
        })
    }
}

/// The port that the app has, or a variable of it.
fn own_port(app: &App, variables: &Variables) -> CommandResult<u16> {
    let Some(name) = &app.server.port_variable else { return Ok(app.server.port) };
    let problem = match variables.var(name).map(|value| value.expose().trim().parse()) {
        Some(Ok(port)) => return Ok(port),
        Some(Err(_)) => "is not a port, a number from 0 to 65535",
        None => "is not set",
    };
    Err(CommandError::Wrong(format!("the variable `{name}`, which is `server.port`, {problem}; set it, or pass `--port`")))
}

/// Where Prometheus looks, where the settings name a place.
///
/// # Errors
/// The address cannot be bound.
pub(crate) fn metrics_listener(settings: Option<&TelemetrySettings>) -> CommandResult<Option<std::net::TcpListener>> {
    let Some((host, port)) = settings.and_then(|settings| settings.metrics.as_ref()?.prometheus.as_ref()) else { return Ok(None) };
    let bound = (host.as_str(), *port).to_socket_addrs().and_then(|mut addresses| {
        let address = addresses.next().ok_or_else(|| io::Error::other("the name has no address"))?;
        std::net::TcpListener::bind(address)
    });
    bound.map(Some).map_err(|error| {
        let variables = "`OTEL_EXPORTER_PROMETHEUS_HOST` and `OTEL_EXPORTER_PROMETHEUS_PORT`";
        CommandError::Wrong(format!("could not listen on `{host}:{port}` for Prometheus: {error}; name another place by {variables}"))
    })
}

impl ListenOptions {
    /// What the command line says, completed by the app's port and the machine's processors.
    ///
    /// # Errors
    /// The variable that has the port is not set, or has none.
    pub(crate) fn of(host: &Host, app: &mut App, variables: &Variables, log: &str) -> CommandResult<Self> {
        host.add_names(app);
        let isolates = host.isolates.map_or_else(|| available_parallelism().map_or(1, Into::into), usize::from);
        #[cfg(unix)]
        let given = crate::service_manager::socket()?;
        #[cfg(unix)]
        let known = given.as_ref().map(std::net::TcpListener::local_addr).transpose().map_err(CommandError::wrong)?;
        #[cfg(not(unix))]
        let known = None;
        let address = match (known, host.port) {
            (Some(address), _) => address,
            (None, Some(port)) => SocketAddr::new(host.host, port),
            (None, None) => SocketAddr::new(host.host, own_port(app, variables)?),
        };
        let checks_host = checks_host(address.ip(), app);
        let certificate = CertificateFiles::of(host);
        // With TLS, a browser that was led here by another name does not accept the certificate.
        if !checks_host && certificate.is_none() {
            note("warning: any `Host` is let in, which invites DNS rebinding; name the server's own by `server.hosts` or `--allow-host`");
        }
        let IsolateOptions { isolate_memory, threads, grace } = host.isolate;
        let (threads, grace) = (threads || cfg!(not(unix)), Duration::from_secs(grace));
        Ok(Self {
            address,
            #[cfg(unix)]
            given,
            isolates,
            checks_host,
            certificate,
            grace,
            threads,
            memory_mb: isolate_memory,
            log: log.to_owned(),
        })
    }

    /// For a client on standard input and output, which needs no address.
    pub(crate) fn of_stdio(isolate: &IsolateOptions, log: &str) -> Self {
        let IsolateOptions { isolate_memory, threads, grace } = *isolate;
        let (threads, grace) = (threads || cfg!(not(unix)), Duration::from_secs(grace));
        let (address, log) = (SocketAddr::from(([127, 0, 0, 1], 0)), log.to_owned());
        Self {
            address,
            #[cfg(unix)]
            given: None,
            isolates: 1,
            checks_host: false,
            certificate: None,
            grace,
            threads,
            memory_mb: isolate_memory,
            log,
        }
    }

    /// How the URL of the server begins.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.certificate.is_some() { "https" } else { "http" }
    }

    /// Serves until the process is told to end; `ready` is called when connections are taken.
    ///
    /// # Errors
    /// The address cannot be bound, the certificate cannot be used; what `ready` fails with.
    pub(crate) fn serve(self, served: ServedApp, ready: impl FnOnce(SocketAddr, Reloader) -> CommandResult) -> CommandResult {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(CommandError::wrong)?;
        runtime.block_on(async {
            #[cfg(unix)]
            if !self.threads {
                return crate::processes::serve(&self, served, ready).await;
            }
            self.serve_in_threads(served, ready).await
        })
    }

    async fn serve_in_threads(&self, served: ServedApp, ready: impl FnOnce(SocketAddr, Reloader) -> CommandResult) -> CommandResult {
        let calls = CallLog::in_memory();
        let makes = (0..self.isolates).map(|_| served.make(None, &calls)).collect();
        let metrics = metrics_listener(served.telemetry.as_ref())?;
        drop(served);
        let (pem, tls) = self.certificate.as_ref().map(CertificateFiles::open).transpose()?.unzip();
        let stop = stop_signal().map_err(CommandError::wrong)?;
        let listener = self.listener()?;
        let server = Server::start(listener, makes, &self.limits(), tls.as_ref()).map_err(|error| self.explain(&error))?;
        if let (Some(files), Some(pem), Some(tls)) = (self.certificate.clone(), pem, tls) {
            files.watch(pem, move |pem| tls.replace(&pem.certificate, &pem.key).map_err(|failure| format!("{failure:?}")))?;
        }
        if let Some(metrics) = metrics {
            tokio::spawn(scrape::serve(metrics, || async { telemetry::snapshot().unwrap_or_default() }));
        }
        ready(server.address(), Reloader::Threads(server.replacer(), calls))?;
        server.run(stop).await;
        Ok(())
    }

    /// The limits of each isolate.
    pub(crate) fn limits(&self) -> Limits {
        Limits { checks_host: self.checks_host, grace: self.grace, ..Limits::default() }
    }

    /// The socket to listen on. Has to be called within a tokio runtime.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub(crate) fn listener(&self) -> CommandResult<TcpListener> {
        #[cfg(unix)]
        if let Some(given) = &self.given {
            let own = given.try_clone().and_then(|own| own.set_nonblocking(true).and_then(|()| TcpListener::from_std(own)));
            return own.map_err(|error| self.explain(&error));
        }
        bind(self.address).map_err(|error| self.explain(&error))
    }

    fn explain(&self, error: &io::Error) -> CommandError {
        let address = self.address;
        CommandError::Wrong(match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("port {} is in use; stop what uses it, or choose another with `--port` (0 is any free one)", address.port())
            }
            io::ErrorKind::PermissionDenied => {
                format!("port {} needs more privileges than this process has; choose one above 1023 with `--port`", address.port())
            }
            io::ErrorKind::AddrNotAvailable => format!("this machine has no address `{}`; see `--host`", address.ip()),
            _ => format!("`{address}` cannot be used for listening: {error}"),
        })
    }
}

/// Resolves at the first signal to end. A second one ends the process at once.
pub(crate) fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::new()?;
    Ok(async move {
        signals.next().await;
        #[cfg(unix)]
        crate::service_manager::ends();
        let again = if io::stdin().is_terminal() { "Ctrl-C again to quit now" } else { "a second signal ends them at once" };
        note(format_args!("shutting down: calls in flight may finish; {again}"));
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use millrace_native::{isolate, wait_until::Tasks};

    use super::*;

    /// What was worked on, and how many milliseconds it may take.
    #[derive(Clone, Default)]
    struct Seen(Arc<Mutex<Vec<(String, u64)>>>);

    impl Observer for Seen {
        fn entered(&self, call: &RunningCall<'_>) {
            self.0.lock().unwrap().push((call.tool.to_owned(), call.deadline_ms.saturating_sub(SystemClock.now_ms())));
        }
    }

    #[test]
    fn whoever_watches_is_told_that_scripts_are_evaluated() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("millrace.yaml", "name: notes\n"),
            ("app/tools/greet/config.yaml", "description: Greets\n"),
            ("app/tools/greet/handler.ts", "export default () => 'hello';\n"),
        ];
        std::fs::create_dir_all(folder.path().join("app/tools/greet")).unwrap();
        files.iter().for_each(|(path, text)| std::fs::write(folder.path().join(path), text).unwrap());
        let served = ServedApp {
            app: Arc::new(crate::app::compile(folder.path()).app.unwrap()),
            base: folder.path().to_owned(),
            variables: Variables::default(),
            cache: CacheChoice::default(),
            telemetry: None,
            page: Page::Off,
            settings: Arc::new([]),
            caller: None,
        };
        let seen = Seen::default();
        let watched = seen.clone();
        let make = served.make(Some(Box::new(move || Rc::new(watched))), &CallLog::in_memory());
        let body = move || async move {
            let tasks = Tasks::new();
            drop(make(&tasks));
            tasks.drained().await;
        };
        isolate::run(body).unwrap();
        let seen = seen.0.lock().unwrap();
        assert_eq!(seen.iter().map(|(tool, _)| tool.as_str()).collect::<Vec<_>>(), [LOADING]);
        assert!((1..=MOST_LOADING_MS).contains(&seen[0].1), "{seen:?}");
    }
}
