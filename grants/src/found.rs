//! What the databases say: which tables there are and their columns, which sequences are behind
//! them, which functions not everybody may call.

use std::collections::{BTreeMap, BTreeSet};

use millrace_languages::{self as languages, About};

use super::section::{Grant, Need, Object, Section, SessionRole};
use millrace_bundler::statement::{
    Columns, Known, KnownTable, Named, Privilege, Rights,
    rights::clickhouse::{self, DICTIONARY},
};

/// A question to a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its statement, with one parameter.
    pub text: &'static str,
    /// The parameter: a JSON array of names.
    pub names: String,
}

/// The rows of the answer to a question; a cell is a text, or nothing.
pub type Answer = Vec<Vec<Option<String>>>;

/// What a database said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What decides which tables columns are of.
    pub(super) known: Known,
    /// Whether it was asked at all.
    is_asked: bool,
    /// The sequences of the defaults of columns, by the table and the column.
    sequences: BTreeMap<(Named, String), Named>,
    /// Tables that everybody may read.
    everybodys: BTreeSet<Named>,
    /// Schemas that not everybody may use.
    closed: BTreeSet<String>,
    /// Functions and procedures by the name that statements have for them; empty where there is
    /// none of one's own.
    routines: BTreeMap<String, Vec<Routine>>,
    /// Dictionaries of ClickHouse, which need a right of their own to be read as tables.
    dictionaries: BTreeSet<Named>,
    /// Views of ClickHouse that read as who reads them.
    readers_views: BTreeSet<Named>,
    /// What policies of a table read: the table, and a column of another.
    policies: BTreeSet<(Named, Named, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Routine {
    name: Named,
    /// `integer, text`
    arguments: Option<String>,
    is_procedure: bool,
    /// Everybody may call it.
    is_open: bool,
    /// It is the database's own.
    is_built_in: bool,
    /// What it does, it does as whoever made it.
    is_definers: bool,
}

/// What to ask about what statements need.
pub(super) fn questions(rights: &Rights, asked: &languages::Rights) -> Vec<Question> {
    let routines = || rights.functions.iter().chain(&rights.procedures);
    let names = |about| match about {
        About::Columns | About::Constraints | About::Policies => names(rights.tables.keys().map(|(table, _)| table), str::to_owned),
        About::Routines => names(routines(), str::to_owned),
        About::FoldedRoutines => names(routines(), str::to_ascii_lowercase),
        About::Functions => names(rights.functions.iter(), str::to_owned),
        About::Version => "[]".to_owned(),
    };
    asked.questions.iter().map(|(text, about)| Question { text, names: names(*about) }).collect()
}

fn names<'n>(named: impl Iterator<Item = &'n Named>, with: impl Fn(&str) -> String) -> String {
    let names: BTreeSet<String> = named.map(|named| with(&named.name)).collect();
    serde_json::json!(names).to_string()
}

fn is_true(cell: Option<&Option<String>>) -> bool {
    matches!(cell.and_then(Option::as_deref), Some("true" | "t" | "1"))
}

fn cell(row: &[Option<String>], at: usize) -> &str {
    row.get(at).and_then(Option::as_deref).unwrap_or_default()
}

impl Found {
    /// What the answers to the questions of a section say, in the order of the questions.
    #[must_use]
    pub fn of(section: &Section, answers: &[Answer]) -> Self {
        let mut found = Self { is_asked: true, ..Self::default() };
        let Some(asked) = section.dialect.and_then(|dialect| dialect.facts().rights) else { return found };
        let mut all = Rights::default();
        section.needs.iter().for_each(|need| all.extend(need.rights.clone()));
        let answer =
            |is_it: fn(About) -> bool| asked.place(is_it).and_then(|place| answers.get(place)).map(Vec::as_slice).unwrap_or_default();
        for (table, _) in all.tables.keys() {
            found.table(table, answer(|about| about == About::Columns), asked);
        }
        for row in answer(About::is_of_routines) {
            let name = Named { schema: Some(cell(row, 0).to_owned()), name: cell(row, 1).to_owned() };
            let key = folded(&name.name, asked);
            if !is_true(row.get(7)) && !is_true(row.get(5)) {
                found.closed.insert(cell(row, 0).to_owned());
            }
            found.routines.entry(key).or_default().push(Routine {
                name,
                arguments: row.get(2).cloned().flatten(),
                is_procedure: is_true(row.get(3)),
                is_open: is_true(row.get(4)),
                is_built_in: is_true(row.get(5)),
                is_definers: is_true(row.get(6)),
            });
        }
        let version = answer(|about| about == About::Version).first();
        found.known.is_mariadb = version.is_some_and(|row| cell(row, 0).to_ascii_lowercase().contains("mariadb"));
        let placed =
            |row: &[Option<String>], at: usize| Named { schema: Some(cell(row, at).to_owned()), name: cell(row, at + 1).to_owned() };
        for row in answer(|about| about == About::Constraints) {
            let table = placed(row, 0);
            for known in found
                .known
                .tables
                .iter_mut()
                .filter(|(name, known)| name.name == table.name && Some(&known.schema) == table.schema.as_ref())
            {
                known.1.constraints.entry(cell(row, 2).to_owned()).or_default().insert(cell(row, 3).to_owned());
            }
        }
        for row in answer(|about| about == About::Policies) {
            found.policies.insert((placed(row, 0), placed(row, 2), cell(row, 4).to_owned()));
        }
        found
    }

    /// The table that a statement means by a name.
    fn table(&mut self, table: &Named, rows: &[Vec<Option<String>>], asked: &languages::Rights) {
        let is_same = |row: &&Vec<Option<String>>| cell(row, 1) == table.name;
        let schema = match &table.schema {
            Some(schema) => Some(schema.clone()),
            None => {
                let first = |is_here: &dyn Fn(&&Vec<Option<String>>) -> bool| {
                    rows.iter().filter(is_same).find(is_here).map(|row| cell(row, 0).to_owned())
                };
                // What its user cannot see yet is looked for where tables are without more.
                first(&|row| is_true(row.get(3))).or_else(|| first(&|row| asked.common_schema == Some(cell(row, 0))))
            }
        };
        let Some(schema) = schema else { return };
        let mut known = KnownTable { schema: schema.clone(), ..KnownTable::default() };
        for row in rows.iter().filter(is_same).filter(|row| cell(row, 0) == schema) {
            let column = folded(cell(row, 2), asked);
            if known.any.is_none() || is_true(row.get(6)) {
                known.any = Some(column.clone());
            }
            if !is_true(row.get(4)) {
                self.closed.insert(schema.clone());
            }
            if is_true(row.get(5)) {
                self.everybodys.insert(table.clone());
            }
            if asked.has_engines {
                known.kinds.insert(column.clone(), cell(row, 9).to_owned());
                if cell(row, 10) == "Dictionary" {
                    self.dictionaries.insert(table.clone());
                }
                if cell(row, 10) == "View" && !is_true(row.get(11)) {
                    self.readers_views.insert(table.clone());
                }
            }
            if !cell(row, 8).is_empty() {
                let sequence = Named { schema: Some(cell(row, 7).to_owned()), name: cell(row, 8).to_owned() };
                self.sequences.insert((table.clone(), column.clone()), sequence);
            }
            known.columns.insert(column);
        }
        if !known.columns.is_empty() {
            self.known.tables.insert(table.clone(), known);
        }
    }

    /// A table as the database has it, or as the statement.
    fn placed(&self, table: &Named) -> Named {
        match self.known.tables.get(table) {
            Some(known) => Named { schema: Some(known.schema.clone()), name: table.name.clone() },
            None => table.clone(),
        }
    }

    /// Makes rights of the needs of a section.
    pub(super) fn grant(&self, section: &mut Section, asked: &languages::Rights) {
        let mut merged = Merged::default();
        for need in section.needs.clone() {
            self.grant_one(section, &need, asked, &mut merged);
        }
        section.grants = merged.finish(self);
        if let (Some(SessionRole::Named(role)), true) = (&section.session, section.needs.iter().any(|need| !need.is_own)) {
            let users = section.needs.iter().filter(|need| !need.is_own).map(|need| need.user.clone()).collect();
            let (object, privilege) = (Object::Role(role.clone()), Privilege::Usage);
            section.grants.insert(0, Grant { object, privilege, columns: None, users, of_session: false });
        }
    }

    fn grant_one(&self, section: &mut Section, need: &Need, asked: &languages::Rights, merged: &mut Merged) {
        let Need { user, place, rights, is_own } = need;
        let of_session = section.session.is_some() && !is_own;
        let mut schemas: BTreeSet<String> = BTreeSet::new();
        for ((table, privilege), columns) in &rights.tables {
            // The table of records is made with its rights.
            let is_there = !self.is_asked || *is_own || self.known.tables.contains_key(table) || (asked.is_made_up_table)(&table.name);
            if !is_there {
                let text = format!("the database has no table `{table}`, or its user does not see it: nothing is granted on it");
                section.note(user, place, text, true);
                continue;
            }
            if *privilege == Privilege::Select && self.everybodys.contains(table) {
                continue;
            }
            let is_read = *privilege == Privilege::Select;
            if is_read && self.readers_views.contains(table) {
                let text = format!("the view `{table}` reads as who reads it: what it reads needs rights, too, which are not known");
                section.note(user, place, text, true);
            }
            let is_dictionary = is_read && self.dictionaries.contains(table);
            let mut table = self.placed(table);
            table.schema = table.schema.or_else(|| section.database.clone());
            schemas.extend(table.schema.clone());
            merged.table(&table, *privilege, columns, user, of_session);
            if is_dictionary {
                merged.add(Object::Table(table), Privilege::Other(DICTIONARY), user, of_session);
            }
        }
        self.grant_beside_tables(rights, user, of_session, merged, &mut schemas);
        let functions = rights.functions.iter().map(|named| Called { named, is_procedure: false });
        let procedures = rights.procedures.iter().map(|named| Called { named, is_procedure: true });
        for called in functions.chain(procedures) {
            if asked.has_open_functions {
                self.open_function(section, user, place, called.named);
            } else if self.is_asked {
                for routine in self.meant(section, need, &called, asked) {
                    if !routine.is_open {
                        merged.add(routine.object(), called.privilege(), user, of_session);
                    }
                    if !routine.is_built_in {
                        schemas.extend(routine.name.schema.clone());
                    }
                }
            } else {
                if asked.has_closed_routines && called.is_procedure {
                    merged.add(Object::Procedure(called.named.clone(), None), Privilege::Call, user, of_session);
                }
                section.note(user, place, called.not_asked(asked), true);
            }
        }
        if asked.has_schema_rights {
            let closed =
                |schema: &String| if self.is_asked { self.closed.contains(schema) } else { asked.common_schema != Some(schema.as_str()) };
            for schema in schemas.into_iter().filter(closed) {
                merged.add(Object::Schema(schema), Privilege::Usage, user, of_session);
            }
        }
    }

    /// What is needed on the server, on sequences, and of tables that policies read.
    fn grant_beside_tables(&self, rights: &Rights, user: &str, of_session: bool, merged: &mut Merged, schemas: &mut BTreeSet<String>) {
        for (privilege, on) in &rights.server {
            merged.add(Object::Server(on), Privilege::Other(privilege), user, of_session);
        }
        for (sequence, privilege) in &rights.sequences {
            schemas.extend(sequence.schema.clone());
            merged.add(Object::Sequence(sequence.clone()), *privilege, user, of_session);
        }
        for (table, given) in &rights.filled {
            for ((_, column), sequence) in self.sequences.iter().filter(|((of, _), _)| of == table) {
                if !given.contains(column) {
                    merged.add(Object::Sequence(sequence.clone()), Privilege::Usage, user, of_session);
                }
            }
        }
        for (of, table, column) in &self.policies {
            let is_used = rights.tables.keys().any(|(used, _)| self.placed(used) == *of);
            if is_used {
                schemas.extend(table.schema.clone());
                let columns = Columns { all: false, names: [column.clone()].into() };
                merged.table(table, Privilege::Select, &columns, user, of_session);
            }
        }
    }

    /// Everybody may call functions of ClickHouse; but what is in the text of one of one's own is
    /// done as who calls it.
    fn open_function(&self, section: &mut Section, user: &str, place: &str, named: &Named) {
        let text = if !self.is_asked {
            format!(
                "whether the function `{named}` is the server's own is not known: else what its text does needs rights. Ask by `--connect`"
            )
        } else if self.routines.contains_key(&named.name) {
            format!("the function `{named}` runs as who calls it: what its text does needs rights, too, which are not known")
        } else if clickhouse::needs_more(&named.name) {
            format!("the function `{named}` needs a right of its own: grant it by hand")
        } else {
            return;
        };
        section.note(user, place, text, true);
    }

    /// The routines that a statement means by a name; says what is not known of them.
    fn meant(
        &self,
        section: &mut Section,
        Need { user, place, .. }: &Need,
        called: &Called<'_>,
        asked: &languages::Rights,
    ) -> Vec<&Routine> {
        let (named, what) = (called.named, called.what());
        let routines = self.routines.get(&folded(&named.name, asked)).map(Vec::as_slice).unwrap_or_default();
        let is_meant = |routine: &&Routine| {
            let is_there = named.schema.as_ref().is_none_or(|schema| routine.name.schema.as_ref() == Some(schema));
            is_there && routine.is_procedure == called.is_procedure
        };
        let meant: Vec<&Routine> = routines.iter().filter(is_meant).collect();
        if meant.is_empty() {
            let text = match asked.has_closed_routines {
                true if !called.is_procedure => {
                    format!(
                        "the function `{named}` is the server's own, or the database has none, or its user does not see it: nothing is granted on it"
                    )
                }
                _ => format!("the database has no {what} `{named}`, or its user does not see it: nothing is granted on it"),
            };
            section.note(user, place, text, true);
        }
        for _ in meant.iter().filter(|routine| !routine.is_built_in && !routine.is_definers) {
            let text =
                format!("the {what} `{named}` runs as who calls it: what it reads and writes needs rights, too, which are not known");
            section.note(user, place, text, true);
        }
        meant
    }
}

/// A function or procedure that a statement calls.
struct Called<'a> {
    named: &'a Named,
    is_procedure: bool,
}

impl Called<'_> {
    const fn what(&self) -> &'static str {
        if self.is_procedure { "procedure" } else { "function" }
    }

    const fn privilege(&self) -> Privilege {
        if self.is_procedure { Privilege::Call } else { Privilege::Execute }
    }

    /// What is not known where the database was not asked.
    fn not_asked(&self, asked: &languages::Rights) -> String {
        let (named, what) = (self.named, self.what());
        match asked.has_closed_routines {
            true if self.is_procedure => format!(
                "what the procedure `{named}` does is not known: unless it runs as who made it, its user needs the rights for that, too"
            ),
            true => format!(
                "whether the function `{named}` is the database's own is not known: else it needs `EXECUTE`. Ask the database by `--connect`"
            ),
            false => format!(
                "whether everybody may call the {what} `{named}`, and what it reads and writes, is not known: ask the database by `--connect`"
            ),
        }
    }
}

impl Routine {
    fn object(&self) -> Object {
        let (name, arguments) = (self.name.clone(), self.arguments.clone());
        if self.is_procedure { Object::Procedure(name, arguments) } else { Object::Function(name, arguments) }
    }
}

/// A name as the server lists it.
fn folded(name: &str, asked: &languages::Rights) -> String {
    if asked.folds_names { name.to_ascii_lowercase() } else { name.to_owned() }
}

/// Rights, merged: by what they are about.
#[derive(Default)]
struct Merged {
    rights: BTreeMap<(bool, Object, Privilege), Merging>,
}

#[derive(Default)]
struct Merging {
    /// Who needs all of it.
    all: BTreeSet<String>,
    /// Who needs some column, whichever.
    any: BTreeSet<String>,
    columns: BTreeMap<String, BTreeSet<String>>,
}

impl Merged {
    fn add(&mut self, object: Object, privilege: Privilege, user: &str, of_session: bool) {
        self.rights.entry((of_session, object, privilege)).or_default().all.insert(user.to_owned());
    }

    fn table(&mut self, table: &Named, privilege: Privilege, Columns { all, names }: &Columns, user: &str, of_session: bool) {
        let merging = self.rights.entry((of_session, Object::Table(table.clone()), privilege)).or_default();
        if *all {
            merging.all.insert(user.to_owned());
        }
        if names.is_empty() && !all {
            merging.any.insert(user.to_owned());
        }
        for name in names {
            merging.columns.entry(name.clone()).or_default().insert(user.to_owned());
        }
    }

    fn finish(self, found: &Found) -> Vec<Grant> {
        let columns_of = |of_session: bool, table: &Named| -> BTreeMap<Privilege, BTreeSet<String>> {
            let of_table = self.rights.iter().filter(|((of, object, _), _)| *of == of_session && *object == Object::Table(table.clone()));
            of_table.map(|((_, _, privilege), merging)| (*privilege, merging.columns.keys().cloned().collect())).collect()
        };
        let mut grants = Vec::new();
        for ((of_session, object, privilege), merging) in &self.rights {
            let mut columns = merging.columns.clone();
            if let (true, true, Object::Table(table)) = (merging.all.is_empty(), columns.is_empty(), object) {
                // One column is enough: one of the key, or one that is named anyway.
                let known =
                    found.known.tables.iter().find(|(name, _)| found.placed(name) == *table).and_then(|(_, known)| known.any.clone());
                let others = columns_of(*of_session, table);
                let other =
                    [Privilege::Select, Privilege::Insert, Privilege::Update].iter().find_map(|of| others.get(of)?.first().cloned());
                columns.extend(known.or(other).map(|column| (column, merging.any.clone())));
            }
            let users = merging.all.iter().chain(&merging.any).chain(merging.columns.values().flatten()).cloned().collect();
            let is_whole = !merging.all.is_empty() || columns.is_empty();
            let columns = (!is_whole).then_some(columns);
            grants.push(Grant { object: object.clone(), privilege: *privilege, columns, users, of_session: *of_session });
        }
        grants
    }
}
