//! A look at a statement: what it does, as far as its words say.

use millrace_core::{Error, ErrorKind, Json, Result, value::Value};
use millrace_languages::{
    lex::{Kind, Lexer, Token},
    partiql::PartiQl,
};
use serde_json::json;

use super::attribute;
use crate::shared::Effect;

/// A statement, ready to be sent.
pub(super) struct Prepared {
    text: String,
    parameters: Vec<Json>,
    pub(super) effect: Effect,
    /// How many items it changes where it succeeds; `None`: as many as the answer has old items.
    pub(super) changes: Option<u64>,
}

impl Prepared {
    /// # Errors
    /// [`Syntax`](ErrorKind::Syntax) for what is none of DynamoDB's statements;
    /// [`Data`](ErrorKind::Data) for a value that it does not store.
    pub(super) fn of(text: &str, values: &[Value]) -> Result<Self> {
        let mut prepared = Self::of_step(text, values)?;
        let words = words(text)?;
        let has_verb = |verb: &str| words.first().is_some_and(|word| word.eq_ignore_ascii_case(verb));
        if has_verb("EXISTS") {
            return Err(Error::new(ErrorKind::Syntax, "DynamoDB takes `EXISTS` in a transaction only"));
        }
        let has_comments = text.contains("--") || text.contains("/*");
        if has_verb("DELETE") && !prepared.effect.returns && !has_comments {
            let statement = text.trim_end_matches(|c: char| c == ';' || c.is_ascii_whitespace());
            prepared.text = format!("{statement} RETURNING ALL OLD *");
            prepared.changes = None;
        }
        Ok(prepared)
    }

    /// A statement of a transaction.
    ///
    /// # Errors
    /// As [`of`](Self::of), apart from `EXISTS`.
    pub(super) fn of_step(text: &str, values: &[Value]) -> Result<Self> {
        let words = words(text)?;
        let verb = words.first().map(|word| word.to_ascii_uppercase()).unwrap_or_default();
        if !["SELECT", "INSERT", "UPDATE", "DELETE", "EXISTS"].contains(&verb.as_str()) {
            return Err(Error::new(
                ErrorKind::Syntax,
                "connector `dynamodb` runs `SELECT`, `INSERT`, `UPDATE` and `DELETE`, and nothing else",
            ));
        }
        let reads = verb == "SELECT";
        let returns = reads || words.iter().any(|word| word.eq_ignore_ascii_case("RETURNING"));
        let changes = Some(u64::from(verb != "EXISTS"));
        Ok(Self {
            text: text.to_owned(),
            parameters: values.iter().map(attribute::written).collect::<Result<_>>()?,
            effect: Effect { reads, returns },
            changes,
        })
    }

    /// As the API takes it. A list without parameters is refused there.
    pub(super) fn body(&self) -> Json {
        let mut body = json!({ "Statement": self.text });
        if !self.parameters.is_empty() {
            body["Parameters"] = self.parameters.clone().into();
        }
        body
    }
}

/// The words of a statement: what is in quotes and comments is none.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for what cannot be cut.
fn words(text: &str) -> Result<Vec<&str>> {
    let mut words = Vec::new();
    for cut in Lexer::<PartiQl>::new(text) {
        let Token { kind, range } = cut.map_err(|unread| Error::new(ErrorKind::Syntax, unread.of_statement()))?;
        if matches!(kind, Kind::Word | Kind::Number) {
            words.extend(text.get(range).unwrap_or_default().split('$').filter(|word| !word.is_empty()));
        }
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<(bool, bool, String)> {
        let prepared = Prepared::of(text, &[])?;
        let sent = prepared.body()["Statement"].as_str().unwrap_or_default().to_owned();
        Ok((prepared.effect.reads, prepared.effect.returns, sent))
    }

    #[test]
    fn what_a_statement_does_is_in_its_words() {
        for (text, reads, returns) in [
            ("SELECT * FROM t WHERE a = 'RETURNING'", true, true),
            (" /* DELETE */ -- x\n select 1", true, true),
            ("-- SELECT\rUPDATE t SET a = 1 WHERE b = 2", false, false),
            ("INSERT INTO t VALUE {'a': 'it''s RETURNING'}", false, false),
            ("UPDATE t SET a = 1 WHERE b = 2 RETURNING ALL NEW *", false, true),
            ("DELETE FROM t WHERE a = 1 RETURNING ALL OLD *", false, true),
            ("DELETE FROM t WHERE a = 1 -- gone", false, false),
        ] {
            assert_eq!(shown(text).unwrap(), (reads, returns, text.to_owned()));
        }
        let deleted = "DELETE FROM t WHERE a = ' ; ' RETURNING ALL OLD *";
        assert_eq!(shown("DELETE FROM t WHERE a = ' ; ' ; ").unwrap(), (false, false, deleted.to_owned()));
        for text in ["", "'SELECT'", "CREATE TABLE t", "\u{e9}", "--", "/*", "SELECT 'open", "{1} SELECT", "EXISTS(SELECT * FROM t)"] {
            assert_eq!(shown(text).unwrap_err().kind, ErrorKind::Syntax, "{text}");
        }
        assert!(Prepared::of_step("EXISTS(SELECT * FROM t)", &[]).is_ok_and(|step| !step.effect.reads && step.changes == Some(0)));
    }
}
