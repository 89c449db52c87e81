//! Rows, changes and errors.

use millrace_core::{
    ErrorKind::{self, Syntax},
    value::{Rows, Value},
};
use millrace_tests::database::{query, text};

use super::{ServerUnderTest, Site};

/// What differs between servers.
#[derive(Clone, Copy)]
pub(crate) struct Results {
    /// Statements without rows on a table `t` with an integer key `id` and a text `name`, and how
    /// many rows each affects; three rows remain.
    pub(crate) changes: &'static [(&'static str, u64)],
    /// Queries, and the only cell of their results.
    pub(crate) cells: &'static [(&'static str, &'static str)],
    /// Queries that have one row, whatever is in it.
    pub(crate) single: &'static [&'static str],
    /// What the table of errors needs: `parent` has one row.
    pub(crate) tables: &'static [&'static str],
    /// Statements that fail, and what is said.
    pub(crate) errors: fn(&ServerUnderTest) -> Vec<(&'static str, ErrorKind, String)>,
    /// A statement that fails, and the name of its file is not shown.
    pub(crate) hidden: Option<&'static str>,
    /// Counts the connections of this database.
    pub(crate) connections: Option<&'static str>,
}

pub(crate) fn rows_and_changes(server: &'static ServerUnderTest) {
    let Results { changes, cells, single, .. } = server.results;
    let site = Site::of(server);
    let database = site.open();
    for (statement, affected) in changes {
        assert_eq!(database.run(statement, &[]).unwrap(), Rows { affected: *affected, ..Rows::default() }, "{statement}");
    }
    let returned = database.run("INSERT INTO t VALUES (4, 'd') RETURNING id, name, id", &[]).unwrap();
    assert_eq!(&*returned.columns, ["id", "name", "id_2"]);
    assert_eq!(returned.rows, [[Value::I64(4), text("d"), Value::I64(4)]]);
    let none = database.run("SELECT id, name FROM t WHERE false;", &[]).unwrap();
    assert_eq!((&*none.columns, none.rows.len()), (&["id".to_owned(), "name".to_owned()][..], 0));
    for (query, cell) in cells {
        assert_eq!(database.rows(query), [[text(cell)]], "{query}");
    }
    for query in single {
        assert_eq!(database.rows(query).len(), 1, "{query}");
    }
}

pub(crate) fn errors_say_what_they_are_and_show_no_value(server: &'static ServerUnderTest) {
    let Results { tables, errors, hidden, connections, .. } = server.results;
    let site = Site::of(server);
    let database = site.open();
    for statement in tables {
        database.run(statement, &[]).unwrap();
    }
    for (statement, kind, message) in [
        ("", Syntax, "the query contains no statement"),
        ("-- nothing", Syntax, "the query contains no statement"),
        ("SELECT 1; SELECT 2", Syntax, "the query contains more than one statement"),
        ("SELECT 1\0", Syntax, "the statement contains a NUL character"),
        ("SELECT 'open", Syntax, "the statement cannot be sent: the literal in it is not closed"),
        (&format!("SELECT {}", server.sign), Syntax, "the statement expects a different number of values"),
    ] {
        let error = database.error(statement);
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{statement}: {:?}", error.source);
    }
    for (statement, kind, message) in errors(server) {
        let error = database.error(statement);
        assert_eq!((error.kind, error.message.clone()), (kind, message), "{statement}: {:?}", error.source);
    }
    if let Some(statement) = hidden {
        let error = database.error(statement);
        assert!(!error.message.contains("secret"), "{error:?}");
    }
    let surplus = database.run("SELECT 1", &[Value::Null]).unwrap_err();
    assert_eq!(surplus.kind, Syntax, "{surplus:?}");
    assert_eq!(database.rows("SELECT count(*) FROM parent"), [[Value::I64(1)]]);
    // None of these errors cost the connection.
    if let Some(connections) = connections {
        assert_eq!(database.run_with(&query(connections)).unwrap().rows, [[Value::I64(1)]]);
    }
}
