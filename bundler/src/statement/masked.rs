use std::ops::Range;

use crate::placeholder::{Piece, Placeholder};

/// A statement in which each placeholder is one NUL, a byte that no author's statement may have.
///
/// So the lexer sees where placeholders stand and cannot be led astray by what is inside their
/// braces.
pub(super) struct MaskedStatement<'a> {
    /// The text with NULs.
    pub(super) text: String,
    /// The placeholders, in order.
    pub(super) marks: Vec<Placeholder<'a>>,
    positions: Vec<usize>,
    author: &'a str,
    origins: Vec<(usize, usize)>,
}

impl<'a> MaskedStatement<'a> {
    /// Masks `author`, which [`placeholder::scan`](crate::placeholder::scan) cut into `pieces`.
    pub(super) fn new(author: &'a str, pieces: Vec<Piece<'a>>) -> Self {
        let mut masked = Self { text: String::new(), marks: Vec::new(), positions: Vec::new(), author, origins: Vec::new() };
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    // Every piece borrows from `author`, so the distance of the two is its place.
                    masked.origins.push((masked.text.len(), text.as_ptr() as usize - author.as_ptr() as usize));
                    masked.text.push_str(text);
                }
                Piece::Placeholder(placeholder) => {
                    masked.origins.push((masked.text.len(), placeholder.range.start));
                    masked.positions.push(masked.text.len());
                    masked.marks.push(placeholder);
                    masked.text.push('\0');
                }
            }
        }
        masked
    }

    /// The author's bytes behind a range of the masked text.
    pub(super) fn place(&self, range: Range<usize>) -> Range<usize> {
        let start = self.origin(range.start);
        let last = range.end.saturating_sub(1).max(range.start);
        let end = match self.mark_at(last) {
            Some(mark) if range.end > range.start => self.marks[mark].range.end,
            _ => self.origin(last) + (range.end - last),
        };
        start..end.clamp(start, self.author.len())
    }

    /// The author's own text behind a range of the masked text.
    pub(super) fn author(&self, range: Range<usize>) -> &'a str {
        &self.author[self.place(range)]
    }

    /// The placeholder whose NUL is at `position`.
    pub(super) fn mark_at(&self, position: usize) -> Option<usize> {
        self.positions.binary_search(&position).ok()
    }

    /// The placeholders inside a range of the masked text.
    pub(super) fn marks_in(&self, range: &Range<usize>) -> Range<usize> {
        self.positions.partition_point(|&at| at < range.start)..self.positions.partition_point(|&at| at < range.end)
    }

    fn origin(&self, position: usize) -> usize {
        let segment = self.origins.partition_point(|&(start, _)| start <= position);
        match segment.checked_sub(1).map(|segment| self.origins[segment]) {
            Some((masked, author)) => author + (position - masked),
            None => 0,
        }
    }
}
