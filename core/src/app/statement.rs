use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{DocumentNode, InputKind, ParamStyle, Source};

/// A compiled statement: text of its author, and places for values. Or a command and its arguments,
/// each apart from the others; or a document.
///
/// No value of a caller ever becomes part of the text, [`Part::Textual`] apart, which only
/// `substitution: textual` makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// How the connector writes placeholders.
    pub style: ParamStyle,
    /// The parts in order. Neighbouring text is joined.
    pub parts: Vec<Part>,
    /// The finished text, where nothing of it depends on the call: placeholders already written in
    /// `style`, one for each [`Part::Bind`] in order. Of a document: how it is shown.
    pub text: Option<String>,
    /// Whether it writes.
    pub access: Access,
    /// How many values its database takes in one statement.
    pub max_values: u32,
    /// Of a document: its members, whose places name `parts`, which are values alone.
    pub document: Vec<(String, DocumentNode)>,
}

impl Statement {
    /// A command, of which each part is one argument, or several where a list is spread.
    #[must_use]
    pub const fn of_command(arguments: Vec<Part>, access: Access, max_values: u32) -> Self {
        Self { style: ParamStyle::Arguments, parts: arguments, text: None, access, max_values, document: Vec::new() }
    }

    /// A document; `shown` is how it is shown.
    #[must_use]
    pub const fn of_document(members: Vec<(String, DocumentNode)>, values: Vec<Part>, shown: String, access: Access) -> Self {
        Self { style: ParamStyle::Document, parts: values, text: Some(shown), access, max_values: u32::MAX, document: members }
    }

    /// The method of a request of HTTP; `None` for anything else. A request is a document whose
    /// first member is its method.
    #[must_use]
    pub fn http_method(&self) -> Option<&str> {
        match self.document.first() {
            Some((name, DocumentNode::Literal(method))) if name == "method" => method.0.as_str(),
            _ => None,
        }
    }

    /// The path of a request of HTTP, with `{}` where a value stands: `/orders/{}/items`.
    #[must_use]
    pub fn http_path(&self) -> Option<String> {
        let Some((_, DocumentNode::List(parts))) = self.document.iter().find(|(name, _)| name == "path") else { return None };
        self.http_method()?;
        let text = |part: &DocumentNode| match part {
            DocumentNode::Literal(text) => String::from(text.0.as_str().unwrap_or_default()),
            _ => String::from("{}"),
        };
        Some(parts.iter().map(text).collect())
    }
}

/// Whether a statement writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// It only reads.
    Read,
    /// It writes, or nobody can tell.
    Write,
    /// Nobody can tell, and `kind: query` says that it only reads: it counts as a read, and whoever
    /// runs it has the database refuse a write.
    Declared,
}

impl Access {
    /// Whether it counts as a read.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Declared)
    }
}

/// A part of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// The author's text.
    Text(String),
    /// `{{ env.X | raw }}`: the value of an environment variable, as text of the statement. The
    /// operator is trusted.
    Env(String),
    /// One parameter.
    Bind(Bind),
    /// One parameter for each element of an array, between commas, alone in `IN (…)`: the last one
    /// may be repeated. An empty array becomes `empty`. In a command, one argument for each
    /// element; an empty array is refused, and in PartiQL, too. In a document, one list whose
    /// elements have this type.
    BindEach {
        /// The array.
        source: Source,
        /// The type of its elements.
        kind: Option<InputKind>,
        /// A subselect without rows: `IN (…)` of it matches nothing, `NOT IN (…)` everything.
        empty: String,
    },
    /// `| ident`, `| keyword`: the text that the build wrote for each value of the input's `enum`.
    Choice {
        /// The input.
        source: Source,
        /// Value and text.
        options: Vec<(String, String)>,
    },
    /// `substitution: textual`: the value itself, as text. Injectable; `check` warns of it.
    Textual(Source),
    /// `{{ env.X | ident }}`: the value of an environment variable, as a quoted name.
    EnvIdent(String),
    /// `| ident` of a list whose elements have an `enum`: the text that the build wrote for each
    /// element, between commas; one that comes again is left out. There has to be one at least.
    ChoiceEach {
        /// The list.
        source: Source,
        /// Element and text.
        options: Vec<(String, String)>,
    },
}

/// One bound parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bind {
    /// A value with its own type.
    Value {
        /// Where it comes from.
        source: Source,
        /// The type to bind it with; `None` for `ctx` and `auth`, whose values have the type they
        /// have. It is the declared type, apart from lists: `Array` stands only where PostgreSQL
        /// takes an array of its own (`ANY($1)`), a list elsewhere is `Json`.
        kind: Option<InputKind>,
    },
    /// A string composed at call time: `'%{{ inputs.q }}%'`.
    Composed(Vec<Piece>),
}

/// A piece of a composed string.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// The author's text, escapes of the literal undone.
    Text(String),
    /// A value, as text.
    Source(Source),
    /// The value of an environment variable.
    Env(String),
}
