//! Puts a call of the checkpoint into every function and most loops of a program.
//!
//! The interpreter can be paused in code that runs directly, but not in code that one of its own functions calls: what follows an
//! `await`, a `sort` comparator, a getter. There, only the script itself can look at the clock. The program is parsed, and at the
//! places that the parser names the text gets a call; a place that does not look as expected is left alone, so that the program's meaning
//! never changes:
//!
//! - `{` of a function's body is followed by it,
//! - the expression after `=>` becomes `(checkpoint(), expression)`,
//! - the condition of `while`, `do … while` and `for (;condition;)` is preceded by it.

use std::{collections::BTreeMap, ops::ControlFlow};

use boa_engine::ast::{
    Position, Script, Spanned, Statement, StatementListItem,
    expression::{Expression, access::PropertyAccess},
    function::FunctionBody,
    statement::{DoWhileLoop, ForLoop, WhileLoop},
    visitor::{VisitWith, Visitor},
};

use crate::realm::CHECKPOINT;

/// The program with checkpoints. It was parsed from line 2 on.
pub(crate) fn insert(program: &str, script: &Script) -> String {
    let mut places = Places::default();
    let _ = script.visit_with(&mut places);
    places.apply(program)
}

/// Where checkpoints may go, as the parser counts: lines and columns of code points, from one.
#[derive(Default)]
struct Places {
    bodies: Vec<(Position, Position)>,
    conditions: Vec<Position>,
}

impl<'ast> Visitor<'ast> for Places {
    type BreakTy = ();

    fn visit_function_body(&mut self, body: &'ast FunctionBody) -> ControlFlow<()> {
        let span = body.span();
        // `=> expression` is held as a body of one `return`.
        let start = match body.statements() {
            [StatementListItem::Statement(statement)] => match &**statement {
                Statement::Return(node) => node.target().filter(|target| target.span().end() == span.end()).map(first),
                _ => None,
            },
            _ => None,
        };
        self.bodies.push((start.unwrap_or(span.start()), span.end()));
        body.visit_with(self)
    }

    fn visit_while_loop(&mut self, node: &'ast WhileLoop) -> ControlFlow<()> {
        self.condition(node.condition());
        node.visit_with(self)
    }

    fn visit_do_while_loop(&mut self, node: &'ast DoWhileLoop) -> ControlFlow<()> {
        self.condition(node.cond());
        node.visit_with(self)
    }

    fn visit_for_loop(&mut self, node: &'ast ForLoop) -> ControlFlow<()> {
        if let Some(condition) = node.condition() {
            self.condition(condition);
        }
        node.visit_with(self)
    }
}

impl Places {
    fn condition(&mut self, condition: &Expression) {
        self.conditions.push(first(condition));
    }

    fn apply(&self, program: &str) -> String {
        let offsets = Offsets::new(program);
        // Closing parentheses come before what opens at the same place.
        let mut insertions: BTreeMap<(usize, bool), String> = BTreeMap::new();
        let call = format!("{CHECKPOINT}()");
        for (start, end) in &self.bodies {
            let (Some(start), Some(end)) = (offsets.of(*start), offsets.of(*end)) else { continue };
            if program[start..].starts_with('{') && !program[..start].trim_end().ends_with("=>") {
                insertions.insert((start + 1, true), format!("{call};"));
            } else if program[..start].trim_end().ends_with("=>") {
                if program[start..].starts_with('{') {
                    insertions.insert((start + 1, true), format!("{call};"));
                } else if start < end && is_balanced(&program[start..end]) && ends_expression(&program[end..]) {
                    insertions.entry((start, true)).or_default().push_str(&format!("({call},"));
                    insertions.entry((end, false)).or_default().push(')');
                }
            }
        }
        for start in &self.conditions {
            let Some(start) = offsets.of(*start) else { continue };
            let before = program[..start].trim_end();
            let is_while = before.strip_suffix('(').is_some_and(|before| before.trim_end().ends_with("while"));
            if is_while || before.ends_with(';') {
                insertions.entry((start, true)).or_default().insert_str(0, &format!("{call},"));
            }
        }
        let mut text = String::with_capacity(program.len() + insertions.len() * 24);
        let mut done = 0;
        for ((offset, _), insertion) in insertions {
            text.push_str(&program[done..offset]);
            text.push_str(&insertion);
            done = offset;
        }
        text.push_str(&program[done..]);
        text
    }
}

/// Where an expression begins. The parser's start of a call, for one, is its bracket.
fn first(expression: &Expression) -> Position {
    match expression {
        Expression::Call(node) => first(node.function()),
        Expression::PropertyAccess(PropertyAccess::Simple(node)) => first(node.target()),
        Expression::PropertyAccess(PropertyAccess::Private(node)) => first(node.target()),
        Expression::Optional(node) => first(node.target()),
        Expression::TaggedTemplate(node) => first(node.tag()),
        Expression::Binary(node) => first(node.lhs()),
        Expression::Conditional(node) => first(node.condition()),
        other => other.span().start(),
    }
}

/// Whether as many brackets close as open. The parser's end of a class, for one, lies before its last brace.
fn is_balanced(text: &str) -> bool {
    let count = |brackets: &str| text.chars().filter(|character| brackets.contains(*character)).count();
    count("([{") == count(")]}")
}

/// Whether no expression can go on with `rest`.
fn ends_expression(rest: &str) -> bool {
    rest.trim_start().chars().next().is_none_or(|next| ",;:)]}".contains(next))
}

/// From the parser's positions to byte offsets in the program.
struct Offsets<'a> {
    program: &'a str,
    /// Where each line begins; the program's first line is the parser's second.
    lines: Vec<usize>,
}

impl<'a> Offsets<'a> {
    fn new(program: &'a str) -> Self {
        let mut lines = vec![0];
        let mut characters = program.char_indices().peekable();
        while let Some((offset, character)) = characters.next() {
            let ends_line = match character {
                '\r' => characters.peek().is_none_or(|(_, next)| *next != '\n'),
                '\n' | '\u{2028}' | '\u{2029}' => true,
                _ => false,
            };
            if ends_line {
                lines.push(offset + character.len_utf8());
            }
        }
        Self { program, lines }
    }

    fn of(&self, position: Position) -> Option<usize> {
        let line = usize::try_from(position.line_number()).ok()?.checked_sub(2)?;
        let start = *self.lines.get(line)?;
        let column = usize::try_from(position.column_number()).ok()?.checked_sub(1)?;
        let rest = self.program.get(start..)?;
        if column == 0 {
            return Some(start);
        }
        let (offset, character) = rest.char_indices().nth(column - 1)?;
        Some(start + offset + character.len_utf8())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(program: &str, expected: &str) {
        let inserted = crate::plan::Plan::new(program).program;
        assert_eq!(inserted.replace(CHECKPOINT, "T"), expected, "{program}");
    }

    #[test]
    fn checkpoints_go_where_code_can_repeat() {
        check("(host) => ({})", "(host) => (T(),({}))");
        check("(host) => { return 1 }", "(host) => {T(); return 1 }");
        check("async (host) => { const f = x => x * 2, g = 1; }", "async (host) => {T(); const f = x => (T(),x * 2), g = 1; }");
        check("() => { while (a + b > 0) {} }", "() => {T(); while (T(),a + b > 0) {} }");
        check("() => { for (let i = 0; i < 3; i++); }", "() => {T(); for (let i = 0; T(),i < 3; i++); }");
        check("() => { do {} while (x); }", "() => {T(); do {} while (T(),x); }");
        check("() => ({ m() { return 1 }, get g() { return 2 } })", "() => (T(),({ m() {T(); return 1 }, get g() {T(); return 2 } }))");
        check(
            "() => class { #p = () => 1; static { f() } constructor() { g() } }",
            "() => class { #p = () => (T(),1); static {T(); f() } constructor() {T(); g() } }",
        );
        check("() => [1].map(f)", "() => (T(),[1].map(f))");
        check("() => a.b?.c(d).f", "() => (T(),a.b?.c(d).f)");
        check("() => a.b ? c() : d => e(f)", "() => (T(),a.b ? c() : d => (T(),e(f)))");
        check("() => f(n - 1) + f(n - 2)", "() => (T(),f(n - 1) + f(n - 2))");
        check("() => { return f(1) }", "() => {T(); return f(1) }");
        check("() => { while (a.next().done) b() }", "() => {T(); while (T(),a.next().done) b() }");
        check("async () => await f(await g)", "async () => (T(),await f(await g))");
        check("() => x = y = z()", "() => (T(),x = y = z())");
        check("() => `a${b}c`", "() => (T(),`a${b}c`)");
        check("() => /a/g.test(b)", "() => (T(),/a/g.test(b))");
        check("() => function () { f() }", "() => (T(),function () {T(); f() })");
        check("() => (a, b)", "() => (T(),(a, b))");
        check("() => !a.b()", "() => (T(),!a.b())");
        check("() => new A(b)", "() => (T(),new A(b))");
        check("() => x++", "() => (T(),x++)");
        check("() => x => y => x + y", "() => (T(),x => (T(),y => (T(),x + y)))");
        check("() => [() => 1, () => 'é𝒳', () => { }]", "() => (T(),[() => (T(),1), () => (T(),'é𝒳'), () => {T(); }])");
        check(
            "() => {\r\n  const s = ') {';\n  return () => s;\u{2028}}",
            "() => {T();\r\n  const s = ') {';\n  return () => (T(),s);\u{2028}}",
        );
        check("() => { throw 1 } /* => */", "() => {T(); throw 1 } /* => */");
        check("this is not a program", "this is not a program");
    }
}
