//! What a handler does with its inputs, by name: which members it reads, and whether anything else
//! could read one.
//!
//! It is asked by a rename, which is right as a whole or not done at all. So each place where
//! `inputs` stands is either the read of a member whose name is written out, or *unclear*.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    panic,
    path::Path,
    thread,
};

use oxc::{
    allocator::Allocator,
    ast::ast::{
        BindingPattern, ComputedMemberExpression, Declaration, ExportDefaultDeclarationKind, Expression, FormalParameters,
        IdentifierReference, ModuleExportName, ObjectPattern, Program, PropertyKey, Statement, StaticMemberExpression, VariableDeclarator,
    },
    ast_visit::{
        Visit,
        walk::{walk_computed_member_expression, walk_static_member_expression, walk_variable_declarator},
    },
    parser::Parser,
    semantic::{ReferenceId, Scoping, SemanticBuilder, SymbolId},
    span::{GetSpan as _, Span},
};

use super::{globals, language, named::AppPart, nesting};

/// What a handler does with its inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HandlerInputs {
    /// The members that it reads, in order.
    pub(crate) uses: Vec<InputUse>,
    /// Where something else could read one, and why.
    pub(crate) unclear: Option<Unclear>,
}

/// The read of a member of the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InputUse {
    pub(crate) name: String,
    /// The bytes of the name.
    pub(crate) range: Range<usize>,
    pub(crate) form: UseForm,
}

/// How a member is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseForm {
    /// `inputs.name`, `{ name: x } = inputs`
    Name,
    /// `inputs["name"]`
    Quoted,
    /// `{ name } = inputs`
    Shorthand,
}

/// A place where it is not certain which inputs are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unclear {
    /// The byte.
    pub(crate) at: usize,
    /// A clause.
    pub(crate) why: &'static str,
}

/// A part of the app that a script names, and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedInScript {
    pub(crate) part: AppPart,
    pub(crate) name: String,
    pub(crate) range: Range<usize>,
}

/// What the function `export` of a script does with its inputs. `None` where the text is no script.
pub(crate) fn handler_inputs(path: &str, text: &str, export: &str) -> Option<HandlerInputs> {
    parsed(path, text, |program, scoping| {
        let Some(parameters) = function(program, export) else {
            let why = "the handler is not written as a function here";
            return HandlerInputs { uses: Vec::new(), unclear: Some(Unclear { at: 0, why }) };
        };
        read(program, scoping, parameters)
    })
}

/// What of the app a script names. Empty where the text is no script.
pub(crate) fn names(path: &str, text: &str) -> Vec<NamedInScript> {
    let found = parsed(path, text, |program, scoping| {
        let (_, named) = globals::used(program, scoping);
        let of = |named: globals::NamedPart| NamedInScript {
            part: named.part,
            name: named.name,
            // Without the quotes.
            range: named.span.start as usize + 1..(named.span.end as usize).saturating_sub(1),
        };
        named.into_iter().map(of).collect::<Vec<_>>()
    });
    found.unwrap_or_default()
}

/// Where a script has an export.
pub(crate) fn export_range(path: &str, text: &str, export: &str) -> Option<Range<usize>> {
    parsed(path, text, |program, _| {
        program.body.iter().find_map(|statement| {
            let is_it = match statement {
                Statement::ExportDefaultDeclaration(_) => export == "default",
                Statement::ExportDeclaration(it) => declared(&it.declaration, export).is_some(),
                Statement::ExportNamedDeclaration(it) => it.specifiers.iter().any(|specifier| exported(&specifier.exported) == export),
                _ => false,
            };
            let span = statement.span();
            is_it.then_some(span.start as usize..span.start as usize)
        })
    })?
}

/// Parses a script in a thread with room for its nesting.
fn parsed<T: Send>(path: &str, text: &str, read: impl FnOnce(&Program<'_>, &Scoping) -> T + Send) -> Option<T> {
    if nesting::too_deep(text).is_some() {
        return None;
    }
    let work = || {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, text, language::source_type(Path::new(path))).parse();
        if parsed.program.body.is_empty() {
            return None;
        }
        let scoping = SemanticBuilder::new_compiler().build(&parsed.program).semantic.into_scoping();
        Some(read(&parsed.program, &scoping))
    };
    thread::scope(|scope| {
        let reading = thread::Builder::new().stack_size(nesting::STACK_BYTES).spawn_scoped(scope, work).ok()?;
        reading.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
    })
}

/// The parameters of an exported function.
fn function<'p, 'a>(program: &'p Program<'a>, export: &str) -> Option<&'p FormalParameters<'a>> {
    program.body.iter().find_map(|statement| match statement {
        Statement::ExportDefaultDeclaration(it) if export == "default" => match &it.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => Some(&*function.params),
            declaration => parameters(program, declaration.as_expression()?),
        },
        Statement::ExportDeclaration(it) => in_declaration(program, &it.declaration, export),
        Statement::ExportNamedDeclaration(it) => {
            let specifier = it.specifiers.iter().find(|specifier| exported(&specifier.exported) == export)?;
            local(program, exported(&specifier.local))
        }
        _ => None,
    })
}

fn exported<'p>(name: &'p ModuleExportName<'_>) -> &'p str {
    match name {
        ModuleExportName::IdentifierName(name) => name.name.as_str(),
        ModuleExportName::IdentifierReference(name) => name.name.as_str(),
        ModuleExportName::StringLiteral(name) => name.value.as_str(),
    }
}

fn parameters<'p, 'a>(program: &'p Program<'a>, value: &'p Expression<'a>) -> Option<&'p FormalParameters<'a>> {
    match value.get_inner_expression() {
        Expression::ArrowFunctionExpression(function) => Some(&function.params),
        Expression::FunctionExpression(function) => Some(&function.params),
        Expression::Identifier(name) => local(program, &name.name),
        _ => None,
    }
}

/// The parameters of a function that the module declares under a name.
fn local<'p, 'a>(program: &'p Program<'a>, name: &str) -> Option<&'p FormalParameters<'a>> {
    program.body.iter().find_map(|statement| match statement {
        Statement::FunctionDeclaration(function) if function.id.as_ref().is_some_and(|id| id.name == name) => Some(&*function.params),
        Statement::VariableDeclaration(it) => it.declarations.iter().find_map(|declarator| of_variable(program, declarator, name)),
        Statement::ExportDeclaration(it) => in_declaration(program, &it.declaration, name),
        _ => None,
    })
}

fn in_declaration<'p, 'a>(program: &'p Program<'a>, declaration: &'p Declaration<'a>, name: &str) -> Option<&'p FormalParameters<'a>> {
    match declaration {
        Declaration::FunctionDeclaration(function) if function.id.as_ref().is_some_and(|id| id.name == name) => Some(&*function.params),
        Declaration::VariableDeclaration(it) => it.declarations.iter().find_map(|declarator| of_variable(program, declarator, name)),
        _ => None,
    }
}

fn declared(declaration: &Declaration<'_>, name: &str) -> Option<Span> {
    match declaration {
        Declaration::FunctionDeclaration(function) => function.id.as_ref().filter(|id| id.name == name).map(|id| id.span),
        Declaration::VariableDeclaration(it) => it.declarations.iter().find_map(|declarator| match &declarator.id {
            BindingPattern::BindingIdentifier(id) if id.name == name => Some(id.span),
            _ => None,
        }),
        _ => None,
    }
}

fn of_variable<'p, 'a>(program: &'p Program<'a>, declarator: &'p VariableDeclarator<'a>, name: &str) -> Option<&'p FormalParameters<'a>> {
    match (&declarator.id, &declarator.init) {
        // One that is itself is no function.
        (BindingPattern::BindingIdentifier(id), Some(value)) if id.name == name && !matches!(value, Expression::Identifier(_)) => {
            parameters(program, value)
        }
        _ => None,
    }
}

fn read(program: &Program<'_>, scoping: &Scoping, parameters: &FormalParameters<'_>) -> HandlerInputs {
    let mut reader = Reader {
        scoping,
        whole: BTreeSet::new(),
        inputs: BTreeSet::new(),
        known: BTreeSet::new(),
        places: BTreeMap::new(),
        found: HandlerInputs::default(),
    };
    let Some(first) = parameters.items.first() else {
        if let Some(rest) = &parameters.rest {
            reader.is_unclear(rest.span(), "the handler takes all its arguments at once");
        }
        return reader.found;
    };
    reader.take_argument(&first.pattern);
    reader.visit_program(program);
    reader.look_for_others();
    reader.found.uses.sort_by_key(|found| found.range.start);
    reader.found
}

struct Reader<'s> {
    scoping: &'s Scoping,
    /// The variables that are the handler's first argument.
    whole: BTreeSet<SymbolId>,
    /// The variables that are `inputs`.
    inputs: BTreeSet<SymbolId>,
    /// Where one of them stands, and it is known what for.
    known: BTreeSet<ReferenceId>,
    /// Where they stand at all.
    places: BTreeMap<ReferenceId, Span>,
    found: HandlerInputs,
}

impl Reader<'_> {
    fn is_unclear(&mut self, span: Span, why: &'static str) {
        let at = span.start as usize;
        if self.found.unclear.as_ref().is_none_or(|known| at < known.at) {
            self.found.unclear = Some(Unclear { at, why });
        }
    }

    /// Takes what is bound to the handler's first argument.
    fn take_argument(&mut self, pattern: &BindingPattern<'_>) {
        match pattern {
            BindingPattern::BindingIdentifier(name) => self.whole.extend(name.symbol_id.get()),
            BindingPattern::ObjectPattern(pattern) => {
                let mut has_inputs = false;
                for property in &pattern.properties {
                    if property.key.static_name().is_some_and(|key| key == "inputs") {
                        has_inputs = true;
                        self.take_inputs(&property.value);
                    }
                }
                if let Some(rest) = pattern.rest.as_ref().filter(|_| !has_inputs) {
                    self.is_unclear(rest.span, "`inputs` is among what the rest of a pattern takes");
                }
            }
            other => self.is_unclear(other.span(), "the argument is taken apart in a way that is not followed"),
        }
    }

    /// Takes what is bound to `inputs`.
    fn take_inputs(&mut self, pattern: &BindingPattern<'_>) {
        match pattern {
            BindingPattern::BindingIdentifier(name) => self.inputs.extend(name.symbol_id.get()),
            BindingPattern::ObjectPattern(pattern) => self.take_members(pattern),
            other => self.is_unclear(other.span(), "`inputs` is taken apart in a way that is not followed"),
        }
    }

    fn take_members(&mut self, pattern: &ObjectPattern<'_>) {
        for property in &pattern.properties {
            let span = property.key.span();
            let (name, form) = match &property.key {
                PropertyKey::StaticIdentifier(name) if property.shorthand => (name.name.as_str(), UseForm::Shorthand),
                PropertyKey::StaticIdentifier(name) if !property.computed => (name.name.as_str(), UseForm::Name),
                PropertyKey::StringLiteral(name) => (name.value.as_str(), UseForm::Quoted),
                _ => {
                    self.is_unclear(span, "the name of an input is computed");
                    continue;
                }
            };
            self.found.uses.push(InputUse { name: name.to_owned(), range: inner(span, form), form });
        }
        if let Some(rest) = &pattern.rest {
            self.is_unclear(rest.span, "the rest of the inputs is taken as a whole");
        }
    }

    /// The reference by which an expression is one of some variables.
    fn reference(&self, expression: &Expression<'_>, symbols: &BTreeSet<SymbolId>) -> Option<ReferenceId> {
        let Expression::Identifier(name) = expression.get_inner_expression() else { return None };
        let reference = name.reference_id.get()?;
        let symbol = self.scoping.get_reference(reference).symbol_id()?;
        symbols.contains(&symbol).then_some(reference)
    }

    /// The reference by which an expression is `inputs`: the variable, or `argument.inputs`.
    fn as_inputs(&self, expression: &Expression<'_>) -> Option<ReferenceId> {
        if let Some(reference) = self.reference(expression, &self.inputs) {
            return Some(reference);
        }
        match expression.get_inner_expression() {
            Expression::StaticMemberExpression(member) if member.property.name == "inputs" => self.reference(&member.object, &self.whole),
            _ => None,
        }
    }

    /// Looks for places of which nothing is known.
    fn look_for_others(&mut self) {
        let symbols: Vec<SymbolId> = self.inputs.iter().chain(&self.whole).copied().collect();
        for symbol in symbols {
            for reference in self.scoping.get_resolved_reference_ids(symbol) {
                if !self.known.contains(reference) {
                    let span = self.places.get(reference).copied().unwrap_or_default();
                    self.is_unclear(span, "`inputs` is passed on as a whole");
                }
            }
        }
    }
}

/// The bytes of a name, without its quotes.
fn inner(span: Span, form: UseForm) -> Range<usize> {
    let (start, end) = (span.start as usize, span.end as usize);
    if form == UseForm::Quoted { start + 1..end.saturating_sub(1) } else { start..end }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if let Some(reference) = it.reference_id.get() {
            self.places.insert(reference, it.span);
        }
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if let Some(reference) = self.as_inputs(&it.object) {
            self.known.insert(reference);
            let range = inner(it.property.span, UseForm::Name);
            self.found.uses.push(InputUse { name: it.property.name.to_string(), range, form: UseForm::Name });
        } else if it.property.name != "inputs"
            && let Some(reference) = self.reference(&it.object, &self.whole)
        {
            self.known.insert(reference);
        }
        walk_static_member_expression(self, it);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        if let (Some(reference), Expression::StringLiteral(name)) = (self.as_inputs(&it.object), &it.expression) {
            self.known.insert(reference);
            let range = inner(name.span, UseForm::Quoted);
            self.found.uses.push(InputUse { name: name.value.to_string(), range, form: UseForm::Quoted });
        }
        walk_computed_member_expression(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let Some(value) = &it.init {
            if let (Some(reference), BindingPattern::ObjectPattern(pattern)) = (self.as_inputs(value), &it.id) {
                self.known.insert(reference);
                self.take_members(pattern);
            } else if let (Some(reference), BindingPattern::ObjectPattern(_)) = (self.reference(value, &self.whole), &it.id) {
                self.known.insert(reference);
                self.take_argument(&it.id);
            }
        }
        walk_variable_declarator(self, it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let found = handler_inputs("handler.ts", text, "default").unwrap();
        let uses = found.uses.iter().map(|found| {
            assert_eq!(&text[found.range.clone()], found.name);
            format!("{} {:?}; ", found.name, found.form)
        });
        uses.collect::<String>() + &found.unclear.map(|unclear| format!("unclear {:?}", &text[unclear.at..][..6])).unwrap_or_default()
    }

    #[test]
    fn reads_of_members_are_certain() {
        for (text, expected) in [
            ("export default async ({ inputs }, ctx) => inputs.id + inputs['b c'] + inputs?.x;", "id Name; b c Quoted; x Name; "),
            ("export default function h({ inputs: { id, name: n, 'q': r = 1 } }) { return id; }", "id Shorthand; name Name; q Quoted; "),
            ("const h: Handler<'x'> = async (call) => { const { inputs } = call; return inputs.id; }; export default h;", "id Name; "),
            ("const h = async (call) => call.inputs.id + call.tool; export { h as default };", "id Name; "),
            ("export default (async ({ inputs }) => { const { a, ...rest } = inputs; }) satisfies H;", "a Shorthand; unclear \"...res\""),
            ("export default ({ inputs: i }) => { { const i = { id: 1 }; i.id; } return i.id; }", "id Name; "),
            ("export default () => 1;", ""),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn anything_else_is_unclear() {
        for text in [
            "export default ({ inputs }) => f(inputs);",
            "export default ({ inputs }) => inputs[name];",
            "export default ({ inputs }) => ({ ...inputs });",
            "export default (call) => f(call);",
            "export default ({ ...all }) => all;",
            "export default ({ inputs }) => { const copy = inputs; return copy.id; };",
            "export default make(({ inputs }) => inputs.id);",
            "export default (...all) => all[0].inputs.id;",
            "export default ({ inputs = {} }) => inputs.id;",
        ] {
            assert!(handler_inputs("h.ts", text, "default").unwrap().unclear.is_some(), "{text}");
        }
    }

    #[test]
    fn names_have_their_places() {
        let text = "import { response } from 'millrace';\nexport default async (_, ctx) => { await ctx.db('main').query('SELECT 1'); return response(1).suggest(\"other\", {}); };";
        let found = names("h.ts", text);
        let shown: Vec<(&str, &str)> = found.iter().map(|named| (named.name.as_str(), &text[named.range.clone()])).collect();
        assert_eq!(shown, [("main", "main"), ("other", "other")]);
    }
}
