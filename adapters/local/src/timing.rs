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
    /// The stages, in the order in which they ended.
    pub(crate) stages: Vec<(Stage, Duration)>,
    /// The entries of the middleware, by the places where they are written, in the order in which they ran.
    pub(crate) middleware: Vec<(String, Duration)>,
    /// All of the call.
    pub(crate) call: Option<Duration>,
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

impl CallObserver for Watch {
    fn observe(&self, event: CallEvent<'_>) {
        match event {
            CallEvent::StageBegan(_) => self.stage_began.set(Instant::now()),
            CallEvent::StageEnded(stage) => self.measured.borrow_mut().stages.push((stage, self.stage_began.get().elapsed())),
            CallEvent::MiddlewareBegan(_) => self.entry_began.set(Instant::now()),
            CallEvent::MiddlewareEnded(entry) => {
                self.measured.borrow_mut().middleware.push((entry.place.clone(), self.entry_began.get().elapsed()));
            }
            CallEvent::Ended(_) => self.measured.borrow_mut().call = Some(self.began.elapsed()),
            CallEvent::Forwarded(_) | CallEvent::CacheLookedUp { .. } | CallEvent::ConnectorAnswered { .. } | CallEvent::Failed(_) => {}
        }
    }
}
