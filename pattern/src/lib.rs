//! Regular expressions of ECMAScript as a tree, and what can be said of them without running them.
//!
//! The script engine compiles the tree, the bundler warns with it. So both decide by the same code which patterns run in linear time.
//!
//! It is meant for patterns that a parser of JavaScript has accepted: it finds the structure and does not look for all mistakes. A class
//! of characters stays text, for an engine that knows the tables of Unicode.
#![no_std]

extern crate alloc;

mod parse;

use alloc::{boxed::Box, string::String, vec::Vec};
use core::ops::Range;

/// The most units that a pattern may have.
pub const MAX_UNITS: usize = 10_000;

/// How deep groups may nest.
pub(crate) const MAX_DEPTH: usize = 256;

/// The flags that change what a pattern means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "these are the flags of the language")]
pub struct Flags {
    /// `i`
    pub ignore_case: bool,
    /// `m`
    pub multiline: bool,
    /// `s`
    pub dot_all: bool,
    /// `u`
    pub unicode: bool,
    /// `v`
    pub unicode_sets: bool,
}

impl Flags {
    /// Reads the letters; those that do not change the meaning of the pattern are passed over.
    #[must_use]
    pub fn new(letters: &str) -> Self {
        let has = |letter| letters.contains(letter);
        Self { ignore_case: has('i'), multiline: has('m'), dot_all: has('s'), unicode: has('u'), unicode_sets: has('v') }
    }

    /// Whether a character is a code point, and not a unit of UTF-16.
    #[must_use]
    pub fn full_unicode(self) -> bool {
        self.unicode || self.unicode_sets
    }
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Nothing.
    Empty,
    /// One character.
    Char {
        /// The character: a code point, or a unit without the flags `u` and `v`.
        char: u32,
        /// By the flags that hold at this place.
        ignore_case: bool,
    },
    /// One character of a class: `.`, `\d`, `\p{…}`, `[…]`.
    Class {
        /// Its text.
        text: Box<[u32]>,
        /// The flags that hold at this place.
        flags: Flags,
    },
    /// A class that has strings as members (flag `v`): `\q{…}`, `\p{RGI_Emoji}`.
    Strings,
    /// `^`
    Start {
        /// Also after a line terminator.
        multiline: bool,
    },
    /// `$`
    End {
        /// Also before a line terminator.
        multiline: bool,
    },
    /// `\b`, `\B`
    Boundary {
        /// `\B`
        negated: bool,
        /// The flags that hold at this place.
        flags: Flags,
    },
    /// One after the other.
    Sequence(Vec<Node>),
    /// The first that leads to a match.
    Choice(Vec<Node>),
    /// A capturing group.
    Group {
        /// From 1.
        index: u32,
        /// What it captures.
        body: Box<Node>,
    },
    /// A back-reference.
    Back {
        /// The groups of that name; at most one of them has captured something.
        groups: Box<[u32]>,
        /// By the flags that hold at this place.
        ignore_case: bool,
    },
    /// A look-ahead or look-behind.
    Look {
        /// Backwards.
        behind: bool,
        /// Where the body must not match.
        negated: bool,
        /// What is looked for.
        body: Box<Node>,
        /// The groups in it.
        groups: Range<u32>,
    },
    /// A quantifier.
    Repeat {
        /// What is repeated.
        body: Box<Node>,
        /// At least.
        min: u32,
        /// At most.
        max: Option<u32>,
        /// As often as possible first.
        greedy: bool,
        /// The groups in it.
        groups: Range<u32>,
    },
}

/// A pattern that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The whole.
    pub node: Node,
    /// How many groups capture.
    pub groups: u32,
    /// Named groups in order. A name may be there twice, in two alternatives.
    pub names: Vec<(String, u32)>,
}

/// What is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// Not a valid pattern, as far as can be told.
    Invalid,
    /// Groups that are nested too deep.
    Depth,
    /// A name of a group with an escape.
    Name,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is not read.
    pub fn parse(source: &[u16], flags: Flags) -> Result<Self, Unsupported> {
        parse::parse(source, flags)
    }

    /// Whether a match may depend on what a group has captured: there is a back-reference. Without, the engine remembers which places of
    /// the text were tried in vain, and takes time in proportion to the text. With one, it backtracks.
    #[must_use]
    pub fn refers_back(&self) -> bool {
        self.node.any(&mut |node| matches!(node, Node::Back { .. }))
    }

    /// Whether it is a sequence of characters, with up to two classes that have strings as members, and nothing that could make a
    /// backtracking search try again and again.
    #[must_use]
    pub fn is_sequence_with_strings(&self) -> bool {
        let mut strings = 0;
        let mut is_other = |node: &Node| {
            strings += usize::from(*node == Node::Strings);
            matches!(node, Node::Choice(_) | Node::Repeat { .. } | Node::Look { .. } | Node::Back { .. })
        };
        !self.node.any(&mut is_other) && (1..=2).contains(&strings)
    }

    /// Whether the time that a search takes can double with every character of the text: the pattern refers back, and repeats something
    /// that can match the same characters in several ways. Some patterns for which this holds are harmless.
    #[must_use]
    pub fn may_explode(&self) -> bool {
        self.refers_back() && self.node.any(&mut Node::repeats_ambiguously)
    }
}

impl Node {
    /// Whether one of the nodes is such.
    fn any(&self, is_such: &mut dyn FnMut(&Node) -> bool) -> bool {
        is_such(self)
            || match self {
                Node::Sequence(nodes) | Node::Choice(nodes) => nodes.iter().any(|node| node.any(is_such)),
                Node::Group { body, .. } | Node::Look { body, .. } | Node::Repeat { body, .. } => body.any(is_such),
                _ => false,
            }
    }

    /// A loop with many rounds, of a body that can match in more than one way.
    fn repeats_ambiguously(&self) -> bool {
        let Node::Repeat { body, max, .. } = self else { return false };
        max.is_none_or(|max| max > 8)
            && body.any(&mut |node| match node {
                Node::Repeat { min, max, .. } => *max != Some(*min),
                // Alternatives that begin with different characters exclude each other.
                Node::Choice(nodes) => {
                    let mut first: Vec<u32> = Vec::new();
                    !nodes.iter().all(|node| {
                        let known = node.first_char().filter(|char| !first.contains(char));
                        known.inspect(|char| first.push(*char)).is_some()
                    })
                }
                _ => false,
            })
    }

    fn first_char(&self) -> Option<u32> {
        match self {
            Node::Char { char, ignore_case: false } => Some(*char),
            Node::Sequence(nodes) => nodes.first()?.first_char(),
            Node::Group { body, .. } => body.first_char(),
            _ => None,
        }
    }

    /// Whether the node can match without a character. Where that cannot be told, it can.
    #[must_use]
    pub fn can_be_empty(&self) -> bool {
        match self {
            Node::Char { .. } | Node::Class { .. } => false,
            Node::Sequence(nodes) => nodes.iter().all(Node::can_be_empty),
            Node::Choice(nodes) => nodes.iter().any(Node::can_be_empty),
            Node::Group { body, .. } => body.can_be_empty(),
            Node::Repeat { body, min, .. } => *min == 0 || body.can_be_empty(),
            _ => true,
        }
    }
}
