//! Writes with a record of their call, in one batch, which is one transaction. While another batch
//! with the same key runs, it waits at the record.

use millrace_core::{
    Result,
    ports::{CALL_RECORDS, CallRecord, LocalFuture, Query},
    value::{Rows, Value},
};
use millrace_languages::call_records::neon::{KEEP, PROBE, PUT};

use super::{Neon, Refusal, Step, Written};
use crate::{
    postgres_text,
    shared::{
        OwnStatements, Records, Statement, StatementFailure,
        batch::{Batches, RecordPlace},
        kept,
        records::{
            Field::{Expires, Key, Rows as Kept},
            RecordStatement, wait_ms,
        },
    },
};

/// The author's statement waits as long as its user does elsewhere.
const OWN_LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout TO DEFAULT";
/// How long a call may take to store its rows, in milliseconds: its change is made, and its caller
/// waits.
const STORING_MS: u64 = 2_000;

/// The table of records. A second batch with a record fails at it, and what comes so late that its
/// record has expired stores nothing.
const RECORDS: Records = Records {
    puts: &[postgres_text::RECORDS.puts[0], RecordStatement { text: PUT, fields: &[Key, Expires] }],
    probe: RecordStatement { text: PROBE, fields: &[] },
    keep: RecordStatement { text: KEEP, fields: &[Key, Kept, Expires] },
    ..postgres_text::RECORDS
};

impl Neon {
    /// Stores the rows of a write, and removes expired records. The change is made: where this
    /// fails, its rows are not known to later calls.
    pub(super) async fn store(&self, query: &Query<'_>, record: CallRecord<'_>, rows: &Rows) {
        let now_ms = self.clock.now_ms();
        let left_ms = query.deadline_ms.saturating_sub(now_ms);
        if left_ms == 0 {
            return;
        }
        // The call has an answer, which must not be lost to the deadline.
        let query = Query { deadline_ms: now_ms.saturating_add(wait_ms(left_ms).min(STORING_MS)), ..query.clone() };
        let own = |statement: &RecordStatement, rows: Value| Step::own(statement.text, &statement.values(record, &rows));
        let keep = kept(rows).map(|rows| own(&RECORDS.keep, Value::Bytes(rows)));
        let sweep = own(&RECORDS.sweep, Value::Null);
        let attempt = async || {
            let mut steps = vec![self.deadline(&query, None)?];
            steps.extend(keep.clone());
            steps.push(sweep.clone());
            self.batch(&query, steps).await.map_err(|refusal| refusal.failure)
        };
        drop(self.retry.run_safe(&query, attempt).await);
    }
}

impl OwnStatements for &Neon {
    /// The failure means something about the table only where PostgreSQL said it of the statement.
    fn run_own<'a>(&'a mut self, own: Statement<'a>, query: &'a Query<'a>) -> LocalFuture<'a, Result<Rows, StatementFailure>> {
        Box::pin(async move {
            let steps = vec![self.deadline(query, None)?, Step::own(own.text, own.values)];
            match self.batch(query, steps).await {
                Ok(rows) => Ok(rows),
                Err(refusal) if refusal.said.is_none() => Err(refusal.failure),
                // The settings of the connection stand before it, too.
                Err(refusal) => Err(self.blame_settings(&Query { session: &[], ..query.clone() }, refusal).await),
            }
        })
    }
}

impl Batches for &Neon {
    type Written<'w> = Written<'w>;
    type Failure = Refusal;
    const PAUSES_MS: &'static [u64] = &[50, 100, 200];
    const RECORDS: Records = RECORDS;
    const HAS_TABLES_AT_ONCE: bool = true;

    async fn put(&mut self, query: &Query<'_>, written: &Self::Written<'_>, record: CallRecord<'_>) -> Result<Rows, Refusal> {
        let mut before = vec![self.deadline(query, Some(wait_ms))?];
        before.extend(RECORDS.puts.iter().map(|put| Step::own(put.text, &put.values(record, &Value::Null))));
        before.push(Step::own(OWN_LOCK_TIMEOUT, &[]));
        self.run_written(query, before, written).await
    }

    fn place(refusal: &Refusal) -> RecordPlace {
        let Some(said) = &refusal.said else { return RecordPlace::Unclear };
        let is_named = said.words.contains(CALL_RECORDS);
        let is_of_table = said.table.as_deref() == Some(CALL_RECORDS);
        match said.code.as_str() {
            "42P01" if is_named => RecordPlace::Missing,
            "55P03" if refusal.context.contains(CALL_RECORDS) => RecordPlace::Running,
            "23505" if is_of_table => RecordPlace::Taken,
            "42501" | "42703" if is_named => RecordPlace::Refused,
            _ if is_of_table => RecordPlace::Refused,
            _ => RecordPlace::Unclear,
        }
    }

    async fn blame(&mut self, query: &Query<'_>, refusal: Refusal) -> StatementFailure {
        self.blame_settings(query, refusal).await
    }
}
