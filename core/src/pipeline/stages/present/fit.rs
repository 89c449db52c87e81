//! Data → data as the schema has it: limited, checked, and without what the schema does not name.

use alloc::{format, string::String, vec::Vec};

use serde_json::Map;

use super::path::{Step, shown_path};
use crate::{
    Json,
    app::{App, InputKind, ItemLimit, Literal, PresentedField, Presenter, UnknownFields},
    expression::equal,
    pipeline::content::json_text::word,
    value::MAX_SAFE_INTEGER,
};

/// The most problems that are told of one result.
const MOST_PROBLEMS: usize = 10;

/// Where data does not fit its schema.
#[derive(Debug, PartialEq)]
pub(super) struct Problem {
    pub(super) path: String,
    /// Continues a sentence: `must be of type int`.
    pub(super) problem: String,
    /// An item with nothing but the value, for the log, once it is redacted.
    pub(super) excerpt: Option<Json>,
}

/// A nested list that was cut.
#[derive(Debug)]
pub(super) struct Cut<'a> {
    /// The names of the fields that lead to it, with dots.
    pub(super) path: String,
    pub(super) shown: usize,
    pub(super) total: usize,
    pub(super) limit: &'a ItemLimit,
}

/// Makes data fit.
pub(super) struct Fitter<'a> {
    app: &'a App,
    path: Vec<Step<'a>>,
    /// What does not fit; no more than a message has room for.
    pub(super) problems: Vec<Problem>,
    /// How many problems there are.
    pub(super) count: usize,
    pub(super) cuts: Vec<Cut<'a>>,
}

impl<'a> Fitter<'a> {
    pub(super) const fn new(app: &'a App) -> Self {
        Self { app, path: Vec::new(), problems: Vec::new(), count: 0, cuts: Vec::new() }
    }

    /// An item of a presenter. `index`: its place where it is one of a list.
    pub(super) fn item(&mut self, presenter: &'a Presenter, index: Option<usize>, item: Json) -> Json {
        self.path.extend(index.map(Step::Index));
        let fitted = self.object(&presenter.fields, presenter.unknown, item);
        self.path.truncate(self.path.len() - usize::from(index.is_some()));
        fitted
    }

    fn object(&mut self, fields: &'a [PresentedField], unknown: UnknownFields, value: Json) -> Json {
        let Json::Object(mut members) = value else {
            self.problem(format!("must be an object, not {}", word(Some(&value))), Some(&value));
            return Json::Null;
        };
        // As most statements give them: the fields of the schema, in its order. Then nothing is
        // moved.
        if members.len() == fields.len() && members.keys().zip(fields).all(|(name, field)| *name == field.name) {
            for (field, value) in fields.iter().zip(members.values_mut()) {
                self.path.push(Step::Member(&field.name));
                *value = self.field(field, value.take());
                self.path.pop();
            }
            return Json::Object(members);
        }
        let mut fitted = Map::with_capacity(fields.len());
        for field in fields {
            self.path.push(Step::Member(&field.name));
            match members.get_mut(&field.name).map(Json::take) {
                Some(value) => {
                    let value = self.field(field, value);
                    fitted.insert(field.name.clone(), value);
                }
                None if field.optional => {}
                None => self.problem("is missing".into(), None),
            }
            self.path.pop();
        }
        if unknown != UnknownFields::Strip {
            for (name, value) in members {
                if fields.iter().any(|field| field.name == name) {
                    continue;
                }
                if unknown == UnknownFields::Keep {
                    fitted.insert(name, value);
                } else {
                    let name = crate::pipeline::call::names::shown(&name).into_owned();
                    self.problem(format!("has the member `{name}`, which the schema does not have"), None);
                }
            }
        }
        Json::Object(fitted)
    }

    fn field(&mut self, field: &'a PresentedField, value: Json) -> Json {
        if value.is_null() {
            if !field.nullable && field.kind != InputKind::Json {
                self.problem(format!("must be of type {}, not null", field.kind.as_str()), None);
            }
            return value;
        }
        let value = match coerced(field.kind, value) {
            Ok(value) => value,
            Err(value) => {
                let problem = match (field.kind, &value) {
                    (InputKind::Int, Json::Number(_)) => format!("must be a whole number of at most {MAX_SAFE_INTEGER}"),
                    (kind, value) => format!("must be of type {}, not {}", kind.as_str(), word(Some(value))),
                };
                self.problem(problem, Some(&value));
                return Json::Null;
            }
        };
        if !field.allowed.is_empty() && !field.allowed.iter().any(|Literal(allowed)| equal(allowed, &value)) {
            self.problem("is not one of the values of `enum`".into(), Some(&value));
        }
        if let (Some(max), Some(amount)) = (field.max, amount(&value))
            && amount > max
        {
            self.problem(
                match &value {
                    Json::String(_) => format!("must have at most {max} characters"),
                    Json::Array(_) => format!("must have at most {max} elements"),
                    _ => format!("must be at most {max}"),
                },
                Some(&value),
            );
        }
        match value {
            Json::Array(elements) => self.list(field, elements),
            value => self.nested(field, value),
        }
    }

    /// What is below a field, or below an element of its list.
    fn nested(&mut self, field: &'a PresentedField, value: Json) -> Json {
        if let Some(child) = field.returns.and_then(|child| self.app.presenters.get(child as usize)) {
            return self.object(&child.fields, child.unknown, value);
        }
        if field.kind == InputKind::Object && !field.fields.is_empty() {
            return self.object(&field.fields, UnknownFields::Strip, value);
        }
        value
    }

    fn list(&mut self, field: &'a PresentedField, mut elements: Vec<Json>) -> Json {
        let child = field.returns.and_then(|child| self.app.presenters.get(child as usize));
        let limit = field.limit.as_ref().or_else(|| child.and_then(|child| child.limit.as_ref()));
        if let Some(limit) = limit.filter(|limit| elements.len() > limit.max as usize) {
            let total = elements.len();
            elements.truncate(limit.max as usize);
            self.cut(limit, elements.len(), total);
        }
        let fit = |(index, element)| {
            self.path.push(Step::Index(index));
            let fitted = match &field.items {
                Some(items) => self.field(items, element),
                None => self.nested(field, element),
            };
            self.path.pop();
            fitted
        };
        elements.into_iter().enumerate().map(fit).collect()
    }

    fn cut(&mut self, limit: &'a ItemLimit, shown: usize, total: usize) {
        let names = self.path.iter().filter(|step| matches!(step, Step::Member(_))).copied().collect::<Vec<_>>();
        let path = shown_path(&names);
        match self.cuts.iter_mut().find(|cut| cut.path == path) {
            Some(cut) => {
                cut.shown += shown;
                cut.total += total;
            }
            None => self.cuts.push(Cut { path, shown, total, limit }),
        }
    }

    fn problem(&mut self, problem: String, value: Option<&Json>) {
        self.count += 1;
        if self.problems.len() < MOST_PROBLEMS {
            let within_item = self.path.iter().skip(usize::from(matches!(self.path.first(), Some(Step::Index(_)))));
            // A list or an object where there should be none has what no path of `redact` leads to,
            // and so has an item that is not an object.
            let is_plain = |value: &&Json| !value.is_array() && !value.is_object();
            let steps: Vec<Step<'_>> = within_item.copied().collect();
            let excerpt = value.filter(is_plain).filter(|_| !steps.is_empty()).and_then(|value| excerpt(steps, value));
            self.problems.push(Problem { path: shown_path(&self.path), problem, excerpt });
        }
    }
}

/// An item with nothing but a value at its place. `None` where too many elements of a list would
/// stand before it.
fn excerpt(mut path: Vec<Step<'_>>, value: &Json) -> Option<Json> {
    const MOST_ELEMENTS: usize = 100;
    let mut excerpt = value.clone();
    while let Some(step) = path.pop() {
        excerpt = match step {
            Step::Member(name) => {
                let mut members = Map::new();
                members.insert(name.into(), excerpt);
                members.into()
            }
            Step::Index(index) if index < MOST_ELEMENTS => core::iter::repeat_n(Json::Null, index).chain([excerpt]).collect(),
            Step::Index(_) => return None,
        };
    }
    Some(excerpt)
}

/// A value as its type has it. Databases have fewer types than JSON: SQLite and MySQL give 0 and 1
/// for truth values, and decimals come as text.
fn coerced(kind: InputKind, value: Json) -> Result<Json, Json> {
    let fits = match (kind, &value) {
        (InputKind::Json, _)
        | (InputKind::String | InputKind::Datetime | InputKind::Date | InputKind::Uuid, Json::String(_))
        | (InputKind::Float, Json::Number(_))
        | (InputKind::Boolean, Json::Bool(_))
        | (InputKind::Array, Json::Array(_))
        | (InputKind::Object, Json::Object(_)) => true,
        (InputKind::Int, Json::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.unsigned_abs() <= MAX_SAFE_INTEGER,
            (None, Some(float)) if float == (float as i64) as f64 && (float as i64).unsigned_abs() <= MAX_SAFE_INTEGER => {
                return Ok((float as i64).into());
            }
            _ => false,
        },
        (InputKind::Boolean, Json::Number(number)) => match number.as_i64() {
            Some(0) => return Ok(false.into()),
            Some(1) => return Ok(true.into()),
            _ => false,
        },
        (InputKind::Float, Json::String(text)) => match text.parse::<f64>().ok().and_then(serde_json::Number::from_f64) {
            Some(number) if text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) => return Ok(number.into()),
            _ => false,
        },
        _ => false,
    };
    if fits { Ok(value) } else { Err(value) }
}

/// What `max` is about.
fn amount(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => Some(text.chars().count() as f64),
        Json::Array(elements) => Some(elements.len() as f64),
        _ => None,
    }
}
