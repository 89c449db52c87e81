//! Places in data.

use alloc::string::{String, ToString as _};

/// A place in the data, without text until somebody asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Member(&'a str),
    Index(usize),
}

/// `[3].customer.name`
pub(super) fn shown_path(steps: &[Step<'_>]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Member(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
            Step::Index(index) => {
                path.push('[');
                path.push_str(&index.to_string());
                path.push(']');
            }
        }
    }
    path
}
