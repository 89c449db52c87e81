//! The parser of `when:` expressions.
//!
//! ```text
//! or         = and { ( "or" | "||" ) and } and        = comparison { ( "and" | "&&" ) comparison }
//! comparison = not [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" "in" ) not ] not
//! = ( "not" | "!" ) not | operand operand    = primary { "." method } method     = "size" "(" ")"
//! | ( "startsWith" | "endsWith" | "contains" ) "(" or ")" | "matches" "(" string ")"
//!            | ( "exists" | "all" ) "(" name "," or ")"
//! primary    = literal | path | ( "len" | "size" ) "(" or ")" | ( "exists" | "has" ) "(" path ")"
//! | "(" or ")" path       = name { "." name | "[" digits "]" } literal    = number | string |
//! "true" | "false" | "null" | "[" [ literal { "," literal } ] "]"
//! ```
//!
//! Where [CEL](https://cel.dev) has the same thing, it is written and means the same. `not a == b`
//! is refused: readers disagree about what it means. `not (a == b)` says it.

use millrace_core::{
    Json,
    app::{Literal, Pattern},
    expression::{Comparison, Expression, Quantifier, Step, TextTest},
};

use std::ops::Range;

use crate::{
    Problem, Severity,
    scope::{DeadEnd, PathScope, ValueType},
};

mod check;
mod nested;
mod token;

use nested::Nested;
use token::{Spanned, Token};

/// The deepest nesting of an expression; a chain of `and` or `or` nests once for each operator.
const MAX_DEPTH: usize = 64;

/// What became of the text of an expression.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The expression; `None` where the text is not one.
    pub(crate) expression: Option<Expression>,
    /// What is wrong with it, in order.
    pub(crate) problems: Vec<Problem>,
}

/// Parses an expression and looks whether its paths lead anywhere and its operators fit their
/// types.
pub(crate) fn parse(text: &str, scope: &PathScope) -> Parsed {
    let tokens = match token::tokens(text) {
        Ok(tokens) => tokens,
        Err(problem) => return Parsed { expression: None, problems: vec![problem] },
    };
    let mut parser =
        Parser { tokens: &tokens, position: 0, end: text.len(), scope, elements: Vec::new(), nesting: 0, problems: Vec::new() };
    let parsed = parser.or().and_then(|nested| match parser.next() {
        None => Ok(nested),
        Some(token) => Err(parser.unexpected(token, "`and`, `or` or the end")),
    });
    let mut problems = std::mem::take(&mut parser.problems);
    let expression = match parsed {
        Ok(nested) => {
            problems.extend(check::condition(&nested));
            Some(nested.expression)
        }
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    problems.sort_by_key(|problem| problem.range.start);
    Parsed { expression, problems }
}

/// A method of an operand.
#[derive(Clone, Copy)]
enum Method {
    Size,
    Text(TextTest),
    Matches,
    Each(Quantifier),
}

/// The methods, by their names.
const METHODS: [(&str, Method); 7] = [
    ("size", Method::Size),
    ("startsWith", Method::Text(TextTest::StartsWith)),
    ("endsWith", Method::Text(TextTest::EndsWith)),
    ("contains", Method::Text(TextTest::Contains)),
    ("matches", Method::Matches),
    ("exists", Method::Each(Quantifier::Any)),
    ("all", Method::Each(Quantifier::All)),
];

/// Words that mean something and cannot name an element.
const WORDS: [&str; 7] = ["and", "or", "not", "in", "true", "false", "null"];

/// What an expression can have where a path can begin.
pub(crate) const WORDS_OF_CONDITIONS: [&str; 8] = ["and", "or", "not", "in", "len", "exists", "has", "null"];

/// The names of a path and where each of them is.
pub(crate) type WrittenPath = Vec<(String, Range<usize>)>;

/// The paths of names in an expression, also in one that is wrong otherwise; those in strings are
/// none.
pub(crate) fn written_paths(text: &str) -> Vec<WrittenPath> {
    let Ok(tokens) = token::tokens(text) else { return Vec::new() };
    let mut paths: Vec<WrittenPath> = Vec::new();
    let mut goes_on = false;
    for (index, spanned) in tokens.iter().enumerate() {
        match &spanned.token {
            Token::Word(word) => match paths.last_mut().filter(|_| goes_on) {
                Some(path) => path.push((word.clone(), spanned.range.clone())),
                None => paths.push(vec![(word.clone(), spanned.range.clone())]),
            },
            // An index stands within a path.
            Token::Dot | Token::OpenList | Token::Number(_) | Token::CloseList => {
                goes_on = matches!(spanned.token, Token::Dot) && index > 0;
                continue;
            }
            _ => {}
        }
        goes_on = false;
    }
    paths
}

/// What makes one expression of an operator's two sides.
type Wrap = fn(Expression, Expression) -> Expression;

struct Parser<'a> {
    tokens: &'a [Spanned],
    position: usize,
    end: usize,
    scope: &'a PathScope,
    /// The names that `exists` and `all` give to elements here, and what these are.
    elements: Vec<(&'a str, ValueType)>,
    nesting: usize,
    /// Of paths and types: what a parser can go on after.
    problems: Vec<Problem>,
}

impl<'a> Parser<'a> {
    fn or(&mut self) -> Result<Nested, Problem> {
        let mut left = self.and()?;
        while self.takes_word("or") || self.takes(&Token::Or) {
            let right = self.and()?;
            self.problems.extend(check::condition(&left).into_iter().chain(check::condition(&right)));
            left = self.join(left, right, |left, right| Expression::Or(Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Nested, Problem> {
        let mut left = self.comparison()?;
        while self.takes_word("and") || self.takes(&Token::And) {
            let right = self.comparison()?;
            self.problems.extend(check::condition(&left).into_iter().chain(check::condition(&right)));
            left = self.join(left, right, |left, right| Expression::And(Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Nested, Problem> {
        let (negated, known_problems) = (self.at_word("not") || self.at(&Token::Not), self.problems.len());
        let left = self.not()?;
        let operator = self.peek();
        let Some(wrap) = self.operator()? else { return Ok(left) };
        if let Some(operator) = operator.filter(|_| negated) {
            // What `not` was found to be wrong with may not be what it was meant for.
            self.problems.truncate(known_problems);
            return Err(error(
                operator.range.clone(),
                format!("`not` before `{}` can be read in two ways", operator.token),
                "write `not (a == b)` or `a != b`, and `a not in b`",
            ));
        }
        let right = self.not()?;
        let next = self.peek();
        if self.operator()?.is_some()
            && let Some(next) = next
        {
            return Err(error(
                next.range.clone(),
                format!("a second comparison starts at `{}`", next.token),
                "join two comparisons with `and`, or use parentheses",
            ));
        }
        if let Some(operator) = operator {
            self.problems.extend(check::comparison(&left, &operator.token, &right));
        }
        self.join(left, right, wrap)
    }

    /// The operator of a comparison, taken, where there is one.
    fn operator(&mut self) -> Result<Option<Wrap>, Problem> {
        let Some(operator) = self.peek() else { return Ok(None) };
        let wrap: Wrap = match &operator.token {
            Token::Equal => |l, r| compare(Comparison::Equal, l, r),
            Token::NotEqual => |l, r| compare(Comparison::NotEqual, l, r),
            Token::Less => |l, r| compare(Comparison::Less, l, r),
            Token::LessOrEqual => |l, r| compare(Comparison::LessOrEqual, l, r),
            Token::Greater => |l, r| compare(Comparison::Greater, l, r),
            Token::GreaterOrEqual => |l, r| compare(Comparison::GreaterOrEqual, l, r),
            Token::Word(word) if word == "in" => |l, r| Expression::In(Box::new(l), Box::new(r)),
            Token::Word(word) if word == "not" => {
                self.position += 1;
                if !self.at_word("in") {
                    return Err(self.expected("`in` after `not`"));
                }
                |l, r| Expression::Not(Box::new(Expression::In(Box::new(l), Box::new(r))))
            }
            _ => return Ok(None),
        };
        self.position += 1;
        Ok(Some(wrap))
    }

    fn not(&mut self) -> Result<Nested, Problem> {
        if !self.takes_word("not") && !self.takes(&Token::Not) {
            return self.operand();
        }
        let start = self.peek().map_or(self.end, |spanned| spanned.range.start);
        self.enter()?;
        let inner = self.not()?;
        self.nesting -= 1;
        self.problems.extend(check::condition(&inner));
        let range = start..inner.range.end;
        Ok(Nested {
            depth: self.deeper(inner.depth)?,
            expression: Expression::Not(Box::new(inner.expression)),
            value: ValueType::Bool,
            range,
        })
    }

    fn operand(&mut self) -> Result<Nested, Problem> {
        let mut operand = self.primary()?;
        while let Some(method) = self.at_method() {
            self.position += 3;
            operand = self.method(operand, method)?;
        }
        Ok(operand)
    }

    /// The method whose call comes next.
    fn at_method(&self) -> Option<Method> {
        let [dot, name, open] = self.tokens.get(self.position..self.position + 3)? else { return None };
        let Token::Word(name) = &name.token else { return None };
        if dot.token != Token::Dot || open.token != Token::Open {
            return None;
        }
        METHODS.iter().find(|(known, _)| known == name).map(|(_, method)| *method)
    }

    /// A call of a method, whose parenthesis was opened.
    fn method(&mut self, receiver: Nested, method: Method) -> Result<Nested, Problem> {
        self.enter()?;
        let start = receiver.range.start;
        let (depth, value, expression) = match method {
            Method::Size => {
                self.problems.extend(check::length(&receiver));
                (receiver.depth, ValueType::Number, Expression::Len(Box::new(receiver.expression)))
            }
            Method::Text(test) => {
                let part = self.or()?;
                self.problems.extend(check::text(&receiver).into_iter().chain(check::text(&part)));
                let depth = receiver.depth.max(part.depth);
                (depth, ValueType::Bool, Expression::Text(test, Box::new(receiver.expression), Box::new(part.expression)))
            }
            Method::Matches => {
                self.problems.extend(check::text(&receiver));
                const WHAT: &str = "a pattern in quotes";
                let Some(spanned) = self.next() else { return Err(self.expected(WHAT)) };
                let Token::Text(pattern) = &spanned.token else { return Err(self.unexpected(spanned, WHAT)) };
                let pattern = Pattern::parse(pattern).map_err(|problem| {
                    let help = "the syntax is that of the Rust crate `regex`: no look-around, no back references";
                    error(spanned.range.clone(), format!("the pattern cannot be used: {problem}"), help)
                })?;
                (receiver.depth, ValueType::Bool, Expression::Matches(Box::new(receiver.expression), pattern))
            }
            Method::Each(quantifier) => {
                self.problems.extend(check::list(&receiver, quantifier));
                let name = self.element(quantifier)?;
                let element = match receiver.value {
                    ValueType::List(element) => *element,
                    _ => ValueType::Any,
                };
                self.elements.push((name, element));
                let condition = self.or()?;
                self.elements.pop();
                self.problems.extend(check::condition(&condition));
                let (list, condition_expression) = (Box::new(receiver.expression), Box::new(condition.expression));
                let expression = Expression::Each(quantifier, list, name.to_owned(), condition_expression);
                (receiver.depth.max(condition.depth), ValueType::Bool, expression)
            }
        };
        self.close(Token::Close, "`)`")?;
        Ok(Nested { depth: self.deeper(depth)?, expression, value, range: start..self.last_end() })
    }

    /// The name that `exists` and `all` give to an element, with the comma after it.
    fn element(&mut self, quantifier: Quantifier) -> Result<&'a str, Problem> {
        let method = quantifier.as_str();
        let help = format!("write `list.{method}(x, x == 'a')`: a name for an element, and the condition on it");
        let Some(spanned) = self.next() else { return Err(self.expected("a name for an element")) };
        let name = match &spanned.token {
            Token::Word(name) if !WORDS.contains(&name.as_str()) => name.as_str(),
            _ => {
                return Err(error(
                    spanned.range.clone(),
                    format!("`{method}` needs a name for an element, not `{}`", spanned.token),
                    &help,
                ));
            }
        };
        if self.scope.roots().contains(&name) || self.elements.iter().any(|(known, _)| *known == name) {
            let message = format!("`{name}` means something else here, and cannot name an element");
            return Err(error(spanned.range.clone(), message, "choose another name"));
        }
        match self.next() {
            Some(Spanned { token: Token::Comma, .. }) => Ok(name),
            Some(other) => Err(error(other.range.clone(), format!("`{method}` needs a name for an element, and then a condition"), &help)),
            None => Err(self.expected("`,` and a condition")),
        }
    }

    fn primary(&mut self) -> Result<Nested, Problem> {
        const WHAT: &str = "a literal, a path, a function, `not` or `(`";
        let Some(spanned) = self.next() else { return Err(self.expected(WHAT)) };
        match &spanned.token {
            Token::Open => {
                self.enter()?;
                let inner = self.or()?;
                self.close(Token::Close, "`)`")?;
                Ok(inner)
            }
            Token::Number(_) | Token::Text(_) | Token::OpenList => self.literal_operand(spanned),
            Token::Word(word) => match word.as_str() {
                "true" | "false" | "null" => self.literal_operand(spanned),
                "and" | "or" | "in" => Err(self.unexpected(spanned, WHAT)),
                "len" | "size" if self.at(&Token::Open) => {
                    self.position += 1;
                    self.enter()?;
                    let inner = self.or()?;
                    self.close(Token::Close, "`)`")?;
                    self.problems.extend(check::length(&inner));
                    let range = spanned.range.start..self.last_end();
                    Ok(Nested {
                        depth: self.deeper(inner.depth)?,
                        expression: Expression::Len(Box::new(inner.expression)),
                        value: ValueType::Number,
                        range,
                    })
                }
                "exists" | "has" if self.at(&Token::Open) => {
                    self.position += 1;
                    let path = match self.next() {
                        Some(Spanned { token: Token::Word(root), range }) => self.path(root, range.start)?,
                        Some(other) => return Err(self.unexpected(other, "a path")),
                        None => return Err(self.expected("a path")),
                    };
                    match self.next() {
                        Some(Spanned { token: Token::Close, range }) => Ok(Nested {
                            expression: Expression::Exists(Box::new(path.expression)),
                            depth: 2,
                            value: ValueType::Bool,
                            range: spanned.range.start..range.end,
                        }),
                        Some(other) => Err(self.unexpected(other, "`)`")),
                        None => Err(self.expected("`)`")),
                    }
                }
                _ if self.at(&Token::Open) => Err(error(
                    spanned.range.clone(),
                    format!("`{word}` is not a function"),
                    "the functions are `len(…)`, `size(…)`, `exists(…)` and `has(…)`; a string has the methods `startsWith`, `endsWith`, `contains`, `matches` and `size`, a list `exists`, `all` and `size`",
                )),
                _ => self.path(word, spanned.range.start),
            },
            _ => Err(self.unexpected(spanned, WHAT)),
        }
    }

    fn literal_operand(&mut self, spanned: &Spanned) -> Result<Nested, Problem> {
        let literal = self.literal(spanned)?;
        let value = check::literal(&literal);
        Ok(Nested { expression: Expression::Literal(Literal(literal)), depth: 1, value, range: spanned.range.start..self.last_end() })
    }

    /// Where the last token that was taken ends.
    fn last_end(&self) -> usize {
        self.position.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(self.end, |spanned| spanned.range.end)
    }

    fn path(&mut self, root: &str, start: usize) -> Result<Nested, Problem> {
        let roots: Vec<&str> = self.elements.iter().map(|(name, _)| *name).chain(self.scope.roots()).collect();
        if !roots.contains(&root) {
            let known = roots.iter().map(|root| format!("`{root}`")).collect::<Vec<_>>().join(", ");
            return Err(Problem {
                severity: Severity::Error,
                range: start..start + root.len(),
                message: format!("`{root}` is not known here"),
                help: Some(format!("a path starts with one of {known}; a text needs quotes")),
            });
        }
        let mut steps = vec![Step::Member(root.to_owned())];
        let root_place = start..start + root.len();
        let mut places = vec![root_place];
        loop {
            if self.at_method().is_none() && self.takes(&Token::Dot) {
                match self.next() {
                    Some(Spanned { token: Token::Word(name), range }) => {
                        steps.push(Step::Member(name.clone()));
                        places.push(range.clone());
                    }
                    Some(other) => return Err(self.unexpected(other, "a name after `.`")),
                    None => return Err(self.expected("a name after `.`")),
                }
            } else if self.takes(&Token::OpenList) {
                const INDEX: &str = "an index, 0 or greater, after `[`";
                let Some(spanned) = self.next() else { return Err(self.expected(INDEX)) };
                let index = match &spanned.token {
                    Token::Number(number) => number.as_u64().and_then(|index| u32::try_from(index).ok()),
                    _ => None,
                };
                let Some(index) = index else { return Err(self.unexpected(spanned, INDEX)) };
                if !self.takes(&Token::CloseList) {
                    return Err(self.expected("`]`"));
                }
                steps.push(Step::Index(index));
                places.push(spanned.range.clone());
            } else {
                let value = self.value(&steps, &places);
                return Ok(Nested { expression: Expression::Path(steps), depth: 1, value, range: start..self.last_end() });
            }
        }
    }

    fn resolve(&self, steps: &[Step]) -> Option<Result<ValueType, DeadEnd>> {
        let element = self.elements.iter().find(|(name, _)| matches!(steps.first(), Some(Step::Member(root)) if root == name));
        match element {
            Some((name, value)) => Some(PathScope::below(value.clone(), name, steps.get(1..).unwrap_or_default())),
            None => self.scope.resolve(steps),
        }
    }

    /// What a path leads to; `places` are where its steps stand.
    fn value(&mut self, steps: &[Step], places: &[Range<usize>]) -> ValueType {
        match self.resolve(steps) {
            Some(Ok(ValueType::Any)) => {
                // Of what is not known: objects may have the member, lists and texts do not.
                if let [.., Step::Member(last)] = steps
                    && last == "length"
                    && let Some(place) = places.last()
                {
                    let message = "a list and a string have no `length` here".to_owned();
                    let help = Some("write `len(…)`".to_owned());
                    self.problems.push(Problem { severity: Severity::Warning, range: place.clone(), message, help });
                }
                ValueType::Any
            }
            Some(Ok(value)) => value,
            Some(Err(dead_end)) => {
                let range = places.get(dead_end.step).cloned().unwrap_or_default();
                let help = Some(dead_end.help).filter(|help| !help.is_empty());
                self.problems.push(Problem { severity: Severity::Error, range, message: dead_end.message, help });
                ValueType::Any
            }
            None => ValueType::Any,
        }
    }

    fn literal(&mut self, spanned: &Spanned) -> Result<Json, Problem> {
        match &spanned.token {
            Token::Number(number) => Ok(Json::Number(number.clone())),
            Token::Text(text) => Ok(Json::String(text.clone())),
            Token::Word(word) if word == "true" => Ok(Json::Bool(true)),
            Token::Word(word) if word == "false" => Ok(Json::Bool(false)),
            Token::Word(word) if word == "null" => Ok(Json::Null),
            Token::OpenList => {
                let mut values = Vec::new();
                if self.takes(&Token::CloseList) {
                    return Ok(Json::Array(values));
                }
                self.enter()?;
                loop {
                    let Some(element) = self.next() else { return Err(self.expected("a literal")) };
                    values.push(self.literal(element)?);
                    if self.takes(&Token::Comma) {
                        continue;
                    }
                    self.close(Token::CloseList, "`,` or `]`")?;
                    return Ok(Json::Array(values));
                }
            }
            _ => Err(self.unexpected(spanned, "a literal")),
        }
    }

    fn join(&self, left: Nested, right: Nested, wrap: impl FnOnce(Expression, Expression) -> Expression) -> Result<Nested, Problem> {
        let depth = self.deeper(left.depth.max(right.depth))?;
        let range = left.range.start..right.range.end;
        Ok(Nested { expression: wrap(left.expression, right.expression), depth, value: ValueType::Bool, range })
    }

    fn deeper(&self, depth: usize) -> Result<usize, Problem> {
        if depth < MAX_DEPTH { Ok(depth + 1) } else { Err(self.too_deep()) }
    }

    fn enter(&mut self) -> Result<(), Problem> {
        self.nesting += 1;
        if self.nesting <= MAX_DEPTH { Ok(()) } else { Err(self.too_deep()) }
    }

    fn close(&mut self, token: Token, what: &str) -> Result<(), Problem> {
        if !self.takes(&token) {
            return Err(self.expected(what));
        }
        self.nesting -= 1;
        Ok(())
    }

    fn too_deep(&self) -> Problem {
        let at = self.peek().map_or(self.end..self.end, |spanned| spanned.range.clone());
        error(
            at,
            format!("the expression nests more than {MAX_DEPTH} levels"),
            "replace a chain of `or` by `in` and a list, or use a script",
        )
    }

    fn peek(&self) -> Option<&'a Spanned> {
        self.tokens.get(self.position)
    }

    fn next(&mut self) -> Option<&'a Spanned> {
        let next = self.peek();
        self.position += usize::from(next.is_some());
        next
    }

    fn at(&self, token: &Token) -> bool {
        self.peek().is_some_and(|spanned| spanned.token == *token)
    }

    fn at_word(&self, word: &str) -> bool {
        self.peek().is_some_and(|spanned| matches!(&spanned.token, Token::Word(found) if found == word))
    }

    fn takes(&mut self, token: &Token) -> bool {
        let found = self.at(token);
        self.position += usize::from(found);
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        self.position += usize::from(found);
        found
    }

    /// Something else than what comes next was expected.
    fn expected(&self, what: &str) -> Problem {
        match self.peek() {
            Some(spanned) => self.unexpected(spanned, what),
            None => Problem {
                severity: Severity::Error,
                range: self.end..self.end,
                message: format!("expected {what} at byte {}, where the expression ends", self.end),
                help: None,
            },
        }
    }

    fn unexpected(&self, spanned: &Spanned, what: &str) -> Problem {
        Problem {
            severity: Severity::Error,
            range: spanned.range.clone(),
            message: format!("expected {what} at byte {}, not `{}`", spanned.range.start, spanned.token),
            help: None,
        }
    }
}

fn compare(comparison: Comparison, left: Expression, right: Expression) -> Expression {
    Expression::Compare(comparison, Box::new(left), Box::new(right))
}

fn error(range: std::ops::Range<usize>, message: String, help: &str) -> Problem {
    Problem { severity: Severity::Error, range, message, help: Some(help.to_owned()) }
}

#[cfg(test)]
mod tests {
    use millrace_core::app::{ApiKeys, Auth, Input, InputKind};

    use super::*;
    use crate::scope::{ContextShape, ToolScope};

    fn roots() -> PathScope {
        PathScope::of_names(&["inputs", "item", "items", "auth", "results"])
    }

    fn parse(text: &str, scope: &PathScope) -> Result<Expression, Problem> {
        let Parsed { expression, problems } = super::parse(text, scope);
        expression.ok_or_else(|| problems.into_iter().next().expect("why it is not an expression"))
    }

    fn show(expression: &Expression) -> String {
        let two = |name: &str, left: &Expression, right: &Expression| format!("({name} {} {})", show(left), show(right));
        match expression {
            Expression::Literal(literal) => literal.0.to_string(),
            Expression::Path(steps) => steps
                .iter()
                .map(|step| match step {
                    Step::Member(name) => format!(".{name}"),
                    Step::Index(index) => format!("[{index}]"),
                })
                .collect(),
            Expression::Not(inner) => format!("(not {})", show(inner)),
            Expression::And(left, right) => two("and", left, right),
            Expression::Or(left, right) => two("or", left, right),
            Expression::Compare(comparison, left, right) => two(&format!("{comparison:?}"), left, right),
            Expression::In(left, right) => two("in", left, right),
            Expression::Len(inner) => format!("(len {})", show(inner)),
            Expression::Exists(inner) => format!("(exists {})", show(inner)),
            Expression::Text(test, left, right) => two(test.as_str(), left, right),
            Expression::Matches(inner, pattern) => format!("(matches {} /{}/)", show(inner), pattern.text()),
            Expression::Each(quantifier, list, name, condition) => {
                format!("({} {} {name} {})", quantifier.as_str(), show(list), show(condition))
            }
        }
    }

    #[test]
    fn parses() {
        for (text, expected) in [
            ("true", "true"),
            ("item", ".item"),
            ("item.status == 'overdue'", "(Equal .item.status \"overdue\")"),
            ("len(items) > 20", "(Greater (len .items) 20)"),
            ("'admin' in auth.roles", "(in \"admin\" .auth.roles)"),
            ("'admin' not in auth.roles", "(not (in \"admin\" .auth.roles))"),
            ("auth.roles.exists(r, r == 'a' or false)", "(exists .auth.roles r (or (Equal .r \"a\") false))"),
            ("!items.all(i, i.tags.exists(t, t in i.known))", "(not (all .items i (exists .i.tags t (in .t .i.known))))"),
            ("[1, 2].exists(n, n == item.n)", "(exists [1,2] n (Equal .n .item.n))"),
            ("exists(inputs.user-id)", "(exists .inputs.user-id)"),
            ("results[0].total >= -1.5e3", "(GreaterOrEqual .results[0].total -1500.0)"),
            ("item.a or item.b and item.c", "(or .item.a (and .item.b .item.c))"),
            ("(item.a or item.b) and item.c", "(and (or .item.a .item.b) .item.c)"),
            ("not item.a and not not item.b", "(and (not .item.a) (not (not .item.b)))"),
            ("not (item.a == 1)", "(not (Equal .item.a 1))"),
            ("item.a == (not item.b)", "(Equal .item.a (not .item.b))"),
            ("item.a == not item.b", "(Equal .item.a (not .item.b))"),
            ("item.a < 1 and item.b <= 2 or item.c != null", "(or (and (Less .item.a 1) (LessOrEqual .item.b 2)) (NotEqual .item.c null))"),
            ("item.a && !item.b || item.c", "(or (and .item.a (not .item.b)) .item.c)"),
            ("item.a.startsWith('x') and item.b.endsWith(item.c)", "(and (startsWith .item.a \"x\") (endsWith .item.b .item.c))"),
            ("!item.a.contains('x')", "(not (contains .item.a \"x\"))"),
            ("'abc'.contains(item.a) == true", "(Equal (contains \"abc\" .item.a) true)"),
            ("item.a.matches('^[a-z]+$')", "(matches .item.a /^[a-z]+$/)"),
            ("size(items) > 1 and items.size() > 1", "(and (Greater (len .items) 1) (Greater (len .items) 1))"),
            ("has(item.a) and item.size == 1", "(and (exists .item.a) (Equal .item.size 1))"),
            ("item.contains.matches == 1", "(Equal .item.contains.matches 1)"),
            ("item.in.not.len == true", "(Equal .item.in.not.len true)"),
            ("item.a in ['x', \"y\", 1, -2, null, [true]]", "(in .item.a [\"x\",\"y\",1,-2,null,[true]])"),
            ("item.a in []", "(in .item.a [])"),
            (r#"item.a == 'it\'s \\ \n "x" \u00e9'"#, r#"(Equal .item.a "it's \\ \n \"x\" é")"#),
            ("item.a == \"😀\"", "(Equal .item.a \"😀\")"),
            ("len('abc') == 3", "(Equal (len \"abc\") 3)"),
            ("item.a==18446744073709551615", "(Equal .item.a 18446744073709551615)"),
            ("\n item.a\t==\n1 ", "(Equal .item.a 1)"),
            ("results[0][12].x", ".results[0][12].x"),
        ] {
            assert_eq!(parse(text, &roots()).map(|expression| show(&expression)), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn says_what_it_expected_where() {
        const OPERAND: &str = "a literal, a path, a function, `not` or `(`";
        for (text, range, message) in [
            ("", 0..0, format!("expected {OPERAND} at byte 0, where the expression ends")),
            ("item.a ==", 9..9, format!("expected {OPERAND} at byte 9, where the expression ends")),
            ("== 1", 0..2, format!("expected {OPERAND} at byte 0, not `==`")),
            ("item.a item.b", 7..11, "expected `and`, `or` or the end at byte 7, not `item`".to_owned()),
            ("(item.a", 7..7, "expected `)` at byte 7, where the expression ends".to_owned()),
            ("item.a)", 6..7, "expected `and`, `or` or the end at byte 6, not `)`".to_owned()),
            ("item.", 5..5, "expected a name after `.` at byte 5, where the expression ends".to_owned()),
            ("item[x]", 5..6, "expected an index, 0 or greater, after `[` at byte 5, not `x`".to_owned()),
            ("item[-1]", 5..7, "expected an index, 0 or greater, after `[` at byte 5, not `-1`".to_owned()),
            ("item[0", 6..6, "expected `]` at byte 6, where the expression ends".to_owned()),
            ("user.a", 0..4, "`user` is not known here".to_owned()),
            ("upper(item.a)", 0..5, "`upper` is not a function".to_owned()),
            ("exists('a')", 7..10, "expected a path at byte 7, not `'a'`".to_owned()),
            ("exists(item.a == 1)", 14..16, "expected `)` at byte 14, not `==`".to_owned()),
            ("item.a in [item.b]", 11..15, "expected a literal at byte 11, not `item`".to_owned()),
            ("item.a in [1 2]", 13..14, "expected `,` or `]` at byte 13, not `2`".to_owned()),
            ("item.a not 1", 11..12, "expected `in` after `not` at byte 11, not `1`".to_owned()),
            ("not item.a == 1", 11..13, "`not` before `==` can be read in two ways".to_owned()),
            ("not 'a' in item.b", 8..10, "`not` before `in` can be read in two ways".to_owned()),
            ("1 < item.a < 3", 11..12, "a second comparison starts at `<`".to_owned()),
            ("item.a = 1", 7..8, "`=` is not an operator".to_owned()),
            ("item.a & item.b", 7..8, "`&` is not an operator".to_owned()),
            ("item.a | item.b", 7..8, "`|` is not an operator".to_owned()),
            ("!item.a == 1", 8..10, "`not` before `==` can be read in two ways".to_owned()),
            ("item.a.matches(item.b)", 15..19, "expected a pattern in quotes at byte 15, not `item`".to_owned()),
            ("item.a.startsWith('x'", 21..21, "expected `)` at byte 21, where the expression ends".to_owned()),
            ("item.a.size(1)", 12..13, "expected `)` at byte 12, not `1`".to_owned()),
            ("item.a.upper()", 12..13, "expected `and`, `or` or the end at byte 12, not `(`".to_owned()),
            ("item.a + 1", 7..8, "`+` does not belong in an expression".to_owned()),
            ("item.a == 'x", 10..12, "the string is not closed".to_owned()),
            ("item.a == 'x\\q'", 12..14, "`\\q` is not an escape".to_owned()),
            ("item.a == '\\ud800'", 11..17, "`\\ud800` is not an escape".to_owned()),
            ("item.a == 01", 10..12, "`01` is not a number".to_owned()),
            ("item.a == 1.", 10..12, "`1.` is not a number".to_owned()),
            ("item.a == 1e999", 10..15, "`1e999` is not a number".to_owned()),
            ("item.a == 18446744073709551616", 10..30, "`18446744073709551616` is not a number".to_owned()),
            ("item.a == é", 10..12, "`é` does not belong in an expression".to_owned()),
        ] {
            let problem = parse(text, &roots()).expect_err(text);
            assert_eq!((problem.range, problem.message), (range, message), "{text}");
        }
    }

    #[test]
    fn an_unknown_root_names_the_known_ones() {
        let problem = parse("foo.x == 1", &PathScope::of_names(&["inputs", "auth"])).expect_err("unknown root");
        assert_eq!(problem.help.as_deref(), Some("a path starts with one of `inputs`, `auth`; a text needs quotes"));
    }

    #[test]
    fn paths_and_types_are_checked() {
        let input = |name: &str, kind, fields: Vec<Input>, items: Option<Input>| Input {
            name: name.to_owned(),
            kind,
            optional: false,
            nullable: false,
            default: None,
            allowed: Vec::new(),
            min: None,
            max: None,
            pattern: None,
            format: None,
            items: items.map(Box::new),
            fields,
            header: None,
        };
        let of = |name: &str, kind| input(name, kind, Vec::new(), None);
        let inputs = [
            of("id", InputKind::Int),
            of("day", InputKind::Date),
            of("sure", InputKind::Boolean),
            of("any", InputKind::Json),
            input("ids", InputKind::Array, Vec::new(), Some(of("", InputKind::Int))),
            input("who", InputKind::Object, vec![of("name", InputKind::String)], None),
        ];
        let policy = Auth::ApiKey(ApiKeys { keys: Vec::new(), scopes: Vec::new() });
        let with_key =
            ToolScope { inputs: &inputs, schema: None, auth: Some(&policy), env: &[], context: &ContextShape::default(), execute: None }
                .of_rules(false);
        let with_none =
            ToolScope { inputs: &[], schema: Some(&Json::Null), auth: None, env: &[], context: &ContextShape::default(), execute: None }
                .of_rules(false);
        let problems = |text: &str, scope: &PathScope| -> Vec<(Range<usize>, String)> {
            super::parse(text, scope).problems.into_iter().map(|problem| (problem.range, problem.message)).collect()
        };
        for good in [
            "inputs.id == 1.5 and inputs.day > '2026' or inputs.sure",
            "inputs.any.x[3] == true and len(inputs.ids) > 2 and inputs.ids[0] in [1, 2]",
            "'admin' in auth.roles and auth.subject != null and not exists(inputs.who.name)",
            "results.a[0] and results and 'x' in inputs.any and 'name' in results",
            "len(results) == 0 and inputs.id in inputs.ids",
            "auth.roles.exists(r, r == 'admin') and inputs.ids.all(id, id > 0 and id in [1, 2])",
            "results.exists(row, row.tags.all(tag, tag.startsWith('x') or has(row.name)))",
            "inputs.any.exists(x, x.exists == 1) and not exists(inputs.who.name)",
        ] {
            assert_eq!(problems(good, &with_key), [], "{good}");
        }
        for (bad, range, message) in [
            ("inputs.idd == 1", 7..10, "the tool has no input `idd`"),
            ("inputs.who.nam == 'x'", 11..14, "`inputs.who` has no `nam`"),
            ("inputs.id.x == 1", 10..11, "`inputs.id` is a number and has no `x`"),
            ("inputs.ids.length == 0", 11..17, "`inputs.ids` is a list and has no `length`"),
            ("inputs.day.length == 0", 11..17, "`inputs.day` is a string and has no `length`"),
            ("inputs.who[0] == 1", 11..12, "`inputs.who` is an object, not a list"),
            ("auth.claims.org == 'x'", 12..15, "`auth.claims` never has a value: an API key has no claims"),
            ("auth.sub == 'x'", 5..8, "`auth` has no `sub`"),
            ("inputs.id == '1'", 0..16, "a number is never equal to a string"),
            ("inputs.id != '1'", 0..16, "a number is never equal to a string"),
            ("inputs.day < 3", 0..14, "a string and a number have no order"),
            ("inputs.sure < true", 0..18, "a boolean and a boolean have no order"),
            ("1 in inputs.id", 5..14, "nothing is in a number"),
            ("'x' not in inputs.who.name", 11..26, "nothing is in a string"),
            ("'name' in inputs.who", 10..20, "nothing is in an object"),
            ("'1' in inputs.ids", 0..17, "a string is never in a list whose elements are each a number"),
            ("inputs.id.exists(x, x == 1)", 0..9, "a number has no `exists`"),
            ("inputs.who.all(x, x == 1)", 0..10, "an object has no `all`"),
            ("auth.roles.exists(r, r == 1)", 21..27, "a string is never equal to a number"),
            ("auth.roles.exists(r, r.name == 'x')", 23..27, "`r` is a string and has no `name`"),
            ("auth.roles.all(r, r)", 18..19, "a string is not a condition"),
            ("auth.roles.exists == 1", 11..17, "`auth.roles` is a list and has no `exists`"),
            ("auth.roles.exists(r, x == 'a')", 21..22, "`x` is not known here"),
            ("auth.roles.exists(r == 'admin')", 20..22, "`exists` needs a name for an element, and then a condition"),
            ("auth.roles.all('x', true)", 15..18, "`all` needs a name for an element, not `'x'`"),
            ("auth.roles.all(inputs, true)", 15..21, "`inputs` means something else here, and cannot name an element"),
            ("inputs.ids.all(x, inputs.ids.exists(x, x == 1))", 36..37, "`x` means something else here, and cannot name an element"),
            ("auth.roles.exists(r, r == 'a') and r == 'b'", 35..36, "`r` is not known here"),
            ("len(inputs.id) == 0", 4..13, "a number has no length"),
            ("inputs.id.startsWith('x')", 0..9, "a number is not a string"),
            ("inputs.day.contains(1)", 20..21, "a number is not a string"),
            ("auth.roles.contains('x')", 0..10, "a list is not a string"),
            ("inputs.id.size() == 1", 0..9, "a number has no length"),
            ("inputs.id", 0..9, "a number is not a condition"),
            ("inputs.sure and len(inputs.ids)", 16..31, "a number is not a condition"),
            ("not inputs.day", 4..14, "a string is not a condition"),
            ("results.length == 0", 8..14, "a list and a string have no `length` here"),
        ] {
            assert_eq!(problems(bad, &with_key), [(range, message.to_owned())], "{bad}");
        }
        let nobody = "`auth` never has a value: the tool has no `auth`, so no caller is identified";
        assert_eq!(problems("auth.subject == 'x' and inputs.x", &with_none), [(5..12, nobody.to_owned())]);
        let both = problems("inputs.a == 1 and inputs.b == 2 and", &with_key);
        assert_eq!(both.len(), 3, "all of them are told: {both:?}");
    }

    #[test]
    fn refuses_what_nests_too_deep() {
        let deep = [
            format!("{}item{}", "(".repeat(100_000), ")".repeat(100_000)),
            format!("{}item", "not ".repeat(100_000)),
            format!("{}item{}", "len(".repeat(100_000), ")".repeat(100_000)),
            format!("item in {}{}", "[".repeat(100_000), "]".repeat(100_000)),
            format!("item{}", " and item".repeat(100_000)),
            format!("item{}", " or item".repeat(100_000)),
            (0..1_000).fold("item".to_owned(), |text, number| format!("{text}.all(x{number}, item")),
        ];
        for text in deep {
            let problem = parse(&text, &roots()).expect_err("too deep");
            assert_eq!(problem.message, "the expression nests more than 64 levels");
        }
        assert!(parse(&format!("item{}", " and item".repeat(63)), &roots()).is_ok());
        assert!(parse(&format!("{}item{}", "(".repeat(64), ")".repeat(64)), &roots()).is_ok());
    }

    #[test]
    fn never_panics() {
        let alphabet = [
            "item", ".", "[", "]", "(", ")", "0", "-", "1.5", "'a'", "\"", "'", "\\", " ", "not ", "in ", "and ", "or ", "len", "==", "<",
            ",", "é", "\u{0}",
        ];
        let mut seed = 3_u64;
        for _ in 0..50_000 {
            let text: String = (0..10)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    alphabet[(seed >> 33) as usize % alphabet.len()]
                })
                .collect();
            if let Err(problem) = parse(&text, &roots()) {
                assert!(text.get(problem.range.clone()).is_some(), "{text}: {problem:?}");
            }
        }
    }
}
