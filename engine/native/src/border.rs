//! What both kinds of instances have in common.

use std::{
    future::{Future, ready},
    pin::Pin,
};

use crate::frame::Message;

/// The most that scripts may take of the stack: of the linear memory together with what the
/// module's frames take of the platform's own, as they are counted in the module. See
/// engine/counters, and `-z stack-size` in scripts/engine. The platform whose own stack is the
/// smallest, a Worker, has room for it and for what the host does below, so that scripts recurse as
/// deeply everywhere.
pub(crate) const SCRIPT_STACK_BYTES: i32 = 840 << 10;

/// What the counter of depth begins with: `DEPTH_START` of engine/counters.
pub(crate) const DEPTH_START: i32 = 1 << 28;

/// Units of fuel after which a host is asked whether a call may go on: two or three milliseconds of
/// work. A Worker's platform takes a millisecond for that, so it is asked more seldom.
pub(crate) const SLICE_UNITS: i64 = if cfg!(target_arch = "wasm32") { 1_000_000 } else { 400_000 };

/// What a script that failed may use up of fuel for what it has left to be done.
pub(crate) const DRAIN_FUEL: i64 = 2_000_000;

/// What a script reaches while it runs. Each is answered at once, except for a pause.
pub trait Host {
    /// Something said, and its answer, whose head is JSON.
    fn say(&self, kind: i32, message: Message) -> Option<Message>;

    /// Milliseconds since the Unix epoch.
    fn clock_ms(&self) -> f64;

    /// Fills bytes with random ones.
    fn random(&self, bytes: &mut [u8]);

    /// A call has worked for some milliseconds: others get their turn. Says whether it may go on,
    /// as it does at once where nothing else is said.
    fn pause(&self) -> Pin<Box<dyn Future<Output = bool> + '_>> {
        Box::pin(ready(true))
    }
}

/// What a call may use up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Units of work, of which there are some tens of millions in a second.
    pub fuel: u64,
    /// Bytes of memory beyond those of the image.
    pub memory_bytes: usize,
}

/// To whom an answer belongs: a question of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub(crate) generation: u64,
    pub(crate) id: i32,
}

impl Ticket {
    /// The number of the question, as the prelude knows it.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.id
    }
}

/// A question that takes time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Goes with the answer.
    pub ticket: Ticket,
    /// What is asked for.
    pub kind: i32,
    /// The question.
    pub message: Message,
}

impl Ask {
    pub(crate) fn new(generation: u64, id: i32, kind: i32, message: Message) -> Self {
        Self { ticket: Ticket { generation, id }, kind, message }
    }
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It has ended, with this text of the prelude.
    Done(String),
    /// Something was thrown that nothing caught: `{ message, stack?, limit? }` as JSON, where
    /// `limit` is `memory` or `stack`.
    Threw(String),
    /// It waits for answers.
    Waits,
    /// The answer was for a call that has ended, and nobody got it.
    Late,
}

/// Why a call was ended from outside. The instance is used again after `Instance::restore`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its fuel is used up.
    Fuel,
    /// It needs more stack than there is.
    Stack,
    /// There is no memory for what it is told.
    Memory,
    /// [`Host::pause`] says that it may not go on.
    Stopped,
    /// Something that does not happen: a bug of the engine, or of this crate. It says what.
    Broken(String),
}
