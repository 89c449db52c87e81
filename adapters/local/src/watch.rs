//! Waits for changes of an app's files.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::app::ENV_FILE;

/// How long nothing has to change before a change counts: an editor that saves, or a checkout, is
/// many events.
const QUIET: Duration = Duration::from_millis(100);

/// How long a change waits for others at the most.
const LONGEST: Duration = Duration::from_secs(1);

/// The endings of what an app writes itself while it runs.
const DATABASES: [&str; 3] = ["db", "sqlite", "sqlite3"];

/// Watches the folders of an app's files.
///
/// Folders and not files: many editors save by putting a new file in the place of the old one,
/// which nobody sees who watches the old.
pub(crate) struct Watch {
    watcher: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
    watched: BTreeSet<PathBuf>,
    relevant: WatchedPaths,
}

/// Which paths matter.
#[derive(Default)]
struct WatchedPaths {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    /// What the app writes itself, whatever its name.
    databases: BTreeSet<PathBuf>,
}

impl Watch {
    /// Starts to watch an app's folder. `files` are the files and folders that the bundler read;
    /// see [`follow`](Self::follow).
    ///
    /// # Errors
    /// The operating system watches no more, or no such folder.
    pub(crate) fn start(folder: &Path, files: &[PathBuf]) -> notify::Result<Self> {
        let (sender, events) = channel();
        let watcher = notify::recommended_watcher(move |event| drop(sender.send(event)))?;
        let folder = folder.canonicalize()?;
        let mut relevant = WatchedPaths::default();
        relevant.files.insert(folder.join(ENV_FILE));
        let mut watch = Self { watcher, events, watched: BTreeSet::new(), relevant };
        watch.watch(&folder)?;
        watch.follow(files);
        Ok(watch)
    }

    /// Watches these, too; nothing is ever let go, so that a broken edit does not end the watch of
    /// what it broke.
    pub(crate) fn follow(&mut self, files: &[PathBuf]) {
        for file in files {
            let Ok(path) = file.canonicalize() else { continue };
            let parent = if path.is_dir() {
                self.relevant.folders.insert(path.clone());
                path
            } else {
                let parent = path.parent().map(Path::to_owned);
                self.relevant.files.insert(path);
                let Some(parent) = parent else { continue };
                parent
            };
            if let Err(error) = self.watch(&parent) {
                tracing::warn!(%error, folder = %parent.display(), "a folder cannot be watched; restart after a change in it");
            }
        }
    }

    /// Lets these databases be written.
    pub(crate) fn ignore(&mut self, databases: &[PathBuf]) {
        let real = |path: &PathBuf| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
        self.relevant.databases.extend(databases.iter().filter_map(real));
    }

    /// Waits until something of the app changed, and then until nothing more of it changes, or a
    /// second has passed. `false`: there is nothing left to watch.
    pub(crate) fn changed(&mut self) -> bool {
        loop {
            match self.events.recv() {
                Ok(event) if self.relevant.concerns(&event) => break,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        // What does not concern the app, such as its database, may never be quiet; and what does
        // must not be either.
        let latest = Instant::now() + LONGEST;
        let mut quiet = Instant::now() + QUIET;
        loop {
            let now = Instant::now();
            let until = quiet.min(latest);
            if now >= until {
                return true;
            }
            match self.events.recv_timeout(until - now) {
                Ok(event) if self.relevant.concerns(&event) => quiet = Instant::now() + QUIET,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    fn watch(&mut self, folder: &Path) -> notify::Result<()> {
        if !self.watched.contains(folder) {
            self.watcher.watch(folder, RecursiveMode::NonRecursive)?;
            self.watched.insert(folder.to_owned());
        }
        Ok(())
    }
}

impl WatchedPaths {
    fn concerns(&self, event: &notify::Result<Event>) -> bool {
        match event {
            Ok(event) => {
                event.need_rescan() || !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(|path| self.has(path))
            }
            // Events were lost; something may have changed.
            Err(_) => true,
        }
    }

    fn has(&self, path: &Path) -> bool {
        let is_new =
            |parent: &Path| self.folders.contains(parent) && !is_byproduct(path) && !self.databases.contains(&parent.join(written(path)));
        self.files.contains(path) || path.parent().is_some_and(is_new)
    }
}

/// The name of the database that a file belongs to, or else of the file.
fn written(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ["-wal", "-shm", "-journal"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// What a database or an editor puts beside the app's files.
fn is_byproduct(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let is_database =
        Path::new(written(path)).extension().is_some_and(|ending| DATABASES.iter().any(|database| ending.eq_ignore_ascii_case(database)));
    // The types are written anew with each version of the app.
    is_database
        || name == "millrace.d.ts"
        || name.starts_with('.')
        || name.ends_with('~')
        // Of `dev` itself, perhaps: each version would be followed by another.
        || name.ends_with(".log")
        || name.ends_with(".swp")
        || name.ends_with(".tmp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_and_editors_leftovers_are_no_change() {
        let mut relevant = WatchedPaths::default();
        relevant.folders.insert("/app".into());
        relevant.files.extend(["/app/.env".into(), "/elsewhere/seed.sql".into(), "/app/fixed.db".into()]);
        relevant.databases.insert("/app/notes.data".into());
        for path in ["/app/other.data", "/app/new.yaml", "/app/new-tool", "/app/.env", "/elsewhere/seed.sql", "/app/fixed.db"] {
            assert!(relevant.has(Path::new(path)), "{path}");
        }
        for path in [
            "/app/shop.db",
            "/app/shop.db-wal",
            "/app/shop.SQLITE3-journal",
            "/app/.millrace",
            "/app/state.db-shm",
            "/app/notes.data",
            "/app/notes.data-journal",
            "/app/.0123.isolate",
            "/app/.x.yaml.swp",
            "/app/x.yaml~",
            "/app/dev.log",
            "/elsewhere/x.yaml",
            "/app",
        ] {
            assert!(!relevant.has(Path::new(path)), "{path}");
        }
    }

    /// Whether a change is seen while a file in the app's folder is written again and again.
    fn sees_a_change_beside(busy: &'static str) {
        use std::{
            sync::{
                Arc,
                atomic::{AtomicBool, Ordering},
            },
            thread,
        };

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        std::fs::write(path.join("millrace.yaml"), "name: a\n").unwrap();
        let mut watch = Watch::start(&path, &[path.clone(), path.join("millrace.yaml")]).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let (written, is_written) = channel();
        let writer = thread::spawn({
            let (is_over, path) = (is_over.clone(), path.clone());
            move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::fs::write(path.join(busy), "x").unwrap();
                    let _ = written.send(());
                    thread::sleep(Duration::from_millis(2));
                }
            }
        });
        is_written.recv().unwrap();
        let (seen, is_seen) = channel();
        let watcher = thread::spawn(move || seen.send(watch.changed()));
        std::fs::write(path.join("millrace.yaml"), "name: b\n").unwrap();
        let changed = is_seen.recv_timeout(Duration::from_secs(60));
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(changed, Ok(true), "{busy}");
        writer.join().unwrap();
        watcher.join().unwrap().unwrap();
    }

    #[test]
    fn a_change_is_seen_while_something_in_the_folder_is_never_quiet() {
        // What does not concern the app, and what does.
        for busy in ["notes.db-wal", "log.txt"] {
            sees_a_change_beside(busy);
        }
    }
}
