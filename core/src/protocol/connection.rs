//! A client whose messages come one after another over one channel: the transport
//! [stdio](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio).
//!
//! There is no HTTP below it: no statuses, and no header fields with a message. What those carry
//! comes from elsewhere:
//!
//! | over HTTP | here |
//! |---|---|
//! | `MCP-Protocol-Version` of a legacy request | what `initialize` agreed on; before it 2025-03-26 |
//! | `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` of a modern request | not needed: the message says it all |
//! | `Authorization`, `X-API-Key`, fields that the app asks for | the connection's own, the same for all messages |
//! | an event stream | bare messages, mixed with those of other requests |
//! | a client that disconnects | `notifications/cancelled` |
//! | no requests to a legacy client | such requests, and the call goes on with their answers |
//!
//! The steps 6 to 11 of the ladder are the same, apart from the header fields, and so is everything
//! after them. A connection keeps the revision, the level of `logging/setLevel` and which requests
//! are on their way. It belongs to no endpoint: when an app is replaced, its connections go on.

use alloc::{collections::BTreeMap, rc::Rc, string::String, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    future::{Future as _, poll_fn},
    pin::Pin,
    task::{Poll, Waker},
};

use serde_json::{Map, json};

use super::{
    encode,
    era::LEGACY,
    features::Features,
    json_rpc::{self, Id, Message, Payload},
    meta::LOG_LEVELS,
    notifications::Outbox,
    request::{Body, Request},
    rpc_error::{INTERNAL_ERROR, RpcError},
};
use crate::{Json, cancel::Cancel, headers::Headers};

/// One client and its channel. Clones share it.
#[derive(Clone)]
pub struct Connection(Rc<State>);

struct State {
    headers: Headers,
    lists_change: bool,
    version: Cell<Option<&'static str>>,
    log_level: Cell<Option<usize>>,
    /// What was declared at `initialize`.
    declared: Cell<Option<Features>>,
    /// Something of it is other than when it was asked for.
    is_news: Cell<bool>,
    running: RefCell<BTreeMap<u64, (Id, Cancel)>>,
    started: Cell<u64>,
    /// What a legacy client says that it can do: `capabilities` of `initialize`.
    capabilities: RefCell<Map<String, Json>>,
    /// Questions that were sent and are not forgotten, by their number.
    questions: RefCell<BTreeMap<u64, Question>>,
    asked: Cell<u64>,
}

/// A request to the client.
#[derive(Default)]
struct Question {
    /// Its whole message.
    answer: Option<Json>,
    waker: Option<Waker>,
}

impl Connection {
    /// A new connection. `headers` are seen by every call as if they had come with it.
    /// `lists_change` says that the app may be replaced, and that whoever does it sends
    /// [`list_changes`](Self::list_changes).
    #[must_use]
    pub fn new(headers: Headers, lists_change: bool) -> Self {
        let (version, log_level, declared) = Default::default();
        let (is_news, running, started) = Default::default();
        let (capabilities, questions, asked) = Default::default();
        let state =
            State { headers, lists_change, version, log_level, declared, is_news, running, started, capabilities, questions, asked };
        Self(Rc::new(state))
    }

    /// What the client agreed on since this was asked last, to go on with the connection elsewhere:
    /// [`restore`](Self::restore) takes it.
    #[must_use]
    pub fn news(&self) -> Option<Vec<u8>> {
        self.0.is_news.take().then(|| self.agreed())
    }

    fn agreed(&self) -> Vec<u8> {
        let State { version, log_level, declared, capabilities, asked, .. } = &*self.0;
        let declared = declared.get().map(|declared| [declared.prompts, declared.resources]);
        let agreed = json!({
            "version": version.get(),
            "log_level": log_level.get(),
            "declared": declared,
            "capabilities": &*capabilities.borrow(),
            "asked": asked.get(),
        });
        serde_json::to_vec(&agreed).unwrap_or_default()
    }

    /// Takes what [`news`](Self::news) gave.
    pub fn restore(&self, agreed: &[u8]) {
        let mut agreed: Json = serde_json::from_slice(agreed).unwrap_or_default();
        if let Some(Json::Object(capabilities)) = agreed.get_mut("capabilities").map(Json::take) {
            self.0.capabilities.replace(capabilities);
        }
        self.0.asked.set(agreed["asked"].as_u64().unwrap_or(0));
        let version = agreed["version"].as_str();
        self.0.version.set(LEGACY.into_iter().find(|known| version == Some(known)));
        let level = agreed["log_level"].as_u64().and_then(|level| usize::try_from(level).ok());
        self.0.log_level.set(level.filter(|level| *level < LOG_LEVELS.len()));
        self.0.declared.set(agreed["declared"].as_array().map(|declared| {
            let is = |index| declared.get(index).and_then(Json::as_bool).unwrap_or(false);
            Features { prompts: is(0), resources: is(1), completions: false, skills: false, logging: false }
        }));
    }

    /// The notifications that the lists may be others now, for a client that was told that there
    /// are such: after the app was replaced.
    #[must_use]
    pub fn list_changes(&self) -> Vec<Vec<u8>> {
        let Some(declared) = self.0.declared.get().filter(|_| self.0.lists_change) else { return Vec::new() };
        let lists = [("tools", true), ("prompts", declared.prompts), ("resources", declared.resources)];
        let lists = lists.into_iter().filter(|(_, is_declared)| *is_declared);
        lists.map(|(list, _)| alloc::format!(r#"{{"jsonrpc":"2.0","method":"notifications/{list}/list_changed"}}"#).into_bytes()).collect()
    }

    /// The answers to a message that was passed to an endpoint and that nobody will answer any
    /// more; `None` where it wants none. `problem` says why, and what the client can do.
    #[must_use]
    pub fn unanswered(message: &[u8], problem: &str) -> Option<Vec<u8>> {
        let failure = RpcError::new(INTERNAL_ERROR, problem).with_data(json!({ "code": "UNANSWERED", "retryable": false }));
        let answer = |message: Message| Some(encode::error(Some(&message.into_call().ok()??.id), &failure));
        match json_rpc::parse(message).ok()? {
            Payload::One(message) => answer(*message),
            Payload::Batch(messages) => {
                let answers: Vec<Vec<u8>> = messages.into_iter().filter_map(answer).collect();
                (!answers.is_empty()).then(|| [b"[".as_slice(), &answers.join(&b','), b"]"].concat())
            }
        }
    }

    pub(super) fn initialize(&self, version: &'static str, declared: Features, capabilities: Map<String, Json>) {
        self.0.capabilities.replace(capabilities);
        self.0.version.set(Some(version));
        self.0.declared.set(Some(declared));
        self.0.is_news.set(true);
    }

    /// What a legacy client says that it can do, where it can be asked anything.
    pub(super) fn capabilities(&self) -> Option<Map<String, Json>> {
        let capabilities = self.0.capabilities.borrow();
        ["elicitation", "sampling", "roots"].iter().any(|kind| capabilities.contains_key(*kind)).then(|| capabilities.clone())
    }

    /// Sends requests to the client, each a method and its parameters, and waits for its answers,
    /// however long that takes. They come under the same keys.
    ///
    /// # Errors
    /// The client has no answer to one of them, or cancels the call.
    pub(super) async fn ask(&self, outbox: &Outbox, requests: &Map<String, Json>, cancel: &Cancel) -> Result<Map<String, Json>, RpcError> {
        let mut sent = Sent { connection: self.clone(), numbers: Vec::with_capacity(requests.len()) };
        for request in requests.values() {
            let number = self.0.asked.get() + 1;
            self.0.asked.set(number);
            self.0.is_news.set(true);
            self.0.questions.borrow_mut().insert(number, Question::default());
            sent.numbers.push(number);
            let message = json!({
                "jsonrpc": "2.0",
                "id": alloc::format!("{QUESTION}{number}"),
                "method": request["method"],
                "params": request.get("params").cloned().unwrap_or_else(|| json!({})),
            });
            outbox.ask(serde_json::to_vec(&message).unwrap_or_default());
        }
        let mut cancelled = cancel.tripped();
        let is_answered = poll_fn(|context| {
            if Pin::new(&mut cancelled).poll(context).is_ready() {
                return Poll::Ready(false);
            }
            let mut questions = self.0.questions.borrow_mut();
            let mut is_answered = true;
            for number in &sent.numbers {
                if let Some(question) = questions.get_mut(number).filter(|question| question.answer.is_none()) {
                    is_answered = false;
                    question.waker = Some(context.waker().clone());
                }
            }
            drop(questions);
            if is_answered { Poll::Ready(true) } else { Poll::Pending }
        });
        let refuse = |problem: String| Err(RpcError::new(INTERNAL_ERROR, problem));
        if !is_answered.await {
            return refuse("The request was cancelled".into());
        }
        let mut answers = Map::new();
        for ((key, request), number) in requests.iter().zip(&sent.numbers) {
            let answer = self.0.questions.borrow_mut().remove(number).and_then(|question| question.answer).unwrap_or_default();
            let Some(result) = answer.get("result") else {
                let method = request["method"].as_str().unwrap_or_default();
                return refuse(alloc::format!("This request needs an answer to `{method}`, and the client answered with an error"));
            };
            answers.insert(key.clone(), result.clone());
        }
        Ok(answers)
    }

    /// Takes the answer to a question. `false` where the message is something else.
    pub(super) fn answer(&self, message: &[u8]) -> bool {
        let Ok(message) = serde_json::from_slice::<Json>(message) else { return false };
        let Some(number) = message["id"].as_str().and_then(|id| id.strip_prefix(QUESTION)?.parse::<u64>().ok()) else { return false };
        // Nobody waits for the answer of a call that was cancelled.
        if let Some(question) = self.0.questions.borrow_mut().get_mut(&number) {
            question.answer = Some(message);
            if let Some(waker) = question.waker.take() {
                waker.wake();
            }
        }
        true
    }

    pub(super) fn lists_change(&self) -> bool {
        self.0.lists_change
    }

    /// A place in [`LOG_LEVELS`].
    pub(super) fn log_level(&self) -> Option<usize> {
        self.0.log_level.get()
    }

    pub(super) fn set_log_level(&self, level: usize) {
        self.0.log_level.set(Some(level));
        self.0.is_news.set(true);
    }

    /// The revision that `initialize` gave.
    pub(super) fn version(&self) -> Option<&'static str> {
        self.0.version.get()
    }

    /// Cancels what the client calls by this id.
    pub(super) fn cancel(&self, id: &Id) {
        let running = self.0.running.borrow();
        let cancels: Vec<Cancel> = running.values().filter(|(known, _)| known == id).map(|(_, cancel)| cancel.clone()).collect();
        drop(running);
        cancels.iter().for_each(Cancel::trip);
    }

    /// Whether a message can be one that cancels a request: most are not, and are not parsed for
    /// it. A longer one waits for its turn.
    #[must_use]
    pub fn may_cancel(message: &[u8]) -> bool {
        const METHOD: &[u8] = b"notifications/cancelled";
        message.len() <= LONGEST_CANCELLATION && message.windows(METHOD.len()).any(|window| window == METHOD)
    }

    /// Cancels what a message is about that has come and whose turn it is not yet, where it is one
    /// that cancels. Any other message is left for its turn, and so is this one, which then has
    /// nothing more to do.
    pub fn cancelled_by(&self, message: &[u8]) {
        if Self::may_cancel(message)
            && let Ok(Payload::One(message)) = json_rpc::parse(message)
            && let Some(id) = message.cancels()
        {
            self.cancel(&id);
        }
    }

    /// The request is on its way as long as the value is kept.
    pub(super) fn enter(&self, id: &Id, cancel: &Cancel) -> Running {
        let number = self.0.started.get();
        self.0.started.set(number + 1);
        self.0.running.borrow_mut().insert(number, (id.clone(), cancel.clone()));
        Running { connection: self.clone(), number }
    }

    /// A message as a request: what is no part of a message comes from the connection.
    pub(super) fn request(&self, cancel: Cancel) -> Request {
        Request {
            method: String::new(),
            path: String::new(),
            query: String::new(),
            peer: None,
            headers: self.0.headers.clone(),
            body: Body::Whole(Vec::new()),
            deadline_ms: None,
            cancel,
            platform_caller: None,
            checks_host: false,
            is_tls: false,
            is_local: false,
        }
    }
}

/// The longest message that is looked at before its turn, in bytes.
const LONGEST_CANCELLATION: usize = 4 << 10;

/// How the id of a question begins.
const QUESTION: &str = "millrace-";

/// Questions that are forgotten with the value.
struct Sent {
    connection: Connection,
    numbers: Vec<u64>,
}

impl Drop for Sent {
    fn drop(&mut self) {
        let mut questions = self.connection.0.questions.borrow_mut();
        self.numbers.iter().for_each(|number| drop(questions.remove(number)));
    }
}

/// A request on its way.
pub(super) struct Running {
    connection: Connection,
    number: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.connection.0.running.borrow_mut().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_agreed_on_is_restored() {
        let connection = Connection::new(Headers::new(), true);
        assert!(connection.list_changes().is_empty(), "a client that has not asked is told nothing");
        let capabilities = json!({ "elicitation": {}, "other": 1 }).as_object().cloned().unwrap();
        connection.initialize(
            "2025-06-18",
            Features { prompts: false, resources: true, completions: true, skills: false, logging: true },
            capabilities,
        );
        connection.set_log_level(4);
        let other = Connection::new(Headers::new(), true);
        other.restore(&connection.news().unwrap());
        assert_eq!(connection.news(), None);
        assert_eq!((other.0.version.get(), other.log_level()), (Some("2025-06-18"), Some(4)));
        assert_eq!(other.agreed(), connection.agreed());
        assert_eq!(other.list_changes().len(), 2);
        assert!(other.capabilities().is_some() && Connection::new(Headers::new(), true).capabilities().is_none());
        let third = Connection::new(Headers::new(), false);
        for damaged in [b"".as_slice(), b"{}", br#"{"version":"2026-07-28","log_level":8}"#] {
            third.restore(damaged);
            assert_eq!((third.0.version.get(), third.log_level(), third.list_changes().len()), (None, None, 0));
        }
    }

    #[test]
    fn only_requests_are_answered_for_an_endpoint_that_ended() {
        let answer = |message: &str| Connection::unanswered(message.as_bytes(), "gone").map(|answer| String::from_utf8(answer).unwrap());
        let gone = r#""error":{"code":-32603,"message":"gone","data":{"code":"UNANSWERED","retryable":false}}}"#;
        let of = |id: &str| alloc::format!(r#"{{"jsonrpc":"2.0","id":{id},{gone}"#);
        assert_eq!(answer(r#"{"jsonrpc":"2.0","id":"a","method":"x"}"#), Some(of("\"a\"")));
        for silent in [r#"{"jsonrpc":"2.0","method":"x"}"#, "{", "[]", r#"[{"jsonrpc":"2.0","method":"x"}]"#, r#"{"id":1}"#] {
            assert_eq!(answer(silent), None, "{silent}");
        }
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"x"}]"#;
        assert_eq!(answer(batch), Some(alloc::format!("[{},{}]", of("1"), of("2"))));
    }

    #[test]
    fn a_request_is_cancelled_while_it_is_on_its_way() {
        let connection = Connection::new(Headers::new(), false);
        let cancels = [Cancel::new(), Cancel::new(), Cancel::new()];
        let first = connection.enter(&Id::number(1), &cancels[0]);
        let _second = connection.enter(&Id::number(2), &cancels[1]);
        drop(first);
        let _third = connection.enter(&Id::number(1), &cancels[2]);
        connection.cancel(&Id::number(1));
        connection.cancel(&Id::number(7));
        let tripped = || cancels.each_ref().map(Cancel::is_tripped);
        assert_eq!(tripped(), [false, false, true]);
        for other in [
            r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"notifications/cancelled"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
            r#"{"method":"notifications/cancelled""#,
        ] {
            connection.cancelled_by(other.as_bytes());
        }
        assert_eq!(tripped(), [false, false, true]);
        let _fourth = connection.enter(&Id::number(4), &cancels[1]);
        connection.cancelled_by(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#);
        assert_eq!(tripped(), [false, true, true]);
    }
}
