//! The commands of pages that start a server, each until the server answers.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use millrace_tests::{
    Exchange,
    case::root,
    collector::Collector,
    docs::{blocks, shell, text},
    local::{binary, send},
    process::{Process, free_port},
    wait,
};

/// The shell blocks of a page.
fn commands(page: &str) -> Vec<String> {
    let page = fs::read_to_string(root().join("docs").join(page)).unwrap();
    blocks(&page).into_iter().filter(|(kind, _)| kind == "sh").map(|(_, body)| body).collect()
}

/// A line of the log that a page shows, without its level.
fn logged(page: &str, part: &str) -> String {
    let page = fs::read_to_string(root().join("docs").join(page)).unwrap();
    let (_, line) = blocks(&page).into_iter().find(|(kind, body)| kind == "text" && body.contains(part)).unwrap();
    line.trim().trim_start_matches("ERROR ").to_owned()
}

/// A new app with its bundle, as every reader of these pages has it.
fn notes() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let made = shell(folder.path(), "millrace new notes && cd notes && millrace build --target local");
    assert!(made.status.success(), "{}", text(&made));
    let notes = folder.path().join("notes");
    (folder, notes)
}

/// Runs lines whose last one serves, until they end with the value.
fn served(folder: &Path, lines: &str, variables: &[(&str, String)]) -> Process {
    let (before, last) = lines.trim_end().rsplit_once('\n').unwrap_or(("", lines.trim_end()));
    assert!(last.contains("millrace serve "), "{last}");
    // The shell becomes the server, which then ends with the test.
    let script = format!("{before}\n{}", last.replacen("millrace serve ", "exec millrace serve ", 1));
    let variables: Vec<(String, String)> = variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let (folder, path) = (folder.to_owned(), format!("{}:{}", binary().parent().unwrap().display(), std::env::var("PATH").unwrap()));
    Process::start(move |_, port| {
        let mut command = Command::new("sh");
        command.args(["-euc", &format!("cd '{}'\n{script}", folder.display())]);
        command.envs(variables.iter().cloned()).env("PATH", &path).env("PORT", port.to_string());
        command
    })
}

fn finds_notes(port: u16) -> bool {
    send(port, &Exchange::parse("CALL find-notes {\"q\": \"e\"}")).starts_with("HTTP 200")
}

#[test]
fn the_serving_page_does_what_it_says() {
    let blocks = [commands("serving.md"), commands("renewing.md")].concat();
    let [serve, tls, renew] = blocks.as_slice() else { panic!("{blocks:#?}") };
    let (_folder, notes) = notes();
    let server = served(&notes, serve, &[]);
    assert!(finds_notes(server.port));
    drop(server);

    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["mcp.example.com".to_owned()]).unwrap();
    fs::write(notes.join("tls.crt"), cert.pem()).unwrap();
    fs::write(notes.join("tls.key"), signing_key.serialize_pem()).unwrap();
    let server = served(&notes, &tls.replace("0.0.0.0", "127.0.0.1"), &[]);
    let ask = format!("curl -sf --cacert tls.crt --resolve mcp.example.com:{0}:127.0.0.1 https://mcp.example.com:{0}/livez", server.port);
    let asked = shell(&notes, &ask);
    assert!(asked.status.success(), "{}{}", text(&asked), server.log());
    // A key of another pair.
    fs::write(notes.join("tls.key"), rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
    let told = logged("serving.md", "the changed certificate");
    wait::until_else(|| server.log(), || server.log().contains(&told));
    drop(server);

    // The folders of the system are the test's.
    fs::create_dir(notes.join("srv")).unwrap();
    fs::copy(notes.join("dist/notes.bundle"), notes.join("srv/notes.bundle")).unwrap();
    let server = served(&notes, "echo $$ > notes.pid\nmillrace serve srv/notes.bundle", &[]);
    let tool = "description: Says hello.\nhandler: ./handler.ts\n";
    millrace_tests::files::write(&notes, "app/tools/hello/config.yaml", tool);
    millrace_tests::files::write(&notes, "app/tools/hello/handler.ts", "export default () => ({ hello: true });\n");
    let renewed = shell(&notes, &renew.replace("/srv/notes/", "srv/").replace("/run/", ""));
    assert!(renewed.status.success(), "{}", text(&renewed));
    wait::until_else(|| server.log(), || server.log().contains("renewed: "));
    assert!(send(server.port, &Exchange::parse("CALL hello")).contains("hello"));
    // Half of a bundle.
    let bytes = fs::read(notes.join("srv/notes.bundle")).unwrap();
    fs::write(notes.join("srv/notes.bundle"), &bytes[..bytes.len() / 2]).unwrap();
    server.signal("HUP");
    let told = logged("renewing.md", "the app is not renewed").replace("`notes.bundle`", "`srv/notes.bundle`");
    wait::until_else(|| server.log(), || server.log().contains(&told));
}

#[test]
fn the_telemetry_page_does_what_it_says() {
    let blocks = commands("telemetry.md");
    let [collected, scraped, _lambda, _worker] = blocks.as_slice() else { panic!("{blocks:#?}") };
    let (_folder, notes) = notes();
    fs::copy(notes.join("dist/notes.bundle"), notes.join("app.bundle")).unwrap();
    let collector = Collector::start();
    let endpoint = collector.env().into_iter().find(|(name, _)| name == "OTEL_EXPORTER_OTLP_ENDPOINT").unwrap().1;
    let often = [("OTEL_METRIC_EXPORT_INTERVAL", "100".to_owned()), ("OTEL_BSP_SCHEDULE_DELAY", "100".to_owned())];
    let server = served(&notes, &collected.replace("http://localhost:4318", &endpoint), &often);
    assert!(finds_notes(server.port));
    wait::until("no span came", || !collector.spans().is_empty());
    wait::until("no metric came", || collector.total("mcp.server.operation.duration", &[]) == 1);
    drop(server);

    let scrape = free_port();
    let server = served(&notes, scraped, &[("OTEL_EXPORTER_PROMETHEUS_PORT", scrape.to_string())]);
    assert!(finds_notes(server.port));
    let told = shell(&notes, &format!("curl -sf http://localhost:{scrape}/metrics"));
    assert!(text(&told).contains("mcp_server_operation_duration_seconds_count"), "{}", text(&told));
}

#[test]
fn environments_are_checked_and_built_as_the_cloudflare_page_says() {
    let blocks = commands("cloudflare.md");
    let staging = blocks.iter().find(|body| body.contains("--env staging")).unwrap();
    let (_folder, notes) = notes();
    let file = notes.join("wrangler.toml");
    let text_before = fs::read_to_string(&file).unwrap();
    let refused = shell(&notes, staging);
    assert!(!refused.status.success() && text(&refused).contains("staging"), "{}", text(&refused));
    let bound = "[env.staging]\n[[env.staging.d1_databases]]\nbinding = \"DB\"\ndatabase_name = \"staging\"\ndatabase_id = \"1\"\n";
    fs::write(&file, format!("{text_before}\n{bound}")).unwrap();
    let built = shell(&notes, staging);
    assert!(built.status.success() && text(&built).contains("--env staging"), "{}", text(&built));
    assert!(notes.join("dist/entry.mjs").exists());
}
