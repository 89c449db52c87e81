//! What a script asks of the host and gets at once.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
};

use futures_util::future::AbortHandle;
use millrace_core::{
    Error, Json,
    ports::{
        Invocation, LocalFuture, LogLevel, LogReader,
        script_value::{self, ObjectLook},
    },
};
use millrace_engine::{Host, Message};
use serde_json::json;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use url::{Url, form_urlencoded, quirks};

use crate::{
    parts,
    wire::{self, say},
};

/// How many errors of the host are remembered with what the outside said, in one call.
const MAX_CAUSES: usize = 100;

/// The host of one call.
pub(crate) struct Bridge<'a> {
    pub(crate) invocation: &'a Invocation<'a>,
    /// The timers and requests that were taken back and that the call does not know of yet.
    pub(crate) cleared: RefCell<BTreeSet<i32>>,
    /// What ends the requests that were begun.
    pub(crate) requests: RefCell<HashMap<i32, AbortHandle>>,
    /// What the outside said of errors that the script was given, for the log.
    pub(crate) causes: RefCell<Vec<Option<String>>>,
}

impl<'a> Bridge<'a> {
    pub(crate) fn new(invocation: &'a Invocation<'a>) -> Self {
        Self { invocation, cleared: RefCell::default(), requests: RefCell::default(), causes: RefCell::default() }
    }

    /// An error as the prelude makes one of it, with what an API answered: the upstream's own words
    /// stay here.
    pub(crate) fn error(&self, error: &Error) -> Json {
        let mut causes = self.causes.borrow_mut();
        let cause = (causes.len() < MAX_CAUSES).then(|| {
            causes.push(error.source.as_deref().map(Into::into));
            causes.len() - 1
        });
        let mut told = json!({"message": error.message, "code": error.kind.as_str(), "cause": cause});
        if let Some(answer) = &error.answer {
            told["answer"] = answer.clone();
            told["bigs"] = wire::bigs(answer);
        }
        told
    }

    fn must_stop(&self) -> bool {
        self.invocation.cancel.is_tripped() || self.invocation.host.now_ms() >= self.invocation.deadline_ms
    }

    fn log(&self, line: &Json) {
        let reader = if line[0] == 0 { LogReader::Operator } else { LogReader::Caller };
        let level = match line[1].as_u64() {
            Some(0) => LogLevel::Debug,
            Some(2) => LogLevel::Warn,
            Some(3) => LogLevel::Error,
            _ => LogLevel::Info,
        };
        self.invocation.host.log(reader, level, line[2].as_str().unwrap_or_default());
    }

    fn require_input(&self, requests: Json) -> Json {
        match self.invocation.host.require_input(requests) {
            Ok(Some(answers)) => json!({"bigs": wire::bigs(&answers), "answers": answers}),
            Ok(None) => json!({}),
            Err(error) => json!({"error": self.error(&error)}),
        }
    }
}

impl Host for Bridge<'_> {
    fn say(&self, kind: i32, message: Message) -> Option<Message> {
        if let Some(answer) = pure(kind, &message) {
            return answer;
        }
        let said = wire::parse(&message.head)?;
        let host = self.invocation.host;
        let answer = match kind {
            say::LOG => {
                self.log(&said);
                return None;
            }
            say::PROGRESS => {
                host.progress(said[0].as_f64().unwrap_or_default(), said[1].as_f64(), said[2].as_str());
                return None;
            }
            say::TAKE_BACK => {
                let id = said.as_i64().and_then(|id| i32::try_from(id).ok())?;
                match self.requests.borrow_mut().remove(&id) {
                    Some(request) => request.abort(),
                    None => _ = self.cleared.borrow_mut().insert(id),
                }
                return None;
            }
            say::REQUIRE_INPUT => self.require_input(said),
            say::ABORTED => Json::Bool(self.must_stop()),
            _ => return None,
        };
        Some(Message { head: answer.to_string(), tail: None })
    }

    #[expect(clippy::cast_precision_loss, reason = "milliseconds fit into a double")]
    fn clock_ms(&self) -> f64 {
        self.invocation.host.now_ms() as f64
    }

    fn random(&self, bytes: &mut [u8]) {
        self.invocation.host.random(bytes);
    }

    fn pause(&self) -> LocalFuture<'_, bool> {
        Box::pin(async {
            self.invocation.host.sleep(0).await;
            !self.must_stop()
        })
    }
}

/// What is answered without a host; `None` where that is not so.
pub(crate) fn pure(kind: i32, message: &Message) -> Option<Option<Message>> {
    let said = match kind {
        say::URL_PARSE | say::URL_SET | say::FORM_PARSE | say::FORM_SERIALIZE | say::DIGEST | say::REFUSED | say::PART => {
            wire::parse(&message.head)?
        }
        _ => return None,
    };
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let answer = match kind {
        say::URL_PARSE => url_parse(&text(&said[0]), said[1].as_str()),
        say::URL_SET => url_set(&text(&said[0]), &text(&said[1]), &text(&said[2])),
        say::FORM_PARSE => {
            let text = text(&said);
            let pairs = form_urlencoded::parse(text.as_bytes());
            Json::Array(pairs.flat_map(|(name, value)| [Json::from(name.as_ref()), Json::from(value.as_ref())]).collect())
        }
        say::FORM_SERIALIZE => {
            let texts: Vec<String> = said.as_array().into_iter().flatten().map(text).collect();
            let mut form = form_urlencoded::Serializer::new(String::new());
            for pair in texts.chunks_exact(2) {
                form.append_pair(&pair[0], &pair[1]);
            }
            Json::from(form.finish())
        }
        say::DIGEST => {
            let bytes = message.tail.as_deref().unwrap_or_default();
            let digest = match said.as_str() {
                Some("SHA-1") => Sha1::digest(bytes).to_vec(),
                Some("SHA-256") => Sha256::digest(bytes).to_vec(),
                Some("SHA-384") => Sha384::digest(bytes).to_vec(),
                Some("SHA-512") => Sha512::digest(bytes).to_vec(),
                _ => return Some(None),
            };
            return Some(Some(Message { head: String::from("null"), tail: Some(digest) }));
        }
        say::PART => match said.as_str().and_then(parts::text) {
            Some(text) => Json::from(text),
            None => return Some(None),
        },
        _ => {
            let flag = |name: &str| said[name].as_bool().unwrap_or_default();
            let (tag, class) = (text(&said["tag"]), text(&said["class"]));
            let look =
                ObjectLook { tag: &tag, class: &class, is_error: flag("isError"), is_plain: flag("isPlain"), is_empty: flag("isEmpty") };
            script_value::refused(&look).map_or(Json::Null, Json::from)
        }
    };
    Some(Some(Message { head: answer.to_string(), tail: None }))
}

fn url_parse(url: &str, base: Option<&str>) -> Json {
    let parsed = match base {
        None => Url::parse(url),
        Some(base) => Url::parse(base).and_then(|base| base.join(url)),
    };
    parsed.map_or(Json::Null, |url| parts(&url))
}

/// Null where the value does not fit.
fn url_set(href: &str, part: &str, value: &str) -> Json {
    let Ok(mut url) = Url::parse(href) else { return Json::Null };
    let changed = match part {
        "protocol" => quirks::set_protocol(&mut url, value),
        "username" => quirks::set_username(&mut url, value),
        "password" => quirks::set_password(&mut url, value),
        "host" => quirks::set_host(&mut url, value),
        "hostname" => quirks::set_hostname(&mut url, value),
        "port" => quirks::set_port(&mut url, value),
        "pathname" => {
            quirks::set_pathname(&mut url, value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, value);
            Ok(())
        }
        _ => {
            quirks::set_search(&mut url, value);
            Ok(())
        }
    };
    if changed.is_ok() { parts(&url) } else { Json::Null }
}

fn parts(url: &Url) -> Json {
    json!([
        quirks::href(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
        quirks::origin(url),
    ])
}
