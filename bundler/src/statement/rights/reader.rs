//! The rights that the facts of a resolved statement ask for.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    clickhouse,
    model::{Columns, Privilege, Rights},
};
use crate::statement::{
    Dialect, functions,
    resolved::{
        Call, ColumnUse, Concerns, Fact, Insert, Known, NOT_WHOLE, Named, OnConflict, ResolvedStatement, Source, Use, fold, last, named,
        named_in,
    },
};

/// Functions of PostgreSQL and MySQL that everybody may call, beside those that
/// [`functions::is_known`] knows.
const EVERYBODYS: [&str; 14] = [
    "current_setting",
    "get_lock",
    "last_insert_id",
    "lastval",
    "pg_advisory_xact_lock",
    "pg_notify",
    "pg_sleep",
    "pg_try_advisory_xact_lock",
    "release_lock",
    "row",
    "row_count",
    "set_config",
    "sleep",
    "values",
];

/// The rights that a statement asks for.
pub(super) fn rights_of(statement: ResolvedStatement, dialect: Dialect, known: &Known) -> Rights {
    let mut reader = Reader { dialect, known, rights: Rights::default(), returned: BTreeMap::new(), inserts: Vec::new() };
    statement.facts.into_iter().for_each(|fact| reader.fact(fact));
    reader.inserts_of_mariadb();
    if !statement.is_whole && reader.rights.unclear.is_empty() {
        reader.unclear(NOT_WHOLE);
    }
    reader.rights
}

struct Reader<'k> {
    dialect: Dialect,
    known: &'k Known,
    rights: Rights,
    /// The columns that an `INSERT` returns.
    returned: BTreeMap<Named, Columns>,
    inserts: Vec<Insert>,
}

impl Reader<'_> {
    fn unclear(&mut self, why: impl Into<String>) {
        self.rights.unclear.insert(why.into());
    }

    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Doubt { concerns: Concerns::Everyone | Concerns::Rights, why, .. } => self.unclear(why),
            Fact::Wider(why) => drop(self.rights.widened.insert(why)),
            Fact::Columns(ColumnUse { table, usage, columns, is_returned }) => {
                if is_returned && usage == Use::Read {
                    self.returned.entry(table.clone()).or_default().add(columns.clone());
                }
                self.rights.need(&table, usage.into()).add(columns);
            }
            Fact::Call(call) if call.is_told => {}
            Fact::Call(call) => self.call(&call),
            Fact::Procedure(name) => match named(&name, self.dialect) {
                Some(name) => drop(self.rights.procedures.insert(name)),
                None => self.unclear("the name of a procedure is not understood"),
            },
            Fact::Server(right, on) => drop(self.rights.server.insert((right, on))),
            Fact::Insert(insert) => self.insert(insert),
            Fact::Lock(source) => self.lock(&source),
            Fact::Doubt { concerns: Concerns::Tenant, .. }
            | Fact::Part(_)
            | Fact::Mention(_)
            | Fact::Unnamed { .. }
            | Fact::WritesNamed
            | Fact::Block(_)
            | Fact::Assign(_)
            | Fact::NotMatchedBySource(_) => {}
        }
    }

    fn call(&mut self, Call { name, first_text, .. }: &Call) {
        const UNKNOWN: &str = "it calls a function by a name that is not understood";
        if self.dialect.facts().resolution.is_clickhouse {
            match last(name).filter(|_| name.0.len() == 1) {
                Some(ident) if clickhouse::is_known(&ident.value) => {}
                Some(ident) => drop(self.rights.functions.insert(Named { schema: None, name: ident.value.clone() })),
                None => self.unclear(UNKNOWN),
            }
            return;
        }
        let is_plain =
            name.0.len() == 1 || matches!(name.0.as_slice(), [schema, _] if schema.to_string().eq_ignore_ascii_case("pg_catalog"));
        let folded = last(name).and_then(|ident| fold(ident, self.dialect)).filter(|_| is_plain);
        let sequence = match folded.as_deref() {
            Some("nextval" | "currval") => Some(Privilege::Usage),
            Some("setval") => Some(Privilege::Update),
            _ => None,
        };
        if let Some(privilege) = sequence.filter(|_| self.dialect.facts().resolution.has_sequences) {
            match first_text.as_deref().and_then(|text| named_in(text, self.dialect)) {
                Some(sequence) => drop(self.rights.sequences.insert((sequence, privilege))),
                None => self.unclear(format!("the sequence of `{}` is not written out", folded.unwrap_or_default())),
            }
        } else if !functions::is_known(name) && !folded.is_some_and(|name| EVERYBODYS.contains(&name.as_str())) {
            match named(name, self.dialect) {
                Some(name) => drop(self.rights.functions.insert(name)),
                None => self.unclear(UNKNOWN),
            }
        }
    }

    fn insert(&mut self, insert: Insert) {
        let Some(table) = &insert.target.table else { return };
        let needed = self.rights.need(table, Privilege::Insert);
        // Without a list all columns get values, but for `DEFAULT VALUES`.
        needed.all |= insert.columns.is_empty() && insert.filled.is_empty() && insert.rows.is_some();
        needed.names.extend(insert.filled.iter().cloned());
        let filled = if insert.has_defaults { BTreeSet::new() } else { insert.filled.clone() };
        self.rights.filled.insert((table.clone(), filled));
        if insert.is_replace {
            self.rights.need(table, Privilege::Delete).all = true;
        }
        self.inserts.push(insert);
    }

    /// MariaDB wants the rights to read what is set after `ON DUPLICATE KEY`, and to change what is
    /// inserted; and the rights to insert and to read both the columns that are inserted and those
    /// that are returned.
    fn inserts_of_mariadb(&mut self) {
        for Insert { target, on_conflict, is_returning, .. } in std::mem::take(&mut self.inserts) {
            let Some(table) = target.table else { continue };
            let inserted = self.rights.need(&table, Privilege::Insert).clone();
            if matches!(on_conflict, OnConflict::DuplicateKey) {
                let set = self.rights.need(&table, Privilege::Update).clone();
                self.rights.need(&table, Privilege::Select).extend(set);
                self.rights.need(&table, Privilege::Update).extend(inserted.clone());
            }
            if is_returning && self.dialect.facts().resolution.returning_inserts {
                self.rights.need(&table, Privilege::Select).extend(inserted);
                self.rights.need(&table, Privilege::Insert).extend(self.returned.remove(&table).unwrap_or_default());
            }
        }
    }

    /// Rows that are locked: a right to change some column is needed.
    fn lock(&mut self, Source { name, table, .. }: &Source) {
        match (table, self.dialect.facts().resolution.locks_whole_rows) {
            // MySQL wants the right to change or delete rows; MariaDB wants none.
            (Some(_), true) if self.known.is_mariadb => {}
            (Some(table), true) => self.rights.need(table, Privilege::Update).all = true,
            (Some(table), false) => drop(self.rights.need(table, Privilege::Update)),
            (None, _) => self.unclear(format!("which tables of `{name}` are locked")),
        }
    }
}
