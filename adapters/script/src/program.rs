//! A script, evaluated where that can be done once for all calls.

use std::{cell::Cell, sync::Arc};

use millrace_core::{app::Script, ports::ScriptFault};
use millrace_engine::{Fault, Frame, Host, Image, Limits, Loaded, Loader, Message};
use serde_json::json;

use crate::{bridge, wire};

/// What stands around every script.
const PRELUDE: &str = concat!(
    "(native => {\n'use strict';\nconst web = ",
    include_str!("prelude/web.js"),
    ";\nconst written = ",
    include_str!("prelude/millrace.js"),
    ";\n",
    include_str!("prelude/core.js"),
    "\n})"
);

/// What evaluating a script may use up, before it is left to the calls.
const LOADING: Limits = Limits { fuel: 200_000_000, memory_bytes: 64 << 20 };

/// A script as calls take it.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) image: Arc<Image>,
    /// Whether it is part of the image. If not, a call evaluates it.
    pub(crate) is_in_image: bool,
}

/// The image without a script.
pub(crate) fn base() -> Result<Arc<Image>, Fault> {
    let loader = Loader::new(PRELUDE, Limits { fuel: i32::MAX, ..LOADING }, &LoadHost::default())?;
    Ok(Arc::clone(loader.image()))
}

/// What of a script goes with its text.
pub(crate) fn meta(script: &Script) -> String {
    json!({"path": script.path}).to_string()
}

/// The script as a message.
pub(crate) fn frame<'a>(meta: &'a str, script: &'a Script) -> Frame<'a> {
    Frame { head: meta, tail: Some(script.program.as_bytes()) }
}

/// Evaluates a script.
pub(crate) fn load(base: &Arc<Image>, script: &Script) -> Result<Program, ScriptFault> {
    let failed = |fault: Fault| ScriptFault::Broken(format!("the script engine does not start: {fault:?}"));
    let mut loader = Loader::on(base, LOADING).map_err(failed)?;
    let host = LoadHost::default();
    match loader.script(&meta(script), &script.program, &host, |told| told == "loaded" && !host.was_asked.get()) {
        Ok(Loaded::Kept(_)) => Ok(Program { image: Arc::clone(loader.image()), is_in_image: true }),
        Ok(Loaded::Threw(text)) => Err(does_not_compile(script, &text)),
        // What stops it here stops it in a call, which says so.
        Ok(Loaded::Refused(_) | Loaded::Waits) | Err(_) => Ok(Program { image: Arc::clone(base), is_in_image: false }),
    }
}

/// The prelude catches what a script throws while it is evaluated: what is thrown before is of its text.
pub(crate) fn does_not_compile(script: &Script, text: &str) -> ScriptFault {
    let message = wire::escaped(text).message;
    ScriptFault::Broken(format!("`{}` does not compile: {message}", script.path))
}

/// The host of scripts that are being evaluated: what is pure is answered, everything else is for a call.
#[derive(Default)]
struct LoadHost {
    was_asked: Cell<bool>,
}

impl Host for LoadHost {
    fn say(&self, kind: i32, message: Message) -> Option<Message> {
        bridge::pure(kind, &message).unwrap_or_else(|| {
            self.was_asked.set(true);
            None
        })
    }

    fn clock_ms(&self) -> f64 {
        self.was_asked.set(true);
        0.0
    }

    fn random(&self, bytes: &mut [u8]) {
        self.was_asked.set(true);
        bytes.fill(0);
    }
}
