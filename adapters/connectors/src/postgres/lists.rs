//! What a list is in its place: the server describes the types of the statement's parameters, which
//! it does not run.

use std::cell::Cell;

use millrace_core::{
    ErrorKind,
    app::SESSION_ROLE,
    ports::{Clock, Query, SessionSetting},
    value::{Rows, Value},
};

use super::session::{Batch, Session, Transaction};
use crate::{
    postgres_text::{
        Oid,
        lists::{FORMS_OF_TYPES, Known, ListForm, placed},
        type_of,
    },
    shared::{Pooled as _, StatementFailure, own_query},
};

/// The forms that lists have in statements, in the places of all values.
pub(super) type KnownLists = Known<Vec<ListForm>>;

/// What a call knows of lists.
pub(super) struct Lists<'a> {
    clock: &'a dyn Clock,
    known: &'a KnownLists,
    /// A list was written for a type that its place does not have any more.
    is_stale: Cell<bool>,
}

/// The forms of the lists of a statement.
pub(super) struct Forms {
    forms: Vec<ListForm>,
    /// They were found out for an earlier call.
    are_kept: bool,
}

impl<'a> Lists<'a> {
    pub(super) const fn of(clock: &'a dyn Clock, known: &'a KnownLists) -> Self {
        Self { clock, known, is_stale: Cell::new(false) }
    }

    /// Whether what failed just now did so because a list was written for a type that its place
    /// does not have any more. Nothing took effect, and now the type is known.
    pub(super) fn take_stale(&self) -> bool {
        self.is_stale.take()
    }

    pub(super) fn left_ms(&self, query: &Query<'_>) -> u64 {
        query.deadline_ms.saturating_sub(self.clock.now_ms()).max(1)
    }
}

/// A statement that is given lists.
#[derive(Clone, Copy)]
pub(super) struct Listed<'a> {
    pub(super) text: &'a str,
    /// The same without what marks the session that it is for.
    pub(super) unmarked: &'a str,
    pub(super) values: &'a [Value],
    /// What is set before it.
    pub(super) settings: &'a [SessionSetting],
    /// Whether a transaction is open.
    pub(super) is_within: bool,
}

impl Listed<'_> {
    /// By what its lists are known: two sessions may have different tables of one name.
    fn key(&self) -> &str {
        let is_of_names = |setting: &SessionSetting| setting.name == SESSION_ROLE || setting.name == "search_path";
        if self.settings.iter().any(is_of_names) { self.text } else { self.unmarked }
    }

    fn types(&self) -> impl Iterator<Item = Oid> + Clone {
        self.values.iter().map(type_of)
    }

    /// The forms of the lists. In the transaction that is open, an error ends it.
    ///
    /// # Errors
    /// What the server says of the statement: it was not run.
    async fn forms(&self, session: &mut Session, lists: &Lists<'_>, query: &Query<'_>) -> Result<Forms, StatementFailure> {
        let now_ms = lists.clock.now_ms();
        if let Some(forms) = lists.known.of(self.key(), self.types(), now_ms) {
            return Ok(Forms { forms, are_kept: true });
        }
        let left_ms = lists.left_ms(query);
        let batch = Batch::describing(self.text, self.values).map_err(StatementFailure::last)?.with_settings(self.settings);
        let types = session.describe_parameters(&batch, query, left_ms, self.is_within).await.map_err(StatementFailure::before_the_end)?;
        let is_list = |at: usize| self.values.get(at).is_some_and(|value| matches!(value, Value::Array(_) | Value::Json(_)));
        let unknown: Vec<Oid> =
            types.iter().enumerate().filter(|(at, oid)| is_list(*at) && ListForm::of(**oid).is_none()).map(|(_, oid)| *oid).collect();
        let mut found = Vec::new();
        if !unknown.is_empty() {
            let numbers = Value::Array(unknown.iter().map(|oid| Value::I64((*oid).into())).collect());
            let own = Query { max_rows: unknown.len(), max_bytes: 1 << 20, ..own_query(FORMS_OF_TYPES, query.deadline_ms) };
            let batch = Batch::of(FORMS_OF_TYPES, &[numbers], Transaction::Implied, &own).map_err(StatementFailure::last)?;
            let rows = match self.is_within {
                true => session.run_within(&batch, &own, left_ms).await,
                false => session.run(&batch, &own, left_ms).await,
            };
            found = rows.map_err(StatementFailure::before_the_end)?.rows;
        }
        let mut found = found.into_iter().map(|row| match row.first() {
            Some(Value::Text(form)) => ListForm::read(form),
            _ => ListForm::Document,
        });
        let form = |(at, oid): (usize, &Oid)| match ListForm::of(*oid) {
            Some(form) => form,
            None if is_list(at) => found.next().unwrap_or_default(),
            None => ListForm::Document,
        };
        let forms: Vec<ListForm> = types.iter().enumerate().map(form).collect();
        lists.known.keep(self.key(), self.types(), forms.clone(), now_ms);
        Ok(Forms { forms, are_kept: false })
    }

    /// Runs the statement in the transaction that is open, with what is set before it; where that
    /// fails, the transaction is over.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub(super) async fn run_within(
        &self,
        session: &mut Session,
        lists: &Lists<'_>,
        query: &Query<'_>,
        settings: &[SessionSetting],
    ) -> Result<Rows, StatementFailure> {
        let forms = self.forms(session, lists, query).await?;
        let batch = placed(self.values, Some(&forms.forms)).and_then(|values| Batch::of(self.text, &values, Transaction::Implied, query));
        let outcome = match batch {
            Ok(batch) => session.run_within(&batch.with_settings(settings), query, lists.left_ms(query)).await,
            Err(error) => {
                session.give_up().await?;
                session.sends_nothing();
                Err(StatementFailure::last(error))
            }
        };
        self.look_again(session, lists, query, &forms, outcome).await
    }

    /// Runs the statement in a transaction of its own.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub(super) async fn run(
        &self,
        session: &mut Session,
        lists: &Lists<'_>,
        query: &Query<'_>,
        transaction: Transaction,
    ) -> Result<Rows, StatementFailure> {
        let forms = self.forms(session, lists, query).await?;
        let batch = placed(self.values, Some(&forms.forms)).and_then(|values| Batch::of(self.text, &values, transaction, query));
        let outcome = match batch {
            Ok(batch) => session.run(&batch.with_settings(self.settings), query, lists.left_ms(query)).await,
            Err(error) => {
                session.sends_nothing();
                Err(StatementFailure::last(error))
            }
        };
        self.look_again(session, lists, query, &forms, outcome).await
    }

    /// The same outcome. Where the statement failed, its lists may have another form by now. Where
    /// it failed before it was run, which leaves no transaction open, the server is asked: see
    /// [`Lists::take_stale`].
    async fn look_again(
        &self,
        session: &mut Session,
        lists: &Lists<'_>,
        query: &Query<'_>,
        Forms { forms, are_kept }: &Forms,
        outcome: Result<Rows, StatementFailure>,
    ) -> Result<Rows, StatementFailure> {
        let is_doubtful = |failure: &StatementFailure| matches!(failure.error.kind, ErrorKind::Data | ErrorKind::Syntax);
        if !outcome.as_ref().is_err_and(is_doubtful) {
            return outcome;
        }
        lists.known.forget(self.key(), self.types());
        if *are_kept && session.is_usable() && !session.has_run() {
            // What is told is the statement's own error.
            let now = Listed { is_within: false, ..*self }.forms(session, lists, query).await;
            if now.is_ok_and(|now| now.forms != *forms) {
                lists.is_stale.set(true);
            } else {
                // Within a transaction it may be another one.
                lists.known.forget(self.key(), self.types());
            }
        }
        outcome
    }
}
