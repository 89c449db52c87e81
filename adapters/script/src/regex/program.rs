//! A pattern as instructions for [`search`](super::search).

use std::collections::HashMap;

use millrace_pattern::{Flags, Node, Pattern};

use super::set::Set;

/// The most instructions of one pattern. Repetitions are written out, except those of one character.
const MAX_OPS: usize = 20_000;

/// Matches one character.
#[derive(Clone, Copy)]
pub(super) enum CharMatcher {
    Char(u32),
    /// Both cases of an ASCII letter.
    Pair(u32, u32),
    Set(u32),
}

pub(super) enum Op {
    One {
        one: CharMatcher,
        back: bool,
    },
    /// So many of one character.
    Exact {
        one: CharMatcher,
        back: bool,
        count: u32,
    },
    /// Up to so many of one character; `u32::MAX` means no limit.
    Run {
        one: CharMatcher,
        back: bool,
        max: u32,
        greedy: bool,
        point: u32,
    },
    Split {
        first: u32,
        second: u32,
        point: u32,
    },
    Jump(u32),
    Save(u32),
    /// Forgets captures, at the start of a round.
    Clear(u32, u32),
    /// A round of a loop whose body can be empty. One that is, leads to no match.
    Enter,
    Leave,
    Start(bool),
    End(bool),
    Boundary {
        negated: bool,
        word: u32,
    },
    /// Goes on behind the body, which starts after this.
    Look {
        next: u32,
        negated: bool,
        point: u32,
        /// What its body captures: start and end in the list of captured positions.
        slots: (u32, u32),
    },
    Back {
        groups: Box<[u32]>,
        ignore_case: bool,
        back: bool,
    },
    Accept,
}

pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) sets: Vec<Set>,
    pub(super) full_unicode: bool,
    pub(super) unicode_sets: bool,
    pub(super) groups: u32,
    pub(super) names: Vec<(String, u32)>,
    /// How many places of the pattern a search remembers failures for. None where it refers back.
    pub(super) points: u32,
    pub(super) remembers: bool,
    pub(super) has_empty_rounds: bool,
    pub(super) has_looks: bool,
    /// Every match begins with such a character.
    pub(super) first: Option<CharMatcher>,
    /// A match begins at the start of the text.
    pub(super) anchored: bool,
}

/// The pattern takes too many instructions, or has a class that is not valid.
#[derive(Debug)]
pub(super) struct TooLarge;

struct Compiler {
    program: Program,
    known: HashMap<(Box<[u32]>, Flags), u32>,
    /// The same, by the address of the text in the tree: a repeated class is looked up once.
    known_places: HashMap<*const u32, u32>,
    /// How often a body was written out.
    rounds: usize,
    back: bool,
}

impl Program {
    pub(super) fn new(pattern: Pattern, flags: Flags) -> Result<Self, TooLarge> {
        let program = Self {
            ops: Vec::new(),
            sets: Vec::new(),
            full_unicode: flags.full_unicode(),
            unicode_sets: flags.unicode_sets,
            groups: pattern.groups,
            points: 0,
            remembers: !pattern.refers_back(),
            has_empty_rounds: false,
            has_looks: false,
            first: None,
            anchored: false,
            names: pattern.names,
        };
        let mut compiler = Compiler { program, known: HashMap::new(), known_places: HashMap::new(), rounds: 0, back: false };
        compiler.node(&pattern.node)?;
        compiler.push(Op::Accept)?;
        let mut program = compiler.program;
        let start = program.ops.iter().find(|op| !matches!(op, Op::Save(_)));
        program.first = start.and_then(|op| match op {
            Op::One { one, .. } | Op::Exact { one, .. } => Some(*one),
            _ => None,
        });
        program.anchored = matches!(start, Some(Op::Start(false)));
        Ok(program)
    }
}

impl Compiler {
    fn here(&self) -> u32 {
        u32::try_from(self.program.ops.len()).unwrap_or(u32::MAX)
    }

    fn push(&mut self, op: Op) -> Result<usize, TooLarge> {
        if self.program.ops.len() >= MAX_OPS {
            return Err(TooLarge);
        }
        self.program.ops.push(op);
        Ok(self.program.ops.len() - 1)
    }

    fn point(&mut self) -> u32 {
        self.program.points += 1;
        self.program.points - 1
    }

    fn set(&mut self, text: &[u32], flags: Flags) -> Result<u32, TooLarge> {
        let key = (Box::from(text), flags);
        if let Some(set) = self.known.get(&key) {
            return Ok(*set);
        }
        let index = u32::try_from(self.program.sets.len()).map_err(|_| TooLarge)?;
        self.program.sets.push(Set::new(text, flags).ok_or(TooLarge)?);
        self.known.insert(key, index);
        Ok(index)
    }

    /// The node, where it is one character.
    fn one(&mut self, node: &Node) -> Result<Option<CharMatcher>, TooLarge> {
        Ok(Some(match node {
            Node::Char { char, ignore_case: false } => CharMatcher::Char(*char),
            Node::Char { char, ignore_case: true } => {
                let unicode = self.program.full_unicode;
                match u8::try_from(*char).ok().filter(u8::is_ascii) {
                    // With `u`, these two are the same as a character outside of ASCII.
                    Some(letter) if letter.is_ascii_alphabetic() && !(unicode && b"skSK".contains(&letter)) => {
                        CharMatcher::Pair(letter.to_ascii_lowercase().into(), letter.to_ascii_uppercase().into())
                    }
                    Some(other) if !other.is_ascii_alphabetic() => CharMatcher::Char(*char),
                    _ => {
                        let flags = Flags { ignore_case: true, unicode, ..Flags::default() };
                        CharMatcher::Set(self.set(&[*char], flags)?)
                    }
                }
            }
            Node::Class { text, flags } => CharMatcher::Set(match self.known_places.get(&text.as_ptr()) {
                Some(set) => *set,
                None => {
                    let set = self.set(text, *flags)?;
                    self.known_places.insert(text.as_ptr(), set);
                    set
                }
            }),
            _ => return Ok(None),
        }))
    }

    fn node(&mut self, node: &Node) -> Result<(), TooLarge> {
        let back = self.back;
        if let Some(one) = self.one(node)? {
            return self.push(Op::One { one, back }).map(drop);
        }
        match node {
            Node::Empty | Node::Char { .. } | Node::Class { .. } => {}
            Node::Strings => return Err(TooLarge),
            Node::Start { multiline } => drop(self.push(Op::Start(*multiline))?),
            Node::End { multiline } => drop(self.push(Op::End(*multiline))?),
            Node::Boundary { negated, flags } => {
                let word = self.set(&[u32::from('\\'), u32::from('w')], *flags)?;
                self.push(Op::Boundary { negated: *negated, word })?;
            }
            Node::Sequence(nodes) if back => nodes.iter().rev().try_for_each(|node| self.node(node))?,
            Node::Sequence(nodes) => nodes.iter().try_for_each(|node| self.node(node))?,
            Node::Choice(nodes) => self.choice(nodes)?,
            Node::Group { index, body } => {
                let (start, end) = (index * 2, index * 2 + 1);
                self.push(Op::Save(if back { end } else { start }))?;
                self.node(body)?;
                self.push(Op::Save(if back { start } else { end }))?;
            }
            Node::Back { groups, ignore_case } => {
                self.push(Op::Back { groups: groups.clone(), ignore_case: *ignore_case, back })?;
            }
            Node::Look { behind, negated, body, groups } => {
                self.program.has_looks = true;
                let slots = (groups.start * 2, groups.end * 2);
                let point = self.point();
                let look = self.push(Op::Look { next: 0, negated: *negated, point, slots })?;
                self.back = *behind;
                self.node(body)?;
                self.back = back;
                self.push(Op::Accept)?;
                let here = self.here();
                if let Op::Look { next, .. } = &mut self.program.ops[look] {
                    *next = here;
                }
            }
            Node::Repeat { body, min, max, greedy, groups } => self.repeat(body, *min, *max, *greedy, groups)?,
        }
        Ok(())
    }

    fn choice(&mut self, nodes: &[Node]) -> Result<(), TooLarge> {
        let mut jumps = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.node(node)?;
                break;
            }
            let split = self.split()?;
            self.node(node)?;
            jumps.push(self.push(Op::Jump(0))?);
            self.aim(split, true);
        }
        let here = self.here();
        for jump in jumps {
            self.program.ops[jump] = Op::Jump(here);
        }
        Ok(())
    }

    /// A choice whose first branch is next.
    fn split(&mut self) -> Result<usize, TooLarge> {
        let point = self.point();
        let first = self.here() + 1;
        self.push(Op::Split { first, second: 0, point })
    }

    /// Sets the second branch of a choice to what comes now; where that is to be tried first, `greedy` is false.
    fn aim(&mut self, split: usize, greedy: bool) {
        let here = self.here();
        if let Op::Split { first, second, .. } = &mut self.program.ops[split] {
            *second = here;
            if !greedy {
                std::mem::swap(first, second);
            }
        }
    }

    fn repeat(&mut self, body: &Node, min: u32, max: Option<u32>, greedy: bool, groups: &std::ops::Range<u32>) -> Result<(), TooLarge> {
        let back = self.back;
        if let Some(one) = self.one(body)? {
            match min {
                0 => {}
                1 => drop(self.push(Op::One { one, back })?),
                count => drop(self.push(Op::Exact { one, back, count })?),
            }
            let more = max.map_or(u32::MAX, |max| max - min);
            if more > 0 {
                let point = self.point();
                self.push(Op::Run { one, back, max: more, greedy, point })?;
            }
            return Ok(());
        }
        for _ in 0..min {
            self.round(body, groups)?;
        }
        let can_be_empty = body.can_be_empty();
        self.program.has_empty_rounds |= can_be_empty && max != Some(min);
        let mut splits = Vec::new();
        for _ in 0..max.map_or(1, |max| max - min) {
            splits.push(self.split()?);
            if can_be_empty {
                self.push(Op::Enter)?;
            }
            self.round(body, groups)?;
            if can_be_empty {
                self.push(Op::Leave)?;
            }
        }
        if let (None, Some(split)) = (max, splits.first()) {
            let target = u32::try_from(*split).map_err(|_| TooLarge)?;
            self.push(Op::Jump(target))?;
        }
        for split in splits {
            self.aim(split, greedy);
        }
        Ok(())
    }

    fn round(&mut self, body: &Node, groups: &std::ops::Range<u32>) -> Result<(), TooLarge> {
        // An empty body takes no instructions, and still cannot be written out for ever.
        self.rounds += 1;
        if self.rounds > MAX_OPS {
            return Err(TooLarge);
        }
        if !groups.is_empty() {
            self.push(Op::Clear(groups.start * 2, groups.end * 2))?;
        }
        self.node(body)
    }
}
