//! Going through a request.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{
    fields::{Content, Verb},
    judged::Role,
    names::{embedded, is_column, is_name, is_reserved, list, order},
    operators::{self, Operand, operator},
    select::select,
};
use crate::{Flaw, Tree, View};

/// How deep a request may be.
const MAX_DEPTH: usize = 32;
/// A walk through a request.
pub(super) struct Walk {
    verb: Verb,
    path: Vec<usize>,
    pub(super) flaws: Vec<Flaw>,
    pub(super) values: Vec<(Vec<usize>, Role)>,
    pub(super) has_related: bool,
    /// The function is called by `GET`.
    pub(super) is_get: bool,
    has_columns: bool,
    /// Rows that were changed are returned.
    returns_changed: bool,
    embedded: Vec<String>,
}

impl Walk {
    pub(super) const fn new(verb: Verb) -> Self {
        Self {
            verb,
            path: Vec::new(),
            flaws: Vec::new(),
            values: Vec::new(),
            has_related: false,
            is_get: false,
            has_columns: false,
            returns_changed: false,
            embedded: Vec::new(),
        }
    }

    /// Goes into a member or an element.
    pub(super) fn at(&mut self, place: usize, look: impl FnOnce(&mut Self)) {
        self.path.push(place);
        look(self);
        self.path.pop();
    }

    pub(super) fn flaw(&mut self, message: String, help: impl Into<String>) {
        self.flaws.push(Flaw { path: self.path.clone(), message, help: help.into() });
    }

    fn value(&mut self, role: Role) {
        self.values.push((self.path.clone(), role));
    }

    /// What other fields depend on.
    pub(super) fn note<T: Tree>(&mut self, key: &str, node: &T) {
        match key {
            "get" => self.is_get = matches!(node.view(), View::Bool(true)),
            "columns" => self.has_columns = true,
            "returning" => self.returns_changed = true,
            "select" => {
                if let Ok(selection) = words(node).and_then(|text| select(&text)) {
                    self.embedded = selection.embedded;
                }
            }
            _ => {}
        }
    }

    /// What a field holds.
    pub(super) fn content<T: Tree>(&mut self, name: &str, node: &T, content: Content) {
        match content {
            Content::Select => match words(node).and_then(|text| select(&text)) {
                Ok(selection) => self.has_related |= !selection.embedded.is_empty(),
                Err(why) => self.flaw(why, format!("write `{name}: [id, name]`, or the text that Supabase's client takes")),
            },
            Content::Order => match words(node).and_then(|text| order(&text)) {
                Ok(_) => {}
                Err(why) => self.flaw(why, "write `order: [name.desc, id]`"),
            },
            Content::Columns => {
                if let Err(why) = words(node).and_then(|text| list(&text).map(drop)) {
                    self.flaw(why, format!("write `{name}: [id, name]`"));
                }
            }
            Content::Number => match node.view() {
                View::Value => self.value(Role::Number),
                View::Integer(number) if number >= 0 => {}
                _ => self.flaw(format!("`{name}` must be a whole number from 0"), "write a number, or a placeholder for an `int`"),
            },
            Content::Flag => {
                if !matches!(node.view(), View::Bool(_)) {
                    self.flaw(format!("`{name}` must be `true` or `false`"), "write it out");
                }
            }
            Content::Where => self.conditions(node, true),
            Content::Rows => self.rows(node),
            Content::Set => match node.view() {
                View::Members(members) => self.row(members),
                View::Value => self.whole("`set`"),
                _ => self.flaw("`set` must be a map".to_owned(), "write `set: { name: \"{{ inputs.name }}\" }`"),
            },
            Content::Arguments => self.arguments(node),
        }
    }

    /// Rows of which the caller may write the keys, as far as `columns` has them.
    fn whole(&mut self, what: &str) {
        if self.has_columns {
            return self.value(Role::Rows);
        }
        let help =
            "write its columns out, or name those that a value may have: `columns: [name, price]`; the others of an object are ignored";
        self.flaw(format!("the columns of {what} would be the caller's"), help);
    }

    fn rows<T: Tree>(&mut self, node: &T) {
        let help = "write `rows: { name: \"{{ inputs.name }}\" }`, or a list of such maps";
        match node.view() {
            View::Members(members) => self.row(members),
            View::Value => self.whole("`rows`"),
            View::List([]) => self.flaw("`rows` must have at least 1 element".to_owned(), help),
            View::List(elements) => {
                let mut first: Option<Vec<&str>> = None;
                for (place, element) in elements.iter().enumerate() {
                    self.at(place, |walk| match element.view() {
                        View::Members(members) => {
                            walk.row(members);
                            let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
                            keys.sort_unstable();
                            match &first {
                                None => first = Some(keys),
                                Some(others) if *others != keys => {
                                    let help = "give every row the same columns; a value can be `null`";
                                    walk.flaw("the row has other columns than the first one".to_owned(), help);
                                }
                                Some(_) => {}
                            }
                        }
                        View::Value => walk.whole("a row"),
                        _ => walk.flaw("a row must be a map".to_owned(), help),
                    });
                }
            }
            _ => self.flaw("`rows` must be a map, or a list of maps".to_owned(), help),
        }
    }

    /// Columns and their values.
    fn row<T: Tree>(&mut self, members: &[(String, T)]) {
        if members.is_empty() {
            self.flaw("a row must have at least 1 column".to_owned(), "write `{ name: \"{{ inputs.name }}\" }`");
        }
        for (place, (key, node)) in members.iter().enumerate() {
            self.at(place, |walk| {
                if !is_name(key) {
                    walk.flaw(format!("`{key}` is not the name of a column"), "write it as PostgREST has it");
                }
                walk.body(node);
            });
        }
    }

    fn arguments<T: Tree>(&mut self, node: &T) {
        let View::Members(members) = node.view() else {
            return self.flaw("`arguments` must be written out".to_owned(), "write `arguments: { part: \"{{ inputs.part }}\" }`");
        };
        for (place, (key, node)) in members.iter().enumerate() {
            self.at(place, |walk| {
                if !is_name(key) {
                    return walk.flaw(format!("`{key}` is not the name of an argument"), "write it as the function has it");
                }
                if !walk.is_get {
                    return walk.body(node);
                }
                if is_reserved(key) {
                    let help = "remove `get`, or give the function's argument another name";
                    walk.flaw(format!("with `get`, no argument can have the name `{key}`"), help);
                }
                match node.view() {
                    View::Value => walk.value(Role::Parameter),
                    View::Members(_) | View::List(_) => {
                        let help = "remove `get`: the arguments are then the body of a `POST`";
                        walk.flaw("with `get`, an argument is one value".to_owned(), help);
                    }
                    _ => {}
                }
            });
        }
    }

    /// A value that is sent in the body.
    fn body<T: Tree>(&mut self, node: &T) {
        if self.path.len() > MAX_DEPTH {
            return self.flaw(format!("the request has more than {MAX_DEPTH} levels"), "make it flatter");
        }
        match node.view() {
            View::Value => self.value(Role::Body),
            View::Text(text) => self.text(text),
            View::List(elements) => elements.iter().enumerate().for_each(|(place, node)| self.at(place, |walk| walk.body(node))),
            View::Members(members) => {
                members.iter().enumerate().for_each(|(place, (key, node))| {
                    self.at(place, |walk| {
                        walk.text(key);
                        walk.body(node);
                    });
                });
            }
            _ => {}
        }
    }

    /// A text of the author's.
    fn text(&mut self, text: &str) {
        if text.contains('\0') {
            self.flaw("a text has a NUL character, which PostgreSQL does not take".to_owned(), "remove it");
        }
    }

    /// Conditions, all of which hold. `is_top`: those of the request itself, where related rows may
    /// have some, too.
    fn conditions<T: Tree>(&mut self, node: &T, is_top: bool) {
        if self.path.len() > MAX_DEPTH {
            return self.flaw(format!("the request has more than {MAX_DEPTH} levels"), "make it flatter");
        }
        let View::Members(members) = node.view() else {
            let help = "write columns and operators: `{ status: { eq: \"{{ inputs.status }}\" } }`; only a value can be a placeholder";
            return self.flaw("the conditions must be written out".to_owned(), help);
        };
        if members.is_empty() {
            self.flaw("at least 1 condition is required".to_owned(), "write `{ id: { eq: \"{{ inputs.id }}\" } }`");
        }
        for (place, (key, node)) in members.iter().enumerate() {
            self.at(place, |walk| {
                if matches!(key.as_str(), "or" | "not") {
                    walk.looked_at_again(key);
                }
                walk.condition(key, node, is_top);
            });
        }
    }

    /// What PostgREST writes as a list of conditions.
    fn looked_at_again(&mut self, what: &str) {
        if self.returns_changed {
            let help = "remove `returning`, or write the conditions without it: PostgREST looks at such conditions again after the change, and leaves out rows \
                        that do not meet them any more";
            self.flaw(format!("`{what}` cannot restrict a request with `returning`"), help);
        }
    }

    fn condition<T: Tree>(&mut self, key: &str, node: &T, is_top: bool) {
        match key {
            "and" | "or" => match node.view() {
                View::List([]) => self.flaw(format!("`{key}` must have at least 1 element"), "write conditions below it"),
                View::List(elements) => {
                    elements.iter().enumerate().for_each(|(place, node)| self.at(place, |walk| walk.conditions(node, false)));
                }
                _ => self
                    .flaw(format!("`{key}` must be a list of conditions, written out"), "write `or: [{ a: { eq: 1 } }, { b: { eq: 2 } }]`"),
            },
            "not" => self.conditions(node, false),
            column => {
                if is_reserved(column) {
                    self.looked_at_again(column);
                }
                self.column(column, is_top);
                self.operators(column, node);
            }
        }
    }

    fn column(&mut self, column: &str, is_top: bool) {
        let Some((way, own)) = embedded(column) else {
            if !is_column(column) {
                self.flaw(
                    format!("`{column}` is not the name of a column"),
                    "write `name`, or `data->>key` for a part of a column with JSON",
                );
            }
            return;
        };
        let mut steps = way.split('.');
        let first = steps.next().unwrap_or_default();
        if !is_name(first) || !steps.all(is_name) || !is_column(own) {
            return self
                .flaw(format!("`{column}` is not the name of a column"), "write `name`, or `authors.name` for a column of related rows");
        }
        if !matches!(self.verb, Verb::From | Verb::Rpc) {
            let help = "a condition on related rows says which of them are returned, and would let every row of the table through; write a condition on a column of the table";
            return self.flaw(format!("`{column}` is a column of related rows"), help);
        }
        if !is_top {
            let help = "write it at the top of `where`, and `table!inner(…)` in `select`";
            return self.flaw(
                format!("`{column}` is a column of related rows, which PostgREST takes neither in `and` and `or` nor in `not`"),
                help,
            );
        }
        if self.embedded.iter().all(|name| name != first) {
            self.flaw(format!("`{column}` is of related rows that `select` does not have"), format!("add `{first}(…)` to `select`"));
        }
    }

    fn operators<T: Tree>(&mut self, column: &str, node: &T) {
        let View::Members(members) = node.view() else {
            let help = format!("write the operator: `{column}: {{ eq: … }}`, or `in` for a list, or `is` for null");
            return self.flaw(format!("the condition on `{column}` has no operator"), help);
        };
        if members.is_empty() {
            self.flaw(format!("the condition on `{column}` has no operator"), "write `{ eq: … }`");
        }
        for (place, (key, node)) in members.iter().enumerate() {
            self.at(place, |walk| {
                if key == "not" {
                    if matches!(node.view(), View::Members(several) if several.len() > 1) {
                        walk.looked_at_again("not");
                    }
                    return walk.operators(column, node);
                }
                match operator(key) {
                    Some(operator) => walk.operand(key, node, operator.operand),
                    None => {
                        let names = operators::names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                        walk.flaw(format!("`{key}` is not an operator"), format!("the operators are {names}"));
                    }
                }
            });
        }
    }

    fn operand<T: Tree>(&mut self, name: &str, node: &T, operand: Operand) {
        match (operand, node.view()) {
            (Operand::One, View::Value) => self.value(Role::Parameter),
            (Operand::List, View::Value) => self.value(Role::Parameters),
            (Operand::Elements, View::Value) => self.value(Role::Elements),
            (Operand::Truth, View::Value) => self.value(Role::Truth),
            (Operand::Truth, View::Null | View::Bool(_) | View::Text("unknown")) => {}
            (Operand::Truth, _) => self.flaw("`is` takes `null`, `true`, `false` or `unknown`".to_owned(), "for another value write `eq`"),
            (_, View::Null) => self.flaw(format!("`{name}` with null is never true"), "write `{ is: null }`, or `{ not: { is: null } }`"),
            (Operand::One | Operand::Elements, View::Text(text)) => self.text(text),
            (Operand::One, View::Bool(_) | View::Integer(_) | View::Other) => {}
            (Operand::List | Operand::Elements, View::List(elements)) => {
                for (place, element) in elements.iter().enumerate() {
                    self.at(place, |walk| match element.view() {
                        View::Value => walk.value(Role::Parameter),
                        View::Text(text) => walk.text(text),
                        View::Bool(_) | View::Integer(_) | View::Other => {}
                        _ => walk.flaw(
                            format!("an element of `{name}` must be a text, a number or a truth value"),
                            "write the values out, or placeholders",
                        ),
                    });
                }
            }
            (Operand::Elements, View::Members(members)) => {
                for (place, (key, node)) in members.iter().enumerate() {
                    self.at(place, |walk| {
                        walk.text(key);
                        walk.body(node);
                    });
                }
            }
            (Operand::List, _) => {
                self.flaw(format!("`{name}` must be a list, or a placeholder for one"), "write `[a, b]`, or `\"{{ inputs.list }}\"`")
            }
            (Operand::Elements, _) => self.flaw(format!("`{name}` must be a list, a map, or a range as text"), "write `[a, b]`"),
            (Operand::One, _) => self.flaw(format!("`{name}` takes one value"), "write a value; for a list there is `in`"),
        }
    }
}

/// A text, or a list of texts with commas between them: a list in brackets that has brackets itself
/// is whole again.
pub(super) fn words<T: Tree>(node: &T) -> Result<String, String> {
    let wrong = || "it must be written out, as a text or a list of texts".to_owned();
    match node.view() {
        View::Text(text) => Ok(text.to_owned()),
        View::List(elements) if !elements.is_empty() => {
            let texts = elements.iter().map(|element| if let View::Text(text) = element.view() { Some(text) } else { None });
            texts.collect::<Option<Vec<&str>>>().map(|texts| texts.join(",")).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}
