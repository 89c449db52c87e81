//! Packages: a script that imports one is bundled by [esbuild](https://esbuild.github.io) before it is linked.
//!
//! esbuild is the user's own: `ESBUILD_BIN`, else `node_modules/.bin/esbuild` of the app's folder or of a folder above it, else the
//! one in `PATH`. Nothing is ever downloaded. The app's folder needs a `package.json`, so that what is bundled is declared somewhere.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use regex::Regex;

use super::{place, places::Places};
use crate::{Diagnostic, Severity};

/// The import of a package.
#[derive(Clone, Copy, Debug)]
pub struct Import<'a> {
    /// The importing file, relative to the app's folder.
    pub file: &'a Path,
    /// Where the specifier stands.
    pub line: usize,
    /// Likewise.
    pub column: usize,
    /// `lodash/merge`
    pub specifier: &'a str,
}

/// What esbuild made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// One ES module that imports nothing but `"millrace"`.
    pub code: String,
    /// Every file that went in, relative to the app's folder.
    pub files: Vec<PathBuf>,
    /// Where its code comes from.
    pub(super) map: Places,
}

/// Checks that the app can have packages, and finds esbuild.
///
/// # Errors
/// A [`Diagnostic`] per import that says what is missing and how to get it.
pub fn precheck(folder: &Path, imports: &[Import<'_>]) -> Result<PathBuf, Vec<Diagnostic>> {
    if !folder.join("package.json").is_file() {
        return Err(at_each(imports, |package| {
            let message = format!("`{package}` is a package, and the app's folder has no `package.json`");
            (message, format!("run `npm init -y && npm install {package}` there; a file of the app starts with `./`"))
        }));
    }
    esbuild(folder).ok_or_else(|| {
        at_each(imports, |package| {
            let message = format!("`{package}` is a package, and esbuild, which bundles packages, was not found");
            (message, "run `npm install --save-dev esbuild` in the app's folder, or set `ESBUILD_BIN` to the program".to_owned())
        })
    })
}

/// Bundles the script `entry` with its packages. `folder` is canonical.
///
/// # Errors
/// What [`precheck`] finds, else esbuild's own errors at the places that it names.
pub fn bundle(folder: &Path, entry: &Path, imports: &[Import<'_>]) -> Result<Bundle, Vec<Diagnostic>> {
    let esbuild = precheck(folder, imports)?;
    let scratch = match Scratch::new() {
        Ok(scratch) => scratch,
        Err(error) => {
            let message = format!("no temporary folder can be created for esbuild: {}", error.kind());
            return Err(vec![in_place(imports, &message, "make the system's folder for temporary files writable")]);
        }
    };
    let (outfile, metafile) = (scratch.0.join("bundle.js"), scratch.0.join("meta.json"));
    let run = Command::new(&esbuild)
        .arg(format!("./{}", super::resolve::slashes(entry)))
        .args([
            "--bundle",
            "--format=esm",
            "--platform=neutral",
            "--target=es2022",
            "--main-fields=module,main",
            "--conditions=worker,browser",
            "--define:process.env.NODE_ENV=\"production\"",
            "--external:millrace",
            "--charset=utf8",
            "--legal-comments=none",
            // What a folder above the app says must not change the program.
            "--tsconfig-raw={}",
            "--sourcemap=external",
            "--sources-content=false",
            "--log-level=error",
            "--log-limit=0",
            "--color=false",
        ])
        .arg(format!("--outfile={}", outfile.display()))
        .arg(format!("--metafile={}", metafile.display()))
        .current_dir(folder)
        .env_remove("NODE_PATH")
        .stdin(Stdio::null())
        .output();
    let output = match run {
        Ok(output) => output,
        Err(error) => {
            let message = format!("esbuild (`{}`) cannot be run: {}", esbuild.display(), error.kind());
            return Err(vec![in_place(imports, &message, "install it with `npm install --save-dev esbuild`, or correct `ESBUILD_BIN`")]);
        }
    };
    if !output.status.success() {
        let diagnostics = errors(&String::from_utf8_lossy(&output.stderr));
        if diagnostics.is_empty() {
            return Err(vec![in_place(imports, "esbuild failed without saying why", "run it by hand to see more")]);
        }
        return Err(diagnostics);
    }
    match fs::read_to_string(&outfile) {
        Ok(code) => Ok(Bundle { code, files: inputs(&metafile), map: Places::read(folder, &outfile) }),
        Err(error) => {
            let message = format!("what esbuild (`{}`) wrote cannot be read: {}", esbuild.display(), error.kind());
            Err(vec![in_place(imports, &message, "check that `ESBUILD_BIN` is esbuild")])
        }
    }
}

/// A mistake in what esbuild made.
pub(super) fn in_bundle(entry: &Path, message: &str) -> Diagnostic {
    place::whole_file(
        entry,
        format!("a package that this script imports cannot run here: {message}"),
        "use another package, or another version of it",
    )
}

fn in_place(imports: &[Import<'_>], message: &str, help: &str) -> Diagnostic {
    let first = imports.first();
    Diagnostic {
        severity: Severity::Error,
        file: first.map_or_else(PathBuf::new, |import| import.file.to_path_buf()),
        line: first.map_or(1, |import| import.line),
        column: first.map_or(1, |import| import.column),
        length: 0,
        message: message.to_owned(),
        help: Some(help.to_owned()),
    }
}

fn at_each(imports: &[Import<'_>], say: impl Fn(&str) -> (String, String)) -> Vec<Diagnostic> {
    let each = imports.iter().map(|import| {
        let (message, help) = say(package(import.specifier));
        let length = import.specifier.chars().count() + 2;
        let file = import.file.to_path_buf();
        Diagnostic { severity: Severity::Error, file, line: import.line, column: import.column, length, message, help: Some(help) }
    });
    each.collect()
}

/// The package of a specifier: `@scope/name` of `@scope/name/file`.
fn package(specifier: &str) -> &str {
    let end = specifier.match_indices('/').nth(usize::from(specifier.starts_with('@')));
    end.map_or(specifier, |(at, _)| &specifier[..at])
}

fn esbuild(folder: &Path) -> Option<PathBuf> {
    if let Some(program) = env::var_os("ESBUILD_BIN").filter(|program| !program.is_empty()) {
        return Some(PathBuf::from(program));
    }
    let names: &[&str] = if cfg!(windows) { &["esbuild.exe", "esbuild.cmd"] } else { &["esbuild"] };
    let installed = folder.ancestors().map(|above| above.join("node_modules").join(".bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = installed.chain(env::split_paths(&path));
    folders.find_map(|folder| names.iter().map(|name| folder.join(name)).find(|program| program.is_file()))
}

/// esbuild's errors: `✘ [ERROR] message`, an empty line, `    file:line:column:`.
fn errors(text: &str) -> Vec<Diagnostic> {
    let Ok(pattern) = Regex::new(r"(?m)^. \[ERROR\] (.+)$(?:\n\n    (.+?):(\d+):(\d+):$)?") else { return Vec::new() };
    let number = |text: &str| text.parse().unwrap_or(1);
    let found = pattern.captures_iter(text).map(|captures| {
        let text = captures.get(1).map_or("", |found| found.as_str());
        let place = |group: usize| captures.get(group).map(|found| found.as_str());
        Diagnostic {
            severity: Severity::Error,
            file: PathBuf::from(place(2).unwrap_or("package.json")),
            line: place(3).map_or(1, number),
            // esbuild counts columns from 0.
            column: place(4).map_or(1, |column| number(column) + 1),
            length: 0,
            message: format!("esbuild: {}", text.replace('"', "`")),
            help: text
                .starts_with("Could not resolve")
                .then(|| "run `npm install` in the app's folder; Node's own modules do not exist in scripts".to_owned()),
        }
    });
    found.collect()
}

/// The `inputs` of a [metafile](https://esbuild.github.io/api/#metafile).
fn inputs(metafile: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(metafile).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let names = value.get("inputs").and_then(|inputs| inputs.as_object()).into_iter().flat_map(|inputs| inputs.keys());
    let mut files: Vec<PathBuf> = names.map(PathBuf::from).collect();
    files.push(PathBuf::from("package.json"));
    files.sort();
    files
}

/// A folder of our own that is gone when this is.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let folder = env::temp_dir().join(format!("millrace-{}-{number}", std::process::id()));
            // Only a folder that was not there is nobody else's.
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Self(folder)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left in a temporary folder does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
