//! The search: backtracking that remembers.
//!
//! What can follow at a place of the pattern and a place of the text does not depend on how the search came there, as long as the pattern
//! does not refer back to what it has captured. So each pair that led to nothing is marked, and is not tried again: the time is in
//! proportion to the text, whatever the pattern. The marks are made only once a search has taken more than a few steps.
//! With a back-reference the search backtracks without marks, and the limit of steps ends it.

use super::program::{CharMatcher, Op, Program};

/// The most steps of one search.
pub(super) const MAX_STEPS: u64 = if cfg!(test) { 500_000 } else { 20_000_000 };

/// The most places that a search can go back to.
pub(super) const MAX_PENDING: usize = 1_000_000;

/// From so many steps on, failures are remembered.
const REMEMBER_FROM: u64 = 1_000;

/// The most bits to remember them in: 16 MiB.
const MAX_BITS: u64 = 1 << 27;

/// After so many steps the deadline is looked at.
const LOOK_EVERY: u64 = 1 << 16;

/// A slot that holds no position.
pub(super) const NONE: u32 = u32::MAX;

/// Why a search ended without an answer.
#[derive(Debug)]
pub(super) enum Stop {
    Steps,
    Pending,
    /// The call must end.
    Call,
}

/// A text of units.
pub(super) trait Text {
    fn len(&self) -> u32;
    fn unit(&self, at: u32) -> u32;
}

impl Text for [u8] {
    fn len(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }
    fn unit(&self, at: u32) -> u32 {
        self[at as usize].into()
    }
}

impl Text for [u16] {
    fn len(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }
    fn unit(&self, at: u32) -> u32 {
        self[at as usize].into()
    }
}

/// Where to go on when a branch fails.
enum Job {
    /// The second branch of a choice.
    Other { pc: u32, at: u32, consumed: bool, point: u32 },
    /// All branches of a choice have failed.
    Failed { at: u32, consumed: bool, point: u32 },
    /// One character less, down to `low`.
    Shrink { pc: u32, low: u32, at: u32, consumed: bool },
    /// One character more.
    Grow { pc: u32, low: u32, at: u32, count: u32, consumed: bool },
    /// A capture as it was.
    Slot { slot: u32, old: u32 },
}

/// What a search works with, kept for the next one.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) slots: Vec<u32>,
    jobs: Vec<Job>,
    failed: Vec<u64>,
    succeeded: Vec<u64>,
}

impl Memory {
    /// Gives back what an unusual search took.
    pub(super) fn shrink(&mut self) {
        self.jobs.clear();
        self.jobs.shrink_to(1_000);
        self.failed.clear();
        self.failed.shrink_to(1_000);
        self.succeeded.clear();
        self.succeeded.shrink_to(1_000);
    }
}

pub(super) struct Search<'a, T: Text + ?Sized> {
    program: &'a Program,
    text: &'a T,
    memory: &'a mut Memory,
    steps: u64,
    look_at: u64,
    must_stop: &'a dyn Fn() -> bool,
    remember_from: u64,
    remembers: bool,
    /// The body of a look-around runs that captures nothing.
    only_whether: bool,
}

impl<'a, T: Text + ?Sized> Search<'a, T> {
    pub(super) fn new(program: &'a Program, text: &'a T, memory: &'a mut Memory, spent: u64, must_stop: &'a dyn Fn() -> bool) -> Self {
        memory.jobs.clear();
        memory.failed.clear();
        memory.succeeded.clear();
        let remember_from = if program.remembers { REMEMBER_FROM } else { u64::MAX };
        // What is left of the steps until the next look.
        let look_at = LOOK_EVERY - spent % LOOK_EVERY;
        Self { program, text, memory, steps: 0, look_at, must_stop, remember_from, remembers: false, only_whether: false }
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// The first match at or after `at`, with its captures in the slots.
    pub(super) fn find(&mut self, mut at: u32, sticky: bool) -> Result<Option<(u32, u32)>, Stop> {
        let slots = (self.program.groups as usize + 1) * 2;
        self.memory.slots.clear();
        self.memory.slots.resize(slots, NONE);
        // In the middle of a character is at the character. With `v`, the interpreter's own functions come here by themselves, when they
        // go on after an empty match, and would never end: they mean the next one.
        if self.program.full_unicode && self.is_pair(at.wrapping_sub(1)) {
            if self.program.unicode_sets && sticky {
                return Ok(None);
            }
            at = if self.program.unicode_sets { at + 1 } else { at - 1 };
        }
        if self.program.anchored && at > 0 {
            return Ok(None);
        }
        loop {
            if let Some(first) = self.program.first {
                while !self.next(at, false).is_some_and(|(char, _)| self.is(first, char)) {
                    self.step(1)?;
                    if sticky || at >= self.text.len() {
                        return Ok(None);
                    }
                    at = self.next(at, false).map_or(at + 1, |(_, next)| next);
                }
            }
            if let Some(end) = self.run(0, at)? {
                return Ok(Some((at, end)));
            }
            if sticky || self.program.anchored || at >= self.text.len() {
                return Ok(None);
            }
            at = self.next(at, false).map_or(at + 1, |(_, next)| next);
        }
    }

    fn step(&mut self, count: u32) -> Result<(), Stop> {
        self.steps += u64::from(count);
        if self.steps < self.look_at {
            return Ok(());
        }
        self.look_at = self.steps + LOOK_EVERY;
        if (self.must_stop)() {
            return Err(Stop::Call);
        }
        if self.steps > MAX_STEPS { Err(Stop::Steps) } else { Ok(()) }
    }

    fn is_pair(&self, at: u32) -> bool {
        at.checked_add(1).is_some_and(|next| next < self.text.len())
            && (0xD800..0xDC00).contains(&self.text.unit(at))
            && (0xDC00..0xE000).contains(&self.text.unit(at + 1))
    }

    /// The character after or before `at`, and the place beyond it.
    #[inline]
    fn next(&self, at: u32, back: bool) -> Option<(u32, u32)> {
        if back {
            let before = at.checked_sub(1)?;
            if self.program.full_unicode && before > 0 && self.is_pair(before - 1) {
                return Some((self.pair(before - 1), before - 1));
            }
            return Some((self.text.unit(before), before));
        }
        if at >= self.text.len() {
            return None;
        }
        let unit = self.text.unit(at);
        if self.program.full_unicode && unit & 0xFC00 == 0xD800 && self.is_pair(at) {
            return Some((self.pair(at), at + 2));
        }
        Some((unit, at + 1))
    }

    fn pair(&self, at: u32) -> u32 {
        0x10000 + ((self.text.unit(at) - 0xD800) << 10) + (self.text.unit(at + 1) - 0xDC00)
    }

    #[inline]
    fn is(&self, one: CharMatcher, char: u32) -> bool {
        match one {
            CharMatcher::Char(expected) => expected == char,
            CharMatcher::Pair(lower, upper) => char == lower || char == upper,
            CharMatcher::Set(set) => self.program.sets[set as usize].has(char),
        }
    }

    #[inline]
    fn take(&self, one: CharMatcher, at: u32, back: bool) -> Option<u32> {
        let (char, next) = self.next(at, back)?;
        self.is(one, char).then_some(next)
    }

    fn bit(&self, point: u32, at: u32, consumed: bool) -> (usize, u64) {
        let point = if self.program.has_empty_rounds { u64::from(point) * 2 + u64::from(consumed) } else { point.into() };
        let bit = point * (u64::from(self.text.len()) + 1) + u64::from(at);
        (usize::try_from(bit / 64).unwrap_or(usize::MAX), 1 << (bit % 64))
    }

    fn has_failed(&self, point: u32, at: u32, consumed: bool) -> bool {
        let (word, bit) = self.bit(point, at, consumed);
        self.remembers && self.memory.failed[word] & bit != 0
    }

    fn has_succeeded(&self, point: u32, at: u32, consumed: bool) -> bool {
        let (word, bit) = self.bit(point, at, consumed);
        self.remembers && self.program.has_looks && self.memory.succeeded[word] & bit != 0
    }

    fn failed(&mut self, point: u32, at: u32, consumed: bool) {
        if self.remembers {
            let (word, bit) = self.bit(point, at, consumed);
            self.memory.failed[word] |= bit;
        }
    }

    fn succeeded(&mut self, point: u32, at: u32, consumed: bool) {
        if self.remembers && self.program.has_looks {
            let (word, bit) = self.bit(point, at, consumed);
            self.memory.succeeded[word] |= bit;
        }
    }

    /// From now on, if there is room.
    fn remember(&mut self) {
        self.remember_from = u64::MAX;
        let kinds = if self.program.has_empty_rounds { 2 } else { 1 };
        let bits = u64::from(self.program.points) * kinds * (u64::from(self.text.len()) + 1);
        if bits > MAX_BITS / if self.program.has_looks { 2 } else { 1 } {
            return;
        }
        let words = usize::try_from(bits / 64 + 1).unwrap_or_default();
        self.memory.failed.resize(words, 0);
        if self.program.has_looks {
            self.memory.succeeded.resize(words, 0);
        }
        self.remembers = true;
    }

    fn push(&mut self, job: Job) -> Result<(), Stop> {
        if self.memory.jobs.len() >= MAX_PENDING {
            return Err(Stop::Pending);
        }
        self.memory.jobs.push(job);
        Ok(())
    }

    fn set_slot(&mut self, slot: u32, value: u32) -> Result<(), Stop> {
        let old = std::mem::replace(&mut self.memory.slots[slot as usize], value);
        if old == value { Ok(()) } else { self.push(Job::Slot { slot, old }) }
    }

    /// Runs from `pc` at `at`, to the end of the match.
    fn run(&mut self, mut pc: u32, mut at: u32) -> Result<Option<u32>, Stop> {
        let base = self.memory.jobs.len();
        let mut consumed = false;
        let program = self.program;
        loop {
            self.step(1)?;
            if self.steps >= self.remember_from {
                self.remember();
            }
            let goes_on = match &program.ops[pc as usize] {
                Op::One { one, back } => match self.take(*one, at, *back) {
                    Some(next) => {
                        (pc, at, consumed) = (pc + 1, next, true);
                        true
                    }
                    None => false,
                },
                Op::Exact { one, back, count } => {
                    let mut left = *count;
                    while left > 0
                        && let Some(next) = self.take(*one, at, *back)
                    {
                        (at, consumed, left) = (next, true, left - 1);
                    }
                    self.step(count - left)?;
                    pc += 1;
                    left == 0
                }
                Op::Run { one, back, max, greedy, point } => {
                    if self.only_whether && self.has_succeeded(*point, at, consumed) {
                        return Ok(Some(self.accept(base, at)));
                    }
                    if self.has_failed(*point, at, consumed) {
                        false
                    } else if *greedy {
                        let low = at;
                        let mut count = 0;
                        while count < *max
                            && let Some(next) = self.take(*one, at, *back)
                            && !(*max == u32::MAX && self.has_failed(*point, next, true))
                        {
                            (at, count) = (next, count + 1);
                            if self.only_whether && *max == u32::MAX && self.has_succeeded(*point, at, true) {
                                self.push(Job::Shrink { pc, low, at, consumed })?;
                                return Ok(Some(self.accept(base, at)));
                            }
                        }
                        self.step(count)?;
                        if count > 0 {
                            self.push(Job::Shrink { pc, low, at, consumed })?;
                            consumed = true;
                        }
                        pc += 1;
                        true
                    } else {
                        self.push(Job::Grow { pc, low: at, at, count: 0, consumed })?;
                        pc += 1;
                        true
                    }
                }
                Op::Split { first, second, point } => {
                    if self.only_whether && self.has_succeeded(*point, at, consumed) {
                        return Ok(Some(self.accept(base, at)));
                    }
                    let is_open = !self.has_failed(*point, at, consumed);
                    if is_open {
                        self.push(Job::Other { pc: *second, at, consumed, point: *point })?;
                        pc = *first;
                    }
                    is_open
                }
                Op::Jump(target) => {
                    pc = *target;
                    true
                }
                Op::Save(slot) => {
                    self.set_slot(*slot, at)?;
                    pc += 1;
                    true
                }
                Op::Clear(from, to) => {
                    for slot in *from..*to {
                        self.set_slot(slot, NONE)?;
                    }
                    self.step(to - from)?;
                    pc += 1;
                    true
                }
                Op::Enter => {
                    (pc, consumed) = (pc + 1, false);
                    true
                }
                Op::Leave => {
                    pc += 1;
                    consumed
                }
                Op::Start(multiline) => {
                    pc += 1;
                    at == 0 || (*multiline && is_line_end(self.text.unit(at - 1)))
                }
                Op::End(multiline) => {
                    pc += 1;
                    at == self.text.len() || (*multiline && is_line_end(self.text.unit(at)))
                }
                Op::Boundary { negated, word } => {
                    let word = CharMatcher::Set(*word);
                    pc += 1;
                    (self.take(word, at, true).is_some() != self.take(word, at, false).is_some()) != *negated
                }
                Op::Look { next, negated, point, slots } => {
                    let matches = self.look(pc + 1, at, *point, *slots, *negated)?;
                    pc = *next;
                    matches != *negated
                }
                Op::Back { groups, ignore_case, back } => match self.refer_back(groups, *ignore_case, at, *back)? {
                    Some(next) => {
                        consumed |= next != at;
                        (pc, at) = (pc + 1, next);
                        true
                    }
                    None => false,
                },
                Op::Accept => return Ok(Some(self.accept(base, at))),
            };
            if goes_on {
                continue;
            }
            match self.next_branch(base)? {
                Some(branch) => (pc, at, consumed) = branch,
                None => return Ok(None),
            }
        }
    }

    /// Ends a run that matched: what it could have gone back to is forgotten. The choices on the way there lead to a match.
    fn accept(&mut self, base: usize, at: u32) -> u32 {
        if self.only_whether && self.remembers {
            for index in base..self.memory.jobs.len() {
                let (point, place, consumed) = match self.memory.jobs[index] {
                    Job::Other { at, consumed, point, .. } | Job::Failed { at, consumed, point } => (point, at, consumed),
                    Job::Shrink { pc, low, at, consumed } | Job::Grow { pc, low, at, consumed, .. } => {
                        let Op::Run { max, point, .. } = self.program.ops[pc as usize] else { continue };
                        if max == u32::MAX {
                            let places = if at < low { at..low } else { low + 1..at + 1 };
                            places.for_each(|place| self.succeeded(point, place, true));
                        }
                        (point, low, consumed)
                    }
                    Job::Slot { .. } => continue,
                };
                self.succeeded(point, place, consumed);
            }
        }
        self.memory.jobs.truncate(base);
        at
    }

    /// Goes back to the last place where there is something left to try.
    fn next_branch(&mut self, base: usize) -> Result<Option<(u32, u32, bool)>, Stop> {
        while self.memory.jobs.len() > base {
            self.step(1)?;
            match self.memory.jobs.pop() {
                None => break,
                Some(Job::Slot { slot, old }) => self.memory.slots[slot as usize] = old,
                Some(Job::Failed { at, consumed, point }) => self.failed(point, at, consumed),
                Some(Job::Other { pc, at, consumed, point }) => {
                    if self.remembers {
                        self.push(Job::Failed { at, consumed, point })?;
                    }
                    return Ok(Some((pc, at, consumed)));
                }
                Some(Job::Shrink { pc, low, at, consumed }) => {
                    let Op::Run { back, max, point, .. } = self.program.ops[pc as usize] else { continue };
                    if max == u32::MAX {
                        self.failed(point, at, true);
                    }
                    let Some((_, at)) = self.next(at, !back) else { continue };
                    if at != low {
                        self.push(Job::Shrink { pc, low, at, consumed })?;
                        return Ok(Some((pc + 1, at, true)));
                    }
                    if self.remembers {
                        self.push(Job::Failed { at, consumed, point })?;
                    }
                    return Ok(Some((pc + 1, at, consumed)));
                }
                Some(Job::Grow { pc, low, at, count, consumed }) => {
                    let Op::Run { one, back, max, point, .. } = self.program.ops[pc as usize] else { continue };
                    let next = if count < max { self.take(one, at, back) } else { None };
                    if let Some(next) = next.filter(|next| !(max == u32::MAX && self.has_failed(point, *next, true))) {
                        self.push(Job::Grow { pc, low, at: next, count: count + 1, consumed })?;
                        return Ok(Some((pc + 1, next, true)));
                    }
                    if max == u32::MAX && self.remembers {
                        let places = if back { at..low } else { low + 1..at + 1 };
                        self.step(count)?;
                        places.for_each(|place| self.failed(point, place, true));
                    }
                    self.failed(point, low, consumed);
                }
            }
        }
        Ok(None)
    }

    /// Whether the body of a look-around matches. What it captures stays, unless it is negated, and is undone when the search goes back.
    fn look(&mut self, body: u32, at: u32, point: u32, slots: (u32, u32), negated: bool) -> Result<bool, Stop> {
        let outer = self.only_whether;
        let before = self.memory.slots[slots.0 as usize..slots.1 as usize].to_vec();
        self.step(slots.1 - slots.0)?;
        // What is captured inside of a body that only has to match is of interest where something refers back to it.
        if !(before.is_empty() || negated || outer && self.program.remembers) {
            for (slot, old) in (slots.0..slots.1).zip(before) {
                self.push(Job::Slot { slot, old })?;
            }
            return Ok(self.run(body, at)?.is_some());
        }
        if self.has_failed(point, at, false) {
            return Ok(false);
        }
        if self.has_succeeded(point, at, false) {
            return Ok(true);
        }
        self.only_whether = true;
        let matches = self.run(body, at)?.is_some();
        self.only_whether = outer;
        self.memory.slots[slots.0 as usize..slots.1 as usize].copy_from_slice(&before);
        if matches {
            self.succeeded(point, at, false)
        } else {
            self.failed(point, at, false)
        }
        Ok(matches)
    }

    fn refer_back(&mut self, groups: &[u32], ignore_case: bool, at: u32, back: bool) -> Result<Option<u32>, Stop> {
        let captured = groups.iter().find_map(|group| {
            let [start, end] = [group * 2, group * 2 + 1].map(|slot| self.memory.slots[slot as usize]);
            (start != NONE && end != NONE).then_some((start, end))
        });
        let Some((start, end)) = captured else { return Ok(Some(at)) };
        let (mut from, until) = if back { (end, start) } else { (start, end) };
        let mut here = at;
        while from != until {
            self.step(1)?;
            let (Some((expected, next_from)), Some((char, next))) = (self.next(from, back), self.next(here, back)) else {
                return Ok(None);
            };
            if char != expected && !(ignore_case && self.is_same_letter(char, expected)?) {
                return Ok(None);
            }
            (from, here) = (next_from, next);
        }
        Ok(Some(here))
    }

    fn is_same_letter(&mut self, char: u32, expected: u32) -> Result<bool, Stop> {
        if let (Ok(char), Ok(expected)) = (u8::try_from(char), u8::try_from(expected))
            && char.is_ascii()
            && expected.is_ascii()
        {
            return Ok(char.eq_ignore_ascii_case(&expected));
        }
        // A pattern of one character is made for this: rare, and counted as what it costs.
        self.step(200)?;
        let flags = millrace_pattern::Flags { ignore_case: true, unicode: self.program.full_unicode, ..millrace_pattern::Flags::default() };
        Ok(super::set::Set::new(&[expected], flags).is_some_and(|set| set.has(char)))
    }
}

fn is_line_end(unit: u32) -> bool {
    matches!(unit, 0x0A | 0x0D | 0x2028 | 0x2029)
}
