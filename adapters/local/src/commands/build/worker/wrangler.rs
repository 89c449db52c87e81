//! wrangler's configuration: one is made where the app has none, and one that is there is compared
//! with what the app needs.

use std::{collections::BTreeSet, path::Path};

use millrace_bundler::{Diagnostic, Severity};
use millrace_core::{Json, app::App, ports::Env, secret::Secret};
use millrace_native::telemetry::{Abilities, TelemetrySettings};

use crate::commands::build::needs;

mod config;

use config::{Config, Deployment, Unreadable};
pub(crate) use config::{Selection, of_app};

/// The name of a file that is made here.
pub(super) const FILE: &str = "wrangler.toml";
/// The binding of the cache's KV namespace; the runtime looks for it by this name.
const CACHE: &str = "MILLRACE_CACHE";
/// The binding of the Durable Object of counters and records, likewise, and its class in the entry
/// module.
const STATE: &str = "MILLRACE_STATE";
const STATE_CLASS: &str = "MillraceState";
/// What stands for the id of a Hyperdrive in a file that is made here: nobody can know it.
const UNKNOWN: &str = "00000000000000000000000000000000";
/// The behaviour of the platform that the runtime is tested with.
const COMPATIBILITY: &str = "compatibility_date = \"2026-11-01\"
# Tells the runtime when a caller goes away.
compatibility_flags = [\"enable_request_signal\"]
";
/// What the runtime needs of the platform.
const NEEDED: [Behaviour; 2] = [
    Behaviour {
        on: "handle_cross_request_promise_resolution",
        off: "no_handle_cross_request_promise_resolution",
        since: "2024-10-14",
        without: "a call that waits for its place in the script engine is never continued",
    },
    Behaviour {
        on: "cache_option_enabled",
        off: "cache_option_disabled",
        since: "2024-11-11",
        without: "every request of a script and of a connector over HTTP fails",
    },
];
/// The keys that say what a deployment has of it.
const COMPATIBLE: [&str; 2] = ["compatibility_date", "compatibility_flags"];
/// The first date with all of it.
const OLDEST: &str = "2024-11-11";
/// Where log lines go, audit lines among them, that are to be found later.
const OBSERVABILITY: &str = "
# Keeps the log, audit lines among it; without this, a line is seen only while `wrangler tail` runs.
[observability]
enabled = true
";

/// The file of a build, beside the entry module.
pub(crate) fn generated(app: &App) -> String {
    let head = "# Made by `millrace build`, and written again by the next build. Your own file beside `millrace.yaml` is used instead, and \
                never changed.";
    format!("{head}\nname = \"{}\"\nmain = \"entry.mjs\"\n{COMPATIBILITY}{OBSERVABILITY}{}", app.name, bindings_of(app))
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
    format!("{head}\nname = \"{}\"\nmain = \"dist/entry.mjs\"\n{COMPATIBILITY}\n{build}{OBSERVABILITY}{ids}{bindings}", app.name)
}

/// The bindings and variables that the app needs. Without ids, wrangler makes what they name at the
/// first deployment.
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

/// The D1 databases that the app's own file binds, in any deployment that is meant. None, where it
/// has no file or a wrong one, which [`check`] says.
pub(crate) fn d1_bindings(folder: &Path, selection: &Selection) -> Vec<String> {
    let Some(Ok(config)) = Config::read(folder) else { return Vec::new() };
    let deployments = config.deployments(selection).unwrap_or_default();
    let names: BTreeSet<&str> = deployments.into_iter().flat_map(|deployment| deployment.named("d1_databases", "binding")).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// The environments of the app's own file that are meant and bind a D1 database; `None` is its top
/// level. Where it has no file, that is all.
pub(super) fn environments_with(folder: &Path, selection: &Selection, binding: &str) -> Vec<Option<String>> {
    let Some(Ok(config)) = Config::read(folder) else { return vec![None] };
    let deployments = config.deployments(selection).unwrap_or_default();
    let with = deployments.into_iter().filter(|deployment| deployment.named("d1_databases", "binding").contains(&binding));
    with.map(|deployment| deployment.env.map(str::to_owned)).collect()
}

/// The environments of the app's own file.
pub(super) fn environments(folder: &Path) -> Vec<String> {
    let Some(Ok(config)) = Config::read(folder) else { return Vec::new() };
    config.environments().into_iter().map(str::to_owned).collect()
}

/// What the app needs and its own file does not have. Nothing, where it has none.
///
/// `is_build`: wrangler does not tell a build which environment it is for. So what only some
/// environments lack is an error of a check, and a warning of a build, which the others need.
pub(crate) fn check(folder: &Path, app: &App, selection: &Selection, is_build: bool) -> Vec<Diagnostic> {
    let config = match (Config::read(folder), selection) {
        (None, Selection::Named(name)) => {
            let message = format!("the environment `{name}` is not used: the app has no configuration of wrangler of its own");
            return vec![diagnostic(
                "millrace.yaml",
                Severity::Warning,
                message,
                "Write a `wrangler.jsonc` or a `wrangler.toml` beside it.",
            )];
        }
        (None, _) => return Vec::new(),
        (Some(Err(Unreadable { file, why })), _) => {
            return vec![diagnostic(file, Severity::Error, format!("`{file}` {why}"), "Correct the file.")];
        }
        (Some(Ok(config)), _) => config,
    };
    let mut found = Vec::new();
    for unread in &config.unread {
        let message = format!("`{unread}` is not read: wrangler takes `{}`, which is beside it", config.file);
        found.push(diagnostic(unread, Severity::Warning, message, "Keep one of the files."));
    }
    let deployments = match config.deployments(selection) {
        Ok(deployments) => deployments,
        Err(name) => {
            let known: Vec<String> = config.environments().into_iter().map(|known| format!("`{known}`")).collect();
            let help = match known.is_empty() {
                true => format!("Add `env.{name}` to the file, or name no environment."),
                false => format!("It has {}.", known.join(", ")),
            };
            found.push(diagnostic(config.file, Severity::Error, format!("`{}` has no environment `{name}`", config.file), &help));
            return found;
        }
    };
    let needs = needs::of(app);
    let mut each: Vec<Vec<Diagnostic>> =
        deployments.iter().map(|deployment| compare(*deployment, selection, &deployment.local(folder), app, &needs)).collect();
    let is_wrong = |found: &Vec<Diagnostic>| found.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    if is_build && each.iter().any(|found| !is_wrong(found)) {
        each.iter_mut().flatten().for_each(|diagnostic| diagnostic.severity = Severity::Warning);
    }
    found.extend(each.into_iter().flatten());
    found
}

fn compare(of: Deployment<'_>, selection: &Selection, local: &str, app: &App, needs: &needs::Needs) -> Vec<Diagnostic> {
    let mut found = Findings { of, list: Vec::new() };
    found.bindings(needs);
    found.stores(needs);
    found.platform(selection, needs);
    found.variables(local, app, needs);
    found.list
}

/// What is wrong with a deployment.
struct Findings<'a> {
    of: Deployment<'a>,
    list: Vec<Diagnostic>,
}

impl Findings<'_> {
    fn say(&mut self, severity: Severity, message: String, help: &str) {
        self.list.push(diagnostic(self.of.file(), severity, message, help));
    }

    /// The databases that adapters need.
    fn bindings(&mut self, needs: &needs::Needs) {
        let of = self.of;
        let databases = of.named("d1_databases", "binding");
        for (binding, who) in needs.d1.iter().filter(|(binding, _)| !databases.contains(&binding.as_str())) {
            let help = format!("Add {} and `database_name`.", of.entry("d1_databases", &[("binding", binding)]));
            self.say(Severity::Error, format!("{of} has no D1 binding `{binding}`, which {who} needs"), &help);
        }
        let hyperdrives = of.named("hyperdrive", "binding");
        let of_variables = needs.servers.iter().filter_map(|(name, (connector, who))| {
            let value = of.own("vars")?.get(name)?.as_str()?;
            Some((connector.binding_in(value)?.ok()?, who))
        });
        let wanted = needs.hyperdrives.iter().map(|(binding, who)| (binding.as_str(), who)).chain(of_variables);
        for (binding, who) in wanted.filter(|(binding, _)| !hyperdrives.contains(binding)) {
            let entry = of.entry("hyperdrive", &[("binding", binding)]);
            let help = format!("Add {entry} and the `id` that `wrangler hyperdrive create` says.");
            self.say(Severity::Error, format!("{of} has no Hyperdrive binding `{binding}`, which {who} needs"), &help);
        }
    }

    /// Where results are cached, and calls counted and recorded.
    fn stores(&mut self, needs: &needs::Needs) {
        let of = self.of;
        if let Some(tool) = needs.caching.as_ref().filter(|_| !of.named("kv_namespaces", "binding").contains(&CACHE)) {
            let help = format!("Add {}; without it, each isolate caches for itself.", of.entry("kv_namespaces", &[("binding", CACHE)]));
            self.say(Severity::Warning, format!("{of} has no KV binding `{CACHE}`, in which the tool `{tool}` would cache"), &help);
        }
        let objects = of.own("durable_objects").and_then(|objects| objects.get("bindings"));
        if let Some(tools) = needs.state.as_ref().filter(|_| !config::named(objects, "name").contains(&STATE)) {
            let help = format!(
                "Add {}, and `migrations` with a `tag` and {}. Without it, limits are not exact, and an idempotent handler may run once on \
                 each isolate: see docs/limits.md and docs/state.md.",
                of.entry("durable_objects.bindings", &[("name", STATE), ("class_name", STATE_CLASS)]),
                of.member("new_sqlite_classes", &format!("[\"{STATE_CLASS}\"]"))
            );
            let message = format!("{of} has no Durable Object binding `{STATE}`, which counts and records the calls of {tools}");
            self.say(Severity::Warning, message, &help);
        }
    }

    /// How the platform behaves, and what becomes of the log.
    fn platform(&mut self, selection: &Selection, needs: &needs::Needs) {
        let of = self.of;
        // What an environment only inherits is said of the top level, where that is looked at.
        let is_said = *selection == Selection::All && !COMPATIBLE.iter().any(|key| of.is_own(key));
        if let Some((what, without)) = NEEDED.iter().find_map(|behaviour| behaviour.missing(of)).filter(|_| !is_said) {
            let help = format!("Set `compatibility_date` to {OLDEST} or later, and remove flags that turn this off.");
            self.say(Severity::Error, format!("{of} has the {what}, with which {without}"), &help);
        }
        if let (Some(tool), Some(why)) = (&needs.audit, loses_log(of)) {
            let enable = format!("{} with {}", of.table("observability"), of.member("enabled", "true"));
            let help =
                format!("Add {enable}, or `tail_consumers`, or `logpush`. Without them, a line is seen only while `wrangler tail` runs.");
            self.say(Severity::Warning, format!("{of} {why}: audit lines of the tool `{tool}` are lost"), &help);
        }
    }

    /// What the app reads as variables. `local` is the text of the file that sets them on this
    /// machine.
    fn variables(&mut self, local: &str, app: &App, needs: &needs::Needs) {
        let of = self.of;
        let vars = Vars(of);
        if let Err(error) = TelemetrySettings::of_app(app, &vars, Abilities::Fetch) {
            let help = format!(
                "Correct it in {}. With a wrong value, the Worker answers calls and sends neither traces nor metrics.",
                of.table("vars")
            );
            self.say(Severity::Error, format!("{of} does not work: {error}"), &help);
        }
        let stored = of.named("secrets_store_secrets", "binding");
        for name in &stored {
            let own = || ["MILLRACE_", "OTEL_"].iter().any(|start| name.starts_with(start)).then(|| "Millrace".to_owned());
            let Some(who) = needs.read_as_variables.get(*name).cloned().or_else(own) else { continue };
            let message = format!("{of} binds `{name}` to the Secrets Store, and {who} reads it as a variable, which that binding is not");
            let help = format!(
                "Set it by `wrangler secret put {name}`, and name it in `required` of {}. Or write `{{{{ secret.{name} }}}}` in place of \
                 `{{{{ env.{name} }}}}`: in an adapter and in `auth`, that reads the store.",
                of.table("secrets")
            );
            self.say(Severity::Error, message, &help);
        }
        let required = of.own("secrets").and_then(|secrets| secrets.get("required")).and_then(Json::as_array);
        let required: BTreeSet<&str> = required.into_iter().flatten().filter_map(Json::as_str).collect();
        let local: BTreeSet<&str> = local.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim()).collect();
        let is_known = |name: &str| stored.contains(&name) || vars.var(name).is_some() || required.contains(name) || local.contains(name);
        for (name, who) in needs.variables.iter().filter(|(name, _)| !is_known(name)) {
            let help = format!(
                "Set it in {}; a secret by `wrangler secret put {name}`, and name it in `required` of {}.",
                of.table("vars"),
                of.table("secrets")
            );
            self.say(Severity::Warning, format!("{of} does not set `{name}`, which {who} needs"), &help);
        }
    }
}

/// A behaviour of the platform: the flags that turn it on and off, the date from which it is on by
/// itself, and what fails without it.
struct Behaviour {
    on: &'static str,
    off: &'static str,
    since: &'static str,
    without: &'static str,
}

impl Behaviour {
    /// What turns it off in a deployment, and what fails then. Without a date, wrangler deploys
    /// nothing.
    fn missing(&self, of: Deployment<'_>) -> Option<(String, &'static str)> {
        let flags = of.inherited("compatibility_flags").and_then(Json::as_array);
        let has = |name| flags.into_iter().flatten().any(|flag| flag.as_str() == Some(name));
        if has(self.off) {
            return Some((format!("compatibility flag `{}`", self.off), self.without));
        }
        let date = of.inherited("compatibility_date")?.as_str()?;
        (date < self.since && !has(self.on)).then(|| (format!("`compatibility_date` {date}"), self.without))
    }
}

/// Why log lines are not kept, where nothing keeps all of them.
fn loses_log(of: Deployment<'_>) -> Option<&'static str> {
    let has = |key| of.own(key).and_then(Json::as_array).is_some_and(|consumers| !consumers.is_empty());
    if has("tail_consumers") || has("streaming_tail_consumers") || of.inherited("logpush") == Some(&Json::Bool(true)) {
        return None;
    }
    let observability = of.inherited("observability");
    let logs = observability.and_then(|all| all.get("logs"));
    let setting = |key: &str| logs.and_then(|logs| logs.get(key)).or_else(|| observability.and_then(|all| all.get(key)));
    if setting("enabled").and_then(Json::as_bool) != Some(true) {
        return Some("keeps no log");
    }
    let goes_elsewhere = logs.and_then(|logs| logs.get("destinations")).and_then(Json::as_array).is_some_and(|places| !places.is_empty());
    if logs.and_then(|logs| logs.get("persist")) == Some(&Json::Bool(false)) && !goes_elsewhere {
        return Some("does not store its log");
    }
    let keeps_all = setting("head_sampling_rate").and_then(Json::as_f64).is_none_or(|rate| rate >= 1.0);
    (!keeps_all).then_some("keeps the log of some requests only")
}

/// `[vars]`, as the Worker finds them.
struct Vars<'a>(Deployment<'a>);

impl Env for Vars<'_> {
    fn var(&self, name: &str) -> Option<Secret<String>> {
        let text = match self.0.own("vars")?.get(name)? {
            Json::String(text) => text.clone(),
            Json::Bool(truth) => truth.to_string(),
            Json::Number(number) => number.to_string(),
            // An object or a list is one in the Worker, too, where it is not a variable.
            Json::Null | Json::Array(_) | Json::Object(_) => return None,
        };
        Some(Secret::new(text))
    }
}

fn diagnostic(file: &str, severity: Severity, message: String, help: &str) -> Diagnostic {
    Diagnostic { severity, file: file.into(), line: 1, column: 1, length: 0, message, help: Some(help.into()) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use millrace_bundler::Report;
    use millrace_core::app::EnvPart;

    use super::*;

    /// What `millrace check` finds.
    fn compile(folder: &Path) -> Report {
        compile_with(folder, &Selection::All, false)
    }

    fn compile_with(folder: &Path, selection: &Selection, is_build: bool) -> Report {
        crate::commands::build::worker::compile(folder, selection, is_build, &[])
    }

    /// What a file lacks that is not in a folder.
    fn lacks(text: &str, local: &str, app: &App) -> Vec<Diagnostic> {
        let config = Config::of_text(FILE, text).unwrap();
        compare(config.deployments(&Selection::Top).unwrap()[0], &Selection::Top, local, app, &needs::of(app))
    }

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
        // Neither a binding of the Secrets Store nor an object is a variable.
        let stored = whole.replace("[secrets]\nrequired = [\"KEY\"]\n", "[[secrets_store_secrets]]\nbinding = \"KEY\"\n");
        let expected =
            ["Error: `wrangler.toml` binds `KEY` to the Secrets Store, and tool `t` reads it as a variable, which that binding is not"];
        assert_eq!(found(Some(&stored), "OTHER=d1:X\n").1, expected);
        let own = format!("{whole}[[secrets_store_secrets]]\nbinding = \"OTEL_EXPORTER_OTLP_HEADERS\"\n");
        assert!(found(Some(&own), "OTHER=d1:X\n").1[0].contains("and Millrace reads it as a variable"));
        let object = whole.replace("REGION = 1", "REGION = 1\nKEY = { a = 1 }").replace("required = [\"KEY\"]", "");
        assert_eq!(found(Some(&object), "OTHER=d1:X\n").1, ["Warning: `wrangler.toml` does not set `KEY`, which tool `t` needs"]);
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
    fn a_stored_secret_is_one_where_the_app_asks_for_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("millrace.yaml", "name: shop\n"),
            ("app/adapters/main.yaml", "connector: libsql\nconnection_string: \"{{ secret.URL }}\"\n"),
            ("app/tools/t/config.yaml", "description: x\nuse: main\nstatement: SELECT 1\n"),
            ("wrangler.jsonc", "{ \"secrets_store_secrets\": [{ \"binding\": \"URL\" }] } // by its name"),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        assert_eq!(compile(folder.path()).diagnostics, []);
    }

    /// Severity and text of what is found of the app `FILES` with a file of this name, in the words
    /// of its language.
    fn told(file: &str, text: &str, selection: &Selection, is_build: bool) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in FILES.into_iter().chain([(file, text), (".dev.vars", "KEY=x\nOTHER=x\n")]) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let report = compile_with(folder.path(), selection, is_build);
        let of_file = report.diagnostics.into_iter().filter(|diagnostic| diagnostic.file == Path::new(file));
        of_file
            .map(|diagnostic| format!("{:?}: {} {}", diagnostic.severity, diagnostic.message, diagnostic.help.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn each_environment_needs_its_own_bindings() {
        const BOUND: &str = "\"d1_databases\": [{ \"binding\": \"DB\" }], \"kv_namespaces\": [{ \"binding\": \"MILLRACE_CACHE\" }], \
                             \"durable_objects\": { \"bindings\": [{ \"name\": \"MILLRACE_STATE\" }] }";
        let file = format!("{{ {BOUND}, \"env\": {{ \"staging\": {{ \"name\": \"s\" }}, \"live\": {{ {BOUND} }} }} }}");
        let named = |name: &str| Selection::Named(name.to_owned());
        let none: [String; 0] = [];
        for good in [Selection::Top, named("live")] {
            assert_eq!(told("wrangler.jsonc", &file, &good, false), none, "{good:?}");
        }
        let expected = [
            "Error: `env.staging` of `wrangler.jsonc` has no D1 binding `DB`, which adapter `a` needs Add an entry to `env.staging.d1_databases` \
             with `\"binding\": \"DB\"` and `database_name`.",
            "Warning: `env.staging` of `wrangler.jsonc` has no KV binding `MILLRACE_CACHE`, in which the tool `t` would cache",
            "Warning: `env.staging` of `wrangler.jsonc` has no Durable Object binding `MILLRACE_STATE`",
        ];
        for (selection, is_build, first) in [
            (Selection::All, false, "Error"),
            (named("staging"), true, "Error"),
            (named("staging"), false, "Error"),
            (Selection::All, true, "Warning"),
        ] {
            let found = told("wrangler.jsonc", &file, &selection, is_build);
            assert_eq!(found.len(), 3, "{found:?}");
            for (line, expected) in found.iter().zip(expected) {
                assert!(line.starts_with(&expected.replace("Error", first)), "{line}");
            }
        }
        // What it only inherits is said once.
        let old = file.replacen('{', "{ \"compatibility_date\": \"2024-01-01\",", 1);
        let dates = |selection: &Selection| {
            told("wrangler.jsonc", &old, selection, false).iter().filter(|line| line.contains("compatibility_date")).count()
        };
        assert_eq!((dates(&Selection::All), dates(&named("live"))), (1, 1));
        // Where no environment has what the app needs, the build fails.
        assert!(
            told("wrangler.json", "{ \"env\": { \"a\": {} } }", &Selection::All, true)[0].starts_with("Error: `wrangler.json` has no D1")
        );
        let unknown = told("wrangler.jsonc", &file, &named("prod"), false);
        assert_eq!(unknown, ["Error: `wrangler.jsonc` has no environment `prod` It has `staging`, `live`."]);
        let toml = told("wrangler.toml", "[env.staging]\n", &named("staging"), false);
        assert!(toml[0].ends_with("Add `[[env.staging.d1_databases]]` with `binding = \"DB\"` and `database_name`."), "{toml:?}");
    }

    #[test]
    fn a_compatibility_date_before_what_the_runtime_needs_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let app = || {
            for (path, text) in [
                ("millrace.yaml", "name: x\n"),
                ("app/tools/t/config.yaml", "description: x\n"),
                ("app/tools/t/handler.ts", "export default () => 1;\n"),
            ] {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            compile(folder.path()).app.unwrap()
        };
        let app = app();
        for (text, what) in [
            ("compatibility_date = \"2024-11-11\"", None),
            ("compatibility_date = 2026-01-01", None),
            ("name = \"x\"", None),
            ("compatibility_date = \"2024-11-10\"", Some("2024-11-10, with which every request of a script")),
            ("compatibility_date = 2024-10-14", Some("2024-10-14, with which every request of a script")),
            ("compatibility_date = \"2024-10-14\"\ncompatibility_flags = [\"cache_option_enabled\"]", None),
            ("compatibility_date = \"2023-05-18\"", Some("2023-05-18, with which a call that waits for its place")),
            ("compatibility_date = \"2023-05-18\"\ncompatibility_flags = [\"cache_option_enabled\"]", Some("a call that waits")),
            (
                "compatibility_date = \"2026-11-01\"\ncompatibility_flags = [\"cache_option_disabled\"]",
                Some("compatibility flag `cache_option_disabled`, with which every request"),
            ),
        ] {
            let found = lacks(text, "", &app);
            assert_eq!(found.len(), usize::from(what.is_some()), "{text}: {found:?}");
            if let (Some(what), Some(diagnostic)) = (what, found.first()) {
                assert!(diagnostic.severity == Severity::Error && diagnostic.message.contains(what), "{diagnostic:?}");
                assert!(diagnostic.help.as_ref().unwrap().starts_with("Set `compatibility_date` to 2024-11-11 or later"), "{diagnostic:?}");
            }
        }
    }

    #[test]
    fn audit_lines_that_nothing_keeps_are_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let app = |middleware: &str| {
            for (path, text) in [
                ("millrace.yaml", format!("name: x\n{middleware}")),
                ("app/tools/t/config.yaml", "description: x\n".to_owned()),
                ("app/tools/t/handler.ts", "export default () => 1;\n".to_owned()),
            ] {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            compile(folder.path()).app.unwrap()
        };
        let (silent, audited) = (app(""), app("middleware: [{ audit: {} }]\n"));
        let cases = [
            ("", Some("keeps no log")),
            ("[observability]\nenabled = true\n", None),
            ("[observability]\nenabled = false\n", Some("keeps no log")),
            ("[observability.logs]\nenabled = true\n", None),
            ("[observability]\nenabled = true\n[observability.logs]\nenabled = false\n", Some("keeps no log")),
            ("[observability]\nenabled = true\nhead_sampling_rate = 0.1\n", Some("keeps the log of some requests only")),
            ("[observability]\nenabled = true\nhead_sampling_rate = 1\n", None),
            ("[observability.logs]\nenabled = true\npersist = false\n", Some("does not store its log")),
            ("[observability.logs]\nenabled = true\npersist = false\ndestinations = [\"elsewhere\"]\n", None),
            ("[[tail_consumers]]\nservice = \"tail\"\n", None),
            ("tail_consumers = []\n", Some("keeps no log")),
            ("logpush = true\n", None),
        ];
        for (text, why) in cases {
            assert_eq!(lacks(text, "", &silent), [], "{text}");
            let found = lacks(text, "", &audited);
            assert_eq!(found.len(), usize::from(why.is_some()), "{text}: {found:?}");
            if let (Some(why), Some(diagnostic)) = (why, found.first()) {
                assert_eq!(diagnostic.severity, Severity::Warning);
                assert_eq!(diagnostic.message, format!("`wrangler.toml` {why}: audit lines of the tool `t` are lost"));
            }
        }
        for made in [generated(&audited), of_new_app(&audited)] {
            assert_eq!(lacks(&made, "", &audited), [], "{made}");
        }
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
        assert_eq!(lacks(&made, "", &app), []);
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
        assert_eq!(lacks(&made, "KEY=x\nOTHER=d1:DB\n", &app), []);
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
