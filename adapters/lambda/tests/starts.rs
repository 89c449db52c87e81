//! The binary where Lambda did not start it.

use std::process::Command;

#[test]
fn it_says_what_lambda_did_not_set() {
    let output = Command::new(env!("CARGO_BIN_EXE_bootstrap")).env_clear().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("AWS_LAMBDA_RUNTIME_API"), "{said}");
}
