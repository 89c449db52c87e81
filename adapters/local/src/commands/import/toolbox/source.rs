//! A source as an adapter.

use millrace_catalogue::find;
use millrace_core::{Json, url::percent_coded};
use millrace_languages::Dialect;

use super::{
    config::{Entry, scalar, texts},
    variables::Variables,
};
use crate::commands::new::from::yaml;

/// An adapter that is not written yet.
pub(super) struct Adapter {
    pub(super) name: String,
    pub(super) connector: &'static str,
    /// What its statements are written in; `None` for commands.
    pub(super) dialect: Option<Dialect>,
    connection_string: String,
    options: Vec<(&'static str, String)>,
    /// What whoever set up the source has to know.
    pub(super) note: Option<String>,
}

/// A server that speaks a database's protocol.
struct Server {
    scheme: &'static str,
    port: &'static str,
    /// It was reached by a connector of Google's, which knows the address by itself.
    is_hosted: bool,
}

impl Adapter {
    /// The adapter of a source.
    ///
    /// # Errors
    /// Why an app cannot have it.
    pub(super) fn of(source: &Entry, variables: &mut Variables) -> Result<Self, String> {
        let server = |scheme, port, is_hosted| Server { scheme, port, is_hosted };
        let mut adapter = match source.kind.as_str() {
            "postgres" | "cockroachdb" | "yugabytedb" => Self::sql(source, "postgres", &server("postgres", "5432", false), variables),
            "cloud-sql-postgres" | "alloydb-postgres" => Self::sql(source, "postgres", &server("postgres", "5432", true), variables),
            "mysql" | "tidb" | "singlestore" | "oceanbase" => Self::sql(source, "mysql", &server("mysql", "3306", false), variables),
            "cloud-sql-mysql" => Self::sql(source, "mysql", &server("mysql", "3306", true), variables),
            "clickhouse" => Self::clickhouse(source, variables),
            "sqlite" => {
                let database = source.text("database").ok_or("it has no `database`")?;
                Self::new(source, "sqlite", variables.filled(&database, str::to_owned))
            }
            "redis" | "valkey" => Self::redis(source, variables)?,
            "" => return Err("it has no `type`".to_owned()),
            other => return Err(format!("Millrace has no connector for `{other}`")),
        };
        if source.is("readOnly") {
            adapter.options.push(("read_only", "true".to_owned()));
        }
        if let Some(timeout) = source.text("queryTimeout") {
            adapter.options.push(("timeout", timeout));
        }
        Ok(adapter)
    }

    fn new(source: &Entry, connector: &'static str, connection_string: String) -> Self {
        let dialect = find(connector).and_then(|connector| connector.language.dialect());
        let name = name_of(&source.name);
        Self { name, connector, dialect, connection_string, options: Vec::new(), note: None }
    }

    fn sql(source: &Entry, connector: &'static str, server: &Server, variables: &mut Variables) -> Self {
        let mut text = |key: &str, code: fn(&str) -> String| source.text(key).map(|text| variables.filled(&text, code));
        let written = (text("host", str::to_owned), text("port", str::to_owned), text("database", percent_coded));
        let query = query(source.body.get("queryParams"), variables);
        let prefix = variable_of(&source.name);
        let host = match written.0 {
            Some(host) if !server.is_hosted => host,
            _ => variables.needed(&format!("{prefix}_HOST")),
        };
        let (port, database) = (written.1.unwrap_or_else(|| server.port.to_owned()), written.2.unwrap_or_default());
        let mut adapter = Self::new(source, connector, format!("{}://{host}:{port}/{database}{query}", server.scheme));
        adapter.login(source, variables);
        if server.is_hosted {
            let place = format!("set `{prefix}_HOST` to the address of the instance, or of the Auth Proxy");
            adapter.note = Some(format!("the source `{}` was reached by a connector of Google's: {place}", source.name));
        }
        adapter
    }

    fn clickhouse(source: &Entry, variables: &mut Variables) -> Self {
        let mut text = |key: &str, code: fn(&str) -> String| source.text(key).map(|text| variables.filled(&text, code));
        let host = text("host", str::to_owned).unwrap_or_else(|| "localhost".to_owned());
        let database = text("database", percent_coded).unwrap_or_default();
        let (scheme, port) = if source.is("secure") { ("https", "8443") } else { ("http", "8123") };
        // The port of the native protocol is of no use to this connector.
        let port = match source.text("protocol").as_deref() {
            Some("http" | "https") => text("port", str::to_owned).unwrap_or_else(|| port.to_owned()),
            _ => port.to_owned(),
        };
        let mut adapter = Self::new(source, "clickhouse", format!("{scheme}://{host}:{port}/{database}"));
        adapter.login(source, variables);
        adapter
    }

    fn redis(source: &Entry, variables: &mut Variables) -> Result<Self, String> {
        let listed: Vec<&str> = texts(source.body.get("address")).collect();
        let address = match (listed.as_slice(), source.text("address")) {
            ([one], _) => (*one).to_owned(),
            ([], Some(one)) => one,
            ([], None) => return Err("it has no `address`".to_owned()),
            _ => return Err("it has several addresses, and a cluster is not supported".to_owned()),
        };
        if source.is("useGCPIAM") || source.is("clusterEnabled") {
            return Err("a cluster, and logins by IAM, are not supported".to_owned());
        }
        let has_tls = source.body.get("tls").is_some_and(|tls| tls["enabled"] == true);
        let scheme = if has_tls { "rediss" } else { "redis" };
        let place = variables.filled(&address, str::to_owned);
        let database = source.text("database").map(|number| variables.filled(&number, str::to_owned)).unwrap_or_default();
        let mut adapter = Self::new(source, "redis", format!("{scheme}://{place}/{database}"));
        adapter.login(source, variables);
        Ok(adapter)
    }

    /// User and password, which need no percent-encoding in options.
    fn login(&mut self, source: &Entry, variables: &mut Variables) {
        if let Some(user) = source.text("user").or_else(|| source.text("username")).filter(|user| !user.is_empty()) {
            self.options.push(("user", variables.filled(&user, str::to_owned)));
        }
        if let Some(password) = source.text("password").filter(|password| !password.is_empty()) {
            let name = format!("{}_PASSWORD", variable_of(&source.name));
            self.options.push(("password", variables.secret(&password, &name)));
        }
    }

    /// The text of its file.
    pub(super) fn file(&self) -> String {
        let mut text = format!("connector: {}\nconnection_string: {}\n", self.connector, yaml::quoted(&self.connection_string));
        if !self.options.is_empty() {
            text.push_str("options:\n");
        }
        for (name, value) in &self.options {
            text.push_str(&format!("  {name}: {}\n", yaml::quoted(value)));
        }
        text
    }
}

/// `queryParams`, a map or a text, as the end of a URL.
fn query(settings: Option<&Json>, variables: &mut Variables) -> String {
    let settings = match settings {
        Some(Json::Object(settings)) => {
            let pair = |(name, value): (&String, &Json)| {
                Some(format!("{}={}", percent_coded(name), variables.filled(&scalar(value)?, percent_coded)))
            };
            settings.iter().filter_map(pair).collect::<Vec<_>>().join("&")
        }
        Some(Json::String(text)) => variables.filled(text, str::to_owned),
        _ => String::new(),
    };
    if settings.is_empty() { settings } else { format!("?{settings}") }
}

/// A name that an adapter can have.
fn name_of(source: &str) -> String {
    let name: String = source.chars().map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '-' }).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("source-{name}") }
}

/// What the names of a source's own variables begin with.
fn variable_of(source: &str) -> String {
    name_of(source).to_ascii_uppercase().replace('-', "_")
}
