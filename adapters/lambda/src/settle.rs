//! What goes on after an answer (storing in caches) ends before the environment freezes.
//!
//! Lambda hands an answer on as soon as it is posted, and freezes the environment when the runtime
//! asks for the next invocation. So the caller waits for nothing here; only the next invocation
//! does. With managed concurrency nothing freezes, and nothing is waited for.
//!
//! An environment with an isolate that is stuck asks for no invocation any more: once every answer
//! on its way is posted, the process ends, and Lambda starts another one for the next invocation.

use std::{
    future::Future,
    pin::Pin,
    process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use lambda_runtime::{Error, LambdaInvocation};
use tokio::sync::oneshot;
use tower::{Layer, Service};

/// Work that is not done yet, and when to stop waiting for it, in milliseconds since the Unix
/// epoch.
struct PendingWork {
    settled: oneshot::Receiver<()>,
    until_ms: u64,
}

/// Holds the next invocation back until what goes on has ended. Clones share what they hold.
#[derive(Clone)]
pub(crate) struct Settling {
    kept: Arc<Mutex<Vec<PendingWork>>>,
    freezes: bool,
    given_up: Arc<AtomicBool>,
    /// How many invocations are being answered.
    answering: Arc<AtomicUsize>,
}

/// How often is looked whether the last answer is posted, where the environment is given up.
const LOOK: Duration = Duration::from_millis(10);

impl Settling {
    /// `freezes`: whether the environment freezes between two invocations.
    pub(crate) fn new(freezes: bool) -> Self {
        Self { kept: Arc::default(), freezes, given_up: Arc::default(), answering: Arc::default() }
    }

    /// Has something waited for after this invocation's answer.
    pub(crate) fn keep(&self, settled: oneshot::Receiver<()>, until_ms: u64) {
        if self.freezes {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(PendingWork { settled, until_ms });
        } else {
            // Whoever is told need not listen, but the work ends where nobody does.
            tokio::spawn(settled);
        }
    }

    /// Has the process end instead of asking for another invocation.
    pub(crate) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    async fn settle(self) {
        if self.given_up.load(Ordering::Relaxed) {
            while self.answering.load(Ordering::Relaxed) > 0 {
                tokio::time::sleep(LOOK).await;
            }
            process::exit(1);
        }
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        for PendingWork { settled, until_ms } in kept {
            let until = UNIX_EPOCH + Duration::from_millis(until_ms);
            let left = until.duration_since(SystemTime::now()).unwrap_or_default();
            if tokio::time::timeout(left, settled).await.is_err() {
                tracing::warn!("work after an answer did not end in time; it may be lost");
            }
        }
    }
}

impl<S> Layer<S> for Settling {
    type Service = Settled<S>;

    fn layer(&self, inner: S) -> Settled<S> {
        Settled { inner, settling: self.clone() }
    }
}

/// Posts an answer, then waits.
#[derive(Clone)]
pub(crate) struct Settled<S> {
    inner: S,
    settling: Settling,
}

impl<S> Service<LambdaInvocation> for Settled<S>
where
    S: Service<LambdaInvocation, Response = (), Error = Error>,
    S::Future: Send + 'static,
{
    type Response = ();
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, invocation: LambdaInvocation) -> Self::Future {
        let answering = UnansweredInvocation::begin(&self.settling.answering);
        let posted = self.inner.call(invocation);
        let settling = self.settling.clone();
        Box::pin(async move {
            let posted = posted.await;
            drop(answering);
            // Also where the answer could not be posted: what observes the end of the call is still
            // to be told.
            settling.settle().await;
            posted
        })
    }
}

/// Counts an invocation until its answer is posted.
struct UnansweredInvocation(Arc<AtomicUsize>);

impl UnansweredInvocation {
    fn begin(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for UnansweredInvocation {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
