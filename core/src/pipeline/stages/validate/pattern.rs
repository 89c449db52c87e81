//! `pattern`: regular expressions, made ready at their first use and kept.

use alloc::{format, rc::Rc, string::String};
use core::cell::RefCell;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::{
    app::{Matcher, Pattern},
    expression,
    fault::{Fault, FaultResult, Stage},
};

/// The patterns of an app that were used, by their text.
#[derive(Default)]
pub(in crate::pipeline) struct Patterns(RefCell<HashMap<String, Rc<Matcher>, FxBuildHasher>>);

impl Patterns {
    /// Whether the text contains a match.
    ///
    /// # Errors
    /// `CONFIGURATION` for a pattern that cannot be made ready, which the bundler lets through in
    /// no app.
    pub(super) fn matches(&self, pattern: &Pattern, text: &str) -> FaultResult<bool> {
        let known = self.0.borrow().get(pattern.text()).map(Rc::clone);
        let matcher = match known {
            Some(matcher) => matcher,
            None => self.ready(pattern)?,
        };
        Ok(matcher.matches(text))
    }

    fn ready(&self, pattern: &Pattern) -> FaultResult<Rc<Matcher>> {
        let matcher = Rc::new(pattern.matcher().map_err(|error| {
            Fault::new(Stage::Validate, "CONFIGURATION", format!("The pattern `{}` of this tool cannot be used.", pattern.text()))
                .suggesting("Only the author of this tool can fix this: calling it again does not help.")
                .by_author()
                .logging(format!("{error}"))
        })?);
        self.0.borrow_mut().insert(pattern.text().into(), Rc::clone(&matcher));
        Ok(matcher)
    }
}

impl expression::Patterns for Patterns {
    fn contains_match(&self, pattern: &Pattern, text: &str) -> Option<bool> {
        self.matches(pattern, text).ok()
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn patterns_are_searched_and_kept() {
        let patterns = Patterns::default();
        let matches = |pattern: &str, text: &str| patterns.matches(&Pattern::parse(pattern).unwrap(), text);
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
            assert_eq!(matches(pattern, text), Ok(expected), "{pattern}");
        }
        assert_eq!(patterns.0.borrow().len(), 7);
        let huge = matches(r"\w{5000}{50}", "x").unwrap_err();
        assert_eq!((huge.code.to_string().as_str(), huge.message.contains("cannot be used")), ("CONFIGURATION", true));
    }
}
