//! `--from`: which database, how it is reached now, and how the app will name it.

use std::path::{Component, Path, PathBuf};

use millrace_catalogue::{Connector, LIBSQL, MYSQL, POSTGRES, SQLITE};
use millrace_core::secret::Secret;

use crate::output::{CommandError, CommandResult};

/// The variable that holds the address of a server: it may have a password in it.
pub(super) const VARIABLE: &str = "DATABASE_URL";
/// What `--from` takes.
const FORMS: &str = "write `sqlite:FILE`, `postgres://USER:PASSWORD@HOST/DATABASE`, `mysql://USER:PASSWORD@HOST/DATABASE`, `libsql://HOST` or `openapi:SPEC`";

/// A database to look at.
pub(super) struct Source {
    pub(super) connector: &'static Connector,
    /// Where it is, for the driver.
    pub(super) address: Secret<String>,
    /// A file's path, for the app; `None` for a server, whose address is in a variable.
    pub(super) file: Option<String>,
    /// A name for the adapter, before it is made clean.
    pub(super) name: String,
}

impl Source {
    /// Reads `--from`; `app` is the folder of the new app.
    ///
    /// # Errors
    /// It names no database that tools can be made from. No message shows the text: it may have a
    /// password in it.
    pub(super) fn parse(text: &str, app: &Path) -> CommandResult<Self> {
        let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
        match scheme.to_ascii_lowercase().as_str() {
            "sqlite" | "file" => Self::file(rest.strip_prefix("//").unwrap_or(rest), app),
            "postgres" | "postgresql" => Ok(Self::server(&POSTGRES, text, database_of(rest))),
            "mysql" | "mariadb" => Ok(Self::server(&MYSQL, text, database_of(rest))),
            "libsql" | "http" | "https" => Ok(Self::server(&LIBSQL, text, host_of(rest))),
            "d1" => Err(CommandError::Usage(
                "`--from` cannot read a D1 database; export it with `wrangler d1 export`, load the result into a file with `sqlite3`, and write `sqlite:FILE`"
                    .to_owned(),
            )),
            "" => Err(CommandError::Usage(format!("`--from` needs to say which kind of database it is; {FORMS}"))),
            // A letter before a colon is a drive.
            other if other.len() > 1 && other.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) => {
                Err(CommandError::Usage(format!("`--from` cannot read a database of the kind `{other}`; {FORMS}")))
            }
            _ => Err(CommandError::Usage(format!("`--from` is not the address of a database; {FORMS}"))),
        }
    }

    fn file(path: &str, app: &Path) -> CommandResult<Self> {
        let wrong = |why: &str| CommandError::Usage(format!("`--from` {why}"));
        if path.is_empty() || path == ":memory:" {
            return Err(wrong("names no file; write `sqlite:FILE`"));
        }
        // Each of these means something else in a connection string of an app.
        if path.contains(['?', '#', '%']) || path.contains("{{") || path.chars().any(char::is_control) {
            return Err(wrong("names a file with `?`, `#`, `%`, `{{` or a control character in its path; rename the file"));
        }
        let here = std::env::current_dir().map_err(|error| CommandError::Wrong(format!("the current folder cannot be read: {error}")))?;
        let file = here.join(path);
        if !file.is_file() {
            return Err(CommandError::Wrong(format!("`{path}` is not a file")));
        }
        let shown = if Path::new(path).is_absolute() { path.to_owned() } else { relative(&clean(&file), &clean(&here.join(app))) };
        let name = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let address = file.to_str().ok_or_else(|| wrong("names a file whose path is not UTF-8"))?.to_owned();
        Ok(Self { connector: &SQLITE, address: Secret::new(address), file: Some(shown), name })
    }

    fn server(connector: &'static Connector, text: &str, name: String) -> Self {
        Self { connector, address: Secret::new(text.to_owned()), file: None, name }
    }
}

/// The database that a URL's path names.
fn database_of(rest: &str) -> String {
    let path = rest.split(['?', '#']).next().unwrap_or_default().trim_start_matches("//");
    path.rsplit_once('/').map(|(_, name)| name.to_owned()).unwrap_or_default()
}

/// The first name of a URL's host, unless it is a number.
fn host_of(rest: &str) -> String {
    let authority = rest.trim_start_matches("//").split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let first = host.split(['.', ':']).next().unwrap_or_default();
    if first.starts_with(|c: char| c.is_ascii_alphabetic()) { first.to_owned() } else { String::new() }
}

/// An absolute path without `.` and `..`.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    clean
}

/// The way from a folder to a file, with `/` on every system.
fn relative(file: &Path, folder: &Path) -> String {
    let (to, from): (Vec<_>, Vec<_>) = (file.components().collect(), folder.components().collect());
    let shared = to.iter().zip(&from).take_while(|(one, other)| one == other).count();
    let up = from.iter().skip(shared).map(|_| "..".to_owned());
    let down = to.iter().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_from_the_apps_folder() {
        for (file, folder, expected) in [
            ("/home/me/shop.db", "/home/me/app", "../shop.db"),
            ("/home/me/data/shop.db", "/home/me/app", "../data/shop.db"),
            ("/home/shop.db", "/home/me/apps/app", "../../../shop.db"),
            ("/home/me/app/shop.db", "/home/me/app", "shop.db"),
        ] {
            assert_eq!(relative(Path::new(file), Path::new(folder)), expected);
        }
        assert_eq!(clean(Path::new("/a/./b/../c")), Path::new("/a/c"));
    }

    #[test]
    fn servers_give_names_and_no_secret() {
        assert_eq!(database_of("//me:p%2Fw@db.example.com:5432/shop?sslmode=require"), "shop");
        assert_eq!(database_of("//me@db"), "me@db".rsplit_once('/').map(|(_, name)| name.to_owned()).unwrap_or_default());
        assert_eq!(host_of("//shop-me.turso.io?authToken=x"), "shop-me");
        assert_eq!(host_of("//127.0.0.1:8080"), "");
        for text in [
            "mongodb://me:hunter2@db/x",
            "d1:hunter2",
            "hunter2",
            "redis://:hunter2@x",
            "C:\\hunter2",
            "we ird:hunter2",
            "sqlite:",
            "sqlite:a?b.db",
        ] {
            let Err(CommandError::Usage(said)) = Source::parse(text, Path::new("app")) else { panic!("{text}") };
            assert!(!said.contains("hunter2") && said.contains("`--from`"), "{said}");
        }
    }
}
