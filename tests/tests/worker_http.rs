//! `connector: http` of a Worker, in real workerd: an API that misbehaves gets no write twice, and
//! hostile values stay in their places.

use millrace_tests::{
    failures::{self, SAID},
    files::write,
    sample,
    scripted::{Reply, Scripted},
    worker,
    workerd::{Surroundings, Workerd},
};
use serde_json::json;

use crate::{
    http::addresses::{PRIVATE, places},
    http::hostile::{Recorded, app, values},
    worker_neon::any_misbehaves,
};

const ADAPTER: &str = "connector: http\nconnection_string: \"{{ env.API }}\"\noptions:\n  allow_private: the API of a test\n  \
                       bearer: \"{{ env.TOKEN }}\"\n";

#[test]
fn an_api_that_misbehaves() {
    let requests = ["request: GET /t", "request: POST /t\nbody: { v: 1 }"].map(str::to_owned);
    any_misbehaves(ADAPTER, requests, &[("TOKEN", "hunter2hunter2")], failures::http());
}

#[test]
fn hostile_values_stay_in_their_places() {
    let folder = tempfile::tempdir().unwrap();
    app(folder.path(), ADAPTER);
    let server = Recorded::start();
    let built = worker::build(folder.path());
    let variables = [("API", server.url.as_str()), ("TOKEN", "t.o.k")];
    let workerd = Workerd::start_with(&built, &Surroundings { variables: &variables, ..Surroundings::default() });
    let workerd = workerd.unwrap_or_else(|said| panic!("{said}"));
    for value in sample(values(10_000), 25) {
        server.check(&value, |tool, arguments| workerd.call(tool, &arguments));
    }
}

#[test]
fn nobody_is_led_elsewhere() {
    let other = Scripted::with(vec![Reply::Whole(200, "application/json", format!("[\"{SAID}\"]"))]);
    let port = other.address.port();
    let locations = places(other.address);
    let count = locations.len();
    let own = Scripted::start(move |_, request| {
        let path = request.line.split(' ').nth(1).unwrap_or_default();
        let (way, number) = path.trim_start_matches("/v1/").split_once('/').unwrap();
        let location = &locations[number.parse::<usize>().unwrap()];
        match way {
            "moved" => Reply::Fields(302, format!("location: {location}"), String::new()),
            _ => Reply::Whole(200, "application/json", json!({"items": [1], "next": location}).to_string()),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "millrace.yaml", "name: far\n");
    write(folder.path(), "app/adapters/far.yaml", &ADAPTER.replace("{{ env.API }}", "{{ env.API }}/v1"));
    for (tool, more) in [("moved", ""), ("linked", "result: /items\npage: { link: /next }\n")] {
        let request = format!("request: GET /{tool}/{{{{ inputs.n }}}}\n{more}");
        let text = format!("description: x\nuse: far\n{request}inputs: {{ n: {{ type: int }} }}\n");
        write(folder.path(), &format!("app/tools/{tool}/config.yaml"), &text);
    }
    for (number, host) in PRIVATE.iter().enumerate() {
        let adapter = format!("connector: http\nconnection_string: \"https://{host}:{port}/v1\"\n");
        write(folder.path(), &format!("app/adapters/p{number}.yaml"), &adapter);
        write(folder.path(), &format!("app/tools/p{number}/config.yaml"), &format!("description: x\nuse: p{number}\nrequest: GET /x\n"));
    }
    let built = worker::build(folder.path());
    let url = format!("http://{}", own.address);
    let variables = [("API", url.as_str()), ("TOKEN", "hunter2hunter2")];
    let workerd = Workerd::start_with(&built, &Surroundings { variables: &variables, ..Surroundings::default() });
    let workerd = workerd.unwrap_or_else(|said| panic!("{said}"));
    for number in 0..count {
        for tool in ["moved", "linked"] {
            let before = own.received().len();
            let result = workerd.call(tool, &json!({"n": number}));
            assert!(result["isError"] == true && own.received().len() == before + 1, "{tool} {number}: {result}");
        }
    }
    for (number, host) in PRIVATE.iter().enumerate() {
        let (code, message) = workerd.failure(&format!("p{number}"));
        assert!(code == "QUERY_REFUSED" && message.contains("does not have a public address"), "{host}: {message}");
    }
    assert!(other.received().is_empty() && count >= 29, "{count} {:?}", other.received());
}
