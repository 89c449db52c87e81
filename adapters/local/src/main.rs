//! `millrace`: the command line, and the host called "this machine".
//!
//! [`cli`] is what may be said, [`commands`] what it does. [`output`] knows standard output, exit
//! codes and failures.

use std::process::ExitCode;

use clap::Parser as _;

mod announce;
mod app;
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

fn main() -> ExitCode {
    output::exit(commands::run(Cli::parse()))
}
