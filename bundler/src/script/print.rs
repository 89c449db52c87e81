//! The modules of a script as one expression.

use std::collections::BTreeMap;

use millrace_core::app::{MappedPlace, ScriptMap};
use oxc::{
    allocator::{Allocator, ArenaVec},
    ast::{
        ast::{
            BindingIdentifier, BindingPattern, Class, Declaration, ExportDefaultDeclarationKind, Expression, Statement,
            VariableDeclarationKind, VariableDeclarator,
        },
        builder::AstBuilder,
    },
    codegen::{Codegen, CodegenOptions, CommentOptions},
    semantic::SymbolFlags,
    span::{SPAN, Span},
    str::Ident,
};

use super::{
    graph::{Binding, Graph, Kept, Resolution},
    module::{Code, Content},
    name::{self, Names},
    node, npm, resolve,
};

/// A program, and what is known of it.
pub(super) struct Printed {
    pub(super) program: String,
    pub(super) map: ScriptMap,
    /// The bytes of each package, by name.
    pub(super) packages: BTreeMap<String, u64>,
}

/// Prints the program, and says where its code comes from.
pub(super) fn program<'a>(allocator: &'a Allocator, mut graph: Graph<'a>, kept: &Kept) -> Printed {
    let order = &kept.modules;
    let names = name::names(&graph, order);
    let waits = order.iter().any(|module| graph.modules[*module].code().is_some_and(|code| code.awaits.is_some()));

    let host = names.of(&Binding::HostNamespace);
    let mut out = format!("({}function ({host}) {{ \"use strict\"; ", if waits { "async " } else { "" });
    if !names.host.is_empty() {
        let wanted: Vec<String> = names
            .host
            .iter()
            .map(|name| {
                let local = names.of(&Binding::Host(name.clone()));
                if local == name { name.clone() } else { format!("{name}: {local}") }
            })
            .collect();
        out.push_str(&format!("const {{ {} }} = {host}; ", wanted.join(", ")));
    }
    for &module in &names.namespaces {
        let object = namespace(&graph, &names, module);
        out.push_str(&format!("const {} = Object.freeze({object}); ", names.of(&Binding::Namespace(module))));
    }
    let exports = exports(&graph, &names);

    let (mut map, mut packages) = (ScriptMap::default(), BTreeMap::new());
    let mut lines = out.matches('\n').count();
    for (position, &module) in order.iter().enumerate() {
        if position > 0 {
            out.push('\n');
            lines += 1;
        }
        let path = resolve::slashes(&graph.modules[module].path);
        let (first_line, start) = (lines, out.len());
        let first_column = out.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
        let file = map.files.len() as u32;
        map.files.push(path);
        let renames = renames(&graph, &names, module);
        let default = names.of(&Binding::Default(module)).to_owned();
        let (source, is_made) = (graph.modules[module].parsed, graph.modules[module].is_made);
        let lines_before = u32::from(graph.modules[module].shift > 0);
        match &mut graph.modules[module].content {
            Content::Json(text) => out.push_str(&format!("const {default} = {text};")),
            Content::Code(code) => {
                let (printed, places) = print(allocator, code, source, &renames, &default, |statement| kept.has(module, statement));
                out.push_str(&printed);
                let places = places.into_iter().filter(|_| !is_made).filter_map(|place| {
                    Some(MappedPlace {
                        line: place.line + first_line as u32,
                        column: if place.line == 0 { place.column + first_column as u32 } else { place.column },
                        file,
                        source_line: place.source_line.checked_sub(lines_before)?,
                        ..place
                    })
                });
                map.places.extend(places);
            }
        }
        lines += out[start..].matches('\n').count();
        *packages.entry(package_of(&map.files[file as usize]).to_owned()).or_default() += (out.len() - start) as u64;
    }
    out.push_str(&format!("\nreturn {exports};\n}})\n"));
    map.places.sort_by_key(|place| (place.line, place.column));
    Printed { program: out, map, packages }
}

/// The name of the package that a file belongs to, or the module of Node that it is; `""` for the
/// app's own.
fn package_of(path: &str) -> &str {
    match path.rsplit_once("node_modules/") {
        Some((_, inside)) => npm::package(inside),
        None if path.starts_with(node::PREFIX) => path,
        None => "",
    }
}

/// The new names of a module's symbols.
fn renames(graph: &Graph<'_>, names: &Names, module: usize) -> Vec<(oxc::semantic::SymbolId, String)> {
    let Some(code) = graph.modules[module].code() else { return Vec::new() };
    let mut renames = Vec::new();
    for import in &code.imports {
        if let Some(name) = name::of_import(graph, names, module, import.request, &import.name) {
            renames.push((import.symbol, name.to_owned()));
        }
    }
    for symbol in code.scoping.get_bindings(code.scoping.root_scope_id()).values().copied() {
        if !code.imports.iter().any(|import| import.symbol == symbol) {
            renames.push((symbol, names.of(&Binding::Local(module, symbol)).to_owned()));
        }
    }
    renames
}

/// A namespace object: getters, so that it is there before its module ran, and shows what the
/// module makes of its variables.
fn namespace(graph: &Graph<'_>, names: &Names, module: usize) -> String {
    let mut parts = vec!["__proto__: null".to_owned()];
    for name in graph.names(module) {
        if let Resolution::Found(binding) = graph.resolve(module, &name) {
            parts.push(format!("get {}() {{ return {}; }}", key(&name), names.of(&binding)));
        }
    }
    format!("{{ {} }}", parts.join(", "))
}

/// The entry's exports. When they are made everything has run, so only what changes later needs a
/// getter.
fn exports(graph: &Graph<'_>, names: &Names) -> String {
    let mut parts = vec!["__proto__: null".to_owned()];
    for name in graph.names(0) {
        let Resolution::Found(binding) = graph.resolve(0, &name) else { continue };
        let local = names.of(&binding);
        if changes(graph, &binding) {
            parts.push(format!("get {}() {{ return {local}; }}", key(&name)));
        } else if local == name {
            parts.push(name);
        } else {
            parts.push(format!("{}: {local}", key(&name)));
        }
    }
    format!("{{ {} }}", parts.join(", "))
}

fn changes(graph: &Graph<'_>, binding: &Binding) -> bool {
    let Binding::Local(module, symbol) = binding else { return false };
    graph.modules[*module].code().is_some_and(|code| code.scoping.symbol_is_mutated(*symbol))
}

/// A property name. A computed one where the plain one would mean the prototype.
fn key(name: &str) -> String {
    let plain = oxc::syntax::identifier::is_identifier_name(name) && name != "__proto__";
    if plain { name.to_owned() } else { format!("[{}]", serde_json::Value::from(name)) }
}

fn print<'a>(
    allocator: &'a Allocator,
    code: &mut Code<'a>,
    source: &'a str,
    renames: &[(oxc::semantic::SymbolId, String)],
    default: &str,
    is_kept: impl Fn(usize) -> bool,
) -> (String, Vec<MappedPlace>) {
    let mut rewriter = Rewriter { builder: AstBuilder::new(allocator), allocator, renamed_classes: Vec::new(), default };
    for (symbol, name) in renames {
        if code.scoping.symbol_name(*symbol) != name && code.scoping.symbol_flags(*symbol).contains(SymbolFlags::Class) {
            rewriter.renamed_classes.push(*symbol);
        }
    }
    let body = std::mem::replace(&mut code.program.body, ArenaVec::new_in(&allocator));
    let mut statements = ArenaVec::new_in(&allocator);
    for (number, statement) in body.into_iter().enumerate() {
        if is_kept(number)
            && let Some(statement) = rewriter.statement(statement)
        {
            statements.push(statement);
        }
    }
    code.program.body = statements;
    code.program.directives.clear();
    code.program.hashbang = None;
    let mut scoping = std::mem::take(&mut code.scoping);
    for (symbol, name) in renames {
        scoping.set_symbol_name(*symbol, Ident::from_str_in(name, &allocator));
    }
    let options =
        CodegenOptions { comments: CommentOptions::disabled(), source_map_path: Some("module".into()), ..CodegenOptions::default() };
    let printed = Codegen::new().with_options(options).with_source_text(source).with_scoping(Some(scoping)).build(&code.program);
    let places = printed.map.iter().flat_map(|map| map.get_tokens()).map(|token| MappedPlace {
        line: token.get_dst_line(),
        column: token.get_dst_col(),
        file: 0,
        source_line: token.get_src_line(),
        source_column: token.get_src_col(),
    });
    (printed.code.trim_end().to_owned(), places.collect())
}

struct Rewriter<'a, 'n> {
    builder: AstBuilder<'a>,
    allocator: &'a Allocator,
    renamed_classes: Vec<oxc::semantic::SymbolId>,
    /// The name of the default export, where it has none of its own.
    default: &'n str,
}

impl<'a> Rewriter<'a, '_> {
    /// The statement without its `import` or `export`.
    fn statement(&self, statement: Statement<'a>) -> Option<Statement<'a>> {
        match statement {
            Statement::ImportDeclaration(_)
            | Statement::ExportAllDeclaration(_)
            | Statement::ExportNamedDeclaration(_)
            | Statement::ExportFromDeclaration(_) => None,
            Statement::ExportDeclaration(it) => match it.unbox().declaration {
                Declaration::ClassDeclaration(class) => Some(self.class(class.unbox())),
                declaration => Some(Statement::from(declaration)),
            },
            Statement::ClassDeclaration(class) => Some(self.class(class.unbox())),
            Statement::ExportDefaultDeclaration(it) => {
                let it = it.unbox();
                match it.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(mut function) => {
                        if function.id.is_none() {
                            function.id = Some(self.identifier(self.default));
                        }
                        Some(Statement::FunctionDeclaration(function))
                    }
                    ExportDefaultDeclarationKind::ClassDeclaration(class) if class.id.is_some() => Some(self.class(class.unbox())),
                    ExportDefaultDeclarationKind::ClassDeclaration(class) => Some(self.constant(
                        it.span,
                        self.identifier(self.default),
                        VariableDeclarationKind::Const,
                        self.expression(class.unbox()),
                    )),
                    ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => None,
                    other => {
                        let value = other.into_expression();
                        Some(self.constant(it.span, self.identifier(self.default), VariableDeclarationKind::Const, value))
                    }
                }
            }
            other => Some(other),
        }
    }

    /// A class. One that gets another name becomes `let Other = class Name { … }`: its `name` is
    /// what errors and logs show.
    fn class(&self, mut class: Class<'a>) -> Statement<'a> {
        let renamed = class.id.as_ref().and_then(|id| id.symbol_id.get()).is_some_and(|symbol| self.renamed_classes.contains(&symbol));
        match class.id.take() {
            Some(id) if renamed => {
                class.id = Some(self.identifier(id.name.as_str()));
                let span = class.span;
                self.constant(span, id, VariableDeclarationKind::Let, self.expression(class))
            }
            id => {
                class.id = id;
                Statement::ClassDeclaration(oxc::allocator::ArenaBox::new_in(class, &self.allocator))
            }
        }
    }

    fn expression(&self, mut class: Class<'a>) -> Expression<'a> {
        class.r#type = oxc::ast::ast::ClassType::ClassExpression;
        Expression::ClassExpression(oxc::allocator::ArenaBox::new_in(class, &self.allocator))
    }

    fn identifier(&self, name: &str) -> BindingIdentifier<'a> {
        BindingIdentifier::new(SPAN, Ident::from_str_in(name, &self.allocator), &self.builder)
    }

    fn constant(&self, span: Span, id: BindingIdentifier<'a>, kind: VariableDeclarationKind, value: Expression<'a>) -> Statement<'a> {
        let pattern = BindingPattern::BindingIdentifier(oxc::allocator::ArenaBox::new_in(id, &self.allocator));
        let declarator = VariableDeclarator::new(SPAN, pattern, None, Some(value), false, &self.builder);
        Statement::new_variable_declaration(span, kind, [declarator], false, &self.builder)
    }
}
