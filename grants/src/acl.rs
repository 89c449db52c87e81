//! Access control lists of Redis: selectors, each with a command, its keys and its channels.

use std::collections::{BTreeMap, BTreeSet};

pub(super) mod pattern;

use pattern::covers;

/// The access control list of a section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl {
    /// Its selectors, in order.
    pub selectors: Vec<Selector>,
    /// Whether it is the first for its user, and what the user had before is taken away.
    pub is_first: bool,
}

/// A command that may be used, and what on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Selector {
    /// Its name as rules have it, `get` or `xinfo|stream`.
    pub command: String,
    /// The patterns of its keys, and what may be done with them.
    pub keys: BTreeMap<String, KeyAccess>,
    /// The patterns of its channels.
    pub channels: BTreeSet<String>,
    /// Who needs it.
    pub users: BTreeSet<String>,
    /// Who has a key that no pattern can say exactly, and where.
    pub(super) inexact: BTreeSet<(String, String)>,
}

/// What may be done with keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyAccess {
    /// Reading the data, or what tells of it.
    Read,
    /// Writing.
    Write,
    /// Both.
    ReadWrite,
}

impl KeyAccess {
    /// What a server of Redis wants for a command. One that only tells of a key needs any of the
    /// two.
    pub(super) const fn of(reads: bool, writes: bool) -> Self {
        match (reads, writes) {
            (true, true) => Self::ReadWrite,
            (false, true) => Self::Write,
            _ => Self::Read,
        }
    }

    const fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Read, Self::Read) => Self::Read,
            (Self::Write, Self::Write) => Self::Write,
            _ => Self::ReadWrite,
        }
    }

    /// How a rule begins.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Read => "%R~",
            Self::Write => "%W~",
            Self::ReadWrite => "~",
        }
    }

    /// Its name, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "read and write",
        }
    }
}

impl Selector {
    /// Its rules, `(+get %R~user:*)`.
    #[must_use]
    pub fn rules(&self) -> String {
        // A server can be set up so that a selector has every channel.
        let reset = if self.channels.is_empty() { "" } else { "resetchannels " };
        let keys = self.keys.iter().map(|(pattern, access)| format!(" {}{pattern}", access.prefix()));
        let channels = self.channels.iter().map(|pattern| format!(" &{pattern}"));
        format!("({reset}+{}{})", self.command, keys.chain(channels).collect::<String>())
    }

    pub(super) fn of(command: String) -> Self {
        Self { command, ..Self::default() }
    }

    pub(super) fn add_key(&mut self, pattern: String, access: KeyAccess) {
        self.keys.entry(pattern).and_modify(|known| *known = known.with(access)).or_insert(access);
    }

    /// Leaves out keys that another pattern of it has already.
    pub(super) fn shorten(&mut self) {
        let all = self.keys.clone();
        self.keys.retain(|pattern, access| {
            !all.iter().any(|(other, wider)| other != pattern && wider.with(*access) == *wider && covers(other, pattern))
        });
        let all = self.channels.clone();
        self.channels.retain(|pattern| !all.iter().any(|other| other != pattern && covers(other, pattern)));
    }

    /// Whether whoever has this needs no other.
    pub(super) fn is_enough_for(&self, other: &Self) -> bool {
        let has_key = |(pattern, access): (&String, &KeyAccess)| {
            self.keys.iter().any(|(own, wider)| wider.with(*access) == *wider && covers(own, pattern))
        };
        let has_channel = |pattern: &String| self.channels.iter().any(|own| covers(own, pattern));
        self.command == other.command && other.keys.iter().all(has_key) && other.channels.iter().all(has_channel)
    }
}
