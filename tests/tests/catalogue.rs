//! The catalogue of connectors, the drivers and the documentation say the same.

use millrace_catalogue::{CONNECTORS, Host, Language};
use millrace_core::{
    ErrorKind,
    ports::{Command, Connection, Connectors, Node, Query, SessionSetting},
    value::Value,
};
use millrace_native::{clock::SystemClock, connectors::NativeConnectors, wait_until::Tasks};
use millrace_tests::{
    case::root,
    database::{Database, connection, query},
    dynoxide,
};

fn open(connection: Connection) -> Result<(), (ErrorKind, String)> {
    let connectors = NativeConnectors::new("/".into(), std::rc::Rc::new(SystemClock), &Tasks::new());
    connectors.open(connection).map(drop).map_err(|error| (error.kind, error.message))
}

#[test]
fn a_driver_takes_the_options_of_its_row_and_no_other() {
    for connector in CONNECTORS.iter().filter(|connector| connector.runs_on(Host::Native)) {
        let name = connector.name;
        let place = if connector.is_file { ":memory:".to_owned() } else { format!("{}://a/1", connector.schemes[0]) };
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
        };
        // Where nobody listens: it says so before it connects.
        let settings = match connector.name {
            "sqlite" => connection("sqlite", file.to_str().unwrap(), &[("create", "true")]),
            "d1" => connection("d1", "d1://a/b", &[("api_token", "t"), ("base_url", "http://127.0.0.1:9")]),
            "mongodb" => connection("mongodb", "mongodb://127.0.0.1:9/x", &[]),
            "mysql" => connection("mysql", "mysql://me@127.0.0.1:9/x", &[]),
            "upstash" => connection("upstash", "http://127.0.0.1:9", &[("token", "t")]),
            "neon" => connection("neon", "postgres://me:pw@db/x", &[("base_url", "http://127.0.0.1:9")]),
            "postgrest" => connection("postgrest", "http://127.0.0.1:9", &[]),
            "postgres" => connection("postgres", "postgres://me@127.0.0.1:9/x", &[]),
            "dynamodb" => dynoxide::at("http://127.0.0.1:9"),
            name => connection(name, &format!("{}://127.0.0.1:9", connector.schemes[0]), &[]),
        };
        let database = Database::open(settings);
        let own = match takes {
            "commands" => "a list of arguments",
            "documents" | "requests" => "a document",
            _ => "",
        };
        for (command, form) in commands.into_iter().filter(|(_, form)| *form != own) {
            let error = database.run_with(&Query { command, ..query("") }).unwrap_err();
            let message = format!("connector `{}` takes {takes}, and the tool has {form}", connector.name);
            assert_eq!((error.kind, error.message), (ErrorKind::Configuration, message));
        }
        // Nor does it run anything without what it cannot set.
        let session = &[SessionSetting { name: "app.tenant".into(), value: "north".into() }];
        if !connector.sets_session {
            let error = database.run_with(&Query { session, ..query("SELECT 1") }).unwrap_err();
            let message = format!("connector `{}` cannot set what the adapter's `session` demands", connector.name);
            assert_eq!((error.kind, error.message), (ErrorKind::Configuration, message));
        }
    }
}

#[test]
fn the_documentation_has_every_connector_and_its_options() {
    let text = std::fs::read_to_string(root().join("docs/connectors.md")).unwrap();
    let mut sections = text.split("\n## `");
    let overview = sections.next().unwrap();
    let sections: Vec<(&str, &str)> = sections.filter_map(|section| section.split_once('`')).collect();
    let named: Vec<&str> = sections.iter().map(|(name, _)| *name).collect();
    let expected: Vec<&str> = CONNECTORS.iter().map(|connector| connector.name).collect();
    assert_eq!(named, expected);
    for (connector, (name, section)) in CONNECTORS.iter().zip(&sections) {
        assert!(overview.contains(&format!("| [`{name}`](#{name}) |")), "{name} is not in the table");
        for option in connector.options {
            assert!(section.contains(&format!("`{option}`")), "{name}: `{option}` is not documented");
        }
    }
}
