//! What a script names of its app.

use std::path::PathBuf;

use crate::{Diagnostic, Severity};

/// A kind of parts of an app that scripts name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppPart {
    /// `ctx.db("name")`
    Adapter,
    /// `ctx.api("name")`
    Api,
    /// `response().suggest("name", …)`
    Tool,
    /// `ctx.db("name").query("SELECT …")`
    Statement,
    /// `ctx.db("name").query(text)`, whose text is not written out there.
    UnwrittenStatement,
    /// `ctx.api("name").get("/orders/{id}")`: the method and the path, `GET /orders/{id}`.
    Request,
    /// `ctx.api("name").get(path)`, whose path is not written out there.
    UnwrittenRequest,
    /// `fetch("https://host/…")`
    Address,
    /// `fetch(url)` whose result is used as if it were the response.
    UnawaitedFetch,
}

impl AppPart {
    /// Whether it is what a script asks an adapter: a statement or a request, written out or not.
    pub(crate) const fn is_asked(self) -> bool {
        matches!(self, Self::Statement | Self::UnwrittenStatement | Self::Request | Self::UnwrittenRequest)
    }
}

/// A part of the app that a script names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptReference {
    /// What it names.
    pub part: AppPart,
    /// Its name; the text of a statement or of a request, and the URL of a `fetch` as far as its
    /// host. Empty where that is not written out.
    pub name: String,
    /// For a statement or a request: the name of its adapter, where the script has that, too.
    pub adapter: Option<String>,
    /// The file, relative to the app's folder.
    pub file: PathBuf,
    /// Where the name stands, from 1.
    pub line: usize,
    /// Likewise, in characters.
    pub column: usize,
    /// How many characters that are.
    pub length: usize,
}

impl ScriptReference {
    /// An error at its place.
    pub(crate) fn error(&self, message: String, help: String) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            file: self.file.clone(),
            line: self.line,
            column: self.column,
            length: self.length,
            message,
            help: Some(help).filter(|help| !help.is_empty()),
        }
    }
}
