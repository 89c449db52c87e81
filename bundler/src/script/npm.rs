//! Packages: where an import of one leads, by the rules of Node.
//!
//! Nothing is ever downloaded: packages are those of `node_modules`. The app's folder needs a
//! `package.json`, so that what is bundled is declared somewhere. No setting of another tool
//! (`.pnp.cjs`, `NODE_PATH`) takes part.
//!
//! A package's files are below its own folder, links followed, whatever a specifier, `main`,
//! `browser`, `exports` or a link in it says. And its folder is in the app, in a workspace that the
//! app is a part of, or where a `file:` dependency of the app's `package.json` says.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    fs, iter,
    path::{Component, Path, PathBuf},
};

use oxc_resolver::{ModuleType, PackageJson, ResolveError, ResolveOptions, Resolver, SideEffects};
use regex::Regex;

use super::{
    commonjs::Format,
    resolve::{self, Specifier},
};
use crate::{findings::Findings, source::Source, yaml::Document};

/// The most bytes of text that the files of one script with its packages have together.
pub(super) const LIMIT_BYTES: usize = 32 << 20;

/// The conditions of `exports` and `imports` that apply, beside `import` or `require`, and
/// `default`.
const CONDITIONS: [&str; 2] = ["worker", "browser"];

/// What a specifier asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `import … from "x"`
    Import,
    /// `require("x")`
    Require,
}

/// The packages that a script can reach.
#[derive(Debug)]
pub(super) struct Packages {
    /// The app's, canonical.
    folder: PathBuf,
    /// The folders that packages may be in, canonical; the app's is the first.
    homes: Vec<PathBuf>,
    import: Resolver,
    require: Resolver,
    /// Like them, without the field `browser`.
    node_import: Resolver,
    node_require: Resolver,
    /// The folders of packages whose files for browsers are for pages.
    of_pages: RefCell<BTreeSet<PathBuf>>,
}

/// A file of a package, or of the app.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// Below the app's folder, or from there with `..`.
    pub(super) path: PathBuf,
    pub(super) format: Format,
    /// Running it does more than making its exports.
    pub(super) has_effects: bool,
}

/// Why a specifier leads nowhere, and what to do.
#[derive(Clone, Debug)]
pub(super) struct Nowhere {
    pub(super) message: String,
    pub(super) help: String,
    /// There is no such module, so that a module that tries goes on without it.
    pub(super) is_missing: bool,
    /// The package says that the module is empty here.
    pub(super) is_empty: bool,
}

impl Packages {
    pub(super) fn new(folder: &Path) -> Self {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let options = |kind: &str| ResolveOptions {
            condition_names: [texts(&[kind]), texts(&CONDITIONS), texts(&["default"])].concat(),
            extensions: texts(&[".js", ".mjs", ".cjs", ".json", ".ts", ".mts", ".cts"]),
            extension_alias: [("js", "ts"), ("mjs", "mts"), ("cjs", "cts")]
                .iter()
                .map(|(from, to)| (format!(".{from}"), vec![format!(".{from}"), format!(".{to}")]))
                .collect(),
            main_fields: texts(&["browser", "module", "main"]),
            // `"browser": { "./node.js": false }`
            alias_fields: vec![texts(&["browser"])],
            module_type: true,
            node_path: false,
            tsconfig: None,
            ..ResolveOptions::default()
        };
        let import = Resolver::new(options("import"));
        let require = import.clone_with_options(options("require"));
        let node = |kind: &str| ResolveOptions { main_fields: texts(&["main", "module"]), alias_fields: Vec::new(), ..options(kind) };
        let node_import = import.clone_with_options(node("import"));
        let node_require = import.clone_with_options(node("require"));
        let of_pages = RefCell::default();
        Self { folder: folder.to_path_buf(), homes: homes(folder), import, require, node_import, node_require, of_pages }
    }

    /// The file behind `specifier` in the file `importer` of a package, or in one of the app.
    /// `brought` says how the importer came into the app.
    pub(super) fn find(&self, importer: &Path, specifier: &str, kind: Kind, brought: Option<&Brought>) -> Result<File, Nowhere> {
        let importer = flat(&self.folder.join(importer));
        let from = importer.parent().unwrap_or(&self.folder);
        let class = resolve::classify(specifier);
        let refused = |what: &str| Nowhere {
            message: format!("`{specifier}` {what}"),
            help: format!("packages import files of their own and other packages only: {}", another(brought)),
            is_missing: false,
            is_empty: false,
        };
        if class == Specifier::Absolute {
            return Err(refused("is neither a relative path nor a package"));
        }
        let own = self.root(&importer);
        let (resolver, node) = match kind {
            Kind::Import => (&self.import, &self.node_import),
            Kind::Require => (&self.require, &self.node_require),
        };
        let resolver = if self.of_pages.borrow().contains(&own) { node } else { resolver };
        let mut found = resolver.resolve(from, specifier).map_err(|error| self.nowhere(&importer, specifier, &error, brought))?;
        if class == Specifier::Package
            && let Ok(other) = node.resolve(from, specifier)
            && other.path() != found.path()
            && other.path().exists()
            && is_for_pages(found.path())
        {
            self.of_pages.borrow_mut().insert(self.root(other.path()));
            found = other;
        }
        let path = found.path();
        match class {
            Specifier::Relative(_) if path.starts_with(&own) => {}
            Specifier::Relative(_) => return Err(refused("leads out of the package")),
            _ => {
                let folders = self.folders(from, &own, specifier);
                if folders.is_empty() {
                    return Err(self.above(specifier));
                }
                if !folders.iter().any(|folder| path.starts_with(folder)) {
                    return Err(refused("leads out of the package"));
                }
            }
        }
        let package = found.package_json().map(AsRef::as_ref);
        // By the nearest `package.json`, which need not be that of the package.
        let format = if found.module_type() == Some(ModuleType::Module) { Format::Module } else { Format::Unknown };
        let has_effects = package.is_none_or(|package| has_effects(package, path));
        Ok(File { path: PathBuf::from(below(&self.folder, path)), format, has_effects })
    }

    /// Whether what a specifier in the app was found to be is a file of the app itself: by
    /// `imports` of its `package.json`, or by its name.
    pub(super) fn is_own(&self, specifier: &str, path: &Path) -> bool {
        let own = read_json(&self.folder.join("package.json"));
        if !specifier.starts_with('#') && own.get("name").and_then(serde_json::Value::as_str) != Some(package(specifier)) {
            return false;
        }
        let outside = |part: Component<'_>| part.as_os_str() == "node_modules" || part == Component::ParentDir;
        // A package of a workspace may be below the app's folder.
        let is_package =
            |folder: &Path| folder != Path::new("") && read_json(&self.folder.join(folder).join("package.json")).get("name").is_some();
        resolve::known_extension(path) && !path.components().any(outside) && !path.ancestors().skip(1).any(is_package)
    }

    /// Whether the nearest `package.json` says that a file of the app is a module as Node has them.
    pub(super) fn is_module(&self, path: &Path) -> bool {
        let file = self.folder.join(path);
        let above = file.ancestors().skip(1).take_while(|above| self.homes.iter().any(|home| above.starts_with(home)));
        let nearest = above.map(|above| above.join("package.json")).find(|file| file.is_file());
        nearest.is_some_and(|file| read_json(&file).get("type").and_then(serde_json::Value::as_str) == Some("module"))
    }

    /// Whether the package of a module says what stands for a specifier here.
    pub(super) fn replaces(&self, importer: &Path, specifier: &str) -> bool {
        let own = self.root(&flat(&self.folder.join(importer)));
        read_json(&own.join("package.json")).get("browser").and_then(|browser| browser.get(specifier)).is_some()
    }

    /// The folder that the relative imports of a module stay in: that of its package, or the app's.
    fn root(&self, module: &Path) -> PathBuf {
        let parts: Vec<Component<'_>> = module.components().collect();
        if let Some(at) = parts.iter().rposition(|part| part.as_os_str() == "node_modules") {
            let is_scoped = parts.get(at + 1).is_some_and(|part| part.as_os_str().to_string_lossy().starts_with('@'));
            return parts.iter().take(at + 2 + usize::from(is_scoped)).collect();
        }
        if module.starts_with(&self.folder) {
            return self.folder.clone();
        }
        // A package of a workspace. A `package.json` without a name only says how the files below
        // it are read.
        let is_root =
            |folder: &&Path| self.homes.iter().any(|home| home == folder) || read_json(&folder.join("package.json")).get("name").is_some();
        let parent = module.parent().unwrap_or(module);
        parent.ancestors().find(is_root).unwrap_or(parent).to_path_buf()
    }

    /// The folders, canonical, one of which the file behind a specifier that is not relative must
    /// be in: that of the package that it names, or those that the package of the importer, `own`,
    /// says it stands for.
    fn folders(&self, from: &Path, own: &Path, specifier: &str) -> Vec<PathBuf> {
        let mut folders = self.installed(from, package(specifier));
        let described = read_json(&own.join("package.json"));
        let mut targets = Vec::new();
        if described.get("name").and_then(serde_json::Value::as_str) == Some(package(specifier)) {
            folders.push(own.to_path_buf());
        }
        if specifier.starts_with('#') {
            described.get("imports").into_iter().for_each(|imports| texts(imports, &mut targets));
        }
        targets.extend(described.get("browser").and_then(|browser| browser.get(specifier)?.as_str()));
        for target in targets {
            match resolve::classify(target) {
                Specifier::Relative(_) => folders.push(own.to_path_buf()),
                _ => folders.extend(self.installed(from, package(target))),
            }
        }
        folders
    }

    /// The folders of the packages of this name that a module in the folder `from` can reach.
    fn installed(&self, from: &Path, name: &str) -> Vec<PathBuf> {
        let is_home = |folder: &Path| self.homes.iter().any(|home| folder.starts_with(home));
        let above = from.ancestors().filter(|above| is_home(above));
        let real = above.filter_map(|above| fs::canonicalize(above.join("node_modules").join(name)).ok());
        real.filter(|real| is_home(real)).collect()
    }

    /// Why a package that is installed is not used.
    fn above(&self, specifier: &str) -> Nowhere {
        let name = package(specifier);
        Nowhere {
            message: format!("the package `{name}` is outside of the app's folder"),
            help: format!(
                "{}; a folder above counts if its `package.json` lists the app under `workspaces`, and one beside it if the app's `package.json` has it as `file:` dependency",
                self.install(name)
            ),
            is_missing: true,
            is_empty: false,
        }
    }

    fn nowhere(&self, importer: &Path, specifier: &str, error: &ResolveError, brought: Option<&Brought>) -> Nowhere {
        let name = package(specifier);
        let is_missing = matches!(error, ResolveError::NotFound(_) | ResolveError::ExtensionAlias(..));
        let (message, help) = match (resolve::classify(specifier), error) {
            (Specifier::Builtin(_), _) if is_missing => {
                (format!("`{specifier}` is a module of Node, which scripts do not have"), another(brought))
            }
            (Specifier::Relative(_), _) if is_missing => (format!("`{specifier}` names no file of the package"), another(brought)),
            (_, ResolveError::PackagePathNotExported { subpath, .. }) => (
                format!("the package `{name}` does not export `{subpath}` for scripts"),
                format!(
                    "its `package.json` must export it under `import`, `require`, {} or `default`: import another package or version",
                    CONDITIONS.map(|condition| format!("`{condition}`")).join(", ")
                ),
            ),
            (_, ResolveError::PackageImportNotDefined(..)) => {
                (format!("the `imports` of the package do not have `{specifier}`"), another(brought))
            }
            _ if is_missing && importer.ancestors().any(|above| above.join("node_modules").join(name).is_dir()) => (
                format!("the package `{name}` has no module `{specifier}`"),
                "correct the import, or install a version of the package that has it".to_owned(),
            ),
            _ if is_missing => {
                let by = match brought {
                    Some(brought) => format!("; `{}`, which `{}` imports, needs it", brought.package, brought.file),
                    None => String::new(),
                };
                (format!("the package `{name}` is not installed{by}"), self.install(name))
            }
            _ => {
                let reason = error.to_string().replace(&format!("{}/", self.folder.display()), "").replace(['\'', '"'], "`");
                (format!("the package `{name}` cannot be read: {reason}"), INSTALL.to_owned())
            }
        };
        Nowhere { message, help, is_missing, is_empty: matches!(error, ResolveError::Ignored(_)) }
    }

    /// What to do where a package is not there.
    fn install(&self, name: &str) -> String {
        let declared = read_json(&self.folder.join("package.json"));
        let is_declared = DEPENDENCIES.iter().any(|kind| declared.get(kind).and_then(|packages| packages.get(name)).is_some());
        match is_declared {
            true => INSTALL.to_owned(),
            false => format!("run `npm install {name}` in the app's folder"),
        }
    }
}

/// Whether a file needs the document of a page, and does not look whether it is in one.
fn is_for_pages(path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(path) else { return false };
    !text.contains("typeof document")
        && Regex::new(r#"(?:^|[^\w.$"'`/*-])document\.(?:create|implementation|body|head|query)"#).is_ok_and(|uses| uses.is_match(&text))
}

/// The members of a `package.json` that name packages.
const DEPENDENCIES: [&str; 4] = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
/// How a dependency begins that is a folder.
const FOLDERS: [&str; 3] = ["file:", "link:", "portal:"];

/// Where the packages of an app may be: its folder, the workspaces that it is a part of, and the
/// folders that its `package.json` names.
fn homes(folder: &Path) -> Vec<PathBuf> {
    let mut homes = vec![folder.to_path_buf()];
    homes.extend(folder.ancestors().skip(1).filter(|above| is_part_of(folder, above)).map(Path::to_path_buf));
    let declared = read_json(&folder.join("package.json"));
    let packages = DEPENDENCIES.iter().filter_map(|kind| declared.get(kind)?.as_object()).flat_map(serde_json::Map::values);
    let named = packages.filter_map(|version| FOLDERS.iter().find_map(|start| version.as_str()?.strip_prefix(start)));
    homes.extend(named.filter_map(|path| fs::canonicalize(folder.join(path)).ok()).filter(|named| !folder.starts_with(named)));
    homes
}

/// Whether the folder `above` is a workspace with the folder in it, by `workspaces` of its
/// `package.json`, or as pnpm writes it.
fn is_part_of(folder: &Path, above: &Path) -> bool {
    let described = read_json(&above.join("package.json"));
    let mut patterns = Vec::new();
    if let Some(workspaces) = described.get("workspaces") {
        texts(workspaces.get("packages").unwrap_or(workspaces), &mut patterns);
    }
    let mut patterns: Vec<String> = patterns.into_iter().map(str::to_owned).collect();
    if let Ok(text) = fs::read_to_string(above.join("pnpm-workspace.yaml"))
        && let Some(file) = Document::parse(Source::new("pnpm-workspace.yaml", text), &mut Findings::default())
    {
        patterns.extend(file.root.texts_at("packages"));
    }
    let path = below(above, folder);
    let fits = |pattern: &str| fast_glob::glob_match(pattern.trim_start_matches("./").trim_end_matches('/'), &path);
    let (left_out, listed): (Vec<&String>, Vec<&String>) = patterns.iter().partition(|pattern| pattern.starts_with('!'));
    listed.iter().any(|pattern| fits(pattern)) && !left_out.iter().any(|pattern| fits(pattern.trim_start_matches('!')))
}

/// Every text of a value.
fn texts<'v>(value: &'v serde_json::Value, found: &mut Vec<&'v str>) {
    match value {
        serde_json::Value::String(text) => found.push(text),
        serde_json::Value::Array(elements) => elements.iter().for_each(|element| texts(element, found)),
        serde_json::Value::Object(members) => members.values().for_each(|member| texts(member, found)),
        _ => {}
    }
}

/// A file of JSON; `null` where it is not one.
fn read_json(path: &Path) -> serde_json::Value {
    fs::read_to_string(path).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

const INSTALL: &str = "run `npm install` in the app's folder";

/// How a module of a package came into the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Brought {
    /// The package that the app imports.
    pub(super) package: String,
    /// The file of the app that does.
    pub(super) file: String,
}

/// What to do about a module that cannot be used.
pub(super) fn another(brought: Option<&Brought>) -> String {
    match brought {
        Some(Brought { package, file }) => format!("`{file}` imports the package `{package}`: import another package or version"),
        None => "correct the import, or import another package or version".to_owned(),
    }
}

/// Whether the `package.json` says that running a module does something.
fn has_effects(package: &PackageJson, path: &Path) -> bool {
    let fits = |pattern: &str| {
        let pattern = pattern.trim_start_matches("./");
        let path = below(package.directory(), path);
        match pattern.contains('/') {
            true => fast_glob::glob_match(pattern, &path),
            false => fast_glob::glob_match(format!("**/{pattern}"), &path),
        }
    };
    match package.side_effects() {
        None => true,
        Some(SideEffects::Bool(has_effects)) => has_effects,
        Some(SideEffects::String(pattern)) => fits(pattern),
        Some(SideEffects::Array(patterns)) => patterns.into_iter().any(fits),
    }
}

/// The package of a specifier: `@scope/name` of `@scope/name/file`.
pub(super) fn package(specifier: &str) -> &str {
    let end = specifier.match_indices('/').nth(usize::from(specifier.starts_with('@')));
    end.map_or(specifier, |(at, _)| &specifier[..at])
}

/// A path as it is below the folder, or from there with `..`, with slashes.
fn below(folder: &Path, path: &Path) -> String {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) = (folder.components().collect(), path.components().collect());
    let common = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let parts = iter::repeat_n("..".into(), from.len() - common).chain(to[common..].iter().map(|part| part.as_os_str().to_string_lossy()));
    parts.collect::<Vec<_>>().join("/")
}

/// A path without `..`.
pub(super) fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(flat.pop()),
            Component::CurDir => {}
            other => flat.push(other),
        }
    }
    flat
}
