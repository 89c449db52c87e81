//! Specifiers into files: `./lib` → `app/tools/x/lib.ts`.
//!
//! Nothing outside of the app's folder is ever read, whatever a specifier or a symbolic link says.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use super::node;

/// What a specifier is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Specifier<'a> {
    /// `millrace`
    Host,
    /// `./x`, `../x`
    Relative(&'a str),
    /// `/x`, `C:\x`, `https://…`, `file:…`, `data:…`
    Absolute,
    /// `node:fs`, `fs/promises`: the name without `node:`.
    Builtin(&'a str),
    /// Anything else: an npm package.
    Package,
}

/// Tells what a specifier is.
pub(super) fn classify(specifier: &str) -> Specifier<'_> {
    if specifier == "millrace" {
        return Specifier::Host;
    }
    if specifier == "." || specifier == ".." || specifier.starts_with("./") || specifier.starts_with("../") {
        return Specifier::Relative(specifier);
    }
    if let Some(name) = specifier.strip_prefix("node:") {
        return Specifier::Builtin(name);
    }
    if specifier.starts_with('/') || specifier.contains(':') || specifier.contains('\\') || specifier.is_empty() {
        return Specifier::Absolute;
    }
    // `events/` is a package, as Node has it.
    if node::find(specifier).is_some() { Specifier::Builtin(specifier) } else { Specifier::Package }
}

/// Why a relative specifier names no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// It leads out of the app's folder.
    Outside,
    /// No such file; these were tried, and this one differs by case only.
    NotFound { tried: Vec<String>, near: Option<String> },
    /// The file is there, and is no module.
    NotAModule(String),
}

/// The extensions of modules, in the order in which they are tried.
const EXTENSIONS: [&str; 9] = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "json"];

/// Finds the file of a relative specifier, as a path below `folder` (which is canonical). `from` is
/// the importing file's folder, below `folder`.
pub(super) fn relative(folder: &Path, from: &Path, specifier: &str) -> Result<PathBuf, Missing> {
    let wanted = normal(&from.join(specifier)).ok_or(Missing::Outside)?;
    let mut tried = Vec::new();
    for candidate in candidates(&wanted, specifier) {
        let file = folder.join(&candidate);
        if file.is_file() {
            return inside(folder, &candidate);
        }
        tried.push(slashes(&candidate));
    }
    if folder.join(&wanted).is_file() {
        return Err(Missing::NotAModule(slashes(&wanted)));
    }
    let near = tried.iter().find_map(|candidate| same_but_for_case(folder, Path::new(candidate)));
    Err(Missing::NotFound { tried, near })
}

/// The entry's path below `folder` (which is canonical).
pub(super) fn entry(folder: &Path, entry: &Path) -> Result<PathBuf, Missing> {
    let below = entry.strip_prefix(folder).unwrap_or(entry);
    let wanted = normal(below).ok_or(Missing::Outside)?;
    if !folder.join(&wanted).is_file() {
        let near = same_but_for_case(folder, &wanted);
        return Err(Missing::NotFound { tried: vec![slashes(&wanted)], near });
    }
    if !known_extension(&wanted) {
        return Err(Missing::NotAModule(slashes(&wanted)));
    }
    inside(folder, &wanted)
}

/// A path with slashes.
pub(super) fn slashes(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Whether a file is a module or JSON by its name.
pub(super) fn known_extension(path: &Path) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|extension| EXTENSIONS.contains(&extension))
}

fn candidates(wanted: &Path, specifier: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let is_folder = specifier.ends_with('/') || specifier.ends_with("..") || specifier == ".";
    if !is_folder {
        if known_extension(wanted) {
            paths.push(wanted.to_path_buf());
        }
        match wanted.extension().and_then(|extension| extension.to_str()) {
            Some("js") => paths.extend([wanted.with_extension("ts"), wanted.with_extension("tsx")]),
            Some("jsx") => paths.push(wanted.with_extension("tsx")),
            Some("mjs") => paths.push(wanted.with_extension("mts")),
            Some("cjs") => paths.push(wanted.with_extension("cts")),
            _ => {}
        }
        if !known_extension(wanted) {
            paths.extend(EXTENSIONS.map(|extension| PathBuf::from(format!("{}.{extension}", wanted.display()))));
        }
    }
    if !known_extension(wanted) {
        paths.extend(EXTENSIONS.map(|extension| wanted.join(format!("index.{extension}"))));
    }
    paths
}

/// Follows links, and refuses what they lead out to.
fn inside(folder: &Path, candidate: &Path) -> Result<PathBuf, Missing> {
    let real = fs::canonicalize(folder.join(candidate)).map_err(|_| Missing::Outside)?;
    let below = real.strip_prefix(folder).map_err(|_| Missing::Outside)?;
    let (asked, found) = (slashes(candidate), slashes(below));
    if asked != found && asked.eq_ignore_ascii_case(&found) {
        return Err(Missing::NotFound { tried: vec![asked], near: Some(found) });
    }
    if known_extension(below) { Ok(below.to_path_buf()) } else { Err(Missing::NotAModule(found)) }
}

/// Takes `.` and `..` out. `None` where it leads out of the folder.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(out)
}

fn same_but_for_case(folder: &Path, candidate: &Path) -> Option<String> {
    let name = candidate.file_name()?.to_str()?;
    let parent = candidate.parent()?;
    let mut names: Vec<String> =
        fs::read_dir(folder.join(parent)).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names.into_iter().find(|found| found != name && found.eq_ignore_ascii_case(name)).map(|found| slashes(&parent.join(found)))
}
