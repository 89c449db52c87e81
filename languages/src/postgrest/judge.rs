//! Which requests may be sent.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::{fields::Verb, judged::Judged, names::is_name, walk::Walk};
use crate::{Flaw, Tree, View};

/// Judges a request.
///
/// # Errors
/// Every flaw, in the order of the document.
pub fn judge<T: Tree>(document: &[(String, T)]) -> Result<Judged, Vec<Flaw>> {
    let Some((name, target)) = document.first() else {
        return Err(vec![flaw(&[], "the request is empty", "write what it does, such as `from: items`")]);
    };
    let Some(verb) = Verb::ALL.into_iter().find(|verb| verb.name() == name) else {
        let names = Verb::ALL.map(|verb| format!("`{}`", verb.name())).join(", ");
        let help = format!(
            "the first key says what it does, and its value names the table or the function, as in `from: items`; there are {names}"
        );
        return Err(vec![flaw(&[0], &format!("`{name}` is not a request that a tool can send"), &help)]);
    };
    let mut walk = Walk::new(verb);
    let what = if verb == Verb::Rpc { "function" } else { "table" };
    let target = match target.view() {
        View::Text(target) if is_name(target) => target.to_string(),
        View::Text(target) => {
            let help = "write it as PostgREST has it, without the schema, which is an option of the adapter";
            walk.at(0, |walk| walk.flaw(format!("`{target}` is not the name of a {what}"), help));
            String::new()
        }
        _ => {
            walk.at(0, |walk| {
                walk.flaw(format!("the {what} must be written out as text"), format!("write its name, as in `{name}: items`"))
            });
            String::new()
        }
    };
    for (place, (key, node)) in document.iter().enumerate().skip(1) {
        // Before the fields that depend on them.
        walk.note(key, node);
        walk.at(place, |walk| {
            if document.iter().take(place).any(|(other, _)| other == key) {
                walk.flaw(format!("`{key}` is there twice"), "remove one");
            }
        });
    }
    for (place, (key, node)) in document.iter().enumerate().skip(1) {
        walk.at(place, |walk| match verb.fields().iter().find(|field| field.name == key) {
            Some(field) => walk.content(key, node, field.content),
            None => {
                let known = verb.fields().iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ");
                walk.flaw(format!("`{name}` has no field `{key}`"), format!("its fields are {known}"));
            }
        });
    }
    for field in verb.fields().iter().filter(|field| field.is_required) {
        if document.iter().all(|(key, _)| key != field.name) {
            let help = match field.name {
                "where" => "without conditions it would change every row; write `where: { id: { eq: \"{{ inputs.id }}\" } }`".to_owned(),
                other => format!("write `{other}` below it"),
            };
            walk.at(0, |walk| walk.flaw(format!("`{name}` needs `{}`", field.name), help));
        }
    }
    let Walk { flaws, values, has_related, is_get, .. } = walk;
    if !flaws.is_empty() {
        return Err(flaws);
    }
    let reads = match verb {
        Verb::From | Verb::Count => true,
        Verb::Rpc => is_get,
        Verb::Insert | Verb::Upsert | Verb::Update | Verb::Delete => false,
    };
    Ok(Judged { verb, target, reads, has_related, values })
}

fn flaw(path: &[usize], message: &str, help: &str) -> Flaw {
    Flaw { path: path.to_vec(), message: message.to_owned(), help: help.to_owned() }
}
