//! `template.yaml` for an app that has none: the checkout's own, with the app's name and variables,
//! and without a build step.

use std::{fmt::Write as _, fs, path::Path};

use millrace_bundler::{Diagnostic, Severity};
use millrace_core::app::App;
use millrace_native::cache::VARIABLE;

use crate::{cli::Architecture, commands::build::needs};

/// The template's name, as `sam` looks for it.
pub(super) const FILE: &str = "template.yaml";
/// The sample app's.
const SAMPLE: &str = include_str!("../../../../../../template.yaml");
/// The parameter that makes a table, and its default for an app without limits and records.
const TABLE: &str = "  CacheTable:\n    Type: String\n    Default: \"no\"\n";
/// The parameter of the processor, and its default.
const PROCESSOR: &str = "  Architecture:\n    Type: String\n    Default: x86_64\n";
/// The permission with which everybody may use a function URL. `sam` adds it only for an `AuthType`
/// that is written out.
const OPENS_URL: &str = "lambda:InvokeFunctionUrl";
/// What stands in front of an app's own variables, below `Parameters` and below `Variables`.
const MARK: &str = "# Variables of the app.\n";

/// The template of a build for a processor: it deploys the folder that it is in.
pub(super) fn generated(app: &App, architecture: Architecture) -> String {
    let head = "# Made by `millrace build`, and written again by the next build. Your own file beside `millrace.yaml` is used instead, \
                and never changed.\n";
    filled(app, head, ".", architecture)
}

/// The template of a new app, which is its author's from then on. It deploys what was built in
/// `folder`, below the app's.
pub(crate) fn of_new_app(app: &App, folder: &str) -> String {
    let head =
        "# This app as an AWS Lambda function: `npm run deploy:lambda`. The folder that it deploys is made by `npm run build:lambda`.\n";
    filled(app, head, folder, Architecture::X86)
}

/// A template with a parameter for each variable that the app needs.
fn filled(app: &App, head: &str, code: &str, architecture: Architecture) -> String {
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
    // `sam build` takes the folder as it is.
    let body = body.replace("      BuildMethod: makefile\n", "      SkipBuild: true\n").replace("millrace-shop", &app.name);
    let body = body.replace(PROCESSOR, &PROCESSOR.replace("x86_64", architecture.of_lambda()));
    let body = body.replace("      CodeUri: .\n", &format!("      CodeUri: {code}\n"));
    head.to_owned() + &with(&with(&body, "  ", "\nRules:", &parameters), "          ", "\n  # What the function may do", &variables)
}

/// How an app's own template is deployed with a runtime for a processor: where it names no way to
/// build, `sam` takes a folder as it is.
pub(super) fn command(folder: &Path, architecture: Architecture) -> String {
    let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    let build = match (text.contains("BuildMethod"), architecture) {
        (false, _) => "",
        (true, Architecture::X86) => "sam build && ",
        (true, Architecture::Arm) => "MILLRACE_ARCH=arm64 sam build && ",
    };
    let parameter = match processor(&text) {
        Processor::Parameter(name, default) if default != architecture.of_lambda() => {
            format!(" --parameter-overrides {name}={}", architecture.of_lambda())
        }
        _ => String::new(),
    };
    format!("`{build}sam deploy --guided{parameter}`")
}

/// What is to be said where an app's own template deploys for another processor than the runtime is
/// for, unless it is told.
pub(super) fn differing(folder: &Path, architecture: Architecture) -> Option<String> {
    let text = fs::read_to_string(folder.join(FILE)).ok()?;
    let built = architecture.of_lambda();
    let (found, remedy) = match processor(&text) {
        Processor::Unknown => return None,
        Processor::Parameter(name, default) => (default, format!("deploy it with `--parameter-overrides {name}={built}`")),
        Processor::Fixed(fixed) => (fixed, format!("write `Architectures: [{built}]`")),
    };
    (found != built)
        .then(|| format!("this runtime is for {built}, and `{FILE}` deploys for {found}: {remedy}, or build with `--arch {found}`"))
}

/// The processor that a template deploys for.
#[derive(Debug, PartialEq, Eq)]
enum Processor<'a> {
    /// What a parameter says: its name and its default.
    Parameter(&'a str, &'a str),
    Fixed(&'a str),
    /// The template says it in another way.
    Unknown,
}

/// Reads the processor of a template, as far as it stands in the form of ours: a name in
/// `Architectures`, or a `Ref` to a parameter with a default. Where nothing is said, it is Lambda's
/// own default.
fn processor(template: &str) -> Processor<'_> {
    let lines = || template.lines().map(|line| line.split(" #").next().unwrap_or(line).trim_end());
    let Some(at) = lines().position(|line| line.trim_start().starts_with("Architectures:")) else {
        return Processor::Fixed("x86_64");
    };
    let said = lines().skip(at).take(2).map(str::trim).collect::<Vec<_>>();
    let value = said.first().and_then(|line| line.strip_prefix("Architectures:")).map(str::trim).filter(|value| !value.is_empty());
    let value = value.or_else(|| said.get(1).and_then(|line| line.strip_prefix('-'))).unwrap_or_default();
    let value = value.trim_matches(|character: char| "[]{}'\" ".contains(character));
    let Some(name) = value.strip_prefix("!Ref ").or_else(|| value.strip_prefix("Ref: ")).map(str::trim) else {
        return if ["x86_64", "arm64"].contains(&value) { Processor::Fixed(value) } else { Processor::Unknown };
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut rest = lines().skip_while(|line| line.trim_start().strip_suffix(':') != Some(name));
    let depth = rest.next().map_or(0, indent);
    let members = rest.take_while(|line| line.is_empty() || indent(line) > depth);
    let default = members.filter_map(|line| line.trim_start().strip_prefix("Default:")).next();
    default.map_or(Processor::Unknown, |default| Processor::Parameter(name, default.trim().trim_matches(['\'', '"'])))
}

/// What the app needs and its own template does not have.
pub(super) fn check(folder: &Path, app: &App) -> Vec<Diagnostic> {
    let Ok(own) = fs::read_to_string(folder.join(FILE)) else { return Vec::new() };
    let warning = |message: String, help: String| Diagnostic {
        severity: Severity::Warning,
        file: FILE.into(),
        line: 1,
        column: 1,
        length: 0,
        message,
        help: Some(help),
    };
    let mut found = Vec::new();
    if let Some(tools) = needs::of(app).state.filter(|_| !own.contains(VARIABLE)) {
        found.push(warning(
            format!("`{FILE}` does not set `{VARIABLE}`, so each environment of the function counts and records the calls of {tools} for itself"),
            format!(
                "Set `{VARIABLE}` to `dynamodb:TABLE` or to the address of a Redis server. Without it, limits are not exact, and an idempotent \
                 handler may run once in each environment."
            ),
        ));
    }
    let is_chosen =
        |line: &str| line.trim_start().strip_prefix("AuthType:").is_some_and(|value| value.contains("Ref") || value.contains("If"));
    if own.contains("FunctionUrlConfig") && own.lines().any(is_chosen) && !own.contains(OPENS_URL) {
        found.push(warning(
            format!("`{FILE}` has the `AuthType` of the function URL from elsewhere, and no permission `{OPENS_URL}`: with `NONE`, every call is refused"),
            "Add the two permissions for everybody and their condition, as a template has them that `millrace build` writes for an app without one.".to_owned(),
        ));
    }
    found
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

/// A parameter's name has letters and digits only: `API_KEY` is `ApiKey`. Variables that differ by
/// underscores only get numbers of them.
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
        let template = generated(&crate::app::compile(folder.path()).app.unwrap(), Architecture::X86);
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
            (
                generated(&app, Architecture::X86).contains("CacheTable:\n    Type: String\n    Default: \"yes\"\n"),
                check(folder.path(), &app),
            )
        };
        let limits = "limits: { rate: { window: 60s, max: 1 } }\n";
        assert_eq!((table(""), table(limits)), ((false, Vec::new()), (true, Vec::new())));
        write(FILE, "Resources: {}\n");
        assert!(table("").1.is_empty() && table(limits).1[0].message.contains("does not set `MILLRACE_CACHE`"));
        write(FILE, "MILLRACE_CACHE: redis://cache\n");
        assert!(table(limits).1.is_empty());
    }

    #[test]
    fn a_function_url_that_its_parameter_does_not_open_is_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("millrace.yaml"), "name: notes\n").unwrap();
        fs::create_dir_all(folder.path().join("app/tools/t")).unwrap();
        fs::write(folder.path().join("app/tools/t/config.yaml"), "description: x\n").unwrap();
        fs::write(folder.path().join("app/tools/t/handler.ts"), "export default () => 1;\n").unwrap();
        let app = crate::app::compile(folder.path()).app.unwrap();
        let url = |auth: &str| format!("      FunctionUrlConfig:\n        AuthType: {auth}\n");
        for (template, warns) in [
            (url("NONE"), false),
            (url("!Ref UrlAuth"), true),
            (url("{ Ref: UrlAuth }"), true),
            (url("!If [Open, NONE, AWS_IAM]"), true),
            (generated(&app, Architecture::X86), false),
            (of_new_app(&app, "dist-lambda"), false),
        ] {
            fs::write(folder.path().join(FILE), &template).unwrap();
            let found = check(folder.path(), &app);
            assert_eq!(found.len(), usize::from(warns), "{template}: {found:?}");
            assert!(found.iter().all(|told| told.message.contains("with `NONE`, every call is refused")), "{found:?}");
        }
    }

    #[test]
    fn a_template_deploys_for_the_processor_of_its_build() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("millrace.yaml"), "name: notes\n").unwrap();
        fs::create_dir_all(folder.path().join("app/tools/t")).unwrap();
        fs::write(folder.path().join("app/tools/t/config.yaml"), "description: x\n").unwrap();
        fs::write(folder.path().join("app/tools/t/handler.ts"), "export default () => 1;\n").unwrap();
        let app = crate::app::compile(folder.path()).app.unwrap();
        let (x86, arm) = (Architecture::X86, Architecture::Arm);
        for built in [x86, arm] {
            assert_eq!(processor(&generated(&app, built)), Processor::Parameter("Architecture", built.of_lambda()));
        }
        let function = |value: &str| format!("Resources:\n  F:\n    Properties:\n      {value}\n      Timeout: 3\n");
        for (text, expected) in [
            (function("MemorySize: 128"), Processor::Fixed("x86_64")),
            (function("Architectures: [arm64]"), Processor::Fixed("arm64")),
            (function("Architectures:\n        - \"arm64\" # Graviton"), Processor::Fixed("arm64")),
            (function("Architectures: [!If [A, arm64, x86_64]]"), Processor::Unknown),
            (
                format!(
                    "Parameters:\n  Chip:\n    Type: String\n    # Cheaper.\n    Default: arm64\n{}",
                    function("Architectures: [{ Ref: Chip }]")
                ),
                Processor::Parameter("Chip", "arm64"),
            ),
            (
                format!("Parameters:\n  Chip:\n    Type: String\n  B:\n    Default: 1\n{}", function("Architectures: [!Ref Chip]")),
                Processor::Unknown,
            ),
        ] {
            assert_eq!(processor(&text), expected, "{text}");
        }
        fs::write(folder.path().join(FILE), of_new_app(&app, "dist-lambda")).unwrap();
        assert_eq!((command(folder.path(), x86).as_str(), differing(folder.path(), x86)), ("`sam deploy --guided`", None));
        assert_eq!(command(folder.path(), arm), "`sam deploy --guided --parameter-overrides Architecture=arm64`");
        let told = "this runtime is for arm64, and `template.yaml` deploys for x86_64: deploy it with `--parameter-overrides Architecture=arm64`, or \
                    build with `--arch x86_64`";
        assert_eq!(differing(folder.path(), arm).as_deref(), Some(told));
        fs::write(folder.path().join(FILE), SAMPLE).unwrap();
        assert_eq!(
            command(folder.path(), arm),
            "`MILLRACE_ARCH=arm64 sam build && sam deploy --guided --parameter-overrides Architecture=arm64`"
        );
        fs::write(folder.path().join(FILE), function("Architectures: [arm64]")).unwrap();
        assert!(
            differing(folder.path(), arm).is_none() && differing(folder.path(), x86).unwrap().contains("write `Architectures: [x86_64]`")
        );
    }

    #[test]
    fn an_app_without_variables_needs_no_mark() {
        assert_eq!(with("a\n  # Variables of the app.\n  X: 1\n\nRules: []\n", "  ", "\nRules:", ""), "a\n\nRules: []\n");
        assert_eq!(with("a\n", "  ", "\nRules:", "x"), "a\n");
    }
}
