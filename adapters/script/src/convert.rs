//! JSON ↔ script values.
//!
//! Out of the script, a value is walked as `JSON.stringify` does it (`toJSON`, members that are `undefined` are dropped). What becomes of what
//! JSON cannot hold, [`script_value`] says: it is refused with its type and its place. So is a cycle.

use std::fmt::Write as _;

use boa_engine::{
    Context, JsBigInt, JsError, JsObject, JsResult, JsString, JsSymbol, JsValue, JsVariant, js_error, js_string,
    object::{
        IntegrityLevel,
        builtins::{JsArray, JsArrayBuffer, JsDataView, JsDate, JsMap, JsPromise, JsRegExp, JsSet},
    },
    property::{PropertyDescriptor, PropertyKey},
};
use millrace_core::{
    Json,
    ports::script_value::{self, Entering, ObjectLook},
    value::{Rows, Value},
};
use serde_json::{Map, Number};

use crate::{
    keys::{is_array, object_keys, prototype_of},
    state::{CallState, MAX_BUFFER_BYTES},
};

/// The deepest nesting of a value that crosses the border.
const MAX_DEPTH: usize = 256;

/// What a place in the result of a script begins with.
pub(crate) const RESULTS: &str = "results";

/// The most classes between an object and `Error`.
const MAX_CHAIN: usize = 64;

/// What an element of a list takes that is a parameter.
const ELEMENT_BYTES: usize = 32;

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
    if let Some(Ok(small)) = number.as_i64().map(i32::try_from) {
        return small.into();
    }
    match script_value::entering(number) {
        Entering::Number(value) => value.into(),
        Entering::Integer(value) => match u64::try_from(value) {
            Ok(value) => JsBigInt::from(value).into(),
            Err(_) => JsBigInt::from(i64::try_from(value).unwrap_or(i64::MIN)).into(),
        },
    }
}

/// How many bytes of JSON a value may be that is no result.
pub(crate) fn budget(state: &CallState) -> usize {
    usize::try_from(state.meter.room().min(MAX_BUFFER_BYTES)).unwrap_or(usize::MAX)
}

/// Script value → JSON; `None` is `undefined`. `root` is what the value is called in messages.
pub(crate) fn to_json(value: &JsValue, limit_bytes: usize, root: &str, context: &mut Context) -> Result<Option<Json>, Stop> {
    let mut walk = Walk { left: limit_bytes, root, is_parameter: false, path: Vec::new(), open: Vec::new(), context };
    walk.value(value, &js_string!())
}

/// Whether an object is an error: what is made by `Error` or a class below it, and what only inherits from it, as in old code.
pub(crate) fn is_error(object: &JsObject, context: &mut Context) -> JsResult<bool> {
    if object.is::<boa_engine::builtins::error::Error>() {
        return Ok(true);
    }
    let errors = context.intrinsics().constructors().error().prototype();
    let mut prototype = prototype_of(object, context)?;
    for _ in 0..MAX_CHAIN {
        let Some(known) = prototype else { return Ok(false) };
        if JsObject::equals(&known, &errors) {
            return Ok(true);
        }
        prototype = prototype_of(&known, context)?;
    }
    Ok(false)
}

enum Step {
    Member(String),
    Item(u64),
}

struct Walk<'a> {
    /// Bytes of JSON that may still come.
    left: usize,
    root: &'a str,
    /// Whether a database gets it, which has integers that callers have not.
    is_parameter: bool,
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
            JsVariant::Float64(value) => script_value::number(value).map_err(|problem| self.refuse(problem))?,
            JsVariant::String(text) => {
                let text = text.to_std_string_lossy();
                self.spend(string_bytes(&text))?;
                return Ok(Some(Json::String(text)));
            }
            JsVariant::Symbol(_) => return Err(self.refuse(script_value::SYMBOL)),
            JsVariant::BigInt(value) if self.is_parameter => {
                script_value::exact_integer(&value.to_string()).map_err(|problem| self.refuse(problem))?
            }
            JsVariant::BigInt(value) => script_value::integer(&value.to_string()),
            JsVariant::Object(object) => return self.object(&object, key),
        };
        self.spend(scalar_bytes(&json))?;
        Ok(Some(json))
    }

    fn object(&mut self, object: &JsObject, key: &JsString) -> Result<Option<Json>, Stop> {
        if object.is_callable() {
            return Err(self.refuse(script_value::FUNCTION));
        }
        if let Some(ancestor) = self.open.iter().position(|open| JsObject::equals(open, object)) {
            let target = self.name(ancestor);
            return Err(self.refuse(&format!("refers back to `{target}`")));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(Stop::NotJson(format!("`{}` is nested more than {MAX_DEPTH} levels deep", self.root)));
        }
        if crate::state::state(self.context)?.reply(&object.clone().into()).is_some() {
            return Err(self.refuse("is a reply of `millrace`; return the reply itself"));
        }
        // Its `toJSON` is for callers.
        if self.is_parameter && object.is::<JsBigInt>() {
            return self.members(object);
        }
        let to_json = object.get(js_string!("toJSON"), self.context)?;
        if let Some(to_json) = to_json.as_callable() {
            let replaced = to_json.call(&object.clone().into(), &[key.clone().into()], self.context)?;
            // Not again for the same object: as in JSON.stringify, `toJSON` is asked once.
            return match replaced.as_object() {
                Some(inner) => self.members(&inner),
                None if !replaced.is_null_or_undefined() => self.value(&replaced, key),
                None if JsDate::from_object(object.clone()).is_ok() => Err(self.refuse_look(&Self::INVALID_DATE)),
                None => Err(self.refuse(script_value::TO_NOTHING)),
            };
        }
        self.members(object)
    }

    fn members(&mut self, object: &JsObject) -> Result<Option<Json>, Stop> {
        if object.is_callable() {
            return Err(self.refuse(script_value::FUNCTION));
        }
        if let Some(primitive) = unwrapped(object, self.context)? {
            return self.value(&primitive, &js_string!());
        }
        self.open.push(object.clone());
        let json = if is_array(object, self.context)? { self.array(object) } else { self.plain(object) };
        self.open.pop();
        json.map(Some)
    }

    const INVALID_DATE: ObjectLook<'static> = ObjectLook { tag: "Date", class: "Date", is_error: false, is_plain: false, is_empty: true };

    /// Refuses an object that JSON would empty.
    fn look(&mut self, object: &JsObject, is_empty: bool) -> Result<(), Stop> {
        let objects = self.context.intrinsics().constructors().object().prototype();
        let is_plain = |prototype: Option<&JsObject>| prototype.is_none_or(|prototype| JsObject::equals(prototype, &objects));
        // Most are, and what is below costs more than the rest.
        if !is_empty && object.is_ordinary() && is_plain(object.prototype().as_ref()) {
            return Ok(());
        }
        let is_error = is_error(object, self.context)?;
        let known = object.get(JsSymbol::to_string_tag(), self.context)?.as_string().map(|tag| tag.to_std_string_lossy());
        let tag = match real_class(object).map(String::from).or(known) {
            Some(tag) => tag,
            None => String::from("Object"),
        };
        let prototype = prototype_of(object, self.context)?;
        let class = match is_empty {
            true => object.get(js_string!("constructor"), self.context)?,
            false => JsValue::undefined(),
        };
        let class = class.as_object().map(|class| class.get(js_string!("name"), self.context)).transpose()?;
        let class = class.and_then(|name| name.as_string()).map(|name| name.to_std_string_lossy()).unwrap_or_default();
        let look = ObjectLook { tag: &tag, class: &class, is_error, is_plain: is_plain(prototype.as_ref()), is_empty };
        match script_value::refused(&look) {
            Some(_) => Err(self.refuse_look(&look)),
            None => Ok(()),
        }
    }

    fn refuse_look(&self, look: &ObjectLook<'_>) -> Stop {
        self.refuse(&script_value::refused(look).unwrap_or_default())
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
            match self.value(&item, &JsString::from(index.to_string()))? {
                Some(json) => items.push(json),
                None => return Err(self.refuse(script_value::UNDEFINED)),
            }
            self.path.pop();
        }
        Ok(Json::Array(items))
    }

    fn plain(&mut self, object: &JsObject) -> Result<Json, Stop> {
        self.spend(2)?;
        let keys = object_keys(object, self.context)?;
        self.look(object, keys.is_empty())?;
        let mut members = Map::new();
        for key in keys {
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
        let place = self.name(self.path.len());
        Stop::NotJson(match self.root {
            RESULTS => format!("`{place}` {what}"),
            _ => format!("`{place}` {}", script_value::in_an_argument(what)),
        })
    }

    /// The place in the result, as one would write it: `results.items[2].fn`.
    fn name(&self, steps: usize) -> String {
        let mut name = String::from(self.root);
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

/// The class of an object that keeps what it holds outside of its members, whatever its prototype is now.
fn real_class(object: &JsObject) -> Option<&'static str> {
    let is = |found: bool, class: &'static str| found.then_some(class);
    is(JsMap::from_object(object.clone()).is_ok(), "Map")
        .or_else(|| is(JsSet::from_object(object.clone()).is_ok(), "Set"))
        .or_else(|| is(JsPromise::from_object(object.clone()).is_ok(), "Promise"))
        .or_else(|| is(JsRegExp::from_object(object.clone()).is_ok(), "RegExp"))
        .or_else(|| is(JsArrayBuffer::from_object(object.clone()).is_ok(), "ArrayBuffer"))
        .or_else(|| is(JsDataView::from_object(object.clone()).is_ok(), "DataView"))
}

fn is_identifier(key: &str) -> bool {
    !key.is_empty()
        && !key.starts_with(|first: char| first.is_ascii_digit())
        && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
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
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::I64(value) => Json::from(*value),
        Value::U64(value) => Json::from(*value),
        Value::F64(value) => script_value::number(*value).unwrap_or_default(),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => Json::String(text.clone()),
        Value::Bytes(bytes) => Json::String(base64::engine::general_purpose::STANDARD.encode(bytes)),
        Value::Json(json) => json.clone(),
        Value::Array(items) => Json::Array(items.iter().map(cell_to_json).collect()),
    }
}

/// The parameters of one `ctx.db(…).query(sql, params)`. None of them is cut: it arrives whole, or the query fails.
pub(crate) struct Parameters {
    /// Bytes that they may still take.
    left: usize,
}

impl Parameters {
    pub(crate) fn new(state: &CallState) -> Self {
        Self { left: budget(state) }
    }

    /// The parameter in a place. `undefined` is SQL's `NULL`.
    pub(crate) fn convert(&mut self, value: &JsValue, index: u64, context: &mut Context) -> JsResult<Value> {
        self.value(value, &format!("params[{index}]"), 0, context)
    }

    fn value(&mut self, value: &JsValue, place: &str, depth: usize, context: &mut Context) -> JsResult<Value> {
        if let Some(big) = value.as_bigint() {
            let digits = big.to_string();
            return Ok(digits.parse().map_or(Value::Decimal(digits), Value::I64));
        }
        if let Some(object) = value.as_object() {
            if let Some(bytes) = crate::native::bytes_of(&object, context)? {
                self.spend(bytes.len())?;
                return Ok(Value::Bytes(bytes));
            }
            if let Ok(date) = JsDate::from_object(object.clone()) {
                return Ok(Value::Timestamp(date.to_iso_string(context)?.to_string(context)?.to_std_string_lossy()));
            }
            if is_array(&object, context)? {
                return self.list(&object, place, depth, context);
            }
        }
        let mut walk = Walk { left: self.left, root: place, is_parameter: true, path: Vec::new(), open: Vec::new(), context };
        let json = walk.value(value, &js_string!()).map_err(|stop| stop.into_error(&js_string!("a parameter of `query`")))?;
        self.left = walk.left;
        Ok(match json {
            None | Some(Json::Null) => Value::Null,
            Some(Json::Bool(value)) => Value::Bool(value),
            Some(Json::String(text)) => Value::Text(text),
            Some(Json::Number(number)) => match (number.as_i64(), number.as_f64()) {
                (Some(value), _) => Value::I64(value),
                (None, _) if number.is_u64() => Value::Decimal(number.to_string()),
                (None, value) => Value::F64(value.unwrap_or(f64::NAN)),
            },
            Some(other) => Value::Json(other),
        })
    }

    fn list(&mut self, object: &JsObject, place: &str, depth: usize, context: &mut Context) -> JsResult<Value> {
        if depth >= MAX_DEPTH {
            return Err(js_error!(RangeError: "a parameter of `query` is nested more than {} levels deep", MAX_DEPTH));
        }
        let length = object.get(js_string!("length"), context)?.to_length(context)?;
        // Before anything is read: the list may be a sparse one.
        self.spend(usize::try_from(length).unwrap_or(usize::MAX).saturating_mul(ELEMENT_BYTES))?;
        let mut items = Vec::new();
        for index in 0..length {
            let item = object.get(index, context)?;
            let place = format!("{place}[{index}]");
            if item.is_undefined() {
                return Err(js_error!(TypeError: "a parameter of `query`: `{}` is undefined; write null", place));
            }
            items.push(self.value(&item, &place, depth + 1, context)?);
        }
        Ok(Value::Array(items))
    }

    fn spend(&mut self, bytes: usize) -> JsResult<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => return Err(js_error!(RangeError: "the parameters of `query` are too long")),
        }
        Ok(())
    }
}
