//! How a host opens sockets, and how long they may live.

use std::rc::Rc;

use millrace_core::ports::Dialer;

/// The sockets of a host.
#[derive(Clone)]
pub struct Sockets {
    /// Opens them.
    pub dialer: Rc<dyn Dialer>,
    /// How long they may live.
    pub lifetime: Lifetime,
    /// Whether an adapter may name the certificates that it trusts.
    pub own_roots: bool,
}

/// How long connections live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// As long as their isolate.
    Isolate,
    /// As long as a call: where a socket cannot outlive the request that opened it.
    /// `max_connections` means nothing then: a call that waited for another request's would be
    /// woken by that request, and what it did then would be taken for that one's.
    Call,
}
