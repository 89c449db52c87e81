//! An API of any kind, for groups of cases with connector `http`: it answers what it was asked.

use std::{collections::BTreeMap, sync::OnceLock};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value as Json, json};

use crate::scripted::{Received, Reply, Scripted};

/// The elements of its lists.
const ITEMS: usize = 7;
/// How many a page has.
const PAGE: usize = 3;

/// The address of the API of this process, `http://127.0.0.1:PORT`.
#[must_use]
pub fn shared() -> String {
    static SHARED: OnceLock<Scripted> = OnceLock::new();
    format!("http://{}", SHARED.get_or_init(|| Scripted::start(|_, request| answer(request))).address)
}

/// What it answers.
#[must_use]
pub fn answer(request: &Received) -> Reply {
    let mut words = request.line.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let number = |name: &str| {
        let value = query.split('&').filter_map(|field| field.split_once('=')).find(|(known, _)| *known == name)?.1;
        value.parse::<usize>().ok()
    };
    let whole = |status, json: &Json| Reply::Whole(status, "application/json", json.to_string());
    let page =
        |start: usize| (start + 1..=ITEMS.min(start + PAGE)).map(|id| json!({"id": id, "name": format!("item {id}")})).collect::<Vec<_>>();
    let redirect = |location: &str| Reply::Fields(302, format!("location: {location}"), String::new());
    match path {
        "/token" if request.body.contains("scope=read") => {
            whole(200, &json!({"access_token": "t-o-k", "token_type": "Bearer", "expires_in": 3600}))
        }
        "/exchange" => match exchanged(&request.body) {
            Some(token) => whole(200, &json!({"access_token": token, "issued_token_type": ACCESS_TOKEN, "token_type": "Bearer"})),
            None => whole(400, &json!({"error": "invalid_request", "error_description": "hunter2"})),
        },
        "/token" => whole(400, &json!({"error": "invalid_scope", "error_description": "hunter2"})),
        "/v1/cursor" => {
            let start = number("after").unwrap_or(0);
            let next = (start + PAGE < ITEMS).then(|| (start + PAGE).to_string());
            whole(200, &json!({"items": page(start), "paging": {"next": next}}))
        }
        "/v1/linked" => {
            let start = number("start").unwrap_or(0);
            let link =
                if start + PAGE < ITEMS { format!("link: </v1/linked?start={}>; rel=\"next\"", start + PAGE) } else { "x: y".to_owned() };
            Reply::Fields(200, format!("content-type: application/json\n{link}"), Json::from(page(start)).to_string())
        }
        "/v1/led-away" => whole(200, &json!({"items": page(0), "next": "http://127.0.0.1:1/v1/led-away"})),
        "/v1/numbered" => whole(200, &page((number("page").unwrap_or(1) - 1) * PAGE).into()),
        "/v1/offset" => whole(200, &page(number("start").unwrap_or(0)).into()),
        "/v1/numbers" => {
            Reply::Whole(200, "application/json", "{\"big\":9007199254740993,\"long\":0.1234567890123456789,\"one\":1.0}".to_owned())
        }
        "/v1/text" => Reply::Whole(200, "text/plain; charset=utf-8", "a, b\nc".to_owned()),
        "/v1/bytes" => Reply::Whole(200, "application/octet-stream", "\u{1}\u{2}".to_owned()),
        "/v1/empty" => Reply::Fields(204, "x: y".to_owned(), String::new()),
        "/v1/broken" => Reply::Whole(200, "application/json", "{\"a\":".to_owned()),
        "/v1/moved" => redirect("/v1/echo/moved?q=1"),
        "/v1/elsewhere" => redirect("http://127.0.0.1:1/v1/echo"),
        "/v1/up" => redirect("/secret"),
        _ => match path.strip_prefix("/v1/status/").and_then(|status| status.parse().ok()) {
            Some(status) => whole(status, &json!({"reason": "locked", "said": "sesame-of-the-server"})),
            None => whole(200, &echo(method, target, request)),
        },
    }
}

/// The type of the tokens that are exchanged.
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// The token of the API for the caller whose own token a form has, `for-ada`; `None` for `eve`, and
/// for a form that is not as [RFC 8693](https://www.rfc-editor.org/rfc/rfc8693#section-2.1) has it.
fn exchanged(form: &str) -> Option<String> {
    let fields: BTreeMap<String, String> = url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
    for (name, value) in [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token_type", ACCESS_TOKEN),
        ("requested_token_type", ACCESS_TOKEN),
        ("audience", "shop"),
        ("scope", "read"),
    ] {
        fields.get(name).filter(|sent| *sent == value)?;
    }
    let claims = URL_SAFE_NO_PAD.decode(fields.get("subject_token")?.split('.').nth(1)?).ok()?;
    let claims: Json = serde_json::from_slice(&claims).ok()?;
    claims["sub"].as_str().filter(|subject| *subject != "eve").map(|subject| format!("for-{subject}"))
}

/// What arrived, as far as it is the same from every host. Credentials are turned round: no answer
/// carries a secret.
fn echo(method: &str, target: &str, request: &Received) -> Json {
    const SHOWN: [&str; 5] = ["accept", "accept-language", "authorization", "content-type", "idempotency-key"];
    let fields = request.head.lines().filter_map(|line| line.split_once(':'));
    let fields = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
    let turned = |text: &str| text.chars().rev().collect::<String>();
    let fields = fields.map(|(name, value)| {
        let is_secret = ["authorization", "x-api-key", "x-client"].contains(&name.as_str());
        let value = if is_secret { turned(&value) } else { value };
        (name, value)
    });
    let target = match target.split_once("api%20key=") {
        Some((before, key)) => format!("{before}api%20key={}", turned(key)),
        None => target.to_owned(),
    };
    let fields: BTreeMap<String, String> = fields.filter(|(name, _)| SHOWN.contains(&name.as_str()) || name.starts_with("x-")).collect();
    json!({"method": method, "target": target, "fields": fields, "body": request.body})
}
