//! The server on `rmcp`: stateless, with JSON answers.

use std::sync::Arc;

use axum::Router;
use rmcp::{
    ServerHandler,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{CallToolResult, ContentBlock, ServerCapabilities, ServerConfig},
    schemars, tool, tool_handler, tool_router,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager},
};

use crate::Database;

#[derive(Clone)]
struct Shop {
    database: Arc<Database>,
    tool_router: ToolRouter<Self>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct GetUser {
    /// User id
    id: i64,
}

#[tool_router]
impl Shop {
    fn new(database: Arc<Database>) -> Self {
        Self { database, tool_router: Self::tool_router() }
    }

    #[tool(name = "get-user", description = "Get one user by id.")]
    async fn get_user(&self, Parameters(GetUser { id }): Parameters<GetUser>) -> Result<CallToolResult, rmcp::ErrorData> {
        let text = self.database.user(id).await.map_err(|error| rmcp::ErrorData::internal_error(error.to_string(), None))?;
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Shop {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

pub(crate) fn router(database: Arc<Database>) -> Router {
    let shop = Shop::new(database);
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(move || Ok(shop.clone()), LocalSessionManager::default().into(), config);
    Router::new().nest_service("/mcp", service)
}
