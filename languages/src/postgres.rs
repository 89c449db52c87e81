//! PostgreSQL's SQL.

use alloc::{
    borrow::ToOwned as _,
    format,
    string::{String, ToString as _},
};

use millrace_core::app::{InputKind, ParamStyle};

#[cfg(feature = "parser")]
use crate::Resolution;
use crate::{
    Facts, Judge, Lists, Rights,
    facts::{About, doubled},
    lex::{self, Kind},
    tokens::Tokens,
    words::{RESERVED, Words},
};

mod judge;
mod lexicon;
#[cfg(feature = "parser")]
mod plan;
mod planned;

pub use judge::{changes_session, judge, word};
pub use lexicon::Postgres;
pub use planned::{FOR_ANY_VALUES, PLANNED};

/// The types whose name before a literal makes a typed literal.
const LITERAL_TYPES: Words = Words::of(include_str!("postgres/literal_types.txt"));
/// Words that are not a name in `GRANT`.
const RESERVED_IN_GRANT: Words = Words::of(include_str!("postgres/reserved.txt"));

/// What is true of it.
pub const FACTS: Facts = Facts {
    name: "PostgreSQL",
    style: ParamStyle::NumberedDollar,
    max_values: 65_535,
    lex: lex::cut::<Postgres>,
    #[cfg(feature = "parser")]
    parser: &sqlparser::dialect::PostgreSqlDialect {},
    has_backslashes: false,
    unescape,
    unquoted: doubled,
    typed_literal: |word| LITERAL_TYPES.find(word),
    instead_of_typed_literals: None,
    has_zoned_literals: true,
    has_introducers: false,
    instead_of_text_document: "build it with `jsonb_build_object('key', {{ inputs.x }})` or `ARRAY[{{ inputs.x }}]`, which escape it",
    advised_quote: '"',
    folds_names: true,
    keeps_capitals: false,
    ignores_capitals: false,
    takes_names_for_texts: false,
    reserved: RESERVED,
    lists: Lists::ArrayInPlaces,
    has_bracketed_lists: false,
    finds_types: true,
    parameter_type: type_of,
    declares_types: false,
    empty,
    fusing_signs: &[],
    why_not_textual: None,
    judge: Judge::Parser,
    surely_reads: |tokens, first| tokens.is_word(Some(first), "SHOW"),
    has_merge: true,
    refusal: |text, _| judge(text).err(),
    takes_no_values: |word, _| ["ALTER", "SET", "RESET", "COPY", "LISTEN", "NOTIFY", "LOCK", "CLUSTER", "REFRESH"].contains(&word),
    spelling,
    blank: " ",
    parts_dashes: false,
    judges_tenants: true,
    takes_audit_rows: true,
    explains_inserts: true,
    rights: Some(&RIGHTS),
    // Not `information_schema`: it has no materialized views.
    tables_with_column: "SELECT DISTINCT c.relname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE a.attname = $1 AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
             AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' \
             AND has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE') ORDER BY 1",
    #[cfg(feature = "parser")]
    plans: Some(&plan::PLANS),
    last_number: None,
    has_uniform_transactions: false,
    counts_by_wrapping: true,
    text_type: "text",
    like: "ILIKE",
    like_letters: 100,
    computes_limits: true,
    returns_rows: true,
    has_unsigned_numbers: false,
    has_nan: true,
    has_times: true,
    tells_types: true,
    makes_documents: false,
    #[cfg(feature = "parser")]
    resolution: Resolution {
        quotes_keep_case: true,
        cuts_names: true,
        has_only: true,
        is_everybodys,
        rows_are_values: true,
        names_results: true,
        has_exact_casts: true,
        excluded_is_read: true,
        has_sequences: true,
        ..Resolution::PLAIN
    },
};

#[cfg(feature = "parser")]
fn is_everybodys(schema: Option<&str>, name: &str) -> bool {
    match schema {
        Some(schema) => ["information_schema", "pg_catalog"].contains(&schema),
        None => name.starts_with("pg_"),
    }
}

/// How a server is asked and told about rights.
static RIGHTS: Rights = Rights {
    questions: &[(COLUMNS, About::Columns), (CONSTRAINTS, About::Constraints), (POLICIES, About::Policies), (ROUTINES, About::Routines)],
    folds_names: false,
    common_schema: Some("public"),
    has_schema_rights: true,
    has_engines: false,
    has_open_functions: false,
    has_closed_routines: false,
    is_made_up_table: |_| false,
    is_of_adapters_database: false,
    account_noun: "the role",
    account: quoted_in_grant,
    quoted: quoted_in_grant,
    before_columns: " ",
};

const COLUMNS: &str = "SELECT n.nspname::text, c.relname::text, a.attname::text, pg_table_is_visible(c.oid)::text, \
     has_schema_privilege('public', n.oid, 'USAGE')::text, has_table_privilege('public', c.oid, 'SELECT')::text, \
     (SELECT min(i.indkey[0]) = a.attnum FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)::text, sn.nspname::text, s.relname::text \
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid \
     LEFT JOIN pg_attrdef f ON f.adrelid = c.oid AND f.adnum = a.attnum \
     LEFT JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass \
     AND d.refobjid IN (SELECT oid FROM pg_class WHERE relkind = 'S') \
     LEFT JOIN pg_class s ON s.oid = d.refobjid LEFT JOIN pg_namespace sn ON sn.oid = s.relnamespace \
     WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
     AND c.relname IN (SELECT jsonb_array_elements_text($1::jsonb)) ORDER BY n.nspname, c.relname, a.attnum";
const CONSTRAINTS: &str = "SELECT n.nspname::text, c.relname::text, o.conname::text, a.attname::text \
     FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(o.conkey) \
     WHERE o.contype IN ('p', 'u', 'x') AND c.relname IN (SELECT jsonb_array_elements_text($1::jsonb)) ORDER BY 1, 2, 3, 4";
const POLICIES: &str = "SELECT n.nspname::text, c.relname::text, rn.nspname::text, r.relname::text, a.attname::text \
     FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
     JOIN pg_depend d ON d.classid = 'pg_policy'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_class'::regclass \
     JOIN pg_class r ON r.oid = d.refobjid AND r.oid <> c.oid JOIN pg_namespace rn ON rn.oid = r.relnamespace \
     JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = d.refobjsubid \
     WHERE c.relrowsecurity AND c.relname IN (SELECT jsonb_array_elements_text($1::jsonb)) ORDER BY 1, 2, 3, 4, 5";
const ROUTINES: &str = "SELECT n.nspname::text, p.proname::text, oidvectortypes(p.proargtypes), (p.prokind = 'p')::text, \
     has_function_privilege('public', p.oid, 'EXECUTE')::text, (n.nspname = 'pg_catalog')::text, p.prosecdef::text, \
     has_schema_privilege('public', n.oid, 'USAGE')::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace \
     WHERE p.proname IN (SELECT jsonb_array_elements_text($1::jsonb)) ORDER BY 1, 2, 3";

fn quoted_in_grant(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let plain = name.bytes().next().is_some_and(is_plain) && name.bytes().all(|byte| is_plain(byte) || byte.is_ascii_digit());
    if plain && !RESERVED_IN_GRANT.has(name) { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// PostgreSQL compares types even there, so it repeats the compared column where that is known, and
/// otherwise has a null of the elements' type.
fn empty(kind: Option<InputKind>, column: Option<&str>) -> String {
    match column {
        Some(column) => format!("SELECT {column} LIMIT 0"),
        None => format!("SELECT CAST(NULL AS {}) LIMIT 0", type_of(kind)),
    }
}

/// The type of an input.
#[must_use]
pub fn type_of(kind: Option<InputKind>) -> &'static str {
    match kind {
        Some(InputKind::Int) => "bigint",
        Some(InputKind::Float) => "double precision",
        Some(InputKind::Boolean) => "boolean",
        Some(InputKind::Datetime) => "timestamptz",
        Some(InputKind::Date) => "date",
        Some(InputKind::Uuid) => "uuid",
        Some(InputKind::Array | InputKind::Object | InputKind::Json) => "jsonb",
        Some(InputKind::String) | None => "text",
    }
}

/// The escapes of `E'…'`: <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS-ESCAPE>
pub(crate) fn unescape(rest: &str) -> Option<(String, usize)> {
    let escaped = rest.get(1..)?.chars().next().filter(|&c| c != '\0')?;
    let digits = |from: usize, most: usize, radix: u32| {
        let found: String = rest.get(from..).unwrap_or_default().chars().take(most).take_while(|c| c.is_digit(radix)).collect();
        u32::from_str_radix(&found, radix).ok().map(|code| (code, from + found.len()))
    };
    // A byte from 128 is part of a character of the server's encoding; alone it is none.
    let byte =
        |(code, length): (u32, usize)| char::from_u32(code & 0xff).filter(|c| c.is_ascii() && *c != '\0').map(|c| (c.to_string(), length));
    let character = |(code, length): (u32, usize), expected: usize| {
        char::from_u32(code).filter(|c| *c != '\0' && length == expected).map(|c| (c.to_string(), length))
    };
    match escaped {
        'b' => Some(("\u{8}".to_owned(), 2)),
        'f' => Some(("\u{c}".to_owned(), 2)),
        'n' => Some(("\n".to_owned(), 2)),
        'r' => Some(("\r".to_owned(), 2)),
        't' => Some(("\t".to_owned(), 2)),
        '0'..='7' => digits(1, 3, 8).and_then(byte),
        'x' => match digits(2, 2, 16) {
            Some(found) => byte(found),
            None => Some(("x".to_owned(), 2)),
        },
        'u' => digits(2, 4, 16).and_then(|found| character(found, 6)),
        'U' => digits(2, 8, 16).and_then(|found| character(found, 10)),
        other => Some((other.to_string(), 1 + other.len_utf8())),
    }
}

/// The escapes of `U&'…'`: <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS-UESCAPE>,
/// without a pair of surrogates.
#[must_use]
pub fn unescape_unicode(rest: &str) -> Option<(char, usize)> {
    let digits = |from: usize, length: usize| {
        let digits = rest.get(from..from + length).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        Some((u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).filter(|found| *found != '\0')?, from + length))
    };
    match rest.get(1..)?.chars().next()? {
        '\\' => Some(('\\', 2)),
        '+' => digits(2, 6),
        _ => digits(1, 4),
    }
}

/// The name between the quotes of `U&"…"`. `None` where an escape in it stands for nothing.
#[must_use]
pub fn unicode_name(text: &str) -> Option<String> {
    let (mut name, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let (character, length) = if first == '\\' { unescape_unicode(rest)? } else { (first, first.len_utf8()) };
        name.push(character);
        rest = rest.get(length + usize::from(first == '"')..)?;
    }
    Some(name)
}

/// Forms that the parser does not know, in one that it knows and that says the same.
fn spelling(tokens: &Tokens<'_>, at: usize) -> Option<&'static str> {
    match tokens.kind(at) {
        Some(Kind::Word) => {}
        // All members of a row: `(a).*`.
        Some(Kind::Sign(b'*')) => {
            let dot = tokens.before(at).filter(|&dot| tokens.is_sign(Some(dot), b'.'));
            return dot.is_some_and(|dot| tokens.is_sign(tokens.before(dot), b')')).then_some("members");
        }
        _ => return None,
    }
    let is = |at: Option<usize>, word: &str| tokens.is_word(at, word);
    let sign = |at: Option<usize>, sign: u8| tokens.is_sign(at, sign);
    let (this, before, after) = (Some(at), tokens.before(at), tokens.after(at));
    let earlier = before.and_then(|before| tokens.before(before));
    let later = after.and_then(|after| tokens.after(after));
    if before.is_none() && is(this, "TABLE") {
        return Some("SELECT * FROM");
    }
    // A name may be any of these words.
    if sign(before, b'.') || is(before, "AS") {
        return of_using(tokens, before).then_some(" ");
    }
    let is_operand = before.is_some_and(|before| !is(Some(before), "SELECT") && !sign(Some(before), b',') && !sign(Some(before), b'('));
    match tokens.text(at).to_ascii_uppercase().as_str() {
        "ISNULL" if is_operand => Some("IS NULL"),
        "NOTNULL" if is_operand => Some("IS NOT NULL"),
        "SYMMETRIC" | "ASYMMETRIC" if is(before, "BETWEEN") => Some(" "),
        "DISTINCT" if is(before, "BY") && is(earlier, "GROUP") => Some(" "),
        "VARIADIC" if sign(before, b'(') || sign(before, b',') => Some(" "),
        // `EXCLUDE TIES` at the end of a window's frame.
        "EXCLUDE" if tokens.is_any_word(after, &["TIES", "GROUP"]) || is(after, "NO") && is(later, "OTHERS") => Some(" "),
        "EXCLUDE" if is(after, "CURRENT") && is(later, "ROW") => Some(" "),
        "TIES" | "GROUP" | "NO" | "CURRENT" if is(before, "EXCLUDE") => Some(" "),
        "OTHERS" if is(before, "NO") && is(earlier, "EXCLUDE") => Some(" "),
        "ROW" if is(before, "CURRENT") && is(earlier, "EXCLUDE") => Some(" "),
        "TRAILING" if is(after, "FROM") => Some("TRAILING ' '"),
        "LEADING" if is(after, "FROM") => Some("LEADING ' '"),
        "BOTH" if is(after, "FROM") => Some("BOTH ' '"),
        "FROM" if sign(before, b'(') && is(earlier, "TRIM") => Some(" "),
        "SIMILAR" if !is(after, "TO") && tokens.is_of_call(at, "SUBSTRING") => Some(","),
        "ESCAPE" if tokens.is_of_call(at, "SUBSTRING") => Some(","),
        // `xmlelement(name a, …)`
        "NAME" if sign(before, b'(') && tokens.is_any_word(earlier, &["XMLELEMENT", "XMLPI"]) => Some(" "),
        _ if is(before, "NAME") && sign(earlier, b'(') && (tokens.is_of_call(at, "XMLELEMENT") || tokens.is_of_call(at, "XMLPI")) => {
            Some("'x'")
        }
        "AS" if of_using(tokens, this) => Some(" "),
        _ => None,
    }
}

/// Whether an `AS` gives a name to the columns of `JOIN … USING (a, b)`.
fn of_using(tokens: &Tokens<'_>, r#as: Option<usize>) -> bool {
    let Some(close) = r#as.filter(|&at| tokens.is_word(Some(at), "AS")).and_then(|at| tokens.before(at)) else { return false };
    if !tokens.is_sign(Some(close), b')') {
        return false;
    }
    // Names between commas, and neither a table nor a query.
    let mut at = close;
    loop {
        let Some(name) = tokens.before(at).filter(|&name| matches!(tokens.kind(name), Some(Kind::Word | Kind::Quoted))) else {
            return false;
        };
        if tokens.is_any_word(Some(name), &["SELECT", "VALUES", "TABLE", "WITH"]) {
            return false;
        }
        match tokens.before(name) {
            Some(comma) if tokens.is_sign(Some(comma), b',') => at = comma,
            Some(open) if tokens.is_sign(Some(open), b'(') => {
                let using = tokens.before(open).filter(|&using| tokens.is_word(Some(using), "USING"));
                let joined = using.is_some_and(|using| (0..using).any(|word| tokens.is_word(Some(word), "JOIN")));
                return joined && !(0..at).any(|word| tokens.is_any_word(Some(word), &["DELETE", "MERGE"]));
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_escapes_in_places() {
        assert_eq!(unicode_name(r#"\0061b""c\\"#).as_deref(), Some(r#"ab"c\"#));
        assert_eq!(unicode_name(r"\006"), None);
        assert_eq!((crate::clickhouse::FACTS.unquoted)(r"a\`b``c\n", '`'), "a`b`c\n");
        assert_eq!((FACTS.unquoted)(r#"a""b\"#, '"'), r#"a"b\"#);
    }
}
