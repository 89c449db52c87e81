//! One message of a [`Connection`]: the ladder without HTTP.

use alloc::{boxed::Box, rc::Rc};

use super::{
    connection::Connection,
    encode::MessageReply,
    era, events,
    exchange::Beside,
    http,
    json_rpc::{self, Message, Payload},
    notifications::{Hearer, Outbox},
    request::Body,
    response::ResponseBody,
    rpc_error::RpcError,
    runtime::Protocol,
};
use crate::cancel::Cancel;

impl Protocol {
    /// Answers one message of a connection: one message, an array of them, a stream of them, or nothing. No message has a line feed.
    /// `cancel` is tripped where the client cancels the request; then nothing may be sent for it any more.
    pub(crate) async fn message(self: &Rc<Self>, connection: &Connection, message: Body, cancel: Cancel) -> ResponseBody {
        let reply = match http::within_limit(&message, self.pipeline.app().server.body_limit as usize).and_then(json_rpc::parse) {
            Ok(Payload::One(message)) => match self.one_of(connection, *message, cancel).await {
                Ok(reply) => reply,
                Err(stream) => return *stream,
            },
            Ok(Payload::Batch(messages)) => {
                let may_batch = era::may_batch_on_connection(connection.version());
                self.batch_reply(&connection.request(cancel), messages, may_batch).await.unwrap_or_else(|failure| Some(refusal(&failure)))
            }
            Err(failure) => Some(refusal(&failure)),
        };
        reply.map(|reply| reply.body).unwrap_or_default().into()
    }

    /// # Errors
    /// The answer is a stream.
    async fn one_of(
        self: &Rc<Self>,
        connection: &Connection,
        message: Message,
        cancel: Cancel,
    ) -> Result<Option<MessageReply>, Box<ResponseBody>> {
        if let Some(id) = message.cancels() {
            connection.cancel(&id);
            return Ok(None);
        }
        let mut call = match message.into_call() {
            Ok(Some(call)) => call,
            Ok(None) => return Ok(None),
            Err(refused) => return Ok(Some(MessageReply::failure(refused.id.as_ref(), &refused.failure))),
        };
        let selected = match era::select_on_connection(&call, connection.version()) {
            Ok(selected) => selected,
            Err(failure) => return Ok(Some(MessageReply::failure(Some(&call.id), &failure))),
        };
        let running = connection.enter(&call.id, &cancel);
        let request = connection.request(cancel.clone());
        let Some(outbox) = Outbox::of(&self.pipeline, &call, selected, Hearer::Connection(connection)) else {
            let beside = Beside { listener: None, connection: Some(connection) };
            return Ok(Some(self.dispatch(&request, selected, &mut call, beside).await));
        };
        let outbox = Rc::new(outbox);
        let (protocol, connection, listener) = (self.clone(), connection.clone(), outbox.clone());
        let work = async move {
            let _running = running;
            let beside = Beside { listener: Some(&*listener), connection: Some(&connection) };
            protocol.dispatch(&request, selected, &mut call, beside).await
        };
        events::run(Box::pin(work), outbox, cancel).await.map(Some).map_err(|events| Box::new(ResponseBody::Events(events)))
    }
}

/// The answer to what is no message.
fn refusal(failure: &RpcError) -> MessageReply {
    MessageReply::failure(None, failure)
}
