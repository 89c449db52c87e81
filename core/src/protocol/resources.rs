//! `resources/read`: finds a resource by its URI, or a template that the URI fits, and writes what it says, or what its tool says.
//!
//! A tool that fails with the code `NOT_FOUND` (`errors.on`, `toolError`) means that there is no such resource.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::{cell::OnceCell, cmp::Reverse};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, json};

use super::{
    encode,
    era::Era,
    exchange::Exchange,
    lists::is_template,
    methods::text,
    prompts::{blob_contents, fill, text_contents},
    rpc_error::{INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError},
};
use crate::{
    Json,
    app::{App, Content, Embedded, Resource, UriPattern},
    pipeline::{ContentBlock, ToolResult},
};

/// The code by which a tool says that there is nothing at a URI.
const NOT_FOUND: &str = "NOT_FOUND";

/// Where to look for a URI; made at its first use.
#[derive(Default)]
pub(super) struct Index(OnceCell<ResourceIndex>);

struct ResourceIndex {
    /// Places in [`App::resources`] by URI.
    exact: BTreeMap<String, usize>,
    /// Places of templates, those with the longest literal text first; the app's order among equals.
    templates: Vec<usize>,
}

/// A resource and the values of its template's variables.
struct MatchedResource<'a> {
    resource: &'a Resource,
    variables: Vec<(&'a str, String)>,
}

impl Index {
    fn find<'a>(&self, app: &'a App, uri: &str) -> Option<MatchedResource<'a>> {
        let index = self.0.get_or_init(|| ResourceIndex::of(app));
        if let Some(resource) = index.exact.get(uri).and_then(|place| app.resources.get(*place)) {
            return Some(MatchedResource { resource, variables: Vec::new() });
        }
        let templates = index.templates.iter().filter_map(|place| app.resources.get(*place));
        templates.into_iter().find_map(|resource| Some(MatchedResource { resource, variables: variables(&resource.uri, uri)? }))
    }
}

impl ResourceIndex {
    fn of(app: &App) -> Self {
        let mut exact = BTreeMap::new();
        let mut templates = Vec::new();
        for (place, resource) in app.resources.iter().enumerate() {
            if is_template(resource) {
                templates.push(place);
            } else {
                exact.insert(resource.uri.literals.concat(), place);
            }
        }
        let literal_length = |place: &usize| app.resources[*place].uri.literals.iter().map(String::len).sum::<usize>();
        templates.sort_by_key(|place| Reverse(literal_length(place)));
        Self { exact, templates }
    }
}

impl Exchange<'_> {
    pub(super) async fn read_resource(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, RpcError> {
        let uri = text(params, "uri")?;
        let found = self.find_resource(&uri)?;
        let resource = found.resource;
        let value = |name: &str| found.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        let rounds = self.rounds(params, usize::from(matches!(resource.content, Content::Tool { .. })))?;
        let mut contents = Vec::new();
        match &resource.content {
            Content::Tool { used, binary } => match self.use_tool(used, value, rounds).await {
                Ok(ToolResult { input: Some(input), .. }) => return Ok(self.asking(&input)),
                Ok(result) => said_by_tool(&mut contents, &uri, &resource.mime_type, *binary, &result)?,
                Err(fault) if fault.code == NOT_FOUND => return Err(self.no_resource(&uri)),
                Err(fault) => return Err(self.failed(&fault)),
            },
            Content::Text(template) => text_contents(&mut contents, &uri, &resource.mime_type, template, value),
            Content::Blob(bytes) => blob_contents(&mut contents, &uri, &resource.mime_type, bytes),
            Content::Files { name, files } => {
                let name = fill(name, value);
                let place = files.binary_search_by(|file| file.name.as_str().cmp(&name));
                let file = place.ok().and_then(|place| files.get(place)).ok_or_else(|| self.no_resource(&uri))?;
                match &file.content {
                    Embedded::Text(text) => text_contents(&mut contents, &uri, &file.mime_type, text, value),
                    Embedded::Blob(bytes) => blob_contents(&mut contents, &uri, &file.mime_type, bytes),
                }
            }
        }
        let mut result = self.result();
        result.with("contents", |out| {
            out.push(b'[');
            out.extend_from_slice(&contents);
            out.push(b']');
        });
        if matches!(resource.content, Content::Tool { .. }) {
            result.not_cacheable();
        } else {
            result.cacheable();
        }
        Ok(result.finish())
    }

    /// `resources/subscribe` and `resources/unsubscribe` of the legacy era: resources do not change while a bundle is served.
    pub(super) fn subscribe(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, RpcError> {
        let uri = text(params, "uri")?;
        self.find_resource(&uri)?;
        Ok(self.result().finish())
    }

    fn find_resource(&self, uri: &str) -> Result<MatchedResource<'_>, RpcError> {
        self.protocol.resources.find(self.app(), uri).ok_or_else(|| self.no_resource(uri))
    }

    fn no_resource(&self, uri: &str) -> RpcError {
        let code = match self.selected.era {
            Era::Modern => INVALID_PARAMS,
            Era::Legacy => RESOURCE_NOT_FOUND,
        };
        RpcError::new(code, "Resource not found").with_data(json!({ "uri": uri }))
    }
}

/// Appends what a tool says: one entry for each content block.
///
/// # Errors
/// Nothing was said, or the text of a resource whose MIME type is none of text is no base64.
fn said_by_tool(out: &mut Vec<u8>, uri: &str, mime_type: &str, binary: bool, result: &ToolResult) -> Result<(), RpcError> {
    for block in &result.content {
        if !out.is_empty() {
            out.push(b',');
        }
        match block {
            ContentBlock::Text(text) if binary => {
                let is_base64 = STANDARD.decode(text).is_ok();
                is_base64.then_some(()).ok_or_else(|| {
                    let message = format!("The tool of this resource must return base64, because `{mime_type}` is not a text type");
                    RpcError::new(INTERNAL_ERROR, message)
                })?;
                contents(out, uri, mime_type, "blob", text);
            }
            ContentBlock::Text(text) => contents(out, uri, mime_type, "text", text),
            ContentBlock::Other(block) => {
                let member = |name: &str| block.get(name).and_then(Json::as_str);
                match (block.get("resource"), member("data"), member("text").or_else(|| member("uri"))) {
                    (Some(resource), ..) => encode::json(out, resource),
                    (None, Some(data), _) => contents(out, uri, member("mimeType").unwrap_or(mime_type), "blob", data),
                    (None, None, text) => contents(out, uri, mime_type, "text", text.unwrap_or_default()),
                }
            }
        }
    }
    if out.is_empty() { Err(RpcError::new(INTERNAL_ERROR, "The tool of this resource returns nothing")) } else { Ok(()) }
}

/// Appends a `ResourceContents`; `member` is `text` or `blob`.
fn contents(out: &mut Vec<u8>, uri: &str, mime_type: &str, member: &str, content: &str) {
    for (index, (name, value)) in [("uri", uri), ("mimeType", mime_type), (member, content)].into_iter().enumerate() {
        out.push(if index == 0 { b'{' } else { b',' });
        encode::string(out, name);
        out.push(b':');
        encode::string(out, value);
    }
    out.push(b'}');
}

/// The text of a pattern, as it stands in the lists: `docs://orders/{id}`.
pub(super) fn pattern_text(pattern: &UriPattern) -> String {
    let mut text = String::new();
    for (index, literal) in pattern.literals.iter().enumerate() {
        text.push_str(literal);
        if let Some(variable) = pattern.variables.get(index) {
            let operator = if is_reserved(pattern, index) { "+" } else { "" };
            text.push_str(&format!("{{{operator}{variable}}}"));
        }
    }
    text
}

/// The values of a template's variables, percent-decoded; `None` where the URI does not fit.
///
/// A value has at least one character and, apart from that of `{+path}`, none of `/?#`: simple expansion (RFC 6570, section 3.2.2)
/// never writes those. So the first occurrence of the text after a variable is the right one, and nothing has to be tried twice.
/// What stands after `{+path}` is found from the end in the same way; it takes what is left between.
fn variables<'p>(pattern: &'p UriPattern, uri: &str) -> Option<Vec<(&'p str, String)>> {
    let (first, after) = pattern.literals.split_first()?;
    let (last, between) = after.split_last()?;
    let mut rest = uri.strip_prefix(first.as_str())?.strip_suffix(last.as_str())?;
    let reserved = pattern.reserved.map_or(pattern.variables.len(), |index| index as usize);
    let count = pattern.variables.len();
    let mut values = alloc::vec![""; count];
    for (index, value) in values.iter_mut().enumerate().take(reserved) {
        *value = match between.get(index) {
            Some(literal) => {
                let (value, tail) = split_first(rest, literal)?;
                rest = tail;
                value
            }
            None => core::mem::take(&mut rest),
        };
    }
    for index in (reserved.saturating_add(1)..count).rev() {
        let (head, value) = split_last(rest, between.get(index - 1)?)?;
        rest = head;
        values[index] = value;
    }
    if let Some(value) = values.get_mut(reserved) {
        *value = rest;
    }
    let decoded = |(index, (name, value)): (usize, (&'p String, &str))| {
        let fits = !value.is_empty() && (index == reserved || !value.contains(['/', '?', '#']));
        Some((name.as_str(), percent_decode(value).filter(|_| fits)?))
    };
    pattern.variables.iter().zip(values).enumerate().map(decoded).collect()
}

/// What comes before and after the first occurrence of a literal that leaves at least one character before it.
fn split_first<'t>(text: &'t str, literal: &str) -> Option<(&'t str, &'t str)> {
    let start = text.chars().next()?.len_utf8();
    let at = start + text[start..].find(literal)?;
    Some((&text[..at], &text[at + literal.len()..]))
}

/// What comes before and after the last occurrence of a literal that leaves at least one character after it.
fn split_last<'t>(text: &'t str, literal: &str) -> Option<(&'t str, &'t str)> {
    let end = text.len() - text.chars().next_back()?.len_utf8();
    let at = text[..end].rfind(literal)?;
    Some((&text[..at], &text[at + literal.len()..]))
}

fn is_reserved(pattern: &UriPattern, index: usize) -> bool {
    pattern.reserved.is_some_and(|reserved| reserved as usize == index)
}

/// Undoes `%XX`; `None` where that leaves no UTF-8 or an escape is broken.
fn percent_decode(value: &str) -> Option<String> {
    let mut bytes = value.bytes();
    let mut decoded = Vec::with_capacity(value.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
        decoded.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec::Vec};

    use super::{UriPattern, pattern_text, variables};

    #[test]
    fn fits_uris_to_templates() {
        // Literals are written between bars, and so are the expected values.
        let cases = [
            ("docs://orders/|", "id", "docs://orders/42", Some("42")),
            ("docs://orders/|/lines", "id", "docs://orders/a%20b%2Fc/lines", Some("a b/c")),
            ("docs://orders/|/lines", "id", "docs://orders//lines", None),
            ("docs://orders/|", "id", "docs://orders/", None),
            ("docs://orders/|", "id", "docs://orders/1/2", None),
            ("docs://orders/|", "id", "docs://orders/1?x=2", None),
            ("docs://orders/|", "id", "docs://orders/%zz", None),
            ("docs://orders/|", "id", "docs://orders/%4", None),
            ("docs://orders/|", "id", "docs://orders/%ff", None),
            ("docs://orders/|", "id", "docs://orders/%e2%82%ac", Some("€")),
            ("x://|-|.txt", "a|b", "x://p-q-r.txt", Some("p|q-r")),
            ("x://|-|.txt", "a|b", "x://--q.txt", Some("-|q")),
            ("x://|-|.txt", "a|b", "x://€-q.txt", Some("€|q")),
            ("x://|-|.txt", "a|b", "x://p.txt", None),
            ("x://ab|bc", "a", "x://abc", None),
            ("file://|", "+path", "file://a/b%20c?d#e", Some("a/b c?d#e")),
            ("file://|", "+path", "file://", None),
            ("git://|/|/at/|", "repo|+path|commit", "git://r/a/b/at/c/at/7", Some("r|a/b/at/c|7")),
            ("git://|/|/at/|", "repo|+path|commit", "git://r/a/at/7/8", None),
            ("git://|/|/at/|", "repo|+path|commit", "git://r/a/b", None),
            ("git://|/|/at/|", "repo|+path|commit", "git://r//at/7", None),
        ];
        for (literals, names, uri, expected) in cases {
            let split = |text: &str| text.split('|').map(ToString::to_string).collect();
            let reserved = names.split('|').position(|name| name.starts_with('+')).map(|index| index as u32);
            let pattern = UriPattern { literals: split(literals), variables: split(&names.replace('+', "")), reserved };
            let values = variables(&pattern, uri);
            let values = values.map(|values| values.into_iter().map(|(_, value)| value).collect::<Vec<_>>().join("|"));
            assert_eq!(values.as_deref(), expected, "{} {uri}", pattern_text(&pattern));
        }
    }
}
