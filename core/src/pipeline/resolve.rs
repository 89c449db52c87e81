//! Stage 1, *resolve*: the name in `tools/call` → the compiled tool. Exact match, in constant time.

use alloc::{borrow::Cow, boxed::Box, format, string::String};
use core::{
    cell::{Cell, OnceCell, RefCell},
    hash::BuildHasher as _,
};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::{
    Call, Pipeline,
    context::Context,
    record::Record,
    rounds::Dialogue,
    run::{Run, Work},
    signal::Signal,
};
use crate::{
    Json,
    app::Tool,
    fault::{Change, Fault, FaultResult, Stage},
    ports::CallStore,
};

/// The most characters of an unknown name that are repeated.
const SHOWN_CHARACTERS: usize = 64;

/// The tools by name. Built once from a trusted bundle: no caller can add a name, so a fast hash does.
pub(super) struct Names(HashTable<u32>);

impl Names {
    pub(super) fn of(tools: &[Tool]) -> Self {
        let hash = |index: &u32| tools.get(*index as usize).map_or(0, |tool| hash(&tool.name));
        let mut table = HashTable::with_capacity(tools.len());
        for index in (0..tools.len()).filter_map(|index| u32::try_from(index).ok()) {
            table.insert_unique(hash(&index), index, hash);
        }
        Self(table)
    }

    /// The tool of a name, and its place.
    pub(super) fn find<'a>(&self, tools: &'a [Tool], name: &str) -> Option<(usize, &'a Tool)> {
        let named = |index: &u32| tools.get(*index as usize).is_some_and(|tool| tool.name == name);
        let place = *self.0.find(hash(name), named)? as usize;
        Some((place, tools.get(place)?))
    }
}

/// Finds the tool and begins the call; gives back the arguments for the next stage.
///
/// # Errors
/// `TOOL_NOT_FOUND`.
pub(super) fn resolve<'a>(pipeline: &'a Pipeline, call: Call<'a>, record: &'a Record) -> FaultResult<(Run<'a>, Json)> {
    let found =
        record.stage_now(Stage::Resolve, || pipeline.tool(call.tool).and_then(|(place, tool)| Some((place, tool, Work::of(tool)?))));
    let Some((place, tool, work)) = found else {
        let message = format!("tool '{}' not found", shown(call.tool));
        return Err(Box::new(Fault::new(Stage::Resolve, "TOOL_NOT_FOUND", message)));
    };
    let signal = Signal::since(record.began_ms, &*pipeline.ports.clock, call.cancel, call.deadline_ms, tool.limits.timeout_ms);
    let run = Run {
        pipeline,
        tool,
        place,
        work,
        request_id: call.request_id,
        method: call.method,
        headers: call.headers,
        protocol: call.protocol,
        signal,
        auth: None,
        listener: None,
        rounds: call.rounds,
        dialogue: Dialogue::default(),
        asked: RefCell::default(),
        context: Context::NONE,
        requests: Cell::new(0),
        store: CallStore::default(),
        record,
        change: Cell::new(Change::None),
        secrets: OnceCell::new(),
    };
    Ok((run, Json::Object(call.arguments)))
}

/// A name as it may be repeated to its sender and to a log: cut, and without control characters.
pub(super) fn shown(name: &str) -> Cow<'_, str> {
    if name.len() <= SHOWN_CHARACTERS && !name.contains(char::is_control) {
        return Cow::Borrowed(name);
    }
    let mut shown: String = name.chars().take(SHOWN_CHARACTERS).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if name.chars().nth(SHOWN_CHARACTERS).is_some() {
        shown.push('…');
    }
    Cow::Owned(shown)
}

fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_names() {
        for (name, expected) in [("get-user", "get-user"), ("a\n\u{7}b", "a\u{fffd}\u{fffd}b"), ("", "")] {
            assert_eq!(shown(name), expected);
        }
        let long = "ä".repeat(10_000);
        assert_eq!(shown(&long).chars().count(), SHOWN_CHARACTERS + 1);
        assert_eq!(shown(&"ä".repeat(SHOWN_CHARACTERS)), "ä".repeat(SHOWN_CHARACTERS));
    }
}
