//! What was found out of the places of values: see module `types`.

use super::failure::Refusal;
use crate::postgres_text::{Parameter, lists::ListForm};

/// What PostgreSQL says where a text does not have the type of its place.
const CODES: [&str; 7] = ["42804", "42809", "42883", "42846", "42725", "42P08", "42P18"];

/// What was found out of the places of a statement's values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Types {
    /// The types of values that have none of their own, in their places; `None` for those that
    /// have, and for a text.
    pub(super) names: Vec<Option<String>>,
    /// What a list is in each place; `None` where that cannot be found out.
    pub(super) forms: Option<Vec<ListForm>>,
}

/// Whether PostgreSQL refused a statement for the types of values that have none of their own.
/// `is_cast`: they were cast to types that were found out. These may have changed since, and then
/// it is a value that is refused.
pub(super) fn is_unclear(refusal: &Refusal, params: &[Parameter], is_cast: bool) -> bool {
    let is_of_types = |code: &str| CODES.contains(&code) || is_cast && code.starts_with("22");
    refusal.said.as_ref().is_some_and(|said| is_of_types(&said.code)) && params.iter().any(|param| param.type_name().is_none())
}
