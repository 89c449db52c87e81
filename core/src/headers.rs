//! Header fields of HTTP requests and responses.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

/// Header fields in the order they came. Names are compared without regard to case; a name may
/// stand more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// No fields.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a field; the name is kept in lower case.
    pub fn append(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_ascii_lowercase(), value.into()));
    }

    /// The first field of that name.
    #[must_use]
    pub fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Every field of that name, in order.
    pub fn all<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.0.iter().filter(move |(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The only field of that name, blanks around its value cut off.
    ///
    /// # Errors
    /// [`Repeated`] where the name stands more than once: whoever reads the first and whoever reads
    /// the last would disagree.
    pub fn only(&self, name: &str) -> Result<Option<&str>, Repeated> {
        let mut values = self.all(name);
        let value = values.next();
        match values.next() {
            Some(_) => Err(Repeated),
            None => Ok(value.map(|value| value.trim_matches([' ', '\t']))),
        }
    }

    /// The value of every field of that name, blanks around it cut off, where they all have the
    /// same: a proxy on the way may have written a field once more.
    ///
    /// # Errors
    /// [`Repeated`] where they differ.
    pub fn same(&self, name: &str) -> Result<Option<&str>, Repeated> {
        let mut values = self.all(name).map(|value| value.trim_matches([' ', '\t']));
        let value = values.next();
        if values.all(|other| Some(other) == value) { Ok(value) } else { Err(Repeated) }
    }

    /// Every field, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How many fields there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A field stands more than once where it may stand only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated;

impl<N: AsRef<str>, V: ToString> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        let mut headers = Self::new();
        for (name, value) in fields {
            headers.append(name.as_ref(), value.to_string());
        }
        headers
    }
}
