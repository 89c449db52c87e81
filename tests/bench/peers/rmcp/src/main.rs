//! `peer-rmcp DATABASE PORT`: one tool, `get-user`, on the same database and with the same
//! statement as the sample app. Stateless, JSON answers, one connection a thread with a cached
//! statement: what a careful author writes by hand.

use std::cell::RefCell;

use rmcp::{
    ServerHandler,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{CallToolResult, ContentBlock, ServerCapabilities, ServerConfig},
    schemars, tool, tool_handler, tool_router,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager},
};
use rusqlite::{Connection, OpenFlags};

thread_local! {
    static DATABASE: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

#[derive(Clone)]
struct Shop {
    path: std::sync::Arc<str>,
    tool_router: ToolRouter<Self>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct GetUser {
    /// User id
    id: i64,
}

#[derive(serde::Serialize)]
struct User {
    id: i64,
    name: String,
    email: String,
    city: String,
    created_at: String,
}

#[tool_router]
impl Shop {
    fn new(path: &str) -> Self {
        Self { path: path.into(), tool_router: Self::tool_router() }
    }

    #[tool(name = "get-user", description = "Get one user by id.")]
    async fn get_user(&self, Parameters(GetUser { id }): Parameters<GetUser>) -> Result<CallToolResult, rmcp::ErrorData> {
        let users = DATABASE.with_borrow_mut(|slot| -> rusqlite::Result<Vec<User>> {
            if slot.is_none() {
                *slot = Some(Connection::open_with_flags(&*self.path, OpenFlags::SQLITE_OPEN_READ_ONLY)?);
            }
            let Some(database) = slot else { return Ok(Vec::new()) };
            database
                .prepare_cached("SELECT id, name, email, city, created_at FROM users WHERE id = ?1")?
                .query_map([id], |row| {
                    Ok(User { id: row.get(0)?, name: row.get(1)?, email: row.get(2)?, city: row.get(3)?, created_at: row.get(4)? })
                })?
                .collect()
        });
        let users = users.map_err(|error| rmcp::ErrorData::internal_error(error.to_string(), None))?;
        let text = serde_json::to_string(&users).map_err(|error| rmcp::ErrorData::internal_error(error.to_string(), None))?;
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Shop {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(port)) = (arguments.next(), arguments.next()) else { return Err("usage: peer-rmcp DATABASE PORT".into()) };
    let shop = Shop::new(&path);
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(move || Ok(shop.clone()), LocalSessionManager::default().into(), config);
    let router = axum::Router::new().nest_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    println!("ready");
    axum::serve(listener, router).await?;
    Ok(())
}
