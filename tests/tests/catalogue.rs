//! The catalogue of connectors, the drivers and the documentation say the same.

use millrace_catalogue::{BindingKind, CONNECTORS, Connector, Host, Language, Transactions, WRITTEN, WorkerPart};
use millrace_core::{
    ErrorKind,
    ports::{Command, Connection, Connectors, Node, Query, SessionSetting},
    value::Value,
};
use millrace_native::{clock::SystemClock, connectors::NativeConnectors, wait_until::Tasks};
use millrace_tests::{
    case::root,
    database::{Database, connection, query},
    docs::{check_part, connector_page, connector_text},
    dynoxide, rds_data,
};

fn open(connection: Connection) -> Result<(), (ErrorKind, String)> {
    let connectors = NativeConnectors::new("/".into(), std::rc::Rc::new(SystemClock), &Tasks::new());
    connectors.open(connection).map(drop).map_err(|error| (error.kind, error.message.clone()))
}

#[test]
fn a_driver_takes_the_options_of_its_row_and_no_other() {
    for connector in CONNECTORS.iter().filter(|connector| connector.runs_on(Host::Native)) {
        let name = connector.name;
        let place = match connector.schemes.first() {
            _ if connector.is_file => ":memory:".to_owned(),
            Some(scheme) => format!("{scheme}://a/1"),
            None => rds_data::CLUSTER.to_owned(),
        };
        let told = |option: &str| open(connection(name, &place, &[(option, "1")])).err().map(|(_, message)| message).unwrap_or_default();
        let unknown = format!("connector `{name}` has no option `colour`");
        assert!(told("colour").starts_with(&unknown), "{name}: {}", told("colour"));
        // The bundler reads a seed's file, and gives its text.
        for option in connector.options.iter().filter(|option| **option != "seed") {
            assert!(!told(option).contains("has no option"), "{name}: {}", told(option));
        }
    }
    let (kind, message) = open(connection("nosuch", "x", &[])).unwrap_err();
    assert_eq!(kind, ErrorKind::Configuration);
    let names = CONNECTORS.iter().map(|connector| connector.name).collect::<Vec<_>>().join(", ");
    assert!(message.ends_with(&format!("which this host does not have; it has: {names}")), "{message}");
}

#[test]
fn the_reference_names_each_option() {
    for (connector, written) in CONNECTORS.iter().zip(WRITTEN) {
        assert_eq!(connector.name, written.connector);
        let missing: Vec<_> = connector.options.iter().filter(|option| !written.options.contains(&format!("`{option}`"))).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", connector.name);
    }
}

#[test]
fn a_connector_of_statements_says_so_of_any_other_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.db");
    let document = [("find".to_owned(), Node::Value(Value::Text("items".into())))];
    let commands = [(Command::Arguments(&[]), "a list of arguments"), (Command::Document(&document), "a document")];
    for connector in CONNECTORS {
        let takes = match connector.language {
            Language::Sqlite | Language::Postgres | Language::MySql | Language::ClickHouse | Language::PartiQl => "statements",
            Language::Arguments => "commands",
            Language::Documents => "documents",
            Language::Requests => "requests",
            Language::Http => "requests of HTTP",
        };
        // Where nobody listens: it says so before it connects.
        let settings = match connector.name {
            "sqlite" => connection("sqlite", file.to_str().unwrap(), &[("create", "true")]),
            "d1" => connection("d1", "d1://a/b", &[("api_token", "t"), ("base_url", "http://127.0.0.1:9")]),
            "mongodb" => connection("mongodb", "mongodb://127.0.0.1:9/x", &[]),
            "mysql" => connection("mysql", "mysql://me@127.0.0.1:9/x", &[]),
            "planetscale" => connection("planetscale", "http://me:pw@127.0.0.1:9/x", &[]),
            "upstash" => connection("upstash", "http://127.0.0.1:9", &[("token", "t")]),
            "neon" => connection("neon", "postgres://me:pw@db/x", &[("base_url", "http://127.0.0.1:9")]),
            "postgrest" => connection("postgrest", "http://127.0.0.1:9", &[]),
            "postgres" => connection("postgres", "postgres://me@127.0.0.1:9/x", &[]),
            "dynamodb" => dynoxide::at("http://127.0.0.1:9"),
            "rds-data" => rds_data::settings("http://127.0.0.1:9", "postgres://me:pw@db/x", &[]),
            name => connection(name, &format!("{}://127.0.0.1:9", connector.schemes[0]), &[]),
        };
        let database = Database::open(settings);
        let own = match takes {
            "commands" => "a list of arguments",
            "documents" | "requests" | "requests of HTTP" => "a document",
            _ => "",
        };
        for (command, form) in commands.into_iter().filter(|(_, form)| *form != own) {
            let error = database.run_with(&Query { command, ..query("") }).unwrap_err();
            let message = format!("connector `{}` takes {takes}, and the tool has {form}", connector.name);
            assert_eq!((error.kind, error.message.clone()), (ErrorKind::Configuration, message));
        }
        // Nor does it run anything without what it cannot set.
        let session = &[SessionSetting { name: "app.tenant".into(), value: "north".into() }];
        if !connector.sets_session {
            let error = database.run_with(&Query { session, ..query("SELECT 1") }).unwrap_err();
            let message = format!("connector `{}` cannot set what the adapter's `session` demands", connector.name);
            assert_eq!((error.kind, error.message.clone()), (ErrorKind::Configuration, message));
        }
    }
}

#[test]
fn the_documentation_has_every_connector_and_its_options() {
    let overview = std::fs::read_to_string(root().join("docs/connectors.md")).unwrap();
    let mut pages: Vec<String> = std::fs::read_dir(root().join("docs/connectors"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|file| file.trim_end_matches(".md").to_owned())
        .collect();
    pages.sort();
    let mut expected: Vec<&str> = CONNECTORS.iter().map(|connector| connector.name).collect();
    expected.sort_unstable();
    assert_eq!(pages, expected, "the pages of docs/connectors");
    for connector in CONNECTORS {
        let name = connector.name;
        assert!(overview.contains(&format!("| [`{name}`](connectors/{name}.md) |")), "{name} is not in the table");
        let page = connector_text(name);
        assert!(page.starts_with(&format!("# Connector `{name}`\n")), "{name}");
        let (page, tested) =
            page.split_once("\n## What it was tested against\n").unwrap_or_else(|| panic!("{name}: what was it tested against?"));
        let tested: String = tested.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(tested.contains("**Tested against**"), "{name}: {tested}");
        // A file on this machine is tested as it is used.
        assert!(connector.is_file || tested.contains("**Not tested against"), "{name}: {tested}");
        let (_, written) = page.split_once("<!-- end -->").unwrap();
        for option in connector.options {
            assert!(written.contains(&format!("`{option}`")), "{name}: `{option}` is not documented");
        }
    }
}

/// What a page says of its connector because the catalogue does.
fn facts(connector: &Connector) -> String {
    let list = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let written = WRITTEN.iter().find(|written| written.connector == connector.name).unwrap();
    let mut rows = vec![("`connection_string`", written.connection_string.to_owned())];
    if let Some(binding) = connector.binding {
        let kind = match binding.kind {
            BindingKind::D1 => "a database of D1",
            BindingKind::Hyperdrive => "a Hyperdrive",
        };
        rows.push(("in a Worker also", format!("`{}NAME`, the name of a binding of {kind}", binding.prefix)));
    }
    rows.push(("options, beside those of every connector", list(connector.options)));
    let hosts = match (connector.runs_on(Host::Native), connector.runs_on(Host::Worker)) {
        (true, true) => "this machine, Lambda, a Worker",
        (true, false) => "this machine, Lambda",
        _ => "a Worker",
    };
    rows.push(("runs on", hosts.to_owned()));
    if connector.worker_part == Some(WorkerPart::Databases) {
        rows.push((
            "in a Worker",
            "in the runtime with connectors beyond `libsql` and `d1`, which `millrace build` chooses by itself".to_owned(),
        ));
    }
    let language = match connector.language {
        Language::Sqlite => "SQL of SQLite",
        Language::Postgres => "SQL of PostgreSQL",
        Language::MySql => "SQL of MySQL",
        Language::ClickHouse => "SQL of ClickHouse",
        Language::Arguments => "a command of Redis",
        Language::Documents => "a command of MongoDB, as a map",
        Language::Requests => "a request, as a map",
        Language::Http => "a request of HTTP",
        Language::PartiQl => "PartiQL",
    };
    rows.push(("a statement is", language.to_owned()));
    let yes = |has: bool| if has { "yes" } else { "no" }.to_owned();
    let transactions = match connector.transactions {
        Some(Transactions::Stepwise) => "yes; a step can use results of earlier ones",
        Some(Transactions::Batch) => "yes; all steps are sent at once, and none can use the result of another",
        None => "no",
    };
    rows.push(("[`transaction`](../transactions.md)", transactions.to_owned()));
    rows.push(("[`idempotency`](../idempotency.md) of a statement", yes(connector.keeps_call_records)));
    rows.push(("[`session`](../row-level-security.md)", yes(connector.sets_session)));
    if let Some(most) = connector.max_values {
        rows.push(("values in a statement", format!("at most {most}")));
    }
    if !connector.system.is_empty() {
        rows.push(("`db.system.name` in traces", format!("`{}`", connector.system)));
    }
    let rows: Vec<String> = rows.into_iter().map(|(name, text)| format!("| {name} | {text} |\n")).collect();
    format!("| property | value |\n|---|---|\n{}", rows.concat())
}

#[test]
fn the_facts_on_a_page_are_those_of_the_catalogue() {
    for connector in CONNECTORS {
        check_part(&connector_page(connector.name), "facts", &facts(connector));
    }
}
