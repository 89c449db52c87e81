//! The MCP endpoint: bytes ↔ typed requests and results.
//!
//! [`Request`] and [`Response`] are all that crosses the border between a host and the core; where
//! there is no HTTP, messages of a [`Connection`] do. The endpoint is stateless and serves two eras
//! of MCP at one path: the *modern* one, where every request carries its version and capabilities
//! in `params._meta` (2026-07-28), and the *legacy* one, which starts with `initialize` (2024-11-05
//! to 2025-11-25). It mints no session, and ignores `Mcp-Session-Id` and `Last-Event-ID`.
//!
//! # The ladder
//! A request climbs these steps in order; the first that refuses it answers. Statuses are HTTP's,
//! negative numbers JSON-RPC's. Errors up to step 8 carry no `id`; later ones carry the request's.
//!
//! | step | refused as |
//! |---|---|
//! | too many or too long header fields | 431 −32600 |
//! | 0 `Host` of a loopback server, then `Origin` | 403 −32600 |
//! | the path: the endpoint, with a slash after it or without, `/heartbeat`, `/livez`, `/readyz`, the metadata of `discovery` | 404 −32600 |
//! | 1 `OPTIONS` | answered 204, with CORS fields for an allowed origin |
//! | 2 any other method than `POST` | 405 −32600 with `Allow` |
//! | 4 `Content-Type` | 415 −32600 |
//! | 5 `Accept` excludes JSON | 406 −32600 |
//! | 6 size | 413 −32600 |
//! | 7 UTF-8, JSON, depth | 400 −32700 |
//! | 8 an array that is not a batch of 2025-03-26 | 400 −32600 |
//! | 9 shape: `jsonrpc`, `method`, `id`, no member twice, in `params` at any depth | 400 −32600 |
//! | 10 no `id` | answered 202, and nothing is done |
//! | 11a modern: `_meta` complete | 400 −32602 |
//! | 11b `MCP-Protocol-Version` equals `_meta`, or both name revisions that are served | 400 −32020 |
//! | 11c the version is served | 400 −32022 with `data.supported` |
//! | 11d `MCP-Protocol-Version` present, but for clients of [`QUIRKS`] | 400 −32020 |
//! | 11e `Mcp-Method`, `Mcp-Name` equal the body, and are there where `MCP-Protocol-Version` is a revision that has them, but for clients of [`QUIRKS`] | 400 −32020 |
//! | 11f the method is known | 404 −32601 |
//! | 11g `Mcp-Param-*` equal the body | 400 −32020 |
//! | 11h parameters | 200 −32602 |
//! | 11 legacy: the header's version is served, `initialize` apart | 400 −32022 with `data.supported` |
//! | legacy: the method is known | 200 −32601 |
//! | the caller is let in (stage *authenticate* of the pipeline) | 401 or 403 with `WWW-Authenticate` |
//!
//! Over HTTP, who asks is looked at before step 11f, and where an app requires sign-in, whatever
//! the steps from 7 on say comes after it. See the module `entrance`.
//!
//! Everything after that is HTTP 200: a result, or a JSON-RPC error. A resource that is not there
//! is −32602 for the modern era and −32002 for the legacy one. (Step 3, authentication, is a stage
//! of the pipeline: tools differ in who may call them.)
//!
//! A `tools/call` that says something before its result is answered with an event stream, where the
//! caller accepts one: see [`EventStream`].
//!
//! # What is deliberately absent
//! No subscriptions, and over HTTP no server-to-client requests (legacy sampling and elicitation
//! need a session, which a connection is). Capabilities name only what the app has.

use alloc::{rc::Rc, vec::Vec};

use crate::ports::{HandledRequest, Observer};

mod batch;
mod completion;
mod connection;
mod discovery;
mod encode;
mod entrance;
mod era;
mod event_stream;
mod events;
mod exchange;
mod feature_tool;
mod features;
mod health;
mod http;
mod json_rpc;
mod lists;
mod mcp_headers;
mod message;
mod meta;
mod methods;
mod notifications;
mod prompts;
mod quirks;
mod request;
mod request_id;
mod resource_index;
mod resources;
mod response;
mod rpc_error;
mod runtime;
mod skills;
mod sse;
mod tools;

pub use connection::Connection;
pub use discovery::{check_issuer, check_resource};
pub use event_stream::EventStream;
pub use lists::tools_list_bytes;
pub use quirks::{QUIRKS, Quirk};
pub use request::{Body, Request};
pub use resource_index::{fits, pattern_text};
pub use response::{Response, ResponseBody};
pub(crate) use runtime::Protocol;

impl Protocol {
    /// The answer to a request that the first rules do not let in.
    pub(crate) fn refusal(&self, request: &Request) -> Option<Response> {
        http::admit(request, &self.origins, &self.pipeline.app().server.hosts).err().map(|failure| http::refuse(&failure))
    }

    /// Answers one HTTP request. A call that becomes a stream holds on to the protocol.
    pub(crate) async fn answer(self: &Rc<Self>, request: Rc<Request>) -> Response {
        let observer = self.pipeline.ports().observer.as_deref();
        let began_ns = observer.map_or(0, Observer::now_ns);
        let response = self.answer_unobserved(Rc::clone(&request)).await;
        if let Some(observer) = observer.filter(|_| began_ns > 0) {
            let took_ns = observer.now_ns().saturating_sub(began_ns);
            let (route, status) = (self.route(&request.path), response.status);
            observer.handled(&HandledRequest { method: &request.method, route, status, took_ns });
        }
        response
    }

    /// Which of the paths that the app answers this is.
    fn route<'a>(&'a self, path: &'a str) -> Option<&'a str> {
        let server = &self.pipeline.app().server;
        if server.is_endpoint(path) {
            Some(&server.path)
        } else {
            Some(path).filter(|path| matches!(*path, "/heartbeat" | "/livez" | "/readyz"))
        }
    }

    async fn answer_unobserved(self: &Rc<Self>, request: Rc<Request>) -> Response {
        let pipeline = &self.pipeline;
        if let Some(mut response) = discovery::answer(pipeline, &request) {
            if request.method == "HEAD" {
                response.body = Vec::new().into();
            }
            return response;
        }
        let origin = match http::admit(&request, &self.origins, &pipeline.app().server.hosts) {
            Ok(origin) => origin,
            Err(failure) => return http::refuse(&failure),
        };
        let mut response = match request.path.as_str() {
            path if path == pipeline.app().server.path => self.at_endpoint(&request).await,
            "/heartbeat" | "/livez" => health::live(&request),
            "/readyz" => health::ready(&request, pipeline).await,
            path if pipeline.app().server.is_endpoint(path) => self.at_endpoint(&request).await,
            _ => http::not_found(&pipeline.app().server.path),
        };
        if let Some(origin) = origin {
            http::share(&mut response, origin);
        }
        if request.method == "HEAD" {
            response.body = Vec::new().into();
        }
        response
    }

    /// Steps 1 to 7 of the ladder, then the messages.
    async fn at_endpoint(self: &Rc<Self>, request: &Rc<Request>) -> Response {
        if request.method == "OPTIONS" {
            return http::preflight(request, "POST, OPTIONS");
        }
        let limit = self.pipeline.app().server.body_limit as usize;
        let body = match http::body_of_post(request, limit) {
            Ok(body) => body,
            Err(failure) => return http::refuse(&failure),
        };
        match json_rpc::parse(body) {
            Ok(json_rpc::Payload::One(message)) => self.one(request, *message).await,
            Ok(json_rpc::Payload::Batch(messages)) => self.batch(request, messages).await,
            Err(failure) => self.if_let_in(request, None, http::refuse(&failure)).await,
        }
    }

    async fn one(self: &Rc<Self>, request: &Rc<Request>, message: json_rpc::Message) -> Response {
        let mut call = match message.into_call() {
            Ok(Some(call)) => call,
            Ok(None) => return self.if_let_in(request, None, http::accepted()).await,
            Err(refused) => {
                let reply = http::reply(encode::MessageReply::failure(refused.id.as_ref(), &refused.failure));
                return self.if_let_in(request, refused.id.as_ref(), reply).await;
            }
        };
        let selected = match era::select(&call, &request.headers) {
            Ok(selected) => selected,
            Err(failure) => {
                let reply = http::reply(encode::MessageReply::failure(Some(&call.id), &failure));
                return self.if_let_in(request, Some(&call.id), reply).await;
            }
        };
        if let Some(deviation) = selected.deviation {
            self.logged_clients.log(deviation, &call, &request.headers);
        }
        let hearer = notifications::Hearer::Request(&request.headers);
        let Some(outbox) = notifications::Outbox::of(&self.pipeline, &call, selected, hearer) else {
            return http::reply(self.dispatch(request, selected, &mut call, exchange::Beside::default()).await);
        };
        let (outbox, cancel) = (Rc::new(outbox), request.cancel.clone());
        let (protocol, request, listener) = (self.clone(), request.clone(), outbox.clone());
        let work = async move {
            let beside = exchange::Beside { listener: Some(&*listener), ..Default::default() };
            protocol.dispatch(&request, selected, &mut call, beside).await
        };
        events::reply(alloc::boxed::Box::pin(work), outbox, cancel).await
    }
}
