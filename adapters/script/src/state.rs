//! What one world knows about the call that runs in it, and the way from native functions to the host.
//!
//! Native functions of the interpreter must be `'static`; the host of a call is borrowed. So the host stands in a scoped
//! thread-local while script code runs, and only then: [`with_host`] opens the scope, [`host`] looks inside.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap, VecDeque},
    rc::Rc,
};

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsSymbol, JsValue,
    builtins::promise::{OperationType, Promise, ResolvingFunctions},
    context::{Clock, HostHooks, time::JsInstant},
    job::{Job, JobExecutor},
    js_error,
    object::builtins::JsFunction,
    realm::Realm,
};
use millrace_core::{
    app::ScriptLimits,
    cancel::Cancel,
    ports::{HttpRequest, Redirect, Reply, ScriptFault, ScriptHost},
    value::Value,
};
use scoped_tls_hkt::scoped_thread_local;

use crate::{meter::Meter, promises::Promises};

scoped_thread_local!(static HOST: for<'a> &'a (dyn ScriptHost + 'a));

/// The most bytes that one `ArrayBuffer` may have.
pub(crate) const MAX_BUFFER_BYTES: u64 = 64 * 1024 * 1024;

/// The most timers, promises of the host and tagged replies that one call may have at a time.
pub(crate) const MAX_PENDING: usize = 10_000;

/// Runs `work` with `host` in reach of native functions.
pub(crate) fn with_host<R>(host: &dyn ScriptHost, work: impl FnOnce() -> R) -> R {
    HOST.set(host, work)
}

/// Asks the host of the running call. `None` outside of a call.
pub(crate) fn host<R>(ask: impl FnOnce(&dyn ScriptHost) -> R) -> Option<R> {
    HOST.is_set().then(|| HOST.with(|host| ask(host)))
}

/// Something a script asked of the host that takes time. Its answer settles the promise.
pub(crate) struct Request {
    pub(crate) kind: RequestKind,
    pub(crate) promise: ResolvingFunctions,
    /// Where the script asked, as lines of a stack.
    pub(crate) stack: String,
}

/// What was asked.
pub(crate) enum RequestKind {
    Fetch(HttpRequest, Redirect),
    Query { adapter: String, text: String, params: Vec<Value> },
}

impl RequestKind {
    /// What it is called in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Fetch(..) => String::from("`fetch(…)`"),
            Self::Query { adapter, .. } => format!("`ctx.db({adapter:?}).query(…)`"),
        }
    }
}

/// A function to call at a point in time.
pub(crate) struct Timer {
    pub(crate) id: u32,
    pub(crate) callback: JsFunction,
    pub(crate) arguments: Vec<JsValue>,
    pub(crate) interval_ms: Option<u64>,
}

/// What a tagged object stands for. The data of `success` and of `response` stay script values until they are returned.
#[derive(Clone)]
pub(crate) enum Tagged {
    Success(JsValue),
    Content(JsValue),
    Done(Reply),
}

/// What the log is told of an error of the host.
#[derive(Clone)]
pub(crate) struct HostCause {
    /// What the outside said.
    pub(crate) source: Option<String>,
    /// Where the script asked for what failed.
    pub(crate) stack: String,
}

/// The state of the running call. One per world; emptied between calls.
#[derive(Default)]
pub(crate) struct CallState {
    /// What the entry script takes, in order.
    pub(crate) staged: RefCell<VecDeque<JsValue>>,
    /// What the entry script gave back.
    pub(crate) returned: RefCell<Option<JsValue>>,
    pub(crate) jobs: RefCell<VecDeque<Job>>,
    pub(crate) requests: RefCell<Vec<Request>>,
    pub(crate) timers: RefCell<BTreeMap<(u64, u32), Timer>>,
    pub(crate) last_timer: Cell<u32>,
    pub(crate) replies: RefCell<Vec<(JsObject, Tagged)>>,
    /// The errors of the host that scripts were given, and what the outside said.
    pub(crate) causes: RefCell<Vec<(JsObject, HostCause)>>,
    pub(crate) promises: Promises,
    /// A fault found inside script code, where it cannot travel as an exception.
    pub(crate) fault: RefCell<Option<ScriptFault>>,
    pub(crate) cancel: RefCell<Cancel>,
    pub(crate) deadline_ms: Cell<u64>,
    /// Functions entered and loop rounds done in the running job.
    pub(crate) checkpoints: Cell<u64>,
    /// The most checkpoints of one job.
    pub(crate) busiest_job: Cell<u64>,
    /// The most calls that were nested.
    pub(crate) deepest: Cell<usize>,
    /// What the call takes.
    pub(crate) meter: Meter,
    /// The value that a pattern of an assignment takes apart.
    pub(crate) taken: RefCell<JsValue>,
    /// What `Symbol.for` gave out.
    pub(crate) symbols: RefCell<HashMap<JsString, JsSymbol>>,
    /// Proxies made.
    pub(crate) proxies: Cell<u32>,
}

impl CallState {
    /// The reply that `value` is, if it is one.
    pub(crate) fn reply(&self, value: &JsValue) -> Option<Tagged> {
        let object = value.as_object()?;
        self.replies.borrow().iter().find(|(known, _)| JsObject::equals(known, &object)).map(|(_, tagged)| tagged.clone())
    }

    /// Makes the state ready for a call.
    pub(crate) fn begin(&self, deadline_ms: u64, cancel: &Cancel, limits: &ScriptLimits) {
        self.end();
        self.meter.begin(limits);
        self.deadline_ms.set(deadline_ms);
        *self.cancel.borrow_mut() = cancel.clone();
    }

    /// Forgets everything of the call: what is pending never runs.
    pub(crate) fn end(&self) {
        self.staged.take();
        self.returned.take();
        self.jobs.take();
        self.requests.take();
        self.timers.take();
        self.last_timer.set(0);
        self.replies.take();
        self.causes.take();
        self.promises.end();
        self.fault.take();
        self.cancel.take();
        self.taken.take();
        self.symbols.take();
        self.proxies.set(0);
        self.checkpoints.set(0);
        self.busiest_job.set(0);
        self.deepest.set(0);
    }

    /// Asks the host for something, once the script waits for it.
    pub(crate) fn request(&self, kind: RequestKind, promise: ResolvingFunctions, stack: String) {
        self.requests.borrow_mut().push(Request { kind, promise, stack });
    }

    /// Why the call must stop now, if it has to.
    pub(crate) fn must_stop(&self, now_ms: u64) -> Option<ScriptFault> {
        if self.cancel.borrow().is_tripped() {
            return Some(ScriptFault::Cancelled);
        }
        (now_ms >= self.deadline_ms.get()).then_some(ScriptFault::TimedOut)
    }

    /// How many things of the host the call waits for.
    pub(crate) fn is_full(&self) -> bool {
        self.requests.borrow().len() >= MAX_PENDING || self.timers.borrow().len() >= MAX_PENDING
    }

    /// Closes the count of a job's checkpoints.
    pub(crate) fn job_done(&self) {
        self.busiest_job.set(self.busiest_job.get().max(self.checkpoints.replace(0)));
    }
}

/// The state of the call that runs in `context`.
pub(crate) fn state(context: &Context) -> JsResult<Rc<CallState>> {
    context.get_data::<Rc<CallState>>().cloned().ok_or_else(|| js_error!(Error: "the script engine was not set up"))
}

/// Collects jobs; the call runs them itself, and drops what is left at its end.
///
/// Clean-up jobs of `FinalizationRegistry` are dropped at once: a host may do so, and they would run at a time that depends on the
/// collector, perhaps in another call.
pub(crate) struct Jobs(pub(crate) Rc<CallState>);

impl JobExecutor for Jobs {
    fn enqueue_job(self: Rc<Self>, job: Job, _context: &mut Context) {
        if !matches!(job, Job::FinalizationRegistryCleanupJob(_)) {
            self.0.jobs.borrow_mut().push_back(job);
        }
    }

    fn run_jobs(self: Rc<Self>, _context: &mut Context) -> JsResult<()> {
        Ok(())
    }
}

/// The host's clock, for `Date`.
pub(crate) struct HostClock;

impl Clock for HostClock {
    fn now(&self) -> JsInstant {
        let now_ms = host(|host| host.now_ms()).unwrap_or_default();
        JsInstant::new(now_ms / 1000, u32::try_from(now_ms % 1000).unwrap_or_default() * 1_000_000)
    }

    fn system_time_millis(&self) -> i64 {
        host(|host| host.now_ms()).and_then(|now_ms| i64::try_from(now_ms).ok()).unwrap_or_default()
    }
}

/// Where the interpreter asks the host.
pub(crate) struct Hooks(pub(crate) Rc<CallState>);

impl HostHooks for Hooks {
    fn ensure_can_compile_strings(&self, _: Realm, _: &[JsString], _: &JsString, _: bool, _: &mut Context) -> JsResult<()> {
        Err(js_error!(EvalError: "code cannot be made from strings here (`eval`, `Function`)"))
    }

    fn promise_rejection_tracker(&self, promise: &JsObject<Promise>, operation: OperationType, _: &mut Context) {
        self.0.promises.rejected(&promise.clone().upcast(), operation);
    }

    fn ensure_can_add_private_element(&self, object: &JsObject, context: &mut Context) -> JsResult<()> {
        // What outlives the call is frozen; and no descriptor would show a private element.
        if object.is_extensible(context)? {
            return Ok(());
        }
        Err(js_error!(TypeError: "a private element cannot be added to an object that is not extensible"))
    }

    fn local_timezone_offset_seconds(&self, _: i64) -> i32 {
        0
    }

    fn max_buffer_size(&self, _: &mut Context) -> u64 {
        self.0.meter.room().min(MAX_BUFFER_BYTES)
    }
}
