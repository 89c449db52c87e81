//! Who a caller is, and what tells it from others.
//!
//! A principal is what a script plugin returned, once all of it was understood: what is not is
//! refused, and nothing is dropped in silence. The cache, sealed states and whatever else separates
//! callers do so by one value, the [`Identity`]: the digest of the whole principal.

use alloc::{borrow::ToOwned as _, format, string::String, vec::Vec};

use serde_json::{Map, json};
use sha2::{Digest as _, Sha256};

use crate::pipeline::content::json_text::word;
use crate::{Json, sort::sort_by};

/// The largest integer that a script's numbers tell from its neighbours.
const MOST_INTEGER: u64 = (1 << 53) - 1;

/// What tells one caller from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) struct Identity([u8; 32]);

impl Identity {
    /// The digest of a principal: of every member, whatever their order. A caller that nobody named
    /// is like no principal.
    pub(in crate::pipeline) fn of(principal: Option<&Json>) -> Self {
        let mut text = Vec::new();
        match principal {
            None => text.extend(b"nobody"),
            Some(principal) => {
                text.extend(b"principal:");
                canonical(principal, &mut text);
            }
        }
        Self(Sha256::digest(&text).into())
    }

    pub(in crate::pipeline) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A value as bytes that do not depend on the order of members. Values of different types are never
/// the same bytes.
pub(in crate::pipeline) fn canonical(value: &Json, out: &mut Vec<u8>) {
    match value {
        Json::Array(elements) => {
            out.push(b'[');
            for element in elements {
                canonical(element, out);
                out.push(b',');
            }
            out.push(b']');
        }
        Json::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sort_by(&mut sorted, |(a, _), (b, _)| a.cmp(b));
            out.push(b'{');
            for (name, member) in sorted {
                out.extend(serde_json::to_vec(name).unwrap_or_default());
                out.push(b':');
                canonical(member, out);
                out.push(b',');
            }
            out.push(b'}');
        }
        scalar => out.extend(serde_json::to_vec(scalar).unwrap_or_default()),
    }
}

/// A principal with exactly the members that statements and scripts may rely on:
/// `{subject, scopes, roles, claims, plugin}`. Members of other names are claims, which name nobody
/// by themselves: [`is_nobody`].
///
/// | member | may be |
/// |---|---|
/// | `subject` | text that is not empty, or an integer of at most 2^53 − 1, which is its decimal text; absent or null names nobody |
/// | `scopes`, `roles` | a list of texts, or one text with blanks between; absent or null means none |
/// | `claims` | an object; absent or null means none |
///
/// # Errors
/// The member that is not, and what it must be; never its value.
pub(in crate::pipeline) fn principal(mut members: Map<String, Json>, plugin: &str) -> Result<Json, String> {
    let subject = match members.remove("subject") {
        None | Some(Json::Null) => Json::Null,
        Some(Json::String(text)) if text.is_empty() => return Err("`subject` is an empty string".to_owned()),
        Some(text @ Json::String(_)) => text,
        Some(Json::Number(number)) => match number.as_i64().filter(|integer| integer.unsigned_abs() <= MOST_INTEGER) {
            Some(integer) => format!("{integer}").into(),
            None => return Err("`subject` is a number that is not an integer of at most 2^53 - 1; it must be a string then".to_owned()),
        },
        Some(other) => return Err(format!("`subject` is {}; it must be a string or an integer", word(Some(&other)))),
    };
    let (scopes, roles) = (names("scopes", members.remove("scopes"))?, names("roles", members.remove("roles"))?);
    let mut claims = match members.remove("claims") {
        None | Some(Json::Null) => Map::new(),
        Some(Json::Object(claims)) => claims,
        Some(other) => return Err(format!("`claims` is {}; it must be an object", word(Some(&other)))),
    };
    members.remove("plugin");
    // Removal moves members around; sorted, the order is the same whatever the plugin wrote.
    members.sort_keys();
    for (name, value) in members {
        claims.entry(name).or_insert(value);
    }
    Ok(json!({ "subject": subject, "scopes": scopes, "roles": roles, "claims": claims, "plugin": plugin }))
}

/// Whether what a plugin returned names nobody: it has neither a `subject` nor anything in `claims`
/// that is not null. Members of other names do not count, although they become claims beside these:
/// `{ error: "…" }` and `{ status: 401 }` say that somebody is not let in.
pub(in crate::pipeline) fn is_nobody(members: &Map<String, Json>) -> bool {
    let claims = members.get("claims").and_then(Json::as_object);
    members.get("subject").is_none_or(Json::is_null) && claims.is_none_or(|claims| claims.values().all(Json::is_null))
}

fn names(member: &str, value: Option<Json>) -> Result<Vec<Json>, String> {
    match value {
        None | Some(Json::Null) => Ok(Vec::new()),
        Some(Json::String(text)) => Ok(text.split_ascii_whitespace().map(Json::from).collect()),
        Some(Json::Array(elements)) => match elements.iter().find(|element| !element.is_string()) {
            None => Ok(elements),
            Some(other) => Err(format!("`{member}` has {} in it; it must be a list of strings", word(Some(other)))),
        },
        Some(other) => Err(format!("`{member}` is {}; it must be a list of strings", word(Some(&other)))),
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;

    #[test]
    fn principals_are_understood_or_refused() {
        let none = json!({"subject": null, "scopes": [], "roles": [], "claims": {}, "plugin": "p"});
        let number = |text: &str| json!({"subject": text, "scopes": [], "roles": [], "claims": {}, "plugin": "p"});
        let table = [
            (json!({}), Ok(none.clone())),
            (json!({"subject": null, "scopes": null, "roles": null, "claims": null}), Ok(none)),
            (
                json!({"subject": "u", "scopes": "a  b", "roles": ["x"], "claims": {"t": 1}, "plugin": "forged", "z": 1, "t": 2}),
                Ok(json!({"subject": "u", "scopes": ["a", "b"], "roles": ["x"], "claims": {"t": 1, "z": 1}, "plugin": "p"})),
            ),
            (json!({"subject": 7}), Ok(number("7"))),
            (json!({"subject": -9_007_199_254_740_991_i64}), Ok(number("-9007199254740991"))),
            (json!({"subject": 9_007_199_254_740_992_u64}), Err("`subject` is a number")),
            (json!({"subject": u64::MAX}), Err("`subject` is a number")),
            (json!({"subject": 1.5}), Err("`subject` is a number")),
            (json!({"subject": ""}), Err("`subject` is an empty string")),
            (json!({"subject": {"id": 1}}), Err("`subject` is an object")),
            (json!({"subject": ["a"]}), Err("`subject` is an array")),
            (json!({"subject": true}), Err("`subject` is a boolean")),
            (json!({"subject": false}), Err("`subject` is a boolean")),
            (json!({"scopes": 5}), Err("`scopes` is a number")),
            (json!({"scopes": {"a": true}}), Err("`scopes` is an object")),
            (json!({"roles": ["x", 1]}), Err("`roles` has a number in it")),
            (json!({"claims": []}), Err("`claims` is an array")),
            (json!({"claims": "no"}), Err("`claims` is a string")),
        ];
        for (value, expected) in table {
            let Json::Object(members) = value.clone() else { panic!("an object") };
            match (principal(members, "p"), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(found), Err(expected)) => assert!(found.starts_with(expected), "{found}"),
                (found, expected) => panic!("{value}: {found:?}, not {expected:?}"),
            }
        }
    }

    #[test]
    fn nobody_is_named_by_members_that_say_something_else() {
        let nobody = [
            json!({}),
            json!({"subject": null}),
            json!({"scopes": ["a"], "roles": ["b"]}),
            json!({"claims": {}}),
            json!({"claims": {"id": null}}),
            json!({"error": "The token has expired."}),
            json!({"status": 401, "statusText": "Unauthorized"}),
            json!({"ok": false}),
            json!({"authenticated": false, "subject": null, "claims": {}}),
            json!({"tenant": "a"}),
            json!({"tenant": "a", "claims": {"tenant": null}}),
            json!({"sub": "u"}),
            json!({"Subject": "u", "Claims": {"id": 1}}),
            json!({"plugin": "p"}),
        ];
        let somebody = [
            json!({"subject": "u"}),
            json!({"subject": 0}),
            json!({"claims": {"id": 1}}),
            json!({"claims": {"active": false}}),
            json!({"subject": "u", "tenant": "a"}),
        ];
        for (values, expected) in [(&nobody[..], true), (&somebody, false)] {
            for value in values {
                assert_eq!(is_nobody(value.as_object().unwrap()), expected, "{value}");
            }
        }
    }

    #[test]
    fn callers_are_told_apart_by_all_of_their_principal() {
        let base = json!({"subject": "1", "scopes": ["a", "b"], "roles": [], "claims": {"t": 1, "u": {"x": 1, "y": 2}}, "plugin": "p"});
        let with = |path: &str, value: Json| {
            let mut changed = base.clone();
            *changed.pointer_mut(path).unwrap() = value;
            changed
        };
        let others = [
            base.clone(),
            with("/subject", json!(1)),
            with("/subject", json!(null)),
            with("/subject", json!("[1")),
            with("/scopes", json!(["a"])),
            with("/scopes", json!(["ab"])),
            with("/scopes", json!("a b")),
            with("/roles", json!(["a"])),
            with("/claims/t", json!("1")),
            with("/claims/t", json!(true)),
            with("/claims/t", json!(null)),
            with("/claims/t", json!([1])),
            with("/claims/u", json!({"x": 1})),
            with("/plugin", json!("q")),
            json!(null),
            json!({}),
        ];
        let mut digests: BTreeSet<[u8; 32]> = others.iter().map(|other| *Identity::of(Some(other)).as_bytes()).collect();
        digests.insert(*Identity::of(None).as_bytes());
        assert_eq!(digests.len(), others.len() + 1);
        let turned = r#"{"plugin":"p","claims":{"u":{"y":2,"x":1},"t":1},"roles":[],"scopes":["a","b"],"subject":"1"}"#;
        assert_eq!(Identity::of(Some(&serde_json::from_str(turned).unwrap())), Identity::of(Some(&base)));
    }
}
