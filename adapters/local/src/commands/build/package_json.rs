//! What `package.json` beside `millrace.yaml` says of an app that is published: who made it, where
//! it is, and its name in the registry.

use std::{fs, io, path::Path};

use serde_json::Value as Json;

use crate::output::{CommandError, CommandResult};

/// The file.
pub(super) const FILE: &str = "package.json";
/// The largest file that is read.
const MAX_BYTES: usize = 1 << 20;

/// The members that publications use.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PackageJson {
    /// `mcpName`: the name in the MCP registry, as that registry calls the member.
    pub(super) mcp_name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) author: Option<Author>,
    /// An address that a browser opens.
    pub(super) repository: Option<String>,
    pub(super) homepage: Option<String>,
    pub(super) license: Option<String>,
    pub(super) keywords: Vec<String>,
}

/// Who made the app.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Author {
    pub(super) name: String,
    pub(super) email: Option<String>,
    pub(super) url: Option<String>,
}

impl PackageJson {
    /// Reads the file of an app's folder; what is not there is not known.
    ///
    /// # Errors
    /// The file cannot be read, or is not JSON.
    pub(super) fn of(folder: &Path) -> CommandResult<Self> {
        let file = folder.join(FILE);
        let wrong = |reason: String| CommandError::Wrong(format!("`{}` {reason}", file.display()));
        let text = match fs::read_to_string(&file) {
            Ok(text) if text.len() <= MAX_BYTES => text,
            Ok(_) => return Err(wrong(format!("has more than {} MB", MAX_BYTES >> 20))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(wrong(format!("cannot be read: {error}"))),
        };
        let json: Json = serde_json::from_str(&text).map_err(|error| wrong(format!("is not JSON: {error}")))?;
        Ok(Self::from(&json))
    }
}

impl From<&Json> for PackageJson {
    fn from(json: &Json) -> Self {
        let text = |name: &str| text_of(json.get(name));
        Self {
            mcp_name: text("mcpName"),
            description: text("description"),
            author: json.get("author").and_then(author),
            repository: json.get("repository").and_then(repository),
            homepage: text("homepage").filter(|url| is_web(url)),
            license: text("license"),
            keywords: json.get("keywords").and_then(Json::as_array).into_iter().flatten().filter_map(|word| text_of(Some(word))).collect(),
        }
    }
}

fn text_of(value: Option<&Json>) -> Option<String> {
    value.and_then(Json::as_str).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// `Ada Lovelace <ada@example.com> (https://example.com)`, or its parts.
fn author(value: &Json) -> Option<Author> {
    let Some(text) = value.as_str() else {
        let part = |name: &str| text_of(value.get(name));
        return Some(Author { name: part("name")?, email: part("email"), url: part("url").filter(|url| is_web(url)) });
    };
    let between = |open: char, close: char| Some(text.split_once(open)?.1.split_once(close)?.0.trim().to_owned());
    let name = text.split(['<', '(']).next().unwrap_or_default().trim();
    let known = |part: Option<String>| part.filter(|part| !part.is_empty());
    (!name.is_empty()).then(|| Author {
        name: name.to_owned(),
        email: known(between('<', '>')),
        url: known(between('(', ')')).filter(|url| is_web(url)),
    })
}

/// The forms that npm takes, as an address: `github:ada/notes`, `ada/notes`,
/// `git+https://github.com/ada/notes.git`.
fn repository(value: &Json) -> Option<String> {
    let text = text_of(Some(value.get("url").unwrap_or(value)))?;
    for (short, host) in [("github:", "github.com"), ("gitlab:", "gitlab.com"), ("bitbucket:", "bitbucket.org")] {
        if let Some(path) = text.strip_prefix(short) {
            return Some(format!("https://{host}/{path}"));
        }
    }
    let is_short =
        text.split('/').count() == 2 && text.chars().all(|character| character.is_ascii_alphanumeric() || "/._-".contains(character));
    if is_short {
        return Some(format!("https://github.com/{text}"));
    }
    let text = text.strip_prefix("git+").unwrap_or(&text);
    let text = text.strip_prefix("git://").map_or_else(|| text.to_owned(), |rest| format!("https://{rest}"));
    let url = text.strip_suffix(".git").unwrap_or(&text);
    is_web(url).then(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_forms_of_npm_are_known() {
        let ada = || Some(Author { name: "Ada L".into(), email: Some("a@b.c".into()), url: Some("https://a.b".into()) });
        assert_eq!(author(&json!("Ada L <a@b.c> (https://a.b)")), ada());
        assert_eq!(author(&json!({ "name": "Ada L", "email": "a@b.c", "url": "https://a.b" })), ada());
        assert_eq!(author(&json!("Ada")), Some(Author { name: "Ada".into(), ..Author::default() }));
        assert_eq!(author(&json!(" <a@b.c>")), None);
        for form in ["github:ada/notes", "ada/notes", "git+https://github.com/ada/notes.git", "git://github.com/ada/notes.git"] {
            assert_eq!(repository(&json!(form)).as_deref(), Some("https://github.com/ada/notes"), "{form}");
            assert_eq!(repository(&json!({ "type": "git", "url": form })).as_deref(), Some("https://github.com/ada/notes"));
        }
        assert_eq!(repository(&json!("git@github.com:ada/notes.git")), None);
        let found = PackageJson::from(&json!({ "name": "x", "mcpName": " io.github.ada/notes ", "description": "", "keywords": ["a", 1] }));
        assert_eq!(
            found,
            PackageJson { mcp_name: Some("io.github.ada/notes".into()), keywords: vec!["a".into()], ..PackageJson::default() }
        );
    }
}
