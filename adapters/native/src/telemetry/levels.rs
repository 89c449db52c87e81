//! What is read at each export, and no call tells: how full what calls wait for is, and how the
//! state file is. On the thread that exports, so that no call waits for it.

use std::{
    fs,
    sync::{Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use millrace_caches::file_state::{
    levels::{self as state, Refusal},
    look::{self, FileReading, GateReading},
};
use millrace_connectors::pools;
use millrace_telemetry::metrics::Metric;

/// How long a look at the state file counts: the metrics of one export are of the same. One that
/// took long counts for longer, so that looks take a twentieth of a processor at most.
const FRESH: Duration = Duration::from_millis(100);
const TIMES: u32 = 20;

/// A series: its labels, and its number.
pub(super) type Read = (Vec<(&'static str, String)>, f64);

/// Which isolate this process is, and whether another one was it before.
static ISOLATE: OnceLock<(usize, bool)> = OnceLock::new();

/// Says which isolate this process is, and whether it takes the place of one that has ended.
/// Without it, it is the only one.
pub fn is_isolate(index: usize, is_again: bool) {
    let _ = ISOLATE.set((index, is_again));
}

/// The series of a metric that is read, as they are now. `label` gives the names of its labels.
pub(super) fn read(metric: Metric) -> Vec<Read> {
    let labels = metric.description().labels;
    let name = |place: usize| labels.get(place).copied().unwrap_or_default();
    match metric {
        Metric::Connections => pools::read()
            .into_iter()
            .flat_map(|pool| {
                let of = |state: &str, count: usize| (vec![(name(0), pool.name.clone()), (name(1), state.to_owned())], count as f64);
                [of("used", pool.used), of("idle", pool.idle)]
            })
            .collect(),
        Metric::MostConnections => of_pools(name(0), |pool| pool.max),
        Metric::PendingRequests => of_pools(name(0), |pool| pool.waiting),
        Metric::ConnectionTimeouts => of_pools(name(0), |pool| pool.timeouts),
        Metric::ScriptPlaces => of_scripts(|places| places.used),
        Metric::MostScriptPlaces => of_scripts(|places| places.max),
        Metric::ScriptQueue => of_scripts(|places| places.waiting),
        Metric::ScriptMemoryHeld => of_scripts(|_| millrace_script::shared_memory().0),
        Metric::MostScriptMemory => of_scripts(|_| millrace_script::shared_memory().1),
        Metric::ToolPlaces => of_gates(name(0), |gate| gate.used),
        Metric::ToolQueue => of_gates(name(0), |gate| gate.waiting),
        Metric::MostToolPlaces => of_gates(name(0), |gate| gate.max.into()),
        Metric::IsolateMemory => resident_bytes("self").map(|bytes| (of_isolate(name(0)), bytes as f64)).into_iter().collect(),
        Metric::IsolateRestarts => {
            let restarts = ISOLATE.get().map(|(_, is_again)| (of_isolate(name(0)), f64::from(u8::from(*is_again))));
            restarts.into_iter().collect()
        }
        Metric::StateRefusals => {
            let counts = state::counts().into_iter();
            let refused = counts.flat_map(|counts| Refusal::ALL.into_iter().zip(counts.refused));
            refused.map(|(why, count)| (vec![(name(0), why.as_str().to_owned())], count as f64)).collect()
        }
        Metric::StateWaits => of_steps(|counts| counts.waits as f64),
        Metric::StateWaitTime => of_steps(|counts| counts.waited.as_secs_f64()),
        Metric::StateCompactions => of_steps(|counts| counts.compactions as f64),
        Metric::StateSize => of_files(|file| file.size_bytes as f64),
        Metric::StateUsed => of_files(|file| file.used_bytes as f64),
        Metric::MostStateUsed => of_files(|file| file.max_bytes as f64),
        Metric::StateEntries => of_files(|file| file.entries as f64),
        Metric::StateOverdue => of_files(|file| file.overdue_ms as f64 / 1000.0),
        _ => Vec::new(),
    }
}

fn of_pools(name: &'static str, number: impl Fn(&pools::PoolReading) -> usize) -> Vec<Read> {
    pools::read().into_iter().map(|pool| (vec![(name, pool.name.clone())], number(&pool) as f64)).collect()
}

fn of_scripts(number: impl Fn(millrace_script::PlacesReading) -> usize) -> Vec<Read> {
    millrace_script::places().map(|places| (Vec::new(), number(places) as f64)).into_iter().collect()
}

fn of_steps(number: impl Fn(state::StepCounts) -> f64) -> Vec<Read> {
    state::counts().map(|counts| (Vec::new(), number(counts))).into_iter().collect()
}

/// Of all files of this process together: there is one.
fn of_files(number: impl Fn(&FileReading) -> f64) -> Vec<Read> {
    let files = files();
    if files.is_empty() { Vec::new() } else { vec![(Vec::new(), files.iter().map(number).sum())] }
}

fn of_gates(name: &'static str, number: impl Fn(&GateReading) -> u64) -> Vec<Read> {
    let files = files();
    let gates = files.iter().flat_map(|file| &file.gates);
    // A gate's name is the app's and the tool's.
    let tool = |gate: &str| gate.rsplit(' ').next().unwrap_or_default().to_owned();
    gates.map(|gate| (vec![(name, tool(&gate.gate))], number(gate) as f64)).collect()
}

/// The files of this process, looked at a moment ago at most.
fn files() -> Vec<FileReading> {
    static LAST: Mutex<Option<(Instant, Vec<FileReading>)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    // What has no file is looked at for nothing.
    if let Some((until, files)) = &*last
        && Instant::now() < *until
        && !files.is_empty()
    {
        return files.clone();
    }
    let began = Instant::now();
    let files = look::look();
    *last = Some((Instant::now() + FRESH.max(began.elapsed() * TIMES), files.clone()));
    files
}

fn of_isolate(name: &'static str) -> Vec<(&'static str, String)> {
    vec![(name, ISOLATE.get().map_or(0, |(index, _)| *index).to_string())]
}

/// How much memory a process has, by its number or as `self`; `None` where the system does not say.
#[must_use]
pub fn resident_bytes(process: &str) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page_bytes())
}

#[cfg(unix)]
fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Nobody asks there.
#[cfg(not(unix))]
const fn page_bytes() -> u64 {
    4096
}

#[cfg(test)]
mod tests {
    use millrace_telemetry::metrics::{METRICS, STATE_REFUSALS};

    use super::*;

    #[test]
    fn refusals_are_told_by_the_words_that_are_listed() {
        assert_eq!(Refusal::ALL.map(Refusal::as_str), STATE_REFUSALS);
        assert!(Refusal::ALL.into_iter().enumerate().all(|(place, why)| why as usize == place));
    }

    #[test]
    fn a_series_has_the_labels_of_its_metric_and_what_is_told_is_not_read() {
        for about in METRICS {
            for (labels, _) in read(about.metric) {
                assert!(about.kind.is_read(), "{}", about.name);
                assert_eq!(labels.iter().map(|(name, _)| *name).collect::<Vec<_>>(), about.labels, "{}", about.name);
            }
        }
        #[cfg(target_os = "linux")]
        assert!(read(Metric::IsolateMemory)[0].1 > 1e6);
    }
}
