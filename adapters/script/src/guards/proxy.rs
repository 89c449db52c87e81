//! `Proxy`: each operation on one goes through a function of the engine's, so that the depth of proxies behind proxies is seen.
//!
//! The interpreter's proxy gets a handler of ours, which the script never sees. Its traps look at the limits and then do what the script's
//! handler says, or what is done without a trap.

use boa_engine::{
    Context, Finalize, JsArgs, JsData, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction, Trace, js_error, js_string,
    object::{FunctionObjectBuilder, IntegrityLevel, builtins::JsFunction},
    property::{Attribute, PropertyDescriptor},
};
use millrace_core::ports::ScriptFault;

use crate::{checks, state::state};

/// The most proxies of one call: a question that goes from proxy to proxy, such as `Array.isArray`, passes no trap.
const MAX_PROXIES: u32 = 10_000;

const TRAPS: [&str; 13] = [
    "apply",
    "construct",
    "defineProperty",
    "deleteProperty",
    "get",
    "getOwnPropertyDescriptor",
    "getPrototypeOf",
    "has",
    "isExtensible",
    "ownKeys",
    "preventExtensions",
    "set",
    "setPrototypeOf",
];

/// The script's handler, inside ours.
#[derive(Debug, Trace, Finalize, JsData)]
struct Handler(JsObject);

/// What a trap does that the script did not write, in the order of [`TRAPS`]; and the prototype of our handlers.
#[derive(Clone, Trace, Finalize, JsData)]
struct Proxies {
    defaults: Vec<JsFunction>,
    traps: JsObject,
    construct: JsFunction,
    revocable: JsFunction,
}

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let reflect = context.global_object().get(js_string!("Reflect"), context)?;
    let Some(reflect) = reflect.as_object() else { return Err(js_error!(Error: "`Reflect` is missing")) };
    let traps = JsObject::with_null_proto();
    let mut defaults = Vec::new();
    for (place, name) in TRAPS.into_iter().enumerate() {
        let default = reflect.get(js_string!(name), context)?;
        defaults.extend(default.as_function());
        let native = NativeFunction::from_copy_closure(move |this, arguments, context| trap(place, this, arguments, context));
        let function = FunctionObjectBuilder::new(context.realm(), native).name(js_string!(name)).build();
        traps.create_data_property_or_throw(js_string!(name), function, context)?;
    }
    traps.set_integrity_level(IntegrityLevel::Frozen, context)?;
    let original = context.global_object().get(js_string!("Proxy"), context)?;
    let Some(construct) = original.as_function() else { return Err(js_error!(Error: "`Proxy` is missing")) };
    let Some(revocable) = construct.get(js_string!("revocable"), context)?.as_function() else {
        return Err(js_error!(Error: "`Proxy.revocable` is missing"));
    };
    let proxies = Proxies { defaults, traps, construct, revocable };
    context.insert_data(proxies);

    let constructor = FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(proxy))
        .name(js_string!("Proxy"))
        .length(2)
        .constructor(true)
        .build();
    // The built-in has no `prototype`: a proxy's is its target's.
    constructor.delete_property_or_throw(js_string!("prototype"), context)?;
    let revocable = FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(revocable_proxy))
        .name(js_string!("revocable"))
        .length(2)
        .build();
    let property = PropertyDescriptor::builder().value(revocable).writable(true).enumerable(false).configurable(true);
    constructor.define_property_or_throw(js_string!("revocable"), property, context)?;
    context.register_global_property(js_string!("Proxy"), constructor, Attribute::WRITABLE | Attribute::CONFIGURABLE)?;
    Ok(())
}

fn proxies(context: &Context) -> JsResult<Proxies> {
    context.get_data::<Proxies>().cloned().ok_or_else(|| js_error!(Error: "the script engine was not set up"))
}

/// The arguments for the original: with a handler of ours. What is not an object, the original refuses.
fn with_handler(arguments: &[JsValue], proxies: &Proxies, context: &Context) -> JsResult<[JsValue; 2]> {
    let state = state(context)?;
    let count = state.proxies.get() + 1;
    if count > MAX_PROXIES {
        return Err(checks::stop(&state, ScriptFault::Limit(format!("a call makes at most {MAX_PROXIES} proxies"))));
    }
    state.proxies.set(count);
    let handler = match arguments.get_or_undefined(1).as_object() {
        Some(handler) => JsObject::from_proto_and_data(proxies.traps.clone(), Handler(handler)).upcast().into(),
        None => arguments.get_or_undefined(1).clone(),
    };
    Ok([arguments.get_or_undefined(0).clone(), handler])
}

fn proxy(new_target: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if new_target.is_undefined() {
        return Err(JsNativeError::typ().with_message("Constructor Proxy requires 'new'").into());
    }
    let proxies = proxies(context)?;
    let arguments = with_handler(arguments, &proxies, context)?;
    Ok(proxies.construct.construct(&arguments, None, context)?.into())
}

fn revocable_proxy(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let proxies = proxies(context)?;
    let arguments = with_handler(arguments, &proxies, context)?;
    proxies.revocable.call(&proxies.construct.clone().into(), &arguments, context)
}

fn trap(place: usize, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let _nested = checks::Nested::enter(context)?;
    checks::look(context)?;
    let handler = this.as_object().and_then(|object| object.downcast_ref::<Handler>().map(|handler| handler.0.clone()));
    let Some(handler) = handler else { return Err(js_error!(TypeError: "not a handler")) };
    let name = JsString::from(TRAPS[place]);
    let written = handler.get(name.clone(), context)?;
    if written.is_null_or_undefined() {
        let proxies = proxies(context)?;
        return proxies.defaults[place].call(&JsValue::undefined(), arguments, context);
    }
    match written.as_callable() {
        Some(function) => function.call(&handler.into(), arguments, context),
        None => Err(js_error!(TypeError: "the trap `{}` of a proxy is not a function", TRAPS[place])),
    }
}
