//! What the walk has to know of ClickHouse alone: statements that the parser does not take as they are written, functions that read by the names
//! of tables, functions in `FROM`, and columns that are read in part.
//!
//! What is said here of rights is what ClickHouse's engine, version 26.9, demands.

use std::ops::Range;

use millrace_catalogue::clickhouse::judge;
use sqlparser::ast::{Expr, Ident, ObjectName, Value};

use super::{
    Dialect, Named, Privilege, Rights,
    model::named_in,
    scope::{Item, Scope, Walk, text_of},
};
use crate::statement::{
    last,
    lex::{Kind, Token},
};

/// What stands for a value that can be a text, which may be empty.
pub(super) const TEXT: &str = "\u{e000}";

/// Functions of ClickHouse that need no right, in lower case and sorted: those of the engine, without those that [`Walk::special`] and this
/// module's users look at by themselves, and without those that need a right of their own.
const FUNCTIONS: &str = include_str!("clickhouse_functions.txt");
/// What can stand behind the name of an aggregate function.
const COMBINATORS: [&str; 15] = [
    "simplestate",
    "ordefault",
    "distinct",
    "resample",
    "foreach",
    "argmax",
    "argmin",
    "ornull",
    "tuple",
    "merge",
    "state",
    "array",
    "null",
    "map",
    "if",
];
/// Functions in `FROM` that need no right.
const FREE_TABLES: [&str; 8] = ["generate_series", "generaterandom", "generateseries", "null", "numbers", "numbers_mt", "primes", "values"];
/// Those that need the right to make temporary tables.
const TEMPORARY_TABLES: [&str; 4] = ["dictionary", "format", "zeros", "zeros_mt"];
/// Those that read elsewhere, and the source that the right is for.
const SOURCES: [(&str, &str); 14] = [
    ("azureblobstorage", "AZURE"),
    ("file", "FILE"),
    ("gcs", "S3"),
    ("hdfs", "HDFS"),
    ("jdbc", "JDBC"),
    ("mongodb", "MONGO"),
    ("mysql", "MYSQL"),
    ("odbc", "ODBC"),
    ("postgresql", "POSTGRES"),
    ("redis", "REDIS"),
    ("remote", "REMOTE"),
    ("s3", "S3"),
    ("sqlite", "SQLITE"),
    ("url", "URL"),
];
/// Tables of `system` that everybody may read, whatever the server is set to.
const EVERYBODYS: [&str; 20] = [
    "aggregate_function_combinators",
    "collations",
    "columns",
    "contributors",
    "current_roles",
    "data_type_families",
    "database_engines",
    "databases",
    "enabled_roles",
    "formats",
    "functions",
    "licenses",
    "one",
    "privileges",
    "quota_usage",
    "settings",
    "table_engines",
    "table_functions",
    "tables",
    "time_zones",
];
/// What follows a table that is read with `FINAL`.
const AFTER_FINAL: [&str; 26] = [
    "ALL",
    "ANTI",
    "ANY",
    "ARRAY",
    "ASOF",
    "CROSS",
    "EXCEPT",
    "FULL",
    "GLOBAL",
    "GROUP",
    "HAVING",
    "INNER",
    "INTERSECT",
    "JOIN",
    "LEFT",
    "LIMIT",
    "OFFSET",
    "ORDER",
    "PREWHERE",
    "QUALIFY",
    "RIGHT",
    "SAMPLE",
    "SEMI",
    "SETTINGS",
    "UNION",
    "WHERE",
];

/// Behind which `FINAL` is a name.
const BEFORE_A_NAME: [&str; 16] =
    ["AND", "AS", "BETWEEN", "BY", "DISTINCT", "FROM", "HAVING", "IN", "JOIN", "LIKE", "NOT", "ON", "OR", "PREWHERE", "SELECT", "WHERE"];

/// A statement as the parser takes it, or what it needs where no parser is wanted.
pub(super) enum Prepared {
    /// Its text. `is_mutation`: it is an `ALTER TABLE … UPDATE`, written as an `UPDATE`.
    Text { text: String, is_mutation: bool },
    /// What it needs.
    Rights(Rights),
}

/// Whether everybody may read a table.
pub(super) fn is_everybodys(table: &Named) -> bool {
    table.schema.as_deref() == Some("system") && EVERYBODYS.binary_search(&table.name.as_str()).is_ok()
}

/// Whether a function is the server's own and needs no right, as far as its name says.
pub(super) fn is_known(name: &str) -> bool {
    let is_listed = |name: &str| FUNCTIONS.lines().any(|known| known == name);
    let mut rest = name.to_ascii_lowercase();
    loop {
        if is_listed(&rest) {
            return true;
        }
        let Some(shorter) = COMBINATORS.iter().find_map(|combinator| rest.strip_suffix(combinator)) else { return false };
        rest = shorter.to_owned();
    }
}

/// Whether a function of the server's own needs a right, or asks another server.
pub(crate) fn needs_more(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["addressto", "ai", "catboost", "demangle"].iter().any(|start| name.starts_with(start)) || name == "file"
}

/// The tokens of a statement that say something.
struct Words<'t> {
    text: &'t str,
    tokens: Vec<&'t Token>,
}

impl<'t> Words<'t> {
    fn new(text: &'t str, tokens: &'t [Token]) -> Self {
        let tokens = tokens.iter().filter(|token| !matches!(token.kind, Kind::Space | Kind::Comment { .. })).collect();
        Self { text, tokens }
    }

    /// A word without quotes.
    fn word(&self, at: usize) -> Option<&'t str> {
        self.tokens.get(at).filter(|token| token.kind == Kind::Word).map(|token| &self.text[token.range.clone()])
    }

    fn is(&self, at: usize, word: &str) -> bool {
        self.word(at).is_some_and(|found| found.eq_ignore_ascii_case(word))
    }

    fn is_any(&self, at: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(at, word))
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Sign(sign))
    }

    /// The name of a table, `t` or `d.t`, and what comes behind it.
    fn name(&self, at: usize) -> Option<(Range<usize>, usize)> {
        let is_name = |at: usize| self.tokens.get(at).is_some_and(|token| matches!(token.kind, Kind::Word | Kind::Quoted));
        let end = if is_name(at) && self.is_sign(at + 1, b'.') && is_name(at + 2) { at + 2 } else { at };
        is_name(at).then(|| (self.tokens[at].range.start..self.tokens[end].range.end, end + 1))
    }

    /// The only table of a statement, behind which there is nothing.
    fn only(&self, at: usize) -> Option<Named> {
        let (range, next) = self.name(at)?;
        let is_end = self.tokens.len() == next || (self.is_sign(next, b';') && self.tokens.len() == next + 1);
        named_in(&self.text[range], Dialect::ClickHouse).filter(|_| is_end)
    }

    /// Whether a word is the `FINAL` behind a table in `FROM`.
    fn is_final(&self, at: usize) -> bool {
        let is_behind = at > 0 && (matches!(self.tokens[at - 1].kind, Kind::Word | Kind::Quoted) || self.is_sign(at - 1, b')'));
        let is_before = at + 1 == self.tokens.len()
            || self.is_any(at + 1, &AFTER_FINAL)
            || [b')', b',', b';'].iter().any(|sign| self.is_sign(at + 1, *sign));
        self.is(at, "FINAL") && is_behind && is_before && !self.is_any(at - 1, &BEFORE_A_NAME)
    }

    /// Whether a word says how rows of a join are matched, which changes no right, and which the parser takes for a name.
    fn is_strictness(&self, at: usize) -> bool {
        let is_first = self.is_any(at + 1, &["JOIN", "INNER", "LEFT", "RIGHT", "FULL"]);
        let is_second = at > 0 && self.is_any(at - 1, &["INNER", "LEFT", "RIGHT", "FULL"]) && self.is_any(at + 1, &["JOIN", "OUTER"]);
        (self.is_any(at, &["ANY", "ALL", "ASOF"]) && (is_first || is_second))
            || (self.is(at, "GLOBAL") && self.is_any(at + 1, &["IN", "NOT"]))
    }

    /// What comes behind `SETTINGS` and its pairs, which need no right and stand where the parser does not always take them.
    fn behind_settings(&self, at: usize) -> Option<usize> {
        let is_pair = |at: usize| self.word(at).is_some() && self.is_sign(at + 1, b'=');
        if !self.is(at, "SETTINGS") || !is_pair(at + 1) {
            return None;
        }
        let mut next = at + 1;
        loop {
            let value = if self.is_sign(next + 2, b'-') { next + 3 } else { next + 2 };
            let is_plain = matches!(self.tokens.get(value)?.kind, Kind::Word | Kind::Number | Kind::Literal { .. });
            let is_last = !(self.is_sign(value + 1, b',') && is_pair(value + 2));
            match (is_plain, is_last) {
                (false, _) => return None,
                (true, true) => return Some(value + 1),
                (true, false) => next = value + 2,
            }
        }
    }
}

/// Makes of a statement of ClickHouse one that the parser takes.
pub(super) fn prepare(text: &str, tokens: &[Token]) -> Prepared {
    let unclear = |why: &str| Prepared::Rights(Rights::unclear(why));
    let needs = |table: Option<Named>, privilege: &'static str| match table {
        Some(table) => {
            let mut rights = Rights::default();
            rights.need(&table, Privilege::Other(privilege)).all = true;
            Prepared::Rights(rights)
        }
        None => unclear("the name of a table is not written out, or is not understood"),
    };
    let Ok(judged) = judge(text) else { return unclear("connector `clickhouse` does not send it") };
    let words = Words::new(text, tokens);
    let first = words.word(0).unwrap_or_default().to_ascii_uppercase();
    match first.as_str() {
        "DESC" | "DESCRIBE" => {
            let at = if words.is(1, "TABLE") { 2 } else { 1 };
            if !words.is_sign(at, b'(') {
                return needs(words.only(at), "SHOW COLUMNS");
            }
        }
        "EXISTS" if words.is_any(1, &["TABLE", "VIEW"]) => return needs(words.only(2), "SHOW TABLES"),
        "EXISTS" if !words.is_any(1, &["TEMPORARY", "DICTIONARY", "DATABASE"]) => return needs(words.only(1), "SHOW TABLES"),
        "SHOW" if words.is(1, "CREATE") && !words.is_any(2, &["DICTIONARY", "DATABASE", "TEMPORARY"]) => {
            let at = if words.is_any(2, &["TABLE", "VIEW"]) { 3 } else { 2 };
            return needs(words.only(at), "SHOW COLUMNS");
        }
        "SHOW" => return unclear("it shows only what its user may see: grant that by hand"),
        "OPTIMIZE" => {
            let table = words.name(2).and_then(|(range, _)| named_in(&text[range], Dialect::ClickHouse));
            return needs(table.filter(|_| words.is(1, "TABLE")), "OPTIMIZE");
        }
        "TRUNCATE" => {
            let at = if words.is(1, "TABLE") { 2 } else { 1 };
            let at = if words.is(at, "IF") { at + 2 } else { at };
            return needs(words.only(at), "TRUNCATE");
        }
        _ => {}
    }
    // Where the text for the parser begins, which words are left out, and what stands for others.
    let mut start = 0;
    let mut is_mutation = false;
    let mut instead: Vec<(usize, &str)> = Vec::new();
    match first.as_str() {
        "DESC" | "DESCRIBE" => {
            start = if words.is(1, "TABLE") { 2 } else { 1 };
        }
        "EXPLAIN" => {
            let queries = ["SELECT", "WITH", "INSERT", "FROM"];
            let is_query = |at: &usize| words.is_any(*at, &queries) || words.is_sign(*at, b'(');
            match (1..words.tokens.len()).find(is_query) {
                Some(at) => start = at,
                None => return unclear("what is explained is not understood"),
            }
        }
        "ALTER" if words.is(1, "TABLE") => {
            let Some((_, next)) = words.name(2) else { return unclear("the name of a table is not written out, or is not understood") };
            if words.is(next, "DELETE") {
                instead = vec![(0, "DELETE"), (1, "FROM"), (next, "")];
            } else if words.is(next, "UPDATE") {
                is_mutation = true;
                instead = vec![(0, "UPDATE"), (1, ""), (next, "SET")];
            } else {
                return unclear("what `ALTER …` needs: grant it by hand");
            }
        }
        _ => {}
    }
    let mut out = String::with_capacity(text.len());
    let mut settings_until = 0;
    for at in start..words.tokens.len() {
        settings_until = words.behind_settings(at).unwrap_or(settings_until);
        if at < settings_until {
            out.push(' ');
            continue;
        }
        let token = words.tokens[at];
        let range = token.range.clone();
        let piece = match instead.iter().find(|(of, _)| *of == at) {
            Some((_, piece)) => (*piece).to_owned(),
            None if token.kind == Kind::Word && (words.is_final(at) || words.is_strictness(at)) => String::new(),
            None if token.kind == Kind::Parameter => {
                let kind = judged.parameters.iter().find(|parameter| range.contains(&parameter.range.start)).map_or("", |found| found.kind);
                if kind.contains("String") { format!("'{TEXT}'") } else { "?".to_owned() }
            }
            None => text[range].to_owned(),
        };
        // Signs such as `::` and `->` stay together.
        let is_apart = at > start && words.tokens[at - 1].range.end < token.range.start;
        if is_apart || piece.is_empty() {
            out.push(' ');
        }
        out.push_str(&piece);
    }
    Prepared::Text { text: out, is_mutation }
}

/// Whether an expression is a text that is or can be empty.
fn may_be_empty(expr: &Expr) -> bool {
    text_of(expr).is_some_and(|text| text.is_empty() || text == TEXT)
}

impl Walk<'_> {
    /// The column of a table that an expression is, where it is one for sure, without noting anything.
    fn column_at(&self, expr: &Expr, scope: &Scope<'_>) -> Option<(Named, String)> {
        let parts: Vec<String> = match expr {
            Expr::Identifier(ident) => vec![self.folded(ident)?],
            Expr::CompoundIdentifier(parts) => parts.iter().map(|part| self.folded(part)).collect::<Option<_>>()?,
            Expr::Nested(inner) => return self.column_at(inner, scope),
            _ => return None,
        };
        let (table, column, path) = self.place(&parts, scope)?;
        path.is_empty().then_some((table?, column))
    }

    /// The table of a name of one or several parts, its column, and the parts of the column that are meant. `None` where it is none of these.
    fn place(&self, parts: &[String], scope: &Scope<'_>) -> Option<(Option<Named>, String, Vec<String>)> {
        let mut around = Some(scope);
        while let Some(scope) = around {
            if let [first, column, path @ ..] = parts
                && let Some(item) = scope.items.iter().find(|item| item.name == *first)
            {
                return Some((item.table.clone(), column.clone(), path.to_vec()));
            }
            if let [schema, name, column, path @ ..] = parts
                && let Some(item) = scope
                    .items
                    .iter()
                    .find(|item| item.name == *name && item.table.as_ref().is_some_and(|table| table.schema.as_ref() == Some(schema)))
            {
                return Some((item.table.clone(), column.clone(), path.to_vec()));
            }
            around = scope.outer;
        }
        let (column, path) = parts.split_first()?;
        let whole = parts.join(".");
        let mut around = Some(scope);
        let mut candidates: Vec<&Item> = Vec::new();
        while let Some(scope) = around {
            if scope.aliases.contains(column) {
                break;
            }
            let has = |item: &&Item| item.columns.as_ref().is_some_and(|columns| columns.contains(column) || columns.contains(&whole));
            if let Some(item) = scope.items.iter().find(has) {
                candidates.push(item);
                break;
            }
            candidates.extend(scope.items.iter().filter(|item| item.columns.is_none()));
            around = scope.outer;
        }
        match candidates.as_slice() {
            [item] => Some((item.table.clone(), column.clone(), path.to_vec())),
            _ => None,
        }
    }

    /// A name of several parts: of a column, with its table or its database and table before it, or with parts of it behind it.
    pub(super) fn dotted(&mut self, parts: &[Ident], scope: &Scope<'_>) {
        let names: Option<Vec<String>> = parts.iter().map(|part| self.folded(part)).collect();
        let Some(names) = names else { return self.unclear("it names a column by a variable") };
        match self.place(&names, scope) {
            Some((Some(table), column, path)) if path.is_empty() => self.column_of(&table, Privilege::Select, &column),
            Some((Some(table), column, path)) => {
                let whole = format!("{column}.{}", path.join("."));
                // A column of a `Nested` is one by itself. Else the column and its part are both looked at.
                let is_column = self.known.tables.get(&table).is_some_and(|known| known.columns.contains(&whole));
                if !is_column {
                    self.column_of(&table, Privilege::Select, &column);
                }
                self.column_of(&table, Privilege::Select, &whole);
            }
            Some((None, ..)) => {}
            None => {
                let first = names.first().map_or("", String::as_str);
                self.find(first, first, scope, Privilege::Select);
            }
        }
    }

    /// A part of a column, which the server reads in its place: both are looked at. What has no such part loses nothing by it.
    fn part(&mut self, expr: &Expr, part: &str, scope: &Scope<'_>) {
        let Some((table, column)) = self.column_at(expr, scope) else { return };
        let kind = self.known.tables.get(&table).and_then(|known| known.kinds.get(&column));
        let has = |kind: &String| match part {
            "size" => kind == "String",
            "size0" => kind.starts_with("Array(") || kind.starts_with("Map("),
            "null" => kind.starts_with("Nullable("),
            _ if part == "keys" || part == "values" || part.starts_with("key_") => kind.starts_with("Map("),
            _ => true,
        };
        if kind.is_none_or(has) {
            self.column_of(&table, Privilege::Select, &format!("{column}.{part}"));
        }
    }

    /// The whole table of a column, of which it is not known which part is read.
    fn some_part(&mut self, expr: &Expr, scope: &Scope<'_>) {
        let Some((table, column)) = self.column_at(expr, scope) else { return };
        let kind = self.known.tables.get(&table).and_then(|known| known.kinds.get(&column));
        if kind.is_some_and(|kind| kind.starts_with("Array(")) {
            return;
        }
        self.whole(&table, Privilege::Select);
        self.rights
            .widened
            .insert(format!("which part of `{column}` is read is not known: write its name, or `tupleElement({column}, 'name')`"));
    }

    /// Parts of columns that the server reads where a statement asks for something else.
    pub(super) fn parts(&mut self, expr: &Expr, scope: &Scope<'_>) {
        match expr {
            Expr::IsNull(of) | Expr::IsNotNull(of) => self.part(of, "null", scope),
            Expr::BinaryOp { left, right, .. } if may_be_empty(right) => self.part(left, "size", scope),
            Expr::BinaryOp { left, right, .. } if may_be_empty(left) => self.part(right, "size", scope),
            Expr::InList { expr, list, .. } if list.iter().any(may_be_empty) => self.part(expr, "size", scope),
            _ => {}
        }
    }

    /// `column['key']`, `column[1]`
    pub(super) fn subscript(&mut self, root: &Expr, key: &Expr, scope: &Scope<'_>) {
        match (key, text_of(key)) {
            (_, Some(text)) if text != TEXT => self.part(root, &format!("key_{text}"), scope),
            (Expr::Value(value), _) if matches!(value.value, Value::Number(..)) => {}
            (Expr::Identifier(_) | Expr::CompoundIdentifier(_), None) => {}
            _ => self.some_part(root, scope),
        }
    }

    /// A function that reads by the name of a table, or parts of columns. Whether its first, its second or no argument is a name.
    pub(super) fn special(&mut self, name: &ObjectName, arguments: &[&Expr], scope: &Scope<'_>) -> Option<usize> {
        let name = last(name).map(|ident| ident.value.to_ascii_lowercase()).unwrap_or_default();
        let first = arguments.first().copied();
        match name.as_str() {
            _ if name.starts_with("dictget") || name == "dicthas" || name == "dictisin" => {
                match first.and_then(named_by) {
                    Some(dictionary) => self.whole(&dictionary, Privilege::Other(DICTIONARY)),
                    None => self.unclear(&format!("the dictionary of `{name}` is not written out")),
                }
                return Some(0);
            }
            "joinget" | "joingetornull" => {
                match first.and_then(named_by) {
                    Some(table) => {
                        self.whole(&table, Privilege::Select);
                        self.rights.widened.insert(format!("which columns are the key of `{table}` is not known"));
                    }
                    None => self.unclear(&format!("the table of `{name}` is not written out")),
                }
                return Some(0);
            }
            "hascolumnintable" => match arguments {
                [schema, table, column] if [schema, table, column].iter().all(|text| text_of(text).is_some_and(|text| text != TEXT)) => {
                    let table = Named { schema: text_of(schema).map(str::to_owned), name: text_of(table).unwrap_or_default().to_owned() };
                    self.whole(&table, Privilege::Other("SHOW COLUMNS"));
                }
                _ => self.unclear("the table of `hasColumnInTable` is not written out"),
            },
            "in" | "notin" | "globalin" | "globalnotin" | "nullin" | "notnullin" => {
                if let Some(Expr::Identifier(_) | Expr::CompoundIdentifier(_)) = arguments.get(1) {
                    self.unclear(IN_A_NAME);
                    return Some(1);
                }
            }
            "columns" => {
                for table in scope.items.iter().filter_map(|item| item.table.clone()).collect::<Vec<_>>() {
                    self.whole(&table, Privilege::Select);
                }
                self.rights.widened.insert("which columns `COLUMNS(…)` means depends on the tables".to_owned());
            }
            "length" | "empty" | "notempty" => {
                for part in ["size", "size0"] {
                    first.iter().for_each(|of| self.part(of, part, scope));
                }
            }
            "isnull" | "isnotnull" | "count" => first.iter().for_each(|of| self.part(of, "null", scope)),
            "equals" | "notequals" => {
                if let [left, right] = arguments {
                    let (of, text) = if may_be_empty(left) { (right, left) } else { (left, right) };
                    if may_be_empty(text) {
                        self.part(of, "size", scope);
                    }
                }
            }
            "mapkeys" | "mapcontains" | "mapcontainskey" | "has" => first.iter().for_each(|of| self.part(of, "keys", scope)),
            "mapvalues" => first.iter().for_each(|of| self.part(of, "values", scope)),
            "arrayelement" => {
                if let [of, key] = arguments {
                    self.subscript(of, key, scope);
                }
            }
            "tupleelement" | "variantelement" | "dynamicelement" => {
                if let [of, part, ..] = arguments {
                    match text_of(part) {
                        Some(text) if text != TEXT => self.part(of, text, scope),
                        _ => self.some_part(of, scope),
                    }
                }
            }
            _ => {}
        }
        None
    }

    /// A function in `FROM`.
    pub(super) fn table_function(&mut self, name: &ObjectName, arguments: &[&Expr]) {
        let name = last(name).map(|ident| ident.value.to_ascii_lowercase()).unwrap_or_default();
        if FREE_TABLES.contains(&name.as_str()) {
            return;
        }
        let source = SOURCES.iter().find(|(function, _)| *function == name).map(|(_, source)| *source);
        if let Some(source) = source {
            self.rights.server.insert(("READ", source));
        } else if !TEMPORARY_TABLES.contains(&name.as_str()) {
            return self.unclear(&format!("what `{name}(…)` in `FROM` needs: grant it by hand"));
        }
        self.rights.server.insert(("CREATE TEMPORARY TABLE", "*.*"));
        if name == "dictionary" {
            match arguments.first().copied().and_then(named_by) {
                Some(dictionary) => self.whole(&dictionary, Privilege::Other(DICTIONARY)),
                None => self.unclear("the dictionary of `dictionary(…)` is not written out"),
            }
        }
    }
}

/// The right to look something up in a dictionary.
pub(crate) const DICTIONARY: &str = "dictGet";

/// Why the name behind `IN` is not understood.
pub(super) const IN_A_NAME: &str = "whether the name behind `IN` is that of a table: write `IN (SELECT … FROM …)`";

/// What an argument names: `'shop.rates'`, or the same without quotes.
fn named_by(argument: &Expr) -> Option<Named> {
    match argument {
        Expr::Identifier(ident) => Some(Named { schema: None, name: ident.value.clone() }),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [schema, name] => Some(Named { schema: Some(schema.value.clone()), name: name.value.clone() }),
            _ => None,
        },
        _ => named_in(text_of(argument).filter(|text| *text != TEXT)?, Dialect::ClickHouse),
    }
}
