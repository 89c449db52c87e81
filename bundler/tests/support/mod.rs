//! Apps for tests, written out as one text: `== path` begins a file.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot write its files fails")]

use std::{fs, path::Path};

use boa_engine::{Context, Source as Script, builtins::promise::PromiseState, object::builtins::JsPromise};
use millrace_bundler::{Options, Report, Severity, bundle};

/// What the tests build for.
pub(crate) fn options() -> Options {
    Options { connectors: ["sqlite", "libsql", "d1"].map(String::from).to_vec(), ..Options::default() }
}

/// The files of an app, and the text after `== expected`.
pub(crate) fn split(case: &str) -> (Vec<(&str, &str)>, &str) {
    let mut files = Vec::new();
    for part in case.split("\n== ").map(|part| part.strip_prefix("== ").unwrap_or(part)) {
        let (path, text) = part.split_once('\n').unwrap_or((part, ""));
        if path == "expected" {
            return (files, text);
        }
        files.push((path, text));
    }
    (files, "")
}

/// Writes files below a folder. Each keeps the line end that the next `== ` took.
pub(crate) fn write<'a>(folder: &Path, files: impl IntoIterator<Item = &'a (&'a str, &'a str)>) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }
}

/// Builds an app that is written out.
pub(crate) fn build(files: &[(&str, &str)]) -> Report {
    build_for(files, &options())
}

/// Builds an app that is written out, for a host.
pub(crate) fn build_for(files: &[(&str, &str)], options: &Options) -> Report {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    bundle(folder.path(), options)
}

/// Diagnostics as text, one a paragraph.
pub(crate) fn told(report: &Report) -> String {
    let mut text = String::new();
    for found in &report.diagnostics {
        let severity = match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let place = format!("{}:{}:{}+{}", found.file.display(), found.line, found.column, found.length);
        text.push_str(&format!("{place} {severity}: {}\n", found.message));
        if let Some(help) = &found.help {
            text.push_str(&format!("    {help}\n"));
        }
    }
    text
}

/// Evaluates a program, and waits for what it comes to: a text, or what was thrown.
pub(crate) fn evaluate(program: &str) -> Result<String, String> {
    let mut context = Context::default();
    let value = context.eval(Script::from_bytes(program)).map_err(|error| error.to_string())?;
    let value = match value.as_object().map(JsPromise::from_object) {
        Some(Ok(promise)) => {
            context.run_jobs().map_err(|error| error.to_string())?;
            match promise.state() {
                PromiseState::Fulfilled(value) => value,
                PromiseState::Rejected(error) => return Err(error.display().to_string()),
                PromiseState::Pending => return Err("it never settles".into()),
            }
        }
        _ => value,
    };
    value.to_string(&mut context).map(|text| text.to_std_string_escaped()).map_err(|error| error.to_string())
}
