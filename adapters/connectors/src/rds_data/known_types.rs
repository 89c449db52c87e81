//! The types of the places of values that were found out: see module `types`.

use std::cell::RefCell;

use super::failure::Refusal;
use crate::postgres_text::Parameter;

/// What PostgreSQL says where a text does not have the type of its place.
const CODES: [&str; 7] = ["42804", "42809", "42883", "42846", "42725", "42P08", "42P18"];
/// The most statements whose types are kept.
const MOST_KEPT: usize = 500;

/// The types of statements that needed some.
#[derive(Default)]
pub(super) struct KnownTypes(RefCell<Vec<Known>>);

struct Known {
    text: String,
    /// The types that the values have by themselves.
    own: Vec<Option<&'static str>>,
    /// For the others, those of their places; `None` for a text.
    found: Vec<Option<String>>,
}

impl KnownTypes {
    /// The types of a statement, where they were found out.
    pub(super) fn of(&self, text: &str, params: &[Parameter]) -> Option<Vec<Option<String>>> {
        let known = self.0.borrow();
        let known =
            known.iter().find(|known| known.text == text && known.own.iter().copied().eq(params.iter().map(Parameter::type_name)))?;
        Some(known.found.clone())
    }

    /// Keeps the types of a statement; the oldest make room.
    pub(super) fn keep(&self, text: &str, params: &[Parameter], found: Vec<Option<String>>) {
        let mut known = self.0.borrow_mut();
        if known.len() >= MOST_KEPT {
            known.remove(0);
        }
        known.push(Known { text: text.to_owned(), own: params.iter().map(Parameter::type_name).collect(), found });
    }
}

/// Whether PostgreSQL refused a statement for the types of values that have none of their own.
pub(super) fn is_unclear(refusal: &Refusal, params: &[Parameter]) -> bool {
    let is_of_types = refusal.said.as_ref().is_some_and(|said| CODES.contains(&said.code.as_str()));
    is_of_types && params.iter().any(|param| param.type_name().is_none())
}
