//! What a statement returns: the server prepares it and says so.

use millrace_catalogue::MYSQL;
use millrace_core::{
    Result,
    ports::{Column, ColumnKind, Query},
};

use super::{LIMIT_STEP_MS, Mysql, session::Session};
use crate::{
    mysql_text::check,
    shared::{Pooled as _, Progress, REPEATABLE, ReadOnly},
};

impl Mysql {
    /// The columns of the result of a statement, which does not run. `None` for the call of a
    /// procedure. A connection of its own is made for it.
    ///
    /// # Errors
    /// As those of a statement that reads.
    pub(super) async fn describe(&self, query: &Query<'_>) -> Result<Option<Vec<Column>>> {
        let (text, values) = query.statement(MYSQL.name)?;
        // What a procedure returns is known when it is called.
        if check(MYSQL.name, text, ReadOnly::Database)?.calls() {
            return Ok(None);
        }
        let attempt = async |progress: &Progress| {
            let connect = async |until_ms| self.connect(until_ms).await;
            let mut session: Session = self.connections.connect(query.deadline_ms, progress, connect).await?;
            let left_ms = self.connections.begin(query, progress)?;
            let described = session.describe(text, left_ms.next_multiple_of(LIMIT_STEP_MS)).await;
            session.close().await;
            described
        };
        let described = self.connections.run(query, REPEATABLE, attempt).await?;
        // A derived table is called one, too, and may be made of values.
        let words = text.to_ascii_uppercase();
        let has_derived = words.matches("SELECT").count() > 1 || words.contains("WITH") || words.contains("VALUES");
        let column = |(name, column): (&String, &super::cell::Column)| {
            let (type_name, kind) = column.description();
            // What is made of a value has the type of that value, which is not known yet.
            let kind = if values.is_empty() || (column.is_of_table && !has_derived) { kind } else { ColumnKind::Any };
            Column { name: name.clone(), type_name: type_name.to_owned(), kind }
        };
        Ok(Some(described.names.iter().zip(&described.columns).map(column).collect()))
    }
}
