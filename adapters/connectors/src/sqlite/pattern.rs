//! `LIKE` and `GLOB`, with the results of SQLite's own, in time that does not grow with the product of pattern and text.
//!
//! A pattern is cut at its `%` (or `*`) into segments. The first stands at the start of the text, the last at its end, and each one between
//! is found at the first place after the one before it. A segment without `_`, `?` and sets is found by one search for its bytes.
//! What has to be tried at each place looks at the deadline every so many steps.

use memchr::memmem::Finder;

use super::deadline;

/// How many elements are compared between two looks at the clock: less than a millisecond.
const STEPS: usize = 1 << 16;

/// The characters that mean something in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `%` and `_`, whatever the case of ASCII letters, with this character before one that stands for itself.
    Like(Option<char>),
    /// `*`, `?` and `[…]`.
    Glob,
}

/// The deadline passed in the middle of a comparison.
#[derive(Debug, PartialEq)]
pub(super) struct Over;

/// A pattern, ready to be compared.
#[derive(Debug)]
pub(super) struct Pattern {
    folds: bool,
    /// What stands between the `%`, in order; none for a pattern that nothing matches, such as one with an open `[`.
    segments: Vec<Segment>,
}

#[derive(Debug)]
struct Segment {
    pieces: Vec<Piece>,
    /// Searches for the segment, where it is nothing but bytes.
    finder: Option<Finder<'static>>,
    /// How many characters match it.
    characters: usize,
}

#[derive(Debug)]
enum Piece {
    Bytes(Vec<u8>),
    Any,
    Set { negated: bool, ranges: Vec<(char, char)> },
}

impl Pattern {
    /// Reads a pattern. SQLite's ends at a NUL character, and so does this.
    pub(super) fn new(bytes: &[u8], syntax: Syntax) -> Self {
        let text = String::from_utf8_lossy(until_nul(bytes));
        let folds = matches!(syntax, Syntax::Like(_));
        let segments = segments(&text, syntax).unwrap_or_default();
        Self { folds, segments: segments.into_iter().map(Segment::new).collect() }
    }

    /// Whether a text matches. `folded` is memory to work in.
    pub(super) fn matches(&self, text: &[u8], folded: &mut Vec<u8>) -> Result<bool, Over> {
        let mut text = until_nul(text);
        if self.folds && text.iter().any(u8::is_ascii_uppercase) {
            folded.clear();
            folded.extend(text.iter().map(u8::to_ascii_lowercase));
            text = folded;
        }
        let Some((first, others)) = self.segments.split_first() else { return Ok(false) };
        let mut steps = 0;
        let Some(mut at) = first.match_at(text, 0, &mut steps)? else { return Ok(false) };
        let Some((last, middle)) = others.split_last() else { return Ok(at == text.len()) };
        for segment in middle {
            match segment.find(text, at, &mut steps)? {
                Some(end) => at = end,
                None => return Ok(false),
            }
        }
        let Some(start) = last.start_from_end(text, at) else { return Ok(false) };
        Ok(last.match_at(text, start, &mut steps)? == Some(text.len()))
    }
}

impl Segment {
    fn new(pieces: Vec<Piece>) -> Self {
        let finder = match pieces.as_slice() {
            [] => Some(Finder::new(b"").into_owned()),
            [Piece::Bytes(bytes)] => Some(Finder::new(bytes).into_owned()),
            _ => None,
        };
        let characters = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Bytes(bytes) => bytes.iter().filter(|byte| !is_inside(**byte)).count(),
                Piece::Any | Piece::Set { .. } => 1,
            })
            .sum();
        Self { pieces, finder, characters }
    }

    /// Where the segment ends, if it matches at `at`.
    fn match_at(&self, text: &[u8], mut at: usize, steps: &mut usize) -> Result<Option<usize>, Over> {
        for piece in &self.pieces {
            let rest = text.get(at..).unwrap_or_default();
            *steps += 1;
            if *steps >= STEPS {
                *steps = 0;
                if deadline::is_over() {
                    return Err(Over);
                }
            }
            let length = match piece {
                Piece::Bytes(bytes) if rest.starts_with(bytes) => {
                    // Comparing some hundred bytes takes as long as a step.
                    *steps += bytes.len() / 256;
                    bytes.len()
                }
                Piece::Bytes(_) => return Ok(None),
                Piece::Any if rest.is_empty() => return Ok(None),
                Piece::Any => character_length(rest),
                Piece::Set { negated, ranges } => {
                    if rest.is_empty() {
                        return Ok(None);
                    }
                    let length = character_length(rest);
                    let character = String::from_utf8_lossy(&rest[..length]).chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
                    *steps += ranges.len();
                    if ranges.iter().any(|(first, last)| (*first..=*last).contains(&character)) == *negated {
                        return Ok(None);
                    }
                    length
                }
            };
            at += length;
        }
        Ok(Some(at))
    }

    /// Where the segment ends that begins at the first possible place from `at` on.
    fn find(&self, text: &[u8], at: usize, steps: &mut usize) -> Result<Option<usize>, Over> {
        if let (Some(finder), Some(rest)) = (&self.finder, text.get(at..)) {
            return Ok(finder.find(rest).map(|start| at + start + finder.needle().len()));
        }
        let mut start = at;
        while start < text.len() {
            if let Some(end) = self.match_at(text, start, steps)? {
                return Ok(Some(end));
            }
            start += character_length(&text[start..]);
        }
        Ok(None)
    }

    /// Where the segment has to begin to end with the text, not before `at`.
    fn start_from_end(&self, text: &[u8], at: usize) -> Option<usize> {
        let mut start = text.len();
        for _ in 0..self.characters {
            start = start.checked_sub(1)?;
            while start > 0 && is_inside(text[start]) {
                start -= 1;
            }
        }
        (start >= at).then_some(start)
    }
}

/// The pieces between the `%`; `None` where nothing can match.
fn segments(text: &str, syntax: Syntax) -> Option<Vec<Vec<Piece>>> {
    let (all, one, escape) = match syntax {
        // The character before one that stands for itself has no other meaning.
        Syntax::Like(escape) => (Some('%').filter(|all| escape != Some(*all)), Some('_').filter(|one| escape != Some(*one)), escape),
        Syntax::Glob => (Some('*'), Some('?'), None),
    };
    let mut segments = vec![Vec::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let piece = if Some(character) == all {
            segments.push(Vec::new());
            continue;
        } else if Some(character) == escape {
            Some(characters.next()?)
        } else if Some(character) == one {
            None
        } else if character == '[' && syntax == Syntax::Glob {
            let set = set(&mut characters)?;
            push(&mut segments, set);
            continue;
        } else {
            Some(character)
        };
        match piece {
            None => push(&mut segments, Piece::Any),
            Some(mut literal) => {
                if syntax != Syntax::Glob {
                    literal = literal.to_ascii_lowercase();
                }
                let mut buffer = [0; 4];
                let bytes = literal.encode_utf8(&mut buffer).as_bytes();
                match segments.last_mut().and_then(|segment| segment.last_mut()) {
                    Some(Piece::Bytes(before)) => before.extend_from_slice(bytes),
                    _ => push(&mut segments, Piece::Bytes(bytes.to_vec())),
                }
            }
        }
    }
    Some(segments)
}

fn push(segments: &mut [Vec<Piece>], piece: Piece) {
    if let Some(segment) = segments.last_mut() {
        segment.push(piece);
    }
}

/// The rest of `[…]`, as SQLite reads it: `^` first negates, `]` first stands for itself; `None` where it is not closed.
fn set(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Piece> {
    let mut ranges = Vec::new();
    let mut next = characters.next()?;
    let negated = next == '^';
    if negated {
        next = characters.next()?;
    }
    if next == ']' {
        ranges.push((']', ']'));
        next = characters.next()?;
    }
    let mut before = None;
    while next != ']' {
        match (before, characters.peek()) {
            (Some(first), Some(following)) if next == '-' && *following != ']' => {
                ranges.push((first, characters.next()?));
                before = None;
            }
            _ => {
                ranges.push((next, next));
                before = Some(next);
            }
        }
        next = characters.next()?;
    }
    Some(Piece::Set { negated, ranges })
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    memchr::memchr(0, bytes).map_or(bytes, |end| &bytes[..end])
}

/// Whether a byte goes on with a character.
const fn is_inside(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// The bytes of the first character; a byte that begins none counts as one.
fn character_length(rest: &[u8]) -> usize {
    match rest.split_first() {
        Some((first, others)) if *first >= 0xc0 => 1 + others.iter().take_while(|byte| is_inside(**byte)).count(),
        _ => rest.len().min(1),
    }
}
