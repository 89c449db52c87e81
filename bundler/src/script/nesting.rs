//! How deep the code of a module is nested, found in its tokens before anything is parsed.
//!
//! The parser and whoever walks its tree call themselves for each level: a hundred thousand
//! brackets, operators or arrows would end the bundler's process. What counts as a level is what
//! makes the tree deeper: each open bracket, and within a bracket each operator, call, member and
//! control word since its statement or element began. Where the tokens leave it open where a
//! statement ends, more is counted rather than less; real code stays far below the limit either
//! way.

use super::place::Finding;

/// The deepest nesting that is read.
pub(super) const LIMIT: usize = 1000;

/// The stack of the thread that reads and links a script: many times what [`LIMIT`] levels take.
pub(super) const STACK_BYTES: usize = 256 << 20;

/// The place where the code is nested too deeply, if there is one.
pub(super) fn too_deep(source: &str) -> Option<Finding> {
    let at = Scan::new(source).first_above(LIMIT)?;
    Some(Finding {
        start: at,
        end: at + source.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8),
        message: format!("the code is nested more than {LIMIT} levels deep here"),
        help: Some("Split the expression into several statements, or move the data into a `.json` file and import it.".to_owned()),
    })
}

/// What came before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrecedingToken {
    /// Nothing of this statement or element.
    Nothing,
    /// A value, or what may be one.
    Value,
    /// `}`
    Block,
    /// The closing parenthesis of `if (…)` and the like.
    Head,
    /// A word that such a parenthesis follows.
    Control,
    /// `.` or `?.`
    Dot,
    /// Anything else after which a value comes.
    Operator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Whole,
    Round {
        is_head: bool,
    },
    Square,
    Curly,
    /// `${`
    Template,
}

struct Region {
    bracket: Bracket,
    /// The levels since the statement or element began.
    chain: usize,
    /// Those of them that a comma does not end: `if (a) b, c`.
    control: usize,
    /// The levels of the statement before, which `else` goes on with.
    ended: usize,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    before: PrecedingToken,
    is_new_line: bool,
    regions: Vec<Region>,
    depth: usize,
}

impl<'a> Scan<'a> {
    fn new(source: &'a str) -> Self {
        let regions = vec![Region { bracket: Bracket::Whole, chain: 0, control: 0, ended: 0 }];
        Self { bytes: source.as_bytes(), at: 0, before: PrecedingToken::Nothing, is_new_line: false, regions, depth: 0 }
    }

    fn first_above(mut self, limit: usize) -> Option<usize> {
        if self.bytes.starts_with(b"#!") {
            self.skip_line();
        }
        loop {
            self.skip_space();
            let start = self.at;
            self.token()?;
            if self.depth > limit {
                return Some(start);
            }
            self.is_new_line = false;
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_line(&mut self) {
        self.at += self.bytes[self.at..].iter().take_while(|byte| **byte != b'\n').count();
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            match (byte, self.peek(1)) {
                (b'\n', _) => self.is_new_line = true,
                (b'/', b'/') => {
                    self.skip_line();
                    continue;
                }
                (b'/', b'*') => {
                    let rest = &self.bytes[self.at + 2..];
                    let length = rest.windows(2).position(|pair| pair == b"*/").map_or(rest.len(), |end| end + 2);
                    self.is_new_line |= rest[..length].contains(&b'\n');
                    self.at += length + 1;
                }
                (byte, _) if byte.is_ascii_whitespace() => {}
                _ => return,
            }
            self.at += 1;
        }
    }

    /// Reads one token; `None` at the end.
    fn token(&mut self) -> Option<()> {
        let byte = *self.bytes.get(self.at)?;
        match byte {
            b'(' | b'[' => {
                let is_head = byte == b'(' && self.before == PrecedingToken::Control;
                if matches!(self.before, PrecedingToken::Value | PrecedingToken::Block) {
                    self.deepen();
                }
                self.open(if byte == b'(' { Bracket::Round { is_head } } else { Bracket::Square });
            }
            b'{' => self.open(Bracket::Curly),
            b')' | b']' | b'}' => self.close(),
            b'"' | b'\'' => {
                self.value();
                self.text(byte);
            }
            b'`' => {
                match self.before {
                    PrecedingToken::Value | PrecedingToken::Block => self.deepen(),
                    _ => self.value(),
                }
                self.at += 1;
                self.template();
            }
            b';' => {
                self.at += 1;
                self.end_statement();
                self.before = PrecedingToken::Nothing;
            }
            b',' => {
                self.at += 1;
                self.end_element();
            }
            b'/' if !matches!(self.before, PrecedingToken::Value | PrecedingToken::Block) => {
                self.value();
                self.regular_expression();
            }
            b'0'..=b'9' => {
                self.value();
                self.number();
            }
            byte if is_word(byte) => self.word(),
            _ => self.operator(byte),
        }
        Some(())
    }

    fn deepen(&mut self) {
        self.depth += 1;
        if let Some(region) = self.regions.last_mut() {
            region.chain += 1;
        }
    }

    fn open(&mut self, bracket: Bracket) {
        self.at += 1;
        self.depth += 1;
        self.regions.push(Region { bracket, chain: 0, control: 0, ended: 0 });
        self.before = PrecedingToken::Nothing;
    }

    fn close(&mut self) {
        let byte = self.bytes[self.at];
        self.at += 1;
        // What closes more than was opened is the parser's business.
        let closed = match self.regions.as_slice() {
            [_, .., _] => self.regions.pop(),
            _ => None,
        };
        self.depth -= closed.as_ref().map_or(0, |region| region.chain + 1);
        self.before = match closed.map(|region| region.bracket) {
            Some(Bracket::Template) if byte == b'}' => return self.template(),
            Some(Bracket::Round { is_head: true }) => PrecedingToken::Head,
            _ if byte == b'}' => PrecedingToken::Block,
            _ => PrecedingToken::Value,
        };
    }

    fn end_statement(&mut self) {
        if let Some(region) = self.regions.last_mut() {
            self.depth -= region.chain;
            region.ended = region.chain;
            (region.chain, region.control) = (0, 0);
        }
    }

    fn end_element(&mut self) {
        if let Some(region) = self.regions.last_mut() {
            self.depth -= region.chain - region.control;
            region.chain = region.control;
        }
        self.before = PrecedingToken::Operator;
    }

    /// Begins a value: after another one on the line before, or after a block, it is a new
    /// statement.
    fn value(&mut self) {
        if self.before == PrecedingToken::Block || (self.before == PrecedingToken::Value && self.is_new_line) {
            self.end_statement();
        }
        self.before = PrecedingToken::Value;
    }

    fn text(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'\n' => return,
                _ => {}
            }
            self.at += 1;
            if *byte == quote {
                return;
            }
        }
    }

    /// The rest of a template, up to its end or its next value.
    fn template(&mut self) {
        self.before = PrecedingToken::Value;
        while let Some(byte) = self.bytes.get(self.at) {
            match (byte, self.peek(1)) {
                (b'\\', _) => self.at += 1,
                (b'$', b'{') => {
                    self.at += 1;
                    return self.open(Bracket::Template);
                }
                (b'`', _) => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn regular_expression(&mut self) {
        let mut in_class = false;
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'\n' => return,
                b'/' if !in_class => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn number(&mut self) {
        let start = self.at;
        while let Some(byte) = self.bytes.get(self.at) {
            let is_exponent = matches!(byte, b'+' | b'-')
                && matches!(self.bytes[self.at - 1], b'e' | b'E')
                && !self.bytes[start..].starts_with(b"0x")
                && self.at > start;
            if !is_word(*byte) && *byte != b'.' && !is_exponent {
                return;
            }
            self.at += 1;
        }
    }

    fn word(&mut self) {
        let start = self.at;
        self.at += self.bytes[start..].iter().take_while(|byte| is_word(**byte)).count();
        if self.before == PrecedingToken::Dot {
            self.before = PrecedingToken::Value;
            return;
        }
        match &self.bytes[start..self.at] {
            b"in" | b"of" | b"instanceof" | b"as" | b"satisfies" | b"is" | b"extends" => {
                self.deepen();
                self.before = PrecedingToken::Operator;
            }
            b"else" => {
                if let Some(region) = self.regions.last_mut().filter(|_| self.before == PrecedingToken::Nothing) {
                    region.chain = region.ended;
                    region.control = region.ended;
                    self.depth += region.ended;
                }
                self.control();
                self.before = PrecedingToken::Operator;
            }
            b"if" | b"for" | b"while" | b"with" | b"switch" | b"catch" => {
                self.value();
                self.control();
                self.before = PrecedingToken::Control;
            }
            b"do" | b"try" | b"finally" => {
                self.value();
                self.control();
                self.before = PrecedingToken::Operator;
            }
            // `for await (…)`
            b"await" if self.before == PrecedingToken::Control => {}
            b"typeof" | b"void" | b"delete" | b"await" | b"yield" | b"new" | b"keyof" | b"infer" | b"unique" | b"readonly" | b"asserts" => {
                self.value();
                self.deepen();
                self.before = PrecedingToken::Operator;
            }
            b"case" | b"default" => {
                self.end_statement();
                self.before = PrecedingToken::Operator;
            }
            b"return" | b"throw" | b"var" | b"let" | b"const" | b"export" => {
                self.value();
                self.before = PrecedingToken::Operator;
            }
            _ => self.value(),
        }
    }

    fn control(&mut self) {
        self.deepen();
        if let Some(region) = self.regions.last_mut() {
            region.control += 1;
        }
    }

    fn operator(&mut self, byte: u8) {
        let (second, third) = (self.peek(1), self.peek(2));
        let length = match (byte, second, third) {
            (b'.', b'.', b'.') => 3,
            (b'?', b'.', _) | (b'=', b'>', _) | (b'&', b'&', _) | (b'|', b'|', _) | (b'?', b'?', _) | (b'*', b'*', _) => 2,
            (b'+', b'+', _) | (b'-', b'-', _) => 2,
            _ => 1,
        };
        // `a\n!b` and `a\n++b` are two statements.
        if matches!(byte, b'!' | b'~' | b'@') || matches!((byte, second), (b'+', b'+') | (b'-', b'-')) {
            let follows_value = matches!(self.before, PrecedingToken::Value | PrecedingToken::Block);
            if self.is_new_line && follows_value {
                self.end_statement();
            } else if length == 2 && follows_value {
                // `a++`
                self.at += length;
                return;
            }
        }
        if length < 3 {
            self.deepen();
        }
        self.at += length;
        // `+=`, `===`, `<=`
        while self.peek(0) == b'=' && byte != b'.' && self.peek(1) != b'>' {
            self.at += 1;
        }
        self.before =
            if length < 3 && (byte == b'.' || (byte == b'?' && second == b'.')) { PrecedingToken::Dot } else { PrecedingToken::Operator };
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The deepest level of a text.
    fn deepest(source: &str) -> usize {
        (0..).find(|limit| Scan::new(source).first_above(*limit).is_none()).unwrap()
    }

    #[test]
    fn what_makes_a_tree_deeper_counts() {
        let many = |text: &str| text.repeat(50);
        let chains = [
            many("[") + &many("]"),
            many("(") + "1" + &many(")"),
            many("{") + &many("}"),
            many("a(") + &many(")"),
            many("!") + "1",
            many("- ") + "1",
            many("typeof ") + "1",
            many("new ") + "a",
            many("await ") + "a",
            "1".to_owned() + &many("+1"),
            "1".to_owned() + &many("\n+ 1"),
            "a".to_owned() + &many(".b"),
            "a".to_owned() + &many("\n  .b"),
            "a".to_owned() + &many("?.b"),
            "a".to_owned() + &many("()"),
            "a".to_owned() + &many("[0]"),
            "a".to_owned() + &many("`x`"),
            many("a = ") + "1",
            many("a => ") + "1",
            many("a ? b : ") + "1",
            many("a: ") + "1",
            many("if (a) "),
            many("if (a)\n"),
            many("if (a) b; else "),
            many("if (a) { b } else "),
            many("if (a) b\nelse "),
            many("for (;;) "),
            many("for await (a of b) "),
            many("while (a) "),
            many("do "),
            many("`${") + "1" + &many("}`"),
            "let a: ".to_owned() + &many("A<") + "B" + &many(">"),
            "let a: ".to_owned() + &many("keyof ") + "B",
            "let a: ".to_owned() + "B" + &many("[]"),
            "a".to_owned() + &many(" as A"),
            many("if (a) ") + "var b, c" + &many(" + 1"),
            many("function a() { "),
            many("class A { a = "),
        ];
        for text in chains {
            let depth = deepest(&text);
            assert!((50..=210).contains(&depth), "{depth}: {text}");
        }
    }

    #[test]
    fn what_stands_side_by_side_does_not() {
        let many = |text: &str| text.repeat(500);
        let rows = [
            many("a = b + c;\n"),
            many("a = b + c\n"),
            many("a.b(c)\n"),
            many("a.b(c); "),
            many("if (a) b(c)\n"),
            many("if (a) { b } else { c }\n"),
            many("if (a) { b } c()\n"),
            many("function a(b, c) { return b / c }\n"),
            many("const a = { b: 1, c: [2, 3], if: 4 };\n"),
            "a = [".to_owned() + &many("1 + 2, ") + "]",
            "a = {".to_owned() + &many("b: -1, ") + "}",
            "a(".to_owned() + &many("b => c, ") + ")",
            "var z".to_owned() + &many(", a = b.c(d)"),
            "switch (a) {".to_owned() + &many("case 'b': ") + "}",
            "switch (a) {".to_owned() + &many("case 1:\n b.c()\n break\n") + "}",
            "class A {".to_owned() + &many("b = 1\n c() { return 2 }\n") + "}",
            many("a = /[(\\/]{/g.test(b)\n"),
            many("a = \"(((\" + '(((' + `((( ${b}`\n"),
            many("// (((\n/* ((( */\n"),
            many("export const a = 1\n"),
            many("import a from \"b\"\n"),
            many("a++\n++b\n!c\n"),
            many("return a\n"),
            many("type A = { b: C; d?: E };\n"),
            many("if (a) /[/(]/.test(b)\n"),
        ];
        for text in rows {
            let depth = deepest(&text);
            assert!(depth < 20, "{depth}: {}", &text[..60]);
        }
    }
}
