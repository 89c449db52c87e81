//! Prompts.

use millrace_core::Json;

use super::{
    super::imported::ImportedApp,
    config::Entry,
    statement::{Action, Piece, pieces},
};
use crate::commands::new::from::yaml;

/// Adds the prompts that an app can have.
pub(super) fn add_all(prompts: &[Entry], imported: &mut ImportedApp) {
    for prompt in prompts {
        match file(prompt) {
            Ok(text) => drop(imported.files.insert(format!("app/prompts/{}.yaml", prompt.name), text)),
            Err(why) => imported.omit(format!("the prompt `{}`", prompt.name), why),
        }
    }
}

fn file(prompt: &Entry) -> Result<String, String> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    if !is_name(&prompt.name) {
        return Err("its name has characters that the name of a prompt cannot have".to_owned());
    }
    let mut text = String::new();
    if let Some(description) = prompt.text("description") {
        text.push_str(&format!("description: {}\n", super::text::described(&description)));
    }
    let arguments = prompt.body.get("arguments").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    if !arguments.is_empty() {
        text.push_str("arguments:\n");
    }
    let mut names = Vec::new();
    for argument in arguments {
        let name = argument["name"].as_str().filter(|name| is_name(name)).ok_or("an argument has a name that is not supported")?;
        let is_optional = argument["required"] == false || argument.get("default").is_some_and(|default| !default.is_null());
        let described = super::text::described(argument["description"].as_str().unwrap_or_default());
        text.push_str(&format!("  {name}: {{ required: {}, description: {described} }}\n", !is_optional));
        names.push(name);
    }
    text.push_str("messages:\n");
    for message in prompt.body.get("messages").and_then(Json::as_array).into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or("user");
        let content = message["content"].as_str().ok_or("a message has no text")?;
        let mut said = String::new();
        for piece in pieces(content)? {
            match piece {
                Piece::Text(text) => said.push_str(&text.replace("{{", "{{ '{{' }}")),
                Piece::Action(Action::Value(name)) if names.contains(&name) => said.push_str(&format!("{{{{ {name} }}}}")),
                Piece::Action(Action::Value(name)) => return Err(format!("it has no argument `{name}`")),
                Piece::Action(_) => return Err("a message has a template that is more than the name of an argument".to_owned()),
            }
        }
        text.push_str(&format!("  - {{ role: {}, text: {} }}\n", yaml::quoted(role), yaml::quoted(&said)));
    }
    Ok(text)
}
