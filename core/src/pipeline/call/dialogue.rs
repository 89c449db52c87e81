//! What a call may ask its caller, and what was answered: data that stages share.
//! [`rounds`](crate::pipeline::rounds) works with it.

use alloc::{string::String, vec::Vec};
use core::cell::Cell;

use serde_json::Map;

use crate::Json;

/// What a caller may be asked for: the method, and the capability that its client declares.
pub(in crate::pipeline) const KINDS: [(&str, &str); 3] =
    [("elicitation/create", "elicitation"), ("sampling/createMessage", "sampling"), ("roots/list", "roots")];
/// What a state is bound to: app, tool, arguments and principal, as one digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pipeline) struct Binding(pub(in crate::pipeline) [u8; 32]);

/// What a request says of rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds<'a> {
    /// The client's capabilities; `None` for revisions without such requests.
    pub capabilities: Option<&'a Map<String, Json>>,
    /// `inputResponses`
    pub responses: Option<&'a Map<String, Json>>,
    /// `requestState`
    pub state: Option<&'a str>,
}

impl Rounds<'_> {
    /// The kinds of requests that the client answers: `elicitation`, `sampling`, `roots`.
    pub(in crate::pipeline) fn kinds(&self) -> Vec<&'static str> {
        let declared = |kind: &&str| self.capabilities.is_some_and(|capabilities| capabilities.get(*kind).is_some_and(Json::is_object));
        KINDS.into_iter().map(|(_, kind)| kind).filter(declared).collect()
    }
}

/// The answers that a call has, and what it still asks for.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Dialogue {
    /// Binds a state to this call; absent where nothing can be asked.
    pub(in crate::pipeline) binding: Option<Binding>,
    pub(in crate::pipeline) answers: Map<String, Json>,
    /// The digest of the state, where it brings an answer that no earlier round had.
    pub(in crate::pipeline) answered: Option<[u8; 32]>,
    /// Whether the call is a further round of one that was counted, once that is known: the state
    /// has not been used before.
    pub(in crate::pipeline) is_next_round: Cell<Option<bool>>,
}
