//! What the tokens around a placeholder say about its place, without a parser.

use millrace_languages::lex::Kind;

use super::{dialect::Dialect, tokens::Tokens};

/// What must stand where a placeholder stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SyntaxPosition {
    /// A table, a column, an alias, a type.
    Name,
    /// A whole item of `ORDER BY`, `GROUP BY` or `PARTITION BY`.
    Item,
    /// The name of a function.
    Function,
    /// `ASC`, `DESC` and the like.
    Keyword,
    /// An operator.
    Operator,
    /// A number or a text that is written out.
    Constant,
    /// The whole statement.
    Statement,
}

impl SyntaxPosition {
    /// The place, and why no value can be bound there.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Name => "is where a name is required, and a name cannot be bound",
            Self::Item => "is a whole item of a `BY` list: bound, it would be one constant for all rows",
            Self::Function => "is where the name of a function is required, and a name cannot be bound",
            Self::Keyword => "is where a keyword is required, and a keyword cannot be bound",
            Self::Operator => "is where an operator is required, and an operator cannot be bound",
            Self::Constant => "is where the statement accepts only a constant",
            Self::Statement => "is where the statement begins, and a value is never a statement",
        }
    }
}

/// A place that surely takes no value, seen from the tokens alone.
pub(super) fn certain(tokens: &Tokens<'_>, token: usize) -> Option<SyntaxPosition> {
    let (before, after) = (tokens.before(token), tokens.after(token));
    if before.is_none() {
        return Some(SyntaxPosition::Statement);
    }
    if tokens.is_sign(before, b'.') || tokens.is_sign(after, b'.') {
        return Some(SyntaxPosition::Name);
    }
    if tokens.is_sign(after, b'(') {
        let table = tokens.is_any_word(before, &["INTO", "TABLE", "REPLACE", "JOIN", "UPDATE"]);
        return Some(if table { SyntaxPosition::Name } else { SyntaxPosition::Function });
    }
    is_item(tokens, token).then_some(SyntaxPosition::Item)
}

/// A place that most likely takes no value: asked only where the parser does not know the
/// statement.
pub(super) fn likely(tokens: &Tokens<'_>, token: usize) -> Option<SyntaxPosition> {
    const BEFORE_NAMES: &[&str] = &[
        "FROM",
        "JOIN",
        "INTO",
        "UPDATE",
        "TABLE",
        "VIEW",
        "INDEX",
        "DATABASE",
        "SCHEMA",
        "COLUMN",
        "AS",
        "REFERENCES",
        "ONLY",
        "COLLATE",
        "TRIGGER",
        "SEQUENCE",
        "USE",
        "TO",
    ];
    // `FROM` and `TO` of functions and of `IS DISTINCT FROM` are followed by values.
    const BEFORE_VALUES: &[&str] = &["EXTRACT", "SUBSTRING", "SUBSTR", "TRIM", "OVERLAY", "POSITION", "BOTH", "LEADING", "TRAILING"];
    let before = tokens.before(token);
    if !tokens.is_any_word(before, BEFORE_NAMES) {
        return None;
    }
    let earlier = before.and_then(|before| tokens.before(before));
    let function = tokens.opening(token).and_then(|opening| tokens.before(opening));
    let takes_value = tokens.is_word(earlier, "DISTINCT") || tokens.is_any_word(function, BEFORE_VALUES);
    (!takes_value).then_some(SyntaxPosition::Name)
}

/// What a bare placeholder stands right against, where the two would become one token.
pub(super) fn neighbour<'a>(tokens: &Tokens<'a>, token: usize, dialect: Dialect) -> Option<&'a str> {
    let before = token.checked_sub(1).filter(|&at| ends_word(&tokens.all[at].kind));
    let after = Some(token + 1).filter(|&at| at < tokens.all.len() && ends_word(&tokens.all[at].kind));
    let found = before.or(after).map(|at| tokens.masked.author(tokens.all[at].range.clone()));
    found.or_else(|| prefix_sign(tokens, token, dialect))
}

/// A sign right before a value that would make it part of another token: `$`, `@`, `:`.
pub(super) fn prefix_sign<'a>(tokens: &Tokens<'a>, token: usize, dialect: Dialect) -> Option<&'a str> {
    let before = token.checked_sub(1)?;
    let fuses = match tokens.all[before].kind {
        Kind::Sign(b'@' | b':') => dialect.facts().fusing_signs.contains(&tokens.text(before)),
        Kind::Sign(b'$' | b'\\') => true,
        _ => false,
    };
    fuses.then(|| tokens.text(before))
}

/// Whether a token and a parameter beside it need a blank between them.
pub(super) fn ends_word(kind: &Kind) -> bool {
    matches!(kind, Kind::Word | Kind::Number | Kind::Literal { .. } | Kind::Quoted | Kind::Dollar | Kind::Mark | Kind::Parameter)
}

/// Whether a placeholder, parentheses around it aside, is a whole item of a `BY` list.
fn is_item(tokens: &Tokens<'_>, token: usize) -> bool {
    const AFTER_ITEM: &[&str] = &[
        "ASC",
        "DESC",
        "NULLS",
        "COLLATE",
        "LIMIT",
        "OFFSET",
        "FETCH",
        "HAVING",
        "WINDOW",
        "ORDER",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "ROWS",
        "RANGE",
        "GROUPS",
        "FOR",
        "LOCK",
        "WITH",
        "RETURNING",
        "SEPARATOR",
        "INTO",
        "USING",
    ];
    let (mut first, mut last) = (token, token);
    while let (Some(open), Some(close)) = (tokens.before(first), tokens.after(last)) {
        // The parentheses of a call belong to the call.
        let called = tokens.before(open).is_some_and(|at| tokens.all[at].kind == Kind::Word && !tokens.is_word(Some(at), "BY"));
        if !tokens.is_sign(Some(open), b'(') || !tokens.is_sign(Some(close), b')') || called {
            break;
        }
        (first, last) = (open, close);
    }
    let after = tokens.after(last);
    let ends = after.is_none()
        || tokens.is_sign(after, b',')
        || tokens.is_sign(after, b')')
        || tokens.is_sign(after, b';')
        || after.is_some_and(|after| tokens.has_marks(after))
        || tokens.is_any_word(after, AFTER_ITEM);
    ends && starts_item(tokens, first)
}

/// Whether an item of a `BY` list starts at a token.
pub(super) fn starts_item(tokens: &Tokens<'_>, first: usize) -> bool {
    let before = tokens.before(first);
    if ends_with_by(tokens, before) {
        return true;
    }
    if !tokens.is_sign(before, b',') {
        return false;
    }
    // An item after a comma: its list starts at the nearest clause of this depth.
    const CLAUSES: &[&str] = &[
        "SELECT",
        "FROM",
        "WHERE",
        "HAVING",
        "LIMIT",
        "OFFSET",
        "VALUES",
        "SET",
        "ON",
        "USING",
        "RETURNING",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "WINDOW",
        "RANGE",
        "ROWS",
        "FETCH",
        "FOR",
    ];
    let mut depth = 0;
    for at in (0..first).rev() {
        match tokens.all[at].kind {
            Kind::Sign(b')') => depth += 1,
            Kind::Sign(b'(') if depth == 0 => return false,
            Kind::Sign(b'(') => depth -= 1,
            Kind::Word if depth == 0 => {
                if ends_with_by(tokens, Some(at)) {
                    return true;
                }
                if tokens.is_any_word(Some(at), CLAUSES) {
                    return false;
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether a list of names may stand here: it is whole items of what is selected, returned,
/// grouped, ordered or partitioned by, in a clause whose items are names.
pub(super) fn takes_names(tokens: &Tokens<'_>, token: usize) -> bool {
    const AFTER: &[&str] = &[
        "FROM",
        "WHERE",
        "GROUP",
        "HAVING",
        "WINDOW",
        "ORDER",
        "LIMIT",
        "OFFSET",
        "FETCH",
        "FOR",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "ROWS",
        "RANGE",
        "GROUPS",
        "SETTINGS",
        "FORMAT",
    ];
    let after = tokens.after(token);
    let ends =
        after.is_none() || [b',', b')', b';'].into_iter().any(|sign| tokens.is_sign(after, sign)) || tokens.is_any_word(after, AFTER);
    let before = tokens.before(token);
    let begins = tokens.is_sign(before, b',') || tokens.is_any_word(before, &["SELECT", "DISTINCT", "ALL", "RETURNING", "BY"]);
    if !ends || !begins {
        return false;
    }
    const CLAUSES: &[&str] =
        &["FROM", "WHERE", "HAVING", "LIMIT", "OFFSET", "VALUES", "SET", "ON", "USING", "WINDOW", "FETCH", "FOR", "INTO", "WITH"];
    let mut depth = 0;
    for at in (0..token).rev() {
        match tokens.all[at].kind {
            Kind::Sign(b')') => depth += 1,
            Kind::Sign(b'(') if depth == 0 => return false,
            Kind::Sign(b'(') => depth -= 1,
            Kind::Word if depth == 0 => {
                if ends_with_by(tokens, Some(at)) || tokens.is_any_word(Some(at), &["SELECT", "RETURNING"]) {
                    return true;
                }
                if tokens.is_any_word(Some(at), CLAUSES) {
                    return false;
                }
            }
            _ => {}
        }
    }
    false
}

fn ends_with_by(tokens: &Tokens<'_>, token: Option<usize>) -> bool {
    let earlier = token.and_then(|token| tokens.before(token));
    tokens.is_word(token, "BY") && tokens.is_any_word(earlier, &["ORDER", "GROUP", "PARTITION"])
}
