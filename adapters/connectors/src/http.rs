//! `connector: http`: an API of HTTP.
//!
//! In goes one request as a document, with its values as leaves; out comes the JSON of the answer,
//! or a part of it. What an author may write is in the crate `millrace-languages`, looked at when
//! the app is built and before anything is sent. What becomes of values is in module `request`, how
//! further pages are found in module `page`, and what an error means in module `failure`.
//!
//! # Where requests go
//!
//! To the origin of the adapter, below its base path. A redirect of a request that reads is
//! followed there, and to the origins that the adapter lists, which get no credentials. The HTTP
//! client refuses addresses that are not public, unless the adapter allows them.
//!
//! # Time
//!
//! As in connector [`libsql`](crate::libsql). What only reads is sent once more after a failure
//! that may pass, when the API says that it may be (`Retry-After`). A request that writes is sent
//! again only where it cannot have arrived, or where the API knows a call by a header field.

mod failure;
mod page;
mod request;
mod settings;
mod token;
mod validated;

use std::{cell::Cell, rc::Rc, time::UNIX_EPOCH};

use millrace_catalogue::HTTP;
use millrace_core::{
    Error, ErrorKind, Json, Result,
    fetch_url::FetchUrl,
    headers::Headers,
    ports::{CallRecord, Clock, Connection, Connector, HttpClient, HttpRequest, HttpResponse, LocalFuture, Query, Random, RecordedWrite},
    url::percent_coded,
    value::{Rows, Value},
};

use crate::shared::{Effect, Pool, Retry, StatementFailure, exact_json, max_response_bytes, own_query, within};
use page::Progress;
use request::Prepared;
use settings::{Credentials, Settings};
use token::Tokens;
use validated::{Validated, keep_s};

/// How many redirects are followed.
const MOST_REDIRECTS: usize = 5;

/// An API.
pub struct Http {
    settings: Settings,
    tokens: Tokens,
    read_only: bool,
    http: Rc<dyn HttpClient>,
    clock: Rc<dyn Clock>,
    retry: Retry,
    /// The requests that are under way.
    under_way: Pool<()>,
    validated: Validated,
}

/// What an API answered to a request that succeeded.
struct Answer {
    /// Where it came from, after redirects.
    url: FetchUrl,
    headers: Headers,
    body: Rc<Json>,
    /// The length of the body, in bytes.
    bytes: usize,
}

impl Http {
    /// Reads the settings of an adapter; sends nothing.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for a connection string that is not a URL, an
    /// unknown option or a wrong value of one.
    pub fn open(connection: &Connection, http: Rc<dyn HttpClient>, clock: Rc<dyn Clock>, random: Rc<dyn Random>) -> Result<Self> {
        let settings = Settings::parse(connection.connection_string.expose().trim(), &connection.options)?;
        Ok(Self {
            under_way: Pool::of(settings.max_requests),
            settings,
            tokens: Tokens::default(),
            validated: Validated::default(),
            read_only: connection.read_only,
            http,
            retry: Retry::new(clock.clone(), random).of_requests(),
            clock,
        })
    }

    /// Sends a request, and those for further pages. `key` is what the API knows the call by.
    async fn run(&self, query: &Query<'_>, key: Option<&str>) -> Result<Rows> {
        if !self.settings.is_for_callers() {
            query.without_session(HTTP.name)?;
        } else if token::of_caller(query).is_none() {
            let message = "the adapter exchanges the token of the caller, and the app was built for one that does not";
            return Err(Error::new(ErrorKind::Configuration, message));
        }
        let prepared = Prepared::of(query, self.read_only)?;
        let first = self.url(&prepared)?;
        let mut url = first.clone();
        let (mut elements, mut bytes) = (Vec::new(), 0_usize);
        let mut progress = Progress { pages: 0, elements: 0, last: 0 };
        let mut most_s: Option<u32> = None;
        loop {
            let answer = self.answer(query, &prepared, &url, key).await?;
            bytes = bytes.saturating_add(answer.bytes);
            most_s = keep_s(&answer.headers).into_iter().chain(most_s).min();
            let found = selected(&prepared, &answer.body)?;
            let Some(page) = &prepared.page else {
                let document = found.unwrap_or_else(|| Rc::unwrap_or_clone(answer.body));
                return Ok(Rows { keep_s: most_s, ..within_limits(document, false, bytes, query, &prepared)? });
            };
            let Json::Array(found) = found.unwrap_or_else(|| (*answer.body).clone()) else {
                let what = if prepared.result.is_some() { "what `result` names" } else { "the answer" };
                return Err(Error::new(ErrorKind::Protocol, format!("{what} is not a list, and `page` joins lists")));
            };
            progress.pages += 1;
            progress.last = found.len();
            progress.elements += found.len();
            elements.extend(found);
            let next = page.next(&first, &answer.url, &answer.headers, &answer.body, &progress)?;
            let is_full = progress.pages >= page.max || elements.len() > query.max_rows || bytes > max_response_bytes(query);
            match next {
                Some(next) if !is_full => {
                    if page.is_linked() && !self.settings.has_below(&next) {
                        let message = "the next page is not below the base URL of the adapter";
                        return Err(Error::new(ErrorKind::Denied, message).with_source(next.to_url()));
                    }
                    url = next;
                }
                next => {
                    let rows = within_limits(Json::Array(elements), next.is_some(), bytes, query, &prepared)?;
                    return Ok(Rows { keep_s: most_s, ..rows });
                }
            }
        }
    }

    /// The URL of a request.
    fn url(&self, prepared: &Prepared) -> Result<FetchUrl> {
        FetchUrl::parse(&format!("{}{}", self.settings.base, prepared.target))
    }

    async fn answer(&self, query: &Query<'_>, prepared: &Prepared, url: &FetchUrl, key: Option<&str>) -> Result<Answer> {
        let passing = Passing::default();
        let effect = Effect { reads: prepared.reads, returns: true };
        let may_repeat = prepared.reads || key.is_some();
        self.retry.repeat(query, effect, may_repeat, async || self.attempt(query, prepared, url.clone(), key, &passing).await).await
    }

    async fn attempt(
        &self,
        query: &Query<'_>,
        prepared: &Prepared,
        mut url: FetchUrl,
        key: Option<&str>,
        passing: &Passing,
    ) -> Result<Answer, StatementFailure> {
        // The first URL is the author's, and a value in it names no other path.
        let mut is_own = true;
        for _ in 0..=MOST_REDIRECTS {
            // What a caller may see is kept for nobody.
            let is_shared = is_own && query.session.is_empty() && prepared.method == "GET";
            let known = is_shared.then(|| prepared.known_as(&url));
            let kept = known.as_deref().and_then(|known| self.validated.find(known));
            let sent = Sent { key, tag: kept.as_ref().map(|kept| kept.tag.as_str()) };
            let response = self.send(query, prepared, &url, is_own, sent).await?;
            match response.status {
                200..=299 => {
                    let answer = answered(url, response, prepared.reads)?;
                    if let Some(known) = known {
                        self.validated.keep(known, &answer.headers, &answer.body, answer.bytes);
                    }
                    return Ok(answer);
                }
                304 if let Some(kept) = kept => {
                    return Ok(Answer { url, headers: kept.headers.clone(), body: Rc::clone(&kept.body), bytes: kept.bytes });
                }
                301 | 302 | 303 | 307 | 308 if let Some(location) = response.headers.first("location") => {
                    url = self.redirected(prepared, &url, location, response.status)?;
                    is_own = self.settings.has_below(&url);
                }
                // The token may have been taken back; nothing was done.
                401 if is_own && self.tokens.forget(query) && !passing.had_token.replace(true) => {
                    return Err(StatementFailure::not_executed(failure::of_answer(&response, "the API")));
                }
                429 | 502 | 503 | 504 if prepared.reads && !passing.has_waited.replace(true) => {
                    let error = failure::of_answer(&response, "the API");
                    let pause_ms = response.headers.first("retry-after").map_or(Some(0), |after| self.pause_ms(after));
                    return Err(match pause_ms {
                        Some(pause_ms) if self.retry.pause(query, pause_ms).await => StatementFailure::not_executed(error),
                        _ => StatementFailure::last(error),
                    });
                }
                _ => return Err(StatementFailure::last(failure::of_answer(&response, "the API"))),
            }
        }
        Err(StatementFailure::last(Error::new(ErrorKind::Protocol, format!("the API redirects more than {MOST_REDIRECTS} times"))))
    }

    /// How long an API wants to be left alone: a number of seconds, or a date
    /// ([RFC 9110](https://www.rfc-editor.org/rfc/rfc9110#field.retry-after)).
    fn pause_ms(&self, after: &str) -> Option<u64> {
        if let Ok(seconds) = after.trim().parse::<u64>() {
            return Some(seconds.saturating_mul(1000));
        }
        let at = httpdate::parse_http_date(after.trim()).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(u64::try_from(at.as_millis()).ok()?.saturating_sub(self.clock.now_ms()))
    }

    /// Where a redirect leads to, if it is followed.
    fn redirected(&self, prepared: &Prepared, url: &FetchUrl, location: &str, status: u16) -> Result<FetchUrl, StatementFailure> {
        let refused = |kind, why: &str| {
            let message = format!("the API answered {}, and {why}", failure::named(status));
            Err(StatementFailure::last(Error::new(kind, message).with_source(location)))
        };
        if !matches!(prepared.method, "GET" | "HEAD") {
            return refused(ErrorKind::Protocol, "only a redirect of `GET` and `HEAD` is followed");
        }
        let Ok(next) = url.join(location) else { return refused(ErrorKind::Protocol, "the redirect does not lead to a URL") };
        if self.settings.has_below(&next) || self.settings.redirects.iter().any(|origin| origin.same_origin(&next)) {
            return Ok(next);
        }
        refused(ErrorKind::Denied, "the redirect leads to a place that is neither below the base URL of the adapter nor in its `redirects`")
    }

    /// Sends one request. Only the API itself gets credentials and the author's header fields.
    async fn send(
        &self,
        query: &Query<'_>,
        prepared: &Prepared,
        url: &FetchUrl,
        is_own: bool,
        Sent { key, tag }: Sent<'_>,
    ) -> Result<HttpResponse, StatementFailure> {
        let mut headers = Headers::new();
        let mut target = url.to_url();
        if is_own {
            for (name, value) in prepared.headers.iter() {
                headers.append(name, value);
            }
            for (name, value) in self.settings.headers.iter().filter(|(name, _)| prepared.headers.first(name).is_none()) {
                headers.append(name, value.as_str());
            }
            if let (Some(name), Some(key)) = (&self.settings.idempotency_header, key) {
                headers.append(name, key);
            }
            if let Some(tag) = tag {
                headers.append("if-none-match", tag);
            }
            match &self.settings.credentials {
                Credentials::None => {}
                Credentials::Header(name, value) => headers.append(name, value.expose().as_str()),
                Credentials::Query(name, value) => {
                    let separator = if target.contains('?') { '&' } else { '?' };
                    target = format!("{target}{separator}{}={}", percent_coded(name), percent_coded(value.expose()));
                }
                // Nobody calls: the API is asked whether it is there.
                Credentials::Client(client) if client.exchanges && query.session.is_empty() => {}
                Credentials::Client(client) => {
                    let token = self.tokens.token(client, &*self.http, &*self.clock, query, self.settings.public_only).await?;
                    headers.append("authorization", format!("Bearer {}", token.expose()));
                }
            }
        }
        for (name, value) in [("accept", "application/json"), ("user-agent", "millrace")] {
            if headers.first(name).is_none() {
                headers.append(name, value);
            }
        }
        let _slot = match self.under_way.free_slot() {
            Some(slot) => slot,
            None => {
                let turn = within(&*self.clock, query.deadline_ms, self.under_way.slot()).await;
                turn.ok_or_else(|| StatementFailure::last(failure::timed_out()))?
            }
        };
        let request = HttpRequest {
            method: prepared.method.to_owned(),
            url: target,
            headers,
            body: prepared.body.clone(),
            deadline_ms: query.deadline_ms,
            max_response_bytes: max_response_bytes(query),
            public_only: self.settings.public_only,
        };
        self.http.send(request).await.map_err(failure::of_client)
    }
}

/// What is sent beside a request.
#[derive(Clone, Copy, Default)]
struct Sent<'a> {
    /// What the API knows a call by.
    key: Option<&'a str>,
    /// The `ETag` of the answer that is kept.
    tag: Option<&'a str>,
}

/// What was tried already in the attempts of one request.
#[derive(Default)]
struct Passing {
    has_waited: Cell<bool>,
    had_token: Cell<bool>,
}

/// The body of a success: JSON, text, or nothing.
fn answered(url: FetchUrl, response: HttpResponse, reads: bool) -> Result<Answer, StatementFailure> {
    let HttpResponse { headers, body, .. } = response;
    let content_type = headers.first("content-type").unwrap_or_default().to_ascii_lowercase();
    let bytes = body.len();
    let parsed = if body.is_empty() {
        Ok(Json::Null)
    } else if content_type.starts_with("text/") && !content_type.starts_with("text/json") {
        String::from_utf8(body).map(Json::String).map_err(|_| "text that is not UTF-8".to_owned())
    } else {
        serde_json::from_slice(&exact_json(&body)).map_err(|_| match content_type.contains("json") {
            true => "JSON that is broken, or nested too deeply".to_owned(),
            false => "neither JSON nor text".to_owned(),
        })
    };
    match parsed {
        Ok(body) => Ok(Answer { url, headers, body: Rc::new(body), bytes }),
        // It may have been cut off on its way.
        Err(what) if reads => Err(StatementFailure::unknown(Error::new(ErrorKind::Protocol, format!("the API answered with {what}")))),
        Err(what) => {
            let message = format!("the API answered with {what}; the request took effect");
            Err(StatementFailure::last(Error::new(ErrorKind::Protocol, message)))
        }
    }
}

/// The part of an answer that is the result; `None` where that is all of it.
fn selected(prepared: &Prepared, body: &Json) -> Result<Option<Json>> {
    let Some(selection) = &prepared.result else { return Ok(None) };
    let effect = if prepared.reads { "" } else { "; the request took effect" };
    let wrong = |what: &str| Error::new(ErrorKind::Protocol, format!("{what}{effect}"));
    let found = selection.of(body).map_err(|why| wrong(&format!("the answer of the API does not fit `result`: {why}")))?;
    found.map(|found| Some(found.into_owned())).ok_or_else(|| wrong("the answer of the API does not have what `result` names"))
}

/// Holds a result to the query's limits. `has_more`: whether there are further pages.
fn within_limits(mut document: Json, has_more: bool, bytes: usize, query: &Query<'_>, prepared: &Prepared) -> Result<Rows> {
    let mut truncated = has_more;
    let mut too_large = None;
    if let Json::Array(elements) = &mut document
        && elements.len() > query.max_rows
    {
        if query.cuts() {
            elements.truncate(query.max_rows);
            truncated = true;
        } else {
            too_large = Some(format!("the result has more than `max_rows`, {} elements", query.max_rows));
        }
    }
    // The body is at least as long as what was taken from it.
    if bytes > query.max_bytes && Value::Json(document.clone()).size() > query.max_bytes {
        too_large = Some(format!("the result has more than {} bytes", query.max_bytes));
    }
    match too_large {
        None => Ok(Rows { document: Some(document), truncated, ..Rows::default() }),
        Some(what) => Err(Error::new(ErrorKind::TooLarge, if prepared.reads { what } else { format!("{what}; the request took effect") })),
    }
}

impl Connector for Http {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.run(&query, None).await })
    }

    fn write_once<'a>(&'a self, query: Query<'a>, record: CallRecord<'a>) -> LocalFuture<'a, Result<RecordedWrite>> {
        Box::pin(async move {
            if self.settings.idempotency_header.is_none() {
                let message = "the adapter has no `idempotency_header` by which the API knows a call that is sent again";
                return Err(Error::new(ErrorKind::Configuration, message));
            }
            self.run(&query, Some(record.key)).await.map(RecordedWrite::Made)
        })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move {
            let (query, prepared) = (own_query("", deadline_ms), Prepared::reading("/"));
            let url = self.url(&prepared)?;
            let attempt = async || {
                let response = self.send(&query, &prepared, &url, true, Sent::default()).await?;
                match response.status {
                    // Nobody calls, so there is no token to exchange.
                    401 if self.settings.is_for_callers() => Ok(()),
                    // What the API has at its base URL is its own affair.
                    401 | 407 | 500 | 502..=504 => Err(StatementFailure::last(failure::of_answer(&response, "the API"))),
                    _ => Ok(()),
                }
            };
            self.retry.run_safe(&query, attempt).await
        })
    }
}
