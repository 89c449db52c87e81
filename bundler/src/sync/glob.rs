//! Patterns of keys: `invoices.*`, `reports.**`. `*` is one segment between dots, `**` any number
//! of them, none included.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use crate::{compiler::Compiler, source::Source, yaml::Node};

/// A pattern of keys, and where its author wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Glob {
    pub(crate) text: String,
    segments: Vec<Segment>,
    pub(crate) source: Arc<Source>,
    pub(crate) range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Word(String),
    One,
    Any,
}

/// The most segments of a pattern or a key.
const MOST_SEGMENTS: usize = 32;

/// Whether a text is a segment of a key.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Whether a text is a key: `invoices.list`.
pub(super) fn is_key(text: &str) -> bool {
    text.len() <= 200 && text.split('.').all(is_word) && text.split('.').count() <= MOST_SEGMENTS
}

impl Glob {
    /// Reads a pattern; `None` where it is wrong, which is noted.
    pub(super) fn read(compiler: &mut Compiler<'_>, source: &Arc<Source>, node: &Node) -> Option<Self> {
        let text = node.text()?.to_owned();
        let segment = |text: &str| match text {
            "*" => Some(Segment::One),
            "**" => Some(Segment::Any),
            text => is_word(text).then(|| Segment::Word(text.to_owned())),
        };
        let segments: Option<Vec<Segment>> = text.split('.').map(segment).collect();
        let Some(segments) = segments.filter(|segments| segments.len() <= MOST_SEGMENTS && text.len() <= 200) else {
            let help = "Write segments with dots between them, as in `invoices.*`: `*` is one whole segment, `**` any number of them.";
            compiler.findings.error(source, node.range.clone(), format!("`{text}` is not a pattern of keys"), help);
            return None;
        };
        Some(Self { text, segments, source: Arc::clone(source), range: node.range.clone() })
    }

    /// Whether a key fits.
    pub(super) fn matches(&self, key: &str) -> bool {
        let words = key.split('.').fold(self.start(), |places, word| self.after(&places, Some(word)));
        words.contains(&self.segments.len())
    }

    /// Whether every key that fits `other` fits this one, too.
    pub(super) fn covers(&self, other: &Self) -> bool {
        // Any word that neither of them names stands for all of those.
        let named: BTreeSet<&str> = [&self.segments, &other.segments]
            .into_iter()
            .flatten()
            .filter_map(|segment| if let Segment::Word(word) = segment { Some(word.as_str()) } else { None })
            .collect();
        let alphabet: Vec<Option<&str>> = named.into_iter().map(Some).chain([None]).collect();
        let mut seen = BTreeSet::new();
        let mut left = vec![(other.start(), self.start())];
        while let Some((theirs, ours)) = left.pop() {
            if theirs.contains(&other.segments.len()) && !ours.contains(&self.segments.len()) {
                return false;
            }
            for word in &alphabet {
                let next = (other.after(&theirs, *word), self.after(&ours, *word));
                if !next.0.is_empty() && seen.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
        true
    }

    /// The places of the pattern before the first word.
    fn start(&self) -> BTreeSet<usize> {
        self.past_any([0].into())
    }

    /// The places after one more word; `None` is a word that no pattern names.
    fn after(&self, places: &BTreeSet<usize>, word: Option<&str>) -> BTreeSet<usize> {
        let mut after = BTreeSet::new();
        for place in places {
            match self.segments.get(*place) {
                Some(Segment::Word(own)) if Some(own.as_str()) == word => drop(after.insert(place + 1)),
                Some(Segment::One) => drop(after.insert(place + 1)),
                Some(Segment::Any) => drop(after.insert(*place)),
                Some(Segment::Word(_)) | None => {}
            }
        }
        self.past_any(after)
    }

    /// With those that are reached without a word.
    fn past_any(&self, mut places: BTreeSet<usize>) -> BTreeSet<usize> {
        for place in 0..self.segments.len() {
            if places.contains(&place) && self.segments[place] == Segment::Any {
                places.insert(place + 1);
            }
        }
        places
    }
}

/// The patterns that fit none of the keys, each place once.
pub(super) fn without_match<'a>(globs: impl Iterator<Item = &'a Glob>, keys: &BTreeSet<&str>) -> Vec<Glob> {
    let unmatched = globs.filter(|glob| !keys.iter().any(|key| glob.matches(key)));
    let by_place: BTreeMap<(String, usize), Glob> =
        unmatched.map(|glob| ((glob.source.path.clone(), glob.range.start), glob.clone())).collect();
    by_place.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> Glob {
        let segments = text
            .split('.')
            .map(|segment| match segment {
                "*" => Segment::One,
                "**" => Segment::Any,
                word => Segment::Word(word.to_owned()),
            })
            .collect();
        Glob { text: text.to_owned(), segments, source: Arc::new(Source::new("x", "")), range: 0..0 }
    }

    #[test]
    fn keys_fit_patterns() {
        let cases = [
            ("a.b", "a.b", true),
            ("a.b", "a.b.c", false),
            ("a.*", "a.b", true),
            ("a.*", "a", false),
            ("a.*", "a.b.c", false),
            ("a.**", "a", true),
            ("a.**", "a.b.c", true),
            ("**", "a", true),
            ("**.c", "a.b.c", true),
            ("**.c", "c", true),
            ("**.c", "c.d", false),
            ("a.**.d", "a.b.c.d", true),
            ("a.**.*.d", "a.d", false),
            ("*.*", "a", false),
        ];
        for (pattern, key, expected) in cases {
            assert_eq!(glob(pattern).matches(key), expected, "{pattern} {key}");
        }
    }

    #[test]
    fn patterns_cover_patterns() {
        let cases = [
            ("a.*", "a.b", true),
            ("a.b", "a.*", false),
            ("**", "a.*", true),
            ("a.**", "a.*", true),
            ("a.*", "a.**", false),
            ("**.b", "a.*.b", true),
            ("*.b", "*.*", false),
            ("a.**.b", "a.b", true),
            ("**.**", "**", true),
            ("*.**", "**", false),
            ("*.**", "**.*", true),
            ("a.*", "b.*", false),
            ("a.*", "a.*", true),
        ];
        for (one, other, expected) in cases {
            assert_eq!(glob(one).covers(&glob(other)), expected, "{one} {other}");
        }
    }
}
