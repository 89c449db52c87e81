//! Redaction: values that not every caller may see are replaced before anything is written.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::embedded::embedded;
use crate::{
    Json,
    app::{App, Censor, HASH_KEY, PathStep, PresentedField, Presenter, RedactedPath, Redaction},
    fault::{FaultResult, Stage},
    hex,
    pipeline::{
        call::run::{Run, missing_variable},
        content::json_text::text_of,
    },
};

/// How many characters stand for the hidden part of a masked value, however long it is.
const MASK_CHARACTERS: usize = 8;
/// How much of a hash is shown, in bytes.
const HASH_BYTES: usize = 16;

/// What of a presenter, and of those that it embeds, is replaced for the caller of one call.
pub(super) struct Redactor<'a> {
    run: &'a Run<'a>,
    key: Option<Hmac<Sha256>>,
    /// For everyone: whether `unless` counts for nothing.
    always: bool,
}

impl<'a> Redactor<'a> {
    /// # Errors
    /// `CONFIGURATION` where a hash is asked for and there is no key.
    pub(super) fn new(run: &'a Run<'a>, presenter: &Presenter, always: bool) -> FaultResult<Self> {
        let hashes = needs_key(&run.pipeline.app, presenter);
        let key = match run.pipeline.ports.env.var(HASH_KEY).filter(|key| !key.expose().trim().is_empty()) {
            Some(key) if hashes => Hmac::new_from_slice(key.expose().trim().as_bytes()).ok(),
            None if hashes => return Err(missing_variable(HASH_KEY, Stage::Present).into()),
            _ => None,
        };
        Ok(Self { run, key, always })
    }

    /// Redacts one item, what is embedded in it first. Conditions see the item as it was before.
    pub(super) fn item(&self, presenter: &'a Presenter, item: &mut Json) {
        let redactions: Vec<&Redaction> = presenter.redact.iter().filter(|redaction| self.holds(redaction, item)).collect();
        embedded(&self.run.pipeline.app, &presenter.fields, item, &mut |child, item, _| self.item(child, item));
        for redaction in redactions {
            for path in &redaction.paths {
                self.replace(item, &path.0, &redaction.censor);
            }
        }
    }

    fn holds(&self, redaction: &Redaction, item: &Json) -> bool {
        let Some(unless) = redaction.unless.as_ref().filter(|_| !self.always) else { return true };
        let auth = self.run.auth.iter().map(|auth| ("auth", auth));
        let roots: Vec<(&str, &Json)> = auth.chain([("item", item)]).collect();
        !self.run.holds(unless, &roots, &self.run.steps_left, "redact", None)
    }

    /// Replaces what a path leads to; `false` where the value itself is to vanish.
    fn replace(&self, value: &mut Json, steps: &[PathStep], censor: &Censor) -> bool {
        let Some((step, rest)) = steps.split_first() else {
            match self.censored(value, censor) {
                Some(censored) => *value = censored,
                None => return false,
            }
            return true;
        };
        match (step, &mut *value) {
            (PathStep::Member(name), Json::Object(members)) => {
                let stays = members.get_mut(name).is_none_or(|value| self.replace(value, rest, censor));
                if !stays {
                    members.shift_remove(name);
                }
            }
            (PathStep::Index(index), Json::Array(elements)) => {
                let index = *index as usize;
                let stays = elements.get_mut(index).is_none_or(|value| self.replace(value, rest, censor));
                if !stays {
                    elements.remove(index);
                }
            }
            (PathStep::Elements | PathStep::Any, Json::Array(elements)) => {
                elements.retain_mut(|value| self.replace(value, rest, censor));
            }
            (PathStep::Any, Json::Object(members)) => members.retain(|_, value| self.replace(value, rest, censor)),
            (PathStep::Deep, _) => {
                // The deeper ones first: what is replaced here has nothing below it any more.
                match &mut *value {
                    Json::Array(elements) => elements.retain_mut(|value| self.replace(value, steps, censor)),
                    Json::Object(members) => members.retain(|_, value| self.replace(value, steps, censor)),
                    _ => {}
                }
                return self.replace(value, rest, censor);
            }
            _ => {}
        }
        true
    }

    /// What stands instead of a value; `None` where nothing does.
    fn censored(&self, value: &Json, censor: &Censor) -> Option<Json> {
        match censor {
            Censor::Text(text) => Some(text.as_str().into()),
            Censor::Remove => None,
            Censor::Mask { mask, keep_end } => {
                let text = text_of(value);
                let (length, kept) = (text.chars().count(), *keep_end as usize);
                let kept = if length < kept.saturating_mul(2) { 0 } else { kept };
                let masked = core::iter::repeat_n(*mask, MASK_CHARACTERS).chain(text.chars().skip(length - kept));
                Some(masked.collect::<String>().into())
            }
            Censor::Hash => {
                // Without a key no redactor is made.
                let mut mac = self.key.clone()?;
                mac.update(value.to_string().as_bytes());
                let digest = mac.finalize().into_bytes();
                Some(hex::encode(digest.get(..HASH_BYTES).unwrap_or_default()).into())
            }
        }
    }
}

/// Whether a presenter, or one that it embeds, makes hashes.
fn needs_key(app: &App, presenter: &Presenter) -> bool {
    any(app, presenter, &Presenter::hashes)
}

/// Whether a presenter, or one that it embeds, removes what has this name.
pub(in crate::pipeline) fn removes(app: &App, presenter: &Presenter, name: &str) -> bool {
    let is_named = |path: &RedactedPath| matches!(path.0.last(), Some(PathStep::Member(member)) if member == name);
    let removes = |redaction: &Redaction| redaction.censor == Censor::Remove && redaction.paths.iter().any(is_named);
    any(app, presenter, &|presenter| presenter.redact.iter().any(removes))
}

/// Whether something holds of a presenter, or of one that it embeds.
fn any(app: &App, presenter: &Presenter, holds: &dyn Fn(&Presenter) -> bool) -> bool {
    fn below(app: &App, field: &PresentedField, holds: &dyn Fn(&Presenter) -> bool) -> bool {
        field.returns.and_then(|child| app.presenters.get(child as usize)).is_some_and(|child| any(app, child, holds))
            || field.items.as_deref().is_some_and(|items| below(app, items, holds))
            || field.fields.iter().any(|field| below(app, field, holds))
    }
    holds(presenter) || presenter.fields.iter().any(|field| below(app, field, holds))
}

/// A value of data for the log.
pub(super) fn shown_value(value: &Json) -> String {
    const LONGEST: usize = 200;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
