//! What a tool did, on its way to its caller.

use alloc::boxed::Box;

use super::content::AuthoredContent;
use crate::{Json, value::Rows};

/// What the tool did, before and after stage *map output*.
#[derive(Debug)]
pub(super) enum ToolOutput {
    /// Rows as the connector gave them: written without a detour where nobody looks at them.
    Rows(Rows),
    /// Any other value.
    Value(Json),
    /// A result that a script built.
    Content(Box<AuthoredContent>),
}
