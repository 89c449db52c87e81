//! What the reply to a command is as rows.
//!
//! A document is a row: its fields are columns, in the order in which they first appear. A value
//! within a value is JSON, written as a cell would be.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    Error, ErrorKind, Json, Result, hex,
    value::{MAX_SAFE_INTEGER, Rows, Value},
};
use millrace_languages::mongodb::Kind;

use super::{
    bson::{Bson, Members, find},
    command::Prepared,
    decimal, time,
};
use crate::documents::table;

const ID: &str = "_id";

/// The documents of a cursor.
///
/// # Errors
/// [`TooLarge`](ErrorKind::TooLarge) for documents with too many different fields.
pub(super) fn of_documents(documents: Vec<Members>) -> Result<Rows> {
    table(documents, ID, "name those that you need in `projection`", cell)
}

/// The reply of a command without a cursor, in which there is no error.
///
/// # Errors
/// [`Protocol`](ErrorKind::Protocol) for one without what it has to have.
pub(super) fn of_reply(prepared: &Prepared, reply: &[(String, Bson)]) -> Result<Rows> {
    let number = |name: &str| {
        let number = find(reply, name).and_then(Bson::integer).and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| Error::new(ErrorKind::Protocol, format!("the reply of MongoDB has no `{name}`")))
    };
    let table = |columns: &[&str], rows: Vec<Vec<Value>>, affected| Rows {
        columns: columns.iter().map(ToString::to_string).collect(),
        rows,
        affected,
        ..Rows::default()
    };
    Ok(match prepared.kind {
        Kind::Count => table(&["count"], vec![vec![whole(number("n")?)]], 0),
        Kind::Distinct => {
            let values = find(reply, "values").map(Bson::elements);
            let values = values.ok_or_else(|| Error::new(ErrorKind::Protocol, "the reply of MongoDB has no `values`"))?;
            table(&["value"], values.iter().cloned().map(|value| vec![cell(value)]).collect(), 0)
        }
        Kind::Insert => table(&[ID], prepared.ids.iter().cloned().map(|id| vec![cell(id)]).collect(), number("n")?),
        Kind::Update if prepared.upserts => {
            let upserted = find(reply, "upserted").map(Bson::elements).unwrap_or_default();
            let ids = upserted.iter().filter_map(|upserted| upserted.document().and_then(|upserted| find(upserted, ID)));
            let ids = Value::Json(ids.cloned().map(json).collect());
            let changed = number("n")?;
            table(&["affected_rows", "upserted_ids"], vec![vec![whole(changed), ids]], changed)
        }
        _ => Rows { affected: number("n")?, ..Rows::default() },
    })
}

fn whole(number: u64) -> Value {
    i64::try_from(number).map_or(Value::U64(number), Value::I64)
}

fn cell(value: Bson) -> Value {
    match value {
        Bson::Double(number) => Value::F64(number),
        Bson::Bool(truth) => Value::Bool(truth),
        Bson::Int32(number) => Value::I64(number.into()),
        Bson::Int64(number) => Value::I64(number),
        Bson::Null => Value::Null,
        Bson::Binary(4, bytes) if bytes.len() == 16 => Value::Text(uuid(&bytes)),
        Bson::Binary(_, bytes) => Value::Bytes(bytes),
        Bson::Decimal(bytes) => Value::Decimal(decimal::text_of(bytes)),
        Bson::Date(ms) => Value::Timestamp(time::text_of(ms)),
        value @ (Bson::Document(_) | Bson::Array(_)) => Value::Json(json(value)),
        value => match json(value) {
            Json::String(text) => Value::Text(text),
            other => Value::Json(other),
        },
    }
}

fn json(value: Bson) -> Json {
    match value {
        Bson::Double(number) => number.into(),
        Bson::Text(text) | Bson::Code(text) => text.into(),
        Bson::Document(members) => {
            let mut object = serde_json::Map::new();
            for (key, value) in members {
                object.entry(key).or_insert_with(|| json(value));
            }
            Json::Object(object)
        }
        Bson::Array(elements) => elements.into_iter().map(json).collect(),
        Bson::Binary(4, bytes) if bytes.len() == 16 => uuid(&bytes).into(),
        Bson::Binary(_, bytes) => STANDARD.encode(bytes).into(),
        Bson::ObjectId(id) => hex::encode(&id).into(),
        Bson::Bool(truth) => truth.into(),
        Bson::Date(ms) => time::text_of(ms).into(),
        Bson::Null => Json::Null,
        Bson::Regex(pattern, options) => format!("/{pattern}/{options}").into(),
        Bson::Int32(number) => number.into(),
        Bson::Int64(number) if number.unsigned_abs() > MAX_SAFE_INTEGER => number.to_string().into(),
        Bson::Int64(number) => number.into(),
        Bson::Timestamp(seconds, count) => serde_json::json!({ "t": seconds, "i": count }),
        Bson::Decimal(bytes) => decimal::text_of(bytes).into(),
        Bson::MinKey => "MinKey".into(),
        Bson::MaxKey => "MaxKey".into(),
    }
}

fn uuid(bytes: &[u8]) -> String {
    let mut text = hex::encode(bytes);
    [20, 16, 12, 8].into_iter().for_each(|place| text.insert(place, '-'));
    text
}
