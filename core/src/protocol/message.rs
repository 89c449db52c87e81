//! One message of a [`Connection`]: the ladder without HTTP.

use alloc::{boxed::Box, format, rc::Rc, string::String};
use core::cell::RefCell;

use serde_json::Map;

use super::{
    connection::Connection,
    encode::MessageReply,
    era::{self, Era, Selected},
    events,
    exchange::{BatchOrigin, Beside},
    http,
    json_rpc::{self, Call, Message, Params, Payload},
    meta::META_CAPABILITIES,
    notifications::{Hearer, Outbox},
    request::{Body, Request},
    response::ResponseBody,
    rpc_error::{INTERNAL_ERROR, RpcError},
    runtime::Protocol,
};
use crate::{Json, cancel::Cancel, pipeline::InputRequired};

/// How often a call may ask a legacy client before it is given up.
const MOST_ROUNDS: usize = 16;

impl Protocol {
    /// Answers one message of a connection: one message, an array of them, a stream of them, or
    /// nothing. No message has a line feed. `cancel` is tripped where the client cancels the
    /// request; then nothing may be sent for it any more.
    pub(crate) async fn message(self: &Rc<Self>, connection: &Connection, body: Body, cancel: Cancel) -> ResponseBody {
        let is_awaited = |message: &Message| message.is_answer() && matches!(&body, Body::Whole(bytes) if connection.answer(bytes));
        let reply = match http::within_limit(&body, self.pipeline.app().server.body_limit as usize).and_then(json_rpc::parse) {
            Ok(Payload::One(message)) if is_awaited(&message) => None,
            Ok(Payload::One(message)) => match self.one_of(connection, *message, cancel).await {
                Ok(reply) => reply,
                Err(stream) => return *stream,
            },
            Ok(Payload::Batch(messages)) => {
                let may_batch = era::may_batch_on_connection(connection.version());
                let reply = self.batch_reply(&connection.request(cancel), messages, BatchOrigin::Connection, may_batch).await;
                reply.unwrap_or_else(|failure| Some(refusal(&failure)))
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
        let outbox = Outbox::of(&self.pipeline, &call, selected, Hearer::Connection(connection.log_level()));
        let is_legacy = selected.era == Era::Legacy && matches!(call.method.as_str(), "tools/call" | "prompts/get" | "resources/read");
        if let Some(capabilities) = (is_legacy && self.asks()).then(|| connection.capabilities()).flatten() {
            let outbox = Rc::new(outbox.unwrap_or_else(Outbox::for_questions));
            let (protocol, connection, listener) = (self.clone(), connection.clone(), outbox.clone());
            let work = async move {
                let _running = running;
                protocol.dispatch_asking(&request, selected, call, &connection, &listener, &capabilities).await
            };
            return events::run(Box::pin(work), outbox, cancel).await.map(Some).map_err(|events| Box::new(ResponseBody::Events(events)));
        }
        let Some(outbox) = outbox else {
            let beside = Beside { connection: Some(connection), ..Beside::default() };
            return Ok(Some(self.dispatch(&request, selected, &mut call, beside).await));
        };
        let outbox = Rc::new(outbox);
        let (protocol, connection, listener) = (self.clone(), connection.clone(), outbox.clone());
        let work = async move {
            let _running = running;
            let beside = Beside { listener: Some(&*listener), connection: Some(&connection), ..Beside::default() };
            protocol.dispatch(&request, selected, &mut call, beside).await
        };
        events::run(Box::pin(work), outbox, cancel).await.map(Some).map_err(|events| Box::new(ResponseBody::Events(events)))
    }

    /// Answers a request of a legacy client that can be asked: in rounds, as a modern client would,
    /// with the connection in its place.
    async fn dispatch_asking(
        &self,
        request: &Request,
        selected: Selected,
        call: Call,
        connection: &Connection,
        outbox: &Outbox,
        capabilities: &Map<String, Json>,
    ) -> MessageReply {
        let mut given: Option<(Map<String, Json>, String)> = None;
        for _ in 0..MOST_ROUNDS {
            let (mut round, questions) = (call.clone(), RefCell::new(None));
            if let Params::Object(params) = &mut round.params {
                let meta = params.entry("_meta").or_insert_with(|| Json::Object(Map::new()));
                if let Json::Object(meta) = meta {
                    meta.insert(META_CAPABILITIES.into(), Json::Object(capabilities.clone()));
                }
                params.remove("inputResponses");
                params.remove("requestState");
                if let Some((answers, state)) = given.take() {
                    params.insert("inputResponses".into(), Json::Object(answers));
                    params.insert("requestState".into(), Json::String(state));
                }
            }
            let beside = Beside { listener: Some(outbox), connection: Some(connection), questions: Some(&questions), ..Beside::default() };
            let reply = self.dispatch(request, selected, &mut round, beside).await;
            let Some(InputRequired { requests, state }) = questions.take() else { return reply };
            match connection.ask(outbox, &requests, &request.cancel).await {
                Ok(answers) => given = Some((answers, state)),
                Err(failure) => return MessageReply::failure(Some(&call.id), &failure),
            }
        }
        let failure = RpcError::new(INTERNAL_ERROR, format!("This request was still asking its client after {MOST_ROUNDS} rounds"));
        MessageReply::failure(Some(&call.id), &failure)
    }
}

/// The answer to what is no message.
fn refusal(failure: &RpcError) -> MessageReply {
    MessageReply::failure(None, failure)
}
