//! Who may ask anything at all: the look at a caller before a request is answered, whatever it asks
//! for.
//!
//! | request over HTTP | `sign_in: per_tool` | `sign_in: required` |
//! |---|---|---|
//! | calls a tool with an `auth` | the tool's `auth` decides | the same, and a caller without a name is refused |
//! | anything else, without a token or a key | answered | 401 |
//! | anything else, with one that no plugin of the app accepts | 401 | 401 |
//!
//! Clients decide at the handshake whether there is anything to sign in to, and renew a token where
//! it is refused: so both have to be there ([MCP, access token
//! usage](https://modelcontextprotocol.io/specification/draft/basic/authorization)). Connections,
//! which are not HTTP, have signed in otherwise or not at all: nothing is asked of them here.

use super::{
    encode::{CacheScope, MessageReply},
    era::Selected,
    exchange::{BatchOrigin, Beside, Exchange},
    http,
    json_rpc::{Id, Params},
    quirks,
    request::Request,
    response::Response,
    rpc_error::RpcError,
    runtime::Protocol,
};
use crate::{
    Json,
    app::{Auth, Execute, SignIn, Tool},
    fault::Refusal,
    pipeline::Callable,
};

impl Protocol {
    /// The response to a request that asks for nothing, or for nothing that can be understood, for
    /// those who are let in.
    pub(super) async fn if_let_in(&self, request: &Request, id: Option<&Id>, response: Response) -> Response {
        self.enter(request, id).await.map_or_else(http::reply, |()| response)
    }

    /// Lets a caller in, or not, before it is known what it asks for.
    ///
    /// # Errors
    /// The reply.
    pub(super) async fn enter(&self, request: &Request, id: Option<&Id>) -> Result<(), MessageReply> {
        let (none, params) = (Id::none(), Params::Absent);
        let exchange = Exchange::new(self, request, Selected::BATCH, &none, "", &params, Beside::default());
        exchange.enter().await.map(drop).map_err(|failure| MessageReply::failure(id, &failure))
    }
}

impl Exchange<'_> {
    /// Lets the caller in, or not. `None` where nobody had to be asked.
    ///
    /// # Errors
    /// No plugin of the app knows the caller.
    pub(super) async fn enter(&self) -> Result<Option<Callable<'_>>, RpcError> {
        let pipeline = &self.protocol.pipeline;
        if !self.is_over_http() || !pipeline.asks_at_the_entrance(&self.request.headers) {
            return Ok(None);
        }
        let callable = pipeline.callable(self.caller());
        match callable.enter().await {
            Ok(()) => Ok(Some(callable)),
            Err(fault) => Err(self.failed(&fault)),
        }
    }

    /// Whether the request is a call that the `auth` of its tool decides about.
    pub(super) fn has_own_auth(&self, params: &Params) -> bool {
        self.method == "tools/call" && self.called(params).and_then(|tool| tool.auth.as_ref()).is_some_and(|auth| !Auth::is_open(auth))
    }

    /// The tool that is called; the one that `execute` names, where that is it.
    fn called(&self, params: &Params) -> Option<&Tool> {
        let find = |name: &Json| self.protocol.pipeline.tool(name.as_str()?).map(|(_, tool)| tool);
        let params = params.object()?;
        let tool = find(params.get("name")?)?;
        match tool.execute {
            Execute::Forward => params.get("arguments").and_then(|arguments| find(arguments.get("tool")?)),
            _ => Some(tool),
        }
    }

    /// Whether the request came over HTTP, and on its own.
    fn is_over_http(&self) -> bool {
        self.beside.connection.is_none() && self.beside.batch.is_none()
    }

    /// Whether nobody is let in without saying who it is, on its own or in a batch.
    pub(super) fn is_locked(&self) -> bool {
        let is_connected = self.beside.connection.is_some() || self.beside.batch == Some(BatchOrigin::Connection);
        !is_connected && self.app().authorization.sign_in == SignIn::Required
    }

    /// Who may share an answer. `is_for_some`: it depends on its caller. Where nobody is let in
    /// without signing in, no answer is for everybody.
    pub(super) fn cache_scope(&self, is_for_some: bool) -> CacheScope {
        let is_private = is_for_some || self.app().authorization.sign_in == SignIn::Required;
        if is_private { CacheScope::Private } else { CacheScope::Public }
    }

    /// Whether a refused caller is answered with a result, in which its client may look for the
    /// challenge: one of a call, in an app that says where to sign in.
    pub(super) fn challenges_in_result(&self) -> bool {
        self.method == "tools/call" && self.is_over_http() && self.app().authorization.resource.is_some()
    }

    /// Whether the client would not read that result with the status that belongs to it. A token
    /// that was refused is not among it: those are renewed after the status.
    pub(super) fn reads_results_only(&self, refusal: &Refusal) -> bool {
        let headers = &self.request.headers;
        let was_refused = matches!(refusal, Refusal::Unauthorized) && headers.first("authorization").is_some();
        !self.is_locked() && !was_refused && quirks::reads_results_only(headers)
    }
}
