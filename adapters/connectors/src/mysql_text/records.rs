//! The table of the records of calls, in MySQL's SQL.

use millrace_core::ErrorKind;
use millrace_languages::call_records::mysql::{CREATE_TABLE, FIND, KEEP, PUT, SWEEP, TAKE};

use super::server_error::{LOCK_WAIT, NO_TABLE, TABLE_EXISTS, number_of};
use crate::shared::records::{
    Field::{Expires, Key, Most, Now, Rows},
    RecordStatement, Records, wait_ms,
};

/// What is done with it.
pub(crate) const RECORDS: Records = Records {
    makes: &[CREATE_TABLE],
    puts: &[RecordStatement { text: PUT, fields: &[Key, Expires] }],
    find: RecordStatement { text: FIND, fields: &[Key] },
    probe: RecordStatement { text: FIND, fields: &[Key] },
    take: Some(RecordStatement { text: TAKE, fields: &[Expires, Key, Now] }),
    keep: RecordStatement { text: KEEP, fields: &[Rows, Key] },
    sweep: RecordStatement { text: SWEEP, fields: &[Now, Most] },
    sweeps_within: false,
    ends_session: &[],
    largest: usize::MAX,
    wait_ms,
    is_said: |error| number_of(error).is_some(),
    is_missing: |error| number_of(error) == Some(NO_TABLE),
    is_made_by_another: |error| number_of(error) == Some(TABLE_EXISTS),
    is_running: |error| error.kind == ErrorKind::TimedOut || number_of(error) == Some(LOCK_WAIT),
};
