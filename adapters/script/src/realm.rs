//! A world: one interpreter context with everything a script may use, made ready once and used for many calls.
//!
//! Making one takes some milliseconds, a call in one that is ready some microseconds. So a world is reused, and what a call did to
//! it is undone: see [`baseline`](crate::baseline) for what is frozen, what is checked and what makes a world unusable.

use std::{collections::HashMap, path::Path, rc::Rc};

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsValue, NativeFunction, Script, Source,
    context::ContextBuilder,
    error::RuntimeLimitError,
    js_error, js_string,
    module::IdleModuleLoader,
    object::{
        FunctionObjectBuilder,
        builtins::{JsArray, JsFunction},
    },
    property::Attribute,
};
use millrace_core::{app, ports::ScriptFault};

use crate::{
    baseline::{Baseline, BuiltIns},
    globals,
    plan::Plan,
    reply,
    state::{CallState, Hooks, HostClock, Jobs, host, state},
};

/// After so many calls a world is replaced, so that nothing inside the interpreter grows for ever.
const MAX_CALLS: u32 = 100_000;

/// How often a checkpoint looks at the clock.
const CLOCK_EVERY: u64 = 32;

/// The names of the two functions that only the engine's own code knows. They are lexical, hence not properties of anything.
const BORDER: &str = "$millrace_border";
pub(crate) const CHECKPOINT: &str = "$millrace_checkpoint";

/// One prepared interpreter.
pub(crate) struct World {
    pub(crate) context: Context,
    pub(crate) built_ins: BuiltIns,
    pub(crate) state: Rc<CallState>,
    pub(crate) module: JsObject,
    pub(crate) context_functions: globals::ContextFunctions,
    pub(crate) baseline: Baseline,
    enter_function: Script,
    programs: HashMap<usize, Script>,
    calls: u32,
}

/// The intrinsic `Object.keys`, whatever a script puts in its place.
#[derive(Clone)]
struct Keys(JsFunction);

/// The own enumerable string keys of an object, in order.
pub(crate) fn object_keys(object: &JsObject, context: &mut Context) -> JsResult<Vec<JsString>> {
    let Some(Keys(keys)) = context.get_data::<Keys>().cloned() else {
        return Err(js_error!(Error: "the script engine was not set up"));
    };
    let list = keys.call(&JsValue::undefined(), &[object.clone().into()], context)?;
    let Some(list) = list.as_object().and_then(|list| JsArray::from_object(list).ok()) else { return Ok(Vec::new()) };
    let length = list.length(context)?;
    let mut names = Vec::new();
    for index in 0..length {
        names.extend(list.get(index, context)?.as_string());
    }
    Ok(names)
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

        let keys = context.eval(Source::from_bytes("Object.keys"))?;
        let keys = keys.as_function().ok_or_else(|| js_error!(Error: "`Object.keys` is missing"))?;
        context.insert_data(Keys(keys));

        let lasting = [hidden(BORDER, border, &mut context)?, hidden(CHECKPOINT, checkpoint, &mut context)?];
        let inner = globals::install(&mut context)?;
        let context_functions = globals::ContextFunctions::new(&mut context)?;
        let (module, of_module) = reply::module(&mut context)?;
        // One evaluation that the interpreter can pause: take the function and its arguments, call, give back the result.
        let enter = format!("'use strict';(b=>{{const f=b(),p=b(),c=b();b(f(p,c))}})({BORDER})");
        let enter_function = Script::parse(Source::from_bytes(&enter), None, &mut context)?;

        let mut roots: Vec<JsObject> = lasting.into_iter().chain([module.clone(), inner, of_module]).collect();
        roots.extend(context_functions.objects());
        let baseline = Baseline::take(roots, built_ins, &mut context)?;
        *state.lasting.borrow_mut() = baseline.lasting();
        Ok(Self { context, built_ins, state, module, context_functions, baseline, enter_function, programs: HashMap::new(), calls: 0 })
    }

    /// The compiled script. Evaluating it hands the module `"millrace"` to the program and gives back what it returns.
    ///
    /// # Errors
    /// [`ScriptFault::Broken`] where it does not compile.
    pub(crate) fn program(&mut self, index: usize, script: &app::Script, plan: &Plan) -> Result<Script, Box<ScriptFault>> {
        if let Some(program) = self.programs.get(&index) {
            return Ok(program.clone());
        }
        let program = self
            .compile(&plan.program, &script.path)
            .or_else(|_| self.compile(&script.program, &script.path))
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

    /// Undoes what the call did. `false`: this world must not be used again.
    pub(crate) fn restore(&mut self) -> bool {
        self.state.end();
        self.context.clear_kept_objects();
        self.calls += 1;
        if self.calls >= MAX_CALLS {
            tracing::debug!("replacing a script world after {MAX_CALLS} calls");
            return false;
        }
        if self.state.marked.get() {
            tracing::debug!("replacing a script world: a private element was put on an object that may outlive the call");
            return false;
        }
        self.baseline.restore(&mut self.context)
    }
}

/// Declares a native function under a lexical name, and freezes it.
fn hidden(name: &str, function: fn(&JsValue, &[JsValue], &mut Context) -> JsResult<JsValue>, context: &mut Context) -> JsResult<JsObject> {
    let function = FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(function)).name(js_string!()).build();
    let key = js_string!("millrace: being set up");
    context.register_global_property(key.clone(), function.clone(), Attribute::all())?;
    context.eval(Source::from_bytes(&format!("const {name} = globalThis['millrace: being set up'];")))?;
    context.global_object().delete_property_or_throw(key, context)?;
    Ok(function.into())
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

/// At the entry of every function and in every round of most loops: stops the script at its deadline.
fn checkpoint(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let state = state(context)?;
    let count = state.checkpoints.get() + 1;
    state.checkpoints.set(count);
    // The interpreter's own frames are a slice: this does not walk them.
    state.deepest.set(state.deepest.get().max(context.stack_trace().size_hint().0));
    if count.is_multiple_of(CLOCK_EVERY)
        && let Some(fault) = host(|host| state.must_stop(host.now_ms())).flatten()
    {
        state.fault.borrow_mut().get_or_insert(fault);
        // The one kind of error that a script cannot catch.
        return Err(RuntimeLimitError::LoopIteration.into());
    }
    Ok(JsValue::undefined())
}
