//! `millrace-engine-counters IN OUT`: see the library. Custom sections are left out.
#![allow(clippy::print_stdout, reason = "a command")]

use std::{env, error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [from, to] = &arguments[..] else { return Err("usage: millrace-engine-counters IN OUT".into()) };
    let counted = millrace_engine_counters::count(&fs::read(from)?)?;
    fs::write(to, &counted.wasm)?;
    println!("{to}: {} bytes, counts work in {} places and depth in {} functions", counted.wasm.len(), counted.places, counted.deep);
    Ok(())
}
