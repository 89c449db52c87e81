use super::LocalFuture;

/// Wall time and sleep.
pub trait Clock {
    /// Milliseconds since the Unix epoch. May stand still between input and output (Workers do
    /// that).
    fn now_ms(&self) -> u64;

    /// Resolves after that many milliseconds. After none, everything else that is ready has had its
    /// turn, and where the clock stands still between input and output, it has moved.
    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()>;
}
