//! The files of a specification, and a walk through them that follows references.
//!
//! A specification is read as JSON and not as a model of OpenAPI: one operation that is wrong must
//! not cost the others.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read as _,
    path::{Component, Path, PathBuf},
    time::Duration,
};

use millrace_bundler::{Diagnostic, foreign_yaml};
use millrace_core::{
    Json,
    headers::Headers,
    ports::{Clock as _, HttpClient as _, HttpRequest},
    url::percent_decoded,
};
use millrace_native::{clock::SystemClock, http_client::NativeHttpClient, isolate};

use crate::output::{CommandError, CommandResult};

/// The longest file, in bytes. GitHub's has 13 MB.
const MAX_FILE: usize = 64 << 20;
/// The most files of a specification.
const MAX_FILES: usize = 200;
/// The most references that lead to one another.
const MAX_CHAIN: usize = 32;
/// How long a server may take to send a specification.
const PATIENCE: Duration = Duration::from_secs(60);

/// A specification.
pub(super) struct Document {
    /// The file or URL, as it was named.
    pub(super) shown: String,
    files: Vec<File>,
    /// The place in `files` by the path.
    places: BTreeMap<PathBuf, usize>,
    /// What could not be read, in clauses.
    pub(super) notes: Vec<String>,
    /// The references that led nowhere since the last look.
    problems: RefCell<BTreeSet<String>>,
}

struct File {
    /// Its folder; `None` for one from a server.
    folder: Option<PathBuf>,
    root: Json,
}

/// A value of a specification.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    document: &'a Document,
    file: usize,
    pub(super) value: &'a Json,
}

impl Document {
    /// Reads a specification and the files beside it that it refers to.
    ///
    /// # Errors
    /// It cannot be read, or is none of OpenAPI 3.
    pub(super) fn open(shown: &str) -> CommandResult<Self> {
        let is_remote = is_url(shown);
        let text = if is_remote { fetched(shown)? } else { file_text(Path::new(shown)).map_err(CommandError::Wrong)? };
        let mut document =
            Self { shown: shown.to_owned(), files: Vec::new(), places: BTreeMap::new(), notes: Vec::new(), problems: RefCell::default() };
        let (root, notes) = parsed(shown, &text).map_err(CommandError::Wrong)?;
        check_version(shown, &root)?;
        document.notes = notes;
        let folder = (!is_remote).then(|| Path::new(shown).parent().map(Path::to_path_buf).unwrap_or_default());
        document.files.push(File { folder: folder.clone(), root });
        if let Some(folder) = folder {
            document.read_others(&folder);
        }
        Ok(document)
    }

    /// The root of its first file.
    pub(super) fn root(&self) -> Node<'_> {
        Node { document: self, file: 0, value: self.files.first().map_or(&Json::Null, |file| &file.root) }
    }

    /// The references that led nowhere since the last look, as a clause.
    pub(super) fn take_problems(&self) -> Option<String> {
        let problems: Vec<String> = self.problems.take().into_iter().collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }

    /// Reads the files that references name, from file to file.
    fn read_others(&mut self, main: &Path) {
        let Ok(main) = if main.as_os_str().is_empty() { Path::new(".") } else { main }.canonicalize() else { return };
        let mut at = 0;
        while let Some(File { folder: Some(folder), root }) = self.files.get(at) {
            let mut names = BTreeSet::new();
            collect_files(root, &mut names);
            let folder = folder.clone();
            for name in names {
                let path = joined(&folder, &name);
                if self.places.contains_key(&path) || self.files.len() >= MAX_FILES {
                    continue;
                }
                // A specification of somebody else names no file outside of its own folder.
                let is_inside = path.canonicalize().is_ok_and(|found| found.starts_with(&main));
                let read =
                    if is_inside { file_text(&path) } else { Err(format!("`{name}` is not a file in the folder of the specification")) };
                match read.and_then(|text| parsed(&path.display().to_string(), &text)) {
                    Ok((root, notes)) => {
                        self.notes.extend(notes);
                        self.places.insert(path.clone(), self.files.len());
                        self.files.push(File { folder: path.parent().map(Path::to_path_buf), root });
                    }
                    Err(why) => self.notes.push(why),
                }
            }
            at += 1;
        }
    }

    /// Where a reference leads.
    fn target(&self, from: usize, reference: &str) -> Result<Node<'_>, String> {
        let (name, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let file = match name {
            "" => from,
            name if is_url(name) => return Err(format!("the reference `{reference}` names another server, which is not asked")),
            name => {
                let folder = self.files.get(from).and_then(|file| file.folder.as_deref());
                let folder =
                    folder.ok_or_else(|| format!("the reference `{reference}` names a file beside a URL, which is not asked for"))?;
                let place = self.places.get(&joined(folder, name));
                *place.ok_or_else(|| format!("the reference `{reference}` names a file that cannot be read"))?
            }
        };
        let nowhere = || format!("the reference `{reference}` leads nowhere");
        let root = self.files.get(file).map(|file| &file.root).ok_or_else(nowhere)?;
        let pointer = percent_decoded(pointer).ok_or_else(nowhere)?;
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err(format!("the reference `{reference}` has an anchor, and only JSON Pointers are followed"));
        }
        let value = root.pointer(&pointer).ok_or_else(nowhere)?;
        Ok(Node { document: self, file, value })
    }
}

impl<'a> Node<'a> {
    /// Another value, whose references are those of the same file.
    pub(super) fn with(self, value: &'a Json) -> Self {
        Self { value, ..self }
    }

    /// The value that a reference leads to, or this one; `None` where it leads nowhere.
    pub(super) fn resolved(self) -> Option<Self> {
        let mut node = self;
        for _ in 0..MAX_CHAIN {
            let Some(reference) = node.value.get("$ref").and_then(Json::as_str) else { return Some(node) };
            match self.document.target(node.file, reference) {
                Ok(target) => node = target,
                Err(why) => {
                    self.document.problems.borrow_mut().insert(why);
                    return None;
                }
            }
        }
        let reference = self.value.get("$ref").and_then(Json::as_str).unwrap_or_default();
        self.document.problems.borrow_mut().insert(format!("the reference `{reference}` leads to itself"));
        None
    }

    /// A member, with its reference followed; `None` also for null.
    pub(super) fn get(self, key: &str) -> Option<Self> {
        self.raw(key)?.resolved()
    }

    /// A member as it is written; `None` also for null.
    pub(super) fn raw(self, key: &str) -> Option<Self> {
        self.value.get(key).filter(|value| !value.is_null()).map(|value| self.with(value))
    }

    /// The elements of a list, with their references followed.
    pub(super) fn items(self) -> impl Iterator<Item = Self> {
        self.raw_items().filter_map(Self::resolved)
    }

    /// The elements of a list as they are written.
    pub(super) fn raw_items(self) -> impl Iterator<Item = Self> {
        self.value.as_array().into_iter().flatten().map(move |value| self.with(value))
    }

    /// The members of a map as they are written.
    pub(super) fn entries(self) -> impl Iterator<Item = (&'a str, Self)> {
        self.value.as_object().into_iter().flatten().map(move |(key, value)| (key.as_str(), self.with(value)))
    }

    /// The text of a member.
    pub(super) fn text(self, key: &str) -> Option<&'a str> {
        self.value.get(key).and_then(Json::as_str)
    }

    /// Whether a member is true.
    pub(super) fn is(self, key: &str) -> bool {
        self.value.get(key) == Some(&Json::Bool(true))
    }

    /// What tells values of a specification apart, whatever led to them.
    pub(super) fn identity(self) -> *const Json {
        self.value
    }
}

/// Whether a name is a URL of HTTP.
pub(super) fn is_url(name: &str) -> bool {
    name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"))
        || name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"))
}

/// Says what to do with what is not OpenAPI 3.
fn check_version(shown: &str, root: &Json) -> CommandResult {
    let of = |key: &str| root.get(key).map(|version| version.as_str().map_or_else(|| version.to_string(), str::to_owned));
    match (of("openapi"), of("swagger")) {
        (Some(version), _) if version.starts_with("3.") || version == "3" => Ok(()),
        (None, Some(version)) => {
            let command = "`npx swagger2openapi SPEC --outfile openapi.json`";
            Err(CommandError::Wrong(format!(
                "`{shown}` is Swagger {version}; convert it to OpenAPI 3, with {command}, and import the result"
            )))
        }
        (Some(version), _) => Err(CommandError::Wrong(format!("`{shown}` is OpenAPI {version}; versions 3.0 and 3.1 are read"))),
        (None, None) => {
            Err(CommandError::Wrong(format!("`{shown}` is not a specification of OpenAPI: the key `openapi` with its version is missing")))
        }
    }
}

/// The text of a file.
fn file_text(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| format!("`{shown}` cannot be read: {error}");
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(unreadable)?.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > MAX_FILE {
        return Err(format!("`{shown}` is longer than {} MB", MAX_FILE >> 20));
    }
    let text = String::from_utf8(bytes).map_err(|_| format!("`{shown}` is not UTF-8"))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The text that a server has at a URL.
fn fetched(url: &str) -> CommandResult<String> {
    let address = url.to_owned();
    let ask = move || async move {
        let clock = std::rc::Rc::new(SystemClock);
        let deadline_ms = clock.now_ms() + PATIENCE.as_millis() as u64;
        let request = HttpRequest {
            method: "GET".to_owned(),
            url: address,
            headers: Headers::default(),
            body: Vec::new(),
            deadline_ms,
            max_response_bytes: MAX_FILE,
            public_only: false,
        };
        NativeHttpClient::new(clock).send(request).await
    };
    let response = isolate::run(ask)
        .map_err(CommandError::wrong)?
        .map_err(|error| CommandError::Wrong(format!("`{url}` cannot be read: {}", error.message)))?;
    match response.status {
        200 => String::from_utf8(response.body).map_err(|_| CommandError::Wrong(format!("what `{url}` has is not UTF-8"))),
        status @ 300..=399 => {
            let place = response.headers.first("location").unwrap_or("another place").to_owned();
            Err(CommandError::Wrong(format!("`{url}` answered {status} and names `{place}`; name that")))
        }
        status => Err(CommandError::Wrong(format!("`{url}` answered with the status {status}"))),
    }
}

/// A text as JSON or YAML, and what is wrong with a part of it.
fn parsed(shown: &str, text: &str) -> Result<(Json, Vec<String>), String> {
    if text.trim_start().starts_with('{')
        && let Ok(root) = serde_json::from_str(text)
    {
        return Ok((root, Vec::new()));
    }
    let line = |Diagnostic { file, line, column, message, .. }: &Diagnostic| format!("{}:{line}:{column} {message}", file.display());
    let (root, found) = foreign_yaml(shown, text);
    let notes: Vec<String> = found.iter().map(line).collect();
    match root {
        Some(root) => Ok((root, notes)),
        None => Err(notes.join("\n")),
    }
}

/// The files that the references of a value name.
fn collect_files(value: &Json, names: &mut BTreeSet<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| collect_files(item, names)),
        Json::Object(members) => {
            if let Some(Json::String(reference)) = members.get("$ref") {
                let name = reference.split('#').next().unwrap_or_default();
                if !name.is_empty() && !is_url(name) {
                    names.insert(name.to_owned());
                }
            }
            members.values().for_each(|member| collect_files(member, names));
        }
        _ => {}
    }
}

/// The path of a file that a reference names, without `.` and `..` where that can be.
fn joined(folder: &Path, name: &str) -> PathBuf {
    let name = percent_decoded(name).unwrap_or_else(|| name.to_owned());
    let mut path = PathBuf::new();
    for part in folder.join(name).components() {
        let can_go_up = path.components().next_back().is_some_and(|last| matches!(last, Component::Normal(_)));
        match part {
            Component::CurDir => {}
            Component::ParentDir if can_go_up => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}
