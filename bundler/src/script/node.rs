//! The modules of Node: those that are pure come from packages (`scripts/node-modules` makes them),
//! of the others a package gets functions that say so when they are called.

use std::{ops::Range, sync::LazyLock};

/// A module of Node.
#[derive(Debug)]
pub(super) struct Builtin {
    /// Without `node:`.
    pub(super) name: &'static str,
    /// Without `node:` the name is that of a package.
    needs_prefix: bool,
    /// Scripts have it; of one that they have not, each function fails when it is called.
    pub(super) is_given: bool,
    /// The names of functions of it that fail when they are called.
    pub(super) absent: &'static [&'static str],
    /// Which of [`TEXTS`] it is.
    text: Range<usize>,
}

const BUILTINS: &[Builtin] = &include!("../../node/modules/table.rs");

/// The texts of all of them.
static TEXTS: LazyLock<String> =
    LazyLock::new(|| unpacked(include_bytes!("../../node/modules/texts.br"), BUILTINS.last().map_or(0, |builtin| builtin.text.end)));

/// What a specifier of a module of Node begins with, and the path of one.
pub(super) const PREFIX: &str = "node:";

/// Stands in the module `process` for the names of the variables that the app lists.
pub(super) const ENV: &str = "$MILLRACE_ENV$7f3a91c2d4";

/// The globals of Node that are linked where a module names them, and the modules that export them.
pub(super) const GLOBALS: [(&str, &str); 2] = [("Buffer", "buffer"), ("process", "process")];

/// The module of Node behind a specifier.
pub(super) fn find(specifier: &str) -> Option<&'static Builtin> {
    let prefixed = specifier.strip_prefix(PREFIX);
    let name = prefixed.unwrap_or(specifier);
    BUILTINS.iter().find(|builtin| builtin.name == name && (prefixed.is_some() || !builtin.needs_prefix))
}

/// What stands in for a module of Node.
pub(super) fn remedy(name: &str) -> &'static str {
    match name.split('/').next().unwrap_or(name) {
        "fs" => {
            "scripts have no files: import JSON with `import data from \"./data.json\"`, or query an adapter with `ctx.db(name).query(sql, params)`"
        }
        "http" | "https" | "http2" | "net" | "tls" | "dns" | "dgram" => {
            "use the global `fetch` (hosts are listed under `fetch.allow` in `millrace.yaml`)"
        }
        "crypto" => "use hashes, `createHmac`, `randomBytes` and the like of it, or the global `crypto`",
        "os" => "scripts see nothing of the machine that they run on",
        "console" => "use the global `console`, or `ctx.log`",
        _ => "scripts have the ECMAScript built-ins, `fetch`, `URL`, `crypto`, timers, the pure modules of Node, and `ctx`",
    }
}

impl Builtin {
    /// Its text as a module of ECMAScript. Each request in it is for another module of Node.
    pub(super) fn text(&self) -> String {
        let text = TEXTS.get(self.text.clone()).unwrap_or_default();
        text.replace("\"$HELP\"", &serde_json::Value::from(remedy(self.name)).to_string())
    }
}

/// The texts of a folder of `bundler/node`, which are so many bytes.
pub(super) fn unpacked(packed: &[u8], bytes: usize) -> String {
    let mut texts = vec![0; bytes];
    brotli_decompressor::brotli_decode(packed, &mut texts);
    // A test reads each of them.
    String::from_utf8(texts).unwrap_or_default()
}

/// The import of globals of Node, as one line without its end.
pub(super) fn imports<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let module = |name: &str| GLOBALS.iter().find(|(global, _)| *global == name).map(|(_, module)| *module);
    let imports = names.into_iter().filter_map(|name| match (name, module(name)?) {
        ("process", module) => Some(format!("import process from \"{PREFIX}{module}\"; ")),
        (name, module) => Some(format!("import {{ {name} }} from \"{PREFIX}{module}\"; ")),
    });
    imports.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_prefix() {
        let is_given = |specifier| find(specifier).map(|builtin| builtin.is_given);
        assert_eq!(
            ["buffer", "node:buffer", "util/types", "node:fs", "fs/promises"].map(is_given),
            [true, true, true, false, false].map(Some)
        );
        assert_eq!(["buffer/", "test", "node:nothing", "events/events.js"].map(is_given), [None; 4]);
        assert_eq!(is_given("node:test"), Some(false));
    }

    #[test]
    fn each_module_parses_and_imports_others_only() {
        for builtin in BUILTINS {
            let allocator = oxc::allocator::Allocator::default();
            let path = std::path::PathBuf::from(format!("{PREFIX}{}", builtin.name));
            assert!(!builtin.text().is_empty(), "{}", builtin.name);
            let (module, findings) = super::super::module::code(&allocator, &path, allocator.alloc_str(&builtin.text()), true);
            assert!(findings.is_empty(), "{}: {findings:?}", builtin.name);
            for request in module.requests {
                assert!(find(&request.specifier).is_some(), "{} imports {}", builtin.name, request.specifier);
            }
        }
    }
}
