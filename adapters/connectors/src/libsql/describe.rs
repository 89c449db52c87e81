//! What a statement returns: the server prepares it and says so.

use millrace_core::{
    Result,
    ports::{Column, Query},
    value::Value,
};

use super::{Libsql, hrana};
use crate::{
    shared::own_query,
    sqlite_text::{check, description},
};

impl Libsql {
    /// The columns of the result of a statement, which does not run.
    ///
    /// # Errors
    /// As those of a statement that reads.
    pub(super) async fn describe(&self, query: &Query<'_>) -> Result<Vec<Column>> {
        let text = query.statement(millrace_catalogue::LIBSQL.name)?.0;
        let effect = check(text, millrace_catalogue::LIBSQL.name)?;
        let loose = self.run(&own_query(description::LOOSE_TABLES, query.deadline_ms)).await?;
        let is_strict = loose.rows.first().is_some_and(|row| row.first() == Some(&Value::I64(0)));
        let prepare = |version| hrana::describe(&self.address.base, self.address.token.as_ref(), version, query);
        let attempt = async || hrana::described(&self.request(prepare).await?);
        let declared = self.retry.run(query, effect, attempt).await?;
        Ok(description::columns(text, is_strict, declared))
    }
}
