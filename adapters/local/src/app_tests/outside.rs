//! The world outside as a test says it is: a clock that stands still, randomness that repeats, and
//! APIs that answer what is written.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use millrace_bundler::HttpAnswer;
use millrace_core::{
    Error, ErrorKind, Result,
    headers::Headers,
    ports::{Clock, HttpClient, HttpRequest, HttpResponse, LocalFuture, Random},
    public_address,
};
use millrace_native::clock::SystemClock;
use sha2::{Digest as _, Sha256};

/// The most requests without an answer that are told of a test.
const MAX_UNLISTED: usize = 20;

/// A clock that stands still, and moves on by what is slept.
pub(super) struct StandingClock(Rc<Cell<u64>>);

impl StandingClock {
    pub(super) fn at(now_ms: u64) -> Self {
        Self(Rc::new(Cell::new(now_ms)))
    }
}

impl Clock for StandingClock {
    fn now_ms(&self) -> u64 {
        self.0.get()
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        let (now, until) = (self.0.clone(), self.0.get().saturating_add(duration_ms));
        let slept = SystemClock.sleep(duration_ms);
        Box::pin(async move {
            slept.await;
            // Others may have slept meanwhile.
            now.set(now.get().max(until));
        })
    }
}

/// Randomness that is the same for the same number.
pub(super) struct RepeatedRandom {
    seed: u64,
    taken: Cell<u64>,
}

impl RepeatedRandom {
    pub(super) fn of(seed: u64) -> Self {
        Self { seed, taken: Cell::new(0) }
    }
}

impl Random for RepeatedRandom {
    fn fill(&self, buffer: &mut [u8]) {
        for part in buffer.chunks_mut(32) {
            let taken = self.taken.replace(self.taken.get() + 1);
            let block = Sha256::new().chain_update(self.seed.to_le_bytes()).chain_update(taken.to_le_bytes()).finalize();
            part.iter_mut().zip(block).for_each(|(byte, random)| *byte = random);
        }
    }
}

/// APIs that answer what a test lists, and nothing else.
pub(super) struct ListedAnswers {
    answers: Vec<HttpAnswer>,
    unlisted: Rc<RefCell<Vec<String>>>,
}

impl ListedAnswers {
    /// What is asked for and not listed goes to `unlisted`.
    pub(super) fn of(answers: Vec<HttpAnswer>, unlisted: Rc<RefCell<Vec<String>>>) -> Self {
        Self { answers, unlisted }
    }

    fn answer(&self, request: &HttpRequest) -> Result<HttpResponse> {
        if request.public_only {
            public_address::judge(&request.url)?;
        }
        let without_query = request.url.split('?').next().unwrap_or_default();
        let fits = |answer: &&HttpAnswer| {
            let url = if answer.url.contains('?') { request.url.as_str() } else { without_query };
            answer.method.eq_ignore_ascii_case(&request.method) && answer.url == url
        };
        let Some(answer) = self.answers.iter().find(fits) else {
            // The query may hold a key.
            let shown = format!("{} {without_query}", request.method);
            let mut unlisted = self.unlisted.borrow_mut();
            if unlisted.len() < MAX_UNLISTED && !unlisted.contains(&shown) {
                unlisted.push(shown.clone());
            }
            // Another attempt would not find one, either.
            return Err(Error::new(ErrorKind::TimedOut, format!("the test lists no answer to `{shown}`")));
        };
        if answer.body.len() > request.max_response_bytes {
            return Err(Error::new(ErrorKind::TooLarge, format!("the answer is longer than {} bytes", request.max_response_bytes)));
        }
        let headers: Headers = answer.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        Ok(HttpResponse { status: answer.status, headers, body: answer.body.clone() })
    }
}

impl HttpClient for ListedAnswers {
    fn send(&self, request: HttpRequest) -> LocalFuture<'_, Result<HttpResponse>> {
        Box::pin(std::future::ready(self.answer(&request)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_makes_the_same_bytes_again_and_another_makes_others() {
        let bytes = |seed: u64| {
            let random = RepeatedRandom::of(seed);
            let mut bytes = [0; 80];
            random.fill(&mut bytes);
            random.fill(&mut bytes[..16]);
            bytes
        };
        assert_eq!(bytes(7), bytes(7));
        assert_ne!(bytes(7), bytes(8));
    }

    #[tokio::test]
    async fn a_clock_moves_by_what_is_slept_and_not_by_what_was_given_up() {
        let clock = StandingClock::at(1000);
        let given_up = clock.sleep(60_000);
        futures(&clock).await;
        drop(given_up);
        assert_eq!(clock.now_ms(), 1002);
    }

    /// Two sleeps at once.
    async fn futures(clock: &StandingClock) {
        tokio::join!(clock.sleep(2), clock.sleep(1));
    }

    #[test]
    fn a_url_without_a_query_fits_any_query() {
        let answer = |url: &str| HttpAnswer {
            place: String::new(),
            method: "GET".into(),
            url: url.into(),
            status: 200,
            headers: Vec::new(),
            body: url.into(),
        };
        let unlisted = Rc::default();
        let answers = ListedAnswers::of(vec![answer("https://a.example/x?k=1"), answer("https://a.example/x")], Rc::clone(&unlisted));
        let ask = |method: &str, url: &str| {
            let request = HttpRequest { method: method.into(), url: url.into(), max_response_bytes: 100, ..HttpRequest::default() };
            answers.answer(&request).map(|response| String::from_utf8(response.body).unwrap()).map_err(|error| error.message.clone())
        };
        assert_eq!(ask("GET", "https://a.example/x?k=1").as_deref(), Ok("https://a.example/x?k=1"));
        assert_eq!(ask("GET", "https://a.example/x?k=2").as_deref(), Ok("https://a.example/x"));
        let refused = ask("POST", "https://a.example/x?token=hunter2").unwrap_err();
        assert_eq!(refused, "the test lists no answer to `POST https://a.example/x`");
        assert_eq!(*unlisted.borrow(), ["POST https://a.example/x"]);
    }
}
