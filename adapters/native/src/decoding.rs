//! Undoes what a server did to a body: `content-encoding` gzip, deflate and br.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use millrace_core::headers::Headers;

/// The most codings of one body, as in browsers' engines.
const MAX_CODINGS: usize = 5;
const BUFFER_BYTES: usize = 4096;
/// How a body in brotli begins whose window is larger than those of RFC 7932, section 9.1.
const LARGE_WINDOW: u8 = 0x11;

/// Why a body cannot be decoded.
pub(crate) enum Undecodable {
    /// It would be longer than the limit.
    TooLarge,
    /// It is not what `content-encoding` says.
    Damaged(io::Error),
}

/// A body as it was before the server encoded it. One with a coding that is not known stays as it
/// is.
pub(crate) fn decoded(headers: &Headers, body: Vec<u8>, limit: usize) -> Result<Vec<u8>, Undecodable> {
    if body.is_empty() {
        return Ok(body);
    }
    let codings: Vec<String> =
        headers.all("content-encoding").flat_map(|value| value.split(',')).map(|coding| coding.trim().to_ascii_lowercase()).collect();
    let is_known = |coding: &String| matches!(coding.as_str(), "gzip" | "x-gzip" | "deflate" | "br" | "identity" | "");
    if codings.len() > MAX_CODINGS || !codings.iter().all(is_known) {
        return Ok(body);
    }
    codings.iter().rev().try_fold(body, |body, coding| match coding.as_str() {
        _ if body.is_empty() => Ok(body),
        "gzip" | "x-gzip" => read(MultiGzDecoder::new(body.as_slice()), limit),
        // Named deflate, it should be zlib's format; some servers send what is within that.
        "deflate" if body[0] & 0x0f == 8 => read(ZlibDecoder::new(body.as_slice()), limit),
        "deflate" => read(DeflateDecoder::new(body.as_slice()), limit),
        // With a larger window than the format has, a few bytes would make the decoder take a
        // gigabyte for it.
        "br" if body[0] & 0x7f == LARGE_WINDOW => Err(Undecodable::Damaged(io::Error::other("a window that is larger than 16 MB"))),
        "br" => read(brotli_decompressor::Decompressor::new(body.as_slice(), BUFFER_BYTES), limit),
        _ => Ok(body),
    })
}

fn read(decoder: impl Read, limit: usize) -> Result<Vec<u8>, Undecodable> {
    let mut body = Vec::new();
    decoder.take(limit as u64 + 1).read_to_end(&mut body).map_err(Undecodable::Damaged)?;
    if body.len() > limit { Err(Undecodable::TooLarge) } else { Ok(body) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::io::Write as _;

    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };

    use super::*;

    const TEXT: &[u8] = br#"{"a":1}"#;
    /// The same by `brotli`.
    const BROTLI: &[u8] = &[0x0b, 0x03, 0x80, b'{', b'"', b'a', b'"', b':', b'1', b'}', 0x03];

    fn encoded<W>(encoder: W, finish: impl FnOnce(W) -> io::Result<Vec<u8>>) -> Vec<u8>
    where
        W: io::Write,
    {
        let mut encoder = encoder;
        encoder.write_all(TEXT).unwrap();
        finish(encoder).unwrap()
    }

    fn outcome(coding: &str, body: &[u8], limit: usize) -> Result<Vec<u8>, &'static str> {
        let headers: Headers = [("Content-Encoding", coding)].into_iter().collect();
        decoded(&headers, body.to_vec(), limit).map_err(|error| match error {
            Undecodable::TooLarge => "too large",
            Undecodable::Damaged(_) => "damaged",
        })
    }

    #[test]
    fn what_a_server_encoded_is_decoded_within_the_limit() {
        let gzip = encoded(GzEncoder::new(Vec::new(), Compression::default()), GzEncoder::finish);
        let zlib = encoded(ZlibEncoder::new(Vec::new(), Compression::default()), ZlibEncoder::finish);
        let raw = encoded(DeflateEncoder::new(Vec::new(), Compression::default()), DeflateEncoder::finish);
        for (coding, body) in
            [("gzip", &*gzip), ("X-GZip", &*gzip), ("deflate", &*zlib), ("deflate", &*raw), ("br", BROTLI), ("identity", TEXT), ("", TEXT)]
        {
            assert_eq!(outcome(coding, body, 7).as_deref(), Ok(TEXT), "{coding}");
            if body != TEXT {
                assert_eq!(outcome(coding, body, 6), Err("too large"), "{coding}");
            }
        }
        let mut twice = GzEncoder::new(Vec::new(), Compression::default());
        twice.write_all(&zlib).unwrap();
        assert_eq!(outcome("deflate, gzip", &twice.finish().unwrap(), 100).as_deref(), Ok(TEXT));
        assert_eq!(outcome("zstd", &gzip, 100).as_deref(), Ok(&*gzip), "one that is not known");
        assert_eq!(outcome("gzip", &gzip[..12], 100), Err("damaged"));
        assert_eq!(outcome("gzip", TEXT, 100), Err("damaged"));
        assert_eq!(outcome("br", &[0xff; 9], 100), Err("damaged"));
        assert_eq!(outcome("gzip", &[], 100).as_deref(), Ok(&[][..]), "to a HEAD request");
        let nothing = GzEncoder::new(Vec::new(), Compression::default()).finish().unwrap();
        for codings in ["gzip", "deflate, gzip", "br, gzip"] {
            assert_eq!(outcome(codings, &nothing, 100).as_deref(), Ok(&[][..]), "{codings} of nothing");
        }
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
        for _ in 0..64 {
            bomb.write_all(&[0; 1 << 20]).unwrap();
        }
        assert_eq!(outcome("gzip", &bomb.finish().unwrap(), 1 << 20), Err("too large"));
        // Its decoder would take the window first, here 1 GB.
        assert_eq!(outcome("br", &[0x11, 0x1e, 0x0b, 0x03, 0x80, b'{', 0x03], 1 << 20), Err("damaged"));
    }
}
