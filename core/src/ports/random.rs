/// Randomness of the platform's cryptographic source.
pub trait Random {
    /// Fills the whole buffer.
    fn fill(&self, buffer: &mut [u8]);
}
