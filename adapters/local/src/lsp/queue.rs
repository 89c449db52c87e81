//! What the server waits for: messages, and what came of runs of the bundler.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use lsp_server::{Message, Notification, Request, RequestId};
use millrace_bundler::editor::AppIndex;
use serde_json::Value as Json;

/// The most messages that are read ahead, to find out which requests are cancelled.
const MOST_AHEAD: usize = 1000;

/// How long the server waits at the most before it looks around.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Something that happened.
pub(super) enum Event {
    /// A request of the editor.
    Request(Request),
    /// Something that it says.
    Notification(Notification),
    /// An answer of it.
    Answer,
    /// Something that is no message.
    Broken(String),
    /// It says nothing more; and why, where that is a failure.
    End(Option<String>),
    /// An app was looked at.
    Analysed(Analysed),
}

impl From<Message> for Event {
    fn from(message: Message) -> Self {
        match message {
            Message::Request(request) => Self::Request(request),
            Message::Notification(notification) => Self::Notification(notification),
            Message::Response(_) => Self::Answer,
        }
    }
}

/// What came of looking at an app.
pub(super) struct Analysed {
    pub(super) folder: PathBuf,
    /// `None` where the bundler failed, which is a defect of it.
    pub(super) found: Option<Found>,
    /// Whether something has changed meanwhile, so that what was found means nothing.
    pub(super) is_stopped: bool,
    /// The texts that were looked at.
    pub(super) texts: BTreeMap<String, Arc<str>>,
}

/// What was found.
pub(super) struct Found {
    pub(super) index: Arc<AppIndex>,
    /// What is wrong with each file, as the protocol says it, by the file's path below the folder.
    pub(super) problems: BTreeMap<String, Vec<Json>>,
    /// Whether the folder still has an app.
    pub(super) is_app: bool,
}

/// What happened and was not looked at yet.
pub(super) struct Queue {
    events: Receiver<Event>,
    ahead: VecDeque<Event>,
}

impl Queue {
    pub(super) fn new(events: Receiver<Event>) -> Self {
        Self { events, ahead: VecDeque::new() }
    }

    /// The next event; `None` where none came until `due`.
    pub(super) fn next(&mut self, due: Option<Instant>) -> Option<Event> {
        if let Some(event) = self.ahead.pop_front() {
            return Some(event);
        }
        let wait = due.map_or(LONGEST_WAIT, |due| due.saturating_duration_since(Instant::now()));
        match self.events.recv_timeout(wait) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Event::End(None)),
        }
    }

    /// Whether a request is cancelled by a message that is here already, which is taken out then.
    pub(super) fn is_cancelled(&mut self, id: &RequestId) -> bool {
        while self.ahead.len() < MOST_AHEAD
            && let Ok(event) = self.events.try_recv()
        {
            self.ahead.push_back(event);
        }
        let found = self.ahead.iter().position(|event| matches!(event, Event::Notification(said) if cancelled(said).as_ref() == Some(id)));
        found.is_some_and(|at| self.ahead.remove(at).is_some())
    }
}

/// The request that a notification cancels.
pub(super) fn cancelled(notification: &Notification) -> Option<RequestId> {
    if notification.method != "$/cancelRequest" {
        return None;
    }
    match &notification.params["id"] {
        Json::Number(id) => Some(i32::try_from(id.as_i64()?).ok()?.into()),
        Json::String(id) => Some(id.clone().into()),
        _ => None,
    }
}
