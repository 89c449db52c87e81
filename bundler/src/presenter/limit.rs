//! `limit` of a presenter, and of the lists in it.

use std::ops::Range;

use millrace_core::app::{Cursor, ItemLimit, OnMismatch, Presenter};

use super::redaction::is_redacted;
use crate::{
    compiler::Compiler,
    field::{Field, Named, Record, Shape},
    names::meant,
    scope::{IN_NOTICE, PathScope},
    yaml::{Data, Document, Node},
};

pub(super) const LIMIT_SHAPE: Shape = Shape::OneOf(&[Shape::Int(1, 1_000_000), Shape::Record(&LIMIT_RECORD)]);

static LIMIT_RECORD: Record = Record {
    name: "item_limit",
    noun: "`limit`",
    doc: "How many items of a list are shown. The list is cut before it is checked.",
    fields: &[
        Field::new("max", Shape::Int(1, 1_000_000), "How many.").required(),
        Field::new("input", Shape::Text, "The input of the tool, of the type `int`, by which a caller asks for fewer.").names(Named::Input),
        Field::new("notice", Shape::Text, "What tells that items are missing, with `{{ shown }}`, `{{ total }}` and `{{ omitted }}`.")
            .sees(IN_NOTICE)
            .default("⚠️ Dataset truncated. 50 shown, 3150 hidden. Use filters to narrow results."),
        Field::new("cursor", Shape::Record(&CURSOR), "How to get the next items: the notice and `_meta` say it."),
    ],
};

static CURSOR: Record = Record {
    name: "cursor",
    noun: "`cursor`",
    doc: "How to get the items after the last one that is shown.",
    fields: &[
        Field::new("input", Shape::Text, "The input of the tool that takes the value.").names(Named::Input).required(),
        Field::new(
            "field",
            Shape::Text,
            "The field of the last shown item that is the value. Without it, the value is how many items come before the next ones, as an `OFFSET` takes it.",
        ),
    ],
};

/// Reads `limit`.
pub(super) fn limit(compiler: &mut Compiler<'_>, document: &Document, node: &Node, of: Option<&Presenter>) -> ItemLimit {
    let max = whole(node).or_else(|| node.at("max").and_then(whole)).unwrap_or(u32::MAX);
    let input = node.at("input").and_then(|input| {
        if of.is_none() {
            let help = "Use `input` in the `limit` of the presenter.";
            compiler.error(document, input.range.clone(), "a nested list has no input", help);
        }
        input.text().map(String::from)
    });
    let notice = node.at("notice").map(|notice| compiler.message(document, notice, &PathScope::of_notice()));
    let cursor = node.at("cursor").and_then(|cursor| {
        let (input, field) = (cursor.text_at("input")?.to_owned(), cursor.at("field"));
        let range = field.unwrap_or(cursor).range.clone();
        let field = field.and_then(Node::text).map(str::to_owned);
        usable_cursor(compiler, document, range, field.as_deref(), of).then_some(Cursor { input, field })
    });
    ItemLimit { max, input, notice, cursor }
}

/// Whether the items have the field of a cursor, and everyone sees it.
fn usable_cursor(
    compiler: &mut Compiler<'_>,
    document: &Document,
    range: Range<usize>,
    field: Option<&str>,
    of: Option<&Presenter>,
) -> bool {
    let Some(presenter) = of else {
        compiler.error(document, range, "a nested list has no cursor", "Use `cursor` in the `limit` of the presenter.");
        return false;
    };
    let Some(field) = field else {
        if presenter.on_mismatch == OnMismatch::DropItem {
            let message = "a cursor without `field` counts items, and `on_mismatch: drop_item` leaves some out";
            compiler.error(document, range, message, "Name a field whose values do not come again, such as a key.");
            return false;
        }
        return true;
    };
    let names: Vec<&str> = presenter.fields.iter().map(|field| field.name.as_str()).collect();
    if !names.contains(&field) {
        compiler.error(document, range, format!("the schema has no field `{field}`"), meant(field, &names, "The fields are"));
        return false;
    }
    if is_redacted(presenter, field) {
        let message = format!("the field `{field}` is redacted, and a cursor shows it");
        compiler.error(document, range, message, "Use another field as the cursor.");
        return false;
    }
    true
}

/// A whole number.
pub(super) fn whole(node: &Node) -> Option<u32> {
    match node.data {
        Data::Int(value) => u32::try_from(value).ok(),
        _ => None,
    }
}
