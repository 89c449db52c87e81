//! What an operation answers: the list in it, and how it goes on.

use super::{
    document::Node,
    input::kind_of,
    operation::{Operation, Parameter},
    request::{essence, is_json},
    schema::Shape,
};
use crate::commands::new::from::yaml;

/// The most pages that a call of an imported tool reads.
const PAGES: u32 = 5;
/// Members beside a list that say how it goes on, or how long it is.
const BESIDE: [&str; 9] = ["meta", "metadata", "links", "_links", "paging", "pagination", "page", "page_info", "pageInfo"];
/// Members and parameters that are a cursor.
const NEXT_CURSORS: [&str; 10] = [
    "next_cursor",
    "nextCursor",
    "next_page_token",
    "nextPageToken",
    "next_token",
    "nextToken",
    "next_page_id",
    "end_cursor",
    "cursor",
    "last_id",
];
const CURSOR_PARAMETERS: [&str; 12] = [
    "cursor",
    "page_token",
    "pageToken",
    "PageToken",
    "next_token",
    "nextToken",
    "after",
    "starting_after",
    "after_id",
    "start_cursor",
    "page[cursor]",
    "page",
];
/// Members that are the URL of the next page.
const NEXT_LINKS: [&str; 5] = ["next", "next_url", "nextLink", "next_page_url", "next_page_uri"];
/// Parameters that are in the URL of the next page.
const PAGE_PARAMETERS: [&str; 5] = ["page", "cursor", "Page", "PageToken", "offset"];
const OFFSETS: [&str; 4] = ["offset", "skip", "start", "startAt"];
const SIZES: [&str; 10] =
    ["limit", "per_page", "perPage", "page_size", "pageSize", "PageSize", "size", "maxResults", "max_results", "count"];
/// The size of a page that is asked for where a parameter sets it.
const SIZE: f64 = 50.0;

/// What is read of an answer.
#[derive(Default)]
pub(super) struct Response {
    /// The JSON Pointer of the list.
    pub(super) result: Option<String>,
    pub(super) page: Option<Page>,
}

/// How a list goes on.
pub(super) struct Page {
    /// The members of `page`.
    members: String,
    /// The fields of the query that no caller sets.
    pub(super) sets: Vec<String>,
    /// The field of the query that has the size of a page, and that size.
    pub(super) size: Option<(String, u32)>,
}

impl Page {
    fn new(members: String, sets: impl IntoIterator<Item = String>) -> Self {
        Self { members, sets: sets.into_iter().collect(), size: None }
    }
}

impl Response {
    /// What a successful answer of an operation has.
    ///
    /// # Errors
    /// Why a tool cannot read it.
    pub(super) fn of(operation: &Operation<'_>) -> Result<Self, String> {
        let Some(success) = success(operation) else {
            return match redirect(operation) {
                Some(status) => Err(format!("it answers with a redirect ({status}) and nothing else, which a tool does not follow")),
                None => Ok(Self::default()),
            };
        };
        let media: Vec<(&str, Node<'_>)> = success
            .get("content")
            .into_iter()
            .flat_map(Node::entries)
            .filter_map(|(kind, media)| Some((kind, media.resolved()?)))
            .collect();
        let Some((_, media)) = media.iter().find(|(kind, _)| is_json(essence(kind))) else {
            return match media.first() {
                Some((kind, _)) if !essence(kind).starts_with("text/plain") => {
                    Err(format!("its answer is `{}`, and a tool reads JSON", essence(kind)))
                }
                _ => Ok(Self::default()),
            };
        };
        if operation.method != "GET" {
            return Ok(Self::default());
        }
        let shape = Shape::of(media.raw("schema"));
        let result = list_of(&shape);
        let is_list = result.is_some() || kind_of(&shape) == "array";
        let page = if is_list { page_of(operation, success, &shape) } else { None };
        Ok(Self { result, page })
    }

    /// The keys of a tool.
    pub(super) fn keys(&self) -> String {
        let mut text = String::new();
        if let Some(result) = &self.result {
            text.push_str(&format!("result: {result}\n"));
        }
        if let Some(page) = &self.page {
            text.push_str(&format!("page: {{ {}, max: {PAGES} }}\n", page.members));
        }
        text
    }
}

/// The answer that says that it went well.
pub(super) fn success<'a>(operation: &Operation<'a>) -> Option<Node<'a>> {
    let responses = operation.node.get("responses")?;
    let first = responses.entries().map(|(status, _)| status).filter(|status| status.starts_with('2')).min();
    responses.get(first.unwrap_or("default"))
}

/// The status of an answer that leads to another place.
fn redirect<'a>(operation: &Operation<'a>) -> Option<&'a str> {
    let responses = operation.node.get("responses")?;
    responses.entries().map(|(status, _)| status).find(|status| ["301", "302", "303", "307", "308"].contains(status))
}

/// The pointer of the only list of an answer, where the rest says how it goes on.
fn list_of(shape: &Shape<'_>) -> Option<String> {
    if kind_of(shape) != "object" {
        return None;
    }
    let mut list = None;
    for (name, property) in &shape.properties {
        let found = Shape::of(Some(*property));
        match kind_of(&found) {
            // A list of objects. Lists of texts stand beside much else.
            "array" if found.items.is_some_and(|items| kind_of(&Shape::of(Some(items))) == "object") => {
                if list.replace(*name).is_some() {
                    return None;
                }
            }
            "string" | "int" | "float" | "boolean" => {}
            _ if BESIDE.contains(name) => {}
            _ => return None,
        }
    }
    let name = list.filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)))?;
    // An object that happens to have a list has more to say than where it goes on.
    let scalars = shape.properties.iter().filter(|(other, _)| *other != name && !BESIDE.contains(other)).count();
    (scalars <= 8 && !shape.properties.iter().any(|(name, _)| *name == "id")).then(|| format!("/{name}"))
}

fn page_of(operation: &Operation<'_>, success: Node<'_>, shape: &Shape<'_>) -> Option<Page> {
    let parameters = operation.parameters();
    let query = |names: &[&str]| {
        let find = |name: &&str| parameters.iter().copied().find(|parameter| parameter.place == "query" && parameter.name == *name);
        names.iter().find_map(find)
    };
    let has_link = success.get("headers").is_some_and(|headers| headers.entries().any(|(name, _)| name.eq_ignore_ascii_case("link")));
    if has_link {
        return Some(Page::new("link: true".to_owned(), ["page".to_owned()]));
    }
    if let (Some(pointer), Some(parameter)) = (next_of(shape, &NEXT_CURSORS, is_cursor), query(&CURSOR_PARAMETERS).filter(is_text)) {
        let members = format!("cursor: {pointer}, query: {}", yaml::word(parameter.name));
        return Some(Page::new(members, [parameter.name.to_owned()]));
    }
    if let Some(pointer) = next_of(shape, &NEXT_LINKS, is_link) {
        return Some(Page::new(format!("link: {pointer}"), PAGE_PARAMETERS.map(str::to_owned)));
    }
    if let (Some(offset), Some(limit)) = (query(&OFFSETS).filter(is_number), query(&SIZES)) {
        let size = size_of(&limit);
        let page = Page::new(format!("offset: {}, size: {size}", yaml::word(offset.name)), [offset.name.to_owned(), limit.name.to_owned()]);
        return Some(Page { size: Some((limit.name.to_owned(), size)), ..page });
    }
    let page = query(&["page", "Page", "page_number", "pageNumber"]).filter(is_number)?;
    Some(Page::new(format!("page: {}", yaml::word(page.name)), [page.name.to_owned()]))
}

/// The pointer of a member of the answer, or of what stands beside its list.
fn next_of(shape: &Shape<'_>, names: &[&str], is_it: fn(&Shape<'_>, &str) -> bool) -> Option<String> {
    let find = |shape: &Shape<'_>| {
        let found =
            |name: &&str| shape.properties.iter().any(|(other, property)| other == name && is_it(&Shape::of(Some(*property)), name));
        names.iter().copied().find(found).map(str::to_owned)
    };
    if let Some(name) = find(shape) {
        return Some(format!("/{name}"));
    }
    let beside = shape.properties.iter().filter(|(name, _)| BESIDE.contains(name));
    beside.map(|(name, property)| (name, Shape::of(Some(*property)))).find_map(|(name, below)| Some(format!("/{name}/{}", find(&below)?)))
}

fn is_cursor(shape: &Shape<'_>, _: &str) -> bool {
    matches!(kind_of(shape), "string" | "int" | "json") && shape.format != Some("uri")
}

/// Whether a text is a URL: by its format, its name, or what is said of it.
fn is_link(shape: &Shape<'_>, name: &str) -> bool {
    let said = shape.description.unwrap_or_default().to_ascii_lowercase();
    kind_of(shape) == "string"
        && (shape.format == Some("uri") || name != "next" || said.contains("url") || said.contains("uri") || said.contains("link"))
}

fn is_text(parameter: &Parameter<'_>) -> bool {
    matches!(kind_of(&Shape::of(parameter.schema().0)), "string" | "json")
}

fn is_number(parameter: &Parameter<'_>) -> bool {
    matches!(kind_of(&Shape::of(parameter.schema().0)), "int" | "float")
}

/// How many elements a page has.
fn size_of(parameter: &Parameter<'_>) -> u32 {
    let shape = Shape::of(parameter.schema().0);
    let size = shape.default.and_then(serde_json::Value::as_f64).filter(|size| (1.0..=10_000.0).contains(size));
    // Within the limits above.
    size.unwrap_or_else(|| SIZE.min(shape.max.unwrap_or(SIZE)).max(1.0)) as u32
}
