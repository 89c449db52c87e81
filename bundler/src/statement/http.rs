//! Requests of connector `http`: a line `GET /orders/{{ inputs.id }}?status={{ inputs.status }}`,
//! and the keys beside it.
//!
//! It is compiled into a document of fixed parts, in which a value of the call is one segment of
//! the path or a part of one, one value of the query or of a form, one header field, or one node of
//! a JSON body. The driver encodes each as its place demands.

use std::{collections::BTreeMap, ops::Range};

use millrace_core::{
    Json,
    app::{Access, Bind, DocumentNode, Input, InputKind, Leaf, Literal, Part, Statement},
};

use millrace_languages::http::{InvalidSelection, Selection, is_header_value};

use super::{
    compiled::Compiled,
    document::{Draft, PlaceRole, Reading, Writing, not_one, not_some},
    problem::error,
    source::{self, Meaning},
    tables::{TableSet, Tables},
};
use crate::{
    Problem,
    header_field::{self, Owner},
    placeholder::{self, Placeholder},
    source::Source,
    yaml::{Data, Node},
};

mod line;
mod page;

pub(crate) use page::PAGE;

use line::{FieldText, Line, PathText, Run};

/// The filter that joins the elements of a list by commas.
const CSV: &str = "csv";

/// Compiles the request of a tool's file: `request`, `headers`, `body`, `form`, `result`, `page`
/// and `reads`.
///
/// # Errors
/// Every [`Problem`] of the request; their places are in the file.
pub(crate) fn compile_http(source: &Source, root: &Node, inputs: &[Input]) -> Result<Compiled, Vec<Problem>> {
    let reading =
        Reading { source, inputs, is_json: false, of_infinity: "JSON has no such number: write it as text", problems: Vec::new() };
    let mut request = Request { reading, root };
    let nothing = Node::nothing();
    let node = root.at("request").unwrap_or(&nothing);
    let line = request.line(node);
    let path = line.path.into_iter().map(|part| request.path_part(node, part)).collect();
    let query: Vec<Field> = line.query.into_iter().map(|field| request.query_field(node, field)).collect();
    let (form, headers) = (request.form(), request.headers());
    let body = root.at("body").map(|body| request.reading.draft(body));
    request.check_bodies(line.method);
    let access = request.access(line.method);
    let result = request.part_of_answer(root, "result");
    let page = request.page(access, &query);
    let Request { reading: Reading { mut problems, .. }, .. } = request;
    if !problems.is_empty() {
        problems.sort_by_key(|problem| (problem.range.start, problem.range.end));
        return Err(problems);
    }
    let statement = Written::new(node).statement(Parts { method: line.method, path, query, form, headers, body, result, page }, access);
    let reads = TableSet::All;
    let tables = if access.reads() { Tables { reads, writes: TableSet::default() } } else { Tables::ALL };
    Ok(Compiled { statement, tables, doubt: None, warnings: Vec::new() })
}

/// A part of the path.
enum PathPart {
    /// The author's, as it is sent.
    Text(String),
    /// A value, and whether it is a whole segment.
    Value(Part, bool),
}

/// A field of a query, a form or a header.
struct Field {
    name: String,
    value: Draft,
    /// The elements of a list are joined by commas.
    is_joined: bool,
}

/// What a request is made of.
struct Parts {
    method: &'static str,
    path: Vec<PathPart>,
    query: Vec<Field>,
    form: Vec<Field>,
    headers: Vec<Field>,
    body: Option<Draft>,
    result: Option<String>,
    page: Vec<(&'static str, Json)>,
}

/// Reads the author's request.
struct Request<'a> {
    reading: Reading<'a>,
    root: &'a Node,
}

impl<'a> Request<'a> {
    fn line<'n>(&mut self, node: &'n Node) -> Line<'n> {
        let (line, problems) = line::read(node.text().unwrap_or_default());
        self.note(node, problems);
        line
    }

    /// Notes what is wrong within the text of a node.
    fn note(&mut self, node: &Node, problems: Vec<Problem>) {
        let source = self.reading.source;
        self.reading.problems.extend(problems.into_iter().map(|problem| Problem { range: node.locate(source, problem.range), ..problem }));
    }

    fn wrong(&mut self, node: &Node, message: impl Into<String>, help: &str) {
        self.reading.problems.push(error(node.range.clone(), message.into(), help));
    }

    fn path_part(&mut self, node: &Node, part: PathText<'_>) -> PathPart {
        let (placeholder, is_whole) = match part {
            PathText::Text(text) => return PathPart::Text(text),
            PathText::Value(placeholder, is_whole) => (placeholder, is_whole),
        };
        let (mut wrong, range) = (Vec::new(), placeholder.range.clone());
        let label = source::label(&placeholder);
        if placeholder.filter.is_some() {
            let message = format!("`{label}` is in the path, which takes no filter");
            wrong.push(error(range.clone(), message, "remove the filter: the value is encoded as one segment of the path"));
        }
        let bare = Placeholder { filter: None, ..placeholder };
        if let Ok(Meaning::Value(value)) = source::resolve(&bare, None, self.reading.inputs.into())
            && let Some(input) = value.input
            && (input.nullable || (input.optional && input.default.is_none()))
        {
            let help = format!("give `{}` a `default`, or make it required and not nullable", input.name);
            wrong.push(error(range.clone(), format!("`{label}` can be without a value, and the path needs one"), &help));
        }
        let draft = self.reading.value(vec![placeholder::Piece::Placeholder(bare)], false, &mut wrong);
        let Draft::Place(part) = draft else { return PathPart::Text(String::new()) };
        if let Some((why, help)) = not_one(&part) {
            wrong.push(error(range, why.to_owned(), help));
        }
        self.note(node, wrong);
        PathPart::Value(part, is_whole)
    }

    fn query_field(&mut self, node: &Node, field: FieldText<'_>) -> Field {
        self.field(node, field.name, field.value, not_some)
    }

    /// A field, whose value is refused for a reason of its place.
    fn field(
        &mut self,
        node: &Node,
        name: String,
        runs: Vec<Run<'_>>,
        refuses: fn(&Part) -> Option<(&'static str, &'static str)>,
    ) -> Field {
        let mut wrong = Vec::new();
        let (is_alone, mut joined) = (runs.len() == 1, None);
        let mut pieces = Vec::new();
        for run in &runs {
            pieces.push(match run {
                Run::Text(text) => placeholder::Piece::Text(text),
                Run::Value(value) => {
                    let label = source::label(value);
                    match value.filter {
                        Some(CSV) if is_alone => joined = Some((value.range.clone(), label)),
                        Some(CSV) => {
                            let message = format!("`{label}` has the filter `csv`, and is part of a text");
                            wrong.push(error(value.range.clone(), message, "write it as the whole value of the field"));
                        }
                        Some(filter) => {
                            let message = format!("`{filter}` is not a filter of requests");
                            let help = "the only filter is `csv`, which joins the elements of a list by commas; a plain value needs none";
                            wrong.push(error(value.range.clone(), message, help));
                        }
                        None => {}
                    }
                    placeholder::Piece::Placeholder(Placeholder { filter: None, ..value.clone() })
                }
            });
        }
        let places: Vec<_> =
            runs.iter().filter_map(|run| if let Run::Value(value) = run { Some(value.range.clone()) } else { None }).collect();
        let value = self.reading.value(pieces, false, &mut wrong);
        if let Draft::Place(part) = &value {
            let range = places.first().cloned().unwrap_or(0..0);
            if let Some((why, help)) = refuses(part) {
                wrong.push(error(range, why.to_owned(), help));
            } else if let Some((range, label)) = &joined
                && wrong.is_empty()
                && !may_be_list(part)
            {
                let help = "remove `| csv`: it joins the elements of a list";
                wrong.push(error(range.clone(), format!("`{label}` is not a list"), help));
            }
        }
        self.note(node, wrong);
        Field { name, value, is_joined: joined.is_some() }
    }

    /// A field of a map: its text with placeholders, or another scalar.
    fn field_of_map(&mut self, name: &str, node: &Node, refuses: fn(&Part) -> Option<(&'static str, &'static str)>) -> Field {
        let text = node.written(self.reading.source).unwrap_or_default();
        let (pieces, problems) = placeholder::scan(&text);
        self.note(node, problems);
        let runs = pieces.into_iter().map(|piece| match piece {
            placeholder::Piece::Text(text) => Run::Text(text.to_owned()),
            placeholder::Piece::Placeholder(value) => Run::Value(value),
        });
        let runs: Vec<Run<'_>> = runs.collect();
        self.field(node, name.to_owned(), runs, refuses)
    }

    fn form(&mut self) -> Vec<Field> {
        let mut fields = Vec::new();
        for entry in self.root.at("form").map(Node::entries).unwrap_or_default() {
            self.refuse_named(&entry.key, entry.key_range.clone());
            let elements = match &entry.value.data {
                Data::List(elements) => elements.as_slice(),
                _ => std::slice::from_ref(&entry.value),
            };
            for element in elements {
                if matches!(element.data, Data::List(_) | Data::Map(_)) {
                    self.wrong(
                        element,
                        "a field of a form is one text, or a list of texts",
                        "write an object as `body`, which is sent as JSON",
                    );
                    continue;
                }
                fields.push(self.field_of_map(&entry.key, element, not_some));
            }
        }
        fields
    }

    fn headers(&mut self) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::new();
        for entry in self.root.at("headers").map(Node::entries).unwrap_or_default() {
            let (name, place) = (entry.key.as_str(), entry.key_range.clone());
            if self.refuse_named(name, place.clone()) {
                continue;
            }
            if let Some((message, help)) = header_field::wrong_name(name, Owner::Tool) {
                self.reading.problems.push(error(place.clone(), message, help));
            }
            if fields.iter().any(|field| field.name.eq_ignore_ascii_case(name)) {
                let help = "remove one: upper and lower case are the same in the name of a header field";
                self.reading.problems.push(error(place, format!("the header field `{name}` is written twice"), help));
            }
            let field = self.field_of_map(name, &entry.value, not_one);
            if !is_header_value(&entry.value.written(self.reading.source).unwrap_or_default()) {
                self.wrong(&entry.value, format!("`{name}` has a character that a header field cannot have"), header_field::VALUE_HELP);
            }
            if field.is_joined {
                self.wrong(&entry.value, format!("`{name}` has the filter `csv`, and a header field takes none"), "write a text");
            }
            fields.push(field);
        }
        fields
    }

    /// Refuses a name with a placeholder; whether it did.
    fn refuse_named(&mut self, name: &str, range: Range<usize>) -> bool {
        if !name.contains("{{") {
            return false;
        }
        let help = "write the name out; only a value can be a placeholder";
        self.reading.problems.push(error(range, format!("`{name}` is the name of a field, and a name cannot be a placeholder"), help));
        true
    }

    fn check_bodies(&mut self, method: &str) {
        let (body, form) = (self.root.entry("body"), self.root.entry("form"));
        if let (Some(_), Some(form)) = (body, form) {
            let help = "a request has one: `body` is sent as JSON, `form` as a form";
            self.reading.problems.push(error(form.key_range.clone(), "the request has both `body` and `form`".to_owned(), help));
        }
        if let Some(entry) = body.or(form).filter(|_| matches!(method, "GET" | "HEAD")) {
            let message = format!("`{}` is the body of a `{method}` request, which has none", entry.key);
            let help = "write its values into the query, or use `POST`, with `reads: true` where it only reads";
            self.reading.problems.push(error(entry.key_range.clone(), message, help));
        }
    }

    fn access(&mut self, method: &str) -> Access {
        let says = self.root.entry("reads").filter(|entry| entry.value.bool() == Some(true));
        match (method, says) {
            ("GET" | "HEAD", None) => Access::Read,
            ("GET" | "HEAD", Some(entry)) => {
                let message = format!("a `{method}` request reads anyway");
                self.reading.problems.push(error(entry.key_range.clone(), message, "remove `reads`: it is for a `POST` that only reads"));
                Access::Read
            }
            ("POST", Some(_)) => Access::Read,
            (_, None) => Access::Write,
            // Without a method, that has been said.
            ("", Some(_)) => Access::Read,
            (_, Some(entry)) => {
                let message = format!("`reads: true` says that the request only reads, and `{method}` changes something");
                self.reading.problems.push(error(entry.key_range.clone(), message, "remove `reads`: it is for a `POST` that only reads"));
                Access::Write
            }
        }
    }

    /// The text of a key that selects a part of an answer.
    fn part_of_answer(&mut self, node: &Node, key: &str) -> Option<String> {
        let entry = node.entry(key)?;
        let text = entry.value.text()?;
        const FORM: &str = "write a JSON Pointer, `/data/items`, or an expression of JMESPath, `data.items[].name`";
        if text.trim().is_empty() {
            self.wrong(&entry.value, format!("`{key}` is empty"), FORM);
        } else if let Err(InvalidSelection { message, at }) = Selection::parse(text) {
            let what = if text.starts_with('/') { "JSON Pointer" } else { "expression" };
            let end = text.get(at..).and_then(|rest| rest.chars().next()).map_or(at, |found| at + found.len_utf8());
            self.note(&entry.value, vec![error(at.min(text.len())..end.min(text.len()), format!("the {what} {message}"), FORM)]);
        }
        Some(text.to_owned())
    }
}

/// Whether the value of a part can be a list.
const fn may_be_list(part: &Part) -> bool {
    match part {
        Part::BindEach { .. } => true,
        Part::Bind(Bind::Value { kind, .. }) => {
            matches!(kind, None | Some(InputKind::Array | InputKind::Json))
        }
        _ => false,
    }
}

/// No place of a request has a role: what a value can be depends on the part that it is in.
#[derive(Clone, Copy)]
enum NoRole {}

impl PlaceRole for NoRole {
    fn refuses(self, _part: &Part) -> Option<(&'static str, &'static str)> {
        match self {}
    }

    fn leaf(self) -> Leaf {
        match self {}
    }
}

/// Writes the document of the bundle, and how it is shown.
struct Written<'a> {
    writing: Writing<'a, NoRole>,
    shown: String,
}

impl<'a> Written<'a> {
    fn new(root: &'a Node) -> Self {
        let writing = Writing {
            root,
            roles: BTreeMap::new(),
            leaf: Leaf::Json,
            parts: Vec::new(),
            shown: String::new(),
            problems: Vec::new(),
            path: Vec::new(),
        };
        Self { writing, shown: String::new() }
    }

    fn statement(mut self, parts: Parts, access: Access) -> Statement {
        let mut members = vec![("method".to_owned(), text(parts.method))];
        self.shown.push_str(parts.method);
        self.shown.push(' ');
        members.push(("path".to_owned(), self.path(parts.path)));
        for (name, fields, leaf) in
            [("query", parts.query, Leaf::Field), ("form", parts.form, Leaf::Field), ("headers", parts.headers, Leaf::HeaderField)]
        {
            if !fields.is_empty() {
                members.push((name.to_owned(), self.fields(name, fields, leaf)));
            }
        }
        if let Some(body) = parts.body {
            self.shown.push_str("\nbody: ");
            members.push(("body".to_owned(), self.value(body, Leaf::Json, |text| Json::String(text.to_owned()).to_string())));
        }
        if let Some(result) = parts.result {
            self.shown.push_str(&format!("\nresult: {result}"));
            members.push(("result".to_owned(), text(&result)));
        }
        if !parts.page.is_empty() {
            let shown: Vec<String> = parts.page.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            self.shown.push_str(&format!("\npage: {{ {} }}", shown.join(", ")));
            let page = parts.page.into_iter().map(|(name, value)| (name.to_owned(), DocumentNode::Literal(Literal(value))));
            members.push(("page".to_owned(), DocumentNode::Members(page.collect())));
        }
        Statement::of_document(members, self.writing.parts, self.shown, access)
    }

    fn path(&mut self, parts: Vec<PathPart>) -> DocumentNode {
        let mut written: Vec<DocumentNode> = Vec::new();
        let mut pending = String::new();
        for part in parts {
            match part {
                PathPart::Text(text) => pending.push_str(&text),
                PathPart::Value(part, is_whole) => {
                    self.shown.push_str(&pending);
                    written.push(text(&std::mem::take(&mut pending)));
                    let leaf = if is_whole { Leaf::Segment } else { Leaf::SegmentPart };
                    written.push(self.value(Draft::Place(part), leaf, str::to_owned));
                }
            }
        }
        self.shown.push_str(&pending);
        written.push(text(&pending));
        DocumentNode::List(written)
    }

    /// The fields of the query stay on the line of the path; others have a line each.
    fn fields(&mut self, part: &str, fields: Vec<Field>, leaf: Leaf) -> DocumentNode {
        let is_query = part == "query";
        let mut written = Vec::new();
        for (place, field) in fields.into_iter().enumerate() {
            let before = match (is_query, place) {
                (true, 0) => "?".to_owned(),
                (true, _) => "&".to_owned(),
                (false, _) => format!("\n{part}: "),
            };
            self.shown.push_str(&before);
            self.shown.push_str(&line::encoded(&field.name));
            self.shown.push_str(if leaf == Leaf::HeaderField { ": " } else { "=" });
            let as_written = if leaf == Leaf::HeaderField { str::to_owned } else { line::encoded };
            let mut entry = vec![text(&field.name), self.value(field.value, leaf, as_written)];
            if field.is_joined {
                entry.push(text(CSV));
                self.shown.push_str(" | csv");
            }
            written.push(DocumentNode::List(entry));
        }
        DocumentNode::List(written)
    }

    fn value(&mut self, draft: Draft, leaf: Leaf, of_text: impl Fn(&str) -> String) -> DocumentNode {
        if let Draft::Literal(Json::String(own)) = &draft {
            self.shown.push_str(&of_text(own));
            return text(own);
        }
        self.writing.leaf = leaf;
        let node = self.writing.node(draft);
        self.shown.push_str(&std::mem::take(&mut self.writing.shown));
        node
    }
}

fn text(text: &str) -> DocumentNode {
    DocumentNode::Literal(Literal(text.into()))
}
