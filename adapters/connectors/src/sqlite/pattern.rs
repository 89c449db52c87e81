//! `LIKE` and `GLOB`, with the results of SQLite's own, in time that does not grow with the product
//! of pattern and text.
//!
//! A pattern is cut at its `%` (or `*`) into segments. The first stands at the start of the text,
//! the last at its end, and each one between is found at the first place after the one before it. A
//! segment without `_`, `?` and sets is found by one search for its bytes, one with `_` or `?` by
//! all its places at once, 64 in a word. Only a segment with sets is tried at each place; that
//! looks at the deadline every so many steps.

use memchr::memmem::Finder;

use super::deadline;

/// How many elements are compared between two looks at the clock: less than a millisecond.
const STEPS: usize = 1 << 16;

/// The characters that mean something in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `%` and `_`, whatever the case of ASCII letters, with this character before one that stands
    /// for itself.
    Like(Option<char>),
    /// `*`, `?` and `[…]`.
    Glob,
}

/// The deadline passed in the middle of a comparison.
#[derive(Debug, PartialEq)]
pub(super) struct DeadlinePassed;

/// A pattern, ready to be compared.
#[derive(Debug)]
pub(super) struct Pattern {
    folds: bool,
    /// What stands between the `%`, in order; none for a pattern that nothing matches, such as one
    /// with an open `[`.
    segments: Vec<Segment>,
}

#[derive(Debug)]
struct Segment {
    pieces: Vec<Piece>,
    search: Search,
    /// How many characters match it.
    characters: usize,
}

/// How a segment is found.
#[derive(Debug)]
enum Search {
    /// It is nothing but these bytes.
    Bytes(Finder<'static>),
    /// It is characters, and places for any.
    Places(Places),
    /// By trying at each place.
    Trying,
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
    pub(super) fn matches(&self, text: &[u8], folded: &mut Vec<u8>) -> Result<bool, DeadlinePassed> {
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
        let search = match pieces.as_slice() {
            [] => Search::Bytes(Finder::new(b"").into_owned()),
            [Piece::Bytes(bytes)] => Search::Bytes(Finder::new(bytes).into_owned()),
            pieces => Places::new(pieces).map_or(Search::Trying, Search::Places),
        };
        let characters = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Bytes(bytes) => bytes.iter().filter(|byte| !is_inside(**byte)).count(),
                Piece::Any | Piece::Set { .. } => 1,
            })
            .sum();
        Self { pieces, search, characters }
    }

    /// Where the segment ends, if it matches at `at`.
    fn match_at(&self, text: &[u8], mut at: usize, steps: &mut usize) -> Result<Option<usize>, DeadlinePassed> {
        for piece in &self.pieces {
            let rest = text.get(at..).unwrap_or_default();
            *steps += 1;
            if *steps >= STEPS {
                *steps = 0;
                if deadline::is_over() {
                    return Err(DeadlinePassed);
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
    fn find(&self, text: &[u8], at: usize, steps: &mut usize) -> Result<Option<usize>, DeadlinePassed> {
        let rest = text.get(at..).unwrap_or_default();
        match &self.search {
            Search::Bytes(finder) => return Ok(finder.find(rest).map(|start| at + start + finder.needle().len())),
            Search::Places(places) => return Ok(places.find(rest).map(|end| at + end)),
            Search::Trying => {}
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

    /// Where the segment must begin to end with the text, not before `at`.
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

/// The places of a segment as bits: for each character, which places it may take.
#[derive(Debug)]
struct Places {
    count: usize,
    words: usize,
    /// `words` for each ASCII character.
    ascii: Vec<u64>,
    /// The other characters of the segment, in order.
    others: Vec<(u32, Vec<u64>)>,
    /// Every character that the segment does not name.
    unnamed: Vec<u64>,
}

impl Places {
    /// `None` for a segment with a set.
    fn new(pieces: &[Piece]) -> Option<Self> {
        let mut elements = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Bytes(bytes) => elements.extend(str::from_utf8(bytes).ok()?.chars().map(Some)),
                Piece::Any => elements.push(None),
                Piece::Set { .. } => return None,
            }
        }
        let words = elements.len().div_ceil(64);
        let mut unnamed = vec![0; words];
        for (place, _) in elements.iter().enumerate().filter(|(_, element)| element.is_none()) {
            unnamed[place / 64] |= 1 << (place % 64);
        }
        let mut ascii = unnamed.repeat(128);
        let mut others: Vec<(u32, Vec<u64>)> = Vec::new();
        for (place, character) in elements.iter().enumerate().filter_map(|(place, element)| Some((place, u32::from((*element)?)))) {
            let bits = match others.binary_search_by_key(&character, |(other, _)| *other) {
                _ if character < 128 => &mut ascii[character as usize * words..][..words],
                Ok(index) => &mut others[index].1,
                Err(index) => {
                    others.insert(index, (character, unnamed.clone()));
                    &mut others[index].1
                }
            };
            bits[place / 64] |= 1 << (place % 64);
        }
        Some(Self { count: elements.len(), words, ascii, others, unnamed })
    }

    /// Where the first match ends. Each place of `state` says whether the text up to here ends with
    /// that much of the segment.
    fn find(&self, text: &[u8]) -> Option<usize> {
        let last = self.count.checked_sub(1)?;
        let mut state = vec![0_u64; self.words];
        let mut at = 0;
        while let Some(first) = text.get(at) {
            let length = character_length(&text[at..]);
            let allowed = if *first < 128 {
                &self.ascii[usize::from(*first) * self.words..][..self.words]
            } else {
                let character = str::from_utf8(&text[at..at + length]).ok().and_then(|text| text.chars().next());
                let found =
                    character.and_then(|character| self.others.binary_search_by_key(&u32::from(character), |(other, _)| *other).ok());
                found.map_or(&self.unnamed, |index| &self.others[index].1).as_slice()
            };
            let mut carry = 1;
            for (word, allowed) in state.iter_mut().zip(allowed) {
                let next = *word >> 63;
                *word = (*word << 1 | carry) & allowed;
                carry = next;
            }
            at += length;
            if state[last / 64] >> (last % 64) & 1 == 1 {
                return Some(at);
            }
        }
        None
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

/// The rest of `[…]`, as SQLite reads it: `^` first negates, `]` first stands for itself; `None`
/// where it is not closed.
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
