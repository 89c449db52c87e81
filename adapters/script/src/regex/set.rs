//! One class of characters, decided by the engine that knows the tables: on a text of one character it cannot backtrack.

use std::{cell::Cell, collections::HashMap};

use millrace_pattern::Flags;
use regress::Regex;

/// How many characters beyond Latin-1 are remembered.
const FAR: usize = 64;

pub(super) struct Set {
    regex: Regex,
    full_unicode: bool,
    /// Where case is ignored without `u`, that is decided here: the tables of the engine are those of `u`. Whether the class is negated.
    ignores_case: Option<bool>,
    /// What was asked of Latin-1, a bit for each: whether it was, and the answer.
    asked: [Cell<u64>; 4],
    answers: [Cell<u64>; 4],
    /// Of others, the last one at its place: the character, the answer, and a bit that says that there is one.
    far: [Cell<u32>; FAR],
}

impl Set {
    /// `None`: it is not valid.
    pub(super) fn new(text: &[u32], flags: Flags) -> Option<Self> {
        let Flags { ignore_case, multiline, dot_all, unicode_sets, .. } = flags;
        let ignores_case = (ignore_case && !flags.full_unicode()).then(|| text.starts_with(&[u32::from('['), u32::from('^')]));
        let icase = ignore_case && ignores_case.is_none();
        let options = regress::Flags { icase, multiline, dot_all, no_opt: false, unicode: flags.full_unicode(), unicode_sets };
        let regex = Regex::from_unicode(text.iter().copied(), options).ok()?;
        let none = || [const { Cell::new(0) }; 4];
        let full_unicode = flags.full_unicode();
        Some(Self { regex, full_unicode, ignores_case, asked: none(), answers: none(), far: [const { Cell::new(0) }; FAR] })
    }

    /// Whether it has the character.
    pub(super) fn has(&self, char: u32) -> bool {
        let Some((place, bit)) = (char < 256).then_some(((char / 64) as usize, 1 << (char % 64))) else {
            let cell = &self.far[char as usize % FAR];
            if cell.get() >> 2 != char || cell.get() & 1 == 0 {
                cell.set(char << 2 | u32::from(self.ask(char)) << 1 | 1);
            }
            return cell.get() & 2 != 0;
        };
        if self.asked[place].get() & bit == 0 {
            self.asked[place].set(self.asked[place].get() | bit);
            if self.ask(char) {
                self.answers[place].set(self.answers[place].get() | bit);
            }
        }
        self.answers[place].get() & bit != 0
    }

    fn ask(&self, char: u32) -> bool {
        match self.ignores_case {
            None => self.ask_exactly(char),
            Some(false) => cases(char).iter().any(|char| self.ask_exactly(*char)),
            Some(true) => cases(char).iter().all(|char| self.ask_exactly(*char)),
        }
    }

    fn ask_exactly(&self, char: u32) -> bool {
        let mut buffer = [0; 2];
        let units: &[u16] = match char::from_u32(char) {
            Some(char) => char.encode_utf16(&mut buffer),
            None => {
                buffer[0] = u16::try_from(char).unwrap_or_default();
                &buffer[..1]
            }
        };
        let found = match self.full_unicode {
            true => self.regex.find_from_utf16(units, 0).next(),
            false => self.regex.find_from_ucs2(units, 0).next(),
        };
        found.is_some_and(|found| found.range == (0..units.len()))
    }
}

thread_local! {
    /// The units beyond ASCII that are the same without regard to case, by what they all become. Made where it is needed.
    static CASES: HashMap<u32, Vec<u32>> = {
        let mut cases: HashMap<u32, Vec<u32>> = HashMap::new();
        for unit in 0x80..=0xFFFF {
            cases.entry(upper(unit)).or_default().push(unit);
        }
        cases.retain(|_, units| units.len() > 1);
        cases
    };
}

/// The canonical form of a unit without `u`: its upper case, where that is one unit and does not become ASCII.
fn upper(unit: u32) -> u32 {
    let Some(char) = char::from_u32(unit) else { return unit };
    let mut upper = char.to_uppercase();
    match (upper.next().map(u32::from), upper.next()) {
        (Some(upper), None) if upper <= 0xFFFF && (upper >= 0x80 || unit < 0x80) => upper,
        _ => unit,
    }
}

/// All units that are the same as this without regard to case.
fn cases(unit: u32) -> Vec<u32> {
    match u8::try_from(unit) {
        Ok(letter) if letter.is_ascii_alphabetic() => vec![letter.to_ascii_lowercase().into(), letter.to_ascii_uppercase().into()],
        Ok(other) if other.is_ascii() => vec![unit],
        _ => CASES.with(|cases| cases.get(&upper(unit)).cloned()).unwrap_or_else(|| vec![unit]),
    }
}
