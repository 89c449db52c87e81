//! A look at a statement.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use core::ops::Range;

use super::{ClickHouse, Flaw, Judged, OF_A_SESSION, Parameter, READS, WRITES, What, is_sent, reads_elsewhere, shown};
use crate::lex::{Kind, Lexer, Token, Unread};

/// What may follow `WITH` behind a column of `GROUP BY` or `ORDER BY`, and begins no statement.
const OF_GROUPS: [&str; 5] = ["CUBE", "FILL", "ROLLUP", "TIES", "TOTALS"];
/// Words between expressions: what follows one is not its alias, and it is none itself.
const KEYWORDS: [&str; 63] = [
    "ALL",
    "AND",
    "ANTI",
    "ANY",
    "ARRAY",
    "AS",
    "ASC",
    "ASOF",
    "BETWEEN",
    "BY",
    "CASE",
    "CROSS",
    "DESC",
    "DISTINCT",
    "DIV",
    "ELSE",
    "END",
    "EXCEPT",
    "EXISTS",
    "FINAL",
    "FROM",
    "FULL",
    "GLOBAL",
    "GROUP",
    "HAVING",
    "ILIKE",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MOD",
    "NOT",
    "NULL",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PREWHERE",
    "QUALIFY",
    "REGEXP",
    "RIGHT",
    "SAMPLE",
    "SELECT",
    "SEMI",
    "SETTINGS",
    "TABLE",
    "THEN",
    "UNION",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
];

/// Judges a statement as it is sent.
///
/// # Errors
/// The first [`Flaw`] of it.
pub fn judge(text: &str) -> Result<Judged<'_>, Flaw> {
    let (judged, flaws) = look(text, &|_| true)?;
    flaws.into_iter().next().map_or(Ok(judged), Err)
}

/// Judges a statement in which each placeholder is a NUL character, and `is_callers` says of one at a byte whether it is a caller's value.
/// Whether the statement only reads.
///
/// # Errors
/// Every [`Flaw`] of it.
pub fn judge_masked(text: &str, is_callers: &dyn Fn(usize) -> bool) -> Result<bool, Vec<Flaw>> {
    let (judged, flaws) = look(text, is_callers).map_err(|flaw| alloc::vec![flaw])?;
    if flaws.is_empty() { Ok(judged.reads) } else { Err(flaws) }
}

/// Where a value of the call stands, as far as it matters.
#[derive(Default)]
struct Place {
    /// The functions whose arguments are open: the depth of their parentheses, and their names.
    elsewhere: Vec<(usize, String)>,
    /// In `SETTINGS`: the depth of the clause.
    settings: Option<usize>,
    /// The setting whose value this is.
    setting: Option<String>,
    /// The first token after `SETTINGS`, and after a comma of it: the name of a setting.
    begins_setting: bool,
    /// The token with which the clause ends, unless it is a comma.
    ends_at: usize,
}

impl Place {
    fn leave_settings(&mut self) {
        *self = Self { elsewhere: core::mem::take(&mut self.elsewhere), ..Self::default() };
    }
}

fn look<'a>(text: &'a str, is_callers: &dyn Fn(usize) -> bool) -> Result<(Judged<'a>, Vec<Flaw>), Flaw> {
    let tokens = tokens(text)?;
    let word = |at: usize| tokens.get(at).filter(|token| token.kind == Kind::Word).and_then(|token| text.get(token.range.clone()));
    let is = |at: usize, expected: &str| word(at).is_some_and(|word| word.eq_ignore_ascii_case(expected));
    let sign = |at: usize, expected: u8| tokens.get(at).is_some_and(|token| token.kind == Kind::Sign(expected));
    let flaw = |what: What, at: usize| Flaw { what, range: tokens.get(at).map(|token| token.range.clone()).unwrap_or_default() };
    let Some(first) = (0..tokens.len()).find(|&at| !sign(at, b';') && !sign(at, b'(')) else {
        return Err(Flaw { what: What::Nothing, range: 0..text.len() });
    };
    let has = |words: &[&str], at: usize| words.iter().any(|expected| is(at, expected));
    let mut flaws = Vec::new();
    if has(&OF_A_SESSION, first) {
        flaws.push(flaw(What::OfSession(word(first).unwrap_or_default().to_ascii_uppercase()), first));
    }
    let inserts = (first..tokens.len()).any(|at| is(at, "INSERT"));
    let mut judged = Judged { reads: has(&READS, first), explains: is(first, "EXPLAIN"), inserts, parameters: Vec::new() };
    let mut place = Place::default();
    let mut has_values = false;
    // Names among the arguments of functions that read elsewhere, and calls of `eval`: judged at the end.
    let (mut named, mut evals, mut aliases) = (Vec::new(), Vec::new(), Vec::new());
    let mut depth = 0_usize;
    let mut ended = None;
    for (at, token) in tokens.iter().enumerate() {
        if ended.is_some() && token.kind != Kind::Sign(b';') {
            flaws.push(flaw(What::Second, at));
            break;
        }
        let before = at.wrapping_sub(1);
        if let Some(name) = name_at(text, token) {
            if is_alias(text, &tokens, at) {
                aliases.push(name);
            }
            if sign(at + 1, b'(') && name.eq_ignore_ascii_case("eval") {
                evals.push(at);
            }
            named.extend(place.elsewhere.last().map(|(_, function)| (at, name, function.clone())));
        }
        if place.settings == Some(depth) && place.begins_setting {
            if let Some((name, end)) = setting(text, &tokens, at) {
                if is_sent(&name) {
                    flaws.push(flaw(What::Setting(name.clone()), at));
                }
                (place.begins_setting, place.setting) = (false, Some(name));
                // Without a value, it is the next token that ends the clause.
                place.ends_at = end;
            } else {
                place.leave_settings();
            }
        }
        if place.settings == Some(depth) && at >= place.ends_at && !matches!(token.kind, Kind::Sign(b',' | b')')) {
            place.leave_settings();
        }
        match token.kind {
            Kind::Sign(b';') if at >= first => ended = Some(at),
            Kind::Sign(b'(') => {
                depth += 1;
                let name = tokens.get(before).filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted));
                let name = name.and_then(|token| text.get(token.range.clone())).map(|name| name.trim_matches(['`', '"']));
                // A column of `INSERT INTO url (…)` is no argument.
                let is_table = is(at.wrapping_sub(2), "INTO") || is(at.wrapping_sub(2), "TABLE") && is(at.wrapping_sub(3), "INTO");
                if let Some(name) = name.filter(|name| !is_table && reads_elsewhere(name)) {
                    place.elsewhere.push((depth, name.to_string()));
                }
            }
            Kind::Sign(b')') => {
                place.elsewhere.retain(|(opened, _)| *opened != depth);
                depth = depth.saturating_sub(1);
                place.settings = place.settings.filter(|opened| *opened <= depth);
            }
            Kind::Sign(b',') if place.settings == Some(depth) => (place.setting, place.begins_setting) = (None, true),
            Kind::Word => {
                let is_name = sign(before, b'.') || sign(at + 1, b'.') || is(before, "AS") || sign(at + 1, b'(');
                judged.reads &= !has(&WRITES, at) || is_name;
                if is(at, "SETTINGS") && !is_name && setting(text, &tokens, at + 1).is_some() {
                    (place.settings, place.setting, place.begins_setting, place.ends_at) = (Some(depth), None, true, usize::MAX);
                } else if is(at, "FORMAT") && !is_name && is_format(&tokens, at, inserts) {
                    flaws.push(flaw(What::Format, at));
                    // What follows is data of an `INSERT`.
                    break;
                } else if is(at, "OUTFILE") && is(before, "INTO") {
                    flaws.push(flaw(What::ToFile, at));
                } else if is(at, "PARALLEL") && !is_name && is(at + 1, "WITH") && !has(&OF_GROUPS, at + 2) {
                    flaws.push(flaw(What::Parallel, at));
                } else if is(at, "TOTALS") && is(before, "WITH") {
                    flaws.push(flaw(What::Totals, at));
                }
            }
            Kind::Parameter => {
                let Some((name, kind)) = parameter(text, token.range.start) else { continue };
                let (Some(name), Some(written)) = (text.get(name), text.get(kind.clone())) else { continue };
                if is_identifier(written) {
                    flaws.push(flaw(What::Identifier(shown(name)), at));
                }
                has_values = true;
                judged.parameters.push(Parameter { name, kind: written, range: kind });
                flaws.extend(misplaced(&place).map(|what| flaw(what, at)));
            }
            // Placeholders in literals, too: the whole of the literal is a value then.
            Kind::Mark | Kind::Literal { .. } | Kind::Dollar | Kind::Quoted => {
                let marked = text.get(token.range.clone()).is_some_and(|own| own.contains('\0'));
                if marked && token.range.clone().any(|byte| text.as_bytes().get(byte) == Some(&0) && is_callers(byte)) {
                    has_values = true;
                    flaws.extend(misplaced(&place).map(|what| flaw(what, at)));
                }
            }
            Kind::Number | Kind::Sign(_) | Kind::Space | Kind::Comment { .. } => {}
        }
    }
    if has_values {
        flaws.extend(evals.into_iter().map(|at| flaw(What::Eval, at)));
        let aliased = named.into_iter().filter(|(_, name, _)| aliases.contains(name));
        flaws.extend(aliased.map(|(at, name, function)| flaw(What::Alias(shown(name), shown(&function)), at)));
    }
    Ok((judged, flaws))
}

/// Whether a type is that of names. Comments around it are none of it; a type that is cut in two by one is no other.
fn is_identifier(kind: &str) -> bool {
    match tokens(kind).as_deref() {
        Ok([first, ..]) => name_at(kind, first).is_none_or(|name| name.eq_ignore_ascii_case("Identifier")),
        Ok([]) | Err(_) => true,
    }
}

/// Whether a name is one that the statement gives to an expression: after `AS`, before `AS (` of a subquery, or after what ends an expression.
fn is_alias(text: &str, tokens: &[Token], at: usize) -> bool {
    let word = |at: usize| tokens.get(at).filter(|token| token.kind == Kind::Word).and_then(|token| text.get(token.range.clone()));
    let is = |at: usize, expected: &str| word(at).is_some_and(|word| word.eq_ignore_ascii_case(expected));
    let is_keyword = |at: usize| word(at).is_some_and(|word| KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(word)));
    let Some(before) = at.checked_sub(1) else { return false };
    if is_keyword(at) {
        return false;
    }
    let names_query = is(at + 1, "AS") && tokens.get(at + 2).is_some_and(|token| token.kind == Kind::Sign(b'('));
    let follows = tokens.get(before).is_some_and(|token| match token.kind {
        Kind::Sign(sign) => matches!(sign, b')' | b']' | b'}'),
        Kind::Word => is(before, "AS") || !is_keyword(before),
        Kind::Quoted | Kind::Literal { .. } | Kind::Dollar | Kind::Number | Kind::Parameter | Kind::Mark => true,
        Kind::Space | Kind::Comment { .. } => false,
    });
    names_query || follows
}

/// A name, without its quotes.
fn name_at<'a>(text: &'a str, token: &Token) -> Option<&'a str> {
    let name = text.get(token.range.clone()).filter(|_| matches!(token.kind, Kind::Word | Kind::Quoted))?;
    Some(name.trim_matches(['`', '"']))
}

/// The name of a setting at a place, as it counts, and the token after its value: `name = value`, `a.b = value`, or a name alone, which is 1.
///
/// A name alone is one only where a comma or the end follows it: other words after `SETTINGS` are not of the clause.
fn setting(text: &str, tokens: &[Token], at: usize) -> Option<(String, usize)> {
    let is = |at: usize, sign: u8| tokens.get(at).is_some_and(|token| token.kind == Kind::Sign(sign));
    let mut name = name_at(text, tokens.get(at)?)?.to_ascii_lowercase();
    let mut end = at + 1;
    while is(end, b'.') {
        let Some(part) = tokens.get(end + 1).and_then(|token| name_at(text, token)) else { break };
        name = alloc::format!("{name}.{}", part.to_ascii_lowercase());
        end += 2;
    }
    if is(end, b'=') {
        let is_signed = is(end + 1, b'-') || is(end + 1, b'+');
        // The value of a list, a map or a function goes on to where its brackets close.
        let (mut value, mut open) = (end + 1 + usize::from(is_signed), 0_usize);
        loop {
            match tokens.get(value).map(|token| &token.kind) {
                None => break,
                Some(Kind::Sign(b'(' | b'[' | b'{')) => open += 1,
                Some(Kind::Sign(b')' | b']' | b'}')) => open = open.saturating_sub(1),
                Some(_) => {}
            }
            value += 1;
            if open == 0 && !is(value, b'(') {
                break;
            }
        }
        return Some((name, value));
    }
    let ends = tokens.get(end).is_none() || is(end, b',') || is(end, b';') || is(end, b')');
    (ends || is_sent(&name)).then_some((name, end))
}

/// What a value of the call must not decide.
fn misplaced(place: &Place) -> Option<What> {
    let setting = place.settings.and(place.setting.as_ref()).map(|name| What::SettingValue(shown(name)));
    setting.or_else(|| place.elsewhere.last().map(|(_, name)| What::Elsewhere(shown(name))))
}

/// Whether a word `FORMAT` begins the clause: the name of a format follows it, and then nothing but settings. In an `INSERT` data follow.
fn is_format(tokens: &[Token], at: usize, inserts: bool) -> bool {
    let kind = |at: usize| tokens.get(at).map(|token| &token.kind);
    let named = matches!(kind(at + 1), Some(Kind::Word | Kind::Quoted));
    let ends = matches!(kind(at + 2), None | Some(Kind::Sign(b';' | b')')));
    named && (ends || inserts || matches!(kind(at + 2), Some(Kind::Word)) && matches!(kind(at + 4), Some(Kind::Sign(b'='))))
}

/// The tokens of a statement; blanks and comments are left out.
fn tokens(text: &str) -> Result<Vec<Token>, Flaw> {
    let mut tokens = Vec::new();
    for cut in Lexer::<ClickHouse>::new(text) {
        match cut {
            Ok(Token { kind: Kind::Space | Kind::Comment { .. }, .. }) => {}
            Ok(token) => tokens.push(token),
            Err(Unread::Unclosed { what, range }) => return Err(Flaw { what: What::Unclosed(what), range: range.start..range.start + 1 }),
            Err(Unread::Stray { character: '\u{2018}'..='\u{201f}', range }) => return Err(Flaw { what: What::Curly, range }),
            Err(unread) => return Err(Flaw { range: unread.range(), what: What::Unread(unread) }),
        }
    }
    Ok(tokens)
}

/// `{name:Type}` at a place: the bytes of its name and of its type.
fn parameter(text: &str, start: usize) -> Option<(Range<usize>, Range<usize>)> {
    let inner = text.get(start..)?.strip_prefix('{')?;
    let inner = inner.get(..inner.find('}')?)?;
    let (name, kind) = inner.split_once(':')?;
    let is_name = !name.trim().is_empty() && name.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // A map, `{'a': 1}`, has a literal there.
    if !is_name || kind.trim().is_empty() {
        return None;
    }
    let name_at = start + 1 + (name.len() - name.trim_start().len());
    let kind_at = start + 1 + name.len() + 1 + (kind.len() - kind.trim_start().len());
    Some((name_at..name_at + name.trim().len(), kind_at..kind_at + kind.trim().len()))
}
