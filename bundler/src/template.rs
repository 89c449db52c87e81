//! Text with placeholders outside of statements: connection strings, keys, messages, prompts,
//! resources.

use millrace_core::{
    app::{
        EnvPart, EnvTemplate, Literal, PROTOTYPE_NAMES, Piece as StatementPiece, Root, SecretSource, Source, Template, TemplatePart,
        ValueTemplate, ValueText,
    },
    expression::Step,
};

use crate::{
    Problem, Severity,
    compiler::Compiler,
    context::unusable,
    names::{is_variable, meant, one_of},
    placeholder::{self, Piece, Placeholder},
    scope::{ContextShape, PathScope, ValueType},
    yaml::{Data, Document, Node},
};

/// A key as part of a JSON pointer (RFC 6901, section 3).
pub(crate) fn pointer_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// What a value is, as far as the app says.
fn type_of(template: &ValueTemplate, scope: &PathScope) -> ValueType {
    let found = match template.placeholders.as_slice() {
        [(pointer, text)] if pointer.is_empty() => match text {
            ValueText::Whole(source) => {
                let path = source.to_string();
                // `request` is `ctx.request`.
                scope.named(&path).or_else(|| scope.named(path.strip_prefix("ctx.")?)).and_then(Result::ok)
            }
            ValueText::Composed(_) => Some(ValueType::Text),
        },
        _ => Some(ValueType::of_value(&template.value.0)),
    };
    found.unwrap_or(ValueType::Any)
}

impl Compiler<'_> {
    /// Text in which only `{{ env.X }}` and `{{ secret.X }}` may stand; of a scalar that is not
    /// text, as its author wrote it.
    pub(crate) fn env_template(&mut self, document: &Document, node: &Node) -> EnvTemplate {
        self.filled_in(document, node, false)
    }

    /// A part of an adapter's connection: the same, and parts of the principal.
    pub(crate) fn connection_template(&mut self, document: &Document, node: &Node) -> EnvTemplate {
        self.filled_in(document, node, true)
    }

    fn filled_in(&mut self, document: &Document, node: &Node, of_caller: bool) -> EnvTemplate {
        let Some(text) = node.written(&document.source) else { return EnvTemplate::default() };
        let mut parts = Vec::new();
        for piece in self.pieces(document, node, &text) {
            match piece {
                Piece::Text("") => {}
                Piece::Text(text) => parts.push(EnvPart::Text(text.to_owned())),
                Piece::Placeholder(placeholder) => match placeholder.path.as_slice() {
                    ["env", name] => {
                        self.no_filter(document, node, &placeholder);
                        parts.push(EnvPart::Env((*name).to_owned()));
                    }
                    ["secret", name, member @ ..] if member.len() < 2 => {
                        self.no_filter(document, node, &placeholder);
                        if !is_variable(name) {
                            let message = format!("`{name}` is not a valid name for a secret");
                            let help = "It has letters, digits and `_`, and does not begin with a digit: so it is valid on every host.";
                            self.misplaced(document, node, &placeholder, message, help);
                        }
                        let member = member.first().map(|member| (*member).to_owned());
                        parts.push(EnvPart::Secret(SecretSource { name: (*name).to_owned(), member }));
                    }
                    ["auth", ..] if of_caller => {
                        self.no_filter(document, node, &placeholder);
                        let source = self.message_source(document, node, &placeholder, &PathScope::of_caller());
                        parts.extend(source.map(EnvPart::Caller));
                    }
                    path => {
                        let message = format!("`{}` has no value here", path.join("."));
                        let help = match of_caller {
                            false => "Only variables and secrets of the deployment do: `{{ env.NAME }}`, `{{ secret.NAME }}`.",
                            true => "Use `{{ env.NAME }}` or `{{ secret.NAME }}`; with `databases`, `{{ auth.claims.NAME }}`, too.",
                        };
                        self.misplaced(document, node, &placeholder, message, help);
                    }
                },
            }
        }
        EnvTemplate(parts)
    }

    /// A value of an adapter's `session`: text, variables and parts of the principal.
    pub(crate) fn session_value(&mut self, document: &Document, node: &Node, text: &str) -> Vec<StatementPiece> {
        let scope = PathScope::of_caller();
        let mut parts = Vec::new();
        for piece in self.pieces(document, node, text) {
            match piece {
                Piece::Text("") => {}
                Piece::Text(text) => parts.push(StatementPiece::Text(text.to_owned())),
                Piece::Placeholder(placeholder) => {
                    self.no_filter(document, node, &placeholder);
                    match placeholder.path.as_slice() {
                        ["env", name] => parts.push(StatementPiece::Env((*name).to_owned())),
                        ["auth", ..] => parts.extend(self.message_source(document, node, &placeholder, &scope).map(StatementPiece::Source)),
                        path => {
                            let message = format!("`{}` has no value here", path.join("."));
                            let help = "Use `{{ auth.claims.NAME }}`, another part of the principal, or `{{ env.NAME }}`.";
                            self.misplaced(document, node, &placeholder, message, help);
                        }
                    }
                }
            }
        }
        parts
    }

    /// A message of `errors.on`, or the question of `confirm`.
    pub(crate) fn message(&mut self, document: &Document, node: &Node, scope: &PathScope) -> Template {
        let text = node.text().unwrap_or_default().to_owned();
        let mut parts = Vec::new();
        for piece in self.pieces(document, node, &text) {
            match piece {
                Piece::Text("") => {}
                Piece::Text(text) => parts.push(TemplatePart::Text(text.to_owned())),
                Piece::Placeholder(placeholder) => {
                    self.no_filter(document, node, &placeholder);
                    if let Some(source) = self.message_source(document, node, &placeholder, scope) {
                        parts.push(TemplatePart::Source(source));
                    }
                }
            }
        }
        Template(parts)
    }

    /// The values of a map for `ctx`, whose shape grows by them.
    pub(crate) fn context_values(
        &mut self,
        document: &Document,
        node: &Node,
        scope: &PathScope,
        shape: &mut ContextShape,
    ) -> Vec<(String, ValueTemplate)> {
        let mut values = Vec::new();
        for entry in node.entries() {
            if let Some((message, help)) = unusable(&entry.key) {
                self.error(document, entry.key_range.clone(), message, help);
                continue;
            }
            let value = self.value_template(document, &entry.value, scope);
            shape.declare(&entry.key, type_of(&value, scope));
            values.push((entry.key.clone(), value));
        }
        values
    }

    /// A value with placeholders in its strings, at any depth.
    pub(crate) fn value_template(&mut self, document: &Document, node: &Node, scope: &PathScope) -> ValueTemplate {
        let mut placeholders = Vec::new();
        let value = self.value_at(document, node, scope, String::new(), &mut placeholders);
        ValueTemplate { value: Literal(value), placeholders }
    }

    /// `pointer` is the JSON pointer to the value.
    fn value_at(
        &mut self,
        document: &Document,
        node: &Node,
        scope: &PathScope,
        pointer: String,
        placeholders: &mut Vec<(String, ValueText)>,
    ) -> serde_json::Value {
        match &node.data {
            Data::Text(text) => match self.value_text(document, node, text, scope) {
                Ok(found) => {
                    placeholders.push((pointer, found));
                    serde_json::Value::Null
                }
                Err(plain) => plain.into(),
            },
            Data::List(items) => {
                let places = items.iter().enumerate();
                places.map(|(index, item)| self.value_at(document, item, scope, format!("{pointer}/{index}"), placeholders)).collect()
            }
            Data::Map(entries) => {
                let mut members = serde_json::Map::new();
                for entry in entries {
                    if PROTOTYPE_NAMES.contains(&entry.key.as_str()) {
                        let message = format!("`{}` cannot be a name here", entry.key);
                        self.error(document, entry.key_range.clone(), message, "Choose another name.");
                        continue;
                    }
                    let pointer = format!("{pointer}/{}", pointer_token(&entry.key));
                    members.insert(entry.key.clone(), self.value_at(document, &entry.value, scope, pointer, placeholders));
                }
                members.into()
            }
            _ => node.json(),
        }
    }

    /// A string with placeholders; the plain text of one that has none.
    fn value_text(&mut self, document: &Document, node: &Node, text: &str, scope: &PathScope) -> Result<ValueText, String> {
        let pieces = self.pieces(document, node, text);
        if let [Piece::Placeholder(placeholder)] = pieces.as_slice()
            && !matches!(placeholder.path.as_slice(), ["env", ..] | ["ctx", "env", _])
        {
            self.no_filter(document, node, placeholder);
            return Ok(self.message_source(document, node, placeholder, scope).map_or(ValueText::Composed(Vec::new()), ValueText::Whole));
        }
        if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
            return Err(pieces.iter().map(|piece| if let Piece::Text(text) = piece { text } else { "" }).collect());
        }
        let mut composed = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => composed.push(StatementPiece::Text(text.to_owned())),
                Piece::Placeholder(placeholder) => {
                    self.no_filter(document, node, &placeholder);
                    match placeholder.path.as_slice() {
                        ["env", name] => composed.push(StatementPiece::Env((*name).to_owned())),
                        // The same by its other name, where the app lists it.
                        ["ctx", "env", name] => {
                            if self.leads_somewhere(document, node, &placeholder, scope) {
                                composed.push(StatementPiece::Env((*name).to_owned()));
                            }
                        }
                        _ => composed.extend(self.message_source(document, node, &placeholder, scope).map(StatementPiece::Source)),
                    }
                }
            }
        }
        Ok(ValueText::Composed(composed))
    }

    fn message_source(&mut self, document: &Document, node: &Node, placeholder: &Placeholder<'_>, scope: &PathScope) -> Option<Source> {
        let (first, rest) = placeholder.path.split_first()?;
        if !self.leads_somewhere(document, node, placeholder, scope) {
            return None;
        }
        let path: Vec<String> = rest.iter().map(|name| (*name).to_owned()).collect();
        let (root, path) = match *first {
            "results" => (Root::Results, path),
            "auth" => (Root::Auth, path),
            "ctx" => (Root::Ctx, path),
            "item" => (Root::Item, path),
            "items" => (Root::Items, path),
            "shown" | "total" | "omitted" => (Root::Counts, vec![(*first).to_owned()]),
            "request" => (Root::Ctx, std::iter::once("request".to_owned()).chain(path).collect()),
            _ => (Root::Inputs, path),
        };
        Some(Source { root, path })
    }

    /// Whether a placeholder can have a value; says why not.
    pub(crate) fn leads_somewhere(&mut self, document: &Document, node: &Node, placeholder: &Placeholder<'_>, scope: &PathScope) -> bool {
        let steps: Vec<Step> = placeholder.path.iter().map(|name| Step::Member((*name).to_owned())).collect();
        match scope.resolve(&steps) {
            Some(Ok(_)) => true,
            Some(Err(dead_end)) => {
                // A placeholder has no indices, so what an expression would say is of no use.
                let help = if dead_end.help.contains('[') { "Take the element apart in an output mapper." } else { &dead_end.help };
                self.misplaced(document, node, placeholder, dead_end.message, help);
                false
            }
            None => {
                let message = format!("`{}` has no value here", placeholder.path.join("."));
                if placeholder.path.first() == Some(&"secret") {
                    self.misplaced(document, node, placeholder, message, "Secrets stand in adapters and in `auth` only.");
                    return false;
                }
                let whole = ["shown", "total", "omitted"];
                let shown = |root: &&str| if whole.contains(root) { (*root).to_owned() } else { format!("{root}.…") };
                let roots: Vec<String> = scope.roots().iter().map(shown).collect();
                self.misplaced(document, node, placeholder, message, &format!("Use {}.", one_of(&roots)));
                false
            }
        }
    }

    /// Text of a prompt or a resource, whose placeholders are arguments. In an app of Hyperterse,
    /// text between braces that is no argument is a warning: it always was left out, or left alone.
    pub(crate) fn arguments_template(&mut self, document: &Document, node: &Node, arguments: &[String]) -> Template {
        let text = node.text().unwrap_or_default().to_owned();
        let (mut pieces, problems) = placeholder::scan(&text);
        if self.imported && !problems.is_empty() {
            pieces = vec![Piece::Text(&text)];
        }
        for problem in problems {
            let severity = if self.imported { Severity::Warning } else { problem.severity };
            self.findings.problem(document, node, Problem { severity, ..problem });
        }
        let mut parts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text("") => {}
                Piece::Text(text) => parts.push(TemplatePart::Text(text.to_owned())),
                Piece::Placeholder(placeholder) => {
                    self.no_filter(document, node, &placeholder);
                    let name = placeholder.path.join(".");
                    if !arguments.contains(&name) {
                        let names: Vec<&str> = arguments.iter().map(String::as_str).collect();
                        let severity = if self.imported { Severity::Warning } else { Severity::Error };
                        let help = Some(meant(&name, &names, "The arguments are")).filter(|help| !help.is_empty());
                        let help = help.or_else(|| Some("Declare it under `arguments`.".into()));
                        let message = format!("the argument `{name}` is not declared");
                        let range = placeholder.range.clone();
                        self.findings.problem(document, node, Problem { severity, range, message, help });
                    }
                    let mut path = vec![name];
                    // There, a placeholder without a value stays in the text.
                    path.extend(self.imported.then(|| text[placeholder.range.clone()].to_owned()));
                    parts.push(TemplatePart::Source(Source { root: Root::Arguments, path }));
                }
            }
        }
        Template(parts)
    }

    /// The pieces of a text; what is wrong with the others is said.
    fn pieces<'t>(&mut self, document: &Document, node: &Node, text: &'t str) -> Vec<Piece<'t>> {
        let (pieces, problems) = placeholder::scan(text);
        for problem in problems {
            self.findings.problem(document, node, problem);
        }
        pieces
    }

    fn no_filter(&mut self, document: &Document, node: &Node, placeholder: &Placeholder<'_>) {
        if let Some(filter) = placeholder.filter {
            self.misplaced(document, node, placeholder, format!("the filter `{filter}` works in statements only"), "Remove it.");
        }
    }

    fn misplaced(&mut self, document: &Document, node: &Node, placeholder: &Placeholder<'_>, message: String, help: &str) {
        let help = Some(help.to_owned()).filter(|help| !help.is_empty());
        self.findings.problem(document, node, Problem { severity: Severity::Error, range: placeholder.range.clone(), message, help });
    }
}
