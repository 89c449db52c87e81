//! The options of commands: where a caller's value could be read as one.

use super::command::RedisCommand;

/// All that follows: data.
const ALL: usize = usize::MAX;

/// How many arguments belong to an option; most have none or one. [`owned`] has those that differ
/// between commands.
const OPTIONS: &[(&str, usize)] = &[
    ("ABSTTL", 0),
    ("ACKED", 0),
    ("AGGREGATE", 1),
    ("ALPHA", 0),
    ("ANY", 0),
    ("ASC", 0),
    ("BIT", 0),
    ("BLOCK", 1),
    ("BY", 1),
    ("BYBOX", 3),
    ("BYLEX", 0),
    ("BYRADIUS", 2),
    ("BYSCORE", 0),
    ("BYTE", 0),
    ("CH", 0),
    ("CLAIM", 1),
    ("COUNT", 1),
    ("DB", 1),
    ("DELREF", 0),
    ("DESC", 0),
    ("ENTRIESADDED", 1),
    ("ENTRIESREAD", 1),
    ("EX", 1),
    ("EXAT", 1),
    ("FNX", 0),
    ("FORCE", 0),
    ("FREQ", 1),
    ("FROMLONLAT", 2),
    ("FROMMEMBER", 1),
    ("FULL", 0),
    ("FXX", 0),
    ("GET", 1),
    ("GROUP", 2),
    ("GT", 0),
    ("IDLE", 1),
    ("IDLETIME", 1),
    ("IDMP", 2),
    ("IDMPAUTO", 1),
    ("IDX", 0),
    ("IFDEQ", 1),
    ("IFDNE", 1),
    ("IFEQ", 1),
    ("IFNE", 1),
    ("INCR", 0),
    ("JUSTID", 0),
    ("KEEPREF", 0),
    ("KEEPTTL", 0),
    ("LASTID", 1),
    ("LEN", 0),
    ("LIMIT", 2),
    ("LT", 0),
    ("MATCH", 1),
    ("MAXDELETEDID", 1),
    ("MAXLEN", 1),
    ("MINID", 1),
    ("MINMATCHLEN", 1),
    ("MKSTREAM", 0),
    ("NOACK", 0),
    ("NOMKSTREAM", 0),
    ("NOVALUES", 0),
    ("NX", 0),
    ("PERSIST", 0),
    ("PX", 1),
    ("PXAT", 1),
    ("RANK", 1),
    ("REPLACE", 0),
    ("RETRYCOUNT", 1),
    ("REV", 0),
    ("SAMPLES", 1),
    ("STORE", 1),
    ("STOREDIST", 0),
    ("STREAMS", ALL),
    ("TYPE", 1),
    ("VERSION", 1),
    ("WITHCOORD", 0),
    ("WITHDIST", 0),
    ("WITHHASH", 0),
    ("WITHMATCHLEN", 0),
    ("WITHSCORE", 0),
    ("WITHSCORES", 0),
    ("WITHVALUES", 0),
    ("XX", 0),
];

/// Commands that say how many keys follow, and where they say so. Behind the keys are options.
const COUNTED: &[(&str, usize)] = &[
    ("LMPOP", 1),
    ("SINTERCARD", 1),
    ("ZDIFF", 1),
    ("ZDIFFSTORE", 2),
    ("ZINTER", 1),
    ("ZINTERCARD", 1),
    ("ZINTERSTORE", 2),
    ("ZMPOP", 1),
    ("ZUNION", 1),
    ("ZUNIONSTORE", 2),
];

/// Commands whose options end with the first argument that is none. `XREAD` and `XREADGROUP` end
/// theirs with `STREAMS`; of all others any argument may be an option.
const DATA_FOLLOW: [&str; 4] = ["GEOADD", "XADD", "XPENDING", "ZADD"];

/// Commands of which a place takes a pattern, such as `user:*`.
const PATTERNS: &[(&str, usize)] = &[("CONFIG GET", 2), ("KEYS", 1), ("PUBSUB CHANNELS", 2), ("PUBSUB SHARDCHANNELS", 2)];

/// What is known of an argument before there are values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument<'a> {
    /// A text that the author wrote.
    Text(&'a str),
    /// A value that can be no option, such as a number.
    NoWord,
    /// One of the values that the author listed.
    Choice,
    /// A value of any text.
    Any,
    /// As many arguments as the caller sends.
    List,
}

/// Why a caller could choose an option, and the argument that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// A value stands where the server looks for an option.
    Value(usize),
    /// A list stands before the options, or among them.
    List(usize),
    /// A value says how many arguments follow before the next option.
    Count(usize),
}

/// Whether a word is an option of some command.
#[must_use]
pub fn is_option(word: &str) -> bool {
    OPTIONS.iter().any(|(name, _)| name.eq_ignore_ascii_case(word))
}

/// Where a command says how many keys follow.
fn count_place(command: &RedisCommand) -> Option<usize> {
    COUNTED.iter().find(|(name, _)| *name == command.name).map(|(_, place)| *place)
}

/// How many arguments belong to an option of a command; `None` for what is not known as an option.
/// `keys` is how many keys it has.
fn owned(command: &RedisCommand, word: &str, keys: usize) -> Option<usize> {
    let word = word.to_ascii_uppercase();
    match (command.name, word.as_str()) {
        ("SET", "GET") => Some(0),
        ("BITFIELD" | "BITFIELD_RO", "GET") => Some(2),
        ("BITFIELD", "SET" | "INCRBY") => Some(3),
        ("BITFIELD", "OVERFLOW") | ("XCLAIM", "TIME") | ("GEORADIUS" | "GEORADIUSBYMEMBER", "STOREDIST") => Some(1),
        ("SINTERCARD" | "XADD" | "XTRIM" | "ZINTERCARD", "LIMIT") => Some(1),
        ("ZINTER" | "ZINTERSTORE" | "ZUNION" | "ZUNIONSTORE", "WEIGHTS") => Some(keys),
        (_, word) => OPTIONS.iter().find(|(name, _)| *name == word).map(|(_, owned)| *owned),
    }
}

/// The first argument by which a caller could choose an option of the command.
///
/// `arguments` are the whole command.
#[must_use]
pub fn open_option(command: &RedisCommand, arguments: &[Argument<'_>]) -> Option<Open> {
    let number = |place: usize| match arguments.get(place) {
        // No number of arguments is one that the server rejects.
        Some(Argument::Text(text)) => Ok(text.parse::<usize>().unwrap_or_default()),
        None => Ok(0),
        Some(_) => Err(Open::Count(place)),
    };
    let list = |from: usize, to: usize| {
        let found = arguments.iter().take(to).skip(from).position(|argument| *argument == Argument::List)?;
        Some(Open::List(from + found))
    };
    let (first, keys) = match (count_place(command), usize::from(command.options_from)) {
        (Some(place), _) => match list(0, place).map_or_else(|| number(place), Err) {
            Ok(keys) => (keys.saturating_add(place + 1), keys),
            Err(open) => return Some(open),
        },
        (None, 0) => return None,
        (None, first) => (first, 0),
    };
    // Behind a list nobody knows where the options begin.
    if let Some(open) = list(0, first) {
        return Some(open);
    }
    let data_follow = DATA_FOLLOW.contains(&command.name);
    let mut place = first;
    while let Some(argument) = arguments.get(place) {
        place += 1;
        let word = match argument {
            Argument::List => return Some(Open::List(place - 1)),
            Argument::Any if is_only_id(command, arguments, place) => continue,
            Argument::Any => return Some(Open::Value(place - 1)),
            Argument::NoWord if data_follow => return None,
            Argument::NoWord | Argument::Choice => continue,
            Argument::Text(word) => *word,
        };
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        let owned = match owned(command, word, keys) {
            // `HSETEX key FIELDS 2 field value field value EX 60`
            None if is("FIELDS") && command.name.starts_with('H') => match number(place) {
                Ok(fields) => fields.saturating_mul(if command.name == "HSETEX" { 2 } else { 1 }).saturating_add(1),
                Err(open) => return Some(open),
            },
            Some(ALL) => return None,
            Some(owned) => owned,
            None if data_follow => return None,
            None => 0,
        };
        // `MAXLEN ~ 1000`
        if (is("MAXLEN") || is("MINID")) && matches!(arguments.get(place), Some(Argument::Text("~" | "="))) {
            place += 1;
        }
        let next = place.saturating_add(owned);
        if let Some(open) = list(place, next) {
            return Some(open);
        }
        place = next;
    }
    None
}

/// Whether a value is the one id of `XCLAIM`, with nothing behind it that it could take as its own
/// were it an option.
fn is_only_id(command: &RedisCommand, arguments: &[Argument<'_>], next: usize) -> bool {
    let is_end = match arguments.get(next) {
        None => true,
        Some(Argument::Text(word)) => owned(command, word, 0).is_some(),
        Some(_) => false,
    };
    command.name == "XCLAIM" && next == usize::from(command.options_from) + 1 && is_end
}

/// The arguments that are patterns: with a `*`, a value there would match other keys than the
/// author meant.
pub fn patterns<'a>(command: &RedisCommand, arguments: &'a [Argument<'_>]) -> impl Iterator<Item = usize> + 'a {
    let fixed = PATTERNS.iter().find(|(name, _)| *name == command.name).map(|(_, place)| *place);
    let options: &[&str] = match command.name {
        "HSCAN" | "SCAN" | "SSCAN" | "ZSCAN" => &["MATCH"],
        "SORT" | "SORT_RO" => &["BY", "GET"],
        _ => &[],
    };
    let takes = move |argument: &Argument<'_>| matches!(argument, Argument::Text(word) if options.iter().any(|option| option.eq_ignore_ascii_case(word)));
    let behind = arguments.iter().enumerate().skip(usize::from(command.options_from)).filter(move |(_, argument)| takes(argument));
    fixed.into_iter().chain(behind.map(|(place, _)| place + 1))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{
        super::{Admission, commands::COMMANDS, find},
        *,
    };

    /// Freely admitted commands of any number of arguments of which none is an option.
    const WITHOUT_OPTIONS: &[&str] = &[
        "BITOP",
        "DEL",
        "EXISTS",
        "GEODIST",
        "GEOHASH",
        "GEOPOS",
        "HDEL",
        "HMGET",
        "HMSET",
        "HSET",
        "LPOP",
        "LPUSH",
        "LPUSHX",
        "MGET",
        "MSET",
        "MSETNX",
        "PFADD",
        "PFCOUNT",
        "PFMERGE",
        "PING",
        "PUBSUB CHANNELS",
        "PUBSUB NUMSUB",
        "PUBSUB SHARDCHANNELS",
        "PUBSUB SHARDNUMSUB",
        "RPOP",
        "RPUSH",
        "RPUSHX",
        "SADD",
        "SDIFF",
        "SDIFFSTORE",
        "SINTER",
        "SINTERSTORE",
        "SMISMEMBER",
        "SPOP",
        "SRANDMEMBER",
        "SREM",
        "SUNION",
        "SUNIONSTORE",
        "TOUCH",
        "UNLINK",
        "XACK",
        "XDEL",
        "ZMSCORE",
        "ZPOPMAX",
        "ZPOPMIN",
        "ZREM",
    ];

    #[test]
    fn tables_are_sorted_and_each_is_there_once() {
        for table in [OPTIONS, COUNTED, PATTERNS] {
            assert!(table.is_sorted_by(|a, b| a.0 < b.0));
        }
        assert!(WITHOUT_OPTIONS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn of_every_admitted_command_it_is_known_where_its_options_are() {
        for row in COMMANDS {
            // One that takes a certain number of arguments has no room for options.
            if row.admission != Admission::Free || row.arity > 0 {
                continue;
            }
            let is_checked = row.options_from > 0 || count_place(row).is_some();
            assert_ne!(is_checked, WITHOUT_OPTIONS.contains(&row.name), "{}", row.name);
        }
        for (name, _) in COUNTED {
            assert_eq!(find(name, None).map(|row| row.options_from), Some(0), "{name}");
        }
    }

    /// `?` is any value, `#` a number, `/` a choice, `@` a list.
    fn arguments(text: &str) -> Vec<Argument<'_>> {
        let argument = |word| match word {
            "?" => Argument::Any,
            "#" => Argument::NoWord,
            "/" => Argument::Choice,
            "@" => Argument::List,
            word => Argument::Text(word),
        };
        text.split(' ').map(argument).collect()
    }

    fn command(text: &str) -> &'static RedisCommand {
        let mut words = text.split(' ');
        find(words.next().unwrap(), words.next()).unwrap()
    }

    #[test]
    fn an_option_that_a_caller_could_choose_is_found() {
        let open = |text: &str| open_option(command(text), &arguments(text));
        for text in [
            "SET ? ?",
            "SET ? ? EX ?",
            "SET ? ? GET EX ? NX",
            "SET ? ? / #",
            "GET ?",
            "DEL ? ?",
            "DEL @",
            "HSET ? ? ?",
            "ZADD k # ?",
            "ZADD k NX # ?",
            "ZADD k NX 1 @",
            "ZRANGE ? ? ? BYSCORE LIMIT ? ? WITHSCORES",
            "XADD k MAXLEN ~ ? * f ?",
            "XADD k MAXLEN ~ 9 LIMIT ? * @",
            "XADD k * ? ?",
            "XPENDING ? ? IDLE # - + # ?",
            "XREAD COUNT ? STREAMS ? ?",
            "XREAD STREAMS @",
            "XREADGROUP GROUP ? ? COUNT ? STREAMS ? >",
            "GEOSEARCH ? FROMLONLAT ? ? BYRADIUS ? km COUNT ?",
            "GEOSEARCHSTORE ? ? FROMMEMBER ? BYRADIUS ? km STOREDIST",
            "GEORADIUS ? ? ? ? km STOREDIST ?",
            "SCAN ? MATCH ? COUNT ?",
            "ZUNION 1 ? WITHSCORES",
            "zunionstore ? 2 ? ? WEIGHTS ? ? AGGREGATE ?",
            "LMPOP 1 ? / COUNT ?",
            "SINTERCARD 2 ? ? LIMIT ?",
            "HEXPIRE ? ? NX FIELDS 2 ? ?",
            "HGETEX ? EX ? FIELDS 1 ?",
            "HSETEX ? FIELDS 1 ? ? EX ?",
            "HTTL ? FIELDS 1 ?",
            "BITFIELD ? GET ? ? SET ? ? ? OVERFLOW ? INCRBY ? ? ?",
            "XCLAIM ? ? ? ? ?",
            "XCLAIM ? ? ? ? ? IDLE ? JUSTID",
            "XCLAIM ? ? ? ? 1-0 2-0 LASTID ?",
            "XGROUP CREATE ? ? ? MKSTREAM ENTRIESREAD ?",
            "XSETID ? ? ENTRIESADDED ? MAXDELETEDID ?",
            "XINFO STREAM ? FULL COUNT ?",
            "MEMORY USAGE ? SAMPLES ?",
        ] {
            assert_eq!(open(text), None, "{text}");
        }
        for (text, expected) in [
            ("SET k v ?", Open::Value(3)),
            ("SET k v NX ?", Open::Value(4)),
            ("SET k v EX ? ?", Open::Value(5)),
            ("SET k v GET ?", Open::Value(4)),
            ("SET k v # ?", Open::Value(4)),
            ("SET k v / ?", Open::Value(4)),
            ("SET k v NEW ?", Open::Value(4)),
            ("SET k v IFDEQ ? ?", Open::Value(5)),
            ("SET k v EX @", Open::List(4)),
            ("SET @ v", Open::List(1)),
            ("SORT k ?", Open::Value(2)),
            ("SORT k @", Open::List(2)),
            ("SORT k BY a ? b", Open::Value(4)),
            ("SORT k GET @", Open::List(3)),
            ("SORT k LIMIT @", Open::List(3)),
            ("SORT k LIMIT 0 @", Open::List(4)),
            ("ZADD k ? ?", Open::Value(2)),
            ("ZADD k / ? ?", Open::Value(3)),
            ("ZADD k @", Open::List(2)),
            ("XADD k MAXLEN ~ 9 LIMIT 5 ? f v", Open::Value(7)),
            ("XADD k KEEPREF ? f v", Open::Value(3)),
            ("XREAD ? 0 STREAMS k 0", Open::Value(1)),
            ("XREAD COUNT 1 ? ? STREAMS k 0", Open::Value(3)),
            ("XREAD NEW ? STREAMS k 0", Open::Value(2)),
            ("GETEX k ?", Open::Value(2)),
            ("ZRANGE k 0 1 LIMIT ? ? ?", Open::Value(7)),
            ("ZRANGE k 0 1 LIMIT @", Open::List(5)),
            ("GEOSEARCH k FROMLONLAT @", Open::List(3)),
            ("GEOSEARCHSTORE d k STOREDIST ?", Open::Value(4)),
            ("ZUNION # ? ?", Open::Count(1)),
            ("ZUNION ? @", Open::Count(1)),
            ("ZUNIONSTORE d 2 @", Open::List(3)),
            ("ZUNIONSTORE @ 2 a b", Open::List(1)),
            ("ZUNIONSTORE d 1 a ?", Open::Value(4)),
            ("ZUNIONSTORE d 1 a WEIGHTS 1 ?", Open::Value(6)),
            ("ZINTERCARD 1 a LIMIT 1 ?", Open::Value(5)),
            ("LMPOP 1 l ?", Open::Value(3)),
            ("HEXPIRE k 1 ? FIELDS 1 f", Open::Value(3)),
            ("HEXPIRE k 1 FIELDS # f", Open::Count(4)),
            ("HEXPIRE k 1 FIELDS 1 @", Open::List(5)),
            ("HGETEX k FIELDS 1 ~ ?", Open::Value(5)),
            ("HGETEX k ? 1 FIELDS 1 f", Open::Value(2)),
            ("HSETEX k FIELDS 1 f v ?", Open::Value(6)),
            ("BITFIELD k ? u8 0", Open::Value(2)),
            ("BITFIELD k GET u8 0 ? u8 0 1", Open::Value(5)),
            ("BITFIELD k GET @", Open::List(3)),
            ("XCLAIM k g c 0 @", Open::List(5)),
            ("XCLAIM k g c 0 ? 5-0", Open::Value(5)),
            ("XCLAIM k g c 0 1-0 ? ?", Open::Value(6)),
            ("XGROUP CREATE k g $ ?", Open::Value(5)),
            ("XGROUP SETID k g $ @", Open::List(5)),
            ("XSETID k 1-0 ?", Open::Value(3)),
            ("XINFO STREAM k ?", Open::Value(3)),
            ("XPENDING k g ? 0 - + 1", Open::Value(3)),
        ] {
            assert_eq!(open(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn patterns_are_found() {
        for (text, expected) in [
            ("SCAN 0 MATCH ? COUNT 5", &[3][..]),
            ("HSCAN MATCH 0 COUNT 5 match ?", &[6]),
            ("KEYS ?", &[1]),
            ("SORT k BY ? GET # GET ?", &[3, 5, 7]),
            ("PUBSUB CHANNELS ?", &[2]),
            ("GET ?", &[]),
        ] {
            assert_eq!(patterns(command(text), &arguments(text)).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
