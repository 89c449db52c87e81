//! The statements that a script gives to `query` of an adapter, the requests that it sends to an
//! API, and where one of them is not written out.

use std::collections::BTreeMap;

use oxc::{
    ast::ast::{BindingPattern, CallExpression, Expression, IdentifierReference, Program, VariableDeclarator},
    ast_visit::{
        Visit,
        walk::{walk_call_expression, walk_variable_declarator},
    },
    semantic::{Scoping, SymbolId},
    span::GetSpan as _,
};

use super::{
    globals::{NamedPart, asked_adapter},
    named::AppPart,
};

/// The methods of what `ctx.api` gives.
const REQUESTS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];

/// The statements of a module, each with its adapter where the module says that, too, and its
/// requests.
pub(super) fn statements(program: &Program<'_>, scoping: &Scoping) -> Vec<NamedPart> {
    let mut constants = Constants { scoping, texts: BTreeMap::new(), adapters: BTreeMap::new() };
    constants.visit_program(program);
    let mut queries = Queries { constants, found: Vec::new() };
    queries.visit_program(program);
    queries.found
}

/// The variables that hold a text or an adapter.
struct Constants<'s> {
    scoping: &'s Scoping,
    texts: BTreeMap<SymbolId, String>,
    adapters: BTreeMap<SymbolId, (AppPart, String)>,
}

impl Constants<'_> {
    fn symbol(&self, name: &IdentifierReference<'_>) -> Option<SymbolId> {
        self.scoping.get_reference(name.reference_id.get()?).symbol_id()
    }

    fn text(&self, expression: &Expression<'_>) -> Option<String> {
        match expression {
            Expression::StringLiteral(text) => Some(text.value.to_string()),
            Expression::TemplateLiteral(text) => text.single_quasi().map(|text| text.to_string()),
            Expression::Identifier(name) => self.texts.get(&self.symbol(name)?).cloned(),
            _ => None,
        }
    }

    /// The name of an adapter, and whether it is asked for statements or for requests.
    fn adapter(&self, expression: &Expression<'_>) -> Option<(AppPart, String)> {
        match expression {
            Expression::CallExpression(call) => asked_adapter(call, self.scoping).map(|(part, name)| (part, name.value.to_string())),
            Expression::Identifier(name) => self.adapters.get(&self.symbol(name)?).cloned(),
            Expression::ParenthesizedExpression(inner) => self.adapter(&inner.expression),
            _ => None,
        }
    }
}

impl<'a> Visit<'a> for Constants<'_> {
    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (BindingPattern::BindingIdentifier(name), Some(value)) = (&it.id, &it.init)
            && let Some(symbol) = name.symbol_id.get()
        {
            if let Some(text) = self.text(value) {
                self.texts.insert(symbol, text);
            }
            if let Some(adapter) = self.adapter(value) {
                self.adapters.insert(symbol, adapter);
            }
        }
        walk_variable_declarator(self, it);
    }
}

struct Queries<'s> {
    constants: Constants<'s>,
    found: Vec<NamedPart>,
}

impl<'a> Visit<'a> for Queries<'_> {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Expression::StaticMemberExpression(member) = &it.callee
            && let Some(first) = it.arguments.first()
        {
            let method = member.property.name.as_str();
            let text = first.as_expression().and_then(|first| self.constants.text(first));
            let found = match (method, self.constants.adapter(&member.object)) {
                (method, Some((AppPart::Api, adapter))) if REQUESTS.contains(&method) => {
                    let path = text.map(|path| format!("{} {path}", method.to_uppercase()));
                    Some((AppPart::Request, AppPart::UnwrittenRequest, path, Some(adapter)))
                }
                ("query", adapter) => Some((AppPart::Statement, AppPart::UnwrittenStatement, text, adapter.map(|(_, name)| name))),
                _ => None,
            };
            if let Some((written, unwritten, text, adapter)) = found {
                let part = if text.is_some() { written } else { unwritten };
                self.found.push(NamedPart { part, name: text.unwrap_or_default(), adapter, span: first.span() });
            }
        }
        walk_call_expression(self, it);
    }
}
