//! What a script may ask of the outside, limits held.

use alloc::{boxed::Box, format, string::String, vec::Vec};
use core::cell::Cell;

use super::cache;

use crate::{
    Error, ErrorKind, Json, Result,
    app::{Access, Adapter},
    fault::Change,
    fetch_url::FetchUrl,
    headers::Headers,
    pipeline::{
        call::report::Subject,
        call::run::{Run, TARGET},
        isolate::connections::MAX_CELL_BYTES,
        isolate::database,
        rounds, session,
        stages::execute::change::{may_change, took_effect},
        tenant,
    },
    ports::{Command, Fetched, HttpRequest, HttpResponse, LocalFuture, LogLevel, LogReader, Query, Redirect, ScriptHost},
    value::{Rows, Value},
};

/// The most HTTP requests of one tool call, redirects included.
const MAX_REQUESTS: u32 = 20;
/// The most redirects of one `fetch`.
const MAX_REDIRECTS: u32 = 5;
/// The longest body that `fetch` reads, in bytes.
const MAX_RESPONSE_BYTES: usize = 1 << 20;
/// The methods that [`fetch`](https://fetch.spec.whatwg.org/#forbidden-method) refuses.
const FORBIDDEN_METHODS: [&str; 3] = ["CONNECT", "TRACE", "TRACK"];
/// The methods that change nothing, by [RFC 9110, section
/// 9.2.1](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.1).
const SAFE_METHODS: [&str; 3] = ["GET", "HEAD", "OPTIONS"];
/// Header fields that are the client's. A script that could name the host would reach another one
/// behind an allowed address.
const CLIENT_HEADERS: [&str; 6] = ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te"];
/// What [`fetch`](https://fetch.spec.whatwg.org/#http-network-or-cache-fetch) sends where a script
/// does not say otherwise. Some APIs refuse a request without `user-agent`.
const USUAL_HEADERS: [(&str, &str); 3] = [("accept", "*/*"), ("accept-encoding", "gzip, deflate, br"), ("user-agent", "Millrace")];
/// Header fields that go along when a redirect leads to another origin. Any other may hold what is
/// meant for the first one alone.
const TRAVELLING_HEADERS: [&str; 8] =
    ["accept", "accept-encoding", "accept-language", "content-encoding", "content-language", "content-type", "range", "user-agent"];
/// The target of what scripts log.
const LOG_TARGET: &str = "millrace::script";

/// What a script asks an adapter for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// `ctx.db`
    Statement,
    /// `ctx.api`
    Request,
}

/// The host of one script call.
pub(super) struct Host<'a> {
    run: &'a Run<'a>,
    memory_bytes: Cell<Option<u64>>,
}

impl<'a> Host<'a> {
    pub(super) const fn new(run: &'a Run<'a>) -> Self {
        Self { run, memory_bytes: Cell::new(None) }
    }

    /// How much memory the engine has said that the call took.
    pub(super) fn memory_bytes(&self) -> Option<u64> {
        self.memory_bytes.get()
    }

    async fn follow(&self, mut request: HttpRequest, redirect: Redirect) -> Result<Fetched> {
        let mut address = FetchUrl::parse(&request.url)?;
        if FORBIDDEN_METHODS.iter().any(|method| request.method.eq_ignore_ascii_case(method)) {
            return Err(Error::new(ErrorKind::Denied, format!("the method `{}` cannot be fetched with", request.method)));
        }
        request.headers = request.headers.iter().filter(|(name, _)| !CLIENT_HEADERS.contains(name)).collect();
        for (name, value) in USUAL_HEADERS {
            if request.headers.first(name).is_none() {
                request.headers.append(name, value);
            }
        }
        request.deadline_ms = request.deadline_ms.min(self.run.signal.deadline_ms());
        request.max_response_bytes = request.max_response_bytes.min(MAX_RESPONSE_BYTES);
        for followed in 0..=MAX_REDIRECTS {
            self.admit(&address)?;
            request.url = address.to_url();
            let is_safe = SAFE_METHODS.iter().any(|method| request.method.eq_ignore_ascii_case(method));
            let open = &self.run.sync.open_requests;
            if !is_safe {
                self.run.unsafe_requests.set(self.run.unsafe_requests.get() + 1);
                open.set(open.get() + 1);
            }
            let response = self.run.pipeline.ports.http.send(request.clone()).await?;
            if !is_safe {
                open.set(open.get().saturating_sub(1));
            }
            let fetched = |response| Fetched { response, url: address.to_url(), redirected: followed > 0 };
            if !is_redirect(&response) || redirect == Redirect::Manual {
                return Ok(fetched(response));
            }
            if redirect == Redirect::Error {
                let message = format!("`{}` answers with a redirect, which `redirect: \"error\"` refuses", address.host());
                return Err(Error::new(ErrorKind::Denied, message));
            }
            let Some(location) = response.headers.first("location") else { return Ok(fetched(response)) };
            let next = address.join(location)?;
            if address.is_https() && !next.is_https() {
                let message = format!("`{}` redirects from https to http, which is refused", address.host());
                return Err(Error::new(ErrorKind::Denied, message));
            }
            redirected(&mut request, response.status, !next.same_origin(&address));
            address = next;
        }
        let message = format!("`{}` redirects more than {MAX_REDIRECTS} times", address.host());
        Err(Error::new(ErrorKind::Protocol, message))
    }

    async fn ask(&self, name: &str, asked: Asked, text: &str, params: Vec<Value>) -> Result<Rows> {
        let pipeline = self.run.pipeline;
        let (index, adapter) = self.adapter(name, asked)?;
        let database = database::of(self.run, adapter).inspect_err(|error| self.note(error))?;
        let (adapter, connector) = pipeline.connections.open(index, database)?;
        tenant::admit_script(self.run, adapter, text, &params).inspect_err(|error| self.note(error))?;
        let session = session::of(self.run, adapter).inspect_err(|error| self.note(error))?;
        let command = Command::Statement { text, values: &params };
        let deadline_ms = self.run.signal.deadline_within(adapter.timeout_ms);
        let reads = asked == Asked::Request && request_reads(text);
        let query = Query {
            session: &session,
            // Nobody looked at the statement; only a read-only connection makes sure that it
            // reads.
            access: if adapter.read_only || reads { Access::Read } else { Access::Write },
            caller: Some(self.run.signal.cancel()),
            ..Query::reading(command, deadline_ms, adapter.max_rows as usize, MAX_CELL_BYTES)
        };
        let question = self.run.asks(adapter);
        let may_write = !adapter.read_only
            && match asked {
                Asked::Statement => may_change(text),
                Asked::Request => !reads,
            };
        if may_write {
            self.run.write_sent();
            self.run.sync.script_writes(index);
        }
        let answer = connector.query(query).await.inspect_err(|error| self.note(error));
        if may_write && !self.run.write_answered(&answer) && answer.is_err() {
            self.run.sync.script_wrote_nothing(index);
        }
        question.answered(&answer);
        let has_changed = |rows: &Rows| match asked {
            Asked::Statement => !adapter.read_only && took_effect(text, rows, connector.counts_changes()),
            Asked::Request => may_write,
        };
        answer.iter().for_each(|rows| self.run.count_rows(rows));
        if answer.as_ref().is_ok_and(has_changed) {
            self.run.change.set(Change::Some);
        }
        answer
    }

    /// The adapter of a name, and its place.
    fn adapter(&self, name: &str, asked: Asked) -> Result<(usize, &Adapter)> {
        let mut adapters = self.run.pipeline.app.adapters.iter().enumerate();
        let message = match (adapters.find(|(_, adapter)| adapter.name == name), asked) {
            (None, _) => format!("the app has no adapter `{name}`"),
            (Some((_, adapter)), Asked::Statement) if adapter.is_api() => {
                format!("the adapter `{name}` is an API, which takes requests: ask it by `ctx.api`")
            }
            (Some((_, adapter)), Asked::Request) if !adapter.is_api() => {
                format!("the adapter `{name}` is a database, which takes statements: ask it by `ctx.db`")
            }
            (Some(found), _) => return Ok(found),
        };
        Err(Error::new(ErrorKind::Configuration, message))
    }

    /// A script gets the message of an error; the upstream's own words are for the log.
    fn note(&self, error: &Error) {
        self.run.secrets().say(&error.message);
        if !tracing::enabled!(target: TARGET, tracing::Level::DEBUG) {
            return;
        }
        let (Subject { tool, request_id, .. }, secrets) = (self.run.subject(), self.run.secrets());
        let message = secrets.for_log(&error.message);
        let detail = error.source.as_deref().map(|source| secrets.for_log(source));
        tracing::debug!(target: TARGET, tool, request_id, error = &*message, detail = detail.as_deref(), "a script's request was refused");
    }

    fn admit(&self, address: &FetchUrl) -> Result<()> {
        let allowed = &self.run.pipeline.app.fetch_allow;
        if !allowed.iter().any(|pattern| address.matches(pattern)) {
            let host = address.authority();
            return Err(Error::new(ErrorKind::Denied, format!("the host `{host}` is not in `fetch.allow` of the app's settings")));
        }
        let sent = self.run.requests.get();
        if sent >= MAX_REQUESTS {
            return Err(Error::new(ErrorKind::Denied, format!("a call may send {MAX_REQUESTS} requests, redirects included")));
        }
        self.run.requests.set(sent + 1);
        Ok(())
    }
}

impl ScriptHost for Host<'_> {
    fn fetch(&self, request: HttpRequest, redirect: Redirect) -> LocalFuture<'_, Result<Fetched>> {
        Box::pin(async move { self.follow(request, redirect).await.inspect_err(|error| self.note(error)) })
    }

    fn query<'a>(&'a self, adapter: &'a str, text: &'a str, params: Vec<Value>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(self.ask(adapter, Asked::Statement, text, params))
    }

    fn request<'a>(&'a self, adapter: &'a str, document: &'a str, values: Vec<Value>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(self.ask(adapter, Asked::Request, document, values))
    }

    fn cache_get<'a>(&'a self, key: &'a str) -> LocalFuture<'a, Result<Option<Json>>> {
        Box::pin(async move { cache::get(self.run, key).await.inspect_err(|error| self.note(error)) })
    }

    fn cache_put<'a>(&'a self, key: &'a str, value: Json, ttl_s: f64) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move { cache::put(self.run, key, &value, ttl_s).await.inspect_err(|error| self.note(error)) })
    }

    fn required_variables(&self) -> &[String] {
        &self.run.pipeline.app.required
    }

    fn took_memory(&self, bytes: u64) {
        self.memory_bytes.set(Some(bytes));
    }

    fn log(&self, to: LogReader, level: LogLevel, message: &str) {
        if let (LogReader::Caller, Some(listener)) = (to, self.run.listener) {
            listener.log(level, &self.run.secrets().for_caller(message));
        }
        // The text is a field, in quotes: it can look neither like another line nor like another
        // field.
        macro_rules! line {
            ($level:ident) => {
                if tracing::enabled!(target: LOG_TARGET, tracing::Level::$level) {
                    let (Subject { tool, request_id, .. }, text) = (self.run.subject(), &*self.run.secrets().for_log(message));
                    tracing::event!(target: LOG_TARGET, tracing::Level::$level, tool, request_id, text, "script log");
                }
            };
        }
        match level {
            LogLevel::Debug => line!(DEBUG),
            LogLevel::Info => line!(INFO),
            LogLevel::Warn => line!(WARN),
            LogLevel::Error => line!(ERROR),
        }
    }

    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        if tracing::enabled!(target: LOG_TARGET, tracing::Level::DEBUG) {
            let (Subject { tool, request_id, .. }, text) = (self.run.subject(), message.map(|message| self.run.secrets().for_log(message)));
            tracing::debug!(target: LOG_TARGET, tool, request_id, done, total, text = text.as_deref(), "progress");
        }
        if let Some(listener) = self.run.listener {
            let message = message.map(|message| self.run.secrets().for_caller(message));
            listener.progress(done, total, message.as_deref());
        }
    }

    fn require_input(&self, requests: Json) -> Result<Option<Json>> {
        rounds::ask(self.run, requests).inspect_err(|error| self.note(error))
    }

    fn now_ms(&self) -> u64 {
        self.run.pipeline.ports.clock.now_ms()
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        self.run.pipeline.ports.clock.sleep(duration_ms)
    }

    fn random(&self, buffer: &mut [u8]) {
        self.run.pipeline.ports.random.fill(buffer);
    }
}

/// Whether a script's request only reads, as the driver judges it, too: by its method, or since it
/// says so of a `POST`. What is not understood is not sent, and does not count as a read.
fn request_reads(document: &str) -> bool {
    let Ok(request) = serde_json::from_str::<Json>(document) else { return false };
    let method = request.get("method").and_then(Json::as_str).unwrap_or_default();
    SAFE_METHODS.contains(&method) || method == "POST" && request.get("reads").and_then(Json::as_bool) == Some(true)
}

const fn is_redirect(response: &HttpResponse) -> bool {
    matches!(response.status, 301 | 302 | 303 | 307 | 308)
}

/// Makes the request that follows a redirect, as
/// [`fetch`](https://fetch.spec.whatwg.org/#http-redirect-fetch) does. That takes only
/// `authorization` away from another origin; here every field goes that is not known to hold
/// nothing private.
fn redirected(request: &mut HttpRequest, status: u16, other_origin: bool) {
    let method = request.method.as_str();
    let becomes_get = match status {
        301 | 302 => method.eq_ignore_ascii_case("POST"),
        303 => !method.eq_ignore_ascii_case("GET") && !method.eq_ignore_ascii_case("HEAD"),
        _ => false,
    };
    if becomes_get {
        request.method = "GET".into();
        request.body = Vec::new();
    }
    let goes = |name: &str| match name {
        "content-encoding" | "content-language" | "content-location" | "content-type" | "content-length" if becomes_get => true,
        name => other_origin && !TRAVELLING_HEADERS.contains(&name),
    };
    request.headers = request.headers.iter().filter(|(name, _)| !goes(name)).collect::<Headers>();
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn a_request_reads_by_its_method_or_by_what_it_says() {
        for (document, reads) in [
            (r#"{"method":"GET","path":["/a"]}"#, true),
            (r#"{"method":"HEAD","path":["/a"]}"#, true),
            (r#"{"method":"POST","path":["/a"],"reads":true}"#, true),
            (r#"{"method":"POST","path":["/a"],"reads":"$1"}"#, false),
            (r#"{"method":"POST","path":["/a"]}"#, false),
            (r#"{"method":"DELETE","path":["/a"],"reads":true}"#, false),
            (r#"{"path":["/a"]}"#, false),
            ("GET /a", false),
            ("", false),
        ] {
            assert_eq!(request_reads(document), reads, "{document}");
        }
    }

    #[test]
    fn redirects_change_method_body_and_headers() {
        let table = [
            (301, "POST", false, "GET", "authorization x-token accept"),
            (302, "post", true, "GET", "accept"),
            (302, "PUT", false, "PUT", "authorization x-token content-type accept"),
            (303, "PUT", false, "GET", "authorization x-token accept"),
            (303, "HEAD", false, "HEAD", "authorization x-token content-type accept"),
            (307, "POST", true, "POST", "content-type accept"),
            (308, "POST", false, "POST", "authorization x-token content-type accept"),
        ];
        for (status, method, other_origin, expected_method, expected_headers) in table {
            let mut request = HttpRequest {
                method: method.into(),
                url: "https://a.example/".into(),
                headers: [("Authorization", "x"), ("X-Token", "x"), ("Content-Type", "text/plain"), ("Accept", "*/*")]
                    .into_iter()
                    .collect(),
                body: vec![1],
                deadline_ms: 0,
                max_response_bytes: 0,
                ..HttpRequest::default()
            };
            redirected(&mut request, status, other_origin);
            let names: Vec<&str> = request.headers.iter().map(|(name, _)| name).collect();
            assert_eq!((request.method.as_str(), names.join(" ").as_str()), (expected_method, expected_headers), "{status} {method}");
            assert_eq!(request.body.is_empty(), request.method == "GET", "{status} {method}");
        }
    }
}
