//! The app's folder: lists and reads below it, and nowhere else.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::texts::Texts;

/// The longest YAML file, in bytes.
pub(crate) const MAX_YAML: u64 = 1 << 20;

/// The longest file that goes into the bundle as it is, in bytes.
pub(crate) const MAX_EMBEDDED: u64 = 16 << 20;

/// The deepest folder below the app's folder.
const MAX_DEPTH: usize = 32;

/// The files of the app's folder.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    folder: PathBuf,
    real: PathBuf,
    /// What stands in place of some of them.
    texts: Texts,
}

/// The app's folder.
#[derive(Debug)]
pub(crate) struct Tree {
    files: Files,
    seen: HashSet<OsString>,
    /// What is below each folder that was walked.
    walked: HashMap<String, Vec<Item>>,
}

/// Something in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// Its name.
    pub(crate) name: String,
    /// Its path below the app's folder, with slashes.
    pub(crate) path: String,
    /// Whether it is a folder.
    pub(crate) is_folder: bool,
}

/// Why a file cannot be read. The text is a predicate: "is not there".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// There is no such file.
    Missing,
    /// It, or what it links to, is outside of the app's folder.
    Outside,
    /// It is longer than this many bytes.
    TooLong(u64),
    /// It is a folder, or something else that is not a file.
    NoFile,
    /// The system refuses.
    Refused(std::io::ErrorKind),
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("is not there"),
            Self::Outside => f.write_str("is outside of the app's folder"),
            Self::TooLong(limit) => write!(f, "is longer than {} MB", limit >> 20),
            Self::NoFile => f.write_str("is not a file"),
            Self::Refused(kind) => write!(f, "cannot be read: {kind}"),
        }
    }
}

impl Files {
    /// The bytes of a file of at most `limit` bytes.
    pub(crate) fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, Unreadable> {
        if let Some(text) = self.texts.get(path) {
            let is_short = u64::try_from(text.len()).is_ok_and(|length| length <= limit);
            return if is_short { Ok(text.as_bytes().to_vec()) } else { Err(Unreadable::TooLong(limit)) };
        }
        let full = self.folder.join(path);
        let refused = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Unreadable::Missing,
            kind => Unreadable::Refused(kind),
        };
        let real = fs::canonicalize(&full).map_err(refused)?;
        if !real.starts_with(&self.real) {
            return Err(Unreadable::Outside);
        }
        let metadata = fs::metadata(&real).map_err(refused)?;
        if !metadata.is_file() {
            return Err(Unreadable::NoFile);
        }
        if metadata.len() > limit {
            return Err(Unreadable::TooLong(limit));
        }
        fs::read(&real).map_err(refused)
    }
}

impl Tree {
    /// Takes a folder, and texts that stand in place of some of its files. `None` where there is no
    /// such folder.
    pub(crate) fn open(folder: &Path, texts: &Texts) -> Option<Self> {
        let real = fs::canonicalize(folder).ok().filter(|real| real.is_dir())?;
        let files = Files { folder: folder.to_owned(), real, texts: texts.clone() };
        Some(Self { files, seen: HashSet::new(), walked: HashMap::new() })
    }

    /// The texts that stand in place of files.
    pub(crate) fn texts(&self) -> &Texts {
        &self.files.texts
    }

    /// The folder as it was given.
    pub(crate) fn folder(&self) -> &Path {
        &self.files.folder
    }

    /// What is in a folder, sorted by name; nothing where there is no such folder. A link that
    /// leads out is left out, and so is a name that is not UTF-8.
    pub(crate) fn list(&mut self, folder: &str) -> Vec<Item> {
        let path = self.files.folder.join(folder);
        let Ok(entries) = fs::read_dir(&path) else { return Vec::new() };
        self.seen.insert(path.into());
        let mut items: Vec<Item> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let name = entry.file_name().into_string().ok()?;
                let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                Some(Item { is_folder: entry.file_type().ok()?.is_dir(), name, path })
            })
            .collect();
        for name in self.files.texts.names(folder) {
            if items.iter().all(|item| item.name != name) {
                let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                items.push(Item { name: name.to_owned(), path, is_folder: false });
            }
        }
        items.sort_by(|a, b| a.name.cmp(&b.name));
        items
    }

    /// Every file below a folder: sorted by path, files of a folder before its folders. Hidden
    /// files, `node_modules` and folders behind links are left out. A folder is walked once.
    pub(crate) fn walk(&mut self, folder: &str) -> Vec<Item> {
        if let Some(files) = self.walked.get(folder) {
            return files.clone();
        }
        let mut files = Vec::new();
        self.walk_into(folder, 0, &mut files);
        self.walked.insert(folder.to_owned(), files.clone());
        files
    }

    fn walk_into(&mut self, folder: &str, depth: usize, files: &mut Vec<Item>) {
        if depth > MAX_DEPTH {
            return;
        }
        let (folders, found): (Vec<Item>, Vec<Item>) = self
            .list(folder)
            .into_iter()
            .filter(|item| !item.name.starts_with('.') && item.name != "node_modules")
            .partition(|item| item.is_folder);
        files.extend(found);
        for item in folders {
            self.walk_into(&item.path, depth + 1, files);
        }
    }

    /// The bytes of a file of at most `limit` bytes.
    pub(crate) fn read(&mut self, path: &str, limit: u64) -> Result<Vec<u8>, Unreadable> {
        self.saw([PathBuf::from(path)]);
        self.files.read(path, limit)
    }

    /// The files, for whoever notes which were read.
    pub(crate) fn files(&self) -> Files {
        self.files.clone()
    }

    /// Whether there is such a file.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.files.texts.get(path).is_some() || self.files.folder.join(path).is_file()
    }

    /// Whether there is such a folder.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        self.files.folder.join(path).is_dir()
    }

    /// The path below the app's folder that `reference` means in the folder `base`; `None` where it
    /// leads out.
    pub(crate) fn resolve(&self, base: &str, reference: &str) -> Option<String> {
        let reference = Path::new(reference);
        let path = if reference.is_absolute() {
            let below = reference.strip_prefix(&self.files.folder).or_else(|_| reference.strip_prefix(&self.files.real)).ok()?;
            below.to_owned()
        } else {
            Path::new(base).join(reference)
        };
        let mut segments: Vec<&str> = Vec::new();
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) => segments.push(name.to_str()?),
                Component::ParentDir => {
                    segments.pop()?;
                }
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(segments.join("/"))
    }

    /// Whether a file was read, or is one that someone else read.
    pub(crate) fn has_seen(&self, path: &str) -> bool {
        self.seen.contains(self.files.folder.join(path).as_os_str())
    }

    /// Notes files that someone else read.
    pub(crate) fn saw(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        for file in files {
            self.seen.insert(self.files.folder.join(file).into());
        }
    }

    /// Every file that was read and every folder that was listed, sorted.
    pub(crate) fn into_seen(self) -> Vec<PathBuf> {
        let mut seen: Vec<PathBuf> = self.seen.into_iter().map(PathBuf::from).collect();
        seen.sort();
        seen
    }
}

/// The folder of a path below the app's folder; empty for the app's folder itself.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The name of a file without its extension.
pub(crate) fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Whether a name is that of a YAML file of the app: `.yaml`, `.yml` or `.terse`, in any case; one
/// of tests is none.
pub(crate) fn is_yaml(name: &str) -> bool {
    has_yaml_ending(name) && !is_test(name)
}

/// Whether a name is that of a file of tests: `NAME.test.yaml` or the like.
pub(crate) fn is_test(name: &str) -> bool {
    has_yaml_ending(name) && stem(name).len() > 5 && stem(name).to_ascii_lowercase().ends_with(".test")
}

fn has_yaml_ending(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["yaml", "yml", "terse"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Whether a name is `config.yaml` or the like.
pub(crate) fn is_config(name: &str) -> bool {
    is_yaml(name) && stem(name).eq_ignore_ascii_case("config")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::open(folder.path(), &Texts::default()).unwrap();
        let cases = [
            ("app/tools/x", "./handler.ts", Some("app/tools/x/handler.ts")),
            ("app/tools/x", "../y.ts", Some("app/tools/y.ts")),
            ("", "a/./b//c", Some("a/b/c")),
            ("app", "../../x", None),
            ("app", "/etc/passwd", None),
        ];
        for (base, reference, expected) in cases {
            assert_eq!(tree.resolve(base, reference).as_deref(), expected, "{base} {reference}");
        }
        let inside = folder.path().join("x.ts");
        assert_eq!(tree.resolve("app", inside.to_str().unwrap()).as_deref(), Some("x.ts"));
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_refused() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "x").unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
        let mut tree = Tree::open(folder.path(), &Texts::default()).unwrap();
        assert_eq!(tree.read("link", 10), Err(Unreadable::Outside));
        assert_eq!(tree.read("none", 10), Err(Unreadable::Missing));
        assert_eq!(tree.read("", 10), Err(Unreadable::NoFile));
        assert_eq!(tree.walk("").len(), 2);
    }
}
