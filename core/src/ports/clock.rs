use super::LocalFuture;

/// Wall time and sleep.
pub trait Clock {
    /// Milliseconds since the Unix epoch. May stand still between input and output (Workers do that).
    fn now_ms(&self) -> u64;

    /// Resolves after that many milliseconds.
    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()>;
}
