//! A zip whose bytes depend on its contents only.

use std::io::{self, Write as _};

use flate2::{Compression, write::DeflateEncoder};
use rawzip::{CompressionMethod, ZipArchiveWriter, time::UtcDateTime};

/// A file of the archive.
pub(super) struct Part {
    /// Its path, with slashes.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// Whether it may be run.
    pub(super) is_program: bool,
}

/// The archive, with its parts in the given order.
///
/// # Errors
/// A part cannot be written.
pub(super) fn zip(parts: &[Part]) -> io::Result<Vec<u8>> {
    let failed = |error: rawzip::Error| io::Error::other(error.to_string());
    // The first time that the format knows.
    let time = UtcDateTime::from_components(1980, 1, 1, 0, 0, 0, 0).ok_or_else(|| io::Error::other("1980-01-01 is not a time"))?;
    let mut archive = ZipArchiveWriter::new(Vec::new());
    for part in parts {
        let file = archive.new_file(part.name.as_str()).compression_method(CompressionMethod::DEFLATE).last_modified(time);
        let mode = if part.is_program { 0o755 } else { 0o644 };
        let (mut entry, config) = file.unix_permissions(mode).start().map_err(failed)?;
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
        writer.write_all(&part.bytes)?;
        let (encoder, descriptor) = writer.finish().map_err(failed)?;
        encoder.finish()?;
        entry.finish(descriptor).map_err(failed)?;
    }
    archive.finish().map_err(failed)
}
