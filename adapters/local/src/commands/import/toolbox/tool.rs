//! Tools.

use std::collections::BTreeMap;

use millrace_core::Json;
use millrace_languages::redis;

use super::{
    super::imported::ImportedApp,
    auth::{self, Services},
    config::{Config, Entry, texts},
    parameter::{self, Parameter},
    prebuilt,
    source::Adapter,
    statement::{Conversion, Converted},
    text::{block, escaped},
};
use crate::commands::new::from::{names, yaml};

/// What a tool can have that carries over, or means what the build finds out by itself.
const KNOWN: [&str; 12] = [
    "annotations",
    "authRequired",
    "commands",
    "description",
    "kind",
    "name",
    "parameters",
    "scopesRequired",
    "source",
    "statement",
    "templateParameters",
    "type",
];

/// What tools are converted with.
struct Converter<'a> {
    adapters: &'a BTreeMap<String, Adapter>,
    services: &'a Services,
    toolsets: &'a BTreeMap<String, Vec<String>>,
    textual: bool,
    /// Whether the root file asks everybody to sign in.
    has_root_auth: bool,
}

/// Adds the tools that an app can have.
pub(super) fn add_all(
    config: &Config,
    adapters: &BTreeMap<String, Adapter>,
    services: &Services,
    textual: bool,
    imported: &mut ImportedApp,
) {
    let has_root_auth = imported.root.contains("auth:");
    let converter = Converter { adapters, services, toolsets: &config.toolsets, textual, has_root_auth };
    let mut folders: Vec<String> = Vec::new();
    for tool in &config.tools {
        match converter.file(tool) {
            Ok(text) => {
                let folder = names::free(folder_of(&tool.name), "-", |name| folders.iter().any(|other| other == name));
                let named = if folder == tool.name { String::new() } else { format!("name: {}\n", yaml::word(&tool.name)) };
                let place = format!("app/tools/{folder}");
                imported.files.insert(format!("{place}/config.yaml"), named + &text);
                imported.tools.insert(tool.name.clone(), place);
                folders.push(folder);
                for key in tool.body.keys().filter(|key| !KNOWN.contains(&key.as_str())) {
                    imported.omit(format!("`{key}` of the tool `{}`", tool.name), "no key of a tool means the same");
                }
            }
            Err(why) => imported.omit(format!("the tool `{}`", tool.name), why),
        }
    }
}

impl Converter<'_> {
    /// The file of a tool.
    fn file(&self, tool: &Entry) -> Result<String, String> {
        if !is_name(&tool.name) {
            return Err("its name has characters that the name of a tool cannot have".to_owned());
        }
        let source = tool.text("source").ok_or("it has no `source`")?;
        let adapter = self.adapters.get(&source).ok_or_else(|| format!("its source `{source}` did not carry over"))?;
        let built_in = prebuilt::find(&tool.kind);
        let part = |key: &str| tool.body.get(key).or_else(|| built_in?.get(key));
        let (parameters, templates) = (parameter::read(part("parameters"))?, parameter::read(part("templateParameters"))?);
        let all: Vec<&Parameter> = parameters.iter().chain(&templates).collect();
        let converted = match (part("statement"), adapter.dialect) {
            (Some(Json::String(statement)), Some(dialect)) => {
                let conversion = Conversion { dialect, parameters: &parameters, templates: &templates, textual: self.textual };
                conversion.convert(statement)?
            }
            (None, None) if tool.body.contains_key("commands") => command(tool, &parameters)?,
            _ => return Err(without_statement(&tool.kind)),
        };
        let mut text = String::new();
        let described = part("description").and_then(Json::as_str).unwrap_or("A tool without a description.");
        text.push_str(&format!("description: {}\n", block(&escaped(described.trim()))));
        if let Some(toolsets) = self.toolsets.get(&tool.name) {
            text.push_str(&format!("tags: [{}]\n", toolsets.iter().map(|name| yaml::quoted(name)).collect::<Vec<_>>().join(", ")));
        }
        text.push_str(&format!("use: {}\n", yaml::word(&adapter.name)));
        if converted.is_textual {
            text.push_str("substitution: textual\n");
        }
        text.push_str(&format!("statement: {}\n", block(&converted.text)));
        let inputs: Vec<&String> = all.iter().filter_map(|parameter| parameter.input.as_ref()).collect();
        if !inputs.is_empty() {
            text.push_str(&format!("inputs:\n{}", inputs.iter().map(|input| format!("  {input}\n")).collect::<String>()));
        }
        text.push_str(&self.protection(tool, &all)?);
        Ok(text)
    }

    /// Who may call, and with what.
    fn protection(&self, tool: &Entry, parameters: &[&Parameter]) -> Result<String, String> {
        let required: Vec<&str> = texts(tool.body.get("authRequired")).collect();
        let mut services = required.clone();
        for parameter in parameters.iter().filter(|parameter| !parameter.services.is_empty()) {
            let knows = |service: &str| parameter.services.iter().any(|other| other == service);
            match services.is_empty() {
                true => services.extend(parameter.services.iter().map(String::as_str)),
                false => services.retain(|service| knows(service)),
            }
            if services.is_empty() {
                return Err(format!("no service that it requires knows its parameter `{}`", parameter.name));
            }
        }
        let entries: Vec<String> = services.iter().filter_map(|service| self.services.get(*service).cloned()).collect();
        if entries.is_empty() && !services.is_empty() {
            return Err(format!("it requires `{}`, which did not carry over", services.join("`, `")));
        }
        let mut text = if entries.is_empty() { String::new() } else { auth::block(&entries) };
        let scopes: Vec<String> = texts(tool.body.get("scopesRequired")).map(yaml::quoted).collect();
        if !scopes.is_empty() && entries.is_empty() && !self.has_root_auth {
            return Err("it requires scopes, and no authentication service that knows them".to_owned());
        }
        let conditions: Vec<&String> = parameters.iter().filter_map(|parameter| parameter.condition.as_ref()).collect();
        if !scopes.is_empty() || !conditions.is_empty() {
            text.push_str("middleware:\n");
        }
        if !scopes.is_empty() {
            text.push_str(&format!("  - require_scope: [{}]\n", scopes.join(", ")));
        }
        for condition in conditions {
            let said = "A value of this call is excluded.";
            text.push_str(&format!("  - require: {{ when: {}, message: {} }}\n", yaml::quoted(condition), yaml::quoted(said)));
        }
        Ok(text)
    }
}

/// `commands` of Redis as a statement.
fn command(tool: &Entry, parameters: &[Parameter]) -> Result<Converted, String> {
    let commands = tool.body.get("commands").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let [Json::Array(words)] = commands else {
        return Err("it has several commands, and a statement is one; call them in a handler".to_owned());
    };
    let mut text = Vec::new();
    for word in words {
        let word = super::config::scalar(word).ok_or("a command has a word that is a list or a map")?;
        let parameter = word.strip_prefix('$').and_then(|name| parameters.iter().find(|parameter| parameter.name == name));
        text.push(match parameter {
            Some(parameter) => format!("{{{{ {} }}}}", parameter.path),
            None if word.starts_with('$') => return Err(format!("it has no parameter for `{word}`")),
            None => redis_word(&word),
        });
    }
    Ok(Converted { text: text.join(" "), is_textual: false })
}

/// A word of a command, in quotes where it needs them.
fn redis_word(word: &str) -> String {
    let word = word.replace("{{", "{{ '{{' }}");
    let is_plain = redis::words(&word).is_ok_and(|words| words.len() == 1) && !word.contains(['"', '\'', '\\']);
    if is_plain { word } else { format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")) }
}

fn without_statement(kind: &str) -> String {
    match kind {
        "" => "it has no `type`".to_owned(),
        kind if kind.ends_with("execute-sql") => "it runs any statement that its caller sends".to_owned(),
        kind => format!("a tool of the type `{kind}` has no statement in the file"),
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= 128
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// The folder of a tool. Names of devices are no folders on Windows.
fn folder_of(name: &str) -> String {
    let folder = name.to_ascii_lowercase();
    if ["aux", "con", "nul", "prn"].contains(&folder.as_str()) { format!("{folder}-tool") } else { folder }
}
