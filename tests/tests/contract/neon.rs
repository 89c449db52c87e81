//! The connector `neon`, over a stand-in for Neon's API in front of a real PostgreSQL.

use millrace_tests::{database::connection, far_group::Far, neon};

use super::{
    ServerUnderTest,
    hostile::Hostile,
    keeps,
    limits::Limits,
    once::Once,
    postgres::{HOSTILE, POSTGRES, hostile_values},
};

pub(crate) static SERVER: ServerUnderTest = ServerUnderTest {
    connector: "neon",
    settings: |site, url, options| {
        let base_url = format!("http://{}", neon::start(site.port()).address);
        connection("neon", url, &[&[("base_url", base_url.as_str())], options].concat())
    },
    once: Once { too_large: &[], may_be_unknown: true, ..POSTGRES.once },
    limits: Limits {
        // The whole result is collected there before anything of it is sent.
        endless: Some((ENDLESS, "the result is larger than Neon sends; nothing was changed")),
        stops: false,
        ..POSTGRES.limits
    },
    ..POSTGRES
};

const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

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
    hostile_values(&Hostile { each: 12, ..HOSTILE }, |site, folder| {
        Far::Neon.rewrite(folder);
        Far::Neon.variables(&format!("http://{}", neon::start(site.port()).address), &site.url())
    });
}
