//! What is known of the languages that databases are spoken to in, a folder for each: how a text of
//! it is cut into tokens, quoted and given values, what is refused, which limits there are, and
//! what the catalogue of a database is asked.
//!
//! The bundler, the drivers and the command line ask here, so that no file outside of this crate
//! has to know one language from another. [`Language`] is what a connector takes, [`Dialect`] a
//! language of statements; what is true of a dialect is a [`Facts`] in its folder, and how its text
//! is cut a [`Lexicon`].
//!
//! Another language is a folder with these, and a variant of each of the two in `language.rs`.
#![no_std]

extern crate alloc;

pub mod call_records;
pub mod clickhouse;
mod document;
mod facts;
pub mod http;
mod language;
pub mod lex;
pub mod mongodb;
pub mod mysql;
pub mod partiql;
pub mod pieces;
#[cfg(feature = "parser")]
pub mod plan;
pub mod postgres;
pub mod postgrest;
pub mod redis;
pub mod refusal;
#[cfg(feature = "parser")]
mod resolution;
pub mod sqlite;
pub mod tokens;
pub mod words;

pub use document::{Flaw, Tree, View};
pub use facts::{About, Facts, Judge, Lists, Rights};
pub use language::{Dialect, Form, Language};
pub use lex::Lexicon;
#[cfg(feature = "parser")]
pub use resolution::Resolution;
