//! From a URI to its resource: the index of URIs and templates, and the match of a URI against a
//! template.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::{cell::OnceCell, cmp::Reverse};

use super::lists::is_template;
use crate::{
    app::{App, Resource, UriPattern},
    sort::sort_by,
    url::percent_decoded_strictly,
};

/// Where to look for a URI; made at its first use.
#[derive(Default)]
pub(super) struct Index(OnceCell<ResourceIndex>);

struct ResourceIndex {
    /// Places in [`App::resources`] by URI.
    exact: BTreeMap<String, usize>,
    /// Places of templates, those with the longest literal text first; the app's order among
    /// equals.
    templates: Vec<usize>,
}

/// A resource and the values of its template's variables.
pub(super) struct MatchedResource<'a> {
    pub(super) resource: &'a Resource,
    pub(super) variables: Vec<(&'a str, String)>,
}

impl Index {
    /// The resource at a URI, or the template that the URI fits.
    pub(super) fn find<'a>(&self, app: &'a App, uri: &str) -> Option<MatchedResource<'a>> {
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
        sort_by(&mut templates, |a, b| (Reverse(literal_length(a)), a).cmp(&(Reverse(literal_length(b)), b)));
        Self { exact, templates }
    }
}

/// The text of a pattern, as it stands in the lists: `docs://orders/{id}`.
#[must_use]
pub fn pattern_text(pattern: &UriPattern) -> String {
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

/// Whether a URI is the one of a pattern, or fits its template.
#[must_use]
pub fn fits(pattern: &UriPattern, uri: &str) -> bool {
    variables(pattern, uri).is_some()
}

/// The values of a template's variables, percent-decoded; `None` where the URI does not fit.
///
/// A value has at least one character and, apart from that of `{+path}`, none of `/?#`: simple
/// expansion (RFC 6570, section 3.2.2) never writes those. So the first occurrence of the text
/// after a variable is the right one, and nothing has to be tried twice. What stands after
/// `{+path}` is found from the end in the same way; it takes what is left between.
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
        Some((name.as_str(), percent_decoded_strictly(value).filter(|_| fits)?))
    };
    pattern.variables.iter().zip(values).enumerate().map(decoded).collect()
}

/// What comes before and after the first occurrence of a literal that leaves at least one character
/// before it.
fn split_first<'t>(text: &'t str, literal: &str) -> Option<(&'t str, &'t str)> {
    let start = text.chars().next()?.len_utf8();
    let at = start + text[start..].find(literal)?;
    Some((&text[..at], &text[at + literal.len()..]))
}

/// What comes before and after the last occurrence of a literal that leaves at least one character
/// after it.
fn split_last<'t>(text: &'t str, literal: &str) -> Option<(&'t str, &'t str)> {
    let end = text.len() - text.chars().next_back()?.len_utf8();
    let at = text[..end].rfind(literal)?;
    Some((&text[..at], &text[at + literal.len()..]))
}

fn is_reserved(pattern: &UriPattern, index: usize) -> bool {
    pattern.reserved.is_some_and(|reserved| reserved as usize == index)
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
