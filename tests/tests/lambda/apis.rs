//! `connector: http` in the real `bootstrap`: hostile values stay in their places, and no API leads
//! elsewhere.

use std::path::Path;

use millrace_core::Json;
use millrace_tests::{
    Exchange,
    lambda::{self, Front, Function},
    sample,
};

use crate::{
    http::{
        addresses::Astray,
        hostile::{Recorded, app, values},
    },
    worker_http::ADAPTER,
};

fn start(folder: &Path, api: &str) -> Function {
    let variables = [("API", api), ("TOKEN", "hunter2hunter2")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    Function::start(&lambda::build(folder), &variables)
}

/// The result of a tool.
fn called(function: &Function, tool: &str, arguments: &Json) -> Json {
    let answer = function.send(Front::Url, &Exchange::call(tool, arguments));
    let (_, body) = answer.split_once("\n\n").unwrap_or_else(|| panic!("{tool}: {answer}"));
    let body: Json = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    body["result"].clone()
}

#[test]
fn hostile_values_stay_in_their_places() {
    let folder = tempfile::tempdir().unwrap();
    app(folder.path(), ADAPTER);
    let server = Recorded::start();
    let function = start(folder.path(), &server.url);
    for value in sample(values(10_000), 25) {
        server.check(&value, |tool, arguments| called(&function, tool, &arguments));
    }
}

#[test]
fn nobody_is_led_elsewhere() {
    let astray = Astray::start(&ADAPTER.replace("{{ env.API }}", "{{ env.API }}/v1"));
    let function = start(astray.folder.path(), &astray.url());
    astray.check(|tool, arguments| called(&function, tool, &arguments));
}
