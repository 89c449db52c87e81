//! The languages of statements.

pub use millrace_languages::Dialect;
