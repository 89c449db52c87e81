//! What it takes to open a database.

use super::{location::Location, options::Options};

/// What it takes to open a database.
pub(super) struct Setup {
    pub(super) adapter: String,
    pub(super) location: Location,
    pub(super) options: Options,
    pub(super) read_only: bool,
    pub(super) seed: Option<String>,
}
