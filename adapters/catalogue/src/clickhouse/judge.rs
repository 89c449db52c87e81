//! A look at a statement.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use super::{
    Flaw, Judged, OF_A_SESSION, Parameter, READS, WRITES, What,
    cut::{self, Kind, Token},
    is_sent, reads_elsewhere, shown,
};

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
    let mut depth = 0_usize;
    let mut ended = None;
    for (at, token) in tokens.iter().enumerate() {
        if ended.is_some() && token.kind != Kind::Sign(b';') {
            flaws.push(flaw(What::Second, at));
            break;
        }
        let before = at.wrapping_sub(1);
        match token.kind {
            Kind::Sign(b';') if at >= first => ended = Some(at),
            Kind::Sign(b'(') => {
                depth += 1;
                let name = tokens.get(before).filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted));
                let name = name.and_then(|token| text.get(token.range.clone())).map(|name| name.trim_matches(['`', '"']));
                // A column of `INSERT INTO url (…)` is no argument.
                let is_table = has(&["INTO", "TABLE"], at.wrapping_sub(2));
                if let Some(name) = name.filter(|name| !is_table && reads_elsewhere(name)) {
                    place.elsewhere.push((depth, name.to_string()));
                }
            }
            Kind::Sign(b')') => {
                place.elsewhere.retain(|(opened, _)| *opened != depth);
                depth = depth.saturating_sub(1);
                place.settings = place.settings.filter(|opened| *opened <= depth);
            }
            Kind::Sign(b',') if place.settings == Some(depth) => place.setting = None,
            Kind::Word => {
                let is_name = sign(before, b'.') || sign(at + 1, b'.') || is(before, "AS") || sign(at + 1, b'(');
                judged.reads &= !has(&WRITES, at) || is_name;
                if place.settings.is_some() && place.setting.is_none() && sign(at + 1, b'=') {
                    let name = word(at).unwrap_or_default().to_ascii_lowercase();
                    if is_sent(&name) {
                        flaws.push(flaw(What::Setting(name.clone()), at));
                    }
                    place.setting = Some(name);
                } else if is(at, "SETTINGS") && word(at + 1).is_some() && sign(at + 2, b'=') {
                    (place.settings, place.setting) = (Some(depth), None);
                } else if is(at, "FORMAT") && !is_name && is_format(&tokens, at, inserts) {
                    flaws.push(flaw(What::Format, at));
                    // What follows is data of an `INSERT`.
                    break;
                } else if is(at, "OUTFILE") && is(before, "INTO") {
                    flaws.push(flaw(What::ToFile, at));
                } else if is(at, "TOTALS") && is(before, "WITH") {
                    flaws.push(flaw(What::Totals, at));
                }
            }
            Kind::Parameter => {
                let Some((name, kind)) = cut::parameter(text, token.range.start) else { continue };
                let (Some(name), Some(written)) = (text.get(name), text.get(kind.clone())) else { continue };
                if written.eq_ignore_ascii_case("Identifier") {
                    flaws.push(flaw(What::Identifier(shown(name)), at));
                }
                judged.parameters.push(Parameter { name, kind: written, range: kind });
                flaws.extend(misplaced(&place).map(|what| flaw(what, at)));
            }
            // Placeholders in literals, too: the whole of the literal is a value then.
            Kind::Mark | Kind::Literal | Kind::Quoted => {
                let marked = text.get(token.range.clone()).is_some_and(|own| own.contains('\0'));
                if marked && token.range.clone().any(|byte| text.as_bytes().get(byte) == Some(&0) && is_callers(byte)) {
                    flaws.extend(misplaced(&place).map(|what| flaw(what, at)));
                }
            }
            Kind::Number | Kind::Sign(_) => {}
        }
    }
    Ok((judged, flaws))
}

/// What a value of the call must not decide.
fn misplaced(place: &Place) -> Option<What> {
    let setting = place.settings.and(place.setting.as_ref()).map(|name| What::SettingValue(shown(name)));
    setting.or_else(|| place.elsewhere.last().map(|(_, name)| What::Elsewhere(shown(name))))
}

/// Whether a word `FORMAT` begins the clause: the name of a format follows it, and then nothing but settings. In an `INSERT` data follow.
fn is_format(tokens: &[Token], at: usize, inserts: bool) -> bool {
    let kind = |at: usize| tokens.get(at).map(|token| token.kind);
    let named = matches!(kind(at + 1), Some(Kind::Word | Kind::Quoted));
    let ends = matches!(kind(at + 2), None | Some(Kind::Sign(b';' | b')')));
    named && (ends || inserts || matches!(kind(at + 2), Some(Kind::Word)) && matches!(kind(at + 4), Some(Kind::Sign(b'='))))
}

fn tokens(text: &str) -> Result<Vec<Token>, Flaw> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    loop {
        match cut::next(text, &mut at) {
            Ok(Some(token)) => tokens.push(token),
            Ok(None) => return Ok(tokens),
            Err(unclosed) => return Err(Flaw { what: What::Unclosed(unclosed.what), range: unclosed.at..unclosed.at + 1 }),
        }
    }
}
