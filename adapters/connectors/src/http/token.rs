//! Tokens of OAuth 2 for the client itself
//! ([RFC 6749](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)), and for a caller in exchange
//! for its own ([RFC 8693](https://www.rfc-editor.org/rfc/rfc8693#section-2.1)), which goes to the
//! authorization server and nowhere else.

use std::{cell::RefCell, collections::HashMap};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    Error, ErrorKind, Json,
    app::SESSION_TOKEN,
    headers::Headers,
    ports::{Clock, HttpClient, HttpRequest, Query},
    secret::Secret,
    url::percent_coded,
};

use millrace_languages::http::CLIENT_CREDENTIALS;
use sha2::{Digest as _, Sha256};

use super::{failure, settings::Client};
use crate::shared::{Pool, StatementFailure, within};

/// A token is used no longer when it has so little time, in milliseconds.
const MARGIN_MS: u64 = 30_000;
/// How long a token is used whose server names no time, in seconds.
const DEFAULT_S: u64 = 300;
/// The longest answer of an authorization server, in bytes.
const LONGEST_ANSWER: usize = 65_536;
/// How many callers' tokens are kept.
const MOST_TOKENS: usize = 1_000;
/// The type of the token that is sent, and of the one that is asked for.
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
/// Who is meant in messages.
const SERVER: &str = "the authorization server of the API";

/// The tokens of an isolate: the client's, or those of callers by the digests of their own.
pub(super) struct Tokens {
    kept: RefCell<HashMap<Owner, Token>>,
    /// One call asks for the token of the client, and others wait for it.
    turn: Pool<()>,
}

/// Whose a token is: `None` for the client, or the digest of a caller's own.
type Owner = Option<[u8; 32]>;

struct Token {
    value: Secret<String>,
    until_ms: u64,
}

impl Default for Tokens {
    fn default() -> Self {
        Self { kept: RefCell::default(), turn: Pool::of(1) }
    }
}

/// The caller's own token, where the adapter exchanges it.
pub(super) fn of_caller<'q>(query: &'q Query<'_>) -> Option<&'q str> {
    query.session.iter().find(|setting| setting.name == SESSION_TOKEN).map(|setting| setting.value.as_str())
}

fn owner(query: &Query<'_>) -> Owner {
    of_caller(query).map(|token| Sha256::digest(token).into())
}

impl Tokens {
    /// Forgets the token of a query; whether there was one.
    pub(super) fn forget(&self, query: &Query<'_>) -> bool {
        self.kept.borrow_mut().remove(&owner(query)).is_some()
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
        let owner = owner(query);
        if let Some(token) = self.kept(owner, clock) {
            return Ok(token);
        }
        // Callers do not wait for the tokens of others.
        let _turn = match owner {
            Some(_) => None,
            None => {
                let turn = within(clock, query.deadline_ms, self.turn.slot()).await;
                Some(turn.ok_or_else(|| StatementFailure::last(failure::timed_out()))?)
            }
        };
        if let Some(token) = self.kept(owner, clock) {
            return Ok(token);
        }
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: client.token_url.clone(),
            headers: headers(client),
            body: body(client, of_caller(query)).into_bytes(),
            deadline_ms: query.deadline_ms,
            max_response_bytes: LONGEST_ANSWER,
            public_only,
        };
        let response = http.send(request).await.map_err(|error| {
            let StatementFailure { error, outcome } = failure::of_client(error);
            let message = error.message.replace("the API", SERVER);
            StatementFailure { error: error.with_message(message), outcome }.before_the_end()
        })?;
        if response.status != 200 {
            // What it says of our client is not for the rules of the app.
            let mut error = failure::of_answer(&response, SERVER);
            error.answer = None;
            if matches!(response.status, 400..=403) {
                error.kind = ErrorKind::Credentials;
            }
            return Err(StatementFailure::last(error));
        }
        let Some((value, seconds)) = token_of(&response.body) else {
            return Err(StatementFailure::last(Error::new(ErrorKind::Protocol, format!("{SERVER} did not answer with a bearer token"))));
        };
        let until_ms = clock.now_ms().saturating_add(seconds.saturating_mul(1000));
        let token = Token { value: Secret::new(value), until_ms };
        let value = token.value.clone();
        self.keep(owner, token, clock);
        Ok(value)
    }

    fn keep(&self, owner: Owner, token: Token, clock: &dyn Clock) {
        let mut kept = self.kept.borrow_mut();
        if kept.len() >= MOST_TOKENS {
            kept.retain(|_, token| token.is_good(clock));
        }
        // Whoever is beyond that asks for a token each time.
        if kept.len() < MOST_TOKENS {
            kept.insert(owner, token);
        }
    }

    fn kept(&self, owner: Owner, clock: &dyn Clock) -> Option<Secret<String>> {
        let kept = self.kept.borrow();
        kept.get(&owner).filter(|token| token.is_good(clock)).map(|token| token.value.clone())
    }
}

impl Token {
    fn is_good(&self, clock: &dyn Clock) -> bool {
        clock.now_ms().saturating_add(MARGIN_MS) < self.until_ms
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

fn body(client: &Client, subject: Option<&str>) -> String {
    let mut fields = match subject {
        None => vec![("grant_type", CLIENT_CREDENTIALS)],
        Some(token) => vec![
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("subject_token", token),
            ("subject_token_type", ACCESS_TOKEN),
            ("requested_token_type", ACCESS_TOKEN),
        ],
    };
    fields.extend(client.asks.iter().map(|(name, value)| (*name, value.as_str())));
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", percent_coded(value))).collect();
    fields.join("&")
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
