//! Regular expressions in the text of a module that can take too long.

use millrace_pattern::{Flags, Pattern};
use oxc::{
    ast::ast::{Argument, CallExpression, Expression, NewExpression, Program, RegExpLiteral},
    ast_visit::{
        Visit,
        walk::{walk_call_expression, walk_new_expression},
    },
    semantic::Scoping,
    span::Span,
};

use super::place::Finding;

/// The most characters of a pattern that a message shows.
const SHOWN: usize = 60;

const HELP: &str = "write it without the back-reference, or without a repetition or a choice inside of a repetition: only with a back-reference does a search backtrack";

/// Warns of patterns whose search backtracks, and can take time that doubles with every character. It is ended at a limit then.
pub(super) fn check(program: &Program<'_>, scoping: &Scoping) -> Vec<Finding> {
    let mut patterns = Patterns { scoping, findings: Vec::new() };
    patterns.visit_program(program);
    patterns.findings
}

struct Patterns<'s> {
    scoping: &'s Scoping,
    findings: Vec<Finding>,
}

impl Patterns<'_> {
    fn look(&mut self, span: Span, pattern: &str, flags: &str) {
        let units: Vec<u16> = pattern.encode_utf16().collect();
        if Pattern::parse(&units, Flags::new(flags)).is_ok_and(|pattern| pattern.may_explode()) {
            let mut shown: String = pattern.chars().take(SHOWN).collect();
            if shown.len() < pattern.len() {
                shown.push('…');
            }
            let message = format!("the search for `/{shown}/{flags}` can take time that doubles with every character of the text");
            self.findings.push(Finding::new(span, message, HELP));
        }
    }

    /// `RegExp("…", "…")`, with or without `new`.
    fn look_at_call(&mut self, span: Span, callee: &Expression<'_>, arguments: &[Argument<'_>]) {
        let Expression::Identifier(identifier) = callee else { return };
        let is_global = identifier.reference_id.get().is_none_or(|id| self.scoping.get_reference(id).symbol_id().is_none());
        if !is_global || identifier.name != "RegExp" {
            return;
        }
        let pattern = match arguments.first() {
            Some(Argument::StringLiteral(text)) => text.value.to_string(),
            Some(Argument::TemplateLiteral(text)) => match text.single_quasi() {
                Some(text) => text.to_string(),
                None => return,
            },
            _ => return,
        };
        match arguments.get(1) {
            None => self.look(span, &pattern, ""),
            Some(Argument::StringLiteral(flags)) => self.look(span, &pattern, flags.value.as_str()),
            Some(_) => {}
        }
    }
}

impl<'a> Visit<'a> for Patterns<'_> {
    fn visit_reg_exp_literal(&mut self, it: &RegExpLiteral<'a>) {
        self.look(it.span, it.regex.pattern.text.as_str(), &it.regex.flags.to_string());
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.look_at_call(it.span, &it.callee, &it.arguments);
        walk_new_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.look_at_call(it.span, &it.callee, &it.arguments);
        walk_call_expression(self, it);
    }
}
