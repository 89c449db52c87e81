//! Tokens of OAuth 2 for the client itself
//! ([RFC 6749](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)).

use std::cell::RefCell;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    Error, ErrorKind, Json,
    headers::Headers,
    ports::{Clock, HttpClient, HttpRequest, Query},
    secret::Secret,
    url::percent_coded,
};

use super::{failure, settings::Client};
use crate::shared::{Pool, StatementFailure, within};

/// A token is used no longer when it has so little time, in milliseconds.
const MARGIN_MS: u64 = 30_000;
/// How long a token is used whose server names no time, in seconds.
const DEFAULT_S: u64 = 300;
/// The longest answer of an authorization server, in bytes.
const LONGEST_ANSWER: usize = 65_536;
/// Who is meant in messages.
const SERVER: &str = "the authorization server of the API";

/// The token of an isolate, which all calls use.
pub(super) struct Tokens {
    kept: RefCell<Option<Token>>,
    /// One call asks for a token, and others wait for it.
    turn: Pool<()>,
}

struct Token {
    value: Secret<String>,
    until_ms: u64,
}

impl Default for Tokens {
    fn default() -> Self {
        Self { kept: RefCell::new(None), turn: Pool::of(1) }
    }
}

impl Tokens {
    /// Forgets the token; whether there was one.
    pub(super) fn forget(&self) -> bool {
        self.kept.borrow_mut().take().is_some()
    }

    /// The token, or a new one.
    ///
    /// # Errors
    /// The authorization server gives none. Nothing was sent to the API.
    pub(super) async fn token(
        &self,
        client: &Client,
        http: &dyn HttpClient,
        clock: &dyn Clock,
        query: &Query<'_>,
        public_only: bool,
    ) -> Result<Secret<String>, StatementFailure> {
        if let Some(token) = self.kept(clock) {
            return Ok(token);
        }
        let turn = within(clock, query.deadline_ms, self.turn.slot()).await;
        let _turn = turn.ok_or_else(|| StatementFailure::last(failure::timed_out()))?;
        if let Some(token) = self.kept(clock) {
            return Ok(token);
        }
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: client.token_url.clone(),
            headers: headers(client),
            body: body(client).into_bytes(),
            deadline_ms: query.deadline_ms,
            max_response_bytes: LONGEST_ANSWER,
            public_only,
        };
        let response = http.send(request).await.map_err(|error| {
            let StatementFailure { error, outcome } = failure::of_client(error);
            let message = error.message.replace("the API", SERVER);
            StatementFailure { error: Error { message, ..error }, outcome }.before_the_end()
        })?;
        if response.status != 200 {
            // What it says of our client is not for the rules of the app.
            let error = failure::of_answer(&response, SERVER);
            let kind = if matches!(response.status, 400..=403) { ErrorKind::Credentials } else { error.kind };
            return Err(StatementFailure::last(Error { kind, answer: None, ..error }));
        }
        let Some((value, seconds)) = token_of(&response.body) else {
            return Err(StatementFailure::last(Error::new(ErrorKind::Protocol, format!("{SERVER} did not answer with a bearer token"))));
        };
        let until_ms = clock.now_ms().saturating_add(seconds.saturating_mul(1000));
        let token = Token { value: Secret::new(value), until_ms };
        let value = token.value.clone();
        *self.kept.borrow_mut() = Some(token);
        Ok(value)
    }

    fn kept(&self, clock: &dyn Clock) -> Option<Secret<String>> {
        let kept = self.kept.borrow();
        let token = kept.as_ref().filter(|token| clock.now_ms().saturating_add(MARGIN_MS) < token.until_ms)?;
        Some(token.value.clone())
    }
}

fn headers(client: &Client) -> Headers {
    let mut headers = Headers::new();
    headers.append("accept", "application/json");
    headers.append("content-type", "application/x-www-form-urlencoded");
    headers.append("user-agent", "millrace");
    let login = format!("{}:{}", percent_coded(&client.id), percent_coded(client.secret.expose()));
    headers.append("authorization", format!("Basic {}", STANDARD.encode(login)));
    headers
}

fn body(client: &Client) -> String {
    let mut body = "grant_type=client_credentials".to_owned();
    for (name, value) in [("scope", &client.scope), ("audience", &client.audience)] {
        if let Some(value) = value {
            body.push_str(&format!("&{name}={}", percent_coded(value)));
        }
    }
    body
}

/// A token that a header field can hold, and for how many seconds it is good.
fn token_of(body: &[u8]) -> Option<(String, u64)> {
    let Json::Object(mut answer) = serde_json::from_slice(body).ok()? else { return None };
    let is_bearer = answer.get("token_type").and_then(Json::as_str).is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    // Some servers write the number as a text.
    let seconds = match answer.get("expires_in") {
        Some(Json::String(text)) => text.parse().ok(),
        Some(number) => number.as_u64(),
        None => None,
    };
    match answer.remove("access_token") {
        Some(Json::String(token)) if is_bearer && !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Some((token, seconds.unwrap_or(DEFAULT_S)))
        }
        _ => None,
    }
}
