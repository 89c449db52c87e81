//! What the paths of placeholders and expressions lead to: `inputs.user.id`, `auth.subject`,
//! `ctx.env.REGION`, `results[0].total`.
//!
//! A path that can never have a value is a mistake: it would bind `NULL`, or make a rule that never
//! holds.

use std::fmt::Write as _;

use millrace_core::{
    Json,
    app::{Auth, Execute, Input, InputKind},
    expression::Step,
};

use crate::names::{meant, nearest};

/// The first names that placeholders of a statement can have.
pub(crate) const IN_STATEMENT: &[&str] = &["inputs", "env", "ctx", "auth"];
/// Those of a step of a transaction.
pub(crate) const IN_STEP: &[&str] = &["inputs", "steps", "env", "ctx", "auth"];
/// Those of `confirm`, of keys and of conditions of a call.
pub(crate) const IN_CALL: &[&str] = &["inputs", "auth", "ctx"];
/// Those of the middleware.
pub(crate) const IN_MIDDLEWARE: &[&str] = &["inputs", "auth", "ctx", "request"];
/// Those of `context.values`.
pub(crate) const IN_CONTEXT: &[&str] = &["auth", "request", "env"];
/// Those of a rule of `errors.on`.
pub(crate) const IN_RULE: &[&str] = &["results", "inputs", "auth", "ctx", "answer"];
/// Those of its message.
pub(crate) const IN_RULE_MESSAGE: &[&str] = &["results", "inputs", "auth", "ctx"];
/// Those of an adapter's connection.
pub(crate) const IN_CONNECTION: &[&str] = &["env", "secret", "auth"];
/// Those of an adapter's session.
pub(crate) const IN_SESSION: &[&str] = &["auth", "env"];
/// Those of a presenter.
pub(crate) const IN_PRESENTER: &[&str] = &["item", "items", "auth"];
/// Those of the condition of a redaction.
pub(crate) const IN_REDACTION: &[&str] = &["auth", "item"];
/// Those of the notice of a limit.
pub(crate) const IN_NOTICE: &[&str] = &["shown", "total", "omitted"];
/// Where nothing else is filled in, the variables and secrets of the deployment are.
pub(crate) const OF_DEPLOYMENT: &[&str] = &["env", "secret"];
/// The arguments of a prompt or the variables of a resource, which have no first name.
pub(crate) const ARGUMENTS: &[&str] = &["arguments"];

/// What a rule calls the answer to a request that failed.
pub(crate) const ANSWER: &str = "answer";

/// What a value can be, as far as the app says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueType {
    /// Anything.
    Any,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// Text.
    Text,
    /// One of these texts.
    Words(Vec<String>),
    /// A list, and what its elements are.
    List(Box<ValueType>),
    /// The items of a presenter in a placeholder: a name after it is the list of what each has
    /// there.
    Each(Box<ValueType>),
    /// An object with these members and no others.
    Object(Vec<(String, ValueType)>),
    /// An object with these members, and others of which nothing is known.
    Open(Vec<(String, ValueType)>),
    /// What a statement that writes gives: a list of rows where it returns any, else an object with
    /// `affected_rows`.
    Written,
    /// Nothing, ever: why, and what to do about it.
    Never(&'static str, &'static str),
}

/// The first names that a path may have, and what they are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathScope {
    roots: Vec<(&'static str, ValueType)>,
}

/// Why a path leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DeadEnd {
    /// Which step of the path it is, from 0; the root is the first.
    pub(crate) step: usize,
    /// One sentence.
    pub(crate) message: String,
    /// How to mend it; empty where nobody knows.
    pub(crate) help: String,
}

impl ValueType {
    /// What it is, in words, and whether that is all it can be.
    pub(crate) fn noun(&self) -> Option<&'static str> {
        match self {
            Self::Any | Self::Written | Self::Never(..) => None,
            Self::Bool => Some("a boolean"),
            Self::Number => Some("a number"),
            Self::Text | Self::Words(_) => Some("a string"),
            Self::List(_) | Self::Each(_) => Some("a list"),
            Self::Object(_) | Self::Open(_) => Some("an object"),
        }
    }

    fn of_input(input: &Input) -> Self {
        match input.kind {
            InputKind::String | InputKind::Datetime | InputKind::Date | InputKind::Uuid => Self::Text,
            InputKind::Int | InputKind::Float => Self::Number,
            InputKind::Boolean => Self::Bool,
            InputKind::Array => Self::List(Box::new(input.items.as_deref().map_or(Self::Any, Self::of_input))),
            InputKind::Object if !input.fields.is_empty() => Self::of_inputs(&input.fields),
            InputKind::Object | InputKind::Json => Self::Any,
        }
    }

    fn of_inputs(inputs: &[Input]) -> Self {
        Self::Object(inputs.iter().map(|input| (input.name.clone(), Self::of_input(input))).collect())
    }

    /// What a value of the app's files is. Where it is `null`, a placeholder may stand.
    pub(crate) fn of_value(value: &Json) -> Self {
        match value {
            Json::Null => Self::Any,
            Json::Bool(_) => Self::Bool,
            Json::Number(_) => Self::Number,
            Json::String(_) => Self::Text,
            Json::Array(_) => Self::List(Box::new(Self::Any)),
            Json::Object(members) => Self::Object(members.iter().map(|(name, value)| (name.clone(), Self::of_value(value))).collect()),
        }
    }

    /// What a JSON Schema describes, as far as it leaves nothing open.
    fn of_schema(schema: &Json) -> Self {
        let member = |name: &str| schema.get(name);
        match member("type").and_then(Json::as_str) {
            Some("boolean") => Self::Bool,
            Some("number" | "integer") => Self::Number,
            Some("string") => Self::Text,
            Some("array") => Self::List(Box::new(member("items").map_or(Self::Any, Self::of_schema))),
            Some("object") if member("additionalProperties") == Some(&Json::Bool(false)) && member("patternProperties").is_none() => {
                let properties = member("properties").and_then(Json::as_object).into_iter().flatten();
                Self::Object(properties.map(|(name, schema)| (name.clone(), Self::of_schema(schema))).collect())
            }
            _ => Self::Any,
        }
    }

    /// What the schema of a presenter's item describes.
    fn of_item(schema: &Json) -> Self {
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Json::String(kind)) => vec![kind],
            Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).filter(|kind| *kind != "null").collect(),
            _ => Vec::new(),
        };
        let properties = || {
            let properties = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
            properties.map(|(name, schema)| (name.clone(), Self::of_item(schema))).collect()
        };
        match kinds.as_slice() {
            ["boolean"] => Self::Bool,
            ["number" | "integer"] => Self::Number,
            ["string"] => match schema.get("enum").and_then(Json::as_array) {
                Some(words) => Self::Words(words.iter().filter_map(Json::as_str).map(String::from).collect()),
                None => Self::Text,
            },
            ["array"] => Self::List(Box::new(schema.get("items").map_or(Self::Any, Self::of_item))),
            ["object"] if schema.get("additionalProperties") == Some(&Json::Bool(false)) => Self::Object(properties()),
            ["object"] if schema.get("properties").is_some() => Self::Open(properties()),
            _ => Self::Any,
        }
    }

    /// `auth` of a file that tools with any kind of `auth` use.
    fn of_caller() -> Self {
        let texts = || Self::List(Box::new(Self::Text));
        let members = [("subject", Self::Text), ("scopes", texts()), ("roles", texts()), ("claims", Self::Any), ("plugin", Self::Text)];
        Self::Object(members.map(|(name, value)| (name.to_owned(), value)).to_vec())
    }

    /// `auth` of a tool.
    fn of_auth(auth: Option<&Auth>) -> Self {
        let texts = || Self::List(Box::new(Self::Text));
        let claims = match auth {
            None => {
                let help = "Add `auth` to the tool, to the `_folder.yaml` of its folder or to the root file.";
                return Self::Never("the tool has no `auth`, so no caller is identified", help);
            }
            Some(Auth::AllowAll) => return Self::Never("`allow_all` identifies no caller", "Use `api_key`, `jwt` or a script."),
            Some(Auth::ApiKey(_)) => {
                Self::Never("an API key has no claims", "Use `jwt`, or a script: the members of what it returns are claims.")
            }
            Some(Auth::Script { .. } | Auth::Jwt(_) | Auth::Any(_)) => Self::Any,
        };
        let members = [("subject", Self::Text), ("scopes", texts()), ("roles", texts()), ("claims", claims), ("plugin", Self::Text)];
        Self::Object(members.map(|(name, value)| (name.to_owned(), value)).to_vec())
    }

    /// `ctx.request`, with the header fields that are listed.
    fn of_request(headers: &[String]) -> Self {
        let headers = if headers.is_empty() {
            Self::Never("`context.headers` does not list any", "List the header field under `context.headers`.")
        } else {
            Self::Object(headers.iter().map(|name| (name.clone(), Self::Text)).collect())
        };
        let capabilities = Self::List(Box::new(Self::Text));
        let texts = ["id", "method", "path", "peer", "protocol"].map(|name| (name, Self::Text));
        let request = texts.into_iter().chain([("headers", headers), ("capabilities", capabilities)]);
        Self::Object(request.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// `ctx` of a tool.
    fn of_ctx(auth: Option<&Auth>, env: &[String], shape: &ContextShape) -> Self {
        let variables = env.iter().map(|name| (name.clone(), Self::Text)).collect();
        let always = [("auth", Self::of_auth(auth)), ("request", Self::of_request(&shape.headers)), ("env", Self::Object(variables))];
        let always = always.map(|(name, value)| (name.to_owned(), value));
        let members = always.into_iter().chain(shape.values.iter().cloned()).collect();
        if shape.is_open { Self::Open(members) } else { Self::Object(members) }
    }

    /// What a tool gives before its output mapper.
    fn of_results(execute: Option<&Execute>) -> Self {
        match execute.filter(|execute| !execute.asks_api()).and_then(Execute::access) {
            Some(access) if access.reads() => Self::List(Box::new(Self::Any)),
            Some(_) => Self::Written,
            None => Self::Any,
        }
    }
}

/// What `ctx` has beside what it always has, up to some point of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextShape {
    /// The declared values.
    values: Vec<(String, ValueType)>,
    /// A script adds what nobody can know.
    pub(crate) is_open: bool,
    /// The listed header fields.
    pub(crate) headers: Vec<String>,
}

impl ContextShape {
    /// Adds a value, in place of another one of that name.
    pub(crate) fn declare(&mut self, name: &str, value: ValueType) {
        self.values.retain(|(known, _)| known != name);
        self.values.push((name.to_owned(), value));
    }

    /// Whether a value of that name can be there.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        self.is_open || self.values.iter().any(|(known, _)| known == name)
    }

    /// The names of the declared values.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.values.iter().map(|(name, _)| name.as_str()).collect()
    }
}

/// What decides what the paths of a tool lead to.
pub(crate) struct ToolScope<'a> {
    /// `inputs`
    pub(crate) inputs: &'a [Input],
    /// `json_schema`, which stands instead of them.
    pub(crate) schema: Option<&'a Json>,
    /// The tool's `auth`, inherited or its own.
    pub(crate) auth: Option<&'a Auth>,
    /// `env` of the root file.
    pub(crate) env: &'a [String],
    /// What `ctx` has.
    pub(crate) context: &'a ContextShape,
    /// What the tool does; `None` where that is not known, or another stage changes the result.
    pub(crate) execute: Option<&'a Execute>,
}

impl ToolScope<'_> {
    fn inputs(&self) -> ValueType {
        self.schema.map_or_else(|| ValueType::of_inputs(self.inputs), ValueType::of_schema)
    }

    /// `inputs`, `ctx` and `auth`.
    pub(crate) fn of_statement(&self) -> PathScope {
        let auth = ValueType::of_auth(self.auth);
        PathScope { roots: vec![("inputs", self.inputs()), ("ctx", self.ctx()), ("auth", auth)] }
    }

    /// `results`, `inputs`, `auth` and `ctx`; and `answer` where the tool asks an API.
    pub(crate) fn of_rules(&self, asks_api: bool) -> PathScope {
        let results = ValueType::of_results(self.execute);
        let auth = ValueType::of_auth(self.auth);
        let mut roots = vec![("results", results), ("inputs", self.inputs()), ("auth", auth), ("ctx", self.ctx())];
        let answer = [("status", ValueType::Number), ("body", ValueType::Any)].map(|(name, value)| (name.to_owned(), value));
        roots.extend(asks_api.then(|| (ANSWER, ValueType::Object(answer.to_vec()))));
        PathScope { roots }
    }

    /// `inputs`, `auth` and `ctx`.
    pub(crate) fn of_confirm(&self) -> PathScope {
        PathScope { roots: vec![("inputs", self.inputs()), ("auth", ValueType::of_auth(self.auth)), ("ctx", self.ctx())] }
    }

    /// `inputs`, `auth`, `ctx` and `request`: what an entry of the middleware sees.
    pub(crate) fn of_middleware(&self) -> PathScope {
        let mut scope = self.of_confirm();
        scope.roots.push(("request", ValueType::of_request(&self.context.headers)));
        scope
    }

    /// `auth` and `request`: what a value of the context sees.
    pub(crate) fn of_context(&self) -> PathScope {
        PathScope { roots: vec![("auth", ValueType::of_auth(self.auth)), ("request", ValueType::of_request(&self.context.headers))] }
    }

    fn ctx(&self) -> ValueType {
        ValueType::of_ctx(self.auth, self.env, self.context)
    }
}

impl PathScope {
    /// `auth` of a tool.
    pub(crate) fn of_auth(auth: Option<&Auth>) -> Self {
        Self { roots: vec![("auth", ValueType::of_auth(auth))] }
    }

    /// `auth`, whatever the tool's is.
    pub(crate) fn of_caller() -> Self {
        Self { roots: vec![("auth", ValueType::of_caller())] }
    }

    /// `shown`, `total` and `omitted`.
    pub(crate) fn of_notice() -> Self {
        Self { roots: ["shown", "total", "omitted"].map(|name| (name, ValueType::Number)).to_vec() }
    }

    /// `item`, `items` and `auth` of a presenter, by the schema of its item.
    pub(crate) fn of_presenter(schema: &Json) -> Self {
        let item = ValueType::of_item(schema);
        let items = ValueType::List(Box::new(item.clone()));
        Self { roots: vec![("item", item), ("items", items), ("auth", ValueType::of_caller())] }
    }

    /// The same without one of the first names.
    pub(crate) fn without(&self, root: &str) -> Self {
        Self { roots: self.roots.iter().filter(|(name, _)| *name != root).cloned().collect() }
    }

    /// The same for placeholders, in which a name after `items` is the list of what each item has
    /// there.
    pub(crate) fn of_placeholders(&self) -> Self {
        let roots = self.roots.iter().cloned().map(|(name, value)| match (name, value) {
            ("items", ValueType::List(item)) => (name, ValueType::Each(item)),
            other => other,
        });
        Self { roots: roots.collect() }
    }

    /// Roots of which nothing is known but their names.
    #[cfg(test)]
    pub(crate) fn of_names(names: &[&'static str]) -> Self {
        Self { roots: names.iter().map(|name| (*name, ValueType::Any)).collect() }
    }

    /// The first names that a path may have.
    pub(crate) fn roots(&self) -> Vec<&'static str> {
        self.roots.iter().map(|(name, _)| *name).collect()
    }

    /// What a path of names leads to, written with dots.
    pub(crate) fn named(&self, path: &str) -> Option<Result<ValueType, DeadEnd>> {
        let steps: Vec<Step> = path.split('.').map(|name| Step::Member(name.to_owned())).collect();
        self.resolve(&steps)
    }

    /// What a path leads to. `None` where its first name is not known.
    ///
    /// # Errors
    /// The step that leads nowhere.
    pub(crate) fn resolve(&self, steps: &[Step]) -> Option<Result<ValueType, DeadEnd>> {
        let Some((Step::Member(root), rest)) = steps.split_first() else { return None };
        let (_, start) = self.roots.iter().find(|(name, _)| name == root)?;
        Some(Self::below(start.clone(), root, rest))
    }

    /// What the steps after the first one, `root`, lead to.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub(crate) fn below(start: ValueType, root: &str, rest: &[Step]) -> Result<ValueType, DeadEnd> {
        let mut found = start;
        let mut so_far = root.to_owned();
        for (index, step) in rest.iter().enumerate() {
            found = follow(found, step, &so_far).map_err(|(message, help)| DeadEnd { step: index + 1, message, help })?;
            // Writing to a string cannot fail.
            let _ = match step {
                Step::Member(name) => write!(so_far, ".{name}"),
                Step::Index(index) => write!(so_far, "[{index}]"),
            };
        }
        if let ValueType::Never(why, help) = found {
            let message = format!("`{so_far}` never has a value: {why}");
            return Err(DeadEnd { step: rest.len(), message, help: help.into() });
        }
        Ok(found)
    }
}

type Reason = (String, String);

fn follow(value: ValueType, step: &Step, so_far: &str) -> Result<ValueType, Reason> {
    match (value, step) {
        (ValueType::Never(why, help), _) => Err((format!("`{so_far}` never has a value: {why}"), help.into())),
        (ValueType::Any, _) => Ok(ValueType::Any),
        (ValueType::List(element), Step::Index(_)) => Ok(*element),
        (ValueType::Each(item), Step::Member(_)) => follow(*item, step, so_far).map(|member| ValueType::Each(Box::new(member))),
        (ValueType::Written, Step::Index(_)) => Ok(ValueType::Any),
        (ValueType::Written, Step::Member(name)) if name == "affected_rows" => Ok(ValueType::Number),
        (ValueType::Written, Step::Member(name)) => {
            let help = format!("The result is a list of rows, or `affected_rows`: write `{so_far}[0].{name}` or `{so_far}.affected_rows`.");
            Err((format!("`{so_far}` has no `{name}`"), help))
        }
        (ValueType::Open(members), Step::Member(name)) => {
            Ok(members.into_iter().find(|(member, _)| member == name).map_or(ValueType::Any, |(_, value)| value))
        }
        (ValueType::Object(members), Step::Member(name)) => match members.iter().position(|(member, _)| member == name) {
            Some(at) => Ok(members.into_iter().nth(at).map_or(ValueType::Any, |(_, value)| value)),
            None => {
                let names: Vec<&str> = members.iter().map(|(member, _)| member.as_str()).collect();
                let (message, all) = match so_far {
                    "inputs" => (format!("the tool has no input `{name}`"), "The inputs are"),
                    "ctx.env" => (format!("`env` of the app does not list `{name}`"), "It lists"),
                    _ => (format!("`{so_far}` has no `{name}`"), "It has"),
                };
                let help = match (so_far, members.is_empty()) {
                    ("inputs", true) => "Declare it under `inputs`.".to_owned(),
                    ("ctx", _) => match nearest(name, names.iter().copied()) {
                        Some(near) => format!("Did you mean `{near}`?"),
                        None => "Declare it under `context.values`, or add it in a context factory or in middleware.".to_owned(),
                    },
                    ("ctx.request.headers" | "request.headers", _) => "List it under `context.headers`.".to_owned(),
                    ("ctx.env", _) => "List it under `env` in the root file, or write `{{ env.NAME }}`.".to_owned(),
                    _ => meant(name, &names, all),
                };
                Err((message, help))
            }
        },
        (list @ ValueType::List(_), Step::Member(name)) => {
            let help = match name.as_str() {
                "length" | "size" | "count" => format!("Write `len({so_far})`."),
                "exists" | "all" | "any" | "some" | "every" => format!("Write `{so_far}.exists(x, …)` or `{so_far}.all(x, …)`."),
                _ => format!("An element has an index: `{so_far}[0].{name}`."),
            };
            Err((format!("`{so_far}` is {} and has no `{name}`", list.noun().unwrap_or_default()), help))
        }
        (text @ (ValueType::Text | ValueType::Words(_)), Step::Member(name)) if name == "length" => {
            let help = format!("Write `len({so_far})`.");
            Err((format!("`{so_far}` is {} and has no `{name}`", text.noun().unwrap_or_default()), help))
        }
        (other, Step::Member(name)) => {
            Err((format!("`{so_far}` is {} and has no `{name}`", other.noun().unwrap_or_default()), String::new()))
        }
        (other, Step::Index(_)) => Err((format!("`{so_far}` is {}, not a list", other.noun().unwrap_or_default()), String::new())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tables_say_is_what_scopes_have() {
        let context = ContextShape::default();
        let scope = ToolScope { inputs: &[], schema: None, auth: None, env: &[], context: &context, execute: None };
        let presenter = PathScope::of_presenter(&Json::Null);
        let cases: [(&[&str], PathScope); 9] = [
            (IN_STATEMENT, scope.of_statement()),
            (IN_STEP, scope.of_statement()),
            (IN_CALL, scope.of_confirm()),
            (IN_MIDDLEWARE, scope.of_middleware()),
            (IN_CONTEXT, scope.of_context()),
            (IN_RULE, scope.of_rules(true)),
            (IN_RULE_MESSAGE, scope.of_rules(false)),
            (IN_PRESENTER, presenter.clone()),
            (IN_NOTICE, PathScope::of_notice()),
        ];
        for (listed, scope) in cases {
            // Variables are no part of a scope, and neither are the steps before one.
            let mut listed: Vec<&str> = listed.iter().copied().filter(|root| !["env", "steps"].contains(root)).collect();
            let mut roots = scope.roots();
            listed.sort_unstable();
            roots.sort_unstable();
            assert_eq!(listed, roots);
        }
        assert!(IN_REDACTION.iter().all(|root| presenter.roots().contains(root)));
    }
}
