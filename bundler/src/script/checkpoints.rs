//! Calls of the engine, put into a linked program where the interpreter by itself would not look at its limits.
//!
//! The interpreter can be paused in code that runs directly, but not in code that one of its own functions calls: what follows an
//! `await`, a `sort` comparator, a getter. And a few operators make values whose size no limit of the interpreter knows. So the
//! program gets calls of functions that only the engine declares:
//!
//! | where | becomes | what it does |
//! |---|---|---|
//! | the body of a function or a loop | `{` [`LOOK`]`();` … `}` | looks at the clock, the memory and the depth of calls |
//! | a second `+` of two values that may both be long texts, in one body | [`VALUE`]`(a + b)` | bounds the length of the result |
//! | `[...list]`, `f(...list)`, `[first, ...rest] = list` | [`SPREAD`]`(list)` | bounds how much is copied |
//! | `a * b`, `a ** b`, `a << b` where both may be bigints | [`VALUE`], [`POWER`], [`SHIFT`] | bound the bits of the result |
//! | `{ a: { b }, ...rest }`, a pattern | `{ a: x, [`[`NONE`]`]: { b } = x, ...rest }` | makes the interpreter leave `a` out of `rest` |
//!
//! One `+` in a body may at most double a text, and the next body or round looks again. Nothing else changes: no line moves, and
//! operands are evaluated in the same order. Any script can have bigints: inputs and rows may be some.
//!
//! The last row of the table is a defect of the interpreter: the rest of an object keeps a key that a nested pattern took. So a variable takes
//! the value, and the pattern is that of a key that no object has, with the variable as its default. In an assignment, which declares
//! nothing, [`TAKEN`] is that variable: between its being written and read, nothing of the script runs, but for the `get` of a proxy.

use millrace_core::app::MappedPlace;
use oxc::{
    allocator::Allocator,
    ast::ast::{
        ArrayAssignmentTarget, ArrowFunctionExpression, AssignmentExpression, AssignmentOperator, AssignmentTarget,
        AssignmentTargetMaybeDefault, AssignmentTargetPropertyProperty, BinaryExpression, BinaryOperator, BindingPattern, BindingProperty,
        Class, DoWhileStatement, Expression, ForInStatement, ForOfStatement, ForStatement, FunctionBody, ObjectAssignmentTarget,
        ObjectPattern, Program, SpreadElement, Statement, StaticBlock, TaggedTemplateExpression, TemplateLiteral, VariableDeclarator,
        WhileStatement,
    },
    ast_visit::{
        Visit,
        walk::{
            walk_arrow_function_expression, walk_assignment_expression, walk_assignment_target_property_property, walk_binary_expression,
            walk_binding_property, walk_class, walk_for_in_statement, walk_for_of_statement, walk_for_statement, walk_function_body,
            walk_object_assignment_target, walk_object_pattern, walk_spread_element, walk_static_block, walk_template_literal,
            walk_variable_declarator,
        },
    },
    parser::Parser,
    span::{GetSpan, SourceType, Span},
};

/// What names of the engine begin with. A script that has such a name is refused.
pub const RESERVED: &str = "$millrace_";
/// Looks at the limits.
pub const LOOK: &str = "$millrace_look";
/// Gives back its argument, unless it is too large a text or bigint.
pub const VALUE: &str = "$millrace_value";
/// Gives back its argument, unless it is too long a list to be copied.
pub const SPREAD: &str = "$millrace_spread";
/// `**`, unless the result would be too large a bigint.
pub const POWER: &str = "$millrace_power";
/// Gives back its argument, unless no bigint may be shifted by so much.
pub const SHIFT: &str = "$millrace_shift";

/// A symbol that is the key of nothing.
pub const NONE: &str = "$millrace_none";
/// What names of variables begin with that take the value of a key. Its member `v`, where no variable can be declared.
pub const TAKEN: &str = "$millrace_taken";

/// The program with calls of the engine, and how far each of its places moved. `None`: it is not a program.
pub(super) fn insert(program: &str) -> Option<(String, Shifts)> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, program, SourceType::cjs()).parse();
    if parsed.panicked || !parsed.diagnostics.is_empty() {
        return None;
    }
    let mut edits = Edits { program, ..Edits::default() };
    edits.visit_program(&parsed.program);
    Some(edits.apply())
}

/// How far code moved to the right on its line: from a byte of the program on, in UTF-16 units.
pub(super) struct Shifts(Vec<(usize, i64)>);

impl Shifts {
    /// Moves the places of a map, which are those of `program`. They are in order.
    pub(super) fn apply(&self, program: &str, places: &mut [MappedPlace]) {
        let mut shifts = self.0.iter().peekable();
        let mut places = places.iter_mut().peekable();
        let mut start = 0;
        for (number, line) in program.split('\n').enumerate() {
            let mut moved = 0;
            // A line's byte of each column that is wanted.
            let (mut byte, mut column) = (start, 0);
            let mut characters = line.chars();
            while let Some(place) = places.next_if(|place| place.line as usize == number) {
                while column < place.column
                    && let Some(character) = characters.next()
                {
                    byte += character.len_utf8();
                    column += character.len_utf16() as u32;
                }
                while let Some((_, by)) = shifts.next_if(|(at, _)| *at <= byte) {
                    moved += by;
                }
                place.column = u32::try_from(i64::from(place.column) + moved).unwrap_or(place.column);
            }
            start += line.len() + 1;
            while shifts.next_if(|(at, _)| *at < start).is_some() {}
        }
    }
}

#[derive(Default)]
struct Edits<'p> {
    program: &'p str,
    /// Whether the innermost pattern of an object has a rest.
    has_rest: bool,
    /// How many variables take the value of a key.
    taken: u32,
    /// Texts that open something, before a byte: what is outside comes first.
    opens: Vec<(u32, String)>,
    /// Texts that close something, before a byte: what is inside comes first.
    closes: Vec<(u32, String)>,
    /// Operators that become commas.
    commas: Vec<Span>,
    /// How many texts were put together so far in each open body.
    joins: Vec<u32>,
}

/// What [`Edits::take`] takes.
struct Taken {
    key: Span,
    is_computed: bool,
    value: Span,
    default: Option<Span>,
    target: String,
}

impl Edits<'_> {
    fn open(&mut self, at: u32, text: impl Into<String>) {
        self.opens.push((at, text.into()));
    }

    fn close(&mut self, at: u32, text: &str) {
        self.closes.push((at, text.to_owned()));
    }

    /// Puts a call around what `walk` visits.
    fn wrap(&mut self, function: &str, span: Span, walk: impl FnOnce(&mut Self)) {
        self.open(span.start, format!("{function}("));
        walk(self);
        self.close(span.end, ")");
    }

    fn look(&mut self, after: u32) {
        self.open(after, format!("{LOOK}();"));
    }

    /// A body, which counts its own joins.
    fn body(&mut self, walk: impl FnOnce(&mut Self)) {
        self.joins.push(0);
        walk(self);
        self.joins.pop();
    }

    fn within(&mut self, has_rest: bool, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.has_rest, has_rest);
        walk(self);
        self.has_rest = outer;
    }

    fn is_join_after_the_first(&mut self) -> bool {
        let Some(joins) = self.joins.last_mut() else { return true };
        *joins += 1;
        *joins > 1
    }

    fn round(&mut self, body: &Statement<'_>, walk: impl FnOnce(&mut Self)) {
        let span = body.span();
        if matches!(body, Statement::BlockStatement(_)) {
            self.look(span.start + 1);
            self.body(walk);
        } else {
            self.open(span.start, format!("{{{LOOK}();"));
            self.body(walk);
            self.close(span.end, "}");
        }
    }

    fn copied<'a>(&mut self, has_rest: bool, value: &Expression<'a>) {
        if has_rest {
            self.wrap(SPREAD, value.span(), |edits| edits.visit_expression(value));
        } else {
            self.visit_expression(value);
        }
    }

    /// A property of a pattern with a rest, whose value is the pattern `value`: `key: value = default` becomes
    /// `key: target, [NONE]: value = target === void 0 ? default : target`.
    fn take(&mut self, taken: &Taken, walk: impl FnOnce(&mut Self)) {
        let Taken { key, is_computed, value, default, target } = taken;
        if let Some(default) = default {
            self.open(default.start, format!("{target}===void 0?"));
        }
        walk(self);
        let (end, start) = if *is_computed { ("]", "") } else { ("", "]") };
        self.close(key.end, &format!("{end}:{target},[{NONE}{start}"));
        match default {
            Some(default) => self.close(default.end, &format!(":{target}")),
            None => self.close(value.end, &format!("={target}")),
        }
    }

    fn apply(mut self) -> (String, Shifts) {
        let program = self.program;
        // Stable: at the same place, what was put in first stays first.
        self.opens.sort_by_key(|(at, _)| *at);
        self.closes.sort_by_key(|(at, _)| *at);
        self.commas.sort_by_key(|span| span.start);
        let added: usize = self.opens.iter().chain(&self.closes).map(|(_, text)| text.len()).sum();
        let mut out = String::with_capacity(program.len() + added);
        let (mut opens, mut closes) = (self.opens.into_iter().peekable(), self.closes.into_iter().peekable());
        let mut commas = self.commas.into_iter().peekable();
        let mut done = 0;
        let mut shifts = Vec::new();
        loop {
            let next = [opens.peek().map(|(at, _)| *at), closes.peek().map(|(at, _)| *at), commas.peek().map(|span| span.start)];
            let Some(at) = next.into_iter().flatten().min() else { break };
            out.push_str(&program[done..at as usize]);
            done = at as usize;
            while let Some((_, text)) = closes.next_if(|(place, _)| *place == at) {
                shifts.push((at as usize, text.len() as i64));
                out.push_str(&text);
            }
            if let Some(span) = commas.next_if(|span| span.start == at) {
                // The line breaks between two operands stay.
                let between = &program[span.start as usize..span.end as usize];
                out.push(',');
                out.extend(between.chars().filter(|c| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')));
                if !between.contains('\n') {
                    shifts.push((span.end as usize, 1 - between.encode_utf16().count() as i64));
                }
                done = span.end as usize;
                continue;
            }
            while let Some((_, text)) = opens.next_if(|(place, _)| *place == at) {
                shifts.push((at as usize, text.len() as i64));
                out.push_str(&text);
            }
        }
        out.push_str(&program[done..]);
        (out, Shifts(shifts))
    }
}

impl<'a> Visit<'a> for Edits<'_> {
    fn visit_program(&mut self, it: &Program<'a>) {
        self.body(|edits| oxc::ast_visit::walk::walk_program(edits, it));
    }

    fn visit_function_body(&mut self, it: &FunctionBody<'a>) {
        match it.directives.last() {
            // Anything before it would make it a text like any other.
            Some(directive) => self.open(directive.span.end, format!(";{LOOK}();")),
            None => self.look(it.span.start + 1),
        }
        self.body(|edits| walk_function_body(edits, it));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let Some(value) = it.get_expression() else { return walk_arrow_function_expression(self, it) };
        self.visit_formal_parameters(&it.params);
        let span = value.span();
        self.open(span.start, format!("({LOOK}(),"));
        self.body(|edits| edits.visit_expression(value));
        self.close(span.end, ")");
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.body(|edits| walk_static_block(edits, it));
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        // Initializers of fields run once an object.
        self.body(|edits| walk_class(edits, it));
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.body(|edits| edits.visit_expression(&it.test));
        self.round(&it.body, |edits| edits.visit_statement(&it.body));
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.round(&it.body, |edits| edits.visit_statement(&it.body));
        self.body(|edits| edits.visit_expression(&it.test));
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        self.round(&it.body, |edits| walk_for_statement(edits, it));
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.round(&it.body, |edits| walk_for_in_statement(edits, it));
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.round(&it.body, |edits| walk_for_of_statement(edits, it));
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        match it.operator {
            BinaryOperator::Addition if !is_short(&it.left) && !is_short(&it.right) && self.is_join_after_the_first() => {
                return self.wrap(VALUE, it.span, |edits| walk_binary_expression(edits, it));
            }
            BinaryOperator::Multiplication if may_be_bigint(&it.left) && may_be_bigint(&it.right) => {
                return self.wrap(VALUE, it.span, |edits| walk_binary_expression(edits, it));
            }
            BinaryOperator::Exponential if may_be_bigint(&it.left) && may_be_bigint(&it.right) => {
                self.commas.push(Span::new(it.left.span().end, it.right.span().start));
                return self.wrap(POWER, it.span, |edits| walk_binary_expression(edits, it));
            }
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight if may_be_bigint(&it.left) && may_be_bigint(&it.right) => {
                self.visit_expression(&it.left);
                return self.wrap(SHIFT, it.right.span(), |edits| edits.visit_expression(&it.right));
            }
            _ => {}
        }
        walk_binary_expression(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        match it.operator {
            AssignmentOperator::Addition if !is_short(&it.right) && self.is_join_after_the_first() => {
                return self.wrap(VALUE, it.span, |edits| walk_assignment_expression(edits, it));
            }
            AssignmentOperator::Multiplication if may_be_bigint(&it.right) => {
                return self.wrap(VALUE, it.span, |edits| walk_assignment_expression(edits, it));
            }
            AssignmentOperator::ShiftLeft | AssignmentOperator::ShiftRight | AssignmentOperator::Exponential
                if may_be_bigint(&it.right) =>
            {
                if it.operator != AssignmentOperator::Exponential {
                    self.visit_assignment_target(&it.left);
                    return self.wrap(SHIFT, it.right.span(), |edits| edits.visit_expression(&it.right));
                }
                // The base is not known before; what it becomes is.
                self.open(it.span.start, format!("{VALUE}("));
                self.visit_assignment_target(&it.left);
                self.wrap(POWER, it.right.span(), |edits| edits.visit_expression(&it.right));
                return self.close(it.span.end, ")");
            }
            AssignmentOperator::Assign => {
                self.visit_assignment_target(&it.left);
                return self.copied(has_rest(&it.left), &it.right);
            }
            _ => {}
        }
        walk_assignment_expression(self, it);
    }

    fn visit_template_literal(&mut self, it: &TemplateLiteral<'a>) {
        let long = it.expressions.iter().filter(|part| !is_short(part)).count();
        if long > 1 && self.is_join_after_the_first() {
            return self.wrap(VALUE, it.span, |edits| walk_template_literal(edits, it));
        }
        walk_template_literal(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        // The literal is the tag's argument, not a text.
        self.visit_expression(&it.tag);
        for part in &it.quasi.expressions {
            self.visit_expression(part);
        }
    }

    fn visit_binding_property(&mut self, it: &BindingProperty<'a>) {
        let (value, default) = match &it.value {
            BindingPattern::AssignmentPattern(with_default) => (&with_default.left, Some(with_default.right.span())),
            value => (value, None),
        };
        let is_pattern = matches!(value, BindingPattern::ObjectPattern(_) | BindingPattern::ArrayPattern(_));
        if !self.has_rest || !is_pattern {
            return self.within(false, |edits| walk_binding_property(edits, it));
        }
        let target = format!("{TAKEN}{}", self.taken);
        self.taken += 1;
        let taken = Taken { key: it.key.span(), is_computed: it.computed, value: value.span(), default, target };
        self.take(&taken, |edits| edits.within(false, |edits| walk_binding_property(edits, it)));
    }

    fn visit_object_pattern(&mut self, it: &ObjectPattern<'a>) {
        self.within(it.rest.is_some(), |edits| walk_object_pattern(edits, it));
    }

    fn visit_assignment_target_property_property(&mut self, it: &AssignmentTargetPropertyProperty<'a>) {
        let (target, default) = match &it.binding {
            AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(it) => (Some(&it.binding), Some(it.init.span())),
            other => (other.as_assignment_target(), None),
        };
        let value = match target {
            Some(AssignmentTarget::ObjectAssignmentTarget(pattern)) => pattern.span,
            Some(AssignmentTarget::ArrayAssignmentTarget(pattern)) => pattern.span,
            _ => return self.within(false, |edits| walk_assignment_target_property_property(edits, it)),
        };
        if self.has_rest {
            let taken = Taken { key: it.name.span(), is_computed: it.computed, value, default, target: format!("{TAKEN}.v") };
            return self.take(&taken, |edits| edits.within(false, |edits| walk_assignment_target_property_property(edits, it)));
        }
        self.within(false, |edits| walk_assignment_target_property_property(edits, it));
        // Without a default, the interpreter refuses to read a pattern behind a computed key.
        if it.computed && default.is_none() {
            self.close(it.span.end, "=void 0");
        }
    }

    fn visit_object_assignment_target(&mut self, it: &ObjectAssignmentTarget<'a>) {
        self.within(it.rest.is_some(), |edits| walk_object_assignment_target(edits, it));
    }

    fn visit_spread_element(&mut self, it: &SpreadElement<'a>) {
        self.wrap(SPREAD, it.argument.span(), |edits| walk_spread_element(edits, it));
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        match (&it.id, &it.init) {
            (BindingPattern::ArrayPattern(pattern), Some(value)) => {
                self.visit_binding_pattern(&it.id);
                self.copied(pattern.rest.is_some(), value);
            }
            _ => walk_variable_declarator(self, it),
        }
    }
}

fn has_rest(target: &AssignmentTarget<'_>) -> bool {
    matches!(target, AssignmentTarget::ArrayAssignmentTarget(pattern) if rest_of(pattern))
}

fn rest_of(pattern: &ArrayAssignmentTarget<'_>) -> bool {
    pattern.rest.is_some()
}

/// Whether a value is not text, or is text whose length stands in the program: to add it to a text again and again takes a loop.
fn is_short(value: &Expression<'_>) -> bool {
    match value {
        Expression::BooleanLiteral(_)
        | Expression::NullLiteral(_)
        | Expression::NumericLiteral(_)
        | Expression::BigIntLiteral(_)
        | Expression::StringLiteral(_)
        | Expression::UnaryExpression(_)
        | Expression::UpdateExpression(_) => true,
        Expression::TemplateLiteral(text) => text.expressions.is_empty(),
        Expression::BinaryExpression(it) => it.operator != BinaryOperator::Addition,
        Expression::ParenthesizedExpression(it) => is_short(&it.expression),
        _ => false,
    }
}

/// Whether a value can be a bigint: nothing mixes them with numbers. A script can have one anywhere, as `length` and from `Math`, too.
fn may_be_bigint(value: &Expression<'_>) -> bool {
    match value {
        Expression::NumericLiteral(_) | Expression::StringLiteral(_) => false,
        Expression::ParenthesizedExpression(it) => may_be_bigint(&it.expression),
        Expression::UnaryExpression(it) => may_be_bigint(&it.argument),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(program: &str, expected: &str) {
        let inserted = insert(program).map(|(program, _)| program).unwrap_or_default();
        let short = [(LOOK, "L"), (VALUE, "V"), (SPREAD, "S"), (POWER, "P"), (SHIFT, "H"), (NONE, "N"), (TAKEN, "t")];
        let shown = short.iter().fold(inserted, |text, (name, letter)| text.replace(name, letter));
        assert_eq!(shown, expected, "{program}");
    }

    #[test]
    fn every_function_looks() {
        check("(host) => ({})", "(host) => (L(),({}))");
        check("(function (host) { \"use strict\"; return 1 })", "(function (host) { \"use strict\";;L(); return 1 })");
        check("(function (host) { 'use strict'\n return 1 })", "(function (host) { 'use strict';L();\n return 1 })");
        check("async (host) => { const f = x => x * 2, g = 1; }", "async (host) => {L(); const f = x => (L(),x * 2), g = 1; }");
        check("() => ({ m() { return 1 }, get g() { return 2 } })", "() => (L(),({ m() {L(); return 1 }, get g() {L(); return 2 } }))");
        check(
            "() => class { #p = () => 1; static { f() } constructor() { g() } }",
            "() => (L(),class { #p = () => (L(),1); static { f() } constructor() {L(); g() } })",
        );
        check("() => a.b ? c() : d => e(f)", "() => (L(),a.b ? c() : d => (L(),e(f)))");
        check("async () => await f(await g)", "async () => (L(),await f(await g))");
        check("() => `a${b}c`", "() => (L(),`a${b}c`)");
        check("() => x => y => x + y", "() => (L(),x => (L(),y => (L(),x + y)))");
        check("() => [() => 1, () => 'é𝒳', () => { }]", "() => (L(),[() => (L(),1), () => (L(),'é𝒳'), () => {L(); }])");
        check(
            "() => {\r\n  const s = ') {';\n  return () => s;\u{2028}}",
            "() => {L();\r\n  const s = ') {';\n  return () => (L(),s);\u{2028}}",
        );
        check("() => { throw 1 } /* => */", "() => {L(); throw 1 } /* => */");
        assert!(insert("this is not a program").is_none());
    }

    #[test]
    fn every_round_of_a_loop_looks() {
        check("() => { while (a + b > 0) {} }", "() => {L(); while (a + b > 0) {L();} }");
        check("() => { for (let i = 0; i < 3; i++); }", "() => {L(); for (let i = 0; i < 3; i++){L();;} }");
        check("() => { for (;;) f() }", "() => {L(); for (;;) {L();f()} }");
        check("() => { do {} while (x); do f(); while (x) }", "() => {L(); do {L();} while (x); do {L();f();} while (x) }");
        check(
            "() => { for (const a of b) for (const c in a) g(c) }",
            "() => {L(); for (const a of b) {L();for (const c in a) {L();g(c)}} }",
        );
        check("() => { if (a) while (b) c(); else d() }", "() => {L(); if (a) while (b) {L();c();} else d() }");
    }

    #[test]
    fn texts_that_may_double_twice_are_bounded() {
        check("(a, b) => { a += b }", "(a, b) => {L(); a += b }");
        check("(a, b) => { a += b; a = a + a; a = `${a}${a}` }", "(a, b) => {L(); a += b; a = V(a + a); a = V(`${a}${a}`) }");
        check("(a, b) => a + b + a", "(a, b) => (L(),V(a + b) + a)");
        check("(a, i) => a + 1 + ',' + i++ + -i + i * 2", "(a, i) => (L(),a + 1 + ',' + i++ + -i + i * 2)");
        check("(o) => { o.length += o.length; o.length += o.length }", "(o) => {L(); o.length += o.length; V(o.length += o.length) }");
        check("(a, t) => t`${a}${a}${a + a}${a + a}`", "(a, t) => (L(),t`${a}${a}${a + a}${V(a + a)}`)");
    }

    #[test]
    fn what_is_copied_is_bounded() {
        check("(a) => [...a, 1]", "(a) => (L(),[...S(a), 1])");
        check("(a, f) => new f(...f(...a), 1)", "(a, f) => (L(),new f(...S(f(...S(a))), 1))");
        check(
            "(a) => { const [b, ...c] = a; let d; [d] = a; [...d] = a }",
            "(a) => {L(); const [b, ...c] = S(a); let d; [d] = a; [...d] = S(a) }",
        );
    }

    #[test]
    fn bigints_are_bounded_where_both_may_be_some() {
        check("(a, b) => a * b ** (a << b)", "(a, b) => (L(),V(a * P(b,(a << H(b)))))");
        check("(a) => a * 2 - -1 * a", "(a) => (L(),a * 2 - -1 * a)");
        check(
            "(o) => { o.length *= o.length; return Math.f(o) * o.length }",
            "(o) => {L(); V(o.length *= o.length); return V(Math.f(o) * o.length) }",
        );
        check("(a) => { a *= 2; a <<= (3); a **= 2 }", "(a) => {L(); a *= 2; a <<= (3); a **= 2 }");
        check("(a, b) => 1n * b ** (a << b)", "(a, b) => (L(),V(1n * P(b,(a << H(b)))))");
        check("(a) => { a *= BigInt(2); a <<= a; a.b **= a }", "(a) => {L(); V(a *= BigInt(2)); a <<= H(a); V(a.b **= P(a)) }");
        check("(a) => 2n **\n a", "(a) => (L(),P(2n,\na))");
    }

    #[test]
    fn a_rest_leaves_out_what_nested_patterns_take() {
        check("() => { const { a, b: { c }, ...r } = o }", "() => {L(); const { a, b:t0,[N]: { c }=t0, ...r } = o }");
        check("({ 'b c': [d] = [], ...r }) => r", "({ 'b c':t0,[N]: [d] = t0===void 0?[]:t0, ...r }) => (L(),r)");
        check("() => { const { [k()]: { c }, ...r } = o }", "() => {L(); const { [k()]:t0,[N]: { c }=t0, ...r } = o }");
        check(
            "() => { for (const { [a * b ]: { c } = a * b, ...r } of o); }",
            "() => {L(); for (const { [V(a * b)]:t0,[N ]: { c } = t0===void 0?V(a * b):t0, ...r } of o){L();;} }",
        );
        check("() => { ({ b: { c }, d: e.f, ...r } = o) }", "() => {L(); ({ b:t.v,[N]: { c }=t.v, d: e.f, ...r } = o) }");
        check("() => { ({ [b]: [c] = d, ...r } = o) }", "() => {L(); ({ [b]:t.v,[N]: [c] = t.v===void 0?d:t.v, ...r } = o) }");
        check("() => { ({ [k]: { c }, [l]: [d] = [] } = o) }", "() => {L(); ({ [k]: { c }=void 0, [l]: [d] = [] } = o) }");
        check("({ a: { b: { c }, ...r }, d: { e } }) => r", "({ a: { b:t0,[N]: { c }=t0, ...r }, d: { e } }) => (L(),r)");
        check("({ a: { b: { c } }, ...r }) => r", "({ a:t0,[N]: { b: { c } }=t0, ...r }) => (L(),r)");
    }
}
