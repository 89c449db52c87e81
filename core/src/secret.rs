//! Values that are never printed.

use core::fmt;

/// A value that must reach no log, no response and no debug output: it prints as `[secret]`.
///
/// ```
/// use millrace_core::secret::Secret;
/// assert_eq!(format!("{:?} {}", Secret::new("hunter2"), Secret::new("hunter2")), "[secret] [secret]");
/// assert_eq!(*Secret::new("hunter2").expose(), "hunter2");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Hides a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself. Every call of this is a place to read twice in a review.
    pub const fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl<T> fmt::Display for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}
