//! `wrangler.toml`: one is made where the app has none, and one that is there is compared with what the app needs.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use millrace_bundler::{Diagnostic, Severity};
use millrace_core::{app::App, ports::Env, secret::Secret};
use millrace_native::telemetry;
use toml_edit::{DocumentMut, Item};

use crate::commands::build::needs;

const FILE: &str = "wrangler.toml";
/// The binding of the cache's KV namespace; the runtime looks for it by this name.
const CACHE: &str = "MILLRACE_CACHE";
/// The binding of the Durable Object of counters and records, likewise, and its class in the entry module.
const STATE: &str = "MILLRACE_STATE";
const STATE_CLASS: &str = "MillraceState";
/// What stands for the id of a Hyperdrive in a file that is made here: nobody can know it.
const UNKNOWN: &str = "00000000000000000000000000000000";
/// The behaviour of the platform that the runtime is tested with.
const COMPATIBILITY: &str = "compatibility_date = \"2026-11-01\"
# Tells the runtime when a caller goes away.
compatibility_flags = [\"enable_request_signal\"]
";

/// The app's own `wrangler.toml`.
pub(crate) fn of_app(folder: &Path) -> Option<PathBuf> {
    Some(folder.join(FILE)).filter(|file| file.is_file())
}

/// The file of a build, beside the entry module.
pub(crate) fn generated(app: &App) -> String {
    let head = "# Made by `millrace build`, and written again by the next build. Your own file beside `millrace.yaml` is used instead, and \
                never changed.";
    format!("{head}\nname = \"{}\"\nmain = \"entry.mjs\"\n{COMPATIBILITY}{}", app.name, bindings_of(app))
}

/// The file of a new app, which is its author's from then on.
pub(crate) fn of_new_app(app: &App) -> String {
    let head = "# This app as a Cloudflare Worker: `npm run dev:worker` serves it on this machine, `npm run deploy:worker` deploys it.";
    let build = "[build]\ncommand = \"millrace build --target worker\"\nwatch_dir = [\"app\", \"millrace.yaml\"]\n";
    let bindings = bindings_of(app);
    let ids = if bindings.contains("[[d1_databases]]") {
        "\n# Without an id, wrangler creates the database at the first deployment."
    } else {
        ""
    };
    format!("{head}\nname = \"{}\"\nmain = \"dist/entry.mjs\"\n{COMPATIBILITY}\n{build}{ids}{bindings}", app.name)
}

/// The bindings and variables that the app needs. Without ids, wrangler makes what they name at the first deployment.
fn bindings_of(app: &App) -> String {
    let needs = needs::of(app);
    let mut text = String::new();
    for binding in needs.d1.keys() {
        text += &format!("\n[[d1_databases]]\nbinding = \"{binding}\"\ndatabase_name = \"{}-{}\"\n", app.name, binding.to_lowercase());
    }
    for binding in needs.hyperdrives.keys() {
        text += &format!(
            "\n# `wrangler hyperdrive create NAME --connection-string ...` says the id. `wrangler dev` takes the database of `localConnectionString`, or of the\n\
             # variable `CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_{binding}`.\n[[hyperdrive]]\nbinding = \"{binding}\"\nid = \"{UNKNOWN}\"\n\
             localConnectionString = \"postgres://user:password@127.0.0.1:5432/database\"\n"
        );
    }
    if needs.caching.is_some() {
        text += &format!("\n[[kv_namespaces]]\nbinding = \"{CACHE}\"\n");
    }
    if needs.state.is_some() {
        text += &format!(
            "\n# Counts calls and keeps their records exactly.\n[[durable_objects.bindings]]\nname = \"{STATE}\"\nclass_name = \"{STATE_CLASS}\"\n\n\
             [[migrations]]\ntag = \"millrace-1\"\nnew_sqlite_classes = [\"{STATE_CLASS}\"]\n"
        );
    }
    if !needs.variables.is_empty() || !needs.optional.is_empty() {
        text += "\n# Each variable is set by `wrangler secret put NAME`, and for `wrangler dev` by a line `NAME=value` in `.dev.vars`.\n";
    }
    let required: Vec<&str> = needs.variables.keys().map(String::as_str).collect();
    let optional: Vec<&str> = needs.optional.iter().map(String::as_str).collect();
    match (required.is_empty(), optional.is_empty()) {
        (true, true) => {}
        (_, true) => text += &format!("[secrets]\nrequired = [\"{}\"]\n", required.join("\", \"")),
        (no_required, false) => {
            if !no_required {
                text += &format!("# Required: {}\n", required.join(", "));
            }
            text += &format!("# Optional: {}\n", optional.join(", "));
            text += "# `[secrets] required` is left out: with it, `wrangler dev` would read nothing else from `.dev.vars`.\n";
        }
    }
    text
}

/// The D1 databases that the app's own `wrangler.toml` binds. None, where it has none or is wrong, which [`check`] says.
pub(crate) fn d1_bindings(folder: &Path) -> Vec<String> {
    let document = of_app(folder).and_then(|file| fs::read_to_string(file).ok()?.parse::<DocumentMut>().ok());
    let document = document.unwrap_or_default();
    bindings(document.get("d1_databases")).into_iter().map(str::to_owned).collect()
}

/// What the app needs and its own `wrangler.toml` does not have. Nothing, where it has none.
pub(crate) fn check(folder: &Path, app: &App) -> Vec<Diagnostic> {
    let Some(file) = of_app(folder) else { return Vec::new() };
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => return vec![diagnostic(Severity::Error, format!("`{FILE}` cannot be read: {error}"), "Correct the file.")],
    };
    let document: DocumentMut = match text.parse() {
        Ok(document) => document,
        Err(error) => {
            let why = error.to_string();
            let message = format!("`{FILE}` is not valid TOML: {}", why.lines().last().unwrap_or_default());
            return vec![diagnostic(Severity::Error, message, "Correct the file.")];
        }
    };
    let local = fs::read_to_string(folder.join(".dev.vars")).unwrap_or_default();
    compare(&document, &local, app)
}

fn compare(document: &DocumentMut, local: &str, app: &App) -> Vec<Diagnostic> {
    let needs = needs::of(app);
    let mut found = Vec::new();
    let databases = bindings(document.get("d1_databases"));
    for (binding, who) in needs.d1.iter().filter(|(binding, _)| !databases.contains(binding.as_str())) {
        let help = format!("Add `[[d1_databases]]` with `binding = \"{binding}\"` and `database_name`.");
        found.push(diagnostic(Severity::Error, format!("`{FILE}` has no D1 binding `{binding}`, which {who} needs"), &help));
    }
    let hyperdrives = bindings(document.get("hyperdrive"));
    let of_variables = needs.servers.iter().filter_map(|(name, (connector, who))| {
        let value = document.get("vars")?.get(name)?.as_str()?;
        Some((connector.binding_in(value)?.ok()?, who))
    });
    let wanted = needs.hyperdrives.iter().map(|(binding, who)| (binding.as_str(), who)).chain(of_variables);
    for (binding, who) in wanted.filter(|(binding, _)| !hyperdrives.contains(binding)) {
        let help = format!("Add `[[hyperdrive]]` with `binding = \"{binding}\"` and the `id` that `wrangler hyperdrive create` says.");
        found.push(diagnostic(Severity::Error, format!("`{FILE}` has no Hyperdrive binding `{binding}`, which {who} needs"), &help));
    }
    if let Some(tool) = needs.caching.as_ref().filter(|_| !bindings(document.get("kv_namespaces")).contains(CACHE)) {
        let help = format!("Add `[[kv_namespaces]]` with `binding = \"{CACHE}\"`; without it, each isolate caches for itself.");
        found.push(diagnostic(
            Severity::Warning,
            format!("`{FILE}` has no KV binding `{CACHE}`, in which the tool `{tool}` would cache"),
            &help,
        ));
    }
    let objects = document.get("durable_objects").and_then(|objects| objects.get("bindings"));
    if let Some(tools) = needs.state.as_ref().filter(|_| !named(objects, "name").contains(STATE)) {
        let help = format!(
            "Add `[[durable_objects.bindings]]` with `name = \"{STATE}\"` and `class_name = \"{STATE_CLASS}\"`, and `[[migrations]]` with a `tag` and \
             `new_sqlite_classes = [\"{STATE_CLASS}\"]`. Without it, limits are not exact, and an idempotent handler may run once on each isolate: see docs/limits.md and docs/idempotency.md."
        );
        let message = format!("`{FILE}` has no Durable Object binding `{STATE}`, which counts and records the calls of {tools}");
        found.push(diagnostic(Severity::Warning, message, &help));
    }
    if let Err(error) = telemetry::TraceSettings::of_app(app, &Vars(document)) {
        let help = "Correct it in `[vars]`. With a wrong value, the Worker answers calls and sends no traces.";
        found.push(diagnostic(Severity::Error, format!("`{FILE}` does not work: {error}"), help));
    }
    let vars: BTreeSet<&str> =
        document.get("vars").and_then(Item::as_table_like).into_iter().flat_map(|table| table.iter().map(|(name, _)| name)).collect();
    let secrets = document.get("secrets").and_then(|secrets| secrets.get("required")).and_then(Item::as_array);
    let secrets: BTreeSet<&str> = secrets.into_iter().flatten().filter_map(|name| name.as_str()).collect();
    let local: BTreeSet<&str> = local.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim()).collect();
    let stored = bindings(document.get("secrets_store_secrets"));
    let is_known = |name: &str| stored.contains(name) || vars.contains(name) || secrets.contains(name) || local.contains(name);
    for (name, who) in needs.variables.iter().filter(|(name, _)| !is_known(name)) {
        let help = format!("Set it in `[vars]`; a secret by `wrangler secret put {name}`, and name it in `[secrets] required`.");
        found.push(diagnostic(Severity::Warning, format!("`{FILE}` does not set `{name}`, which {who} needs"), &help));
    }
    found
}

/// `[vars]`, as the Worker finds them.
struct Vars<'a>(&'a DocumentMut);

impl Env for Vars<'_> {
    fn var(&self, name: &str) -> Option<Secret<String>> {
        let value = self.0.get("vars")?.get(name)?.as_value()?;
        let text = value.as_str().map(str::to_owned).or_else(|| value.as_bool().map(|truth| truth.to_string()));
        let text = text.or_else(|| value.as_integer().map(|number| number.to_string()));
        text.or_else(|| value.as_float().map(|number| number.to_string())).map(Secret::new)
    }
}

fn bindings(item: Option<&Item>) -> BTreeSet<&str> {
    named(item, "binding")
}

/// What stands under a key of each table of a list.
fn named<'a>(item: Option<&'a Item>, key: &str) -> BTreeSet<&'a str> {
    let tables = item.and_then(Item::as_array_of_tables).into_iter().flatten().filter_map(|table| table.get(key));
    let inline = item.and_then(Item::as_array).into_iter().flatten().filter_map(|value| value.as_inline_table()?.get(key)?.as_str());
    tables.filter_map(Item::as_str).chain(inline).collect()
}

fn diagnostic(severity: Severity, message: String, help: &str) -> Diagnostic {
    Diagnostic { severity, file: FILE.into(), line: 1, column: 1, length: 0, message, help: Some(help.into()) }
}

#[cfg(test)]
mod tests {
    use millrace_core::app::EnvPart;

    use super::*;
    use crate::commands::build::worker::compile;

    const FILES: [(&str, &str); 4] = [
        ("millrace.yaml", "name: shop\nenv: [REGION]\n"),
        ("app/adapters/a.yaml", "connector: sqlite\nconnection_string: x.db\nfallback: { connector: d1, connection_string: \"d1:DB\" }\n"),
        ("app/adapters/b.yaml", "connector: d1\nconnection_string: \"{{ env.OTHER }}\"\n"),
        (
            "app/tools/t/config.yaml",
            "description: x\nuse: a\nstatement: SELECT 1\ncache: { enabled: true, ttl: 60 }\nlimits: { rate: { window: 60s, max: 1 } }\nauth: { plugin: api_key, policy: { value: \"{{ env.KEY }}\" } }\n",
        ),
    ];

    fn found(own: Option<&str>, local: &str) -> (tempfile::TempDir, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in FILES.into_iter().chain(own.map(|text| (FILE, text))).chain([(".dev.vars", local)]) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let report = compile(folder.path());
        assert!(report.app.is_some(), "{:?}", report.diagnostics);
        let of_file = report.diagnostics.into_iter().filter(|diagnostic| diagnostic.file == Path::new(FILE));
        (folder, of_file.map(|diagnostic| format!("{:?}: {}", diagnostic.severity, diagnostic.message)).collect())
    }

    #[test]
    fn what_is_missing_is_found() {
        let none: [String; 0] = [];
        assert_eq!(found(None, "").1, none);
        let expected = [
            "Error: `wrangler.toml` has no D1 binding `DB`, which adapter `a` needs",
            "Warning: `wrangler.toml` has no KV binding `MILLRACE_CACHE`, in which the tool `t` would cache",
            "Warning: `wrangler.toml` has no Durable Object binding `MILLRACE_STATE`, which counts and records the calls of the tool `t`",
            "Warning: `wrangler.toml` does not set `KEY`, which tool `t` needs",
            "Warning: `wrangler.toml` does not set `OTHER`, which adapter `b` needs",
        ];
        assert_eq!(found(Some("name = \"x\"\n"), "").1, expected);
        let whole = "d1_databases = [{ binding = \"DB\" }]\ndurable_objects = { bindings = [{ name = \"MILLRACE_STATE\" }] }\n[[kv_namespaces]]\nbinding = \"MILLRACE_CACHE\"\n[vars]\nREGION = 1\n[secrets]\nrequired = [\"KEY\"]\n";
        assert_eq!(found(Some(whole), "OTHER=d1:X\n").1, none);
        let stored = whole.replace("[secrets]\nrequired = [\"KEY\"]\n", "[[secrets_store_secrets]]\nbinding = \"KEY\"\n");
        assert_eq!(found(Some(&stored), "OTHER=d1:X\n").1, none);
        let traced = |more: &str| whole.replace("REGION = 1", &format!("REGION = 1\n{more}"));
        let endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT = \"https://o.example\"\nOTEL_EXPORTER_OTLP_TIMEOUT = 500\nOTEL_SDK_DISABLED = false\n";
        assert_eq!(found(Some(&traced(endpoint)), "OTHER=d1:X\n").1, none);
        let wrong = found(Some(&traced(&format!("{endpoint}OTEL_TRACES_SAMPLER = 3"))), "OTHER=d1:X\n").1;
        assert!(
            wrong.len() == 1 && wrong[0].starts_with("Error: `wrangler.toml` does not work: the variable `OTEL_TRACES_SAMPLER` is no"),
            "{wrong:?}"
        );
        let broken = found(Some("name = \n"), "").1;
        assert!(broken.len() == 1 && broken[0].starts_with("Error: `wrangler.toml` is not valid TOML"), "{broken:?}");
    }

    #[test]
    fn a_hyperdrive_is_looked_for_wherever_it_is_named() {
        let files = |own: Option<&str>| {
            let folder = tempfile::tempdir().unwrap();
            let of_app = [
                ("millrace.yaml", "name: shop\n"),
                ("app/adapters/main.yaml", "connector: postgres\nconnection_string: \"hyperdrive:DB\"\n"),
                ("app/adapters/other.yaml", "connector: postgres\nconnection_string: \"{{ env.OTHER }}\"\n"),
                ("app/tools/t/config.yaml", "description: x\nuse: main\nstatement: SELECT 1\n"),
                ("app/tools/u/config.yaml", "description: x\nuse: other\nstatement: SELECT 1\n"),
            ];
            for (path, text) in of_app.into_iter().chain(own.map(|text| (FILE, text))) {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            compile(folder.path())
        };
        let told = |own: &str| {
            let found = files(Some(own)).diagnostics;
            found.into_iter().map(|diagnostic| format!("{:?}: {}", diagnostic.severity, diagnostic.message)).collect::<Vec<_>>()
        };
        let expected = [
            "Error: `wrangler.toml` has no Hyperdrive binding `DB`, which adapter `main` needs",
            "Error: `wrangler.toml` has no Hyperdrive binding `SECOND`, which adapter `other` needs",
        ];
        assert_eq!(told("[vars]\nOTHER = \"hyperdrive:SECOND\"\n"), expected);
        let none: [String; 0] = [];
        assert_eq!(told("hyperdrive = [{ binding = \"DB\", id = \"x\" }]\n[vars]\nOTHER = \"postgres://me@db/x\"\n"), none);

        let report = files(None);
        assert_eq!(report.diagnostics, []);
        let (app, made) = report.app.map(|app| (app.clone(), generated(&app))).unwrap();
        assert!(made.contains("[[hyperdrive]]\nbinding = \"DB\"\nid = \"0000") && made.contains("localConnectionString"), "{made}");
        assert!(made.contains("localConnectionString = \"postgres://"), "{made}");
        assert_eq!(compare(&made.parse().unwrap(), "", &app), []);
    }

    #[test]
    fn a_database_that_is_bound_under_an_adapters_name_stands_in_for_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("millrace.yaml", "name: shop\n"),
            ("app/adapters/user-data.yaml", "connector: sqlite\nconnection_string: \"{{ env.FILE }}\"\n"),
            ("app/tools/t/config.yaml", "description: x\nuse: user-data\nstatement: SELECT 1\n"),
            (FILE, "name = \"shop\"\n[[d1_databases]]\nbinding = \"USER_DATA\"\n"),
        ];
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let report = compile(folder.path());
        assert_eq!(report.diagnostics, [], "the file's variable is not needed, and the binding is there");
        let adapter = report.app.unwrap().adapters.remove(0);
        let EnvPart::Text(address) = &adapter.connection_string.0[0] else { panic!("no text") };
        assert_eq!((adapter.connector.as_str(), address.as_str()), ("d1", "d1:USER_DATA"));
    }

    #[test]
    fn what_is_made_has_everything() {
        let (folder, _) = found(None, "");
        let app = compile(folder.path()).app.unwrap();
        let made = generated(&app);
        assert_eq!(compare(&made.parse().unwrap(), "KEY=x\nOTHER=d1:DB\n", &app), []);
        assert!(made.contains("main = \"entry.mjs\""), "{made}");
        // A variable that only `env` lists may be missing.
        assert!(made.contains("# Required: KEY, OTHER\n# Optional: REGION\n") && !made.contains("\n[secrets]"), "{made}");
        fs::write(folder.path().join("millrace.yaml"), "name: shop\nenv: [KEY]\n").unwrap();
        let made = generated(&compile(folder.path()).app.unwrap());
        assert!(made.contains("[secrets]\nrequired = [\"KEY\", \"OTHER\"]\n"), "{made}");
        fs::remove_dir_all(folder.path().join("app")).unwrap();
        for (path, text) in [("millrace.yaml", "name: shop\nenv: [REGION]\n"), ("app/tools/t/handler.ts", "export default () => 1;\n")] {
            fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            fs::write(folder.path().join(path), text).unwrap();
        }
        fs::write(folder.path().join("app/tools/t/config.yaml"), "description: x\n").unwrap();
        let made = generated(&compile(folder.path()).app.unwrap());
        assert!(made.contains("# Optional: REGION\n") && !made.contains("\n[secrets]") && !made.contains("# Required"), "{made}");
    }
}
