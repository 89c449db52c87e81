//! What a world looks like before a call, and how it becomes that again.
//!
//! Every object that outlives a call is found by walking from the global object and the intrinsics that only syntax reaches. Each is
//! either
//!
//! - *frozen*, when the world is made: the functions themselves, everything of the engine's own, and built-ins that no library patches
//!   (typed arrays, iterators, generators, `Atomics`, …); or
//! - *watched*: the global object, `Object`, `Array`, `Promise`, `Math`, … and their prototypes. A script may add to them and
//!   replace what is on them, for polyfills and libraries do. After the call they are compared with what they were: keys and their order,
//!   attributes, the identity of values, prototype, extensibility, indexed elements. What was added is deleted and what was
//!   replaced is put back; where that cannot be done exactly, the world is thrown away.
//!
//! A world with [`BuiltIns::Frozen`] has none that are watched: there is nothing to compare, which is a fifth of what a small call
//! takes. It is for scripts that do not look as if they change built-ins ([`patches`](crate::patches)). Were one to do so all the same, it
//! would get a `TypeError`, and no later call would see anything.
//!
//! Nothing here runs script code: properties are read as descriptors and never through getters, and no proxy can be among these
//! objects. Private elements (`#x`), which no descriptor shows, are noticed when they are put on such an object.

use std::collections::HashSet;

use boa_engine::{
    Context, JsObject, JsResult, JsValue, Source, js_error,
    object::{IntegrityLevel, JsPrototype, builtins::JsArray, shape::Shape},
    property::{PropertyDescriptor, PropertyKey},
};

/// What a script may do to `Object`, `Array`, `Math` and the like in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuiltIns {
    /// Nothing.
    Frozen,
    /// Change them for the time of its call.
    Watched,
}

/// The objects that scripts may change where they are watched, each restored after the call.
pub(crate) const WATCHED: &str = "[
  globalThis, Object, Object.prototype, Function.prototype, Array, Array.prototype, String, String.prototype, Number,
  Number.prototype, BigInt.prototype, Boolean.prototype, Symbol, Symbol.prototype, Date, Date.prototype, RegExp, RegExp.prototype, Promise,
  Promise.prototype, Map, Map.prototype, Set, Set.prototype, WeakMap.prototype, WeakSet.prototype, Math, JSON, Reflect, console,
  Error, Error.prototype, TypeError.prototype, RangeError.prototype, SyntaxError.prototype, ReferenceError.prototype,
  EvalError.prototype, URIError.prototype, AggregateError.prototype, Iterator.prototype,
]";

/// One object of each kind whose prototype nothing but syntax or a method reaches.
const HIDDEN: &str = "[
  function () {}, function* () {}, async function () {}, async function* () {}, (function* () {})(), (async function* () {})(),
  [][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ''[Symbol.iterator](), ''.matchAll(/x/g),
  Iterator.from({ next() {} }), [].values().map(x => x), new Uint8Array(), (function () { 'use strict'; return arguments })(),
  Object.getOwnPropertyDescriptor((function () { 'use strict'; return arguments })(), 'callee').get, /x/, async () => {},
]";

/// The pristine look of a world.
pub(crate) struct Baseline {
    watched: Vec<Watched>,
    frozen: Vec<JsObject>,
}

struct Watched {
    object: JsObject,
    prototype: JsPrototype,
    /// Held, so that its address is not given to another.
    shape: Shape,
    properties: Vec<(PropertyKey, PropertyDescriptor)>,
    /// Which of them can change at all: not those that are neither writable nor configurable.
    changeable: Vec<usize>,
}

impl Baseline {
    /// Freezes what is frozen and records what is watched.
    pub(crate) fn take(roots: Vec<JsObject>, built_ins: BuiltIns, context: &mut Context) -> JsResult<Self> {
        let mut watched = list(WATCHED, context)?;
        let mut open = roots;
        open.extend(watched.iter().cloned());
        if built_ins == BuiltIns::Frozen {
            watched.clear();
        }
        // The samples themselves are of no interest: their prototypes are.
        open.extend(list(HIDDEN, context)?.iter().filter_map(JsObject::prototype));
        let thrower = list(HIDDEN, context)?;
        open.extend(thrower.get(15).cloned());

        let set: HashSet<JsObject> = watched.iter().cloned().collect();
        let mut seen: HashSet<JsObject> = HashSet::new();
        let mut frozen = Vec::new();
        while let Some(object) = open.pop() {
            if !seen.insert(object.clone()) {
                continue;
            }
            open.extend(neighbours(&object));
            if !set.contains(&object) {
                frozen.push(object);
            }
        }
        for object in &frozen {
            if !object.set_integrity_level(IntegrityLevel::Frozen, context)? {
                return Err(js_error!(Error: "a built-in object cannot be frozen"));
            }
        }
        let watched = watched.into_iter().map(Watched::record).collect();
        Ok(Self { watched, frozen })
    }

    /// Every object that outlives calls.
    pub(crate) fn lasting(&self) -> HashSet<JsObject> {
        self.frozen.iter().chain(self.watched.iter().map(|watched| &watched.object)).cloned().collect()
    }

    /// Puts everything back. `false`: it could not be put back exactly.
    pub(crate) fn restore(&mut self, context: &mut Context) -> bool {
        self.watched.iter_mut().all(|watched| {
            let extensible = watched.object.is_extensible(context).unwrap_or(false);
            if extensible && watched.is_intact() {
                return true;
            }
            let restored = extensible && watched.restore(context).unwrap_or(false) && watched.is_intact();
            if !restored {
                tracing::debug!("replacing a script world: a built-in object was changed for good");
            }
            restored
        })
    }
}

impl Watched {
    fn record(object: JsObject) -> Self {
        let inner = object.borrow();
        let keys = inner.shape().keys();
        let properties: Vec<(PropertyKey, PropertyDescriptor)> =
            keys.into_iter().filter_map(|key| inner.properties().get(&key).map(|property| (key, property))).collect();
        let is_changeable = |then: &PropertyDescriptor| then.configurable() != Some(false) || then.writable() == Some(true);
        let changeable = (0..properties.len()).filter(|place| is_changeable(&properties[*place].1)).collect();
        let (shape, prototype) = (inner.shape().clone(), inner.prototype());
        drop(inner);
        Self { object, prototype, shape, properties, changeable }
    }

    /// Whether nothing differs.
    fn is_intact(&self) -> bool {
        let object = self.object.borrow();
        let shape = object.shape();
        let same_shape = shape.to_addr_usize() == self.shape.to_addr_usize();
        // A shared shape never changes, so that the same one means the same keys, attributes and prototype. A shape of one's own
        // takes additions and changes of attributes in place; a removal or a new prototype gives a new one.
        if !(same_shape && shape.is_shared()) {
            let keys = shape.keys();
            if keys.len() != self.properties.len() {
                return false;
            }
            let same_order = || keys.iter().zip(&self.properties).all(|(now, (then, _))| now == then);
            let same_look = same_shape || (same_order() && object.prototype() == self.prototype);
            if !same_look {
                return false;
            }
        }
        let properties = object.properties();
        properties.index_property_keys().next().is_none()
            && self.changeable.iter().map(|place| &self.properties[*place]).all(|(key, then)| {
                let now = properties.get(key);
                now.is_some_and(|now| same(&now, then))
            })
    }

    /// Deletes what was added, puts back what was replaced. `false`: something was removed, and its place in the order with it.
    fn restore(&mut self, context: &mut Context) -> JsResult<bool> {
        if self.object.prototype() != self.prototype && !self.object.set_prototype(self.prototype.clone()) {
            return Ok(false);
        }
        let (keys, indices) = {
            let object = self.object.borrow();
            let indices: Vec<u32> = object.properties().index_property_keys().collect();
            (object.shape().keys(), indices)
        };
        for index in indices {
            self.object.delete_property_or_throw(index, context)?;
        }
        for key in keys {
            if !self.properties.iter().any(|(known, _)| *known == key) {
                self.object.delete_property_or_throw(key, context)?;
            }
        }
        for (key, then) in &self.properties {
            let now = self.object.borrow().properties().get(key);
            match now {
                None => return Ok(false),
                Some(now) if same(&now, then) => {}
                Some(_) => {
                    self.object.define_property_or_throw(key.clone(), then.clone(), context)?;
                }
            }
        }
        self.shape = self.object.borrow().shape().clone();
        let keys = self.shape.keys();
        Ok(keys.iter().eq(self.properties.iter().map(|(key, _)| key)))
    }
}

/// Whether two descriptors are the same, values by identity.
fn same(now: &PropertyDescriptor, then: &PropertyDescriptor) -> bool {
    let value = |a: Option<&JsValue>, b: Option<&JsValue>| match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => JsValue::same_value(a, b),
        _ => false,
    };
    now.writable() == then.writable()
        && now.enumerable() == then.enumerable()
        && now.configurable() == then.configurable()
        && value(now.value(), then.value())
        && value(now.get(), then.get())
        && value(now.set(), then.set())
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

fn list(source: &str, context: &mut Context) -> JsResult<Vec<JsObject>> {
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
    use boa_engine::{Source, js_string};

    use super::*;
    use crate::realm::World;

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
    fn where_built_ins_are_frozen_all_that_outlives_a_call_is() {
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

    #[test]
    fn where_they_are_watched_the_walk_finds_those() {
        let mut world = World::prepare(BuiltIns::Watched).unwrap();
        let walk = format!("{WALK}({{ global: globalThis }})");
        let found = world.context.eval(Source::from_bytes(&walk)).unwrap();
        let found = found.to_string(&mut world.context).unwrap().to_std_string_lossy();
        assert!(found.starts_with("many,global,"), "{found}");
        assert_eq!(found.split(',').count() - 1, world.baseline.watched.len(), "{found}");
    }
}
