//! Isolates: threads that share nothing of the core.

use std::{future::Future, io, thread};

use millrace_core::ports::LocalFuture;
use tokio::{
    runtime::{Builder, LocalOptions},
    sync::{mpsc, oneshot},
};

use crate::http::MakeHandler;

/// What an isolate that takes requests by itself is told.
pub enum Order<H> {
    /// Requests from now on are answered by another handler; those in flight end with theirs.
    Replace(MakeHandler<H>),
    /// End: nothing more is taken, calls in flight finish, idle connections close.
    Stop,
}

/// The stack of an isolate's thread. What is not used of it takes no memory.
pub const STACK_BYTES: usize = 16 << 20;

/// A thread with a runtime of its own that takes jobs of one kind.
pub struct Isolate<J> {
    jobs: mpsc::UnboundedSender<J>,
    ended: oneshot::Receiver<()>,
}

impl<J: Send + 'static> Isolate<J> {
    /// Starts an isolate. `body` runs on the new thread, where it may spawn local tasks; the
    /// isolate ends when it returns.
    ///
    /// # Errors
    /// The operating system gives no thread, or no file descriptors for its runtime.
    pub fn spawn<F, B>(name: &str, body: F) -> io::Result<Self>
    where
        F: FnOnce(mpsc::UnboundedReceiver<J>) -> B + Send + 'static,
        B: Future<Output = ()>,
    {
        let (jobs, receiver) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel();
        let (ready, readiness) = std::sync::mpsc::sync_channel(1);
        thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(move || {
            // A runtime that stays on its thread must be built there.
            let runtime = match runtime() {
                Ok(runtime) => runtime,
                Err(error) => return drop(ready.send(Err(error))),
            };
            drop(ready.send(Ok(())));
            turn(&runtime, Box::pin(body(receiver)));
            drop(end);
        })?;
        readiness.recv().map_err(|_| io::Error::other("the isolate's thread ended at its start"))??;
        Ok(Self { jobs, ended })
    }

    /// Where jobs are sent to. Sending fails once the isolate has ended.
    #[must_use]
    pub fn jobs(&self) -> mpsc::UnboundedSender<J> {
        self.jobs.clone()
    }

    /// Blocks until the isolate has ended, for a thread without a runtime. Tells nobody to end.
    pub fn wait(self) {
        drop(self.jobs);
        // As in `ended`.
        drop(self.ended.blocking_recv());
    }

    /// Resolves when the isolate has ended. Tells nobody to end.
    pub async fn ended(self) {
        drop(self.jobs);
        // The sender is never used, only dropped: by the end of the body, or by its panic.
        drop(self.ended.await);
    }
}

/// Runs one future on an isolate of its own and waits for its result.
///
/// # Errors
/// The operating system gives no thread, or the future panicked.
pub fn run<F, B, T>(body: F) -> io::Result<T>
where
    F: FnOnce() -> B + Send,
    B: Future<Output = T>,
    T: Send,
{
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("isolate".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || runtime().map(|runtime| runtime.block_on(body())))?;
        thread.join().map_err(|_| io::Error::other("the isolate panicked"))?
    })
}

/// Runs an isolate's tasks until `body` is over. The loop of the runtime is compiled here and not
/// once for each body: in this crate it is as fast as what is in it.
fn turn(runtime: &tokio::runtime::LocalRuntime, body: LocalFuture<'_, ()>) {
    runtime.block_on(body);
}

fn runtime() -> io::Result<tokio::runtime::LocalRuntime> {
    // The blocking pool resolves host names and nothing else.
    Builder::new_current_thread().enable_io().enable_time().max_blocking_threads(4).build_local(LocalOptions::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_future_runs_on_a_thread_of_its_own_and_may_spawn_local_tasks() {
        let here = thread::current().id();
        let there = run(|| async { tokio::task::spawn_local(async { thread::current().id() }).await.unwrap() }).unwrap();
        assert_ne!(here, there);
    }

    #[test]
    fn a_panic_is_an_error() {
        let outcome: io::Result<()> = run(|| async { panic!("on purpose") });
        assert_eq!(outcome.unwrap_err().to_string(), "the isolate panicked");
    }

    #[test]
    fn jobs_arrive_in_order_and_the_end_is_seen() {
        let (sender, results) = std::sync::mpsc::channel();
        let isolate = Isolate::spawn("test", |mut jobs: mpsc::UnboundedReceiver<u32>| async move {
            while let Some(job) = jobs.recv().await {
                sender.send(job).unwrap();
            }
        })
        .unwrap();
        let jobs = isolate.jobs();
        for number in 0..3 {
            jobs.send(number).unwrap();
        }
        drop(jobs);
        run(|| isolate.ended()).unwrap();
        assert_eq!(results.iter().collect::<Vec<_>>(), [0, 1, 2]);
    }
}
