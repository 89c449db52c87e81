//! `millrace`: the command line, and the host called "this machine".
//!
//! [`cli`] is what may be said, [`commands`] what it does. [`output`] knows standard output, exit
//! codes and failures.

use std::process::ExitCode;

use clap::Parser as _;

mod announce;
mod app;
mod app_tests;
mod audit_verify;
mod call_details;
mod call_log;
mod certificate;
mod cli;
mod clients;
mod commands;
mod endpoint_and_page;
mod lsp;
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

fn main() -> ExitCode {
    let outcome = commands::run(Cli::parse());
    // What was collected and not sent yet.
    millrace_native::telemetry::shut_down();
    output::exit(outcome)
}
