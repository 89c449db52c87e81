//! An entry of a client's configuration: as a file of its own, and merged into one that is there.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstRootNode},
};
use serde_json::{Map, Value as Json};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value as TomlValue};

/// The language of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON; comments and trailing commas of the file stay.
    Json,
    /// TOML.
    Toml,
}

/// One server in a client's configuration.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) format: Format,
    /// The member or table that holds the servers.
    pub(crate) section: &'static str,
    /// The server's name in it.
    pub(crate) name: String,
    /// What is said of the server.
    pub(crate) server: Json,
    /// What VS Code asks for, in the member `inputs`.
    pub(crate) inputs: Vec<Json>,
}

/// Why an entry cannot be merged into a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MergeError {
    /// The file is not what its client reads. The text says where.
    Unreadable(String),
    /// A server of that name is there and is another; the members that differ, by name.
    Differs(Vec<String>),
}

impl Entry {
    pub(crate) fn json(section: &'static str, name: &str, server: Json) -> Self {
        Self { format: Format::Json, section, name: name.to_owned(), server, inputs: Vec::new() }
    }

    /// A file with this entry and nothing else.
    ///
    /// # Errors
    /// None that a new file can have.
    pub(crate) fn text(&self) -> Result<String, MergeError> {
        self.merged("", false)
    }

    /// The text of a file with the entry in it: everything else stays as it is, and so does the
    /// whole text where the entry is there already. `replaces`: another server of that name is
    /// replaced.
    ///
    /// # Errors
    /// The text cannot be read, or has another server of that name.
    pub(crate) fn merged(&self, text: &str, replaces: bool) -> Result<String, MergeError> {
        let (mark, body) = if let Some(body) = text.strip_prefix('\u{feff}') { ("\u{feff}", body) } else { ("", text) };
        let merged = match self.format {
            Format::Json => self.in_json(body, replaces)?,
            Format::Toml => self.in_toml(body, replaces)?,
        };
        // The lines of a file end in one way.
        let is_crlf = body.contains("\r\n") && body.matches('\n').count() == body.matches("\r\n").count();
        let merged = if is_crlf { merged.replace("\r\n", "\n").replace('\n', "\r\n") } else { merged };
        Ok(mark.to_owned() + &merged)
    }

    fn in_json(&self, text: &str, replaces: bool) -> Result<String, MergeError> {
        let is_new = text.trim().is_empty();
        let root = CstRootNode::parse(if is_new { "{\n}\n" } else { text }, &OPTIONS)
            .map_err(|error| MergeError::Unreadable(error.to_string()))?;
        let top = root.object_value().ok_or_else(|| MergeError::Unreadable("the whole is not an object".into()))?;
        let servers = match member(&top, self.section)? {
            None => top.append(self.section, CstInputValue::Object(Vec::new())).object_value(),
            Some(found) => found.object_value(),
        };
        let servers = servers.ok_or_else(|| MergeError::Unreadable(format!("`{}` is not an object", self.section)))?;
        match member(&servers, &self.name)? {
            None => drop(servers.append(&self.name, input(&self.server))),
            Some(found) => {
                let value = found.to_serde_value().unwrap_or_default();
                if value != self.server {
                    if !replaces {
                        return Err(MergeError::Differs(differences(&value, &self.server)));
                    }
                    found.set_value(input(&self.server));
                }
            }
        }
        if !self.inputs.is_empty() {
            let inputs = match member(&top, "inputs")? {
                None => top.append("inputs", CstInputValue::Array(Vec::new())).array_value(),
                Some(found) => found.array_value(),
            };
            let inputs = inputs.ok_or_else(|| MergeError::Unreadable("`inputs` is not an array".into()))?;
            let ids: Vec<Json> =
                inputs.elements().iter().filter_map(|one| one.to_serde_value()).filter_map(|one| one.get("id").cloned()).collect();
            for asked in self.inputs.iter().filter(|asked| asked.get("id").is_none_or(|id| !ids.contains(id))) {
                inputs.append(input(asked));
            }
        }
        Ok(root.to_string())
    }

    fn in_toml(&self, text: &str, replaces: bool) -> Result<String, MergeError> {
        let unreadable = |error: toml_edit::TomlError| MergeError::Unreadable(error.to_string().trim_end().to_owned());
        let mut document: DocumentMut = text.parse().map_err(unreadable)?;
        let servers = document.entry(self.section).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let is_inline = servers.is_inline_table();
        let servers = servers.as_table_like_mut().ok_or_else(|| MergeError::Unreadable(format!("`{}` is not a table", self.section)))?;
        let found = servers.get(&self.name).map(json_of_item);
        if found.as_ref() == Some(&self.server) {
            return Ok(text.to_owned());
        }
        if let Some(found) = found.filter(|_| !replaces) {
            return Err(MergeError::Differs(differences(&found, &self.server)));
        }
        insert(servers, &self.name, &self.server, is_inline);
        let merged = document.to_string();
        // A table begins after an empty line.
        Ok(merged.strip_prefix('\n').filter(|_| text.trim().is_empty()).map_or(merged.clone(), str::to_owned))
    }
}

/// Strict but for comments and trailing commas: what no client reads is not written again.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The member of that name. Of two, a client takes one, and nobody can say which.
fn member(object: &CstObject, name: &str) -> Result<Option<jsonc_parser::cst::CstObjectProp>, MergeError> {
    let mut found = object.properties().into_iter().filter(|property| property.decoded_name().as_deref() == Some(name));
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(MergeError::Unreadable(format!("`{name}` is there twice"))),
        (found, None) => Ok(found),
    }
}

fn input(value: &Json) -> CstInputValue {
    match value {
        Json::Null => CstInputValue::Null,
        Json::Bool(value) => CstInputValue::Bool(*value),
        Json::Number(value) => CstInputValue::Number(value.to_string()),
        Json::String(value) => CstInputValue::String(value.clone()),
        Json::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Json::Object(members) => CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect()),
    }
}

/// The members that are in one and not in the other, or have other values. No value is named: it
/// may be a key.
fn differences(found: &Json, wanted: &Json) -> Vec<String> {
    let empty = Map::new();
    let (found, wanted) = (found.as_object().unwrap_or(&empty), wanted.as_object().unwrap_or(&empty));
    let names = wanted.keys().chain(found.keys().filter(|name| !wanted.contains_key(*name)));
    names.filter(|name| found.get(*name) != wanted.get(*name)).cloned().collect()
}

fn insert(servers: &mut dyn TableLike, name: &str, server: &Json, is_inline: bool) {
    let members = server.as_object().into_iter().flatten();
    let item = match is_inline {
        true => Item::Value(TomlValue::InlineTable(members.map(|(name, value)| (name.as_str(), toml(value))).collect())),
        false => Item::Table(members.map(|(name, value)| (name.as_str(), Item::Value(toml(value)))).collect()),
    };
    servers.insert(name, item);
}

fn toml(value: &Json) -> TomlValue {
    match value {
        Json::Array(values) => TomlValue::Array(values.iter().map(toml).collect::<Array>()),
        Json::Object(members) => {
            TomlValue::InlineTable(members.iter().map(|(name, value)| (name.as_str(), toml(value))).collect::<InlineTable>())
        }
        Json::Bool(value) => (*value).into(),
        Json::String(value) => value.as_str().into(),
        Json::Number(value) => value.as_i64().map_or_else(|| value.as_f64().unwrap_or_default().into(), Into::into),
        Json::Null => "".into(),
    }
}

fn json_of_item(item: &Item) -> Json {
    match item {
        Item::Value(value) => json_of(value),
        Item::Table(table) => table.iter().map(|(name, item)| (name.to_owned(), json_of_item(item))).collect::<Map<_, _>>().into(),
        Item::ArrayOfTables(tables) => tables
            .iter()
            .map(|table| Json::from(table.iter().map(|(name, item)| (name.to_owned(), json_of_item(item))).collect::<Map<_, _>>()))
            .collect(),
        Item::None => Json::Null,
    }
}

fn json_of(value: &TomlValue) -> Json {
    match value {
        TomlValue::String(text) => text.value().as_str().into(),
        TomlValue::Integer(number) => (*number.value()).into(),
        TomlValue::Float(number) => (*number.value()).into(),
        TomlValue::Boolean(value) => (*value.value()).into(),
        TomlValue::Datetime(time) => time.value().to_string().into(),
        TomlValue::Array(values) => values.iter().map(json_of).collect(),
        TomlValue::InlineTable(table) => table.iter().map(|(name, value)| (name.to_owned(), json_of(value))).collect::<Map<_, _>>().into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn notes() -> Entry {
        Entry::json("mcpServers", "notes", json!({ "command": "npx", "args": ["-y", "millrace", "run", "/home/ada/notes"] }))
    }

    fn in_toml() -> Entry {
        Entry {
            format: Format::Toml,
            ..Entry::json("mcp_servers", "notes", json!({ "url": "https://x/mcp", "env_http_headers": { "X-API-Key": "K" } }))
        }
    }

    #[test]
    fn a_file_of_its_own_has_nothing_else() {
        let expected = r#"{
  "mcpServers": {
    "notes": {
      "command": "npx",
      "args": ["-y", "millrace", "run", "/home/ada/notes"]
    }
  }
}
"#;
        for empty in ["", " \n"] {
            assert_eq!(notes().merged(empty, false).unwrap(), expected);
        }
        assert_eq!(notes().merged("{}", false).unwrap().trim_end(), expected.trim_end());
        assert_eq!(in_toml().text().unwrap(), "[mcp_servers.notes]\nurl = \"https://x/mcp\"\nenv_http_headers = { X-API-Key = \"K\" }\n");
    }

    #[test]
    fn what_is_in_a_file_stays_as_it_is() {
        let file = "\u{feff}// Mine.\r\n{\r\n\t\"theme\": 'x',\r\n}".replace('\'', "\"");
        let merged = notes().merged(&file, false).unwrap();
        assert!(
            merged.starts_with("\u{feff}// Mine.\r\n{\r\n\t\"theme\": \"x\",\r\n\t\"mcpServers\": {\r\n\t\t\"notes\": {\r\n"),
            "{merged:?}"
        );
        assert_eq!(merged.matches('\n').count(), merged.matches("\r\n").count());

        let file = "{ \"b\": 1.50, /* two */ \"mcpServers\": {\n    \"other\": {\"command\":\"x\"} // last\n  }, \"a\": [1,\n2] }\n";
        let merged = notes().merged(file, false).unwrap();
        for part in ["{ \"b\": 1.50, /* two */ \"mcpServers\": {\n", "\"other\": {\"command\":\"x\"}", "// last", "\"a\": [1,\n2] }\n"] {
            assert!(merged.contains(part), "{part}: {merged}");
        }
        assert_eq!(notes().merged(&merged, false).unwrap(), merged);

        let file = "# Mine.\nmodel = \"x\" # fast\n\n[mcp_servers.other]\ncommand = 'y'\n\n[tools]\nweb = true\n";
        let merged = in_toml().merged(file, false).unwrap();
        for part in [
            "# Mine.\nmodel = \"x\" # fast\n\n[mcp_servers.other]\ncommand = 'y'\n",
            "\n[tools]\nweb = true\n",
            "\n[mcp_servers.notes]\nurl",
        ] {
            assert!(merged.contains(part), "{part}: {merged}");
        }
        assert_eq!(in_toml().merged(&merged, false).unwrap(), merged);
        let inline = in_toml().merged("mcp_servers = { other = { command = \"y\" } }\n", false).unwrap();
        assert!(inline.contains("other = { command = \"y\" }") && inline.contains("notes = { url"), "{inline}");
    }

    #[test]
    fn another_server_of_that_name_is_replaced_only_if_that_is_wanted() {
        let file = r#"{"mcpServers": {"notes": {"command": "npx", "args": [], "env": {"KEY": "secret"}}, "z": 1}}"#;
        assert_eq!(notes().merged(file, false), Err(MergeError::Differs(vec!["args".into(), "env".into()])));
        let merged = notes().merged(file, true).unwrap();
        assert!(!merged.contains("secret") && merged.ends_with(", \"z\": 1}}"), "{merged}");
        let file = "[mcp_servers.notes]\ncommand = \"x\"\n";
        assert_eq!(
            in_toml().merged(file, false),
            Err(MergeError::Differs(vec!["url".into(), "env_http_headers".into(), "command".into()]))
        );
        assert!(!in_toml().merged(file, true).unwrap().contains("command"));
    }

    #[test]
    fn what_vs_code_asks_for_is_there_once() {
        let mut entry = Entry::json("servers", "notes", json!({ "type": "http", "url": "https://x/mcp" }));
        entry.inputs.push(json!({ "type": "promptString", "id": "notes-key" }));
        let once = entry.text().unwrap();
        assert_eq!((once.matches("notes-key").count(), entry.merged(&once, false).unwrap()), (1, once.clone()));
        let own = r#"{"inputs": [{"id": "notes-key", "type": "promptString", "description": "mine"}], "servers": {}}"#;
        assert_eq!(entry.merged(own, false).unwrap().matches("notes-key").count(), 1);
    }

    #[test]
    fn what_cannot_be_read_is_not_written() {
        for (file, expected) in [
            ("{", "on line 1"),
            ("[]", "not an object"),
            ("{\"mcpServers\": []}", "`mcpServers` is not an object"),
            ("{'a': 1}", "on line 1"),
            ("{\"mcpServers\": {}, \"mcpServers\": {}}", "twice"),
            ("{\"a\": 1 \"b\": 2}", "on line 1"),
        ] {
            let Err(MergeError::Unreadable(said)) = notes().merged(file, true) else { panic!("{file} was merged") };
            assert!(said.contains(expected), "{file}: {said}");
        }
        for file in ["mcp_servers = 1", "a = ", "[a]\n[a]"] {
            assert!(matches!(in_toml().merged(file, true), Err(MergeError::Unreadable(_))), "{file}");
        }
    }
}
