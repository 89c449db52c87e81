//! `sync`: what a call changes, and what a cached result depends on. All of it is resolved when the
//! app is bundled.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// What a tool has to do with the freshness of cached results. Each number is an index into
/// [`App::epochs`](super::App::epochs).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSync {
    /// What the tool's own cached results depend on. `None`: on nothing that the app changes.
    pub reads: Option<CachedReads>,
    /// What a call changes, whatever its scripts do: the tables that its statement writes,
    /// `writes`, and what `invalidates` names.
    pub writes: EpochWrites,
    /// By index into [`App::adapters`](super::App::adapters): what changes where a script of the
    /// call writes with that adapter.
    pub script_writes: Vec<(u32, EpochWrites)>,
    /// What callers are told after a call that went well.
    pub announces: Option<Announcement>,
}

/// What cached results depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedReads {
    /// The key of a result has these.
    pub epochs: Vec<u32>,
    /// While one of these is set, nothing is taken from the cache and nothing is put there: a write
    /// may still be carried out.
    pub unsettled: Vec<u32>,
}

/// What a write changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpochWrites {
    /// These begin anew.
    pub epochs: Vec<u32>,
    /// These are set for a while where it is not known whether, or when, the write is carried out.
    pub unsettled: Vec<u32>,
}

impl EpochWrites {
    /// Whether nothing depends on the write.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.epochs.is_empty()
    }
}

/// `invalidates`, for callers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// The key of the tool: `invoices.pay`.
    pub cause: String,
    /// `invalidates`, as its author wrote it: `invoices.*`.
    pub domains: Vec<String>,
}

impl ToolSync {
    /// Whether a call has anything to do once it is carried out.
    #[must_use]
    pub const fn changes(&self) -> bool {
        !self.writes.is_empty() || !self.script_writes.is_empty() || self.announces.is_some()
    }
}
