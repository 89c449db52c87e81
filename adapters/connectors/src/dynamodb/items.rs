//! Items as rows: an attribute is a column. Columns are sorted by name, because DynamoDB returns
//! the attributes of an item in any order.

use std::collections::BTreeSet;

use millrace_core::{
    Error, ErrorKind, Json, Result,
    ports::Query,
    value::{Rows, Value},
};

use super::{attribute, statement::Prepared};
use crate::shared::{RowSink, StatementFailure};

/// The most cells of a result: items that all have other attributes would be a row each of the
/// attributes of all.
const MAX_CELLS: usize = 1 << 20;
/// The column of a result without items: without one, it would be a count of changes.
const NO_ITEM: &str = "item";

/// The attributes of an item.
pub(super) type Item = Vec<(String, Value)>;

/// A page of a result.
pub(super) struct Page {
    pub(super) items: Vec<Item>,
    /// By which the next one is asked for.
    pub(super) next: Option<Json>,
}

/// The items of a result so far.
pub(super) struct Items<'q>(RowSink<'q, Item>);

impl<'q> Items<'q> {
    pub(super) const fn of(query: &'q Query<'q>) -> Self {
        Self(RowSink::of(query))
    }

    /// Whether an item beyond the most of a query is left out, which is noted.
    pub(super) fn leave_out(&mut self) -> bool {
        self.0.leaves_out()
    }

    /// Adds an item.
    ///
    /// # Errors
    /// There are too many of them.
    pub(super) fn push(&mut self, item: Item) -> Result<(), StatementFailure> {
        if self.0.admits(item.iter().map(|(name, value)| name.len().saturating_add(value.size())).fold(0, usize::saturating_add)) {
            self.0.push(item);
        }
        self.0.check()
    }

    /// # Errors
    /// [`TooLarge`](ErrorKind::TooLarge) for items with too many different attributes.
    pub(super) fn into_rows(self) -> Result<Rows> {
        let (items, truncated) = self.0.finish().map_err(|failure| failure.error)?;
        let mut names: BTreeSet<String> = items.iter().flatten().map(|(name, _)| name.clone()).collect();
        if names.is_empty() {
            names.insert(NO_ITEM.to_owned());
        }
        if names.len().saturating_mul(items.len()) > MAX_CELLS {
            let message =
                format!("the items have {} different attributes, too many for rows; name those that you need after `SELECT`", names.len());
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        let columns: Vec<String> = names.into_iter().collect();
        let row = |item: Item| {
            let mut row = vec![Value::Null; columns.len()];
            for (name, value) in item {
                if let Ok(place) = columns.binary_search(&name) {
                    row[place] = value;
                }
            }
            row
        };
        let rows = items.into_iter().map(row).collect();
        Ok(Rows { rows, columns: columns.into(), truncated, ..Rows::default() })
    }
}

/// The page that an answer is.
///
/// # Errors
/// It has another form.
pub(super) fn page_of(mut answer: Json) -> Result<Page, StatementFailure> {
    let Some(Json::Array(list)) = answer.get_mut("Items").map(Json::take) else { return Err(broken()) };
    let items = list.iter().map(|item| item_of(item).ok_or_else(broken)).collect::<Result<_, _>>()?;
    match answer.get_mut("NextToken").map(Json::take) {
        None | Some(Json::Null) => Ok(Page { items, next: None }),
        Some(token @ Json::String(_)) => Ok(Page { items, next: Some(token) }),
        Some(_) => Err(broken()),
    }
}

/// What a statement changed.
///
/// # Errors
/// It returns too much, or the answer has another form.
pub(super) fn changed(mut answer: Json, prepared: &Prepared, query: &Query<'_>) -> Result<Rows, StatementFailure> {
    let list = match answer.get_mut("Items").map(Json::take) {
        None | Some(Json::Null) => Vec::new(),
        Some(Json::Array(list)) => list,
        Some(_) => return Err(broken()),
    };
    if !prepared.effect.returns {
        return Ok(Rows { affected: prepared.changes.unwrap_or(list.len() as u64), ..Rows::default() });
    }
    let mut items = Items::of(query);
    for item in &list {
        items.push(item_of(item).ok_or_else(broken)?)?;
    }
    items.into_rows().map_err(StatementFailure::last)
}

pub(super) fn item_of(item: &Json) -> Option<Item> {
    item.as_object()?.iter().map(|(name, value)| Some((name.clone(), attribute::read(value)?))).collect()
}

/// The answer has another form; whether a write took effect is not known.
pub(super) fn broken() -> StatementFailure {
    let message = "DynamoDB sent a response that is not understood";
    StatementFailure::unknown(Error::new(ErrorKind::Protocol, message).with_source("its items have another form"))
}
