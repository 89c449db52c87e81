//! Who still lives: an isolate has a file, and holds a lock on it that the system takes back when
//! the isolate's process ends.

use std::{
    ffi::OsStr,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use millrace_core::ports::Random;

/// The ending of a file that is not finished.
pub(super) const UNFINISHED: &str = "new";
/// The ending of an isolate's file.
const ENDING: &str = "isolate";

/// The lock of an isolate; given back, and its file removed, when it is dropped.
pub(super) struct Holder {
    pub(super) name: String,
    path: PathBuf,
    _file: File,
}

impl Holder {
    /// A name that no other isolate has.
    pub(super) fn new(folder: &Path, random: &dyn Random) -> io::Result<Self> {
        let name = new_name(random);
        let (path, unfinished) = (path(folder, &name), folder.join(format!(".{name}.{UNFINISHED}")));
        let file = File::create_new(&unfinished)?;
        // Locked before others can find it: one that they find and nobody holds counts as one whose
        // isolate has ended.
        let placed = file.lock().and_then(|()| fs::rename(&unfinished, &path));
        if placed.is_err() {
            drop(fs::remove_file(&unfinished));
        }
        placed.map(|()| Self { name, path, _file: file })
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.path));
    }
}

fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".{name}.{ENDING}"))
}

/// A name that nobody has.
pub(super) fn new_name(random: &dyn Random) -> String {
    let mut bytes = [0; 16];
    random.fill(&mut bytes);
    millrace_core::hex::encode(&bytes)
}

/// Whether the isolate with this name may still live.
pub(super) fn may_run(folder: &Path, name: &str) -> bool {
    // What is not such a name is of a store of another kind.
    if name.len() != 32 || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return true;
    }
    is_held(&path(folder, name))
}

fn is_held(path: &Path) -> bool {
    match File::open(path) {
        // Several may look at once, so the lock is a shared one.
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Removes the files of isolates that have ended, and what nobody has finished. The folder's lock
/// is held.
pub(super) fn clear(folder: &Path) {
    let ended = with_ending(folder, ENDING).filter(|path| !is_held(path));
    // One that is being made is not locked for a moment.
    let unfinished = with_ending(folder, UNFINISHED).filter(|path| {
        let age = fs::metadata(path).and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
        age.is_some_and(|age| age.as_secs() > 60)
    });
    for path in ended.chain(unfinished) {
        drop(fs::remove_file(path));
    }
}

/// The files of a folder with this ending.
fn with_ending(folder: &Path, ending: &str) -> impl Iterator<Item = PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    found.filter(move |path| path.extension() == Some(OsStr::new(ending)))
}
