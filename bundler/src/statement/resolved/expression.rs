//! What expressions hold: columns, functions and queries.

use std::ops::ControlFlow;

use sqlparser::{
    ast::{
        AccessExpr, BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName,
        OneOrManyWithParens, Query, Spanned as _, Subscript, Value, Visit, Visitor,
    },
    tokenizer::Span,
};

use super::{
    facts::{Call, Concerns, Fact},
    names::{begin, last},
    resolver::Resolver,
    scope::Scope,
};
use crate::statement::rights::clickhouse::IN_A_NAME;

/// Functions of MySQL whose first argument is a unit, which the parser takes for a column.
const WITH_UNITS: [&str; 2] = ["timestampadd", "timestampdiff"];

impl Resolver<'_> {
    /// Looks at the columns, functions and queries of anything that holds expressions.
    pub(super) fn within(&mut self, node: &impl Visit, scope: &Scope<'_>) {
        let _ = node.visit(&mut Inner { resolver: self, scope, depth: 0, passed: Vec::new(), bound: Vec::new() });
    }

    /// Looks at the functions and queries of what can name columns of no table, such as the `WHERE`
    /// of a `SHOW`.
    pub(super) fn calls_within(&mut self, node: &impl Visit) {
        let queries = self.seen.queries;
        let facts = self.apart(|resolver| resolver.within(node, &Scope::default()));
        // A query in it has tables, whose doubts are those of any query.
        let has_query = self.seen.queries > queries;
        self.facts.extend(facts.into_iter().filter(|fact| has_query || !matches!(fact, Fact::Doubt { .. })));
    }

    /// A function that is called. `is_told` says that what it uses has been noted.
    fn call(&mut self, function: &Function, is_told: bool) {
        let first_text = first_text(&function.args).map(str::to_owned);
        self.facts.push(Fact::Call(Call { name: function.name.clone(), first_text, is_told }));
    }

    /// A function that is called in `FROM`.
    pub(super) fn called(&mut self, name: &ObjectName) {
        self.facts.push(Fact::Call(Call { name: name.clone(), first_text: None, is_told: false }));
    }

    /// A column, which can be qualified.
    pub(super) fn name(&mut self, parts: &[Ident], scope: &Scope<'_>) {
        match parts {
            [column] => self.unqualified(column, scope),
            parts => self.qualified(parts, scope),
        }
    }
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
    resolver: &'a mut Resolver<'k>,
    scope: &'a Scope<'a>,
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
        if self.resolver.dialect.facts().resolution.is_clickhouse {
            return self.function_of_clickhouse(function);
        }
        self.resolver.call(function, false);
        let FunctionArguments::List(list) = &function.args else { return };
        let name = last(&function.name).map(|ident| ident.value.to_ascii_lowercase()).unwrap_or_default();
        for (place, argument) in list.args.iter().enumerate() {
            let value = match argument {
                FunctionArg::Unnamed(value) | FunctionArg::Named { arg: value, .. } | FunctionArg::ExprNamed { arg: value, .. } => value,
            };
            match value {
                FunctionArgExpr::QualifiedWildcard(item) => drop(self.resolver.whole_item(item, self.scope)),
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
                    drop(self.resolver.whole_item(item, self.scope));
                }
            }
        }
        let named = self.resolver.special(&function.name, &arguments, self.scope);
        self.passed.extend(named.and_then(|at| arguments.get(at)).map(|argument| argument.span()));
        let name = last(&function.name).map(|ident| ident.value.to_ascii_lowercase()).unwrap_or_default();
        let is_told = named.is_some() || matches!(name.as_str(), "columns" | "hascolumnintable" | "dictisin" | "dicthas");
        self.resolver.call(function, is_told);
    }

    /// `a.b[1].c`: the parts before the first subscript are one name, and those after a dot are
    /// fields.
    fn access(&mut self, root: &Expr, chain: &[AccessExpr]) {
        let mut parts: Vec<Ident> = match root {
            Expr::Identifier(ident) => vec![ident.clone()],
            Expr::CompoundIdentifier(parts) => parts.clone(),
            _ => Vec::new(),
        };
        if let (true, [AccessExpr::Subscript(Subscript::Index { index }), ..]) =
            (self.resolver.dialect.facts().resolution.is_clickhouse, chain)
        {
            self.resolver.subscript(root, index, self.scope);
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
            self.resolver.name(&parts, self.scope);
        }
    }
}

impl Visitor for Inner<'_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.resolver.query(query, self.scope.parts, Some(self.scope));
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth > 0 || matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) && self.passed.contains(&expr.span()) {
            return ControlFlow::Continue(());
        }
        if self.resolver.dialect.facts().resolution.is_clickhouse {
            self.resolver.parts(expr, self.scope);
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
            Expr::InList { list, .. } if self.resolver.dialect.facts().resolution.is_clickhouse => {
                if let [Expr::Identifier(_) | Expr::CompoundIdentifier(_)] = list.as_slice() {
                    let is_query =
                        matches!(&list[0], Expr::Identifier(ident) if self.scope.parts.iter().any(|part| part.name == ident.value));
                    if !is_query {
                        self.resolver.unclear(IN_A_NAME);
                    }
                    self.passed.push(list[0].span());
                }
            }
            Expr::Identifier(ident) => self.resolver.unqualified(ident, self.scope),
            Expr::CompoundIdentifier(parts) => self.resolver.qualified(parts, self.scope),
            Expr::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain),
            Expr::Function(function) => self.function(function),
            Expr::QualifiedWildcard(item, _) => drop(self.resolver.whole_item(item, self.scope)),
            Expr::MatchAgainst { columns, .. } => {
                for column in columns {
                    let parts: Vec<Ident> = column.0.iter().filter_map(|part| part.as_ident().cloned()).collect();
                    self.resolver.name(&parts, self.scope);
                }
            }
            Expr::BinaryOp { op: BinaryOperator::PGCustomBinaryOperator(_), .. } => {
                self.resolver.doubt(Concerns::Everyone, begin(expr), "an operator of a schema is a function of it");
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
