//! The options of commands: where a caller's value could be read as one.

use super::command::RedisCommand;

/// How many arguments belong to an option; most have none or one. What is not here ends the options: data follow.
const OPTIONS: &[(&str, usize)] = &[
    ("ABSTTL", 0),
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
    ("COUNT", 1),
    ("DB", 1),
    ("DESC", 0),
    ("EX", 1),
    ("EXAT", 1),
    ("FREQ", 1),
    ("FROMLONLAT", 2),
    ("FROMMEMBER", 1),
    ("GET", 1),
    ("GROUP", 2),
    ("GT", 0),
    ("IDLETIME", 1),
    ("IDX", 0),
    ("IFEQ", 1),
    ("INCR", 0),
    ("JUSTID", 0),
    ("KEEPTTL", 0),
    ("LEN", 0),
    ("LIMIT", 2),
    ("LT", 0),
    ("MATCH", 1),
    ("MAXLEN", 1),
    ("MINID", 1),
    ("MINMATCHLEN", 1),
    ("NOACK", 0),
    ("NOMKSTREAM", 0),
    ("NOVALUES", 0),
    ("NX", 0),
    ("PERSIST", 0),
    ("PX", 1),
    ("PXAT", 1),
    ("RANK", 1),
    ("REPLACE", 0),
    ("REV", 0),
    ("STORE", 1),
    ("STOREDIST", 0),
    ("STREAMS", usize::MAX),
    ("TYPE", 1),
    ("WITHCOORD", 0),
    ("WITHDIST", 0),
    ("WITHHASH", 0),
    ("WITHMATCHLEN", 0),
    ("WITHSCORE", 0),
    ("WITHSCORES", 0),
    ("WITHVALUES", 0),
    ("XX", 0),
];

/// Whether a word is an option of some command.
#[must_use]
pub fn is_option(word: &str) -> bool {
    OPTIONS.iter().any(|(name, _)| name.eq_ignore_ascii_case(word))
}

/// The first argument that is a value and stands where the server looks for an option, so that a caller could choose one.
///
/// `arguments` are the whole command. `None` is a value of any text; a value that can be none of the options, such as a number, is an
/// empty text.
pub fn value_in_option<'a>(command: &RedisCommand, arguments: impl IntoIterator<Item = Option<&'a str>>) -> Option<usize> {
    let first = match command.options_from {
        0 => return None,
        first => usize::from(first),
    };
    // How many arguments belong to the option before.
    let mut owned = 0;
    for (place, argument) in arguments.into_iter().enumerate().skip(first) {
        // Of a limit: `MAXLEN ~ 1000`.
        if matches!(argument, Some("~" | "=")) {
            continue;
        }
        if owned > 0 {
            owned -= 1;
            continue;
        }
        let Some(word) = argument else { return Some(place) };
        let option = OPTIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        owned = match option {
            Some(("GET", _)) if command.name == "SET" => 0,
            // `BITPOS key bit start end BYTE`, `LCS … IDX`.
            Some((_, owned)) => *owned,
            None => usize::MAX,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{super::find, *};

    #[test]
    fn options_are_sorted_and_each_is_there_once() {
        assert!(OPTIONS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn a_value_that_could_be_an_option_is_found() {
        let place = |text: &str| {
            // `#` is a number.
            let words: Vec<Option<&str>> =
                text.split(' ').map(|word| if word == "#" { Some("") } else { (word != "?").then_some(word) }).collect();
            value_in_option(find(words[0].unwrap(), None).unwrap(), words)
        };
        for text in [
            "SET ? ?",
            "SET ? ? EX ?",
            "SET ? ? GET EX ? NX",
            "GET ?",
            "DEL ? ?",
            "HSET ? ? ?",
            "ZADD k # ?",
            "ZADD k NX # ?",
            "ZRANGE ? ? ? BYSCORE LIMIT ? ? WITHSCORES",
            "XADD k MAXLEN ~ ? * f ?",
            "XADD k * ? ?",
            "XREAD COUNT ? STREAMS ? ?",
            "XREADGROUP GROUP ? ? COUNT ? STREAMS ? >",
            "GEOSEARCH ? FROMLONLAT ? ? BYRADIUS ? km COUNT ?",
            "SCAN ? MATCH ? COUNT ?",
            "ZUNION ? ?",
        ] {
            assert_eq!(place(text), None, "{text}");
        }
        for (text, expected) in [
            ("SET k v ?", 3),
            ("SET k v NX ?", 4),
            ("SET k v EX ? ?", 5),
            ("SET k v GET ?", 4),
            ("SORT k ?", 2),
            ("SORT k BY a ? b", 4),
            ("ZADD k ? ?", 2),
            ("XREAD ? 0 STREAMS k 0", 1),
            ("XREAD COUNT 1 ? ? STREAMS k 0", 3),
            ("GETEX k ?", 2),
            ("ZRANGE k 0 1 LIMIT ? ? ?", 7),
        ] {
            assert_eq!(place(text), Some(expected), "{text}");
        }
    }
}
