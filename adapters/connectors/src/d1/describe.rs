//! What a statement returns. D1 describes nothing, and may leave out the columns of a result
//! without rows. So a statement that reads is joined, without any of its rows, to one row: its
//! columns have names and no types.

use millrace_core::{
    Result,
    app::Access,
    ports::{Column, Command, Query},
};

use super::D1;
use crate::sqlite_text::{before_end, check, description};

impl D1 {
    /// The columns of the result of a statement. `None` for one that writes, and where D1 would
    /// give them other names.
    ///
    /// # Errors
    /// As those of a statement that reads.
    pub(super) async fn describe(&self, query: &Query<'_>) -> Result<Option<Vec<Column>>> {
        let (text, values) = query.statement(millrace_catalogue::D1.name)?;
        if !check(text, millrace_catalogue::D1.name)?.reads {
            return Ok(None);
        }
        // A comment at the end ends with its line.
        let none = format!("SELECT s.* FROM (SELECT 1) LEFT JOIN (SELECT * FROM ({}\n) LIMIT 0) AS s ON 1", before_end(text));
        let query = Query { command: Command::Statement { text: &none, values }, access: Access::Read, ..query.clone() };
        let rows = self.run(&query).await?;
        // The second `id` of a statement is `id:1` where it stands in another one.
        if rows.columns.iter().any(|name| name.contains(':')) {
            return Ok(None);
        }
        Ok(Some(description::columns(text, false, rows.columns.iter().map(|name| (name.clone(), None)))))
    }
}
