//! Which module of a crate imports which: `use` items and paths in the code, followed through
//! re-exports to the file with the definition.
//!
//! Tests and the root of the crate are left out: the root declares everything and is imported by
//! everything.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The names between a crate's root and a module or an item.
type Names = Vec<String>;

/// For each module: the modules that it imports from, with the names that it takes from them.
pub(crate) type Imports = BTreeMap<Names, BTreeMap<Names, BTreeSet<String>>>;

/// The paths of one file.
#[derive(Default)]
struct Paths {
    /// Those of private `use` items and of other code.
    used: BTreeSet<Names>,
    /// Those of `pub use` items, by the name that they get here.
    exported: BTreeMap<String, Names>,
    /// Identifiers that stand alone.
    names: BTreeSet<String>,
}

/// The imports between the modules below `src`.
pub(crate) fn imports(src: &Path) -> Imports {
    let files: BTreeMap<Names, Paths> = super::sources(src)
        .into_iter()
        .filter_map(|file| Some((module(src, &file)?, paths(&fs::read_to_string(&file).unwrap()))))
        .collect();
    imports_of(&files)
}

fn imports_of(files: &BTreeMap<Names, Paths>) -> Imports {
    let mut imports = Imports::new();
    for (module, paths) in files.iter().filter(|(module, _)| !module.is_empty()) {
        let targets = imports.entry(module.clone()).or_default();
        // A re-export is no use of its own, unless the file names what it re-exports.
        let exported = paths.exported.iter().filter(|(name, _)| paths.names.contains(*name)).map(|(_, path)| path);
        for path in paths.used.iter().chain(exported) {
            let Some(target) = absolute(files, module, path).map(|path| defined(files, path)) else { continue };
            if target != *module && !target.is_empty() {
                targets.entry(target).or_default().insert(path.join("::"));
            }
        }
    }
    imports
}

/// The modules that import each other, each circle once, with who imports what from whom.
pub(crate) fn circles(imports: &Imports) -> Vec<(Vec<Names>, String)> {
    let reachable = |from: &Names| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            next.extend(imports.get(module).into_iter().flat_map(BTreeMap::keys).filter(|target| seen.insert((*target).clone())));
        }
        seen
    };
    let reached: BTreeMap<&Names, BTreeSet<Names>> = imports.keys().map(|module| (module, reachable(module))).collect();
    let mut circles = BTreeSet::new();
    for (module, reached_modules) in &reached {
        let circle: Vec<Names> =
            reached_modules.iter().filter(|other| reached.get(other).is_some_and(|back| back.contains(*module))).cloned().collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    let described = |circle: Vec<Names>| {
        let mut lines = String::new();
        for module in &circle {
            for (target, names) in imports[module].iter().filter(|(target, _)| circle.contains(target)) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                lines += &format!("  {} -> {}: {}\n", module.join("/"), target.join("/"), names.join(", "));
            }
        }
        (circle, lines)
    };
    circles.into_iter().map(described).collect()
}

fn module(src: &Path, file: &Path) -> Option<Names> {
    let path = file.strip_prefix(src).unwrap().with_extension("");
    let names: Names = path.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    match names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["lib" | "main"] => Some(Names::new()),
        names if names.contains(&"tests") => None,
        _ => Some(names),
    }
}

/// A path from the root on; `None` where it leads to another crate.
fn absolute(files: &BTreeMap<Names, Paths>, module: &Names, path: &Names) -> Option<Names> {
    let child = || {
        let child: Names = module.iter().cloned().chain([path[0].clone()]).collect();
        files.contains_key(&child).then(|| module.clone())
    };
    let ups = path.iter().take_while(|name| *name == "super").count();
    let (mut base, skipped) = match path[0].as_str() {
        "crate" => (Names::new(), 1),
        "self" => (module.clone(), 1),
        "super" => (module[..module.len().checked_sub(ups)?].to_vec(), ups),
        _ => (child()?, 0),
    };
    base.extend(path[skipped..].iter().filter(|name| *name != "self").cloned());
    Some(base)
}

/// The module in whose file the item of a path is defined.
fn defined(files: &BTreeMap<Names, Paths>, mut path: Names) -> Names {
    // Re-exports of re-exports end, but nothing here relies on it.
    for _ in 0..8 {
        let length = (0..=path.len()).rev().find(|length| files.contains_key(&path[..*length])).unwrap_or(0);
        let module = path[..length].to_vec();
        let exported = path.get(length).and_then(|name| files.get(&module)?.exported.get(name));
        let Some(mut next) = exported.and_then(|exported| absolute(files, &module, exported)) else { return module };
        next.extend_from_slice(&path[length + 1..]);
        path = next;
    }
    path
}

fn paths(code: &str) -> Paths {
    let mut paths = Paths::default();
    collect(code.parse().unwrap(), &mut paths);
    paths
}

fn collect(code: TokenStream, paths: &mut Paths) {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| !matches!(token, TokenTree::Group(_)) && token.to_string() == text);
    let group = |at: usize, delimiter: Delimiter| match tokens.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group.stream()),
        _ => None,
    };
    let (mut at, mut is_public) = (0, false);
    while at < tokens.len() {
        let was_public = std::mem::take(&mut is_public);
        match &tokens[at] {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                at += if is(at + 1, "!") { 2 } else { 1 };
                let attribute = group(at, Delimiter::Bracket).map(|attribute| attribute.to_string().replace(' ', ""));
                at += 1;
                if attribute.as_deref() == Some("cfg(test)") {
                    // The item after it, and its other attributes.
                    while at < tokens.len() && !is(at, ";") && group(at, Delimiter::Brace).is_none() {
                        at += 1;
                    }
                    at += 1;
                }
            }
            TokenTree::Ident(ident) if ident == "pub" => {
                // `pub(in crate::a)` names no import.
                at += if group(at + 1, Delimiter::Parenthesis).is_some() { 2 } else { 1 };
                is_public = true;
            }
            TokenTree::Ident(ident) if ident == "mod" && is(at + 2, ";") => at += 3,
            TokenTree::Ident(ident) if ident == "use" => {
                let end = (at..tokens.len()).find(|&end| is(end, ";")).unwrap_or(tokens.len());
                let mut found = Vec::new();
                tree(&tokens[at + 1..end], &Names::new(), &mut found);
                for (path, name) in found {
                    if was_public {
                        paths.exported.insert(name, path);
                    } else {
                        paths.used.insert(path);
                    }
                }
                at = end + 1;
            }
            TokenTree::Ident(first) => {
                let mut path = vec![first.to_string()];
                at += 1;
                while is(at, ":") && is(at + 1, ":") {
                    let Some(TokenTree::Ident(next)) = tokens.get(at + 2) else { break };
                    path.push(next.to_string());
                    at += 3;
                }
                paths.names.insert(path[0].clone());
                if path.len() > 1 {
                    paths.used.insert(path);
                }
            }
            TokenTree::Group(group) => {
                collect(group.stream(), paths);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// The paths of a `use` tree, each with the name that it gets.
fn tree(tokens: &[TokenTree], before: &Names, found: &mut Vec<(Names, String)>) {
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    for branch in tokens.split(is_comma).filter(|branch| !branch.is_empty()) {
        let mut path = before.clone();
        let mut name = None;
        let mut at = 0;
        while let Some(token) = branch.get(at) {
            match token {
                TokenTree::Ident(ident) if ident == "as" => {
                    name = branch.get(at + 1).map(ToString::to_string);
                    at += 1;
                }
                TokenTree::Ident(ident) => path.push(ident.to_string()),
                TokenTree::Group(group) => {
                    tree(&group.stream().into_iter().collect::<Vec<_>>(), &path, found);
                    path.clear();
                }
                _ => {}
            }
            at += 1;
        }
        if let Some(last) = path.iter().rfind(|name| *name != "self").cloned() {
            found.push((path, name.unwrap_or(last)));
        }
    }
}

#[test]
fn imports_are_followed_to_definitions() {
    let file = |text: &str| paths(text);
    let files: BTreeMap<Names, Paths> = [
        ("", "pub mod a; pub mod b; pub use a::Top;"),
        ("a", "pub mod inner; pub use self::inner::{One, Two as Second}; mod x; fn f() { inner::go(crate::b::Three); }"),
        ("a/inner", "use super::super::b; pub(in crate::b) struct One; #[cfg(test)]\n#[allow(unused)]\nmod tests { use crate::c::Four; }"),
        ("b", "use crate::{Top, a::{Second, inner::{self}}}; pub struct Three;"),
        ("c", "pub use crate::b::Three; use std::fs; struct Four(Three);"),
    ]
    .map(|(name, text)| (name.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect(), file(text)))
    .into();
    let found = imports_of(&files);
    let found: BTreeMap<String, Vec<String>> =
        found.iter().map(|(module, targets)| (module.join("/"), targets.keys().map(|target| target.join("/")).collect())).collect();
    let expected = [("a", &["a/inner", "b"][..]), ("a/inner", &["b"]), ("b", &["a", "a/inner"]), ("c", &["b"])];
    let expected = expected.map(|(module, targets)| (module.to_owned(), targets.iter().map(|target| (*target).to_owned()).collect()));
    assert_eq!(found, expected.into());
    let circles = circles(&imports_of(&files));
    let circles: Vec<Vec<String>> =
        circles.into_iter().map(|(circle, _)| circle.into_iter().map(|module| module.join("/")).collect()).collect();
    assert_eq!(circles, [["a", "a/inner", "b"]]);
}
