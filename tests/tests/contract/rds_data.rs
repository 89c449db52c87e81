//! The connector `rds-data`, over a stand-in for the RDS Data API in front of a real PostgreSQL.

use millrace_core::app::Access;
use millrace_tests::{far_group::Far, rds_data};

use super::{
    ServerUnderTest,
    hostile::Hostile,
    keeps,
    life::Life,
    limits::Limits,
    once::Once,
    postgres::{HOSTILE, LIFE, POSTGRES, hostile_values},
};

const TOO_LARGE: &str = "the result is larger than the Data API sends, 1 MB; nothing was changed";

pub(crate) static SERVER: ServerUnderTest = ServerUnderTest {
    connector: "rds-data",
    settings: |site, url, options| rds_data::settings(&format!("http://{}", rds_data::start(site.port()).address), url, options),
    // The API sends 1 MB, and records as base64.
    once: Once { too_large: &[], lengths: [800_000, 600_000], ..POSTGRES.once },
    limits: Limits {
        endless: Some(("WITH RECURSIVE n (i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM n) SELECT i FROM n", TOO_LARGE)),
        stops: false,
        long: ("SELECT repeat('x', 5000000)", [TOO_LARGE; 2]),
        ..POSTGRES.limits
    },
    // What reads is no transaction there, so nothing can be set for it; the API ends it after 45
    // seconds.
    life: Some(Life { ends: &[Access::Write], ..LIFE }),
    ..POSTGRES
};

keeps! { SERVER:
    once {
        a_call_that_meets_one_that_does_not_end_is_a_conflict
        a_record_may_be_larger_than_what_a_call_reads
        a_result_too_large_for_a_record_is_not_kept_and_the_change_is
        a_table_of_somebody_else_is_the_operators_affair
        a_table_that_cannot_be_made_is_the_operators_affair
        a_write_happens_once_for_a_key
        a_write_that_fails_leaves_no_record
        expired_records_are_removed_by_later_writes
        two_that_ask_at_once_write_once
    }
    results { errors_say_what_they_are_and_show_no_value rows_and_changes }
    life { a_statement_ends_at_its_deadline_on_the_server_too }
    limits { a_read_only_adapter_reads a_result_that_is_too_large_is_refused }
}

#[test]
fn hostile_values_come_back_through_every_form() {
    // A list of lists has no form in the answers of the API.
    let wrong = &["refused a value", "a type that the Data API does not return"];
    hostile_values(&Hostile { wrong, each: 12, ..HOSTILE }, |site, folder| {
        Far::RdsData.rewrite(folder);
        Far::RdsData.variables(&format!("http://{}", rds_data::start(site.port()).address), &site.url())
    });
}
