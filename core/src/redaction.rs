//! Text that leaves for a caller or a log, with the secrets in it struck out.
//!
//! | a secret of | is struck out |
//! |---|---|
//! | 1 to 3 bytes | never: half of all words would be |
//! | 4 to 7 bytes | where it stands as a word; `true`, `false` and `null` are no secrets |
//! | 8 bytes or more | wherever it stands |
//!
//! Upper and lower case are the same in every script, and so are European letters whose marks are
//! characters of their own; so is a secret in percent codes, in the escapes of JSON, in base64 and
//! in hexadecimal digits. Beside a secret itself, what is told apart in it is struck out: a token
//! after its scheme, the password and the settings of a URL, cookies, long elements of a list or of
//! JSON.
//!
//! Millrace's own words stay. They are the same whatever the secrets are, so they tell nothing;
//! what is struck out of them does: a database's name that is gone from a sentence is its password.
//! So in a text of Millrace's, the words that it is made of stay (`redaction/own_words.rs`). Any
//! other secret is struck out there, too: values of others get into such texts.
//!
//! A log loses every longer run of a secret, too: half of it, but 8 bytes at the least and 16 at
//! the most. A caller's text loses whole secrets only. There a run would tell more than it hides: a
//! caller whose own words come back to it could send a guess and see whether it is struck out, and
//! so find a secret one byte at a time. A whole secret must be guessed as a whole.

use alloc::{borrow::Cow, string::String, vec::Vec};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD},
};

use crate::{
    Json, hex,
    sort::sort,
    url::{UrlParts, percent_decoded},
};

mod folding;
mod own_words;

use folding::folded;
use own_words::is_own;

/// What stands in the place of a secret.
const STRUCK: &str = "[secret]";
/// The shortest secret that is looked for.
const SHORTEST: usize = 4;
/// The shortest secret that is looked for within words.
const SHORTEST_ANYWHERE: usize = 8;
/// The longest run of a secret that a log may show is shorter than this.
const LONGEST_RUN: usize = 16;
/// The shortest piece of a list, of JSON or of a path that is taken for a secret of its own.
const SHORTEST_PIECE: usize = 16;
/// Every run of seven bytes has four that begin at a multiple of this.
const ANCHOR: usize = 4;
/// How often codes are undone: a URL within a URL has them twice.
const MOST_DECODED: usize = 2;
/// A hash has twelve bits.
const FILTER_WORDS: usize = 64;

/// Who reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The caller: whole secrets are struck out.
    Caller,
    /// The operator, in a log: long runs of secrets are, too.
    Operator,
}

/// Secrets, ready to be looked for.
#[derive(Default)]
pub struct Secrets {
    needles: Vec<Needle>,
    /// The first bytes of pieces, with the needle and the place in it, sorted.
    anchors: Vec<([u8; ANCHOR], u32, u32)>,
    /// A bit for each hash of an anchor: most places of a text are passed by one look.
    filter: Vec<u64>,
    longest: usize,
}

struct Needle {
    /// Normalised.
    bytes: Vec<u8>,
    manner: MatchMode,
}

/// How a needle is struck out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MatchMode {
    /// Where it stands as a word.
    Word,
    /// Wherever the whole of it stands.
    Whole,
    /// In logs its longer runs, too.
    Runs,
}

impl Secrets {
    /// Takes secrets as they are. They are found in other alphabets (base64, hexadecimal digits),
    /// too.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        Self::with(values, true)
    }

    /// The same without other alphabets: for what comes with each call, and is mostly long.
    pub fn plain<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        Self::with(values, false)
    }

    fn with<'a>(values: impl IntoIterator<Item = &'a str>, alphabets: bool) -> Self {
        let mut texts = Vec::new();
        for value in values {
            spell(value, alphabets, &mut texts);
        }
        let normalised = texts.iter().map(|(text, manner)| (View::of(text).bytes, *manner));
        let mut needles: Vec<(Vec<u8>, MatchMode)> = normalised.collect();
        sort(&mut needles);
        needles.dedup();
        let mut secrets = Self { longest: needles.iter().map(|(bytes, _)| bytes.len()).max().unwrap_or(0), ..Self::default() };
        for (bytes, manner) in needles {
            let number = u32::try_from(secrets.needles.len()).unwrap_or(u32::MAX);
            for (at, piece) in (0_u32..).step_by(ANCHOR).zip(bytes.as_chunks::<ANCHOR>().0) {
                secrets.anchors.push((*piece, number, at));
                let (word, bit) = place(*piece);
                secrets.filter.resize(FILTER_WORDS, 0);
                if let Some(word) = secrets.filter.get_mut(word) {
                    *word |= bit;
                }
            }
            secrets.needles.push(Needle { bytes, manner });
        }
        secrets.anchors.sort_unstable();
        secrets
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.needles.is_empty()
    }

    /// The places of secrets in a text, as ranges of bytes.
    fn find(&self, text: &str, reader: Reader, found: &mut Vec<(usize, usize)>) {
        if self.is_empty() {
            return;
        }
        let mut view = View::of(text);
        for _ in 0..=MOST_DECODED {
            self.look(&view, reader, found);
            match view.decoded() {
                Some(decoded) => view = decoded,
                None => break,
            }
        }
    }

    fn look(&self, view: &View, reader: Reader, found: &mut Vec<(usize, usize)>) {
        let text = view.bytes.as_slice();
        for at in 0..text.len().saturating_sub(ANCHOR - 1) {
            let Some(window) = text.get(at..).and_then(|rest| rest.first_chunk::<ANCHOR>()) else { return };
            let (word, bit) = place(*window);
            if self.filter.get(word).is_none_or(|word| word & bit == 0) {
                continue;
            }
            let first = self.anchors.partition_point(|(piece, ..)| piece < window);
            for (_, number, offset) in self.anchors.iter().skip(first).take_while(|(piece, ..)| piece == window) {
                let Some(needle) = self.needles.get(*number as usize) else { continue };
                if let Some((start, end)) = needle.run(text, at, *offset as usize, reader) {
                    found.push((view.place(start), view.place(end)));
                }
            }
        }
    }
}

/// Where the bit of an anchor is.
fn place(anchor: [u8; ANCHOR]) -> (usize, u64) {
    let hash = u32::from_le_bytes(anchor).wrapping_mul(0x9e37_79b1) >> 20;
    (hash as usize / 64, 1 << (hash % 64))
}

impl Needle {
    /// The run of the needle in a text around two places where both are the same, where it is to be
    /// struck out.
    fn run(&self, text: &[u8], at: usize, offset: usize, reader: Reader) -> Option<(usize, usize)> {
        let (before, after) = (text.get(..at)?, text.get(at..)?);
        let (left, right) = (self.bytes.get(..offset)?, self.bytes.get(offset..)?);
        let back = before.iter().rev().zip(left.iter().rev()).take_while(|(a, b)| a == b).count();
        let on = after.iter().zip(right).take_while(|(a, b)| a == b).count();
        let (start, end) = (at - back, at + on);
        let whole = self.bytes.len();
        let least = match (reader, self.manner) {
            (Reader::Operator, MatchMode::Runs) => (whole / 2).clamp(SHORTEST_ANYWHERE, LONGEST_RUN),
            _ => whole,
        };
        let is_part_of_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80);
        let stands_alone = || !is_part_of_word(before.get(..start).and_then(<[u8]>::last)) && !is_part_of_word(text.get(end));
        if end - start < least || (self.manner == MatchMode::Word && !stands_alone()) {
            return None;
        }
        // The blank before a token is not part of it.
        let blanks = text.get(start..end)?.iter().take_while(|byte| **byte == b' ').count();
        Some((start + blanks, end))
    }
}

/// Whose words a text is.
#[derive(Clone, Copy, Debug)]
pub enum Words<'w> {
    /// Somebody else's: a script's, a database's. It may have whole sentences of Millrace's in it,
    /// these.
    Foreign(&'w [String]),
    /// Millrace's own.
    Own,
}

impl Words<'_> {
    /// The places of Millrace's words in a text.
    fn own(self, text: &str) -> Vec<(usize, usize)> {
        match self {
            Self::Own => [(0, text.len())].into(),
            Self::Foreign(sentences) => sentences
                .iter()
                .filter(|sentence| !sentence.is_empty())
                .flat_map(|sentence| text.match_indices(sentence.as_str()).map(|(at, sentence)| (at, at + sentence.len())))
                .collect(),
        }
    }
}

/// A text without the secrets of several lists.
#[must_use]
pub fn strike<'t>(text: &'t str, words: Words<'_>, lists: &[&Secrets], reader: Reader) -> Cow<'t, str> {
    strike_within(text, words, lists, reader, usize::MAX)
}

/// The same, cut after `most` bytes of the text as it was. A secret that stands across the cut is
/// struck out.
#[must_use]
pub fn strike_within<'t>(text: &'t str, words: Words<'_>, lists: &[&Secrets], reader: Reader, most: usize) -> Cow<'t, str> {
    // A byte takes at most six characters (`\u0041`), and a code of a code three times as many.
    let longest = lists.iter().map(|secrets| secrets.longest).max().unwrap_or(0).saturating_mul(18);
    let seen = floor(text, most.saturating_add(longest));
    let end = floor(text, most);
    let mut found = Vec::new();
    for secrets in lists {
        secrets.find(text.get(..seen).unwrap_or(text), reader, &mut found);
    }
    if !found.is_empty() {
        let own = words.own(text);
        found.retain(|(start, stop)| {
            !(own.iter().any(|(first, last)| first <= start && stop <= last) && text.get(*start..*stop).is_some_and(is_own))
        });
    }
    if found.is_empty() && end == text.len() {
        return Cow::Borrowed(text);
    }
    sort(&mut found);
    let mut struck = String::with_capacity(end);
    let mut done = 0;
    for (start, stop) in found {
        let (start, stop) = (floor(text, start), ceil(text, stop));
        if start >= end {
            break;
        }
        // What begins within the last one belongs to it.
        if start >= done {
            struck.push_str(text.get(done..start).unwrap_or_default());
            struck.push_str(STRUCK);
        }
        done = done.max(stop);
    }
    struck.push_str(text.get(done..end).unwrap_or_default());
    if end < text.len() {
        struck.push('…');
    }
    Cow::Owned(struck)
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Case does not matter, and forms write a blank as a plus.
const fn normal(byte: u8) -> u8 {
    match byte {
        b'+' => b' ',
        byte => byte.to_ascii_lowercase(),
    }
}

/// A text as it is searched: normalised, codes undone, each byte with its place in the text.
struct View {
    bytes: Vec<u8>,
    /// Where each byte begins in the text, and the end; empty where every byte is at its own place.
    places: Vec<usize>,
}

impl View {
    fn of(text: &str) -> Self {
        Self { bytes: text.bytes().map(normal).collect(), places: Vec::new() }.folded()
    }

    /// With letters beyond ASCII, too, in one case.
    fn folded(self) -> Self {
        if self.bytes.is_ascii() {
            return self;
        }
        let mut folding = Self { bytes: Vec::with_capacity(self.bytes.len()), places: Vec::with_capacity(self.bytes.len() + 1) };
        folded(&self.bytes, |at, bytes| {
            folding.bytes.truncate(bytes.start);
            folding.places.truncate(bytes.start);
            folding.bytes.extend_from_slice(bytes.text);
            folding.places.resize(folding.bytes.len(), self.place(at));
        });
        folding.places.push(self.place(self.bytes.len()));
        folding
    }

    fn place(&self, at: usize) -> usize {
        self.places.get(at).copied().unwrap_or(at)
    }

    /// With percent codes and escapes undone once; `None` where there are none.
    fn decoded(&self) -> Option<Self> {
        if !self.bytes.iter().any(|byte| matches!(byte, b'%' | b'\\')) {
            return None;
        }
        let mut decoded = Self { bytes: Vec::with_capacity(self.bytes.len()), places: Vec::with_capacity(self.bytes.len() + 1) };
        let mut at = 0;
        while let Some(rest) = self.bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (character, length) = unescaped(rest);
            let mut buffer = [0; 4];
            let bytes = match &character {
                Ok(character) => character.encode_utf8(&mut buffer).as_bytes(),
                Err(byte) => core::slice::from_ref(byte),
            };
            for byte in bytes {
                decoded.bytes.push(normal(*byte));
                decoded.places.push(self.place(at));
            }
            at += length;
        }
        decoded.places.push(self.place(at));
        (decoded.bytes.len() != self.bytes.len()).then(|| decoded.folded())
    }
}

/// What the first bytes mean, as a character or as a byte, and how many they are.
fn unescaped(rest: &[u8]) -> (Result<char, u8>, usize) {
    let number = |digits: &[u8]| u32::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok();
    match rest {
        [b'%', high, low, ..] => match number(&[*high, *low]).and_then(|byte| u8::try_from(byte).ok()) {
            Some(byte) => (Err(byte), 3),
            None => (Err(b'%'), 1),
        },
        [b'\\', b'u', a, b, c, d, ..] => match number(&[*a, *b, *c, *d]).and_then(char::from_u32) {
            Some(character) => (Ok(character), 6),
            None => (Err(b'\\'), 1),
        },
        [b'\\', escaped, ..] => match escaped {
            b'n' => (Err(b'\n'), 2),
            b'r' => (Err(b'\r'), 2),
            b't' => (Err(b'\t'), 2),
            b'"' | b'\\' | b'/' => (Err(*escaped), 2),
            _ => (Err(b'\\'), 1),
        },
        [byte, ..] => (Err(*byte), 1),
        [] => (Err(0), 1),
    }
}

/// What is looked for because of one value: it, its pieces, and what both are in other alphabets.
fn spell(value: &str, alphabets: bool, texts: &mut Vec<(String, MatchMode)>) {
    let value = value.trim();
    let mut pieces = Vec::new();
    cut(value, &mut pieces);
    // A URL has the host in it, which is not a secret: an operator needs it to repair a connection.
    let manner = if value.contains("://") { MatchMode::Whole } else { MatchMode::Runs };
    for (piece, manner) in pieces.into_iter().map(|piece| (piece, MatchMode::Runs)).chain([(Cow::Borrowed(value), manner)]) {
        if piece.len() < SHORTEST || ["true", "false", "null"].iter().any(|word| piece.eq_ignore_ascii_case(word)) {
            continue;
        }
        if piece.len() < SHORTEST_ANYWHERE {
            texts.push((piece.into_owned(), MatchMode::Word));
            continue;
        }
        if alphabets {
            in_base64(&piece, manner, texts);
            texts.push((hex::encode(piece.as_bytes()), manner));
        }
        texts.push((piece.into_owned(), manner));
    }
}

/// The pieces of a value that are secrets by themselves.
fn cut<'v>(value: &'v str, pieces: &mut Vec<Cow<'v, str>>) {
    if let Some(url) = UrlParts::of(value) {
        return cut_url(url.scheme, url.after_scheme, pieces);
    }
    if value.starts_with(['{', '[']) {
        return serde_json::from_str(value).map(|json| cut_json(&json, pieces)).unwrap_or_default();
    }
    if let Some((scheme, token)) = value.split_once(' ').filter(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphabetic())) {
        let token = token.trim_start();
        pieces.push(token.into());
        if scheme.eq_ignore_ascii_case("basic")
            && let Some(pair) = STANDARD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        {
            pieces.extend(pair.split_once(':').map(|(_, password)| Cow::Owned(password.into())));
            pieces.push(pair.into());
        }
    }
    let elements = value.split([',', ';', ' ', '\n', '\r', '\t']).filter(|element| element.len() >= SHORTEST_PIECE);
    pieces.extend(elements.map(Cow::Borrowed));
    // Cookies, and settings written as `name=value`.
    let values = value.split(';').filter_map(|pair| Some(pair.split_once('=')?.1.trim_matches([' ', '"'])));
    pieces.extend(values.filter(|value| value.len() >= SHORTEST_ANYWHERE).map(Cow::Borrowed));
}

/// The schemes of databases, in whose URLs a user without a password is a user. In others it may be
/// a token.
const WITH_USERS: [&str; 8] = ["mariadb", "mongodb", "mongodb+srv", "mysql", "postgres", "postgresql", "redis", "rediss"];

/// The password, the longer settings and steps of the path.
fn cut_url<'v>(scheme: &str, rest: &'v str, pieces: &mut Vec<Cow<'v, str>>) {
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = before.split_at_checked(before.find('/').unwrap_or(before.len())).unwrap_or((before, ""));
    let has_users = WITH_USERS.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let login = authority.rsplit_once('@').and_then(|(login, _)| match login.split_once(':') {
        Some((_, password)) => Some(password),
        None => Some(login).filter(|_| !has_users),
    });
    let steps = path.split('/').filter(|step| step.len() >= SHORTEST_PIECE);
    let values = query.split('&').filter_map(|setting| setting.split_once('=')).map(|(_, value)| value);
    // `sslmode=require` is none.
    for piece in login.into_iter().chain(steps).chain(values.filter(|value| value.len() >= SHORTEST_ANYWHERE)) {
        pieces.extend(percent_decoded(piece).filter(|decoded| decoded != piece).map(Cow::Owned));
        pieces.push(piece.into());
    }
}

fn cut_json(json: &Json, pieces: &mut Vec<Cow<'_, str>>) {
    match json {
        Json::String(text) if text.len() >= SHORTEST_PIECE && !text.contains("://") => pieces.push(Cow::Owned(text.trim().into())),
        Json::Array(elements) => elements.iter().for_each(|element| cut_json(element, pieces)),
        Json::Object(members) => members.values().for_each(|member| cut_json(member, pieces)),
        _ => {}
    }
}

/// What of a text's base64 is the same whatever stands before and after it.
fn in_base64(piece: &str, manner: MatchMode, texts: &mut Vec<(String, MatchMode)>) {
    for before in 0..3_usize {
        let mut bytes = alloc::vec![0; before];
        bytes.extend(piece.bytes());
        let whole = bytes.len() * 4 / 3;
        let encoded = STANDARD_NO_PAD.encode(bytes);
        let Some(encoded) = encoded.get((before * 4).div_ceil(3)..whole).filter(|text| text.len() >= SHORTEST_ANYWHERE) else { continue };
        if encoded.contains(['+', '/']) {
            texts.push((encoded.replace('+', "-").replace('/', "_"), manner));
        }
        texts.push((encoded.into(), manner));
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use alloc::string::ToString as _;

    use super::*;

    const KEY: &str = "sk-live/9f+QzR7=tx42";

    fn struck(secrets: &[&str], text: &str, reader: Reader) -> String {
        strike(text, Words::Foreign(&[]), &[&Secrets::of(secrets.iter().copied())], reader).into_owned()
    }

    #[test]
    fn a_secret_is_found_however_it_is_written() {
        let percent = KEY.replace('/', "%2f").replace('+', "%2B").replace('=', "%3D");
        let json = "a\"quote\\and\nline";
        let table = [
            (KEY, KEY.to_string()),
            (KEY, KEY.to_uppercase()),
            (KEY, percent.clone()),
            (KEY, percent.replace('%', "%25")),
            (KEY, KEY.replace('/', "\\/").replace('=', "\\u003d")),
            ("pass phrase here", "pass+phrase%20here".to_string()),
            (json, serde_json::to_string(json).unwrap().trim_matches('"').to_string()),
            ("schlüssel-wort", "schl%C3%BCssel-wort".to_string()),
            (KEY, KEY.bytes().map(|byte| format!("{byte:02X}")).collect()),
        ];
        for (secret, written) in table {
            for reader in [Reader::Caller, Reader::Operator] {
                let text = format!("https://h/?key={written}&x=ü");
                assert_eq!(struck(&[secret], &text, reader), "https://h/?key=[secret]&x=ü", "{written}");
            }
        }
        for before in ["", "u", "us", "user:"] {
            let encoded = STANDARD.encode(format!("{before}{KEY}!"));
            let text = struck(&[KEY], &format!("Basic {encoded}"), Reader::Caller);
            assert!(text.contains("[secret]") && text.len() < 30, "{before}: {text}");
        }
    }

    #[test]
    fn letters_of_every_script_are_the_same_in_both_cases() {
        for (secret, written) in [
            ("passwört-grün-1234", "PASSWÖRT-GRÜN-1234"),
            ("passwört-grün-1234", "passwo\u{308}rt-gru\u{308}n-1234"),
            ("passwo\u{308}rt-gru\u{308}n-1234", "PASSWÖRT-GRÜN-1234"),
            ("schlüssel-wort", "SCHL%C3%9CSSEL-WORT"),
            ("schlüssel-wort", "schlu%CC%88ssel-wort"),
            ("schlüssel-wort", "schl\\u00DCssel-wort"),
            ("große-straße", "GROSSE-STRASSE"),
            ("große-straße", "GRO\u{1e9e}E-STRASSE"),
            ("GROSSE-STRASSE", "große-straße"),
            ("istanbul-ışık", "İSTANBUL-IŞIK"),
            ("İSTANBUL-IŞIK", "istanbul-ışık"),
            ("κωδικός-οδός", "ΚΩΔΙΚΌΣ-ΟΔΌΣ"),
            ("ΚΩΔΙΚΟΣ-ΟΔΟΣ", "κωδικος-οδος"),
            ("пароль-ёлка", "ПАРОЛЬ-ЁЛКА"),
            ("пароль-ёлка", "пароль-е\u{308}лка"),
            ("ﬁnanz-ﬂuss", "FINANZ-FLUSS"),
            ("ключ", "КЛЮЧ"),
            ("größe", "GRÖSSE"),
        ] {
            for reader in [Reader::Caller, Reader::Operator] {
                let text = format!("ä: {written}, ö\u{308} ß");
                assert_eq!(struck(&[secret], &text, reader), "ä: [secret], ö\u{308} ß", "{secret} {written}");
            }
        }
        // A word is one in every script, too.
        assert_eq!(struck(&["größe"], "Übergröße, größer", Reader::Operator), "Übergröße, größer");
    }

    #[test]
    fn millrace_s_own_words_stay() {
        let secrets = ["postgres", "password", "mongodb", "sslmode", "Postgres-Secret-1", "postgres://user:password@host:5432/db"];
        let secrets = Secrets::of(secrets);
        let own = [
            "PostgreSQL does not understand the statement: a table is missing.",
            "MongoDB at `127.0.0.1:1` does not accept the password",
            "`sslmode` of connector `postgres` is set more than once: use `postgres://user:password@host:port/database`",
        ];
        for reader in [Reader::Caller, Reader::Operator] {
            let struck = |text: &str, words: Words<'_>| strike(text, words, &[&secrets], reader).into_owned();
            for text in own {
                assert_eq!(struck(text, Words::Own), text);
                assert!(struck(text, Words::Foreign(&[])).contains(STRUCK), "{text}");
                let known = [text.to_string()];
                let foreign = format!("threw: {text} (user postgres)");
                assert_eq!(struck(&foreign, Words::Foreign(&known)), format!("threw: {text} (user [secret])"));
            }
            // What is no word is not Millrace's, whoever says it.
            assert_eq!(struck("a postgres-secret-1 b", Words::Own), "a [secret] b");
            assert_eq!(struck("%70ostgres", Words::Own), STRUCK);
        }
    }

    #[test]
    fn short_values_do_not_blank_everything() {
        let table = [
            ("eu", "the eu is not europe"),
            ("1", "1 of 10"),
            ("true", "that is true"),
            ("prod", "a product, not [secret]; (produce) un-[secret]"),
        ];
        for (secret, expected) in table {
            let text = expected.replace("[secret]", secret);
            assert_eq!(struck(&[secret], &text, Reader::Caller), expected);
            assert_eq!(struck(&[secret], &text, Reader::Operator), expected);
        }
        assert_eq!(struck(&["", "  "], "a  b", Reader::Operator), "a  b");
    }

    #[test]
    fn what_is_a_secret_in_a_longer_value() {
        let table = [
            ("Bearer tok-secret-4444", "bad token tok-secret-4444", "bad token [secret]"),
            ("Basic dXNlcjpodW50ZXIyLXB3", "hunter2-pw of user", "[secret] of user"),
            ("a=b; sid=0123456789abcdef", "sid 0123456789abcdef", "sid [secret]"),
            (
                "postgres://app:p%40ss-word@db.internal.example:5432/shop",
                "p@ss-word at db.internal.example",
                "[secret] at db.internal.example",
            ),
            ("https://h.example/a?api_key=key-of-query", "key-of-query", "[secret]"),
            ("https://hooks.example/services/T0001/aaaabbbbccccdddd", "/services/T0001/aaaabbbbccccdddd", "/services/T0001/[secret]"),
            ("aaaabbbbccccdddd,eeeeffffgggghhhh", "eeeeffffgggghhhh", "[secret]"),
            (r#"{"id": "short", "private_key": "--key--\nline-of-a-key"}"#, "--key--\nline-of-a-key short", "[secret] short"),
        ];
        for (secret, text, expected) in table {
            assert_eq!(struck(&[secret], text, Reader::Caller), expected, "{secret}");
            assert_eq!(struck(&[secret], text, Reader::Operator), expected, "{secret}");
        }
    }

    #[test]
    fn a_log_loses_long_runs_and_a_caller_learns_nothing_by_them() {
        let secret = "0123456789abcdefghijklmnopqrstuv";
        for length in 1..=secret.len() {
            let run = secret.get(secret.len() - length..).unwrap();
            assert_eq!(struck(&[secret], &format!("<{run}>"), Reader::Operator) == "<[secret]>", length >= 16, "{run}");
            assert_eq!(struck(&[secret], &format!("<{run}>"), Reader::Caller) == "<[secret]>", length == secret.len(), "{run}");
        }
        // Two runs of one secret, and two secrets that overlap.
        assert_eq!(struck(&["abcdefghijklmnop"], "abcdefgh ijklmnop", Reader::Operator), "[secret] [secret]");
        assert_eq!(struck(&["abcdefghij", "fghijklmno"], "-abcdefghijklmno-", Reader::Caller), "-[secret]-");
    }

    #[test]
    fn a_cut_leaves_no_part_of_a_secret() {
        let secrets = Secrets::of([KEY]);
        let text = format!("{}{KEY} and more", "é".repeat(10));
        for most in 0..text.len() {
            let cut = strike_within(&text, Words::Foreign(&[]), &[&secrets], Reader::Caller, most);
            assert!(!cut.contains("sk"), "{most}: {cut}");
            assert!(cut.ends_with('…') && cut.len() <= most + STRUCK.len() + 3, "{most}: {cut}");
        }
        assert_eq!(
            strike_within(&text, Words::Foreign(&[]), &[&secrets], Reader::Caller, text.len()),
            format!("{}[secret] and more", "é".repeat(10))
        );
        assert!(matches!(strike("nothing", Words::Foreign(&[]), &[&secrets], Reader::Caller), Cow::Borrowed("nothing")));
    }

    #[test]
    fn any_secret_in_any_text_is_gone() {
        use proptest::prelude::*;
        proptest!(|(secret in "[ -~]{8,40}", before in "\\PC{0,20}", after in "\\PC{0,20}")| {
            let secret = secret.trim();
            prop_assume!(secret.len() >= 8 && !before.contains(secret) && !after.contains(secret) && !"[secret]".contains(secret));
            let text = format!("{before}{secret}{after}");
            for reader in [Reader::Caller, Reader::Operator] {
                prop_assert!(!struck(&[secret], &text, reader).contains(secret));
            }
        });
    }
}
