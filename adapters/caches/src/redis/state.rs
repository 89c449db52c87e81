//! Counters and records in a Redis server. What has to be one step is a script, which the server
//! runs alone; it replies with one text.

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Counted, Exactness, LocalFuture, StateStore},
};

use super::{LARGEST_VALUE_BYTES, PREFIX, RedisStore, Repeat, redis_error, reply::Reply};

/// Adds, unless the total would be too high: `+` and the new total, else `=` and the old one.
const ADD: &[u8] = b"local kept = redis.call('GET', KEYS[1]) \
local before = tonumber(kept or '0') \
local total = before + tonumber(ARGV[1]) \
if total > tonumber(ARGV[2]) then return '=' .. string.format('%.0f', before) end \
if kept then redis.call('INCRBY', KEYS[1], ARGV[1]) else redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[3]) end \
return '+' .. string.format('%.0f', total)";
/// Keeps a value where there is none; the value that is there, or nothing.
const PUT_IF_ABSENT: &[u8] = b"local there = redis.call('GET', KEYS[1]) \
if there then return there end \
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2]) \
return false";
/// The values of several keys: the length of each and its bytes, or `-`.
const GET_ALL: &[u8] = b"local found = {} \
for place, key in ipairs(KEYS) do \
local kept = redis.call('GET', key) \
found[place] = kept and (#kept .. ':' .. kept) or '-' end \
return table.concat(found)";
const PUT_ALL: &[u8] = b"for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'EX', ARGV[2]) end \
return redis.status_reply('OK')";
const REMOVE: &[u8] = b"redis.call('DEL', KEYS[1]) return redis.status_reply('OK')";

impl RedisStore {
    /// Runs a script on one key.
    async fn script(&self, script: &[u8], key: &str, arguments: &[&[u8]], repeat: Repeat) -> Result<Reply> {
        self.script_on(script, &[key], arguments, repeat).await
    }

    async fn script_on<K: AsRef<str>>(&self, script: &[u8], keys: &[K], arguments: &[&[u8]], repeat: Repeat) -> Result<Reply> {
        let keys: Vec<String> = keys.iter().map(|key| format!("{PREFIX}{}", key.as_ref())).collect();
        let count = keys.len().to_string();
        let mut words: Vec<&[u8]> = vec![b"EVAL", script, count.as_bytes()];
        words.extend(keys.iter().map(String::as_bytes));
        words.extend(arguments);
        self.command(&words, repeat).await
    }

    /// Takes a reply that is a value or nothing.
    fn optional(&self, reply: Reply) -> Result<Option<Vec<u8>>> {
        match reply {
            Reply::Value(value) => Ok(Some(value)),
            Reply::Nothing => Ok(None),
            Reply::Refused(words) => Err(redis_error::of(&self.address.name(), &words)),
            Reply::Done => Err(self.unexpected()),
        }
    }

    async fn read(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let key = format!("{PREFIX}{key}");
        self.optional(self.command(&[b"GET", key.as_bytes()], Repeat::Allowed).await?)
    }

    fn fits(&self, value: &[u8]) -> Result<()> {
        match value.len() {
            0..=LARGEST_VALUE_BYTES => Ok(()),
            bytes => Err(Error::new(ErrorKind::TooLarge, format!("a record of {bytes} bytes is too large for {}", self.address.name()))),
        }
    }
}

/// What [`GET_ALL`] found. `None` where it is not that.
fn split(mut text: &[u8], count: usize) -> Option<Vec<Option<Vec<u8>>>> {
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        if let Some(rest) = text.strip_prefix(b"-") {
            text = rest;
            found.push(None);
            continue;
        }
        let colon = text.iter().position(|byte| *byte == b':')?;
        let length: usize = number(text.get(..colon)?)?.try_into().ok()?;
        let (value, rest) = text.get(colon + 1..)?.split_at_checked(length)?;
        found.push(Some(value.to_vec()));
        text = rest;
    }
    text.is_empty().then_some(found)
}

/// A number after a sign.
fn number(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

impl StateStore for RedisStore {
    fn add<'a>(&'a self, key: &'a str, _owner: &'a [u8], by: i64, most: i64, ttl_s: u32) -> LocalFuture<'a, Result<Counted>> {
        Box::pin(async move {
            if by == 0 {
                let kept = self.read(key).await?;
                let total = kept.map_or(Some(0), |digits| number(&digits)).ok_or_else(|| self.unexpected())?;
                return Ok(Counted { added: total <= most, total });
            }
            let (by, most, ttl_s) = (by.to_string(), most.to_string(), ttl_s.max(1).to_string());
            // Counted twice, it is a total that is too high.
            let reply = self.script(ADD, key, &[by.as_bytes(), most.as_bytes(), ttl_s.as_bytes()], Repeat::Allowed).await?;
            let (added, total) = match self.optional(reply)?.as_deref() {
                Some([b'+', total @ ..]) => (true, number(total)),
                Some([b'=', total @ ..]) => (false, number(total)),
                _ => (false, None),
            };
            Ok(Counted { added, total: total.ok_or_else(|| self.unexpected())? })
        })
    }

    fn put_if_absent<'a>(
        &'a self,
        key: &'a str,
        _owner: &'a [u8],
        value: &'a [u8],
        ttl_s: u32,
    ) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            self.fits(value)?;
            let ttl_s = ttl_s.max(1).to_string();
            // Sent twice, it would find what it has written itself.
            self.optional(self.script(PUT_IF_ABSENT, key, &[value, ttl_s.as_bytes()], Repeat::Never).await?)
        })
    }

    fn get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(self.read(key))
    }

    fn put<'a>(&'a self, key: &'a str, value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.fits(value)?;
            let (key, ttl_s) = (format!("{PREFIX}{key}"), ttl_s.max(1).to_string());
            self.done(&self.command(&[b"SET", key.as_bytes(), value, b"EX", ttl_s.as_bytes()], Repeat::Allowed).await?)
        })
    }

    fn get_all<'a>(&'a self, keys: &'a [String]) -> LocalFuture<'a, Result<Vec<Option<Vec<u8>>>>> {
        Box::pin(async move {
            let reply = self.optional(self.script_on(GET_ALL, keys, &[], Repeat::Allowed).await?)?;
            reply.and_then(|text| split(&text, keys.len())).ok_or_else(|| self.unexpected())
        })
    }

    fn put_all<'a>(&'a self, keys: &'a [String], value: &'a [u8], ttl_s: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.fits(value)?;
            let ttl_s = ttl_s.max(1).to_string();
            self.done(&self.script_on(PUT_ALL, keys, &[value, ttl_s.as_bytes()], Repeat::Never).await?)
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { self.done(&self.script(REMOVE, key, &[], Repeat::Allowed).await?) })
    }

    fn exactness(&self) -> Exactness {
        Exactness::Shared
    }
}
