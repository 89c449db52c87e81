//! Scripts that import packages.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use millrace_bundler::{
    Diagnostic,
    script::{Linked, link},
};
use millrace_test_kit::files::app;

use crate::support::evaluate;

const PACKAGE: (&str, &str) = ("package.json", r#"{ "name": "app", "dependencies": { "old": "1", "@new/one": "1" } }"#);

#[test]
fn packages_are_bundled() {
    let folder = app(&[
        (
            "tools/a/handler.ts",
            "import old from 'old'; import { add } from '@new/one/add'; import { success } from 'millrace'; import { own } from '../own';\nexport default (n: number) => success(add(old.two(), n) + own)",
        ),
        ("tools/own.ts", "export const own: number = 100"),
        PACKAGE,
        ("node_modules/old/package.json", r#"{ "name": "old", "main": "index.js" }"#),
        (
            "node_modules/old/index.js",
            "exports.two = () => { if (process.env.NODE_ENV !== 'production') throw 1; return 2 }; try { new Function('return this')() } catch {}",
        ),
        ("node_modules/@new/one/package.json", r#"{ "name": "@new/one", "exports": { "./add": "./add.mjs" }, "sideEffects": false }"#),
        ("node_modules/@new/one/add.mjs", "export const add = (a, b) => a + b; export { unused } from './unused.mjs'"),
        ("node_modules/@new/one/unused.mjs", "export const unused = 'SHAKEN'"),
    ]);
    let linked = linked(&folder, "tools/a/handler.ts");
    assert_eq!(linked, self::linked(&folder, "tools/a/handler.ts"));
    assert_eq!(linked.exports, ["default"]);
    let files: Vec<String> = linked.files.iter().map(|file| file.display().to_string()).collect();
    assert_eq!(
        files,
        [
            "node_modules/@new/one/add.mjs",
            "node_modules/@new/one/unused.mjs",
            "node_modules/old/index.js",
            "package.json",
            "tools/a/handler.ts",
            "tools/own.ts"
        ]
    );
    assert!(!linked.program.contains(&folder.path().display().to_string()), "{}", linked.program);
    assert!(!linked.program.contains("SHAKEN"), "{}", linked.program);
    assert_eq!(result(&linked, "40"), r#"{"data":142}"#);
}

/// The program, or a failure with what is wrong.
#[track_caller]
fn linked(folder: &tempfile::TempDir, entry: &str) -> Linked {
    link(folder.path(), Path::new(entry)).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"))
}

/// What the default export returns, as JSON.
fn result(linked: &Linked, arguments: &str) -> String {
    let source =
        format!("JSON.stringify(({}\n).call(undefined, {{ success: data => ({{ data }}) }}).default({arguments}))", linked.program.trim());
    evaluate(&source).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// Links, and expects one error: `file:line:column message | help`.
#[track_caller]
fn error(files: &[(&str, &str)]) -> String {
    let folder = app(files);
    match link(folder.path(), Path::new("a.ts")) {
        Ok(linked) => panic!("{}", linked.program),
        Err(diagnostics) => diagnostics.iter().map(shown).collect::<Vec<_>>().join("\n"),
    }
}

fn shown(diagnostic: &Diagnostic) -> String {
    let Diagnostic { file, line, column, message, help, .. } = diagnostic;
    format!("{}:{line}:{column} {message} | {}", file.display(), help.as_deref().unwrap_or_default())
}

const APP: (&str, &str) = ("a.ts", "import { x } from 'p'\nexport default () => x");
const P: (&str, &str) = ("node_modules/p/package.json", r#"{ "name": "p", "main": "index.js" }"#);

#[test]
fn missing_packages_are_reported_where_they_are_imported() {
    let found = error(&[
        ("a.ts", "import { b } from './b'\nimport c from '@c/d/e'\nexport default () => b + c"),
        ("b.ts", "\nimport { merge } from 'lodash/merge'\nexport const b = merge"),
        ("package.json", r#"{ "dependencies": { "@c/d": "1" } }"#),
    ]);
    assert_eq!(
        found,
        "a.ts:2:15 the package `@c/d` is not installed | run `npm install` in the app's folder\n\
         b.ts:2:23 the package `lodash` is not installed | run `npm install lodash` in the app's folder"
    );
}

#[test]
fn packages_that_a_package_needs_are_reported() {
    let found = error(&[APP, PACKAGE, P, ("node_modules/p/index.js", "import y from 'q'\nexport const x = y")]);
    assert_eq!(
        found,
        "node_modules/p/index.js:1:15 the package `q` is not installed; `p`, which `a.ts` imports, needs it | \
         run `npm install q` in the app's folder"
    );
    let found = error(&[
        ("a.ts", "import { x } from 'p/none'\nexport default () => x"),
        PACKAGE,
        P,
        ("node_modules/p/index.js", "export const x = 1"),
    ]);
    assert_eq!(
        found,
        "a.ts:1:19 the package `p` has no module `p/none` | correct the import, or install a version of the package that has it"
    );
    let found = error(&[APP, PACKAGE, P, ("node_modules/p/index.js", "export * from './gone.js'")]);
    assert_eq!(
        found,
        "node_modules/p/index.js:1:15 `./gone.js` names no file of the package | \
         `a.ts` imports the package `p`: import another package or version"
    );
}

#[test]
fn a_missing_export_of_a_package_is_reported() {
    let found = error(&[APP, PACKAGE, P, ("node_modules/p/index.js", "export const y = 1")]);
    assert_eq!(found, "a.ts:1:10 `p` has no export `x` | `node_modules/p/index.js` exports `y`");
}

#[test]
fn modules_of_node_that_scripts_have_are_linked_in_packages() {
    let folder = app(&[
        ("a.ts", "import { x } from 'p'; import { y, b } from 'q'; export default () => [x, y, b]"),
        PACKAGE,
        P,
        (
            "node_modules/p/index.js",
            "const { join } = require('path'); const EventEmitter = require('node:events'); class E extends EventEmitter {} \
             exports.x = [join('a', '../b'), new E().on('x', () => {}).listenerCount('x'), typeof process]",
        ),
        ("node_modules/q/package.json", r#"{ "name": "q", "type": "module", "exports": "./q.js" }"#),
        (
            "node_modules/q/q.js",
            "import y from 'events/'; import { EventEmitter as e } from 'events'; export { y }; export const b = typeof e",
        ),
        ("node_modules/events/index.js", "module.exports = 'ours'"),
    ]);
    let linked = linked(&folder, "a.ts");
    assert_eq!(result(&linked, ""), r#"[["b",1,"undefined"],"ours","function"]"#);
    assert_eq!(linked.warnings, []);
    assert!(linked.files.iter().all(|file| !file.starts_with("node:")), "{:?}", linked.files);
}

#[test]
fn what_scripts_do_not_have_of_node_fails_when_a_package_calls_it() {
    for (code, name) in [
        ("import fs, { readFileSync as r } from 'node:fs'\nexport const x = () => r('a'); fs", "fs"),
        ("\nconst { Agent } = require('http'); class Own extends Agent {} exports.x = () => new Own()", "http"),
    ] {
        let folder = app(&[
            ("a.ts", "import { x } from 'p'; export default () => { try { return x() } catch (e) { return e.message } }"),
            PACKAGE,
            P,
            ("node_modules/p/index.js", code),
        ]);
        let linked = linked(&folder, "a.ts");
        let said = result(&linked, "");
        assert!(said.contains(&format!("of Node's module `{name}` is not available in scripts: ")), "{said}");
        let warnings: Vec<String> = linked.warnings.iter().map(shown).collect();
        assert_eq!(
            warnings,
            [format!(
                "a.ts:1:1 the package `p` imports `{name}`, a module of Node that scripts do not have | \
                 what of it needs that module fails when it is called; `a.ts` imports `p`"
            )]
        );
    }
    // A package that only tries goes without, and one that says what stands for a module here has
    // that.
    let folder = app(&[
        ("a.ts", "import { x } from 'p'; import { y } from 'q'; export default () => [x, y]"),
        PACKAGE,
        P,
        ("node_modules/p/index.js", "try { exports.x = require('fs') } catch { exports.x = 'none' }"),
        ("node_modules/q/package.json", r#"{ "name": "q", "main": "q.js", "browser": { "crypto": false, "util": "./own.js" } }"#),
        ("node_modules/q/q.js", "exports.y = [Object.keys(require('crypto')).length, require('util')]"),
        ("node_modules/q/own.js", "module.exports = 'own'"),
    ]);
    let linked = linked(&folder, "a.ts");
    assert_eq!((result(&linked, "").as_str(), linked.warnings.len()), (r#"["none",[0,"own"]]"#, 0));
}

#[test]
fn syntax_that_cannot_be_read_is_reported_in_its_package() {
    let found = error(&[APP, PACKAGE, P, ("node_modules/p/index.js", "export const x = 1\nexport const é = } 2")]);
    assert_eq!(found, "node_modules/p/index.js:2:18 Unexpected token | `a.ts` imports the package `p`: import another package or version");
    let found = error(&[APP, PACKAGE, P, ("node_modules/p/index.js", "export { x } from './x.css'"), ("node_modules/p/x.css", "a {}")]);
    assert_eq!(
        found,
        "node_modules/p/x.css:1:1 `node_modules/p/x.css` is neither a module nor JSON | \
         `a.ts` imports the package `p`: import another package or version"
    );
}

#[test]
fn conditions_of_exports_are_those_of_a_worker() {
    let exports = |exports: &str| format!(r#"{{ "name": "p", "exports": {exports} }}"#);
    let files = |package: &str| {
        let folder = app(&[APP, PACKAGE]);
        let file = |name: &str, text: &str| fs::write(folder.path().join("node_modules/p").join(name), text).unwrap();
        fs::create_dir_all(folder.path().join("node_modules/p")).unwrap();
        file("package.json", package);
        for name in ["worker", "browser", "import", "default"] {
            file(&format!("{name}.mjs"), &format!("export const x = '{name}'"));
        }
        file("require.cjs", "exports.x = 'require'");
        folder
    };
    for (conditions, expected) in [
        (r#"{ "node": "./none.js", "worker": "./worker.mjs", "import": "./import.mjs" }"#, "worker"),
        (r#"{ "node": "./none.js", "browser": { "import": "./browser.mjs" }, "default": "./none.js" }"#, "browser"),
        (r#"{ "require": "./require.cjs", "import": "./import.mjs" }"#, "import"),
        (r#"{ ".": { "types": "./x.d.ts", "default": "./default.mjs" } }"#, "default"),
    ] {
        assert_eq!(result(&linked(&files(&exports(conditions)), "a.ts"), ""), format!("\"{expected}\""), "{conditions}");
    }
    let folder = files(&exports(r#"{ "node": "./import.mjs", "./sub": "./import.mjs" }"#));
    assert!(link(folder.path(), Path::new("a.ts")).is_err());
    let folder = files(&exports(r#"{ "node": "./import.mjs" }"#));
    let found = link(folder.path(), Path::new("a.ts")).unwrap_err();
    assert_eq!(
        found.iter().map(shown).collect::<Vec<_>>(),
        ["a.ts:1:19 the package `p` does not export `.` for scripts | its `package.json` must export it under `import`, `require`, \
          `worker`, `browser` or `default`: import another package or version"]
    );
    let folder = files("{ \"name\": \"p\", }");
    let found = link(folder.path(), Path::new("a.ts")).unwrap_err();
    assert!(shown(&found[0]).starts_with("a.ts:1:19 the package `p` cannot be read: "), "{found:#?}");
}

#[test]
fn packages_import_json() {
    let folder = app(&[
        ("a.ts", "import { x } from 'p'; import own from './own.json'; export default () => [x, own]"),
        ("own.json", r#"{ "__proto__": 1, "big": 0.1 }"#),
        PACKAGE,
        P,
        (
            "node_modules/p/index.js",
            "const { version } = require('./package.json'); const data = require('./data'); exports.x = [version, Object.keys(data), data.list]",
        ),
        ("node_modules/p/package.json", r#"{ "name": "p", "version": "1.2.3", "main": "index.js" }"#),
        ("node_modules/p/data.json", "\u{feff}{ \"__proto__\": 1, \"list\": [null, true, 1e21, \"\\u2028\"] }"),
    ]);
    assert_eq!(
        result(&linked(&folder, "a.ts"), ""),
        "[[\"1.2.3\",[\"__proto__\",\"list\"],[null,true,1e+21,\"\u{2028}\"]],{\"__proto__\":1,\"big\":0.1}]"
    );
    let found =
        error(&[APP, PACKAGE, P, ("node_modules/p/index.js", "export { x } from './x.json'"), ("node_modules/p/x.json", "{\n  a: 1 }")]);
    assert_eq!(
        found,
        "node_modules/p/x.json:2:3 `node_modules/p/x.json` is not valid JSON: key must be a string | `a.ts` imports the package `p`: import another package or version"
    );
}

#[test]
fn common_js_packages_are_bundled() {
    let folder = app(&[
        (
            "a.ts",
            "import p, { x } from 'p'; import * as all from 'p'; import babel, { y } from 'babel'; import f from 'f'\n\
             export default () => [p.x, x, all.x, babel, y, f(2), f.more]",
        ),
        PACKAGE,
        P,
        (
            "node_modules/p/index.js",
            "'use strict'; var o = require('./lib/other'); module.exports = { x: o(1), self: module.exports === exports }",
        ),
        ("node_modules/p/lib/other/index.js", "module.exports = function (n) { return n + (this === undefined ? 10 : 20) }"),
        (
            "node_modules/babel/index.js",
            "Object.defineProperty(exports, '__esModule', { value: true }); exports.default = 'd'; exports.y = 'y'",
        ),
        (
            "node_modules/f/index.js",
            "(function (root, factory) { if (typeof define === 'function' && define.amd) define(factory); else if (typeof exports === 'object') module.exports = factory(); else root.f = factory() })(this, function () { function f(n) { return n * 2 } f.more = true; return f })",
        ),
    ]);
    let linked = linked(&folder, "a.ts");
    assert_eq!(result(&linked, ""), r#"[11,11,11,"d","y",4,true]"#);
}

#[test]
fn the_browser_field_of_a_package_is_followed() {
    let folder = app(&[
        APP,
        PACKAGE,
        (
            "node_modules/p/package.json",
            r#"{ "main": "./index.js", "browser": { "./node.js": "./web.js", "./inspect.js": false, "fs": false } }"#,
        ),
        ("node_modules/p/index.js", "require('fs'); exports.x = [require('./node.js'), require('./inspect').y, require('q')]"),
        ("node_modules/p/node.js", "require('os')"),
        ("node_modules/p/inspect.js", "require('util')"),
        ("node_modules/p/web.js", "module.exports = 'web'"),
        ("node_modules/q/package.json", r#"{ "main": "./node.js", "browser": "./web.js" }"#),
        ("node_modules/q/node.js", "require('os')"),
        ("node_modules/q/web.js", "module.exports = 'q'"),
    ]);
    assert_eq!(result(&linked(&folder, "a.ts"), ""), r#"["web",null,"q"]"#);
}

#[test]
fn deep_nesting_in_a_package_does_not_end_the_process() {
    let depth = 100_000;
    for text in [
        format!("export const x = {}{}", "[".repeat(depth), "]".repeat(depth)),
        format!("exports.x = {}1{}", "(".repeat(depth), ")".repeat(depth)),
        format!("export const x = {}1", "!".repeat(depth)),
        format!("export const x = 1{}", "+1".repeat(depth)),
        "[".repeat(depth),
    ] {
        let found = error(&[APP, PACKAGE, P, ("node_modules/p/index.js", &text)]);
        assert!(found.starts_with("node_modules/p/index.js:1:"), "{found}");
        assert!(
            found.ends_with(
                "the code is nested more than 1000 levels deep here | `a.ts` imports the package `p`: import another package or version"
            ),
            "{found}"
        );
    }
    let found = error(&[
        APP,
        PACKAGE,
        P,
        ("node_modules/p/index.js", "export { x } from './x.json'"),
        ("node_modules/p/x.json", &format!("{{ \"x\": {}{} }}", "[".repeat(depth), "]".repeat(depth))),
    ]);
    assert!(found.starts_with("node_modules/p/x.json:1:"), "{found}");
    // As deep as it may be.
    let text = format!("export const x = {}1{}", "[".repeat(900), "]".repeat(900));
    let folder = app(&[APP, PACKAGE, P, ("node_modules/p/index.js", &text)]);
    assert!(linked(&folder, "a.ts").program.contains("[[[["));
}

#[cfg(unix)]
#[test]
fn linked_packages_are_bundled() {
    use std::os::unix::fs::symlink;
    // pnpm: what a package needs is beside it in the store.
    let folder = app(&[
        APP,
        PACKAGE,
        ("node_modules/.pnpm/p@1.0.0/node_modules/p/index.js", "exports.x = require('q').x + 1"),
        ("node_modules/.pnpm/q@1.0.0/node_modules/q/index.js", "exports.x = require('./lib').x"),
        ("node_modules/.pnpm/q@1.0.0/node_modules/q/lib.js", "exports.x = 41"),
    ]);
    let modules = folder.path().join("node_modules");
    symlink(".pnpm/p@1.0.0/node_modules/p", modules.join("p")).unwrap();
    symlink("../../q@1.0.0/node_modules/q", modules.join(".pnpm/p@1.0.0/node_modules/q")).unwrap();
    assert_eq!(result(&linked(&folder, "a.ts"), ""), "42");

    // A workspace: the packages of the root, and a package beside the app.
    let files = [
        ("package.json", r#"{ "name": "root", "workspaces": ["apps/*", "packages/*"] }"#),
        ("node_modules/hoisted/index.js", "module.exports = 40"),
        ("packages/p/package.json", r#"{ "name": "p", "type": "module", "exports": "./src/index.ts" }"#),
        ("packages/p/src/index.ts", "import { one } from '../lib/one.js'; import h from 'hoisted'; export const x: number = h + one"),
        ("packages/p/src/package.json", r#"{ "type": "module" }"#),
        ("packages/p/lib/one.ts", "export const one = 1 as const"),
        ("apps/shop/a.ts", APP.1),
        ("apps/shop/package.json", r#"{ "name": "shop", "dependencies": { "p": "*" } }"#),
    ];
    let mut programs = Vec::new();
    for _ in 0..2 {
        let root = app(&files);
        symlink("../packages/p", root.path().join("node_modules/p")).unwrap();
        let linked = link(&root.path().join("apps/shop"), Path::new("a.ts")).unwrap();
        assert_eq!(result(&linked, ""), "41");
        assert!(linked.map.files.contains(&"../../packages/p/src/index.ts".to_owned()), "{:?}", linked.map.files);
        assert!(linked.files.contains(&fs::canonicalize(root.path().join("packages/p/src/index.ts")).unwrap()), "{:?}", linked.files);
        programs.push((linked.program, linked.map));
    }
    assert_eq!(programs[0], programs[1]);
}

#[test]
fn a_package_reads_no_files_but_its_own() {
    let folder = app(&[
        ("secret.json", r#"{ "x": "SECRET" }"#),
        ("app/a.ts", APP.1),
        ("app/package.json", PACKAGE.1),
        ("app/node_modules/p/package.json", r#"{ "name": "p", "main": "lib/index.js" }"#),
        ("app/node_modules/p/lib/index.js", ""),
        ("app/node_modules/q/index.js", "export const x = 1"),
    ]);
    let absolute = folder.path().join("secret.json").display().to_string();
    for specifier in [
        "../../../../secret.json",
        "../../q/index.js",
        "../../../a.ts",
        absolute.as_str(),
        "file:///etc/passwd",
        "data:text/javascript,export const x = 1",
    ] {
        for code in [format!("\nexport {{ x }} from {specifier:?}"), format!("\nexports.x = require({specifier:?})")] {
            fs::write(folder.path().join("app/node_modules/p/lib/index.js"), &code).unwrap();
            let found = link(&folder.path().join("app"), Path::new("a.ts")).unwrap_err();
            let found = found.iter().map(shown).collect::<Vec<_>>().join("\n");
            let (column, what) = (
                code.find('"').unwrap(),
                if specifier.starts_with('.') { "leads out of the package" } else { "is neither a relative path nor a package" },
            );
            let expected = format!("node_modules/p/lib/index.js:2:{column} `{specifier}` {what} | ");
            assert!(found.starts_with(&expected), "{found}\n{expected}");
            assert_eq!(found.lines().count(), 1, "{found}");
        }
    }
}

#[test]
fn no_setting_of_a_package_leads_out_of_it() {
    let p = |described: &str| format!(r#"{{ "name": "p", {described} }}"#);
    let own = "export const x = 'own'";
    for (described, specifier, expected) in [
        (r#""main": "../../../outside.js""#, "p", "1:19 `p` leads out of the package"),
        (r#""main": "../q/index.js""#, "p", "1:19 `p` leads out of the package"),
        (r#""main": "../../own.js""#, "p", "1:19 `p` leads out of the package"),
        (r#""module": "../../../outside.js""#, "p", "1:19 `p` leads out of the package"),
        (r#""browser": "../../../outside.js""#, "p", "1:19 `p` leads out of the package"),
        (r#""browser": { "./index.js": "../../../outside.js" }"#, "p", "1:19 `p` "),
        (r#""exports": "./../../../outside.js""#, "p", "1:19 "),
        (r#""exports": { "./*": "./*" }"#, "p/../../../outside.js", "1:19 "),
        ("\"main\": \"index.js\"", "p/../../../outside.js", "1:19 `p/../../../outside.js` leads out of the package"),
        ("\"main\": \"index.js\"", "p/../q/index.js", "1:19 `p/../q/index.js` leads out of the package"),
        ("\"main\": \"index.js\"", "p/../../own.js", "1:19 `p/../../own.js` leads out of the package"),
        ("\"main\": \"index.js\"", "p/link.js", "1:19 `p/link.js` leads out of the package"),
        ("\"main\": \"link.js\"", "p", "1:19 `p` leads out of the package"),
        ("\"main\": \"index.js\"", "linked", "1:19 the package `linked` is outside of the app's folder"),
    ] {
        let folder = app(&[
            ("outside.js", "export const x = 'OUTSIDE'"),
            ("beside/index.js", "export const x = 'OUTSIDE'"),
            ("app/a.ts", &format!("import {{ x }} from '{specifier}'\nexport default () => x")),
            ("app/own.js", "export const x = 'OUTSIDE'"),
            ("app/package.json", PACKAGE.1),
            ("app/node_modules/p/package.json", &p(described)),
            ("app/node_modules/p/index.js", own),
            ("app/node_modules/q/index.js", "export const x = 'OUTSIDE'"),
        ]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink("../../../outside.js", folder.path().join("app/node_modules/p/link.js")).unwrap();
            symlink("../../beside", folder.path().join("app/node_modules/linked")).unwrap();
        }
        #[cfg(not(unix))]
        if specifier == "linked" || specifier.contains("link") || described.contains("link") {
            continue;
        }
        match link(&folder.path().join("app"), Path::new("a.ts")) {
            // What Node does not follow either, and the package is read as if that was not said.
            Ok(linked) => assert_eq!(result(&linked, ""), r#""own""#, "{described} {specifier}"),
            Err(found) => {
                let found = found.iter().map(shown).collect::<Vec<_>>().join("\n");
                assert!(found.starts_with(&format!("a.ts:{expected}")), "{described} {specifier}: {found}");
            }
        }
    }
}

#[test]
fn a_folder_of_packages_above_the_app_counts_only_in_its_workspace() {
    let root = r#""name": "root""#;
    for (described, pnpm, is_found) in [
        (None, None, false),
        (Some(format!("{{ {root} }}")), None, false),
        (Some(format!(r#"{{ {root}, "workspaces": ["packages/*"] }}"#)), None, false),
        (Some(format!(r#"{{ {root}, "workspaces": ["apps/*", "!apps/shop"] }}"#)), None, false),
        (Some(format!(r#"{{ {root}, "workspaces": ["apps/*"] }}"#)), None, true),
        (Some(format!(r#"{{ {root}, "workspaces": ["./apps/shop/"] }}"#)), None, true),
        (Some(format!(r#"{{ {root}, "workspaces": {{ "packages": ["**"] }} }}"#)), None, true),
        (Some(format!("{{ {root} }}")), Some("packages:\n  - 'apps/*'\n"), true),
        (None, Some("packages: [packages/*]\n"), false),
    ] {
        let folder = app(&[
            ("node_modules/p/index.js", "export const x = 'above'"),
            ("apps/shop/a.ts", APP.1),
            ("apps/shop/package.json", PACKAGE.1),
        ]);
        described.iter().for_each(|text| fs::write(folder.path().join("package.json"), text).unwrap());
        pnpm.iter().for_each(|text| fs::write(folder.path().join("pnpm-workspace.yaml"), text).unwrap());
        let outcome = link(&folder.path().join("apps/shop"), Path::new("a.ts"));
        match outcome {
            Ok(linked) => {
                assert!(is_found, "{described:?} {pnpm:?}");
                assert_eq!(result(&linked, ""), r#""above""#);
            }
            Err(found) => {
                assert!(!is_found, "{described:?} {pnpm:?}: {found:?}");
                assert_eq!(
                    shown(&found[0]),
                    "a.ts:1:19 the package `p` is outside of the app's folder | run `npm install p` in the app's folder; a folder above counts \
                     if its `package.json` lists the app under `workspaces`, and one beside it if the app's `package.json` has it as `file:` \
                     dependency"
                );
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_the_app_depends_on_is_a_package() {
    use std::os::unix::fs::symlink;
    for (version, is_found) in [("file:../lib", true), ("link:../lib", true), ("1.0.0", false), ("file:../other", false)] {
        let folder = app(&[
            ("lib/package.json", r#"{ "main": "src/index.js" }"#),
            ("lib/src/index.js", "import { y } from '../y.js'; import z from 'z'; export const x = y + z"),
            ("lib/y.js", "export const y = 'y'"),
            ("lib/node_modules/z/index.js", "module.exports = 'z'"),
            ("app/a.ts", APP.1),
            ("app/package.json", &format!(r#"{{ "dependencies": {{ "p": "{version}" }} }}"#)),
        ]);
        fs::create_dir(folder.path().join("app/node_modules")).unwrap();
        symlink("../../lib", folder.path().join("app/node_modules/p")).unwrap();
        match link(&folder.path().join("app"), Path::new("a.ts")) {
            Ok(linked) => assert_eq!((result(&linked, "").as_str(), is_found), (r#""yz""#, true), "{version}"),
            Err(found) => assert!(!is_found && found[0].message.contains("is outside of the app's folder"), "{version}: {found:?}"),
        }
    }
}

#[test]
fn what_is_not_part_of_the_app_changes_nothing() {
    let files = [
        ("app/a.ts", "import { x } from 'p'; import { y } from './y'; class A { z = y } export default () => [x, new A().z, y]"),
        ("app/y.ts", "export const y = 'ts'"),
        ("app/y.tsx", "export const y = 'tsx'"),
        ("app/y.js", "export const y = 'js'"),
        ("app/package.json", PACKAGE.1),
        ("app/node_modules/p/index.js", "export const x = 1"),
    ];
    let plain = app(&files);
    let mut more = files.to_vec();
    more.extend([
        ("tsconfig.json", r#"{ "extends": "./none.json" }"#),
        ("app/jsconfig.json", "}"),
        ("app/.pnp.cjs", "throw 1"),
        ("app/.babelrc", "}"),
        ("app/rolldown.config.js", "throw 1"),
        ("app/node_modules/p/tsconfig.json", "}"),
    ]);
    let full = app(&more);
    let listing = |folder: &Path| -> Vec<_> { fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect() };
    let before = (listing(full.path()), listing(&full.path().join("app")), listing(&full.path().join("app/node_modules")));
    let [one, other] = [&plain, &full].map(|folder| link(&folder.path().join("app"), Path::new("a.ts")).unwrap());
    assert_eq!(one, other);
    assert_eq!(result(&one, ""), r#"[1,"ts","ts"]"#);
    assert_eq!((listing(full.path()), listing(&full.path().join("app")), listing(&full.path().join("app/node_modules"))), before);
}

#[test]
fn the_same_files_give_the_same_bytes_in_any_folder() {
    let files = [
        ("index.ts", "import * as p from 'p'; import own from './lib/index'; import q from 'q'; export default () => [p, own(), q]"),
        ("lib/index.ts", "import { x } from 'p'; export default function () { const index = x; return index }"),
        PACKAGE,
        P,
        ("node_modules/p/index.js", "export { x } from './lib'; export * from './more/index.js'; export default class {}"),
        ("node_modules/p/lib.js", "import q from 'q'; export const x = q.x"),
        ("node_modules/p/more/index.js", "export const index = 2"),
        ("node_modules/q/index.js", "exports.x = require('./index.json').x"),
        ("node_modules/q/index.json", r#"{ "x": 1 }"#),
    ];
    let folders = [app(&files), app(&files)];
    let [one, other] = [0, 1].map(|at| linked(&folders[at], "index.ts"));
    assert_eq!(one, other);
    assert_eq!(one, linked(&folders[0], "index.ts"));
    for folder in &folders {
        let name = folder.path().file_name().unwrap().to_string_lossy().trim_start_matches('.').to_owned();
        assert!(!one.program.contains(&name), "{}", one.program);
    }
}

#[test]
fn places_in_packages_are_those_of_their_files() {
    let folder = app(&[
        ("a.ts", "import { fail } from 'p'\nimport { other } from 'q'\nexport default (n: number) => n ? fail() : other()"),
        PACKAGE,
        P,
        ("node_modules/p/index.js", "// one\nexport function fail() {\n  const é = 1; throw new Error('p')\n}"),
        ("node_modules/q/index.js", "/* long\n comment */\nexports.other = function () {\n    throw new Error('q')\n}"),
    ]);
    let linked = linked(&folder, "a.ts");
    for (text, place) in [("'p'", ("node_modules/p/index.js", 3, 16)), ("'q'", ("node_modules/q/index.js", 4, 5))] {
        let text = text.replace('\'', "\"");
        let at = linked.program.find(&format!("throw new Error({text})")).unwrap_or_else(|| panic!("{}", linked.program));
        let line = linked.program[..at].matches('\n').count() + 1;
        let column = at - linked.program[..at].rfind('\n').map_or(0, |at| at + 1) + 1;
        let found = linked.map.find(u32::try_from(line).unwrap(), u32::try_from(column).unwrap());
        assert_eq!(found, Some(place), "{line}:{column} {}", linked.program);
    }
}

#[test]
fn what_is_not_used_is_left_out() {
    let folder = app(&[
        ("a.ts", "import { used } from 'p'; import { one } from 'q'; import 'r'; export default () => [used, one]"),
        PACKAGE,
        ("node_modules/p/package.json", r#"{ "name": "p", "module": "index.js", "sideEffects": false }"#),
        ("node_modules/p/index.js", "export * from './used.js'; export * from './unused.js'; globalThis.SHAKEN = 1"),
        ("node_modules/p/used.js", "export const used = 1"),
        ("node_modules/p/unused.js", "globalThis.SHAKEN = 1; export const unused = 1"),
        (
            "node_modules/q/package.json",
            r#"{ "name": "q", "type": "module", "main": "index.js", "sideEffects": ["*.css", "./effect.js"] }"#,
        ),
        ("node_modules/q/index.js", "export const one = 1; export { two } from './two.js'; import './effect.js'"),
        ("node_modules/q/two.js", "export const two = 'SHAKEN'"),
        ("node_modules/q/effect.js", "globalThis.effect = 'EFFECT'"),
        ("node_modules/r/index.js", "globalThis.kept = 'KEPT'"),
    ]);
    let linked = linked(&folder, "a.ts");
    assert!(!linked.program.contains("SHAKEN"), "{}", linked.program);
    assert!(linked.program.contains("KEPT") && linked.program.contains("EFFECT"), "{}", linked.program);
    assert_eq!(result(&linked, ""), "[1,1]");
}

#[test]
fn packages_have_a_limit_of_size() {
    let long = format!("// {}\nexport const x = 1", "x".repeat(17 << 20));
    let found = error(&[
        APP,
        PACKAGE,
        P,
        ("node_modules/p/index.js", "export { x } from './one.js'; export * from './two.js'"),
        ("node_modules/p/one.js", &long),
        ("node_modules/p/two.js", &long.replace("const x", "const y")),
    ]);
    assert_eq!(
        found,
        "node_modules/p/two.js:1:1 the script and its packages have more than 32 MB of text | \
         `a.ts` imports the package `p`: import another package or version"
    );
}

#[test]
fn what_is_not_linked_fails_where_it_runs() {
    let x = |code: &str| {
        let folder = app(&[("a.ts", "import { x } from 'p'; export default x"), PACKAGE, P, ("node_modules/p/index.js", code)]);
        result(&linked(&folder, "a.ts"), "")
    };
    let caught = "try { x('y') } catch (error) { return error.code }";
    assert_eq!(x(&format!("exports.x = () => {{ const x = name => require(name); {caught} }}")), r#""MODULE_NOT_FOUND""#);
    assert_eq!(x(&format!("exports.x = () => {{ const x = () => require('not-there'); {caught} }}")), r#""MODULE_NOT_FOUND""#);
    for specifier in ["globalThis.y", "'./gone.js'"] {
        assert_eq!(x(&format!("export const x = () => String(import({specifier}).catch(() => 0))")), r#""[object Promise]""#);
    }
    assert_eq!(
        x("exports.x = () => [typeof require, __filename, __dirname]"),
        r#"["function","/node_modules/p/index.js","/node_modules/p"]"#
    );
    assert_eq!(x("export const x = () => import.meta.url"), r#""file:///node_modules/p/index.js""#);
}

#[test]
fn the_nearest_description_decides_the_format() {
    let folder = app(&[
        ("a.ts", "import x from 'p'; import { y } from 'p/umd'; export default () => [x, y]"),
        PACKAGE,
        ("node_modules/p/package.json", r#"{ "name": "p", "type": "module", "exports": { ".": "./index.js", "./umd": "./umd/y.js" } }"#),
        ("node_modules/p/index.js", "import x from './umd/x.js'; export default x"),
        ("node_modules/p/umd/package.json", r#"{ "type": "commonjs" }"#),
        ("node_modules/p/umd/x.js", "(function (root, make) { if (typeof exports === 'object') module.exports = make() })(this, () => 1)"),
        ("node_modules/p/umd/y.js", "exports.y = 2"),
    ]);
    assert_eq!(result(&linked(&folder, "a.ts"), ""), "[1,2]");
    // Whatever is said: a file without `import` and `export` that sets `module.exports` is
    // CommonJS.
    let folder = app(&[
        ("a.ts", "import x from 'p'; export default () => x"),
        PACKAGE,
        ("node_modules/p/package.json", r#"{ "name": "p", "type": "module", "main": "index.js" }"#),
        ("node_modules/p/index.js", "module.exports = 3"),
    ]);
    assert_eq!(result(&linked(&folder, "a.ts"), ""), "3");
    // Node would take `main`, whose default export is everything.
    let folder = app(&[
        ("a.ts", "import p from 'p'; export default () => p.x"),
        PACKAGE,
        ("node_modules/p/package.json", r#"{ "name": "p", "main": "index.cjs", "module": "index.js" }"#),
        ("node_modules/p/index.js", "export const x = 4"),
    ]);
    assert_eq!(result(&linked(&folder, "a.ts"), ""), "4");
}

#[test]
fn a_package_for_pages_is_taken_as_node_takes_it() {
    let folder = app(&[
        ("a.ts", "import x from 'p'; export default () => x()"),
        PACKAGE,
        (
            "node_modules/p/package.json",
            r#"{ "name": "p", "main": "lib/node.js", "browser": { "./lib/node.js": "./lib/page.js", "./lib/dom.js": false } }"#,
        ),
        ("node_modules/p/lib/page.js", "module.exports = () => document.createElement('p').tagName"),
        ("node_modules/p/lib/node.js", "module.exports = () => require('./dom.js')"),
        ("node_modules/p/lib/dom.js", "module.exports = 'P'"),
    ]);
    assert_eq!(result(&linked(&folder, "a.ts"), ""), r#""P""#);
}

#[test]
fn what_nobody_uses_of_a_package_is_left_out() {
    let folder = app(&[
        ("a.ts", "import { x } from 'p'; export default () => [x(), globalThis.ran]"),
        PACKAGE,
        P,
        (
            "node_modules/p/index.js",
            "import { inner, unused } from './inner.js'; export function x() { return inner } export function y() { return unused() } \
             class Left {} const left = new Map([[1, 2]]); const made = /* @__PURE__ */ make(); function make() { return Left } \
             globalThis.ran = [typeof kept]; function kept() {} kept.more = 1",
        ),
        ("node_modules/p/inner.js", "export const inner = 1; export const unused = () => 'nobody'"),
    ]);
    let linked = linked(&folder, "a.ts");
    assert_eq!(result(&linked, ""), r#"[1,["function"]]"#);
    for gone in ["function y", "nobody", "Left", "new Map", "make"] {
        assert!(!linked.program.contains(gone), "{gone}\n{}", linked.program);
    }
}

#[test]
fn settings_of_typescript_take_part() {
    let folder = app(&[
        (
            "t/a.ts",
            "import { one } from '@lib/one'; import two from 'lib/two'; import { h } from './h'; const seen: string[] = []; \
             function note(target: any, key: string) { seen.push(key) } class A { @note m() {} } \
             const page = import('../lib/one'); export default () => [one, two, h(), seen, new A() instanceof A, String(page)]",
        ),
        ("t/h.tsx", "const make = (...all: any[]) => all; export const h = () => <p id='x'>y</p>"),
        ("lib/one.ts", "export const one = 1"),
        ("lib/two.cjs", "module.exports = 2"),
        ("tsconfig.json", r#"{ "extends": "./base.json", "compilerOptions": { "baseUrl": ".", "paths": { "@lib/*": ["lib/*"] } } }"#),
        ("base.json", r#"{ "extends": ["./base/deep"], "compilerOptions": { "jsx": "react", "jsxFactory": "make" } }"#),
        ("base/deep.json", r#"{ "compilerOptions": { "experimentalDecorators": true } }"#),
    ]);
    let linked = linked(&folder, "t/a.ts");
    assert_eq!(result(&linked, ""), r#"[1,2,["p",{"id":"x"},"y"],["m"],true,"[object Promise]"]"#);
    for file in ["tsconfig.json", "base.json", "base/deep.json"] {
        assert!(linked.files.contains(&file.into()), "{file}: {:?}", linked.files);
    }
}

#[test]
fn what_the_description_of_the_app_names_is_a_file_of_the_app() {
    let files = [
        ("a.ts", "import { x } from '#db'; import { x as same } from 'app'; export default () => [x(), x === same]"),
        ("src/db.ts", "import { y } from '@lib/y'; export const x = (): number => y"),
        ("lib/y.ts", "export const y = 1"),
        ("package.json", r##"{ "name": "app", "imports": { "#db": "./src/db.ts" }, "exports": { ".": "./src/db.ts" } }"##),
        ("tsconfig.json", r#"{ "compilerOptions": { "paths": { "@lib/*": ["./lib/*"] } } }"#),
    ];
    let linked = linked(&app(&files), "a.ts");
    assert_eq!(result(&linked, ""), "[1,true]");
    let mut files = files;
    files[1].1 = "export const x = (): number => unknownGlobal.y";
    assert!(error(&files).starts_with("src/db.ts:1:32 "), "{}", error(&files));
}
