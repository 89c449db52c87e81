//! The places of `limits.concurrency` that all isolates of the machine share: a row each, and one
//! for each call that waits for one.

use std::path::Path;

use millrace_core::ports::Entered;
use rusqlite::{Connection, Transaction, params};

use super::{
    holder,
    step::{Step, number},
};

/// What is asked about.
pub(super) struct Gate<'a> {
    pub(super) name: &'a str,
    pub(super) max: u32,
    /// Where isolates show that they live.
    pub(super) folder: &'a Path,
    /// Who asks.
    pub(super) own: &'a str,
}

/// How a gate stands, for one that waits or comes.
struct Standing {
    running: u32,
    /// How many wait, and came earlier.
    ahead: u32,
    /// Whether the row of the one that waits is there.
    waits: bool,
}

impl Standing {
    /// `turn`: of one that waits; the last of all for one that comes.
    fn of(connection: &Connection, gate: &Gate<'_>, turn: i64) -> rusqlite::Result<Self> {
        let mut query = connection.prepare_cached(
            "SELECT count(*) FILTER (WHERE runs), count(*) FILTER (WHERE NOT runs AND turn < ?2), count(*) FILTER (WHERE NOT runs AND turn = ?2) \
             FROM places WHERE gate = ?1",
        )?;
        query.query_row(params![gate.name, turn], |row| {
            Ok(Self { running: row.get(0)?, ahead: row.get(1)?, waits: row.get::<_, u32>(2)? > 0 })
        })
    }

    /// Whether there is a place for it and for all that came earlier.
    fn is_free(&self, gate: &Gate<'_>) -> bool {
        self.running.saturating_add(self.ahead) < gate.max
    }
}

/// The isolates that have ended and still have rows before a turn. Where several wait, only the
/// first of them is looked at: all look.
fn ended(connection: &Connection, gate: &Gate<'_>, standing: &Standing) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare_cached(match standing.ahead {
        0 => "SELECT DISTINCT holder FROM places WHERE gate = ?1 AND runs",
        _ => "SELECT holder FROM places WHERE gate = ?1 AND NOT runs ORDER BY turn LIMIT 1",
    })?;
    let holders = query.query_map([gate.name], |row| row.get::<_, String>(0))?;
    holders.filter(|holder| holder.as_ref().map_or(true, |holder| holder != gate.own && !holder::may_run(gate.folder, holder))).collect()
}

/// Removes the rows of isolates that have ended, and those whose time is over.
fn clear(transaction: &Transaction<'_>, gate: &Gate<'_>, standing: &Standing, now_ms: u64) -> Step<()> {
    transaction.prepare_cached("DELETE FROM places WHERE gate = ?1 AND until_ms <= ?2")?.execute(params![gate.name, number(now_ms)])?;
    for holder in ended(transaction, gate, standing)? {
        transaction.prepare_cached("DELETE FROM places WHERE holder = ?1")?.execute([holder])?;
    }
    Ok(())
}

/// A place or a turn for a call that comes.
pub(super) fn enter(transaction: &Transaction<'_>, gate: &Gate<'_>, queue: u32, now_ms: u64, until_ms: i64) -> Step<Entered> {
    let mut standing = Standing::of(transaction, gate, i64::MAX)?;
    if !standing.is_free(gate) {
        clear(transaction, gate, &standing, now_ms)?;
        standing = Standing::of(transaction, gate, i64::MAX)?;
        if standing.ahead > 0 {
            // The running ones, too: those that wait may belong to none that has ended.
            clear(transaction, gate, &Standing { ahead: 0, ..standing }, now_ms)?;
            standing = Standing::of(transaction, gate, i64::MAX)?;
        }
    }
    let runs = standing.is_free(gate);
    if !runs && standing.ahead >= queue {
        return Ok(Entered::Full);
    }
    let mut insert = transaction.prepare_cached("INSERT INTO places (gate, holder, runs, until_ms) VALUES (?1, ?2, ?3, ?4)")?;
    let turn = insert.insert(params![gate.name, gate.own, runs, until_ms])?;
    Ok(if runs { Entered::Taken(turn) } else { Entered::Waits { turn, ahead: standing.ahead } })
}

/// How one that waits stands. `None`: its turn may have come.
pub(super) fn look(connection: &Connection, gate: &Gate<'_>, turn: i64, now_ms: u64) -> Step<Option<Entered>> {
    let standing = Standing::of(connection, gate, turn)?;
    if !standing.waits {
        return Ok(Some(Entered::Full));
    }
    if standing.is_free(gate) || !ended(connection, gate, &standing)?.is_empty() {
        return Ok(None);
    }
    let mut over = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM places WHERE gate = ?1 AND until_ms <= ?2)")?;
    let is_over: bool = over.query_row(params![gate.name, number(now_ms)], |row| row.get(0))?;
    Ok((!is_over).then_some(Entered::Waits { turn, ahead: standing.ahead }))
}

/// Takes the place of one that waits, if its turn has come.
pub(super) fn advance(transaction: &Transaction<'_>, gate: &Gate<'_>, turn: i64, now_ms: u64) -> Step<Entered> {
    clear(transaction, gate, &Standing::of(transaction, gate, turn)?, now_ms)?;
    let standing = Standing::of(transaction, gate, turn)?;
    if !standing.waits {
        return Ok(Entered::Full);
    }
    if !standing.is_free(gate) {
        return Ok(Entered::Waits { turn, ahead: standing.ahead });
    }
    transaction.prepare_cached("UPDATE places SET runs = TRUE WHERE turn = ?1")?.execute([turn])?;
    Ok(Entered::Taken(turn))
}

/// Gives places and turns back.
pub(super) fn leave(transaction: &Transaction<'_>, turns: &[i64]) -> Step<()> {
    let mut delete = transaction.prepare_cached("DELETE FROM places WHERE turn = ?1")?;
    for turn in turns {
        delete.execute([turn])?;
    }
    Ok(())
}
