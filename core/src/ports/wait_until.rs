use super::LocalFuture;

/// Runs work after the response where the host can.
pub trait WaitUntil {
    /// Takes over a task. A host that cannot outlive the response runs it to its end before the
    /// response leaves.
    fn wait_until(&self, task: LocalFuture<'static, ()>);
}
