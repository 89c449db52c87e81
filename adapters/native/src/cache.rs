//! Where a native host keeps the results of cached tools, and counters and records: the variable
//! `MILLRACE_CACHE`.
//!
//! | value | results | counters and records |
//! |---|---|---|
//! | not set, empty, `memory` | in the isolate's memory | where [`state`](crate::state) says |
//! | `dynamodb:TABLE` | in a DynamoDB table, the isolate's memory in front | in the table |
//! | `redis://…`, `rediss://…` | in a Redis server, the isolate's memory in front | in the server |
//!
//! In goes the deployment's variables, out comes a [`CacheChoice`], read once when a process
//! starts: what is wrong is told before anything is served. Each isolate
//! [`open`](CacheChoice::open)s a cache of its own from it.

use std::{path::PathBuf, rc::Rc};

use millrace_caches::{
    dynamodb::{DynamoDbSettings, DynamoDbStore},
    memory::{DEFAULT_CAPACITY_BYTES, MemoryCache},
    patient_state::PatientState,
    redis::{RedisAddress, RedisStore},
    tiered::TieredCache,
};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Env, KvCache, StateStore},
};

use crate::{dialer::NativeDialer, http_client::NativeHttpClient};

/// The variable that names the cache.
pub const VARIABLE: &str = "MILLRACE_CACHE";

/// A cache that was asked for, settings checked. Prints no secret.
#[derive(Clone, Debug, Default)]
pub enum CacheChoice {
    /// The isolate's memory.
    #[default]
    Memory,
    /// A DynamoDB table behind the isolate's memory.
    DynamoDb(DynamoDbSettings),
    /// A Redis server behind the isolate's memory.
    Redis(RedisAddress),
}

impl CacheChoice {
    /// Reads `MILLRACE_CACHE`, and what the cache that it names needs beside it.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): the variable has no known form, or one that its
    /// cache needs is missing. The message shows no value, which may hold a password.
    pub fn of(env: &dyn Env) -> Result<Self> {
        let Some(value) = env.var(VARIABLE) else { return Ok(Self::Memory) };
        let text = value.expose().trim();
        let choice = match text.split_once(':') {
            None if matches!(text, "" | "memory") => Ok(Self::Memory),
            Some(("dynamodb", table)) => DynamoDbSettings::of(table, env).map(Self::DynamoDb),
            Some(("redis" | "rediss", _)) => RedisAddress::parse(text).map(Self::Redis),
            _ => Err(Error::new(ErrorKind::Configuration, "use `memory`, `dynamodb:TABLE`, `redis://…` or `rediss://…`")),
        };
        choice.map_err(|error| Error::new(error.kind, format!("the variable `{VARIABLE}` does not work: {}", error.message)))
    }

    /// The cache of one isolate; connects to nothing yet. `base` is the folder that a relative path
    /// of a file with certificates is below.
    #[must_use]
    pub fn open(&self, base: PathBuf, clock: Rc<dyn Clock>) -> Rc<dyn KvCache> {
        let memory = MemoryCache::new(DEFAULT_CAPACITY_BYTES, clock.clone());
        let store: Rc<dyn KvCache> = match self {
            Self::Memory => return Rc::new(memory),
            Self::DynamoDb(settings) => Rc::new(dynamodb(settings, clock.clone())),
            Self::Redis(address) => Rc::new(redis(address, base, clock.clone())),
        };
        Rc::new(TieredCache::new(memory, store, self.store_name(), clock))
    }

    /// The counters and records of one isolate, likewise. `None` where it is no server that has
    /// them.
    #[must_use]
    pub fn open_state(&self, base: PathBuf, clock: Rc<dyn Clock>) -> Option<Rc<dyn StateStore>> {
        let store: Rc<dyn StateStore> = match self {
            Self::Memory => return None,
            Self::DynamoDb(settings) => Rc::new(dynamodb(settings, clock.clone())),
            Self::Redis(address) => Rc::new(redis(address, base, clock.clone())),
        };
        Some(Rc::new(PatientState::new(store, self.store_name(), clock)))
    }

    fn store_name(&self) -> String {
        match self {
            Self::Memory => "the isolate's memory".to_owned(),
            Self::DynamoDb(settings) => format!("the DynamoDB table `{}`", settings.table()),
            Self::Redis(address) => address.name().to_owned(),
        }
    }
}

fn dynamodb(settings: &DynamoDbSettings, clock: Rc<dyn Clock>) -> DynamoDbStore {
    // A client of its own: what scripts fetch does not take the store's connections.
    DynamoDbStore::new(settings.clone(), Rc::new(NativeHttpClient::new(clock.clone())), clock)
}

fn redis(address: &RedisAddress, base: PathBuf, clock: Rc<dyn Clock>) -> RedisStore {
    RedisStore::new(address.clone(), Rc::new(NativeDialer::new(base, clock.clone())), clock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Variables;

    fn choice(variables: &[(&str, &str)]) -> Result<CacheChoice> {
        CacheChoice::of(&variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<Variables>())
    }

    #[test]
    fn the_variable_chooses() {
        let aws = [("AWS_REGION", "eu-central-1"), ("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];
        for memory in [&[][..], &[(VARIABLE, "")], &[(VARIABLE, " memory ")]] {
            assert!(matches!(choice(memory), Ok(CacheChoice::Memory)), "{memory:?}");
        }
        let table = choice(&[&[(VARIABLE, "dynamodb:millrace-cache")][..], &aws].concat()).unwrap();
        assert!(matches!(&table, CacheChoice::DynamoDb(settings) if settings.table() == "millrace-cache"));
        assert!(!format!("{table:?}").contains("hunter2"));
        let redis = choice(&[(VARIABLE, "redis://:hunter2@localhost")]).unwrap();
        assert!(matches!(&redis, CacheChoice::Redis(address) if address.name() == "the Redis server `localhost:6379`"));
        assert!(!format!("{redis:?}").contains("hunter2"));
    }

    #[test]
    fn what_is_wrong_is_named_without_the_value() {
        let cases = [
            ("hunter2", "the variable `MILLRACE_CACHE` does not work: use `memory`, `dynamodb:TABLE`, `redis://…` or `rediss://…`"),
            ("memory:hunter2", "use `memory`"),
            ("dynamo:hunter2", "use `memory`"),
            (
                "redis://:hunter2@a/x",
                "the variable `MILLRACE_CACHE` does not work: the address of a Redis server has a database that is not a number",
            ),
            ("dynamodb:", "a DynamoDB table's name has"),
            (
                "dynamodb:hunter2",
                "the variable `MILLRACE_CACHE` does not work: a cache in DynamoDB needs the variable `AWS_REGION`, which is not set",
            ),
        ];
        for (value, expected) in cases {
            let error = choice(&[(VARIABLE, value)]).unwrap_err();
            assert!(error.message.contains(expected) && !error.message.contains("hunter2"), "{value}: {}", error.message);
        }
    }
}
