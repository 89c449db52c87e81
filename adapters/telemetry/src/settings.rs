//! The standard variables of OpenTelemetry.
//!
//! | variable | |
//! |---|---|
//! | `OTEL_EXPORTER_OTLP_ENDPOINT` | a collector: traces, metrics and logs go to `/v1/traces`, `/v1/metrics` and `/v1/logs` below it; with gRPC to itself. Without one, nothing is sent |
//! | `OTEL_EXPORTER_OTLP_…` | `PROTOCOL`, `HEADERS`, `TIMEOUT`, `COMPRESSION`, `CERTIFICATE`, `CLIENT_CERTIFICATE`, `CLIENT_KEY` |
//! | `OTEL_EXPORTER_OTLP_TRACES_…`, `…_METRICS_…`, `…_LOGS_…` | the same of one signal; an endpoint is then the whole URL |
//! | `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE` | `cumulative`, `delta` or `lowmemory` |
//! | `OTEL_TRACES_EXPORTER`, `OTEL_METRICS_EXPORTER`, `OTEL_LOGS_EXPORTER` | `otlp` or `none`; of metrics also `prometheus` on a machine and `emf` on Lambda, or two of them |
//! | `OTEL_EXPORTER_PROMETHEUS_HOST`, `OTEL_EXPORTER_PROMETHEUS_PORT` | where `/metrics` is: `localhost`, 9464 |
//! | `OTEL_METRIC_EXPORT_INTERVAL` | milliseconds between two exports of metrics |
//! | `OTEL_BSP_…`, `OTEL_BLRP_…` | the queues of spans and of log records: `SCHEDULE_DELAY`, `MAX_QUEUE_SIZE`, `MAX_EXPORT_BATCH_SIZE` |
//! | `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` | who is observed; the app's name and version where they say nothing |
//! | `OTEL_TRACES_SAMPLER`, `OTEL_TRACES_SAMPLER_ARG` | which calls are traced; `parentbased_always_on` |
//! | `OTEL_SDK_DISABLED=true` | nothing is collected |
//!
//! Reference: <https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>.

use millrace_core::{
    Error, ErrorKind, Result,
    app::App,
    headers::Headers,
    ports::Env,
    url::{Url, percent_decoded},
};

use crate::span::Parent;

/// How many attributes a resource has at the most.
const MOST_ATTRIBUTES: usize = 64;
/// How long an attribute of the resource may be, in bytes.
const LONGEST_ATTRIBUTE: usize = 1024;
/// How long an export may take where nothing says so, in milliseconds.
const TIMEOUT_MS: u64 = 10_000;
/// How long the batches of metrics are apart where nothing says so, in milliseconds.
const INTERVAL_MS: u64 = 60_000;
/// Where Prometheus looks where nothing says so.
const PROMETHEUS_PORT: u16 = 9464;

/// What a host can do of what the variables may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abilities {
    /// Every protocol, files of certificates, a port for Prometheus.
    Machine,
    /// The same but for a port; standard output is read for metrics.
    Function,
    /// OTLP over HTTP as JSON, by `fetch`.
    Fetch,
}

/// What is collected, and where it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct TelemetrySettings {
    /// Spans of calls.
    pub traces: Option<TraceSettings>,
    /// What is counted and measured.
    pub metrics: Option<MetricSettings>,
    /// Log lines.
    pub logs: Option<LogSettings>,
    /// Who is observed: names and values.
    pub resource: Vec<(String, String)>,
}

/// The words on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OtlpProtocol {
    /// JSON over HTTP.
    #[default]
    HttpJson,
    /// Protocol buffers over HTTP.
    HttpProtobuf,
    /// gRPC.
    Grpc,
}

/// Where a signal goes. Prints no header field's value.
#[derive(Clone, PartialEq)]
pub struct Destination {
    /// Over HTTP the whole URL, with gRPC that of the server.
    pub url: String,
    /// The protocol.
    pub protocol: OtlpProtocol,
    /// The header fields of each request.
    pub headers: Headers,
    /// How long a request may take, in milliseconds.
    pub timeout_ms: u64,
    /// Whether requests are compressed with gzip.
    pub gzip: bool,
    /// A file of the certificates that the collector's has to be signed by, in place of those that
    /// the system trusts.
    pub certificate: Option<String>,
    /// The files of a certificate and a key that the collector is shown.
    pub client: Option<ClientCertificate>,
}

/// Files with what a client shows of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate, as PEM.
    pub certificate: String,
    /// Its key, as PEM.
    pub key: String,
}

impl std::fmt::Debug for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Destination").field("url", &self.url).field("protocol", &self.protocol).finish_non_exhaustive()
    }
}

/// A queue of what waits to be sent. What is `None` is as the SDK has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueSettings {
    /// How long something waits at the most, in milliseconds.
    pub delay_ms: Option<u64>,
    /// How much waits at the most.
    pub most: Option<usize>,
    /// How much goes with one request at the most.
    pub batch: Option<usize>,
}

/// Where traces go, and which.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSettings {
    /// Where they go.
    pub to: Destination,
    /// How they wait.
    pub queue: QueueSettings,
    sampler: Sampler,
}

/// Where metrics go, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSettings {
    /// Where they are sent.
    pub to: Option<Destination>,
    /// Where Prometheus gets them: the host and the port.
    pub prometheus: Option<(String, u16)>,
    /// Whether they are lines of standard output in CloudWatch's embedded metric format.
    pub emf: bool,
    /// How often they are sent, in milliseconds.
    pub interval_ms: u64,
    /// Since when they count.
    pub temporality: MetricTemporality,
}

/// Since when a metric that is sent counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetricTemporality {
    /// Since the start.
    #[default]
    Cumulative,
    /// Since it was sent before.
    Delta,
    /// Since it was sent before, but for what goes up and down.
    LowMemory,
}

/// Where log lines go.
#[derive(Clone, Debug, PartialEq)]
pub struct LogSettings {
    /// Where they go.
    pub to: Destination,
    /// How they wait.
    pub queue: QueueSettings,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Sampler {
    /// What decides where no caller did, or its decision does not count: the share of trace ids, of
    /// 2^56.
    share: u64,
    heeds_parent: bool,
}

impl TelemetrySettings {
    /// What to collect of an app, and where to send it: `None` where the app turns telemetry off, or
    /// the variables ask for none.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a variable is wrong. The message names it and
    /// shows no value.
    pub fn of_app(app: &App, env: &dyn Env, abilities: Abilities) -> Result<Option<Self>> {
        if app.telemetry { Self::of(env, &app.name, &app.version, abilities) } else { Ok(None) }
    }

    /// The same, with requests that take so many milliseconds at the most.
    #[must_use]
    pub fn within(mut self, most_ms: u64) -> Self {
        let traces = self.traces.as_mut().map(|traces| &mut traces.to);
        let metrics = self.metrics.as_mut().and_then(|metrics| metrics.to.as_mut());
        traces.into_iter().chain(metrics).for_each(|to| to.timeout_ms = to.timeout_ms.min(most_ms));
        self
    }

    /// Reads the variables. `None` where nothing is to be collected. `name` and `version` are the
    /// app's.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a variable is wrong. The message names it and
    /// shows no value.
    pub fn of(env: &dyn Env, name: &str, version: &str, abilities: Abilities) -> Result<Option<Self>> {
        let set = |name: &str| set(env, name);
        if set("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let variables = Variables { env, abilities };
        let traces = variables.traces()?;
        let metrics = variables.metrics()?;
        let logs = variables.logs()?;
        if traces.is_none() && metrics.is_none() && logs.is_none() {
            return Ok(None);
        }
        let resource = resource(set("OTEL_RESOURCE_ATTRIBUTES").as_deref(), set("OTEL_SERVICE_NAME"), name, version)?;
        Ok(Some(Self { traces, metrics, logs, resource }))
    }
}

impl TraceSettings {
    /// Whether a call is traced.
    #[must_use]
    pub fn samples(&self, trace_id: &str, parent: Option<&Parent>) -> bool {
        match parent {
            Some(parent) if self.sampler.heeds_parent => parent.is_sampled,
            // The last seven bytes are random by the rules of W3C.
            _ => trace_id.get(18..32).and_then(|last| u64::from_str_radix(last, 16).ok()).is_some_and(|last| last < self.sampler.share),
        }
    }
}

/// Kinds of what is sent.
#[derive(Clone, Copy)]
enum Signal {
    Traces,
    Metrics,
    Logs,
}

impl Signal {
    const fn in_variables(self) -> &'static str {
        match self {
            Self::Traces => "TRACES",
            Self::Metrics => "METRICS",
            Self::Logs => "LOGS",
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Self::Traces => "/v1/traces",
            Self::Metrics => "/v1/metrics",
            Self::Logs => "/v1/logs",
        }
    }
}

/// The variables, for a host.
struct Variables<'a> {
    env: &'a dyn Env,
    abilities: Abilities,
}

impl Variables<'_> {
    fn traces(&self) -> Result<Option<TraceSettings>> {
        if !self.exporters(Signal::Traces, &["otlp"])?.iter().any(|name| name == "otlp") {
            return Ok(None);
        }
        let Some(to) = self.destination(Signal::Traces)? else { return Ok(None) };
        let sampler = Sampler::of(set(self.env, "OTEL_TRACES_SAMPLER").as_deref(), set(self.env, "OTEL_TRACES_SAMPLER_ARG").as_deref())?;
        Ok(Some(TraceSettings { to, queue: self.queue("BSP")?, sampler }))
    }

    fn metrics(&self) -> Result<Option<MetricSettings>> {
        let known: &[&str] = match self.abilities {
            Abilities::Machine => &["otlp", "prometheus"],
            Abilities::Function => &["otlp", "emf"],
            Abilities::Fetch => &["otlp"],
        };
        let exporters = self.exporters(Signal::Metrics, known)?;
        let has = |name: &str| exporters.iter().any(|exporter| exporter == name);
        let to = if has("otlp") { self.destination(Signal::Metrics)? } else { None };
        let prometheus = if has("prometheus") { Some(self.prometheus()?) } else { None };
        let emf = has("emf");
        if to.is_none() && prometheus.is_none() && !emf {
            return Ok(None);
        }
        let preference = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
        let temporality = match set(self.env, preference).map(|text| text.to_ascii_lowercase()).as_deref() {
            None | Some("cumulative") => MetricTemporality::Cumulative,
            Some("delta") => MetricTemporality::Delta,
            Some("lowmemory") => MetricTemporality::LowMemory,
            Some(_) => return Err(wrong(preference, "may be `cumulative`, `delta` or `lowmemory`")),
        };
        let interval_ms = self.number("OTEL_METRIC_EXPORT_INTERVAL", "is not a number of milliseconds")?.unwrap_or(INTERVAL_MS);
        Ok(Some(MetricSettings { to, prometheus, emf, interval_ms: interval_ms.max(1), temporality }))
    }

    fn logs(&self) -> Result<Option<LogSettings>> {
        // A Worker's lines are the platform's to send on.
        if self.abilities == Abilities::Fetch || !self.exporters(Signal::Logs, &["otlp"])?.iter().any(|name| name == "otlp") {
            return Ok(None);
        }
        let Some(to) = self.destination(Signal::Logs)? else { return Ok(None) };
        Ok(Some(LogSettings { to, queue: self.queue("BLRP")? }))
    }

    /// What exports a signal: names out of `known`; empty for none.
    fn exporters(&self, signal: Signal, known: &[&str]) -> Result<Vec<String>> {
        let variable = format!("OTEL_{}_EXPORTER", signal.in_variables());
        let Some(text) = set(self.env, &variable) else { return Ok(vec!["otlp".to_owned()]) };
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).filter(|name| name != "none").collect();
        if names.iter().all(|name| known.contains(&name.as_str())) {
            return Ok(names);
        }
        let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        Err(wrong(&variable, &format!("names an exporter other than {} and `none`", known.join(", "))))
    }

    /// Where a signal goes; `None` where nothing says so.
    fn destination(&self, signal: Signal) -> Result<Option<Destination>> {
        let Some((endpoint, address)) = self.either(signal, "ENDPOINT") else { return Ok(None) };
        let protocol = self.protocol(signal)?;
        let timeout_ms = match self.either(signal, "TIMEOUT") {
            Some((name, text)) => text.parse().map_err(|_| wrong(&name, "is not a number of milliseconds"))?,
            None => TIMEOUT_MS,
        };
        let headers = match self.either(signal, "HEADERS") {
            Some((name, text)) => fields(&text).ok_or_else(|| wrong(&name, "is not a list such as `api-key=…,other=…`"))?,
            None => Headers::new(),
        };
        let gzip = match self.either(signal, "COMPRESSION").map(|(name, text)| (name, text.to_ascii_lowercase())) {
            None => false,
            Some((_, text)) if text == "none" => false,
            Some((name, text)) if text == "gzip" => self.able(&name, "asks for compression").map(|()| true)?,
            Some((name, _)) => return Err(wrong(&name, "may be `gzip` or `none`")),
        };
        let file = |what: &str| {
            let Some((name, path)) = self.either(signal, what) else { return Ok(None) };
            self.able(&name, "names a file").map(|()| Some((name, path)))
        };
        let certificate = file("CERTIFICATE")?.map(|(_, path)| path);
        let client = match (file("CLIENT_CERTIFICATE")?, file("CLIENT_KEY")?) {
            (Some((_, certificate)), Some((_, key))) => Some(ClientCertificate { certificate, key }),
            (None, None) => None,
            (Some((name, _)), None) | (None, Some((name, _))) => {
                return Err(wrong(&name, "needs its counterpart: a certificate and its key belong together"));
            }
        };
        let url = url(&endpoint, &address, signal, protocol)?;
        Ok(Some(Destination { url, protocol, headers, timeout_ms, gzip, certificate, client }))
    }

    fn protocol(&self, signal: Signal) -> Result<OtlpProtocol> {
        let known = match self.abilities {
            Abilities::Machine | Abilities::Function => "it speaks `http/protobuf`, `http/json` and `grpc`",
            Abilities::Fetch => "a Worker speaks `http/json`",
        };
        match (self.either(signal, "PROTOCOL"), self.abilities) {
            (None, Abilities::Machine | Abilities::Function) => Ok(OtlpProtocol::HttpProtobuf),
            (None, Abilities::Fetch) => Ok(OtlpProtocol::HttpJson),
            (Some((name, text)), abilities) => match (text.to_ascii_lowercase().as_str(), abilities) {
                ("http/json", _) => Ok(OtlpProtocol::HttpJson),
                ("http/protobuf", Abilities::Machine | Abilities::Function) => Ok(OtlpProtocol::HttpProtobuf),
                ("grpc", Abilities::Machine | Abilities::Function) => Ok(OtlpProtocol::Grpc),
                _ => Err(wrong(&name, &format!("asks for a protocol that Millrace does not speak here; {known}"))),
            },
        }
    }

    fn prometheus(&self) -> Result<(String, u16)> {
        let port = match set(self.env, "OTEL_EXPORTER_PROMETHEUS_PORT") {
            Some(text) => text.parse().map_err(|_| wrong("OTEL_EXPORTER_PROMETHEUS_PORT", "is not a port, a number from 0 to 65535"))?,
            None => PROMETHEUS_PORT,
        };
        Ok((set(self.env, "OTEL_EXPORTER_PROMETHEUS_HOST").unwrap_or_else(|| "localhost".to_owned()), port))
    }

    fn queue(&self, of: &str) -> Result<QueueSettings> {
        let number = |what: &str| self.number(&format!("OTEL_{of}_{what}"), "is not a number");
        let most = number("MAX_QUEUE_SIZE")?.and_then(|most| usize::try_from(most).ok());
        let batch = number("MAX_EXPORT_BATCH_SIZE")?.and_then(|batch| usize::try_from(batch).ok());
        Ok(QueueSettings { delay_ms: number("SCHEDULE_DELAY")?, most, batch })
    }

    fn number(&self, name: &str, what: &str) -> Result<Option<u64>> {
        set(self.env, name).map(|text| text.parse().map_err(|_| wrong(name, what))).transpose()
    }

    /// Refuses what this host cannot do.
    fn able(&self, name: &str, what: &str) -> Result<()> {
        if self.abilities == Abilities::Fetch { Err(wrong(name, &format!("{what}, which a Worker does not have"))) } else { Ok(()) }
    }

    /// The variable of a signal, else the one for everything: its name and its value.
    fn either(&self, signal: Signal, name: &str) -> Option<(String, String)> {
        let names = [format!("OTEL_EXPORTER_OTLP_{}_{name}", signal.in_variables()), format!("OTEL_EXPORTER_OTLP_{name}")];
        names.into_iter().find_map(|name| set(self.env, &name).map(|value| (name, value)))
    }
}

impl Sampler {
    fn of(name: Option<&str>, argument: Option<&str>) -> Result<Self> {
        const ALL: u64 = 1 << 56;
        let name = name.unwrap_or("parentbased_always_on");
        let (heeds_parent, own) = name.strip_prefix("parentbased_").map_or((false, name), |own| (true, own));
        let share = match own {
            "always_on" => ALL,
            "always_off" => 0,
            "traceidratio" => {
                let ratio = argument.map_or(Ok(1.0), str::parse::<f64>).ok().filter(|ratio| (0.0..=1.0).contains(ratio));
                (ratio.ok_or_else(|| wrong("OTEL_TRACES_SAMPLER_ARG", "is not a number from 0 to 1"))? * ALL as f64) as u64
            }
            _ => {
                return Err(wrong(
                    "OTEL_TRACES_SAMPLER",
                    "is not a sampler that Millrace supports; use `parentbased_traceidratio` or a simpler one",
                ));
            }
        };
        Ok(Self { share, heeds_parent })
    }
}

/// A variable that says something.
fn set(env: &dyn Env, name: &str) -> Option<String> {
    env.var(name).map(|value| value.expose().trim().to_owned()).filter(|value| !value.is_empty())
}

fn wrong(name: &str, what: &str) -> Error {
    Error::new(ErrorKind::Configuration, format!("the variable `{name}` {what}"))
}

fn url(name: &str, text: &str, signal: Signal, protocol: OtlpProtocol) -> Result<String> {
    if !Url::parse(text).is_ok_and(|url| matches!(url.scheme.as_str(), "http" | "https")) {
        let port = if protocol == OtlpProtocol::Grpc { 4317 } else { 4318 };
        return Err(wrong(name, &format!("is not the address of a collector; write one such as `http://localhost:{port}`")));
    }
    let is_whole = protocol == OtlpProtocol::Grpc || !name.starts_with("OTEL_EXPORTER_OTLP_ENDPOINT");
    Ok(if is_whole { text.to_owned() } else { format!("{}{}", text.trim_end_matches('/'), signal.path()) })
}

/// `a=b,c=d`, percent codes in values undone. `None` where a field is malformed.
fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let pair = |text: &str| {
        let (name, value) = text.split_once('=')?;
        Some((name.trim().to_owned(), percent_decoded(value.trim())?)).filter(|(name, _)| !name.is_empty())
    };
    text.split(',').filter(|text| !text.trim().is_empty()).map(pair).collect()
}

fn fields(text: &str) -> Option<Headers> {
    let is_token = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
    let pairs = pairs(text)?;
    let good = pairs.iter().all(|(name, value)| is_token(name) && !value.contains(|character: char| character.is_ascii_control()));
    good.then(|| pairs.into_iter().collect())
}

fn resource(attributes: Option<&str>, service: Option<String>, name: &str, version: &str) -> Result<Vec<(String, String)>> {
    let given =
        pairs(attributes.unwrap_or_default()).ok_or_else(|| wrong("OTEL_RESOURCE_ATTRIBUTES", "is not a list such as `a=b,c=d`"))?;
    let own = [
        ("telemetry.sdk.name", "millrace"),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.version", env!("CARGO_PKG_VERSION")),
        ("service.name", name),
        ("service.version", version),
    ];
    let mut all = own.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    all.extend(given);
    all.extend(service.map(|service| ("service.name".to_owned(), service)));
    let mut resource: Vec<(String, String)> = Vec::new();
    for (name, value) in all {
        resource.retain(|(other, _)| *other != name);
        if resource.len() < MOST_ATTRIBUTES && name.len() + value.len() <= LONGEST_ATTRIBUTE {
            resource.push((name, value));
        }
    }
    Ok(resource)
}

#[cfg(test)]
mod tests {
    use millrace_core::secret::Secret;

    use super::*;

    struct Given<'a>(&'a [(&'a str, &'a str)]);

    impl Env for Given<'_> {
        fn var(&self, name: &str) -> Option<Secret<String>> {
            self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| Secret::new((*value).to_owned()))
        }
    }

    const AT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318/");

    fn of(variables: &[(&str, &str)]) -> Result<Option<TelemetrySettings>> {
        TelemetrySettings::of(&Given(variables), "shop", "1.2.3", Abilities::Machine)
    }

    fn good(variables: &[(&str, &str)]) -> TelemetrySettings {
        of(&[&[AT], variables].concat()).unwrap().unwrap()
    }

    fn traced(variables: &[(&str, &str)]) -> TraceSettings {
        good(variables).traces.unwrap()
    }

    #[test]
    fn nothing_is_collected_unless_somebody_asks() {
        let none = [("OTEL_TRACES_EXPORTER", "none"), ("OTEL_METRICS_EXPORTER", "none"), ("OTEL_LOGS_EXPORTER", "none"), AT];
        for off in [&[][..], &[AT, ("OTEL_SDK_DISABLED", "true")], &none, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]] {
            assert!(of(off).unwrap().is_none(), "{off:?}");
        }
        let settings = good(&[("OTEL_TRACES_EXPORTER", "none")]);
        assert!(settings.traces.is_none() && settings.metrics.is_some() && settings.logs.is_some());
        let settings = of(&[("OTEL_METRICS_EXPORTER", "prometheus"), ("OTEL_EXPORTER_PROMETHEUS_PORT", "9000")]).unwrap().unwrap();
        let metrics = settings.metrics.unwrap();
        assert_eq!((metrics.prometheus, metrics.to, settings.traces), (Some(("localhost".to_owned(), 9000)), None, None));
    }

    #[test]
    fn addresses_headers_and_names_are_as_the_specification_says() {
        let settings = good(&[]);
        assert_eq!(settings.traces.unwrap().to.url, "http://localhost:4318/v1/traces");
        assert_eq!(settings.metrics.unwrap().to.unwrap().url, "http://localhost:4318/v1/metrics");
        assert_eq!(settings.logs.unwrap().to.url, "http://localhost:4318/v1/logs");
        assert_eq!(traced(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).to.url, "http://localhost:4318/");
        assert_eq!(traced(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://o.example/x/")]).to.url, "https://o.example/x/");
        let to = traced(&[("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b+c%3D,x=1=2 ,")]).to;
        assert_eq!(to.headers.iter().collect::<Vec<_>>(), [("api-key", "a b+c="), ("x", "1=2")]);
        assert_eq!((to.timeout_ms, traced(&[("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "5")]).to.timeout_ms), (10_000, 5));
        assert!(!format!("{to:?}").contains("a b"));
        let name = |variables| good(variables).resource.into_iter().find(|(name, _)| name == "service.name").unwrap().1;
        assert_eq!(name(&[]), "shop");
        assert_eq!(name(&[("OTEL_RESOURCE_ATTRIBUTES", "service.name=r,b=c")]), "r");
        assert_eq!(name(&[("OTEL_RESOURCE_ATTRIBUTES", "service.name=r"), ("OTEL_SERVICE_NAME", "s")]), "s");
    }

    #[test]
    fn each_signal_can_go_its_own_way() {
        let settings = good(&[
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "none"),
            ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/json"),
            ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "Delta"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "500"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "9"),
        ]);
        let (traces, metrics, logs) = (settings.traces.unwrap(), settings.metrics.unwrap(), settings.logs.unwrap());
        assert_eq!((traces.to.gzip, traces.to.protocol, traces.queue.most), (true, OtlpProtocol::HttpProtobuf, Some(9)));
        assert_eq!((metrics.temporality, metrics.interval_ms, metrics.to.unwrap().gzip), (MetricTemporality::Delta, 500, false));
        assert_eq!((logs.to.protocol, logs.to.gzip), (OtlpProtocol::HttpJson, true));
    }

    #[test]
    fn a_worker_is_told_what_it_cannot_do() {
        let of = |variables: &[(&str, &str)]| TelemetrySettings::of(&Given(&[&[AT], variables].concat()), "shop", "1", Abilities::Fetch);
        let settings = of(&[]).unwrap().unwrap();
        assert_eq!(settings.traces.unwrap().to.protocol, OtlpProtocol::HttpJson);
        assert!(settings.logs.is_none() && settings.metrics.is_some());
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem"),
        ] {
            let message = of(&[(name, value)]).unwrap_err().into_parts().message;
            assert!(message.contains(name) && message.contains("Worker"), "{message}");
        }
    }

    #[test]
    fn samplers_decide_as_they_are_called() {
        let (low, high) = ("a".repeat(18) + "00000000000001", "a".repeat(18) + "f0000000000001");
        let (yes, no) = (Parent { id: 1, is_sampled: true }, Parent { id: 1, is_sampled: false });
        let decisions = |sampler, argument| {
            let settings = traced(&[("OTEL_TRACES_SAMPLER", sampler), ("OTEL_TRACES_SAMPLER_ARG", argument)]);
            let parents = [None, Some(&yes), Some(&no)];
            [&low, &high].map(|id| parents.map(|parent| settings.samples(id, parent)))
        };
        assert_eq!(decisions("always_on", ""), [[true; 3]; 2]);
        assert_eq!(decisions("always_off", ""), [[false; 3]; 2]);
        assert_eq!(decisions("traceidratio", "0.5"), [[true; 3], [false; 3]]);
        assert_eq!(decisions("parentbased_always_on", ""), [[true, true, false]; 2]);
        assert_eq!(decisions("parentbased_always_off", ""), [[false, true, false]; 2]);
        assert_eq!(decisions("parentbased_traceidratio", "0.5"), [[true, true, false], [false, true, false]]);
    }

    #[test]
    fn what_is_wrong_is_named_without_its_value() {
        let cases = [
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "localhost:hunter2"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc-hunter2"),
            ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf-hunter2"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "hunter2"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "hunter2"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=hunter2%0Ab"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a b=hunter2"),
            ("OTEL_RESOURCE_ATTRIBUTES", "hunter2"),
            ("OTEL_TRACES_SAMPLER", "hunter2"),
            ("OTEL_TRACES_EXPORTER", "hunter2"),
            ("OTEL_METRICS_EXPORTER", "hunter2"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "hunter2"),
            ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "hunter2"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "hunter2"),
            ("OTEL_BLRP_MAX_QUEUE_SIZE", "hunter2"),
            ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "hunter2"),
        ];
        for (name, value) in cases {
            let message = of(&[(name, value), AT]).unwrap_err().into_parts().message;
            assert!(message.contains(name) && !message.contains("hunter2"), "{message}");
        }
        assert!(of(&[AT, ("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "2")]).is_err());
    }
}
