//! The values of a file with what its table says of each: which key it belongs to, what it may be,
//! what its texts name.

use crate::{
    field::{Field, Named, Record, Shape, kind_fits},
    yaml::{Data, Entry, Node},
};

/// A value of a file, and what the tables say of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'d> {
    /// The value.
    pub(crate) node: &'d Node,
    /// What it may be.
    pub(crate) shape: Shape,
    /// The innermost key of a table that it stands below.
    pub(crate) field: Option<&'static Field>,
    /// The map in which this key is.
    pub(crate) beside: Option<&'d Node>,
}

/// A value within another one, and its key where it has one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child<'d> {
    /// The key and the value; `None` for an element of a list.
    pub(crate) entry: Option<&'d Entry>,
    /// What the key names, where it is one of the author's.
    pub(crate) key_names: Option<Named>,
    /// The value.
    pub(crate) spot: Spot<'d>,
}

impl<'d> Spot<'d> {
    /// The whole of a file.
    pub(crate) fn file(root: &'d Node, record: &'static Record) -> Self {
        Self { node: root, shape: Shape::Record(record), field: None, beside: None }
    }

    /// What the value is among what it may be.
    pub(crate) fn meant(&self) -> Shape {
        let mut shape = self.shape;
        while let Shape::OneOf(shapes) = shape {
            match shapes.iter().find(|shape| kind_fits(self.node, shape)).or(shapes.first()) {
                Some(one) => shape = *one,
                None => return Shape::Any,
            }
        }
        shape
    }

    /// The table of the value's keys, where it is a map with known keys, or may be one.
    pub(crate) fn table(&self) -> Option<&'static Record> {
        table_in(self.shape)
    }

    /// What the text of the value names.
    pub(crate) fn names(&self) -> Option<Named> {
        self.field.and_then(|field| field.names)
    }

    /// The values within it.
    pub(crate) fn children(&self) -> Vec<Child<'d>> {
        let shape = self.meant();
        match &self.node.data {
            Data::List(items) => {
                let element = if let Shape::List(element) = shape { *element } else { Shape::Any };
                items.iter().map(|node| Child { entry: None, key_names: None, spot: Self { node, shape: element, ..*self } }).collect()
            }
            Data::Map(entries) => {
                let key_names = self.field.filter(|_| matches!(shape, Shape::Map(_))).and_then(|field| field.keys);
                entries.iter().map(|entry| Child { entry: Some(entry), key_names, spot: self.within(shape, entry) }).collect()
            }
            _ => Vec::new(),
        }
    }

    fn within(&self, shape: Shape, entry: &'d Entry) -> Self {
        let node = &entry.value;
        match shape {
            Shape::Record(record) => {
                let field = record.fields.iter().find(|field| field.key == entry.key);
                let plugin = self.node.text_at("plugin");
                let table = field.and_then(|field| field.table.zip(plugin)).and_then(|(table, plugin)| table(plugin.trim()));
                let shape = table.map_or_else(|| field.map_or(Shape::Any, |field| field.shape), Shape::Record);
                Self { node, shape, field, beside: Some(self.node) }
            }
            Shape::Map(element) => Self { node, shape: *element, ..*self },
            _ => Self { node, shape: Shape::Any, ..*self },
        }
    }

    /// Goes through the value and everything in it.
    pub(crate) fn visit(&self, visit: &mut impl FnMut(&Child<'d>)) {
        for child in self.children() {
            visit(&child);
            child.spot.visit(visit);
        }
    }
}

fn table_in(shape: Shape) -> Option<&'static Record> {
    match shape {
        Shape::Record(record) => Some(record),
        Shape::OneOf(shapes) => shapes.iter().find_map(|shape| table_in(*shape)),
        _ => None,
    }
}
