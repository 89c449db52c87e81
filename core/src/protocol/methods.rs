//! The methods of MCP: which there are in which era, and who answers them.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use serde_json::Map;

use super::{
    connection::Connection,
    encode::{MessageReply, ResultWriter, ServerDetail, server_info},
    era::{Era, LEGACY, LISTED, Mirrors, Selected},
    exchange::{Beside, Exchange},
    features::Features,
    json_rpc::{Call, Params},
    lists::{Kind, List, is_template},
    mcp_headers,
    meta::{LOG_LEVELS, META_LOG_LEVEL},
    notifications::progress_token,
    quirks,
    request::Request,
    rpc_error::{INVALID_PARAMS, METHOD_NOT_FOUND, RpcError},
    runtime::Protocol,
};
use crate::{Json, hidden::repeated, pipeline::Callable, strict};

#[derive(Clone, Copy)]
enum Method {
    Initialize,
    Ping,
    SetLevel,
    Subscribe,
    Discover,
    List(Kind),
    CallTool,
    GetPrompt,
    ReadResource,
    GetSkill,
    ReadDirectory,
    Complete,
}

impl Method {
    /// The method of that name, where the era and the app have it.
    fn find(name: &str, era: Era, features: Features) -> Option<Self> {
        let (method, exists) = match name {
            "tools/list" => (Self::List(Kind::Tools), true),
            "tools/call" => (Self::CallTool, true),
            "prompts/list" => (Self::List(Kind::Prompts), features.prompts),
            "prompts/get" => (Self::GetPrompt, features.prompts),
            "resources/list" => (Self::List(Kind::Resources), features.resources),
            "resources/templates/list" => (Self::List(Kind::Templates), features.resources),
            "resources/read" => (Self::ReadResource, features.resources),
            "resources/directory/read" => (Self::ReadDirectory, features.skills),
            "skills/list" => (Self::List(Kind::Skills), features.skills),
            "skills/get" => (Self::GetSkill, features.skills),
            "completion/complete" => (Self::Complete, features.completions),
            "server/discover" => (Self::Discover, era == Era::Modern),
            "initialize" => (Self::Initialize, era == Era::Legacy),
            "ping" => (Self::Ping, era == Era::Legacy),
            // Over HTTP a level cannot be kept without a session: it is taken, and what is logged
            // stays within the request's own stream. Resources never change, so every subscription
            // is kept. Some legacy clients ask for both without looking at the capabilities.
            "logging/setLevel" => (Self::SetLevel, era == Era::Legacy),
            "resources/subscribe" | "resources/unsubscribe" => (Self::Subscribe, era == Era::Legacy && features.resources),
            _ => return None,
        };
        exists.then_some(method)
    }
}

impl Protocol {
    /// Steps 11f to 11h, and the answer.
    pub(super) async fn dispatch(&self, request: &Request, selected: Selected, call: &mut Call, beside: Beside<'_>) -> MessageReply {
        let Call { id, method, params } = call;
        let exchange = Exchange::new(self, request, selected, id, method, params, beside);
        match exchange.answer(params).await {
            Ok(body) => MessageReply::result(body),
            Err(failure) => MessageReply::failure(Some(id), &failure),
        }
    }
}

impl Exchange<'_> {
    /// `tools/list`, `prompts/list`, `resources/list`, `resources/templates/list`, `skills/list`
    pub(super) async fn list<'c>(
        &'c self,
        kind: Kind,
        params: &Map<String, Json>,
        entered: Option<&Callable<'c>>,
    ) -> Result<Vec<u8>, RpcError> {
        let cursor = match params.get("cursor") {
            None | Some(Json::Null) => "",
            Some(Json::String(cursor)) => cursor,
            Some(_) => return Err(RpcError::invalid_params("Invalid params: `cursor` must be a string")),
        };
        let of_caller;
        let app = self.app();
        // File names and digests of a skill are for those who may read it, whatever `tools.visible`
        // says of lists.
        let has_secrets = kind == Kind::Skills && app.skills.iter().any(|skill| app.is_protected(skill));
        let (list, is_for_some) = if has_secrets || app.authorization.lists_callable {
            of_caller = match entered {
                Some(callable) => self.callable_list(kind, callable).await,
                None => self.callable_list(kind, &self.protocol.pipeline.callable(self.caller())).await,
            };
            (&of_caller, true)
        } else {
            (self.protocol.lists.list(kind, self.selected.era, self.app()), false)
        };
        let page = list.page(cursor);
        let page = page.ok_or_else(|| RpcError::invalid_params("Invalid params: `cursor` was not issued by this list"))?;
        let mut result = self.result();
        result.reserve(page.entries.len());
        result.raw(kind.member(), &page.entries);
        if let Some(next) = &page.next {
            result.text("nextCursor", next);
        }
        result.cacheable(self.cache_scope(is_for_some));
        Ok(result.finish())
    }

    /// The list without what the caller cannot call.
    async fn callable_list<'c>(&'c self, kind: Kind, callable: &Callable<'c>) -> List {
        let app = self.app();
        let mut shown = Vec::new();
        match kind {
            Kind::Skills => {
                for skill in &app.skills {
                    if let Some(resource) = app.resources.get(skill.resource as usize)
                        && callable.can_read_now(resource).await
                    {
                        shown.push(&skill.descriptor);
                    }
                }
            }
            Kind::Tools => {
                for (place, tool) in app.tools.iter().enumerate().filter(|(_, tool)| tool.listed) {
                    if callable.tool(tool).await {
                        shown.push(self.protocol.lists.tool(place, self.selected.era, app));
                    }
                }
            }
            Kind::Prompts => {
                for prompt in &app.prompts {
                    if callable.prompt(prompt).await {
                        shown.push(&prompt.descriptor);
                    }
                }
            }
            Kind::Resources | Kind::Templates => {
                let protected = app.protected_files();
                let of_kind = app.resources.iter().zip(0..).filter(|(resource, _)| is_template(resource) == (kind == Kind::Templates));
                for (resource, place) in of_kind {
                    let is_shown = match protected.contains(&place) {
                        true => callable.can_read_now(resource).await,
                        false => callable.resource(resource).await,
                    };
                    if is_shown {
                        shown.push(&resource.descriptor);
                    }
                }
            }
        }
        List::new(kind, shown.into_iter().map(|entry| entry.as_str().into()))
    }
}

impl Exchange<'_> {
    async fn answer(&self, params: &mut Params) -> Result<Vec<u8>, RpcError> {
        let has_own = self.has_own_auth(params);
        let entered = if has_own { None } else { self.enter().await? };
        let answer = self.answer_to(params, entered.as_ref()).await;
        // What is wrong with a call is for those who may call: with its parameters, or with the
        // inputs of `execute`.
        if has_own && !self.was_asked.get() { self.enter().await.and(answer) } else { answer }
    }

    async fn answer_to<'c>(&'c self, params: &mut Params, entered: Option<&Callable<'c>>) -> Result<Vec<u8>, RpcError> {
        let modern = self.selected.era == Era::Modern;
        let Some(method) = Method::find(self.method, self.selected.era, self.protocol.features) else {
            let status = if modern { 404 } else { 200 };
            return Err(RpcError::http(status, METHOD_NOT_FOUND, format!("Method not found: `{}`", shorten(self.method))));
        };
        if matches!(method, Method::CallTool | Method::GetPrompt) {
            arguments_of_text(params);
        }
        if self.selected.mirrors != Mirrors::Unread && matches!(method, Method::CallTool) {
            let named = params.object().and_then(|params| params.get("name")).and_then(Json::as_str);
            if let Some((_, tool)) = named.and_then(|name| self.protocol.pipeline.tool(name)) {
                let arguments = params.object().and_then(|params| params.get("arguments")).and_then(Json::as_object);
                let headers = &self.request.headers;
                let may_omit = |field: &str| self.selected.mirrors == Mirrors::Sent || quirks::omits(params, headers, field);
                mcp_headers::params(headers, &tool.inputs, arguments, &may_omit)?;
            }
        }
        let mut absent = Map::new();
        let params = match params {
            Params::Object(params) => params,
            Params::Absent => &mut absent,
            Params::Wrong => return Err(RpcError::invalid_params("Invalid params: `params` must be an object")),
        };
        progress_token(params.get("_meta"))?;
        if modern {
            check_modern(params)?;
        }
        match method {
            Method::Initialize => self.initialize(params),
            Method::Ping => Ok(self.result().finish()),
            Method::SetLevel => self.set_level(params),
            Method::Subscribe => self.subscribe(params),
            Method::Discover => Ok(self.discover()),
            Method::List(kind) => self.list(kind, params, entered).await,
            Method::CallTool => self.call_tool(params).await,
            Method::GetPrompt => self.get_prompt(params).await,
            Method::ReadResource => self.read_resource(params).await,
            Method::GetSkill => self.get_skill(params).await,
            Method::ReadDirectory => self.read_directory(params).await,
            Method::Complete => self.complete(params).await,
        }
    }

    /// A version that is not served is answered with the newest that is; the client decides.
    fn initialize(&self, params: &mut Map<String, Json>) -> Result<alloc::vec::Vec<u8>, RpcError> {
        let asked = text(params, "protocolVersion")?;
        let version = LEGACY.into_iter().find(|version| *version == asked).unwrap_or(LEGACY[0]);
        let mut result = self.result();
        result.text("protocolVersion", version);
        let lists_change = self.beside.connection.is_some_and(Connection::lists_change);
        result.member("capabilities", &self.protocol.features.capabilities(Era::Legacy, lists_change));
        result.raw("serverInfo", &server_info(self.app(), ServerDetail::of(version)));
        if let Some(instructions) = &self.app().instructions {
            result.text("instructions", instructions);
        }
        if let Some(connection) = self.beside.connection {
            let capabilities = match params.get_mut("capabilities").map(Json::take) {
                Some(Json::Object(capabilities)) => capabilities,
                _ => Map::new(),
            };
            connection.initialize(version, self.protocol.features, capabilities);
        }
        Ok(result.finish())
    }

    fn discover(&self) -> alloc::vec::Vec<u8> {
        // Here clients look for the server itself; with every other result, icons would be a
        // burden.
        let server = server_info(self.app(), ServerDetail::Full);
        let mut result = ResultWriter::new(self.id, self.selected.era, &server);
        result.member("supportedVersions", &LISTED);
        result.member("capabilities", &self.protocol.features.capabilities(Era::Modern, false));
        if let Some(instructions) = &self.app().instructions {
            result.text("instructions", instructions);
        }
        result.cacheable(self.cache_scope(false));
        result.finish()
    }

    fn set_level(&self, params: &mut Map<String, Json>) -> Result<alloc::vec::Vec<u8>, RpcError> {
        let level = text(params, "level")?;
        let Some(place) = LOG_LEVELS.iter().position(|known| *known == level) else { return Err(bad_level("level")) };
        if let Some(connection) = self.beside.connection {
            connection.set_log_level(place);
        }
        Ok(self.result().finish())
    }
}

/// Reads `arguments` that were sent as JSON text.
fn arguments_of_text(params: &mut Params) {
    // The message and `params` are around them.
    const WITHIN: usize = 2;
    if let Params::Object(params) = params
        && let Some(arguments) = params.get_mut("arguments")
        && let Some(read) = arguments.as_str().and_then(|text| strict::parse(text, WITHIN)).filter(Json::is_object)
    {
        *arguments = read;
    }
}

/// What a modern request may say about itself besides its era.
fn check_modern(params: &Map<String, Json>) -> Result<(), RpcError> {
    match params.get("_meta").and_then(|meta| meta.get(META_LOG_LEVEL)) {
        None => {}
        Some(Json::String(level)) if LOG_LEVELS.contains(&level.as_str()) => {}
        Some(_) => return Err(bad_level(META_LOG_LEVEL)),
    }
    Ok(())
}

fn bad_level(name: &str) -> RpcError {
    RpcError::new(INVALID_PARAMS, format!("Invalid params: `{name}` must be one of {}", LOG_LEVELS.join(", ")))
}

/// Takes a required string out of the parameters.
pub(super) fn text(params: &mut Map<String, Json>, name: &str) -> Result<String, RpcError> {
    match params.get_mut(name).map(Json::take) {
        Some(Json::String(text)) => Ok(text),
        Some(_) => Err(RpcError::invalid_params(format!("Invalid params: `{name}` must be a string"))),
        None => Err(RpcError::invalid_params(format!("Invalid params: `{name}` is missing"))),
    }
}

/// A caller's word, cut for a message.
pub(super) fn shorten(word: &str) -> Cow<'_, str> {
    repeated(word, 128)
}
