//! The app's own configuration of wrangler: which file that is, what it says, and what of that a
//! deployment has.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use jsonc_parser::{ParseOptions, cst::CstRootNode};
use millrace_core::Json;
use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value as TomlValue};

/// The names of the file, in the order in which wrangler looks for them.
const NAMES: [&str; 3] = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/// The variable with which wrangler is told its environment, too.
const ENVIRONMENT: &str = "CLOUDFLARE_ENV";

/// The file that wrangler takes in the app's folder, and the name of it.
fn first(folder: &Path) -> Option<(PathBuf, &'static str)> {
    NAMES.iter().map(|name| (folder.join(name), *name)).find(|(file, _)| file.is_file())
}

/// The app's own configuration of wrangler.
pub(crate) fn of_app(folder: &Path) -> Option<PathBuf> {
    first(folder).map(|(file, _)| file)
}

/// Which of the deployments of a file are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// What stands at the top level, and every environment.
    All,
    /// What stands at the top level.
    Top,
    /// An environment.
    Named(String),
}

impl Selection {
    /// What `--env` says, or the variable that tells wrangler the same. As in wrangler, an empty
    /// name is the top level.
    pub(crate) fn of(option: Option<&str>) -> Self {
        let variable = || std::env::var(ENVIRONMENT).ok().filter(|name| !name.is_empty());
        match option.map(str::to_owned).or_else(variable) {
            None => Self::All,
            Some(name) if name.is_empty() => Self::Top,
            Some(name) => Self::Named(name),
        }
    }
}

/// What the file says.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) file: &'static str,
    root: Map<String, Json>,
    /// Files beside it that wrangler does not read because of it.
    pub(super) unread: Vec<&'static str>,
}

/// A file that cannot be read: its name, and why.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) file: &'static str,
    pub(super) why: String,
}

impl Config {
    /// Reads the file of an app; `None` where it has none.
    pub(super) fn read(folder: &Path) -> Option<Result<Self, Unreadable>> {
        let (path, file) = first(folder)?;
        let unreadable = |why: String| Unreadable { file, why };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => return Some(Err(unreadable(format!("cannot be read: {error}")))),
        };
        let unread = NAMES.into_iter().skip_while(|name| *name != file).skip(1).filter(|name| folder.join(name).is_file()).collect();
        Some(Self::of_text(file, &text).map(|config| Self { unread, ..config }).map_err(unreadable))
    }

    /// The file of this name and text.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(super) fn of_text(file: &'static str, text: &str) -> Result<Self, String> {
        let root = if is_toml(file) { of_toml(text) } else { of_json(text) };
        root.map(|root| Self { file, root, unread: Vec::new() })
    }

    /// The names of its environments.
    pub(super) fn environments(&self) -> Vec<&str> {
        self.root.get("env").and_then(Json::as_object).into_iter().flatten().map(|(name, _)| name.as_str()).collect()
    }

    /// The deployments that are meant.
    ///
    /// # Errors
    /// The environment's name, where the file does not have it.
    pub(super) fn deployments<'a>(&'a self, selection: &Selection) -> Result<Vec<Deployment<'a>>, String> {
        let environments = self.environments();
        let of = |env| Deployment { config: self, env };
        match selection {
            Selection::Top => Ok(vec![of(None)]),
            Selection::All => Ok(std::iter::once(None).chain(environments.into_iter().map(Some)).map(of).collect()),
            Selection::Named(name) => match environments.into_iter().find(|known| known == name) {
                Some(known) => Ok(vec![of(Some(known))]),
                None => Err(name.clone()),
            },
        }
    }
}

/// What is deployed: the top level of the file, or an environment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deployment<'a> {
    config: &'a Config,
    pub(super) env: Option<&'a str>,
}

/// As a message names it: `` `wrangler.toml` `` or `` `env.staging` of `wrangler.toml` ``.
impl fmt::Display for Deployment<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.env {
            Some(env) => write!(out, "`env.{env}` of `{}`", self.config.file),
            None => write!(out, "`{}`", self.config.file),
        }
    }
}

impl<'a> Deployment<'a> {
    /// What an environment does not inherit: bindings, variables, consumers of its log.
    pub(super) fn own(self, key: &str) -> Option<&'a Json> {
        let place = match self.env {
            Some(env) => self.config.root.get("env")?.get(env)?.as_object()?,
            None => &self.config.root,
        };
        place.get(key).filter(|value| !value.is_null())
    }

    /// What an environment has from the top level, unless it says otherwise.
    pub(super) fn inherited(self, key: &str) -> Option<&'a Json> {
        self.own(key).or_else(|| self.config.root.get(key).filter(|value| !value.is_null()))
    }

    /// Whether it says something itself. The top level inherits nothing.
    pub(super) fn is_own(self, key: &str) -> bool {
        self.env.is_none() || self.own(key).is_some()
    }

    /// The name of the file.
    pub(super) fn file(self) -> &'static str {
        self.config.file
    }

    /// What the entries of a list have under a key.
    pub(super) fn named(self, list: &str, key: &str) -> Vec<&'a str> {
        named(self.own(list), key)
    }

    /// The lines of the file with the variables of `wrangler dev`.
    pub(super) fn local(self, folder: &Path) -> String {
        let of_environment = self.env.and_then(|env| fs::read_to_string(folder.join(format!(".dev.vars.{env}"))).ok());
        of_environment.or_else(|| fs::read_to_string(folder.join(".dev.vars")).ok()).unwrap_or_default()
    }

    /// How an entry of a list is added: with these members, and with what else is said of it.
    pub(super) fn entry(self, list: &str, members: &[(&str, &str)]) -> String {
        if is_toml(self.config.file) {
            let members: Vec<String> = members.iter().map(|(key, value)| format!("`{key} = \"{value}\"`")).collect();
            return format!("`[[{}{list}]]` with {}", self.prefix(), members.join(" and "));
        }
        let members: Vec<String> = members.iter().map(|(key, value)| format!("`\"{key}\": \"{value}\"`")).collect();
        format!("an entry to `{}{list}` with {}", self.prefix(), members.join(" and "))
    }

    /// How a place of the file is named: `[vars]`.
    pub(super) fn table(self, name: &str) -> String {
        match is_toml(self.config.file) {
            true => format!("`[{}{name}]`", self.prefix()),
            false => format!("`{}{name}`", self.prefix()),
        }
    }

    /// How a member is written.
    pub(super) fn member(self, key: &str, value: &str) -> String {
        if is_toml(self.config.file) { format!("`{key} = {value}`") } else { format!("`\"{key}\": {value}`") }
    }

    fn prefix(self) -> String {
        self.env.map(|env| format!("env.{env}.")).unwrap_or_default()
    }
}

/// What the entries of a list have under a key.
pub(super) fn named<'a>(list: Option<&'a Json>, key: &str) -> Vec<&'a str> {
    list.and_then(Json::as_array).into_iter().flatten().filter_map(|entry| entry.get(key)?.as_str()).collect()
}

fn is_toml(file: &str) -> bool {
    file.ends_with(".toml")
}

/// JSON with comments, as wrangler reads both of its names.
fn of_json(text: &str) -> Result<Map<String, Json>, String> {
    let options = ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        ..ParseOptions::default()
    };
    let root = CstRootNode::parse(text, &options).map_err(|error| format!("is not valid JSON: {error}"))?;
    match root.to_serde_value() {
        Some(Value::Object(members)) => Ok(members),
        _ => Err("is not a JSON object".to_owned()),
    }
}

fn of_toml(text: &str) -> Result<Map<String, Json>, String> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let why = error.to_string();
        format!("is not valid TOML: {}", why.lines().last().unwrap_or_default())
    })?;
    Ok(members(document.as_table()))
}

fn members(table: &dyn TableLike) -> Map<String, Json> {
    table.iter().map(|(key, item)| (key.to_owned(), of_item(item))).collect()
}

fn of_item(item: &Item) -> Json {
    match item {
        Item::None => Json::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => Json::Object(members(table)),
        Item::ArrayOfTables(tables) => tables.iter().map(|table: &Table| Json::Object(members(table))).collect(),
    }
}

fn of_value(value: &TomlValue) -> Json {
    match value {
        TomlValue::String(text) => text.value().as_str().into(),
        TomlValue::Integer(number) => (*number.value()).into(),
        TomlValue::Float(number) => (*number.value()).into(),
        TomlValue::Boolean(truth) => (*truth.value()).into(),
        TomlValue::Datetime(time) => time.value().to_string().into(),
        TomlValue::Array(values) => values.iter().map(of_value).collect(),
        TomlValue::InlineTable(table) => Json::Object(members(table)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_languages_say_the_same() {
        let toml = "name = \"x\"\nlogpush = true\ncompatibility_date = 2026-11-01\nd1_databases = [{ binding = \"A\" }]\n\
                    [[kv_namespaces]]\nbinding = \"B\" # with a comment\n[env.one.vars]\nN = 1\nF = 1.5\n";
        let jsonc = "{ // of the author\n \"name\": \"x\", \"logpush\": true, \"compatibility_date\": \"2026-11-01\", \"d1_databases\": \
                     [{ \"binding\": \"A\" }], /* and */ \"kv_namespaces\": [{ \"binding\": \"B\" },], \"env\": { \"one\": { \"vars\": { \"N\": 1, \"F\": 1.5 } } } }";
        assert_eq!(of_toml(toml).unwrap(), of_json(jsonc).unwrap());
        for (broken, why) in [("{ \"a\": 1 \"b\": 2 }", "is not valid JSON"), ("[]", "is not a JSON object"), ("", "is not a JSON object")]
        {
            assert!(of_json(broken).unwrap_err().starts_with(why), "{broken}");
        }
        assert!(of_toml("name = \n").unwrap_err().starts_with("is not valid TOML: "));
    }

    #[test]
    fn the_file_is_the_one_that_wrangler_takes() {
        let folder = tempfile::tempdir().unwrap();
        assert!(of_app(folder.path()).is_none() && Config::read(folder.path()).is_none());
        for (file, text) in
            [("wrangler.toml", "name = \"toml\"\n"), ("wrangler.jsonc", "{ \"name\": \"jsonc\" }"), ("wrangler.json", "{} // one")]
        {
            fs::write(folder.path().join(file), text).unwrap();
            let config = Config::read(folder.path()).unwrap().unwrap();
            assert_eq!((config.file, of_app(folder.path())), (file, Some(folder.path().join(file))));
        }
        assert_eq!(Config::read(folder.path()).unwrap().unwrap().unread, ["wrangler.jsonc", "wrangler.toml"]);
    }

    #[test]
    fn an_environment_inherits_what_it_does_in_wrangler() {
        let text = json!({
            "compatibility_date": "2026-11-01", "logpush": true, "vars": { "A": "top" }, "d1_databases": [{ "binding": "TOP" }],
            "env": { "one": { "logpush": false, "d1_databases": [{ "binding": "ONE" }] }, "two": {} },
        });
        let Json::Object(root) = text else { panic!("no object") };
        let config = Config { file: "wrangler.jsonc", root, unread: Vec::new() };
        let mut all = Vec::new();
        for deployment in config.deployments(&Selection::All).unwrap() {
            let date = deployment.inherited("compatibility_date").is_some();
            all.push((deployment.to_string(), deployment.named("d1_databases", "binding"), deployment.inherited("logpush").cloned(), date));
        }
        let of = |name: &str| if name.is_empty() { "`wrangler.jsonc`".to_owned() } else { format!("`env.{name}` of `wrangler.jsonc`") };
        let expected = [
            (of(""), vec!["TOP"], Some(json!(true)), true),
            (of("one"), vec!["ONE"], Some(json!(false)), true),
            (of("two"), vec![], Some(json!(true)), true),
        ];
        assert_eq!(all, expected);
        let one = config.deployments(&Selection::Named("one".into())).unwrap();
        assert_eq!((one.len(), one[0].env), (1, Some("one")));
        assert_eq!(config.deployments(&Selection::Top).unwrap()[0].env, None);
        assert_eq!(config.deployments(&Selection::Named("three".into())).unwrap_err(), "three");
    }
}
