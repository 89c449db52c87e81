//! Text with placeholders outside of statements: connection strings, keys, messages, prompts, resources.

use millrace_core::{
    app::{EnvPart, EnvTemplate, Root, Source, Template, TemplatePart},
    expression::Step,
};

use crate::{
    Problem, Severity,
    compiler::Compiler,
    names::{meant, one_of},
    placeholder::{self, Piece, Placeholder},
    scope::PathScope,
    yaml::{Document, Node},
};

impl Compiler<'_> {
    /// Text in which only `{{ env.X }}` may stand; of a scalar that is not text, as its author wrote it.
    pub(crate) fn env_template(&mut self, document: &Document, node: &Node) -> EnvTemplate {
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
                    path => {
                        let message = format!("`{}` has no value here", path.join("."));
                        self.misplaced(document, node, &placeholder, message, "Only variables of the environment do: `{{ env.NAME }}`.");
                    }
                },
            }
        }
        EnvTemplate(parts)
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

    fn message_source(&mut self, document: &Document, node: &Node, placeholder: &Placeholder<'_>, scope: &PathScope) -> Option<Source> {
        let (first, rest) = placeholder.path.split_first()?;
        if !self.leads_somewhere(document, node, placeholder, scope) {
            return None;
        }
        let root = match *first {
            "results" => Root::Results,
            "auth" => Root::Auth,
            _ => Root::Inputs,
        };
        Some(Source { root, path: rest.iter().map(|name| (*name).to_owned()).collect() })
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
                let roots: Vec<String> = scope.roots().iter().map(|root| format!("{root}.…")).collect();
                self.misplaced(document, node, placeholder, message, &format!("Use {}.", one_of(&roots)));
                false
            }
        }
    }

    /// Text of a prompt or a resource, whose placeholders are arguments. In an app of Hyperterse, text between braces that is no argument
    /// is a warning: it always was left out, or left alone.
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
                        let message = format!("there is no argument `{name}`");
                        let range = placeholder.range.clone();
                        self.findings.problem(document, node, Problem { severity, range, message, help });
                    }
                    parts.push(TemplatePart::Source(Source { root: Root::Arguments, path: vec![name] }));
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
