//! One request on its way to its answer: what every method may look at.

use alloc::string::String;
use core::cell::{Cell, OnceCell, RefCell};

use super::{
    connection::Connection,
    encode::ResultWriter,
    era::Selected,
    json_rpc::{Id, Params},
    request::Request,
    request_id::{self, TraceContext},
    runtime::Protocol,
};
use crate::{
    app::App,
    pipeline::{InputRequired, Listener},
};

/// Who else takes part in a request.
#[derive(Clone, Copy, Default)]
pub(super) struct Beside<'a> {
    /// Hears what a call says before its result.
    pub(super) listener: Option<&'a dyn Listener>,
    /// Where the request came from, unless it came over HTTP.
    pub(super) connection: Option<&'a Connection>,
    /// Takes what the call asks for, where the connection asks it.
    pub(super) questions: Option<&'a RefCell<Option<InputRequired>>>,
    /// Where the batch came from that the request is one of. Its caller was looked at before.
    pub(super) batch: Option<BatchOrigin>,
}

/// Where a batch came from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BatchOrigin {
    Http,
    Connection,
}

/// A request.
pub(super) struct Exchange<'a> {
    pub(super) protocol: &'a Protocol,
    pub(super) request: &'a Request,
    pub(super) selected: Selected,
    pub(super) id: &'a Id,
    /// The method that was asked for.
    pub(super) method: &'a str,
    pub(super) beside: Beside<'a>,
    /// The caller's span.
    pub(super) trace: TraceContext,
    /// Made at its first use: by a method that runs a tool.
    request_id: OnceCell<String>,
    /// Whether the `auth` of the tool that is called has been asked.
    pub(super) was_asked: Cell<bool>,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(
        protocol: &'a Protocol,
        request: &'a Request,
        selected: Selected,
        id: &'a Id,
        method: &'a str,
        params: &Params,
        beside: Beside<'a>,
    ) -> Self {
        let trace = TraceContext::of(params, &request.headers);
        Self { protocol, request, selected, id, method, beside, trace, request_id: OnceCell::new(), was_asked: Cell::new(false) }
    }

    pub(super) fn app(&self) -> &'a App {
        self.protocol.pipeline.app()
    }

    /// The id of the request in logs, in traces and in `ctx.request.id`.
    pub(super) fn request_id(&self) -> &str {
        self.request_id.get_or_init(|| request_id::of(&self.trace, &*self.protocol.pipeline.ports().random))
    }

    /// Begins the result.
    pub(super) fn result(&self) -> ResultWriter<'a> {
        ResultWriter::new(self.id, self.selected.era, &self.protocol.server_info)
    }

    /// Begins a result that asks for input; modern only.
    pub(super) fn question(&self) -> ResultWriter<'a> {
        ResultWriter::question(self.id, &self.protocol.server_info)
    }
}
