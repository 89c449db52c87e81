//! What a statement inserts and sets, and whose rows it changes.

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};

use super::{
    analyzer::{Analyzer, table_of},
    rule::OPT_OUT,
};
use crate::statement::{
    resolved::{Assign, Assigned, ConflictUpdate, Equality, Insert, OnConflict, Operand, OperandKind, Source, at, fold, last},
    shown::Location,
};

impl Analyzer<'_> {
    pub(super) fn insert(&mut self, insert: &Insert) {
        let target = &insert.target;
        if !self.is_tenant(target) {
            return;
        }
        if insert.replaces {
            self.replaces(target);
        }
        if let Some(place) = self.place(target, &insert.columns) {
            match &insert.rows {
                Some(_) => self.rows(insert, place),
                None => self.writes_else(target, None),
            }
        }
        match &insert.on_conflict {
            OnConflict::Nothing => {}
            OnConflict::Update(update) => self.conflict(target, update),
            OnConflict::DuplicateKey => self.unknown(table_of(target).1, "it has a form of `INSERT` that is not understood"),
        }
    }

    pub(super) fn assign(&mut self, assign: &Assign) {
        if self.is_tenant(&assign.target) {
            if assign.replaces {
                self.replaces(&assign.target);
            }
            self.assignments(&assign.target, &assign.assignments);
        }
    }

    /// Rows that no row of the source of a `MERGE` matches.
    pub(super) fn not_matched(&mut self, target: &Source) {
        if self.is_tenant(target) {
            let (table, at) = table_of(target);
            let message = format!("`WHEN NOT MATCHED BY SOURCE` concerns rows of `{table}` of every tenant");
            self.find(at, message, format!("Write an `UPDATE` or a `DELETE` of its own, {OPT_OUT}."));
        }
    }

    /// The place of the tenant's column among those that are inserted. `None` where it has none,
    /// which has been noted.
    fn place(&mut self, target: &Source, columns: &[ObjectName]) -> Option<usize> {
        let mut places = (0..columns.len()).filter(|&column| self.names_column(&columns[column]));
        let (place, more) = (places.next(), places.next());
        let found = place.filter(|&place| more.is_none() && self.is_column_alone(&columns[place]));
        if found.is_none() {
            let (column, claim, (table, at)) = (&self.rule.column, self.claim(), table_of(target));
            let message = format!("a row of `{table}` is inserted without the caller's tenant: its columns do not have `{column}`");
            let help = format!("Name `{column}` once among the columns, and give it `{claim}` in every row.");
            self.find(at, message, help);
        }
        found
    }

    /// Whether a name has a part that is the tenant's column, or that is not written out.
    fn names_column(&self, name: &ObjectName) -> bool {
        name.0.iter().any(|part| match part {
            ObjectNamePart::Identifier(ident) => self.is_column(ident) || fold(ident, self.dialect).is_none(),
            ObjectNamePart::Function(_) => true,
        })
    }

    /// Whether a name is the tenant's column and nothing else.
    fn is_column_alone(&self, name: &ObjectName) -> bool {
        name.0.len() == 1 && last(name).is_some_and(|column| self.is_column(column))
    }

    /// Looks whether each row that is inserted has the claim at its place.
    fn rows(&mut self, insert: &Insert, place: usize) {
        for row in insert.rows.iter().flatten() {
            let values = row.values.as_ref().filter(|values| values.len() == insert.columns.len());
            match values.and_then(|values| values.get(place)) {
                Some(value) if self.is_claim(value) => {}
                Some(value) => self.writes_else(&insert.target, value.at),
                None => self.writes_else(&insert.target, row.at),
            }
        }
    }

    fn writes_else(&mut self, target: &Source, place: Option<Location>) {
        let (column, claim, (table, at)) = (&self.rule.column, self.claim(), table_of(target));
        let message = format!("`{column}` of `{table}` gets something else than `{claim}`");
        self.find(place.or(at), message, format!("Write `{claim}` itself in the place of `{column}`, in every row."));
    }

    fn replaces(&mut self, target: &Source) {
        let (column, (table, at)) = (&self.rule.column, table_of(target));
        let message = format!("`REPLACE` deletes the row of `{table}` that is in the way, whose tenant can be any");
        self.find(at, message, format!("Write `ON CONFLICT ({column}, …) DO UPDATE SET …`, {OPT_OUT}."));
    }

    /// Looks whether a row that is in the way of a new one is the tenant's own where it is changed.
    fn conflict(&mut self, target: &Source, update: &ConflictUpdate) {
        self.assignments(target, &update.assignments);
        // The new row has the claim: what is in its way by that column has it, too.
        if update.columns.iter().any(|column| self.is_column(column)) {
            return;
        }
        let is_own = |value: &Operand| match column_of(value) {
            Some([column]) => self.dialect.facts().resolution.conflict_knows_the_row && self.is_column(column),
            Some([row, column]) => self.is_column(column) && fold(row, self.dialect).as_ref() == Some(&target.name),
            _ => false,
        };
        let is_excluded = |value: &Operand| match column_of(value) {
            Some([row, column]) => self.is_column(column) && fold(row, self.dialect).as_deref() == Some("excluded"),
            _ => false,
        };
        let is_callers = |value: &Operand| self.is_claim(value) || is_excluded(value);
        let is_bound = update
            .conditions
            .iter()
            .any(|Equality { left, right }| (is_own(left) && is_callers(right)) || (is_own(right) && is_callers(left)));
        // `excluded` names the new row, unless the table itself is called so.
        if !is_bound || target.name == "excluded" {
            let (column, claim, (table, at), shown) = (&self.rule.column, self.claim(), table_of(target), &target.shown);
            let message = format!("`ON CONFLICT … DO UPDATE` can change a row of `{table}` that is another tenant's");
            let help = format!(
                "Put `{column}` among the columns after `ON CONFLICT`, or write `WHERE {shown}.{column} = {claim}` after what is set."
            );
            self.find(at, message, help);
        }
    }

    /// Looks whether the tenant's column stays as it is.
    fn assignments(&mut self, target: &Source, assignments: &[Assigned]) {
        for Assigned { columns, value } in assignments {
            let Some(named) = columns.iter().find(|name| self.names_column(name)) else { continue };
            if columns.len() != 1 || !self.is_column_alone(named) || !self.is_claim(value) {
                let (column, claim, (table, place)) = (&self.rule.column, self.claim(), table_of(target));
                let message = format!("`{column}` of `{table}` is set to something else than `{claim}`");
                let help = format!("Leave `{column}` as it is: a row stays with its tenant.");
                self.find(last(named).and_then(at).or(place), message, help);
            }
        }
    }
}

/// The column that a value is, with what is before it.
fn column_of(value: &Operand) -> Option<&[Ident]> {
    match &value.kind {
        OperandKind::Column { parts, is_nested: false } => Some(parts),
        _ => None,
    }
}
