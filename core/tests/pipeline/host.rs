//! What scripts may ask of the outside.

use std::rc::Rc;

use millrace_core::{
    Error, ErrorKind, Result,
    app::{Access, Adapter, Tool},
    headers::Headers,
    pipeline::{Pipeline, ToolResult},
    ports::{HttpRequest, HttpResponse, LocalFuture, LogLevel, LogReader, Redirect, ScriptHost},
    value::{Rows, Value},
};
use serde_json::{Value as Json, json};

use crate::fakes::*;

fn get(url: &str) -> HttpRequest {
    HttpRequest {
        method: "GET".into(),
        url: url.into(),
        headers: [("authorization", "Bearer x")].into_iter().collect(),
        body: vec![],
        deadline_ms: u64::MAX,
        max_response_bytes: usize::MAX,
        ..HttpRequest::default()
    }
}

fn response(status: u16, location: Option<&str>) -> Option<Result<HttpResponse>> {
    let headers: Headers = location.map(|location| ("Location", location)).into_iter().collect();
    Some(Ok(HttpResponse { status, headers, body: b"ok".to_vec() }))
}

fn outcome<T>(result: Result<T>, ok: impl FnOnce(T) -> Json) -> Json {
    result.map_or_else(|error| json!(format!("{:?}: {}", error.kind, error.message)), ok)
}

/// Runs a piece of script, as it were, in a world with an allow-list.
fn in_script(world: &Rc<World>, script: impl for<'a> Fn(&'a dyn ScriptHost) -> LocalFuture<'a, Json> + 'static) -> Json {
    *world.on_host.borrow_mut() = Some(Rc::new(script));
    let mut app = app(vec![script_tool()]);
    app.fetch_allow = vec!["api.example.com".into(), "*.internal.example.com".into(), "127.0.0.1:8080".into()];
    let pipeline = Pipeline::new(Rc::new(app), world.ports());
    let result = call(&pipeline, json!({}), &With::default()).unwrap();
    serde_json::from_str(&text(&result)).unwrap_or_else(|_| json!(text(&result)))
}

fn fetch(world: &Rc<World>, url: &'static str) -> Json {
    in_script(world, move |host| {
        Box::pin(async move { outcome(host.fetch(get(url), Redirect::Follow).await, |fetched| json!(fetched.response.status)) })
    })
}

/// What `fetch` says about where it was.
fn fetch_as(world: &Rc<World>, url: &'static str, redirect: Redirect) -> Json {
    in_script(world, move |host| {
        Box::pin(async move {
            let fetched = host.fetch(get(url), redirect).await;
            outcome(fetched, |fetched| json!([fetched.response.status, fetched.url, fetched.redirected]))
        })
    })
}

#[test]
fn only_listed_hosts_are_asked() {
    let world = World::new();
    *world.on_http.borrow_mut() = Some(Box::new(|_| response(500, None)));
    for url in ["https://api.example.com/x", "http://api.example.com", "https://a.b.internal.example.com/", "http://127.0.0.1:8080/"] {
        assert_eq!(fetch(&world, url), json!(500), "{url}");
    }
    let sent = world.sent.take();
    assert_eq!(sent[1].url, "http://api.example.com/");
    assert_eq!((sent[0].deadline_ms, sent[0].max_response_bytes), (NOW_MS + 5_000, 1 << 20));
    for url in [
        "https://example.com/",
        "https://internal.example.com/",
        "https://api.example.com.evil/",
        "https://api.example.com@evil/",
        "https://evil\\@api.example.com/",
        "http://127.0.0.1/",
        "http://169.254.169.254/",
        "file:///etc/passwd",
        "/x",
    ] {
        let Json::String(refused) = fetch(&world, url) else { panic!("{url}") };
        assert!(refused.starts_with("Denied: "), "{url}: {refused}");
    }
    assert!(world.sent.borrow().is_empty());
}

#[test]
fn redirects_stay_within_the_list() {
    let world = World::new();
    *world.on_http.borrow_mut() = Some(Box::new(|request| match request.url.as_str() {
        "https://api.example.com/moved" => response(302, Some("there?x")),
        "https://api.example.com/there?x" => response(307, Some("//a.internal.example.com/y")),
        "https://a.internal.example.com/y" => response(200, None),
        "https://api.example.com/out" => response(302, Some("https://evil.example/")),
        "https://api.example.com/file" => response(302, Some("file:///etc/passwd")),
        "https://api.example.com/plain" => response(307, Some("http://api.example.com/there")),
        "https://api.example.com/loop" => response(302, Some("/loop")),
        "https://api.example.com/nowhere" => response(302, None),
        _ => None,
    }));
    assert_eq!(fetch(&world, "https://api.example.com/moved"), json!(200));
    let authorized: Vec<bool> = world.sent.take().iter().map(|request| request.headers.first("authorization").is_some()).collect();
    assert_eq!(authorized, [true, true, false], "credentials went to another origin");
    let table = [
        ("https://api.example.com/out", "Denied: the host `evil.example` is not in `fetch.allow` of the app's settings", 1),
        ("https://api.example.com/file", "Denied: this address cannot be fetched: a URL begins with `http://` or `https://`", 1),
        ("https://api.example.com/plain", "Denied: `api.example.com` redirects from https to http, which is refused", 1),
        ("https://api.example.com/loop", "Protocol: `api.example.com` redirects more than 5 times", 6),
    ];
    for (url, expected, requests) in table {
        assert_eq!(fetch(&world, url), json!(expected));
        assert_eq!(world.sent.take().len(), requests, "{url}");
    }
    assert_eq!(fetch(&world, "https://api.example.com/nowhere"), json!(302));
}

#[test]
fn redirects_are_followed_refused_or_given() {
    let world = World::new();
    *world.on_http.borrow_mut() = Some(Box::new(|request| match request.url.as_str() {
        "https://api.example.com/moved?x" => response(302, Some("/there#f")),
        "https://api.example.com/out" => response(303, Some("https://evil.example/")),
        "https://api.example.com/nowhere" => response(301, None),
        "https://api.example.com/same" => response(304, Some("/there")),
        "http://api.example.com/up" => response(301, Some("https://api.example.com/there")),
        _ => response(200, None),
    }));
    let refused = "Denied: `api.example.com` answers with a redirect, which `redirect: \"error\"` refuses";
    let table = [
        ("https://api.example.com/moved?x", Redirect::Follow, json!([200, "https://api.example.com/there", true]), 2),
        ("https://api.example.com/moved?x", Redirect::Manual, json!([302, "https://api.example.com/moved?x", false]), 1),
        ("https://api.example.com/moved?x", Redirect::Error, json!(refused), 1),
        ("https://api.example.com/out", Redirect::Manual, json!([303, "https://api.example.com/out", false]), 1),
        ("https://api.example.com/nowhere", Redirect::Follow, json!([301, "https://api.example.com/nowhere", false]), 1),
        ("https://api.example.com/nowhere", Redirect::Error, json!(refused), 1),
        ("https://api.example.com/same", Redirect::Error, json!([304, "https://api.example.com/same", false]), 1),
        ("http://api.example.com/up", Redirect::Follow, json!([200, "https://api.example.com/there", true]), 2),
        ("https://api.example.com/a#f", Redirect::Error, json!([200, "https://api.example.com/a", false]), 1),
    ];
    for (url, redirect, expected, requests) in table {
        assert_eq!(fetch_as(&world, url, redirect), expected, "{url} {redirect:?}");
        assert_eq!(world.sent.take().len(), requests, "{url} {redirect:?}");
    }
}

#[test]
fn what_a_script_sends_to_one_origin_stays_there() {
    let world = World::new();
    *world.on_http.borrow_mut() = Some(Box::new(|request| match request.url.as_str() {
        "https://api.example.com/a" => response(307, Some("/b")),
        "https://api.example.com/b" => response(307, Some("https://a.internal.example.com/c")),
        // Back again: what was dropped stays dropped.
        "https://a.internal.example.com/c" => response(307, Some("https://api.example.com/d")),
        _ => response(200, None),
    }));
    in_script(&world, |host| {
        Box::pin(async move {
            let mut request = get("https://api.example.com/a");
            for name in ["X-Api-Key", "Cookie", "X-Mine", "Accept", "User-Agent"] {
                request.headers.append(name, "x");
            }
            outcome(host.fetch(request, Redirect::Follow).await, |fetched| json!(fetched.response.status))
        })
    });
    let sent = world.sent.borrow();
    let names: Vec<String> = sent.iter().map(|one| one.headers.iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")).collect();
    let all = "authorization x-api-key cookie x-mine accept user-agent accept-encoding";
    let rest = "accept user-agent accept-encoding";
    assert_eq!(names, [all, all, rest, rest]);
}

#[test]
fn the_clients_own_headers_and_methods_are_not_the_scripts() {
    let world = World::new();
    *world.on_http.borrow_mut() = Some(Box::new(|_| response(200, None)));
    let refused = in_script(&world, |host| {
        Box::pin(async move {
            let mut request = get("https://api.example.com/");
            for name in ["Host", "Content-Length", "Transfer-Encoding", "Connection", "X-Mine"] {
                request.headers.append(name, "x");
            }
            host.fetch(request, Redirect::Follow).await.unwrap();
            let traced = HttpRequest { method: "trace".into(), ..get("https://api.example.com/") };
            outcome(host.fetch(traced, Redirect::Follow).await, |_| json!("sent"))
        })
    });
    assert_eq!(refused, json!("Denied: the method `trace` cannot be fetched with"));
    let sent = world.sent.borrow();
    assert_eq!(sent.len(), 1);
    assert_eq!(
        sent[0].headers.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        ["authorization", "x-mine", "accept", "accept-encoding", "user-agent"]
    );
}

#[test]
fn a_call_sends_twenty_requests() {
    let world = World::new();
    *world.on_http.borrow_mut() = Some(Box::new(|_| response(200, None)));
    let refused = in_script(&world, |host| {
        Box::pin(async move {
            for _ in 0..20 {
                host.fetch(get("https://api.example.com/"), Redirect::Follow).await.unwrap();
            }
            outcome(host.fetch(get("https://api.example.com/"), Redirect::Follow).await, |_| json!("sent"))
        })
    });
    assert_eq!(refused, json!("Denied: a call may send 20 requests, redirects included"));
    assert_eq!(world.sent.borrow().len(), 20);
}

#[test]
fn a_request_that_never_ends_ends_with_the_call() {
    let world = World::new();
    let Json::String(result) = fetch(&world, "https://api.example.com/") else { panic!("a text") };
    assert!(result.starts_with("!<tool_error code=\"TIMEOUT\""), "{result}");
}

fn query(adapter: &'static str) -> impl for<'a> Fn(&'a dyn ScriptHost) -> LocalFuture<'a, Json> + 'static {
    move |host| {
        Box::pin(async move {
            let rows = host.query(adapter, "SELECT ?1", vec![Value::Text("'".into())]).await;
            outcome(rows, |rows| json!(rows.rows.len()))
        })
    }
}

#[test]
fn queries_of_scripts() {
    let world = World::new();
    world.answer_rows(rows(&["id"], vec![vec![Value::I64(1)]]));
    assert_eq!(in_script(&world, query("main")), json!(1));
    let asked = world.asked.borrow()[0].clone();
    assert_eq!((asked.access, asked.params, asked.deadline_ms), (Access::Write, vec![Value::Text("'".into())], NOW_MS + 2_000));
    assert_eq!(in_script(&world, query("other")), json!("Configuration: the app has no adapter `other`"));
    world.answer_error(Error::new(ErrorKind::Busy, "the database is locked"));
    assert_eq!(in_script(&world, query("main")), json!("Busy: the database is locked"));
}

/// Runs a piece of script in an app with an API beside its database.
fn beside_an_api(
    world: &Rc<World>,
    script: impl for<'a> Fn(&'a dyn ScriptHost) -> LocalFuture<'a, Json> + 'static,
    read_only: bool,
) -> ToolResult {
    *world.on_host.borrow_mut() = Some(Rc::new(script));
    let mut app = app(vec![Tool { output: Some("{\"type\":\"array\"}".into()), ..script_tool() }]);
    app.adapters.push(Adapter { read_only, ..made::adapter("shop", "http", "https://api.example.com") });
    let pipeline = Pipeline::new(Rc::new(app), world.ports());
    call(&pipeline, json!({}), &With::default()).unwrap()
}

fn request(document: &'static str) -> impl for<'a> Fn(&'a dyn ScriptHost) -> LocalFuture<'a, Json> + 'static {
    move |host| {
        Box::pin(async move {
            let rows = host.request("shop", document, vec![Value::I64(7)]).await;
            outcome(rows, |rows| json!([rows.document]))
        })
    }
}

#[test]
fn requests_of_scripts_read_or_write_as_they_say() {
    for (document, read_only, access) in [
        (r#"{"method":"GET","path":["/o/","$1",""]}"#, false, Access::Read),
        (r#"{"method":"POST","path":["/o/","$1",""],"reads":true}"#, false, Access::Read),
        (r#"{"method":"POST","path":["/o/","$1",""]}"#, false, Access::Write),
        (r#"{"method":"DELETE","path":["/o/","$1",""]}"#, false, Access::Write),
        (r#"{"method":"DELETE","path":["/o/","$1",""]}"#, true, Access::Read),
    ] {
        let world = World::new();
        world.answer_rows(Rows { document: Some(json!({"id": 7})), ..Rows::default() });
        let result = beside_an_api(&world, request(document), read_only);
        assert_eq!(text(&result), r#"[{"id":7}]"#, "{document}");
        let asked = world.asked.borrow()[0].clone();
        assert_eq!((asked.access, asked.text, asked.params), (access, document.to_owned(), vec![Value::I64(7)]));
    }
}

fn request_then_no_list(document: &'static str) -> impl for<'a> Fn(&'a dyn ScriptHost) -> LocalFuture<'a, Json> + 'static {
    move |host| Box::pin(async move { json!(host.request("shop", document, vec![]).await.is_ok()) })
}

#[test]
fn a_script_that_fails_after_a_request_says_what_that_did() {
    for (document, has_changed) in [
        (r#"{"method":"GET","path":["/o"]}"#, false),
        (r#"{"method":"POST","path":["/o"],"reads":true}"#, false),
        (r#"{"method":"POST","path":["/o"]}"#, true),
    ] {
        let world = World::new();
        let script = request_then_no_list(document);
        let result = beside_an_api(&world, script, false);
        assert!(result.is_error, "{document}");
        assert_eq!(meta(&result).get("change_made").is_some(), has_changed, "{document}: {result:?}");
    }
}

#[test]
fn an_api_takes_requests_and_a_database_statements() {
    let world = World::new();
    let statement = beside_an_api(
        &world,
        |host| Box::pin(async { json!([outcome(host.query("shop", "SELECT 1", vec![]).await, |_| json!("sent"))]) }),
        false,
    );
    assert!(text(&statement).contains("Configuration: the adapter `shop` is an API, which takes requests: ask it by `ctx.api`"));
    let request = beside_an_api(
        &world,
        |host| Box::pin(async { json!([outcome(host.request("main", "{}", vec![]).await, |_| json!("sent"))]) }),
        false,
    );
    assert!(text(&request).contains("Configuration: the adapter `main` is a database, which takes statements: ask it by `ctx.db`"));
    assert!(world.asked.borrow().is_empty());
}

#[test]
fn the_rest_of_the_host() {
    let world = World::new();
    let answer = in_script(&world, |host| {
        Box::pin(async move {
            host.log(LogReader::Caller, LogLevel::Info, "hello");
            host.progress(1.0, None, Some("half"));
            host.sleep(5).await;
            let mut bytes = [0; 3];
            host.random(&mut bytes);
            json!([host.now_ms(), bytes])
        })
    });
    assert_eq!(answer, json!([NOW_MS + 5, [7, 7, 7]]));
}
