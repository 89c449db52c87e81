//! A collector that reads what it gets by OpenTelemetry's own definitions.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Seek as _, SeekFrom},
    process::Command,
    sync::{Mutex, PoisonError},
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
    /// What the data points that were read so far come to.
    tally: Mutex<Tally>,
}

/// A series of a metric, and what it came to over all who sent it: the last value of each that
/// counts from its start, and the sum of those that count from the time before. Of a histogram the
/// count.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The attribute `service.name` of who sent it.
    pub service: String,
    /// The metric's name.
    pub metric: String,
    /// Its labels.
    pub labels: Json,
    /// What it came to.
    pub number: i64,
}

/// What data points come to. Their file is read once, however often somebody asks: hosts that count
/// from their start send all of their series each time.
#[derive(Default)]
struct Tally {
    /// How many bytes of the file were read.
    read: u64,
    /// By service, metric, labels and instance.
    numbers: BTreeMap<[String; 4], i64>,
}

impl Tally {
    fn take(&mut self, text: &str) {
        // The last line may be half written.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        self.read += whole.len() as u64;
        for line in whole.lines() {
            let point = parsed(line);
            let key = [
                word(&point["resource"]["service.name"]),
                word(&point["metric"]),
                point["attributes"].to_string(),
                word(&point["resource"]["service.instance.id"]),
            ];
            let value = if point["count"].is_null() { &point["value"] } else { &point["count"] }.as_i64().unwrap_or_default();
            let number = self.numbers.entry(key).or_insert(0);
            // 1 is delta.
            *number = if point["temporality"] == 1 { *number + value } else { value };
        }
    }
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
        Self { process, folder, tally: Mutex::default() }
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
        self.be("down", is_down);
    }

    /// Has every request answered after seconds, or at once.
    ///
    /// # Panics
    /// Where that cannot be said.
    pub fn be_slow(&self, is_slow: bool) {
        self.be("slow", is_slow);
    }

    fn be(&self, name: &str, is_so: bool) {
        let file = self.folder.path().join(name);
        let told = if is_so { fs::write(file, "") } else { fs::remove_file(file) };
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
        self.file_since("spans", bytes)
    }

    fn file_since(&self, name: &str, bytes: u64) -> String {
        let read = || {
            let mut file = fs::File::open(self.folder.path().join(name))?;
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
        whole.lines().map(parsed).collect()
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

    /// What every series came to so far.
    ///
    /// # Panics
    /// As [`metrics`](Self::metrics).
    #[must_use]
    pub fn series(&self) -> Vec<Series> {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let more = self.file_since("metrics", tally.read);
        tally.take(&more);
        let mut all: Vec<Series> = Vec::new();
        for ([service, metric, labels, _], number) in &tally.numbers {
            let labels = serde_json::from_str(labels).unwrap_or_else(|error| panic!("{error}: {labels}"));
            // Instances of one series follow each other.
            match all.last_mut().filter(|last| (&last.service, &last.metric, &last.labels) == (service, metric, &labels)) {
                Some(known) => known.number += number,
                None => all.push(Series { service: service.clone(), metric: metric.clone(), labels, number: *number }),
            }
        }
        all
    }

    /// What a metric came to with these labels, over all who sent it.
    ///
    /// # Panics
    /// As [`metrics`](Self::metrics).
    #[must_use]
    pub fn total(&self, metric: &str, labels: &[(&str, &str)]) -> i64 {
        let has = |series: &Series| labels.iter().all(|(name, value)| word(&series.labels[*name]) == *value);
        self.series().iter().filter(|series| series.metric == metric && has(series)).map(|series| series.number).sum()
    }
}

/// A line of what came.
fn parsed(line: &str) -> Json {
    let parsed: Json = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert!(parsed.get("error").is_none(), "{parsed}");
    parsed
}

/// The value of a label as text.
#[must_use]
pub fn word(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
