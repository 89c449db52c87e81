//! A statement of a batch: the author's, or one of the connector's own.

use millrace_catalogue::NEON;
use millrace_core::{Error, ErrorKind, Json, Result, ports::SessionSetting, value::Value};

use super::typed;
use crate::postgres_text::{Parameter, check};

/// The most values that a statement can have.
const MAX_VALUES: usize = 65_535;

/// A statement of a batch, as the API takes it.
#[derive(Clone)]
pub(crate) struct Step(pub(super) Json);

impl Step {
    fn new(query: String, params: impl Iterator<Item = Option<String>>) -> Self {
        Self(Json::Object([("query".to_owned(), query.into()), ("params".to_owned(), params.collect())].into_iter().collect()))
    }

    /// The author's statement.
    ///
    /// # Errors
    /// What is refused; and [`Syntax`](ErrorKind::Syntax) for a text without a statement, and for
    /// too many values.
    pub(super) fn of_author(text: &str, values: &[Value], has_session: bool) -> Result<Self> {
        check(NEON.name, text, has_session)?;
        if values.len() > MAX_VALUES {
            return Err(Error::new(ErrorKind::Syntax, "the statement or its values are larger than PostgreSQL accepts"));
        }
        let params: Vec<Parameter> = values.iter().map(Parameter::of).collect();
        let query = typed::with_types(text, &params)?;
        Ok(Self::new(query, params.into_iter().map(|param| param.value)))
    }

    /// A statement of the connector's own, whose values have the types of their places.
    pub(super) fn own(text: &str, values: &[Value]) -> Self {
        Self::new(text.to_owned(), values.iter().map(|value| Parameter::of(value).value))
    }

    /// What is set for the batch.
    pub(super) fn setting(settings: &[(&str, String)]) -> Self {
        let set = |at: usize| format!("set_config(${}, ${}, true)", 2 * at + 1, 2 * at + 2);
        let query = format!("SELECT {}", (0..settings.len()).map(set).collect::<Vec<_>>().join(", "));
        Self::new(query, settings.iter().flat_map(|(name, value)| [Some((*name).to_owned()), Some(value.clone())]))
    }

    /// What the session of a call sets; nothing without one.
    pub(super) fn session(session: &[SessionSetting]) -> Option<Self> {
        let settings: Vec<_> = session.iter().map(|SessionSetting { name, value }| (name.as_str(), value.clone())).collect();
        (!session.is_empty()).then(|| Self::setting(&settings))
    }
}

/// A time as a setting of PostgreSQL takes it, whose limit is that of a signed number.
pub(super) fn timeout_ms(ms: u64) -> u64 {
    ms.clamp(1, i32::MAX as u64)
}
