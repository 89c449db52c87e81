//! Every mistake of a script is found where it is, and says how to mend it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use millrace_bundler::script::link;
use millrace_test_kit::files::app;

type File<'a> = (&'a str, &'a str);

/// `file:line:column message | help`, one a line.
fn report(folder: &Path, entry: &str) -> String {
    let Err(diagnostics) = link(folder, Path::new(entry)) else { return "no diagnostics".to_owned() };
    let lines = diagnostics.iter().map(|it| {
        let help = it.help.as_deref().unwrap_or("");
        format!("{}:{}:{} {} | {help}", it.file.display(), it.line, it.column, it.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Each case: the files (the first is the entry), and what the report must contain.
#[test]
fn mistakes_are_reported() {
    let cases: &[(&[File<'_>], &[&str])] = &[
        (
            &[
                ("a.ts", "import { a } from './b'\nimport { c } from './c'\nlet = ;"),
                ("b.ts", "export const a: = 1"),
                ("c.ts", "function ("),
            ],
            &["a.ts:3:", "b.ts:1:17 ", "c.ts:1:10 "],
        ),
        (&[("a.ts", "const x = 1;\nconst x = 2;")], &["a.ts:2:7 ", "`x`"]),
        (
            &[("t/a.ts", "\n  import { x } from './nope'; x")],
            &[
                "t/a.ts:2:21 `./nope` names no file | create it; tried from `t`: `t/nope.ts`, `t/nope.tsx`, `t/nope.mts`, `t/nope.cts`, `t/nope.js`, `t/nope.jsx`, `t/nope.mjs`, `t/nope.cjs`, `t/nope.json`, `t/nope/index.ts`",
            ],
        ),
        (
            &[("a.ts", "import { x } from './Lib'; x"), ("lib.ts", "export const x = 1")],
            &["`./Lib` names no file | there is `lib.ts`, which differs from `Lib.ts` in upper and lower case"],
        ),
        (&[("t/a.ts", "import { x } from '../../x'; x")], &["`../../x` leads out of the app's folder"]),
        (&[("a.ts", "import { x } from '/etc/x'; x")], &["`/etc/x` is neither a relative path nor a package"]),
        (&[("a.ts", "import { x } from 'https://a.example/x.js'; x")], &["is neither a relative path nor a package"]),
        (&[("a.ts", "import x from './x.css'; x"), ("x.css", "")], &["`x.css` is not a module | scripts import modules"]),
        (
            &[("a.ts", "import { readFileSync } from 'node:fs'; readFileSync('x')")],
            &["a.ts:1:30 `node:fs` is a module of Node, which scripts do not have | scripts have no files", "ctx.db"],
        ),
        (
            &[(
                "a.ts",
                "import { createHash, createSign } from 'crypto'; import * as u from 'node:util'; [createHash, createSign, u.parseEnv, u.inspect]",
            )],
            &["a.ts:1:22 `createSign` of Node's module `crypto` is not available in scripts | ", "`parseEnv` of Node's module `util`"],
        ),
        (&[("a.ts", "import http from 'http'; http.get('x')")], &["`http` is a module of Node", "global `fetch`"]),
        (
            &[("a.ts", "import { sucess } from 'millrace'; sucess(1)")],
            &[
                "a.ts:1:10 `millrace` has no export `sucess` | `\"millrace\"` exports `anonymous`, `code`, `echarts`, `elicit`, `error`, `json`, `list`, `listRoots`, `markdown`, `mermaid`, `requireInput`, `required`, `response`, `sample`, `success`, `summary`, `table`, `toolError`",
            ],
        ),
        (
            &[("a.ts", "import { y } from './b'; y"), ("b.ts", "export const x = 1, z = 2")],
            &["`./b` has no export `y` | `b.ts` exports `x`, `z`"],
        ),
        (&[("a.ts", "export { y } from './b'"), ("b.ts", "")], &["a.ts:1:10 `./b` has no export `y` | `b.ts` exports nothing"]),
        (&[("a.ts", "import { a } from './d.json'; a"), ("d.json", "{}")], &["a JSON file has a default export only"]),
        (
            &[("a.ts", "import d from './d.json'; d"), ("d.json", "{\n \"a\": 1,\n}")],
            &["d.json:3:1 `d.json` is not valid JSON: trailing \
                                                                                        comma"],
        ),
        (
            &[("a.ts", "import { T } from './b'; console.log(T)"), ("b.ts", "export interface T { a: 1 }")],
            &["`T` of `./b` is a type, and is used as a value | write `import type { T }`"],
        ),
        (
            &[
                ("a.ts", "import { x } from './b'; x"),
                ("b.ts", "export * from './c'; export * from './d'"),
                ("c.ts", "export const x = 1"),
                ("d.ts", "export const x = 2"),
            ],
            &["`x` comes from two `export *` of `./b`"],
        ),
        (&[("a.ts", "export { x } from './b'"), ("b.ts", "export { x } from './a'")], &["has no export `x`"]),
        (&[("a.js", "import { x } from './b.js'; x = 2"), ("b.js", "export let x = 1")], &["`x`"]),
        (&[("a.ts", "export default () => import('./b')")], &["a.ts:1:29 `./b` names no file | create it; tried: `b.ts`"]),
        (
            &[("a.js", "const fs = require('fs')\nmodule.exports = 1")],
            &[
                "a.js:1:12 `require` does not exist",
                "a.js:2:1 `module.exports` does not exist in scripts | scripts are ES modules: write `export default",
            ],
        ),
        (&[("a.ts", "eval('1'); new Function('return 1'); Function('x'); export const $millrace_look = 1")], &["no diagnostics"]),
        (&[("a.ts", "(Array.prototype as any).last = 1; Object.assign(Math, {}); /^(?:(a+)+\\1)+$/.test('')")], &["no diagnostics"]),
        (&[("a.ts", "function require(x: string) { return x } export default () => require('x')")], &["no diagnostics"]),
        (&[("a.ts", "declare const d: any; @d class A {}\nexport default A")], &["no diagnostics"]),
        (
            &[("a.ts", "declare const d: any; class A { @d #a = 1 }\nexport default A")],
            &["a.ts:1:36 decorators of a private name are not supported | decorate a public member"],
        ),
        (
            &[("a.ts", "declare const d: any; class A { m(@d x: number) { return x } }\nexport default A")],
            &["a.ts:1:35 decorators of parameters are not part of the standard | set `experimentalDecorators`"],
        ),
        (
            &[("a.ts", "declare const d: any; const A = class { @d m() {} }\nexport default A")],
            &["decorators of a class expression are not supported | declare the class"],
        ),
        (
            &[("a.ts", "export default 1"), ("tsconfig.json", r#"{ "extends": "./gone.json" }"#)],
            &["tsconfig.json:1:1 `tsconfig.json` cannot be read: "],
        ),
        (&[("a.ts", "const x = 1; export = x")], &["`export =` is not supported | write `export default"]),
        (&[("a.ts", "import x = require('x'); x")], &["is not supported"]),
        (&[("a.ts", "export default arguments")], &["`arguments` means nothing outside of a function"]),
        (
            &[("a.ts", "import x from './b.json' with { type: 'text' }; x"), ("b.json", "1")],
            &["the import attribute `type: \"text\"` is not supported"],
        ),
        (
            &[("a.ts", "import { merge } from 'lodash/merge'; merge({})")],
            &["a.ts:1:23 `lodash` is a package, and the app's folder has no `package.json` | run `npm init -y && npm install lodash`"],
        ),
        (&[("a.ts", "import x from '@s/p/f'; import y from './gone'; x(y)")], &["`@s/p` is a package", "`./gone` names no file"]),
        (
            &[("a.ts", "import x from 'data:text/javascript,import y from \"./b\"; export default y'; x"), ("b.ts", "")],
            &[
                "a.ts:1:15 the module in the `data:` URL cannot be used: it imports `./b`, and only files import others | move it into a file",
            ],
        ),
        (
            &[("a.ts", "import x from 'data:text/javascript,export default () => import(\"./b\")'; x"), ("b.ts", "")],
            &["a.ts:1:15 the module in the `data:` URL cannot be used: it imports `./b`"],
        ),
        (&[("a.ts", "import x from 'data:application/json,{'; x")], &["a.ts:1:15 ", "cannot be used: `data:` is not valid JSON"]),
        (&[("a.ts", "import x from 'data:text/javascript,export default 1'; x")], &["no diagnostics"]),
        (
            &[("a.ts", "namespace Foo { export let x = 1; export class Foo {} }\nexport default Foo")],
            &["a.ts:1:11 a namespace that exports a variable cannot declare its own name, `Foo`, in it | rename one of the two"],
        ),
        (
            &[("a.ts", "declare const d: any; class A { @d(class { accessor x = 1 }) m() {} }\nexport default A")],
            &["a class with decorators or `accessor` is not supported within a decorator or a computed key | declare the class before"],
        ),
        (&[("b.ts", ""), ("a.tsx", "")], &["no diagnostics"]),
        (&[("a.css", "a {}")], &["`a.css` is not a script | scripts are `.ts`, `.mts`, `.tsx`, `.js`, `.mjs` and `.jsx` files"]),
    ];
    let mut failures = Vec::new();
    for (files, expected) in cases {
        let folder = app(files);
        let report = report(folder.path(), files[0].0);
        for part in expected.iter().filter(|part| !report.contains(**part)) {
            failures.push(format!("{files:?}\nwanted {part}\ngot\n{report}\n"));
        }
        assert!(!report.contains(&folder.path().display().to_string()), "an absolute path in\n{report}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_url_that_is_nested_too_deeply_is_reported() {
    let folder = app(&[("a.ts", &format!("import x from \"data:text/javascript,export default {}\"; x", "[".repeat(200_000)))]);
    let report = report(folder.path(), "a.ts");
    assert!(report.starts_with("a.ts:1:15 the module in the `data:` URL cannot be used: the code is nested more than 1000"), "{report}");
}

#[test]
fn entries_have_to_be_there() {
    let folder = app(&[("Handler.ts", "")]);
    assert_eq!(
        report(folder.path(), "handler.ts"),
        "handler.ts:1:1 the script `handler.ts` does not exist | there is `Handler.ts`, which differs in upper and lower case"
    );
    assert_eq!(report(folder.path(), "x.ts"), "x.ts:1:1 the script `x.ts` does not exist | create it, or correct the path");
    assert!(report(folder.path(), "../x.ts").contains("outside of the app's folder"));
}

#[test]
fn data_has_a_limit() {
    let data = format!("\"{}\"", "x".repeat(1024 * 1024));
    let folder = app(&[("a.ts", "import d from './d.json'; export default d"), ("d.json", &data)]);
    let report = report(folder.path(), "a.ts");
    assert!(report.starts_with("d.json:1:1 `d.json` has 1048578 bytes, more than the 1048576"), "{report}");
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere_outside() {
    let outside = app(&[("secret.ts", "export const secret = 1")]);
    let folder = app(&[
        ("a.ts", "import { secret } from './link'; export default secret"),
        ("b.ts", "import { x } from './inner'; export default x"),
        ("real.ts", "export const x = 1"),
    ]);
    std::os::unix::fs::symlink(outside.path().join("secret.ts"), folder.path().join("link.ts")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("real.ts"), folder.path().join("inner.ts")).unwrap();
    assert!(report(folder.path(), "a.ts").contains("`./link` leads out of the app's folder"));
    assert_eq!(report(folder.path(), "b.ts"), "no diagnostics");
}
