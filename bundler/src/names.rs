//! Names: what they may be, how they come from paths, which one was meant.

/// The scheme of the files of skills.
pub(crate) const SKILL_SCHEME: &str = "skill://";

/// Whether it fits `^[a-z][a-z0-9_-]*$`: the name of an app.
pub(crate) fn is_app_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b))
}

/// Whether it fits `^[a-zA-Z][a-zA-Z0-9_-]{0,127}$`: the name of a tool, an adapter, a prompt or a
/// resource.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= 128
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
}

/// Whether it fits `^[a-zA-Z_][a-zA-Z0-9_-]*$`: the name of an input, a field or an argument.
pub(crate) fn is_input_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
}

/// Whether it fits `^[a-zA-Z_][a-zA-Z0-9_]*$`: the name of a variable.
pub(crate) fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether it is a token of [RFC 9110,
/// 5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2): the name of a header field.
pub(crate) fn is_header_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// The name that a tool has by its folder: `Admin/list users` is `admin-list-users`, the tools
/// folder itself `index`.
pub(crate) fn from_path(path: &str) -> String {
    let segments = path.split('/').map(str::trim).filter(|segment| !segment.is_empty());
    let names: Vec<String> = segments.map(slug).collect();
    if names.is_empty() { "index".into() } else { names.join("-") }
}

/// The key that a tool has in `sync` by its folder: `billing/Get Invoice` is `billing.get-invoice`.
pub(crate) fn key_from_path(path: &str) -> String {
    let names: Vec<String> = path.split('/').map(str::trim).filter(|segment| !segment.is_empty()).map(slug).collect();
    if names.is_empty() { "index".into() } else { names.join(".") }
}

/// One segment: each run of other characters becomes one `-`, letters become lower case.
fn slug(segment: &str) -> String {
    let mut name = String::new();
    let mut gap = false;
    for character in segment.chars() {
        if character.is_ascii_alphanumeric() || character == '_' || character == '-' {
            gap = false;
            name.push(character.to_ascii_lowercase());
        } else if !gap {
            gap = true;
            name.push('-');
        }
    }
    name
}

/// The candidate that was most likely meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let most = (name.chars().count() / 3).max(1);
    let distances = candidates.into_iter().map(|candidate| (strsim::osa_distance(&name, &candidate.to_lowercase()), candidate));
    distances.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// What types are called elsewhere, and here.
const TYPES: [(&str, &str); 14] = [
    ("bool", "boolean"),
    ("decimal", "float"),
    ("dict", "object"),
    ("double", "float"),
    ("integer", "int"),
    ("list", "array"),
    ("map", "object"),
    ("number", "float"),
    ("numeric", "float"),
    ("real", "float"),
    ("str", "string"),
    ("text", "string"),
    ("timestamp", "datetime"),
    ("varchar", "string"),
];

/// The word that was most likely meant: by its meaning where it is the name of a type, else by its
/// letters.
pub(crate) fn nearest_word<'a>(name: &str, words: &[&'a str]) -> Option<&'a str> {
    let same = TYPES.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, ours)| *ours);
    let known = words.iter().copied().find(|word| same == Some(*word));
    known.or_else(|| nearest(name, words.iter().copied()))
}

/// `` `a`, `b` or `c` ``; `none` without any.
pub(crate) fn one_of<S: AsRef<str>>(names: &[S]) -> String {
    listed(names, "or")
}

/// `` `a`, `b` and `c` ``; `none` without any.
pub(crate) fn all_of<S: AsRef<str>>(names: &[S]) -> String {
    listed(names, "and")
}

fn listed<S: AsRef<str>>(names: &[S], word: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.as_slice() {
        [] => "none".into(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} {word} {last}", init.join(", ")),
    }
}

/// A sentence that helps with a wrong name: the one that was meant, or all there are.
pub(crate) fn meant(name: &str, candidates: &[&str], all: &str) -> String {
    match nearest(name, candidates.iter().copied()) {
        Some(near) => format!("Did you mean `{near}`?"),
        None if candidates.is_empty() => String::new(),
        None => format!("{all} {}.", all_of(candidates)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_paths() {
        let cases = [
            ("", "index"),
            ("get-user", "get-user"),
            ("admin/list users", "admin-list-users"),
            ("Billing/ Get  Invoice ", "billing-get-invoice"),
            ("a.b/ü", "a-b--"),
        ];
        for (path, name) in cases {
            assert_eq!(from_path(path), name, "{path}");
        }
    }

    #[test]
    fn knows_what_was_meant() {
        assert_eq!(nearest("statment", ["description", "statement"]), Some("statement"));
        assert_eq!(nearest("USE", ["use"]), Some("use"));
        assert_eq!(nearest("colour", ["use", "kind"]), None);
    }

    #[test]
    fn tells_names_from_others() {
        assert!(is_name("get_user-2") && is_name("a") && is_name("GetUser"));
        assert!(!is_name("") && !is_name("2a") && !is_name("a b") && !is_name(&"a".repeat(129)));
        assert!(is_app_name("shop-1") && !is_app_name("Shop") && !is_app_name("1shop"));
        assert!(is_input_name("_x-y") && !is_input_name("x.y"));
        assert!(is_variable("A_1") && !is_variable("A-1"));
        assert!(is_header_token("Region") && !is_header_token("a b") && !is_header_token(""));
    }
}
