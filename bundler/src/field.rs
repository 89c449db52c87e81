//! The tables of the app format: every key of every file, its type, its meaning, its default.
//!
//! One table is read by [`check`] (which finds unknown keys and wrong types), by the editor schemas
//! and by the reference in [`schema`](crate::schema): they cannot drift apart.

mod check;
mod unit;

pub(crate) use check::{CheckMode, check, check_part, kind_fits, what_it_takes};
pub(crate) use unit::{duration_ms, size_bytes};

/// A map with known keys.
#[derive(Debug)]
pub(crate) struct Record {
    /// Its name in schemas: `tool`, `auth`.
    pub(crate) name: &'static str,
    /// What it is in a sentence: `a tool`, `` `server` ``.
    pub(crate) noun: &'static str,
    /// What it is.
    pub(crate) doc: &'static str,
    /// Its keys, in the order of the reference.
    pub(crate) fields: &'static [Field],
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// The key.
    pub(crate) key: &'static str,
    /// What its value may be.
    pub(crate) shape: Shape,
    /// What it means: one sentence or two.
    pub(crate) doc: &'static str,
    /// What holds without it, as the author would write it.
    pub(crate) default: Option<&'static str>,
    /// Has to be there.
    pub(crate) required: bool,
    /// Whether it can be used.
    pub(crate) status: KeyStatus,
    /// Its texts are templates: what reads them fills their placeholders in, or refuses them. Those
    /// of every other key are refused by [`check`], so that no key can forget it.
    pub(crate) filled: bool,
    /// The first names that placeholders in its texts, or its condition, can have; none where they
    /// are the variables and secrets of the deployment.
    pub(crate) sees: &'static [&'static str],
    /// Its text is an expression.
    pub(crate) condition: bool,
    /// What of the app its texts name.
    pub(crate) names: Option<Named>,
    /// What of the app the keys of its map name.
    pub(crate) keys: Option<Named>,
    /// The table of its map, by what the key `plugin` beside it says.
    pub(crate) table: Option<TableOf>,
}

/// The table that belongs to a word.
pub(crate) type TableOf = fn(&str) -> Option<&'static Record>;

/// What of the app a text names. An editor completes it, and goes where it is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// An adapter.
    Adapter,
    /// A tool.
    Tool,
    /// A presenter.
    Presenter,
    /// A prompt.
    Prompt,
    /// An input of the tool that stands beside it.
    Input,
    /// A file of a script.
    Script,
    /// A plugin of `auth`: a word, or a file of a script.
    Plugin,
    /// A scope.
    Scope,
    /// A kind of databases or APIs.
    Connector,
    /// An option of the connector that stands beside it.
    ConnectorOption,
}

/// Whether a key can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyStatus {
    /// It can.
    Now,
    /// It comes from Hyperterse, and is read in its apps only.
    Imported,
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// Text.
    Text,
    /// A truth value.
    Bool,
    /// A whole number within bounds.
    Int(i64, i64),
    /// Any number.
    Number,
    /// Bytes: `1mb`, `256kb`, `4096`.
    Size,
    /// Time: `5s`, `500ms`, `2m`.
    Duration,
    /// Text, a number or a truth value.
    Scalar,
    /// Anything.
    Any,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A list.
    List(&'static Shape),
    /// A map with keys of the author's.
    Map(&'static Shape),
    /// A map with known keys.
    Record(&'static Record),
    /// One of these.
    OneOf(&'static [Shape]),
}

impl Field {
    /// A key that may be left out and has no default.
    pub(crate) const fn new(key: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self {
            key,
            shape,
            doc,
            default: None,
            required: false,
            status: KeyStatus::Now,
            filled: false,
            sees: &[],
            condition: false,
            names: None,
            keys: None,
            table: None,
        }
    }

    /// Gives it a default.
    pub(crate) const fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// Makes it required.
    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Says that its texts are templates.
    pub(crate) const fn filled(mut self) -> Self {
        self.filled = true;
        self
    }

    /// Says that its texts are templates, and the first names that their placeholders can have.
    pub(crate) const fn sees(mut self, roots: &'static [&'static str]) -> Self {
        self.filled = true;
        self.sees = roots;
        self
    }

    /// Says that its text is an expression, and the first names that its paths can have.
    pub(crate) const fn condition(mut self, roots: &'static [&'static str]) -> Self {
        self.condition = true;
        self.sees(roots)
    }

    /// Says what of the app its texts name.
    pub(crate) const fn names(mut self, named: Named) -> Self {
        self.names = Some(named);
        self
    }

    /// Says what of the app the keys of its map name.
    pub(crate) const fn keys(mut self, named: Named) -> Self {
        self.keys = Some(named);
        self
    }

    /// Says which table its map has, by what the key `plugin` beside it says.
    pub(crate) const fn table(mut self, table: TableOf) -> Self {
        self.table = Some(table);
        self
    }

    /// Keeps it to apps of Hyperterse.
    pub(crate) const fn imported(mut self) -> Self {
        self.status = KeyStatus::Imported;
        self
    }
}
