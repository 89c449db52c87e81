//! Freezes everything that outlives a call.
//!
//! Every such object is found by walking from the global object and the intrinsics that only syntax reaches, when a world is made. No later
//! call can then see what an earlier one did, whatever that was, so that nothing has to be compared or put back. Private elements (`#x`) are
//! refused on objects that cannot be extended, by the hook in [`state`](crate::state).
//!
//! A frozen prototype would also refuse a write to an object that inherits from it: `counts["constructor"] = 1`, `error.name = "Mine"`. So
//! the members that objects inherit and scripts write are accessors, whose setter defines the member on the object itself.

use std::collections::HashSet;

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsValue, NativeFunction, Source, js_error, js_str, js_string,
    object::{FunctionObjectBuilder, IntegrityLevel, builtins::JsArray},
    property::{PropertyDescriptor, PropertyKey},
};

/// What a script may do to `Object`, `Array`, `Math` and the like in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuiltIns {
    /// Nothing: the world is used again.
    Frozen,
    /// Anything: the world is for the scripts of one call.
    Changeable,
}

/// One object of each kind whose prototype nothing but syntax or a method reaches.
const HIDDEN: &str = "[
  function () {}, function* () {}, async function () {}, async function* () {}, (function* () {})(), (async function* () {})(),
  [][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ''[Symbol.iterator](), ''.matchAll(/x/g),
  Iterator.from({ next() {} }), [].values().map(x => x), new Uint8Array(), (function () { 'use strict'; return arguments })(),
  Object.getOwnPropertyDescriptor((function () { 'use strict'; return arguments })(), 'callee').get, /x/, async () => {},
]";

/// Prototypes with members that scripts write on what inherits from them. `undefined`: all of them.
const WRITTEN: &str = "[
  [Object.prototype], [Function.prototype, 'constructor', 'toString'], [Promise.prototype, 'constructor', 'then', 'catch', 'finally'],
  ...[Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError, AggregateError].map(({ prototype }) =>
    [prototype, 'constructor', 'name', 'message', 'toString']),
]";

/// Freezes what `roots` and the context lead to.
pub(crate) fn freeze(roots: Vec<JsObject>, context: &mut Context) -> JsResult<()> {
    for entry in objects(WRITTEN, context)? {
        let entry = JsArray::from_object(entry)?;
        let Some(prototype) = entry.get(0, context)?.as_object() else { continue };
        let length = entry.length(context)?;
        let mut names: Vec<PropertyKey> = Vec::new();
        for index in 1..length {
            names.extend(entry.get(index, context)?.as_string().map(PropertyKey::from));
        }
        if names.is_empty() {
            names = prototype.own_property_keys(context)?;
        }
        for name in names {
            make_writable_below(&prototype, name, context)?;
        }
    }
    let samples = objects(HIDDEN, context)?;
    let mut open = roots;
    open.push(context.global_object());
    // The samples themselves are of no interest: their prototypes are.
    open.extend(samples.iter().filter_map(JsObject::prototype));
    open.extend(samples.get(15).cloned());
    let mut seen: HashSet<JsObject> = HashSet::new();
    while let Some(object) = open.pop() {
        if seen.insert(object.clone()) {
            open.extend(neighbours(&object));
        }
    }
    for object in &seen {
        if !object.set_integrity_level(IntegrityLevel::Frozen, context)? {
            return Err(js_error!(Error: "a built-in object cannot be frozen"));
        }
    }
    Ok(())
}

/// Makes a member an accessor that can be overwritten by objects that inherit it, and by no other.
fn make_writable_below(prototype: &JsObject, name: PropertyKey, context: &mut Context) -> JsResult<()> {
    let Some(property) = prototype.borrow().properties().get(&name) else { return Ok(()) };
    let (Some(value), Some(true)) = (property.value().cloned(), property.writable()) else { return Ok(()) };
    let label = match &name {
        PropertyKey::String(text) => text.clone(),
        _ => JsString::default(),
    };
    let get = NativeFunction::from_copy_closure_with_captures(|_, _, value, _| Ok(value.clone()), value);
    let get = FunctionObjectBuilder::new(context.realm(), get).name(js_string!(js_str!("get "), &label)).build();
    let captures = (prototype.clone(), label.clone());
    let set = NativeFunction::from_copy_closure_with_captures(
        |this, arguments, (prototype, name), context| {
            let value = arguments.first().cloned().unwrap_or_default();
            let object = this.as_object().filter(|object| !JsObject::equals(object, prototype));
            let Some(object) = object else {
                return Err(js_error!(TypeError: "cannot set non-writable property: {}", name.to_std_string_lossy()));
            };
            let member = PropertyDescriptor::builder().value(value);
            let member = match object.has_own_property(name.clone(), context)? {
                true => member,
                false => member.writable(true).enumerable(true).configurable(true),
            };
            object.define_property_or_throw(name.clone(), member, context)?;
            Ok(JsValue::undefined())
        },
        captures,
    );
    let set = FunctionObjectBuilder::new(context.realm(), set).name(js_string!(js_str!("set "), &label)).length(1).build();
    let accessor = PropertyDescriptor::builder().get(get).set(set).enumerable(false).configurable(false);
    prototype.define_property_or_throw(name, accessor, context)?;
    Ok(())
}

/// What an object leads to.
fn neighbours(object: &JsObject) -> Vec<JsObject> {
    let inner = object.borrow();
    let mut found: Vec<JsObject> = inner.prototype().into_iter().collect();
    for key in inner.shape().keys() {
        let Some(property) = inner.properties().get(&key) else { continue };
        let values = [property.value(), property.get(), property.set()];
        found.extend(values.into_iter().flatten().filter_map(JsValue::as_object));
    }
    found.extend(inner.properties().index_properties().filter_map(|(_, property)| property.value().and_then(JsValue::as_object)));
    found
}

fn objects(source: &str, context: &mut Context) -> JsResult<Vec<JsObject>> {
    let value = context.eval(Source::from_bytes(source))?;
    let list = value.as_object().and_then(|object| JsArray::from_object(object).ok());
    let Some(list) = list else { return Err(js_error!(Error: "not a list")) };
    let length = list.length(context)?;
    let mut objects = Vec::new();
    for index in 0..length {
        objects.extend(list.get(index, context)?.as_object());
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::World;

    /// Walks over all that can be reached, and tells what is not frozen.
    const WALK: &str = "(roots => {
      const seen = new Set(), found = [], open = Object.entries(roots);
      while (open.length) {
        const [path, value] = open.pop();
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue;
        seen.add(value);
        if (!Object.isFrozen(value)) found.push(path);
        open.push([path + '.__proto__', Object.getPrototypeOf(value)]);
        for (const key of Reflect.ownKeys(value)) {
          const { value: held, get, set } = Object.getOwnPropertyDescriptor(value, key);
          for (const next of [held, get, set]) open.push([`${path}.${String(key)}`, next]);
        }
      }
      return [seen.size > 500 ? 'many' : 'few', ...found].join();
    })";

    #[test]
    fn all_that_outlives_a_call_is_frozen() {
        let mut world = World::prepare(BuiltIns::Frozen).unwrap();
        let module = world.module.clone();
        let context = &mut world.context;
        let samples = context.eval(Source::from_bytes(HIDDEN)).unwrap().as_object().unwrap();
        let prototypes = (0..18).map(|index| {
            let sample = samples.get(index, context).unwrap().as_object().unwrap();
            let prototype = sample.prototype().unwrap();
            // What a generator function makes has an object of that function between it and the built-in.
            let lasting = if matches!(index, 4 | 5) { prototype.prototype().unwrap() } else { prototype };
            lasting.into()
        });
        let prototypes: Vec<JsValue> = prototypes.collect();
        let prototypes = JsArray::from_iter(prototypes, context);
        // The list is this test's own.
        prototypes.set_integrity_level(IntegrityLevel::Frozen, context).unwrap();
        let roots = JsObject::with_null_proto();
        roots.set(js_string!("global"), context.global_object(), true, context).unwrap();
        roots.set(js_string!("module"), module, true, context).unwrap();
        roots.set(js_string!("prototypes"), prototypes, true, context).unwrap();
        let walk = context.eval(Source::from_bytes(WALK)).unwrap().as_callable().unwrap();
        let found = walk.call(&JsValue::undefined(), &[roots.into()], context).unwrap();
        assert_eq!(found.to_string(context).unwrap().to_std_string_lossy(), "many");
    }
}
