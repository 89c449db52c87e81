//! Shows the statement to a parser, with a parameter at each place of a value: where the parser
//! stumbles over a parameter, no value may stand. The parsed statement also tells whether it only
//! reads.

use std::ops::ControlFlow;

use millrace_core::app::Access;
use sqlparser::ast::{Query, Select, SetExpr, Statement as Sql, Visit, Visitor};

use super::{
    dialect::Dialect,
    lower::{Fragment, Slot, texts_of},
    position::SyntaxPosition,
    resolved::UNKNOWN_NAME,
    shown::{Location, parse},
    tables::{self, Tables},
};

/// What the parser says.
pub(super) enum Verdict {
    /// It understands the statement; some values may stand where none may.
    Understood { misplaced: Vec<(Slot, SyntaxPosition)>, access: Access, tables: Tables },
    /// It does not understand it.
    Unknown { error: String },
}

/// What may stand where the parser takes no parameter, most likely first.
const CANDIDATES: &[(&str, SyntaxPosition)] = &[
    ("millrace_name", SyntaxPosition::Name),
    ("ASC", SyntaxPosition::Keyword),
    ("=", SyntaxPosition::Operator),
    ("1", SyntaxPosition::Constant),
    ("'x'", SyntaxPosition::Constant),
];

/// The most fragments of a statement that the parser is shown.
const MAX_FRAGMENTS: usize = 100_000;
/// The parser's tree of a long chain of operators is as deep as the chain is long, and is walked
/// and dropped by recursion.
const STACK_BYTES_PER_FRAGMENT: usize = 8 * 1024;
/// The most names and keywords that a caller can choose from and whose statements are looked at one
/// by one.
const MAX_OPTIONS: usize = 200;
/// Statements of fewer fragments fit any stack.
const SHORT: usize = 100;

/// Asks the parser.
pub(super) fn ask(fragments: &[Fragment], dialect: Dialect) -> Verdict {
    with_stack(fragments.len(), || examine(fragments, dialect)).unwrap_or_else(|| Verdict::Unknown { error: "it is too long".to_owned() })
}

/// Does what needs a stack as deep as a statement of so many fragments is long. `None`: it is too
/// long for any.
pub(super) fn with_stack<T: Send>(fragments: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    if fragments <= SHORT {
        return Some(work());
    }
    if fragments > MAX_FRAGMENTS {
        return None;
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size((1 << 22) + fragments * STACK_BYTES_PER_FRAGMENT);
        builder.spawn_scoped(scope, work).ok().and_then(|thread| thread.join().ok())
    })
}

fn examine(fragments: &[Fragment], dialect: Dialect) -> Verdict {
    let slots: Vec<&Slot> = fragments
        .iter()
        .filter_map(|fragment| match fragment {
            Fragment::Slot { slot, .. } => Some(slot),
            _ => None,
        })
        .collect();
    let mut stand_ins: Vec<Option<&str>> = vec![None; slots.len()];
    let mut misplaced = Vec::new();
    loop {
        let (text, places) = write(fragments, &stand_ins, dialect);
        let (error, at) = match parse(&text, dialect) {
            Ok(statements) => {
                let access = if reads(&statements) { Access::Read } else { Access::Write };
                let tables = if misplaced.is_empty() { tables_of(fragments, &statements, dialect) } else { Tables::default() };
                return Verdict::Understood { misplaced, access, tables };
            }
            Err(found) => found,
        };
        let blamed = at.and_then(|at| places.iter().position(|&place| place == at)).filter(|&slot| stand_ins[slot].is_none());
        let Some(blamed) = blamed else { return Verdict::Unknown { error } };
        let fits = CANDIDATES.iter().find(|(candidate, _)| {
            let mut tried = stand_ins.clone();
            tried[blamed] = Some(candidate);
            let (text, _) = write(fragments, &tried, dialect);
            match parse(&text, dialect) {
                Ok(_) => true,
                Err((_, later)) => later.is_some_and(|later| later > places[blamed]),
            }
        });
        let Some((candidate, place)) = fits else { return Verdict::Unknown { error } };
        stand_ins[blamed] = Some(candidate);
        misplaced.push((slots[blamed].clone(), *place));
    }
}

/// The tables of a statement in which no value is misplaced, whichever name a caller chooses.
fn tables_of(fragments: &[Fragment], statements: &[Sql], dialect: Dialect) -> Tables {
    let mut found = tables::of(statements, dialect);
    let mut tried = 0;
    for (place, fragment) in fragments.iter().enumerate() {
        let options = match fragment {
            // Text of the operator's can be anything.
            Fragment::Env(_) => return Tables::ALL,
            Fragment::Choice { part, .. } => texts_of(part),
            _ => continue,
        };
        tried += options.len().saturating_sub(1);
        if tried > MAX_OPTIONS {
            return Tables::ALL;
        }
        for option in options.into_iter().skip(1) {
            let mut chosen = fragments.to_vec();
            if let Some(Fragment::Choice { probe, .. }) = chosen.get_mut(place) {
                *probe = option;
            }
            let slots = chosen.iter().filter(|fragment| matches!(fragment, Fragment::Slot { .. })).count();
            match parse(&write(&chosen, &vec![None; slots], dialect).0, dialect) {
                Ok(statements) => found.extend(tables::of(&statements, dialect)),
                Err(_) => return Tables::ALL,
            }
        }
    }
    found
}

/// The text for the parser, and where in it each slot stands.
fn write(fragments: &[Fragment], stand_ins: &[Option<&str>], dialect: Dialect) -> (String, Vec<Location>) {
    let (text, starts) = write_all(fragments, stand_ins, None, dialect);
    let slots = fragments.iter().zip(starts).filter(|(fragment, _)| matches!(fragment, Fragment::Slot { .. }));
    (text, slots.map(|(_, at)| at).collect())
}

/// The text for the parser with a text for each choice, and where in it each fragment stands.
pub(super) fn write_chosen(fragments: &[Fragment], chosen: &[&str], dialect: Dialect) -> (String, Vec<Location>) {
    write_all(fragments, &[], Some(chosen), dialect)
}

fn write_all(fragments: &[Fragment], stand_ins: &[Option<&str>], chosen: Option<&[&str]>, dialect: Dialect) -> (String, Vec<Location>) {
    let (mut text, mut starts) = (String::new(), Vec::new());
    let (mut slots, mut choices) = (0, 0);
    let mut at: Location = (1, 1);
    for fragment in fragments {
        let start = text.len();
        starts.push(at);
        match fragment {
            Fragment::Text { text: own, probe } => text.push_str(probe.as_deref().unwrap_or(own)),
            Fragment::Env(_) | Fragment::EnvIdent(_) => text.push_str(UNKNOWN_NAME),
            Fragment::Choice { probe, .. } => {
                text.push_str(chosen.and_then(|chosen| chosen.get(choices)).map_or(probe.as_str(), |option| option));
                choices += 1;
            }
            Fragment::Slot { .. } => {
                let stand_in = stand_ins.get(slots).copied().flatten();
                slots += 1;
                text.push_str(&stand_in.map_or_else(|| dialect.facts().probed(slots), ToOwned::to_owned));
            }
        }
        for c in text[start..].chars() {
            at = if c == '\n' { (at.0 + 1, 1) } else { (at.0, at.1 + 1) };
        }
    }
    (text, starts)
}

fn reads(statements: &[Sql]) -> bool {
    let [statement] = statements else { return false };
    is_read(statement) && statement.visit(&mut Reads).is_continue()
}

fn is_read(statement: &Sql) -> bool {
    match statement {
        Sql::Query(_) | Sql::ExplainTable { .. } => true,
        Sql::Explain { statement, .. } => is_read(statement),
        Sql::ShowTables { .. }
        | Sql::ShowColumns { .. }
        | Sql::ShowCreate { .. }
        | Sql::ShowDatabases { .. }
        | Sql::ShowSchemas { .. }
        | Sql::ShowStatus { .. }
        | Sql::ShowVariable { .. }
        | Sql::ShowVariables { .. }
        | Sql::ShowViews { .. }
        | Sql::ShowFunctions { .. }
        | Sql::ShowCollation { .. } => true,
        _ => false,
    }
}

/// Stops at anything inside a query that does more than read.
struct Reads;

impl Visitor for Reads {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Sql) -> ControlFlow<()> {
        if is_read(statement) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let changes = matches!(&*query.body, SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_));
        if changes || !query.locks.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        if select.into.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
