//! What neither the engine nor the transformer knows: standard decorators, `accessor`, and a
//! variable that a namespace exports and changes.
//!
//! All of it is done in the text, where it stands, so that the lines of a module stay what they
//! are. The result is what TypeScript makes of decorators, with the same helpers.

use oxc::{
    ast::ast::{
        AccessorProperty, AccessorPropertyType, BindingPattern, Class, ClassElement, ClassType, Declaration, Decorator, ExportDeclaration,
        ExportDefaultDeclaration, ExportDefaultDeclarationKind, FormalParameter, MethodDefinition, MethodDefinitionKind, Program,
        PropertyDefinition, PropertyKey, Statement, TSNamespaceDeclaration, TSNamespaceDeclarationBody, VariableDeclaration,
        VariableDeclarationKind,
    },
    ast_visit::{Visit, walk},
    span::{GetSpan, Span},
};

use super::{commonjs, place::Finding};

/// What the specifiers of the helpers begin with that the transformer and this module import.
pub(super) const HELPERS: &str = "@oxc-project/runtime/helpers/";

/// The text of a helper.
pub(super) fn helper(name: &str) -> Option<&'static str> {
    Some(match name {
        "decorate" => include_str!("helpers/decorate.js"),
        "decorateMetadata" => include_str!("helpers/decorateMetadata.js"),
        "decorateParam" => include_str!("helpers/decorateParam.js"),
        "esDecorate" => include_str!("helpers/esDecorate.js"),
        "propKey" => include_str!("helpers/propKey.js"),
        "runInitializers" => include_str!("helpers/runInitializers.js"),
        _ => return None,
    })
}

/// The text without what is lowered here. `None` where it has nothing of the kind. `legacy`:
/// decorators are left to the transformer.
pub(super) fn lowered(source: &str, program: &Program<'_>, legacy: bool) -> Result<Option<String>, Vec<Finding>> {
    let words = ["accessor", "@", "namespace", "module"];
    if !words.iter().any(|word| source.contains(word)) {
        return Ok(None);
    }
    let mut lowering = Lowering {
        source,
        own: commonjs::own_prefix(source),
        legacy,
        edits: Vec::new(),
        number: 0,
        helpers: [false; 3],
        exported: None,
        findings: Vec::new(),
    };
    lowering.visit_program(program);
    lowering.sort();
    if !lowering.findings.is_empty() {
        return Err(lowering.findings);
    }
    Ok(lowering.text())
}

struct Edit {
    at: u32,
    end: u32,
    text: String,
}

struct Lowering<'s> {
    source: &'s str,
    /// What the names begin with that are made.
    own: String,
    legacy: bool,
    edits: Vec<Edit>,
    /// Of the last name that was made.
    number: usize,
    /// Which of `esDecorate`, `runInitializers` and `propKey` are used.
    helpers: [bool; 3],
    /// The `export` of the class that comes next, and whether it is a default export.
    exported: Option<(Span, bool)>,
    findings: Vec<Finding>,
}

/// A member of a class with decorators.
struct Member<'m, 'a> {
    kind: &'static str,
    decorators: &'m [Decorator<'a>],
    key: &'m PropertyKey<'a>,
    computed: bool,
    is_static: bool,
}

/// What the static block of a class does, and the names that it shares with the members.
#[derive(Default)]
struct Block {
    names: Vec<String>,
    /// Static methods, methods, static fields, fields: the order in which they are decorated.
    calls: [String; 4],
    has_instance: bool,
    has_static: bool,
}

impl Lowering<'_> {
    fn name(&mut self, base: &str) -> String {
        self.number += 1;
        format!("{}{base}{}", self.own, self.number)
    }

    fn slice(&self, span: Span) -> &str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.edits.push(Edit { at, end: at, text: text.into() });
    }

    fn lines(text: &str) -> usize {
        text.matches('\n').count()
    }

    /// Removes a span, and gives the ends of lines in it, which have to stand somewhere.
    fn remove(&mut self, span: Span) -> usize {
        self.edits.push(Edit { at: span.start, end: span.end, text: String::new() });
        Self::lines(self.slice(span))
    }

    fn refuse(&mut self, span: Span, message: &str, help: &str) {
        self.findings.push(Finding::new(span, message, help));
    }

    /// Brings the edits into their order. What is written anew as a whole cannot have edits in it.
    fn sort(&mut self) {
        self.edits.sort_by_key(|edit| (edit.at, edit.end));
        let mut reached = 0;
        let mut within = Vec::new();
        for edit in &self.edits {
            if edit.at < reached {
                within.push(Span::new(edit.at, edit.end));
            }
            reached = reached.max(edit.end);
        }
        for span in within {
            self.refuse(
                span,
                "a class with decorators or `accessor` is not supported within a decorator or a computed key",
                "declare the class before, and use its name there",
            );
        }
    }

    fn text(self) -> Option<String> {
        if self.edits.is_empty() {
            return None;
        }
        let own = &self.own;
        let used = ["esDecorate", "runInitializers", "propKey"].into_iter().zip(self.helpers).filter(|(_, is_used)| *is_used);
        let mut out: String = used.map(|(helper, _)| format!("import {own}{helper} from \"{HELPERS}{helper}\"; ")).collect();
        let mut at = 0;
        if out.is_empty() {
            // Nothing is put before the text.
        } else if self.source.starts_with("#!") {
            out.push_str("//");
            at = 2;
        }
        for edit in &self.edits {
            out.push_str(self.source.get(at..edit.at as usize).unwrap_or_default());
            out.push_str(&edit.text);
            at = at.max(edit.end as usize);
        }
        out.push_str(self.source.get(at..).unwrap_or_default());
        Some(out)
    }

    /// The decorators of something as a list, without the lines that `lines` says are put
    /// elsewhere.
    fn list(&mut self, decorators: &[Decorator<'_>]) -> (String, usize) {
        let texts: Vec<String> = decorators.iter().map(|decorator| self.slice(decorator.expression.span()).to_owned()).collect();
        let mut all = 0;
        if let (Some(first), Some(last)) = (decorators.first(), decorators.last()) {
            all = self.remove(Span::new(first.span.start, last.span.end));
        }
        let text = texts.join(", ");
        let missing = all.saturating_sub(Self::lines(&text));
        (text, missing)
    }

    /// Gives a decorated member its key, and says how it is decorated.
    fn member(&mut self, member: &Member<'_, '_>, block: &mut Block) -> Option<(String, String)> {
        self.helpers[0] = true;
        if let PropertyKey::PrivateIdentifier(key) = member.key {
            self.refuse(
                key.span,
                "decorators of a private name are not supported",
                "decorate a public member, or set `experimentalDecorators` in `tsconfig.json` and see whether its decorators fit",
            );
            return None;
        }
        let (list, missing) = self.list(member.decorators);
        let decorators = self.name("d");
        block.names.push(decorators.clone());
        let span = member.key.span();
        let (key, name) = if member.computed {
            self.helpers[2] = true;
            let name = self.name("k");
            block.names.push(name.clone());
            (format!("{name} = {}propKey({})", self.own, self.slice(span)), name)
        } else {
            let text = match member.key.static_name() {
                Some(text) => serde_json::Value::from(text.into_owned()).to_string(),
                None => self.slice(span).to_owned(),
            };
            (text.clone(), text)
        };
        let head = format!("{}[({decorators} = [{list}], {key})]", "\n".repeat(missing));
        // The brackets of a computed key stand outside of its span.
        let (start, end) = if member.computed { self.brackets(span) } else { (span.start, span.end) };
        self.edits.push(Edit { at: start, end, text: head });
        let Member { kind, is_static, .. } = member;
        let access = match *kind {
            "method" | "getter" => format!("{{ has: (o) => {name} in o, get: (o) => o[{name}] }}"),
            "setter" => format!("{{ has: (o) => {name} in o, set: (o, v) => {{ o[{name}] = v; }} }}"),
            _ => format!("{{ has: (o) => {name} in o, get: (o) => o[{name}], set: (o, v) => {{ o[{name}] = v; }} }}"),
        };
        let own = &self.own;
        let context =
            format!("{{ kind: \"{kind}\", name: {name}, static: {is_static}, private: false, access: {access}, metadata: {own}metadata }}");
        Some((decorators, context))
    }

    /// A computed key with its brackets.
    fn brackets(&self, span: Span) -> (u32, u32) {
        let before = self.source.get(..span.start as usize).and_then(|text| text.rfind('[')).unwrap_or(span.start as usize);
        let after =
            self.source.get(span.end as usize..).and_then(|text| text.find(']')).map_or(span.end as usize, |at| span.end as usize + at + 1);
        (before as u32, after as u32)
    }

    fn method(&mut self, it: &MethodDefinition<'_>, block: &mut Block) {
        let kind = match it.kind {
            MethodDefinitionKind::Get => "getter",
            MethodDefinitionKind::Set => "setter",
            _ => "method",
        };
        let member = Member { kind, decorators: &it.decorators, key: &it.key, computed: it.computed, is_static: it.r#static };
        self.end(it.span, &it.decorators);
        let Some((decorators, context)) = self.member(&member, block) else { return };
        let (extra, place) = if it.r#static { ("staticExtra", 0) } else { ("extra", 1) };
        block.has_static |= it.r#static;
        block.has_instance |= !it.r#static;
        let own = &self.own;
        block.calls[place].push_str(&format!("{own}esDecorate(this, null, {decorators}, {context}, null, {own}{extra}); "));
    }

    fn field(&mut self, it: &PropertyDefinition<'_>, block: &mut Block) {
        let member = Member { kind: "field", decorators: &it.decorators, key: &it.key, computed: it.computed, is_static: it.r#static };
        self.end(it.span, &it.decorators);
        let Some((decorators, context)) = self.member(&member, block) else { return };
        let (initial, extra) = self.initialized(block);
        let place = if it.r#static { 2 } else { 3 };
        let own = self.own.clone();
        block.calls[place].push_str(&format!("{own}esDecorate(null, null, {decorators}, {context}, {initial}, {extra}); "));
        let word = if it.r#static { "static " } else { "" };
        let name = self.name("x");
        let after = format!("; {word}#{name} = {own}runInitializers(this, {extra});");
        match &it.value {
            Some(value) => {
                let span = value.span();
                self.insert(span.start, format!("{own}runInitializers(this, {initial}, ("));
                self.insert(span.end, format!(")){after}"));
            }
            None => {
                let mut end = if it.computed { self.brackets(it.key.span()).1 } else { it.key.span().end };
                let rest = self.source.get(end as usize..).unwrap_or_default();
                if let Some(at) = mark(rest) {
                    let is_definite = rest[at..].starts_with('!');
                    end += at as u32 + 1;
                    if is_definite {
                        // A field with a value cannot have it.
                        self.remove(Span::new(end - 1, end));
                    }
                }
                let end = it.type_annotation.as_ref().map_or(end, |annotation| annotation.span.end);
                self.insert(end, format!(" = {own}runInitializers(this, {initial}, void 0){after}"));
            }
        }
    }

    /// Ends the member before one with decorators, where its line does: a bracket comes next.
    fn end(&mut self, span: Span, decorators: &[Decorator<'_>]) {
        let start = decorators.first().map_or(span.start, |first| first.span.start.min(span.start));
        self.insert(start, ";");
    }

    /// The names of the lists for the initializers of a field.
    fn initialized(&mut self, block: &mut Block) -> (String, String) {
        self.helpers[1] = true;
        let (initial, extra) = (self.name("i"), self.name("e"));
        block.names.push(format!("{initial} = []"));
        block.names.push(format!("{extra} = []"));
        (initial, extra)
    }

    /// `accessor x = 1` is a private field with a getter and a setter.
    fn accessor(&mut self, it: &AccessorProperty<'_>, block: &mut Block) {
        if it.r#type == AccessorPropertyType::TSAbstractAccessorProperty {
            return;
        }
        let own = self.own.clone();
        let field = self.name("a");
        let word = if it.r#static { "static " } else { "" };
        let (mut open, mut close) = (String::new(), String::new());
        let (key, again) = if it.decorators.is_empty() || self.legacy {
            let span = it.key.span();
            match it.computed {
                true => {
                    self.helpers[2] = true;
                    let name = self.name("k");
                    block.names.push(name.clone());
                    (format!("[{name} = {own}propKey({})]", self.slice(span)), format!("[{name}]"))
                }
                false => (self.slice(span).to_owned(), self.slice(span).to_owned()),
            }
        } else {
            let edits = self.edits.len();
            let member =
                Member { kind: "accessor", decorators: &it.decorators, key: &it.key, computed: it.computed, is_static: it.r#static };
            let Some((decorators, context)) = self.member(&member, block) else { return };
            // The key that was written into the text is written below.
            let key = self.edits.pop().map(|edit| edit.text).unwrap_or_default();
            self.edits.truncate(edits);
            let (initial, extra) = self.initialized(block);
            let place = usize::from(!it.r#static);
            block.calls[place].push_str(&format!("{own}esDecorate(this, null, {decorators}, {context}, {initial}, {extra}); "));
            let name = self.name("x");
            open = format!("{own}runInitializers(this, {initial}, (");
            close = format!(")); {word}#{name} = {own}runInitializers(this, {extra})");
            let again = match it.computed {
                true => {
                    let keys = format!("{own}k");
                    format!("[{}]", block.names.iter().rev().find(|name| name.starts_with(&keys)).cloned().unwrap_or_default())
                }
                false => self.slice(it.key.span()).to_owned(),
            };
            (key.trim_start_matches('\n').to_owned(), again)
        };
        // Decorators of the older kind belong to the getter.
        let decorators = match (self.legacy, it.decorators.first(), it.decorators.last()) {
            (true, Some(first), Some(last)) => self.slice(Span::new(first.span.start, last.span.end)).to_owned() + " ",
            _ => String::new(),
        };
        let end = if it.decorators.is_empty() { "" } else { ";" };
        let before = format!("{end}{word}#{field} = {open}");
        let after = format!(
            "{close}; {decorators}{word}get {key}() {{ return this.#{field}; }} {word}set {again}({own}value) {{ this.#{field} = {own}value; }}"
        );
        let start = it.decorators.first().map_or(it.span.start, |first| first.span.start.min(it.span.start));
        // The value stays where it is: what is in it may be lowered, too.
        let (value_start, value_end, none) = match &it.value {
            Some(value) => (value.span().start, value.span().end, ""),
            None => (it.span.end, it.span.end, "void 0"),
        };
        let above = Self::lines(self.slice(Span::new(start, value_start)));
        let below = Self::lines(self.slice(Span::new(value_end, it.span.end)));
        let missing = (above + below).saturating_sub(Self::lines(&after));
        let first = missing.min(above);
        self.edits.push(Edit { at: start, end: value_start, text: format!("{before}{}{none}", "\n".repeat(first)) });
        self.edits.push(Edit { at: value_end, end: it.span.end, text: after + &"\n".repeat(missing - first) });
    }

    fn class(&mut self, it: &Class<'_>, exported: Option<(Span, bool)>) {
        let whole = exported.map_or(it.span, |(span, _)| span);
        let decorated = |element: &ClassElement<'_>| match element {
            ClassElement::MethodDefinition(it) => !it.decorators.is_empty(),
            ClassElement::PropertyDefinition(it) => !it.decorators.is_empty(),
            ClassElement::AccessorProperty(it) => !it.decorators.is_empty(),
            _ => false,
        };
        let is_decorated = !self.legacy && (!it.decorators.is_empty() || it.body.body.iter().any(decorated));
        let has_accessors = it.body.body.iter().any(|element| matches!(element, ClassElement::AccessorProperty(_)));
        if it.declare || (!is_decorated && !has_accessors) {
            return;
        }
        if is_decorated && it.r#type == ClassType::ClassExpression {
            let span = it.decorators.first().map_or(it.span, |decorator| decorator.span);
            self.refuse(span, "decorators of a class expression are not supported", "declare the class: `class Name { … }`");
            return;
        }
        let mut block = Block::default();
        for element in &it.body.body {
            match element {
                ClassElement::AccessorProperty(it) => self.accessor(it, &mut block),
                ClassElement::MethodDefinition(it) if !self.legacy && !it.decorators.is_empty() => self.method(it, &mut block),
                ClassElement::PropertyDefinition(it) if !self.legacy && !it.decorators.is_empty() => self.field(it, &mut block),
                _ => {}
            }
        }
        if is_decorated {
            self.decorated_class(it, exported, block);
        } else if !block.names.is_empty() {
            // Names of computed keys.
            match it.r#type {
                ClassType::ClassDeclaration => self.insert(whole.start, format!("let {}; ", block.names.join(", "))),
                ClassType::ClassExpression => {
                    let span = it.body.span;
                    self.refuse(
                        span,
                        "`accessor` with a computed key is not supported in a class expression",
                        "declare the class: `class Name { … }`",
                    );
                }
            }
        }
    }

    fn decorated_class(&mut self, it: &Class<'_>, exported: Option<(Span, bool)>, mut block: Block) {
        let Some(name) = it.id.as_ref().map(|id| id.name.to_string()) else {
            self.refuse(it.span, "decorators of a class without a name are not supported", "give the class a name");
            return;
        };
        self.helpers = [true, true, self.helpers[2]];
        let own = self.own.clone();
        block.names.push(format!("{own}metadata"));
        let base = it.heritage.as_ref().map(|_| "Object.getPrototypeOf(this)[Symbol.metadata] ?? ".to_owned());
        let mut first = format!(
            "static {{ {own}metadata = typeof Symbol === \"function\" && Symbol.metadata ? Object.create({}null) : void 0; {}",
            base.unwrap_or_default(),
            block.calls.concat()
        );
        let mut last = String::new();
        let is_class = !it.decorators.is_empty();
        if is_class {
            let (list, _) = self.list(&it.decorators);
            block.names.extend([
                format!("{own}class = [{list}]"),
                format!("{own}classExtra = []"),
                format!("{own}descriptor"),
                format!("{own}this"),
            ]);
            first.push_str(&format!(
                "{own}esDecorate(null, {own}descriptor = {{ value: this }}, {own}class, \
                 {{ kind: \"class\", name: this.name, metadata: {own}metadata }}, null, {own}classExtra); \
                 {name} = {own}this = {own}descriptor.value; "
            ));
            last = format!(" static {{ {own}runInitializers({own}this, {own}classExtra); }}");
        }
        let target = if is_class { format!("{own}this") } else { "this".to_owned() };
        first.push_str(&format!(
            "if ({own}metadata) Object.defineProperty({target}, Symbol.metadata, \
             {{ enumerable: true, configurable: true, writable: true, value: {own}metadata }});"
        ));
        if block.has_static {
            block.names.push(format!("{own}staticExtra = []"));
            first.push_str(&format!(" {own}runInitializers({target}, {own}staticExtra);"));
        }
        first.push_str(" }");
        if block.has_instance {
            block.names.push(format!("{own}extra = []"));
            let field = self.name("x");
            first.push_str(&format!(" #{field} = {own}runInitializers(this, {own}extra);"));
        }
        let body = it.body.span;
        self.insert(body.start + 1, format!(" {first} "));
        if !last.is_empty() {
            self.insert(body.end - 1, last);
        }
        self.wrap_class(it, exported, &name, &format!("let {}; ", block.names.join(", ")));
    }

    /// Puts a class into a function that has the names which its members share.
    fn wrap_class(&mut self, it: &Class<'_>, exported: Option<(Span, bool)>, name: &str, names: &str) {
        let (own, is_class) = (self.own.clone(), !it.decorators.is_empty());
        let word = self.source.get(..it.body.span.start as usize).unwrap_or_default();
        let from = it.decorators.last().map_or(it.span.start, |last| last.span.end.max(it.span.start)) as usize;
        let class_at = word.get(from..).and_then(|text| text.find("class")).map_or(it.span.start, |at| (from + at) as u32);
        let id_end = it.id.as_ref().map_or(class_at, |id| id.span.end);
        // From the decorators and `export`, past `abstract`, up to `class`.
        let whole = exported.map_or(it.span, |(span, _)| span);
        let first_decorator = it.decorators.first().map_or(it.span.start, |first| first.span.start);
        let head = Span::new(whole.start.min(it.span.start).min(first_decorator), class_at);
        self.edits.retain(|edit| edit.at < head.start || edit.end > head.end || !edit.text.is_empty());
        let lines = Self::lines(self.slice(head)).saturating_sub(Self::lines(names));
        let export = if matches!(exported, Some((_, false))) { "export " } else { "" };
        let padding = "\n".repeat(lines);
        let (before, after) = match is_class {
            true => (
                format!("{export}let {name} = (() => {{ {names}{padding}var {name} = class"),
                format!(" return {name} = {own}this; }})();"),
            ),
            // What the members share is this class's own.
            false => (format!("{export}let {name} = (() => {{ {names}{padding}return class {name}"), " })();".to_owned()),
        };
        self.edits.push(Edit { at: head.start, end: id_end, text: before });
        let default = if matches!(exported, Some((_, true))) { format!(" export {{ {name} as default }};") } else { String::new() };
        self.insert(it.span.end, format!(";{after}{default}"));
    }

    /// `export let x` of a namespace: a variable, and a property that reads and sets it.
    fn variable(&mut self, it: &ExportDeclaration<'_>, variable: &VariableDeclaration<'_>, namespace: &str) {
        let mut names = Vec::new();
        for declarator in &variable.declarations {
            bound(&declarator.id, &mut names);
        }
        if variable.kind == VariableDeclarationKind::Const || variable.declare {
            return;
        }
        let own = &self.own;
        let properties: Vec<String> = names
            .iter()
            .map(|name| {
                format!(
                    "{name}: {{ enumerable: true, configurable: true, get: () => {name}, set: ({own}v: any) => {{ {name} = {own}v; }} }}"
                )
            })
            .collect();
        let removed = self.remove(Span::new(it.span.start, variable.span.start));
        let text = format!("; Object.defineProperties({namespace}, {{ {} }});{}", properties.join(", "), "\n".repeat(removed));
        self.insert(it.span.end, text);
    }
}

/// Where the mark of `x!` or `x?` is, in what follows the key.
fn mark(rest: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let text = rest.get(at..)?;
        let trimmed = text.trim_start();
        at += text.len() - trimmed.len();
        if trimmed.starts_with("/*") {
            at += trimmed.find("*/")? + 2;
        } else if trimmed.starts_with("//") {
            at += trimmed.find('\n')?;
        } else {
            return trimmed.starts_with(['!', '?']).then_some(at);
        }
    }
}

/// The names of values that a declaration binds.
fn declared(declaration: &Declaration<'_>) -> Vec<String> {
    let mut names = Vec::new();
    match declaration {
        Declaration::VariableDeclaration(it) => it.declarations.iter().for_each(|declarator| bound(&declarator.id, &mut names)),
        Declaration::FunctionDeclaration(it) => names.extend(it.id.iter().map(|id| id.name.to_string())),
        Declaration::ClassDeclaration(it) => names.extend(it.id.iter().map(|id| id.name.to_string())),
        Declaration::TSEnumDeclaration(it) => names.push(it.id.name.to_string()),
        Declaration::TSNamespaceDeclaration(it) => names.push(it.id.name.to_string()),
        _ => {}
    }
    names
}

/// The names that a pattern binds.
fn bound(pattern: &BindingPattern<'_>, names: &mut Vec<String>) {
    match pattern {
        BindingPattern::BindingIdentifier(it) => names.push(it.name.to_string()),
        BindingPattern::ObjectPattern(it) => {
            it.properties.iter().for_each(|property| bound(&property.value, names));
            it.rest.iter().for_each(|rest| bound(&rest.argument, names));
        }
        BindingPattern::ArrayPattern(it) => {
            it.elements.iter().flatten().for_each(|element| bound(element, names));
            it.rest.iter().for_each(|rest| bound(&rest.argument, names));
        }
        BindingPattern::AssignmentPattern(it) => bound(&it.left, names),
    }
}

impl<'a> Visit<'a> for Lowering<'_> {
    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        if let Declaration::ClassDeclaration(_) = &it.declaration {
            self.exported = Some((it.span, false));
        }
        walk::walk_export_declaration(self, it);
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        if let ExportDefaultDeclarationKind::ClassDeclaration(_) = &it.declaration {
            self.exported = Some((it.span, true));
        }
        walk::walk_export_default_declaration(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        let exported = self.exported.take();
        self.class(it, exported);
        walk::walk_class(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if let (Some(decorator), false) = (it.decorators.first(), self.legacy) {
            self.refuse(
                decorator.span,
                "decorators of parameters are not part of the standard",
                "set `experimentalDecorators` in the `compilerOptions` of `tsconfig.json`",
            );
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        if it.declare {
            return;
        }
        if let TSNamespaceDeclarationBody::TSModuleBlock(block) = &it.body {
            let edits = self.edits.len();
            for statement in &block.body {
                if let Statement::ExportDeclaration(export) = statement
                    && let Declaration::VariableDeclaration(variable) = &export.declaration
                {
                    self.variable(export, variable, it.id.name.as_str());
                }
            }
            let hides = |statement: &Statement<'a>| {
                let declaration = match statement {
                    Statement::ExportDeclaration(export) => Some(&export.declaration),
                    other => other.as_declaration(),
                };
                declaration.is_some_and(|declaration| declared(declaration).iter().any(|name| it.id.name == name.as_str()))
            };
            if self.edits.len() > edits && block.body.iter().any(hides) {
                let message = format!("a namespace that exports a variable cannot declare its own name, `{}`, in it", it.id.name);
                self.refuse(it.id.span, &message, "rename one of the two");
            }
        }
        walk::walk_ts_namespace_declaration(self, it);
    }
}
