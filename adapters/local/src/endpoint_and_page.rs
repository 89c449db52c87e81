//! The core's endpoint, and in `dev` a page for browsers at `/`.

use std::{cell::OnceCell, net::IpAddr, path::PathBuf, rc::Rc, sync::Arc};

use millrace_core::{
    Endpoint,
    app::App,
    cancel::Cancel,
    platform_caller::PlatformCaller,
    protocol::{Body, Connection, Request, Response, ResponseBody},
};
use millrace_native::{http::Handler, lines::MessageHandler};

use crate::{
    call_details::CallDetails,
    page::{self, AppState, ELSEWHERE_PATH, ICON_PATH, STATE_PATH, Setting, testing},
};

/// An isolate's handler.
pub(crate) struct EndpointAndPage {
    endpoint: Endpoint,
    page: Page,
    /// Where the page gets more of a call than its caller does.
    details: Option<Rc<CallDetails>>,
    /// Where the settings of the tools came from, for [`Page::WithDetails`].
    settings: Arc<[Setting]>,
    /// The app's folder, likewise.
    folder: PathBuf,
    /// Who sends no credentials.
    caller: Option<PlatformCaller>,
    /// Made for the first page that asks.
    state: OnceCell<AppState>,
}

/// What a browser gets at `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub(crate) enum Page {
    /// Nothing.
    Off,
    /// A page that knows what any client knows.
    Public,
    /// A page that is also shown what the log says of a failure, what a call goes through, and how
    /// long that takes. Only for a person at this machine.
    WithDetails,
}

impl Page {
    /// The page of a `dev` that listens on an address, if any: with details on the loopback, unless
    /// a proxy passes on the requests of others.
    pub(crate) fn of_dev(listens_on: Option<IpAddr>, app: &App) -> Self {
        let Some(listens_on) = listens_on else { return Self::Off };
        let is_own = listens_on.is_loopback() && app.server.hosts.is_empty() && app.server.path != "/";
        if is_own { Self::WithDetails } else { Self::Public }
    }
}

impl EndpointAndPage {
    /// `details` observes the calls of the endpoint; `caller` is who sends no credentials.
    pub(crate) fn new(
        endpoint: Endpoint,
        page: Page,
        details: Option<Rc<CallDetails>>,
        settings: Arc<[Setting]>,
        folder: PathBuf,
        caller: Option<PlatformCaller>,
    ) -> Self {
        Self { endpoint, page, details, settings, folder, caller, state: OnceCell::new() }
    }

    /// What the page gets, where the request is one of a page.
    fn of_page(&self, request: &Request) -> Option<Response> {
        let app = self.endpoint.app();
        if self.page == Page::Off || !matches!(request.method.as_str(), "GET" | "HEAD") {
            return None;
        }
        let answer: &dyn Fn() -> Response = match (request.path.as_str(), &self.details) {
            ("/", details) => &|| page::html(&app.server.path, if details.is_some() { "/" } else { &app.server.path }),
            // The endpoint may be at any path.
            (path, _) if app.server.is_endpoint(path) => return None,
            (ICON_PATH, _) => &page::icon,
            (STATE_PATH, _) => &|| {
                let details = (self.page == Page::WithDetails).then_some((self.folder.as_path(), &*self.settings));
                self.state.get_or_init(|| AppState::of(app, details)).answer(request)
            },
            (ELSEWHERE_PATH, Some(details)) => &|| page::elsewhere(&details.elsewhere()),
            _ => return None,
        };
        Some(self.endpoint.refusal(request).unwrap_or_else(answer))
    }

    /// What the page gets of the app's tests, where the request is of them: a person at this
    /// machine alone runs them.
    async fn of_tests(&self, request: &Request) -> Option<Response> {
        let is_endpoint = || self.endpoint.app().server.is_endpoint(&request.path);
        if request.path != testing::TESTS_PATH || self.page != Page::WithDetails || is_endpoint() {
            return None;
        }
        match self.endpoint.refusal(request) {
            Some(refusal) => Some(refusal),
            None => Box::pin(testing::answer(&self.folder, request)).await,
        }
    }
}

impl MessageHandler for EndpointAndPage {
    async fn handle_message(&self, connection: &Connection, message: Body, cancel: Cancel) -> ResponseBody {
        self.endpoint.handle_message(connection, message, cancel).await
    }
}

impl Handler for EndpointAndPage {
    fn body_limit(&self) -> usize {
        self.endpoint.body_limit()
    }

    async fn handle(&self, request: Request) -> Response {
        if let Some(answer) = self.of_page(&request) {
            return answer;
        }
        if let Some(answer) = self.of_tests(&request).await {
            return answer;
        }
        let request = Request { platform_caller: self.caller.clone(), ..request };
        match (request.path.as_str(), request.method.as_str(), &self.details) {
            // The page's own calls. Any other client has the endpoint.
            ("/", "POST", Some(details)) => {
                let request = Request { path: self.endpoint.app().server.path.clone(), ..request };
                details.with_details(Box::pin(self.endpoint.handle(request))).await
            }
            _ => self.endpoint.handle(request).await,
        }
    }
}
