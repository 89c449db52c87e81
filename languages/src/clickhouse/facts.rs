//! What is true of ClickHouse's SQL.

use alloc::{
    borrow::ToOwned as _,
    format,
    string::{String, ToString as _},
};

use millrace_core::app::ParamStyle;

#[cfg(feature = "parser")]
use crate::Resolution;
use crate::{
    Facts, Judge, Lexicon, Lists, Rights,
    facts::About,
    lex::{self, Colon, Dollar, Hash},
    words::{RESERVED, Words},
};

/// How ClickHouse cuts a text: <https://clickhouse.com/docs/sql-reference/syntax>.
#[derive(Clone, Copy, Debug)]
pub enum ClickHouse {}

impl Lexicon for ClickHouse {
    const BACKSLASHES: bool = true;
    const NAME_BACKSLASHES: bool = true;
    const PREFIXES: &'static [u8] = b"bx";
    const BACKTICKS: bool = true;
    const HASH: Hash = Hash::CommentBeforeBlank;
    const SLASHES: bool = true;
    const NESTED_COMMENTS: bool = true;
    const DOLLAR: Dollar = Dollar::TextOrName;
    const COLON: Colon = Colon::Doubled;
    const BRACES: bool = true;
}

/// Words that it has beside those of PostgreSQL, in `GRANT` or as the beginning of something.
const RESERVED_IN_GRANT: [Words; 2] = [Words::of(include_str!("../postgres/reserved.txt")), Words::of(include_str!("reserved.txt"))];

/// What is true of it.
pub const FACTS: Facts = Facts {
    name: "ClickHouse",
    style: ParamStyle::Name,
    max_values: 65_535,
    lex: lex::cut::<ClickHouse>,
    #[cfg(feature = "parser")]
    parser: &sqlparser::dialect::ClickHouseDialect {},
    has_backslashes: true,
    unescape,
    unquoted,
    typed_literal: |word| {
        [("DATE", "Date"), ("TIMESTAMP", "DateTime")].into_iter().find_map(|(name, cast)| name.eq_ignore_ascii_case(word).then_some(cast))
    },
    instead_of_typed_literals: None,
    has_zoned_literals: false,
    has_introducers: false,
    instead_of_text_document: "build it with `toJSONString(map('key', {{ inputs.x }}))`, which escapes it",
    advised_quote: '"',
    folds_names: false,
    keeps_capitals: true,
    ignores_capitals: false,
    takes_names_for_texts: false,
    reserved: RESERVED,
    lists: Lists::Array,
    has_bracketed_lists: false,
    finds_types: false,
    parameter_type: |_| "text",
    declares_types: true,
    empty: |_, _| "SELECT NULL WHERE 0".to_owned(),
    // Braces are apart from the `:` of a condition, and not from that of a type.
    fusing_signs: &["@", "::"],
    why_not_textual: None,
    judge: Judge::WordsAndParser,
    surely_reads: |_, _| false,
    has_merge: true,
    // All of it is judged another way.
    refusal: |_, _| None,
    takes_no_values: |word, tokens| match word {
        "ALTER" => !tokens.significant().any(|token| tokens.is_any_word(Some(token), &["UPDATE", "DELETE"])),
        word => ["SET", "USE", "KILL", "SYSTEM", "OPTIMIZE", "EXISTS", "DESCRIBE", "DESC"].contains(&word),
    },
    spelling: |_, _| None,
    // A blank behind `#` would begin a comment.
    blank: "\n",
    parts_dashes: false,
    judges_tenants: false,
    takes_audit_rows: true,
    explains_inserts: false,
    rights: Some(&RIGHTS),
    tables_with_column: "SELECT DISTINCT table FROM system.columns WHERE name = {p1:String} AND database = currentDatabase() ORDER BY 1",
    #[cfg(feature = "parser")]
    plans: None,
    last_number: None,
    has_uniform_transactions: false,
    counts_by_wrapping: false,
    text_type: "String",
    like: "ILIKE",
    like_letters: 100,
    computes_limits: true,
    returns_rows: false,
    has_unsigned_numbers: true,
    has_nan: true,
    has_times: true,
    tells_types: true,
    makes_documents: false,
    #[cfg(feature = "parser")]
    resolution: Resolution {
        is_clickhouse: true,
        tables_keep_case: true,
        is_everybodys: |_, _| false,
        words_of_grant: ["ALTER UPDATE", "ALTER DELETE", "TRUNCATE"],
        ..Resolution::PLAIN
    },
};

/// How a server is asked and told about rights.
static RIGHTS: Rights = Rights {
    questions: &[(COLUMNS, About::Columns), (FUNCTIONS, About::Functions)],
    folds_names: false,
    common_schema: None,
    has_schema_rights: false,
    has_engines: true,
    has_open_functions: true,
    has_closed_routines: false,
    is_made_up_table: |_| false,
    is_of_adapters_database: true,
    account_noun: "the user",
    account: quoted_in_grant,
    quoted: quoted_in_grant,
    before_columns: "",
};

const COLUMNS: &str = "SELECT c.database, c.table, c.name, toString(c.database = currentDatabase()), '1', '0', \
     toString(c.is_in_primary_key), '', '', c.type, t.engine, toString(t.create_table_query LIKE '% SQL SECURITY DEFINER%') \
     FROM system.columns AS c LEFT JOIN system.tables AS t ON t.database = c.database AND t.name = c.table \
     WHERE has(JSONExtract({p1:String}, 'Array(String)'), c.table) ORDER BY c.database, c.table, c.position";
const FUNCTIONS: &str = "SELECT '', name, NULL, '0', '0', '0', '0', '1' FROM system.functions \
     WHERE origin = 'SQLUserDefined' AND has(JSONExtract({p1:String}, 'Array(String)'), name) ORDER BY name";

fn quoted_in_grant(name: &str) -> String {
    let is_plain =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.starts_with(|first: char| first.is_ascii_digit());
    let is_name = is_plain && !name.is_empty() && !RESERVED_IN_GRANT.into_iter().any(|words| words.has(name));
    if is_name { name.to_owned() } else { format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")) }
}

/// <https://clickhouse.com/docs/sql-reference/syntax#string>
fn unescape(rest: &str) -> Option<(String, usize)> {
    let escaped = rest.get(1..)?.chars().next().filter(|&c| c != '\0')?;
    let unescaped = match escaped {
        'a' => "\u{7}".to_owned(),
        'b' => "\u{8}".to_owned(),
        'e' => "\u{1b}".to_owned(),
        'f' => "\u{c}".to_owned(),
        'n' => "\n".to_owned(),
        'r' => "\r".to_owned(),
        't' => "\t".to_owned(),
        'v' => "\u{b}".to_owned(),
        '0' => "\0".to_owned(),
        '\\' | '\'' | '"' | '`' | '/' | '=' => escaped.to_string(),
        'x' => {
            let code = rest.get(2..4).and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(u8::is_ascii)?;
            return Some((char::from(code).to_string(), 4));
        }
        // Nothing, in places.
        'N' => return None,
        // The backslash stays, for LIKE and regular expressions.
        other if !other.is_control() => format!("\\{other}"),
        other => other.to_string(),
    };
    Some((unescaped, 1 + escaped.len_utf8()))
}

/// The name between quotes.
fn unquoted(text: &str, quote: char) -> String {
    let (mut name, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\\' => match unescape(rest) {
                Some((unescaped, length)) => {
                    name.push_str(&unescaped);
                    length
                }
                None => 2,
            },
            _ => {
                name.push(first);
                if first == quote { 2 } else { first.len_utf8() }
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    name
}
