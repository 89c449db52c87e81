//! What is kept of a write, and what a record says.

#[cfg(feature = "tcp")]
use millrace_core::{Error, ErrorKind};
use millrace_core::{ports::RecordedWrite, value::Rows};

#[cfg(feature = "tcp")]
use super::StatementFailure;

/// The largest result that a record keeps, in bytes: what every database takes as one value, and as much as a result has by default.
const LARGEST: usize = 1 << 20;

/// A result as a record keeps it; `None` for one that is too large, of which the record then says only that the change was made.
pub(crate) fn kept(rows: &Rows) -> Option<Vec<u8>> {
    rows.to_kept().filter(|bytes| bytes.len() <= LARGEST)
}

/// What a record says of the call that made it: by its rows as bytes, or by how many rows it changed.
pub(crate) fn made_before(affected: Option<i64>, rows: Option<&[u8]>) -> RecordedWrite {
    // Bytes of another version of Millrace may not be understood. The change was made all the same.
    let rows = rows.map_or_else(
        || affected.map(|affected| Rows { affected: affected.try_into().unwrap_or_default(), ..Rows::default() }),
        Rows::from_kept,
    );
    rows.map_or(RecordedWrite::MadeBeforeUnknown, RecordedWrite::MadeBefore)
}

/// A failure of a command that the author of the app did not write, and must not be blamed for. `made_by` is the SQL that makes the table.
#[cfg(feature = "tcp")]
pub(crate) fn of_records(failure: StatementFailure, made_by: &str) -> StatementFailure {
    let StatementFailure { error, outcome } = failure;
    let message = match error.kind {
        ErrorKind::Syntax | ErrorKind::Constraint | ErrorKind::Data => {
            "the table `millrace_calls`, which tools with `idempotency` need, does not have the columns that Millrace made it with"
        }
        ErrorKind::Denied => "the table `millrace_calls`, which tools with `idempotency` need, cannot be made or written",
        _ => return StatementFailure { error, outcome },
    };
    let source = format!("{}; the table is made by: {made_by};", error.source.unwrap_or_default());
    StatementFailure::last(Error { kind: ErrorKind::Configuration, message: message.to_owned(), source: Some(source) })
}

/// What is told where the record that was found is gone when it is read: another call has removed it, because it had expired.
#[cfg(feature = "tcp")]
pub(crate) fn removed() -> StatementFailure {
    let message = "the record of an earlier call was removed concurrently";
    StatementFailure::not_executed(Error::new(ErrorKind::Busy, message))
}

#[cfg(test)]
mod tests {
    use millrace_core::value::Value;

    use super::*;

    #[test]
    fn a_record_says_what_it_knows() {
        let one = |text: &str| Rows {
            columns: ["a".to_owned()].into(),
            rows: vec![vec![Value::Text(text.to_owned())]],
            affected: 0,
            truncated: false,
        };
        let bytes = kept(&one("x")).unwrap();
        assert_eq!(made_before(Some(7), Some(&bytes)), RecordedWrite::MadeBefore(one("x")));
        assert_eq!(made_before(Some(7), None), RecordedWrite::MadeBefore(Rows { affected: 7, ..Rows::default() }));
        assert_eq!(made_before(None, None), RecordedWrite::MadeBeforeUnknown);
        assert_eq!(made_before(None, Some(&bytes[1..])), RecordedWrite::MadeBeforeUnknown);
        assert_eq!(kept(&one(&"x".repeat(LARGEST))), None);
    }
}
