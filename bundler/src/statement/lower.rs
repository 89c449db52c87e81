//! From tokens to fragments: which text stays, and where which value is bound.

use std::ops::Range;

use millrace_core::app::{Bind, InputKind, Part, Piece};
use millrace_languages::{Lists, lex::Kind};

use super::{
    declared::clickhouse_type,
    dialect::Dialect,
    names::Names,
    position::{self, SyntaxPosition},
    problem::{error, warning},
    source::{self, Meaning, Value, of_variable},
    spelling,
    tokens::Tokens,
};
use crate::Problem;

mod context;
mod quotes;

/// A piece of the statement on its way out.
#[derive(Clone, Debug)]
pub(super) enum Fragment {
    /// Text, and what the parser is shown in its place.
    Text { text: String, probe: Option<String> },
    /// A variable, as text of the statement.
    Env(String),
    /// A variable, as a quoted name.
    EnvIdent(String),
    /// A value.
    Slot { part: Part, slot: Slot },
    /// One of several texts; the parser is shown the first.
    Choice { part: Part, probe: String },
}

/// The texts that a choice can be, as far as they differ for the parser: of a list of names all of
/// them, and each alone.
pub(super) fn texts_of(part: &Part) -> Vec<String> {
    match part {
        Part::Choice { options, .. } => options.iter().map(|(_, text)| text.clone()).collect(),
        Part::ChoiceEach { options, .. } => {
            let each = options.iter().map(|(_, text)| text.clone());
            let all = each.clone().collect::<Vec<_>>().join(", ");
            std::iter::once(all).chain(each.filter(|_| options.len() > 1)).collect()
        }
        _ => Vec::new(),
    }
}

/// Where a value stands.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// The token.
    pub(super) token: usize,
    /// The bytes of the author's text to point at.
    pub(super) place: Range<usize>,
    /// The placeholder as the author would write it.
    pub(super) label: String,
    /// What it names.
    pub(super) named: PlaceholderName,
}

/// What the placeholder of a value names.
#[derive(Clone, Debug)]
pub(super) enum PlaceholderName {
    /// The input to give an `enum`, and whether it has one.
    Input(String, bool),
    /// A variable of the environment.
    Variable(String),
    /// Part of `ctx`, `auth`, or of an input of any form.
    Other,
}

impl Slot {
    /// Says that no value may stand here.
    pub(super) fn misplaced(&self, place: SyntaxPosition) -> Problem {
        let help = match (place, &self.named) {
            (_, PlaceholderName::Variable(name)) => of_variable(name),
            (SyntaxPosition::Operator, _) => {
                "write each comparison out and choose between them with `CASE`, or make one tool for each".to_owned()
            }
            (SyntaxPosition::Constant, _) => "write the constant out, or choose between statements by making one tool for each".to_owned(),
            (SyntaxPosition::Statement, _) => "write the statement out, with placeholders for its values".to_owned(),
            (_, PlaceholderName::Other) => {
                "only an input with an `enum` is allowed here, as `{{ inputs.name | ident }}` or `{{ inputs.name | keyword }}`".to_owned()
            }
            (place, PlaceholderName::Input(name, has_enum)) => {
                let filter = if matches!(place, SyntaxPosition::Keyword | SyntaxPosition::Function) { "keyword" } else { "ident" };
                let form = format!("`{{{{ inputs.{name} | {filter} }}}}`");
                if *has_enum {
                    format!("write {form}")
                } else {
                    format!("list the allowed texts under the `enum` of `{name}` and write {form}")
                }
            }
        };
        error(self.place.clone(), format!("`{}` {}", self.label, place.reason()), &help)
    }
}

/// What became of the tokens.
#[derive(Default)]
pub(super) struct LoweredStatement {
    pub(super) fragments: Vec<Fragment>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    /// The first fragment of each token.
    pub(super) starts: Vec<usize>,
}

/// Turns tokens into fragments.
pub(super) fn lower(tokens: &Tokens<'_>, dialect: Dialect, names: Names<'_>) -> LoweredStatement {
    let meanings = tokens.masked.marks.iter().map(|mark| source::resolve(mark, Some(dialect), names).map_err(Some)).collect();
    let mut lowering = Lowering { tokens, dialect, meanings, starts: Vec::new(), skip_to: 0, done: LoweredStatement::default() };
    lowering.run();
    LoweredStatement { starts: lowering.starts, ..lowering.done }
}

/// Says that a list of names stands where only one may.
fn misplaced_names(place: Range<usize>, label: &str) -> Problem {
    let message = format!(
        "`{label}` is a list of names, which can only be whole items of `SELECT`, `RETURNING`, `GROUP BY`, `ORDER BY` or \
         `PARTITION BY`"
    );
    let help = "for one name, use an input of type `string` with an `enum`; a word such as `DESC` or `AS` belongs to one name";
    error(place, message, help)
}

struct Lowering<'a> {
    tokens: &'a Tokens<'a>,
    dialect: Dialect,
    /// What each placeholder means; a problem is taken out when it is reported.
    meanings: Vec<Result<Meaning<'a>, Option<Problem>>>,
    /// The first fragment of each token.
    starts: Vec<usize>,
    /// Tokens before this one are already part of a fragment.
    skip_to: usize,
    done: LoweredStatement,
}

impl<'a> Lowering<'a> {
    fn run(&mut self) {
        for token in 0..self.tokens.all.len() {
            self.starts.push(self.done.fragments.len());
            if token < self.skip_to {
                continue;
            }
            let range = self.tokens.all[token].range.clone();
            match self.tokens.all[token].kind.clone() {
                Kind::Space | Kind::Word | Kind::Number | Kind::Sign(_) => {
                    self.plain(token);
                }
                Kind::Comment { executable: true } => self.done.problems.push(error(
                    self.tokens.masked.place(range),
                    "the text of a comment `/*! … */` is run, and differently by each version of a server".to_owned(),
                    "write the text without the comment, or remove it",
                )),
                Kind::Comment { .. } => self.untouched(token, "a comment"),
                Kind::Dollar => self.untouched(token, "a dollar-quoted text"),
                Kind::Quoted => self.quoted(token),
                Kind::Literal { prefix, body, .. } if self.tokens.has_marks(token) => self.literal(token, prefix, body),
                Kind::Literal { .. } => self.plain(token),
                Kind::Mark => self.bare(token),
                Kind::Parameter => {
                    let text = self.tokens.text(token);
                    self.done.problems.push(error(
                        self.tokens.masked.place(range),
                        format!("`{text}` is a parameter without a value"),
                        "values come from placeholders, `{{ inputs.name }}`; Millrace writes the parameters itself",
                    ));
                }
            }
        }
    }

    /// A token without placeholders.
    fn plain(&mut self, token: usize) {
        self.shown(token, self.tokens.text(token));
    }

    /// A token whose text stays `text`.
    fn shown(&mut self, token: usize, text: &str) {
        let shown = spelling::token(self.tokens, token, self.dialect);
        let probe = (shown != text).then(|| shown.into_owned());
        self.done.fragments.push(Fragment::Text { text: text.to_owned(), probe });
    }

    fn text(&mut self, text: &str) {
        self.done.fragments.push(Fragment::Text { text: text.to_owned(), probe: None });
    }

    fn untouched(&mut self, token: usize, what: &str) {
        let range = self.tokens.all[token].range.clone();
        for mark in self.tokens.masked.marks_in(&range) {
            let mark = &self.tokens.masked.marks[mark];
            self.done.warnings.push(warning(
                mark.range.clone(),
                format!("`{}` is in {what} and is not filled in", source::label(mark)),
                "move it out, or remove it",
            ));
        }
        self.shown(token, self.tokens.masked.author(range));
    }

    /// A quoted name: variables with `| raw` are put in, other values have no place in it.
    fn quoted(&mut self, token: usize) {
        let range = self.tokens.all[token].range.clone();
        if !self.tokens.has_marks(token) {
            return self.plain(token);
        }
        let mut start = range.start;
        for mark in self.tokens.masked.marks_in(&range) {
            let label = source::label(&self.tokens.masked.marks[mark]);
            let place = self.tokens.masked.marks[mark].range.clone();
            match self.meaning(mark) {
                None => {}
                Some(Meaning::EnvRaw(name)) => {
                    let at = (start..range.end).find(|&at| self.tokens.masked.mark_at(at) == Some(mark)).unwrap_or(range.end);
                    let before = self.tokens.masked.text[start..at].to_owned();
                    self.text(&before);
                    self.done.fragments.push(Fragment::Env(name));
                    start = at + 1;
                }
                Some(Meaning::Choice { .. } | Meaning::ChoiceEach { .. } | Meaning::EnvIdent(_)) => self.done.problems.push(error(
                    place,
                    format!("`{label}` is inside quotes"),
                    "remove the quotes around it: the build writes them",
                )),
                Some(Meaning::Env(name)) => {
                    let help = format!(
                        "write `{{{{ env.{name} | ident }}}}` without quotes for the whole name, or `{{{{ env.{name} | raw }}}}` within them"
                    );
                    self.done.problems.push(error(place, format!("`{label}` {}", SyntaxPosition::Name.reason()), &help));
                }
                Some(Meaning::Value(value)) => {
                    let mut problem = slot(token, place, label, &value).misplaced(SyntaxPosition::Name);
                    let quotes = if self.dialect.facts().takes_names_for_texts && self.tokens.text(token).starts_with('"') {
                        "a text needs single quotes; for a name, remove the quotes and "
                    } else {
                        "remove the quotes and "
                    };
                    problem.help = problem.help.map(|help| format!("{quotes}{help}"));
                    self.done.problems.push(problem);
                }
            }
        }
        let rest = self.tokens.masked.text[start..range.end].replace('\0', "");
        self.text(&rest);
    }

    /// What a placeholder means. `None`: nothing, and its problem is reported.
    fn meaning(&mut self, mark: usize) -> Option<Meaning<'a>> {
        match &mut self.meanings[mark] {
            Ok(meaning) => Some(meaning.clone()),
            Err(problem) => {
                self.done.problems.extend(problem.take());
                None
            }
        }
    }

    fn bare(&mut self, token: usize) {
        let Some(mark) = self.tokens.masked.mark_at(self.tokens.all[token].range.start) else { return };
        let label = source::label(&self.tokens.masked.marks[mark]);
        let place = self.tokens.masked.marks[mark].range.clone();
        let Some(meaning) = self.meaning(mark) else { return };
        if let Meaning::EnvRaw(name) = meaning {
            self.done.fragments.push(Fragment::Env(name));
            return;
        }
        if let Some(neighbour) = position::neighbour(self.tokens, token, self.dialect) {
            let help = match &meaning {
                Meaning::Env(name) | Meaning::EnvIdent(name) => &format!(
                    "a placeholder is a whole value or a whole name: write `{{{{ env.{name} | raw }}}}` to put the variable's text into the \
                     statement as it is, or compose a text in quotes"
                ),
                _ => "a placeholder is a whole value or a whole name: put a space between the two, or compose a text in quotes",
            };
            self.done.problems.push(error(place, format!("`{label}` directly adjoins `{neighbour}`"), help));
            return;
        }
        let value = match meaning {
            Meaning::Choice { source, options } => {
                let probe = options.first().map(|(_, text)| text.clone()).unwrap_or_default();
                self.done.fragments.push(Fragment::Choice { part: Part::Choice { source, options }, probe });
                return;
            }
            Meaning::ChoiceEach { source, options } => {
                if position::takes_names(self.tokens, token) {
                    let part = Part::ChoiceEach { source, options };
                    let probe = texts_of(&part).into_iter().next().unwrap_or_default();
                    self.done.fragments.push(Fragment::Choice { part, probe });
                } else {
                    self.done.problems.push(misplaced_names(place, &label));
                }
                return;
            }
            Meaning::EnvIdent(name) => {
                self.done.fragments.push(Fragment::EnvIdent(name));
                return;
            }
            Meaning::EnvRaw(_) => return,
            Meaning::Env(name) => {
                let slot = Slot { token, place, label, named: PlaceholderName::Variable(name.clone()) };
                if self.may_stand(token, &slot) {
                    self.variable(token, name, slot);
                }
                return;
            }
            Meaning::Value(value) => value,
        };
        let slot = slot(token, place, label, &value);
        if self.may_stand(token, &slot) {
            self.value(token, value, slot);
        }
    }

    /// A value of the call where one may stand.
    fn value(&mut self, token: usize, value: Value<'_>, slot: Slot) {
        if let Some(part) = self.list(token, &value) {
            self.done.fragments.push(Fragment::Slot { part, slot });
            return;
        }
        if self.is_refused_list(token, &value, &slot) {
            return;
        }
        if value.kind == Some(InputKind::String) {
            self.warn_of_names(token, &slot);
        }
        let facts = self.dialect.facts();
        let native = match facts.lists {
            Lists::ArrayInPlaces => self.takes_array(token),
            Lists::Array => value.elements.is_some() || self.may_be_list(token, &value),
            Lists::Spread => false,
        };
        let declared = self.declared_type(Some(match value.kind {
            None | Some(InputKind::Json) if native => Value { kind: Some(InputKind::Array), elements: Some(None), ..value.clone() },
            _ => value.clone(),
        }));
        let kind = match value.kind {
            // Only where PostgreSQL takes an array of its own does a list stay one; elsewhere it is
            // a JSON document.
            Some(InputKind::Array) if !native => Some(InputKind::Json),
            // What only the call knows may be a list there, too.
            None if native => Some(InputKind::Array),
            Some(InputKind::Json) if native && facts.lists == Lists::Array => Some(InputKind::Array),
            kind => kind,
        };
        let cast = match facts.lists == Lists::ArrayInPlaces && native && self.takes_any_elements(token) {
            true => Some(format!("{}[]", (facts.parameter_type)(value.elements.flatten()))),
            false => self.needs_type(token).then(|| (facts.parameter_type)(kind).to_owned()),
        };
        self.bind(Bind::Value { source: value.source, kind }, slot, cast.as_deref(), &declared);
    }

    /// A variable where a value may stand.
    fn variable(&mut self, token: usize, name: String, slot: Slot) {
        if self.tokens.is_word(self.tokens.before(token), "IN") {
            let help = format!("write `IN ({})` for one value, or `{{{{ env.{name} | raw }}}}` for a list that is written out", slot.label);
            self.done.problems.push(error(slot.place.clone(), format!("`{}` follows `IN` without parentheses", slot.label), &help));
            return;
        }
        self.warn_of_names(token, &slot);
        self.warn_of_text(token, &name, &slot);
        let native = self.dialect.facts().lists == Lists::ArrayInPlaces && self.takes_any_elements(token);
        let cast = if native { Some("text[]") } else { self.needs_type(token).then_some("text") };
        let declared = self.declared_type(None);
        self.bind(Bind::Composed(vec![Piece::Env(name)]), slot, cast, &declared);
    }

    /// Whether the tokens around a value allow one; says why not.
    fn may_stand(&mut self, token: usize, slot: &Slot) -> bool {
        let before = self.tokens.before(token);
        if let Some(place) = position::certain(self.tokens, token) {
            self.done.problems.push(slot.misplaced(place));
            return false;
        }
        // `ORDER BY date {{ inputs.dir }}` has a column of that name, which the parser would take
        // for a type.
        let typed = self.tokens.word(before).filter(|word| {
            (self.dialect.facts().typed_literal)(word).is_some()
                || self.tokens.is_any_word(before, &["DATE", "TIME", "TIMESTAMP", "DATETIME"])
        });
        if let (Some(_), Some(before)) = (typed, before)
            && (position::starts_item(self.tokens, before) || self.tokens.is_sign(self.tokens.before(before), b'.'))
        {
            self.done.problems.push(slot.misplaced(SyntaxPosition::Keyword));
            return false;
        }
        if let Some(word) = self.tokens.word(before).filter(|word| (self.dialect.facts().typed_literal)(word).is_some()) {
            let help = format!("write `{word} '{{{{ … }}}}'`: a literal after a type is bound with a cast");
            self.done.problems.push(error(slot.place.clone(), format!("`{}` directly follows the type `{word}`", slot.label), &help));
            return false;
        }
        true
    }

    /// The type that a parameter is declared with in the statement, where the dialect does so; of a
    /// composed text without a value.
    fn declared_type(&self, value: Option<Value<'_>>) -> String {
        match value {
            _ if !self.dialect.facts().declares_types => String::new(),
            Some(value) => clickhouse_type(&value),
            None => "String".to_owned(),
        }
    }

    /// `declared`: as [`declared_type`](Self::declared_type).
    fn bind(&mut self, bind: Bind, slot: Slot, cast: Option<&str>, declared: &str) {
        if cast.is_some() {
            self.text("CAST(");
        }
        let is_declared = !declared.is_empty();
        if is_declared {
            self.done.fragments.push(Fragment::Text { text: "{".to_owned(), probe: Some(String::new()) });
        }
        self.done.fragments.push(Fragment::Slot { part: Part::Bind(bind), slot });
        if is_declared {
            self.done.fragments.push(Fragment::Text { text: format!(":{declared}}}"), probe: Some(String::new()) });
        }
        if let Some(cast) = cast {
            self.text(&format!(" AS {cast})"));
        }
    }
}

fn slot(token: usize, place: Range<usize>, label: String, value: &Value<'_>) -> Slot {
    let named =
        value.input.map_or(PlaceholderName::Other, |input| PlaceholderName::Input(value.source.path.join("."), !input.allowed.is_empty()));
    Slot { token, place, label, named }
}
