//! `connector: dynamodb` of a Worker, in real workerd: a service that misbehaves gets no write
//! twice.

use millrace_tests::failures::{self, READ};

use crate::worker_neon::misbehaves;

#[test]
fn a_service_that_misbehaves() {
    let adapter = "connector: dynamodb\nconnection_string: dynamodb://eu-central-1\n\
        options: { endpoint: \"{{ env.API }}\", access_key_id: AKIDEXAMPLE, secret_access_key: \"{{ env.KEY }}\" }\n";
    misbehaves(adapter, [READ, "UPDATE t SET v = 1 WHERE id = 7 RETURNING ALL NEW *"], &[("KEY", "hunter2hunter2")], failures::dynamodb());
}
