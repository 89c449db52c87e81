//! JSON of tokens and keys: no member appears twice, and nothing is deeper than a token has reason
//! to be.

use std::fmt;

use millrace_core::Json;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number};

/// How many lists and objects may be in one another.
const DEEPEST: usize = 16;

/// Reads an object.
///
/// # Errors
/// What is wrong, as a clause about the text; it shows nothing of it.
pub(crate) fn object(bytes: &[u8]) -> Result<Map<String, Json>, &'static str> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { deeper: DEEPEST }.deserialize(&mut deserializer);
    match value.and_then(|value| deserializer.end().map(|()| value)) {
        Ok(Json::Object(members)) => Ok(members),
        Ok(_) => Err("is not a JSON object"),
        Err(error) if error.to_string().starts_with(TWICE) => Err(TWICE),
        Err(error) if error.to_string().starts_with(DEEP) => Err(DEEP),
        Err(_) => Err("is not JSON"),
    }
}

const TWICE: &str = "has a member twice";
const DEEP: &str = "is nested too deeply";

#[derive(Clone, Copy)]
struct Strict {
    deeper: usize,
}

impl Strict {
    fn inner<E: Error>(self) -> Result<Self, E> {
        self.deeper.checked_sub(1).map(|deeper| Self { deeper }).ok_or_else(|| E::custom(DEEP))
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let inner = self.inner()?;
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(inner)? {
            list.push(element);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let inner = self.inner()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(inner)?;
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom(TWICE));
            }
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_objects_are_read() {
        let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(object(br#"{"a":{"b":[1,1.5,-2,true,null,"x"]},"b":1}"#).is_ok() && object(deep(15).as_bytes()).is_ok());
        let cases = [
            (String::new(), "is not JSON"),
            ("{".into(), "is not JSON"),
            ("{} {}".into(), "is not JSON"),
            ("<html>".into(), "is not JSON"),
            ("{\"a\":1e999}".into(), "is not JSON"),
            ("{\"a\":\"\\ud800\"}".into(), "is not JSON"),
            ("[]".into(), "is not a JSON object"),
            ("\"x\"".into(), "is not a JSON object"),
            ("{\"a\":1,\"a\":1}".into(), TWICE),
            ("{\"a\":1,\"\\u0061\":2}".into(), TWICE),
            ("{\"x\":{\"a\":1,\"b\":2,\"a\":1}}".into(), TWICE),
            (deep(16), DEEP),
            (deep(200), DEEP),
            (deep(100_000), DEEP),
        ];
        for (text, why) in cases {
            assert_eq!(object(text.as_bytes()), Err(why), "{:.40}", text);
        }
        assert_eq!(object(b"{\"a\":\"\xff\"}"), Err("is not JSON"));
    }
}
