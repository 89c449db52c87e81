//! `millrace build --target registry`: `server.json`, with which an app is published in the MCP
//! registry.

use std::{fs, io};

use millrace_core::app::{App, Auth, Tool};
use serde_json::{Map, Value as Json, json};

use super::{
    app_for_deployment,
    files::{Output, sha256},
    mcpb::{description, manifest},
    package_json::{self, PackageJson},
};
use crate::{
    app,
    cli::Build,
    clients::is_public,
    output::{CommandError, CommandResult, print},
};

/// The schema that the registry publishes.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const FILE: &str = "server.json";
/// The limits of that schema, in characters.
const MAX_NAME: usize = 200;
const MAX_DESCRIPTION: usize = 100;
const MAX_VERSION: usize = 255;

pub(super) fn run(arguments: &Build) -> CommandResult {
    let mut report = app::compile(&arguments.app);
    let app = app_for_deployment::take(&mut report, arguments)?;
    let package = PackageJson::of(&arguments.app)?;
    let server = server(arguments, &app, &package)?;
    let mut output = Output::new(&arguments.out, "registry");
    output.write(FILE, format!("{server:#}\n").as_bytes())?;
    output.finish()?;
    let path = arguments.out.join(FILE);
    let name = server.get("name").and_then(Json::as_str).unwrap_or_default();
    if arguments.json {
        return app_for_deployment::print_built(&report.diagnostics, json!({ "target": "registry", "file": path, "name": name }));
    }
    print(format_args!(
        "{} for `{name}`; publish it with `mcp-publisher login github && mcp-publisher publish` in `{}`",
        path.display(),
        arguments.out.display()
    ))
}

fn server(arguments: &Build, app: &App, package: &PackageJson) -> CommandResult<Json> {
    let name = arguments.name.as_ref().or(package.mcp_name.as_ref()).ok_or_else(|| {
        let file = package_json::FILE;
        CommandError::Usage(format!(
            "the registry needs a name such as `io.github.ada/{}`: give `--name`, or set `mcpName` in `{file}`",
            app.name
        ))
    })?;
    check_name(name)?;
    let description = description(arguments, package, app)?;
    let length = description.chars().count();
    if length > MAX_DESCRIPTION {
        return Err(CommandError::Usage(format!(
            "the description has {length} characters, and the registry takes {MAX_DESCRIPTION}: give a shorter one with `--description`, or set \
             `description` in `{}`",
            package_json::FILE
        )));
    }
    check_version(&app.version)?;
    if arguments.url.is_none() && arguments.packages.is_empty() {
        return Err(CommandError::Usage("`server.json` says where the app is: give `--url URL`, `--package FILE=URL`, or both".into()));
    }
    let mut server = Map::new();
    server.insert("$schema".into(), SCHEMA.into());
    server.insert("name".into(), name.as_str().into());
    server.insert("description".into(), description.into());
    server.insert("version".into(), app.version.as_str().into());
    if let Some(url) = &package.homepage {
        server.insert("websiteUrl".into(), url.as_str().into());
    }
    let source = |url: &str| ["github", "gitlab"].into_iter().find(|host| url.starts_with(&format!("https://{host}.com/")));
    if let Some((url, source)) = package.repository.as_ref().and_then(|url| Some((url, source(url)?))) {
        server.insert("repository".into(), json!({ "url": url, "source": source }));
    }
    if let Some(url) = &arguments.url {
        server.insert("remotes".into(), json!([remote(url, app)?]));
    }
    if !arguments.packages.is_empty() {
        let packages: Vec<Json> = arguments.packages.iter().map(|given| packed(given, app)).collect::<CommandResult<_>>()?;
        server.insert("packages".into(), packages.into());
    }
    Ok(server.into())
}

/// `io.github.ada/notes`: a domain backwards, a slash, a name.
fn check_name(name: &str) -> CommandResult {
    let is_part = |part: &str, more: &str| {
        !part.is_empty()
            && part.chars().all(|character| character.is_ascii_alphanumeric() || ".-".contains(character) || more.contains(character))
    };
    let is_name = name.split_once('/').is_some_and(|(domain, rest)| is_part(domain, "") && domain.contains('.') && is_part(rest, "_"));
    match is_name && name.len() <= MAX_NAME {
        true => Ok(()),
        false => Err(CommandError::Usage(format!(
            "`{name}` is not a name of the registry: write a domain backwards, one `/` and a name of letters, digits, `.`, `_` and `-`, such as \
             `io.github.ada/notes`"
        ))),
    }
}

/// A version, and not a range of versions.
fn check_version(version: &str) -> CommandResult {
    let is_range = version.is_empty() || version == "latest" || version.contains(['^', '~', '<', '>', '=', '*', '|', ' ']);
    let has_x = version.split('.').any(|part| part.eq_ignore_ascii_case("x"));
    match is_range || has_x || version.len() > MAX_VERSION {
        true => Err(CommandError::Usage(format!(
            "the registry takes one version such as `1.2.3`, not `{version}`: see `version` in `millrace.yaml`"
        ))),
        false => Ok(()),
    }
}

fn remote(url: &str, app: &App) -> CommandResult<Json> {
    if !is_public(url) || url.contains(['@', '{', '}', '?', '#']) || url.chars().any(char::is_whitespace) {
        return Err(CommandError::Usage(
            "the value of `--url` is not a public address: it begins with `https://` and contains no credentials".into(),
        ));
    }
    let with_key = |tool: &Tool| tool.auth.iter().flat_map(Auth::entries).any(|entry| matches!(entry, Auth::ApiKey(_)));
    let with_key_only = |tool: &Tool| matches!(tool.auth, Some(Auth::ApiKey(_)));
    let mut remote = json!({ "type": "streamable-http", "url": url });
    if let Some(remote) = remote.as_object_mut().filter(|_| app.tools.iter().any(with_key)) {
        let is_required = app.tools.iter().all(with_key_only);
        let header = json!({
            "name": "X-API-Key",
            "description": if is_required { "Your key." } else { "Your key, for the tools that need one." },
            "isRequired": is_required,
            "isSecret": true,
        });
        remote.insert("headers".into(), json!([header]));
    }
    Ok(remote)
}

/// `FILE=URL`: a desktop bundle, and where it can be downloaded.
fn packed(given: &str, app: &App) -> CommandResult<Json> {
    let wrong = |reason: &str| CommandError::Usage(format!("`--package {given}`: {reason}"));
    let (file, url) = given
        .split_once("=https://")
        .ok_or_else(|| wrong("write the file, `=` and the address that it can be downloaded from, with https"))?;
    let url = format!("https://{url}");
    // What the registry checks.
    let is_release = ["https://github.com/", "https://gitlab.com/"].iter().any(|host| url.starts_with(host)) && url.contains("/releases/");
    if !is_release || !url.contains("mcp") {
        return Err(wrong(
            "the registry takes desktop bundles from releases on github.com and gitlab.com only, at an address that contains `mcp`",
        ));
    }
    let bytes = fs::read(file).map_err(|error: io::Error| CommandError::Wrong(format!("`{file}` cannot be read: {error}")))?;
    if !bytes.starts_with(b"PK\x03\x04") {
        return Err(CommandError::Wrong(format!("`{file}` is not a desktop bundle; make one with `millrace build --target mcpb`")));
    }
    let mut package = json!({
        "registryType": "mcpb",
        "identifier": url,
        "version": app.version,
        "fileSha256": sha256(&bytes),
        "transport": { "type": "stdio" },
    });
    let variables: Vec<Json> = manifest::variables(app)
        .into_iter()
        .map(|variable| json!({ "name": variable.name, "description": variable.why, "isRequired": variable.is_required, "isSecret": true }))
        .collect();
    if let Some(package) = package.as_object_mut().filter(|_| !variables.is_empty()) {
        package.insert("environmentVariables".into(), variables.into());
    }
    Ok(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions_are_those_of_the_registry() {
        for name in ["io.github.ada/notes", "com.example/a_b.c-1", "io.github.Ada/x"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in [
            "notes",
            "ada/notes",
            "io.github.ada/",
            "/x",
            "io.github.ada/a/b",
            "io.github.a_b/x",
            "io.github.ada/ü",
            &format!("a.b/{}", "x".repeat(200)),
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
        for version in ["1.2.3", "2.1.0-alpha", "2026-11-23", "1.0.0+build"] {
            assert!(check_version(version).is_ok(), "{version}");
        }
        for version in ["", "latest", "^1.2.3", "~1", ">=1", "1.x", "1.*", "1 - 2"] {
            assert!(check_version(version).is_err(), "{version}");
        }
    }
}
