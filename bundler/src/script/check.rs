//! What a module may not say, found in its syntax tree before anything is rewritten.

use oxc::{
    ast::ast::{
        ArrowFunctionExpression, CallExpression, Expression, ForOfStatement, Function, IdentifierReference, MemberExpression,
        PropertyDefinition, StaticBlock, TSExportAssignment, TSImportEqualsDeclaration, TSModuleReference, VariableDeclaration,
        VariableDeclarationKind,
    },
    ast_visit::{
        Visit,
        walk::{
            walk_arrow_function_expression, walk_call_expression, walk_for_of_statement, walk_function, walk_member_expression,
            walk_property_definition, walk_static_block, walk_variable_declaration,
        },
    },
    semantic::Scoping,
    span::{GetSpan, Span},
    syntax::scope::ScopeFlags,
};

use super::place::Finding;

/// Finds what the engine or the linker cannot do.
///
/// Code that comes out of a package (`from_packages`) is let off what often stands in branches that
/// never run, such as `module.exports`.
pub(super) fn check(program: &oxc::ast::ast::Program<'_>, scoping: &Scoping, from_packages: bool) -> Vec<Finding> {
    let mut checker = Checker { scoping, from_packages, functions: 0, findings: Vec::new() };
    checker.visit_program(program);
    checker.findings
}

/// Where a module must wait: the first `await` outside of every function.
pub(super) fn awaits(program: &oxc::ast::ast::Program<'_>) -> Option<Span> {
    let mut awaits = Awaits { functions: 0, found: None };
    awaits.visit_program(program);
    awaits.found
}

struct Checker<'s> {
    scoping: &'s Scoping,
    from_packages: bool,
    /// How many functions with their own `arguments` are open.
    functions: usize,
    findings: Vec<Finding>,
}

impl Checker<'_> {
    fn report(&mut self, span: Span, message: &str, help: &str) {
        self.findings.push(Finding::new(span, message, help));
    }

    /// The name, where it is that of a global.
    fn global<'e>(&self, expression: &'e Expression<'_>) -> Option<&'e str> {
        let Expression::Identifier(identifier) = expression else { return None };
        self.is_global(identifier).then(|| identifier.name.as_str())
    }

    fn is_global(&self, identifier: &IdentifierReference<'_>) -> bool {
        identifier.reference_id.get().is_none_or(|id| self.scoping.get_reference(id).symbol_id().is_none())
    }
}

impl<'a> Visit<'a> for Checker<'_> {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.functions += 1;
        walk_function(self, it, flags);
        self.functions -= 1;
    }

    // `arguments` in a class body is the parser's business.
    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.functions += 1;
        walk_property_definition(self, it);
        self.functions -= 1;
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if it.name == "arguments" && self.functions == 0 {
            self.report(it.span, "`arguments` means nothing outside of a function", "modules have no arguments: remove it");
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if !self.from_packages && self.global(&it.callee) == Some("require") {
            self.report(it.callee.span(), "`require` does not exist in scripts", "scripts are ES modules: write `import name from \"…\"`");
        }
        walk_call_expression(self, it);
    }

    fn visit_member_expression(&mut self, it: &MemberExpression<'a>) {
        if !self.from_packages
            && self.global(it.object()) == Some("module")
            && it.static_property_name().is_some_and(|name| name == "exports")
        {
            self.report(it.span(), "`module.exports` does not exist in scripts", "scripts are ES modules: write `export default …`");
        }
        walk_member_expression(self, it);
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        if !it.import_kind.is_type()
            && let TSModuleReference::ExternalModuleReference(_) = it.module_reference
        {
            self.report(it.span, "`import … = require(…)` is not supported", "write `import name from \"…\"`");
        }
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.report(it.span, "`export =` is not supported", "write `export default …`");
    }
}

struct Awaits {
    functions: usize,
    found: Option<Span>,
}

impl Awaits {
    fn waits(&mut self, span: Span) {
        if self.functions == 0 {
            self.found.get_or_insert(span);
        }
    }
}

impl<'a> Visit<'a> for Awaits {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.functions += 1;
        walk_function(self, it, flags);
        self.functions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.functions += 1;
        walk_arrow_function_expression(self, it);
        self.functions -= 1;
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.functions += 1;
        walk_static_block(self, it);
        self.functions -= 1;
    }

    fn visit_await_expression(&mut self, it: &oxc::ast::ast::AwaitExpression<'a>) {
        self.waits(it.span);
        oxc::ast_visit::walk::walk_await_expression(self, it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.kind == VariableDeclarationKind::AwaitUsing {
            self.waits(it.span);
        }
        walk_variable_declaration(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if it.r#await {
            self.waits(it.span);
        }
        walk_for_of_statement(self, it);
    }
}
