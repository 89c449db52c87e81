//! The process of one isolate: everything that it needs comes over its standard input, a socket.
//!
//! It ends when its supervisor says so, and at once when its supervisor is gone. Signals to end and
//! to renew are the supervisor's, which a terminal or a service manager sends to all processes at
//! once.

use std::{
    fs::File,
    io::{self, Write as _},
    net::TcpListener,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    process,
    rc::Rc,
    sync::Arc,
    thread,
    time::Duration,
};

use millrace_native::{
    board::{Board, BoardSlot},
    http::{Limits, MakeHandler},
    isolate::{Isolate, Order, STACK_BYTES},
    lines::{self, Client},
    logging,
    server_tls::{ServerTls, UnusableCertificate},
    shared_listener, telemetry,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

use super::{
    control::{self, ControlMessage, SERVES},
    deployment::{self, Channel},
    memory,
};
use crate::{
    call_log::CallLog,
    cli,
    endpoint_and_page::EndpointAndPage,
    output::{CommandError, CommandResult, tell},
    serving::ServedApp,
};

/// Runs until the supervisor says to end.
///
/// # Errors
/// What came over standard input is not what a supervisor says; the isolate cannot be started.
pub(crate) fn run(arguments: &cli::Isolate, log: &str) -> CommandResult {
    let socket = socket().map_err(CommandError::wrong)?;
    let (files, certificate) = match control::receive(socket.as_fd()) {
        Ok(Some((ControlMessage::Start, mut files))) => {
            let certificate = (files.len() > 4).then(|| files.pop()).flatten();
            <[OwnedFd; 4]>::try_from(files).map(|files| (files, certificate)).map_err(drop)
        }
        _ => Err(()),
    }
    .map_err(|()| CommandError::Usage("`isolate` is started by `dev` and `serve`".to_owned()))?;
    let [requests, board, calls, deployed] = files;
    let (board, calls, deployed) = (File::from(board), File::from(calls), File::from(deployed));
    let (served, channel) = deployment::read(&deployed)?;
    drop(deployed);
    let format = logging::Format::of(&served.variables).map_err(CommandError::Usage)?;
    logging::init(logging::filter(log).map_err(CommandError::Usage)?, format).map_err(CommandError::wrong)?;
    memory::bound(arguments.memory)?;
    let tls = certificate.map(|file| tls(&file.into())).transpose()?;
    let limits = Limits { grace: Duration::from_secs(arguments.grace), ..Limits::default() };
    let (index, isolates) = (usize::from(arguments.index), usize::from(arguments.isolates));
    telemetry::levels::is_isolate(index, arguments.again);
    let place = BoardSlot::new(Board::new(board, isolates), index);
    let voice = Arc::new(socket.try_clone().map_err(CommandError::wrong)?);
    let makes = HandlerFactory { place: place.clone(), calls: CallLog::in_file(calls, index, isolates), voice };
    let make = makes.of(&served);
    drop(served);
    let of_isolate = tls.clone();
    let body = move |orders| async move {
        ignore_signals();
        let served = match channel {
            Channel::Http { checks_host } => {
                let limits = Limits { checks_host, ..limits };
                shared_listener::serve(TcpListener::from(requests), place, make, limits, of_isolate, orders).await
            }
            Channel::Lines { headers, lists_change } => {
                let client = Client { headers: headers.into_iter().collect(), lists_change };
                lines::serve_socket(UnixStream::from(requests), place, make, client, limits.grace, orders).await
            }
        };
        if let Err(error) = served {
            tracing::error!(%error, "an isolate cannot take requests");
        }
    };
    let isolate = Isolate::spawn(&format!("isolate-{index}"), body).map_err(CommandError::wrong)?;
    let orders = isolate.jobs();
    let control = thread::Builder::new().name("control".to_owned()).stack_size(STACK_BYTES);
    control.spawn(move || obey(&socket, &makes, tls.as_ref(), &orders)).map_err(CommandError::wrong)?;
    isolate.wait();
    Ok(())
}

/// Standard input.
fn socket() -> io::Result<UnixStream> {
    io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from)
}

/// Does what the supervisor says, until it is gone, and the process with it: whatever the isolate
/// does.
fn obey(socket: &UnixStream, makes: &HandlerFactory, tls: Option<&ServerTls>, orders: &mpsc::UnboundedSender<Order<EndpointAndPage>>) {
    while let Ok(Some((word, files))) = control::receive(socket.as_fd()) {
        let order = match (word, files.into_iter().next()) {
            (ControlMessage::Stop, _) => Order::Stop,
            (ControlMessage::Measure, pipe) => {
                if let Some((pipe, snapshot)) = pipe.zip(telemetry::snapshot()) {
                    // Whoever asked may be gone.
                    drop(snapshot.to_bytes().map(|bytes| File::from(pipe).write_all(&bytes)));
                }
                continue;
            }
            (ControlMessage::Certificate, file) => {
                if let Some((tls, file)) = tls.zip(file)
                    && let Err(failure) = exchange(tls, &file.into())
                {
                    tell(&failure);
                }
                continue;
            }
            (_, Some(file)) => match deployment::read(&File::from(file)) {
                Ok((served, _)) => Order::Replace(makes.of(&served)),
                // The supervisor has read it before.
                Err(failure) => {
                    tell(&failure);
                    continue;
                }
            },
            (_, None) => continue,
        };
        drop(orders.send(order));
    }
    process::exit(1);
}

/// Reads the certificate that handshakes are done with.
fn tls(file: &File) -> CommandResult<ServerTls> {
    let pem = deployment::read_certificate(file)?;
    ServerTls::new(&pem.certificate, &pem.key).map_err(unusable)
}

fn exchange(tls: &ServerTls, file: &File) -> CommandResult {
    let pem = deployment::read_certificate(file)?;
    tls.replace(&pem.certificate, &pem.key).map_err(unusable)
}

/// The supervisor has used it before.
fn unusable(failure: UnusableCertificate) -> CommandError {
    CommandError::Wrong(format!("the certificate cannot be used: {failure:?}"))
}

/// Makes handlers that are observed, and tells the supervisor when they serve.
struct HandlerFactory {
    place: BoardSlot,
    calls: CallLog,
    voice: Arc<UnixStream>,
}

impl HandlerFactory {
    fn of(&self, served: &ServedApp) -> MakeHandler<EndpointAndPage> {
        let (place, voice) = (self.place.clone(), self.voice.clone());
        let make = served.make(Some(Box::new(move || Rc::new(place))), &self.calls);
        Box::new(move |tasks| {
            let handler = make(tasks);
            // Where nobody listens, this process is about to end.
            drop((&*voice).write_all(SERVES));
            handler
        })
    }
}

/// A handler once registered stays, and one that does nothing is what ignoring a signal is here.
fn ignore_signals() {
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        if let Err(error) = signal(kind) {
            tracing::debug!(%error, "a signal cannot be ignored");
        }
    }
}
