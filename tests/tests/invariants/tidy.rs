//! What the sources hold themselves to, so that one thing stands in one place and a function fits
//! on a screen.

use std::{collections::BTreeSet, fs, path::PathBuf};

use millrace_tests::case::root;
use syn::{spanned::Spanned as _, visit::Visit};

/// The most lines of a function, from its name to its last brace.
const MOST_LINES: usize = 70;

/// The sources of the crates, without their tests.
fn product() -> Vec<PathBuf> {
    let adapters = fs::read_dir(root().join("adapters")).unwrap().map(|entry| entry.unwrap().path());
    let engine = ["counters", "native"].map(|name| root().join("engine").join(name));
    let crates = ["core", "bundler", "languages", "grants"].map(|name| root().join(name)).into_iter().chain(adapters).chain(engine);
    let files = crates.map(|folder| folder.join("src")).filter(|folder| folder.is_dir()).flat_map(|folder| super::sources(&folder));
    files.filter(|file| !file.ends_with("tests.rs") && !file.components().any(|part| part.as_os_str() == "tests")).collect()
}

/// The functions of a file that are too long or take a tuple.
#[derive(Default)]
struct Functions {
    long: Vec<String>,
    tuples: Vec<String>,
}

impl Functions {
    fn look(&mut self, signature: &syn::Signature, block: Option<&syn::Block>) {
        let name = &signature.ident;
        let lines = block.map_or(0, |block| block.span().end().line + 1 - signature.span().start().line);
        if lines > MOST_LINES {
            self.long.push(format!("{name}, {lines} lines"));
        }
        let is_tuple = |input: &syn::FnArg| matches!(input, syn::FnArg::Typed(typed) if is_tuple(&typed.ty));
        if signature.inputs.iter().any(is_tuple) {
            self.tuples.push(name.to_string());
        }
    }
}

fn is_tuple(kind: &syn::Type) -> bool {
    match kind {
        syn::Type::Tuple(tuple) => tuple.elems.len() > 1,
        syn::Type::Reference(reference) => is_tuple(&reference.elem),
        _ => false,
    }
}

/// Whether an item is there for tests alone.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_cfg = || attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().starts_with("test"));
        attribute.path().is_ident("test") || (attribute.path().is_ident("cfg") && is_cfg())
    })
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_for_tests(&item.attrs) {
            self.look(&item.sig, Some(&item.block));
            syn::visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.look(&item.sig, Some(&item.block));
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.look(&item.sig, item.default.as_ref());
        syn::visit::visit_trait_item_fn(self, item);
    }
}

#[test]
fn functions_are_short_and_take_what_belongs_together() {
    let (mut long, mut tuples) = (Vec::new(), Vec::new());
    let files = product();
    assert!(files.len() > 500, "only {} files were found: the test sees too little", files.len());
    for file in files {
        let parsed = syn::parse_file(&fs::read_to_string(&file).unwrap()).unwrap();
        let mut functions = Functions::default();
        functions.visit_file(&parsed);
        let place = |name: &String| format!("{}: {name}", file.strip_prefix(root()).unwrap().display());
        long.extend(functions.long.iter().map(place));
        tuples.extend(functions.tuples.iter().map(place));
    }
    assert!(long.is_empty(), "a function has at most {MOST_LINES} lines:\n{}", long.join("\n"));
    assert!(tuples.is_empty(), "a parameter is one thing, which has a name; a tuple has none:\n{}", tuples.join("\n"));
}

/// What one place does for all: a text of the sources that shows it, and the most files that may
/// have it.
const ONCE: [(&str, usize); 2] = [
    // URLs are taken apart by the core.
    (r#"split_once("://")"#, 2),
    // The calendar is that of `jiff`.
    ("146_097", 1),
];

#[test]
fn one_place_does_it_for_all() {
    for (text, most) in ONCE {
        let found: BTreeSet<String> = product()
            .into_iter()
            .filter(|file| fs::read_to_string(file).unwrap().contains(text))
            .map(|file| file.strip_prefix(root()).unwrap().display().to_string())
            .collect();
        assert!(found.len() <= most, "`{text}` stands in {} files, and {most} may have it: {found:#?}", found.len());
    }
}

/// The most files outside `languages/` that tell one language of statements from another.
const MOST_THAT_KNOW_LANGUAGES: usize = 8;

#[test]
fn languages_are_known_in_one_place() {
    let is_outside = |file: &PathBuf| !file.starts_with(root().join("languages"));
    let knows = |file: &PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        ["Dialect::", "ParamStyle::", "Language::"].iter().any(|name| text.contains(name))
    };
    let found: Vec<String> = product()
        .into_iter()
        .filter(|file| is_outside(file) && knows(file))
        .map(|file| file.strip_prefix(root()).unwrap().display().to_string())
        .collect();
    assert!(found.len() <= MOST_THAT_KNOW_LANGUAGES, "{} files tell languages apart: {found:#?}", found.len());
}

#[test]
fn where_to_begin_leads_somewhere() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = page.split("## Where to begin").nth(1).unwrap().split("\n## ").next().unwrap();
    let places: Vec<&str> = table.split('`').skip(1).step_by(2).filter(|place| place.contains('/')).collect();
    assert!(places.len() > 15, "only {places:?} were found: the test sees too little");
    let missing: Vec<&&str> = places.iter().filter(|place| !root().join(place).exists()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md begins at {missing:?}, which do not exist");
}

/// Where a comment ends.
const COLUMNS: usize = 100;

#[test]
fn prose_ends_at_a_column() {
    let crates = ["core", "bundler", "grants", "languages", "adapters", "engine", "tests"];
    let files = crates.iter().flat_map(|name| super::sources(&root().join(name))).filter(|file| !file.ends_with("table.rs"));
    let mut long = Vec::new();
    for file in files.filter(|file| !file.components().any(|part| part.as_os_str() == "node_modules")) {
        let mut is_example = false;
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            let text = line.trim_start();
            let prose = text.trim_start_matches(['/', '!']).trim_start();
            is_example = text.starts_with("//") && is_example != prose.starts_with("```");
            // A row of a table, a link and code stay whole, and what has columns of its own, too.
            let is_whole = is_example || prose.starts_with('|') || ["http", "`", "](", "  ", "\\n"].iter().any(|mark| prose.contains(mark));
            if text.starts_with("//") && line.chars().count() > COLUMNS && prose.contains(' ') && !is_whole {
                long.push(format!("{}:{}", file.strip_prefix(root()).unwrap().display(), number + 1));
            }
        }
    }
    assert!(long.is_empty(), "a comment ends at column {COLUMNS}:\n{}", long.join("\n"));
}

/// What another crate's tests are called by would run nowhere: the names of the list are left out
/// everywhere, and run in `suites` alone.
#[test]
fn long_tests_are_named_by_what_no_other_crate_has() {
    let list = fs::read_to_string(root().join("tests/long-tests")).unwrap();
    let crates = ["core", "bundler", "grants", "languages", "adapters", "engine"];
    let files: Vec<String> =
        crates.iter().flat_map(|name| super::sources(&root().join(name))).map(|file| file.display().to_string()).collect();
    let mut shared = Vec::new();
    for modules in list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.strip_suffix("::")) {
        let path = modules.replace("::", "/");
        let (file, folder) = (format!("/{path}.rs"), format!("/{path}/"));
        shared.extend(
            files.iter().filter(|source| source.ends_with(&file) || source.contains(&folder)).map(|source| format!("{modules}:: {source}")),
        );
    }
    assert!(shared.is_empty(), "tests/long-tests:\n{}", shared.join("\n"));
}

/// The names of a manifest's dependencies, of any kind, that have the workspace's version.
fn shared_dependencies(manifest: &str) -> Vec<&str> {
    manifest.lines().filter_map(|line| line.split_once(" = { workspace = true")).map(|(name, _)| name).collect()
}

#[test]
fn every_dependency_of_the_workspace_has_a_crate_that_takes_it() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let section = |begin: &str| workspace.split(begin).nth(1).unwrap().split("\n[").next().unwrap().split("\n]").next().unwrap();
    let members: Vec<&str> = section("members = [").split('"').skip(1).step_by(2).collect();
    let manifests: Vec<String> = members.iter().map(|member| fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap()).collect();
    let taken: BTreeSet<&str> = manifests.iter().flat_map(|manifest| shared_dependencies(manifest)).collect();
    let named = section("[workspace.dependencies]").lines().filter(|line| !line.starts_with('#'));
    let named: BTreeSet<&str> = named.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name).collect();
    assert!(named.len() > 80, "only {} dependencies were found: the test sees too little", named.len());
    assert!(named == taken, "named, but no crate takes it, so what it was for is gone: {:?}", named.difference(&taken));
}
