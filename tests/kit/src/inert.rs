//! Ports that do nothing by themselves: no network, no database, an empty cache, a clock that
//! stands still.

use std::{future::pending, rc::Rc};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{
        Claims, Clock, Connection, Connector, Connectors, Counted, Env, Exactness, HttpClient, HttpRequest, HttpResponse, Invocation,
        KvCache, LocalFuture, Ports, Random, Returned, ScriptEngine, ScriptFault, StateStore, TokenPolicy, TokenRefusal, TokenVerifier,
        WaitUntil,
    },
    secret::Secret,
};

/// Every port, with an answer that needs nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inert {
    /// What the clock says, in milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// Every random byte.
    pub random: u8,
    /// The environment variables.
    pub env: &'static [(&'static str, &'static str)],
}

impl Inert {
    /// The ports of an isolate.
    #[must_use]
    pub fn ports(self) -> Ports {
        let inert = Rc::new(self);
        Ports {
            http: inert.clone(),
            connectors: inert.clone(),
            cache: inert.clone(),
            state: inert.clone(),
            places: None,
            tokens: inert.clone(),
            scripts: inert.clone(),
            clock: inert.clone(),
            random: inert.clone(),
            env: inert.clone(),
            secrets: None,
            wait_until: inert,
            observer: None,
        }
    }
}

impl Clock for Inert {
    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn sleep(&self, _: u64) -> LocalFuture<'static, ()> {
        Box::pin(pending())
    }
}

impl Random for Inert {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(self.random);
    }
}

impl Env for Inert {
    fn var(&self, name: &str) -> Option<Secret<String>> {
        self.env.iter().find(|(known, _)| *known == name).map(|(_, value)| Secret::new((*value).to_owned()))
    }
}

impl WaitUntil for Inert {
    fn wait_until(&self, _: LocalFuture<'static, ()>) {}
}

impl KvCache for Inert {
    fn get<'a>(&'a self, _: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async { Ok(None) })
    }

    fn put<'a>(&'a self, _: &'a str, _: Vec<u8>, _: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

impl StateStore for Inert {
    fn add<'a>(&'a self, _: &'a str, _: &'a [u8], by: i64, _: i64, _: u32) -> LocalFuture<'a, Result<Counted>> {
        Box::pin(async move { Ok(Counted { added: true, total: by }) })
    }

    fn put_if_absent<'a>(&'a self, _: &'a str, _: &'a [u8], _: &'a [u8], _: u32) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async { Ok(None) })
    }

    fn get<'a>(&'a self, _: &'a str) -> LocalFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async { Ok(None) })
    }

    fn put<'a>(&'a self, _: &'a str, _: &'a [u8], _: u32) -> LocalFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn remove<'a>(&'a self, _: &'a str) -> LocalFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn exactness(&self) -> Exactness {
        Exactness::Isolate
    }
}

impl HttpClient for Inert {
    fn send(&self, _: HttpRequest) -> LocalFuture<'_, Result<HttpResponse>> {
        Box::pin(async { Err(Error::new(ErrorKind::Unavailable, "no network")) })
    }
}

impl TokenVerifier for Inert {
    fn verify<'a>(&'a self, _: &'a str, _: TokenPolicy<'a>, _: u64) -> LocalFuture<'a, Result<Rc<Claims>, TokenRefusal>> {
        Box::pin(async { Err(TokenRefusal::Operator("no tokens".to_owned())) })
    }
}

impl Connectors for Inert {
    fn open(&self, _: Connection) -> Result<Rc<dyn Connector>> {
        Err(Error::new(ErrorKind::Unavailable, "no database"))
    }
}

impl ScriptEngine for Inert {
    fn call<'a>(&'a self, _: Invocation<'a>) -> LocalFuture<'a, Result<Returned, ScriptFault>> {
        Box::pin(async { Ok(Returned::Undefined) })
    }
}
