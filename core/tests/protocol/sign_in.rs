//! Where clients sign in: the metadata, where it is and where it is not, and the challenge that
//! names it.

use millrace_core::{
    Endpoint,
    app::{App, Authorization, EnvPart, EnvTemplate, ProtectedResource, RequiredScopes, ResourceUrl},
};
use serde_json::json;

use super::fakes::{Ask, endpoint, shop};

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

fn text(text: &str) -> EnvTemplate {
    EnvTemplate(vec![EnvPart::Text(text.into())])
}

fn app(url: ResourceUrl) -> App {
    let resource = ProtectedResource {
        url,
        authorization_servers: vec![text("https://login.example.com")],
        scopes: vec!["a".into(), "offline_access".into()],
    };
    App { authorization: Authorization { resource: Some(resource), ..Authorization::default() }, ..shop() }
}

fn resource_at(endpoint: &Endpoint, path: &str, host: Option<&str>, is_own: bool, is_tls: bool) -> (u16, String) {
    let mut ask = Ask::new("GET", path);
    if let Some(host) = host {
        ask = ask.with("host", host);
    }
    ask.0.checks_host = is_own;
    ask.0.is_tls = is_tls;
    let seen = ask.send(endpoint);
    (seen.status, seen.body["resource"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn an_app_without_a_resource_has_no_metadata() {
    let endpoint = endpoint(shop());
    for path in [WELL_KNOWN, "/.well-known/oauth-protected-resource/mcp"] {
        for method in ["GET", "HEAD", "OPTIONS", "POST"] {
            assert_eq!(Ask::new(method, path).send(&endpoint).status, 404, "{method} {path}");
        }
    }
}

#[test]
fn the_resource_follows_host_only_where_the_app_lists_it() {
    let endpoint = endpoint(app(ResourceUrl::Host));
    // Host, whether the machine serves itself, TLS by the host itself, the resource.
    let cases = [
        (Some("mcp.example.com"), true, false, Some("https://mcp.example.com/mcp")),
        (Some("MCP.Example.com"), true, false, Some("https://mcp.example.com/mcp")),
        (Some("mcp.example.com:443"), true, true, Some("https://mcp.example.com/mcp")),
        (Some("mcp.example.com:8443"), true, false, Some("https://mcp.example.com:8443/mcp")),
        (Some("localhost:8080"), true, false, Some("http://localhost:8080/mcp")),
        (Some("127.0.0.1:80"), true, false, Some("http://127.0.0.1/mcp")),
        (Some("[::1]:8080"), true, true, Some("https://[::1]:8080/mcp")),
        (Some("mcp.example.com"), false, false, Some("https://mcp.example.com/mcp")),
        // A platform routes by `Host`, and does not check it.
        (Some("localhost:8080"), false, false, None),
        (Some("evil.example.com"), false, false, None),
        (Some("mcp.example.com.evil.example"), false, false, None),
        (Some("mcp.example.com@evil.example"), false, false, None),
        (Some("mcp.example.com/x"), false, false, None),
        (None, false, false, None),
    ];
    for (host, is_own, is_tls, expected) in cases {
        let seen = resource_at(&endpoint, WELL_KNOWN, host, is_own, is_tls);
        let expected = expected.map_or((404, String::new()), |url| (200, url.to_owned()));
        assert_eq!(seen, expected, "{host:?}");
        // The challenge leads to the same place, or nowhere.
        let mut ask = Ask::legacy("tools/call", json!({"name": "locked"}));
        if let Some(host) = host {
            ask = ask.with("host", host);
        }
        (ask.0.checks_host, ask.0.is_tls) = (is_own, is_tls);
        let seen = ask.send(&endpoint);
        let challenge = seen.headers.first("www-authenticate").unwrap_or_default();
        let metadata =
            (seen.status == 401 && expected.0 == 200).then(|| format!("{}{WELL_KNOWN}/mcp", expected.1.trim_end_matches("/mcp")));
        match metadata {
            Some(url) => assert!(challenge.ends_with(&format!(", resource_metadata=\"{url}\"")), "{challenge}"),
            None => assert!(seen.status == 401 && !challenge.contains("resource_metadata"), "{} {challenge}", seen.status),
        }
    }
    // A host that the server does not have at all is refused before.
    assert_eq!(resource_at(&endpoint, WELL_KNOWN, Some("evil.example.com"), true, false).0, 403);
}

#[test]
fn the_metadata_is_where_clients_look_for_it() {
    let endpoint = endpoint(app(ResourceUrl::Url(text("https://example.com/v1/mcp"))));
    for (path, status) in [
        (WELL_KNOWN, 200),
        ("/.well-known/oauth-protected-resource/mcp", 200),
        ("/.well-known/oauth-protected-resource/v1/mcp", 200),
        ("/.well-known/oauth-protected-resource/v1", 404),
        ("/.well-known/oauth-protected-resource/", 404),
        ("/.well-known/oauth-protected-resources", 404),
        ("/.well-known/oauth-authorization-server", 404),
    ] {
        assert_eq!(resource_at(&endpoint, path, Some("mcp.example.com"), true, false).0, status, "{path}");
    }
    let seen = Ask::new("GET", WELL_KNOWN).with("origin", "https://evil.example.com").send(&endpoint);
    assert_eq!((seen.status, seen.headers.first("access-control-allow-origin")), (200, Some("*")));
    assert_eq!(
        seen.body,
        json!({
            "resource": "https://example.com/v1/mcp", "authorization_servers": ["https://login.example.com"],
            "scopes_supported": ["a"], "bearer_methods_supported": ["header"], "resource_name": "shop",
        })
    );
    // The endpoint itself stays closed to that origin.
    assert_eq!(Ask::legacy("ping", json!({})).loopback("localhost").with("origin", "https://evil.example.com").send(&endpoint).status, 403);
    let huge = (0..200).fold(Ask::new("GET", WELL_KNOWN), |ask, _| ask.with("x", "y"));
    assert_eq!(huge.send(&endpoint).status, 431);
}

#[test]
fn a_bundle_that_contradicts_itself_is_refused() {
    let mut app = shop();
    app.prompts[0].scopes = Some(RequiredScopes::all(vec!["a".into()]));
    let bundle = app.to_bundle().unwrap();
    assert!(App::from_bundle(&bundle).is_err_and(|error| error.to_string().contains("its `auth` for them is missing")));
    // And where it is served all the same, nobody gets the prompt.
    let ask = Ask::legacy("prompts/get", json!({"name": "greet", "arguments": {"name": "x"}}));
    assert_eq!(ask.send(&endpoint(app)).status, 401);
}
