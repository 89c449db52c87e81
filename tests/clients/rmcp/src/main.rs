//! `client-rmcp LIFECYCLE COMMAND…`: what a user of Rust's official client does that starts a
//! server as its child process, and prints what came back as JSON. LIFECYCLE: `initialize` or
//! `discover`.

use std::{error::Error, process::Stdio};

use rmcp::{
    ServiceError,
    model::{CallToolRequestParams, CallToolResult, GetPromptRequestParams, ProtocolVersion, ReadResourceRequestParams},
    service::{ClientLifecycleMode, ClientServiceExt as _},
    transport::TokioChildProcess,
};
use serde_json::{Value, json};
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let lifecycle = match arguments.next().as_deref() {
        Some("discover") => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        _ => ClientLifecycleMode::Initialize,
    };
    let mut command = Command::new(arguments.next().ok_or("no command")?);
    command.args(arguments);
    let (child, _) = TokioChildProcess::builder(command).stderr(Stdio::inherit()).spawn()?;
    let client = ().serve_with_lifecycle(child, lifecycle).await?;

    let call = |name: &'static str, arguments: Value| {
        let mut params = CallToolRequestParams::new(name);
        params.arguments = arguments.as_object().cloned();
        client.call_tool(params)
    };
    let tools = client.list_all_tools().await?;
    let user = call("get-user", json!({ "id": 42 })).await?;
    let sum = call("add", json!({ "a": 2, "b": 40 })).await?;
    let invalid = call("get-user", json!({ "id": "x" })).await?;
    let unknown = match call("no-such-tool", json!({})).await {
        Err(ServiceError::McpError(error)) => error.code.0,
        other => return Err(format!("{other:?}").into()),
    };
    let prompts = client.list_all_prompts().await?;
    let mut params = GetPromptRequestParams::new("review-order");
    params.arguments = json!({ "order_id": "7" }).as_object().cloned();
    let prompt = serde_json::to_value(client.get_prompt(params).await?)?;
    let resources = client.list_all_resources().await?;
    let resource = serde_json::to_value(client.read_resource(ReadResourceRequestParams::new("shop://guide")).await?)?;
    let many = (0..200).map(|number| call("add", json!({ "a": number, "b": 1 })));
    for (number, sum) in futures(many).await.into_iter().enumerate() {
        let expected = format!("{{\"sum\":{}}}", number + 1);
        let sum = texts(&sum?);
        if sum != [expected.as_str()] {
            return Err(format!("{sum:?} instead of {expected}").into());
        }
    }
    let quit = client.cancel().await?;

    let first_line = |text: &Value| text.as_str().and_then(|text| text.lines().next()).map(str::to_owned);
    let answer = json!({
        "tools": tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>(),
        "user": texts(&user),
        "sum": texts(&sum),
        "invalid": { "isError": invalid.is_error, "text": texts(&invalid) },
        "unknown": unknown,
        "prompts": prompts.iter().map(|prompt| prompt.name.clone()).collect::<Vec<_>>(),
        "prompt": prompt["messages"][0]["content"]["text"],
        "resources": resources.iter().map(|resource| resource.uri.clone()).collect::<Vec<_>>(),
        "resource": first_line(&resource["contents"][0]["text"]),
        "quit": format!("{quit:?}"),
    });
    println!("{answer}");
    Ok(())
}

fn texts(result: &CallToolResult) -> Vec<String> {
    let content = serde_json::to_value(&result.content).unwrap_or_default();
    let blocks = content.as_array().cloned().unwrap_or_default();
    blocks.iter().filter_map(|block| block["text"].as_str().map(str::to_owned)).collect()
}

/// All of them at once.
async fn futures<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut is_ready = true;
        for (future, output) in futures.iter_mut().filter(|(_, output)| output.is_none()) {
            match future.as_mut().poll(context) {
                std::task::Poll::Ready(value) => *output = Some(value),
                std::task::Poll::Pending => is_ready = false,
            }
        }
        if is_ready { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    futures.into_iter().filter_map(|(_, output)| output).collect()
}
