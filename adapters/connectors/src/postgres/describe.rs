//! What a statement returns: the server parses it, with the types of its values, and says so.

use millrace_catalogue::POSTGRES;
use millrace_core::{
    Result,
    app::Access,
    ports::{Column, ColumnKind, Query},
    value::Value,
};

use super::{
    Postgres,
    lists::Lists,
    session::{Batch, Session, Transaction},
};
use crate::{
    postgres_text::{Kind, Oid, Scalar},
    shared::{Progress, REPEATABLE, StatementFailure, own_query},
};

/// The names of types, in the order of their numbers.
const NAMES: &str = "SELECT format_type(o, NULL) FROM unnest($1::oid[]) WITH ORDINALITY AS u (o, place) ORDER BY place";
const INT8: Oid = 20;

impl Postgres {
    /// The columns of the result of a statement, which does not run.
    ///
    /// # Errors
    /// As those of a statement that reads.
    pub(super) async fn describe(&self, query: &Query<'_>) -> Result<Vec<Column>> {
        let (text, values) = query.command.statement(POSTGRES.name)?;
        let batch = Batch::describing(text, values)?.with_settings(query.session);
        let lists = Lists::of(&*self.clock, &self.lists);
        let work = async |session: &mut Session, left_ms| {
            let columns = session.describe(&batch, query, left_ms).await?;
            if columns.is_empty() {
                return Ok(Vec::new());
            }
            let numbers = Value::Array(columns.iter().map(|(_, oid)| Value::I64((*oid).into())).collect());
            let own = own_query(NAMES, query.deadline_ms);
            let own = Query { max_rows: columns.len(), max_bytes: query.max_bytes, ..own };
            let names = Batch::of(NAMES, &[numbers], Transaction::Implied, &own).map_err(StatementFailure::last)?;
            let names = session.run(&names, &own, left_ms).await?;
            let column = |((name, oid), mut row): ((String, Oid), Vec<Value>)| {
                let type_name = if let Some(Value::Text(name)) = row.pop() { name } else { String::new() };
                let kind = if type_name.ends_with("[]") { ColumnKind::List } else { kind(oid) };
                Column { name, type_name, kind }
            };
            Ok(columns.into_iter().zip(names.rows).map(column).collect())
        };
        let query = &Query { access: Access::Read, ..query.clone() };
        let attempt = async |progress: &Progress| self.attempt_listed(query, progress, &lists, &work).await;
        self.connections.run(query, REPEATABLE, attempt).await
    }
}

const fn kind(oid: Oid) -> ColumnKind {
    match (oid, Kind::of(oid)) {
        (INT8, _) => ColumnKind::BigInteger,
        (_, Kind::Array(_)) => ColumnKind::List,
        (_, Kind::One(Scalar::Bool)) => ColumnKind::Boolean,
        (_, Kind::One(Scalar::Integer)) => ColumnKind::Integer,
        (_, Kind::One(Scalar::Float)) => ColumnKind::Float,
        (_, Kind::One(Scalar::Json)) => ColumnKind::Any,
        (_, Kind::One(Scalar::Decimal | Scalar::Bytes | Scalar::DateTime | Scalar::Time | Scalar::Text)) => ColumnKind::Text,
    }
}
