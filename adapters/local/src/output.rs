//! Standard output, failures and exit codes.

use std::{
    fmt::{Display, Write as _},
    io::{self, IsTerminal as _, Write as _},
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

use millrace_bundler::printable;
use millrace_core::{Error, ErrorParts, Json};
use millrace_native::logging;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The app is wrong, or the call failed: exit code 1.
    Wrong(String),
    /// Likewise, and everything is said already.
    Told,
    /// The command line is wrong: exit code 2.
    Usage(String),
    /// Nothing could be found out, and why, unless that is said already: exit code 2.
    Unable(Option<String>),
    /// What `--require-env` asks for has no value: exit code 78.
    Unset(String),
    /// Nobody reads standard output any more, which is not a failure.
    ReaderGone,
}

/// `EX_CONFIG` of `sysexits.h`, by which whoever starts the command knows that starting it again
/// does not help.
const NOT_CONFIGURED: u8 = 78;

/// What a command comes to.
pub(crate) type CommandResult<T = ()> = Result<T, CommandError>;

impl CommandError {
    /// The app is wrong, or the call failed.
    pub(crate) fn wrong(message: impl Display) -> Self {
        Self::Wrong(message.to_string())
    }

    /// What is not said yet.
    pub(crate) fn message(&self) -> Option<&str> {
        match self {
            Self::Wrong(message) | Self::Usage(message) | Self::Unable(Some(message)) | Self::Unset(message) => Some(message),
            Self::Told | Self::Unable(None) | Self::ReaderGone => None,
        }
    }

    /// Nothing could be found out.
    pub(crate) fn unable(message: impl Display) -> Self {
        Self::Unable(Some(message.to_string()))
    }
}

/// Whether what a server says of itself is JSON, as its log is.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Has what is said from now on written as lines of a log that is JSON.
pub(crate) fn speak_json() {
    AS_JSON.store(true, Ordering::Relaxed);
}

/// A text as a line of a log, where the log is JSON.
fn as_line(text: &str) -> Option<String> {
    let levels = [("error: ", "ERROR"), ("warning: ", "WARN")];
    let (level, message) = levels.iter().find_map(|(start, level)| Some((*level, text.strip_prefix(start)?))).unwrap_or(("INFO", text));
    AS_JSON.load(Ordering::Relaxed).then(|| logging::json_line(level, "millrace", message))
}

/// Prints what a server says of itself to standard output.
pub(crate) fn print_line(text: impl Display) -> CommandResult {
    let text = text.to_string();
    print(as_line(&text).unwrap_or(text))
}

/// Prints a line, or several, to standard output. No control character of an app or a caller gets
/// there.
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
    // JSON has its own form for the control characters up to ESC; the others stand in texts only,
    // where this is a form of theirs.
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

/// An error with the database's own words, for the operator.
pub(crate) fn in_full(error: Error) -> String {
    let ErrorParts { message, source, .. } = error.into_parts();
    match source {
        Some(source) => format!("{message} ({source})"),
        None => message,
    }
}

/// Writes a note for a person who may be watching. No control character of an app or a caller gets
/// there.
pub(crate) fn note(text: impl Display) {
    let text = text.to_string();
    note_styled(printable(&as_line(&text).unwrap_or(text)));
}

/// Likewise, for a text with colours, whose parts are printable already.
pub(crate) fn note_styled(text: impl Display) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// A word for a POSIX shell.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|character| character.is_alphanumeric() || "/:._-+@%,".contains(character));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// A path as one types it in a POSIX shell.
pub(crate) fn typed(path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path);
    shell_word(&if path.as_os_str().is_empty() { Path::new(".") } else { path }.display().to_string())
}

/// The exit code of an outcome; says what failed.
pub(crate) fn exit(outcome: CommandResult) -> ExitCode {
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    tell(&failure);
    match failure {
        CommandError::ReaderGone => ExitCode::SUCCESS,
        CommandError::Told | CommandError::Wrong(_) => ExitCode::from(1),
        CommandError::Usage(_) | CommandError::Unable(_) => ExitCode::from(2),
        CommandError::Unset(_) => ExitCode::from(NOT_CONFIGURED),
    }
}

/// Says what failed, where that is not said yet.
pub(crate) fn tell(failure: &CommandError) {
    if let Some(message) = failure.message() {
        note(format_args!("error: {message}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_paths_survive_a_shell() {
        assert_eq!(shell_word("http://127.0.0.1:8080/mcp"), "http://127.0.0.1:8080/mcp");
        assert_eq!(shell_word("http://[::1]:80/mcp"), "'http://[::1]:80/mcp'");
        assert_eq!(shell_word(r#"{"q":"O'Neil"}"#), r#"'{"q":"O'\''Neil"}'"#);
        for (path, expected) in [("./dist/x.toml", "dist/x.toml"), (".", "."), ("my apps/dist", "'my apps/dist'"), ("../größe", "../größe")]
        {
            assert_eq!(typed(Path::new(path)), expected);
        }
    }
}
