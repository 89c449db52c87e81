//! The variables of the deployment, and its secrets as they were read last.
//!
//! Secrets may be far away, so they are read before a call needs them, and are kept for
//! [`FRESH_MS`]: one that changed in its store is used without a restart. Where the store does not
//! answer, a value stays for [`STALE_MS`]; after that, what needs it is refused. An error of a
//! database that can mean an old address has the values read again, at most every [`RETRY_MS`]. A
//! database that refuses credentials has them read at once, within the call: [`Reread`].

use alloc::{borrow::ToOwned, boxed::Box, collections::BTreeMap, format, rc::Rc, string::String, vec::Vec};
use core::cell::{Cell, RefCell};

use super::turns::Turns;
use crate::{
    Error, ErrorKind, Json,
    app::{App, EnvPart, EnvTemplate, SecretSource, TemplateReference},
    ports::{Clock, Env, LocalFuture, Ports, SecretStore, join_all},
    secret::Secret,
};

/// How long a value is used before it is read again.
const FRESH_MS: u64 = 5 * 60 * 1000;
/// How long a value is used while its store does not answer.
const STALE_MS: u64 = 60 * 60 * 1000;
/// How long nothing is read after an attempt that failed, or for a doubt.
const RETRY_MS: u64 = 10 * 1000;
/// How long secrets that were read for refused credentials are not read again for others.
const REREAD_MS: u64 = 1000;
/// When they are looked at, in milliseconds after the first look: whoever changes a password may
/// take a moment to write it down.
const LOOKS_MS: [u64; 4] = [0, 150, 450, 1000];
/// The target of what is logged.
const TARGET: &str = "millrace::secrets";
/// How long reading may take.
const TIMEOUT_MS: u64 = 5 * 1000;

/// What the deployment gave the app.
pub(in crate::pipeline) struct Deployment {
    env: Rc<dyn Env>,
    secrets: Option<Secrets>,
}

/// A store, and what was read of it.
struct Secrets {
    store: Rc<dyn SecretStore>,
    clock: Rc<dyn Clock>,
    kept: RefCell<BTreeMap<String, Kept>>,
    version: Cell<u64>,
    /// When they were read last for refused credentials.
    reread_ms: Cell<Option<u64>>,
    /// Until when nobody waits for others: somebody has, in vain.
    hopeless_until_ms: Cell<u64>,
    /// Who reads them for refused credentials.
    rereading: Turns,
}

/// Looks at the secrets again, for a call whose credentials were refused.
pub(in crate::pipeline) struct Reread<'a> {
    secrets: Option<&'a Secrets>,
    deadline_ms: u64,
    began_ms: u64,
    looks: core::slice::Iter<'static, u64>,
}

/// A secret.
#[derive(Default)]
struct Kept {
    value: Option<Secret<String>>,
    /// The value before it: it may still be said.
    previous: Option<Secret<String>>,
    /// When the store said so.
    read_ms: u64,
    /// When it was asked the last time.
    asked_ms: u64,
    /// When it is asked again.
    next_ms: u64,
    /// Why it could not be read the last time.
    failure: Option<Error>,
}

/// Why a template cannot be filled in. Holds no value.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pipeline) enum Unfilled<'a> {
    /// The variable is not set.
    Variable(&'a str),
    /// There is no such secret.
    NoSecret(&'a SecretSource),
    /// The secret is not an object of text with this member.
    NoMember(&'a SecretSource),
    /// The store does not give it.
    Unread(&'a SecretSource, Error),
    /// The caller decides, and there is none.
    Caller,
}

impl Unfilled<'_> {
    /// The problem for the operator; `who` needs the template: ``the adapter `main` ``.
    pub(in crate::pipeline) fn needed_by(&self, who: &str) -> Error {
        let message = match self {
            Self::Variable(name) => format!("the environment variable `{name}`, which {who} needs, is not set"),
            Self::NoSecret(secret) => format!("the secret `{}`, which {who} needs, does not exist", secret.name),
            Self::NoMember(secret) => {
                format!("the secret `{}`, of which {who} needs a member, is not a JSON object with the string `{secret}`", secret.name)
            }
            Self::Caller => format!("the caller decides what {who} connects to, and nobody calls"),
            Self::Unread(secret, _) => format!("the secret `{}`, which {who} needs, could not be read", secret.name),
        };
        let error = Error::new(ErrorKind::Configuration, message);
        match self {
            Self::Unread(_, why) => error.with_source(&why.message),
            _ => error,
        }
    }
}

impl Deployment {
    pub(in crate::pipeline) fn new(app: &App, ports: &Ports) -> Self {
        let mut kept = BTreeMap::new();
        app.visit(&mut |_, named| {
            if let TemplateReference::Secret(name) = named {
                kept.insert(name.to_owned(), Kept::default());
            }
        });
        let secrets = |store: &Rc<dyn SecretStore>| Secrets {
            store: Rc::clone(store),
            clock: Rc::clone(&ports.clock),
            kept: RefCell::new(kept),
            version: Cell::new(0),
            reread_ms: Cell::default(),
            hopeless_until_ms: Cell::default(),
            rereading: Turns::default(),
        };
        Self { env: Rc::clone(&ports.env), secrets: ports.secrets.as_ref().map(secrets) }
    }

    /// Reads the secrets that are not fresh, all at once. Those that cannot be read are told of
    /// where they are needed.
    pub(in crate::pipeline) async fn refresh(&self, deadline_ms: Option<u64>) {
        let Some(secrets) = &self.secrets else { return };
        let now_ms = secrets.clock.now_ms();
        if secrets.kept.borrow().values().any(|kept| kept.next_ms <= now_ms) {
            // On the heap: every call would carry it.
            Box::pin(secrets.refresh(now_ms, deadline_ms)).await;
        }
    }

    /// Has secrets read again before the next call: a database no longer takes one, perhaps.
    pub(in crate::pipeline) fn doubt(&self) {
        let Some(secrets) = &self.secrets else { return };
        let now_ms = secrets.clock.now_ms();
        for kept in secrets.kept.borrow_mut().values_mut() {
            kept.next_ms = kept.next_ms.min(kept.asked_ms.saturating_add(RETRY_MS).max(now_ms));
        }
    }

    /// Reads the secrets again, because a database has refused credentials.
    pub(in crate::pipeline) fn reread(&self, deadline_ms: u64) -> Reread<'_> {
        let secrets = self.secrets.as_ref();
        let began_ms = secrets.map_or(0, |secrets| secrets.clock.now_ms());
        Reread { secrets, deadline_ms, began_ms, looks: LOOKS_MS.iter() }
    }

    /// Grows when a secret has another value than before.
    pub(in crate::pipeline) fn version(&self) -> u64 {
        self.secrets.as_ref().map_or(0, |secrets| secrets.version.get())
    }

    /// Fills in a template that is the same for every caller.
    ///
    /// # Errors
    /// The first part that has no value.
    pub(in crate::pipeline) fn fill<'a>(&self, template: &'a EnvTemplate) -> Result<Secret<String>, Unfilled<'a>> {
        self.fill_for(template, None)
    }

    /// Fills in a template for one of an adapter's databases.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub(in crate::pipeline) fn fill_for<'a>(
        &self,
        template: &'a EnvTemplate,
        database: Option<&str>,
    ) -> Result<Secret<String>, Unfilled<'a>> {
        let mut text = String::new();
        for part in &template.0 {
            match part {
                EnvPart::Text(literal) => text.push_str(literal),
                EnvPart::Env(name) => text.push_str(self.env.var(name).ok_or(Unfilled::Variable(name))?.expose()),
                EnvPart::Secret(secret) => text.push_str(self.secret(secret)?.expose()),
                EnvPart::Caller(_) => text.push_str(database.ok_or(Unfilled::Caller)?),
            }
        }
        Ok(Secret::new(text))
    }

    /// The whole of a secret, where it is known.
    pub(in crate::pipeline) fn whole(&self, name: &str) -> Result<Option<Secret<String>>, Error> {
        match &self.secrets {
            None => Ok(self.env.var(name)),
            Some(secrets) => secrets.value(name),
        }
    }

    /// The value that a secret had before, which no call is given any more, and one may still say.
    pub(in crate::pipeline) fn previous(&self, name: &str) -> Option<Secret<String>> {
        self.secrets.as_ref()?.kept.borrow().get(name)?.previous.clone()
    }

    fn secret<'a>(&self, secret: &'a SecretSource) -> Result<Secret<String>, Unfilled<'a>> {
        let whole = self.whole(&secret.name).map_err(|why| Unfilled::Unread(secret, why))?.ok_or(Unfilled::NoSecret(secret))?;
        let Some(member) = &secret.member else { return Ok(whole) };
        let object: Json = serde_json::from_str(whole.expose()).map_err(|_| Unfilled::NoMember(secret))?;
        let text = object.get(member).and_then(|value| match value {
            Json::String(text) => Some(text.clone()),
            Json::Number(number) => Some(format!("{number}")),
            _ => None,
        });
        text.map(Secret::new).ok_or(Unfilled::NoMember(secret))
    }
}

impl Reread<'_> {
    /// Waits for the next look and reads; `false` where there is none any more. Calls that want the
    /// same read together.
    pub(in crate::pipeline) async fn again(&mut self) -> bool {
        let Some(secrets) = self.secrets else { return false };
        let Some(after_ms) = self.looks.next() else {
            secrets.hopeless_until_ms.set(secrets.clock.now_ms().saturating_add(RETRY_MS));
            return false;
        };
        let now_ms = secrets.clock.now_ms();
        let pause_ms = self.began_ms.saturating_add(*after_ms).saturating_sub(now_ms);
        if *after_ms > 0 {
            if now_ms < secrets.hopeless_until_ms.get() {
                return false;
            }
            if now_ms.saturating_add(pause_ms) >= self.deadline_ms {
                secrets.hopeless_until_ms.set(now_ms.saturating_add(RETRY_MS));
                return false;
            }
            secrets.clock.sleep(pause_ms).await;
        }
        let wanted_ms = secrets.clock.now_ms();
        let _turn = secrets.rereading.next().await;
        let now_ms = secrets.clock.now_ms();
        // What was read since then, or just before, is not asked for again.
        let least_ms = if *after_ms == 0 { wanted_ms.saturating_sub(REREAD_MS) } else { wanted_ms };
        if secrets.reread_ms.get().is_none_or(|read_ms| read_ms < least_ms) {
            secrets.kept.borrow_mut().values_mut().for_each(|kept| kept.next_ms = now_ms);
            secrets.refresh(now_ms, Some(self.deadline_ms)).await;
            secrets.reread_ms.set(Some(now_ms));
        }
        true
    }
}

impl Kept {
    const fn is_too_old(&self, now_ms: u64) -> bool {
        self.read_ms.saturating_add(STALE_MS) < now_ms
    }
}

impl Env for Deployment {
    fn var(&self, name: &str) -> Option<Secret<String>> {
        self.env.var(name)
    }
}

impl Secrets {
    /// Reads what is not fresh.
    async fn refresh(&self, now_ms: u64, deadline_ms: Option<u64>) {
        let mut names = Vec::new();
        for (name, kept) in self.kept.borrow_mut().iter_mut().filter(|(_, kept)| kept.next_ms <= now_ms) {
            kept.asked_ms = now_ms;
            // While one call reads, others use what there is, unless it is too old.
            if kept.value.is_some() && !kept.is_too_old(now_ms) {
                kept.next_ms = now_ms.saturating_add(RETRY_MS);
            }
            names.push(name.clone());
        }
        let deadline_ms = deadline_ms.unwrap_or(u64::MAX).min(now_ms.saturating_add(TIMEOUT_MS));
        let reads = names.iter().map(|name| -> LocalFuture<'_, _> { Box::pin(self.store.read(name, deadline_ms)) });
        let answers = join_all(reads.collect()).await;
        for (name, answer) in names.iter().zip(answers) {
            self.note(name, answer);
        }
    }

    fn note(&self, name: &str, answer: crate::Result<Option<Secret<String>>>) {
        let now_ms = self.clock.now_ms();
        let mut all = self.kept.borrow_mut();
        let Some(kept) = all.get_mut(name) else { return };
        match answer {
            Ok(value) => {
                if kept.value != value {
                    self.version.set(self.version.get() + 1);
                }
                let lifetime_ms = if value.is_some() { FRESH_MS } else { RETRY_MS };
                let previous = if kept.value == value { kept.previous.take() } else { kept.value.take() };
                let next_ms = now_ms.saturating_add(lifetime_ms);
                *kept = Kept { value, previous, read_ms: now_ms, asked_ms: kept.asked_ms, next_ms, failure: None };
            }
            Err(error) => {
                tracing::warn!(target: TARGET, secret = name, error = error.message, "a secret could not be read");
                kept.next_ms = now_ms.saturating_add(RETRY_MS);
                if kept.is_too_old(now_ms)
                    && let Some(old) = kept.value.take()
                {
                    kept.previous = Some(old);
                    self.version.set(self.version.get() + 1);
                }
                kept.failure = Some(error);
            }
        }
    }

    fn value(&self, name: &str) -> Result<Option<Secret<String>>, Error> {
        let now_ms = self.clock.now_ms();
        match self.kept.borrow().get(name) {
            Some(kept) if let (Some(value), false) = (&kept.value, kept.is_too_old(now_ms)) => Ok(Some(value.clone())),
            Some(Kept { failure: Some(error), .. }) => Err(error.clone()),
            Some(Kept { value: Some(_), .. }) => {
                Err(Error::new(ErrorKind::Unavailable, "its last value is too old, and the store does not answer"))
            }
            None | Some(_) => Ok(None),
        }
    }
}
