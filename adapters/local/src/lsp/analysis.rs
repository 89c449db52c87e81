//! Runs of the bundler for an editor, one after the other, in a thread of their own.

use std::{
    collections::BTreeMap,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, SyncSender, channel},
    },
    thread,
};

use millrace_bundler::{ChangeClass, Diagnostic, Report, Severity, Surface, SurfacePlaces, Texts, changes, editor::AppIndex};
use serde_json::{Value as Json, json};

use super::{
    documents::Lines,
    queue::{Analysed, Event, Found},
};
use crate::app;

/// An app that is to be looked at.
pub(super) struct Job {
    /// Its folder.
    pub(super) folder: PathBuf,
    /// The texts that are open, by their paths below the folder.
    pub(super) texts: BTreeMap<String, Arc<str>>,
    /// What was found before.
    pub(super) previous: Option<Arc<AppIndex>>,
    /// Set where something has changed meanwhile.
    pub(super) stop: Arc<AtomicBool>,
}

/// Starts the thread. What it finds goes to `events`.
///
/// # Errors
/// The system gives no thread.
pub(super) fn start(events: SyncSender<Event>) -> std::io::Result<Sender<Job>> {
    let (jobs, work) = channel();
    thread::Builder::new().name("analysis".to_owned()).spawn(move || run(&work, &events))?;
    Ok(jobs)
}

fn run(work: &Receiver<Job>, events: &SyncSender<Event>) {
    for Job { folder, texts, previous, stop } in work {
        // A panic is a defect, and never ends the server: what was found before stays.
        let found = panic::catch_unwind(AssertUnwindSafe(|| look(&folder, &texts, previous.as_deref(), &stop))).ok();
        let is_stopped = stop.load(Ordering::Relaxed);
        if events.send(Event::Analysed(Analysed { folder, found, texts, is_stopped })).is_err() {
            return;
        }
    }
}

fn look(folder: &Path, open: &BTreeMap<String, Arc<str>>, previous: Option<&AppIndex>, stop: &Arc<AtomicBool>) -> Found {
    let texts = Texts::new(open.clone());
    let (report, index) = app::compile_open(folder, &texts, previous, stop);
    let mut problems = Problems { folder, open, found: BTreeMap::new() };
    for diagnostic in report.diagnostics.iter().chain(&app::broken_env_file(folder)) {
        problems.add(diagnostic);
    }
    problems.add_changes(&report);
    let by_file = problems.found.into_iter().map(|(file, OfFile { told, .. })| (file, told)).collect();
    Found { index: Arc::new(index), problems: by_file, is_app: has_root(folder) || open.contains_key("millrace.yaml") }
}

/// The names of the root file of an app.
const ROOT_FILES: [&str; 3] = ["millrace.yaml", "millrace.yml", ".hyperterse"];

/// Whether a folder is that of an app.
pub(super) fn has_root(folder: &Path) -> bool {
    ROOT_FILES.iter().any(|name| folder.join(name).is_file())
}

/// What is wrong with the files of an app.
struct Problems<'a> {
    folder: &'a Path,
    open: &'a BTreeMap<String, Arc<str>>,
    found: BTreeMap<String, OfFile>,
}

struct OfFile {
    text: Arc<str>,
    told: Vec<Json>,
}

impl Problems<'_> {
    fn of_file(&mut self, file: &str) -> &mut OfFile {
        let text = || {
            let read = || std::fs::read_to_string(self.folder.join(file)).unwrap_or_default().into();
            self.open.get(file).cloned().unwrap_or_else(read)
        };
        if !self.found.contains_key(file) {
            let text = text();
            self.found.insert(file.to_owned(), OfFile { text, told: Vec::new() });
        }
        self.found.entry(file.to_owned()).or_insert_with(|| OfFile { text: "".into(), told: Vec::new() })
    }

    fn add(&mut self, diagnostic: &Diagnostic) {
        let Diagnostic { severity, file, line, column, length, message, help } = diagnostic;
        let of_file = self.of_file(&file.to_string_lossy().replace('\\', "/"));
        let range = Lines::new(of_file.text.trim_start_matches('\u{feff}')).of_characters(*line, *column, *length);
        let message = help.as_ref().map_or_else(|| message.clone(), |help| format!("{message}\n{help}"));
        let severity = match severity {
            Severity::Error => 1,
            Severity::Warning => 2,
        };
        of_file.told.push(json!({ "range": range, "severity": severity, "source": "millrace", "message": message }));
    }

    /// What callers rely on otherwise than `millrace.lock` says.
    fn add_changes(&mut self, report: &Report) {
        let accepted = report.lock.as_ref().and_then(|lock| lock.surface.as_ref());
        let (Some(app), Some(accepted)) = (&report.app, accepted) else { return };
        let mut places = SurfacePlaces::new(self.folder, report);
        for change in changes(accepted, &Surface::of(app)) {
            let (severity, code) = match change.class {
                ChangeClass::Breaks => (1, "breaks callers"),
                ChangeClass::Seen => (3, "models see"),
                ChangeClass::Compatible => continue,
            };
            let place = places.of(&change);
            let mut parts = place.rsplitn(3, ':');
            let mut number = || parts.next().and_then(|part| part.parse::<usize>().ok()).unwrap_or(1);
            let (column, line) = (number(), number());
            let file = parts.next().unwrap_or("millrace.yaml").to_owned();
            let of_file = self.of_file(&file);
            let range = Lines::new(of_file.text.trim_start_matches('\u{feff}')).of_characters(line, column, 0);
            let message = format!("{code}: {change}\nKeep what callers rely on; or take it as it is by `millrace check --accept`.");
            of_file.told.push(json!({ "range": range, "severity": severity, "code": code, "source": "millrace", "message": message }));
        }
    }
}
