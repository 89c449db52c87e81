//! Names and values of a connection string and of an adapter's options, as far as connectors of
//! servers have them in common.
//!
//! No message shows the string or a value: both may hold a secret.

use millrace_core::{Error, ErrorKind, Result, secret::Secret};

/// What only a connection string has.
const OF_THE_STRING: [&str; 3] = ["host", "port", "dbname"];

/// What a connector knows.
pub(crate) struct KnownOptions {
    /// Its name.
    pub(crate) connector: &'static str,
    /// What a string or the options may set, each in backticks, between commas.
    pub(crate) names: &'static str,
    /// What a string may set to a value that means what is done anyway; anything else of them is
    /// refused.
    pub(crate) harmless: &'static [(&'static str, &'static [&'static str])],
}

/// Names and values, each name once.
pub(crate) struct ServerOptions {
    pub(super) known: &'static KnownOptions,
    pairs: Vec<(String, String)>,
}

impl ServerOptions {
    /// Puts together what a connection string and the options say.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for what is unknown or set twice.
    pub(crate) fn gather(known: &'static KnownOptions, pairs: Vec<(String, String)>, options: &[(String, Secret<String>)]) -> Result<Self> {
        let mut gathered = Self { known, pairs };
        let KnownOptions { connector, names, .. } = known;
        for (name, value) in options {
            if OF_THE_STRING.contains(&name.as_str()) || !gathered.knows(name) {
                return Err(configuration(format!("connector `{connector}` has no option `{name}`; it has {names}")));
            }
            // An empty variable means that there is no such setting.
            if !value.expose().trim().is_empty() {
                gathered.pairs.push((name.clone(), value.expose().trim().to_owned()));
            }
        }
        gathered.check()?;
        Ok(gathered)
    }

    /// The connector's name.
    pub(crate) fn connector(&self) -> &'static str {
        self.known.connector
    }

    fn knows(&self, name: &str) -> bool {
        self.known.names.contains(&format!("`{name}`"))
    }

    /// Refuses what is unknown, and what is set twice.
    fn check(&mut self) -> Result<()> {
        let KnownOptions { connector, names, harmless: all_harmless } = self.known;
        for (at, (name, value)) in self.pairs.iter().enumerate() {
            let harmless = all_harmless.iter().find(|(known, _)| known == name);
            if harmless.is_some_and(|(_, values)| !values.contains(&value.as_str())) {
                return Err(configuration(format!("connector `{connector}` does not support `{name}`; remove it")));
            }
            if harmless.is_none() && !OF_THE_STRING.contains(&name.as_str()) && !self.knows(name) {
                let message = format!("the connection string sets `{name}`, which connector `{connector}` does not know; it knows {names}");
                return Err(configuration(message));
            }
            if self.pairs.iter().skip(at + 1).any(|(other, _)| other == name) {
                return Err(configuration(format!("`{name}` of connector `{connector}` is set more than once; keep one of them")));
            }
        }
        self.pairs.retain(|(name, _)| all_harmless.iter().all(|(known, _)| known != name));
        Ok(())
    }

    /// Takes a value out.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(known, _)| known == name)?;
        Some(self.pairs.remove(at).1)
    }

    /// What nobody has taken.
    pub(crate) fn rest(self) -> Vec<(String, String)> {
        self.pairs
    }

    /// Takes what there must be.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) where it is missing.
    pub(crate) fn demand(&mut self, name: &str) -> Result<String> {
        let connector = self.known.connector;
        self.take(name).ok_or_else(|| configuration(format!("the connection string of connector `{connector}` names no {name}")))
    }

    /// Refuses a value.
    pub(crate) fn wrong(&self, name: &str, form: &str) -> Error {
        configuration(format!("`{name}` of connector `{}` must be {form}", self.known.connector))
    }
}

pub(super) fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}
