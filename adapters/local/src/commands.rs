//! The commands, one a file.

use millrace_native::{env::Variables, logging};

use crate::{
    cli::{Cli, Command},
    output::{CommandError, CommandResult, speak_json},
};

mod answers;
mod audit;
mod build;
mod call;
mod caller;
mod check;
mod connect;
mod dev;
mod diff;
mod doctor;
mod explain;
mod first_tests;
mod grants;
mod health;
mod import;
mod lsp;
mod metrics;
mod new;
mod run;
mod schema;
mod serve;
mod surface;
mod test;
mod types;

/// Runs a command.
pub(crate) fn run(cli: Cli) -> CommandResult {
    let default = match cli.command {
        Command::Dev(_) | Command::Serve(_) => "info",
        // What is expected to fail is told by its test alone.
        Command::Test(_) => "off",
        _ => "warn",
    };
    let log = cli.log.as_deref().filter(|text| !text.is_empty()).unwrap_or(default);
    #[cfg(unix)]
    if let Command::Isolate(arguments) = &cli.command {
        return crate::processes::isolate::run(arguments, log);
    }
    let filter = logging::filter(log).map_err(CommandError::Usage)?;
    let variables = match &cli.command {
        // What is wrong with the file is told when the command reads it.
        Command::Dev(dev) => crate::app::variables(&dev.app).unwrap_or_default(),
        Command::Call(call) => crate::app::variables(&call.app).unwrap_or_default(),
        Command::Run(run) => crate::app::variables(&run.app).unwrap_or_default(),
        _ => Variables::of_process(),
    };
    let format = logging::Format::of(&variables).map_err(CommandError::Usage)?;
    logging::init(filter, format).map_err(CommandError::wrong)?;
    if format == logging::Format::Json && matches!(cli.command, Command::Serve(_)) {
        speak_json();
    }
    match cli.command {
        Command::New(arguments) => new::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Dev(arguments) => dev::run(arguments, log),
        Command::Call(arguments) => call::run(arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Build(arguments) => build::run(&arguments),
        Command::Serve(arguments) => serve::run(arguments, log),
        Command::Connect(arguments) => connect::run(&arguments),
        Command::Health(arguments) => health::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Run(arguments) => run::run(arguments, log),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Lsp(arguments) => lsp::run(&arguments),
        Command::Types(arguments) => types::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Grants(arguments) => grants::run(&arguments),
        Command::Audit(arguments) => audit::run(&arguments),
        #[cfg(feature = "checkout")]
        Command::Runtimes(arguments) => build::runtimes(&arguments),
        // It has logs and traces of its own.
        #[cfg(unix)]
        Command::Isolate(_) => Ok(()),
    }
}
