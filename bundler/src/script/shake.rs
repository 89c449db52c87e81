//! What each statement of a module declares, uses and does: so that what nobody uses of a package
//! is left out, and so that variables that calls assign are found.

use std::collections::{BTreeMap, BTreeSet};

use oxc::{
    ast::ast::{
        ArrowFunctionExpression, BindingIdentifier, Declaration, ExportDefaultDeclarationKind, Expression, Function, IdentifierReference,
        PropertyDefinition, Statement,
    },
    ast_visit::{Visit, walk},
    semantic::{Scoping, SymbolId},
    span::Span,
    syntax::scope::ScopeFlags,
};
use oxc_ecmascript::{
    GlobalContext,
    side_effects::{MayHaveSideEffects as _, MayHaveSideEffectsContext, PropertyReadSideEffects},
};

use super::module::Code;

/// One statement of a module, outside of every function.
#[derive(Debug, Default)]
pub(super) struct Fact {
    /// The names of the module that stand in it, at any depth.
    pub(super) uses: BTreeSet<SymbolId>,
    /// Running it does more than declaring names.
    pub(super) has_effects: bool,
    /// The variables of the module that functions in it assign.
    pub(super) assigned: Vec<(SymbolId, Span)>,
}

/// The statements of a module.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) statements: Vec<Fact>,
    /// The statements that declare a name.
    pub(super) declared: BTreeMap<SymbolId, Vec<usize>>,
    /// The statement of the default export.
    pub(super) default: Option<usize>,
}

/// Reads the statements of a module.
pub(super) fn facts(code: &Code<'_>) -> Facts {
    let mut facts = Facts::default();
    let globals = Globals(&code.scoping);
    for (index, statement) in code.program.body.iter().enumerate() {
        let mut reader = Reader { scoping: &code.scoping, functions: 0, declared: BTreeSet::new(), fact: Fact::default() };
        let has_effects = match statement {
            Statement::ImportDeclaration(_)
            | Statement::ExportAllDeclaration(_)
            | Statement::ExportNamedDeclaration(_)
            | Statement::ExportFromDeclaration(_) => {
                facts.statements.push(Fact::default());
                continue;
            }
            Statement::ExportDeclaration(it) => declaration_has_effects(&it.declaration, &globals),
            Statement::ExportDefaultDeclaration(it) => {
                facts.default = Some(index);
                match &it.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(_) | ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => false,
                    ExportDefaultDeclarationKind::ClassDeclaration(class) => class.may_have_side_effects(&globals),
                    other => other.as_expression().is_none_or(|value| value.may_have_side_effects(&globals)),
                }
            }
            other => match other.as_declaration() {
                Some(declaration) => declaration_has_effects(declaration, &globals),
                None => other.may_have_side_effects(&globals),
            },
        };
        reader.visit_statement(statement);
        reader.fact.has_effects = has_effects;
        for symbol in reader.declared {
            facts.declared.entry(symbol).or_default().push(index);
        }
        facts.statements.push(reader.fact);
    }
    facts
}

fn declaration_has_effects(declaration: &Declaration<'_>, globals: &Globals<'_>) -> bool {
    match declaration {
        Declaration::VariableDeclaration(_) | Declaration::FunctionDeclaration(_) | Declaration::ClassDeclaration(_) => {
            declaration.may_have_side_effects(globals)
        }
        // The transformer leaves none of them.
        _ => true,
    }
}

/// What is known of global names: what ECMAScript says of its own.
struct Globals<'s>(&'s Scoping);

impl<'a> GlobalContext<'a> for Globals<'_> {
    fn is_global_reference(&self, reference: &IdentifierReference<'a>) -> bool {
        reference.reference_id.get().is_some_and(|id| self.0.get_reference(id).symbol_id().is_none())
    }
}

impl<'a> MayHaveSideEffectsContext<'a> for Globals<'_> {
    fn annotations(&self) -> bool {
        true
    }

    fn manual_pure_functions(&self, _: &Expression<'_>) -> bool {
        false
    }

    fn property_read_side_effects(&self) -> PropertyReadSideEffects {
        PropertyReadSideEffects::All
    }

    fn unknown_global_side_effects(&self) -> bool {
        true
    }
}

struct Reader<'s> {
    scoping: &'s Scoping,
    /// How many functions are open.
    functions: usize,
    declared: BTreeSet<SymbolId>,
    fact: Fact,
}

impl Reader<'_> {
    fn is_of_module(&self, symbol: SymbolId) -> bool {
        self.scoping.symbol_scope_id(symbol) == self.scoping.root_scope_id()
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        // The name of a declaration belongs to the statement.
        if let Some(id) = &it.id {
            self.visit_binding_identifier(id);
        }
        self.functions += 1;
        walk::walk_function(self, it, flags);
        self.functions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.functions += 1;
        walk::walk_arrow_function_expression(self, it);
        self.functions -= 1;
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.functions += usize::from(!it.r#static);
        walk::walk_property_definition(self, it);
        self.functions -= usize::from(!it.r#static);
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        if let Some(symbol) = it.symbol_id.get()
            && self.is_of_module(symbol)
        {
            self.declared.insert(symbol);
        }
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let Some(id) = it.reference_id.get() else { return };
        let reference = self.scoping.get_reference(id);
        let Some(symbol) = reference.symbol_id().filter(|symbol| self.is_of_module(*symbol)) else { return };
        self.fact.uses.insert(symbol);
        if reference.is_write() && self.functions > 0 {
            self.fact.assigned.push((symbol, it.span));
        }
    }
}
