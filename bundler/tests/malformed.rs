//! Apps that went wrong in every way that a generator thinks of: each gives errors or an app, none
//! a crash.

use std::fs;

use crate::support::{options, split};
use millrace_bundler::{Severity, bundle, render};

/// A small deterministic generator (xorshift64*).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap_or(0) % sides.max(1)
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.roll(from.len())]
    }
}

const NASTY: [&[u8]; 26] = [
    b"\t",
    b"\0",
    b"\xff",
    b"\xc3",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"'",
    b": ",
    b"- ",
    b"&a ",
    b"*a",
    b"!x ",
    b"|",
    b">",
    b"#",
    b"%",
    b"\r",
    b"{{",
    b"}}",
    b"---\n",
    b"<<: ",
    b"\xe2\x80\xa8",
    b"\xef\xbb\xbf",
];
const VALUES: [&str; 22] = [
    "",
    "~",
    "true",
    "7",
    "-1",
    "1e999",
    ".nan",
    "99999999999999999999",
    "[]",
    "{}",
    "[[[]]]",
    "{ a: b }",
    "\"\"",
    "text",
    "../../..",
    "/etc/passwd",
    "./x.ts#y",
    "{{ env.X }}",
    "{{ inputs.nope }}",
    "&a [*a]",
    "!!binary x",
    "\"\\u0000\"",
];
const KEYS: [&str; 14] =
    ["name", "use", "statement", "inputs", "type", "auth", "policy", "items", "fields", "default", "enum", "messages", "uri", "middleware"];

fn mutate(files: &mut Vec<(String, Vec<u8>)>, dice: &mut Dice) {
    let index = dice.roll(files.len());
    let donor = files[dice.roll(files.len())].1.clone();
    let count = files.len();
    let Some((path, text)) = files.get_mut(index) else { return };
    let at = dice.roll(text.len() + 1);
    let lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let line = dice.roll(lines.len());
    let mut edited = lines.clone();
    match dice.roll(15) {
        0 => drop(text.drain(at..(at + 1 + dice.roll(9)).min(text.len()))),
        1 | 2 => drop(text.splice(at..at, dice.pick(&NASTY).iter().copied())),
        3 if text.len() > 1 => {
            let (a, b) = (dice.roll(text.len()), dice.roll(text.len()));
            text.swap(a, b);
        }
        4 => text.truncate(at),
        5 => *text = donor,
        6 => text.extend(donor),
        7 if count > 1 => drop(files.remove(index)),
        8 => *path = format!("app/tools/{}/config.yaml", dice.pick(&["find", "x", "9", "a b", "ü"])),
        other => {
            match other {
                9 => drop(edited.remove(line)),
                10 => edited.insert(dice.roll(edited.len()), lines[line].clone()),
                11 => edited[line].splice(0..0, b"  ".iter().copied()).for_each(drop),
                12 => {
                    if let Some(colon) = edited[line].windows(2).position(|pair| pair == b": ") {
                        edited[line].truncate(colon + 2);
                        edited[line].extend(dice.pick(&VALUES).bytes());
                    }
                }
                13 => {
                    if let Some(colon) = edited[line].iter().position(|byte| *byte == b':') {
                        let start = edited[line].iter().position(|byte| *byte != b' ').unwrap_or(0).min(colon);
                        edited[line].splice(start..colon, dice.pick(&KEYS).bytes()).for_each(drop);
                    }
                }
                _ => {
                    let random: Vec<u8> = (0..dice.roll(60)).map(|_| dice.roll(256).to_le_bytes()[0]).collect();
                    edited[line] = random;
                }
            }
            *text = edited.join(&b'\n');
        }
    }
}

#[test]
fn malformed_apps_give_errors_or_an_app() {
    let bases =
        [include_str!("good.txt"), include_str!("cases/hyperterse-tool.txt"), include_str!("cases/hyperterse-prompts-resources.txt")];
    let mut dice = Dice(0x006D_696C_6C72_6163);
    let mut broken = 0;
    for round in 0..360 {
        let (files, _) = split(bases[round % bases.len()]);
        let mut files: Vec<(String, Vec<u8>)> =
            files.into_iter().map(|(path, text)| (path.to_owned(), format!("{text}\n").into_bytes())).collect();
        for _ in 0..=dice.roll(4) {
            mutate(&mut files, &mut dice);
        }
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in &files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let report = bundle(folder.path(), &options());
        let errors = report.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
        assert_eq!(report.app.is_none(), errors > 0, "round {round}: {:?}", report.diagnostics);
        broken += usize::from(errors > 0);
        for found in &report.diagnostics {
            assert!(found.line > 0 && found.column > 0 && !found.message.is_empty(), "round {round}: {found:?}");
            assert!(found.file.is_relative(), "round {round}: {found:?}");
        }
        let words = render(folder.path(), &report.diagnostics, round % 2 == 0);
        assert_eq!(words.is_empty(), report.diagnostics.is_empty());
        if let Some(app) = report.app {
            let bytes = app.to_bundle().unwrap();
            assert_eq!(millrace_core::app::App::from_bundle(&bytes).unwrap().to_bundle().unwrap(), bytes);
        }
    }
    assert!(broken >= 200, "only {broken} of the apps are broken: the generator is too kind");
}

#[test]
fn huge_and_odd_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("millrace.yaml", b"name: shop\n");
    write("app/adapters/huge.yaml", &vec![b'#'; (1 << 20) + 1]);
    write("app/adapters/latin.yaml", b"connector: sqlite\nconnection_string: \"caf\xe9\"\n");
    write("app/adapters/bom.yaml", b"\xef\xbb\xbfconnector: sqlite\nconnection_string: x\nodd: 1\n");
    write("app/adapters/utf16.yaml", b"\xff\xfec\0o\0");
    write("app/adapters/empty.yaml", b"");
    write("app/adapters/nul.yaml", b"connector: \0\n");
    fs::create_dir_all(folder.path().join("app/tools/x/config.yaml")).unwrap();
    let told: Vec<String> = bundle(folder.path(), &options())
        .diagnostics
        .iter()
        .map(|found| format!("{}:{}:{} {}", found.file.display(), found.line, found.column, found.message))
        .collect();
    for expected in [
        "app/adapters/huge.yaml:1:1 `app/adapters/huge.yaml` is longer than 1 MB",
        "app/adapters/latin.yaml:2:24 the file is not UTF-8 from here on",
        "app/adapters/bom.yaml:3:1 `odd` is not a key of an adapter",
        "app/adapters/utf16.yaml:1:1 the file is not UTF-8 from here on",
        "app/adapters/empty.yaml:1:1 `connector` is missing",
    ] {
        assert!(told.iter().any(|line| line == expected), "{expected} is not in\n{}", told.join("\n"));
    }
    assert!(told.iter().any(|line| line.starts_with("app/adapters/nul.yaml")), "{}", told.join("\n"));
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let report = bundle(std::path::Path::new("/no/such/folder"), &options());
    assert!(report.app.is_none());
    assert_eq!(report.diagnostics[0].message, "the folder `/no/such/folder` does not exist");
}

#[test]
fn files_with_thousands_of_mistakes_are_told_in_bounds() {
    let many_keys: String = (0..40_000).map(|index| format!("k{index}: 1\n")).collect();
    let same_key = "name: x\n".repeat(40_000);
    let statement = format!("description: x\nuse: main\nstatement: \"SELECT {}1\"\n", "{{ inputs.x }}, ".repeat(20_000));
    let long_name = format!("{}: 1\n", "x".repeat(100_000));
    let files = [
        ("millrace.yaml", "name: shop"),
        ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: x.db"),
        ("app/adapters/long.yaml", long_name.as_str()),
        ("app/tools/a/config.yaml", many_keys.as_str()),
        ("app/tools/b/config.yaml", same_key.as_str()),
        ("app/tools/c/config.yaml", statement.as_str()),
    ];
    let folder = tempfile::tempdir().unwrap();
    crate::support::write(folder.path(), &files);
    let report = bundle(folder.path(), &options());
    assert!(report.app.is_none());
    assert_eq!(report.diagnostics.len(), 1001);
    assert!(report.diagnostics.last().unwrap().message.ends_with("more problems are not shown"));
    assert!(report.diagnostics.iter().all(|found| found.message.chars().count() <= 401));
    let words = render(folder.path(), &report.diagnostics, false);
    assert!(words.len() < 1 << 20, "{} bytes", words.len());
}
