//! Copies of a database in memory, for tests: each has all of it, and what one writes no other
//! sees.

use std::{path::Path, sync::Arc};

use millrace_core::{Error, ErrorKind, Result, ports::Connection as Settings, value::Value};
use rusqlite::{Connection, OpenFlags, config::DbConfig, params_from_iter};

use super::{
    location::{DatabasePlace, Location},
    seed,
    sqlite_error::{Phase, explain},
};
use crate::sqlite_text::SqliteValue;

/// The longest database that is copied, in MB.
const LONGEST_MB: i64 = 256;

/// Where the header of a database says whether its log is written ahead, twice:
/// <https://sqlite.org/fileformat2.html#file_format_version_numbers>. A database in memory has no
/// such log.
const LOG_FORMATS: std::ops::Range<usize> = 18..20;

/// A database as bytes, of which copies are made. Clones share them.
#[derive(Clone)]
pub struct Original(Arc<[u8]>);

/// A row that is added to a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct AddedRow {
    /// The table.
    pub table: String,
    /// Columns, and what they have.
    pub cells: Vec<(String, Value)>,
}

/// A copy that is to be made.
pub(super) struct Copy {
    original: Original,
    added: Vec<AddedRow>,
}

impl Original {
    /// The database that an adapter's seed makes, or else its file, as it is now; nothing is
    /// written to the file. An adapter in memory without a seed has an empty database.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a seed that fails, for a file that is
    /// missing or cannot be read, and for a database that is too long to be copied.
    pub fn of(settings: &Settings, base: &Path) -> Result<Self> {
        let location = Location::parse(settings.connection_string.expose(), base)?.shown_as(&settings.shown, base);
        let connection = match (&settings.seed, &location.place) {
            (Some(text), _) => {
                let connection = Connection::open_in_memory().map_err(|error| explain(error, Phase::Step))?;
                seed::fill(&connection, &settings.adapter, text, true)?;
                connection
            }
            (None, DatabasePlace::Memory) => Connection::open_in_memory().map_err(|error| explain(error, Phase::Step))?,
            (None, DatabasePlace::File { path, shown, .. }) => open_file(path, shown)?,
        };
        Self::of_connection(connection)
    }

    fn of_connection(mut connection: Connection) -> Result<Self> {
        let cannot = |error| Error::new(ErrorKind::Configuration, "the database cannot be copied").with_source(format!("{error}"));
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).map_err(cannot)?;
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(cannot)?;
        if pages.saturating_mul(page) > LONGEST_MB << 20 {
            let message = format!("the database is longer than {LONGEST_MB} MB, too long to be copied for each test");
            return Err(Error::new(ErrorKind::Configuration, message));
        }
        if pages == 0 {
            return Ok(Self(Arc::new([])));
        }
        let bytes = connection.serialize("main").map_err(cannot)?;
        let mut bytes = bytes.to_vec();
        if let Some(formats) = bytes.get_mut(LOG_FORMATS) {
            formats.fill(1);
        }
        Ok(Self(bytes.into()))
    }
}

fn open_file(path: &Path, shown: &str) -> Result<Connection> {
    if !path.is_file() {
        return Err(Error::new(ErrorKind::Configuration, format!("database file `{shown}` does not exist")));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(|error| {
        Error::new(ErrorKind::Configuration, format!("database file `{shown}` cannot be opened")).with_source(error.to_string())
    })
}

impl Copy {
    /// A copy, to which rows are added.
    pub(super) const fn of(original: Original, added: Vec<AddedRow>) -> Self {
        Self { original, added }
    }

    /// Makes the copy, and adds its rows, whose order does not matter to foreign keys.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a row cannot be added.
    pub(super) fn open(&self, foreign_keys: bool) -> Result<Connection> {
        let failed = |error| explain(error, Phase::Step);
        let mut connection = Connection::open_in_memory().map_err(failed)?;
        let bytes = &*self.original.0;
        if !bytes.is_empty() {
            connection.deserialize_read_exact("main", bytes, bytes.len(), false).map_err(failed)?;
        }
        if self.added.is_empty() {
            return Ok(connection);
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, foreign_keys).map_err(failed)?;
        connection.execute_batch("BEGIN; PRAGMA defer_foreign_keys = ON").map_err(failed)?;
        for row in &self.added {
            row.add(&connection)?;
        }
        connection
            .execute_batch("COMMIT")
            .map_err(|error| Error::new(ErrorKind::Configuration, "the rows of `given` cannot be added").with_source(error.to_string()))?;
        Ok(connection)
    }
}

impl AddedRow {
    fn add(&self, connection: &Connection) -> Result<()> {
        let columns: Vec<String> = self.cells.iter().map(|(column, _)| quoted(column)).collect();
        let places = vec!["?"; columns.len()].join(", ");
        let text = format!("INSERT INTO {} ({}) VALUES ({places})", quoted(&self.table), columns.join(", "));
        let values = self.cells.iter().map(|(_, value)| SqliteValue::of(value));
        let added = connection.prepare_cached(&text).and_then(|mut statement| statement.execute(params_from_iter(values)));
        added.map(drop).map_err(|error| {
            Error::new(ErrorKind::Configuration, format!("a row cannot be added to the table `{}`", self.table))
                .with_source(error.to_string())
        })
    }
}

/// A name in double quotes.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
