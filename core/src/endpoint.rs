//! An app and ports, ready to answer requests.

use alloc::rc::Rc;

use crate::{
    app::App,
    cancel::Cancel,
    pipeline::Pipeline,
    ports::Ports,
    protocol::{Body, Connection, Protocol, Request, Response, ResponseBody},
};

/// One isolate's endpoint. A call whose answer is a stream holds on to what is in it. A clone is
/// the same endpoint.
#[derive(Clone)]
pub struct Endpoint(Rc<Protocol>);

impl Endpoint {
    /// Makes an endpoint. Opens nothing: connections and the script engine start at their first
    /// use.
    #[must_use]
    pub fn new(app: App, ports: Ports) -> Self {
        Self::sharing(Rc::new(app), ports)
    }

    /// The same of an app that other endpoints of the isolate have, too.
    #[must_use]
    pub fn sharing(app: Rc<App>, ports: Ports) -> Self {
        Self(Rc::new(Protocol::new(Pipeline::new(app, ports))))
    }

    /// The app.
    #[must_use]
    pub fn app(&self) -> &App {
        self.0.pipeline.app()
    }

    /// The pipeline, for hosts that call a tool without HTTP (`millrace call`).
    #[must_use]
    pub fn pipeline(&self) -> &Pipeline {
        &self.0.pipeline
    }

    /// Evaluates the app's scripts ahead of the first call that needs them, which would wait for
    /// that. For hosts that have nothing else to do.
    pub fn prepare_scripts(&self) {
        self.0.pipeline.ports().scripts.prepare(&self.app().scripts);
    }

    /// The longest request body, in bytes; a host stops reading past it and says
    /// [`Body::TooLarge`](crate::protocol::Body).
    #[must_use]
    pub fn body_limit(&self) -> usize {
        self.app().server.body_limit as usize
    }

    /// The refusal of a request that may not come in at all: too many header fields, a `Host` or an
    /// `Origin` that is not allowed. `None` for every other. For hosts that answer some requests
    /// themselves; [`handle`](Self::handle) looks for itself.
    #[must_use]
    pub fn refusal(&self, request: &Request) -> Option<Response> {
        self.0.refusal(request)
    }

    /// Answers one message of a connection, without HTTP: with one message, an array of them, a
    /// stream of them, or nothing, which is an empty body. No message has a line feed. Where
    /// `cancel` is tripped, the client has cancelled the request, and nothing may be sent for it
    /// any more.
    pub async fn handle_message(&self, connection: &Connection, message: Body, cancel: Cancel) -> ResponseBody {
        self.0.message(connection, message, cancel).await
    }

    /// Answers one HTTP request. Never fails: what goes wrong is a [`Response`].
    ///
    /// The same request gives the same bytes, as far as the ports do; the request's id, which is
    /// random, stands in the answers of internal failures only. Where the body is a stream, the
    /// call is still on its way; it needs no endpoint any more.
    pub async fn handle(&self, request: Request) -> Response {
        self.0.answer(Rc::new(request)).await
    }
}
