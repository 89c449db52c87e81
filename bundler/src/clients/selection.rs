//! Which clients `check` thinks of.

use super::table::{Construct, ROWS, Row};
use crate::yaml::Node;

/// The clients that an app is checked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// The names that were given; `None`: every client.
    pub(super) named: Option<Vec<String>>,
}

impl Selection {
    /// Those of the command, else those of `clients`, else all.
    pub(crate) fn of(options: &[String], root: &Node) -> Self {
        let named = match (options.is_empty(), root.at("clients")) {
            (false, _) => Some(options.to_vec()),
            (true, Some(_)) => Some(root.texts_at("clients")),
            (true, None) => None,
        };
        Self { named }
    }

    pub(super) fn has(&self, row: &Row) -> bool {
        let is = |name: &String| {
            let rest = row.client.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        self.named.as_ref().map_or(!row.when_named, |named| named.iter().any(is))
    }

    /// The rows of a construct.
    pub(super) fn rows(&self, construct: Construct) -> Vec<&'static Row> {
        ROWS.iter().filter(|row| row.construct == construct && self.has(row)).collect()
    }
}
