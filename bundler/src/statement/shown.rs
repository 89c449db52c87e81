//! What the parser is shown in place of the author's text: the same tokens, each in the one
//! spelling that the parser surely takes for the token that the database takes it for.
//!
//! The parser has a tokenizer of its own, which knows less of quotes, escapes and comments than a
//! database. So comments are blanks here, a literal is written with its value between single
//! quotes, and a name with the quotes of its dialect doubled. Whatever is left is compared: where
//! the parser finds other tokens in the text than the lexer, the text is not judged.

use std::borrow::Cow;

use millrace_languages::{
    lex::{Kind, Prefix, Token},
    postgres::unicode_name,
};
use sqlparser::{
    ast::Statement as Sql,
    parser::Parser,
    tokenizer::{Token as ParserToken, Tokenizer, Whitespace},
};

use super::{
    dialect::Dialect,
    literal::{self, Decoded},
    tokens::Tokens,
};

/// Line and column of a parser, each from 1.
pub(super) type Location = (u64, u64);

/// A literal whose value is not known here.
const OTHER: &str = "'x'";

/// What the parser is shown for a token without placeholders.
pub(super) fn token<'a>(tokens: &Tokens<'a>, at: usize, dialect: Dialect) -> Cow<'a, str> {
    let shown = alone(tokens, at, dialect);
    // Two texts or names that adjoin are two, and not one with a quote in it: `"a"'b'`, `[a][b]`.
    let is_quoted = |at: usize| matches!(tokens.all[at].kind, Kind::Literal { .. } | Kind::Quoted | Kind::Dollar);
    let adjoins = !shown.is_empty() && is_quoted(at) && at.checked_sub(1).is_some_and(is_quoted);
    if adjoins { Cow::Owned(format!(" {shown}")) } else { shown }
}

fn alone<'a>(tokens: &Tokens<'a>, at: usize, dialect: Dialect) -> Cow<'a, str> {
    let text = tokens.text(at);
    match &tokens.all[at].kind {
        Kind::Space | Kind::Comment { .. } => Cow::Borrowed(dialect.facts().blank),
        Kind::Literal { continues: true, .. } => Cow::Borrowed(""),
        // Digits of bytes or bits have no other form.
        Kind::Literal { prefix: Prefix::Digits, body, .. } => {
            let is_plain = tokens.masked.text[body.clone()].bytes().all(|byte| byte.is_ascii_alphanumeric());
            Cow::Borrowed(if is_plain { text } else { OTHER })
        }
        Kind::Literal { .. } => Cow::Owned(literal_of(tokens, at, dialect)),
        Kind::Dollar => {
            let length = text[1..].find('$').map_or(0, |end| end + 2);
            Cow::Owned(text.get(length..text.len() - length).map_or_else(|| OTHER.to_owned(), |body| quoted(body, dialect)))
        }
        Kind::Quoted => Cow::Owned(name(text, dialect)),
        // Two signs, and no comment: `1--1`.
        Kind::Sign(b'-') if dialect.facts().parts_dashes => {
            let is_next = tokens.all.get(at + 1).is_some_and(|next| next.kind == Kind::Sign(b'-'));
            Cow::Borrowed(if is_next { "- " } else { text })
        }
        _ => Cow::Borrowed(text),
    }
}

/// A literal with all that continues it.
fn literal_of(tokens: &Tokens<'_>, at: usize, dialect: Dialect) -> String {
    let mut value = String::new();
    for (place, token) in tokens.all[at..].iter().enumerate() {
        let (prefix, body) = match &token.kind {
            Kind::Literal { prefix, body, continues } if *continues || place == 0 => (*prefix, body.clone()),
            Kind::Space | Kind::Comment { .. } => continue,
            _ => break,
        };
        let Ok(pieces) = literal::decode(tokens.masked, body, prefix, dialect) else { return OTHER.to_owned() };
        for piece in pieces {
            match piece {
                Decoded::Text(text) => value.push_str(&text),
                Decoded::Mark(_) => return OTHER.to_owned(),
            }
        }
    }
    quoted(&value, dialect)
}

/// A text as a literal of the parser.
fn quoted(value: &str, dialect: Dialect) -> String {
    let escapes = dialect.facts().has_backslashes;
    let mut text = String::with_capacity(value.len() + 2);
    text.push('\'');
    for character in value.chars() {
        match character {
            '\'' => text.push_str("''"),
            '\\' if escapes => text.push_str("\\\\"),
            '\0' if escapes => text.push_str("\\0"),
            // Not to be taken for the mark of a placeholder.
            '\0' => text.push(' '),
            other => text.push(other),
        }
    }
    text.push('\'');
    text
}

/// A name in quotes, as the parser knows such a name.
fn name(text: &str, dialect: Dialect) -> String {
    let (text, is_unicode) = match text.strip_prefix(['u', 'U']).and_then(|rest| rest.strip_prefix('&')) {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let mut characters = text.chars();
    let open = characters.next().unwrap_or('"');
    characters.next_back();
    let inner = characters.as_str();
    let value = match open {
        '[' => inner.to_owned(),
        _ if is_unicode => unicode_name(inner).unwrap_or_else(|| inner.to_owned()),
        _ => (dialect.facts().unquoted)(inner, open),
    };
    let quote = if open == '[' { '`' } else { open };
    format!("{quote}{}{quote}", value.replace(quote, &format!("{quote}{quote}")))
}

/// The statements of a text that was made by [`token`].
///
/// # Errors
/// What the parser does not understand, and where. Or that it finds other tokens.
pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Vec<Sql>, (String, Option<Location>)> {
    let statements = Parser::parse_sql(dialect.parser(), text).map_err(|error| {
        let message = error.to_string();
        let message = message.trim_start_matches("sql parser error: ");
        // The place is one in the text that was shown, and of use only here.
        let Some((reason, place)) = message.rsplit_once(" at Line: ") else { return (message.to_owned(), None) };
        let location =
            place.split_once(", Column: ").and_then(|(line, column)| Some((line.trim().parse().ok()?, column.trim().parse().ok()?)));
        (reason.to_owned(), location)
    })?;
    if is_read_alike(text, dialect) {
        Ok(statements)
    } else {
        Err(("its quotes or names can be read in more than one way".to_owned(), None))
    }
}

/// Whether the parser finds the same literals, names and words in a text as the lexer, and no
/// comment.
pub(super) fn is_read_alike(text: &str, dialect: Dialect) -> bool {
    let Ok(own) = dialect.lex(text) else { return false };
    let Ok(theirs) = Tokenizer::new(dialect.parser(), text).tokenize_with_location() else { return false };
    // Where a token of the parser begins, in bytes and in order.
    let mut starts = Vec::with_capacity(theirs.len() + 1);
    let mut characters = text.char_indices();
    let mut at = (1, 1);
    for token in &theirs {
        if matches!(token.token, ParserToken::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_))) {
            return false;
        }
        let wanted = (token.span.start.line, token.span.start.column);
        while at < wanted {
            let Some((_, character)) = characters.next() else { return false };
            at = if character == '\n' { (at.0 + 1, 1) } else { (at.0, at.1 + 1) };
        }
        starts.push(characters.clone().next().map_or(text.len(), |(at, _)| at));
    }
    starts.push(text.len());
    own.iter().enumerate().all(|(place, token)| is_one_of(token, place.checked_sub(1).map(|before| &own[before]), &starts))
}

/// Whether a token of the lexer is one of the parser, whose tokens begin at `starts`.
fn is_one_of(token: &Token, before: Option<&Token>, starts: &[usize]) -> bool {
    let begins = |at: usize| starts.binary_search(&at).is_ok();
    match token.kind {
        Kind::Comment { .. } => false,
        Kind::Word | Kind::Literal { .. } | Kind::Quoted | Kind::Dollar => {
            let inside =
                starts.partition_point(|&start| start <= token.range.start)..starts.partition_point(|&start| start < token.range.end);
            // To the parser the `@` of a variable belongs to its name.
            let is_variable = token.kind == Kind::Word && before.is_some_and(|before| before.kind == Kind::Sign(b'@'));
            inside.is_empty() && (begins(token.range.start) || is_variable) && begins(token.range.end)
        }
        Kind::Space | Kind::Number | Kind::Mark | Kind::Parameter | Kind::Sign(_) => true,
    }
}
