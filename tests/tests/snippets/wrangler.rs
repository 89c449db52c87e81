//! What pages write into the configuration of wrangler, and commands of wrangler's: read by
//! wrangler itself.

use std::fs;

use millrace_tests::{files::write, new_app::NewApp};

use super::shown::{shown, with};

/// What marks a command that needs an account.
const MARK: &str = "# needs a Cloudflare account";
const WRANGLER: &str = "export PATH=\"$PWD/node_modules/.bin:$PATH\"";

/// The blocks of several pages are one file: the first one's keys, and then tables.
#[test]
fn what_pages_write_for_wrangler_is_understood() {
    let app = NewApp::make("shop", &[]);
    let of_new = app.read("wrangler.toml");
    let database = of_new.split("[[d1_databases]]").nth(1).unwrap().split("\n[").next().unwrap();
    let blocks = [
        shown("cloudflare.md", "toml"),
        vec![format!("[[d1_databases]]{database}")],
        shown("limits.md", "toml"),
        shown("telemetry.md", "toml"),
        shown("connectors/postgres.md", "toml"),
    ];
    let configuration = blocks.concat().join("\n").replace("binding = \"DB\"\nid =", "binding = \"FAR\"\nid =");
    let file = app.path().join("wrangler.toml");
    fs::write(&file, &configuration).unwrap();
    write(&app.path(), "app/adapters/shop.sql", "CREATE TABLE orders (id INTEGER PRIMARY KEY);\n");
    let adapter = with("cloudflare.md", "yaml", "fallback:");
    write(&app.path(), "app/adapters/shop.yaml", &adapter);
    let far = with("connectors/postgres.md", "yaml", "hyperdrive:").replace("hyperdrive:DB", "hyperdrive:FAR");
    write(&app.path(), "app/adapters/far.yaml", &far);
    let limits = "limits: { rate: { window: 60s, max: 100 } }\n";
    for (name, adapter, more) in [("orders", "shop", limits), ("far-orders", "far", "")] {
        let tool = format!("description: Orders.\nuse: {adapter}\nstatement: SELECT id FROM orders\n{more}");
        write(&app.path(), &format!("app/tools/{name}/config.yaml"), &tool);
    }
    let said = app.runs("millrace check --target worker");
    assert!(said.contains("0 errors") && !said.contains("MILLRACE_STATE`"), "{said}");
    let said = app.runs(&format!("{WRANGLER}\nwrangler deploy --dry-run --outdir upload"));
    for bound in
        ["env.MILLRACE_STATE", "env.MILLRACE_RATE_100_60", "env.OTEL_EXPORTER_OTLP_ENDPOINT", "env.MILLRACE_METRICS", "env.FAR", "env.DB"]
    {
        assert!(said.contains(bound), "`{bound}` is not bound:\n{said}");
    }
    assert!(!said.contains("WARNING"), "{said}");
    // Each block is needed.
    for (part, missing) in [("[[hyperdrive]]", "FAR"), ("[[durable_objects.bindings]]", "MILLRACE_STATE")] {
        fs::write(&file, configuration.replace(part, "[[unsafe.bindings]]")).unwrap();
        let output = app.run("millrace check --target worker");
        let said = millrace_tests::docs::text(&output);
        assert!(said.contains(missing) && !said.contains("0 errors, 0 warnings"), "{said}");
    }
    let wrong = configuration.replace("https://collector.example.com", "collector");
    assert_ne!(wrong, configuration);
    fs::write(&file, wrong).unwrap();
    let output = app.run("millrace check --target worker");
    assert!(!output.status.success(), "{}", millrace_tests::docs::text(&output));
}

/// They need an account; that they exist, wrangler says without one.
#[test]
fn commands_that_need_an_account_are_wranglers() {
    let app = NewApp::make("notes", &[]);
    let blocks = ["cloudflare.md", "telemetry.md"].map(|page| shown(page, "sh")).concat();
    let lines: Vec<&str> = blocks.iter().flat_map(|body| body.lines()).filter_map(|line| line.strip_suffix(MARK)).map(str::trim).collect();
    assert!(lines.len() >= 5, "{lines:?}");
    for line in lines {
        let said = app.runs(&format!("{WRANGLER}\n{line} --help"));
        // A command that wrangler lacks gets the help of the one above it.
        let words = line.split(' ').take_while(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
        let name = words.collect::<Vec<_>>().join(" ");
        assert!(said.starts_with(&name), "{line}: {said}");
    }
}
