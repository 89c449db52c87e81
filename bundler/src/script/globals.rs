//! Names that a script uses and does not declare: globals that the engine does not have, adapters
//! behind `ctx.db` and `ctx.api`, tools that it suggests, addresses that it asks.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use millrace_core::url::UrlParts;
use oxc::{
    ast::ast::{
        Argument, BindingPattern, BindingProperty, CallExpression, Expression, IdentifierReference, Program, StaticMemberExpression,
        StringLiteral, UnaryExpression, UnaryOperator, VariableDeclarator,
    },
    ast_visit::{
        Visit,
        walk::{
            walk_binding_property, walk_call_expression, walk_static_member_expression, walk_unary_expression, walk_variable_declarator,
        },
    },
    semantic::{Scoping, SymbolFlags, SymbolId},
    span::Span,
};

use super::{named::AppPart, place::Finding};
use crate::names::nearest;

/// The globals of scripts, in order. A test compares them with the engine's.
pub static GLOBALS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("globals.txt").lines().collect());

/// What stands for a global of other platforms.
const INSTEAD: [(&str, &str); 10] = [
    ("Deno", "`ctx.env` has the variables that the app lists under `env`"),
    ("WebSocket", "use `fetch`"),
    ("XMLHttpRequest", "use `fetch`"),
    ("__dirname", "import a file to read it: `import data from \"./data.json\"`"),
    ("__filename", "import a file to read it: `import data from \"./data.json\"`"),
    ("alert", "use `console.log`"),
    ("document", "scripts run on the server, without a page"),
    ("exports", "scripts are ES modules: write `export`"),
    ("localStorage", "nothing is kept between calls: use a database"),
    ("window", "scripts run on the server, without a page; write `globalThis`"),
];

/// Names that the other checks tell of, where they are used in a way that fails.
const ELSEWHERE: [&str; 4] = ["Intl", "arguments", "module", "require"];

/// What a response has and a promise does not.
const OF_RESPONSES: [&str; 12] =
    ["arrayBuffer", "blob", "body", "bytes", "formData", "headers", "json", "ok", "status", "statusText", "text", "url"];

/// A part of the app that a script names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedPart {
    pub(super) part: AppPart,
    pub(super) name: String,
    /// For a statement: the adapter.
    pub(super) adapter: Option<String>,
    pub(super) span: Span,
}

/// What a module uses that others must have.
pub(super) fn used(program: &Program<'_>, scoping: &Scoping) -> (Vec<Finding>, Vec<NamedPart>) {
    let mut looked_for = TypeofNames(BTreeSet::new());
    looked_for.visit_program(program);
    let mut users = Users {
        scoping,
        looked_for: looked_for.0,
        apis: BTreeSet::new(),
        builders: BTreeSet::new(),
        fetched: BTreeMap::new(),
        findings: Vec::new(),
        named: Vec::new(),
    };
    users.visit_program(program);
    (users.findings, users.named)
}

/// The name of the adapter that a call asks for, and how: `ctx.db("name")`, `ctx.api("name")`.
pub(super) fn asked_adapter<'e, 'a>(call: &'e CallExpression<'a>, scoping: &Scoping) -> Option<(AppPart, &'e StringLiteral<'a>)> {
    let part = match &call.callee {
        Expression::StaticMemberExpression(member) if matches!(&member.object, Expression::Identifier(object) if object.name == "ctx") => {
            match member.property.name.as_str() {
                "db" => AppPart::Adapter,
                "api" => AppPart::Api,
                _ => return None,
            }
        }
        // `({ inputs }, { db }) => …`
        Expression::Identifier(name) if name.name == "db" && is_of_function(name, scoping) => AppPart::Adapter,
        _ => return None,
    };
    match call.arguments.first() {
        Some(Argument::StringLiteral(name)) => Some((part, name)),
        _ => None,
    }
}

/// Whether a name is that of a parameter, or of a `var`.
fn is_of_function(name: &IdentifierReference<'_>, scoping: &Scoping) -> bool {
    name.reference_id.get().is_some_and(|id| {
        let symbol = scoping.get_reference(id).symbol_id();
        symbol.is_some_and(|symbol| scoping.symbol_flags(symbol).contains(SymbolFlags::FunctionScopedVariable))
    })
}

/// The names behind `typeof`: a program that tests them knows that they may be absent.
struct TypeofNames(BTreeSet<String>);

impl<'a> Visit<'a> for TypeofNames {
    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator == UnaryOperator::Typeof
            && let Expression::Identifier(name) = &it.argument
        {
            self.0.insert(name.name.to_string());
        }
        walk_unary_expression(self, it);
    }
}

struct Users<'s> {
    scoping: &'s Scoping,
    looked_for: BTreeSet<String>,
    /// The variables that hold the member `api` of what a function gets: packages have parameters
    /// of that name, too.
    apis: BTreeSet<SymbolId>,
    /// The variables that hold what `response()` returned.
    builders: BTreeSet<SymbolId>,
    /// The variables that hold the promise of a `fetch`, and where it is.
    fetched: BTreeMap<SymbolId, Span>,
    findings: Vec<Finding>,
    named: Vec<NamedPart>,
}

impl Users<'_> {
    fn symbol(&self, name: &IdentifierReference<'_>) -> Option<SymbolId> {
        self.scoping.get_reference(name.reference_id.get()?).symbol_id()
    }

    /// `api("name")` of `({ inputs }, { api }) => …`.
    fn destructured_api(&self, call: &CallExpression<'_>) -> Option<AppPart> {
        let Expression::Identifier(name) = &call.callee else { return None };
        let is_one = is_of_function(name, self.scoping) && self.symbol(name).is_some_and(|symbol| self.apis.contains(&symbol));
        is_one.then_some(AppPart::Api)
    }

    /// The call of the global `fetch`, where it is one.
    fn fetch<'e, 'a>(&self, expression: &'e Expression<'a>) -> Option<&'e CallExpression<'a>> {
        match expression.get_inner_expression() {
            Expression::CallExpression(call) if self.is_fetch(call) => Some(call),
            _ => None,
        }
    }

    fn is_fetch(&self, call: &CallExpression<'_>) -> bool {
        matches!(&call.callee, Expression::Identifier(name) if name.name == "fetch" && self.symbol(name).is_none())
    }

    /// Whether it is what `response()` of `"millrace"` returned, or what a method of that returned.
    fn is_builder(&self, expression: &Expression<'_>) -> bool {
        let mut expression = expression;
        loop {
            match expression {
                Expression::Identifier(name) => return self.symbol(name).is_some_and(|symbol| self.builders.contains(&symbol)),
                Expression::CallExpression(call) => match &call.callee {
                    Expression::StaticMemberExpression(member) => expression = &member.object,
                    Expression::Identifier(name) if name.name == "response" => {
                        return self.symbol(name).is_some_and(|symbol| self.scoping.symbol_flags(symbol).is_import());
                    }
                    _ => return false,
                },
                _ => return false,
            }
        }
    }
}

impl<'a> Visit<'a> for Users<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let name = it.name.as_str();
        let is_free = it.reference_id.get().is_some_and(|id| {
            let reference = self.scoping.get_reference(id);
            reference.symbol_id().is_none() && reference.is_value()
        });
        if !is_free || GLOBALS.contains(&name) || ELSEWHERE.contains(&name) || self.looked_for.contains(name) {
            return;
        }
        let help = match INSTEAD.iter().find(|(other, _)| *other == name) {
            Some((_, instead)) => (*instead).to_owned(),
            None => match nearest(name, GLOBALS.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "declare it, or import it".to_owned(),
            },
        };
        self.findings.push(Finding::new(it.span, format!("`{name}` does not exist in scripts"), help));
    }

    fn visit_binding_property(&mut self, it: &BindingProperty<'a>) {
        if let BindingPattern::BindingIdentifier(name) = &it.value
            && it.key.static_name().is_some_and(|key| key == "api")
        {
            self.apis.extend(name.symbol_id.get());
        }
        walk_binding_property(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (BindingPattern::BindingIdentifier(name), Some(value)) = (&it.id, &it.init)
            && self.is_builder(value)
        {
            self.builders.extend(name.symbol_id.get());
        }
        if let (BindingPattern::BindingIdentifier(name), Some(value)) = (&it.id, &it.init)
            && let (Some(call), Some(symbol)) = (self.fetch(value), name.symbol_id.get())
            && !self.scoping.symbol_is_mutated(symbol)
        {
            self.fetched.insert(symbol, call.span);
        }
        walk_variable_declarator(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let suggests = || match &it.callee {
            Expression::StaticMemberExpression(member) => member.property.name == "suggest" && self.is_builder(&member.object),
            _ => false,
        };
        let asked = asked_adapter(it, self.scoping).map(|(part, _)| part);
        if let Some(Argument::StringLiteral(name)) = it.arguments.first()
            && let Some(part) = asked.or_else(|| self.destructured_api(it)).or_else(|| suggests().then_some(AppPart::Tool))
        {
            self.named.push(NamedPart { part, name: name.value.to_string(), adapter: None, span: name.span });
        }
        if self.is_fetch(it) {
            self.named.push(NamedPart {
                part: AppPart::Address,
                name: written_address(it.arguments.first()),
                adapter: None,
                span: it.span,
            });
        }
        walk_call_expression(self, it);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if OF_RESPONSES.contains(&it.property.name.as_str()) {
            let of_variable = match it.object.get_inner_expression() {
                Expression::Identifier(name) => self.symbol(name).and_then(|symbol| self.fetched.remove(&symbol)),
                _ => None,
            };
            if let Some(span) = of_variable.or_else(|| Some(self.fetch(&it.object)?.span)) {
                self.named.push(NamedPart { part: AppPart::UnawaitedFetch, name: String::new(), adapter: None, span });
            }
        }
        walk_static_member_expression(self, it);
    }
}

/// The URL of a `fetch` where it is written out at least as far as its host ends, else nothing.
fn written_address(argument: Option<&Argument<'_>>) -> String {
    match argument {
        Some(Argument::StringLiteral(url)) => url.value.to_string(),
        Some(Argument::TemplateLiteral(url)) => {
            let start = url.quasis.first().and_then(|quasi| quasi.value.cooked.as_ref()).map_or("", |text| text.as_str());
            let has_host = url.expressions.is_empty() || UrlParts::of(start).is_some_and(|url| !url.rest.is_empty());
            if has_host { start.to_owned() } else { String::new() }
        }
        _ => String::new(),
    }
}
