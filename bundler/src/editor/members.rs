//! What a path of names can go on with: `inputs.`, `ctx.request.`, `item.`.

use millrace_core::expression::Step;

use super::{AppIndex, Kind};
use crate::{
    outline::{Declared, Outline},
    placeholder::Piece,
    scope::{ARGUMENTS, PathScope, ValueType},
    yaml::{Document, Node},
};

/// The most names that are offered of the tools below a folder.
const MOST_INPUTS: usize = 500;

/// A file, and what is known of the app that it is in.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) index: &'a AppIndex,
    /// The path of the file.
    pub(super) file: &'a str,
    /// The file as it is now.
    pub(super) document: &'a Document,
    /// What it defines and names now.
    pub(super) outline: &'a Outline,
}

/// A name that a path can go on with.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    /// What it is, in a few words.
    pub(super) what: String,
    /// What it means.
    pub(super) doc: String,
    /// Whether a path can go on after it.
    pub(super) goes_on: bool,
}

impl Member {
    fn of_type(name: &str, value: &ValueType) -> Self {
        let what = value.noun().map_or_else(String::new, |noun| noun.trim_start_matches("a ").trim_start_matches("an ").to_owned());
        Self { name: name.to_owned(), what, doc: String::new(), goes_on: !members_of(value).is_empty() }
    }

    fn of_input(declared: &Declared) -> Self {
        let default = declared.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
        let optional = if declared.optional { ", optional" } else { "" };
        Self {
            name: declared.name.clone(),
            what: format!("{}{default}{optional}", declared.kind),
            doc: declared.description.clone(),
            goes_on: declared.kind == "object",
        }
    }

    fn plain(name: &str, what: &str) -> Self {
        Self { name: name.to_owned(), what: what.to_owned(), doc: String::new(), goes_on: false }
    }
}

/// What the first names of paths are, in words.
fn root_doc(root: &str) -> &'static str {
    match root {
        "inputs" => "what the caller sends",
        "auth" => "who is calling",
        "ctx" => "what the call knows",
        "env" => "the variables of the deployment",
        "secret" => "the secrets of the deployment",
        "request" => "the request",
        "results" => "the result of the tool",
        "answer" => "the answer to a request that failed",
        "steps" => "the results of earlier steps",
        "item" => "the item that is shown",
        "items" => "the items that are shown",
        "shown" => "how many items are shown",
        "total" => "how many items there are",
        "omitted" => "how many items are not shown",
        _ => "",
    }
}

impl View<'_> {
    /// The names that a path with these first names can go on with.
    pub(super) fn members(&self, roots: &[&str], path: &[&str]) -> Vec<Member> {
        if roots == ARGUMENTS {
            return if path.is_empty() { self.arguments() } else { Vec::new() };
        }
        let Some((root, rest)) = path.split_first() else {
            let whole = ["shown", "total", "omitted"];
            let of = |root: &&str| Member { goes_on: !whole.contains(root), ..Member::plain(root, root_doc(root)) };
            return roots.iter().map(of).collect();
        };
        if !roots.contains(root) {
            return Vec::new();
        }
        match (*root, rest) {
            ("inputs", []) => self.inputs().iter().map(Member::of_input).collect(),
            ("env", []) => self.variables(false),
            ("secret", []) => self.variables(true),
            ("steps", []) => self.steps(),
            ("results", []) => self.columns(),
            (root, rest) => {
                let Some(value) = self.root(root) else { return Vec::new() };
                let steps: Vec<Step> = rest.iter().map(|name| Step::Member((*name).to_owned())).collect();
                let found = PathScope::below(value, root, &steps);
                found.map(|value| members_of(&value).iter().map(|(name, value)| Member::of_type(name, value)).collect()).unwrap_or_default()
            }
        }
    }

    /// What a path leads to, in words. `None` where nothing is known of it.
    pub(super) fn describe(&self, path: &[&str]) -> Option<Member> {
        let (last, before) = path.split_last()?;
        let roots = [*path.first()?];
        if before.is_empty() {
            let doc = root_doc(last);
            return (!doc.is_empty()).then(|| Member::plain(last, doc));
        }
        self.members(&roots, before).into_iter().find(|member| member.name == *last)
    }

    /// The inputs that placeholders see: those of the tool, or in a file for several tools those of
    /// all of them.
    pub(super) fn inputs(&self) -> Vec<Declared> {
        if self.outline.record.name == "tool" {
            return self.outline.inputs.clone();
        }
        let folder = crate::tree::parent(self.file);
        let tools = self.index.all(Kind::Tool).filter(|(_, file)| folder.is_empty() || file.starts_with(&format!("{folder}/")));
        let mut inputs: Vec<Declared> = Vec::new();
        for declared in tools.filter_map(|(_, file)| self.index.outline(file)).flat_map(|outline| &outline.inputs) {
            if inputs.len() >= MOST_INPUTS {
                break;
            }
            if inputs.iter().all(|known| known.name != declared.name) {
                inputs.push(declared.clone());
            }
        }
        inputs
    }

    /// The arguments of a prompt, or the variables of a resource's URI.
    fn arguments(&self) -> Vec<Member> {
        let mut found: Vec<Member> = self.outline.inputs.iter().map(Member::of_input).collect();
        for part in self.document.root.text_at("uri_template").unwrap_or_default().split('{').skip(1) {
            let name = part.split('}').next().unwrap_or_default().trim_start_matches('+');
            if found.iter().all(|member| member.name != name) {
                found.push(Member::plain(name, "variable of the URI"));
            }
        }
        found
    }

    fn variables(&self, is_secret: bool) -> Vec<Member> {
        let layout = &self.index.outlines.layout;
        let listed = if is_secret { &layout.secrets } else { &layout.env };
        let mut names: Vec<String> = listed.iter().map(|name| name.trim_end_matches('?').to_owned()).collect();
        let used = self.index.outlines.files.values().flat_map(|outline| &outline.variables);
        let used = used.chain(&self.outline.variables).filter(|variable| variable.is_secret == is_secret);
        names.extend(used.map(|variable| variable.name.clone()).filter(|name| name != super::cursor::MARK));
        names.sort();
        names.dedup();
        let what = if is_secret { "secret" } else { "variable" };
        names.iter().map(|name| Member::plain(name, what)).collect()
    }

    fn steps(&self) -> Vec<Member> {
        let steps = self.document.root.at("transaction").map(Node::items).unwrap_or_default();
        let names = steps.iter().filter_map(|step| step.text_at("name"));
        names.map(|name| Member { goes_on: true, ..Member::plain(name, "step") }).collect()
    }

    /// The columns that the statement of the tool returned when `millrace.lock` was written.
    pub(super) fn columns(&self) -> Vec<Member> {
        let Some((Kind::Tool, name)) = self.index.name_of(self.file) else { return Vec::new() };
        let Some(locked) = self.index.lock.as_ref().and_then(|lock| lock.tools.get(&name)) else { return Vec::new() };
        locked.columns.iter().map(|column| Member::plain(&column.name, &column.type_name)).collect()
    }

    /// What a first name is.
    fn root(&self, root: &str) -> Option<ValueType> {
        match root {
            "inputs" => Some(of_fields(self.document.root.at("inputs"))),
            "item" | "items" => Some(self.item()),
            "answer" => Some(ValueType::Object(vec![("status".to_owned(), ValueType::Number), ("body".to_owned(), ValueType::Any)])),
            _ => {
                let tool = self.index.name_of(self.file).filter(|(kind, _)| *kind == Kind::Tool);
                let scope = tool.and_then(|(_, name)| self.index.outlines.scopes.get(&name));
                let scope = scope.or_else(|| self.index.outlines.scopes.values().next());
                let path = if root == "request" { "ctx.request" } else { root };
                let known = scope.and_then(|scope| scope.named(path)).and_then(Result::ok);
                known.or_else(|| PathScope::of_caller().named(root).and_then(Result::ok))
            }
        }
    }

    /// The item of a presenter: of the file, of `returns`, or of the presenter that this names.
    fn item(&self) -> ValueType {
        let root = &self.document.root;
        of_fields(root.at("schema").or_else(|| root.at("returns")?.at("schema")))
    }
}

/// An object with the fields of a map of inputs, or of fields of a presenter.
fn of_fields(fields: Option<&Node>) -> ValueType {
    let fields = fields.map(Node::entries).unwrap_or_default();
    ValueType::Object(fields.iter().map(|entry| (entry.key.clone(), of_field(&entry.value))).collect())
}

fn of_field(field: &Node) -> ValueType {
    match field.text_at("type").unwrap_or_default() {
        "int" | "float" => ValueType::Number,
        "boolean" => ValueType::Bool,
        "array" => ValueType::List(Box::new(field.at("items").map_or(ValueType::Any, of_field))),
        "object" => of_fields(field.at("fields")),
        "json" | "" => ValueType::Any,
        _ => ValueType::Text,
    }
}

fn members_of(value: &ValueType) -> Vec<(String, ValueType)> {
    match value {
        ValueType::Object(members) | ValueType::Open(members) => members.clone(),
        ValueType::Each(item) => members_of(item),
        _ => Vec::new(),
    }
}

/// The placeholder of a text that a byte is in.
pub(super) fn placeholder_at(text: &str, at: usize) -> Option<crate::placeholder::Placeholder<'_>> {
    crate::placeholder::scan(text).0.into_iter().find_map(|piece| match piece {
        Piece::Placeholder(placeholder) if placeholder.range.start <= at && at <= placeholder.range.end => Some(placeholder),
        _ => None,
    })
}
