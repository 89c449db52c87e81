//! The types of the places of values that were found out: see module `types`.

use std::cell::RefCell;

use super::failure::Refusal;
use crate::postgres_text::Parameter;

/// What PostgreSQL says where a text does not have the type of its place.
const CODES: [&str; 7] = ["42804", "42809", "42883", "42846", "42725", "42P08", "42P18"];
/// The most statements whose types are kept.
const MOST_KEPT: usize = 500;

/// How long the types of a statement are kept, in milliseconds: somebody may change a column's type meanwhile, and a text that is cast to the old one need not
/// fail. As a `timestamp`, a time with a zone loses it.
const KEPT_MS: u64 = 60_000;

/// The types of the values of a statement that have none of their own, in their places; `None` for those that have, and for a text.
pub(super) type Types = Vec<Option<String>>;

/// The types of statements that needed some.
#[derive(Default)]
pub(super) struct KnownTypes(RefCell<Vec<Known>>);

struct Known {
    text: String,
    /// The types that the values have by themselves.
    own: Vec<Option<&'static str>>,
    found: Types,
    /// When they were found out, in milliseconds since the Unix epoch.
    found_ms: u64,
}

impl Known {
    fn is_of(&self, text: &str, params: &[Parameter]) -> bool {
        self.text == text && self.own.iter().copied().eq(params.iter().map(Parameter::type_name))
    }
}

impl KnownTypes {
    /// The types of a statement, where they were found out less than a minute ago.
    pub(super) fn of(&self, text: &str, params: &[Parameter], now_ms: u64) -> Option<Types> {
        let known = self.0.borrow();
        let known = known.iter().find(|known| known.is_of(text, params))?;
        (now_ms.saturating_sub(known.found_ms) < KEPT_MS).then(|| known.found.clone())
    }

    /// Keeps the types of a statement; the oldest make room.
    pub(super) fn keep(&self, text: &str, params: &[Parameter], found: Types, now_ms: u64) {
        let mut known = self.0.borrow_mut();
        known.retain(|known| !known.is_of(text, params));
        if known.len() >= MOST_KEPT {
            known.remove(0);
        }
        known.push(Known { text: text.to_owned(), own: params.iter().map(Parameter::type_name).collect(), found, found_ms: now_ms });
    }
}

/// Whether PostgreSQL refused a statement for the types of values that have none of their own. `is_cast`: they were cast to types that were found out. These may
/// have changed since, and then it is a value that is refused.
pub(super) fn is_unclear(refusal: &Refusal, params: &[Parameter], is_cast: bool) -> bool {
    let is_of_types = |code: &str| CODES.contains(&code) || is_cast && code.starts_with("22");
    refusal.said.as_ref().is_some_and(|said| is_of_types(&said.code)) && params.iter().any(|param| param.type_name().is_none())
}

#[cfg(test)]
mod tests {
    use millrace_core::value::Value;

    use super::*;

    #[test]
    fn types_are_kept_for_a_minute_and_for_the_values_that_they_were_found_for() {
        let known = KnownTypes::default();
        let params = |values: &[Value]| values.iter().map(Parameter::of).collect::<Vec<_>>();
        let (text, number) = (params(&[Value::Text("x".into())]), params(&[Value::I64(7)]));
        let types = |name: &str| vec![Some(name.to_owned())];
        known.keep("a", &text, types("pg_catalog.uuid"), 1_000);
        assert_eq!(known.of("a", &text, 1_000 + KEPT_MS - 1), Some(types("pg_catalog.uuid")));
        assert_eq!([known.of("a", &text, 1_000 + KEPT_MS), known.of("a", &number, 1_000), known.of("b", &text, 1_000)], [None, None, None]);
        known.keep("a", &text, types("pg_catalog.date"), 2_000);
        assert_eq!(known.of("a", &text, 2_000), Some(types("pg_catalog.date")));
        for number in 0..MOST_KEPT {
            known.keep(&format!("s{number}"), &text, types("pg_catalog.date"), 3_000);
        }
        assert_eq!((known.of("a", &text, 3_000), known.0.borrow().len()), (None, MOST_KEPT));
    }
}
