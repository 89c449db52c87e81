//! `/metrics`, looked at by Prometheus itself, with the alerts and the dashboard of the pages.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Command,
};

use millrace_core::Json;
use millrace_tests::{
    Exchange,
    case::root,
    collector::Collector,
    local::Host,
    process::{Process, children, free_port},
    wait,
};

use super::{TRACE, group, levels::Measured};

/// What is at a path of a server on the loopback; empty where nobody answers.
pub(super) fn get(port: u16, path: &str) -> String {
    get_of(port, "localhost", path)
}

/// The same, asked for by another name.
fn get_of(port: u16, host: &str, path: &str) -> String {
    let Ok(mut connection) = TcpStream::connect(("localhost", port)) else { return String::new() };
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = connection.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

/// The number of a line of the text.
pub(super) fn number(text: &str, line: &str) -> Option<f64> {
    text.lines().find_map(|found| found.strip_prefix(line)?.trim().parse().ok())
}

/// Calls of `read` so far.
fn reads(port: u16) -> f64 {
    let labels = r#"gen_ai_tool_name="read",mcp_method_name="tools/call",millrace_outcome="ok""#;
    number(&get(port, "/metrics"), &format!("mcp_server_operation_duration_seconds_count{{{labels}}}")).unwrap_or_default()
}

fn served(port: u16) -> (Host, tempfile::TempDir) {
    served_with(port, Vec::new())
}

/// The same with more variables.
fn served_with(port: u16, more: Vec<(String, String)>) -> (Host, tempfile::TempDir) {
    let cache = group("cache");
    let folder = cache.install();
    let own = [("OTEL_METRICS_EXPORTER", "prometheus".to_owned()), ("OTEL_EXPORTER_PROMETHEUS_PORT", port.to_string())];
    let own = own.map(|(name, value)| (name.to_owned(), value));
    let variables: Vec<(String, String)> = cache.env.iter().cloned().chain(more).chain(own).collect();
    (Host::dev(folder.path(), &variables), folder)
}

/// Prometheus, which looks at a port of this machine.
fn prometheus(port: u16) -> Process {
    let rules = root().join("docs/operate/alerts.yml");
    Process::start(move |folder, own| {
        let settings = format!(
            "global: {{ scrape_interval: 500ms, evaluation_interval: 500ms }}\nrule_files: [\"{}\"]\nscrape_configs:\n  - job_name: millrace\n    \
             static_configs: [{{ targets: [\"localhost:{port}\"] }}]\n",
            rules.display()
        );
        fs::write(folder.join("prometheus.yml"), settings).unwrap();
        let mut command = Command::new("prometheus");
        command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data", &format!("--web.listen-address=127.0.0.1:{own}")]);
        command.arg("--enable-feature=exemplar-storage");
        command
    })
}

/// What Prometheus answers at a path of its API, to a query.
fn asked(prometheus: &Process, path: &str, query: &str) -> Json {
    let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let answer = get(prometheus.port, &format!("/api/v1/{path}query={encoded}"));
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    let start = body.find('{').unwrap_or_default();
    let end = body.rfind('}').map_or(0, |end| end + 1);
    serde_json::from_str(body.get(start..end).unwrap_or_default()).unwrap_or_default()
}

#[test]
fn prometheus_reads_the_traces_that_values_came_from() {
    let collector = Collector::start();
    let port = free_port();
    let (host, _folder) = served_with(port, collector.env());
    let prometheus = prometheus(port);
    let call = |trace: &str, flags: &str| {
        let _ = host.send(&Exchange::parse(&format!("CALL read\ntraceparent: 00-{trace}-b7ad6b7169203331-{flags}")));
    };
    // One that its caller has sampled, and one that it has not.
    let not_sampled = "2".repeat(32);
    call(&not_sampled, "00");
    call(TRACE, "01");
    let found = || {
        let answer = asked(&prometheus, "query_exemplars?start=0&end=9999999999&", "mcp_server_operation_duration_seconds_bucket");
        answer["data"].as_array().cloned().unwrap_or_default()
    };
    wait::until("Prometheus finds no exemplar", || !found().is_empty());
    call(&not_sampled, "00");
    wait::until("Prometheus does not count the calls", || {
        let answer = asked(&prometheus, "query?", "sum(mcp_server_operation_duration_seconds_count)");
        answer["data"]["result"][0]["value"][1] == "3"
    });
    let found = found();
    let traces: Vec<&Json> =
        found.iter().flat_map(|series| series["exemplars"].as_array().unwrap()).map(|one| &one["labels"]["trace_id"]).collect();
    assert_eq!(traces, [TRACE], "{found:#?}");
    assert_eq!(found[0]["seriesLabels"]["gen_ai_tool_name"], "read");
    // The trace that it names is there.
    assert!(collector.after(1).iter().any(|span| span["trace"] == TRACE));
    // Who exports no traces names none.
    drop(host);
    let port = free_port();
    let (host, _folder) = served(port);
    let _ = host.send(&Exchange::parse(&format!("CALL read\ntraceparent: 00-{TRACE}-b7ad6b7169203331-01")));
    let text = get(port, "/metrics");
    assert!(text.contains("_bucket{") && !text.contains("trace_id"), "{text}");
}

#[test]
fn isolates_are_added_up_and_what_one_counted_outlives_it() {
    let port = free_port();
    let (host, _folder) = served(port);
    let call = |count: usize| (0..count).for_each(|_| assert!(host.send(&Exchange::parse("CALL read")).starts_with("HTTP 200")));
    call(20);
    let text = get(port, "/metrics");
    assert!(text.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8"), "{text}");
    assert!(text.trim_end().ends_with("# EOF"), "{text}");
    assert_eq!(reads(port), 20.0, "{text}");
    assert_eq!(number(&text, "millrace_calls_active"), Some(0.0), "{text}");
    let restarts: Vec<&str> = text.lines().filter(|line| line.starts_with("millrace_isolate_restarts_total{")).collect();
    assert!(!restarts.is_empty() && restarts.iter().all(|line| line.ends_with(" 0")), "{text}");

    let kill = |signal: &str| {
        for isolate in children(host.pid()) {
            assert!(Command::new("kill").args([signal, &isolate.to_string()]).status().unwrap().success());
        }
    };
    // What a terminal sends to all processes when it is closed is their supervisor's.
    ["-HUP", "-INT", "-TERM"].iter().for_each(|signal| kill(signal));
    call(1);
    let text = get(port, "/metrics");
    assert!(!text.lines().any(|line| line.starts_with("millrace_isolate_restarts_total{") && !line.ends_with(" 0")), "{text}");
    assert_eq!(reads(port), 21.0, "{text}");
    kill("-9");
    wait::until("no isolate is started again", || {
        let text = get(port, "/metrics");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("millrace_isolate_restarts_total{")).collect();
        !lines.is_empty() && lines.iter().all(|line| line.ends_with(" 1"))
    });
    assert_eq!(reads(port), 21.0, "a counter does not go down");
    wait::until("no call is answered", || host.send(&Exchange::parse("CALL read")).starts_with("HTTP 200"));
    wait::until("the call is not counted", || reads(port) > 21.0);
    assert!(get(port, "/").starts_with("HTTP/1.1 404"));
    let elsewhere = get_of(port, "evil.example", "/metrics");
    assert!(elsewhere.starts_with("HTTP/1.1 403") && !elsewhere.contains("mcp_server"), "{elsewhere}");
}

#[test]
fn prometheus_reads_them_and_takes_the_alerts_and_the_dashboard() {
    let port = free_port();
    let app = Measured::install();
    let host = app.serve(port, &[]);
    app.call_all(&host);
    let prometheus = prometheus(port);
    for call in ["read", "read", "read-fresh", "bump", "no-such-tool"] {
        let _ = host.send(&Exchange::parse(&format!("CALL {call}")));
    }
    let query = |expression: &str| asked(&prometheus, "query?", expression);
    let value = |expression: &str| query(expression)["data"]["result"][0]["value"][1].as_str().and_then(|text| text.parse::<f64>().ok());
    wait::until("Prometheus does not count the calls", || value("sum(mcp_server_operation_duration_seconds_count)") == Some(9.0));
    assert_eq!(value("sum(millrace_failures_total{error_type=\"TOOL_NOT_FOUND\"})"), Some(1.0));
    assert_eq!(value("sum(mcp_server_operation_duration_seconds_count{gen_ai_tool_name=\"_OTHER\"})"), Some(1.0));

    // A quantile is a number only where there is a bucket for everything.
    let quantile = "histogram_quantile(0.5, sum by (le) (mcp_server_operation_duration_seconds_bucket))";
    assert!(value(quantile).is_some_and(f64::is_finite), "{}", query(quantile));

    let dashboard: Json = serde_json::from_str(&fs::read_to_string(root().join("docs/operate/grafana.json")).unwrap()).unwrap();
    let targets = dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let expressions: Vec<String> = targets.map(|target| target["expr"].as_str().unwrap().replace("$__rate_interval", "1m")).collect();
    assert!(expressions.len() > 12);
    for expression in &expressions {
        let answer = query(expression);
        assert_eq!(answer["status"], "success", "{expression}: {answer}");
        // Only what this app does not do at all is empty.
        if !["http_client"].iter().any(|absent| expression.contains(absent)) {
            wait::until(&format!("`{expression}` has no series"), || {
                query(expression)["data"]["result"].as_array().is_some_and(|found| !found.is_empty())
            });
        }
    }
    let checked = Command::new("promtool").args(["check", "rules"]).arg(root().join("docs/operate/alerts.yml")).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let tested = Command::new("promtool").args(["test", "rules"]).arg(root().join("tests/prometheus/alerts.yml")).output().unwrap();
    assert!(tested.status.success(), "{}{}", String::from_utf8_lossy(&tested.stdout), String::from_utf8_lossy(&tested.stderr));
    // What an alert asks for is there: a name that nobody has would be silent for ever.
    let alerts = fs::read_to_string(root().join("docs/operate/alerts.yml")).unwrap();
    let names: Vec<&str> = alerts.split(|character: char| !(character.is_ascii_alphanumeric() || character == '_')).collect();
    let is_metric = |name: &&str| {
        let is_ours = ["millrace_", "mcp_", "db_", "http_"].iter().any(|start| name.starts_with(start));
        let endings = ["_total", "_bucket", "_count", "_bytes", "_used", "_max", "_waiting", "_requests", "_seconds"];
        is_ours && endings.iter().any(|end| name.ends_with(end)) && !name.starts_with("db_client_connection_pool")
    };
    for name in names.into_iter().filter(is_metric) {
        assert!(value(&format!("count({name})")).is_some(), "no series is called `{name}`");
    }
}
