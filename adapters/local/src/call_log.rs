//! What the page of `dev` learns from elsewhere. The last calls of other clients: what was called,
//! how it ended, and how long each stage took, names and times without a value. And what is wrong
//! with the last change of the app, which whoever follows its files has found.
//!
//! Whichever isolate answers the page knows the calls of all. Isolates that are threads share a
//! list. Isolates that are processes share a file in memory, in which each has a region of its own;
//! a record that is read while it is written over is left out, which its hash tells.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value as Json, json};

/// The most calls that are shown.
const MAX_CALLS: usize = 20;

/// Where calls are written, and read. Clones write to the same place.
#[derive(Clone)]
pub(crate) struct CallLog {
    place: Place,
    next: Arc<AtomicU64>,
}

#[derive(Clone)]
enum Place {
    Memory(Arc<Mutex<Shared>>),
    #[cfg(unix)]
    File(file::Regions),
}

#[derive(Default)]
struct Shared {
    calls: VecDeque<Json>,
    problems: String,
}

/// The most that is kept of what is wrong with a change, in bytes.
const MAX_PROBLEMS: usize = 64 << 10;

impl CallLog {
    /// For isolates that are threads.
    pub(crate) fn in_memory() -> Self {
        Self::at(Place::Memory(Arc::default()))
    }

    /// For the isolate of that index of several, which are processes with the same file.
    #[cfg(unix)]
    pub(crate) fn in_file(file: std::fs::File, index: usize, isolates: usize) -> Self {
        Self::at(Place::File(file::Regions::new(file, index, isolates)))
    }

    fn at(place: Place) -> Self {
        Self { place, next: Arc::default() }
    }

    /// Adds a call, in place of the oldest.
    pub(crate) fn add(&self, when_ms: u64, call: &Json, steps: &[Json]) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let record = |steps: &[Json]| json!({ "when": when_ms, "number": number, "call": call, "steps": steps });
        match &self.place {
            Place::Memory(shared) => {
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let calls = &mut shared.calls;
                calls.push_back(record(steps));
                let surplus = calls.len().saturating_sub(MAX_CALLS);
                calls.drain(..surplus);
            }
            #[cfg(unix)]
            Place::File(regions) => {
                // A call with very many entries of the middleware is shown without its last ones.
                let kept = (0..=steps.len()).rev().map(|kept| record(steps.get(..kept).unwrap_or_default()).to_string());
                if let Some(text) = kept.into_iter().find(|text| file::fits(text)) {
                    regions.write(number, &text);
                }
            }
        }
    }

    /// Keeps what is wrong with the last change of the app, in place of what was; nothing is an
    /// empty text.
    pub(crate) fn set_problems(&self, text: &str) {
        let text = &text[..text.floor_char_boundary(MAX_PROBLEMS)];
        match &self.place {
            Place::Memory(shared) => text.clone_into(&mut shared.lock().unwrap_or_else(PoisonError::into_inner).problems),
            #[cfg(unix)]
            Place::File(regions) => regions.write_problems(text),
        }
    }

    /// `{ "calls", "problems" }`: the last calls, the oldest first, and what is wrong with the last
    /// change of the app.
    pub(crate) fn for_page(&self) -> Json {
        let problems = match &self.place {
            Place::Memory(shared) => shared.lock().unwrap_or_else(PoisonError::into_inner).problems.clone(),
            #[cfg(unix)]
            Place::File(regions) => regions.problems(),
        };
        json!({ "calls": self.calls(), "problems": problems })
    }

    fn calls(&self) -> Vec<Json> {
        let mut calls: Vec<Json> = match &self.place {
            Place::Memory(shared) => shared.lock().unwrap_or_else(PoisonError::into_inner).calls.iter().cloned().collect(),
            #[cfg(unix)]
            Place::File(regions) => regions.read(),
        };
        calls.sort_by_key(|call| (call["when"].as_u64(), call["number"].as_u64()));
        let surplus = calls.len().saturating_sub(MAX_CALLS);
        calls.drain(..surplus);
        calls
    }
}

#[cfg(unix)]
mod file {
    use std::{fs::File, os::unix::fs::FileExt as _, sync::Arc};

    use serde_json::Value as Json;
    use sha2::{Digest as _, Sha256};

    use super::{MAX_CALLS, MAX_PROBLEMS};

    /// Bytes of a record: its hash, its length, its text.
    const RECORD: usize = 4096;
    const HASH: usize = 8;
    const LENGTH: usize = 4;

    #[derive(Clone)]
    pub(super) struct Regions {
        file: Arc<File>,
        index: usize,
        isolates: usize,
    }

    pub(super) fn fits(text: &str) -> bool {
        text.len() <= RECORD - HASH - LENGTH
    }

    fn hash(text: &[u8]) -> [u8; HASH] {
        let mut hash = [0; HASH];
        hash.iter_mut().zip(Sha256::digest(text)).for_each(|(byte, of_text)| *byte = of_text);
        hash
    }

    impl Regions {
        pub(super) fn new(file: File, index: usize, isolates: usize) -> Self {
            Self { file: Arc::new(file), index, isolates }
        }

        pub(super) fn write(&self, number: u64, text: &str) {
            self.write_record(self.index * MAX_CALLS + (number % MAX_CALLS as u64) as usize, text);
        }

        pub(super) fn read(&self) -> Vec<Json> {
            let records = (0..self.isolates * MAX_CALLS).filter_map(|slot| self.record(slot, RECORD));
            records.filter_map(|text| serde_json::from_slice(&text).ok()).collect()
        }

        /// What is wrong with a change stands behind the calls of all isolates.
        pub(super) fn write_problems(&self, text: &str) {
            self.write_record(self.isolates * MAX_CALLS, text);
        }

        pub(super) fn problems(&self) -> String {
            let text = self.record(self.isolates * MAX_CALLS, HASH + LENGTH + MAX_PROBLEMS);
            text.and_then(|text| String::from_utf8(text).ok()).unwrap_or_default()
        }

        fn write_record(&self, slot: usize, text: &str) {
            let length = u32::try_from(text.len()).unwrap_or_default();
            let record = [&hash(text.as_bytes())[..], &length.to_le_bytes(), text.as_bytes()].concat();
            if let Err(error) = self.file.write_all_at(&record, (slot * RECORD) as u64) {
                tracing::debug!(%error, "what the page shows cannot be kept");
            }
        }

        fn record(&self, slot: usize, most: usize) -> Option<Vec<u8>> {
            let mut bytes = vec![0; most];
            // The file ends with the last record that was written.
            let length = self.file.read_at(&mut bytes, (slot * RECORD) as u64).ok()?;
            let (known, rest) = bytes.get(..length)?.split_first_chunk::<HASH>()?;
            let (length, rest) = rest.split_first_chunk::<LENGTH>()?;
            let text = rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
            (hash(text) == *known).then(|| text.to_vec())
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(log: &CallLog) -> Vec<u64> {
        log.calls().iter().map(|call| call["when"].as_u64().unwrap()).collect()
    }

    #[test]
    fn the_last_calls_of_all_isolates_are_kept() {
        let memory = CallLog::in_memory();
        let file = tempfile::tempfile().unwrap();
        let first = CallLog::in_file(file.try_clone().unwrap(), 0, 2);
        let second = CallLog::in_file(file, 1, 2);
        for when in 0..50 {
            memory.clone().add(when, &json!({}), &[]);
            (if when % 2 == 0 { &first } else { &second }).add(when, &json!({}), &[]);
        }
        let last: Vec<u64> = (30..50).collect();
        for log in [&memory, &first, &second] {
            assert_eq!(numbers(log), last);
        }
    }

    #[test]
    fn what_is_wrong_with_a_change_is_known_to_all_isolates() {
        let memory = CallLog::in_memory();
        let file = tempfile::tempfile().unwrap();
        let logs = [0, 1].map(|index| CallLog::in_file(file.try_clone().unwrap(), index, 2));
        assert_eq!(logs[0].for_page(), json!({ "calls": [], "problems": "" }));
        let long = "ü".repeat(MAX_PROBLEMS);
        for (text, kept) in [("two\nlines", "two\nlines"), (&long, &long[..MAX_PROBLEMS]), ("short", "short"), ("", "")] {
            memory.set_problems(text);
            logs[0].set_problems(text);
            logs[1].add(1, &json!({}), &[]);
            for log in [&memory, &logs[0], &logs[1]] {
                assert_eq!(log.for_page()["problems"], kept);
            }
        }
        assert_eq!(numbers(&logs[0]).len(), 4);
    }

    #[test]
    fn a_call_that_is_too_long_loses_its_last_steps() {
        let log = CallLog::in_file(tempfile::tempfile().unwrap(), 0, 1);
        let steps: Vec<Json> = (0..100).map(|number| json!({ "name": "x".repeat(90), "at": number })).collect();
        log.add(1, &json!({ "tool": "t" }), &steps);
        let calls = log.calls();
        let kept = calls[0]["steps"].as_array().unwrap();
        assert!((30..100).contains(&kept.len()) && kept[..] == steps[..kept.len()], "{}", kept.len());
    }

    #[test]
    fn a_record_that_is_half_written_is_no_call() {
        use std::os::unix::fs::FileExt as _;
        let file = tempfile::tempfile().unwrap();
        let log = CallLog::in_file(file.try_clone().unwrap(), 0, 1);
        log.add(1, &json!({ "tool": "one" }), &[]);
        log.add(2, &json!({ "tool": "two" }), &[]);
        file.write_all_at(b"?", 20).unwrap();
        assert_eq!(numbers(&log), [2]);
    }
}
