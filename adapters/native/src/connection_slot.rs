//! The count of connections.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::OwnedSemaphorePermit;

/// A connection's place, given back when it is dropped.
pub(crate) struct ConnectionSlot {
    connections: Arc<AtomicUsize>,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSlot {
    /// Counts a connection among `connections`.
    pub(crate) fn take(connections: &Arc<AtomicUsize>, permit: OwnedSemaphorePermit) -> Self {
        connections.fetch_add(1, Ordering::Relaxed);
        Self { connections: connections.clone(), _permit: permit }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
