//! Commands of Redis: their arguments, and what is wrong with them.

#![allow(clippy::expect_used, clippy::panic, reason = "what fails here is the test")]

use millrace_bundler::statement::compile_command;
use millrace_core::app::{Access, Bind, Input, InputKind, Literal, Part, Pattern, Piece};
use millrace_test_kit::made;

fn input(name: &str, kind: InputKind, items: Option<InputKind>) -> Input {
    Input { items: items.map(|kind| Box::new(made::input("", kind))), ..made::input(name, kind) }
}

fn inputs() -> Vec<Input> {
    vec![
        input("s", InputKind::String, None),
        input("n", InputKind::Int, None),
        input("list", InputKind::Array, Some(InputKind::String)),
        input("o", InputKind::Object, None),
        Input { pattern: Pattern::parse("^[a-z]+$").ok(), ..input("id", InputKind::String, None) },
        Input { allowed: vec![Literal("EX".into()), Literal("PX".into())], ..input("unit", InputKind::String, None) },
    ]
}

/// The arguments, and whether the command reads.
fn compiled(text: &str, allow: &str) -> (String, Access) {
    let compiled = compile_command(text, &inputs(), allow).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    assert_eq!(compiled.warnings, [], "{text}");
    let shown = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Bind(Bind::Value { source, .. }) => format!("<{source}>"),
        Part::Bind(Bind::Composed(pieces)) => pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Source(source) => format!("<{source}>"),
                Piece::Env(name) => format!("<env.{name}>"),
            })
            .collect(),
        Part::BindEach { source, .. } => format!("<{source}…>"),
        other => panic!("{other:?}"),
    };
    (compiled.statement.parts.iter().map(shown).collect::<Vec<_>>().join("|"), compiled.statement.access)
}

#[test]
fn a_command_is_cut_into_arguments() {
    use Access::{Read, Write};
    for (text, expected, access) in [
        ("GET user:{{ inputs.s }}", "GET|user:<inputs.s>", Read),
        ("get \"{{ inputs.s }}\"", "get|<inputs.s>", Read),
        ("SET {{ inputs.s }} 'a b' EX {{ inputs.n }}\n", "SET|<inputs.s>|a b|EX|<inputs.n>", Write),
        ("SET k {{ inputs.s }}{{ inputs.n }}", "SET|k|<inputs.s><inputs.n>", Write),
        ("SET k \"\"", "SET|k|", Write),
        ("SET k \"\\x00\\n\"", "SET|k|\0\n", Write),
        ("SET {{ env.PREFIX }}:k {{ env.PREFIX }}", "SET|<env.PREFIX>:k|<env.PREFIX>", Write),
        ("DEL {{ inputs.list }}", "DEL|<inputs.list…>", Write),
        ("SET k \"{{ inputs.list }}\"", "SET|k|<inputs.list>", Write),
        ("SET k {{ inputs.o }}", "SET|k|<inputs.o>", Write),
        ("GET {{ auth.claims.org }}:{{ ctx.x }}", "GET|<auth.claims.org>:<ctx.x>", Read),
        ("LPUSH l {{ auth.roles }}", "LPUSH|l|<auth.roles…>", Write),
        ("ZADD z {{ inputs.n }} {{ inputs.s }}", "ZADD|z|<inputs.n>|<inputs.s>", Write),
        ("XREAD COUNT {{ inputs.n }} STREAMS {{ inputs.s }} 0", "XREAD|COUNT|<inputs.n>|STREAMS|<inputs.s>|0", Read),
        ("XGROUP CREATE {{ inputs.s }} g 0", "XGROUP|CREATE|<inputs.s>|g|0", Write),
        ("SORT l BY w_*\n  GET o_*", "SORT|l|BY|w_*|GET|o_*", Write),
        ("SET k {{ '{{' }}x", "SET|k|{{x", Write),
        ("SET k v {{ inputs.unit }} {{ inputs.n }}", "SET|k|v|<inputs.unit>|<inputs.n>", Write),
        ("XADD x MAXLEN ~ {{ inputs.n }} * {{ inputs.list }}", "XADD|x|MAXLEN|~|<inputs.n>|*|<inputs.list…>", Write),
        ("XREAD STREAMS {{ inputs.list }} 0", "XREAD|STREAMS|<inputs.list…>|0", Read),
        ("ZUNION 2 a {{ inputs.s }} WEIGHTS 1 {{ inputs.s }}", "ZUNION|2|a|<inputs.s>|WEIGHTS|1|<inputs.s>", Read),
        ("SCAN {{ inputs.n }} MATCH user:{{ inputs.id }}:*", "SCAN|<inputs.n>|MATCH|user:<inputs.id>:*", Read),
        ("SCAN 0 MATCH {{ inputs.n }}:{{ auth.claims.org }}:{{ env.X }}:*", "SCAN|0|MATCH|<inputs.n>:<auth.claims.org>:<env.X>:*", Read),
    ] {
        assert_eq!(compiled(text, ""), (expected.to_owned(), access), "{text}");
    }
    assert_eq!(compiled("KEYS {{ inputs.id }}*", "KEYS").1, Read);
    assert_eq!(compiled("EVAL \"return ARGV[1]\" 0 {{ inputs.s }}", "EVAL").1, Write);
    assert_eq!(compiled("EVAL_RO \"return 1\" 0", "EVAL_RO").1, Read);
    assert_eq!(compiled("FT.SEARCH idx {{ inputs.s }}", "FT.SEARCH").1, Write);
}

#[test]
fn what_is_wrong_is_named_at_its_place() {
    for (text, place, message, help) in [
        ("", "", "the statement is empty", "write one command"),
        ("  \n", "  \n", "the statement is empty", "write one command"),
        ("SET k \"a", "\"", "the quote that starts here is not closed in the command", "close it"),
        ("SET k \"a\"{{ inputs.s }}", "\"a\"{{ inputs.s }}", "a closing quote is followed by more text", "put a space"),
        ("{{ inputs.s }} k", "{{ inputs.s }}", "`{{ inputs.s }}` is the command's name, which must be written out", "a tool for each"),
        ("G{{ inputs.s }} k", "G{{ inputs.s }}", "is the command's name", "a tool for each"),
        ("XGROUP {{ inputs.s }} k g 0", "{{ inputs.s }}", "is the sub-command of `XGROUP`", "a tool for each sub-command"),
        ("CONFIG {{ inputs.s }} x", "{{ inputs.s }}", "is the sub-command of `CONFIG`", "a tool for each sub-command"),
        ("GTE k", "GTE", "the command `GTE` is not known", "allow: [GTE]"),
        ("flushall", "flushall", "the command `FLUSHALL` is for those who administer the server", "allow: [FLUSHALL]"),
        ("BLPOP k 0", "BLPOP", "the command `BLPOP` waits on the server, which no call may", "`LPOP`"),
        ("SELECT 1", "SELECT", "changes the connection", "a statement is one command"),
        ("XREAD BLOCK 0 STREAMS k 0", "XREAD", "`XREAD … BLOCK` waits", "does not wait"),
        ("GET a b", "GET a b", "`GET` takes 1 argument, and has 2 here", "in quotes"),
        ("SET k", "SET k", "`SET` takes at least 2 arguments, and has 1 here", "one command"),
        ("XGROUP CREATE k", "XGROUP CREATE k", "`XGROUP CREATE` takes at least 3 arguments, and has 1 here", "one command"),
        ("GETRANGE a b {{ inputs.list }} c d e", "GETRANGE a b {{ inputs.list }} c d e", "`GETRANGE` takes 3 arguments", "one command"),
        (
            "SET k v {{ inputs.s }}",
            "{{ inputs.s }}",
            "is in a place where `SET` accepts options, and its value could be read as one",
            "`EX {{ inputs.seconds }}`",
        ),
        ("SET k v EX {{ inputs.n }} {{ inputs.s }}", "{{ inputs.s }}", "accepts options", "is written out"),
        ("ZADD z {{ inputs.s }} m", "{{ inputs.s }}", "accepts options", "as `int` or `float`"),
        ("SET {{ inputs.list }} v", "{{ inputs.list }}", "accepts options", "write each argument out"),
        ("SORT k {{ inputs.list }}", "{{ inputs.list }}", "accepts options", "write each argument out"),
        ("SORT k GET {{ inputs.list }}", "{{ inputs.list }}", "accepts options", "write each argument out"),
        ("SORT k LIMIT {{ inputs.list }}", "{{ inputs.list }}", "accepts options", "write each argument out"),
        ("SET k v EX {{ inputs.list }}", "{{ inputs.list }}", "accepts options", "write each argument out"),
        ("ZRANGE k 0 1 LIMIT {{ inputs.list }}", "{{ inputs.list }}", "accepts options", "write each argument out"),
        ("GEOSEARCH k FROMLONLAT {{ inputs.list }} BYRADIUS 1 km ASC", "{{ inputs.list }}", "accepts options", "write each argument out"),
        ("ZUNIONSTORE d 2 {{ inputs.list }}", "{{ inputs.list }}", "`ZUNIONSTORE` accepts options", "write each argument out"),
        (
            "ZUNIONSTORE d {{ inputs.n }} a {{ inputs.s }}",
            "{{ inputs.n }}",
            "says how many arguments of `ZUNIONSTORE` follow before its options, and must be written out",
            "`2 {{ inputs.a }} {{ inputs.b }}`",
        ),
        ("HEXPIRE k 9 FIELDS {{ inputs.n }} {{ inputs.list }}", "{{ inputs.n }}", "must be written out", "write the number out"),
        ("BITFIELD k {{ inputs.list }}", "{{ inputs.list }}", "accepts options", "write each argument out"),
        ("XCLAIM k g c 0 {{ inputs.list }}", "{{ inputs.list }}", "accepts options", "write each argument out"),
        ("XGROUP CREATE k g $ {{ inputs.s }}", "{{ inputs.s }}", "`XGROUP CREATE` accepts options", "is written out"),
        ("SET k v {{ inputs.unit }} {{ inputs.s }}", "{{ inputs.s }}", "accepts options", "is written out"),
        (
            "SCAN 0 MATCH user:{{ inputs.s }}:*",
            "user:{{ inputs.s }}:*",
            "`{{ inputs.s }}` is in a pattern of `SCAN`, and a `*` in its value would match what others keep",
            "`pattern: \"^[A-Za-z0-9_-]+$\"`",
        ),
        ("SORT l GET {{ inputs.s }}", "{{ inputs.s }}", "in a pattern of `SORT`", "`enum`"),
        ("HSCAN h 0 MATCH {{ inputs.o }}", "{{ inputs.o }}", "in a pattern of `HSCAN`", "`enum`"),
        ("GET k:{{ inputs.list }}", "{{ inputs.list }}", "is a list, and part of an argument", "as a whole argument"),
        ("GET {{ inputs.s | keyword }}", "{{ inputs.s | keyword }}", "and a command takes none", "remove the filter"),
        ("GET {{ env.X | raw }}", "{{ env.X | raw }}", "and a command takes none", "remove the filter"),
        ("GET {{ inputs.none }}", "{{ inputs.none }}", "input `none` is not declared", "declare it"),
        ("GET {{ secret.x }}", "{{ secret.x }}", "has no value in a statement", "secrets stand in adapters"),
        ("GET {{ inputs.s", "{{", "not closed", "close it"),
    ] {
        let problems = compile_command(text, &inputs(), "").unwrap_err();
        let problem = &problems[0];
        assert_eq!(&text[problem.range.clone()], place, "{text}: {}", problem.message);
        assert!(problem.message.contains(message), "{text}: {}", problem.message);
        assert!(problem.help.as_deref().unwrap_or_default().contains(help), "{text}: {:?}", problem.help);
    }
    for (text, message) in [
        ("EVAL {{ inputs.s }} 0", "`{{ inputs.s }}` is the code of `EVAL`: whoever calls the tool could run any"),
        ("EVAL \"return {{ inputs.s }}\" 0", "is the code of `EVAL`"),
        ("FCALL {{ inputs.s }} 0", "is the code of `FCALL`"),
        ("SCRIPT LOAD {{ inputs.s }}", "is the code of `SCRIPT`"),
        ("FUNCTION LOAD {{ inputs.s }}", "is the code of `FUNCTION`"),
    ] {
        let problems = compile_command(text, &inputs(), "EVAL,FCALL,SCRIPT,FUNCTION").unwrap_err();
        assert!(problems[0].message.contains(message), "{text}: {problems:?}");
    }
    assert_eq!(compile_command("GET {{ inputs.a }} {{ inputs.b }}", &inputs(), "").unwrap_err().len(), 2, "all at once");
}

#[test]
fn a_second_command_is_doubted() {
    let compiled = compile_command("DEL a\nDEL b", &inputs(), "").unwrap();
    assert_eq!(compiled.warnings[0].message, "`DEL` begins a line and is an argument of `DEL`");
    assert_eq!(compiled.warnings[0].range, 6..9);
    assert_eq!(compile_command("DEL a\n\"DEL\" b", &inputs(), "").unwrap().warnings, []);
    assert_eq!(compile_command("DEL a\n  b", &inputs(), "").unwrap().warnings, []);
}
