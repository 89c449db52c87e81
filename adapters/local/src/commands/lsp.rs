//! `millrace lsp`: what editors ask about an app, on standard input and output.

use crate::{
    cli::Lsp,
    lsp,
    output::{CommandError, CommandResult},
};

pub(super) fn run(_: &Lsp) -> CommandResult {
    lsp::serve().map_err(|error| CommandError::Wrong(format!("the editor's messages cannot be read: {error}")))
}
