//! Where the database is, from a connection string.

use std::path::{Path, PathBuf};

use millrace_core::{Error, ErrorKind, Result, url::percent_decoded};

/// A database's place and how it is to be opened.
#[derive(Debug, PartialEq)]
pub(super) struct Location {
    pub(super) place: DatabasePlace,
    pub(super) read_only: bool,
    pub(super) create: bool,
    pub(super) immutable: bool,
}

/// A database's place.
#[derive(Debug, PartialEq)]
pub(super) enum DatabasePlace {
    /// In the memory of the isolate.
    Memory,
    /// A file.
    File {
        /// Its absolute path.
        path: PathBuf,
        /// The path as it was written, for messages: variables by their names.
        shown: String,
        /// Whether the path has the value of a variable in it, which nobody is shown.
        has_variables: bool,
    },
}

impl Location {
    /// Reads a connection string; a relative path starts at `base`.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). The string itself is shown in no message: it
    /// may be another database's, with a password in it.
    pub(super) fn parse(text: &str, base: &Path) -> Result<Self> {
        if text == ":memory:" {
            return Ok(Self::at(DatabasePlace::Memory));
        }
        let Some((scheme, rest)) = scheme(text) else { return Ok(Self::at(file(text, base)?)) };
        match scheme.as_str() {
            "file" | "sqlite" => Self::parse_uri(&scheme, rest, base),
            "http" | "https" | "libsql" | "ws" | "wss" => Err(configuration(format!(
                "connector `sqlite` opens files, and the connection string is a `{scheme}:` URL; use connector `libsql` for it"
            ))),
            _ => Err(configuration(format!(
                "connector `sqlite` opens files, and the connection string is a `{scheme}:` URL; use a path, `file:path`, `sqlite:path` or `:memory:`"
            ))),
        }
    }

    /// The same place, shown as the connection string was written, with the names of its variables.
    pub(super) fn shown_as(mut self, written: &str, base: &Path) -> Self {
        if let DatabasePlace::File { shown, has_variables, .. } = &mut self.place {
            *has_variables = written.contains("{{ env.");
            if *has_variables {
                *shown = match Self::parse(written, base) {
                    Ok(Self { place: DatabasePlace::File { shown, .. }, .. }) => shown,
                    _ => written.to_owned(),
                };
            }
        }
        self
    }

    fn parse_uri(scheme: &str, rest: &str, base: &Path) -> Result<Self> {
        if rest.contains('#') {
            return Err(configuration("the connection string has a `#`; write `%23` where it belongs to the file name".into()));
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = match path.strip_prefix("//") {
            // What stands for a host in `file:` URIs starts the path in `sqlite://` ones.
            Some(path) if scheme == "sqlite" => path,
            Some(path) => match path.strip_prefix("localhost").unwrap_or(path) {
                path if path.starts_with('/') => path,
                _ => return Err(configuration("a `file:` URI names a host; write `file:///absolute/path` or `file:relative/path`".into())),
            },
            None => path,
        };
        let path = percent_decoded(path).ok_or_else(|| configuration("the connection string's path is not UTF-8".into()))?;
        // Others write three slashes before it, as before a path.
        let is_memory = path == ":memory:" || (scheme == "sqlite" && path == "/:memory:");
        let place = if is_memory { DatabasePlace::Memory } else { file(&path, base)? };
        let mut location = Self::at(place);
        for setting in query.split('&').filter(|setting| !setting.is_empty()) {
            location.set(setting)?;
        }
        Ok(location)
    }

    fn set(&mut self, setting: &str) -> Result<()> {
        match setting {
            "mode=ro" => self.read_only = true,
            "mode=rw" | "cache=private" | "immutable=0" => {}
            "mode=rwc" => self.create = true,
            "mode=memory" => self.place = DatabasePlace::Memory,
            "immutable=1" => self.immutable = true,
            _ => {
                let name = setting.split('=').next().unwrap_or_default();
                return Err(configuration(format!(
                    "the connection string sets `{name}` to a value that connector `sqlite` does not support; it knows `mode=ro`, \
                     `mode=rw`, `mode=rwc`, `mode=memory`, `cache=private`, `immutable=1`"
                )));
            }
        }
        Ok(())
    }

    const fn at(place: DatabasePlace) -> Self {
        Self { place, read_only: false, create: false, immutable: false }
    }
}

/// Splits off a URL's scheme, in lower case. A single letter is none: it is a drive.
fn scheme(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then(|| (scheme.to_ascii_lowercase(), rest))
}

fn file(shown: &str, base: &Path) -> Result<DatabasePlace> {
    if shown.is_empty() {
        return Err(configuration("the connection string names no database file".into()));
    }
    if shown.contains('\0') {
        return Err(configuration("the connection string contains a NUL character".into()));
    }
    let path = std::path::absolute(base.join(shown)).map_err(|error| {
        configuration("the location of the database file cannot be determined".into()).with_source(error.kind().to_string())
    })?;
    Ok(DatabasePlace::File { path, shown: shown.to_owned(), has_variables: false })
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Location> {
        Location::parse(text, Path::new("/apps/shop"))
    }

    fn at(path: &str, shown: &str) -> Location {
        Location::at(DatabasePlace::File { path: path.into(), shown: shown.into(), has_variables: false })
    }

    #[test]
    fn every_form_is_read() {
        let cases = [
            (":memory:", Location::at(DatabasePlace::Memory)),
            ("sqlite::memory:", Location::at(DatabasePlace::Memory)),
            ("sqlite://:memory:", Location::at(DatabasePlace::Memory)),
            ("sqlite:///:memory:", Location::at(DatabasePlace::Memory)),
            ("file::memory:", Location::at(DatabasePlace::Memory)),
            ("file:any?mode=memory", Location::at(DatabasePlace::Memory)),
            ("shop.db", at("/apps/shop/shop.db", "shop.db")),
            ("./a b?#%41.db", at("/apps/shop/a b?#%41.db", "./a b?#%41.db")),
            ("/var/shop.db", at("/var/shop.db", "/var/shop.db")),
            ("c:shop.db", at("/apps/shop/c:shop.db", "c:shop.db")),
            ("file:shop.db", at("/apps/shop/shop.db", "shop.db")),
            ("FILE:///var/my%20shop.db", at("/var/my shop.db", "/var/my shop.db")),
            ("file://localhost/var/shop.db", at("/var/shop.db", "/var/shop.db")),
            ("file:100%.db", at("/apps/shop/100%.db", "100%.db")),
            ("sqlite:data/shop.db", at("/apps/shop/data/shop.db", "data/shop.db")),
            ("sqlite://data/shop.db", at("/apps/shop/data/shop.db", "data/shop.db")),
            ("sqlite:///var/shop.db?mode=rwc", Location { create: true, ..at("/var/shop.db", "/var/shop.db") }),
            ("file:shop.db?mode=ro&cache=private", Location { read_only: true, ..at("/apps/shop/shop.db", "shop.db") }),
            ("file:shop.db?mode=rw&", at("/apps/shop/shop.db", "shop.db")),
            ("file:a?immutable=1&mode=ro", Location { read_only: true, immutable: true, ..at("/apps/shop/a", "a") }),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_file_is_refused_and_not_shown() {
        let cases = [
            ("", "names no database file"),
            ("file:", "names no database file"),
            ("sqlite://?mode=ro", "names no database file"),
            ("libsql://hunter2.turso.io", "use connector `libsql`"),
            ("https://hunter2@db.example.com", "use connector `libsql`"),
            ("WSS://hunter2", "`wss:` URL; use connector `libsql`"),
            ("postgres://me:hunter2@db/shop", "`postgres:` URL; use a path, `file:path`, `sqlite:path` or `:memory:`"),
            ("file://hunter2/shop.db", "names a host"),
            ("file:shop.db#hunter2", "has a `#`"),
            ("file:shop.db?cache=shared", "sets `cache`"),
            ("file:shop.db?vfs=hunter2", "sets `vfs`"),
            ("file:shop.db?nolock=1", "sets `nolock`"),
            ("file:shop.db?mode=hunter2", "sets `mode`"),
            ("sqlite:shop.db?authToken=hunter2", "sets `authToken`"),
            ("file:%ff.db", "not UTF-8"),
            ("file:shop%00.db", "NUL"),
        ];
        for (text, part) in cases {
            let error = parse(text).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Configuration, "{text}");
            assert!(error.message.contains(part), "{text}: {}", error.message);
            assert!(!error.message.contains("hunter2"), "{text}: {}", error.message);
        }
    }
}
