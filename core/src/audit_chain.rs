//! The chain of audit entries: each is sealed together with the one before it, so that whoever has
//! the key finds an entry that was changed, left out, moved or added.
//!
//! Each isolate has a chain of its own. Its first link is its beginning, number 0; the last one is
//! its end, where the isolate has the time to write it. The seal of a link is an HMAC-SHA256, with
//! the key in [`AUDIT_KEY`], of the seal before it and of the link as a JSON array of texts,
//! numbers and nulls.

use alloc::{format, string::String};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::json;
use sha2::Sha256;

use crate::hex;

/// The variable with the key of the chains of audit entries.
pub const AUDIT_KEY: &str = "MILLRACE_AUDIT_KEY";
/// The message of the line with which a chain begins.
pub const CHAIN_BEGINS: &str = "audit chain begins";
/// The message of the line with which it ends.
pub const CHAIN_ENDS: &str = "audit chain ends";
/// The outcome of an entry that is written before the call does anything.
pub const BEGUN: &str = "begun";

/// What is sealed of an entry. An empty text is the same as none: a database keeps it as NULL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditEntry<'a> {
    /// When, as `2026-11-27T22:50:18.123Z`.
    pub at: &'a str,
    /// The id of the request.
    pub request_id: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// Who called.
    pub subject: &'a str,
    /// `allowed` or `refused`
    pub decision: &'a str,
    /// The place of the entry that refused the call.
    pub decided_by: &'a str,
    /// How the call ended.
    pub outcome: &'a str,
    /// The code of its failure.
    pub code: &'a str,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// The names of its inputs, with digests where they are wanted.
    pub inputs: &'a str,
    /// Whether it changed something.
    pub change_made: &'a str,
    /// Whose it was.
    pub tenant: &'a str,
    /// How many rows databases gave or changed.
    pub rows: Option<u64>,
}

/// What a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link<'a> {
    /// The beginning.
    Begin,
    /// An entry.
    Entry(AuditEntry<'a>),
    /// The end, and when.
    End(&'a str),
}

/// The seal of a link.
pub type Seal = [u8; 32];

/// The key of chains.
#[derive(Clone)]
pub struct ChainKey(Hmac<Sha256>);

impl ChainKey {
    /// The key of a text; `None` of a blank one.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        Some(text.trim()).filter(|text| !text.is_empty()).and_then(|text| Hmac::new_from_slice(text.as_bytes()).ok()).map(Self)
    }

    /// The seal of a link of a chain, after the link with the seal `before`. That before the first
    /// one is all zeros. `seq` is the number of the link; `None` for an entry that stands
    /// beside the chain, and has no link before it.
    #[must_use]
    pub fn seal(&self, before: &Seal, chain: &str, seq: Option<u64>, link: &Link<'_>) -> Seal {
        let text = match link {
            Link::Begin => json!(["begin", chain, seq]),
            Link::End(at) => json!(["end", chain, seq, at]),
            Link::Entry(AuditEntry {
                at,
                request_id,
                tool,
                subject,
                decision,
                decided_by,
                outcome,
                code,
                ms,
                inputs,
                change_made,
                tenant,
                rows,
            }) => {
                json!([
                    "entry",
                    chain,
                    seq,
                    at,
                    request_id,
                    tool,
                    subject,
                    decision,
                    decided_by,
                    outcome,
                    code,
                    ms,
                    inputs,
                    change_made,
                    tenant,
                    rows
                ])
            }
        };
        let mut mac = self.0.clone();
        mac.update(before);
        mac.update(format!("{text}").as_bytes());
        mac.finalize().into_bytes().into()
    }
}

/// A moment as ISO 8601 has it, with milliseconds.
#[must_use]
pub fn timestamp(epoch_ms: u64) -> String {
    let time = i64::try_from(epoch_ms).ok().and_then(|epoch_ms| jiff::Timestamp::from_millisecond(epoch_ms).ok());
    time.map_or_else(String::new, |time| format!("{time:.3}"))
}

/// A moment as [`timestamp`] writes it, of one that a database has written in its own way. `None`
/// of anything else.
#[must_use]
pub fn moment(text: &str) -> Option<String> {
    let parsed = text.parse::<jiff::Timestamp>().or_else(|_| format!("{text}Z").parse::<jiff::Timestamp>()).ok()?;
    u64::try_from(parsed.as_millisecond()).ok().map(timestamp)
}

/// The name of a chain that begins now: when, and what no other chain has.
#[must_use]
pub fn chain_name(epoch_ms: u64, random: &[u8; 8]) -> String {
    format!("{}-{}", timestamp(epoch_ms), hex::encode(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_same_however_a_database_writes_it() {
        let at = timestamp(1_795_819_818_120);
        assert_eq!(at, "2026-11-27T22:50:18.120Z");
        for written in [
            "2026-11-27T22:50:18.120Z",
            "2026-11-27 22:50:18.12+00",
            "2026-11-27T23:50:18.12+01:00",
            "2026-11-27 22:50:18.120",
            "2026-11-27 22:50:18.120000",
        ] {
            assert_eq!(moment(written).as_deref(), Some(at.as_str()), "{written}");
        }
        assert_eq!(moment("yesterday"), None);
    }

    #[test]
    fn a_seal_depends_on_every_part_of_a_link() {
        let key = ChainKey::of(" key\n").unwrap();
        let entry = AuditEntry { at: "a", tool: "t", ..AuditEntry::default() };
        let seal = |key: &ChainKey, before: &Seal, chain, seq, entry| key.seal(before, chain, seq, &Link::Entry(entry));
        let of = seal(&key, &Seal::default(), "c", Some(1), entry);
        assert_eq!(of, seal(&ChainKey::of("key").unwrap(), &Seal::default(), "c", Some(1), entry));
        let others = [
            seal(&ChainKey::of("other").unwrap(), &Seal::default(), "c", Some(1), entry),
            seal(&key, &of, "c", Some(1), entry),
            seal(&key, &Seal::default(), "d", Some(1), entry),
            seal(&key, &Seal::default(), "c", Some(2), entry),
            seal(&key, &Seal::default(), "c", None, entry),
            // What moves from one text to the next.
            seal(&key, &Seal::default(), "c", Some(1), AuditEntry { at: "", request_id: "a", ..entry }),
            seal(&key, &Seal::default(), "c", Some(1), AuditEntry { rows: Some(0), ..entry }),
        ];
        assert!(others.iter().all(|other| *other != of));
        assert!(ChainKey::of(" ").is_none());
    }
}
