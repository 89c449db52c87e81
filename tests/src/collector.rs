//! A collector that reads what it gets by OpenTelemetry's own definitions.

use std::{
    fs,
    io::{Read as _, Seek as _, SeekFrom},
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
    /// Starts a collector that speaks HTTP.
    ///
    /// # Panics
    /// Where it is not installed, or does not come up.
    #[must_use]
    pub fn start() -> Self {
        Self::speaking(None)
    }

    /// Starts one that speaks gRPC.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    #[must_use]
    pub fn grpc() -> Self {
        Self::speaking(Some("grpc"))
    }

    fn speaking(protocol: Option<&'static str>) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let (python, script) = (tool("venv/bin/python"), root().join("tests/servers/otlp_receiver.py"));
        for name in ["spans", "metrics", "logs"] {
            fs::write(folder.path().join(name), "").unwrap_or_else(|error| panic!("{error}"));
        }
        let place = folder.path().to_owned();
        let process = Process::start(move |_, port| {
            let mut command = Command::new(&python);
            command.arg(&script).arg(port.to_string()).arg(&place).args(protocol);
            command
        });
        Self { process, folder }
    }

    /// The variables that have everything sent here, moments after it happened.
    #[must_use]
    pub fn env(&self) -> Vec<(String, String)> {
        let often = |name: &str| (name.to_owned(), "100".to_owned());
        let names = ["OTEL_METRIC_EXPORT_INTERVAL", "OTEL_BSP_SCHEDULE_DELAY", "OTEL_BLRP_SCHEDULE_DELAY"];
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), format!("http://127.0.0.1:{}", self.process.port));
        std::iter::once(endpoint).chain(names.map(often)).collect()
    }

    /// Has every request refused, or none.
    ///
    /// # Panics
    /// Where that cannot be said.
    pub fn be_down(&self, is_down: bool) {
        let file = self.folder.path().join("down");
        let told = if is_down { fs::write(file, "") } else { fs::remove_file(file) };
        told.unwrap_or_else(|error| panic!("{error}"));
    }

    /// How many bytes of spans were written down so far.
    ///
    /// # Panics
    /// Where they cannot be read.
    #[must_use]
    pub fn written(&self) -> u64 {
        fs::metadata(self.folder.path().join("spans")).unwrap_or_else(|error| panic!("{error}")).len()
    }

    /// The spans that were written down since then.
    ///
    /// # Panics
    /// As [`written`](Self::written).
    #[must_use]
    pub fn written_since(&self, bytes: u64) -> String {
        let read = || {
            let mut file = fs::File::open(self.folder.path().join("spans"))?;
            file.seek(SeekFrom::Start(bytes))?;
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            Ok::<_, std::io::Error>(text)
        };
        read().unwrap_or_else(|error| panic!("{error}"))
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Every span so far.
    ///
    /// # Panics
    /// Where something came that is not a span.
    #[must_use]
    pub fn spans(&self) -> Vec<Json> {
        self.lines("spans")
    }

    /// Every data point of metrics so far.
    ///
    /// # Panics
    /// Where something came that is not one.
    #[must_use]
    pub fn metrics(&self) -> Vec<Json> {
        self.lines("metrics")
    }

    /// Every log line so far.
    ///
    /// # Panics
    /// Where something came that is not one.
    #[must_use]
    pub fn logs(&self) -> Vec<Json> {
        self.lines("logs")
    }

    fn lines(&self, name: &str) -> Vec<Json> {
        let text = self.file(name);
        // The last line may be half written.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let line = |line: &str| -> Json { serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")) };
        let lines: Vec<Json> = whole.lines().map(line).collect();
        for line in &lines {
            assert!(line.get("error").is_none(), "{line}");
        }
        lines
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

    /// What a metric came to with these labels, over all who sent it: the last value of each that
    /// counts from its start, and the sum of those that count from the time before. Of a histogram
    /// the count.
    ///
    /// # Panics
    /// As [`metrics`](Self::metrics).
    #[must_use]
    pub fn total(&self, metric: &str, labels: &[(&str, &str)]) -> i64 {
        let mut totals = std::collections::BTreeMap::new();
        for point in self.metrics() {
            let attributes = &point["attributes"];
            let has = |(name, value): &(&str, &str)| word(&attributes[*name]) == *value;
            if point["metric"] != metric || !labels.iter().all(has) {
                continue;
            }
            let value = if point["count"].is_null() { &point["value"] } else { &point["count"] };
            let key = (point["resource"]["service.instance.id"].to_string(), attributes.to_string());
            let total = totals.entry(key).or_insert(0);
            let value = value.as_i64().unwrap_or_default();
            // 1 is delta.
            *total = if point["temporality"] == 1 { *total + value } else { value };
        }
        totals.into_values().sum()
    }
}

/// The value of a label as text.
fn word(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
