//! `millrace schema`: what an editor needs to complete and check an app's files.

use std::{fs, path::Path};

use millrace_bundler::schema;
use millrace_core::Json;
use serde_json::{Map, json};

use crate::{
    cli::Schema,
    output::{CommandError, CommandResult, print},
};

/// The folder of an app for what helps editors and tests.
pub(super) const FOLDER: &str = ".millrace";

pub(super) fn run(arguments: &Schema) -> CommandResult {
    let folder = arguments.out.clone().unwrap_or_else(|| arguments.app.join(FOLDER));
    fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    for (name, schema) in files() {
        let path = folder.join(name);
        fs::write(&path, schema).map_err(|error| unwritable(&path, &error))?;
    }
    print(format_args!("schemas are in {}; for an editor with the YAML language server, its settings:", folder.display()))?;
    let shown = folder.strip_prefix(&arguments.app).unwrap_or(&folder);
    print(format_args!("{:#}", settings(&shown.display().to_string())))
}

/// The files of the schemas, and what is in them.
pub(super) fn files() -> impl Iterator<Item = (String, String)> {
    schemas().into_iter().map(|(name, _, schema)| (file_name(name), format!("{schema:#}\n")))
}

/// The settings by which the YAML language server finds the schemas in a folder of the app.
pub(super) fn settings(folder: &str) -> Json {
    let settings: Map<String, Json> =
        schemas().into_iter().map(|(name, patterns, _)| (format!("./{folder}/{}", file_name(name)), json!(patterns))).collect();
    json!({ "yaml.schemas": settings })
}

fn file_name(schema: &str) -> String {
    format!("{schema}.schema.json")
}

fn schemas() -> [(&'static str, &'static [&'static str], Json); 9] {
    [
        ("root", &["millrace.yaml"], schema::root()),
        ("adapter", &["app/adapters/*.yaml"], schema::adapter()),
        ("tool", &["app/tools/**/config.yaml"], schema::tool()),
        ("folder", &["app/tools/**/_folder.yaml"], schema::folder()),
        ("presenter", &["app/presenters/*.yaml"], schema::presenter()),
        ("prompt", &["app/prompts/*.yaml"], schema::prompt()),
        ("resource", &["app/resources/**/config.yaml"], schema::resource()),
        ("skill", &["app/skills/*/config.yaml"], schema::skill()),
        ("test", &["app/**/*.test.yaml"], schema::test_file()),
    ]
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::Wrong(format!("`{}` cannot be written: {error}", path.display()))
}
