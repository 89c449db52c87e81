//! The compiled runtime of Lambda: found, or made with cargo and zig.
//!
//! It holds no app, so it is made once for all apps. Zig links it for the C library of Amazon Linux 2023: what a newer machine links by
//! itself does not start there. Cargo says within a second whether the sources changed; where they did not, nothing else runs.

use std::{env, path::PathBuf, process::Command};

use crate::{
    cli::Architecture,
    commands::build::checkout,
    output::{CommandError, CommandResult, note},
};

/// The binary's name, as Lambda wants it.
pub(super) const BINARY: &str = "bootstrap";
/// A finished binary.
const GIVEN: &str = "MILLRACE_LAMBDA_RUNTIME";
/// Cargo's profile; what is to be deployed is made with `lambda`.
const PROFILE: &str = "MILLRACE_LAMBDA_PROFILE";
/// The newest C library that Amazon Linux 2023 has.
const GLIBC: &str = "2.34";

/// The runtime for an architecture.
///
/// # Errors
/// There is no checkout to make it from, or a tool is missing or fails.
pub(super) fn ready(architecture: Architecture) -> CommandResult<PathBuf> {
    if let Some(given) = env::var_os(GIVEN).map(PathBuf::from) {
        return match given.is_file() {
            true => Ok(given),
            false => Err(CommandError::Wrong(format!("`{GIVEN}` names `{}`, which is not a file", given.display()))),
        };
    }
    let root = checkout::root("lambda", GIVEN)?;
    let target = format!("{}-unknown-linux-gnu", architecture.of_rust());
    let profile = env::var(PROFILE).unwrap_or_else(|_| "lambda".into());
    let made = root.join("target").join(&target).join(&profile).join(BINARY);
    if !made.is_file() {
        note(format_args!("making Lambda's runtime for {} (some minutes; once for all apps)", architecture.of_lambda()));
    }
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["zigbuild", "--locked", "--package", "millrace-lambda", "--bin", BINARY, "--profile", &profile, "--target"])
        .arg(format!("{target}.{GLIBC}"))
        .env("PATH", checkout::path(root, "lambda/bin"))
        .current_dir(root);
    let failure = format!(
        "Lambda's runtime does not compile; `scripts/setup` installs what it needs, including cargo-zigbuild and the target \
                 {target}"
    );
    checkout::cargo(&mut cargo, BINARY, &failure)
}
