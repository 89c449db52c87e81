//! What is read at each export: how full pools, the script engine, places and the state file are.
//! Of a real server, at whose database nobody answers, or somebody does.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
    thread,
};

use millrace_core::Json;
use millrace_telemetry::metrics::{METRICS, MetricKind};
use millrace_tests::{
    Exchange,
    collector::Collector,
    local::{Host, binary},
    postgres::Postgres,
    process::free_port,
    wait,
};

use super::{
    group,
    prometheus::{get, number},
};

/// What is added to the group `cache`.
const FILES: &[(&str, &str)] = &[
    ("app/adapters/pg.yaml", "connector: postgres\nconnection_string: \"{{ env.LEVELS_URL }}\"\noptions: { max_connections: 3 }\n"),
    (
        "app/adapters/stuck.yaml",
        "connector: postgres\nconnection_string: \"{{ env.LEVELS_STUCK }}\"\noptions: { max_connections: 2, connect_timeout: 30s }\n",
    ),
    ("app/tools/one/config.yaml", "description: x\nuse: pg\nstatement: SELECT 1 AS one\n"),
    ("app/tools/waits/config.yaml", "description: x\nuse: stuck\nstatement: SELECT 1 AS one\nlimits: { timeout: 30s }\n"),
    ("app/tools/hurries/config.yaml", "description: x\nuse: stuck\nstatement: SELECT 1 AS one\nlimits: { timeout: 500ms }\n"),
    ("app/tools/large/config.yaml", "description: x\n"),
    (
        "app/tools/large/handler.ts",
        "export default () => {\n  const held = new Uint8Array(6 << 20);\n  held.fill(1);\n  return held.length;\n};\n",
    ),
    ("app/tools/silent/config.yaml", "description: x\nlimits: { timeout: 60s }\n"),
    ("app/tools/silent/handler.ts", "export default async (_: any, ctx: any) => (await fetch(ctx.env.LEVELS_SLOW)).text();\n"),
    ("app/tools/counted/config.yaml", "description: x\nlimits: { rate: { window: 24h, max: 1000 } }\n"),
    ("app/tools/counted/handler.ts", "export default () => 'ok';\n"),
    ("app/tools/stays/config.yaml", "description: x\nlimits: { timeout: 30s, concurrency: { max: 1, queue: 5, wait: 20s } }\n"),
    (
        "app/tools/stays/handler.ts",
        "export default async (_: any, ctx: any) => {\n  try { await fetch(ctx.env.LEVELS_SLOW); } catch {}\n  return 'ok';\n};\n",
    ),
];

/// An app in which everything is measured, and what its calls wait for.
pub(super) struct Measured {
    pub(super) folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
    stuck: TcpListener,
    slow: TcpListener,
}

impl Measured {
    pub(super) fn install() -> Self {
        let cache = group("cache");
        let folder = cache.install();
        for (path, text) in FILES {
            millrace_tests::files::write(folder.path(), path, text);
        }
        let [stuck, slow] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let slow_at = slow.local_addr().unwrap();
        fs::write(folder.path().join("millrace.yaml"), format!("name: cache\nenv: [LEVELS_SLOW]\nfetch: {{ allow: ['{slow_at}'] }}\n"))
            .unwrap();
        let mut variables = cache.env.clone();
        variables.extend(super::env(&[
            ("LEVELS_URL", &Postgres::shared().url("postgres")),
            ("LEVELS_STUCK", &format!("postgres://u:p@{}/db?sslmode=disable", stuck.local_addr().unwrap())),
            ("LEVELS_SLOW", &format!("http://{slow_at}/")),
        ]));
        Self { folder, variables, stuck, slow }
    }

    /// Serves it, with its metrics at a port.
    pub(super) fn serve(&self, port: u16, more: &[(String, String)]) -> Host {
        let mut variables = self.variables.clone();
        variables.extend(super::env(&[("OTEL_METRICS_EXPORTER", "prometheus"), ("OTEL_EXPORTER_PROMETHEUS_PORT", &port.to_string())]));
        variables.extend(more.iter().cloned());
        Host::dev(self.folder.path(), &variables)
    }

    /// Calls what makes each of the series.
    pub(super) fn call_all(&self, host: &Host) {
        for tool in ["one", "large", "counted"] {
            let answer = host.send(&Exchange::parse(&format!("CALL {tool}")));
            assert!(answer.starts_with("HTTP 200") && !answer.contains("\"isError\":true"), "{tool}: {answer}");
        }
        thread::scope(|scope| {
            let stays = scope.spawn(|| host.send(&Exchange::parse("CALL stays")));
            // Whoever it waits for hangs up.
            drop(self.slow.accept().unwrap());
            assert!(stays.join().unwrap().starts_with("HTTP 200"));
        });
    }
}

#[test]
fn a_pool_says_who_uses_it_and_who_waits() {
    let app = Measured::install();
    let port = free_port();
    let host = app.serve(port, &[]);
    let at = |line: &str| number(&get(port, "/metrics"), line);
    let of = |name: &str, pool: &str| at(&format!("db_client_connection_{name}{{db_client_connection_pool_name=\"{pool}\"}}"));
    let in_state = |state: &str, pool: &str| {
        at(&format!("db_client_connection_count{{db_client_connection_pool_name=\"{pool}\",db_client_connection_state=\"{state}\"}}"))
    };
    assert_eq!(of("max", "pg"), None, "what nobody has called has no series");
    assert!(host.send(&Exchange::parse("CALL one")).starts_with("HTTP 200"));
    assert_eq!([of("max", "pg"), in_state("used", "pg"), in_state("idle", "pg")], [Some(3.0), Some(0.0), Some(1.0)]);
    assert_eq!(of("wait_time_seconds_count", "pg"), Some(1.0));

    thread::scope(|scope| {
        let host = &host;
        let call = |tool: &'static str| scope.spawn(move || host.send(&Exchange::parse(&format!("CALL {tool}"))));
        let mut calls = vec![call("waits"), call("waits")];
        // Both have a connection to somebody who says nothing.
        let connections: Vec<_> = (0..2).map(|_| app.stuck.accept().unwrap()).collect();
        assert_eq!([in_state("used", "stuck"), of("pending_requests", "stuck"), of("max", "stuck")], [Some(2.0), Some(0.0), Some(2.0)]);
        calls.push(call("waits"));
        wait::until("nobody waits for a connection", || of("pending_requests", "stuck") == Some(1.0));
        assert_eq!(of("timeouts_total", "stuck"), Some(0.0));
        let refused = host.send(&Exchange::parse("CALL hurries"));
        assert!(refused.contains("\"isError\":true"), "{refused}");
        assert_eq!(of("timeouts_total", "stuck"), Some(1.0));
        app.stuck.set_nonblocking(true).unwrap();
        wait::until("somebody waits still", || {
            // Whoever tries again is told the same.
            while app.stuck.accept().is_ok() {}
            connections.iter().for_each(|(connection, _)| drop(connection.shutdown(std::net::Shutdown::Both)));
            calls.iter().all(thread::ScopedJoinHandle::is_finished)
        });
    });
    assert_eq!([in_state("used", "stuck"), in_state("idle", "stuck"), of("pending_requests", "stuck")], [Some(0.0), Some(0.0), Some(0.0)]);
}

#[test]
fn scripts_places_and_the_state_file_say_how_full_they_are() {
    let app = Measured::install();
    let port = free_port();
    let host = app.serve(port, &[]);
    let at = |line: &str| number(&get(port, "/metrics"), line);
    assert_eq!(at("millrace_script_places_max"), None, "no script has run");
    assert_eq!(at("millrace_state_entries"), None, "nothing is counted");
    assert!(host.send(&Exchange::parse("CALL large")).starts_with("HTTP 200"));
    let bucket =
        |bound: &str| at(&format!("millrace_script_memory_bytes_bucket{{le=\"{bound}\",millrace_script=\"app/tools/large/handler.ts\"}}"));
    let text = get(port, "/metrics");
    assert_eq!([bucket("4194304.0"), bucket("16777216.0")], [Some(0.0), Some(1.0)], "6 MB: {text}");
    assert_eq!(
        [at("millrace_script_places_used"), at("millrace_script_places_max"), at("millrace_script_places_waiting")],
        [Some(0.0), Some(64.0), Some(0.0)]
    );
    assert_eq!(at("millrace_script_memory_used_bytes"), Some(0.0), "an instance that waits for a call holds nothing");
    assert_eq!(at("millrace_script_memory_max_bytes"), Some((1_u64 << 30) as f64));

    for _ in 0..3 {
        assert!(host.send(&Exchange::parse("CALL counted")).starts_with("HTTP 200"));
    }
    assert_eq!([at("millrace_state_entries"), at("millrace_state_overdue_seconds")], [Some(1.0), Some(0.0)], "{}", get(port, "/metrics"));
    assert!(at("millrace_state_used_bytes") > Some(128.0) && at("millrace_state_size_bytes") >= at("millrace_state_used_bytes"));
    assert_eq!(at("millrace_state_max_bytes"), Some((512_u64 << 20) as f64));
    assert_eq!(at("millrace_state_refusals_total{error_type=\"disk_full\"}"), Some(0.0));

    thread::scope(|scope| {
        let call = || scope.spawn(|| host.send(&Exchange::parse("CALL stays")));
        let place = |name: &str| at(&format!("millrace_tool_places_{name}{{gen_ai_tool_name=\"stays\"}}"));
        let first = call();
        let (connection, _) = app.slow.accept().unwrap();
        wait::until("no place is taken", || [place("used"), place("max"), place("waiting")] == [Some(1.0), Some(1.0), Some(0.0)]);
        assert!(at("millrace_script_places_used") == Some(1.0) && at("millrace_script_memory_used_bytes").is_some());
        let second = call();
        wait::until("nobody waits for the place", || place("waiting") == Some(1.0));
        // A caller who leaves gives the place back, whatever its script waits for.
        let mut leaves = TcpStream::connect(("127.0.0.1", host.port)).unwrap();
        let body = Exchange::parse("CALL silent").body;
        write!(leaves, "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        let (silent, _) = app.slow.accept().unwrap();
        assert_eq!(at("millrace_script_places_used"), Some(2.0));
        drop(leaves);
        wait::until("a caller who left keeps the place", || at("millrace_script_places_used") == Some(1.0));
        drop((silent, connection));
        drop(app.slow.accept().unwrap());
        assert!([first, second].into_iter().all(|call| call.join().unwrap().starts_with("HTTP 200")));
        wait::until("the place is not given back", || [place("used"), place("waiting")] == [Some(0.0), Some(0.0)]);
    });
}

/// A metric's name as Prometheus has it.
fn exposed(name: &str, unit: &str) -> String {
    let unit = match unit {
        "s" => "_seconds",
        "By" => "_bytes",
        _ => "",
    };
    format!("{}{unit}", name.replace('.', "_"))
}

/// What `check --metrics` lists: by a metric's name what its labels can be; `None` is a list of the
/// pages.
fn listed(folder: &Path, variables: &[(String, String)]) -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let output =
        Command::new(binary()).args(["check", "--metrics"]).arg(folder).env_clear().envs(variables.iter().cloned()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut all: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    let mut last = String::new();
    for line in text.lines() {
        if let Some((name, _)) = line.split_once(" (").filter(|(name, _)| !name.starts_with(' ')) {
            last = name.to_owned();
            all.entry(last.clone()).or_default();
        } else if let Some((label, values)) = line.trim_start().split_once(": ").filter(|_| line.starts_with("  ")) {
            all.entry(last.clone()).or_default().insert(label.replace('.', "_"), values.split(", ").map(str::to_owned).collect());
        }
    }
    all.retain(|name, _| METRICS.iter().any(|about| about.name == name));
    all
}

#[test]
fn every_series_is_listed_and_every_exporter_has_the_same_names() {
    let app = Measured::install();
    let (port, collector) = (free_port(), Collector::start());
    let both: Vec<(String, String)> =
        collector.env().into_iter().chain(super::env(&[("OTEL_METRICS_EXPORTER", "otlp,prometheus")])).collect();
    let host = app.serve(port, &both);
    app.call_all(&host);
    let listed = listed(app.folder.path(), &app.variables);
    let text = get(port, "/metrics");
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| line.contains(' ') && !line.starts_with('#')) {
        // A bucket may name a trace after its number.
        let line = line.split_once(" # ").map_or(line, |(line, _)| line);
        let (series, _) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        let about = METRICS.iter().find(|about| {
            let own = exposed(about.name, about.unit);
            let endings: &[&str] = match about.kind {
                MetricKind::Histogram(_) => &["_bucket", "_count", "_sum"],
                MetricKind::Counter | MetricKind::Total => &["_total"],
                _ => &[""],
            };
            endings.iter().any(|ending| name == format!("{own}{ending}"))
        });
        // The head of the answer has lines, too.
        let Some(about) = about else { continue };
        let values = listed.get(about.name).unwrap_or_else(|| panic!("`check --metrics` does not list `{}`", about.name));
        for (label, value) in labels.trim_end_matches('}').split("\",").filter_map(|pair| pair.split_once("=\"")) {
            let value = value.trim_end_matches('"');
            let known = values.get(label);
            // Codes, statuses and numbers are lists of the pages.
            let is_known = label == "le" || known.is_some_and(|known| known.contains(value) || known.iter().any(|word| word.contains(' ')));
            assert!(is_known, "`{}`: {label} is {value}, and is listed as {known:?}", about.name);
        }
        found.insert(about.name);
    }
    let read: BTreeSet<&str> = METRICS.iter().filter(|about| about.kind.is_read()).map(|about| about.name).collect();
    assert!(read.is_subset(&found), "/metrics does not have {:?}", read.difference(&found).collect::<Vec<_>>());
    let sent = || -> BTreeSet<String> { collector.metrics().iter().map(|point| point["metric"].as_str().unwrap().to_owned()).collect() };
    let missing = || found.iter().filter(|name| !sent().contains(**name)).copied().collect::<Vec<_>>();
    wait::until_else(|| format!("the collector does not have {:?}", missing()), || missing().is_empty());
    // An app that has none of it lists none of it.
    let plain = group("cache").install();
    let few = self::listed(plain.path(), &group("cache").env);
    assert!(few.keys().all(|name| !name.starts_with("db.client.connection") && !name.starts_with("millrace.state")), "{few:?}");
}

#[test]
fn a_restart_is_counted_by_the_isolate_that_took_the_place() {
    let (collector, app) = (Collector::start(), Measured::install());
    let variables: Vec<(String, String)> = app.variables.iter().cloned().chain(collector.env()).collect();
    let host = Host::dev(app.folder.path(), &variables);
    let restarts = |collector: &Collector| {
        let by_instance: BTreeMap<String, f64> = collector
            .metrics()
            .iter()
            .filter(|point| point["metric"] == "millrace.isolate.restarts")
            .map(|point: &Json| (point["resource"]["service.instance.id"].to_string(), point["value"].as_f64().unwrap()))
            .collect();
        (by_instance.len(), by_instance.values().sum::<f64>())
    };
    assert!(host.send(&Exchange::parse("CALL read")).starts_with("HTTP 200"));
    wait::until("the first isolate says nothing", || restarts(&collector) == (1, 0.0));
    for isolate in millrace_tests::process::children(host.pid()) {
        assert!(Command::new("kill").args(["-9", &isolate.to_string()]).status().unwrap().success());
    }
    wait::until("the second isolate says nothing", || restarts(&collector) == (2, 1.0));
}
