//! `connector: planetscale` of a Worker, in real workerd: an API that misbehaves gets no write
//! twice.

use millrace_tests::failures;

use crate::worker_neon::far_databases_that_misbehave;

#[test]
fn an_api_that_misbehaves() {
    let adapter = "connector: planetscale\nconnection_string: \"{{ env.API }}\"\noptions: { user: me, password: \"{{ env.PASSWORD }}\" }\n";
    far_databases_that_misbehave(adapter, &[("PASSWORD", "hunter2")], failures::planetscale());
}
