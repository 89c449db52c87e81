//! Apps that are compiled and called within this process: no host is between.

use std::{fs, path::Path};

use millrace_core::{
    Endpoint, Json,
    cancel::Cancel,
    headers::Headers,
    pipeline::{Call, ContentBlock, ToolResult},
};
use millrace_native::{cache::CacheChoice, env::Variables, ports, wait_until::Tasks};
use millrace_tests::{case::root, direct::compile, files::write, tries};

/// An endpoint of an app with tools on one adapter: of each its name, statement and inputs.
pub(crate) fn endpoint(adapter: &str, tools: &[(&str, &str, &str)]) -> (Endpoint, tempfile::TempDir) {
    let quoted = |statement: &str| serde_json::to_string(statement).unwrap();
    let tools: Vec<_> = tools.iter().map(|(name, statement, inputs)| (*name, quoted(statement), *inputs)).collect();
    endpoint_of(adapter, &tools)
}

/// The same, with statements in YAML.
pub(crate) fn endpoint_of(adapter: &str, tools: &[(&str, String, &str)]) -> (Endpoint, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "millrace.yaml", "name: far\n");
    write(folder.path(), "app/adapters/far.yaml", adapter);
    for (name, statement, inputs) in tools {
        let text = format!("description: x\nuse: far\nstatement: {statement}\n{inputs}");
        write(folder.path(), &format!("app/tools/{name}/config.yaml"), &text);
    }
    (endpoint_in(folder.path()), folder)
}

/// An endpoint of the app in a folder.
pub(crate) fn endpoint_in(folder: &Path) -> Endpoint {
    let ports = ports::native(folder.to_path_buf(), Variables::default(), &CacheChoice::Memory, &Tasks::new());
    Endpoint::new(compile(folder), ports)
}

/// Calls a tool.
pub(crate) async fn call(endpoint: &Endpoint, tool: &str, arguments: Json) -> ToolResult {
    let Json::Object(arguments) = arguments else { panic!("arguments are an object") };
    let call = Call {
        method: "tools/call",
        tool,
        arguments,
        request_id: "test",
        trace: Default::default(),
        route: Default::default(),
        headers: &Headers::new(),
        platform_caller: None,
        protocol: "2026-07-28",
        deadline_ms: None,
        cancel: &Cancel::new(),
        listener: None,
        rounds: Default::default(),
        operation: Default::default(),
    };
    endpoint.pipeline().call(call).await.unwrap_or_else(|fault| panic!("{tool}: {fault:?}"))
}

/// The text of a result.
pub(crate) fn text(result: &ToolResult) -> &str {
    let [ContentBlock::Text(text)] = result.content.as_slice() else { panic!("{result:?}") };
    text
}

/// The table of hostile values.
pub(crate) fn hostile_values() -> Vec<String> {
    let values: Vec<String> = serde_json::from_str(&fs::read_to_string(root().join("tests/data/hostile-values.json")).unwrap()).unwrap();
    assert!(values.len() >= 170, "{} values", values.len());
    values
}

/// Of all pairs of a form and a value one of so many, unless everything is run: those of one form.
/// Each form and each value is there.
pub(crate) fn in_sample<T>(values: &[T], form: usize, each: usize) -> impl Iterator<Item = &T> {
    values.iter().enumerate().filter(move |(place, _)| is_in_sample(form, *place, each)).map(|(_, value)| value)
}

/// Whether the pair of this form and the value at this place is one of them.
pub(crate) fn is_in_sample(form: usize, place: usize, each: usize) -> bool {
    (form + place).is_multiple_of(tries(1, each))
}
