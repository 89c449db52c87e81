//! What the surroundings of a value ask for: one parameter for each element, an array, a type.

use millrace_core::app::{InputKind, Part};
use millrace_languages::Lists;

use super::{
    super::{error, lex::Kind, problem::warning, source::Value},
    Lowering, PlaceholderName, Slot,
};

impl Lowering<'_> {
    /// `IN ({{ inputs.ids }})`
    pub(super) fn list(&self, token: usize, value: &Value<'_>) -> Option<Part> {
        let kind = match (value.elements, value.kind) {
            (Some(elements), _) => elements,
            // Only the call knows whether this is a list; a single value is a list of one.
            (None, None | Some(InputKind::Json)) => None,
            (None, Some(_)) => return None,
        };
        let is_list = self.is_alone_after(token, &["IN"]) || self.dialect.facts().has_bracketed_lists && self.is_alone_in_brackets(token);
        if !is_list || self.dialect.facts().lists == Lists::Array {
            return None;
        }
        let empty = (self.dialect.facts().empty)(kind, self.compared_column(token).as_deref());
        Some(Part::BindEach { source: value.source.clone(), kind, empty })
    }

    /// Whether only the call knows whether this is a list, `IN ({{ ctx.ids }})`; a single value is
    /// a list of one.
    pub(super) fn may_be_list(&self, token: usize, value: &Value<'_>) -> bool {
        matches!(value.kind, None | Some(InputKind::Json)) && self.is_alone_after(token, &["IN"])
    }

    /// Whether a list stands at `IN` in a way that cannot be expanded; reported.
    pub(super) fn is_refused_list(&mut self, token: usize, value: &Value<'_>, slot: &Slot) -> bool {
        let before = self.tokens.before(token);
        let in_list = self.tokens.opening(token).is_some_and(|opening| self.tokens.is_word(self.tokens.before(opening), "IN"))
            && (self.tokens.is_sign(before, b'(') || self.tokens.is_sign(before, b','))
            && value.elements.is_some();
        let without_parentheses = self.tokens.is_word(before, "IN");
        if !in_list && !without_parentheses || in_list && self.dialect.facts().lists == Lists::Array && self.is_alone_after(token, &["IN"])
        {
            return false;
        }
        let message = if without_parentheses { "follows `IN` without parentheses" } else { "is a list beside other values of `IN`" };
        let help = format!("write `IN ({})`; join further values with `OR`", slot.label);
        self.done.problems.push(error(slot.place.clone(), format!("`{}` {message}", slot.label), &help));
        true
    }

    /// Whether a token is all that is between the parentheses after one of `words`.
    pub(super) fn is_alone_after(&self, token: usize, words: &[&str]) -> bool {
        let before = self.tokens.before(token);
        self.tokens.is_sign(before, b'(')
            && self.tokens.is_sign(self.tokens.after(token), b')')
            && self.tokens.is_any_word(before.and_then(|open| self.tokens.before(open)), words)
    }

    /// `IN [{{ inputs.ids }}]`
    fn is_alone_in_brackets(&self, token: usize) -> bool {
        let before = self.tokens.before(token);
        self.tokens.is_sign(before, b'[')
            && self.tokens.is_sign(self.tokens.after(token), b']')
            && self.tokens.is_word(before.and_then(|open| self.tokens.before(open)), "IN")
    }

    /// Whether PostgreSQL takes an array of its own here: `ANY({{ inputs.ids }})`,
    /// `{{ inputs.ids }}::int[]`, `tags && {{ inputs.tags }}`.
    pub(super) fn takes_array(&self, token: usize) -> bool {
        let colons = self.tokens.after(token).filter(|&at| self.tokens.text(at) == "::");
        let mut last = colons.and_then(|colons| self.tokens.after(colons));
        while let Some(next) = last.and_then(|at| self.tokens.after(at)).filter(|&at| self.tokens.word(Some(at)).is_some()) {
            last = Some(next);
        }
        let cast = last.is_some_and(|at| self.tokens.is_sign(self.tokens.after(at), b'['));
        cast || self.is_alone_after(token, &["ANY", "SOME", "ALL"])
            || self.takes_any_elements(token)
            || self.overlaps(token)
            || (self.tokens.is_sign(self.tokens.before(token), b'(') && self.takes_any_array(token))
    }

    /// A function of arrays of any type, which PostgreSQL could not find out.
    pub(super) fn takes_any_elements(&self, token: usize) -> bool {
        const FIRST: &[&str] =
            &["ARRAY_LENGTH", "ARRAY_NDIMS", "ARRAY_DIMS", "ARRAY_UPPER", "ARRAY_LOWER", "ARRAY_TO_STRING", "ARRAY_TO_JSON"];
        let open = self.tokens.before(token).filter(|&open| self.tokens.is_sign(Some(open), b'('));
        let ends = [b',', b')'].into_iter().any(|sign| self.tokens.is_sign(self.tokens.after(token), sign));
        let is_first = ends && open.is_some_and(|open| self.tokens.is_any_word(self.tokens.before(open), FIRST));
        is_first || self.tokens.is_word(self.tokens.before(token), "VARIADIC") || self.is_alone_after(token, &["UNNEST", "CARDINALITY"])
    }

    /// Whether one side of `&&`, which no JSON document can be.
    fn overlaps(&self, token: usize) -> bool {
        let (before, after) = (self.tokens.before(token), self.tokens.after(token));
        let sign = |at: Option<usize>| self.tokens.is_sign(at, b'&');
        sign(before) && sign(before.and_then(|at| self.tokens.before(at)))
            || sign(after) && sign(after.and_then(|at| self.tokens.after(at)))
    }

    /// `ANY({{ inputs.ids }}::int[])` is covered by its cast; this is
    /// `CAST({{ inputs.ids }} AS int[])`.
    fn takes_any_array(&self, token: usize) -> bool {
        let open = self.tokens.before(token);
        let r#as = self.tokens.after(token);
        if !self.tokens.is_word(open.and_then(|open| self.tokens.before(open)), "CAST") || !self.tokens.is_word(r#as, "AS") {
            return false;
        }
        let mut at = r#as;
        while let Some(next) = at.and_then(|at| self.tokens.after(at)) {
            if self.tokens.is_sign(Some(next), b'[') {
                return true;
            }
            if self.tokens.is_sign(Some(next), b')') {
                return false;
            }
            at = Some(next);
        }
        false
    }

    /// The column before `IN (`, where nothing but a column is compared.
    fn compared_column(&self, token: usize) -> Option<String> {
        let word = self.tokens.before(self.tokens.before(token)?)?;
        let mut last = self.tokens.before(word)?;
        if self.tokens.is_word(Some(last), "NOT") {
            last = self.tokens.before(last)?;
        }
        let is_name = |at: usize| matches!(self.tokens.all[at].kind, Kind::Word | Kind::Quoted) && !self.tokens.has_marks(at);
        let mut first = last;
        loop {
            if !is_name(first) {
                return None;
            }
            let Some(dot) = self.tokens.before(first).filter(|&at| self.tokens.is_sign(Some(at), b'.')) else { break };
            first = self.tokens.before(dot)?;
        }
        let starts = self.tokens.is_any_word(self.tokens.before(first), &["WHERE", "AND", "OR", "NOT", "ON", "WHEN", "HAVING"])
            || self.tokens.is_sign(self.tokens.before(first), b'(');
        let column = (first..=last)
            .filter(|&at| !matches!(self.tokens.all[at].kind, Kind::Space | Kind::Comment { .. }))
            .map(|at| self.tokens.text(at));
        starts.then(|| column.collect())
    }

    /// Whether PostgreSQL could not find out the type of a parameter here.
    pub(super) fn needs_type(&self, token: usize) -> bool {
        const OF_ANY_TYPE: &[&str] = &[
            "CONCAT",
            "CONCAT_WS",
            "FORMAT",
            "JSON_BUILD_ARRAY",
            "JSON_BUILD_OBJECT",
            "JSONB_BUILD_ARRAY",
            "JSONB_BUILD_OBJECT",
            "TO_JSON",
            "TO_JSONB",
            "NUM_NULLS",
            "NUM_NONNULLS",
            "PG_TYPEOF",
            "QUOTE_NULLABLE",
        ];
        if !self.dialect.facts().finds_types {
            return false;
        }
        let after = self.tokens.after(token);
        if self.tokens.is_word(after, "IS") {
            let next = after.and_then(|is| self.tokens.after(is));
            let null = if self.tokens.is_word(next, "NOT") { next.and_then(|not| self.tokens.after(not)) } else { next };
            return self.tokens.is_word(null, "NULL");
        }
        if self.tokens.is_any_word(after, &["ISNULL", "NOTNULL"]) {
            return true;
        }
        let before = self.tokens.before(token);
        let whole = (self.tokens.is_sign(before, b'(') || self.tokens.is_sign(before, b','))
            && (self.tokens.is_sign(after, b')') || self.tokens.is_sign(after, b','));
        whole && self.tokens.opening(token).is_some_and(|opening| self.tokens.is_any_word(self.tokens.before(opening), OF_ANY_TYPE))
    }

    /// Says that a text is a value where its author may have meant a column: with values as text it
    /// would have been one.
    pub(super) fn warn_of_names(&mut self, token: usize, slot: &Slot) {
        let (before, after) = (self.tokens.before(token), self.tokens.after(token));
        let starts = self.tokens.is_any_word(before, &["SELECT", "DISTINCT"]);
        let (comma_before, comma_after) = (self.tokens.is_sign(before, b','), self.tokens.is_sign(after, b','));
        let selected = self.tokens.is_word(after, "FROM") && (starts || comma_before) || starts && comma_after && self.selects_from(token);
        let operator = after.filter(|&at| {
            matches!(self.tokens.all[at].kind, Kind::Sign(b'=' | b'<' | b'>' | b'!')) || self.tokens.is_word(Some(at), "LIKE")
        });
        let mut operand = operator.and_then(|operator| self.tokens.after(operator));
        while let Some(at) = operand.filter(|&at| matches!(self.tokens.all[at].kind, Kind::Sign(b'=' | b'>'))) {
            operand = self.tokens.after(at);
        }
        let compared = operand.is_some_and(|operand| self.tokens.has_marks(operand)) && !self.tokens.is_sign(before, b',');
        let whose = if matches!(slot.named, PlaceholderName::Variable(_)) { "variable" } else { "caller" };
        let message = match (selected, compared) {
            (true, _) => format!("`{}` is selected as a value: every row has the {whose}'s text, not a column of that name", slot.label),
            (_, true) => format!("`{}` is compared as a value with another value, not as a column of that name", slot.label),
            _ => return,
        };
        let help = match &slot.named {
            PlaceholderName::Variable(name) => {
                &format!("for a column write `{{{{ env.{name} | ident }}}}`; for a value give it a name with `AS`")
            }
            _ => "for a column give the input an `enum` and write `{{ inputs.name | ident }}`; for a value give it a name with `AS`",
        };
        self.done.warnings.push(warning(slot.place.clone(), message, help));
    }

    /// Says that a variable is one value where its author may have meant more than one, or a
    /// condition.
    pub(super) fn warn_of_text(&mut self, token: usize, name: &str, slot: &Slot) {
        let (before, after) = (self.tokens.before(token), self.tokens.after(token));
        let begins = self.tokens.is_any_word(before, &["WHERE", "AND", "OR", "ON", "HAVING", "NOT"]);
        let ends = after.is_none()
            || self.tokens.is_sign(after, b')')
            || self.tokens.is_sign(after, b';')
            || self.tokens.is_any_word(after, &["AND", "OR", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "RETURNING", "FOR"]);
        let between = self.tokens.is_word(before, "AND") && self.is_upper_bound(token);
        let what = if self.is_alone_after(token, &["IN"]) {
            "is bound as one value of `IN`, not as a list"
        } else if begins && ends && !between {
            "is bound as one value, not as a condition"
        } else {
            return;
        };
        let help = format!("write `{{{{ env.{name} | raw }}}}` to put the variable's text into the statement as it is");
        self.done.warnings.push(warning(slot.place.clone(), format!("`{}` {what}", slot.label), &help));
    }

    /// Whether the `AND` before a token is that of `BETWEEN … AND …`.
    fn is_upper_bound(&self, token: usize) -> bool {
        let mut at = self.tokens.before(token);
        while let Some(earlier) = at.and_then(|at| self.tokens.before(at)) {
            if self.tokens.is_word(Some(earlier), "BETWEEN") {
                return true;
            }
            if self.tokens.is_any_word(Some(earlier), &["WHERE", "AND", "OR", "ON", "HAVING"]) {
                return false;
            }
            at = Some(earlier);
        }
        false
    }

    /// Whether the list that `token` is in is followed by `FROM`.
    fn selects_from(&self, token: usize) -> bool {
        let mut depth = 0;
        for at in token..self.tokens.all.len() {
            match self.tokens.all[at].kind {
                Kind::Sign(b'(') => depth += 1,
                Kind::Sign(b')') if depth == 0 => return false,
                Kind::Sign(b')') => depth -= 1,
                _ if depth == 0 && self.tokens.is_word(Some(at), "FROM") => return true,
                _ => {}
            }
        }
        false
    }
}
