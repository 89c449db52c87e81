//! The commands of MongoDB: which may be run, with which fields, which of them only read, and where
//! a value may stand.
//!
//! A document is judged before it is stored in a bundle, and again before it is sent. A part of it
//! that MongoDB takes as a name, a stage or an operator must be the author's. Where MongoDB
//! evaluates what it finds (in a projection, or in most stages of a pipeline), a text such as
//! `$password` is not a text but the field of that name; [`Role::Expression`] says so of a value
//! there.

mod document;
mod judge;
mod stages;
mod tables;
mod walk;

pub use document::{ALLOWABLE, Judged, Kind, NEVER, Role, WRAPPERS, allows, is_wrapper};
pub use judge::{judge, may_be_allowed};

#[cfg(test)]
mod tests;
