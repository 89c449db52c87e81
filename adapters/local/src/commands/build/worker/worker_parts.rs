//! The parts that a runtime of the Worker is made with or without: features of the crate
//! `millrace-worker`.
//!
//! Nobody chooses them: an app that needs a part gets it, and any other app a smaller Worker.

use millrace_catalogue::WorkerPart;
use millrace_core::app::{Adapter, App};

/// The wasm module below a runtime's folder.
pub(super) const WASM: &str = "index_bg.wasm";

/// A part by its feature's name, and whether an app needs it.
type Part = (&'static str, fn(&App) -> bool);

const PARTS: [Part; 2] = [("scripts", |app| !app.scripts.is_empty()), ("databases", |app| needs(app, WorkerPart::Databases))];

/// Whether an adapter's connector is in a part.
fn needs(app: &App, part: WorkerPart) -> bool {
    let part_of = |adapter: &Adapter| millrace_catalogue::find(&adapter.connector)?.worker_part;
    app.adapters.iter().any(|adapter| part_of(adapter) == Some(part))
}

/// A set of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts(Vec<&'static str>);

impl Parts {
    /// What an app needs.
    pub(super) fn of(app: &App) -> Self {
        Self(PARTS.into_iter().filter(|(_, needs)| needs(app)).map(|(name, _)| name).collect())
    }

    /// `lean`, or the parts with `-` between: the name of a folder.
    pub(super) fn name(&self) -> String {
        if self.0.is_empty() { "lean".into() } else { self.0.join("-") }
    }

    /// What cargo takes as `--features`.
    #[cfg(any(feature = "checkout", test))]
    pub(super) fn features(&self) -> String {
        self.0.join(",")
    }

    /// Whether the script engine is among them.
    #[cfg(feature = "checkout")]
    pub(super) fn has_scripts(&self) -> bool {
        self.0.contains(&"scripts")
    }

    /// Every set.
    pub(super) fn all() -> Vec<Self> {
        let sets = (0..1_usize << PARTS.len()).map(|set| {
            let has = |place: &usize| set & (1 << place) != 0;
            Self((0..PARTS.len()).filter(has).map(|place| PARTS[place].0).collect())
        });
        sets.collect()
    }

    /// The names of all sets that have these parts, the smallest first.
    pub(super) fn sufficient(&self) -> Vec<String> {
        let mut sets: Vec<Self> = Self::all().into_iter().filter(|set| self.0.iter().all(|part| set.0.contains(part))).collect();
        sets.sort_by_key(|set| set.0.len());
        sets.iter().map(Self::name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_named_and_found_by_what_they_have() {
        let set = |parts: &[&'static str]| Parts(parts.to_vec());
        let cases: [(Parts, &str, &str, &[&str]); 4] = [
            (set(&[]), "lean", "", &["lean", "scripts", "databases", "scripts-databases"]),
            (set(&["scripts"]), "scripts", "scripts", &["scripts", "scripts-databases"]),
            (set(&["databases"]), "databases", "databases", &["databases", "scripts-databases"]),
            (set(&["scripts", "databases"]), "scripts-databases", "scripts,databases", &["scripts-databases"]),
        ];
        for (parts, name, features, sufficient) in cases {
            assert_eq!((parts.name().as_str(), parts.features().as_str()), (name, features));
            assert_eq!(parts.sufficient(), sufficient);
        }
    }
}
