//! The tables that the columns of a query can be of.

use std::{collections::BTreeSet, ops::ControlFlow};

use sqlparser::{
    ast::{
        AccessExpr, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, OneOrManyWithParens, Query,
        Spanned as _, Subscript, Value, Visit, Visitor,
    },
    tokenizer::Span,
};

use super::{
    clickhouse::{self, IN_A_NAME},
    known::Known,
    model::{Named, Privilege, Rights, named, named_in},
};
use crate::statement::{Dialect, count::Count, fold, functions, last};

/// Functions of PostgreSQL and MySQL that everybody may call, beside those that [`functions::is_known`] knows.
const EVERYBODYS: [&str; 14] = [
    "current_setting",
    "get_lock",
    "last_insert_id",
    "lastval",
    "pg_advisory_xact_lock",
    "pg_notify",
    "pg_sleep",
    "pg_try_advisory_xact_lock",
    "release_lock",
    "row",
    "row_count",
    "set_config",
    "sleep",
    "values",
];
/// Functions of MySQL whose first argument is a unit, which the parser takes for a column.
const WITH_UNITS: [&str; 2] = ["timestampadd", "timestampdiff"];

/// The names of the columns of a result; `None` where they are not all known.
pub(super) type Output = Option<BTreeSet<String>>;

/// What a common table expression is called, and its columns.
pub(super) type Cte = (String, Output);

/// Something in `FROM`, or the target of a statement that writes.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The name that columns are qualified by.
    pub(super) name: String,
    /// The table; `None` for a query, a function, and what everybody may read.
    pub(super) table: Option<Named>,
    /// Its columns; `None` where they are not all known.
    pub(super) columns: Output,
}

/// The tables of one query, and those of the query around it.
#[derive(Clone, Default)]
pub(super) struct Scope<'s> {
    pub(super) items: Vec<Item>,
    /// Columns that `USING` has made one of two, which have been counted.
    pub(super) merged: BTreeSet<String>,
    /// Names that the query gives to expressions, which ClickHouse takes before those of columns.
    pub(super) aliases: BTreeSet<String>,
    pub(super) outer: Option<&'s Scope<'s>>,
}

/// Walks one statement.
pub(super) struct Walk<'k> {
    pub(super) dialect: Dialect,
    pub(super) known: &'k Known,
    pub(super) rights: Rights,
    pub(super) seen: Count,
    /// The statement is an `ALTER TABLE … UPDATE` of ClickHouse, written as an `UPDATE`.
    pub(super) is_mutation: bool,
}

impl<'k> Walk<'k> {
    pub(super) fn new(dialect: Dialect, known: &'k Known) -> Self {
        Self { dialect, known, rights: Rights::default(), seen: Count::default(), is_mutation: false }
    }

    pub(super) fn finish(self) -> (Rights, Count) {
        (self.rights, self.seen)
    }

    pub(super) fn unclear(&mut self, why: &str) {
        self.rights.unclear.insert(why.to_owned());
    }

    /// A column's name as the database tells names apart.
    pub(super) fn folded(&self, ident: &Ident) -> Option<String> {
        match self.dialect {
            // It tells capitals apart.
            Dialect::ClickHouse => fold(ident, self.dialect).map(|_| ident.value.clone()),
            _ => fold(ident, self.dialect),
        }
    }

    /// A column that is read or written, which the statement says to be of this table.
    pub(super) fn column_of(&mut self, table: &Named, privilege: Privilege, column: &str) {
        self.rights.need(table, privilege).names.insert(column.to_owned());
    }

    /// All columns of a table.
    pub(super) fn whole(&mut self, table: &Named, privilege: Privilege) {
        self.rights.need(table, privilege).all = true;
    }

    /// Looks at the columns, functions and queries of anything that holds expressions.
    pub(super) fn within(&mut self, node: &impl Visit, scope: &Scope<'_>, ctes: &[Cte]) {
        let _ = node.visit(&mut Inner { walk: self, scope, ctes, depth: 0, passed: Vec::new(), bound: Vec::new() });
    }

    /// A name that stands alone.
    pub(super) fn unqualified(&mut self, ident: &Ident, scope: &Scope<'_>) {
        let is_quoted = ident.quote_style.is_some();
        if !is_quoted && (ident.value.starts_with('@') || ident.value.eq_ignore_ascii_case("default")) {
            return;
        }
        // Numbers of ClickHouse, which the parser takes for names.
        if self.dialect == Dialect::ClickHouse && !is_quoted && ["inf", "nan"].iter().any(|number| ident.value.eq_ignore_ascii_case(number))
        {
            return;
        }
        let Some(name) = self.folded(ident) else { return self.unclear("it names a column by a variable") };
        self.find(&name, &ident.value, scope, Privilege::Select);
    }

    /// Looks for the table of a column, from the query outwards.
    pub(super) fn find(&mut self, name: &str, shown: &str, scope: &Scope<'_>, privilege: Privilege) {
        let mut candidates: Vec<Item> = Vec::new();
        let mut around = Some(scope);
        while let Some(scope) = around {
            if scope.merged.contains(name) || (candidates.is_empty() && scope.aliases.contains(name)) {
                return;
            }
            let has = |item: &&Item| item.columns.as_ref().is_some_and(|columns| columns.contains(name));
            let sure: Vec<&Item> = scope.items.iter().filter(has).collect();
            if !sure.is_empty() {
                candidates.extend(sure.into_iter().cloned());
                break;
            }
            // A row as a whole, which is a value of PostgreSQL.
            if let Some(item) = scope.items.iter().find(|item| self.dialect == Dialect::Postgres && item.name == name) {
                if let Some(table) = item.table.clone() {
                    self.whole(&table, privilege);
                }
                return;
            }
            candidates.extend(scope.items.iter().filter(|item| item.columns.is_none()).cloned());
            around = scope.outer;
        }
        match candidates.as_slice() {
            [] => self.unclear(&format!("`{shown}` is a column of none of its tables")),
            [Item { table, .. }] => {
                if let Some(table) = table {
                    self.column_of(table, privilege, name);
                }
            }
            several => {
                let tables: BTreeSet<&Named> = several.iter().filter_map(|item| item.table.as_ref()).collect();
                if tables.len() == 1 && several.iter().all(|item| item.table.is_some()) {
                    tables.iter().for_each(|table| self.column_of(table, privilege, name));
                    return;
                }
                for table in &tables {
                    self.whole(table, privilege);
                }
                if let Some(first) = several.first().filter(|_| !tables.is_empty()) {
                    let all: Vec<String> = several.iter().map(|item| format!("`{}`", item.name)).collect();
                    let example = format!("{}.{shown}", first.name);
                    self.rights.widened.insert(format!(
                        "`{shown}` can be a column of {}: qualify it, such as `{example}`, or ask the database by `--connect`",
                        all.join(" or of ")
                    ));
                }
            }
        }
    }

    /// A name of several parts: of a column and its table.
    fn qualified(&mut self, parts: &[Ident], scope: &Scope<'_>) {
        if self.dialect == Dialect::ClickHouse {
            return self.dotted(parts, scope);
        }
        let names: Option<Vec<String>> = parts.iter().map(|part| self.folded(part)).collect();
        let Some(names) = names else { return self.unclear("it names a column by a variable") };
        let (Some(column), Some(item)) = (names.last(), names.len().checked_sub(2).and_then(|at| names.get(at))) else { return };
        match find_item(item, scope) {
            Some(Item { table: Some(table), .. }) => self.column_of(&table, Privilege::Select, column),
            Some(_) => {}
            None => {
                let shown: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
                self.unclear(&format!("`{}` is a column of none of its tables", shown.join(".")));
            }
        }
    }

    /// `t.*`
    pub(super) fn whole_item(&mut self, name: &ObjectName, scope: &Scope<'_>) -> Output {
        let item = last(name).and_then(|ident| self.folded(ident)).and_then(|name| find_item(&name, scope));
        let Some(item) = item else {
            self.unclear(&format!("`{name}.*` is of none of its tables"));
            return None;
        };
        if let Some(table) = &item.table {
            self.whole(table, Privilege::Select);
        }
        item.columns
    }

    /// A function that is called.
    pub(super) fn call(&mut self, name: &ObjectName, args: Option<&FunctionArguments>) {
        let folded = last(name).and_then(|ident| self.folded(ident));
        let is_plain =
            name.0.len() == 1 || matches!(name.0.as_slice(), [schema, _] if schema.to_string().eq_ignore_ascii_case("pg_catalog"));
        if let (Some(folded), true, Dialect::Postgres) = (folded.as_deref(), is_plain, self.dialect)
            && let Some(privilege) = match folded {
                "nextval" | "currval" => Some(Privilege::Usage),
                "setval" => Some(Privilege::Update),
                _ => None,
            }
        {
            match args.and_then(first_text).and_then(|text| named_in(text, self.dialect)) {
                Some(sequence) => drop(self.rights.sequences.insert((sequence, privilege))),
                None => self.unclear(&format!("the sequence of `{folded}` is not written out")),
            }
            return;
        }
        if self.dialect == Dialect::ClickHouse {
            match last(name).filter(|_| name.0.len() == 1) {
                Some(ident) if clickhouse::is_known(&ident.value) => {}
                Some(ident) => drop(self.rights.functions.insert(Named { schema: None, name: ident.value.clone() })),
                None => self.unclear("it calls a function by a name that is not understood"),
            }
            return;
        }
        if functions::is_known(name) || (is_plain && folded.as_deref().is_some_and(|name| EVERYBODYS.contains(&name))) {
            return;
        }
        match named(name, self.dialect) {
            Some(name) => drop(self.rights.functions.insert(name)),
            None => self.unclear("it calls a function by a name that is not understood"),
        }
    }
}

fn find_item(name: &str, scope: &Scope<'_>) -> Option<Item> {
    let mut around = Some(scope);
    while let Some(scope) = around {
        if let Some(item) = scope.items.iter().find(|item| item.name == name) {
            return Some(item.clone());
        }
        around = scope.outer;
    }
    None
}

/// The first argument, where it is a text.
fn first_text(arguments: &FunctionArguments) -> Option<&str> {
    let FunctionArguments::List(list) = arguments else { return None };
    let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) = list.args.first() else { return None };
    text_of(expr)
}

/// A text that is written out, or stands for one.
pub(super) fn text_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        Expr::Cast { expr, .. } | Expr::Nested(expr) => text_of(expr),
        _ => None,
    }
}

/// Finds the columns and functions of an expression, and its outermost queries.
struct Inner<'a, 'k> {
    walk: &'a mut Walk<'k>,
    scope: &'a Scope<'a>,
    ctes: &'a [Cte],
    depth: usize,
    /// Where names stand that are no columns.
    passed: Vec<Span>,
    /// The parameters of the lambdas around.
    bound: Vec<Vec<String>>,
}

impl Inner<'_, '_> {
    /// Whether a name begins with the parameter of a lambda.
    fn is_bound(&self, parts: &[Ident]) -> bool {
        parts.first().is_some_and(|first| self.bound.iter().flatten().any(|name| *name == first.value))
    }

    fn function(&mut self, function: &Function) {
        if self.walk.dialect == Dialect::ClickHouse {
            return self.function_of_clickhouse(function);
        }
        self.walk.call(&function.name, Some(&function.args));
        let FunctionArguments::List(list) = &function.args else { return };
        let name = last(&function.name).map(|ident| ident.value.to_ascii_lowercase()).unwrap_or_default();
        for (place, argument) in list.args.iter().enumerate() {
            let value = match argument {
                FunctionArg::Unnamed(value) | FunctionArg::Named { arg: value, .. } | FunctionArg::ExprNamed { arg: value, .. } => value,
            };
            match value {
                FunctionArgExpr::QualifiedWildcard(item) => drop(self.walk.whole_item(item, self.scope)),
                FunctionArgExpr::Expr(Expr::Identifier(unit)) if place == 0 && WITH_UNITS.contains(&name.as_str()) => {
                    self.passed.push(unit.span);
                }
                _ => {}
            }
        }
    }

    fn function_of_clickhouse(&mut self, function: &Function) {
        let arguments: Vec<&Expr> = match &function.args {
            FunctionArguments::List(list) => list.args.iter().filter_map(expr_of).collect(),
            _ => Vec::new(),
        };
        if let FunctionArguments::List(list) = &function.args {
            for argument in &list.args {
                if let FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(item)) = argument {
                    drop(self.walk.whole_item(item, self.scope));
                }
            }
        }
        let named = self.walk.special(&function.name, &arguments, self.scope);
        self.passed.extend(named.and_then(|at| arguments.get(at)).map(|argument| argument.span()));
        let name = last(&function.name).map(|ident| ident.value.to_ascii_lowercase()).unwrap_or_default();
        if !(named.is_some() || matches!(name.as_str(), "columns" | "hascolumnintable" | "dictisin" | "dicthas")) {
            self.walk.call(&function.name, Some(&function.args));
        }
    }

    /// `a.b[1].c`: the parts before the first subscript are one name, and those after a dot are fields.
    fn access(&mut self, root: &Expr, chain: &[AccessExpr]) {
        let mut parts: Vec<Ident> = match root {
            Expr::Identifier(ident) => vec![ident.clone()],
            Expr::CompoundIdentifier(parts) => parts.clone(),
            _ => Vec::new(),
        };
        if let (Dialect::ClickHouse, [AccessExpr::Subscript(Subscript::Index { index }), ..]) = (self.walk.dialect, chain) {
            self.walk.subscript(root, index, self.scope);
        }
        let is_name = !parts.is_empty();
        let mut may_name = parts.len() == 1;
        for access in chain {
            match access {
                AccessExpr::Dot(Expr::Identifier(field)) => {
                    self.passed.push(field.span);
                    if may_name {
                        parts.push(field.clone());
                    }
                }
                _ => may_name = false,
            }
        }
        if is_name && !self.is_bound(&parts) {
            self.passed.push(root.span());
            match parts.as_slice() {
                [column] => self.walk.unqualified(column, self.scope),
                parts => self.walk.qualified(parts, self.scope),
            }
        }
    }
}

impl Visitor for Inner<'_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.walk.query(query, self.ctes, Some(self.scope));
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth > 0 || self.passed.contains(&expr.span()) && matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) {
            return ControlFlow::Continue(());
        }
        if self.walk.dialect == Dialect::ClickHouse {
            self.walk.parts(expr, self.scope);
        }
        match expr {
            Expr::Identifier(ident) if self.is_bound(std::slice::from_ref(ident)) => {}
            Expr::CompoundIdentifier(parts) if self.is_bound(parts) => {}
            Expr::Lambda(lambda) => {
                let names = match &lambda.params {
                    OneOrManyWithParens::One(one) => vec![one.name.value.clone()],
                    OneOrManyWithParens::Many(several) => several.iter().map(|one| one.name.value.clone()).collect(),
                };
                self.bound.push(names);
            }
            // The name of a table may stand there.
            Expr::InList { list, .. } if self.walk.dialect == Dialect::ClickHouse => {
                if let [Expr::Identifier(_) | Expr::CompoundIdentifier(_)] = list.as_slice() {
                    let is_query = matches!(&list[0], Expr::Identifier(ident) if self.ctes.iter().any(|(cte, _)| *cte == ident.value));
                    if !is_query {
                        self.walk.unclear(IN_A_NAME);
                    }
                    self.passed.push(list[0].span());
                }
            }
            Expr::Identifier(ident) => self.walk.unqualified(ident, self.scope),
            Expr::CompoundIdentifier(parts) => self.walk.qualified(parts, self.scope),
            Expr::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain),
            Expr::Function(function) => self.function(function),
            Expr::QualifiedWildcard(item, _) => drop(self.walk.whole_item(item, self.scope)),
            Expr::MatchAgainst { columns, .. } => {
                for column in columns {
                    let parts: Vec<Ident> = column.0.iter().filter_map(|part| part.as_ident().cloned()).collect();
                    match parts.as_slice() {
                        [one] => self.walk.unqualified(one, self.scope),
                        parts => self.walk.qualified(parts, self.scope),
                    }
                }
            }
            Expr::BinaryOp { op: sqlparser::ast::BinaryOperator::PGCustomBinaryOperator(_), .. } => {
                self.walk.unclear("an operator of a schema is a function of it");
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth == 0 && matches!(expr, Expr::Lambda(_)) {
            self.bound.pop();
        }
        ControlFlow::Continue(())
    }
}

/// The expression that an argument is.
pub(super) fn expr_of(argument: &FunctionArg) -> Option<&Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    }
}
