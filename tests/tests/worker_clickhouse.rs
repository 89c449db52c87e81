//! `connector: clickhouse` of a Worker, in real workerd: a server that misbehaves gets no write
//! twice. That the answers are those of every host, the corpus shows (`tests/worker.rs`).

use millrace_core::ErrorKind::TooLarge;
use millrace_tests::failures;

use crate::worker_neon::far_databases_that_misbehave;

#[test]
fn a_server_that_misbehaves() {
    let adapter = "connector: clickhouse\nconnection_string: \"{{ env.API }}\"\noptions: { user: me, password: \"{{ env.PASSWORD }}\" }\n";
    // How much an answer may have is the app's to say, and more than these have.
    let cases = failures::clickhouse().into_iter().filter(|case| case.read.0 != Err(TooLarge)).collect();
    far_databases_that_misbehave(adapter, &[("PASSWORD", "hunter2")], cases);
}
