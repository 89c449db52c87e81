//! Scripts that import packages, with a real esbuild: `ESBUILD_BIN`, or the one in `PATH` or in a `node_modules` above.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{env, fs, path::Path};

use boa_engine::{Context, Source};
use millrace_bundler::script::link;

fn app(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    if env::var_os("ESBUILD_BIN").is_none() {
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|above| above.join("node_modules/.bin/esbuild"));
        let in_path = env::split_paths(&env::var_os("PATH").unwrap_or_default()).map(|folder| folder.join("esbuild")).collect::<Vec<_>>();
        let Some(esbuild) = above.chain(in_path).find(|program| program.is_file()) else {
            panic!("this test needs esbuild: set ESBUILD_BIN, or run `npm install esbuild` in the repository");
        };
        let bin = folder.path().join("node_modules/.bin");
        fs::create_dir_all(&bin).unwrap();
        // Not linked: the program finds its own parts from where it is.
        fs::write(bin.join("esbuild"), format!("#!/bin/sh\nexec '{}' \"$@\"\n", esbuild.display())).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(bin.join("esbuild"), fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    folder
}

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
        ("node_modules/@new/one/package.json", r#"{ "name": "@new/one", "exports": { "./add": "./add.mjs" } }"#),
        ("node_modules/@new/one/add.mjs", "export const add = (a, b) => a + b; export const unused = 'SHAKEN'"),
    ]);
    let linked = link(folder.path(), Path::new("tools/a/handler.ts")).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"));
    let again = link(folder.path(), Path::new("tools/a/handler.ts")).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"));
    assert_eq!(linked, again);
    assert_eq!(linked.exports, ["default"]);
    let files: Vec<String> = linked.files.iter().map(|file| file.display().to_string()).collect();
    assert_eq!(files, ["node_modules/@new/one/add.mjs", "node_modules/old/index.js", "package.json", "tools/a/handler.ts", "tools/own.ts"]);
    assert!(!linked.program.contains(&folder.path().display().to_string()), "{}", linked.program);
    assert!(!linked.program.contains("SHAKEN"), "{}", linked.program);

    let mut context = Context::default();
    let source = format!(
        "const $millrace_look = () => {{}};\nJSON.stringify(({}).call(undefined, {{ success: data => ({{ data }}) }}).default(40))",
        linked.program.trim()
    );
    let result = context.eval(Source::from_bytes(&source)).unwrap().to_string(&mut context).unwrap().to_std_string_escaped();
    assert_eq!(result, r#"{"data":142}"#);
}

#[test]
fn missing_packages_are_reported_where_they_are_imported() {
    let folder = app(&[
        ("a.ts", "import { b } from './b'\nexport default () => b"),
        ("b.ts", "\nimport { merge } from 'lodash/merge'\nexport const b = merge"),
        PACKAGE,
    ]);
    let diagnostics = link(folder.path(), Path::new("a.ts")).unwrap_err();
    assert_eq!(diagnostics.len(), 1, "{diagnostics:#?}");
    let first = &diagnostics[0];
    assert_eq!((first.file.as_path(), first.line, first.column), (Path::new("b.ts"), 2, 23), "{first:#?}");
    assert!(first.message.contains("Could not resolve `lodash/merge`"), "{first:#?}");
    assert!(first.help.as_ref().is_some_and(|help| help.contains("npm install")), "{first:#?}");
}
