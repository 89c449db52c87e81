//! A response of the core → what the front end takes.
//!
//! Nothing is refused but what is too long: Lambda lets 6,291,556 bytes of JSON through, and an
//! invocation whose answer is longer fails without a word to the caller. Such an answer is replaced
//! by one that says so.
//!
//! Protocol: [function URL and HTTP
//! API](https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-response-payload),
//! [REST
//! API](https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html#api-gateway-simple-proxy-for-lambda-output-format),
//! [ALB](https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html#respond-to-load-balancer).

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Write},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use millrace_core::headers::Headers;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::event::Form;

/// The longest answer of an invocation, in bytes of JSON.
pub(crate) const LIMIT: usize = 6_291_556;

/// A response with its whole body; may go to another thread.
#[derive(Debug)]
pub(crate) struct BufferedResponse {
    pub(crate) status: u16,
    pub(crate) headers: Headers,
    pub(crate) body: Vec<u8>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Payload<'a> {
    status_code: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<BTreeMap<&'a str, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    multi_value_headers: Option<BTreeMap<&'a str, Vec<&'a str>>>,
    /// Always there where it may be: `cargo lambda` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cookies: Option<Vec<&'a str>>,
    body: Cow<'a, str>,
    is_base64_encoded: bool,
}

impl BufferedResponse {
    /// An error that the core does not know of.
    pub(crate) fn failure(status: u16, code: i32, message: &str) -> Self {
        let body = serde_json::json!({ "jsonrpc": "2.0", "error": { "code": code, "message": message } });
        Self { status, headers: [("content-type", "application/json")].into_iter().collect(), body: body.to_string().into() }
    }

    /// The answer in a front end's form.
    ///
    /// # Errors
    /// The answer cannot be written as JSON, which none is.
    pub(crate) fn payload(&self, form: Form) -> serde_json::Result<Box<RawValue>> {
        // A character takes six bytes of JSON at the most.
        if self.body.len() > LIMIT / 6 && self.measure(form)? > LIMIT {
            tracing::error!(bytes = self.body.len(), limit = LIMIT, "an answer is longer than Lambda allows");
            let message = format!(
                "internal error: the answer is longer than the {LIMIT} bytes that AWS Lambda passes; ask for less at a time, or stream \
                 responses"
            );
            return serde_json::value::to_raw_value(&Self::failure(500, -32603, &message).shaped(form));
        }
        serde_json::value::to_raw_value(&self.shaped(form))
    }

    fn measure(&self, form: Form) -> serde_json::Result<usize> {
        let mut meter = Meter(0);
        serde_json::to_writer(&mut meter, &self.shaped(form))?;
        Ok(meter.0)
    }

    fn shaped(&self, form: Form) -> Payload<'_> {
        let (body, is_base64_encoded) = match str::from_utf8(&self.body) {
            Ok(text) => (Cow::Borrowed(text), false),
            Err(_) => (Cow::Owned(BASE64_STANDARD.encode(&self.body)), true),
        };
        let cookies = (form == Form::V2).then(|| self.headers.all("set-cookie").collect());
        let is_lists = matches!(form, Form::V1 | Form::AlbLists);
        Payload {
            status_code: self.status,
            status_description: matches!(form, Form::Alb | Form::AlbLists).then(|| description(self.status)),
            headers: (!is_lists).then(|| self.joined(form)),
            multi_value_headers: is_lists.then(|| self.lists()),
            cookies,
            body,
            is_base64_encoded,
        }
    }

    /// One value a field; those of a repeated one stand in a list with commas.
    fn joined(&self, form: Form) -> BTreeMap<&str, String> {
        let mut fields = BTreeMap::new();
        for (name, value) in self.headers.iter().filter(|(name, _)| form != Form::V2 || *name != "set-cookie") {
            fields.entry(name).and_modify(|found: &mut String| *found = format!("{found}, {value}")).or_insert_with(|| value.to_owned());
        }
        fields
    }

    fn lists(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut fields = BTreeMap::<_, Vec<_>>::new();
        for (name, value) in self.headers.iter() {
            fields.entry(name).or_default().push(value);
        }
        fields
    }
}

/// `404 Not Found`, as a load balancer wants it.
fn description(status: u16) -> String {
    let reason = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    format!("{status} {}", reason.unwrap_or("Unknown"))
}

/// Counts what is written.
struct Meter(usize);

impl Write for Meter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
