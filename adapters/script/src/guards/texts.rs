//! Functions of texts.

use std::borrow::Cow;

use boa_engine::{
    Context, JsArgs, JsObject, JsResult, JsString, JsValue, js_error, js_string,
    object::builtins::{JsArray, JsFunction},
    string::{JsStr, JsStrVariant},
    value::IntegerOrInfinity,
};
use memchr::memmem;

use super::table::{Table, length_of};
use crate::checks;

/// What a part of a text takes in a list of parts.
const PART_BYTES: u64 = 48;
/// How many parts are made before the limits are looked at.
const LOOK_EVERY: usize = 1024;

pub(super) const TABLE: Table = &[
    ("String.prototype", &["repeat"], repeat),
    ("String.prototype", &["padStart", "padEnd"], pad),
    ("String.prototype", &["concat"], concat),
    ("String.prototype", &["split"], split),
    ("String.prototype", &["replace"], replace::<false>),
    ("String.prototype", &["replaceAll"], replace::<true>),
    ("String.prototype", &["indexOf"], index_of),
    ("String.prototype", &["includes"], includes),
    ("String.prototype", &["lastIndexOf"], last_index_of),
    ("String.prototype", &["toUpperCase", "toLowerCase", "toLocaleUpperCase", "toLocaleLowerCase"], grows::<3>),
    ("String.prototype", &["normalize"], grows::<18>),
    ("String", &["raw"], raw),
    ("RegExp.prototype", &["@replace"], replace_matches),
    (
        "String.prototype",
        &["anchor", "big", "blink", "bold", "fixed", "fontcolor", "fontsize", "italics", "link", "small", "strike", "sub", "sup"],
        tagged,
    ),
    ("globalThis", &["encodeURI", "encodeURIComponent", "escape"], encodes),
];

/// `this` as a text; `None` where the original must refuse it.
fn subject(this: &JsValue, context: &mut Context) -> JsResult<Option<JsString>> {
    if this.is_null_or_undefined() {
        return Ok(None);
    }
    let _nested = if this.is_object() { Some(checks::Nested::enter(context)?) } else { None };
    this.to_string(context).map(Some)
}

/// The interpreter's own takes the limit of loops for the number of times.
fn repeat(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(text) = subject(this, context)? else { return original.call(this, arguments, context) };
    let count = match arguments.get_or_undefined(0).to_integer_or_infinity(context)? {
        IntegerOrInfinity::Integer(count) => u64::try_from(count).ok(),
        IntegerOrInfinity::PositiveInfinity | IntegerOrInfinity::NegativeInfinity => None,
    };
    let Some(count) = count else {
        return Err(js_error!(RangeError: "repeat count must be a finite number, zero or more"));
    };
    checks::text(count.saturating_mul(text.len() as u64), context)?;
    let count = if text.is_empty() { 0 } else { usize::try_from(count).unwrap_or(usize::MAX) };
    Ok(match text.as_str().variant() {
        JsStrVariant::Latin1(bytes) => JsString::from(JsStr::latin1(&bytes.repeat(count))),
        JsStrVariant::Utf16(units) => JsString::from(JsStr::utf16(&units.repeat(count))),
    }
    .into())
}

fn pad(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(text) = subject(this, context)? else { return original.call(this, arguments, context) };
    let length = arguments.get_or_undefined(0).to_length(context)?;
    if length > text.len() as u64 {
        checks::text(length, context)?;
    }
    #[expect(clippy::cast_precision_loss, reason = "`to_length` gives what a double holds")]
    original.call(&text.into(), &[(length as f64).into(), arguments.get_or_undefined(1).clone()], context)
}

/// A text within a tag, which may have another one as its attribute.
fn tagged(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    // What a quote becomes: `&quot;`.
    const ESCAPED: u64 = 6;
    let Some(text) = subject(this, context)? else { return original.call(this, arguments, context) };
    let attribute = arguments.get_or_undefined(0).to_string(context)?;
    checks::text(text.len() as u64 + (attribute.len() as u64).saturating_mul(ESCAPED), context)?;
    original.call(&text.into(), &[attribute.into()], context)
}

fn concat(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(text) = subject(this, context)? else { return original.call(this, arguments, context) };
    let mut units = text.len() as u64;
    let mut texts = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let text = argument.to_string(context)?;
        units += text.len() as u64;
        texts.push(text.into());
    }
    checks::text(units, context)?;
    original.call(&text.into(), &texts, context)
}

fn grows<const TIMES: u64>(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(text) = subject(this, context)? else { return original.call(this, arguments, context) };
    let times = if text.as_str().is_latin1() { TIMES.min(4) } else { TIMES };
    checks::text(text.len() as u64 * times, context)?;
    original.call(&text.into(), arguments, context)
}

fn encodes(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = arguments.get_or_undefined(0).to_string(context)?;
    let times = if text.as_str().is_latin1() { 6 } else { 9 };
    checks::text(text.len() as u64 * times, context)?;
    original.call(this, &[text.into()], context)
}

/// `String.raw(strings, …)`
fn raw(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if let Some(strings) = arguments.get_or_undefined(0).as_object() {
        let parts = strings.get(js_string!("raw"), context)?;
        checks::list(length_of(&parts, context)?, PART_BYTES, "`String.raw`", context)?;
    }
    original.call(this, arguments, context)
}

/// A text that is searched, as bytes: one for each unit, or two.
struct Haystack<'a> {
    bytes: Cow<'a, [u8]>,
    is_wide: bool,
}

impl<'a> Haystack<'a> {
    fn new(text: JsStr<'a>) -> Self {
        match text.variant() {
            JsStrVariant::Latin1(bytes) => Self { bytes: bytes.into(), is_wide: false },
            JsStrVariant::Utf16(units) => Self { bytes: units.iter().flat_map(|unit| unit.to_le_bytes()).collect(), is_wide: true },
        }
    }

    /// What is looked for, in the same form. `None`: it cannot be in there.
    fn needle<'n>(&self, text: JsStr<'n>) -> Option<Cow<'n, [u8]>> {
        match text.variant() {
            JsStrVariant::Latin1(bytes) if !self.is_wide => Some(bytes.into()),
            JsStrVariant::Utf16(units) if !self.is_wide => {
                units.iter().map(|unit| u8::try_from(*unit).ok()).collect::<Option<Vec<u8>>>().map(Into::into)
            }
            _ => Some(text.iter().flat_map(u16::to_le_bytes).collect()),
        }
    }

    /// The next place, in units.
    fn find(&self, needle: &memmem::Finder<'_>, from: usize) -> Option<usize> {
        let width = 1 + usize::from(self.is_wide);
        let mut start = from * width;
        loop {
            let at = start + needle.find(self.bytes.get(start..)?)?;
            if at.is_multiple_of(width) {
                return Some(at / width);
            }
            start = at + 1;
        }
    }

    /// The last place that is not behind `until`, in units.
    fn find_last(&self, needle: &[u8], until: usize) -> Option<usize> {
        let width = 1 + usize::from(self.is_wide);
        let finder = memmem::FinderRev::new(needle);
        let mut end = (until * width).saturating_add(needle.len()).min(self.bytes.len());
        loop {
            let at = finder.rfind(self.bytes.get(..end)?)?;
            if at.is_multiple_of(width) {
                return Some(at / width);
            }
            end = (at + needle.len()).checked_sub(1)?;
        }
    }
}

/// A place in a text, from an argument.
fn place(argument: &JsValue, length: usize, context: &mut Context) -> JsResult<usize> {
    Ok(match argument.to_integer_or_infinity(context)? {
        IntegerOrInfinity::Integer(at) => usize::try_from(at.max(0)).unwrap_or(usize::MAX).min(length),
        IntegerOrInfinity::PositiveInfinity => length,
        IntegerOrInfinity::NegativeInfinity => 0,
    })
}

/// Where one text stands in another; the arguments of `indexOf`.
fn find_in(text: &JsString, arguments: &[JsValue], context: &mut Context) -> JsResult<Option<usize>> {
    let wanted = arguments.get_or_undefined(0).to_string(context)?;
    let from = place(arguments.get_or_undefined(1), text.len(), context)?;
    checks::look(context)?;
    let hay = Haystack::new(text.as_str());
    Ok(hay.needle(wanted.as_str()).and_then(|needle| hay.find(&memmem::Finder::new(&needle), from)))
}

fn index_of(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(text) = subject(this, context)? else { return original.call(this, arguments, context) };
    let found = find_in(&text, arguments, context)?;
    Ok(found.map_or(JsValue::from(-1), number))
}

fn includes(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    // A regular expression is refused by the original.
    if this.is_null_or_undefined() || arguments.get_or_undefined(0).is_object() {
        return original.call(this, arguments, context);
    }
    let text = this.to_string(context)?;
    Ok(find_in(&text, arguments, context)?.is_some().into())
}

fn last_index_of(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(text) = subject(this, context)? else { return original.call(this, arguments, context) };
    let wanted = arguments.get_or_undefined(0).to_string(context)?;
    let until = arguments.get_or_undefined(1).to_number(context)?;
    let until = if until.is_nan() { text.len() } else { place(&until.into(), text.len(), context)? };
    checks::look(context)?;
    let hay = Haystack::new(text.as_str());
    let found = hay.needle(wanted.as_str()).and_then(|needle| hay.find_last(&needle, until));
    Ok(found.map_or(JsValue::from(-1), number))
}

#[expect(clippy::cast_precision_loss, reason = "a place in a text")]
fn number(at: usize) -> JsValue {
    JsValue::from(at as f64)
}

/// The method of an object that stands where a text is expected, such as a regular expression, does the work.
fn has_method(value: &JsValue) -> bool {
    value.is_object()
}

fn split(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let separator = arguments.get_or_undefined(0);
    if this.is_null_or_undefined() || has_method(separator) {
        return original.call(this, arguments, context);
    }
    let text = this.to_string(context)?;
    let limit = match arguments.get_or_undefined(1) {
        limit if limit.is_undefined() => u32::MAX,
        limit => limit.to_u32(context)?,
    } as usize;
    let is_whole = separator.is_undefined();
    let separator = separator.to_string(context)?;
    let mut parts: Vec<JsValue> = Vec::new();
    let mut push = |part: JsString, context: &mut Context| {
        parts.push(part.into());
        if parts.len().is_multiple_of(LOOK_EVERY) {
            checks::look(context)?;
        }
        JsResult::Ok(parts.len() == limit)
    };
    if limit == 0 {
        // Nothing is wanted.
    } else if is_whole {
        push(text, context)?;
    } else if separator.is_empty() {
        checks::ask((text.len().min(limit) as u64) * PART_BYTES, context)?;
        for at in 0..text.len() {
            if push(text.slice(at, at + 1), context)? {
                break;
            }
        }
    } else {
        let hay = Haystack::new(text.as_str());
        let needle = hay.needle(separator.as_str());
        let finder = needle.as_ref().map(memmem::Finder::new);
        let mut start = 0;
        let mut is_full = false;
        while let Some(at) = finder.as_ref().and_then(|finder| hay.find(finder, start)) {
            is_full = push(text.slice(start, at), context)?;
            if is_full {
                break;
            }
            start = at + separator.len();
        }
        if !is_full {
            push(text.slice(start, text.len()), context)?;
        }
    }
    Ok(JsArray::from_iter(parts, context).into())
}

/// `replace` and `replaceAll` of a text; a regular expression does its own.
fn replace<const ALL: bool>(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let wanted = arguments.get_or_undefined(0);
    if this.is_null_or_undefined() || has_method(wanted) {
        return original.call(this, arguments, context);
    }
    let text = this.to_string(context)?;
    let wanted = wanted.to_string(context)?;
    let replacement = arguments.get_or_undefined(1);
    let function = replacement.as_callable();
    let template = if function.is_some() { js_string!() } else { replacement.to_string(context)? };
    let hay = Haystack::new(text.as_str());
    let needle = hay.needle(wanted.as_str());
    let finder = needle.as_ref().map(memmem::Finder::new);
    let mut pieces: Vec<JsString> = Vec::new();
    let (mut units, mut start, mut from) = (0_u64, 0, 0);
    while let Some(at) = finder.as_ref().and_then(|finder| hay.find(finder, from)) {
        let new = match &function {
            Some(function) => {
                let arguments = [wanted.clone().into(), number(at), text.clone().into()];
                function.call(&JsValue::undefined(), &arguments, context)?.to_string(context)?
            }
            None => expand(&template, &Match { text: &text, at, matched: &wanted, captures: &[], named: None }, context)?,
        };
        units += (at - start + new.len()) as u64;
        checks::text(units, context)?;
        pieces.push(text.slice(start, at));
        pieces.push(new);
        if pieces.len().is_multiple_of(LOOK_EVERY) {
            checks::look(context)?;
        }
        start = at + wanted.len();
        // An empty text is found once at each place.
        from = at + wanted.len().max(1);
        if !ALL || from > text.len() {
            break;
        }
    }
    pieces.push(text.slice(start, text.len()));
    checks::text(units + (text.len() - start) as u64, context)?;
    let pieces: Vec<JsStr<'_>> = pieces.iter().map(JsString::as_str).collect();
    Ok(JsString::concat_array(&pieces).into())
}

/// One match, for the template of a replacement.
struct Match<'a> {
    text: &'a JsString,
    at: usize,
    matched: &'a JsString,
    captures: &'a [JsValue],
    named: Option<&'a JsObject>,
}

/// What a template of a replacement means: <https://tc39.es/ecma262/#sec-getsubstitution>.
fn expand(template: &JsString, found: &Match<'_>, context: &mut Context) -> JsResult<JsString> {
    const DOLLAR: u16 = b'$' as u16;
    if !template.iter().any(|unit| unit == DOLLAR) {
        return Ok(template.clone());
    }
    let units: Vec<u16> = template.to_vec();
    let end = (found.at + found.matched.len()).min(found.text.len());
    let digit =
        |place: usize| units.get(place).and_then(|unit| unit.checked_sub(u16::from(b'0'))).filter(|digit| *digit < 10).map(usize::from);
    let mut pieces: Vec<JsString> = Vec::new();
    let mut total = 0_u64;
    let (mut start, mut at) = (0, 0);
    while at < units.len() {
        let next = units.get(at + 1).and_then(|unit| u8::try_from(*unit).ok());
        let (piece, taken) = match next {
            Some(b'$') if units[at] == DOLLAR => (js_string!("$"), 2),
            Some(b'&') if units[at] == DOLLAR => (found.matched.clone(), 2),
            Some(b'`') if units[at] == DOLLAR => (found.text.slice(0, found.at), 2),
            Some(b'\'') if units[at] == DOLLAR => (found.text.slice(end, found.text.len()), 2),
            Some(b'0'..=b'9') if units[at] == DOLLAR => {
                let one = digit(at + 1).unwrap_or_default();
                let two = digit(at + 2).map(|second| one * 10 + second).filter(|number| (1..=found.captures.len()).contains(number));
                let (number, taken) = match two {
                    Some(number) => (number, 3),
                    None => (one, 2),
                };
                match number.checked_sub(1).and_then(|place| found.captures.get(place)) {
                    Some(capture) if capture.is_undefined() => (js_string!(), taken),
                    Some(capture) => (capture.to_string(context)?, taken),
                    None => {
                        at += 1;
                        continue;
                    }
                }
            }
            Some(b'<') if units[at] == DOLLAR && found.named.is_some() => {
                let Some(close) = units[at + 2..].iter().position(|unit| *unit == u16::from(b'>')) else {
                    at += 1;
                    continue;
                };
                let name = template.slice(at + 2, at + 2 + close);
                let value = match found.named {
                    Some(named) => named.get(name, context)?,
                    None => JsValue::undefined(),
                };
                (if value.is_undefined() { js_string!() } else { value.to_string(context)? }, close + 3)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        total += (at - start + piece.len()) as u64;
        checks::text(total, context)?;
        pieces.push(template.slice(start, at));
        pieces.push(piece);
        at += taken;
        start = at;
    }
    pieces.push(template.slice(start, units.len()));
    let pieces: Vec<JsStr<'_>> = pieces.iter().map(JsString::as_str).collect();
    Ok(JsString::concat_array(&pieces))
}

/// `RegExp.prototype[Symbol.replace]`: <https://tc39.es/ecma262/#sec-regexp.prototype-%symbol.replace%>. The interpreter's own copies the
/// whole result for each match.
fn replace_matches(original: &JsFunction, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(pattern) = this.as_object() else { return original.call(this, arguments, context) };
    let _nested = checks::Nested::enter(context)?;
    let text = arguments.get_or_undefined(0).to_string(context)?;
    let replacement = arguments.get_or_undefined(1);
    let function = replacement.as_callable();
    let template = if function.is_some() { js_string!() } else { replacement.to_string(context)? };
    let results = matches_of(&pattern, &text, context)?;
    let mut pieces: Vec<JsString> = Vec::new();
    let (mut units, mut done) = (0_u64, 0);
    for result in results {
        let count = length_of(&result.clone().into(), context)?.max(1);
        checks::list(count, PART_BYTES, "`replace`", context)?;
        let matched = result.get(0, context)?.to_string(context)?;
        let at = place(&result.get(js_string!("index"), context)?, text.len(), context)?;
        let mut captures = Vec::new();
        for number in 1..count {
            let capture = result.get(number, context)?;
            captures.push(if capture.is_undefined() { capture } else { capture.to_string(context)?.into() });
        }
        let named = result.get(js_string!("groups"), context)?;
        let new = match &function {
            Some(function) => {
                let mut arguments = vec![matched.clone().into()];
                arguments.extend(captures);
                arguments.extend([number(at), text.clone().into()]);
                arguments.extend((!named.is_undefined()).then_some(named));
                function.call(&JsValue::undefined(), &arguments, context)?.to_string(context)?
            }
            None => {
                let named = if named.is_undefined() { None } else { Some(named.to_object(context)?) };
                let found = Match { text: &text, at, matched: &matched, captures: &captures, named: named.as_ref() };
                expand(&template, &found, context)?
            }
        };
        if at >= done {
            units += (at - done + new.len()) as u64;
            checks::text(units, context)?;
            pieces.push(text.slice(done, at));
            pieces.push(new);
            done = (at + matched.len()).min(text.len());
        }
    }
    pieces.push(text.slice(done, text.len()));
    checks::text(units + (text.len() - done) as u64, context)?;
    let pieces: Vec<JsStr<'_>> = pieces.iter().map(JsString::as_str).collect();
    Ok(JsString::concat_array(&pieces).into())
}

/// The matches of a regular expression: all of them where it is global, else the first.
fn matches_of(pattern: &JsObject, text: &JsString, context: &mut Context) -> JsResult<Vec<JsObject>> {
    let flags = pattern.get(js_string!("flags"), context)?.to_string(context)?;
    let has = |flag: u8| flags.iter().any(|unit| unit == u16::from(flag));
    let is_global = has(b'g');
    let is_unicode = has(b'u') || has(b'v');
    if is_global {
        pattern.set(js_string!("lastIndex"), 0, true, context)?;
    }
    let mut results = Vec::new();
    loop {
        checks::look(context)?;
        let exec = pattern.get(js_string!("exec"), context)?;
        let Some(exec) = exec.as_callable() else { return Err(js_error!(TypeError: "`exec` is not a function")) };
        let result = exec.call(&pattern.clone().into(), &[text.clone().into()], context)?;
        if result.is_null() {
            return Ok(results);
        }
        let Some(result) = result.as_object() else {
            return Err(js_error!(TypeError: "`exec` returned neither an object nor null"));
        };
        results.push(result.clone());
        if !is_global {
            return Ok(results);
        }
        if result.get(0, context)?.to_string(context)?.is_empty() {
            let at = pattern.get(js_string!("lastIndex"), context)?.to_length(context)?;
            let here = usize::try_from(at).unwrap_or(usize::MAX);
            let step = if is_unicode && here < text.len() { text.code_point_at(here).code_unit_count() as u64 } else { 1 };
            pattern.set(js_string!("lastIndex"), at + step, true, context)?;
        }
    }
}
