//! `peer-databases rmcp|axum mysql|redis URL PORT THREADS`: one tool, `get-user`, with the same
//! rows as Millrace's: on a pool with a prepared statement, or on one connection for all calls.
//! `rmcp` is an MCP server as a careful author writes it with the official SDK; `axum` answers this
//! one request and knows nothing else of MCP.

mod sdk;

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use mysql_async::prelude::Queryable as _;
use redis::AsyncCommands as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

type Failure = Box<dyn std::error::Error + Send + Sync>;

enum Database {
    Mysql(mysql_async::Pool),
    Redis(redis::aio::ConnectionManager),
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    name: &'a str,
    arguments: Arguments,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: i64,
}

#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: CallResult,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    content: [Content; 1],
    is_error: bool,
}

#[derive(Serialize)]
struct Content {
    r#type: &'static str,
    text: String,
}

#[derive(Serialize)]
struct User {
    id: i64,
    name: String,
    email: String,
    city: String,
    created_at: String,
}

impl Database {
    async fn open(kind: &str, url: &str) -> Result<Self, Failure> {
        if kind == "redis" {
            return Ok(Self::Redis(redis::Client::open(url)?.get_connection_manager().await?));
        }
        // Without a reset, which would forget the prepared statement.
        let pool = mysql_async::PoolOpts::default().with_reset_connection(false);
        let options = mysql_async::OptsBuilder::from_opts(mysql_async::Opts::from_url(url)?).pool_opts(pool);
        Ok(Self::Mysql(mysql_async::Pool::new(options)))
    }

    /// The rows of a user, as JSON.
    async fn user(&self, id: i64) -> Result<String, Failure> {
        match self {
            Self::Mysql(pool) => {
                let mut connection = pool.get_conn().await?;
                let statement = "SELECT id, name, email, city, created_at FROM users WHERE id = ?";
                let user = |(id, name, email, city, created_at)| User { id, name, email, city, created_at };
                let users: Vec<User> = connection.exec_map(statement, (id,), user).await?;
                Ok(serde_json::to_string(&users)?)
            }
            Self::Redis(manager) => {
                let fields: Vec<(String, String)> = manager.clone().hgetall(format!("user:{id}")).await?;
                let row: Map<String, Value> = fields.into_iter().map(|(name, value)| (name, value.into())).collect();
                Ok(serde_json::to_string(&[row])?)
            }
        }
    }
}

async fn answer(database: &Database, body: &[u8]) -> Result<String, Failure> {
    let request: Request<'_> = serde_json::from_slice(body)?;
    if (request.method, request.params.name) != ("tools/call", "get-user") {
        return Err("there is one tool, `get-user`".into());
    }
    let text = database.user(request.params.arguments.id).await?;
    let result = CallResult { content: [Content { r#type: "text", text }], is_error: false };
    Ok(serde_json::to_string(&Answer { jsonrpc: "2.0", id: request.id, result })?)
}

async fn call(State(database): State<Arc<Database>>, body: Bytes) -> Response {
    match answer(&database, &body).await {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(failure) => (StatusCode::BAD_REQUEST, failure.to_string()).into_response(),
    }
}

async fn serve(front: &str, kind: &str, url: &str, port: u16) -> Result<(), Failure> {
    let database = Arc::new(Database::open(kind, url).await?);
    let router = match front {
        "rmcp" => sdk::router(database),
        _ => Router::new().route("/mcp", post(call)).with_state(database),
    };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    axum::serve(listener, router).await?;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [front, kind, url, port, threads] = arguments.as_slice() else {
        return Err("usage: peer-databases rmcp|axum mysql|redis URL PORT THREADS".into());
    };
    let threads: usize = threads.parse()?;
    let mut runtime =
        if threads == 1 { tokio::runtime::Builder::new_current_thread() } else { tokio::runtime::Builder::new_multi_thread() };
    if threads > 1 {
        runtime.worker_threads(threads);
    }
    runtime.enable_all().build()?.block_on(serve(front, kind, url, port.parse()?))
}
