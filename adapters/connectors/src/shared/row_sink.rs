//! The rows of a result within the limits of a query: counted, cut and refused alike for every
//! driver. Cells are counted as the database writes them.

use millrace_core::{
    Error, ErrorKind,
    ports::Query,
    value::{Rows, Value},
};

use super::StatementFailure;

/// The rows of a result so far.
pub(crate) struct RowSink<'q, R = Vec<Value>> {
    query: &'q Query<'q>,
    rows: Vec<R>,
    bytes: usize,
    is_cut: bool,
    /// What is too large: the rows are not kept any more.
    excess: Option<String>,
}

impl<'q, R> RowSink<'q, R> {
    /// For the result of a query.
    pub(crate) const fn of(query: &'q Query<'q>) -> Self {
        Self { query, rows: Vec::new(), bytes: 0, is_cut: false, excess: None }
    }

    /// Whether the query leaves out another row, which is noted.
    pub(crate) fn leaves_out(&mut self) -> bool {
        self.is_cut |= self.query.cuts() && self.rows.len() >= self.query.max_rows;
        self.is_cut
    }

    /// Whether another row of so many bytes is to be [kept](Self::push). Else it is left out, or
    /// too much: then nothing is kept any more.
    pub(crate) fn admits(&mut self, bytes: usize) -> bool {
        if self.leaves_out() || self.excess.is_some() {
            return false;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.excess = if self.rows.len() >= self.query.max_rows {
            Some(format!("the result has more than `max_rows`, {} rows", self.query.max_rows))
        } else if self.bytes > self.query.max_bytes {
            Some(too_many_bytes(self.query))
        } else {
            return true;
        };
        self.rows = Vec::new();
        false
    }

    /// Keeps a row.
    pub(crate) fn push(&mut self, row: R) {
        self.rows.push(row);
    }

    /// Why the result is refused, and what that says of the statement, which has ended.
    ///
    /// # Errors
    /// [`TooLarge`](ErrorKind::TooLarge).
    pub(crate) fn check(&self) -> Result<(), StatementFailure> {
        self.excess.as_ref().map_or(Ok(()), |what| Err(too_large(what.clone(), self.query)))
    }

    /// The rows, and whether there are more.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(crate) fn finish(self) -> Result<(Vec<R>, bool), StatementFailure> {
        self.check()?;
        Ok((self.rows, self.is_cut))
    }
}

impl RowSink<'_> {
    /// The rows as a result with these columns.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(crate) fn into_rows(self, columns: std::rc::Rc<[String]>) -> Result<Rows, StatementFailure> {
        let (rows, truncated) = self.finish()?;
        Ok(Rows { columns, rows, truncated, ..Rows::default() })
    }
}

/// A result that was too large, after the statement has ended.
pub(crate) fn too_large(what: String, query: &Query<'_>) -> StatementFailure {
    let message = if query.access.reads() { what } else { format!("{what}; the statement took effect") };
    StatementFailure::last(Error::new(ErrorKind::TooLarge, message))
}

/// A result that was not read to its end.
pub(crate) fn broken_off(query: &Query<'_>) -> StatementFailure {
    let what = too_many_bytes(query);
    let message = if query.access.reads() { what } else { format!("{what}; it is not known whether the statement took effect") };
    StatementFailure::last(Error::new(ErrorKind::TooLarge, message))
}

fn too_many_bytes(query: &Query<'_>) -> String {
    format!("the result has more than {} bytes", query.max_bytes)
}

#[cfg(test)]
mod tests {
    use millrace_core::app::{Access, OnTooMany};

    use super::*;
    use crate::shared::own_query;

    /// What becomes of rows of these lengths.
    fn taken(query: &Query<'_>, lengths: &[usize]) -> Result<(usize, bool), String> {
        let mut sink = RowSink::<usize>::of(query);
        for length in lengths {
            if sink.admits(*length) {
                sink.push(*length);
            }
        }
        sink.finish().map(|(rows, is_cut)| (rows.len(), is_cut)).map_err(|failure| failure.error.into_parts().message)
    }

    #[test]
    fn rows_are_counted_cut_and_refused() {
        let read = Query { max_rows: 2, max_bytes: 10, ..own_query("", 0) };
        let write = Query { access: Access::Write, on_too_many: OnTooMany::Cut, ..read.clone() };
        let cut = Query { on_too_many: OnTooMany::Cut, ..read.clone() };
        assert_eq!(taken(&read, &[5, 5]), Ok((2, false)));
        assert_eq!(taken(&cut, &[5, 5, 90]), Ok((2, true)));
        assert_eq!(taken(&read, &[1, 1, 1, 1]), Err("the result has more than `max_rows`, 2 rows".to_owned()));
        assert_eq!(taken(&read, &[11, 1]), Err("the result has more than 10 bytes".to_owned()));
        assert_eq!(taken(&write, &[1, 1, 1]), Err("the result has more than `max_rows`, 2 rows; the statement took effect".to_owned()));
    }
}
