//! JSON ↔ script values.
//!
//! Out of the script, the rules are those of `JSON.stringify` (`toJSON`, dropped `undefined`, `null` for what is not finite), with
//! one difference: what JSON cannot hold (a function, a symbol, a bigint, a cycle) is refused by name instead of dropped.

use std::fmt::Write as _;

use boa_engine::{
    Context, JsBigInt, JsError, JsObject, JsResult, JsString, JsValue, JsVariant, js_string,
    object::{IntegrityLevel, builtins::JsArray},
    property::{PropertyDescriptor, PropertyKey},
};
use millrace_core::{
    Json,
    value::{Rows, Value},
};
use serde_json::{Map, Number};

use crate::keys::object_keys;

/// The deepest nesting of a value that crosses the border.
const MAX_DEPTH: usize = 256;

/// The largest whole number that a double holds without gaps, 2^53.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Why a value could not be converted.
pub(crate) enum Stop {
    /// What is wrong, and where.
    NotJson(String),
    /// More bytes of JSON than allowed.
    TooLong,
    /// Script code (a getter, `toJSON`, a proxy) threw.
    Threw(JsError),
}

impl From<JsError> for Stop {
    fn from(error: JsError) -> Self {
        Self::Threw(error)
    }
}

impl Stop {
    /// The same as an exception inside the script.
    pub(crate) fn into_error(self, what: &JsString) -> JsError {
        let what = what.to_std_string_lossy();
        match self {
            Self::NotJson(text) => boa_engine::js_error!(TypeError: "{}: {}", what, text),
            Self::TooLong => boa_engine::js_error!(RangeError: "{} is too long", what),
            Self::Threw(error) => error,
        }
    }
}

/// JSON → script value. With `frozen`, every object and array is.
pub(crate) fn to_script(json: &Json, frozen: bool, context: &mut Context) -> JsResult<JsValue> {
    match json {
        Json::Null => Ok(JsValue::null()),
        Json::Bool(value) => Ok((*value).into()),
        Json::Number(number) => Ok(number_to_script(number)),
        Json::String(text) => Ok(JsString::from(text.as_str()).into()),
        Json::Array(items) => {
            let items = items.iter().map(|item| to_script(item, frozen, context)).collect::<JsResult<Vec<_>>>()?;
            let array = JsArray::from_iter(items, context);
            if frozen {
                array.set_integrity_level(IntegrityLevel::Frozen, context)?;
            }
            Ok(array.into())
        }
        Json::Object(members) => {
            let object = JsObject::with_object_proto(context.intrinsics());
            for (key, value) in members {
                let value = to_script(value, frozen, context)?;
                object.insert_property(
                    JsString::from(key.as_str()),
                    PropertyDescriptor::builder().value(value).writable(!frozen).enumerable(true).configurable(!frozen),
                );
            }
            if frozen {
                object.set_integrity_level(IntegrityLevel::Frozen, context)?;
            }
            Ok(object.into())
        }
    }
}

fn number_to_script(number: &Number) -> JsValue {
    match number.as_i64().map(i32::try_from) {
        Some(Ok(small)) => small.into(),
        _ => number.as_f64().unwrap_or(f64::NAN).into(),
    }
}

/// Script value → JSON; `None` is `undefined`.
pub(crate) fn to_json(value: &JsValue, limit_bytes: usize, context: &mut Context) -> Result<Option<Json>, Stop> {
    let mut walk = Walk { left: limit_bytes, path: Vec::new(), open: Vec::new(), context };
    walk.value(value, &js_string!())
}

enum Step {
    Member(String),
    Item(u64),
}

struct Walk<'a> {
    /// Bytes of JSON that may still come.
    left: usize,
    path: Vec<Step>,
    /// The objects on the way from the root to here, with the length of the path to each.
    open: Vec<JsObject>,
    context: &'a mut Context,
}

impl Walk<'_> {
    fn value(&mut self, value: &JsValue, key: &JsString) -> Result<Option<Json>, Stop> {
        let json = match value.variant() {
            JsVariant::Undefined => return Ok(None),
            JsVariant::Null => Json::Null,
            JsVariant::Boolean(value) => Json::Bool(value),
            JsVariant::Integer32(value) => Json::from(value),
            JsVariant::Float64(value) => number_to_json(value),
            JsVariant::String(text) => {
                let text = text.to_std_string_lossy();
                self.spend(string_bytes(&text))?;
                return Ok(Some(Json::String(text)));
            }
            JsVariant::Symbol(_) => return Err(self.refuse("is a symbol")),
            JsVariant::BigInt(_) => return Err(self.refuse("is a bigint; return it as a string or a number")),
            JsVariant::Object(object) => return self.object(&object, key),
        };
        self.spend(scalar_bytes(&json))?;
        Ok(Some(json))
    }

    fn object(&mut self, object: &JsObject, key: &JsString) -> Result<Option<Json>, Stop> {
        if object.is_callable() {
            return Err(self.refuse("is a function"));
        }
        if let Some(ancestor) = self.open.iter().position(|open| JsObject::equals(open, object)) {
            let target = self.name(ancestor);
            return Err(self.refuse(&format!("refers back to `{target}`")));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(Stop::NotJson(format!("the result is nested more than {MAX_DEPTH} levels deep")));
        }
        if crate::state::state(self.context)?.reply(&object.clone().into()).is_some() {
            return Err(self.refuse("is a reply of `millrace`; return the reply itself"));
        }
        let to_json = object.get(js_string!("toJSON"), self.context)?;
        if let Some(to_json) = to_json.as_callable() {
            let replaced = to_json.call(&object.clone().into(), &[key.clone().into()], self.context)?;
            // Not again for the same object: as in JSON.stringify, `toJSON` is asked once.
            return match replaced.as_object() {
                Some(inner) => self.members(&inner),
                None => self.value(&replaced, key),
            };
        }
        self.members(object)
    }

    fn members(&mut self, object: &JsObject) -> Result<Option<Json>, Stop> {
        if object.is_callable() {
            return Err(self.refuse("is a function"));
        }
        if let Some(primitive) = unwrapped(object, self.context)? {
            return self.value(&primitive, &js_string!());
        }
        self.open.push(object.clone());
        let json = if object.is_array() { self.array(object) } else { self.plain(object) };
        self.open.pop();
        json.map(Some)
    }

    fn array(&mut self, object: &JsObject) -> Result<Json, Stop> {
        let length = object.get(js_string!("length"), self.context)?.to_length(self.context)?;
        // `[` and `]`, and the least an element takes: a digit and a comma. So a huge sparse array fails before it is walked.
        self.spend(2)?;
        if usize::try_from(length).map_or(true, |length| length > self.left) {
            return Err(Stop::TooLong);
        }
        let mut items = Vec::new();
        for index in 0..length {
            self.spend(usize::from(index > 0))?;
            self.path.push(Step::Item(index));
            let item = object.get(index, self.context)?;
            let json = self.value(&item, &JsString::from(index.to_string()))?;
            if json.is_none() {
                self.spend(4)?;
            }
            items.push(json.unwrap_or(Json::Null));
            self.path.pop();
        }
        Ok(Json::Array(items))
    }

    fn plain(&mut self, object: &JsObject) -> Result<Json, Stop> {
        self.spend(2)?;
        let mut members = Map::new();
        for key in object_keys(object, self.context)? {
            let name = key.to_std_string_lossy();
            let value = object.get(PropertyKey::from(key.clone()), self.context)?;
            self.path.push(Step::Member(name.clone()));
            if let Some(json) = self.value(&value, &key)? {
                self.spend(string_bytes(&name) + 1 + usize::from(!members.is_empty()))?;
                members.insert(name, json);
            }
            self.path.pop();
        }
        Ok(Json::Object(members))
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Stop> {
        self.left = self.left.checked_sub(bytes).ok_or(Stop::TooLong)?;
        Ok(())
    }

    fn refuse(&self, what: &str) -> Stop {
        Stop::NotJson(format!("`{}` {what}", self.name(self.path.len())))
    }

    /// The place in the result, as one would write it: `results.items[2].fn`.
    fn name(&self, steps: usize) -> String {
        let mut name = String::from("results");
        for step in self.path.iter().take(steps) {
            // Writing to a string does not fail.
            let _ = match step {
                Step::Item(index) => write!(name, "[{index}]"),
                Step::Member(key) if is_identifier(key) => write!(name, ".{key}"),
                Step::Member(key) => write!(name, "[{key:?}]"),
            };
        }
        name
    }
}

/// The primitive inside a `Number`, `String`, `Boolean` or `BigInt` object.
pub(crate) fn unwrapped(object: &JsObject, context: &mut Context) -> JsResult<Option<JsValue>> {
    if object.is_ordinary() || object.is_array() {
        return Ok(None);
    }
    if object.is::<f64>() {
        return Ok(Some(JsValue::from(object.clone()).to_number(context)?.into()));
    }
    if object.is::<JsString>() {
        return Ok(Some(JsValue::from(object.clone()).to_string(context)?.into()));
    }
    if let Some(value) = object.downcast_ref::<bool>() {
        return Ok(Some((*value).into()));
    }
    Ok(object.downcast_ref::<JsBigInt>().map(|value| JsValue::from(value.clone())))
}

fn is_identifier(key: &str) -> bool {
    !key.is_empty()
        && !key.starts_with(|first: char| first.is_ascii_digit())
        && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

/// Whole numbers become JSON integers, what is not finite becomes `null`.
pub(crate) fn number_to_json(value: f64) -> Json {
    if value.fract() == 0.0 && value.abs() <= MAX_WHOLE {
        // In range and whole, hence without loss.
        #[expect(clippy::cast_possible_truncation)]
        return Json::from(value as i64);
    }
    Number::from_f64(value).map_or(Json::Null, Json::Number)
}

fn scalar_bytes(json: &Json) -> usize {
    match json {
        Json::Null | Json::Bool(true) => 4,
        Json::Bool(false) => 5,
        Json::Number(number) => match number.as_i64() {
            Some(whole) => usize::from(whole < 0) + whole.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1,
            None => number.to_string().len(),
        },
        Json::String(_) | Json::Array(_) | Json::Object(_) => 0,
    }
}

/// The length of a string as JSON, quotes and escapes included.
fn string_bytes(text: &str) -> usize {
    let escapes: usize = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
            0..0x20 => 5,
            _ => 0,
        })
        .sum();
    text.len() + escapes + 2
}

/// Rows of a database → an array of plain objects, values as [`Value`] says.
pub(crate) fn rows_to_script(rows: &Rows, context: &mut Context) -> JsResult<JsValue> {
    let columns: Vec<PropertyKey> = rows.columns.iter().map(|name| JsString::from(name.as_str()).into()).collect();
    let mut list = Vec::with_capacity(rows.rows.len());
    for row in &rows.rows {
        let object = JsObject::with_object_proto(context.intrinsics());
        for (column, cell) in columns.iter().zip(row) {
            let value = to_script(&cell_to_json(cell), false, context)?;
            object.insert_property(
                column.clone(),
                PropertyDescriptor::builder().value(value).writable(true).enumerable(true).configurable(true),
            );
        }
        list.push(object.into());
    }
    Ok(JsArray::from_iter(list, context).into())
}

fn cell_to_json(value: &Value) -> Json {
    use base64::Engine as _;
    const SAFE: u64 = (1 << 53) - 1;
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::I64(value) if value.unsigned_abs() <= SAFE => Json::from(*value),
        Value::I64(value) => Json::String(value.to_string()),
        Value::U64(value) if *value <= SAFE => Json::from(*value),
        Value::U64(value) => Json::String(value.to_string()),
        Value::F64(value) => number_to_json(*value),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => Json::String(text.clone()),
        Value::Bytes(bytes) => Json::String(base64::engine::general_purpose::STANDARD.encode(bytes)),
        Value::Json(json) => json.clone(),
        Value::Array(items) => Json::Array(items.iter().map(cell_to_json).collect()),
    }
}

/// A parameter of `ctx.db(…).query(sql, params)`.
pub(crate) fn to_parameter(value: &JsValue, context: &mut Context) -> JsResult<Value> {
    if let Some(big) = value.as_bigint() {
        let digits = big.to_string();
        return Ok(digits.parse().map_or(Value::Decimal(digits), Value::I64));
    }
    if let Some(object) = value.as_object() {
        if let Some(bytes) = crate::native::bytes_of(&object, context)? {
            return Ok(Value::Bytes(bytes));
        }
        if let Ok(date) = boa_engine::object::builtins::JsDate::from_object(object.clone()) {
            return Ok(Value::Timestamp(date.to_iso_string(context)?.to_string(context)?.to_std_string_lossy()));
        }
        if object.is_array() {
            let length = object.get(js_string!("length"), context)?.to_length(context)?.min(crate::state::MAX_PENDING as u64);
            let items = (0..length).map(|index| {
                let item = object.get(index, context)?;
                to_parameter(&item, context)
            });
            return Ok(Value::Array(items.collect::<JsResult<_>>()?));
        }
    }
    let json = to_json(value, usize::MAX, context).map_err(|stop| stop.into_error(&js_string!("a parameter of `query`")))?;
    Ok(match json {
        None | Some(Json::Null) => Value::Null,
        Some(Json::Bool(value)) => Value::Bool(value),
        Some(Json::String(text)) => Value::Text(text),
        Some(Json::Number(number)) => number.as_i64().map_or_else(|| Value::F64(number.as_f64().unwrap_or(f64::NAN)), Value::I64),
        Some(other) => Value::Json(other),
    })
}
