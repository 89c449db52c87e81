//! Literals with placeholders.

use std::ops::Range;

use millrace_core::app::{Bind, InputKind, Piece};

use super::{
    super::{
        error,
        lex::{Kind, Prefix},
        literal::{self, Decoded},
        position,
        problem::warning,
        source::{self, Meaning, Value},
    },
    Lowering, PlaceholderName, Slot, slot,
};

impl Lowering<'_> {
    /// A literal with placeholders: the whole of it is one bound text.
    pub(super) fn literal(&mut self, token: usize, prefix: Prefix, body: Range<usize>) {
        let range = self.tokens.all[token].range.clone();
        let place = self.tokens.masked.place(range.clone());
        if let Some((what, help)) = match prefix {
            Prefix::Digits => Some((
                "a literal of bytes or bits",
                "bind the value as text and convert it, as in `unhex({{ inputs.x }})` or `decode({{ inputs.x }}, 'hex')`",
            )),
            Prefix::Unicode => Some(("a `U&''` literal", "write a plain literal or an `E''` literal")),
            Prefix::None | Prefix::Escape => None,
        } {
            let label =
                self.tokens.masked.marks_in(&range).next().map(|mark| source::label(&self.tokens.masked.marks[mark])).unwrap_or_default();
            self.done.problems.push(error(place, format!("`{label}` is in {what}"), help));
            return;
        }
        let decoded = match literal::decode(self.tokens.masked, body, prefix, self.dialect) {
            Ok(decoded) => decoded,
            Err(literal::BadEscape(at)) => {
                let message = "the escape that starts with this backslash cannot be part of a bound text".to_owned();
                self.done.problems.push(error(
                    self.tokens.masked.place(at),
                    message,
                    "write the character itself, or `\\\\` for a backslash",
                ));
                return;
            }
        };
        let Some(composed) = self.compose(token, &decoded) else { return };
        let ComposedLiteral { bind, slot, list, kind } = composed;
        if let Some(at) = position::certain(self.tokens, token) {
            self.done.problems.push(slot.misplaced(at));
            return;
        }
        if list && self.is_alone_after(token, &["IN"]) {
            let help = format!("remove the quotes: `IN ({})` binds one value for each element", slot.label);
            self.done.problems.push(error(slot.place.clone(), format!("`{}` is a list in quotes", slot.label), &help));
            return;
        }
        let Some(introduced) = self.introduction(token, &slot) else { return };
        if let Some(sign) = position::prefix_sign(self.tokens, token, self.dialect) {
            let message = format!("the literal with `{}` directly adjoins `{sign}`", slot.label);
            self.done.problems.push(error(
                slot.place.clone(),
                message,
                "a value cannot be part of another token: remove the sign, or put a space between the two",
            ));
            return;
        }
        let adjacent = |at: Option<usize>| at.is_some_and(|at| matches!(self.tokens.all[at].kind, Kind::Literal { .. }));
        if adjacent(self.tokens.before(token)) || adjacent(self.tokens.after(token)) {
            let message = format!("`{}` is in one of several literals in a row", slot.label);
            self.done.problems.push(error(slot.place.clone(), message, "join them into one literal"));
            return;
        }
        let cast = match introduced {
            LiteralPrefix::Cast(cast) => Some(cast),
            LiteralPrefix::Not | LiteralPrefix::Charset => self.needs_type(token).then(|| "text".to_owned()),
        };
        // A quote ends a word where a parameter does not: `LIKE'%{{ inputs.q }}%'AND`.
        let touches = |at: usize| self.tokens.all.get(at).is_some_and(|token| position::ends_word(&token.kind));
        let (before, after) = (token.checked_sub(1).is_some_and(touches), touches(token + 1));
        if before {
            self.text(" ");
        }
        self.bind(bind, slot, cast.as_deref(), &kind);
        if after {
            self.text(" ");
        }
    }

    fn compose(&mut self, token: usize, decoded: &[Decoded]) -> Option<ComposedLiteral> {
        let place = self.tokens.masked.place(self.tokens.all[token].range.clone());
        let mut pieces = Vec::new();
        let mut first: Option<Slot> = None;
        let mut alone: Option<Value<'_>> = None;
        let mut broken = false;
        for piece in decoded {
            let mark = match piece {
                Decoded::Text(text) => {
                    pieces.push(Piece::Text(text.clone()));
                    continue;
                }
                Decoded::Mark(mark) => *mark,
            };
            let label = source::label(&self.tokens.masked.marks[mark]);
            match self.meaning(mark) {
                None => broken = true,
                Some(Meaning::Choice { .. } | Meaning::ChoiceEach { .. } | Meaning::EnvIdent(_) | Meaning::EnvRaw(_)) => {
                    broken = true;
                    let at = self.tokens.masked.marks[mark].range.clone();
                    self.done.problems.push(error(
                        at,
                        format!("`{label}` is inside a literal"),
                        "a literal is a value: remove the filter, or the quotes",
                    ));
                }
                Some(Meaning::Env(name)) => {
                    first.get_or_insert_with(|| Slot {
                        token,
                        place: place.clone(),
                        label,
                        named: PlaceholderName::Variable(name.clone()),
                    });
                    pieces.push(Piece::Env(name));
                }
                Some(Meaning::Value(value)) => {
                    first.get_or_insert_with(|| slot(token, place.clone(), label, &value));
                    pieces.push(Piece::Source(value.source.clone()));
                    alone = Some(value);
                }
            }
        }
        let slot = first.filter(|_| !broken)?;
        let alone = alone.filter(|_| pieces.len() == 1);
        let list = alone.as_ref().is_some_and(|value| value.elements.is_some());
        self.warn_of_documents(&pieces, &slot);
        let kind = self.declared_type(alone.as_ref().map(|value| {
            // The same as below: a text, or a text of another type's form.
            let kind = value.kind.filter(|kind| is_text(*kind));
            Value { kind: kind.or(Some(InputKind::String)), elements: None, ..value.clone() }
        }));
        let bind = match alone {
            // Its JSON form is text as it is, and a missing one stays NULL.
            Some(Value { source, kind: Some(kind), .. }) if is_text(kind) => Bind::Value { source, kind: Some(kind) },
            Some(Value { source, kind: Some(InputKind::Array | InputKind::Object | InputKind::Json), .. }) => {
                Bind::Value { source, kind: Some(InputKind::Json) }
            }
            _ => Bind::Composed(pieces),
        };
        Some(ComposedLiteral { bind, slot, list, kind })
    }

    /// A value inside a JSON document or an array that is written as text can change that document,
    /// though not the statement.
    fn warn_of_documents(&mut self, pieces: &[Piece], slot: &Slot) {
        let [Piece::Text(text), ..] = pieces else { return };
        let takes_callers = pieces.iter().any(|piece| matches!(piece, Piece::Source(_)));
        if !takes_callers || !text.trim_start().starts_with(['{', '[']) {
            return;
        }
        let help = self.dialect.facts().instead_of_text_document;
        self.done.warnings.push(warning(
            slot.place.clone(),
            format!(
                "`{}` is put into a document that is written as text: a quote or a comma in the value changes the document",
                slot.label
            ),
            help,
        ));
    }

    /// What stands before a literal and is part of it: `DATE '…'`, `_binary'…'`. Takes those words
    /// back out. `None`: refused.
    fn introduction(&mut self, token: usize, slot: &Slot) -> Option<LiteralPrefix> {
        let before = self.tokens.before(token);
        let (Some(before), Some(word)) = (before, self.tokens.word(before)) else { return Some(LiteralPrefix::Not) };
        if self.dialect.facts().has_introducers && word.starts_with('_') {
            let introduced = match word.to_ascii_lowercase().as_str() {
                "_utf8mb4" | "_utf8mb3" | "_utf8" | "_ascii" => LiteralPrefix::Charset,
                "_binary" => LiteralPrefix::Cast("BINARY".to_owned()),
                _ => {
                    let message = format!("`{}` is in a literal of the character set `{word}`", slot.label);
                    let help = "values are sent as `utf8mb4`; convert with `CONVERT({{ inputs.x }} USING latin1)`";
                    self.done.problems.push(error(slot.place.clone(), message, help));
                    return None;
                }
            };
            self.take_back(before);
            return Some(introduced);
        }
        if let Some(help) = self.dialect.facts().instead_of_typed_literals
            && self.tokens.is_any_word(Some(before), &["DATE", "TIME", "TIMESTAMP", "DATETIME", "INTERVAL"])
        {
            let message = format!("{} has no `{word} '…'` literals", self.dialect.facts().name);
            self.done.problems.push(error(slot.place.clone(), message, help));
            return None;
        }
        if let Some((first, name)) = self.zoned_type(before) {
            self.take_back(first);
            return Some(LiteralPrefix::Cast(name));
        }
        let Some(cast) = (self.dialect.facts().typed_literal)(word) else { return Some(LiteralPrefix::Not) };
        self.take_back(before);
        Some(LiteralPrefix::Cast(if cast == "INTERVAL" { self.interval(token) } else { cast.to_owned() }))
    }

    /// The type of an interval with the fields that stand after its literal:
    /// `INTERVAL '…' DAY TO SECOND`.
    fn interval(&mut self, token: usize) -> String {
        let mut cast = "INTERVAL".to_owned();
        let mut last = token;
        while let Some(next) = self.tokens.after(last)
            && self.tokens.is_any_word(Some(next), &["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "TO"])
        {
            cast.push(' ');
            cast.push_str(self.tokens.text(next));
            last = next;
            self.skip_to = last + 1;
        }
        cast
    }

    /// `TIMESTAMP WITH TIME ZONE` and the like, which ends at `last`.
    fn zoned_type(&self, last: usize) -> Option<(usize, String)> {
        if !self.dialect.facts().has_zoned_literals || !self.tokens.is_word(Some(last), "ZONE") {
            return None;
        }
        let time = self.tokens.before(last)?;
        let with = self.tokens.before(time)?;
        let first = self.tokens.before(with)?;
        let matches = self.tokens.is_word(Some(time), "TIME")
            && self.tokens.is_any_word(Some(with), &["WITH", "WITHOUT"])
            && self.tokens.is_any_word(Some(first), &["TIME", "TIMESTAMP"]);
        matches.then(|| (first, [first, with, time, last].map(|at| self.tokens.text(at).to_ascii_uppercase()).join(" ")))
    }

    fn take_back(&mut self, token: usize) {
        self.done.fragments.truncate(self.starts[token]);
    }
}

/// What stands before a literal and is part of it.
enum LiteralPrefix {
    /// Nothing.
    Not,
    /// A character set that is the connection's own.
    Charset,
    /// A type to cast to.
    Cast(String),
}

struct ComposedLiteral {
    bind: Bind,
    slot: Slot,
    list: bool,
    /// As [`Lowering::declared_type`].
    kind: String,
}

/// Types whose values are strings on the wire.
fn is_text(kind: InputKind) -> bool {
    matches!(kind, InputKind::String | InputKind::Datetime | InputKind::Date | InputKind::Uuid)
}
