//! Hostile values through the whole pipeline into a real database, through every form of
//! placeholder: each comes back to the byte, apart from what would be hidden, in one row, or is
//! refused by its type; nothing else happens.

use std::path::Path;

use millrace_core::{Endpoint, hidden::visible, value::Value};
use millrace_native::{cache::CacheChoice, env::Variables, ports, wait_until::Tasks};
use millrace_tests::{
    Group,
    case::root,
    database::{Database, runtime, text},
    direct::compile,
};
use serde_json::{Map, json};

use crate::in_process::{call, hostile_values, in_sample, text as said};

/// An app whose tools put a value `s` into a statement, and give it back as `v`.
pub(crate) struct Hostile {
    /// Its folder below `tests/hostile`.
    pub(crate) app: &'static str,
    /// How many tools it has at least.
    pub(crate) forms: usize,
    /// What is said where a type refuses a value: the tools whose names begin with `wrong-`.
    pub(crate) wrong: &'static [&'static str],
    /// What is said where the database has no place for a NUL.
    pub(crate) nul: &'static [&'static str],
    /// At least so many calls are refused for a NUL, and for a type.
    pub(crate) least: [usize; 2],
    /// Of so many pairs of a form and a value one is tried, unless everything is: each form and
    /// each value is tried in any case.
    pub(crate) each: usize,
    /// Queries for a number, and the number, afterwards.
    pub(crate) unharmed: &'static [(&'static str, i64)],
}

/// What a text that is put together says where its value has a NUL: the database is not asked.
const NO_NUL: &str = "cannot take a text with a NUL character here";

/// What a form of the app makes of a value.
fn expected(tool: &str, value: &str) -> String {
    match tool {
        "composed-end" => format!("a{value}"),
        "composed-start" => format!("{value}z"),
        "composed-middle" | "composed-middle-double" => format!("it's %{value}% \""),
        "composed-twice" => format!("{value}|{value}"),
        "composed-escapes" => format!("\\{value}\n"),
        _ => value.to_owned(),
    }
}

impl Hostile {
    /// `moved` gives the variables of the app in a folder, whose adapter it may change, and `open`
    /// a connection for the tables `canary` and `kept`.
    pub(crate) fn check(&self, moved: impl FnOnce(&Path) -> Vec<(String, String)>, open: impl FnOnce(&Path) -> Database) {
        let Self { app, forms, wrong, nul, least, each, unharmed } = *self;
        let group = Group { name: "hostile".into(), app: root().join("tests/hostile").join(app), ..Group::default() };
        let folder = group.install();
        let variables = Variables::from_iter(moved(folder.path()));
        let app = compile(folder.path());
        let takes = |tool: &millrace_core::app::Tool| tool.inputs.iter().map(|input| input.name.clone()).collect::<Vec<_>>();
        let tools: Vec<_> = app.tools.iter().map(|tool| (tool.name.clone(), takes(tool))).collect();
        let values = hostile_values();
        assert!(values.len() >= 170 && tools.len() >= forms, "{} values, {} forms", values.len(), tools.len());
        let says = |said: &str, words: &[&str]| words.iter().any(|word| said.contains(word));
        let (mut refused, mut mistyped, mut kept) = (0, 0, Vec::new());
        tokio::task::LocalSet::new().block_on(&runtime(), async {
            let endpoint = Endpoint::new(app, ports::native(folder.path().to_path_buf(), variables, &CacheChoice::Memory, &Tasks::new()));
            for (form, (tool, inputs)) in tools.iter().enumerate() {
                for value in in_sample(&values, form, each) {
                    let given = json!({
                        "s": value, "list": ["other", value, "'", "{}", "NULL"], "doc": { "s": value }, "docs": [{ "s": value }],
                    });
                    let given: Map<_, _> = inputs.iter().filter_map(|name| Some((name.clone(), given.get(name)?.clone()))).collect();
                    let result = call(&endpoint, tool, given.into()).await;
                    let has_nul = value.contains('\0');
                    let is_nul_refused = has_nul && says(said(&result), &[NO_NUL]);
                    match (result.is_error, tool.starts_with("wrong-")) {
                        (true, true) => {
                            let message = said(&result);
                            assert!(says(message, wrong) || is_nul_refused, "{tool} with {value:?}: {message}");
                            mistyped += 1;
                        }
                        // The value is one of that type after all: an interval, a date, a number.
                        (false, true) => {
                            let rows: Vec<serde_json::Value> = serde_json::from_str(said(&result)).unwrap();
                            assert_eq!(rows.len(), 1, "{tool} with {value:?}");
                        }
                        // A text that is put together takes no NUL anywhere.
                        (true, false) => {
                            let message = said(&result);
                            assert!(is_nul_refused || (has_nul && says(message, nul)), "{tool} with {value:?}: {message}");
                            assert!(!nul.is_empty() || !tool.starts_with("insert"), "{tool} takes {value:?} whole: {message}");
                            refused += 1;
                        }
                        (false, false) => {
                            let rows: serde_json::Value = serde_json::from_str(said(&result)).unwrap();
                            assert_eq!(rows, json!([{ "v": visible(&expected(tool, value)) }]), "{tool} with {value:?}");
                            if tool.starts_with("insert") {
                                kept.push(vec![text(value)]);
                            }
                        }
                    }
                }
            }
        });
        assert!(refused * each >= least[0] && mistyped * each >= least[1], "{refused} {mistyped}");
        let database = open(folder.path());
        let canary = "SELECT id, s FROM canary ORDER BY id";
        assert_eq!(database.rows(canary), [[Value::I64(1), text("alive")], [Value::I64(2), text("and well")]]);
        for (query, number) in unharmed {
            assert_eq!(database.rows(query), [[Value::I64(*number)]], "{query}");
        }
        assert_eq!(database.rows("SELECT s FROM kept ORDER BY id"), kept, "each insert kept its value");
    }
}
