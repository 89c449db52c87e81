//! The compiled runtime of Lambda: packed with the command, or made with cargo and zig.
//!
//! It holds no app, so it is made once for all apps. In a checkout, zig links it for the C library
//! of Amazon Linux 2023: what a newer machine links by itself does not start there. Cargo says
//! within a second whether the sources changed; where they did not, nothing else runs.

#[cfg(feature = "checkout")]
use std::process::Command;
use std::{env, path::PathBuf};

use crate::{
    cli::Architecture,
    commands::build::packed_runtimes,
    output::{CommandError, CommandResult},
};
#[cfg(feature = "checkout")]
use crate::{commands::build::checkout, output::note};

/// The binary's name, as Lambda wants it.
pub(super) const BINARY: &str = "bootstrap";
/// A finished binary.
const GIVEN: &str = "MILLRACE_LAMBDA_RUNTIME";
/// Cargo's profile; what is to be deployed is made with `lambda`.
#[cfg(feature = "checkout")]
const PROFILE: &str = "MILLRACE_LAMBDA_PROFILE";
/// The newest C library that Amazon Linux 2023 has.
#[cfg(feature = "checkout")]
const GLIBC: &str = "2.34";

/// Where a runtime is.
pub(super) enum Bootstrap {
    /// A file, which may be large: whether a copy is the same is told by its size and time.
    File(PathBuf),
    /// What was packed.
    Bytes(Vec<u8>),
}

/// The runtime for an architecture.
///
/// # Errors
/// There is none, and no checkout to make it from, or a tool is missing or fails.
pub(super) fn ready(architecture: Architecture) -> CommandResult<Bootstrap> {
    if let Some(given) = env::var_os(GIVEN).map(PathBuf::from) {
        return match given.is_file() {
            true => Ok(Bootstrap::File(given)),
            false => Err(CommandError::Wrong(format!("`{GIVEN}` names `{}`, which is not a file", given.display()))),
        };
    }
    if let Some(folder) = packed_runtimes::folder()? {
        return packed_runtimes::bootstrap(&folder, architecture.of_lambda()).map(Bootstrap::Bytes);
    }
    #[cfg(feature = "checkout")]
    return from_checkout(architecture).map(Bootstrap::File);
    #[cfg(not(feature = "checkout"))]
    Err(packed_runtimes::missing(GIVEN))
}

/// The runtime made from the checkout.
///
/// # Errors
/// The checkout is gone, or a tool is missing or fails.
#[cfg(feature = "checkout")]
pub(super) fn from_checkout(architecture: Architecture) -> CommandResult<PathBuf> {
    let root = checkout::root("lambda").ok_or_else(|| packed_runtimes::missing(GIVEN))?;
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
