//! Arrays of types that only the server knows: of enums, domains, composites, ranges and whatever
//! else has no number of its own in [`Kind::of`].
//!
//! A cell that may be one begins with `{`, or with bounds. Only then the server is asked about its
//! type, and once for each: the number of a type is never that of another one.

use std::{cell::RefCell, collections::BTreeMap};

use millrace_core::value::{Rows, Value};

use super::{
    Oid,
    cell::{Elements, Kind, Scalar},
    lists::ListForm,
    lists::{form_of_type, types_of_numbers},
};

/// The most types that are asked about at once, one for each column that a result may have, and the
/// most bytes of the answer.
pub(crate) const MOST_ASKED: usize = 1_664;
pub(crate) const MAX_ANSWER: usize = 1 << 16;
/// How many types are known at most; then the first ones make room.
const MOST_KEPT: usize = 1000;
/// The numbers of types, what each is to a list, and the numbers of their elements, a domain
/// counting as what it is made of.
pub(crate) const ELEMENTS_OF_TYPES: &str = concat!(
    "SELECT u.o::pg_catalog.int8, ",
    form_of_type!(),
    ", COALESCE(NULLIF(e.typbasetype, 0::pg_catalog.oid), e.oid)::pg_catalog.int8 FROM pg_catalog.unnest($1::pg_catalog.oid[]) AS u (o) ",
    types_of_numbers!()
);
/// Types of texts, which are never arrays: `"char"`, `name`, `text`, `unknown`, `character`,
/// `character varying`.
const TEXTS: [Oid; 6] = [18, 19, 25, 705, 1042, 1043];

/// What is known of types.
#[derive(Debug, Default)]
pub(crate) struct KnownTypes(RefCell<BTreeMap<Oid, Kind>>);

impl KnownTypes {
    /// Keeps what the server says to [`ELEMENTS_OF_TYPES`].
    pub(crate) fn learn(&self, answer: &Rows) {
        let number = |cell: &Value| if let Value::I64(number) = cell { Oid::try_from(*number).ok() } else { None };
        let mut known = self.0.borrow_mut();
        for row in &answer.rows {
            let [oid, Value::Text(form), element] = row.as_slice() else { continue };
            let Some(oid) = number(oid) else { continue };
            let sign = match ListForm::read(form) {
                ListForm::Document => None,
                ListForm::Documents => Some(','),
                ListForm::Array(sign) => Some(sign),
            };
            let scalar = match number(element).map(Kind::of) {
                Some(Kind::One(scalar)) => scalar,
                _ => Scalar::Text,
            };
            if known.len() >= MOST_KEPT {
                known.pop_first();
            }
            known.insert(oid, sign.map_or(Kind::One(Scalar::Text), |sign| Kind::Array(Elements { scalar, sign })));
        }
    }

    fn kind(&self, oid: Oid) -> Option<Kind> {
        self.0.borrow().get(&oid).copied()
    }
}

/// The columns of a result that may be arrays of types that only the server knows.
#[derive(Debug, Default)]
pub(crate) struct UnclearColumns(Vec<(usize, Oid)>);

impl UnclearColumns {
    /// Looks at a cell of the column in the place `at`.
    pub(crate) fn look(&mut self, at: usize, oid: Oid, cell: &[u8]) {
        let may_be_array = cell.starts_with(b"{") || cell.starts_with(b"[") && cell.windows(3).any(|bytes| bytes == b"]={");
        if may_be_array
            && Kind::of(oid) == Kind::One(Scalar::Text)
            && !TEXTS.contains(&oid)
            && !self.0.iter().any(|(known, _)| *known == at)
        {
            self.0.push((at, oid));
        }
    }

    /// The value of [`ELEMENTS_OF_TYPES`], which asks about the types that are not known yet;
    /// `None` where all are known.
    pub(crate) fn question(&self, types: &KnownTypes) -> Option<Value> {
        let unknown: Vec<Value> =
            self.0.iter().filter(|(_, oid)| types.kind(*oid).is_none()).map(|(_, oid)| Value::I64((*oid).into())).collect();
        (!unknown.is_empty()).then_some(Value::Array(unknown))
    }

    /// Makes lists of the texts that are arrays.
    pub(crate) fn read(&self, types: &KnownTypes, rows: &mut Rows) {
        for (at, oid) in &self.0 {
            let Some(kind @ Kind::Array(_)) = types.kind(*oid) else { continue };
            for cell in rows.rows.iter_mut().filter_map(|row| row.get_mut(*at)) {
                if let Value::Text(text) = cell {
                    *cell = kind.value(text.as_bytes());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_an_array_is_asked_about_once_and_read() {
        let mut unclear = UnclearColumns::default();
        for (at, oid, cell) in [
            (0, 25, "{a}"),
            (1, 16_400, "{happy,sad}"),
            (1, 16_400, "{}"),
            (2, 16_500, "[0:1]={\"(1,2)\",NULL}"),
            (3, 3904, "[1,3)"),
            (4, 4451, "{[1,3)}"),
            (5, 1007, "{1}"),
            (6, 16_600, "{1,2}"),
        ] {
            unclear.look(at, oid, cell.as_bytes());
        }
        let types = KnownTypes::default();
        let numbers = |list: &[i64]| Value::Array(list.iter().map(|oid| Value::I64(*oid)).collect());
        assert_eq!(unclear.question(&types), Some(numbers(&[16_400, 16_500, 4451, 16_600])));
        let text = |text: &str| Value::Text(text.to_owned());
        let row = |oid, form, element: Value| vec![Value::I64(oid), text(form), element];
        let rows = vec![
            row(16_400, ",", Value::I64(16_399)),
            row(16_500, ",", Value::I64(16_499)),
            row(4451, "d", Value::Null),
            row(16_600, ",", Value::I64(23)),
        ];
        types.learn(&Rows { rows, ..Rows::default() });
        assert_eq!(unclear.question(&types), None);
        let row = ["{a}", "{happy,sad}", "[0:1]={\"(1,2)\",NULL}", "[1,3)", "{[1,3)}", "{1}", "{1,2}"].map(text).to_vec();
        let mut rows = Rows { rows: vec![row], ..Rows::default() };
        unclear.read(&types, &mut rows);
        let list = |texts: &[&str]| Value::Array(texts.iter().map(|element| text(element)).collect());
        let expected = vec![
            text("{a}"),
            list(&["happy", "sad"]),
            Value::Array(vec![text("(1,2)"), Value::Null]),
            text("[1,3)"),
            text("{[1,3)}"),
            text("{1}"),
            numbers(&[1, 2]),
        ];
        assert_eq!(rows.rows, [expected]);
    }
}
