//! Answers that the API knows by an `ETag`, and how long an answer may be kept
//! ([RFC 9110](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3),
//! [RFC 9111](https://www.rfc-editor.org/rfc/rfc9111#section-5.2)).

use std::{cell::RefCell, collections::VecDeque, rc::Rc};

use millrace_core::{Json, headers::Headers};

/// The longest body that is kept, in bytes.
const LONGEST: usize = 65_536;
/// How many bytes of bodies are kept, in all.
const MOST_BYTES: usize = 1 << 20;
/// The longest validator that is kept, in bytes.
const LONGEST_TAG: usize = 256;

/// The answers that an isolate keeps; the one that was used last is the last.
#[derive(Default)]
pub(super) struct Validated(RefCell<VecDeque<Rc<Kept>>>);

/// An answer.
pub(super) struct Kept {
    /// Whatever of a request its answer can depend on.
    request: String,
    pub(super) tag: String,
    /// The header fields that say where the next page is, and for how long it may be kept.
    pub(super) headers: Headers,
    pub(super) body: Rc<Json>,
    pub(super) bytes: usize,
}

impl Validated {
    /// What is kept for a request.
    pub(super) fn find(&self, request: &str) -> Option<Rc<Kept>> {
        let mut all = self.0.borrow_mut();
        let place = all.iter().position(|kept| kept.request == request)?;
        let kept = all.remove(place)?;
        all.push_back(Rc::clone(&kept));
        Some(kept)
    }

    /// Keeps an answer, where it has an `ETag` and is not too long.
    pub(super) fn keep(&self, request: String, headers: &Headers, body: &Rc<Json>, bytes: usize) {
        let mut all = self.0.borrow_mut();
        all.retain(|kept| kept.request != request);
        let Some(tag) = headers.first("etag").filter(|tag| tag.len() <= LONGEST_TAG) else { return };
        if bytes > LONGEST || directives(headers).any(|(name, _)| name == "no-store") {
            return;
        }
        let mut kept_headers = Headers::new();
        for name in ["link", "cache-control"] {
            headers.all(name).for_each(|value| kept_headers.append(name, value));
        }
        all.push_back(Rc::new(Kept { request, tag: tag.to_owned(), headers: kept_headers, body: Rc::clone(body), bytes }));
        while all.iter().map(|kept| kept.bytes + kept.request.len()).sum::<usize>() > MOST_BYTES {
            all.pop_front();
        }
    }
}

/// For how many seconds an answer may be kept, where the API says so.
pub(super) fn keep_s(headers: &Headers) -> Option<u32> {
    let mut most_s = None;
    for (name, value) in directives(headers) {
        match name.as_str() {
            "no-store" | "no-cache" => return Some(0),
            // What cannot be read does not allow anything.
            "max-age" => most_s = Some(value.trim_matches('"').parse().unwrap_or(0)),
            _ => {}
        }
    }
    let age_s = headers.first("age").and_then(|age| age.trim().parse::<u32>().ok()).unwrap_or(0);
    most_s.map(|most_s: u32| most_s.saturating_sub(age_s))
}

fn directives(headers: &Headers) -> impl Iterator<Item = (String, &str)> {
    headers.all("cache-control").flat_map(|value| value.split(',')).map(|directive| {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        (name.trim().to_ascii_lowercase(), value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&str, &str)]) -> Headers {
        let mut headers = Headers::new();
        fields.iter().for_each(|(name, value)| headers.append(name, *value));
        headers
    }

    #[test]
    fn what_may_be_kept_is_read() {
        for (fields, expected) in [
            (&[][..], None),
            (&[("cache-control", "public")], None),
            (&[("cache-control", "max-age=60")], Some(60)),
            (&[("cache-control", "private, Max-Age = \"60\"")], Some(60)),
            (&[("cache-control", "max-age=60"), ("age", "20")], Some(40)),
            (&[("cache-control", "max-age=60"), ("age", "90")], Some(0)),
            (&[("cache-control", "max-age=60, no-cache")], Some(0)),
            (&[("cache-control", "max-age=60"), ("cache-control", "no-store")], Some(0)),
            (&[("cache-control", "max-age=soon")], Some(0)),
        ] {
            assert_eq!(keep_s(&headers(fields)), expected, "{fields:?}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let kept = Validated::default();
        let tagged = headers(&[("etag", "\"1\"")]);
        for number in 0..100 {
            kept.keep(format!("GET /{number}"), &tagged, &Rc::new(Json::from(number)), 60_000);
        }
        let known: Vec<usize> = (0..100).filter(|number| kept.find(&format!("GET /{number}")).is_some()).collect();
        assert_eq!(known, (83..100).collect::<Vec<_>>());
        kept.keep("GET /99".to_owned(), &headers(&[("etag", "\"2\""), ("cache-control", "no-store")]), &Rc::default(), 1);
        kept.keep("GET /98".to_owned(), &tagged, &Rc::default(), LONGEST + 1);
        kept.keep("GET /97".to_owned(), &headers(&[("etag", &"x".repeat(300))]), &Rc::default(), 1);
        assert!(["GET /99", "GET /98", "GET /97"].iter().all(|request| kept.find(request).is_none()));
        assert_eq!(kept.find("GET /90").map(|kept| (*kept.body).clone()), Some(Json::from(90)));
    }
}
