//! The scripts of an app, evaluated to see what comes of each: for whoever checks an app, never for
//! one that serves it.

use std::{sync::Arc, time::Instant};

use millrace_core::{
    app::Script,
    ports::{LoadCost, LoadFault, ScriptFault, ScriptLoad, ScriptLoader},
};
use millrace_engine::{Fault, Image, Loader, Step};

use crate::{
    Engine,
    limit::UNITS_PER_LOOP,
    pool::does_not_start,
    program::{LOADED, LOADING, LoadHost, meta, renew},
    wire::{self, ask},
};

impl ScriptLoader for Engine {
    fn load(&self, scripts: &[Script]) -> Vec<ScriptLoad> {
        let tried = self.pool.base().and_then(|base| try_load(&base, scripts).map_err(|fault| does_not_start(&fault)));
        tried.unwrap_or_else(|fault| {
            let message = match fault {
                ScriptFault::Broken(message) => message,
                other => format!("{other:?}"),
            };
            let fault = Some(LoadFault { message, stack: None });
            scripts.iter().map(|_| ScriptLoad { fault: fault.clone(), ..ScriptLoad::default() }).collect()
        })
    }
}

/// Evaluates scripts to see what comes of it.
fn try_load(base: &Arc<Image>, scripts: &[Script]) -> Result<Vec<ScriptLoad>, Fault> {
    let mut loader = Loader::on(base, LOADING)?;
    let mut is_whole = true;
    let mut loads = vec![ScriptLoad::default(); scripts.len()];
    let mut is_first = true;
    let (shared, others): (Vec<_>, Vec<_>) = scripts.iter().enumerate().partition(|(_, script)| script.is_shared());
    for (index, script) in shared.into_iter().chain(others) {
        let mut load = try_one(&mut loader, index, script);
        if load.fault.is_some() || load.awaits {
            // It may have been another one's fault.
            renew(&mut loader, scripts)?;
            if !is_whole || !is_first {
                load = try_one(&mut loader, index, script);
                renew(&mut loader, scripts)?;
            }
            is_whole = false;
        }
        loads[index] = load;
        is_first = false;
    }
    Ok(loads)
}

fn try_one(loader: &mut Loader, index: usize, script: &Script) -> ScriptLoad {
    let host = LoadHost::default();
    let before = loader.memory_bytes().unwrap_or_default();
    let started = Instant::now();
    let step = loader.script(&meta(index, script, true), &script.program, &host);
    let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let cost = LoadCost { micros, memory_bytes: loader.memory_bytes().unwrap_or_default().saturating_sub(before) as u64 };
    let asks = loader.asks();
    let took = host.took.take();
    let failed = |message: String, stack| ScriptLoad { fault: Some(LoadFault { message, stack }), awaits: false, took: Vec::new(), cost };
    match step {
        Ok(Step::Done(text)) if text == LOADED => ScriptLoad { fault: None, awaits: false, took, cost },
        // Answers may be what it waits for.
        Ok(Step::Waits)
            if asks.iter().any(|question| matches!(question.kind, ask::FETCH | ask::QUERY | ask::TIMER | ask::CACHE | ask::CRYPTO)) =>
        {
            ScriptLoad { fault: None, awaits: true, took, cost }
        }
        Ok(Step::Waits | Step::Late) => failed(String::from("a module waits for a promise that nothing can settle"), None),
        Ok(Step::Done(text) | Step::Threw(text)) => {
            let wire::Escaped { message, stack, .. } = wire::escaped(&text);
            failed(message, stack)
        }
        Err(fault) => failed(too_much(&fault), None),
    }
}

/// What a script uses up that cannot be loaded.
fn too_much(fault: &Fault) -> String {
    match fault {
        Fault::Fuel => {
            format!("its modules do more work than {} rounds of a loop are", LOADING.fuel / UNITS_PER_LOOP)
        }
        Fault::Memory => format!("its modules take more than {} MB of memory", LOADING.memory_bytes >> 20),
        Fault::Stack => String::from("its modules nest their calls too deep"),
        Fault::Stopped => String::from("it was stopped"),
        Fault::Broken(text) => format!("the script engine failed: {text}"),
    }
}
