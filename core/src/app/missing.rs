//! What an operator is told at the start: the variables and secrets without a value, and what does
//! not work without them.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use super::{App, HASH_KEY, Holder, Presenter, TemplateReference};
use crate::ports::Env;

/// The most tools and the like that are named for one variable.
const MOST_NAMED: usize = 3;

impl App {
    /// The names of all secrets that the app needs, sorted.
    #[must_use]
    pub fn secret_names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.visit(&mut |_, named| {
            if let TemplateReference::Secret(name) = named {
                names.push(name);
            }
        });
        names.sort_unstable();
        names.dedup();
        names
    }

    /// A line for each variable and secret that has no value: its name, and what does not work
    /// without it. `secrets` says of a secret whether it has one; without, none is looked at.
    #[must_use]
    pub fn missing(&self, env: &dyn Env, secrets: Option<&dyn Fn(&str) -> bool>) -> Vec<String> {
        let mut missing: BTreeMap<(&str, bool), Vec<String>> = BTreeMap::new();
        self.visit(&mut |holder, named| {
            let (name, is_secret) = match named {
                TemplateReference::Variable(name) => (name, false),
                TemplateReference::Secret(name) => (name, true),
                TemplateReference::Value(_) | TemplateReference::Path(_) => return,
            };
            let is_key = matches!(holder, Holder::Key { .. });
            let has_value = match (is_secret, secrets) {
                // An empty key is none.
                (false, _) => env.var(name).is_some_and(|value| !is_key || !value.expose().trim().is_empty()),
                (true, Some(secrets)) => secrets(name),
                (true, None) => true,
            };
            if has_value {
                return;
            }
            if let Some(effect) = self.effect(holder, name) {
                let effects = missing.entry((name, is_secret)).or_default();
                if !effects.contains(&effect) {
                    effects.push(effect);
                }
            }
        });
        missing.into_iter().map(|((name, is_secret), effects)| line(name, is_secret, &effects)).collect()
    }

    /// What does not work without a value; `None` where everything does.
    fn effect(&self, holder: Holder<'_>, name: &str) -> Option<String> {
        let is_listed = self.env.iter().chain(&self.secrets).any(|listed| listed == name);
        Some(match holder {
            Holder::App if name == HASH_KEY => match (self.presenters.iter().any(Presenter::hashes), self.audits_hash()) {
                (true, false) => "results with `censor: hash` fail".into(),
                (true, true) => "results with `censor: hash` fail, and audits with `inputs: hashes` have no digests".into(),
                (false, _) => "audits with `inputs: hashes` have no digests".into(),
            },
            Holder::App if is_listed => {
                if !self.required.iter().any(|required| required == name) {
                    return None;
                }
                format!("a script that reads `ctx.env.{name}` fails")
            }
            Holder::App => "clients cannot sign in".into(),
            Holder::Adapter(adapter) => format!("the adapter `{adapter}` cannot connect"),
            Holder::Key { key, .. } => format!("the key `{key}` of `auth` lets nobody in"),
            Holder::Tool(tool) => format!("the tool `{tool}` cannot be called"),
            Holder::Prompt(prompt) => format!("the prompt `{prompt}` cannot be asked for"),
            Holder::Resource(_) => "a resource cannot be read".into(),
        })
    }
}

fn line(name: &str, is_secret: bool, effects: &[String]) -> String {
    let mut line = match is_secret {
        false => format!("the variable `{name}` is not set: "),
        true => format!("the secret `{name}` does not exist or cannot be read: "),
    };
    line.push_str(&effects.get(..MOST_NAMED).unwrap_or(effects).join(", "));
    if let Some(more) = effects.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        line.push_str(&format!(", and {more} more"));
    }
    line
}
