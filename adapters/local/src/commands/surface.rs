//! How changes of an app's surface are told: by `check`, `check --against` and `diff`.

use millrace_bundler::{Change, ChangeClass, Item};
use millrace_core::Json;
use serde_json::json;

use crate::{app::count, output::note};

/// A change, and where it stands in the app's files, where that is known.
pub(super) struct PlacedChange {
    pub(super) change: Change,
    pub(super) place: Option<String>,
}

impl From<Change> for PlacedChange {
    fn from(change: Change) -> Self {
        Self { change, place: None }
    }
}

/// What a class means, before a change.
const fn class_words(class: ChangeClass) -> &'static str {
    match class {
        ChangeClass::Breaks => "breaks callers",
        ChangeClass::Seen => "models see",
        ChangeClass::Compatible => "compatible",
    }
}

/// Whether one of them breaks callers.
pub(super) fn breaks(changes: &[PlacedChange]) -> bool {
    changes.iter().any(|placed| placed.change.class == ChangeClass::Breaks)
}

/// How many of each class: `2 changes break callers, 1 is seen by models, 3 are compatible`.
pub(super) fn summary(changes: &[PlacedChange]) -> String {
    let number = |class| changes.iter().filter(|placed| placed.change.class == class).count();
    let (broken, seen, compatible) = (number(ChangeClass::Breaks), number(ChangeClass::Seen), number(ChangeClass::Compatible));
    let verb = |number: usize, one: &'static str, more: &'static str| if number == 1 { one } else { more };
    format!(
        "{} {} callers, {seen} {} seen by models, {compatible} {} compatible",
        count(broken, "change"),
        verb(broken, "breaks", "break"),
        verb(seen, "is", "are"),
        verb(compatible, "is", "are")
    )
}

/// Tells them, what breaks first.
pub(super) fn tell(changes: &[PlacedChange]) {
    for class in [ChangeClass::Breaks, ChangeClass::Seen, ChangeClass::Compatible] {
        for PlacedChange { change, place } in changes.iter().filter(|placed| placed.change.class == class) {
            let place = place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
            note(format_args!("{place}{}: {change}", class_words(class)));
        }
    }
}

/// The same as JSON.
pub(super) fn json(changes: &[PlacedChange]) -> Json {
    let one = |PlacedChange { change, place }: &PlacedChange| {
        let (kind, name) = match &change.item {
            Item::Server => ("server", None),
            Item::Tool(name) => ("tool", Some(name)),
            Item::Prompt(name) => ("prompt", Some(name)),
            Item::Resource(uri) => ("resource", Some(uri)),
        };
        json!({
            "class": change.class.as_str(),
            "kind": kind,
            "name": name,
            "path": change.path,
            "place": place,
            "change": change.what,
        })
    };
    changes.iter().map(one).collect()
}
