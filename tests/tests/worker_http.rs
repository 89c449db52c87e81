//! `connector: http` of a Worker, in real workerd: an API that misbehaves gets no write twice, and
//! hostile values stay in their places.

use millrace_tests::{
    failures, sample, worker,
    workerd::{Surroundings, Workerd},
};

use crate::{
    http::addresses::Astray,
    http::hostile::{Recorded, app, values},
    worker_neon::any_misbehaves,
};

pub(crate) const ADAPTER: &str = "connector: http\nconnection_string: \"{{ env.API }}\"\noptions:\n  allow_private: the API of a test\n  \
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
    let astray = Astray::start(&ADAPTER.replace("{{ env.API }}", "{{ env.API }}/v1"));
    let built = worker::build(astray.folder.path());
    let variables = [("API", &*astray.url()), ("TOKEN", "hunter2hunter2")];
    let workerd = Workerd::start_with(&built, &Surroundings { variables: &variables, ..Surroundings::default() });
    let workerd = workerd.unwrap_or_else(|said| panic!("{said}"));
    astray.check(|tool, arguments| workerd.call(tool, &arguments));
}
