//! `resources/read`: finds a resource by its URI, or a template that the URI fits, and writes what it says.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::{cell::OnceCell, cmp::Reverse};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, json};

use super::{
    encode::{self, Failure, INVALID_PARAMS, RESOURCE_NOT_FOUND},
    era::Era,
    lists::is_template,
    methods::{Exchange, text},
    prompts::fill,
};
use crate::{
    Json,
    app::{App, Content, Resource, UriPattern},
};

/// Where to look for a URI; made at its first use.
#[derive(Default)]
pub(super) struct Index(OnceCell<Built>);

struct Built {
    /// Places in [`App::resources`] by URI.
    exact: BTreeMap<String, usize>,
    /// Places of templates, those with the longest literal text first; the app's order among equals.
    templates: Vec<usize>,
}

/// A resource and the values of its template's variables.
struct Found<'a> {
    resource: &'a Resource,
    variables: Vec<(&'a str, String)>,
}

impl Index {
    fn find<'a>(&self, app: &'a App, uri: &str) -> Option<Found<'a>> {
        let index = self.0.get_or_init(|| Built::of(app));
        if let Some(resource) = index.exact.get(uri).and_then(|place| app.resources.get(*place)) {
            return Some(Found { resource, variables: Vec::new() });
        }
        let templates = index.templates.iter().filter_map(|place| app.resources.get(*place));
        templates.into_iter().find_map(|resource| Some(Found { resource, variables: variables(&resource.uri, uri)? }))
    }
}

impl Built {
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
    pub(super) fn read_resource(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, Failure> {
        let uri = text(params, "uri")?;
        let found = self.find_resource(&uri)?;
        let mut result = self.result();
        result.with("contents", |out| {
            out.extend_from_slice(br#"[{"uri":"#);
            encode::string(out, &uri);
            out.extend_from_slice(br#","mimeType":"#);
            encode::string(out, &found.resource.mime_type);
            match &found.resource.content {
                Content::Text(template) => {
                    let value = |name: &str| found.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
                    out.extend_from_slice(br#","text":"#);
                    encode::string(out, &fill(template, value));
                }
                Content::Blob(bytes) => {
                    out.extend_from_slice(br#","blob":""#);
                    out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
                    out.push(b'"');
                }
            }
            out.extend_from_slice(b"}]");
        });
        result.cacheable();
        Ok(result.finish())
    }

    /// `resources/subscribe` and `resources/unsubscribe` of the legacy era: resources do not change while a bundle is served.
    pub(super) fn subscribe(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, Failure> {
        let uri = text(params, "uri")?;
        self.find_resource(&uri)?;
        Ok(self.result().finish())
    }

    fn find_resource(&self, uri: &str) -> Result<Found<'_>, Failure> {
        let code = match self.selected.era {
            Era::Modern => INVALID_PARAMS,
            Era::Legacy => RESOURCE_NOT_FOUND,
        };
        let found = self.protocol.resources.find(self.app(), uri);
        found.ok_or_else(|| Failure::new(code, "Resource not found").with_data(json!({ "uri": uri })))
    }
}

/// The text of a pattern, as it stands in the lists: `docs://orders/{id}`.
pub(super) fn pattern_text(pattern: &UriPattern) -> String {
    let mut text = String::new();
    for (index, literal) in pattern.literals.iter().enumerate() {
        text.push_str(literal);
        if let Some(variable) = pattern.variables.get(index) {
            text.push_str(&format!("{{{variable}}}"));
        }
    }
    text
}

/// The values of a template's variables, percent-decoded; `None` where the URI does not fit.
///
/// A value has at least one character and none of `/?#`: simple expansion (RFC 6570, section 3.2.2) never writes those. So the
/// first occurrence of the text after a variable is the right one, and nothing has to be tried twice.
fn variables<'p>(pattern: &'p UriPattern, uri: &str) -> Option<Vec<(&'p str, String)>> {
    let (first, after) = pattern.literals.split_first()?;
    let (last, between) = after.split_last()?;
    let mut rest = uri.strip_prefix(first.as_str())?.strip_suffix(last.as_str())?;
    let mut variables = Vec::with_capacity(pattern.variables.len());
    for (index, name) in pattern.variables.iter().enumerate() {
        let value = match between.get(index) {
            Some(literal) => {
                // Past its first character, since a value is not empty.
                let start = rest.chars().next()?.len_utf8();
                let end = start + rest[start..].find(literal.as_str())?;
                let value = &rest[..end];
                rest = &rest[end + literal.len()..];
                value
            }
            None => rest,
        };
        if value.is_empty() || value.contains(['/', '?', '#']) {
            return None;
        }
        variables.push((name.as_str(), percent_decode(value)?));
    }
    Some(variables)
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
        ];
        for (literals, names, uri, expected) in cases {
            let split = |text: &str| text.split('|').map(ToString::to_string).collect();
            let pattern = UriPattern { literals: split(literals), variables: split(names) };
            let values = variables(&pattern, uri);
            let values = values.map(|values| values.into_iter().map(|(_, value)| value).collect::<Vec<_>>().join("|"));
            assert_eq!(values.as_deref(), expected, "{} {uri}", pattern_text(&pattern));
        }
    }
}
