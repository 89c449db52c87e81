//! What an operation asks for, as the request of a tool and its inputs.

use millrace_core::{Json, url::percent_coded_except};

use super::{
    document::Node,
    input::{self, Detail, Input, is_read_only, kind_of},
    operation::{Operation, Parameter},
    prose,
    schema::Shape,
};
use crate::commands::new::from::{names, yaml};

/// The most inputs and fields of a tool; beyond, objects have no fields.
const MANY: usize = 60;
/// Header fields that are no parameters, whatever a specification says.
const OWN_HEADERS: [&str; 14] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// What stays as it is in a path.
const PATH: &[u8] = b"-._~/%:@!$&'()*,;=";

/// The request of a tool.
#[derive(Default)]
pub(super) struct Request {
    /// `GET /orders/{{ inputs.id }}?status={{ inputs.status }}`
    pub(super) line: String,
    pub(super) headers: Vec<(String, Json)>,
    pub(super) body: Option<Body>,
    pub(super) inputs: Vec<Input>,
    /// What the tool cannot send, in clauses.
    pub(super) left_out: Vec<String>,
    query: Vec<String>,
}

/// What is sent.
pub(super) enum Body {
    /// Members, each a placeholder or a literal.
    Json(Vec<(String, Json)>),
    /// One value.
    Whole(String),
    /// Fields.
    Form(Vec<(String, Json)>),
}

/// What is known besides the operation.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    /// Header fields and fields of the query that hold credentials, in small letters.
    pub(super) credentials: &'k [String],
    /// Fields of the query that pages set.
    pub(super) paged: &'k [String],
    /// A field of the query that always has the same value: the size of a page.
    pub(super) fixed: Option<&'k (String, u32)>,
}

impl Request {
    /// Reads an operation.
    ///
    /// # Errors
    /// Why a tool cannot send such a request.
    pub(super) fn of(operation: &Operation<'_>, known: Known<'_>) -> Result<Self, String> {
        let mut request = Self::default();
        for levels in [2, 1, 0] {
            request = Self::with(operation, known, levels)?;
            if request.inputs.iter().map(size).sum::<usize>() <= MANY {
                break;
            }
        }
        Ok(request)
    }

    fn with(operation: &Operation<'_>, known: Known<'_>, levels: usize) -> Result<Self, String> {
        let mut request = Self::default();
        let parameters = operation.parameters();
        let detail = Detail { levels, defaults: operation.only_reads() };
        let path = request.path(operation.path, &parameters)?;
        for parameter in parameters.iter().filter(|parameter| parameter.place != "path") {
            let name = parameter.name.to_ascii_lowercase();
            if known.credentials.contains(&name) || parameter.node.is("deprecated") && !parameter.is_required() {
                continue;
            }
            match parameter.place {
                "query" if !known.paged.iter().any(|name| name == parameter.name) => request.query(parameter, detail)?,
                "header" if !OWN_HEADERS.contains(&name.as_str()) => request.header(parameter)?,
                "cookie" => request.leave_out(parameter, "is a cookie")?,
                _ => {}
            }
        }
        if let Some(body) = operation.node.get("requestBody") {
            if operation.only_reads() && body.is("required") {
                return Err(format!("it is a `{}` with a body", operation.method));
            }
            if !operation.only_reads() {
                request.body(body, Detail { levels, defaults: false })?;
            }
        }
        if let Some((name, size)) = known.fixed {
            request.query.push(format!("{}={size}", coded(name)));
        }
        let query = if request.query.is_empty() { String::new() } else { format!("?{}", request.query.join("&")) };
        request.line = format!("{} {path}{query}", operation.method);
        Ok(request)
    }

    /// The path, its parameters as placeholders.
    fn path(&mut self, template: &str, parameters: &[Parameter<'_>]) -> Result<String, String> {
        if template.contains('#') {
            return Err("its path has a `#`, which no request can have".to_owned());
        }
        let (template, fixed) = template.split_once('?').unwrap_or((template, ""));
        if !template.starts_with('/') || template.split('/').any(|part| part == "." || part == "..") {
            return Err("its path does not begin with `/`, or has `.` or `..`".to_owned());
        }
        self.query.extend(fixed.split('&').filter(|field| !field.is_empty()).map(|field| percent_coded_except(field.as_bytes(), PATH)));
        let mut path = String::new();
        let mut rest = template;
        while let Some((before, opened)) = rest.split_once('{') {
            let (name, after) = opened.split_once('}').ok_or("its path has a `{` without `}`")?;
            path.push_str(&percent_coded_except(before.as_bytes(), PATH));
            let parameter = parameters.iter().find(|parameter| parameter.place == "path" && parameter.name == name);
            let input = match parameter {
                Some(parameter) => self.path_input(parameter)?,
                None if name.starts_with(['+', '/', '.', ';', '?']) => {
                    return Err(format!("its path has `{{{name}}}`, which is more than one segment"));
                }
                None => Input::of(name, None, true, Detail { levels: 0, defaults: false }).into_string(),
            };
            path.push_str(&self.place(input, "path"));
            rest = after;
        }
        if rest.contains('}') {
            return Err("its path has a `}` without `{`".to_owned());
        }
        Ok(path + &percent_coded_except(rest.as_bytes(), PATH))
    }

    fn path_input(&self, parameter: &Parameter<'_>) -> Result<Input, String> {
        let wrong = |why: &str| Err(format!("its parameter `{}` {why}", parameter.name));
        let mut input = described(parameter, Detail { levels: 0, defaults: false });
        (input.default, input.nullable, input.required) = (None, false, true);
        match (parameter.style(), input.kind) {
            ("label" | "matrix", _) => wrong("is written in the style `label` or `matrix`"),
            (_, "object") => wrong("is an object in the path"),
            (_, "array") => Ok(input.into_text(",")),
            (_, "json") => Ok(input.into_string()),
            _ => Ok(input),
        }
    }

    fn query(&mut self, parameter: &Parameter<'_>, detail: Detail) -> Result<(), String> {
        let (schema, is_json) = parameter.schema();
        let input = described(parameter, detail);
        if is_json {
            let mut input = input.into_string();
            input.add("JSON as text.");
            self.add_query(parameter.name, input, "");
            return Ok(());
        }
        let shape = Shape::of(schema);
        let is_deep = parameter.style() == "deepObject";
        match input.kind {
            "array" if shape.items.is_some_and(|items| is_nested(items)) => self.leave_out(parameter, "is a list of objects")?,
            "array" if is_deep => self.add_query(&format!("{}[]", parameter.name), input, ""),
            "array" if parameter.is_exploded() => self.add_query(parameter.name, input, ""),
            "array" => match parameter.style() {
                "pipeDelimited" => self.add_query(parameter.name, input.into_text("|"), ""),
                "spaceDelimited" => self.add_query(parameter.name, input.into_text(" "), ""),
                _ => self.add_query(parameter.name, input, " | csv"),
            },
            "object" if shape.properties.is_empty() || !is_deep && !parameter.is_exploded() => {
                self.leave_out(parameter, "is an object whose fields are not known, or are in one text")?;
            }
            "object" => {
                for (name, property) in shape.properties.iter().filter(|(_, property)| !is_read_only(*property)) {
                    let field = if is_deep { format!("{}[{name}]", parameter.name) } else { (*name).to_owned() };
                    if is_nested(*property) && kind_of(&Shape::of(Some(*property))) != "array" {
                        self.left_out.push(format!("`{field}` is an object"));
                        continue;
                    }
                    let required = parameter.is_required() && shape.required.contains(name);
                    self.add_query(&field, Input::of(&field, Some(*property), required, Detail { levels: 0, ..detail }), "");
                }
            }
            _ => self.add_query(parameter.name, input, ""),
        }
        Ok(())
    }

    fn add_query(&mut self, name: &str, input: Input, modifier: &str) {
        let name = coded(name);
        // A field is written once.
        if self.query.iter().any(|field| field.split('=').next() == Some(&name)) {
            return;
        }
        let value = match input.only_value() {
            Some(only) => coded(&text_of(only)),
            None => self.place(input.into_plain(), "query").replace(" }}", &format!("{modifier} }}}}")),
        };
        self.query.push(format!("{name}={value}"));
    }

    fn header(&mut self, parameter: &Parameter<'_>) -> Result<(), String> {
        if self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(parameter.name)) {
            return Ok(());
        }
        let is_token = !parameter.name.is_empty()
            && parameter.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
        let input = described(parameter, Detail { levels: 0, defaults: false });
        if !is_token || input.kind == "object" {
            return self.leave_out(parameter, "is an object in a header, or has a name that no header has");
        }
        let input = if input.kind == "array" { input.into_text(",") } else { input };
        let value = match input.only_value() {
            Some(only) => text_of(only).into(),
            None => self.place(input.into_plain(), "header").into(),
        };
        self.headers.push((parameter.name.to_owned(), value));
        Ok(())
    }

    /// Passes over a parameter that a caller may leave out.
    fn leave_out(&mut self, parameter: &Parameter<'_>, why: &str) -> Result<(), String> {
        if parameter.is_required() {
            return Err(format!("its parameter `{}` {why}", parameter.name));
        }
        self.left_out.push(format!("`{}` {why}", parameter.name));
        Ok(())
    }

    fn body(&mut self, body: Node<'_>, detail: Detail) -> Result<(), String> {
        let media: Vec<(&str, Node<'_>)> =
            body.get("content").into_iter().flat_map(Node::entries).filter_map(|(kind, media)| Some((kind, media.resolved()?))).collect();
        let is_required = body.is("required");
        let find = |is_it: fn(&str) -> bool| media.iter().copied().find(|(kind, _)| is_it(essence(kind)));
        let json = find(|kind| kind == "application/json").or_else(|| find(is_json));
        if let Some((kind, media)) = json {
            if !["application/json", "*/*", "application/*"].contains(&essence(kind)) {
                self.headers.push(("Content-Type".to_owned(), essence(kind).into()));
            }
            self.json_body(media.raw("schema"), is_required, detail);
            return Ok(());
        }
        if let Some((_, media)) = find(|kind| kind == "application/x-www-form-urlencoded") {
            return self.form(media, is_required, detail);
        }
        match media.first() {
            Some((kind, _)) => Err(format!("its body is `{}`, and a tool sends JSON or a form", essence(kind))),
            None => Ok(()),
        }
    }

    fn json_body(&mut self, schema: Option<Node<'_>>, is_required: bool, detail: Detail) {
        let shape = Shape::of(schema);
        let properties: Vec<_> = shape.properties.iter().filter(|(_, property)| !is_read_only(*property)).collect();
        if kind_of(&shape) != "object" || properties.is_empty() {
            let mut input = Input::of("body", schema, is_required, detail);
            if schema.is_none() {
                input.description = Some("The JSON that is sent.".to_owned());
            }
            self.body = Some(Body::Whole(self.place(input, "body")));
            return;
        }
        let mut members = Vec::new();
        for (name, property) in properties {
            if name.contains("{{") {
                self.left_out.push(format!("`{name}` has a name that would be a placeholder"));
                continue;
            }
            // Also of a body that may be missing: a tool always sends one.
            let required = shape.required.contains(name);
            let deprecated = property.is("deprecated");
            if deprecated && !required {
                continue;
            }
            let input = Input::of(name, Some(*property), required, detail);
            let value = match input.only_value() {
                Some(only) => only.clone(),
                None => self.place(input, "body").into(),
            };
            members.push(((*name).to_owned(), value));
        }
        self.body = Some(Body::Json(members));
    }

    fn form(&mut self, media: Node<'_>, is_required: bool, detail: Detail) -> Result<(), String> {
        let shape = Shape::of(media.raw("schema"));
        if shape.properties.is_empty() {
            return if is_required { Err("its body is a form whose fields are not known".to_owned()) } else { Ok(()) };
        }
        let mut fields = Vec::new();
        for (name, property) in shape.properties.iter().filter(|(name, property)| !is_read_only(*property) && !name.contains("{{")) {
            let required = shape.required.contains(name);
            let found = Shape::of(Some(*property));
            let is_deep = media.get("encoding").and_then(|encoding| encoding.get(name)).and_then(|encoding| encoding.text("style"))
                == Some("deepObject");
            let flat = Detail { levels: 0, ..detail };
            match kind_of(&found) {
                "object" if is_deep && !found.properties.is_empty() => {
                    for (inner, property) in found.properties.iter().filter(|(_, property)| !is_nested(*property)) {
                        let required = required && found.required.contains(inner);
                        let field = format!("{name}[{inner}]");
                        self.add_form(&mut fields, &field, Input::of(&field, Some(*property), required, flat));
                    }
                }
                "array" if found.items.is_none_or(|items| !is_nested(items)) => {
                    let field = if is_deep { format!("{name}[]") } else { (*name).to_owned() };
                    self.add_form(&mut fields, &field, Input::of(name, Some(*property), required, flat));
                }
                kind if kind == "object" || kind == "array" || found.has_nested_choice => {
                    let why = format!("`{name}` is an object or a list of objects in a form");
                    if required {
                        return Err(why);
                    }
                    self.left_out.push(why);
                }
                _ => self.add_form(&mut fields, name, Input::of(name, Some(*property), required, flat)),
            }
        }
        self.body = Some(Body::Form(fields));
        Ok(())
    }

    fn add_form(&mut self, fields: &mut Vec<(String, Json)>, name: &str, input: Input) {
        let value = match input.only_value() {
            Some(only) => text_of(only).into(),
            None => self.place(input.into_plain(), "body").into(),
        };
        fields.push((name.to_owned(), value));
    }

    /// Adds an input; its placeholder. One whose name is taken is told apart by its place.
    fn place(&mut self, mut input: Input, place: &str) -> String {
        let is_taken = |name: &str| self.inputs.iter().any(|other| other.name.eq_ignore_ascii_case(name));
        // `created<` and `created>` are what comes before and after.
        let spoken = input.name.replace('<', " before ").replace('>', " after ");
        let plain = names::of_input(spoken.trim_start_matches('_'), "input", input::MAX_NAME - 10, &[]);
        let name = if is_taken(&plain) { names::free(format!("{plain}_{place}"), "_", is_taken) } else { plain };
        let placeholder = format!("{{{{ inputs.{name} }}}}");
        input.name = name;
        self.inputs.push(input);
        placeholder
    }

    /// The keys of a tool that say what is sent.
    pub(super) fn keys(&self) -> String {
        let mut text = format!("request: {}\n", yaml::quoted(&self.line));
        if !self.headers.is_empty() {
            text.push_str(&format!("headers:\n{}", members(&self.headers)));
        }
        match &self.body {
            Some(Body::Json(list)) if !list.is_empty() => text.push_str(&format!("body:\n{}", members(list))),
            Some(Body::Whole(placeholder)) => text.push_str(&format!("body: {}\n", yaml::quoted(placeholder))),
            Some(Body::Form(list)) if !list.is_empty() => text.push_str(&format!("form:\n{}", members(list))),
            Some(Body::Json(_) | Body::Form(_)) | None => {}
        }
        text
    }
}

/// Members of a map, a line each.
fn members(list: &[(String, Json)]) -> String {
    let value = |value: &Json| value.as_str().map_or_else(|| value.to_string(), yaml::quoted);
    list.iter().map(|(name, found)| format!("  {}: {}\n", yaml::word(name), value(found))).collect()
}

/// A parameter as an input.
fn described(parameter: &Parameter<'_>, detail: Detail) -> Input {
    let mut input = Input::of(parameter.name, parameter.schema().0, parameter.is_required(), detail);
    if let Some(said) = parameter.node.text("description").and_then(|text| prose::short(text, prose::INPUT)) {
        let more = input.description.take();
        input.description = Some(said);
        // What the values are, where the schema does not list them.
        if let Some((_, more)) =
            more.as_deref().and_then(|more| more.split_once("One of ")).filter(|(_, more)| more.contains(" values, such as "))
        {
            input.add(&format!("One of {more}"));
        }
    }
    input
}

/// Whether a schema is an object, or may be one or a list.
fn is_nested(node: Node<'_>) -> bool {
    let shape = Shape::of(Some(node));
    kind_of(&shape) == "object" || shape.has_nested_choice || shape.items.is_some_and(|items| kind_of(&Shape::of(Some(items))) == "object")
}

/// A name or a value of the query.
fn coded(text: &str) -> String {
    percent_coded_except(text.as_bytes(), b"-._~")
}

fn text_of(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The number of inputs and fields.
fn size(input: &Input) -> usize {
    1 + input.fields.iter().map(size).sum::<usize>() + input.items.as_ref().map_or(0, |items| items.fields.iter().map(size).sum())
}

/// A media type without its parameters, as it is written.
pub(super) fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

/// Whether a media type is JSON.
pub(super) fn is_json(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    kind == "application/json" || kind == "text/json" || kind.ends_with("+json") || kind == "*/*" || kind == "application/*"
}
