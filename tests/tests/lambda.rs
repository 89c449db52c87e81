//! The app as an AWS Lambda function: the real `bootstrap`, at a Runtime API.

use std::{fs, path::Path};

use millrace_tests::{
    Case, Exchange,
    far_group::Far,
    groups, is_everything_selected,
    lambda::{self, Front},
    sample as sampled, selected_groups,
};

mod apis;
mod authorizers;
mod caches;
mod databases;
mod disconnects;
mod events;
mod package;
mod page;
mod streams;
mod stuck;
mod templates;
mod traces;
mod watch;

/// An app in a folder of its own.
fn app(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        millrace_tests::files::write(folder.path(), path, text);
    }
    folder
}

/// A tool that is a script.
fn script(name: &str, body: &str) -> [(String, String); 2] {
    [
        (format!("app/tools/{name}/config.yaml"), "description: A script\nhandler: ./handler.ts\nlimits: { output: 1mb }\n".to_owned()),
        (format!("app/tools/{name}/handler.ts"), format!("export default async function () {{ {body} }}\n")),
    ]
}

/// An app of scripts.
fn scripts(tools: &[(&str, &str)]) -> tempfile::TempDir {
    let files: Vec<_> = tools.iter().flat_map(|(name, body)| script(name, body)).collect();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("millrace.yaml", "name: scripts\n"));
    app(&files)
}

fn call(tool: &str, arguments: &str) -> Exchange {
    Exchange::parse(&format!("CALL {tool} {arguments}"))
}

/// The sample app, built.
fn sample() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = groups().into_iter().find(|group| group.name == "sample").unwrap().install();
    let package = lambda::build(folder.path());
    (folder, package)
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).unwrap().len()
}

#[test]
fn lambda_answers_the_same_and_logs_no_secret() {
    let mut differences = Vec::new();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut lines = 0;
    // The forms of events are tests of their own: behind the second front there is a sample.
    let behind_rest: Vec<String> = sampled(selected_groups(), 5).into_iter().map(|group| group.name).collect();
    for group in selected_groups() {
        let env: Vec<_> = group.env.iter().cloned().chain([("MILLRACE_LOG".to_owned(), "debug".to_owned())]).collect();
        for front in [Front::Url, Front::Rest] {
            if matches!(front, Front::Rest) && !behind_rest.contains(&group.name) {
                continue;
            }
            let answers = lambda::run_logging(&group, front, &env, fs::File::create(&log).unwrap().into());
            lines += group.check_log("lambda", &fs::read_to_string(&log).unwrap());
            let check = |(case, answers): (&Case, Vec<String>)| {
                let difference = case.check("lambda", &answers).err()?;
                Some(format!("{front:?}: {difference}"))
            };
            differences.extend(group.answered(answers).filter(|(case, _)| case.runs_on("lambda")).filter_map(check));
        }
    }
    assert!(lines > 100 || !is_everything_selected(), "only {lines} lines were logged: the test has nothing to read");
    assert!(differences.is_empty(), "{} cases differ\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn lambda_answers_the_same_through_the_apis_of_databases() {
    let differences: Vec<String> =
        Far::ALL.into_iter().flat_map(|far| far.all_differences(selected_groups(), |group| lambda::run(group, Front::Url))).collect();
    assert!(differences.is_empty(), "{} cases differ\n{}", differences.len(), differences.join("\n"));
}
