//! The fault of a result that is not what the tool promises.

use alloc::string::String;

use crate::fault::{Fault, Stage};

/// Continues a sentence about a result.
pub(super) const NO_DATA: &str = "is missing: the tool built a result without data";

/// Ends a call whose result does not fit.
pub(super) fn mismatched(message: String) -> Fault {
    Fault::new(Stage::Present, "OUTPUT_SCHEMA_MISMATCH", message).by_author()
}
