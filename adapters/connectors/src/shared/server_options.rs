//! Names and values of a connection string and of an adapter's options, as far as connectors of
//! servers have them in common.
//!
//! No message shows the string or a value: both may hold a secret.

use millrace_core::{Error, ErrorKind, Result, secret::Secret};

/// What libraries and poolers write into a connection string for themselves: how they wait, and
/// what stands between. A call has a deadline, and leaves no state on its connection.
const OF_LIBRARIES: [&str; 6] = ["pgbouncer", "pool_timeout", "socket_timeout", "statement_cache_size", "supa", "workaround"];
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
    /// [`Configuration`](ErrorKind::Configuration) for what is unknown or set to two values.
    pub(crate) fn gather(known: &'static KnownOptions, pairs: Vec<(String, String)>, options: &[(String, Secret<String>)]) -> Result<Self> {
        let mut gathered = Self { known, pairs };
        gathered.translate_libraries();
        let KnownOptions { connector, names, .. } = known;
        let in_string = gathered.pairs.len();
        for (name, value) in options {
            if OF_THE_STRING.contains(&name.as_str()) || !gathered.knows(name) {
                return Err(configuration(format!("connector `{connector}` has no option `{name}`; it has {names}")));
            }
            // An empty variable means that there is no such setting.
            if !value.expose().trim().is_empty() {
                gathered.pairs.push((name.clone(), value.expose().trim().to_owned()));
            }
        }
        gathered.check(in_string)?;
        Ok(gathered)
    }

    /// Takes what libraries have their own names for, as a connector names it.
    fn translate_libraries(&mut self) {
        self.pairs.retain(|(name, _)| !OF_LIBRARIES.contains(&name.as_str()));
        let (has_pool, has_path) = (self.knows("max_connections"), self.knows("search_path"));
        self.pairs.retain_mut(|(name, value)| match name.as_str() {
            "connection_limit" => {
                "max_connections".clone_into(name);
                has_pool
            }
            // It is one name, whatever it is.
            "schema" if has_path => {
                "search_path".clone_into(name);
                *value = format!("\"{}\"", value.replace('"', "\"\""));
                true
            }
            _ => true,
        });
    }

    /// The connector's name.
    pub(crate) fn connector(&self) -> &'static str {
        self.known.connector
    }

    fn knows(&self, name: &str) -> bool {
        self.known.names.contains(&format!("`{name}`"))
    }

    /// Refuses what is unknown, and what is set to two values. The first `in_string` pairs are the
    /// connection string's.
    fn check(&mut self, in_string: usize) -> Result<()> {
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
            let other = self.pairs.iter().enumerate().skip(at + 1).find(|(_, (other, theirs))| other == name && theirs != value);
            if let Some((other, _)) = other.filter(|_| harmless.is_none()) {
                let place = |at| if at < in_string { "the connection string" } else { "`options`" };
                let places = match (place(at), place(other)) {
                    (one, other) if one == other => format!("in {one}"),
                    (one, other) => format!("in {one} and in {other}"),
                };
                return Err(configuration(format!(
                    "`{name}` of connector `{connector}` is set to different values, {places}; keep one of them"
                )));
            }
        }
        let mut kept: Vec<(String, String)> = Vec::new();
        for pair in std::mem::take(&mut self.pairs) {
            if all_harmless.iter().all(|(known, _)| *known != pair.0) && !kept.contains(&pair) {
                kept.push(pair);
            }
        }
        self.pairs = kept;
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
