//! The operations of a specification, and what each asks for.

use std::collections::BTreeSet;

use super::document::{Document, Node};

/// The methods that tools can have, as a specification writes them.
const METHODS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];
/// The most operations of a specification.
const MAX_OPERATIONS: usize = 20_000;

/// An operation: a method of a path.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a> {
    /// `GET`
    pub(super) method: &'static str,
    /// As the specification has it: `/orders/{id}`.
    pub(super) path: &'a str,
    pub(super) node: Node<'a>,
    item: Node<'a>,
}

/// A parameter outside of the body.
#[derive(Clone, Copy)]
pub(super) struct Parameter<'a> {
    /// `path`, `query`, `header` or `cookie`.
    pub(super) place: &'a str,
    pub(super) name: &'a str,
    pub(super) node: Node<'a>,
}

/// The operations, in the order of the file, and what is wrong with paths that have none.
pub(super) fn all(document: &Document) -> (Vec<Operation<'_>>, Vec<(String, String)>) {
    let (mut operations, mut omitted) = (Vec::new(), Vec::new());
    for (path, raw) in document.root().get("paths").into_iter().flat_map(Node::entries) {
        if path.starts_with("x-") {
            continue;
        }
        let why = |why: &str| (format!("`{path}` ({})", pointer(path, None)), why.to_owned());
        let Some(item) = raw.resolved() else {
            let problem = document.take_problems().unwrap_or_default();
            omitted.push(why(&problem));
            continue;
        };
        if !item.value.is_object() {
            omitted.push(why("it is not a map"));
            continue;
        }
        for method in METHODS {
            let Some(node) = item.raw(method) else { continue };
            let method = upper(method);
            if !node.value.is_object() {
                omitted.push((format!("`{method} {path}` ({})", pointer(path, Some(method))), "it is not a map".to_owned()));
            } else if operations.len() < MAX_OPERATIONS {
                operations.push(Operation { method, path, node, item });
            }
        }
    }
    (operations, omitted)
}

fn upper(method: &str) -> &'static str {
    match method {
        "head" => "HEAD",
        "post" => "POST",
        "put" => "PUT",
        "patch" => "PATCH",
        "delete" => "DELETE",
        _ => "GET",
    }
}

/// Where an operation stands: `#/paths/~1orders~1{id}/get`.
fn pointer(path: &str, method: Option<&str>) -> String {
    let path = path.replace('~', "~0").replace('/', "~1");
    let method = method.map(|method| format!("/{}", method.to_ascii_lowercase())).unwrap_or_default();
    format!("#/paths/{path}{method}")
}

impl<'a> Operation<'a> {
    /// `GET /orders/{id}`
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Where it stands, as a JSON Pointer.
    pub(super) fn pointer(&self) -> String {
        pointer(self.path, Some(self.method))
    }

    pub(super) fn only_reads(&self) -> bool {
        matches!(self.method, "GET" | "HEAD")
    }

    pub(super) fn is_deprecated(&self) -> bool {
        self.node.is("deprecated")
    }

    /// Its own name, else one of its method and path.
    pub(super) fn id(&self) -> String {
        let own = self.node.text("operationId").filter(|id| id.chars().any(char::is_alphanumeric));
        own.map_or_else(|| format!("{} {}", self.method.to_ascii_lowercase(), self.path.replace('{', " by ")), str::to_owned)
    }

    pub(super) fn tags(&self) -> impl Iterator<Item = &'a str> {
        self.node.raw("tags").into_iter().flat_map(Node::raw_items).filter_map(|tag| tag.value.as_str())
    }

    /// The URL of its own server, or of its path's, where it has one.
    pub(super) fn own_server(&self) -> Option<&'a str> {
        let of = |node: Node<'a>| node.get("servers")?.items().next()?.text("url");
        of(self.node).or_else(|| of(self.item))
    }

    /// Its parameters; its own go before those of its path.
    pub(super) fn parameters(&self) -> Vec<Parameter<'a>> {
        let mut found: Vec<Parameter<'a>> = Vec::new();
        let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
        for list in [self.node, self.item].into_iter().filter_map(|node| node.get("parameters")) {
            for node in list.items() {
                let (Some(place), Some(name)) = (node.text("in"), node.text("name")) else { continue };
                if seen.insert((place, name)) {
                    found.push(Parameter { place, name, node });
                }
            }
        }
        found
    }
}

impl<'a> Parameter<'a> {
    pub(super) fn is_required(&self) -> bool {
        self.node.is("required") || self.place == "path"
    }

    /// Its schema, and whether its value is JSON as a text.
    pub(super) fn schema(&self) -> (Option<Node<'a>>, bool) {
        if let Some(schema) = self.node.raw("schema") {
            return (Some(schema), false);
        }
        let content = self.node.get("content").and_then(|content| content.entries().next()).and_then(|(_, media)| media.resolved());
        (content.and_then(|media| media.raw("schema")), content.is_some())
    }

    /// `form`, `deepObject`, …
    pub(super) fn style(&self) -> &'a str {
        self.node.text("style").unwrap_or(if matches!(self.place, "query" | "cookie") { "form" } else { "simple" })
    }

    /// Whether each element is a field of its own.
    pub(super) fn is_exploded(&self) -> bool {
        self.node.value.get("explode").and_then(serde_json::Value::as_bool).unwrap_or(self.style() == "form")
    }
}
