//! One call: take an instance, begin, give it what it asks for, read what it says.

use std::{cell::Cell, collections::BTreeMap, future::poll_fn, pin::pin, rc::Rc, task::Poll};

use futures_util::{
    future::{self, AbortHandle, Abortable, Aborted, Either},
    stream::{FuturesUnordered, StreamExt},
};
use millrace_core::{
    Error, Json,
    ports::{Invocation, LocalFuture, LogLevel, LogReader, Returned, ScriptFault, Thrown},
};
use millrace_engine::{Ask, Fault, Frame, Instance, Limits, Step, Ticket};

use crate::{
    bridge::Bridge,
    crypto::{self, Operation},
    limit,
    pool::{CallInstance, Pool, PoolSlot},
    program,
    wire::{self, ask},
};

/// Does the call.
pub(crate) async fn run(pool: &Rc<Pool>, invocation: Invocation<'_>) -> Result<Returned, ScriptFault> {
    must_stop(&invocation)?;
    let mut held = match invocation.store.take::<CallInstance>() {
        Some(held) => held,
        None => Box::new(CallInstance::new(enter(pool, &invocation).await?)),
    };
    let outcome = run_in(pool, &invocation, &mut held).await;
    invocation.store.put(held);
    outcome
}

/// Waits for a place.
async fn enter(pool: &Rc<Pool>, invocation: &Invocation<'_>) -> Result<PoolSlot, ScriptFault> {
    let slot = match pool.try_enter() {
        Some(slot) => slot,
        None => match future::select(pin!(stop(invocation)), pin!(pool.enter())).await {
            Either::Left((fault, _)) => return Err(fault),
            Either::Right((slot, _)) => slot,
        },
    };
    must_stop(invocation)?;
    Ok(slot)
}

/// Runs a script in the call's instance. Where it is interrupted the instance is given up.
async fn run_in(pool: &Pool, invocation: &Invocation<'_>, held: &mut CallInstance) -> Result<Returned, ScriptFault> {
    let program = pool.program(invocation.scripts)?;
    let mut instance = held.take(&program)?;
    let broken = |fault: Fault| ScriptFault::Broken(format!("the script engine does not start: {fault:?}"));
    let bridge = Bridge::new(invocation);
    if held.has_left && !instance.drain(&bridge).await {
        instance.restore().map_err(broken)?;
        held.forget();
    }
    let limits = limit::engine_limits(&invocation.limits);
    let has_it = program.has(invocation.index) || held.evaluated.contains(&invocation.index);
    let loading = if has_it { 0 } else { program::loading_fuel(limits) };
    instance.begin(Limits { fuel: limits.fuel.saturating_add(loading), ..limits }).map_err(broken)?;
    let mut running = RunningScript {
        instance: &mut instance,
        invocation,
        bridge: &bridge,
        limits,
        is_trapped: Cell::new(false),
        pending: FuturesUnordered::new(),
        timers: BTreeMap::new(),
        timer_keys: BTreeMap::new(),
        last_timer: 0,
        fired_ms: None,
        computed: 0,
    };
    let outcome = running.run(has_it, held.is_used).await;
    let is_trapped = running.is_trapped.get();
    drop(running);
    if let Some(bytes) = instance.taken_bytes() {
        invocation.host.took_memory(bytes as u64);
    }
    if is_trapped {
        instance.restore().map_err(broken)?;
        held.forget();
    } else {
        held.is_used = true;
        held.has_left = outcome.is_err();
        if !has_it && outcome.is_ok() {
            held.evaluated.push(invocation.index);
        }
    }
    held.put(instance);
    outcome
}

fn must_stop(invocation: &Invocation<'_>) -> Result<(), ScriptFault> {
    if invocation.cancel.is_tripped() {
        return Err(ScriptFault::Cancelled);
    }
    if invocation.host.now_ms() >= invocation.deadline_ms {
        return Err(ScriptFault::TimedOut);
    }
    Ok(())
}

/// Resolves when the call must end.
async fn stop(invocation: &Invocation<'_>) -> ScriptFault {
    loop {
        if let Err(fault) = must_stop(invocation) {
            return fault;
        }
        let left_ms = invocation.deadline_ms.saturating_sub(invocation.host.now_ms());
        future::select(invocation.host.sleep(left_ms), pin!(invocation.cancel.tripped())).await;
    }
}

/// The answer to a question: what was asked for, with bytes, or why it is not there.
struct Answered {
    ticket: Ticket,
    content: Result<(Json, Option<Vec<u8>>), Error>,
}

/// What is computed at a time before others have their turn, and what each answer takes beside
/// that: about as long as a slice of a script.
const UNITS_AT_A_TIME: u64 = 400_000;
const UNITS_OF_AN_ANSWER: u64 = 10_000;

struct RunningScript<'a> {
    instance: &'a mut Instance,
    invocation: &'a Invocation<'a>,
    bridge: &'a Bridge<'a>,
    limits: Limits,
    /// Whether it was ended from outside: then the instance stands where nothing can go on.
    is_trapped: Cell<bool>,
    pending: FuturesUnordered<Abortable<LocalFuture<'a, Answered>>>,
    /// By the time at which they are due, and the order in which they were set.
    timers: BTreeMap<(u64, u64), Ticket>,
    /// The key of each of them, by the number of its question.
    timer_keys: BTreeMap<i32, (u64, u64)>,
    last_timer: u64,
    /// When the timer was due whose function runs.
    fired_ms: Option<u64>,
    /// The units that the host has computed with since others had their turn.
    computed: u64,
}

impl<'a> RunningScript<'a> {
    async fn run(&mut self, has_it: bool, is_used: bool) -> Result<Returned, ScriptFault> {
        let invocation = self.invocation;
        let message = wire::call(invocation, has_it && is_used);
        let mut step = if has_it {
            self.instance.go_on(Frame::text(&message), self.limits, self.bridge).await
        } else {
            let meta = program::meta(invocation.index, invocation.script, false);
            match self.instance.evaluate(program::frame(&meta, invocation.script), self.limits, self.bridge).await {
                Ok(Step::Threw(text)) => return Err(program::does_not_compile(invocation.script, &text)),
                Ok(_) => {
                    self.forget_rest_of_loading()?;
                    self.instance.go_on(Frame::text(&message), self.limits, self.bridge).await
                }
                Err(fault) => Err(fault),
            }
        };
        loop {
            match step.map_err(|fault| self.fault(&fault))? {
                Step::Done(text) => return self.done(&text),
                Step::Threw(text) => return Err(self.escaped(&text)),
                Step::Waits | Step::Late => {}
            }
            must_stop(invocation)?;
            for question in self.instance.asks() {
                self.take(question)?;
            }
            self.forget_cleared();
            step = self.wait().await?;
        }
    }

    /// What its modules have not used up is not for the call.
    fn forget_rest_of_loading(&mut self) -> Result<(), ScriptFault> {
        let rest = self.instance.fuel().saturating_sub_unsigned(self.limits.fuel);
        self.instance.spend(u64::try_from(rest).unwrap_or_default()).map_err(|fault| self.fault(&fault))
    }

    /// Begins what a script has asked for.
    fn take(&mut self, question: Ask) -> Result<(), ScriptFault> {
        let invocation = self.invocation;
        let Ask { ticket, kind, message } = question;
        let asked = wire::parse(&message.head).unwrap_or_default();
        match kind {
            ask::TIMER => self.set_timer(ticket, &asked),
            ask::CRYPTO => {
                let operation = Operation::read(&asked, message.tail.as_deref().unwrap_or_default());
                self.compute(ticket, operation)?;
            }
            ask::FETCH => {
                if self.bridge.cleared.borrow().contains(&ticket.id()) {
                    return Ok(());
                }
                let request = wire::request(&asked, message.tail.unwrap_or_default(), invocation.deadline_ms);
                self.begin(
                    ticket.id(),
                    Box::pin(async move {
                        let fetched = match request {
                            Some((request, redirect)) => invocation.host.fetch(request, redirect).await,
                            None => Err(wire::not_understood()),
                        };
                        let content = fetched.map(|fetched| (wire::response(&fetched), Some(fetched.response.body)));
                        Answered { ticket, content }
                    }),
                );
            }
            ask::CACHE => {
                let question = wire::cache(asked);
                self.begin(
                    ticket.id(),
                    Box::pin(async move {
                        let host = invocation.host;
                        let content = match question {
                            Some((key, None)) => host.cache_get(&key).await.map(wire::cached),
                            Some((key, Some((value, ttl_s)))) => host.cache_put(&key, value, ttl_s).await.map(|()| Json::Null),
                            None => Err(wire::not_understood()),
                        };
                        Answered { ticket, content: content.map(|found| (found, None)) }
                    }),
                );
            }
            _ => {
                let query = wire::query(&asked, message.tail.as_deref().unwrap_or_default());
                self.begin(
                    ticket.id(),
                    Box::pin(async move {
                        let host = invocation.host;
                        let content = match (kind, query) {
                            (ask::QUERY, Some((adapter, text, params))) => {
                                host.query(&adapter, &text, params).await.map(|rows| wire::rows(&rows))
                            }
                            (ask::API, Some((adapter, text, params))) => host.request(&adapter, &text, params).await.map(wire::document),
                            _ => Err(wire::not_understood()),
                        };
                        Answered { ticket, content: content.map(|found| (found, None)) }
                    }),
                );
            }
        }
        Ok(())
    }

    /// Begins a cryptographic operation.
    fn compute(&mut self, ticket: Ticket, operation: Option<Operation>) -> Result<(), ScriptFault> {
        if let Some(operation) = &operation {
            // Before it is done: what there is no fuel for is not done.
            self.instance.spend(operation.units()).map_err(|fault| self.fault(&fault))?;
            self.computed = self.computed.saturating_add(operation.units() + UNITS_OF_AN_ANSWER);
        }
        let others_wait = self.computed > UNITS_AT_A_TIME;
        if others_wait {
            self.computed = 0;
        }
        let host = self.invocation.host;
        self.begin(
            ticket.id(),
            Box::pin(async move {
                if others_wait {
                    host.sleep(0).await;
                }
                let content = match operation {
                    Some(operation) => Ok(crypto::compute(operation, host).await),
                    None => Err(wire::not_understood()),
                };
                Answered { ticket, content }
            }),
        );
        Ok(())
    }

    fn set_timer(&mut self, ticket: Ticket, asked: &Json) {
        let delay_ms = asked[0].as_u64().unwrap_or_default();
        // An interval counts from when it was due, not from when there was time for it.
        let due_ms = match self.fired_ms {
            Some(fired_ms) if asked[1] == true => fired_ms + delay_ms.max(1),
            _ => self.invocation.host.now_ms() + delay_ms,
        };
        self.last_timer += 1;
        let key = (due_ms, self.last_timer);
        self.timers.insert(key, ticket);
        self.timer_keys.insert(ticket.id(), key);
    }

    fn begin(&self, id: i32, answer: LocalFuture<'a, Answered>) {
        let (abort, registration) = AbortHandle::new_pair();
        self.bridge.requests.borrow_mut().insert(id, abort);
        self.pending.push(Abortable::new(answer, registration));
    }

    fn forget_cleared(&mut self) {
        for id in self.bridge.cleared.take() {
            if let Some(key) = self.timer_keys.remove(&id) {
                self.timers.remove(&key);
            }
        }
    }

    /// Waits for a timer or the host, and tells the script.
    async fn wait(&mut self) -> Result<Result<Step, Fault>, ScriptFault> {
        let invocation = self.invocation;
        loop {
            let now_ms = invocation.host.now_ms();
            let next = self.timers.first_key_value().map(|(key, _)| *key);
            if let Some(key) = next.filter(|(due_ms, _)| *due_ms <= now_ms)
                && let Some(ticket) = self.timers.remove(&key)
            {
                self.timer_keys.remove(&ticket.id());
                self.fired_ms = Some(key.0);
                return Ok(self.instance.settle(ticket, true, Frame::text("null"), self.bridge).await);
            }
            if self.pending.is_empty() && next.is_none() {
                return Err(ScriptFault::NeverSettles);
            }
            let wake_ms = next.map_or(u64::MAX, |(due_ms, _)| due_ms).min(invocation.deadline_ms);
            let mut sleep = invocation.host.sleep(wake_ms.saturating_sub(now_ms));
            let mut cancelled = invocation.cancel.tripped();
            let pending = &mut self.pending;
            let answered = poll_fn(|waker| {
                match pending.poll_next_unpin(waker) {
                    Poll::Ready(Some(Ok(answered))) => return Poll::Ready(Some(answered)),
                    // It was taken back.
                    Poll::Ready(Some(Err(Aborted))) => return Poll::Ready(None),
                    Poll::Ready(None) | Poll::Pending => {}
                }
                let woken = future::Future::poll(pin!(&mut cancelled), waker).is_ready() || sleep.as_mut().poll(waker).is_ready();
                if woken { Poll::Ready(None) } else { Poll::Pending }
            })
            .await;
            must_stop(invocation)?;
            if let Some(answered) = answered {
                return Ok(self.deliver(answered).await);
            }
        }
    }

    async fn deliver(&mut self, Answered { ticket, content }: Answered) -> Result<Step, Fault> {
        self.fired_ms = None;
        self.bridge.requests.borrow_mut().remove(&ticket.id());
        let (is_answer, head, tail) = match content {
            Ok((json, tail)) => (true, json, tail),
            Err(error) => (false, self.bridge.error(&error), None),
        };
        self.instance.settle(ticket, is_answer, Frame { head: &head.to_string(), tail: tail.as_deref() }, self.bridge).await
    }

    fn done(&mut self, text: &str) -> Result<Returned, ScriptFault> {
        let answer = wire::answer(text, self.invocation, &self.bridge.causes.borrow());
        if answer.has_ended {
            self.tell_of_timers();
        }
        answer.outcome
    }

    /// A timer that is left may be one that lost a race, or have something behind it that is never
    /// done: only the author knows.
    fn tell_of_timers(&mut self) {
        for question in self.instance.asks() {
            if question.kind == ask::TIMER {
                self.set_timer(question.ticket, &wire::parse(&question.message.head).unwrap_or_default());
            }
        }
        self.forget_cleared();
        let left = self.timers.len();
        if left > 0 {
            let timers = if left == 1 { String::from("a timer was") } else { format!("{left} timers were") };
            let text = format!(
                "{timers} left when `{}` returned, and what was to be done then is not done: `await` it, or call `clearTimeout`",
                self.invocation.script.path
            );
            self.invocation.host.log(LogReader::Operator, LogLevel::Warn, &text);
        }
    }

    fn escaped(&self, text: &str) -> ScriptFault {
        let wire::Escaped { message, stack, limit } = wire::escaped(text);
        match limit.as_deref() {
            Some("memory") => self.out_of_memory(),
            Some(_) => limit::stack(),
            None => ScriptFault::Thrown(Thrown { message, stack, cause: None, reply: None }),
        }
    }

    fn out_of_memory(&self) -> ScriptFault {
        if self.instance.is_short() { ScriptFault::Busy } else { limit::memory(&self.invocation.limits) }
    }

    fn fault(&self, fault: &Fault) -> ScriptFault {
        self.is_trapped.set(true);
        let limits = &self.invocation.limits;
        match fault {
            Fault::Fuel => must_stop(self.invocation).err().unwrap_or_else(|| limit::work(limits)),
            Fault::Stack => limit::stack(),
            Fault::Memory => self.out_of_memory(),
            Fault::Stopped => must_stop(self.invocation).err().unwrap_or(ScriptFault::TimedOut),
            Fault::Broken(text) => {
                tracing::error!(text, "the script engine failed");
                ScriptFault::Thrown(Thrown { message: String::from("the script engine failed"), stack: None, cause: None, reply: None })
            }
        }
    }
}
