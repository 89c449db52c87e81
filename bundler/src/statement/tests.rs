use millrace_core::app::Input;

use super::*;

/// Shards of statements in which literals, comments and names open and close at any place.
const SHARDS: &[&str] = &[
    "SELECT ",
    " ",
    "\n",
    "{{ inputs.x }}",
    "{{ inputs.x }}",
    "'",
    "''",
    "\"",
    "`",
    "[",
    "]",
    "(",
    ")",
    ", ",
    ".",
    "--",
    "-",
    "/*",
    "*/",
    "/",
    "*",
    "#",
    "$",
    "$$",
    "$x$",
    "::",
    ":",
    "@",
    "\\",
    "E'",
    "N'",
    "U&'",
    "_utf8mb4",
    "DATE",
    "INTERVAL ",
    " IS NULL",
    " FROM t",
    "1",
    "1e",
    "a",
    "é",
    "=",
    "|",
    "<",
];

#[test]
fn every_parameter_is_a_parameter_to_the_database_too() {
    let mut seed = 5_u64;
    let mut compiled = 0;
    for round in 0..20_000 {
        let text: String = (0..3 + round % 12)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                SHARDS[(seed >> 33) as usize % SHARDS.len()]
            })
            .collect();
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::MySql, Dialect::ClickHouse, Dialect::PartiQl] {
            let (pieces, problems) = placeholder::scan(&text);
            if !problems.is_empty() {
                continue;
            }
            let masked = MaskedStatement::new(&text, pieces);
            let Ok(all) = dialect.lex(&masked.text) else { continue };
            let tokens = Tokens::new(&masked, all);
            let input = Input {
                name: "x".to_owned(),
                kind: millrace_core::app::InputKind::String,
                optional: false,
                nullable: false,
                default: None,
                allowed: Vec::new(),
                min: None,
                max: None,
                pattern: None,
                format: None,
                items: None,
                fields: Vec::new(),
                header: None,
            };
            let lowered = lower::lower(&tokens, dialect, std::slice::from_ref(&input).into());
            if !lowered.problems.is_empty() {
                continue;
            }
            let statement = assemble(lowered.fragments, dialect, Access::Write);
            let binds = statement.parts.iter().filter(|part| matches!(part, Part::Bind(_))).count();
            let finished = statement.text.expect("nothing depends on the call");
            let again = dialect.lex(&finished).unwrap_or_else(|unclosed| panic!("{text:?} became {finished:?}: {unclosed:?}"));
            let parameters = again.iter().filter(|token| token.kind == Kind::Parameter).count();
            assert_eq!(parameters, binds, "{dialect:?}: {text:?} became {finished:?}");
            compiled += usize::from(binds > 0);
        }
    }
    assert!(compiled > 1_000, "only {compiled} had a parameter");
}

/// What drivers refuse at each call is said by the build, at its place, with a remedy.
#[test]
fn what_no_connector_sends_is_refused() {
    let inputs: &[Input] = &[];
    let cases = [
        (Dialect::Sqlite, "-- a\nATTACH 'x' AS y", "connectors of SQLite do not run `ATTACH`", "ATTACH"),
        (Dialect::Sqlite, "PRAGMA journal_mode = WAL", "connectors of SQLite do not run `PRAGMA journal_mode`", "PRAGMA"),
        (Dialect::Postgres, "LISTEN orders", "connectors of PostgreSQL do not run `LISTEN`", "LISTEN"),
        (Dialect::Postgres, " /* a */ create temp table t (v int)", "connectors of PostgreSQL do not run `CREATE TEMP`", "create"),
        (
            Dialect::MySql,
            "SELECT 1, found_rows()",
            "connectors of MySQL do not run `FOUND_ROWS()`: the statement before it was another call's",
            "found_rows",
        ),
        (Dialect::MySql, "SELECT 1 INTO OUTFILE '/tmp/x'", "connectors of MySQL do not run `INTO OUTFILE`", "OUTFILE"),
        (
            Dialect::MySql,
            "(SELECT @@identity)",
            "connectors of MySQL do not run `@@identity`: the statement before it was another call's",
            "identity",
        ),
    ];
    for (dialect, text, message, place) in cases {
        let problems = compile(text, dialect, Substitution::Bind, inputs).unwrap_err();
        let [problem] = problems.as_slice() else { panic!("{text}: {problems:?}") };
        assert_eq!((problem.message.as_str(), &text[problem.range.clone()]), (message, place), "{text}");
        assert!(problem.help.as_ref().is_some_and(|help| !help.is_empty()), "{text}");
    }
    let runs = [
        (Dialect::Sqlite, "SELECT 'ATTACH' AS attach, name FROM pragma_table_info('t')"),
        (Dialect::Postgres, "SELECT listen FROM \"SET\" WHERE note = 'COPY'"),
        (Dialect::MySql, "SELECT `outfile`, 'INTO OUTFILE' FROM t"),
    ];
    let step = |text| {
        compile(text, Dialect::MySql, Substitution::Bind, Names { inputs, steps: &[], is_step: true })
            .map_err(|problems| problems[0].message.clone())
    };
    assert!(compile("SELECT LAST_INSERT_ID()", Dialect::MySql, Substitution::Bind, inputs).is_err());
    assert!(step("SELECT LAST_INSERT_ID()").is_ok());
    let commits = "connectors of MySQL do not run `DROP` in a `transaction`, because MySQL commits it by itself";
    assert_eq!(step("DROP TABLE t").map(drop), Err(commits.to_owned()));
    for (dialect, text) in runs {
        assert!(compile(text, dialect, Substitution::Bind, inputs).is_ok(), "{text}");
    }
}
