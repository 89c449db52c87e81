//! Which scripts change built-in objects.
//!
//! Scripts run where everything that outlives a call is frozen, and such a world is used again. A script that means to change a built-in
//! object, for a polyfill, gets a world of its own for each call. Which of the two is decided here, from the syntax tree and its resolved
//! names; isolation does not depend on it: where it is wrong, a frozen object refuses the write with a `TypeError`.
//!
//! A *built-in* is a global that the script does not declare, what is read from it, and a variable that holds one. These change it:
//!
//! - writing to a member of it, or deleting one: `Math.sum = …`, `delete Array.prototype.at`, `globalThis.x = …`;
//! - handing it to a function that changes its first argument: `Object.assign(Array.prototype, …)`, `Reflect.set(Math, …)`;
//! - handing a prototype or `globalThis` to any other function, or storing it in an object: what happens to it then cannot be told.
//!
//! Members that lead to what an object inherits (`x.constructor`, `x.__proto__`, `Object.getPrototypeOf(x)`) count as built-ins, too, unless
//! `x` is a class or function of the script.

use std::collections::BTreeMap;

use oxc::{
    allocator::Allocator,
    ast::{
        AstKind,
        ast::{
            Argument, AssignmentExpression, AssignmentTarget, BindingPattern, CallExpression, Expression, ForInStatement, ForOfStatement,
            ForStatementLeft, IdentifierReference, ObjectProperty, PropertyKey, ReturnStatement, SimpleAssignmentTarget, UnaryExpression,
            UnaryOperator, UpdateExpression, VariableDeclarator,
        },
    },
    ast_visit::{
        Visit,
        walk::{
            walk_assignment_expression, walk_call_expression, walk_for_in_statement, walk_for_of_statement, walk_object_property,
            walk_return_statement, walk_unary_expression, walk_update_expression, walk_variable_declarator,
        },
    },
    parser::Parser,
    semantic::{AstNodes, Scoping, SemanticBuilder, SymbolId},
    span::{GetSpan, SourceType, Span},
};

/// The first place in a program that changes a built-in object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The line, from 1.
    pub line: usize,
    /// What stands there, shortened.
    pub text: String,
}

/// Functions that change their first argument.
const CHANGES_FIRST: [&str; 10] = [
    "assign",
    "defineProperties",
    "defineProperty",
    "deleteProperty",
    "freeze",
    "preventExtensions",
    "seal",
    "set",
    "setPrototypeOf",
    "__defineGetter__",
];

/// Functions that only look at what they are given.
const ONLY_LOOKS: [&str; 16] = [
    "bind",
    "call",
    "create",
    "entries",
    "from",
    "getOwnPropertyDescriptor",
    "getOwnPropertyDescriptors",
    "getOwnPropertyNames",
    "getOwnPropertySymbols",
    "getPrototypeOf",
    "has",
    "hasOwn",
    "isPrototypeOf",
    "keys",
    "ownKeys",
    "values",
];

/// The names of the global object.
const GLOBAL_OBJECT: [&str; 3] = ["global", "globalThis", "self"];

/// Members that lead from any object to what it inherits.
const LEADS_TO_INHERITED: [&str; 2] = ["__proto__", "constructor"];

/// The first change, if there is one. A text that is not a program has none.
pub(super) fn first_change(program: &str) -> Option<Change> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, program, SourceType::cjs()).parse();
    if parsed.panicked || !parsed.diagnostics.is_empty() {
        return None;
    }
    let semantic = SemanticBuilder::new_compiler().with_build_nodes(true).build(&parsed.program).semantic;
    let mut aliases = BTreeMap::new();
    // Until no further variable is found that holds a built-in.
    loop {
        let mut search = Search { scoping: semantic.scoping(), nodes: semantic.nodes(), aliases, found: None, new_alias: false };
        search.visit_program(&parsed.program);
        if !search.new_alias {
            return search.found.map(|span| place(program, span));
        }
        aliases = search.aliases;
    }
}

fn place(program: &str, span: Span) -> Change {
    let line = program[..span.start as usize].matches('\n').count() + 1;
    let text = program[span.start as usize..span.end as usize].lines().next().unwrap_or_default();
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    Change { line, text: short }
}

/// A built-in object, or something that was read from one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BuiltIn {
    /// The member that was read last, or the global's own name.
    name: String,
    /// A prototype, or the global object: who has it can change what all scripts see.
    is_shared: bool,
}

struct Search<'a, 's> {
    scoping: &'s Scoping,
    nodes: &'s AstNodes<'a>,
    aliases: BTreeMap<SymbolId, BuiltIn>,
    found: Option<Span>,
    new_alias: bool,
}

impl<'a> Search<'a, '_> {
    fn changes(&mut self, span: Span) {
        let first = self.found.is_none_or(|found| span.start < found.start);
        if first {
            self.found = Some(span);
        }
    }

    fn symbol(&self, identifier: &IdentifierReference<'a>) -> Option<SymbolId> {
        identifier.reference_id.get().and_then(|id| self.scoping.get_reference(id).symbol_id())
    }

    fn identifier(&self, identifier: &IdentifierReference<'a>) -> Option<BuiltIn> {
        match self.symbol(identifier) {
            Some(symbol) => self.aliases.get(&symbol).cloned(),
            None if matches!(identifier.name.as_str(), "undefined" | "NaN" | "Infinity" | "arguments") => None,
            None => Some(BuiltIn { name: identifier.name.to_string(), is_shared: GLOBAL_OBJECT.contains(&identifier.name.as_str()) }),
        }
    }

    /// The built-in that an expression may be.
    fn built_in(&self, expression: &Expression<'a>) -> Option<BuiltIn> {
        match expression {
            Expression::Identifier(identifier) => self.identifier(identifier),
            Expression::ParenthesizedExpression(it) => self.built_in(&it.expression),
            Expression::ConditionalExpression(it) => self.either(&it.consequent, &it.alternate),
            Expression::LogicalExpression(it) => self.either(&it.left, &it.right),
            Expression::SequenceExpression(it) => it.expressions.last().and_then(|last| self.built_in(last)),
            Expression::AssignmentExpression(it) => self.built_in(&it.right),
            Expression::ChainExpression(it) => match it.expression.as_member_expression() {
                Some(member) => self.member(member.object(), member.static_property_name()),
                None => None,
            },
            Expression::CallExpression(it) => {
                let callee = it.callee.as_member_expression()?;
                let leads = callee.static_property_name() == Some("getPrototypeOf") && self.built_in(callee.object()).is_some();
                leads.then(|| BuiltIn { name: "prototype".to_owned(), is_shared: true })
            }
            other => {
                let member = other.as_member_expression()?;
                self.member(member.object(), member.static_property_name())
            }
        }
    }

    fn either(&self, one: &Expression<'a>, other: &Expression<'a>) -> Option<BuiltIn> {
        let (one, other) = (self.built_in(one), self.built_in(other));
        match (one, other) {
            (Some(one), Some(other)) => Some(if one.is_shared { one } else { other }),
            (one, other) => one.or(other),
        }
    }

    fn member(&self, object: &Expression<'a>, name: Option<&str>) -> Option<BuiltIn> {
        let name = name.unwrap_or_default();
        if self.built_in(object).is_some() {
            // What `globalThis` has is a global; a prototype is shared, what is read from it is a value of it.
            let is_shared = name == "prototype" || LEADS_TO_INHERITED.contains(&name) || GLOBAL_OBJECT.contains(&name);
            return Some(BuiltIn { name: name.to_owned(), is_shared });
        }
        let leads = LEADS_TO_INHERITED.contains(&name) || (name == "prototype" && !self.is_own(object));
        (leads && !self.is_own(object)).then(|| BuiltIn { name: name.to_owned(), is_shared: name != "constructor" })
    }

    /// Whether an expression is a class or a function of the script, or `this` of one.
    fn is_own(&self, expression: &Expression<'a>) -> bool {
        match expression {
            Expression::ThisExpression(_) | Expression::Super(_) => true,
            Expression::FunctionExpression(_) | Expression::ClassExpression(_) => true,
            Expression::ParenthesizedExpression(it) => self.is_own(&it.expression),
            Expression::Identifier(identifier) => self.symbol(identifier).is_some_and(|symbol| {
                let node = self.nodes.kind(self.scoping.symbol_declaration(symbol));
                match node {
                    AstKind::Function(_) | AstKind::Class(_) => true,
                    AstKind::VariableDeclarator(it) => it.init.as_ref().is_some_and(|init| match init {
                        Expression::Identifier(_) => false,
                        Expression::CallExpression(call) => makes_a_class(call),
                        other => self.is_own(other),
                    }),
                    _ => false,
                }
            }),
            other => other.as_member_expression().is_some_and(|member| {
                matches!(member.static_property_name(), Some("prototype" | "constructor")) && self.is_own(member.object())
            }),
        }
    }

    fn written(&mut self, object: &Expression<'a>, span: Span) {
        if self.built_in(object).is_some() {
            self.changes(span);
        }
    }

    fn target(&mut self, target: &AssignmentTarget<'a>, value: Option<&Expression<'a>>) {
        match target {
            AssignmentTarget::AssignmentTargetIdentifier(identifier) => match self.symbol(identifier) {
                Some(symbol) => {
                    if let Some(built_in) = value.and_then(|value| self.built_in(value)) {
                        self.alias(symbol, built_in);
                    }
                }
                None => self.changes(identifier.span),
            },
            AssignmentTarget::ArrayAssignmentTarget(it) => {
                for element in it.elements.iter().flatten() {
                    self.maybe_default(element);
                }
                if let Some(rest) = &it.rest {
                    self.target(&rest.target, None);
                }
            }
            AssignmentTarget::ObjectAssignmentTarget(it) => {
                for property in &it.properties {
                    if let oxc::ast::ast::AssignmentTargetProperty::AssignmentTargetPropertyProperty(property) = property {
                        self.maybe_default(&property.binding);
                    }
                }
                if let Some(rest) = &it.rest {
                    self.target(&rest.target, None);
                }
            }
            other => {
                if let Some(member) = other.as_member_expression() {
                    self.written(member.object(), member.span());
                }
            }
        }
    }

    fn maybe_default(&mut self, target: &oxc::ast::ast::AssignmentTargetMaybeDefault<'a>) {
        match target {
            oxc::ast::ast::AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(it) => self.target(&it.binding, Some(&it.init)),
            other => {
                if let Some(target) = other.as_assignment_target() {
                    self.target(target, None);
                }
            }
        }
    }

    fn head(&mut self, left: &ForStatementLeft<'a>) {
        if let Some(target) = left.as_assignment_target() {
            self.target(target, None);
        }
    }

    fn alias(&mut self, symbol: SymbolId, built_in: BuiltIn) {
        let known = self.aliases.get(&symbol);
        if known.is_none_or(|known| built_in.is_shared && !known.is_shared) {
            self.aliases.insert(symbol, built_in);
            self.new_alias = true;
        }
    }

    /// The variables of a pattern that is given a built-in.
    fn bound(&mut self, pattern: &BindingPattern<'a>, built_in: &BuiltIn) {
        match pattern {
            BindingPattern::BindingIdentifier(it) => {
                if let Some(symbol) = it.symbol_id.get() {
                    self.alias(symbol, built_in.clone());
                }
            }
            BindingPattern::ObjectPattern(it) => {
                for property in &it.properties {
                    let name = match &property.key {
                        PropertyKey::StaticIdentifier(name) => name.name.to_string(),
                        _ => String::new(),
                    };
                    let member = BuiltIn { is_shared: name == "prototype", name };
                    self.bound(&property.value, &member);
                }
            }
            BindingPattern::AssignmentPattern(it) => self.bound(&it.left, built_in),
            BindingPattern::ArrayPattern(_) => {}
        }
    }

    /// A value goes where it cannot be followed.
    fn escapes(&mut self, value: &Expression<'a>) {
        if self.built_in(value).is_some_and(|built_in| built_in.is_shared) {
            self.changes(value.span());
        }
    }
}

/// `(function () { … })()`: what compilers make of a class.
fn makes_a_class(call: &CallExpression<'_>) -> bool {
    matches!(call.callee.get_inner_expression(), Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_))
}

impl<'a> Visit<'a> for Search<'a, '_> {
    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        self.target(&it.left, Some(&it.right));
        if it.left.as_member_expression().is_some() {
            self.escapes(&it.right);
        }
        walk_assignment_expression(self, it);
    }

    fn visit_update_expression(&mut self, it: &UpdateExpression<'a>) {
        match &it.argument {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(_) => {}
            other => {
                if let Some(member) = other.as_member_expression() {
                    self.written(member.object(), it.span);
                }
            }
        }
        walk_update_expression(self, it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator == UnaryOperator::Delete {
            let member = match it.argument.get_inner_expression() {
                Expression::ChainExpression(chain) => chain.expression.as_member_expression(),
                other => other.as_member_expression(),
            };
            if let Some(member) = member {
                self.written(member.object(), it.span);
            }
        }
        walk_unary_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.head(&it.left);
        walk_for_of_statement(self, it);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.head(&it.left);
        walk_for_in_statement(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let Some(built_in) = it.init.as_ref().and_then(|init| self.built_in(init)) {
            self.bound(&it.id, &built_in);
        }
        walk_variable_declarator(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &oxc::ast::ast::FormalParameter<'a>) {
        if let Some(built_in) = it.initializer.as_ref().and_then(|value| self.built_in(value)) {
            self.bound(&it.pattern, &built_in);
        }
        oxc::ast_visit::walk::walk_formal_parameter(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let callee = self.built_in(&it.callee).map(|callee| callee.name);
        let name = callee
            .as_deref()
            .or_else(|| it.callee.get_inner_expression().as_member_expression().and_then(|callee| callee.static_property_name()));
        let (changes, looks) =
            name.map_or((false, false), |name| (callee.is_some() && CHANGES_FIRST.contains(&name), ONLY_LOOKS.contains(&name)));
        for (place, argument) in it.arguments.iter().enumerate() {
            let Some(value) = argument.as_expression() else { continue };
            let built_in = self.built_in(value);
            if changes && place == 0 && built_in.is_some() {
                self.changes(it.span);
            } else if !(looks || changes && place > 0) {
                self.escapes(value);
            }
        }
        walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &oxc::ast::ast::NewExpression<'a>) {
        for value in it.arguments.iter().filter_map(Argument::as_expression) {
            self.escapes(value);
        }
        oxc::ast_visit::walk::walk_new_expression(self, it);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        self.escapes(&it.value);
        walk_object_property(self, it);
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        if let Some(value) = &it.argument {
            self.escapes(value);
        }
        walk_return_statement(self, it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_scripts_change_nothing() {
        for script in [
            "({ inputs }) => ({ total: inputs.a + inputs.b })",
            "({ inputs }) => { const seen = new Map(); for (const { id } of inputs.rows) seen.set(id, (seen.get(id) ?? 0) + 1); return [...seen] }",
            "() => { const out = {}; out.total = 1; out['per day'] = 2; const list = []; list[0] = 1; list.length = 0; return out }",
            "() => { let n = 0; n += 1; n++; [n] = [2]; ({ n } = { n: 3 }); for (n of [1]); return n }",
            "(p) => Object.prototype.hasOwnProperty.call(p, 'a') ? Array.prototype.slice.call(p) : Object.keys(p)",
            "(p) => { delete p.secret; delete p[p.key]; return p }",
            "async ({ inputs }, ctx) => { const r = await fetch(inputs.url); return (await r.json()).items?.[0]?.name }",
            "() => { class A { #n = 0; static of = 1; add() { this.#n += 1; this.count = this.#n; return this } } return new A().add().count }",
            "() => { class Mine extends Error { constructor() { super(); this.name = 'Mine'; this.constructor.made++ } } throw new Mine('no') }",
            "() => ({ assign: 1, __proto__: null, globalThis: 2 })",
            "({ inputs }) => inputs.list.map(Number).filter(Boolean).concat(String(1), new Date(0), typeof Symbol)",
            "(p) => p instanceof Error || p?.constructor === Object || Number?.isFinite(p)",
            "(p) => { const counts = {}; for (const word of p.words) counts[word] = (counts[word] ?? 0) + 1; return counts }",
            "(p) => { p.list[p.i]++; const error = new Error(); error.name = 'Mine'; throw error }",
            "function A() {} A.prototype.m = 1; A.prototype = Object.create(Error.prototype); A.prototype.constructor = A; A.prototype.n = 2",
            "var B = (function () { function B() {} B.prototype.m = 1; return B })(); B.prototype.n = 1",
            "(Array) => { Array.prototype = 1; const Math = {}; Math.x = 1 }",
            "() => { const { max } = Math; const m = Math; return m.floor(max(1, 2)) }",
            "() => Object.assign({}, { a: 1 })",
            "() => { const p = Array.prototype; return p.slice.call([1]) }",
            "() => globalThis.crypto.randomUUID() + typeof globalThis",
            "() => Object.defineProperty({}, 'a', { get() { return 1 } })",
            "() => ({ m() { super.toString = 1 } }).m()",
            "this is not a program",
        ] {
            assert_eq!(first_change(script), None, "{script}");
        }
    }

    #[test]
    fn a_change_is_found_with_its_line() {
        for script in [
            "() => { Array.prototype.mine = 1 }",
            "() => { const a = Array.prototype; a.mine = 1 }",
            "() => { Array['prototype'].mine = 1 }",
            "() => { (Array.prototype).mine ??= 1 }",
            "() => { if (!Math.sum) Math.sum = () => 0 }",
            "() => { [Math.sum] = [1] }",
            "() => { ({ a: Math.sum, ...Math.rest } = { a: 1 }) }",
            "() => { for (Math.each of [1]); }",
            "() => { for (Math.each in {}); }",
            "() => { Math.count++ }",
            "() => { delete Math.max }",
            "() => { delete Array?.prototype.at }",
            "() => { console.log = () => {} }",
            "() => { globalThis.mine = 1 }",
            "() => { const g = globalThis; g.mine = 1 }",
            "() => { self.mine = 1 }",
            "() => { install(global) }",
            "() => { globalThis.self.mine = 1 }",
            "() => { globalThis.Array.prototype.mine = 1 }",
            "() => { Array = 1 }",
            "() => { Reflect.set(Math, 'a', 1) }",
            "() => { const m = Math; m.sum = 1 }",
            "() => { let m; m = Math; m.sum = 1 }",
            "() => { const { assign } = Object; assign(Array.prototype, {}) }",
            "(p) => { const list = p ? Array : Set; list.mine = 1 }",
            "(p) => { const m = p || Math; m.mine = 1 }",
            "(p, m = Math) => { m.mine = 1 }",
            "(p) => { p.constructor.mine = 1; delete p.constructor.of }",
            "() => { Object?.defineProperty(Math, 'a', {}) }",
            "() => { Object['defineProperty'](Math, 'a', {}) }",
            "(p) => { p.__proto__.mine = 1 }",
            "() => { Object.getPrototypeOf([]).mine = 1 }",
            "(root) => root.check(typeof globalThis == 'object' && globalThis)",
            "() => { extend(String.prototype, {}); function extend(a, b) { Object.assign(a, b) } }",
            "() => ({ all: globalThis })",
            "() => { return Array.prototype }",
        ] {
            let found = first_change(&format!("\n{script}"));
            assert_eq!(found.as_ref().map(|found| found.line), Some(2), "{script}: {found:?}");
        }
    }
}
