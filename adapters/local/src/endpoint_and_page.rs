//! The core's endpoint, and in `dev` a page for browsers at `/`.

use std::{net::IpAddr, rc::Rc, sync::OnceLock};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use millrace_core::{
    Endpoint,
    app::{App, Auth},
    headers::Headers,
    protocol::{Request, Response},
};
use millrace_native::http::Handler;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::fault_details::FaultDetails;

const PAGE: &str = include_str!("page.html");

/// Stands in the page for the path of the MCP endpoint, in a place that is text.
const PATH_MARK: &str = "{{path}}";

/// Stands in the page for the path that its own calls go to.
const CALLS_MARK: &str = "{{calls}}";

/// Stands in the page for what the lists do not say about the tools, as JSON, in the value of an attribute.
const TOOLS_MARK: &str = "{{tools}}";

/// An isolate's handler.
pub(crate) struct EndpointAndPage {
    endpoint: Endpoint,
    page: Page,
    /// Where the page gets more of a failure than its caller does.
    details: Option<Rc<FaultDetails>>,
}

/// What a browser gets at `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub(crate) enum Page {
    /// Nothing.
    Off,
    /// A page that knows what any client knows.
    Public,
    /// A page that is also shown what the log says of a failure. Only for a person at this machine.
    WithDetails,
}

impl Page {
    /// The page of a `dev` that listens on an address: with details on the loopback, unless a proxy passes on the requests of others.
    pub(crate) fn of_dev(listens_on: IpAddr, app: &App) -> Self {
        let is_own = listens_on.is_loopback() && app.server.hosts.is_empty() && app.server.path != "/";
        if is_own { Self::WithDetails } else { Self::Public }
    }
}

impl EndpointAndPage {
    /// `details` observes the calls of the endpoint.
    pub(crate) fn new(endpoint: Endpoint, page: Page, details: Option<Rc<FaultDetails>>) -> Self {
        Self { endpoint, page, details }
    }
}

impl Handler for EndpointAndPage {
    fn body_limit(&self) -> usize {
        self.endpoint.body_limit()
    }

    async fn handle(&self, request: Request) -> Response {
        let app = self.endpoint.app();
        match (request.path.as_str(), request.method.as_str(), &self.details) {
            ("/", "GET" | "HEAD", details) if self.page != Page::Off => {
                let calls = if details.is_some() { "/" } else { &app.server.path };
                self.endpoint.refusal(&request).unwrap_or_else(|| page(&app.server.path, calls, &tools(app)))
            }
            // The page's own calls. Any other client has the endpoint.
            ("/", "POST", Some(details)) => {
                let request = Request { path: app.server.path.clone(), ..request };
                details.with_details(self.endpoint.handle(request)).await
            }
            _ => self.endpoint.handle(request).await,
        }
    }
}

/// The page. Its script asks the MCP endpoint as any client does; of the app it holds only what [`tools`] says.
fn page(mcp_path: &str, calls: &str, tools: &str) -> Response {
    static POLICY: OnceLock<String> = OnceLock::new();
    let policy = POLICY.get_or_init(|| {
        format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'",
            hash("script"),
            hash("style")
        )
    });
    let headers = [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", policy),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ];
    Response {
        status: 200,
        headers: headers.into_iter().collect::<Headers>(),
        body: PAGE
            .replacen(TOOLS_MARK, &escaped(tools), 1)
            .replacen(CALLS_MARK, &escaped(calls), 1)
            .replacen(PATH_MARK, &escaped(mcp_path), 1)
            .into_bytes()
            .into(),
    }
}

/// The tools that need credentials or ask for a confirmation, as JSON: no list says that.
fn tools(app: &App) -> String {
    let tools = app.tools.iter().filter_map(|tool| {
        let needs = match &tool.auth {
            None | Some(Auth::AllowAll) => None,
            Some(Auth::ApiKey(_)) => Some("key"),
            Some(Auth::Script { .. }) => Some("script"),
        };
        let confirm = tool.confirm.is_some();
        (needs.is_some() || confirm).then(|| json!({ "name": tool.name, "needs": needs, "confirm": confirm }))
    });
    tools.collect::<serde_json::Value>().to_string()
}

/// Text as the value of an attribute in double quotes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

/// The hash of the page's one element of that name, as a content security policy wants it.
fn hash(element: &str) -> String {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let text = PAGE.split_once(&open).and_then(|(_, rest)| rest.split_once(&close)).map_or("", |(text, _)| text);
    BASE64_STANDARD.encode(Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use millrace_core::protocol::ResponseBody;

    use super::*;

    #[test]
    fn the_page_is_one_file_and_runs_under_its_policy() {
        for element in ["script", "style"] {
            assert_eq!(PAGE.matches(&format!("<{element}")).count(), 1, "{element}");
            assert!(PAGE.contains(&format!("<{element}>")), "{element}");
        }
        for forbidden in ["src=", "href=", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=", "onclick="]
        {
            assert!(!PAGE.contains(forbidden), "{forbidden}");
        }
        let page = page("/a\"<b", "/", r#"[{"name":"<b>"}]"#);
        let ResponseBody::Whole(body) = page.body else { panic!("the page is no stream") };
        let body = String::from_utf8(body).unwrap();
        assert!(
            body.contains(r#"data-path="/a&quot;&lt;b" data-calls="/" data-tools="[{&quot;name&quot;:&quot;&lt;b>&quot;}]">"#),
            "{body}"
        );
        let policy = page.headers.first("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}
