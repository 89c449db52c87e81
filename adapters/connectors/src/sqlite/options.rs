//! The options of an adapter, from text.

use millrace_core::{Error, ErrorKind, Result, secret::Secret};

const KNOWN: &str = "`busy_timeout`, `create`, `foreign_keys`, `journal_mode`, `like_uses_index`, `statement_cache`";

/// The options, checked.
#[derive(Debug, PartialEq)]
pub(super) struct Options {
    pub(super) busy_timeout_ms: u64,
    pub(super) create: bool,
    pub(super) foreign_keys: bool,
    pub(super) journal_mode: Option<&'static str>,
    pub(super) like_uses_index: bool,
    pub(super) statement_cache: usize,
}

impl Options {
    /// Reads the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration), naming the option. The value is not shown: it
    /// may hold a secret.
    pub(super) fn parse(options: &[(String, Secret<String>)], read_only: bool) -> Result<Self> {
        let mut parsed = Self {
            busy_timeout_ms: 5000,
            create: false,
            foreign_keys: true,
            journal_mode: None,
            like_uses_index: false,
            statement_cache: 128,
        };
        for (name, value) in options {
            let value = value.expose().trim();
            match name.as_str() {
                "busy_timeout" => {
                    parsed.busy_timeout_ms = duration_ms(value).ok_or_else(|| wrong(name, "a time such as `500ms` or `5s`"))?
                }
                "create" => parsed.create = boolean(value).ok_or_else(|| wrong(name, "`true` or `false`"))?,
                "foreign_keys" => parsed.foreign_keys = boolean(value).ok_or_else(|| wrong(name, "`true` or `false`"))?,
                "journal_mode" => {
                    let expected = "one of `delete`, `persist`, `truncate`, `wal`";
                    parsed.journal_mode = Some(journal_mode(value).ok_or_else(|| wrong(name, expected))?);
                }
                "like_uses_index" => parsed.like_uses_index = boolean(value).ok_or_else(|| wrong(name, "`true` or `false`"))?,
                "statement_cache" => {
                    let count = value.parse().ok().filter(|count| *count <= 10_000);
                    parsed.statement_cache = count.ok_or_else(|| wrong(name, "a number from 0 to 10000"))?;
                }
                _ => return Err(configuration(format!("connector `sqlite` has no option `{name}`; it has {KNOWN}"))),
            }
        }
        match (read_only, parsed.create, parsed.journal_mode) {
            (true, true, _) => Err(contradiction("create")),
            (true, _, Some(_)) => Err(contradiction("journal_mode")),
            _ => Ok(parsed),
        }
    }
}

fn boolean(value: &str) -> Option<bool> {
    match value {
        "true" | "on" | "1" => Some(true),
        "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn journal_mode(value: &str) -> Option<&'static str> {
    ["delete", "persist", "truncate", "wal"].into_iter().find(|mode| mode.eq_ignore_ascii_case(value))
}

fn duration_ms(value: &str) -> Option<u64> {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let (count, unit) = value.split_at(digits);
    let factor = match unit.trim_start() {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "" if count == "0" => 1,
        _ => return None,
    };
    count.parse::<u64>().ok()?.checked_mul(factor)
}

fn wrong(name: &str, expected: &str) -> Error {
    configuration(format!("option `{name}` of connector `sqlite` must be {expected}"))
}

fn contradiction(name: &str) -> Error {
    configuration(format!("option `{name}` of connector `sqlite` writes, and the adapter is read-only; remove one of the two"))
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(options: &[(&str, &str)], read_only: bool) -> Result<Options> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        Options::parse(&options, read_only)
    }

    #[test]
    fn every_option_is_read() {
        let all = [
            ("busy_timeout", "250 ms"),
            ("create", "true"),
            ("foreign_keys", "off"),
            ("journal_mode", "WAL"),
            ("like_uses_index", "true"),
            ("statement_cache", "7"),
        ];
        let expected = Options {
            busy_timeout_ms: 250,
            create: true,
            foreign_keys: false,
            journal_mode: Some("wal"),
            like_uses_index: true,
            statement_cache: 7,
        };
        assert_eq!(parse(&all, false).unwrap(), expected);
        for (text, ms) in [("5s", 5000), ("2m", 120_000), ("0", 0), ("0ms", 0)] {
            assert_eq!(parse(&[("busy_timeout", text)], true).unwrap().busy_timeout_ms, ms, "{text}");
        }
    }

    #[test]
    fn a_wrong_option_is_named_and_its_value_is_not_shown() {
        let cases = [
            (("busy_timeout", "hunter2"), false, "option `busy_timeout` of connector `sqlite` must be a time such as `500ms` or `5s`"),
            (
                ("busy_timeout", "99999999999999999999s"),
                false,
                "option `busy_timeout` of connector `sqlite` must be a time such as `500ms` or `5s`",
            ),
            (("create", "yes"), false, "option `create` of connector `sqlite` must be `true` or `false`"),
            (("foreign_keys", ""), false, "option `foreign_keys` of connector `sqlite` must be `true` or `false`"),
            (
                ("journal_mode", "off"),
                false,
                "option `journal_mode` of connector `sqlite` must be one of `delete`, `persist`, `truncate`, `wal`",
            ),
            (("statement_cache", "-1"), false, "option `statement_cache` of connector `sqlite` must be a number from 0 to 10000"),
            (("create", "true"), true, "option `create` of connector `sqlite` writes, and the adapter is read-only; remove one of the two"),
            (
                ("journal_mode", "wal"),
                true,
                "option `journal_mode` of connector `sqlite` writes, and the adapter is read-only; remove one of the two",
            ),
            (
                ("pool", "hunter2"),
                false,
                "connector `sqlite` has no option `pool`; it has `busy_timeout`, `create`, `foreign_keys`, `journal_mode`, `like_uses_index`, `statement_cache`",
            ),
        ];
        for (option, read_only, message) in cases {
            let error = parse(&[option], read_only).unwrap_err();
            assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Configuration, message));
        }
    }
}
