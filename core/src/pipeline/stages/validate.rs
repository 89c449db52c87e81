//! Stage 6, *validate*: every declared input of every tool, in declared order; all problems at
//! once, undeclared fields last.
//!
//! A value is coerced where that loses nothing: `"42"` is the int 42, `3.0` is 3, `"true"` and `1`
//! are booleans (the words of Go's `ParseBool`), a text in one of the forms of
//! [`is_datetime`](crate::formats::is_datetime) is a datetime and stays as it was written, and JSON
//! text of a list or an object is that list or object, since many clients send them so. A text
//! stays a text wherever the declaration takes one. What would lose something is refused: `3.9` as
//! an int, an integer beyond ±2^53 sent as a number, `null` for a required input. For an optional
//! input that is not `nullable`, `null` is the same as leaving it out. An integer beyond ±2^53 is
//! refused wherever no type says otherwise, too: scripts and many clients count in doubles, and
//! would pass on another number.
//!
//! What a tool's statement has no place for is refused here as well: a list of more values than its
//! database takes.

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::fmt;

use serde_json::{Map, Number};

use crate::pipeline::{
    call::run::{RECOVERY, Run},
    call::secrets::AppSecrets,
    isolate::runtime::Pipeline,
    stages::execute::problems,
    stages::present::rename_inputs,
};
use crate::{
    Json,
    app::{Input, InputKind},
    expression::{compare_numbers, equal},
    fault::{Fault, FaultResult, Issue, Stage},
    formats,
    hidden::repeated,
    sort::sort,
    strict,
};

mod coerce;
mod pattern;
mod sent;

pub(in crate::pipeline) use pattern::Patterns;

/// The code of what a caller has to mend.
pub(in crate::pipeline) const INVALID: &str = "VALIDATION_ERROR";
/// The most problems that are reported; a long list with one mistake in every element would drown
/// the caller.
const MAX_ISSUES: usize = 50;
/// The most names or options that one problem lists.
const MAX_LISTED: usize = 50;
/// How many lists and objects of a message the inputs stand in, themselves among them: the message,
/// its `params`, its `arguments`.
const LEVELS_AROUND: usize = 3;
/// The most characters of a path, and of what is wrong there, where a schema says so.
const MAX_PATH: usize = 400;
/// The path of what concerns the inputs as a whole.
const ROOT: &str = "(root)";

/// The inputs with values coerced and defaults filled in, in declared order.
///
/// # Errors
/// `VALIDATION_ERROR` with every problem; `CONFIGURATION` for a pattern that does not compile.
pub(in crate::pipeline) async fn validate(run: &Run<'_>, mut inputs: Json) -> FaultResult<Json> {
    rename_inputs(run, &mut inputs);
    if let Some(schema) = &run.tool.input_schema {
        return by_schema(run, schema, inputs);
    }
    let inputs = check(run.pipeline, &run.tool.inputs, inputs)?;
    let mut issues: Vec<Issue> = Vec::new();
    for statement in run.tool.execute.statements() {
        // What is wrong in two statements of a transaction is said once.
        issues.extend(problems(run, statement, &inputs).into_iter().filter(|issue| !issues.contains(issue)).collect::<Vec<_>>());
    }
    if !issues.is_empty() {
        return Err(invalid(issues).into());
    }
    Ok(inputs)
}

/// Checks inputs against any declaration.
///
/// # Errors
/// Those of [`validate`].
pub(in crate::pipeline) fn check(pipeline: &Pipeline, declared: &[Input], inputs: Json) -> FaultResult<Json> {
    let sent = match inputs {
        Json::Object(sent) => sent,
        _ => Map::new(),
    };
    let mut check = Check::new(pipeline);
    let inputs = check.fields(declared, sent, &Path::Root);
    check.finish(declared)?;
    Ok(Json::Object(inputs))
}

/// The inputs of a tool that gives its schema outright: as they were sent, where they fit, or with
/// JSON text read where they do not.
fn by_schema(run: &Run<'_>, schema: &str, mut inputs: Json) -> FaultResult<Json> {
    let of_text = |text: &str, levels: usize| strict::parse(text, (LEVELS_AROUND + levels).saturating_sub(1));
    let Err(mismatch) = run.pipeline.schemas.check_inputs(run.place, schema, &mut inputs, &of_text) else {
        let mut check = Check::new(run.pipeline);
        check.integers(&inputs, &Path::Root, "number");
        return check.finish(&[]).map(|()| inputs);
    };
    // Both can have names that the caller made up.
    let field = if mismatch.path.is_empty() { String::from(ROOT) } else { repeated(&mismatch.path, MAX_PATH).into_owned() };
    let problem = repeated(&mismatch.problem, MAX_PATH);
    let message = format!("The inputs do not match the tool's schema: `{field}` {problem}.");
    let mut fault = Fault::new(Stage::Validate, INVALID, message).suggesting(RECOVERY);
    fault.issues = Vec::from([Issue { field, message: format!("It {problem}.") }]);
    Err(fault.into())
}

struct Check<'a> {
    patterns: &'a Patterns,
    secrets: &'a AppSecrets,
    issues: Vec<Issue>,
    hidden: usize,
    undeclared: Vec<String>,
    broken: Option<alloc::boxed::Box<Fault>>,
}

/// The way to a value; written out only for a problem.
enum Path<'a> {
    Root,
    Member(&'a Path<'a>, &'a str),
    Element(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// How many steps it has.
    fn len(&self) -> usize {
        match self {
            Self::Root => 0,
            Self::Member(parent, _) | Self::Element(parent, _) => parent.len() + 1,
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(Self::Root, name) => f.write_str(name),
            Self::Member(parent, name) => write!(f, "{parent}.{name}"),
            Self::Element(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

impl<'a> Check<'a> {
    fn new(pipeline: &'a Pipeline) -> Self {
        Self {
            patterns: &pipeline.patterns,
            secrets: &pipeline.secrets,
            issues: Vec::new(),
            hidden: 0,
            undeclared: Vec::new(),
            broken: None,
        }
    }

    /// A value, as a problem repeats it.
    fn sent(&self, value: &Json) -> String {
        sent::sent(value, &|text| self.secrets.strike_value(text).into_owned())
    }

    fn fields(&mut self, declared: &[Input], mut sent: Map<String, Json>, path: &Path<'_>) -> Map<String, Json> {
        let mut fields = Map::with_capacity(declared.len());
        for input in declared {
            let value = sent.remove(&input.name);
            if let Some(value) = self.field(input, value, &Path::Member(path, &input.name)) {
                fields.insert(input.name.clone(), value);
            }
        }
        let secrets = self.secrets;
        self.undeclared.extend(sent.keys().map(|name| format!("{}", Path::Member(path, &sent::name(&secrets.strike_value(name))))));
        fields
    }

    fn field(&mut self, input: &Input, value: Option<Json>, path: &Path<'_>) -> Option<Json> {
        let may_be_absent = input.optional || input.default.is_some();
        match value {
            Some(Json::Null) if input.nullable => Some(Json::Null),
            None | Some(Json::Null) if may_be_absent => input.default.as_ref().map(|literal| literal.0.clone()),
            None => self.report(path, format!("Required. You sent: (missing). Expected type: {}.", input.kind.as_str())),
            Some(Json::Null) => self.report(path, format!("Required. You sent: null. Expected type: {}.", input.kind.as_str())),
            Some(value) => self.value(input, value, path),
        }
    }

    fn value(&mut self, input: &Input, value: Json, path: &Path<'_>) -> Option<Json> {
        let value = match value {
            Json::String(text) if matches!(input.kind, InputKind::Array | InputKind::Object) => {
                coerce::of_text(input.kind, text, (LEVELS_AROUND + path.len()).saturating_sub(1))
            }
            value => value,
        };
        let value = match coerce::coerce(input.kind, value) {
            Ok(value) => value,
            Err(refused) => {
                let (sent, kind) = (self.sent(&refused.value), input.kind.as_str());
                return self.report(path, format!("{}. You sent: {sent}. Expected type: {kind}.{}", refused.problem, refused.hint));
            }
        };
        if !input.allowed.is_empty() && !input.allowed.iter().any(|allowed| equal(&allowed.0, &value)) {
            let options = listed(input.allowed.iter().map(|allowed| Cow::Owned(sent::allowed(&allowed.0))));
            return self.report(path, format!("Invalid value. You sent: {}. Valid options: {options}.", self.sent(&value)));
        }
        if let Some(problem) = self.problem(input, &value) {
            return self.report(path, problem);
        }
        let is_open = match input.kind {
            InputKind::Json => true,
            InputKind::Array => input.items.is_none(),
            InputKind::Object => input.fields.is_empty(),
            _ => false,
        };
        if is_open && !self.integers(&value, path, input.kind.as_str()) {
            return None;
        }
        Some(match (value, &input.items) {
            (Json::Array(elements), Some(item)) => self.elements(item, elements, path),
            (Json::Object(members), _) if input.kind == InputKind::Object && !input.fields.is_empty() => {
                Json::Object(self.fields(&input.fields, members, path))
            }
            (value, _) => value,
        })
    }

    /// Whether every integer in a value is exact; those that are not are reported. JSON has at most
    /// 128 levels.
    fn integers(&mut self, value: &Json, path: &Path<'_>, kind: &str) -> bool {
        match value {
            Json::Number(number) if !coerce::is_exact(number) => {
                let (problem, hint) = (coerce::TOO_LARGE, coerce::AS_STRING);
                self.report(path, format!("{problem}. You sent: {number}. Expected type: {kind}.{hint}"));
                false
            }
            // Every one is looked at: all problems are told at once.
            Json::Array(elements) => {
                let mut all = true;
                for (index, element) in elements.iter().enumerate() {
                    all &= self.integers(element, &Path::Element(path, index), "json");
                }
                all
            }
            Json::Object(members) => {
                let mut all = true;
                for (name, member) in members {
                    all &= self.integers(member, &Path::Member(path, &sent::name(name)), "json");
                }
                all
            }
            _ => true,
        }
    }

    fn elements(&mut self, item: &Input, elements: Vec<Json>, path: &Path<'_>) -> Json {
        let checked = elements.into_iter().enumerate();
        // An element has no default and cannot be absent: null is a value of it, or a problem.
        checked
            .filter_map(|(index, element)| match element {
                Json::Null if item.nullable || item.kind == InputKind::Json => Some(Json::Null),
                element => self.value(item, element, &Path::Element(path, index)),
            })
            .collect()
    }

    /// What is wrong with a value of the right type.
    fn problem(&mut self, input: &Input, value: &Json) -> Option<String> {
        let (measure, small, large, noun) = match value {
            Json::Number(number) => (number.clone(), "Too small", "Too large", "value"),
            Json::String(text) => (Number::from(text.chars().count()), "Too short", "Too long", "length"),
            Json::Array(elements) => (Number::from(elements.len()), "Too few elements", "Too many elements", "number of elements"),
            _ => return None,
        };
        if let Some(min) = input.min
            && below(&measure, min)
        {
            return Some(format!("{small}. You sent: {}. Minimum {noun}: {min}.", self.sent(value)));
        }
        if let Some(max) = input.max
            && above(&measure, max)
        {
            return Some(format!("{large}. You sent: {}. Maximum {noun}: {max}.", self.sent(value)));
        }
        let Json::String(text) = value else { return None };
        if let Some(pattern) = &input.pattern {
            match self.patterns.matches(pattern, text) {
                Ok(true) => {}
                Ok(false) => return Some(format!("Invalid value. You sent: {}. Expected pattern: {}", self.sent(value), pattern.text())),
                Err(fault) => self.broken = Some(fault),
            }
        }
        match &input.format {
            Some(format) if !formats::is(format, text) => {
                Some(format!("Invalid value. You sent: {}. Expected format: {format}.", self.sent(value)))
            }
            _ => None,
        }
    }

    fn report(&mut self, path: &Path<'_>, message: String) -> Option<Json> {
        if self.issues.len() < MAX_ISSUES {
            self.issues.push(Issue { field: format!("{path}"), message });
        } else {
            self.hidden += 1;
        }
        None
    }

    fn finish(mut self, declared: &[Input]) -> FaultResult<()> {
        if let Some(fault) = self.broken {
            return Err(fault);
        }
        if self.hidden > 0 {
            let message = format!("{} more problems of this kind are not listed.", self.hidden);
            self.issues.push(Issue { field: ROOT.into(), message });
        }
        if !self.undeclared.is_empty() {
            // Taking the declared ones out moved the others around.
            sort(&mut self.undeclared);
            let names = listed(self.undeclared.iter().map(|name| Cow::Owned(format!("'{name}'"))));
            let allowed = listed(declared.iter().map(|input| Cow::Owned(format!("'{}'", input.name))));
            self.issues.push(Issue { field: ROOT.into(), message: format!("Unknown fields: {names}. Allowed fields: {allowed}.") });
        }
        if self.issues.is_empty() {
            return Ok(());
        }
        Err(invalid(self.issues).into())
    }
}

/// The failure of a call whose inputs have these problems.
pub(in crate::pipeline) fn invalid(issues: Vec<Issue>) -> Fault {
    let summary: Vec<String> = issues.iter().map(|issue| format!("{}: {}", issue.field, issue.message)).collect();
    let message = format!("The inputs are not valid. {}", summary.join(" "));
    let mut fault = Fault::new(Stage::Validate, INVALID, message).suggesting(RECOVERY);
    fault.issues = issues;
    fault
}

fn below(number: &Number, min: f64) -> bool {
    Number::from_f64(min).is_some_and(|min| compare_numbers(number, &min).is_lt())
}

fn above(number: &Number, max: f64) -> bool {
    Number::from_f64(max).is_some_and(|max| compare_numbers(number, &max).is_gt())
}

fn listed<'a>(names: impl ExactSizeIterator<Item = Cow<'a, str>>) -> String {
    let count = names.len();
    if count == 0 {
        return "(none)".into();
    }
    let mut list = names.take(MAX_LISTED).collect::<Vec<_>>().join(", ");
    if count > MAX_LISTED {
        list.push_str(&format!(" and {} more", count - MAX_LISTED));
    }
    list
}
