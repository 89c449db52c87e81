//! The scripts of an app, evaluated where that can be done once for all calls.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

use millrace_core::{
    Json,
    app::Script,
    ports::{Ambient, ScriptFault, TakenAtLoad},
};
use millrace_engine::{Fault, Frame, Host, Image, Limits, Loader, Message, Step};
use serde_json::json;

use crate::{
    bridge, parts,
    wire::{self, say},
};

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

/// What evaluating the scripts of an app may use up: the work is that of each script, the memory is
/// that of all of them together. What does not fit is left to the calls.
pub(crate) const LOADING: Limits =
    Limits { fuel: 200_000_000, memory_bytes: if cfg!(target_arch = "wasm32") { 24 << 20 } else { 128 << 20 } };

/// What the modules of a script may use up where they are evaluated in a call, beside what the call
/// has: as much as where they are loaded once.
pub(crate) fn loading_fuel(limits: Limits) -> u64 {
    LOADING.fuel.max(limits.fuel)
}

/// What the prelude says of a script that can be part of an image.
pub(crate) const LOADED: &str = "loaded";

/// The scripts of an app as calls take them.
pub(crate) struct Program {
    pub(crate) image: Arc<Image>,
    /// Whether each of them is part of the image. If not, a call evaluates it.
    is_in_image: Vec<bool>,
}

impl Program {
    /// Whether a script is part of the image.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.is_in_image.get(index) == Some(&true)
    }
}

/// The image without a script.
pub(crate) fn base() -> Result<Arc<Image>, Fault> {
    Image::base(PRELUDE, Limits { fuel: u64::MAX, ..LOADING }, &LoadHost::default())
}

/// What of a script goes with its text.
pub(crate) fn meta(index: usize, script: &Script, tells: bool) -> String {
    json!({"path": script.path, "script": index, "tells": tells, "parts": parts::named_in(&script.program)}).to_string()
}

/// The script as a message.
pub(crate) fn frame<'a>(meta: &'a str, script: &'a Script) -> Frame<'a> {
    Frame { head: meta, tail: Some(script.program.as_bytes()) }
}

/// Evaluates the scripts of an app into one image, without those that cannot be part of one.
pub(crate) fn load(base: &Arc<Image>, scripts: &[Script]) -> Result<Program, Fault> {
    let mut is_in_image = vec![true; scripts.len()];
    let mut loader = Loader::on(base, LOADING)?;
    loop {
        let mut is_whole = true;
        // What others need comes first: if there is no more room, it is not what is left out.
        let (shared, others): (Vec<_>, Vec<_>) = scripts.iter().enumerate().partition(|(_, script)| script.is_shared());
        for (index, script) in shared.into_iter().chain(others) {
            if !is_in_image[index] {
                continue;
            }
            let host = LoadHost { is_clock_fixed: script.loads_without_clock, ..LoadHost::default() };
            let step = loader.script(&meta(index, script, false), &script.program, &host);
            let has_asked = host.was_asked.get() || !loader.asks().is_empty();
            if has_asked || step != Ok(Step::Done(String::from(LOADED))) {
                tracing::debug!(path = script.path, ?step, "a script is evaluated in each call");
                is_in_image[index] = false;
                is_whole = false;
            }
            if step.is_err() {
                renew(&mut loader, scripts)?;
            }
        }
        if is_whole {
            return Ok(Program { image: loader.into_image()?, is_in_image });
        }
        // Once more, without what those left that are not part of it.
        loader.discard()?;
    }
}

/// Begins anew, with the script that the others need.
pub(crate) fn renew(loader: &mut Loader, scripts: &[Script]) -> Result<(), Fault> {
    loader.discard()?;
    for (index, script) in scripts.iter().enumerate().filter(|(_, script)| script.is_shared()) {
        // What is wrong with it is said where it is loaded itself.
        let _ = loader.script(&meta(index, script, false), &script.program, &LoadHost::default());
    }
    Ok(())
}

/// The prelude catches what a script throws while it is evaluated: what is thrown before is of its
/// text.
pub(crate) fn does_not_compile(script: &Script, text: &str) -> ScriptFault {
    let message = wire::escaped(text).message;
    ScriptFault::Broken(format!("`{}` does not compile: {message}", script.path))
}

/// The host of scripts that are being evaluated: what is pure is answered, everything else is for a
/// call.
#[derive(Default)]
pub(crate) struct LoadHost {
    was_asked: Cell<bool>,
    /// The clock is not asked: it is 0.
    is_clock_fixed: bool,
    pub(crate) took: RefCell<Vec<TakenAtLoad>>,
}

impl LoadHost {
    fn take(&self, told: &Json) {
        let what = match told[0].as_str() {
            Some("clock") => Ambient::Clock,
            Some("random") => Ambient::Random,
            Some("timer") => Ambient::Timer,
            Some("log") => Ambient::Log,
            _ => Ambient::Outside,
        };
        let taken = TakenAtLoad { what, stack: told[1].as_str().map(str::to_owned) };
        let mut took = self.took.borrow_mut();
        if !took.contains(&taken) {
            took.push(taken);
        }
    }
}

impl Host for LoadHost {
    fn say(&self, kind: i32, message: Message) -> Option<Message> {
        if kind == say::TOOK {
            self.take(&wire::parse(&message.head).unwrap_or_default());
            return None;
        }
        bridge::pure(kind, &message).unwrap_or_else(|| {
            self.was_asked.set(true);
            None
        })
    }

    fn clock_ms(&self) -> f64 {
        self.was_asked.set(self.was_asked.get() || !self.is_clock_fixed);
        0.0
    }

    fn random(&self, bytes: &mut [u8]) {
        self.was_asked.set(true);
        bytes.fill(0);
    }
}
