//! The configuration of MCP Toolbox for Databases, in both of its forms, as an app.
//!
//! | Toolbox | app |
//! |---|---|
//! | a source | an adapter |
//! | a tool with a statement or a command | a tool |
//! | a parameter | an input, bound |
//! | a template parameter | an input with an `enum`, or bound where a value can stand |
//! | an authentication service | `auth` of the tools that require it |
//! | a toolset or a group | a tag of its tools |
//! | a prompt | a prompt |

use std::collections::BTreeMap;

use millrace_core::Json;

use super::imported::ImportedApp;

mod auth;
mod config;
mod parameter;
mod prebuilt;
mod prompt;
mod source;
mod statement;
mod text;
mod tool;
mod variables;

use config::Config;
use source::Adapter;
use variables::Variables;

/// Makes an app of a configuration. `textual`: tools may have parameters that become text of their
/// statements.
///
/// # Errors
/// Why it is not a configuration.
pub(super) fn convert(documents: &[Json], textual: bool) -> Result<ImportedApp, String> {
    let config = Config::read(documents)?;
    let mut imported = ImportedApp::default();
    let mut variables = Variables::default();
    for (kind, name) in &config.others {
        imported.omit(format!("the {kind} `{name}`"), "an app has no such thing");
    }
    let mut adapters: BTreeMap<String, Adapter> = BTreeMap::new();
    for source in &config.sources {
        match Adapter::of(source, &mut variables) {
            Ok(adapter) => drop(adapters.insert(source.name.clone(), adapter)),
            Err(why) => imported.omit(format!("the source `{}`", source.name), why),
        }
    }
    let services = auth::services(&config, &mut imported, &mut variables);
    tool::add_all(&config, &adapters, &services, textual, &mut imported);
    prompt::add_all(&config.prompts, &mut imported);
    let used: Vec<&Adapter> = adapters.values().filter(|adapter| imported.uses(&adapter.name)).collect();
    for adapter in used {
        imported.files.insert(format!("app/adapters/{}.yaml", adapter.name), adapter.file());
        imported.notes.extend(adapter.note.clone());
    }
    imported.keep_variables(variables.into_values());
    Ok(imported)
}

#[cfg(test)]
mod tests;
