//! The folder of a build: what earlier builds left in it, and what is nobody's.
//!
//! Every build lists its files in `.millrace-build`, with size and time of each. The next one, of
//! whatever target, removes those of the list that it did not write again. A file that no build
//! made, or that was changed since, is never removed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Component, Path, PathBuf},
    time::UNIX_EPOCH,
};

use millrace_core::hex;
use sha2::{Digest as _, Sha256};

use crate::output::{CommandError, CommandResult, note};

/// The list.
const LIST: &str = ".millrace-build";
/// Targets that make single files: those of one stay beside those of the others.
const SINGLE_FILES: [&str; 3] = ["local", "mcpb", "registry"];

/// The folder that a build writes to.
pub(super) struct Output<'a> {
    folder: &'a Path,
    target: &'static str,
    written: BTreeSet<String>,
}

/// A file's size and time: what is there unless somebody changed it.
type State = (u64, u128);

/// What earlier builds made.
#[derive(Default)]
struct Listed {
    target: String,
    files: BTreeMap<String, State>,
}

impl<'a> Output<'a> {
    pub(super) fn new(folder: &'a Path, target: &'static str) -> Self {
        Self { folder, target, written: BTreeSet::new() }
    }

    /// The path of a file of the build, which is then one of its files.
    pub(super) fn path(&mut self, name: &str) -> PathBuf {
        self.written.insert(name.to_owned());
        self.folder.join(name)
    }

    /// Writes a file unless it has these bytes already: a watcher of the folder restarts at every
    /// write.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&mut self, name: &str, bytes: &[u8]) -> CommandResult {
        let path = self.path(name);
        write(&path, bytes).map_err(|error| CommandError::Wrong(format!("`{}` cannot be written: {error}", path.display())))
    }

    /// Lets every user of a machine read the files of this build, once it is finished, and the
    /// folders between, and run one of them, whatever the umask is: where a package is unpacked,
    /// somebody else reads it. A folder with files of others stays as it is.
    ///
    /// # Errors
    /// The permissions cannot be changed.
    #[cfg(unix)]
    pub(super) fn allow_to_read(&self, program: &str) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let mut modes: BTreeMap<PathBuf, u32> = BTreeMap::from([(self.folder.join(LIST), 0o644)]);
        if self.foreign().is_empty() {
            modes.insert(self.folder.to_owned(), 0o755);
        }
        for name in &self.written {
            let file = self.folder.join(name);
            let folders = Path::new(name).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
            modes.extend(folders.map(|folder| (self.folder.join(folder), 0o755)));
            modes.insert(file, if name == program { 0o755 } else { 0o644 });
        }
        for (path, mode) in modes.into_iter().filter(|(path, _)| path.exists()) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// Windows has no such permissions; `sam` gives them to what it zips there.
    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "as on the other systems")]
    pub(super) fn allow_to_read(&self, _: &str) -> io::Result<()> {
        Ok(())
    }

    /// Removes what earlier builds made and this one did not, and writes the list. Single files,
    /// such as bundles of other apps, stay.
    ///
    /// # Errors
    /// A file cannot be removed, or the list cannot be written.
    pub(super) fn finish(&self) -> CommandResult {
        let failed = |error: io::Error| CommandError::Wrong(format!("`{}` cannot be written: {error}", self.folder.display()));
        let listed = Listed::read(self.folder);
        let is_beside = SINGLE_FILES.contains(&self.target) && SINGLE_FILES.contains(&listed.target.as_str());
        let mut files: BTreeMap<&str, State> = BTreeMap::new();
        let (mut removed, mut kept) = (0, Vec::new());
        for (name, state) in listed.files.iter().filter(|(name, _)| !self.written.contains(*name)) {
            let path = self.folder.join(name);
            match state_of(&path) {
                None => {}
                Some(_) if is_beside => drop(files.insert(name, *state)),
                Some(found) if found == *state => {
                    fs::remove_file(&path).map_err(failed)?;
                    removed += 1;
                    // Folders that held nothing else; one that holds something cannot be removed.
                    let mut above = path.parent();
                    while let Some(folder) = above.filter(|folder| *folder != self.folder && fs::remove_dir(folder).is_ok()) {
                        above = folder.parent();
                    }
                }
                Some(_) => kept.push(path),
            }
        }
        if removed > 0 {
            note(format_args!("removed {removed} files of an earlier build for `{}` from `{}`", listed.target, self.folder.display()));
        }
        for path in kept {
            note(format_args!("`{}` is of an earlier build, but was changed since: remove it if nobody needs it", path.display()));
        }
        files.extend(self.written.iter().filter_map(|name| Some((name.as_str(), state_of(&self.folder.join(name))?))));
        let lines: String = files.iter().map(|(name, (size, time))| format!("{size} {time} {name}\n")).collect();
        let head =
            format!("# The files that `millrace build` made here. The next build removes those that it does not need.\n{}\n", self.target);
        write(&self.folder.join(LIST), (head + &lines).as_bytes()).map_err(failed)
    }

    /// What is in the folder and not of this build, once it is finished: files, and folders that
    /// have none of its files.
    pub(super) fn foreign(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.foreign_below("", &mut names);
        names.sort_unstable();
        names
    }

    fn foreign_below(&self, prefix: &str, names: &mut Vec<String>) {
        for entry in fs::read_dir(self.folder.join(prefix)).into_iter().flatten().flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let below = format!("{name}/");
            if name == LIST || self.written.contains(&name) {
                continue;
            }
            match self.written.iter().any(|file| file.starts_with(&below)) {
                true => self.foreign_below(&below, names),
                false => names.push(name),
            }
        }
    }
}

impl Listed {
    /// What the list says; nothing, where there is none. A path that leads out of the folder is
    /// none of a build's.
    fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join(LIST)).unwrap_or_default();
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let target = lines.next().unwrap_or_default().to_owned();
        let file = |line: &str| {
            let mut parts = line.splitn(3, ' ');
            let state = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let name = parts.next()?;
            let is_below = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
            is_below.then(|| (name.to_owned(), state))
        };
        Self { target, files: lines.filter_map(file).collect() }
    }
}

/// The state of a file; `None` where there is none. A link is not followed: a build makes none.
fn state_of(path: &Path) -> Option<State> {
    let data = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let time = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((data.len(), time.as_nanos()))
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    let unfinished = PathBuf::from(format!("{}.new", path.display()));
    fs::write(&unfinished, bytes)?;
    fs::rename(&unfinished, path)
}

/// The SHA-256 of a file, as hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            match entry.path().is_dir() {
                true => names.extend(self::names(&entry.path()).iter().map(|below| format!("{name}/{below}"))),
                false => names.push(name),
            }
        }
        names.sort_unstable();
        names
    }

    fn build(folder: &Path, target: &'static str, files: &[&str]) -> Vec<String> {
        let mut output = Output::new(folder, target);
        for name in files {
            output.write(name, name.as_bytes()).unwrap();
        }
        output.finish().unwrap();
        output.foreign()
    }

    #[test]
    fn a_build_removes_what_an_earlier_one_made_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let dist = folder.path().join("dist");
        fs::write(folder.path().join("outside"), "x").unwrap();
        assert!(build(&dist, "worker", &["entry.mjs", "runtime/a/b.js", "runtime/index.js", "wrangler.toml"]).is_empty());
        for (name, text) in [("notes.txt", "mine"), ("runtime/a/mine.js", "mine"), ("wrangler.toml", "changed")] {
            fs::write(dist.join(name), text).unwrap();
        }
        let foreign = build(&dist, "lambda", &["bootstrap", "data/x.db"]);
        assert_eq!(foreign, ["notes.txt", "runtime", "wrangler.toml"]);
        assert_eq!(names(&dist), [LIST, "bootstrap", "data/x.db", "notes.txt", "runtime/a/mine.js", "wrangler.toml"]);
        // A list that somebody else wrote leads nowhere else, and a build of the same target renews
        // its files.
        let list = fs::read_to_string(dist.join(LIST)).unwrap();
        let (size, time) = state_of(&folder.path().join("outside")).unwrap();
        fs::write(dist.join(LIST), format!("{list}{size} {time} ../outside\nnonsense\n")).unwrap();
        fs::write(dist.join("data/mine.db"), "mine").unwrap();
        assert_eq!(build(&dist, "lambda", &["bootstrap", "data/y.db"]), ["data/mine.db", "notes.txt", "runtime", "wrangler.toml"]);
        fs::remove_file(dist.join("data/mine.db")).unwrap();
        build(&dist, "lambda", &["bootstrap"]);
        assert_eq!(names(&dist), [LIST, "bootstrap", "notes.txt", "runtime/a/mine.js", "wrangler.toml"]);
        assert!(folder.path().join("outside").exists());
    }

    #[test]
    fn bundles_of_several_apps_stay_beside_each_other() {
        let folder = tempfile::tempdir().unwrap();
        build(folder.path(), "local", &["a.bundle"]);
        build(folder.path(), "local", &["b.bundle"]);
        assert_eq!(names(folder.path()), [LIST, "a.bundle", "b.bundle"]);
        build(folder.path(), "mcpb", &["a.mcpb"]);
        build(folder.path(), "registry", &["server.json"]);
        assert_eq!(names(folder.path()), [LIST, "a.bundle", "a.mcpb", "b.bundle", "server.json"]);
        build(folder.path(), "worker", &["entry.mjs"]);
        assert_eq!(names(folder.path()), [LIST, "entry.mjs"]);
    }
}
