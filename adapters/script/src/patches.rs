//! Which scripts may change built-in objects, told by their text.
//!
//! Such a script needs a world whose built-ins can be changed, and which is compared with what it was after each call. Any other
//! runs where they are frozen. Nothing depends on this being right: a script that is taken for harmless and is not gets a `TypeError`
//! from a frozen object. So it is a matter of not refusing what works elsewhere, and it errs towards [`BuiltIns::Watched`]:
//!
//! - `globalThis` and `Reflect`; functions that change objects or lead to prototypes: `Object.assign`, `defineProperty`, `getPrototypeOf`, …;
//! - `X.prototype`, unless one of its members is read (`Object.prototype.hasOwnProperty.call(…)`);
//! - writes to what may be a built-in by its name: `Math.sum = …`, `console.log = …`, `delete Array.x`, `x.constructor.y = …`;
//! - a built-in that gets another name: `const m = Math`, `const { assign } = Object`, `{ Array }`. To call it, read of it, compare it or pass
//!   it on is no such thing: `new Map()`, `list.map(Number)`;
//! - writes of a name that objects inherit, which a frozen prototype refuses them for themselves as well: `this.name = …`,
//!   `counts[word] = …` where `word` may be `constructor`.

use std::ops::ControlFlow;

use boa_engine::{
    ast::{
        Expression, Script,
        expression::{
            Call, Identifier, Optional,
            access::{PropertyAccess, PropertyAccessField, SimplePropertyAccess},
            literal::{LiteralKind, PropertyDefinition},
            operator::{Binary, Unary, Update, assign::AssignTarget, binary::BinaryOp, unary::UnaryOp, update::UpdateTarget},
        },
        function::{ClassDeclaration, ClassElement, ClassExpression, FunctionExpression},
        pattern::{ArrayPatternElement, ObjectPatternElement},
        statement::iteration::IterableLoopInitializer,
        visitor::{VisitWith, Visitor},
    },
    interner::{Interner, Sym},
};

use crate::baseline::BuiltIns;

/// Objects that lead to all others, and change them.
const OBJECTS: [&str; 2] = ["globalThis", "Reflect"];

/// Properties that lead to prototypes, and functions that change what they are given.
const PROPERTIES: [&str; 8] = [
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "assign",
    "defineProperties",
    "defineProperty",
    "getPrototypeOf",
    "setPrototypeOf",
];

/// The built-ins that a world of the other kind watches, by their global names.
const BUILT_INS: [&str; 27] = [
    "AggregateError",
    "Array",
    "BigInt",
    "Boolean",
    "Date",
    "Error",
    "EvalError",
    "Function",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "Number",
    "Object",
    "Promise",
    "RangeError",
    "ReferenceError",
    "RegExp",
    "Set",
    "String",
    "Symbol",
    "SyntaxError",
    "TypeError",
    "URIError",
    "WeakMap",
    "WeakSet",
    "console",
];

/// The property that leads from a class to what its objects inherit.
const PROTOTYPE: &str = "prototype";
/// The property that leads from what is inherited to the class.
const CONSTRUCTOR: &str = "constructor";

/// What objects, functions, errors and promises inherit, and dates where it is often replaced.
const INHERITED: [&str; 18] = [
    "__lookupGetter__",
    "__lookupSetter__",
    "apply",
    "bind",
    "call",
    "catch",
    "constructor",
    "finally",
    "hasOwnProperty",
    "isPrototypeOf",
    "message",
    "name",
    "propertyIsEnumerable",
    "then",
    "toJSON",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// The built-ins that a program needs.
pub(crate) fn needed(script: &Script, interner: &Interner) -> BuiltIns {
    match script.visit_with(&mut Search { interner }) {
        ControlFlow::Continue(()) => BuiltIns::Frozen,
        ControlFlow::Break(Patch) => BuiltIns::Watched,
    }
}

/// Found.
struct Patch;

/// The name in a property access.
enum Name {
    Known(Sym),
    Number,
    /// It is computed.
    Unknown,
}

fn name_of(field: &PropertyAccessField) -> Name {
    let expression = match field {
        PropertyAccessField::Const(name) => return Name::Known(name.sym()),
        PropertyAccessField::Expr(expression) => expression.flatten(),
    };
    let Expression::Literal(literal) = expression else { return Name::Unknown };
    match literal.kind() {
        LiteralKind::String(name) => Name::Known(*name),
        LiteralKind::Int(_) | LiteralKind::Num(_) => Name::Number,
        _ => Name::Unknown,
    }
}

struct Search<'a> {
    interner: &'a Interner,
}

impl Search<'_> {
    fn is(&self, symbol: Sym, names: &[&str]) -> bool {
        self.interner.resolve(symbol).and_then(|name| name.utf8().map(|name| names.contains(&name))).unwrap_or(false)
    }

    /// Whether a name is that of a built-in, as far as that can be seen: one that is written like a class, or one of the few others.
    fn is_global(&self, expression: &Expression) -> bool {
        let Expression::Identifier(name) = expression.flatten() else { return false };
        let Some(name) = self.interner.resolve(name.sym()).and_then(|name| name.utf8()) else { return false };
        name.starts_with(|first: char| first.is_uppercase()) || matches!(name, "console" | "crypto" | "performance")
    }

    fn is_member(&self, expression: &Expression, name: &str) -> bool {
        let Expression::PropertyAccess(PropertyAccess::Simple(access)) = expression.flatten() else { return false };
        matches!(name_of(access.field()), Name::Known(known) if self.is(known, &[name]))
    }

    /// An expression in a place where a built-in is used and nothing else.
    fn used(&mut self, expression: &Expression) -> ControlFlow<Patch> {
        match expression.flatten() {
            Expression::Identifier(name) => self.visit_identifier(name),
            other => self.visit_expression(other),
        }
    }

    /// A name that is written to.
    fn written(&self, field: &PropertyAccessField) -> ControlFlow<Patch> {
        match name_of(field) {
            Name::Known(name) if !self.is(name, &INHERITED) => ControlFlow::Continue(()),
            Name::Number => ControlFlow::Continue(()),
            Name::Known(_) | Name::Unknown => ControlFlow::Break(Patch),
        }
    }

    /// A property that is written to.
    fn write(&mut self, access: &PropertyAccess) -> ControlFlow<Patch> {
        match access {
            PropertyAccess::Simple(access) => {
                self.written(access.field())?;
                self.change(access)
            }
            PropertyAccess::Super(access) => {
                self.written(access.field())?;
                self.visit_property_access_field(access.field())
            }
            PropertyAccess::Private(access) => self.visit_private_property_access(access),
        }
    }

    fn class<'ast>(
        &mut self,
        base: Option<&'ast Expression>,
        constructor: Option<&'ast FunctionExpression>,
        elements: &'ast [ClassElement],
    ) -> ControlFlow<Patch> {
        base.map_or(ControlFlow::Continue(()), |base| self.used(base))?;
        constructor.map_or(ControlFlow::Continue(()), |constructor| self.visit_function_expression(constructor))?;
        elements.iter().try_for_each(|element| self.visit_class_element(element))
    }

    /// A property that is written to or deleted, whatever its name.
    fn change(&mut self, access: &SimplePropertyAccess) -> ControlFlow<Patch> {
        if self.is_global(access.target()) || self.is_member(access.target(), CONSTRUCTOR) {
            return ControlFlow::Break(Patch);
        }
        self.visit_expression(access.target())?;
        self.visit_property_access_field(access.field())
    }
}

impl<'ast> Visitor<'ast> for Search<'_> {
    type BreakTy = Patch;

    fn visit_expression(&mut self, node: &'ast Expression) -> ControlFlow<Patch> {
        match node {
            // What holds it now is another name of it.
            Expression::Identifier(name) if self.is(name.sym(), &BUILT_INS) => ControlFlow::Break(Patch),
            _ => node.visit_with(self),
        }
    }

    fn visit_property_definition(&mut self, node: &'ast PropertyDefinition) -> ControlFlow<Patch> {
        match node {
            PropertyDefinition::IdentifierReference(name) if self.is(name.sym(), &BUILT_INS) => ControlFlow::Break(Patch),
            _ => node.visit_with(self),
        }
    }

    fn visit_call(&mut self, node: &'ast Call) -> ControlFlow<Patch> {
        self.used(node.function())?;
        node.args().iter().try_for_each(|argument| self.used(argument))
    }

    fn visit_optional(&mut self, node: &'ast Optional) -> ControlFlow<Patch> {
        self.used(node.target())?;
        node.chain().iter().try_for_each(|operation| self.visit_optional_operation(operation))
    }

    fn visit_binary(&mut self, node: &'ast Binary) -> ControlFlow<Patch> {
        if matches!(node.op(), BinaryOp::Logical(_) | BinaryOp::Comma) {
            return node.visit_with(self);
        }
        self.used(node.lhs())?;
        self.used(node.rhs())
    }

    fn visit_class_declaration(&mut self, node: &'ast ClassDeclaration) -> ControlFlow<Patch> {
        self.class(node.super_ref(), node.constructor(), node.elements())
    }

    fn visit_class_expression(&mut self, node: &'ast ClassExpression) -> ControlFlow<Patch> {
        self.class(node.super_ref(), node.constructor(), node.elements())
    }

    fn visit_identifier(&mut self, node: &'ast Identifier) -> ControlFlow<Patch> {
        if self.is(node.sym(), &OBJECTS) { ControlFlow::Break(Patch) } else { ControlFlow::Continue(()) }
    }

    fn visit_property_access_field(&mut self, field: &'ast PropertyAccessField) -> ControlFlow<Patch> {
        match name_of(field) {
            Name::Known(name) if self.is(name, &PROPERTIES) || self.is(name, &[PROTOTYPE]) => ControlFlow::Break(Patch),
            _ => field.visit_with(self),
        }
    }

    fn visit_simple_property_access(&mut self, node: &'ast SimplePropertyAccess) -> ControlFlow<Patch> {
        match node.target().flatten() {
            // `X.prototype.y`, read.
            Expression::PropertyAccess(PropertyAccess::Simple(inner)) if self.is_member(node.target(), PROTOTYPE) => {
                self.used(inner.target())?;
            }
            target => self.used(target)?,
        }
        self.visit_property_access_field(node.field())
    }

    fn visit_assign_target(&mut self, node: &'ast AssignTarget) -> ControlFlow<Patch> {
        match node {
            AssignTarget::Identifier(name) => self.visit_identifier(name),
            AssignTarget::Access(access) => self.write(access),
            AssignTarget::Pattern(pattern) => self.visit_pattern(pattern),
        }
    }

    fn visit_update(&mut self, node: &'ast Update) -> ControlFlow<Patch> {
        match node.target() {
            UpdateTarget::Identifier(name) => self.visit_identifier(name),
            UpdateTarget::PropertyAccess(access) => self.write(access),
        }
    }

    fn visit_unary(&mut self, node: &'ast Unary) -> ControlFlow<Patch> {
        match node.target().flatten() {
            Expression::PropertyAccess(PropertyAccess::Simple(access)) if node.op() == UnaryOp::Delete => self.change(access),
            target => self.used(target),
        }
    }

    fn visit_object_pattern_element(&mut self, node: &'ast ObjectPatternElement) -> ControlFlow<Patch> {
        match node {
            ObjectPatternElement::AssignmentPropertyAccess { access, .. }
            | ObjectPatternElement::AssignmentRestPropertyAccess { access } => self.write(access)?,
            _ => {}
        }
        node.visit_with(self)
    }

    fn visit_array_pattern_element(&mut self, node: &'ast ArrayPatternElement) -> ControlFlow<Patch> {
        match node {
            ArrayPatternElement::PropertyAccess { access, .. } | ArrayPatternElement::PropertyAccessRest { access } => {
                self.write(access)?
            }
            _ => {}
        }
        node.visit_with(self)
    }

    fn visit_iterable_loop_initializer(&mut self, node: &'ast IterableLoopInitializer) -> ControlFlow<Patch> {
        match node {
            IterableLoopInitializer::Access(access) => self.write(access),
            _ => node.visit_with(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{baseline::WATCHED, plan::Plan};

    #[test]
    fn every_object_that_is_watched_is_known_by_its_name() {
        let names = WATCHED.split(|character: char| !character.is_alphanumeric() && character != '.').filter(|path| !path.is_empty());
        let unknown: Vec<&str> = names
            .map(|path| path.split('.').next().unwrap_or(path))
            .filter(|name| !BUILT_INS.contains(name) && !OBJECTS.contains(name))
            .collect();
        assert_eq!(unknown, [""; 0]);
    }

    #[test]
    fn most_scripts_change_nothing_of_the_engine() {
        for script in [
            "({ inputs }) => ({ total: inputs.a + inputs.b })",
            "({ inputs }) => { const seen = new Map(); for (const { id } of inputs.rows) seen.set(id, (seen.get(id) ?? 0) + 1); return [...seen] }",
            "({ inputs }) => inputs.rows.map((row, index) => ({ ...row, index, first: inputs.rows[index].id }))",
            "() => { const out = {}; out.total = 1; out['per day'] = 2; const list = []; list[0] = 1; list.length = 0; return out }",
            "() => { let n = 0; n += 1; n++; [n] = [2]; ({ n } = { n: 3 }); for (n of [1]); return n }",
            "(p) => Object.prototype.hasOwnProperty.call(p, 'a') ? Array.prototype.slice.call(p) : Object.keys(p)",
            "(p) => { delete p.secret; delete p[p.key]; return p }",
            "async ({ inputs }, ctx) => { const r = await fetch(inputs.url); return (await r.json()).items?.[0]?.name }",
            "() => { class A { #n = 0; static of = 1; name = 'x'; add() { this.#n += 1; this.count = this.#n; return this } } return new A().add().count }",
            "() => { class Mine extends Error { name = 'Mine' } throw new Mine('no') }",
            "() => ({ assign: 1, __proto__: null, globalThis: 2 })",
            "({ inputs }) => inputs.list.map(Number).filter(Boolean).concat(String(1), new Date(0), typeof Symbol)",
            "(p) => p instanceof Error || p?.constructor === Object || Number?.isFinite(p)",
            "() => { class A extends Map {} const B = class extends Set {}; return [new A(), new B()].length }",
        ] {
            assert_eq!(Plan::new(script).built_ins(), BuiltIns::Frozen, "{script}");
        }
    }

    #[test]
    fn a_script_that_may_change_it_is_found() {
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
            "() => { console.log = () => {} }",
            "() => { globalThis.mine = 1 }",
            "() => { const g = globalThis; g.mine = 1 }",
            "() => { Reflect.set(Math, 'a', 1) }",
            "() => Object.assign({}, { a: 1 })",
            "() => { const m = Math; m.sum = 1 }",
            "() => { const { assign } = Object; assign({}, {}) }",
            "(p) => { const list = p ? Array : [Set]; list.mine = 1 }",
            "() => { const all = { Math, set: Set }; all.Math.mine = 1 }",
            "(p) => { const m = p || Math; m.mine = 1 }",
            "(p, m = Math) => { m.mine = 1 }",
            "(p) => { p.constructor.mine = 1; delete p.constructor.of }",
            "() => { Object?.defineProperty(Math, 'a', {}) }",
            "() => { Object['defineProperty'](Math, 'a', {}) }",
            "(p) => { p.__proto__.mine = 1 }",
            "() => { Object.getPrototypeOf([]).mine = 1 }",
            "(p) => { const counts = {}; for (const word of p.words) counts[word] = (counts[word] ?? 0) + 1; return counts }",
            "(p) => { p.list[p.i]++ }",
            "() => { const error = new Error(); error.name = 'Mine'; throw error }",
            "() => { class Mine extends Error { constructor() { super(); this.name = 'Mine' } } throw new Mine() }",
            "() => ({ m() { super.toString = 1 } }).m()",
            "function A() {} A.prototype.m = 1",
            "this is no program",
        ] {
            assert_eq!(Plan::new(script).built_ins(), BuiltIns::Watched, "{script}");
        }
    }
}
