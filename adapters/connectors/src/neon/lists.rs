//! What a list is in its place. The API describes no parameters, so PostgreSQL is asked to prepare
//! the statement, which it does not run, and says which types it would take.

use std::borrow::Cow;

use millrace_core::{
    Result, hex,
    ports::Query,
    value::{Rows, Value},
};

use super::{Neon, Step, kept::Kept, reply, typed};
use crate::{
    postgres_text::{
        Parameter,
        lists::{FORMS_OF_PREPARED, ListForm, has_lists, placed},
        type_of,
        types::UnclearColumns,
    },
    shared::StatementFailure,
};

impl Neon {
    /// The values of a statement, with its lists as their places take them.
    ///
    /// # Errors
    /// The API could not be asked. What PostgreSQL says of the statement, it says when that runs.
    pub(super) async fn with_lists<'v>(
        &self,
        query: &Query<'_>,
        text: &str,
        values: &'v [Value],
        kept: &mut Vec<Kept>,
    ) -> Result<Cow<'v, [Value]>> {
        if !has_lists(values) || !typed::takes_with(text) {
            return Ok(Cow::Borrowed(values));
        }
        if let Some(forms) = self.lists.of(text, values.iter().map(type_of), self.clock.now_ms())
            && let Ok(placed) = placed(values, forms.as_deref())
        {
            kept.push(Kept { text: text.to_owned(), values: values.to_vec(), forms });
            return Ok(placed);
        }
        let forms = self.retry.run_safe(query, async || self.forms(query, text, values).await).await?;
        self.lists.keep(text, values.iter().map(type_of), forms.clone(), self.clock.now_ms());
        placed(values, forms.as_deref())
    }

    /// Asks again what lists are in their places, where a batch with them was refused. Whether any
    /// is another thing by now.
    ///
    /// # Errors
    /// The API could not be asked.
    pub(super) async fn look_again(&self, query: &Query<'_>, kept: &[Kept]) -> Result<bool> {
        let mut is_stale = false;
        for Kept { text, values, forms } in kept {
            let now = self.retry.run_safe(query, async || self.forms(query, text, values).await).await?;
            if now.is_some() && now != *forms {
                self.lists.keep(text, values.iter().map(type_of), now, self.clock.now_ms());
                is_stale = true;
            } else {
                self.lists.forget(text, values.iter().map(type_of));
            }
        }
        Ok(is_stale)
    }

    async fn forms(&self, query: &Query<'_>, text: &str, values: &[Value]) -> Result<Option<Vec<ListForm>>, StatementFailure> {
        let mut lot = [0; 8];
        self.random.fill(&mut lot);
        let name = format!("millrace_{}", hex::encode(&lot));
        let own = |value| Parameter::of(value).type_name().map_or_else(|| "unknown".to_owned(), |name| format!("pg_catalog.{name}"));
        let types = values.iter().map(own).collect::<Vec<_>>().join(", ");
        let statement = text.trim_start_matches([';', ' ', '\n', '\t', '\r']);
        let mut steps = vec![self.deadline(query, None)?];
        steps.extend(Step::session(query.session));
        steps.extend([
            Step::own(&format!("PREPARE {name} ({types}) AS {statement}"), &[]),
            Step::own(FORMS_OF_PREPARED, &[Value::Text(name.clone())]),
            // It would stay on a connection that others use.
            Step::own(&format!("DEALLOCATE {name}"), &[]),
        ]);
        let asked = Query { max_rows: values.len().max(1), max_bytes: 1 << 20, ..query.clone() };
        let mut replies = match self.send(&asked, steps).await {
            Ok(replies) => replies,
            // The statement says it itself.
            Err(refusal) if refusal.said.is_some() => return Ok(None),
            Err(refusal) => return Err(refusal.failure.before_the_end()),
        };
        replies.pop();
        let Rows { rows, .. } = reply::rows_of(replies.pop().unwrap_or_default(), &asked, &mut UnclearColumns::default())?;
        let form = |row: Vec<Value>| match row.first() {
            Some(Value::Text(form)) => ListForm::read(form),
            _ => ListForm::Document,
        };
        Ok((rows.len() == values.len()).then(|| rows.into_iter().map(form).collect()))
    }
}
