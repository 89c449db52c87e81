//! `errors.on`: results that count as failures.

use millrace_core::app::ErrorRule;

use crate::{
    compiler::Compiler,
    expression,
    field::{Field, Record, Shape},
    scope::PathScope,
    yaml::{Document, Node},
};

/// One of `errors.on`
pub(crate) static RULE: Record = Record {
    name: "error_rule",
    noun: "a rule",
    doc: "A result that counts as a failure.",
    fields: &[
        Field::new("when", Shape::Text, "When it applies: an expression over `results`, `inputs` and `auth`.").filled().required(),
        Field::new("code", Shape::Text, "The code of the failure: `NOT_FOUND`.").required(),
        Field::new("message", Shape::Text, "The message to the caller, with placeholders: `No invoice {{ inputs.id }}.`")
            .filled()
            .required(),
        Field::new("suggestion", Shape::Text, "What the caller can do about it."),
        Field::new("actions", Shape::List(&Shape::Text), "Tools that help.").default("[]"),
    ],
};

/// Reads one rule. `None` where it is wrong, which has been said.
pub(super) fn read(compiler: &mut Compiler<'_>, document: &Document, rule: &Node, scope: &PathScope) -> Option<ErrorRule> {
    let message = rule.at("message").map(|node| compiler.message(document, node, scope));
    let node = rule.at("when")?;
    let parsed = expression::parse(node.text()?, scope);
    for problem in parsed.problems {
        compiler.findings.problem(document, node, problem);
    }
    let when = parsed.expression?;
    Some(ErrorRule {
        when,
        code: rule.text_at("code")?.to_owned(),
        message: message?,
        suggestion: rule.text_at("suggestion").map(String::from),
        actions: rule.texts_at("actions"),
    })
}
