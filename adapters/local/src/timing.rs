//! How long each stage of a call took.

use std::{
    cell::RefCell,
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
        Some(Box::new(Watch { measured: self.0.clone(), began: now, stage_began: RefCell::new(now) }))
    }
}

struct Watch {
    measured: Rc<RefCell<CallTimings>>,
    began: Instant,
    stage_began: RefCell<Instant>,
}

impl CallObserver for Watch {
    fn observe(&self, event: CallEvent<'_>) {
        match event {
            CallEvent::StageBegan(_) => *self.stage_began.borrow_mut() = Instant::now(),
            CallEvent::StageEnded(stage) => self.measured.borrow_mut().stages.push((stage, self.stage_began.borrow().elapsed())),
            CallEvent::Ended(_) => self.measured.borrow_mut().call = Some(self.began.elapsed()),
            CallEvent::Forwarded(_) | CallEvent::CacheLookedUp { .. } | CallEvent::ConnectorAnswered { .. } | CallEvent::Failed(_) => {}
        }
    }
}
