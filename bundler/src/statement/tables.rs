//! Which tables a statement reads and writes.
//!
//! A table is known by the last part of its name, so that `orders`, `public.orders` and `"orders"` are the same one: two tables of that name in
//! two schemas count as one. What cannot be told counts as all tables: a function of the database that nobody knows here, a statement that
//! is neither a query nor a change of rows, a variable as text. What no statement shows stays unseen: views, triggers, foreign keys that
//! delete.

use std::collections::BTreeSet;

use sqlparser::ast::{ObjectName, ObjectNamePart, Statement as Sql};

use super::{
    dialect::Dialect,
    functions,
    resolved::{Concerns, Fact, Known, Mention, MentionKind, Role, UNKNOWN_NAME, parsed, resolve},
    shown, spelling,
};

/// Longer names are cut, so that keys in a store stay short: tables whose names begin alike may count as one.
const LONGEST_NAME: usize = 100;

/// The tables of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Those that it reads.
    pub reads: TableSet,
    /// Those that it writes.
    pub writes: TableSet,
}

/// Some tables of a database, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableSet {
    /// These.
    Named(BTreeSet<String>),
    /// All, as far as is known.
    All,
}

impl Default for TableSet {
    fn default() -> Self {
        Self::Named(BTreeSet::new())
    }
}

impl TableSet {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Named(names) if names.is_empty())
    }

    /// Adds those of another one.
    pub(crate) fn extend(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Named(names), Self::Named(others)) => names.extend(others),
            _ => *self = Self::All,
        }
    }
}

impl Tables {
    /// All of them, for whatever.
    pub(super) const ALL: Self = Self { reads: TableSet::All, writes: TableSet::All };

    /// Adds those of another statement.
    pub(super) fn extend(&mut self, other: Self) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
    }
}

/// The table that an author names by hand: `orders`, `public.orders`, `"Orders"`. `None` where it is not a name.
pub(crate) fn named(text: &str, dialect: Dialect) -> Option<String> {
    if dialect == Dialect::PartiQl {
        return named_for_partiql(text);
    }
    table(&parsed(text, dialect)?, dialect)
}

/// A table of DynamoDB, `Orders` or `"Orders"`, with an index behind it or not. `None` where it is not a name.
fn named_for_partiql(text: &str) -> Option<String> {
    let text = text.trim();
    let (name, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => text.split_once('.').map_or((text, ""), |(name, _)| (name, &text[name.len()..])),
    };
    let is_name = (3..=255).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    (is_name && (rest.is_empty() || rest.starts_with('.'))).then(|| name.to_owned())
}

/// The tables of a parsed statement.
pub(super) fn of(statements: &[Sql], dialect: Dialect) -> Tables {
    let [statement] = statements else { return Tables::ALL };
    let resolved = resolve(statement, dialect, &Known::default(), false);
    if !resolved.is_whole {
        return Tables::ALL;
    }
    let mut tables = Tables::default();
    let (mut named, mut writes_named) = (TableSet::default(), false);
    // One that is not known may read and write whatever it likes.
    let is_unknown = |name: &ObjectName| dialect != Dialect::Sqlite && !functions::is_known(name);
    for fact in &resolved.facts {
        match fact {
            Fact::Doubt { concerns: Concerns::Everyone, .. } | Fact::Procedure(_) => return Tables::ALL,
            Fact::Call(call) if is_unknown(&call.name) => return Tables::ALL,
            Fact::Unnamed { reads, writes } => {
                tables.reads.extend(if *reads { TableSet::All } else { TableSet::default() });
                tables.writes.extend(if *writes { TableSet::All } else { TableSet::default() });
            }
            Fact::WritesNamed => writes_named = true,
            Fact::Mention(Mention { kind: MentionKind::Part, .. }) => {}
            Fact::Mention(Mention { name, kind: MentionKind::Function, .. }) if is_unknown(name) => return Tables::ALL,
            Fact::Mention(Mention { kind: MentionKind::Function, .. }) if dialect != Dialect::Sqlite => {}
            Fact::Mention(Mention { name, role, .. }) => {
                let one = table(name, dialect).map_or(TableSet::All, |table| TableSet::Named([table].into()));
                named.extend(one.clone());
                match (role, &one) {
                    (Role::Read, _) => tables.reads.extend(one),
                    (Role::Written | Role::Joined, TableSet::Named(_)) => tables.writes.extend(one),
                    (Role::Written | Role::Joined, TableSet::All) => return Tables::ALL,
                }
            }
            _ => {}
        }
    }
    if writes_named {
        tables.writes.extend(named);
    }
    tables
}

/// The tables of a statement without placeholders.
pub(crate) fn of_text(text: &str, dialect: Dialect) -> Tables {
    let parsed = spelling::whole(text, dialect).ok().and_then(|shown| shown::parse(&shown, dialect).ok());
    parsed.map_or(Tables::ALL, |statements| of(&statements, dialect))
}

/// The last part of a name, as its database tells tables apart.
fn table(name: &ObjectName, dialect: Dialect) -> Option<String> {
    let ObjectNamePart::Identifier(last) = name.0.last()? else { return None };
    if last.value == UNKNOWN_NAME || last.value.is_empty() {
        return None;
    }
    // `UPDATE ONLY orders`, of which the parser makes the table `ONLY` and the alias `orders`. The word is reserved.
    if dialect == Dialect::Postgres && last.quote_style.is_none() && last.value.eq_ignore_ascii_case("only") {
        return None;
    }
    let keeps_case = dialect == Dialect::Postgres && last.quote_style.is_some();
    let mut table = if keeps_case { last.value.clone() } else { last.value.to_ascii_lowercase() };
    if let Some(end) = (0..=LONGEST_NAME.min(table.len())).rev().find(|end| table.is_char_boundary(*end)) {
        table.truncate(end);
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use sqlparser::parser::Parser;

    use super::*;

    fn words(set: &TableSet) -> String {
        match set {
            TableSet::All => "*".into(),
            TableSet::Named(names) if names.is_empty() => "-".into(),
            TableSet::Named(names) => names.iter().map(String::as_str).collect::<Vec<_>>().join(" "),
        }
    }

    fn check(dialect: Dialect, cases: &[(&str, &str, &str)]) {
        for (text, reads, writes) in cases {
            let parsed = Parser::parse_sql(dialect.parser(), text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let tables = of(&parsed, dialect);
            assert_eq!((words(&tables.reads).as_str(), words(&tables.writes).as_str()), (*reads, *writes), "{text}");
        }
    }

    #[test]
    fn every_table_of_a_statement_is_found() {
        let cases = [
            ("SELECT 1", "-", "-"),
            ("SELECT * FROM orders", "orders", "-"),
            ("SELECT * FROM Orders o JOIN main.Users u ON o.user_id = u.id, items", "items orders users", "-"),
            ("SELECT (SELECT max(id) FROM a) FROM b WHERE EXISTS (SELECT 1 FROM c) ORDER BY (SELECT x FROM d)", "a b c d", "-"),
            ("SELECT * FROM (SELECT * FROM a UNION SELECT * FROM b) WHERE x IN (SELECT x FROM c)", "a b c", "-"),
            ("SELECT * FROM (a JOIN b ON 1) LEFT JOIN c ON 1", "a b c", "-"),
            ("INSERT INTO orders (id) VALUES (1) RETURNING id", "-", "orders"),
            ("INSERT INTO orders SELECT * FROM drafts", "drafts", "orders"),
            ("INSERT INTO orders SELECT * FROM orders", "orders", "orders"),
            (
                "INSERT INTO orders (id) VALUES ((SELECT max(id) FROM users)) ON CONFLICT DO UPDATE SET n = (SELECT 1 FROM x)",
                "users x",
                "orders",
            ),
            ("REPLACE INTO \"Orders\" (id) VALUES (1)", "-", "orders"),
            ("UPDATE orders SET n = (SELECT max(n) FROM users) WHERE id IN (SELECT id FROM drafts)", "drafts users", "orders"),
            ("UPDATE orders SET n = u.n FROM users AS u WHERE u.id = orders.user_id", "users", "orders"),
            ("DELETE FROM orders WHERE id IN (SELECT id FROM drafts)", "drafts", "orders"),
            ("WITH x AS (SELECT * FROM orders) SELECT * FROM x", "orders", "-"),
            ("WITH orders AS (SELECT * FROM orders) SELECT * FROM orders", "orders", "-"),
            ("WITH RECURSIVE n(x) AS (SELECT 1 UNION SELECT x + 1 FROM n) SELECT * FROM n", "-", "-"),
            ("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM t) SELECT * FROM a, b", "b t", "-"),
            ("WITH x AS (SELECT 1) SELECT * FROM main.x", "x", "-"),
            ("SELECT * FROM (WITH x AS (SELECT * FROM t) SELECT * FROM x), x", "t x", "-"),
            ("SELECT * FROM (WITH x AS (SELECT * FROM t) SELECT * FROM x)", "t", "-"),
            ("INSERT INTO orders WITH x AS (SELECT * FROM t) SELECT * FROM x", "t", "orders"),
            ("WITH x AS (SELECT id FROM old) DELETE FROM orders WHERE id IN (SELECT id FROM x)", "old", "orders"),
            ("SELECT * FROM json_each('[1]'), docs('words')", "docs json_each", "-"),
            ("SELECT nobody_knows(1) FROM t", "t", "-"),
            ("SELECT * FROM millrace_env.orders", "orders", "-"),
            ("SELECT millrace_env FROM orders", "orders", "-"),
            ("SELECT * FROM millrace_env", "*", "-"),
            ("UPDATE millrace_env SET a = 1", "*", "*"),
            ("CREATE TABLE t (id INT)", "*", "*"),
            ("DROP TABLE t", "*", "*"),
            ("PRAGMA user_version", "*", "*"),
            ("EXPLAIN SELECT * FROM t", "t", "-"),
            ("SELECT 1; SELECT 2", "*", "*"),
        ];
        check(Dialect::Sqlite, &cases);
    }

    #[test]
    fn postgresql_has_schemas_cases_and_functions() {
        let cases = [
            ("SELECT * FROM public.Orders, \"Orders\", \"sales\".\"order items\"", "Orders order items orders", "-"),
            ("SELECT count(*), lower(name), coalesce(a, b), now() FROM orders GROUP BY 2", "orders", "-"),
            ("SELECT pg_catalog.lower(name) FROM orders, generate_series(1, 3) AS n, unnest(ARRAY[1]) AS m", "orders", "-"),
            ("SELECT total_of(id) FROM orders", "*", "*"),
            ("SELECT * FROM orders_of(1)", "*", "*"),
            ("SELECT * FROM orders o, LATERAL orders_of(o.id)", "*", "*"),
            ("SELECT public.lower(name) FROM orders", "*", "*"),
            ("INSERT INTO orders (id) VALUES (next_id())", "*", "*"),
            ("SELECT 1 UNION TABLE orders", "*", "-"),
            ("SELECT n OPERATOR(shop.+) 1 FROM orders", "*", "*"),
            ("UPDATE (SELECT * FROM orders) o SET n = 1", "*", "*"),
            ("WITH moved AS (DELETE FROM drafts RETURNING *) INSERT INTO orders SELECT * FROM moved", "-", "drafts orders"),
            ("WITH gone AS (DELETE FROM drafts RETURNING *) SELECT * FROM gone", "-", "drafts"),
            ("UPDATE public.orders AS o SET n = 1 FROM users u JOIN cities c ON true", "cities users", "orders"),
            ("UPDATE ONLY orders SET n = 1", "*", "*"),
            ("DELETE FROM orders USING users WHERE users.id = orders.user_id RETURNING *", "users", "orders"),
            (
                "MERGE INTO stock s USING deliveries d ON s.id = d.id WHEN MATCHED THEN UPDATE SET n = 1 WHEN NOT MATCHED THEN INSERT (id) VALUES (d.id)",
                "deliveries",
                "stock",
            ),
            ("TRUNCATE orders, drafts", "-", "drafts orders"),
            ("TRUNCATE orders CASCADE", "-", "*"),
            ("SELECT * INTO copies FROM orders", "orders", "*"),
            ("CALL settle()", "*", "*"),
            ("COPY orders FROM STDIN", "*", "*"),
        ];
        check(Dialect::Postgres, &cases);
    }

    #[test]
    fn mysql_writes_what_it_joins() {
        let cases =
            [("UPDATE a JOIN b ON a.id = b.id SET a.x = 1, b.x = 1", "b", "a b"), ("DELETE a, b FROM a JOIN b ON a.id = b.id", "b", "a b")];
        check(Dialect::MySql, &cases);
    }

    #[test]
    fn names_by_hand() {
        let cases = [
            ("Orders", Dialect::PartiQl, Some("Orders")),
            (" \"my.orders-1\" ", Dialect::PartiQl, Some("my.orders-1")),
            ("\"Orders\".\"by_customer\"", Dialect::PartiQl, Some("Orders")),
            ("Orders.by_customer", Dialect::PartiQl, Some("Orders")),
            ("\"Orders\"x", Dialect::PartiQl, None),
            ("\"Orders", Dialect::PartiQl, None),
            ("ab", Dialect::PartiQl, None),
            ("Or ders", Dialect::PartiQl, None),
            ("orders", Dialect::Postgres, Some("orders")),
            ("public.Orders", Dialect::Postgres, Some("orders")),
            ("\"Orders\"", Dialect::Postgres, Some("Orders")),
            ("\"Orders\"", Dialect::Sqlite, Some("orders")),
            ("orders o", Dialect::Sqlite, None),
            ("", Dialect::Sqlite, None),
            ("a;b", Dialect::Sqlite, None),
        ];
        for (text, dialect, expected) in cases {
            assert_eq!(named(text, dialect).as_deref(), expected, "{text}");
        }
        assert_eq!(named(&"ü".repeat(100), Dialect::Sqlite).map(|name| name.len()), Some(100));
    }
}
