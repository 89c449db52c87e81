//! One call: take a world, instantiate the program, call the export, wait for its promise, convert the result, look whether something was
//! left behind that nothing waits for, restore the world.

use std::{
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll, Waker, ready},
};

use boa_engine::{
    JsError, JsResult, JsValue, Script,
    builtins::promise::{PromiseState, ResolvingFunctions},
    job::Job,
    js_string,
    object::builtins::JsPromise,
};
use futures_util::{
    future::{self, Either},
    stream::{FuturesUnordered, StreamExt},
};
use millrace_core::{
    Error, ErrorKind,
    ports::{Fetched, Invocation, LocalFuture, LogLevel, LogReader, Reply, Returned, ScriptFault, Thrown},
    value::Rows,
};

use crate::{
    convert, fault,
    freeze::BuiltIns,
    globals, limit, native,
    pool::Pool,
    reply,
    state::{Request, RequestKind, with_host},
    world::World,
};

/// What the interpreter does, in its own unit of cost, before the clock is looked at and other calls get a turn: about a millisecond.
const SLICE: u32 = 50_000;

/// How many jobs run before other calls get a turn.
const JOBS_PER_TURN: usize = 512;

/// How many jobs run after the script has returned: what it started and did not wait for.
const MAX_LATE_JOBS: usize = 10_000;

/// How often what still waits for the host is told that nothing comes.
const MAX_LATE_ROUNDS: usize = 16;

/// Frames that the engine itself puts under a script's function.
const OWN_FRAMES: usize = 4;

/// Does the call.
pub(crate) async fn run(pool: &Pool, invocation: Invocation<'_>) -> Result<Returned, ScriptFault> {
    let _place = match pool.try_enter() {
        Some(place) => place,
        None => match future::select(pin!(stop(&invocation)), pin!(pool.enter())).await {
            Either::Left((fault, _)) => return Err(fault),
            Either::Right((place, _)) => place,
        },
    };
    if invocation.cancel.is_tripped() {
        return Err(ScriptFault::Cancelled);
    }
    if invocation.host.now_ms() >= invocation.deadline_ms {
        return Err(ScriptFault::TimedOut);
    }
    let built_ins = BuiltIns::Frozen;
    // A world that an earlier script of the call changed is there for the later ones.
    let kept = match built_ins {
        BuiltIns::Changeable => invocation.store.take::<World>(),
        BuiltIns::Frozen => None,
    };
    let mut world = match kept {
        Some(world) => world,
        None => Box::new(pool.take(built_ins).map_err(|fault| *fault)?),
    };
    world.state.begin(invocation.deadline_ms, invocation.cancel, &invocation.limits);
    let call =
        RunningScript { world: &mut world, invocation: &invocation, pending: FuturesUnordered::new(), open: BTreeMap::new(), asked: 0 };
    let outcome = call.run().await;
    // After these the interpreter stands in the middle of something.
    let interrupted =
        outcome.as_ref().is_err_and(|fault| matches!(**fault, ScriptFault::Limit(_) | ScriptFault::TimedOut | ScriptFault::Cancelled));
    let state = world.state.clone();
    let is_usable = world.finish() && !interrupted;
    match world.built_ins {
        _ if !is_usable => drop(world),
        BuiltIns::Frozen => pool.keep(*world),
        BuiltIns::Changeable => invocation.store.put(world),
    }
    state.meter.end();
    outcome.map_err(|fault| *fault)
}

/// Resolves when the call must end.
async fn stop(invocation: &Invocation<'_>) -> ScriptFault {
    loop {
        if invocation.cancel.is_tripped() {
            return ScriptFault::Cancelled;
        }
        let now_ms = invocation.host.now_ms();
        if now_ms >= invocation.deadline_ms {
            return ScriptFault::TimedOut;
        }
        future::select(invocation.host.sleep(invocation.deadline_ms - now_ms), pin!(invocation.cancel.tripped())).await;
    }
}

/// The host's answer to the request of a number.
struct HostAnswer {
    number: u64,
    content: HostContent,
}

/// Something that the host was asked for, and whom to tell.
struct Open {
    promise: ResolvingFunctions,
    /// What it is called in messages, and where the script asked.
    name: String,
    stack: String,
}

enum HostContent {
    Response(Result<Fetched, Error>),
    Rows(Result<Rows, Error>),
}

struct RunningScript<'a, 'w> {
    world: &'w mut World,
    invocation: &'a Invocation<'a>,
    pending: FuturesUnordered<LocalFuture<'a, HostAnswer>>,
    /// What has not been answered, by its number.
    open: BTreeMap<u64, Open>,
    /// How many requests there were.
    asked: u64,
}

impl RunningScript<'_, '_> {
    async fn run(mut self) -> Result<Returned, Box<ScriptFault>> {
        let invocation = self.invocation;
        let limits = self.world.context.runtime_limits_mut();
        limits.set_loop_iteration_limit(invocation.limits.loops);
        limits.set_recursion_limit(invocation.limits.recursion as usize + OWN_FRAMES);
        limits.set_stack_size_limit(limit::STACK_VALUES);

        let program = self.world.program(invocation.index, invocation.script)?;
        let module = self.world.module.clone().into();
        let exports = self.evaluate(&program, [module]).await?;
        let exports = self.settle(exports).await?;
        let function = self.export(&exports)?;

        let arguments = self.inside(|world| {
            let context = &mut world.context;
            let payload = convert::to_script(invocation.payload, false, context)?;
            let ctx = globals::make_ctx(invocation.ctx, invocation.host.required_variables(), &world.context_functions, context)?;
            if let (Some(payload), Some(ctx), Some(_)) = (payload.as_object(), ctx.as_object(), invocation.payload.get("env")) {
                // The same object: in both, a variable that is not set throws.
                let env = ctx.get(js_string!("env"), context)?;
                payload.create_data_property_or_throw(js_string!("env"), env, context)?;
            }
            Ok([function, payload, ctx])
        });
        let arguments = arguments.map_err(|error| self.fault(error))?;
        let enter = self.world.enter_function();
        let outcome = match self.evaluate(&enter, arguments).await {
            Ok(returned) => self.settle(returned).await,
            Err(fault) => Err(fault),
        };
        let outcome = outcome.and_then(|value| self.convert(&value));
        let ends = match &outcome {
            Ok(_) => true,
            // A failure that is thrown is one that is returned; a question ends the script in the middle of something.
            Err(fault) => matches!(&**fault, ScriptFault::Thrown(Thrown { reply: Some(reply), .. }) if *reply != Reply::InputRequired),
        };
        if ends {
            self.settle_the_rest().await?;
            self.tell_of_timers();
        }
        outcome
    }

    /// The script has returned. What it started and does not wait for comes to its end here; what is still not done then, or failed without
    /// anybody hearing of it, fails the call.
    async fn settle_the_rest(&mut self) -> Result<(), Box<ScriptFault>> {
        let state = self.world.state.clone();
        for _ in 0..MAX_LATE_ROUNDS {
            self.run_late_jobs().await?;
            if let Some((promise, what, stack)) = state.promises.unawaited() {
                return Err(self.left_behind(&promise.into(), &what, stack));
            }
            // It never left: whoever waits for it, and whatever that does with a failure, what was asked for is not done.
            if let Some(Request { kind, stack, .. }) = state.requests.take().into_iter().next() {
                let message = format!("the script returned before {} was sent: `await` it, and whatever waits for it", kind.name());
                return Err(Box::new(ScriptFault::LeftBehind(Thrown { message, stack: Some(stack), cause: None, reply: None })));
            }
            let open = std::mem::take(&mut self.open);
            if open.is_empty() {
                return self.handled();
            }
            // Dropped: the host gives up what it was doing. Whoever waits is told, so that it shows whether anybody waits for that.
            self.pending = FuturesUnordered::new();
            for Open { promise, name, stack } in open.into_values() {
                let message = format!("the script returned before {name} was answered: `await` it, and whatever waits for it");
                let result = self.inside(|world| {
                    let error = Error::new(ErrorKind::Cancelled, message);
                    let reason = native::host_error(&error, "Error", &stack, &mut world.context).into_opaque(&mut world.context)?;
                    promise.reject.call(&JsValue::undefined(), &[reason], &mut world.context)
                });
                self.job_ended(result)?;
            }
        }
        Err(self.still_busy())
    }

    /// A timer that is left may be one that lost a race, or have something behind it that is never done: only the author knows.
    fn tell_of_timers(&self) {
        let left = self.world.state.timers.borrow().len();
        if left > 0 {
            let timers = if left == 1 { String::from("a timer was") } else { format!("{left} timers were") };
            let text = format!(
                "{timers} left when `{}` returned, and what was to be done then is not done: `await` it, or call `clearTimeout`",
                self.invocation.script.path
            );
            self.invocation.host.log(LogReader::Operator, LogLevel::Warn, &text);
        }
    }

    /// Runs what is left of jobs. Timers stay where they are: what loses a race against one is nobody's loss.
    async fn run_late_jobs(&mut self) -> Result<(), Box<ScriptFault>> {
        let state = self.world.state.clone();
        for done in 1..=MAX_LATE_JOBS {
            let job = state.jobs.borrow_mut().pop_front();
            let Some(job) = job else { return Ok(()) };
            self.check()?;
            self.run_job(job)?;
            if done % JOBS_PER_TURN == 0 {
                self.invocation.host.sleep(0).await;
            }
        }
        Err(self.still_busy())
    }

    fn still_busy(&self) -> Box<ScriptFault> {
        let message = "a function that nothing awaits was still running when the script returned".into();
        Box::new(ScriptFault::LeftBehind(Thrown { message, stack: None, cause: None, reply: None }))
    }

    /// The fault of a promise of the host that nothing looked at.
    fn left_behind(&mut self, promise: &JsValue, what: &str, stack: String) -> Box<ScriptFault> {
        let reason = match promise.as_promise().map(|promise| promise.state()) {
            Some(PromiseState::Rejected(reason)) => Some(reason),
            _ => None,
        };
        let limits = self.invocation.limits;
        let reason =
            reason.map(|reason| self.inside(|world| fault::thrown(&reason, None, &limits, &world.state.clone(), &mut world.context)));
        let (failed, cause) = match reason {
            Some(ScriptFault::Thrown(thrown)) => (format!("; it failed: {}", thrown.message), thrown.cause),
            _ => (String::new(), None),
        };
        let message = format!("nothing awaits {what}{failed}");
        Box::new(ScriptFault::LeftBehind(Thrown { message, stack: Some(stack), cause, reply: None }))
    }

    /// Whether every rejected promise was handled.
    fn handled(&mut self) -> Result<(), Box<ScriptFault>> {
        let state = self.world.state.clone();
        if let Some(promise) = state.promises.unhandled()
            && let Some(PromiseState::Rejected(reason)) = JsValue::from(promise).as_promise().map(|promise| promise.state())
        {
            let limits = self.invocation.limits;
            return Err(self.inside(|world| fault::unhandled(&reason, &limits, &state, &mut world.context)).into());
        }
        if state.promises.has_overflowed() {
            let message = "more promises were rejected at a time than are kept, before anything awaited them or caught that".into();
            return Err(Box::new(ScriptFault::LeftBehind(Thrown { message, stack: None, cause: None, reply: None })));
        }
        Ok(())
    }

    /// Runs one of the engine's scripts in slices, with values for it to take; gives what it handed back.
    async fn evaluate<const N: usize>(&mut self, script: &Script, staged: [JsValue; N]) -> Result<JsValue, Box<ScriptFault>> {
        let state = self.world.state.clone();
        state.staged.borrow_mut().extend(staged);
        state.returned.take();
        let host = self.invocation.host;
        let result = {
            let mut evaluation = pin!(script.evaluate_async_with_budget(&mut self.world.context, SLICE));
            let mut turn: Option<LocalFuture<'static, ()>> = None;
            poll_fn(|waker| {
                loop {
                    if let Some(turn) = &mut turn {
                        ready!(turn.as_mut().poll(waker));
                    }
                    if let Some(fault) = state.must_stop(host.now_ms()) {
                        return Poll::Ready(Err(Box::new(fault)));
                    }
                    // It waits for nothing but its next slice, which comes when others had their turn.
                    state.meter.resume();
                    let slice = with_host(host, || evaluation.as_mut().poll(&mut Context::from_waker(Waker::noop())));
                    state.meter.pause();
                    if let Poll::Ready(result) = slice {
                        return Poll::Ready(Ok(result));
                    }
                    turn = Some(host.sleep(0));
                }
            })
            .await?
        };
        state.job_done();
        result.map_err(|error| self.fault(error))?;
        Ok(state.returned.take().unwrap_or_default())
    }

    /// The function to call.
    fn export(&mut self, exports: &JsValue) -> Result<JsValue, Box<ScriptFault>> {
        let (name, path) = (self.invocation.export, &self.invocation.script.path);
        let missing = || Box::new(ScriptFault::Broken(format!("`{path}` has no export `{name}`")));
        let exports = exports.as_object().ok_or_else(missing)?;
        let function = self.inside(|world| exports.get(js_string!(name), &mut world.context)).map_err(|error| self.fault(error))?;
        if function.is_undefined() {
            return Err(missing());
        }
        if !function.is_callable() {
            return Err(ScriptFault::Broken(format!("the export `{name}` of `{path}` is not a function")).into());
        }
        Ok(function)
    }

    /// Waits for a promise; any other value is itself.
    async fn settle(&mut self, value: JsValue) -> Result<JsValue, Box<ScriptFault>> {
        if !value.is_object() {
            return Ok(value);
        }
        let promise = match value.as_promise() {
            Some(promise) => {
                self.world.state.promises.awaited(&promise.clone().into());
                promise
            }
            None => {
                // As `await` does: an object with a function `then` counts, too. Most have none, and a promise of them would cost more than
                // they did. Where looking fails, the promise fails in the same way.
                let promise = self.inside(|world| {
                    let then = value.as_object().map(|object| object.get(js_string!("then"), &mut world.context));
                    match then {
                        Some(Ok(then)) if !then.is_callable() => Ok(None),
                        _ => JsPromise::resolve(value.clone(), &mut world.context).map(Some),
                    }
                });
                match promise.map_err(|error| self.fault(error))? {
                    Some(promise) => promise,
                    None => return Ok(value),
                }
            }
        };
        loop {
            match promise.state() {
                PromiseState::Fulfilled(value) => return Ok(value),
                PromiseState::Rejected(reason) => {
                    self.world.state.promises.heard_of(&promise.clone().into());
                    let limits = self.invocation.limits;
                    let fault = self.inside(|world| fault::thrown(&reason, None, &limits, &world.state.clone(), &mut world.context));
                    return Err(fault.into());
                }
                PromiseState::Pending => self.progress().await?,
            }
        }
    }

    /// Runs a turn of jobs, or where there are none waits for a timer or the host.
    async fn progress(&mut self) -> Result<(), Box<ScriptFault>> {
        let state = self.world.state.clone();
        for done in 0..JOBS_PER_TURN {
            self.check()?;
            let job = state.jobs.borrow_mut().pop_front();
            match job {
                Some(job) => self.run_job(job)?,
                None if done == 0 => return self.wait().await,
                None => return Ok(()),
            }
        }
        self.invocation.host.sleep(0).await;
        Ok(())
    }

    fn run_job(&mut self, job: Job) -> Result<(), Box<ScriptFault>> {
        let result = self.inside(|world| match job {
            Job::PromiseJob(job) => job.call(&mut world.context),
            Job::GenericJob(job) => job.call(&mut world.context),
            // Made by `Atomics.waitAsync` and dynamic `import` only: nobody else shares memory, and there is nothing to import.
            _ => Ok(JsValue::undefined()),
        });
        self.job_ended(result)
    }

    fn job_ended(&mut self, result: JsResult<JsValue>) -> Result<(), Box<ScriptFault>> {
        self.world.state.job_done();
        if let Some(fault) = self.world.state.fault.take() {
            return Err(fault.into());
        }
        result.map(drop).map_err(|error| self.fault(error))
    }

    async fn wait(&mut self) -> Result<(), Box<ScriptFault>> {
        let state = self.world.state.clone();
        for Request { kind, promise, stack } in state.requests.take() {
            self.asked += 1;
            self.open.insert(self.asked, Open { promise, name: kind.name(), stack });
            self.pending.push(answer(self.asked, kind, self.invocation));
        }

        let now_ms = self.invocation.host.now_ms();
        let next_timer = state.timers.borrow().first_key_value().map(|((due_ms, _), _)| *due_ms);
        if next_timer.is_some_and(|due_ms| due_ms <= now_ms) {
            return self.run_timer();
        }
        if self.pending.is_empty() && next_timer.is_none() {
            return Err(self.never_settles().into());
        }
        let wake_ms = next_timer.unwrap_or(u64::MAX).min(self.invocation.deadline_ms);
        let mut sleep = self.invocation.host.sleep(wake_ms.saturating_sub(now_ms));
        let mut cancelled = self.invocation.cancel.tripped();
        let answer = poll_fn(|waker| {
            if let Poll::Ready(Some(answer)) = self.pending.poll_next_unpin(waker) {
                return Poll::Ready(Some(answer));
            }
            let woken = pin!(&mut cancelled).poll(waker).is_ready() || sleep.as_mut().poll(waker).is_ready();
            if woken { Poll::Ready(None) } else { Poll::Pending }
        })
        .await;
        self.check()?;
        match answer {
            Some(answer) => self.deliver(answer),
            None => Ok(()),
        }
    }

    fn run_timer(&mut self) -> Result<(), Box<ScriptFault>> {
        let Some(((due_ms, order), timer)) = self.world.state.timers.borrow_mut().pop_first() else { return Ok(()) };
        if let Some(interval_ms) = timer.interval_ms {
            let again = crate::state::Timer {
                id: timer.id,
                callback: timer.callback.clone(),
                arguments: timer.arguments.clone(),
                interval_ms: Some(interval_ms),
            };
            self.world.state.timers.borrow_mut().insert((due_ms + interval_ms.max(1), order), again);
        }
        let result = self.inside(|world| timer.callback.call(&JsValue::undefined(), &timer.arguments, &mut world.context));
        self.job_ended(result)
    }

    fn deliver(&mut self, answer: HostAnswer) -> Result<(), Box<ScriptFault>> {
        let Some(Open { promise, stack, .. }) = self.open.remove(&answer.number) else { return Ok(()) };
        let result = self.inside(|world| {
            let context = &mut world.context;
            let outcome = match answer.content {
                HostContent::Response(Ok(response)) => globals::response_to_script(response, context),
                HostContent::Rows(Ok(rows)) => convert::rows_to_script(&rows, context),
                HostContent::Response(Err(error)) => Err(native::host_error(&error, "TypeError", &stack, context)),
                HostContent::Rows(Err(error)) => Err(native::host_error(&error, "Error", &stack, context)),
            };
            match outcome {
                Ok(value) => promise.resolve.call(&JsValue::undefined(), &[value], context),
                Err(error) => {
                    let reason = error.into_opaque(context)?;
                    promise.reject.call(&JsValue::undefined(), &[reason], context)
                }
            }
        });
        self.job_ended(result)
    }

    /// Nothing is left that could settle the promise. A function that hits the loop or the recursion limit behind an `await` ends
    /// without a trace, and so does its promise: the checkpoints tell.
    fn never_settles(&self) -> ScriptFault {
        let (limits, state) = (&self.invocation.limits, &self.world.state);
        if state.busiest_job.get() >= limits.loops {
            return limit::loops(limits);
        }
        // A call through a built-in function, such as `map`, counts twice and shows once, and the last one does not show.
        if state.deepest.get() + 2 * OWN_FRAMES >= limits.recursion as usize / 2 {
            return limit::recursion(limits.recursion as usize);
        }
        ScriptFault::NeverSettles
    }

    fn convert(&mut self, value: &JsValue) -> Result<Returned, Box<ScriptFault>> {
        let limits = self.invocation.limits;
        self.inside(|world| {
            let (state, context) = (world.state.clone(), &mut world.context);
            let limit = limits.output_bytes as usize;
            let value = reply::build(value, context).map_err(|error| fault::of_error(error, &limits, &state, context))?;
            if let Some(tagged) = state.reply(&value) {
                let finished = reply::finish(tagged, limit, context).map(Returned::Reply);
                return finished.map_err(|stop| fault::of_stop(stop, &limits, &state, context).into());
            }
            // What is returned instead of thrown is no less an error.
            if let Some(object) = value.as_object()
                && convert::is_error(&object, context).map_err(|error| fault::of_error(error, &limits, &state, context))?
            {
                return Err(fault::thrown(&value, None, &limits, &state, context).into());
            }
            let converted = convert::to_json(&value, limit, convert::RESULTS, context);
            let converted = converted.map(|json| json.map_or(Returned::Undefined, Returned::Value));
            converted.map_err(|stop| fault::of_stop(stop, &limits, &state, context).into())
        })
    }

    fn check(&self) -> Result<(), Box<ScriptFault>> {
        self.world.state.must_stop(self.invocation.host.now_ms()).map_or(Ok(()), |fault| Err(fault.into()))
    }

    fn inside<R>(&mut self, work: impl FnOnce(&mut World) -> R) -> R {
        let state = self.world.state.clone();
        state.meter.resume();
        let result = with_host(self.invocation.host, || work(self.world));
        state.meter.pause();
        result
    }

    fn fault(&mut self, error: JsError) -> Box<ScriptFault> {
        let limits = self.invocation.limits;
        Box::new(self.inside(|world| fault::of_error(error, &limits, &world.state.clone(), &mut world.context)))
    }
}

/// Asks the host.
fn answer<'a>(number: u64, kind: RequestKind, invocation: &'a Invocation<'a>) -> LocalFuture<'a, HostAnswer> {
    Box::pin(async move {
        let content = match kind {
            RequestKind::Fetch(request, redirect) => HostContent::Response(invocation.host.fetch(request, redirect).await),
            RequestKind::Query { adapter, text, params } => HostContent::Rows(invocation.host.query(&adapter, &text, params).await),
        };
        HostAnswer { number, content }
    })
}
