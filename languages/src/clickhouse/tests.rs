use alloc::vec;

use super::*;

#[test]
fn what_only_reads_is_told_by_its_words() {
    for text in [
        "SELECT 1",
        " ;/* a /* INSERT */ b */ (select 1) union all select 2",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "show tables",
        "DESCRIBE TABLE t",
        "EXISTS t",
        "EXPLAIN SELECT 1",
        "SELECT t.update, `insert`, 'DELETE' FROM t # INSERT\n",
        "SELECT $a$ INSERT INTO $a$, {'insert': 1}",
    ] {
        assert!(judge(text).is_ok_and(|judged| judged.reads), "{text}");
    }
    for text in [
        "INSERT INTO t VALUES (1)",
        "WITH x AS (SELECT 1 a) INSERT INTO t SELECT a FROM x",
        "ALTER TABLE t DELETE WHERE 1",
        "DELETE FROM t WHERE 1",
        "OPTIMIZE TABLE t",
        "SYSTEM FLUSH LOGS",
        "EXPLAIN INSERT INTO t SELECT 1",
        "KILL QUERY WHERE 1",
    ] {
        assert!(judge(text).is_ok_and(|judged| !judged.reads), "{text}");
    }
}

#[test]
fn values_are_found_with_their_types() {
    let text = "SELECT {p1:Int64}, { p2 : Array(Nullable(String)) }, '{p3:Int8}', {'a': 1}, {x:Map(String, Int8)} -- {p4:Int8}";
    let judged = judge(text).unwrap();
    let found: Vec<_> = judged.parameters.iter().map(|one| (one.name, one.kind, one.number(), &text[one.range.clone()])).collect();
    assert_eq!(
        found,
        [
            ("p1", "Int64", Some(1), "Int64"),
            ("p2", "Array(Nullable(String))", Some(2), "Array(Nullable(String))"),
            ("x", "Map(String, Int8)", None, "Map(String, Int8)"),
        ]
    );
    for (name, number) in [("p01", None), ("p", None), ("p+1", None), ("q1", None), ("p12", Some(12))] {
        assert_eq!(Parameter { name, kind: "Int8", range: 0..0 }.number(), number, "{name}");
    }
}

#[test]
fn what_is_not_sent_is_named() {
    let table: [(&str, What, &str); 53] = [
        ("", What::Nothing, ""),
        (" ; -- nothing", What::Nothing, " ; -- nothing"),
        ("SELECT 'a", What::Unclosed("literal"), "'"),
        ("SELECT 'a\\'", What::Unclosed("literal"), "'"),
        ("SELECT \"a", What::Unclosed("quoted name"), "\""),
        ("/* a /* b */", What::Unclosed("comment"), "/"),
        ("SELECT $a$ x", What::Unclosed("dollar-quoted text"), "$"),
        ("SELECT 1; SELECT 2", What::Second, "SELECT"),
        ("SELECT ';'; ; DROP TABLE t", What::Second, "DROP"),
        ("SET max_threads = 1", What::OfSession("SET".into()), "SET"),
        ("use shop", What::OfSession("USE".into()), "use"),
        ("BEGIN TRANSACTION", What::OfSession("BEGIN".into()), "BEGIN"),
        ("SELECT 1 FORMAT TSV", What::Format, "FORMAT"),
        ("SELECT 1 format TSV SETTINGS max_threads = 1", What::Format, "format"),
        ("(SELECT 1 FORMAT TSV)", What::Format, "FORMAT"),
        ("INSERT INTO t FORMAT JSONEachRow {\"a\": 1}; {\"a\": 2}", What::Format, "FORMAT"),
        ("SELECT 1 INTO OUTFILE 'x'", What::ToFile, "OUTFILE"),
        ("SELECT a, count() FROM t GROUP BY a WITH TOTALS", What::Totals, "TOTALS"),
        ("SELECT 1 SETTINGS max_threads = 1, max_execution_time = 0", What::Setting("max_execution_time".into()), "max_execution_time"),
        ("SELECT 1 settings readonly=0", What::Setting("readonly".into()), "readonly"),
        (
            "SELECT * FROM (SELECT 1 SETTINGS output_format_json_quote_decimals = 0)",
            What::Setting("output_format_json_quote_decimals".into()),
            "output_format_json_quote_decimals",
        ),
        ("SELECT 1 SETTINGS max_threads = {p1:Int64}", What::SettingValue("max_threads".into()), "{p1:Int64}"),
        ("SELECT * FROM url({p1:String}, CSV)", What::Elsewhere("url".into()), "{p1:String}"),
        ("SELECT * FROM s3Cluster('c', concat('https://', {p1:String}))", What::Elsewhere("s3Cluster".into()), "{p1:String}"),
        ("INSERT INTO FUNCTION remoteSecure({p1:String}, 'a.b') VALUES (1)", What::Elsewhere("remoteSecure".into()), "{p1:String}"),
        ("SELECT `file`({p1:String})", What::Elsewhere("file".into()), "{p1:String}"),
        ("SELECT 1 SETTINGS `max_execution_time` = 0", What::Setting("max_execution_time".into()), "`max_execution_time`"),
        ("SELECT 1 SETTINGS max_threads = 1, \"readonly\" = 0", What::Setting("readonly".into()), "\"readonly\""),
        ("SELECT 1 SETTINGS final, wait_end_of_query", What::Setting("wait_end_of_query".into()), "wait_end_of_query"),
        ("SELECT 1 SETTINGS a.b = {p1:Int8}", What::SettingValue("a.b".into()), "{p1:Int8}"),
        ("SELECT 1 SETTINGS a = (1, {p1:Int8})", What::SettingValue("a".into()), "{p1:Int8}"),
        ("INSERT INTO t SETTINGS a = 1, b = {p1:Int8} VALUES (1)", What::SettingValue("b".into()), "{p1:Int8}"),
        ("WITH {p1:String} AS u SELECT * FROM url(u)", What::Alias("u".into(), "url".into()), "u"),
        ("SELECT file(`f`), {p1:String} AS f", What::Alias("f".into(), "file".into()), "`f`"),
        ("SELECT filesystems({p1:String})", What::Elsewhere("filesystems".into()), "{p1:String}"),
        ("SELECT joinGet('j', {p1:String}, 1)", What::Elsewhere("joinGet".into()), "{p1:String}"),
        ("DESCRIBE TABLE url({p1:String})", What::Elsewhere("url".into()), "{p1:String}"),
        ("SELECT eval('1'), {p1:Int8}", What::Eval, "eval"),
        ("SELECT ‘a’", What::Curly, "‘"),
        ("SELECT * FROM {p1: Identifier}", What::Identifier("p1".into()), "{p1: Identifier}"),
        ("SELECT * FROM {p1:/**/identifier}", What::Identifier("p1".into()), "{p1:/**/identifier}"),
        ("SELECT * FROM {p1:`Identifier`}", What::Identifier("p1".into()), "{p1:`Identifier`}"),
        ("SELECT * FROM {p1:/*}*/Identifier}", What::Identifier("p1".into()), "{p1:/*}"),
        ("SELECT {p1:String} u, x FROM url(u)", What::Alias("u".into(), "url".into()), "u"),
        ("SELECT {p1:String}::String u FROM url(u)", What::Alias("u".into(), "url".into()), "u"),
        ("SELECT concat({p1:String}) u FROM url(u)", What::Alias("u".into(), "url".into()), "u"),
        ("SELECT {p1:String} a, a `u` FROM url(u)", What::Alias("u".into(), "url".into()), "u"),
        ("WITH u AS (SELECT {p1:String}) SELECT * FROM url((SELECT * FROM u))", What::Alias("u".into(), "url".into()), "u"),
        ("CREATE TABLE a (x Int8) ENGINE = Memory PARALLEL WITH DROP TABLE b", What::Parallel, "PARALLEL"),
        ("SELECT 1 SETTINGS readonly UNION ALL SELECT 2", What::Setting("readonly".into()), "readonly"),
        ("SELECT {p1:Int8} SETTINGS final, max_threads = {p2:Int8}", What::SettingValue("max_threads".into()), "{p2:Int8}"),
        ("SELECT 1 -- a\n; SELECT 2", What::Second, "SELECT"),
        ("SELECT 1 # a\n; SELECT 2", What::Second, "SELECT"),
    ];
    for (text, what, place) in table {
        let flaw = judge(text).unwrap_err();
        assert_eq!((&flaw.what, &text[flaw.range.clone()]), (&what, place), "{text}");
        assert!(!flaw.what.to_string().is_empty() && !flaw.what.help().is_empty());
    }
}

#[test]
fn what_looks_alike_is_sent() {
    for text in [
        "SELECT format FROM t",
        "SELECT format('{}', a) FROM t",
        "SELECT a AS format FROM t",
        "SELECT t.format FROM t",
        "SELECT 1 SETTINGS max_threads = 1, final = 1",
        "SELECT settings FROM t WHERE max_result_rows = {p1:Int64}",
        "SELECT * FROM url('https://a/b.csv', CSV) WHERE a = {p1:String}",
        "SELECT * FROM numbers({p1:UInt64}), remote_things WHERE urlHash({p1:UInt64}) = 1",
        "SELECT URLPathHierarchy({p1:String}), filesystemAvailable({p1:String})",
        "INSERT INTO url (a, b) VALUES ({p1:String}, 1)",
        "SELECT 1;;",
        "SELECT 1 // it's; SELECT 2\n, 2",
        "INSERT INTO t (a) SETTINGS async_insert=1, wait_for_async_insert=1 VALUES ({p1:Int8})",
        "SELECT settings, {p1:Int8} FROM t",
        "SELECT u AS v FROM url('https://a/b.csv', CSV, 'u String') WHERE u = {p1:String}",
        "WITH 'https://a' AS u SELECT eval('1') FROM url(u)",
        "SELECT totals FROM t",
        "SELECT a AS parallel, count() FROM t GROUP BY parallel WITH ROLLUP",
        "SELECT dictGet('d', 'name', id) AS name FROM t WHERE id = {p1:UInt64} AND id > 0 ORDER BY id",
        "SELECT t.id FROM url('https://a/b.csv', CSV, 'id Int8') AS t JOIN u ON t.id = u.id WHERE u.id = {p1:Int8}",
    ] {
        assert!(judge(text).is_ok(), "{text}: {:?}", judge(text));
    }
}

#[test]
fn placeholders_of_an_operator_may_stand_where_those_of_a_caller_may_not() {
    let text = "SELECT * FROM url('https://\0/x', CSV) WHERE a = \0 SETTINGS max_threads = \0";
    let places: Vec<usize> = text.match_indices('\0').map(|(at, _)| at).collect();
    assert_eq!(judge_masked(text, &|_| false), Ok(true));
    assert_eq!(judge_masked(text, &|at| at == places[1]), Ok(true));
    let flaws = judge_masked(text, &|_| true).unwrap_err();
    let found: Vec<_> = flaws.into_iter().map(|flaw| flaw.what).collect();
    assert_eq!(found, vec![What::Elsewhere("url".into()), What::SettingValue("max_threads".into())]);
}
