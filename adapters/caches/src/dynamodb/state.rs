//! Counters and records in a DynamoDB table: an item each, written under a condition, read
//! consistently.
//!
//! A counter has the attribute `count` (N) beside `id` and `expires_at`, a record `value` (B). An
//! item whose time is over may still be there, so every condition looks at `expires_at`.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_util::future::try_join_all;
use millrace_aws::kind_of_error;
use millrace_core::{
    Error, ErrorKind, Json, Result,
    ports::{Counted, Exactness, LocalFuture, StateStore},
};
use serde_json::json;

use super::{DynamoDbStore, api};

/// How often a step is tried where others change the item in between.
const ATTEMPTS: usize = 8;

/// How many items one request reads.
const MOST_KEYS: usize = 100;

/// No live item.
const FREE: &str = "attribute_not_exists(#id) OR #expires <= :now";

impl DynamoDbStore {
    fn now_s(&self) -> u64 {
        self.clock.now_ms() / 1000
    }

    fn expiry(&self, ttl_s: u32) -> String {
        self.now_s().saturating_add(ttl_s.into()).to_string()
    }

    /// A write under a condition; `None` where the condition does not hold.
    async fn write(&self, operation: &str, body: &Json) -> Result<Option<Json>> {
        let response = self.exchange(operation, body).await?;
        match (response.status, kind_of_error(&response.body).as_str()) {
            (200, _) => api::json(&self.settings.table, &response.body).map(Some),
            (_, "ConditionalCheckFailedException") => Ok(None),
            _ => Err(self.refused(&response)),
        }
    }

    /// The item of a key, if its time is not over.
    async fn live(&self, key: &str) -> Result<Option<Json>> {
        let mut body = api::get_item(&self.settings.table, key);
        body["ConsistentRead"] = true.into();
        let response = self.send("GetItem", &body).await?;
        let Some(item) = api::json(&self.settings.table, &response.body)?.get_mut("Item").map(Json::take) else { return Ok(None) };
        let expires_s: u64 = number(&item, "expires_at").ok_or_else(|| self.foreign())?;
        Ok((expires_s > self.now_s()).then_some(item))
    }

    fn foreign(&self) -> Error {
        let message = format!("an item of the DynamoDB table `{}` was not written by Millrace", self.settings.table);
        Error::new(ErrorKind::Protocol, message)
    }

    fn contended(&self) -> Error {
        Error::new(ErrorKind::Busy, format!("an item of the DynamoDB table `{}` changes too often", self.settings.table))
    }

    async fn total(&self, key: &str) -> Result<i64> {
        match self.live(key).await? {
            None => Ok(0),
            Some(item) => number(&item, "count").ok_or_else(|| self.foreign()),
        }
    }

    async fn count(&self, key: &str, by: i64, most: i64, ttl_s: u32) -> Result<Counted> {
        if by == 0 || by > most {
            let total = self.total(key).await?;
            return Ok(Counted { added: by == 0 && total <= most, total });
        }
        let room = most.saturating_sub(by);
        for _ in 0..ATTEMPTS {
            let (now, expires, by_text) = (self.now_s().to_string(), self.expiry(ttl_s), by.to_string());
            let added = api::update(
                &self.settings.table,
                key,
                "SET #expires = if_not_exists(#expires, :expires) ADD #count :by",
                "attribute_not_exists(#id) OR (#expires > :now AND #count <= :room)",
                json!({ ":by": { "N": by_text }, ":room": { "N": room.to_string() }, ":now": { "N": now }, ":expires": { "N": expires } }),
            );
            if let Some(answer) = self.write("UpdateItem", &added).await? {
                let total = answer.get("Attributes").and_then(|item| number(item, "count")).ok_or_else(|| self.foreign())?;
                return Ok(Counted { added: true, total });
            }
            match self.live(key).await? {
                Some(item) => {
                    let total = number(&item, "count").ok_or_else(|| self.foreign())?;
                    if total > room {
                        return Ok(Counted { added: false, total });
                    }
                }
                None => {
                    let begun = api::update(
                        &self.settings.table,
                        key,
                        "SET #expires = :expires, #count = :by",
                        FREE,
                        json!({ ":by": { "N": by_text }, ":now": { "N": now }, ":expires": { "N": expires } }),
                    );
                    if self.write("UpdateItem", &begun).await?.is_some() {
                        return Ok(Counted { added: true, total: by });
                    }
                }
            }
        }
        Err(self.contended())
    }

    fn item(&self, key: &str, value: &[u8], ttl_s: u32) -> Result<Json> {
        if api::item_bytes(key, value) > api::LARGEST_ITEM_BYTES {
            let message = format!("a record of {} bytes is too large for the DynamoDB table `{}`", value.len(), self.settings.table);
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        Ok(api::put_item(&self.settings.table, key, value, self.now_s().saturating_add(ttl_s.into())))
    }

    fn value(&self, item: &Json) -> Result<Vec<u8>> {
        let value = item.get("value").and_then(|value| value.get("B")).and_then(Json::as_str);
        value.and_then(|value| STANDARD.decode(value).ok()).ok_or_else(|| self.foreign())
    }
}

/// A number of an item.
fn number<T: std::str::FromStr>(item: &Json, name: &str) -> Option<T> {
    item.get(name)?.get("N")?.as_str()?.parse().ok()
}

impl StateStore for DynamoDbStore {
    fn add<'a>(&'a self, key: &'a str, _owner: &'a [u8], by: i64, most: i64, ttl_s: u32) -> LocalFuture<'a, Result<Counted>> {
        Box::pin(self.count(key, by, most, ttl_s))
    }

    fn put_if_absent<'a>(
        &'a self,
        key: &'a str,
        _owner: &'a [u8],
        value: &'a [u8],
        ttl_s: u32,
    ) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            for _ in 0..ATTEMPTS {
                let mut body = self.item(key, value, ttl_s)?;
                body["ConditionExpression"] = FREE.into();
                body["ExpressionAttributeNames"] = json!({ "#id": "id", "#expires": "expires_at" });
                body["ExpressionAttributeValues"] = json!({ ":now": { "N": self.now_s().to_string() } });
                if self.write("PutItem", &body).await?.is_some() {
                    return Ok(None);
                }
                if let Some(item) = self.live(key).await? {
                    return self.value(&item).map(Some);
                }
            }
            Err(self.contended())
        })
    }

    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move { self.live(key).await?.map(|item| self.value(&item)).transpose() })
    }

    fn put<'a>(&'a self, key: &'a str, value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.send("PutItem", &self.item(key, value, ttl_s)?).await.map(|_| ()) })
    }

    fn get_all<'a>(&'a self, keys: &'a [String]) -> LocalFuture<'a, Result<Vec<Option<Vec<u8>>>>> {
        Box::pin(async move {
            let mut found: BTreeMap<String, Vec<u8>> = BTreeMap::new();
            for keys in keys.chunks(MOST_KEYS) {
                let response = self.send("BatchGetItem", &api::batch_get_item(&self.settings.table, keys)).await?;
                let answer = api::json(&self.settings.table, &response.body)?;
                if answer.get("UnprocessedKeys").and_then(Json::as_object).is_some_and(|left| !left.is_empty()) {
                    return Err(self.contended());
                }
                let items = answer.get("Responses").and_then(|tables| tables.get(&self.settings.table)).and_then(Json::as_array);
                for item in items.ok_or_else(|| self.foreign())? {
                    let expires_s: u64 = number(item, "expires_at").ok_or_else(|| self.foreign())?;
                    if expires_s > self.now_s() {
                        let key = api::key_of(item).ok_or_else(|| self.foreign())?;
                        found.insert(key.to_owned(), self.value(item)?);
                    }
                }
            }
            Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
        })
    }

    fn put_all<'a>(&'a self, keys: &'a [String], value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { try_join_all(keys.iter().map(|key| self.put(key, value, ttl_s))).await.map(|_| ()) })
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.send("DeleteItem", &api::get_item(&self.settings.table, key)).await.map(|_| ()) })
    }

    fn exactness(&self) -> Exactness {
        Exactness::Shared
    }
}
