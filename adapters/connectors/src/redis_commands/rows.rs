//! The rows of a reply. A reply has no columns, so the command decides which there are:
//! docs/connectors/redis.md has the table.

use millrace_core::{
    Error, ErrorKind, Json, Result,
    value::{Rows, Value},
};
use millrace_languages::redis::ReplyForm;
use millrace_redis::Reply;

use super::{Prepared, names::unique};

/// Where the options of `ZADD` end.
const OPTIONS_OF_ZADD: [&str; 6] = ["NX", "XX", "GT", "LT", "CH", "INCR"];

/// The rows of a reply to a command. `most` is how many rows, or columns of a record, there may be.
///
/// # Errors
/// [`Protocol`](ErrorKind::Protocol) for what is no reply to the command,
/// [`TooLarge`](ErrorKind::TooLarge) for too many fields. `Err` within: the words of an error
/// inside of the reply.
pub(crate) fn rows_of(prepared: &Prepared, reply: Reply, most: usize) -> Result<Result<Rows, String>> {
    let form = Form { prepared, most };
    match form.rows(reply) {
        Ok(rows) => Ok(Ok(rows)),
        Err(Wrong::Inside(words)) => Ok(Err(words)),
        Err(Wrong::Fields) => {
            let what = if matches!(prepared.command.reply, ReplyForm::Record | ReplyForm::Fields) { "fields" } else { "values" };
            let message = format!("the result has more {what} than `max_rows`, {most}");
            Err(Error::new(ErrorKind::TooLarge, message))
        }
        Err(Wrong::Name) => {
            let message =
                format!("`{}` replies with the name of a field that is not UTF-8; ask for its fields and values apart", prepared.name());
            Err(Error::new(ErrorKind::Protocol, message))
        }
        Err(Wrong::Form) => {
            let message = format!("the reply to `{}` is not what this command replies with", prepared.name());
            Err(Error::new(ErrorKind::Protocol, message))
        }
    }
}

/// Why a reply has no rows.
enum Wrong {
    /// The server's words.
    Inside(String),
    Form,
    Fields,
    Name,
}

type Made<T> = std::result::Result<T, Wrong>;

struct Form<'a> {
    prepared: &'a Prepared,
    most: usize,
}

impl Form<'_> {
    fn rows(&self, reply: Reply) -> Made<Rows> {
        let form = self.prepared.command.reply;
        match form {
            ReplyForm::Record => self.record(pairs(reply)?),
            ReplyForm::Fields => self.fields(list(reply)?),
            ReplyForm::Score => Ok(single(score(reply)?)),
            ReplyForm::ScoreOfIncr if self.is_incr() => Ok(single(score(reply)?)),
            ReplyForm::Scores => each(list(reply)?, score),
            ReplyForm::Scored => scored(reply),
            ReplyForm::WithScores if self.has("WITHSCORES") => scored(reply),
            ReplyForm::WithValues if self.has("WITHVALUES") => {
                let rows = couples(reply)?.into_iter().map(|(name, held)| Ok(vec![value(name)?, value(held)?]));
                Ok(table(&["field", "value"], rows.collect::<Made<_>>()?))
            }
            ReplyForm::Cursor | ReplyForm::CursorPairs | ReplyForm::CursorScores => self.page(form, reply),
            ReplyForm::Entries => match list(reply)? {
                // `JUSTID`
                ids if !ids.is_empty() && !ids.iter().any(|entry| matches!(entry, Reply::List(_))) => each(ids, value),
                entries => Ok(table(&["id", "fields"], entries.into_iter().map(entry).collect::<Made<_>>()?)),
            },
            ReplyForm::Streams => streams(reply),
            ReplyForm::Plain | ReplyForm::ScoreOfIncr | ReplyForm::WithScores | ReplyForm::WithValues => match reply {
                Reply::List(elements) => each(elements, value),
                single_value => Ok(single(value(single_value)?)),
            },
        }
    }

    /// Names and values: one row, or none where there are none.
    fn record(&self, pairs: Vec<(Reply, Reply)>) -> Made<Rows> {
        if pairs.len() > self.most {
            return Err(Wrong::Fields);
        }
        if pairs.is_empty() {
            return Ok(table(&["value"], Vec::new()));
        }
        let (mut names, mut cells) = (Vec::new(), Vec::new());
        for (field, held) in pairs {
            names.push(name(field)?);
            cells.push(value(held)?);
        }
        Ok(Rows { columns: unique(names).into(), rows: vec![cells], ..Rows::default() })
    }

    /// The values of the fields that the command names.
    fn fields(&self, values: Vec<Reply>) -> Made<Rows> {
        let named = self.prepared.words.get(2..).unwrap_or_default();
        if named.len() != values.len() {
            return Err(Wrong::Form);
        }
        self.record(named.iter().map(|name| Reply::Bulk(name.clone())).zip(values).collect())
    }

    /// A cursor and what came with it.
    fn page(&self, form: ReplyForm, reply: Reply) -> Made<Rows> {
        let Ok([cursor, values]) = <[Reply; 2]>::try_from(list(reply)?) else { return Err(Wrong::Form) };
        let two = |first: Value, second: Value| Value::Array(vec![first, second]);
        let values: Vec<Value> = match form {
            ReplyForm::CursorScores => {
                pairs(values)?.into_iter().map(|(member, at)| Ok(two(value(member)?, score(at)?))).collect::<Made<_>>()?
            }
            ReplyForm::CursorPairs if !self.has("NOVALUES") => {
                pairs(values)?.into_iter().map(|(field, held)| Ok(two(value(field)?, value(held)?))).collect::<Made<_>>()?
            }
            _ => list(values)?.into_iter().map(value).collect::<Made<_>>()?,
        };
        if values.len() > self.most {
            return Err(Wrong::Fields);
        }
        Ok(table(&["cursor", "values"], vec![vec![value(cursor)?, Value::Array(values)]]))
    }

    /// Whether the command has an option, where its options stand: a key of that name is none.
    fn has(&self, option: &str) -> bool {
        let words = &self.prepared.words;
        let from = match usize::from(self.prepared.command.options_from) {
            0 => match words.get(1).and_then(|count| std::str::from_utf8(count).ok()?.parse::<usize>().ok()) {
                Some(keys) => keys.saturating_add(2),
                None => return false,
            },
            from => from,
        };
        words.iter().skip(from).any(|word| word.eq_ignore_ascii_case(option.as_bytes()))
    }

    fn is_incr(&self) -> bool {
        let is = |word: &[u8], option: &str| word.eq_ignore_ascii_case(option.as_bytes());
        let options = self.prepared.words.iter().skip(2).take_while(|word| OPTIONS_OF_ZADD.iter().any(|option| is(word, option)));
        options.into_iter().any(|word| is(word, "INCR"))
    }
}

/// One row of one value.
fn single(value: Value) -> Rows {
    table(&["value"], vec![vec![value]])
}

/// A row for each element.
fn each(elements: Vec<Reply>, of: impl Fn(Reply) -> Made<Value>) -> Made<Rows> {
    let rows = elements.into_iter().map(|element| Ok(vec![of(element)?])).collect::<Made<_>>()?;
    Ok(table(&["value"], rows))
}

fn table(columns: &[&str], rows: Vec<Vec<Value>>) -> Rows {
    Rows { columns: columns.iter().map(ToString::to_string).collect(), rows, ..Rows::default() }
}

/// Members with their scores.
fn scored(reply: Reply) -> Made<Rows> {
    let rows = couples(reply)?.into_iter().map(|(member, at)| Ok(vec![value(member)?, score(at)?]));
    Ok(table(&["value", "score"], rows.collect::<Made<_>>()?))
}

/// Entries of several streams.
fn streams(reply: Reply) -> Made<Rows> {
    let mut rows = Vec::new();
    for (key, entries) in couples(reply)? {
        let key = value(key)?;
        for found in list(entries)? {
            let mut row = entry(found)?;
            row.insert(0, key.clone());
            rows.push(row);
        }
    }
    Ok(table(&["stream", "id", "fields"], rows))
}

/// An entry of a stream: its id and its fields, which are gone where it was deleted. Newer servers
/// add more behind them.
fn entry(reply: Reply) -> Made<Vec<Value>> {
    let mut elements = list(reply)?.into_iter();
    let (Some(id), Some(fields)) = (elements.next(), elements.next()) else { return Err(Wrong::Form) };
    let fields = match fields {
        Reply::Nil => Value::Null,
        fields => {
            let (mut names, mut values) = (Vec::new(), Vec::new());
            for (field, held) in pairs(fields)? {
                names.push(name(field)?);
                values.push(json(&value(held)?));
            }
            Value::Json(Json::Object(unique(names).into_iter().zip(values).collect()))
        }
    };
    Ok(vec![value(id)?, fields])
}

fn json(value: &Value) -> Json {
    serde_json::to_value(value.json()).unwrap_or_default()
}

/// The name of a field.
fn name(reply: Reply) -> Made<String> {
    match reply {
        Reply::Bulk(bytes) => String::from_utf8(bytes).map_err(|_| Wrong::Name),
        Reply::Status(word) => Ok(word),
        Reply::Error(words) => Err(Wrong::Inside(words)),
        Reply::Nil | Reply::Integer(_) | Reply::List(_) => Err(Wrong::Form),
    }
}

/// The elements of a list; nothing has none.
fn list(reply: Reply) -> Made<Vec<Reply>> {
    match reply {
        Reply::List(elements) => Ok(elements),
        Reply::Nil => Ok(Vec::new()),
        Reply::Error(words) => Err(Wrong::Inside(words)),
        Reply::Integer(_) | Reply::Status(_) | Reply::Bulk(_) => Err(Wrong::Form),
    }
}

/// The elements of a list, two by two.
fn pairs(reply: Reply) -> Made<Vec<(Reply, Reply)>> {
    let mut elements = list(reply)?.into_iter();
    let mut pairs = Vec::new();
    while let Some(first) = elements.next() {
        pairs.push((first, elements.next().ok_or(Wrong::Form)?));
    }
    Ok(pairs)
}

/// What RESP2 and RESP3 have in different lists: two by two, or each two in a list of their own. A
/// key, a field or a member is none itself.
fn couples(reply: Reply) -> Made<Vec<(Reply, Reply)>> {
    let elements = list(reply)?;
    if !matches!(elements.first(), Some(Reply::List(_))) {
        return pairs(Reply::List(elements));
    }
    let couple = |element| {
        let [first, second] = <[Reply; 2]>::try_from(list(element)?).map_err(|_| Wrong::Form)?;
        Ok((first, second))
    };
    elements.into_iter().map(couple).collect()
}

/// A number with a fraction, which the protocol has as text.
fn score(reply: Reply) -> Made<Value> {
    match value(reply)? {
        Value::Text(text) => text.parse().map(Value::F64).map_err(|_| Wrong::Form),
        // JSON has whole numbers, too.
        Value::I64(number) => number.to_string().parse().map(Value::F64).map_err(|_| Wrong::Form),
        Value::Null => Ok(Value::Null),
        _ => Err(Wrong::Form),
    }
}

/// What a reply is. Text that is not UTF-8 comes as bytes, because nothing else keeps it whole.
fn value(reply: Reply) -> Made<Value> {
    Ok(match reply {
        Reply::Nil => Value::Null,
        Reply::Integer(number) => Value::I64(number),
        Reply::Status(word) => Value::Text(word),
        Reply::Bulk(bytes) => String::from_utf8(bytes).map_or_else(|error| Value::Bytes(error.into_bytes()), Value::Text),
        Reply::Error(words) => return Err(Wrong::Inside(words)),
        Reply::List(elements) => Value::Array(elements.into_iter().map(value).collect::<Made<_>>()?),
    })
}

#[cfg(test)]
mod tests {
    use millrace_core::{
        app::Access,
        ports::{Command, Query},
    };

    use super::*;
    use crate::shared::own_query;

    fn bulk(text: &str) -> Reply {
        Reply::Bulk(text.as_bytes().to_vec())
    }

    fn bulks(texts: &str) -> Reply {
        Reply::List(texts.split_ascii_whitespace().map(bulk).collect())
    }

    fn rows(command: &str, reply: Reply) -> Result<Result<String, String>> {
        let query = Query { command: Command::Statement { text: command, values: &[] }, access: Access::Write, ..own_query("", 0) };
        let prepared = Prepared::of(&query, "redis", "CONFIG GET,EVAL", false).unwrap();
        Ok(rows_of(&prepared, reply, 3)?.map(|rows| serde_json::to_string(&rows.json()).unwrap()))
    }

    #[test]
    fn every_form_of_reply_has_its_rows() {
        let list = Reply::List;
        let table = [
            ("GET k", Reply::Nil, r#"[{"value":null}]"#),
            ("GET k", bulk(""), r#"[{"value":""}]"#),
            ("GET k", Reply::Bulk(vec![0xff, 0]), r#"[{"value":"/wA="}]"#),
            ("SET k v", Reply::Status("OK".into()), r#"[{"value":"OK"}]"#),
            ("INCR k", Reply::Integer(i64::MIN), r#"[{"value":"-9223372036854775808"}]"#),
            ("MGET a b", list(vec![bulk("1"), Reply::Nil]), r#"[{"value":"1"},{"value":null}]"#),
            ("SMEMBERS k", list(vec![]), "[]"),
            ("LPOP k 2", Reply::Nil, r#"[{"value":null}]"#),
            ("HGETALL k", bulks("name Ada id 7"), r#"[{"name":"Ada","id":"7"}]"#),
            ("HGETALL k", list(vec![]), "[]"),
            ("CONFIG GET x*", bulks("x 1"), r#"[{"x":"1"}]"#),
            ("HMGET k a b a", list(vec![bulk("1"), Reply::Nil, bulk("1")]), r#"[{"a":"1","b":null,"a_2":"1"}]"#),
            ("ZSCORE k m", bulk("1.5"), r#"[{"value":1.5}]"#),
            ("ZSCORE k m", bulk("-inf"), r#"[{"value":null}]"#),
            ("ZSCORE k m", Reply::Integer(2), r#"[{"value":2.0}]"#),
            ("ZSCORE k m", Reply::Nil, r#"[{"value":null}]"#),
            ("ZMSCORE k a b", list(vec![bulk("3"), Reply::Nil]), r#"[{"value":3.0},{"value":null}]"#),
            ("ZADD k INCR 1 m", bulk("4"), r#"[{"value":4.0}]"#),
            ("ZADD k 1 INCR", Reply::Integer(1), r#"[{"value":1}]"#),
            ("ZPOPMIN k", bulks("m 1e3"), r#"[{"value":"m","score":1000.0}]"#),
            ("ZRANGE k 0 1 WITHSCORES", bulks("a 1 b 2"), r#"[{"value":"a","score":1.0},{"value":"b","score":2.0}]"#),
            (
                "ZRANGE k 0 1 WITHSCORES",
                list(vec![bulks("a 1"), bulks("b inf")]),
                r#"[{"value":"a","score":1.0},{"value":"b","score":null}]"#,
            ),
            ("ZRANGE k 0 1", bulks("a 1"), r#"[{"value":"a"},{"value":"1"}]"#),
            ("ZUNION 2 a WITHSCORES", bulks("a b"), r#"[{"value":"a"},{"value":"b"}]"#),
            ("ZUNION 1 a WITHSCORES", bulks("a 2"), r#"[{"value":"a","score":2.0}]"#),
            ("HRANDFIELD k 2 WITHVALUES", bulks("f v"), r#"[{"field":"f","value":"v"}]"#),
            ("HRANDFIELD k 2 WITHVALUES", list(vec![bulks("f v")]), r#"[{"field":"f","value":"v"}]"#),
            ("HRANDFIELD k", bulk("f"), r#"[{"value":"f"}]"#),
            ("SCAN 0", list(vec![bulk("7"), bulks("a b")]), r#"[{"cursor":"7","values":["a","b"]}]"#),
            ("HSCAN k 0", list(vec![bulk("0"), bulks("f v")]), r#"[{"cursor":"0","values":[["f","v"]]}]"#),
            ("HSCAN k 0 NOVALUES", list(vec![bulk("0"), bulks("f g h")]), r#"[{"cursor":"0","values":["f","g","h"]}]"#),
            ("ZSCAN k 0", list(vec![bulk("0"), bulks("m 2")]), r#"[{"cursor":"0","values":[["m",2.0]]}]"#),
            (
                "XRANGE k - +",
                list(vec![list(vec![bulk("1-0"), bulks("a 1 a 2")]), list(vec![bulk("2-0"), Reply::Nil])]),
                r#"[{"id":"1-0","fields":{"a":"1","a_2":"2"}},{"id":"2-0","fields":null}]"#,
            ),
            (
                "XREADGROUP GROUP g c CLAIM 5 STREAMS k >",
                list(vec![list(vec![bulk("k"), list(vec![list(vec![bulk("1-0"), bulks("a 1"), Reply::Integer(7), Reply::Integer(1)])])])]),
                r#"[{"stream":"k","id":"1-0","fields":{"a":"1"}}]"#,
            ),
            ("XCLAIM k g c 0 1-0 JUSTID", bulks("1-0"), r#"[{"value":"1-0"}]"#),
            (
                "XREAD STREAMS k 0",
                list(vec![list(vec![bulk("k"), list(vec![list(vec![bulk("1-0"), bulks("a 1")])])])]),
                r#"[{"stream":"k","id":"1-0","fields":{"a":"1"}}]"#,
            ),
            (
                "XREAD STREAMS k l 0 0",
                list(vec![bulk("k"), list(vec![list(vec![bulk("1-0"), bulks("a 1")])]), bulk("l"), list(vec![])]),
                r#"[{"stream":"k","id":"1-0","fields":{"a":"1"}}]"#,
            ),
            ("XREAD STREAMS k 0", Reply::Nil, "[]"),
            (
                "EVAL x 0",
                list(vec![Reply::Integer(1 << 53), list(vec![Reply::Nil, Reply::Bulk(vec![0xff])])]),
                r#"[{"value":"9007199254740992"},{"value":[null,"/w=="]}]"#,
            ),
        ];
        for (command, reply, expected) in table {
            assert_eq!(rows(command, reply), Ok(Ok(expected.to_owned())), "{command}");
        }
    }

    #[test]
    fn what_is_no_reply_to_the_command_is_an_error() {
        let list = Reply::List;
        for (command, reply, kind, expected) in [
            ("HGETALL k", bulks("a"), ErrorKind::Protocol, "the reply to `HGETALL` is not what this command replies with"),
            ("HGETALL k", bulk("a"), ErrorKind::Protocol, "is not what"),
            ("HGETALL k", list(vec![Reply::Bulk(vec![0xff]), bulk("a")]), ErrorKind::Protocol, "not UTF-8"),
            ("HGETALL k", bulks("a 1 b 2 c 3 d 4"), ErrorKind::TooLarge, "more fields than `max_rows`, 3"),
            ("HMGET k a", bulks("1 2"), ErrorKind::Protocol, "is not what"),
            ("ZRANGE k 0 1 WITHSCORES", list(vec![bulks("a 1"), bulk("b"), bulk("1")]), ErrorKind::Protocol, "is not what"),
            ("ZRANGE k 0 1 WITHSCORES", list(vec![bulk("a"), bulks("b 1")]), ErrorKind::Protocol, "is not what"),
            ("ZRANGE k 0 1 WITHSCORES", list(vec![bulks("a 1 b 2")]), ErrorKind::Protocol, "is not what"),
            ("ZSCORE k m", bulk("x"), ErrorKind::Protocol, "is not what"),
            ("SCAN 0", bulks("0"), ErrorKind::Protocol, "is not what"),
            ("SCAN 0", list(vec![bulk("0"), bulks("a b c d")]), ErrorKind::TooLarge, "more values than `max_rows`, 3"),
            ("XRANGE k - +", list(vec![bulks("1-0")]), ErrorKind::Protocol, "is not what"),
            ("XRANGE k - +", list(vec![bulks("1-0"), list(vec![])]), ErrorKind::Protocol, "is not what"),
        ] {
            let error = rows(command, reply).unwrap_err();
            assert!(error.kind == kind && error.message.contains(expected), "{command}: {error:?}");
        }
        let inside = list(vec![Reply::Integer(1), list(vec![Reply::Error("ERR no".into())])]);
        assert_eq!(rows("EVAL x 0", inside), Ok(Err("ERR no".into())));
    }
}
