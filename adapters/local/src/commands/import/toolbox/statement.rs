//! A statement with parameters and templates as one with placeholders.
//!
//! The lexer of the language tells what stands in quotes and comments, so that a `?` in a text
//! stays one.

use millrace_languages::{
    Dialect,
    lex::{Kind, Token},
};

use super::parameter::{InputType, Parameter};

/// What stands for a template while the text is cut: a byte that no statement has.
const MARK: char = '\0';

/// A piece of a text with templates of Go.
pub(super) enum Piece<'a> {
    Text(&'a str),
    Action(Action<'a>),
}

/// What a template does.
#[derive(Clone, Copy)]
pub(super) enum Action<'a> {
    /// `{{.name}}`
    Value(&'a str),
    /// `{{array .name}}`
    List(&'a str),
    /// `{{if .name}}`
    If(&'a str),
    /// `{{end}}`
    End,
}

/// Cuts a text at its templates.
///
/// # Errors
/// A template is more than the name of a parameter.
pub(super) fn pieces<'a>(text: &'a str) -> Result<Vec<Piece<'a>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, opened)) = rest.split_once("{{") {
        let (inside, after) = opened.split_once("}}").ok_or("a template is not closed")?;
        // `{{- … -}}` trims the blanks around it, which no statement needs.
        let words: Vec<&'a str> = inside.split_whitespace().filter(|word| *word != "-").collect();
        let named = |word: &'a str, make: fn(&'a str) -> Action<'a>| {
            let name = word.strip_prefix('.').filter(|name| !name.is_empty())?;
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then(|| make(name))
        };
        let action = match *words.as_slice() {
            ["end"] => Some(Action::End),
            [word] => named(word, Action::Value),
            ["array", word] => named(word, Action::List),
            ["if", word] => named(word, Action::If),
            _ => None,
        };
        let action = action.ok_or_else(|| format!("its template `{{{{{inside}}}}}` is more than the name of a parameter"))?;
        pieces.extend([Piece::Text(before), Piece::Action(action)]);
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    Ok(pieces)
}

/// A statement of an app.
pub(super) struct Converted {
    pub(super) text: String,
    /// Its values become text of it.
    pub(super) is_textual: bool,
}

/// What a statement is converted with.
pub(super) struct Conversion<'a> {
    pub(super) dialect: Dialect,
    pub(super) parameters: &'a [Parameter],
    pub(super) templates: &'a [Parameter],
    /// Whether templates may become text of the statement.
    pub(super) textual: bool,
}

impl Conversion<'_> {
    /// Converts a statement.
    ///
    /// # Errors
    /// What of it an app cannot have.
    pub(super) fn convert(&self, text: &str) -> Result<Converted, String> {
        if text.contains(MARK) {
            return Err("its statement has a NUL character".to_owned());
        }
        let cut = if self.templates.is_empty() { vec![Piece::Text(text)] } else { pieces(text)? };
        let mut masked = String::new();
        let mut actions = Vec::new();
        for piece in cut {
            match piece {
                Piece::Text(text) => masked.push_str(text),
                Piece::Action(action) => {
                    masked.push(MARK);
                    actions.push(action);
                }
            }
        }
        let tokens = self.dialect.lex(&masked).map_err(|error| error.of_statement())?;
        let mut writer = Writer {
            conversion: self,
            actions: actions.into_iter(),
            text: String::new(),
            number: 0,
            is_textual: false,
            open: Open::Nothing,
        };
        for (at, token) in tokens.iter().enumerate() {
            let written = masked.get(token.range.clone()).unwrap_or_default();
            writer.token(&token.kind, written, has_neighbour(&tokens, at))?;
        }
        writer.finish()
    }

    fn template(&self, name: &str) -> Result<&Parameter, String> {
        let found = self.templates.iter().find(|template| template.name == name);
        found.ok_or_else(|| format!("it has no template parameter `{name}`"))
    }

    /// How values get into a statement with the meaning that they have as its text.
    fn filter(&self, options: &[String], is_escaped: bool) -> Option<&'static str> {
        let facts = self.dialect.facts();
        let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_ ".contains(&byte)) && !text.trim().is_empty();
        let is_reserved = |text: &str| text.contains(' ') || ["asc", "desc"].contains(&text) || facts.reserved.has(text);
        // In quotes a capital stays one.
        let is_name = |text: &str| match is_escaped {
            true => !text.contains('.'),
            false => {
                let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
                is_plain && !(facts.folds_names && text.bytes().any(|byte| byte.is_ascii_uppercase()))
            }
        };
        let has_keywords = !is_escaped && options.iter().any(|option| is_reserved(&option.to_ascii_lowercase()));
        if !has_keywords && options.iter().all(|option| is_name(option)) {
            return Some(" | ident");
        }
        (!is_escaped && options.iter().all(|option| is_word(option))).then_some(" | keyword")
    }
}

/// The block of an `{{if}}` that is open.
#[derive(Clone, Copy)]
enum Open<'a> {
    Nothing,
    /// Its word, `AND` or `OR`, is still to come.
    Begun(&'a Parameter),
    Condition,
}

/// A statement while it is written.
struct Writer<'a> {
    conversion: &'a Conversion<'a>,
    actions: std::vec::IntoIter<Action<'a>>,
    text: String,
    /// How many `?` there were.
    number: usize,
    is_textual: bool,
    open: Open<'a>,
}

impl<'a> Writer<'a> {
    /// Writes a token. `touches`: a word or a number stands right beside it.
    fn token(&mut self, kind: &Kind, written: &str, touches: bool) -> Result<(), String> {
        if let (Open::Begun(parameter), false) = (self.open, matches!(kind, Kind::Space | Kind::Comment { .. })) {
            return self.begin_condition(parameter, kind, written);
        }
        match kind {
            Kind::Parameter => {
                let placeholder = self.parameter(written)?;
                self.text.push_str(&placeholder);
            }
            Kind::Mark => match self.action()? {
                Action::Value(_) | Action::List(_) if touches => return Err("a template parameter is a part of a name".to_owned()),
                Action::Value(name) => self.outside(name, false)?,
                Action::List(name) => self.outside(name, true)?,
                Action::If(name) if matches!(self.open, Open::Nothing) => self.open = Open::Begun(self.conversion.template(name)?),
                Action::End if matches!(self.open, Open::Condition) => {
                    self.text.push_str("))");
                    self.open = Open::Nothing;
                }
                Action::If(_) | Action::End => return Err("its templates have conditions within each other".to_owned()),
            },
            // What a comment says of values is of no use.
            Kind::Comment { .. } if written.contains(MARK) => {
                for _ in written.matches(MARK) {
                    self.action()?;
                }
            }
            Kind::Quoted if written.contains(MARK) => match (self.action()?, written.chars().count()) {
                (Action::Value(name), 3) => self.name(name)?,
                _ => return Err("a template parameter is a part of a name".to_owned()),
            },
            _ => {
                for (place, part) in written.split(MARK).enumerate() {
                    if place > 0 {
                        self.within()?;
                    }
                    self.text.push_str(&part.replace("{{", "{{ '{{' }}"));
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Converted, String> {
        if !matches!(self.open, Open::Nothing) {
            return Err("a condition of its templates is not closed".to_owned());
        }
        if self.is_textual && !self.conversion.parameters.is_empty() {
            return Err("it has parameters beside a template parameter that can be any text".to_owned());
        }
        self.text.truncate(self.text.trim_end().trim_end_matches(';').trim_end().len());
        Ok(Converted { text: self.text, is_textual: self.is_textual })
    }

    fn action(&mut self) -> Result<Action<'a>, String> {
        self.actions.next().ok_or_else(|| "its templates cannot be read".to_owned())
    }

    /// `{{if .x}} AND …`: where the value is empty, the condition holds.
    fn begin_condition(&mut self, parameter: &Parameter, kind: &Kind, written: &str) -> Result<(), String> {
        let path = &parameter.path;
        let is_empty = match parameter.kind {
            InputType::String => format!("{{{{ {path} }}}} = ''"),
            InputType::Int | InputType::Float => format!("{{{{ {path} }}}} = 0"),
            InputType::Boolean => format!("NOT {{{{ {path} }}}}"),
            InputType::Array | InputType::Object => return Err("a condition of its templates is a list".to_owned()),
        };
        let is_empty = format!("{{{{ {path} }}}} IS NULL OR {is_empty}");
        match (kind, written.to_ascii_uppercase().as_str()) {
            (Kind::Word, "AND") => self.text.push_str(&format!("AND ({is_empty} OR (")),
            (Kind::Word, "OR") => self.text.push_str(&format!("OR (NOT ({is_empty}) AND (")),
            _ => return Err("what its templates put in under a condition begins with neither `AND` nor `OR`".to_owned()),
        }
        self.open = Open::Condition;
        Ok(())
    }

    /// A parameter: `$2`, `?`, `?2`, `:name`, `@name`.
    fn parameter(&mut self, written: &str) -> Result<String, String> {
        let parameters = self.conversion.parameters;
        let name = written.get(1..).unwrap_or_default();
        let found = match name.parse::<usize>() {
            Ok(place) => place.checked_sub(1).and_then(|place| parameters.get(place)),
            Err(_) if name.is_empty() => {
                self.number += 1;
                parameters.get(self.number - 1)
            }
            Err(_) => parameters.iter().find(|parameter| parameter.name == name),
        };
        let found = found.ok_or_else(|| format!("its statement has `{written}`, and no parameter for it"))?;
        Ok(format!("{{{{ {} }}}}", found.path))
    }

    /// A template within the quotes of a text: one bound value for the whole text.
    fn within(&mut self) -> Result<(), String> {
        let Action::Value(name) = self.action()? else { return Err("its templates have a list or a condition in quotes".to_owned()) };
        let template = self.conversion.template(name)?;
        if matches!(template.kind, InputType::Array | InputType::Object) {
            return Err(format!("its template parameter `{name}` is a list in quotes"));
        }
        self.text.push_str(&format!("{{{{ {} }}}}", template.path));
        Ok(())
    }

    /// A template for a name in quotes.
    fn name(&mut self, name: &str) -> Result<(), String> {
        let template = self.conversion.template(name)?;
        match &template.options {
            Some(options) if options.iter().all(|option| !option.contains('.')) => {
                self.text.push_str(&format!("{{{{ {} | ident }}}}", template.path));
                Ok(())
            }
            _ => Err(unlimited(name)),
        }
    }

    /// A template outside of quotes: a value, a name, or a keyword.
    fn outside(&mut self, name: &str, is_list: bool) -> Result<(), String> {
        let template = self.conversion.template(name)?;
        let is_value = matches!(template.kind, InputType::Int | InputType::Float | InputType::Boolean);
        let filter = match (&template.options, template.kind) {
            (_, InputType::Array) if !is_list => return Err(format!("its template parameter `{name}` is a list without `array`")),
            (_, InputType::Object) => return Err(format!("its template parameter `{name}` is a map")),
            _ if is_value || template.escape.as_deref() == Some("single-quotes") => "",
            (None, InputType::String) if self.conversion.textual => {
                self.is_textual = true;
                ""
            }
            (None, _) => return Err(unlimited(name)),
            (Some(options), kind) => {
                let filter = self.conversion.filter(options, template.escape.is_some());
                filter.filter(|filter| kind != InputType::Array || *filter == " | ident").ok_or_else(|| {
                    format!("its template parameter `{name}` has values that are neither names as they stand nor keywords")
                })?
            }
        };
        self.text.push_str(&format!("{{{{ {}{filter} }}}}", template.path));
        Ok(())
    }
}

fn unlimited(name: &str) -> String {
    format!("its template parameter `{name}` can be any text of the statement; give it `allowedValues`, or import with `--textual`")
}

/// Whether a word or a number stands right beside a token.
fn has_neighbour(tokens: &[Token], at: usize) -> bool {
    let touches = |place: Option<usize>| {
        let kind = place.and_then(|place| tokens.get(place)).map(|token| &token.kind);
        matches!(kind, Some(Kind::Word | Kind::Number | Kind::Mark))
    };
    touches(at.checked_sub(1)) || touches(at.checked_add(1))
}
