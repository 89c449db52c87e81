//! Expressions of [JMESPath](https://jmespath.org/specification.html): all of its grammar, and all
//! of its functions but `abs`, `avg`, `ceil` and `floor`.
//!
//! The crate `jmespath` is not used: it is three quarters of what the whole connector may weigh in
//! a Worker, and sorts the members of objects, whose order an answer keeps here.

use alloc::{borrow::ToOwned as _, boxed::Box, format, string::String, vec::Vec};

use millrace_core::Json;

use super::{
    evaluate,
    syntax::{Comparison, Elements, Function, InvalidSelection, Node},
};

/// The most levels of an expression.
const MAX_DEPTH: usize = 32;

/// An expression that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression(Node);

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Quoted(String),
    Number(i64),
    Literal(Json),
    /// `[?`, `[]`, `||`, …
    Sign(&'static str),
    End,
}

/// The signs, those of two characters first.
const SIGNS: [&str; 25] =
    ["[?", "[]", "||", "&&", "==", "!=", "<=", ">=", "[", "]", "{", "}", "(", ")", ".", "*", ",", ":", "@", "&", "|", "!", "<", ">", "="];

/// Signs bind this strongly or more within a projection; those below end it.
const PROJECTED: u8 = 10;
const OF_STAR: u8 = 20;
const OF_DOT: u8 = 40;
const OF_NOT: u8 = 45;

impl Token {
    /// How strongly it binds what stands before it.
    const fn binding(&self) -> u8 {
        let Self::Sign(sign) = self else { return 0 };
        match sign.as_bytes() {
            b"|" => 1,
            b"||" => 2,
            b"&&" => 3,
            b"==" | b"!=" | b"<" | b"<=" | b">" | b">=" => 5,
            b"[]" => 9,
            b"[?" => 21,
            b"." => OF_DOT,
            b"[" => 55,
            b"(" => 60,
            _ => 0,
        }
    }
}

impl Expression {
    /// Reads an expression.
    pub(super) fn parse(text: &str) -> Result<Self, InvalidSelection> {
        let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0 };
        let node = parser.expression(0)?;
        if *parser.peek() == Token::End { Ok(Self(node)) } else { Err(parser.unexpected()) }
    }

    /// What it finds in a document.
    pub(super) fn search<'a>(&'a self, document: &'a Json) -> Result<alloc::borrow::Cow<'a, Json>, String> {
        evaluate::node(&self.0, document)
    }
}

fn invalid(message: impl Into<String>, at: usize) -> InvalidSelection {
    InvalidSelection { message: message.into(), at }
}

/// The tokens of a text, each with where it begins.
fn tokens(text: &str) -> Result<Vec<(Token, usize)>, InvalidSelection> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let length = |of: fn(u8) -> bool| rest.bytes().take_while(|byte| of(*byte)).count();
        let (token, taken) = match rest.as_bytes()[0] {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let taken = length(is_name);
                (Token::Name(rest[..taken].to_owned()), taken)
            }
            b'-' | b'0'..=b'9' => {
                let taken = length(|byte| byte.is_ascii_digit() || byte == b'-');
                let number = rest[..taken].parse().map_err(|_| invalid("has a number that is not a whole one", at))?;
                (Token::Number(number), taken)
            }
            quote @ (b'"' | b'\'' | b'`') => quoted(rest, quote, at)?,
            _ => {
                let sign = SIGNS.into_iter().find(|sign| *sign != "=" && rest.starts_with(sign));
                let sign = sign.ok_or_else(|| invalid("has a character that an expression cannot have here", at))?;
                (Token::Sign(sign), sign.len())
            }
        };
        tokens.push((token, at));
        at += taken;
    }
    tokens.push((Token::End, text.len()));
    Ok(tokens)
}

/// A text in quotes, and how long it is with them: a name, a text as it is, or JSON.
fn quoted(rest: &str, quote: u8, at: usize) -> Result<(Token, usize), InvalidSelection> {
    let mut is_escaped = false;
    let end = rest.bytes().skip(1).position(|byte| {
        let ends = byte == quote && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    let Some(length) = end else { return Err(invalid("has a quote that does not end", at)) };
    let inner = &rest[1..=length];
    let token = match quote {
        b'"' => match rest[..length + 2].parse() {
            Ok(Json::String(name)) => Token::Quoted(name),
            _ => return Err(invalid("has a quoted name that is not a text of JSON", at)),
        },
        b'\'' => Token::Literal(Json::String(inner.replace("\\'", "'"))),
        _ => {
            let json = inner.replace("\\`", "`");
            Token::Literal(json.trim().parse().map_err(|_| invalid("has a literal that is not JSON", at))?)
        }
    };
    Ok((token, length + 2))
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.next).map_or(&Token::End, |(token, _)| token)
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    fn takes(&mut self, sign: &'static str) -> bool {
        let is_it = *self.peek() == Token::Sign(sign);
        self.next += usize::from(is_it);
        is_it
    }

    fn demand(&mut self, sign: &'static str) -> Result<(), InvalidSelection> {
        if self.takes(sign) { Ok(()) } else { Err(self.wrong(format!("has no `{sign}` where one is expected"))) }
    }

    fn unexpected(&self) -> InvalidSelection {
        self.wrong(match self.peek() {
            Token::End => "ends too early",
            _ => "has something that cannot stand where it does",
        })
    }

    fn wrong(&self, message: impl Into<String>) -> InvalidSelection {
        let at = self.tokens.get(self.next).or(self.tokens.last()).map_or(0, |(_, at)| *at);
        invalid(message, at)
    }

    /// Reads as far as signs bind more strongly than `binding`.
    fn expression(&mut self, binding: u8) -> Result<Node, InvalidSelection> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong(format!("has more than {MAX_DEPTH} levels")));
        }
        let mut left = self.first()?;
        while binding < self.peek().binding() {
            left = self.further(left)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    /// What an expression begins with.
    fn first(&mut self) -> Result<Node, InvalidSelection> {
        let before = self.next;
        match self.take() {
            Token::Name(name) if self.takes("(") => self.call(&name, before),
            Token::Name(name) | Token::Quoted(name) => Ok(Node::Field(name)),
            Token::Literal(json) => Ok(Node::Literal(json)),
            Token::Sign("@") => Ok(Node::Current),
            Token::Sign("*") => self.projected(Node::Current, Elements::OfObject, OF_STAR),
            Token::Sign("[]") => self.projected(Node::Current, Elements::OfListFlattened, 9),
            Token::Sign("[?") => self.filtered(Node::Current),
            Token::Sign("!") => Ok(Node::Not(Box::new(self.expression(OF_NOT)?))),
            Token::Sign("{") => self.members(),
            Token::Sign("[") => match self.peek() {
                Token::Number(_) | Token::Sign(":") => self.index(Node::Current),
                Token::Sign("*") if self.tokens.get(self.next + 1).is_some_and(|(token, _)| *token == Token::Sign("]")) => {
                    self.next += 2;
                    self.projected(Node::Current, Elements::OfList, OF_STAR)
                }
                _ => self.list(),
            },
            Token::Sign("(") => {
                let inner = self.expression(0)?;
                self.demand(")")?;
                // What stands behind goes on from the whole, and not from each element.
                Ok(Node::Then(Box::new(inner), Box::new(Node::Current)))
            }
            _ => {
                self.next = before;
                Err(self.unexpected())
            }
        }
    }

    /// What goes on from something.
    fn further(&mut self, left: Node) -> Result<Node, InvalidSelection> {
        let binding = self.peek().binding();
        let before = self.next;
        let both = |left, right| (Box::new(left), Box::new(right));
        let compared = |comparison, left, right| Node::Compare(comparison, Box::new(left), Box::new(right));
        let token = self.take();
        let Token::Sign(sign) = token else { return Err(self.unexpected()) };
        Ok(match sign {
            "." if self.takes("*") => self.projected(left, Elements::OfObject, OF_STAR)?,
            "." => {
                let (left, right) = both(left, self.after_dot(OF_DOT)?);
                Node::Then(left, right)
            }
            "|" => {
                let (left, right) = both(left, self.expression(binding)?);
                Node::Then(left, right)
            }
            "||" => {
                let (left, right) = both(left, self.expression(binding)?);
                Node::Or(left, right)
            }
            "&&" => {
                let (left, right) = both(left, self.expression(binding)?);
                Node::And(left, right)
            }
            "==" => compared(Comparison::Equal, left, self.expression(binding)?),
            "!=" => compared(Comparison::NotEqual, left, self.expression(binding)?),
            "<" => compared(Comparison::Less, left, self.expression(binding)?),
            "<=" => compared(Comparison::LessOrEqual, left, self.expression(binding)?),
            ">" => compared(Comparison::Greater, left, self.expression(binding)?),
            ">=" => compared(Comparison::GreaterOrEqual, left, self.expression(binding)?),
            "[]" => self.projected(left, Elements::OfListFlattened, 9)?,
            "[?" => self.filtered(left)?,
            "[" if self.takes("*") => {
                self.demand("]")?;
                self.projected(left, Elements::OfList, OF_STAR)?
            }
            "[" if matches!(self.peek(), Token::Number(_) | Token::Sign(":")) => self.index(left)?,
            _ => {
                self.next = before;
                return Err(self.unexpected());
            }
        })
    }

    fn after_dot(&mut self, binding: u8) -> Result<Node, InvalidSelection> {
        match self.peek() {
            Token::Name(_) | Token::Quoted(_) | Token::Sign("*" | "{") => self.expression(binding),
            Token::Sign("[") => {
                self.next += 1;
                self.list()
            }
            _ => Err(self.unexpected()),
        }
    }

    /// A projection, and what is done with each of its elements.
    fn projected(&mut self, left: Node, elements: Elements, binding: u8) -> Result<Node, InvalidSelection> {
        let each = if self.peek().binding() < PROJECTED {
            Node::Current
        } else if self.takes(".") {
            self.after_dot(binding)?
        } else {
            // `[` or `[?`, which go on from the element.
            self.on_each(binding)?
        };
        Ok(Node::Project(Box::new(left), elements, Box::new(each)))
    }

    fn on_each(&mut self, binding: u8) -> Result<Node, InvalidSelection> {
        if !matches!(self.peek(), Token::Sign("[" | "[?")) {
            return Err(self.unexpected());
        }
        self.expression(binding)
    }

    fn filtered(&mut self, left: Node) -> Result<Node, InvalidSelection> {
        let condition = self.expression(0)?;
        self.demand("]")?;
        self.projected(left, Elements::Which(Box::new(condition)), 21)
    }

    /// `[3]`, or a slice, which is a projection. The bracket was taken.
    fn index(&mut self, left: Node) -> Result<Node, InvalidSelection> {
        let mut numbers: [Option<i64>; 3] = [None; 3];
        let mut place = 0;
        loop {
            if let Token::Number(number) = *self.peek() {
                self.next += 1;
                numbers[place] = Some(number);
            }
            if place < 2 && self.takes(":") {
                place += 1;
            } else {
                break;
            }
        }
        self.demand("]")?;
        let [start, stop, step] = numbers;
        let node = match (place, start, step.unwrap_or(1)) {
            (0, Some(index), _) => Node::Index(index),
            (0, ..) => return Err(self.unexpected()),
            (_, _, 0) => return Err(self.wrong("has a slice whose step is 0")),
            (_, start, step) => Node::Slice { start, stop, step },
        };
        let sliced = matches!(node, Node::Slice { .. });
        let node = if left == Node::Current { node } else { Node::Then(Box::new(left), Box::new(node)) };
        if sliced { self.projected(node, Elements::OfList, OF_STAR) } else { Ok(node) }
    }

    /// `[a, b]`; the bracket was taken.
    fn list(&mut self) -> Result<Node, InvalidSelection> {
        let mut elements = Vec::new();
        loop {
            elements.push(self.expression(0)?);
            if !self.takes(",") {
                break;
            }
        }
        self.demand("]")?;
        Ok(Node::List(elements))
    }

    /// `{a: b, c: d}`; the brace was taken.
    fn members(&mut self) -> Result<Node, InvalidSelection> {
        let mut members = Vec::new();
        loop {
            let name = match self.peek().clone() {
                Token::Name(name) | Token::Quoted(name) => name,
                _ => return Err(self.unexpected()),
            };
            self.next += 1;
            self.demand(":")?;
            members.push((name, self.expression(0)?));
            if !self.takes(",") {
                break;
            }
        }
        self.demand("}")?;
        Ok(Node::Members(members))
    }

    /// A function; the parenthesis was taken.
    fn call(&mut self, name: &str, before: usize) -> Result<Node, InvalidSelection> {
        let at = self.tokens.get(before).map_or(0, |(_, at)| *at);
        let function = Function::named(name).ok_or_else(|| invalid(format!("has a function `{name}`, which is not known"), at))?;
        let mut arguments = Vec::new();
        if !self.takes(")") {
            loop {
                arguments.push(if self.takes("&") { Node::Reference(Box::new(self.expression(0)?)) } else { self.expression(0)? });
                if !self.takes(",") {
                    break;
                }
            }
            self.demand(")")?;
        }
        function.check(&arguments).map_err(|message| invalid(format!("has a function `{name}`, {message}"), at))?;
        Ok(Node::Call(function, arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The language's own test suite, which its repository `jmespath.test` publishes under the MIT
    /// licence, without comments: a suite in each line.
    const SUITES: &str = include_str!("../../tests/data/jmespath.json");
    const OMITTED: [&str; 4] = ["abs(", "avg(", "ceil(", "floor("];

    #[test]
    fn the_suite_of_the_language_passes() {
        let Ok(Json::Array(suites)) = SUITES.parse() else { panic!("the suites are JSON") };
        let (mut checked, mut wrong) = (0, Vec::new());
        for suite in &suites {
            for case in suite["cases"].as_array().unwrap() {
                let text = case["expression"].as_str().unwrap();
                if OMITTED.iter().any(|name| text.contains(name)) {
                    assert!(Expression::parse(text).is_err(), "{text}");
                    continue;
                }
                checked += 1;
                let found = Expression::parse(text).map_err(|error| error.message);
                let found = found.and_then(|expression| expression.search(&suite["given"]).map(|found| found.into_owned()));
                let is_right = match (&found, case.get("result")) {
                    (Ok(found), Some(expected)) => evaluate::is_equal(found, expected),
                    (Err(_), None) => true,
                    _ => false,
                };
                if !is_right {
                    wrong.push(format!("{text}: {found:?}, expected {:?}", case.get("result")));
                }
            }
        }
        assert!(wrong.is_empty(), "{} of {checked} are wrong:\n{}", wrong.len(), wrong.join("\n"));
        assert!(checked > 600, "{checked}");
    }
}
