//! Regular expressions in bounded time.
//!
//! The interpreter's own engine backtracks, and nothing can stop it. So `RegExp.prototype.exec`, through which all other methods of the
//! language search, is replaced by one that searches with [`search`]: the same meaning, in a time that is in proportion to the text, or,
//! with a back-reference, until a limit or the deadline. The interpreter's engine is left what costs it no more than one character at a
//! time: the classes ([`set`]).
//!
//! What makes a pattern of a text (`RegExp`, `match`, `matchAll` and `search` of strings) refuses one that is too long or takes too much
//! to compile.

mod program;
mod search;
mod set;

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use boa_engine::{
    Context, JsArgs, JsObject, JsResult, JsString, JsValue, NativeFunction,
    error::RuntimeLimitError,
    js_error, js_string,
    native_function::NativeFunctionPointer,
    object::{
        FunctionObjectBuilder,
        builtins::{JsArray, JsFunction, JsRegExp},
    },
    property::{PropertyDescriptor, PropertyKey},
    string::JsStrVariant,
    symbol::JsSymbol,
};
use millrace_core::ports::ScriptFault;
use millrace_pattern::{Flags, MAX_UNITS, Pattern};

use self::{
    program::Program,
    search::{MAX_PENDING, MAX_STEPS, Memory, NONE, Search, Stop},
};
use crate::state::{host, state};

/// The most microseconds that compiling one pattern may take, by a rough estimate.
const MAX_COMPILE: usize = 50_000;

/// The most bytes of compiled patterns that one thread keeps, by a rough estimate.
const MAX_KEPT: usize = 4 * 1024 * 1024;

/// The most units of text for a pattern that the interpreter's own engine runs.
const MAX_DELEGATED: usize = 5_000;

/// What there was before, of one context.
struct Original {
    exec: JsFunction,
    constructor: JsObject,
    /// What stands in the place of the constructor.
    replacement: JsObject,
    source: JsFunction,
    unicode_sets: JsFunction,
    matching: [JsFunction; 3],
}

/// How a pattern is searched for.
#[derive(Clone)]
enum Compiled {
    Here(Rc<Program>),
    /// By the interpreter's engine, on short texts.
    There,
    /// Not at all.
    Refused,
}

/// The compiled patterns of a thread. Nothing of a call is in them but the pattern, and no script can see them.
#[derive(Default)]
struct PatternCache {
    patterns: RefCell<HashMap<(JsString, u8), Compiled>>,
    bytes: Cell<usize>,
    memory: RefCell<Memory>,
    /// Steps of searches since the deadline was looked at.
    steps: Cell<u64>,
}

thread_local! {
    static KEPT: PatternCache = PatternCache::default();
}

/// Replaces what searches and what makes patterns.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let global = context.global_object();
    let constructor = object(&global.get(js_string!("RegExp"), context)?)?;
    let prototype = object(&constructor.get(js_string!("prototype"), context)?)?;
    let strings = object(&global.get(js_string!("String"), context)?)?;
    let strings = object(&strings.get(js_string!("prototype"), context)?)?;

    // It would change the pattern of an expression behind the back of what is compiled.
    prototype.delete_property_or_throw(js_string!("compile"), context)?;
    let methods: [(JsString, NativeFunctionPointer); 3] =
        [(js_string!("match"), string_match), (js_string!("matchAll"), string_match_all), (js_string!("search"), string_search)];
    let mut matching = Vec::new();
    for (name, native) in methods {
        matching.push(replace(&strings, name, native, context)?);
    }
    let Ok(matching) = <[JsFunction; 3]>::try_from(matching) else { return Err(js_error!(Error: "a built-in is missing")) };
    // A new constructor with the members of the old one.
    let new = FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(construct))
        .name(js_string!("RegExp"))
        .length(2)
        .constructor(true)
        .build();
    for key in constructor.own_property_keys(context)? {
        let Some(member) = constructor.borrow().properties().get(&key) else { continue };
        new.define_property_or_throw(key, member, context)?;
    }
    let original = Original {
        exec: replace(&prototype, js_string!("exec"), exec, context)?,
        source: getter(&prototype, js_string!("source"), context)?,
        unicode_sets: getter(&prototype, js_string!("unicodeSets"), context)?,
        constructor: constructor.clone(),
        replacement: new.clone().into(),
        matching,
    };
    context.insert_data(Rc::new(original));
    redefine(&prototype, js_string!("constructor"), new.clone().into(), context)?;
    redefine(&global, js_string!("RegExp"), new.into(), context)
}

fn object(value: &JsValue) -> JsResult<JsObject> {
    value.as_object().ok_or_else(|| js_error!(Error: "a built-in is missing"))
}

fn member(object: &JsObject, name: &JsString) -> JsResult<PropertyDescriptor> {
    let member = object.borrow().properties().get(&PropertyKey::from(name.clone()));
    member.ok_or_else(|| js_error!(Error: "a built-in is missing"))
}

/// Gives a property another value, and leaves its attributes.
fn redefine(object: &JsObject, name: JsString, value: JsValue, context: &mut Context) -> JsResult<()> {
    let old = member(object, &name)?;
    let attributes = [old.writable(), old.enumerable(), old.configurable()].map(Option::unwrap_or_default);
    let new =
        PropertyDescriptor::builder().value(value).writable(attributes[0]).enumerable(attributes[1]).configurable(attributes[2]).build();
    object.define_property_or_throw(name, new, context).map(drop)
}

/// Replaces a method by one that looks the same. Gives the old one.
fn replace(object: &JsObject, name: JsString, native: NativeFunctionPointer, context: &mut Context) -> JsResult<JsFunction> {
    let old = object.get(name.clone(), context)?;
    let Some(old) = old.as_function() else { return Err(js_error!(Error: "a built-in is missing")) };
    let new = FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(native)).name(name.clone()).length(1).build();
    redefine(object, name, new.into(), context)?;
    Ok(old)
}

fn getter(object: &JsObject, name: JsString, _: &mut Context) -> JsResult<JsFunction> {
    let getter = member(object, &name)?.get().and_then(JsValue::as_function);
    getter.ok_or_else(|| js_error!(Error: "a built-in is missing"))
}

fn original(context: &Context) -> JsResult<Rc<Original>> {
    context.get_data::<Rc<Original>>().cloned().ok_or_else(|| js_error!(Error: "the script engine was not set up"))
}

/// `RegExp.prototype.exec`
fn exec(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let original = original(context)?;
    let Some(regexp) = this.as_object().and_then(|object| JsRegExp::from_object(object).ok()) else {
        // It knows how to complain.
        return original.exec.call(this, arguments, context);
    };
    let text = arguments.get_or_undefined(0).to_string(context)?;
    let last_index = regexp.get(js_string!("lastIndex"), context)?.to_length(context)?;

    let flags = Flags {
        ignore_case: regexp.ignore_case(context)?,
        multiline: regexp.multiline(context)?,
        dot_all: regexp.dot_all(context)?,
        unicode: regexp.unicode(context)?,
        unicode_sets: original.unicode_sets.call(this, &[], context)?.to_boolean(),
    };
    let (sticky, has_indices) = (regexp.sticky(context)?, regexp.has_indices(context)?);
    let moves = sticky || regexp.global(context)?;
    let last_index = if moves { last_index } else { 0 };

    let found = match u32::try_from(last_index).ok().filter(|index| *index as usize <= text.len()) {
        None => None,
        Some(start) => {
            let source = original.source.call(this, &[], context)?;
            let Some(source) = source.as_string() else { return Err(js_error!(Error: "a built-in is missing")) };
            let program = match compiled(&source, flags) {
                Compiled::Here(program) => program,
                Compiled::There if text.len() <= MAX_DELEGATED => return original.exec.call(this, &[text.into()], context),
                Compiled::There => {
                    let limit = MAX_DELEGATED;
                    return Err(
                        js_error!(RangeError: "a regular expression with `\\q` or a property of strings searches at most {} units", limit),
                    );
                }
                Compiled::Refused => return Err(js_error!(RangeError: "the regular expression is too large")),
            };
            find(&program, &text, source.len(), start, sticky, context)?.map(|slots| (program, slots))
        }
    };
    let Some((program, slots)) = found else {
        if moves {
            regexp.set(js_string!("lastIndex"), 0, true, context)?;
        }
        return Ok(JsValue::null());
    };
    if moves {
        regexp.set(js_string!("lastIndex"), slots[1], true, context)?;
    }
    result(&program, &text, &slots, has_indices, context)
}

/// The array that `exec` gives.
fn result(program: &Program, text: &JsString, slots: &[u32], has_indices: bool, context: &mut Context) -> JsResult<JsValue> {
    let ranges = || slots.chunks_exact(2).map(|pair| (pair[0] != NONE && pair[1] != NONE).then(|| (pair[0], pair[1])));
    let pieces: Vec<JsValue> = ranges()
        .map(|range| range.map_or_else(JsValue::undefined, |(from, to)| text.get_expect(from as usize..to as usize).into()))
        .collect();
    let array = JsArray::from_iter(pieces.iter().cloned(), context);
    array.create_data_property_or_throw(js_string!("index"), slots[0], context)?;
    array.create_data_property_or_throw(js_string!("input"), text.clone(), context)?;
    let groups = groups(program, &pieces, context)?;
    array.create_data_property_or_throw(js_string!("groups"), groups, context)?;
    if has_indices {
        let pairs: Vec<JsValue> = ranges()
            .map(|range| range.map_or_else(JsValue::undefined, |(from, to)| JsArray::from_iter([from.into(), to.into()], context).into()))
            .collect();
        let indices = JsArray::from_iter(pairs.iter().cloned(), context);
        let groups = self::groups(program, &pairs, context)?;
        indices.create_data_property_or_throw(js_string!("groups"), groups, context)?;
        array.create_data_property_or_throw(js_string!("indices"), indices, context)?;
    }
    Ok(array.into())
}

/// What stands under the names of groups. Of two groups with one name, the one that took part counts.
fn groups(program: &Program, pieces: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if program.names.is_empty() {
        return Ok(JsValue::undefined());
    }
    let groups = JsObject::with_null_proto();
    for (name, group) in &program.names {
        let name = js_string!(name.as_str());
        let piece = pieces.get(*group as usize).cloned().unwrap_or_default();
        if !piece.is_undefined() || !groups.has_own_property(name.clone(), context)? {
            groups.create_data_property_or_throw(name, piece, context)?;
        }
    }
    Ok(groups.into())
}

/// The captured positions of the first match.
fn find(program: &Program, text: &JsString, cost: usize, start: u32, sticky: bool, context: &mut Context) -> JsResult<Option<Vec<u32>>> {
    let state = state(context)?;
    let fault = RefCell::new(None);
    let must_stop = || {
        *fault.borrow_mut() = host(|host| state.must_stop(host.now_ms())).flatten();
        fault.borrow().is_some()
    };
    let found = KEPT.with(|kept| {
        let memory = &mut *kept.memory.borrow_mut();
        // Looking the pattern up took time, too.
        let spent = kept.steps.get() + cost as u64 / 8;
        let (found, steps) = match text.as_str().variant() {
            JsStrVariant::Latin1(text) => search(program, text, memory, spent, &must_stop, start, sticky),
            JsStrVariant::Utf16(text) => search(program, text, memory, spent, &must_stop, start, sticky),
        };
        kept.steps.set(spent.wrapping_add(steps));
        let found = found.map(|found| {
            found.map(|(start, end)| {
                let mut slots = std::mem::take(&mut memory.slots);
                (slots[0], slots[1]) = (start, end);
                slots
            })
        });
        memory.shrink();
        found
    });
    let stop = match found {
        Ok(found) => return Ok(found),
        Err(stop) => stop,
    };
    let limit = match stop {
        Stop::Steps => format!("a regular expression took more than {MAX_STEPS} steps on a text of {} units", text.len()),
        Stop::Pending => {
            format!("a regular expression left more than {MAX_PENDING} places to go back to on a text of {} units", text.len())
        }
        Stop::Call => String::new(),
    };
    let fault = fault.take().unwrap_or(ScriptFault::Limit(format!("{limit} (fixed; see \"Regular expressions\" in docs/scripts.md)")));
    state.fault.borrow_mut().get_or_insert(fault);
    // The one kind of error that a script cannot catch.
    Err(RuntimeLimitError::LoopIteration.into())
}

type SearchResult = (Result<Option<(u32, u32)>, Stop>, u64);

fn search<T: search::Text + ?Sized>(
    program: &Program,
    text: &T,
    memory: &mut Memory,
    spent: u64,
    must_stop: &dyn Fn() -> bool,
    start: u32,
    sticky: bool,
) -> SearchResult {
    let mut search = Search::new(program, text, memory, spent, must_stop);
    (search.find(start, sticky), search.steps())
}

/// The pattern, compiled now or before.
fn compiled(source: &JsString, flags: Flags) -> Compiled {
    let Flags { ignore_case, multiline, dot_all, unicode, unicode_sets } = flags;
    let bits = [ignore_case, multiline, dot_all, unicode, unicode_sets].iter().fold(0, |bits, bit| bits << 1 | u8::from(*bit));
    let key = (source.clone(), bits);
    KEPT.with(|kept| {
        if let Some(compiled) = kept.patterns.borrow().get(&key) {
            return compiled.clone();
        }
        let (compiled, bytes) = compile(&unescaped(source), flags);
        let bytes = bytes + source.len() * 2 + 100;
        if kept.bytes.get() + bytes > MAX_KEPT {
            kept.patterns.borrow_mut().clear();
            kept.bytes.set(0);
        }
        kept.bytes.set(kept.bytes.get() + bytes);
        kept.patterns.borrow_mut().insert(key, compiled.clone());
        compiled
    })
}

fn compile(source: &[u16], flags: Flags) -> (Compiled, usize) {
    let Ok(pattern) = Pattern::parse(source, flags) else { return (Compiled::Refused, 0) };
    if pattern.is_sequence_with_strings() {
        return (Compiled::There, 0);
    }
    match Program::new(pattern, flags) {
        Ok(program) => {
            let bytes = program.ops.len() * size_of::<program::Op>() + program.sets.len() * 2_000;
            (Compiled::Here(Rc::new(program)), bytes)
        }
        Err(program::TooLarge) => (Compiled::Refused, 0),
    }
}

/// The pattern itself: its property `source` has a backslash before each slash, one more if there was one.
fn unescaped(source: &JsString) -> Vec<u16> {
    let units = source.to_vec();
    let is_before_slash = |index: usize| units.get(index + 1) == Some(&u16::from(b'/'));
    units.iter().enumerate().filter(|(index, _)| !is_before_slash(*index)).map(|(_, unit)| *unit).collect()
}

/// `RegExp`, with a look at the text of the pattern.
fn construct(new_target: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let original = original(context)?;
    let (mut pattern, mut flags) = (arguments.get_or_undefined(0).clone(), arguments.get_or_undefined(1).clone());
    let own = &original.replacement;
    let is_pattern = match pattern.as_object() {
        None => false,
        Some(object) => {
            let marked = object.get(JsSymbol::r#match(), context)?;
            if marked.is_undefined() { JsRegExp::from_object(object).is_ok() } else { marked.to_boolean() }
        }
    };
    if is_pattern {
        // Called without `new`, a pattern is given back as it is.
        if let (true, true, Some(object)) = (new_target.is_undefined(), flags.is_undefined(), pattern.as_object()) {
            let constructor = object.get(js_string!("constructor"), context)?;
            if JsValue::same_value(&own.clone().into(), &constructor) {
                return Ok(pattern);
            }
        }
    } else if !pattern.is_undefined() {
        let text = pattern.to_string(context)?;
        if !flags.is_undefined() {
            flags = flags.to_string(context)?.into();
        }
        let letters = flags.as_string().map(|flags| flags.to_std_string_lossy()).unwrap_or_default();
        check(&text, Flags::new(&letters))?;
        pattern = text.into();
    }
    let target = new_target.as_object().unwrap_or_else(|| own.clone());
    original.constructor.construct(&[pattern, flags], Some(&target), context).map(Into::into)
}

/// Refuses a pattern that takes too long to compile.
fn check(text: &JsString, flags: Flags) -> JsResult<()> {
    let units = text.len();
    if units > MAX_UNITS {
        return Err(js_error!(RangeError: "a regular expression can have at most {} units, and this one has {}", MAX_UNITS, units));
    }
    let units = text.to_vec();
    let (mut cost, mut names, mut references) = (0, 1, 0);
    for place in units.windows(3) {
        let [first, second, third] = [place[0], place[1], place[2]].map(|unit| u8::try_from(unit).unwrap_or_default());
        cost += match [first, second] {
            // With `v`, such a property can have thousands of strings: `RGI_Emoji`, `Basic_Emoji`, `Emoji_Keycap_Sequence`.
            [b'\\', b'p' | b'P'] if flags.unicode_sets => 6_000,
            [b'\\', b'p' | b'P'] if flags.unicode => 400,
            [b'\\', b'W' | b'D' | b'S'] | [b'[', _] if flags.ignore_case => 75,
            [b'\\', b'k'] => {
                references += 1;
                0
            }
            [b'(', b'?'] if third == b'<' => {
                names += 1;
                0
            }
            _ => 0,
        };
    }
    cost += references * names;
    if cost > MAX_COMPILE {
        return Err(js_error!(RangeError: "the regular expression has too many classes or back-references"));
    }
    Ok(())
}

fn string_match(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    string_method(0, JsSymbol::r#match(), this, arguments, context)
}

fn string_match_all(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    string_method(1, JsSymbol::match_all(), this, arguments, context)
}

fn string_search(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    string_method(2, JsSymbol::search(), this, arguments, context)
}

/// A method of strings that makes a pattern of its argument, unless that has a method for it.
fn string_method(index: usize, symbol: JsSymbol, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let original = original(context)?;
    let pattern = arguments.get_or_undefined(0);
    let makes_pattern = match pattern.as_object() {
        Some(object) => object.get(symbol, context)?.is_null_or_undefined(),
        None => !pattern.is_undefined(),
    };
    if !makes_pattern || this.is_null_or_undefined() {
        return original.matching[index].call(this, arguments, context);
    }
    let text = pattern.to_string(context)?;
    check(&text, Flags::default())?;
    original.matching[index].call(this, &[text.into()], context)
}

#[cfg(test)]
mod tests;
