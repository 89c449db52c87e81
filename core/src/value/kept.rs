//! Rows as bytes, for the cache and for the records of calls. Nothing is lost, and damage is
//! noticed.

use alloc::{rc::Rc, string::String, vec::Vec};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{Rows, Value};

/// The length of the digest in front of the rows.
const DIGEST_BYTES: usize = 32;

/// Rows as they were kept before one of them could be a document. Records of calls outlive an
/// upgrade.
#[derive(Deserialize)]
struct MereRows {
    columns: Rc<[String]>,
    rows: Vec<Vec<Value>>,
    affected: u64,
    truncated: bool,
}

impl MereRows {
    fn into_rows(self) -> Rows {
        let Self { columns, rows, affected, truncated } = self;
        Rows { columns, rows, affected, truncated, ..Rows::default() }
    }
}

/// Rows as they were kept before any could be cut.
#[derive(Deserialize)]
struct WholeRows {
    columns: Rc<[String]>,
    rows: Vec<Vec<Value>>,
    affected: u64,
}

impl WholeRows {
    fn into_rows(self) -> Rows {
        let Self { columns, rows, affected } = self;
        Rows { columns, rows, affected, ..Rows::default() }
    }
}

impl Rows {
    /// The rows as bytes: a digest, then the rows, so that a value that is cut short or damaged is
    /// told from a whole one.
    #[must_use]
    pub fn to_kept(&self) -> Option<Vec<u8>> {
        let body = postcard::to_allocvec(self).ok()?;
        let mut bytes = Vec::with_capacity(DIGEST_BYTES + body.len());
        bytes.extend_from_slice(&Sha256::digest(&body));
        bytes.extend(body);
        Some(bytes)
    }

    /// The rows of [`to_kept`](Self::to_kept); `None` for bytes that are not whole.
    #[must_use]
    pub fn from_kept(bytes: &[u8]) -> Option<Self> {
        let (digest, body) = bytes.split_first_chunk::<DIGEST_BYTES>()?;
        if Sha256::digest(body).as_slice() != digest {
            return None;
        }
        let mere = || postcard::from_bytes(body).ok().map(MereRows::into_rows);
        postcard::from_bytes(body).ok().or_else(mere).or_else(|| postcard::from_bytes(body).ok().map(WholeRows::into_rows))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn damaged_values_are_told_from_whole_ones() {
        let rows = Rows {
            columns: Rc::from([String::from("id")]),
            rows: vec![vec![Value::I64(i64::MAX)]],
            affected: 0,
            truncated: false,
            ..Rows::default()
        };
        let bytes = rows.to_kept().unwrap();
        assert_eq!(Rows::from_kept(&bytes), Some(rows));
        for cut in 0..bytes.len() {
            assert_eq!(Rows::from_kept(&bytes[..cut]), None, "cut at {cut}");
        }
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1;
            assert_eq!(Rows::from_kept(&damaged), None, "damaged at {position}");
        }
    }
}
