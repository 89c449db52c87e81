//! How the pages after the first one are found.

use millrace_core::{Error, ErrorKind, Json, Result, fetch_url::FetchUrl, headers::Headers, ports::Node, url::percent_coded, value::Value};
use millrace_languages::http::Selection;

use super::failure::damaged;
use crate::documents::text;

/// How many pages are read where nothing is said.
const PAGES: usize = 10;
/// The longest cursor, in bytes.
const LONGEST_CURSOR: usize = 8_000;

/// `page` of a request.
#[derive(Debug)]
pub(super) struct Page {
    way: Way,
    /// How many are read at most.
    pub(super) max: usize,
}

#[derive(Debug)]
enum Way {
    /// What the answer has there goes into this field of the query.
    Cursor(Selection, String),
    /// The header field `Link` has the URL.
    Link,
    /// The answer has the URL there.
    LinkAt(Selection),
    /// The field says how many elements came before; a page has so many.
    Offset(String, usize),
    /// The field has the number of the page, from 1.
    Number(String),
}

/// What is known of the pages so far.
pub(super) struct Progress {
    /// How many pages were read.
    pub(super) pages: usize,
    /// How many elements they have.
    pub(super) elements: usize,
    /// How many of those the last one has.
    pub(super) last: usize,
}

impl Page {
    pub(super) fn of(node: &Node) -> Result<Self> {
        let Node::Members(members) = node else { return Err(damaged()) };
        let find = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, node)| node);
        let field = |name: &str| find(name).and_then(text).map(str::to_owned).ok_or_else(damaged);
        let number = |name: &str| match find(name) {
            Some(Node::Value(Value::I64(number))) => usize::try_from(*number).ok().filter(|number| *number > 0),
            _ => None,
        };
        let selection = |name: &str| Selection::parse(&field(name)?).map_err(|_| damaged());
        let way = match (find("cursor"), find("link"), find("offset")) {
            (Some(_), ..) => Way::Cursor(selection("cursor")?, field("query")?),
            (_, Some(Node::Value(Value::Bool(true))), _) => Way::Link,
            (_, Some(_), _) => Way::LinkAt(selection("link")?),
            (.., Some(_)) => Way::Offset(field("offset")?, number("size").ok_or_else(damaged)?),
            (None, None, None) => Way::Number(field("page")?),
        };
        Ok(Self { way, max: number("max").unwrap_or(PAGES) })
    }

    /// Whether the API itself names the URL of the next page.
    pub(super) const fn is_linked(&self) -> bool {
        matches!(self.way, Way::Link | Way::LinkAt(_))
    }

    /// The URL of the next page; `None` after the last one. `first` is that of the first page,
    /// `last` that of the last one.
    ///
    /// # Errors
    /// What names the next page does not.
    pub(super) fn next(
        &self,
        first: &FetchUrl,
        last: &FetchUrl,
        headers: &Headers,
        body: &Json,
        progress: &Progress,
    ) -> Result<Option<FetchUrl>> {
        let found = |selection: &Selection| Ok::<_, Error>(selection.of(body).map_err(broken)?.map(std::borrow::Cow::into_owned));
        match &self.way {
            Way::Cursor(selection, field) => {
                let cursor = match found(selection)? {
                    Some(Json::String(text)) if !text.is_empty() => text,
                    Some(Json::Number(number)) => number.to_string(),
                    None | Some(Json::Null | Json::Bool(false) | Json::String(_)) => return Ok(None),
                    Some(_) => return Err(broken("what should name the next page is not a text".to_owned())),
                };
                if cursor.len() > LONGEST_CURSOR {
                    return Err(broken(format!("what names the next page is longer than {LONGEST_CURSOR} bytes")));
                }
                with_field(first, field, &cursor).map(Some)
            }
            Way::Link => headers.all("link").find_map(next_of_links).map(|url| last.join(&url)).transpose(),
            Way::LinkAt(selection) => match found(selection)? {
                Some(Json::String(url)) if !url.is_empty() => last.join(&url).map(Some),
                None | Some(Json::Null | Json::Bool(false) | Json::String(_)) => Ok(None),
                Some(_) => Err(broken("what should be the URL of the next page is not a text".to_owned())),
            },
            Way::Offset(_, size) if progress.last < *size => Ok(None),
            Way::Offset(field, _) => with_field(first, field, &progress.elements.to_string()).map(Some),
            Way::Number(_) if progress.last == 0 => Ok(None),
            Way::Number(field) => with_field(first, field, &(progress.pages + 1).to_string()).map(Some),
        }
    }
}

/// The URL with one more field in its query.
fn with_field(url: &FetchUrl, name: &str, value: &str) -> Result<FetchUrl> {
    let separator = if url.target().contains('?') { '&' } else { '?' };
    FetchUrl::parse(&format!("{}{separator}{}={}", url.to_url(), percent_coded(name), percent_coded(value)))
}

/// The URL with `rel="next"` of a header field `Link`
/// ([RFC 8288](https://www.rfc-editor.org/rfc/rfc8288#section-3)).
fn next_of_links(value: &str) -> Option<String> {
    let mut rest = value;
    while let Some((_, after)) = rest.split_once('<') {
        let (url, after) = after.split_once('>')?;
        // A comma ends the parameters where it is not within quotes.
        let mut is_quoted = false;
        let end = after.find(|character| {
            is_quoted ^= character == '"';
            character == ',' && !is_quoted
        });
        let (parameters, next) = after.split_at(end.unwrap_or(after.len()));
        let is_next = parameters.split(';').filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| {
            let relations = value.trim().trim_matches('"');
            name.trim().eq_ignore_ascii_case("rel") && relations.split(' ').any(|relation| relation.eq_ignore_ascii_case("next"))
        });
        if is_next {
            return Some(url.to_owned());
        }
        rest = next;
    }
    None
}

fn broken(what: String) -> Error {
    Error::new(ErrorKind::Protocol, format!("the API's answer cannot be read: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read() {
        for (value, expected) in [
            ("<https://a.example/?page=2>; rel=\"next\", <https://a.example/?page=9>; rel=\"last\"", Some("https://a.example/?page=2")),
            ("<https://a.example/?page=1>; rel=prev,</x?a=1,2>; title=\"a, <b>\"; rel=\"first NEXT\"", Some("/x?a=1,2")),
            ("<https://a.example/>; rel=\"nextish\"", None),
            ("<https://a.example/>", None),
            ("<https://a.example/", None),
            ("", None),
        ] {
            assert_eq!(next_of_links(value).as_deref(), expected, "{value}");
        }
    }
}
