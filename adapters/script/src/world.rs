//! A world: one interpreter context with everything a script may use.
//!
//! Making one that is frozen takes some milliseconds, one that is not half a millisecond, a call in one that is ready some microseconds. So a
//! world in which everything that outlives a call is frozen ([`freeze`](crate::freeze)) is used again. A script that changes built-in
//! objects, which the bundler tells, gets a world that nobody used before and nobody uses after. Most of what a world takes to make is
//! reading script, so what is small is written in Rust, and found without evaluating anything.

use std::{collections::HashMap, path::Path, rc::Rc};

use boa_engine::{
    Context, JsArgs, JsObject, JsResult, JsSymbol, JsValue, NativeFunction, Script, Source,
    context::ContextBuilder,
    js_error, js_string,
    module::IdleModuleLoader,
    object::FunctionObjectBuilder,
    property::{Attribute, PropertyDescriptor},
    value::Numeric,
};
use millrace_core::{app, ports::ScriptFault};

use crate::{
    checks,
    freeze::BuiltIns,
    freeze::freeze,
    globals, guards, keys,
    native::Native,
    reply,
    state::{CallState, Hooks, HostClock, Jobs, state},
};

/// After so many calls a world is replaced, so that nothing inside the interpreter grows for ever.
const MAX_CALLS: u32 = 100_000;

/// A text of fewer units, or a list of fewer elements, is not worth a look.
const SHORT_TEXT: usize = 4096;

/// The most elements that are copied one by one.
const MAX_SPREAD: u64 = 1_000_000;

/// What an element takes that is copied: a character becomes a text of its own.
const SPREAD_BYTES: u64 = 48;

/// An exponent counts as so many bits each where the base is not known: 64 of them are the most.
const MAX_MEMBER_EXPONENT_COST: u64 = checks::MAX_BIGINT_BITS / 64;

/// The function that only the engine's own code knows.
const BORDER: &str = "$millrace_border";

/// Functions with lexical names, hence not properties of anything: the border, and those that the bundler puts into programs, see
/// `bundler/src/script/checkpoints.rs`.
const HIDDEN: [(&str, Native); 6] = [
    (BORDER, border),
    ("$millrace_look", look),
    ("$millrace_value", value),
    ("$millrace_spread", spread),
    ("$millrace_power", power),
    ("$millrace_shift", shift),
];

/// One prepared interpreter.
pub(crate) struct World {
    pub(crate) context: Context,
    pub(crate) built_ins: BuiltIns,
    pub(crate) state: Rc<CallState>,
    pub(crate) module: JsObject,
    pub(crate) context_functions: globals::ContextFunctions,
    enter_function: Script,
    programs: HashMap<usize, Script>,
    calls: u32,
}

impl World {
    /// Makes a world.
    pub(crate) fn prepare(built_ins: BuiltIns) -> JsResult<Self> {
        let state = Rc::new(CallState::default());
        let mut context = ContextBuilder::new()
            .host_hooks(Rc::new(Hooks(state.clone())))
            .clock(Rc::new(HostClock))
            .job_executor(Rc::new(Jobs(state.clone())))
            .module_loader(Rc::new(IdleModuleLoader))
            .build()?;
        context.insert_data(state.clone());
        crate::regex::install(&mut context)?;

        keys::install(&mut context)?;

        guards::install(&mut context)?;
        let lasting = hidden(&mut context)?;
        let inner = globals::install(built_ins, &mut context)?;
        let context_functions = globals::ContextFunctions::new(&mut context)?;
        let (module, of_module) = reply::module(built_ins, &mut context)?;
        // One evaluation that the interpreter can pause: take the function and its arguments, call, give back the result.
        let enter = format!("'use strict';(b=>{{const f=b(),p=b(),c=b();b(f(p,c))}})({BORDER})");
        let enter_function = Script::parse(Source::from_bytes(&enter), None, &mut context)?;

        if built_ins == BuiltIns::Frozen {
            let roots = lasting.into_iter().chain(inner).chain(of_module).chain([module.clone()]).chain(context_functions.objects());
            freeze(roots.collect(), &mut context)?;
        }
        Ok(Self { context, built_ins, state, module, context_functions, enter_function, programs: HashMap::new(), calls: 0 })
    }

    /// The compiled script. Evaluating it hands the module `"millrace"` to the program and gives back what it returns.
    ///
    /// # Errors
    /// [`ScriptFault::Broken`] where it does not compile.
    pub(crate) fn program(&mut self, index: usize, script: &app::Script) -> Result<Script, Box<ScriptFault>> {
        if let Some(program) = self.programs.get(&index) {
            return Ok(program.clone());
        }
        let program = self
            .compile(&script.program, &script.path)
            .map_err(|error| Box::new(ScriptFault::Broken(format!("`{}` does not compile: {error}", script.path))))?;
        self.programs.insert(index, program.clone());
        Ok(program)
    }

    fn compile(&mut self, program: &str, path: &str) -> JsResult<Script> {
        let text = format!("'use strict';((p,b)=>{{b(p(b()))}})({program}\n,{BORDER})");
        let script = Script::parse(Source::from_bytes(&text).with_path(Path::new(path)), None, &mut self.context)?;
        script.codeblock(&mut self.context)?;
        Ok(script)
    }

    /// The script that calls a staged function.
    pub(crate) fn enter_function(&self) -> Script {
        self.enter_function.clone()
    }

    /// Forgets the call. `false`: this world must not be used again.
    pub(crate) fn finish(&mut self) -> bool {
        self.state.end();
        self.context.clear_kept_objects();
        self.calls += 1;
        self.calls < MAX_CALLS
    }
}

/// Declares the functions of [`HIDDEN`], and what patterns use. In one evaluation: each has its price.
fn hidden(context: &mut Context) -> JsResult<Vec<JsObject>> {
    const SETUP: &str = "$millrace_setup";
    let holder = JsObject::with_null_proto();
    let (mut functions, mut declarations) = (Vec::new(), String::new());
    for (name, native) in HIDDEN {
        let function = FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(native)).name(js_string!()).build();
        holder.create_data_property_or_throw(js_string!(name), function.clone(), context)?;
        functions.push(function.into());
        declarations += &format!("{}{name}={SETUP}.{name}", if declarations.is_empty() { "const " } else { "," });
    }
    let slot = JsObject::with_null_proto();
    let [get, set] =
        [taken, take].map(|native: Native| FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(native)).build());
    let accessor = PropertyDescriptor::builder().get(get).set(set).enumerable(false).configurable(false);
    slot.define_property_or_throw(js_string!("v"), accessor, context)?;
    functions.push(slot.clone());
    let none = JsSymbol::new(None).ok_or_else(|| js_error!(Error: "no symbol is left"))?;
    for (name, value) in [("$millrace_taken", JsValue::from(slot)), ("$millrace_none", none.into())] {
        holder.create_data_property_or_throw(js_string!(name), value, context)?;
        declarations += &format!(",{name}={SETUP}.{name}");
    }
    context.register_global_property(js_string!(SETUP), holder, Attribute::all())?;
    context.eval(Source::from_bytes(&declarations))?;
    context.global_object().delete_property_or_throw(js_string!(SETUP), context)?;
    Ok(functions)
}

/// Without argument: the next staged value. With one: the result.
fn border(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let state = state(context)?;
    if let Some(value) = arguments.first() {
        state.returned.borrow_mut().get_or_insert_with(|| value.clone());
        return Ok(JsValue::undefined());
    }
    let value = state.staged.borrow_mut().pop_front();
    Ok(value.unwrap_or_default())
}

/// At the entry of every function and in every round of a loop.
fn look(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    checks::look(context)?;
    Ok(JsValue::undefined())
}

/// Around a text or a bigint that was just made.
fn value(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = arguments.get_or_undefined(0);
    if let Some(text) = value.as_string() {
        if text.len() >= SHORT_TEXT {
            checks::text(text.len() as u64, context)?;
        }
    } else if let Some(bigint) = value.as_bigint() {
        checks::bigint(bigint.as_inner().bits(), context)?;
    }
    Ok(value.clone())
}

/// Around what is about to be copied, element by element.
fn spread(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = arguments.get_or_undefined(0);
    let length = match (value.as_string(), value.as_object()) {
        (Some(text), _) => text.len() as u64,
        (None, Some(object)) if object.is_array() => object.get(js_string!("length"), context)?.to_length(context)?,
        _ => 0,
    };
    if length >= SHORT_TEXT as u64 {
        checks::list_up_to(MAX_SPREAD, length, SPREAD_BYTES, "`...`", context)?;
    }
    Ok(value.clone())
}

/// `a ** b`; with one argument, the exponent of `a.b **= c`.
fn power(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let [base, exponent] = arguments else {
        if let Some(exponent) = arguments.get_or_undefined(0).as_bigint() {
            checks::bigint(exponent.to_f64().abs().min(1e15) as u64 * MAX_MEMBER_EXPONENT_COST, context)?;
        }
        return Ok(arguments.get_or_undefined(0).clone());
    };
    let (base, exponent) = (base.to_numeric(context)?, exponent.to_numeric(context)?);
    if let (Numeric::BigInt(base), Numeric::BigInt(exponent)) = (&base, &exponent) {
        // A base of one bit stays as it is. A base of 2^k makes k bits for each.
        let bits = base.as_inner().bits().saturating_sub(1);
        checks::bigint((bits as f64 * exponent.to_f64().abs()).min(1e15) as u64, context)?;
    }
    JsValue::from(base).pow(&exponent.into(), context)
}

/// The value that a pattern took apart last, in an assignment.
fn taken(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(state(context)?.taken.borrow().clone())
}

fn take(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    state(context)?.taken.replace(arguments.get_or_undefined(0).clone());
    Ok(JsValue::undefined())
}

/// The right side of `<<` and `>>`.
fn shift(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if let Some(by) = arguments.get_or_undefined(0).as_bigint() {
        checks::bigint(by.to_f64().abs().min(1e15) as u64, context)?;
    }
    Ok(arguments.get_or_undefined(0).clone())
}
