//! The statement compiler, case by case and dialect by dialect.

#![allow(clippy::expect_used, clippy::panic, reason = "what fails here is the test")]

use millrace_bundler::statement::{Compiled, Dialect, Substitution, compile};
use millrace_core::app::{Access, Bind, Input, InputKind, Literal, Part, Piece, Root, Source};
use millrace_test_kit::made::input;
use serde_json::json;

fn choice(name: &str, allowed: &[&str]) -> Input {
    Input { allowed: allowed.iter().map(|text| Literal(json!(text))).collect(), ..input(name, InputKind::String) }
}

/// The inputs of every case.
fn inputs() -> Vec<Input> {
    let list = |name, kind| Input { items: Some(Box::new(input("", kind))), ..input(name, InputKind::Array) };
    vec![
        input("id", InputKind::Int),
        input("q", InputKind::String),
        input("user-name", InputKind::String),
        input("price", InputKind::Float),
        input("flag", InputKind::Boolean),
        input("at", InputKind::Datetime),
        input("day", InputKind::Date),
        input("key", InputKind::Uuid),
        input("doc", InputKind::Json),
        input("any", InputKind::Object),
        Input { fields: vec![input("city", InputKind::String)], ..input("address", InputKind::Object) },
        list("ids", InputKind::Int),
        list("names", InputKind::String),
        input("bag", InputKind::Array),
        choice("sort", &["name", "orders.created_at", "we\"ird`"]),
        choice("dir", &["ASC", "DESC NULLS LAST"]),
        choice("lock", &["ASC", "ASC FOR UPDATE"]),
        choice("hostile", &["ASC; DROP TABLE t"]),
        Input { allowed: vec![Literal(json!(1))], ..input("number", InputKind::Int) },
        Input { optional: true, ..choice("maybe", &["ASC"]) },
        Input { optional: true, default: Some(Literal(json!("ASC"))), ..choice("defaulted", &["ASC"]) },
        choice("dots", &["a..b"]),
    ]
}

fn source(source: &Source) -> String {
    let root = match source.root {
        Root::Inputs => "inputs",
        Root::Ctx => "ctx",
        Root::Auth => "auth",
        Root::Results => "results",
        Root::Arguments => "arguments",
        Root::Item | Root::Items | Root::Counts => "presenter",
        Root::Steps => "steps",
    };
    format!("{root}.{}", source.path.join("."))
}

fn typed(from: &Source, kind: Option<InputKind>) -> String {
    kind.map_or_else(|| source(from), |kind| format!("{}:{}", source(from), kind.as_str()))
}

fn show(compiled: &Compiled) -> String {
    let statement = &compiled.statement;
    let shown: String = statement
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Env(name) => format!("«raw env {name}»"),
            Part::EnvIdent(name) => format!("«name env {name}»"),
            Part::Bind(Bind::Value { source, kind }) => format!("«{}»", typed(source, *kind)),
            Part::Bind(Bind::Composed(pieces)) => {
                let pieces: Vec<_> = pieces
                    .iter()
                    .map(|piece| match piece {
                        Piece::Text(text) => format!("{text:?}"),
                        Piece::Source(from) => source(from),
                        Piece::Env(name) => format!("env {name}"),
                    })
                    .collect();
                format!("«{}»", pieces.join(" + "))
            }
            Part::BindEach { source, kind, empty } => format!("«each {} or {empty}»", typed(source, *kind)),
            Part::Choice { source: from, options } => {
                let options: Vec<_> = options.iter().map(|(value, text)| format!("{value}→{text}")).collect();
                format!("«{}: {}»", source(from), options.join(", "))
            }
            Part::ChoiceEach { source: from, options } => {
                let options: Vec<_> = options.iter().map(|(value, text)| format!("{value}→{text}")).collect();
                format!("«each of {}: {}»", source(from), options.join(", "))
            }
            Part::Textual(from) => format!("«textual {}»", source(from)),
        })
        .collect();
    let access = if statement.access == Access::Read { 'r' } else { 'w' };
    let doubt = compiled.doubt.as_ref().map(|doubt| &doubt.warning);
    let warnings: String = compiled.warnings.iter().chain(doubt).map(|warning| format!("\n? {}", warning.message)).collect();
    format!("{access} {shown}{warnings}")
}

fn outcome(text: &str, dialect: Dialect) -> String {
    match compile(text, dialect, Substitution::Bind, &inputs()) {
        Ok(compiled) => show(&compiled),
        Err(problems) => problems
            .iter()
            .map(|problem| {
                let help = problem.help.as_deref().unwrap_or("no help");
                format!("! {} | {} | {help}", &text[problem.range.clone()], problem.message)
            })
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

const DIALECTS: [(&str, Dialect); 5] = [
    ("sqlite", Dialect::Sqlite),
    ("postgres", Dialect::Postgres),
    ("mysql", Dialect::MySql),
    ("clickhouse", Dialect::ClickHouse),
    ("partiql", Dialect::PartiQl),
];

/// Compiles a case for some dialects; those that agree share one section.
fn case(text: &str, names: &[&str]) -> String {
    let mut sections: Vec<(Vec<&str>, String)> = Vec::new();
    for (name, dialect) in DIALECTS.iter().filter(|(name, _)| names.contains(name)) {
        let outcome = outcome(text, *dialect);
        match sections.iter_mut().find(|(_, known)| *known == outcome) {
            Some((names, _)) => names.push(name),
            None => sections.push((vec![name], outcome)),
        }
    }
    let sections: String = sections.iter().map(|(names, outcome)| format!("\n--- {}\n{outcome}", names.join(" "))).collect();
    format!("{text}{sections}")
}

/// `tests/statements.txt` has the cases and what becomes of them; `UPDATE_EXPECT=1` writes it anew.
/// A section starts with the dialects it is for. `r` reads, `w` writes, `?` warns, `!` refuses: the
/// place, the message and the help.
#[test]
fn cases_compile_as_written_down() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/statements.txt");
    let written = std::fs::read_to_string(path).expect("the cases");
    let found: Vec<String> = written
        .trim_end()
        .split("\n\n===\n")
        .map(|block| {
            let (text, sections) = block.split_once("\n--- ").expect("a section");
            let names: Vec<&str> = format!("\n--- {sections}")
                .split("\n--- ")
                .skip(1)
                .flat_map(|section| section.lines().next().unwrap_or_default().split(' ').map(str::to_owned).collect::<Vec<_>>())
                .map(|name| DIALECTS.iter().find(|(known, _)| *known == name).expect("a dialect").0)
                .collect();
            case(text, &names)
        })
        .collect();
    let found = found.join("\n\n===\n") + "\n";
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, found).expect("written");
        return;
    }
    for (written, found) in written.trim_end().split("\n\n===\n").zip(found.trim_end().split("\n\n===\n")) {
        assert_eq!(found, written);
    }
}

#[test]
fn textual_substitution_is_said_to_be_dangerous() {
    let compile = |text| compile(text, Dialect::Sqlite, Substitution::Textual, &inputs());
    let compiled = compile("SELECT * FROM {{ inputs.q }} WHERE a = '{{ inputs.q }}' /* {{ env.X }} */ ORDER BY {{ inputs.dir | keyword }}")
        .expect("textual");
    assert_eq!(
        show(&compiled),
        "w SELECT * FROM «textual inputs.q» WHERE a = '«textual inputs.q»' /* «raw env X» */ ORDER BY «inputs.dir: ASC→ASC, DESC NULLS LAST→DESC NULLS LAST»\n\
         ? with `substitution: textual` the caller's values become part of the statement: whoever calls the tool can run any SQL"
    );
    assert_eq!(compiled.statement.text, None);
    assert_eq!(show(&compile("SELECT 1").expect("no placeholder")), "r SELECT 1");
    assert_eq!(show(&compile("DELETE FROM t").expect("no placeholder")), "w DELETE FROM t");
    let problems = compile("SELECT {{ inputs.nope }}, {{ x.y }}").expect_err("undeclared");
    assert_eq!(problems.len(), 2);
}

#[test]
fn the_text_has_one_parameter_for_each_bind() {
    for (dialect, expected) in [
        (Dialect::Sqlite, "SELECT ?1, ?2, 'it''s ?' WHERE a LIKE ?3"),
        (Dialect::Postgres, "SELECT $1, $2, 'it''s ?' WHERE a LIKE $3"),
        (Dialect::MySql, "SELECT ?, ?, 'it''s ?' WHERE a LIKE ?"),
    ] {
        let text = " SELECT {{ inputs.id }}, {{ inputs.id }}, 'it''s ?' WHERE a LIKE '%{{ inputs.q }}' ";
        let compiled = compile(text, dialect, Substitution::Bind, &inputs()).expect("compiles");
        assert_eq!(compiled.statement.text.as_deref(), Some(expected));
    }
}

#[test]
fn nothing_is_refused_without_a_place_and_a_remedy() {
    for text in ["", "  ", "SELECT \0", "SELECT {{ x", ";", "SELECT 'x"] {
        let problems = compile(text, Dialect::Sqlite, Substitution::Bind, &inputs()).expect_err(text);
        for problem in problems {
            assert!(text.get(problem.range.clone()).is_some() && problem.help.is_some(), "{text}: {problem:?}");
        }
    }
}

#[test]
fn long_and_deep_statements_end() {
    for (text, understood) in [
        (format!("SELECT 1 FROM t WHERE a = {{{{ inputs.id }}}}{}", " OR a = 1".repeat(5_000)), true),
        (format!("SELECT a{} FROM t WHERE a = {{{{ inputs.id }}}}", " || a".repeat(10_000)), true),
        (format!("INSERT INTO t VALUES ({{{{ inputs.id }}}}){}", ", (1, 'x')".repeat(3_000)), true),
        (format!("SELECT {}{{{{ inputs.id }}}}{}", "(".repeat(20_000), ")".repeat(20_000)), false),
        (format!("SELECT {}{{{{ inputs.id }}}}{}", "(SELECT ".repeat(5_000), ")".repeat(5_000)), false),
        (format!("SELECT {}{{{{ inputs.id }}}}", "NOT ".repeat(20_000)), false),
        (format!("SELECT {}{{{{ inputs.id }}}}", "- ".repeat(20_000)), false),
        (format!("SELECT {}{{{{ inputs.id }}}} END", "CASE ".repeat(20_000)), false),
        (format!("SELECT 1 {}", "UNION SELECT {{ inputs.id }} ".repeat(500)), true),
    ] {
        // PartiQL has no such statements.
        for (_, dialect) in DIALECTS.into_iter().filter(|(_, dialect)| *dialect != Dialect::PartiQl) {
            let found = compile(&text, dialect, Substitution::Bind, &inputs());
            let found = found.unwrap_or_else(|problems| panic!("{}: {problems:?}", &text[..40]));
            assert_eq!(found.warnings.is_empty() && found.doubt.is_none(), understood, "{}", &text[..40]);
        }
    }
}

/// Words of statements, thrown together.
const SHARDS: &[&str] = &[
    "SELECT",
    " ",
    " ",
    " ",
    "\n",
    "FROM",
    "t",
    "WHERE",
    "a",
    "=",
    "{{ inputs.q }}",
    "{{ inputs.id }}",
    "{{ inputs.ids }}",
    "{{ env.X }}",
    "{{ ctx.y }}",
    "{{ inputs.sort | ident }}",
    "{{ inputs.dir | keyword }}",
    "'",
    "'",
    "''",
    "\"",
    "`",
    "[",
    "]",
    "(",
    ")",
    ",",
    ";",
    ".",
    "--",
    "/*",
    "*/",
    "#",
    "$",
    "$$",
    "$x$",
    "?",
    "?1",
    ":n",
    "@",
    "::",
    "\\",
    "E'",
    "N'",
    "X'",
    "U&'",
    "_utf8mb4",
    "INTERVAL",
    "DATE",
    "TIMESTAMP WITH TIME ZONE",
    "IN",
    "NOT",
    "IS",
    "NULL",
    "ORDER BY",
    "GROUP BY",
    "LIMIT",
    "VALUES",
    "INSERT INTO",
    "UPDATE",
    "SET",
    "CASE",
    "WHEN",
    "END",
    "1",
    "1e",
    "é",
    "😀",
    "{{",
    "}}",
    "CAST(",
    "AS",
    "DAY TO",
];

#[test]
fn no_statement_makes_it_panic_or_point_beside_the_text() {
    let inputs = inputs();
    let mut seed = 11_u64;
    let mut compiled = 0;
    for round in 0..6_000 {
        let text: String = (0..4 + round % 16)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                SHARDS[(seed >> 33) as usize % SHARDS.len()]
            })
            .collect();
        for (_, dialect) in DIALECTS {
            match compile(&text, dialect, Substitution::Bind, &inputs) {
                Ok(found) => {
                    compiled += 1;
                    assert!(found.warnings.iter().all(|warning| text.get(warning.range.clone()).is_some()), "{text}");
                }
                Err(problems) => {
                    assert!(!problems.is_empty(), "{text}");
                    assert!(problems.iter().all(|problem| text.get(problem.range.clone()).is_some()), "{text}: {problems:?}");
                }
            }
        }
    }
    assert!(compiled > 100, "only {compiled} statements compiled");
}
