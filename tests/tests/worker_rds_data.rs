//! `connector: rds-data` of a Worker, in real workerd: an API that misbehaves gets no write twice,
//! whichever request of it goes wrong.

use millrace_tests::{failures, rds_data::CLUSTER};

use crate::worker_neon::far_databases_that_misbehave;

fn adapter(timeout: &str) -> String {
    format!(
        "connector: rds-data\nconnection_string: {CLUSTER}\noptions: {{ endpoint: \"{{{{ env.API }}}}\", secret_arn: \"{{{{ env.SECRET }}}}\", \
         access_key_id: AKIDEXAMPLE, secret_access_key: \"{{{{ env.KEY }}}}\", timeout: {timeout} }}\n"
    )
}

const VARIABLES: [(&str, &str); 2] =
    [("SECRET", "arn:aws:secretsmanager:eu-central-1:123456789012:secret:hunter2"), ("KEY", "hunter2hunter2")];

#[test]
fn an_api_that_misbehaves() {
    far_databases_that_misbehave(&adapter("60s"), &VARIABLES, failures::rds_data());
}

#[test]
fn an_api_that_does_not_answer() {
    far_databases_that_misbehave(&adapter("3s"), &VARIABLES, failures::rds_data_silence());
}
