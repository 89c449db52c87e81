//! `millrace.lock`: what the statements of an app's tools return, as their databases described it
//! when `millrace check --connect --lock` wrote the file, and the app's surface, as it was when
//! `millrace check --accept` did.
//!
//! What it has of a tool holds for the statement that was described, which it knows by a digest. A
//! statement that has changed since is as good as one that was never described, and the author is
//! told.

use std::collections::BTreeMap;

use millrace_core::ports::{Column, ColumnKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::surface::Surface;

/// The file's name, at the top of the app's folder.
pub const LOCK_FILE: &str = "millrace.lock";
/// The version of its form. Without a surface, the file is one of the version before.
const VERSION: u32 = 2;
/// The version without a surface.
const EARLIER_VERSION: u32 = 1;

/// What a lock file says.
///
/// ```
/// let lock = millrace_bundler::Lock::parse(r#"{"version": 1, "tools": {"list": {"statement": "00", "columns": [{"name": "id", "type": "bigint", "kind": "big_integer"}]}}}"#);
/// assert_eq!(lock.unwrap().tools["list"].columns[0].type_name, "bigint");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    version: u32,
    /// What statements return, by the tool's name.
    pub tools: BTreeMap<String, LockedStatement>,
    /// What callers rely on; `None` where nobody has accepted it yet.
    #[serde(default)]
    pub surface: Option<Surface>,
}

/// What a lock file says of a tool's statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedStatement {
    /// The digest of the statement that was described.
    pub statement: String,
    /// The columns of its result; none where it returns no rows.
    pub columns: Vec<Column>,
}

/// The statement of a tool, as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolStatement {
    /// The tool's name.
    pub tool: String,
    /// Where it stands: `app/tools/x/config.yaml:3:12`.
    pub place: String,
    /// The digest of its text, of what its placeholders are, and of the adapter's name.
    pub digest: String,
    /// The columns that the lock file has for this very statement.
    pub columns: Option<Vec<Column>>,
}

impl Lock {
    /// A file with what databases have described, by the tool's name, and the surface of the file
    /// before it.
    #[must_use]
    pub fn of(statements: &[ToolStatement], mut described: BTreeMap<String, Vec<Column>>, surface: Option<Surface>) -> Self {
        let locked = |statement: &ToolStatement| {
            let columns = described.remove(&statement.tool)?;
            Some((statement.tool.clone(), LockedStatement { statement: statement.digest.clone(), columns }))
        };
        Self { version: version(surface.as_ref()), tools: statements.iter().filter_map(locked).collect(), surface }
    }

    /// The file with another surface; what it says of statements stays.
    #[must_use]
    pub fn accepting(before: Option<Self>, surface: Surface) -> Self {
        Self { version: VERSION, tools: before.map(|lock| lock.tools).unwrap_or_default(), surface: Some(surface) }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong, its line and its column, as a clause.
    pub fn parse(text: &str) -> Result<Self, String> {
        /// What every version has.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let said: Versioned = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match said.version {
            VERSION | EARLIER_VERSION => serde_json::from_str(text).map_err(|error| error.to_string()),
            other => Err(format!("its version is {other}, and this is Millrace for versions {EARLIER_VERSION} and {VERSION}")),
        }
    }

    /// The text of the file: one line for each column, in the order of the tools' names, and then
    /// one for each fact of the surface.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{{\n  \"version\": {},\n  \"tools\": {{", self.version);
        for (place, (tool, LockedStatement { statement, columns })) in self.tools.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            text.push_str(&format!("{comma}\n    {}: {{\n      \"statement\": {},\n      \"columns\": [", json!(tool), json!(statement)));
            for (place, column) in columns.iter().enumerate() {
                let comma = if place == 0 { "" } else { "," };
                text.push_str(&format!("{comma}\n        {}", json!(column)));
            }
            text.push_str(if columns.is_empty() { "]\n    }" } else { "\n      ]\n    }" });
        }
        text.push_str(if self.tools.is_empty() { "}" } else { "\n  }" });
        if let Some(surface) = &self.surface {
            // All of it is maps with names, and values of JSON.
            let surface = serde_json::to_string_pretty(surface).unwrap_or_default();
            text.push_str(&format!(",\n  \"surface\": {}", surface.replace('\n', "\n  ")));
        }
        text.push_str("\n}\n");
        text
    }

    /// What the databases say otherwise than the file of the statements that they were `asked`
    /// about: places, and clauses. `all` are those of the app, and `described` has what each
    /// returns now, by the tool's name.
    #[must_use]
    pub fn differences(
        &self,
        asked: &[ToolStatement],
        all: &[ToolStatement],
        described: &BTreeMap<String, Vec<Column>>,
    ) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for ToolStatement { tool, place, digest, .. } in asked {
            let mut say = |what: String| found.push((place.clone(), what));
            match (self.tools.get(tool), described.get(tool)) {
                (None, None) => {}
                (None, Some(_)) => say(format!("`{LOCK_FILE}` does not have the tool `{tool}`")),
                (Some(locked), _) if locked.statement != *digest => {
                    say(format!("the statement of the tool `{tool}` has changed since `{LOCK_FILE}` was written"));
                }
                (Some(_), None) => {
                    say(format!("the database does not describe the statement of the tool `{tool}`, and `{LOCK_FILE}` has it"))
                }
                (Some(locked), Some(now)) => of_columns(tool, &locked.columns, now).into_iter().for_each(say),
            }
        }
        for tool in self.tools.keys().filter(|tool| !all.iter().any(|statement| statement.tool == **tool)) {
            found.push((format!("{LOCK_FILE}:1:1"), format!("`{LOCK_FILE}` has the tool `{tool}`, which has no statement")));
        }
        found
    }
}

const fn version(surface: Option<&Surface>) -> u32 {
    if surface.is_some() { VERSION } else { EARLIER_VERSION }
}

/// What is different about the columns of a result.
fn of_columns(tool: &str, locked: &[Column], now: &[Column]) -> Vec<String> {
    let named = |columns: &[Column], name: &str| columns.iter().find(|column| column.name == name).cloned();
    let gone = locked.iter().filter(|column| named(now, &column.name).is_none());
    let gone = gone.map(|column| {
        let name = &column.name;
        format!("the tool `{tool}` does not return the column `{name}` any more, which `{LOCK_FILE}` has as {}", type_of(column))
    });
    let other = now.iter().filter_map(|column| match named(locked, &column.name) {
        None => {
            Some(format!("the tool `{tool}` returns the column `{}`, {}, which `{LOCK_FILE}` does not have", column.name, type_of(column)))
        }
        Some(before) if before == *column => None,
        // What is known of the cells has changed with something else: a view, a table that is not
        // `STRICT`.
        Some(before) if before.type_name == column.type_name => Some(format!(
            "the values of the column `{}` of the tool `{tool}` are described as {} now, and `{LOCK_FILE}` has {}",
            column.name,
            json!(column.kind),
            json!(before.kind)
        )),
        Some(before) => {
            let name = &column.name;
            Some(format!("the column `{name}` of the tool `{tool}` is {}, and `{LOCK_FILE}` has {}", type_of(column), type_of(&before)))
        }
    });
    gone.chain(other).collect()
}

fn type_of(column: &Column) -> String {
    match column.type_name.as_str() {
        "" => "of an unknown type".to_owned(),
        name => format!("`{name}`"),
    }
}

/// The JSON Schema of a result with these columns, by which it is checked. Clients see it as
/// `portable::of_result` has it.
pub(crate) fn schema(columns: &[Column]) -> Value {
    if columns.is_empty() {
        return json!({
            "type": "object",
            "properties": { "affected_rows": { "type": "integer" } },
            "required": ["affected_rows"],
        });
    }
    let properties: Map<String, Value> = columns.iter().map(|column| (column.name.clone(), of_kind(column.kind))).collect();
    let required: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    json!({ "type": "array", "items": { "type": "object", "properties": properties, "required": required } })
}

fn of_kind(kind: ColumnKind) -> Value {
    match kind {
        ColumnKind::Boolean => json!({ "type": ["boolean", "null"] }),
        ColumnKind::Integer => json!({ "type": ["integer", "null"] }),
        ColumnKind::BigInteger => json!({ "type": ["integer", "string", "null"] }),
        ColumnKind::Float => json!({ "type": ["number", "null"] }),
        ColumnKind::Text => json!({ "type": ["string", "null"] }),
        // One whose indexes do not begin with 1 stays as the database wrote it.
        ColumnKind::List => json!({ "type": ["array", "string", "null"] }),
        ColumnKind::Any => json!({}),
    }
}
