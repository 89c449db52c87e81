//! Where SQLite's files are on Lambda.
//!
//! The package cannot be written to. A database that is only read is opened where it lies, below
//! `data` of the package. One that is written is copied to the temporary folder first, with all
//! that lies there: what is written is seen by this execution environment only, and lost with it. A
//! path that is absolute (`/mnt/…` of a file system that is mounted) is left alone.

use std::{
    fs, io,
    path::{Path, PathBuf},
    rc::Rc,
    sync::OnceLock,
};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Connection, Connector, Connectors},
};
use millrace_native::folder::copy_files;

/// The folders of databases.
#[derive(Clone)]
pub(crate) struct Places {
    /// What the package brought.
    pub(crate) package: PathBuf,
    /// What may be written.
    pub(crate) copies: PathBuf,
}

/// Opens connections; those of `sqlite` below one of two folders.
pub(crate) struct Databases {
    places: Places,
    package: Rc<dyn Connectors>,
    copies: Rc<dyn Connectors>,
}

impl Databases {
    /// `package` and `copies` open relative paths below the folders of `places`.
    pub(crate) fn new(places: Places, package: Rc<dyn Connectors>, copies: Rc<dyn Connectors>) -> Self {
        Self { places, package, copies }
    }
}

impl Connectors for Databases {
    fn open(&self, connection: Connection) -> Result<Rc<dyn Connector>> {
        let is_file = millrace_catalogue::find(&connection.connector).is_some_and(|connector| connector.is_file);
        if !is_file || connection.read_only {
            return self.package.open(connection);
        }
        // One copy for all isolates.
        static COPIED: OnceLock<std::result::Result<(), String>> = OnceLock::new();
        let copied = COPIED.get_or_init(|| copy(&self.places.package, &self.places.copies).map_err(|error| error.to_string()));
        if let Err(source) = copied {
            let message = format!("the databases of the package cannot be copied to `{}`", self.places.copies.display());
            return Err(Error::new(ErrorKind::Configuration, message).with_source(source.clone()));
        }
        self.copies.open(connection)
    }
}

/// Copies what is not there yet: a process that starts again in the same environment finds what the
/// one before has written.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    copy_files(from, to, &|from, to| {
        if to.exists() {
            return Ok(());
        }
        let unfinished = to.with_extension("unfinished");
        // The bytes only: the package's files may be marked as not to be written.
        io::copy(&mut fs::File::open(from)?, &mut fs::File::create(&unfinished)?)?;
        fs::rename(&unfinished, to)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_copied_once_and_may_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let (package, copies) = (folder.path().join("package"), folder.path().join("copies"));
        copy(&package, &copies).unwrap();
        assert_eq!(fs::read_dir(&copies).unwrap().count(), 0);
        fs::create_dir_all(package.join("data")).unwrap();
        fs::write(package.join("data/shop.db"), "packed").unwrap();
        let mut rights = fs::metadata(package.join("data/shop.db")).unwrap().permissions();
        rights.set_readonly(true);
        fs::set_permissions(package.join("data/shop.db"), rights).unwrap();
        copy(&package, &copies).unwrap();
        assert!(!fs::metadata(copies.join("data/shop.db")).unwrap().permissions().readonly());
        fs::write(copies.join("data/shop.db"), "written").unwrap();
        copy(&package, &copies).unwrap();
        assert_eq!(fs::read_to_string(copies.join("data/shop.db")).unwrap(), "written");
        assert_eq!(fs::read_dir(copies.join("data")).unwrap().count(), 1);
    }
}
