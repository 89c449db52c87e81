//! `JSON.stringify` without recursion, and what bounds `JSON.parse`.

use std::collections::HashSet;

use boa_engine::{
    Context, JsArgs, JsObject, JsResult, JsString, JsValue, js_error, js_string, object::builtins::JsFunction, property::PropertyKey,
    value::IntegerOrInfinity,
};

use super::table::{Table, length_of};
use crate::{checks, convert::unwrapped, keys::object_keys};

/// What a character of JSON text may take as values.
const PARSED_BYTES: u64 = 24;
/// How many values are written before the limits are looked at.
const LOOK_EVERY: u32 = 256;

pub(super) const TABLE: Table = &[("JSON", &["stringify"], stringify), ("JSON", &["parse"], parse)];

/// The parser bounds the depth of what it reads. The reviver is called afterwards, on what may be deeper by then.
fn parse(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = arguments.get_or_undefined(0).to_string(context)?;
    checks::look(context)?;
    checks::ask(text.len() as u64 * PARSED_BYTES, context)?;
    let value = original.call(this, &[text.into()], context)?;
    let Some(reviver) = arguments.get_or_undefined(1).as_callable() else { return Ok(value) };
    let holder = JsObject::with_object_proto(context.intrinsics());
    holder.create_data_property_or_throw(js_string!(), value, context)?;
    revive(&holder, js_string!().into(), &reviver, context)
}

/// <https://tc39.es/ecma262/#sec-internalizejsonproperty>
fn revive(holder: &JsObject, key: PropertyKey, reviver: &JsObject, context: &mut Context) -> JsResult<JsValue> {
    let _nested = checks::Nested::enter(context)?;
    checks::look(context)?;
    let value = holder.get(key.clone(), context)?;
    if let Some(object) = value.as_object() {
        let keys: Vec<PropertyKey> = if object.is_array() {
            let length = length_of(&value, context)?;
            checks::list(length, 0, "`JSON.parse`", context)?;
            (0..length).map(PropertyKey::from).collect()
        } else {
            object_keys(&object, context)?.into_iter().map(PropertyKey::from).collect()
        };
        for key in keys {
            let new = revive(&object, key.clone(), reviver, context)?;
            // What cannot be changed stays, without an error.
            if new.is_undefined() {
                drop(object.delete_property_or_throw(key, context));
            } else {
                drop(object.create_data_property(key, new, context));
            }
        }
    }
    let name = match &key {
        PropertyKey::Index(index) => JsString::from(index.get().to_string()).into(),
        other => JsValue::from(other),
    };
    reviver.call(&holder.clone().into(), &[name, value], context)
}

/// An object or a list whose members are being written.
struct Open {
    object: JsObject,
    /// The members' names; `None` is a list.
    keys: Option<std::rc::Rc<[JsString]>>,
    length: u64,
    next: u64,
    is_empty: bool,
}

struct Writer {
    out: Vec<u16>,
    gap: Vec<u16>,
    replacer: Option<JsObject>,
    only: Option<std::rc::Rc<[JsString]>>,
    open: Vec<Open>,
    ancestors: HashSet<JsObject>,
    written: u32,
}

fn stringify(_: &JsFunction, _: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    // `toJSON` may come back here.
    let _nested = checks::Nested::enter(context)?;
    checks::look(context)?;
    let (replacer, only) = replacer(arguments.get_or_undefined(1), context)?;
    let gap = gap(arguments.get_or_undefined(2), context)?;
    let mut writer = Writer { out: Vec::new(), gap, replacer, only, open: Vec::new(), ancestors: HashSet::new(), written: 0 };
    let value = arguments.get_or_undefined(0).clone();
    // Only a replacer sees the object around the whole.
    let holder = if writer.replacer.is_some() {
        let holder = JsObject::with_object_proto(context.intrinsics());
        holder.create_data_property_or_throw(js_string!(), value.clone(), context)?;
        Some(holder)
    } else {
        None
    };
    if !writer.value(value, &js_string!(), holder.as_ref(), context)? {
        return Ok(JsValue::undefined());
    }
    while !writer.open.is_empty() {
        writer.member(context)?;
    }
    Ok(JsString::from(writer.out.as_slice()).into())
}

/// A function, or a list of names.
#[expect(clippy::type_complexity, reason = "one or the other")]
fn replacer(value: &JsValue, context: &mut Context) -> JsResult<(Option<JsObject>, Option<std::rc::Rc<[JsString]>>)> {
    let Some(object) = value.as_object() else { return Ok((None, None)) };
    if object.is_callable() {
        return Ok((Some(object), None));
    }
    if !object.is_array() {
        return Ok((None, None));
    }
    let length = length_of(value, context)?;
    checks::list(length, 16, "`JSON.stringify`", context)?;
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    for index in 0..length {
        let name = object.get(index, context)?;
        let is_name = name.is_string() || name.is_number() || name.as_object().is_some_and(|it| it.is::<JsString>() || it.is::<f64>());
        if is_name {
            let name = name.to_string(context)?;
            if known.insert(name.clone()) {
                names.push(name);
            }
        }
    }
    Ok((None, Some(names.into())))
}

fn gap(value: &JsValue, context: &mut Context) -> JsResult<Vec<u16>> {
    let mut space = value.clone();
    if let Some(object) = space.as_object() {
        if object.is::<f64>() {
            space = space.to_number(context)?.into();
        } else if object.is::<JsString>() {
            space = space.to_string(context)?.into();
        }
    }
    if let Some(text) = space.as_string() {
        return Ok(text.iter().take(10).collect());
    }
    if !space.is_number() {
        return Ok(Vec::new());
    }
    let count = match space.to_integer_or_infinity(context)? {
        IntegerOrInfinity::Integer(count) => usize::try_from(count.clamp(0, 10)).unwrap_or(0),
        IntegerOrInfinity::PositiveInfinity => 10,
        IntegerOrInfinity::NegativeInfinity => 0,
    };
    Ok(vec![u16::from(b' '); count])
}

impl Writer {
    /// Writes a value, or opens it. `false`: there is nothing to write (`undefined`, a function, a symbol).
    fn value(&mut self, mut value: JsValue, key: &JsString, holder: Option<&JsObject>, context: &mut Context) -> JsResult<bool> {
        self.written += 1;
        if self.written.is_multiple_of(LOOK_EVERY) {
            checks::look(context)?;
            checks::text(self.out.len() as u64, context)?;
        }
        if value.is_object() || value.is_bigint() {
            let to_json = value.to_object(context)?.get(js_string!("toJSON"), context)?;
            if let Some(to_json) = to_json.as_callable() {
                value = to_json.call(&value, &[key.clone().into()], context)?;
            }
        }
        if let (Some(replacer), Some(holder)) = (&self.replacer, holder) {
            value = replacer.clone().call(&holder.clone().into(), &[key.clone().into(), value], context)?;
        }
        if let Some(object) = value.as_object()
            && let Some(primitive) = unwrapped(&object, context)?
        {
            value = primitive;
        }
        if let Some(object) = value.as_object() {
            if object.is_callable() {
                return Ok(false);
            }
            if let Some(raw) = raw_json(&object, context)? {
                self.out.extend(raw.iter());
                return Ok(true);
            }
            self.open(object, context)?;
            return Ok(true);
        }
        if let Some(text) = value.as_string() {
            checks::text(self.out.len() as u64 + text.len() as u64 + 2, context)?;
            quote(&mut self.out, &text);
        } else if let Some(number) = value.as_number() {
            if number.is_finite() {
                self.out.extend(value.to_string(context)?.iter());
            } else {
                self.ascii("null");
            }
        } else if let Some(truth) = value.as_boolean() {
            self.ascii(if truth { "true" } else { "false" });
        } else if value.is_null() {
            self.ascii("null");
        } else if value.is_bigint() {
            return Err(js_error!(TypeError: "cannot serialize bigint to JSON"));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn open(&mut self, object: JsObject, context: &mut Context) -> JsResult<()> {
        if !self.ancestors.insert(object.clone()) {
            return Err(js_error!(TypeError: "cyclic object value"));
        }
        let is_list = super::lists::is_array(&object, context)?;
        let (keys, length) = if is_list {
            let length = length_of(&object.clone().into(), context)?;
            checks::list(length, 0, "`JSON.stringify`", context)?;
            (None, length)
        } else {
            let keys = match &self.only {
                Some(only) => only.clone(),
                None => object_keys(&object, context)?.into(),
            };
            let length = keys.len() as u64;
            (Some(keys), length)
        };
        self.out.push(u16::from(if is_list { b'[' } else { b'{' }));
        self.open.push(Open { object, keys, length, next: 0, is_empty: true });
        Ok(())
    }

    /// Writes the next member of the innermost object, or its end.
    fn member(&mut self, context: &mut Context) -> JsResult<()> {
        let depth = self.open.len();
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        if open.next == open.length {
            let (is_list, is_empty) = (open.keys.is_none(), open.is_empty);
            let object = open.object.clone();
            self.open.pop();
            self.ancestors.remove(&object);
            if !is_empty {
                self.line(depth - 1);
            }
            self.out.push(u16::from(if is_list { b']' } else { b'}' }));
            return Ok(());
        }
        let index = open.next;
        open.next += 1;
        let (object, is_first) = (open.object.clone(), open.is_empty);
        let name = match (&open.keys, usize::try_from(index)) {
            (Some(keys), Ok(place)) => keys.get(place).cloned(),
            _ => None,
        };
        let is_list = name.is_none();
        let start = self.out.len();
        if !is_first {
            self.ascii(",");
        }
        self.line(depth);
        let (key, value) = match name {
            Some(name) => {
                quote(&mut self.out, &name);
                self.ascii(if self.gap.is_empty() { ":" } else { ": " });
                let value = object.get(name.clone(), context)?;
                (name, value)
            }
            None => {
                let value = object.get(index, context)?;
                let needs_key = value.is_object() || value.is_bigint() || self.replacer.is_some();
                (if needs_key { JsString::from(index.to_string()) } else { js_string!() }, value)
            }
        };
        if !self.value(value, &key, Some(&object), context)? {
            if is_list {
                self.ascii("null");
            } else {
                self.out.truncate(start);
                return Ok(());
            }
        }
        if let Some(open) = self.open.get_mut(depth - 1) {
            open.is_empty = false;
        }
        Ok(())
    }

    fn ascii(&mut self, text: &str) {
        self.out.extend(text.bytes().map(u16::from));
    }

    fn line(&mut self, depth: usize) {
        if !self.gap.is_empty() {
            self.out.push(u16::from(b'\n'));
            for _ in 0..depth {
                self.out.extend_from_slice(&self.gap);
            }
        }
    }
}

/// What `JSON.rawJSON` made: an object without a prototype, which only the interpreter knows.
fn raw_json(object: &JsObject, context: &mut Context) -> JsResult<Option<JsString>> {
    if object.prototype().is_some() || object.is_ordinary() {
        return Ok(None);
    }
    Ok(object.get(js_string!("rawJSON"), context)?.as_string())
}

/// <https://tc39.es/ecma262/#sec-quotejsonstring>
fn quote(out: &mut Vec<u16>, text: &JsString) {
    out.reserve(text.len() + 2);
    out.push(u16::from(b'"'));
    let mut units = text.iter().peekable();
    while let Some(unit) = units.next() {
        let short = match unit {
            0x08 => b'b',
            0x09 => b't',
            0x0A => b'n',
            0x0C => b'f',
            0x0D => b'r',
            0x22 => b'"',
            0x5C => b'\\',
            _ => 0,
        };
        let is_pair = (0xD800..0xDC00).contains(&unit) && units.peek().is_some_and(|next| (0xDC00..0xE000).contains(next));
        if short != 0 {
            out.extend([u16::from(b'\\'), u16::from(short)]);
        } else if is_pair {
            out.push(unit);
            out.extend(units.next());
        } else if unit < 0x20 || (0xD800..0xE000).contains(&unit) {
            out.extend(format!("\\u{unit:04x}").bytes().map(u16::from));
        } else {
            out.push(unit);
        }
    }
    out.push(u16::from(b'"'));
}
