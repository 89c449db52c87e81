//! `http` of a test: what APIs answer.

use millrace_core::url::scheme_and_rest;

use super::tested::only;
use crate::{
    compiler::Compiler,
    field::{Field, Record, Shape},
    names::{is_header_token, one_of},
    yaml::{Document, Node},
};

/// The longest URL.
const MAX_URL: usize = 8192;

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

pub(super) static ANSWER: Record = Record {
    name: "test_http",
    noun: "an answer of an API",
    doc: "What one request is answered with, however often it is sent. The first entry that fits a request decides.",
    fields: &[
        Field::new(
            "request",
            Shape::Text,
            "Method and URL: `GET https://api.example.com/rates`. A URL without a query fits whatever the query is.",
        )
        .required(),
        Field::new("status", Shape::Int(200, 599), "The status of the answer.").default("200"),
        Field::new("headers", Shape::Map(&Shape::Scalar), "Its header fields."),
        Field::new("body", Shape::Text, "Its body, as text."),
        Field::new("json", Shape::Any, "Its body, as JSON; the answer has the type `application/json`."),
    ],
};

/// What a request is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// Where it stands.
    pub place: String,
    /// The method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The status.
    pub status: u16,
    /// Header fields.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

pub(super) fn read(compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> Option<HttpAnswer> {
    let request = node.at("request")?;
    let (method, url) = request.text()?.split_once(' ').unwrap_or(("", ""));
    let has_scheme = scheme_and_rest(url).is_some_and(|(scheme, rest)| matches!(scheme, "http" | "https") && !rest.is_empty());
    if !METHODS.contains(&method) || !has_scheme || url.len() > MAX_URL || url.contains(char::is_whitespace) {
        let help = format!("Write a method, {}, and a URL: `GET https://api.example.com/rates`.", one_of(&METHODS));
        compiler.error(document, request.range.clone(), "`request` is not a method and a URL", help);
        return None;
    }
    let mut headers = Vec::new();
    for entry in node.at("headers").map(Node::entries).unwrap_or_default() {
        match entry.value.written(&document.source) {
            Some(value) if is_header_token(&entry.key) => headers.push((entry.key.clone(), value)),
            _ => compiler.error(document, entry.key_range.clone(), format!("`{}` is not a name of a header field", entry.key), ""),
        }
    }
    let body = match only(compiler, document, node, &["body", "json"]) {
        Some(entry) if entry.key == "json" => {
            if headers.iter().all(|(name, _)| !name.eq_ignore_ascii_case("content-type")) {
                headers.push(("content-type".to_owned(), "application/json".to_owned()));
            }
            entry.value.json().to_string().into_bytes()
        }
        Some(entry) => entry.value.text().unwrap_or_default().as_bytes().to_vec(),
        None => Vec::new(),
    };
    let status = node.at("status").and_then(Node::number).map_or(200, |status| status as u16);
    let (place, method, url) = (document.source.place(request.range.start), method.to_owned(), url.to_owned());
    Some(HttpAnswer { place, method, url, status, headers, body })
}
