//! Where a native host keeps counters and records: in a server that `MILLRACE_CACHE` names, or else
//! where the variable `MILLRACE_STATE` says. The places of calls are always there: they are those
//! of a machine.
//!
//! | value | counters, records and places | who shares them |
//! |---|---|---|
//! | not set, empty | in the folder `.millrace/state`, where relative paths of databases start | the isolates of the machine |
//! | a path | in that folder; a relative path starts there, too | those that have the same folder |
//! | `memory` | in the isolate's memory | nobody |

use std::{
    path::{Path, PathBuf},
    rc::Rc,
};

use millrace_caches::{
    file_state::{DEFAULT_FILE_BYTES, FileState},
    memory_state::{DEFAULT_STATE_BYTES, MemoryState},
};
use millrace_core::{
    app::{App, named_tools},
    ports::{Clock, Env, Places, Random, StateStore},
};

use crate::{cache::CacheChoice, clock::SystemClock, random::SystemRandom};

/// The variable that names the folder.
pub const VARIABLE: &str = "MILLRACE_STATE";
/// The folder without it.
const FOLDER: &str = ".millrace/state";

/// Where counters and records are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Folder(PathBuf),
    Memory,
}

fn place(base: &Path, env: &dyn Env) -> Place {
    match env.var(VARIABLE).as_ref().map(|value| value.expose().trim()) {
        None | Some("") => Place::Folder(base.join(FOLDER)),
        Some("memory") => Place::Memory,
        Some(path) => Place::Folder(base.join(path)),
    }
}

fn file(folder: PathBuf, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> FileState {
    FileState::new(folder, DEFAULT_FILE_BYTES, clock, random)
}

/// The store of one isolate, and the places of its machine. Touches no file and connects to nothing
/// yet. `base` is the folder where relative paths of databases start.
#[must_use]
pub fn open(
    base: &Path,
    env: &dyn Env,
    cache: &CacheChoice,
    clock: Rc<dyn Clock>,
    random: Rc<dyn Random>,
) -> (Rc<dyn StateStore>, Option<Rc<dyn Places>>) {
    let server = cache.open_state(base.to_owned(), clock.clone());
    match place(base, env) {
        Place::Folder(folder) => {
            let file = Rc::new(file(folder, clock, random));
            (server.unwrap_or_else(|| file.clone()), Some(file))
        }
        Place::Memory => (server.unwrap_or_else(|| Rc::new(MemoryState::new(DEFAULT_STATE_BYTES, clock))), None),
    }
}

/// What the operator is told at the start where the store does not hold what the app promises;
/// names the tools. Makes the state file, where the app needs one.
#[must_use]
pub fn problem(app: &App, base: &Path, env: &dyn Env, cache: &CacheChoice) -> Option<String> {
    let is_server = !matches!(cache, CacheChoice::Memory);
    let counted = if is_server { None } else { named_tools(app.counted_tools()) };
    match place(base, env) {
        Place::Memory => counted.map(|tools| {
            format!(
                "each isolate counts and records the calls of {tools} for itself, and forgets them when it ends, because `{VARIABLE}` is \
                 `memory`: with several isolates, limits are not exact, and an idempotent handler may run once on each"
            )
        }),
        Place::Folder(folder) => {
            let limited = || named_tools(app.tools.iter().filter(|tool| tool.limits.concurrency.is_some()));
            let tools = counted.or_else(limited)?;
            let error = file(folder, Rc::new(SystemClock), Rc::new(SystemRandom)).probe().err()?;
            let source = error.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
            Some(format!(
                "the calls of {tools} cannot be counted and recorded: {}{source}. Until they can, handlers with `idempotency` are not run, \
                 and each isolate limits by its own count",
                error.message
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Variables;

    #[test]
    fn the_variable_names_the_folder() {
        let of = |value: Option<&str>| {
            let variables: Variables = value.iter().map(|value| (VARIABLE.to_owned(), (*value).to_owned())).collect();
            place(Path::new("/app"), &variables)
        };
        let folder = |path: &str| Place::Folder(path.into());
        assert_eq!([of(None), of(Some(" "))], [folder("/app/.millrace/state"), folder("/app/.millrace/state")]);
        assert_eq!([of(Some("state")), of(Some("/var/state"))], [folder("/app/state"), folder("/var/state")]);
        assert_eq!(of(Some("memory")), Place::Memory);
    }
}
