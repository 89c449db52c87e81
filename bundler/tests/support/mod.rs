//! Apps for tests, written out as one text: `== path` begins a file.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot write its files fails")]

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use millrace_bundler::{Options, Report, Severity, bundle};
use millrace_engine::{Host, Image, Limits, Loader, Message, Step};

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
        millrace_test_kit::files::write(folder, path, &format!("{text}\n"));
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

/// The least that a prelude can be: a program comes to a text, or to a promise of one.
const PRELUDE: &str = "native => {
  let told;
  const text = value => JSON.stringify(String(value));
  return {
    load(meta, value) { Promise.resolve(value).then(made => { told = `{\"made\":${text(made)}}` }, error => { told = `{\"threw\":${text(error)}}` }) },
    enter() {},
    settle() {},
    poll(isBusy) { return isBusy ? false : told },
  };
}";

struct NoHost;

impl Host for NoHost {
    fn say(&self, _: i32, _: Message) -> Option<Message> {
        None
    }

    fn clock_ms(&self) -> f64 {
        0.0
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// Evaluates a program, and waits for what it comes to: a text, or what was thrown.
pub(crate) fn evaluate(program: &str) -> Result<String, String> {
    static BASE: OnceLock<Arc<Image>> = OnceLock::new();
    let limits = Limits { fuel: u64::MAX, memory_bytes: 256 << 20 };
    let base = BASE.get_or_init(|| Image::base(PRELUDE, limits, &NoHost).unwrap());
    let step = Loader::on(base, limits).unwrap().script(r#"{"path":"program"}"#, program, &NoHost);
    let text = match step {
        Ok(Step::Done(text) | Step::Threw(text)) => text,
        Ok(Step::Waits | Step::Late) => return Err("it never settles".into()),
        Err(fault) => return Err(format!("{fault:?}")),
    };
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    match told["made"].as_str() {
        Some(made) => Ok(made.into()),
        None => Err(told["threw"].as_str().unwrap_or(&text).into()),
    }
}
