//! What a service manager, such as systemd, is told, and the socket that it gives.
//!
//! `NOTIFY_SOCKET` says where it wants to be told. Without it, and where it does not listen, nothing
//! is said: the server does not depend on it.

use std::{fmt::Display, net::TcpListener};

use listenfd::ListenFd;
use sd_notify::NotifyState;

use crate::output::{CommandError, CommandResult};

/// The socket that the service manager listens on, once: `LISTEN_FDS`, where `LISTEN_PID` is this
/// process. Has to be called before there are other threads.
///
/// # Errors
/// It gives more than one, or one that is not of TCP.
pub(crate) fn socket() -> CommandResult<Option<TcpListener>> {
    // Without it, they are those of a process that started this one.
    if std::env::var_os("LISTEN_PID").is_none() {
        return Ok(None);
    }
    let mut given = ListenFd::from_env();
    match given.len() {
        0 => Ok(None),
        1 => given.take_tcp_listener(0).map_err(|error| CommandError::Wrong(format!("the socket of `LISTEN_FDS` cannot be used: {error}"))),
        count => Err(CommandError::Wrong(format!(
            "`LISTEN_FDS` gives {count} sockets, and a server listens on one; name one address in the socket unit"
        ))),
    }
}

/// Calls are answered; `status` is a line for people.
pub(crate) fn is_ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// A reload has begun; its end is [`is_ready`].
pub(crate) fn reloads() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => untold(error),
    }
}

/// The server ends.
pub(crate) fn ends() {
    tell(&[NotifyState::Stopping, NotifyState::Status("calls in flight finish")]);
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        untold(error);
    }
}

fn untold(error: impl Display) {
    tracing::debug!(%error, "the service manager cannot be told");
}
