//! A look at a statement's first words: what would outlive its call on the connection is not sent.
//!
//! Whether a statement writes is not looked at: for a read-only adapter the server refuses what
//! does.

use millrace_core::{Error, ErrorKind};
use millrace_languages::{
    lex::{Kind, Lexer, Token, Unread},
    postgres::{FOR_ANY_VALUES, PLANNED, Postgres},
};

/// Statements that need a connection of their own, or leave something on it.
const REFUSED: [&str; 25] = [
    "ABORT",
    "BEGIN",
    "CHECKPOINT",
    "CLOSE",
    "CLUSTER",
    "COMMIT",
    "COPY",
    "DEALLOCATE",
    "DECLARE",
    "DISCARD",
    "END",
    "EXECUTE",
    "FETCH",
    "LISTEN",
    "LOAD",
    "MOVE",
    "PREPARE",
    "RELEASE",
    "RESET",
    "ROLLBACK",
    "SAVEPOINT",
    "SET",
    "START",
    "UNLISTEN",
    "VACUUM",
];

/// What would change the settings of a session, or do so unseen.
const SETS: &str = "set_config";
/// A block of code, which may set what it likes.
const BLOCK: &str = "DO";

/// Whether a statement asks for a plan. What is prepared for that has a name that is made of its
/// text, and nothing runs by that name.
fn asks_for_plan(text: &str) -> bool {
    if text == FOR_ANY_VALUES {
        return true;
    }
    let named = text.strip_prefix("PREPARE ").or_else(|| text.strip_prefix("DEALLOCATE "));
    named.is_some_and(|named| named.starts_with(PLANNED))
}

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
    if asks_for_plan(text) {
        return Ok(());
    }
    let unread = |unread: Unread| Error::new(ErrorKind::Syntax, unread.of_statement());
    let mut rest = text;
    let first = next_word(&mut rest).map_err(unread)?;
    let second = next_word(&mut rest).map_err(unread)?;
    let second = if ["LOCAL", "GLOBAL"].iter().any(|scope| scope.eq_ignore_ascii_case(second)) {
        next_word(&mut rest).map_err(unread)?
    } else {
        second
    };
    let refused = REFUSED.into_iter().find(|refused| first.eq_ignore_ascii_case(refused)).or_else(|| {
        let is_temporary = second.eq_ignore_ascii_case("TEMP") || second.eq_ignore_ascii_case("TEMPORARY");
        (first.eq_ignore_ascii_case("CREATE") && is_temporary).then_some("CREATE TEMP")
    });
    let changes_session = || {
        let has = |words: &str| text.as_bytes().windows(words.len()).any(|word| word.eq_ignore_ascii_case(words.as_bytes()));
        // A name with escapes can be any name.
        let is_written = has(SETS) || has("U&\"");
        if is_written { Some(SETS) } else { first.eq_ignore_ascii_case(BLOCK).then_some(BLOCK) }
    };
    match refused {
        None if has_session && let Some(refused) = changes_session() => {
            let message = format!("connector `{connector}` does not run `{refused}` where the adapter has a `session`");
            Err(Error::new(ErrorKind::Denied, message))
        }
        Some(refused) => Err(Error::new(ErrorKind::Denied, format!("connector `{connector}` does not run `{refused}`"))),
        None => Ok(()),
    }
}

/// Takes the next word; empty where something else comes first, or where that cannot be cut.
/// Blanks, comments and semicolons are passed over.
pub(crate) fn word<'a>(rest: &mut &'a str) -> &'a str {
    next_word(rest).unwrap_or_default()
}

/// The same.
///
/// # Errors
/// What comes first cannot be cut.
fn next_word<'a>(rest: &mut &'a str) -> Result<&'a str, Unread> {
    let text = *rest;
    let mut lexer = Lexer::<Postgres>::new(text);
    while let Some(cut) = lexer.next() {
        let Token { kind, range } = cut?;
        match kind {
            Kind::Space | Kind::Comment { .. } | Kind::Sign(b';') => *rest = lexer.rest(),
            Kind::Word => {
                // What a name has after it that no word of the language has, does not make the word
                // another one.
                let found = text.get(range.start..).unwrap_or_default();
                let end = found.find(|character: char| !character.is_ascii_alphanumeric() && character != '_').unwrap_or(found.len());
                let (word, after) = found.split_at(end);
                *rest = after;
                return Ok(word);
            }
            _ => return Ok(""),
        }
    }
    Ok("")
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
