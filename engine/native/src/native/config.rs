//! How the engine's code is made, and how it runs: both have to agree.

use wasmtime::Config;

/// The configuration for an operating system.
pub(crate) fn of(target_os: &str) -> Config {
    let mut config = Config::new();
    // What the module does not use: each costs space, or time at the start.
    config.gc_support(false).concurrency_support(false).wasm_backtrace_max_frames(None).generate_address_map(false);
    // Windows unwinds by it.
    config.native_unwind_info(target_os == "windows");
    // Memory is put back by this crate, which is faster, see `restore`.
    config.memory_init_cow(false);
    config
}
