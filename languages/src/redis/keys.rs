//! Which keys a command uses, and whether it reads or writes them: what the server's access control
//! judges it by.
//!
//! It is the server's own account of its commands (`COMMAND INFO`), and a test compares the two.

use alloc::{vec, vec::Vec};

use super::{command::RedisCommand, options::Argument};

/// Where keys of a command stand, and what it does with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// Where to look for the first.
    pub begin: Begin,
    /// Which the others are.
    pub find: Find,
    /// Whether data under the key gets to the caller, or under another key. What only tells that a
    /// key is there does not read.
    pub reads: bool,
    /// Whether data under the key is written.
    pub writes: bool,
}

/// Where to look for the first key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// At this argument.
    Index(usize),
    /// Behind this word, looked for from this argument on.
    Behind(&'static str, usize),
    /// Behind this word, looked for backwards from the last argument but one.
    BehindLast(&'static str),
}

/// Which arguments are keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// This many.
    Some(usize),
    /// Every one to the end, or every second.
    Every(usize),
    /// The first half of what follows.
    Half,
    /// As many as the first argument says, behind it.
    Counted,
}

/// A key of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The argument that it is; `None` where it can be any key, whatever the arguments say.
    pub place: Option<usize>,
    /// As [`KeySpec::reads`].
    pub reads: bool,
    /// As [`KeySpec::writes`].
    pub writes: bool,
}

/// What is done with a key.
#[derive(Clone, Copy)]
struct KeyUse {
    reads: bool,
    writes: bool,
}

const fn spec(begin: Begin, find: Find, KeyUse { reads, writes }: KeyUse) -> KeySpec {
    KeySpec { begin, find, reads, writes }
}

/// The key at an argument.
const fn at(index: usize, used: KeyUse) -> KeySpec {
    spec(Begin::Index(index), Find::Some(1), used)
}

/// Keys from an argument on.
const fn from(index: usize, used: KeyUse) -> KeySpec {
    spec(Begin::Index(index), Find::Every(1), used)
}

/// Keys whose number an argument says.
const fn counted(index: usize, used: KeyUse) -> KeySpec {
    spec(Begin::Index(index), Find::Counted, used)
}

const fn behind(word: &'static str, start: usize, find: Find, used: KeyUse) -> KeySpec {
    spec(Begin::Behind(word, start), find, used)
}

/// It only tells that the key is there, how large it is, or the like.
const TELLS: KeyUse = KeyUse { reads: false, writes: false };
const READS: KeyUse = KeyUse { reads: true, writes: false };
const WRITES: KeyUse = KeyUse { reads: false, writes: true };
const BOTH: KeyUse = KeyUse { reads: true, writes: true };

/// Commands whose keys are at the same places and used alike. `SET`, `BITFIELD`, `SORT`, `SORT_RO`
/// and `MIGRATE` are judged further by their options.
static SPECS: &[(&[KeySpec], &[&str])] = &[
    (
        &[at(1, READS)],
        &[
            "BITCOUNT",
            "BITFIELD_RO",
            "BITPOS",
            "DUMP",
            "EXPIRETIME",
            "GEODIST",
            "GEOHASH",
            "GEOPOS",
            "GEORADIUSBYMEMBER_RO",
            "GEORADIUS_RO",
            "GEOSEARCH",
            "GET",
            "GETBIT",
            "GETRANGE",
            "HEXPIRETIME",
            "HGET",
            "HGETALL",
            "HKEYS",
            "HMGET",
            "HPEXPIRETIME",
            "HPTTL",
            "HRANDFIELD",
            "HSCAN",
            "HTTL",
            "HVALS",
            "LINDEX",
            "LPOS",
            "LRANGE",
            "PEXPIRETIME",
            "PTTL",
            "SMEMBERS",
            "SMISMEMBER",
            "SORT",
            "SORT_RO",
            "SRANDMEMBER",
            "SSCAN",
            "SUBSTR",
            "TTL",
            "XPENDING",
            "XRANGE",
            "XREVRANGE",
            "ZCOUNT",
            "ZLEXCOUNT",
            "ZMSCORE",
            "ZRANDMEMBER",
            "ZRANGE",
            "ZRANGEBYLEX",
            "ZRANGEBYSCORE",
            "ZRANK",
            "ZREVRANGE",
            "ZREVRANGEBYLEX",
            "ZREVRANGEBYSCORE",
            "ZREVRANK",
            "ZSCAN",
            "ZSCORE",
        ],
    ),
    (
        &[at(1, WRITES)],
        &[
            "APPEND",
            "EXPIRE",
            "EXPIREAT",
            "GEOADD",
            "HDEL",
            "HEXPIRE",
            "HEXPIREAT",
            "HMSET",
            "HPERSIST",
            "HPEXPIRE",
            "HPEXPIREAT",
            "HSET",
            "HSETEX",
            "HSETNX",
            "LINSERT",
            "LPUSH",
            "LPUSHX",
            "LREM",
            "LSET",
            "LTRIM",
            "PERSIST",
            "PEXPIRE",
            "PEXPIREAT",
            "PFADD",
            "PSETEX",
            "RESTORE",
            "RESTORE-ASKING",
            "RPUSH",
            "RPUSHX",
            "SADD",
            "SETEX",
            "SETNX",
            "SETRANGE",
            "SREM",
            "XACK",
            "XADD",
            "XAUTOCLAIM",
            "XCLAIM",
            "XDEL",
            "XSETID",
            "XTRIM",
            "ZADD",
            "ZREM",
            "ZREMRANGEBYLEX",
            "ZREMRANGEBYRANK",
            "ZREMRANGEBYSCORE",
        ],
    ),
    (
        &[at(1, BOTH)],
        &[
            "BITFIELD",
            "DECR",
            "DECRBY",
            "GETDEL",
            "GETEX",
            "GETSET",
            "HGETDEL",
            "HGETEX",
            "HINCRBY",
            "HINCRBYFLOAT",
            "INCR",
            "INCRBY",
            "INCRBYFLOAT",
            "LPOP",
            "MOVE",
            "RPOP",
            "SET",
            "SETBIT",
            "SPOP",
            "ZINCRBY",
            "ZPOPMAX",
            "ZPOPMIN",
        ],
    ),
    (&[at(1, TELLS)], &["HEXISTS", "HLEN", "HSTRLEN", "LLEN", "SCARD", "SISMEMBER", "STRLEN", "TYPE", "XLEN", "ZCARD"]),
    (&[from(1, TELLS)], &["EXISTS", "TOUCH"]),
    (&[from(1, READS)], &["MGET", "PFCOUNT", "SDIFF", "SINTER", "SUNION"]),
    (&[from(1, WRITES)], &["DEL", "UNLINK"]),
    (&[spec(Begin::Index(1), Find::Some(2), READS)], &["LCS"]),
    (&[spec(Begin::Index(1), Find::Every(2), WRITES)], &["MSET", "MSETNX"]),
    (&[counted(1, READS)], &["SINTERCARD", "ZDIFF", "ZINTER", "ZINTERCARD", "ZUNION"]),
    (&[counted(1, BOTH)], &["LMPOP", "ZMPOP"]),
    (&[counted(2, READS)], &["EVALSHA_RO", "EVAL_RO", "FCALL_RO"]),
    (&[counted(2, BOTH)], &["EVAL", "EVALSHA", "FCALL"]),
    (&[at(2, TELLS)], &["MEMORY USAGE", "OBJECT ENCODING", "OBJECT FREQ", "OBJECT IDLETIME", "OBJECT REFCOUNT"]),
    (&[at(2, READS)], &["PFDEBUG", "XINFO CONSUMERS", "XINFO GROUPS", "XINFO STREAM"]),
    (&[at(2, WRITES)], &["XGROUP CREATE", "XGROUP CREATECONSUMER", "XGROUP DELCONSUMER", "XGROUP DESTROY", "XGROUP SETID"]),
    (&[at(1, BOTH), at(2, WRITES)], &["LMOVE", "RENAME", "RENAMENX", "RPOPLPUSH", "SMOVE"]),
    (&[at(1, READS), at(2, WRITES)], &["COPY"]),
    (&[at(1, WRITES), at(2, READS)], &["GEOSEARCHSTORE", "ZRANGESTORE"]),
    (&[at(1, WRITES), from(2, READS)], &["SDIFFSTORE", "SINTERSTORE", "SUNIONSTORE"]),
    (&[at(1, BOTH), from(2, READS)], &["PFMERGE"]),
    (&[at(2, WRITES), from(3, READS)], &["BITOP"]),
    (&[at(1, WRITES), counted(2, READS)], &["ZDIFFSTORE", "ZINTERSTORE", "ZUNIONSTORE"]),
    (&[behind("STREAMS", 1, Find::Half, READS)], &["XREAD"]),
    (&[behind("STREAMS", 4, Find::Half, READS)], &["XREADGROUP"]),
    (&[at(1, READS), behind("STORE", 6, Find::Some(1), WRITES), behind("STOREDIST", 6, Find::Some(1), WRITES)], &["GEORADIUS"]),
    (&[at(1, READS), behind("STORE", 5, Find::Some(1), WRITES), behind("STOREDIST", 5, Find::Some(1), WRITES)], &["GEORADIUSBYMEMBER"]),
    (&[at(3, BOTH), spec(Begin::BehindLast("KEYS"), Find::Every(1), BOTH)], &["MIGRATE"]),
];

/// Where the keys of a command stand, whatever its options are. None where it has no keys, and
/// where it is not known.
#[must_use]
pub fn key_specs(command: &RedisCommand) -> &'static [KeySpec] {
    SPECS.iter().find(|(_, names)| names.contains(&command.name)).map_or(&[], |(specs, _)| specs)
}

/// The argument that is a channel.
#[must_use]
pub fn channel(command: &RedisCommand) -> Option<usize> {
    matches!(command.name, "PUBLISH" | "SPUBLISH").then_some(1)
}

/// The keys of a command. `arguments` are the whole of it.
#[must_use]
pub fn keys(command: &RedisCommand, arguments: &[Argument<'_>]) -> Vec<Key> {
    let mut keys: Vec<Key> = key_specs(command).iter().flat_map(|spec| of_spec(spec, arguments)).collect();
    let is = |place: usize, word: &str| is_word(arguments.get(place), word);
    match command.name {
        // It returns what was there before.
        "SET" => keys.iter_mut().for_each(|key| key.reads = (3..arguments.len()).any(|place| is(place, "GET"))),
        "BITFIELD" => keys.iter_mut().for_each(|key| key.writes = writes_bits(arguments)),
        "MIGRATE" if arguments.get(3) == Some(&Argument::Text("")) => drop(keys.remove(0)),
        "MIGRATE" => keys.truncate(1),
        "SORT" | "SORT_RO" => sorted(arguments, &mut keys),
        _ => {}
    }
    keys
}

/// Whether an argument is a word, or may be.
fn is_word(argument: Option<&Argument<'_>>, word: &str) -> bool {
    match argument {
        Some(Argument::Text(text)) => text.eq_ignore_ascii_case(word),
        Some(Argument::Choice) => true,
        _ => false,
    }
}

fn of_spec(&KeySpec { begin, find, reads, writes }: &KeySpec, arguments: &[Argument<'_>]) -> Vec<Key> {
    let key = |place| Key { place, reads, writes };
    let count = arguments.len();
    let is = |place: &usize, word: &str| is_word(arguments.get(*place), word);
    let first = match begin {
        Begin::Index(first) => Some(first),
        Begin::Behind(word, start) => (start..count).find(|place| is(place, word)).map(|place| place + 1),
        Begin::BehindLast(word) => (1..count.saturating_sub(1)).rev().find(|place| is(place, word)).map(|place| place + 1),
    };
    let Some(first) = first else { return Vec::new() };
    // Behind a list nobody knows where an argument is, unless all of them are keys.
    let list = arguments.iter().position(|argument| *argument == Argument::List).unwrap_or(usize::MAX);
    let (end, step) = match find {
        Find::Every(1) if list >= first => return (first..count).map(|place| key(Some(place))).collect(),
        Find::Every(step) => (count, step),
        Find::Some(many) => (first.saturating_add(many).min(count), 1),
        Find::Half => (first.saturating_add(count.saturating_sub(first) / 2), 1),
        Find::Counted => match arguments.get(first) {
            Some(Argument::Text(text)) => {
                let many = text.parse::<usize>().unwrap_or_default();
                return places(first + 1, first.saturating_add(many).saturating_add(1).min(count), 1, list).into_iter().map(key).collect();
            }
            _ => return vec![key(None)],
        },
    };
    let end = if list < count && find == Find::Half { count } else { end };
    places(first, end, step, list).into_iter().map(key).collect()
}

/// The places of keys before a list, and any key where there may be more.
fn places(first: usize, end: usize, step: usize, list: usize) -> Vec<Option<usize>> {
    let mut places: Vec<Option<usize>> = (first..end.min(list)).step_by(step).map(Some).collect();
    if list < end {
        places.push(None);
    }
    places
}

/// Whether a `BITFIELD` has more than `GET`.
fn writes_bits(arguments: &[Argument<'_>]) -> bool {
    let mut place = 2;
    while let Some(argument) = arguments.get(place) {
        place += match argument {
            Argument::Text(word) if word.eq_ignore_ascii_case("GET") => 3,
            Argument::Text(word) if word.eq_ignore_ascii_case("OVERFLOW") => 2,
            _ => return true,
        };
    }
    false
}

/// What the options of `SORT` add: the key that it stores to, and any key, which the server wants
/// to be readable for patterns of keys.
fn sorted(arguments: &[Argument<'_>], keys: &mut Vec<Key>) {
    let (mut place, mut stored, mut looks_up) = (2, None, false);
    while let Some(argument) = arguments.get(place) {
        let is = |option: &str| matches!(argument, Argument::Text(word) if word.eq_ignore_ascii_case(option));
        let next = place + 1;
        place += match () {
            () if is("LIMIT") => 3,
            () if is("STORE") => {
                stored = Some(next).filter(|place| *place < arguments.len());
                2
            }
            () if is("GET") => {
                looks_up = true;
                2
            }
            () if is("BY") => {
                // Without a `*` nothing is looked up.
                looks_up |= !matches!(arguments.get(next), Some(Argument::Text(pattern)) if !pattern.contains('*'));
                2
            }
            () => 1,
        };
    }
    keys.extend(stored.map(|place| Key { place: Some(place), reads: false, writes: true }));
    if looks_up {
        keys.push(Key { place: None, reads: true, writes: false });
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::String};

    use super::{
        super::{find, words},
        *,
    };

    /// `?` is any value, `/` a choice, `@` a list.
    fn shown(text: &str) -> String {
        let cut = words(text).unwrap();
        let arguments: Vec<Argument<'_>> = cut
            .iter()
            .map(|word| match word.text().unwrap() {
                "?" => Argument::Any,
                "/" => Argument::Choice,
                "@" => Argument::List,
                text => Argument::Text(text),
            })
            .collect();
        let command = find(cut[0].text().unwrap(), cut.get(1).and_then(|word| word.text())).unwrap();
        let shown = |key: &Key| {
            let uses = match (key.reads, key.writes) {
                (true, true) => "RW",
                (true, false) => "R",
                (false, true) => "W",
                (false, false) => "",
            };
            key.place.map_or_else(|| format!("{uses}*"), |place| format!("{uses}{place}"))
        };
        keys(command, &arguments).iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_name_is_there_once_and_known() {
        let names: Vec<&str> = SPECS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for (number, name) in names.iter().enumerate() {
            let (first, second) = name.split_once(' ').map_or((*name, None), |(first, second)| (first, Some(second)));
            assert_eq!(find(first, second).map(|found| found.name), Some(*name));
            assert!(!names[..number].contains(name), "{name}");
        }
        assert!(SPECS.iter().all(|(_, names)| names.is_sorted()));
    }

    #[test]
    fn keys_are_found_behind_counts_words_and_lists() {
        for (text, expected) in [
            ("GET ?", "R1"),
            ("PING", ""),
            ("SET k v", "W1"),
            ("SET k GET", "W1"),
            ("SET k v get EX ?", "RW1"),
            ("SET k v /", "RW1"),
            ("MGET a @ b", "R1 R2 R3"),
            ("GET @", "R*"),
            ("SMOVE a @", "RW1 W*"),
            ("SMOVE @ m", "RW* W*"),
            ("HDEL k @", "W1"),
            ("MSET a 1 b 2", "W1 W3"),
            ("MSET a 1 @", "W1 W*"),
            ("SUNIONSTORE d @ b", "W1 R2 R3"),
            ("SUNIONSTORE @ b", "W* R*"),
            ("ZUNIONSTORE d 2 a b WEIGHTS 1 2", "W1 R3 R4"),
            ("ZUNIONSTORE d ? a b", "W1 R*"),
            ("ZUNION 9 a b", "R2 R3"),
            ("ZUNION x a b", ""),
            ("EVAL code 1 k v", "RW3"),
            ("EVAL code 2 k @", "RW3 RW*"),
            ("XREAD COUNT 2 STREAMS a b 0 ?", "R4 R5"),
            ("XREAD STREAMS a @", "R2 R*"),
            ("XREAD COUNT 2", ""),
            ("XREADGROUP GROUP STREAMS c STREAMS a >", "R5"),
            ("GEORADIUS k 1 2 3 km STORE d", "R1 W7"),
            ("GEORADIUS k 1 2 3 km", "R1"),
            ("BITOP AND d a b", "W2 R3 R4"),
            ("BITFIELD k", "R1"),
            ("BITFIELD k GET u8 0 GET u8 ?", "R1"),
            ("BITFIELD k OVERFLOW SAT GET u8 0", "R1"),
            ("BITFIELD k GET u8 0 SET u8 0 1", "RW1"),
            ("SORT k", "R1"),
            ("SORT k LIMIT 0 GET STORE d", "R1 W6"),
            ("SORT k BY nosort STORE d", "R1 W5"),
            ("SORT k BY w_*", "R1 R*"),
            ("SORT_RO k BY ?", "R1 R*"),
            ("SORT_RO k GET #", "R1 R*"),
            ("MIGRATE h 1 k 0 5 KEYS a b", "RW3"),
            ("MIGRATE h 1 '' 0 5 KEYS a b", "RW7 RW8"),
            ("XINFO STREAM k", "R2"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
