//! The statements about the table of the records of calls, `millrace_calls`: what makes it, and
//! what drivers do with it. From them follow the rights that its user needs.

/// The statements of a connector.
#[derive(Clone, Copy, Debug)]
pub struct CallRecords {
    /// What makes the table where it is missing, in order.
    pub makes: &'static [&'static str],
    /// What its driver does with the table.
    pub uses: &'static [&'static str],
}

/// Those of a connector that keeps records on a server with rights; `None` for any other.
#[must_use]
pub fn of(connector: &str) -> Option<CallRecords> {
    match connector {
        "postgres" | "rds-data" => Some(CallRecords {
            makes: &[postgres::CREATE_TABLE, postgres::CREATE_INDEX],
            uses: &[postgres::FORGET, postgres::PUT, postgres::FIND, postgres::KEEP, postgres::SWEEP],
        }),
        "neon" => Some(CallRecords {
            makes: &[postgres::CREATE_TABLE, postgres::CREATE_INDEX],
            uses: &[postgres::FORGET, neon::PUT, postgres::FIND, neon::KEEP, neon::PROBE, postgres::SWEEP],
        }),
        "mysql" | "planetscale" => {
            Some(CallRecords { makes: &[mysql::CREATE_TABLE], uses: &[mysql::PUT, mysql::FIND, mysql::TAKE, mysql::KEEP, mysql::SWEEP] })
        }
        _ => None,
    }
}

/// In PostgreSQL's SQL.
pub mod postgres {
    /// Makes the table. `affected` is there for the drivers of other databases: here, `rows` has
    /// all of it.
    pub const CREATE_TABLE: &str =
        "CREATE TABLE IF NOT EXISTS millrace_calls (key text PRIMARY KEY, expires_at bigint NOT NULL, affected bigint, rows bytea)";
    /// Makes the index by which expired records are found.
    pub const CREATE_INDEX: &str = "CREATE INDEX IF NOT EXISTS millrace_calls_expires_at ON millrace_calls (expires_at)";
    /// Removes the record of a key, where it has expired.
    pub const FORGET: &str = "DELETE FROM millrace_calls WHERE key = $1 AND expires_at <= $2";
    /// Puts a record, unless there is one. Waits for another transaction that has put it.
    pub const PUT: &str = "INSERT INTO millrace_calls (key, expires_at) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
    /// What a record says.
    pub const FIND: &str = "SELECT affected, rows FROM millrace_calls WHERE key = $1";
    /// Stores what the write returned.
    pub const KEEP: &str = "UPDATE millrace_calls SET rows = CAST($2 AS bytea) WHERE key = $1";
    /// Removes expired records. Those that another transaction removes are left to it.
    pub const SWEEP: &str = "DELETE FROM millrace_calls WHERE key IN (SELECT key FROM millrace_calls WHERE expires_at <= $1 \
                             ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)";
}

/// What is other over the API of Neon.
pub mod neon {
    /// Puts a record; fails where there is one.
    pub const PUT: &str = "INSERT INTO millrace_calls (key, expires_at) VALUES ($1, $2)";
    /// Stores the rows of the call that put the record, and not those of one that came so late that
    /// its record had expired.
    pub const KEEP: &str = "UPDATE millrace_calls SET rows = $2 WHERE key = $1 AND expires_at = $3 AND rows IS NULL";
    /// Every column, of no record.
    pub const PROBE: &str = "SELECT affected, rows FROM millrace_calls WHERE key = '' AND expires_at < 0";
}

/// In MySQL's SQL.
pub mod mysql {
    /// Makes the table. `affected` is there for the drivers of other databases: here, `rows` has
    /// all of it.
    pub const CREATE_TABLE: &str = "CREATE TABLE IF NOT EXISTS millrace_calls (`key` char(64) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, \
                                    expires_at bigint NOT NULL, affected bigint, `rows` mediumblob, \
                                    INDEX millrace_calls_expires_at (expires_at)) ENGINE = InnoDB";
    /// Puts a record, unless there is one.
    pub const PUT: &str = "INSERT IGNORE INTO millrace_calls (`key`, expires_at) VALUES (?, ?)";
    /// What a record says.
    pub const FIND: &str = "SELECT affected, `rows`, expires_at FROM millrace_calls WHERE `key` = ?";
    /// Takes the place of a record that has expired.
    pub const TAKE: &str = "UPDATE millrace_calls SET expires_at = ?, affected = NULL, `rows` = NULL WHERE `key` = ? AND expires_at <= ?";
    /// Stores what the write returned.
    pub const KEEP: &str = "UPDATE millrace_calls SET `rows` = ? WHERE `key` = ?";
    /// Removes expired records.
    pub const SWEEP: &str = "DELETE FROM millrace_calls WHERE expires_at <= ? ORDER BY expires_at LIMIT ?";
}
