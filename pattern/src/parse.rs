//! The grammar of patterns, with Annex B where neither `u` nor `v` is given.

use alloc::{boxed::Box, string::String, vec::Vec};

use crate::{Flags, MAX_DEPTH, Node, Pattern, Unsupported};

type Result<T> = core::result::Result<T, Unsupported>;

struct Parser {
    text: Vec<u32>,
    at: usize,
    flags: Flags,
    depth: usize,
    /// The groups opened so far.
    groups: u32,
    /// All groups, those further on included.
    total: u32,
    names: Vec<(String, u32)>,
    has_names: bool,
    /// Names are looked up at the end, since they may stand further on.
    back: Vec<String>,
}

/// Until it is resolved, the group of the `n`th name that is referred to.
const UNRESOLVED: u32 = 1 << 31;

pub(crate) fn parse(source: &[u16], flags: Flags) -> Result<Pattern> {
    let text: Vec<u32> = if flags.full_unicode() {
        char::decode_utf16(source.iter().copied())
            .map(|char| char.map_or_else(|lone| u32::from(lone.unpaired_surrogate()), u32::from))
            .collect()
    } else {
        source.iter().copied().map(u32::from).collect()
    };
    let mut parser = Parser { text, at: 0, flags, depth: 0, groups: 0, total: 0, names: Vec::new(), has_names: false, back: Vec::new() };
    parser.count_groups();
    let mut node = parser.disjunction()?;
    if parser.at < parser.text.len() {
        return Err(Unsupported::Invalid);
    }
    parser.resolve(&mut node)?;
    Ok(Pattern { node, groups: parser.groups, names: parser.names })
}

fn digit(char: u32, radix: u32) -> Option<u32> {
    char::from_u32(char)?.to_digit(radix)
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    /// What stands `ahead` characters further on; a surrogate is given as U+FFFD.
    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).map(|char| char::from_u32(*char).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn eat(&mut self, expected: &str) -> bool {
        let is_there = expected.chars().enumerate().all(|(ahead, char)| self.peek_at(ahead) == Some(char));
        if is_there {
            self.at += expected.chars().count();
        }
        is_there
    }

    fn count_groups(&mut self) {
        while let Some(char) = self.peek() {
            match char {
                '\\' => self.at += 2,
                '[' => self.skip_class(),
                '(' => {
                    let named = self.peek_at(1) == Some('?') && self.peek_at(2) == Some('<') && !matches!(self.peek_at(3), Some('=' | '!'));
                    self.has_names |= named;
                    self.total += u32::from(named || self.peek_at(1) != Some('?'));
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        self.at = 0;
    }

    /// Moves behind a `[…]`. With `v`, classes nest.
    fn skip_class(&mut self) {
        let mut depth = 0_usize;
        while let Some(char) = self.peek() {
            self.at += 1;
            match char {
                '\\' => self.at += 1,
                '[' if depth == 0 || self.flags.unicode_sets => depth += 1,
                ']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        self.at = self.at.min(self.text.len());
    }

    fn disjunction(&mut self) -> Result<Node> {
        if self.depth >= MAX_DEPTH {
            return Err(Unsupported::Depth);
        }
        self.depth += 1;
        let mut choices = Vec::new();
        loop {
            choices.push(self.alternative()?);
            if !self.eat("|") {
                break;
            }
        }
        self.depth -= 1;
        Ok(if choices.len() == 1 { choices.pop().unwrap_or(Node::Empty) } else { Node::Choice(choices) })
    }

    fn alternative(&mut self) -> Result<Node> {
        let mut nodes = Vec::new();
        while !matches!(self.peek(), None | Some('|' | ')')) {
            let (before, start) = (self.groups, self.at);
            let node = self.term()?;
            nodes.push(self.quantified(node, start, before)?);
        }
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.pop().unwrap_or(Node::Empty),
            _ => Node::Sequence(nodes),
        })
    }

    fn quantified(&mut self, node: Node, start: usize, before: u32) -> Result<Node> {
        let Some((min, max)) = self.quantifier() else { return Ok(node) };
        let greedy = !self.eat("?");
        // An assertion in a group can be quantified.
        let is_group = self.text[start] == u32::from('(') && self.text.get(start + 2) == Some(&u32::from(':'));
        let is_quantifiable = match &node {
            Node::Start { .. } | Node::End { .. } | Node::Boundary { .. } => self.text[start] == u32::from('('),
            Node::Look { behind, .. } => is_group || !behind && !self.flags.full_unicode(),
            _ => true,
        };
        if !is_quantifiable || max.is_some_and(|max| max < min) {
            return Err(Unsupported::Invalid);
        }
        Ok(Node::Repeat { body: Box::new(node), min, max, greedy, groups: before + 1..self.groups + 1 })
    }

    fn quantifier(&mut self) -> Option<(u32, Option<u32>)> {
        match self.peek()? {
            '*' => self.at += 1,
            '+' => {
                self.at += 1;
                return Some((1, None));
            }
            '?' => {
                self.at += 1;
                return Some((0, Some(1)));
            }
            '{' => return self.braces(),
            _ => return None,
        }
        Some((0, None))
    }

    /// `{2}`, `{2,}`, `{2,3}`. Anything else in braces is text.
    fn braces(&mut self) -> Option<(u32, Option<u32>)> {
        let start = self.at;
        self.at += 1;
        let bounds = self.number().and_then(|min| {
            let max = if self.eat(",") { self.number() } else { Some(min) };
            self.eat("}").then_some((min, max))
        });
        if bounds.is_none() {
            self.at = start;
        }
        bounds
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = None;
        while let Some(next) = self.peek().and_then(|char| char.to_digit(10)) {
            number = Some(number.unwrap_or(0_u32).saturating_mul(10).saturating_add(next));
            self.at += 1;
        }
        number
    }

    fn char(&self, char: u32) -> Node {
        Node::Char { char, ignore_case: self.flags.ignore_case }
    }

    fn class(&self, start: usize) -> Node {
        if self.flags.unicode_sets && self.has_strings(start) {
            return Node::Strings;
        }
        Node::Class { text: self.class_text(start).into(), flags: self.flags }
    }

    /// The text of a class, with two escapes written in another way. The engine that decides on classes takes `\b` for a letter with `v`,
    /// and with `i` and `u` takes the long s and the Kelvin sign, which are word characters there, for members of `\W`.
    fn class_text(&self, start: usize) -> Vec<u32> {
        let text = &self.text[start..self.at];
        let Flags { ignore_case, unicode_sets, .. } = self.flags;
        let chars = |text: &str| text.chars().map(u32::from).collect::<Vec<_>>();
        if text.first() != Some(&u32::from('[')) {
            return text.into();
        }
        let mut result = Vec::new();
        let mut rest = text.iter().copied();
        while let Some(char) = rest.next() {
            if char != u32::from('\\') {
                result.push(char);
                continue;
            }
            match rest.next().and_then(char::from_u32) {
                Some('b') if unicode_sets => result.extend(chars("\\x08")),
                Some('W') if ignore_case && self.flags.full_unicode() => {
                    let others = chars(r"\0-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\u017e\u0180-\u2129\u212b-\u{10ffff}");
                    result.extend(unicode_sets.then_some(u32::from('[')));
                    result.extend(others);
                    result.extend(unicode_sets.then_some(u32::from(']')));
                }
                Some(escaped) => result.extend([char, escaped.into()]),
                None => result.push(char),
            }
        }
        result
    }

    fn term(&mut self) -> Result<Node> {
        let start = self.at;
        let Some(&char) = self.text.get(start) else { return Err(Unsupported::Invalid) };
        self.at += 1;
        let multiline = self.flags.multiline;
        Ok(match char::from_u32(char) {
            Some('^') => Node::Start { multiline },
            Some('$') => Node::End { multiline },
            Some('(') => return self.group(),
            Some('.') => self.class(start),
            Some('[') => {
                self.at = start;
                self.skip_class();
                self.class(start)
            }
            Some('\\') => return self.escape(start),
            Some('*' | '+' | '?') => return Err(Unsupported::Invalid),
            Some('{') => {
                self.at = start;
                if self.flags.full_unicode() || self.braces().is_some() {
                    return Err(Unsupported::Invalid);
                }
                self.at = start + 1;
                self.char(char)
            }
            _ => self.char(char),
        })
    }

    /// Whether a class of the flag `v`, or a property, may have strings as members: `\q{…}`, and the properties of emoji sequences.
    fn has_strings(&self, start: usize) -> bool {
        let text: String = self.text[start..self.at].iter().filter_map(|char| char::from_u32(*char)).collect();
        ["\\q", "{RGI_", "{Basic_Emoji", "{Emoji_Keycap"].iter().any(|mark| text.contains(mark))
    }

    fn group(&mut self) -> Result<Node> {
        let before = self.groups;
        let looks = [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)];
        for (mark, behind, negated) in looks {
            if self.eat(mark) {
                let body = Box::new(self.body()?);
                return Ok(Node::Look { behind, negated, body, groups: before + 1..self.groups + 1 });
            }
        }
        if self.eat("?<") {
            let name = self.name()?;
            self.groups += 1;
            let index = self.groups;
            self.names.push((name, index));
            return Ok(Node::Group { index, body: Box::new(self.body()?) });
        }
        if self.eat("?") {
            let outer = self.flags;
            self.modifiers()?;
            let body = self.body()?;
            self.flags = outer;
            return Ok(body);
        }
        self.groups += 1;
        let index = self.groups;
        Ok(Node::Group { index, body: Box::new(self.body()?) })
    }

    /// What is before the `)`.
    fn body(&mut self) -> Result<Node> {
        let body = self.disjunction()?;
        if self.eat(")") { Ok(body) } else { Err(Unsupported::Invalid) }
    }

    /// `ims-ims:`
    fn modifiers(&mut self) -> Result<()> {
        let mut value = true;
        loop {
            let flag = match self.peek() {
                Some('i') => &mut self.flags.ignore_case,
                Some('m') => &mut self.flags.multiline,
                Some('s') => &mut self.flags.dot_all,
                Some('-') if value => {
                    value = false;
                    self.at += 1;
                    continue;
                }
                Some(':') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Unsupported::Invalid),
            };
            *flag = value;
            self.at += 1;
        }
    }

    /// A name, up to and with the `>`.
    fn name(&mut self) -> Result<String> {
        let mut units = Vec::new();
        while let Some(&char) = self.text.get(self.at) {
            self.at += 1;
            match char::from_u32(char) {
                Some('>') if units.is_empty() => return Err(Unsupported::Invalid),
                Some('>') => return String::from_utf16(&units).map_err(|_| Unsupported::Invalid),
                Some('\\') => return Err(Unsupported::Name),
                Some(char) => units.extend(char.encode_utf16(&mut [0; 2]).iter()),
                // Without `u` a character is a unit, in a name as well.
                None => units.push(u16::try_from(char).map_err(|_| Unsupported::Invalid)?),
            }
        }
        Err(Unsupported::Invalid)
    }

    fn escape(&mut self, start: usize) -> Result<Node> {
        let Some(&char) = self.text.get(self.at) else { return Err(Unsupported::Invalid) };
        self.at += 1;
        let unicode = self.flags.full_unicode();
        let ignore_case = self.flags.ignore_case;
        let char = match char::from_u32(char) {
            Some(letter @ ('b' | 'B')) => return Ok(Node::Boundary { negated: letter == 'B', flags: self.flags }),
            Some('d' | 'D' | 's' | 'S' | 'w' | 'W') => return Ok(self.class(start)),
            Some('p' | 'P') if unicode => {
                while self.peek().is_some_and(|char| char != '}') {
                    self.at += 1;
                }
                if !self.eat("}") {
                    return Err(Unsupported::Invalid);
                }
                return Ok(self.class(start));
            }
            Some('k') if unicode || self.has_names => {
                if !self.eat("<") {
                    return Err(Unsupported::Invalid);
                }
                let name = self.name()?;
                self.back.push(name);
                let place = u32::try_from(self.back.len() - 1).unwrap_or_default();
                return Ok(Node::Back { groups: Box::new([UNRESOLVED + place]), ignore_case });
            }
            Some('1'..='9') => {
                self.at -= 1;
                let digits = self.at;
                let group = self.number().unwrap_or_default();
                if group <= self.total {
                    return Ok(Node::Back { groups: Box::new([group]), ignore_case });
                }
                if unicode {
                    return Err(Unsupported::Invalid);
                }
                self.at = digits;
                self.octal()
            }
            Some('0') => {
                self.at -= 1;
                self.octal()
            }
            Some('t') => 0x09,
            Some('n') => 0x0A,
            Some('v') => 0x0B,
            Some('f') => 0x0C,
            Some('r') => 0x0D,
            Some('c') => match self.peek().filter(char::is_ascii_alphabetic) {
                Some(letter) => {
                    self.at += 1;
                    u32::from(letter) % 32
                }
                // The backslash stands for itself, and the letter for itself after it.
                None => {
                    self.at -= 1;
                    u32::from('\\')
                }
            },
            Some('x') => self.hex(2).unwrap_or(char),
            Some('u') => self.unicode_escape().unwrap_or(char),
            _ => char,
        };
        Ok(self.char(char))
    }

    /// An octal number of up to three digits that is no more than 255, or the character that is there.
    fn octal(&mut self) -> u32 {
        let mut value = 0;
        let start = self.at;
        while self.at < start + 3
            && let Some(next) = self.text.get(self.at).and_then(|char| digit(*char, 8)).filter(|next| value * 8 + next <= 0o377)
        {
            value = value * 8 + next;
            self.at += 1;
        }
        if self.at == start {
            value = self.text.get(self.at).copied().unwrap_or_default();
            self.at += 1;
        }
        value
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let mut value = 0;
        for place in 0..digits {
            value = value * 16 + digit(*self.text.get(self.at + place)?, 16)?;
        }
        self.at += digits;
        Some(value)
    }

    /// What stands behind `\u`.
    fn unicode_escape(&mut self) -> Option<u32> {
        let unicode = self.flags.full_unicode();
        if unicode && self.eat("{") {
            let mut value = 0_u32;
            while let Some(next) = self.peek().and_then(|char| char.to_digit(16)) {
                value = value.saturating_mul(16).saturating_add(next);
                self.at += 1;
            }
            return self.eat("}").then_some(value);
        }
        let lead = self.hex(4)?;
        if unicode && (0xD800..0xDC00).contains(&lead) {
            let start = self.at;
            if self.eat("\\u")
                && let Some(trail) = self.hex(4).filter(|trail| (0xDC00..0xE000).contains(trail))
            {
                return Some(0x10000 + ((lead - 0xD800) << 10) + (trail - 0xDC00));
            }
            self.at = start;
        }
        Some(lead)
    }

    /// Puts the groups where names were referred to.
    fn resolve(&self, node: &mut Node) -> Result<()> {
        match node {
            Node::Back { groups, .. } => {
                let Some(place) = groups[0].checked_sub(UNRESOLVED) else { return Ok(()) };
                let name = self.back.get(place as usize).ok_or(Unsupported::Invalid)?;
                *groups = self.names.iter().filter(|(known, _)| known == name).map(|(_, group)| *group).collect();
                if groups.is_empty() { Err(Unsupported::Invalid) } else { Ok(()) }
            }
            Node::Sequence(nodes) | Node::Choice(nodes) => nodes.iter_mut().try_for_each(|node| self.resolve(node)),
            Node::Group { body, .. } | Node::Look { body, .. } | Node::Repeat { body, .. } => self.resolve(body),
            _ => Ok(()),
        }
    }
}
