//! The real binary: the command line, and what it serves.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end where it fails")]

mod as_caller;
mod audits;
mod commands;
mod disconnects;
mod doctor;
mod explain;
mod fault_server;
#[cfg(target_os = "linux")]
mod isolates;
mod places;
#[cfg(target_os = "linux")]
mod renewal;
mod serving;
mod support;
#[cfg(unix)]
mod tls;
