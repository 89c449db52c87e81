//! The apps that an editor has files of.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use millrace_bundler::editor::AppIndex;
use serde_json::Value as Json;

use super::analysis::has_root;

/// How long nothing has to change before an app is looked at again.
const QUIET: Duration = Duration::from_millis(150);

/// How long a change waits for others at the most.
const LONGEST: Duration = Duration::from_secs(1);

/// How often in a row an app is not looked at to the end, because something changes.
const MOST_STOPS: u8 = 3;

/// The most apps.
const MOST: usize = 100;

/// An app.
#[derive(Default)]
pub(super) struct App {
    /// What was found of it last.
    pub(super) index: Option<Arc<AppIndex>>,
    /// When it changed first and last since it was looked at.
    changed: Option<(Instant, Instant)>,
    /// Whether it is looked at now.
    pub(super) is_running: bool,
    /// Ends that early.
    stop: Arc<AtomicBool>,
    /// How often that was ended early, one after the other.
    stops: u8,
    /// What was said about its files, by their paths below its folder.
    pub(super) told: BTreeMap<String, Vec<Json>>,
}

impl App {
    /// Notes that something of it changed.
    pub(super) fn changed(&mut self) {
        let now = Instant::now();
        self.changed = Some((self.changed.map_or(now, |(first, _)| first), now));
        // Whoever types on waits for nothing that was before; but what was found grows old.
        if self.is_running && self.index.is_some() && self.stops < MOST_STOPS {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Whether what was found is what its files say now.
    pub(super) fn is_fresh(&self) -> bool {
        self.index.is_some() && self.changed.is_none() && !self.is_running
    }

    /// When it is to be looked at.
    pub(super) fn due(&self, at_once: bool) -> Option<Instant> {
        let (first, last) = self.changed?;
        if at_once || self.index.is_none() { Some(first) } else { Some((last + QUIET).min(first + LONGEST)) }
    }

    /// Notes that it is looked at; gives what ends that early.
    pub(super) fn starts(&mut self) -> Arc<AtomicBool> {
        self.changed = None;
        self.is_running = true;
        self.stop = Arc::default();
        Arc::clone(&self.stop)
    }

    /// Notes that it was looked at, or that this was ended early.
    pub(super) fn ends(&mut self, is_stopped: bool) {
        self.is_running = false;
        self.stops = if is_stopped { self.stops + 1 } else { 0 };
    }
}

/// The apps, by their folders.
#[derive(Default)]
pub(super) struct Apps(BTreeMap<PathBuf, App>);

impl Apps {
    pub(super) fn get(&self, folder: &Path) -> Option<&App> {
        self.0.get(folder)
    }

    pub(super) fn get_mut(&mut self, folder: &Path) -> Option<&mut App> {
        self.0.get_mut(folder)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&PathBuf, &App)> {
        self.0.iter()
    }

    pub(super) fn remove(&mut self, folder: &Path) -> Option<App> {
        self.0.remove(folder)
    }

    /// The folder of the app that a file is in: the nearest one above it that has a root file.
    pub(super) fn folder_of(&self, file: &Path) -> Option<PathBuf> {
        let above = file.ancestors().skip(1).take(64);
        above.map(Path::to_owned).find(|folder| self.0.contains_key(folder) || has_root(folder))
    }

    /// The app that a file is in, which is looked at soon where it is new.
    pub(super) fn of_file(&mut self, file: &Path) -> Option<PathBuf> {
        let folder = self.folder_of(file)?;
        self.open(&folder).then_some(folder)
    }

    /// Takes up an app. False where there are too many.
    pub(super) fn open(&mut self, folder: &Path) -> bool {
        if self.0.contains_key(folder) {
            return true;
        }
        if self.0.len() >= MOST {
            return false;
        }
        let mut app = App::default();
        app.changed();
        self.0.insert(folder.to_owned(), app);
        true
    }
}
