//! The judgement of one parsed statement.
//!
//! It walks the statement query by query, so that each table is judged by the conditions of its own query. Whatever it passes over is
//! noticed: afterwards the tables and queries that it has judged are counted against those that are there.

use std::ops::ControlFlow;

use sqlparser::{
    ast::{BinaryOperator, DataType, Expr, Ident, ObjectName, Query, SetExpr, Spanned, Statement as Sql, Value, Visit, Visitor},
    tokenizer::Span,
};

use super::rule::{OPT_OUT, TenantRule, TenantTables, fold, last};
use crate::statement::{count::Count, dialect::Dialect, functions, shown::Location};

mod block;
mod join;
mod write;

/// Functions that read and write no table of the app, and change nothing about who the caller is, beside [`functions::is_known`].
const HARMLESS: [&str; 6] = ["currval", "current_setting", "lastval", "nextval", "pg_advisory_xact_lock", "pg_try_advisory_xact_lock"];
/// Functions of SQLite and its extensions that run SQL, or read and write files. It has no others that see tables.
const SQLITE_HARMFUL: [&str; 8] = ["define", "define_free", "edit", "eval", "load_extension", "readfile", "undefine", "writefile"];

/// Why a statement could cross tenants.
pub(super) struct Finding {
    /// Where; `None` for the whole of it.
    pub(super) at: Option<Location>,
    pub(super) message: String,
    pub(super) help: String,
}

/// The names that common table expressions give to their queries, where a table is looked for.
type Ctes<'c> = &'c [String];

/// Judges one statement.
pub(super) struct Analyzer<'r> {
    rule: &'r TenantRule,
    dialect: Dialect,
    /// Which of the parameters are the claim.
    claims: &'r [bool],
    found: Vec<Finding>,
    counted: Count,
}

impl<'r> Analyzer<'r> {
    pub(super) fn new(rule: &'r TenantRule, dialect: Dialect, claims: &'r [bool]) -> Self {
        Self { rule, dialect, claims, found: Vec::new(), counted: Count::default() }
    }

    pub(super) fn judge(mut self, statement: &Sql) -> Vec<Finding> {
        self.statement(statement, &[]);
        if self.found.is_empty() {
            let mut count = Count::default();
            let _ = statement.visit(&mut count);
            if count != self.counted {
                self.unknown(None, "it has a table in a place that is not understood");
            }
        }
        self.found
    }

    fn statement(&mut self, statement: &Sql, ctes: Ctes<'_>) {
        match statement {
            Sql::Query(query) => self.query(query, ctes),
            Sql::Insert(insert) => self.insert(insert, ctes),
            Sql::Update(update) => self.update(update, ctes),
            Sql::Delete(delete) => self.delete(delete, ctes),
            Sql::Merge(merge) => self.merge(merge, ctes),
            _ => self.unknown(None, "it is not a `SELECT`, `INSERT`, `UPDATE`, `DELETE` or `MERGE`"),
        }
    }

    fn query(&mut self, query: &Query, outer: Ctes<'_>) {
        self.counted.queries += 1;
        let Query { with, body, order_by, limit_clause, fetch, locks: _, for_clause, settings, format_clause, pipe_operators } = query;
        if for_clause.is_some() || settings.is_some() || format_clause.is_some() || !pipe_operators.is_empty() {
            self.unknown(None, "it has a clause that is not understood");
        }
        let mut ctes = outer.to_vec();
        for cte in with.iter().flat_map(|with| &with.cte_tables) {
            if cte.from.is_some() {
                self.unknown(at(&cte.alias.name), "it has a clause that is not understood");
            }
            let Some(name) = fold(&cte.alias.name, self.dialect) else {
                self.unknown(at(&cte.alias.name), "it names a part of itself by a variable");
                continue;
            };
            let is_recursive = with.as_ref().is_some_and(|with| with.recursive);
            if matches!(&self.rule.tables, TenantTables::Listed(tables) if tables.contains(&name)) {
                let message = format!("`{}` is a table of a tenant, and `WITH` gives its name to something else", cte.alias.name.value);
                self.find(at(&cte.alias.name), message, "Give the part of the statement another name.".to_owned());
            }
            let before = ctes.clone();
            ctes.push(name);
            // Only a recursive query sees itself; the others take the name for a table's.
            let seen = if is_recursive { &ctes } else { &before };
            self.query(&cte.query, seen);
        }
        self.body(body, &ctes);
        self.within(order_by, &ctes);
        self.within(limit_clause, &ctes);
        self.within(fetch, &ctes);
    }

    fn body(&mut self, body: &SetExpr, ctes: Ctes<'_>) {
        match body {
            SetExpr::Select(select) => self.select(select, ctes),
            SetExpr::Query(query) => self.query(query, ctes),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left, ctes);
                self.body(right, ctes);
            }
            SetExpr::Values(values) => self.within(values, ctes),
            SetExpr::Insert(statement) | SetExpr::Update(statement) | SetExpr::Delete(statement) | SetExpr::Merge(statement) => {
                self.statement(statement, ctes);
            }
            SetExpr::Table(_) => self.unknown(None, "`TABLE name` has no condition"),
        }
    }

    /// Judges the queries and functions of anything that holds expressions.
    fn within(&mut self, node: &impl Visit, ctes: Ctes<'_>) {
        let _ = node.visit(&mut Inner { analyzer: self, ctes, depth: 0 });
    }

    /// A function, which may see any table where it is not one of the database's own.
    fn call(&mut self, name: &ObjectName) {
        let Some((ident, folded)) = last(name).and_then(|ident| Some((ident, fold(ident, self.dialect)?))) else {
            return self.unknown(None, "it calls a function by a name that is not understood");
        };
        let is_harmless = match self.dialect {
            Dialect::Sqlite => !SQLITE_HARMFUL.contains(&folded.as_str()),
            _ => functions::is_known(name) || (name.0.len() == 1 && HARMLESS.contains(&folded.as_str())),
        };
        if !is_harmless && !self.rule.functions.contains(&folded) {
            let name = &ident.value;
            let message = format!("the build cannot tell whether the function `{name}` keeps to the caller's tenant");
            let help =
                format!("If it returns and changes nothing of another tenant, list it under `tenant.functions` of the adapter, {OPT_OUT}.");
            self.find(at(ident), message, help);
        }
    }

    /// Whether an expression is the claim and nothing else.
    fn is_claim(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Nested(inner) => self.is_claim(inner),
            Expr::Value(value) => {
                let Value::Placeholder(name) = &value.value else { return false };
                let number = name.get(1..).and_then(|number| number.parse::<usize>().ok());
                number.and_then(|number| self.claims.get(number.checked_sub(1)?)).is_some_and(|is_claim| *is_claim)
            }
            // What leaves a value as it is, or fails.
            Expr::Cast { expr, data_type, format: None, .. } if self.dialect == Dialect::Postgres => {
                let is_exact = matches!(
                    data_type,
                    DataType::Text
                        | DataType::Uuid
                        | DataType::Varchar(None)
                        | DataType::BigInt(None)
                        | DataType::Int8(None)
                        | DataType::Int(None)
                        | DataType::Integer(None)
                        | DataType::Int4(None)
                );
                is_exact && self.is_claim(expr)
            }
            _ => false,
        }
    }

    fn claim(&self) -> String {
        format!("{{{{ {} }}}}", self.rule.claim)
    }

    fn find(&mut self, at: Option<Location>, message: String, help: String) {
        self.found.push(Finding { at, message, help });
    }

    fn unknown(&mut self, at: Option<Location>, why: &str) {
        let message = format!("the build cannot tell whether the statement keeps to the caller's tenant: {why}");
        self.find(at, message, format!("Write the statement in another way, {OPT_OUT}."));
    }
}

/// Where a name stands.
fn at(ident: &Ident) -> Option<Location> {
    start(ident.span)
}

/// Where an expression begins.
fn begin(expression: &Expr) -> Option<Location> {
    start(expression.span())
}

fn start(span: Span) -> Option<Location> {
    (span.start.line > 0).then_some((span.start.line, span.start.column))
}

/// Finds the outermost queries of an expression, and the functions outside of them.
struct Inner<'a, 'r> {
    analyzer: &'a mut Analyzer<'r>,
    ctes: Ctes<'a>,
    depth: usize,
}

impl Visitor for Inner<'_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.analyzer.query(query, self.ctes);
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let (0, Expr::Function(function)) = (self.depth, expr) {
            self.analyzer.call(&function.name);
        }
        if let Expr::BinaryOp { op: BinaryOperator::PGCustomBinaryOperator(_), .. } = expr {
            self.analyzer.unknown(begin(expr), "an operator of a schema is a function of it");
        }
        ControlFlow::Continue(())
    }
}
