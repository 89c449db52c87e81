//! The source map that a bundler of packages writes, put behind our own.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
};

use millrace_core::app::{MappedPlace, ScriptMap};
use oxc_sourcemap::SourceMap;

use super::resolve::slashes;

/// Where the code of a bundle comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places(ScriptMap);

impl Places {
    /// Reads the [source map](https://tc39.es/ecma426/) beside a bundle. One that cannot be read leads nowhere: stacks are then without places.
    pub(super) fn read(folder: &Path, bundle: &Path) -> Self {
        let mut path = bundle.as_os_str().to_owned();
        path.push(".map");
        let text = fs::read_to_string(PathBuf::from(path)).unwrap_or_default();
        let Ok(map) = SourceMap::from_json_string(&text) else { return Self::default() };
        // The sources are relative to the map. A temporary folder may itself be reached by a link.
        let base = bundle.parent().unwrap_or(folder);
        let base = fs::canonicalize(base).unwrap_or_else(|_| base.to_owned());
        let files = map.get_sources().map(|source| {
            let path = flat(&base.join(source));
            slashes(path.strip_prefix(folder).unwrap_or(&path))
        });
        let files = files.collect();
        let places = map.get_tokens().filter_map(|token| {
            Some(MappedPlace {
                line: token.get_dst_line(),
                column: token.get_dst_col(),
                file: token.get_source_id()?,
                source_line: token.get_src_line(),
                source_column: token.get_src_col(),
            })
        });
        let mut places: Vec<MappedPlace> = places.collect();
        places.sort_by_key(|place| (place.line, place.column));
        Self(ScriptMap { files, places })
    }

    /// A map of a program that was made of the bundle, as one that leads to the bundle's sources. What leads nowhere is left out.
    pub(super) fn through(&self, map: &ScriptMap) -> ScriptMap {
        let mut files: BTreeMap<String, u32> = BTreeMap::new();
        let mut names = Vec::new();
        let mut places: Vec<MappedPlace> = Vec::new();
        for place in &map.places {
            let Some((name, line, column)) = self.0.find(place.source_line + 1, place.source_column + 1) else { continue };
            let file = *files.entry(name.to_owned()).or_insert_with(|| {
                names.push(name.to_owned());
                (names.len() - 1) as u32
            });
            let found = MappedPlace { file, source_line: line - 1, source_column: column - 1, ..*place };
            let is_known = places.last().is_some_and(|last: &MappedPlace| {
                (last.line, last.file, last.source_line, last.source_column) == (found.line, file, found.source_line, found.source_column)
            });
            if !is_known {
                places.push(found);
            }
        }
        ScriptMap { files: names, places }
    }
}

/// A path without `..`.
fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(flat.pop()),
            Component::CurDir => {}
            other => flat.push(other),
        }
    }
    flat
}
