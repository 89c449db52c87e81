//! Standard output, failures and exit codes.

use std::{
    fmt::Display,
    io::{self, Write as _},
    process::ExitCode,
};

use millrace_core::Json;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The app is wrong, or the call failed: exit code 1.
    Wrong(String),
    /// Likewise, and everything is said already.
    Told,
    /// The command line is wrong: exit code 2.
    Usage(String),
    /// Nobody reads standard output any more, which is no failure.
    ReaderGone,
}

/// What a command comes to.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// The app is wrong, or the call failed.
    pub(crate) fn wrong(message: impl Display) -> Self {
        Self::Wrong(message.to_string())
    }
}

/// Prints a line, or several, to standard output.
pub(crate) fn print(text: impl Display) -> Outcome {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::ReaderGone),
        Err(error) => Err(Failure::Wrong(format!("standard output cannot be written: {error}"))),
    }
}

/// Prints JSON, for machines, to standard output.
pub(crate) fn print_json(value: &Json) -> Outcome {
    print(format_args!("{value:#}"))
}

/// Says something to whoever watches; nobody has to.
pub(crate) fn note(text: impl Display) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// The exit code of an outcome; says what failed.
pub(crate) fn exit(outcome: Outcome) -> ExitCode {
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    tell(&failure);
    match failure {
        Failure::ReaderGone => ExitCode::SUCCESS,
        Failure::Told | Failure::Wrong(_) => ExitCode::from(1),
        Failure::Usage(_) => ExitCode::from(2),
    }
}

/// Says what failed, where that is not said yet.
pub(crate) fn tell(failure: &Failure) {
    if let Failure::Wrong(message) | Failure::Usage(message) = failure {
        note(format_args!("error: {message}"));
    }
}
