//! A collector of traces that reads them by OpenTelemetry's own definitions.

use std::{
    fs,
    process::Command,
    time::{Duration, Instant},
};

use millrace_core::Json;

use crate::{
    case::root,
    process::{Process, tool},
};

/// How long something may take that happens by itself.
const PATIENCE: Duration = Duration::from_secs(60);

/// A collector and what it has received; ends with the value.
pub struct Collector {
    process: Process,
    folder: tempfile::TempDir,
}

impl Collector {
    /// Starts a collector.
    ///
    /// # Panics
    /// Where it is not installed, or does not come up.
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let (python, script) = (tool("venv/bin/python"), root().join("tests/servers/otlp_receiver.py"));
        let file = folder.path().join("spans");
        fs::write(&file, "").unwrap_or_else(|error| panic!("{error}"));
        let process = Process::start(move |_, port| {
            let mut command = Command::new(&python);
            command.arg(&script).arg(port.to_string()).arg(&file);
            command
        });
        Self { process, folder }
    }

    /// The variable that has traces sent here.
    #[must_use]
    pub fn env(&self) -> Vec<(String, String)> {
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), format!("http://127.0.0.1:{}", self.process.port))]
    }

    /// Everything so far, as it was written down.
    ///
    /// # Panics
    /// Where it cannot be read.
    #[must_use]
    pub fn text(&self) -> String {
        fs::read_to_string(self.folder.path().join("spans")).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Every span so far.
    ///
    /// # Panics
    /// Where something came that is not a span.
    #[must_use]
    pub fn spans(&self) -> Vec<Json> {
        let text = self.text();
        // The last line may be half written.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let span = |line: &str| -> Json { serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")) };
        let spans: Vec<Json> = whole.lines().map(span).collect();
        for span in &spans {
            assert!(span.get("error").is_none(), "{span}");
        }
        spans
    }

    /// The spans, once there are so many calls.
    ///
    /// # Panics
    /// Where they do not come.
    #[must_use]
    pub fn after(&self, calls: usize) -> Vec<Json> {
        let started = Instant::now();
        loop {
            let spans = self.spans();
            if spans.iter().filter(|span| span["kind"] == 2).count() >= calls {
                return spans;
            }
            assert!(started.elapsed() < PATIENCE, "{calls} calls are not exported: {spans:#?}");
            crate::wait::moment();
        }
    }
}
