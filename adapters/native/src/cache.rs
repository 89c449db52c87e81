//! Which cache a native host uses: the variable `MILLRACE_CACHE`.
//!
//! | value | where results are kept |
//! |---|---|
//! | not set, empty, `memory` | in the isolate's memory |
//! | `dynamodb:TABLE` | in a DynamoDB table, the isolate's memory in front |
//! | `redis://…`, `rediss://…` | in a Redis server, the isolate's memory in front |
//!
//! In goes the deployment's variables, out comes a [`CacheChoice`], read once when a process starts: what is wrong is told before anything
//! is served. Each isolate [`open`](CacheChoice::open)s a cache of its own from it.

use std::{path::PathBuf, rc::Rc};

use millrace_caches::{
    dynamodb::{DynamoDbCache, DynamoDbSettings},
    memory::{DEFAULT_CAPACITY_BYTES, MemoryCache},
    redis::{RedisAddress, RedisCache},
    tiered::TieredCache,
};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Env, KvCache},
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
    /// [`Configuration`](ErrorKind::Configuration): the variable has no known form, or one that its cache needs is missing. The message
    /// shows no value, which may hold a password.
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

    /// The cache of one isolate; connects to nothing yet. `base` is the folder that a relative path of a file with certificates is below.
    #[must_use]
    pub fn open(&self, base: PathBuf, clock: Rc<dyn Clock>) -> Rc<dyn KvCache> {
        let memory = MemoryCache::new(DEFAULT_CAPACITY_BYTES, clock.clone());
        match self {
            Self::Memory => Rc::new(memory),
            Self::DynamoDb(settings) => {
                let name = format!("the DynamoDB table `{}`", settings.table());
                // A client of its own: what scripts fetch does not take the cache's connections.
                let http = Rc::new(NativeHttpClient::new(clock.clone()));
                let store = DynamoDbCache::new(settings.clone(), http, clock.clone());
                Rc::new(TieredCache::new(memory, Rc::new(store), name, clock))
            }
            Self::Redis(address) => {
                let dialer = Rc::new(NativeDialer::new(base, clock.clone()));
                let store = RedisCache::new(address.clone(), dialer, clock.clone());
                Rc::new(TieredCache::new(memory, Rc::new(store), address.name().to_owned(), clock))
            }
        }
    }
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
