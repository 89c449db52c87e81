//! `manifest.json` of a desktop bundle: version 0.3 of the MCPB manifest.

use millrace_core::app::{App, Prompt, PromptContent, Root, TemplatePart};
use serde_json::{Map, Value as Json, json};

use super::platform::Platform;
use crate::{
    clients::server::{KEY_FIELD, takes_key},
    commands::build::{needs, package_json::PackageJson},
};

/// The version of the manifest. 0.4 differs only by a type of server that is an experiment.
const VERSION: &str = "0.3";
/// The variable of the field [`KEY_FIELD`].
const KEY_VARIABLE: &str = "MILLRACE_HEADER_X_API_KEY";
/// The name of the app's bundle in the archive.
pub(super) const BUNDLE: &str = "app.bundle";

/// What the author says of the app.
pub(super) struct Words<'a> {
    pub(super) description: &'a str,
    pub(super) author: &'a str,
}

/// The manifest. `keeps_data`: the app has databases that outlive an update.
pub(super) fn of(app: &App, package: &PackageJson, words: &Words<'_>, platform: Platform, keeps_data: bool) -> Json {
    let mut manifest = Map::new();
    let mut set = |name: &str, value: Json| manifest.insert(name.to_owned(), value);
    set("manifest_version", VERSION.into());
    set("name", app.name.as_str().into());
    set("version", app.version.as_str().into());
    set("description", words.description.into());
    if let Some(text) = app.instructions.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        set("long_description", text.into());
    }
    let mut author = Map::from_iter([("name".to_owned(), Json::from(words.author))]);
    if let Some(known) = package.author.as_ref().filter(|known| known.name == words.author) {
        author.extend(known.email.iter().map(|email| ("email".to_owned(), email.as_str().into())));
        author.extend(known.url.iter().map(|url| ("url".to_owned(), url.as_str().into())));
    }
    set("author", author.into());
    if let Some(url) = &package.repository {
        set("repository", json!({ "type": "git", "url": url }));
    }
    if let Some(url) = &package.homepage {
        set("homepage", url.as_str().into());
    }
    let mut variables = variables(app);
    // A process that a client starts finds header fields in its variables.
    if takes_key(app) {
        let why = format!("Your key for the tools that need one, sent as {KEY_FIELD}.");
        variables.push(Variable { name: KEY_VARIABLE.to_owned(), why, is_required: false });
    }
    let env: Map<String, Json> =
        variables.iter().map(|variable| (variable.name.clone(), format!("${{user_config.{}}}", variable.name).into())).collect();
    let program = platform.program();
    let mut arguments = vec!["serve".to_owned(), format!("${{__dirname}}/{BUNDLE}"), "--stdio".to_owned()];
    if keeps_data {
        arguments.extend(["--user-data".to_owned(), format!("${{HOME}}/.millrace/{}", app.name)]);
    }
    let mut config = json!({ "command": format!("${{__dirname}}/{program}"), "args": arguments });
    if let Some(config) = config.as_object_mut().filter(|_| !env.is_empty()) {
        config.insert("env".to_owned(), env.into());
    }
    set("server", json!({ "type": "binary", "entry_point": program, "mcp_config": config }));
    let tools: Vec<Json> = app.tools.iter().filter(|tool| tool.listed).map(|tool| entry(&tool.descriptor)).collect();
    let has_unlisted = app.tools.iter().any(|tool| !tool.listed);
    if !tools.is_empty() {
        set("tools", tools.into());
    }
    if has_unlisted {
        set("tools_generated", true.into());
    }
    let prompts: Vec<Json> = app.prompts.iter().filter_map(prompt).collect();
    if prompts.len() < app.prompts.len() {
        set("prompts_generated", true.into());
    }
    if !prompts.is_empty() {
        set("prompts", prompts.into());
    }
    if !package.keywords.is_empty() {
        set("keywords", package.keywords.clone().into());
    }
    if let Some(license) = &package.license {
        set("license", license.as_str().into());
    }
    set("compatibility", json!({ "platforms": [platform.of_node()] }));
    if !variables.is_empty() {
        let options = variables.iter().map(|variable| (variable.name.clone(), variable.option()));
        set("user_config", options.collect::<Map<_, _>>().into());
    }
    manifest.into()
}

/// A variable that the user fills in.
pub(in crate::commands::build) struct Variable {
    pub(in crate::commands::build) name: String,
    pub(in crate::commands::build) why: String,
    pub(in crate::commands::build) is_required: bool,
}

/// The variables that the app reads. The key that seals states is none of them: over standard input
/// and output there is one process, which makes its own.
pub(in crate::commands::build) fn variables(app: &App) -> Vec<Variable> {
    let needs = needs::of(app);
    let required = needs.variables.into_iter().filter(|(name, _)| name != millrace_core::app::STATE_KEY);
    let required = required.map(|(name, who)| Variable { name, why: format!("Needed by {}.", who.replace('`', "")), is_required: true });
    let optional = needs.optional.into_iter();
    let optional = optional.map(|name| Variable { name, why: "Scripts see it if it is set.".to_owned(), is_required: false });
    required.chain(optional).collect()
}

impl Variable {
    /// Every variable is a secret for the app, and so it is here.
    fn option(&self) -> Json {
        let mut option = json!({ "type": "string", "title": if self.name == KEY_VARIABLE { KEY_FIELD } else { self.name.as_str() }, "description": self.why, "sensitive": true, "required": self.is_required });
        // Without a value, a client would pass the placeholder on.
        if let Some(option) = option.as_object_mut().filter(|_| !self.is_required) {
            option.insert("default".to_owned(), "".into());
        }
        option
    }
}

/// Name and description of an entry of a list.
fn entry(descriptor: &str) -> Json {
    let descriptor: Json = serde_json::from_str(descriptor).unwrap_or_default();
    let members = ["name", "description"].into_iter().filter_map(|name| Some((name.to_owned(), descriptor.get(name)?.clone())));
    members.collect::<Map<_, _>>().into()
}

/// A prompt, where it is nothing but text and its arguments: the manifest has no other.
fn prompt(prompt: &Prompt) -> Option<Json> {
    let mut texts = Vec::new();
    for message in &prompt.messages {
        let PromptContent::Text(template) = &message.content else { return None };
        let mut text = String::new();
        for part in &template.0 {
            match part {
                TemplatePart::Text(part) => text += part,
                TemplatePart::Source(source) => match (source.root, source.path.as_slice()) {
                    (Root::Arguments, [name, ..]) => text += &format!("${{arguments.{name}}}"),
                    _ => return None,
                },
            }
        }
        texts.push(text);
    }
    let mut known = entry(&prompt.descriptor);
    let object = known.as_object_mut()?;
    if !prompt.arguments.is_empty() {
        object.insert("arguments".to_owned(), prompt.arguments.iter().map(|argument| argument.name.as_str()).collect());
    }
    object.insert("text".to_owned(), texts.join("\n\n").into());
    Some(known)
}
