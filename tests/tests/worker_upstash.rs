//! `connector: upstash` of a Worker, in real workerd: an API that misbehaves gets no write twice.

use millrace_tests::failures;

use crate::worker_neon::misbehaves;

#[test]
fn an_api_that_misbehaves() {
    let adapter = "connector: upstash\nconnection_string: \"{{ env.API }}\"\noptions: { token: \"{{ env.TOKEN }}\" }\n";
    misbehaves(adapter, ["GET k", "INCR k"], &[("TOKEN", "hunter2hunter2")], failures::upstash());
}
