//! The standard variables of OpenTelemetry, as far as they concern traces over HTTP.
//!
//! | variable | |
//! |---|---|
//! | `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` | the URL to post to |
//! | `OTEL_EXPORTER_OTLP_ENDPOINT` | the same without `/v1/traces`. With neither, nothing is collected |
//! | `OTEL_EXPORTER_OTLP_TRACES_HEADERS`, `…_HEADERS` | header fields, `name=value` with commas between and percent codes in values |
//! | `OTEL_EXPORTER_OTLP_TRACES_TIMEOUT`, `…_TIMEOUT` | milliseconds; 10000 |
//! | `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL`, `…_PROTOCOL` | only `http/json`, which is also the default here |
//! | `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` | who is traced; the app's name and version where they say nothing |
//! | `OTEL_TRACES_SAMPLER`, `OTEL_TRACES_SAMPLER_ARG` | which calls are traced; `parentbased_always_on` |
//! | `OTEL_SDK_DISABLED=true`, `OTEL_TRACES_EXPORTER=none` | nothing is collected |
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

/// Where traces go, and which. Prints no header field's value.
#[derive(Clone)]
pub struct TraceSettings {
    pub(crate) url: String,
    pub(crate) headers: Headers,
    pub(crate) timeout_ms: u64,
    pub(crate) resource: Vec<(String, String)>,
    sampler: Sampler,
}

impl std::fmt::Debug for TraceSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("url", &self.url).field("sampler", &self.sampler).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Sampler {
    /// What decides where no caller did, or its decision does not count: the share of trace ids, of
    /// 2^56.
    share: u64,
    heeds_parent: bool,
}

impl TraceSettings {
    /// What to collect of an app, and where to send it: `None` where the app turns traces off, or
    /// the variables ask for none.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a variable is wrong. The message names it and
    /// shows no value.
    pub fn of_app(app: &App, env: &dyn Env) -> Result<Option<Self>> {
        if app.telemetry { Self::of(env, &app.name, &app.version) } else { Ok(None) }
    }

    /// The same, with requests that take so many milliseconds at the most.
    #[must_use]
    pub fn within(mut self, most_ms: u64) -> Self {
        self.timeout_ms = self.timeout_ms.min(most_ms);
        self
    }

    /// Reads the variables. `None` where nothing is to be collected. `name` and `version` are the
    /// app's.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a variable is wrong. The message names it and
    /// shows no value.
    pub fn of(env: &dyn Env, name: &str, version: &str) -> Result<Option<Self>> {
        let set = |name: &str| set(env, name);
        let either = |name: &str| either(env, name);
        let Some((endpoint, address)) = either("ENDPOINT") else { return Ok(None) };
        if set("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        match set("OTEL_TRACES_EXPORTER").as_deref() {
            None | Some("otlp") => {}
            Some("none") => return Ok(None),
            Some(_) => return Err(wrong("OTEL_TRACES_EXPORTER", "names an exporter other than `otlp` and `none`")),
        }
        if let Some((name, _)) = either("PROTOCOL").filter(|(_, protocol)| protocol != "http/json") {
            return Err(wrong(&name, "asks for a protocol that Millrace does not speak; it speaks `http/json`"));
        }
        let timeout_ms = match either("TIMEOUT") {
            Some((name, text)) => text.parse().map_err(|_| wrong(&name, "is not a number of milliseconds"))?,
            None => TIMEOUT_MS,
        };
        let headers = match either("HEADERS") {
            Some((name, text)) => fields(&text).ok_or_else(|| wrong(&name, "is not a list such as `api-key=…,other=…`"))?,
            None => Headers::new(),
        };
        Ok(Some(Self {
            url: url(&endpoint, &address)?,
            headers,
            timeout_ms,
            resource: resource(set("OTEL_RESOURCE_ATTRIBUTES").as_deref(), set("OTEL_SERVICE_NAME"), name, version)?,
            sampler: Sampler::of(set("OTEL_TRACES_SAMPLER").as_deref(), set("OTEL_TRACES_SAMPLER_ARG").as_deref())?,
        }))
    }

    /// Whether a call is traced.
    pub(crate) fn samples(&self, trace_id: &str, parent: Option<&Parent>) -> bool {
        match parent {
            Some(parent) if self.sampler.heeds_parent => parent.is_sampled,
            // The last seven bytes are random by the rules of W3C.
            _ => trace_id.get(18..32).and_then(|last| u64::from_str_radix(last, 16).ok()).is_some_and(|last| last < self.sampler.share),
        }
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

/// The variable for traces, else the one for everything: its name and its value.
fn either(env: &dyn Env, name: &str) -> Option<(String, String)> {
    let names = [format!("OTEL_EXPORTER_OTLP_TRACES_{name}"), format!("OTEL_EXPORTER_OTLP_{name}")];
    names.into_iter().find_map(|name| set(env, &name).map(|value| (name, value)))
}

fn wrong(name: &str, what: &str) -> Error {
    Error::new(ErrorKind::Configuration, format!("the variable `{name}` {what}"))
}

fn url(name: &str, text: &str) -> Result<String> {
    if !Url::parse(text).is_ok_and(|url| matches!(url.scheme.as_str(), "http" | "https")) {
        return Err(wrong(name, "is not the address of a collector; write one such as `http://localhost:4318`"));
    }
    Ok(if name.contains("_TRACES_") { text.to_owned() } else { format!("{}/v1/traces", text.trim_end_matches('/')) })
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

    struct Variables<'a>(&'a [(&'a str, &'a str)]);

    impl Env for Variables<'_> {
        fn var(&self, name: &str) -> Option<Secret<String>> {
            self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| Secret::new((*value).to_owned()))
        }
    }

    const AT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318/");

    fn of(variables: &[(&str, &str)]) -> Result<Option<TraceSettings>> {
        TraceSettings::of(&Variables(variables), "shop", "1.2.3")
    }

    fn good(variables: &[(&str, &str)]) -> TraceSettings {
        of(&[&[AT], variables].concat()).unwrap().unwrap()
    }

    #[test]
    fn nothing_is_collected_unless_somebody_asks() {
        for off in
            [&[][..], &[AT, ("OTEL_SDK_DISABLED", "true")], &[AT, ("OTEL_TRACES_EXPORTER", "none")], &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]]
        {
            assert!(of(off).unwrap().is_none(), "{off:?}");
        }
    }

    #[test]
    fn addresses_headers_and_names_are_as_the_specification_says() {
        assert_eq!(good(&[]).url, "http://localhost:4318/v1/traces");
        assert_eq!(good(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://o.example/x/")]).url, "https://o.example/x/");
        let settings = good(&[("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b+c%3D,x=1=2 ,")]);
        assert_eq!(settings.headers.iter().collect::<Vec<_>>(), [("api-key", "a b+c="), ("x", "1=2")]);
        assert_eq!((settings.timeout_ms, good(&[("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "5")]).timeout_ms), (10_000, 5));
        assert!(!format!("{settings:?}").contains("a b"));
        let name = |variables| good(variables).resource.into_iter().find(|(name, _)| name == "service.name").unwrap().1;
        assert_eq!(name(&[]), "shop");
        assert_eq!(name(&[("OTEL_RESOURCE_ATTRIBUTES", "service.name=r,b=c")]), "r");
        assert_eq!(name(&[("OTEL_RESOURCE_ATTRIBUTES", "service.name=r"), ("OTEL_SERVICE_NAME", "s")]), "s");
    }

    #[test]
    fn samplers_decide_as_they_are_called() {
        let (low, high) = ("a".repeat(18) + "00000000000001", "a".repeat(18) + "f0000000000001");
        let (yes, no) = (Parent { id: 1, is_sampled: true }, Parent { id: 1, is_sampled: false });
        let decisions = |sampler, argument| {
            let settings = good(&[("OTEL_TRACES_SAMPLER", sampler), ("OTEL_TRACES_SAMPLER_ARG", argument)]);
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
        ];
        for (name, value) in cases {
            let message = of(&[(name, value), AT]).unwrap_err().into_parts().message;
            assert!(message.contains(name) && !message.contains("hunter2"), "{message}");
        }
        assert!(of(&[AT, ("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "2")]).is_err());
    }
}
