//! Answers a batch of 2025-03-26 within limits of its own.
//!
//! The requests of a batch are answered one after another, and each answer waits for the last. So
//! the batch as a whole has a deadline and a number of bytes, and so have all batches of an isolate
//! together. What does not fit is answered with an error that says whether the request was carried
//! out; once an answer did not fit, nothing after it is begun. Between two requests others have
//! their turn.

use alloc::{boxed::Box, format, string::String, vec::Vec};
use serde_json::json;

use super::{
    encode::MessageReply,
    era,
    exchange::{BatchOrigin, Beside},
    http,
    json_rpc::Message,
    request::{Body, Request},
    response::Response,
    rpc_error::RpcError,
    runtime::{HeldBytes, Protocol},
};

/// All batches of an isolate that are not answered yet may hold as many bytes as this many batches
/// of the greatest size.
const SHARE: usize = 2;

/// After this time at the latest, in milliseconds, a batch lets others have their turn, where its
/// calls wait for nothing.
const TURN_MS: u64 = 5;

/// The code of a request that has no answer of its own: none of JSON-RPC's own fits.
const LEFT_OUT: i32 = -32000;

/// Why a request of a batch has no answer of its own.
#[derive(Clone, Copy)]
enum UnansweredReason {
    /// The answers are too long together.
    Bytes,
    /// All batches together hold too much.
    Busy,
    /// The batch's time is over.
    Time,
}

impl Protocol {
    /// A batch is refused as a whole before anything of it runs, and its answer is always JSON.
    pub(super) async fn batch(&self, request: &Request, messages: Vec<Message>) -> Response {
        if let Err(refused) = self.enter(request, None).await {
            return http::reply(refused);
        }
        match self.batch_reply(request, messages, BatchOrigin::Http, era::may_batch(&request.headers)).await {
            Ok(Some(answers)) => http::reply(answers),
            Ok(None) => http::accepted(),
            Err(failure) => http::refuse(&failure),
        }
    }

    /// The answers of a batch as one array; `None` where nothing in it wants one.
    ///
    /// # Errors
    /// The batch is refused as a whole.
    pub(super) async fn batch_reply(
        &self,
        request: &Request,
        messages: Vec<Message>,
        origin: BatchOrigin,
        may_batch: bool,
    ) -> Result<Option<MessageReply>, RpcError> {
        let pipeline = &self.pipeline;
        let limits = &pipeline.app().batch;
        let calls = era::batch(messages, may_batch, limits.messages as usize)?;
        if calls.is_empty() {
            return Ok(None);
        }
        let clock = &*pipeline.ports().clock;
        let began_ms = clock.now_ms();
        let own_ms = began_ms.saturating_add(limits.timeout_ms.into());
        let deadline_ms = request.deadline_ms.map_or(own_ms, |host_ms| host_ms.min(own_ms));
        let request = within(request, deadline_ms);
        let mut answers = Answers::new(&self.batches, limits.output_bytes as usize);
        let mut left = None;
        let mut turn_ms = began_ms;
        for mut call in calls {
            let mut now_ms = clock.now_ms();
            if left.is_none() && now_ms.saturating_sub(turn_ms) >= TURN_MS {
                clock.sleep(0).await;
                now_ms = clock.now_ms();
                turn_ms = now_ms;
            }
            if left.is_none() && now_ms >= deadline_ms {
                left = Some(UnansweredReason::Time);
            }
            if let Some(left) = left {
                let failure = left.failure(false, answers.limit, deadline_ms.saturating_sub(began_ms));
                answers.push(MessageReply::failure(Some(&call.id), &failure));
                continue;
            }
            let beside = Beside { batch: Some(origin), ..Beside::default() };
            let answer = self.dispatch(&request, era::Selected::BATCH, &mut call, beside).await;
            match answers.room_for(answer.body.len()) {
                Ok(()) => answers.push(answer),
                Err(why) => {
                    drop(answer);
                    left = Some(why);
                    let failure = why.failure(true, answers.limit, 0);
                    answers.push(MessageReply::failure(Some(&call.id), &failure));
                }
            }
        }
        Ok(Some(answers.finish()))
    }
}

/// The request as each call of its batch sees it: without the body, which is read already.
fn within(request: &Request, deadline_ms: u64) -> Request {
    Request {
        method: request.method.clone(),
        path: request.path.clone(),
        query: request.query.clone(),
        peer: request.peer.clone(),
        headers: request.headers.clone(),
        body: Body::Whole(Vec::new()),
        deadline_ms: Some(deadline_ms),
        cancel: request.cancel.clone(),
        platform_caller: request.platform_caller.clone(),
        checks_host: request.checks_host,
        is_tls: request.is_tls,
        is_local: request.is_local,
    }
}

impl UnansweredReason {
    fn failure(self, carried_out: bool, limit_bytes: usize, allowed_ms: u64) -> RpcError {
        let (code, why) = match self {
            Self::Bytes => ("BATCH_TOO_LARGE", format!("The answers of the batch exceed {limit_bytes} bytes (`limits.batch.output`).")),
            Self::Busy => ("BATCH_BUSY", String::from("The server holds too many answers of batches at the moment.")),
            Self::Time => ("BATCH_TIMEOUT", format!("The batch did not finish within {allowed_ms} ms (`limits.batch.timeout`).")),
        };
        let message = if carried_out {
            format!(
                "{why} This request was carried out, but its answer is omitted. Send fewer requests in one batch, or this one on its own."
            )
        } else {
            format!("{why} This request was not carried out. Send it again in a smaller batch.")
        };
        RpcError::new(LEFT_OUT, message).with_data(json!({ "code": code, "retryable": !carried_out, "carried_out": carried_out }))
    }
}

/// The answers so far, as one array.
struct Answers {
    status: u16,
    field: Option<Box<(&'static str, String)>>,
    body: Vec<u8>,
    limit: usize,
    held: HeldBytes,
    counted: usize,
}

impl Answers {
    fn new(held: &HeldBytes, limit: usize) -> Self {
        Self { status: 200, field: None, body: Vec::new(), limit, held: held.clone(), counted: 0 }
    }

    /// Whether an answer of that length may be kept.
    fn room_for(&self, bytes: usize) -> Result<(), UnansweredReason> {
        // The array's brackets and commas count.
        if self.body.len() + bytes + 2 > self.limit {
            return Err(UnansweredReason::Bytes);
        }
        if self.held.get() + bytes > self.limit.saturating_mul(SHARE) {
            return Err(UnansweredReason::Busy);
        }
        Ok(())
    }

    /// A refused caller refuses the whole: the status is the first one that is not 200.
    fn push(&mut self, answer: MessageReply) {
        self.body.push(if self.body.is_empty() { b'[' } else { b',' });
        self.body.extend_from_slice(&answer.body);
        self.counted += answer.body.len();
        self.held.set(self.held.get() + answer.body.len());
        if self.status == 200 {
            self.status = answer.status;
            self.field = answer.field;
        }
    }

    fn finish(mut self) -> MessageReply {
        self.body.push(b']');
        self.body.shrink_to_fit();
        MessageReply { status: self.status, field: self.field.take(), body: core::mem::take(&mut self.body) }
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.held.set(self.held.get().saturating_sub(self.counted));
    }
}
