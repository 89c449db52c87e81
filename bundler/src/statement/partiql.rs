//! Statements of DynamoDB's PartiQL, of which no parser is at hand: what their tokens say.
//!
//! Values are parameters whatever the tokens say. What is looked at here is whether a statement
//! reads, which table it is about, whether a value may stand where it stands, and what DynamoDB
//! would surely refuse.
//!
//! Language: <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html>.

use std::collections::BTreeSet;

use millrace_core::app::Access;
use millrace_languages::lex::Kind;

use super::{
    dialect::Dialect,
    lower::{Fragment, Slot},
    position::{self, SyntaxPosition},
    problem::{error, warning},
    tables::{TableSet, Tables, named},
    tokens::Tokens,
};
use crate::Problem;

/// What the tokens of a statement say.
pub(super) struct Judged {
    pub(super) access: Access,
    pub(super) tables: Tables,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

/// Looks at a statement.
pub(super) fn judge(tokens: &Tokens<'_>, fragments: &[Fragment], dialect: Dialect) -> Judged {
    let mut judged = Judged { access: Access::Write, tables: Tables::ALL, problems: Vec::new(), warnings: Vec::new() };
    let significant: Vec<usize> = tokens.significant().collect();
    let Some(&first) = significant.first() else { return judged };
    let all = significant.iter().fold(first..=first, |range, &token| *range.start()..=token);
    let whole = tokens.masked.place(tokens.all[*all.start()].range.start..tokens.all[*all.end()].range.end);
    let find = |word: &str| significant.iter().copied().find(|&token| tokens.is_word(Some(token), word));
    let verb = tokens.word(Some(first)).unwrap_or_default().to_ascii_uppercase();
    let (introduced, before_table) = match verb.as_str() {
        "SELECT" | "DELETE" | "EXISTS" => (find("FROM"), "FROM"),
        "INSERT" => (find("INTO"), "INTO"),
        "UPDATE" => (Some(first), "UPDATE"),
        _ => {
            let message = format!("`{}` does not begin a statement of DynamoDB", tokens.masked.author(tokens.all[first].range.clone()));
            let help = "DynamoDB has `SELECT`, `INSERT INTO … VALUE {…}`, `UPDATE` and `DELETE`, and in a transaction `EXISTS(SELECT …)`";
            judged.problems.push(error(tokens.masked.place(tokens.all[first].range.clone()), message, help));
            return judged;
        }
    };
    let Some(table) = introduced.and_then(|token| tokens.after(token)) else {
        let help = format!("name the table after `{before_table}`: `{before_table} \"Orders\"`");
        judged.problems.push(error(whole, "the statement names no table".to_owned(), &help));
        return judged;
    };
    let mut refuse = |message: &str, help: &str| judged.problems.push(error(whole.clone(), message.to_owned(), help));
    let condition = find("WHERE");
    match verb.as_str() {
        "INSERT" if find("VALUE").is_none() => {
            refuse("DynamoDB inserts one item as a document", "write `INSERT INTO \"Orders\" VALUE {'id': {{ inputs.id }}, …}`");
        }
        "UPDATE" | "DELETE" if condition.is_none() => {
            refuse(
                &format!("DynamoDB changes one item by `{verb}`, and the statement does not say which"),
                "name its whole key: `WHERE \"id\" = {{ inputs.id }}`",
            );
        }
        _ => {}
    }
    if let Some(limit) = find("LIMIT").filter(|&token| !is_name(tokens, token)) {
        let help = "remove it; the adapter's `max_rows` bounds every result, and `on_too_many: cut` of the tool returns the first ones";
        judged.problems.push(error(
            tokens.masked.place(tokens.all[limit].range.clone()),
            "PartiQL of DynamoDB has no `LIMIT`".to_owned(),
            help,
        ));
    }
    let slots = fragments.iter().filter_map(|fragment| if let Fragment::Slot { slot, .. } = fragment { Some(slot) } else { None });
    judged.problems.extend(slots.filter_map(|slot| misplaced(tokens, slot, &verb, introduced)));
    if verb == "SELECT" && !has_equality(tokens, condition) {
        judged.warnings.push(warning(
            whole,
            "the statement has no condition with `=` or `IN`, so DynamoDB reads the whole table, and each call pays for all of it"
                .to_owned(),
            "give the partition key, `WHERE \"id\" = {{ inputs.id }}`, or that of an index, `FROM \"Orders\".\"by_customer\" WHERE …`",
        ));
    }
    let name = table_at(tokens, table, dialect).map_or(TableSet::All, |name| TableSet::Named(BTreeSet::from([name])));
    (judged.access, judged.tables) = match verb.as_str() {
        "SELECT" => (Access::Read, Tables { reads: name, writes: TableSet::default() }),
        _ => (Access::Write, Tables { reads: name.clone(), writes: name }),
    };
    judged
}

/// Whether a word is part of a path, or the name of an attribute before a comparison: `a.limit`.
fn is_name(tokens: &Tokens<'_>, token: usize) -> bool {
    let (before, after) = (tokens.before(token), tokens.after(token));
    let compared = after.is_some_and(|at| matches!(tokens.all[at].kind, Kind::Sign(b'=' | b'<' | b'>' | b'.' | b',' | b'[' | b')')));
    compared || tokens.is_sign(before, b'.')
}

/// Why a value may not stand where it stands.
fn misplaced(tokens: &Tokens<'_>, slot: &Slot, verb: &str, introduced: Option<usize>) -> Option<Problem> {
    let token = slot.token;
    let (before, after) = (tokens.before(token), tokens.after(token));
    let is_selected = verb == "SELECT" && introduced.is_some_and(|from| token < from);
    if is_selected || tokens.is_sign(after, b':') {
        return Some(slot.misplaced(SyntaxPosition::Name));
    }
    // `list[0]`, and not a list after `IN`.
    let indexed = before.filter(|_| tokens.is_sign(before, b'[')).and_then(|open| tokens.before(open));
    let is_index = indexed.is_some_and(|at| match tokens.all[at].kind {
        Kind::Word => !tokens.is_any_word(Some(at), &["IN", "AND", "OR", "NOT", "BETWEEN", "VALUE"]),
        Kind::Quoted | Kind::Sign(b']') => true,
        _ => false,
    });
    if is_index {
        return Some(slot.misplaced(SyntaxPosition::Constant));
    }
    position::likely(tokens, token).map(|place| slot.misplaced(place))
}

/// Whether something is compared with `=` or `IN` after `WHERE`.
fn has_equality(tokens: &Tokens<'_>, condition: Option<usize>) -> bool {
    let Some(condition) = condition else { return false };
    tokens.significant().filter(|&token| token > condition).any(|token| {
        let is_part = token.checked_sub(1).is_some_and(|at| matches!(tokens.all[at].kind, Kind::Sign(b'<' | b'>' | b'!')));
        tokens.is_word(Some(token), "IN") || tokens.is_sign(Some(token), b'=') && !is_part
    })
}

/// The name of a table; `None` where the call decides.
fn table_at(tokens: &Tokens<'_>, token: usize, dialect: Dialect) -> Option<String> {
    if tokens.has_marks(token) {
        return None;
    }
    match tokens.all[token].kind {
        Kind::Word | Kind::Quoted => named(tokens.text(token), dialect),
        _ => None,
    }
}
