//! Which documents may be run.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{
    document::{ALLOWABLE, Judged, NEVER},
    stages,
    tables::COMMANDS,
    walk::Walk,
};
use crate::{Flaw, Tree};

/// Whether an adapter may allow a name at all, and has to where it is used.
///
/// # Errors
/// Why not.
pub fn may_be_allowed(name: &str) -> Result<(), String> {
    if let Some((_, why)) = NEVER.iter().find(|(never, _)| *never == name) {
        return Err(format!("`{name}` cannot be allowed: it {why}"));
    }
    if stages::is_known(name) && !ALLOWABLE.contains(&name) {
        return Err(format!("the stage `{name}` needs no permission"));
    }
    let rest = name.strip_prefix('$').unwrap_or_default();
    if rest.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(format!("`{name}` is not the name of a stage or an operator"));
    }
    Ok(())
}

/// Judges a document. `allow` is the adapter's option of that name.
///
/// # Errors
/// Every flaw, in the order of the document.
pub fn judge<T: Tree>(document: &[(String, T)], allow: &str) -> Result<Judged, Vec<Flaw>> {
    let Some((name, collection)) = document.first() else {
        return Err(alloc::vec![flaw(&[], "the document is empty", "write a command, such as `find: users`")]);
    };
    let Some(command) = COMMANDS.iter().find(|command| command.kind.name() == name) else {
        let names = COMMANDS.iter().map(|command| format!("`{}`", command.kind.name())).collect::<Vec<_>>().join(", ");
        let help = format!("the first key is the command, and its value the collection, as in `find: users`; the commands are {names}");
        return Err(alloc::vec![flaw(&[0], &format!("`{name}` is not a command that a tool can run"), &help)]);
    };
    let mut walk = Walk::new(allow);
    walk.at(0, |walk| walk.collection(collection));
    for (place, (key, node)) in document.iter().enumerate().skip(1) {
        walk.at(place, |walk| match command.fields.iter().find(|field| field.name == key) {
            Some(field) => walk.content(node, field.content),
            None if key == "$db" => walk.database(node),
            None => {
                let known = command.fields.iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ");
                walk.flaw(format!("`{name}` has no field `{key}`"), format!("its fields are {known}"));
            }
        });
    }
    for field in command.fields.iter().filter(|field| field.is_required) {
        if document.iter().all(|(key, _)| key != field.name) {
            walk.at(0, |walk| walk.flaw(format!("`{name}` needs `{}`", field.name), format!("write `{}` below it", field.name)));
        }
    }
    let Walk { flaws, values, writes, upserts, .. } = walk;
    if flaws.is_empty() {
        let reads = command.reads && !writes;
        Ok(Judged { kind: command.kind, reads, upserts, values })
    } else {
        Err(flaws)
    }
}

fn flaw(path: &[usize], message: &str, help: &str) -> Flaw {
    Flaw { path: path.to_vec(), message: message.to_owned(), help: help.to_owned() }
}
