//! Lines out of standard input. One that is too long is not kept: what of it comes later is passed
//! over.

use std::io::{self, Read};

/// How much is read at a time, in bytes.
const READ: usize = 64 << 10;

/// Takes lines out of bytes that come in pieces.
pub(super) struct LineReader<R> {
    input: R,
    piece: Box<[u8]>,
    bytes: Vec<u8>,
    /// Everything before it is taken.
    start: usize,
    /// There is no line feed before it.
    searched: usize,
    /// The line was too long: its rest is passed over.
    skipping: bool,
}

/// A line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    TooLong,
}

impl<R: Read> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        let piece = vec![0; READ].into_boxed_slice();
        Self { input, piece, bytes: Vec::new(), start: 0, searched: 0, skipping: false }
    }

    /// Reads more. `false` at the end.
    ///
    /// # Errors
    /// The input cannot be read.
    pub(super) fn fill(&mut self) -> io::Result<bool> {
        let count = loop {
            match self.input.read(&mut self.piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(&self.piece[..count]);
        Ok(count > 0)
    }

    /// The next line that is there, blank ones left out; `limit` is the longest, in bytes.
    pub(super) fn next(&mut self, limit: usize) -> Option<Line> {
        loop {
            let Some(length) = memchr::memchr(b'\n', &self.bytes[self.searched..]) else {
                self.searched = self.bytes.len();
                if self.skipping {
                    self.forget();
                } else if self.searched - self.start > limit {
                    self.forget();
                    self.skipping = true;
                    return Some(Line::TooLong);
                }
                return None;
            };
            let (start, end) = (self.start, self.searched + length);
            (self.start, self.searched) = (end + 1, end + 1);
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if let Some(line) = line(&self.bytes[start..end], limit) {
                return Some(line);
            }
        }
    }

    /// What follows the last line feed, at the end of the input.
    pub(super) fn rest(&mut self, limit: usize) -> Option<Line> {
        let rest = std::mem::take(&mut self.bytes).split_off(self.start);
        (self.start, self.searched) = (0, 0);
        if self.skipping { None } else { line(&rest, limit) }
    }

    fn forget(&mut self) {
        self.bytes = Vec::new();
        (self.start, self.searched) = (0, 0);
    }
}

fn line(bytes: &[u8], limit: usize) -> Option<Line> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    Some(if bytes.len() > limit { Line::TooLong } else { Line::Whole(bytes.to_vec()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a text in pieces of a size.
    struct Pieces<'t>(&'t [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (piece, rest) = self.0.split_at(self.1.min(self.0.len()).min(buffer.len()));
            buffer[..piece.len()].copy_from_slice(piece);
            self.0 = rest;
            Ok(piece.len())
        }
    }

    fn lines(text: &[u8], size: usize, limit: usize) -> (Vec<Line>, usize) {
        let mut reader = LineReader::new(Pieces(text, size));
        let (mut lines, mut most) = (Vec::new(), 0);
        while reader.fill().unwrap() {
            most = most.max(reader.bytes.len());
            while let Some(line) = reader.next(limit) {
                lines.push(line);
            }
        }
        lines.extend(reader.rest(limit));
        (lines, most)
    }

    #[test]
    fn lines_are_found_whatever_pieces_they_come_in() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        let text = b"one\n\n \r\ntwo\r\nmuch too long\nthree\n\nhalf";
        for size in [1, 2, 3, 5, 100] {
            let (found, _) = lines(text, size, 6);
            assert_eq!(found, [whole("one"), whole("two\r"), Line::TooLong, whole("three"), whole("half")], "{size}");
            assert_eq!(lines(b"way too long at the end", size, 6).0, [Line::TooLong], "{size}");
            assert_eq!(lines(b"123456\n1234567\n", size, 6).0, [whole("123456"), Line::TooLong], "{size}");
            assert_eq!(lines(b"", size, 6).0, []);
        }
    }

    #[test]
    fn a_long_line_is_not_kept() {
        let mut text = vec![b'x'; 10 << 20];
        text.extend_from_slice(b"\nafter\n");
        let (found, most) = lines(&text, READ, 100_000);
        assert_eq!(found, [Line::TooLong, Line::Whole(b"after".to_vec())]);
        assert!(most <= 100_000 + 2 * READ, "{most}");
    }
}
