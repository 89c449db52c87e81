//! The stages, a file each.

pub(super) mod authenticate;
pub(super) mod execute;
pub(super) mod guard;
pub(super) mod make_context;
pub(super) mod map_input;
pub(super) mod map_output;
pub(super) mod middleware;
pub(super) mod present;
pub(super) mod resolve;
pub(super) mod serialize;
pub(super) mod signal;
pub(super) mod sync;
pub(super) mod validate;
