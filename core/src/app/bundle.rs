//! The bundle: an app as bytes. `MILLRACE`, the version as a little-endian `u16`, and the [`App`] in
//! [postcard](https://postcard.jamesmunns.com/wire-format), which has no maps and no padding: the same app gives the same bytes.

use alloc::vec::Vec;
use core::fmt;

use super::App;

const MAGIC: &[u8; 8] = b"MILLRACE";

/// The version of the bundle encoding. Any change of [`App`] is a new version.
pub const BUNDLE_VERSION: u16 = 7;

/// Why bytes are no bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleError {
    /// They do not begin like one.
    NotABundle,
    /// They are a bundle of another version.
    Version(u16),
    /// They are cut short or damaged.
    Damaged,
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotABundle => f.write_str("this is not a Millrace bundle; make one with `millrace build`"),
            Self::Version(found) => write!(
                f,
                "the bundle has version {found}, this runtime reads version {BUNDLE_VERSION}; build the app again with the `millrace` of this runtime"
            ),
            Self::Damaged => f.write_str("the bundle is cut short or damaged; build the app again"),
        }
    }
}

impl core::error::Error for BundleError {}

impl App {
    /// The app as bytes. The same app gives the same bytes.
    ///
    /// # Errors
    /// [`BundleError::Damaged`] where a value cannot be encoded, which no app of the bundler has.
    pub fn to_bundle(&self) -> Result<Vec<u8>, BundleError> {
        let mut bytes = Vec::from(MAGIC);
        bytes.extend(BUNDLE_VERSION.to_le_bytes());
        bytes.extend(postcard::to_allocvec(self).map_err(|_| BundleError::Damaged)?);
        Ok(bytes)
    }

    /// The app of a bundle.
    ///
    /// # Errors
    /// Says whether the bytes are no bundle, one of another version, or a damaged one.
    pub fn from_bundle(bytes: &[u8]) -> Result<Self, BundleError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(BundleError::NotABundle)?;
        let (version, body) = rest.split_first_chunk::<2>().ok_or(BundleError::Damaged)?;
        match u16::from_le_bytes(*version) {
            BUNDLE_VERSION => postcard::from_bytes(body).map_err(|_| BundleError::Damaged),
            other => Err(BundleError::Version(other)),
        }
    }
}
