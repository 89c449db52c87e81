//! D1's errors as the core's; see the shared table in `d1_error`.

use millrace_core::{Error, ErrorKind};

use super::statement::Prepared;
use crate::{
    d1_error,
    remote::{Failure, excerpt},
};

/// The failure that the message of one of D1's errors tells of.
#[must_use]
pub fn explain(text: &str, prepared: &Prepared) -> Failure {
    d1_error::explain(text, |offset| Some(prepared.original_offset(offset)))
        .unwrap_or_else(|| Failure::unknown(Error::new(ErrorKind::Protocol, "D1 failed in an unexpected way").with_source(excerpt(text))))
}

#[cfg(test)]
mod tests {
    use millrace_core::value::Value;

    use super::*;
    use crate::remote::Outcome;

    #[test]
    fn a_place_is_that_in_the_authors_text() {
        let prepared = Prepared::of("SELECT ?1 FORM t", &[Value::I64(1)]).unwrap();
        let offset = prepared.text.find("FORM").unwrap();
        let failure = explain(&format!("D1_ERROR: near \"t\": syntax error at offset {offset}: SQLITE_ERROR"), &prepared);
        assert_eq!(failure.error.message, "SQLite does not understand the statement at byte 10");
        let failure = explain("D1_ERROR: something new", &prepared);
        assert_eq!((failure.error.kind, failure.outcome), (ErrorKind::Protocol, Outcome::Unknown));
    }
}
