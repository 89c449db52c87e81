//! The types of the places of values, found out.
//!
//! Connector `postgres` leaves the type of a text to PostgreSQL: in `WHERE id = $1` it is a `uuid`,
//! where `id` is one. The Data API says that it is a text, and PostgreSQL refuses the statement,
//! before anything of it is executed. Then it is asked what it would have found: `PREPARE` reads
//! the statement as connector `postgres` sends it, and `pg_prepared_statements` has the types. With
//! these as casts the statement is sent again, and for a minute at once. Where it fails with them,
//! they are found out anew: the type of a column may have been changed.
//!
//! In a transaction the refusal has undone what went before. It is begun again, and PostgreSQL is
//! asked in it, just before the statement: what earlier steps made is there, and no transaction is
//! begun for the question.

use millrace_core::{
    app::Access,
    hex,
    ports::Query,
    value::{Rows, Value},
};

use super::{
    RdsData, Refusal, Statement, Unclear,
    known_types::Types,
    named::{Placeholders, written},
    oids, reply,
    transaction::{Holds, Open},
};
use crate::{
    postgres_text::{
        Parameter,
        lists::{ListForm, form_of_type, types_of_numbers},
        word,
    },
    shared::StatementFailure,
};

/// What PostgreSQL says of a statement that cannot be prepared, such as `CALL`.
const NOT_PREPARED: &str = "42601";
const FIND: &str = concat!(
    "SELECT quote_ident(n.nspname) || '.' || quote_ident(t.typname) AS type, ",
    form_of_type!(),
    " AS form FROM pg_catalog.pg_prepared_statements AS s CROSS JOIN unnest(s.parameter_types) WITH ORDINALITY AS u (o, place) ",
    types_of_numbers!(),
    " JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace WHERE s.name = $1 ORDER BY u.place"
);
/// The type that the API gives a text anyway.
const TEXT: &str = "pg_catalog.text";

impl Unclear {
    /// Whether it is this statement, with values of the same types.
    pub(super) fn is_of(&self, statement: &Statement<'_>) -> bool {
        let types = |params: &[Parameter]| params.iter().map(Parameter::type_name).collect::<Vec<_>>();
        self.text == statement.text && types(&self.params) == types(&statement.params)
    }
}

impl RdsData {
    /// Finds out the types of a statement that was refused alone, in a transaction for that.
    ///
    /// # Errors
    /// Those of [`find_out`](Self::find_out).
    pub(super) async fn learn(&self, query: &Query<'_>, unclear: &Unclear) -> Result<(), StatementFailure> {
        let open = self.begin(query, &Holds::default()).await?;
        self.set_session(query, &open).await?;
        let found = self.find_out(query, &open, unclear).await;
        open.undo().await;
        found.map(drop)
    }

    /// Finds out the types of a statement that was refused before, or is given a list, and keeps
    /// them. `false` where there are none to be found: then the question may have ended the
    /// transaction.
    ///
    /// # Errors
    /// They cannot be found out: what PostgreSQL says of the statement as connector `postgres`
    /// sends it, or what it said before.
    pub(super) async fn find_out(&self, query: &Query<'_>, open: &Open, unclear: &Unclear) -> Result<bool, StatementFailure> {
        let query = &Query { access: Access::Read, max_rows: unclear.params.len(), max_bytes: 1 << 20, ..query.clone() };
        // A statement that was not sent is sent with its lists as they are.
        let before = || match &unclear.error {
            Some(error) => Err(StatementFailure::last(error.clone())),
            None => {
                self.types.keep(&unclear.text, oids(&unclear.params), Types::default(), self.api.server.clock.now_ms());
                Ok(false)
            }
        };
        match self.ask(query, open, unclear).await {
            // They are still what they were: it is the statement, or a value.
            Ok(found) if found.is_some() && found == unclear.known => before(),
            Ok(Some(found)) => {
                self.types.keep(&unclear.text, oids(&unclear.params), found, self.api.server.clock.now_ms());
                Ok(true)
            }
            Ok(None) => before(),
            Err(Refusal { failure, said: Some(said) }) if said.code != NOT_PREPARED => Err(failure),
            Err(Refusal { said: Some(_), .. }) => before(),
            Err(Refusal { failure, .. }) => Err(failure.before_the_end()),
        }
    }

    async fn ask(&self, query: &Query<'_>, open: &Open, unclear: &Unclear) -> Result<Option<Types>, Refusal> {
        let mut random = [0; 8];
        self.api.server.random.fill(&mut random);
        let name = format!("millrace_{}", hex::encode(&random));
        let own = |param: &Parameter| param.type_name().map_or_else(|| "unknown".to_owned(), |name| format!("pg_catalog.{name}"));
        let types = unclear.params.iter().map(own).collect::<Vec<_>>().join(", ");
        let text = written(explained(&unclear.text), &Placeholders::Numbered(unclear.params.len())).map_err(StatementFailure::last)?;
        self.api_execute(query, open, format!("PREPARE {name} ({types}) AS {text}")).await?;
        let answer = self.own(query, open, FIND, &[Value::Text(name.clone())]).await?;
        let Rows { rows, .. } = reply::rows_of(answer, query)?;
        // It would stay on a connection that others use.
        self.api_execute(query, open, format!("DEALLOCATE {name}")).await?;
        if rows.len() != unclear.params.len() {
            return Ok(None);
        }
        let (mut names, mut forms) = (Vec::new(), Vec::new());
        for (param, row) in unclear.params.iter().zip(rows) {
            let [Value::Text(name), Value::Text(form)] = row.as_slice() else { return Ok(None) };
            names.push(match name {
                _ if param.type_name().is_some() => None,
                name if name == TEXT => None,
                name if is_name(name) => Some(name.clone()),
                _ => return Ok(None),
            });
            forms.push(ListForm::read(form));
        }
        Ok(Some(Types { names, forms: Some(forms) }))
    }

    /// Sends a statement as it is.
    async fn api_execute(&self, query: &Query<'_>, open: &Open, sql: String) -> Result<(), Refusal> {
        let body = [("sql".to_owned(), sql.into()), ("transactionId".to_owned(), open.id().into())];
        self.api.execute(body.into_iter().collect(), query).await.map(drop)
    }
}

/// The statement that an `EXPLAIN` is about, which can be prepared, and any other as it is.
fn explained(text: &str) -> &str {
    let mut rest = text;
    if word(&mut rest).eq_ignore_ascii_case("EXPLAIN") && !rest.trim_start().starts_with('(') {
        rest
    } else {
        text.trim_start_matches([';', ' ', '\n', '\t', '\r'])
    }
}

/// Whether a text is a name of a type and nothing else: quoted parts are none that could be taken
/// for a parameter.
fn is_name(text: &str) -> bool {
    text.chars().all(|character| character.is_alphanumeric() || "_.\"$ -".contains(character))
}
