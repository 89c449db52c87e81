//! What the bundler knows of a place, as the protocol says it.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use millrace_bundler::{
    Texts,
    editor::{AppIndex, Completion, CompletionKind, Edit, MAX_FILE, OpenFile, Place, Symbol},
};
use serde_json::{Map, Value as Json, json};

use super::{
    documents::{Documents, Lines},
    uris::uri_of,
};

/// What is asked: the place in a file of an app, and what is known of that.
pub(super) struct Asked<'a> {
    pub(super) index: &'a AppIndex,
    pub(super) folder: &'a Path,
    pub(super) documents: &'a Documents,
    pub(super) texts: &'a Texts,
    pub(super) file: OpenFile<'a>,
    /// The parameters of the request.
    pub(super) params: &'a Json,
    /// Whether the editor takes edits with the versions of their files.
    pub(super) takes_versions: bool,
}

/// Why there is no answer.
pub(super) enum Refusal {
    /// There is no such request.
    Unknown,
    /// Something of it is missing.
    Invalid,
    /// It cannot be done, and why.
    Failed(String),
}

/// The requests that are answered only by what was found of the files as they are now.
pub(super) const FRESH: [&str; 3] = ["textDocument/rename", "textDocument/prepareRename", "textDocument/references"];

/// The requests about a file.
pub(super) const METHODS: [&str; 7] = [
    "textDocument/completion",
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentSymbol",
    "textDocument/prepareRename",
    "textDocument/rename",
];

impl Asked<'_> {
    /// The answer to a request.
    pub(super) fn answer(&self, method: &str) -> Result<Json, Refusal> {
        let lines = Lines::new(self.file.text);
        if method == "textDocument/documentSymbol" {
            return Ok(self.index.symbols(self.file).iter().map(|part| symbol(part, &lines)).collect());
        }
        let offset = lines.offset(&self.params["position"]).ok_or(Refusal::Invalid)?;
        match method {
            "textDocument/completion" => {
                let found = self.index.completions(self.file, offset);
                let items: Vec<Json> = found.items.iter().enumerate().map(|(order, item)| completion(item, order, &lines)).collect();
                Ok(json!({ "isIncomplete": !found.is_whole, "items": items }))
            }
            "textDocument/hover" => Ok(self.index.hover(self.file, offset).map_or(
                Json::Null,
                |hover| json!({ "contents": { "kind": "markdown", "value": hover.text }, "range": lines.range(hover.range) }),
            )),
            "textDocument/definition" => {
                let place = self.index.definition(self.texts, self.file, offset);
                Ok(place.and_then(|place| self.location(&place)).unwrap_or(Json::Null))
            }
            "textDocument/references" => {
                let places = self.index.references(self.texts, self.file, offset);
                Ok(places.iter().filter_map(|place| self.location(place)).collect())
            }
            "textDocument/prepareRename" => {
                let (range, name) = self.index.renamed(self.file, offset).map_err(Refusal::Failed)?;
                Ok(json!({ "range": lines.range(range), "placeholder": name }))
            }
            "textDocument/rename" => {
                let new = self.params["newName"].as_str().ok_or(Refusal::Invalid)?;
                let edits = self.index.rename(self.texts, self.file, offset, Some(new)).map_err(Refusal::Failed)?;
                self.workspace_edit(&edits)
            }
            _ => Err(Refusal::Unknown),
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The text of a file as the editor has it, or as it is on the disk.
    fn text(&self, file: &str) -> Option<String> {
        let path = self.path(file);
        if let Some(document) = self.documents.get(&path) {
            return Some(document.text.to_string());
        }
        let is_short = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= 16 * MAX_FILE);
        is_short.then(|| std::fs::read_to_string(&path).ok())?
    }

    fn uri(&self, file: &str) -> Option<String> {
        let path = self.path(file);
        self.documents.get(&path).map(|document| document.uri.clone()).or_else(|| uri_of(&path))
    }

    fn location(&self, place: &Place) -> Option<Json> {
        let text = self.text(&place.file)?;
        Some(json!({ "uri": self.uri(&place.file)?, "range": Lines::new(&text).range(place.bytes()) }))
    }

    /// The edits of all files, or none of them.
    fn workspace_edit(&self, edits: &[Edit]) -> Result<Json, Refusal> {
        let mut files: Map<String, Json> = Map::new();
        let mut versioned: Vec<Json> = Vec::new();
        for of_file in edits.chunk_by(|a, b| a.place.file == b.place.file) {
            let Some(file) = of_file.first().map(|edit| edit.place.file.as_str()) else { continue };
            let gone = || Refusal::Failed(format!("`{file}` cannot be read."));
            let (text, uri) = (self.text(file).ok_or_else(gone)?, self.uri(file).ok_or_else(gone)?);
            let lines = Lines::new(&text);
            let edits: Vec<Json> =
                of_file.iter().map(|edit| json!({ "range": lines.range(edit.place.bytes()), "newText": edit.text })).collect();
            let version = self.documents.get(&self.path(file)).map(|document| document.version);
            versioned.push(json!({ "textDocument": { "uri": uri, "version": version }, "edits": edits }));
            files.insert(uri, edits.into());
        }
        Ok(if self.takes_versions { json!({ "documentChanges": versioned }) } else { json!({ "changes": files }) })
    }
}

fn completion(item: &Completion, order: usize, lines: &Lines<'_>) -> Json {
    // The numbers of the protocol.
    let kind = match item.kind {
        CompletionKind::Key => 10,
        CompletionKind::Value => 12,
        CompletionKind::Name => 18,
        CompletionKind::File => 17,
        CompletionKind::Variable => 6,
        CompletionKind::Word => 14,
    };
    let mut told = json!({
        "label": item.label,
        "kind": kind,
        "sortText": format!("{order:05}"),
        "filterText": item.label,
        "textEdit": { "range": lines.range(item.replace.clone()), "newText": item.insert },
    });
    if !item.detail.is_empty() {
        told["detail"] = item.detail.as_str().into();
    }
    if !item.doc.is_empty() {
        told["documentation"] = json!({ "kind": "markdown", "value": item.doc });
    }
    told
}

fn symbol(part: &Symbol, lines: &Lines<'_>) -> Json {
    let whole = |range: &Range<usize>| lines.range(range.clone());
    let parts: Vec<Json> = part.parts.iter().map(|part| symbol(part, lines)).collect();
    let kind = if part.parts.is_empty() { 20 } else { 19 };
    json!({
        "name": part.name,
        "detail": part.detail,
        "kind": kind,
        "range": whole(&part.range),
        "selectionRange": whole(&part.name_range),
        "children": parts,
    })
}
