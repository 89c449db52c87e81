//! Tasks of an isolate that outlive what started them.

use std::{cell::Cell, future::Future, rc::Rc};

use millrace_core::ports::{LocalFuture, WaitUntil};
use tokio::sync::Notify;

/// Tasks that run on the isolate beside everything else, and are waited for at its end. Clones
/// share them.
#[derive(Clone, Default)]
pub struct Tasks(Rc<State>);

#[derive(Default)]
struct State {
    running: Cell<usize>,
    ended: Notify,
}

impl Tasks {
    /// No tasks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a task on the isolate's runtime. A panic ends that task only.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.0.running.set(self.0.running.get() + 1);
        let running = Running(self.0.clone());
        tokio::task::spawn_local(async move {
            let _running = running;
            task.await;
        });
    }

    /// How many tasks run.
    #[must_use]
    pub fn running(&self) -> usize {
        self.0.running.get()
    }

    /// Resolves when no task runs.
    pub async fn drained(&self) {
        while self.running() > 0 {
            self.0.ended.notified().await;
        }
    }
}

impl WaitUntil for Tasks {
    fn wait_until(&self, task: LocalFuture<'static, ()>) {
        self.spawn(task);
    }
}

/// Counts a task until it ends, by whatever way.
struct Running(Rc<State>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.set(self.0.running.get() - 1);
        if self.0.running.get() == 0 {
            self.0.ended.notify_one();
        }
    }
}
