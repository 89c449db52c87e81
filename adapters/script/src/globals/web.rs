//! The classes of the web platform: most of what a world takes to make is reading them.
//!
//! A world that is used again has them from the start. In one that is made for a call they are accessors, and the first that is asked
//! for puts all of them in place.

use std::{cell::RefCell, rc::Rc};

use boa_engine::{
    Context, JsArgs, JsObject, JsResult, JsString, JsValue, NativeFunction, Source, js_error, js_str, js_string,
    object::{FunctionObjectBuilder, builtins::JsFunction},
    property::PropertyDescriptor,
};

use crate::native::function;

/// What `web.js` defines.
const NAMES: [&str; 13] = [
    "AbortController",
    "AbortSignal",
    "DOMException",
    "Headers",
    "Request",
    "Response",
    "TextDecoder",
    "TextEncoder",
    "URL",
    "URLSearchParams",
    "crypto",
    "fetch",
    "structuredClone",
];

/// The globals that are not read yet.
#[derive(Clone)]
struct Deferred(Rc<RefCell<DeferredState>>);

struct DeferredState {
    /// `None` once they are read.
    natives: Option<JsObject>,
    getters: Vec<JsFunction>,
    values: Vec<(JsString, JsValue)>,
}

/// Reads them, and puts them into the global object. Gives what scripts do not find by looking.
pub(super) fn install(natives: &JsObject, context: &mut Context) -> JsResult<JsObject> {
    let define = function("define", define, context);
    let web = context.eval(Source::from_bytes(include_str!("web.js")))?;
    let Some(web) = web.as_callable() else { return Err(js_error!(Error: "`web.js` is not a function")) };
    let inner = web.call(&JsValue::undefined(), &[natives.clone().into(), define.into()], context)?;
    inner.as_object().ok_or_else(|| js_error!(Error: "`web.js` gives no list"))
}

/// Puts accessors into the global object, which read them when they are needed.
pub(super) fn defer(natives: &JsObject, context: &mut Context) -> JsResult<()> {
    let mut getters = Vec::new();
    for name in NAMES {
        let name = js_string!(name);
        let get = NativeFunction::from_copy_closure_with_captures(|_, _, name, context| read(name, context), name.clone());
        let get = FunctionObjectBuilder::new(context.realm(), get).name(js_string!(js_str!("get "), &name)).build();
        let set = NativeFunction::from_copy_closure_with_captures(replace, name.clone());
        let set = FunctionObjectBuilder::new(context.realm(), set).name(js_string!(js_str!("set "), &name)).length(1).build();
        getters.push(get.clone());
        let accessor = PropertyDescriptor::builder().get(get).set(set).enumerable(false).configurable(true);
        context.global_object().define_property_or_throw(name, accessor, context)?;
    }
    let state = DeferredState { natives: Some(natives.clone()), getters, values: Vec::new() };
    context.insert_data(Deferred(Rc::new(RefCell::new(state))));
    Ok(())
}

/// The value of a deferred global. It is looked up here and not in the global object, where a script may have put this getter again.
fn read(name: &JsString, context: &mut Context) -> JsResult<JsValue> {
    let Some(Deferred(state)) = context.get_data::<Deferred>().cloned() else { return Ok(JsValue::undefined()) };
    let natives = state.borrow_mut().natives.take();
    if let Some(natives) = natives {
        install(&natives, context)?;
    }
    let state = state.borrow();
    Ok(state.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default())
}

/// A script assigns to a deferred global: it becomes an ordinary property.
fn replace(this: &JsValue, arguments: &[JsValue], name: &JsString, context: &mut Context) -> JsResult<JsValue> {
    let object = this.as_object().unwrap_or_else(|| context.global_object());
    let enumerable = !JsObject::equals(&object, &context.global_object());
    let value = arguments.get_or_undefined(0).clone();
    let property = PropertyDescriptor::builder().value(value).writable(true).enumerable(enumerable).configurable(true);
    object.define_property_or_throw(name.clone(), property, context)?;
    Ok(JsValue::undefined())
}

/// `(name, value)`: what a script has already put in the place of a deferred global stays.
fn define(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = arguments.get_or_undefined(0).to_string(context)?;
    let value = arguments.get_or_undefined(1).clone();
    let global = context.global_object();
    if let Some(Deferred(state)) = context.get_data::<Deferred>().cloned() {
        state.borrow_mut().values.push((name.clone(), value.clone()));
        let current = global.borrow().properties().get(&name.clone().into());
        let getter = current.and_then(|property| property.get().and_then(JsValue::as_object));
        let is_deferred = getter.is_some_and(|getter| state.borrow().getters.iter().any(|known| JsObject::equals(known, &getter)));
        if !is_deferred {
            return Ok(JsValue::undefined());
        }
    }
    let property = PropertyDescriptor::builder().value(value).writable(true).enumerable(false).configurable(true);
    global.define_property_or_throw(name, property, context)?;
    Ok(JsValue::undefined())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{freeze::BuiltIns, world::World};

    /// The own names of the global object, and whether each is an accessor.
    fn names(world: &mut World) -> Vec<(String, bool)> {
        let source = "Object.getOwnPropertyNames(globalThis).sort().map(name => `${name} ${'get' in Object.getOwnPropertyDescriptor(globalThis, name)}`).join()";
        let text = world.context.eval(Source::from_bytes(source)).unwrap().to_string(&mut world.context).unwrap();
        let text = text.to_std_string_lossy();
        text.split(',').map(|entry| entry.split_once(' ').unwrap()).map(|(name, accessor)| (name.to_owned(), accessor == "true")).collect()
    }

    fn eval(world: &mut World, source: &str) -> String {
        let value = world.context.eval(Source::from_bytes(source)).unwrap_or_else(|error| panic!("{source}: {error}"));
        value.to_string(&mut world.context).unwrap().to_std_string_lossy()
    }

    #[test]
    fn both_kinds_of_worlds_have_the_same_globals() {
        let mut used_again = World::prepare(BuiltIns::Frozen).unwrap();
        let mut for_a_call = World::prepare(BuiltIns::Changeable).unwrap();
        let (all, deferred) = (names(&mut used_again), names(&mut for_a_call));
        let accessors: Vec<_> = deferred.iter().filter(|(_, accessor)| *accessor).map(|(name, _)| name.as_str()).collect();
        assert_eq!(accessors, NAMES);
        assert!(all.iter().all(|(_, accessor)| !accessor));
        assert_eq!(all.iter().map(|(name, _)| name).collect::<Vec<_>>(), deferred.iter().map(|(name, _)| name).collect::<Vec<_>>());
        // One use puts all of them in place.
        assert_eq!(eval(&mut for_a_call, "new URL('https://a.example/b').pathname"), "/b");
        assert_eq!(names(&mut for_a_call), all);
    }

    #[test]
    fn what_a_script_puts_in_the_place_of_a_global_stays() {
        let mut world = World::prepare(BuiltIns::Changeable).unwrap();
        let source = "
          const getter = Object.getOwnPropertyDescriptor(globalThis, 'Headers').get;
          URL = 1;
          Object.defineProperty(globalThis, 'Request', { get: () => 2, configurable: true });
          delete globalThis.Response;
          const kinds = [typeof fetch, typeof Headers, URL, Request, typeof Response];
          // The getter of before does not call itself.
          Object.defineProperty(globalThis, 'Headers', { get: getter, configurable: true });
          const below = Object.create(globalThis);
          below.crypto = 3;
          [...kinds, typeof Headers, getter === getter, below.crypto, typeof crypto].join()";
        assert_eq!(eval(&mut world, source), "function,function,1,2,undefined,function,true,3,object");
    }
}
