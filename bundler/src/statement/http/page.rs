//! `page` of a request: how the pages after the first one are found.

use millrace_core::{Json, app::Access};

use super::{Field as QueryField, Request};
use crate::{
    field::{Field, Record, Shape},
    statement::problem::error,
    yaml::{Data, Node},
};

/// `page`
pub(crate) static PAGE: Record = Record {
    name: "page",
    noun: "`page`",
    doc: "How the pages after the first one are found; their lists are joined. One of `cursor`, `link`, `offset` and `page`.",
    fields: &[
        Field::new(
            "cursor",
            Shape::Text,
            "Where an answer has what names the next page, as in `result`; `query` is the field that it is sent in.",
        ),
        Field::new("query", Shape::Text, "The field of the query that the `cursor` is sent in."),
        Field::new(
            "link",
            Shape::OneOf(&[Shape::Bool, Shape::Text]),
            "`true`: the header field `Link` has the next page's URL, with `rel=\"next\"`. A text: where the answer has it, as in `result`.",
        ),
        Field::new("offset", Shape::Text, "The field of the query that says how many elements come before the page; needs `size`."),
        Field::new("page", Shape::Text, "The field of the query that has the number of the page, from 1."),
        Field::new("size", Shape::Int(1, 100_000), "How many elements a page has, with `offset`."),
        Field::new("max", Shape::Int(1, 1000), "How many pages are read at most; the result says where there are more.").default("10"),
    ],
};

/// How many pages are read where nothing is said.
const DEFAULT_PAGES: i64 = 10;

/// The keys that say how the next page is found.
const WAYS: [&str; 4] = ["cursor", "link", "offset", "page"];

impl Request<'_> {
    /// The members of `page`; none without it.
    pub(super) fn page(&mut self, access: Access, query: &[QueryField]) -> Vec<(&'static str, Json)> {
        let Some(entry) = self.root.entry("page") else { return Vec::new() };
        let node = &entry.value;
        if !matches!(node.data, Data::Map(_)) {
            return Vec::new();
        }
        if !access.reads() {
            let help = "remove `page`, or write `reads: true` where a `POST` only reads";
            self.reading.problems.push(error(entry.key_range.clone(), "`page` is for a request that only reads".to_owned(), help));
        }
        let ways: Vec<&str> = WAYS.into_iter().filter(|way| node.entry(way).is_some()).collect();
        if ways.len() != 1 {
            let message = if ways.is_empty() {
                "`page` does not say how the next page is found".to_owned()
            } else {
                format!("`page` has both `{}`", ways.join("` and `"))
            };
            let help = "write one of `cursor` with `query`, `link`, `offset` with `size`, and `page`";
            self.reading.problems.push(error(entry.key_range.clone(), message, help));
            return Vec::new();
        }
        for (key, owner) in [("query", "cursor"), ("size", "offset")] {
            match (node.entry(key), ways == [owner]) {
                (Some(other), false) => {
                    let message = format!("`{key}` of `page` belongs to `{owner}`");
                    self.reading.problems.push(error(other.key_range.clone(), message, &format!("remove `{key}`")));
                }
                (None, true) => {
                    let help = format!("write `{key}` beside `{owner}`");
                    self.reading.problems.push(error(entry.key_range.clone(), format!("`page` has `{owner}`, but no `{key}`"), &help));
                }
                _ => {}
            }
        }
        for key in ["query", "offset", "page"] {
            self.check_field(node, key, query);
        }
        self.part_of_answer(node, "cursor");
        self.part_of_answer(node, "link");
        if let Some(link) = node.at("link").filter(|link| link.bool() == Some(false)) {
            self.wrong(link, "`link` cannot be `false`", "write `true`, or where an answer has the link, or remove `page`");
        }
        let has = |key: &'static str| node.at(key).map(|value| (key, value.json()));
        let mut members: Vec<_> = ["cursor", "query", "link", "offset", "page", "size"].into_iter().filter_map(has).collect();
        members.push(("max", node.at("max").map_or_else(|| DEFAULT_PAGES.into(), Node::json)));
        members
    }

    /// Looks at the name of a field of the query that pages are asked by.
    fn check_field(&mut self, node: &Node, key: &str, query: &[QueryField]) {
        let Some((field, name)) = node.at(key).and_then(|field| Some((field, field.text()?))) else { return };
        if name.trim().is_empty() {
            self.wrong(field, format!("`{key}` of `page` is not the name of a field"), "write the name as the API has it");
        } else if query.iter().any(|known| known.name == name) {
            self.wrong(field, format!("the field `{name}` is in the query of the request, and `page` sets it"), "remove it from `request`");
        }
    }
}
