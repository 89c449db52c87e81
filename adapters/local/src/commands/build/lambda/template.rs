//! `template.yaml` for an app that has none: the checkout's own, with the app's name and variables, and without a build step.

use std::{fmt::Write as _, fs, path::Path};

use millrace_bundler::{Diagnostic, Severity};
use millrace_core::app::App;
use millrace_native::cache::VARIABLE;

use crate::commands::build::needs;

/// The template's name, as `sam` looks for it.
pub(super) const FILE: &str = "template.yaml";
/// The sample app's.
const SAMPLE: &str = include_str!("../../../../../../template.yaml");
/// The parameter that makes a table, and its default for an app without limits and records.
const TABLE: &str = "  CacheTable:\n    Type: String\n    Default: \"no\"\n";
/// What stands in front of an app's own variables, below `Parameters` and below `Variables`.
const MARK: &str = "# Variables of the app.\n";

/// The template of a build: it deploys the folder that it is in.
pub(super) fn generated(app: &App) -> String {
    let head = "# Made by `millrace build`, and written again by the next build. Your own file beside `millrace.yaml` is used instead, \
                and never changed.\n";
    filled(app, head, ".")
}

/// The template of a new app, which is its author's from then on. It deploys what was built in `folder`, below the app's.
pub(crate) fn of_new_app(app: &App, folder: &str) -> String {
    let head =
        "# This app as an AWS Lambda function: `npm run deploy:lambda`. The folder that it deploys is made by `npm run build:lambda`.\n";
    filled(app, head, folder)
}

/// A template with a parameter for each variable that the app needs.
fn filled(app: &App, head: &str, code: &str) -> String {
    let needs = needs::of(app);
    let (mut parameters, mut variables) = (String::new(), String::new());
    let required = needs.variables.iter().map(|(name, who)| (name, format!("{who} needs")));
    let optional = needs.optional.iter().map(|name| (name, "scripts see if it is set".to_owned()));
    for (name, why) in required.chain(optional) {
        let id = parameter(name);
        // Writing into a text never fails.
        let _ = writeln!(
            parameters,
            "  {id}:\n    Type: String\n    Default: \"\"\n    NoEcho: true\n    Description: Variable {name}, which {why}"
        );
        let _ = writeln!(variables, "          {name}: !Ref {id}");
    }
    let body = SAMPLE.split_once('\n').map_or(SAMPLE, |(_, body)| body);
    // Without the table, each instance counts for itself.
    let body = if needs.state.is_some() { body.replace(TABLE, &TABLE.replace("no", "yes")) } else { body.to_owned() };
    let body = body.replace("    Metadata:\n      BuildMethod: makefile\n", "").replace("millrace-shop", &app.name);
    let body = body.replace("      CodeUri: .\n", &format!("      CodeUri: {code}\n"));
    head.to_owned() + &with(&with(&body, "  ", "\nRules:", &parameters), "          ", "\n  # What the function may do", &variables)
}

/// How an app's own template is deployed: where it names no way to build, `sam` takes a folder as it is.
pub(super) fn command(folder: &Path) -> &'static str {
    match fs::read_to_string(folder.join(FILE)).unwrap_or_default().contains("BuildMethod") {
        true => "`sam build && sam deploy --guided`",
        false => "`sam deploy --guided`",
    }
}

/// What the app needs and its own template does not have.
pub(super) fn check(folder: &Path, app: &App) -> Option<Diagnostic> {
    let tools = needs::of(app).state?;
    let own = fs::read_to_string(folder.join(FILE)).ok()?;
    (!own.contains(VARIABLE)).then(|| Diagnostic {
        severity: Severity::Warning,
        file: FILE.into(),
        line: 1,
        column: 1,
        length: 0,
        message: format!(
            "`{FILE}` does not set `{VARIABLE}`, so each environment of the function counts and records the calls of {tools} for itself"
        ),
        help: Some(format!("Set `{VARIABLE}` to `dynamodb:TABLE` or to the address of a Redis server. Without it, limits are not exact, and an idempotent handler may run once in each \
             environment.")),
    })
}

/// The text with other lines between a mark and what follows the lines that were there.
fn with(text: &str, indent: &str, end: &str, lines: &str) -> String {
    let mark = format!("\n{indent}{MARK}");
    let parts = text.split_once(&mark).and_then(|(before, rest)| Some((before, rest.find(end).and_then(|at| rest.get(at..))?)));
    match parts {
        Some((before, after)) if lines.is_empty() => format!("{before}\n{after}"),
        Some((before, after)) => format!("{before}{mark}{lines}{after}"),
        None => text.to_owned(),
    }
}

/// A parameter's name has letters and digits only: `API_KEY` is `ApiKey`. Variables that differ by underscores only get numbers of them.
fn parameter(variable: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + &letters.as_str().to_ascii_lowercase()).unwrap_or_default()
    };
    let words: String = variable.split('_').map(word).collect();
    let others = variable.matches('_').count();
    format!("Env{words}{others}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_has_the_apps_variables_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("millrace.yaml", "name: notes\nenv: [REGION_NAME]\n"),
            ("app/tools/t/config.yaml", "description: x\nhandler: ./handler.ts\n"),
            ("app/tools/t/handler.ts", "export default () => 1;\n"),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let template = generated(&crate::app::compile(folder.path()).app.unwrap());
        assert!(template.contains("  EnvRegionName1:\n    Type: String"), "{template}");
        assert!(template.contains("          REGION_NAME: !Ref EnvRegionName1\n\n  # What"), "{template}");
        assert!(template.contains("`notes`, an MCP server"), "{template}");
        for gone in ["API_KEY", "makefile", "shop"] {
            assert!(!template.contains(gone), "{gone}: {template}");
        }
    }

    #[test]
    fn an_app_that_counts_calls_gets_a_table_or_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("millrace.yaml", "name: notes\n");
        write("app/tools/t/handler.ts", "export default () => 1;\n");
        let table = |limits: &str| {
            write("app/tools/t/config.yaml", &format!("description: x\n{limits}"));
            let app = crate::app::compile(folder.path()).app.unwrap();
            (generated(&app).contains("CacheTable:\n    Type: String\n    Default: \"yes\"\n"), check(folder.path(), &app))
        };
        let limits = "limits: { rate: { window: 60s, max: 1 } }\n";
        assert_eq!((table(""), table(limits)), ((false, None), (true, None)));
        write(FILE, "Resources: {}\n");
        assert!(table("").1.is_none() && table(limits).1.is_some_and(|told| told.message.contains("does not set `MILLRACE_CACHE`")));
        write(FILE, "MILLRACE_CACHE: redis://cache\n");
        assert!(table(limits).1.is_none());
    }

    #[test]
    fn an_app_without_variables_needs_no_mark() {
        assert_eq!(with("a\n  # Variables of the app.\n  X: 1\n\nRules: []\n", "  ", "\nRules:", ""), "a\n\nRules: []\n");
        assert_eq!(with("a\n", "  ", "\nRules:", "x"), "a\n");
    }
}
