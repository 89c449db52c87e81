//! Modules of packages as modules of ECMAScript: CommonJS, `import()` of a literal, and
//! `process.env.NODE_ENV`.
//!
//! A CommonJS module becomes a module whose default export is a function: the first call runs the
//! module, every call returns its exports. `require("x")` becomes a call of such a function. What
//! replaces a text is as long as the text, and what is put before it is one line: places in the
//! module are those of its file, one line later. The modules of `import()` are imported in a line
//! behind it.
//!
//! What joins modules of both kinds is made of small modules of our own; see [`Bridge`].

use std::{
    collections::BTreeSet,
    path::{Component, Path},
};

use oxc::{
    allocator::Allocator,
    ast::ast::{
        Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentTarget, BinaryOperator, CallExpression, ConditionalExpression,
        Expression, Function, IdentifierReference, IfStatement, ImportExpression, ImportMeta, LogicalExpression, LogicalOperator,
        MemberExpression, ObjectPropertyKind, TryStatement, UnaryExpression, UnaryOperator, VariableDeclaration,
    },
    ast_visit::{Visit, walk},
    parser::{ParseOptions, Parser},
    semantic::{Scoping, SemanticBuilder},
    span::{GetSpan, Span},
    syntax::scope::ScopeFlags,
};

use super::{language::source_type, node};

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
    /// It is in a function or behind a condition, so whether it is ever run is not known.
    pub(super) is_conditional: bool,
}

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) is_common_js: bool,
    pub(super) loads: Vec<Loaded>,
    /// The names that it seems to export, where it is CommonJS.
    pub(super) exports: BTreeSet<String>,
    /// `process.env.NODE_ENV`
    environments: Vec<Span>,
    /// The word `import` of each `import()`.
    dynamic: Vec<Span>,
    /// `import.meta`
    metas: Vec<Span>,
    /// The names of Node's that a CommonJS module has for its own place, `__filename` and
    /// `__dirname`, where it uses them.
    names_place: bool,
    /// The globals of Node that it names.
    globals: BTreeSet<&'static str>,
    /// Those of them that it looks for, so that it goes on without.
    looked_for: BTreeSet<&'static str>,
    /// `declare const process`
    ambient: Vec<Span>,
    /// `globalThis.process`, and what it names.
    members: Vec<(Span, &'static str)>,
}

impl Scan {
    /// The globals of Node that it looks for are there, which is so in the app's own files.
    pub(super) fn has_what_it_looks_for(&mut self) {
        self.globals.append(&mut self.looked_for);
        self.globals.extend(self.members.iter().map(|(_, name)| name));
        if !std::mem::take(&mut self.environments).is_empty() {
            self.globals.insert("process");
        }
    }
}

/// What a file's name and `package.json` say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Module,
    /// Its text decides.
    Unknown,
}

/// Whether a text may say anything that [`scan`] looks for.
pub(super) fn may_load(source: &str) -> bool {
    ["require", "module", "exports"].iter().chain(node::GLOBALS.iter().map(|(name, _)| name)).any(|word| source.contains(word))
        || source.split("import").skip(1).any(|rest| rest.trim_start().starts_with(['(', '.', '/']))
}

/// Reads a file. `None` where it cannot be parsed.
pub(super) fn scan(path: &Path, source: &str, format: Format) -> Option<Scan> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, source, source_type(path)).with_options(options).parse();
    if !parsed.diagnostics.is_empty() {
        return None;
    }
    let scoping = SemanticBuilder::new_compiler().build(&parsed.program).semantic.into_scoping();
    let names = |name: &str| scoping.root_unresolved_references().keys().any(|free| free.as_str() == name);
    // Many packages say `"type": "module"` and have a file of CommonJS for `browser` or `main`.
    let is_common_js = !parsed.module_record.has_module_syntax && (format == Format::Unknown || names("module") || names("exports"));
    let names_place = names("__filename") || names("__dirname");
    let found = Scan { is_common_js, names_place, ..Scan::default() };
    let declared = |name: &&str| scoping.symbol_names().any(|known| known == *name);
    let declared = node::GLOBALS.iter().map(|(name, _)| *name).filter(declared).collect();
    let mut scanner = Scanner { scoping: &scoping, declared, tries: 0, conditions: 0, found };
    scanner.visit_program(&parsed.program);
    Some(scanner.found)
}

/// The specifier of the module that runs CommonJS.
pub(super) const RUNNER: &str = "\0runner";
/// The beginning of the specifier of a load; its number follows.
pub(super) const LOAD: &str = "\0load:";
/// The specifier of the module that stands for `import()` of what was not linked.
pub(super) const IMPORTER: &str = "\0importer";

/// That module.
pub(super) const RUNNER_TEXT: &str = "const require = (specifier) => { const error = new Error(`Cannot find module '${specifier}': \
    only modules that are named where they are loaded are part of a script`); error.code = 'MODULE_NOT_FOUND'; throw error }; \
    export default (body) => { let module; return () => { if (!module) { module = { exports: {} }; \
    try { body.call(module.exports, module, module.exports, require) } catch (error) { module = undefined; throw error } } \
    return module.exports } }";

/// The module that stands for `import()`.
pub(super) const IMPORTER_TEXT: &str = "export default async (specifier) => { const error = new Error(`Cannot find module '${specifier}': \
    only modules that are named where they are loaded are part of a script`); error.code = 'ERR_MODULE_NOT_FOUND'; throw error }";

/// The module of ECMAScript that a file becomes, and how many bytes were put before its text.
/// `found` says where each load leads.
pub(super) fn rewritten(path: &Path, source: &str, scan: &Scan, found: impl Fn(usize) -> Place) -> (String, usize) {
    let own = own_prefix(source);
    let mut edits: Vec<(Span, String)> = Vec::new();
    let mut replace = |span: Span, with: &str| edits.push((span, with.to_owned()));
    // What a module imports is run before what it loads with `import()`.
    let (mut prefix, mut suffix) = (node::imports(scan.globals.difference(&scan.looked_for).copied()), String::new());
    for span in &scan.environments {
        replace(*span, "\"production\"");
    }
    scan.ambient.iter().for_each(|span| replace(*span, ""));
    for (span, name) in scan.members.iter().filter(|(_, name)| scan.globals.contains(name) && !scan.looked_for.contains(name)) {
        replace(*span, name);
    }
    for (number, load) in scan.loads.iter().enumerate() {
        match (found(number), load.kind) {
            (Place::Module, kind) => {
                replace(load.span, &format!("{own}r{number}()"));
                let import = format!("import {own}r{number} from \"\\0load:{number}\"; ");
                if kind == Load::Import { &mut suffix } else { &mut prefix }.push_str(&import);
            }
            (Place::Empty, Load::Require) => replace(load.span, "({})"),
            (Place::Empty, Load::Import) | (Place::Nowhere, _) => {}
        }
    }
    let linked: BTreeSet<u32> =
        scan.loads.iter().enumerate().filter(|(number, _)| found(*number) == Place::Module).map(|(_, load)| load.span.start).collect();
    let others: Vec<&Span> = scan.dynamic.iter().filter(|span| !linked.contains(&span.start)).collect();
    if !others.is_empty() {
        prefix.push_str(&format!("import {own}i from \"\\0importer\"; "));
        others.into_iter().for_each(|span| replace(*span, &format!("{own}i")));
    }
    let file = serde_json::Value::from(format!("/{}", place(path)));
    let folder = serde_json::Value::from(format!("/{}", place(path.parent().unwrap_or(Path::new("")))));
    if !scan.metas.is_empty() {
        scan.metas.iter().for_each(|span| replace(*span, &format!("{own}m")));
        let url = serde_json::Value::from(format!("file:///{}", percent_encoding::utf8_percent_encode(&place(path), IN_URL)));
        prefix.push_str(&format!("const {own}m = {{ __proto__: null, dirname: {folder}, filename: {file}, url: {url} }}; "));
    }
    let text = replaced(source, edits);
    if !suffix.is_empty() {
        suffix.insert(0, '\n');
    }
    if scan.is_common_js {
        let text = text.strip_prefix("#!").map_or_else(|| text.clone(), |rest| format!("//{rest}"));
        let names = if scan.names_place { format!("const __filename = {file}, __dirname = {folder}; ") } else { String::new() };
        let prefix =
            format!("{prefix}{names}import {own}c from \"\\0runner\"; export default {own}c(function (module, exports, require) {{\n");
        return (format!("{prefix}{text}\n}});{suffix}"), prefix.len());
    }
    if prefix.is_empty() {
        return (text + &suffix, 0);
    }
    let text = text.strip_prefix("#!").map_or_else(|| text.clone(), |rest| format!("//{rest}"));
    prefix.push('\n');
    (format!("{prefix}{text}{suffix}"), prefix.len())
}

/// A text with other expressions in places of it, each as long as what it replaces if it is not
/// longer. Lines stay where they are.
fn replaced(source: &str, mut edits: Vec<(Span, String)>) -> String {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let (mut text, mut at) = (String::with_capacity(source.len()), 0);
    for (span, with) in edits {
        let (start, end) = (span.start as usize, span.end as usize);
        if start < at {
            // It is within what was replaced.
            continue;
        }
        text.push_str(source.get(at..start).unwrap_or_default());
        let lines: String = source.get(start..end).unwrap_or_default().chars().filter(|c| *c == '\n').collect();
        let padding = (end - start).saturating_sub(with.len() + lines.len());
        text.push_str(&format!("{with}{}{lines}", " ".repeat(padding)));
        at = end;
    }
    text.push_str(source.get(at..).unwrap_or_default());
    text
}

/// What the names begin with that are put into a text. Not a name of the text does.
pub(super) fn own_prefix(source: &str) -> String {
    if !source.contains('$') {
        return "$".to_owned();
    }
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    let taken: BTreeSet<String> = source.split('$').skip(1).map(digits).collect();
    let free = (0_usize..).map(|number| number.to_string()).find(|number| !taken.contains(number)).unwrap_or_default();
    format!("${free}")
}

/// Where a file says that it is: below the folder of the app, which is the root.
fn place(path: &Path) -> String {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .map(|part| part.as_os_str().to_string_lossy())
        .collect::<Vec<_>>()
        .join("/")
}

/// What a path keeps in a URL.
const IN_URL: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~').remove(b'@').remove(b'+');

/// A module that joins two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bridge {
    /// What `import … from` sees of a CommonJS module. For a module of Node's kind the default
    /// export is all of it, for another one what compilers to CommonJS make the default export.
    Imported { node: bool },
    /// What `require` gets of a module of ECMAScript.
    RequiredModule,
    /// What `require` gets of JSON, and of a module of Node: its default export.
    RequiredDefault,
    /// What `import()` gets.
    Promised,
    /// What `import()` gets of a CommonJS module, which runs when it is first called.
    PromisedCommonJs { node: bool },
}

impl Bridge {
    /// Its text: a module that imports the other one from `"\0other"`.
    pub(super) fn text(self, names: &BTreeSet<String>) -> String {
        match self {
            Self::Imported { node } => {
                let default = default(node);
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
            Self::PromisedCommonJs { node } => format!(
                "import $load from \"\\0other\"; var $promise; export default function () {{ \
                 return $promise ??= new Promise(($resolve) => {{ const $all = $load(); \
                 $resolve(Object.freeze({{ __proto__: null, ...Object($all), default: {} }})) }}) }}",
                default(node)
            ),
            // A function that is there before its module ran: the module may come last.
            Self::Promised => "import * as $all from \"\\0other\"; export default function () { return Promise.resolve($all) }".to_owned(),
        }
    }
}

/// The default export of a CommonJS module, which is `$all`.
fn default(node: bool) -> &'static str {
    match node {
        true => "$all",
        false => "$all != null && $all.__esModule ? $all.default : $all",
    }
}

fn is_name(text: &str) -> bool {
    oxc::syntax::identifier::is_identifier_name(text)
}

/// Whether a name is declared nowhere, or only said to be there: `declare const process: any`.
pub(super) fn is_free(identifier: &IdentifierReference<'_>, scoping: &Scoping) -> bool {
    let symbol = identifier.reference_id.get().and_then(|id| scoping.get_reference(id).symbol_id());
    symbol.is_none_or(|symbol| scoping.symbol_flags(symbol).is_ambient())
}

/// Whether an expression is the object that has the globals.
pub(super) fn is_global_object(expression: &Expression<'_>, scoping: &Scoping) -> bool {
    let Expression::Identifier(name) = expression else { return false };
    ["globalThis", "self", "global"].contains(&name.name.as_str()) && is_free(name, scoping)
}

struct Scanner<'s> {
    scoping: &'s Scoping,
    /// The globals of Node that a scope of the file declares.
    declared: BTreeSet<&'static str>,
    /// How many `try` blocks are open.
    tries: usize,
    /// How many functions and conditions are open.
    conditions: usize,
    found: Scan,
}

impl Scanner<'_> {
    fn is_global(&self, identifier: &IdentifierReference<'_>, name: &str) -> bool {
        identifier.name == name && is_free(identifier, self.scoping)
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
            let (is_tried, is_conditional) = (self.tries > 0, self.conditions > 0 || kind == Load::Import);
            self.found.loads.push(Loaded { kind, specifier: text.value.to_string(), span, at: text.span, is_tried, is_conditional });
        }
    }
}

impl<'a> Visit<'a> for Scanner<'_> {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.conditions += 1;
        walk::walk_function(self, it, flags);
        self.conditions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.conditions += 1;
        walk::walk_arrow_function_expression(self, it);
        self.conditions -= 1;
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        let is_of_node = |name: &str| node::GLOBALS.iter().any(|(global, _)| *global == name);
        // What is imported instead.
        if it.declare
            && let [declarator] = it.declarations.as_slice()
            && declarator.id.get_identifier_name().is_some_and(|name| is_of_node(name.as_str()))
        {
            self.found.ambient.push(it.span);
            return;
        }
        walk::walk_variable_declaration(self, it);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.found.metas.push(it.span);
    }

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
        self.conditions += usize::from(known.is_none());
        if known != Some(false) {
            self.visit_statement(&it.consequent);
        }
        if let (Some(alternate), false) = (&it.alternate, known == Some(true)) {
            self.visit_statement(alternate);
        }
        self.conditions -= usize::from(known.is_none());
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        self.visit_expression(&it.test);
        let known = self.known(&it.test);
        self.conditions += usize::from(known.is_none());
        if known != Some(false) {
            self.visit_expression(&it.consequent);
        }
        if known != Some(true) {
            self.visit_expression(&it.alternate);
        }
        self.conditions -= usize::from(known.is_none());
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        self.visit_expression(&it.left);
        let skips = match it.operator {
            LogicalOperator::And => Some(false),
            LogicalOperator::Or => Some(true),
            LogicalOperator::Coalesce => None,
        };
        let known = self.known(&it.left);
        if skips.is_none() || known != skips {
            self.conditions += usize::from(known.is_none());
            self.visit_expression(&it.right);
            self.conditions -= usize::from(known.is_none());
        }
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let is_value = it.reference_id.get().is_none_or(|id| self.scoping.get_reference(id).is_value());
        if let Some((name, _)) = node::GLOBALS.iter().find(|(name, _)| is_value && self.is_global(it, name)) {
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
        if let Expression::StaticMemberExpression(member) = it
            && is_global_object(&member.object, self.scoping)
            && let Some((name, _)) = node::GLOBALS.iter().find(|(name, _)| member.property.name == *name)
            && !self.declared.contains(name)
        {
            self.found.members.push((it.span(), name));
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
        if it.phase.is_none() {
            self.load(Load::Import, it.span, &it.source);
            let start = it.span.start;
            self.found.dynamic.push(Span::new(start, start + "import".len() as u32));
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
