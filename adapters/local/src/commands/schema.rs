//! `millrace schema`: what an editor needs to complete and check an app's files.

use std::{fs, path::Path};

use millrace_bundler::schema;
use millrace_core::Json;
use serde_json::{Map, json};

use crate::{
    cli::Schema,
    output::{CommandError, CommandResult, print},
};

pub(super) fn run(arguments: &Schema) -> CommandResult {
    let folder = arguments.out.clone().unwrap_or_else(|| arguments.app.join(".millrace"));
    fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    let mut settings = Map::new();
    for (name, patterns, schema) in schemas() {
        let path = folder.join(format!("{name}.schema.json"));
        fs::write(&path, format!("{schema:#}\n")).map_err(|error| unwritable(&path, &error))?;
        settings.insert(format!("./{}", path.strip_prefix(&arguments.app).unwrap_or(&path).display()), json!(patterns));
    }
    print(format_args!("schemas are in {}; for an editor with the YAML language server, its settings:", folder.display()))?;
    print(format_args!("{:#}", json!({ "yaml.schemas": settings })))
}

fn schemas() -> [(&'static str, &'static [&'static str], Json); 8] {
    [
        ("root", &["millrace.yaml"], schema::root()),
        ("adapter", &["app/adapters/*.yaml"], schema::adapter()),
        ("tool", &["app/tools/**/config.yaml"], schema::tool()),
        ("folder", &["app/tools/**/_folder.yaml"], schema::folder()),
        ("presenter", &["app/presenters/*.yaml"], schema::presenter()),
        ("prompt", &["app/prompts/*.yaml"], schema::prompt()),
        ("resource", &["app/resources/**/config.yaml"], schema::resource()),
        ("skill", &["app/skills/*/config.yaml"], schema::skill()),
    ]
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::Wrong(format!("`{}` cannot be written: {error}", path.display()))
}
