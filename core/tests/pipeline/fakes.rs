//! The apps, tools and calls of these tests. The ports are those of the test kit.

use std::rc::Rc;

use millrace_core::{
    Json,
    app::{
        Access, App, Bind, Execute, InputKind, Limits, ParamStyle, Part, Root, Script, ScriptLimits, ScriptRef, Source, Statement, Tool,
    },
    cancel::Cancel,
    fault::FaultResult,
    headers::Headers,
    pipeline::{Call, ContentBlock, Pipeline, Route, ToolResult},
    value::{Rows, Value},
};
#[allow(unused_imports, reason = "the test of log lines takes these helpers, too, and needs fewer")]
pub use millrace_test_kit::{
    NOW_MS, World, block_on,
    made::{self, input},
};

/// An app with one adapter `main` and the scripts that its tools name by number.
pub fn app(tools: Vec<Tool>) -> App {
    App {
        adapters: vec![made::adapter("main", "fake", "fake://")],
        scripts: ["handler.ts", "input.ts", "output.ts", "auth.ts"]
            .map(|path| Script { path: path.into(), program: String::new(), map: None, loads_without_clock: false })
            .into(),
        tools,
        ..made::app("shop")
    }
}

pub const HANDLER: u32 = 0;
pub const MAP_INPUT: u32 = 1;
pub const MAP_OUTPUT: u32 = 2;
pub const PLUGIN: u32 = 3;

pub fn script(script: u32) -> ScriptRef {
    ScriptRef { script, export: "default".into() }
}

pub fn tool(name: &str, execute: Execute) -> Tool {
    let script = ScriptLimits { memory_bytes: 1 << 20, ..Limits::DEFAULT.script };
    Tool {
        descriptor: "{}".into(),
        limits: Limits { timeout_ms: 5_000, output_bytes: 1 << 18, script, ..Limits::DEFAULT },
        ..Tool::new(name, execute)
    }
}

/// A tool with a handler.
pub fn script_tool() -> Tool {
    tool("t", Execute::Script(script(HANDLER)))
}

/// A tool that reads with a statement of these parts.
pub fn query_tool(parts: Vec<Part>) -> Tool {
    tool("t", Execute::Statement { adapter: 0, statement: statement(parts, ParamStyle::NumberedQuestion, Access::Read) })
}

/// A tool with a finished statement.
pub fn select_tool() -> Tool {
    query_tool(vec![Part::Text("SELECT 1".into())])
}

pub fn statement(parts: Vec<Part>, style: ParamStyle, access: Access) -> Statement {
    Statement { style, parts, text: None, access, max_values: 100, document: vec![] }
}

pub fn source(root: Root, path: &str) -> Source {
    Source { root, path: path.split('.').filter(|step| !step.is_empty()).map(Into::into).collect() }
}

pub fn bind(path: &str, kind: InputKind) -> Part {
    Part::Bind(Bind::Value { source: source(Root::Inputs, path), kind: Some(kind) })
}

/// How a call is made, apart from its tool and arguments.
#[derive(Default)]
pub struct With {
    pub headers: Headers,
    pub deadline_ms: Option<u64>,
    pub cancel: Cancel,
}

/// Calls the tool `t`.
pub fn call(pipeline: &Pipeline, arguments: Json, with: &With) -> FaultResult<ToolResult> {
    call_named(pipeline, "t", arguments, with)
}

pub fn call_named(pipeline: &Pipeline, tool: &str, arguments: Json, with: &With) -> FaultResult<ToolResult> {
    let Json::Object(arguments) = arguments else { panic!("arguments are an object") };
    block_on(pipeline.call(Call {
        method: "tools/call",
        tool,
        arguments,
        request_id: "req-1",
        trace: Default::default(),
        route: Route { path: "/mcp", peer: Some("192.0.2.1") },
        headers: &with.headers,
        platform_caller: None,
        protocol: "2026-07-28",
        deadline_ms: with.deadline_ms,
        cancel: &with.cancel,
        listener: None,
        rounds: Default::default(),
        operation: Default::default(),
    }))
}

/// A pipeline of one tool.
pub fn pipeline(world: &Rc<World>, tool: Tool) -> Pipeline {
    Pipeline::new(Rc::new(app(vec![tool])), world.ports())
}

/// Calls a tool once in a world.
pub fn run(world: &Rc<World>, tool: Tool, arguments: Json) -> FaultResult<ToolResult> {
    call(&pipeline(world, tool), arguments, &With::default())
}

/// The text of a result, with `!` in front where it is an error.
pub fn text(result: &ToolResult) -> String {
    let [ContentBlock::Text(text)] = result.content.as_slice() else { panic!("one block, not {result:?}") };
    if result.is_error { format!("!{text}") } else { text.clone() }
}

/// The typed fields of a failed result.
pub fn meta(result: &ToolResult) -> &Json {
    let [(name, meta)] = result.meta.as_slice() else { panic!("one member of _meta, not {result:?}") };
    assert_eq!(name, "millrace/error");
    meta
}

pub fn rows(columns: &[&str], rows: Vec<Vec<Value>>) -> Rows {
    Rows { columns: columns.iter().map(|name| (*name).to_string()).collect(), rows, ..Rows::default() }
}
