//! What it takes to open a database.

use super::{copy::Copy, location::Location, options::Options};

/// What it takes to open a database.
pub(super) struct Setup {
    pub(super) adapter: String,
    pub(super) location: Location,
    pub(super) options: Options,
    pub(super) read_only: bool,
    pub(super) seed: Option<String>,
    /// What a database in memory is a copy of, in place of its seed.
    pub(super) copy: Option<Copy>,
}
