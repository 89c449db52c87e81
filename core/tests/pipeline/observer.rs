//! What an observer is told of a call.

use std::{cell::RefCell, rc::Rc};

use millrace_core::{
    pipeline::Pipeline,
    ports::{Observer, Ports, RunningCall},
};
use serde_json::json;

use crate::fakes::*;

#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Observer for Told {
    fn entered(&self, call: &RunningCall<'_>) {
        self.0.borrow_mut().push(format!("in {} {} {}", call.tool, call.request_id, call.deadline_ms));
    }

    fn left(&self, call: &RunningCall<'_>) {
        self.0.borrow_mut().push(format!("out {}", call.tool));
    }
}

#[test]
fn an_observer_sees_each_time_that_a_call_goes_on() {
    let run = |answers: bool| {
        let (world, told) = (World::new(), Rc::new(Told::default()));
        if !answers {
            *world.on_query.borrow_mut() = Some(Box::new(|_| None));
        }
        let with = With { deadline_ms: Some(NOW_MS + 100), ..With::default() };
        let tool = select_tool();
        let ports = Ports { observer: Some(told.clone()), ..world.ports() };
        let pipeline = Pipeline::new(Rc::new(app(vec![tool])), ports);
        call(&pipeline, json!({}), &with).unwrap();
        told.0.take()
    };
    let entered = format!("in t req-1 {}", NOW_MS + 100);
    assert_eq!(run(true), [entered.as_str(), "out t"]);
    // One that waits is left, and entered again.
    let waited = run(false);
    assert!(waited.len() > 2 && waited.len().is_multiple_of(2), "{waited:?}");
    assert!(waited.chunks(2).all(|pair| pair == [entered.as_str(), "out t"]), "{waited:?}");
}

#[test]
fn a_call_that_panics_is_left() {
    let (world, told) = (World::new(), Rc::new(Told::default()));
    *world.on_query.borrow_mut() = Some(Box::new(|_| panic!("on purpose")));
    let ports = Ports { observer: Some(told.clone()), ..world.ports() };
    let pipeline = Pipeline::new(Rc::new(app(vec![select_tool()])), ports);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| call(&pipeline, json!({}), &With::default())));
    assert!(outcome.is_err());
    assert_eq!(told.0.take().last().map(String::as_str), Some("out t"));
}
