//! One module: its text parsed, its types stripped, its imports and exports listed.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use oxc::{
    allocator::Allocator,
    ast::ast::{
        BindingPattern, Declaration, ExportDefaultDeclarationKind, Expression, ImportAttributeKey, ImportDeclarationSpecifier,
        ModuleExportName, ObjectPropertyKind, Program, Statement, WithClause,
    },
    diagnostics::OxcDiagnostic,
    parser::Parser,
    semantic::{Scoping, SemanticBuilder, SymbolId},
    span::Span,
    transformer::Transformer,
};
use regex::Regex;

use super::{check, globals, intl, language, lower, place::Finding, settings::Settings, statements};
use crate::Diagnostic;

/// What is imported of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// One export: `default`, `a`.
    One(String),
    /// All of them: `* as ns`.
    All,
}

/// One `from "…"`.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// What is between the quotes.
    pub(super) specifier: String,
    /// Where.
    pub(super) span: Span,
}

/// One imported binding.
#[derive(Clone, Debug)]
pub(super) struct Import {
    pub(super) request: usize,
    pub(super) name: Name,
    /// The local binding.
    pub(super) symbol: SymbolId,
    /// The local name.
    pub(super) alias: String,
    pub(super) span: Span,
}

/// What stands behind an exported name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A binding of the module.
    Local(SymbolId),
    /// `export default <expression>`, or a default without a name.
    Default,
    /// Something of another module.
    From { request: usize, name: Name },
}

/// One export.
#[derive(Clone, Debug)]
pub(super) struct Export {
    pub(super) origin: Origin,
    pub(super) span: Span,
}

/// A module of code.
#[derive(Debug)]
pub(super) struct Code<'a> {
    pub(super) program: Program<'a>,
    pub(super) scoping: Scoping,
    pub(super) imports: Vec<Import>,
    pub(super) exports: BTreeMap<String, Export>,
    /// `export * from`, by request.
    pub(super) stars: Vec<usize>,
    /// Exported names that are types only.
    pub(super) types: BTreeSet<String>,
    /// Where it waits outside of every function.
    pub(super) awaits: Option<Span>,
}

/// The content of a module.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// TypeScript or JavaScript.
    Code(Box<Code<'a>>),
    /// JSON, as a JavaScript expression.
    Json(String),
}

/// A module that was read.
#[derive(Debug)]
pub(super) struct Module<'a> {
    /// Below the app's folder.
    pub(super) path: PathBuf,
    /// The text of the file, for places.
    pub(super) source: &'a str,
    /// The text that was parsed.
    pub(super) parsed: &'a str,
    pub(super) content: Content<'a>,
    pub(super) requests: Vec<Request>,
    /// The parts of the app that it names.
    pub(super) named: Vec<globals::NamedPart>,
    /// What it uses of `Intl`.
    pub(super) intl: intl::Use,
    /// How many bytes stand before the text of the file in the text that was parsed; one line.
    pub(super) shift: usize,
    /// Lines of the text that was parsed are those of the file, columns need not be.
    pub(super) is_lowered: bool,
    /// A module of ECMAScript in a package that for Node is one of CommonJS.
    pub(super) stands_for_common_js: bool,
    /// It is made by the linker, and has no file.
    pub(super) is_made: bool,
    /// Running it does more than making its exports.
    pub(super) has_effects: bool,
}

impl<'a> Module<'a> {
    /// Places a finding in what was parsed in the file.
    pub(super) fn place(&self, finding: Finding) -> Diagnostic {
        if self.is_lowered {
            let placed = finding.place(&self.path, self.parsed);
            return Diagnostic { line: placed.line.saturating_sub(usize::from(self.shift > 0)).max(1), ..placed };
        }
        let (start, end) = (finding.start.saturating_sub(self.shift), finding.end.saturating_sub(self.shift));
        Finding { start, end, ..finding }.place(&self.path, self.source)
    }

    /// The default export, where it is plainly not a function, and what is wrong with that.
    pub(super) fn values(&self) -> Vec<(String, Diagnostic)> {
        let Some(code) = self.code() else { return Vec::new() };
        let exported = code.program.body.iter().find_map(|statement| match statement {
            Statement::ExportDefaultDeclaration(it) => Some(it),
            _ => None,
        });
        let Some(exported) = exported else { return Vec::new() };
        let mut help = "begin its function with `export default async function`".to_owned();
        let kind = match &exported.declaration {
            ExportDefaultDeclarationKind::ClassDeclaration(_) | ExportDefaultDeclarationKind::ClassExpression(_) => "a class",
            ExportDefaultDeclarationKind::ObjectExpression(object) => {
                let function = object.properties.iter().find_map(|property| match property {
                    ObjectPropertyKind::ObjectProperty(property)
                        if property.method || property.value.is_function() || matches!(property.value, Expression::Identifier(_)) =>
                    {
                        property.key.static_name()
                    }
                    _ => None,
                });
                if let Some(name) = function {
                    help = format!(
                        "export the function itself: `export default {name}`, or `export default async function {name}(…) {{ … }}`"
                    );
                }
                "an object"
            }
            ExportDefaultDeclarationKind::ArrayExpression(_) => "a list",
            ExportDefaultDeclarationKind::StringLiteral(_) | ExportDefaultDeclarationKind::TemplateLiteral(_) => "a text",
            ExportDefaultDeclarationKind::NumericLiteral(_) => "a number",
            ExportDefaultDeclarationKind::BooleanLiteral(_) => "a boolean",
            ExportDefaultDeclarationKind::NullLiteral(_) => "`null`",
            _ => return Vec::new(),
        };
        let message = format!("the default export of a script is a function, and this is {kind}");
        vec![("default".to_owned(), self.place(Finding::new(exported.span, message, help)))]
    }

    pub(super) fn code(&self) -> Option<&Code<'a>> {
        match &self.content {
            Content::Code(code) => Some(code),
            Content::Json(_) => None,
        }
    }
}

/// The longest JSON module, in bytes.
pub(super) const JSON_LIMIT: usize = 1024 * 1024;

/// Reads a module of code, without settings of the app.
pub(super) fn code<'a>(allocator: &'a Allocator, path: &Path, source: &'a str, from_packages: bool) -> (Module<'a>, Vec<Finding>) {
    code_with(allocator, path, source, from_packages, &Settings::default())
}

/// Reads a module of code. What cannot be parsed still gives the relative imports that can be seen
/// in it, so that their mistakes are found in the same run.
pub(super) fn code_with<'a>(
    allocator: &'a Allocator,
    path: &Path,
    source: &'a str,
    from_packages: bool,
    settings: &Settings,
) -> (Module<'a>, Vec<Finding>) {
    let source_type = language::source_type(path);
    let parsed = Parser::new(allocator, source, source_type).parse();
    let mut findings: Vec<Finding> = parsed.diagnostics.into_vec().iter().map(finding).collect();
    let mut program = parsed.program;
    let broken = !findings.is_empty();

    let analysed = SemanticBuilder::new_compiler().with_check_syntax_error(true).with_enum_eval(true).build(&program);
    findings.extend(analysed.diagnostics.errors().map(finding).filter(|_| !broken));
    let mut scoping = analysed.semantic.into_scoping();
    findings.extend(check::check(&program, &scoping, from_packages));
    let named = if broken || from_packages { Vec::new() } else { named_parts(&program, &scoping, &mut findings) };
    let types = types(&program);
    let intl = intl::used(&program, &scoping);
    let mut text = source;
    if findings.is_empty() {
        match lower::lowered(source, &program, settings.legacy_decorators) {
            Ok(None) => {}
            Ok(Some(lowered)) => {
                text = allocator.alloc_str(&lowered);
                let parsed = Parser::new(allocator, text, source_type).parse();
                findings.extend(parsed.diagnostics.into_vec().iter().map(finding));
                program = parsed.program;
                scoping = SemanticBuilder::new_compiler().with_enum_eval(true).build(&program).semantic.into_scoping();
            }
            Err(found) => findings.extend(found),
        }
    }
    if findings.is_empty() {
        findings = transform(allocator, path, settings, scoping, &mut program);
    }
    let is_lowered = !std::ptr::eq(text, source);
    let scoping = SemanticBuilder::new_compiler().with_check_syntax_error(false).build(&program).semantic.into_scoping();

    let mut listing =
        Listing { requests: Vec::new(), imports: Vec::new(), exports: BTreeMap::new(), stars: Vec::new(), findings: Vec::new() };
    listing.read(&program, &scoping);
    if broken && listing.requests.is_empty() {
        listing.requests = visible_requests(source);
    }
    let awaits = check::awaits(&program);
    findings.append(&mut listing.findings);
    let Listing { requests, imports, exports, stars, .. } = listing;
    let content = Content::Code(Box::new(Code { program, scoping, imports, exports, stars, types, awaits }));
    let module = Module {
        path: path.to_path_buf(),
        source,
        parsed: text,
        content,
        requests,
        named,
        intl,
        shift: 0,
        is_lowered,
        stands_for_common_js: false,
        is_made: false,
        has_effects: true,
    };
    (module, findings)
}

/// What a module names of the app. Globals that do not exist are noted.
fn named_parts(program: &Program<'_>, scoping: &Scoping, findings: &mut Vec<Finding>) -> Vec<globals::NamedPart> {
    let (unknown, mut named) = globals::used(program, scoping);
    findings.extend(unknown);
    named.extend(statements::statements(program, scoping));
    named
}

/// Takes the types out of a program.
fn transform<'a>(allocator: &'a Allocator, path: &Path, settings: &Settings, scoping: Scoping, program: &mut Program<'a>) -> Vec<Finding> {
    let options = settings.transform(path);
    let transformed = Transformer::new(allocator, path, &options).build_with_scoping(scoping, program);
    transformed.diagnostics.errors().map(finding).collect()
}

/// Reads a JSON module.
pub(super) fn json<'a>(path: &Path, source: &'a str) -> (Module<'a>, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut text = String::from("null");
    if source.len() > JSON_LIMIT {
        findings.push(Finding {
            start: 0,
            end: 0,
            message: format!("`{}` has {} bytes, more than the {JSON_LIMIT} that a script may import", path.display(), source.len()),
            help: Some("put the data into a database, or import a smaller part of it".to_owned()),
        });
    } else {
        match serde_json::from_str::<serde_json::Value>(source) {
            Ok(value) => {
                text.clear();
                write_json(&mut text, &value);
            }
            Err(error) => {
                let start: usize = source.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
                let at = start + error.column().saturating_sub(1);
                findings.push(Finding {
                    start: at,
                    end: at,
                    message: format!("`{}` is not valid JSON: {}", path.display(), reason(&error)),
                    help: Some("JSON has double quotes, no comments and no trailing commas".to_owned()),
                });
            }
        }
    }
    (
        Module {
            path: path.to_path_buf(),
            source,
            parsed: source,
            content: Content::Json(text),
            requests: Vec::new(),
            named: Vec::new(),
            intl: intl::Use::default(),
            shift: 0,
            is_lowered: false,
            stands_for_common_js: false,
            is_made: false,
            has_effects: false,
        },
        findings,
    )
}

/// serde_json's message without its own " at line 1 column 2".
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

/// JSON is JavaScript but for a key `__proto__`, which would set the prototype.
fn write_json(out: &mut String, value: &serde_json::Value) {
    match value {
        serde_json::Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(out, item);
            }
            out.push(']');
        }
        serde_json::Value::Object(fields) => {
            out.push('{');
            for (index, (name, item)) in fields.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                let key = serde_json::Value::String(name.clone()).to_string();
                if name == "__proto__" {
                    out.push_str(&format!("[{key}]:"));
                } else {
                    out.push_str(&format!("{key}:"));
                }
                write_json(out, item);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn finding(diagnostic: &OxcDiagnostic) -> Finding {
    let message = diagnostic.message.to_string();
    // The first label is the place, but for a name declared twice it is the innocent first
    // declaration.
    let twice = message.contains("already been declared");
    let label = if twice { diagnostic.labels.last() } else { diagnostic.labels.first() };
    let (start, end) = label.map_or((0, 0), |label| (label.offset() as usize, (label.offset() + label.len()) as usize));
    Finding { start, end, message, help: diagnostic.help.as_ref().map(ToString::to_string) }
}

/// The relative imports that can be seen in a text which is not a program.
fn visible_requests(source: &str) -> Vec<Request> {
    let Ok(pattern) = Regex::new(r#"(?m)^\s*(?:import|export|\})[^;'"]*["'](\.{1,2}/[^"'\n]+)["']"#) else { return Vec::new() };
    let requests = pattern.captures_iter(source).filter_map(|captures| captures.get(1));
    requests
        .map(|found| {
            let span = Span::new(u32::try_from(found.start()).unwrap_or(0), u32::try_from(found.end()).unwrap_or(0));
            Request { specifier: found.as_str().to_owned(), span }
        })
        .collect()
}

/// Exported names that are types only, read before the types are stripped.
fn types(program: &Program<'_>) -> BTreeSet<String> {
    let mut local = BTreeSet::new();
    let mut values = BTreeSet::new();
    let mut exported = BTreeSet::new();
    let declared = |declaration: &Declaration<'_>| match declaration {
        Declaration::TSInterfaceDeclaration(it) => Some((it.id.name.to_string(), true)),
        Declaration::TSTypeAliasDeclaration(it) => Some((it.id.name.to_string(), true)),
        Declaration::ClassDeclaration(it) => it.id.as_ref().map(|id| (id.name.to_string(), it.declare)),
        Declaration::FunctionDeclaration(it) => it.id.as_ref().map(|id| (id.name.to_string(), it.declare)),
        Declaration::TSEnumDeclaration(it) => Some((it.id.name.to_string(), it.declare)),
        _ => None,
    };
    for statement in &program.body {
        let (declaration, is_exported) = match statement {
            Statement::ExportDeclaration(it) => (Some(&it.declaration), true),
            _ => (statement.as_declaration(), false),
        };
        if let Some((name, is_type)) = declaration.and_then(declared) {
            if is_exported && is_type {
                exported.insert(name.clone());
            }
            if is_type {
                local.insert(name)
            } else {
                values.insert(name)
            };
        }
        if let Statement::ImportDeclaration(it) = statement {
            let all = it.import_kind.is_type();
            for specifier in it.specifiers.iter().flatten() {
                let only = matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind.is_type());
                if all || only {
                    local.insert(specifier.local().name.to_string());
                }
            }
        }
    }
    for statement in &program.body {
        match statement {
            Statement::ExportNamedDeclaration(it) => {
                for specifier in &it.specifiers {
                    let name = specifier.local.name();
                    let is_type = it.export_kind.is_type() || specifier.export_kind.is_type();
                    if is_type || (local.contains(name.as_str()) && !values.contains(name.as_str())) {
                        exported.insert(specifier.exported.name().to_string());
                    }
                }
            }
            Statement::ExportFromDeclaration(it) => {
                for specifier in &it.specifiers {
                    if it.export_kind.is_type() || specifier.export_kind.is_type() {
                        exported.insert(specifier.exported.name().to_string());
                    }
                }
            }
            _ => {}
        }
    }
    exported.retain(|name| !values.contains(name));
    exported
}

struct Listing {
    requests: Vec<Request>,
    imports: Vec<Import>,
    exports: BTreeMap<String, Export>,
    stars: Vec<usize>,
    findings: Vec<Finding>,
}

impl Listing {
    /// Lists what the statements import and export.
    fn read(&mut self, program: &Program<'_>, scoping: &Scoping) {
        for statement in &program.body {
            let Statement::ImportDeclaration(it) = statement else { continue };
            if let Some(phase) = it.phase {
                let word = format!("{phase:?}").to_lowercase();
                self.findings.push(Finding::new(it.span, format!("`import {word}` is not supported"), "write `import` alone"));
            }
        }
        for statement in &program.body {
            match statement {
                Statement::ImportDeclaration(it) => {
                    let request = self.request(&it.source, it.with_clause.as_deref());
                    for specifier in it.specifiers.iter().flatten() {
                        let name = match specifier {
                            ImportDeclarationSpecifier::ImportSpecifier(one) => Name::One(one.imported.name().to_string()),
                            ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => Name::One("default".to_owned()),
                            ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => Name::All,
                        };
                        let local = specifier.local();
                        let Some(symbol) = local.symbol_id.get() else { continue };
                        self.imports.push(Import { request, name, symbol, alias: local.name.to_string(), span: local.span });
                    }
                }
                Statement::ExportAllDeclaration(it) => {
                    let request = self.request(&it.source, it.with_clause.as_deref());
                    match &it.exported {
                        Some(name) => self.export(name.name().to_string(), Origin::From { request, name: Name::All }, it.span),
                        None => self.stars.push(request),
                    }
                }
                Statement::ExportFromDeclaration(it) => {
                    let request = self.request(&it.source, it.with_clause.as_deref());
                    for one in &it.specifiers {
                        let name = Name::One(one.local.name().to_string());
                        self.export(one.exported.name().to_string(), Origin::From { request, name }, one.span);
                    }
                }
                Statement::ExportDeclaration(it) => self.declaration(&it.declaration),
                Statement::ExportDefaultDeclaration(it) => {
                    let id = match &it.declaration {
                        ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.id.as_ref(),
                        ExportDefaultDeclarationKind::ClassDeclaration(class) => class.id.as_ref(),
                        _ => None,
                    };
                    let origin = id.and_then(|id| id.symbol_id.get()).map_or(Origin::Default, Origin::Local);
                    self.export("default".to_owned(), origin, it.span);
                }
                _ => {}
            }
        }
        for statement in &program.body {
            let Statement::ExportNamedDeclaration(it) = statement else { continue };
            for one in &it.specifiers {
                let ModuleExportName::IdentifierReference(local) = &one.local else { continue };
                let symbol = local.reference_id.get().and_then(|id| scoping.get_reference(id).symbol_id());
                let Some(symbol) = symbol else { continue };
                let imported = self.imports.iter().find(|import| import.symbol == symbol);
                let origin =
                    imported.map_or(Origin::Local(symbol), |import| Origin::From { request: import.request, name: import.name.clone() });
                self.export(one.exported.name().to_string(), origin, one.span);
            }
        }
    }

    fn request(&mut self, source: &oxc::ast::ast::StringLiteral<'_>, with: Option<&WithClause<'_>>) -> usize {
        for attribute in with.iter().flat_map(|with| &with.with_entries) {
            let key = match &attribute.key {
                ImportAttributeKey::Identifier(name) => name.name.as_str(),
                ImportAttributeKey::StringLiteral(name) => name.value.as_str(),
            };
            if key != "type" || attribute.value.value != "json" {
                let message = format!("the import attribute `{key}: \"{}\"` is not supported", attribute.value.value);
                self.findings.push(Finding::new(
                    attribute.span,
                    message,
                    "only `with { type: \"json\" }` is, and a `.json` file needs none",
                ));
            }
        }
        let specifier = source.value.to_string();
        if let Some(at) = self.requests.iter().position(|request| request.specifier == specifier) {
            return at;
        }
        self.requests.push(Request { specifier, span: source.span });
        self.requests.len() - 1
    }

    fn declaration(&mut self, declaration: &Declaration<'_>) {
        match declaration {
            Declaration::VariableDeclaration(it) => {
                for declarator in &it.declarations {
                    self.pattern(&declarator.id);
                }
            }
            Declaration::FunctionDeclaration(it) => self.binding(it.id.as_ref()),
            Declaration::ClassDeclaration(it) => self.binding(it.id.as_ref()),
            _ => {}
        }
    }

    fn pattern(&mut self, pattern: &BindingPattern<'_>) {
        match pattern {
            BindingPattern::BindingIdentifier(it) => self.binding(Some(it)),
            BindingPattern::ObjectPattern(it) => {
                for property in &it.properties {
                    self.pattern(&property.value);
                }
                if let Some(rest) = &it.rest {
                    self.pattern(&rest.argument);
                }
            }
            BindingPattern::ArrayPattern(it) => {
                for element in it.elements.iter().flatten() {
                    self.pattern(element);
                }
                if let Some(rest) = &it.rest {
                    self.pattern(&rest.argument);
                }
            }
            BindingPattern::AssignmentPattern(it) => self.pattern(&it.left),
        }
    }

    fn binding(&mut self, id: Option<&oxc::ast::ast::BindingIdentifier<'_>>) {
        let Some(id) = id else { return };
        if let Some(symbol) = id.symbol_id.get() {
            self.export(id.name.to_string(), Origin::Local(symbol), id.span);
        }
    }

    fn export(&mut self, name: String, origin: Origin, span: Span) {
        self.exports.entry(name).or_insert(Export { origin, span });
    }
}
