//! Authentication services as `auth` of the tools that require them.

use std::collections::BTreeMap;

use super::{
    super::imported::ImportedApp,
    config::{Config, Entry, texts},
    variables::Variables,
};
use crate::commands::new::from::yaml;

/// The entry of `auth.any` of each service, by its name.
pub(super) type Services = BTreeMap<String, String>;

/// The issuer of the tokens of Google Sign-In.
const GOOGLE: &str = "https://accounts.google.com";

/// The services that an app can have. Those that protect the whole server become the `auth` of the
/// root file.
pub(super) fn services(config: &Config, imported: &mut ImportedApp, variables: &mut Variables) -> Services {
    let mut services = Services::new();
    let mut of_all = Vec::new();
    for service in &config.services {
        match entry(service, variables) {
            Ok(entry) => {
                if service.is("mcpEnabled") {
                    of_all.push(entry.clone());
                }
                services.insert(service.name.clone(), entry);
            }
            Err(why) => imported.omit(format!("the authentication service `{}`", service.name), why),
        }
    }
    if !services.is_empty() {
        let header = "callers send tokens as `Authorization: Bearer …`, not in a header of each authentication service";
        imported.notes.push(header.to_owned());
    }
    if !of_all.is_empty() {
        imported.root.push_str(&block(&of_all));
    }
    services
}

/// `auth` of these entries.
pub(super) fn block(entries: &[String]) -> String {
    match entries {
        [one] => format!("auth: {one}\n"),
        several => format!("auth:\n  any:\n{}", several.iter().map(|entry| format!("    - {entry}\n")).collect::<String>()),
    }
}

/// A service as a plugin with its policy.
fn entry(service: &Entry, variables: &mut Variables) -> Result<String, String> {
    let issuer = match service.kind.as_str() {
        "google" => Some(GOOGLE.to_owned()),
        "generic" => service.text("authorizationServer"),
        other => return Err(format!("`{other}` is not a kind of issuer that is known")),
    };
    if service.is("forceIntrospection") || service.text("introspectionEndpoint").is_some() {
        return Err("write `auth` with the plugin `introspection`, which needs a client and its secret".to_owned());
    }
    let issuer = issuer.ok_or("it has no `authorizationServer`")?;
    let audience = service.text("audience").or_else(|| service.text("clientId")).ok_or("it has no `audience` and no `clientId`")?;
    let mut quoted = |text: &str| yaml::quoted(&variables.filled(text, str::to_owned));
    let mut policy = format!("issuer: {}, audience: {}", quoted(&issuer), quoted(&audience));
    let scopes: Vec<String> = texts(service.body.get("scopesRequired")).map(yaml::quoted).collect();
    if !scopes.is_empty() {
        policy.push_str(&format!(", scopes: [{}]", scopes.join(", ")));
    }
    Ok(format!("{{ plugin: jwt, policy: {{ {policy} }} }}"))
}
