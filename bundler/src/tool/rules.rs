//! `errors.on`: results that count as failures.

use millrace_core::{app::ErrorRule, expression::Step};

use crate::{
    compiler::Compiler,
    expression,
    field::{Field, Named, Record, Shape},
    scope::{ANSWER, IN_RULE, IN_RULE_MESSAGE, PathScope},
    yaml::{Document, Node},
};

/// One of `errors.on`
pub(crate) static RULE: Record = Record {
    name: "error_rule",
    noun: "a rule",
    doc: "A result that counts as a failure.",
    fields: &[
        Field::new("when", Shape::Text, "When it applies: an expression over `results`, `inputs` and `auth`; of a tool with a `request` also over `answer.status` and `answer.body` of one that failed.").condition(IN_RULE).required(),
        Field::new("code", Shape::Text, "The code of the failure: `NOT_FOUND`.").required(),
        Field::new("message", Shape::Text, "The message to the caller, with placeholders: `No invoice {{ inputs.id }}.`")
            .sees(IN_RULE_MESSAGE)
            .required(),
        Field::new("suggestion", Shape::Text, "What the caller can do about it."),
        Field::new("actions", Shape::List(&Shape::Text), "Tools that help.").names(Named::Tool).default("[]"),
    ],
};

/// Reads one rule. `None` where it is wrong, which has been said.
pub(super) fn read(compiler: &mut Compiler<'_>, document: &Document, rule: &Node, scope: &PathScope) -> Option<ErrorRule> {
    let message = rule.at("message").map(|node| compiler.message(document, node, &scope.without(ANSWER)));
    let node = rule.at("when")?;
    let parsed = expression::parse(node.text()?, scope);
    for problem in parsed.problems {
        compiler.findings.problem(document, node, problem);
    }
    let when = parsed.expression?;
    let names = |wanted: &str| {
        let mut found = false;
        when.paths(&mut |steps| found |= matches!(steps.first(), Some(Step::Member(root)) if root == wanted));
        found
    };
    if names(ANSWER) && names("results") {
        let help = "Write two rules: `answer` is there where the request failed, and `results` where it did not.";
        compiler.error(document, node.range.clone(), "the rule is over `answer` and over `results`, and no call has both", help);
    }
    Some(ErrorRule {
        when,
        code: rule.text_at("code")?.to_owned(),
        message: message?,
        suggestion: rule.text_at("suggestion").map(String::from),
        actions: rule.texts_at("actions"),
    })
}
