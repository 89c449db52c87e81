//! One class of characters, decided by the engine that knows the tables: on a text of one character it cannot backtrack.

use std::cell::Cell;

use millrace_pattern::Flags;
use regress::Regex;

/// How many characters beyond Latin-1 are remembered.
const FAR: usize = 64;

pub(super) struct Set {
    regex: Regex,
    full_unicode: bool,
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
        let options = regress::Flags { icase: ignore_case, multiline, dot_all, no_opt: false, unicode: flags.full_unicode(), unicode_sets };
        let regex = Regex::from_unicode(text.iter().copied(), options).ok()?;
        let none = || [const { Cell::new(0) }; 4];
        Some(Self { regex, full_unicode: flags.full_unicode(), asked: none(), answers: none(), far: [const { Cell::new(0) }; FAR] })
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
