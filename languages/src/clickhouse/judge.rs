//! A look at a statement.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use core::ops::Range;

use super::{ClickHouse, Flaw, Judged, OF_A_SESSION, Parameter, READS, WRITES, What, is_sent, reads_elsewhere, shown};
use crate::{
    lex::{Kind, Lexer, Token, Unread},
    pieces::is_word,
};

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

/// Judges a statement in which each placeholder is a NUL character, and `is_callers` says of one at
/// a byte whether it is a caller's value. Whether the statement only reads.
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
    let words = Words { text, tokens: &tokens };
    let Some(first) = (0..tokens.len()).find(|&at| !words.sign(at, b';') && !words.sign(at, b'(')) else {
        return Err(Flaw { what: What::Nothing, range: 0..text.len() });
    };
    let inserts = (first..tokens.len()).any(|at| words.is(at, "INSERT"));
    let judged = Judged { reads: words.has(&READS, first), explains: words.is(first, "EXPLAIN"), inserts, parameters: Vec::new() };
    let mut looker = Looker::new(words, is_callers, judged);
    if words.has(&OF_A_SESSION, first) {
        looker.flaw(What::OfSession(words.word(first).unwrap_or_default().to_ascii_uppercase()), first);
    }
    let mut ended = false;
    for (at, token) in tokens.iter().enumerate() {
        if ended && token.kind != Kind::Sign(b';') {
            looker.flaw(What::Second, at);
            break;
        }
        looker.name(at, token);
        looker.setting(at, token);
        ended |= token.kind == Kind::Sign(b';') && at >= first;
        if looker.token(at, token) {
            break;
        }
    }
    Ok(looker.finish())
}

/// The tokens of a statement.
#[derive(Clone, Copy)]
struct Words<'a, 't> {
    text: &'a str,
    tokens: &'t [Token],
}

impl<'a> Words<'a, '_> {
    fn word(&self, at: usize) -> Option<&'a str> {
        self.tokens.get(at).filter(|token| token.kind == Kind::Word).and_then(|token| self.text.get(token.range.clone()))
    }

    fn is(&self, at: usize, expected: &str) -> bool {
        self.word(at).is_some_and(|word| word.eq_ignore_ascii_case(expected))
    }

    fn has(&self, words: &[&str], at: usize) -> bool {
        words.iter().any(|expected| self.is(at, expected))
    }

    fn sign(&self, at: usize, expected: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Sign(expected))
    }
}

/// What was seen of a statement, token by token.
struct Looker<'a, 't> {
    words: Words<'a, 't>,
    is_callers: &'t dyn Fn(usize) -> bool,
    judged: Judged<'a>,
    flaws: Vec<Flaw>,
    place: Place,
    has_values: bool,
    depth: usize,
    /// Names among the arguments of functions that read elsewhere, the function too: judged at the
    /// end, as what follows.
    named: Vec<(usize, &'a str, String)>,
    /// Calls of `eval`.
    evals: Vec<usize>,
    aliases: Vec<&'a str>,
}

impl<'a, 't> Looker<'a, 't> {
    fn new(words: Words<'a, 't>, is_callers: &'t dyn Fn(usize) -> bool, judged: Judged<'a>) -> Self {
        let (named, evals, aliases) = (Vec::new(), Vec::new(), Vec::new());
        Self { words, is_callers, judged, flaws: Vec::new(), place: Place::default(), has_values: false, depth: 0, named, evals, aliases }
    }

    fn flaw(&mut self, what: What, at: usize) {
        let range = self.words.tokens.get(at).map(|token| token.range.clone()).unwrap_or_default();
        self.flaws.push(Flaw { what, range });
    }

    /// Looks at a name.
    fn name(&mut self, at: usize, token: &Token) {
        let Some(name) = name_at(self.words.text, token) else { return };
        if is_alias(self.words.text, self.words.tokens, at) {
            self.aliases.push(name);
        }
        if self.words.sign(at + 1, b'(') && name.eq_ignore_ascii_case("eval") {
            self.evals.push(at);
        }
        self.named.extend(self.place.elsewhere.last().map(|(_, function)| (at, name, function.clone())));
    }

    /// Looks whether a token is in the clause `SETTINGS`.
    fn setting(&mut self, at: usize, token: &Token) {
        if self.place.settings == Some(self.depth) && self.place.begins_setting {
            if let Some((name, end)) = setting(self.words.text, self.words.tokens, at) {
                if is_sent(&name) {
                    self.flaw(What::Setting(name.clone()), at);
                }
                (self.place.begins_setting, self.place.setting) = (false, Some(name));
                // Without a value, it is the next token that ends the clause.
                self.place.ends_at = end;
            } else {
                self.place.leave_settings();
            }
        }
        if self.place.settings == Some(self.depth) && at >= self.place.ends_at && !matches!(token.kind, Kind::Sign(b',' | b')')) {
            self.place.leave_settings();
        }
    }

    /// Looks at a token. Whether nothing after it is of the statement.
    fn token(&mut self, at: usize, token: &Token) -> bool {
        match token.kind {
            Kind::Sign(b'(') => self.open(at),
            Kind::Sign(b')') => {
                let closed = self.depth;
                self.place.elsewhere.retain(|(opened, _)| *opened != closed);
                let depth = closed.saturating_sub(1);
                self.depth = depth;
                self.place.settings = self.place.settings.filter(|opened| *opened <= depth);
            }
            Kind::Sign(b',') if self.place.settings == Some(self.depth) => {
                (self.place.setting, self.place.begins_setting) = (None, true);
            }
            Kind::Word => return self.word(at),
            Kind::Parameter => self.parameter(at, token),
            // Placeholders in literals, too: the whole of the literal is a value then.
            Kind::Mark | Kind::Literal { .. } | Kind::Dollar | Kind::Quoted => {
                let text = self.words.text.as_bytes();
                if token.range.clone().any(|byte| text.get(byte) == Some(&0) && (self.is_callers)(byte)) {
                    self.value(at);
                }
            }
            Kind::Number | Kind::Sign(_) | Kind::Space | Kind::Comment { .. } => {}
        }
        false
    }

    fn open(&mut self, at: usize) {
        self.depth += 1;
        let words = self.words;
        let before = words.tokens.get(at.wrapping_sub(1)).filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted));
        let name = before.and_then(|token| words.text.get(token.range.clone())).map(|name| name.trim_matches(['`', '"']));
        // A column of `INSERT INTO url (…)` is no argument.
        let is_table =
            words.is(at.wrapping_sub(2), "INTO") || words.is(at.wrapping_sub(2), "TABLE") && words.is(at.wrapping_sub(3), "INTO");
        if let Some(name) = name.filter(|name| !is_table && reads_elsewhere(name)) {
            self.place.elsewhere.push((self.depth, name.to_string()));
        }
    }

    /// Looks at a word. Whether data follow, and no more of the statement.
    fn word(&mut self, at: usize) -> bool {
        let (words, before) = (self.words, at.wrapping_sub(1));
        let is_name = words.sign(before, b'.') || words.sign(at + 1, b'.') || words.is(before, "AS") || words.sign(at + 1, b'(');
        self.judged.reads &= !words.has(&WRITES, at) || is_name;
        if words.is(at, "SETTINGS") && !is_name && setting(words.text, words.tokens, at + 1).is_some() {
            self.place.settings = Some(self.depth);
            (self.place.setting, self.place.begins_setting, self.place.ends_at) = (None, true, usize::MAX);
        } else if words.is(at, "FORMAT") && !is_name && is_format(words.tokens, at, self.judged.inserts) {
            self.flaw(What::Format, at);
            return true;
        } else if words.is(at, "OUTFILE") && words.is(before, "INTO") {
            self.flaw(What::ToFile, at);
        } else if words.is(at, "PARALLEL") && !is_name && words.is(at + 1, "WITH") && !words.has(&OF_GROUPS, at + 2) {
            self.flaw(What::Parallel, at);
        } else if words.is(at, "TOTALS") && words.is(before, "WITH") {
            self.flaw(What::Totals, at);
        }
        false
    }

    fn parameter(&mut self, at: usize, token: &Token) {
        let text = self.words.text;
        let Some((name, kind)) = parameter(text, token.range.start) else { return };
        let (Some(name), Some(written)) = (text.get(name), text.get(kind.clone())) else { return };
        if is_identifier(written) {
            self.flaw(What::Identifier(shown(name)), at);
        }
        self.judged.parameters.push(Parameter { name, kind: written, range: kind });
        self.value(at);
    }

    /// A value of the call.
    fn value(&mut self, at: usize) {
        self.has_values = true;
        if let Some(what) = misplaced(&self.place) {
            self.flaw(what, at);
        }
    }

    fn finish(mut self) -> (Judged<'a>, Vec<Flaw>) {
        if self.has_values {
            for at in core::mem::take(&mut self.evals) {
                self.flaw(What::Eval, at);
            }
            for (at, name, function) in core::mem::take(&mut self.named) {
                if self.aliases.contains(&name) {
                    self.flaw(What::Alias(shown(name), shown(&function)), at);
                }
            }
        }
        (self.judged, self.flaws)
    }
}

/// Whether a type is that of names. Comments around it are none of it; a type that is cut in two by
/// one is no other.
fn is_identifier(kind: &str) -> bool {
    match tokens(kind).as_deref() {
        Ok([first, ..]) => name_at(kind, first).is_none_or(|name| name.eq_ignore_ascii_case("Identifier")),
        Ok([]) | Err(_) => true,
    }
}

/// Whether a name is one that the statement gives to an expression: after `AS`, before `AS (` of a
/// subquery, or after what ends an expression.
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

/// The name of a setting at a place, as it counts, and the token after its value: `name = value`,
/// `a.b = value`, or a name alone, which is 1.
///
/// A name alone is one only where a comma or the end follows it: other words after `SETTINGS` are
/// not of the clause.
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

/// Whether a word `FORMAT` begins the clause: the name of a format follows it, and then nothing but
/// settings. In an `INSERT` data follow.
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
    let is_name = !name.trim().is_empty() && name.trim().chars().all(is_word);
    // A map, `{'a': 1}`, has a literal there.
    if !is_name || kind.trim().is_empty() {
        return None;
    }
    let name_at = start + 1 + (name.len() - name.trim_start().len());
    let kind_at = start + 1 + name.len() + 1 + (kind.len() - kind.trim_start().len());
    Some((name_at..name_at + name.trim().len(), kind_at..kind_at + kind.trim().len()))
}
