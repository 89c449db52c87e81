//! `pattern`: regular expressions, compiled at their first use and kept. The engine is linear in the length of the text, so no pattern
//! can stop a host.

use alloc::{format, rc::Rc, string::String};
use core::cell::RefCell;

use hashbrown::HashMap;
use regex::Regex;
use rustc_hash::FxBuildHasher;

use crate::fault::{Fault, Faulty, Stage};

/// The compiled patterns of an app, by their text.
#[derive(Default)]
pub(in crate::pipeline) struct Patterns(RefCell<HashMap<String, Rc<Regex>, FxBuildHasher>>);

impl Patterns {
    /// Whether the text contains a match.
    ///
    /// # Errors
    /// `CONFIGURATION` for a pattern that does not compile, which the bundler lets through in no app.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> Faulty<bool> {
        let known = self.0.borrow().get(pattern).map(Rc::clone);
        let regex = match known {
            Some(regex) => regex,
            None => self.compile(pattern)?,
        };
        Ok(regex.is_match(text))
    }

    fn compile(&self, pattern: &str) -> Faulty<Rc<Regex>> {
        let regex = Rc::new(Regex::new(pattern).map_err(|error| {
            Fault::new(Stage::Validate, "CONFIGURATION", format!("The pattern `{pattern}` of this tool cannot be used."))
                .suggesting("Only the author of this tool can mend this: calling it again does not help.")
                .logging(format!("{error}"))
        })?);
        self.0.borrow_mut().insert(pattern.into(), Rc::clone(&regex));
        Ok(regex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_searched_and_kept() {
        let patterns = Patterns::default();
        for (pattern, text, expected) in [
            ("^inv_[a-z0-9]+$", "inv_1", true),
            ("^inv_[a-z0-9]+$", "inv_1\n", false),
            ("b", "abc", true),
            (r"^\w+$", "größe", true),
            (r"^\d+$", "x", false),
            ("(?i)^größe$", "GRÖSSE", false),
            ("(?i)^größe$", "GRÖßE", true),
            (r"^\p{Greek}\p{Lu}$", "αΩ", true),
            ("^(a+)+$", &"a".repeat(5_000), true),
        ] {
            assert_eq!(patterns.matches(pattern, text), Ok(expected), "{pattern}");
        }
        assert_eq!(patterns.0.borrow().len(), 7);
        assert_eq!(patterns.matches("(", "x").unwrap_err().code, "CONFIGURATION");
    }
}
