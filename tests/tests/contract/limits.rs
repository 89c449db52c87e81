//! Results that are too large, and adapters that only read.

use millrace_core::{
    Error,
    ErrorKind::{Denied, TooLarge},
    app::{Access, OnTooMany},
    ports::Query,
    value::Value,
};
use millrace_tests::database::query;

use super::{ServerUnderTest, Site};

/// What differs between servers.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// A query for three rows: `four`, `more` and `1`; and their length in bytes.
    pub(crate) three: (&'static str, usize),
    /// A query whose rows have no end, and what is said where five are accepted.
    pub(crate) endless: Option<(&'static str, &'static str)>,
    /// Whether the server stops by itself after the rows that are accepted: its connection is kept.
    pub(crate) stops: bool,
    /// A row of millions of bytes, and what is said where 9 are accepted, to what reads and to what
    /// writes, where that is certain.
    pub(crate) long: (&'static str, [&'static str; 2]),
    /// Whether a query that may write is said to have taken effect.
    pub(crate) says_written: bool,
    /// What an adapter that only reads rejects.
    pub(crate) read_only: Option<ReadOnly>,
}

/// Statements for an adapter that only reads.
#[derive(Clone, Copy)]
pub(crate) struct ReadOnly {
    /// Makes a table `t (v)`, and ways to write into it.
    pub(crate) tables: &'static [&'static str],
    /// Statements that write.
    pub(crate) writes: &'static [&'static str],
    /// What would let the next statement write, perhaps, and that statement.
    pub(crate) unlocks: [&'static str; 2],
}

pub(crate) fn a_result_that_is_too_large_is_refused(server: &'static ServerUnderTest) {
    let Limits { three: (three, length), endless, stops, says_written, long: (long, messages), .. } = server.limits;
    let site = Site::of(server);
    let database = site.open();
    let limited =
        |max_rows, max_bytes, access| database.run_with(&Query { max_rows, max_bytes, access, ..query(three) }).map(|rows| rows.rows.len());
    let too_large = |message: String| Err(Error::new(TooLarge, message));
    for access in [Access::Read, Access::Write] {
        let end = if says_written && access == Access::Write { "; the statement took effect" } else { "" };
        assert_eq!(limited(3, length, access), Ok(3));
        assert_eq!(limited(2, length, access), too_large(format!("the result has more than `max_rows`, 2 rows{end}")));
        assert_eq!(limited(3, length - 1, access), too_large(format!("the result has more than {} bytes{end}", length - 1)));
    }
    let cut = |max_rows| database.cut(&query(three), max_rows);
    assert_eq!([cut(4), cut(3), cut(2), cut(1)], [Ok((3, false)), Ok((3, false)), Ok((2, true)), Ok((1, true))]);
    // Rows without an end, and one row that is longer than everything: neither is read to its end.
    if let Some((endless, message)) = endless {
        let endless = Query { max_rows: 5, access: Access::Read, ..query(endless) };
        if stops {
            let connection = || database.rows(server.life.unwrap().connection);
            let before = connection();
            assert_eq!(database.cut(&endless, 5), Ok((5, true)));
            assert_eq!(connection(), before);
        }
        let error = database.run_with(&endless).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (TooLarge, message));
    }
    for (access, message) in [Access::Read, Access::Write].into_iter().zip(messages) {
        let error = database.run_with(&Query { access, max_bytes: 9, ..query(long) }).unwrap_err();
        assert!(error.kind == TooLarge && (message.is_empty() || error.message == message), "{access:?}: {error:?}");
    }
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    let written = Query { max_rows: 1, ..query("INSERT INTO t VALUES (1), (2) RETURNING v") };
    assert_eq!(database.run_with(&written).unwrap_err().message, "the result has more than `max_rows`, 1 rows; the statement took effect");
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(2)]]);
    // A result of a write is never cut.
    let written = Query { on_too_many: OnTooMany::Cut, ..written };
    assert_eq!(database.run_with(&written).unwrap_err().kind, TooLarge);
}

pub(crate) fn a_read_only_adapter_reads(server: &'static ServerUnderTest) {
    let ReadOnly { tables, writes, unlocks: [unlock, write] } = server.limits.read_only.unwrap();
    let site = Site::of(server);
    for statement in tables {
        site.open().run(statement, &[]).unwrap();
    }
    let reader = site.reader();
    assert_eq!(reader.rows("SELECT count(*) FROM t"), [[Value::I64(0)]]);
    for statement in writes {
        let error = reader.error(statement);
        assert_eq!((error.kind, error.message.as_str()), (Denied, "the statement writes, and the adapter is read-only"), "{statement}");
    }
    // Nothing that a statement can say lets the next one write.
    drop(reader.run(unlock, &[]));
    assert_eq!(reader.error(write).kind, Denied);
    assert_eq!(reader.rows("SELECT count(*) FROM t"), [[Value::I64(0)]]);
}
