//! Whether the scripts that run beside a tool's statements may change something: mappers, factories
//! of the context, and middleware.
//!
//! A script reaches the outside by `fetch`, where the app allows addresses, by `ctx.db` and by
//! `ctx.api`. One whose program has none of these words changes nothing, and neither does one whose
//! queries are all written out and only read.

use millrace_core::app::{Adapter, ScriptRef};

use crate::{compiler::Compiler, script::AppPart, statement::only_reads};

/// The member of `ctx` that asks APIs.
const API: &str = "api";

/// Whether one of the scripts may ask an API, by what its program says.
pub(super) fn may_ask_apis<'a>(compiler: &Compiler<'_>, adapters: &[Adapter], mut scripts: impl Iterator<Item = &'a ScriptRef>) -> bool {
    adapters.iter().any(Adapter::is_api) && scripts.any(|script| has(program(compiler, script), API) > 0)
}

fn program<'c>(compiler: &'c Compiler<'_>, script: &ScriptRef) -> &'c str {
    compiler.links.scripts.get(script.script as usize).map_or("", |script| &script.program)
}

/// Whether one of the scripts may change something. `fetches`: the app allows requests.
pub(super) fn may_write<'a>(
    compiler: &Compiler<'_>,
    adapters: &[Adapter],
    fetches: bool,
    mut scripts: impl Iterator<Item = &'a ScriptRef>,
) -> bool {
    scripts.any(|script| {
        let program = program(compiler, script);
        (fetches && has(program, "fetch") > 0)
            || (has(program, "db") > 0 && queries_write(compiler, adapters, script.script, program))
            || (has(program, API) > 0 && adapters.iter().any(|adapter| adapter.is_api() && !adapter.read_only))
    })
}

/// How often a word stands in a program.
fn has(program: &str, word: &str) -> usize {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(byte));
    let bytes = program.as_bytes();
    let places = program.match_indices(word).map(|(at, _)| at);
    places.filter(|at| !is_part(at.checked_sub(1).and_then(|at| bytes.get(at))) && !is_part(bytes.get(at + word.len()))).count()
}

fn queries_write(compiler: &Compiler<'_>, adapters: &[Adapter], script: u32, program: &str) -> bool {
    // `ctx.db` does not ask an API.
    let adapters = || adapters.iter().filter(|adapter| !adapter.is_api());
    if adapters().all(|adapter| adapter.read_only) {
        return false;
    }
    let is_query = |part| matches!(part, AppPart::Statement | AppPart::UnwrittenStatement);
    let statements = || compiler.links.statements.iter().filter(|statement| statement.script == script).map(|statement| &statement.place);
    let queries = || statements().filter(|place| is_query(place.part));
    // A query in another form than `….query(…)` was not found.
    if queries().next().is_none() || has(program, "query") > queries().count() {
        return true;
    }
    let dialect = |adapter: &Adapter| millrace_catalogue::find(&adapter.connector).and_then(|connector| connector.language.dialect());
    queries().any(|query| {
        let reads = |dialect| query.part == AppPart::Statement && only_reads(&query.name, dialect);
        let mut asked = adapters().filter(|adapter| query.adapter.as_ref().is_none_or(|name| adapter.name == *name));
        asked.any(|adapter| !adapter.read_only && !dialect(adapter).is_some_and(reads))
    })
}
