//! Letters in one case and one form, whatever script they are of.

/// Letters with a mark, by the mark: what stands before it, and both as one character. Those that
/// European languages have; what else is written in two ways is told apart.
const COMPOSED: [(char, &str, &str); 15] = [
    ('\u{300}', "aeioun", "àèìòùǹ"),
    ('\u{301}', "aeiouycnszlrgαεηιουωгк", "áéíóúýćńśźĺŕǵάέήίόύώѓќ"),
    ('\u{302}', "aeiouywcghjsz", "âêîôûŷŵĉĝĥĵŝẑ"),
    ('\u{303}', "anoiuey", "ãñõĩũẽỹ"),
    ('\u{304}', "aeiouy", "āēīōūȳ"),
    ('\u{306}', "aegiouиу", "ăĕğĭŏŭйў"),
    // The upper case of `i` in Turkish is one letter, and in lower case two.
    ('\u{307}', "icegz", "iċėġż"),
    ('\u{308}', "aeiouyеіιυ", "äëïöüÿёїϊϋ"),
    ('\u{30a}', "au", "åů"),
    ('\u{30b}', "ou", "őű"),
    ('\u{30c}', "cdenrstzagilou", "čďěňřšťžǎǧǐľǒǔ"),
    ('\u{326}', "st", "șț"),
    ('\u{327}', "cstgklnr", "çşţģķļņŗ"),
    ('\u{328}', "aeiuo", "ąęįųǫ"),
    ('\u{31b}', "ou", "ơư"),
];

/// Folded text, and the place in all that was folded so far from which on it stands: a mark changes
/// the letter before it.
pub(super) struct Folded<'f> {
    pub(super) start: usize,
    pub(super) text: &'f [u8],
}

/// Folds bytes, which need not be text, and shows each piece with the place where it begins in the
/// bytes.
pub(super) fn folded(bytes: &[u8], mut show: impl FnMut(usize, Folded<'_>)) {
    let (mut at, mut length) = (0, 0);
    // The letter before, and where it begins in the bytes and in what is folded.
    let mut before: Option<(char, usize, usize)> = None;
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            each(character, &mut |letter| {
                let composed = before.take().and_then(|(known, begins, start)| Some((compose(known, letter)?, begins, start)));
                let (letter, begins, start) = composed.unwrap_or((letter, at, length));
                let mut buffer = [0; 4];
                let text = letter.encode_utf8(&mut buffer).as_bytes();
                length = start + text.len();
                show(begins, Folded { start, text });
                before = Some((letter, begins, start));
            });
            at += character.len_utf8();
        }
        for byte in chunk.invalid() {
            show(at, Folded { start: length, text: core::slice::from_ref(byte) });
            (at, length, before) = (at + 1, length + 1, None);
        }
    }
}

/// The characters of a character without its case: in capitals and back, because `ß` is `SS` there,
/// and `ς` is `Σ`.
fn each(character: char, show: &mut dyn FnMut(char)) {
    if character.is_ascii() {
        return show(character.to_ascii_lowercase());
    }
    for lower in character.to_lowercase() {
        for upper in lower.to_uppercase() {
            upper.to_lowercase().for_each(&mut *show);
        }
    }
}

/// A letter and the mark after it as one character.
fn compose(letter: char, mark: char) -> Option<char> {
    if !('\u{300}'..='\u{36f}').contains(&mark) {
        return None;
    }
    let (_, letters, composed) = COMPOSED.iter().find(|(known, ..)| *known == mark)?;
    let place = letters.chars().position(|known| known == letter)?;
    composed.chars().nth(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        for (mark, letters, composed) in COMPOSED {
            assert_eq!(letters.chars().count(), composed.chars().count(), "{mark:?}");
            for letter in letters.chars().chain(composed.chars()) {
                let mut found = None;
                each(letter, &mut |character| found = Some(character));
                assert_eq!(found, Some(letter), "in one case");
            }
        }
    }
}
