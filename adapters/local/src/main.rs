//! `millrace`: the command line, and the host called "this machine".
//!
//! [`cli`] is what may be said, [`commands`] what it does. [`output`] knows standard output, exit
//! codes and failures.

use std::{process::ExitCode, thread};

use clap::Parser as _;

mod announce;
mod app;
mod audit_verify;
mod call_details;
mod call_log;
mod certificate;
mod cli;
mod clients;
mod commands;
mod endpoint_and_page;
mod output;
mod page;
#[cfg(unix)]
mod processes;
#[cfg(unix)]
mod service_manager;
mod serving;
mod state_key;
mod stdio;
mod timing;
mod watch;

use cli::Cli;

/// musl's has one lock for all threads; zig's, which replaces it, asks the system for each block
/// over 32 kB.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The stack of the command's thread, in bytes, of which only what is used takes memory.
const STACK_BYTES: usize = 16 << 20;

/// Runs the command in a thread whose stack is as large everywhere. musl knows no more of the first
/// thread's stack than what is in use, and the parser of SQL would make one of its own at each
/// statement: two fifths of the time of `check`.
fn main() -> ExitCode {
    match thread::Builder::new().name("command".to_owned()).stack_size(STACK_BYTES).spawn(run).map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // It has been said where the panic was.
        Ok(Err(_)) => ExitCode::from(101),
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    let outcome = commands::run(Cli::parse());
    // What was collected and not sent yet.
    millrace_native::telemetry::shut_down();
    output::exit(outcome)
}
