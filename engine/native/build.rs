//! Makes machine code for the target out of `engine.wasm`, so that no compiler is part of what is
//! shipped.

#[cfg(feature = "wasmtime")]
use std::{env, error::Error, fs, path::Path};

#[cfg(feature = "wasmtime")]
#[path = "src/native/config.rs"]
mod config;

#[cfg(not(feature = "wasmtime"))]
fn main() {}

#[cfg(feature = "wasmtime")]
fn main() -> Result<(), Box<dyn Error>> {
    // A Worker's platform compiles the module itself.
    if env::var("CARGO_CFG_TARGET_ARCH")? == "wasm32" {
        return Ok(());
    }
    let module = "../engine.wasm";
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/native/config.rs");
    println!("cargo:rerun-if-changed={module}");
    let mut config = config::of(&env::var("CARGO_CFG_TARGET_OS")?);
    // Named, so that it is the oldest processor of its kind and not the one of this machine.
    config.target(&env::var("TARGET")?)?;
    let code = wasmtime::Engine::new(&config)?.precompile_module(&fs::read(module)?)?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("engine.cwasm"), code)?;
    Ok(())
}
