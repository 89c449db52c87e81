//! Going through a document.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{
    document::{Context, NEVER, Role, allows, is_wrapper},
    stages::{self, OF_CHANGES, Stage},
    tables::{Content, DELETE, FieldRow, UPDATE},
};
use crate::{Flaw, Tree, View};

/// What runs code on the server.
const CODE: [&str; 3] = ["$accumulator", "$function", "$where"];
/// What of it is no code.
const ARGUMENTS: [&str; 3] = ["accumulateArgs", "args", "initArgs"];
/// Code as a value.
const CODE_VALUES: [&str; 2] = ["$code", "$scope"];
/// How deep a document may be. MongoDB's own limit is 100.
const MAX_DEPTH: usize = 90;

/// A walk through a document.
pub(crate) struct Walk<'a> {
    allow: &'a str,
    path: Vec<usize>,
    pub(crate) flaws: Vec<Flaw>,
    pub(crate) values: Vec<(Vec<usize>, Role)>,
    pub(crate) writes: bool,
    pub(crate) upserts: bool,
    /// What comes of the stages is written to documents.
    changes: bool,
}

impl<'a> Walk<'a> {
    pub(crate) const fn new(allow: &'a str) -> Self {
        Self { allow, path: Vec::new(), flaws: Vec::new(), values: Vec::new(), writes: false, upserts: false, changes: false }
    }

    /// Goes into a member or an element.
    pub(crate) fn at(&mut self, place: usize, look: impl FnOnce(&mut Self)) {
        self.path.push(place);
        look(self);
        self.path.pop();
    }

    pub(crate) fn flaw(&mut self, message: String, help: impl Into<String>) {
        self.flaws.push(Flaw { path: self.path.clone(), message, help: help.into() });
    }

    /// The name of a collection.
    pub(crate) fn collection<T: Tree>(&mut self, node: &T) {
        let View::Text(name) = node.view() else {
            return self.flaw("the collection must be written out as text".to_owned(), "write its name, as in `find: users`");
        };
        let is_name = !name.is_empty() && !name.contains(['$', '\0']) && !name.starts_with('.') && name.len() <= 255;
        if !is_name || name.starts_with("system.") {
            self.flaw(format!("`{name}` is not a collection that a tool can use"), "name a collection of the app's own");
        }
    }

    /// The name of a database, other than the connection's.
    pub(crate) fn database<T: Tree>(&mut self, node: &T) {
        let View::Text(name) = node.view() else {
            return self.flaw("the database must be written out as text".to_owned(), "write its name, as in `$db: reports`");
        };
        if name.is_empty() || name.len() > 63 || name.contains(['/', '\\', '.', ' ', '"', '$', '*', '<', '>', ':', '|', '?', '\0']) {
            self.flaw(format!("`{name}` is not the name of a database"), "write its name, as in `$db: reports`");
        }
    }

    /// What a field of a command holds.
    pub(crate) fn content<T: Tree>(&mut self, node: &T, content: Content) {
        match content {
            Content::Query => self.query(node),
            Content::Number => self.tree(node, Context::Scalar),
            Content::Fields => self.settings(node, Context::Scalar),
            Content::Written => self.tree(node, Context::Written),
            Content::Flag | Content::Upsert => match node.view() {
                View::Bool(truth) => self.upserts |= truth && content == Content::Upsert,
                _ => self.flaw("this must be `true` or `false`, written out".to_owned(), ""),
            },
            Content::ZeroOrOne => {
                if !matches!(node.view(), View::Integer(0 | 1)) {
                    self.flaw("this must be 0 or 1, written out".to_owned(), "1 deletes one document, 0 all that match");
                }
            }
            Content::Variables => match node.view() {
                View::Members(_) => self.tree(node, Context::Expression),
                _ => self.not_written("variables"),
            },
            Content::Pipeline => self.pipeline(node, false),
            Content::Documents => match node.view() {
                View::List([]) => self.flaw("`documents` must have at least 1 element".to_owned(), "write a document to insert"),
                View::List(elements) => {
                    for (place, element) in elements.iter().enumerate() {
                        self.at(place, |walk| match element.view() {
                            View::Members(_) | View::Value => walk.tree(element, Context::Stored),
                            _ => walk
                                .flaw("a document must be an object".to_owned(), "write keys and values, or a placeholder for an object"),
                        });
                    }
                }
                View::Value => self.tree(node, Context::Stored),
                _ => self.flaw("`documents` must be a list".to_owned(), "write `- name: …` for each document"),
            },
            Content::Change => match node.view() {
                View::Members(members) => self.change(members),
                View::List(_) => self.pipeline(node, true),
                _ => self.not_written("the change"),
            },
            Content::Queries => self.queries(node),
            Content::Updates => self.elements(node, "updates", UPDATE),
            Content::Deletes => self.elements(node, "deletes", DELETE),
            Content::Cursor => {
                let is_batch = |(key, size): &(String, T)| key == "batchSize" && matches!(size.view(), View::Integer(_));
                if !matches!(node.view(), View::Members(members) if members.iter().all(is_batch)) {
                    self.flaw("`cursor` must be `{}`, or have a `batchSize` that is written out".to_owned(), "write `cursor: {}`");
                }
            }
        }
    }

    fn elements<T: Tree>(&mut self, node: &T, name: &str, fields: &'static [FieldRow]) {
        let View::List(elements) = node.view() else {
            return self.flaw(format!("`{name}` must be a list, written out"), "write `- q: { … }` for each element");
        };
        if elements.is_empty() {
            self.flaw(format!("`{name}` must have at least 1 element"), "write `- q: { … }`");
        }
        for (place, element) in elements.iter().enumerate() {
            self.at(place, |walk| {
                let View::Members(members) = element.view() else { return walk.not_written("an element") };
                for (place, (key, node)) in members.iter().enumerate() {
                    walk.at(place, |walk| match fields.iter().find(|field| field.name == key) {
                        Some(field) => walk.content(node, field.content),
                        None => {
                            let known = fields.iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ");
                            walk.flaw(format!("an element of `{name}` has no field `{key}`"), format!("its fields are {known}"));
                        }
                    });
                }
                for field in fields.iter().filter(|field| field.is_required && members.iter().all(|(key, _)| key != field.name)) {
                    walk.flaw(format!("an element of `{name}` needs `{}`", field.name), format!("write `{}`", field.name));
                }
            });
        }
    }

    /// Conditions: their place cannot be a value, or the caller would choose them all.
    fn query<T: Tree>(&mut self, node: &T) {
        match node.view() {
            View::Members(_) => self.tree(node, Context::Query),
            _ => self.not_written("the conditions"),
        }
    }

    fn not_written(&mut self, what: &str) {
        self.flaw(format!("{what} must be written out here"), "write keys and values; only a value can be a placeholder");
    }

    /// Keys that are the author's, with values that bring none.
    fn settings<T: Tree>(&mut self, node: &T, context: Context) {
        match node.view() {
            View::Members(_) => self.tree(node, context),
            _ => self.not_written("the fields"),
        }
    }

    /// What `$and` and its like hold.
    fn queries<T: Tree>(&mut self, node: &T) {
        match node.view() {
            View::List(elements) => elements.iter().enumerate().for_each(|(place, node)| self.at(place, |walk| walk.query(node))),
            _ => self.not_written("the list of conditions"),
        }
    }

    /// What `$pull` holds: a value for a field, or conditions on its elements. An object of a
    /// caller would be conditions.
    fn pulled<T: Tree>(&mut self, node: &T) {
        let View::Members(members) = node.view() else { return self.not_written("what `$pull` removes") };
        let outside = core::mem::replace(&mut self.changes, true);
        for (place, (key, node)) in members.iter().enumerate() {
            self.at(place, |walk| {
                walk.key(key);
                let context = if matches!(node.view(), View::Value) { Context::Scalar } else { Context::Query };
                walk.tree(node, context);
            });
        }
        self.changes = outside;
    }

    /// What runs code holds: the code is the author's, and its arguments are values.
    fn code<T: Tree>(&mut self, name: &str, node: &T, context: Context) {
        let arguments = if context == Context::Written { context } else { Context::Expression };
        // A text that begins with `$` is a variable there, and a variable may be a value of the
        // call.
        let is_written = |node: &T| matches!(node.view(), View::Text(text) if !text.starts_with('$'));
        let help = "write it out, as one text; values of the call are arguments of the code";
        if name == "$where" {
            if !matches!(node.view(), View::Text(_)) {
                self.flaw("the code of `$where` must be written out".to_owned(), "write it out, as one text without placeholders");
            }
            return;
        }
        let View::Members(members) = node.view() else { return self.not_written(&format!("`{name}`")) };
        for (place, (key, node)) in members.iter().enumerate() {
            self.at(place, |walk| {
                if ARGUMENTS.contains(&key.as_str()) {
                    walk.tree(node, arguments);
                } else if !is_written(node) {
                    walk.flaw(format!("`{key}` of `{name}` must be written out"), help);
                }
            });
        }
    }

    /// `u` of an update that is no pipeline.
    fn change<T: Tree>(&mut self, members: &[(String, T)]) {
        for (place, (key, node)) in members.iter().enumerate() {
            self.at(place, |walk| {
                walk.key(key);
                match key.as_str() {
                    "$pull" => walk.pulled(node),
                    // Its values are names of fields.
                    "$rename" => walk.tree(node, Context::Written),
                    _ => walk.tree(node, Context::Stored),
                }
            });
        }
    }

    fn pipeline<T: Tree>(&mut self, node: &T, is_change: bool) {
        let View::List(stages) = node.view() else {
            return self.flaw("a pipeline must be a list, written out".to_owned(), "write `- $match: { … }`");
        };
        let outside = core::mem::replace(&mut self.changes, is_change);
        for (place, stage) in stages.iter().enumerate() {
            self.at(place, |walk| match stage.view() {
                View::Members([(name, node)]) => walk.at(0, |walk| walk.stage(name, node, is_change)),
                _ => walk.flaw("a stage must have one key, its name, written out".to_owned(), "write `- $match: { … }`"),
            });
        }
        self.changes = outside;
    }

    fn stage<T: Tree>(&mut self, name: &str, node: &T, is_change: bool) {
        if is_change && !OF_CHANGES.contains(&name) {
            let help = format!("its stages can be {}", OF_CHANGES.map(|name| format!("`{name}`")).join(", "));
            return self.flaw(format!("`{name}` is not a stage that changes a document"), help);
        }
        if let Some((_, why)) = NEVER.iter().find(|(never, _)| *never == name) {
            return self.flaw(format!("the stage `{name}` {why}"), "write another pipeline");
        }
        let is_allowed = allows(self.allow, name);
        match stages::find(name) {
            Some(Stage::Writes) => {
                self.writes = true;
                if !is_allowed {
                    let help = format!("if that is meant, set `options.allow: [{name}]` in the adapter's file");
                    self.flaw(format!("the stage `{name}` writes to a collection"), help);
                }
                self.members(node, |walk, key, node| match key {
                    "let" => walk.tree(node, Context::Expression),
                    "whenMatched" if matches!(node.view(), View::List(_)) => walk.pipeline(node, true),
                    _ => walk.tree(node, Context::Written),
                });
            }
            Some(Stage::Of(context)) => self.tree(node, context),
            Some(Stage::Match) => self.query(node),
            Some(Stage::Settings(context)) => self.settings(node, context),
            Some(Stage::Lookup) => self.members(node, |walk, key, node| match key {
                "from" => walk.collection(node),
                "let" => walk.tree(node, Context::Expression),
                "pipeline" => walk.pipeline(node, false),
                _ => walk.tree(node, Context::Written),
            }),
            Some(Stage::GraphLookup) => self.members(node, |walk, key, node| match key {
                "from" => walk.collection(node),
                "startWith" => walk.tree(node, Context::Expression),
                "maxDepth" => walk.tree(node, Context::Scalar),
                "restrictSearchWithMatch" => walk.query(node),
                _ => walk.tree(node, Context::Written),
            }),
            Some(Stage::GeoNear) => self.members(node, |walk, key, node| match key {
                "query" => walk.query(node),
                "near" | "maxDistance" | "minDistance" | "distanceMultiplier" => walk.tree(node, Context::Numbers),
                _ => walk.tree(node, Context::Written),
            }),
            Some(Stage::Facet) => self.members(node, |walk, _, node| walk.pipeline(node, false)),
            Some(Stage::UnionWith) => match node.view() {
                View::Members(_) => self.members(node, |walk, key, node| match key {
                    "coll" => walk.collection(node),
                    "pipeline" => walk.pipeline(node, false),
                    _ => walk.tree(node, Context::Written),
                }),
                _ => self.collection(node),
            },
            Some(Stage::VectorSearch) => self.members(node, |walk, key, node| match key {
                "filter" => walk.query(node),
                "queryVector" => walk.tree(node, Context::Scalars),
                "limit" | "numCandidates" => walk.tree(node, Context::Scalar),
                _ => walk.tree(node, Context::Written),
            }),
            None if is_allowed => self.tree(node, Context::Expression),
            None => {
                let help = format!("look at its name; if it is meant, set `options.allow: [{name}]` in the adapter's file");
                self.flaw(format!("the stage `{name}` is not known"), help);
            }
        }
    }

    /// The members of a stage, whose keys are settings.
    fn members<T: Tree>(&mut self, node: &T, look: impl Fn(&mut Self, &str, &T)) {
        match node.view() {
            View::Members(members) => {
                members.iter().enumerate().for_each(|(place, (key, node))| self.at(place, |walk| look(walk, key, node)));
            }
            View::Text(_) => {}
            _ => self.not_written("the stage"),
        }
    }

    /// Anything.
    fn tree<T: Tree>(&mut self, node: &T, context: Context) {
        if self.path.len() > MAX_DEPTH {
            return self.flaw(format!("the document has more than {MAX_DEPTH} levels"), "make it flatter");
        }
        match node.view() {
            View::Text(_) | View::Bool(_) | View::Integer(_) | View::Null | View::Other => {}
            View::Value => match context {
                // It stands among what is stored, whose keys have no `.`.
                Context::Query if self.changes => self.values.push((self.path.clone(), Role::Stored)),
                Context::Query | Context::Plain => self.values.push((self.path.clone(), Role::Plain)),
                Context::Stored => self.values.push((self.path.clone(), Role::Stored)),
                Context::Expression if self.changes => self.values.push((self.path.clone(), Role::StoredExpression)),
                Context::Expression => self.values.push((self.path.clone(), Role::Expression)),
                Context::Numbers => self.values.push((self.path.clone(), Role::Number)),
                Context::Scalar => self.values.push((self.path.clone(), Role::Scalar)),
                Context::Search | Context::Scalars => self.values.push((self.path.clone(), Role::Scalars)),
                Context::Written => {
                    let help = "write it out: names and settings are not values; in a pipeline, `$project` takes them";
                    self.flaw("no value of the call can stand here".to_owned(), help);
                }
            },
            View::List(elements) => {
                elements.iter().enumerate().for_each(|(place, node)| self.at(place, |walk| walk.tree(node, context)));
            }
            View::Members(members) if is_wrapper(members) => {
                // What is in a wrapper is a value, wherever it stands.
                let inside = if context == Context::Written { context } else { Context::Plain };
                let members = members.iter().enumerate();
                members.for_each(|(place, (_, node))| self.at(place, |walk| walk.tree(node, inside)));
            }
            View::Members(members) => {
                for (place, (key, node)) in members.iter().enumerate() {
                    self.at(place, |walk| {
                        walk.key(key);
                        walk.member(key, node, context);
                    });
                }
            }
        }
    }

    /// What a key of the author's holds.
    fn member<T: Tree>(&mut self, key: &str, node: &T, context: Context) {
        let inside = match (context, key) {
            (_, name) if CODE.contains(&name) => return self.code(name, node, context),
            (Context::Written, _) => context,
            (Context::Query, "$and" | "$or" | "$nor") => return self.queries(node),
            (Context::Query, "$elemMatch" | "$not") => return self.query(node),
            (Context::Query, "$expr") => Context::Expression,
            (Context::Query, "$jsonSchema" | "$options") => Context::Written,
            (Context::Expression, "$literal") => match self.changes {
                true => Context::Stored,
                false => Context::Plain,
            },
            // The name of a field.
            (Context::Expression, "$getField") if !matches!(node.view(), View::Members(_)) => Context::Written,
            (Context::Expression, "$getField" | "$setField" | "$unsetField") => {
                return self.members(node, |walk, key, node| {
                    walk.key(key);
                    match key {
                        "input" | "value" => walk.tree(node, Context::Expression),
                        key => walk.member(key, node, Context::Written),
                    }
                });
            }
            // The order of the elements of an array.
            (Context::Stored, "$sort") => Context::Scalar,
            // Names of fields, and a language that names fields.
            (Context::Search, "defaultPath" | "index" | "path" | "queryString") => Context::Written,
            _ => context,
        };
        self.tree(node, inside);
    }

    /// A key of the author's.
    fn key(&mut self, key: &str) {
        if key.contains('\0') {
            self.flaw("a key has a NUL character".to_owned(), "remove it");
        }
        if CODE_VALUES.contains(&key) {
            self.flaw(format!("`{key}` is code, which no tool can send"), "write operators instead");
        }
        if CODE.contains(&key) && !allows(self.allow, key) {
            let help = format!("write operators instead; if it is meant, set `options.allow: [{key}]` in the adapter's file");
            self.flaw(format!("`{key}` runs code on the server"), help);
        }
    }
}
