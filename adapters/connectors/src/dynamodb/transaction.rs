//! A transaction is one request, which DynamoDB carries out as a whole or not at all. It has a
//! token: for ten minutes, the same request with the same token changes nothing more, so that one
//! whose answer was lost is sent again.

use millrace_core::{
    Error, ErrorKind, Json, Result,
    app::Access,
    hex,
    ports::{BoundTransaction, Query},
    value::Rows,
};
use serde_json::json;

use super::{
    DynamoDb,
    items::{self, Items},
    statement::Prepared,
};
use crate::shared::{Effect, StatementFailure, too_large};

impl DynamoDb {
    pub(super) async fn transact(&self, query: &Query<'_>, steps: BoundTransaction<'_>) -> Result<Rows> {
        let prepared = prepare(&steps)?;
        let reads = prepared.iter().all(|step| step.effect.reads);
        let effect = Effect { reads, returns: true };
        self.admit(query, effect)?;
        let statements: Vec<Json> = prepared.iter().map(Prepared::body).collect();
        let mut body = json!({ "TransactStatements": statements });
        if !reads {
            let mut token = [0; 16];
            self.server.random.fill(&mut token);
            body["ClientRequestToken"] = hex::encode(&token).into();
        }
        let query = &Query { access: if reads { Access::Read } else { Access::Write }, ..query.clone() };
        let attempt = async || {
            let answer = self.exchange("ExecuteTransaction", &body, query).await.map_err(|refusal| {
                let StatementFailure { error, outcome } = refusal.failure;
                let error = if let Some(place) = refusal.step { steps.of_step(place, error) } else { error };
                StatementFailure { error, outcome }
            })?;
            if reads { results(answer, query, &steps) } else { Ok(changes(&prepared)) }
        };
        let results = self.retry.repeat(query, effect, true, attempt).await?;
        Ok(steps.answer(results))
    }
}

/// # Errors
/// A step is none of DynamoDB's, or takes what is not known before the end; or some read and others
/// write.
fn prepare(steps: &BoundTransaction<'_>) -> Result<Vec<Prepared>> {
    let mut prepared: Vec<Prepared> = Vec::new();
    for (place, step) in steps.steps.iter().enumerate() {
        // No result is known: a step that takes a value of another one is refused.
        let values = steps.values(place, &[])?;
        let one = Prepared::of_step(&step.text, &values).map_err(|error| steps.of_step(place, error))?;
        let refused = |what: &str| Err(steps.of_step(place, Error::new(ErrorKind::Configuration, what)));
        if prepared.first().is_some_and(|first| first.effect.reads != one.effect.reads) {
            return refused("a transaction of DynamoDB only reads or only writes, and this one does both");
        }
        if !one.effect.reads && one.effect.returns {
            return refused("DynamoDB has no `RETURNING` in a transaction");
        }
        if !one.effect.reads && step.expect.is_some() {
            return refused("DynamoDB does not say how many items a statement of a transaction changed, as `expect` demands");
        }
        prepared.push(one);
    }
    Ok(prepared)
}

/// What each step changed: it succeeded.
fn changes(prepared: &[Prepared]) -> Vec<Rows> {
    prepared.iter().map(|step| Rows { affected: step.changes.unwrap_or_default(), ..Rows::default() }).collect()
}

/// What each step found: an item, or none.
fn results(mut answer: Json, query: &Query<'_>, steps: &BoundTransaction<'_>) -> Result<Vec<Rows>, StatementFailure> {
    let Some(Json::Array(list)) = answer.get_mut("Responses").map(Json::take) else { return Err(items::broken()) };
    if list.len() != steps.steps.len() {
        return Err(items::broken());
    }
    let mut results = Vec::new();
    for response in &list {
        let mut items = Items::of(query);
        if let Some(item) = response.get("Item").filter(|item| !item.is_null()) {
            items.push(items::item_of(item).ok_or_else(items::broken)?)?;
        }
        let rows = items.into_rows().map_err(StatementFailure::last)?;
        steps.take(&mut results, rows).map_err(StatementFailure::last)?;
        if BoundTransaction::kept_bytes(&results) > query.max_bytes {
            return Err(too_large(format!("the results have more than {} bytes", query.max_bytes), query));
        }
    }
    Ok(results)
}
