//! What the protocol keeps between requests.

use alloc::{rc::Rc, string::String, vec::Vec};
use core::cell::{Cell, OnceCell};

use super::{
    encode::{ServerDetail, server_info},
    features::Features,
    http::Origin,
    lists::Lists,
    quirks::LoggedClients,
    resource_index::Index,
};
use crate::pipeline::Pipeline;

/// How many bytes of answers the unfinished batches of an isolate hold.
pub(super) type HeldBytes = Rc<Cell<usize>>;

/// An app and its pipeline behind the protocol, with what is kept between requests: what was made
/// of the app, a count of bytes, and the names of a few clients; nothing else of a request.
pub(crate) struct Protocol {
    pub(crate) pipeline: Pipeline,
    pub(super) origins: Vec<Origin>,
    pub(super) features: Features,
    pub(super) server_info: String,
    pub(super) lists: Lists,
    pub(super) resources: Index,
    /// What unfinished batches hold.
    pub(super) batches: HeldBytes,
    pub(super) logged_clients: LoggedClients,
    asks: OnceCell<bool>,
}

impl Protocol {
    pub(crate) fn new(pipeline: Pipeline) -> Self {
        let app = pipeline.app();
        Self {
            origins: app.server.cors_origins.iter().filter_map(|origin| Origin::parse(origin)).collect(),
            features: Features::of(app),
            server_info: server_info(app, ServerDetail::Short),
            lists: Lists::default(),
            resources: Index::default(),
            batches: HeldBytes::default(),
            logged_clients: LoggedClients::default(),
            asks: OnceCell::new(),
            pipeline,
        }
    }

    /// Whether a tool of the app may ask its caller.
    pub(super) fn asks(&self) -> bool {
        *self.asks.get_or_init(|| self.pipeline.app().asking_tool().is_some())
    }
}
