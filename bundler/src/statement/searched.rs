//! Which columns a statement searches for what a caller sends, so that a presenter that hides such
//! a column can be warned of.
//!
//! Whoever may search a column can find its values out, a letter at a time, whether they are shown
//! or not. Comparisons for equality and order are not looked at: they are how rows are found by
//! their keys and their age. What the parser does not understand is not judged.

use std::ops::{ControlFlow, Range};

use sqlparser::{
    ast::{BinaryOperator, Expr, SelectItem, SetExpr, Statement as Sql, Visit as _, Visitor},
    parser::Parser,
};

use super::{dialect::Dialect, probe};
use crate::placeholder::{self, Piece};

/// Begins what stands for an input.
const MARK: &str = "millrace_input_";
/// Stands for any other value.
const OTHER: &str = "millrace_value";
/// Functions that look for a text in a text.
const FUNCTIONS: [&str; 14] = [
    "instr",
    "locate",
    "strpos",
    "position",
    "positioncaseinsensitive",
    "charindex",
    "contains",
    "starts_with",
    "startswith",
    "ends_with",
    "endswith",
    "match",
    "regexp_like",
    "glob",
];
/// How many bytes of text make one token at the least.
const BYTES_PER_TOKEN: usize = 2;

/// A column that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Searched {
    /// Its name.
    pub(crate) column: String,
    /// The input that it is searched for.
    pub(crate) input: String,
    /// Where it stands in the author's text.
    pub(crate) range: Range<usize>,
}

/// The columns that a statement searches for an input, without those that the result has under one
/// of the shown names.
pub(crate) fn searched(text: &str, dialect: Dialect, shown: &[&str]) -> Vec<Searched> {
    let (probed, inputs) = filled(text);
    if inputs.is_empty() {
        return Vec::new();
    }
    let look = || {
        let statements = Parser::parse_sql(dialect.parser(), &probed).unwrap_or_default();
        let [Sql::Query(query)] = statements.as_slice() else { return Vec::new() };
        let aliases = match &*query.body {
            SetExpr::Select(select) => aliases(&select.projection),
            _ => Vec::new(),
        };
        let mut walk = Walk::default();
        let _ = query.visit(&mut walk);
        let is_shown = |column: &str| {
            let named = |name: &str| shown.iter().any(|shown| shown.eq_ignore_ascii_case(name));
            named(column) || aliases.iter().any(|(of, alias)| named(alias) && of.iter().any(|of| of.eq_ignore_ascii_case(column)))
        };
        walk.found.retain(|(column, _)| !is_shown(column));
        walk.found
    };
    let found = probe::with_stack(text.len() / BYTES_PER_TOKEN, look).unwrap_or_default();
    let mut searched: Vec<Searched> = Vec::new();
    for (column, input) in found {
        let known = searched.iter().any(|known| known.column == column);
        if let (false, Some(input)) = (known, inputs.get(input)) {
            let range = place(text, &column);
            searched.push(Searched { column, input: input.clone(), range });
        }
    }
    searched
}

/// The statement with a literal in the place of each value, and the inputs, by the numbers of their
/// marks.
fn filled(text: &str) -> (String, Vec<String>) {
    let (mut filled, mut inputs) = (String::new(), Vec::new());
    for piece in placeholder::scan(text).0 {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Placeholder(placeholder) => {
                let word = match placeholder.path.as_slice() {
                    ["inputs", name, ..] if placeholder.filter.is_none() => {
                        inputs.push((*name).to_owned());
                        format!("{MARK}{}_", inputs.len() - 1)
                    }
                    _ => OTHER.to_owned(),
                };
                let is_quoted = filled.matches('\'').count() % 2 == 1;
                match (is_quoted, placeholder.filter) {
                    (true, _) | (_, Some("ident" | "raw")) => filled.push_str(&word),
                    (_, Some("keyword")) => filled.push_str("ASC"),
                    _ => filled.push_str(&format!("'{word}'")),
                }
            }
        }
    }
    (filled, inputs)
}

/// The columns behind each name that the result has for something else.
fn aliases(projection: &[SelectItem]) -> Vec<(Vec<String>, String)> {
    let alias = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { expr, alias } => Some((columns(expr), alias.value.clone())),
        _ => None,
    };
    projection.iter().filter_map(alias).collect()
}

#[derive(Default)]
struct Walk {
    /// Columns, with the numbers of inputs.
    found: Vec<(String, usize)>,
}

impl Visitor for Walk {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if searches(expr)
            && let Some(input) = marked(expr)
        {
            self.found.extend(columns(expr).into_iter().map(|column| (column, input)));
        }
        ControlFlow::Continue(())
    }
}

/// Whether a condition looks for a part of a text.
fn searches(expr: &Expr) -> bool {
    match expr {
        Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::SimilarTo { .. }
        | Expr::RLike { .. }
        | Expr::Position { .. }
        | Expr::MatchAgainst { .. } => true,
        Expr::BinaryOp { op, .. } => matches!(
            op,
            BinaryOperator::PGRegexMatch
                | BinaryOperator::PGRegexIMatch
                | BinaryOperator::PGRegexNotMatch
                | BinaryOperator::PGRegexNotIMatch
                | BinaryOperator::PGLikeMatch
                | BinaryOperator::PGILikeMatch
                | BinaryOperator::PGNotLikeMatch
                | BinaryOperator::PGNotILikeMatch
                | BinaryOperator::Regexp
                | BinaryOperator::Glob
                | BinaryOperator::Match
        ),
        Expr::Function(function) => {
            let name = function.name.to_string();
            FUNCTIONS.iter().any(|known| known.eq_ignore_ascii_case(&name))
        }
        _ => false,
    }
}

/// The number of the first input in an expression.
fn marked(expr: &Expr) -> Option<usize> {
    let text = expr.to_string();
    let rest = text.split_once(MARK)?.1;
    rest.split('_').next()?.parse().ok()
}

/// The columns that an expression names.
fn columns(expr: &Expr) -> Vec<String> {
    #[derive(Default)]
    struct Names(Vec<String>);
    impl Visitor for Names {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            let name = match expr {
                Expr::Identifier(name) => Some(name),
                Expr::CompoundIdentifier(names) => names.last(),
                _ => None,
            };
            if let Expr::MatchAgainst { columns, .. } = expr {
                let parts = columns.iter().filter_map(|name| name.0.last()?.as_ident());
                self.0.extend(parts.map(|name| name.value.clone()));
            }
            self.0.extend(name.map(|name| name.value.clone()).filter(|name| !name.starts_with(MARK) && name != OTHER));
            ControlFlow::Continue(())
        }
    }
    let mut names = Names::default();
    let _ = expr.visit(&mut names);
    names.0
}

/// Where a column stands in the conditions of a statement; the whole statement where it is not
/// found.
fn place(text: &str, column: &str) -> Range<usize> {
    let from = text.to_ascii_lowercase().find("where").unwrap_or(0);
    let is_part = |character: Option<char>| character.is_some_and(|character| character.is_alphanumeric() || character == '_');
    let found = text.match_indices(column).map(|(at, _)| at..at + column.len()).find(|range| {
        range.start >= from && !is_part(text[..range.start].chars().next_back()) && !is_part(text[range.end..].chars().next())
    });
    found.unwrap_or(0..text.len())
}

#[cfg(test)]
mod tests;
