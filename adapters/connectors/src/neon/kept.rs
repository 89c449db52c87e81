//! What a call took from what earlier calls found out.

use millrace_core::value::Value;

use crate::postgres_text::lists::ListForm;

/// A statement whose lists were written as was found out for an earlier call.
pub(super) struct Kept {
    pub(super) text: String,
    pub(super) values: Vec<Value>,
    pub(super) forms: Option<Vec<ListForm>>,
}
