//! Documents of MongoDB, and requests for PostgREST: a map of the tool's file, in which values are
//! placeholders.
//!
//! The map is read as YAML, with its placeholders as leaves, so that no value can become a key or
//! an operator. Where MongoDB evaluates what it finds, the value is put into `$literal`.

use std::{collections::BTreeMap, ops::Range};

use millrace_core::{
    Json,
    app::{Access, Bind, DocumentNode, Input, InputKind, Leaf, Literal, Part, Piece, Statement},
};
use millrace_languages::{
    Flaw, Tree, View,
    mongodb::{Role, judge},
};

use super::{
    compiled::Compiled,
    problem::error,
    source::{self, Meaning},
    tables::{TableSet, Tables},
};
use crate::{
    Problem, placeholder,
    source::Source,
    yaml::{Data, Node},
};

/// What a value of the call is where it stands.
pub(super) trait PlaceRole: Copy {
    /// Whether the value is put into `$literal`.
    fn is_evaluated(self) -> bool {
        false
    }

    /// Why a part of the document is no value that can stand there, and what helps. Where the type
    /// is not declared, the call finds out.
    fn refuses(self, part: &Part) -> Option<(&'static str, &'static str)>;

    /// What the call's value can be.
    fn leaf(self) -> Leaf;
}

/// What a judge says of a document.
pub(super) struct Judgement<R> {
    pub(super) roles: Vec<(Vec<usize>, R)>,
    pub(super) access: Access,
    pub(super) tables: Tables,
}

/// A part of the author's document.
pub(super) enum Draft {
    Literal(Json),
    Place(Part),
    Members(Vec<(String, Self)>),
    List(Vec<Self>),
}

impl Tree for Draft {
    fn view(&self) -> View<'_, Self> {
        match self {
            Self::Literal(Json::String(text)) => View::Text(text),
            Self::Literal(Json::Bool(truth)) => View::Bool(*truth),
            Self::Literal(Json::Number(number)) => number.as_i64().map_or(View::Other, View::Integer),
            Self::Literal(Json::Null) => View::Null,
            Self::Literal(_) => View::Other,
            Self::Place(_) => View::Value,
            Self::Members(members) => View::Members(members),
            Self::List(elements) => View::List(elements),
        }
    }
}

/// Compiles a document of MongoDB. `allow` is the adapter's option of that name. In a document of
/// [`document_of_json`](super::document_of_json), a placeholder in quotes is a text.
///
/// # Errors
/// Every [`Problem`] of the document; their places are in the file.
pub(crate) fn compile_document(
    source: &Source,
    node: &Node,
    inputs: &[Input],
    allow: &str,
    is_json: bool,
) -> Result<Compiled, Vec<Problem>> {
    compile(source, node, inputs, is_json, "write `{ $numberDouble: \"Infinity\" }`, `\"-Infinity\"` or `\"NaN\"`", |members| {
        let judged = judge(members, allow)?;
        let (access, tables) = match judged.reads {
            true => (Access::Read, Tables { reads: TableSet::All, writes: TableSet::default() }),
            false => (Access::Write, Tables::ALL),
        };
        Ok(Judgement { roles: judged.values, access, tables })
    })
}

/// Compiles a map of the tool's file. `of_infinity`: how a number that is not finite is written.
///
/// # Errors
/// Every [`Problem`] of the document; their places are in the file.
pub(super) fn compile<R: PlaceRole>(
    source: &Source,
    node: &Node,
    inputs: &[Input],
    is_json: bool,
    of_infinity: &'static str,
    judge: impl FnOnce(&[(String, Draft)]) -> Result<Judgement<R>, Vec<Flaw>>,
) -> Result<Compiled, Vec<Problem>> {
    let mut reading = Reading { source, inputs, is_json, of_infinity, problems: Vec::new() };
    let members = reading.members(node);
    let mut problems = reading.problems;
    let judged = match judge(&members) {
        Ok(judged) => Some(judged),
        Err(flaws) => {
            // What was said of a place is not said again in other words.
            let known: Vec<Range<usize>> = problems.iter().map(|problem| problem.range.clone()).collect();
            let found = flaws.into_iter().map(|flaw| located(node, flaw));
            problems.extend(found.filter(|problem| !known.contains(&problem.range)));
            None
        }
    };
    let (Some(Judgement { roles, access, tables }), true) = (judged, problems.is_empty()) else {
        problems.sort_by_key(|problem| (problem.range.start, problem.range.end));
        return Err(problems);
    };
    let roles = roles.into_iter().collect();
    let mut writing =
        Writing { root: node, roles, leaf: Leaf::Scalar, parts: Vec::new(), shown: String::new(), problems, path: Vec::new() };
    let document = writing.members(members);
    let Writing { parts, shown, problems, .. } = writing;
    if !problems.is_empty() {
        return Err(problems);
    }
    let statement = Statement::of_document(document, parts, shown, access);
    Ok(Compiled { statement, tables, doubt: None, warnings: Vec::new() })
}

/// The place of a flaw in the file: a key where there is one.
fn located(root: &Node, flaw: Flaw) -> Problem {
    error(place(root, &flaw.path), flaw.message, &flaw.help)
}

fn place(root: &Node, path: &[usize]) -> Range<usize> {
    let (mut node, mut range) = (root, root.range.clone());
    for place in path {
        if let Some(entry) = node.entries().get(*place) {
            (node, range) = (&entry.value, entry.key_range.clone());
        } else if let Some(element) = node.items().get(*place) {
            (node, range) = (element, element.range.clone());
        }
    }
    range
}

/// Reads the author's map.
pub(super) struct Reading<'a> {
    pub(super) source: &'a Source,
    pub(super) inputs: &'a [Input],
    /// Quotes make a text of a placeholder.
    pub(super) is_json: bool,
    pub(super) of_infinity: &'static str,
    pub(super) problems: Vec<Problem>,
}

impl Reading<'_> {
    fn members(&mut self, node: &Node) -> Vec<(String, Draft)> {
        let members = node.entries().iter().map(|entry| {
            if entry.key.contains("{{") {
                let message = format!("`{}` is a key, and a key cannot be a placeholder", entry.key);
                let help = "write the key out; only a value can be a placeholder";
                self.problems.push(error(entry.key_range.clone(), message, help));
            }
            (entry.key.clone(), self.draft(&entry.value))
        });
        members.collect()
    }

    pub(super) fn draft(&mut self, node: &Node) -> Draft {
        match &node.data {
            Data::Map(_) => Draft::Members(self.members(node)),
            Data::List(elements) => Draft::List(elements.iter().map(|element| self.draft(element)).collect()),
            Data::Text(text) => self.text(node, text),
            Data::Float(number) if !number.is_finite() => {
                self.problems.push(error(node.range.clone(), "this is not a finite number".to_owned(), self.of_infinity));
                Draft::Literal(0.into())
            }
            _ => Draft::Literal(node.json()),
        }
    }

    fn text(&mut self, node: &Node, text: &str) -> Draft {
        let (pieces, mut wrong) = placeholder::scan(text);
        let draft = self.value(pieces, self.is_json && node.is_double_quoted(), &mut wrong);
        self.problems.extend(wrong.into_iter().map(|problem| Problem { range: node.locate(self.source, problem.range), ..problem }));
        draft
    }

    /// What the pieces of a text are. `is_text`: a placeholder alone is a text as well. The ranges
    /// of what is `wrong` are those of the placeholders.
    pub(super) fn value(&self, pieces: Vec<placeholder::Piece<'_>>, is_text: bool, wrong: &mut Vec<Problem>) -> Draft {
        let is_whole = pieces.len() == 1;
        let (mut written, mut has_value) = (Vec::new(), false);
        for piece in pieces {
            let placeholder = match piece {
                placeholder::Piece::Text(text) => {
                    match written.last_mut() {
                        Some(Piece::Text(last)) => last.push_str(text),
                        _ => written.push(Piece::Text(text.to_owned())),
                    }
                    continue;
                }
                placeholder::Piece::Placeholder(placeholder) => placeholder,
            };
            has_value = true;
            let label = source::label(&placeholder);
            if let Some(filter) = placeholder.filter {
                let message = format!("`{label}` has the filter `{filter}`, and a document takes none");
                wrong.push(error(placeholder.range.clone(), message, "remove the filter: a value is a value as it is"));
                continue;
            }
            match source::resolve(&placeholder, None, self.inputs.into()) {
                Ok(Meaning::Env(name)) => written.push(Piece::Env(name)),
                Ok(Meaning::Value(value)) if is_whole && (!is_text || matches!(value.kind, Some(InputKind::String | InputKind::Uuid))) => {
                    let part = match value.elements {
                        Some(kind) => Part::BindEach { source: value.source, kind, empty: String::new() },
                        None => Part::Bind(Bind::Value { source: value.source, kind: value.kind }),
                    };
                    return Draft::Place(part);
                }
                Ok(Meaning::Value(value)) if matches!(value.kind, Some(InputKind::Array | InputKind::Object)) => {
                    let message = format!("`{label}` is a list or an object, and part of a text");
                    wrong.push(error(placeholder.range.clone(), message, "write it as the whole value"));
                }
                Ok(Meaning::Value(value)) => written.push(Piece::Source(value.source)),
                // Each has a filter, which was refused.
                Ok(Meaning::EnvIdent(_) | Meaning::EnvRaw(_) | Meaning::Choice { .. } | Meaning::ChoiceEach { .. }) => {}
                Err(problem) => wrong.push(problem),
            }
        }
        match (has_value, written.as_mut_slice()) {
            (false, []) => Draft::Literal(Json::String(String::new())),
            (false, [Piece::Text(text)]) => Draft::Literal(Json::String(std::mem::take(text))),
            _ => Draft::Place(Part::Bind(Bind::Composed(written))),
        }
    }
}

/// Writes the document of the bundle.
pub(super) struct Writing<'a, R> {
    pub(super) root: &'a Node,
    pub(super) roles: BTreeMap<Vec<usize>, R>,
    /// What a value can be that has no role.
    pub(super) leaf: Leaf,
    pub(super) parts: Vec<Part>,
    /// The document with `<1>`, `<2>`, … for its values.
    pub(super) shown: String,
    pub(super) problems: Vec<Problem>,
    pub(super) path: Vec<usize>,
}

impl<R: PlaceRole> Writing<'_, R> {
    fn members(&mut self, members: Vec<(String, Draft)>) -> Vec<(String, DocumentNode)> {
        self.shown.push('{');
        let mut written = Vec::new();
        for (place, (key, draft)) in members.into_iter().enumerate() {
            if place > 0 {
                self.shown.push_str(", ");
            }
            self.shown.push_str(&Json::String(key.clone()).to_string());
            self.shown.push_str(": ");
            self.path.push(place);
            written.push((key, self.node(draft)));
            self.path.pop();
        }
        self.shown.push('}');
        written
    }

    pub(super) fn node(&mut self, draft: Draft) -> DocumentNode {
        match draft {
            Draft::Literal(value) => {
                self.shown.push_str(&value.to_string());
                DocumentNode::Literal(Literal(value))
            }
            Draft::Members(members) => DocumentNode::Members(self.members(members)),
            Draft::List(elements) => {
                self.shown.push('[');
                let mut written = Vec::new();
                for (place, draft) in elements.into_iter().enumerate() {
                    if place > 0 {
                        self.shown.push_str(", ");
                    }
                    self.path.push(place);
                    written.push(self.node(draft));
                    self.path.pop();
                }
                self.shown.push(']');
                DocumentNode::List(written)
            }
            Draft::Place(part) => self.place(part),
        }
    }

    fn place(&mut self, part: Part) -> DocumentNode {
        let role = self.roles.get(&self.path).copied();
        let is_evaluated = role.is_some_and(R::is_evaluated);
        if let (true, Part::Bind(Bind::Composed(pieces))) = (is_evaluated, &part)
            && matches!(pieces.first(), Some(Piece::Text(text)) if text.starts_with('$'))
        {
            let help = "write the field's path out; a value of the call is never a path";
            let message = "a placeholder is part of the path of a field".to_owned();
            self.problems.push(error(place(self.root, &self.path), message, help));
        }
        if let Some((why, help)) = role.and_then(|role| role.refuses(&part)) {
            self.problems.push(error(place(self.root, &self.path), why.to_owned(), help));
        }
        self.parts.push(part);
        let number = self.parts.len();
        let leaf = role.map_or(self.leaf, R::leaf);
        let node = DocumentNode::Place { part: u32::try_from(number - 1).unwrap_or(u32::MAX), leaf };
        if is_evaluated {
            self.shown.push_str(&format!("{{\"$literal\": <{number}>}}"));
            return DocumentNode::Members(vec![("$literal".to_owned(), node)]);
        }
        self.shown.push_str(&format!("<{number}>"));
        node
    }
}

impl PlaceRole for Role {
    fn is_evaluated(self) -> bool {
        matches!(self, Self::Expression | Self::StoredExpression)
    }

    fn refuses(self, part: &Part) -> Option<(&'static str, &'static str)> {
        let is_number = matches!(part, Part::Bind(Bind::Value { kind: Some(InputKind::Int | InputKind::Float), .. }));
        match self {
            Self::Number if !is_number => Some(("only a number can be a value here", "declare the input as `int` or `float`")),
            Self::Scalar => not_one(part),
            Self::Scalars => not_some(part),
            _ => None,
        }
    }

    fn leaf(self) -> Leaf {
        match self {
            Self::Stored | Self::StoredExpression => Leaf::Stored,
            Self::Plain | Self::Expression => Leaf::Any,
            Self::Scalars => Leaf::Scalars,
            Self::Scalar | Self::Number => Leaf::Scalar,
        }
    }
}

const OF_NEITHER: &str = "declare the input with a type that is neither, such as `string` or `int`";

const fn has_parts(kind: Option<InputKind>) -> bool {
    matches!(kind, Some(InputKind::Array | InputKind::Object | InputKind::Json))
}

/// Why a part of a document is no single value.
pub(super) const fn not_one(part: &Part) -> Option<(&'static str, &'static str)> {
    match part {
        Part::BindEach { .. } => Some(("a list cannot be a value here", OF_NEITHER)),
        Part::Bind(Bind::Value { kind, .. }) if has_parts(*kind) => Some(("an object or a list cannot be a value here", OF_NEITHER)),
        _ => None,
    }
}

/// Why a part of a document is neither a single value nor a list of such values.
pub(super) const fn not_some(part: &Part) -> Option<(&'static str, &'static str)> {
    match part {
        Part::BindEach { kind, .. } if has_parts(*kind) => Some(("a list of objects cannot be a value here", OF_NEITHER)),
        Part::BindEach { .. } => None,
        part => not_one(part),
    }
}
