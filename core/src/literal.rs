//! JSON values inside a bundle.

use alloc::string::String;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};

use crate::Json;

/// A JSON value inside a bundle. A bundle's encoding does not describe itself, so the value travels
/// as JSON text.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal(pub Json);

impl Serialize for Literal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&serde_json::to_string(&self.0).map_err(S::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map(Self).map_err(D::Error::custom)
    }
}
