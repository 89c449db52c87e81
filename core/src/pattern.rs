//! `pattern`: a regular expression, parsed when the app is bundled.
//!
//! In goes the text of an author, out comes a tree of what it means: classes of characters are
//! lists of ranges, and the flags `i`, `u` and `x` are worked in. So a runtime needs neither a
//! parser nor the tables of Unicode, which would be a quarter of a Worker. What a match captures is
//! not kept: only whether there is one matters. Look-around and back references are refused; the
//! engine is linear in the length of the text.

use alloc::{
    boxed::Box,
    string::{String, ToString as _},
    vec::Vec,
};
use core::{cell::RefCell, fmt};

use regex_automata::nfa::thompson::{
    Compiler, Config as NfaConfig, WhichCaptures,
    pikevm::{Cache, PikeVM},
};
use regex_syntax::{
    ParserBuilder,
    hir::{Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition},
};
use serde::{Deserialize, Serialize};

/// The most memory that one compiled pattern may take, in bytes.
const MAX_BYTES: usize = 10 << 20;

/// A regular expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// As its author wrote it; callers are shown this.
    text: String,
    /// What it means.
    node: Node,
}

/// A part of a regular expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Node {
    /// Matches everywhere.
    Empty,
    /// This text.
    Text(String),
    /// One character of a class: ranges in order, each as the gap since the end of the last and the
    /// number of characters after its first. The numbers are small, so they take one byte or two.
    Class(Vec<(u32, u32)>),
    /// A place: [`Look::as_repr`].
    Place(u32),
    /// A part, repeated.
    Repeat { min: u32, max: Option<u32>, part: Box<Node> },
    /// All parts, one after the other.
    All(Vec<Node>),
    /// One of the parts.
    Any(Vec<Node>),
}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for PatternError {}

impl Pattern {
    /// Parses a pattern; for the bundler, which has the tables of Unicode.
    ///
    /// # Errors
    /// It is not a regular expression, or uses an unsupported feature.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let hir = ParserBuilder::new().build().parse(text).map_err(|error| PatternError(error.to_string()))?;
        Ok(Self { text: text.into(), node: Node::of(&hir)? })
    }

    /// As its author wrote it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Makes it ready to be used.
    ///
    /// # Errors
    /// It would take too much memory.
    pub fn matcher(&self) -> Result<Matcher, PatternError> {
        let hir = self.node.hir().ok_or_else(|| PatternError("it is damaged".into()))?;
        // A match is found or not: where it starts is of no interest.
        let config = NfaConfig::new().nfa_size_limit(Some(MAX_BYTES)).which_captures(WhichCaptures::None);
        let nfa = Compiler::new().configure(config).build_from_hir(&hir).map_err(|error| PatternError(error.to_string()))?;
        let engine = PikeVM::builder().build_from_nfa(nfa).map_err(|error| PatternError(error.to_string()))?;
        let cache = RefCell::new(engine.create_cache());
        Ok(Matcher { engine, cache })
    }
}

impl Node {
    fn of(hir: &Hir) -> Result<Self, PatternError> {
        let parts = |parts: &[Hir]| parts.iter().map(Self::of).collect::<Result<Vec<_>, _>>();
        Ok(match hir.kind() {
            HirKind::Empty => Self::Empty,
            HirKind::Literal(literal) => {
                let text = core::str::from_utf8(&literal.0).map_err(|_| PatternError("it matches bytes that are not text".into()))?;
                Self::Text(text.into())
            }
            HirKind::Class(Class::Unicode(class)) => Self::class(class.iter().map(|range| (range.start().into(), range.end().into()))),
            HirKind::Class(Class::Bytes(class)) => Self::class(class.iter().map(|range| (range.start().into(), range.end().into()))),
            HirKind::Look(look) => Self::Place(look.as_repr()),
            HirKind::Repetition(Repetition { min, max, sub, .. }) => Self::Repeat { min: *min, max: *max, part: Box::new(Self::of(sub)?) },
            HirKind::Capture(Capture { sub, .. }) => Self::of(sub)?,
            HirKind::Concat(all) => Self::All(parts(all)?),
            HirKind::Alternation(any) => Self::Any(parts(any)?),
        })
    }

    fn class(ranges: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut next = 0;
        let spread = ranges.map(|(first, last)| {
            let gap = first - next;
            next = last + 1;
            (gap, last - first)
        });
        Self::Class(spread.collect())
    }

    /// The tree as the engine takes it; `None` for a class that names no characters, which only a
    /// damaged bundle has.
    fn hir(&self) -> Option<Hir> {
        let all = |parts: &[Self]| parts.iter().map(Self::hir).collect::<Option<Vec<_>>>();
        Some(match self {
            Self::Empty => Hir::empty(),
            Self::Text(text) => Hir::literal(text.as_bytes()),
            Self::Class(ranges) => {
                let mut next = 0_u32;
                let ranges = ranges.iter().map(|&(gap, more)| {
                    let first = next.checked_add(gap)?;
                    let last = first.checked_add(more)?;
                    next = last.checked_add(1)?;
                    Some(ClassUnicodeRange::new(char::from_u32(first)?, char::from_u32(last)?))
                });
                Hir::class(Class::Unicode(ClassUnicode::new(ranges.collect::<Option<Vec<_>>>()?)))
            }
            Self::Place(look) => Hir::look(Look::from_repr(*look)?),
            Self::Repeat { min, max, part } => {
                // Whether it takes much or little first decides where a match ends, not whether
                // there is one.
                Hir::repetition(Repetition { min: *min, max: *max, greedy: true, sub: Box::new(part.hir()?) })
            }
            Self::All(parts) => Hir::concat(all(parts)?),
            Self::Any(parts) => Hir::alternation(all(parts)?),
        })
    }
}

/// A pattern that is ready to be used.
pub struct Matcher {
    engine: PikeVM,
    cache: RefCell<Cache>,
}

impl Matcher {
    /// Whether a text contains a match.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.engine.is_match(&mut self.cache.borrow_mut(), text)
    }
}

#[cfg(test)]
mod tests;
