//! Text with placeholders outside of statements: connection strings, keys, messages, prompts, resources.

use millrace_core::app::{EnvPart, EnvTemplate, Input, Root, Source, Template, TemplatePart};

use crate::{
    Problem, Severity,
    compiler::Compiler,
    names::meant,
    placeholder::{self, Piece, Placeholder},
    yaml::{Document, Node},
};

impl Compiler<'_> {
    /// Text in which only `{{ env.X }}` may stand; of a scalar that is no text, as its author wrote it.
    pub(crate) fn env_template(&mut self, document: &Document, node: &Node) -> EnvTemplate {
        let Some(text) = node.written(&document.source) else { return EnvTemplate::default() };
        let Some(pieces) = self.pieces(document, node, &text) else { return EnvTemplate::default() };
        let mut parts = Vec::new();
        for piece in pieces {
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

    /// A message of `errors.on`, over `inputs`, `results` and `auth`.
    pub(crate) fn message(&mut self, document: &Document, node: &Node, inputs: &[Input]) -> Template {
        let text = node.text().unwrap_or_default().to_owned();
        let Some(pieces) = self.pieces(document, node, &text) else { return Template::default() };
        let mut parts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text("") => {}
                Piece::Text(text) => parts.push(TemplatePart::Text(text.to_owned())),
                Piece::Placeholder(placeholder) => {
                    self.no_filter(document, node, &placeholder);
                    if let Some(source) = self.message_source(document, node, &placeholder, inputs) {
                        parts.push(TemplatePart::Source(source));
                    }
                }
            }
        }
        Template(parts)
    }

    fn message_source(&mut self, document: &Document, node: &Node, placeholder: &Placeholder<'_>, inputs: &[Input]) -> Option<Source> {
        let (first, rest) = placeholder.path.split_first()?;
        let path = rest.iter().map(|name| (*name).to_owned()).collect();
        match *first {
            "results" => Some(Source { root: Root::Results, path }),
            "auth" => Some(Source { root: Root::Auth, path }),
            "inputs" => {
                let name = *rest.first()?;
                if !inputs.iter().any(|input| input.name == name) {
                    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
                    let help = meant(name, &names, "The inputs are");
                    self.misplaced(document, node, placeholder, format!("the tool has no input `{name}`"), &help);
                    return None;
                }
                Some(Source { root: Root::Inputs, path })
            }
            _ => {
                let message = format!("`{}` has no value here", placeholder.path.join("."));
                self.misplaced(document, node, placeholder, message, "Use `inputs.…`, `results.…` or `auth.…`.");
                None
            }
        }
    }

    /// Text of a prompt or a resource, whose placeholders are arguments. In an app of Hyperterse, text between braces that is no argument
    /// is a warning: it always was left out, or left alone.
    pub(crate) fn arguments_template(&mut self, document: &Document, node: &Node, arguments: &[String]) -> Template {
        let text = node.text().unwrap_or_default().to_owned();
        let pieces = match placeholder::scan(&text) {
            Ok(pieces) => pieces,
            Err(problems) => {
                for problem in problems {
                    let severity = if self.imported { Severity::Warning } else { problem.severity };
                    self.findings.problem(document, node, Problem { severity, ..problem });
                }
                vec![Piece::Text(&text)]
            }
        };
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

    fn pieces<'t>(&mut self, document: &Document, node: &Node, text: &'t str) -> Option<Vec<Piece<'t>>> {
        match placeholder::scan(text) {
            Ok(pieces) => Some(pieces),
            Err(problems) => {
                for problem in problems {
                    self.findings.problem(document, node, problem);
                }
                None
            }
        }
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
