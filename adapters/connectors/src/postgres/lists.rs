//! What a list is in its place: the server describes the types of the statement's parameters, which it does not run.

use millrace_core::{
    app::SESSION_ROLE,
    ports::{Query, SessionSetting},
    value::Value,
};

use super::session::{Batch, Session, Transaction};
use crate::{
    postgres_text::{
        Oid,
        lists::{FORMS_OF_TYPES, Known, ListForm},
        type_of,
    },
    shared::{StatementFailure, own_query},
};

/// The forms that lists have in statements, in the places of all values.
pub(super) type KnownLists = Known<Vec<ListForm>>;

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
    pub(super) async fn forms(
        &self,
        session: &mut Session,
        known: &KnownLists,
        query: &Query<'_>,
        (now_ms, left_ms): (u64, u64),
    ) -> Result<Vec<ListForm>, StatementFailure> {
        if let Some(forms) = known.of(self.key(), self.types(), now_ms) {
            return Ok(forms);
        }
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
        known.keep(self.key(), self.types(), forms.clone(), now_ms);
        Ok(forms)
    }

    /// The statement has failed: its lists may have another form by now.
    pub(super) fn doubt(&self, known: &KnownLists, failure: &StatementFailure) {
        use millrace_core::ErrorKind::{Data, Syntax};
        if matches!(failure.error.kind, Data | Syntax) {
            known.forget(self.key(), self.types());
        }
    }
}
