//! The requests of PostgREST: what a tool may ask of tables and functions, and where a value may
//! stand.
//!
//! A request is judged before it is stored in a bundle, and again before it is sent. Tables,
//! columns, operators, functions and the shape of the answer are the author's; a value is a value
//! of a condition, of a row or of an argument.

mod fields;
mod judge;
mod judged;
mod names;
mod operators;
mod select;
mod walk;

pub use fields::Verb;
pub use judge::judge;
pub use judged::{Judged, Role};
pub use names::{embedded, is_column, is_name, is_reserved, list, order};
pub use operators::{Operand, Operator, begins_like_condition, operator};
pub use select::{Selection, select};

#[cfg(test)]
mod tests;
