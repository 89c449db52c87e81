//! Measures the engine: what putting the image back and a call take, and how long hostile scripts
//! last.
//!
//! `measure [PROGRAM…]`: each a file with a program of the bundler, an expression that is a
//! function of the module `millrace` and returns the exports. Without any, `add` and a loop.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "an example")]

use std::{
    env, fs,
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Instant,
};

use millrace_engine::{Fault, Frame, Host, Image, Instance, Limits, Loader, Message, Step};

const LIMITS: Limits = Limits { fuel: 20_000_000, memory_bytes: 64 << 20 };
const AMPLE: Limits = Limits { fuel: 1 << 40, ..LIMITS };
const PRELUDE: &str = "native => {
  let program, isEntered, result;
  return {
    load(meta, value) { program = typeof value === 'function' ? value({}) : value },
    enter(message) { isEntered = true; result = message.eval === undefined ? program.default({ inputs: message }, {}) : (0, eval)(message.eval) },
    settle() {},
    poll() { return isEntered ? JSON.stringify(result) ?? 'null' : 'loaded' },
  };
}";

fn used(instance: &mut Instance) -> i64 {
    AMPLE.fuel.cast_signed() - instance.fuel()
}

struct Clock(Instant);

impl Host for Clock {
    fn say(&self, _: i32, _: Message) -> Option<Message> {
        None
    }

    fn clock_ms(&self) -> f64 {
        self.0.elapsed().as_secs_f64() * 1e3
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(4);
    }
}

/// Runs what waits for nothing but its turn.
fn block<F: Future>(work: F) -> F::Output {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
    }
}

/// Time of the processor, where the system tells it to a thread: other programs do not count.
fn now_ns() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        (time.tv_sec * 1_000_000_000 + time.tv_nsec).cast_unsigned()
    }
    #[cfg(not(target_os = "linux"))]
    {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap()
    }
}

fn main() {
    let host = Clock(Instant::now());
    let files: Vec<String> = env::args().skip(1).collect();
    let mut programs = vec![
        (String::from("add"), String::from("() => ({ default: ({ inputs }) => inputs.a + inputs.b })")),
        (
            String::from("loop"),
            String::from("() => ({ default: () => { let x = 1; for (let k = 0; k < 2000000; k++) { x = (x * 31 + k) | 0 } return x } })"),
        ),
    ];
    programs.extend(files.into_iter().map(|file| (file.clone(), fs::read_to_string(&file).unwrap())));
    let mut add = None;
    for (name, program) in &programs {
        let image = measure(name, program, &host);
        add.get_or_insert(image);
    }
    hostile(&add.unwrap(), &host);
}

fn measure(name: &str, program: &str, host: &Clock) -> Arc<Image> {
    let start = now_ns();
    let base = Image::base(PRELUDE, AMPLE, host).unwrap();
    let engine = now_ns() - start;
    let mut loader = Loader::on(&base, AMPLE).unwrap();
    let loaded = loader.script("{\"path\":\"a.ts\"}", program, host).unwrap();
    let image = loader.into_image().unwrap();
    let all = now_ns() - start;
    let start = now_ns();
    let mut instance = Instance::new(&image).unwrap();
    let made = now_ns() - start;
    let call = |instance: &mut Instance| block(instance.call(Frame::text(r#"{"q":"a","a":2,"b":3}"#), AMPLE, host));
    let start = now_ns();
    let first = call(&mut instance);
    let first_ns = now_ns() - start;
    let units = used(&mut instance);
    let (mut restores, mut calls, mut both) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..520 {
        let start = now_ns();
        instance.restore().unwrap();
        let middle = now_ns();
        let step = call(&mut instance);
        let end = now_ns();
        assert_eq!(step, first);
        assert_eq!(used(&mut instance), units);
        if round >= 20 {
            restores.push(middle - start);
            calls.push(end - middle);
            both.push(end - start);
        }
        if units > 10_000_000 && round > 40 {
            break;
        }
    }
    println!(
        "{name}: {loaded:?}, engine {} and image {} ms, {} KiB; instance {} us, first call {} us; restore {} call {} both {} us; {units} units; {}",
        engine / 1_000_000,
        all / 1_000_000,
        image.bytes().len() >> 10,
        made / 1000,
        first_ns / 1000,
        least_and_median(restores),
        least_and_median(calls),
        least_and_median(both),
        format!("{first:?}").chars().take(60).collect::<String>()
    );
    image
}

fn least_and_median(mut times: Vec<u64>) -> String {
    times.sort_unstable();
    format!("{:.1}/{:.1}", times[0] as f64 / 1e3, times[times.len() / 2] as f64 / 1e3)
}

fn hostile(image: &Arc<Image>, host: &Clock) {
    let mut instance = Instance::new(image).unwrap();
    let (mut worst_wall, mut worst_cpu, mut count) = (0.0_f64, 0.0_f64, 0);
    for script in include_str!("../tests/hostile.txt").lines().filter(|line| !line.is_empty()) {
        let escaped: String = script.chars().flat_map(|c| if c == '"' || c == '\\' { vec!['\\', c] } else { vec![c] }).collect();
        let message = format!(r#"{{"eval":"{escaped}"}}"#);
        let (wall, start) = (Instant::now(), now_ns());
        let step = block(instance.call(Frame::text(&message), LIMITS, host));
        let (wall, cpu) = (wall.elapsed().as_secs_f64() * 1e3, (now_ns() - start) as f64 / 1e6);
        let grown = instance.top().unwrap() >> 20;
        let start = now_ns();
        instance.restore().unwrap();
        let restore = (now_ns() - start) as f64 / 1e3;
        let after = block(instance.call(Frame::text(r#"{"a":2,"b":3}"#), LIMITS, host));
        assert_eq!(after, Ok(Step::Done(String::from("5"))), "after {script}");
        (worst_wall, worst_cpu, count) = (worst_wall.max(wall), worst_cpu.max(cpu), count + 1);
        let outcome = match step {
            Err(Fault::Broken(text)) => text.chars().take(80).collect(),
            other => format!("{other:?}").chars().take(80).collect::<String>(),
        };
        println!(
            "{wall:7.1} ms wall {cpu:7.1} cpu, {grown:3} MB, restored in {restore:6.0} us | {} -> {outcome}",
            script.chars().take(60).collect::<String>()
        );
    }
    println!("{count} scripts, worst {worst_wall:.1} ms wall, {worst_cpu:.1} ms cpu");
}
