//! What cells are made of, whichever form the protocol has for them.

use millrace_core::value::Value;

use crate::shared::exact_json;

/// Text. The server converts to UTF-8; what is none all the same comes as bytes.
pub(crate) fn text(bytes: &[u8]) -> Value {
    str::from_utf8(bytes).map_or_else(|_| Value::Bytes(bytes.to_vec()), |text| Value::Text(text.to_owned()))
}

/// A JSON document. A number in it that a double does not keep is text.
pub(crate) fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(&exact_json(bytes)).map_or_else(|_| text(bytes), Value::Json)
}

/// `I64`; `U64` beyond it.
pub(crate) fn unsigned(number: u64) -> Value {
    i64::try_from(number).map_or(Value::U64(number), Value::I64)
}

/// The number that a `BIT` is. `None`: there are more than 64 of them.
pub(crate) fn bits(bits: &[u8]) -> Option<Value> {
    let mut bytes = [0; 8];
    bytes.get_mut(8_usize.checked_sub(bits.len())?..)?.copy_from_slice(bits);
    Some(unsigned(u64::from_be_bytes(bytes)))
}

/// A date and a time, `03:04:05.123456`. `is_date`: it is one of the calendar; what is none stays
/// as MySQL writes it.
pub(crate) fn moment(date: &str, time: &str, is_date: bool, is_utc: bool) -> Value {
    Value::Timestamp(match (is_date, is_utc) {
        (true, true) => format!("{date}T{time}Z"),
        (true, false) => format!("{date}T{time}"),
        (false, _) => format!("{date} {time}"),
    })
}
