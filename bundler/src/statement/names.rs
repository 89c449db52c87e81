//! What the placeholders of a statement may name.

use millrace_core::app::Input;

/// What the placeholders of a statement may name, beside what every call has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// The inputs of the tool.
    pub inputs: &'a [Input],
    /// The names of the steps of a transaction that come before the statement.
    pub steps: &'a [&'a str],
    /// Whether the statement is a step of a transaction.
    pub is_step: bool,
}

impl<'a, I: AsRef<[Input]> + ?Sized> From<&'a I> for Names<'a> {
    fn from(inputs: &'a I) -> Self {
        Self { inputs: inputs.as_ref(), steps: &[], is_step: false }
    }
}
