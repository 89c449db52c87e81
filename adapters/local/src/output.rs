//! Standard output, failures and exit codes.

use std::{
    fmt::{Display, Write as _},
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use millrace_bundler::printable;
use millrace_core::Json;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The app is wrong, or the call failed: exit code 1.
    Wrong(String),
    /// Likewise, and everything is said already.
    Told,
    /// The command line is wrong: exit code 2.
    Usage(String),
    /// Nobody reads standard output any more, which is not a failure.
    ReaderGone,
}

/// What a command comes to.
pub(crate) type CommandResult<T = ()> = Result<T, CommandError>;

impl CommandError {
    /// The app is wrong, or the call failed.
    pub(crate) fn wrong(message: impl Display) -> Self {
        Self::Wrong(message.to_string())
    }
}

/// Prints a line, or several, to standard output. No control character of an app or a caller gets there.
pub(crate) fn print(text: impl Display) -> CommandResult {
    print_whole(printable(&text.to_string()))
}

/// Prints what a tool gave: as it is, for a file or another program, or for people at a terminal.
pub(crate) fn print_result(text: &str) -> CommandResult {
    if io::stdout().is_terminal() { print(text) } else { print_whole(text) }
}

fn print_whole(text: impl Display) -> CommandResult {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CommandError::ReaderGone),
        Err(error) => Err(CommandError::Wrong(format!("standard output cannot be written: {error}"))),
    }
}

/// Prints JSON, for machines, to standard output.
pub(crate) fn print_json(value: &Json) -> CommandResult {
    let mut text = String::new();
    // JSON has its own form for the control characters up to ESC; the others stand in texts only, where this is a form of theirs.
    for character in format!("{value:#}").chars() {
        match character {
            '\n' => text.push('\n'),
            other if printable(other.encode_utf8(&mut [0; 4])).chars().eq([other]) => text.push(other),
            // Writing to a string cannot fail.
            other => drop(write!(text, "\\u{:04x}", u32::from(other))),
        }
    }
    print_whole(text)
}

/// Writes a note for a person who may be watching. No control character of an app or a caller gets there.
pub(crate) fn note(text: impl Display) {
    note_styled(printable(&text.to_string()));
}

/// Likewise, for a text with colours, whose parts are printable already.
pub(crate) fn note_styled(text: impl Display) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// The exit code of an outcome; says what failed.
pub(crate) fn exit(outcome: CommandResult) -> ExitCode {
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    tell(&failure);
    match failure {
        CommandError::ReaderGone => ExitCode::SUCCESS,
        CommandError::Told | CommandError::Wrong(_) => ExitCode::from(1),
        CommandError::Usage(_) => ExitCode::from(2),
    }
}

/// Says what failed, where that is not said yet.
pub(crate) fn tell(failure: &CommandError) {
    if let CommandError::Wrong(message) | CommandError::Usage(message) = failure {
        note(format_args!("error: {message}"));
    }
}
