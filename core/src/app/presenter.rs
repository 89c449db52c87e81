//! What a model sees of a result: `app/presenters/NAME.yaml`, or `returns` of a tool.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{InputKind, Literal, Template, ValueTemplate};
use crate::expression::Expression;

/// The variable with the key of `censor: hash`.
pub const HASH_KEY: &str = "MILLRACE_HASH_KEY";

/// A presenter, with what the `returns` that names it changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Presenter {
    /// The file's name, or the tool's where the presenter stands in the tool.
    pub name: String,
    /// `items`: the member of a result that holds the list.
    pub items: Option<String>,
    /// `schema`, in declared order.
    pub fields: Vec<PresentedField>,
    /// `unknown`
    pub unknown: UnknownFields,
    /// `on_mismatch`
    pub on_mismatch: OnMismatch,
    /// `limit`
    pub limit: Option<ItemLimit>,
    /// `redact`
    pub redact: Vec<Redaction>,
    /// The rules of described fields, then `rules`.
    pub rules: Vec<PresenterRule>,
    /// `rules_max`: how many rules that depend on items a result has.
    pub rules_max: u32,
    /// `collection_rules`: rules of a list.
    pub collection_rules: Vec<PresenterRule>,
    /// `ui`
    pub ui: Vec<UiTemplate>,
    /// `actions`
    pub actions: Vec<ActionTemplate>,
    /// `select`: callers may name the fields that they want.
    pub select: bool,
    /// `format`
    pub format: TextFormat,
    /// `structured`: whether the data is sent as structured content, beside the text.
    pub structured: bool,
}

/// A field of a presenter's `schema`, or the element of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PresentedField {
    /// The name; empty for `items`.
    pub name: String,
    /// `type`
    pub kind: InputKind,
    /// It may be absent.
    pub optional: bool,
    /// It may be `null`.
    pub nullable: bool,
    /// `enum`; empty: all.
    pub allowed: Vec<Literal>,
    /// Numbers: the greatest value. Strings: the most characters. Lists: the most elements.
    pub max: Option<f64>,
    /// `items`: the element of a list.
    pub items: Option<Box<PresentedField>>,
    /// `fields` of an object; empty: any.
    pub fields: Vec<PresentedField>,
    /// `returns`: the presenter of what is nested here; its place in
    /// [`App::presenters`](super::App::presenters).
    pub returns: Option<u32>,
    /// `limit` of a list.
    pub limit: Option<ItemLimit>,
    /// `text: as_is`: hidden characters stay in it; see [`hidden`](crate::hidden).
    pub as_is: bool,
}

/// What becomes of members that the schema does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnknownFields {
    /// They are left out.
    #[default]
    Strip,
    /// The call fails.
    Reject,
    /// They stay.
    Keep,
}

/// What becomes of an item that does not fit the schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnMismatch {
    /// The call fails.
    #[default]
    Error,
    /// It is left out, and a notice says how many were.
    DropItem,
}

/// `limit`: how many items are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemLimit {
    /// `max`
    pub max: u32,
    /// `input`: the input that says how many a caller wants, if those are fewer.
    pub input: Option<String>,
    /// `notice`, with `shown`, `total` and `omitted`; `None`: the usual one.
    pub notice: Option<Template>,
    /// `cursor`: how to get the next ones.
    pub cursor: Option<Cursor>,
}

/// `limit.cursor`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The input that takes it.
    pub input: String,
    /// The field of the last shown item that is its value; `None`: the value is how many items come
    /// before the next ones.
    pub field: Option<String>,
}

/// One entry of `redact`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Redaction {
    /// What is replaced, from an item on.
    pub paths: Vec<RedactedPath>,
    /// By what.
    pub censor: Censor,
    /// `unless`: callers for whom it holds see the value.
    pub unless: Option<Expression>,
}

/// `customer.ssn`, `**.password`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedactedPath(pub Vec<PathStep>);

/// One step of a [`RedactedPath`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathStep {
    /// `name`, `["name"]`
    Member(String),
    /// `[0]`
    Index(u32),
    /// `[*]`: each element of a list.
    Elements,
    /// `*`: each member of an object, or each element of a list.
    Any,
    /// `**`: no level, or any number of them.
    Deep,
}

/// `censor`: what stands instead of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Censor {
    /// A text.
    Text(String),
    /// `mask`: always the same number of characters, and the end of the value.
    Mask {
        /// The character.
        mask: char,
        /// How many characters of the end are shown; none of a value with less than twice as many.
        keep_end: u32,
    },
    /// `hash`: HMAC-SHA256 with the key in [`HASH_KEY`], 32 hexadecimal digits. Equal values stay
    /// equal.
    Hash,
    /// `remove`: the member vanishes.
    Remove,
}

/// A rule for the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PresenterRule {
    /// `when`
    pub when: Option<Expression>,
    /// `text`
    pub text: Template,
    /// Whether it looks at the item, and so is asked for each.
    pub per_item: bool,
}

/// A UI block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UiTemplate {
    /// `echarts`, `mermaid`, `markdown`, `code`, `table`, `list`, `json` or `summary`
    pub kind: String,
    /// What it shows. Of a table with [`Self::each`], one row; of a list, one line.
    pub value: ValueTemplate,
    /// The value is made for each item.
    pub each: bool,
    /// The columns of a table.
    pub columns: Vec<String>,
    /// The language of code.
    pub language: Option<String>,
    /// `title`
    pub title: Option<Template>,
    /// `width`
    pub width: Option<String>,
    /// `priority`: a number, as it was written.
    pub priority: Option<Literal>,
    /// `when`
    pub when: Option<Expression>,
    /// `for`
    pub shown_for: ShownFor,
}

/// `for` of a UI block: for which results it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShownFor {
    /// A result that is one item.
    Item,
    /// A result that is a list.
    Collection,
    /// Both.
    Any,
}

/// A tool to call next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionTemplate {
    /// The tool; its place in [`App::tools`](super::App::tools).
    pub tool: u32,
    /// `when`
    pub when: Option<Expression>,
    /// `reason`
    pub reason: Template,
    /// `args`
    pub args: Option<ValueTemplate>,
    /// Whether it looks at the item, and so is asked for each.
    pub per_item: bool,
}

/// `format`: how the data is written as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextFormat {
    /// JSON.
    #[default]
    Json,
    /// TOON.
    Toon,
    /// As the input `format` says; JSON where it says nothing.
    Input,
}

/// The input that `format: input` adds.
pub const FORMAT_INPUT: &str = "format";
/// The input that `select: true` adds.
pub const SELECT_INPUT: &str = "select";
/// What [`SELECT_INPUT`] was called, in lists of tools that callers may still have.
pub const EARLIER_SELECT_INPUT: &str = "_select";

impl Presenter {
    /// Whether a key of [`HASH_KEY`] is needed.
    #[must_use]
    pub fn hashes(&self) -> bool {
        self.redact.iter().any(|redaction| redaction.censor == Censor::Hash)
    }
}

impl fmt::Display for RedactedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            let dot = if place == 0 { "" } else { "." };
            match step {
                PathStep::Member(name) => write!(f, "{dot}{name}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
                PathStep::Elements => f.write_str("[*]")?,
                PathStep::Any => write!(f, "{dot}*")?,
                PathStep::Deep => write!(f, "{dot}**")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Censor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "becomes {text:?}"),
            Self::Mask { mask, keep_end } => write!(f, "is masked with `{mask}`, all but the last {keep_end} characters"),
            Self::Hash => f.write_str("becomes a keyed hash"),
            Self::Remove => f.write_str("is removed"),
        }
    }
}
