//! How long each stage of a call took, and each entry of its middleware.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::{Duration, Instant},
};

use millrace_core::{
    pipeline::Stage,
    ports::{CallEvent, CallObserver, CallStart, Observer},
};

/// Measures calls. Clones share what they measured.
#[derive(Clone, Default)]
pub(crate) struct Timings(Rc<RefCell<CallTimings>>);

/// What was measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallTimings {
    /// The stages and the entries of the middleware, in the order in which they ended.
    pub(crate) steps: Vec<(Step, Duration)>,
    /// All of the call.
    pub(crate) call: Option<Duration>,
}

/// What was measured by itself.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A stage.
    Stage(Stage),
    /// An entry of the middleware, by the place where it is written.
    Entry(String),
}

impl Timings {
    /// What was measured.
    pub(crate) fn taken(&self) -> CallTimings {
        self.0.take()
    }
}

impl Observer for Timings {
    fn began(&self, _: &CallStart<'_>) -> Option<Box<dyn CallObserver>> {
        let now = Instant::now();
        Some(Box::new(Watch { measured: self.0.clone(), began: now, stage_began: Cell::new(now), entry_began: Cell::new(now) }))
    }
}

struct Watch {
    measured: Rc<RefCell<CallTimings>>,
    began: Instant,
    stage_began: Cell<Instant>,
    entry_began: Cell<Instant>,
}

impl Watch {
    fn ended(&self, step: Step, began: &Cell<Instant>) {
        self.measured.borrow_mut().steps.push((step, began.get().elapsed()));
    }
}

impl CallObserver for Watch {
    fn observe(&self, event: CallEvent<'_>) {
        match event {
            CallEvent::StageBegan(_) => self.stage_began.set(Instant::now()),
            CallEvent::StageEnded(stage) => self.ended(Step::Stage(stage), &self.stage_began),
            CallEvent::MiddlewareBegan(_) => self.entry_began.set(Instant::now()),
            CallEvent::MiddlewareEnded(entry) => self.ended(Step::Entry(entry.place.clone()), &self.entry_began),
            CallEvent::Ended(_) => self.measured.borrow_mut().call = Some(self.began.elapsed()),
            CallEvent::Forwarded(_)
            | CallEvent::CacheLookedUp { .. }
            | CallEvent::ConnectorAnswered { .. }
            | CallEvent::ScriptEnded { .. }
            | CallEvent::Failed(_) => {}
        }
    }
}
