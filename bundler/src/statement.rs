//! The statement compiler: the author's text with placeholders in, a [`Statement`] out in which
//! every value is bound.
//!
//! The text is cut into tokens of its dialect, each placeholder becomes a parameter or part of a
//! composed literal, and a parser then looks whether a value may stand where each parameter stands.
//! Where the parser does not know the statement, the tokens around the placeholder decide and a
//! warning says so. In no case does a value become part of the text.

use millrace_core::app::{Access, Part, Statement};
use millrace_languages::{
    Judge,
    lex::{self, Kind},
};

use crate::{Problem, placeholder};

mod clickhouse;
mod command;
mod compiled;
mod counted;
mod declared;
mod dialect;
mod document;
mod doubt;
mod effect;
mod functions;
mod http;
mod json_text;
mod literal;
mod lower;
mod masked;
mod names;
mod outline;
mod partiql;
mod position;
mod probe;
mod problem;
mod reads;
mod request;
mod resolved;
pub mod rights;
mod searched;
mod shown;
mod single;
mod source;
mod spelling;
pub(crate) mod tables;
mod tenant;
mod textual;
mod tokens;
mod words;

pub use command::compile_command;
pub use compiled::Compiled;
pub(crate) use counted::why_not as why_not_counted;
pub use dialect::Dialect;
pub(crate) use document::compile_document;
pub use doubt::Doubt;
pub(crate) use effect::{Effect, effect, only_reads};
pub(crate) use http::{PAGE, compile_http};
pub(crate) use json_text::document_of_json;
pub use names::Names;
pub use outline::{Constants, Outline, outline};
pub use reads::{TableRead, table_reads};
pub(crate) use request::compile_request;
pub use resolved::{Known, KnownTable, Named};
pub use rights::{Columns, Privilege, Rights};
pub(crate) use searched::{Searched, searched};
pub use tables::{TableSet, Tables};
pub(crate) use tenant::judge_script;
pub use tenant::{TenantRule, TenantTables};

use compiled::{finished, push_text};
use doubt::Doubts;
use lower::{Fragment, PlaceholderName, Slot};
use masked::MaskedStatement;
use probe::Verdict;
use problem::error;
use source::of_variable;
use tokens::Tokens;

/// How placeholders are filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Substitution {
    /// Values are bound.
    Bind,
    /// Values become text, as in Hyperterse; a warning says so.
    Textual,
}

/// Compiles a statement.
///
/// # Errors
/// Every [`Problem`] of the statement, in order.
pub fn compile<'a>(
    text: &str,
    dialect: Dialect,
    substitution: Substitution,
    names: impl Into<Names<'a>>,
) -> Result<Compiled, Vec<Problem>> {
    let names = names.into();
    if let Some(at) = text.find('\0') {
        return Err(vec![error(at..at + 1, "the statement has a NUL character".to_owned(), "remove it")]);
    }
    if text.trim().is_empty() {
        return Err(vec![empty(text)]);
    }
    let (pieces, mut problems) = placeholder::scan(text);
    if !problems.is_empty() {
        // What can be read of it is looked at all the same.
        for piece in &pieces {
            if let placeholder::Piece::Placeholder(placeholder) = piece {
                problems.extend(source::resolve(placeholder, Some(dialect), names).err());
            }
        }
        problems.sort_by_key(|problem| (problem.range.start, problem.range.end));
        return Err(problems);
    }
    match substitution {
        Substitution::Bind => bind(text, pieces, dialect, names, None),
        Substitution::Textual => {
            let mut compiled = textual::compile(&pieces, dialect, names)?;
            // Without a value in its text a statement is what it is.
            if compiled.warnings.is_empty()
                && let Ok(bound) = bind(text, pieces, dialect, names, None)
            {
                (compiled.statement.access, compiled.tables, compiled.doubt) = (bound.statement.access, bound.tables, bound.doubt);
            }
            Ok(compiled)
        }
    }
}

/// Compiles a statement that has to keep to the caller's tenant; its values are bound.
///
/// # Errors
/// Every [`Problem`] of the statement, in order: also each place where it could cross tenants, and
/// each that cannot be judged.
pub fn compile_for_tenant<'a>(
    text: &str,
    dialect: Dialect,
    names: impl Into<Names<'a>>,
    rule: &TenantRule,
) -> Result<Compiled, Vec<Problem>> {
    let names = names.into();
    match placeholder::scan(text) {
        (pieces, problems) if problems.is_empty() && !text.contains('\0') && !text.trim().is_empty() => {
            bind(text, pieces, dialect, names, Some(rule))
        }
        // The same mistakes, whoever the caller is.
        _ => compile(text, dialect, Substitution::Bind, names),
    }
}

fn bind(
    text: &str,
    pieces: Vec<placeholder::Piece<'_>>,
    dialect: Dialect,
    names: Names<'_>,
    tenant: Option<&TenantRule>,
) -> Result<Compiled, Vec<Problem>> {
    let masked = MaskedStatement::new(text, pieces);
    let all = dialect.lex(&masked.text).map_err(|unread| vec![error(masked.place(unread.range()), unread.message(), unread.help())])?;
    let mut tokens = Tokens::new(&masked, all);
    trim(&mut tokens);
    let Some(first) = tokens.significant().find(|&token| tokens.all[token].kind != Kind::Sign(b';')) else { return Err(vec![empty(text)]) };
    let mut lowered = lower::lower(&tokens, dialect, names);
    let (mut problems, mut warnings) = (std::mem::take(&mut lowered.problems), std::mem::take(&mut lowered.warnings));
    let fragments = &lowered.fragments;
    problems.extend(second_statement(&tokens, first).into_iter().chain(takes_no_values(&tokens, first, fragments, dialect)));
    let refused = not_run(&masked, dialect, names.is_step).filter(|_| problems.is_empty());
    problems.extend(refused);
    let (mut access, mut tables, mut doubt) = (Access::Write, Tables::ALL, None);
    let (words, doubts) = (words::look(&tokens, first, fragments, dialect), Doubts { tokens: &tokens, dialect });
    // ClickHouse's own words say more than the parser, which knows few of its statements.
    let judge = dialect.facts().judge;
    let reads_by_words = judge == Judge::WordsAndParser && clickhouse::judge(&masked, &lowered, &tokens, &mut problems);
    if problems.is_empty() && judge == Judge::Words {
        let judged = partiql::judge(&tokens, fragments, dialect);
        (access, tables, problems, warnings) = (judged.access, judged.tables, judged.problems, [warnings, judged.warnings].concat());
    } else if problems.is_empty() {
        match probe::ask(fragments, dialect) {
            Verdict::Understood { misplaced, access: found, tables: named } => {
                tables = named;
                problems.extend(misplaced.iter().map(|(slot, place)| slot.misplaced(*place)));
                match found {
                    Access::Read if words.may_only_read() => access = Access::Read,
                    Access::Read => doubt = doubts.of_word(&words),
                    _ => {}
                }
            }
            Verdict::Unknown { error: reason } => {
                let slots = slots(fragments);
                let likely = |slot: &&Slot| position::likely(&tokens, slot.token).map(|place| slot.misplaced(place));
                problems.extend(slots.iter().filter_map(likely));
                let has_env = fragments.iter().any(|fragment| matches!(fragment, Fragment::Env(_)));
                // Of `ALTER … DELETE` and `UPDATE`, which every ClickHouse has, the parser knows
                // nothing.
                let is_mutation = judge == Judge::WordsAndParser && tokens.is_word(Some(first), "ALTER");
                let is_known = judge == Judge::WordsAndParser || words.surely_reads;
                if !is_known && !words.is_command {
                    doubt = Some(doubts.of_statement(&words, if has_env { "the text of a variable can be anything" } else { &reason }));
                } else if !slots.is_empty() && !has_env && !is_mutation {
                    warnings.push(doubts.unchecked(&reason, is_known));
                }
            }
        }
    }
    // A word of writes is a name where the first words decide.
    let reads_by_words = (reads_by_words || words.surely_reads) && words.can_be_held_to_reading();
    if reads_by_words && problems.is_empty() && judge != Judge::Words {
        (access, doubt) = (Access::Read, None);
    }
    if let Some(rule) = tenant.filter(|_| problems.is_empty()) {
        problems = tenant::check(&tokens, &lowered, dialect, rule);
    }
    sort(&mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    sort(&mut warnings);
    settle_writes(access, &mut tables);
    Ok(Compiled { statement: assemble(lowered.fragments, dialect, access), tables, doubt, warnings })
}

/// The words say more than the parser, and a statement that writes writes something.
fn settle_writes(access: Access, tables: &mut Tables) {
    if access.reads() {
        tables.writes = TableSet::default();
    } else if tables.writes.is_empty() {
        tables.writes = TableSet::All;
    }
}

/// Puts problems in the order of the text.
fn sort(problems: &mut [Problem]) {
    problems.sort_by_key(|problem| (problem.range.start, problem.range.end));
}

/// Where values stand.
fn slots(fragments: &[Fragment]) -> Vec<&Slot> {
    fragments.iter().filter_map(|fragment| if let Fragment::Slot { slot, .. } = fragment { Some(slot) } else { None }).collect()
}

/// Removes the space around a statement.
fn trim(tokens: &mut Tokens<'_>) {
    while tokens.all.last().is_some_and(|token| token.kind == Kind::Space) {
        tokens.all.pop();
    }
    let space = tokens.all.iter().take_while(|token| token.kind == Kind::Space).count();
    tokens.all.drain(..space);
}

fn second_statement(tokens: &Tokens<'_>, first: usize) -> Option<Problem> {
    let end = tokens.significant().skip_while(|&token| token < first).find(|&token| tokens.all[token].kind == Kind::Sign(b';'))?;
    let second = tokens.significant().find(|&token| token > end && tokens.all[token].kind != Kind::Sign(b';'))?;
    let place = tokens.masked.place(tokens.all[second].range.clone());
    Some(error(
        place,
        "a second statement starts after `;`".to_owned(),
        "a tool runs one statement; write several under `transaction`, all or none of which take effect",
    ))
}

/// What no connector of the language sends: it would be refused at the first call.
fn not_run(masked: &MaskedStatement<'_>, dialect: Dialect, is_step: bool) -> Option<Problem> {
    let refusal = (dialect.facts().refusal)(&masked.text, is_step)?;
    let what = refusal.not_run()?;
    Some(error(masked.place(refusal.range.clone()), format!("connectors of {} do not run {what}", dialect.facts().name), refusal.help()))
}

/// Statements that take no bound values, whatever their grammar: the database would refuse them at
/// the first call.
fn takes_no_values(tokens: &Tokens<'_>, first: usize, fragments: &[Fragment], dialect: Dialect) -> Option<Problem> {
    let word = tokens.word(Some(first))?.to_ascii_uppercase();
    let refused = match word.as_str() {
        "DROP" | "TRUNCATE" | "GRANT" | "REVOKE" | "ANALYZE" | "REINDEX" | "COMMENT" => true,
        "CREATE" => !tokens.significant().any(|token| tokens.is_word(Some(token), "SELECT")),
        word => (dialect.facts().takes_no_values)(word, tokens),
    };
    let slot = fragments.iter().find_map(|fragment| match fragment {
        Fragment::Slot { slot, .. } if refused => Some(slot),
        _ => None,
    })?;
    let help = match word.as_str() {
        _ if let PlaceholderName::Variable(name) = &slot.named => &of_variable(name),
        "PRAGMA" => "use the table-valued form: `SELECT * FROM pragma_table_info({{ inputs.table }})`",
        "SET" => "use the function: `SELECT set_config('app.user', {{ inputs.user }}, true)`",
        "NOTIFY" => "use the function: `SELECT pg_notify('channel', {{ inputs.message }})`",
        _ => "only statements that select or change rows accept values; write the value out",
    };
    Some(error(slot.place.clone(), format!("`{}` is in `{word} …`, which accepts no bound values", slot.label), help))
}

fn assemble(fragments: Vec<Fragment>, dialect: Dialect, access: Access) -> Statement {
    let mut parts = Vec::new();
    for fragment in fragments {
        match fragment {
            Fragment::Text { text, .. } => push_text(&mut parts, &text),
            Fragment::Env(name) => parts.push(Part::Env(name)),
            Fragment::EnvIdent(name) => parts.push(Part::EnvIdent(name)),
            Fragment::Slot { part, .. } | Fragment::Choice { part, .. } => parts.push(part),
        }
    }
    Statement {
        style: dialect.facts().style,
        text: finished(&parts, dialect),
        parts,
        access,
        max_values: dialect.facts().max_values,
        document: Vec::new(),
    }
}

fn empty(text: &str) -> Problem {
    error(0..text.len(), "the statement is empty".to_owned(), "write one statement")
}

#[cfg(test)]
mod tests;
