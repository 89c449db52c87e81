//! Ports for tests of the core: [`Inert`] does nothing, [`World`] records what was asked and
//! answers as a test says. [`files`] writes apps, and [`made`] has parts of built ones.

pub mod files;
mod inert;
pub mod made;
mod world;

pub use inert::Inert;
pub use world::{Answer, NOW_MS, RecordedQuery, RecordedScriptCall, World, block_on};
