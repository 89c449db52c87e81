//! A look at a statement before it is sent. What is refused, and why:
//! [`millrace_languages::postgres::judge`].

use millrace_core::{Error, ErrorKind};
use millrace_languages::postgres::{changes_session, judge};

use crate::shared::not_sent;

/// Looks at a statement of a connector. `has_session`: it runs with what the adapter's `session`
/// sets, which it must not change.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for a NUL character, and for a beginning that cannot be cut;
/// [`Denied`](ErrorKind::Denied) for what is not sent.
pub(crate) fn check(connector: &str, text: &str, has_session: bool) -> millrace_core::Result<()> {
    if text.contains('\0') {
        return Err(Error::new(ErrorKind::Syntax, "the statement contains a NUL character"));
    }
    judge(text).map_err(|refusal| not_sent(connector, &refusal))?;
    match has_session.then(|| changes_session(text)).flatten() {
        Some(refused) => {
            let message = format!("connector `{connector}` does not run `{refused}` where the adapter has a `session`");
            Err(Error::new(ErrorKind::Denied, message))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_something_behind_is_refused() {
        let cases = [
            ("BEGIN", Some("BEGIN")),
            (" ;\n-- x\n begin read write", Some("BEGIN")),
            ("/* a /* b */ c */ commit", Some("COMMIT")),
            ("/*/*/ */*/SET a = 1", Some("SET")),
            ("SET LOCAL a = 1", Some("SET")),
            ("RESET ALL", Some("RESET")),
            ("COPY t FROM stdin", Some("COPY")),
            ("CREATE TEMP TABLE t (v int)", Some("CREATE TEMP")),
            ("create /**/ local temporary table t (v int)", Some("CREATE TEMP")),
            ("CREATE TABLE temp (v int)", None),
            ("SELECT 1", None),
            ("(SELECT 1)", None),
            ("BEGIN$a", Some("BEGIN")),
            ("PREPARE p AS SELECT 1", Some("PREPARE")),
            ("DEALLOCATE ALL", Some("DEALLOCATE")),
            ("PREPARE millrace_plan_0 AS SELECT 1", None),
            ("DEALLOCATE millrace_plan_0", None),
            ("EXECUTE millrace_plan_0", Some("EXECUTE")),
            ("SETTLE", None),
            ("UPDATE t SET v = 1", None),
            ("", None),
            ("--", None),
        ];
        for (text, refused) in cases {
            let expected = match refused {
                Some(refused) => Err(Error::new(ErrorKind::Denied, format!("connector `postgres` does not run `{refused}`"))),
                None => Ok(()),
            };
            assert_eq!(check("postgres", text, false), expected, "{text}");
            assert_eq!(check("postgres", text, true), expected, "{text}");
        }
        for text in
            ["SELECT 1\0", "/* a /* b */ commit", "\u{b}BEGIN", "CREATE\u{a0}TEMP TABLE t (v int)", "CREATE \u{feff}TEMP TABLE t (v int)"]
        {
            assert_eq!(check("postgres", text, false).unwrap_err().kind, ErrorKind::Syntax, "{text}");
        }
    }

    #[test]
    fn a_statement_does_not_change_its_session() {
        for text in [
            "SELECT set_config('a.b', $1, false)",
            "SELECT pg_catalog . SET_Config ($1, '', true)",
            "SELECT u&\"set\\005fconfig\"($1, '', true)",
            "/**/do $$ BEGIN END $$",
        ] {
            assert_eq!(check("postgres", text, false), Ok(()), "{text}");
            let error = check("postgres", text, true).unwrap_err();
            assert!(error.kind == ErrorKind::Denied && error.message.ends_with("where the adapter has a `session`"), "{text}: {error:?}");
        }
        assert_eq!(check("postgres", "SELECT domain, settings FROM do_not", true), Ok(()));
    }
}
