//! Modules of packages as modules of ECMAScript: CommonJS, `import()` of a literal, and `process.env.NODE_ENV`.
//!
//! A CommonJS module becomes a module whose default export is a function: the first call runs the module, every call returns its exports.
//! `require("x")` becomes a call of such a function. What replaces a text is as long as the text, and what is put before it is one line:
//! places in the module are those of its file, one line later.
//!
//! What joins modules of both kinds is made of small modules of our own; see [`Bridge`].

use std::{collections::BTreeSet, path::Path};

use oxc::{
    allocator::Allocator,
    ast::ast::{
        Argument, AssignmentExpression, AssignmentTarget, BinaryOperator, CallExpression, ConditionalExpression, Expression,
        IdentifierReference, IfStatement, ImportExpression, LogicalExpression, LogicalOperator, MemberExpression, ObjectPropertyKind,
        TryStatement, UnaryExpression, UnaryOperator,
    },
    ast_visit::{Visit, walk},
    parser::{ParseOptions, Parser},
    semantic::{Scoping, SemanticBuilder},
    span::{GetSpan, SourceType, Span},
};

use super::node;

/// Where a load leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Module,
    /// The package says that there is nothing in it here.
    Empty,
    /// It stays what it is, and fails when it runs.
    Nowhere,
}

/// How a module loads another, beside `import … from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Load {
    /// `require("x")`
    Require,
    /// `import("x")`
    Import,
}

/// One load.
#[derive(Clone, Debug)]
pub(super) struct Loaded {
    pub(super) kind: Load,
    pub(super) specifier: String,
    /// Of the whole expression.
    span: Span,
    /// Of the specifier.
    pub(super) at: Span,
    /// It is in a `try`, so the module does without.
    pub(super) is_tried: bool,
}

/// What a file of a package says.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) is_common_js: bool,
    pub(super) loads: Vec<Loaded>,
    /// The names that it seems to export, where it is CommonJS.
    pub(super) exports: BTreeSet<String>,
    /// `process.env.NODE_ENV`
    environments: Vec<Span>,
    /// The globals of Node that it names.
    globals: BTreeSet<&'static str>,
    /// Those of them that it looks for, so that it goes on without.
    looked_for: BTreeSet<&'static str>,
}

/// What a file's name and `package.json` say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Module,
    /// Its text decides.
    Unknown,
}

/// Reads a file of a package. `None` where it cannot be parsed.
pub(super) fn scan(path: &Path, source: &str, format: Format) -> Option<Scan> {
    let allocator = Allocator::default();
    let is_typed = path.extension().is_some_and(|extension| matches!(extension.to_str(), Some("ts" | "mts" | "cts")));
    let source_type = if is_typed { SourceType::ts() } else { SourceType::mjs() };
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, source, source_type).with_options(options).parse();
    if !parsed.diagnostics.is_empty() {
        return None;
    }
    let is_common_js = format == Format::Unknown && !parsed.module_record.has_module_syntax;
    let scoping = SemanticBuilder::new_compiler().build(&parsed.program).semantic.into_scoping();
    let mut scanner = Scanner { scoping: &scoping, tries: 0, found: Scan { is_common_js, ..Scan::default() } };
    scanner.visit_program(&parsed.program);
    Some(scanner.found)
}

/// The text of a file of the app with the imports of the globals of Node that it names, and how many bytes were put before it.
pub(super) fn with_globals(path: &Path, source: &str) -> (String, usize) {
    let names_one = node::GLOBALS.iter().any(|(name, _)| source.contains(name));
    let prefix = match names_one.then(|| scan(path, source, Format::Module)).flatten() {
        Some(scan) => node::imports(scan.globals),
        None => String::new(),
    };
    if prefix.is_empty() {
        return (source.to_owned(), 0);
    }
    let text = source.strip_prefix("#!").map_or_else(|| source.to_owned(), |rest| format!("//{rest}"));
    (format!("{prefix}\n{text}"), prefix.len() + 1)
}

/// The specifier of the module that runs CommonJS.
pub(super) const RUNNER: &str = "\0runner";
/// The beginning of the specifier of a load; its number follows.
pub(super) const LOAD: &str = "\0load:";

/// That module.
pub(super) const RUNNER_TEXT: &str = "export default (body) => { let module; return () => { if (!module) { module = { exports: {} }; \
    try { body.call(module.exports, module, module.exports) } catch (error) { module = undefined; throw error } } return module.exports } }";

/// The module of ECMAScript that a file becomes, and how many bytes were put before its text. `found` says where each load leads.
pub(super) fn rewritten(source: &str, scan: &Scan, found: impl Fn(usize) -> Place) -> (String, usize) {
    let mut text = source.to_owned();
    let mut replace = |span: Span, with: &str| {
        let (start, end) = (span.start as usize, span.end as usize);
        // Lines stay where they are.
        let rest: String = source.get(start..end).unwrap_or_default().chars().skip(with.len()).filter(|c| *c == '\n').collect();
        let padding = (end - start).saturating_sub(with.len() + rest.len());
        text.replace_range(start..end, &format!("{with}{}{rest}", " ".repeat(padding)));
    };
    let mut prefix = node::imports(scan.globals.difference(&scan.looked_for).copied());
    for span in &scan.environments {
        replace(*span, "\"production\"");
    }
    for (number, load) in scan.loads.iter().enumerate() {
        match (found(number), load.kind) {
            (Place::Module, _) => {
                replace(load.span, &format!("$r{number}()"));
                prefix.push_str(&format!("import $r{number} from \"\\0load:{number}\"; "));
            }
            (Place::Empty, Load::Require) => replace(load.span, "({})"),
            (Place::Empty, Load::Import) | (Place::Nowhere, _) => {}
        }
    }
    if scan.is_common_js {
        let text = text.strip_prefix("#!").map_or_else(|| text.clone(), |rest| format!("//{rest}"));
        let prefix = format!("{prefix}import $runner from \"\\0runner\"; export default $runner(function (module, exports) {{\n");
        return (format!("{prefix}{text}\n}})"), prefix.len());
    }
    if prefix.is_empty() {
        return (text, 0);
    }
    prefix.push('\n');
    (format!("{prefix}{text}"), prefix.len())
}

/// A module that joins two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bridge {
    /// What `import … from` sees of a CommonJS module. For a module of Node's kind the default export is all of it, for another one what
    /// compilers to CommonJS make the default export.
    Imported { node: bool },
    /// What `require` gets of a module of ECMAScript.
    RequiredModule,
    /// What `require` gets of JSON, and of a module of Node: its default export.
    RequiredDefault,
    /// What `import()` gets.
    Promised,
}

impl Bridge {
    /// Its text: a module that imports the other one from `"\0other"`.
    pub(super) fn text(self, names: &BTreeSet<String>) -> String {
        match self {
            Self::Imported { node } => {
                let default = match node {
                    true => "$all",
                    false => "$all != null && $all.__esModule ? $all.default : $all",
                };
                let names: Vec<&String> = names.iter().filter(|name| *name != "default" && is_name(name)).collect();
                let constants: String = names.iter().enumerate().map(|(number, name)| format!("const ${number} = $any.{name}; ")).collect();
                let exports: Vec<String> = names.iter().enumerate().map(|(number, name)| format!("${number} as {name}")).collect();
                format!(
                    "import $load from \"\\0other\"; const $all = $load(), $any = $all == null ? {{}} : $all; export default {default}; \
                     {constants}export {{ {} }}",
                    exports.join(", ")
                )
            }
            Self::RequiredModule => "import * as $all from \"\\0other\"; export default () => \
                                     Object.create($all, { __esModule: { value: true } })"
                .to_owned(),
            Self::RequiredDefault => "import $all from \"\\0other\"; export default () => $all".to_owned(),
            Self::Promised => "import * as $all from \"\\0other\"; export default () => Promise.resolve($all)".to_owned(),
        }
    }
}

fn is_name(text: &str) -> bool {
    oxc::syntax::identifier::is_identifier_name(text)
}

struct Scanner<'s> {
    scoping: &'s Scoping,
    /// How many `try` blocks are open.
    tries: usize,
    found: Scan,
}

impl Scanner<'_> {
    fn is_global(&self, identifier: &IdentifierReference<'_>, name: &str) -> bool {
        identifier.name == name && identifier.reference_id.get().is_none_or(|id| self.scoping.get_reference(id).symbol_id().is_none())
    }

    fn is_global_expression(&self, expression: &Expression<'_>, name: &str) -> bool {
        matches!(expression, Expression::Identifier(identifier) if self.is_global(identifier, name))
    }

    fn is_environment(&self, expression: &Expression<'_>) -> bool {
        let Expression::StaticMemberExpression(variable) = expression else { return false };
        let Expression::StaticMemberExpression(env) = &variable.object else { return false };
        variable.property.name == "NODE_ENV" && env.property.name == "env" && self.is_global_expression(&env.object, "process")
    }

    /// The value of a condition that only depends on `process.env.NODE_ENV`.
    fn known(&self, test: &Expression<'_>) -> Option<bool> {
        match test {
            Expression::ParenthesizedExpression(it) => self.known(&it.expression),
            Expression::BinaryExpression(it) => {
                let text = match (&it.left, &it.right) {
                    (Expression::StringLiteral(text), other) | (other, Expression::StringLiteral(text)) if self.is_environment(other) => {
                        text.value.as_str()
                    }
                    _ => return None,
                };
                match it.operator {
                    BinaryOperator::StrictEquality | BinaryOperator::Equality => Some(text == "production"),
                    BinaryOperator::StrictInequality | BinaryOperator::Inequality => Some(text != "production"),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `exports` or `module.exports`
    fn is_exports(&self, expression: &Expression<'_>) -> bool {
        match expression {
            Expression::StaticMemberExpression(it) => it.property.name == "exports" && self.is_global_expression(&it.object, "module"),
            other => self.is_global_expression(other, "exports"),
        }
    }

    fn load(&mut self, kind: Load, span: Span, specifier: &Expression<'_>) {
        if let Expression::StringLiteral(text) = specifier {
            let is_tried = self.tries > 0;
            self.found.loads.push(Loaded { kind, specifier: text.value.to_string(), span, at: text.span, is_tried });
        }
    }
}

impl<'a> Visit<'a> for Scanner<'_> {
    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        self.tries += usize::from(it.handler.is_some());
        self.visit_block_statement(&it.block);
        self.tries -= usize::from(it.handler.is_some());
        if let Some(handler) = &it.handler {
            self.visit_catch_clause(handler);
        }
        if let Some(finalizer) = &it.finalizer {
            self.visit_block_statement(finalizer);
        }
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        self.visit_expression(&it.test);
        let known = self.known(&it.test);
        if known != Some(false) {
            self.visit_statement(&it.consequent);
        }
        if let (Some(alternate), false) = (&it.alternate, known == Some(true)) {
            self.visit_statement(alternate);
        }
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        self.visit_expression(&it.test);
        let known = self.known(&it.test);
        if known != Some(false) {
            self.visit_expression(&it.consequent);
        }
        if known != Some(true) {
            self.visit_expression(&it.alternate);
        }
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        self.visit_expression(&it.left);
        let skips = match it.operator {
            LogicalOperator::And => Some(false),
            LogicalOperator::Or => Some(true),
            LogicalOperator::Coalesce => None,
        };
        if skips.is_none() || self.known(&it.left) != skips {
            self.visit_expression(&it.right);
        }
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if let Some((name, _)) = node::GLOBALS.iter().find(|(name, _)| self.is_global(it, name)) {
            self.found.globals.insert(name);
        }
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator == UnaryOperator::Typeof
            && let Expression::Identifier(identifier) = &it.argument
            && let Some((name, _)) = node::GLOBALS.iter().find(|(name, _)| self.is_global(identifier, name))
        {
            self.found.looked_for.insert(name);
            return;
        }
        walk::walk_unary_expression(self, it);
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        if self.is_environment(it) {
            self.found.environments.push(it.span());
            return;
        }
        walk::walk_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let first = it.arguments.first().and_then(Argument::as_expression);
        if let (true, Some(first), 1) = (self.found.is_common_js, first, it.arguments.len())
            && self.is_global_expression(&it.callee, "require")
        {
            self.load(Load::Require, it.span, first);
        }
        // `Object.defineProperty(exports, "name", …)`
        if let (Some(first), Some(Expression::StringLiteral(name))) = (first, it.arguments.get(1).and_then(Argument::as_expression))
            && self.is_exports(first)
        {
            self.found.exports.insert(name.value.to_string());
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        if it.options.is_none() && it.phase.is_none() {
            self.load(Load::Import, it.span, &it.source);
        }
        walk::walk_import_expression(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        let AssignmentTarget::StaticMemberExpression(member) = &it.left else {
            return walk::walk_assignment_expression(self, it);
        };
        if self.is_exports(&member.object) {
            self.found.exports.insert(member.property.name.to_string());
        } else if let (true, Expression::ObjectExpression(object)) =
            (member.property.name == "exports" && self.is_global_expression(&member.object, "module"), &it.right)
        {
            for property in &object.properties {
                if let ObjectPropertyKind::ObjectProperty(property) = property
                    && let Some(name) = property.key.static_name()
                {
                    self.found.exports.insert(name.into_owned());
                }
            }
        }
        walk::walk_assignment_expression(self, it);
    }
}

/// The members that a module reads of the symbols of `wanted`.
pub(super) fn members(
    program: &oxc::ast::ast::Program<'_>,
    scoping: &Scoping,
    wanted: &[oxc::semantic::SymbolId],
) -> BTreeSet<(oxc::semantic::SymbolId, String)> {
    struct Members<'s> {
        scoping: &'s Scoping,
        wanted: &'s [oxc::semantic::SymbolId],
        found: BTreeSet<(oxc::semantic::SymbolId, String)>,
    }
    impl<'a> Visit<'a> for Members<'_> {
        fn visit_member_expression(&mut self, it: &MemberExpression<'a>) {
            if let (Expression::Identifier(object), Some(name)) = (it.object(), it.static_property_name())
                && let Some(symbol) = object.reference_id.get().and_then(|id| self.scoping.get_reference(id).symbol_id())
                && self.wanted.contains(&symbol)
            {
                self.found.insert((symbol, name.to_owned()));
            }
            walk::walk_member_expression(self, it);
        }
    }
    let mut members = Members { scoping, wanted, found: BTreeSet::new() };
    members.visit_program(program);
    members.found
}
