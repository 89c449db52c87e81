//! Environment variables: the process's own, and those of a `.env` file.

use std::{collections::HashMap, fmt, path::Path, sync::Arc};

use millrace_core::{ports::Env, secret::Secret};

/// The variables of a deployment, read once. Clones share them.
///
/// A variable of the process wins over one of the file.
#[derive(Clone, Default)]
pub struct Variables(Arc<HashMap<String, Secret<String>>>);

/// Why a `.env` file cannot be read. Never carries a value.
#[derive(Debug)]
pub struct EnvFileError {
    line: Option<usize>,
    reason: String,
}

impl Variables {
    /// The variables of this process. One that is not UTF-8 is left out.
    #[must_use]
    pub fn of_process() -> Self {
        Self(Arc::new(process_variables().collect()))
    }

    /// The variables of this process, and below them those of a `.env` file, where that exists.
    ///
    /// # Errors
    /// The file exists and cannot be read, or a line of it is not an assignment.
    pub fn of_process_and(file: &Path) -> Result<Self, EnvFileError> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::of_process()),
            Err(error) => return Err(EnvFileError { line: None, reason: error.to_string() }),
        };
        let mut variables = parse(&text)?;
        variables.extend(process_variables());
        Ok(Self(Arc::new(variables)))
    }

    /// The same variables and one more, which stands before another of its name.
    #[must_use]
    pub fn with(&self, name: &str, value: Secret<String>) -> Self {
        let mut variables = (*self.0).clone();
        variables.insert(name.to_owned(), value);
        Self(Arc::new(variables))
    }

    /// All of them, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Secret<String>)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl EnvFileError {
    /// The line, from 1, where it is one that is wrong.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl FromIterator<(String, String)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(Arc::new(variables.into_iter().map(|(name, value)| (name, Secret::new(value))).collect()))
    }
}

impl Env for Variables {
    fn var(&self, name: &str) -> Option<Secret<String>> {
        self.0.get(name).cloned()
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variables({})", self.0.len())
    }
}

impl fmt::Display for EnvFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line} of the `.env` file {}", self.reason),
            None => write!(f, "the `.env` file cannot be read: {}", self.reason),
        }
    }
}

impl std::error::Error for EnvFileError {}

fn process_variables() -> impl Iterator<Item = (String, Secret<String>)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, Secret::new(value.into_string().ok()?))))
}

fn parse(text: &str) -> Result<HashMap<String, Secret<String>>, EnvFileError> {
    dotenvy::from_read_iter(text.as_bytes())
        .map(|entry| match entry {
            Ok((name, value)) => Ok((name, Secret::new(value))),
            // The parser's own message quotes the line, and with it the secret.
            Err(dotenvy::Error::LineParse(line, _)) => {
                let number = text.lines().position(|candidate| candidate.contains(line.trim_end())).map(|index| index + 1);
                Err(EnvFileError { line: number, reason: "is not an assignment; write `NAME=value`, a value with spaces in quotes".into() })
            }
            Err(_) => Err(EnvFileError { line: None, reason: "it is not text in UTF-8".into() }),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(variables: &HashMap<String, Secret<String>>, name: &str) -> Option<String> {
        variables.get(name).map(|value| value.expose().clone())
    }

    #[test]
    fn a_file_is_read_as_dotenv_files_are() {
        let variables = parse("# keys\nA=1\nexport B='two words'\n\nC=\"x # y\" # comment\nD=\n").unwrap();
        assert_eq!(value(&variables, "A").as_deref(), Some("1"));
        assert_eq!(value(&variables, "B").as_deref(), Some("two words"));
        assert_eq!(value(&variables, "C").as_deref(), Some("x # y"));
        assert_eq!(value(&variables, "D").as_deref(), Some(""));
    }

    #[test]
    fn a_broken_line_is_named_without_its_value() {
        let error = parse("A=1\nKEY=hunter2 and more\n").unwrap_err().to_string();
        assert!(error.starts_with("line 2 of the `.env` file"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn a_missing_file_is_no_error_and_the_process_wins() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".env");
        assert!(Variables::of_process_and(&file).is_ok());
        std::fs::write(&file, "PATH=from-the-file\nMILLRACE_ENV_TEST=from-the-file\n").unwrap();
        let variables = Variables::of_process_and(&file).unwrap();
        assert_ne!(variables.var("PATH").map(|value| value.expose().clone()).as_deref(), Some("from-the-file"));
        assert_eq!(variables.var("MILLRACE_ENV_TEST").map(|value| value.expose().clone()).as_deref(), Some("from-the-file"));
        assert!(!format!("{variables:?}").contains("from-the-file"));
    }
}
