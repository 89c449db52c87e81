//! The futures of the ports.

use alloc::boxed::Box;
use core::{future::Future, pin::Pin};

/// A future that stays on its isolate.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;
