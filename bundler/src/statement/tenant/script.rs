//! Statements of scripts, whose parameters get their values when they run.

use std::ops::ControlFlow;

use millrace_languages::lex::Kind;
use sqlparser::ast::{Statement as Sql, Value, ValueWithSpan, Visit as _, Visitor};

use super::{
    analyzer::{Analyzer, Finding},
    rule::{OPT_OUT, TenantRule},
};
use crate::statement::{
    dialect::Dialect,
    resolved::{Known, resolve},
    single,
};

/// The most parameters of a statement that is judged.
const MAX_PARAMETERS: usize = 200;

/// Which parameters of a statement, from 1, have to be the claim so that it keeps to the caller's
/// tenant.
///
/// # Errors
/// Why it could cross tenants whatever they are: what is wrong, and what helps.
pub(crate) fn judge_script(text: &str, dialect: Dialect, rule: &TenantRule) -> Result<Vec<u32>, (String, String)> {
    let unknown = |why: &str| {
        let message = format!("the build cannot tell whether the statement keeps to the caller's tenant: {why}");
        (message, format!("Write the statement in another way, {}.", OPT_OUT))
    };
    let tokens = single::lexed(text, dialect).map_err(|why| unknown(&why))?;
    let judged = single::parsed(text, tokens.len(), dialect, |statement| {
        let number = dialect.facts().probed(1);
        let sign = number.chars().next().unwrap_or('?');
        let mut parameters = Parameters { most: 0, sign };
        let written = tokens.iter().filter(|token| token.kind == Kind::Parameter).count();
        if statement.visit(&mut parameters).is_break() || (written > 0) != (parameters.most > 0) {
            return Err(unknown(&format!("its parameters are not numbered, `{number}`")));
        }
        needed(statement, parameters.most, dialect, rule)
    });
    judged.map_err(|why| unknown(&why))?
}

/// The parameters without which the statement could cross tenants.
fn needed(statement: &Sql, parameters: usize, dialect: Dialect, rule: &TenantRule) -> Result<Vec<u32>, (String, String)> {
    let resolved = resolve(statement, dialect, &Known::default(), false);
    let judge = |claims: &[bool]| Analyzer::new(rule, dialect, claims).judge(&resolved);
    let mut claims = vec![true; parameters];
    if let Some(Finding { message, help, .. }) = judge(&claims).into_iter().next() {
        let (placeholder, claim) = (format!("`{{{{ {} }}}}`", rule.claim), format!("`ctx.{}`", rule.claim));
        let help = help.replace(&format!("{{{{ {} }}}}", rule.claim), &dialect.facts().probed(1));
        return Err((
            message.replace(&placeholder, &format!("a parameter with {claim}")),
            format!("{help} The parameter must be {claim}."),
        ));
    }
    for parameter in 0..parameters {
        claims[parameter] = false;
        claims[parameter] = !judge(&claims).is_empty();
    }
    Ok((1..).zip(claims).filter(|(_, is_claim)| *is_claim).map(|(number, _)| number).collect())
}

/// Looks for parameters, and stops at one without a number, or with another sign.
struct Parameters {
    most: usize,
    /// What a parameter begins with. To SQLite, `$1` is a name, which takes the next free number.
    sign: char,
}

impl Visitor for Parameters {
    type Break = ();

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<()> {
        let Value::Placeholder(name) = &value.value else { return ControlFlow::Continue(()) };
        match name.strip_prefix(self.sign).and_then(|number| number.parse::<usize>().ok()) {
            Some(number) if (1..=MAX_PARAMETERS).contains(&number) => {
                self.most = self.most.max(number);
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        }
    }
}
