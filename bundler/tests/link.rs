//! Scripts are linked, and the programs run in the engine that will run them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use millrace_bundler::script::{Linked, link};
use millrace_test_kit::files::app;

use crate::support::evaluate;

/// A file of the app and its text.
type File<'a> = (&'a str, &'a str);

/// Links the first file.
fn linked(files: &[File<'_>]) -> Linked {
    let folder = app(files);
    link(folder.path(), Path::new(files[0].0)).unwrap_or_else(|diagnostics| panic!("{:?}: {diagnostics:#?}", files[0]))
}

/// Instantiates a program twice, evaluates `expression` with `m` and `n` being the exports of the
/// two, and gives its JSON.
fn run(program: &str, expression: &str) -> String {
    let source = format!(
        "globalThis.host = Object.freeze({{ success: data => ({{ success: data }}), error: m => ({{ error: m }}), required: f => ({{ required: f }}), \
         toolError: code => ({{ code }}) }});\nglobalThis.program = {program};\n\
         (async () => {{ const m = await program.call(undefined, host); const n = await program.call(undefined, host);\n\
         return JSON.stringify(await ({expression})); }})()"
    );
    evaluate(&source).unwrap_or_else(|error| panic!("{error}\n{program}"))
}

/// Each case: what it shows, its files (the first is the entry), an expression over the exports,
/// its JSON.
#[test]
fn programs_do_what_modules_do() {
    let cases: &[(&str, &[File<'_>], &str, &str)] = &[
        (
            "a default function",
            &[("a.ts", "export default function (payload: { n: number }) { return payload.n + 1 }")],
            "m.default({ n: 1 })",
            "2",
        ),
        (
            "a named default function is hoisted",
            &[("a.ts", "export const early = f(); export default function f() { return 7 }")],
            "[m.early, m.default()]",
            "[7,7]",
        ),
        ("a default arrow", &[("a.ts", "export default async (p: unknown) => ({ p })")], "m.default(1)", r#"{"p":1}"#),
        ("a default class", &[("a.ts", "export default class { x = 1; static y = 2 }")], "[new m.default().x, m.default.y]", "[1,2]"),
        (
            "a named default class",
            &[("a.ts", "export default class Foo { static make() { return new Foo() } }")],
            "[m.default.name, m.default.make() instanceof m.default]",
            r#"["Foo",true]"#,
        ),
        (
            "a default value is the value of that moment",
            &[("a.ts", "let x = 1; export default x; x = 2; export { x }")],
            "[m.default, m.x]",
            "[1,2]",
        ),
        (
            "a default by name is live",
            &[("a.ts", "let x = 1; export { x as default }; export function set(v: number) { x = v }")],
            "(m.set(5), m.default)",
            "5",
        ),
        (
            "the host's functions",
            &[("a.ts", "import { success, toolError as fail } from 'millrace'; export default () => [success(1), fail('X')]")],
            "m.default()",
            r#"[{"success":1},{"code":"X"}]"#,
        ),
        (
            "the host as a namespace",
            &[("a.ts", "import * as mr from 'millrace'; export default () => mr.error('no')")],
            "m.default()",
            r#"{"error":"no"}"#,
        ),
        (
            "fresh state per call",
            &[("a.ts", "import { next } from './b'; export default () => next()"), ("b.ts", "let n = 0; export const next = () => ++n")],
            "[m.default(), m.default(), n.default()]",
            "[1,2,1]",
        ),
        (
            "live bindings",
            &[
                ("a.ts", "import { n, inc } from './b.js'; export default () => { const before = n; inc(); return [before, n, { n }] }"),
                ("b.ts", "export let n = 0; export function inc() { n++ }"),
            ],
            "m.default()",
            r#"[0,1,{"n":1}]"#,
        ),
        (
            "order is that of the imports",
            &[
                ("a.ts", "import './b'; import './c'; export const log = (globalThis as any).log.splice(0)"),
                ("b.ts", "import './c'; (globalThis as any).log.push('b')"),
                ("c.ts", "((globalThis as any).log ??= []).push('c')"),
            ],
            "m.log",
            r#"["c","b"]"#,
        ),
        (
            "cycles see hoisted functions",
            &[
                ("a.ts", "import { b } from './b'; export function a() { return 'a' } export default () => b()"),
                ("b.ts", "import { a } from './a'; export const early = a(); export const b = () => early + a()"),
            ],
            "m.default()",
            r#""aa""#,
        ),
        (
            "cycles have a dead zone",
            &[
                ("a.ts", "import { seen } from './b'; export const late = 1; export default () => seen"),
                (
                    "b.ts",
                    "import { late } from './a'; export let seen: string; try { seen = String(late) } catch (e) { seen = (e as Error).constructor.name }",
                ),
            ],
            "m.default()",
            r#""ReferenceError""#,
        ),
        (
            "a namespace in a cycle",
            &[
                ("a.ts", "import * as b from './b'; export const x = 1; export default () => [b.get(), Object.keys(b)]"),
                ("b.ts", "import * as a from './a'; export const get = () => a.x"),
            ],
            "m.default()",
            r#"[1,["get"]]"#,
        ),
        (
            "a namespace cannot be changed",
            &[
                (
                    "a.ts",
                    "import * as b from './b'; export default () => { try { (b as any).x = 2; return 'changed' } catch (e) { return [(e as Error).name, b.x] } }",
                ),
                ("b.ts", "export const x = 1"),
            ],
            "m.default()",
            r#"["TypeError",1]"#,
        ),
        (
            "re-exports",
            &[
                ("a.ts", "export { x as y, default as z } from './b'; export * from './b'; export * as all from './b'"),
                ("b.ts", "export const x = 1; export default 2"),
            ],
            "[m.y, m.z, m.x, m.all.x, m.all.default, 'default' in m]",
            "[1,2,1,1,2,false]",
        ),
        (
            "an import that is exported",
            &[("a.ts", "import { x, default as d } from './b'; export { x, d }"), ("b.ts", "export let x = 1; export default 3")],
            "[m.x, m.d]",
            "[1,3]",
        ),
        (
            "star exports of a diamond",
            &[
                ("a.ts", "export * from './b'; export * from './c'"),
                ("b.ts", "export * from './d'"),
                ("c.ts", "export * from './d'"),
                ("d.ts", "export const x = 1"),
            ],
            "m.x",
            "1",
        ),
        (
            "an own export hides a star's",
            &[("a.ts", "export * from './b'; export const x = 1"), ("b.ts", "export const x = 2, y = 3")],
            "[m.x, m.y]",
            "[1,3]",
        ),
        (
            "names that are no identifiers",
            &[("a.ts", "import { 'a-b' as ab } from './b'; export { ab as '__proto__' }"), ("b.ts", "const v = 4; export { v as 'a-b' }")],
            "Object.getOwnPropertyDescriptor(m, '__proto__').value",
            "4",
        ),
        (
            "colliding names",
            &[
                ("a.ts", "import { f as g } from './b'; const f = () => 'a'; export default () => f() + g()"),
                ("b.ts", "export const f = () => 'b'"),
            ],
            "m.default()",
            r#""ab""#,
        ),
        (
            "a local that would hide an import",
            &[
                ("a.ts", "import { x as y } from './b'; export default () => { const x = 1; return [x, y] }"),
                ("b.ts", "export const x = 2"),
            ],
            "m.default()",
            "[1,2]",
        ),
        (
            "a top-level name that is another module's global",
            &[
                ("a.ts", "import { s } from './b'; const Object = 1; export default () => [Object, s]"),
                ("b.ts", "export const s = Object.keys({ k: 1 })"),
            ],
            "m.default()",
            r#"[1,["k"]]"#,
        ),
        (
            "a module variable called host",
            &[("a.ts", "import { success } from 'millrace'; const host = 3; export default () => success(host)")],
            "m.default()",
            r#"{"success":3}"#,
        ),
        (
            "colliding classes keep their names",
            &[
                (
                    "a.ts",
                    "import { E as B } from './b'; class E extends Error {} export default () => [E.name, B.name, new B() instanceof E]",
                ),
                ("b.ts", "export class E extends Error {}"),
            ],
            "m.default()",
            r#"["E","E",false]"#,
        ),
        (
            "globals of Node, by their names and as members of the global object",
            &[
                (
                    "a.ts",
                    "import { own } from './b'; export default () => [globalThis.process?.platform, typeof process.env, self.process.argv, own]",
                ),
                ("b.ts", "const process = { own: 1 }; export const own = [process.own, typeof globalThis.process]"),
            ],
            "m.default()",
            r#"["linux","object",[],[1,"undefined"]]"#,
        ),
        (
            "what a file declares to be there is there",
            &[(
                "a.ts",
                "declare const process: { env: Record<string, string>, platform: string };\n\
                 export default () => [process.platform, process.env.NODE_ENV]",
            )],
            "m.default()",
            r#"["linux","production"]"#,
        ),
        (
            "top-level await",
            &[("a.ts", "import { v } from './b'; export default () => v"), ("b.ts", "export const v = await Promise.resolve(6)")],
            "m.default()",
            "6",
        ),
        (
            "await in a function needs none",
            &[("a.ts", "export default async () => await 1")],
            "[typeof program(host).then, await m.default()]",
            r#"["undefined",1]"#,
        ),
        (
            "enums",
            &[
                ("a.ts", "import { C, D } from './b'; export default () => [C.Red, C[0], D.A]"),
                ("b.ts", "export enum C { Red, Green } export const enum D { A = 'a' }"),
            ],
            "m.default()",
            r#"[0,"Red","a"]"#,
        ),
        (
            "namespaces",
            &[(
                "a.ts",
                "namespace N { export const x = 1; export namespace M { export const y = x + 1 } } export default () => [N.x, N.M.y]",
            )],
            "m.default()",
            "[1,2]",
        ),
        (
            "an exported namespace",
            &[("a.ts", "import { N } from './b'; export default () => N.x"), ("b.ts", "export namespace N { export const x = 9 }")],
            "m.default()",
            "9",
        ),
        (
            "parameter properties",
            &[(
                "a.ts",
                "class P { constructor(private readonly x: number, public y = 2) {} sum() { return this.x + this.y } } export default () => new P(1).sum()",
            )],
            "m.default()",
            "3",
        ),
        (
            "class fields",
            &[(
                "a.ts",
                "class A { #p = 1; static s = 2; declare d: number; q?: string; get p() { return this.#p } } export default () => [new A().p, A.s, 'q' in new A(), 'd' in new A()]",
            )],
            "m.default()",
            "[1,2,true,false]",
        ),
        (
            "types vanish",
            &[
                (
                    "a.ts",
                    "import type { T } from './nowhere'; import { type U, v } from './b'; import { W } from './gone'; type X = T | U | W; export type { X }; export default (x: X) => (v satisfies number)!",
                ),
                ("b.ts", "export interface U { a: 1 } export const v = 1 as const"),
            ],
            "[m.default(), Object.keys(m)]",
            r#"[1,["default"]]"#,
        ),
        (
            "types are not re-exported",
            &[
                ("a.ts", "export { T, v } from './b'; import { T as U } from './b'; export { U }"),
                ("b.ts", "export type T = 1; export const v = 1"),
            ],
            "Object.keys(m)",
            r#"["v"]"#,
        ),
        (
            "JSON",
            &[
                (
                    "a.ts",
                    "import data from './d.json'; import more from './e.json' with { type: 'json' }; export default () => [data.a, Object.hasOwn(data, '__proto__'), more]",
                ),
                ("d.json", r#"{"a":[1,null,"x\u2028"],"__proto__":{"b":1}}"#),
                ("e.json", "[1.5]"),
            ],
            "m.default()",
            "[[1,null,\"x\u{2028}\"],true,[1.5]]",
        ),
        (
            "resolution",
            &[
                (
                    "a/b/c.ts",
                    "import { x } from '../x.js'; import { y } from './y'; import { z } from '..'; import { w } from './w.mjs'; export default () => [x, y, z, w]",
                ),
                ("a/x.ts", "export const x = 1"),
                ("a/b/y/index.ts", "export const y = 2"),
                ("a/index.ts", "export const z = 3"),
                ("a/b/w.mts", "export const w = 4"),
            ],
            "m.default()",
            "[1,2,3,4]",
        ),
        (
            "a file before a folder",
            &[
                ("a.ts", "import { x } from './x'; export default () => x"),
                ("x.ts", "export const x = 'file'"),
                ("x/index.ts", "export const x = 'folder'"),
            ],
            "m.default()",
            r#""file""#,
        ),
        (
            "JavaScript",
            &[("a.mjs", "import { x } from './b.js'; export default () => x"), ("b.js", "export var x = 1; x = 2")],
            "m.default()",
            "2",
        ),
        (
            "a text over several lines",
            &[("a.ts", "\n\ninterface A {\n  a: 1\n}\nexport default () => `a\n  b ${\n    1\n  }\n\nc`")],
            "m.default()",
            r#""a\n  b 1\n\nc""#,
        ),
        ("`this` is undefined", &[("a.ts", "export const t = typeof this")], "m.t", r#""undefined""#),
        (
            "strict mode",
            &[(
                "a.ts",
                "export default () => { try { (undefinedName as any) = 1; return false } catch { return true } }; declare let undefinedName: any",
            )],
            "m.default()",
            "true",
        ),
        ("exports without prototype", &[("a.ts", "export const a = 1")], "[Object.getPrototypeOf(m), 'toString' in m]", "[null,false]"),
        ("an empty file", &[("a.ts", "")], "Object.keys(m)", "[]"),
        ("a byte order mark", &[("a.ts", "\u{feff}export default () => 1")], "m.default()", "1"),
        (
            "destructured exports",
            &[("a.ts", "export const { a, ...e } = { a: 1, f: 4 }, [c, ...d] = [2, 3]")],
            "[m.a, m.c, m.d, m.e]",
            r#"[1,2,[3],{"f":4}]"#,
        ),
        (
            "a regular expression, an optional chain, a label",
            &[(
                "a.ts",
                "export default (p?: any) => { out: for (const x of [1]) { if (/[/`]/u.test('x')) continue out; break out } return p?.q?.[0] ?? 'none' }",
            )],
            "m.default()",
            r#""none""#,
        ),
    ];
    for (name, files, expression, expected) in cases {
        let program = linked(files).program;
        assert_eq!(run(&program, expression), *expected, "{name}\n{program}");
    }
}

/// Classes, `import()`, decorators and settings: each case as above.
#[test]
fn what_is_rewritten_does_what_it_says() {
    let cases: &[(&str, &[File<'_>], &str, &str)] = &[
        (
            "a class that is called what it extends",
            &[
                ("a.ts", "import { User } from './user'; export default () => [new User().kind(), User.name, new User() instanceof User]"),
                (
                    "user.ts",
                    "import { User as BaseUser } from './base'; export class User extends BaseUser { kind() { return super.kind() + ' and own' } }",
                ),
                ("base.ts", "export class User { kind() { return 'base' } }"),
            ],
            "m.default()",
            r#"["base and own","User",true]"#,
        ),
        (
            "a class that is called what it uses",
            &[
                ("a.ts", "import { Item } from './b'; export default () => [new Item().own(), Item.tag]"),
                ("b.ts", "import { Item as AItem } from './c'; export class Item { own() { return AItem.tag } static tag = 'b' }"),
                ("c.ts", "export class Item { static tag = 'c' }"),
            ],
            "m.default()",
            r#"["c","b"]"#,
        ),
        (
            "`import()` runs after the imports",
            &[
                ("a.ts", "import { get } from './b'; import './setup'; export default () => get()"),
                ("b.ts", "export const get = async () => (await import('./late')).seen"),
                ("setup.ts", "(globalThis as any).ready1 = true"),
                ("late.ts", "export const seen = (globalThis as any).ready1 === true"),
            ],
            "m.default()",
            "true",
        ),
        (
            "`import()` that is awaited by a module",
            &[
                ("a.ts", "const { seen } = await import('./late'); import './setup'; export default () => seen"),
                ("setup.ts", "(globalThis as any).ready2 = true"),
                ("late.ts", "export const seen = (globalThis as any).ready2 === true"),
            ],
            "m.default()",
            "true",
        ),
        (
            "`import()` of a module that imports its importer",
            &[
                ("a.ts", "export const base = 1; const page = import('./late').then(late => late.more); export default () => page"),
                ("late.ts", "import { base } from './a'; export const more = base + 1"),
            ],
            "m.default()",
            "2",
        ),
        (
            "`import()` of CommonJS",
            &[
                (
                    "a.ts",
                    "const bad = import('./bad.cjs').catch(error => error.message); \
                     export default async () => { const good: any = await import('./good.cjs'); return [await bad, good.two, good.default.two, good === await import('./good.cjs')] }",
                ),
                ("bad.cjs", "throw new Error('bad')"),
                ("good.cjs", "exports.two = 2"),
            ],
            "m.default()",
            r#"["bad",2,2,true]"#,
        ),
        (
            "`import()` with names of the linker's and a comment",
            &[
                (
                    "a.ts",
                    "const call = async ($r0: number, $i: number) => [$r0, $i, (await import /* c */ ('./o')).x]; export default () => call(1, 2)",
                ),
                ("o.ts", "export const x = 3"),
            ],
            "m.default()",
            "[1,2,3]",
        ),
        (
            "`import.meta` with names of the linker's",
            &[(
                "a.ts",
                "const $m = import.meta.url; const url = ($m: number, $0m: number) => import.meta.url; export default () => [$m, url(1, 2)]",
            )],
            "m.default()",
            r#"["file:///a.ts","file:///a.ts"]"#,
        ),
        (
            "decorators without semicolons",
            &[(
                "a.ts",
                "const seen: string[] = []\nfunction dec(_: any, context: any): any { seen.push(`${context.kind} ${String(context.name)}`) }\n\
                 class A {\n  count = 0\n  @dec inc() { return ++this.count }\n  e = 2\n  @dec get = 3\n  @dec name!: number\n  @dec more?: number\n  \
                 @dec bare\n  set\n  @dec *items() { yield 1 }\n  f = 4\n  @dec ['s'] /* c */ ! : number\n  g = 5\n  @dec static t\n  @dec accessor h = 6\n}\n\
                 export default () => { const a: any = new A(); return [a.inc(), a.get, 'name' in a, 'more' in a, [...a.items()], 's' in a, a.h, seen.sort()] }",
            )],
            "m.default()",
            r#"[1,3,true,true,[1],true,6,["accessor h","field bare","field get","field more","field name","field s","field t","method inc","method items"]]"#,
        ),
        (
            "decorators with names of the linker's",
            &[(
                "a.ts",
                "const $d1 = 1, $extra = 2, $value = 3, $this = 4; const dec = (_: any, context: any): any => {};\n\
                 @dec class A { @dec m() { return [$d1, $extra, $this] } @dec accessor x = $value; @dec y = $d1 }\n\
                 namespace N { export let $v = 5 } N.$v = 6;\n\
                 export default () => [new A().m(), new A().x, new A().y, N.$v]",
            )],
            "m.default()",
            "[[1,2,4],3,1,6]",
        ),
        (
            "`accessor` in the value of one",
            &[(
                "a.ts",
                "const dec = (_: any, context: any): any => {};\nclass A {\n  accessor one = class {\n    accessor x = 1\n    static accessor y = 2\n  }\n  \
                 @dec\n  accessor two =\n    class { accessor x = 3 }\n}\n\
                 export default () => { const a = new A(); return [new a.one().x, a.one.y, new a.two().x] }",
            )],
            "m.default()",
            "[1,2,3]",
        ),
        (
            "`accessor` with older decorators",
            &[
                (
                    "a.ts",
                    "const keys: string[] = []; function dec(_: any, key: string) { keys.push(key) }\n\
                     class A { @dec accessor x = 'get up'; @dec static accessor y = 'static get up'; @dec accessor z }\n\
                     export default () => [new A().x, A.y, 'z' in new A(), keys.sort()]",
                ),
                ("tsconfig.json", r#"{ "compilerOptions": { "experimentalDecorators": true } }"#),
            ],
            "m.default()",
            r#"["get up","static get up",true,["x","y","z"]]"#,
        ),
        (
            "`paths` before modules of Node",
            &[
                ("a.ts", "import { x } from 'util/x'; import { y } from 'events'; export default () => [x, y]"),
                ("lib/x.ts", "export const x = 1"),
                ("lib/y.ts", "export const y = 2"),
                ("tsconfig.json", r#"{ "compilerOptions": { "paths": { "util/*": ["./lib/*"], "events": ["./lib/y"] } } }"#),
            ],
            "m.default()",
            "[1,2]",
        ),
    ];
    for (name, files, expression, expected) in cases {
        let program = linked(files).program;
        assert_eq!(run(&program, expression), *expected, "{name}\n{program}");
    }
}

/// Every text `"L7"` of the source leads to line 7 of its file, wherever it stands in the program.
#[test]
fn places_of_the_program_lead_to_the_files() {
    let entry = r#"// A comment
import { lib } from './lib';

interface Gone {
  a: string;
}

enum Colour { Red = "L8" }
/**
 * More
 */
export default async function handler(payload: Gone) {
  const first = "L13"; const second = "L13";

  if (payload.a === "L15") {
    return lib("L16");
  } else if (payload.a) { throw new Error("L17"); }
  const text = `L18
    L19 ${payload.a}
`;
  type Local = string;
  class Inner {
    declare gone: string;
    kept = "L24";

    method(): Local { return "L26" }
  }
  return [
    first, second, text, Inner, Colour.Red,
  ].map((x) => {
    return String(x) + "L31";
  });
}
"#;
    let lib = "\n\nexport const lib = (x: string) => {\n  return x + \"L4\";\n};\n";
    let check = |linked: &Linked, file: &str, source: &str| {
        for at in source.match_indices("\"L").map(|(at, _)| at + 2).chain(source.match_indices("`L").map(|(at, _)| at + 2)) {
            let number: String = source[at..].chars().take_while(char::is_ascii_digit).collect();
            let text = format!("L{number}");
            let inside = |(number, line): (usize, &str)| line.find(&text).map(|column| (number as u32 + 1, column as u32));
            let (line, column) = linked.program.lines().enumerate().find_map(inside).unwrap();
            let found = linked.map.find(line, column).map(|(file, line, _)| (file.to_owned(), line.to_string()));
            assert_eq!(found, Some((file.to_owned(), number)), "{text}\n{}", linked.program);
        }
    };
    let alone = linked(&[("app/handler.ts", &entry.replace("import { lib } from './lib';", "declare const lib: any;"))]);
    check(&alone, "app/handler.ts", entry);

    let both = linked(&[("app/handler.ts", entry), ("app/lib.ts", &lib.replace("L4", "L94").replace("\n\n", &"\n".repeat(92)))]);
    check(&both, "app/lib.ts", "\"L94\"");
    check(&both, "app/handler.ts", entry);
    assert_eq!(both.files, [Path::new("app/handler.ts"), Path::new("app/lib.ts")]);
    assert_eq!(both.exports, ["default"]);

    let members = "const dec = (_: any, context: any): any => {};\nclass A {\n  @dec\n  accessor\n    x = \"L5\"\n  accessor y =\n    \"L7\"\n  \
                   @dec @dec\n  m() { return \"L9\" }\n}\nexport default () => [new A(), import(\"./lib\"), \"L11\"]";
    let lowered = linked(&[("app/handler.ts", members), ("app/lib.ts", &lib.replace("L4", "L94").replace("\n\n", &"\n".repeat(92)))]);
    check(&lowered, "app/lib.ts", "\"L94\"");
    check(&lowered, "app/handler.ts", members);
}

/// The programs of small scripts, to the letter.
#[test]
fn small_programs_are_flat() {
    let cases: &[(&[File<'_>], &str)] = &[
        (
            &[("a.ts", "export default function (payload: { a: number }) {\n  return payload.a;\n}\n")],
            "(function (host) { \"use strict\"; function a_default(payload) {\n\treturn payload.a;\n}\nreturn { __proto__: null, default: a_default };\n})\n",
        ),
        (
            &[(
                "a.ts",
                "import { success, type Handler } from 'millrace';\nconst handler: Handler<'a'> = () => success();\nexport default handler;",
            )],
            "(function (host) { \"use strict\"; const { success } = host; const handler = () => success();\nconst a_default = handler;\nreturn { __proto__: null, default: a_default };\n})\n",
        ),
        (
            &[("a.ts", "export let n = await 0;\nn++;")],
            "(async function (host) { \"use strict\"; let n = await 0;\nn++;\nreturn { __proto__: null, get n() { return n; } };\n})\n",
        ),
        (
            &[("a.ts", "using a: Disposable = null;\nawait using b = null;\nexport const c = 1")],
            "(async function (host) { \"use strict\"; using a = null;\nawait using b = null;\nconst c = 1;\nreturn { __proto__: null, c };\n})\n",
        ),
    ];
    for (files, expected) in cases {
        assert_eq!(linked(files).program, *expected);
    }
}

#[test]
fn the_same_files_give_the_same_program() {
    let files: &[File<'_>] = &[
        ("x/a.ts", "import { f } from './b'; import * as c from './c'; const f1 = 1; export default () => [f(), c, f1]"),
        ("x/b.ts", "const f1 = 2, f2 = 3, f3 = 4; export const f = () => [f1, f2, f3]"),
        ("x/c.ts", "export const f1 = 5; export * from './b'"),
    ];
    let first = linked(files);
    for _ in 0..5 {
        assert_eq!(linked(files), first);
    }
    assert!(!first.program.contains("/tmp"), "{}", first.program);
}

#[test]
fn code_that_is_nested_too_deeply_is_refused_with_its_place() {
    let many = |text: &str, count: usize| text.repeat(count);
    let texts = [
        format!("export default () => {}{};\n", many("[", 5000), many("]", 5000)),
        format!("export default () => {}1;\n", many("!", 100_000)),
        format!("export default () => 1{};\n", many("+1", 100_000)),
        format!("export default () => {}1{};\n", many("`${", 20_000), many("}`", 20_000)),
        format!("export default () => a{};\n", many(".b", 100_000)),
        format!("export default {}1;\n", many("a => ", 50_000)),
        format!("export default () => {{ {} b }};\n", many("if (a) b; else ", 50_000)),
        format!("export default () => 1;\ntype A = {}B{};\n", many("A<", 50_000), many(">", 50_000)),
    ];
    for text in texts {
        let folder = app(&[("a.ts", "import b from './b.ts';\nexport default b;\n"), ("b.ts", &text)]);
        let found = link(folder.path(), Path::new("a.ts")).unwrap_err();
        let [diagnostic] = found.iter().filter(|found| found.message.contains("nested")).collect::<Vec<_>>()[..] else {
            panic!("{found:?}")
        };
        assert_eq!(diagnostic.message, "the code is nested more than 1000 levels deep here", "{}", &text[..60]);
        assert_eq!(diagnostic.file, Path::new("b.ts"));
        assert!(diagnostic.column > 1000, "{diagnostic:?}");
    }
}

#[test]
fn what_is_just_not_too_deep_is_linked() {
    let many = |text: &str, count: usize| text.repeat(count);
    for text in [
        format!("{}{}", many("[", 980), many("]", 980)),
        format!("{}1", many("!", 980)),
        format!("1{}", many("+1", 980)),
        format!("{}1{}", many("`${", 980), many("}`", 980)),
        format!("({}1)", many("a => ", 980)),
        format!("{{ {} return 1; }}", many("if (a) b; else ", 450)),
    ] {
        linked(&[("a.ts", &format!("declare const a: any, b: any;\nexport default () => {text};\n"))]);
    }
}
