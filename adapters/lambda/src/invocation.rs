//! Invocation → answer: reads the event, has an isolate answer it in time, and writes the answer as
//! the front end takes it.

use std::{pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, stream};
use lambda_runtime::{Diagnostic, Error, FunctionResponse, LambdaEvent, MetadataPrelude, StreamResponse};
use serde_json::value::RawValue;

use crate::{
    answer::BufferedResponse,
    event::{self, Form},
    isolates::{CallResult, Events, Isolates, Reply},
    now::now_ms,
    settle::Settling,
    stuck::CallWatch,
};

/// The longest time that is kept back at the end of an invocation, in milliseconds: the core gets
/// all but two of these, and what it does not answer by then is answered after one of them.
const MARGIN_MS: u64 = 200;

/// What is below, in milliseconds since the Unix epoch, was in 2001, and is not the time of an
/// invocation.
const LEAST_TIME_MS: u64 = 1_000_000_000_000;

/// What answers invocations. Clones share the isolates.
#[derive(Clone)]
pub(crate) struct InvocationHandler {
    pub(crate) isolates: Arc<Isolates>,
    pub(crate) settling: Settling,
    pub(crate) settings: Arc<HandlerSettings>,
}

/// What the deployment says.
pub(crate) struct HandlerSettings {
    /// The longest body of a request, in bytes.
    pub(crate) body_limit: usize,
    /// What stands in front of the app's paths: `/v1`, or nothing.
    pub(crate) base_path: String,
    /// Whether answers are streamed.
    pub(crate) streams: bool,
}

/// The bytes of a streamed answer.
pub(crate) type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, Error>> + Send>>;

impl InvocationHandler {
    /// Answers one invocation.
    ///
    /// # Errors
    /// The event is no HTTP request: then there is nobody who could be given a status.
    pub(crate) async fn answer(self, event: LambdaEvent<Box<RawValue>>) -> Result<FunctionResponse<Box<RawValue>, Chunks>, Diagnostic> {
        let (call, form) = event::read(event.payload.get(), self.settings.body_limit, &self.settings.base_path)
            .map_err(|error_message| Diagnostic { error_type: "Millrace.Event".into(), error_message })?;
        if call.body.is_none() {
            let answer = BufferedResponse::failure(400, -32600, "the request's body is not the base64 that its event says it is");
            return self.shaped(answer, None, form);
        }
        let end_ms = end_ms(event.context.deadline, now_ms());
        let left_ms = end_ms.saturating_sub(now_ms());
        let margin_ms = MARGIN_MS.min(left_ms / 20);
        let within = Duration::from_millis(left_ms - margin_ms);
        let (answer, events) = match self.isolates.answer(call, end_ms.saturating_sub(2 * margin_ms), within).await {
            CallResult::Reply(Reply { answer, events, settled, watched }) => {
                if let Some(settled) = settled {
                    self.settling.keep(settled, end_ms.saturating_sub(margin_ms));
                }
                (answer, events.map(|events| (events, watched)))
            }
            CallResult::Stuck(held) => {
                self.settling.give_up();
                (BufferedResponse::failure(504, -32603, &held.told()), None)
            }
            CallResult::Lost => (BufferedResponse::failure(500, -32603, "internal error"), None),
            CallResult::Late(over) => {
                self.settling.keep(over, end_ms.saturating_sub(margin_ms / 2));
                tracing::error!(limit_ms = left_ms, "a call did not end before its invocation's time was over");
                let message = "the call did not end before the time-out of the Lambda function; ask for less, or raise the time-out";
                (BufferedResponse::failure(504, -32603, message), None)
            }
        };
        self.shaped(answer, events, form)
    }

    fn shaped(
        &self,
        answer: BufferedResponse,
        events: Option<(Events, CallWatch)>,
        form: Form,
    ) -> Result<FunctionResponse<Box<RawValue>, Chunks>, Diagnostic> {
        if self.settings.streams {
            return Ok(FunctionResponse::StreamingResponse(streamed(answer, events, &self.settling)));
        }
        let payload = answer.payload(form);
        let unwritable = |error: serde_json::Error| Diagnostic { error_type: "Millrace.Answer".into(), error_message: error.to_string() };
        payload.map(FunctionResponse::BufferedResponse).map_err(unwritable)
    }
}

fn streamed(answer: BufferedResponse, events: Option<(Events, CallWatch)>, settling: &Settling) -> StreamResponse<Chunks> {
    let mut prelude = MetadataPrelude::default();
    match http::StatusCode::from_u16(answer.status) {
        Ok(status) => prelude.status_code = status,
        Err(_) => prelude.status_code = http::StatusCode::INTERNAL_SERVER_ERROR,
    }
    for (name, value) in answer.headers.iter() {
        match (http::HeaderName::from_bytes(name.as_bytes()), http::HeaderValue::from_str(value)) {
            (Ok(name), Ok(value)) if name == http::header::SET_COOKIE => prelude.cookies.extend(value.to_str().map(str::to_owned)),
            (Ok(name), Ok(value)) => drop(prelude.headers.append(name, value)),
            _ => tracing::error!(name, "a response's header field is not allowed in HTTP and is omitted"),
        }
    }
    let stream: Chunks = match events {
        Some((events, watched)) => {
            // An error is the last that comes.
            let next = |going: Option<(Events, CallWatch, Settling)>| async {
                let (mut events, watched, settling) = going?;
                tokio::select! {
                    biased;
                    event = events.recv() => Some((event?.map(Bytes::from), Some((events, watched, settling)))),
                    held = watched.stuck() => {
                        settling.give_up();
                        Some((Err(held.told().into()), None))
                    }
                }
            };
            Box::pin(stream::unfold(Some((events, watched, settling.clone())), next))
        }
        None => Box::pin(stream::iter((!answer.body.is_empty()).then(|| Ok(Bytes::from(answer.body))))),
    };
    StreamResponse { metadata_prelude: prelude, stream }
}

/// When an invocation ends, in milliseconds since the Unix epoch. `cargo lambda` gives a duration
/// where Lambda gives a time.
fn end_ms(deadline_ms: u64, now_ms: u64) -> u64 {
    if deadline_ms < LEAST_TIME_MS { now_ms.saturating_add(deadline_ms) } else { deadline_ms }
}

#[cfg(test)]
mod tests {
    use super::end_ms;

    #[test]
    fn a_deadline_is_a_time_or_a_duration() {
        assert_eq!(end_ms(1_795_312_800_000, 1_795_312_700_000), 1_795_312_800_000);
        assert_eq!(end_ms(600_000, 1_795_312_700_000), 1_795_313_300_000);
    }
}
