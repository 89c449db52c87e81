//! A text, or a list of texts.

use crate::{
    field::Shape,
    yaml::{Data, Node},
};

/// What a key takes that has one value or several.
pub(super) const ONE_OR_MORE: Shape = Shape::OneOf(&[Shape::Text, Shape::List(&Shape::Text)]);

/// The values of such a key.
pub(super) fn one_or_more(node: Option<&Node>) -> impl Iterator<Item = &Node> {
    node.into_iter().flat_map(|node| match &node.data {
        Data::List(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    })
}
