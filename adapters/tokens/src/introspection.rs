//! Tokens that only their issuer can read: its server is asked ([RFC
//! 7662](https://www.rfc-editor.org/rfc/rfc7662)), and the answer kept.
//!
//! | answer | kept |
//! |---|---|
//! | the token is active | as long as the policy says, and at most until the token ends |
//! | it is not | [`INACTIVE_MS`] |
//! | none, or one that is not understood | not at all: the call is refused |
//!
//! Answers are kept in the isolate's memory only, by a digest of the token and of what the policy
//! says.

use std::{cell::RefCell, collections::VecDeque, rc::Rc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    ErrorKind, Json,
    headers::Headers,
    ports::{Claims, Clock, HttpClient, HttpRequest, HttpResponse, Introspection, TokenPolicy, TokenRefusal},
    url::percent_coded_except,
};
use sha2::{Digest as _, Sha256};

use crate::{claims, compact::LONGEST, provider::check_url, strict_json};

/// How long a token that is not active is known as such, in milliseconds.
const INACTIVE_MS: u64 = 10_000;
/// How long the server may take, in milliseconds.
const ASK_MS: u64 = 5_000;
/// The longest answer, in bytes.
const LONGEST_ANSWER: usize = 64 << 10;
/// How many answers are kept.
const MOST_KEPT: usize = 256;
/// How many tokens are asked about at the same time.
const MOST_ASKED: usize = 32;

/// What is known of a token.
#[derive(Clone, Debug)]
struct Kept {
    digest: [u8; 32],
    /// What it says; `None` where it is not active.
    claims: Option<Rc<Claims>>,
    until_ms: u64,
}

/// The tokens of an isolate that were asked about.
pub(crate) struct IntrospectedTokens {
    http: Rc<dyn HttpClient>,
    clock: Rc<dyn Clock>,
    kept: RefCell<VecDeque<Kept>>,
    /// Until when each of those who ask may do so: whoever is never heard of again is not counted
    /// for ever.
    asked: RefCell<Vec<u64>>,
}

/// One who asks until then; no more, when dropped.
struct Asking<'a>(&'a RefCell<Vec<u64>>, u64);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut asked = self.0.borrow_mut();
        if let Some(place) = asked.iter().position(|until_ms| *until_ms == self.1) {
            asked.swap_remove(place);
        }
    }
}

impl IntrospectedTokens {
    pub(crate) fn new(http: Rc<dyn HttpClient>, clock: Rc<dyn Clock>) -> Self {
        Self { http, clock, kept: RefCell::default(), asked: RefCell::default() }
    }

    /// What a token says, which its issuer calls active.
    ///
    /// # Errors
    /// As [`TokenVerifier`](millrace_core::ports::TokenVerifier); a token that is not active may be
    /// for somebody else.
    pub(crate) async fn claims(
        &self,
        token: &str,
        server: Introspection<'_>,
        policy: &TokenPolicy<'_>,
        deadline_ms: u64,
    ) -> Result<Rc<Claims>, TokenRefusal> {
        // RFC 6750, section 2.1: what else was sent is not a bearer token, and nobody is asked.
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if token.is_empty() || token.len() > LONGEST || !token.bytes().all(is_token) {
            return Err(TokenRefusal::Foreign("what was sent is not a bearer token".to_owned()));
        }
        let digest = digest(token, server, policy.issuer);
        let found = match self.known(&digest) {
            Some(found) => found,
            None => self.ask(token, server, policy, digest, deadline_ms).await?,
        };
        let Some(found) = found else {
            return Err(TokenRefusal::Foreign("the server of the issuer says that the token is not active".to_owned()));
        };
        claims::check_issuer(&found, policy)?;
        claims::check(&found, policy, self.clock.now_ms())?;
        Ok(found)
    }

    fn known(&self, digest: &[u8; 32]) -> Option<Option<Rc<Claims>>> {
        let now_ms = self.clock.now_ms();
        let kept = self.kept.borrow();
        kept.iter().rev().find(|kept| kept.digest == *digest && now_ms < kept.until_ms).map(|kept| kept.claims.clone())
    }

    async fn ask(
        &self,
        token: &str,
        server: Introspection<'_>,
        policy: &TokenPolicy<'_>,
        digest: [u8; 32],
        deadline_ms: u64,
    ) -> Result<Option<Rc<Claims>>, TokenRefusal> {
        check_url(server.endpoint).map_err(|why| TokenRefusal::Operator(format!("`endpoint` of the policy {why}")))?;
        let now_ms = self.clock.now_ms();
        let deadline_ms = deadline_ms.min(now_ms.saturating_add(ASK_MS));
        {
            let mut asked = self.asked.borrow_mut();
            asked.retain(|until_ms| now_ms <= *until_ms);
            if asked.len() >= MOST_ASKED {
                return Err(TokenRefusal::Unavailable(format!("{MOST_ASKED} other tokens are being asked about")));
            }
            asked.push(deadline_ms);
        }
        let _asking = Asking(&self.asked, deadline_ms);
        let request = request(token, server, deadline_ms);
        let response = self.http.send(request).await.map_err(|error| {
            let reason = format!("the server that is asked about tokens does not answer: {}", error.message);
            if error.kind == ErrorKind::TooLarge { TokenRefusal::Operator(reason) } else { TokenRefusal::Unavailable(reason) }
        })?;
        let mut found = answer(&response)?;
        let now_ms = self.clock.now_ms();
        let until_ms = match &mut found {
            None => now_ms.saturating_add(INACTIVE_MS),
            Some(claims) => {
                // RFC 7662 leaves both out where the server has nothing to say: it is the issuer's
                // own, and the token active now.
                claims.entry("iss").or_insert_with(|| policy.issuer.into());
                let keep_ms = u64::from(server.keep_s) * 1_000;
                claims.entry("exp").or_insert_with(|| (now_ms.div_ceil(1_000) + u64::from(server.keep_s.max(1))).into());
                let end_ms = claims.get("exp").and_then(Json::as_f64).map_or(0, |end_s| (end_s * 1e3) as u64);
                now_ms.saturating_add(keep_ms).min(end_ms)
            }
        };
        let claims = found.map(Rc::new);
        let mut kept = self.kept.borrow_mut();
        kept.retain(|kept| kept.digest != digest);
        if kept.len() >= MOST_KEPT {
            // Whoever sends tokens that mean nothing pushes out no others.
            let place = kept.iter().position(|kept| kept.claims.is_none()).unwrap_or(0);
            kept.remove(place);
        }
        kept.push_back(Kept { digest, claims: claims.clone(), until_ms });
        Ok(claims)
    }
}

/// What an answer is known by: all that decided what it says, and how long it is used.
fn digest(token: &str, server: Introspection<'_>, issuer: &str) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(server.keep_s.to_le_bytes());
    for part in [server.endpoint, server.client_id, issuer, token] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

fn request(token: &str, server: Introspection<'_>, deadline_ms: u64) -> HttpRequest {
    // RFC 6749, section 2.3.1: both are form-encoded before they become the user and the password.
    let client = format!("{}:{}", encoded(server.client_id), encoded(server.client_secret.expose()));
    let mut headers = Headers::new();
    headers.append("accept", "application/json");
    headers.append("authorization", format!("Basic {}", STANDARD.encode(client)));
    headers.append("content-type", "application/x-www-form-urlencoded");
    headers.append("user-agent", "millrace");
    HttpRequest {
        method: "POST".into(),
        url: server.endpoint.to_owned(),
        headers,
        body: format!("token={}&token_type_hint=access_token", encoded(token)).into_bytes(),
        deadline_ms,
        max_response_bytes: LONGEST_ANSWER,
        ..HttpRequest::default()
    }
}

/// What the server says; `None` where the token is not active.
fn answer(response: &HttpResponse) -> Result<Option<Claims>, TokenRefusal> {
    let operator = |why: String| Err(TokenRefusal::Operator(format!("the server that is asked about tokens {why}")));
    match response.status {
        200 => {}
        401 | 403 => return operator(format!("refuses `client_id` and `client_secret` of the policy (status {})", response.status)),
        status @ (408 | 425 | 429 | 500..) => {
            return Err(TokenRefusal::Unavailable(format!("the server that is asked about tokens answers with status {status}")));
        }
        status => return operator(format!("answers with status {status}")),
    }
    let mut claims = match strict_json::object(&response.body) {
        Ok(claims) => claims,
        Err(why) => return operator(format!("sends an answer that {why}")),
    };
    match claims.remove("active") {
        Some(Json::Bool(true)) => Ok(Some(claims)),
        Some(Json::Bool(false)) => Ok(None),
        _ => operator("sends an answer without `active`".to_owned()),
    }
}

/// A text in a form: `application/x-www-form-urlencoded`.
fn encoded(text: &str) -> String {
    percent_coded_except(text.as_bytes(), b"-._* ").replace(' ', "+")
}

#[cfg(test)]
mod tests {
    use millrace_core::{app::TokenAlgorithm, ports::TokenKeys, secret::Secret};
    use millrace_test_kit::{World, block_on};

    use super::*;

    /// Asks about a token as a policy of `keep_s` does, of a server that answers like this.
    struct Asked {
        world: Rc<World>,
        tokens: IntrospectedTokens,
        secret: Secret<String>,
    }

    impl Asked {
        fn new(status: u16, body: &'static str) -> Self {
            let world = World::new();
            world.now_ms.set(1_700_000_000_000);
            let ports = world.ports();
            let asked =
                Self { tokens: IntrospectedTokens::new(ports.http, ports.clock), world, secret: Secret::new("s:ecret é".to_owned()) };
            asked.answers(status, body);
            asked
        }

        fn answers(&self, status: u16, body: &'static str) {
            *self.world.on_http.borrow_mut() =
                Some(Box::new(move |_| Some(Ok(HttpResponse { status, headers: Headers::new(), body: body.into() }))));
        }

        fn claims(&self, token: &str) -> Result<Rc<Claims>, TokenRefusal> {
            let server = Introspection {
                endpoint: "https://login.example/introspect",
                client_id: "the app",
                client_secret: &self.secret,
                keep_s: 60,
            };
            let policy = TokenPolicy {
                issuer: "https://login.example",
                audience_claim: "aud",
                audiences: &["https://mcp.example/mcp".to_owned()],
                keys: TokenKeys::Introspection(server),
                algorithms: &[TokenAlgorithm::Rs256],
                leeway_s: 0,
            };
            block_on(self.tokens.claims(token, server, &policy, u64::MAX))
        }

        fn requests(&self) -> usize {
            self.world.sent.borrow().len()
        }
    }

    const GOOD: &str = r#"{"active":true,"sub":"u1","aud":"https://mcp.example/mcp","exp":1700000090}"#;

    #[test]
    fn the_server_is_asked_once_in_a_while() {
        let asked = Asked::new(200, GOOD);
        assert_eq!(asked.claims("opaque-1").unwrap()["sub"], "u1");
        assert_eq!(asked.claims("opaque-1").unwrap()["iss"], "https://login.example");
        assert_eq!(asked.requests(), 1);
        let request = asked.world.sent.borrow()[0].clone();
        assert_eq!(String::from_utf8_lossy(&request.body), "token=opaque-1&token_type_hint=access_token");
        let client = STANDARD.encode("the+app:s%3Aecret+%C3%A9");
        assert_eq!(request.headers.first("authorization"), Some(format!("Basic {client}").as_str()));
        // Its answer is kept for a minute.
        asked.world.now_ms.set(1_700_000_060_000);
        asked.claims("opaque-1").unwrap();
        assert_eq!(asked.requests(), 2);
        // At its end the token is refused, whatever the server said before.
        asked.world.now_ms.set(1_700_000_090_000);
        assert!(matches!(asked.claims("opaque-1"), Err(TokenRefusal::Caller(why)) if why.starts_with("the token ended")));
        // What was revoked is refused as soon as the server is asked again, and that is not at
        // once.
        asked.world.now_ms.set(1_700_000_010_000);
        asked.answers(200, r#"{"active":false}"#);
        assert!(matches!(asked.claims("opaque-2"), Err(TokenRefusal::Foreign(_))));
        let requests = asked.requests();
        assert!(matches!(asked.claims("opaque-2"), Err(TokenRefusal::Foreign(_))));
        assert_eq!(asked.requests(), requests, "a token that is not active is remembered, too");
        asked.answers(200, GOOD);
        asked.world.now_ms.set(1_700_000_020_000);
        assert!(asked.claims("opaque-2").is_ok());
    }

    #[test]
    fn nothing_but_a_good_answer_lets_anybody_in() {
        enum Of {
            Caller,
            Foreign,
            Operator,
            Nobody,
        }
        let cases = [
            (200, r#"{"active":true,"sub":"u1","exp":1700000090}"#, Of::Caller),
            (200, r#"{"active":true,"aud":"https://other.example","exp":1700000090}"#, Of::Caller),
            (200, r#"{"active":true,"aud":["https://mcp.example/mcp"],"exp":1699999999}"#, Of::Caller),
            (200, r#"{"active":true,"aud":"https://mcp.example/mcp","nbf":1700000100}"#, Of::Caller),
            (200, r#"{"active":true,"aud":"https://mcp.example/mcp","exp":"soon"}"#, Of::Caller),
            (200, r#"{"active":true,"aud":"https://mcp.example/mcp","iss":"https://evil.example"}"#, Of::Foreign),
            (200, r#"{"active":false,"aud":"https://mcp.example/mcp","exp":1700000090}"#, Of::Foreign),
            (200, r#"{"active":"true","aud":"https://mcp.example/mcp"}"#, Of::Operator),
            (200, r#"{"active":1,"aud":"https://mcp.example/mcp"}"#, Of::Operator),
            (200, r#"{"active":false,"active":true,"aud":"https://mcp.example/mcp"}"#, Of::Operator),
            (200, r#"{"aud":"https://mcp.example/mcp"}"#, Of::Operator),
            (200, "<html>", Of::Operator),
            (200, "", Of::Operator),
            (302, GOOD, Of::Operator),
            (401, r#"{"error":"invalid_client"}"#, Of::Operator),
            (404, "", Of::Operator),
            (429, GOOD, Of::Nobody),
            (500, GOOD, Of::Nobody),
        ];
        for (status, body, of) in cases {
            let refusal = Asked::new(status, body).claims("opaque").unwrap_err();
            let fits = match of {
                Of::Caller => matches!(refusal, TokenRefusal::Caller(_)),
                Of::Foreign => matches!(refusal, TokenRefusal::Foreign(_)),
                Of::Operator => matches!(refusal, TokenRefusal::Operator(_)),
                Of::Nobody => matches!(refusal, TokenRefusal::Unavailable(_)),
            };
            assert!(fits, "{status} {body}: {refusal:?}");
        }
        let asked = Asked::new(200, GOOD);
        for odd in ["", "a b", "a&token=x", "é", "a\u{0}", &"x".repeat(LONGEST + 1)] {
            assert!(matches!(asked.claims(odd), Err(TokenRefusal::Foreign(_))), "{odd:.20}");
        }
        assert_eq!(asked.requests(), 0, "what is not a token is not sent anywhere");
        for number in 0..1_000 {
            asked.claims(&format!("token-{number}")).unwrap();
        }
        assert_eq!(asked.tokens.kept.borrow().len(), MOST_KEPT);
        // What means nothing pushes out one that does, and then only its like.
        asked.answers(200, r#"{"active":false}"#);
        for number in 0..1_000 {
            asked.claims(&format!("junk-{number}")).unwrap_err();
        }
        let good = asked.tokens.kept.borrow().iter().filter(|kept| kept.claims.is_some()).count();
        assert_eq!((asked.tokens.kept.borrow().len(), good), (MOST_KEPT, MOST_KEPT - 1));
        assert!(asked.tokens.asked.borrow().is_empty());
    }
}
